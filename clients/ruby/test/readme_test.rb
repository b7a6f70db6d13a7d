require "helper"

# The programs in README.md run as they are, in an empty database; and the page about Ruby shows no others.
class ReadmeTest < DatabaseTest
  README = File.read("#{__dir__}/../README.md")
  PAGE = "#{ROOT}/docs/clients/ruby.md".freeze
  LIBRARIES = { "pg" => "pg", "ActiveRecord" => "active_record", "Sequel" => "sequel" }.freeze

  def self.blocks(text) = text.scan(/^## (.+?)\n(.*?)(?=^## |\z)/m).to_h { |title, body| [title, body.scan(/^```ruby\n(.*?)^```$/m).flatten] }

  blocks(README).each do |title, programs|
    programs.each do |program|
      define_method("test_#{title}") do
        begin
          require LIBRARIES.fetch(title)
        rescue LoadError
          skip "#{title} is not installed"
        end
        ruby "-e", program.gsub('"shop"', @database.inspect).gsub("postgres:///shop", "postgres:///#{@database}")
        assert_equal %w[loaded first], @db.exec("SELECT note FROM orders ORDER BY id").column_values(0)
      end
    end
  end

  def test_the_page_shows_the_same
    skip "the page is not here" unless File.exist?(PAGE)
    assert_equal self.class.blocks(README).values.flatten, self.class.blocks(File.read(PAGE)).values.flatten
  end
end
