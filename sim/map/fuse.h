/* fuse.h - the fusion engine's compiler side: joins consecutive ops that match a pattern into one command.
 *
 * A pattern is a YAML row: a sequence of op matchers ("gemm", "elementwise:silu", "convert?", "elementwise*"). Ops
 * join when they follow each other, each reads what a member wrote or shares a member's input, the intermediates fit
 * the fusion buffer, and no more than fusion.max_ops join. Intermediates nobody else reads never leave the engine;
 * what is saved (round trips through memory, dispatches) is accounted by the mapper, which takes a fusion only where
 * it predicts it to be faster. */
#ifndef NPUSIM_SIM_MAP_FUSE_H
#define NPUSIM_SIM_MAP_FUSE_H

#include "arch/npu/fusion.h"
#include "sim/base/source.h"
#include "workloads/op.h"

struct fuse_patterns;

struct fuse_patterns *fuse_patterns_load(const char *path, struct err *e); /* a full path */
struct fuse_patterns *fuse_patterns_load_from(const struct source *from, const char *path, struct err *e);
struct fuse_patterns *fuse_patterns_parse(const char *text, size_t n, const char *name, struct err *e);
void fuse_patterns_free(struct fuse_patterns *p);

/* Kinds that a pattern can name around a product. */
bool fuse_is_vector(enum op_kind k);

/* Ops [first, first + n) of the stream form one group; n = 1: not fused, pattern NULL. */
struct fuse_group {
	uint32_t first, n;
	const char *pattern;
};

/* Groups cover the stream in order; the array lives in `a`. */
int fuse_stream(const struct op_stream *s, const struct fusion_cfg *c, const struct fuse_patterns *p, struct arena *a,
                struct fuse_group **groups, size_t *n_groups, struct err *e);

#endif
