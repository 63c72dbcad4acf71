/* run_energy.c - what a run takes, for people: a line of the first page, and the table by block of --all. One for all
 * machines: each names its rows. */
#include <inttypes.h>
#include <string.h>

#include "sim/report/run.h"
#include "sim/report/run_verdict.h"

#define SHOWN_OF 20 /* a part of a block is named from one of so many of it on */

/* --- a line ------------------------------------------------------------------------------------------------------ */

/* Millionths, in three digits and the unit that suits them. */
static void scaled(struct str *s, double x, const char *unit)
{
	if (x < 999.5)
		str_addf(s, "%.3g u%s", x, unit);
	else if (x < 999.5e3)
		str_addf(s, "%.3g m%s", x / 1e3, unit);
	else
		str_addf(s, x < 999.5e6 ? "%.3g %s" : "%.0f %s", x / 1e6, unit);
}

void run_joules_text(struct str *s, double uj)
{
	scaled(s, uj, "J");
}

void run_time_text(struct str *s, double us)
{
	scaled(s, us, "s");
}

/* Nobody says what energy goes into what is carried, so no token's is known. */
static uint64_t tokens_with_energy(const struct run_report *r)
{
	return r->result->carried_ps ? 0 : run_tokens(r);
}

static void each_token(const struct run_report *r, uint64_t fj, struct str *s)
{
	const uint64_t tokens = tokens_with_energy(r);

	run_joules_text(s, (double)fj / 1e9 / (double)(tokens ? tokens : 1));
	str_add(s, tokens ? " a token" : "");
}

void run_energy_line(const struct run_report *r, struct str *s)
{
	const struct run_result *x = r->result;
	const uint64_t tokens = tokens_with_energy(r);

	if (!x->energy || !x->energy_fj || !x->total_ps)
		return;
	each_token(r, x->energy_fj, s);
	if (tokens)
		str_addf(s, ", %.3g tokens a joule", (double)tokens * 1e15 / (double)x->energy_fj);
	str_addf(s, "; %.3g W in the mean, at %.0f MHz", (double)x->energy_fj / (double)x->total_ps / 1e3,
	         (double)x->clock_khz / 1e3);
	if (x->clock_khz < r->conf->cfg.clock)
		str_addf(s, " of %.0f", (double)r->conf->cfg.clock / 1e3);
	if (x->carried_ps)
		str_add(s, ", without what is carried");
	if (x->energy_period_fj) {
		str_add(s, "; until power.latency_target ");
		each_token(r, x->energy_period_fj, s);
	}
	if (x->energy_eager_fj) {
		str_add(s, "; launched one by one ");
		each_token(r, x->energy_eager_fj, s);
	}
}

/* --- by block ---------------------------------------------------------------------------------------------------- */

struct block {
	const struct run_result *x;
	const char *what, *note;
	uint64_t fj;
};

static void block_row(struct doc *d, const void *of, size_t i)
{
	const struct block *b = of;
	const double uj = (double)b->fj / 1e9, us = unit_ps_us(b->x->total_ps);

	(void)i;
	doc_text(d, "energy", b->what);
	doc_real(d, "uJ", 1, uj);
	doc_real(d, "W", 1, us > 0 ? uj / us : 0);
	doc_real(d, "share_pct", 1, unit_pct(uj, (double)b->x->energy_fj / 1e9));
	doc_text(d, "note", b->note);
}

/* "dram_read 95 %, standby 3 %, ...": its parts, the largest first. */
static void parts(const struct run_result *x, const char *block, uint64_t all, struct str *to)
{
	uint64_t told = 0; /* a bit a row */

	str_clear(to);
	for (;;) {
		const struct run_energy *best = NULL;

		for (size_t i = 0; i < x->n_energy && i < 64; i++)
			if (strcmp(x->energy[i].row->block, block) == 0 && !(told >> i & 1) &&
			    (!best || x->energy[i].fj > best->fj))
				best = &x->energy[i];
		if (!best || best->fj < all / SHOWN_OF || !best->fj)
			return;
		told |= UINT64_C(1) << (best - x->energy);
		str_addf(to, "%s%s %.0f %%", to->len ? ", " : "", best->row->name,
		         unit_pct((double)best->fj, (double)all));
	}
}

static void blocks(struct doc *d, const struct run_result *x)
{
	struct str note = STR_INIT;

	for (size_t i = 0; i < x->n_energy; i++) {
		struct block b = { .x = x, .what = x->energy[i].row->block };
		bool first = true;

		for (size_t k = 0; k < x->n_energy; k++)
			if (strcmp(x->energy[k].row->block, b.what) == 0) {
				first &= k >= i;
				b.fj = energy_add(b.fj, x->energy[k].fj);
			}
		if (!first || !b.fj)
			continue;
		parts(x, b.what, b.fj, &note);
		b.note = str_c(&note);
		doc_row(d, block_row, &b, 0);
	}
	doc_free(d, &note);
}

void run_energy_doc(struct doc *d, const struct run_report *r)
{
	const struct run_result *x = r->result;
	struct str note = STR_INIT;

	if (!x->energy)
		return;
	doc_table_open(d, NULL, x->map ? "energy by block" : "energy by block, kernels one behind the other");
	blocks(d, x);
	str_addf(&note, "at %.0f MHz%s", (double)x->clock_khz / 1e3,
	         x->clock_khz == r->conf->cfg.clock ? ""
	         : r->conf->cfg.power.mode == NPU_PACE || r->conf->cfg.gpu.power.mode == GPU_PACE
	                 ? ", under the cap and as slow as power.latency_target allows"
	                 : ", which the cap of its power leaves");
	doc_row(d, block_row, &(struct block){ x, "all", str_c(&note), x->energy_fj }, 0);
	doc_table_close(d, NULL, NULL);
	doc_say(d, "\n");
	if (x->wall_eager_ps)
		doc_say(d, "launched one by one the board takes %.1f uJ, %.1f W over the step's wall time\n\n",
		        (double)x->energy_eager_fj / 1e9, (double)x->energy_eager_fj / (double)x->wall_eager_ps / 1e3);
	doc_free(d, &note);
}
