/* page.c - npusim page: a page that simulates (sim/live/live_page.h). */
#include "sim/cli/cmd.h"
#include "sim/live/live_page.h"
#include "sim/ui/outfile.h"

struct options {
	struct live_ask ask;
	const char *to;
	struct opt_list sets;
};

static int check(const struct options *o, struct err *e)
{
	if (!o->ask.config)
		return opt_machine_missing(e);
	if (!o->to)
		return err_set(e, ERR_USAGE, "the page's file is missing: -o FILE.html");
	if (o->ask.spec.trace || o->ask.spec.program || !o->ask.spec.model)
		return err_set(e, ERR_USAGE, "a page is of a model: -m MODEL; 'npusim workload list' has some");
	return workload_check(&o->ask.spec, WORKLOAD_LIMITS, e);
}

static int page(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct options *o = options;
	struct str html = STR_INIT;
	int rc;

	(void)args, (void)d;
	o->ask.sets = o->sets.v;
	o->ask.n_sets = o->sets.n;
	if (check(o, e) < 0)
		return -1;
	if ((rc = live_page_make(&o->ask, &html, e)) == 0)
		rc = outfile_write(o->to, &html, e);
	str_free(&html);
	return rc;
}

int cmd_page(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .ask = { .read = cmd_workload_read } };
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &o.ask.config, "CONFIG", "the machine, in YAML" },
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o.ask.spec, WORKLOAD_LIMITS) },
		{ 's', "set", OPT_SETS, &o.sets, "KEY=VALUE",
		  "change a parameter of the machine first; may be repeated" },
		{ 'o', "output", OPT_WRITE, &o.to, "FILE", "the page: one HTML file, to open in any browser" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim page -c CONFIG -m MODEL [--batch B] [--context N] [--set KEY=VALUE]... -o FILE.html",
		"A page that simulates, in closed form: sliders for the ten parameters that matter most on this machine and workload, and"
		" any other by name; time, energy, area, what holds it and its interval follow. The figures are those of 'npusim run"
		" --fidelity analytic'. It works from a file, without a server and without a network; the address keeps what was set."
		" 'make live' must have built the simulator for it.",
		"npusim page -c configs/npu/dsocr.yaml -m llama-3.2-1b -o /tmp/bench.html\n"
		"npusim page -c configs/npu/edge.yaml -m qwen3-0.6b --batch 4 --context 2048 -o /tmp/edge.html\n",
		opts,
		0,
		0
	};

	return cmd_do(&cmd, NULL, page, &o, argc, argv, out, e);
}
