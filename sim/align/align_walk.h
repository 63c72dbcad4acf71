/* align_walk.h - what the parts of the walk from launch to launch share; for sim/align only. */
#ifndef NPUSIM_SIM_ALIGN_ALIGN_WALK_H
#define NPUSIM_SIM_ALIGN_ALIGN_WALK_H

#include "sim/align/align_int.h"

#define WALK_VALUES 64
#define WALK_LATELY 20
#define WALK_ND     5

/* A tensor that a launch made. */
struct val {
	enum dtype type;
	int32_t nd;
	uint64_t dims[WALK_ND], strides[WALK_ND], elems;
	bool read;
	const char *fn; /* of the rule that made it; "" */
};

struct walk {
	struct align *al;
	struct val v[WALK_VALUES];
	uint32_t n; /* made so far; the newest is v[(n - 1) % WALK_VALUES] */
	enum place_role last;
	uint32_t layer;
	bool begun, tables,
		expanded;     /* a step; tables of its own for each sequence; the cache has all queries' heads */
	bool queries;         /* rows have a dim of one query: [rows, 1, columns] */
	bool half_tables;     /* rotary tables have a number for each pair of columns: halves of heads are multiplied */
	bool picks, gathered; /* behind a router, until its picks are summed up; rows of the picks were read */
	enum dtype quantised; /* what the next products multiply; DT_NONE: as the model has it */
	struct val half;      /* the other half of what was negated; no dims: nothing was */
	struct trace_op *open; /* the last operator, which launches may join */
	bool by_grid;          /* the newest operator has its grid's size */
	const char *why;
};

/* align_val.c */
uint64_t walk_elems(int32_t nd, const uint64_t *dims);
struct val walk_val(enum dtype type, int32_t nd, const uint64_t *dims); /* packed */
struct val walk_of_rows(const struct walk *w, enum dtype type, uint64_t rows, uint64_t cols);
struct val walk_of_heads(enum dtype type, uint64_t rows, uint64_t heads, uint64_t dim, uint64_t width);
struct val walk_head_of(const struct val *x, uint64_t cols);
struct val walk_like(enum dtype type, const struct val *x, bool broadcasts);
void walk_push(struct walk *w, struct val v);
struct val *walk_newest(struct walk *w, uint32_t back);
bool walk_is_packed(const struct val *v);
bool walk_within(const struct kname *k, uint64_t n);
struct val *walk_find(struct walk *w, const struct kname *k, enum dtype type);
void walk_put(struct putting *p, int32_t pos, enum dtype type, const struct val *v);
bool walk_in_attention(const struct walk *w);
uint64_t walk_rows(const struct walk *w);
uint64_t walk_keys(const struct walk *w); /* of the layer's attention */
struct model_heads walk_heads(const struct walk *w);
bool walk_of_model(const struct walk *w, const struct kname *k, struct val *out);
struct val walk_of_grid(struct walk *w, const struct kname *k);

bool walk_reads(const struct kname *k, const char *reader); /* is that its rule's? */
/* Its operator's arguments, by how its rule reads them. */
void walk_stock(struct walk *w, size_t launch, struct putting *p);   /* align_stock.c */
bool walk_engine(struct walk *w, size_t launch, struct putting *p);  /* align_engine.c; false: it is none of theirs */
bool walk_experts(struct walk *w, size_t launch, struct putting *p); /* align_experts.c; false: it is no pick's */
bool walk_joins_topk(const struct walk *w, size_t launch);           /* is it the launch before's operator's, too? */
uint64_t walk_picks(const struct walk *w);                           /* rows of all experts */
/* What is broadcast over x behind a router; false: x is of no pick. */
bool walk_experts_second(const struct walk *w, const struct kname *k, const struct val *x, struct putting *p);
int walk_anchor(struct walk *w, size_t launch); /* align_anchor.c */

#endif
