/* calibrate.c - npusim calibrate: a GPU's parameters from what was measured on it. */
#include <stdio.h>

#include "sim/cli/calibrate.h"
#include "sim/cli/gpu.h"
#include "sim/cli/gpu_energy.h"
#include "sim/ui/progress.h"

struct options {
	struct gpu_options gpu;
	const char *plan, *output, *format, *kind, *fidelity;
	struct opt_list energy, resident;
	uint64_t folds, rows, jobs;
	bool check;
};

static void tell(void *arg, double part)
{
	progress_set(arg, (uint64_t)(part * 1000));
}

static int calibrate_gpu(const struct options *o, struct doc *d, struct err *e)
{
	struct gpu_inputs in;
	struct fit_plan *p = NULL;
	struct fit_data data = { .folds = (unsigned)o->folds, .all_move = true, .progress = tell };
	struct fit_report r = { 0 };
	struct progress *bar = NULL;
	char source[160];
	int rc = -1;

	if (gpu_inputs_read(&in, &o->gpu, e) < 0 || !(p = fit_plan_load(o->plan, in.conf, in.kernels, e)))
		goto out;
	/* Samples are what parameters are fitted to; a plan may have measured ones alone. */
	if (p->n_fit && gpu_options_check(&o->gpu, e) < 0)
		goto out;
	data.sets = in.sets;
	data.n_sets = in.n;
	data.arg = bar = progress_new("calibrating", "", 1000);
	if (in.n && fit_run(p, in.conf, &data, &r, e) < 0)
		goto out;
	fit_doc(d, p, in.conf->raw);
	if (in.n)
		doc_say(d,
		        "\n%zu samples of the fitted split, %zu fitted parameters in %zu searches, %u evaluations\n"
		        "mean absolute error on them %.2f %%, cross-validated in %u folds %.2f %%\n",
		        r.samples, p->n_fit, r.searches, r.evaluations, r.mape, (unsigned)o->folds, r.cv_mape);
	snprintf(source, sizeof source,
	         "fitted by npusim calibrate, %zu samples of the fitted split, with %zu parameters", r.samples,
	         p->n_fit);
	fit_plan_keep(p, in.conf->raw, source);
	rc = o->output ? fit_write(in.conf->raw, o->output, e) : 0;
	if (rc == 0 && o->check)
		rc = fit_plan_changed(p, e);
out:
	progress_free(bar);
	fit_plan_free(p);
	gpu_inputs_free(&in);
	return rc;
}

/* Whether it is a machine that runs commands; then its tables of ops are what it is fitted to. */
static int calibrate_npu(struct options *o, struct doc *d, bool *is, struct err *e)
{
	const int jobs = opt_jobs(&o->jobs, POOL_WORKERS, e);
	struct machine_conf *conf = jobs < 0 ? NULL : machine_conf_load(o->gpu.config, o->gpu.sets.v, o->gpu.sets.n, e);
	struct calibrate_rows r = { .config = o->gpu.config,
		                    .sets = &o->gpu.sets,
		                    .rows = o->rows,
		                    .plan = o->plan,
		                    .output = o->output,
		                    .rules = o->gpu.rules,
		                    .kind = o->kind,
		                    .tables = &o->gpu.traces,
		                    .resident = &o->resident,
		                    .folds = o->folds,
		                    .jobs = (unsigned)o->jobs,
		                    .check = o->check };
	int rc = conf ? 0 : -1;

	*is = conf && machine_runs(&conf->cfg) == MACHINE_COMMANDS;
	if (rc == 0)
		rc = run_fidelity_parse(o->fidelity ? o->fidelity : "analytic", &r.fidelity, e);
	if (rc < 0)
		goto out;
	if (*is && !o->plan)
		rc = err_set(e, ERR_USAGE, "the plan is missing: -p PLAN.yaml, configs/calibrate/tpu-v6e.yaml say");
	else if (*is && o->gpu.traces.n + o->resident.n == 0)
		rc = err_set(e, ERR_USAGE, "the tables are missing: -t OPS.csv, with a column measured_us");
	else if (*is)
		rc = calibrate_rows(&r, conf, d, e);
	else if (o->resident.n || o->kind || o->fidelity || o->rows)
		rc = err_set(e, ERR_USAGE, "%s is of an NPU's tables of ops, and '%s' is no NPU",
		             o->kind       ? "--kind"
		             : o->rows     ? "--rows"
		             : o->fidelity ? "--fidelity"
		                           : "--resident",
		             o->gpu.config);
out:
	machine_conf_free(conf);
	return rc;
}

static int calibrate(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct options *o = options;
	const struct calibrate_energy energy = { o->gpu.config, o->gpu.kernels, o->output, &o->gpu.sets,
		                                 &o->energy,    o->folds,       o->check };
	bool npu = false;

	(void)args;
	if (o->folds > 20 && !o->energy.n && o->gpu.config)
		return err_set(e, ERR_USAGE, "at most 20 folds");
	if (!o->energy.n && o->gpu.config) {
		const int rc = calibrate_npu(o, d, &npu, e);

		if (rc < 0 || npu)
			return rc;
	}
	if (o->energy.n && (o->plan || o->gpu.traces.n))
		return err_set(e, ERR_USAGE, "--energy sets costs and -p with -t times: one after the other");
	if (o->energy.n && !o->gpu.config)
		return err_set(e, ERR_USAGE, "the device is missing: -c GPU.yaml, configs/gpu/h200.yaml say");
	if (!o->energy.n && !(o->gpu.config && o->plan) && gpu_options_check(&o->gpu, e) < 0)
		return -1;
	if (o->folds > 20)
		return err_set(e, ERR_USAGE, "at most 20 folds");
	if (o->energy.n)
		return calibrate_energy(&energy, d, e);
	if (!o->plan)
		return err_set(e, ERR_USAGE, "the plan is missing: -p PLAN.yaml, configs/calibrate/h200.yaml say");
	return calibrate_gpu(o, d, e);
}

int cmd_calibrate(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .folds = 5 };
	const struct opt opts[] = {
		GPU_OPTIONS(o.gpu),
		{ 'p', "plan", OPT_READ, &o.plan, "FILE",
		  "which parameters a microbenchmark measured, and which are fitted" },
		GPU_ENERGY_OPTION(o.energy,
		                  "measured board energy (CSV: kind, shape, watts, us, sm_mhz): sets what the board's"
		                  " events cost (power.*) instead of times; the first is of this device, others of"
		                  " boards of its model; may be repeated"),
		{ 0, "resident", OPT_READS, &o.resident, "OPS.csv",
		  "an NPU's: a table of ops measured with operands on chip before each; may be repeated" },
		{ 0, "rows", OPT_U64, &o.rows, "N",
		  "an NPU's: fit to N rows, taken evenly by their time, and say how far off the others are" },
		{ 0, "kind", OPT_TEXT, &o.kind, "KIND", "an NPU's: only rows of this kind of op count (gemm)" },
		{ 0, "fidelity", OPT_TEXT, &o.fidelity, "analytic|event",
		  "an NPU's: in closed form (the default) or with events, which takes ten times as long" },
		{ 0, "folds", OPT_U64, &o.folds, "K", "parts of a cross-validation; 5 by default, 0 for none" },
		{ 'j', "jobs", OPT_COUNT, &o.jobs, "N",
		  "an NPU's: folds side by side; as many as there are processors by default. Values do not depend on it" },
		{ 'o', "output", OPT_WRITE, &o.output, "FILE",
		  "write the configuration with the calibrated values there" },
		{ 0, "check", OPT_FLAG, &o.check, NULL, "exit 1 when a value differs from the one the files gave" },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim calibrate -c CONFIG.yaml {-p PLAN.yaml -t T.db|OPS.csv... | --energy FILE...} [-o FITTED.yaml]",
		"Sets a device's parameters from what was measured on it. Microbenchmarks set what they measure; the few "
		"others are"
		" fitted to the fitted split of the traces' samples (the held-out split is never looked at), with"
		" cross-validation. The report says of every parameter how it was found, over which interval the folds "
		"put"
		" it, and how much the error depends on it. An NPU is fitted to all rows of tables of ops, each run alone"
		" in closed form; what it then is off on a table that it was not fitted to stands below. --rows 10 takes ten"
		" rows and keeps the others to see what ten rows are worth; a row counts as 50 % off at the most, so that"
		" two odd ones do not decide.",
		"npusim calibrate -c configs/gpu/h200.yaml -p configs/calibrate/h200.yaml -t /tmp/micro.db -o "
		"/tmp/h200.yaml\n"
		"npusim calibrate -c configs/npu/tpu-v6e.yaml -p configs/calibrate/tpu-v6e.yaml -t ops.csv -o "
		"/tmp/tpu.yaml\n"
		"npusim calibrate -c xdna2 -p configs/calibrate/npu.yaml -t workloads/ops/silicon/xdna2-gemv.csv --rows 5\n"
		"npusim calibrate -c configs/gpu/h200.yaml --energy traces/h200/energy/h200.csv -o /tmp/h200.yaml\n",
		opts,
		0,
		0
	};

	return cmd_do(&cmd, &o.format, calibrate, &o, argc, argv, out, e);
}
