defmodule PgUlid.ExamplesTest do
  use ExUnit.Case

  test "postgrex.exs runs", do: run(["examples/postgrex.exs"], "loaded\nloaded\nfirst")
  test "ecto runs", do: run(["-r", "examples/ecto/shop.ex", "examples/ecto/main.exs"], "loaded\nfirst\nsecond")

  defp run(files, notes) do
    options = Database.create!("example", "CREATE EXTENSION ulid")
    [user, password, host] = for name <- [:username, :password, :hostname], do: URI.encode_www_form(options[name] || "")
    url = "ecto://#{user}:#{password}@#{host}:#{options[:port]}/#{options[:database]}"
    environment = [{"PGDATABASE", options[:database]}, {"DATABASE_URL", url}]
    command = ["run", "--no-compile", "--no-deps-check"]
    {printed, status} = System.cmd("mix", command ++ files, env: environment, stderr_to_stdout: true)
    assert status == 0, printed
    assert Database.psql!(options[:database], ["-c", "SELECT note FROM orders ORDER BY id"]) == notes
  end

  for page <- ["clients/elixir/README.md", "docs/clients/elixir.md"] do
    @page Path.join(Database.root(), page)
    # where the package is tested alone, there are no pages
    @tag skip: not File.exists?(@page)
    test "#{page} shows what the examples contain" do
      examples = Enum.map(Path.wildcard("examples/**/*.{ex,exs}"), &("\n" <> File.read!(&1)))
      blocks = Regex.scan(~r/^```elixir\n(.*?)^```$/ms, File.read!(@page), capture: :all_but_first)
      assert length(blocks) >= 4

      for [block] <- blocks,
          do: assert(Enum.any?(examples, &String.contains?(&1, "\n" <> block)), "in no example:\n" <> block)
    end
  end
end
