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

void run_align_table(const struct run_report *r, struct str *out)
{
	struct str s = STR_INIT;

	run_align_text(r, &s);
	if (s.len)
		str_addf(out, "aligned    %s\n", str_c(&s));
	out->failed |= s.failed;
	str_free(&s);
}

/* Which op each launch came to. */
static void kernels_json(struct out_json *j, const struct run_report *r)
{
	const struct op_stream *s = r->stream;

	out_json_open(j, "kernels", '[');
	for (size_t i = 0; i < s->n_ops; i++)
		for (uint32_t n = 0; n < s->ops[i].n_launches; n++) {
			const struct op_launch *l = &s->launches[s->ops[i].first_launch + n];

			out_json_open(j, NULL, '{');
			out_json_int(j, "launch", l->trace_id);
			out_json_text(j, "kernel", l->name);
			out_json_u64(j, "op", s->ops[i].id);
			out_json_text(j, "name", s->ops[i].name);
			out_json_close(j, '}');
		}
	out_json_close(j, ']');
}

void run_align_json(struct out_json *j, const struct run_report *r)
{
	static const char *const known[] = {
		[ALIGN_TOLD] = "told", [ALIGN_BY_GRID] = "grids", [ALIGN_BY_TIME] = "time"
	};
	const struct align_report *x;

	if (!r->laid || !r->laid->done)
		return;
	x = &r->laid->report;
	out_json_open(j, "alignment", '{');
	out_json_text(j, "model", x->model);
	out_json_u64(j, "launches", x->launches);
	out_json_u64(j, "aligned", x->aligned);
	out_json_real(j, "aligned_time_pct", pct(x->aligned_ns, x->ns));
	out_json_real(j, "places_pct", pct(x->products, x->products + x->empty_places));
	out_json_real(j, "tiles_pct", (double)x->tiles / 10);
	out_json_u64(j, "steps", x->steps);
	out_json_u64(j, "batch", x->batch);
	out_json_text(j, "batch_by", known[x->batch_known]);
	out_json_u64(j, "keys", x->keys);
	out_json_u64(j, "keys_low", x->keys_low);
	out_json_u64(j, "keys_high", x->keys_high);
	out_json_text(j, "keys_by", known[x->keys_known]);
	out_json_text(j, "form", x->form);
	out_json_open(j, "did_not_fit", '[');
	for (uint32_t i = 0; i < x->n_miss; i++) {
		out_json_open(j, NULL, '{');
		out_json_text(j, "kernel", x->miss[i].name);
		out_json_u64(j, "count", x->miss[i].count);
		out_json_real(j, "us", (double)x->miss[i].ns / 1e3);
		out_json_text(j, "why", x->miss[i].why);
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
	kernels_json(j, r);
	out_json_close(j, '}');
}
