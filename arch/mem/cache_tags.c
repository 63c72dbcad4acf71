#include "arch/mem/cache_tags_int.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/base/pages.h"

#define HOST_LINE PAGES_ALIGN
#define AHEAD     4  /* sets */
#define HELD_MAX  20 /* log2 of the most counts */

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
	t->use.sets = t->sets;
	t->use.weight = cfg->stands_for ? (int32_t)cfg->stands_for : 1;
	t->part[KV] = (struct part){ 0, cfg->kv_ways, at };
	at += cfg->kv_ways ? t->policy->state_bytes(cfg->kv_ways) : 0;
	t->part[PIN] =
		(struct part){ cfg->kv_ways, cfg->pin_ways, at++ }; /* its state: how many of its ways are taken */
	t->part[REST] = (struct part){ cfg->kv_ways + cfg->pin_ways, t->ways - cfg->kv_ways - cfg->pin_ways, at };
	t->meta_bytes = host_lines(at + t->policy->state_bytes(t->part[REST].ways));
	t->meta = pages_new(t->sets, t->meta_bytes);
	t->chunk = pages_new(t->sets * t->ways, sizeof *t->chunk);
	for (t->held_bits = 4; t->held_bits < HELD_MAX && t->sets * t->ways >> t->held_bits > BLOCK / 16;)
		t->held_bits++;
	t->held = pages_new(UINT64_C(1) << t->held_bits, sizeof *t->held);
	if (!t->meta || !t->chunk || !t->held)
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
	pages_free(t->held, UINT64_C(1) << t->held_bits, sizeof *t->held);
	free(t);
}

void cache_tags_reset(struct cache_tags *t)
{
	t->use = (struct cache_use){ .sets = t->sets, .weight = t->use.weight };
	pages_zero(t->meta, t->sets, t->meta_bytes);
	pages_zero(t->chunk, t->sets * t->ways, sizeof *t->chunk);
	pages_zero(t->held, UINT64_C(1) << t->held_bits, sizeof *t->held);
}

uint64_t cache_tags_skew(uint64_t tag, uint64_t sets)
{
	uint64_t x = tag * GOLDEN;

	return (x ^ x >> 32) % sets;
}

struct cache_place cache_tags_place(const struct cache_tags *t, uint64_t chunk)
{
	uint64_t group = t->share == 1 ? chunk : chunk / t->share, tag = group / t->sets;
	uint64_t skew = skew_of(t, tag), set = group - tag * t->sets + skew;

	if (t->share > 1)
		tag = tag * t->share + chunk % t->share;
	return (struct cache_place){ .set = set < t->sets ? set : set - t->sets, .tag = tag + 1, .skew = skew };
}

void cache_tags_next(const struct cache_tags *t, struct cache_place *p)
{
	pass(t, p, 1);
}

uint64_t cache_tags_number(const struct cache_tags *t, uint64_t set, uint64_t tag)
{
	return chunk_of(t, set, tag);
}

void cache_tags_ahead(const struct cache_tags *t, const struct cache_place *p)
{
	uint64_t set = p->set + AHEAD;

	set = set < t->sets ? set : set % t->sets;
	__builtin_prefetch(t->meta + set * t->meta_bytes, 1);
	__builtin_prefetch(entry(t, set, p->way), 1);
}

struct cache_chunk *cache_tags_peek(const struct cache_tags *t, struct cache_place p)
{
	uint32_t way = find(t, p);

	return way < t->ways ? entry(t, p.set, way) : NULL;
}

const struct cache_chunk *cache_tags_look(const struct cache_tags *t, struct cache_place *p)
{
	return locate(t, p);
}

struct cache_chunk *cache_tags_hit(struct cache_tags *t, struct cache_place *p, uint64_t mask)
{
	struct cache_chunk *c = locate(t, p);
	const struct part *part;

	if (!c)
		return NULL;
	part = part_of(t, p->way);
	t->use.set = p->set;
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

struct cache_chunk *cache_tags_insert(struct cache_tags *t, struct cache_place *p, uint8_t cls, struct cache_chunk *old)
{
	const struct part *part = cache_tags_pins(t, *p, cls) ? &t->part[PIN] : part_for(t, cls);
	struct cache_chunk *c;

	t->use.cls = cls;
	c = make_room(t, part, p, sig(p->tag));
	*old = *c;
	if (t->share == 1) {
		if (old->tag)
			--*held_of(t, p->set, old->tag);
		++*held_of(t, p->set, p->tag);
	}
	*c = (struct cache_chunk){ .tag = p->tag };
	return c;
}

void cache_tags_drop(struct cache_tags *t, struct cache_place p)
{
	uint32_t way = find(t, p);
	const struct part *part = part_of(t, way);

	assert(way < t->ways);
	assert(part != &t->part[PIN]); /* I3 */
	t->policy->drop(state_of(t, p.set, part), part->ways, way - part->first);
	if (t->share == 1)
		--*held_of(t, p.set, p.tag);
	*entry(t, p.set, way) = (struct cache_chunk){ .tag = TAG_NONE };
}
