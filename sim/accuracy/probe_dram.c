#include "sim/accuracy/probe_dram.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"

#define STAGED       64
#define WARM_PERCENT 5
#define EXACT        4096 /* latencies below are counted tick by tick, above in steps of 1/64 octave */
#define BINS         (EXACT + 64 * 52)

/* --- streams ----------------------------------------------------------------------------------------------- */

static int probe_dram_number(const char *text, const char *what, uint64_t *v, const char **end, struct err *e)
{
	uint64_t n = 0;
	const char *p = text;

	while (isdigit((unsigned char)*p) && n < UINT64_C(1) << 40)
		n = n * 10 + (uint64_t)(*p++ - '0');
	if (p == text || !n)
		return err_set(e, ERR_USAGE, "pattern '%s' needs a number above 0, not '%s'", what, text);
	*v = n;
	*end = p;
	return 0;
}

static int pattern_number(const char *text, const char *key, uint64_t *v, struct err *e)
{
	const char *end;

	if (probe_dram_number(text + strlen(key), key, v, &end, e) < 0)
		return -1;
	return *end ? err_set(e, ERR_USAGE, "pattern '%s' has '%s' after its number", text, end) : 0;
}

static int mix(struct probe_stream *s, const char *text, struct err *e)
{
	uint64_t r, w;
	const char *end;

	if (probe_dram_number(text, "mix=R:W", &r, &end, e) < 0)
		return -1;
	if (*end != ':' || probe_dram_number(end + 1, "mix=R:W", &w, &end, e) < 0 || *end || r > 1000 || w > 1000)
		return err_set(e, ERR_USAGE, "pattern 'mix=%s' is not mix=R:W with two numbers up to 1000", text);
	s->reads = (uint32_t)r;
	s->writes = (uint32_t)w;
	return 0;
}

int probe_dram_pattern(struct probe_stream *s, const char *text, struct err *e)
{
	static const struct {
		const char *name;
		struct probe_stream s;
	} fixed[] = {
		{ "seq", { .order = PROBE_SEQ } },
		{ "write", { .order = PROBE_SEQ, .writes = 1 } },
		{ "random", { .order = PROBE_RANDOM } },
		{ "copy", { .order = PROBE_COPY } },
		{ "chase", { .order = PROBE_RANDOM, .chase = true } },
		{ "chase-seq", { .order = PROBE_SEQ, .chase = true } },
	};

	memset(s, 0, sizeof *s);
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		if (strcmp(text, fixed[i].name) == 0) {
			*s = fixed[i].s;
			return 0;
		}
	if (strncmp(text, "stride=", 7) == 0) {
		s->order = PROBE_STRIDE;
		return pattern_number(text, "stride=", &s->stride, e);
	}
	if (strncmp(text, "random=", 7) == 0) {
		s->order = PROBE_RANDOM;
		return pattern_number(text, "random=", &s->chunk, e);
	}
	if (strncmp(text, "copy=", 5) == 0) {
		s->order = PROBE_COPY;
		return pattern_number(text, "copy=", &s->chunk, e);
	}
	if (strncmp(text, "mix=", 4) == 0) {
		s->order = PROBE_SEQ;
		return mix(s, text + 4, e);
	}
	if (strncmp(text, "random-mix=", 11) == 0) {
		s->order = PROBE_RANDOM;
		return mix(s, text + 11, e);
	}
	return err_set(e, ERR_USAGE,
	               "pattern '%s' is none of seq, write, random, random=BYTES, stride=BYTES, mix=R:W,"
	               " random-mix=R:W, copy, copy=BYTES, chase, chase-seq",
	               text);
}

void probe_gen_init(struct probe_gen *g, const struct probe_stream *s, const struct dram_map_size *size)
{
	struct rng r;

	memset(g, 0, sizeof *g);
	g->s = *s;
	g->burst = g->bytes = size->burst_bytes;
	for (int f = 0; f < DRAM_FIELDS; f++)
		g->bytes *= size->n[f];
	rng_seed(&r, s->seed, "probe_dram");
	memcpy(g->rng, r.s, sizeof g->rng);
}

static uint64_t random_place(struct probe_gen *g, uint64_t chunk)
{
	struct rng r;
	uint64_t at;

	memcpy(r.s, g->rng, sizeof r.s);
	at = rng_below(&r, g->bytes / chunk) * chunk;
	memcpy(g->rng, r.s, sizeof r.s);
	return at;
}

uint64_t probe_gen_next(struct probe_gen *g, bool *write)
{
	const struct probe_stream *s = &g->s;
	uint64_t i = g->i++, at, chunk = s->chunk > g->burst ? s->chunk : g->burst;

	*write = s->writes && g->turn >= s->reads;
	if (s->writes && ++g->turn == s->reads + s->writes)
		g->turn = 0;
	switch (s->order) {
	case PROBE_SEQ:
		return i * g->burst % g->bytes;
	case PROBE_STRIDE:
		return i * s->stride % g->bytes;
	case PROBE_COPY:
		if (!g->left)
			g->left = 2 * chunk;
		*write = g->left <= chunk;
		at = g->at + (chunk - (g->left - (*write ? 0 : chunk)));
		g->left -= g->burst;
		if (!g->left)
			g->at = (g->at + chunk) % (g->bytes / 2);
		return *write ? (at + g->bytes / 2 + s->skew) % g->bytes : at;
	case PROBE_RANDOM:
		if (!g->left) {
			g->at = random_place(g, chunk);
			g->left = chunk;
		}
		at = g->at;
		g->at += g->burst;
		g->left -= g->burst;
		return at;
	}
	return 0;
}

/* --- the command path -------------------------------------------------------------------------------------- */

struct staged {
	struct dram_place at;
	struct dram_burst b;
	uint32_t next;
};
struct fifo {
	uint32_t first, last;
}; /* in the pool; 0: empty */

struct probe {
	struct dram_cmd_table t;
	struct dram_fieldmap map;
	struct dram_cmd *d;
	struct probe_gen g;
	struct fifo *fifo;   /* [channel][direction] */
	struct staged *pool; /* [0] stands for none */
	uint32_t spare;
	struct staged next;            /* made, not staged yet */
	bool made, staged, by_arrival; /* staged: something has been since the last push */
	uint64_t total, warm, sent, done, reads, sum;
	tick_t warm_end, end, chase_next;
	double arrival, gap; /* ticks */
	uint64_t *bins;
	uint64_t arrivals[2]; /* random numbers of their own: addresses do not depend on the load */
};

static uint32_t bin_of(tick_t v)
{
	unsigned top;

	if (v < EXACT)
		return (uint32_t)v;
	top = 63 - (unsigned)__builtin_clzll(v);
	return (uint32_t)(EXACT + (top - 12) * 64 + (v >> (top - 6) & 63));
}

static tick_t bin_start(uint32_t bin)
{
	unsigned top = 12 + (bin - EXACT) / 64;

	return bin < EXACT ? bin : (UINT64_C(64) + (bin - EXACT) % 64) << (top - 6);
}

static void on_done(void *owner, const struct dram_burst *b, tick_t accepted, tick_t data)
{
	struct probe *p = owner;
	tick_t latency = data - (p->by_arrival ? b->born : accepted);

	p->end = p->end > data ? p->end : data;
	if (++p->done == p->warm)
		p->warm_end = data;
	p->chase_next = data;
	if (b->write || b->tag < p->warm)
		return;
	p->reads++;
	p->sum += latency;
	p->bins[bin_of(latency)]++;
}

static void make_next(struct probe *p)
{
	bool write;
	uint64_t addr = probe_gen_next(&p->g, &write);

	p->next.at = dram_map_place(&p->map, addr);
	p->next.b = (struct dram_burst){ p->sent++, 0, write };
	p->made = true;
	if (!p->by_arrival)
		return;
	p->next.b.born = (tick_t)p->arrival;
	if (p->g.s.poisson) {
		struct rng r;

		memcpy(r.s, p->arrivals, sizeof r.s);
		p->arrival -= p->gap * log(((double)(rng_u64(&r) >> 11) + 1) / 9007199254740993.0);
		memcpy(p->arrivals, r.s, sizeof r.s);
	} else {
		p->arrival += p->gap;
	}
}

/* Bursts that have arrived go to the FIFO of their channel and direction, 64 a channel in all; false: the next one
 * comes later than now. */
static bool stage(struct probe *p)
{
	while (p->made || p->sent < p->total) {
		struct fifo *f;
		uint32_t at;

		if (!p->made)
			make_next(p);
		if (p->next.b.born > dram_cmd_now(p->d))
			return false;
		if (!(at = p->spare))
			return true;
		f = &p->fifo[2 * p->next.at.channel + p->next.b.write];
		p->spare = p->pool[at].next;
		p->pool[at] = p->next;
		p->pool[at].next = 0;
		*(f->first ? &p->pool[f->last].next : &f->first) = at;
		f->last = at;
		p->made = false;
		p->staged = true;
	}
	return true;
}

/* Returns how many the controllers took. */
static uint32_t push(struct probe *p)
{
	uint32_t n = 0;

	p->staged = false;
	for (uint32_t i = 0; i < 2 * p->t.channels; i++) {
		struct fifo *f = &p->fifo[i];

		while (f->first && dram_cmd_offer(p->d, &p->pool[f->first].at, &p->pool[f->first].b)) {
			uint32_t at = f->first;

			f->first = p->pool[at].next;
			p->pool[at].next = p->spare;
			p->spare = at;
			n++;
		}
	}
	return n;
}

/* After n were taken: may the controllers take another one in the next tick? What still waits in a FIFO has found its
 * queue full, so it would have to be one that is not staged yet; of one that will be we know where it goes. */
static bool another(const struct probe *p, uint32_t n)
{
	return n > 1 || (n == 1 && (!p->made || !p->fifo[2 * p->next.at.channel + p->next.b.write].first));
}

static void run_stream(struct probe *p)
{
	bool room = true;

	while (p->done < p->total) {
		bool waits = !stage(p);
		tick_t to;

		if ((room || p->staged) && another(p, push(p)))
			to = dram_cmd_now(p->d) + 1;
		else
			to = dram_cmd_next(p->d);
		if (waits && p->next.b.born < to)
			to = p->next.b.born;
		room = dram_cmd_step(p->d, to);
	}
}

static void run_chase(struct probe *p)
{
	for (uint64_t i = 0; i < p->total; i++) {
		make_next(p);
		dram_cmd_offer(p->d, &p->next.at, &p->next.b);
		while (p->done == i)
			dram_cmd_step(p->d, dram_cmd_next(p->d));
		/* Refreshes come meanwhile; the data is there at chase_next. */
		while (dram_cmd_now(p->d) < p->chase_next) {
			tick_t next = dram_cmd_next(p->d);

			dram_cmd_step(p->d, next < p->chase_next ? next : p->chase_next);
		}
	}
}

static void report(const struct probe *p, struct probe_result *r)
{
	const struct dram_cmd_table *t = &p->t;
	uint64_t units = (uint64_t)t->channels * t->pcs, bytes = (p->done - p->warm) * t->size.burst_bytes;
	uint64_t want = p->reads - p->reads / 100, seen = 0;
	double tick_ns = (double)t->t_ck / t->clock_ticks / 1000, ticks = (double)(p->end - p->warm_end);

	r->requests = p->total;
	r->peak_gbps = (double)(units * t->size.burst_bytes) / ((double)t->burst * tick_ns);
	r->gbps = ticks > 0 ? (double)bytes / (ticks * tick_ns) : 0;
	r->efficiency = r->gbps / r->peak_gbps;
	r->mean_ns = r->p99_ns = -1;
	if (p->reads) {
		uint32_t i = 0;

		r->mean_ns = (double)p->sum / (double)p->reads * tick_ns;
		while (i < BINS - 1 && (seen += p->bins[i]) < want)
			i++;
		r->p99_ns = (double)bin_start(i) * tick_ns;
	}
	r->saturated = p->by_arrival && r->efficiency < 0.985 * (double)p->g.s.load / 1e6;
	r->commands = dram_cmd_stats(p->d);
}

static uint64_t enough(const struct dram_cmd_table *t)
{
	uint64_t bursts = t->refresh == DRAM_REFRESH_NONE ? 0 : 40 * t->refi / t->burst * t->channels * t->pcs;

	return bursts > 20000 ? bursts : 20000;
}

int probe_dram_command(const struct dram_cfg *c, const struct probe_stream *s, struct probe_result *r, struct err *e)
{
	struct probe p = { .total = s->requests, .by_arrival = s->load && !s->chase };
	struct rng rng;
	int rc = -1;

	memset(r, 0, sizeof *r);
	if (dram_cmd_table(&p.t, c, e) < 0 || dram_map_parse(&p.map, c->fields, &p.t.size, e) < 0)
		return -1;
	if (!p.total)
		p.total = enough(&p.t);
	p.warm = p.total * WARM_PERCENT / 100;
	probe_gen_init(&p.g, s, &p.t.size);
	rng_seed(&rng, s->seed, "probe_dram arrivals");
	memcpy(p.arrivals, rng.s, sizeof p.arrivals);
	p.gap = s->load ? (double)p.t.burst / ((double)p.t.channels * p.t.pcs * s->load / 1e6) : 0;
	p.bins = calloc(BINS, sizeof *p.bins);
	p.fifo = calloc((size_t)2 * p.t.channels, sizeof *p.fifo);
	p.pool = calloc((size_t)STAGED * p.t.channels + 1, sizeof *p.pool);
	for (uint32_t i = STAGED * p.t.channels; p.pool && i > 0; i--) {
		p.pool[i].next = p.spare;
		p.spare = i;
	}
	if (!p.bins || !p.fifo || !p.pool)
		err_set(e, ERR_NOMEM, "out of memory for the DRAM probe");
	else if ((p.d = dram_cmd_new(&p.t, &p.map, on_done, &p, e))) {
		if (s->chase)
			run_chase(&p);
		else
			run_stream(&p);
		report(&p, r);
		rc = 0;
	}
	dram_cmd_free(p.d);
	free(p.fifo);
	free(p.pool);
	free(p.bins);
	return rc;
}
