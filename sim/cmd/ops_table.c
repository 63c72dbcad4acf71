#include "sim/cmd/ops_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/db/tracedb_sum.h"
#include "traces/read/format.h"
#include "workloads/listed.h"
#include "workloads/work.h"

/* --- what it is --------------------------------------------------------------------------------------------------- */

bool ops_listed_all(const struct op_stream *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_ops; i++) {
		if (!s->ops[i].listed && s->ops[i].kind != OP_OPAQUE)
			return false;
		n += s->ops[i].listed;
	}
	return n > 0;
}

bool ops_listed_unmeasured(const struct op *o)
{
	return o->listed && !o->measured_ns;
}

size_t ops_listed_without_time(const struct op_stream *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_ops; i++)
		n += ops_listed_unmeasured(&s->ops[i]);
	return n;
}

static size_t kernels_of(const struct op_stream *s, const struct op *o)
{
	size_t n = 0;

	for (uint32_t i = 0; i < o->n_launches; i++)
		n += s->launches[o->first_launch + i].kind == TRACE_KERNEL;
	return n;
}

bool ops_none_known(const struct op_stream *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_ops; i++) {
		const size_t kernels = kernels_of(s, &s->ops[i]);

		if (s->ops[i].kind != OP_OPAQUE && (kernels || !s->ops[i].n_launches))
			return false;
		n += kernels;
	}
	return n > 0;
}

struct named_time {
	const char *name;
	uint64_t ns;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named_time *)a)->name, ((const struct named_time *)b)->name);
}

size_t ops_unknown_names(const struct op_stream *s, const char **longest)
{
	struct named_time *v = calloc(s->n_ops ? s->n_ops : 1, sizeof *v);
	size_t n = 0, names = 0;
	uint64_t most = 0, sum = 0;

	*longest = "";
	for (size_t i = 0; v && i < s->n_ops; i++)
		if (s->ops[i].kind == OP_OPAQUE)
			v[n++] = (struct named_time){ s->ops[i].name, s->ops[i].measured_ns };
	if (n)
		qsort(v, n, sizeof *v, by_name);
	for (size_t i = 0; i < n; i++) {
		const bool first = i == 0 || strcmp(v[i].name, v[i - 1].name) != 0;

		names += first;
		sum = first ? v[i].ns : sum + v[i].ns;
		if (sum > most || !(*longest)[0]) {
			most = sum;
			*longest = v[i].name;
		}
	}
	free(v);
	return names;
}

int ops_some_known(const struct op_stream *s, struct err *e)
{
	return ops_none_known(s)
	               ? err_set(e, ERR_BOUND, "no rule knows any of the kernels; 'npusim trace ops --all' lists them")
	               : 0;
}

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

	if (cmd_is_database(path)) {
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

static void text_or_null(struct out_table *t, const char *text)
{
	if (text)
		out_text(t, text);
	else
		out_null(t);
}

static void real_or_null(struct out_table *t, double v)
{
	if (v > 0)
		out_real(t, v);
	else
		out_null(t);
}

void ops_listed_write(const struct op_stream *s, const struct trace *t, enum out_format f, struct str *out)
{
	static const struct out_col cols[] = {
		{ "id", OUT_INT, 0 },           { "kind", OUT_TEXT, 0 },         { "name", OUT_TEXT, 0 },
		{ "dtype", OUT_TEXT, 0 },       { "weights", OUT_TEXT, 0 },      { "flops", OUT_INT, 0 },
		{ "read_bytes", OUT_BYTES, 0 }, { "write_bytes", OUT_BYTES, 0 }, { "flop_per_byte", OUT_REAL, 3 },
		{ "measured_us", OUT_REAL, 3 }, { "measured_uj", OUT_REAL, 3 },  { "measured_mhz", OUT_REAL, 1 },
	};
	struct out_table *table = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (size_t i = 0; i < s->n_ops && i < t->n_launches; i++) {
		const struct op *o = &s->ops[i];
		const struct work w = work_of(s, o);

		out_int(table, o->id);
		out_text(table, op_kind_name(o->kind));
		cmd_out_name(table, o->name, 60, f);
		out_text(table, operand_format(s, o, false));
		text_or_null(table, operand_format(s, o, true));
		out_int(table, (int64_t)w.flops);
		out_int(table, (int64_t)w.read_bytes);
		out_int(table, (int64_t)w.write_bytes);
		out_real(table, per_byte(&w));
		real_or_null(table, cmd_us((int64_t)o->measured_ns));
		real_or_null(table, measured(&t->launches[i], LISTED_MEASURED_UJ));
		real_or_null(table, measured(&t->launches[i], LISTED_MEASURED_MHZ));
	}
	out_table_write(table, f, out);
	out_table_free(table);
}

static void json_measured(struct out_json *j, const char *key, double v)
{
	if (v > 0)
		out_json_real(j, key, v);
	else
		out_json_null(j, key);
}

void ops_listed_json(struct out_json *j, const struct op_stream *s, const struct op *o, const struct trace_launch *l)
{
	const struct work w = work_of(s, o);
	const char *weights = operand_format(s, o, true);

	out_json_text(j, "dtype", operand_format(s, o, false));
	if (weights)
		out_json_text(j, "weight_dtype", weights);
	else
		out_json_null(j, "weight_dtype");
	if (o->kind == OP_ATTENTION)
		out_json_text(j, "algorithm", op_attn_name(o->algorithm));
	out_json_real(j, "flop_per_byte", per_byte(&w));
	json_measured(j, "measured_us", cmd_us((int64_t)o->measured_ns));
	json_measured(j, "measured_uj", measured(l, LISTED_MEASURED_UJ));
	json_measured(j, "measured_mhz", measured(l, LISTED_MEASURED_MHZ));
}
