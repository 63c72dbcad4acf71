/* run_verdict.h - what a person repeats of a run, in at most six lines: how fast, how sure that is where its family was never met,
 * beside what, held by what, what to buy next, and what to choose otherwise.
 *
 * Two ratios, always both. As measured: the traced GPU's kernels over the simulated time, and its wall time over it; nothing
 * simulated is in those numerators. Fused: the same GPU with the step's ops joined and launched as one graph
 * (sim/engine/gpu_baseline.h), which is what a careful programmer would get of it. A workload that nobody measured has the second alone,
 * against the GPU that the models were held against.
 * Beside figures stand the intervals of sim/accuracy/interval.h, at four in five. What is a part of a model makes no tokens: of it the
 * time alone is said.
 * Tokens: new ones of all sequences, which a trace's attention tells; steps are counted, and a time is that of one. */
#ifndef NPUSIM_SIM_REPORT_RUN_VERDICT_H
#define NPUSIM_SIM_REPORT_RUN_VERDICT_H

#include "sim/report/baseline.h"
#include "sim/report/run.h"
#include "sim/study/marginal.h"

#define VERDICT_LINES 7
#define VERDICT_INIT \
	{ \
		STR_INIT, STR_INIT, STR_INIT, STR_INIT, STR_INIT, STR_INIT, STR_INIT \
	}

struct res_point;
struct verdict {
	const char *machine;
	uint64_t chips;         /* that run it alike; 0: one */
	double links, bubbles;  /* of the time, what collectives take; that a stage waits for others */
	uint64_t tokens, steps; /* tokens of all steps together; 0: not known */
	double us;              /* of one step; 0: too little of it is simulated */
	double carried_us;      /* of that, as measured */
	struct workload_part part;
	double carried;       /* of the measured time, the part that no rule knows */
	bool unknown;         /* no rule knows any of its kernels: */
	const char *longest;  /* of them, by measured time; "": not known */
	uint64_t kinds;       /* how many names they have */
	double kernels, wall; /* times the GPU as measured; 0: not known */
	double fused;         /* times that GPU fused and under a graph; 0: not known */
	ps_t fused_ps;
	bool interval;                     /* how wide these are is known: */
	struct interval_range time;        /* true over simulated */
	struct interval_range fused_range; /* the same of the ratio to the GPU fused */
	enum interval_from from;           /* an NPU's: what they are made by; of the last two: */
	const char *family;                /* as the machine names it; "": it names none */
	struct interval_range range[INTERVAL_PARTS];
	double share[INTERVAL_PARTS]; /* of the time; none of a stored run */
	struct interval_corner corner;
	double corner_us;   /* of a step at the slow corner; 0: not known */
	const char *device; /* "H200" */
	enum res held;      /* what most of the time was waited for */
	double held_share;  /* of the time */
	enum res full;      /* the resource that is nearest to its peak: `held`, or where that has none the fullest */
	double full_share;  /* how near: 0 to 1 */
	double mfu, bandwidth; /* 0 to 1 */
	bool old;              /* of a build that kept neither tokens nor the GPU fused */
	bool buys;             /* it was asked what to buy */
	struct buys buy;
};

/* `q` is what `r` was run of; NULL where nothing can be bought. All lives in `a`. */
int run_verdict_make(const struct run_report *r, const struct baseline *b, const struct marginal_question *q,
                     struct arena *a, struct verdict *out, struct err *e);
/* How wide the simulated time's interval is, true over simulated; of `r` machine, stream and result are asked. false: not known. */
bool run_verdict_range(const struct run_report *r, const struct baseline *b, struct arena *a,
                       struct interval_range *out);
/* The same of a sweep's run, kept in its row; `baseline`: a struct baseline, or NULL, and nothing is kept. */
void run_verdict_row(void *baseline, const struct machine_conf *c, const struct run_result *x, struct res_point *row);
/* Its numbers among the run's figures, which a results file keeps; and back, of a run that was read from one. Which GPU was
 * measured is not kept. */
void run_verdict_keep(const struct verdict *v, struct figures *x);
void run_verdict_stored(const struct res_stored *r, struct verdict *out);
/* "dram.channels 48 -> 96 saves 50 % (12 to 71), +55 mm2, +148 W". */
void run_verdict_buy(const struct marginal *b, bool interval, struct str *s);
/* The lines; returns how many. */
int run_verdict_text(const struct verdict *v, struct str lines[VERDICT_LINES]);
void run_verdict_doc(struct doc *d, const struct verdict *v); /* members of JSON */
/* Is what has this path in a run's document otherwise where nobody asked what to buy? */
bool run_verdict_buys(const char *path);
/* "time: 0.9 to 5.6 of what is simulated (decode)": the classes of an interval that is no silicon's of its family; else nothing. */
void run_verdict_classes(const struct verdict *v, struct str *s);

#endif
