#include "sim/map/map_memo.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/map/map_int.h"

#define PLACES 32768 /* of each kind; must be a power of two */
#define PROBES 8

static const size_t bytes_of[MAP_MEMO_KINDS] = {
	[MAP_MEMO_CHOICE] = sizeof(struct map_schedule),  [MAP_MEMO_FOUND] = sizeof(struct map_found),
	[MAP_MEMO_ONES] = sizeof(struct map_ones),        [MAP_MEMO_CUTS] = sizeof(struct map_cutting),
	[MAP_MEMO_STAYS] = sizeof(enum map_reuse_choice), [MAP_MEMO_TAKES] = sizeof(uint64_t),
};

struct map_memo {
	struct partition_memo spread;
	uint64_t held;
	uint64_t key[MAP_MEMO_KINDS][PLACES]; /* 0: nothing here */
	uint8_t *answers[MAP_MEMO_KINDS];
};

struct map_memo *map_memo_new(struct err *e)
{
	struct map_memo *m = calloc(1, sizeof *m);

	for (int i = 0; m && i < MAP_MEMO_KINDS; i++)
		if (!(m->answers[i] = calloc(PLACES, bytes_of[i]))) {
			map_memo_free(m);
			m = NULL;
		}
	if (!m)
		err_nomem(e, "for what the mapper finds out");
	return m;
}

void map_memo_free(struct map_memo *m)
{
	for (int i = 0; m && i < MAP_MEMO_KINDS; i++)
		free(m->answers[i]);
	free(m);
}

struct partition_memo *map_memo_spread(struct map_memo *m)
{
	return &m->spread;
}

void map_memo_hold(struct map_memo *m, uint64_t number)
{
	m->held = number;
}

uint64_t map_memo_held(const struct map_memo *m)
{
	return m->held;
}

static size_t map_memo_place(uint64_t key, size_t probe)
{
	return (hash_mix(key) + probe) & (PLACES - 1);
}

const void *map_memo_find(const struct map_memo *m, enum map_memo_kind kind, uint64_t key)
{
	for (size_t i = 0; i < PROBES; i++)
		if (m->key[kind][map_memo_place(key, i)] == key)
			return m->answers[kind] + map_memo_place(key, i) * bytes_of[kind];
	return NULL;
}

/* Where all places are taken the first is given up. */
void map_memo_put(struct map_memo *m, enum map_memo_kind kind, uint64_t key, const void *answer)
{
	size_t i = 0, at;

	while (i < PROBES && m->key[kind][map_memo_place(key, i)] && m->key[kind][map_memo_place(key, i)] != key)
		i++;
	at = map_memo_place(key, i < PROBES ? i : 0);
	m->key[kind][at] = key;
	memcpy(m->answers[kind] + at * bytes_of[kind], answer, bytes_of[kind]);
}
