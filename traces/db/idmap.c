/* idmap.c - open addressing, at most half full. */
#include "traces/db/idmap.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/base/hash.h"

static struct idmap_slot *idmap_probe(const struct idmap *m, int64_t id)
{
	size_t i = (size_t)hash_mix((uint64_t)id) & (m->cap - 1);

	while (m->v[i].p && m->v[i].id != id)
		i = (i + 1) & (m->cap - 1);
	return &m->v[i];
}

void *idmap_get(const struct idmap *m, int64_t id)
{
	return m->cap ? idmap_probe(m, id)->p : NULL;
}

static int idmap_grow(struct idmap *m, struct err *e)
{
	struct idmap wide = { NULL, m->n, m->cap ? 2 * m->cap : 256 };

	if (!(wide.v = calloc(wide.cap, sizeof *wide.v)))
		return err_nomem(e, NULL);
	for (size_t i = 0; i < m->cap; i++)
		if (m->v[i].p)
			*idmap_probe(&wide, m->v[i].id) = m->v[i];
	free(m->v);
	*m = wide;
	return 0;
}

int idmap_put(struct idmap *m, int64_t id, void *p, struct err *e)
{
	if (2 * (m->n + 1) > m->cap && idmap_grow(m, e) < 0)
		return -1;
	assert(p && !idmap_probe(m, id)->p);
	*idmap_probe(m, id) = (struct idmap_slot){ id, p };
	m->n++;
	return 0;
}

void idmap_free(struct idmap *m)
{
	free(m->v);
	*m = (struct idmap){ NULL, 0, 0 };
}
