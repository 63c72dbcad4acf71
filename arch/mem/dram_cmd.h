/* dram_cmd.h - DRAM command by command: what a memory controller does with single bursts.
 *
 * Models, per channel: a read and a write queue in front of banks with one row buffer each; ACT, PRE, RD, WR and
 * refresh under all times of struct dram_cfg (tCL tCWL tRCD tRP tRAS tRC tCCD_S/L tRRD_S/L tFAW tWR tWTR_S/L tRTP tRTW
 * tPPD tRFC tREFI), the command buses (one, or one for rows and one for columns; shared by the pseudo-channels),
 * commands of several ticks, HBM3's half-clock row commands, LPDDR's split ACT and data-clock CAS.
 * The controller, as Ramulator 2.1 describes its own: first ready, first come first served, over the whole queue;
 * a request that opened its row goes first and its row is not closed under it; reads before writes until the write
 * queue is above its high mark or no read waits, then writes down to the low mark; a due refresh of all banks stops
 * everything but requests whose row is open for them. One of a bank goes first and stops that bank alone (Ramulator's
 * stops all); each has its turn once a tREFI, in every pseudo-channel, and channels start apart.
 * Leaves out: forwarding from queued writes, ECC, temperature, power-down.
 *
 * Time is in ticks of the command clock (t_ck / clock_ticks). The model is driven by its own loop: `dram_cmd_offer`
 * puts bursts into the queue of their channel while there is room, `dram_cmd_step` goes to a tick, `dram_cmd_next` says
 * which tick is next in which anything can happen; ticks between them are skipped.
 * Invariants: I1 no command before its time (dram_cmd_ready_at asks the same tables); I2 every burst accepted is
 * reported once through `done`; I3 a bank has at most one open row; I4 skipping ticks changes nothing. */
#ifndef NPUSIM_ARCH_MEM_DRAM_CMD_H
#define NPUSIM_ARCH_MEM_DRAM_CMD_H

#include "arch/mem/dram.h"
#include "arch/mem/dram_map.h"

typedef uint64_t tick_t;
#define TICK_NEVER UINT64_MAX

/* struct dram_cfg in ticks: times between first ticks of commands, longer commands accounted for. */
struct dram_cmd_table {
	uint32_t channels, pcs, ranks, groups, banks; /* groups: as far as the _L times go */
	struct dram_map_size size;
	ps_t t_ck;
	uint32_t clock_ticks;
	uint32_t act_ticks, column_ticks;
	bool split_bus, stacked, row_hit, closed_page;
	uint32_t refresh; /* enum dram_refresh */
	tick_t burst, read_latency, write_latency;
	tick_t ccd_s, ccd_l, ccd_s_wr, ccd_l_wr, rtw, wtr_s, wtr_l; /* column to column; wtr from the WR command */
	tick_t rank_rd_rd, rank_rd_wr, rank_wr_wr, rank_wr_rd;      /* the same, other rank */
	tick_t rcd, rcd_wr, ras, rc, rp, rrd_s, rrd_l, faw, ppd;
	tick_t rtp, wr_pre; /* RD to PRE, WR to PRE */
	tick_t aad, wck;
	tick_t rfc, rfc_pb, refi, refi_pb, rc_ref, rp_ref;
	uint32_t read_queue, write_queue, high, low;
};
int dram_cmd_table(struct dram_cmd_table *t, const struct dram_cfg *c, struct err *e);
uint64_t dram_cmd_ps(const struct dram_cmd_table *t, tick_t n); /* n ticks, in ps */

struct dram_cmd;
struct dram_burst {
	uint64_t tag;
	tick_t born;
	bool write;
}; /* the asker's own tag; when it was made */
/* `done`: the burst's column command is on its way; `data` is when its last byte is there (read), or the command
 * itself (write). */
typedef void dram_cmd_done(void *owner, const struct dram_burst *b, tick_t accepted, tick_t data);

struct dram_cmd *dram_cmd_new(const struct dram_cmd_table *t, const struct dram_fieldmap *map, dram_cmd_done *done,
                              void *owner, struct err *e);
void dram_cmd_free(struct dram_cmd *d);
/* Between steps; false: that queue is full. */
bool dram_cmd_offer(struct dram_cmd *d, const struct dram_place *at, const struct dram_burst *b);
bool dram_cmd_room(const struct dram_cmd *d, uint32_t channel, bool write);
tick_t dram_cmd_now(const struct dram_cmd *d);
tick_t dram_cmd_next(const struct dram_cmd *d); /* > now; TICK_NEVER: nothing is left to do */
/* now < to <= next, or earlier with offers. True: a queue has had room made. */
bool dram_cmd_step(struct dram_cmd *d, tick_t to);

enum dram_command { DRAM_ACT, DRAM_PRE, DRAM_RD, DRAM_WR, DRAM_PREAB, DRAM_REFAB, DRAM_REFPB, DRAM_COMMANDS };
/* The first tick at which the device takes this command there: its times alone, not row state, queues or buses. */
tick_t dram_cmd_ready_at(const struct dram_cmd *d, enum dram_command c, const struct dram_place *at);
bool dram_cmd_is_open(const struct dram_cmd *d, const struct dram_place *at);
/* Tests: issue at tick `when`, legal or not. */
void dram_cmd_issue(struct dram_cmd *d, enum dram_command c, const struct dram_place *at, tick_t when);

struct dram_cmd_stats {
	uint64_t commands[DRAM_COMMANDS], steps;
};
struct dram_cmd_stats dram_cmd_stats(const struct dram_cmd *d);

#endif
