#include "arch/mem/cache_seen.h"

#include <stdlib.h>

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
	if (!s || !(s->table = malloc(sizeof *s->table << s->bits))) {
		err_set(e, ERR_NOMEM, "out of memory for the history of %llu chunks", (unsigned long long)chunks);
		cache_seen_free(s);
		return NULL;
	}
	cache_seen_reset(s);
	return s;
}

void cache_seen_free(struct cache_seen *s)
{
	if (!s)
		return;
	free(s->table);
	free(s);
}

void cache_seen_reset(struct cache_seen *s)
{
	for (uint64_t i = 0; i < UINT64_C(1) << s->bits; i++)
		s->table[i] = (struct entry){ 0, 0 };
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
