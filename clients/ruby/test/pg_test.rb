require "helper"
require "pg_ulid/pg"

class PgTest < DatabaseTest
  IDS = %w[01ARYZ6S41TSV4RRFFQ69G5FAV 01ARYZ6S41TSV4RRFFQ69G5FAW].freeze

  def setup
    create_tables
    assert_same @db, PgUlid.register(@db)
  end

  def one(sql, *parameters, format: 0) = @db.exec_params(sql, parameters, format).getvalue(0, 0)

  def test_insert_read_list
    customer = one("INSERT INTO customer (name) VALUES ('Ada') RETURNING id")
    assert_match(/\A[0-7][0-9A-HJKMNP-TV-Z]{25}\z/, customer)
    insert = "INSERT INTO orders (customer_id, note) VALUES ($1, $2) RETURNING id"
    first = one(insert, customer, "first")
    second = one(insert, customer.downcase, "second")
    assert_equal "first", one("SELECT note FROM orders WHERE id = $1", first)
    assert_equal "2", one("SELECT count(*) FROM orders WHERE id = ANY ($1)", [first, second])
    assert_equal "2", one("SELECT count(*) FROM orders WHERE id <@ tstzrange($1, $2)", Time.now - 3600, Time.now + 3600)
    assert_equal "1", one("SELECT count(*) FROM orders WHERE ulid_starts_with(id, $1) AND id = $2", first[0, 10], first)
    assert_equal [second], one("UPDATE orders SET related = $1 WHERE id = $2 RETURNING related", [second], first)
  end

  def test_arrays_and_null
    assert_equal [IDS[0], nil], one("SELECT $1::ulid[]", [IDS[0].downcase, nil])
    assert_equal [], one("SELECT '{}'::ulid[]")
    assert_nil one("SELECT NULL::ulid[]")
    assert_nil one("SELECT NULL::ulid", format: 1)
  end

  def test_binary_results
    IDS.each { |id| assert_equal id, one("SELECT $1::ulid", id, format: 1) }
    skip "pg #{PG::VERSION} does not read binary arrays" unless defined?(PG::BinaryDecoder::Array)
    assert_equal [IDS[0], nil], one("SELECT $1::ulid[]", [IDS[0], nil], format: 1)
  end

  def test_other_results_stay_what_they_are
    assert_equal "1", one("SELECT 1")
    @db.type_map_for_results = PG::BasicTypeMapForResults.new(@db)
    PgUlid.register(@db)
    assert_equal [1, IDS], @db.exec_params("SELECT 1, $1::ulid[]", [IDS]).values.first
  end

  def test_copy
    @db.copy_data("COPY orders (id, note) FROM STDIN", PG::TextEncoder::CopyRow.new) { IDS.each { |id| @db.put_copy_data([id, "copied"]) } }
    assert_equal IDS, @db.exec("SELECT id FROM orders ORDER BY id").column_values(0)
  end

  def test_malformed_ids_are_refused_by_the_server
    store_sample do |row|
      @db.exec_params("INSERT INTO orders (#{row.keys.join(", ")}) VALUES ($1, $2)", row.values)
    rescue PG::DataException
    end
  end

  def test_without_the_extension
    @db.exec("DROP EXTENSION ulid CASCADE")
    assert_raises(PG::UndefinedObject) { PgUlid.register(@db) }
  end

  def test_without_registering
    db = PG.connect(dbname: @database)
    assert_equal "{#{IDS.join(",")}}", db.exec_params("SELECT $1::ulid[]", ["{#{IDS.join(",")}}"]).getvalue(0, 0)
    assert_equal 16, db.exec_params("SELECT $1::ulid", [IDS[0]], 1).getvalue(0, 0).bytesize
    # it sends a list as text[]
    db.type_map_for_queries = PG::BasicTypeMapForQueries.new(db)
    PgUlid.register(db)
    error = assert_raises(PG::UndefinedFunction) { db.exec_params("SELECT 1 FROM orders WHERE id = ANY ($1)", [IDS]) }
    assert_equal "operator does not exist: ulid = text", error.result.error_field(PG::PG_DIAG_MESSAGE_PRIMARY)
    assert_empty db.exec_params("SELECT 1 FROM orders WHERE id = ANY ($1::ulid[])", [IDS]).values
  ensure
    db.close
  end
end
