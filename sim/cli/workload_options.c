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
static void workload_options_row(struct doc *d, const void *names, size_t k)
{
	const struct workload_row *r = &workload_rows[k];
	const unsigned of = r->of & ~(1u << WORKLOAD_LAID); /* which is a trace */
	const char *const *name = names;
	struct str by = STR_INIT;
	char why[256];

	doc_text(d, "option", r->name);
	if (d->format != OUT_TABLE)
		doc_text(d, "value", r->arg);
	doc_text(d, "of",
	         of == 1u << WORKLOAD_TRACE   ? "trace"
	         : of == 1u << WORKLOAD_MODEL ? "model"
	         : of & 1u << WORKLOAD_MODEL  ? "both"
	                                      : "program");
	for (size_t i = 0; i < COLS(commands); i++) {
		const bool taken = !workload_refused((enum workload_key)k, WORKLOAD_NONE, commands[i], why, sizeof why);

		if (d->format != OUT_TABLE)
			doc_text(d, name[i], taken ? "yes" : "-");
		else if (taken)
			str_addf(&by, "%s%s", by.len ? " " : "", name[i]);
	}
	if (d->format == OUT_TABLE)
		doc_text(d, "taken by", str_c(&by));
	doc_free(d, &by);
}

static int rows(void *o, const struct opt_list *args, struct doc *d, struct err *e)
{
	const char *names[COLS(commands)];
	struct arena *a = arena_new(0);

	(void)o, (void)args;
	if (!a)
		return err_nomem(e, "for the options");
	for (size_t i = 0; i < COLS(commands); i++)
		names[i] = short_name(commands[i], a);
	doc_table(d, NULL, NULL, WORKLOAD_KEYS, workload_options_row, names);
	doc_say(d, "\nboth: of a trace and of a model\n");
	for (size_t i = 0; i < COLS(commands); i++)
		if (workload_askers[commands[i]].why)
			doc_say(d, "%s: %s\n", workload_askers[commands[i]].name, workload_askers[commands[i]].why);
	arena_free(a);
	return 0;
}

int cmd_workload_options(int argc, char **argv, struct str *out, struct err *e)
{
	const char *format = NULL;
	const struct opt opts[] = {
		{ 0, "format", OPT_TEXT, &format, CMD_FORMATS, CMD_FORMAT_HELP },
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

	return cmd_do(&cmd, &format, rows, NULL, argc, argv, out, e);
}
