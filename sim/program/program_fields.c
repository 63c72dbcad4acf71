/* program_fields.c - every field of a program's text, a row each: written and read by the same table. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/program/program_int.h"

/* --- names ------------------------------------------------------------------------------------------------------- */

#define NAME_FN(list, type, fn) \
	static const char *list##_name(unsigned i) \
	{ \
		return fn((type)i); \
	}
#define NAMES(list, count, what, type, fn) \
	NAME_FN(list, type, fn) \
	static const struct program_names list = { count, list##_name, what };

static const char *level_of(unsigned i)
{
	static const char *const names[] = { [ISA_MEM] = "mem", [ISA_SRAM] = "sram", [ISA_FUSION] = "fusion" };

	return names[i];
}

NAME_FN(kinds, enum op_kind, op_kind_name)
NAMES(roles, OP_CONSTANT + 1, "role", enum op_role, op_role_name)
NAMES(dtypes, DTYPES, "format", enum dtype, dtype_name)
NAMES(quants, QUANT_COUNT, "way to store", enum quant, quant_name)
NAMES(costs, OP_COSTS, "cost", enum op_cost, op_cost_name)
NAMES(reduces, OP_REDUCES, "reduction", enum op_reduce, op_reduce_name)
NAMES(attentions, OP_ATTNS, "algorithm", enum op_attn, op_attn_name)
NAMES(phases, 2, "phase", enum op_phase, op_phase_name)
NAME_FN(codes, enum isa_code, isa_code_name)
NAME_FN(units, enum res, res_name)
NAMES(levels, ISA_FUSION + 1, "level", unsigned, level_of)

const struct program_names program_codes = { ISA_COUNT, codes_name, "instruction" },
			   program_units = { RES_COUNT, units_name, "unit" },
			   program_kinds = { OP_KINDS, kinds_name, "kind of op" };

int program_name_find(const struct program_names *l, const char *text)
{
	for (unsigned i = 0; i < l->n; i++)
		if (strcmp(l->name(i), text) == 0)
			return (int)i;
	return -1;
}

const char *program_name_near(const struct program_names *l, const char *text)
{
	const char *names[64] = { NULL };

	for (unsigned i = 0; i < l->n && i < 64; i++)
		names[i] = l->name(i);
	return str_nearest(text, names, l->n < 64 ? l->n : 64);
}

/* --- the tables -------------------------------------------------------------------------------------------------- */

/* The member's place, and at compile time its type. */
#define AT(S, m, T) (offsetof(S, m) + 0 * sizeof(&((S *)0)->m == (T *)0))
#define U32(S, key, m) \
	{ \
		key, PROGRAM_U32, AT(S, m, uint32_t), NULL, PROGRAM_PLAIN \
	}
#define I32(S, key, m) \
	{ \
		key, PROGRAM_I32, AT(S, m, int32_t), NULL, PROGRAM_PLAIN \
	}
#define U64(S, key, m) \
	{ \
		key, PROGRAM_U64, AT(S, m, uint64_t), NULL, PROGRAM_PLAIN \
	}
#define BYTES(S, key, m) \
	{ \
		key, PROGRAM_U64, AT(S, m, uint64_t), NULL, PROGRAM_BYTES \
	}
#define TIME(S, key, m) \
	{ \
		key, PROGRAM_U64, AT(S, m, ps_t), NULL, PROGRAM_PS \
	}
#define FLAG(S, key, m) \
	{ \
		key, PROGRAM_FLAG, AT(S, m, bool), NULL, PROGRAM_PLAIN \
	}
#define NAME8(S, key, m, l) \
	{ \
		key, PROGRAM_NAME8, AT(S, m, uint8_t), &l, PROGRAM_PLAIN \
	}
#define NAME(S, key, m, T, l) \
	{ \
		key, PROGRAM_NAME, AT(S, m, enum T), &l, PROGRAM_PLAIN \
	}
#define TEXT(S, key, m) \
	{ \
		key, PROGRAM_TEXT, AT(S, m, const char *), NULL, PROGRAM_PLAIN \
	}
#define LOOPS(S, key, m) \
	{ \
		key, PROGRAM_LOOPS, AT(S, m, uint8_t), NULL, PROGRAM_PLAIN \
	}
#define TIMES(S, key, m) \
	{ \
		key, PROGRAM_TIMES, AT(S, m[0], uint32_t), NULL, PROGRAM_PLAIN \
	}
#define SHAPE(S, key, x) \
	{ \
		key, PROGRAM_SHAPE, AT(S, x.m, uint64_t), NULL, PROGRAM_PLAIN \
	}
#define END \
	{ \
		NULL, PROGRAM_U32, 0, NULL, PROGRAM_PLAIN \
	}

/* clang-format off */
const struct program_field program_route_fields[] = {
	U32(struct op_route, "experts", experts),
	U32(struct op_route, "top", top),
	I32(struct op_route, "layer", layer),
	END
};

const struct program_field program_tensor_fields[] = {
	NAME(struct op_tensor, "role", role, op_role, roles),
	NAME(struct op_tensor, "dtype", dtype, dtype, dtypes),
	NAME(struct op_tensor, "stored", quant, quant, quants),
	BYTES(struct op_tensor, "bytes", bytes),
	U64(struct op_tensor, "addr", addr),
	U32(struct op_tensor, "instances", instances),
	BYTES(struct op_tensor, "stride", stride),
	I32(struct op_tensor, "layer", layer),
	I32(struct op_tensor, "route", route),
	FLAG(struct op_tensor, "external", external),
	END
};

#define OP struct program_op
const struct program_field program_op_fields[] = {
	TEXT(OP, "family", op.family),
	I32(OP, "layer", op.layer),
	NAME(OP, "phase", op.phase, op_phase, phases),
	NAME(OP, "dtype", op.dtype, dtype, dtypes),
	NAME(OP, "out", op.out_dtype, dtype, dtypes),
	NAME(OP, "acc", op.acc_dtype, dtype, dtypes),
	NAME(OP, "cost", op.cost, op_cost, costs),
	TEXT(OP, "fn", op.fn),
	NAME(OP, "reduce", op.reduce, op_reduce, reduces),
	NAME(OP, "algorithm", op.algorithm, op_attn, attentions),
	I32(OP, "routed", op.routed_by),
	U64(OP, "batch", op.shape.batch), U64(OP, "m", op.shape.m), U64(OP, "n", op.shape.n), U64(OP, "k", op.shape.k),
	U64(OP, "heads", op.shape.heads), U64(OP, "kv_heads", op.shape.kv_heads),
	U64(OP, "q_len", op.shape.q_len), U64(OP, "kv_len", op.shape.kv_len),
	U64(OP, "head_dim", op.shape.head_dim), U64(OP, "v_dim", op.shape.v_dim),
	U64(OP, "elems", op.shape.elems), U64(OP, "rows", op.shape.rows), U64(OP, "cols", op.shape.cols),
	U64(OP, "top", op.shape.top), U32(OP, "arity", op.shape.arity), U32(OP, "peers", op.shape.peers),
	U32(OP, "hop", op.shape.hop),
	FLAG(OP, "causal", op.shape.causal), FLAG(OP, "paged", op.shape.paged), FLAG(OP, "strided", op.shape.strided),
	U32(OP, "apart", op.shape.apart),
	BYTES(OP, "opaque_bytes", op.opaque_bytes), U64(OP, "opaque_flops", op.opaque_flops),
	U64(OP, "share", share),
	END
};
#undef OP

const struct program_field program_operand_fields[] = {
	BYTES(struct op_operand, "offset", offset),
	BYTES(struct op_operand, "bytes", bytes),
	BYTES(struct op_operand, "touched", touched),
	U32(struct op_operand, "slot", slot),
	END
};

const struct program_field program_command_fields[] = {
	U32(struct isa_cmd, "tiles", tiles),
	TIMES(struct isa_cmd, "trips", trips),
	BYTES(struct isa_cmd, "slot", slot_bytes),
	BYTES(struct isa_cmd, "held", fixed_bytes),
	BYTES(struct isa_cmd, "keeps", keeps_bytes),
	BYTES(struct isa_cmd, "frees", frees_bytes),
	U64(struct isa_cmd, "laid_out", laid_out),
	U32(struct isa_cmd, "batch", batch),
	U32(struct isa_cmd, "dispatches", dispatches),
	I32(struct isa_cmd, "routed", routed_by),
	FLAG(struct isa_cmd, "decides", sync),
	FLAG(struct isa_cmd, "chained", chained),
	FLAG(struct isa_cmd, "ahead", ahead),
	TEXT(struct isa_cmd, "pattern", pattern),
	TEXT(struct isa_cmd, "why", why),
	END
};

/* A default may ask for fields above its own row. */
const struct program_field program_insn_fields[] = {
	U32(struct isa_insn, "op", op),
	NAME8(struct isa_insn, "dtype", dtype, dtypes),
	NAME8(struct isa_insn, "from", src, levels),
	NAME8(struct isa_insn, "to", dst, levels),
	NAME8(struct isa_insn, "class", cls, roles),
	FLAG(struct isa_insn, "early", early),
	FLAG(struct isa_insn, "pinned", pinned),
	U32(struct isa_insn, "pick", slot),
	I32(struct isa_insn, "route", route),
	BYTES(struct isa_insn, "offset", offset),
	BYTES(struct isa_insn, "bytes", bytes),
	BYTES(struct isa_insn, "by", tile_bytes),
	BYTES(struct isa_insn, "share", share),
	U32(struct isa_insn, "copies", copies),
	TIMES(struct isa_insn, "step", step),
	LOOPS(struct isa_insn, "stays", stays),
	U32(struct isa_insn, "turn", turn),
	SHAPE(struct isa_insn, "shape", shape),
	TIMES(struct isa_insn, "cores", parts),
	U32(struct isa_insn, "idle", idle),
	TIME(struct isa_insn, "span", span),
	TIME(struct isa_insn, "last_span", span_last),
	TIME(struct isa_insn, "latency", latency),
	U64(struct isa_insn, "work", work),
	U64(struct isa_insn, "last_work", work_last),
	END
};

const struct program_field program_remainder_fields[] = {
	BYTES(struct isa_remainder, "by", bytes),
	BYTES(struct isa_remainder, "share", share),
	TIME(struct isa_remainder, "span", span),
	TIME(struct isa_remainder, "latency", latency),
	U64(struct isa_remainder, "work", work),
	END
};
/* clang-format on */

int program_field_of(const struct program_field *table, const char *key)
{
	for (int i = 0; table[i].key; i++)
		if (strcmp(table[i].key, key) == 0)
			return i;
	return -1;
}

const char *program_field_near(const struct program_field *table, const char *key)
{
	const char *names[64] = { NULL };
	size_t n = 0;

	for (; table[n].key && n < 64; n++)
		names[n] = table[n].key;
	return str_nearest(key, names, n);
}

/* --- from text --------------------------------------------------------------------------------------------------- */

struct suffix {
	const char *text;
	enum program_unit unit;
	uint64_t by;
};

static const struct suffix suffixes[] = {
	{ "B", PROGRAM_BYTES, 1 },
	{ "KiB", PROGRAM_BYTES, UINT64_C(1) << 10 },
	{ "MiB", PROGRAM_BYTES, UINT64_C(1) << 20 },
	{ "GiB", PROGRAM_BYTES, UINT64_C(1) << 30 },
	{ "ps", PROGRAM_PS, 1 },
	{ "ns", PROGRAM_PS, 1000 },
	{ "us", PROGRAM_PS, 1000000 },
	{ "ms", PROGRAM_PS, 1000000000 },
};

/* Digits from `*text` on, which then stands behind them. */
static bool digits(const char **text, uint64_t *out)
{
	const char *at = *text;

	*out = 0;
	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(*out, UINT64_C(10), out) ||
		    __builtin_add_overflow(*out, (uint64_t)(*at - '0'), out))
			return false;
	if (at == *text)
		return false;
	*text = at;
	return true;
}

static const char *program_fields_number(const char *text, enum program_unit unit, uint64_t most, uint64_t *out)
{
	if (strcmp(text, "none") == 0 && most == INT32_MAX) {
		*out = NONE;
		return NULL;
	}
	if (!digits(&text, out))
		return "is no whole number";
	for (size_t i = 0; *text && i < sizeof suffixes / sizeof *suffixes; i++)
		if (suffixes[i].unit == unit && strcmp(suffixes[i].text, text) == 0) {
			if (__builtin_mul_overflow(*out, suffixes[i].by, out))
				return "is too large";
			text = "";
		}
	if (*text)
		return unit == PROGRAM_BYTES ? "is no number of bytes: 64, 64B, 64KiB, 64MiB, 64GiB"
		       : unit == PROGRAM_PS  ? "is no time: 64 (picoseconds), 64ps, 64ns, 64us, 64ms"
		                             : "is no whole number";
	return *out > most ? "is too large" : NULL;
}

/* Three numbers with x between; of `size` bytes each. */
static const char *three(const char *text, size_t size, char *to)
{
	for (int i = 0; i < 3; i++) {
		uint64_t n;
		uint32_t small;

		if (!digits(&text, &n) || *text != (i < 2 ? 'x' : 0))
			return "is not three whole numbers: 1x16x4";
		text += i < 2;
		small = (uint32_t)n;
		if (size == sizeof small && n > UINT32_MAX)
			return "is too large";
		memcpy(to + (size_t)i * size, size == sizeof small ? (const void *)&small : (const void *)&n, size);
	}
	return NULL;
}

static const char *loops(const char *text, uint8_t *to)
{
	*to = 0;
	for (; *text; text++) {
		if (*text < '1' || *text > '0' + ISA_LOOPS || *to >> (*text - '1') & 1)
			return "names no loops: 1 is the outermost, 13 the first and the third";
		*to |= (uint8_t)(1u << (*text - '1'));
	}
	return NULL;
}

static const char *name(const struct program_field *f, const char *text, char *to)
{
	const int i = program_name_find(f->names, text);
	const unsigned n = (unsigned)i; /* enums are as wide */

	if (i < 0)
		return "is unknown";
	if (f->type == PROGRAM_NAME8)
		*(uint8_t *)to = (uint8_t)i;
	else
		memcpy(to, &n, sizeof n);
	return NULL;
}

const char *program_field_set(const struct program_field *f, void *obj, const char *text)
{
	static const uint64_t most[] = {
		[PROGRAM_U32] = UINT32_MAX, [PROGRAM_I32] = INT32_MAX, [PROGRAM_U64] = UINT64_MAX
	};
	char *to = (char *)obj + f->at;
	const char *why = NULL;
	uint64_t n = 0;

	switch (f->type) {
	case PROGRAM_U32:
	case PROGRAM_I32:
	case PROGRAM_U64:
		why = program_fields_number(text, f->unit, most[f->type], &n);
		if (f->type == PROGRAM_U64)
			memcpy(to, &n, sizeof n);
		else
			memcpy(to, &(uint32_t){ (uint32_t)n }, sizeof(uint32_t));
		return why;
	case PROGRAM_FLAG:
		*(bool *)to = true;
		return NULL;
	case PROGRAM_NAME8:
	case PROGRAM_NAME:
		return name(f, text, to);
	case PROGRAM_TEXT:
		memcpy(to, &text, sizeof text);
		return NULL;
	case PROGRAM_LOOPS:
		return loops(text, (uint8_t *)to);
	case PROGRAM_TIMES:
		return three(text, sizeof(uint32_t), to);
	case PROGRAM_SHAPE:
		return three(text, sizeof(uint64_t), to);
	}
	return "is unknown";
}

/* --- to text ----------------------------------------------------------------------------------------------------- */

static size_t program_fields_size_of(const struct program_field *f)
{
	static const size_t sizes[] = { [PROGRAM_U32] = 4,
		                        [PROGRAM_I32] = 4,
		                        [PROGRAM_U64] = 8,
		                        [PROGRAM_FLAG] = sizeof(bool),
		                        [PROGRAM_NAME8] = 1,
		                        [PROGRAM_NAME] = sizeof(enum dtype),
		                        [PROGRAM_TEXT] = sizeof(char *),
		                        [PROGRAM_LOOPS] = 1,
		                        [PROGRAM_TIMES] = 3 * 4,
		                        [PROGRAM_SHAPE] = 3 * 8 };

	return sizes[f->type];
}

void program_field_copy(const struct program_field *f, void *to, const void *from)
{
	memcpy((char *)to + f->at, (const char *)from + f->at, program_fields_size_of(f));
}

static const char *text_of(const struct program_field *f, const void *obj)
{
	const char *text;

	memcpy(&text, (const char *)obj + f->at, sizeof text);
	return text ? text : "";
}

static bool differs(const struct program_field *f, const void *obj, const void *base)
{
	if (f->type == PROGRAM_TEXT)
		return strcmp(text_of(f, obj), text_of(f, base)) != 0;
	return memcmp((const char *)obj + f->at, (const char *)base + f->at, program_fields_size_of(f)) != 0;
}

static bool plain(const char *text)
{
	const size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:+-/");

	return n && !text[n];
}

void program_text_write(const char *text, struct str *out)
{
	if (plain(text)) {
		str_add(out, text);
		return;
	}
	str_addc(out, '"');
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			str_addf(out, "\\%c", *text);
		else if ((unsigned char)*text < ' ' || *text == 127)
			str_addf(out, "\\x%02x", (unsigned char)*text);
		else
			str_addc(out, *text);
	str_addc(out, '"');
}

static uint64_t number_of(const struct program_field *f, const char *at)
{
	uint64_t wide;
	uint32_t narrow;

	if (f->type == PROGRAM_NAME8)
		return *(const uint8_t *)at;
	if (f->type == PROGRAM_U64) {
		memcpy(&wide, at, sizeof wide);
		return wide;
	}
	memcpy(&narrow, at, sizeof narrow);
	return narrow;
}

static void numbers_write(const char *at, size_t size, struct str *out)
{
	for (int i = 0; i < 3; i++) {
		const struct program_field f = { .type = size == sizeof(uint32_t) ? PROGRAM_U32 : PROGRAM_U64 };

		str_addf(out, "%s%" PRIu64, i ? "x" : "", number_of(&f, at + (size_t)i * size));
	}
}

static void write_one(const struct program_field *f, const void *obj, struct str *out)
{
	const char *at = (const char *)obj + f->at;

	str_addf(out, f->type == PROGRAM_FLAG ? " %s" : " %s=", f->key);
	if (f->type == PROGRAM_TEXT)
		program_text_write(text_of(f, obj), out);
	else if (f->names)
		str_add(out, f->names->name((unsigned)number_of(f, at)));
	else if (f->type == PROGRAM_TIMES || f->type == PROGRAM_SHAPE)
		numbers_write(at, f->type == PROGRAM_TIMES ? sizeof(uint32_t) : sizeof(uint64_t), out);
	else if (f->type == PROGRAM_LOOPS)
		for (int l = 0; l < ISA_LOOPS; l++)
			str_add(out, *at >> l & 1 ? (const char *const[]){ "1", "2", "3" }[l] : "");
	else if (f->type == PROGRAM_I32 && number_of(f, at) > INT32_MAX)
		str_add(out, "none");
	else if (f->type != PROGRAM_FLAG)
		str_addf(out, "%" PRIu64, number_of(f, at));
}

void program_fields_write(const struct program_field *table, const void *obj, const void *base, struct str *out)
{
	for (const struct program_field *f = table; f->key; f++)
		if (differs(f, obj, base))
			write_one(f, obj, out);
}
