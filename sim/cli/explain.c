/* explain.c - npusim explain: a stored run in ten sentences, each with its figure and where that is from. */
#include "sim/report/explain.h"

#include <math.h>
#include <string.h>

#include "sim/cli/cmd.h"
#include "traces/text/input.h"

#define DOCUMENT_MOST ((size_t)64 << 20)
#define MEMORY        ((size_t)4 << 30) /* beyond that a database is damaged or hostile */
#define WIDTH         100

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

/* What a document tells of itself, as 'npusim design --format json' wrote it. */
static const char *text_at(const struct json *x, const char *key)
{
	for (size_t i = 0; x->kind == JSON_OBJECT && i < x->n; i++)
		if (strcmp(x->v[i]->key, key) == 0)
			return x->v[i]->kind == JSON_TEXT ? x->v[i]->text : "";
	return "";
}

static double number_at(const struct json *x, const char *key)
{
	for (size_t i = 0; x->kind == JSON_OBJECT && i < x->n; i++)
		if (strcmp(x->v[i]->key, key) == 0 && x->v[i]->kind == JSON_NUMBER)
			return x->v[i]->number;
	return NAN;
}

static int sentences(const struct json *list, struct explain_line lines[EXPLAIN_LINES])
{
	int n = 0;

	for (size_t i = 0; list->kind == JSON_LIST && i < list->n && n < EXPLAIN_LINES; i++) {
		const struct json *x = list->v[i];

		lines[n] = (struct explain_line){ text_at(x, "about"),   text_at(x, "text"), text_at(x, "figure"),
			                          number_at(x, "value"), text_at(x, "unit"), text_at(x, "where"),
			                          text_at(x, "source") };
		n += *lines[n].text != '\0';
	}
	return n;
}

static int read_all(struct input *in, struct str *text, struct err *e)
{
	char buf[65536];
	long n;

	while ((n = input_read(in, buf, sizeof buf, e)) > 0) {
		if (text->len + (size_t)n > DOCUMENT_MOST)
			return err_set(e, ERR_IO, "'%s' is larger than a document of npusim", input_name(in));
		str_addn(text, buf, (size_t)n);
	}
	return n < 0 ? -1 : text->failed ? err_nomem(e, "for a document") : 0;
}

static int told_document(const char *path, struct arena *a, struct explain_line lines[EXPLAIN_LINES], struct err *e)
{
	struct str text = STR_INIT;
	struct input *in = input_open(path, e);
	const struct json *root = NULL, *list;
	int n = -1;

	if (in && read_all(in, &text, e) == 0 && !(root = json_parse(str_c(&text), text.len, a, e)))
		err_add(e, "reading '%s'", path);
	if (root) {
		struct err none = ERR_INIT;

		list = json_find(root, "explained", &none);
		n = list ? sentences(list, lines) : 0;
		if (!n)
			n = err_set(
				e, ERR_IO,
				"'%s' explains nothing: 'npusim design' and 'npusim ablate' write what does, with --format json",
				path);
	}
	input_free(in);
	str_free(&text);
	return n;
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
	const char *path = args->v[0];
	int n = !a                          ? err_nomem(e, "for a run")
	        : str_suffix(path, ".json") ? told_document(path, a, lines, e)
	                                    : told(path, o->run, a, lines, e);

	if (n > 0 && d->format == OUT_TABLE)
		print_text(d, lines, n);
	else if (n > 0)
		doc_table(d, NULL, NULL, (size_t)n, explain_row, lines);
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
		"npusim explain (R.db [--run N] | DESIGN.json | ABLATION.json)",
		"A stored run in ten sentences: how long it takes and how sure that is, what holds it, what no mapping could be"
		" under, what passes DRAM, where the time goes, what it takes in energy, and what to change. Below each stand"
		" its figure, the ops or the resource that it is of, and where the constant behind it is from, as the machine's file"
		" says. What to change is said where 'npusim limits -o' stored it. Of a design, as 'npusim design --format json' writes"
		" one: what to build, what that reaches and at what price, what led there, what lies beside it. Of an ablation,"
		" as 'npusim ablate --format json' writes one: what all of it saves, what pays most, what is missed, what costs, what does"
		" nothing, how its claims stand.",
		"npusim run -c configs/npu/dsocr.yaml -m llama-3.2-1b -o /tmp/r.db\n"
		"npusim explain /tmp/r.db\n"
		"npusim limits -c configs/npu/dsocr.yaml -m llama-3.2-1b -o /tmp/r.db\n"
		"npusim explain /tmp/r.db --run 1 --format json\n"
		"npusim design -c dsocr -m llama-3.2-1b --reach 'tokens_per_s >= 1400' --format json >/tmp/d.json\n"
		"npusim explain /tmp/d.json\n"
		"npusim ablate configs/studies/npu-recommendations.yaml -w 'Llama-1B decode' --fidelity analytic --format json"
		" >/tmp/a.json\n"
		"npusim explain /tmp/a.json\n",
		opts,
		1,
		1
	};

	return cmd_do(&cmd, &o.format, explain, &o, argc, argv, out, e);
}
