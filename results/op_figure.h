/* op_figure.h - the scalars of an op of a run, a row each, as results/figure.h has those of the run.
 *
 * What knows them one by one is made of these rows, or walks them: the members of a run's op and of a stored one, the
 * columns that a results file keeps, the ops in npusim run's tables, JSON and CSV, on the report's page, in a timeline. So a new
 * figure is one row and the line of the engine that sets its member. Rows stand in the order in which all of those show
 * them.
 *
 * An output has texts between figures (what bounds the op, what was measured): a row says after which of them it stands,
 * and newcomers stand in OP_REST, at the end. A NUMBER is whole, in base units, and a member; a results file keeps it in
 * a COLUMN of op_result, named like the member (one more of these takes a new schema), as a ROW among the run's statistics
 * where it is not 0, named ops[17].member: any new one, in any file, or DROPPED. What is MADE comes of those.
 *
 * Leaves out: texts (bound, fused), shares by resource (stalls), what was measured. */
#ifndef NPUSIM_RESULTS_OP_FIGURE_H
#define NPUSIM_RESULTS_OP_FIGURE_H

#include "results/figure.h"

/* clang-format off */
#define OP_FIGURES(NUMBER, MADE) \
	NUMBER(span_ps, COLUMN, FIGURE_US, .name = "us", .json = OP_TIME, .csv = OP_TIME, .page = OP_TIME, .blank = true, \
	       .table = OP_TIME, .title = "us", .digits = 3, .timeline = "busy_ps", .help = "what it added to the run; all ops sum to the total") \
	NUMBER(start_ps, COLUMN, FIGURE_US, .name = "start_us", .json = OP_TIME, .csv = OP_TIME, \
	       .help = "when the run's front reached it") \
	NUMBER(limit_ps, COLUMN, FIGURE_US, .name = "limit_us", .json = OP_LIMIT, .csv = OP_LIMIT, .page = OP_LIMIT, \
	       .table = OP_TIME, .title = "limit_us", .digits = 3, .timeline = "limit_ps", \
	       .help = "of span_ps, the most that its fullest resource can have been busy for it") \
	MADE(op_figure_mfu, .unit = "", .name = "mfu", .needs = OP_KNOWN_USE, .json = OP_LIMIT, .csv = OP_REST, .page = OP_REST, \
	     .blank = true, .table = OP_TIME, .title = "mfu_pct", .digits = 1, .percent = true, \
	     .help = "of its time, what its multiply-adds need at the peak of the fastest unit for their formats") \
	MADE(op_figure_bandwidth_use, .unit = "", .name = "bandwidth_use", .needs = OP_KNOWN_USE, .json = OP_LIMIT, .csv = OP_REST, \
	     .page = OP_REST, .blank = true, .table = OP_TIME, .title = "bw_pct", .digits = 1, .percent = true, \
	     .help = "of its time, what its DRAM bytes need at the peak of the pins") \
	NUMBER(macs_ps, COLUMN, FIGURE_US, .needs = OP_KNOWN_USE, \
	       .help = "its multiply-adds at the peak of the fastest unit for its formats") \
	NUMBER(pins_ps, COLUMN, FIGURE_US, .needs = OP_KNOWN_USE, .help = "its DRAM bytes at the pins' peak") \
	NUMBER(dram_bytes, COLUMN, FIGURE_BYTES, .name = "dram_bytes", .json = OP_WORK, .csv = OP_WORK, .page = OP_WORK, \
	       .timeline = "dram_bytes", .help = "read from DRAM and written to it") \
	NUMBER(mem_bytes, COLUMN, FIGURE_BYTES, .name = "l2_bytes", .on_page = "mem_bytes", .json = OP_WORK, .csv = OP_WORK, \
	       .page = OP_WORK, .help = "asked of the memory system, L2 first") \
	NUMBER(flops, COLUMN, FIGURE_COUNT, .name = "flops", .json = OP_WORK, .csv = OP_WORK, .page = OP_WORK, \
	       .timeline = "flops", .help = "operations that it asks for") \
	NUMBER(energy_fj, COLUMN, FIGURE_UJ, .name = "energy_uj", .needs = OP_KNOWN_POWER, .zero = FIGURE_NULL, .json = OP_REST, \
	       .csv = OP_REST, .table = OP_REST, .title = "uJ", .digits = 1, .timeline = "energy_fj", \
	       .help = "that the machine takes for it, where its power is modelled")
/* clang-format on */

/* The numbers of an op, as FIGURE_MEMBERS has those of a run. */
struct op_figures {
	OP_FIGURES(FIGURE_MEMBER, FIGURE_NO_MEMBER)
};
#define OP_FIGURE_MEMBERS \
	union { \
		struct op_figures figures; \
		struct { \
			OP_FIGURES(FIGURE_MEMBER, FIGURE_NO_MEMBER) \
		}; \
	}

enum { OP_FIGURE_ROWS = OP_FIGURES(FIGURE_ONE, FIGURE_ONE) }; /* how many there are */

/* What is known of an op. Of a carried one nothing is; files of old schemas lack what came later. */
enum op_known { OP_KNOWN_RUN = 1, OP_KNOWN_USE = 2, OP_KNOWN_POWER = 4 };

/* Where in an output, by the texts between its figures:
 *   JSON   OP_TIME bound OP_LIMIT stalls OP_WORK OP_REST measured_us ...
 *   CSV    OP_TIME bound OP_LIMIT stalls OP_WORK measured_us fused OP_REST part
 *   table  OP_TIME bound measured_us "fused as" OP_REST, a column where the run knows it
 *   page   OP_TIME measured_us OP_LIMIT bound OP_WORK bound_share OP_REST */
enum op_part { OP_NOWHERE, OP_TIME, OP_LIMIT, OP_WORK, OP_REST };

typedef double op_figure_make_fn(const struct op_figures *x);

struct op_figure {
	const char *name;    /* in JSON, in CSV and on the page; NULL: in none */
	const char *on_page; /* another name there; NULL: the same */
	enum op_part json, csv, page;
	bool blank;             /* on the page null where it is not known, or a share of no time; else 0 */
	enum op_part table;     /* of npusim run's table of ops, for people */
	const char *title;      /* of its column there */
	int digits;             /* there, after the point */
	bool percent;           /* there in hundredths */
	const char *timeline;   /* what its number is called among an op's arguments there; NULL: not there */
	const char *unit, *raw; /* of its value; of the number, whose value is number / per */
	double per;
	unsigned needs;        /* OP_KNOWN_*, beside OP_KNOWN_RUN */
	enum figure_zero zero; /* FIGURE_NULL: a file keeps no 0 */
	const char *help;
	enum figure_kept kept;
	const char *member; /* of struct op_figures; NULL: made */
	size_t at;          /* its offset */
	op_figure_make_fn *make;
};

/* All of them, up to one without help. */
extern const struct op_figure op_figure_table[];

bool op_figure_known(const struct op_figure *f, unsigned known);
/* `known` where the op has it and, of what is a share of its time, where it has any. */
struct figure_value op_figure_value(const struct op_figure *f, const struct op_figures *x, unsigned known);
/* The number of a figure that is one, as it is kept. */
uint64_t op_figure_number(const struct op_figure *f, const struct op_figures *x);
void op_figure_set(const struct op_figure *f, struct op_figures *x, uint64_t number);
/* Shares of an op's time in its own: `need` at the peak, 0 to 1; more of it was done while others' time ran. */
double op_figure_use(uint64_t need, uint64_t span);

#endif
