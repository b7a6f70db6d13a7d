Gem::Specification.new do |gem|
  gem.name = "pg-ulid"
  gem.version = "0.1.0"
  gem.summary = "The type ulid of PostgreSQL for pg, ActiveRecord and Sequel"
  gem.authors = ["The ulid developers"]
  gem.license = "MIT"
  gem.homepage = ENV["REPOSITORY"] if ENV["REPOSITORY"]
  gem.required_ruby_version = ">= 3.1"
  gem.files = Dir["lib/**/*.rb", "README.md", "LICENSE", "CHANGELOG.md"]
end
