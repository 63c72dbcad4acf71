/* ablate.c - npusim ablate: a machine and named changes, each alone, all together, all but one, on each workload of a file. */

#include <string.h>

#include "sim/base/version.h"
#include "sim/cli/cmd.h"
#include "sim/cli/ops_table.h"
#include "sim/report/ablate_explain.h"
#include "sim/report/run_verdict.h"
#include "sim/ui/outfile.h"
#include "sim/ui/progress.h"
#include "workloads/known.h"

struct options {
	const char *file, *fidelity, *page, *format;
	struct workload_spec all; /* what of all its workloads is said by an option */
	struct opt_list workloads;
	uint64_t seed, jobs;
};

struct running {
	struct progress *p;
	size_t before, after; /* runs of the workloads before this one and after it, as far as they are known */
	size_t here;          /* of this one */
};

static void on_progress(void *arg, size_t done, size_t of)
{
	struct running *r = arg;

	r->here = of;
	progress_of(r->p, r->before + of + r->after);
	progress_set(r->p, r->before + done);
}

static size_t all_runs(const struct ablation *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->n_workloads; i++)
		n += ablate_runs(x, i);
	return n;
}

static int cmd_ablate_load(const struct options *o, const struct ablate_workload *from, struct workload *w,
                           uint64_t *tokens, struct err *e)
{
	struct workload_spec s = from->spec;

	s.rules = s.rules || s.model ? s.rules : o->all.rules;
	if (cmd_workload_read(&s, NULL, w, e) < 0 || ops_some_known(&w->stream, e) < 0)
		return err_add(e, "reading workload '%s'", from->name);
	*tokens = workload_tokens(w);
	if (!*tokens)
		*tokens = workload_stream_tokens(&w->stream,
		                                 s.range || w->in.trace.steps < 1 ? 1 : (uint64_t)w->in.trace.steps);
	return 0;
}

static int run_all(const struct options *o, struct ablate_doc *v, struct err *e)
{
	const struct ablation *x = v->x;
	struct running r = { .p = progress_new("ablate", "runs", all_runs(x)), .after = all_runs(x) };
	struct ablate_how how = { .both = !o->fidelity,
		                  .fidelity =
		                          o->fidelity && strcmp(o->fidelity, "event") == 0 ? RUN_EVENT : RUN_ANALYTIC,
		                  .seed = o->seed,
		                  .jobs = (unsigned)o->jobs,
		                  .progress = on_progress,
		                  .arg = &r };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < x->n_workloads; i++) {
		struct workload w;

		r.after -= ablate_runs(x, i);
		rc = cmd_ablate_load(o, &x->workloads[i], &w, &v->tokens[i], e);
		if (rc == 0)
			rc = ablate_run(x, i, &w.stream, &how, x->a, &v->results[i], e);
		workload_free(&w);
		r.before += r.here;
	}
	progress_free(r.p);
	return rc;
}

static int write_page(const struct ablate_doc *v, const char *path, struct err *e)
{
	struct str page = STR_INIT;
	int rc;

	ablate_page(v, &page);
	rc = outfile_write(path, &page, e);
	str_free(&page);
	return rc;
}

static int ablate(const struct options *o, struct doc *d, struct err *e)
{
	struct ablation *x = ablate_load(o->file, e);
	struct explain_line lines[EXPLAIN_LINES];
	struct ablate_doc v = { .x = x, .fidelity = o->fidelity ? o->fidelity : "both", .build = npusim_build_id() };
	int rc = -1;

	if (!x || ablate_choose(x, o->workloads.v, o->workloads.n, e) < 0)
		goto out;
	v.results = arena_array(x->a, x->n_workloads + 1, sizeof *v.results);
	v.tokens = arena_array(x->a, x->n_workloads + 1, sizeof *v.tokens);
	if (!v.results || !v.tokens)
		err_nomem(e, "for an ablation");
	else
		rc = run_all(o, &v, e);
	if (rc == 0 && (rc = ablate_explain(&v, x->a, lines, e)) >= 0) {
		v.lines = lines;
		v.n_lines = (size_t)rc;
		rc = 0;
	}
	if (rc == 0)
		ablate_doc(d, &v);
	if (rc == 0 && o->page)
		rc = write_page(&v, o->page, e);
out:
	ablate_free(x);
	return rc;
}

/* --- options ------------------------------------------------------------------------------------------------------- */

static int ablate_check_options(struct options *o, const struct opt_list *args, struct err *e)
{
	if (args->n == 0)
		return err_set(e, ERR_USAGE, "the ablation is missing: npusim ablate FILE.yaml");
	o->file = args->v[0];
	if (workload_check(&o->all, WORKLOAD_ABLATE, e) < 0)
		return -1;
	if (o->fidelity && strcmp(o->fidelity, "event") != 0 && strcmp(o->fidelity, "analytic") != 0)
		return err_set(e, ERR_USAGE, "unknown fidelity '%s': it is event or analytic", o->fidelity);
	if (opt_jobs(&o->jobs, ABLATE_JOBS, e) < 0)
		return -1;
	return 0;
}

static int cmd_ablate_run(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	return ablate_check_options(options, args, e) < 0 ? -1 : ablate(options, d, e);
}

int cmd_ablate(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .seed = RUN_SEED };
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ 'w', "workload", OPT_LIST, &o.workloads, "NAME", "only this workload of the file; may be repeated" },
		{ 0, "page", OPT_WRITE, &o.page, "FILE.html",
		  "write a page there, for any browser: first which change to build for which workload and the whole in sentences,"
		  " then of each change whether it is as claimed on each workload, by how much and why" },
		{ 0, "fidelity", OPT_TEXT, &o.fidelity, "event|analytic",
		  "how all of them are run, and judged by that alone; analytic, the closed form, takes seconds. By default in closed"
		  " form, and again with events, which take a hundred times as long, where that is too near the base: under"
		  " twice what the two are apart there" },
		{ 'j', "jobs", OPT_COUNT, &o.jobs, "N",
		  "workers; as many as there are processors by default. The answer does not depend on it" },
		{ 0, "seed", OPT_U64, &o.seed, "N", "of everything drawn at random; 1 by default" },
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o.all, WORKLOAD_ABLATE) },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim ablate FILE.yaml [options]",
		"What each of a list of changes is worth: a machine is run without them, with each alone, with all of them, and with"
		" all but each. The file names the machine, the changes with the keys they set and what is claimed of them, and the"
		" workloads. For each change: time, tokens a second, DRAM bytes, and a sentence. 'right' is a change that does as"
		" claimed on that workload, 'together' one that alone does nothing and that all together would miss, 'nothing' and"
		" 'wrong' say so of this workload alone. 'within error' is no verdict: what it does is no more than events and closed"
		" form differ by, and both are told. A change that npusim has no model for is listed as 'not modelled' and never"
		" judged. Of workloads that are in suites a claim is judged by the mean of each suite: right where it pays on all, in part"
		" where on some, wrong where on none, open where events and closed form do not agree; who spends area owes what as much"
		" does elsewhere ('exchange').\n\n"
		"A file:\n"
		"  ablation: 1\n"
		"  base: configs/npu/dsocr.yaml\n"
		"  set: {l2.size: 48 MiB}\n"
		"  exchange: {cores: 48}     # what area is taken from\n"
		"  workloads:\n"
		"  - {name: decode, model: llama-3.2-1b, context: 1024, suite: decode, weight: 9}   # weight: of a mix\n"
		"  changes:\n"
		"  - name: a larger L2\n"
		"    says: 128 to 256 MB instead of 50\n"
		"    set: {l2.size: 192 MiB}\n"
		"    mechanism: what is read again is still on chip\n"
		"    expects: faster         # or no slower, or less energy\n"
		"    pays: decode\n"
		"  - {name: links, not_modelled: a machine is one chip}",
		"npusim ablate configs/studies/npu-recommendations.yaml -w 'Llama-1B decode' --fidelity analytic\n"
		"npusim ablate configs/studies/npu-recommendations.yaml\n"
		"npusim ablate configs/studies/npu-recommendations.yaml --page /tmp/recommendations.html\n"
		"npusim ablate configs/studies/npu-recommendations.yaml -w 'DeepSeek-OCR decode' --format csv\n"
		"npusim ablate configs/studies/npu-recommendations.yaml -w 'Llama-1B decode' --fidelity analytic --format json"
		" >/tmp/a.json\n"
		"npusim explain /tmp/a.json\n",
		opts,
		1,
		1
	};

	return cmd_do(&cmd, &o.format, cmd_ablate_run, &o, argc, argv, out, e);
}
