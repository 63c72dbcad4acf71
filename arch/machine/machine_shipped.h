/* machine_shipped.h - the machines that come with npusim, by name: "dsocr" is configs/npu/dsocr.yaml, "h200" configs/gpu/h200.yaml,
 * "hgx-h200" eight of those (configs/system/hgx-h200.yaml). */
#ifndef NPUSIM_ARCH_MACHINE_MACHINE_SHIPPED_H
#define NPUSIM_ARCH_MACHINE_MACHINE_SHIPPED_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/arena.h"
#include "sim/base/source.h"

/* The file of a plain name, without folder and ending, where no file of that name is here. */
/* Where they stand, from the top of the data; NULL ends it. */
extern const char *const machine_shipped_folders[];
bool machine_shipped(const char *name, char *path, unsigned size);
bool machine_shipped_from(const struct source *from, const char *name, char *path, unsigned size);

/* Files of the NPUs that come with npusim, in the order of their names. */
int machine_shipped_npus(struct arena *a, const char ***paths, size_t *n, struct err *e);

/* Of a file that is not there, the machine that may be meant: the nearest name to it, or to its last part where it has
 * the ending or lies in a folder of these. Other folders are the user's own: nothing here is near. */
bool machine_shipped_near(const struct source *from, const char *missing, char *name, unsigned size);

#endif
