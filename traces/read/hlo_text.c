/* hlo_text.c - shapes by a small scanner, then what they mean together. */
#include "traces/read/hlo_text.h"

#include <ctype.h>
#include <string.h>

#include "sim/base/root.h"
#include "traces/text/decimal.h"
#include "workloads/shape.h"

/* --- the text ----------------------------------------------------------------------------------------------------- */

static const char *blanks(const char *p)
{
	while (*p == ' ' || *p == ',')
		p++;
	return p;
}

/* Behind the bracket that closes the one at p; the text's end where none does. */
static const char *behind(const char *p)
{
	int depth = 0;

	for (; *p; p++) {
		depth += *p == '(' || *p == '{' || *p == '[';
		depth -= *p == ')' || *p == '}' || *p == ']';
		if (depth == 0)
			return p + 1;
	}
	return p;
}

/* "bf16[8,<=4096]{1,0:T(8,128)}": behind it; NULL: it is no tensor. */
static const char *read_tensor(const char *p, struct shaped_tensor *t)
{
	const char *type = p;

	*t = (struct shaped_tensor){ 0 };
	while (isalnum((unsigned char)*p))
		p++;
	if (*p != '[' || p == type)
		return NULL;
	t->type = shaped_type(type, (size_t)(p - type));
	for (p++; *p && *p != ']';) {
		const char *digits = p += strspn(p, "<=");
		int64_t v;

		p += strspn(p, "0123456789");
		if (p == digits || t->ndims == TRACE_MAX_DIMS ||
		    decimal_scaled(digits, (size_t)(p - digits), 0, &v) != 0)
			return NULL;
		t->dims[t->ndims++] = (uint64_t)v;
		p += *p == ',';
	}
	if (*p != ']')
		return NULL;
	p++;
	return *p == '{' ? behind(p) : p;
}

/* A tuple's first tensor stands for it. */
static const char *read_result(const char *p, struct shaped_tensor *t)
{
	if (*p != '(')
		return read_tensor(p, t);
	if (!read_tensor(p + 1, t))
		*t = (struct shaped_tensor){ 0 };
	return behind(p);
}

static void read_operands(const char *p, const char *end, struct shaped *s)
{
	for (p = blanks(p); p < end && s->n_in < SHAPED_INPUTS; p = blanks(p)) {
		const char *next = *p == '%' ? NULL : read_result(p, &s->in[s->n_in]);

		s->n_in += next && s->in[s->n_in].ndims > 0;
		if (next && next <= end)
			p = blanks(next);
		for (; p < end && *p != ','; p++) /* its name */
			if (*p == '(' || *p == '{' || *p == '[')
				p = behind(p) - 1;
	}
}

/* What stands behind the operands; NULL: no instruction. */
static const char *read_instruction(const char *text, struct hlo_op *o)
{
	const char *p = strstr(text, " = "), *open, *close;
	size_t n;

	if (!p || !(p = read_result(p + 3, &o->s.out)))
		return NULL;
	p = blanks(p);
	open = p + strcspn(p, "( ");
	n = (size_t)(open - p);
	if (*open != '(' || n == 0 || n >= sizeof o->opcode)
		return NULL;
	memcpy(o->opcode, p, n);
	o->opcode[n] = '\0';
	close = behind(open);
	read_operands(open + 1, close > open + 1 ? close - 1 : close, &o->s);
	return close;
}

/* --- products ----------------------------------------------------------------------------------------------------- */

/* The product of the dimensions of a list "name={0,2}"; 1 without the list, 0 where it names one that is not there. */
static uint64_t listed_dims(const char *attributes, const char *name, const struct shaped_tensor *t)
{
	const char *p = strstr(attributes, name);
	uint64_t all = 1;

	if (!p)
		return 1;
	for (p += strlen(name); isdigit((unsigned char)*p) || *p == ','; p++) {
		if (*p == ',')
			continue;
		if (*p - '0' >= (int)t->ndims || isdigit((unsigned char)p[1]) ||
		    __builtin_mul_overflow(all, t->dims[*p - '0'], &all) || all > SHAPE_MAX_ELEMS)
			return 0;
	}
	return all;
}

static bool set_product(struct shaped *s, uint64_t batch, uint64_t m, uint64_t n, uint64_t k)
{
	s->size[LISTED_BATCH] = batch, s->size[LISTED_M] = m, s->size[LISTED_N] = n, s->size[LISTED_K] = k;
	return batch && m && n && k;
}

static bool is_dot(const char *attributes, struct shaped *s)
{
	const struct shaped_tensor *a = &s->in[0], *b = &s->in[1];
	const uint64_t k = listed_dims(attributes, "lhs_contracting_dims={", a),
		       batch = listed_dims(attributes, "lhs_batch_dims={", a), left = shaped_values(a),
		       right = shaped_values(b);
	uint64_t rest;

	if (s->n_in < 2 || !k || !batch || __builtin_mul_overflow(k, batch, &rest) || !left || !right || left % rest ||
	    right % rest)
		return false;
	return set_product(s, batch, left / rest, right / rest, k);
}

/* Where a label stands in "bf_io->bf", by part; -1: nowhere. */
static int label(const char *labels, int part, char c)
{
	int at = 0;

	for (const char *p = labels; *p && *p != ',' && *p != ' '; p++) {
		if (*p == '_' || *p == '-') {
			part--;
			at = 0;
		} else if (part == 0 && *p == c) {
			return at;
		} else {
			at++;
		}
	}
	return -1;
}

/* XLA on a TPU writes products so. A window of more than a value is a true convolution. */
static bool is_flat_convolution(const char *attributes, struct shaped *s)
{
	const char *labels = strstr(attributes, "dim_labels="), *window = strstr(attributes, "window={size=");
	const struct shaped_tensor *a = &s->in[0], *b = &s->in[1];
	int f, i, o;

	if (!labels || s->n_in < 2 || strstr(attributes, "group_count") || strstr(attributes, "dilate"))
		return false;
	if (window && window[strlen("window={size=") + strspn(window + strlen("window={size="), "1x")] != '}')
		return false;
	labels += strlen("dim_labels=");
	f = label(labels, 0, 'f'), i = label(labels, 1, 'i'), o = label(labels, 1, 'o');
	if (f < 0 || i < 0 || o < 0 || f >= (int)a->ndims || i >= (int)b->ndims || o >= (int)b->ndims ||
	    a->dims[f] != b->dims[i] || !a->dims[f] || !shaped_values(a))
		return false;
	return set_product(s, 1, shaped_values(a) / a->dims[f], b->dims[o], a->dims[f]);
}

/* The root of a square; 0: it is none. */
static uint64_t root(uint64_t v)
{
	const uint64_t r = root_down(v);

	return r * r == v ? r : 0;
}

/* Is k a dimension, or neighbouring ones together? */
static bool spans(const struct shaped_tensor *t, uint64_t k)
{
	for (uint32_t i = 0; i < t->ndims; i++) {
		uint64_t v = 1;

		for (uint32_t j = i; j < t->ndims && !__builtin_mul_overflow(v, t->dims[j], &v) && v <= k; j++)
			if (v == k)
				return true;
	}
	return false;
}

/* Two operands and a result of m x k, k x n and m x n, each `batch` times: |a| |b| / |c| is batch k^2. */
static bool fits(const struct shaped_tensor *a, const struct shaped_tensor *b, const struct shaped_tensor *c,
                 uint64_t batch, uint64_t *k)
{
	const uint64_t left = shaped_values(a), right = shaped_values(b), out = shaped_values(c);
	uint64_t rest;

	if (!left || !right || !out || left % batch || right % batch || out % batch)
		return false;
	/* left * right is 2^96 at the most */
	const __uint128_t square = (__uint128_t)left * right;

	if (square % out || square / out % batch || square / out / batch >= UINT64_C(1) << 62)
		return false;
	*k = root((uint64_t)(square / out / batch));
	return *k && !__builtin_mul_overflow(*k, batch, &rest) && left % rest == 0 && right % rest == 0 &&
	       spans(a, *k) && spans(b, *k) && (batch == 1 || (spans(a, batch) && spans(b, batch) && spans(c, batch)));
}

/* 2 batch m n k of an instruction that does a little more. */
static bool near_flops(uint64_t flops, uint64_t out, uint64_t k)
{
	const __uint128_t own = (__uint128_t)2 * out * k;

	return !flops || (own <= flops && own * 100 >= (__uint128_t)flops * 95);
}

/* One pair alone must fit, with its FLOPs where they are told; a batch of one before any other. */
static bool is_fused_product(const struct hlo_said *said, struct shaped *s)
{
	struct shaped_tensor pair[2] = { { 0 }, { 0 } };
	uint64_t found = 0, k, size[4] = { 0 };

	for (uint32_t d = 0; d <= s->out.ndims && !found; d++) {
		const uint64_t b = d == 0 ? 1 : s->out.dims[d - 1];

		if (d > 0 && (b <= 1 || !said->flops)) /* without FLOPs a batch is a guess */
			continue;
		for (uint32_t i = 0; i < s->n_in; i++)
			for (uint32_t j = i + 1; j < s->n_in; j++) {
				if (!fits(&s->in[i], &s->in[j], &s->out, b, &k) ||
				    !near_flops(said->flops, shaped_values(&s->out), k))
					continue;
				found++;
				pair[0] = s->in[i], pair[1] = s->in[j];
				size[0] = b, size[3] = k;
				size[1] = shaped_values(&pair[0]) / b / k, size[2] = shaped_values(&pair[1]) / b / k;
			}
	}
	if (found != 1)
		return false;
	s->in[0] = pair[0], s->in[1] = pair[1], s->n_in = 2;
	return set_product(s, size[0], size[1], size[2], size[3]);
}

/* --- the rest ----------------------------------------------------------------------------------------------------- */

static uint64_t bytes_of(const struct shaped_tensor *t)
{
	const uint64_t n = shaped_values(t);

	if (!t->type)
		return 4 * n;
	return strstr(t->type, "64") ? 8 * n : strstr(t->type, "32") ? 4 * n : strstr(t->type, "16") ? 2 * n : n;
}

/* Operands of the result's size; what is left over is small, or something else happens than a map. */
static bool is_map(const struct hlo_said *said, struct shaped *s)
{
	static const char *const of[] = { "elementwise", "elementwise", "elementwise:add", "elementwise:where" };
	const uint64_t out = shaped_values(&s->out);
	uint64_t all = bytes_of(&s->out), others = 0;
	uint32_t same = 0;

	if (!out)
		return false;
	for (uint32_t i = 0; i < s->n_in; i++) {
		const uint64_t n = shaped_values(&s->in[i]);

		all += bytes_of(&s->in[i]);
		if (n == out)
			s->in[same++] = s->in[i];
		else
			others += n;
	}
	/* A slice of a stack of layers reads a part of what it is given: a copy, where that is all it touches. */
	if (said->bytes && others > out / 4 && !same && said->bytes <= 2 * bytes_of(&s->out) + bytes_of(&s->out) / 4) {
		s->op = "copy";
		s->of = SHAPED_RESULT;
		s->size[LISTED_ELEMENTS] = out;
		return true;
	}
	if (same > 3 || others > out / 4 || (said->bytes && all > 2 * said->bytes))
		return false;
	s->n_in = same;
	s->op = of[same];
	s->size[LISTED_ELEMENTS] = out;
	if (!same) {
		s->in[0] = s->out;
		s->n_in = 1;
	}
	return true;
}

static const struct opcode {
	const char *name, *op;
	enum shaped_of of;
} opcodes[] = {
	{ "copy", "copy", SHAPED_RESULT },
	{ "transpose", "copy", SHAPED_RESULT },
	{ "reshape", "copy", SHAPED_RESULT },
	{ "broadcast", "copy", SHAPED_RESULT },
	{ "slice", "copy", SHAPED_RESULT },
	{ "dynamic-slice", "copy", SHAPED_RESULT },
	{ "dynamic-update-slice", "copy", SHAPED_SECOND },
	{ "pad", "copy", SHAPED_RESULT },
	{ "reverse", "copy", SHAPED_RESULT },
	{ "concatenate", "concat", SHAPED_RESULT },
	{ "convert", "convert", SHAPED_FIRST },
	{ "gather", "gather", SHAPED_RESULT },
	{ "sort", "sort", SHAPED_FIRST },
	{ "add", "elementwise:add", SHAPED_RESULT },
	{ "subtract", "elementwise:sub", SHAPED_RESULT },
	{ "multiply", "elementwise:mul", SHAPED_RESULT },
	{ "divide", "elementwise:div", SHAPED_RESULT },
	{ "maximum", "elementwise:max", SHAPED_RESULT },
	{ "minimum", "elementwise:min", SHAPED_RESULT },
	{ "select", "elementwise:where", SHAPED_RESULT },
	{ "exponential", "elementwise:exp", SHAPED_RESULT },
	{ "log", "elementwise:log", SHAPED_RESULT },
	{ "tanh", "elementwise:tanh", SHAPED_RESULT },
	{ "rsqrt", "elementwise:rsqrt", SHAPED_RESULT },
	{ "sqrt", "elementwise:sqrt", SHAPED_RESULT },
	{ "power", "elementwise:pow", SHAPED_RESULT },
	{ "logistic", "elementwise:sigmoid", SHAPED_RESULT },
	{ "negate", "elementwise:neg", SHAPED_RESULT },
};

/* Values into as many results: along what is left of the operand. */
static bool is_reduction(struct shaped *s)
{
	const uint64_t in = s->n_in ? shaped_values(&s->in[0]) : 0, out = s->out.ndims ? shaped_values(&s->out) : 1;

	if (!in || !out || in % out)
		return false;
	s->op = "reduce:sum";
	s->size[LISTED_ROWS] = out, s->size[LISTED_COLS] = in / out;
	return true;
}

static bool is_fusion(const char *attributes, const struct hlo_said *said, struct shaped *s)
{
	if (strstr(said->category, "convolution") || strstr(said->category, "dot") ||
	    strstr(attributes, "kind=kOutput")) {
		s->op = "gemm";
		return is_fused_product(said, s);
	}
	return is_map(said, s);
}

void hlo_read(const char *text, const struct hlo_said *said, struct hlo_op *out)
{
	const char *attributes;
	struct shaped *s = &out->s;
	bool known = true;

	memset(out, 0, sizeof *out);
	if (!(attributes = read_instruction(text, out))) {
		*out = (struct hlo_op){ .opcode = "" };
		return;
	}
	if (strcmp(out->opcode, "dot") == 0) {
		s->op = "gemm";
		known = is_dot(attributes, s);
	} else if (strcmp(out->opcode, "convolution") == 0) {
		s->op = "gemm";
		known = is_flat_convolution(attributes, s);
	} else if (strcmp(out->opcode, "fusion") == 0) {
		known = is_fusion(attributes, said, s);
	} else if (strcmp(out->opcode, "reduce") == 0) {
		known = is_reduction(s);
	} else {
		for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes && !s->op; i++)
			if (strcmp(opcodes[i].name, out->opcode) == 0)
				s->op = opcodes[i].op, s->of = opcodes[i].of;
	}
	if (!known)
		s->op = NULL;
}

bool hlo_encloses(const struct hlo_op *o)
{
	static const char *const names[] = { "while", "conditional", "call" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(o->opcode, names[i]) == 0)
			return true;
	return false;
}
