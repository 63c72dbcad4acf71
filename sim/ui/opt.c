/* opt.c - parsing by the table, and the help text from it. */
#include "sim/ui/opt.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/cfg.h"
#include "sim/base/clock.h"

enum { ASKED_HELP = 1 };

void opt_list_free(struct opt_list *l)
{
	if (!l)
		return;
	free(l->v);
	l->v = NULL;
	l->n = 0;
}

static int list_add(struct opt_list *l, const char *text, struct err *e)
{
	const char **v = realloc(l->v, ((size_t)l->n + 1) * sizeof *v);

	if (!v)
		return err_nomem(e, "for the command line");
	l->v = v;
	l->v[l->n++] = text;
	return 0;
}

/* --- parsing ----------------------------------------------------------------------------------------------- */

static const struct opt *opt_by_name(const struct opt_cmd *cmd, const char *name, size_t n)
{
	for (const struct opt *o = cmd->opts; o->type != OPT_END; o++)
		if (o->name && strlen(o->name) == n && memcmp(o->name, name, n) == 0)
			return o;
	return NULL;
}

static const struct opt *by_letter(const struct opt_cmd *cmd, char letter)
{
	for (const struct opt *o = cmd->opts; o->type != OPT_END; o++)
		if (o->letter && o->letter == letter)
			return o;
	return NULL;
}

static int fail_unknown(const struct opt_cmd *cmd, const char *name, size_t n, struct err *e)
{
	const char *names[65], *near;
	char word[64];
	size_t k = 0;

	names[k++] = "help";
	for (const struct opt *o = cmd->opts; o->type != OPT_END && k < 65; o++)
		if (o->name && o->help)
			names[k++] = o->name;
	snprintf(word, sizeof word, "%.*s", (int)n, name);
	near = n < sizeof word ? str_nearest(word, names, k) : NULL;
	if (near)
		return err_set(e, ERR_USAGE, "unknown option '--%s'; did you mean '--%s'?", word, near);
	return err_set(e, ERR_USAGE, "unknown option '--%s': --help lists them", word);
}

static int fail_letter(char letter, const char *word, struct err *e)
{
	if (word[2]) /* one of several */
		return err_set(e, ERR_USAGE, "unknown option '-%c' in '%s': --help lists them", letter, word);
	return err_set(e, ERR_USAGE, "unknown option '-%c': --help lists them", letter);
}

static int set_number(const struct opt *o, const char *shown, const char *value, struct err *e)
{
	const bool plain = o->type == OPT_U64 || o->type == OPT_COUNT;
	enum cfg_type type = plain ? CFG_T_U64 : o->type == OPT_PPM ? CFG_T_PPM : CFG_T_PS;
	struct err inner = ERR_INIT;
	uint64_t v = 0;

	if (cfg_parse_like(type, value, type == CFG_T_PS ? "1 ms" : NULL, &v, &inner) < 0)
		return err_set(e, ERR_USAGE, "%s, for option '%s'", inner.msg, shown);
	if (o->type == OPT_COUNT && v == 0)
		return err_set(e, ERR_USAGE, "0 is too few: it is 1 at least, for option '%s'", shown);
	if (o->type == OPT_PPM)
		*(uint32_t *)o->to = (uint32_t)v;
	else if (o->type == OPT_PS)
		*(ps_t *)o->to = v;
	else
		*(uint64_t *)o->to = v;
	return 0;
}

/* A command line being read. */
struct parsing {
	const struct opt_cmd *cmd;
	int argc;
	char **argv;
	int i;               /* the last word used */
	bool seen[OPT_MOST]; /* a row: it had a value */
};

static bool is_text(enum opt_type t)
{
	return t == OPT_TEXT || t == OPT_READ || t == OPT_WRITE || t == OPT_FOLDER;
}

static bool is_list(enum opt_type t)
{
	return t == OPT_LIST || t == OPT_READS || t == OPT_SETS;
}

/* A value is taken once: which of two was meant nobody knows. */
static int set(struct parsing *p, const struct opt *o, const char *shown, const char *value, struct err *e)
{
	bool *seen = &p->seen[o - p->cmd->opts];

	assert(o - p->cmd->opts < OPT_MOST);
	if (o->type == OPT_FLAG) {
		*(bool *)o->to = true;
		return 0;
	}
	if (is_list(o->type))
		return list_add(o->to, value, e);
	if (*seen)
		return err_set(e, ERR_USAGE, "option '%s' is given twice", shown);
	*seen = true;
	if (!*value)
		return err_set(e, ERR_USAGE, "option '%s' has an empty value", shown);
	if (!is_text(o->type))
		return set_number(o, shown, value, e);
	*(const char **)o->to = value;
	return 0;
}

/* The word behind an option. */
static int set_next(struct parsing *p, const struct opt *o, const char *shown, struct err *e)
{
	if (p->i + 1 >= p->argc)
		return err_set(e, ERR_USAGE, "option '%s' needs a value: %s %s", shown, shown,
		               o->arg ? o->arg : "VALUE");
	return set(p, o, shown, p->argv[++p->i], e);
}

/* "--name", "--name=value", "--name value". */
static int parse_long(struct parsing *p, struct err *e)
{
	const char *name = p->argv[p->i] + 2, *eq = strchr(name, '=');
	size_t n = eq ? (size_t)(eq - name) : strlen(name);
	const struct opt *o = opt_by_name(p->cmd, name, n);
	char shown[64];

	if (!o && n == 4 && memcmp(name, "help", 4) == 0 && !eq)
		return ASKED_HELP;
	if (!o)
		return fail_unknown(p->cmd, name, n, e);
	snprintf(shown, sizeof shown, "--%s", o->name);
	if (o->type == OPT_FLAG && eq)
		return err_set(e, ERR_USAGE, "option '%s' takes no value", shown);
	if (o->type == OPT_FLAG || eq)
		return set(p, o, shown, eq ? eq + 1 : NULL, e);
	return set_next(p, o, shown, e);
}

/* "-v", "-vq", "-c value", "-cvalue". */
static int parse_short(struct parsing *p, struct err *e)
{
	const char *word = p->argv[p->i];

	for (const char *c = word + 1; *c; c++) {
		const struct opt *o = by_letter(p->cmd, *c);
		const char shown[3] = { '-', *c, '\0' };

		if (!o && *c == 'h')
			return ASKED_HELP;
		if (!o)
			return fail_letter(*c, word, e);
		if (o->type == OPT_FLAG) {
			set(p, o, shown, NULL, e);
			continue;
		}
		if (c[1])
			return set(p, o, shown, c[1] == '=' ? c + 2 : c + 1, e);
		return set_next(p, o, shown, e);
	}
	return 0;
}

struct opt_cmd opt_joined(const struct opt_cmd *cmd, struct opt rows[OPT_MOST + 1])
{
	struct opt_cmd out = *cmd;
	const struct opt *o = cmd->opts;
	size_t n = 0;

	for (; o->type != OPT_END; o++) {
		if (o->type != OPT_ROWS) {
			assert(n < OPT_MOST);
			rows[n++] = *o;
			continue;
		}
		for (const struct opt *x = o->to; x->type != OPT_END; x++)
			if (!opt_by_name(cmd, x->name, strlen(x->name))) {
				assert(n < OPT_MOST);
				rows[n++] = *x;
			}
	}
	rows[n] = *o;
	out.opts = rows;
	return out;
}

static int check_count(const struct opt_cmd *cmd, const struct opt_list *args, int had, struct err *e)
{
	int n = args->n - had;

	if (n < cmd->min_args)
		return err_set(e, ERR_USAGE, "%s missing: %s",
		               n == 0 && cmd->min_args == 1 ? "an argument is" : "arguments are", cmd->usage);
	if (cmd->max_args >= 0 && n > cmd->max_args)
		return err_set(e, ERR_USAGE, "argument '%s' is one too many: %s", args->v[had + cmd->max_args],
		               cmd->usage);
	return 0;
}

int opt_parse(const struct opt_cmd *cmd, int argc, char **argv, struct opt_list *args, struct err *e)
{
	struct parsing p = { cmd, argc, argv, 1, { false } };
	int had = args->n, rc = 0;

	for (; p.i < argc; p.i++) {
		const char *a = argv[p.i];

		if (strcmp(a, "--") == 0) {
			while (rc == 0 && ++p.i < argc)
				rc = list_add(args, argv[p.i], e);
		} else if (a[0] == '-' && a[1] == '-') {
			rc = parse_long(&p, e);
		} else if (a[0] == '-' && a[1]) {
			rc = parse_short(&p, e);
		} else {
			rc = list_add(args, a, e); /* "-" alone is an argument: stdin, by custom */
		}
		if (rc)
			return rc;
	}
	if (check_count(cmd, args, had, e) < 0)
		return -1;
	return opt_check_files(cmd, args->v ? args->v + had : NULL, args->n - had, NULL, 0, e);
}

int opt_machine_missing(struct err *e)
{
	return err_set(e, ERR_USAGE, "the machine is missing: -c dsocr, say, or -c FILE.yaml");
}
