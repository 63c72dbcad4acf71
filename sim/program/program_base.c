/* program_base.c - what stands where a program's text says nothing. */
#include "sim/program/program_int.h"

struct op_tensor program_tensor_base(void)
{
	return (struct op_tensor){
		.role = OP_ACTIVATION, .dtype = DT_BF16, .addr = UINT64_MAX, .instances = 1, .layer = -1, .route = -1
	};
}

/* Results are in the operands' format, and products are summed as those of that format are. */
struct program_op program_op_base(const struct program_op *x)
{
	struct program_op o = { .op = { .family = "",
		                        .rule = "program",
		                        .layer = -1,
		                        .dtype = DT_BF16,
		                        .fn = "",
		                        .routed_by = -1,
		                        .shape = { .arity = x->op.kind == OP_ELEMENTWISE } } };

	o.op.out_dtype = x->op.dtype;
	o.op.acc_dtype = dtype_accumulates(x->op.dtype);
	if (op_traits[x->op.kind].dims == OP_DIMS_PRODUCT)
		o.op.shape.batch = o.op.shape.m = 1;
	return o;
}

/* From `offset` to the end. */
struct op_operand program_operand_base(const struct op_operand *x, const struct op_tensor *t)
{
	return (struct op_operand){ .bytes = t->bytes - (x->offset < t->bytes ? x->offset : t->bytes),
		                    .touched = x->bytes };
}

struct isa_cmd program_command_base(const struct isa_cmd *before)
{
	return (struct isa_cmd){ .batch = before ? before->batch + 1 : 0, .routed_by = -1, .why = "" };
}

/* Rounded up, so that the last tile is the short one. */
static uint64_t by_tile(uint64_t bytes, uint32_t tiles)
{
	return tiles ? bytes / tiles + (bytes % tiles != 0) : 0;
}

struct isa_insn program_insn_base(const struct isa_insn *x, const struct isa_cmd *c, uint32_t first, const struct op *o,
                                  const struct op_tensor *t)
{
	struct isa_insn i = { .op = first,
		              .src = ISA_SRAM,
		              .dst = ISA_SRAM,
		              .dtype = (uint8_t)o->dtype,
		              .span_last = x->span,
		              .work_last = x->work };

	if (!t)
		return i;
	*(x->code == ISA_LOAD ? &i.src : &i.dst) = ISA_MEM;
	i.cls = (uint8_t)t->role;
	i.dtype = (uint8_t)t->dtype;
	i.route = t->route >= 0 && o->routed_by >= 0 ? o->routed_by : t->route;
	i.bytes = t->bytes - (x->offset < t->bytes ? x->offset : t->bytes);
	if (x->when == ISA_TILE)
		i.tile_bytes = by_tile(x->bytes, c->tiles);
	return i;
}
