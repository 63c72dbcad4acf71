/* align_int.h - what the parts of the alignment share; for sim/align only. */
#ifndef NPUSIM_SIM_ALIGN_ALIGN_INT_H
#define NPUSIM_SIM_ALIGN_ALIGN_INT_H

#include "sim/align/align.h"

#define NO_PLACE UINT32_MAX

/* What stands at a place of a step. */
enum place_role {
	AT_Q,
	AT_K,
	AT_V,
	AT_QKV,
	AT_SCORES,
	AT_ATTEND,
	AT_VALUES,
	AT_O,
	AT_GATE,
	AT_UP,
	AT_GATE_UP,
	AT_DOWN,
	AT_ROUTER,
	AT_EXPERTS_UP, /* gate and up of all picks, in one launch */
	AT_EXPERTS_DOWN,
	AT_HEAD
};

struct place {
	enum place_role role;
	uint32_t layer;
	uint64_t n, k; /* of a product: columns and depth */
	bool bias;
};

/* Which products are one, and whether attention is two. */
struct form {
	bool joined_qkv, joined_gate, written_out;
};

/* What a kernel's name and grid say. */
struct kname {
	const struct rule *rule; /* with the operator below; NULL: none */
	const char *op;          /* "aten::mul"; NULL: its rule alone says nothing of it */
	enum dtype type,
		from;    /* of its results; of what a cast reads (DT_NONE: it is no cast, or the name has it not) */
	uint32_t inputs; /* tensors it reads one value of for each result */
	bool flat;       /* all of them lie as the result does: nothing is broadcast */
	bool casts;
	uint64_t lo, hi; /* lo < results <= hi; hi 0: the grid does not tell */
};

struct align {
	struct trace *t;
	const struct model *m;
	struct rules *rules;
	struct arena *a;
	struct err *e;
	struct align_report *rep;
	struct form form;
	struct place *places;
	uint32_t n_places;
	uint32_t *at; /* place of each launch; NO_PLACE: it is no anchor */
	struct kname *names;
	uint64_t batch, keys;
	bool grows; /* the cache is copied to grow: what is there before is one key shorter */
	uint64_t next_op;
};

/* align_name.c */
int align_names(struct align *al);
bool align_has_op(const struct trace_launch *l);  /* an operator with dims */
enum dtype align_weight_type(const char *kernel); /* of a product, where its name has it; DT_NONE: it has not */
bool align_anchors(const struct align *al, size_t launch);
bool align_is_table(const struct align *al, size_t launch); /* a product of fp32 among 16 bits: the rotary table's */
bool align_is_grouped(const struct rule *u);                /* products of a group each: a mixture's experts */
uint64_t align_gated(const struct align *al);               /* columns of a gated activation: of all picks of a token */

/* align_lay.c: the places of a step, and the launch at each. The mean cost an anchor, in thousandths of a match. */
int align_places(struct align *al, struct form f);
int align_lay(struct align *al, uint32_t *cost);

/* align_size.c. A concatenation by vectors: bytes of the long member a CTA copies (128 threads of 16), and how many CTAs an SM
 * gets at the most, behind which its grid tells no more (Shape.cu of PyTorch 2.11). */
#define ALIGN_CAT_CTA     2048
#define ALIGN_CAT_CTAS_SM 32
bool align_concat_capped(const struct align *al, const struct trace_launch *l);
void align_batch(struct align *al);
void align_keys(struct align *al);

/* align_walk.c */
int align_walk(struct align *al);

/* align_args.c: an operator while its arguments are put. */
struct putting {
	struct trace_op *op;
	struct trace_arg *args;
	uint32_t n;
};
int align_op(struct align *al, const char *name, struct putting *p);
void align_packed(int32_t ndims, const uint64_t *dims, uint64_t *strides);
void align_tensor(struct putting *p, int32_t pos, enum dtype d, int32_t ndims, const uint64_t *dims); /* packed */
void align_strided(struct putting *p, int32_t pos, enum dtype d, int32_t ndims, const uint64_t *dims,
                   const uint64_t *strides);
void align_scalar(struct putting *p, int32_t pos, const char *text);

#endif
