# A database for each test, in the server that the environment variables PG* name.
require "minitest/autorun"
require "open3"
require "pg"
require "rbconfig"
require "tmpdir"

class DatabaseTest < Minitest::Test
  ROOT = File.expand_path("../../..", __dir__)
  TABLES = <<~SQL.freeze
    CREATE EXTENSION %<extension>s;
    CREATE TABLE customer (id %<type>s PRIMARY KEY DEFAULT gen_ulid(), name text NOT NULL);
    CREATE TABLE orders (
        id %<type>s PRIMARY KEY DEFAULT gen_ulid(),
        customer_id %<type>s REFERENCES customer,
        note text,
        related %<type>s[]
    );
  SQL

  # Load a library, or skip all tests of a class.
  def self.needs(library)
    require library
  rescue LoadError
    define_method(:setup) { skip "#{library} is not installed" }
  end

  def before_setup
    super
    @database = "pg_ulid_ruby_#{Process.pid}_#{name}".downcase
    administer("CREATE DATABASE #{@database}")
    @db = PG.connect(dbname: @database)
    @db.set_notice_processor { |_| }
  end

  def after_teardown
    @db.close
    administer("DROP DATABASE #{@database} WITH (FORCE)")
    super
  end

  # Create the tables, with the extension ulid, or with ulid_sql and columns of the type uuid.
  def create_tables(native: true)
    @db.exec(format(TABLES, native ? { extension: "ulid", type: "ulid" } : { extension: "ulid_sql", type: "uuid" }))
  end

  # Insert an order with each of the ids from outside, as its id, or as that of a customer if it is null; then compare.
  def store_sample
    @db.exec(File.read("#{ROOT}/tests/clients/sample.sql"))
    rows = @db.exec("SELECT note, given, verdict FROM sample.given").values
    assert_operator rows.size, :>, 30
    assert_equal 6, rows.count { |_, _, verdict| verdict }
    rows.each { |note, given, _| yield({ :note => note, (given ? :id : :customer_id) => given }) }
    assert_equal "equal", @db.exec("SELECT sample.compare()").getvalue(0, 0)
  end

  # Run a program; fail with its output.
  def ruby(*arguments)
    output, status = Open3.capture2e({ "PGDATABASE" => @database }, RbConfig.ruby, "-I#{__dir__}/../lib", *arguments)
    assert status.success?, output
    output
  end

  private

  def administer(statement)
    connection = PG.connect(dbname: "postgres")
    connection.exec(statement)
  ensure
    connection&.close
  end
end
