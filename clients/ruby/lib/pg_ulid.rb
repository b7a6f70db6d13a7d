# Ids of the PostgreSQL type ulid: what the classes for pg, ActiveRecord and Sequel share.
module PgUlid
  ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ".freeze
  ULID = /\A[0-7OILoil][0-9A-TV-Za-tv-z]{25}\z/
  UUID = /\A\h{8}(-\h{4}){3}-\h{12}\z/
  private_constant :ALPHABET, :ULID, :UUID

  # The text of an id as the server writes it: 26 characters in upper case. +id+ is a string or an object whose +to_s+ is an
  # id: a ULID in either case, with O for 0 and I or L for 1, or a UUID with hyphens. Anything else is returned as its text,
  # which the server refuses.
  def self.text(id)
    id = id.to_s
    return id.dup unless id.valid_encoding? && id.encoding.ascii_compatible?
    case id
    when ULID then id.upcase.tr("OIL", "011")
    when UUID
      number = id.delete("-").hex
      125.step(0, -5).map { |bits| ALPHABET[number >> bits & 31] }.join
    else id.dup
    end
  end

  # The same id as a UUID, for a column of the type uuid. Raises ArgumentError for what the type ulid does not accept, as a
  # uuid column accepts other forms.
  def self.uuid(id)
    text = text(id)
    raise ArgumentError, "invalid input syntax for type ulid: #{text.inspect}" unless text.match?(ULID)
    number = text.each_char.inject(0) { |sum, character| sum << 5 | ALPHABET.index(character) }
    format("%032x", number).unpack("a8a4a4a4a12").join("-")
  end
end
