/* idmap.h - row id -> what was loaded for it. */
#ifndef NPUSIM_TRACES_DB_IDMAP_H
#define NPUSIM_TRACES_DB_IDMAP_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"

struct idmap {
	struct idmap_slot {
		int64_t id;
		void *p;
	} * v;
	size_t n, cap;
}; /* p NULL: free; starts zeroed */

void *idmap_get(const struct idmap *m, int64_t id);                 /* NULL: not there */
int idmap_put(struct idmap *m, int64_t id, void *p, struct err *e); /* the id must be new, p not NULL */
void idmap_free(struct idmap *m);

#endif
