/* cache_tags_int.h - what the files of a tag store share: cache_tags.c does one chunk, cache_tags_run.c many in a row. */
#ifndef NPUSIM_ARCH_MEM_CACHE_TAGS_INT_H
#define NPUSIM_ARCH_MEM_CACHE_TAGS_INT_H

#include <assert.h>
#include <string.h>

#include "arch/comp.h"
#include "arch/mem/cache_tags.h"

#define TAG_NONE 0
#define BLOCK    64 /* sets that share a count of a tag */
#define GOLDEN   UINT64_C(0x9e3779b97f4a7c15)
#define ONES     UINT64_C(0x0101010101010101)

enum { KV, PIN, REST, PARTS };

struct cache_tags {
	uint64_t sets;
	uint32_t ways, words; /* signature words of a set: a byte a way */
	uint32_t share;       /* a tag is this many times the tag of the group of neighbours, and which of them */
	bool hash;
	size_t made, meta_bytes;
	const struct cache_policy_ops *policy;
	struct part {
		uint32_t first, ways;
		size_t at;
	} part[PARTS]; /* ways, and where its state is in a set's bytes */
	struct cache_use use;
	unsigned char *meta;       /* [set]: signatures, whether the set is made, policy state */
	struct cache_chunk *chunk; /* [way][set] */
	uint32_t *held;            /* chunks here of a block of sets and a tag, by their hash (I4) */
	unsigned held_bits;
};

static inline struct cache_chunk *entry(const struct cache_tags *t, uint64_t set, uint32_t way)
{
	return &t->chunk[way * t->sets + set];
}

static inline uint32_t *held_of(const struct cache_tags *t, uint64_t set, uint64_t tag)
{
	uint64_t x = (tag + set / BLOCK * UINT64_C(0xff51afd7ed558ccd)) * GOLDEN;

	return &t->held[x >> (64 - t->held_bits)];
}

/* Signatures of eight ways, way 8 i in the lowest byte on every host. */
static inline uint64_t sigs_of(const unsigned char *meta, uint32_t i)
{
	uint64_t x;

	memcpy(&x, meta + 8 * (size_t)i, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	return x;
}

static inline uint8_t *state_of(const struct cache_tags *t, uint64_t set, const struct part *part)
{
	return t->meta + set * t->meta_bytes + part->at;
}

static inline uint64_t skew_of(const struct cache_tags *t, uint64_t tag)
{
	return t->hash ? cache_tags_skew(tag, t->sets) : 0;
}

static inline uint64_t chunk_of(const struct cache_tags *t, uint64_t set, uint64_t entry)
{
	uint64_t tag = entry - 1, upper = t->share == 1 ? tag : tag / t->share, skew = skew_of(t, upper);
	uint64_t group = upper * t->sets + (set >= skew ? set - skew : set + t->sets - skew);

	return t->share == 1 ? group : group * t->share + tag % t->share;
}

/* So many sets on, of those that are alike. */
static inline void pass(const struct cache_tags *t, struct cache_place *p, uint64_t n)
{
	if ((p->set += n) == t->sets)
		p->set = 0;
	if (n && p->set == p->skew) {
		p->set = p->skew = skew_of(t, (p->tag - 1) / t->share + 1);
		p->tag += t->share;
	}
}

/* A byte of the tag, so that one word tells which of eight ways may hold it. */
static inline unsigned char sig(uint64_t tag)
{
	return (unsigned char)((tag * GOLDEN) >> 56);
}

static inline uint32_t find(const struct cache_tags *t, struct cache_place p)
{
	const unsigned char *meta = t->meta + p.set * t->meta_bytes;
	const uint64_t want = sig(p.tag) * ONES;

	for (uint32_t i = 0; i < t->words; i++) {
		uint64_t x = sigs_of(meta, i) ^ want, zero = (x - ONES) & ~x & (ONES << 7);

		/* A byte above a zero byte may look like one: the tag decides. */
		for (; zero; zero &= zero - 1) {
			uint32_t way = 8 * i + (uint32_t)__builtin_ctzll(zero) / 8;

			if (way < t->ways && entry(t, p.set, way)->tag == p.tag)
				return way;
		}
	}
	return t->ways;
}

/* Where a chunk is, the guess first, which is the place's from then on; NULL: it is not here. */
static inline struct cache_chunk *locate(const struct cache_tags *t, struct cache_place *p)
{
	struct cache_chunk *c = entry(t, p->set, p->way);
	uint32_t way;

	if (c->tag == p->tag)
		return c;
	if ((way = find(t, *p)) == t->ways)
		return NULL;
	p->way = way;
	return entry(t, p->set, way);
}

static inline const struct part *part_of(const struct cache_tags *t, uint32_t way)
{
	return &t->part[way >= t->part[REST].first ? REST : way >= t->part[PIN].first ? PIN : KV];
}

static inline const struct part *part_for(const struct cache_tags *t, uint8_t cls) /* I2 */
{
	return &t->part[cls == MEM_KV && t->part[KV].ways ? KV : REST];
}

/* The policies' state of a set nothing was put into so far. */
static inline void make_set(const struct cache_tags *t, unsigned char *meta)
{
	for (int i = 0; i < PARTS; i++)
		if (t->part[i].ways && i != PIN)
			t->policy->init(meta + t->part[i].at, t->part[i].ways);
	meta[t->made] = 1;
}

/* The way its set gives a chunk, which stands in the set's signatures from now on; what was there is still in it. */
static inline struct cache_chunk *make_room(struct cache_tags *t, const struct part *part, struct cache_place *p,
                                            unsigned char mark)
{
	unsigned char *meta = t->meta + p->set * t->meta_bytes;

	if (!meta[t->made])
		make_set(t, meta);
	t->use.set = p->set;
	if (part == &t->part[PIN])
		p->way = part->first + meta[part->at]++;
	else
		p->way = part->first + t->policy->replace(meta + part->at, part->ways, &t->use);
	meta[p->way] = mark;
	return entry(t, p->set, p->way);
}

#endif
