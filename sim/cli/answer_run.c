/* answer_run.c - the commands of a study: which it may run, and each in a process of its own. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/pool.h"
#include "sim/cli/answer.h"
#include "sim/ui/progress.h"

#define WORDS_MAX  64
#define OUTPUT_MAX ((size_t)64 << 20)

/* --- what may run -------------------------------------------------------------------------------------------------- */

static const struct cmd *answer_run_find(const struct cmd *table, const char *name)
{
	for (; table->name; table++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

/* The command with what is put before and behind its words: as main would find it, in JSON. NULL: there is none. */
struct line {
	const struct cmd *c;
	char *argv[WORDS_MAX + 4];
	int argc;
};

static void set_line(struct line *l, const struct cmd *all, char *ask, const char *const *words, size_t n)
{
	static char format[] = "--format", json[] = "json", none[] = "";
	size_t first = 1;

	*l = (struct line){ .c = n ? answer_run_find(all, words[0]) : NULL };
	if (l->c && l->c->sub) {
		l->c = n > 1 ? answer_run_find(l->c->sub, words[1]) : NULL;
		first = 2;
	}
	l->argv[l->argc++] = l->c ? (char *)(uintptr_t)l->c->name : none;
	if (ask)
		l->argv[l->argc++] = ask;
	for (size_t i = first; i < n; i++)
		l->argv[l->argc++] = (char *)(uintptr_t)words[i];
	l->argv[l->argc++] = format;
	l->argv[l->argc++] = json;
}

/* A study may come from a stranger: it reads, and writes nothing. What a command would write its own table says. */
int answer_may_run(const struct cmd *all, const char *const *words, size_t n, struct str *files, struct err *e)
{
	char ask[] = CMD_ASK_FILES;
	struct err why = ERR_INIT;
	const size_t had = files->len;
	struct line l;

	set_line(&l, all, ask, words, n);
	if (!l.c)
		return err_set(e, ERR_CONFIG, "there is no command 'npusim %s%s%s'", n ? words[0] : "",
		               n > 1 ? " " : "", n > 1 ? words[1] : "");
	if (strcmp(words[0], "study") == 0)
		return err_set(e, ERR_CONFIG, "a study runs no study, which might be itself");
	if (l.c->run(l.argc, l.argv, files, &why) < 0)
		return err_set(e, ERR_CONFIG, "npusim %s, with the '--format json' that a study adds: %s", l.c->name,
		               why.msg);
	if (files->failed)
		return err_nomem(e, NULL);
	for (const char *p = str_c(files) + had; p < str_c(files) + files->len; p += strlen(p) + 1)
		if (*p == 'w')
			return err_set(e, ERR_CONFIG, "a study's commands write nothing, and this one would write '%s'",
			               p + 1);
	return 0;
}

const char **answer_words(struct arena *a, const char *command, size_t *n, struct err *e)
{
	const char **words = arena_array(a, WORDS_MAX + 1, sizeof *words);
	char *s = arena_strdup(a, command), *to;

	*n = 0;
	if (!words || !s) {
		err_nomem(e, NULL);
		return NULL;
	}
	for (;;) {
		char quote = 0;

		s += strspn(s, " \n\t");
		if (!*s)
			return words;
		if (*n == WORDS_MAX) {
			err_set(e, ERR_CONFIG, "a command of more than %d words", WORDS_MAX);
			return NULL;
		}
		words[(*n)++] = to = s;
		for (; *s && (quote || !strchr(" \n\t", *s)); s++) {
			if (quote ? *s == quote : *s == '\'' || *s == '"')
				quote = quote ? 0 : *s;
			else
				*to++ = *s;
		}
		if (quote) {
			err_set(e, ERR_CONFIG, "a quote is not closed: %s", command);
			return NULL;
		}
		s += *s != '\0';
		*to = '\0';
	}
}

/* --- a command, in a process of its own ---------------------------------------------------------------------------- */

struct batch {
	struct answer *x;
	const struct cmd *all;
	const size_t *runs; /* one of each command */
	struct progress *progress;
};

/* What a command says beside its output is for nobody. */
static void *answer_run_start(void *arg)
{
	const int null = open("/dev/null", O_WRONLY);

	(void)arg;
	if (null >= 0)
		dup2(null, STDERR_FILENO);
	return NULL;
}

static void job(void *arg, size_t i, struct str *to)
{
	const struct batch *b = arg;

	str_add(to, b->x->runs[b->runs[i]].command);
}

/* As main does, in JSON. The answer's first byte is the exit code; what went wrong stands where the output would. */
static void work(void *arg, void *state, const char *command, size_t n_bytes, struct str *result)
{
	const struct batch *b = arg;
	struct err e = ERR_INIT;
	struct str out = STR_INIT;
	struct arena *a = arena_new(0);
	const char **words;
	struct line l;
	size_t n;
	int code;

	(void)state, (void)n_bytes;
	if (!a) {
		err_nomem(&e, NULL);
	} else if ((words = answer_words(a, command, &n, &e))) {
		set_line(&l, b->all, NULL, words, n);
		l.c->run(l.argc, l.argv, &out, &e);
	}
	code = e.kind == ERR_BOUND ? 0 : err_exit_code(&e);
	str_addc(result, (char)code);
	str_add(result, code ? e.msg : str_c(&out));
	result->failed |= out.failed;
	str_free(&out);
	arena_free(a);
}

/* --- all of them --------------------------------------------------------------------------------------------------- */

/* What a command said, for every run of that command. */
static int serve(struct answer *x, size_t run, const char *said, bool failed, struct err *e)
{
	for (size_t i = run; i < x->n_runs; i++) {
		struct answer_run *u = &x->runs[i];

		if (u->same != run)
			continue;
		if (failed && !(u->failed = arena_strdup(x->a, *said ? said : "it died")))
			return err_nomem(e, NULL);
		if (failed && !u->group->may_fail)
			return err_set(e, ERR_CONFIG, "npusim %s: %s", u->command, u->failed);
		if (!failed && answer_take(x, i, said, e) < 0)
			return err_add(e, "taking figures of 'npusim %s'", u->command);
	}
	return 0;
}

static int answer_run_take(void *arg, size_t i, const struct pool_result *r, struct err *e)
{
	const struct batch *b = arg;

	if (r->lost && !r->died)
		return err_set(e, ERR_BOUND, "it says more than %zu MiB", OUTPUT_MAX >> 20);
	if (r->lost)
		return serve(b->x, b->runs[i], "", true, e);
	return serve(b->x, b->runs[i], r->bytes + 1, r->bytes[0] != 0, e);
}

static int tell(void *arg, size_t done, struct err *e)
{
	const struct batch *b = arg;

	(void)e;
	progress_set(b->progress, done);
	return 0;
}

/* Taken in their order, so that of several that fail it is the first that says why. */
int answer_run(struct answer *x, const struct cmd *all, unsigned jobs, struct err *e)
{
	size_t *runs = calloc(x->n_runs + 1, sizeof *runs), n = 0;
	struct batch b = { x, all, runs, NULL };
	const struct pool_how how = { .backend = &pool_processes,
		                      .workers = jobs < 1             ? 1
		                                 : jobs < ANSWER_JOBS ? jobs
		                                                      : ANSWER_JOBS,
		                      .each = 1, /* a command leaves nothing to the next */
		                      .frame_max = OUTPUT_MAX + 1,
		                      .start = answer_run_start,
		                      .work = work,
		                      .arg = &b };
	struct pool_batch batch = {
		.ordered = true, .job = job, .result = answer_run_take, .progress = tell, .arg = &b
	};
	struct pool *pool = NULL;
	int rc;

	if (!runs)
		return err_nomem(e, NULL);
	for (size_t i = 0; i < x->n_runs; i++)
		if (x->runs[i].same == i)
			runs[n++] = i;
	batch.n = n;
	b.progress = progress_new("study", "commands", n);
	rc = (pool = pool_new(&how, e)) ? pool_run(pool, &batch, e) : -1;
	pool_free(pool);
	progress_free(b.progress);
	free(runs);
	return rc;
}
