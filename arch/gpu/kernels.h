/* kernels.h - the table of kernel templates: from a kernel's name to the small integers of its code.
 *
 * Rows are YAML (configs/kernels/NAME.yaml, whose head documents the keys), tried in order, first match wins. Groups
 * of a row's expression may be read as numbers (`from_name`): a tile's extents stand in many names.
 * A second list, `defaults`, has rows for kernels that none of these describes, by what is known of any launch: the kind
 * of its op, how many tokens the op has, whether another launch of the op does the work. */
#ifndef NPUSIM_ARCH_GPU_KERNELS_H
#define NPUSIM_ARCH_GPU_KERNELS_H

#include <stddef.h>

#include "arch/gpu/kernel.h"
#include "sim/base/source.h"
#include "workloads/op.h"

struct kernels;

struct kernels *kernels_load(const char *path, struct err *e); /* NULL path: the default table */
struct kernels *kernels_load_from(const struct source *from, const char *path, struct err *e);
struct kernels *kernels_parse(const char *text, size_t n, const char *name, struct err *e);
void kernels_free(struct kernels *k);
/* What the table says of a kernel whose op a rule made (configs/rules; NULL: unknown); a KERNEL_PLAIN without numbers
 * where no row matches. */
struct kernel kernels_match(const struct kernels *k, const char *kernel, const char *rule);
/* What the defaults say of a kernel that the table does not know; `beside`: another launch of its op does the work.
 * KERNEL_PLAIN where none fits. */
struct kernel kernels_default(const struct kernels *k, const struct op *o, bool beside);
/* One number of one row, by their names. */
struct kernel_number {
	const char *row;
	size_t offset;
	uint32_t value;
};
int kernels_number(const struct kernels *k, const char *row, const char *number, struct kernel_number *out,
                   struct err *e);
void kernel_put(struct kernel *k, size_t offset, uint32_t v);
size_t kernels_count(const struct kernels *k);
struct kernel kernels_at(const struct kernels *k, size_t row); /* numbers that a name gives are 0 */
uint64_t kernels_hash(const struct kernels *k);

#endif
