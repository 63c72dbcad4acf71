/* plot_error.c - npusim plot error: simulated times against measured ones, of a GPU's kernels or of tables of ops. */
#include <string.h>

#include "sim/cli/ops_rows.h"
#include "sim/cli/picture.h"
#include "sim/cli/plot.h"
#include "sim/report/error_chart.h"

struct options {
	struct gpu_options gpu;
	const char *split, *start, *fidelity;
	enum sample_split of;
	struct picture_to plot;
};

static int plot_error_run(const struct options *o, struct str *out, struct err *e)
{
	struct arena *a = arena_new(0);
	struct gpu_inputs in;
	struct plot *p = NULL;
	int rc = -1;

	if (gpu_inputs_read(&in, &o->gpu, e) == 0)
		p = error_chart(in.sets, in.n, o->of, in.conf->cfg.name, a, e);
	if (p)
		rc = picture_put(&o->plot, p, out, e);
	gpu_inputs_free(&in);
	arena_free(a);
	return rc;
}

/* --- tables of ops ------------------------------------------------------------------------------------------------ */

static int draw_tables(const struct options *o, const struct ops_rows *t, struct str *out, struct err *e)
{
	const bool on_chip = o->start && strcmp(o->start, "resident") == 0;
	struct plot *p = error_rows_chart(&t->rows.sim.all, t->conf->cfg.name, on_chip, t->arena, e);

	return p ? picture_put(&o->plot, p, out, e) : -1;
}

static int run_tables(const struct options *o, struct str *out, struct err *e)
{
	struct ops_rows_how how = { .split = o->of };
	struct ops_rows t = { .conf = NULL };
	int rc = -1;

	if (run_start_parse(o->start ? o->start : "cold", &how.start, e) < 0 ||
	    run_fidelity_parse(o->fidelity ? o->fidelity : "event", &how.fidelity, e) < 0)
		return -1;
	if (how.start == RUN_STEADY)
		return err_set(e, ERR_USAGE, "a row alone has no steady state: '--start' is cold or resident");
	if (ops_rows_run(&t, &o->gpu, &how, e) == 0)
		rc = draw_tables(o, &t, out, e);
	ops_rows_free(&t);
	return rc;
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static int plot_error_draw(struct options *o, struct str *out, struct err *e)
{
	const int tables = ops_rows_asked(&o->gpu, e);

	o->of = tables ? SAMPLE_ALL : SAMPLE_HELD_OUT;
	if (tables < 0 || (o->split && sample_split_parse(o->split, &o->of, e) < 0))
		return -1;
	if (tables)
		return run_tables(o, out, e);
	if (o->start || o->fidelity)
		return err_set(e, ERR_USAGE, "'--%s' is for tables of ops", o->start ? "start" : "fidelity");
	return plot_error_run(o, out, e);
}

int cmd_plot_error(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .split = NULL };
	const struct opt opts[] = {
		GPU_OPTIONS(o.gpu),
		{ 0, "split", OPT_TEXT, &o.split, "held-out|fitted|all",
		  "held-out (default; of a table of ops all is), fitted or all" },
		{ 0, "start", OPT_TEXT, &o.start, "cold|resident",
		  "of a table of ops: each row's operands in DRAM (cold, the default), or on chip as far as they fit" },
		{ 0, "fidelity", OPT_TEXT, &o.fidelity, "event|analytic",
		  "of a table of ops: as for 'npusim run'; event by default" },
		PICTURE_OPTS(&o.plot),
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim plot error -c MACHINE.yaml -t T.db|OPS.csv... -o FILE [options]",
		"Draws what 'npusim validate' counts: every sample's simulated time over its measured time, with the "
		"band of"
		" 10 % around equality. Of tables of ops and of blocks the worst rows are named." PICTURE_NEEDS,
		"npusim plot error -c configs/npu/dsocr.yaml -t workloads/ops/llama1b-decode.csv -o /tmp/ops.svg\n"
		"npusim plot error -c configs/gpu/h200.yaml -t build/h200/operators.db -o /tmp/error.svg\n",
		opts,
		0,
		0
	};
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = picture_check(&o.plot, e)) == 0 && (rc = gpu_options_check(&o.gpu, e)) == 0)
		rc = plot_error_draw(&o, out, e);
	opt_list_free(&args);
	gpu_options_free(&o.gpu);
	return rc < 0 ? -1 : 0;
}
