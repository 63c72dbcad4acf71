/* measured.c - opens what was measured, whatever wrote it, and loads a selection of it. */
#include "sim/workload/measured.h"

#include <stdio.h>
#include <string.h>

#include "traces/read/format.h"

/* Databases of ours carry their kind in the header. */
bool measured_is_database(const char *path)
{
	unsigned char head[72];
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(head, 1, sizeof head, f) : 0;

	if (f)
		fclose(f);
	return n == sizeof head && memcmp(head, "SQLite format 3", 16) == 0 &&
	       (head[68] || head[69] || head[70] || head[71]);
}

bool measured_is_replay(const char *path)
{
	struct err e = ERR_INIT;
	struct input *in = measured_is_database(path) ? NULL : input_open(path, &e);
	const bool yes = in && format_of(in, &e) == FORMAT_REPLAY;

	input_free(in);
	return yes;
}

struct tracedb *measured_open(const struct measured_from *from, struct err *e)
{
	const struct format_options o = { (int64_t)from->context, from->progress, from->arg,
		                          from->source->temp ? from->source->temp() : NULL };
	struct trace_import_stats st = { 0 };
	struct tracedb *db;

	if (measured_is_database(from->path)) {
		if (!from->context)
			return tracedb_open(from->path, DB_READ, e);
		err_set(e, ERR_USAGE,
		        "'--context' is for replays, and '%s' is a trace database: it has the context that it"
		        " was imported with",
		        from->path);
		return NULL;
	}
	if ((db = tracedb_open(":memory:", DB_WRITE, e)) &&
	    format_import_with(db, FORMAT_AUTO, from->path, &o, &st, e) >= 0)
		return db;
	tracedb_free(db);
	return NULL;
}

static struct counters *stored_counters(struct tracedb *db, struct err *e)
{
	struct counters *c = counters_load(db, e);

	if (c && counters_count(c))
		return c;
	counters_free(c);
	return NULL;
}

/* The database, with its arena, rules and counters in `m`. */
static struct tracedb *open_with_counters(const struct measured_from *from, struct measured *m, struct err *e)
{
	struct tracedb *db;

	memset(m, 0, sizeof *m);
	if (from->rules && !(m->rules = rules_load_from(from->source, *from->rules ? from->rules : NULL, e)))
		return NULL;
	db = measured_open(from, e);
	if (db && !(m->arena = arena_new(MEASURED_MEMORY)))
		err_nomem(e, "for the trace");
	if (db && m->arena)
		m->counters = stored_counters(db, e);
	return db;
}

static int load(struct tracedb *db, const struct measured_from *from, struct measured *m, struct err *e)
{
	const struct tracedb_pieces p = { MEASURED_PIECE, from->each, from->each_arg };

	if (from->each)
		return tracedb_load_pieces(db, from->range, &p, m->arena, &m->trace, e);
	return (from->load ? from->load : tracedb_load)(db, from->range, m->arena, &m->trace, e);
}

int measured_load(const struct measured_from *from, struct measured *m, struct err *e)
{
	struct tracedb *db = open_with_counters(from, m, e);
	const int rc = db && !e->kind ? load(db, from, m, e) : -1;

	tracedb_free(db);
	if (rc < 0)
		measured_free(m);
	else if (from->part && !from->range)
		lower_part(&m->trace, &m->left);
	return rc;
}

void measured_free(struct measured *m)
{
	arena_free(m->arena);
	rules_free(m->rules);
	counters_free(m->counters);
	memset(m, 0, sizeof *m);
}
