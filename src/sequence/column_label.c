/*-------------------------------------------------------------------------
 *
 * column_label.c
 *	  Labels of columns, by which Citus tells its nodes of kinds.
 *
 * Citus creates the sequences of distributed tables on each node, and gives
 * each its own range of counters.  It does not send labels of sequences, but
 * from release 13.1 on those of columns: with the table, to nodes that are
 * added later, and when they change.  So in a database with Citus each column
 * that uses a bound sequence has the label of the sequence.
 *
 * In a command of a user, labels of columns follow those of sequences.  In one
 * that Citus sends to another node, it is the other way round.  There the
 * sequence gets the label of the column, after it was created and before a row
 * can be inserted.
 *
 * src/sequence/column_label.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_namespace.h"
#include "commands/extension.h"
#include "nodes/parsenodes.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "sequence/column_label.h"
#include "spi/command_hooks.h"
#include "spi/run_command.h"

/* The first release that sends labels of columns. */
#define SK_CITUS_RELEASE "{13,1}"

#define SK_COLUMNS "spanner_internal.sequence_columns c"

/* What a command was about, of tables and sequences. */
#define SK_TOUCHED \
	"(SELECT t.objid FROM pg_catalog.pg_event_trigger_ddl_commands() t" \
	" WHERE t.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass)"

static void label_columns(const char *condition);
static void label_sequences(bool and_unbind);
static void warn_of_old_citus(void);

/*
 * sk_label_columns
 *		Copy the label of a sequence to the columns that use it.
 */
void
sk_label_columns(Oid seqid)
{
	if (sk_citus_exists() && !sk_sent_by_citus())
		label_columns(psprintf("c.seqid OPERATOR(pg_catalog.=) %u", seqid));
}

/*
 * sk_check_column_label
 *		Raise an error if a user gives a column another label than its sequence.
 */
void
sk_check_column_label(Oid table, int32 column, const char *label)
{
	char	   *wanted;

	if (sk_sent_by_citus())
		return;
	wanted = sk_query_text(psprintf("SELECT c.sequence_label FROM " SK_COLUMNS
									" WHERE c.relid OPERATOR(pg_catalog.=) %u"
									" AND c.attnum OPERATOR(pg_catalog.=) %d",
									table, column));
	if (wanted != NULL && (label == NULL || strcmp(label, wanted) != 0))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("label of column \"%s\" of table \"%s\" must match the label of its sequence",
						get_attname(table, column, false), get_rel_name(table)),
				 errhint("Use spanner.alter_sequence(), or SECURITY LABEL ON SEQUENCE.")));
}

/*
 * sk_column_labels_command_end
 *		Have labels of columns and sequences agree after a command.
 *
 * If it restores a dump, no label is taken away: the sequence of a column may
 * come later.
 */
void
sk_column_labels_command_end(Node *command, bool restores)
{
	if (IsA(command, CreateExtensionStmt) &&
		strcmp(((CreateExtensionStmt *) command)->extname, SK_CITUS) != 0)
		return;
	if (!sk_citus_exists())
		return;
	if (sk_sent_by_citus())
		label_sequences(IsA(command, SecLabelStmt));
	else if (IsA(command, CreateExtensionStmt))
		label_columns("c.sequence_label IS NOT NULL");
	else
		label_columns(psprintf("(c.relid IN %s OR c.seqid IN %s) AND %s",
							   SK_TOUCHED, SK_TOUCHED,
							   restores ? "c.sequence_label IS NOT NULL" : "true"));
}

/* Have the columns that meet a condition get the label of their sequence. */
static void
label_columns(const char *condition)
{
	List	   *commands;
	ListCell   *lc;

	commands = sk_query_texts(psprintf("SELECT pg_catalog.format('SECURITY LABEL FOR " SK_LABEL_PROVIDER
									   " ON COLUMN %%s.%%s IS %%L', c.table_name, c.column_name, c.sequence_label)"
									   " FROM " SK_COLUMNS
									   " WHERE c.sequence_label IS DISTINCT FROM c.column_label AND %s",
									   condition));
	foreach(lc, commands)
		sk_run_command(lfirst(lc));
	if (commands != NIL)
		warn_of_old_citus();
}

/*
 * Copy labels of columns to the sequences that they use.  While Citus
 * creates or alters a table, a missing label means nothing yet.
 */
static void
label_sequences(bool and_unbind)
{
	ListCell   *lc;

	foreach(lc, sk_query_texts(psprintf("SELECT pg_catalog.format('SECURITY LABEL FOR " SK_LABEL_PROVIDER
										" ON SEQUENCE %%s IS %%L', c.seqid::pg_catalog.regclass, pg_catalog.max(c.column_label))"
										" FROM " SK_COLUMNS
										" WHERE c.seqid IS NOT NULL GROUP BY c.seqid"
										" HAVING pg_catalog.bool_or(c.relid IN %s)"
										" AND pg_catalog.max(c.column_label) IS DISTINCT FROM pg_catalog.max(c.sequence_label)%s",
										SK_TOUCHED,
										and_unbind ? "" : " AND pg_catalog.max(c.column_label) IS NOT NULL")))
		sk_run_command(lfirst(lc));
}

static void
warn_of_old_citus(void)
{
	char	   *release = sk_query_text("SELECT extversion FROM pg_catalog.pg_extension"
										" WHERE extname OPERATOR(pg_catalog.=) '" SK_CITUS "'"
										" AND pg_catalog.string_to_array(pg_catalog.split_part(extversion, '-', 1), '.')::pg_catalog.int4[]"
										" OPERATOR(pg_catalog.<) '" SK_CITUS_RELEASE "'");

	if (release != NULL)
		ereport(WARNING,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("kinds of sequences do not reach the workers of Citus %s",
						release),
				 errdetail("Rows that are inserted through workers get plain counters."),
				 errhint("Update Citus to release 13.1 or later.")));
}

/*
 * sk_lock_columns
 *		Lock the tables whose columns will get the label of a sequence.
 *
 * Citus makes such a table a distributed one, or not, before or after the
 * change of the label, and not in between.
 */
void
sk_lock_columns(Oid seqid)
{
	ListCell   *lc;

	if (!sk_citus_exists() || sk_sent_by_citus())
		return;
	foreach(lc, sk_query_texts(psprintf("SELECT c.relid::pg_catalog.text FROM " SK_COLUMNS
										" WHERE c.seqid OPERATOR(pg_catalog.=) %u"
										" GROUP BY c.relid ORDER BY c.relid",
										seqid)))
		LockRelationOid(atooid(lfirst(lc)), ShareUpdateExclusiveLock);
}

/*
 * sk_find_nodes
 *		Find out whether Citus has a sequence on several nodes.
 *
 * Raises an error on a worker, which must not change what it shares.  A node
 * that was removed has given counters too, and its number is not used again:
 * the sequence of these numbers knows the highest that there ever was.  A node
 * that comes waits for the lock, and then gets the label with the table.
 */
void
sk_find_nodes(SkSequence *seq)
{
	char	   *group;

	if (!sk_citus_exists() || sk_sent_by_citus())
		return;
	group = sk_query_text(psprintf("SELECT l.groupid FROM pg_catalog.pg_dist_local_group l"
								   " WHERE EXISTS (SELECT FROM pg_catalog.pg_dist_object o"
								   " WHERE o.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass"
								   " AND o.objid OPERATOR(pg_catalog.=) %u)"
								   " OR EXISTS (SELECT FROM pg_catalog.pg_dist_partition p"
								   " WHERE p.logicalrelid OPERATOR(pg_catalog.=) %u)",
								   seq->seqid, seq->table));
	if (group == NULL)
		return;
	if (strcmp(group, "0") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("sequence \"%s\" of a distributed table cannot be changed on a worker",
						get_rel_name(seq->seqid)),
				 errhint("Connect to the coordinator of Citus and run it there.")));
	seq->is_distributed = true;
	if (seq->width < 63)
		return;
	LockRelationOid(get_relname_relid("pg_dist_node", PG_CATALOG_NAMESPACE),
					RowShareLock);
	group = sk_query_text("SELECT GREATEST((SELECT pg_catalog.max(n.groupid) FROM pg_catalog.pg_dist_node n),"
						  " (SELECT g.last_value FROM pg_catalog.pg_dist_groupid_seq g WHERE g.is_called))");
	if (group != NULL && strcmp(group, "0") != 0)
		seq->last_of_nodes = (pg_strtoint64(group) + 1) * SK_CITUS_RANGE + 1;
}
