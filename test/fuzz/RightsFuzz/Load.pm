# Load.pm
#	  Sessions that change names and objects all the time.
#
# A load is a DO block without an end, of a role that owns what it changes.
# Each change adds one to a sequence, so that a run without changes is seen.
#
# test/fuzz/RightsFuzz/Load.pm

package RightsFuzz::Load;

use strict;
use warnings;
use Exporter 'import';

use PlannerFuzz::Random qw(quote);
use RightsFuzz::Server;

our @EXPORT = qw(counter_statements start_load stop_load
  swap_schemas swap_servers change forget_statement);

my $application = 'rights load';

sub counter_statements
{
	return (
		'CREATE SCHEMA counted', 'GRANT USAGE ON SCHEMA counted TO PUBLIC',
		'CREATE SEQUENCE counted.changes', 'GRANT USAGE ON SEQUENCE counted.changes TO PUBLIC');
}

# A loop that runs something that may fail, and commits.
sub forever
{
	my ($declarations, $body) = @_;

	return qq{DO \$load\$
		DECLARE
			changes constant regclass := 'counted.changes';
			$declarations
		BEGIN
			PERFORM set_config('lock_timeout', '500ms', false);
			LOOP
				BEGIN
					$body
					PERFORM nextval(changes);
				EXCEPTION WHEN OTHERS THEN
				END;
				COMMIT;
				-- victims are to get on as well
				PERFORM pg_sleep(random() * 0.008);
			END LOOP;
		END \$load\$};
}

# Two schemas change names; the tables are locked meanwhile for a moment, some
# of the time.
sub swap_schemas
{
	my ($one, $other, @locked) = @_;
	my $tables = join(', ', map { quote($_) } @locked);

	return forever(
		qq{first constant oid := '$one'::regnamespace;
			tables constant regclass[] := ARRAY[$tables]::regclass[];},
		qq{IF cardinality(tables) > 0 AND random() < 0.5 THEN
						EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE',
							tables[1 + floor(random() * cardinality(tables))]);
						PERFORM pg_sleep(random() * 0.02);
					END IF;
					IF '$one'::regnamespace = first THEN
						ALTER SCHEMA $one RENAME TO ${one}_aside;
						ALTER SCHEMA $other RENAME TO $one;
					ELSE
						ALTER SCHEMA $one RENAME TO $other;
						ALTER SCHEMA ${one}_aside RENAME TO $one;
					END IF;});
}

# A server gets another name and its name back; servers are made and dropped.
sub swap_servers
{
	my ($server, $options) = @_;

	return forever('',
		qq{IF EXISTS (SELECT FROM pg_foreign_server WHERE srvname = '$server') THEN
						ALTER SERVER $server RENAME TO ${server}_aside;
					ELSE
						ALTER SERVER ${server}_aside RENAME TO $server;
					END IF;});
}

# One of the statements each time
sub change
{
	my (@statements) = @_;
	my $list = join(",\n", map { quote($_) } @statements);

	return forever(
		"statements constant text[] := ARRAY[$list];",
		'EXECUTE statements[1 + floor(random() * cardinality(statements))];');
}

# Expressions of indexes and partition keys are folded once and then kept by
# each session.  This has all sessions forget them, for what the role owns.
sub forget_statement
{
	return q{DO $forget$
		DECLARE
			command text;
		BEGIN
			FOR command IN
				SELECT format('ALTER INDEX %s SET (fillfactor = %s)', i.indexrelid::regclass,
					50 + floor(random() * 50))
				FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
				WHERE c.relowner = current_user::regrole AND c.relkind = 'i'
				AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)
				UNION ALL
				SELECT format('ALTER TABLE %s ALTER id SET STATISTICS %s', c.oid::regclass,
					50 + floor(random() * 50))
				FROM pg_partitioned_table p JOIN pg_class c ON c.oid = p.partrelid
				WHERE c.relowner = current_user::regrole AND p.partexprs IS NOT NULL
			LOOP
				BEGIN
					EXECUTE command;
				EXCEPTION WHEN OTHERS THEN
				END;
			END LOOP;
		END $forget$};
}

# start_load(server, role => statement, ...)
sub start_load
{
	my ($server, @loads) = @_;
	my @sessions;

	while (my ($name, $statement) = splice(@loads, 0, 2))
	{
		my $session = $server->session($name, $RightsFuzz::Server::app, $application);

		$session->send_statement(
			"SET statement_timeout = 0;\nSET client_connection_check_interval = '1s';\n$statement");
		push @sessions, $session;
	}
	return @sessions;
}

# Ends it; returns how many changes it has made.
sub stop_load
{
	my ($server, @sessions) = @_;
	# a server that has ended, has ended them
	my @early = map {
		my $answer = $_->answer(0.01);
		$answer && !$_->{lost} ? @$answer : ()
	} @sessions;

	return 0 if !$server->is_alive;
	$server->{admin}->must("SELECT count(pg_terminate_backend(pid))
		FROM pg_stat_activity WHERE application_name = '$application'");
	$_->answer(10), $_->end foreach @sessions;
	die join("\n", 'a load has ended', @early, '') if @early;
	return $server->must_as('superuser', $RightsFuzz::Server::app,
		'SELECT last_value FROM counted.changes');
}

1;
