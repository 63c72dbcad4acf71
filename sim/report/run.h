/* run.h - what the files of npusim run share: one run with all that is said about it.
 *
 * Ratios: `kernels` sets the measured kernel time against the simulated total, `wall` the wall time measured without
 * a profiler. Carried (opaque) time is in neither side of either. Spans recorded under a profiler enter nothing. */
#ifndef NPUSIM_SIM_REPORT_RUN_H
#define NPUSIM_SIM_REPORT_RUN_H

#include "results/db/res.h"
#include "sim/engine/diag.h"
#include "sim/engine/engine.h"
#include "sim/engine/run.h"
#include "sim/engine/run_memo.h"
#include "sim/report/doc.h"
#include "sim/ui/units.h"
#include "sim/workload/workload.h"

struct baseline;
struct verdict;

struct run_report {
	const struct machine_conf *conf;
	const struct trace *trace;
	const struct model *model; /* NULL: the workload is a trace */
	const char *not_validated; /* what of it was never held against a measurement; NULL: nothing that we know of */
	bool given;                /* a program, of which nothing is measured */
	bool scaled;               /* a trace, asked at another batch or context than it was measured at */
	struct workload_part part; /* of it what is on this chip */
	uint64_t tokens;           /* that a model's step makes or takes in; 0: not known */
	uint32_t splits;           /* that could run of those tried for 'auto'; 0: nobody asked */
	const struct workload_spec *spec; /* of the workload */
	const struct workload_rewritten *rewritten;
	const struct workload_laid *laid; /* over a model; its model NULL: it was not */
	const struct op_stream *stream;
	const struct lower_stats *lowered;
	const struct run_result *result;
	const struct diag_list *diags;
	const struct counted_ops *counted; /* NULL: Nsight Compute counted nothing */
	enum run_start start;
	uint64_t seed, rules_hash;
	bool reuse_given, explain_fusion;
	ps_t apart_ps;                   /* the run's time with nothing joined; 0: not asked */
	struct measured_spread steps;    /* of the trace, where all tables are asked for */
	bool whole;                      /* all tables, and not the first page alone */
	const struct baseline *baseline; /* what it is set beside; NULL: unknown */
	const struct verdict *verdict;   /* what is said first; NULL: nothing */
	uint64_t top;                    /* ops in the table */
	const char *results_path;        /* NULL: not stored */
	const char *timeline_path;       /* NULL: none was written */
	int64_t stored;                  /* number of the run there; 0: not stored */
	bool stored_again;               /* it was there already */
	const struct map_log *told;      /* how an op was mapped; NULL: nobody asked */
};

/* Sums over the ops of one kind, or over all that are modelled. */
struct run_sum {
	uint64_t ops, carried, measured_ns, kernel_ns, carried_ns;
	uint64_t unmeasured; /* rows of a table of ops that say no time: where there are any, no ratio is one */
	ps_t span_ps, limit_ps, macs_ps, pins_ps;
	double stall_ps[RES_COUNT]; /* what the ops' time was waited for; sums to span_ps */
};
void run_sum_ops(const struct run_report *r, struct run_sum kinds[OP_KINDS], struct run_sum *all);
/* Kinds that occur, most simulated time first (then measured); returns how many. */
int run_order_kinds(const struct run_sum kinds[OP_KINDS], int order[OP_KINDS]);
/* New tokens that the run makes: by its verdict where there is one. 0: not known, or a part of a model, which makes none. */
uint64_t run_tokens(const struct run_report *r);
/* Those over simulated time; 0: not known. */
double run_tokens_per_s(const struct run_report *r);
struct figure_measured run_measured(const struct run_report *r, const struct run_sum *all);

/* Asks how the op of that number or name is mapped: r->told, which lives in `a`. */
int run_mapping(struct run_report *r, const char *op, struct arena *a, struct err *e);

/* A model, a program, or a trace at another batch: there is nothing to compare with. */
static inline bool run_unmeasured(const struct run_report *r)
{
	return r->model || r->given || r->scaled;
}

/* All that is said of it: to people the first page of 40 lines of 80 columns, or all; in CSV the ops; JSON has run_members. */
void run_doc(struct doc *d, const struct run_report *r);
void run_members(struct doc *d, const struct run_report *r);

/* Parts of it: lines, behind a label; nothing where there is nothing to say. */
void run_facts(const struct run_report *r, struct doc *d);
void run_verdict(const struct run_report *r, struct doc *d);
void run_machine_text(const struct run_report *r, struct str *to);
void run_rewrite_text(const struct run_report *r, struct str *to);
void run_split_text(const struct run_report *r, struct str *to); /* what 'auto' found */
void run_align_text(const struct run_report *r, struct str *to);
void run_energy_line(const struct run_report *r, struct str *to);
/* Three digits, whatever the size. */
void run_joules_text(struct str *s, double uj);
void run_time_text(struct str *s, double us);
/* Tables, and the same as members of JSON. */
void run_kinds_doc(struct doc *d, const struct run_report *r, const struct run_sum sums[OP_KINDS]);
void run_ops_doc(struct doc *d, const struct run_report *r);
void run_top_doc(struct doc *d, const struct run_report *r); /* those that take longest */
void run_mapping_doc(struct doc *d, const struct run_report *r);
void run_fusion_doc(struct doc *d, const struct run_report *r); /* by pattern, and what was not joined, by reason */
void run_chains_doc(struct doc *d, const struct run_report *r); /* each that was joined */
void run_energy_doc(struct doc *d, const struct run_report *r); /* by block, for people */
/* Of JSON alone. */
void run_align_doc(struct doc *d, const struct run_report *r);
void run_rewrite_doc(struct doc *d, const struct run_report *r);
void run_by_resource(struct doc *d, const char *key, const ps_t *v);
void run_energy_part(struct doc *d, const struct energy_row *row, double uj);

/* The same run with fusion off: `apart_ps`. */
int run_apart(struct run_report *r, struct machine_base *machines, const struct run_opts *how, struct err *e);

/* A workload, and a run, as results.db keeps them; everything lives in `a` or in what is given. */
int run_workload(const struct op_stream *s, const struct trace *t, uint64_t rules_hash, struct arena *a,
                 struct res_workload *w, struct err *e);
int run_stored(const struct run_report *r, uint64_t host_ns, struct arena *a, struct res_workload *w,
               struct res_run *run, struct err *e);
int run_stored_resources(const ps_t *stall, const ps_t *peak, struct arena *a, struct res_run *run, struct err *e);
int run_store(struct run_report *r, struct resdb *db, uint64_t host_ns, struct arena *a, struct err *e);

/* How far the answer may be trusted, as text of a few lines. */
void run_trust(const struct run_report *r, struct str *out);
/* The same in short: the mean error of each of its classes of op, or that they were never compared. */
void run_compared(const struct run_report *r, struct str *out);
/* The same of what is not at hand as a run: measured time by family of op, added op by op. */
#define RUN_FAMILIES 64
struct run_family {
	const char *name;
	uint64_t ns;
};
struct run_made {
	bool launches;                   /* they are what the stored error is of (MACHINE_LAUNCHES) */
	const struct machine_conf *conf; /* an NPU's; NULL: not at hand */
	size_t n, n_parts;
	struct run_family family[RUN_FAMILIES];
	struct run_family part[RUN_FAMILIES]; /* an NPU's classes of silicon.h, and their time */
};
void run_made_add(struct run_made *m, const char *kind, const char *family, uint64_t ns);
/* The same for an NPU: rows of a product, 0 where they are not known. */
void run_made_part(struct run_made *m, const char *kind, uint64_t rows, uint64_t ns);
/* `b` NULL: nothing was read. */
void run_made_trust(struct run_made *m, const struct baseline *b, struct str *out);

#endif
