# ActiveRecord: create_table, create! and insert_all!.

require "active_record"

ActiveRecord::Base.establish_connection(adapter: "postgresql", database: ENV["PGDATABASE"])
ActiveRecord::Schema.verbose = false
ActiveRecord::Schema.define do
  create_table(:authors) { |t| t.text :name, index: { unique: true } }
end
ActiveRecord::Base.establish_connection(adapter: "postgresql", database: ENV["PGDATABASE"])

class Author < ActiveRecord::Base
end

one = Author.create!(name: "one")
five = Author.create!((0..4).map { |i| { name: "many #{i}" } })
names = (5..9).map { |i| { name: "many #{i}" } }
ids = Author.insert_all!(names, returning: :id).rows.flatten

puts "= authors ActiveRecord #{ActiveRecord.version} (bigserial; RETURNING)"
[one, *five].each { |author| puts "#{author.id}\t#{author.name}" }
ids.zip(names) { |id, author| puts "#{id}\t#{author[:name]}" }
