#include "arch/mem/kv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "arch/mem/memq.h"
#include "arch/mem/memslot.h"
#include "arch/watch.h"
#include "sim/base/hash.h"
#include "sim/base/pages.h"

#define REQUESTS      256
#define LINES         ((uint32_t)(KV_CHUNK / KV_LINE))
#define KV_LINE_SHIFT 7
#define MASK_RUNS     (LINES / 2)     /* most runs of lines in one chunk */
#define TABLE_FIRST   UINT64_C(65536) /* places of the table before it grows; 16,384 chunks are 64 MiB */

const struct cfg_field kv_schema[] = {
	CFG_BYTES(struct kv_cfg, size, "size", "0", 0, UINT64_C(1) << 40, NULL, "capacity; 0: no KV buffer",
	          "our choice: absent unless asked for"),
	CFG_RATE(struct kv_cfg, bandwidth, "bandwidth", "4 TB/s", 1000000, UINT64_C(1000000000000000), NULL,
	         "reads and writes together", "our choice: about half of an H100's L2"),
	CFG_PS(struct kv_cfg, latency, "latency", "50 ns", 0, 100 * PS_US, NULL, "door to door",
	       "our choice: a third of an H100's L2, being near and without tags to search"),
	CFG_BOOL(struct kv_cfg, spill, "spill", "true",
	         "what does not fit goes to the level below; false: a KV cache that does not fit is an error",
	         "our choice: a larger context is slower, not impossible"),
	CFG_END
};

int kv_cfg_check(const struct kv_cfg *c, struct err *e)
{
	if (c->size % KV_CHUNK)
		return err_set(e, ERR_CONFIG, "'kv_buffer.size' is no whole number of %llu B chunks",
		               (unsigned long long)KV_CHUNK);
	return 0;
}

/* valid, dirty: bit i is line i. `fill`: which fill may still be bringing lines. */
struct chunk {
	uint64_t number;
	uint32_t valid, dirty, fill;
};

struct kv {
	struct comp comp;
	struct chunk *chunk; /* in the order in which they were taken in */
	uint32_t *table;     /* their places in `chunk` plus one, 0: none; open addressing, at most half full */
	uint64_t table_mask, table_max, chunks, chunks_max;
	uint64_t lowest, highest; /* of the numbers of its chunks */
	struct memslots *slots;
	struct memq *down;
	struct memq_wait wait;
	struct memslot *parked; /* its walk waits for a request to the level below */
	uint64_t bandwidth;
	uint64_t read_bytes, write_bytes, hit_bytes, fill_bytes, spill_read_bytes, spill_write_bytes, resident_bytes;
	uint64_t dirty_bytes, requests, refusals, busy_ps;
};

static bool kv_room(const struct comp *c)
{
	const struct kv *k = (const struct kv *)c;

	return !k->parked && memslots_room(k->slots);
}

/* Where the number stands in the table, or the empty place where it belongs. */
static uint64_t kv_place_of(const struct kv *k, uint64_t number)
{
	uint64_t i = hash_mix(number) & k->table_mask;

	while (k->table[i] && k->chunk[k->table[i] - 1].number != number)
		i = (i + 1) & k->table_mask;
	return i;
}

/* NULL: it is not here. */
static struct chunk *look_up(const struct kv *k, uint64_t number)
{
	uint32_t at = k->table[kv_place_of(k, number)];

	return at ? &k->chunk[at - 1] : NULL;
}

/* Twice the places. All that it may ever have were set aside at first. */
static void kv_grow(struct kv *k)
{
	for (uint64_t i = 0; i <= k->table_mask; i++)
		k->table[i] = 0;
	k->table_mask = 2 * k->table_mask + 1;
	for (uint64_t i = 0; i < k->chunks; i++)
		k->table[kv_place_of(k, k->chunk[i].number)] = (uint32_t)i + 1;
}

static uint64_t kv_bytes_of(uint32_t mask)
{
	return (uint64_t)__builtin_popcount(mask) * KV_LINE;
}

static uint64_t end_line(const struct mem_run *r)
{
	return r->bytes ? (r->addr + r->bytes - 1) / KV_LINE + 1 : r->addr / KV_LINE;
}

static void add_lines(struct memq_sub *s, uint64_t chunk, uint32_t mask)
{
	memq_add_mask(s, chunk * KV_CHUNK, KV_LINE_SHIFT, mask);
}

static void send_ask(struct kv *k, struct memslot *s)
{
	struct memq_sub *ask = s->ask;

	s->ask = NULL;
	memq_send(k->down, ask);
}

/* The request to the level below has room for any chunk's runs and is of the right sort; false: none is free. */
static bool ask_room(struct kv *k, struct memslot *s, bool no_keep)
{
	if (s->ask && (s->ask->rq.n_runs + MASK_RUNS > MEMQ_RUNS || s->ask->rq.no_keep != no_keep))
		send_ask(k, s);
	if (s->ask)
		return true;
	if (!(s->ask = memq_take(k->down, MEMQ_ASK)))
		return false;
	s->ask->owner = s;
	s->ask->rq.write = s->rq->write;
	s->ask->rq.cls = s->rq->cls;
	s->ask->rq.urgency = s->rq->urgency;
	s->ask->rq.no_keep = no_keep;
	s->ask->rq.one_core = s->rq->one_core;
	s->ask->rq.not_before = s->start;
	memslots_asked(s);
	return true;
}

static struct chunk *take_in(struct kv *k, uint64_t number)
{
	struct chunk *c = &k->chunk[k->chunks];

	assert(k->chunks < k->chunks_max); /* I1 */
	if (2 * k->chunks > k->table_mask && k->table_mask + 1 < k->table_max)
		kv_grow(k);
	*c = (struct chunk){ .number = number };
	k->lowest = k->chunks && k->lowest < number ? k->lowest : number;
	k->highest = k->chunks && k->highest > number ? k->highest : number;
	k->table[kv_place_of(k, number)] = (uint32_t)++k->chunks;
	return c;
}

static bool read_chunk(struct kv *k, struct memslot *s, uint64_t number, uint32_t mask)
{
	struct chunk *c = look_up(k, number);
	bool known = c != NULL, keep = known || k->chunks < k->chunks_max;
	uint32_t here = known ? c->valid & mask : 0, missing = mask & ~here;

	if (missing && !ask_room(k, s, keep))
		return false;
	if (keep && !known)
		c = take_in(k, number);
	if (known && c->fill && !memslots_depend(k->slots, s, c->fill)) /* I4: lines found here may be on their way */
		c->fill = 0;
	if (missing) {
		add_lines(s->ask, number, missing);
		if (keep) {
			memslots_fill(k->slots, s);
			c->fill = s->fill;
			c->valid |= missing;
			k->fill_bytes += kv_bytes_of(missing);
			k->resident_bytes += kv_bytes_of(missing);
		} else {
			k->spill_read_bytes += kv_bytes_of(missing);
		}
	}
	k->hit_bytes += kv_bytes_of(here);
	s->rq->hit_bytes += kv_bytes_of(here);
	return true;
}

static bool write_chunk(struct kv *k, struct memslot *s, uint64_t number, uint32_t mask)
{
	struct chunk *c = look_up(k, number);

	if (!c && k->chunks == k->chunks_max) {
		if (!ask_room(k, s, false))
			return false;
		add_lines(s->ask, number, mask);
		k->spill_write_bytes += kv_bytes_of(mask);
		return true;
	}
	if (!c)
		c = take_in(k, number);
	k->resident_bytes += kv_bytes_of(mask & ~c->valid);
	k->dirty_bytes += kv_bytes_of(mask & ~c->dirty);
	c->valid |= mask;
	c->dirty |= mask;
	k->hit_bytes += kv_bytes_of(mask);
	s->rq->hit_bytes += kv_bytes_of(mask);
	return true;
}

/* Lines from `line` on that spill together, behind some that have just been asked for: it is full, and none of their
 * chunks is among its own. They are asked for as one by one; returns how many. */
static uint64_t spill(struct kv *k, struct memslot *s, uint64_t line, uint64_t end)
{
	struct mem_req *ask = s->ask ? &s->ask->rq : NULL;
	struct mem_run *last = ask && ask->n_runs ? &s->ask->runs[ask->n_runs - 1] : NULL;
	uint64_t bytes;

	if (!last || ask->no_keep || ask->n_runs + MASK_RUNS > MEMQ_RUNS || k->chunks < k->chunks_max ||
	    last->addr + last->bytes != line * KV_LINE)
		return 0;
	if (k->chunks && line / LINES < k->lowest)
		end = ps_min(end, k->lowest * LINES);
	else if (k->chunks && line / LINES <= k->highest)
		return 0;
	bytes = (end - line) * KV_LINE;
	last->bytes += bytes;
	ask->bytes += bytes;
	if (s->rq->write)
		k->spill_write_bytes += bytes;
	else
		k->spill_read_bytes += bytes;
	return end - line;
}

static void walk(struct kv *k, struct memslot *s)
{
	k->parked = NULL;
	for (; s->run < s->rq->n_runs; s->run++, s->line = UINT64_MAX) {
		const struct mem_run *r = &s->rq->runs[s->run];
		uint64_t line = s->line == UINT64_MAX ? r->addr / KV_LINE : s->line, end = end_line(r);

		while (line < end) {
			uint32_t lo = (uint32_t)(line % LINES);
			uint64_t n = ps_min(LINES - lo, end - line);
			uint32_t mask = (uint32_t)memq_mask(lo, n);
			bool done = s->rq->write ? write_chunk(k, s, line / LINES, mask)
			                         : read_chunk(k, s, line / LINES, mask);

			if (!done) {
				s->line = line;
				k->parked = s;
				return;
			}
			line += n;
			line += line < end ? spill(k, s, line, end) : 0;
		}
	}
	if (s->ask)
		send_ask(k, s);
	memslots_walked(k->slots, s);
}

static bool kv_take(struct comp *c, struct mem_req *r)
{
	struct kv *k = (struct kv *)c;
	struct memslot *s;
	uint64_t bytes = 0;
	ps_t span;

	assert(r->cls == MEM_KV);
	if (!memq_wait_turn(&k->wait, r->from) || !kv_room(c)) {
		memq_wait_add(&k->wait, r->from); /* I3 */
		k->refusals++;
		return false;
	}
	s = memslots_take(k->slots, r);
	for (uint32_t i = 0; i < r->n_runs; i++)
		bytes += (end_line(&r->runs[i]) - r->runs[i].addr / KV_LINE) * KV_LINE;
	span = clock_transfer(bytes, k->bandwidth); /* what spills passes through too */
	memslots_serve(k->slots, s, ps_max(evq_now(c->env.q), r->not_before), span);
	r->level = RES_KV;
	k->busy_ps += span;
	k->requests++;
	if (r->write)
		k->write_bytes += bytes;
	else
		k->read_bytes += bytes;
	walk(k, s);
	return true;
}

static void go_on(struct kv *k)
{
	if (k->parked)
		walk(k, k->parked);
	memq_wait_wake(&k->wait, &k->comp, kv_room);
}

static void kv_reply(struct comp *c, struct mem_req *r)
{
	struct kv *k = (struct kv *)c;
	struct memq_sub *s = (struct memq_sub *)r; /* rq is its first member */

	memslots_answered(k->slots, s->owner, s);
	memq_give(k->down, s);
	go_on(k);
}

static void kv_retry(struct comp *c, struct comp *below)
{
	struct kv *k = (struct kv *)c;

	(void)below;
	memq_retry(k->down);
	go_on(k);
}

/* What it gave way for is known now. */
__attribute__((cold, noinline)) static void tell(const struct kv *k, const struct mem_req *r, ps_t from, ps_t to)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < r->n_runs; i++)
		bytes += (end_line(&r->runs[i]) - r->runs[i].addr / KV_LINE) * KV_LINE;
	watch_busy(k->comp.env.watch, RES_KV, from, to, WATCH_NO_CMD);
	watch_moved(k->comp.env.watch, RES_KV, r->write, from, to, bytes);
}

static void freed(struct comp *c, const struct mem_req *r, ps_t from, ps_t to)
{
	struct kv *k = (struct kv *)c;

	if (c->env.watch)
		tell(k, r, from, to);
	memq_wait_wake(&k->wait, c, kv_room);
}

static void kv_explain(const struct comp *c, struct str *out)
{
	const struct kv *k = (const struct kv *)c;

	str_addf(out,
	         "kv_buffer: %u of %u requests held, %llu of %llu chunks taken, %u requests refused below, %u refused "
	         "senders waiting%s",
	         memslots_held(k->slots), REQUESTS, (unsigned long long)k->chunks, (unsigned long long)k->chunks_max,
	         memq_waiting(k->down, MEMQ_ASK), k->wait.n, k->parked ? ", a request waits for the level below" : "");
}

static uint64_t resident(const struct comp *c, uint64_t addr, uint64_t bytes)
{
	const struct kv *k = (const struct kv *)c;
	const struct mem_run r = { addr, bytes };
	uint64_t found = 0, end = end_line(&r);

	for (uint64_t line = addr / KV_LINE; line < end;) {
		const struct chunk *x = look_up(k, line / LINES);
		uint64_t stop = ps_min((line / LINES + 1) * LINES, end);

		for (; line < stop; line++)
			if (x && x->valid >> line % LINES & 1)
				found += ps_min((line + 1) * KV_LINE, addr + bytes) - ps_max(line * KV_LINE, addr);
	}
	return found;
}

static void kv_reset(struct comp *c)
{
	struct kv *k = (struct kv *)c;

	pages_zero(k->table, k->table_max, sizeof *k->table);
	k->table_mask = ps_min(k->table_max, TABLE_FIRST) - 1;
	memslots_reset(k->slots);
	memq_reset(k->down);
	memq_wait_reset(&k->wait);
	k->parked = NULL;
	k->chunks = 0;
	k->resident_bytes = k->dirty_bytes = 0;
}

static void kv_release(struct comp *c)
{
	struct kv *k = (struct kv *)c;

	if (!k)
		return;
	pages_free(k->table, k->table_max, sizeof *k->table);
	pages_free(k->chunk, k->chunks_max, sizeof *k->chunk);
	memslots_free(k->slots);
	memq_free(k->down);
	free(k);
}

static int kv_register_stats(struct kv *k, struct err *e)
{
	const struct stat_row rows[] = {
		{ "kv_buffer.read_bytes", "B", "bytes asked by reads, in whole lines", STAT_COUNT, &k->read_bytes },
		{ "kv_buffer.write_bytes", "B", "bytes asked by writes, in whole lines", STAT_COUNT, &k->write_bytes },
		{ "kv_buffer.hit_bytes", "B", "bytes read or written here", STAT_COUNT, &k->hit_bytes },
		{ "kv_buffer.fill_bytes", "B", "bytes fetched on first touch and kept", STAT_COUNT, &k->fill_bytes },
		{ "kv_buffer.spill_read_bytes", "B", "bytes read from the level below, no room to keep them",
		  STAT_COUNT, &k->spill_read_bytes },
		{ "kv_buffer.spill_write_bytes", "B", "bytes written to the level below, no room for them", STAT_COUNT,
		  &k->spill_write_bytes },
		{ "kv_buffer.resident_bytes", "B", "bytes held", STAT_LEVEL, &k->resident_bytes },
		{ "kv_buffer.dirty_bytes", "B", "dirty bytes held", STAT_LEVEL, &k->dirty_bytes },
		{ "kv_buffer.requests", "", "tile requests taken", STAT_COUNT, &k->requests },
		{ "kv_buffer.refusals", "", "tile requests refused", STAT_COUNT, &k->refusals },
		{ "kv_buffer.busy_ps", "ps", "time it needed for the bytes asked", STAT_COUNT, &k->busy_ps },
	};

	return stat_add_all(k->comp.env.stats, rows, sizeof rows / sizeof *rows, e);
}

static struct comp *kv_make(const struct comp_env *env, const void *cfg, struct err *e)
{
	const struct kv_cfg *g = cfg;
	struct kv *k = calloc(1, sizeof *k);

	if (!k)
		goto nomem;
	k->comp.ops = &kv_ops;
	k->comp.env = *env;
	k->bandwidth = g->bandwidth;
	k->chunks_max = g->size / KV_CHUNK;
	for (k->table_max = 2; k->table_max < 2 * k->chunks_max;)
		k->table_max *= 2;
	if (!(k->table = pages_new(k->table_max, sizeof *k->table)) ||
	    !(k->chunk = pages_new(k->chunks_max, sizeof *k->chunk)))
		goto nomem;
	if (!(k->slots = memslots_new(&k->comp, REQUESTS, g->latency, freed, e)) ||
	    !(k->down = memq_new(&k->comp, env->below, REQUESTS + 1, 0, e)) || kv_register_stats(k, e) < 0) {
		err_add(e, "making 'kv_buffer'");
		goto fail;
	}
	kv_reset(&k->comp);
	return &k->comp;
nomem:
	err_set(e, ERR_NOMEM, "out of memory for 'kv_buffer'");
fail:
	kv_release((struct comp *)k);
	return NULL;
}

const struct comp_ops kv_ops = {
	.kind = "kv",
	.make = kv_make,
	.free = kv_release,
	.send = kv_take,
	.reply = kv_reply,
	.retry = kv_retry,
	.explain = kv_explain,
	.resident = resident,
	.reset = kv_reset,
};
