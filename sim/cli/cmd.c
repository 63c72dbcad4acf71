/* cmd.c - the few things all commands do alike. */
#include "sim/cli/cmd.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/path.h"
#include "sim/report/lay_time.h"
#include "sim/ui/progress.h"
#include "sim/ui/screen.h"

static int tell_file(void *arg, const struct opt_file *f, struct err *e)
{
	struct str *out = arg;

	(void)e;
	str_addc(out, f->type == OPT_WRITE ? 'w' : f->type == OPT_SETS ? 's' : 'r');
	str_addn(out, f->text, strlen(f->text) + 1);
	return 0;
}

static int tell_files(const struct opt_cmd *cmd, int argc, char **argv, struct opt_list *args, struct str *out,
                      struct err *e)
{
	int rc = opt_parse(cmd, argc, argv, args, e);

	if (rc == 1)
		return err_set(e, ERR_USAGE, "help is asked for");
	if (rc == 0)
		rc = opt_each_file(cmd, args->v, args->n, tell_file, out, e);
	return rc < 0 ? -1 : 1;
}

int cmd_parse(const struct opt_cmd *given, int argc, char **argv, struct opt_list *args, struct str *out, struct err *e)
{
	struct opt rows[OPT_MOST + 1];
	const struct opt_cmd whole = opt_joined(given, rows), *cmd = &whole;
	int rc;

	if (argc > 1 && strcmp(argv[1], CMD_ASK_MAN) == 0) {
		opt_man(cmd, out);
		return 1;
	}
	if (argc > 1 && strcmp(argv[1], CMD_ASK_COMPLETE) == 0) {
		opt_complete(cmd, argc - 2, argv + 2, out);
		return 1;
	}
	if (argc > 1 && strcmp(argv[1], CMD_ASK_FILES) == 0)
		return tell_files(cmd, argc - 1, argv + 1, args, out, e);
	if ((rc = opt_parse(cmd, argc, argv, args, e)) == 1)
		opt_help(cmd, out);
	return rc;
}

void cmd_complain(const struct err *e)
{
	char text[sizeof *e + 64];

	err_format(e, text, sizeof text);
	fprintf(stderr, "npusim: %s\n", text);
}

int cmd_format(const char *text, enum out_format *f, struct err *e)
{
	*f = OUT_TABLE;
	return text ? out_format_parse(text, f, e) : 0;
}

/* "config_peaks" of "npusim config peaks CONFIG...": a page's title, and SQL's table. */
static void name_of(const struct opt_cmd *cmd, char *to, size_t size)
{
	const char *at = cmd->usage + strcspn(cmd->usage, " ");
	size_t n = 0;

	while (*at == ' ' && at[1] >= 'a' && at[1] <= 'z') {
		const size_t word = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz0-9");

		n += (size_t)snprintf(to + n, size - n, "%s%.*s", n ? "_" : "", (int)word, at + 1);
		if (n >= size)
			break;
		at += 1 + word;
	}
}

int cmd_do(const struct opt_cmd *cmd, const char *const *format, cmd_body *body, void *o, int argc, char **argv,
           struct str *out, struct err *e)
{
	struct opt_list args = { NULL, 0 };
	char name[64] = "npusim";
	enum out_format f;
	struct doc d;
	int rc = cmd_parse(cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = cmd_format(format ? *format : NULL, &f, e)) == 0) {
		doc_init(&d, f, screen_width(), out);
		d.colour = screen_colour();
		name_of(cmd, name, sizeof name);
		d.name = name;
		rc = body(o, &args, &d, e);
		doc_end(&d);
	}
	opt_list_free(&args);
	for (const struct opt *x = cmd->opts; x->type != OPT_END; x++)
		if (x->type == OPT_LIST || x->type == OPT_READS || x->type == OPT_SETS)
			opt_list_free(x->to);
	return rc < 0 ? -1 : 0;
}

void cmd_show_bytes(void *arg, uint64_t done, uint64_t total)
{
	struct progress **p = arg;

	if (!*p)
		*p = progress_new("importing", "bytes", total);
	progress_set(*p, done);
}

static void note_left(const char *path, const struct measured *m)
{
	const struct lower_left *left = &m->left;
	const unsigned long long out = left->launches, all = out + m->trace.n_launches;

	if (out && left->steps)
		fprintf(stderr,
		        "npusim: note: ops were recorded in '%.*s...' alone: %llu of %llu launches of '%s' are outside,"
		        " and left out; '--range' takes another part\n",
		        (int)left->base, left->steps, out, all, path);
	else if (out)
		fprintf(stderr,
		        "npusim: note: ops were recorded of a part alone: %llu of %llu launches of '%s' are before or"
		        " behind it, and left out\n",
		        out, all, path);
}

/* --- workloads --------------------------------------------------------------------------------------------- */

struct opt *cmd_workload_rows(struct opt rows[CMD_WORKLOAD_ROWS], struct workload_spec *s, enum workload_asker by)
{
	static const enum opt_type types[] = {
		[WORKLOAD_TEXT] = OPT_TEXT, [WORKLOAD_COUNT] = OPT_COUNT, [WORKLOAD_FILE] = OPT_READ
	};
	char why[256];
	size_t n = 0;

	for (int k = 0; k < WORKLOAD_KEYS; k++) {
		const struct workload_row *r = &workload_rows[k];
		const bool taken = !workload_refused((enum workload_key)k, WORKLOAD_NONE, by, why, sizeof why);

		if (r->letter && workload_askers[by].argument)
			continue;
		rows[n++] = (struct opt){ r->letter,      r->name,
			                  types[r->type], workload_place(s, (enum workload_key)k),
			                  r->arg,         taken ? r->help : NULL };
	}
	rows[n] = (struct opt){ .type = OPT_END };
	return rows;
}

int cmd_workload_read(const struct workload_spec *s, const struct machine_cfg *m, struct workload *w, struct err *e)
{
	struct progress *p = NULL;
	const struct workload_reader by = { &path_source, m, cmd_show_bytes, &p, lay_time_context };
	const int rc = workload_read(s, &by, w, e);

	progress_free(p);
	if (rc == 0)
		note_left(s->trace, &w->in);
	return rc;
}

int cmd_measured(struct measured_from from, struct measured *m, struct err *e)
{
	struct progress *p = NULL;
	int rc;

	from.source = &path_source;
	from.progress = cmd_show_bytes;
	from.arg = &p;
	rc = measured_load(&from, m, e);
	progress_free(p);
	if (rc == 0)
		note_left(from.path, m);
	return rc;
}

struct tracedb *cmd_trace_open(const char *path, struct err *e)
{
	struct progress *p = NULL;
	const struct measured_from from = {
		.source = &path_source, .path = path, .progress = cmd_show_bytes, .arg = &p
	};
	struct tracedb *db = measured_open(&from, e);

	progress_free(p);
	return db;
}
