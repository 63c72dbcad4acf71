/* op.h - the op stream: what is computed, with no machine in it (L2: plain data).
 *
 * An op names its operands; whether their bytes are on chip is only ever a result of the machine's state. Every op
 * that came from a trace keeps its source launches, so that measured time stands beside simulated time and a GPU
 * model can replay the geometry. Ops are in program order; deps point backwards only. */
#ifndef NPUSIM_WORKLOADS_OP_H
#define NPUSIM_WORKLOADS_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/dtype.h"
#include "workloads/op_kinds.h"
#include "workloads/quant.h"

/* What an element costs on a vector unit. */
enum op_cost {
	OP_COST_MOVE, /* no arithmetic: copy, fill, neg, convert */
	OP_COST_ALU,  /* one add, mul, compare, ... per operand pair */
	OP_COST_DIV,  /* division, floor division, remainder: iterative */
	OP_COST_SFU,  /* one special function: exp, rsqrt, tanh, sin, log */
	OP_COST_ACT,  /* an activation: special function and a few ALU steps (silu, gelu) */
	OP_COSTS
};

enum op_reduce { OP_RED_SUM, OP_RED_MEAN, OP_RED_MAX, OP_RED_ARGMAX, OP_RED_NORM, OP_REDUCES };
/* per_head: a loop over heads, as a framework's generic kernel runs; grouped: each head of keys and values once for its
 * group of queries; any: nobody said. */
enum op_attn {
	OP_ATTN_FLASH,
	OP_ATTN_SPLIT_KV,
	OP_ATTN_MATERIALISED,
	OP_ATTN_MLA,
	OP_ATTN_PER_HEAD,
	OP_ATTN_GROUPED,
	OP_ATTN_ANY,
	OP_ATTNS
};
/* Whose kernels an attention over paged keys was told to run by; any: what engines take on the device. */
enum op_library {
	OP_LIBRARY_ANY,
	OP_LIBRARY_FLASH2,
	OP_LIBRARY_FLASH3,
	OP_LIBRARY_FLASHINFER,
	OP_LIBRARY_TRTLLM,
	OP_LIBRARY_TRITON
};
enum op_phase { OP_DECODE, OP_PREFILL };

/* Shapes by kind; unused members are 0. */
struct op_shape {
	uint64_t batch, m, n, k;                                  /* gemm */
	uint64_t heads, kv_heads, q_len, kv_len, head_dim, v_dim; /* attention (batch too) */
	uint64_t window;     /* attention: keys that a query sees at the most; 0: all */
	uint64_t elems;      /* elementwise, convert and all that move: output elements */
	uint64_t rows, cols; /* reduce, softmax, norm, topk, sort, scan: along cols */
	uint64_t top;        /* topk */
	uint32_t passes; /* gemm: of its operands through a multiplier, by a table of ops; 0: as their formats take */
	uint32_t arity;  /* elementwise: tensor inputs; concat: members */
	uint32_t peers;  /* collective: chips that take part, this one too; 0: not known */
	uint32_t hop;    /* send: chips from this one to the other; 0: the next */
	bool causal, paged, strided; /* strided: some operand is not contiguous */
	uint32_t
		walked; /* copy, elementwise: dims that an element's place is worked out from, those joined that lie alike; 0: unknown */
	uint32_t apart; /* copy, elementwise: 32-byte sectors of an operand in 32 neighbours; 0: no more than need be */
};

struct op_tensor {
	const char *name; /* "layer3.w2", made by the lowering; unique */
	enum op_role role;
	enum dtype dtype;   /* of a value; an op's dtype may be another: int4 weights in a product of bf16 */
	enum quant quant;   /* how they are stored, where values have scales: their bytes are among `bytes` */
	uint64_t bytes;     /* of one instance */
	uint64_t addr;      /* of instance 0; ranges of live tensors do not overlap */
	uint32_t instances; /* > 1: a routed expert's weights, e at addr + e * stride */
	uint64_t stride;
	int32_t layer; /* -1: outside the layers */
	int32_t route; /* which router picks the instance; -1: not routed */
	bool inferred; /* id not in the trace: inferred from shape, dtype and order */
	bool external; /* there before the stream starts: weights, old KV, inputs */
	bool resident; /* on chip then, as far as it fits: a table of ops says so */
};

struct op_operand {
	uint32_t tensor;
	bool write;
	uint64_t offset, bytes; /* touched range within the tensor */
	uint64_t touched;       /* bytes moved; < bytes when strided or gathered, > bytes never */
	uint32_t slot;          /* routed: which of the step's picks (0 .. top - 1) */
};

/* One device activity of the trace. */
struct op_launch {
	int64_t trace_id; /* trace.db launch id */
	const char *name;
	uint64_t start_ns, measured_ns;
	uint32_t grid[3], block[3], cluster[3], registers;
	uint64_t smem_static, smem_dynamic, local;
	int64_t stream;
	int32_t waits_for;      /* index of the launch before it in its stream; -1: none */
	uint8_t wait_kind;      /* enum op_wait */
	uint8_t kind;           /* enum trace_launch_kind */
	uint8_t link;           /* enum trace_link: how its framework op is known */
	uint64_t host_start_ns; /* when the host called; 0: not recorded */
};
enum op_wait { OP_WAIT_NONE, OP_WAIT_STREAM, OP_WAIT_GRAPH, OP_WAIT_PROGRAMMATIC };

struct op {
	uint32_t id; /* index in the stream */
	enum op_kind kind;
	const char *name;   /* what a person calls it: "gemv 1x1280x896", "silu" */
	const char *family; /* of the rule table: "gemv", "elementwise", ... */
	const char *rule;   /* name of the rule that made it */
	enum op_phase phase;
	int32_t layer; /* -1: outside the layers */
	struct op_shape shape;
	enum dtype dtype, out_dtype, acc_dtype; /* operands, result, accumulation */
	enum op_cost cost;                      /* elementwise, convert */
	const char *fn;                         /* elementwise: "silu", "mul", ...; else "" */
	enum op_reduce reduce;
	enum op_attn algorithm;
	enum op_library library;
	bool mixed; /* attention of one query a sequence over paged keys: one call with prompts' queries */
	uint32_t first_operand, n_operands;
	uint32_t first_dep, n_deps;          /* op ids to wait for (true, anti and output dependences) */
	uint32_t first_launch, n_launches;   /* 0 launches: from a model file */
	int32_t routed_by;                   /* router whose picks this op needs; -1 */
	uint64_t measured_ns;                /* sum over its launches */
	uint64_t measured_fj, measured_khz;  /* of a row of a table of ops; 0: not told */
	uint64_t opaque_bytes, opaque_flops; /* OP_OPAQUE with counters; 0 when none */
	const char *types; /* how the formats of its tensors are known (sim/lower/lower.h); NULL: recorded */
	bool listed;       /* a row of a table of ops: measured_ns 0 is a row that says no time */
};

/* A router: top-k over `experts`, `top` picked each step; in a trace the picks' identity is unknown. */
struct op_route {
	uint32_t experts, top;
	int32_t layer;
	uint32_t topk_op, sync_op; /* UINT32_MAX: none */
};

/* A part of a model on chips of its own, and how many such parts are alike. */
struct op_stage {
	const struct op_stream *stream;
	uint32_t times;
};

struct op_stream {
	const char *source; /* trace path and range, or model name */
	const char *digest;
	struct op *ops;
	size_t n_ops;
	struct op_tensor *tensors;
	size_t n_tensors;
	struct op_operand *operands;
	size_t n_operands;
	uint32_t *deps;
	size_t n_deps;
	struct op_launch *launches;
	size_t n_launches;
	struct op_route *routes;
	size_t n_routes;
	uint64_t regrouped; /* attentions of a table whose heads counted those of a batch (sim/lower/lower_listed.c) */
	uint64_t addr_end;  /* one past the highest address */
	uint64_t measured_ns; /* sum of all launches, copies and sets included */
	uint64_t kernel_ns;   /* kernels only */
	uint64_t opaque_ns;   /* measured time of opaque ops */
	int64_t wall_ns;      /* unprofiled wall time of the range; -1 unknown */
	uint64_t tokens; /* new ones of all sequences and steps; 0: not known, or a part of a model, which makes none */
	uint32_t chips;  /* that run it, each its share: alike, or a stage each; 0: one */
	/* A pipeline: unlike stages, whose ops are those of the stream, one stage's behind the other's. NULL: there is none. Parts of
	 * the batch (`micro`; 0: one) go through it one behind the other, and a chip has the caches of all. */
	const struct op_stage *stages;
	const uint32_t *kinds; /* of each stage of the pipeline, which of them it is */
	uint32_t n_stages, micro;
	bool turns;               /* a step's result is the next one's input: decode */
	bool lies;                /* `resident` of tensors says what lies on chip at a start with operands there */
	bool cases;               /* a benchmark's: what is there before one is there for it alone */
	uint32_t sms, capability; /* of the device that was traced; compute capability times 10; 0 unknown */
};

/* At a start with operands on chip. */
static inline bool op_may_lie(const struct op_stream *s, uint32_t tensor)
{
	return !s->lies || s->tensors[tensor].resident;
}

/* Of a collective whose chips are known the machine's links say how long it takes. */
static inline bool op_is_timed(const struct op *o)
{
	return op_is_simulated(o->kind) || (o->kind == OP_COLLECTIVE && o->shape.peers > 1);
}

const char *op_role_name(enum op_role r);
const char *op_cost_name(enum op_cost c);
const char *op_reduce_name(enum op_reduce r);
const char *op_attn_name(enum op_attn a);
const char *op_phase_name(enum op_phase p);
/* What tells it from others of its kind: a function, a reduction, a format; "" where nothing does. */
const char *op_variant_name(const struct op *o);
/* What a person calls an op that has no name: "gemv 1280x896", "softmax 10x512", as op_traits says. */
void op_text(const struct op_stream *s, const struct op *o, char *to, size_t size);

#endif
