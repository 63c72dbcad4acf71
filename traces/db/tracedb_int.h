/* tracedb_int.h - what the files of the trace database share: the handle, and a load in progress. Only traces/db/tracedb*.c
 * and tests include it. */
#ifndef NPUSIM_TRACES_DB_TRACEDB_INT_H
#define NPUSIM_TRACES_DB_TRACEDB_INT_H

#include "sim/base/db.h"
#include "sim/base/str.h"
#include "traces/db/idmap.h"
#include "traces/db/intern.h"
#include "traces/db/nest.h"
#include "traces/db/tracedb.h"

/* What a runtime call does to the host, worked out from its name. */
enum call_kind { CALL_OTHER, CALL_LAUNCH, CALL_SYNC, CALL_COPY_SYNC, CALL_COPY_ASYNC };

#define TRACEDB_THREADS 64 /* whose ops are nested on the way in; of more, at the end */

/* What importers put waits in these tables until the calls and ops it belongs to are all there. */
#define TRACEDB_UNSTAGE \
	"delete from new_launch; delete from new_metric; delete from new_mark;" \
	"delete from new_node"

struct tracedb {
	struct db *db;
	char *created; /* path to remove again while nothing is imported; NULL: it was there before */
	bool importing;
	bool fast; /* the safety settings are off for the first import into a new file */
	bool redact;
	const char *wall_range; /* every import has it, or stores nothing; NULL: none is asked for */
	int64_t wall_ns;

	/* the import in progress */
	int64_t source, last_op; /* ids */
	int64_t first_ns;        /* the earliest start put, relative to the base */
	bool any, graphs, ids;   /* anything was put; a graph was launched; a launch came with an id of its op */
	bool unsorted;           /* parents have to be worked out again at the end */
	struct nest *threads[TRACEDB_THREADS];
	size_t n_threads; /* of this import; what is behind them is from an earlier one */
	struct trace_import_stats st;
	struct intern *names, *args;
	struct str text, clean; /* scratch: an op's arguments, a text made valid UTF-8 */
	struct sqlite3_stmt *find_name, *ins_name, *ins_args, *ins_device, *ins_launch, *ins_op, *ins_range, *ins_call;
	struct sqlite3_stmt *ins_stat, *ins_metric;
};

/* tracedb_text.c: statements of an import; the row of a name, of an op's arguments (> 0), stored when new, -1 error; and a
 * text in which bytes that are no UTF-8 are replaced, good until the next, NULL error. */
int tracedb_text_prepare(struct tracedb *t, struct err *e);
int64_t tracedb_name(struct tracedb *t, const char *name, struct err *e);
int64_t tracedb_args(struct tracedb *t, const struct trace_arg *args, uint32_t n, struct err *e);
const char *tracedb_utf8(struct tracedb *t, const char *text, size_t n, struct err *e);
/* tracedb_stat.c: statements of an import; metrics to the launches they are of, once those have their ids; and the
 * statistics of all files, into `a`. */
int tracedb_stat_prepare(struct tracedb *t, struct err *e);
int tracedb_stat_link(struct tracedb *t, int64_t last_launch, struct err *e);
int tracedb_stat_load(struct tracedb *t, struct arena *a, struct trace *out, struct err *e);

/* tracedb_range.c: as tracedb_set_wall, inside the caller's transaction. */
int tracedb_put_wall(struct tracedb *t, const char *file, bool fresh, const char *range, int64_t wall_ns,
                     struct err *e);

/* tracedb_link.c: joins what was put - parents, waits, launches with calls and ops, graphs, ranges. */
int tracedb_link(struct tracedb *t, struct err *e);

/* --- a load in progress: tracedb_read.c; the others are called by it ------------------------------------------- */

struct tracedb_source {
	int64_t id, base, shift;
}; /* shift: from its own times to the trace's */
struct tracedb_window {
	int64_t source, from, to;
}; /* [from, to) in the source's own times */

struct tracedb_load {
	struct tracedb *t;
	struct arena *a;
	struct trace *out;
	const char *range;
	bool on_device; /* the range is known on the device only */
	bool stats_do;  /* statistics are enough */
	bool groups_do; /* launches are summed as they come */
	size_t piece;   /* launches at a time, for `each`; 0: all at once */
	tracedb_piece *each;
	void *each_arg;
	struct tracedb_source *sources;
	struct tracedb_window *windows;
	size_t n_sources, n_windows;
	struct idmap names, args, ops;
};

/* Times add up modulo 2^64: a damaged file may hold any number, and the sum is then just as wrong. */
static inline int64_t ns_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t ns_sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* tracedb_launch.c. Errors, always -1: the arena is full; `what` with its number is not as it must be. */
int tracedb_no_room(struct err *e);
int tracedb_damaged(const struct tracedb_load *l, const char *what, int64_t id, struct err *e);
/* For messages: the database's path, and of one in memory the file that was read into it. */
const char *tracedb_load_file(const struct tracedb_load *l);
/* Error: the selection is empty, and statistics do not do; 0: they do. */
int tracedb_nothing(const struct tracedb_load *l, struct err *e);
const struct tracedb_source *tracedb_source_of(const struct tracedb_load *l, int64_t id); /* NULL: there is none */
const char *tracedb_load_name(struct tracedb_load *l, int64_t id, struct err *e);         /* NULL: error */
/* A row of TRACEDB_LAUNCH_COLUMNS. */
#define TRACEDB_LAUNCH_COLUMNS \
	"l.id, l.kind, l.name, l.start_ns, l.dur_ns, l.correlation, l.device, l.context," \
	" l.stream, l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y, l.block_z, l.cluster_x, l.cluster_y," \
	" l.cluster_z, l.registers, l.smem_static, l.smem_dynamic, l.local, l.bytes, l.dir, l.blocking, l.op, l.graph," \
	" l.graph_node, c.start_ns, c.dur_ns, l.link from launch l left join call c on c.id = l.call where l.source = ?"
int tracedb_launch_row(struct tracedb_load *l, struct sqlite3_stmt *s, const struct tracedb_source *src,
                       struct trace_launch *x, struct err *e);
typedef int tracedb_row(struct tracedb_load *l, struct sqlite3_stmt *s, const struct tracedb_source *src, size_t i,
                        void *arg, struct err *e);
/* Runs a statement of (source, from, to) over every window; `row` of NULL only counts. */
int tracedb_each_window(struct tracedb_load *l, const char *sql, size_t *n, tracedb_row *row, void *arg, struct err *e);
/* The launches of the windows and the host's waits, into l->out. */
int tracedb_launches(struct tracedb_load *l, struct err *e);

/* tracedb_group.c, tracedb_piece.c: a selection summed, and some launches at a time. */
int tracedb_group(struct tracedb_load *l, struct err *e);
int tracedb_pieces(struct tracedb_load *l, struct err *e);

#endif
