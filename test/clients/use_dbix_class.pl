# DBIx::Class: deploy(), create() and populate().

use strict;
use warnings;

package Author;
use base 'DBIx::Class::Core';
__PACKAGE__->table('author');
__PACKAGE__->add_columns(
	id   => { data_type => 'bigint', is_auto_increment => 1 },
	name => { data_type => 'text' });
__PACKAGE__->set_primary_key('id');
__PACKAGE__->add_unique_constraint(['name']);

package Library;
use base 'DBIx::Class::Schema';
__PACKAGE__->register_class(Author => 'Author');

package main;

my $library = Library->connect('dbi:Pg:');
$library->deploy;
$library->storage->disconnect;

my $authors = $library->resultset('Author');
my $one = $authors->create({ name => 'one' });
my @many = $authors->populate([ map { { name => "many $_" } } 0 .. 9 ]);

print "= author DBIx::Class $DBIx::Class::VERSION (bigserial; RETURNING)\n";
printf "%s\t%s\n", $_->id, $_->name foreach $one, @many;
