/* tech.h - what a process, a memory and a link cost: published constants, each with its source.
 *
 * A node is a file, configs/tech/NAME.yaml. It gives constants of its own, or names another node (`from`) and the published
 * factors between the two: what it does not give is that node's, energies times `power`, areas over `density` (logic) or
 * `sram_density` (cells), leakage of a square millimetre times power and density. DRAM and links have a file each, a section
 * a kind; what blocks are made of in any node has one too (die.yaml). Every constant is a row of sim/base/cfg.h, so
 * that a fault is told with its place and `npusim config tech` shows where each number is from.
 * A constant of 0 is not known. Energies are at the node's nominal voltage; `points` say what share of it a clock needs,
 * between them in proportion.
 * Boundary: these are bare operations, a device's access, a link's bit. What a machine pays beside them (issue, registers,
 * controller and path to DRAM) is its own model's affair.
 * A new node: a file with `from`, its factors and sources; nothing else. */
#ifndef NPUSIM_ARCH_POWER_TECH_H
#define NPUSIM_ARCH_POWER_TECH_H

#include "sim/base/arena.h"
#include "sim/base/cfg.h"
#include "sim/base/source.h"
#include "workloads/dtype.h"

/* X(name): kinds of DRAM and links there are constants of; a new one is a word here and a section of the file. */
/* clang-format off */
#define TECH_DRAMS(X) X(hbm2) X(hbm2e) X(hbm3) X(hbm3e) X(gddr5) X(gddr6) X(gddr7) X(ddr4) X(lpddr5) X(lpddr5x)
#define TECH_LINKS(X) \
	X(nvlink_c2c) X(serdes_112g) X(ucie_standard) X(ucie_advanced) X(hbm3_interface) \
	X(hbm2e_phy) X(ddr5_phy) X(gddr6_phy) X(pcie5_phy) X(pcie4_phy) X(nvlink3_phy) X(nvlink4_phy)
/* clang-format on */

enum tech_dram_kind {
#define X(name) TECH_DRAM_##name,
	TECH_DRAMS(X)
#undef X
		TECH_DRAM_KINDS
};
enum tech_link_kind {
#define X(name) TECH_LINK_##name,
	TECH_LINKS(X)
#undef X
		TECH_LINK_KINDS
};

struct tech_arithmetic {
	uint64_t int8_multiply, int32_add, bf16_multiply, fp16_multiply, fp32_add, fp32_multiply, flip_flop; /* fJ */
};
struct tech_sram {
	uint64_t access_8k, access_32k, access_1m; /* fJ for 64 bits, by the macro's size */
	uint64_t cell;                             /* nm2 a bit */
};
struct tech_logic {
	uint64_t transistor; /* nm2, mean of logic */
};
struct tech_wire {
	uint64_t bit; /* fJ a millimetre */
};
/* A square millimetre that is powered at the nominal voltage, hot as when it works. */
struct tech_leakage {
	uint64_t logic, sram; /* uW */
};
struct tech_clock {
	uint32_t share; /* millionths: of a block's dynamic power, what its clock takes */
};
struct tech_wafer {
	uint32_t price, defects;     /* a node's: USD; millionths a cm2 */
	uint32_t diameter, clusters; /* of any: mm; of the yield's negative binomial */
};
/* What blocks are made of, in any node: transistors, and cells of a bit (millionths). */
struct tech_die {
	struct {
		uint64_t bf16, int8, fp32; /* a multiply-add in an array, with its registers */
	} mac;
	struct {
		uint64_t fp32, fp64, int32, sfu, convert, compare, registers; /* a lane's */
	} lane;
	struct {
		uint64_t simt, core, command, ray; /* a quarter of an SM; a core; a machine; a ray-tracing core */
	} control;
	struct {
		uint32_t cells, port, imc; /* cells a bit; of them more for another port; cells a bit that multiplies */
		uint64_t crossing, bank;   /* a bit of a bank's port; a cache's bank of 64 B a cycle */
	} sram;
	struct {
		uint64_t crossbar, router; /* a port of 64 B a cycle */
	} noc;
	struct {
		uint32_t blank; /* of a die that is no block */
	} share;
	struct tech_limit {
		uint64_t reticle;     /* nm2: one exposure */
		uint32_t aspect;      /* millionths: its longer side over the shorter; */
		uint32_t low;         /* a die over the sum of its blocks, at the most */
		uint32_t stack, gddr; /* um of edge: an HBM stack of the two long ones, 32 pins of GDDR of all four */
		uint64_t module;      /* uW that one can be fed and rid of */
	} limit;
	struct tech_wafer wafer;
};
struct tech_dram {
	uint64_t access, io, board; /* fJ a bit: the device, its pins, and with controller and path as boards show it */
	uint64_t holds;             /* bytes of a stack of HBM, of 32 pins of GDDR: the most there is */
	uint32_t price;             /* millionths of USD a GB */
};
struct tech_link {
	uint64_t bit;        /* fJ */
	uint64_t phy;        /* nm2 ... */
	uint32_t width;      /* ... of so many bits or lanes */
	uint64_t controller; /* transistors behind that width */
};

#define TECH_POINTS 16

struct tech {
	char name[CFG_STR_MAX], from[CFG_STR_MAX];
	uint32_t nm;
	uint32_t power, density, sram_density; /* millionths of `from`'s */
	struct tech_arithmetic arithmetic;
	struct tech_sram sram;
	struct tech_logic logic;
	struct tech_wire wire;
	struct tech_leakage leakage;
	struct tech_clock clock;
	struct tech_wafer wafer;
	struct {
		uint64_t clock;   /* kHz */
		uint32_t voltage; /* millionths of the nominal one */
	} points[TECH_POINTS];
	size_t n_points;
	struct tech_dram dram[TECH_DRAM_KINDS];
	struct tech_link link[TECH_LINK_KINDS];
	struct tech_die die;
	struct cfg *node, *drams, *links, *dies; /* the rows, for whoever walks them */
	struct arena *arena;
};

/* "n7", or a file's path. */
struct tech *tech_load(const char *node, struct err *e);
struct tech *tech_load_from(const struct source *from, const char *node, struct err *e);
void tech_free(struct tech *t);

/* A multiply-add of two operands, accumulated in 32 bits; 0: not known of these formats. */
uint64_t tech_mac(const struct tech *t, enum dtype a, enum dtype b);
/* Of a kind of DRAM as machines name it, "hbm3-6400"; -1: there are no constants of it. */
int tech_dram_kind(const char *name);
/* A byte of an SRAM macro of so many bytes, read or written: between the three sizes by the root of the size. */
uint64_t tech_sram_byte(const struct tech *t, uint64_t size);
/* Millionths of the nominal voltage that a clock needs; 0: no points. */
uint32_t tech_voltage(const struct tech *t, uint64_t khz);

#endif
