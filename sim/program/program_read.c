/* program_read.c - a program from text: lines to tables, names to numbers; what it says is held together by program_check.c. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/program/program_int.h"
#include "traces/text/input.h"

#define MOST_TEXT  (UINT64_C(1) << 30)
#define MOST_LIST  (1u << 20)
#define MOST_OPS   4096
#define MOST_INSNS 4096 /* of a command: all its transfers of a tile may be in flight at once */

int program_fault(struct program_reader *r, int col, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	err_set(r->e, ERR_IO, "%s", text);
	return err_at(r->e, r->file, r->line, col);
}

static int push_number(struct program_reader *r, struct program_table *t, uint32_t n)
{
	uint32_t *x = program_push(r, t, sizeof *x);

	if (!x)
		return -1;
	*x = n;
	return 0;
}

/* The nth word as what a line is about. */
static const char *about(struct program_reader *r, int n, const char *what)
{
	if (r->words.n <= n || r->words.w[n].key) {
		program_fault(r, r->words.n > n ? r->words.w[n].col : 0, "'%s' is followed by %s", r->words.w[0].text,
		              what);
		return NULL;
	}
	return r->words.w[n].text;
}

/* --- fields ------------------------------------------------------------------------------------------------------ */

/* Numbers with commas between, each below `end`. */
static int read_list(struct program_reader *r, const struct program_word *w, struct program_table *t, uint64_t end,
                     const char *what)
{
	const char *at = w->text;

	do {
		uint64_t n = 0;
		const char *from = at;

		for (; *at >= '0' && *at <= '9'; at++)
			n = n < end ? 10 * n + (uint64_t)(*at - '0') : n;
		if (at == from || (*at && *at != ','))
			return program_fault(r, w->col, "'%s' is no list of numbers: %s=0,3", w->text, w->key);
		if (n >= end)
			return program_fault(
				r, w->col, "'%s' names a %s that is not before this one: there are %" PRIu64 " so far",
				w->key, what, end);
		if (push_number(r, t, (uint32_t)n) < 0)
			return -1;
	} while (*at++ == ',');
	return 0;
}

/* "3" or "3-7", one of a list; where it ends, NULL: it is none of these. */
static const char *span_of(const char *at, unsigned long *first, unsigned long *last)
{
	int used = 0, all = 0;

	if (sscanf(at, "%9lu%n-%9lu%n", first, &used, last, &all) < 1)
		return NULL;
	*last = all ? *last : *first;
	at += all ? all : used;
	return *last < *first || (*at && *at != ',') ? NULL : at;
}

/* The ops a command does, in order: "3", "3-7", "3-4,9-10". */
static int read_ops(struct program_reader *r, const struct program_word *w, struct isa_cmd *c)
{
	const char *at = w->text - 1;
	unsigned long first, last, next = 0;

	do {
		if (!(at = span_of(at + 1, &first, &last)) || first < next)
			return program_fault(
				r, w->col,
				"'%s' is no op and no range of them, or not in order: ops=3, ops=3-7 or ops=3-4,9-10",
				w->text);
		if (last >= r->ops.n)
			return program_fault(r, w->col, "'ops=%s' names ops that are not there: there are %zu", w->text,
			                     r->ops.n);
		if (c->n_ops + last - first + 1 > MOST_OPS)
			return program_fault(r, w->col, "a command does %d ops at the most", MOST_OPS);
		c->n_ops += (uint32_t)(last - first + 1);
		for (next = first; next <= last; next++)
			if (push_number(r, &r->members, (uint32_t)next) < 0)
				return -1;
	} while (*at == ',');
	return 0;
}

static int unknown_word(struct program_reader *r, const struct program_field *table, const struct program_word *w)
{
	const char *key = w->key ? w->key : w->text, *near = program_field_near(table, key);

	return near ? program_fault(r, w->col, "'%s' of '%s' is unknown: did you mean '%s'?", key, r->words.w[0].text,
	                            near)
	            : program_fault(r, w->col, "'%s' of '%s' is unknown", key, r->words.w[0].text);
}

static int set_field(struct program_reader *r, const struct program_field *f, const struct program_word *w, void *obj)
{
	const char *why, *near, *text = w->text;

	if ((f->type == PROGRAM_FLAG) != !w->key)
		return program_fault(r, w->col, f->type == PROGRAM_FLAG ? "'%s' takes no value" : "'%s' has no value",
		                     f->key);
	if (f->type == PROGRAM_TEXT && !(text = arena_strdup(r->a, text)))
		return program_no_memory(r);
	if (!(why = program_field_set(f, obj, text)))
		return 0;
	near = f->names ? program_name_near(f->names, text) : NULL;
	if (near)
		return program_fault(r, w->col, "unknown %s '%s': did you mean '%s'?", f->names->what, text, near);
	return f->names ? program_fault(r, w->col, "unknown %s '%s'", f->names->what, text)
	                : program_fault(r, w->col, "%s: '%.80s' %s", f->key, text, why);
}

int program_read_fields(struct program_reader *r, int from, const struct program_field *table, void *obj,
                        uint64_t *given, const struct program_word **after, const struct program_word **ops)
{
	*given = 0;
	for (int i = from; i < r->words.n; i++) {
		const struct program_word *w = &r->words.w[i], **kept;
		const int k = program_field_of(table, w->key ? w->key : w->text);

		kept = w->key && after && strcmp(w->key, "after") == 0 ? after
		       : w->key && ops && strcmp(w->key, "ops") == 0   ? ops
		                                                       : NULL;
		if (kept ? *kept != NULL : k >= 0 && *given >> k & 1)
			return program_fault(r, w->col, "'%s' is given twice", w->key ? w->key : w->text);
		if (kept) {
			*kept = w;
			continue;
		}
		if (k < 0)
			return unknown_word(r, table, w);
		if (set_field(r, &table[k], w, obj) < 0)
			return -1;
		*given |= UINT64_C(1) << k;
	}
	return 0;
}

/* --- tensors ----------------------------------------------------------------------------------------------------- */

static uint32_t *name_slot(const struct program_reader *r, uint32_t *names, size_t n, const char *name)
{
	size_t at = (size_t)hash_mix(hash_str(HASH_INIT, name)) & (n - 1);

	while (names[at] && strcmp(program_tensors(r)[names[at] - 1].name, name) != 0)
		at = (at + 1) & (n - 1);
	return &names[at];
}

static int grow_names(struct program_reader *r)
{
	const size_t n = r->n_names ? 2 * r->n_names : 256;
	uint32_t *names;

	if (2 * r->tensors.n < r->n_names)
		return 0;
	if (!(names = arena_array(r->a, n, sizeof *names)))
		return program_no_memory(r);
	for (uint32_t i = 0; i + 1 < r->tensors.n; i++)
		*name_slot(r, names, n, program_tensors(r)[i].name) = i + 1;
	r->names = names;
	r->n_names = n;
	return 0;
}

static int find_tensor(struct program_reader *r, int word, uint32_t *out)
{
	const char *name = about(r, word, "the name of a tensor");
	const uint32_t *at;

	if (!name)
		return -1;
	at = r->n_names ? name_slot(r, r->names, r->n_names, name) : NULL;
	if (!at || !*at)
		return program_fault(r, r->words.w[word].col, "there is no tensor '%.100s' above", name);
	*out = *at - 1;
	return 0;
}

static int read_tensor(struct program_reader *r)
{
	const char *name = about(r, 1, "a name");
	struct op_tensor *t, base = program_tensor_base();
	uint64_t given;
	uint32_t *at;
	bool *placed;

	if (!name)
		return -1;
	if (!*name)
		return program_fault(r, r->words.w[1].col, "a tensor's name is empty");
	if (!(t = program_push(r, &r->tensors, sizeof *t)) || push_number(r, &r->tensor_line, (uint32_t)r->line) < 0 ||
	    !(placed = program_push(r, &r->placed, sizeof *placed)))
		return -1;
	*t = base;
	if (!(t->name = arena_strdup(r->a, name)))
		return program_no_memory(r);
	if (grow_names(r) < 0)
		return -1;
	if (*(at = name_slot(r, r->names, r->n_names, name)))
		return program_fault(r, r->words.w[1].col, "there is a tensor '%.100s' already", name);
	*at = (uint32_t)r->tensors.n;
	if (program_read_fields(r, 2, program_tensor_fields, t, &given, NULL, NULL) < 0)
		return -1;
	*placed = given >> program_field_of(program_tensor_fields, "addr") & 1;
	return 0;
}

static int read_route(struct program_reader *r)
{
	struct op_route *x = program_push(r, &r->routes, sizeof *x);
	uint64_t given;

	if (!x)
		return -1;
	*x = (struct op_route){ .layer = -1, .topk_op = NONE, .sync_op = NONE };
	if (program_read_fields(r, 1, program_route_fields, x, &given, NULL, NULL) < 0)
		return -1;
	if (!x->top || x->top > x->experts || x->experts > MOST_LIST)
		return program_fault(
			r, 0, "a router picks 1 or more of its experts: experts=64 top=6, and %u experts at the most",
			MOST_LIST);
	return 0;
}

/* --- ops --------------------------------------------------------------------------------------------------------- */

static struct program_op *last_op(const struct program_reader *r)
{
	return r->ops.n ? (struct program_op *)r->ops.v + r->ops.n - 1 : NULL;
}

static struct program_op *push_op(struct program_reader *r, enum op_kind kind, const char *name)
{
	struct program_op *x = program_push(r, &r->ops, sizeof *x);

	if (!x || push_number(r, &r->op_line, (uint32_t)r->line) < 0)
		return NULL;
	x->op.kind = kind;
	x->op.dtype = DT_BF16;
	*x = program_op_base(x);
	x->op.kind = kind;
	x->op.id = (uint32_t)r->ops.n - 1;
	x->op.first_operand = (uint32_t)r->operands.n;
	x->op.first_dep = (uint32_t)r->op_deps.n;
	if (!(x->op.name = arena_strdup(r->a, name))) {
		program_no_memory(r);
		return NULL;
	}
	return x;
}

static int read_op(struct program_reader *r)
{
	const char *kind = about(r, 1, "a kind and a name: op gemm q_proj m=1 n=1280 k=1280"), *name, *near;
	const struct program_word *after = NULL;
	struct program_op *x;
	uint64_t given;
	int k;

	if (!kind || !(name = about(r, 2, "a kind and a name: op gemm q_proj m=1 n=1280 k=1280")))
		return -1;
	if ((k = program_name_find(&program_kinds, kind)) < 0) {
		near = program_name_near(&program_kinds, kind);
		return program_fault(r, r->words.w[1].col, "unknown kind of op '%.40s'%s%s%s", kind,
		                     near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
	if (r->cmds.n)
		return program_fault(r, 0, "ops stand before the first command");
	if (!(x = push_op(r, (enum op_kind)k, name)) ||
	    program_read_fields(r, 3, program_op_fields, x, &given, &after, NULL) < 0)
		return -1;
	for (int f = 0; program_op_fields[f].key; f++)
		if (!(given >> f & 1)) {
			const struct program_op base = program_op_base(x);

			program_field_copy(&program_op_fields[f], x, &base);
		}
	if (after && read_list(r, after, &r->op_deps, r->ops.n - 1, "op") < 0)
		return -1;
	x->op.n_deps = (uint32_t)r->op_deps.n - x->op.first_dep;
	return 0;
}

static int read_operand(struct program_reader *r)
{
	struct op_operand *x, base;
	struct program_op *o = last_op(r);
	uint32_t tensor;
	uint64_t given;

	if (!o || r->cmds.n)
		return program_fault(r, 0, "'%s' stands below an op", r->words.w[0].text);
	if (find_tensor(r, 1, &tensor) < 0 || !(x = program_push(r, &r->operands, sizeof *x)))
		return -1;
	x->tensor = tensor;
	x->write = strcmp(r->words.w[0].text, "writes") == 0;
	o->op.n_operands++;
	if (program_read_fields(r, 2, program_operand_fields, x, &given, NULL, NULL) < 0)
		return -1;
	for (int f = 0; program_operand_fields[f].key; f++) {
		base = program_operand_base(x, &program_tensors(r)[tensor]);
		if (!(given >> f & 1))
			program_field_copy(&program_operand_fields[f], x, &base);
	}
	return 0;
}

/* --- commands ---------------------------------------------------------------------------------------------------- */

static struct isa_cmd *last_cmd(const struct program_reader *r)
{
	return r->cmds.n ? (struct isa_cmd *)r->cmds.v + r->cmds.n - 1 : NULL;
}

/* Which ops it does: those it says, or one of its own. */
static int command_ops(struct program_reader *r, struct isa_cmd *c, const struct program_word *ops)
{
	char name[32];

	if (!ops && !r->implied)
		return program_fault(r, 0, "the program has ops: a command says which it does, ops=0 or ops=0-2");
	if (ops && r->implied)
		return program_fault(r, ops->col, "the program has no ops: each command is one");
	c->first_op = (uint32_t)r->members.n;
	c->n_ops = 0;
	if (!r->implied)
		return read_ops(r, ops, c);
	snprintf(name, sizeof name, "command %zu", r->cmds.n - 1);
	c->n_ops = 1;
	return push_op(r, OP_ELEMENTWISE, name) ? push_number(r, &r->members, (uint32_t)r->ops.n - 1) : -1;
}

static int read_command(struct program_reader *r)
{
	const struct program_word *after = NULL, *ops = NULL;
	const size_t before = r->cmds.n;
	struct isa_cmd *c, base;
	uint64_t given;

	if (!before)
		r->implied = !r->ops.n;
	if (!(c = program_push(r, &r->cmds, sizeof *c)) || push_number(r, &r->cmd_line, (uint32_t)r->line) < 0)
		return -1;
	base = program_command_base(before ? c - 1 : NULL);
	*c = base;
	if (program_read_fields(r, 1, program_command_fields, c, &given, &after, &ops) < 0 ||
	    command_ops(r, c, ops) < 0)
		return -1;
	c->first_insn = (uint32_t)r->insns.n;
	c->first_dep = (uint32_t)r->deps.n;
	if (after && read_list(r, after, &r->deps, before, "command") < 0)
		return -1;
	c->n_deps = (uint32_t)r->deps.n - c->first_dep;
	return 0;
}

static int read_code(struct program_reader *r, struct isa_insn *i)
{
	const char *code = about(r, 1, "an instruction and what it is about: tile load NAME, tile gemv gemv"), *unit,
		   *near;
	int k;

	if (!code)
		return -1;
	if ((k = program_name_find(&program_codes, code)) < 0) {
		near = program_name_near(&program_codes, code);
		return program_fault(r, r->words.w[1].col, "unknown instruction '%.40s'%s%s%s", code,
		                     near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
	i->code = (uint8_t)k;
	i->unit = RES_DMA;
	if (isa_is_move(i))
		return find_tensor(r, 2, &i->tensor);
	if (!(unit = about(r, 2, "an instruction and the unit that runs it: tile gemv gemv")))
		return -1;
	if ((k = program_name_find(&program_units, unit)) < 0) {
		near = program_name_near(&program_units, unit);
		return program_fault(r, r->words.w[2].col, "unknown unit '%.40s'%s%s%s", unit,
		                     near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
	i->unit = (uint8_t)k;
	return 0;
}

/* Math that is done once is so for weights that are loaded once, before it. */
static int find_pinned(struct program_reader *r, const struct isa_cmd *c, struct isa_insn *i)
{
	const struct isa_insn *all = r->insns.v;

	for (uint32_t n = c->first_insn; n < c->first_insn + c->n_insns; n++)
		if (all[n].code == ISA_LOAD && all[n].pinned && all[n].op == i->op && &all[n] != i) {
			i->tensor = all[n].tensor;
			return 0;
		}
	return program_fault(r, 0,
	                     "pinned math stands behind a pinned load of its op, for whose tensor it is done once");
}

/* Its ops are in order. */
static bool does(const struct program_reader *r, const struct isa_cmd *c, uint32_t op)
{
	const uint32_t *ops = (const uint32_t *)r->members.v + c->first_op;
	uint32_t from = 0, to = c->n_ops;

	while (from + 1 < to) {
		const uint32_t mid = from + (to - from) / 2;

		*(ops[mid] <= op ? &from : &to) = mid;
	}
	return ops[from] == op;
}

/* An attention's tile has several shapes, and the mapper says none of them: 1x0x0. */
static bool no_shape(const struct isa_shape *s, enum op_kind kind)
{
	return !s->m || (kind != OP_ATTENTION && (!s->rows || !s->cols));
}

static int read_insn(struct program_reader *r)
{
	struct isa_cmd *c = last_cmd(r);
	const struct program_op *ops = r->ops.v;
	const struct op_tensor *t;
	const uint32_t *members;
	struct isa_insn *i;
	uint64_t given;

	if (!c)
		return program_fault(r, 0, "'%s' stands below a command", r->words.w[0].text);
	if (c->n_insns == MOST_INSNS)
		return program_fault(r, 0, "a command has %d instructions at the most", MOST_INSNS);
	if (!(i = program_push(r, &r->insns, sizeof *i)) || push_number(r, &r->insn_line, (uint32_t)r->line) < 0)
		return -1;
	members = (const uint32_t *)r->members.v + c->first_op;
	i->op = *members;
	i->when = *r->words.w[0].text == 't' ? ISA_TILE : r->words.w[0].text[1] == 'r' ? ISA_PRE : ISA_POST;
	if (read_code(r, i) < 0 || program_read_fields(r, 3, program_insn_fields, i, &given, NULL, NULL) < 0)
		return -1;
	if (!does(r, c, i->op))
		return program_fault(r, 0, "it works for op %u, which is none of its command's", i->op);
	if (given >> program_field_of(program_insn_fields, "shape") & 1 && no_shape(&i->shape, ops[i->op].op.kind))
		return program_fault(r, 0, "'shape' has a 0: m, rows and columns of a tile are 1 or more");
	c->n_insns++;
	t = isa_is_move(i) ? &program_tensors(r)[i->tensor] : NULL;
	for (int f = 0; program_insn_fields[f].key; f++) {
		const struct isa_insn base = program_insn_base(i, c, *members, &ops[i->op].op, t);

		if (!(given >> f & 1))
			program_field_copy(&program_insn_fields[f], i, &base);
	}
	return i->pinned && !isa_is_move(i) ? find_pinned(r, c, i) : 0;
}

/* --- lines ------------------------------------------------------------------------------------------------------- */

static int read_version(struct program_reader *r)
{
	const char *version = about(r, 1, "the format's version: program 1");

	if (!version)
		return -1;
	if (r->begun)
		return program_fault(r, 0, "'program' stands once, in the first line");
	if (strcmp(version, "1") != 0 || r->words.n > 2)
		return program_fault(r, r->words.w[1].col, "this build reads programs of version %d: program %d",
		                     PROGRAM_VERSION, PROGRAM_VERSION);
	r->begun = true;
	return 0;
}

static const struct line {
	const char *word;
	int (*read)(struct program_reader *r);
} lines[] = {
	{ "program", read_version }, { "route", read_route },    { "tensor", read_tensor },     { "op", read_op },
	{ "reads", read_operand },   { "writes", read_operand }, { "command", read_command },   { "pre", read_insn },
	{ "tile", read_insn },       { "post", read_insn },      { "edge", program_read_edge },
};
#define LINES (sizeof lines / sizeof *lines)

static int unknown_line(struct program_reader *r)
{
	const char *names[LINES], *near;

	for (size_t i = 0; i < LINES; i++)
		names[i] = lines[i].word;
	near = str_nearest(r->words.w[0].text, names, LINES);
	return near ? program_fault(r, r->words.w[0].col, "unknown word '%.40s': did you mean '%s'?",
	                            r->words.w[0].text, near)
	            : program_fault(r, r->words.w[0].col,
	                            "unknown word '%.40s': a line begins with program, route, tensor, op, reads,"
	                            " writes, command, pre, tile, post or edge",
	                            r->words.w[0].text);
}

static int read_line(struct program_reader *r, char *line)
{
	r->line++;
	if (program_split(&r->words, line) < 0)
		return program_fault(r, r->words.col, "%s", r->words.why);
	if (!r->words.n)
		return 0;
	if (!r->begun && (r->words.w[0].key || strcmp(r->words.w[0].text, "program") != 0))
		return program_fault(r, r->words.w[0].col, "this is no program: its first line is 'program %d'",
		                     PROGRAM_VERSION);
	for (size_t i = 0; i < LINES && !r->words.w[0].key; i++)
		if (strcmp(lines[i].word, r->words.w[0].text) == 0)
			return lines[i].read(r);
	return unknown_line(r);
}

static int read_text(struct input *in, struct str *text, struct err *e)
{
	char part[16384];
	long n;

	while ((n = input_read(in, part, sizeof part, e)) > 0) {
		str_addn(text, part, (size_t)n);
		if (text->len > MOST_TEXT)
			return err_set(e, ERR_IO, "%s: a program has 1 GiB at the most", input_name(in));
	}
	return n < 0 ? -1 : text->failed ? err_nomem(e, "for a program") : 0;
}

static int read_lines(struct program_reader *r, char *text, size_t n)
{
	char *zero = n ? memchr(text, 0, n) : NULL;

	for (char *at = text, *end = text + n, *next; at < end; at = next) {
		char *stop = memchr(at, '\n', (size_t)(end - at));

		stop = stop ? stop : end;
		next = stop + 1;
		if (zero && zero < stop) {
			r->line++;
			return program_fault(r, (int)(zero - at) + 1, "a zero byte in a program");
		}
		if (stop > at && stop[-1] == '\r')
			stop[-1] = 0;
		*stop = 0;
		if (read_line(r, at) < 0)
			return -1;
	}
	r->line = r->line ? r->line : 1;
	if (!r->begun)
		return program_fault(r, 0, "this is no program: its first line is 'program %d'", PROGRAM_VERSION);
	return 0;
}

/* Tables that nothing goes into are there, too: an offset into them is none into NULL. */
static int program_read_begin(struct program_reader *r)
{
	struct {
		struct program_table *t;
		size_t size;
	} all[] = {
		{ &r->routes, sizeof(struct op_route) }, { &r->tensors, sizeof(struct op_tensor) },
		{ &r->ops, sizeof(struct program_op) },  { &r->operands, sizeof(struct op_operand) },
		{ &r->op_deps, sizeof(uint32_t) },       { &r->cmds, sizeof(struct isa_cmd) },
		{ &r->insns, sizeof(struct isa_insn) },  { &r->deps, sizeof(uint32_t) },
		{ &r->members, sizeof(uint32_t) },       { &r->tensor_line, sizeof(uint32_t) },
		{ &r->op_line, sizeof(uint32_t) },       { &r->cmd_line, sizeof(uint32_t) },
		{ &r->insn_line, sizeof(uint32_t) },     { &r->edges, sizeof(struct isa_remainders) },
		{ &r->edges_given, sizeof(uint32_t) },   { &r->placed, sizeof(bool) },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (!program_push(r, all[i].t, all[i].size))
			return -1;
		all[i].t->n = 0;
	}
	return 0;
}

int program_read(struct input *in, const struct machine_cfg *c, struct arena *a, struct program *out, struct err *e)
{
	struct program_reader *r = arena_alloc(a, sizeof *r);
	struct str text = STR_INIT;
	char *own;
	int rc = -1;

	memset(out, 0, sizeof *out);
	if (!r)
		return err_nomem(e, "for a program");
	r->file = input_name(in);
	r->a = a;
	r->e = e;
	if (program_read_begin(r) < 0 || read_text(in, &text, e) < 0)
		goto out;
	if (!(own = arena_array(a, text.len + 1, 1))) { /* lines are taken apart in place */
		program_no_memory(r);
		goto out;
	}
	if (text.len)
		memcpy(own, text.p, text.len);
	if (read_lines(r, own, text.len) == 0)
		rc = program_make(r, c, str_c(&text), text.len, out);
out:
	str_free(&text);
	return rc;
}
