/* dram.h - DRAM: channels with per-bank row buffers, refresh and turnaround, served a tile at a time.
 *
 * Models (dram_tile.h has the equations): each request's bytes are spread over pseudo-channels by the address map; per
 * pseudo-channel the bus carries them burst by burst, row misses close and open banks under tRCD, tRP, tRAS, tRC, tRRD
 * and tFAW with activations of other banks hidden behind transfers, a change of direction costs its turnaround, and
 * every bank is refreshed once a tREFI, all together or one by one. Efficiency and latency under load are results, not inputs.
 * Leaves out: command-accurate scheduling (a queue's reach and `write_batch` stand for it), ECC, temperature.
 * Invariants: I1 a bank has at most one open row; I2 bytes served are the bytes asked, rounded up to bursts per
 * pseudo-channel; I3 a refusal owes one retry; I4 the pseudo-channels never carry more bytes than their buses can in
 * the time since the first of them arrived, so no run beats the peak; I5 with the same requests at the same times, more
 * bandwidth or less of any latency does not make a request end later, but for what dram_tile.h says.
 * Numbers: configs/dram/TYPE-RATE.yaml, from Ramulator 2.1's presets (timings table in validate/data/dram). */
#ifndef NPUSIM_ARCH_MEM_DRAM_H
#define NPUSIM_ARCH_MEM_DRAM_H

#include "arch/comp.h"

/* Where consecutive bytes go: pseudo-channel by `interleave`, then bank group by burst, then column, bank, row.
 * DRAM_MAP_HASHED also turns the pseudo-channels and the banks by a hash of the address bits above, so that power of
 * two strides and copies between aligned arrays do not camp on one of them. */
enum dram_map { DRAM_MAP_PLAIN, DRAM_MAP_HASHED };
enum dram_refresh { DRAM_REFRESH_ALL, DRAM_REFRESH_BANK, DRAM_REFRESH_NONE };
enum dram_page { DRAM_PAGE_OPEN, DRAM_PAGE_CLOSED };
enum dram_scheduler { DRAM_FRFCFS, DRAM_FRFCFS_ROW_HIT };

struct dram_cfg {
	char kind[CFG_STR_MAX]; /* names a file in configs/dram; "fixed": the trivial twin */
	uint64_t bandwidth;     /* bytes/s of all channels at the pins; 0: what pins and channels give */
	uint32_t channels;
	uint32_t latency_scale;            /* ppm: scales tCL, tRCD, tRP and the controller's latency */
	uint32_t pseudo_channels;          /* a channel's independent parts */
	uint32_t ranks;                    /* ranks or stack ids: more banks behind the same bus */
	uint32_t bank_groups, banks;       /* of a rank; banks per group */
	uint64_t row_bytes;                /* of a bank of one pseudo-channel */
	uint64_t capacity;                 /* bytes of the whole memory, for the machine's check; 0: not known */
	uint32_t width_bits, burst_length; /* of a pseudo-channel */
	uint64_t pin_mbps;                 /* of a pin */
	uint64_t interleave;               /* bytes that stay in one pseudo-channel */
	uint32_t map;                      /* enum dram_map */
	ps_t t_cl, t_cwl, t_rcd, t_rcd_wr, t_rp, t_ras, t_rc;
	ps_t t_ccd_s, t_ccd_l; /* t_ccd_s 0: as long as the burst, whatever the pin rate */
	ps_t t_rrd_s, t_rrd_l, t_faw;
	ps_t t_row_bus;                                /* an ACT and a PRE on a row bus that pseudo-channels share */
	ps_t t_wr, t_wtr, t_rtp, t_rtw, t_rfc, t_refi; /* t_refi 0: no refresh */
	ps_t t_controller;                             /* from the controller's door to the first command, and back */
	uint32_t write_batch; /* bursts a controller writes before it turns the bus for reads */
	uint32_t queue;       /* tile requests it holds */
	/* What only the command path (dram_cmd.h) asks. */
	uint64_t rows;                    /* of a bank */
	ps_t t_ck;                        /* command clock */
	uint32_t clock_ticks;             /* ticks of a clock: 2 where row commands go at half clocks */
	uint32_t act_ticks, column_ticks; /* an ACT, a RD or WR on its command bus */
	bool split_bus;                   /* row and column commands have a bus each */
	bool stacked;                     /* ranks are dies of one stack: tRRD, tFAW and refresh are of all of them */
	ps_t t_ccd_bank;                  /* column to column, same bank; 0: t_ccd_l */
	ps_t t_ccd_l_wr, t_wtr_s, t_cs, t_ppd;
	ps_t t_aad, t_wck; /* LPDDR: ACT-1 to ACT-2 at most; clock kept after a burst. 0: none */
	ps_t t_rfc_pb, t_refi_pb;
	uint32_t refresh, page, scheduler; /* enum dram_refresh, dram_page, dram_scheduler */
	char fields[CFG_STR_MAX];          /* address map (dram_map.h) */
	uint32_t read_queue, write_queue;  /* bursts a channel's controller holds */
	uint32_t drain_high, drain_low;    /* ppm of the write queue */
	uint32_t reached;                  /* ppm of the pins' rate, by whoever asks without looking where */
	uint64_t fixed_bandwidth;          /* the trivial twin: bytes/s ... */
	ps_t fixed_latency;                /* ... and latency */
};

extern const struct cfg_field dram_schema[];
extern const struct comp_ops dram_ops, dram_fixed_ops;

/* Reads a configs/dram file: values the machine gave win, and the file's own do not count as given. */
int dram_cfg_preset(struct cfg *raw, const struct yaml *y, const struct ynode *map, struct err *e);
/* Cross-field rules, and bandwidth, channels and pin rate made consistent: `bandwidth` sets the pin
 * rate, ns timings stay; `bandwidth` and `pin_mbps` both given and inconsistent is an error. `raw` (may be NULL:
 * nothing was given) knows the section as "dram". Resolving twice changes nothing. */
int dram_cfg_resolve(struct dram_cfg *c, const struct cfg *raw, struct err *e);
bool dram_is_fixed(const struct dram_cfg *c); /* the machine takes dram_fixed_ops */
uint64_t dram_peak(const struct dram_cfg *c); /* bytes/s at the pins */
/* What of it refreshes and `reached` leave: an upper bound, as no row is ever opened. */
uint64_t dram_reachable(const struct dram_cfg *c);
/* Of kind 'fixed', what comes of them. */
uint64_t dram_fixed_rate(const struct dram_cfg *c);
uint64_t dram_burst_bytes(const struct dram_cfg *c);
enum dram_row { DRAM_ROW_HIT, DRAM_ROW_EMPTY, DRAM_ROW_CONFLICT };
/* Closed form: one burst, idle device, without the controller. */
ps_t dram_unloaded(const struct dram_cfg *c, enum dram_row r);

/* The timing table of one pseudo-channel, derived once from the configuration. Any model of the device starts here. */
struct dram_timing {
	uint32_t units; /* pseudo-channels of all channels */
	uint32_t channels, ranks;
	uint32_t groups, banks; /* bank groups; banks of one group, all ranks */
	uint64_t row_bytes, burst_bytes, interleave;
	uint64_t peak;                    /* bytes/s of all units */
	uint32_t read_reach, write_reach; /* bursts of a pseudo-channel that its controller's queue holds */
	uint32_t write_batch;
	bool hashed;
	ps_t t_cl, t_cwl, t_rcd, t_rcd_wr, t_rp, t_rc, t_ccd_s, t_ccd_l, t_ccd_bank,
		t_act; /* t_act: between activates of a unit */
	ps_t t_wr, t_wtr, t_rtp, t_rtw, t_controller;
	ps_t t_refi;                    /* between refreshes of all banks; 0: there are none */
	ps_t t_block;                   /* of each tREFI lost: last read to precharge, tRP, tRFC, tRCD */
	ps_t t_refi_bank, t_block_bank; /* the same of each bank, where they are refreshed one by one; else 0 */
};
struct dram_timing dram_timing(const struct dram_cfg *c);
ps_t dram_bus_time(const struct dram_timing *t, uint64_t bursts); /* of one unit's bus, rounded up */

#endif
