#include "arch/machine/machine_area.h"

#include <string.h>

#include "arch/power/energy.h"

#define NOC_PORT 64 /* bytes a cycle of the ports and banks that configs/tech/die.yaml has */

static uint64_t machine_area_times(uint64_t a, uint64_t b)
{
	return energy_events(a, b, ENERGY_ONE);
}

static uint64_t or_else(uint64_t built, uint64_t used)
{
	return built ? built : used;
}

/* Ports or banks of so many bytes a cycle, of what is known for 64. */
static uint64_t logic_of_ports(const struct tech *t, uint64_t ports, uint64_t bytes, uint64_t each)
{
	return area_logic(t, machine_area_times(machine_area_times(ports, bytes), each) / NOC_PORT);
}

/* --- around the cores ---------------------------------------------------------------------------------------------- */

static uint64_t cores_of(const struct machine_cfg *c)
{
	return or_else(c->die.cores, c->cores);
}

static struct area_part l2_of(const struct machine_cfg *c, const struct tech *t)
{
	const struct l2_cfg *l2 = &c->mem.l2;
	const uint64_t size = or_else(c->die.l2, l2->size);
	struct area_part out = { 0, 0, 0 };

	if (!size)
		return out;
	out.sram = area_sram(t, size + l2->victim, 1);
	/* Banks of the parts that are switched off are there, too. */
	out.logic = logic_of_ports(t, l2->size ? machine_area_times(l2->banks, size) / l2->size : l2->banks,
	                           l2->bank_width, t->die.sram.bank);
	return out;
}

static struct area_part noc_of(const struct machine_cfg *c, const struct tech *t)
{
	const struct noc_cfg *n = &c->mem.noc;
	const bool routed = noc_shape(n, c->clock).routed;
	const uint64_t ports = n->kind == NOC_IDEAL ? cores_of(c) : cores_of(c) + n->stops,
		       port = n->kind == NOC_IDEAL ? machine_area_times(c->dma.engines, c->dma.width) : n->port;

	if (ports == 1)
		return (struct area_part){ 0, 0, 0 };
	return (struct area_part){ .logic = logic_of_ports(t, ports, port,
		                                           routed ? t->die.noc.router : t->die.noc.crossbar) };
}

static struct area_part kv_of(const struct machine_cfg *c, const struct tech *t)
{
	const struct kv_cfg *kv = &c->mem.kv_buffer;
	struct area_part out = { 0, 0, 0 };

	if (!kv->size)
		return out;
	out.sram = area_sram(t, kv->size, 1);
	/* Its rate is given in bytes a second, so at a faster clock it is fewer wires: that part of a die shrinks. */
	out.logic = area_logic(t, area_crossing(t, 8 * (kv->bandwidth / 1000 / (c->clock ? c->clock : 1))));
	return out;
}

static enum tech_link_kind phy_of_kind(const char *dram)
{
	return strncmp(dram, "hbm", 3) == 0    ? TECH_LINK_hbm2e_phy
	       : strncmp(dram, "gddr", 4) == 0 ? TECH_LINK_gddr6_phy
	                                       : TECH_LINK_ddr5_phy;
}

static struct area_part phy(const struct tech *t, uint32_t which, uint64_t width)
{
	if (which == DIE_PHY_NONE)
		return (struct area_part){ 0, 0, 0 };
	return area_phy(t, (enum tech_link_kind)(which - 1), width);
}

/* Pins of data, as built. */
static uint64_t dram_bits(const struct machine_cfg *c)
{
	const struct dram_cfg *d = &c->mem.dram;

	return or_else(c->die.memory_bits,
	               machine_area_times(machine_area_times(d->channels, d->pseudo_channels), d->width_bits));
}

static struct area_part dram_of(const struct machine_cfg *c, const struct tech *t)
{
	const struct dram_cfg *d = &c->mem.dram;
	const uint64_t bits = dram_bits(c);

	if (c->die.memory != DIE_MEMORY_AUTO)
		return phy(t, c->die.memory - 1, bits);
	if (dram_is_fixed(d))
		return (struct area_part){ 0, 0, 0 };
	return area_phy(t, phy_of_kind(d->kind), bits);
}

/* --- an NPU ---------------------------------------------------------------------------------------------------------- */

static struct area_part sram_of(const struct machine_cfg *c, const struct tech *t)
{
	const struct sram_cfg *s = &c->sram;
	const uint64_t cores = cores_of(c),
		       bits = machine_area_times(machine_area_times(s->banks, s->ports), 8 * s->bank_width);

	return (struct area_part){ .sram = area_sram(t, machine_area_times(cores, s->size), s->ports),
		                   .logic = area_logic(t, area_crossing(t, machine_area_times(cores, bits))) };
}

static struct area_part l1_of(const struct machine_cfg *c, const struct tech *t)
{
	const struct l1_cfg *l1 = &c->mem.l1;
	const uint64_t cores = cores_of(c);
	struct area_part out = { 0, 0, 0 };

	if (!l1->size)
		return out;
	out.sram = area_sram(t, machine_area_times(cores, l1->size + l1->victim), 1);
	out.logic = area_logic(t, area_crossing(t, machine_area_times(cores, 8 * l1->bandwidth)));
	return out;
}

static void units_of(const struct machine_cfg *c, const struct tech *t, struct area *out)
{
#define BLOCK(id, name, code, insn, area) AREA_##name,
	static const enum area_block block[UNIT_COUNT] = { UNITS(BLOCK) };
#undef BLOCK

	for (int i = 0; i < UNIT_COUNT; i++) {
		struct unit_env u = machine_unit(c, (enum unit)i);
		const struct unit_ops *ops = unit_table[i];

		u.cores = (uint32_t)cores_of(c);
		if (c->unit[i].units && ops->area)
			out->block[block[i]] = ops->area(&u, t);
	}
}

static void npu(const struct machine_cfg *c, const struct tech *t, struct area *out)
{
	const uint64_t cores = cores_of(c);

	units_of(c, t, out);
	out->block[AREA_sram] = sram_of(c, t);
	out->block[AREA_l1] = l1_of(c, t);
	out->block[AREA_control].logic =
		area_logic(t, machine_area_times(cores, t->die.control.core) + t->die.control.command);
	if (c->fusion.enabled)
		out->block[AREA_fusion].sram = area_sram(t, c->fusion.buffer, 1);
	out->block[AREA_dma].logic =
		logic_of_ports(t, machine_area_times(cores, c->dma.engines), c->dma.width, t->die.noc.router);
	out->block[AREA_kv] = kv_of(c, t);
}

/* --- a GPU ----------------------------------------------------------------------------------------------------------- */

#define SM_QUARTER 32 /* lanes */
#define SM_L1_BITS 1024
#define REGISTER   4 /* bytes */

/* Rates are those that are reached, a little less than the lanes there are. */
static uint64_t lanes_of(const struct machine_cfg *c)
{
	return round_up(c->gpu.common.flop_fp32 / 2, SM_QUARTER);
}

static uint64_t over(uint64_t a, uint64_t b)
{
	return b ? div_up(a, b) : 0;
}

static uint64_t tensor_transistors(const struct gpu_common_cfg *g, const struct tech *t)
{
	return machine_area_times(g->flop_bf16 / 2,
	                          unit_mac(t, over(g->flop_fp8, g->flop_bf16), over(g->flop_fp4, g->flop_bf16)));
}

/* Half of the lanes add and multiply integers, too. */
static uint64_t lane_transistors(const struct machine_cfg *c, const struct tech *t)
{
	const uint64_t lanes = lanes_of(c);

	return lanes * t->die.lane.fp32 + lanes / 2 * t->die.lane.int32 + c->gpu.common.sfu * t->die.lane.sfu +
	       c->die.fp64 * t->die.lane.fp64;
}

static void gpu(const struct machine_cfg *c, const struct tech *t, struct area *out)
{
	const uint64_t sms = cores_of(c), l1 = c->gpu.rows.l1 > c->gpu.sm.smem ? c->gpu.rows.l1 : c->gpu.sm.smem,
		       control = lanes_of(c) / SM_QUARTER * t->die.control.simt +
	                         (c->die.graphics ? t->die.control.ray : 0);

	out->block[AREA_matrix].logic = area_logic(t, machine_area_times(sms, tensor_transistors(&c->gpu.common, t)));
	out->block[AREA_vector].logic = area_logic(t, machine_area_times(sms, lane_transistors(c, t)));
	out->block[AREA_registers].sram = area_sram(t, machine_area_times(sms, c->gpu.sm.registers * REGISTER), 2);
	out->block[AREA_sram] = (struct area_part){ .sram = area_sram(t, machine_area_times(sms, l1), 1),
		                                    .logic = area_logic(t, area_crossing(t, sms * SM_L1_BITS)) };
	out->block[AREA_control].logic = area_logic(t, machine_area_times(sms, control));
}

/* --- the die ------------------------------------------------------------------------------------------------------- */

static void repeat(struct area *a, uint64_t n)
{
	for (int b = 0; b < AREA_COUNT; b++)
		a->block[b] = (struct area_part){ machine_area_times(a->block[b].logic, n),
			                          machine_area_times(a->block[b].sram, n),
			                          machine_area_times(a->block[b].phy, n) };
}

#define STACK_PINS 1024 /* JEDEC JESD235 and JESD238; twice that of HBM4, JESD270-4 */
#define GDDR_PINS  32   /* as PHYs of configs/tech/link.yaml are counted */

static bool is_hbm(const struct machine_cfg *c)
{
	return strncmp(c->mem.dram.kind, "hbm", 3) == 0;
}

uint32_t machine_area_asked(const struct machine_cfg *c, const char **what)
{
	const bool hbm = is_hbm(c);
	const uint64_t pins = !hbm                                        ? GDDR_PINS
	                      : strncmp(c->mem.dram.kind, "hbm4", 4) == 0 ? 2 * STACK_PINS
	                                                                  : STACK_PINS;

	*what = hbm ? "stacks of HBM" : "times 32 pins of GDDR";
	if (dram_is_fixed(&c->mem.dram) || c->die.memory == DIE_MEMORY_AUTO + 1 ||
	    (!hbm && strncmp(c->mem.dram.kind, "gddr", 4) != 0))
		return 0;
	return (uint32_t)((machine_area_times(dram_bits(c), c->die.machines) + pins - 1) / pins);
}

uint64_t machine_area_edges(const struct machine_cfg *c, const struct tech_limit *l, uint32_t asked)
{
	const double aspect = (double)l->aspect / 1e6, um = (double)asked * (is_hbm(c) ? l->stack : l->gddr);
	const double side = is_hbm(c) ? um / 2 : um / 2 / (1 + 1 / aspect); /* the longer one */

	return (uint64_t)(side * side / aspect * 1e6);
}

/* Blocks come out low by as much as `low` says: a die of theirs has room for more than its sum. */
static void make_room(const struct machine_cfg *c, const struct tech *t, struct area *out)
{
	const struct tech_limit *l = &t->die.limit;
	const char *what;
	const uint32_t asked = machine_area_asked(c, &what);
	uint64_t least;

	if (!asked || !l->aspect || !l->low)
		return;
	least = (uint64_t)((double)machine_area_edges(c, l, asked) * 1e6 / l->low);
	if (least > area_die(out))
		out->block[AREA_blank].logic += least - area_die(out);
}

void machine_area(const struct machine_cfg *c, const struct tech *t, struct area *out)
{
	const struct die_cfg *d = &c->die;
	const struct area_part links = phy(t, d->link, d->links), host = phy(t, d->host, d->lanes);

	memset(out, 0, sizeof *out);
	if (machine_runs(c) == MACHINE_LAUNCHES)
		gpu(c, t, out);
	else
		npu(c, t, out);
	out->block[AREA_noc] = noc_of(c, t);
	out->block[AREA_l2] = l2_of(c, t);
	out->block[AREA_dram] = dram_of(c, t);
	repeat(out, d->machines);
	area_add(&out->block[AREA_link], &links);
	area_add(&out->block[AREA_link], &host);
	out->block[AREA_other] = (struct area_part){ .logic = d->other, .sram = area_sram(t, d->sram, 1) };
	area_fill(out, t);
	make_room(c, t, out);
}
