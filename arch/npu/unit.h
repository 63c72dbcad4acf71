/* unit.h - a compute unit from outside: what it can do, how long that takes, and the table of all of them.
 *
 * A unit is a closed form: a job goes in, and out come the time its arrays are busy, how long after that the last result
 * is there, and the work they do. Jobs follow each other without a gap: what fills and drains a pipeline is latency and
 * no busy time. Every core has the same units. A product is planned for one core's part of it, which partition.h cuts out;
 * all else a unit spreads over `unit_env.cores` itself.
 * The rate of a product is a function of both operands' formats: the wider one sets it, and narrower weights are brought
 * to that width first (UNIT_DEQUANT, on whatever unit does it), unless the unit says that it multiplies the pair.
 * Who maps, runs, bounds or prints walks unit_table and names no unit. A unit is one file (unit_<name>.c) and one row in
 * arch/units.h.
 * Units: cycles of the machine's clock inside, picoseconds outside; MACs count one multiply and one add.
 * Invariants: I1 a plan's span is never under its work over unit_ops.peak; I2 more arrays, lanes or cores never make a
 * plan slower by more than a level of a reduction tree; I3 a unit with `units: 0` is asked nothing.
 * Leaves out: cores that have different units; jobs that one unit begins and another ends. */
#ifndef NPUSIM_ARCH_NPU_UNIT_H
#define NPUSIM_ARCH_NPU_UNIT_H

#include "arch/isa.h"
#include "arch/npu/sram.h"
#include "arch/power/area.h"
#include "arch/res.h"
#include "sim/base/cfg.h"
#include "sim/base/stat.h"
#include "workloads/dtype.h"

#define UNIT_ID(id, name, code, insn, area) UNIT_##id,
enum unit { UNITS(UNIT_ID) UNIT_COUNT };
#undef UNIT_ID

/* A unit's own section. What it means is its file's business, but that it begins with a uint32_t `units`: arrays a core,
 * 0: the machine has none. */
#define UNIT_CFG_BYTES 128
union unit_cfg {
	uint32_t units;
	uint64_t align;
	uint8_t bytes[UNIT_CFG_BYTES];
};

/* The machine around a unit. */
struct unit_env {
	const union unit_cfg *cfg;
	const struct sram_cfg *sram;
	uint64_t clock_khz;
	uint32_t cores;
	uint32_t depth;        /* stages of the cores' pipeline */
	uint32_t group;        /* elements a control step covers */
	uint32_t control;      /* cycles a group on top of its work */
	uint32_t unit_latency; /* cycles between dependent macro-ops on a group */
	ps_t hop;              /* from one core to the next */
	ps_t across;           /* between cores farthest from each other */
	ps_t step;             /* a transfer between cores, before its first byte */
	bool routed;           /* what goes further than the next core goes through those between */
	uint64_t port;         /* bytes a cycle into a core from the network, and out to it; 0: any number */
	uint64_t swap;         /* the same of partial sums: an ideal network's ports are the DMA engines' */
	uint64_t engine;       /* bytes a cycle that a core's DMA engines move, in and out together; 0: any number */
	bool reduce;           /* the network adds up what it carries */
};

enum unit_work {
	UNIT_PRODUCT, /* m vectors times n rows of k weights */
	UNIT_MAP,     /* elems elements, each for itself */
	UNIT_REDUCE,  /* rows x cols to rows, or over them several times (softmax, norm) */
	UNIT_SORT,    /* each of rows rows of cols sorted, or its `top` largest */
	UNIT_DEQUANT  /* elems weights of `dtype` brought to the width of `with` */
};

/* What a map or a reduction is, for parts that are made for it. */
enum unit_piece {
	UNIT_ANY,
	UNIT_ACT,     /* map: silu, gelu, tanh: an exponential and what is around it */
	UNIT_SOFTMAX, /* reduce: running maximum and exponential, their sum, and a scaling unless the sums are online */
	UNIT_NORM     /* reduce: moments of a row, and a scaling */
};

/* A product's parts, one a core (arch/npu/partition.h). */
struct unit_split {
	uint32_t m, n, k;
};

struct unit_job {
	enum unit_work work;
	enum unit_piece piece;
	enum dtype dtype, with; /* product: of the weights, of the activations */
	uint64_t m, n, k;
	uint64_t elems;
	uint64_t rows, cols, top;   /* top 0: sort all */
	uint32_t passes;            /* over the data; product: of operands through a multiplier; 0: as formats take */
	uint32_t alu, sfu, convert; /* steps an element */
	bool divides;               /* its ALU step is a divide */
	bool in_part;      /* product: an array loads no more than is used of it, whatever it does by default */
	uint64_t bytes;    /* through SRAM */
	uint32_t keep, of; /* of so many weights along k that many are not 0; `of` 0: all may be */
	uint32_t held;     /* 1 + the unit in which a product's weights stay; 0: they come with the job */
	struct unit_split stationary_split; /* how those that stay are cut over the cores; n 0: as is fastest */
};

struct unit_plan {
	ps_t span;     /* busy: the next job may start then */
	ps_t latency;  /* from there to the last result */
	uint64_t work; /* MACs or element steps */
	enum isa_code code;
	const char *why; /* how it goes about it, for people */
	struct unit_split split;
	ps_t exchange, exchange_latency; /* of partial sums between cores: time of a core's port, and hops */
	uint64_t pad;                    /* product: SRAM behind each row of weights that the layout wants */
	uint32_t idle;                   /* ppm of all cores' time that they wait for the fullest */
};

/* Multiply-adds that a unit does with a value of each kind once it has it from the scratchpad; 0: all that there are. */
struct unit_reuse {
	uint64_t weights, activations, sums;
};

/* Steps a cycle of each kind, at the most. */
struct unit_steps {
	uint64_t alu, sfu, convert, compare;
};

struct unit_ops {
	const char *name;  /* section, and prefix of statistics */
	const char *label; /* in sentences: "GEMV units, 16 bits" */
	enum res res;
	bool last_resort; /* takes a job only where no other unit does, however fast */
	/* False: it cannot do such a job. */
	bool (*plan)(const struct unit_env *u, const struct unit_job *j, struct unit_plan *out);
	/* MACs a cycle, all cores. NULL: it takes no products. */
	uint64_t (*peak)(const struct unit_env *u, enum dtype weight, enum dtype with);
	/* The same where operands take so many passes, whatever their formats. NULL: as formats take. */
	uint64_t (*passed)(const struct unit_env *u, uint32_t passes);
	/* Whether it multiplies weights that are narrower than the activations as they are. NULL: no. */
	bool (*native)(const struct unit_env *u, enum dtype weight, enum dtype with);
	/* Whether it leaves out weights that N:M sparsity has left out: then `of` / `keep` times its peak. NULL: no. */
	bool (*sparse)(const struct unit_env *u);
	/* Rows of a product that it computes at a time, all cores: one row more takes twice as long. NULL: any number. */
	uint64_t (*grain)(const struct unit_env *u);
	/* Of k, at 16 bits: what one array takes in at a time. NULL: any number. */
	uint64_t (*depth)(const struct unit_env *u);
	/* Places in which weights may stay from step to step, all cores; how many those of a product take (UINT64_MAX: it
	 * cannot have them), and how long it takes to write them there. NULL: none stay. */
	uint64_t (*holds)(const struct unit_env *u);
	uint64_t (*takes)(const struct unit_env *u, const struct unit_job *j);
	ps_t (*written)(const struct unit_env *u, const struct unit_job *j);
	/* What it takes of a die, all cores; without it nothing. */
	struct area_part (*area)(const struct unit_env *u, const struct tech *t);
	void (*reuse)(const struct unit_env *u, struct unit_reuse *out); /* NULL: all of each */
	/* fJ of a multiply-add here, whatever its formats. NULL or 0: what its format takes (power.mac_*). */
	uint64_t (*mac_energy)(const struct unit_env *u);
	void (*steps)(const struct unit_env *u, struct unit_steps *out); /* all cores; NULL: it multiplies alone */
	const char *busy_stat, *work_stat;
	const char *const *knobs; /* parameters that are amounts, for `npusim limits`; ends with NULL */
};

/* MACs a cycle of such a product, all cores. */
static inline uint64_t unit_peak(const struct unit_ops *x, const struct unit_env *u, enum dtype weight, enum dtype with,
                                 uint32_t passes)
{
	return passes && x->passed ? x->passed(u, passes) : x->peak(u, weight, with);
}

/* Weights and activations of which a unit multiplies the narrower as they are, by their bits. */
struct unit_pairs {
	bool w8a16, w4a16, w4a8;
};

/* Rows of a unit's schema: member P of struct S. */
#define UNIT_PAIRS_SCHEMA(S, P) \
	CFG_BOOL(S, P.w8a16, "w8a16", "false", \
	         "multiplies 8-bit weights with 16-bit activations as they are, at the 8-bit rate", \
	         "off: tensor cores do not"), \
		CFG_BOOL(S, P.w4a16, "w4a16", "false", \
	                 "multiplies 4-bit weights with 16-bit activations as they are, at the 4-bit rate", \
	                 "off: tensor cores do not"), \
		CFG_BOOL(S, P.w4a8, "w4a8", "false", \
	                 "multiplies 4-bit weights with 8-bit activations as they are, at the 4-bit rate", \
	                 "off: tensor cores do not")

/* The row of what a multiply-add takes: member M of struct S. */
#define UNIT_ENERGY_SCHEMA(S, M) \
	CFG_ENERGY( \
		S, M, "mac_energy", "0 fJ", 0, UINT64_C(1000000000), NULL, \
		"of a multiply-add here, whatever its formats, at the nominal voltage; 0: power.mac_* of its format. Of a " \
		"unit that is no multiplier and adder, such as one that looks products up", \
		"by the format")

static inline bool unit_pair(const struct unit_pairs *p, uint32_t weight_bits, uint32_t with_bits)
{
	if (weight_bits > 4)
		return p->w8a16 && with_bits <= 16;
	return with_bits > 8 ? p->w4a16 && with_bits <= 16 : p->w4a8;
}

/* Bits at which a product runs. */
static inline uint32_t unit_width(const struct unit_pairs *p, enum dtype weight, enum dtype with)
{
	const uint32_t w = dtype_bits(weight), a = with ? dtype_bits(with) : w;

	return w >= a || unit_pair(p, w, a) ? w : a;
}

/* Of `n` weights or steps along k those that are there. */
static inline uint64_t unit_present(const struct unit_job *j, uint64_t n)
{
	return j->of ? div_up(n * j->keep, j->of) : n;
}

/* Transistors of a multiply-add of 16 bits that does so many of 8 or of 4 bits in their place: its multiplier is one of 8, or
 * two of 4. */
static inline uint64_t unit_mac(const struct tech *t, uint64_t of_8, uint64_t of_4)
{
	const uint64_t whole = of_8 > 1 ? of_8 : 1, half = of_4 > 2 * whole ? of_4 - 2 * whole : 0;

	return t->die.mac.bf16 + (whole - 1) * t->die.mac.int8 + half * t->die.mac.int8 / 2;
}

/* Of all cores. */
static inline uint64_t unit_arrays(const struct unit_env *u)
{
	return (uint64_t)u->cfg->units * u->cores;
}

extern const struct unit_ops *const unit_table[UNIT_COUNT];

#define UNIT_SCHEMA(id, name, code, insn, area) extern const struct cfg_field name##_schema[];
UNITS(UNIT_SCHEMA)
#undef UNIT_SCHEMA

/* Registers busy time and work of every unit and of the fusion engine; both arrays are indexed by enum res. */
int unit_add_stats(struct stat_reg *st, uint64_t *busy, uint64_t *work, struct err *e);

#endif
