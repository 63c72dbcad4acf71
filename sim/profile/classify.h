/* classify.h - the device activities of a trace by name, by family, and by sort of copy.
 *
 * Family, library and friendly name come from the rule table; what no rule knows is in the family "unknown" under a
 * name shortened from its own. One kernel name may be several families by its shapes (a product with one row is a
 * gemv, with more a gemm): families are summed launch by launch, and a name's row says the one most of its time went
 * to. Rows are in order of time, longest first, then by name: the same on every host. Shares are of the kernel time;
 * copies and sets stand apart. Kernels that an aggregated profile knows as statistics are added by name. */
#ifndef NPUSIM_SIM_PROFILE_CLASSIFY_H
#define NPUSIM_SIM_PROFILE_CLASSIFY_H

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "traces/trace.h"
#include "workloads/rules.h"

/* clang-format off */
struct classify_kernel { const char *name, *friendly, *library, *family; uint64_t count, total_ns, longest_ns; };
/* clang-format on */
struct classify_family {
	const char *name;
	uint64_t count, total_ns;
};
struct classify_copy {
	const char *name;
	uint64_t count, total_ns, bytes;
}; /* "HtoD", ..., "set" */

struct classify {
	uint64_t kernel_count, kernel_ns, copy_count, copy_ns, copy_bytes;
	uint64_t stat_count; /* of kernel_count: known only as statistics */
	struct classify_kernel *kernels;
	size_t n_kernels;
	struct classify_family *families;
	size_t n_families;
	struct classify_copy *copies;
	size_t n_copies; /* sorts that occur */
};

/* Of its launches, or of its groups of them. All arrays and new texts live in `a`; names point into the trace and the rules. */
int classify_trace(const struct trace *t, struct rules *r, struct arena *a, struct classify *out, struct err *e);
/* "void at::native::(anonymous namespace)::cat_kernel<float, 4>(...)" to "cat_kernel". */
const char *classify_short_name(const char *kernel, struct arena *a);

#endif
