/* opt_help.c - a command's row of options as a page for a terminal of 80 columns.
 *
 * Examples stay what a shell takes: a line that is too long goes on behind a backslash, and never inside quotes. */
#include "sim/ui/opt.h"

#include <string.h>

#define HELP_WIDTH  80
#define HELP_INDENT 30 /* where the help column starts, at most */

/* Words into lines of HELP_WIDTH, every line after the first indented; a newline in the text is kept. */
static void wrap(struct str *out, const char *text, size_t col, size_t indent)
{
	bool first = true;

	while (*text) {
		size_t n = strcspn(text, " \n");

		if (n) {
			if (!first && col + 1 + n > HELP_WIDTH) {
				str_addf(out, "\n%*s", (int)indent, "");
				col = indent;
				first = true;
			}
			if (!first) {
				str_addc(out, ' ');
				col++;
			}
			str_addn(out, text, n);
			col += n;
			first = false;
		}
		text += n;
		if (*text == '\n') {
			str_addf(out, "\n%*s", text[1] ? (int)indent : 0, "");
			col = indent;
			first = true;
		}
		if (*text)
			text++;
	}
	str_addc(out, '\n');
}

static void left_column(const struct opt *o, struct str *out)
{
	if (o->letter && o->name)
		str_addf(out, "  -%c, --%s", o->letter, o->name);
	else if (o->letter)
		str_addf(out, "  -%c", o->letter);
	else
		str_addf(out, "      --%s", o->name);
	if (o->type != OPT_FLAG)
		str_addf(out, " %s%s", o->arg ? o->arg : "VALUE",
		         (o->type == OPT_LIST || o->type == OPT_READS || o->type == OPT_SETS) ? "..." : "");
}

/* --- what is typed, in lines ------------------------------------------------------------------------------------ */

struct line {
	size_t width, at, indent;
	const char *end; /* of a line that goes on */
};

/* Bytes up to a blank that is in no quotes and no brackets. */
static size_t whole_word(const char *text)
{
	char quote = 0;
	size_t n = 0;

	if (*text == '#') /* a remark goes on to the end */
		return strlen(text);
	for (int deep = 0; text[n] && (text[n] != ' ' || quote || deep); n++) {
		if (quote)
			quote = text[n] == quote ? 0 : quote;
		else if (text[n] == '\'' || text[n] == '"')
			quote = text[n];
		else
			deep += (text[n] == '[') - (text[n] == ']');
	}
	return n;
}

/* Of a word that no line holds: up to the last of its choices that does. */
static size_t some_choices(const char *word, size_t n, size_t room)
{
	size_t k = n > room ? room : 0;

	while (k && word[k - 1] != '|')
		k--;
	return k ? k : n;
}

/* An option and what it is given. */
static size_t whole_option(const char *text)
{
	size_t n = whole_word(text);

	while (text[0] == '-' && text[n] == ' ' && text[n + 1] && !strchr("-[(|", text[n + 1]))
		n += 1 + whole_word(text + n + 1);
	return n;
}

static void opt_help_words(const char *text, struct line l, struct str *out)
{
	const size_t most = l.width - strlen(l.end);

	for (char before = 0; *text; before = text[-1]) {
		size_t n = whole_option(text);

		if (l.indent + n > most)
			n = whole_word(text);
		if (before && l.at + 1 + n > (text[n] ? most : l.width)) {
			str_addf(out, "%s\n%*s", l.end, (int)l.indent, "");
			l.at = l.indent;
		} else if (before) {
			str_addc(out, ' ');
			l.at++;
		}
		if (!*l.end)
			n = some_choices(text, n, most - l.at);
		str_addn(out, text, n);
		l.at += n;
		text += n + (text[n] == ' ');
	}
}

static void help_row(const struct opt *o, size_t width, struct str *out)
{
	struct str left = STR_INIT;
	size_t used;

	left_column(o, &left);
	opt_help_words(str_c(&left), (struct line){ .width = HELP_WIDTH, .indent = 10, .end = "" }, out);
	used = left.len;
	str_free(&left);
	if (used + 2 > width) {
		str_addf(out, "\n%*s", (int)width, "");
	} else {
		str_addf(out, "%*s", (int)(width - used), "");
	}
	wrap(out, o->help, width, width);
}

void opt_help(const struct opt_cmd *cmd, struct str *out)
{
	static const struct opt help = { 'h', "help", OPT_FLAG, NULL, NULL, "print this text" };
	struct str left = STR_INIT;
	size_t width = 0;
	bool own = false;

	str_add(out, "usage: ");
	opt_help_words(cmd->usage, (struct line){ .width = HELP_WIDTH, .at = 7, .indent = 7, .end = "" }, out);
	str_add(out, "\n\n");
	if (cmd->about) {
		wrap(out, cmd->about, 0, 0);
		str_addc(out, '\n');
	}
	str_add(out, "options:\n");
	left_column(&help, &left);
	width = left.len + 2;
	for (const struct opt *o = cmd->opts; o->type != OPT_END; o++) {
		str_clear(&left);
		if (!o->help)
			continue;
		left_column(o, &left);
		if (left.len + 2 > width && left.len + 2 <= HELP_INDENT)
			width = left.len + 2;
	}
	str_free(&left);
	for (const struct opt *o = cmd->opts; o->type != OPT_END; o++) {
		if (o->help)
			help_row(o, width, out);
		own |= o->name && strcmp(o->name, "help") == 0;
	}
	if (!own)
		help_row(&help, width, out);
	if (cmd->examples) {
		str_add(out, "\nexamples:\n");
		for (const char *p = cmd->examples; *p;) {
			size_t n = strcspn(p, "\n");
			struct str one = STR_INIT;

			str_addn(&one, p, n);
			str_add(out, "  ");
			opt_help_words(str_c(&one),
			               (struct line){ .width = HELP_WIDTH, .at = 2, .indent = 4, .end = " \\" }, out);
			str_addc(out, '\n');
			out->failed |= one.failed;
			str_free(&one);
			p += n + (p[n] == '\n');
		}
	}
}
