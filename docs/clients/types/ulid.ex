# The type ulid for Postgrex and Ecto: Ulid.Extension for Postgrex.Types.define, and Ulid for fields. Values are text.
defmodule Ulid do
  use Ecto.Type

  @alphabet ~c"0123456789ABCDEFGHJKMNPQRSTVWXYZ"
  @ulid ~r/\A[0-7OILoil][0-9A-TV-Za-tv-z]{25}\z/
  @uuid ~r/\A[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\z/

  @doc "The 16 bytes of a text that the server accepts, or :error."
  def parse(text) when is_binary(text) do
    cond do
      Regex.match?(@ulid, text) ->
        number = for <<letter <- text>>, reduce: 0, do: (number -> number * 32 + digit(letter))
        {:ok, <<number::128>>}

      Regex.match?(@uuid, text) ->
        {:ok, text |> String.replace("-", "") |> Base.decode16!(case: :mixed)}

      true ->
        :error
    end
  end

  def parse(_), do: :error

  @doc "The text that the server writes."
  def format(<<_::128>> = id) do
    for <<digit::5 <- <<0::2, id::binary>> >>, into: "", do: <<Enum.at(@alphabet, digit)>>
  end

  for {letter, digit} <- Enum.with_index(@alphabet) do
    defp digit(unquote(letter)), do: unquote(digit)
    if letter >= ?A, do: defp(digit(unquote(letter + 32)), do: unquote(digit))
  end

  defp digit(letter) when letter in ~c"Oo", do: 0
  defp digit(letter) when letter in ~c"IiLl", do: 1

  # For Ecto: ids are converted to the form that the server returns; anything else is refused.
  def type, do: :ulid
  def cast(text), do: with({:ok, id} <- parse(text), do: {:ok, format(id)})
  def dump(text), do: cast(text)
  def load(text), do: {:ok, text}
end

defmodule Ulid.Extension do
  use Postgrex.BinaryExtension, type: "ulid"
  import Postgrex.BinaryUtils, warn: false

  def encode(_) do
    quote location: :keep, generated: true do
      text ->
        case Ulid.parse(text) do
          {:ok, id} -> [<<16::int32()>> | id]
          :error -> raise DBConnection.EncodeError, Postgrex.Utils.encode_msg(text, "a ulid")
        end
    end
  end

  def decode(_) do
    quote location: :keep do
      <<16::int32(), id::binary-16>> -> Ulid.format(id)
    end
  end
end
