/*-------------------------------------------------------------------------
 *
 * partition_bounds.c
 *	  Do the partitions of a table take the ids of a kind?
 *
 * Partitions by ranges of a plain counter end at the ids of next month.  The
 * values of a kind are spread from 1 to 2^bits - 2.  So most of them have no
 * partition, or the last one takes them all.  What a partition takes is a part
 * of that range: a kind fills it evenly, but for what has been given before.
 *
 * src/sequence/partition_bounds.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "partitioning/partbounds.h"
#include "partitioning/partdesc.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"

#include "sequence/sequence.h"

/* Partitions may leave out so much: old ones that were detached, for instance. */
#define SK_MISSING_SHARE (1.0 / 1024)

/* A partition that takes so much takes all. */
#define SK_LARGEST_SHARE 0.9

PG_FUNCTION_INFO_V1(spanner_partition_faults);

/* What the partitions of a table do with a range of ids. */
typedef struct SkShares
{
	Oid			table;			/* partitioned by ranges, or InvalidOid */
	bool		is_empty;		/* it has no partitions */
	int			key_columns;	/* how many columns divide it */
	double		missing;		/* the part of the ids that none takes */
	int64		gap_first;		/* the widest range of these, if there are any */
	int64		gap_last;
	double		largest;		/* the part that one partition takes */
	Oid			partition;		/* this one */
} SkShares;

static int64 first_id(const SkSequenceOptions *options);
static void find_shares(Oid relid, const char *column, int64 first, int64 last,
						SkShares *worst);
static bool is_by_range(Relation rel, const char *column);
static void divide(Relation rel, const char *column, int64 first, int64 last,
				   SkShares *worst);
static int64 last_before(Relation rel, int bound, int64 first, int64 last);
static void add_range(SkShares *own, PartitionDesc partitions, int index,
					  int64 from, int64 to, double all);
static void report_shares(const SkShares *shares, int bits, int elevel);
static void report_missing(const SkShares *shares, int bits, int elevel);
static char *bound_text(const SkShares *shares, int64 value, int64 largest);

/*
 * sk_check_partitions
 *		Report tables whose partitions do not suit the kind of a sequence.
 *
 * "elevel" is that for ids without a partition.  A partition that takes nearly
 * all of them is worth a warning at most.
 */
void
sk_check_partitions(const SkSequence *seq, int elevel)
{
	int			bits = seq->kind->options->bits;
	int64		last = (int64) ((UINT64CONST(1) << bits) - 2);
	ListCell   *lc;

	foreach(lc, seq->columns)
	{
		ObjectAddress *column = lfirst(lc);
		SkShares	shares = {0};

		/* what is below a table is looked at with it */
		if (get_rel_relkind(column->objectId) != RELKIND_PARTITIONED_TABLE ||
			get_rel_relispartition(column->objectId))
			continue;
		find_shares(column->objectId,
					get_attname(column->objectId, column->objectSubId, false),
					first_id(seq->kind->options), last, &shares);
		if (OidIsValid(shares.table))
			report_shares(&shares, bits, elevel);
	}
}

/* The first id that can come: what is skipped most often begins with 1. */
static int64
first_id(const SkSequenceOptions *options)
{
	int64		result = 1;

	if (options->given.min <= 1)
		result = Max(result, Min(options->given.max, PG_INT64_MAX - 1) + 1);
	if (options->skip_range.min <= 1)
		result = Max(result, Min(options->skip_range.max, PG_INT64_MAX - 1) + 1);
	return result;
}

/*
 * Find the tables of a tree that are partitioned by ranges of a column, and what
 * the worst of them do with the ids from "first" to "last".
 */
static void
find_shares(Oid relid, const char *column, int64 first, int64 last,
			SkShares *worst)
{
	Relation	rel = table_open(relid, AccessShareLock);
	PartitionDesc partitions = RelationGetPartitionDesc(rel, true);

	if (is_by_range(rel, column))
		divide(rel, column, first, last, worst);
	else
	{
		for (int i = 0; i < partitions->nparts; i++)
		{
			if (!partitions->is_leaf[i])
				find_shares(partitions->oids[i], column, first, last, worst);
		}
	}
	table_close(rel, AccessShareLock);
}

/* Is it partitioned by ranges of an integer column, in the usual order? */
static bool
is_by_range(Relation rel, const char *column)
{
	PartitionKey key = RelationGetPartitionKey(rel);

	return key->strategy == PARTITION_STRATEGY_RANGE &&
		key->partattrs[0] != InvalidAttrNumber &&
		key->partattrs[0] == get_attnum(RelationGetRelid(rel), column) &&
		key->partopfamily[0] == INTEGER_BTREE_FAM_OID;
}

/* Divide the ids among the partitions of a table, and keep the worst shares. */
static void
divide(Relation rel, const char *column, int64 first, int64 last,
	   SkShares *worst)
{
	PartitionDesc partitions = RelationGetPartitionDesc(rel, true);
	PartitionBoundInfo bounds = partitions->boundinfo;
	int			count = bounds != NULL ? bounds->ndatums : 0;
	double		all = (double) last - (double) first + 1;
	int64		from = first;
	SkShares	own = {0};

	own.table = RelationGetRelid(rel);
	own.is_empty = partitions->nparts == 0;
	own.key_columns = RelationGetPartitionKey(rel)->partnatts;
	for (int i = 0; i <= count && from <= last; i++)
	{
		int64		to = i < count ? last_before(rel, i, first, last) : last;
		int			index = i < count ? bounds->indexes[i] : -1;

		/* another column of the key can divide the rows of one id */
		if (to < from)
			continue;
		if (index < 0 && bounds != NULL)
			index = bounds->default_index;
		if (index >= 0 && !partitions->is_leaf[index])
			find_shares(partitions->oids[index], column, from, to, worst);
		else
			add_range(&own, partitions, index, from, to, all);
		/* 2^63 - 2 is the last id */
		Assert(to < PG_INT64_MAX);
		from = to + 1;
	}

	/* a table of one partition is not divided yet */
	if (partitions->nparts == 1)
		own.largest = 0;

	if (!OidIsValid(worst->table) || own.missing > worst->missing)
		*worst = own;
	else if (own.largest > worst->largest)
	{
		worst->largest = own.largest;
		worst->partition = own.partition;
	}
}

/* The last id before a bound, between "first" - 1 and "last". */
static int64
last_before(Relation rel, int bound, int64 first, int64 last)
{
	PartitionBoundInfo bounds = RelationGetPartitionDesc(rel, true)->boundinfo;
	PartitionKey key = RelationGetPartitionKey(rel);
	int			length = key->parttyplen[0];
	Datum		datum = bounds->datums[bound][0];
	int64		value;

	if (bounds->kind[bound][0] == PARTITION_RANGE_DATUM_MINVALUE)
		return first - 1;
	if (bounds->kind[bound][0] == PARTITION_RANGE_DATUM_MAXVALUE)
		return last;
	value = length == sizeof(int16) ? DatumGetInt16(datum) :
		length == sizeof(int32) ? DatumGetInt32(datum) : DatumGetInt64(datum);
	return value < first ? first - 1 : Min(value - 1, last);
}

/* Count the ids from "from" to "to", of "all", for a partition or for none. */
static void
add_range(SkShares *own, PartitionDesc partitions, int index, int64 from,
		  int64 to, double all)
{
	double		share = ((double) to - (double) from + 1) / all;

	if (index < 0)
	{
		if (own->missing == 0 || to - from > own->gap_last - own->gap_first)
		{
			own->gap_first = from;
			own->gap_last = to;
		}
		own->missing += share;
	}
	else if (share > own->largest)
	{
		own->largest = share;
		own->partition = partitions->oids[index];
	}
}

/* Report shares of a range of ids with so many bits, if they are bad. */
static void
report_shares(const SkShares *shares, int bits, int elevel)
{
	long long	half = INT64CONST(1) << (bits - 1);
	long long	quarter = half / 2;

	if (shares->is_empty)
		ereport(NOTICE,
				(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
				 errmsg("table \"%s\" is partitioned by ranges of ids that are spread",
						get_rel_name(shares->table)),
				 errdetail("They lie between 1 and %lld, in any order.",
						   2 * (half - 1)),
				 errhint("Create partitions up to MAXVALUE, with bounds such as %lld, %lld and %lld.",
						 quarter, half, half + quarter)));
	else if (shares->missing >= SK_MISSING_SHARE)
		report_missing(shares, bits, elevel);
	else if (shares->largest >= SK_LARGEST_SHARE)
		ereport(Min(elevel, WARNING),
				(errcode(elevel < WARNING ? ERRCODE_SUCCESSFUL_COMPLETION : ERRCODE_WARNING),
				 errmsg("partition \"%s\" takes nearly all ids that come",
						get_rel_name(shares->partition)),
				 errdetail("They are spread between 1 and %lld.",
						   2 * (half - 1)),
				 errhint("Cut it into ranges that begin at %lld, %lld and %lld, or once at %lld. The extension spanner_keys_splits does that while clients write.",
						 quarter, half, half + quarter, half)));
}

/* Report that there is no partition for many ids. */
static void
report_missing(const SkShares *shares, int bits, int elevel)
{
	int64		largest = (int64) ((UINT64CONST(1) << bits) - 2);
	int64		cut = INT64CONST(1) << (bits - 1);

	if (cut <= shares->gap_first || cut > shares->gap_last)
		cut = shares->gap_first + (shares->gap_last - shares->gap_first) / 2 + 1;
	ereport(elevel,
			(errcode(elevel < WARNING ? ERRCODE_SUCCESSFUL_COMPLETION :
					 ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("partitions of table \"%s\" do not take all ids that would come",
					get_rel_name(shares->table)),
			 errdetail("They are spread between 1 and %lld, and no partition takes those from %lld to %lld.",
					   (long long) largest, (long long) shares->gap_first,
					   (long long) shares->gap_last),
			 errhint("Create partitions FOR VALUES FROM (%s) TO (%s) and FROM (%s) TO (%s), for instance, or keep the plain counter.",
					 bound_text(shares, shares->gap_first, largest),
					 bound_text(shares, cut, largest),
					 bound_text(shares, cut, largest),
					 bound_text(shares, shares->gap_last + 1, largest))));
}

/* A bound of a partition as CREATE TABLE has it, for all columns of the key. */
static char *
bound_text(const SkShares *shares, int64 value, int64 largest)
{
	bool		is_end = value > largest;
	StringInfoData text;

	initStringInfo(&text);
	if (is_end)
		appendStringInfoString(&text, "MAXVALUE");
	else
		appendStringInfo(&text, INT64_FORMAT, value);
	for (int i = 1; i < shares->key_columns; i++)
		appendStringInfoString(&text, is_end ? ", MAXVALUE" : ", MINVALUE");
	return text.data;
}

/*
 * spanner_internal.partition_faults(relation regclass, column_number smallint,
 *		first bigint, last bigint, OUT gap_first bigint, OUT gap_last bigint,
 *		OUT partition regclass)
 *
 * For ids from "first" to "last" in partitions by ranges of a column: the widest
 * range that no partition takes, and a partition that takes nearly all.  NULL if
 * there is none.
 */
Datum
spanner_partition_faults(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	char	   *column = get_attname(relid, PG_GETARG_INT16(1), true);
	SkShares	shares = {0};
	TupleDesc	desc;
	Datum		values[3];
	bool		nulls[3];

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (column != NULL && get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE)
		find_shares(relid, column, PG_GETARG_INT64(2), PG_GETARG_INT64(3),
					&shares);

	/* a table without partitions takes no row at all, and needs no advice */
	nulls[0] = shares.is_empty || shares.missing < SK_MISSING_SHARE;
	nulls[1] = nulls[0];
	nulls[2] = shares.largest < SK_LARGEST_SHARE;
	values[0] = Int64GetDatum(shares.gap_first);
	values[1] = Int64GetDatum(shares.gap_last);
	values[2] = ObjectIdGetDatum(shares.partition);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(desc, values, nulls)));
}
