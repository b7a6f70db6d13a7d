defmodule PgUlid do
  @moduledoc """
  The type `ulid` of the PostgreSQL extension ulid.

  An id is a string of 26 characters, as the server writes it. The functions accept the texts that the server accepts:
  upper and lower case, `O` for `0`, `I` and `L` for `1`, and UUIDs. Everything else is refused; nothing is repaired.
  """

  @alphabet "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

  @typedoc "The text of an id, as the server writes it."
  @type t :: String.t()

  @doc """
  The extensions for `Postgrex.Types.define/3`, which make `ulid` and `ulid[]` known to Postgrex.
  """
  @spec extensions() :: [module]
  def extensions, do: [PgUlid.Extension]

  @doc """
  Converts an id to the text that the server returns.

      iex> PgUlid.cast("01aryz6s41tsv4rrffq69g5fav")
      {:ok, "01ARYZ6S41TSV4RRFFQ69G5FAV"}
      iex> PgUlid.cast("nonsense")
      :error
  """
  @spec cast(term) :: {:ok, t} | :error
  def cast(value) do
    with {:ok, id} <- dump(value), do: {:ok, load(id)}
  end

  @doc """
  Converts an id to a UUID of the same 16 bytes.

      iex> PgUlid.to_uuid("01ARYZ6S41TSV4RRFFQ69G5FAV")
      {:ok, "01563df3-6481-d676-4c61-efb99302bd5b"}
  """
  @spec to_uuid(term) :: {:ok, String.t()} | :error
  def to_uuid(value) do
    with {:ok, <<a::binary-4, b::binary-2, c::binary-2, d::binary-2, e::binary-6>>} <- dump(value) do
      {:ok, Enum.map_join([a, b, c, d, e], "-", &Base.encode16(&1, case: :lower))}
    end
  end

  @doc """
  Converts an id to its 16 bytes; `:error` if the server would not accept it.
  """
  @spec dump(term) :: {:ok, <<_::128>>} | :error
  def dump(<<_::binary-26>> = text) do
    # Without the flag "u" a pattern describes bytes, so that no other letter of Unicode fits.
    if text =~ ~r/\A[0-7OILoil][0-9A-TV-Za-tv-z]{25}\z/ do
      {:ok, for(<<letter <- text>>, reduce: 0, do: (number -> number * 32 + digit(letter))) |> then(&<<&1::128>>)}
    else
      :error
    end
  end

  def dump(<<_::binary-36>> = text) do
    if text =~ ~r/\A[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\z/,
      do: text |> String.replace("-", "") |> Base.decode16(case: :mixed),
      else: :error
  end

  def dump(_value), do: :error

  @doc """
  Converts 16 bytes to the text of the id.
  """
  @spec load(<<_::128>>) :: t
  def load(<<_::128>> = id) do
    for <<(digit::5 <- <<0::2, id::binary>>)>>, into: "", do: <<:binary.at(@alphabet, digit)>>
  end

  for {letter, digit} <- Enum.with_index(String.to_charlist(@alphabet)) do
    defp digit(unquote(letter)), do: unquote(digit)
    if letter >= ?A, do: defp(digit(unquote(letter + 32)), do: unquote(digit))
  end

  defp digit(letter) when letter in ~c"Oo", do: 0
  defp digit(letter) when letter in ~c"IiLl", do: 1
end
