/* tiled_shipped.h - the kernels that come with npusim, described in workloads/kernels, by name. */
#ifndef NPUSIM_ARCH_TILED_TILED_SHIPPED_H
#define NPUSIM_ARCH_TILED_TILED_SHIPPED_H

#include <glob.h>

#include "sim/base/err.h"

struct tiled_names {
	glob_t found;
	const char *const *path;
	size_t n;
};

/* In the order of names. */
int tiled_list(struct tiled_names *n, struct err *e);
void tiled_list_free(struct tiled_names *n);
/* A name without folder and ending that is no file here is one of ours; a mistyped one names the nearest. Else the word is a
 * file's. */
int tiled_find(const char *word, char *path, unsigned size, struct err *e);

#endif
