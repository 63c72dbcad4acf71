/* res_figure.c - figures of a run and of its ops in their file: columns of their own, and rows among the statistics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/db/res_int.h"
#include "sim/base/hash.h"

int res_bind_figures(struct sqlite3_stmt *s, int i, const struct figures *x)
{
	for (const struct figure *f = figure_table; f->help; f++)
		if (f->kept == FIGURE_COLUMN)
			db_bind_i64(s, i++, (int64_t)figure_number(f, x));
	return i;
}

int res_read_figures(struct sqlite3_stmt *s, int i, struct figures *x)
{
	for (const struct figure *f = figure_table; f->help; f++)
		if (f->kept == FIGURE_COLUMN)
			figure_set(f, x, res_u64(s, i++));
	return i;
}

const struct figure *res_next_row(const struct figure *f, const struct figures *x)
{
	while (f->help && (f->kept != FIGURE_ROW || !figure_number(f, x)))
		f++;
	return f->help ? f : NULL;
}

struct res_stat res_row_of(const struct figure *f, const struct figures *x)
{
	return (struct res_stat){ f->member, f->raw, figure_number(f, x), false };
}

bool res_take_row(const struct res_stat *v, struct figures *x)
{
	for (const struct figure *f = figure_table; f->help; f++)
		if (f->kept == FIGURE_ROW && strcmp(f->member, v->name) == 0) {
			figure_set(f, x, v->value);
			return true;
		}
	return false;
}

uint64_t res_hash_figures(uint64_t h, const struct figures *x)
{
	for (const struct figure *f = figure_table; f->help; f++)
		if (f->kept == FIGURE_COLUMN)
			h = hash_u64(h, figure_number(f, x));
	for (const struct figure *f = figure_table; (f = res_next_row(f, x)); f++)
		h = hash_u64(hash_str(h, f->member), figure_number(f, x));
	return h;
}

/* --- of ops ------------------------------------------------------------------------------------------------ */

void res_bind_op(struct sqlite3_stmt *s, int i, const struct res_op *o)
{
	for (const struct op_figure *f = op_figure_table; f->help; f++) {
		uint64_t n;

		if (f->kept != FIGURE_COLUMN)
			continue;
		n = op_figure_number(f, &o->figures);
		if (op_figure_known(f, o->known) && (n || f->zero == FIGURE_ZERO))
			db_bind_i64(s, i, (int64_t)n);
		i++;
	}
}

void res_read_op(struct sqlite3_stmt *s, int i, struct res_op *o)
{
	for (const struct op_figure *f = op_figure_table; f->help; f++) {
		if (f->kept != FIGURE_COLUMN)
			continue;
		op_figure_set(f, &o->figures, res_u64(s, i));
		if (!db_col_null(s, i++))
			o->known |= f->needs ? f->needs : OP_KNOWN_RUN;
	}
	o->carried = !(o->known & OP_KNOWN_RUN);
}

bool res_op_row(const struct op_figure *f, const struct res_op *o, size_t op, char name[RES_OP_ROW_NAME],
                struct res_stat *out)
{
	if (f->kept != FIGURE_ROW || !op_figure_number(f, &o->figures))
		return false;
	snprintf(name, RES_OP_ROW_NAME, "ops[%zu].%s", op, f->member);
	*out = (struct res_stat){ name, f->raw, op_figure_number(f, &o->figures), false };
	return true;
}

bool res_take_op_row(const struct op_figure *table, const struct res_stat *v, struct res_op *ops, size_t n)
{
	unsigned long long op;
	char *member;

	if (strncmp(v->name, "ops[", 4) != 0)
		return false;
	op = strtoull(v->name + 4, &member, 10);
	if (op >= n || strncmp(member, "].", 2) != 0)
		return false;
	for (const struct op_figure *f = table; f->help; f++)
		if (f->kept == FIGURE_ROW && strcmp(f->member, member + 2) == 0) {
			op_figure_set(f, &ops[op].figures, v->value);
			return true;
		}
	return false;
}

uint64_t res_hash_op(uint64_t h, const struct op_figures *x)
{
	for (const struct op_figure *f = op_figure_table; f->help; f++)
		if (f->kept == FIGURE_COLUMN && !f->needs)
			h = hash_u64(h, op_figure_number(f, x));
	return h;
}

/* macs_ps and pins_ps have never been in: they follow from the machine and the op's bytes, which are. */
uint64_t res_hash_op_late(uint64_t h, const struct op_figures *x)
{
	for (const struct op_figure *f = op_figure_table; f->help; f++)
		if (f->kept == FIGURE_COLUMN && f->zero != FIGURE_ZERO && op_figure_number(f, x))
			h = hash_u64(h, op_figure_number(f, x));
		else if (f->kept == FIGURE_ROW && op_figure_number(f, x))
			h = hash_u64(hash_str(h, f->member), op_figure_number(f, x));
	return h;
}
