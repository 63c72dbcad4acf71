/* workload_options.c - npusim workload options: what may be asked of a workload, of which kind and by which command. */
#include <string.h>

#include "sim/cli/cmd.h"

#define COLS(a) (sizeof(a) / sizeof *(a))

/* Files that commands read have their part in the command's own page. */
static const enum workload_asker commands[] = { WORKLOAD_RUN,   WORKLOAD_LIMITS,      WORKLOAD_SWEEP_FILE,
	                                        WORKLOAD_SWEEP, WORKLOAD_ABLATE_FILE, WORKLOAD_ABLATE,
	                                        WORKLOAD_SERVE, WORKLOAD_COMPARE,     WORKLOAD_VALIDATE,
	                                        WORKLOAD_STUDY };

/* "limits" of "npusim limits", "sweeps" of "a sweep". */
static const char *short_name(enum workload_asker by, struct arena *a)
{
	const struct workload_by *b = &workload_askers[by];

	const char *name = strchr(b->name, ' ') + 1;

	return b->file ? arena_printf(a, "%ss", name) : name;
}

/* What stands behind it is for programs: a terminal is too narrow. */
static void write_row(struct out_table *t, enum workload_key k, bool wide)
{
	const struct workload_row *r = &workload_rows[k];
	const unsigned of = r->of & ~(1u << WORKLOAD_LAID); /* which is a trace */
	char why[256];

	out_text(t, r->name);
	if (wide)
		out_text(t, r->arg);
	out_text(t, of == 1u << WORKLOAD_TRACE   ? "trace"
	            : of == 1u << WORKLOAD_MODEL ? "model"
	            : of & 1u << WORKLOAD_MODEL  ? "both"
	                                         : "program");
	for (size_t i = 0; i < COLS(commands); i++)
		out_text(t, workload_refused(k, WORKLOAD_NONE, commands[i], why, sizeof why) ? "-" : "yes");
}

static int write_rows(enum out_format f, struct str *out, struct err *e)
{
	static const struct out_col first[] = { { "option", OUT_TEXT, 0 },
		                                { "value", OUT_TEXT, 0 },
		                                { "of", OUT_TEXT, 0 } };
	struct out_col cols[COLS(first) + COLS(commands)];
	size_t n = 0;
	struct arena *a = arena_new(0);
	struct out_table *t;

	if (!a)
		return err_nomem(e, "for the options");
	for (size_t i = 0; i < COLS(first); i++)
		if (f != OUT_TABLE || i != 1)
			cols[n++] = first[i];
	for (size_t i = 0; i < COLS(commands); i++)
		cols[n++] = (struct out_col){ short_name(commands[i], a), OUT_TEXT, 0 };
	t = out_table_new(cols, (int)n, NULL);
	for (int k = 0; k < WORKLOAD_KEYS; k++)
		write_row(t, (enum workload_key)k, f != OUT_TABLE);
	out_table_write(t, f, out);
	out_table_free(t);
	if (f == OUT_TABLE)
		str_add(out, "\nboth: of a trace and of a model\n");
	for (size_t i = 0; f == OUT_TABLE && i < COLS(commands); i++)
		if (workload_askers[commands[i]].why)
			str_addf(out, "%s: %s\n", workload_askers[commands[i]].name, workload_askers[commands[i]].why);
	arena_free(a);
	return 0;
}

int cmd_workload_options(int argc, char **argv, struct str *out, struct err *e)
{
	const char *format = NULL;
	const struct opt opts[] = {
		{ 0, "format", OPT_TEXT, &format, "table|csv|json", CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim workload options [--format table|csv|json]",
		"What may be asked of a workload: each option, what kind of workload it makes sense of, and which command takes it, on"
		" its line or in its file. One that a command does not take is refused there with the reason that stands below.",
		"npusim workload options\n",
		opts,
		0,
		0
	};
	struct opt_list args = { NULL, 0 };
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = cmd_format(format, &f, e)) == 0)
		rc = write_rows(f, out, e);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
