/*-------------------------------------------------------------------------
 *
 * suggest_shards.c
 *	  spanner.suggest_shards: how many shards a load wants.
 *
 * More shards divide the inserts, and each shard costs every read that wants
 * rows in order something.  The costs of reads are those of an ordered merge
 * of the shards.
 *
 * src/advisor/suggest_shards.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(spanner_suggest_shards);

/* The largest number of shards that is looked at, a power of two. */
#define SK_MAX_SUGGESTED_SHARDS 4096

/* Microseconds that an ordered read takes for each shard, and for each row. */
#define SK_SHARD_COST 2.5
#define SK_ROW_COST 0.2

/* How much more than its share a node may get. */
#define SK_MAX_IMBALANCE 1.25

/* The load. */
typedef struct SkLoad
{
	double		writes;			/* rows inserted per second */
	double		reads;			/* ordered reads per second */
	int			nodes;
	double		rows_per_read;
	double		writes_per_shard;	/* that one place in the index bears */
} SkLoad;

static void check_load(const SkLoad *load);
static double imbalance(const SkLoad *load, int shards);
static double read_cost(const SkLoad *load, int shards);
static char *reason(const SkLoad *load, int shards);

/*
 * spanner.suggest_shards(writes_per_second, reads_per_second, nodes,
 *		rows_per_read, writes_per_shard)
 * returns table (shards integer, writes_per_shard double precision,
 *		busiest_node double precision, read_microseconds double precision,
 *		read_cores double precision, suggested boolean, reasoning text)
 *
 * Powers of two up to four times the suggested one, which is the smallest
 * that divides the writes and suits the nodes.
 */
Datum
spanner_suggest_shards(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	SkLoad		load;
	int			suggested = 0;

	load.writes = PG_GETARG_FLOAT8(0);
	load.reads = PG_GETARG_FLOAT8(1);
	load.nodes = PG_GETARG_INT32(2);
	load.rows_per_read = PG_GETARG_FLOAT8(3);
	load.writes_per_shard = PG_GETARG_FLOAT8(4);
	check_load(&load);

	InitMaterializedSRF(fcinfo, 0);
	for (int shards = 1; shards <= SK_MAX_SUGGESTED_SHARDS; shards *= 2)
	{
		char	   *problem = reason(&load, shards);
		Datum		values[7];
		bool		nulls[7] = {0};

		if (suggested > 0 && shards > suggested * 4)
			break;
		if (suggested == 0 &&
			(problem == NULL || shards == SK_MAX_SUGGESTED_SHARDS))
			suggested = shards;
		if (shards == suggested && problem == NULL)
			problem = "The fewest shards that divide the writes and suit the nodes.";
		else if (problem == NULL)
			problem = psprintf("Divides the writes further, and each ordered read costs %.1f times as much.",
							   read_cost(&load, shards) / read_cost(&load, suggested));

		values[0] = Int32GetDatum(shards);
		values[1] = Float8GetDatum(load.writes / shards);
		values[2] = Float8GetDatum(imbalance(&load, shards) / load.nodes);
		values[3] = Float8GetDatum(read_cost(&load, shards));
		values[4] = Float8GetDatum(load.reads * read_cost(&load, shards) / 1e6);
		values[5] = BoolGetDatum(shards == suggested);
		values[6] = CStringGetTextDatum(problem);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}

static void
check_load(const SkLoad *load)
{
	if (!isfinite(load->writes) || !isfinite(load->reads) ||
		!isfinite(load->rows_per_read) || !isfinite(load->writes_per_shard) ||
		load->writes < 0 || load->reads < 0 || load->rows_per_read < 0 ||
		load->writes_per_shard <= 0 || load->nodes < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("load must not be negative, nor without nodes"),
				 errhint("Give rates per second, and at least one node.")));
}

/* The share of the busiest node, 1 if all have the same. */
static double
imbalance(const SkLoad *load, int shards)
{
	return ceil((double) shards / load->nodes) * load->nodes / shards;
}

/* Microseconds that a read in order takes. */
static double
read_cost(const SkLoad *load, int shards)
{
	return SK_SHARD_COST * shards + SK_ROW_COST * load->rows_per_read;
}

/* Why a number of shards is too small, or NULL. */
static char *
reason(const SkLoad *load, int shards)
{
	if (shards < load->nodes)
		return psprintf("Too few: %d of %d nodes get no writes.",
						load->nodes - shards, load->nodes);
	if (load->writes / shards > load->writes_per_shard)
		return psprintf("Too few: %.0f writes per second go to one place, more than %.0f.",
						load->writes / shards, load->writes_per_shard);
	if (imbalance(load, shards) > SK_MAX_IMBALANCE)
		return psprintf("Too few for %d nodes: the busiest gets %.0f %% more than its share.",
						load->nodes, (imbalance(load, shards) - 1) * 100);
	return NULL;
}
