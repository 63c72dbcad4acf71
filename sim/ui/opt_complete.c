/* opt_complete.c - what a shell may put in place of a word. */
#include "sim/ui/opt.h"

#include <string.h>

static const struct opt *opt_complete_find(const struct opt_cmd *cmd, const char *word)
{
	const char *name = word + 2;
	const size_t n = strcspn(name, "=");

	for (const struct opt *o = cmd->opts; o->type != OPT_END; o++) {
		if (word[1] == '-' && o->name && strlen(o->name) == n && strncmp(o->name, name, n) == 0)
			return o;
		if (word[1] != '-' && o->letter && o->letter == word[1])
			return o;
	}
	return NULL;
}

static bool is_option(const char *word)
{
	return word[0] == '-' && word[1] != '\0';
}

/* The option whose value the next word is; NULL: it stands for itself. */
static const struct opt *waits(const struct opt_cmd *cmd, const char *word)
{
	const struct opt *o = is_option(word) ? opt_complete_find(cmd, word) : NULL;

	if (!o || o->type == OPT_FLAG)
		return NULL;
	return word[1] == '-' ? (strchr(word, '=') ? NULL : o) : (word[2] ? NULL : o);
}

static void candidate(const char *before, const char *word, size_t n, const char *typed, const char *help,
                      struct str *out)
{
	if (strlen(typed) > n || strncmp(word, typed, strlen(typed)) != 0)
		return;
	str_addf(out, "%s%.*s\t%.*s\n", before, (int)n, word, (int)strcspn(help, "\n"), help);
}

/* A value of `kind`: "a|b|c", or what others know. */
static void opt_complete_value(const char *kind, const char *before, const char *typed, const char *help,
                               struct str *out)
{
	if (!strchr(kind, '|')) {
		str_addf(out, "@%s\t%s\n", kind, before);
		return;
	}
	while (*kind) {
		const size_t n = strcspn(kind, "|");

		candidate(before, kind, n, typed, help, out);
		kind += n + (kind[n] == '|');
	}
}

static void options(const struct opt_cmd *cmd, const char *typed, struct str *out)
{
	char word[72];

	for (const struct opt *o = cmd->opts; o->type != OPT_END; o++) {
		if (!o->help)
			continue;
		if (o->name && strlen(o->name) < sizeof word - 2) {
			word[0] = word[1] = '-';
			memcpy(word + 2, o->name, strlen(o->name) + 1);
			candidate("", word, strlen(word), typed, o->help, out);
		} else if (!o->name) {
			const char letter[3] = { '-', o->letter, '\0' };

			candidate("", letter, 2, typed, o->help, out);
		}
	}
	candidate("", "--help", 6, typed, "print what the command does", out);
}

/* The kind of positional argument `k`, from the usage: its words that are no command, no option and no option's value.
 * The last one stands for all that follow. */
static size_t positional(const struct opt_cmd *cmd, int k, const char **kind)
{
	size_t n = 0;
	bool skip = false;

	*kind = NULL;
	for (const char *p = cmd->usage; *p;) {
		const size_t len = strcspn(p, " "), lead = strspn(p, "[(|");
		const char *word = p + lead;
		const size_t core = strcspn(word, " ].");

		if (core > 1 && word[0] == '-' && word[1] == '-' && word[2] == ' ') {
			skip = false;
		} else if (word[0] == '-') {
			skip = word[core] != ']' && core > 1 && p[len] == ' ' && strncmp(word, "-- ", 3) != 0;
		} else if (skip) {
			skip = false;
		} else if ((*p == '(' || (*p == '[' && *word >= 'a' && word[strcspn(word, "|] ")] == '|')) && k >= 0) {
			*kind = word;
			n = strcspn(word, ")]");
			k--;
		} else if (*word >= 'A' && *word <= 'Z' && k >= 0) {
			/* "T.db" and "A.yaml" go on after the dot, "FILE..." does not. */
			const size_t more =
				word[core] == '.' && word[core + 1] != '.' ? 1 + strcspn(word + core + 1, " ].") : 0;

			*kind = word;
			n = core + more;
			k--;
		}
		p += len + (p[len] == ' ');
	}
	return n;
}

void opt_complete(const struct opt_cmd *cmd, int n, char *const *words, struct str *out)
{
	const char *typed = n > 0 ? words[n - 1] : "", *eq, *kind;
	const struct opt *o = NULL;
	struct str text = STR_INIT;
	bool ended = false;
	int given = 0;
	size_t len;

	for (int i = 0; i < n - 1; i++) {
		if (ended)
			given++;
		else if (o)
			o = NULL; /* this was its value */
		else if (strcmp(words[i], "--") == 0)
			ended = true;
		else if (is_option(words[i]))
			o = waits(cmd, words[i]);
		else
			given++;
	}
	if (o) {
		opt_complete_value(o->arg ? o->arg : "VALUE", "", typed, o->help ? o->help : "", out);
	} else if (!ended && typed[0] == '-' && (eq = strchr(typed, '=')) && (o = opt_complete_find(cmd, typed))) {
		str_addn(&text, typed, (size_t)(eq + 1 - typed));
		opt_complete_value(o->arg ? o->arg : "VALUE", str_c(&text), eq + 1, o->help ? o->help : "", out);
	} else if (!ended && typed[0] == '-') {
		options(cmd, typed, out);
	} else if ((cmd->max_args < 0 || given < cmd->max_args) && (len = positional(cmd, given, &kind))) {
		str_addn(&text, kind, len);
		opt_complete_value(str_c(&text), "", typed, "", out);
	}
	out->failed |= text.failed;
	str_free(&text);
}
