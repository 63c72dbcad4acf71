/* plot_fidelity.c - npusim plot fidelity: how far the closed form is off events, at mappings that are forced. */
#include "sim/cli/picture.h"
#include "sim/cli/plot.h"
#include "sim/report/forced_doc.h"
#include "sim/ui/outfile.h"
#include "sim/ui/progress.h"

#define NUMBER      200
#define NUMBER_MOST 100000

struct options {
	uint64_t number, seed;
	const char *table;
	struct picture_to plot;
};

static int write_table(const char *path, const struct probe_forced *x, size_t n, struct err *e)
{
	struct str text = STR_INIT;
	struct doc d;
	int rc;

	doc_init(&d, OUT_CSV, 0, &text);
	forced_doc(&d, x, n);
	rc = outfile_write(path, &text, e);
	str_free(&text);
	return rc;
}

static void on_progress(void *arg, size_t done)
{
	progress_set(arg, done);
}

static int plot_fidelity(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	const size_t n = (size_t)o->number;
	struct arena *a;
	struct probe_forced *x;
	struct progress *bar;
	double *room;
	bool *named;
	int rc;

	(void)args;
	if (picture_check(&o->plot, e) < 0)
		return -1;
	if (n > NUMBER_MOST)
		return err_set(e, ERR_USAGE, "at most %d mappings, for option '--number'", NUMBER_MOST);
	a = arena_new(0);
	x = a ? arena_array(a, n, sizeof *x) : NULL;
	room = a ? arena_array(a, n, sizeof *room) : NULL;
	named = a ? arena_array(a, n, sizeof *named) : NULL;
	bar = progress_new("fidelity", "mappings", n);
	rc = x && room && named ? probe_forced(o->seed, n, a, x, on_progress, bar, e) : err_nomem(e, "for mappings");
	progress_free(bar);
	if (rc == 0 && o->table)
		rc = write_table(o->table, x, n, e);
	if (rc == 0)
		rc = picture_put(&o->plot, forced_chart(x, n, room, named), d->to, e);
	arena_free(a);
	return rc;
}

int cmd_plot_fidelity(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .number = NUMBER, .seed = 1 };
	const struct opt opts[] = {
		{ 'n', "number", OPT_COUNT, &o.number, "N", "so many mappings; 200 by default" },
		{ 0, "seed", OPT_U64, &o.seed, "N", "of machines, products and mappings; 1 by default" },
		{ 0, "table", OPT_WRITE, &o.table, "FILE",
		  "write what is drawn as CSV too: machine, the changes that '--set' makes, product, both times" },
		PICTURE_OPTS(&o.plot),
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim plot fidelity -o FILE [--number N] [--seed N] [options]",
		"Draws how far the closed form is off events where the mapper did not choose: random products on the NPUs that"
		" come with npusim, of random numbers of cores and networks, each by a random mapping that is forced on it"
		" ('mapping' in a machine's file). Runs of less than 10 us are grey: a wait more or less is much of their time." PICTURE_NEEDS,
		"npusim plot fidelity -o /tmp/fidelity.svg\n"
		"npusim plot fidelity -n 1000 --seed 7 -o /tmp/fidelity.png --table /tmp/fidelity.csv\n",
		opts,
		0,
		0
	};

	return cmd_do(&cmd, NULL, plot_fidelity, &o, argc, argv, out, e);
}
