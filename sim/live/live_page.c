#include "sim/live/live_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "arch/machine/machine_conf.h"
#include "sim/base/out_json.h"
#include "sim/base/path.h"
#include "sim/base/pool.h"
#include "sim/base/version.h"
#include "sim/base/yaml.h"
#include "sim/live/live_pack.h"
#include "sim/report/page.h"
#include "sim/study/limits.h"

#define MODULE      "npusim-live.wasm"
#define MODULE_MOST (16u << 20)
#define KEYS        10 /* parameters that have a slider from the start */

/* results/report/embed.S */
extern const char live_page[];

struct maker {
	const struct live_ask *o;
	struct out_json j;
	const char *folder;
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
		path_source.list(&path_source, folders[i], each, m);
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

/* A stored run's own answer. */
static void put_lead(struct maker *m)
{
	const struct res_stored *r = m->o->run;

	if (!r)
		return;
	out_json_open(&m->j, "lead", '{');
	out_json_int(&m->j, "run", r->run.id);
	out_json_text(&m->j, "machine", r->run.config_name);
	out_json_text(&m->j, "workload", r->workload.source);
	out_json_text(&m->j, "fidelity", r->run.fidelity);
	m->rc = page_lead(&m->j, r, m->e);
	out_json_close(&m->j, '}');
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

static void base64(const unsigned char *p, size_t n, struct str *out)
{
	static const char of[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		const unsigned v = p[i] << 16 | (i + 1 < n ? p[i + 1] : 0) << 8 | (i + 2 < n ? p[i + 2] : 0);
		const char c[4] = { of[v >> 18], of[v >> 12 & 63], i + 1 < n ? of[v >> 6 & 63] : '=',
			            i + 2 < n ? of[v & 63] : '=' };

		str_addn(out, c, 4);
	}
}

/* Deflated, as a browser's DecompressionStream('deflate') reads it. */
static int packed(const void *p, size_t n, struct str *out, struct err *e)
{
	uLongf size = compressBound(n);
	unsigned char *to = malloc(size);
	int rc = 0;

	if (to && compress2(to, &size, p, n, 9) == Z_OK)
		base64(to, size, out);
	else
		rc = err_nomem(e, "for the page");
	free(to);
	return rc;
}

static int put_module(struct str *out, struct err *e)
{
	struct err why = ERR_INIT;
	char path[1024], *bytes;
	FILE *f;
	size_t n;
	int rc;

	if (path_library(MODULE, path, sizeof path, &why) < 0 || !(f = fopen(path, "rb")))
		return err_set(
			e, ERR_IO,
			"'npusim page' needs the library as WebAssembly, which this build has not: 'make live' makes it,"
			" with clang, wasm-ld and wasi-libc");
	if (!(bytes = malloc(MODULE_MOST)))
		rc = err_nomem(e, "for the page");
	else if ((n = fread(bytes, 1, MODULE_MOST, f)) == 0 || ferror(f) || !feof(f))
		rc = err_set(e, ERR_IO, "cannot read '%s'", path);
	else
		rc = packed(bytes, n, out, e);
	free(bytes);
	fclose(f);
	return rc;
}

/* --- the page ---------------------------------------------------------------------------------------------- */

static int data(const struct live_ask *o, struct str *out, struct err *e)
{
	struct maker m = { .o = o, .e = e };
	struct arena *a = arena_new(0);
	struct machine_conf *c = machine_conf_load(o->config, o->sets, o->n_sets, e);
	struct workload w;

	m.rc = c && a ? o->read(&o->spec, &c->cfg, &w, e) : -1;
	if (m.rc == 0) {
		out_json_init(&m.j, out);
		m.j.pretty = false;
		out_json_open(&m.j, NULL, '{');
		out_json_text(&m.j, "version", npusim_version());
		put_files(&m, c);
		put_asked(&m);
		if (m.rc == 0)
			put_lead(&m);
		if (m.rc == 0)
			put_keys(&m, &w, a);
		out_json_close(&m.j, '}');
		workload_free(&w);
	}
	machine_conf_free(c);
	arena_free(a);
	return m.rc;
}

/* The page has two marks. */
int live_page_make(const struct live_ask *ask, struct str *out, struct err *e)
{
	static const char module_mark[] = "@NPUSIM_MODULE@", data_mark[] = "@NPUSIM_DATA@";
	const char *m = strstr(live_page, module_mark), *d = strstr(live_page, data_mark);
	struct str json = STR_INIT;
	int rc;

	str_addn(out, live_page, (size_t)(m - live_page));
	if ((rc = put_module(out, e)) == 0 && (rc = data(ask, &json, e)) == 0) {
		m += sizeof module_mark - 1;
		str_addn(out, m, (size_t)(d - m));
		rc = packed(str_c(&json), json.len, out, e);
		str_add(out, d + sizeof data_mark - 1);
	}
	if (rc == 0 && (out->failed || json.failed))
		rc = err_nomem(e, "for the page");
	str_free(&json);
	return rc;
}
