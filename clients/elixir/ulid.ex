# The type ulid for Postgrex and Ecto: a type of Ecto, and an extension of Postgrex. Replace Shop by the
# name of your application. Run by hand with Postgrex 0.19 and Ecto 3.12; not part of the tests. Ids are
# strings, as the server writes them, also in lists, arrays and insert_all.
#
# configuration  config :shop, Shop.Repo, types: Shop.Types
# migration      add :id, :ulid, primary_key: true, default: fragment("gen_ulid()")
#                add :related, {:array, :ulid}
# schema         @primary_key {:id, Shop.Ulid, read_after_writes: true}, @foreign_key_type Shop.Ulid
#                No autogenerate: tables that consumers poll need the default gen_ordered_ulid().
# time range     where: fragment("? <@ tstzrange(?, ?)", order.id, ^start, ^stop)
# prefix         where: fragment("ulid_starts_with(?, ?)", order.id, ^prefix)
# other forms    cast converts an id; a struct keeps what it is given, and a preload compares it (not run)
# changeset      cast(…, empty_values: []), or an empty string is nil, and the server generates an id

defmodule Shop.Ulid do
  use Ecto.Type

  @alphabet "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

  def type, do: :ulid
  def cast(value), do: with({:ok, id} <- to_binary(value), do: {:ok, to_text(id)})
  def dump(value), do: cast(value)
  def load(text), do: {:ok, text}

  # The texts that the server accepts, and no others. Without the flag "u" a pattern describes bytes.
  def to_binary(<<_::binary-26>> = text) do
    if text =~ ~r/\A[0-7OILoil][0-9A-TV-Za-tv-z]{25}\z/,
      do: {:ok, for(<<letter <- text>>, reduce: 0, do: (number -> number * 32 + digit(letter))) |> then(&<<&1::128>>)},
      else: :error
  end

  def to_binary(text) when is_binary(text) do
    if text =~ ~r/\A(\{)?(?:[0-9A-Fa-f]{4}-?){7}[0-9A-Fa-f]{4}(?(1)\})\z/,
      do: text |> String.replace(["{", "-", "}"], "") |> Base.decode16(case: :mixed),
      else: :error
  end

  def to_binary(_value), do: :error

  def to_text(<<_::128>> = id) do
    for <<(digit::5 <- <<0::2, id::binary>>)>>, into: "", do: <<:binary.at(@alphabet, digit)>>
  end

  for {letter, digit} <- Enum.with_index(String.to_charlist(@alphabet)) do
    defp digit(unquote(letter)), do: unquote(digit)
    if letter >= ?A, do: defp(digit(unquote(letter + 32)), do: unquote(digit))
  end

  defp digit(letter) when letter in ~c"Oo", do: 0
  defp digit(letter) when letter in ~c"IiLl", do: 1
end

defmodule Shop.UlidExtension do
  use Postgrex.BinaryExtension, type: "ulid"
  import Postgrex.BinaryUtils, warn: false

  def encode(_state) do
    quote location: :keep, generated: true do
      value ->
        case Shop.Ulid.to_binary(value) do
          {:ok, id} -> [<<16::int32()>> | id]
          :error -> raise DBConnection.EncodeError, Postgrex.Utils.encode_msg(value, "a ulid")
        end
    end
  end

  def decode(_state) do
    quote location: :keep do
      <<16::int32(), id::binary-16>> -> Shop.Ulid.to_text(id)
    end
  end
end

Postgrex.Types.define(Shop.Types, [Shop.UlidExtension] ++ Ecto.Adapters.Postgres.extensions())
