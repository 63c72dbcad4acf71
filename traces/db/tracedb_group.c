/* tracedb_group.c - the launches of a selection summed as they come, those together that a rule table cannot tell
 * apart. The scan compares row ids; a launch is loaded, with its op and names, once a group. */
#include "traces/db/tracedb_int.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"

/* What a rule may look at, by row ids; op_name 0: no op. */
struct key {
	int64_t kind, name, dir, blocking, op_name, op_args;
};
struct sum {
	struct key key;
	int64_t id, source;
	uint64_t count, total_ns, longest_ns, bytes;
};

struct scan {
	struct sum *sums;
	size_t n, cap;
	size_t *slots, n_slots;       /* 1 + the sum's number; 0: free; a power of two, at most half full */
	size_t last;                  /* the sum before: runs of one kernel are common */
	int64_t op, op_name, op_args; /* the op looked up last */
};

static uint64_t key_hash(const struct key *k)
{
	const uint64_t flags = (uint64_t)k->kind | (uint64_t)k->dir << 8 | (uint64_t)k->blocking << 16;

	return hash_mix(hash_mix((uint64_t)k->name ^ flags << 40) + (uint64_t)k->op_name * 31 +
	                hash_mix((uint64_t)k->op_args));
}

static bool tracedb_group_same(const struct key *a, const struct key *b)
{
	return a->name == b->name && a->kind == b->kind && a->dir == b->dir && a->blocking == b->blocking &&
	       a->op_name == b->op_name && a->op_args == b->op_args;
}

static size_t *tracedb_group_probe(const struct scan *c, const struct key *k)
{
	size_t i = (size_t)key_hash(k) & (c->n_slots - 1);

	while (c->slots[i] && !tracedb_group_same(&c->sums[c->slots[i] - 1].key, k))
		i = (i + 1) & (c->n_slots - 1);
	return &c->slots[i];
}

static int tracedb_group_grow(struct scan *c, struct err *e)
{
	const size_t cap = c->cap ? 2 * c->cap : 256;
	struct sum *sums = realloc(c->sums, cap * sizeof *sums);
	size_t *slots = calloc(2 * cap, sizeof *slots);

	if (sums)
		c->sums = sums;
	if (!sums || !slots) {
		free(slots);
		return err_nomem(e, "for the table of kernels");
	}
	free(c->slots);
	c->slots = slots;
	c->n_slots = 2 * cap;
	c->cap = cap;
	for (size_t i = 0; i < c->n; i++)
		*tracedb_group_probe(c, &c->sums[i].key) = i + 1;
	return 0;
}

static int find_op(struct tracedb_load *l, struct scan *c, int64_t id, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(l->t->db, "select name, coalesce(args, 0) from op where id = ?", e);
	int rc;

	if (!s)
		return -1;
	db_bind_i64(s, 1, id);
	if ((rc = db_step(l->t->db, s, e)) < 0)
		return -1;
	if (rc == 0)
		return tracedb_damaged(l, "it lacks op", id, e);
	c->op = id;
	c->op_name = db_col_i64(s, 0);
	c->op_args = db_col_i64(s, 1);
	return db_run(l->t->db, s, e);
}

#define COLUMNS "select l.kind, l.name, l.dir, l.blocking, l.dur_ns, l.bytes, l.id, l.op from launch l "

static int tracedb_group_add_row(struct tracedb_load *l, struct sqlite3_stmt *s, const struct tracedb_source *src,
                                 size_t i, void *arg, struct err *e)
{
	struct scan *c = arg;
	struct key k = { db_col_i64(s, 0), db_col_i64(s, 1), db_col_i64(s, 2), db_col_i64(s, 3) != 0, 0, 0 };
	const int64_t ns = db_col_i64(s, 4), bytes = db_col_i64(s, 5), op = db_col_i64(s, 7);
	struct sum *sum;

	(void)i;
	if (op != 0) {
		if (op != c->op && find_op(l, c, op, e) < 0)
			return -1;
		k.op_name = c->op_name;
		k.op_args = c->op_args;
	}
	if (c->n == 0 || !tracedb_group_same(&c->sums[c->last].key, &k)) {
		size_t *slot;

		if (c->n == c->cap && tracedb_group_grow(c, e) < 0)
			return -1;
		slot = tracedb_group_probe(c, &k);
		if (!*slot) {
			c->sums[c->n] = (struct sum){ .key = k, .id = db_col_i64(s, 6), .source = src->id };
			*slot = ++c->n;
		}
		c->last = *slot - 1;
	}
	sum = &c->sums[c->last];
	sum->count++;
	sum->total_ns += (uint64_t)ns;
	sum->longest_ns = (uint64_t)ns > sum->longest_ns ? (uint64_t)ns : sum->longest_ns;
	sum->bytes += bytes > 0 ? (uint64_t)bytes : 0;
	return 0;
}

static int load_first(struct tracedb_load *l, const struct sum *sum, struct trace_group *g, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(l->t->db, "select " TRACEDB_LAUNCH_COLUMNS " and l.id = ?", e);
	const struct tracedb_source *src = l->sources;
	int rc;

	if (!s)
		return -1;
	while (src->id != sum->source)
		src++;
	db_bind_i64(s, 1, sum->source);
	db_bind_i64(s, 2, sum->id);
	if ((rc = db_step(l->t->db, s, e)) < 0)
		return -1;
	if (rc == 0)
		return tracedb_damaged(l, "it lacks launch", sum->id, e);
	if (tracedb_launch_row(l, s, src, &g->first, e) < 0)
		return -1;
	g->count = sum->count;
	g->total_ns = sum->total_ns;
	g->longest_ns = sum->longest_ns;
	g->bytes = sum->bytes;
	return db_run(l->t->db, s, e);
}

static int load_firsts(struct tracedb_load *l, const struct scan *c, struct err *e)
{
	struct trace *out = l->out;

	if (!(out->groups = arena_array(l->a, c->n, sizeof *out->groups)))
		return tracedb_no_room(e);
	for (; out->n_groups < c->n; out->n_groups++)
		if (load_first(l, &c->sums[out->n_groups], &out->groups[out->n_groups], e) < 0)
			return -1;
	return 0;
}

int tracedb_group(struct tracedb_load *l, struct err *e)
{
	/* All of a file is read faster in the table's own order. */
	const char *sql = l->on_device ? COLUMNS "where l.source = ? and l.start_ns >= ? and l.start_ns < ?"
	                  : l->range   ? COLUMNS "where l.source = ? and l.at_ns >= ? and l.at_ns < ?"
	                               : COLUMNS "not indexed where l.source = ? and ? < ?";
	struct scan c = { 0 };
	int rc = tracedb_each_window(l, sql, &l->out->n_grouped, tracedb_group_add_row, &c, e);

	if (rc == 0)
		rc = c.n ? load_firsts(l, &c, e) : tracedb_nothing(l, e);
	free(c.sums);
	free(c.slots);
	return rc;
}
