defmodule Database do
  @moduledoc "Databases for the tests, in the server that the variables PG* name."

  @root System.fetch_env!("ULID_ROOT")

  def root, do: @root

  @doc "Creates an empty database, and returns the options to connect to it."
  def create!(name, sql \\ "") do
    name = "elixir_#{name}"
    {:ok, server} = Postgrex.start_link(pool_size: 1)
    Postgrex.query!(server, "DROP DATABASE IF EXISTS #{name} WITH (FORCE)", [])
    Postgrex.query!(server, "CREATE DATABASE #{name}", [])
    GenServer.stop(server)
    psql!(name, ["-c", sql])
    # Ecto does not read these variables
    server = [hostname: "PGHOST", port: "PGPORT", username: "PGUSER", password: "PGPASSWORD"]

    for({option, variable} <- server, value = System.get_env(variable), do: {option, value}) ++
      [database: name, pool_size: 2]
  end

  @doc "The texts that come in from outside: tests/clients/sample.sql."
  def load_sample!(options), do: psql!(options[:database], ["-f", "#{@root}/tests/clients/sample.sql"])

  @doc "Runs psql, and returns what it prints."
  def psql!(database, arguments) do
    psql = ~w(-X -q -A -t -v ON_ERROR_STOP=1 -d) ++ [database]
    {printed, 0} = System.cmd("psql", psql ++ arguments, stderr_to_stdout: true)
    String.trim(printed)
  end
end

Postgrex.Types.define(PgUlid.TestTypes, PgUlid.extensions())
Logger.configure(level: :warning)
ExUnit.start()
