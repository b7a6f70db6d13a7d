[
  inputs: ["{mix,.formatter}.exs", "{lib,test,examples}/**/*.{ex,exs}"],
  line_length: 120,
  locals_without_parens: [
    field: 2,
    field: 3,
    belongs_to: 2,
    belongs_to: 3,
    from: 2,
    add: 2,
    add: 3,
    create: 1,
    execute: 2
  ]
]
