/* known.h - what of a stream is rows of tables, and what of its kernels no rule knows. */
#ifndef NPUSIM_WORKLOADS_KNOWN_H
#define NPUSIM_WORKLOADS_KNOWN_H

#include "sim/base/err.h"
#include "workloads/op.h"

/* Is all of it rows of tables, but for kernels that nothing models (traces/read/shaped.h has such)? Is this op a row without a measured time? How many of those are there? */
bool ops_listed_all(const struct op_stream *s);
bool ops_listed_unmeasured(const struct op *o);
size_t ops_listed_without_time(const struct op_stream *s);
/* Does no rule know any of its kernels? Where there are none: no. */
bool ops_none_known(const struct op_stream *s);
/* How many names the kernels have that no rule knows; *longest: the one that took most time, "": there is none. */
size_t ops_unknown_names(const struct op_stream *s, const char **longest);
/* ERR_BOUND if so, whatever time they took: copies may be most of it, and spans may be 0. */
int ops_some_known(const struct op_stream *s, struct err *e);

#endif
