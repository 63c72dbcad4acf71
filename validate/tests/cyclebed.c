#include "validate/tests/cyclebed.h"

#include <stdlib.h>

#include "validate/tests/test.h"

#define BYTES     2 /* of a value in memory */
#define UNLOADED  99991
#define STUCK     1000000 /* cycles without an event */
#define MAX_MOVES 512     /* under way at once */

enum { M, N, K, DIMS };
enum { A, B, C, OPERANDS };

static const bool has[OPERANDS][DIMS] = {
	[A] = { [M] = true, [K] = true }, [B] = { [N] = true, [K] = true }, [C] = { [M] = true, [N] = true }
};

/* Of m, n and k: [from, from + n). */
struct box {
	uint64_t from[DIMS], n[DIMS];
};

struct transfer {
	struct command *cmd;
	int operand;
	struct box box;
	uint32_t tile; /* NONE: outside the loop */
	bool ahead;
	uint64_t at_port, bytes_left, back;
};

struct queue {
	struct transfer *t[MAX_MOVES];
	uint32_t head, n;
};

enum stage { FREE, LOADING, MATH, STORING };
struct buffer {
	enum stage stage;
	uint32_t loads_left, stores_left;
	bool asked, pushed;
	struct systolic_job job[CYCLEBED_CORES];
	uint32_t n_jobs;
	uint64_t summed; /* when cores have exchanged what they have; 0: not asked yet */
};

/* A command of the program, and what of the product it computes in which tiles. */
struct command {
	const struct isa_cmd *c;
	const struct isa_insn *move[OPERANDS];
	const struct isa_insn *math, *send; /* send NULL: k is not cut */
	struct box all;
	uint64_t tile[DIMS];
	int loop[ISA_LOOPS]; /* dimensions */
	bool fixed, pre_asked, post_asked, done;
	uint64_t summed;
	uint32_t pre_left, post_left, next_slot, next_math, next_free;
	struct buffer *buffers;
};

struct bed {
	const struct cyclebed_cfg *cfg;
	const struct isa_prog *p;
	struct systolic *array[CYCLEBED_CORES];
	struct command *cmd;
	uint64_t size[DIMS], used, now;
	uint64_t swapped;             /* when cores have sent all that they were to */
	int32_t *memory[2], *sram[2]; /* A as m rows of k, B as n rows of k */
	int64_t *sums, *stored;
	struct queue waited, ahead, port, back;
	uint32_t under_way[2];
	struct transfer pool[MAX_MOVES], *spare[MAX_MOVES];
	uint32_t n_spare;
	uint64_t last_event;
	struct cyclebed_result *out;
};

#define NO_TILE UINT32_MAX

/* --- the program as parts of the product ----------------------------------------------------------------------- */

/* Which of two outer loops goes over m: the one by which A goes on, or B does not. */
static void find_loops(struct command *x)
{
	const struct isa_insn *a = x->move[A], *b = x->move[B];
	const bool deep = a->when == ISA_TILE;
	bool m_outside = true;

	if (!x->c->trips[0]) { /* streamed: columns, or pieces of k */
		x->loop[0] = deep ? K : N;
		x->loop[1] = deep ? N : M;
		x->loop[2] = deep ? M : K;
		return;
	}
	if (a->when == ISA_TILE)
		m_outside = a->step[0] != 0;
	else if (b->when == ISA_TILE)
		m_outside = b->step[0] == 0;
	x->loop[0] = m_outside ? M : N;
	x->loop[1] = m_outside ? N : M;
	x->loop[2] = K;
}

static void understand(struct bed *b, struct command *x, const struct isa_cmd *c)
{
	const uint64_t row = b->size[K] * BYTES;
	const struct isa_insn *math = NULL;

	x->c = c;
	for (uint32_t i = c->first_insn; i < c->first_insn + c->n_insns; i++) {
		const struct isa_insn *y = &b->p->insns[i];

		if (y->code == ISA_LOAD || y->code == ISA_STORE)
			x->move[y->code == ISA_STORE ? C : y->tensor == 0 ? A : B] = y;
		else if (y->code == ISA_SEND)
			x->send = y;
		else
			math = y;
	}
	CHECK(x->move[A] && x->move[B] && x->move[C] && math && math->code == ISA_GEMM && math->when == ISA_TILE);
	CHECK_U64(x->move[A]->bytes % row + x->move[B]->bytes % row, 0);
	x->math = math;
	CHECK(math->parts[0] * math->parts[1] * math->parts[2] <= b->cfg->cores);
	CHECK((math->parts[2] > 1) == (x->send != NULL));
	x->all = (struct box){ { x->move[A]->offset / row, x->move[B]->offset / row, 0 },
		               { x->move[A]->bytes / row, x->move[B]->bytes / row, b->size[K] } };
	CHECK_U64(x->move[C]->bytes, x->all.n[M] * x->all.n[N] * BYTES);
	find_loops(x);
	x->tile[M] = math->shape.m;
	x->tile[N] = math->shape.rows;
	x->tile[K] = math->shape.cols;
	if (!c->trips[0] && x->loop[0] == K) {
		x->tile[N] = x->all.n[N];
		x->tile[K] = div_up(b->size[K], c->tiles);
	}
	if (c->trips[0] && x->move[A]->when != ISA_TILE && x->move[B]->when != ISA_TILE &&
	    c->trips[0] !=
	            div_up(x->all.n[M], x->tile[M])) { /* both are there before the loop: only trips tell the order */
		x->loop[0] = N;
		x->loop[1] = M;
	}
	for (int l = 0; l < ISA_LOOPS && c->trips[0]; l++)
		CHECK_U64(c->trips[l], div_up(x->all.n[x->loop[l]], x->tile[x->loop[l]]));
}

/* Tile t of the product; of it, what an operand has. */
static struct box box_of(const struct command *x, uint32_t t)
{
	const struct isa_rounds r = isa_rounds_of(x->c, t);
	struct box b = x->all;

	for (int l = 0; l < ISA_LOOPS; l++) {
		const int d = x->loop[l];
		const uint64_t from = r.at[l] * x->tile[d];

		if (!r.nest && l > 0)
			continue;
		b.from[d] += from;
		b.n[d] = from >= x->all.n[d] ? 0 : x->all.n[d] - from < x->tile[d] ? x->all.n[d] - from : x->tile[d];
	}
	return b;
}

static uint64_t bytes_of(const struct box *b, int operand)
{
	uint64_t n = BYTES;

	for (int d = 0; d < DIMS; d++)
		n *= has[operand][d] ? b->n[d] : 1;
	return n;
}

/* --- memory ---------------------------------------------------------------------------------------------------- */

static void put(struct queue *q, struct transfer *x)
{
	CHECK(q->n < MAX_MOVES);
	q->t[(q->head + q->n++) % MAX_MOVES] = x;
}

/* Number i of the line; those before it move up. */
static struct transfer *take_out(struct queue *q, uint32_t i)
{
	struct transfer *x = q->t[(q->head + i) % MAX_MOVES];

	for (; i > 0; i--)
		q->t[(q->head + i) % MAX_MOVES] = q->t[(q->head + i - 1) % MAX_MOVES];
	q->head = (q->head + 1) % MAX_MOVES;
	q->n--;
	return x;
}

static struct transfer *pop(struct queue *q)
{
	return take_out(q, 0);
}

/* The values of a tile, into SRAM or back; sums become memory's. */
static void copy(struct bed *b, const struct transfer *x)
{
	const struct box *o = &x->box;
	const int rows = x->operand == B ? N : M, cols = x->operand == C ? N : K;

	for (uint64_t i = o->from[rows]; i < o->from[rows] + o->n[rows]; i++)
		for (uint64_t k = o->from[cols]; k < o->from[cols] + o->n[cols]; k++) {
			const size_t at = i * b->size[cols] + k;

			if (x->operand == C)
				b->stored[at] = b->sums[at];
			else
				b->sram[x->operand][at] = b->memory[x->operand][at];
		}
}

/* Asks for a move; false: there is nothing to move. */
static bool ask(struct bed *b, struct command *x, int operand, const struct box *box, uint32_t tile, bool ready)
{
	struct transfer *t;

	if (bytes_of(box, operand) == 0)
		return false;
	CHECK(b->n_spare > 0);
	t = b->spare[--b->n_spare];
	*t = (struct transfer){ .cmd = x,
		                .operand = operand,
		                .box = *box,
		                .tile = tile,
		                .ahead = !ready,
		                .bytes_left = bytes_of(box, operand) };
	b->out->bytes += t->bytes_left;
	put(ready ? &b->waited : &b->ahead, t);
	return true;
}

/* Descriptors are taken up in order, those that somebody waits for first. */
static void take_up(struct bed *b)
{
	for (int ahead = 0; ahead < 2; ahead++) {
		struct queue *q = ahead ? &b->ahead : &b->waited;

		while (q->n && b->under_way[ahead] < b->cfg->descriptors) {
			struct transfer *x = pop(q);

			x->at_port = b->now + b->cfg->setup + b->cfg->hop;
			b->under_way[ahead]++;
			put(&b->port, x);
		}
	}
}

static bool is_ready(const struct bed *b, const struct command *x)
{
	for (uint32_t i = 0; i < x->c->n_deps; i++)
		if (!b->cmd[b->p->deps[x->c->first_dep + i]].done)
			return false;
	return b->now > 0; /* what is dispatched loads ahead first */
}

/* What a started command cannot go on without, its tiles' loads, what is loaded ahead. */
static int urgency(const struct bed *b, const struct transfer *x)
{
	return !is_ready(b, x->cmd) ? 0 : x->operand == C || x->tile == NO_TILE ? 2 : 1;
}

/* The most urgent that is at the port, the first of them; none: the number of those on their way. */
static uint32_t next_at_port(const struct bed *b)
{
	uint32_t best = b->port.n;
	int most = -1;

	for (uint32_t i = 0; i < b->port.n; i++) {
		const struct transfer *x = b->port.t[(b->port.head + i) % MAX_MOVES];
		const int u = x->at_port > b->now ? -1 : urgency(b, x);

		if (u > most) {
			most = u;
			best = i;
		}
	}
	return best;
}

/* The port carries so many bytes of it. */
static void step_port(struct bed *b)
{
	const uint32_t i = next_at_port(b);
	struct transfer *x = b->port.t[(b->port.head + i) % MAX_MOVES];

	if (i == b->port.n)
		return;
	b->out->port_busy++;
	x->bytes_left -= x->bytes_left < b->cfg->port_bytes ? x->bytes_left : b->cfg->port_bytes;
	if (x->bytes_left)
		return;
	x->back = b->now + 1 + b->cfg->latency + b->cfg->hop;
	put(&b->back, take_out(&b->port, i));
}

/* --- the sequencer ----------------------------------------------------------------------------------------------- */

static bool take(struct bed *b, uint64_t bytes)
{
	if (b->used + bytes > b->cfg->sram)
		return false;
	b->used += bytes;
	return true;
}

static struct buffer *buffer_of(struct bed *b, struct command *x, uint32_t tile)
{
	return &x->buffers[tile % b->cfg->stages];
}

static void arrived(struct bed *b, struct transfer *x)
{
	struct buffer *s = x->tile == NO_TILE ? NULL : buffer_of(b, x->cmd, x->tile);

	copy(b, x);
	b->under_way[x->ahead]--;
	if (x->operand == C)
		--*(s ? &s->stores_left : &x->cmd->post_left);
	else
		--*(s ? &s->loads_left : &x->cmd->pre_left);
	b->spare[b->n_spare++] = x;
	b->last_event = b->now;
}

static void ask_tile(struct bed *b, struct command *x, uint32_t tile, bool ready)
{
	struct buffer *s = buffer_of(b, x, tile);
	const struct isa_rounds r = isa_rounds_of(x->c, tile);
	const struct box box = box_of(x, tile);

	if (s->asked || !(ready || (x->move[A]->early && x->move[B]->early)))
		return;
	s->asked = true;
	for (int i = A; i <= B; i++)
		if (x->move[i]->when == ISA_TILE && isa_moves_in(x->c, x->move[i], &r))
			s->loads_left += ask(b, x, i, &box, tile, ready);
}

static void ask_pre(struct bed *b, struct command *x, bool ready)
{
	if (x->pre_asked || !(ready || (x->move[A]->early && x->move[B]->early)))
		return;
	x->pre_asked = true;
	for (int i = A; i <= B; i++)
		if (x->move[i]->when == ISA_PRE)
			x->pre_left += ask(b, x, i, &x->all, NO_TILE, ready);
}

/* Room for the command and its tiles, in order; false: it has not all of it yet, so the commands behind have none. */
static bool admit(struct bed *b, struct command *x, bool ready)
{
	if (!x->fixed && !take(b, x->c->fixed_bytes))
		return false;
	x->fixed = true;
	ask_pre(b, x, ready);
	while (x->next_slot < x->c->tiles) {
		struct buffer *s = buffer_of(b, x, x->next_slot);

		if (s->stage != FREE || !take(b, x->c->slot_bytes))
			break;
		*s = (struct buffer){ .stage = LOADING };
		ask_tile(b, x, x->next_slot++, ready);
	}
	for (uint32_t t = x->next_math; t < x->next_slot; t++)
		ask_tile(b, x, t, ready);
	return x->next_slot == x->c->tiles;
}

/* A core's part of a tile; false: there is nothing left for it. */
static bool part_of(const struct command *x, struct box *o, uint32_t core)
{
	const uint32_t *parts = x->math->parts;
	const uint32_t at[DIMS] = { core / parts[2] / parts[1], core / parts[2] % parts[1], core % parts[2] };

	for (int d = 0; d < DIMS; d++) {
		const uint64_t each = div_up(o->n[d], parts[d]), from = at[d] * each;

		o->from[d] += from;
		o->n[d] = from >= o->n[d] ? 0 : o->n[d] - from < each ? o->n[d] - from : each;
	}
	return o->n[M] && o->n[N] && o->n[K];
}

static void multiply(struct bed *b, struct command *x, uint32_t tile, struct buffer *s)
{
	const uint32_t *parts = x->math->parts;

	s->stage = MATH;
	b->out->tiles++;
	for (uint32_t core = 0; core < parts[0] * parts[1] * parts[2]; core++) {
		struct box o = box_of(x, tile);

		if (!part_of(x, &o, core))
			continue;
		s->job[s->n_jobs] = (struct systolic_job){ .a = b->sram[A] + o.from[M] * b->size[K] + o.from[K],
			                                   .b = b->sram[B] + o.from[N] * b->size[K] + o.from[K],
			                                   .c = b->sums + o.from[M] * b->size[N] + o.from[N],
			                                   .m = (uint32_t)o.n[M],
			                                   .n = (uint32_t)o.n[N],
			                                   .k = (uint32_t)o.n[K],
			                                   .a_stride = (uint32_t)b->size[K],
			                                   .b_stride = (uint32_t)b->size[K],
			                                   .c_stride = (uint32_t)b->size[N] };
		systolic_push(b->array[core], &s->job[s->n_jobs++]);
	}
}

/* Cores send each other their partial sums of so many tiles from now on: when all are there. */
static uint64_t swap(struct bed *b, const struct command *x, const struct box *o, uint64_t tiles)
{
	const uint32_t *parts = x->math->parts;
	const uint64_t sums = div_up(o->n[M], parts[0]) * div_up(o->n[N], parts[1]),
		       sent = div_up(4 * sums, parts[2]) * (parts[2] - 1);

	b->swapped = (b->swapped > b->now ? b->swapped : b->now) + tiles * div_up(sent, b->cfg->swap_bytes);
	return b->swapped + b->cfg->exchange;
}

/* Of all its tiles, behind the last. */
static uint64_t swap_all(struct bed *b, const struct command *x)
{
	const bool nest = x->c->trips[0] > 0;
	const struct box full = { .n = { x->tile[M], x->tile[N], x->tile[K] } };

	return nest ? swap(b, x, &full, div_up(x->all.n[M], x->tile[M]) * div_up(x->all.n[N], x->tile[N]))
	            : swap(b, x, &x->all, 1);
}

/* Whether all cores have done their part, and exchanged their sums where that is due now. */
static bool is_computed(struct bed *b, const struct command *x, struct buffer *s, uint32_t tile)
{
	const struct isa_rounds r = isa_rounds_of(x->c, tile);
	const struct box o = box_of(x, tile);

	for (uint32_t i = 0; i < s->n_jobs; i++)
		if (s->job[i].outs_left)
			return false;
	if (!x->send || x->send->when != ISA_TILE || !isa_moves_in(x->c, x->send, &r))
		return true;
	s->summed = s->summed ? s->summed : swap(b, x, &o, 1);
	return b->now >= s->summed;
}

/* Multiplies tiles whose operands are there, stores what leaves, and gives buffers free; all in order. */
static void step_tiles(struct bed *b, struct command *x)
{
	while (x->next_math < x->next_slot) {
		struct buffer *s = buffer_of(b, x, x->next_math);

		if (!s->asked || s->loads_left)
			break;
		multiply(b, x, x->next_math++, s);
	}
	for (uint32_t t = x->next_free; t < x->next_math; t++) {
		struct buffer *s = buffer_of(b, x, t);
		const struct isa_rounds r = isa_rounds_of(x->c, t);
		const struct box box = box_of(x, t);

		if (s->stage == MATH && is_computed(b, x, s, t)) {
			s->stage = STORING;
			if (x->move[C]->when == ISA_TILE && isa_moves_in(x->c, x->move[C], &r))
				s->stores_left += ask(b, x, C, &box, t, true);
			b->last_event = b->now;
		}
		if (s->stage == STORING && !s->stores_left) {
			s->stage = FREE;
			b->used -= x->c->slot_bytes;
		}
	}
	while (x->next_free < x->next_math && buffer_of(b, x, x->next_free)->stage == FREE)
		x->next_free++;
}

static void step_command(struct bed *b, struct command *x)
{
	if (!x->pre_asked || x->pre_left)
		return;
	step_tiles(b, x);
	if (x->next_free < x->c->tiles)
		return;
	if (x->send && x->send->when == ISA_POST && !x->summed)
		x->summed = swap_all(b, x);
	if (b->now < x->summed)
		return;
	if (!x->post_asked && x->move[C]->when == ISA_POST)
		x->post_left += ask(b, x, C, &x->all, NO_TILE, true);
	x->post_asked = true;
	if (x->post_left)
		return;
	x->done = true;
	b->used -= x->c->fixed_bytes;
	b->last_event = b->now;
}

/* False: every command is done. */
static bool sequence(struct bed *b)
{
	bool left = false, room = true;

	for (size_t i = 0; i < b->p->n_cmds; i++) {
		struct command *x = &b->cmd[i];
		const bool ready = is_ready(b, x);

		if (x->done)
			continue;
		if (ready)
			step_command(b, x);
		if (!x->done && room)
			room = admit(b, x, ready);
		if (!x->done && ready)
			step_command(b, x);
		left |= !x->done;
	}
	return left;
}

/* --- a run ------------------------------------------------------------------------------------------------------- */

static void up(struct bed *b, struct rng *r)
{
	const size_t n[OPERANDS] = { b->size[M] * b->size[K], b->size[N] * b->size[K], b->size[M] * b->size[N] };

	for (int i = A; i <= B; i++) {
		CHECK((b->memory[i] = calloc(n[i], sizeof *b->memory[i])) != NULL);
		CHECK((b->sram[i] = calloc(n[i], sizeof *b->sram[i])) != NULL);
		for (size_t k = 0; k < n[i]; k++) {
			b->memory[i][k] = (int32_t)rng_below(r, 255) - 127;
			b->sram[i][k] = UNLOADED;
		}
	}
	CHECK((b->sums = calloc(n[C], sizeof *b->sums)) != NULL);
	CHECK((b->stored = calloc(n[C], sizeof *b->stored)) != NULL);
	CHECK((b->cmd = calloc(b->p->n_cmds, sizeof *b->cmd)) != NULL);
	CHECK(b->cfg->cores > 0 && b->cfg->cores <= CYCLEBED_CORES);
	for (uint32_t i = 0; i < b->cfg->cores; i++)
		CHECK((b->array[i] = systolic_new(&b->cfg->array)) != NULL);
	for (size_t i = 0; i < b->p->n_cmds; i++) {
		CHECK((b->cmd[i].buffers = calloc(b->cfg->stages, sizeof *b->cmd[i].buffers)) != NULL);
		understand(b, &b->cmd[i], &b->p->cmds[i]);
	}
	while (b->n_spare < MAX_MOVES) {
		b->spare[b->n_spare] = &b->pool[b->n_spare];
		b->n_spare++;
	}
}

static void down(struct bed *b)
{
	for (int i = A; i <= B; i++) {
		free(b->memory[i]);
		free(b->sram[i]);
	}
	free(b->sums);
	free(b->stored);
	for (size_t i = 0; i < b->p->n_cmds; i++)
		free(b->cmd[i].buffers);
	free(b->cmd);
	for (uint32_t i = 0; i < b->cfg->cores; i++)
		systolic_free(b->array[i]);
}

static void check_product(const struct bed *b)
{
	for (uint64_t i = 0; i < b->size[M]; i++)
		for (uint64_t j = 0; j < b->size[N]; j++) {
			int64_t sum = 0;

			for (uint64_t l = 0; l < b->size[K]; l++)
				sum += (int64_t)b->memory[A][i * b->size[K] + l] * b->memory[B][j * b->size[K] + l];
			CHECK(b->stored[i * b->size[N] + j] == sum);
		}
}

void cyclebed_run(const struct cyclebed_cfg *c, const struct isa_prog *p, uint64_t m, uint64_t n, uint64_t k,
                  struct rng *r, struct cyclebed_result *out)
{
	struct bed b = { .cfg = c, .p = p, .size = { m, n, k }, .out = out };

	*out = (struct cyclebed_result){ .cmds = (uint32_t)p->n_cmds };
	up(&b, r);
	for (;; b.now++) {
		while (b.back.n && b.back.t[b.back.head]->back <= b.now)
			arrived(&b, pop(&b.back));
		if (!sequence(&b))
			break;
		take_up(&b);
		step_port(&b);
		for (uint32_t i = 0; i < c->cores; i++)
			if (!systolic_idle(b.array[i]))
				systolic_step(b.array[i]);
		CHECK(b.now < b.last_event + STUCK);
	}
	out->cycles = b.now;
	CHECK_U64(b.used, 0);
	check_product(&b);
	down(&b);
}
