/* t_experiment.c - a study's commands as functions: each runs once, in this process or in workers, and what it says is taken by path. */
#include "sim/study/experiment.h"

#include <stdio.h>

#include "validate/tests/test.h"

static const char study[] =
	"study: 1\n"
	"title: T\n"
	"runs:\n"
	"- name: a\n"
	"  command: say {n}\n"
	"  for: {n: [1, 2, 3]}\n"
	"  take: {us: total.us, kind: {at: kind}, second: 'v[1]', two: 'v[k=2].x', all: 'v[*].#', dots: \"of.'a.b'.x\"}\n"
	"  make: {gain: us / first.us}\n"
	"- name: again\n"
	"  command: say 2\n"
	"  take: {us: {at: total.us, times: 10}, none: nothing}\n"
	"- name: no\n"
	"  command: fail at once\n"
	"  may_fail: yes\n"
	"  take: {us: total.us}\n"
	"claims:\n"
	"- {says: thrice, right: a.n3.gain == 3, why: '{a.n3.us} of {a.n1.kind}'}\n";

/* Which commands ran, in this process; what was asked of the one before. */
struct told {
	char ran[64];
	size_t n_paths;
};

static int check(void *arg, const char *const *words, size_t n, struct str *files, struct err *e)
{
	(void)arg, (void)e;
	CHECK(n == 2 || n == 3);
	str_addf(files, "r%s.yaml", words[1]);
	str_addc(files, '\0');
	return 0;
}

static int say(void *arg, const char *const *words, size_t n, const char *const *paths, size_t n_paths, struct arena *a,
               const struct json **document, struct err *e)
{
	struct told *t = arg;
	const char *text;

	(void)paths;
	strncat(t->ran, words[1], sizeof t->ran - strlen(t->ran) - 1);
	t->n_paths = n_paths;
	if (n == 3)
		return err_set(e, ERR_STUCK, "nothing to say");
	text = arena_printf(
		a,
		"{\"total\": {\"us\": %s.5}, \"kind\": \"dram\", \"nothing\": null, \"v\": [1, 7, {\"k\": 2, \"x\": 0.1}], \"of\": {\"a.b\": {\"x\": 8}}}",
		words[1]);
	*document = json_parse(text, strlen(text), a, e);
	return *document ? 0 : -1;
}

static struct experiment *parsed(const char *text, struct experiment_runner *by, struct err *e)
{
	struct experiment *x = experiment_parse(text, strlen(text), "s.yaml", by, e);

	if (!x || experiment_check(x, e) < 0)
		test_fail(__FILE__, __LINE__, "%s", e->msg);
	return x;
}

static void looks_right(const struct experiment *x)
{
	const struct expr_value *v = x->runs[1].figures, *again = x->runs[3].figures;

	CHECK(x->n_runs == 5 && v[0].number == 2.5 && v[1].type == EXPR_TEXT && v[2].number == 7 && v[3].number == 0.1);
	CHECK_STR(v[1].text, "dram");
	CHECK(v[4].number == 3 && v[5].number == 8 && again[0].number == 25 && again[1].type == EXPR_NULL);
	CHECK_STR(x->runs[4].failed, "nothing to say");
	CHECK(!x->runs[3].failed && x->runs[4].figures[0].type == EXPR_NULL);
}

TEST(commands_run_once_and_here)
{
	struct told t = { .n_paths = 0 };
	struct experiment_runner by = { check, say, &t };
	struct err e = ERR_INIT;
	struct experiment *x = parsed(study, &by, &e);

	CHECK(x->runs[0].n_files == strlen("r1.yaml") + 1);
	CHECK_STR(x->runs[0].files, "r1.yaml");
	CHECK_STR(t.ran, "");
	CHECK_OK(experiment_run(x, &by, 1, NULL, NULL, &e), e);
	CHECK_STR(t.ran, "123at");
	looks_right(x);
	CHECK_OK(experiment_judge(x, &e), e);
	CHECK(x->counted[EXPERIMENT_WRONG] == 1); /* 3.5 / 1.5 */
	CHECK_STR(x->claims[0].why, "3.500 of dram");
	experiment_free(x);
}

static void count(void *arg, size_t done, size_t of)
{
	size_t *last = arg;

	CHECK(done > *last && done <= of && of == 4);
	*last = done;
}

TEST(workers_find_the_same)
{
	struct told t = { .n_paths = 0 };
	struct experiment_runner by = { check, say, &t };
	struct err e = ERR_INIT;
	struct experiment *x = parsed(study, &by, &e);
	size_t last = 0;

	CHECK_OK(experiment_run(x, &by, 3, count, &last, &e), e);
	CHECK(last == 4);
	CHECK_STR(t.ran, "");
	looks_right(x);
	experiment_free(x);
}

/* Of all that is asked of a command, by each that has it. */
TEST(a_command_knows_the_figures_that_are_asked)
{
	struct told t = { .n_paths = 0 };
	struct experiment_runner by = { check, say, &t };
	struct err e = ERR_INIT;
	struct experiment *x = parsed("study: 1\ntitle: T\nruns:\n"
	                              "- {name: a, command: say 1, take: {us: total.us, kind: kind}}\n"
	                              "- {name: b, command: say 1, take: {us: total.us}}\n"
	                              "claims:\n- {says: so, cannot: be}\n",
	                              &by, &e);

	CHECK_OK(experiment_run(x, &by, 1, NULL, NULL, &e), e);
	CHECK(t.n_paths == 3);
	CHECK_STR(t.ran, "1");
	experiment_free(x);
}

/* Numbers of an answer are figures; its words hold, or the study fails. */
TEST(answers_have_no_typed_number)
{
	static const struct {
		const char *ask, *why;
	} v[] = {
		{ "answer: 'It is {a.us; 1} of V100-SXM2, FP8 (held by {a.kind}).', holds: a.us > 1", NULL },
		{ "answer: '2 times {a.us}', holds: a.us > 1", "'2' was typed" },
		{ "answer: 'times ({a.us}, 2.5 of it)', holds: a.us > 1", "'2.5' was typed" },
		{ "answer: 'times -3 of {a.us}', holds: a.us > 1", "'3' was typed" },
		{ "answer: '{a.us}2', holds: a.us > 1", "'2' was typed" },
		{ "answer: '{2 * 3} times', holds: a.us > 1", "'2 * 3' has no figure" },
		{ "answer: 'more', holds: 1 == 1", "'1 == 1' has no figure" },
		{ "answer: 'more: {a.us}', holds: a.us > 2", "the answer no longer holds" },
		{ "answer: 'more: {a.us}'", "has no 'holds'" },
	};

	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		struct told t = { .n_paths = 0 };
		struct experiment_runner by = { check, say, &t };
		struct err e = ERR_INIT;
		char text[512];
		struct experiment *x;
		bool ok;

		snprintf(text, sizeof text,
		         "study: 1\ntitle: T\nruns:\n- {name: a, command: say 1, take: {us: total.us, kind: kind}}\n"
		         "asks:\n- {ask: so, %s}\n",
		         v[i].ask);
		x = experiment_parse(text, strlen(text), "s.yaml", &by, &e);
		ok = x && experiment_check(x, &e) == 0 && experiment_run(x, &by, 1, NULL, NULL, &e) == 0 &&
		     experiment_judge(x, &e) == 0;
		CHECK(ok == !v[i].why);
		if (v[i].why)
			CHECK(strstr(e.msg, v[i].why) != NULL);
		else
			CHECK_STR(x->asks[0].answer, "It is 1.5 of V100-SXM2, FP8 (held by dram).");
		experiment_free(x);
	}
}

/* The same words with and without workers. */
static void fails(const char *runs, const char *why, int line)
{
	struct told t = { .n_paths = 0 };
	struct experiment_runner by = { check, say, &t };
	char text[512], first[1024] = "";

	snprintf(text, sizeof text, "study: 1\ntitle: T\nruns:\n%sclaims:\n- {says: so, cannot: be}\n", runs);
	for (unsigned jobs = 1; jobs < 4; jobs += 2) {
		struct err e = ERR_INIT;
		struct experiment *x = parsed(text, &by, &e);

		CHECK(experiment_run(x, &by, jobs, NULL, NULL, &e) < 0 && e.kind == ERR_CONFIG && e.line == line);
		CHECK_HAS(e.msg, why);
		if (jobs > 1)
			CHECK_STR(first, e.msg);
		strcpy(first, e.msg);
		experiment_free(x);
	}
}

TEST(the_first_fault_is_the_one_that_is_told)
{
	fails("- {name: a, command: say 1, take: {us: total.us}}\n- {name: b, command: fail at once, take: {us: total.us}}\n"
	      "- {name: c, command: fail at last, take: {us: total.us}}\n",
	      "npusim fail at once: nothing to say", 0);
	fails("- {name: a, command: say 1, take: {us: total.us}}\n- {name: b, command: say 2, take: {us: totl.us}}\n"
	      "- {name: c, command: fail at last, take: {us: total.us}}\n",
	      "what the command says has no 'totl', for 'totl.us', while taking figures of 'npusim say 2'", 5);
}

/* --- verdicts ------------------------------------------------------------------------------------------------------ */

static struct experiment *judged(const char *name, const char *runs, const char *claims)
{
	struct told t = { .n_paths = 0 };
	struct experiment_runner by = { check, say, &t };
	struct err e = ERR_INIT;
	char text[2048];
	struct experiment *x;

	snprintf(text, sizeof text,
	         "study: 1\ntitle: T\nruns:\n- {name: a, command: say 1, take: {us: total.us}}\n%sclaims:\n%s", runs,
	         claims);
	x = experiment_parse(text, strlen(text), name, &by, &e);
	CHECK(x && experiment_check(x, &e) == 0);
	CHECK_OK(experiment_run(x, &by, 1, NULL, NULL, &e), e);
	CHECK_OK(experiment_judge(x, &e), e);
	return x;
}

/* What follows from typed numbers alone is not shown by anything that was run. */
TEST(what_no_figure_shows_is_arithmetic)
{
	struct experiment *x = judged("s.yaml", "",
	                              "- {says: a, right: 2 * 2 == 4, why: as it is}\n"
	                              "- {says: b, right: 2 * 2 == 5, why: '{a.us}'}\n"
	                              "- {says: c, right: a.us < 4 / 2, why: measured}\n");

	CHECK(x->claims[0].verdict == EXPERIMENT_ARITHMETIC && x->claims[1].verdict == EXPERIMENT_WRONG);
	CHECK(x->claims[2].verdict == EXPERIMENT_RIGHT);
	experiment_free(x);
}

TEST(a_claim_of_a_run_has_the_verdict_of_its_command)
{
	struct experiment *x =
		judged("s.yaml",
	               "- {name: c, command: say 2, for: {k: [p, q]}, take: {verdict: kind, says: kind, why: kind}}\n",
	               "- {from: c, at: here}\n");
	struct told t = { .n_paths = 0 };
	struct experiment_runner by = { check, say, &t };
	struct err e = ERR_INIT;
	static const char none[] =
		"study: 1\ntitle: T\nruns: [{name: a, command: say 1, take: {says: kind}}]\nclaims: [{from: a}]\n";

	CHECK(x->n_claims == 2 && x->claims[0].verdict == EXPERIMENT_CANNOT); /* "dram" is no verdict */
	CHECK_STR(x->claims[1].at, "here (q)");
	CHECK_STR(x->claims[1].why, "dram");
	experiment_free(x);
	CHECK(experiment_parse(none, strlen(none), "s.yaml", &by, &e) == NULL);
	CHECK_HAS(e.msg, "takes no 'verdict'");
}

static void agree(const char *one, const char *other, const char *why)
{
	struct experiment *v[] = { judged("one.yaml", "", one), judged("other.yaml", "", other) };
	struct err e = ERR_INIT;

	if (why) {
		CHECK(experiment_agree(v, 2, &e) < 0);
		CHECK_HAS(e.msg, why);
		CHECK_STR(e.file, "other.yaml");
	} else {
		CHECK_OK(experiment_agree(v, 2, &e), e);
	}
	experiment_free(v[0]);
	experiment_free(v[1]);
}

TEST(claims_that_say_the_same_do_not_contradict)
{
	agree("- {says: It pays., right: a.us > 1, why: x}\n", "- {says: it pays, right: a.us > 1, why: x}\n", NULL);
	agree("- {says: It pays., right: a.us > 1, why: x}\n", "- {says: it pays, right: a.us > 2, why: x}\n",
	      "contradicts one.yaml:6");
	agree("- {says: It pays., right: a.us > 1, why: x}\n", "- {says: it pays, cannot: not here}\n", NULL);
	agree("- {says: p, asserts: pays, right: a.us > 1, why: x}\n",
	      "- {says: q, asserts: pays, right: a.us > 2, in_part: a.us > 1, why: x}\n", "\"q\" is in part here");
	agree("- {says: p, asserts: pays, right: a.us > 1, why: x}\n",
	      "- {says: q, denies: pays, right: a.us > 2, why: x}\n", NULL);
	agree("- {says: p, asserts: pays, right: a.us > 1, why: x}\n",
	      "- {says: q, denies: pays, right: a.us > 1, why: x}\n", "contradicts");
}

SUITE(t_experiment, T(what_no_figure_shows_is_arithmetic), T(a_claim_of_a_run_has_the_verdict_of_its_command),
      T(claims_that_say_the_same_do_not_contradict), T(commands_run_once_and_here), T(workers_find_the_same),
      T(a_command_knows_the_figures_that_are_asked), T(answers_have_no_typed_number),
      T(the_first_fault_is_the_one_that_is_told));
