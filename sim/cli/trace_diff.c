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

static void pair(struct doc *d, const void *of, size_t i)
{
	const struct pair *p = (const struct pair *)of + i;
	const bool json = d->format == OUT_JSON;

	if (json) {
		doc_text(d, "name", p->name);
		if (p->friendly)
			doc_text(d, "friendly", p->friendly);
	}
	doc_count(d, "count_a", p->count[0]);
	doc_count(d, "count_b", p->count[1]);
	doc_ns(d, "a_us", 3, p->ns[0]);
	doc_ns(d, "b_us", 3, p->ns[1]);
	doc_ns(d, "delta_us", 3, delta(p));
	doc_real_if(d, json ? "ratio" : "b/a", 3, p->ns[0] && p->ns[1], (double)p->ns[1] / (double)p->ns[0]);
	if (json)
		return;
	doc_real(d, "mean_a_us", 3, mean_us(p, 0));
	doc_real(d, "mean_b_us", 3, mean_us(p, 1));
}

static void kernel(struct doc *d, const void *of, size_t i)
{
	const struct pair *p = (const struct pair *)of + i;

	if (d->format != OUT_JSON)
		doc_text(d, "kernel", p->friendly);
	pair(d, of, i);
	if (d->format != OUT_JSON)
		doc_name(d, "name", NAME_SHOWN, p->name);
}

static void family(struct doc *d, const void *of, size_t i)
{
	if (d->format != OUT_JSON)
		doc_text(d, "family", ((const struct pair *)of)[i].name);
	pair(d, of, i);
}

static const char *device(const struct side *s)
{
	return s->t.trace.n_devices ? s->t.trace.devices[0].name : NULL;
}

static void side(struct doc *d, const char *key, const struct side *s)
{
	doc_open(d, key, '{');
	doc_text(d, "device", device(s));
	doc_text(d, "range", s->t.trace.range);
	doc_count(d, "kernel_count", s->c.kernel_count);
	doc_ns(d, "total_us", 3, s->c.kernel_ns);
	doc_close(d, '}');
}

static void say_sides(struct doc *d, const struct side s[2], const struct pairs *k)
{
	uint64_t only[2] = { 0, 0 };

	for (size_t i = 0; i < k->n; i++)
		for (int x = 0; x < 2; x++)
			only[x] += k->v[i].count[!x] ? 0 : k->v[i].ns[x];
	for (int i = 0; i < 2; i++)
		doc_say(d, "%s: %s%s%s, %" PRIu64 " kernels in %.3f us; names that only %s has: %.2f %% of its time\n",
		        i ? "B" : "A", device(&s[i]) ? device(&s[i]) : "unknown device",
		        s[i].t.trace.range ? ", range " : "", s[i].t.trace.range ? s[i].t.trace.range : "",
		        s[i].c.kernel_count, (double)s[i].c.kernel_ns / 1e3, i ? "B" : "A",
		        cmd_pct((double)only[i], (double)s[i].c.kernel_ns));
	doc_say(d, "B takes %.3f us %s (b/a %.3f)\n\n", fabs((double)s[1].c.kernel_ns - (double)s[0].c.kernel_ns) / 1e3,
	        s[1].c.kernel_ns < s[0].c.kernel_ns ? "less" : "more",
	        s[0].c.kernel_ns ? (double)s[1].c.kernel_ns / (double)s[0].c.kernel_ns : 0);
}

static void print(struct doc *d, const struct side s[2], const struct pairs *k, const struct pairs *f, size_t n)
{
	doc_open(d, NULL, '{');
	side(d, "a", &s[0]);
	side(d, "b", &s[1]);
	say_sides(d, s, k);
	if (d->format != OUT_CSV) /* which has the kernels */
		doc_table(d, "families", NULL, f->n, family, f->v);
	doc_say(d, "\n");
	doc_table(d, "kernels", NULL, n, kernel, k->v);
	cmd_say_more(d, n, k->n);
	doc_close(d, '}');
}

/* --- the command ------------------------------------------------------------------------------------------- */

static int read_side(struct side *s, const char *path, const char *range, struct rules *r, struct err *e)
{
	if (cmd_measured((struct measured_from){ .path = path, .range = range, .load = tracedb_load_groups }, &s->t,
	                 e) < 0)
		return -1;
	return classify_trace(&s->t.trace, r, s->t.arena, &s->c, e);
}

static int diff(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct side s[2] = { { .c = { 0 } }, { .c = { 0 } } };
	struct pairs kernels = { NULL, 0 }, families = { NULL, 0 };
	struct rules *rules = rules_load(o->rules, e);
	int rc = -1;

	if (rules && read_side(&s[0], args->v[0], o->range, rules, e) == 0 &&
	    read_side(&s[1], args->v[1], o->range_b ? o->range_b : o->range, rules, e) == 0 &&
	    pair_up(s, &kernels, &families, e) == 0) {
		print(d, s, &kernels, &families, cmd_first(o->n, kernels.n));
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

	return cmd_do(&cmd, &o.format, diff, &o, argc, argv, out, e);
}
