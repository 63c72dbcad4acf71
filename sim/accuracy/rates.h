/* rates.h - published rates of decoding, or times of a prompt, against simulated ones: what a row of the table means, and what
 * comes of it.
 *
 * The map (configs/cases/rates.yaml) says in YAML which machine, model, scheme, style and context a row of the table is of:
 *   rates: 1
 *   columns: {gpu: NAME, model: NAME, format: NAME, engine: NAME, context: NAME, rate: NAME}    of the table; a list of names:
 *                                         their cells with a blank between; prompt_ms: the time of a prompt
 *   where: {COLUMN: TEXT}                 rows that are otherwise are not looked at
 *   gpus: [{is: RE, config: FILE, set: [KEY=VALUE, ...]}]      models: [{is: RE, model: NAME}]
 *   formats: [{is: RE, quant: SCHEME}]    engines: [{is: RE, name: TEXT, style: STYLE, launches: graph|host, gap: none}]
 *   contexts: [{is: RE, tokens: N, prompt: N}]    without them the first group of RE is the number
 * The first entry whose RE is found in the cell counts; one with `why: TEXT` instead says that such rows are not supported.
 * A model that no entry fits is a shipped one where the cell is its name, but for capitals, blanks, a publisher before it and what
 * it was tuned for behind it. A row that nothing of a list fits is not supported either.
 *
 * The simulated time of a step is its launches' as one graph, or as the configuration's host makes them one by one. An
 * engine has one number: a gap between its launches, at least 0, the median over half of its rows, which a hash picks; the
 * error is that of the others. With `gap: none` it has no number, and all of its rows count. Beside it stands what bytes over the bandwidth say, with one factor found on the same half.
 * Leaves out: what an engine does between tokens (sampling, its host), batches. */
#ifndef NPUSIM_SIM_ACCURACY_RATES_H
#define NPUSIM_SIM_ACCURACY_RATES_H

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/yaml.h"

#define RATES_ENGINES 32

struct rates_row {
	const char *gpu, *model, *format, *engine, *context; /* as the table says */
	uint64_t line;
	double measured_us;
	const char *why; /* not supported: the reason */
	const struct ynode *on, *of, *in, *by,
		*at;           /* entries of the map's lists: gpus, models, formats, engines, contexts */
	const char *described; /* the model by our name */
	uint64_t tokens;
	bool fitted;                   /* the gap of its engine was found on it */
	double simulated_us, bytes_us; /* without gap; bytes over bandwidth without factor */
	uint64_t launches;
	double predicted_us, baseline_us; /* with them */
};

struct rates_engine {
	const char *name;
	bool no_gap;
	size_t rows, fitted, tried; /* of those that are supported */
	double gap_us, factor;
	double median, p90, baseline_median, baseline_p90; /* absolute errors of the tried, percent */
};

struct rates {
	struct arena *a;
	struct yaml *map;
	struct rates_row *rows;
	size_t n, cap, skipped, unsupported; /* skipped: by `where` */
	bool prefill;                        /* times of prompts, instead of rates of decoding */
	struct rates_engine engines[RATES_ENGINES];
	size_t n_engines;
	struct rates_engine all;
};

/* rates_map.c: reads the map and the table; every row that counts has its entries or its reason. */
int rates_read(struct rates *r, const char *table, const char *map, bool prefill, struct err *e);
void rates_free(struct rates *r);
const char *rates_text(const struct ynode *entry, const char *key); /* NULL: not there */
/* Was the gap of its engine found on the row? Else its error counts. */
bool rates_gap_found_on(const struct rates_row *row);
/* Percent that a time is off what was published: a rate, or a time. */
double rates_error(const struct rates *r, const struct rates_row *row, double us);
/* rates_run.c: simulates each row, once where several are alike, and finds gaps and errors. */
int rates_run(struct rates *r, void (*progress)(void *arg, size_t done, size_t of), void *arg, struct err *e);

#endif
