/* trace_diff.c - npusim trace diff: two traces side by side, by family and by kernel: what got slower. */
#include "sim/cli/cmd.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/profile/classify.h"

#define NAME_SHOWN 60

struct options {
	const char *range, *range_b, *rules, *format;
	uint64_t n;
};

/* A name or family in both, or in one of them (count 0 in the other). */
struct pair {
	const char *name, *friendly;
	uint64_t count[2], ns[2];
};
struct pairs {
	struct pair *v;
	size_t n;
};

struct side {
	struct measured t;
	struct classify c;
};

static double delta(const struct pair *p)
{
	return (double)p->ns[1] - (double)p->ns[0];
}

static int by_name(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;

	return strcmp(a->name, b->name);
}

/* What got slower by most first, what got faster by most last. */
static int slower_first(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;
	const double d = delta(b) - delta(a);

	return d < 0 ? -1 : d > 0 ? 1 : strcmp(a->name, b->name);
}

/* Rows of A, then of B, become one a name. */
static void join(struct pairs *p)
{
	size_t n = 0;

	if (p->n)
		qsort(p->v, p->n, sizeof *p->v, by_name);
	for (size_t i = 0; i < p->n; i++) {
		if (n && strcmp(p->v[n - 1].name, p->v[i].name) == 0) {
			for (int k = 0; k < 2; k++) {
				p->v[n - 1].count[k] += p->v[i].count[k];
				p->v[n - 1].ns[k] += p->v[i].ns[k];
			}
			continue;
		}
		p->v[n++] = p->v[i];
	}
	p->n = n;
	if (n)
		qsort(p->v, n, sizeof *p->v, slower_first);
}

static int pair_up(const struct side s[2], struct pairs *kernels, struct pairs *families, struct err *e)
{
	*kernels = (struct pairs){ calloc(s[0].c.n_kernels + s[1].c.n_kernels + 1, sizeof(struct pair)), 0 };
	*families = (struct pairs){ calloc(s[0].c.n_families + s[1].c.n_families + 1, sizeof(struct pair)), 0 };
	if (!kernels->v || !families->v)
		return err_nomem(e, "for the tables");
	for (int k = 0; k < 2; k++) {
		const struct classify *c = &s[k].c;

		for (size_t i = 0; i < c->n_kernels; i++) {
			struct pair *p = &kernels->v[kernels->n++];

			p->name = c->kernels[i].name;
			p->friendly = c->kernels[i].friendly;
			p->count[k] = c->kernels[i].count;
			p->ns[k] = c->kernels[i].total_ns;
		}
		for (size_t i = 0; i < c->n_families; i++) {
			struct pair *p = &families->v[families->n++];

			p->name = c->families[i].name;
			p->count[k] = c->families[i].count;
			p->ns[k] = c->families[i].total_ns;
		}
	}
	join(kernels);
	join(families);
	return 0;
}

/* --- printing ---------------------------------------------------------------------------------------------- */

static double mean_us(const struct pair *p, int k)
{
	return p->count[k] ? (double)p->ns[k] / 1e3 / (double)p->count[k] : NAN;
}

static void cells(struct out_table *t, const struct pair *p)
{
	out_int(t, (int64_t)p->count[0]);
	out_int(t, (int64_t)p->count[1]);
	out_real(t, (double)p->ns[0] / 1e3);
	out_real(t, (double)p->ns[1] / 1e3);
	out_real(t, delta(p) / 1e3);
	out_real_or_null(t, p->ns[0] && p->ns[1] ? (double)p->ns[1] / (double)p->ns[0] : NAN);
	out_real_or_null(t, mean_us(p, 0));
	out_real_or_null(t, mean_us(p, 1));
}

#define CELLS \
	{ "count_a", OUT_INT, 0 }, { "count_b", OUT_INT, 0 }, { "a_us", OUT_REAL, 3 }, { "b_us", OUT_REAL, 3 }, \
		{ "delta_us", OUT_REAL, 3 }, { "b/a", OUT_REAL, 3 }, { "mean_a_us", OUT_REAL, 3 }, \
	{ \
		"mean_b_us", OUT_REAL, 3 \
	}

static void write_kernels(const struct pairs *p, size_t n, enum out_format f, struct str *out)
{
	static const struct out_col cols[] = { { "kernel", OUT_TEXT, 0 }, CELLS, { "name", OUT_TEXT, 0 } };
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (size_t i = 0; i < n; i++) {
		out_text(t, p->v[i].friendly);
		cells(t, &p->v[i]);
		cmd_out_name(t, p->v[i].name, NAME_SHOWN, f);
	}
	out_table_write(t, f, out);
	out_table_free(t);
}

static void write_families(const struct pairs *p, struct str *out)
{
	static const struct out_col cols[] = { { "family", OUT_TEXT, 0 }, CELLS };
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (size_t i = 0; i < p->n; i++) {
		out_text(t, p->v[i].name);
		cells(t, &p->v[i]);
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

static void json_pairs(const struct pairs *p, size_t n, const char *key, struct out_json *j)
{
	out_json_open(j, key, '[');
	for (size_t i = 0; i < n; i++) {
		const struct pair *x = &p->v[i];

		out_json_open(j, NULL, '{');
		out_json_text(j, "name", x->name);
		if (x->friendly)
			out_json_text(j, "friendly", x->friendly);
		out_json_u64(j, "count_a", x->count[0]);
		out_json_u64(j, "count_b", x->count[1]);
		out_json_real(j, "a_us", (double)x->ns[0] / 1e3);
		out_json_real(j, "b_us", (double)x->ns[1] / 1e3);
		out_json_real(j, "delta_us", delta(x) / 1e3);
		out_json_real(j, "ratio", x->ns[0] && x->ns[1] ? (double)x->ns[1] / (double)x->ns[0] : NAN);
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
}

static const char *device(const struct side *s)
{
	return s->t.trace.n_devices ? s->t.trace.devices[0].name : NULL;
}

static void write_json(const struct side s[2], const struct pairs *k, const struct pairs *f, size_t n, struct str *out)
{
	static const char *const keys[] = { "a", "b" };
	struct out_json j;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	for (int i = 0; i < 2; i++) {
		out_json_open(&j, keys[i], '{');
		out_json_text(&j, "device", device(&s[i]));
		out_json_text(&j, "range", s[i].t.trace.range);
		out_json_u64(&j, "kernel_count", s[i].c.kernel_count);
		out_json_real(&j, "total_us", (double)s[i].c.kernel_ns / 1e3);
		out_json_close(&j, '}');
	}
	json_pairs(f, f->n, "families", &j);
	json_pairs(k, n, "kernels", &j);
	out_json_close(&j, '}');
}

static void write_text(const struct side s[2], const struct pairs *k, const struct pairs *f, size_t n, struct str *out)
{
	uint64_t only[2] = { 0, 0 };

	for (size_t i = 0; i < k->n; i++)
		for (int x = 0; x < 2; x++)
			only[x] += k->v[i].count[!x] ? 0 : k->v[i].ns[x];
	for (int i = 0; i < 2; i++)
		str_addf(out,
		         "%s: %s%s%s, %" PRIu64 " kernels in %.3f us; names that only %s has: %.2f %% of its time\n",
		         i ? "B" : "A", device(&s[i]) ? device(&s[i]) : "unknown device",
		         s[i].t.trace.range ? ", range " : "", s[i].t.trace.range ? s[i].t.trace.range : "",
		         s[i].c.kernel_count, (double)s[i].c.kernel_ns / 1e3, i ? "B" : "A",
		         cmd_pct((double)only[i], (double)s[i].c.kernel_ns));
	str_addf(out, "B takes %.3f us %s (b/a %.3f)\n\n",
	         fabs((double)s[1].c.kernel_ns - (double)s[0].c.kernel_ns) / 1e3,
	         s[1].c.kernel_ns < s[0].c.kernel_ns ? "less" : "more",
	         s[0].c.kernel_ns ? (double)s[1].c.kernel_ns / (double)s[0].c.kernel_ns : 0);
	write_families(f, out);
	str_addc(out, '\n');
	write_kernels(k, n, OUT_TABLE, out);
	cmd_print_more(n, k->n, out);
}

/* --- the command ------------------------------------------------------------------------------------------- */

static int read_side(struct side *s, const char *path, const char *range, struct rules *r, struct err *e)
{
	if (cmd_measured((struct measured_from){ .path = path, .range = range, .load = tracedb_load_groups }, &s->t,
	                 e) < 0)
		return -1;
	return classify_trace(&s->t.trace, r, s->t.arena, &s->c, e);
}

static int diff(const char *const paths[2], const struct options *o, struct str *out, struct err *e)
{
	struct side s[2] = { { .c = { 0 } }, { .c = { 0 } } };
	struct pairs kernels = { NULL, 0 }, families = { NULL, 0 };
	struct rules *rules = NULL;
	enum out_format f;
	int rc = -1;
	size_t n;

	if (cmd_format(o->format, &f, e) == 0 && (rules = rules_load(o->rules, e)) &&
	    read_side(&s[0], paths[0], o->range, rules, e) == 0 &&
	    read_side(&s[1], paths[1], o->range_b ? o->range_b : o->range, rules, e) == 0 &&
	    pair_up(s, &kernels, &families, e) == 0) {
		n = cmd_first(o->n, kernels.n);
		if (f == OUT_JSON)
			write_json(s, &kernels, &families, n, out);
		else if (f == OUT_CSV)
			write_kernels(&kernels, n, f, out);
		else
			write_text(s, &kernels, &families, n, out);
		rc = 0;
	}
	free(kernels.v);
	free(families.v);
	measured_free(&s[0].t);
	measured_free(&s[1].t);
	rules_free(rules);
	return rc;
}

int cmd_trace_diff(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .n = UINT64_MAX };
	const struct opt opts[] = {
		{ 'n', "top", OPT_COUNT, &o.n, "N", "the N kernels that lose most time; all of them by default" },
		{ 0, "range", OPT_TEXT, &o.range, "NAME", "only what was launched inside this annotation, in both" },
		{ 0, "range-b", OPT_TEXT, &o.range_b, "NAME", "another one in B" },
		{ 0, "rules", OPT_READ, &o.rules, "FILE", CMD_FAMILIES_HELP },
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP "; csv has the kernels alone" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace diff A.db B.db [-n N] [--range NAME] [--range-b NAME]",
		"What got slower from A to B, two devices or two versions of the same work: families, then kernels, "
		"with counts"
		" and times of both; what lost most time comes first. Kernels are paired by their full name. Libraries "
		"choose"
		" other kernels on another device: the share of time in names that only one has is printed, and "
		"families compare"
		" across it.",
		"npusim trace diff /tmp/old.db /tmp/new.db -n 20\n"
		"npusim trace diff /tmp/t.db /tmp/t.db --range decode_step_0 --range-b decode_step_1\n",
		opts,
		2,
		2
	};
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0)
		rc = diff(args.v, &o, out, e);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
