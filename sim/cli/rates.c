/* rates.c - npusim workload rates: published rates of decoding beside simulated ones. */
#include <string.h>

#include "sim/cli/cmd.h"
#include "sim/report/rates_doc.h"
#include "sim/ui/progress.h"

struct options {
	const char *map, *phase, *format;
	uint64_t worst;
};

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

static int rates(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct rates r = { NULL };
	struct watch w = { NULL, false };
	bool prefill;
	int rc;

	if (prompts(o->phase, &prefill, e) < 0)
		return -1;
	rc = rates_read(&r, args->v[0], o->map, prefill, e) < 0 || rates_run(&r, on_row, &w, e) < 0 ? -1 : 0;
	progress_free(w.line);
	if (rc == 0)
		rates_doc(d, &r, o->worst);
	rates_free(&r);
	return rc;
}

int cmd_workload_rates(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .worst = 10 };
	const struct opt opts[] = {
		{ 0, "map", OPT_READ, &o.map, "MAP.yaml",
		  "what the table's words mean; the one that comes with npusim is configs/cases/rates.yaml" },
		{ 0, "phase", OPT_TEXT, &o.phase, "decode|prefill",
		  "decode (default): tokens a second; prefill: milliseconds of a prompt, the map's column 'prompt_ms'" },
		{ 'n', "worst", OPT_U64, &o.worst, "N",
		  "list the N worst rows; 10 by default (csv and json have all rows)" },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
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

	return cmd_do(&cmd, &o.format, rates, &o, argc, argv, out, e);
}
