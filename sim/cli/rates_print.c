/* rates_print.c - npusim workload rates: published rates of decoding beside simulated ones. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/cmd.h"
#include "sim/cli/rates.h"
#include "sim/ui/progress.h"

#define COLS(a) ((int)(sizeof(a) / sizeof *(a)))

static const struct out_col row_cols[] = {
	{ "gpu", OUT_TEXT, 0 },       { "model", OUT_TEXT, 0 },     { "format", OUT_TEXT, 0 },
	{ "engine", OUT_TEXT, 0 },    { "context", OUT_INT, 0 },    { "published", OUT_REAL, 1 },
	{ "predicted", OUT_REAL, 1 }, { "error_pct", OUT_REAL, 1 }, { "by_bytes_pct", OUT_REAL, 1 },
	{ "used_for", OUT_TEXT, 0 },
};

/* Of what was published: a rate, or a time. */
static double error_of(const struct rates *all, const struct rates_row *r, double us)
{
	return 100 * (all->prefill ? us / r->measured_us - 1 : r->measured_us / us - 1);
}

static double shown(const struct rates *all, double us)
{
	return all->prefill ? us / 1e3 : 1e6 / us;
}

static void put_row(struct out_table *t, const struct rates *all, const struct rates_row *r)
{
	out_text(t, r->gpu);
	out_text(t, r->model);
	out_text(t, r->format);
	out_text(t, r->engine);
	if (r->why) {
		for (int i = 0; i < 4; i++)
			out_null(t);
		out_null(t);
		out_text(t, r->why);
		return;
	}
	out_int(t, (int64_t)r->tokens);
	out_real(t, shown(all, r->measured_us));
	out_real(t, shown(all, r->predicted_us));
	out_real(t, error_of(all, r, r->predicted_us));
	out_real(t, error_of(all, r, r->baseline_us));
	out_text(t, r->fitted && !rates_text(r->by, "gap") ? "gap" : "error");
}

static void put_engine(struct out_table *t, const char *name, const struct rates_engine *x)
{
	out_text(t, name);
	out_int(t, (int64_t)x->rows);
	out_int(t, (int64_t)x->fitted);
	if (x->name && !x->no_gap)
		out_real(t, x->gap_us);
	else
		out_null(t);
	out_int(t, (int64_t)x->tried);
	if (x->tried) {
		out_real(t, x->median);
		out_real(t, x->p90);
		out_real(t, x->baseline_median);
		out_real(t, x->baseline_p90);
	} else {
		for (int i = 0; i < 4; i++)
			out_null(t);
	}
}

static void engines(const struct rates *r, struct str *out)
{
	static const struct out_col cols[] = {
		{ "engine", OUT_TEXT, 0 },     { "rows", OUT_INT, 0 },
		{ "for the gap", OUT_INT, 0 }, { "gap_us", OUT_REAL, 2 },
		{ "tried", OUT_INT, 0 },       { "median_pct", OUT_REAL, 1 },
		{ "p90_pct", OUT_REAL, 1 },    { "by bytes, median", OUT_REAL, 1 },
		{ "p90", OUT_REAL, 1 },
	};
	struct out_table *t = out_table_new(cols, COLS(cols),
	                                    r->prefill ? "error of the time, on rows that no gap was found on"
	                                               : "error of the rate, on rows that no gap was found on");

	for (size_t i = 0; i < r->n_engines; i++)
		put_engine(t, r->engines[i].name, &r->engines[i]);
	put_engine(t, "all", &r->all);
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
	str_addc(out, '\n');
}

struct ranked {
	double off;
	const struct rates_row *row;
};

static int by_error(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->off != y->off)
		return x->off < y->off ? 1 : -1;
	return (x->row->line > y->row->line) - (x->row->line < y->row->line);
}

static void worst(const struct rates *r, uint64_t n, struct str *out)
{
	struct ranked *v = calloc(r->n ? r->n : 1, sizeof *v);
	struct out_table *t = out_table_new(row_cols, COLS(row_cols), "worst rows");
	size_t used = 0;

	for (size_t i = 0; v && i < r->n; i++)
		if (!r->rows[i].why) {
			const double off = error_of(r, &r->rows[i], r->rows[i].predicted_us);

			v[used++] = (struct ranked){ off < 0 ? -off : off, &r->rows[i] };
		}
	if (v)
		qsort(v, used, sizeof *v, by_error);
	for (size_t i = 0; v && i < used && i < n; i++)
		put_row(t, r, v[i].row);
	out->failed |= !v;
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
	free(v);
	str_addc(out, '\n');
}

static void reasons(const struct rates *r, struct str *out)
{
	static const struct out_col cols[] = { { "rows", OUT_INT, 0 }, { "not supported, because", OUT_TEXT, 0 } };
	struct out_table *t = out_table_new(cols, COLS(cols), NULL);

	for (size_t i = 0; i < r->n; i++) {
		size_t before = 0, same = 0;

		for (size_t k = 0; r->rows[i].why && k < r->n; k++)
			if (r->rows[k].why && strcmp(r->rows[k].why, r->rows[i].why) == 0) {
				before += k < i;
				same++;
			}
		if (!r->rows[i].why || before)
			continue;
		out_int(t, (int64_t)same);
		out_text(t, r->rows[i].why);
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

static void print(const struct rates *r, uint64_t n, enum out_format f, struct str *out)
{
	struct out_table *t;

	if (f != OUT_TABLE) {
		t = out_table_new(row_cols, COLS(row_cols), NULL);
		for (size_t i = 0; i < r->n; i++)
			put_row(t, r, &r->rows[i]);
		out_table_write(t, f, out);
		out_table_free(t);
		return;
	}
	str_addf(out, "%zu rows, %zu of them not supported (%.1f %%); %zu others are not looked at\n\n", r->n,
	         r->unsupported, unit_pct((double)r->unsupported, (double)r->n), r->skipped);
	engines(r, out);
	worst(r, n, out);
	if (r->unsupported)
		reasons(r, out);
}

struct watch {
	struct progress *line;
	bool tried;
};

static void on_row(void *arg, size_t done, size_t of)
{
	struct watch *w = arg;

	if (!w->tried)
		w->line = progress_new("rates", "rows", of);
	w->tried = true;
	progress_set(w->line, done);
}

static int prompts(const char *phase, bool *out, struct err *e)
{
	*out = phase && strcmp(phase, "prefill") == 0;
	if (phase && !*out && strcmp(phase, "decode") != 0)
		return err_set(e, ERR_USAGE, "unknown phase '%s': rates are of decode or prefill", phase);
	return 0;
}

int cmd_workload_rates(int argc, char **argv, struct str *out, struct err *e)
{
	const char *map = NULL, *format = NULL, *phase = NULL;
	uint64_t n = 10;
	const struct opt opts[] = {
		{ 0, "map", OPT_READ, &map, "MAP.yaml",
		  "what the table's words mean; the one that comes with npusim is configs/cases/rates.yaml" },
		{ 0, "phase", OPT_TEXT, &phase, "decode|prefill",
		  "decode (default): tokens a second; prefill: milliseconds of a prompt, the map's column 'prompt_ms'" },
		{ 'n', "worst", OPT_U64, &n, "N", "list the N worst rows; 10 by default (csv and json have all rows)" },
		{ 0, "format", OPT_TEXT, &format, "table|csv|json", CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim workload rates TABLE.csv [--map MAP.yaml] [--phase decode|prefill] [-n N]",
		"Tokens a second that others published against those simulated from the models' descriptions, row by row: error by"
		" engine, the worst rows, and what is not supported. An engine has one number, the gap between its launches: the"
		" median over half of its rows, which a hash picks. Errors are of the other half, beside those of bytes over"
		" bandwidth with one factor found in the same way. An engine whose machine has a command's cost of its own has no gap.",
		"npusim workload rates ../shared/data/public/decode_tps.csv\n"
		"npusim workload rates ../shared/data/rknn/decode.csv --map configs/cases/rkllm.yaml\n",
		opts,
		1,
		1
	};
	struct opt_list args = { NULL, 0 };
	struct rates r = { NULL };
	struct watch w = { NULL, false };
	bool prefill = false;
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = cmd_format(format, &f, e)) == 0) {
		rc = prompts(phase, &prefill, e) < 0 || rates_read(&r, args.v[0], map, prefill, e) < 0 ||
		                     rates_run(&r, on_row, &w, e) < 0
		             ? -1
		             : 0;
		progress_free(w.line);
		if (rc == 0)
			print(&r, n, f, out);
		rates_free(&r);
	}
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
