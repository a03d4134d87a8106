# Sequel: create_table, Model.create and multi_insert.

require "sequel"

DB = Sequel.connect(adapter: "postgres", database: ENV["PGDATABASE"])
DB.create_table(:authors) do
  primary_key :id, type: :Bignum
  String :name, text: true, unique: true
end
DB.disconnect

class Author < Sequel::Model
end

one = Author.create(name: "one")
names = (0..9).map { |i| { name: "many #{i}" } }
ids = Author.multi_insert(names, return: :primary_key)

puts "= authors Sequel #{Sequel.version} (identity; RETURNING)"
puts "#{one.id}\t#{one.name}"
ids.zip(names) { |id, author| puts "#{id}\t#{author[:name]}" }
