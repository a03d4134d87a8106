# ActiveRecord: migrations that make, widen and rename, schema.rb, reset_pk_sequence!.

require "active_record"
require "stringio"

ActiveRecord::Migration.verbose = false
VERSION = ActiveRecord::Migration.current_version

class MakeAuthors < ActiveRecord::Migration[VERSION]
  def change
    create_table(:authors, id: :serial) { |t| t.text :title, index: { unique: true } }
  end
end

class AddBooks < ActiveRecord::Migration[VERSION]
  def change
    create_table(:books) { |t| t.text :name, index: { unique: true } }
    reversible { |direction| direction.up { change_column :authors, :id, :bigint } }
    rename_column :authors, :title, :name
    rename_table :authors, :writers
  end
end

class Author < ActiveRecord::Base
end

class Writer < ActiveRecord::Base
end

class Book < ActiveRecord::Base
end

def connect(database = ENV["PGDATABASE"])
  ActiveRecord::Base.establish_connection(adapter: "postgresql", database: database, min_messages: "warning")
end

def dump
  text = StringIO.new
  pool = ActiveRecord::Base.connection_pool
  ActiveRecord::SchemaDumper.dump(ActiveRecord.version < Gem::Version.new("7.2") ? pool.connection : pool, text)
  text.string
end

def create(model, count)
  model.create!((0...count).map { |i| { name: "name #{i}" } })
end

def title(table, how)
  puts "= #{table} ActiveRecord #{ActiveRecord.version} (#{how})"
end

def report(table, how, rows)
  title(table, how)
  rows.each { |id, name| puts "#{id}\t#{name}" }
end

connect
MakeAuthors.migrate(:up)
authors = Author.create!((10..15).map { |i| { title: "name #{i}" } }).map { |author| [author.id, author.title] }
connect
AddBooks.migrate(:up)
connect
%w[writers books].each { |table| ActiveRecord::Base.connection.reset_pk_sequence!(table) }
connect
authors += create(Writer, 5).map { |writer| [writer.id, writer.name] }
report("writers", "migrations, reset_pk_sequence!", authors)
report("books", "migrations, reset_pk_sequence!", create(Book, 11).pluck(:id, :name))

schema = dump
connect(ENV["PGDATABASE"] + "_loaded")
ActiveRecord::Schema.verbose = false
eval(schema)
[Writer, Book].each(&:reset_column_information)
report("writers@loaded", "schema.rb loaded", create(Writer, 11).pluck(:id, :name))
report("books@loaded", "schema.rb loaded", create(Book, 11).pluck(:id, :name))

title("-", "schema.rb of what was loaded")
puts "!" + (dump == schema && !schema.include?("nextval") ? "no difference" : schema)
