#include "arch/mem/cache_tags.h"

#include <assert.h>
#include <stdlib.h>

#include "arch/comp.h"
#include "sim/base/pages.h"

#define HOST_LINE PAGES_ALIGN
#define AHEAD     4 /* sets */
#define TAG_NONE  0
#define ONES      UINT64_C(0x0101010101010101)

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
};

static size_t host_lines(size_t bytes)
{
	return (bytes + HOST_LINE - 1) / HOST_LINE * HOST_LINE;
}

struct cache_tags *cache_tags_new(const struct cache_tags_cfg *cfg, struct err *e)
{
	struct cache_tags *t = calloc(1, sizeof *t);
	size_t at;

	assert(cfg->sets > 0 && cfg->ways <= CACHE_WAYS_MAX && cfg->kv_ways + cfg->pin_ways < cfg->ways);
	if (!t)
		goto nomem;
	t->sets = cfg->sets;
	t->ways = cfg->ways;
	t->words = (t->ways + 7) / 8;
	t->made = t->words * sizeof(uint64_t);
	at = t->made + 1;
	t->hash = cfg->hash;
	t->share = cfg->share > 1 ? cfg->share : 1;
	t->policy = cfg->policy;
	t->part[KV] = (struct part){ 0, cfg->kv_ways, at };
	at += cfg->kv_ways ? t->policy->state_bytes(cfg->kv_ways) : 0;
	t->part[PIN] =
		(struct part){ cfg->kv_ways, cfg->pin_ways, at++ }; /* its state: how many of its ways are taken */
	t->part[REST] = (struct part){ cfg->kv_ways + cfg->pin_ways, t->ways - cfg->kv_ways - cfg->pin_ways, at };
	t->meta_bytes = host_lines(at + t->policy->state_bytes(t->part[REST].ways));
	t->meta = pages_new(t->sets, t->meta_bytes);
	t->chunk = pages_new(t->sets * t->ways, sizeof *t->chunk);
	if (!t->meta || !t->chunk)
		goto nomem;
	return t;
nomem:
	err_set(e, ERR_NOMEM, "out of memory for the tags of %llu sets", (unsigned long long)cfg->sets);
	cache_tags_free(t);
	return NULL;
}

void cache_tags_free(struct cache_tags *t)
{
	if (!t)
		return;
	pages_free(t->meta, t->sets, t->meta_bytes);
	pages_free(t->chunk, t->sets * t->ways, sizeof *t->chunk);
	free(t);
}

static inline struct cache_chunk *entry(const struct cache_tags *t, uint64_t set, uint32_t way)
{
	return &t->chunk[way * t->sets + set];
}

static uint64_t *sigs_of(const struct cache_tags *t, uint64_t set)
{
	return (uint64_t *)(void *)(t->meta + set * t->meta_bytes);
}

static uint8_t *state_of(const struct cache_tags *t, uint64_t set, const struct part *part)
{
	return t->meta + set * t->meta_bytes + part->at;
}

void cache_tags_reset(struct cache_tags *t)
{
	t->use = (struct cache_use){ .set = 0 };
	pages_zero(t->meta, t->sets, t->meta_bytes);
	pages_zero(t->chunk, t->sets * t->ways, sizeof *t->chunk);
}

/* The policies' state of a set nothing was put into so far. */
static void make_set(const struct cache_tags *t, unsigned char *meta)
{
	for (int i = 0; i < PARTS; i++)
		if (t->part[i].ways && i != PIN)
			t->policy->init(meta + t->part[i].at, t->part[i].ways);
	meta[t->made] = 1;
}

static uint64_t skew_of(const struct cache_tags *t, uint64_t tag)
{
	uint64_t x = tag * UINT64_C(0x9e3779b97f4a7c15);

	return t->hash ? (x ^ x >> 32) % t->sets : 0;
}

struct cache_place cache_tags_place(const struct cache_tags *t, uint64_t chunk)
{
	uint64_t group = t->share == 1 ? chunk : chunk / t->share, tag = group / t->sets;
	uint64_t skew = skew_of(t, tag), set = group - tag * t->sets + skew;

	if (t->share > 1)
		tag = tag * t->share + chunk % t->share;
	return (struct cache_place){ .set = set < t->sets ? set : set - t->sets, .tag = tag + 1, .skew = skew };
}

static uint64_t chunk_of(const struct cache_tags *t, uint64_t set, uint64_t entry)
{
	uint64_t tag = entry - 1, upper = t->share == 1 ? tag : tag / t->share, skew = skew_of(t, upper);
	uint64_t group = upper * t->sets + (set >= skew ? set - skew : set + t->sets - skew);

	return t->share == 1 ? group : group * t->share + tag % t->share;
}

void cache_tags_next(const struct cache_tags *t, struct cache_place *p)
{
	assert(t->share == 1);
	if (++p->set == t->sets)
		p->set = 0;
	if (p->set == p->skew) {
		p->set = p->skew = skew_of(t, p->tag);
		p->tag++;
	}
}

void cache_tags_ahead(const struct cache_tags *t, const struct cache_place *p)
{
	uint64_t set = p->set + AHEAD;

	set = set < t->sets ? set : set % t->sets;
	__builtin_prefetch(t->meta + set * t->meta_bytes, 1);
	__builtin_prefetch(entry(t, set, p->way), 1);
}

/* A byte of the tag, so that one word tells which of eight ways may hold it. */
static uint64_t sig(uint64_t tag)
{
	return (tag * UINT64_C(0x9e3779b97f4a7c15)) >> 56;
}

static inline uint32_t find(const struct cache_tags *t, struct cache_place p)
{
	const uint64_t *sigs = sigs_of(t, p.set), want = sig(p.tag) * ONES;

	for (uint32_t i = 0; i < t->words; i++) {
		uint64_t x = sigs[i] ^ want, zero = (x - ONES) & ~x & (ONES << 7);

		/* A byte above a zero byte may look like one: the tag decides. */
		for (; zero; zero &= zero - 1) {
			uint32_t way = 8 * i + (uint32_t)__builtin_ctzll(zero) / 8;

			if (way < t->ways && entry(t, p.set, way)->tag == p.tag)
				return way;
		}
	}
	return t->ways;
}

struct cache_chunk *cache_tags_peek(const struct cache_tags *t, struct cache_place p)
{
	uint32_t way = find(t, p);

	return way < t->ways ? entry(t, p.set, way) : NULL;
}

const struct cache_chunk *cache_tags_look(const struct cache_tags *t, struct cache_place *p)
{
	const struct cache_chunk *c = entry(t, p->set, p->way);
	uint32_t way;

	if (c->tag == p->tag)
		return c;
	if ((way = find(t, *p)) == t->ways)
		return NULL;
	p->way = way;
	return entry(t, p->set, way);
}

static const struct part *part_of(const struct cache_tags *t, uint32_t way)
{
	return &t->part[way >= t->part[REST].first ? REST : way >= t->part[PIN].first ? PIN : KV];
}

struct cache_chunk *cache_tags_hit(struct cache_tags *t, struct cache_place *p, uint64_t mask)
{
	struct cache_chunk *c = entry(t, p->set, p->way);
	const struct part *part;

	if (c->tag != p->tag) {
		uint32_t way = find(t, *p);

		if (way == t->ways)
			return NULL;
		p->way = way;
		c = entry(t, p->set, way);
	}
	part = part_of(t, p->way);
	t->use.reused = c->valid & mask;
	if (part != &t->part[PIN])
		t->policy->hit(state_of(t, p->set, part), part->ways, p->way - part->first, &t->use);
	return c;
}

bool cache_tags_pins(const struct cache_tags *t, struct cache_place p, uint8_t cls)
{
	const struct part *pin = &t->part[PIN];

	return cls == MEM_WEIGHT && pin->ways && *state_of(t, p.set, pin) < pin->ways;
}

struct cache_chunk *cache_tags_insert(struct cache_tags *t, struct cache_place *p, uint8_t cls, struct cache_chunk *old,
                                      uint64_t *old_chunk)
{
	bool pin = cache_tags_pins(t, *p, cls);
	const struct part *part = &t->part[pin ? PIN : cls == MEM_KV && t->part[KV].ways ? KV : REST]; /* I2 */
	unsigned char *meta = t->meta + p->set * t->meta_bytes;
	struct cache_chunk *c;
	uint64_t *word;
	uint32_t way;
	unsigned shift;

	if (!meta[t->made])
		make_set(t, meta);
	t->use.set = p->set;
	t->use.cls = cls;
	if (pin)
		way = part->first + meta[part->at]++;
	else
		way = part->first + t->policy->replace(meta + part->at, part->ways, &t->use);
	c = entry(t, p->set, way);
	word = &((uint64_t *)(void *)meta)[way / 8];
	shift = way % 8 * 8;
	*old = *c;
	if (old->valid)
		*old_chunk = chunk_of(t, p->set, c->tag);
	*word = (*word & ~(UINT64_C(0xff) << shift)) | sig(p->tag) << shift;
	*c = (struct cache_chunk){ .tag = p->tag };
	p->way = way;
	return c;
}

void cache_tags_drop(struct cache_tags *t, struct cache_place p)
{
	uint32_t way = find(t, p);
	const struct part *part = part_of(t, way);

	assert(way < t->ways);
	assert(part != &t->part[PIN]); /* I3 */
	t->policy->drop(state_of(t, p.set, part), part->ways, way - part->first);
	*entry(t, p.set, way) = (struct cache_chunk){ .tag = TAG_NONE };
}
