#include "sim/accuracy/blocks.h"

#include <limits.h>
#include <string.h>

#include "sim/base/clock.h"
#include "sim/base/str.h"
#include "traces/text/csv.h"
#include "traces/text/decimal.h"

#define MAX_ROWS 100000
#define MAX_SIZE (UINT64_C(1) << 24) /* of a dimension: tensors and products then stay in range */

enum column { KIND, NAME, ROWS, HIDDEN, INTER, MEASURED, COLUMNS };
static const char *const columns[COLUMNS] = { "block", "name", "rows", "hidden", "inter", "measured_us" };
static const char *const kinds[] = { "ffn_gated", "ffn_erf" };
#define KINDS (sizeof kinds / sizeof *kinds)

struct reader {
	struct csv *csv;
	const char *file;
	enum column of[COLUMNS]; /* by the place in a row */
	size_t width;
};

/* --- the header --------------------------------------------------------------------------------------------------- */

static bool is_row(void *arg, const char *line, size_t n)
{
	(void)arg;
	return n > 0 && *line != '#' && *line != '\r';
}

static int blocks_fault(const struct reader *r, size_t field, struct err *e)
{
	const uint64_t line = csv_line(r->csv);

	return err_at(e, r->file, line > INT_MAX ? INT_MAX : (int)line, csv_column(r->csv, field));
}

static int next_row(struct reader *r, struct err *e)
{
	const int rc = csv_skip_to(r->csv, is_row, NULL, e);

	return rc <= 0 ? rc : csv_row(r->csv, e);
}

static int read_column(struct reader *r, size_t i, struct err *e)
{
	const char *text = csv_field(r->csv, i), *near;
	size_t c = 0;

	while (c < COLUMNS && strcmp(columns[c], text) != 0)
		c++;
	if (c < COLUMNS) {
		r->of[i] = (enum column)c;
		return 0;
	}
	near = str_nearest(text, columns, COLUMNS);
	err_set(e, ERR_IO, "unknown column '%.40s'%s%s%s", text, near ? ": the nearest is '" : "", near ? near : "",
	        near ? "'" : "");
	return blocks_fault(r, i, e);
}

static int blocks_read_header(struct reader *r, struct err *e)
{
	uint32_t seen = 0;

	if (next_row(r, e) < 0)
		return -1;
	r->width = csv_count(r->csv);
	if (r->width > COLUMNS)
		return err_set(e, ERR_IO, "'%s': %zu columns; a table of blocks has %d", r->file, r->width, COLUMNS);
	for (size_t i = 0; i < r->width; i++) {
		if (read_column(r, i, e) < 0)
			return -1;
		if (seen >> r->of[i] & 1) {
			err_set(e, ERR_IO, "column '%s' is there twice", columns[r->of[i]]);
			return blocks_fault(r, i, e);
		}
		seen |= 1u << r->of[i];
	}
	for (int c = 0; c < COLUMNS; c++)
		if (!(seen >> c & 1) && c != NAME)
			return err_set(e, ERR_IO, "'%s' has no column '%s'", r->file, columns[c]);
	return 0;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static int size_cell(const char *text, enum column c, uint64_t *out, struct err *e)
{
	int64_t v;

	if (decimal_scaled(text, strlen(text), 0, &v) == 0 && v > 0 && (uint64_t)v <= MAX_SIZE &&
	    strspn(text, "0123456789") == strlen(text)) {
		*out = (uint64_t)v;
		return 0;
	}
	return err_set(e, ERR_IO, "'%s' is a whole number from 1 to 2^24, not '%.40s'", columns[c], text);
}

static int kind_cell(const char *text, const char **out, struct err *e)
{
	const char *near;

	for (size_t i = 0; i < KINDS; i++)
		if (strcmp(text, kinds[i]) == 0) {
			*out = kinds[i];
			return 0;
		}
	near = str_nearest(text, kinds, KINDS);
	return err_set(e, ERR_IO, "unknown block '%.40s': %s%s", text, near ? "the nearest is " : "ffn_gated, ffn_erf",
	               near ? near : "");
}

static int time_cell(const char *text, uint64_t *out, struct err *e)
{
	int64_t ns;

	if (!*text)
		return 0;
	if (decimal_scaled(text, strlen(text), DECIMAL_US_TO_NS, &ns) < 0 || ns <= 0)
		return err_set(e, ERR_IO, "'measured_us' is a time above 0, not '%.40s'", text);
	*out = (uint64_t)ns;
	return 0;
}

static int blocks_cell(const struct reader *r, size_t i, struct block_row *b, struct arena *a, struct err *e)
{
	const char *text = csv_field(r->csv, i);

	switch (r->of[i]) {
	case KIND:
		return kind_cell(text, &b->kind, e);
	case NAME:
		return (b->name = arena_strdup(a, text)) ? 0 : err_nomem(e, "for a table");
	case ROWS:
		return size_cell(text, ROWS, &b->rows, e);
	case HIDDEN:
		return size_cell(text, HIDDEN, &b->hidden, e);
	case INTER:
		return size_cell(text, INTER, &b->inter, e);
	case MEASURED:
	case COLUMNS:
		break;
	}
	return time_cell(text, &b->measured_ns, e);
}

/* --- as a stream of ops ------------------------------------------------------------------------------------------- */

enum { MOST_OPS = 3, MOST_TENSORS = 8, MOST_OPERANDS = 12 };

struct maker {
	struct op_stream *s;
	struct arena *a;
	uint64_t end;
};

static uint32_t blocks_tensor(struct maker *m, const char *name, enum op_role role, bool external, uint64_t values)
{
	struct op_tensor *t = &m->s->tensors[m->s->n_tensors];

	*t = (struct op_tensor){ .name = name,
		                 .role = role,
		                 .dtype = DT_BF16,
		                 .bytes = 2 * values,
		                 .addr = round_up(m->end, 512),
		                 .instances = 1,
		                 .layer = -1,
		                 .route = -1,
		                 .external = external };
	m->end = t->addr + t->bytes;
	return (uint32_t)m->s->n_tensors++;
}

static void operand(struct maker *m, struct op *o, uint32_t t, bool write)
{
	const uint64_t bytes = m->s->tensors[t].bytes;

	m->s->operands[m->s->n_operands++] =
		(struct op_operand){ .tensor = t, .write = write, .bytes = bytes, .touched = bytes };
	o->n_operands++;
}

/* Each waits for the one before it. */
static struct op *blocks_product(struct maker *m, const char *name, uint64_t rows, uint64_t n, uint64_t k)
{
	const uint32_t id = (uint32_t)m->s->n_ops++;
	struct op *o = &m->s->ops[id];

	*o = (struct op){ .id = id,
		          .kind = OP_GEMM,
		          .name = name,
		          .family = "gemm",
		          .rule = "a table of blocks",
		          .layer = -1,
		          .shape = { .batch = 1, .m = rows, .n = n, .k = k },
		          .dtype = DT_BF16,
		          .out_dtype = DT_BF16,
		          .acc_dtype = DT_FP32,
		          .fn = "",
		          .algorithm = OP_ATTN_ANY,
		          .first_operand = (uint32_t)m->s->n_operands,
		          .first_dep = (uint32_t)m->s->n_deps,
		          .n_deps = id > 0,
		          .routed_by = -1 };
	if (id > 0)
		m->s->deps[m->s->n_deps++] = id - 1;
	return o;
}

static void blocks_make(struct maker *m, const struct block_row *b)
{
	const uint64_t weights = b->hidden * b->inter;
	const uint32_t in = blocks_tensor(m, "in", OP_ACTIVATION, true, b->rows * b->hidden);
	const bool gated = b->kind == kinds[0];
	struct op *o = blocks_product(m, "up", b->rows, b->inter, b->hidden);
	uint32_t made = blocks_tensor(m, "up.out", OP_ACTIVATION, false, b->rows * b->inter);

	operand(m, o, in, false);
	operand(m, o, blocks_tensor(m, "up.w", OP_WEIGHT, true, weights), false);
	operand(m, o, made, true);
	o->cost = gated ? OP_COST_MOVE : OP_COST_ACT;
	if (gated) {
		const uint32_t up = made;

		o = blocks_product(m, "gate", b->rows, b->inter, b->hidden);
		made = blocks_tensor(m, "gate.out", OP_ACTIVATION, false, b->rows * b->inter);
		operand(m, o, in, false);
		operand(m, o, blocks_tensor(m, "gate.w", OP_WEIGHT, true, weights), false);
		operand(m, o, up, false);
		operand(m, o, made, true);
		o->cost = OP_COST_ACT;
		o->shape.arity = 2;
	}
	o = blocks_product(m, "down", b->rows, b->hidden, b->inter);
	operand(m, o, made, false);
	operand(m, o, blocks_tensor(m, "down.w", OP_WEIGHT, true, weights), false);
	operand(m, o, blocks_tensor(m, "out", OP_ACTIVATION, false, b->rows * b->hidden), true);
}

static int make_stream(struct block_row *b, const char *file, struct arena *a, struct err *e)
{
	struct maker m = { &b->stream, a, 512 };

	b->stream = (struct op_stream){ .source = file, .wall_ns = -1, .measured_ns = b->measured_ns };
	b->stream.ops = arena_array(a, MOST_OPS, sizeof *b->stream.ops);
	b->stream.tensors = arena_array(a, MOST_TENSORS, sizeof *b->stream.tensors);
	b->stream.operands = arena_array(a, MOST_OPERANDS, sizeof *b->stream.operands);
	b->stream.deps = arena_array(a, MOST_OPS, sizeof *b->stream.deps);
	if (!b->stream.ops || !b->stream.tensors || !b->stream.operands || !b->stream.deps)
		return err_nomem(e, "for a block");
	blocks_make(&m, b);
	b->stream.addr_end = m.end;
	return 0;
}

/* --- the whole table ---------------------------------------------------------------------------------------------- */

static int blocks_read_row(const struct reader *r, struct block_row *b, struct arena *a, struct err *e)
{
	*b = (struct block_row){ .name = "" };
	if (csv_count(r->csv) > r->width) {
		err_set(e, ERR_IO, "a row of %zu cells under a header of %zu", csv_count(r->csv), r->width);
		return blocks_fault(r, r->width, e);
	}
	for (size_t i = 0; i < r->width; i++)
		if (blocks_cell(r, i, b, a, e) < 0)
			return blocks_fault(r, i, e);
	b->name = *b->name ? b->name : b->kind;
	return make_stream(b, r->file, a, e);
}

static int blocks_read_all(struct reader *r, struct arena *a, struct block_row **out, size_t *n, struct err *e)
{
	size_t cap = 0;
	int rc;

	*n = 0, *out = NULL;
	if (blocks_read_header(r, e) < 0)
		return -1;
	while ((rc = next_row(r, e)) == 1) {
		if (*n == MAX_ROWS)
			return err_set(e, ERR_IO, "'%s' has more than %d rows", r->file, MAX_ROWS);
		if (*n == cap) {
			struct block_row *more = arena_array(a, cap = cap ? 2 * cap : 64, sizeof *more);

			if (!more)
				return err_nomem(e, "for a table");
			if (*n)
				memcpy(more, *out, *n * sizeof *more);
			*out = more;
		}
		if (blocks_read_row(r, &(*out)[*n], a, e) < 0)
			return -1;
		++*n;
	}
	return rc < 0 ? -1 : *n ? 0 : err_set(e, ERR_IO, "no blocks in '%s': its table has no rows", r->file);
}

int blocks_read(const char *path, struct arena *a, struct block_row **out, size_t *n, struct err *e)
{
	struct input *in = input_open(path, e);
	struct reader r = { .file = arena_strdup(a, path) };
	int rc = -1;

	if (in && r.file && (r.csv = csv_new(in, e)))
		rc = blocks_read_all(&r, a, out, n, e);
	csv_free(r.csv);
	input_free(in);
	return rc;
}

int blocks_file(const char *path, struct err *e)
{
	char head[4096];
	struct input *in = input_open(path, e);
	long n = in ? input_read(in, head, sizeof head - 1, e) : -1;
	const char *p = head;

	input_free(in);
	if (n < 0)
		return -1;
	head[n] = '\0';
	while (*p == '#' || *p == '\n' || *p == '\r') { /* comments and empty lines */
		p += strcspn(p, "\n");
		p += *p == '\n';
	}
	return strncmp(p, "block,", 6) == 0;
}
