#include "sim/report/review_doc.h"

#include <inttypes.h>
#include <math.h>

#include "sim/ui/units.h"

#define WIDTH      110
#define NAME_SHOWN 48

static const char *verdict_name(enum review_verdict v)
{
	static const char *const names[] = { "holds", "differs", "contradicted", "text" };

	return names[v];
}

static const char *class_name(enum roof_class c)
{
	return c == ROOF_MEMORY ? "memory" : c == ROOF_COMPUTE ? "compute" : "balanced";
}

/* --- tables ------------------------------------------------------------------------------------------------ */

static void top(struct doc *d, const void *of, size_t i)
{
	const struct review *s = of;
	const struct classify_kernel *k = &s->families.kernels[i];
	const bool json = d->format == OUT_JSON;

	doc_count(d, "rank", i + 1);
	if (json)
		doc_text(d, "name", k->name);
	doc_text(d, "friendly", k->friendly);
	if (!json)
		doc_text(d, "library", k->library);
	doc_text(d, "family", k->family);
	doc_count(d, "count", k->count);
	if (!json)
		doc_real(d, "mean_us", 3, unit_us((int64_t)k->total_ns) / (double)k->count);
	doc_real(d, "share_pct", 2,
	         json ? review_share(s, i) : unit_pct((double)k->total_ns, (double)s->families.kernel_ns));
	doc_real(d, "printed", 1, s->top[i]);
}

static void mean(struct doc *d, const void *of, size_t i)
{
	static const enum roof_class order[2][3] = { { ROOF_COMPUTE, ROOF_MEMORY, ROOF_BALANCED }, { 0, 1, 2 } };
	const struct review_mean *m = (const struct review_mean *)of + i;
	const bool json = d->format == OUT_JSON;

	doc_text(d, "metric", counter_name(m->metric));
	for (int k = 0; k < 3; k++) {
		const enum roof_class c = order[json][k];

		doc_real(d, class_name(c), 2, m->got[c]);
		if (!json)
			doc_real(d, "printed", 2, m->printed[c]);
	}
	doc_real(d, "all", 2, m->all_got);
	if (!json)
		doc_real(d, "printed", 2, m->all_printed);
}

static void longest(struct doc *d, const void *of, size_t i)
{
	const struct review *s = of;
	const struct review_kernel *k = d->heads ? NULL : &s->kernels[s->longest[i]];
	const bool there = i < s->n_longest;

	doc_count(d, "kernel", k->number);
	doc_real(d, "duration_us", 2, k->v[COUNTER_DURATION_US]);
	if (d->format == OUT_JSON) {
		doc_text(d, "class", class_name(k->said));
		doc_text(d, "class_by_rule", class_name(k->rule));
		doc_real(d, "intensity", 1, k->intensity);
		doc_count(d, "profile_row", k->row);
		doc_text(d, "name", k->name);
		return;
	}
	doc_real_if(d, "printed", 2, there, s->longest_printed[i].us);
	doc_text(d, "class", class_name(k->said));
	doc_text(d, "printed", there ? class_name(s->longest_printed[i].class) : "-");
	doc_text(d, "by its rule", class_name(k->rule));
	doc_real(d, "memory_pct", 2, k->v[COUNTER_MEM_PCT]);
	doc_real(d, "sm_pct", 2, k->v[COUNTER_SM_PCT]);
	doc_real(d, "intensity", 1, k->intensity);
	doc_count_if(d, "profile row", k->row, k->row);
	doc_real_if(d, "longest there", 2, k->row, unit_us(s->trace.stats[k->row - 1].max_ns));
	doc_name(d, "name", NAME_SHOWN + 3, k->name);
}

static void claim(struct doc *d, const void *of, size_t i)
{
	const struct review_claim *c = (const struct review_claim *)of + i;
	const bool json = d->format == OUT_JSON;

	if (!json) {
		doc_count(d, "claim", i + 1);
		doc_text(d, "verdict", verdict_name(c->verdict));
	}
	doc_text(d, "at", c->at);
	doc_text(d, "says", c->says);
	if (json)
		doc_text(d, "verdict", verdict_name(c->verdict));
	doc_text(d, "printed", json && !*c->printed ? NULL : c->printed);
	doc_real(d, "is", 6, c->got);
	doc_text(d, "by", json && !*c->is ? NULL : c->is);
	doc_text(d, "why", c->why);
}

/* --- claims ------------------------------------------------------------------------------------------------ */

static void write_claim(const struct review_claim *c, size_t number, struct str *out)
{
	struct str line = STR_INIT;

	str_addf(&line, "%s: %s", c->at, c->says);
	str_addf(out, "%2zu  %-12s  ", number, verdict_name(c->verdict));
	out_wrap(str_c(&line), 18, 18, WIDTH, out);
	str_clear(&line);
	if (c->verdict == REVIEW_DIFFERS)
		str_addf(&line, "printed %s, the tables give %.6g (%s). ", c->printed, c->got, c->is);
	str_add(&line, c->why);
	if (c->verdict != REVIEW_HOLDS) {
		str_add(out, "                    ");
		out_wrap(str_c(&line), 20, 20, WIDTH, out);
	}
	out->failed |= line.failed;
	str_free(&line);
}

static void write_claims(const struct review *s, bool all, struct str *out)
{
	size_t n[4] = { 0 };

	for (size_t i = 0; i < s->n_claims; i++)
		n[s->claims[i].verdict]++;
	str_addf(
		out,
		"claims: %zu of %zu hold; %zu differ from the tables, %zu are contradicted by them, %zu by their own text%s\n",
		n[REVIEW_HOLDS], s->n_claims, n[REVIEW_DIFFERS], n[REVIEW_CONTRADICTED], n[REVIEW_TEXT],
		all ? "" : " (--all lists those that hold too)");
	for (size_t i = 0; i < s->n_claims; i++)
		if (all || s->claims[i].verdict != REVIEW_HOLDS)
			write_claim(&s->claims[i], i + 1, out);
}

static void head(struct doc *d, const struct review *s)
{
	size_t printed = 0;
	double covered = 0;

	for (size_t i = 0; i < s->n_top; i++) {
		covered += review_share(s, i);
		printed += fabs(review_share(s, i) - s->top[i]) <= 0.05;
	}
	doc_text(d, "title", s->title);
	doc_ns(d, "total_us", 3, s->families.kernel_ns);
	doc_count(d, "kernel_count", s->families.kernel_count);
	doc_count(d, "step_count", s->steps);
	doc_say(d,
	        "%s\n\n%" PRIu64 " kernels of %zu names in %.3f us, %" PRIu64
	        " steps of %.3f us; the %zu names below are %.2f"
	        " %% of the time, and %zu of their shares are as printed\n\n",
	        s->title, s->families.kernel_count, s->families.n_kernels, unit_us((int64_t)s->families.kernel_ns),
	        s->steps, unit_us((int64_t)s->families.kernel_ns) / (double)s->steps, s->n_top, covered, printed);
}

void review_doc(struct doc *d, const struct review *s, bool all)
{
	const bool people = d->format == OUT_TABLE;
	size_t moved = 0;

	for (size_t i = 0; i < s->n_kernels; i++)
		moved += s->kernels[i].rule != s->kernels[i].said;
	if (d->format == OUT_CSV) { /* the claims alone */
		doc_table(d, "claims", NULL, s->n_claims, claim, s->claims);
		return;
	}
	doc_open(d, NULL, '{');
	head(d, s);
	doc_table(d, "top", "kernels by time, and the shares that the report prints", s->n_top, top, s);
	doc_say(d, "\n");
	if (people)
		doc_table(d, NULL, "means over the kernels of a class, as the report classes them", s->n_means, mean,
		          s->means);
	doc_say(d, "\n");
	doc_table(
		d, "kernels",
		"profiled kernels by time; class: in its means, in its list of the longest, and by the rule it states",
		s->n_kernels, longest, s);
	doc_say(d,
	        "(ridge of %s for bf16: %.1f FLOP/byte; the rule puts %zu of %zu elsewhere than the report does)\n\n",
	        s->roof.name, roof_ridge(&s->roof, ROOF_BF16), moved, s->n_kernels);
	if (people) {
		write_claims(s, all, d->to);
		return;
	}
	doc_table(d, "means", NULL, s->n_means, mean, s->means);
	doc_table(d, "claims", NULL, s->n_claims, claim, s->claims);
	doc_close(d, '}');
}
