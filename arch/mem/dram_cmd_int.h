/* dram_cmd_int.h - the state of the command path, shared by its parts: dram_cmd_dev.c, what commands do to the
 * device's times; dram_cmd_pick.c, which comes next; dram_cmd_queue.c, what waits for them; dram_cmd.c, refresh and
 * time. */
#ifndef NPUSIM_ARCH_MEM_DRAM_CMD_INT_H
#define NPUSIM_ARCH_MEM_DRAM_CMD_INT_H

#include "arch/mem/dram_cmd.h"

#define NO_ROW UINT32_MAX
#define NO_ENT UINT16_MAX

enum { READS, WRITES };
enum { CAND_OPEN, CAND_CLOSE, CAND_COLUMN, CANDS };

struct ent {
	tick_t accepted;
	uint64_t seq; /* age */
	struct dram_burst b;
	uint32_t row;
	uint16_t bank, next, prev; /* bank of the channel; its list, or `next` of the spare ones */
};

/* Ready times are first ticks: [READS] for RD, [WRITES] for WR. */
struct bank {
	tick_t col[2], act, pre;
	uint32_t row;
	uint16_t unit, group;      /* of the channel */
	uint16_t place;            /* among the unit's: its bit in masks */
	uint16_t active;           /* requests that opened the row and have not been served */
	uint16_t head[2], tail[2]; /* queued requests, oldest first */
	uint16_t hit[2], miss[2];  /* oldest with this row, oldest with another (all, where no row is open) */
	bool due;                  /* for its refresh: takes no request that has not opened its row yet */
	uint16_t cand[2][CANDS];   /* its place among the channel's candidates, [direction][CAND_*] */
};

struct group {
	tick_t col[2], act;
};

/* Banks of one rank of one pseudo-channel. */
struct unit {
	tick_t col[2], act, pre;
	tick_t preab, ref;
	tick_t faw[4];
	uint32_t faw_at, active;
	uint16_t from, to;       /* the ranks that share its tRRD, tFAW and refresh: all where they are stacked */
	uint16_t pc_from, pc_to; /* the ranks of its pseudo-channel */
	uint64_t open;
};

/* The next command of a bank for one of its requests, and what it waits for: a time of its own, and the gates of its
 * bank group and rank. `whole`: 1 where it goes at whole clocks, the odd ticks. */
struct cand {
	tick_t at;
	const tick_t *group, *unit;
	uint64_t seq; /* age of the request; of an active one, when it was accepted */
	uint32_t bank;
	uint16_t ent;
	uint8_t whole, k; /* enum dram_command */
};

struct channel {
	const struct dram_cmd_table *t;
	dram_cmd_done *done;
	void *owner;
	struct ent *ent;
	struct bank *bank;
	struct group *group;
	struct unit *unit;
	struct cand *active;         /* in the order their rows were opened */
	struct cand *cand[2][CANDS]; /* [direction][CAND_*], each n_banks behind the one before; in no order */
	uint32_t n_cand[2][CANDS];
	uint16_t *refresh; /* due, oldest first: a ring of first units, or of banks */
	uint32_t n_banks, n_units, unit_banks, n_active, n_refresh, refresh_at, refresh_size, refresh_turn;
	uint32_t n[2]; /* queued */
	uint16_t spare;
	bool write_mode, freed; /* freed: a queue has had room made since the step began */
	tick_t no_gate;         /* 0: of commands that wait for no group */
	tick_t bus[2];          /* free: row commands, column commands; [0] is both where they share */
	tick_t col_next, row_next, refresh_next, next;
	uint16_t opening, cas; /* between ACT-1 and ACT-2; between CAS and its column command */
	tick_t opening_since, wck_until;
	struct dram_cmd_stats stats;
};

static inline tick_t later(tick_t a, tick_t b)
{
	return a > b ? a : b;
}
static inline tick_t sooner(tick_t a, tick_t b)
{
	return a < b ? a : b;
}

struct choice {
	enum dram_command k;
	uint16_t ent;
	int16_t active;
	uint32_t bank;
}; /* active: its place, or -1 */

/* Column commands, ACT and refresh go at whole clocks, which are the odd ticks. */
static inline tick_t dram_whole_clock(const struct channel *c, tick_t t)
{
	return c->t->clock_ticks == 2 ? t | 1 : t;
}

/* The queues are such that reads turn to writes or back. */
static inline bool dram_turns(const struct channel *c)
{
	if (c->n_refresh && c->t->refresh == DRAM_REFRESH_ALL)
		return false;
	return c->write_mode ? c->n[WRITES] < c->t->low && c->n[READS] : c->n[WRITES] > c->t->high || !c->n[READS];
}

void dram_turn_mode(struct channel *c);
/* True: *x is to be issued now. *next is the first tick at which something else may be, unless something is issued,
 * offered or due before; `now` where it is ready already. */
bool dram_choose_column(struct channel *c, tick_t now, struct choice *x, tick_t *next);
bool dram_choose_row(struct channel *c, tick_t now, bool closes, struct choice *x,
                     tick_t *next); /* closes: PRE alone */
bool dram_choose_any(struct channel *c, tick_t now, struct choice *x, tick_t *next);

/* Takes a request, whose queue has room; true: it gives its bank something new to do. */
bool dram_queue_put(struct channel *c, const struct dram_place *at, const struct dram_burst *burst, tick_t now,
                    uint64_t seq);
void dram_queue_due(struct channel *c, uint32_t bank); /* its refresh is, and stops it */
void dram_queue_issue(struct channel *c, const struct choice *x, tick_t now);
void dram_queue_finish_open(struct channel *c, tick_t now); /* ACT-2 */

/* What a command does to the times and the row; the caller has asked whether it may. */
void dram_dev_act(struct channel *c, uint32_t bank, uint32_t row, tick_t now);
void dram_dev_pre(struct channel *c, uint32_t bank, tick_t now);
void dram_dev_column(struct channel *c, uint32_t bank, int dir, tick_t now);
void dram_dev_preab(struct channel *c, uint32_t unit, tick_t now); /* of all ranks where they are stacked */
void dram_dev_refab(struct channel *c, uint32_t unit, tick_t now);
void dram_dev_refpb(struct channel *c, uint32_t bank, tick_t now);
tick_t dram_dev_ready(const struct channel *c, enum dram_command k, uint32_t bank);

#endif
