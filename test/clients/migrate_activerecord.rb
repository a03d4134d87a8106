# ActiveRecord: migrations that make, widen and rename, schema.rb, reset_pk_sequence!.

require "active_record"
require "stringio"

ActiveRecord::Migration.verbose = false
VERSION = ActiveRecord::Migration.current_version
LISTS_SCHEMAS = VERSION >= 7.2

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
  ActiveRecord::SchemaDumper.dump(LISTS_SCHEMAS ? pool : pool.connection, text)
  text.string
end

def create(model, count)
  model.create!((0...count).map { |i| { name: "name #{i}" } })
end

def title(table, how, mark = "")
  puts "=#{mark} #{table} ActiveRecord #{ActiveRecord.version} (#{how})"
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
report("writers", "serial widened; reset_pk_sequence!", authors)
report("books", "bigserial; reset_pk_sequence!", create(Book, 11).pluck(:id, :name))

# What an initializer has to do for releases that list the schema of the
# extension, which the extension makes itself.
def leave_out_schema
  ActiveSupport.on_load(:active_record_postgresqladapter) do
    prepend(Module.new do
      def schema_names
        super - ["spanner", "spanner_internal"]
      end
    end)
  end
end

if LISTS_SCHEMAS
  title("-", "schema.rb without an initializer", "known")
  puts "!" + (dump[/create_schema "spanner\w*"/] || "no difference")
  leave_out_schema
end

# As Rails makes a database for tests, where schema.rb brings the extension.
schema = dump
connect(ENV["PGDATABASE"] + "_loaded")
ActiveRecord::Base.connection.execute("DROP EXTENSION spanner_keys")
ActiveRecord::Schema.verbose = false
eval(schema)
[Writer, Book].each(&:reset_column_information)
report("writers@loaded", "schema.rb loaded, what was serial", create(Writer, 11).pluck(:id, :name))
report("books@loaded", "schema.rb loaded, bigserial", create(Book, 11).pluck(:id, :name))

title("-", "schema.rb of what was loaded")
puts "!" + (dump == schema && !schema.include?("nextval") ? "no difference" : schema)
