/* report.c - npusim report: stored results as one HTML page that needs nothing else.
 *
 * Names in a database come from strangers' traces. They reach the page as JSON only, in which '<', '>' and '&' are
 * written as escapes, so that no name can end the element it stands in; the page sets text, never markup, and its
 * policy forbids it to ask for anything. */
#include "sim/cli/report.h"

#include <inttypes.h>
#include <string.h>

#include "sim/base/cfg.h"
#include "sim/base/version.h"
#include "sim/cli/run_label.h"
#include "sim/ui/outfile.h"

#define SHOWN_MAX   8                 /* runs and sweeps of a file, without being asked for */
#define PAGE_MEMORY ((size_t)4 << 30) /* beyond that a database is damaged or hostile */

/* results/report/embed.S */
extern const char report_page[], report_page_end[];

struct options {
	const char *to, *title;
	struct opt_list runs, sweeps;
};

/* --- what is shown ----------------------------------------------------------------------------------------- */

static int report_number(const char *text, const char *what, int64_t *out, struct err *e)
{
	struct err inner = ERR_INIT;
	uint64_t v = 0;

	if (cfg_parse_value(CFG_T_U64, text, &v, &inner) < 0 || v == 0 || v > INT64_MAX)
		return err_set(e, ERR_USAGE, "'%s' is no number of a %s, for option '--%s'", text, what, what);
	*out = (int64_t)v;
	return 0;
}

static int put_run(struct out_json *j, const char *path, const char *const called[2], struct resdb *db, int64_t id,
                   struct err *e)
{
	struct arena *a = arena_new(PAGE_MEMORY);
	struct res_stored r;
	int rc = a ? res_get(db, id, a, &r, e) : err_set(e, ERR_NOMEM, "no memory for the report");

	if (rc == 0)
		rc = report_run(j, path, called[0], called[1], &r, e);
	arena_free(a);
	return rc;
}

static int too_many(const char *path, size_t n, const char *what, const char *lists, struct err *e)
{
	return err_set(e, ERR_USAGE,
	               "'%s' holds %zu %ss, more than one page shows without being asked: choose with --%s N"
	               " (%s)",
	               path, n, what, what, lists);
}

/* What is put on the page. */
struct page {
	struct out_json j;
	const struct options *o;
	struct arena *a; /* for the lists of what files hold */
	size_t shown;    /* runs and sweeps */
};

/* The runs of a file that are shown: those that were asked for, or all. */
struct chosen {
	const struct res_stored **v;
	const char **names, **within; /* among all of them, and among those of one workload */
	size_t n;
};

/* Those of one workload at a time. */
static int name_within(const struct page *p, struct chosen *c, struct err *e)
{
	const struct res_stored **v = arena_array(p->a, c->n + 1, sizeof *v);
	const char **names = arena_array(p->a, c->n + 1, sizeof *names);

	if (!v || !names)
		return err_nomem(e, "for the report");
	for (size_t i = 0; i < c->n; i++) {
		size_t n = 0, at = 0;

		for (size_t k = 0; k < c->n; k++)
			if (c->v[k]->workload_id == c->v[i]->workload_id) {
				at = k == i ? n : at;
				v[n++] = c->v[k];
			}
		if (run_label_runs(v, n, p->a, names, e) < 0)
			return -1;
		c->within[i] = names[at];
	}
	return 0;
}

static int report_choose(const struct page *p, const char *path, struct resdb *db, struct chosen *c, struct err *e)
{
	const struct opt_list *asked = &p->o->runs;
	struct res_stored *all;
	size_t n, most;

	if (res_list(db, p->a, &all, &n, e) < 0)
		return -1;
	if (!asked->n && n > SHOWN_MAX)
		return too_many(path, n, "run", "npusim compare -r R.db lists them", e);
	most = asked->n ? (size_t)asked->n : n;
	c->v = arena_array(p->a, most + 1, sizeof *c->v);
	c->names = arena_array(p->a, most + 1, sizeof *c->names);
	c->within = arena_array(p->a, most + 1, sizeof *c->within);
	if (!c->v || !c->names || !c->within)
		return err_nomem(e, "for the report");
	for (size_t i = 0; i < most; i++) {
		struct res_stored absent;
		size_t k = i;
		int64_t id;

		if (asked->n && report_number(asked->v[i], "run", &id, e) < 0)
			return -1;
		for (k = asked->n ? 0 : i; asked->n && k < n && all[k].run.id != id;)
			k++;
		if (k == n)
			return res_get(db, id, p->a, &absent, e) < 0 ? -1 : 0; /* it says which there are */
		c->v[c->n++] = &all[k];
	}
	return run_label_runs(c->v, c->n, p->a, c->names, e) < 0 ? -1 : name_within(p, c, e);
}

static int put_runs(struct page *p, const char *path, struct resdb *db, struct err *e)
{
	struct chosen c = { .n = 0 };
	int rc;

	if (!p->o->runs.n && p->o->sweeps.n)
		return 0;
	rc = report_choose(p, path, db, &c, e);
	for (size_t i = 0; rc == 0 && i < c.n; i++, p->shown++)
		rc = put_run(&p->j, path, (const char *const[]){ c.names[i], c.within[i] }, db, c.v[i]->run.id, e);
	return rc;
}

static int put_sweeps(struct page *p, const char *path, struct resdb *db, struct err *e)
{
	const struct options *o = p->o;
	struct res_sweep *all;
	int64_t id;
	size_t n;
	int rc = 0;

	for (int i = 0; rc == 0 && i < o->sweeps.n; i++, p->shown++)
		if ((rc = report_number(o->sweeps.v[i], "sweep", &id, e)) == 0)
			rc = report_sweep(&p->j, path, db, id, e);
	if (o->runs.n || o->sweeps.n)
		return rc;
	if (res_list_sweeps(db, p->a, &all, &n, e) < 0)
		return -1;
	if (n > SHOWN_MAX)
		return too_many(path, n, "sweep", "they are numbered from 1", e);
	for (size_t i = 0; rc == 0 && i < n; i++, p->shown++)
		rc = report_sweep(&p->j, path, db, all[i].id, e);
	return rc;
}

typedef int put_fn(struct page *p, const char *path, struct resdb *db, struct err *e);

static int put_files(struct page *p, const char *key, put_fn *put, const struct opt_list *files, struct err *e)
{
	int rc = 0;

	out_json_open(&p->j, key, '[');
	for (int i = 0; rc == 0 && i < files->n; i++) {
		struct resdb *db = res_open(files->v[i], DB_READ, e);

		rc = db ? put(p, files->v[i], db, e) : -1;
		res_free(db);
	}
	out_json_close(&p->j, ']');
	return rc;
}

static int data(const struct options *o, const struct opt_list *files, struct str *out, struct err *e)
{
	struct page p = { .o = o, .a = arena_new(0) };
	struct str build = STR_INIT;
	int rc;

	if (!p.a)
		return err_set(e, ERR_NOMEM, "no memory for the report");
	out_json_init(&p.j, out);
	p.j.pretty = false;
	str_addf(&build, "npusim %s (build %s)", npusim_version(), npusim_build_id());
	out_json_open(&p.j, NULL, '{');
	out_json_text(&p.j, "program", str_c(&build));
	rc = put_files(&p, "sweeps", put_sweeps, files, e);
	if (rc == 0)
		rc = put_files(&p, "runs", put_runs, files, e);
	out_json_close(&p.j, '}');
	if (rc == 0 && !p.shown)
		rc = err_set(e, ERR_IO,
		             "there is nothing to report in '%s'%s: 'npusim run -o' and 'npusim sweep -o' store"
		             " results",
		             files->v[0], files->n > 1 ? " and the other files" : "");
	str_free(&build);
	arena_free(p.a);
	return rc;
}

/* --- the page ---------------------------------------------------------------------------------------------- */

/* As text of an HTML element. */
static void add_text(struct str *to, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '<':
			str_add(to, "&lt;");
			break;
		case '>':
			str_add(to, "&gt;");
			break;
		case '&':
			str_add(to, "&amp;");
			break;
		default:
			str_addc(to, *text);
		}
}

/* JSON inside a script element: what could end the element, or begin a comment in it, stands in strings alone. */
static void add_data(struct str *to, const struct str *json)
{
	const char *p = str_c(json);

	while (*p) {
		const size_t n = strcspn(p, "<>&");

		str_addn(to, p, n);
		p += n;
		if (*p)
			str_addf(to, "\\u%04x", (unsigned)(unsigned char)*p++);
	}
}

static void default_title(const struct opt_list *files, struct str *out)
{
	str_add(out, "npusim:");
	for (int i = 0; i < files->n; i++) {
		const char *slash = strrchr(files->v[i], '/');

		str_addf(out, "%s %s", i ? "," : "", slash ? slash + 1 : files->v[i]);
	}
}

/* The page has two marks, each on its first occurrence, before all that is put in. */
static int page(const char *title, const struct str *json, struct str *out, struct err *e)
{
	static const char title_mark[] = "@NPUSIM_TITLE@", data_mark[] = "@NPUSIM_DATA@";
	const char *t = strstr(report_page, title_mark), *d = t ? strstr(t, data_mark) : NULL;

	if (!d)
		return err_set(e, ERR_IO, "'npusim report' is not in this build: %s", report_page);
	str_addn(out, report_page, (size_t)(t - report_page));
	add_text(out, title);
	t += sizeof title_mark - 1;
	str_addn(out, t, (size_t)(d - t));
	add_data(out, json);
	d += sizeof data_mark - 1;
	str_addn(out, d, (size_t)(report_page_end - d));
	return out->failed || json->failed ? err_set(e, ERR_NOMEM, "no memory for the report") : 0;
}

static int report(const struct options *o, const struct opt_list *files, struct err *e)
{
	struct str json = STR_INIT, title = STR_INIT, html = STR_INIT;
	int rc;

	if (o->title)
		str_add(&title, o->title);
	else
		default_title(files, &title);
	rc = data(o, files, &json, e);
	if (rc == 0 && (rc = page(str_c(&title), &json, &html, e)) == 0)
		rc = outfile_write(o->to, &html, e);
	str_free(&json);
	str_free(&title);
	str_free(&html);
	return rc;
}

/* --- options ----------------------------------------------------------------------------------------------- */

static int report_check_options(const struct options *o, const struct opt_list *files, struct err *e)
{
	if (!o->to)
		return err_set(e, ERR_USAGE, "the page's file is missing: -o FILE.html");
	if (files->n > 1 && o->runs.n + o->sweeps.n)
		return err_set(e, ERR_USAGE, "--run and --sweep choose within one file; %d are given", files->n);
	return 0;
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
		" parallel coordinates, which axis matters, and the best designs as YAML to copy. All runs and sweeps "
		"of a"
		" file are shown, up to 8 of each, unless --run or --sweep choose. The page holds all it needs: it "
		"works"
		" offline, asks nothing of any network, and can be sent by mail.",
		"npusim run -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1 -o /tmp/r.db\n"
		"npusim report /tmp/r.db -o /tmp/run.html\n"
		"npusim sweep configs/studies/l2-bandwidth.yaml -j 2 -o /tmp/sweep.db\n"
		"npusim report /tmp/sweep.db -o /tmp/sweep.html --title 'L2 against bandwidth'\n"
		"npusim report /tmp/r.db /tmp/sweep.db -o /tmp/both.html\n",
		opts,
		1,
		-1
	};
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = report_check_options(&o, &args, e)) == 0)
		rc = report(&o, &args, e);
	opt_list_free(&args);
	opt_list_free(&o.runs);
	opt_list_free(&o.sweeps);
	return rc < 0 ? -1 : 0;
}
