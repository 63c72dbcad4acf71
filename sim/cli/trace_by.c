/* trace_by.c - kernels summed by op, layer, stream or family. */
#include "sim/cli/trace_by.h"

#include <inttypes.h>
#include <stdlib.h>

struct ranked {
	struct sums_value v;
	enum sums_order order;
	const struct sums_row *row;
};

static int by_rank(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	return sums_compare(a->order, &a->v, &b->v);
}

static const char *shown(const struct sums_row *r)
{
	return *r->key ? r->key : "(no framework op)";
}

static void write_table(const struct sums *s, const struct ranked *v, size_t n, enum out_format f, struct str *out)
{
	static const struct out_col cols[] = {
		{ "rank", OUT_INT, 0 },       { "key", OUT_TEXT, 0 },
		{ "count", OUT_INT, 0 },      { "total_us", OUT_REAL, 3 },
		{ "mean_us", OUT_REAL, 3 },   { "longest_us", OUT_REAL, 3 },
		{ "share_pct", OUT_REAL, 2 }, { "cumulative_pct", OUT_REAL, 2 },
		{ "most", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		const struct sums_row *r = v[i].row;

		sum += r->ns;
		out_int(t, (int64_t)i + 1);
		out_text(t, shown(r));
		out_int(t, (int64_t)r->count);
		out_real(t, cmd_us((int64_t)r->ns));
		out_real(t, cmd_us((int64_t)r->ns) / (double)r->count);
		out_real(t, cmd_us((int64_t)r->longest_ns));
		out_real(t, cmd_pct((double)r->ns, (double)s->ns));
		out_real(t, cmd_pct((double)sum, (double)s->ns));
		out_text(t, r->family);
	}
	out_table_write(t, f, out);
	out_table_free(t);
}

static void write_json(const struct trace *t, const struct sums *s, const struct ranked *v, size_t n, struct str *out)
{
	struct out_json j;
	uint64_t sum = 0;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_text(&j, "range", t->range);
	out_json_real(&j, "total_us", cmd_us((int64_t)s->ns));
	out_json_u64(&j, "kernel_count", s->count);
	out_json_open(&j, "rows", '[');
	for (size_t i = 0; i < n; i++) {
		const struct sums_row *r = v[i].row;

		sum += r->ns;
		out_json_open(&j, NULL, '{');
		out_json_int(&j, "rank", (int64_t)i + 1);
		out_json_text(&j, "key", r->key);
		out_json_u64(&j, "count", r->count);
		out_json_real(&j, "total_us", cmd_us((int64_t)r->ns));
		out_json_real(&j, "mean_us", cmd_us((int64_t)r->ns) / (double)r->count);
		out_json_real(&j, "longest_us", cmd_us((int64_t)r->longest_ns));
		out_json_real(&j, "share_pct", cmd_pct((double)r->ns, (double)s->ns));
		out_json_real(&j, "cumulative_pct", cmd_pct((double)sum, (double)s->ns));
		out_json_text(&j, "family", r->family);
		out_json_close(&j, '}');
	}
	out_json_close(&j, ']');
	out_json_close(&j, '}');
}

static void show(const struct trace *t, const struct sums *s, const struct ranked *v, size_t n, enum out_format f,
                 struct str *out)
{
	if (f == OUT_JSON) {
		write_json(t, s, v, n, out);
		return;
	}
	if (f == OUT_TABLE)
		str_addf(out,
		         "%s%s%s%" PRIu64 " kernels in %.3f us; most: the family that most of a row's time went to\n\n",
		         t->range ? "range " : "", t->range ? t->range : "", t->range ? ": " : "", s->count,
		         cmd_us((int64_t)s->ns));
	write_table(s, v, n, f, out);
	if (f == OUT_TABLE)
		cmd_print_more(n, s->n, out);
}

int trace_by(const char *path, const struct trace_by *o, enum out_format f, struct str *out, struct err *e)
{
	struct measured t = { 0 };
	struct ranked *v = NULL;
	struct sums s;
	int rc = -1;

	if (cmd_measured((struct measured_from){ path, o->range, .rules = o->rules ? o->rules : "" }, &t, e) < 0 ||
	    sums_of(&t.trace, o->by, o->filter, t.rules, t.arena, &s, e) < 0)
		goto out;
	if (!(v = arena_array(t.arena, s.n + 1, sizeof *v))) {
		err_nomem(e, "for the sums");
		goto out;
	}
	for (size_t i = 0; i < s.n; i++)
		v[i] = (struct ranked){ { s.v[i].key, s.v[i].count, s.v[i].ns, s.v[i].longest_ns }, o->sort, &s.v[i] };
	if (o->sort != SUMS_TOTAL)
		qsort(v, s.n, sizeof *v, by_rank);
	show(&t.trace, &s, v, cmd_first(o->n, s.n), f, out);
	rc = 0;
out:
	measured_free(&t);
	return rc;
}
