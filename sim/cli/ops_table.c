#include "sim/cli/ops_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/db/tracedb_sum.h"
#include "traces/read/format.h"
#include "workloads/listed.h"
#include "workloads/work.h"

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

/* --- its rows ----------------------------------------------------------------------------------------------------- */

static const char *format_name(enum quant q, enum dtype d)
{
	return q == QUANT_AS_TRACED ? dtype_name(d) : quant_name(q);
}

/* Of what is read first, and of weights, keys and values: NULL where the op has none. */
static const char *operand_format(const struct op_stream *s, const struct op *o, bool weights)
{
	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_tensor *t = &s->tensors[s->operands[o->first_operand + i].tensor];

		if (t->role == OP_ACTIVATION ? !weights : weights && t->role != OP_INDEX)
			return format_name(t->quant, t->dtype);
	}
	return weights ? NULL : dtype_name(o->dtype);
}

static double per_byte(const struct work *w)
{
	const double bytes = (double)w->read_bytes + (double)w->write_bytes;

	return bytes > 0 ? (double)w->flops / bytes : 0; /* of an op that nothing models none are known */
}

/* Of the row's cells: -1 where it says none. */
static double measured(const struct trace_launch *l, enum listed_column c)
{
	struct listed x;

	if (!l->op || listed_of_op(l->op, &x) < 0 || !x.text[c])
		return -1;
	return strtod(x.text[c], NULL);
}

struct listing {
	const struct op_stream *s;
	const struct trace *t;
};

static void measured_members(struct doc *d, const struct op *o, const struct trace_launch *l)
{
	doc_real_if(d, "measured_us", 3, o->measured_ns > 0, (double)o->measured_ns / 1e3);
	doc_real_if(d, "measured_uj", 3, measured(l, LISTED_MEASURED_UJ) > 0, measured(l, LISTED_MEASURED_UJ));
	doc_real_if(d, "measured_mhz", 1, measured(l, LISTED_MEASURED_MHZ) > 0, measured(l, LISTED_MEASURED_MHZ));
}

static void listed_row(struct doc *d, const void *of, size_t i)
{
	const struct listing *x = of;
	const struct op *o = &x->s->ops[i];
	struct work w = { 0 };

	if (!d->heads)
		w = work_of(x->s, o);
	doc_int(d, "id", o->id);
	doc_text(d, "kind", op_kind_name(o->kind));
	doc_name(d, "name", 60, o->name);
	doc_text(d, "dtype", operand_format(x->s, o, false));
	doc_text(d, "weights", operand_format(x->s, o, true));
	doc_count(d, "flops", w.flops);
	doc_bytes(d, "read_bytes", w.read_bytes);
	doc_bytes(d, "write_bytes", w.write_bytes);
	doc_real(d, "flop_per_byte", 3, per_byte(&w));
	measured_members(d, o, &x->t->launches[i]);
}

void ops_listed_table(struct doc *d, const struct op_stream *s, const struct trace *t)
{
	const struct listing x = { s, t };

	doc_table(d, NULL, NULL, s->n_ops < t->n_launches ? s->n_ops : t->n_launches, listed_row, &x);
}

void ops_listed_members(struct doc *d, const struct op_stream *s, const struct op *o, const struct trace_launch *l)
{
	const struct work w = work_of(s, o);

	doc_text(d, "dtype", operand_format(s, o, false));
	doc_text(d, "weight_dtype", operand_format(s, o, true));
	if (o->kind == OP_ATTENTION)
		doc_text(d, "algorithm", op_attn_name(o->algorithm));
	doc_real(d, "flop_per_byte", 0, per_byte(&w));
	measured_members(d, o, l);
}
