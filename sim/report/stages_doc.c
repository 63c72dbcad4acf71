#include "sim/report/stages_doc.h"

#include <math.h>
#include <stdio.h>

#include "sim/ui/units.h"

static double share(const struct stages *s, const struct stage_sum *x)
{
	return unit_pct((double)x->ns, (double)s->ns);
}

static double per_second(double what, const struct stage_sum *x)
{
	return x->time > 0 ? what / x->time : NAN;
}

/* Of what is known: a stage half of whose kernels have no shapes says so by known_pct. */
static double of_roof(const struct stage_sum *x)
{
	return x->time > 0 && x->roof > 0 ? 100 * x->roof / x->time : NAN;
}

static double intensity(const struct stage_sum *x)
{
	return x->known ? bound_intensity(x->flops, x->bytes) : NAN;
}

/* --- for people, and stages as CSV ---------------------------------------------------------------------------------- */

static void queries_text(const struct stage_row *r, char *to, size_t n)
{
	if (r->q_max == 0)
		snprintf(to, n, "-");
	else if (r->q_min == r->q_max)
		snprintf(to, n, "%llu", (unsigned long long)r->q_max);
	else
		snprintf(to, n, "%llu-%llu", (unsigned long long)r->q_min, (unsigned long long)r->q_max);
}

static void rates(struct doc *d, const struct stage_sum *x)
{
	doc_real(d, "ai", 2, intensity(x));
	doc_real(d, "tflops", 2, per_second(x->flops, x) / 1e12);
	doc_real(d, "gbps", 0, per_second(x->bytes, x) / 1e9);
	doc_real(d, "of_roof", 1, of_roof(x));
	doc_text(d, "class", roof_class_name(stage_class(x)));
}

static void brief(struct doc *d, const struct stages *s, enum stage is)
{
	const struct stage_row *r = &s->row[is];
	const double us = unit_us((int64_t)r->sum.ns);
	char queries[64];

	queries_text(r, queries, sizeof queries);
	doc_text(d, "stage", stage_name(is));
	doc_count(d, "passes", r->passes);
	doc_text(d, "queries", queries);
	doc_count_if(d, "keys", r->kv_max, r->kv_max);
	doc_count(d, "kernels", r->sum.kernels);
	doc_real(d, "us", 1, us);
	doc_real(d, "pass_us", 1, us / (double)(r->passes ? r->passes : 1));
	doc_real(d, "pct", 1, share(s, &r->sum));
	rates(d, &r->sum);
}

struct families {
	const struct stage_row *of;
	enum stage is;
};

static void brief_family(struct doc *d, const void *x, size_t i)
{
	const struct families *f = x;
	const struct stage_family *k = &f->of->families[i];

	doc_text(d, "stage", stage_name(f->is));
	doc_text(d, "family", k->name);
	doc_count(d, "kernels", k->sum.kernels);
	doc_ns(d, "us", 1, k->sum.ns);
	doc_real(d, "pct", 1, unit_pct((double)k->sum.ns, (double)f->of->sum.ns));
	rates(d, &k->sum);
}

static void brief_families(struct doc *d, const struct stages *s, uint64_t most)
{
	if (d->format != OUT_TABLE)
		return;
	doc_table_open(d, NULL, NULL);
	for (int i = 0; i < STAGES; i++)
		for (size_t k = 0; k < s->row[i].n_families && k < most; k++)
			doc_row(d, brief_family, &(struct families){ &s->row[i], (enum stage)i }, k);
	doc_table_close(d, brief_family, &(struct families){ &s->row[0], 0 });
}

static void say_head(struct doc *d, const struct trace *t, const struct stages *s)
{
	uint64_t named = 0, all = 0;

	for (int i = 0; i < STAGES; i++) {
		named += s->row[i].named;
		all += s->row[i].launches;
	}
	doc_say(d,
	        "%s%s%skernels %.3f us, copies and sets %.3f us\nof the launches annotations tell the stage of %.0f %%,"
	        " attention of the rest\n",
	        t->range ? "range " : "", t->range ? t->range : "", t->range ? ": " : "", unit_us((int64_t)s->ns),
	        unit_us((int64_t)s->copy_ns), unit_pct((double)named, (double)all));
	doc_say(d, "roof of %s: %.0f GB/s effective, bf16 %.1f TFLOP/s, ridge %.1f FLOP/byte\n\n", s->roof.name,
	        s->roof.effective / 1e9, s->roof.flops[ROOF_BF16] / 1e12, roof_ridge(&s->roof, ROOF_BF16));
}

static void say_unknown(struct doc *d, const struct stages *s)
{
	for (int i = 0; i < STAGES; i++) {
		const struct stage_sum *x = &s->row[i].sum;

		if (x->kernels && unit_pct((double)x->known_ns, (double)x->ns) < 95)
			doc_say(d,
			        "(of %s %.1f %% of the time is of kernels with shapes or counters, and under the"
			        " roof)\n",
			        stage_name((enum stage)i), unit_pct((double)x->known_ns, (double)x->ns));
	}
	doc_say(d, "\n");
}

/* --- JSON ----------------------------------------------------------------------------------------------------------- */

static void stages_doc_members(struct doc *d, const struct stage_sum *x)
{
	doc_count(d, "kernels", x->kernels);
	doc_ns(d, "us", 1, x->ns);
	doc_real(d, "known_pct", 1, unit_pct((double)x->known_ns, (double)x->ns));
	doc_real(d, "gflop", 2, x->flops / 1e9);
	doc_real(d, "gbytes", 2, x->bytes / 1e9);
	doc_real(d, "ai", 2, intensity(x));
	doc_real(d, "tflops", 2, per_second(x->flops, x) / 1e12);
	doc_real(d, "gbps", 0, per_second(x->bytes, x) / 1e9);
	doc_real(d, "roof_us", 1, x->known ? x->roof * 1e6 : NAN);
	doc_real(d, "of_roof_pct", 1, of_roof(x));
	doc_text(d, "class", roof_class_name(stage_class(x)));
	doc_open(d, "classes_us", '{');
	for (int i = 0; i < ROOF_CLASSES; i++)
		doc_ns(d, roof_class_name((enum roof_class)i), 1, x->class_ns[i]);
	doc_close(d, '}');
}

static void family(struct doc *d, const void *of, size_t i)
{
	const struct stage_family *f = (const struct stage_family *)of + i;

	doc_text(d, "family", f->name);
	stages_doc_members(d, &f->sum);
}

static void stages_doc_whole(struct doc *d, const struct stages *s, enum stage is)
{
	const struct stage_row *r = &s->row[is];

	doc_text(d, "stage", stage_name(is));
	doc_count(d, "passes", r->passes);
	doc_count(d, "launches", r->launches);
	doc_count(d, "annotated", r->named);
	doc_count(d, "batch", r->batch);
	doc_count(d, "queries_min", r->q_min);
	doc_count(d, "queries_max", r->q_max);
	doc_count(d, "keys_max", r->kv_max);
	doc_ns(d, "copy_us", 1, r->copy_ns);
	doc_ns(d, "span_us", 1, r->span_ns);
	doc_real(d, "share_pct", 1, share(s, &r->sum));
	stages_doc_members(d, &r->sum);
	doc_table(d, "families", NULL, r->n_families, family, r->families);
}

/* Those that occur. */
static void stage(struct doc *d, const void *of, size_t i)
{
	const struct stages *s = of;

	if (!d->heads && !s->row[i].launches)
		return;
	if (d->format == OUT_JSON)
		stages_doc_whole(d, s, (enum stage)i);
	else
		brief(d, s, (enum stage)i);
}

void stages_doc(struct doc *d, const struct trace *t, const struct stages *s, uint64_t families)
{
	doc_open(d, NULL, '{');
	doc_text(d, "range", t->range);
	doc_text(d, "config", s->roof.name);
	doc_ns(d, "kernel_us", 3, s->ns);
	doc_ns(d, "copy_us", 3, s->copy_ns);
	say_head(d, t, s);
	doc_table(d, "stages", NULL, STAGES, stage, s);
	say_unknown(d, s);
	brief_families(d, s, families);
	doc_close(d, '}');
}
