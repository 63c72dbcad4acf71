/* opt_man.c - a command's row of options as a part of a manual page. */
#include "sim/ui/opt.h"

#include <string.h>

void opt_roff(const char *text, struct str *out)
{
	bool line = true;

	for (; *text; text++) {
		if (line && (*text == '.' || *text == '\''))
			str_add(out, "\\&");
		line = *text == '\n';
		if (*text == '\\')
			str_add(out, "\\e");
		else if (*text == '-')
			str_add(out, "\\-"); /* else it becomes a hyphen that no shell takes */
		else if (*text == '\'')
			str_add(out, "\\(aq");
		else if (*text == '`')
			str_add(out, "\\(ga");
		else if (*text == '^')
			str_add(out, "\\(ha");
		else if (*text == '~')
			str_add(out, "\\(ti");
		else
			str_addc(out, *text);
	}
}

/* Sentences in lines of their own, as roff wants them: it spaces sentences by the ends of lines. */
static void paragraph(const char *text, struct str *out)
{
	struct str line = STR_INIT;

	for (; *text; text++) {
		const bool end = (*text == '.' || *text == ':' || *text == '?') && text[1] == ' ' && text[2] >= 'A' &&
		                 text[2] <= 'Z';

		str_addc(&line, *text);
		if (end) {
			str_addc(&line, '\n');
			text++;
		}
	}
	opt_roff(str_c(&line), out);
	out->failed |= line.failed;
	str_free(&line);
	str_addc(out, '\n');
}

static void option(const struct opt *o, struct str *out)
{
	str_add(out, ".TP\n");
	if (o->letter)
		str_addf(out, "\\fB\\-%c\\fR", o->letter);
	if (o->letter && o->name)
		str_add(out, ", ");
	if (o->name) {
		str_add(out, "\\fB\\-\\-");
		opt_roff(o->name, out);
		str_add(out, "\\fR");
	}
	if (o->type != OPT_FLAG) {
		str_add(out, " \\fI");
		opt_roff(o->arg ? o->arg : "VALUE", out);
		str_addf(out, "\\fR%s", o->type == OPT_LIST || o->type == OPT_READS ? "..." : "");
	}
	str_addc(out, '\n');
	paragraph(o->help, out);
}

void opt_man(const struct opt_cmd *cmd, struct str *out)
{
	str_add(out, ".SS \"");
	opt_roff(cmd->usage, out);
	str_add(out, "\"\n");
	if (cmd->about)
		paragraph(cmd->about, out);
	for (const struct opt *o = cmd->opts; o->type != OPT_END; o++)
		if (o->help)
			option(o, out);
	if (!cmd->examples)
		return;
	str_add(out, ".PP\n.EX\n");
	for (const char *p = cmd->examples; *p;) {
		const size_t n = strcspn(p, "\n");
		struct str line = STR_INIT;

		str_addn(&line, p, n);
		opt_roff(str_c(&line), out);
		str_addc(out, '\n');
		out->failed |= line.failed;
		str_free(&line);
		p += n + (p[n] == '\n');
	}
	str_add(out, ".EE\n");
}
