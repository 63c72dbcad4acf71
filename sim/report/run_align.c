/* run_align.c - of a trace that was laid over a model: what is said of that. */
#include <inttypes.h>

#include "sim/report/run.h"

static double pct(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

void run_align_text(const struct run_report *r, struct str *s)
{
	const struct align_report *x;

	if (!r->laid || !r->laid->done)
		return;
	x = &r->laid->report;
	str_addf(s, "%" PRIu64 " of %" PRIu64 " launches (%.1f %% of their time) stand in %s: ", x->aligned,
	         x->launches, pct(x->aligned_ns, x->ns), x->model);
	align_number_text(x, s);
	str_addf(s, "; %s", x->form);
	if (x->n_miss) {
		str_add(s, "; did not fit: ");
		align_misses_text(x, 1, "", s);
		if (x->n_missed > 1)
			str_addf(s, " and %" PRIu64 " kinds more", x->n_missed - 1);
	}
}

/* Which op each launch came to. */
static void kernels_of(struct doc *d, const struct op_stream *s, const struct op *o)
{
	for (uint32_t n = 0; n < o->n_launches; n++) {
		const struct op_launch *l = &s->launches[o->first_launch + n];

		doc_open(d, NULL, '{');
		doc_int(d, "launch", l->trace_id);
		doc_text(d, "kernel", l->name);
		doc_count(d, "op", o->id);
		doc_text(d, "name", o->name);
		doc_close(d, '}');
	}
}

static void miss_row(struct doc *d, const void *of, size_t i)
{
	const struct align_report *x = of;

	doc_text(d, "kernel", x->miss[i].name);
	doc_count(d, "count", x->miss[i].count);
	doc_ns(d, "us", 3, x->miss[i].ns);
	doc_text(d, "why", x->miss[i].why);
}

void run_align_doc(struct doc *d, const struct run_report *r)
{
	static const char *const known[] = {
		[ALIGN_TOLD] = "told", [ALIGN_BY_GRID] = "grids", [ALIGN_BY_TIME] = "time"
	};
	const struct align_report *x;

	if (!r->laid || !r->laid->done)
		return;
	x = &r->laid->report;
	doc_open(d, "alignment", '{');
	doc_text(d, "model", x->model);
	doc_count(d, "launches", x->launches);
	doc_count(d, "aligned", x->aligned);
	doc_real(d, "aligned_time_pct", 1, pct(x->aligned_ns, x->ns));
	doc_real(d, "places_pct", 1, pct(x->products, x->products + x->empty_places));
	doc_real(d, "tiles_pct", 1, (double)x->tiles / 10);
	doc_count(d, "steps", x->steps);
	doc_count(d, "batch", x->batch);
	doc_text(d, "batch_by", known[x->batch_known]);
	doc_count(d, "keys", x->keys);
	doc_count(d, "keys_low", x->keys_low);
	doc_count(d, "keys_high", x->keys_high);
	doc_text(d, "keys_by", known[x->keys_known]);
	doc_text(d, "form", x->form);
	doc_table(d, "did_not_fit", NULL, x->n_miss, miss_row, x);
	doc_open(d, "kernels", '[');
	for (size_t i = 0; i < r->stream->n_ops; i++)
		kernels_of(d, r->stream, &r->stream->ops[i]);
	doc_close(d, ']');
	doc_close(d, '}');
}
