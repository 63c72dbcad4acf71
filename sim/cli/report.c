/* report.c - npusim report: stored results as one HTML page that needs nothing else. */
#include "sim/cli/cmd.h"
#include "sim/report/page.h"
#include "sim/ui/outfile.h"

/* results/report/embed.S */
extern const char report_page[], report_page_end[];

struct options {
	const char *to, *title;
	struct opt_list runs, sweeps;
};

static int report_check_options(const struct options *o, const struct opt_list *files, struct err *e)
{
	if (!o->to)
		return err_set(e, ERR_USAGE, "the page's file is missing: -o FILE.html");
	if (files->n > 1 && o->runs.n + o->sweeps.n)
		return err_set(e, ERR_USAGE, "--run and --sweep choose within one file; %d are given", files->n);
	return 0;
}

static int report(void *options, const struct opt_list *files, struct doc *d, struct err *e)
{
	const struct options *o = options;
	const struct page_template t = { report_page, report_page_end };
	struct str html = STR_INIT;
	int rc;

	(void)d;
	if (report_check_options(o, files, e) < 0)
		return -1;
	rc = page_make(&t, &(struct page_ask){ files, &o->runs, &o->sweeps, o->title }, &html, e);
	if (rc == 0)
		rc = outfile_write(o->to, &html, e);
	str_free(&html);
	return rc;
}

int cmd_report(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { NULL, NULL, { NULL, 0 }, { NULL, 0 } };
	const struct opt opts[] = {
		{ 'o', "output", OPT_WRITE, &o.to, "FILE", "the page: one HTML file, to open in any browser" },
		{ 0, "title", OPT_TEXT, &o.title, "TEXT", "its heading; the names of the files by default" },
		{ 0, "run", OPT_LIST, &o.runs, "N", "show this run; may be repeated" },
		{ 0, "sweep", OPT_LIST, &o.sweeps, "N", "show this sweep; may be repeated" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim report R.db... -o FILE.html [--title TEXT] [--run N]... [--sweep N]...",
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
		"npusim sweep configs/studies/l2-bandwidth.yaml -j 2 -o /tmp/sweep.db\n"
		"npusim report /tmp/sweep.db -o /tmp/sweep.html --title 'L2 against bandwidth'\n"
		"npusim report /tmp/r.db /tmp/sweep.db -o /tmp/both.html\n",
		opts,
		1,
		-1
	};

	return cmd_do(&cmd, NULL, report, &o, argc, argv, out, e);
}
