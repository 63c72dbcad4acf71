#include "arch/machine/machine_power.h"

#include "arch/machine/machine_area.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/root.h"

#define MILLION   ENERGY_ONE
#define MIB       (UINT64_C(1) << 20)
#define HUNDREDTH UINT64_C(10000000000) /* of a mm2, nm2 */

/* --- sizes ------------------------------------------------------------------------------------------------------- */

/* A machine being filled in. */
struct filling {
	struct machine_cfg *c;
	struct cfg *raw; /* rows to tell; NULL: none */
	const struct tech *t;
	const char *node;
	uint64_t area;  /* hundredths of mm2: the machine's part of its die */
	uint64_t leaks; /* uW: of its blocks */
	struct err *e;
};

/* Of blocks that are there, whatever is used of them; of dies with several machines this one's part. */
static void machine_power_measure(struct filling *f)
{
	const uint64_t machines = f->c->die.machines ? f->c->die.machines : 1;
	struct area_part all = { 0, 0, 0 };
	struct area a;

	machine_area(f->c, f->t, &a);
	for (int i = 0; i < AREA_COUNT; i++)
		if (i != AREA_blank)
			area_add(&all, &a.block[i]);
	f->area = area_die(&a) / machines / HUNDREDTH;
	f->leaks = energy_add(energy_events(all.logic / machines / HUNDREDTH, f->t->leakage.logic, MILLION / 100),
	                      energy_events(all.sram / machines / HUNDREDTH, f->t->leakage.sram, MILLION / 100));
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

/* A row's value: what was given, else what comes of the node, whose source the row is told where it is to be shown. */
__attribute__((format(printf, 5, 6))) static int fill(const struct filling *f, const char *key, size_t member,
                                                      uint64_t v, const char *source, ...)
{
	uint64_t *used = (uint64_t *)((char *)&f->c->power.used + member);
	const uint64_t given = *(const uint64_t *)((const char *)&f->c->power.given + member);
	char name[CFG_STR_MAX], text[512];
	struct str value = STR_INIT;
	va_list args;
	size_t i;
	int rc = -1;

	*used = given ? given : v;
	if (given || !v || !f->raw)
		return 0;
	snprintf(name, sizeof name, "power.%s", key);
	va_start(args, source);
	vsnprintf(text, sizeof text, source, args);
	va_end(args);
	if (cfg_find(f->raw, name, &i, f->e) == 0) {
		cfg_format_value(cfg_at(f->raw, i).field->type, v, &value);
		rc = cfg_set_row(f->raw, i, str_c(&value), text, f->e);
	}
	str_free(&value);
	return rc;
}

#define FILL(f, key, v, ...) fill(f, #key, offsetof(struct npu_costs, key), v, __VA_ARGS__)

static int fill_macs(const struct filling *f)
{
	const struct npu_power_cfg *p = &f->c->power;
	static const struct {
		const char *key;
		size_t member;
		const char *of;
		enum dtype d;
		uint32_t part; /* millionths */
		const char *why;
	} rows[] = {
		{ "mac_fp32", offsetof(struct npu_costs, mac_fp32), "fp32", DT_FP32, 1000000, "multiply and add" },
		{ "mac_bf16", offsetof(struct npu_costs, mac_bf16), "bf16", DT_BF16, 1000000, "multiply, add in fp32" },
		{ "mac_fp16", offsetof(struct npu_costs, mac_fp16), "fp16", DT_FP16, 1000000, "multiply, add in fp32" },
		{ "mac_fp8", offsetof(struct npu_costs, mac_fp8), "bf16", DT_BF16, 610000,
		  "0.61 of it, as on our H200s (875 of 1433 fJ)" },
		{ "mac_int8", offsetof(struct npu_costs, mac_int8), "int8", DT_INT8, 1000000,
		  "multiply, add in 32 bits" },
		{ "mac_int4", offsetof(struct npu_costs, mac_int4), "int8", DT_INT8, 500000,
		  "half of it, our estimate: a quarter of the product, the same sum" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (fill(f, rows[i].key, rows[i].member,
		         energy_scale(energy_scale(tech_mac(f->t, rows[i].d, rows[i].d), rows[i].part), p->arithmetic),
		         "%s's %s, times power.arithmetic: %s", f->node, rows[i].of, rows[i].why) < 0)
			return -1;
	return 0;
}

static void fill_units(const struct filling *f)
{
	for (int i = 0; i < UNIT_COUNT; i++) {
		const struct unit_env u = machine_unit(f->c, (enum unit)i);

		f->c->power.unit_mac[i] = unit_table[i]->mac_energy && u.cfg->units ? unit_table[i]->mac_energy(&u) : 0;
	}
}

static int fill_steps(const struct filling *f)
{
	const struct tech_arithmetic *a = &f->t->arithmetic;
	const uint64_t alu = (a->fp32_add + a->fp32_multiply) / 2, times = f->c->power.arithmetic;

	if (FILL(f, alu, energy_scale(alu, times),
	         "%s's fp32 addition and multiplication, their mean, times power.arithmetic", f->node) < 0 ||
	    FILL(f, sfu, energy_scale(3 * (a->fp32_add + a->fp32_multiply), times),
	         "three multiply-adds of fp32 in %s, a table and a square (Oberman and Siu, ARITH-17, 2005), times"
	         " power.arithmetic",
	         f->node) < 0 ||
	    FILL(f, convert, energy_scale(a->fp32_add, times),
	         "our estimate: a shift and a rounding, as an fp32 addition in %s, times power.arithmetic",
	         f->node) < 0)
		return -1;
	return FILL(f, compare, energy_scale(2 * a->int32_add, times),
	            "our estimate: a comparison and an exchange, two 32-bit additions in %s, times power.arithmetic",
	            f->node);
}

/* A bank at a time answers. */
static uint64_t of_bank(const struct filling *f, uint64_t bytes, uint64_t banks)
{
	return bytes ? tech_sram_byte(f->t, bytes / (banks ? banks : 1)) : 0;
}

static int fill_arrays(const struct filling *f)
{
	const struct machine_cfg *c = f->c;
	const uint64_t l1 = l1_cache(&c->mem.l1), l2 = c->mem.l2.size, kv = c->mem.kv_buffer.size;
	static const char how[] = "%s's SRAM, banks of %llu KiB";
	const uint64_t bank[] = { sram_size(&c->sram) / c->sram.banks, l1 / c->cores, MIB,
		                  l2 / (c->mem.l2.banks ? c->mem.l2.banks : 1) };

	if (FILL(f, sram, of_bank(f, bank[0], 1), how, f->node, (unsigned long long)bank[0] / 1024) < 0 ||
	    FILL(f, l1, of_bank(f, l1 ? bank[1] : 0, 1), how, f->node, (unsigned long long)bank[1] / 1024) < 0 ||
	    FILL(f, kv_buffer, of_bank(f, kv ? bank[2] : 0, 1), how, f->node, (unsigned long long)bank[2] / 1024) < 0)
		return -1;
	return FILL(f, l2, of_bank(f, l2 ? bank[3] : 0, 1), how, f->node, (unsigned long long)bank[3] / 1024);
}

uint64_t machine_hops(const struct machine_cfg *c)
{
	return noc_way(&c->mem.noc);
}

/* A hop of a ring or mesh is as long as a core is wide; a crossbar's goes two thirds of the chip's side, as any two points
 * of a square are apart on straight ways. */
static int fill_network(const struct filling *f)
{
	const struct machine_cfg *c = f->c;
	const bool routed = noc_shape(&c->mem.noc, c->clock).routed;
	const uint64_t side = root_down(f->area * 10000), /* micrometres */
		way = routed ? side / ps_max(1, root_down(c->cores)) : side * 2 / 3;

	return FILL(f, noc, 8 * c->power.wire * way / 1000, "%.1f mm of power.wire, on a chip of %.0f mm2",
	            (double)way / 1000, (double)f->area / 100);
}

/* --- DRAM -------------------------------------------------------------------------------------------------------- */

/* O'Connor et al., MICRO-50 2017 (HBM2): opening 1 KB takes 909 pJ. */
#define HBM2_ROW    UINT64_C(909000)
#define HBM2_ROW_OF 1024

#define X(name) #name,
static const char *const dram_names[] = { TECH_DRAMS(X) NULL };
#undef X

static const char *dram_name(const struct machine_cfg *c)
{
	return c->power.dram[0] ? c->power.dram : c->mem.dram.kind;
}

static int dram_kind(const struct machine_cfg *c)
{
	const char *name = dram_name(c);
	const size_t n = strcspn(name, "-");

	for (int i = 0; dram_names[i]; i++)
		if (strlen(dram_names[i]) == n && strncmp(dram_names[i], name, n) == 0)
			return i;
	return -1;
}

/* A bit at the device; of some kinds only the pins' energy was published. */
static uint64_t dram_bit(const struct filling *f)
{
	const int kind = dram_kind(f->c);
	const struct tech_dram *d = kind < 0 ? NULL : &f->t->dram[kind];

	return !d ? 0 : d->access ? d->access : d->io;
}

static int check_dram(const struct machine_cfg *c, struct err *e)
{
	const char *near;

	if (!c->power.dram[0] || dram_kind(c) >= 0)
		return 0;
	near = str_nearest(c->power.dram, dram_names, sizeof dram_names / sizeof *dram_names - 1);
	return err_set(e, ERR_CONFIG,
	               "'power.dram' is '%s', of which configs/tech/dram.yaml has no energies; did you mean '%s'?",
	               c->power.dram, near ? near : dram_names[0]);
}

static int fill_dram(const struct filling *f)
{
	const struct machine_cfg *c = f->c;
	const uint64_t bit = dram_bit(f), byte = energy_scale(8 * bit, c->power.dram_path), all = HBM2_ROW * bit / 3920;
	const char *name = dram_name(c);

	if (FILL(f, dram_read, byte, "%s's device, times power.dram_path", name) < 0 ||
	    FILL(f, dram_write, byte, "%s's device, times power.dram_path, as a read", name) < 0 ||
	    FILL(f, activate, all * c->mem.dram.row_bytes / HBM2_ROW_OF,
	         "909 pJ for 1 KB of HBM2 (O'Connor et al., MICRO-50 2017, Table 3), as %s's device to HBM2's",
	         name) < 0)
		return -1;
	if (FILL(f, refresh, all / HBM2_ROW_OF, "a byte's part of power.activate: every row is opened once") < 0)
		return -1;
	return FILL(f, standby, energy_events(c->power.standby_gib, c->mem.dram.capacity / MIB, MILLION) / 1024,
	            "power.standby_gib, dram.capacity");
}

/* --- the chip ---------------------------------------------------------------------------------------------------- */

static int fill_chip(const struct filling *f)
{
	const struct machine_cfg *c = f->c;
	const struct npu_power_cfg *p = &c->power;
	if (FILL(f, leakage, f->leaks, "leakage of %s's logic and SRAM (configs/tech), of the blocks of %.0f mm2",
	         f->node, (double)f->area / 100) < 0)
		return -1;
	/* fJ a cycle and mm2, kHz: uW are 1e9 fJ a second. */
	return FILL(f, clock_tree, energy_events(energy_events(p->trunk, f->area, MILLION / 100), c->clock, 1),
	            "power.trunk of %.0f mm2, clock", (double)f->area / 100);
}

static int fill_rest(const struct filling *f)
{
	const struct npu_costs *p = &f->c->power.used;
	const uint64_t byte = p->l2 ? p->l2 : p->sram;

	if (FILL(f, command, 64 * (byte + p->noc + p->sram),
	         "our estimate: its descriptor of 64 B from the L2 into a core") < 0)
		return -1;
	return FILL(f, transfer, 64 * 2 * p->sram, "our estimate: its descriptor of 64 B, written and read");
}

static void keep_points(const struct filling *f)
{
	struct npu_power_cfg *p = &f->c->power;

	p->n_points = (uint32_t)(f->t->n_points < NPU_POINTS ? f->t->n_points : NPU_POINTS);
	for (uint32_t i = 0; i < p->n_points; i++) {
		p->points[i].clock = f->t->points[i].clock;
		p->points[i].voltage = f->t->points[i].voltage;
	}
}

/* Of a chip that has nothing to do at its lowest clock, its units gated. */
static uint64_t least_power(const struct machine_cfg *c)
{
	const struct npu_power_cfg *p = &c->power;
	const uint64_t low = p->n_points && p->points[0].clock < c->clock ? p->points[0].clock : c->clock,
		       v2 = npu_voltage2(p, low);

	return energy_add(energy_add(energy_scale(p->used.leakage, v2), p->used.standby),
	                  energy_scale(energy_scale(p->used.clock_tree, v2), low * MILLION / c->clock));
}

static int check_choice(const struct machine_cfg *c, struct err *e)
{
	const struct npu_power_cfg *p = &c->power;
	struct str cap = STR_INIT;
	int rc = 0;

	if ((p->cap || p->mode == NPU_PACE) && !npu_power_known(p))
		return err_set(
			e, ERR_CONFIG,
			"'power.%s' needs to know what the machine takes: 'die.node', and 'power.dram' or 'power.dram_read'",
			p->cap ? "cap" : "mode");
	if (p->mode == NPU_PACE && !p->latency_target)
		return err_set(e, ERR_CONFIG,
		               "'power.mode' is pace, and there is no time to keep: give 'power.latency_target'");
	if (p->cap && p->cap <= least_power(c)) {
		cfg_format_value(CFG_T_POWER, p->cap, &cap);
		rc = err_set(
			e, ERR_CONFIG,
			"'power.cap' is %s, and the machine takes %.4g W with nothing to do at its lowest clock: no clock"
			" fits under it",
			str_c(&cap), (double)least_power(c) / 1e6);
	}
	str_free(&cap);
	return rc;
}

int machine_power_fill(struct machine_cfg *c, struct cfg *raw, const struct source *from, struct machine_techs **kept,
                       struct err *e)
{
	struct filling f = { .c = c, .raw = raw, .node = c->die.node, .e = e };

	if (machine_runs(c) != MACHINE_COMMANDS)
		return 0;
	if (check_dram(c, e) < 0)
		return -1;
	if (die_known(&c->die) && !(f.t = machine_tech(kept, from, f.node, e)))
		return err_add(e, "reading 'die.node'");
	c->power.known = f.t && (dram_bit(&f) || c->power.given.dram_read);
	if (!c->power.known)
		return check_choice(c, e);
	machine_power_measure(&f);
	keep_points(&f);
	fill_units(&f);
	return fill_macs(&f) < 0 || fill_steps(&f) < 0 || fill_arrays(&f) < 0 || fill_network(&f) < 0 ||
	                       fill_dram(&f) < 0 || fill_chip(&f) < 0 || fill_rest(&f) < 0
	               ? -1
	               : check_choice(c, e);
}
