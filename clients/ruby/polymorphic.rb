# Polymorphic associations of models with keys of the type ulid and others: see README.md. Its initializer comes first.
ActiveRecord::Schema.define do
  create_table(:documents, id: :ulid, default: -> { "gen_ulid()" }) { |t| t.text :title }
  create_table(:invoices) { |t| t.text :title }
  create_table(:comments) { |t| t.references :subject, polymorphic: true, type: :string }
  execute <<~SQL
    ALTER TABLE comments ADD COLUMN subject_ulid ulid GENERATED ALWAYS AS (
      CASE WHEN ulid_is_valid(subject_id) THEN subject_id::ulid END) STORED;
    CREATE INDEX ON comments (subject_ulid);
  SQL
end

class Comment < ActiveRecord::Base
  belongs_to :subject, polymorphic: true
end

class Document < ActiveRecord::Base
  has_many :comments, as: :subject
  has_many :comments_by_ulid, -> { where(subject_type: "Document").readonly },
    class_name: "Comment", foreign_key: :subject_ulid
end

class Invoice < ActiveRecord::Base
  has_many :comments, as: :subject
end

Document.create!.comments.create!
Invoice.create!.comments.create!
raise unless Document.joins(:comments_by_ulid).count == 1
puts Document.joins(:comments_by_ulid).explain
