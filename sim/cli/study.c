/* study.c - npusim study: commands run, figures taken, claims held against them. */
#include "sim/cli/study_commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/path.h"
#include "sim/report/experiment_doc.h"
#include "sim/ui/outfile.h"
#include "sim/ui/progress.h"

struct options {
	const char *page, *pages, *markdown, *format;
	uint64_t jobs;
	struct workload_spec workload; /* to refuse */
	const struct opt_cmd *cmd;     /* this one */
	const struct cmd *all;
	bool dry;
};

static int write_page(const char *path, const struct experiment *x, struct err *e)
{
	struct str text = STR_INIT;
	int rc;

	experiment_page(x, &text);
	rc = outfile_write(path, &text, e);
	str_free(&text);
	return rc;
}

static int write_pages(const char *folder, const struct experiments *s, struct err *e)
{
	for (size_t i = 0; i < s->n; i++) {
		char *path = study_page_in(folder, s->v[i]);

		if (!path)
			return err_nomem(e, NULL);
		if (write_page(path, s->v[i], e) < 0)
			return -1;
	}
	return 0;
}

static int write_markdown(const char *path, const struct experiments *s, struct err *e)
{
	struct str text = STR_INIT;
	int rc;

	experiment_markdown(s, &text);
	rc = outfile_write(path, &text, e);
	str_free(&text);
	return rc;
}

static int write_files(const struct options *o, const struct experiments *s, struct err *e)
{
	if ((o->page && write_page(o->page, s->v[0], e) < 0) || (o->pages && write_pages(o->pages, s, e) < 0))
		return -1;
	return o->markdown ? write_markdown(o->markdown, s, e) : 0;
}

/* --- all of it --------------------------------------------------------------------------------------------- */

static void watch(void *progress, size_t done, size_t of)
{
	(void)of;
	progress_set(progress, done);
}

static int study_run(struct experiment *x, const struct experiment_runner *by, uint64_t jobs, struct err *e)
{
	size_t n = 0;
	struct progress *p;
	int rc;

	for (size_t i = 0; i < x->n_runs; i++)
		n += x->runs[i].same == i;
	p = progress_new("study", "commands", n);
	rc = experiment_run(x, by, (unsigned)jobs, watch, p, e);
	progress_free(p);
	return rc < 0 ? -1 : experiment_judge(x, e);
}

/* All files are read before the first command runs. */
static int run_all(const struct opt_cmd *cmd, const struct opt_list *files, const struct options *o,
                   const struct cmd *all, struct experiments *s, struct err *e)
{
	const struct experiment_runner by = study_commands(all);

	while (s->n < (size_t)files->n) {
		struct experiment *x = study_load(files->v[s->n], &by, e);

		if (!x)
			return -1;
		s->v[s->n++] = x;
		if (experiment_check(x, e) < 0)
			return -1;
	}
	if (study_check_files(cmd, files, s, o->pages, e) < 0)
		return -1;
	for (size_t i = 0; i < s->n && !o->dry; i++)
		if (study_run(s->v[i], &by, o->jobs, e) < 0)
			return -1;
	return o->dry ? 0 : experiment_agree(s->v, s->n, e);
}

static int study(void *options, const struct opt_list *files, struct doc *d, struct err *e)
{
	struct options *o = options;
	struct experiments s = { NULL, 0 };
	int rc = -1;

	if (workload_check(&o->workload, WORKLOAD_STUDY, e) < 0 || opt_jobs(&o->jobs, EXPERIMENT_JOBS, e) < 0)
		return -1;
	if (o->page && files->n > 1)
		return err_set(e, ERR_USAGE, "'--page' is of one study: of several, '--pages FOLDER'");
	if (!(s.v = calloc((size_t)files->n + 1, sizeof *s.v)))
		return err_nomem(e, NULL);
	if (run_all(o->cmd, files, o, o->all, &s, e) == 0) {
		if (o->dry)
			experiment_commands(&s, d->to);
		else
			experiment_doc(d, &s);
		rc = o->dry ? 0 : write_files(o, &s, e);
	}
	for (size_t i = 0; i < s.n; i++)
		experiment_free(s.v[i]);
	free(s.v);
	return rc;
}

int cmd_study(const struct cmd *all, int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .page = NULL };
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o.workload, WORKLOAD_STUDY) },
		{ 0, "page", OPT_WRITE, &o.page, "FILE.html", "write a page there, for any browser" },
		{ 0, "pages", OPT_FOLDER, &o.pages, "FOLDER", "write a page of each study into this folder" },
		{ 0, "markdown", OPT_WRITE, &o.markdown, "FILE.md", "write the claims there, a row each" },
		{ 0, "dry-run", OPT_FLAG, &o.dry, NULL, "read the files and list the commands; nothing runs" },
		{ 'j', "jobs", OPT_COUNT, &o.jobs, "N",
		  "commands side by side; as many as there are processors by default. 1: one after the other, in this process."
		  " The answer does not depend on it" },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS,
		  CMD_FORMAT_HELP "; csv has the claims, or the questions where there are none" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim study FILE.yaml... [--page FILE.html] [--markdown FILE.md]",
		"Questions answered: the commands of a file are run, figures are taken of what they say, each question of the file"
		" (asks) is answered by figures alone, with the tables that show it, and each claim of the"
		" file is held against them. A claim is right, right in part, or wrong by an expression over figures; one that"
		" cannot be asked says why. Commands write no file, and a file beside the study is found by its name.\n\n"
		"A file:\n"
		"  study: 1\n"
		"  title: Does a larger batch pay?\n"
		"  runs:\n"
		"  - name: dec\n"
		"    command: run -c dsocr -m llama-3.2-1b --batch {b}\n"
		"    for: {b: [1, 16]}\n"
		"    table: A decode step\n"
		"    take: {tok: {at: tokens_per_s, as: tokens/s, digits: 0}}\n"
		"    make: {gain: {is: tok / first.tok, as: gain, digits: 1}}\n"
		"  asks:\n"
		"  - ask: What do sixteen sequences give?\n"
		"    answer: \"More: {dec.b16.tok; 0} tokens a second.\"\n"
		"    holds: dec.b16.tok > dec.b1.tok\n"
		"    shows: [dec]\n"
		"  claims:\n"
		"  - says: sixteen sequences are ten times the tokens\n"
		"    right: dec.b16.gain >= 10\n"
		"    why: \"{dec.b16.gain; 1} times\"",
		"npusim study configs/studies/batching.yaml\n"
		"npusim study configs/studies/ask-report.yaml\n"
		"npusim study configs/studies/gb200-roofline.yaml --page /tmp/gb200.html\n"
		"npusim study configs/studies/batching.yaml configs/studies/gqa.yaml --markdown /tmp/claims.md\n",
		opts,
		1,
		64
	};

	o.cmd = &cmd;
	o.all = all;
	return cmd_do(&cmd, &o.format, study, &o, argc, argv, out, e);
}
