require "minitest/autorun"
require "pg_ulid"

class TextTest < Minitest::Test
  TEXT = "01BX5ZZKBKACTAV9WEVGEMMVRY".freeze
  UUID = "016093ff-cd9e-6339-aada-5c86ddca8b1e".freeze

  def test_forms_of_an_id
    uuid = PgUlid.uuid(TEXT)
    [TEXT, TEXT.downcase, "OlBX5ZZKBKACTAV9WEVGEMMVRy", uuid, uuid.upcase].each { |form| assert_equal TEXT, PgUlid.text(form), form }
    assert_equal "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", PgUlid.text("ffffffff-ffff-ffff-ffff-ffffffffffff")
  end

  def test_object_whose_text_is_an_id
    assert_equal TEXT, PgUlid.text(Struct.new(:to_s).new(TEXT.downcase))
  end

  def test_uuid_is_that_of_the_server
    assert_equal "01563df3-6481-d676-4c61-efb99302bd5b", PgUlid.uuid("01ARYZ6S41TSV4RRFFQ69G5FAV")
    assert_equal "01563df3-6481-d676-4c61-efb99302bd5b", PgUlid.uuid("01563DF3-6481-D676-4C61-EFB99302BD5B")
  end

  def test_anything_else_is_passed_on
    ["", "abc", "81BX5ZZKBKACTAV9WEVGEMMVRY", " #{TEXT}", "#{TEXT}\n", "01BX5ZZ\u212AKBKACTAV9WEVGEMMVR", "\xff"].each do |text|
      assert_equal text, PgUlid.text(text)
      assert_raises(ArgumentError) { PgUlid.uuid(text) }
    end
    assert_raises(ArgumentError) { PgUlid.uuid(UUID.delete("-")) }
  end
end
