/* completion.c - npusim completion: scripts for shells (sim/ui/shells.h), and the question they ask: which words may stand here. */
#include "sim/cli/completion.h"

#include <stdlib.h>
#include <string.h>

#include "sim/ui/shells.h"

/* --- the question ------------------------------------------------------------------------------------------ */

/* bash breaks words at '=', and hands on a quote that is not closed yet. */
static int completion_join(const struct opt_list *args, struct completion_words *w, struct err *e)
{
	bool glue = false;

	if (!(w->v = calloc((size_t)args->n + 1, sizeof *w->v)))
		return err_nomem(e, "for the words");
	for (int i = 1; i < args->n; i++) {
		const char *word = args->v[i];
		const bool eq = strcmp(word, "=") == 0;
		char *old = w->n ? w->v[w->n - 1] : NULL;
		struct str text = STR_INIT;

		if ((*word == '\'' || *word == '"') && !strchr(word + 1, *word))
			word++;
		if (old && (eq || glue)) {
			str_add(&text, old);
			free(old);
			w->n--;
		}
		str_add(&text, word);
		w->v[w->n++] = text.p ? text.p : calloc(1, 1);
		if (text.failed || !w->v[w->n - 1])
			return err_nomem(e, "for the words");
		glue = eq;
	}
	if (w->n == 0 && !(w->v[w->n++] = calloc(1, 1)))
		return err_nomem(e, "for the words");
	return 0;
}

static void words_free(struct completion_words *w)
{
	for (int i = 0; i < w->n; i++)
		free(w->v[i]);
	free(w->v);
}

static int completion_ask(const struct cmd *c, const struct completion_words *w, int from, struct str *out,
                          struct err *e)
{
	char asked[] = CMD_ASK_COMPLETE, **argv = calloc((size_t)w->n + 2, sizeof *argv);
	struct str text = STR_INIT;
	int rc;

	if (!argv)
		return err_nomem(e, "for the words");
	argv[0] = w->v[from - 1];
	argv[1] = asked;
	for (int i = from; i < w->n; i++)
		argv[2 + i - from] = w->v[i];
	rc = c->run(2 + w->n - from, argv, &text, e);
	if (rc == 0 && *str_c(&text) == '@')
		rc = completion_of_kind(w, str_c(&text), out, e);
	else
		str_add(out, str_c(&text));
	out->failed |= text.failed;
	str_free(&text);
	free(argv);
	return rc;
}

static int query(const struct cmd *table, const struct completion_words *w, struct str *out, struct err *e)
{
	const struct cmd *c;
	int i = 0;

	if (w->n > 1 && strcmp(w->v[0], "help") == 0)
		i++;
	for (; table && i < w->n - 1; i++) {
		for (c = table; c->name && strcmp(c->name, w->v[i]) != 0; c++)
			;
		if (!c->name)
			return 0;
		if (!(table = c->sub))
			return strcmp(w->v[0], "help") == 0 ? 0 : completion_ask(c, w, i + 1, out, e);
	}
	for (c = table; c && c->name; c++)
		completion_candidate("", c->name, "", w->v[i], c->help, out);
	if (i == 0) {
		completion_candidate("", "help", "", w->v[0], "what a command does, its options, and examples", out);
		if (*w->v[0] == '-')
			completion_candidate("", "--version", "", w->v[0], "which build this is", out);
	}
	return 0;
}

/* --- the command ------------------------------------------------------------------------------------------- */

static int completion(void *all, const struct opt_list *args, struct doc *d, struct err *e)
{
	const char *script = args->n == 1 ? shells_script(args->v[0]) : NULL;
	struct completion_words w = { NULL, 0 };
	int rc;

	if (script) {
		str_add(d->to, script);
		return 0;
	}
	if (strcmp(args->v[0], "query") != 0)
		return err_set(e, ERR_USAGE, "no completion for '%s': there is bash, zsh and fish",
		               args->n > 1 ? args->v[1] : args->v[0]);
	if ((rc = completion_join(args, &w, e)) == 0)
		rc = query(*(const struct cmd *const *)all, &w, d->to, e);
	words_free(&w);
	return rc;
}

int cmd_completion(const struct cmd *all, int argc, char **argv, struct str *out, struct err *e)
{
	const struct opt opts[] = { { .type = OPT_END, .arg = OPT_ARGS_WORDS } };
	const struct opt_cmd cmd = {
		"npusim completion (bash|zsh|fish)",
		"Prints a script that lets a shell complete commands, options, their values, parameters of machines "
		"after"
		" --set, ranges of the trace that the line names, and files of the right kind. 'make install' puts the"
		" scripts where the shells look. They ask 'npusim completion query -- WORD...' at every key, so a "
		"script"
		" need not be renewed with npusim.",
		"source <(npusim completion bash)\n"
		"npusim completion zsh >~/.zfunc/_npusim\n"
		"npusim completion fish >~/.config/fish/completions/npusim.fish\n"
		"npusim completion query -- run --set l2.policy=\n",
		opts,
		1,
		-1
	};

	return cmd_do(&cmd, NULL, completion, &all, argc, argv, out, e);
}
