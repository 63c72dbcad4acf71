/* sweep.c - npusim sweep: options, what is said on the way, exit codes. */
#include "sim/cli/sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/picks.h"
#include "sim/report/sweep_doc.h"
#include "sim/ui/progress.h"

/* --- running ----------------------------------------------------------------------------------------------- */

void sweep_on_points(void *arg, size_t done, size_t of)
{
	struct sweep_watch *w = arg;

	if (!w->tried) {
		w->line = progress_new(w->label, "points", of);
		w->tried = true;
	}
	progress_set(w->line, done);
}

static void before(void *arg, const size_t *todo, size_t n)
{
	const struct sweep_watch *w = arg;

	sweep_announce(w->s, w->job, todo, n, false);
}

/* What the options ask of this sweep; a guided search is made one. */
static int apply_options(const struct sweep_opts *o, struct sweep *s, struct err *e)
{
	if (o->again_ppm != SWEEP_NO_AGAIN && strcmp(s->fidelity, "analytic") != 0)
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

static int cmd_sweep_run(const struct sweep_opts *o, struct sweep *s, struct resdb *db, struct doc *d, struct err *e)
{
	struct sweep_job job = { .jobs = (unsigned)o->jobs,
		                 .shard = o->shard_i,
		                 .shards = o->shard_n,
		                 .retry = o->retry,
		                 .mixed = o->mixed,
		                 .progress = sweep_on_points };
	struct sweep_watch checking = { .label = "checking" }, running = { .label = "sweep" };
	struct sweep_done done;
	struct sweep_inputs in;
	int rc = -1;

	memset(&in, 0, sizeof in);
	if (apply_options(o, s, e) < 0 || sweep_inputs_read(&in, o, s, &job.spec, e) < 0)
		goto out;
	rc = sweep_expand(s, o->max, sweep_on_points, &checking, e);
	progress_free(checking.line);
	if (rc < 0)
		goto out;
	job.stream = in.mix.n ? in.mix.parts[0].stream : &in.w.stream;
	job.parts = in.mix.parts;
	job.n_parts = in.mix.n;
	job.build = sweep_inputs_build;
	job.build_arg = &in;
	job.serve = s->serve ? &s->serve->ask : NULL;
	job.workload = &in.workload;
	job.how = (struct run_opts){ .seed = s->seed,
		                     .reuse_given = s->reuse_given,
		                     .reuse_ppm = s->reuse_ppm,
		                     .fidelity = strcmp(s->fidelity, "analytic") == 0 ? RUN_ANALYTIC : RUN_EVENT };
	if ((rc = run_start_parse(s->start, &job.how.start, e)) < 0)
		goto out;
	job.reuse_ppm = s->reuse_given ? s->reuse_ppm : picks_reuse(job.stream);
	if (s->sample == SWEEP_GUIDED)
		sweep_announce(s, &job, NULL, (size_t)s->sample_n, o->dry);
	if (o->dry) {
		if ((rc = s->sample == SWEEP_GUIDED ? 0 : sweep_announce_all(s, &job, e)) == 0)
			sweep_list_doc(d, s);
		goto out;
	}
	running.s = s;
	running.job = &job;
	job.arg = &running;
	job.before = s->sample == SWEEP_GUIDED ? NULL : before;
	rc = s->sample == SWEEP_GUIDED ? sweep_search(s, &job, db, &done, e) : sweep_run(s, &job, db, &done, e);
	progress_free(running.line);
	if (rc == 0 && s->sample == SWEEP_GUIDED)
		fprintf(stderr, "npusim: %zu points in %zu generations%s\n", s->n_points, s->generations,
		        s->n_points < s->sample_n ? "; there are no others" : "");
	if (rc < 0 && o->results)
		err_add(e, "sweeping; what is done is kept in '%s', and the same command goes on", o->results);
	if (rc == 0 && done.ran < done.mine - s->n_refused && done.there > s->n_refused)
		fprintf(stderr, "npusim: %zu points were there already, %zu ran\n", done.there, done.ran);
	if (rc == 0 && (o->again_ppm == SWEEP_NO_AGAIN || d->format == OUT_TABLE))
		rc = sweep_show(db, done.id, o, d, e);
	if (rc == 0 && o->again_ppm != SWEEP_NO_AGAIN)
		rc = sweep_again(s, &job, db, o, done.id, d, e);
out:
	sweep_inputs_free(&in);
	return rc;
}

/* --- options ----------------------------------------------------------------------------------------------- */

static int sweep_check_options(struct sweep_opts *o, struct err *e)
{
	if (opt_jobs(&o->jobs, 512, e) < 0)
		return -1;
	if (o->again_ppm != SWEEP_NO_AGAIN && (o->again_ppm == 0 || o->again_ppm > 1000000))
		return err_set(e, ERR_USAGE, "a share lies above 0 and up to 1, for option '--again'");
	if (o->again_ppm != SWEEP_NO_AGAIN && o->shard)
		return err_set(e, ERR_USAGE,
		               "--again needs all points: merge the shards first, and run it on their file");
	return workload_check(&o->workload, WORKLOAD_SWEEP, e) < 0 ? -1
	                                                           : sweep_shard(o->shard, &o->shard_i, &o->shard_n, e);
}

static int sweep(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct sweep_opts *o = options;
	struct resdb *db = NULL;
	struct sweep *s = NULL;
	int rc = -1;

	o->file = args->v[0];
	if (sweep_check_options(o, e) == 0 && (s = sweep_load(o->file, e)) &&
	    (o->dry || (db = res_open(o->results ? o->results : ":memory:", DB_WRITE, e))))
		rc = cmd_sweep_run(o, s, db, d, e);
	sweep_free(s);
	return res_close(db, rc, e);
}

int cmd_sweep(int argc, char **argv, struct str *out, struct err *e)
{
	struct sweep_opts o = { .max = SWEEP_POINTS_MAX, .rows = 50, .again_ppm = SWEEP_NO_AGAIN };
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
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
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
