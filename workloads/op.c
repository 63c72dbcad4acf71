/* op.c - the table of kinds, and names of what op.h enumerates. */
#include "workloads/op.h"

/* clang-format off */
#define ROW(id, name_, work, job, piece, ...) [OP_##id] = { .name = #name_, __VA_ARGS__ },
const struct op_traits op_traits[OP_KINDS] = { OP_KIND_ROWS(ROW) };
/* clang-format on */

const char *op_kind_name(enum op_kind k)
{
	return (unsigned)k < OP_KINDS ? op_traits[k].name : "?";
}

const char *op_role_name(enum op_role r)
{
	static const char *const names[] = {
		[OP_WEIGHT] = "weight", [OP_ACTIVATION] = "activation", [OP_KV] = "kv",
		[OP_INDEX] = "index",   [OP_CONSTANT] = "constant",
	};

	return (unsigned)r < sizeof names / sizeof *names ? names[r] : "?";
}

const char *op_cost_name(enum op_cost c)
{
	static const char *const names[OP_COSTS] = {
		[OP_COST_MOVE] = "move", [OP_COST_ALU] = "alu", [OP_COST_DIV] = "div",
		[OP_COST_SFU] = "sfu",   [OP_COST_ACT] = "act",
	};

	return (unsigned)c < OP_COSTS ? names[c] : "?";
}

const char *op_reduce_name(enum op_reduce r)
{
	static const char *const names[OP_REDUCES] = {
		[OP_RED_SUM] = "sum",       [OP_RED_MEAN] = "mean", [OP_RED_MAX] = "max",
		[OP_RED_ARGMAX] = "argmax", [OP_RED_NORM] = "norm",
	};

	return (unsigned)r < OP_REDUCES ? names[r] : "?";
}

const char *op_attn_name(enum op_attn a)
{
	static const char *const names[OP_ATTNS] = {
		[OP_ATTN_FLASH] = "flash", [OP_ATTN_SPLIT_KV] = "split_kv", [OP_ATTN_MATERIALISED] = "materialised",
		[OP_ATTN_MLA] = "mla",     [OP_ATTN_PER_HEAD] = "per_head", [OP_ATTN_GROUPED] = "grouped",
		[OP_ATTN_ANY] = "any",
	};

	return (unsigned)a < OP_ATTNS ? names[a] : "?";
}

const char *op_phase_name(enum op_phase p)
{
	return p == OP_PREFILL ? "prefill" : "decode";
}

const char *op_variant_name(const struct op *o)
{
	switch (op_traits[o->kind].variant) {
	case OP_VARIANT_REDUCE:
		return op_reduce_name(o->reduce);
	case OP_VARIANT_FORMAT:
		return dtype_name(o->out_dtype);
	case OP_VARIANT_FN:
		break;
	}
	return o->fn ? o->fn : "";
}
