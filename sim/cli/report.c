/* report.c - npusim report: stored results as one HTML page that needs nothing else. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/machine/machine_conf.h"
#include "sim/base/cfg.h"
#include "sim/base/temp.h"
#include "sim/cli/cmd.h"
#include "sim/live/live_page.h"
#include "sim/report/page.h"
#include "sim/ui/outfile.h"

/* results/report/embed.S */
extern const char report_page[], report_page_end[];

struct options {
	const char *to, *title;
	bool live, still;
	struct opt_list runs, sweeps;
};

static int report_check_options(const struct options *o, const struct opt_list *files, struct err *e)
{
	if (!o->to)
		return err_set(e, ERR_USAGE, "the page's file is missing: -o FILE.html");
	if (files->n > 1 && o->runs.n + o->sweeps.n)
		return err_set(e, ERR_USAGE, "--run and --sweep choose within one file; %d are given", files->n);
	if (o->live && o->still)
		return err_set(e, ERR_USAGE, "one of '--live' and '--still'");
	if (o->live && (files->n > 1 || o->runs.n > 1 || o->sweeps.n))
		return err_set(e, ERR_USAGE, "'--live' is of one run: it takes one file, --run N and no --sweep");
	return 0;
}

/* --- a page that simulates --------------------------------------------------------------------------------- */

static bool same_machine(const struct str *text, const char *path, const char *want)
{
	struct err ignored = ERR_INIT;
	struct machine_conf *c = machine_conf_parse(str_c(text), text->len, path, NULL, 0, &ignored);
	struct str dump = STR_INIT;
	bool same = false;

	if (c) {
		cfg_dump(c->raw, &dump);
		same = !dump.failed && strcmp(str_c(&dump), want) == 0;
	}
	str_free(&dump);
	machine_conf_free(c);
	return same;
}

/* What is stored has every value, those that follow from others too, and then neither can be moved alone: what was given is better,
 * where this build makes the same machine of it. */
static const char *machine_text(const struct res_run *r)
{
	struct str given = STR_INIT;
	bool same;

	str_add(&given, r->given ? r->given : "");
	same = r->given && same_machine(&given, r->config_path, r->config_text);
	str_free(&given);
	return same ? r->given : r->config_text;
}

/* The machine as it ran, in a file as long as the page is made of it. */
static int live_make(const struct res_stored *r, const struct workload_spec *spec, struct str *html, struct err *e)
{
	const char *folder = getenv("TMPDIR");
	struct str stem = STR_INIT;
	struct temp t = TEMP_INIT;
	struct live_ask ask = { .stored = true, .spec = *spec, .read = cmd_workload_read };
	const char *text = machine_text(&r->run);
	int rc = -1;

	str_addf(&stem, "%s/npusim-report", folder && *folder ? folder : "/tmp");
	if (stem.failed) {
		err_nomem(e, "for the page");
	} else if (temp_open(&t, str_c(&stem), true) < 0 || write(t.fd, text, strlen(text)) != (ssize_t)strlen(text)) {
		err_sys(e, ERR_IO, errno, "cannot keep the machine in '%s'", str_c(&stem));
	} else {
		ask.config = str_c(&t.name);
		ask.name = r->run.config_path;
		rc = live_page_parts(&ask, html, e);
	}
	temp_free(&t);
	str_free(&stem);
	return rc;
}

static int live_spec(const struct res_stored *r, struct arena *a, struct workload_spec *spec, struct err *e)
{
	char *line = r->run.asked ? arena_strdup(a, r->run.asked) : NULL, *next;

	*spec = (struct workload_spec){ .model = NULL };
	for (; line && *line; line = next) {
		if ((next = strchr(line, '\n')))
			*next++ = '\0';
		else
			next = line + strlen(line);
		if (workload_assign(spec, line, a, e) < 0)
			return err_add(e, "reading what run %lld was asked", (long long)r->run.id);
	}
	if (!r->run.asked)
		return err_set(
			e, ERR_USAGE,
			"run %lld was stored by a build that kept no workload: run it again, for option '--live'",
			(long long)r->run.id);
	if (!spec->model || spec->trace)
		return err_set(e, ERR_USAGE,
		               "run %lld is of a trace, and a page simulates models alone: leave '--live' away",
		               (long long)r->run.id);
	return 0;
}

static int live_run(const struct options *o, const char *path, struct str *html, struct err *e)
{
	struct resdb *db = res_open(path, DB_READ, e);
	struct arena *a = arena_new(0);
	struct workload_spec spec;
	struct res_stored r, *all;
	uint64_t id = 0;
	size_t n;
	int rc = db && a ? res_list(db, a, &all, &n, e) : -1;

	if (rc == 0 && o->runs.n)
		rc = cfg_parse_value(CFG_T_U64, o->runs.v[0], &id, e);
	else if (rc == 0 && n == 1)
		id = (uint64_t)all[0].run.id;
	else if (rc == 0)
		rc = err_set(e, ERR_USAGE,
		             "'%s' holds %zu runs, and a page that simulates is of one: choose it with --run N", path,
		             n);
	if (rc == 0 && (rc = res_get(db, (int64_t)id, a, &r, e)) == 0 && (rc = live_spec(&r, a, &spec, e)) == 0)
		rc = live_make(&r, &spec, html, e);
	arena_free(a);
	res_free(db);
	return rc;
}

/* --- the command ------------------------------------------------------------------------------------------- */

#define LIVE_MOST 1000000 /* bytes of a page that simulates without being asked to */

/* A page that simulates: 0, or 1 where nobody asked for it and there is none, or a large one. */
static int report_live(const struct options *o, const struct opt_list *files, const struct page_ask *ask,
                       struct str *html, struct err *e)
{
	struct page_template t = { report_page, report_page_end, NULL };
	struct err why = ERR_INIT;
	struct str live = STR_INIT;
	int rc = 1;

	if (o->still || files->n > 1 || o->runs.n > 1 || o->sweeps.n) {
		rc = 1;
	} else if (live_run(o, files->v[0], &live, &why) == 0) {
		t.live = str_c(&live);
		rc = page_make(&t, ask, html, e);
		if (rc == 0 && !o->live && html->len >= LIVE_MOST)
			rc = 1;
	} else if (o->live) {
		*e = why;
		rc = -1;
	}
	str_free(&live);
	return rc;
}

static int report(void *options, const struct opt_list *files, struct doc *d, struct err *e)
{
	const struct options *o = options;
	const struct page_ask ask = { files, &o->runs, &o->sweeps, o->title };
	const struct page_template t = { report_page, report_page_end, NULL };
	struct str html = STR_INIT;
	int rc;

	(void)d;
	if (report_check_options(o, files, e) < 0)
		return -1;
	if ((rc = report_live(o, files, &ask, &html, e)) == 1) {
		str_clear(&html);
		rc = page_make(&t, &ask, &html, e);
	}
	if (rc == 0)
		rc = outfile_write(o->to, &html, e);
	str_free(&html);
	return rc;
}

int cmd_report(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .to = NULL };
	const struct opt opts[] = {
		{ 'o', "output", OPT_WRITE, &o.to, "FILE", "the page: one HTML file, to open in any browser" },
		{ 0, "title", OPT_TEXT, &o.title, "TEXT", "its heading; the names of the files by default" },
		{ 0, "run", OPT_LIST, &o.runs, "N", "show this run; may be repeated" },
		{ 0, "sweep", OPT_LIST, &o.sweeps, "N", "show this sweep; may be repeated" },
		{ 0, "live", OPT_FLAG, &o.live, NULL,
		  "let the page simulate, however large it becomes: sliders for the ten parameters that matter most and any other by"
		  " name, in closed form as 'npusim page' has them. The page of one run of a model has them without being asked"
		  " where it stays under 1 MB and 'make live' built the simulator for it" },
		{ 0, "still", OPT_FLAG, &o.still, NULL, "let no page simulate" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim report R.db... -o FILE.html [--title TEXT] [--run N]... [--sweep N]... [--live|--still]",
		"Makes a page of what 'npusim run -o' and 'npusim sweep -o' stored, with charts to point at. Of a run: "
		"its"
		" totals with what is known of their error, time by kind of op beside the GPU it was measured on, what "
		"the"
		" time was waited for, what more of each part buys if 'npusim limits -o' stored it, its ops"
		" under the machine's roofline, simulated against measured times. Of a sweep:"
		" the front and its knee, a table of the designs you drag over, lines over the axes with the knee of "
		"each,"
		" parallel coordinates, which axis matters, and the best designs as YAML to copy. Two runs of one"
		" workload open with what differs, as 'npusim compare' has it. All runs and sweeps "
		"of a"
		" file are shown, up to 8 of each, unless --run or --sweep choose. The page holds all it needs: it "
		"works"
		" offline, asks nothing of any network, and can be sent by mail.",
		"npusim run -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1 -o /tmp/r.db\n"
		"npusim report /tmp/r.db -o /tmp/run.html\n"
		"npusim run -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1 --set dram.channels=64 -o /tmp/r.db\n"
		"npusim report /tmp/r.db --run 1 --run 2 -o /tmp/differences.html\n"
		"npusim run -c dsocr -m llama-3.2-1b -o /tmp/model.db\n"
		"npusim report /tmp/model.db --live -o /tmp/live.html\n"
		"npusim sweep configs/studies/l2-bandwidth.yaml -j 2 -o /tmp/sweep.db\n"
		"npusim report /tmp/sweep.db -o /tmp/sweep.html --title 'L2 against bandwidth'\n"
		"npusim report /tmp/r.db /tmp/sweep.db -o /tmp/both.html\n",
		opts,
		1,
		-1
	};

	return cmd_do(&cmd, NULL, report, &o, argc, argv, out, e);
}
