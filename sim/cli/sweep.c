/* sweep.c - npusim sweep: options, what is said on the way, exit codes. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, sysconf */
#include "sim/cli/sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/path.h"
#include "sim/engine/picks.h"
#include "sim/report/run.h"
#include "sim/ui/progress.h"

#define OPAQUE_MAX_PCT 5 /* as for a run */

struct options {
	const char *file, *results, *shard, *format;
	struct workload_spec workload;
	uint64_t jobs, max, rows, guided;
	bool dry, retry, mixed, allow_opaque;
	uint64_t shard_i, shard_n;
	uint32_t again_ppm; /* NONE: not asked for */
};
#define NONE UINT32_MAX

/* --- the workload ------------------------------------------------------------------------------------------ */

struct inputs {
	const struct machine_cfg *machine; /* of its kind */
	struct workload w;
	struct res_workload workload;
};

/* A point's own stream; `arg` is struct inputs. */
static int build_point(void *arg, const struct workload_spec *w, struct arena *a, struct op_stream *out, struct err *e)
{
	const struct inputs *in = arg;

	return workload_again(&in->w, w, &(struct workload_reader){ &path_source, in->machine, NULL, NULL, NULL }, a,
	                      out, e);
}

/* The file's, or what the command line has in its place. */
static int asked_for(const struct options *o, const struct sweep *s, struct workload_spec *w, struct err *e)
{
	const struct ynode *root = yaml_root(s->y), *map = ynode_get(root, "workload");

	*w = s->workload;
	if (o->workload.trace && w->model)
		return err_set(e, ERR_USAGE, "'%s' has a workload, a model: '-t' would be another", s->path);
	if (o->workload.trace)
		w->trace = o->workload.trace;
	if (o->workload.range)
		w->range = o->workload.range;
	if (o->workload.rules)
		w->rules = o->workload.rules;
	if (workload_source(w) == WORKLOAD_NONE)
		return yaml_err(
			s->y, map ? map : root, e, "%s",
			map ? "the workload says no model: 'name'"
			    : "the workload is missing: 'trace: FILE', or -t FILE, or 'workload: {name: MODEL}'");
	if (w->trace && access(w->trace, R_OK) < 0) {
		err_sys(e, ERR_IO, errno, "cannot read '%s'", w->trace);
		return o->workload.trace ? -1 : err_at(e, s->path, ynode_get(root, "trace")->line, 0);
	}
	return workload_check(w, WORKLOAD_SWEEP_FILE, e) < 0 ? -1 : sweep_workload_check(s, w, e);
}

/* Points at other batches than the trace was measured at: nothing of them is measured. */
static void unmeasured(struct res_workload *w)
{
	w->kernel_ns = w->measured_ns = 0;
	w->wall_ns = -1;
}

static int read_inputs(struct inputs *in, const struct options *o, const struct sweep *s, struct workload_spec *asked,
                       struct err *e)
{
	in->machine = &s->schema_target;
	if (asked_for(o, s, asked, e) < 0 || cmd_workload_read(asked, in->machine, &in->w, e) < 0 ||
	    run_workload(&in->w.stream, &in->w.in.trace, in->w.model ? 0 : in->w.rules_hash, in->w.in.arena,
	                 &in->workload, e) < 0)
		return -1;
	if (sweep_workload_varies(s))
		unmeasured(&in->workload);
	return o->allow_opaque ? 0 : workload_opaque(&in->w.stream, OPAQUE_MAX_PCT, e);
}

/* --- running ----------------------------------------------------------------------------------------------- */

struct watch {
	struct progress *line;
	bool tried;
	const char *label;
};

static void on_points(void *arg, size_t done, size_t of)
{
	struct watch *w = arg;

	if (!w->tried) {
		w->line = progress_new(w->label, "points", of);
		w->tried = true;
	}
	progress_set(w->line, done);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* What one point costs here, by running one that can be built; in a process of its own, as all are: it may die of it. */
static double seconds_a_point(const struct sweep *s, const struct sweep_job *job)
{
	const uint64_t began = now_ns();
	struct res_point p;
	size_t i = 0;
	pid_t pid;

	while (i + 1 < s->n_points && s->refused[i])
		i++;
	if ((pid = fork()) == 0) {
		struct arena *a = arena_new(0);

		if (a)
			sweep_point(s, job, i, a, &p);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return (double)(now_ns() - began) / 1e9;
}

/* How long it will take, where no progress line says so: beside its figure another would only differ. */
static void foretell(const struct sweep *s, const struct sweep_job *job, size_t to_run)
{
	const double each = seconds_a_point(s, job);
	const unsigned workers = job->jobs < to_run ? job->jobs : (unsigned)to_run;

	fprintf(stderr, ", about %.3g s on %u worker%s (%.0f ms a point)", each * (double)to_run / workers, workers,
	        workers == 1 ? "" : "s", each * 1e3);
}

static void announce(const struct sweep *s, const struct sweep_job *job, size_t to_run, bool dry)
{
	if (s->sample == SWEEP_GUIDED)
		fprintf(stderr, "npusim: a search of %" PRIu64 " points, %zu at a time", s->sample_n, s->generation);
	else
		fprintf(stderr, "npusim: %zu points", s->n_points);
	for (size_t d = 0; s->sample == SWEEP_GRID && d < s->n_dims && s->n_dims > 1; d++)
		for (size_t i = 0; i < s->n_axes; i++)
			if (s->axes[i].dim == d) {
				fprintf(stderr, "%s%zu", d ? " x " : " (", s->axes[i].n);
				break;
			}
	fprintf(stderr, "%s", s->sample == SWEEP_GRID && s->n_dims > 1 ? ")" : "");
	if (s->n_dropped)
		fprintf(stderr, ", %zu left out by 'where'", s->n_dropped);
	if (s->n_refused)
		fprintf(stderr, ", %zu that cannot be built", s->n_refused);
	if (job->shards > 1)
		fprintf(stderr, ", shard %" PRIu64 " of %" PRIu64, job->shard, job->shards);
	if (to_run)
		fprintf(stderr, "; %zu to run", to_run);
	if (to_run && (dry || !progress_shown()))
		foretell(s, job, to_run);
	fprintf(stderr, "\n");
}

static size_t points_of_shard(const struct sweep *s, const struct sweep_job *job)
{
	size_t n = 0;

	for (size_t p = 0; p < s->n_points; p++)
		n += p % job->shards == job->shard - 1 && !s->refused[p];
	return n;
}

static void listed(struct doc *d, const void *of, size_t p)
{
	const struct sweep *s = of;

	doc_count(d, "point", p);
	for (size_t i = 0; i < s->n_axes; i++)
		doc_text(d, s->axes[i].key, s->axes[i].values[s->index[p * s->n_axes + i]].text);
	if (s->n_refused)
		doc_text(d, "reason", s->refused[p]);
}

static int show(struct resdb *db, int64_t id, const struct options *o, struct doc *d, struct err *e)
{
	struct sweep_view v;
	struct sweep_totals t;
	int rc = sweep_view_open(&v, db, id, e);

	if (rc == 0)
		rc = sweep_print(&v, o->rows, &t, d, e);
	if (rc == 0 && t.failed)
		fprintf(stderr, "npusim: note: %zu of %zu points failed; their rows say why\n", t.failed, v.n);
	if (rc == 0 && t.missing && o->shard_n > 1)
		fprintf(stderr, "npusim: note: %zu points are other shards': 'npusim merge' joins them\n", t.missing);
	if (rc == 0 && t.died)
		rc = err_set(
			e, ERR_BOUND,
			"%zu of %zu points ha%s no result: the process that simulated %s died, and another over it again;"
			" the same command tries once more",
			t.died, v.n, t.died == 1 ? "s" : "ve", t.died == 1 ? "it" : "them");
	else if (rc == 0 && !t.missing && t.done == 0)
		rc = err_set(e, ERR_BOUND, "all %zu points failed", t.failed);
	else if (rc == 0 && !t.missing && t.bounded && t.feasible == 0)
		rc = err_set(e, ERR_BOUND, "no point meets all constraints");
	sweep_view_free(&v);
	return rc;
}

/* The promising points of a sweep at analytic fidelity once more, with events: a sweep of its own in the database,
 * whose number is *again. */
static int run_again(struct sweep *s, struct sweep_job *job, struct resdb *db, uint32_t share_ppm, int64_t id,
                     int64_t *again, struct err *e)
{
	struct sweep_view wide;
	struct watch running = { .label = "again" };
	struct sweep_done done;
	size_t n;
	int rc = -1;

	if (sweep_view_open(&wide, db, id, e) == 0 && (job->only = sweep_view_promising(&wide, share_ppm, &n, e))) {
		s->fidelity = "event";
		job->how.fidelity = RUN_EVENT;
		job->arg = &running;
		rc = sweep_run(s, job, db, &done, e);
		progress_free(running.line);
		*again = done.id;
	}
	job->only = NULL; /* it was the view's */
	sweep_view_free(&wide);
	return rc;
}

/* Both sweeps side by side. */
static int show_again(struct resdb *db, const int64_t ids[2], const struct options *o, struct doc *d, struct err *e)
{
	struct sweep_view v[2] = { { .a = NULL }, { .a = NULL } };
	int rc = sweep_view_open(&v[0], db, ids[0], e);

	if (rc == 0 && (rc = sweep_view_open(&v[1], db, ids[1], e)) == 0)
		rc = sweep_print_again(&v[0], &v[1], o->rows, d, e);
	sweep_view_free(&v[0]);
	sweep_view_free(&v[1]);
	return rc;
}

/* What the options ask of this sweep; a guided search is made one. */
static int apply_options(const struct options *o, struct sweep *s, struct err *e)
{
	if (o->again_ppm != NONE && strcmp(s->fidelity, "analytic") != 0)
		return err_set(e, ERR_USAGE,
		               "--again is for sweeps at analytic fidelity: 'fidelity: analytic' is not in '%s'",
		               s->path);
	if (o->guided)
		sweep_guide(s, o->guided);
	if (s->sample == SWEEP_GUIDED && o->shard_n > 1)
		return err_set(
			e, ERR_USAGE,
			"a guided search asks every point what the others were worth: it cannot run as shards; run it on"
			" one machine with -j, or the grid as shards");
	return 0;
}

static int run(const struct options *o, struct sweep *s, struct resdb *db, struct doc *d, struct err *e)
{
	struct sweep_job job = { .jobs = (unsigned)o->jobs,
		                 .shard = o->shard_i,
		                 .shards = o->shard_n,
		                 .retry = o->retry,
		                 .mixed = o->mixed,
		                 .progress = on_points };
	struct watch checking = { .label = "checking" }, running = { .label = "sweep" };
	struct sweep_done done;
	struct inputs in;
	int rc = -1;

	memset(&in, 0, sizeof in);
	if (apply_options(o, s, e) < 0 || read_inputs(&in, o, s, &job.spec, e) < 0)
		goto out;
	rc = sweep_expand(s, o->max, on_points, &checking, e);
	progress_free(checking.line);
	if (rc < 0)
		goto out;
	job.stream = &in.w.stream;
	job.build = build_point;
	job.build_arg = &in;
	job.workload = &in.workload;
	job.how = (struct run_opts){ .start = strcmp(s->start, "cold") == 0 ? RUN_COLD : RUN_STEADY,
		                     .seed = s->seed,
		                     .reuse_given = s->reuse_given,
		                     .reuse_ppm = s->reuse_ppm,
		                     .fidelity = strcmp(s->fidelity, "analytic") == 0 ? RUN_ANALYTIC : RUN_EVENT };
	job.reuse_ppm = s->reuse_given ? s->reuse_ppm : picks_reuse(&in.w.stream);
	announce(s, &job, s->sample == SWEEP_GUIDED ? (size_t)s->sample_n : points_of_shard(s, &job), o->dry);
	if (o->dry) {
		doc_table(d, NULL, NULL, s->n_points, listed, s);
		goto out;
	}
	job.arg = &running;
	rc = s->sample == SWEEP_GUIDED ? sweep_search(s, &job, db, &done, e) : sweep_run(s, &job, db, &done, e);
	progress_free(running.line);
	if (rc == 0 && s->sample == SWEEP_GUIDED)
		fprintf(stderr, "npusim: %zu points in %zu generations%s\n", s->n_points, s->generations,
		        s->n_points < s->sample_n ? "; there are no others" : "");
	if (rc < 0 && o->results)
		err_add(e, "sweeping; what is done is kept in '%s', and the same command goes on", o->results);
	if (rc == 0 && done.ran < done.mine - s->n_refused && done.there > s->n_refused)
		fprintf(stderr, "npusim: %zu points were there already, %zu ran\n", done.there, done.ran);
	if (rc == 0 && (o->again_ppm == NONE || d->format == OUT_TABLE))
		rc = show(db, done.id, o, d, e);
	if (rc == 0 && o->again_ppm != NONE) {
		int64_t ids[2] = { done.id, -1 };

		if ((rc = run_again(s, &job, db, o->again_ppm, ids[0], &ids[1], e)) == 0)
			rc = show_again(db, ids, o, d, e);
	}
out:
	workload_free(&in.w);
	return rc;
}

/* --- options ----------------------------------------------------------------------------------------------- */

static int parse_shard(struct options *o, struct err *e)
{
	char *end;

	o->shard_i = o->shard_n = 1;
	if (!o->shard)
		return 0;
	o->shard_i = strtoull(o->shard, &end, 10);
	if (end == o->shard || *end != '/' || end[1] < '0' || end[1] > '9')
		return err_set(e, ERR_USAGE, "'%s' is no shard: write 1/4 for the first of four, for option '--shard'",
		               o->shard);
	o->shard_n = strtoull(end + 1, &end, 10);
	if (*end || o->shard_n == 0 || o->shard_n > 1000000)
		return err_set(e, ERR_USAGE, "'%s' is no shard: write 1/4 for the first of four, for option '--shard'",
		               o->shard);
	if (o->shard_i < 1 || o->shard_i > o->shard_n)
		return err_set(e, ERR_USAGE, "there is no shard %" PRIu64 " of %" PRIu64 ": they are 1 to %" PRIu64,
		               o->shard_i, o->shard_n, o->shard_n);
	return 0;
}

static int check_options(struct options *o, struct err *e)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (o->jobs == 0)
		o->jobs = cpus > 0 ? (uint64_t)cpus : 1;
	if (o->jobs > 512)
		return err_set(e, ERR_USAGE, "more than 512 workers, for option '--jobs'");
	if (o->again_ppm != NONE && (o->again_ppm == 0 || o->again_ppm > 1000000))
		return err_set(e, ERR_USAGE, "a share lies above 0 and up to 1, for option '--again'");
	if (o->again_ppm != NONE && o->shard)
		return err_set(e, ERR_USAGE,
		               "--again needs all points: merge the shards first, and run it on their file");
	return workload_check(&o->workload, WORKLOAD_SWEEP, e) < 0 ? -1 : parse_shard(o, e);
}

static int sweep(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct options *o = options;
	struct resdb *db = NULL;
	struct sweep *s = NULL;
	int rc = -1;

	o->file = args->v[0];
	if (check_options(o, e) == 0 && (s = sweep_load(o->file, e)) &&
	    (o->dry || (db = res_open(o->results ? o->results : ":memory:", DB_WRITE, e))))
		rc = run(o, s, db, d, e);
	sweep_free(s);
	return res_close(db, rc, e);
}

int cmd_sweep(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .max = SWEEP_POINTS_MAX, .rows = 50, .again_ppm = NONE };
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ 'j', "jobs", OPT_COUNT, &o.jobs, "N",
		  "workers; as many as there are processors by default. Rows do not depend"
		  " on it" },
		{ 'o', "output", OPT_WRITE, &o.results, "R.db",
		  "store the points in this results database as they are done; the"
		  " same command goes on where it was stopped" },
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o.workload, WORKLOAD_SWEEP) },
		{ 0, "dry-run", OPT_FLAG, &o.dry, NULL, "check every point and list them; run none" },
		{ 0, "shard", OPT_TEXT, &o.shard, "I/N",
		  "run only every Nth point, from the Ith: 1/4 to 4/4 are all of them;"
		  " 'npusim merge' joins the files. Not with --guided, whose points hang on each other" },
		{ 0, "again", OPT_PPM, &o.again_ppm, "SHARE",
		  "after a sweep at analytic fidelity, run its most promising SHARE (0.1: a tenth, the front first) "
		  "again"
		  " with events, and say how far the two are apart" },
		{ 0, "guided", OPT_COUNT, &o.guided, "N",
		  "instead of the file's grid or sample, search for the front of its objectives with N points;"
		  " not with --shard: each generation needs all results of the one before it, and shards know nothing of"
		  " each other" },
		{ 0, "max", OPT_COUNT, &o.max, "N", "take a sweep of up to N points; 100,000 by default" },
		{ 0, "retry", OPT_FLAG, &o.retry, NULL, "run failed points again" },
		{ 0, "mixed-builds", OPT_FLAG, &o.mixed, NULL, "go on in a file whose points another build made" },
		{ 0, "allow-opaque", OPT_FLAG, &o.allow_opaque, NULL, "as for 'npusim run'" },
		{ 0, "rows", OPT_U64, &o.rows, "N", "points in the table; 50 by default (csv and json have all)" },
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim sweep SWEEP.yaml [-j N] [-o R.db] [--dry-run] [--shard I/N] [options]",
		"Runs one workload on many designs. The sweep file names a base machine, a workload, and axes: any "
		"parameter with"
		" its values, all combinations or a sample of them. Every point's configuration is checked before the "
		"first one"
		" runs. -t, --range and --rules say the workload instead of the file. A point that fails is a row with its reason. Objectives, constraints and further columns are "
		"expressions"
		" over results and parameters. It may be killed at any moment: with -o the same command goes on.",
		"cat >/tmp/s.yaml <<END    # a file of one's own\n"
		"sweep: 1\n"
		"base: configs/npu/dsocr.yaml\n"
		"trace: traces/h200/kineto_dsocr_b1_c1024.json.gz\n"
		"range: decode_step_1\n"
		"axes:\n"
		"  l2.size: [64 MiB, 128 MiB, 256 MiB]\n"
		"  dram.bandwidth: {from: 1 TB/s, to: 4 TB/s, steps: 3, scale: log}\n"
		"objectives: [latency_us, l2.size]\n"
		"END\n"
		"npusim sweep /tmp/s.yaml -o /tmp/r.db\n"
		"npusim sweep configs/studies/l2-size.yaml -o /tmp/l2.db\n"
		"npusim sweep configs/studies/l2-size.yaml --dry-run\n"
		"npusim sweep configs/studies/l2-policy.yaml -j 1 --format csv\n"
		"npusim sweep configs/studies/balance.yaml --guided 288 -o /tmp/r.db\n",
		opts,
		1,
		1
	};

	return cmd_do(&cmd, &o.format, sweep, &o, argc, argv, out, e);
}
