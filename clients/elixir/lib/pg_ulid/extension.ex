defmodule PgUlid.Extension do
  @moduledoc """
  The extension of Postgrex for the type `ulid`: text in the application, 16 bytes on the wire. See `PgUlid.extensions/0`.

  A parameter that the server would not accept as a `ulid` raises `DBConnection.EncodeError`.
  """

  use Postgrex.BinaryExtension, type: "ulid"
  import Postgrex.BinaryUtils, warn: false

  @impl true
  def encode(_state) do
    quote location: :keep, generated: true do
      value ->
        case PgUlid.dump(value) do
          {:ok, id} -> [<<16::int32()>> | id]
          :error -> raise DBConnection.EncodeError, Postgrex.Utils.encode_msg(value, "a ulid")
        end
    end
  end

  @impl true
  def decode(_state) do
    quote location: :keep do
      <<16::int32(), id::binary-16>> -> PgUlid.load(id)
    end
  end
end
