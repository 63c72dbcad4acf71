/* replay.c - the traced step walked once: each launch is renamed, dropped or followed by new ones; then times. */
#define _POSIX_C_SOURCE 200809L
#include "traces/read/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/base/str.h"
#include "traces/read/nsys_csv.h"
#include "traces/read/replay_int.h"
#include "traces/text/input.h"

#define TICK 1000 /* ns of host time a launch; more than ops are nested */
#define DEEP 400

/* A launch of the replay. */
struct out {
	const struct trace_launch *from; /* NULL: added */
	struct replay_op op;
	size_t row; /* 0: a copy or a set */
	bool other; /* not the traced kernel: its geometry is not known */
	double weight;
	int64_t dur_ns;
};

/* An op of the traced step, and the launches of the replay that it encloses. */
struct span {
	const struct trace_op *op;
	size_t first, last;
	int depth;
};

struct job {
	struct replay r;
	struct trace table, order;
	struct out *v;
	size_t n, cap;
	struct span *spans;
	size_t n_spans;
	struct str text;
	const char *path;
};

/* --- matching -------------------------------------------------------------------------------------------------- */

static void dims_text(const struct trace_op *o, struct str *out)
{
	str_clear(out);
	for (uint32_t i = 0; o && i < o->n_args; i++) {
		if (o->args[i].ndims < 1)
			continue;
		if (out->len)
			str_addc(out, ' ');
		for (int32_t k = 0; k < o->args[i].ndims; k++)
			str_addf(out, "%s%lld", k ? "x" : "", (long long)o->args[i].dims[k]);
	}
}

static bool replay_holds(const regex_t *re, const char *text)
{
	return !re || regexec(re, text, 0, NULL, 0) == 0;
}

static bool matches(const struct replay_match *m, const struct trace_launch *l, const char *dims)
{
	return replay_holds(m->kernel, l->name) && replay_holds(m->op, l->op ? l->op->name : "") &&
	       replay_holds(m->dims, dims);
}

static struct out *more(struct job *j, struct err *e)
{
	if (j->n == j->cap) {
		const size_t cap = j->cap ? 2 * j->cap : 1024;
		struct out *v = realloc(j->v, cap * sizeof *v);

		if (!v) {
			err_nomem(e, "for the replay");
			return NULL;
		}
		j->v = v;
		j->cap = cap;
	}
	memset(&j->v[j->n], 0, sizeof *j->v);
	return &j->v[j->n++];
}

static int add_new(struct job *j, bool before, const struct trace_launch *l, const char *dims, struct err *e)
{
	for (size_t i = 0; i < j->r.n_added; i++) {
		struct replay_added *x = &j->r.added[i];

		if (x->before != before || !matches(&x->m, l, dims) || x->seen++ % x->every != 0)
			continue;
		for (size_t k = 0; k < x->n; k++) {
			struct out *o = more(j, e);

			if (!o)
				return -1;
			o->row = x->v[k].row;
			o->op = x->v[k].op;
		}
	}
	return 0;
}

/* Of all tensors of its op. */
static double elements(const struct out *o)
{
	const struct trace_op *op = o->from->op;
	const struct trace_arg *v = o->op.name ? o->op.args : op ? op->args : NULL;
	const uint32_t n = o->op.name ? o->op.n_args : op ? op->n_args : 0;
	double sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		double of = v[i].ndims > 0;

		for (int32_t k = 0; k < v[i].ndims; k++)
			of *= (double)v[i].dims[k];
		sum += of;
	}
	return sum;
}

static int put_old(struct job *j, const struct trace_launch *l, const char *dims, struct err *e)
{
	struct replay_from *f = NULL;
	struct out *o;

	for (size_t i = 0; i < j->r.n_from && !f; i++)
		if (matches(&j->r.from[i].m, l, dims))
			f = &j->r.from[i];
	if (!f && l->kind == TRACE_KERNEL)
		return err_set(e, ERR_IO, "'%s' maps no row to kernel '%.120s' of op '%s' with dims '%s', nor drops it",
		               j->path, l->name, l->op ? l->op->name : "", dims);
	if (f)
		f->used++;
	if (f && f->row == REPLAY_DROPPED)
		return 0;
	if (!(o = more(j, e)))
		return -1;
	o->from = l;
	if (f && l->kind == TRACE_KERNEL) {
		o->row = f->row;
		o->op = f->as;
		o->other = f->other;
		o->weight = j->r.rows[f->row].by_elements ? elements(o) : (double)l->dur_ns;
		o->weight = o->weight > 0 ? o->weight : 1;
	}
	return 0;
}

static int walk(struct job *j, struct err *e)
{
	for (size_t i = 0; i < j->order.n_launches; i++) {
		const struct trace_launch *l = &j->order.launches[i];

		dims_text(l->op, &j->text);
		if (j->text.failed)
			return err_nomem(e, "for the replay");
		if (add_new(j, true, l, str_c(&j->text), e) < 0 || put_old(j, l, str_c(&j->text), e) < 0 ||
		    add_new(j, false, l, str_c(&j->text), e) < 0)
			return -1;
	}
	return 0;
}

/* Matches that met nothing are mistakes. */
static int all_used(const struct job *j, struct err *e)
{
	for (size_t i = 0; i < j->r.n_from; i++)
		if (!j->r.from[i].used)
			return yaml_err(j->r.y, j->r.from[i].at, e, "no launch of '%s' is like this", j->r.range);
	for (size_t i = 0; i < j->r.n_added; i++)
		if (!j->r.added[i].seen)
			return yaml_err(j->r.y, j->r.added[i].at, e, "no launch of '%s' is like this", j->r.range);
	return 0;
}

/* --- rows ------------------------------------------------------------------------------------------------------ */

static int check_row(const struct job *j, size_t row, int64_t got, struct err *e)
{
	const struct replay_row *x = &j->r.rows[row];
	const struct trace_stat *s = &j->table.stats[row - 1];
	const int64_t steps = (int64_t)j->r.steps, whole = s->instances / steps;

	if (!replay_holds(x->is, s->name))
		return yaml_err(j->r.y, x->at, e, "row %zu of '%s' is another kernel: '%.120s'", row, j->r.table,
		                s->name);
	if (!x->launches && s->instances % steps)
		return yaml_err(j->r.y, x->at, e,
		                "row %zu ran %lld times in %lld steps: 'launches' says how often in one", row,
		                (long long)s->instances, (long long)steps);
	if (x->launches && (x->launches < whole || x->launches > whole + 1))
		return yaml_err(j->r.y, x->at, e, "row %zu ran %lld times in %lld steps, which are not %lld in one",
		                row, (long long)s->instances, (long long)steps, (long long)x->launches);
	if (got != (x->launches ? x->launches : whole))
		return yaml_err(j->r.y, x->at, e,
		                "row %zu runs %lld times a step, and %lld launches are mapped or added", row,
		                (long long)(x->launches ? x->launches : whole), (long long)got);
	return 0;
}

/* What each launch of a row takes at one factor; the sum. */
static double replay_share(struct job *j, size_t row, const struct trace_stat *s, double factor)
{
	double sum = 0;

	for (size_t i = 0; i < j->n; i++) {
		double t;

		if (j->v[i].row != row)
			continue;
		t = j->v[i].weight * factor;
		if (s->min_ns >= 0 && t < (double)s->min_ns)
			t = (double)s->min_ns;
		if (s->max_ns >= 0 && t > (double)s->max_ns)
			t = (double)s->max_ns;
		j->v[i].dur_ns = (int64_t)t;
		sum += (double)j->v[i].dur_ns;
	}
	return sum;
}

/* Exactly `total` for all launches of a row. */
static void time_row(struct job *j, size_t row, int64_t total, int64_t n)
{
	const struct trace_stat *s = &j->table.stats[row - 1];
	double lo = 0, hi = 1e12, least = 0;
	int64_t left;

	for (size_t i = 0; i < j->n; i++)
		if (j->v[i].row == row && j->v[i].from && (least == 0 || j->v[i].weight < least))
			least = j->v[i].weight;
	for (size_t i = 0; i < j->n; i++)
		if (j->v[i].row == row && !j->v[i].from)
			j->v[i].weight = least > 0 ? least : 1;
	for (int i = 0; i < 128; i++) {
		const double mid = (lo + hi) / 2;

		if (replay_share(j, row, s, mid) > (double)total)
			hi = mid;
		else
			lo = mid;
	}
	left = total - (int64_t)replay_share(j, row, s, lo);
	/* What rounding leaves goes to those with room, a nanosecond each; where the row's bounds leave no room, to
	 * all. */
	for (bool room = left <= n; left > 0; room = false)
		for (size_t i = 0; i < j->n && left > 0; i++)
			if (j->v[i].row == row && (!room || s->max_ns < 0 || j->v[i].dur_ns < s->max_ns)) {
				const int64_t more_ns = room ? 1 : (left + n - 1) / n;

				j->v[i].dur_ns += more_ns < left ? more_ns : left;
				left -= more_ns < left ? more_ns : left;
			}
	for (size_t i = 0; i < j->n && left < 0; i++)
		if (j->v[i].row == row && j->v[i].dur_ns > 0) {
			const int64_t less = (n - 1 - left) / n < j->v[i].dur_ns ? (n - 1 - left) / n : j->v[i].dur_ns;

			j->v[i].dur_ns -= less < -left ? less : -left;
			left += less < -left ? less : -left;
		}
}

static int time_rows(struct job *j, struct err *e)
{
	const int64_t steps = (int64_t)j->r.steps;
	int64_t sum = 0, before = 0, *count = calloc(j->table.n_stats + 1, sizeof *count);
	int rc = 0;

	if (!count)
		return err_nomem(e, "for the replay");
	for (size_t i = 0; rc == 0 && i < j->n; i++) {
		if (j->v[i].row > j->table.n_stats)
			rc = err_set(e, ERR_IO, "'%s' names row %zu, and '%s' has %zu", j->path, j->v[i].row,
			             j->r.table, j->table.n_stats);
		else
			count[j->v[i].row]++;
	}
	for (size_t row = j->table.n_stats + 1; rc == 0 && row < j->r.n_rows; row++)
		if (j->r.rows[row].at)
			rc = yaml_err(j->r.y, j->r.rows[row].at, e, "'%s' has %zu rows", j->r.table, j->table.n_stats);
	for (size_t row = 1; rc == 0 && row < j->r.n_rows && row <= j->table.n_stats; row++) {
		if (!j->r.rows[row].at)
			rc = err_set(e, ERR_IO, "'%s' has no entry for row %zu of '%s', '%.120s'", j->path, row,
			             j->r.table, j->table.stats[row - 1].name);
		else
			rc = check_row(j, row, count[row], e);
	}
	for (size_t row = 1; rc == 0 && row <= j->table.n_stats; row++) {
		sum += j->table.stats[row - 1].total_ns;
		time_row(j, row, (sum + steps / 2) / steps - before, count[row]);
		before = (sum + steps / 2) / steps;
	}
	free(count);
	return rc;
}

/* --- writing --------------------------------------------------------------------------------------------------- */

/* Dims and scalars that are the traced context become this one's, and packed strides follow. */
static const struct trace_arg *in_context(struct job *j, const struct replay_op *o, int64_t context, struct err *e)
{
	struct trace_arg *v = arena_array(j->r.a, o->n_args ? o->n_args : 1, sizeof *v);

	if (!v) {
		err_nomem(e, "for the replay");
		return NULL;
	}
	for (uint32_t i = 0; i < o->n_args; i++) {
		bool packed = true, changed = false;
		int64_t stride = 1;

		v[i] = o->args[i];
		for (int64_t k = 0; j->r.context && k < 2; k++) {
			char was[24];

			snprintf(was, sizeof was, "%lld", (long long)j->r.context_order + (long long)k);
			if (v[i].scalar && strcmp(v[i].scalar, was) == 0 &&
			    !(v[i].scalar = arena_printf(j->r.a, "%lld", (long long)(context + k)))) {
				err_nomem(e, "for the replay");
				return NULL;
			}
		}
		for (int32_t d = v[i].ndims; j->r.context && d-- > 0; stride *= o->args[i].dims[d]) {
			const int64_t more_than = v[i].dims[d] - (int64_t)j->r.context_order;

			packed = packed && v[i].strides[d] == stride;
			if (more_than == 0 || more_than == 1) {
				v[i].dims[d] = context + more_than;
				changed = true;
			}
		}
		stride = 1;
		for (int32_t d = v[i].ndims; changed && packed && d-- > 0; stride *= v[i].dims[d])
			v[i].strides[d] = stride;
	}
	return v;
}

static int by_op(const void *x, const void *y)
{
	const struct span *a = x, *b = y;

	if (a->op != b->op)
		return a->op->id < b->op->id ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/* The traced ops, their ancestors too, with the first and last launch of each in the replay. */
static int find_spans(struct job *j, struct err *e)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < j->n; i++)
		for (const struct trace_op *o = j->v[i].from ? j->v[i].from->op : NULL; o; o = o->up)
			n++;
	if (!(j->spans = calloc(n ? n : 1, sizeof *j->spans)))
		return err_nomem(e, "for the replay");
	for (size_t i = 0; i < j->n; i++) {
		int depth = 0;

		for (const struct trace_op *o = j->v[i].from ? j->v[i].from->op : NULL; o; o = o->up)
			depth++;
		for (const struct trace_op *o = j->v[i].from ? j->v[i].from->op : NULL; o; o = o->up)
			j->spans[j->n_spans++] = (struct span){ o, i, i, --depth };
	}
	if (n)
		qsort(j->spans, n, sizeof *j->spans, by_op);
	for (size_t i = 0; i < n; i++) {
		if (kept && j->spans[kept - 1].op == j->spans[i].op)
			j->spans[kept - 1].last = j->spans[i].last;
		else
			j->spans[kept++] = j->spans[i];
	}
	j->n_spans = kept;
	return 0;
}

/* An op's host time encloses that of its launches, and of the ops within it. */
static int put_spans(struct job *j, struct tracedb *db, int64_t context, struct err *e)
{
	for (size_t i = 0; i < j->n_spans; i++) {
		const struct span *s = &j->spans[i];
		const struct out *first = &j->v[s->first];
		struct trace_op o = *s->op;

		if (s->depth > DEEP)
			return err_set(e, ERR_IO, "ops more than %d deep in '%s'", DEEP, j->r.order);
		o.start_ns = (int64_t)s->first * TICK + s->depth;
		o.dur_ns = (int64_t)s->last * TICK + TICK - 1 - s->depth - o.start_ns;
		if (first->op.name && first->from->op == s->op) {
			o.name = first->op.name;
			o.args = first->op.args;
			o.n_args = first->op.n_args;
		}
		if (!(o.args = in_context(j, &(struct replay_op){ o.name, o.args, o.n_args }, context, e)) ||
		    tracedb_put_op(db, &o, (int64_t)i + 1, e) < 0)
			return -1;
	}
	return 0;
}

static int64_t span_of(const struct job *j, const struct trace_op *op)
{
	size_t lo = 0, hi = j->n_spans;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (j->spans[mid].op->id < op->id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (int64_t)lo + 1;
}

static int put_added(struct job *j, struct tracedb *db, size_t i, int64_t context, struct err *e)
{
	struct trace_op o = { .name = j->v[i].op.name,
		              .start_ns = (int64_t)i * TICK + DEEP,
		              .dur_ns = TICK - 2 * DEEP,
		              .sequence = -1,
		              .n_args = j->v[i].op.n_args };

	for (size_t k = 0; k < j->n && o.thread == 0; k++) /* any launch's thread is as good */
		o.thread = j->v[k].from && j->v[k].from->op ? j->v[k].from->op->thread : 0;
	if (!(o.args = in_context(j, &j->v[i].op, context, e)))
		return -1;
	return tracedb_put_op(db, &o, (int64_t)(j->n_spans + i) + 1, e);
}

static int put_all(struct job *j, struct tracedb *db, int64_t context, struct err *e)
{
	int64_t now = 0;

	if (tracedb_put_device(db, &j->r.device, e) < 0 || find_spans(j, e) < 0 || put_spans(j, db, context, e) < 0)
		return -1;
	for (size_t i = 0; i < j->n; i++) {
		const struct out *o = &j->v[i];
		struct trace_launch l = { .kind = TRACE_KERNEL, .bytes = -1 };
		int64_t external = 0;

		if (o->from) {
			l.kind = o->from->kind;
			l.name = o->from->name;
			l.stream = o->from->stream;
			l.bytes = o->from->bytes;
			l.dir = o->from->dir;
			l.blocking = o->from->blocking;
			if (!o->other) {
				memcpy(l.grid, o->from->grid, sizeof l.grid);
				memcpy(l.block, o->from->block, sizeof l.block);
				memcpy(l.cluster, o->from->cluster, sizeof l.cluster);
				l.registers = o->from->registers;
				l.smem_static = o->from->smem_static;
				l.smem_dynamic = o->from->smem_dynamic;
			}
			external = o->from->op ? span_of(j, o->from->op) : 0;
		} else {
			external = (int64_t)(j->n_spans + i) + 1;
			if (put_added(j, db, i, context, e) < 0)
				return -1;
			for (size_t k = i; k-- > 0 && l.stream == 0;)
				l.stream = j->v[k].from ? j->v[k].from->stream : 0;
		}
		if (o->row)
			l.name = j->table.stats[o->row - 1].name;
		l.start_ns = now;
		l.dur_ns = o->dur_ns;
		now += o->dur_ns;
		l.host_start_ns = -1;
		if (tracedb_put_launch(db, &l, external, e) < 0)
			return -1;
	}
	return 0;
}

/* --- reading both ---------------------------------------------------------------------------------------------- */

static int import_table(struct tracedb *db, const char *path, struct err *e)
{
	struct input *in = input_open(path, e);
	struct trace_import_stats st;
	const int rc = in ? nsys_csv_import(db, in, NULL, NULL, &st, e) : -1;

	input_free(in);
	return rc;
}

/* What `import` gives, and the profile of a database of its own. */
static int replay_load(struct job *j, replay_order_fn *import, const char *path, const char *range, struct trace *out,
                       struct err *e)
{
	struct tracedb *db = tracedb_open(":memory:", DB_WRITE, e);
	int rc = db ? import(db, path, e) : -1;

	if (rc == 0)
		rc = tracedb_load_any(db, range, j->r.a, out, e);
	tracedb_free(db);
	return rc;
}

/* A replay of a replay could be one of itself. */
static int load_order(struct job *j, replay_order_fn *order, struct err *e)
{
	const int rc = replay_load(j, order, j->r.order, j->r.range, &j->order, e);

	return rc != REPLAY_NO_PROFILE
	               ? rc
	               : err_set(e, ERR_IO, "'%s' takes its order from another replay, '%s'", j->path, j->r.order);
}

/* Of the file, of what it names, and of the context: any of them makes another trace. */
static int digest(const struct job *j, int64_t context, char out[INPUT_DIGEST], struct err *e)
{
	struct input *in = input_open(j->path, e);
	uint64_t h = HASH_INIT;
	char hex[17];

	if (!in)
		return -1;
	if (input_digest(in, out, e) < 0) {
		input_free(in);
		return -1;
	}
	input_free(in);
	h = hash_str(hash_str(hash_str(h, out), j->table.digest), j->order.digest);
	hash_hex(hash_u64(h, (uint64_t)context), hex);
	snprintf(out, INPUT_DIGEST, "%s-%lld", hex, (long long)context);
	return 0;
}

static int replay_make(struct job *j, struct tracedb *db, int64_t context, replay_order_fn *order,
                       struct trace_import_stats *st, struct err *e)
{
	char hash[INPUT_DIGEST], what[64];
	struct trace_import src = { j->path, "replay", hash, 0, -1, true, NULL };
	int rc;

	if (replay_read(&j->r, j->path, e) < 0 || replay_load(j, import_table, j->r.table, NULL, &j->table, e) < 0 ||
	    load_order(j, order, e) < 0)
		return -1;
	if (context && !j->r.context)
		return err_set(e, ERR_IO, "'%s' says nothing of a context", j->path);
	if (context < 0 || context > REPLAY_CONTEXT_MAX)
		return err_set(e, ERR_IO, "a context lies between 1 and %d tokens", REPLAY_CONTEXT_MAX);
	context = context ? context : (int64_t)j->r.context;
	if (j->table.n_stats >= j->r.n_rows)
		return err_set(e, ERR_IO, "'%s' has more than %zu rows", j->r.table, j->r.n_rows - 1);
	if (j->table.n_launches || !j->table.n_stats)
		return err_set(e, ERR_IO, "'%s' is no table of kernels as nsys stats writes it", j->r.table);
	if (walk(j, e) < 0 || all_used(j, e) < 0 || time_rows(j, e) < 0 || digest(j, context, hash, e) < 0)
		return -1;
	snprintf(what, sizeof what, "context of %lld tokens", (long long)context);
	src.wall_ns = j->r.wall_ns;
	src.command = context ? what : NULL;
	if ((rc = tracedb_begin(db, &src, e)) != 0)
		return rc;
	if (put_all(j, db, context, e) == 0 && tracedb_finish(db, &src, st, e) == 0) {
		st->context = context;
		return 0;
	}
	tracedb_abort(db);
	return -1;
}

bool replay_is_text(const char *p, size_t n)
{
	const char *end = p + n;

	while (p < end && (*p == '\n' || *p == '#')) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		p = nl ? nl + 1 : end;
	}
	return end - p >= 7 && memcmp(p, "replay:", 7) == 0;
}

int replay_import(struct tracedb *db, const char *path, int64_t context, replay_order_fn *order,
                  struct trace_import_stats *st, struct err *e)
{
	struct job *j = calloc(1, sizeof *j);
	struct trace_import_stats own = { 0 };
	int rc;

	if (!j)
		return err_nomem(e, "for the replay");
	j->path = path;
	if ((rc = replay_make(j, db, context, order, st ? st : &own, e)) < 0 && e->kind == ERR_CONFIG)
		e->kind = ERR_IO; /* to a user it is a profile */
	replay_free(&j->r);
	str_free(&j->text);
	free(j->spans);
	free(j->v);
	free(j);
	return rc;
}
