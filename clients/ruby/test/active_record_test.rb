require "helper"
require "stringio"

class ActiveRecordTest < DatabaseTest
  needs "active_record"
  require "pg_ulid/active_record" if defined?(::ActiveRecord)

  IDS = %w[01ARYZ6S41TSV4RRFFQ69G5FAV 01ARYZ6S41TSV4RRFFQ69G5FAW].freeze

  if defined?(::ActiveRecord)
    class Customer < ::ActiveRecord::Base
      self.table_name = "customer"
      has_many :orders, class_name: "ActiveRecordTest::Order"
    end

    class Order < ::ActiveRecord::Base
      belongs_to :customer, optional: true, class_name: "ActiveRecordTest::Customer"
    end
  end

  def connect(native: true)
    create_tables(native: native)
    ::ActiveRecord::Schema.verbose = false
    ::ActiveRecord::Base.establish_connection(adapter: "postgresql", database: @database)
    [Customer, Order].each(&:reset_column_information)
  end

  def teardown
    ::ActiveRecord::Base.connection_handler.clear_all_connections!(*(:all if ::ActiveRecord.version >= Gem::Version.new("7.1")))
  end

  def test_find_by_every_form
    connect
    ada = Customer.create!(name: "Ada")
    first = Order.create!(customer: ada, note: "first")
    second = Order.create!(customer_id: ada.id.downcase, note: "second")
    assert_equal 26, first.id.length
    assert_equal "first", Order.find(first.id.downcase).note
    uuid = Order.connection.select_value("SELECT id::uuid FROM orders WHERE note = 'first'")
    [first.id.downcase, uuid, first.id.tr("01", "OL"), Struct.new(:to_s).new(first.id)].each do |form|
      assert_equal %w[first second], Order.find([form, second.id]).map(&:note), form
    end
    assert_equal 2, Order.where(id: [first.id, second.id]).count
    assert_equal 2, Customer.includes(:orders).first.orders.size
    assert_equal 1, Customer.joins(:orders).distinct.count
    assert_equal 2, Order.where("id <@ tstzrange(?, ?)", 1.hour.ago, 1.hour.from_now).count
    assert_equal 2, Order.where("ulid_starts_with(id, ?)", first.id[0, 4]).count
    refute Order.new(id: first.id).tap(&:clear_changes_information).tap { |order| order.id = first.id.downcase }.changed?
  end

  def test_arrays_and_null
    connect
    order = Order.create!(related: [IDS[0].downcase, nil])
    assert_equal [IDS[0], nil], Order.find(order.id).related
    assert_nil Order.find(order.id).customer_id
  end

  def test_insert_all
    connect
    Order.insert_all(IDS.map { |id| { id: id.downcase, note: "loaded" } })
    assert_equal IDS, Order.order(:id).ids
  end

  def test_malformed_ids_are_passed_on
    connect
    store_sample do |row|
      Order.create!(row)
    rescue ::ActiveRecord::StatementInvalid, ::ActiveRecord::RangeError
    end
  end

  def test_uuid_columns
    connect(native: false)
    orders = Class.new(::ActiveRecord::Base) do
      self.table_name = "orders"
      attribute :id, :ulid, native: false
      attribute :customer_id, :ulid, native: false
    end
    order = orders.create!(id: IDS[0].downcase)
    assert_equal "01563df3-6481-d676-4c61-efb99302bd5b", @db.exec("SELECT id FROM orders").getvalue(0, 0)
    assert_equal [IDS[0]], orders.where(id: [order.id.downcase, IDS[1]]).ids
    orders.delete_all
    store_sample do |row|
      orders.create!(row)
    rescue ArgumentError, ::ActiveRecord::StatementInvalid, ::ActiveRecord::RangeError
    end
  end

  def dump
    database = ::ActiveRecord.version < Gem::Version.new("7.2") ? ::ActiveRecord::Base.connection : ::ActiveRecord::Base.connection_pool
    StringIO.new.tap { |out| ::ActiveRecord::SchemaDumper.dump(database, out) }.string
  end

  def test_schema
    connect
    ::ActiveRecord::Schema.define do
      create_table(:invoices, id: :ulid) do |t|
        t.ulid :order_id, null: false
        t.ulid :others, array: true
        t.references :customer, type: :ulid
      end
      create_table(:imported, id: :ulid, default: nil)
      change_table(:invoices) { |t| t.ulid :added }
      add_column :invoices, :last, :ulid
    end
    schema = dump
    [
      'enable_extension "ulid"',
      'create_table "invoices", id: :ulid, default: -> { "gen_ulid()" }, force: :cascade do |t|',
      'create_table "imported", id: :ulid, default: nil, force: :cascade do |t|',
      't.ulid "order_id", null: false', 't.ulid "others", array: true', 't.ulid "customer_id"', 't.ulid "added"', 't.ulid "last"',
    ].each { |line| assert_includes schema, line }
    ::ActiveRecord::Base.connection.execute("DROP TABLE orders, customer, invoices, imported")
    eval(schema)
    assert_equal schema, dump
  end

  # What happens without the package, in a program of its own.
  def test_without_the_package
    create_tables
    ruby "-e", <<~'RUBY'
      require "stringio"
      require "active_record"
      class Order < ActiveRecord::Base; end
      ActiveRecord::Base.establish_connection(adapter: "postgresql", database: ENV["PGDATABASE"])
      new = ActiveRecord.version >= Gem::Version.new("7.2")
      out = StringIO.new
      ActiveRecord::SchemaDumper.dump(new ? ActiveRecord::Base.connection_pool : ActiveRecord::Base.connection, out)
      wanted = 'Could not dump table "orders" because of following StandardError'
      raise out.string unless out.string.include?(wanted) && out.string.include?("Unknown type 'ulid' for column 'id'")
      ids = [Order.create!.id.downcase, Order.create!.id.downcase]
      begin
        found = Order.find(ids)
        raise found.inspect unless new && found == []
      rescue KeyError
        raise if new
      end
      begin
        ActiveRecord::Schema.define { create_table(:wrong) { |t| t.ulid :id } }
        raise "defined"
      rescue NoMethodError => error
        raise error unless error.message.match?(/undefined method ['`]ulid'/)
      end
    RUBY
  end
end
