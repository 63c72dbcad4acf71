/* validate.c - npusim validate: a GPU's model against what was measured on it; tables of ops are in validate_ops.c. */
#include "sim/cli/validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/accuracy/accuracy.h"
#include "sim/base/hash.h"
#include "sim/base/version.h"
#include "sim/cli/gpu_energy.h"
#include "sim/cli/ops_rows.h"
#include "sim/cli/score_out.h"
#include "sim/ui/outfile.h"

struct options {
	struct gpu_options gpu;
	const char *split, *output, *format, *start, *fidelity, *totals, *npu_totals;
	uint32_t max_mape_ppm;
	uint64_t worst, every;
	bool groups, twin, counters;
	struct opt_list energy;
	struct validate_profile profile;
	struct workload_spec workload; /* its traces and rules are the GPU's */
};

#define NOT_GIVEN UINT32_MAX

/* --- printing ---------------------------------------------------------------------------------------------------- */

static bool fitted(const struct sample *x)
{
	return x->split == SAMPLE_FITTED;
}

static bool held_out(const struct sample *x)
{
	return x->split == SAMPLE_HELD_OUT;
}

static bool (*keep_of(const char *split))(const struct sample *)
{
	return strcmp(split, "fitted") == 0 ? fitted : strcmp(split, "held-out") == 0 ? held_out : NULL;
}

static void score_row(struct out_table *t, const char *name, const struct score *s)
{
	out_text(t, name);
	out_int(t, (int64_t)s->n);
	out_real(t, s->mape);
	out_real(t, s->median_ape);
	out_real(t, s->p90_ape);
	out_real(t, s->bias);
	out_real(t, s->weighted_ape);
	if (s->spread < 0)
		out_null(t);
	else
		out_real(t, s->spread);
	out_real(t, s->measured_us);
	out_real(t, s->simulated_us);
}

/* Errors by one thing that samples differ in. */
struct breakdown {
	enum score_by by;
	const char *title, *first; /* first: the column's name */
	bool total;                /* a last row over all of them */
};

static int score_table(const struct gpu_inputs *l, const char *split, const struct breakdown *b, struct str *out,
                       struct err *e)
{
	const struct out_col cols[] = {
		{ b->first, OUT_TEXT, 0 },       { "n", OUT_INT, 0 },        { "mape", OUT_REAL, 2 },
		{ "median_ape", OUT_REAL, 2 },   { "p90_ape", OUT_REAL, 2 }, { "bias", OUT_REAL, 2 },
		{ "weighted_ape", OUT_REAL, 2 }, { "spread", OUT_REAL, 2 },  { "measured_us", OUT_REAL, 1 },
		{ "simulated_us", OUT_REAL, 1 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, b->title);
	struct arena *a = arena_new(0);
	struct score *s = NULL;
	int n = score_samples(l->sets, l->n, keep_of(split), b->by, a, &s, e);

	for (int i = 0; i < n; i++)
		score_row(t, s[i].cls, &s[i]);
	if (n >= 0 && b->total && (n = score_samples(l->sets, l->n, keep_of(split), SCORE_ALL, a, &s, e)) > 0)
		score_row(t, "all", &s[0]);
	if (n >= 0)
		out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
	arena_free(a);
	return n < 0 ? -1 : 0;
}

static int by_error(const void *a, const void *b)
{
	return score_worse_first(sample_error(*(const struct sample *const *)a),
	                         sample_error(*(const struct sample *const *)b));
}

static const struct sample **kept(const struct gpu_inputs *l, const char *split, size_t *n)
{
	bool (*keep)(const struct sample *) = keep_of(split);
	const struct sample **v;
	size_t most = 1;

	*n = 0;
	for (size_t i = 0; i < l->n; i++)
		most += l->sets[i].n;
	if (!(v = malloc(most * sizeof *v)))
		return NULL;
	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k < l->sets[i].n; k++)
			if (!keep || keep(&l->sets[i].v[k]))
				v[(*n)++] = &l->sets[i].v[k];
	return v;
}

static void sample_rows(const struct sample *const *v, size_t n, const char *title, enum out_format f, struct str *out)
{
	static const struct out_col cols[] = {
		{ "sample", OUT_TEXT, 0 },    { "class", OUT_TEXT, 0 },        { "group", OUT_TEXT, 0 },
		{ "split", OUT_TEXT, 0 },     { "measured_us", OUT_REAL, 3 },  { "low_us", OUT_REAL, 3 },
		{ "high_us", OUT_REAL, 3 },   { "simulated_us", OUT_REAL, 3 }, { "error_pct", OUT_REAL, 1 },
		{ "bound", OUT_TEXT, 0 },     { "launch_us", OUT_REAL, 3 },    { "start_us", OUT_REAL, 3 },
		{ "chain_us", OUT_REAL, 3 },  { "memory_us", OUT_REAL, 3 },    { "pipe_us", OUT_REAL, 3 },
		{ "finish_us", OUT_REAL, 3 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, title);

	for (size_t i = 0; i < n; i++) {
		const struct sample *x = v[i];

		out_text(t, x->name);
		out_text(t, x->cls);
		out_text(t, x->group);
		out_text(t, x->split == SAMPLE_FITTED ? "fitted" : "held-out");
		out_real(t, cmd_us((int64_t)x->measured_ns));
		out_real(t, cmd_us((int64_t)x->low_ns));
		out_real(t, cmd_us((int64_t)x->high_ns));
		out_real(t, cmd_ps_us(x->time.total));
		out_real(t, sample_error(x));
		out_text(t, res_name(x->time.bound));
		out_real(t, cmd_ps_us(x->time.launch));
		out_real(t, cmd_ps_us(x->time.start));
		out_real(t, cmd_ps_us(x->time.chain));
		out_real(t, cmd_ps_us(x->time.memory));
		out_real(t, cmd_ps_us(x->time.pipe));
		out_real(t, cmd_ps_us(x->time.finish));
	}
	out_table_write(t, f, out);
	out_table_free(t);
}

/* Of published tables: what no sample stands for. */
static void left_out(const struct gpu_inputs *l, struct str *out)
{
	for (size_t i = 0; i < l->n_tables; i++) {
		const struct tables_stats *s = &l->table_stats[i];

		if (s->host_bound)
			str_addf(out,
			         "\nleft out: %zu rows of block-scaled fp8, run without a graph (times of the host)\n",
			         s->host_bound);
		if (s->no_rule)
			str_addf(out, "\nleft out: %zu rows of a type that no library's rule is known for\n",
			         s->no_rule);
	}
}

static int print_times(const struct gpu_inputs *l, const struct options *o, struct str *out, struct err *e)
{
	static const struct breakdown tables[] = {
		{ SCORE_CLASS, "error by class, percent of the measured time", "class", true },
		{ SCORE_SIZE, "by measured time", "time", false },
		{ SCORE_BOUND, "by what the model says bounds it", "bound", false },
		{ SCORE_GROUP, "by kind of case, or by annotation: a step", "group", false }, /* if asked for */
	};
	const struct sample **v;
	size_t n;

	for (size_t i = 0; i < sizeof tables / sizeof *tables - !o->groups; i++) {
		str_add(out, i ? "\n" : "");
		if (score_table(l, o->split, &tables[i], out, e) < 0)
			return -1;
	}
	if (!(v = kept(l, o->split, &n)))
		return err_set(e, ERR_NOMEM, "out of memory for samples");
	qsort(v, n, sizeof *v, by_error);
	if (o->worst && n) {
		str_add(out, "\n");
		sample_rows(v, n < o->worst ? n : o->worst, "the worst", OUT_TABLE, out);
	}
	free(v);
	left_out(l, out);
	return 0;
}

static int print_table(const struct gpu_inputs *l, const struct gpu_energies *x, const struct options *o,
                       struct str *out, struct err *e)
{
	if (l->n && print_times(l, o, out, e) < 0)
		return -1;
	if (!x->n)
		return 0;
	str_add(out, l->n ? "\n" : "");
	return gpu_energies_table(
		x, o->split, o->worst,
		"error of energy by class, percent of what was measured, at the measured times and clocks;"
		" of the clock where it was or is capped, at the measured cycles",
		out, e);
}

static int print_json(const struct gpu_inputs *l, const struct gpu_energies *x, const struct options *o,
                      struct str *out, struct err *e)
{
	struct arena *a = arena_new(0);
	struct score *all, *s;
	struct out_json j;
	int n, rc = -1;

	if (score_samples(l->sets, l->n, keep_of(o->split), SCORE_ALL, a, &all, e) < 0 ||
	    (n = score_samples(l->sets, l->n, keep_of(o->split), SCORE_CLASS, a, &s, e)) < 0)
		goto out;
	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	if (n)
		score_json(&j, &all[0], true);
	else
		out_json_u64(&j, "samples", 0);
	out_json_text(&j, "split", o->split);
	out_json_open(&j, "classes", '[');
	for (int i = 0; i < n; i++) {
		out_json_open(&j, NULL, '{');
		out_json_text(&j, "class", s[i].cls);
		score_json(&j, &s[i], false);
		out_json_close(&j, '}');
	}
	out_json_close(&j, ']');
	rc = x->n ? gpu_energies_json(x, o->split, &j, e) : 0;
	out_json_close(&j, '}');
out:
	arena_free(a);
	return rc;
}

static int print_csv(const struct gpu_inputs *l, const struct gpu_energies *x, const struct options *o, struct str *out,
                     struct err *e)
{
	size_t n;
	const struct sample **v;

	if (x->n) {
		gpu_energies_csv(x, o->split, out);
		return 0;
	}
	if (!(v = kept(l, o->split, &n)))
		return err_set(e, ERR_NOMEM, "out of memory for samples");
	sample_rows(v, n, NULL, OUT_CSV, out);
	free(v);
	return 0;
}

static int check_mape(const struct gpu_inputs *l, const struct options *o, struct err *e)
{
	struct arena *a = arena_new(0);
	struct score *s;
	int n = score_samples(l->sets, l->n, keep_of(o->split), SCORE_ALL, a, &s, e);
	double most = (double)o->max_mape_ppm / 1e4;

	if (n == 0)
		n = err_set(e, ERR_BOUND, "no sample to validate");
	else if (n > 0 && o->max_mape_ppm != NOT_GIVEN && s[0].mape > most)
		n = err_set(e, ERR_BOUND, "the mean error is %.2f %%, more than --max-mape allows (%.2f %%)", s[0].mape,
		            most);
	arena_free(a);
	return n < 0 ? -1 : 0;
}

/* --- the accuracy file ---------------------------------------------------------------------------------------------
 */

static int store(const struct gpu_inputs *l, const struct options *o, struct err *e)
{
	struct accuracy acc = {
		.device = l->conf->cfg.name, .config = o->gpu.config, .split = o->split, .build = npusim_build_id()
	};
	struct arena *a = arena_new(0);
	struct str text = STR_INIT;
	struct score *all;
	char model[17], digest[17];
	uint64_t h = HASH_INIT;
	int n, rc = -1;

	for (size_t i = 0; i < l->n_traces; i++)
		h = hash_str(h, l->traces[i].trace.digest);
	hash_hex(h, digest);
	accuracy_model(cfg_hash(l->conf->raw), kernels_hash(l->kernels), model);
	acc.model = model;
	acc.digest = digest;
	if ((n = score_samples(l->sets, l->n, keep_of(o->split), SCORE_ALL, a, &all, e)) <= 0 ||
	    (n = score_samples(l->sets, l->n, keep_of(o->split), SCORE_CLASS, a, &acc.classes, e)) < 0) {
		rc = n == 0 ? err_set(e, ERR_BOUND, "no sample to validate") : -1;
		goto out;
	}
	acc.all = all[0];
	acc.n = (size_t)n;
	accuracy_write(&acc, &text);
	rc = outfile_write(o->output, &text, e);
out:
	str_free(&text);
	arena_free(a);
	return rc;
}

static int validate(const struct options *o, enum out_format f, struct str *out, struct err *e)
{
	struct gpu_inputs l;
	struct gpu_energies x = { .n = 0 };
	int rc = gpu_inputs_read(&l, &o->gpu, e);

	if (rc == 0)
		rc = gpu_energies_read(&x, &o->energy, l.conf, l.kernels, e);
	if (rc == 0)
		rc = f == OUT_JSON  ? print_json(&l, &x, o, out, e)
		     : f == OUT_CSV ? print_csv(&l, &x, o, out, e)
		                    : print_table(&l, &x, o, out, e);
	if (rc == 0 && o->output)
		rc = store(&l, o, e);
	if (rc == 0 && l.n)
		rc = check_mape(&l, o, e);
	gpu_energies_free(&x);
	gpu_inputs_free(&l);
	return rc;
}

/* --- options ----------------------------------------------------------------------------------------------------- */

static int check_options(struct options *o, enum out_format *f, struct err *e)
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
	if (strcmp(o->split, "all") != 0 && !keep_of(o->split))
		return err_set(e, ERR_USAGE, "unknown split '%s': it is all, fitted or held-out", o->split);
	return cmd_format(o->format, f, e);
}

/* --- tables of ops ----------------------------------------------------------------------------------------------- */

#define WORST     20
#define WORST_OPS 10

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

static int validate_tables(const struct options *o, enum out_format f, struct str *out, struct err *e)
{
	struct validate_ops how = { .split_name = o->split,
		                    .split = strcmp(o->split, "fitted") == 0     ? (int)SAMPLE_FITTED
		                             : strcmp(o->split, "held-out") == 0 ? (int)SAMPLE_HELD_OUT
		                                                                 : -1,
		                    .worst = o->worst == UINT64_MAX ? WORST_OPS : o->worst,
		                    .most = o->profile.most,
		                    .output = o->output,
		                    .twin = o->twin };

	if (misplaced(o, e) < 0)
		return -1;
	if (run_start_parse(o->start ? o->start : "cold", &how.start, e) < 0 ||
	    run_fidelity_parse(o->fidelity ? o->fidelity : "event", &how.fidelity, e) < 0)
		return -1;
	if (how.start == RUN_STEADY && !o->twin)
		return err_set(e, ERR_USAGE, "a row alone has no steady state: '--start' is cold or resident");
	return validate_ops(&o->gpu, &how, f, out, e);
}

/* What only tables of ops have. */
static int of_profiles(struct options *o, enum out_format f, struct str *out, struct err *e)
{
	if (o->start || o->fidelity)
		return err_set(e, ERR_USAGE, "'--%s' is for tables of ops", o->start ? "start" : "fidelity");
	if (o->twin)
		return err_set(e, ERR_USAGE, "'--twin' is of an NPU with a GPU's resources, and '%s' is a GPU",
		               o->gpu.config);
	if (o->worst == UINT64_MAX)
		o->worst = WORST;
	if (o->counters)
		return validate_counters(&o->gpu, o->worst, f, out, e);
	return o->profile.path ? validate_profile(&o->gpu, &o->profile, f, out, e) : validate(o, f, out, e);
}

/* They are asked alone. */
static int of_totals(const struct options *o, struct str *out, struct err *e)
{
	enum out_format f;

	if (workload_check(&o->workload, WORKLOAD_VALIDATE, e) < 0)
		return -1;
	if (o->gpu.config || o->gpu.traces.n || o->gpu.tables.n || o->energy.n || o->profile.path)
		return err_set(e, ERR_USAGE, "'--totals' is asked alone: its steps are run and measured already");
	return cmd_format(o->format, &f, e) < 0 ? -1 : validate_totals(o->totals, o->npu_totals, o->output, f, out, e);
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
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP "; csv has the samples" },
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
	struct opt_list args = { NULL, 0 };
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && o.totals)
		rc = of_totals(&o, out, e);
	else if (rc == 0 && (rc = check_options(&o, &f, e)) == 0)
		rc = (rc = o.profile.path ? 0 : ops_rows_asked(&o.gpu, e)) < 0 ? -1
		     : rc                                                      ? validate_tables(&o, f, out, e)
		                                                               : of_profiles(&o, f, out, e);
	opt_list_free(&args);
	opt_list_free(&o.energy);
	gpu_options_free(&o.gpu);
	return rc < 0 ? -1 : 0;
}
