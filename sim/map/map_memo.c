#include "sim/map/map_memo.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/map/map_int.h"

#define PLACES_LEAST 128   /* of each kind, at first; powers of two */
#define PLACES_MOST  32768 /* and at most */
#define PROBES       8

static const size_t bytes_of[MAP_MEMO_KINDS] = {
	[MAP_MEMO_CHOICE] = sizeof(struct map_schedule),  [MAP_MEMO_FOUND] = sizeof(struct map_found),
	[MAP_MEMO_ONES] = sizeof(struct map_ones),        [MAP_MEMO_CUTS] = sizeof(struct map_cutting),
	[MAP_MEMO_STAYS] = sizeof(enum map_reuse_choice), [MAP_MEMO_TAKES] = sizeof(uint64_t),
};

/* Grows while half of it is taken: who asks for one op pays for no more. */
struct table {
	size_t places, taken;
	uint64_t *key; /* 0: nothing here */
	uint8_t *answers;
};

struct map_memo {
	struct partition_memo spread;
	uint64_t held;
	struct table of[MAP_MEMO_KINDS];
};

static bool table_up(struct table *t, size_t places, size_t bytes)
{
	*t = (struct table){ .places = places,
		             .key = calloc(places, sizeof *t->key),
		             .answers = malloc(places * bytes) };
	if (t->key && t->answers)
		return true;
	free(t->key);
	free(t->answers);
	*t = (struct table){ 0 };
	return false;
}

static void table_down(struct table *t)
{
	free(t->key);
	free(t->answers);
}

struct map_memo *map_memo_new(struct err *e)
{
	struct map_memo *m = calloc(1, sizeof *m);

	for (int i = 0; m && i < MAP_MEMO_KINDS; i++)
		if (!table_up(&m->of[i], PLACES_LEAST, bytes_of[i])) {
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
		table_down(&m->of[i]);
	if (m)
		partition_memo_clear(&m->spread);
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

static size_t map_memo_place(const struct table *t, uint64_t key, size_t probe)
{
	return (hash_mix(key) + probe) & (t->places - 1);
}

const void *map_memo_find(const struct map_memo *m, enum map_memo_kind kind, uint64_t key)
{
	const struct table *t = &m->of[kind];

	for (size_t i = 0; i < PROBES; i++)
		if (t->key[map_memo_place(t, key, i)] == key)
			return t->answers + map_memo_place(t, key, i) * bytes_of[kind];
	return NULL;
}

/* Where all places are taken the first is given up. */
static void map_memo_set(struct table *t, uint64_t key, const void *answer, size_t bytes)
{
	size_t i = 0, at;

	while (i < PROBES && t->key[map_memo_place(t, key, i)] && t->key[map_memo_place(t, key, i)] != key)
		i++;
	at = map_memo_place(t, key, i < PROBES ? i : 0);
	t->taken += !t->key[at];
	t->key[at] = key;
	memcpy(t->answers + at * bytes, answer, bytes);
}

/* Without memory for a larger one it stays as it is. */
static void table_grow(struct table *t, size_t bytes)
{
	struct table larger;

	if (!table_up(&larger, 2 * t->places, bytes))
		return;
	for (size_t i = 0; i < t->places; i++)
		if (t->key[i])
			map_memo_set(&larger, t->key[i], t->answers + i * bytes, bytes);
	table_down(t);
	*t = larger;
}

void map_memo_put(struct map_memo *m, enum map_memo_kind kind, uint64_t key, const void *answer)
{
	struct table *t = &m->of[kind];

	if (2 * t->taken >= t->places && t->places < PLACES_MOST)
		table_grow(t, bytes_of[kind]);
	map_memo_set(t, key, answer, bytes_of[kind]);
}
