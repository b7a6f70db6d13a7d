# The type ulid for ActiveRecord 6.1 to 8.1, for reading, migrations and schema.rb. Copy it to config/initializers/ulid.rb.
require "active_record"
require "active_record/connection_adapters/postgresql_adapter"

class UlidType < ActiveModel::Type::Value
  ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
  ULID = /\A[0-7OILoil][0-9A-TV-Za-tv-z]{25}\z/
  UUID = /\A[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\z/

  def type = :ulid

  # Convert an id to the form that the server returns. Anything else is passed on, and the server refuses it.
  def cast_value(value)
    case id = value.to_s
    when ULID then id.upcase.tr("OIL", "011")
    when UUID
      number = id.delete("-").hex
      125.step(0, -5).map { |bits| ALPHABET[number >> bits & 31] }.join
    else id
    end
  end

  def serialize(value) = cast(value)
end

module UlidAdapter
  def initialize_type_map(map = type_map)
    super
    map.register_type "ulid", UlidType.new
  end
end

ActiveRecord::ConnectionAdapters::PostgreSQLAdapter.prepend(UlidAdapter)
ActiveRecord::ConnectionAdapters::PostgreSQLAdapter::NATIVE_DATABASE_TYPES[:ulid] = { name: "ulid" }
ActiveRecord::ConnectionAdapters::PostgreSQL::TableDefinition.send(:define_column_methods, :ulid)
