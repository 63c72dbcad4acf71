#include "arch/mem/cache_seen.h"

#include <stdlib.h>

#include "sim/base/pages.h"

struct entry {
	uint64_t chunk;
	uint64_t mask;
};

struct cache_seen {
	unsigned bits;
	struct entry *table;
};

struct cache_seen *cache_seen_new(uint64_t chunks, struct err *e)
{
	struct cache_seen *s = calloc(1, sizeof *s);

	if (s)
		for (s->bits = 1; s->bits < 40 && UINT64_C(2) << s->bits <= chunks;)
			s->bits++;
	if (!s || !(s->table = pages_new(UINT64_C(1) << s->bits, sizeof *s->table))) {
		err_set(e, ERR_NOMEM, "out of memory for the history of %llu chunks", (unsigned long long)chunks);
		cache_seen_free(s);
		return NULL;
	}
	return s;
}

void cache_seen_free(struct cache_seen *s)
{
	if (!s)
		return;
	pages_free(s->table, UINT64_C(1) << s->bits, sizeof *s->table);
	free(s);
}

void cache_seen_reset(struct cache_seen *s)
{
	pages_zero(s->table, UINT64_C(1) << s->bits, sizeof *s->table);
}

static struct entry *entry_of(const struct cache_seen *s, uint64_t chunk)
{
	return &s->table[(chunk * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - s->bits)];
}

bool cache_seen_any(const struct cache_seen *s, uint64_t chunk, uint64_t mask)
{
	const struct entry *x = entry_of(s, chunk);

	return x->chunk == chunk && (x->mask & mask);
}

void cache_seen_note(struct cache_seen *s, uint64_t chunk, uint64_t mask)
{
	struct entry *x = entry_of(s, chunk);

	*x = (struct entry){ chunk, x->chunk == chunk ? x->mask | mask : mask };
}
