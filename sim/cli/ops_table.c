#include "sim/cli/ops_table.h"

#include <stdio.h>

#include "traces/db/tracedb_sum.h"
#include "traces/read/format.h"

/* --- what it is --------------------------------------------------------------------------------------------------- */

static int is_table(void *arg, const struct tracedb_file *f, struct err *e)
{
	int *all = arg;

	(void)e;
	*all = *all != 0 && format_tool_lists_ops(f->tool);
	return 0;
}

int ops_listed_file(const char *path, struct err *e)
{
	struct tracedb *db = NULL;
	struct input *in = NULL;
	int rc = -1;

	if (measured_is_database(path)) {
		if ((db = tracedb_open(path, DB_READ, e)) && tracedb_each_file(db, is_table, &rc, e) < 0)
			rc = -1;
		else if (db)
			rc = rc > 0;
	} else if ((in = input_open(path, e))) {
		const int f = format_of(in, e);

		rc = f > FORMAT_AUTO && format_lists_ops((enum trace_format)f);
		err_clear(e); /* what it is not is for its reader to say */
	}
	tracedb_free(db);
	input_free(in);
	return rc;
}

/* --- notes -------------------------------------------------------------------------------------------------------- */

/* What a GPU's engine runs is flash attention, each head of keys and values once for its queries, keys split where that
 * fills the machine; an NPU's mapper does each (sim/map/map_attention.c). */
static bool is_modelled(enum op_attn a)
{
	return a != OP_ATTN_MATERIALISED && a != OP_ATTN_PER_HEAD;
}

void ops_listed_note(const struct op_stream *s, enum machine_runs runs)
{
	uint64_t n[OP_ATTNS] = { 0 };
	struct str what = STR_INIT;

	if (s->regrouped)
		fprintf(stderr,
		        "npusim: note: '%s': in %llu attentions of one sequence 'heads' is more than any model has; taken as those of a"
		        " batch of it, each with as many as divide all rows of their kind\n",
		        s->source, (unsigned long long)s->regrouped);
	for (size_t i = 0; runs == MACHINE_LAUNCHES && i < s->n_ops; i++)
		n[s->ops[i].algorithm] += s->ops[i].listed && s->ops[i].kind == OP_ATTENTION;
	for (int a = 0; a < OP_ATTNS; a++)
		if (n[a] && !is_modelled((enum op_attn)a))
			str_addf(&what, "%s%llu as %s", what.len ? ", " : "", (unsigned long long)n[a],
			         op_attn_name((enum op_attn)a));
	if (what.len)
		fprintf(stderr,
		        "npusim: note: '%s' asks for attention in ways that are not modelled (%s): it runs as flash, each"
		        " head of keys and values once for its queries\n",
		        s->source, str_c(&what));
	str_free(&what);
}
