#include "arch/npu/core.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "arch/npu/unit.h"
#include "arch/watch.h"

const struct cfg_field core_schema[] = {
	CFG_U32(struct core_cfg, depth, "depth", "8", 1, 256, NULL,
	        "pipeline stages of the vector units: thread groups that one has in flight, and cycles between "
	        "dependent commands of one batch",
	        "our choice: twice the 4-cycle FMA of recent GPUs"),
	CFG_U32(struct core_cfg, thread_group, "thread_group", "32", 1, 1024, cfg_pow2,
	        "elements one control step covers: vector work is rounded up to it",
	        "a warp: CUDA C Programming Guide"),
	CFG_U32(struct core_cfg, control, "control", "0", 0, 256, NULL,
	        "cycles of issue and control that a thread group costs its vector unit beside its work; 0: none",
	        "our choice: control hidden; a strip of a vector machine's loop takes about 15 (Hennessy and Patterson, "
	        "Computer Architecture, T_loop)"),
	CFG_U32(struct core_cfg, unit_latency, "unit_latency", "0", 0, 1024, NULL,
	        "cycles from a macro-op on a thread group to one that depends on it; core.depth groups hide it; 0: hidden",
	        "our choice: hidden; 4 in Volta's registers, 19 through its shared memory (Jia et al., "
	        "arXiv:1804.06826)"),
	CFG_END
};

/* Bytes that had moved at a moment, by what moved them. */
struct seen {
	ps_t at;
	uint64_t bytes[CORE_MOVERS];
};

struct core_cmd;

/* How far the math of a phase has come. */
struct math {
	uint32_t insn; /* of the command: the next one */
	ps_t at;       /* what was queued so far ends */
	ps_t sync;     /* still to be added */
};

struct slot {
	struct core_cmd *cmd;
	struct ev ev; /* its math ends, or goes on */
	uint32_t tile, loads_left, stores_left;
	bool busy, asked_early, asked; /* in SRAM; its loads that may run ahead were submitted; all were */
	struct math math;
	struct core_move last;
	struct seen since, there; /* when its moves were asked for; when its loads were there */
};

struct core_cmd {
	struct core *core;
	const struct isa_cmd *c;
	uint32_t idx;
	uint8_t urgency[2]; /* of its moves, and of its tiles' loads */
	bool live, ready, fixed, pre_asked, pre_done, post_begun;
	uint32_t pre_left, next_slot, next_math, tiles_done, post_left;
	struct core_move last; /* of those outside the loop */
	struct seen since;     /* when those were asked for */
	struct seen before;    /* when the tile before was there; at 0: none was loaded */
	struct ev ev;          /* math before or after the loop ends, or goes on */
	struct math math;
	struct slot *slots;
	struct core_account acc;
};

struct block {
	struct block *next;
	struct dma_xfer x[128];
};

struct core {
	struct comp_env env;
	struct core_owner owner;
	struct dma *dma;
	struct sram sram;
	uint32_t cores, window, stages, overlap;
	uint32_t oldest, admit,
		newest; /* oldest: that has not ended; admit: the command whose turn it is to take SRAM */
	ps_t sync;      /* of a tile, before its math */
	const struct isa_prog *prog;
	const uint32_t *const *picks;
	struct core_cmd *cmds;
	struct slot *slots;
	struct dma_xfer *spare;
	struct block *blocks;
	size_t n_xfers;
	uint8_t *pinned; /* by tensor: loaded in an earlier step */
	size_t n_pinned;
	ps_t unit_free[RES_COUNT];
	uint64_t unit_busy[RES_COUNT], unit_work[RES_COUNT];
	uint64_t peak[CORE_MOVERS], moved[CORE_MOVERS]; /* bytes/s; bytes */
	const uint64_t *written_back;
	uint64_t pinned_bytes, kept_bytes, tiles;
	bool admitting, prefetch;
};

static struct seen now_seen(const struct core *c)
{
	struct seen s = { .at = evq_now(c->env.q) };

	memcpy(s.bytes, c->moved, sizeof s.bytes);
	if (c->written_back)
		s.bytes[RES_DRAM] += *c->written_back;
	return s;
}

static void core_own_explain(const struct core *c, struct core_account *a, const struct core_move *m,
                             const struct seen *from, const struct seen *to)
{
	struct core_use u = { .span = to->at - from->at };

	if (m->done <= a->mark)
		return;
	for (int r = 0; r < CORE_MOVERS; r++)
		if (c->peak[r])
			u.need[r] = clock_transfer(to->bytes[r] - from->bytes[r], c->peak[r]);
	core_explain_move(a, m, &u);
}

/* All moves of a step were asked for at `since`; the last is there now. */
static void explain_alone(const struct core *c, struct core_account *a, const struct core_move *m,
                          const struct seen *since)
{
	const struct seen now = now_seen(c);

	core_own_explain(c, a, m, since, &now);
}

/* A tile's loads. Those of a stream hide each other's latencies: what holds it back shows in the time since the tile
 * before, unless this one was asked for only then. */
static void explain_tile(struct core_cmd *k, struct slot *s)
{
	const bool stream = s->last.asked < k->before.at && k->before.at < s->there.at;

	if (!s->last.done)
		return;
	core_own_explain(k->core, &k->acc, &s->last, stream ? &k->before : &s->since, &s->there);
	k->before = s->there;
}

static void count_move(struct core *c, struct core_move *m, const struct dma_xfer *x)
{
	const struct mem_req *r = &x->req;

	c->moved[RES_DMA] += r->share ? r->share * c->cores : r->bytes;
	c->moved[RES_NOC] += r->noc_load;
	if (r->level != RES_NOC)
		c->moved[r->level] += r->bytes;
	if (r->level != RES_DRAM)
		c->moved[RES_DRAM] += r->dram_bytes;
	if (x->t_done >= m->done)
		*m = (struct core_move){ x->t_issue, x->t_done };
}

static struct core_cmd *cmd_of(struct core *c, uint32_t idx)
{
	return &c->cmds[idx % c->window];
}

static void give_xfer(struct core *c, struct dma_xfer *x)
{
	x->next = c->spare;
	c->spare = x;
}

static struct dma_xfer *take_xfer(struct core *c)
{
	struct dma_xfer *x = c->spare;

	assert(x); /* core_begin reserved the most that can be in flight */
	c->spare = x->next;
	return x;
}

static int reserve_xfers(struct core *c, size_t n)
{
	while (c->n_xfers < n) {
		struct block *b = calloc(1, sizeof *b);

		if (!b)
			return -1;
		b->next = c->blocks;
		c->blocks = b;
		for (size_t i = 0; i < sizeof b->x / sizeof *b->x; i++)
			give_xfer(c, &b->x[i]);
		c->n_xfers += sizeof b->x / sizeof *b->x;
	}
	return 0;
}

static uint64_t address(const struct core *c, const struct isa_insn *i)
{
	const struct isa_tensor *t = &c->prog->tensors[i->tensor];
	uint64_t a = t->addr + i->offset;

	if (i->route >= 0)
		a += t->stride * c->picks[i->route][i->slot];
	return a;
}

static void moved(void *owner, struct dma_xfer *x);

/* Submits one transfer; false when nothing has to move (pinned, or empty). */
static bool submit(struct core_cmd *k, uint32_t insn, uint32_t tile)
{
	struct core *c = k->core;
	const struct isa_insn *i = &c->prog->insns[insn];
	const struct isa_rounds r = isa_rounds_of(k->c, tile);
	struct isa_piece y;
	uint64_t bytes;
	struct dma_xfer *x;

	if (i->when == ISA_TILE && !isa_moves_in(k->c, i, &r))
		return false;
	y = isa_piece_of(c->prog, k->c, i, &r);
	bytes = y.from < i->bytes ? i->bytes - y.from : 0;
	if (bytes > y.bytes)
		bytes = y.bytes;
	if (bytes == 0)
		return false;
	if (i->pinned && c->pinned[i->tensor]) {
		c->pinned_bytes += bytes;
		return false;
	}
	if (i->code == ISA_STORE && i->dst == ISA_SRAM) {
		c->kept_bytes += bytes;
		return false;
	}
	x = take_xfer(c);
	x->run.addr = address(c, i) + y.from;
	x->run.bytes = bytes;
	x->req.write = i->code == ISA_STORE;
	x->req.copies = i->copies;
	x->req.share = isa_share(y.share, bytes, y.bytes);
	x->req.between = i->src == ISA_SRAM && i->code == ISA_LOAD;
	x->req.cls = i->cls;
	x->req.urgency = &k->urgency[i->when == ISA_TILE && i->code == ISA_LOAD];
	x->done = moved;
	x->owner = k;
	x->insn = insn;
	x->tile = tile;
	k->acc.mem_bytes += bytes;
	dma_submit(c->dma, x);
	return true;
}

/* A load may start before the command is ready when its bytes exist and, if routed, the expert is known. */
static bool may_load(const struct core_cmd *k, const struct isa_insn *i)
{
	const struct core *c = k->core;

	if (k->ready)
		return true;
	if (!i->early || !c->prefetch)
		return false;
	return i->route < 0 || k->c->routed_by < 0 || c->owner.decided(c->owner.ctx, k->c->routed_by);
}

/* Whether all loads of a phase that exist before the program may go, or all the others. */
static bool may_load_all(const struct core_cmd *k, enum isa_when when, bool early)
{
	for (uint32_t n = 0; n < k->c->n_insns; n++) {
		const struct isa_insn *i = &k->core->prog->insns[k->c->first_insn + n];

		if (i->code == ISA_LOAD && i->when == when && i->early == early && !may_load(k, i))
			return false;
	}
	return true;
}

enum which { EARLY = 1, LATE = 2, ALL = EARLY | LATE };

static uint32_t submit_all(struct core_cmd *k, enum isa_code code, enum isa_when when, uint32_t tile, enum which which)
{
	uint32_t n_sent = 0;

	for (uint32_t n = 0; n < k->c->n_insns; n++) {
		const struct isa_insn *i = &k->core->prog->insns[k->c->first_insn + n];

		if (i->code == code && i->when == when && (which & (i->early ? EARLY : LATE)))
			n_sent += submit(k, k->c->first_insn + n, tile);
	}
	return n_sent;
}

static struct math begin_math(const struct core_cmd *k, enum isa_when when, uint32_t tile)
{
	const bool syncs = when == ISA_TILE && tile && isa_rounds_of(k->c, tile).nest;

	return (struct math){ 0, evq_now(k->core->env.q), syncs ? k->core->sync : 0 };
}

/* An instruction's turn on its unit, or on the network, which is asked when it begins: now. */
static void do_turn(struct core_cmd *k, const struct isa_insn *i, const struct isa_turn *x, struct math *m)
{
	struct core *c = k->core;
	ps_t over;

	if (i->code == ISA_SEND && x->span)
		over = dma_exchange(c->dma, x->span);
	else
		c->unit_free[i->unit] = over = ps_max(m->at, c->unit_free[i->unit]) + m->sync + x->span;
	watch_busy(c->env.watch, i->unit, over - x->span, over, k->idx);
	m->sync = 0;
	m->at = over + x->latency;
	c->unit_busy[i->unit] += x->span;
	c->unit_work[i->unit] += x->work;
	k->acc.busy[i->unit] += x->span;
}

/* Queues the math of a phase on its units, up to an exchange that begins later; false: then to be called again. */
static bool do_math(struct core_cmd *k, enum isa_when when, uint32_t tile, struct math *m)
{
	struct core *c = k->core;
	const bool last_tile = when == ISA_TILE && tile + 1 == k->c->tiles;
	const struct isa_rounds r = isa_rounds_of(k->c, tile);

	for (; m->insn < k->c->n_insns; m->insn++) {
		const struct isa_insn *i = &c->prog->insns[k->c->first_insn + m->insn];
		struct isa_turn x;

		m->sync = i->code == ISA_SYNC ? 0 : m->sync;
		if (isa_is_move(i) || i->when != when || (when == ISA_TILE && !isa_moves_in(k->c, i, &r)) ||
		    (i->pinned && c->pinned[i->tensor]))
			continue;
		x = isa_turn_of(c->prog, k->c, i, &r, last_tile);
		if (i->code == ISA_SEND && x.span && m->at > evq_now(c->env.q))
			return false;
		do_turn(k, i, &x, m);
	}
	return true;
}

/* What is queued ends, or goes on, at `at`. */
static void push_math(struct core *c, struct ev *ev, void (*then)(void *owner, struct ev *ev), void *owner, ps_t at)
{
	ev_init(ev, EV_WORK, then, owner);
	evq_push(c->env.q, ev, at);
}

/* The longest math of a phase; NULL: there is none. */
static const struct isa_insn *main_math(const struct core_cmd *k, enum isa_when when)
{
	const struct isa_insn *best = NULL;

	for (uint32_t n = 0; n < k->c->n_insns; n++) {
		const struct isa_insn *i = &k->core->prog->insns[k->c->first_insn + n];

		if (!isa_is_move(i) && i->when == when && (!best || i->span >= best->span))
			best = i;
	}
	return best;
}

static void explain_math(struct core_cmd *k, ps_t until, enum isa_when when, enum res none)
{
	const struct isa_insn *i = main_math(k, when);

	core_explain_math(&k->acc, until, i ? (enum res)i->unit : none, i ? i->idle : 0);
}

static void admit(struct core *c);
static void next_math(struct core_cmd *k);

/* What nobody behind the commands that have ended reads. */
static void free_kept(struct core *c)
{
	for (; c->oldest < c->newest && !cmd_of(c, c->oldest)->live; c->oldest++)
		sram_give(&c->sram, cmd_of(c, c->oldest)->c->frees_bytes);
}

static void complete(struct core_cmd *k)
{
	struct core *c = k->core;
	ps_t now = evq_now(c->env.q);

	k->live = false;
	sram_give(&c->sram, k->c->fixed_bytes);
	free_kept(c);
	watch_level(c->env.watch, WATCH_SRAM, now, c->sram.used);
	for (uint32_t n = 0; n < k->c->n_insns; n++) {
		const struct isa_insn *i = &c->prog->insns[k->c->first_insn + n];

		if (i->pinned)
			c->pinned[i->tensor] = 1;
	}
	k->acc.end = now;
	c->owner.done(c->owner.ctx, k->idx);
	admit(c);
}

static void store_results(struct core_cmd *k)
{
	explain_math(k, evq_now(k->core->env.q), ISA_POST, RES_DISPATCH);
	k->last = (struct core_move){ 0, 0 };
	k->since = now_seen(k->core);
	k->post_left = submit_all(k, ISA_STORE, ISA_POST, 0, ALL);
	if (k->post_left == 0)
		complete(k);
}

static void post_over(void *owner, struct ev *ev)
{
	(void)ev;
	store_results(owner);
}

static void post_math(struct core_cmd *k);

static void post_goes_on(void *owner, struct ev *ev)
{
	(void)ev;
	post_math(owner);
}

static void post_math(struct core_cmd *k)
{
	const bool over = do_math(k, ISA_POST, 0, &k->math);

	if (over && k->math.at == evq_now(k->core->env.q))
		store_results(k);
	else
		push_math(k->core, &k->ev, over ? post_over : post_goes_on, k, k->math.at);
}

/* Where nothing is left to compute, results leave before what SRAM then has room for is fetched ahead. */
static void maybe_post(struct core_cmd *k)
{
	if (!k->pre_done || k->tiles_done < k->c->tiles || k->post_begun)
		return;
	k->post_begun = true;
	k->math = begin_math(k, ISA_POST, 0);
	post_math(k);
}

static void tile_free(struct slot *s)
{
	struct core_cmd *k = s->cmd;
	struct core *c = k->core;

	s->busy = false;
	sram_give(&c->sram, k->c->slot_bytes);
	watch_level(c->env.watch, WATCH_SRAM, evq_now(c->env.q), c->sram.used);
	k->tiles_done++;
	maybe_post(k);
	admit(c);
}

static void tile_over(void *owner, struct ev *ev)
{
	struct slot *s = owner;
	struct core_cmd *k = s->cmd;

	explain_tile(k, s);
	explain_math(k, ev->when, ISA_TILE, RES_DMA);
	s->last = (struct core_move){ 0, 0 };
	s->since = now_seen(k->core);
	s->stores_left = submit_all(k, ISA_STORE, ISA_TILE, s->tile, ALL);
	if (s->stores_left == 0)
		tile_free(s);
}

static void tile_math(struct slot *s);

static void tile_goes_on(void *owner, struct ev *ev)
{
	(void)ev;
	tile_math(owner);
}

static void tile_math(struct slot *s)
{
	const bool over = do_math(s->cmd, ISA_TILE, s->tile, &s->math);

	push_math(s->cmd->core, &s->ev, over ? tile_over : tile_goes_on, s, s->math.at);
}

/* Starts the math of every tile whose turn it is and whose bytes are there. */
static void next_math(struct core_cmd *k)
{
	struct core *c = k->core;

	while (k->ready && k->pre_done && k->next_math < k->next_slot) {
		struct slot *s = &k->slots[k->next_math % c->stages];

		if (!s->asked || s->loads_left)
			return;
		c->tiles++;
		k->next_math++;
		s->math = begin_math(k, ISA_TILE, s->tile);
		tile_math(s);
	}
}

static void pre_over(void *owner, struct ev *ev)
{
	struct core_cmd *k = owner;

	explain_math(k, ev->when, ISA_PRE, RES_DISPATCH);
	k->pre_done = true;
	next_math(k);
	maybe_post(k);
}

static void pre_math(struct core_cmd *k);

static void pre_goes_on(void *owner, struct ev *ev)
{
	(void)ev;
	pre_math(owner);
}

static void pre_math(struct core_cmd *k)
{
	const bool over = do_math(k, ISA_PRE, 0, &k->math);

	push_math(k->core, &k->ev, over ? pre_over : pre_goes_on, k, k->math.at);
}

static void pre_loaded(struct core_cmd *k)
{
	explain_alone(k->core, &k->acc, &k->last, &k->since);
	k->math = begin_math(k, ISA_PRE, 0);
	pre_math(k);
}

static void moved(void *owner, struct dma_xfer *x)
{
	struct core_cmd *k = owner;
	struct core *c = k->core;
	const struct isa_insn *i = &c->prog->insns[x->insn];
	struct slot *s = i->when == ISA_TILE ? &k->slots[x->tile % c->stages] : NULL;
	bool load = i->code == ISA_LOAD;

	k->acc.dram_bytes += x->req.dram_bytes;
	count_move(c, s ? &s->last : &k->last, x);
	give_xfer(c, x);
	if (s && load) {
		if (--s->loads_left == 0) {
			s->there = now_seen(c);
			next_math(k);
		}
	} else if (s) {
		if (--s->stores_left == 0) {
			explain_alone(c, &k->acc, &s->last, &s->since);
			tile_free(s);
		}
	} else if (load) {
		if (--k->pre_left == 0 && k->ready)
			pre_loaded(k);
	} else if (--k->post_left == 0) {
		explain_alone(c, &k->acc, &k->last, &k->since);
		complete(k);
	}
}

static void ask_pre(struct core_cmd *k)
{
	if (k->pre_asked || !k->fixed || !may_load_all(k, ISA_PRE, true) || !may_load_all(k, ISA_PRE, false))
		return;
	k->pre_asked = true;
	k->since = now_seen(k->core);
	k->pre_left = submit_all(k, ISA_LOAD, ISA_PRE, 0, ALL);
	if (k->pre_left == 0 && k->ready)
		pre_loaded(k);
}

static void ask_slot(struct core_cmd *k, struct slot *s)
{
	if (!s->loads_left)
		s->since = now_seen(k->core);
	if (!s->asked_early && may_load_all(k, ISA_TILE, true)) {
		s->asked_early = true;
		s->loads_left += submit_all(k, ISA_LOAD, ISA_TILE, s->tile, EARLY);
	}
	if (s->asked_early && !s->asked && may_load_all(k, ISA_TILE, false)) {
		s->asked = true;
		s->loads_left += submit_all(k, ISA_LOAD, ISA_TILE, s->tile, LATE);
	}
}

static void ask_all(struct core_cmd *k)
{
	ask_pre(k);
	for (uint32_t t = k->next_math; t < k->next_slot; t++)
		ask_slot(k, &k->slots[t % k->core->stages]);
	next_math(k);
}

/* Gives out SRAM in program order; see the head of core.h. */
static void admit(struct core *c)
{
	if (c->admitting)
		return; /* a completion inside the loop: the loop sees its SRAM */
	c->admitting = true;
	while (c->admit < c->newest) {
		struct core_cmd *k = cmd_of(c, c->admit);

		if (!k->fixed) {
			if (!sram_take(&c->sram, k->c->fixed_bytes + k->c->keeps_bytes))
				break;
			k->fixed = true;
			watch_level(c->env.watch, WATCH_SRAM, evq_now(c->env.q), c->sram.used);
			k->acc.start = evq_now(c->env.q);
			ask_pre(k);
		}
		while (k->next_slot < k->c->tiles) {
			struct slot *s = &k->slots[k->next_slot % c->stages];

			if (!k->c->ahead && !core_ahead(k->next_slot, c->overlap) && k->tiles_done < k->next_slot)
				break;
			if (s->busy || !sram_take(&c->sram, k->c->slot_bytes))
				break;
			*s = (struct slot){ .cmd = k, .tile = k->next_slot, .busy = true };
			ev_init(&s->ev, EV_WORK, tile_over, s);
			k->next_slot++;
			watch_level(c->env.watch, WATCH_SRAM, evq_now(c->env.q), c->sram.used);
			ask_slot(k, s);
			next_math(k);
		}
		if (k->next_slot < k->c->tiles)
			break;
		c->admit++;
	}
	c->admitting = false;
}

void core_dispatch(struct core *c, uint32_t cmd)
{
	struct core_cmd *k = cmd_of(c, cmd);
	struct slot *slots = k->slots;

	assert(!k->live && cmd == c->newest);
	*k = (struct core_cmd){ .core = c, .c = &c->prog->cmds[cmd], .idx = cmd, .live = true, .slots = slots };
	ev_init(&k->ev, EV_WORK, pre_over, k);
	k->acc.mark = evq_now(c->env.q);
	c->newest = cmd + 1;
	admit(c);
}

void core_ready(struct core *c, uint32_t cmd)
{
	struct core_cmd *k = cmd_of(c, cmd);

	k->ready = true;
	k->urgency[false] = MEM_BLOCKING;
	k->urgency[true] = MEM_WANTED;
	if (k->pre_asked && k->pre_left == 0)
		pre_loaded(k);
	ask_all(k);
}

void core_decided(struct core *c)
{
	for (uint32_t i = 0; i < c->window; i++)
		if (c->cmds[i].live && c->cmds[i].fixed)
			ask_all(&c->cmds[i]);
}

struct core_account *core_account(struct core *c, uint32_t cmd)
{
	return &cmd_of(c, cmd)->acc;
}

bool core_pinned(const struct core *c, uint32_t tensor)
{
	return tensor < c->n_pinned && c->pinned[tensor];
}

int core_begin(struct core *c, const struct isa_prog *p, const uint32_t *const *picks, struct err *e)
{
	size_t n_xfers = (size_t)c->window * (c->stages + 1) * p->max_tile_moves;

	if (!c->pinned) {
		c->pinned = calloc(p->n_tensors ? p->n_tensors : 1, 1);
		c->n_pinned = p->n_tensors;
	}
	if (!c->pinned || reserve_xfers(c, n_xfers) < 0 || evq_reserve(c->env.q, n_xfers * 2) < 0)
		return err_set(e, ERR_NOMEM, "out of memory for the cores' transfers");
	assert(c->n_pinned == p->n_tensors); /* one program a machine: steps repeat it */
	c->prog = p;
	c->picks = picks;
	c->oldest = c->admit = c->newest = 0;
	return 0;
}

struct core *core_new(const struct comp_env *env, const struct dma_cfg *dma, const struct sram_cfg *sram,
                      uint32_t cores, uint32_t window, bool prefetch, const struct core_owner *owner, struct err *e)
{
	struct core *c = calloc(1, sizeof *c);

	if (!c)
		goto nomem;
	c->env = *env;
	c->owner = *owner;
	c->cores = cores;
	c->window = window;
	c->stages = dma->stages;
	c->overlap = 1000000;
	c->prefetch = prefetch;
	c->sync = dma->sync;
	c->cmds = calloc(window, sizeof *c->cmds);
	c->slots = calloc((size_t)window * dma->stages, sizeof *c->slots);
	if (!c->cmds || !c->slots)
		goto nomem;
	for (uint32_t i = 0; i < window; i++)
		c->cmds[i].slots = c->slots + (size_t)i * dma->stages;
	sram_init(&c->sram, sram, cores);
	if (!(c->dma = dma_new(env, dma, cores, e)))
		goto fail;
	if (unit_add_stats(env->stats, c->unit_busy, c->unit_work, e) < 0)
		goto fail;
	if (stat_add(env->stats, "core.tiles", "", "tiles computed", STAT_COUNT, &c->tiles, e) < 0 ||
	    stat_add(env->stats, "noc.exchange_ps", "ps", "time that a core's port takes for partial sums", STAT_COUNT,
	             &c->unit_busy[RES_NOC], e) < 0 ||
	    stat_add(env->stats, "sram.peak_bytes", "B", "most scratchpad ever in use", STAT_LEVEL, &c->sram.peak, e) <
	            0 ||
	    stat_add(env->stats, "sram.kept_bytes", "B", "bytes not stored because they stayed for who reads them",
	             STAT_COUNT, &c->kept_bytes, e) < 0 ||
	    stat_add(env->stats, "sram.pinned_hit_bytes", "B", "weight bytes not loaded because they were pinned",
	             STAT_COUNT, &c->pinned_bytes, e) < 0)
		goto fail;
	return c;
nomem:
	err_set(e, ERR_NOMEM, "out of memory for the cores");
fail:
	core_free(c);
	return NULL;
}

void core_paced(struct core *c, const uint64_t peak[RES_COUNT], const uint64_t *written_back)
{
	memcpy(c->peak, peak, sizeof c->peak);
	c->written_back = written_back;
}

void core_overlap(struct core *c, uint32_t ppm)
{
	c->overlap = ppm;
}

void core_between(struct core *c, struct comp *network, uint64_t port)
{
	dma_between(c->dma, network, port);
}

void core_watch(struct core *c, const struct watch *w)
{
	c->env.watch = w;
	dma_watch(c->dma, w);
}

void core_free(struct core *c)
{
	if (!c)
		return;
	for (struct block *b = c->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	dma_free(c->dma);
	free(c->cmds);
	free(c->slots);
	free(c->pinned);
	free(c);
}

void core_explain(const struct core *c, struct str *out)
{
	str_addf(out, "sram: %llu of %llu bytes taken\n", (unsigned long long)c->sram.used,
	         (unsigned long long)c->sram.size);
	dma_explain(c->dma, out);
	for (uint32_t i = 0; i < c->window; i++) {
		const struct core_cmd *k = &c->cmds[i];

		if (k->live)
			str_addf(out, "\ncommand %u: %s, %u of %u tiles in SRAM, %u computed%s", k->idx,
			         k->ready ? "ready" : "waiting for what it depends on", k->next_slot, k->c->tiles,
			         k->tiles_done, k->fixed ? "" : ", waiting for SRAM");
	}
}
