/* tracedb_piece.c - a selection too large for memory, some launches at a time. Windows are cut where the index says that
 * enough launches lie before, and then back to where the framework op begins whose launch comes next. */
#include "traces/db/tracedb_int.h"

#include <stdlib.h>

struct cutter {
	struct tracedb_load *whole, part;
	struct trace piece;
	size_t cap, have; /* windows there is room for; launches in those there are, about */
	bool any;
};

/* Queries over a window and one number more, by the column that selects. */
#define WINDOW(AT) "from launch l left join op o on o.id = l.op where l.source = ? and " AT " >= ? and " AT " < ? "
#define NEXT(AT)   "select " AT ", o.start_ns " WINDOW(AT) "order by " AT " limit 1 offset ?"
#define COUNT(AT)  "select count(*) from launch l where l.source = ? and " AT " >= ? and " AT " < ? and " AT " >= ?"
#define AFTER(AT)  "select min(" AT ") from launch l where l.source = ? and " AT " >= ? and " AT " < ? and " AT " > ?"
#define BY(L, SQL) ((L)->on_device ? SQL("l.start_ns") : SQL("l.at_ns"))

static int tracedb_piece_ask(struct tracedb_load *l, const char *sql, struct tracedb_window w, int64_t more,
                             struct sqlite3_stmt **s, struct err *e)
{
	if (!(*s = db_stmt(l->t->db, sql, e)))
		return -1;
	db_bind_i64(*s, 1, w.source);
	db_bind_i64(*s, 2, w.from);
	db_bind_i64(*s, 3, w.to);
	db_bind_i64(*s, 4, more);
	return db_step(l->t->db, *s, e);
}

/* Shortens the window to some `room` launches, 1 at the least; *n: how many those are, about. */
static int tracedb_piece_cut(struct tracedb_load *l, struct tracedb_window *w, size_t room, size_t *n, struct err *e)
{
	struct sqlite3_stmt *s;
	int64_t at, op;
	int rc = tracedb_piece_ask(l, BY(l, NEXT), *w, (int64_t)room, &s, e);

	if (rc < 0)
		return -1;
	*n = room;
	if (rc == 0) { /* no more than that are left */
		if (tracedb_piece_ask(l, BY(l, COUNT), *w, w->from, &s, e) < 0)
			return -1;
		*n = (size_t)db_col_i64(s, 0);
		return db_run(l->t->db, s, e);
	}
	at = db_col_i64(s, 0);
	op = db_col_null(s, 1) ? at : db_col_i64(s, 1);
	if (db_run(l->t->db, s, e) < 0)
		return -1;
	if (op > w->from && op < at)
		at = op;
	if (at <= w->from) { /* a graph's launches are of one moment of the host */
		if (tracedb_piece_ask(l, BY(l, AFTER), *w, w->from, &s, e) < 0)
			return -1;
		at = db_col_null(s, 0) ? w->to : db_col_i64(s, 0);
		if (db_run(l->t->db, s, e) < 0)
			return -1;
	}
	w->to = at;
	return 0;
}

/* Those windows' launches, if there are any: before an op that takes all the room there may be none. */
static int hand_over(struct cutter *c, struct err *e)
{
	struct tracedb_load *p = &c->part;
	int rc;

	c->piece = *c->whole->out;
	c->piece.n_stats = 0;
	arena_reset(p->a);
	rc = tracedb_launches(p, e);
	if (rc == 0 && c->piece.n_launches) {
		c->any = true;
		rc = p->each(p->each_arg, &c->piece, e);
	}
	idmap_free(&p->names);
	idmap_free(&p->args);
	idmap_free(&p->ops);
	p->n_windows = 0;
	c->have = 0;
	return rc;
}

static int tracedb_piece_take(struct cutter *c, struct tracedb_window w, struct err *e)
{
	struct tracedb_load *p = &c->part;
	const int64_t end = w.to;
	size_t n;

	for (; w.from < end; w.from = w.to) {
		w.to = end;
		if (tracedb_piece_cut(c->whole, &w, c->whole->piece - c->have, &n, e) < 0)
			return -1;
		if (n == 0)
			return 0;
		if (p->n_windows == c->cap) {
			struct tracedb_window *v = realloc(p->windows, (c->cap = c->cap ? 2 * c->cap : 16) * sizeof *v);

			if (!v)
				return err_nomem(e, NULL);
			p->windows = v;
		}
		p->windows[p->n_windows++] = w;
		c->have += n;
		if (c->have >= c->whole->piece && hand_over(c, e) < 0)
			return -1;
	}
	return 0;
}

int tracedb_pieces(struct tracedb_load *l, struct err *e)
{
	struct cutter c = { .whole = l, .part = *l };
	int rc = 0;

	c.part.out = &c.piece;
	c.part.windows = NULL;
	c.part.n_windows = 0;
	c.part.names = c.part.args = c.part.ops = (struct idmap){ 0 };
	if (!(c.part.a = arena_new(0)))
		return err_nomem(e, NULL);
	for (size_t i = 0; rc == 0 && i < l->n_windows; i++)
		rc = tracedb_piece_take(&c, l->windows[i], e);
	if (rc == 0 && c.have)
		rc = hand_over(&c, e);
	arena_free(c.part.a);
	free(c.part.windows);
	return rc == 0 && !c.any ? tracedb_nothing(l, e) : rc;
}
