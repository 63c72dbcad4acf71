#include "arch/l2_tags.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define HOST_LINE 64
#define TAG_NONE UINT64_MAX
#define ONES UINT64_C(0x0101010101010101)

struct l2_tags {
	uint64_t sets;
	uint32_t ways, words;        /* signature words of a set: a byte a way */
	size_t meta_bytes, set_bytes;
	const struct l2_policy_ops *policy;
	unsigned char *meta;         /* [set]: signatures, policy state */
	struct l2_chunk *chunk;      /* [set][way] */
};

static size_t host_lines(size_t bytes)
{
	return (bytes + HOST_LINE - 1) / HOST_LINE * HOST_LINE;
}

static void *lines_alloc(uint64_t n, size_t bytes)
{
	if (n > SIZE_MAX / 2 / bytes)
		return NULL;
	return aligned_alloc(HOST_LINE, host_lines((size_t)n * bytes));
}

struct l2_tags *l2_tags_new(uint64_t sets, uint32_t ways, const struct l2_policy_ops *policy, struct err *e)
{
	struct l2_tags *t = calloc(1, sizeof *t);

	assert(sets > 0 && ways > 0 && ways <= L2_WAYS_MAX);
	if (!t)
		goto nomem;
	t->sets = sets;
	t->ways = ways;
	t->words = (ways + 7) / 8;
	t->policy = policy;
	t->meta_bytes = host_lines(t->words * sizeof(uint64_t) + policy->state_bytes(ways));
	t->set_bytes = ways * sizeof *t->chunk;
	t->meta = lines_alloc(sets, t->meta_bytes);
	t->chunk = lines_alloc(sets, t->set_bytes);
	if (!t->meta || !t->chunk)
		goto nomem;
	l2_tags_reset(t);
	return t;
nomem:
	err_set(e, ERR_NOMEM, "out of memory for the tags of %llu sets", (unsigned long long)sets);
	l2_tags_free(t);
	return NULL;
}

void l2_tags_free(struct l2_tags *t)
{
	if (!t)
		return;
	free(t->meta);
	free(t->chunk);
	free(t);
}

static uint64_t *sigs_of(const struct l2_tags *t, uint64_t set)
{
	return (uint64_t *)(void *)(t->meta + set * t->meta_bytes);
}

static uint8_t *state_of(const struct l2_tags *t, uint64_t set)
{
	return t->meta + set * t->meta_bytes + t->words * sizeof(uint64_t);
}

void l2_tags_reset(struct l2_tags *t)
{
	for (uint64_t s = 0; s < t->sets; s++) {
		memset(t->meta + s * t->meta_bytes, 0, t->meta_bytes);
		t->policy->init(state_of(t, s), t->ways);
		for (uint32_t w = 0; w < t->ways; w++)
			t->chunk[s * t->ways + w] = (struct l2_chunk){ .tag = TAG_NONE };
	}
}

struct l2_place l2_tags_place(const struct l2_tags *t, uint64_t chunk)
{
	uint64_t tag = chunk / t->sets;

	return (struct l2_place){ chunk - tag * t->sets, tag, 0 };
}

void l2_tags_next(const struct l2_tags *t, struct l2_place *p)
{
	if (++p->set == t->sets) {
		p->set = 0;
		p->tag++;
	}
}

/* A byte of the tag, so that one word tells which of eight ways may hold it. */
static uint64_t sig(uint64_t tag)
{
	return (tag * UINT64_C(0x9e3779b97f4a7c15)) >> 56;
}

static inline uint32_t find(const struct l2_tags *t, struct l2_place p)
{
	const uint64_t *sigs = sigs_of(t, p.set), want = sig(p.tag) * ONES;
	const struct l2_chunk *c = &t->chunk[p.set * t->ways];

	for (uint32_t i = 0; i < t->words; i++) {
		uint64_t x = sigs[i] ^ want, zero = (x - ONES) & ~x & (ONES << 7);

		/* A byte above a zero byte may look like one: the tag decides. */
		for (; zero; zero &= zero - 1) {
			uint32_t way = 8 * i + (uint32_t)__builtin_ctzll(zero) / 8;

			if (way < t->ways && c[way].tag == p.tag)
				return way;
		}
	}
	return t->ways;
}

struct l2_chunk *l2_tags_peek(const struct l2_tags *t, struct l2_place p)
{
	uint32_t way = find(t, p);

	return way < t->ways ? &t->chunk[p.set * t->ways + way] : NULL;
}

struct l2_chunk *l2_tags_hit(struct l2_tags *t, struct l2_place *p)
{
	struct l2_chunk *set = &t->chunk[p->set * t->ways];

	if (set[p->way].tag != p->tag) {
		uint32_t way = find(t, *p);

		if (way == t->ways)
			return NULL;
		p->way = way;
	}
	t->policy->hit(state_of(t, p->set), t->ways, p->way);
	return &set[p->way];
}

struct l2_chunk *l2_tags_insert(struct l2_tags *t, struct l2_place *p, struct l2_chunk *old, uint64_t *old_chunk)
{
	uint32_t way = t->policy->replace(state_of(t, p->set), t->ways);
	struct l2_chunk *c = &t->chunk[p->set * t->ways + way];
	uint64_t *word = &sigs_of(t, p->set)[way / 8];
	unsigned shift = way % 8 * 8;

	*old = *c;
	*old_chunk = c->tag * t->sets + p->set;
	*word = (*word & ~(UINT64_C(0xff) << shift)) | sig(p->tag) << shift;
	*c = (struct l2_chunk){ .tag = p->tag };
	p->way = way;
	return c;
}
