/* explain.c - npusim explain: a stored run in ten sentences, each with its figure and where that is from. */
#include "sim/report/explain.h"

#include "sim/cli/cmd.h"

#define MEMORY ((size_t)4 << 30) /* beyond that a database is damaged or hostile */
#define WIDTH  100

/* --- what is told ------------------------------------------------------------------------------------------ */

static int64_t last_of(struct resdb *db, struct arena *a, struct err *e)
{
	struct res_stored *all;
	size_t n;

	if (res_list(db, a, &all, &n, e) < 0)
		return -1;
	if (!n)
		return err_set(e, ERR_IO, "there is no run in it: 'npusim run -o' stores one");
	return all[n - 1].run.id;
}

static int told(const char *path, uint64_t run, struct arena *a, struct explain_line lines[EXPLAIN_LINES],
                struct err *e)
{
	struct resdb *db = res_open(path, DB_READ, e);
	struct res_stored r;
	int64_t id = run ? (int64_t)run : db ? last_of(db, a, e) : -1;
	int rc = db && id > 0 ? res_get(db, id, a, &r, e) : -1;

	if (rc == 0)
		rc = explain_run(&r, a, lines, e);
	if (rc == 0)
		rc = err_set(e, ERR_IO, "run %lld of '%s' has no simulated time to explain", (long long)id, path);
	res_free(db);
	return rc;
}

/* --- how it is printed ------------------------------------------------------------------------------------- */

/* A sentence, and below it what it stands on. */
static void print_text(struct doc *d, const struct explain_line *lines, int n)
{
	for (int i = 0; i < n; i++) {
		struct str under = STR_INIT;

		doc_say(d, "%2d  ", i + 1);
		out_wrap(lines[i].text, 4, 4, WIDTH, d->to);
		str_addf(&under, "%s %.6g%s%s, %s; %s", lines[i].figure, lines[i].value, *lines[i].unit ? " " : "",
		         lines[i].unit, lines[i].where, lines[i].source);
		doc_say(d, "      ");
		out_wrap(str_c(&under), 6, 6, WIDTH, d->to);
		doc_free(d, &under);
	}
}

static void line_row(struct doc *d, const void *of, size_t i)
{
	const struct explain_line *x = (const struct explain_line *)of + i;

	doc_text(d, "about", x->about);
	doc_text(d, "text", x->text);
	doc_text(d, "figure", x->figure);
	doc_real(d, "value", 6, x->value);
	doc_text(d, "unit", x->unit);
	doc_text(d, "where", x->where);
	doc_text(d, "source", x->source);
}

/* --- options ----------------------------------------------------------------------------------------------- */

struct options {
	const char *format;
	uint64_t run;
};

static int explain(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct explain_line lines[EXPLAIN_LINES];
	struct arena *a = arena_new(MEMORY);
	int n = a ? told(args->v[0], o->run, a, lines, e) : err_nomem(e, "for a run");

	if (n > 0 && d->format == OUT_TABLE)
		print_text(d, lines, n);
	else if (n > 0)
		doc_table(d, NULL, NULL, (size_t)n, line_row, lines);
	arena_free(a);
	return n < 0 ? -1 : 0;
}

int cmd_explain(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .format = NULL };
	const struct opt opts[] = {
		{ 0, "run", OPT_COUNT, &o.run, "N", "which of the file's runs; the last by default" },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim explain R.db [--run N]",
		"A stored run in ten sentences: how long it takes and how sure that is, what holds it, what no mapping could be"
		" under, what passes DRAM, where the time goes, what it takes in energy, and what to change. Below each stand"
		" its figure, the ops or the resource that it is of, and where the constant behind it is from, as the machine's file"
		" says. What to change is said where 'npusim limits -o' stored it.",
		"npusim run -c configs/npu/dsocr.yaml -m llama-3.2-1b -o /tmp/r.db\n"
		"npusim explain /tmp/r.db\n"
		"npusim limits -c configs/npu/dsocr.yaml -m llama-3.2-1b -o /tmp/r.db\n"
		"npusim explain /tmp/r.db --run 1 --format json\n",
		opts,
		1,
		1
	};

	return cmd_do(&cmd, &o.format, explain, &o, argc, argv, out, e);
}
