/* run_align.c - npusim run -t T -m MODEL: kernels without operators laid over a model, and what is said of that. */
#include <inttypes.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/cmd/run.h"

#define NAME_SHOWN 60

static double pct(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void number(const struct align_report *r, struct str *s)
{
	str_addf(s, "%" PRIu64 " sequence%s%s, %" PRIu64 " keys%s", r->batch, r->batch == 1 ? "" : "s",
	         r->batch_known == ALIGN_TOLD ? "" : " by their grids", r->keys,
	         r->keys_known == ALIGN_TOLD      ? " as told"
	         : r->keys_known == ALIGN_BY_TIME ? " by attention's time"
	                                          : " by their grids");
	if (r->keys_low < r->keys_high)
		str_addf(s, " (%" PRIu64 " to %" PRIu64 ")", r->keys_low, r->keys_high);
}

/* What did not fit, the longest first. */
static void misses(const struct align_report *r, uint32_t most, const char *between, struct str *s)
{
	bool said[ALIGN_MISSES] = { false };

	for (uint32_t n = 0; n < r->n_miss && n < most; n++) {
		uint32_t at = 0;

		while (said[at])
			at++;
		for (uint32_t i = at; i < r->n_miss; i++)
			if (!said[i] && r->miss[i].ns > r->miss[at].ns)
				at = i;
		said[at] = true;
		str_addf(s, "%s%" PRIu64 " x '%.*s%s' (%.1f us: %s)", n ? between : "", r->miss[at].count, NAME_SHOWN,
		         r->miss[at].name, strlen(r->miss[at].name) > NAME_SHOWN ? "..." : "",
		         (double)r->miss[at].ns / 1e3, r->miss[at].why);
	}
}

static void fits_text(const struct align_fit *fits, uint32_t n, struct str *s)
{
	for (uint32_t i = 0; i < n; i++)
		str_addf(s, "%s%s (%.1f %%)", i ? ", " : "", fits[i].model, (double)fits[i].share / 10);
}

static int refuse(const struct align_report *r, const struct trace *t, struct rules *rules, const char *model,
                  struct err *e)
{
	struct str s = STR_INIT;
	struct align_fit fits[ALIGN_FITS];
	struct err none = ERR_INIT;
	uint32_t n = 0;

	str_addf(
		&s,
		"'%s' is not what ran: %.1f %% of the kernels, %.1f %% of their time and %.1f %% of its steps' products"
		" align (%d %% must)",
		model, pct(r->aligned, r->launches), pct(r->aligned_ns, r->ns),
		pct(r->products, r->products + r->empty_places), ALIGN_LEAST_PCT);
	if (r->tiles < 10 * ALIGN_TILES_PCT)
		str_addf(&s, "; only %.0f %% of the products' tiles make up their grid", (double)r->tiles / 10);
	if (r->logits_differ && !r->logits_agree)
		str_add(&s, "; its vocabulary is of another size");
	if (r->n_miss) {
		str_add(&s, "; what did not fit: ");
		misses(r, 2, ", ", &s);
	}
	if (align_propose(t, rules, fits, &n, &none) == 0 && n) {
		str_add(&s, "; what fits: ");
		fits_text(fits, n, &s);
	}
	err_set(e, ERR_IO, "%s", str_c(&s));
	str_free(&s);
	return -1;
}

/* The operators go to a copy of the launches, so that other models can be tried if this one does not fit. */
static int lay(struct run_aligned *x, const struct model *m, const struct align_how *how, struct cmd_trace *t,
               struct rules *rules, struct err *e)
{
	struct trace mine = t->trace;

	if (!(mine.launches = arena_array(t->arena, mine.n_launches, sizeof *mine.launches)))
		return err_nomem(e, "for an alignment");
	if (mine.n_launches)
		memcpy(mine.launches, t->trace.launches, mine.n_launches * sizeof *mine.launches);
	if (align_trace(&mine, m, how, rules, t->arena, &x->report, e) < 0)
		return -1;
	if (!align_enough(&x->report))
		return refuse(&x->report, &t->trace, rules, m->name, e);
	if (!(x->report.model = arena_strdup(t->arena, m->name)))
		return err_nomem(e, "for an alignment");
	x->done = true;
	t->trace.launches = mine.launches;
	return 0;
}

/* A length that nothing tells is looked for by attention's time. */
static int lay_somehow(struct run_aligned *x, const struct model *m, struct align_how *how, struct cmd_trace *t,
                       struct rules *rules, struct err *e)
{
	struct err first = ERR_INIT;
	uint64_t low, high;

	if (lay(x, m, how, t, rules, &first) == 0)
		return 0;
	if (!x->report.keys_open || !(how->context = run_align_context(&t->trace, m, how, rules, &low, &high))) {
		*e = first;
		return -1;
	}
	how->timed = true;
	if (lay(x, m, how, t, rules, e) < 0)
		return -1;
	if (x->report.keys_known == ALIGN_BY_TIME) {
		x->report.keys_low = low;
		x->report.keys_high = high;
	}
	return 0;
}

int run_align(struct run_aligned *x, const struct workload_opts *o, struct cmd_trace *t, struct rules *rules,
              struct err *e)
{
	struct align_how how = { .batch = o->batch, .context = o->context };
	struct model *m;
	int rc;

	if (align_wanted(&t->trace) < ALIGN_WANTED)
		return err_set(e, ERR_USAGE,
		               "the kernels of '%s' have operators with their sizes: '-m' beside '-t' is for those that"
		               " have none",
		               t->trace.path);
	if (!(m = model_load(o->model, e)))
		return -1;
	if ((rc = lay_somehow(x, m, &how, t, rules, e)) < 0)
		err_add(e, "laying '%s' over a model", t->trace.path);
	model_free(m);
	return rc;
}

/* Stored, it is another workload than the kernels alone. */
int run_align_name(const struct run_aligned *x, struct op_stream *s, struct trace *t, struct arena *a, struct err *e)
{
	uint64_t h = hash_str(HASH_INIT, t->digest);
	char hex[17];

	if (!x->done)
		return 0;
	h = hash_str(h, x->report.model);
	h = hash_u64(hash_u64(h, x->report.batch), x->report.keys);
	hash_hex(hash_mix(h), hex);
	t->range = arena_printf(a, "%s%slaid over %s (batch %" PRIu64 ", %" PRIu64 " keys)", t->range ? t->range : "",
	                        t->range ? " " : "", x->report.model, x->report.batch, x->report.keys);
	t->digest = s->digest = arena_strdup(a, hex);
	return t->range && t->digest ? 0 : err_nomem(e, "for an alignment");
}

void run_align_text(const struct run_report *r, struct str *s)
{
	const struct align_report *x;

	if (!r->aligned || !r->aligned->done)
		return;
	x = &r->aligned->report;
	str_addf(s, "%" PRIu64 " of %" PRIu64 " launches (%.1f %% of their time) stand in %s: ", x->aligned,
	         x->launches, pct(x->aligned_ns, x->ns), x->model);
	number(x, s);
	str_addf(s, "; %s", x->form);
	if (x->n_miss) {
		str_add(s, "; did not fit: ");
		misses(x, 1, "", s);
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

	if (!r->aligned || !r->aligned->done)
		return;
	x = &r->aligned->report;
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

static bool has_products(const struct trace *t, struct rules *rules)
{
	for (size_t i = 0; i < t->n_launches; i++) {
		const struct rule *u = t->launches[i].op ? NULL : rules_match(rules, &t->launches[i]);

		if (u && u->kind == OP_GEMM)
			return true;
	}
	return false;
}

/* What to do with a trace whose products have no operators; nothing where they have. */
void run_align_hint(const struct trace *t, struct rules *rules, struct str *s)
{
	struct align_fit fits[ALIGN_FITS];
	struct err none = ERR_INIT;
	uint32_t n = 0;

	if (align_wanted(t) < ALIGN_WANTED || !has_products(t, rules))
		return;
	if (align_propose(t, rules, fits, &n, &none) < 0 || !n) {
		str_add(s,
		        "; its kernels have no operators: '-m MODEL' lays them over the model that ran, and none that"
		        " comes with npusim fits");
		return;
	}
	str_addf(s, "; its kernels have no operators, and fit '-m %s'", fits[0].model);
	if (fits[0].keys)
		str_addf(s, " (%" PRIu64 " sequence%s, %" PRIu64 " keys)", fits[0].batch, fits[0].batch == 1 ? "" : "s",
		         fits[0].keys);
	else
		str_addf(s, " with '--context' (%" PRIu64 " sequence%s; no grid tells the cache's length)",
		         fits[0].batch, fits[0].batch == 1 ? "" : "s");
	for (uint32_t i = 1; i < n && fits[i].share == fits[0].share; i++)
		str_addf(s, "%s%s", i > 1 ? ", " : "; as well: ", fits[i].model);
}
