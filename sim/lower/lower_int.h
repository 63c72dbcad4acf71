/* lower_int.h - an op stream while it is being made; for sim/lower/lower*.c only.
 *
 * The passes, in order: tell types that were not recorded (lower_types.c), steps of recurrent networks (lower_recurrent.c), group launches into ops and read their shapes (lower.c; rows of tables: lower_listed.c), find routed regions
 * (lower_route.c), infer tensors and write operands (lower_tensors.c, candidates in lower_pick.c), layers
 * (lower_route.c), names (lower_name.c); then addresses and dependences (workloads/place.h). */
#ifndef NPUSIM_SIM_LOWER_LOWER_INT_H
#define NPUSIM_SIM_LOWER_LOWER_INT_H

#include <string.h>

#include "sim/lower/lower.h"
#include "workloads/listed.h"
#include "workloads/shape.h"

#define NO_OP     UINT32_MAX
#define NO_TENSOR UINT32_MAX
#define NO_VAL    UINT32_MAX

/* An op on its way: what op.h's struct op has no room for. */
struct lop {
	const struct rule *rule;         /* NULL: none matched */
	const struct trace_launch *main; /* the launch whose rule and framework op the op is read from */
	enum op_attn algorithm;
	bool opaque, only_parts;
	const char *why; /* opaque: the reason */
	uint32_t n_launches;
	uint32_t step;
	struct op_shape s;
	enum dtype dtype, out_dtype, acc_dtype;
	bool open_groups, open_index, open_estimate;
	struct shape_io *in, *out;
	uint32_t n_in, n_out;
	const struct listed_shape *listed; /* a row of a table of ops: it has this and no `in` and `out`; else NULL */
	int32_t region;                    /* routed region a product stands in; -1 */
	uint32_t slot, place;              /* which pick; which of the region's weights */
	int32_t route;                     /* a grouped product's; -1 */
	uint32_t groups;                   /* matrices it has, of which it uses s.batch */
};

/* From a router's top-k over the host's read to where the picked experts' results come together. */
struct region {
	uint32_t topk, sync, first, last; /* ops; `last` is the first one after it */
	uint32_t n_products, period, slots;
	uint64_t experts;
	uint32_t *weights;        /* tensor of each place in the period */
	uint64_t rows, slot_row;  /* of the gathered tokens: handed out so far, first of this slot */
	uint32_t input, gathered; /* values: what the gather read and made; NO_VAL */
};

/* A value an op may mean: a tensor as it stands after its producer wrote it, or an external one after its first use. */
struct val {
	uint32_t tensor;
	uint32_t producer;         /* op; NO_OP: external */
	uint32_t last_read, reads; /* last_read: op + 1, 0 none */
	uint32_t next, next_int;   /* older ones of the same type and element count; of integers */
	uint32_t left;             /* products: tensor of the left operand */
	const struct rule *reader; /* of the op that read it last */
	enum op_kind kind;         /* of the producer */
	const struct shape_io *io; /* dims and strides as it was made, or first read */
	uint64_t elems;            /* of the whole tensor */
	bool temporary, residual, from_external, superseded;
};

struct bucket {
	uint64_t elems;
	enum dtype dtype;
	uint32_t head, unread;
}; /* head NO_VAL: free */

/* Externals by what they are, so that a later step, or layer, means the same one. */
struct ext_slot {
	uint64_t key;
	uint32_t tensor;
	uint32_t step, count;
	bool used;
};

struct lowering {
	const struct trace *t;
	struct rules *rules;
	struct arena *a;
	struct err *e;
	struct op_stream *out;

	struct lop *lops;
	uint32_t n;
	uint32_t *launch_op; /* by trace launch */
	uint32_t n_steps;
	bool steps_share; /* steps run the same program: weights and old caches are one */
	bool cases;       /* steps are cases of a benchmark: nothing goes from one to the next */
	struct region *regions;
	uint32_t n_regions;

	struct val *vals;
	uint32_t n_vals;
	struct bucket *buckets;
	uint32_t n_buckets, used_buckets; /* open addressing; a power of two */
	uint32_t ints;                    /* newest integer value */
	struct ext_slot *exts;
	uint32_t n_exts, used_exts;
	enum dtype last_of_size[9]; /* last float format of 1, 2, 4 and 8 bytes */
	uint32_t shared_in;         /* value a routed region read; its shared experts read it too */
	uint32_t region;            /* tensors pass: the first region that is not behind yet */
};

/* Attention and MLP end here: the next begins with a norm, or with the mean of one that is written out. */
static inline bool lower_ends_part(const struct op *o)
{
	return op_traits[o->kind].ends_part || (o->kind == OP_REDUCE && o->reduce == OP_RED_MEAN);
}

static inline int lower_nomem(struct lowering *w)
{
	return err_set(w->e, ERR_NOMEM, "out of memory while lowering");
}

/* Characters of a name before the number at its end. */
static inline size_t lower_base_len(const char *name)
{
	size_t n = strlen(name);

	while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return n;
}

/* lower_types.c: `to` is `from` with what is known of types and numbers that the recording does not say. */
int lower_types(const struct trace *from, struct rules *r, struct arena *a, struct trace *to, struct lower_stats *st,
                struct err *e);
/* lower_recurrent.c: each launch of a recurrent network's call has an op of its own, with its own sizes. */
int lower_recurrent(struct trace *t, struct rules *r, struct arena *a, struct err *e);
/* lower_listed.c: a row's shape, or why it is opaque; its operands; heads of a sequence. */
int lower_listed_read(struct lowering *w, struct lop *o);
int lower_listed(struct lowering *w, uint32_t op);
int lower_sequences(struct lowering *w);
/* lower_route.c */
int lower_regions(struct lowering *w);
int lower_groups(struct lowering *w);
int lower_layers(struct lowering *w);
/* lower_tensors.c */
int lower_tensors(struct lowering *w);
/* lower_pick.c: the value an operand means, NO_VAL when the stream made none that fits. `not` are taken already. */
struct pick {
	const struct shape_io *io;
	const uint32_t * not ;
	uint32_t n_not;
	uint32_t op;
	const struct rule *rule;
	bool residual_add;
};
uint32_t lower_pick(const struct lowering *w, const struct pick *p);
uint32_t lower_pick_target(const struct lowering *w, const struct pick *p);
uint32_t lower_pick_left(const struct lowering *w, const struct pick *p);
uint32_t lower_pick_exact(const struct lowering *w, const struct pick *p);
uint32_t lower_pick_weight(const struct lowering *w, const struct pick *p);
uint32_t lower_pick_kv(const struct lowering *w, const struct pick *p);
uint32_t lower_pick_positions(const struct lowering *w, uint32_t op, uint64_t want);
uint32_t lower_val_add(struct lowering *w, const struct shape_io *io, uint32_t tensor, uint32_t producer);
void lower_val_read(struct lowering *w, uint32_t val, uint32_t op);
bool lower_known(const struct lowering *w, enum dtype dtype, uint64_t elems); /* is a value of that type and size */
void lower_val_drop(struct lowering *w, uint32_t val);
/* lower_name.c */
int lower_names(struct lowering *w);

#endif
