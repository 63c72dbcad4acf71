#include "arch/power/tech.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/power/energy.h"
#include "sim/base/path.h"
#include "sim/base/root.h"
#include "sim/base/yaml.h"

#define UNKNOWN "not known: no source found"
#define MOST    UINT64_C(1000000000000)

static const struct cfg_field top_rows[] = {
	CFG_STR(struct tech, name, "tech", "", "what the node is called", UNKNOWN),
	CFG_STR(struct tech, from, "from", "", "the node whose constants are scaled where this file gives none",
	        "none"),
	CFG_U32(struct tech, nm, "nm", "0", 0, 1000, NULL, "the node's name in nanometres", UNKNOWN),
	CFG_PPM(struct tech, power, "power", "1", 1, 100000000, "of the other node's power at equal speed",
	        "no scaling"),
	CFG_PPM(struct tech, density, "density", "1", 1, 100000000, "of its logic density", "no scaling"),
	CFG_PPM(struct tech, sram_density, "sram_density", "1", 1, 100000000, "of its SRAM density", "no scaling"),
	CFG_END
};

#define FJ(S, m, help)               CFG_ENERGY(S, m, #m, "0 fJ", 0, MOST, NULL, help, UNKNOWN)
#define TRANSISTORS(S, m, key, help) CFG_U64(S, m, key, "0", 0, MOST, NULL, help, UNKNOWN)
#define NM2(S, m, help)              CFG_AREA(S, m, #m, "0 nm2", 0, UINT64_C(1000000) * MOST, NULL, help, UNKNOWN)

static const struct cfg_field arithmetic_rows[] = {
	FJ(struct tech_arithmetic, int8_multiply, "an 8-bit integer multiplication"),
	FJ(struct tech_arithmetic, int32_add, "a 32-bit integer addition"),
	FJ(struct tech_arithmetic, bf16_multiply, "a bf16 multiplication"),
	FJ(struct tech_arithmetic, fp16_multiply, "an fp16 multiplication"),
	FJ(struct tech_arithmetic, fp32_add, "an fp32 addition"),
	FJ(struct tech_arithmetic, fp32_multiply, "an fp32 multiplication"),
	FJ(struct tech_arithmetic, flip_flop, "a bit of a register, clocked"),
	CFG_END
};
static const struct cfg_field sram_rows[] = { FJ(struct tech_sram, access_8k, "64 bits of an SRAM of 8 KiB"),
	                                      FJ(struct tech_sram, access_32k, "64 bits of an SRAM of 32 KiB"),
	                                      FJ(struct tech_sram, access_1m, "64 bits of an SRAM of 1 MiB"),
	                                      NM2(struct tech_sram, cell, "a bit of the densest cell"), CFG_END };
static const struct cfg_field logic_rows[] = { NM2(struct tech_logic, transistor, "a transistor of logic, in the mean"),
	                                       CFG_END };
static const struct cfg_field dram_rows[] = {
	FJ(struct tech_dram, access, "a bit at the device"),
	FJ(struct tech_dram, io, "a bit at the pins, of that or beside it as the source says"),
	FJ(struct tech_dram, board, "a bit as a board's power shows it, with controller and path"),
	CFG_BYTES(struct tech_dram, holds, "holds", "0", 0, UINT64_C(1) << 50, NULL,
	          "the most that a stack of HBM, or 32 pins of GDDR, have behind them", UNKNOWN),
	CFG_PPM(struct tech_dram, price, "price", "0", 0, 4000000000u, "a GB in USD", UNKNOWN),
	CFG_END
};
static const struct cfg_field link_rows[] = {
	FJ(struct tech_link, bit, "a bit"), NM2(struct tech_link, phy, "the PHY ..."),
	CFG_U32(struct tech_link, width, "width", "0", 0, 1u << 20, NULL, "... of so many bits or lanes", UNKNOWN),
	TRANSISTORS(struct tech_link, controller, "controller", "transistors of the controller behind that width"),
	CFG_END
};
static const struct cfg_field wire_rows[] = { FJ(struct tech_wire, bit, "a bit over a millimetre"), CFG_END };
static const struct cfg_field leakage_rows[] = {
	CFG_POWER(struct tech_leakage, logic, "logic", "0 W", 0, MOST, NULL, "leakage of a mm2 of logic", UNKNOWN),
	CFG_POWER(struct tech_leakage, sram, "sram", "0 W", 0, MOST, NULL, "leakage of a mm2 of SRAM", UNKNOWN), CFG_END
};
static const struct cfg_field wafer_rows[] = {
	CFG_U32(struct tech_wafer, price, "price", "0", 0, 1u << 20, NULL, "a processed wafer in USD", UNKNOWN),
	CFG_PPM(struct tech_wafer, defects, "defects", "0", 0, 4000000000u, "defects of it a cm2", UNKNOWN), CFG_END
};
static const struct cfg_field any_wafer_rows[] = {
	CFG_U32(struct tech_die, wafer.diameter, "diameter", "0", 0, 1000, NULL, "mm of a wafer", UNKNOWN),
	CFG_U32(struct tech_die, wafer.clusters, "clusters", "0", 0, 100, NULL,
	        "how defects cluster: the exponent of the yield", UNKNOWN),
	CFG_END
};
static const struct cfg_field clock_rows[] = { CFG_PPM(struct tech_clock, share, "share", "0", 0, 1000000,
	                                               "of a block's dynamic power, what its clock takes", UNKNOWN),
	                                       CFG_END };

#define CELLS(m, key, help) CFG_PPM(struct tech_die, m, key, "0", 0, 100000000, help, UNKNOWN)
static const struct cfg_field mac_rows[] = {
	TRANSISTORS(struct tech_die, mac.bf16, "bf16", "a multiply-add of 16 bits, summed in 32, in an array"),
	TRANSISTORS(struct tech_die, mac.int8, "int8", "one of 8 bits"),
	TRANSISTORS(struct tech_die, mac.fp32, "fp32", "one of 32 bits"), CFG_END
};
static const struct cfg_field lane_rows[] = {
	TRANSISTORS(struct tech_die, lane.fp32, "fp32", "an fp32 multiply-add of a lane"),
	TRANSISTORS(struct tech_die, lane.fp64, "fp64", "an fp64 multiply-add of a lane"),
	TRANSISTORS(struct tech_die, lane.int32, "int32", "32-bit integer arithmetic of a lane"),
	TRANSISTORS(struct tech_die, lane.sfu, "sfu", "a special-function lane"),
	TRANSISTORS(struct tech_die, lane.convert, "convert", "a converter, a value a cycle"),
	TRANSISTORS(struct tech_die, lane.compare, "compare", "a compare-exchange of a sorter"),
	TRANSISTORS(struct tech_die, lane.registers, "registers", "a vector lane's registers"),
	CFG_END
};
static const struct cfg_field control_rows[] = {
	TRANSISTORS(struct tech_die, control.simt, "simt", "a quarter of an SM, beside arithmetic, registers and SRAM"),
	TRANSISTORS(struct tech_die, control.core, "core", "an NPU core's sequencer"),
	TRANSISTORS(struct tech_die, control.command, "command", "an NPU's command processor"),
	TRANSISTORS(struct tech_die, control.ray, "ray", "a ray-tracing core, one an SM"), CFG_END
};
static const struct cfg_field bits_rows[] = {
	CELLS(sram.cells, "cells", "cells that a bit of a buffer takes, decoders, repair and routing with it"),
	CELLS(sram.port, "port", "of them, what another port takes more"),
	CELLS(sram.imc, "imc", "cells that a bit of an in-memory array takes, with its multiplier and adder tree"),
	TRANSISTORS(struct tech_die, sram.crossing, "crossing", "a bit of a bank's port, to and from who asks"),
	TRANSISTORS(struct tech_die, sram.bank, "bank", "a cache's bank of 64 B a cycle: tags, misses, atomics"),
	CFG_END
};
static const struct cfg_field noc_rows[] = {
	TRANSISTORS(struct tech_die, noc.crossbar, "crossbar", "a port of 64 B a cycle of a crossbar"),
	TRANSISTORS(struct tech_die, noc.router, "router", "a router of 64 B a cycle of a ring or mesh"), CFG_END
};
static const struct cfg_field share_rows[] = {
	CFG_PPM(struct tech_die, share.blank, "blank", "0", 0, 900000, "of a die that is no block", UNKNOWN), CFG_END
};

static const struct cfg_field limit_rows[] = {
	CFG_AREA(struct tech_die, limit.reticle, "reticle", "0 mm2", 0, UINT64_C(1000000) * MOST, NULL,
	         "the largest die: one exposure", UNKNOWN),
	CFG_PPM(struct tech_die, limit.aspect, "aspect", "1", 1, 100000000, "of it, the longer side over the shorter",
	        UNKNOWN),
	CFG_PPM(struct tech_die, limit.low, "low", "1", 1000000, 100000000,
	        "a die over what its blocks come to, at the most: edges need so much less of that", UNKNOWN),
	CFG_U32(struct tech_die, limit.stack, "stack", "0", 0, 1u << 20, NULL,
	        "micrometres of a die's two long edges for a stack of HBM", UNKNOWN),
	CFG_U32(struct tech_die, limit.gddr, "gddr", "0", 0, 1u << 20, NULL,
	        "micrometres of a die's four edges for 32 pins of GDDR", UNKNOWN),
	CFG_POWER(struct tech_die, limit.module, "module", "0 W", 0, MOST, NULL, "what a module is fed and rid of",
	          UNKNOWN),
	CFG_END
};

#define AT(name, rows, member) \
	{ \
		name, rows, offsetof(struct tech, member) \
	}
static const struct cfg_section node_sections[] = { { "", top_rows, 0 },
	                                            AT("arithmetic", arithmetic_rows, arithmetic),
	                                            AT("sram", sram_rows, sram),
	                                            AT("logic", logic_rows, logic),
	                                            AT("wire", wire_rows, wire),
	                                            AT("leakage", leakage_rows, leakage),
	                                            AT("clock", clock_rows, clock),
	                                            AT("wafer", wafer_rows, wafer),
	                                            { NULL, NULL, 0 } };
#define X(n) AT(#n, dram_rows, dram[TECH_DRAM_##n]),
static const struct cfg_section dram_sections[] = { TECH_DRAMS(X){ NULL, NULL, 0 } };
#undef X
#define X(n) AT(#n, link_rows, link[TECH_LINK_##n]),
static const struct cfg_section link_sections[] = { TECH_LINKS(X){ NULL, NULL, 0 } };
#undef X
static const struct cfg_section die_sections[] = {
	AT("mac", mac_rows, die),     AT("lane", lane_rows, die),       AT("control", control_rows, die),
	AT("sram", bits_rows, die),   AT("noc", noc_rows, die),         AT("share", share_rows, die),
	AT("limit", limit_rows, die), AT("wafer", any_wafer_rows, die), { NULL, NULL, 0 }
};

/* --- points --------------------------------------------------------------------------------------------------- */

static const char *scalar(const struct ynode *map, const char *key)
{
	const struct ynode *n = ynode_get(map, key);

	if (n && n->kind == YNODE_MAP)
		n = ynode_get(n, "value");
	return n && n->kind == YNODE_SCALAR ? n->text : NULL;
}

static int read_point(struct tech *t, const struct yaml *y, const struct ynode *at, struct err *e)
{
	const char *clock = scalar(at, "clock"), *voltage = scalar(at, "voltage");
	uint64_t khz, ppm;

	if (!clock)
		return yaml_err(y, at, e, "a point has a clock: {clock: 1 GHz, voltage: 0.8}");
	if (!voltage)
		return yaml_err(y, at, e,
		                "'%s' without a voltage: {clock: %s, voltage: 0.8}, a share of the nominal one", clock,
		                clock);
	if (cfg_parse_value(CFG_T_FREQ, clock, &khz, e) < 0 || cfg_parse_value(CFG_T_PPM, voltage, &ppm, e) < 0)
		return err_at(e, yaml_name(y), at->line, at->col);
	if (!ppm || ppm > 2000000)
		return yaml_err(y, at, e, "a voltage of %s of the nominal one", voltage);
	if (t->n_points && khz <= t->points[t->n_points - 1].clock)
		return yaml_err(y, at, e, "points go up with the clock: %s is not above the one before", clock);
	if (t->n_points == TECH_POINTS)
		return yaml_err(y, at, e, "more than %d points", TECH_POINTS);
	t->points[t->n_points].clock = khz;
	t->points[t->n_points++].voltage = (uint32_t)ppm;
	return 0;
}

static int read_points(struct tech *t, const struct yaml *y, struct err *e)
{
	const struct ynode *list = ynode_get(yaml_root(y), "points");

	if (!list)
		return 0;
	if (list->kind != YNODE_SEQ)
		return yaml_err(y, list, e, "'points' is a list: [{clock: 1 GHz, voltage: 0.8}, ...]");
	t->n_points = 0;
	for (size_t i = 0; i < list->n; i++)
		if (read_point(t, y, list->vals[i], e) < 0)
			return -1;
	return 0;
}

/* --- a node ------------------------------------------------------------------------------------------------------ */

/* How another node's constant comes to this one's: times or over a factor, or as it is. */
struct scaling {
	const char *how;
	uint64_t factor;
	bool over;
};

static struct scaling scaling_of(const struct tech *t, const struct cfg_row *r)
{
	const bool cells = strncmp(r->field->key, "sram", 4) == 0;
	const uint64_t density = cells ? t->sram_density : t->density;

	if (strcmp(r->key, "sram.cell") == 0)
		return (struct scaling){ "over sram_density", t->sram_density, true };
	switch (r->field->type) {
	case CFG_T_ENERGY:
		return (struct scaling){ "times power", t->power, false };
	case CFG_T_AREA:
		return (struct scaling){ "over density", t->density, true };
	case CFG_T_POWER: /* of a square millimetre */
		return (struct scaling){ cells ? "times power and sram_density" : "times power and density",
			                 energy_scale(t->power, density), false };
	default:
		return (struct scaling){ "as it is", ENERGY_ONE, false };
	}
}

/* What another node has, by the factors between the two; the text says so. */
static void tech_take(struct tech *t, const struct tech *from)
{
	for (size_t i = 0; i < cfg_count(t->node); i++) {
		const struct cfg_row r = cfg_at(t->node, i);
		const struct scaling s = scaling_of(t, &r);
		uint64_t v;

		if (r.given || !*r.section || !(v = cfg_raw(from->node, i)))
			continue;
		v = s.over ? v * ENERGY_ONE / s.factor : energy_scale(v, s.factor);
		cfg_set_raw(t->node, i, v,
		            arena_printf(t->arena, "%s's, %s %.6g: %s", from->name, s.how, (double)s.factor / 1e6,
		                         cfg_at(from->node, i).source));
	}
	if (!t->n_points) {
		memcpy(t->points, from->points, sizeof t->points);
		t->n_points = from->n_points;
	}
}

static int path_of(const struct source *s, const char *node, char *out, unsigned size, struct err *e)
{
	char relative[CFG_STR_MAX + 32];

	if (strchr(node, '/') || strstr(node, ".yaml"))
		return snprintf(out, size, "%s", node) < (int)size
		               ? 0
		               : err_set(e, ERR_CONFIG, "a path too long: '%s'", node);
	if (!*node || strlen(node) >= CFG_STR_MAX)
		return err_set(e, ERR_CONFIG, "'%.40s' is no node's name", node);
	snprintf(relative, sizeof relative, "configs/tech/%s.yaml", node);
	if (s->find(s, relative, out, size, e) < 0)
		return err_add(e, "looking for the node '%s' (there are n16, n8, n7, n5 and n4)", node);
	return 0;
}

#define GENERATIONS 8

static struct tech *load_node(const struct source *s, const char *node, int depth, struct err *e);

static int read_node(const struct source *s, struct tech *t, const char *path, int depth, struct err *e)
{
	static const char *const own[] = { "points", NULL };
	struct yaml *y = s->read(s, path, e);
	struct tech *from;
	int rc = -1;

	if (y && (t->node = cfg_new(node_sections, t, e)) && cfg_read(t->node, y, yaml_root(y), own, e) == 0)
		rc = read_points(t, y, e);
	yaml_free(y);
	if (rc < 0 || !*t->from)
		return rc;
	if (depth == GENERATIONS)
		return err_set(e, ERR_CONFIG, "%s: 'from' goes on and on, the last is '%s'", path, t->from);
	if (!(from = load_node(s, t->from, depth + 1, e)))
		return -1;
	tech_take(t, from);
	tech_free(from);
	return 0;
}

static struct tech *load_node(const struct source *s, const char *node, int depth, struct err *e)
{
	struct tech *t = calloc(1, sizeof *t);
	char path[1024];

	if (!t || !(t->arena = arena_new(0))) {
		err_set(e, ERR_NOMEM, "out of memory for the node '%s'", node);
		free(t);
		return NULL;
	}
	if (path_of(s, node, path, sizeof path, e) == 0 && read_node(s, t, path, depth, e) == 0)
		return t;
	tech_free(t);
	return NULL;
}

static struct cfg *load_rows(const struct source *s, const char *relative, const struct cfg_section *sections,
                             struct tech *t, struct err *e)
{
	struct cfg *c = cfg_new(sections, t, e);
	struct yaml *y = NULL;
	int rc = -1;

	if (c && (y = source_yaml(s, relative, e)))
		rc = cfg_read(c, y, yaml_root(y), NULL, e);
	yaml_free(y);
	if (rc == 0)
		return c;
	cfg_free(c);
	return NULL;
}

struct tech *tech_load_from(const struct source *from, const char *node, struct err *e)
{
	struct tech *t = load_node(from, node, 0, e);

	if (t && (t->drams = load_rows(from, "configs/tech/dram.yaml", dram_sections, t, e)) &&
	    (t->links = load_rows(from, "configs/tech/link.yaml", link_sections, t, e)) &&
	    (t->dies = load_rows(from, "configs/tech/die.yaml", die_sections, t, e)))
		return t;
	tech_free(t);
	return NULL;
}

struct tech *tech_load(const char *node, struct err *e)
{
	return tech_load_from(&path_source, node, e);
}

void tech_free(struct tech *t)
{
	if (!t)
		return;
	cfg_free(t->node);
	cfg_free(t->drams);
	cfg_free(t->links);
	cfg_free(t->dies);
	arena_free(t->arena);
	free(t);
}

/* --- asked ------------------------------------------------------------------------------------------------------- */

static uint64_t both(uint64_t multiply, uint64_t add)
{
	return multiply && add ? multiply + add : 0;
}

uint64_t tech_mac(const struct tech *t, enum dtype a, enum dtype b)
{
	const struct tech_arithmetic *x = &t->arithmetic;
	const enum dtype d = dtype_bits(a) >= dtype_bits(b) ? a : b; /* the narrower is widened first */

	switch (d) {
	case DT_BF16:
		return both(x->bf16_multiply, x->fp32_add);
	case DT_FP16:
		return both(x->fp16_multiply, x->fp32_add);
	case DT_FP32:
		return both(x->fp32_multiply, x->fp32_add);
	case DT_INT8:
		return both(x->int8_multiply, x->int32_add);
	default:
		return 0;
	}
}

int tech_dram_kind(const char *name)
{
	static const char *const names[] = {
#define X(kind) #kind,
		TECH_DRAMS(X)
#undef X
	};
	const size_t n = strcspn(name, "-");

	for (int i = 0; i < TECH_DRAM_KINDS; i++)
		if (strlen(names[i]) == n && strncmp(names[i], name, n) == 0)
			return i;
	return -1;
}

uint64_t tech_sram_byte(const struct tech *t, uint64_t size)
{
	const uint64_t at[] = { root_down(8 << 10), root_down(32 << 10), root_down(1 << 20) },
		       cost[] = { t->sram.access_8k, t->sram.access_32k, t->sram.access_1m }, x = root_down(size);
	size_t i = x > at[1];

	if (!cost[0] || !cost[1] || !cost[2])
		return 0;
	if (x <= at[0])
		return cost[0] / 8;
	/* Beyond the largest, on the last line. */
	return (cost[i] + (cost[i + 1] - cost[i]) * (x - at[i]) / (at[i + 1] - at[i])) / 8;
}

uint32_t tech_voltage(const struct tech *t, uint64_t khz)
{
	size_t i = 1;

	if (!t->n_points)
		return 0;
	if (t->n_points == 1 || khz <= t->points[0].clock)
		return t->points[0].voltage;
	while (i + 1 < t->n_points && khz > t->points[i].clock)
		i++;
	if (khz >= t->points[i].clock)
		return t->points[i].voltage;
	return (uint32_t)(t->points[i - 1].voltage + ((uint64_t)t->points[i].voltage - t->points[i - 1].voltage) *
	                                                     (khz - t->points[i - 1].clock) /
	                                                     (t->points[i].clock - t->points[i - 1].clock));
}
