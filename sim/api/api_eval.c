/* api_eval.c - evaluations of npusim.h, and the document of each, which is made when it is first asked for. */
#include <stdlib.h>
#include <string.h>

#include "sim/api/api.h"
#include "sim/base/json.h"

/* --- options ----------------------------------------------------------------------------------------------- */

static int api_eval_number(enum cfg_type type, const char *key, const char *text, uint64_t *out, struct err *e)
{
	struct err inner = ERR_INIT;

	if (cfg_parse_value(type, text, out, &inner) == 0)
		return 0;
	return err_set(e, ERR_USAGE, "%s, for '%s'", inner.msg, key);
}

static int option(const char *key, const char *value, struct run_opts *how, struct err *e)
{
	static const char *const names[] = { "start", "fidelity", "seed", "expert-reuse" };
	uint64_t v;
	const char *near;

	if (strcmp(key, "start") == 0)
		return run_start_parse(value, &how->start, e);
	if (strcmp(key, "fidelity") == 0)
		return run_fidelity_parse(value, &how->fidelity, e);
	if (strcmp(key, "seed") == 0)
		return api_eval_number(CFG_T_U64, key, value, &how->seed, e);
	if (strcmp(key, "expert-reuse") != 0) {
		near = str_nearest(key, names, sizeof names / sizeof *names);
		return err_set(e, ERR_USAGE, "an evaluation has no '%s'%s%s%s", key, near ? "; did you mean '" : "",
		               near ? near : "", near ? "'?" : "");
	}
	if (api_eval_number(CFG_T_PPM, key, value, &v, e) < 0)
		return -1;
	if (v > 1000000)
		return err_set(e, ERR_USAGE, "a probability lies between 0 and 1, for 'expert-reuse'");
	how->reuse_given = true;
	how->reuse_ppm = (uint32_t)v;
	return 0;
}

int api_options(const char *const *v, size_t n, struct run_opts *how, struct err *e)
{
	if (api_texts(v, n, "options", e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const char *equals = strchr(v[i], '=');
		char key[32];

		if (!equals || (size_t)(equals - v[i]) >= sizeof key)
			return err_set(e, ERR_USAGE, "'%.60s' is no option of an evaluation: these are KEY=VALUE",
			               v[i]);
		memcpy(key, v[i], (size_t)(equals - v[i]));
		key[equals - v[i]] = '\0';
		if (option(key, equals + 1, how, e) < 0)
			return -1;
	}
	return 0;
}

/* --- a result ---------------------------------------------------------------------------------------------- */

static int eval(npusim_result *r, const char *const *v, size_t n, struct err *e)
{
	r->job = (struct eval_job){ r->m->machines, r->m->conf, NULL, run_opts_default() };
	if (api_options(v, n, &r->job.how, e) < 0 || eval_check(r->m->conf, r->m->name, &r->w->spec, e) < 0 ||
	    !(r->job.w = api_work_for(r->w, r->m->conf, e)) || eval_check_work(r->m->conf, r->job.w, e) < 0 ||
	    !(r->job.how.memo = api_memo(r->m->n, e)))
		return -1;
	if (!(r->arena = arena_new(0)))
		return err_nomem(e, "for a result");
	if (eval_run(&r->job, r->arena, &r->eval, e) < 0)
		return -1;
	r->program = run_memo_hold(r->job.how.memo);
	r->job.how.memo = NULL; /* its next program may lie where this one lies, but for who holds it */
	return 0;
}

npusim_result *npusim_eval(npusim_machine *m, npusim_work *w, const char *const *v, size_t n, struct npusim_error *e)
{
	const locale_t was = api_enter(m ? m->n : NULL);
	struct err err = ERR_INIT;
	npusim_result *r = NULL;

	api_clear(e);
	if (!m || !w) {
		err_set(&err, ERR_USAGE, "npusim_eval: the %s is NULL", m ? "workload" : "machine");
	} else if (m->n != w->n) {
		err_set(&err, ERR_USAGE, "npusim_eval: machine and workload are of two npusims");
	} else if (!(r = calloc(1, sizeof *r))) {
		err_nomem(&err, "for a result");
	} else {
		r->m = m;
		r->w = w;
		api_machine_hold(m);
		api_work_hold(w);
		if (eval(r, v, n, &err) == 0) {
			api_leave(was);
			return r;
		}
	}
	api_leave(was);
	npusim_result_free(r);
	api_fail(&err, e);
	return NULL;
}

void npusim_result_free(npusim_result *r)
{
	if (!r)
		return;
	str_free(&r->text);
	arena_free(r->arena);
	run_program_free(r->program);
	npusim_work_free(r->w);
	npusim_machine_free(r->m);
	free(r);
}

/* --- the document ------------------------------------------------------------------------------------------ */

/* What to buy next takes most of the time, and is found where it is asked. */
static void judge(npusim_result *r, bool buys)
{
	const struct workload *w = r->job.w;
	struct eval_job j = r->job;

	if (r->judged && (r->bought || !buys))
		return;
	if (!buys)
		j.machines = NULL;
	if (!r->w->baseline)
		r->w->baseline = baseline_new(r->m->n->source, w->source == WORKLOAD_TRACE ? &w->in.trace : NULL);
	eval_verdict(&j, r->w->baseline, r->arena, &r->eval);
	r->judged = true;
	r->bought = buys;
}

static int api_eval_make(npusim_result *r, struct err *e)
{
	struct doc d;
	locale_t was;

	if (r->text.len)
		return 0;
	was = api_enter(r->m->n);
	judge(r, true);
	str_clear(&r->text);
	doc_init(&d, OUT_JSON, 0, &r->text);
	run_members(&d, &r->eval.report);
	api_leave(was);
	if (!r->text.failed)
		return 0;
	str_free(&r->text);
	return err_nomem(e, "for a document");
}

static const struct json *tree(npusim_result *r, bool buys, struct err *e)
{
	const struct json **at = buys ? &r->root : &r->plain;
	const locale_t was = api_enter(r->m->n);
	struct json_tree *t = r->root || *at ? NULL : json_tree_new(r->arena);
	struct str none = STR_INIT;
	struct doc d;

	if (r->root) {
		at = &r->root;
	} else if (t) {
		judge(r, buys);
		doc_init_tree(&d, t, &none);
		run_members(&d, &r->eval.report);
		*at = none.failed ? NULL : json_tree_root(t, e);
	}
	if (!*at && e->kind == ERR_NONE)
		err_nomem(e, "for a document");
	str_free(&none);
	api_leave(was);
	return *at;
}

size_t npusim_json(npusim_result *r, char *buf, size_t size, struct npusim_error *e)
{
	struct err err = ERR_INIT;
	size_t n;

	api_clear(e);
	if (!r || (!buf && size)) {
		err_set(&err, ERR_USAGE, "npusim_json: %s is NULL", r ? "the buffer" : "the result");
	} else if (api_eval_make(r, &err) == 0) {
		n = r->text.len < size ? r->text.len : size - 1;
		if (size) {
			memcpy(buf, r->text.p, n);
			buf[n] = '\0';
		}
		return r->text.len;
	}
	api_fail(&err, e);
	return 0;
}

/* --- values by path ---------------------------------------------------------------------------------------- */

/* A figure of the whole run that takes neither a document nor what is said of the run. Where ops were carried, the answer may be
 * none (run_members.c). */
static bool figure_now(const npusim_result *r, const char *path, double *value)
{
	const struct run_report *report = &r->eval.report;
	struct run_sum kinds[OP_KINDS], all;
	struct figure_measured m;
	struct figure_value v;

	if (report->stream->opaque_ns)
		return false;
	for (const struct figure *f = figure_table; f->help; f++)
		if (f->json && f->part != FIGURE_NOWHERE && !f->missing && strcmp(f->json, path) == 0) {
			run_sum_ops(report, kinds, &all);
			m = run_measured(report, &all);
			v = figure_value(f, &r->eval.result.figures, &m);
			*value = v.whole ? (double)v.n : v.x;
			return v.known;
		}
	return false;
}

static const struct json *api_eval_at(npusim_result *r, const char *path, const void *out, const char *who,
                                      struct err *e)
{
	const struct json *root;

	if (!r || !path || !out) {
		err_set(e, ERR_USAGE, "%s: the %s is NULL", who,
		        !r      ? "result"
		        : !path ? "path"
		                : "place for the answer");
		return NULL;
	}
	return (root = tree(r, run_verdict_buys(path), e)) ? json_find(root, path, e) : NULL;
}

int npusim_get(npusim_result *r, const char *path, double *value, struct npusim_error *e)
{
	struct err err = ERR_INIT;
	const struct json *x;

	api_clear(e);
	if (r && path && value && figure_now(r, path, value))
		return 0;
	if (!(x = api_eval_at(r, path, value, "npusim_get", &err)))
		return api_fail(&err, e);
	if (x->kind != JSON_NUMBER && x->kind != JSON_BOOL) {
		err_set(&err, ERR_USAGE, "'%.100s' is %s, and no number", path, json_kind_name(x->kind));
		return api_fail(&err, e);
	}
	*value = x->number;
	return 0;
}

int npusim_text(npusim_result *r, const char *path, const char **text, struct npusim_error *e)
{
	struct err err = ERR_INIT;
	const struct json *x;

	api_clear(e);
	if (!(x = api_eval_at(r, path, text, "npusim_text", &err)))
		return api_fail(&err, e);
	if (x->kind != JSON_TEXT) {
		err_set(&err, ERR_USAGE, "'%.100s' is %s, and no text", path, json_kind_name(x->kind));
		return api_fail(&err, e);
	}
	*text = x->text;
	return 0;
}

int npusim_count(npusim_result *r, const char *path, size_t *n, struct npusim_error *e)
{
	struct err err = ERR_INIT;
	const struct json *x;

	api_clear(e);
	if (!(x = api_eval_at(r, path, n, "npusim_count", &err)))
		return api_fail(&err, e);
	if (x->kind != JSON_LIST && x->kind != JSON_OBJECT) {
		err_set(&err, ERR_USAGE, "'%.100s' is %s, and no list", path, json_kind_name(x->kind));
		return api_fail(&err, e);
	}
	*n = x->n;
	return 0;
}
