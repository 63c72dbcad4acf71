#include "sim/report/page.h"

#include <inttypes.h>
#include <string.h>

#include "sim/base/cfg.h"
#include "sim/base/version.h"
#include "sim/report/compare_doc.h"
#include "sim/report/labels.h"
#include "sim/report/packed.h"
#include "sim/report/page_int.h"
#include "sim/ui/out_html.h"

#define SHOWN_MAX   8                 /* runs and sweeps of a file, without being asked for */
#define PAGE_MEMORY ((size_t)4 << 30) /* beyond that a database is damaged or hostile */

/* --- what is shown ----------------------------------------------------------------------------------------- */

static int number(const char *text, const char *what, int64_t *out, struct err *e)
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
		rc = page_run(j, path, called[0], called[1], &r, e);
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
	struct out_json *j;
	const struct page_ask *o;
	struct arena *a; /* for the lists of what files hold */
	size_t shown;    /* runs and sweeps */
	struct {
		const char *path;
		int64_t id;
	} runs[2];
	size_t n_runs;
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
		if (labels_runs(v, n, p->a, names, e) < 0)
			return -1;
		c->within[i] = names[at];
	}
	return 0;
}

static int choose(const struct page *p, const char *path, struct resdb *db, struct chosen *c, struct err *e)
{
	const struct opt_list *asked = p->o->runs;
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

		if (asked->n && number(asked->v[i], "run", &id, e) < 0)
			return -1;
		for (k = asked->n ? 0 : i; asked->n && k < n && all[k].run.id != id;)
			k++;
		if (k == n)
			return res_get(db, id, p->a, &absent, e) < 0 ? -1 : 0; /* it says which there are */
		c->v[c->n++] = &all[k];
	}
	return labels_runs(c->v, c->n, p->a, c->names, e) < 0 ? -1 : name_within(p, c, e);
}

static int put_runs(struct page *p, const char *path, struct resdb *db, struct err *e)
{
	struct chosen c = { .n = 0 };
	int rc;

	if (!p->o->runs->n && p->o->sweeps->n)
		return 0;
	rc = choose(p, path, db, &c, e);
	for (size_t i = 0; rc == 0 && i < c.n; i++, p->shown++, p->n_runs++) {
		if (p->n_runs < 2) {
			p->runs[p->n_runs].path = path;
			p->runs[p->n_runs].id = c.v[i]->run.id;
		}
		rc = put_run(p->j, path, (const char *const[]){ c.names[i], c.within[i] }, db, c.v[i]->run.id, e);
	}
	return rc;
}

static int put_sweeps(struct page *p, const char *path, struct resdb *db, struct err *e)
{
	const struct page_ask *o = p->o;
	struct res_sweep *all;
	int64_t id;
	size_t n;
	int rc = 0;

	for (int i = 0; rc == 0 && i < o->sweeps->n; i++, p->shown++)
		if ((rc = number(o->sweeps->v[i], "sweep", &id, e)) == 0)
			rc = page_sweep(p->j, path, db, id, e);
	if (o->runs->n || o->sweeps->n)
		return rc;
	if (res_list_sweeps(db, p->a, &all, &n, e) < 0)
		return -1;
	if (n > SHOWN_MAX)
		return too_many(path, n, "sweep", "they are numbered from 1", e);
	for (size_t i = 0; rc == 0 && i < n; i++, p->shown++)
		rc = page_sweep(p->j, path, db, all[i].id, e);
	return rc;
}

typedef int put_fn(struct page *p, const char *path, struct resdb *db, struct err *e);

static int put_files(struct page *p, const char *key, put_fn *put, struct err *e)
{
	const struct opt_list *files = p->o->files;
	int rc = 0;

	out_json_open(p->j, key, '[');
	for (int i = 0; rc == 0 && i < files->n; i++) {
		struct resdb *db = res_open(files->v[i], DB_READ, e);

		rc = db ? put(p, files->v[i], db, e) : -1;
		res_free(db);
	}
	out_json_close(p->j, ']');
	return rc;
}

static bool same_work(const struct res_workload *a, const struct res_workload *b)
{
	return a->n_ops == b->n_ops && strcmp(a->source, b->source) == 0 && strcmp(a->digest, b->digest) == 0;
}

/* What npusim compare says of two runs: "compared" of the page; null of others, and of two workloads. */
static int put_compared(struct page *p, struct err *e)
{
	struct res_stored r[2];
	const struct res_stored *const runs[] = { &r[0], &r[1] };
	struct str text = STR_INIT;
	struct doc d;
	int rc = 0;

	for (size_t i = 0; rc == 0 && p->n_runs == 2 && i < 2; i++) {
		struct resdb *db = res_open(p->runs[i].path, DB_READ, e);

		rc = db ? res_get(db, p->runs[i].id, p->a, &r[i], e) : -1;
		res_free(db);
	}
	if (rc < 0)
		return -1;
	if (p->n_runs != 2 || !same_work(&r[0].workload, &r[1].workload)) {
		out_json_null(p->j, "compared");
		return 0;
	}
	r[1].workload_id = r[0].workload_id;
	doc_init(&d, OUT_JSON, 0, &text);
	rc = compare_doc(&d, &(struct compare_doc){ .runs = runs, .n = 2, .a = p->a, .brief = true }, e);
	doc_end(&d);
	if (rc == 0 && text.failed)
		rc = err_nomem(e, "for the report");
	if (rc == 0)
		out_json_document(p->j, "compared", str_c(&text));
	str_free(&text);
	return rc;
}

static int put_stored(struct out_json *j, void *arg, struct err *e)
{
	const struct page_ask *o = arg;
	struct page p = { .j = j, .o = o, .a = arena_new(0) };
	int rc;

	if (!p.a)
		return err_nomem(e, "for the report");
	rc = put_files(&p, "sweeps", put_sweeps, e);
	if (rc == 0)
		rc = put_files(&p, "runs", put_runs, e);
	if (rc == 0)
		rc = put_compared(&p, e);
	if (rc == 0 && !p.shown)
		rc = err_set(e, ERR_IO,
		             "there is nothing to report in '%s'%s: 'npusim run -o' and 'npusim sweep -o' store"
		             " results",
		             o->files->v[0], o->files->n > 1 ? " and the other files" : "");
	arena_free(p.a);
	return rc;
}

/* --- the page ---------------------------------------------------------------------------------------------- */

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

/* The page has these marks, in this order, before all that is put in. */
enum mark { MARK_TITLE, MARK_HEADING, MARK_SAID, MARK_DATA, MARK_LIVE, MARKS };
static const char *const marks[MARKS] = { "@NPUSIM_TITLE@", "@NPUSIM_TITLE@", "@NPUSIM_SAID@", "@NPUSIM_DATA@",
	                                  "@NPUSIM_LIVE@" };

static int put_mark(const struct page_template *p, enum mark m, const char *title, const struct str *json,
                    struct str *out, struct err *e)
{
	switch (m) {
	case MARK_SAID:
		return page_said(json, out, e);
	case MARK_DATA:
		if (p->live)
			return packed(str_c(json), json->len, out, e);
		add_data(out, json);
		return 0;
	case MARK_LIVE:
		str_add(out, p->live ? p->live : "");
		return 0;
	default:
		out_html_text(title, out);
		return 0;
	}
}

static int put_marks(const struct page_template *p, const char *title, const struct str *json, struct str *out,
                     struct err *e)
{
	const char *at = p->text;

	for (enum mark m = 0; m < MARKS; m++) {
		const char *mark = strstr(at, marks[m]);

		if (!mark)
			return err_set(e, ERR_IO, "the drawing of pages and pictures is not in this build: %s",
			               p->text);
		str_addn(out, at, (size_t)(mark - at));
		if (put_mark(p, m, title, json, out, e) < 0)
			return -1;
		at = mark + strlen(marks[m]);
	}
	str_addn(out, at, (size_t)(p->end - at));
	return out->failed || json->failed ? err_set(e, ERR_NOMEM, "no memory for the report") : 0;
}

int page_compose(const struct page_template *t, const char *title, page_put *put, void *arg, struct str *html,
                 struct err *e)
{
	struct str json = STR_INIT, build = STR_INIT;
	struct out_json j;
	int rc;

	out_json_init(&j, &json);
	j.pretty = false;
	str_addf(&build, "npusim %s (build %s)", npusim_version(), npusim_build_id());
	out_json_open(&j, NULL, '{');
	out_json_text(&j, "program", str_c(&build));
	rc = put(&j, arg, e);
	out_json_close(&j, '}');
	if (rc == 0)
		rc = put_marks(t, title, &json, html, e);
	str_free(&build);
	str_free(&json);
	return rc;
}

void page_none_stored(struct out_json *j)
{
	out_json_open(j, "runs", '[');
	out_json_close(j, ']');
	out_json_open(j, "sweeps", '[');
	out_json_close(j, ']');
}

int page_make(const struct page_template *t, const struct page_ask *o, struct str *html, struct err *e)
{
	struct page_ask ask = *o;
	struct str title = STR_INIT;
	int rc;

	if (o->title)
		str_add(&title, o->title);
	else
		default_title(o->files, &title);
	rc = page_compose(t, str_c(&title), put_stored, &ask, html, e);
	str_free(&title);
	return rc;
}
