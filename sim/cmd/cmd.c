/* cmd.c - the few things all commands do alike. */
#include "sim/cmd/cmd.h"

#include <stdio.h>
#include <string.h>

#include "sim/lower/lower.h"
#include "sim/ui/progress.h"
#include "traces/read/format.h"
#include "workloads/rules.h"

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

int cmd_parse(const struct opt_cmd *cmd, int argc, char **argv, struct opt_list *args, struct str *out, struct err *e)
{
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

void cmd_out_name(struct out_table *t, const char *name, size_t most, enum out_format f)
{
	char text[128];

	if (f == OUT_TABLE && strlen(name) > most) {
		snprintf(text, sizeof text, "%.*s...", (int)most - 3, name);
		name = text;
	}
	out_text(t, name);
}

void cmd_print_more(size_t shown, size_t all, struct str *out)
{
	if (shown < all)
		str_addf(out, "(%zu more; without -n all are listed)\n", all - shown);
}

/* Databases of ours carry their kind in the header. */
bool cmd_is_database(const char *path)
{
	unsigned char head[72];
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(head, 1, sizeof head, f) : 0;

	if (f)
		fclose(f);
	return n == sizeof head && memcmp(head, "SQLite format 3", 16) == 0 &&
	       (head[68] || head[69] || head[70] || head[71]);
}

static void show_bytes(void *arg, uint64_t done, uint64_t total)
{
	struct progress **p = arg;

	if (!*p)
		*p = progress_new("importing", "bytes", total);
	progress_set(*p, done);
}

struct tracedb *cmd_trace_open(const char *path, uint64_t context, struct err *e)
{
	struct trace_import_stats st = { 0 };
	struct progress *p = NULL;
	const struct format_options o = { (int64_t)context, show_bytes, &p };
	struct tracedb *db;
	int rc;

	if (cmd_is_database(path)) {
		if (!context)
			return tracedb_open(path, DB_READ, e);
		err_set(e, ERR_USAGE,
		        "'--context' is for replays, and '%s' is a trace database: it has the context that it"
		        " was imported with",
		        path);
		return NULL;
	}
	if (!(db = tracedb_open(":memory:", DB_WRITE, e)))
		return NULL;
	rc = format_import_with(db, FORMAT_AUTO, path, &o, &st, e);
	progress_free(p);
	if (rc >= 0)
		return db;
	tracedb_free(db);
	return NULL;
}

static struct counters *stored_counters(struct tracedb *db, struct err *e)
{
	struct counters *c = counters_load(db, e);

	if (c && counters_count(c))
		return c;
	counters_free(c);
	return NULL;
}

/* The database, with its arena and counters in `t`. */
static struct tracedb *open_with_counters(const char *path, uint64_t context, struct cmd_trace *t, struct err *e)
{
	struct tracedb *db = cmd_trace_open(path, context, e);

	memset(t, 0, sizeof *t);
	if (db && !(t->arena = arena_new(CMD_TRACE_MEMORY)))
		err_nomem(e, "for the trace");
	if (db && t->arena)
		t->counters = stored_counters(db, e);
	return db;
}

static void take_part(const char *path, struct trace *t)
{
	struct lower_left left;

	lower_part(t, &left);
	if (left.launches && left.steps)
		fprintf(stderr,
		        "npusim: note: ops were recorded in '%.*s...' alone: %llu of %llu launches of '%s' are outside,"
		        " and left out; '--range' takes another part\n",
		        (int)left.base, left.steps, (unsigned long long)left.launches,
		        (unsigned long long)(left.launches + t->n_launches), path);
	else if (left.launches)
		fprintf(stderr,
		        "npusim: note: ops were recorded of a part alone: %llu of %llu launches of '%s' are before or"
		        " behind it, and left out\n",
		        (unsigned long long)left.launches, (unsigned long long)(left.launches + t->n_launches), path);
}

int cmd_trace_load_by(cmd_trace_loader *load, const char *path, const char *range, uint64_t context,
                      struct cmd_trace *t, struct err *e)
{
	struct tracedb *db = open_with_counters(path, context, t, e);
	int rc = db && !e->kind ? load(db, range, t->arena, &t->trace, e) : -1;

	tracedb_free(db);
	if (rc < 0)
		cmd_trace_free(t);
	else if (load == tracedb_load && !range)
		take_part(path, &t->trace);
	return rc;
}

int cmd_trace_pieces(const char *path, const char *range, tracedb_piece *each, void *arg, struct cmd_trace *t,
                     struct err *e)
{
	struct tracedb *db = open_with_counters(path, 0, t, e);
	const struct tracedb_pieces p = { CMD_TRACE_PIECE, each, arg };
	int rc = db && !e->kind ? tracedb_load_pieces(db, range, &p, t->arena, &t->trace, e) : -1;

	tracedb_free(db);
	if (rc < 0)
		cmd_trace_free(t);
	return rc;
}

int cmd_trace_load(const char *path, const char *range, struct cmd_trace *t, struct err *e)
{
	return cmd_trace_load_by(tracedb_load, path, range, 0, t, e);
}

int cmd_trace_load_ruled(cmd_trace_loader *load, const char *path, const char *range, const char *rules,
                         struct cmd_trace *t, struct err *e)
{
	struct rules *r = rules_load(rules, e);

	if (!r || cmd_trace_load_by(load, path, range, 0, t, e) < 0) {
		rules_free(r);
		return -1;
	}
	t->rules = r;
	return 0;
}

void cmd_trace_free(struct cmd_trace *t)
{
	arena_free(t->arena);
	rules_free(t->rules);
	counters_free(t->counters);
	memset(t, 0, sizeof *t);
}
