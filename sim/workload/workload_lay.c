/* workload_lay.c - a trace whose kernels have no operators, laid over a model (sim/align/align.h). */
#include <inttypes.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/workload/workload_int.h"

#define LAY_WANTED 50 /* thousandths of its time that must lack operators for that */

static double pct(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void fits_text(const struct align_fit *fits, uint32_t n, struct str *s)
{
	for (uint32_t i = 0; i < n; i++)
		str_addf(s, "%s%s (%.1f %%)", i ? ", " : "", fits[i].model, (double)fits[i].share / 10);
}

static int workload_lay_refuse(const struct source *from, const struct align_report *r, const struct trace *t,
                               struct rules *rules, const char *model, struct err *e)
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
		align_misses_text(r, 2, ", ", &s);
	}
	if (align_propose(from, t, rules, fits, &n, &none) == 0 && n) {
		str_add(&s, "; what fits: ");
		fits_text(fits, n, &s);
	}
	err_set(e, ERR_IO, "%s", str_c(&s));
	str_free(&s);
	return -1;
}

/* The operators go to a copy of the launches, so that other models can be tried if this one does not fit. */
static int lay(const struct source *from, struct workload *w, const struct model *m, const struct align_how *how,
               struct err *e)
{
	struct workload_laid *x = &w->laid;
	struct trace *t = &w->in.trace, mine = *t;
	struct arena *a = w->in.arena;

	if (!(mine.launches = arena_array(a, mine.n_launches, sizeof *mine.launches)))
		return err_nomem(e, "for an alignment");
	if (mine.n_launches)
		memcpy(mine.launches, t->launches, mine.n_launches * sizeof *mine.launches);
	if (align_trace(&mine, m, how, w->in.rules, a, &x->report, e) < 0)
		return -1;
	if (!align_enough(&x->report))
		return workload_lay_refuse(from, &x->report, t, w->in.rules, m->name, e);
	if (!(x->report.model = arena_strdup(a, m->name)))
		return err_nomem(e, "for an alignment");
	x->done = true;
	t->launches = mine.launches;
	return 0;
}

/* A length that nothing tells is looked for by attention's time. */
static int lay_by_time(struct workload *w, const struct model *m, struct align_how *how,
                       const struct workload_reader *by, struct err *e)
{
	struct align_report *r = &w->laid.report;
	uint64_t low, high;
	struct err first = ERR_INIT;

	if (lay(by->source, w, m, how, &first) == 0)
		return 0;
	if (!r->keys_open || !by->by_time ||
	    !(how->context = by->by_time(by->source, &w->in.trace, m, how, w->in.rules, &low, &high))) {
		*e = first;
		return -1;
	}
	how->timed = true;
	if (lay(by->source, w, m, how, e) < 0)
		return -1;
	if (r->keys_known == ALIGN_BY_TIME) {
		r->keys_low = low;
		r->keys_high = high;
	}
	return 0;
}

int workload_lay(struct workload *w, const struct workload_reader *by, struct err *e)
{
	struct align_how how = { .batch = w->spec.batch, .context = w->spec.context };
	const struct trace *t = &w->in.trace;
	struct model *m;
	int rc;

	if (align_wanted(t) < LAY_WANTED)
		return err_set(e, ERR_USAGE,
		               "the kernels of '%s' have operators with their sizes: '-m' beside '-t' is for those that"
		               " have none",
		               t->path);
	if (!(m = model_load_from(by->source, w->spec.model, e)))
		return -1;
	if ((rc = lay_by_time(w, m, &how, by, e)) < 0)
		err_add(e, "laying '%s' over a model", t->path);
	model_free(m);
	return rc;
}

/* Stored, it is another workload than the kernels alone. */
int workload_lay_name(struct workload *w, struct err *e)
{
	const struct align_report *r = &w->laid.report;
	struct trace *t = &w->in.trace;
	uint64_t h = hash_str(hash_str(HASH_INIT, t->digest), r->model);
	char hex[17];

	hash_hex(hash_mix(hash_u64(hash_u64(h, r->batch), r->keys)), hex);
	t->range =
		arena_printf(w->in.arena, "%s%slaid over %s (batch %llu, %llu keys)", t->range ? t->range : "",
	                     t->range ? " " : "", r->model, (unsigned long long)r->batch, (unsigned long long)r->keys);
	t->digest = w->own.digest = arena_strdup(w->in.arena, hex);
	return t->range && t->digest ? 0 : err_nomem(e, "for an alignment");
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
void workload_lay_hint(const struct source *from, const struct workload *w, struct str *s)
{
	const struct trace *t = &w->in.trace;
	struct rules *rules = w->in.rules;
	struct align_fit fits[ALIGN_FITS];
	struct err none = ERR_INIT;
	uint32_t n = 0;

	if (w->source != WORKLOAD_TRACE || align_wanted(t) < LAY_WANTED || !has_products(t, rules))
		return;
	if (align_propose(from, t, rules, fits, &n, &none) < 0 || !n) {
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
