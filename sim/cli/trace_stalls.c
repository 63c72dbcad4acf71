/* trace_stalls.c - npusim trace stalls: why warps did not issue. */
#include "sim/cli/cmd.h"

#include "sim/profile/stalls.h"

#define REASONS_SHOWN 3

static void write_rows(const struct stalls *s, size_t n, struct str *out)
{
	static const struct out_col cols[] = {
		{ "kernel", OUT_TEXT, 0 }, { "count", OUT_INT, 0 },  { "us", OUT_REAL, 2 },
		{ "pct", OUT_REAL, 1 },    { "first", OUT_TEXT, 0 }, { "pct", OUT_REAL, 1 },
		{ "second", OUT_TEXT, 0 }, { "pct", OUT_REAL, 1 },   { "third", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (size_t i = 0; i < n; i++) {
		const struct stalls_row *r = &s->v[i];

		out_text(t, r->friendly);
		out_int(t, (int64_t)r->count);
		out_real(t, unit_us((int64_t)r->ns));
		for (size_t k = 0; k < REASONS_SHOWN; k++) {
			out_real_or_null(t, k < r->n ? r->share[k].pct : 0);
			out_text(t, k < r->n ? r->share[k].reason : NULL);
		}
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

/* Of csv a row a kernel and reason; of a table that of all kernels with its meaning. */
static void write_reasons(const struct stalls_row *r, struct str *out)
{
	static const struct out_col cols[] = {
		{ "all kernels", OUT_TEXT, 0 },
		{ "pct", OUT_REAL, 1 },
		{ "what", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (size_t i = 0; i < r->n; i++) {
		out_text(t, r->share[i].reason);
		out_real(t, r->share[i].pct);
		out_text(t, stall_text(r->share[i].reason));
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

static void write_csv(const struct stalls *s, size_t n, struct str *out)
{
	static const struct out_col cols[] = {
		{ "name", OUT_TEXT, 0 },   { "count", OUT_INT, 0 }, { "us", OUT_REAL, 3 },
		{ "reason", OUT_TEXT, 0 }, { "pct", OUT_REAL, 3 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < s->v[i].n; k++) {
			out_text(t, s->v[i].name);
			out_int(t, (int64_t)s->v[i].count);
			out_real(t, unit_us((int64_t)s->v[i].ns));
			out_text(t, s->v[i].share[k].reason);
			out_real(t, s->v[i].share[k].pct);
		}
	out_table_write(t, OUT_CSV, out);
	out_table_free(t);
}

static void json_row(struct out_json *j, const char *key, const struct stalls_row *r)
{
	out_json_open(j, key, '{');
	out_json_text(j, "name", r->name);
	out_json_text(j, "friendly", r->friendly);
	out_json_u64(j, "count", r->count);
	out_json_real(j, "us", unit_us((int64_t)r->ns));
	out_json_open(j, "reasons_pct", '{');
	for (size_t i = 0; i < r->n; i++)
		out_json_real(j, r->share[i].reason, r->share[i].pct);
	out_json_close(j, '}');
	out_json_close(j, '}');
}

static void write_json(const struct stalls *s, size_t n, struct str *out)
{
	struct out_json j;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	json_row(&j, "all", &s->all);
	out_json_open(&j, "kernels", '[');
	for (size_t i = 0; i < n; i++)
		json_row(&j, NULL, &s->v[i]);
	out_json_close(&j, ']');
	out_json_close(&j, '}');
}

static int stalls(const char *path, uint64_t most, enum out_format f, struct str *out, struct err *e)
{
	struct tracedb *db = cmd_trace_open(path, e);
	struct rules *rules = db ? rules_load(NULL, e) : NULL;
	struct arena *a = arena_new(MEASURED_MEMORY);
	struct stalls s;
	int rc = -1;

	if (!a)
		err_nomem(e, "for the stall reasons");
	else if (rules && (rc = stalls_of(db, rules, a, &s, e)) == 0) {
		const size_t n = cmd_first(most, s.n);

		if (f == OUT_JSON)
			write_json(&s, n, out);
		else if (f == OUT_CSV)
			write_csv(&s, n, out);
		else {
			write_reasons(&s.all, out);
			str_addc(out, '\n');
			write_rows(&s, n, out);
			cmd_print_more(n, s.n, out);
		}
	}
	arena_free(a);
	rules_free(rules);
	tracedb_free(db);
	return rc;
}

int cmd_trace_stalls(int argc, char **argv, struct str *out, struct err *e)
{
	const char *format = NULL;
	uint64_t n = 15;
	const struct opt opts[] = {
		{ 'n', "top", OPT_COUNT, &n, "N", "the N kernels with most time; 15 by default" },
		{ 0, "format", OPT_TEXT, &format, "table|csv|json",
		  CMD_FORMAT_HELP "; csv has a row a kernel and reason" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace stalls T.db [-n N]",
		"Why the warps of each kernel did not issue, as Nsight Compute sampled it: of the cycles that warps were there,"
		" the part that each reason took, by time. 'selected' is the part in which they issued. Such metrics are in a"
		" file of 'ncu --section WarpStateStats --csv --page raw' or of '--set full'.",
		"npusim trace stalls /tmp/counted.db\n"
		"npusim trace stalls counted.csv --format csv\n",
		opts,
		1,
		1
	};
	struct opt_list args = { NULL, 0 };
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = cmd_format(format, &f, e)) == 0)
		rc = stalls(args.v[0], n, f, out, e);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
