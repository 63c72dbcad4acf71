/* run_mapping.c - npusim run --explain-map: how an op's command was chosen among the ways to do it. */
#include "sim/report/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
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

static void say_gap(struct doc *d, const struct map_log *t)
{
	double gap;

	if (!gap_of(t, &gap))
		return;
	doc_say(d,
	        "by the cost model the chosen takes %.3f us, %.1f %% more than the first of %" PRIu64
	        " tiles of m, n and k;\nno mapping of them takes less than %.3f us\n",
	        unit_ps_us(t->entry[0].form), 100 * gap, t->space, unit_ps_us(t->bound));
}

static void way_row(struct doc *d, const void *of, size_t i)
{
	const struct map_log_entry *w = (const struct map_log_entry *)of + i;
	char tile[128];

	snprintf(tile, sizeof tile, "%" PRIu64 " x %" PRIu64 " x %" PRIu64 ", %s", w->tile[0], w->tile[1], w->tile[2],
	         w->nest ? w->order : "streamed");
	if (d->format == OUT_JSON) {
		doc_bool(d, "chosen", w->chosen);
		doc_text(d, "unit", w->why);
		doc_text(d, "order", w->nest ? w->order : "streamed");
		doc_text(d, "stays", w->stays);
		doc_count(d, "tile_m", w->tile[0]);
		doc_count(d, "tile_n", w->tile[1]);
		doc_count(d, "tile_k", w->tile[2]);
		doc_count(d, "tiles", w->tiles);
		doc_count(d, "tile_bytes", w->slot_bytes);
		doc_count(d, "held_bytes", w->held_bytes);
		doc_count(d, "moved_bytes", w->moved_bytes);
		doc_ps(d, "form_us", 3, w->form);
	} else {
		doc_text(d, "", w->chosen ? "chosen" : "rival");
		doc_text(d, "unit", w->why);
		doc_text(d, "tile m x n x k", tile);
		doc_text(d, "stays", w->stays);
		doc_count(d, "tiles", w->tiles);
		doc_real(d, "tile_KiB", 1, (double)w->slot_bytes / 1024);
		doc_real(d, "held_KiB", 1, (double)w->held_bytes / 1024);
		doc_real(d, "moved_MiB", 2, (double)w->moved_bytes / 1048576);
	}
	doc_ps(d, "cold_us", 3, w->cold);
	doc_ps(d, "warm_us", 3, w->warm);
}

static void for_people(struct doc *d, const struct run_report *r)
{
	const struct op *o = &r->stream->ops[r->told->op];
	const char *name = o->name ? o->name : op_kind_name(o->kind);
	const size_t n = (size_t)r->told->n;
	struct str title = STR_INIT;

	if (n) {
		str_addf(&title,
		         "op %" PRIu32 " (%s): how it was mapped, of %zu ways (each beside another like it: operands in"
		         " DRAM, and as a step left them)",
		         o->id, name, n);
		doc_table(d, NULL, str_c(&title), n < RIVALS + 1 ? n : RIVALS + 1, way_row, r->told->entry);
		say_gap(d, r->told);
		doc_say(d, "\n");
	} else {
		doc_say(d, "how op %" PRIu32 " (%s) was mapped: there was nothing to choose\n\n", o->id, name);
	}
	doc_free(d, &title);
}

void run_mapping_doc(struct doc *d, const struct run_report *r)
{
	double gap;

	if (d->format != OUT_JSON) {
		for_people(d, r);
		return;
	}
	doc_open(d, "mapping", '{');
	doc_int(d, "op", r->told->op);
	if (gap_of(r->told, &gap)) {
		doc_real(d, "map_gap", 3, gap);
		doc_ps(d, "map_bound_us", 3, r->told->bound);
		doc_count(d, "map_space", r->told->space);
	}
	doc_table(d, "ways", NULL, (size_t)r->told->n, way_row, r->told->entry);
	doc_close(d, '}');
}
