# The type ulid for Sequel: <tt>DB.extension :pg_ulid</tt>. Columns of the type ulid[] are read as arrays, and
# <tt>Sequel.pg_array(ids, :ulid)</tt> writes them. A single id is a string and needs nothing.
module Sequel
  module Postgres
    module UlidMethods
      def self.extended(database)
        database.extension :pg_array
        database.register_array_type("ulid")
      end
    end
  end

  Database.register_extension(:pg_ulid, Postgres::UlidMethods)
end
