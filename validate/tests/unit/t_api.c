/* t_api.c - npusim.h: the same figures as the modules give, every fault by value, any order of closing, two threads. */
#include "sim/npusim.h"

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>

#include "sim/api/api.h"
#include "sim/base/path.h"
#include "sim/study/limits.h"
#include "validate/tests/test.h"

#define N(a) (sizeof(a) / sizeof *(a))

static const char *const small[] = { "model=qwen3-0.6b", "layers=2", "context=64" };
static const char *const form[] = { "fidelity=analytic" };

static npusim *open_ok(void)
{
	struct npusim_source from = NPUSIM_SOURCE_INIT;
	struct npusim_error e = NPUSIM_ERROR_INIT;
	npusim *n;

	from.root = test_root();
	n = npusim_open(&from, &e);
	if (!n)
		test_fail(__FILE__, __LINE__, "%s", e.message);
	return n;
}

static npusim_machine *named(npusim *n, const char *name)
{
	struct npusim_error e = NPUSIM_ERROR_INIT;
	npusim_machine *m = npusim_machine_named(n, name, NULL, 0, &e);

	if (!m)
		test_fail(__FILE__, __LINE__, "%s", e.message);
	return m;
}

static npusim_work *work_ok(npusim *n)
{
	struct npusim_error e = NPUSIM_ERROR_INIT;
	npusim_work *w = npusim_work_new(n, small, N(small), &e);

	if (!w)
		test_fail(__FILE__, __LINE__, "%s", e.message);
	return w;
}

static npusim_result *eval_ok(npusim_machine *m, npusim_work *w)
{
	struct npusim_error e = NPUSIM_ERROR_INIT;
	npusim_result *r = npusim_eval(m, w, form, N(form), &e);

	if (!r)
		test_fail(__FILE__, __LINE__, "%s", e.message);
	return r;
}

static double get(npusim_result *r, const char *path)
{
	struct npusim_error e = NPUSIM_ERROR_INIT;
	double x = -1;

	if (npusim_get(r, path, &x, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s", e.message);
	return x;
}

static char *document(npusim_result *r)
{
	const size_t n = npusim_json(r, NULL, 0, NULL);
	char *s = malloc(n + 1);

	CHECK(n && s && npusim_json(r, s, n + 1, NULL) == n && strlen(s) == n);
	return s;
}

/* Of a fresh handle, which knows nothing of what ran before. */
static char *fresh(const char *machine, const char *const *sets, size_t n_sets)
{
	struct npusim_error e = NPUSIM_ERROR_INIT;
	npusim *n = open_ok();
	npusim_machine *m = npusim_machine_named(n, machine, sets, n_sets, &e);
	npusim_work *w = work_ok(n);
	npusim_result *r = eval_ok(m, w);
	char *s = document(r);

	npusim_result_free(r);
	npusim_work_free(w);
	npusim_machine_free(m);
	npusim_close(n);
	return s;
}

TEST(figures_are_those_of_the_modules)
{
	struct err e = ERR_INIT;
	struct arena *a = arena_new(0);
	struct workload_spec spec = { .model = "qwen3-0.6b", .layers = 2, .context = 64 };
	struct machine_base *base = machine_base_load("edge", NULL, 0, &e);
	struct machine_conf *conf = machine_base_conf(base, NULL, 0, &e);
	struct workload_reader by = { .source = &path_source, .machine = &conf->cfg };
	struct workload work;
	struct eval_job job = { base, conf, &work, run_opts_default() };
	struct eval x;
	npusim *n = open_ok();
	npusim_machine *m = named(n, "edge");
	npusim_work *w = work_ok(n);
	npusim_result *r = npusim_eval(m, w, NULL, 0, NULL);
	struct baseline *b = baseline_new(&path_source, NULL);
	struct str text = STR_INIT;
	char *s = document(r);
	struct doc d;

	CHECK_OK(workload_read(&spec, &by, &work, &e), e);
	CHECK_OK(eval_run(&job, a, &x, &e), e);
	CHECK(get(r, "total_us") == (double)x.result.total_ps / 1e6);
	CHECK(get(r, "cycles") == (double)x.result.cycles);
	eval_verdict(&job, b, a, &x);
	doc_init(&d, OUT_JSON, 0, &text);
	run_members(&d, &x.report);
	CHECK_STR(s, str_c(&text));
	free(s);
	str_free(&text);
	baseline_free(b);
	workload_free(&work);
	machine_conf_free(conf);
	machine_base_free(base);
	arena_free(a);
	npusim_result_free(r);
	npusim_work_free(w);
	npusim_machine_free(m);
	npusim_close(n);
}

static bool alike(const struct json *x, const struct json *y)
{
	if (x->kind != y->kind || x->n != y->n || x->number != y->number || !x->key != !y->key ||
	    !x->text != !y->text || (x->key && strcmp(x->key, y->key) != 0) ||
	    (x->text && strcmp(x->text, y->text) != 0))
		return false;
	for (size_t i = 0; i < x->n; i++)
		if (!alike(x->v[i], y->v[i]))
			return false;
	return true;
}

static const struct json *tree_of(const struct run_report *r, struct arena *a)
{
	struct json_tree *t = json_tree_new(a);
	struct str none = STR_INIT;
	struct err e = ERR_INIT;
	struct doc d;

	CHECK(t);
	doc_init_tree(&d, t, &none);
	run_members(&d, r);
	CHECK(!none.len && !none.failed);
	return json_tree_root(t, &e);
}

/* Of a run on an NPU, where what to buy is asked, and where it is not. */
TEST(a_documents_tree_is_that_of_its_text)
{
	struct err e = ERR_INIT;
	struct arena *a = arena_new(0);
	struct workload_spec spec = { .model = "qwen3-0.6b", .layers = 2, .context = 64 };
	struct machine_base *base = machine_base_load("edge", NULL, 0, &e);
	struct machine_conf *conf = machine_base_conf(base, NULL, 0, &e);
	struct workload_reader by = { .source = &path_source, .machine = &conf->cfg };
	struct baseline *b = baseline_new(&path_source, NULL);
	struct workload work;
	struct eval_job job = { base, conf, &work, run_opts_default() };
	struct str text = STR_INIT;
	const struct json *whole, *plain;
	struct eval x;
	struct doc d;
	size_t other = 0;

	job.how.fidelity = RUN_ANALYTIC;
	CHECK_OK(workload_read(&spec, &by, &work, &e), e);
	CHECK_OK(eval_run(&job, a, &x, &e), e);
	eval_verdict(&job, b, a, &x);
	whole = tree_of(&x.report, a);
	doc_init(&d, OUT_JSON, 0, &text);
	run_members(&d, &x.report);
	CHECK(whole && alike(whole, json_parse(text.p, text.len, a, &e)));
	job.machines = NULL;
	CHECK_OK(eval_run(&job, a, &x, &e), e);
	eval_verdict(&job, b, a, &x);
	plain = tree_of(&x.report, a);
	CHECK(plain && plain->n == whole->n);
	for (size_t i = 0; i < whole->n; i++) {
		const bool same = alike(whole->v[i], plain->v[i]);

		CHECK_STR(whole->v[i]->key, plain->v[i]->key);
		if (!same && !run_verdict_buys(whole->v[i]->key))
			test_fail(__FILE__, __LINE__, "%s is otherwise where nobody asks what to buy",
			          whole->v[i]->key);
		other += !same;
	}
	CHECK(other > 0);
	CHECK(run_verdict_buys("interval.slow_corner.step_us") && run_verdict_buys("next_buy"));
	CHECK(!run_verdict_buys("interval.low") && !run_verdict_buys("intervals"));
	str_free(&text);
	baseline_free(b);
	workload_free(&work);
	machine_conf_free(conf);
	machine_base_free(base);
	arena_free(a);
}

/* What to buy next is found where it is asked, and nothing is otherwise for having been asked before. */
TEST(what_was_asked_before_changes_no_document)
{
	npusim *n = open_ok();
	npusim_machine *m = named(n, "edge");
	npusim_work *w = work_ok(n);
	npusim_result *plain = eval_ok(m, w), *whole = eval_ok(m, w);
	const double low = get(plain, "interval.low");
	const char *key = NULL, *again = NULL;
	char *s, *t;

	CHECK(plain->judged && !plain->bought && !plain->text.len);
	CHECK(get(plain, "ops[0].id") == 0 && !plain->bought);
	CHECK(npusim_text(plain, "next_switch.key", &key, NULL) == 0 && plain->bought);
	s = document(plain);
	t = document(whole);
	CHECK_STR(s, t);
	CHECK(get(whole, "interval.low") == low && get(plain, "interval.low") == low);
	CHECK(npusim_text(whole, "next_switch.key", &again, NULL) == 0);
	CHECK_STR(key, again);
	free(s);
	free(t);
	npusim_result_free(plain);
	npusim_result_free(whole);
	npusim_work_free(w);
	npusim_machine_free(m);
	npusim_close(n);
}

TEST(what_ran_before_changes_no_answer)
{
	static const char *const sets[][1] = {
		{ "dram.channels=8" }, { "clock=700 MHz" }, { "fusion.enabled=false" }, { "cores=2" }
	};
	npusim *n = open_ok();
	npusim_machine *m = named(n, "edge");
	npusim_work *w = work_ok(n);
	npusim_result *r[N(sets)];
	char *first = fresh("edge", NULL, 0), *s;

	for (size_t i = 0; i < N(sets); i++) {
		npusim_machine *other = npusim_machine_with(m, sets[i], 1, NULL);

		CHECK(other);
		r[i] = eval_ok(other, w);
		npusim_machine_free(other);
	}
	for (size_t i = 0; i < N(sets); i++) { /* the document of each is made behind the last run */
		char *want = fresh("edge", sets[i], 1);

		s = document(r[i]);
		CHECK_STR(s, want);
		free(s);
		free(want);
		npusim_result_free(r[i]);
	}
	r[0] = eval_ok(m, w);
	s = document(r[0]);
	CHECK_STR(s, first);
	free(s);
	free(first);
	npusim_result_free(r[0]);
	npusim_work_free(w);
	npusim_machine_free(m);
	npusim_close(n);
}

TEST(things_are_closed_in_any_order)
{
	npusim *n = open_ok();
	npusim_machine *m = named(n, "edge"), *with = npusim_machine_with(m, NULL, 0, NULL);
	npusim_work *w = work_ok(n);
	npusim_result *r = eval_ok(with, w);

	npusim_close(n);
	npusim_machine_free(m);
	npusim_machine_free(with);
	npusim_work_free(w);
	CHECK(get(r, "ops[0].us") > 0);
	npusim_result_free(r);
	npusim_result_free(NULL);
	npusim_work_free(NULL);
	npusim_machine_free(NULL);
	npusim_close(NULL);
}

TEST(values_are_found_by_path_and_what_is_not_there_is_named)
{
	struct npusim_error e = NPUSIM_ERROR_INIT;
	npusim *n = open_ok();
	npusim_machine *m = named(n, "edge");
	npusim_work *w = work_ok(n);
	npusim_result *r = eval_ok(m, w);
	const char *text;
	double x;
	size_t k;

	CHECK(npusim_count(r, "ops", &k, &e) == 0 && k > 10);
	CHECK(npusim_text(r, "ops[1].kind", &text, &e) == 0 && *text);
	CHECK(npusim_text(r, "fidelity", &text, &e) == 0);
	CHECK_STR(text, "analytic");
	CHECK(get(r, "expert_reuse_assumed") == 1);
	CHECK(get(r, "interval.high") > get(r, "interval.low"));
	CHECK(npusim_count(r, "stats", &k, &e) == 0 && k > 10);
	CHECK(get(r, "stats.dram.read_bytes") > 0); /* a key with dots */
	CHECK(npusim_get(r, "totl_us", &x, &e) == -1 && e.code == NPUSIM_USAGE);
	CHECK_HAS(e.message, "did you mean 'total_us'?");
	CHECK(npusim_get(r, "ops[999999].us", &x, &e) == -1);
	CHECK_HAS(e.message, "'ops' is a list of ");
	CHECK(npusim_get(r, "ops[0].uss", &x, &e) == -1);
	CHECK_HAS(e.message, "did you mean 'ops[0].us'?");
	CHECK(npusim_get(r, "ops[0]us", &x, &e) == -1 && npusim_get(r, "ops.us", &x, &e) == -1);
	CHECK(npusim_get(r, "total_us.", &x, &e) == -1 && npusim_get(r, "[0]", &x, &e) == -1);
	CHECK(npusim_get(r, "ops[-1]", &x, &e) == -1 && npusim_get(r, "ops[99999999999999999999]", &x, &e) == -1);
	CHECK(npusim_get(r, "", &x, &e) == -1);
	CHECK_HAS(e.message, "is an object, and no number");
	CHECK(npusim_get(r, "verdict", &x, &e) == -1 && npusim_text(r, "cycles", &text, &e) == -1);
	CHECK_HAS(e.message, "is a number, and no text");
	npusim_result_free(r);
	npusim_work_free(w);
	npusim_machine_free(m);
	npusim_close(n);
}

TEST(a_document_is_cut_to_the_buffer)
{
	npusim *n = open_ok();
	npusim_machine *m = named(n, "edge");
	npusim_work *w = work_ok(n);
	npusim_result *r = eval_ok(m, w);
	char *all = document(r), few[10] = "123456789";
	const size_t bytes = strlen(all);

	CHECK_U64(npusim_json(r, few, 4, NULL), bytes);
	CHECK(memcmp(few, all, 3) == 0 && few[3] == '\0' && few[4] == '5');
	CHECK_U64(npusim_json(r, few, 1, NULL), bytes);
	CHECK(few[0] == '\0');
	CHECK(npusim_json(r, NULL, 4, NULL) == 0);
	free(all);
	npusim_result_free(r);
	npusim_work_free(w);
	npusim_machine_free(m);
	npusim_close(n);
}

static void machine_fails(npusim *n, const char *yaml, const char *set, int code, const char *has)
{
	struct npusim_error e = NPUSIM_ERROR_INIT;
	npusim_machine *m = npusim_machine_new(n, yaml, strlen(yaml), &set, set ? 1 : 0, &e);

	CHECK(!m);
	CHECK_U64(e.code, code);
	CHECK_HAS(e.message, has);
	CHECK(!npusim_machine_new(n, yaml, strlen(yaml), &set, set ? 1 : 0, NULL));
}

TEST(a_bad_configuration_is_one_error_with_its_place)
{
	struct npusim_error e = NPUSIM_ERROR_INIT;
	const char *bad = "name: x\ncores: 2\nl2:\n  sizee: 4 MiB\n";
	npusim *n = open_ok();

	machine_fails(n, "", NULL, NPUSIM_CONFIG, "describes no machine");
	machine_fails(n, "a: [", NULL, NPUSIM_CONFIG, "");
	machine_fails(n, "cores: 0", NULL, NPUSIM_CONFIG, "cores");
	machine_fails(n, "cores: 2", "l2.size=much", NPUSIM_CONFIG, "l2.size");
	machine_fails(n, "cores: 2", "nothing", NPUSIM_CONFIG, "nothing");
	machine_fails(n, "dram: {kind: none-such}", NULL, NPUSIM_CONFIG, "configs/dram/none-such.yaml");
	CHECK(!npusim_machine_new(n, bad, strlen(bad), NULL, 0, &e));
	CHECK_HAS(e.message, "size");
	CHECK_U64(e.line, 4);
	CHECK(!npusim_machine_named(n, "dsocrr", NULL, 0, &e));
	CHECK_HAS(e.message, "did you mean 'dsocr'?");
	npusim_close(n);
}

static void work_fails(npusim *n, const char *const *spec, size_t k, int code, const char *has)
{
	struct npusim_error e = NPUSIM_ERROR_INIT;

	CHECK(!npusim_work_new(n, spec, k, &e));
	CHECK_HAS(e.message, has);
	CHECK_U64(e.code, code);
}

TEST(a_bad_workload_or_option_is_one_error)
{
	struct npusim_error e = NPUSIM_ERROR_INIT;
	npusim *n = open_ok();
	npusim_machine *m = named(n, "edge"), *gpu = named(n, "h200");
	npusim_work *w = work_ok(n), *given;

	work_fails(n, NULL, 0, NPUSIM_USAGE, "the workload is missing");
	work_fails(n, (const char *const[]){ "modell=x" }, 1, NPUSIM_USAGE, "did you mean 'model'?");
	work_fails(n, (const char *const[]){ "model" }, 1, NPUSIM_USAGE, "has no value");
	work_fails(n, (const char *const[]){ "model=qwen3-0.6b", "model=x" }, 2, NPUSIM_USAGE, "given twice");
	work_fails(n, (const char *const[]){ "model=qwen3-0.6b", "batch=0" }, 2, NPUSIM_USAGE,
	           "whole number from 1 to");
	work_fails(n, (const char *const[]){ "model=qwen3-0.6b", "batch=18446744073709551617" }, 2, NPUSIM_USAGE,
	           "whole number");
	work_fails(n, (const char *const[]){ "model=qwen3-0.6b", "range=x" }, 2, NPUSIM_USAGE, "'range'");
	work_fails(n, (const char *const[]){ "model=qwen3-0.6b", "phase=x" }, 2, NPUSIM_USAGE, "unknown phase");
	work_fails(n, (const char *const[]){ "model=qwen3-0.6c" }, 1, NPUSIM_INPUT, "did you mean 'qwen3-0.6b'");
	work_fails(n, (const char *const[]){ "trace=/none/such" }, 1, NPUSIM_INPUT, "/none/such");
	CHECK(!npusim_eval(m, w, (const char *const[]){ "sead=1" }, 1, &e));
	CHECK_HAS(e.message, "did you mean 'seed'?");
	CHECK(!npusim_eval(m, w, (const char *const[]){ "seed=x" }, 1, &e) &&
	      !npusim_eval(m, w, (const char *const[]){ "seed" }, 1, &e));
	CHECK(!npusim_eval(m, w, (const char *const[]){ "expert-reuse=2" }, 1, &e));
	CHECK_HAS(e.message, "between 0 and 1");
	CHECK(!npusim_eval(m, w, (const char *const[]){ "start=hot" }, 1, &e) && e.code == NPUSIM_USAGE);
	given = npusim_work_new(n, (const char *const[]){ "model=qwen3-0.6b", "rewrite=kv-append" }, 2, &e);
	CHECK(given && !npusim_eval(gpu, given, NULL, 0, &e));
	CHECK_HAS(e.message, "launches");
	npusim_work_free(given);
	npusim_work_free(w);
	npusim_machine_free(gpu);
	npusim_machine_free(m);
	npusim_close(n);
}

/* As 'npusim run --tp auto': the fastest of what can be named; of another system it is another workload. */
TEST(a_split_is_found_for_one_machine)
{
	static const char *const open[] = { "model=llama-3.2-1b", "layers=2", "tp=auto" };
	static const char *const tps[] = { "tp=1", "tp=2", "tp=4", "tp=8" };
	struct npusim_error e = NPUSIM_ERROR_INIT;
	npusim *n = open_ok();
	npusim_machine *m = named(n, "dsocr-8"),
		       *other = npusim_machine_named(n, "dsocr-8", (const char *const[]){ "links.chips=4" }, 1, &e);
	npusim_work *w = npusim_work_new(n, open, N(open), &e);
	double best = 0, found;
	npusim_result *r;

	CHECK(w && other);
	r = eval_ok(m, w);
	CHECK(npusim_get(r, "total_us", &found, &e) == 0);
	npusim_result_free(r);
	for (size_t i = 0; i < N(tps); i++) {
		npusim_work *one = npusim_work_new(n, (const char *const[]){ open[0], open[1], tps[i] }, 3, &e);
		double us;

		CHECK(one);
		r = eval_ok(m, one);
		CHECK(npusim_get(r, "total_us", &us, &e) == 0);
		best = !i || us < best ? us : best;
		npusim_result_free(r);
		npusim_work_free(one);
	}
	CHECK(found <= best && found >= best);
	CHECK(!npusim_eval(other, w, form, N(form), &e) && e.code == NPUSIM_USAGE);
	CHECK_HAS(e.message, "another machine");
	npusim_work_free(w);
	npusim_machine_free(other);
	npusim_machine_free(m);
	npusim_close(n);
}

TEST(null_is_an_error_and_no_crash)
{
	const char *const holes[] = { "model=qwen3-0.6b", NULL };
	struct npusim_error e = NPUSIM_ERROR_INIT;
	npusim *n = open_ok(), *other = open_ok();
	npusim_machine *m = named(n, "edge");
	npusim_work *w = work_ok(n), *strange = work_ok(other);
	npusim_result *r = eval_ok(m, w);
	const char *text;
	double x;
	size_t k;

	CHECK(!npusim_machine_new(NULL, "", 0, NULL, 0, &e) && !npusim_machine_new(n, NULL, 4, NULL, 0, &e));
	CHECK(!npusim_machine_named(NULL, "edge", NULL, 0, &e) && !npusim_machine_named(n, NULL, NULL, 0, &e));
	CHECK(!npusim_machine_named(n, "edge", NULL, 3, &e) && !npusim_machine_with(NULL, NULL, 0, &e));
	CHECK(!npusim_work_new(NULL, small, 1, &e) && !npusim_work_new(n, holes, 2, &e) &&
	      !npusim_work_new(n, NULL, 1, &e));
	CHECK(!npusim_eval(NULL, w, NULL, 0, &e) && !npusim_eval(m, NULL, NULL, 0, &e) &&
	      !npusim_eval(m, w, NULL, 1, &e));
	CHECK(!npusim_eval(m, strange, NULL, 0, &e));
	CHECK_HAS(e.message, "of two npusims");
	CHECK(npusim_get(NULL, "total_us", &x, &e) == -1 && npusim_get(r, NULL, &x, &e) == -1 &&
	      npusim_get(r, "total_us", NULL, &e) == -1);
	CHECK(npusim_text(NULL, "fidelity", &text, &e) == -1 && npusim_text(r, "fidelity", NULL, &e) == -1);
	CHECK(npusim_count(NULL, "ops", &k, &e) == -1 && npusim_count(r, "ops", NULL, NULL) == -1);
	CHECK(npusim_json(NULL, NULL, 0, &e) == 0 && e.code == NPUSIM_USAGE);
	npusim_result_free(r);
	npusim_work_free(strange);
	npusim_work_free(w);
	npusim_machine_free(m);
	npusim_close(other);
	npusim_close(n);
}

TEST(structs_of_another_size_are_read_and_written_as_far_as_they_go)
{
	struct {
		struct npusim_error e;
		char behind[8];
	} x = { NPUSIM_ERROR_INIT, "behind!" };
	struct npusim_source from = NPUSIM_SOURCE_INIT;

	from.root = "/none/such";
	x.e.size = offsetof(struct npusim_error, line);
	x.e.message[0] = '?';
	CHECK(!npusim_open(&from, &x.e));
	CHECK_U64(x.e.code, NPUSIM_INPUT);
	CHECK(x.e.message[0] == '?' && strcmp(x.behind, "behind!") == 0);
	x.e.size = sizeof x; /* a caller of a later version */
	CHECK(!npusim_open(&from, &x.e));
	CHECK_HAS(x.e.message, "/none/such");
	CHECK_STR(x.behind, "behind!");
	x.e.size = 0;
	CHECK(!npusim_open(&from, &x.e));
	from.size = 0;
	x.e.size = sizeof x.e;
	CHECK(!npusim_open(&from, &x.e));
	CHECK_HAS(x.e.message, "NPUSIM_SOURCE_INIT");
}

/* --- limits ------------------------------------------------------------------------------------------------ */

struct seen {
	const struct limits_result *want;
	size_t n, differ;
};

static void see(void *arg, const struct npusim_limit *x)
{
	struct seen *s = arg;
	const struct limits_row *row = &s->want->rows[s->n++];

	s->differ += strcmp(x->key, row->key) != 0 || strcmp(x->then, row->then) != 0 || !x->refused != !row->refused ||
	             (!x->refused && x->us != (double)row->total_ps / 1e6) ||
	             (x->saves > 0) != (!x->refused && row->total_ps < s->want->base_ps);
}

TEST(limits_are_those_of_the_module)
{
	struct npusim_error e = NPUSIM_ERROR_INIT;
	struct err err = ERR_INIT;
	npusim *n = open_ok();
	npusim_machine *m = named(n, "edge"), *gpu = named(n, "h200");
	npusim_work *w = work_ok(n);
	npusim_result *r = eval_ok(m, w); /* the work's stream */
	struct arena *a = arena_new(0);
	struct limits_question q = { .config = "edge", .run = run_opts_default(), .step_ppm = 1000000 };
	struct limits_result want;
	struct seen seen = { &want, 0, 0 };

	q.stream = &r->job.w->stream;
	q.run.fidelity = RUN_ANALYTIC;
	CHECK_OK(limits_run(&q, a, &want, &err), err);
	if (npusim_limits(m, w, NULL, 0, see, &seen, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s", e.message);
	CHECK(seen.n == want.n && want.n > 20);
	CHECK_U64(seen.differ, 0);
	CHECK(npusim_limits(gpu, w, NULL, 0, see, &seen, &e) == -1 && e.code == NPUSIM_CONFIG);
	CHECK(npusim_limits(m, w, NULL, 0, NULL, NULL, &e) == -1 &&
	      npusim_limits(m, NULL, NULL, 0, see, NULL, &e) == -1);
	CHECK(seen.n == want.n);
	/* Where a run begins with its operands on chip, so do those that its limits are of. */
	q.run.start = RUN_RESIDENT;
	CHECK_OK(limits_run(&q, a, &want, &err), err);
	seen = (struct seen){ &want, 0, 0 };
	CHECK(npusim_limits(m, w, (const char *const[]){ "start=resident" }, 1, see, &seen, &e) == 0);
	CHECK(seen.n == want.n && !seen.differ);
	arena_free(a);
	npusim_result_free(r);
	npusim_work_free(w);
	npusim_machine_free(gpu);
	npusim_machine_free(m);
	npusim_close(n);
}

/* --- parameters -------------------------------------------------------------------------------------------- */

struct rows {
	const struct cfg *of;
	size_t n, differ;
	char value[64], source[256];
};

static void see_row(void *arg, const struct npusim_parameter *x)
{
	struct rows *r = arg;
	struct str value = STR_INIT;
	size_t i;

	if (cfg_find(r->of, x->key, &i, NULL) == 0)
		cfg_value(r->of, i, &value);
	r->differ += strcmp(str_c(&value), x->value) != 0 || !x->help[0] || !x->range;
	r->n++;
	snprintf(r->value, sizeof r->value, "%s", x->value);
	snprintf(r->source, sizeof r->source, "%s", x->source);
	str_free(&value);
}

TEST(parameters_are_those_of_the_machine)
{
	static const char *const sets[] = { "l2.size=3 MiB" };
	struct npusim_error e = NPUSIM_ERROR_INIT;
	npusim *n = open_ok();
	npusim_machine *m = named(n, "edge"), *other = npusim_machine_with(m, sets, 1, &e);
	struct err err = ERR_INIT;
	struct machine_conf *conf = machine_conf_load("edge", sets, 1, &err);
	struct rows rows = { .of = conf->raw };

	CHECK_OK(machine_conf_explain(conf, &err), err);
	CHECK(npusim_parameters(other, NULL, see_row, &rows, &e) == 0);
	CHECK_U64(rows.n, cfg_count(conf->raw));
	CHECK_U64(rows.differ, 0);
	CHECK(npusim_parameters(other, "l2.size", see_row, &rows, &e) == 0);
	CHECK_STR(rows.value, "3 MiB");
	CHECK_HAS(rows.source, "--set");
	CHECK_U64(rows.n, cfg_count(conf->raw) + 1);
	CHECK(npusim_parameters(m, "l2.size", see_row, &rows, &e) == 0 && strcmp(rows.value, "3 MiB") != 0);
	CHECK(npusim_parameters(m, "l2.sise", see_row, &rows, &e) == -1 && e.code == NPUSIM_CONFIG);
	CHECK_HAS(e.message, "did you mean 'l2.size'?");
	CHECK(npusim_parameters(NULL, NULL, see_row, &rows, &e) == -1 &&
	      npusim_parameters(m, NULL, NULL, NULL, &e) == -1);
	machine_conf_free(conf);
	npusim_machine_free(other);
	npusim_machine_free(m);
	npusim_close(n);
}

/* --- data in memory ---------------------------------------------------------------------------------------- */

struct file {
	const char *name, *bytes;
};

static const char *read_one(void *arg, const char *name, size_t *n)
{
	for (const struct file *f = arg; f->name; f++)
		if (strcmp(f->name, name) == 0) {
			*n = strlen(f->bytes);
			return f->bytes;
		}
	return NULL;
}

static const char *name_of(void *arg, size_t i)
{
	return ((const struct file *)arg)[i].name;
}

TEST(data_come_from_memory_alone)
{
	struct file files[] = { { "configs/npu/mine.yaml",
		                  "name: mine\ncores: 2\ndram: {kind: fixed}\ndie: {node: none}\n" },
		                { "workloads/models/tiny.yaml", "model_type: llama\n" },
		                { NULL, NULL } };
	struct npusim_source from = { sizeof from, NULL, read_one, name_of, files };
	struct npusim_error e = NPUSIM_ERROR_INIT;
	npusim *n = npusim_open(&from, &e);
	npusim_machine *m = npusim_machine_named(n, "mine", NULL, 0, &e);

	if (!m)
		test_fail(__FILE__, __LINE__, "%s", e.message);
	CHECK(!npusim_machine_named(n, "edge", NULL, 0, &e)); /* which is among the files of the system */
	CHECK(!npusim_machine_named(n, "configs/npu/edge.yaml", NULL, 0, &e));
	CHECK(!npusim_work_new(n, small, N(small), &e));
	CHECK_HAS(e.message, "there is no model 'qwen3-0.6b'");
	CHECK(!npusim_work_new(n, (const char *const[]){ "model=tiny" }, 1, &e));
	CHECK_HAS(e.file, "workloads/models/tiny.yaml");
	npusim_machine_free(m);
	npusim_close(n);
	from.name = NULL;
	CHECK(!npusim_open(&from, &e) && e.code == NPUSIM_USAGE);
}

/* Numbers of a host program that writes 1,5 are none of the library's. */
TEST(the_callers_locale_changes_nothing)
{
	char command[600], *want = fresh("edge", NULL, 0), *got, number[8];

	snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", test_tmp());
	if (system(command) != 0 || setenv("LOCPATH", test_tmp(), 1) != 0 || !setlocale(LC_ALL, "de_DE.UTF-8"))
		test_skip("no German locale");
	got = fresh("edge", NULL, 0);
	CHECK_STR(got, want);
	snprintf(number, sizeof number, "%.1f", 1.5);
	CHECK_STR(number, "1,5"); /* and the caller has it again */
	free(want);
	free(got);
}

/* --- threads ----------------------------------------------------------------------------------------------- */

static void *alone(void *arg)
{
	char **out = arg;

	for (int i = 0; i < 3; i++) {
		free(*out);
		*out = fresh(i % 2 ? "h200" : "edge", NULL, 0);
	}
	return NULL;
}

TEST(two_handles_are_used_by_two_threads)
{
	char *text[2] = { NULL, NULL }, *want = fresh("edge", NULL, 0);
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&t[i], NULL, alone, &text[i]) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	CHECK_STR(text[0], want);
	CHECK_STR(text[1], want);
	free(text[0]);
	free(text[1]);
	free(want);
}

SUITE(t_api, SLOW(figures_are_those_of_the_modules), T(a_documents_tree_is_that_of_its_text),
      SLOW(what_was_asked_before_changes_no_document), SLOW(what_ran_before_changes_no_answer),
      T(things_are_closed_in_any_order), T(values_are_found_by_path_and_what_is_not_there_is_named),
      T(a_document_is_cut_to_the_buffer), T(a_bad_configuration_is_one_error_with_its_place),
      T(a_bad_workload_or_option_is_one_error), T(a_split_is_found_for_one_machine), T(null_is_an_error_and_no_crash),
      T(structs_of_another_size_are_read_and_written_as_far_as_they_go), SLOW(limits_are_those_of_the_module),
      T(parameters_are_those_of_the_machine), T(data_come_from_memory_alone), SLOW(the_callers_locale_changes_nothing),
      SLOW(two_handles_are_used_by_two_threads));
