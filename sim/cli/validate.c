/* validate.c - npusim validate: a machine against what was measured on it. */
#include "sim/cli/validate.h"

#include "sim/cli/gpu_energy.h"
#include "sim/cli/ops_rows.h"

struct options {
	struct gpu_options gpu;
	const char *split, *output, *format, *start, *fidelity, *totals, *npu_totals;
	enum sample_split of;
	uint32_t max_mape_ppm;
	uint64_t worst, every, taken;
	bool groups, twin, counters;
	struct opt_list energy;
	struct validate_profile profile;
	struct workload_spec workload; /* its traces and rules are the GPU's */
};

#define NOT_GIVEN UINT32_MAX
#define WORST     20 /* samples to list */
#define WORST_OPS 10

static int validate_check_options(struct options *o, struct err *e)
{
	if (o->every > UINT32_MAX)
		return err_set(e, ERR_USAGE, "--every is at most %lu", (unsigned long)UINT32_MAX);
	o->gpu.table.every = (uint32_t)o->every;
	if (o->gpu.table.others && o->every < 2)
		return err_set(e, ERR_USAGE,
		               "--others goes with --every N, N of at least 2: all but the rows it takes");
	o->profile.most = o->max_mape_ppm == NOT_GIVEN ? -1 : (double)o->max_mape_ppm / 1e4;
	o->profile.range = o->workload.range;
	if (workload_check(&o->workload, WORKLOAD_VALIDATE, e) < 0)
		return -1;
	if (!o->profile.path && o->profile.range)
		return err_set(e, ERR_USAGE, "--range goes with --profile");
	if (o->profile.path && o->gpu.traces.n != 1)
		return err_set(e, ERR_USAGE, "--profile goes with one trace (-t) of the same work");
	if ((!o->energy.n || !o->gpu.config) && gpu_options_check(&o->gpu, e) < 0)
		return -1;
	if (o->energy.n && !o->gpu.traces.n && !o->gpu.tables.n && o->output)
		return err_set(e, ERR_USAGE, "-o keeps errors of times: it goes with -t");
	return sample_split_parse(o->split, &o->of, e);
}

/* Options that say something of a GPU's kernels. */
static int misplaced(const struct options *o, struct err *e)
{
	const char *name = o->counters        ? "counters"
	                   : o->gpu.tables.n  ? "table"
	                   : o->gpu.table.gpu ? "rows"
	                   : o->every         ? "every"
	                   : o->gpu.cases     ? "cases"
	                   : o->gpu.kernels   ? "kernels"
	                   : o->groups        ? "groups"
	                                      : NULL;

	return name ? err_set(e, ERR_USAGE, "'--%s' is for profiles of a GPU, and '%s' is a table of ops", name,
	                      o->gpu.traces.v[0])
	            : 0;
}

static int validate_tables(const struct options *o, struct doc *d, struct err *e)
{
	struct validate_ops how = { .split = o->of,
		                    .worst = o->worst == UINT64_MAX ? WORST_OPS : o->worst,
		                    .most = o->profile.most,
		                    .output = o->output,
		                    .twin = o->twin,
		                    .taken = o->taken };

	if (misplaced(o, e) < 0)
		return -1;
	if (run_start_parse(o->start ? o->start : "cold", &how.start, e) < 0 ||
	    run_fidelity_parse(o->fidelity ? o->fidelity : "event", &how.fidelity, e) < 0)
		return -1;
	if (how.start == RUN_STEADY && !o->twin)
		return err_set(e, ERR_USAGE, "a row alone has no steady state: '--start' is cold or resident");
	return validate_ops(&o->gpu, &how, d, e);
}

static int of_profiles(const struct options *o, struct doc *d, struct err *e)
{
	const struct validate_gpu how = { o->of,     o->output,       o->worst == UINT64_MAX ? WORST : o->worst,
		                          o->groups, o->profile.most, &o->energy };

	if (o->start || o->fidelity || o->taken)
		return err_set(e, ERR_USAGE, "'--%s' is for tables of ops",
		               o->start      ? "start"
		               : o->fidelity ? "fidelity"
		                             : "taken");
	if (o->twin)
		return err_set(e, ERR_USAGE, "'--twin' is of an NPU with a GPU's resources, and '%s' is a GPU",
		               o->gpu.config);
	if (o->counters)
		return validate_counters(&o->gpu, how.worst, d, e);
	return o->profile.path ? validate_profile(&o->gpu, &o->profile, d, e) : validate_gpu(&o->gpu, &how, d, e);
}

/* They are asked alone. */
static int of_totals(const struct options *o, struct doc *d, struct err *e)
{
	if (workload_check(&o->workload, WORKLOAD_VALIDATE, e) < 0)
		return -1;
	if (o->gpu.config || o->gpu.traces.n || o->gpu.tables.n || o->energy.n || o->profile.path)
		return err_set(e, ERR_USAGE, "'--totals' is asked alone: its steps are run and measured already");
	return validate_totals(o->totals, o->npu_totals, o->output, d, e);
}

static int validate(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct options *o = options;
	int ops;

	(void)args;
	if (o->totals)
		return of_totals(o, d, e);
	if (validate_check_options(o, e) < 0)
		return -1;
	ops = o->profile.path ? 0 : ops_rows_asked(&o->gpu, e);
	return ops < 0 ? -1 : ops ? validate_tables(o, d, e) : of_profiles(o, d, e);
}

int cmd_validate(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = {
		.split = "all", .max_mape_ppm = NOT_GIVEN, .worst = UINT64_MAX, .profile = { .steps = 1 }
	};
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		GPU_OPTIONS(o.gpu),
		{ 0, "table", OPT_READS, &o.gpu.tables, "FILE",
		  "kernel times that others published, CSV: products or decode attention by shape; may be repeated. "
		  "Which"
		  " kernels ran is not told: launches are the library's for this device" },
		{ 0, "rows", OPT_TEXT, &o.gpu.table.gpu, "GPU", "of a table, only rows whose column 'gpu' is that" },
		{ 0, "profile", OPT_READ, &o.profile.path, "FILE",
		  "a summary of nsys stats, measured on this device, of the work in the trace (-t, of any device):"
		  " kernels by family, the trace's ops as a library here would launch them" },
		{ 0, "steps", OPT_COUNT, &o.profile.steps, "N", "steps in the profile; 1 by default" },
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o.workload, WORKLOAD_VALIDATE) },
		GPU_ENERGY_OPTION(
			o.energy,
			"measured board energy (CSV: kind, shape, watts, us, sm_mhz): the power model's energy"
			" at the measured times and clocks, and its clock under the cap; may be repeated"),
		{ 0, "every", OPT_COUNT, &o.every, "N", "of a table, one of N rows, by a hash of its shape" },
		{ 0, "others", OPT_FLAG, &o.gpu.table.others, NULL, "of a table, all but the rows that --every takes" },
		{ 0, "split", OPT_TEXT, &o.split, "all|fitted|held-out",
		  "all (default), fitted or held-out: which samples count. A hash of a case's"
		  " kind and shape, or of a trace and its step, says where a sample belongs" },
		{ 0, "worst", OPT_U64, &o.worst, "N",
		  "list the N samples that are furthest off; 20 by default, of a table of ops 10" },
		{ 0, "start", OPT_TEXT, &o.start, "cold|resident",
		  "of a table of ops: each row's operands in DRAM (cold, the default), or on chip as far as they fit" },
		{ 0, "fidelity", OPT_TEXT, &o.fidelity, "event|analytic",
		  "of a table of ops: as for 'npusim run'; event by default" },
		{ 0, "taken", OPT_COUNT, &o.taken, "N",
		  "of tables of ops: errors by table, too, the N rows apart that 'npusim calibrate --rows N' takes of them, to which a"
		  " machine was fitted; only the others hold it" },
		{ 0, "twin", OPT_FLAG, &o.twin, NULL,
		  "an NPU with the resources of the GPU that was traced (configs/npu/h200-twin.yaml): each op of the profile"
		  " alone, operands in DRAM or (--start steady) as the run before left them, against the GPU's kernels" },
		{ 0, "counters", OPT_FLAG, &o.counters, NULL,
		  "what Nsight Compute counted of the trace's kernels (import its file into the same database) beside what the"
		  " model says: time, DRAM bytes, L2 hits, occupancy, by kernel; --worst says how many names" },
		{ 0, "groups", OPT_FLAG, &o.groups, NULL,
		  "errors by the kind of case, or by annotation, too: a step's kernel sum" },
		{ 0, "max-mape", OPT_PPM, &o.max_mape_ppm, "P",
		  "exit 1 when the mean absolute error, with --profile the error of the sum, is larger: '5 %'" },
		{ 0, "totals", OPT_READ, &o.totals, "FILE",
		  "whole steps, simulated and measured (configs/accuracy/totals.csv), alone: how many of them the 80 % intervals of"
		  " 'npusim run' hold, also found without the total's device and without its model; with -o the intervals are kept" },
		{ 0, "npu-totals", OPT_READ, &o.npu_totals, "FILE",
		  "with --totals: such totals of the nearest silicon of an NPU, for the width of an NPU's intervals" },
		{ 'o', "output", OPT_WRITE, &o.output, "FILE",
		  "keep the errors there, for 'npusim run' to tell:"
		  " configs/accuracy/DEVICE.yaml" },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP "; csv has the samples" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim validate (-c MACHINE.yaml -t T.db [-t T.db]... | --totals FILE) [options]",
		"Holds a machine against what was measured. Of a table of ops (CSV whose header begins"
		" with 'op,') each row runs alone, on an NPU or a GPU: errors by kind of op and by rows of"
		" a product, beside those of a plain roofline, and the worst rows. So does each row of a table of blocks"
		" (header 'block,': ffn_gated or ffn_erf, rows, hidden, inter, measured_us), products as one program. Of profiles of a GPU:"
		" holds its model against kernels that were measured on it: errors by "
		"class, by size, by what the model"
		" says bounds a kernel, and the worst samples with the parts of their time. A "
		"sample is one launch; in an"
		" operator benchmark (annotations 'case|KIND|SHAPE|REP') it is one case, the "
		"median over its repetitions.",
		"npusim validate -c configs/npu/dsocr.yaml -t workloads/ops/llama1b-decode.csv\n"
		"npusim validate -c configs/gpu/h200.yaml -t /tmp/micro.db --split held-out\n"
		"npusim validate -c configs/gpu/h200.yaml -t /tmp/t.db --max-mape '10 %'\n"
		"npusim validate -c configs/gpu/h200.yaml -t /tmp/counted.db --counters\n"
		"npusim validate -c configs/gpu/h200.yaml --energy traces/h200/energy/h200.csv\n"
		"npusim validate --totals configs/accuracy/totals.csv\n",
		opts,
		0,
		0
	};

	return cmd_do(&cmd, &o.format, validate, &o, argc, argv, out, e);
}
