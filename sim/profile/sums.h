/* sums.h - the kernels of a trace summed by something else than their names: framework op, layer, stream or family.
 *
 * op        the innermost framework op that launched it ("aten::mm"), "" where none is known
 * layer     of the lowered op (sim/lower/lower.h): "layer 3", "outside the layers"; steps' layers together
 * stream    "device 0 stream 7"
 * family    of the rule table
 * Of an aggregated profile there are names and families alone. */
#ifndef NPUSIM_SIM_PROFILE_SUMS_H
#define NPUSIM_SIM_PROFILE_SUMS_H

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "traces/trace.h"
#include "workloads/rules.h"

enum sums_by { SUMS_OP, SUMS_LAYER, SUMS_STREAM, SUMS_FAMILY, SUMS_BYS };
struct sums_row {
	const char *key, *family; /* that most of its time went to */
	uint64_t count, ns, longest_ns;
	int64_t order; /* of layers and streams: their number */
};
struct sums {
	struct sums_row *v;
	size_t n; /* longest first */
	uint64_t count, ns;
};
/* Of its launches, with `filter` (as below; NULL: none) those alone that pass it. All lives in `a`. */
int sums_of(const struct trace *t, enum sums_by by, const char *filter, struct rules *r, struct arena *a,
            struct sums *out, struct err *e);
int sums_parse(const char *text, enum sums_by *by, struct err *e); /* "op", "layer", ...; ERR_USAGE */

/* How rows of kernels are ordered; equal ones by name. */
enum sums_order { SUMS_TOTAL, SUMS_COUNT, SUMS_MEAN, SUMS_LONGEST, SUMS_NAME, SUMS_ORDERS };
int sums_order_parse(const char *text, enum sums_order *o, struct err *e); /* NULL: total */
struct sums_value {
	const char *name;
	uint64_t count, ns, longest_ns;
};
int sums_compare(enum sums_order o, const struct sums_value *a, const struct sums_value *b); /* as qsort has it */

/* Leaves of launches, groups and statistics those whose name, family or friendly name has a match of `text`, a POSIX extended
 * expression, blind to case. */
int sums_filter(struct trace *t, const char *text, struct rules *r, struct err *e);

#endif
