require "pg"
require "pg_ulid"

module PgUlid
  # Register the type with a PG::Connection: results of the type ulid, also binary ones, are strings of 26 characters, and
  # those of ulid[] are arrays of them. An Array as a parameter is sent without a type, so that <tt>id = ANY ($1)</tt> works,
  # unless the connection has a type map for queries. Returns the connection. Raises PG::UndefinedObject (42704) if the
  # database does not have the extension.
  def self.register(connection)
    ids = connection.exec("SELECT oid, typarray FROM pg_type WHERE oid = 'ulid'::regtype").values.first.map(&:to_i)
    results = connection.type_map_for_results
    unless results.is_a?(PG::TypeMapByOid)
      results = PG::TypeMapByOid.new.tap { |map| map.default_type_map = connection.type_map_for_results }
    end
    binary = BinaryDecoder.new(oid: ids[0], name: "ulid", format: 1)
    results.add_coder(binary)
    results.add_coder(PG::TextDecoder::Array.new(oid: ids[1], name: "_ulid"))
    if defined?(PG::BinaryDecoder::Array)
      results.add_coder(PG::BinaryDecoder::Array.new(oid: ids[1], name: "_ulid", format: 1, elements_type: binary))
    end
    connection.type_map_for_results = results
    if connection.type_map_for_queries.instance_of?(PG::TypeMapAllStrings)
      connection.type_map_for_queries = PG::TypeMapByClass.new.tap { |map| map[Array] = PG::TextEncoder::Array.new }
    end
    connection
  end

  # Reads the 16 bytes of a binary result.
  class BinaryDecoder < PG::SimpleDecoder
    def decode(bytes, _tuple = nil, _field = nil)
      bytes && PgUlid.text(bytes.unpack1("H*").unpack("a8a4a4a4a12").join("-"))
    end
  end
  private_constant :BinaryDecoder
end
