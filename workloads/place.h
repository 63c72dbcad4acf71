/* place.h - where tensors lie and what each op must wait for.
 *
 * What exists before the stream has a place of its own: weights first, then old caches, then the rest. What the
 * stream makes is placed as a caching allocator would: a block is handed on, to tensors of its very size, once the
 * last op that reads it is past. Blocks go first in first out, and small ones rest for a while, so that the new
 * writer rarely has to wait for the old readers; when it has to, the dependence is there (I1). A grown cache keeps
 * its place to the end. Dependences are those of the ranges: read after write, write after read, write after write,
 * a routed product after the host read that picks its expert (its router, where no host reads), and a row of a table
 * of ops after the row before it.
 * Units: bytes. Invariant: I1 ranges of tensors that live at the same time do not overlap. */
#ifndef NPUSIM_WORKLOADS_PLACE_H
#define NPUSIM_WORKLOADS_PLACE_H

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "workloads/op.h"

/* Fills `addr` and `stride` of all tensors, `deps` of all ops, and `addr_end`. -1: ERR_NOMEM, or an error of `kind`, who
 * made the stream, where the tensors need more than 2^62 bytes. */
int place_stream(struct op_stream *s, enum err_kind kind, struct arena *a, struct err *e);

#endif
