# The programs in README.md run as they are, in an empty database; and the ids of clients/cases.sql through pg and ActiveRecord.
require "minitest/autorun"
require "open3"
require "pg"
require "rbconfig"
require "stringio"
require "tempfile"

class RubyTest < Minitest::Test
  BLOCKS = File.read("#{__dir__}/README.md").scan(/^## (.+?)\n(.*?)(?=^## |\z)/m).to_h do |title, body|
    [title, body.scan(/^```ruby(?: \w+)?\n(.*?)^```$/m).flatten]
  end
  LIBRARIES = { "pg" => "pg", "ActiveRecord" => "active_record", "Sequel" => "sequel" }.freeze
  REFUSED = ["PG::InvalidTextRepresentation", "PG::NumericValueOutOfRange"].freeze

  def setup
    @database = "pg_ulid_ruby_#{Process.pid}"
    administer("CREATE DATABASE #{@database}")
    @db = PG.connect(dbname: @database)
    @db.set_notice_processor { |_| }
  end

  def teardown
    @db.close
    ::ActiveRecord::Base.connection_handler.clear_all_connections! if defined?(::ActiveRecord)
    administer("DROP DATABASE #{@database} WITH (FORCE)")
  end

  def administer(statement)
    connection = PG.connect(dbname: "postgres")
    connection.exec(statement)
  ensure
    connection&.close
  end

  def needs(title)
    require LIBRARIES.fetch(title)
  rescue LoadError
    skip "#{title} is not installed"
  end

  BLOCKS.each do |title, programs|
    define_method("test_program_#{title}") do
      needs(title)
      program = programs.join.gsub('"shop"', @database.inspect).gsub("postgres:///shop", "postgres:///#{@database}")
      output, status = Open3.capture2e(RbConfig.ruby, "-e", program)
      assert status.success?, output
      assert_equal %w[loaded first], @db.exec("SELECT note FROM orders ORDER BY id").column_values(0)
    end
  end

  # Insert an order with each id from outside; what the block raises must be a refusal of the server.
  def store_cases
    @db.exec("CREATE EXTENSION ulid")
    @db.exec(File.read("#{__dir__}/../cases.sql"))
    yield nil if block_given?
    rows = @db.exec("SELECT note, given, verdict FROM cases.given").values
    assert_equal [52, 11], [rows.size, rows.count { |row| row[2] }]
    rows.each do |note, given, verdict|
      yield({ :note => note, (given ? :id : :customer_id) => given })
      assert verdict || given.nil?, given
    rescue StandardError => error
      raise unless REFUSED.include?((error.cause || error).class.name)
      refute verdict, given
    end
    assert_equal "equal", @db.exec("SELECT cases.compare()").getvalue(0, 0)
  end

  def test_cases_pg
    store_cases do |row|
      @db.exec_params("INSERT INTO orders (#{row.keys.join(", ")}) VALUES ($1, $2)", row.values) if row
    end
    error = assert_raises(PG::UndefinedFunction) do
      ids = PG::BasicTypeMapForQueries.new(@db)
      @db.exec_params("SELECT gen_ulid() = ANY ($1)", [["01ARYZ6S41TSV4RRFFQ69G5FAV"]], 0, ids)
    end
    assert_match "operator does not exist: ulid = text", error.message
  end

  def test_cases_ActiveRecord
    needs("ActiveRecord")
    TOPLEVEL_BINDING.eval(BLOCKS["ActiveRecord"].first)
    order = Class.new(::ActiveRecord::Base) { self.table_name = "orders" }
    store_cases do |row|
      row ? order.create!(row) : ::ActiveRecord::Base.establish_connection(adapter: "postgresql", database: @database)
    end
    id = order.create!(note: "first", related: ["01aryz6s41tsv4rrffq69g5fav", nil]).id
    [id.downcase, id.tr("01", "OL")].each { |form| assert_equal ["first"], order.find([form]).map(&:note), form }
    assert_equal ["01ARYZ6S41TSV4RRFFQ69G5FAV", nil], order.find(id).related
    refute order.find(id).tap { |found| found.id = id.downcase }.changed?
    first = dump
    assert_match(/create_table "orders", id: :ulid, default: -> { "gen_ulid\(\)" }/, first)
    assert_match(/t\.ulid "related", array: true/, first)
    @db.exec("DROP SCHEMA cases CASCADE; DROP TABLE orders, customer")
    ::ActiveRecord::Schema.verbose = false
    TOPLEVEL_BINDING.eval(first)
    assert_equal first, dump
  end

  # Each order with a note is read once and in order, also if it is committed late; with the query cache, as in a job.
  def test_consumer_ActiveRecord
    needs("ActiveRecord")
    TOPLEVEL_BINDING.eval(BLOCKS["ActiveRecord"].first)
    @db.exec("CREATE EXTENSION ulid; CREATE TABLE orders (id ulid PRIMARY KEY DEFAULT gen_ordered_ulid(), note text)")
    @db.exec("CALL ulid_refresh_horizon()")
    @db.exec("SELECT ulid_create_consumer('mail', 'orders')")
    ::ActiveRecord::Base.establish_connection(adapter: "postgresql", database: @database)
    RubyTest.class_eval("class Order < ::ActiveRecord::Base; end\n#{BLOCKS["ActiveRecord"].grep(/def poll/).first}")
    late = PG.connect(dbname: @database)
    position = -> { @db.exec("SELECT position FROM ulid_consumer").getvalue(0, 0) }
    read, = capture_io do
      Order.connection.cache do
        8.times do |number|
          late.exec("BEGIN; INSERT INTO orders (note) VALUES ('late')")
          @db.exec("INSERT INTO orders (note) VALUES (#{number})")    # Order.create! would empty the cache
          refute poll
          late.exec(number == 5 ? "ROLLBACK" : "COMMIT")
          assert poll
          before = position.call
          @db.exec("INSERT INTO orders DEFAULT VALUES")
          assert poll
          assert_operator position.call, :>, before
          refute poll
        end
      end
    end
    rows = @db.exec("SELECT id, note FROM orders WHERE note IS NOT NULL ORDER BY id").values
    assert_equal [15, rows.map { |row| row.join(" ") }], [rows.size, read.lines(chomp: true)]
    Order.transaction { assert_raises(::ActiveRecord::StatementInvalid) { poll } }
  ensure
    late&.close
  end

  # The migration, and a test database that is loaded from structure.sql, in which a consumer reads a row.
  def test_uuid_columns
    needs("ActiveRecord")
    migration = File.read("#{__dir__}/README.md")[/^```ruby migration\n(.*?)^```$/m, 1].gsub("db/", "#{__dir__}/../../sql/")
    TOPLEVEL_BINDING.eval(migration)
    ::ActiveRecord::Migration.verbose = false
    ::ActiveRecord::Base.dump_schemas = :all
    tasks = lambda do |database|
      settings = { adapter: "postgresql", database:, schema_search_path: "public,ulid_sql", min_messages: "warning" }
      ::ActiveRecord::Base.establish_connection(settings)
      configuration = ::ActiveRecord::DatabaseConfigurations::HashConfig.new("test", "primary", settings)
      ::ActiveRecord::Tasks::PostgreSQLDatabaseTasks.new(configuration)
    end
    administer("CREATE DATABASE #{@database}_loaded TEMPLATE template0")
    structure = Tempfile.new
    development = tasks.call(@database)
    ::ActiveRecord::Base.transaction { AddUlidSql.new.migrate(:up) }
    ::ActiveRecord::Schema.define { create_table(:messages, id: :uuid, default: -> { "gen_ordered_uuid_v7()" }) { |t| t.text :note } }
    development.structure_dump(structure.path, nil)
    capture_subprocess_io { tasks.call("#{@database}_loaded").structure_load(structure.path, nil) }
    tasks.call("#{@database}_loaded")
    message = Class.new(::ActiveRecord::Base) { self.table_name = "messages" }
    db = message.connection
    message.create!(note: "before the first refresh")
    db.execute("SELECT ulid_refresh()")
    db.execute("SELECT ulid_create_consumer('mail', 'messages')")
    message.create!(note: "first")
    db.execute("CALL ulid_refresh_horizon()")
    batch = db.exec_query("CALL ulid_next_batch('mail')").first
    assert_equal ["first"], message.where(id: batch["batch_start"]...batch["batch_end"]).map(&:note)
    assert_equal 2, message.where("ulid_contained_by_range(id, tstzrange(?, NULL))", Time.now - 60).count
  ensure
    ::ActiveRecord::Base.connection_handler.clear_all_connections!
    administer("DROP DATABASE IF EXISTS #{@database}_loaded WITH (FORCE)")
  end

  def test_polymorphic
    needs("ActiveRecord")
    program = File.read("#{__dir__}/polymorphic.rb")
    @db.exec("CREATE EXTENSION ulid")
    settings = %w[seqscan hashjoin mergejoin bitmapscan].map { |name| "-c enable_#{name}=off" }.join(" ")
    connect = "ActiveRecord::Base.establish_connection(adapter: 'postgresql', database: '#{@database}')\n"
    output, status = Open3.capture2e({ "PGOPTIONS" => settings }, RbConfig.ruby, "-e",
      BLOCKS["ActiveRecord"].first + connect + program)
    assert status.success?, output
    assert_match "Index Cond: (id = comments.subject_ulid)", output
    error = assert_raises(PG::UndefinedFunction) do
      @db.exec("SELECT FROM documents JOIN comments ON documents.id = comments.subject_id")
    end
    assert_match "operator does not exist: ulid = character varying", error.message
  end

  def dump
    StringIO.new.tap { |out| ::ActiveRecord::SchemaDumper.dump(::ActiveRecord::Base.connection, out) }.string
  end
end
