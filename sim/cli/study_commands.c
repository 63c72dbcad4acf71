/* study_commands.c - which commands a study may run, and what each says: a run as a tree of its values, others as text that is read. */
#define _POSIX_C_SOURCE 200809L /* dup, fcntl */
#include "sim/cli/study_commands.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
	char *argv[EXPERIMENT_WORDS + 4];
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
static int check(void *all, const char *const *words, size_t n, struct str *files, struct err *e)
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

/* --- what they say ------------------------------------------------------------------------------------------------- */

/* Notes and progress of a command are for nobody: -1, or what brings stderr back. */
static int hush(void)
{
	const int was = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0), null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(stderr);
	if (was >= 0 && null >= 0)
		dup2(null, STDERR_FILENO);
	if (null >= 0)
		close(null);
	return was;
}

static void unhush(int was)
{
	fflush(stderr);
	if (was < 0)
		return;
	dup2(was, STDERR_FILENO);
	close(was);
}

static int by_text(const struct line *l, struct arena *a, const struct json **document, struct err *e)
{
	struct str out = STR_INIT;
	struct err why = ERR_INIT;
	int rc = -1;

	l->c->run(l->argc, (char **)(uintptr_t)l->argv, &out, e);
	if (out.failed)
		err_nomem(e, NULL);
	else if (out.len > EXPERIMENT_BYTES)
		err_set(e, ERR_IO, "it says more than %zu MiB", EXPERIMENT_BYTES >> 20);
	else if (e->kind == ERR_NONE || e->kind == ERR_BOUND)
		rc = 0;
	if (rc == 0 && !(*document = json_parse(str_c(&out), out.len, a, &why))) {
		err_clear(e);
		rc = err_set(e, ERR_IO, "it says no JSON: %.80s", why.msg);
	}
	str_free(&out);
	return rc;
}

/* A bound that does not hold is no failure: it ran. */
static int study_commands_run(void *all, const char *const *words, size_t n, const char *const *paths, size_t n_paths,
                              struct arena *a, const struct json **document, struct err *e)
{
	struct cmd_figures f = { .paths = paths, .n_paths = n_paths, .tree = json_tree_new(a) };
	const int was = hush();
	struct line l;
	int rc = -1;

	set_line(&l, all, NULL, words, n);
	if (!f.tree)
		err_nomem(e, NULL);
	else if (l.c->run != cmd_run)
		rc = by_text(&l, a, document, e);
	else if (cmd_run_figures(l.argc, l.argv, &f, e) == 0 || e->kind == ERR_BOUND)
		rc = (*document = json_tree_root(f.tree, e)) ? 0 : -1;
	unhush(was);
	return rc;
}

struct experiment_runner study_commands(const struct cmd *all)
{
	return (struct experiment_runner){ check, study_commands_run, (void *)(uintptr_t)all };
}
