/* f_study.c - any bytes as a study: read, its figures taken of what commands might say, judged and printed in every way.
 *
 * What follows a line "%" is what each command says; without one it is a small object. The commands are two of our own, which
 * nobody runs: a study only asks them for the files that they name. None of those is written, whatever the study says. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/study_commands.h"
#include "sim/report/experiment_doc.h"
#include "validate/tests/fuzz/targets.h"

static const char *written;

static int look(int argc, char **argv, struct str *out, struct err *e)
{
	struct opt_list args = { NULL, 0 }, sets = { NULL, 0 };
	const char *format = NULL, *config = NULL;
	bool all = false;
	const struct opt opts[] = { { 'c', "config", OPT_READ, &config, "FILE", "read" },
		                    { 'a', "all", OPT_FLAG, &all, NULL, "more" },
		                    { 's', "set", OPT_SETS, &sets, "KEY=VALUE", "a parameter" },
		                    { 'o', "output", OPT_WRITE, &written, "FILE", "written" },
		                    { 0, "format", OPT_TEXT, &format, "json", "how" },
		                    { .type = OPT_END } };
	const struct opt_cmd cmd = { "look [FILE]", NULL, NULL, opts, 0, 1 };
	int rc;

	written = NULL;
	rc = cmd_parse(&cmd, argc, argv, &args, out, e);
	assert(rc); /* it is asked, and never run */
	opt_list_free(&args);
	opt_list_free(&sets);
	return rc < 0 ? -1 : 0;
}

/* What runs a study's commands knows these two by name; a study here is only read. */
int cmd_run(int argc, char **argv, struct str *out, struct err *e)
{
	(void)argc, (void)argv, (void)out, (void)e;
	abort();
}

int cmd_run_figures(int argc, char **argv, const struct cmd_figures *f, struct err *e)
{
	(void)argc, (void)argv, (void)f, (void)e;
	abort();
}

static const struct cmd group[] = { { "at", look, NULL, "" }, { NULL, NULL, NULL, NULL } };
static const struct cmd commands[] = { { "look", look, NULL, "" },
	                               { "study", look, NULL, "" },
	                               { "trace", NULL, group, "" },
	                               { NULL, NULL, NULL, NULL } };

static void print(struct experiment *x)
{
	static void (*const how[])(const struct experiments *, struct str *) = { experiment_commands,
		                                                                 experiment_markdown };
	const struct experiments s = { &x, 1 };
	struct str out = STR_INIT;

	for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
		how[i](&s, &out);
		assert(out.len && !out.failed);
		str_clear(&out);
	}
	for (int f = 0; f < OUT_FORMATS; f++) {
		struct doc d;

		doc_init(&d, (enum out_format)f, 0, &out);
		experiment_doc(&d, &s);
		doc_end(&d);
		assert(out.len && !out.failed);
		str_clear(&out);
	}
	str_free(&out);
}

static int take(struct experiment *x, const char *said, struct err *e)
{
	struct arena *a = arena_new(0);
	const struct json *document = json_parse(said, strlen(said), a, e);
	int rc = document ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < x->n_runs; i++)
		rc = experiment_take(x, i, document, e);
	arena_free(a);
	return rc;
}

static void judge(struct experiment *x, const char *said)
{
	struct err e = ERR_INIT;
	size_t judged = 0;

	if (experiment_check(x, &e) < 0 || take(x, said, &e) < 0 || experiment_judge(x, &e) < 0) {
		assert(e.kind != ERR_NONE && e.msg[0]);
		return;
	}
	for (size_t i = 0; i < EXPERIMENT_VERDICTS; i++)
		judged += x->counted[i];
	assert(judged == x->n_claims && judged + x->n_asks > 0);
	print(x);
}

int fuzz_study(const uint8_t *bytes, size_t n)
{
	static const char small[] =
		"{\"us\": 12.5, \"bound\": \"dram\", \"ops\": [{\"kind\": \"gemm\", \"us\": 3}, {\"us\": null}]}";
	const struct experiment_runner by = study_commands(commands);
	struct err e = ERR_INIT;
	char *text = malloc(n + 1), *mark, *said;
	struct experiment *x;

	if (!text)
		abort();
	if (n)
		memcpy(text, bytes, n);
	text[n] = '\0';
	mark = strstr(text, "\n%\n");
	said = mark ? mark + 3 : NULL;
	x = experiment_parse(text, mark ? (size_t)(mark - text) + 1 : n, "fuzz", &by, &e);
	assert(!x || !written);
	if (x)
		judge(x, said ? said : small);
	else
		assert(e.kind != ERR_NONE && e.msg[0]);
	experiment_free(x);
	free(text);
	return 0;
}
