require "active_record"
require "active_record/connection_adapters/postgresql_adapter"
require "pg_ulid"

module PgUlid
  # The type ulid for ActiveRecord: columns, <tt>t.ulid</tt> in migrations, and schema.rb. Requiring the file is all. With
  # <tt>attribute :id, :ulid, native: false</tt> a column of the type uuid is read and written as ulids.
  module ActiveRecord
    # Ids are compared as strings, so each is converted to the form that the server returns. What is no id is passed on, and
    # the server refuses it; for a uuid column, ArgumentError is raised.
    class Type < ActiveModel::Type::Value
      def initialize(native: true, **options)
        @native = native
        super(**options)
      end

      def type = @native ? :ulid : :uuid

      def serialize(value)
        return if value.nil?
        @native ? PgUlid.text(value) : PgUlid.uuid(value)
      end

      private

      def cast_value(value) = PgUlid.text(value)
    end

    module Adapter
      def initialize_type_map(map = type_map)
        super
        map.register_type "ulid", Type.new
      end
    end

    # A primary key of the type ulid has the default gen_ulid(), as one of the type uuid has gen_random_uuid().
    module TableDefinition
      def primary_key(name, type = :primary_key, **options)
        options[:default] = options.fetch(:default) { -> { "gen_ulid()" } } if type == :ulid
        super
      end
    end

    module SchemaDumper
      private

      def explicit_primary_key_default?(column) = column.type == :ulid || super
    end
    private_constant :Adapter, :TableDefinition, :SchemaDumper

    ::ActiveRecord::Type.register(:ulid, Type, adapter: :postgresql)
    postgresql = ::ActiveRecord::ConnectionAdapters::PostgreSQL
    ::ActiveRecord::ConnectionAdapters::PostgreSQLAdapter.prepend(Adapter)
    ::ActiveRecord::ConnectionAdapters::PostgreSQLAdapter::NATIVE_DATABASE_TYPES[:ulid] = { name: "ulid" }
    postgresql::TableDefinition.send(:define_column_methods, :ulid)
    postgresql::TableDefinition.prepend(TableDefinition)
    postgresql::Table.send(:define_column_methods, :ulid)
    postgresql::SchemaDumper.prepend(SchemaDumper)
  end
end
