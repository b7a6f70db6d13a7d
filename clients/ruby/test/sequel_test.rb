require "helper"

class SequelTest < DatabaseTest
  needs "sequel"

  IDS = %w[01ARYZ6S41TSV4RRFFQ69G5FAV 01ARYZ6S41TSV4RRFFQ69G5FAW].freeze

  def connect(native: true)
    create_tables(native: native)
    @sequel = Sequel.connect("postgres:///#{@database}", keep_reference: false)
    @sequel.extension :pg_ulid if native
  end

  def teardown = @sequel&.disconnect

  # The models of a test, as they belong to a database.
  def models
    orders = Class.new(Sequel::Model(@sequel[:orders])) { unrestrict_primary_key }
    customer = Class.new(Sequel::Model(@sequel[:customer]))
    customer.one_to_many :orders, class: orders, key: :customer_id
    orders.many_to_one :customer, class: customer, key: :customer_id
    [orders, customer]
  end

  def test_models
    connect
    orders, customers = models
    ada = customers.create(name: "Ada")
    assert_equal 26, ada.id.length
    first = orders.create(customer: ada, note: "first")
    second = orders.create(customer_id: ada.id, note: "second")
    assert_equal "first", orders[first.id.downcase].note
    assert_equal 2, orders.where(id: [first.id, second.id]).count
    assert_equal 2, customers.eager(:orders).all.first.orders.size
    assert_equal 2, orders.where(Sequel.lit("id <@ tstzrange(?, ?)", Time.now - 3600, Time.now + 3600)).count
    assert_equal 2, orders.where(Sequel.function(:ulid_starts_with, :id, first.id[0, 4])).count
    first.update(related: Sequel.pg_array([second.id.downcase], :ulid))
    assert_equal [second.id], orders[first.id].related.to_a
  end

  def test_multi_insert
    connect
    @sequel[:orders].multi_insert(IDS.map { |id| { id: id, note: "loaded" } })
    assert_equal IDS, @sequel[:orders].order(:id).select_map(:id)
  end

  def test_schema
    connect
    @sequel.create_table(:invoices) do
      column :id, :ulid, primary_key: true, default: Sequel.function(:gen_ulid)
      column :others, "ulid[]"
    end
    schema = @sequel.schema(:invoices).to_h
    assert_equal ["ulid", "gen_ulid()", "ulid[]"], [schema[:id][:db_type], schema[:id][:default], schema[:others][:db_type]]
    @sequel.extension :schema_dumper
    assert_includes @sequel.dump_table_schema(:invoices, same_db: true), "column :id, \"ulid\""
  end

  def test_malformed_ids_are_refused_by_the_server
    [true, false].each do |native|
      @sequel&.disconnect
      @db.exec("DROP SCHEMA public CASCADE; CREATE SCHEMA public; DROP SCHEMA IF EXISTS sample CASCADE")
      connect(native: native)
      # a uuid column accepts more forms than a ulid, so ulid_sql reads the text
      id = ->(text) { native || text.nil? ? text : Sequel.function(:ulid_from_text, text) }
      store_sample do |row|
        @sequel[:orders].insert(row.to_h { |key, value| [key, key == :note ? value : id.(value)] })
      rescue Sequel::DatabaseError => error
        raise unless error.wrapped_exception.is_a?(PG::DataException)
      end
    end
  end

  def test_what_fails
    connect
    error = assert_raises(Sequel::DatabaseError) { @sequel.fetch("SELECT 1 FROM orders WHERE id = ANY (?)", Sequel.pg_array(IDS, :text)).all }
    assert_includes error.message, "operator does not exist: ulid = text"
    @sequel.disconnect
    @sequel = Sequel.connect("postgres:///#{@database}", keep_reference: false)
    assert_equal "{#{IDS[0]}}", @sequel.get(Sequel.lit("ARRAY[?::ulid]", IDS[0]))
  end
end
