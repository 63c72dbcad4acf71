/* run_mapping.c - npusim run --explain-map: how an op's command was chosen among the ways to do it. */
#include "sim/report/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RIVALS 2 /* listed in the table beside the choice; JSON has all */

static int64_t op_of(const struct op_stream *s, const char *text)
{
	char *end = NULL;
	unsigned long long id;

	errno = 0;
	id = strtoull(text, &end, 10);
	if (*text && !*end && errno == 0)
		return id < s->n_ops ? (int64_t)id : -1;
	for (size_t i = 0; i < s->n_ops; i++)
		if (s->ops[i].name && strcmp(s->ops[i].name, text) == 0)
			return (int64_t)i;
	return -1;
}

int run_mapping(struct run_report *r, const char *op, struct arena *a, struct err *e)
{
	const int64_t id = op_of(r->stream, op);
	struct map_log *tell = arena_alloc(a, sizeof *tell);
	struct run_memo *memo;
	int rc;

	if (id < 0)
		return err_set(
			e, ERR_USAGE,
			"no op '%s' in this run, for option '--explain-map': give a number from 0 to %zu or a name,"
			" as 'npusim trace ops' lists them",
			op, r->stream->n_ops - 1);
	if (!tell)
		return err_set(e, ERR_NOMEM, "out of memory for ways to map an op");
	if (!(memo = run_memo_new_from(r->conf->source, e)))
		return -1;
	tell->op = (uint32_t)id;
	rc = run_memo_tell(memo, r->stream, &r->conf->cfg, run_map_start(r->start), tell, a, e);
	run_memo_free(memo);
	r->told = tell;
	return rc;
}

static void run_mapping_name_of(const struct run_report *r, struct str *out)
{
	const struct op *o = &r->stream->ops[r->told->op];

	str_addf(out, "op %" PRIu32 " (%s)", o->id, o->name ? o->name : op_kind_name(o->kind));
}

static void run_mapping_row(struct out_table *t, const struct map_log_entry *w, struct str *text)
{
	out_text(t, w->chosen ? "chosen" : "rival");
	out_text(t, w->why);
	str_clear(text);
	if (w->nest)
		str_addf(text, "%" PRIu64 " x %" PRIu64 " x %" PRIu64 ", %s", w->tile[0], w->tile[1], w->tile[2],
		         w->order);
	else
		str_addf(text, "%" PRIu64 " x %" PRIu64 " x %" PRIu64 ", streamed", w->tile[0], w->tile[1], w->tile[2]);
	out_text(t, str_c(text));
	out_text(t, w->stays);
	out_int(t, w->tiles);
	out_real(t, (double)w->slot_bytes / 1024);
	out_real(t, (double)w->held_bytes / 1024);
	out_real(t, (double)w->moved_bytes / 1048576);
	out_real(t, unit_ps_us(w->cold));
	out_real(t, unit_ps_us(w->warm));
}

/* How far the chosen nest is behind the first by the cost model; false: it is none, or nothing was searched. */
static bool gap_of(const struct map_log *t, double *gap)
{
	ps_t least = 0;

	for (int i = 0; i < t->n; i++)
		if (t->entry[i].nest && (!least || t->entry[i].form < least))
			least = t->entry[i].form;
	if (!t->space || !t->n || !t->entry[0].chosen || !t->entry[0].nest || !least)
		return false;
	*gap = (double)t->entry[0].form / (double)least - 1;
	return true;
}

static void add_gap(const struct map_log *t, struct str *out)
{
	double gap;

	if (!gap_of(t, &gap))
		return;
	str_addf(out,
	         "by the cost model the chosen takes %.3f us, %.1f %% more than the first of %" PRIu64
	         " tiles of m, n and k;\nno mapping of them takes less than %.3f us\n",
	         unit_ps_us(t->entry[0].form), 100 * gap, t->space, unit_ps_us(t->bound));
}

void run_mapping_table(const struct run_report *r, struct str *out)
{
	static const struct out_col cols[] = {
		{ "", OUT_TEXT, 0 },         { "unit", OUT_TEXT, 0 },      { "tile m x n x k", OUT_TEXT, 0 },
		{ "stays", OUT_TEXT, 0 },    { "tiles", OUT_INT, 0 },      { "tile_KiB", OUT_REAL, 1 },
		{ "held_KiB", OUT_REAL, 1 }, { "moved_MiB", OUT_REAL, 2 }, { "cold_us", OUT_REAL, 3 },
		{ "warm_us", OUT_REAL, 3 },
	};
	struct str title = STR_INIT, text = STR_INIT;
	struct out_table *t;

	run_mapping_name_of(r, &title);
	if (!r->told->n) {
		str_addf(out, "how %s was mapped: there was nothing to choose\n\n", str_c(&title));
		str_free(&title);
		return;
	}
	str_addf(&title,
	         ": how it was mapped, of %d ways (each beside another like it: operands in DRAM, and as a step"
	         " left them)",
	         r->told->n);
	t = out_table_new(cols, sizeof cols / sizeof *cols, str_c(&title));
	for (int i = 0; i < r->told->n && i <= RIVALS; i++)
		run_mapping_row(t, &r->told->entry[i], &text);
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
	add_gap(r->told, out);
	str_addc(out, '\n');
	out->failed |= title.failed || text.failed;
	str_free(&title);
	str_free(&text);
}

void run_mapping_json(struct out_json *j, const struct run_report *r)
{
	double gap;

	out_json_open(j, "mapping", '{');
	out_json_int(j, "op", r->told->op);
	if (gap_of(r->told, &gap)) {
		out_json_real(j, "map_gap", gap);
		out_json_real(j, "map_bound_us", unit_ps_us(r->told->bound));
		out_json_u64(j, "map_space", r->told->space);
	}
	out_json_open(j, "ways", '[');
	for (int i = 0; i < r->told->n; i++) {
		const struct map_log_entry *w = &r->told->entry[i];

		out_json_open(j, NULL, '{');
		out_json_bool(j, "chosen", w->chosen);
		out_json_text(j, "unit", w->why);
		out_json_text(j, "order", w->nest ? w->order : "streamed");
		out_json_text(j, "stays", w->stays);
		out_json_u64(j, "tile_m", w->tile[0]);
		out_json_u64(j, "tile_n", w->tile[1]);
		out_json_u64(j, "tile_k", w->tile[2]);
		out_json_u64(j, "tiles", w->tiles);
		out_json_u64(j, "tile_bytes", w->slot_bytes);
		out_json_u64(j, "held_bytes", w->held_bytes);
		out_json_u64(j, "moved_bytes", w->moved_bytes);
		out_json_real(j, "form_us", unit_ps_us(w->form));
		out_json_real(j, "cold_us", unit_ps_us(w->cold));
		out_json_real(j, "warm_us", unit_ps_us(w->warm));
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
	out_json_close(j, '}');
}
