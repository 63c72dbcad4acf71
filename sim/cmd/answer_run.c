/* answer_run.c - the commands of a study: which it may run, and each in a process of its own whose output comes back in a file. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/cmd/answer.h"
#include "sim/ui/progress.h"

#define WORDS_MAX  64
#define OUTPUT_MAX ((size_t)64 << 20)

/* --- what may run -------------------------------------------------------------------------------------------------- */

static const struct cmd *find(const struct cmd *table, const char *name)
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

	*l = (struct line){ .c = n ? find(all, words[0]) : NULL };
	if (l->c && l->c->sub) {
		l->c = n > 1 ? find(l->c->sub, words[1]) : NULL;
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

/* --- a child ------------------------------------------------------------------------------------------------------- */

/* As main does, in JSON; what went wrong goes where the output would. */
static _Noreturn void child(const struct cmd *all, const char **words, size_t n, FILE *to)
{
	struct err e = ERR_INIT;
	struct str out = STR_INIT;
	const int null = open("/dev/null", O_WRONLY);
	struct line l;
	int code;

	if (null >= 0)
		dup2(null, STDERR_FILENO);
	set_line(&l, all, NULL, words, n);
	l.c->run(l.argc, l.argv, &out, &e);
	code = e.kind == ERR_BOUND ? 0 : err_exit_code(&e);
	fputs(code ? e.msg : str_c(&out), to);
	str_free(&out);
	_exit(fflush(to) == 0 ? code : 4);
}

/* --- all of them --------------------------------------------------------------------------------------------------- */

struct job {
	pid_t pid;
	FILE *out;
	size_t run;
};

static int start(struct answer *x, const struct cmd *all, size_t run, struct job *j, struct err *e)
{
	size_t n;
	const char **words = answer_words(x->a, x->runs[run].command, &n, e);

	if (!words)
		return -1;
	*j = (struct job){ .run = run, .out = tmpfile() };
	if (!j->out)
		return err_sys(e, ERR_IO, errno, "cannot make a file for what a command says");
	if ((j->pid = fork()) == 0)
		child(all, words, n, j->out);
	if (j->pid > 0)
		return 0;
	fclose(j->out);
	return err_sys(e, ERR_IO, errno, "cannot start a command");
}

static int read_all(FILE *f, struct str *to, struct err *e)
{
	char part[16384];
	size_t n;

	rewind(f);
	while ((n = fread(part, 1, sizeof part, f)) > 0 && to->len <= OUTPUT_MAX)
		str_addn(to, part, n);
	if (to->len > OUTPUT_MAX)
		return err_set(e, ERR_BOUND, "it says more than %zu MiB", OUTPUT_MAX >> 20);
	return to->failed ? err_nomem(e, NULL) : 0;
}

/* What a command said, for every run of that command. */
static int serve(struct answer *x, size_t run, const struct str *said, bool failed, struct err *e)
{
	for (size_t i = run; i < x->n_runs; i++) {
		struct answer_run *u = &x->runs[i];

		if (u->same != run)
			continue;
		if (failed && !(u->failed = arena_strdup(x->a, said->len ? str_c(said) : "it died")))
			return err_nomem(e, NULL);
		if (failed && !u->group->may_fail)
			return err_set(e, ERR_CONFIG, "npusim %s: %s", u->command, u->failed);
		if (!failed && answer_take(x, i, str_c(said), e) < 0)
			return err_add(e, "taking figures of 'npusim %s'", u->command);
	}
	return 0;
}

static int finish(struct answer *x, struct job *j, struct err *e)
{
	struct str said = STR_INIT;
	int status, rc;

	while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	rc = read_all(j->out, &said, e);
	fclose(j->out);
	if (rc == 0)
		rc = serve(x, j->run, &said, !WIFEXITED(status) || WEXITSTATUS(status), e);
	str_free(&said);
	return rc;
}

static int run_all(struct answer *x, const struct cmd *all, unsigned jobs, struct progress *p, struct err *e)
{
	struct job running[ANSWER_JOBS];
	size_t n = 0, next = 0, done = 0;
	int rc = 0;

	while (n || (rc == 0 && next < x->n_runs)) {
		struct err ignored = ERR_INIT;

		while (next < x->n_runs && x->runs[next].same != next)
			next++;
		if (rc == 0 && n < jobs && next < x->n_runs) {
			if (start(x, all, next, &running[n], e) < 0)
				rc = -1;
			else
				n++;
			next++;
			continue;
		}
		if (!n)
			break;
		if (finish(x, &running[0], rc < 0 ? &ignored : e) < 0)
			rc = -1;
		memmove(running, running + 1, --n * sizeof *running);
		progress_set(p, ++done);
	}
	return rc;
}

int answer_run(struct answer *x, const struct cmd *all, unsigned jobs, struct err *e)
{
	struct progress *p = progress_new("study", "commands", x->n_runs);
	const int rc = run_all(x, all, jobs < 1 ? 1 : jobs > ANSWER_JOBS ? ANSWER_JOBS : jobs, p, e);

	progress_free(p);
	return rc;
}
