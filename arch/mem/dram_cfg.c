/* dram_cfg.c - the parameters of DRAM, their rules, and what follows from them in closed form.
 *
 * The defaults are configs/dram/hbm3-6400.yaml. */
#include "arch/mem/dram.h"
#include "arch/mem/dram_map.h"

#include <stdio.h>
#include <string.h>

#define MBPS              UINT64_C(1000000)
#define PPM               UINT64_C(1000000)
#define MAX_UNITS         4096
#define MAX_STRIPE_BURSTS 65536
#define MAX_PIN_MBPS      1000000

static const char *const map_names[] = { "plain", "hashed", NULL };
static const char *const refresh_names[] = { "all_bank", "per_bank", "none", NULL };
static const char *const page_names[] = { "open", "closed", NULL };
static const char *const scheduler_names[] = { "frfcfs", "row_hit", NULL };

#define PRESET                   "Ramulator 2.1 (c5b1c3a4) HBM3_16Gb_8hi, HBM3_6400Mbps"
#define S                        struct dram_cfg
#define T_ROW(m, def, help, src) CFG_PS(S, m, #m, def, 0, 100 * PS_US, NULL, help, src)

const struct cfg_field dram_schema[] = {
	CFG_STR(S, kind, "kind", "hbm3-6400", "names a file in configs/dram; 'fixed': one pipe with a latency",
	        "our choice"),
	CFG_RATE(S, bandwidth, "bandwidth", "0", 0, UINT64_C(1000000000000000), NULL,
	         "of all channels at the pins, sets the pin rate; 0: what pins and channels give", "our choice"),
	CFG_U32(S, channels, "channels", "16", 1, 1024, NULL, "independent channels of the whole memory",
	        "one HBM3 stack: JEDEC JESD238"),
	CFG_PPM(S, latency_scale, "latency_scale", "1", 10000, 100000000,
	        "scales tCL, tRCD, tRP and the controller's latency", "our choice: for sweeps"),
	CFG_PPM(S, reached, "reached", "1", 10000, 1000000,
	        "part of the pins' rate that comes of them where readers do not lie beside their channel, whatever banks and "
	        "queues do",
	        "1: banks and queues alone; Wormhole 0.66 to 0.70, and 0.92 with readers placed (tt-isa-documentation, DRAMTile)"),
	CFG_U32(S, pseudo_channels, "pseudo_channels", "2", 1, 8, NULL, "independent parts of a channel", PRESET),
	CFG_U32(S, ranks, "ranks", "2", 1, 16, cfg_pow2, "ranks or stack ids behind one bus", PRESET),
	CFG_U32(S, bank_groups, "bank_groups", "4", 1, 16, cfg_pow2, "bank groups of a rank", PRESET),
	CFG_U32(S, banks, "banks", "4", 1, 64, cfg_pow2, "banks of a bank group", PRESET),
	CFG_BYTES(S, row_bytes, "row_bytes", "1 KiB", 64, 65536, cfg_pow2, "of a bank of one pseudo-channel", PRESET),
	CFG_BYTES(S, capacity, "capacity", "0", 0, UINT64_C(1) << 50, NULL,
	          "of the whole memory, which a workload must fit; 0: not checked", "our choice"),
	CFG_U32(S, width_bits, "width_bits", "32", 4, 1024, cfg_pow2, "data pins of a pseudo-channel", PRESET),
	CFG_U32(S, burst_length, "burst_length", "8", 1, 128, cfg_pow2, "transfers of one burst", PRESET),
	CFG_U64(S, pin_mbps, "pin_mbps", "6400", 1, MAX_PIN_MBPS, NULL, "Mbit/s of a data pin", PRESET),
	CFG_BYTES(S, interleave, "interleave", "256 B", 8, 1 << 20, cfg_pow2, "bytes that stay in one pseudo-channel",
	          "our choice: two lines of 128 B"),
	CFG_ENUM(S, map, "map", "hashed", map_names,
	         "whether channels and banks are turned by a hash of higher address bits",
	         "our choice: permutation-based interleaving, Zhang et al., MICRO-33 (2000)"),
	T_ROW(t_cl, "12.5 ns", "RD to data", PRESET),
	T_ROW(t_cwl, "6.25 ns", "WR to data", PRESET),
	T_ROW(t_rcd, "19.375 ns", "ACT to RD, same bank", PRESET),
	T_ROW(t_rcd_wr, "9.375 ns", "ACT to WR, same bank", PRESET),
	T_ROW(t_rp, "16.25 ns", "PRE to ACT, same bank", PRESET),
	T_ROW(t_ras, "28.125 ns", "ACT to PRE, same bank", PRESET),
	T_ROW(t_rc, "45 ns", "ACT to ACT, same bank", PRESET),
	T_ROW(t_ccd_s, "0", "column to column, other bank group; 0: the burst, at any pin rate",
	      PRESET ": 2 CK, one burst"),
	T_ROW(t_ccd_l, "2.5 ns", "column to column, same bank group", PRESET),
	T_ROW(t_rrd_s, "2.5 ns", "ACT to ACT, other bank group", PRESET),
	T_ROW(t_rrd_l, "3.125 ns", "ACT to ACT, same bank group (used when there is only one)", PRESET),
	T_ROW(t_faw, "15 ns", "window of four ACT", PRESET),
	T_ROW(t_row_bus, "0", "an ACT and a PRE on the row command bus that pseudo-channels share; 0: not a limit",
	      PRESET),
	T_ROW(t_wr, "20.625 ns", "end of write data to PRE", PRESET),
	T_ROW(t_wtr, "6.25 ns", "end of write data to RD, same bank group", PRESET),
	T_ROW(t_rtp, "5.625 ns", "RD to PRE", PRESET),
	T_ROW(t_rtw, "12.5 ns", "RD to WR", PRESET),
	T_ROW(t_rfc, "350 ns", "all-bank refresh", PRESET),
	T_ROW(t_refi, "3.9 us", "between refreshes; 0: no refresh", PRESET),
	T_ROW(t_controller, "10 ns", "from the controller's door to the first command, and back",
	      "our choice: some 10 cycles of queueing and PHY"),
	CFG_U32(S, write_batch, "write_batch", "0", 0, 1024, NULL,
	        "bursts a pseudo-channel writes before the bus is turned; 0: what the write queue's marks give",
	        "our choice"),
	CFG_U32(S, queue, "queue", "64", 1, 65536, NULL, "tile requests held",
	        "our choice: beyond the DMA's descriptors"),
	CFG_U64(S, rows, "rows", "16384", 2, UINT64_C(1) << 24, cfg_pow2, "of a bank (command path)", PRESET),
	T_ROW(t_ck, "625 ps", "command clock; the command path works in whole ticks of it", PRESET),
	CFG_U32(S, clock_ticks, "clock_ticks", "2", 1, 2, NULL,
	        "2: row commands go at half clocks, columns at whole ones", PRESET),
	CFG_U32(S, act_ticks, "act_ticks", "3", 1, 8, NULL, "ticks an ACT takes on its command bus", PRESET ": 1.5 CK"),
	CFG_U32(S, column_ticks, "column_ticks", "2", 1, 8, NULL, "ticks a RD or WR takes on its command bus",
	        PRESET ": 1 CK"),
	CFG_BOOL(S, split_bus, "split_bus", "true",
	         "row and column commands have a bus each, shared by pseudo-channels", PRESET),
	CFG_BOOL(S, stacked, "stacked", "true", "ranks are dies of a stack: tRRD, tFAW and refresh are of all of them",
	         PRESET),
	T_ROW(t_ccd_bank, "0", "column to column, same bank; 0: tCCD_L (command path)", PRESET),
	T_ROW(t_ccd_l_wr, "0", "WR to WR, same bank group; 0: tCCD_L (command path)", PRESET),
	T_ROW(t_wtr_s, "4.375 ns", "end of write data to RD, other bank group (command path)", PRESET ": 7 CK"),
	T_ROW(t_cs, "625 ps", "between bursts of different ranks or stack ids (command path)",
	      "JEDEC JESD238: tCCD_R is 3 CK, one more than tCCD_S"),
	T_ROW(t_ppd, "1.25 ns", "PRE to PRE (command path)", PRESET ": 2 CK"),
	T_ROW(t_aad, "0", "LPDDR: ACT-1 to ACT-2 at most; 0: ACT is one command", PRESET),
	T_ROW(t_wck, "0", "LPDDR: the data clock runs on after a burst, else it takes a CAS command; 0: always on",
	      PRESET),
	T_ROW(t_rfc_pb, "200 ns", "refresh of one bank; 0: no such command", PRESET ": 320 CK"),
	T_ROW(t_refi_pb, "121.875 ns", "between refreshes of one bank (command path)", PRESET ": 195 CK"),
	CFG_ENUM(
		S, refresh, "refresh", "all_bank", refresh_names,
		"all banks at a time and all channels in step; per_bank: one by one, channels apart, others go on; none",
		"Ramulator 2.1: AllBank"),
	CFG_ENUM(S, page, "page", "open", page_names, "whether the command path leaves rows open",
	         "Ramulator 2.1: open"),
	CFG_ENUM(S, scheduler, "scheduler", "frfcfs", scheduler_names,
	         "of the command path: oldest ready first; row_hit: and no PRE before an older hit of that bank",
	         "Ramulator 2.1: FRFCFS"),
	CFG_STR(S, fields, "fields", "BGI", "address map of the command path: a name or fields, most significant first",
	        "our choice: spreads a stream over bank groups"),
	CFG_U32(S, read_queue, "read_queue", "128", 1, 512, NULL,
	        "reads a channel's controller holds: how far it looks ahead",
	        "our choice: enough that a stream on HBM does not wait for rows; the simulators have 32"),
	CFG_U32(S, write_queue, "write_queue", "128", 1, 512, NULL, "writes a channel's controller holds",
	        "our choice: as read_queue"),
	CFG_PPM(S, drain_high, "drain_high", "0.8", 0, 1000000, "of the write queue: more are drained",
	        "Ramulator 2.1"),
	CFG_PPM(S, drain_low, "drain_low", "0.2", 0, 1000000, "of the write queue: draining ends below",
	        "Ramulator 2.1"),
	CFG_RATE(S, fixed_bandwidth, "fixed_bandwidth", "1 TB/s", 1000, UINT64_C(1000000000000000), NULL,
	         "of kind 'fixed'", "our choice: a round number"),
	CFG_PS(S, fixed_latency, "fixed_latency", "100 ns", 0, 100 * PS_US, NULL, "of kind 'fixed'",
	       "our choice: a round number"),
	CFG_END
};
#undef S

/* --- reading and resolving --------------------------------------------------------------------------------- */

int dram_cfg_preset(struct cfg *raw, const struct yaml *y, const struct ynode *map, struct err *e)
{
	bool was_given[sizeof dram_schema / sizeof *dram_schema];
	char key[CFG_STR_MAX];

	for (size_t i = 0; dram_schema[i].key; i++) {
		snprintf(key, sizeof key, "dram.%s", dram_schema[i].key);
		was_given[i] = cfg_given(raw, key);
	}
	if (cfg_read_section(raw, "dram", y, map, true, e) < 0)
		return err_add(e, "reading a kind of DRAM");
	for (size_t i = 0; dram_schema[i].key; i++) {
		snprintf(key, sizeof key, "dram.%s", dram_schema[i].key);
		if (!was_given[i] && cfg_given(raw, key))
			cfg_forget(raw, key);
	}
	return 0;
}

bool dram_is_fixed(const struct dram_cfg *c)
{
	return strcmp(c->kind, "fixed") == 0;
}

static uint64_t pins(const struct dram_cfg *c)
{
	return (uint64_t)c->channels * c->pseudo_channels * c->width_bits;
}

/* The pin rate that `bandwidth` means, to the nearest Mbit/s. */
static uint64_t pin_rate(const struct dram_cfg *c)
{
	uint64_t per_mbps = pins(c) * (MBPS / 8);

	return c->bandwidth / per_mbps + (c->bandwidth % per_mbps >= (per_mbps + 1) / 2);
}

static bool given(const struct cfg *raw, const char *key)
{
	return raw && cfg_given(raw, key);
}

static int resolve_fixed(struct dram_cfg *c, const struct cfg *raw, struct err *e)
{
	if (c->bandwidth == 0) {
		c->bandwidth = c->fixed_bandwidth;
	} else if (c->bandwidth != c->fixed_bandwidth) {
		if (given(raw, "dram.fixed_bandwidth"))
			return err_set(e, ERR_CONFIG,
			               "'dram.bandwidth' and 'dram.fixed_bandwidth' differ: give one of them");
		c->fixed_bandwidth = c->bandwidth;
	}
	return 0;
}

static int resolve_rate(struct dram_cfg *c, const struct cfg *raw, struct err *e)
{
	uint64_t mbps;

	if (c->bandwidth == 0) {
		c->bandwidth = pins(c) * c->pin_mbps * (MBPS / 8);
		return 0;
	}
	mbps = pin_rate(c);
	if (given(raw, "dram.pin_mbps") && mbps != c->pin_mbps)
		return err_set(e, ERR_CONFIG,
		               "'dram.bandwidth' needs %llu Mbit/s a pin over %u channels of %u x %u pins, but "
		               "'dram.pin_mbps' is %llu: leave one of them out, or change 'dram.channels'",
		               (unsigned long long)mbps, c->channels, c->pseudo_channels, c->width_bits,
		               (unsigned long long)c->pin_mbps);
	if (mbps < 1 || mbps > MAX_PIN_MBPS)
		return err_set(e, ERR_CONFIG,
		               "'dram.bandwidth' needs %llu Mbit/s over %u x %u x %u pins: change 'dram.channels'",
		               (unsigned long long)mbps, c->channels, c->pseudo_channels, c->width_bits);
	c->pin_mbps = mbps;
	return 0;
}

static int check_geometry(const struct dram_cfg *c, struct err *e)
{
	uint64_t burst = dram_burst_bytes(c);

	if ((uint64_t)c->width_bits * c->burst_length % 8 || burst < 8)
		return err_set(e, ERR_CONFIG,
		               "'dram.width_bits' x 'dram.burst_length' is %llu bits: a burst is at least 8 bytes",
		               (unsigned long long)c->width_bits * c->burst_length);
	if (c->row_bytes < burst)
		return err_set(e, ERR_CONFIG, "'dram.row_bytes' is smaller than a burst of %llu bytes",
		               (unsigned long long)burst);
	if (c->interleave < burst)
		return err_set(e, ERR_CONFIG, "'dram.interleave' is smaller than a burst of %llu bytes",
		               (unsigned long long)burst);
	if ((uint64_t)c->channels * c->pseudo_channels > MAX_UNITS)
		return err_set(e, ERR_CONFIG, "'dram.channels' x 'dram.pseudo_channels' is more than %d", MAX_UNITS);
	if (c->row_bytes / burst * c->bank_groups > MAX_STRIPE_BURSTS)
		return err_set(e, ERR_CONFIG, "'dram.row_bytes' x 'dram.bank_groups' is more than %d bursts",
		               MAX_STRIPE_BURSTS);
	return 0;
}

static int check_times(const struct dram_cfg *c, struct err *e)
{
	struct dram_timing t = dram_timing(c);

	if (c->t_ras > c->t_rc)
		return err_set(e, ERR_CONFIG, "'dram.t_ras' is longer than 'dram.t_rc'");
	if (c->t_rrd_s > c->t_rrd_l)
		return err_set(e, ERR_CONFIG, "'dram.t_rrd_s' is longer than 'dram.t_rrd_l'");
	if (c->t_faw && c->t_faw < c->t_rrd_s)
		return err_set(e, ERR_CONFIG, "'dram.t_faw' is shorter than 'dram.t_rrd_s'");
	if (c->t_ccd_s > c->t_ccd_l && c->bank_groups > 1)
		return err_set(e, ERR_CONFIG, "'dram.t_ccd_s' is longer than 'dram.t_ccd_l'");
	if (c->t_ras < c->t_rcd + c->t_rtp)
		return err_set(e, ERR_CONFIG, "'dram.t_ras' is shorter than 'dram.t_rcd' + 'dram.t_rtp'");
	if (c->t_ck == 0)
		return err_set(e, ERR_CONFIG, "'dram.t_ck' is 0: the command path needs a clock");
	if (c->drain_low > c->drain_high)
		return err_set(e, ERR_CONFIG, "'dram.drain_low' is above 'dram.drain_high'");
	if (c->refresh == DRAM_REFRESH_BANK && (!c->t_refi_pb || !c->t_rfc_pb))
		return err_set(e, ERR_CONFIG,
		               "'dram.refresh' is per_bank, but 'dram.t_refi_pb' or 'dram.t_rfc_pb' is 0");
	if (t.t_refi_bank && t.t_refi_bank <= t.t_block_bank)
		return err_set(e, ERR_CONFIG,
		               "'dram.t_refi' leaves no time: the refresh of a bank with precharge and activate takes "
		               "%llu ps",
		               (unsigned long long)t.t_block_bank);
	if (t.t_refi && t.t_refi <= t.t_block)
		return err_set(e, ERR_CONFIG,
		               "'dram.t_refi' leaves no time: a refresh with precharge and activate takes %llu ps",
		               (unsigned long long)t.t_block);
	return 0;
}

static int check_map(const struct dram_cfg *c, struct err *e)
{
	const struct dram_map_size size = {
		.n = { c->channels, c->pseudo_channels, c->ranks, c->bank_groups, c->banks, c->rows,
		       c->row_bytes / dram_burst_bytes(c) },
		.burst_bytes = dram_burst_bytes(c),
	};
	struct dram_fieldmap map;

	return dram_map_parse(&map, c->fields, &size, e) < 0 ? err_add(e, "reading 'dram.fields'") : 0;
}

int dram_cfg_resolve(struct dram_cfg *c, const struct cfg *raw, struct err *e)
{
	if (dram_is_fixed(c))
		return resolve_fixed(c, raw, e);
	if (check_geometry(c, e) < 0 || resolve_rate(c, raw, e) < 0)
		return -1;
	return check_times(c, e) < 0 ? -1 : check_map(c, e);
}

/* --- closed forms ------------------------------------------------------------------------------------------ */

uint64_t dram_peak(const struct dram_cfg *c)
{
	if (c->bandwidth)
		return c->bandwidth;
	return dram_is_fixed(c) ? c->fixed_bandwidth : pins(c) * c->pin_mbps * (MBPS / 8);
}

static uint64_t of_reach(const struct dram_cfg *c, uint64_t v)
{
	return c->reached == PPM ? v : (uint64_t)((double)v * c->reached / PPM);
}

uint64_t dram_reachable(const struct dram_cfg *c)
{
	const uint64_t peak = of_reach(c, dram_peak(c));

	if (dram_is_fixed(c) || c->refresh == DRAM_REFRESH_BANK || c->t_refi <= c->t_rfc)
		return peak;
	return (uint64_t)((double)peak * (double)(c->t_refi - c->t_rfc) / (double)c->t_refi);
}

uint64_t dram_fixed_rate(const struct dram_cfg *c)
{
	return of_reach(c, c->fixed_bandwidth);
}

uint64_t dram_burst_bytes(const struct dram_cfg *c)
{
	return (uint64_t)c->width_bits * c->burst_length / 8;
}

static ps_t dram_cfg_scaled(const struct dram_cfg *c, ps_t t)
{
	return (t * c->latency_scale + PPM / 2) / PPM;
}

/* Bursts a pseudo-channel writes between two turns of its bus: from the high mark of the queue to the low one. */
static uint32_t write_batch(const struct dram_cfg *c)
{
	uint64_t n = (uint64_t)c->write_queue * (c->drain_high - c->drain_low) / PPM / c->pseudo_channels;

	return c->write_batch ? c->write_batch : n ? (uint32_t)n : 1;
}

struct dram_timing dram_timing(const struct dram_cfg *c)
{
	struct dram_timing t = {
		.units = c->channels * c->pseudo_channels,
		.channels = c->channels,
		.ranks = c->ranks,
		.groups = c->bank_groups,
		.banks = c->banks * c->ranks,
		.row_bytes = c->row_bytes,
		.burst_bytes = dram_burst_bytes(c),
		.interleave = c->interleave,
		.peak = dram_peak(c),
		.read_reach = div_up(c->read_queue, c->pseudo_channels),
		.write_reach = div_up(c->write_queue, c->pseudo_channels),
		.write_batch = write_batch(c),
		.hashed = c->map == DRAM_MAP_HASHED,
		.t_cl = dram_cfg_scaled(c, c->t_cl),
		.t_cwl = c->t_cwl,
		.t_rcd = dram_cfg_scaled(c, c->t_rcd),
		.t_rcd_wr = dram_cfg_scaled(c, c->t_rcd_wr),
		.t_rp = dram_cfg_scaled(c, c->t_rp),
		.t_ccd_s = c->t_ccd_s,
		.t_ccd_l = c->t_ccd_l,
		.t_ccd_bank = c->bank_groups == 1 ? c->t_ccd_bank : 0,
		.t_wr = c->t_wr,
		.t_wtr = c->t_wtr,
		.t_rtp = c->t_rtp,
		.t_rtw = c->t_rtw,
		.t_refi = c->refresh == DRAM_REFRESH_ALL ? c->t_refi : 0,
		.t_refi_bank = c->refresh == DRAM_REFRESH_BANK ? c->t_refi : 0,
		.t_controller = dram_cfg_scaled(c, c->t_controller),
	};

	/* A burst every so often, of all that units send together. */
	if (c->reached != PPM)
		t.t_ccd_s = ps_max(t.t_ccd_s, clock_transfer(t.burst_bytes * t.units, of_reach(c, t.peak)));
	t.t_rc = ps_max(c->t_rc, c->t_ras + t.t_rp);
	t.t_act = ps_max(c->bank_groups > 1 ? c->t_rrd_s : c->t_rrd_l, div_up(c->t_faw, 4));
	t.t_act = ps_max(t.t_act, c->t_row_bus * c->pseudo_channels);
	t.t_block = t.t_rtp + t.t_rp + c->t_rfc + t.t_rcd;
	t.t_block_bank = t.t_rtp + t.t_rp + c->t_rfc_pb + t.t_rcd;
	return t;
}

ps_t dram_bus_time(const struct dram_timing *t, uint64_t bursts)
{
	ps_t pin = clock_transfer(bursts * t->burst_bytes * t->units, t->peak);

	return ps_max(pin, ps_max(bursts * t->t_ccd_s, div_up(bursts * t->t_ccd_l, t->groups)));
}

ps_t dram_unloaded(const struct dram_cfg *c, enum dram_row r)
{
	struct dram_timing t;
	ps_t data;

	if (dram_is_fixed(c))
		return c->fixed_latency + clock_transfer(dram_burst_bytes(c), dram_fixed_rate(c));
	t = dram_timing(c);
	data = t.t_cl + dram_bus_time(&t, 1);
	if (r == DRAM_ROW_HIT)
		return data;
	return data + t.t_rcd + (r == DRAM_ROW_CONFLICT ? t.t_rp : 0);
}
