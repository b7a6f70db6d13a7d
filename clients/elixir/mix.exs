defmodule PgUlid.MixProject do
  use Mix.Project

  def project do
    [
      app: :pg_ulid,
      version: "0.1.0",
      elixir: "~> 1.14",
      description: "The type ulid of the PostgreSQL extension ulid for Postgrex and Ecto",
      deps: deps(System.get_env("ULID_DEPS")),
      package: [
        licenses: ["MIT"],
        links: for(address <- List.wrap(System.get_env("REPOSITORY")), into: %{}, do: {"Repository", address}),
        files: ~w(lib mix.exs .formatter.exs README.md CHANGELOG.md LICENSE)
      ]
    ]
  end

  defp deps(nil) do
    [
      {:postgrex, "~> 0.19"},
      {:ecto_sql, "~> 3.12", optional: true}
    ]
  end

  # For tests without hex: each folder in this directory is a library.
  defp deps(directory) do
    for name <- File.ls!(directory), do: {String.to_atom(name), path: Path.join(directory, name), override: true}
  end
end
