#include "sim/live/live_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/machine/machine_conf.h"
#include "sim/base/out_json.h"
#include "sim/base/path.h"
#include "sim/base/pool.h"
#include "sim/base/version.h"
#include "sim/base/yaml.h"
#include "sim/live/live_pack.h"
#include "sim/report/packed.h"
#include "sim/study/limits.h"

#define MODULE      "npusim-live.wasm"
#define MODULE_MOST (16u << 20)
#define MACHINES    2  /* folders of them, the first ones */
#define KEYS        10 /* parameters that have a slider from the start */

/* results/report/embed.S */
extern const char live_page[];

struct maker {
	const struct live_ask *o;
	struct out_json j;
	const char *folder;
	bool held; /* of the folder those machines that were held against silicon, as which configs/accuracy has them */
	struct err *e;
	int rc;
};

/* --- data -------------------------------------------------------------------------------------------------- */

static void put_file(struct maker *m, const char *name, const char *path)
{
	struct yaml *y = m->rc == 0 ? yaml_load(path, m->e) : NULL;
	struct str s = STR_INIT;

	if (y) {
		live_pack(yaml_root(y), &s);
		out_json_text(&m->j, name, str_c(&s));
	} else {
		m->rc = -1;
	}
	m->j.to->failed |= s.failed;
	str_free(&s);
	yaml_free(y);
}

static void each(void *arg, const char *name)
{
	struct maker *m = arg;
	char relative[512], path[1024];

	snprintf(relative, sizeof relative, "configs/accuracy/%s", name);
	if (m->held && !source_find(&path_source, relative, path, sizeof path))
		return;
	snprintf(relative, sizeof relative, "%s/%s", m->folder, name);
	if (str_suffix(name, ".yaml") && source_find(&path_source, relative, path, sizeof path))
		put_file(m, relative, path);
}

static void put_files(struct maker *m, const struct machine_conf *c)
{
	static const char *const folders[] = { "configs/npu",   "configs/gpu",      "configs/dram",
		                               "configs/tech",  "configs/fusion",   "configs/kernels",
		                               "configs/rules", "configs/accuracy", "workloads/models" };
	const char *path = m->o->name ? m->o->name : c->path, *slash = strrchr(path, '/');
	char name[512];

	out_json_open(&m->j, "files", '{');
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		m->folder = folders[i];
		m->held = m->o->stored && i < MACHINES;
		path_source.list(&path_source, m->folder, each, m);
	}
	snprintf(name, sizeof name, "page/%s", slash ? slash + 1 : path);
	put_file(m, name, c->path);
	if (access(m->o->spec.model, R_OK) == 0)
		put_file(m, m->o->spec.model, m->o->spec.model);
	out_json_close(&m->j, '}');
	out_json_text(&m->j, "machine", name);
}

/* --- what is asked first ----------------------------------------------------------------------------------- */

static void put_asked(struct maker *m)
{
	const struct live_ask *o = m->o;

	out_json_open(&m->j, "sets", '[');
	for (int i = 0; i < o->n_sets; i++)
		out_json_text(&m->j, NULL, o->sets[i]);
	out_json_close(&m->j, ']');
	out_json_open(&m->j, "work", '[');
	for (int k = 0; k < WORKLOAD_KEYS; k++) {
		struct str s = STR_INIT;

		workload_row_text(&o->spec, (enum workload_key)k, &s);
		if (s.len)
			out_json_text(&m->j, NULL, str_c(&s));
		str_free(&s);
	}
	out_json_close(&m->j, ']');
}

/* The parameters whose doubling or halving moves the time most. */
static void put_keys(struct maker *m, const struct workload *w, struct arena *a)
{
	const struct live_ask *o = m->o;
	const struct limits_question q = { .config = o->config,
		                           .sets = o->sets,
		                           .n_sets = o->n_sets,
		                           .stream = &w->stream,
		                           .run = { .start = RUN_STEADY, .fidelity = RUN_ANALYTIC, .seed = 1 },
		                           .step_ppm = 1000000,
		                           .jobs = 2,
		                           .backend = &pool_processes };
	const char *last[KEYS];
	struct limits_result r;
	size_t n = 0;

	if ((m->rc = limits_run(&q, a, &r, m->e)) < 0)
		return;
	out_json_open(&m->j, "keys", '[');
	while (n < KEYS) {
		const struct limits_row *best = NULL;

		for (size_t i = 0; i < r.n; i++) {
			const struct limits_row *x = &r.rows[i];
			size_t k = 0;

			while (k < n && strcmp(last[k], x->key) != 0)
				k++;
			if (k == n && !x->refused && (x->move == LIMITS_MORE || x->move == LIMITS_LESS) &&
			    (!best || llabs((long long)x->total_ps - (long long)r.base_ps) >
			                      llabs((long long)best->total_ps - (long long)r.base_ps)))
				best = x;
		}
		if (!best)
			break;
		out_json_text(&m->j, NULL, last[n++] = best->key);
	}
	out_json_close(&m->j, ']');
}

/* --- the module -------------------------------------------------------------------------------------------- */

/* Another build's figures are not those of the program that makes the page. */
static bool of_this_build(const char *bytes, size_t n)
{
	const char *id = npusim_build_id();
	const size_t commit = strcspn(id, " ");

	for (const char *at = bytes; (at = memchr(at, *id, n - (size_t)(at - bytes))); at++)
		if (n - (size_t)(at - bytes) > commit + 5 && memcmp(at, id, commit) == 0 &&
		    memcmp(at + commit, " wasm", 5) == 0)
			return true;
	return false;
}

static int put_module(const void *arg, struct str *out, struct err *e)
{
	struct err why = ERR_INIT;
	char path[1024], *bytes;
	FILE *f;
	size_t n;
	int rc;

	(void)arg;
	if (path_library(MODULE, path, sizeof path, &why) < 0 || !(f = fopen(path, "rb")))
		return err_set(
			e, ERR_IO,
			"'npusim page' needs the library as WebAssembly, which this build has not: 'make live' makes it,"
			" with clang, wasm-ld and wasi-libc");
	if (!(bytes = malloc(MODULE_MOST)))
		rc = err_nomem(e, "for the page");
	else if ((n = fread(bytes, 1, MODULE_MOST, f)) == 0 || ferror(f) || !feof(f))
		rc = err_set(e, ERR_IO, "cannot read '%s'", path);
	else if (!of_this_build(bytes, n))
		rc = err_set(e, ERR_IO, "'%s' is of another build than this program: 'make live' makes it anew", path);
	else
		rc = packed(bytes, n, out, e);
	free(bytes);
	fclose(f);
	return rc;
}

/* --- the page ---------------------------------------------------------------------------------------------- */

static int put_data(const void *arg, struct str *out, struct err *e)
{
	const struct live_ask *o = arg;
	struct str json = STR_INIT;
	struct maker m = { .o = o, .e = e };
	struct arena *a = arena_new(0);
	struct machine_conf *c = machine_conf_load(o->config, o->sets, o->n_sets, e);
	struct workload w;

	m.rc = c && a ? o->read(&o->spec, &c->cfg, &w, e) : -1;
	if (m.rc == 0) {
		out_json_init(&m.j, &json);
		m.j.pretty = false;
		out_json_open(&m.j, NULL, '{');
		out_json_text(&m.j, "version", npusim_version());
		out_json_bool(&m.j, "stored", o->stored);
		put_files(&m, c);
		put_asked(&m);
		if (m.rc == 0)
			put_keys(&m, &w, a);
		out_json_close(&m.j, '}');
		workload_free(&w);
	}
	machine_conf_free(c);
	arena_free(a);
	if (m.rc == 0)
		m.rc = json.failed ? err_nomem(e, "for the page") : packed(str_c(&json), json.len, out, e);
	str_free(&json);
	return m.rc;
}

static int element(const char *id, int (*put)(const void *arg, struct str *out, struct err *e), const void *arg,
                   struct str *out, struct err *e)
{
	str_addf(out, "<script type=\"text/plain\" id=\"%s\">", id);
	if (put(arg, out, e) < 0)
		return -1;
	str_add(out, "</script>\n");
	return 0;
}

int live_page_parts(const struct live_ask *ask, struct str *out, struct err *e)
{
	int rc = element("module", put_module, NULL, out, e);

	if (rc == 0)
		rc = element("live", put_data, ask, out, e);
	if (rc == 0 && out->failed)
		rc = err_nomem(e, "for the page");
	return rc;
}

int live_page_make(const struct live_ask *ask, struct str *out, struct err *e)
{
	static const char mark[] = "@NPUSIM_LIVE@";
	const char *at = strstr(live_page, mark);
	int rc;

	str_addn(out, live_page, (size_t)(at - live_page));
	rc = live_page_parts(ask, out, e);
	str_add(out, at + sizeof mark - 1);
	return rc == 0 && out->failed ? err_nomem(e, "for the page") : rc;
}
