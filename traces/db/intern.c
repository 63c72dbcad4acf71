/* intern.c - open addressing over one block of text; at most half the slots are in use. Both grow with use, so that
 * a small import costs little. */
#include "traces/db/intern.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct slot {
	uint64_t hash;
	int64_t id;
	size_t at, len;
}; /* id 0: free */

struct intern {
	struct slot *slots;
	char *text;
	size_t n_slots, n, max; /* n_slots: a power of two, or 0 at first */
	size_t used, room, max_bytes;
};

struct intern *intern_new(size_t max_texts, size_t max_bytes)
{
	struct intern *in = calloc(1, sizeof *in);

	if (!in)
		return NULL;
	in->max = max_texts;
	in->max_bytes = max_bytes;
	return in;
}

void intern_free(struct intern *in)
{
	if (!in)
		return;
	free(in->slots);
	free(in->text);
	free(in);
}

void intern_forget(struct intern *in)
{
	if (in->n)
		memset(in->slots, 0, in->n_slots * sizeof *in->slots);
	in->n = in->used = 0;
}

/* The slot that holds the text, or the free one where it belongs. */
static struct slot *intern_probe(const struct intern *in, const char *text, size_t n, uint64_t hash)
{
	size_t i = (size_t)(hash ^ hash >> 32) & (in->n_slots - 1);

	while (in->slots[i].id != 0) {
		const struct slot *s = &in->slots[i];

		if (s->hash == hash && s->len == n && (n == 0 || memcmp(in->text + s->at, text, n) == 0))
			break;
		i = (i + 1) & (in->n_slots - 1);
	}
	return &in->slots[i];
}

int64_t intern_find(const struct intern *in, const char *text, size_t n, uint64_t hash)
{
	return in->n ? intern_probe(in, text, n, hash)->id : 0;
}

static bool grow_slots(struct intern *in)
{
	const size_t n = in->n_slots ? 2 * in->n_slots : 64;
	struct slot *old = in->slots, *v = calloc(n, sizeof *v);
	const size_t n_old = in->n_slots;

	if (!v)
		return false;
	in->slots = v;
	in->n_slots = n;
	for (size_t k = 0; k < n_old; k++) {
		size_t i = (size_t)(old[k].hash ^ old[k].hash >> 32) & (n - 1);

		if (old[k].id == 0)
			continue;
		while (v[i].id != 0)
			i = (i + 1) & (n - 1);
		v[i] = old[k];
	}
	free(old);
	return true;
}

static bool grow_text(struct intern *in, size_t need)
{
	size_t room = in->room ? in->room : 4096;
	char *p;

	while (room < need)
		room *= 2;
	if (room > in->max_bytes)
		room = in->max_bytes;
	if (!(p = realloc(in->text, room)))
		return false;
	in->text = p;
	in->room = room;
	return true;
}

void intern_put(struct intern *in, const char *text, size_t n, uint64_t hash, int64_t id)
{
	struct slot *s;

	assert(id != 0);
	if (n > in->max_bytes)
		return;
	if (in->n == in->max || in->max_bytes - in->used < n)
		intern_forget(in);
	/* Without memory for it the text is not kept, which costs time only. */
	if (2 * (in->n + 1) > in->n_slots && !grow_slots(in))
		return;
	if (in->used + n > in->room && !grow_text(in, in->used + n))
		return;
	s = intern_probe(in, text, n, hash);
	if (s->id != 0)
		return;
	if (n) /* the first text may be the empty one: there is no room yet */
		memcpy(in->text + in->used, text, n);
	*s = (struct slot){ hash, id, in->used, n };
	in->used += n;
	in->n++;
}
