/* man.c - npusim man: the manual page, made of the tables that also make --help and read the command line. */
#include "sim/cli/cmd.h"

#include <ctype.h>
#include <string.h>

#include "arch/machine/machine_cfg.h"
#include "sim/base/version.h"

static int commands(const struct cmd *table, struct str *out, struct err *e)
{
	char ask[] = CMD_ASK_MAN, name[64];

	for (const struct cmd *c = table; c->name; c++) {
		char *words[2] = { name, ask };
		const size_t n = strlen(c->name);

		if (c->sub) {
			if (commands(c->sub, out, e) < 0)
				return -1;
			continue;
		}
		memcpy(name, c->name, n < sizeof name ? n + 1 : sizeof name);
		name[sizeof name - 1] = '\0';
		if (c->run(2, words, out, e) < 0)
			return -1;
	}
	return 0;
}

static int parameters(enum machine_kind kind, struct str *out, struct err *e)
{
	struct machine_cfg target;
	struct cfg *c = machine_schema(&target, kind, e);
	struct str range = STR_INIT;

	if (!c)
		return -1;
	for (size_t i = 0; i < cfg_count(c); i++) {
		const struct cfg_row r = cfg_at(c, i);

		str_add(out, ".TP\n\\fB");
		opt_roff(r.key, out);
		str_add(out, "\\fR");
		if (*r.field->def) {
			str_add(out, " = ");
			opt_roff(r.field->def, out);
		}
		str_clear(&range);
		cfg_range(c, i, &range);
		str_addc(out, '\n');
		opt_roff(r.field->help, out);
		str_add(out, " (");
		opt_roff(str_c(&range), out);
		str_add(out, ")\n");
	}
	out->failed |= range.failed;
	str_free(&range);
	cfg_free(c);
	return 0;
}

static void man_head(struct str *out)
{
	str_addf(out,
	         ".\\\" made by 'npusim man' from its tables\n"
	         ".TH NPUSIM 1 %s \"npusim %s\" \"User Commands\"\n"
	         ".ad l\n"
	         ".SH NAME\nnpusim \\- cycle\\-approximate simulator of NPU architectures, driven by measured GPU "
	         "traces\n"
	         ".SH SYNOPSIS\n"
	         ".B npusim\n.I COMMAND\n.RI [ options ]\n.br\n"
	         ".B npusim help\n.I COMMAND\n.br\n.B npusim \\-\\-version\n"
	         ".SH DESCRIPTION\n"
	         "npusim replays what a GPU was measured doing on an NPU described in YAML, and says how long each\n"
	         "operation would take there, which unit holds it back, how far that is from the physical limit, and\n"
	         "how it compares with the measured time.\n"
	         ".PP\nThe road is: import a profile, look at it, run it on a machine, change the machine:\n"
	         ".PP\n.EX\n"
	         "npusim trace import traces/h200/kineto_dsocr_b1_c1024.json.gz \\-o /tmp/t.db\n"
	         "npusim trace top \\-n 10 /tmp/t.db\n"
	         "npusim run \\-c configs/npu/dsocr.yaml \\-t /tmp/t.db \\-\\-range decode_step_1 \\-o /tmp/r.db\n"
	         "npusim limits \\-c configs/npu/dsocr.yaml \\-t /tmp/t.db \\-\\-range decode_step_1\n"
	         "npusim sweep configs/studies/l2\\-size.yaml \\-o /tmp/sweep.db\n"
	         ".EE\n"
	         ".PP\nOutput is the same to the byte on every run and host.\n"
	         "Every command takes\n.BR \\-h \" and \" \\-\\-help .\n"
	         ".SH COMMANDS\n",
	         NPUSIM_DATE, npusim_version());
}

static void foot(struct str *out)
{
	str_add(out,
	        ".SH EXIT STATUS\n"
	        ".TP\n0\nall went well\n"
	        ".TP\n1\nit ran, but a bound given on the command line does not hold\n"
	        ".TP\n2\nthe command line is wrong\n"
	        ".TP\n3\na configuration is wrong; the message has file, line and column\n"
	        ".TP\n4\nan input, a file or a database cannot be read or written\n"
	        ".TP\n5\nthe simulated machine is stuck\n"
	        ".SH ENVIRONMENT\n"
	        ".TP\n.B NPUSIM_DATA\na folder that is looked at first for configs/, before share/npusim beside\n"
	        "the program's folder, the tree it was built in, and the prefix it was built for\n"
	        ".TP\n.B TERM\nwhere it is dumb, no progress line is drawn; nor is one without a terminal\n"
	        ".SH FILES\n"
	        ".TP\n.I configs/npu, configs/gpu\nmachines; a configuration names only what differs from the"
	        " defaults\n"
	        ".TP\n.I configs/dram\nmemories that dram.kind names\n"
	        ".TP\n.I configs/rules, configs/fusion, configs/kernels\nwhich kernels are which ops, which ops are"
	        " fused, what GPU kernels are made of\n"
	        ".TP\n.I configs/studies\nsweeps to start from\n"
	        ".SH SEE ALSO\n"
	        ".BR sqlite3 (1),\n.BR node (1),\n.BR rsvg-convert (1)\n");
}

static int man_print(const struct cmd *all, struct str *out, struct err *e)
{
	man_head(out);
	if (commands(all, out, e) < 0)
		return -1;
	str_add(out, ".SH PARAMETERS OF A MACHINE\n"
	             "What a configuration file has by section, what\n.B \\-\\-set\ntakes, and what may be an axis of a"
	             " sweep: name, default, meaning and range.\n.B npusim config explain\nsays where each number is"
	             " from.\n");
	if (parameters(0, out, e) < 0)
		return -1;
	for (int k = 1; k < MACHINE_KINDS; k++) {
		const char *name = machine_kind_name((enum machine_kind)k);

		str_add(out, ".SH PARAMETERS OF A ");
		for (const char *p = name; *p; p++)
			str_addc(out, (char)toupper((unsigned char)*p));
		str_addf(out, "\nThe same where the file says\n.IR \"kind: %s\" .\n", name);
		if (parameters((enum machine_kind)k, out, e) < 0)
			return -1;
	}
	foot(out);
	return 0;
}

static int man(void *all, const struct opt_list *args, struct doc *d, struct err *e)
{
	(void)args;
	return man_print(*(const struct cmd *const *)all, d->to, e);
}

int cmd_man(const struct cmd *all, int argc, char **argv, struct str *out, struct err *e)
{
	const struct opt opts[] = { { .type = OPT_END } };
	const struct opt_cmd cmd = { "npusim man",
		                     "Prints npusim's manual page: every command with its options, every parameter of "
		                     "a machine. 'make install'"
		                     " puts it where man finds it.",
		                     "npusim man | man -l -\n"
		                     "npusim man >~/.local/share/man/man1/npusim.1\n",
		                     opts,
		                     0,
		                     0 };

	return cmd_do(&cmd, NULL, man, &all, argc, argv, out, e);
}
