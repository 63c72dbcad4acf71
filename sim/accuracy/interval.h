/* interval.h - how sure a simulated total is: an interval that holds the true time four times in five.
 *
 * A total is made of classes of op, each with a share of its time and an error that validation found (accuracy.h). Within
 * a class the errors of one run go together: whatever a model of products gets wrong, it gets wrong for all of a step's
 * products. Between classes they do not. So the spread of a total (of the logarithm of its time) is the root of the sum of
 * squares of share times the class's spread, which is its mean error times 1.2533, as for a normal error. A class that was
 * never held against silicon may be off by half (INTERVAL_UNHELD).
 * How many spreads an interval is wide is found on whole steps that no fit has seen (configs/accuracy/totals.csv): the
 * level's quantile of |ln(simulated / measured)| over spread. Few totals are no evidence, so INTERVAL_PRIOR more stand beside them
 * with what a normal error would give.
 * A described NPU has the errors of silicon of its own family (silicon.h), a TPU's those of a v6e by its data sheet, by kind of
 * op. What was waited for parts that no silicon was held against (GEMV units, dispatch, KV buffer, NoC, latency ...) may be off by
 * half as well. How many spreads wide is found on whole feed-forward blocks that ran on that silicon. No total is
 * narrower than that silicon's best class, nor fewer spreads wide than a normal error's.
 * Where no rows of its family are kept, nothing is known of it but how far off other families were when they were new: ranges by
 * class of op, weighted by share of time. They hold what was never held, too. A range is Student's t of the middles of the
 * machines in configs/accuracy/families.yaml, its own family's left out, with their mean spread inside; below, it ends where no
 * machine's tenth percentile lies. The same goes for a class of which its family's rows have none.
 * One factor of a time hides that a model of many small ops suffers most: beside it stands the slow corner, where each op waits for
 * the one before, starts as late and reads DRAM as slowly as the worst of the other families.
 * A machine that npusim calibrate fitted to its own rows is as sure as they are many and near, by class: Student's t of their mean
 * error.
 * A GPU whose configuration was not held against its own traces has `elsewhere` times the spread.
 * The ratio of two machines' times is surer than both times are: machines of one group (GPUs, NPUs of one family) have `shared` of
 * their errors in common, class by class, and a machine has all of them in common with itself. `shared` is found on whole steps
 * that two GPUs ran, with INTERVAL_PRIOR pairs beside them that share nothing; NPUs of a family whose silicon was met are taken to share
 * as much. Of a family that was not, most of what is not known is the family's own: `shared_family` is found on the middles of machines
 * of one family, class by class, beside what machines differ by, with INTERVAL_PRIOR pairs that share as much as GPUs do.
 * Leaves out: errors of the workload (which experts, which shapes), of measuring, what a designer leaves out of a machine.
 * Coverage, also with a device and with a model left out: validate/tests/unit/t_interval.c, validate/ACCURACY.md. */
#ifndef NPUSIM_SIM_ACCURACY_INTERVAL_H
#define NPUSIM_SIM_ACCURACY_INTERVAL_H

#include "arch/machine/machine_conf.h"
#include "sim/accuracy/accuracy.h"
#include "workloads/op.h"

#define INTERVAL_LEVEL          0.8
#define INTERVAL_NORMAL         1.2815516 /* spreads of a normal error that hold INTERVAL_LEVEL */
#define INTERVAL_SPREAD_OF_MEAN 1.2533141 /* spread of a normal error over its mean: root of half of pi */
#define INTERVAL_UNHELD         0.5
#define INTERVAL_PRIOR          5

/* What intervals are made by: configs/accuracy/intervals.yaml, which `npusim validate --totals` writes. */
struct interval {
	double quantile;      /* spreads on either side: of a GPU, */
	double npu_quantile;  /* and of an NPU, whose totals are whole blocks of layers on the nearest silicon */
	double elsewhere;     /* times the spread, on a GPU that was not held */
	double shared;        /* of the errors of two machines of one group, in a class */
	double shared_family; /* the same of one family whose silicon was not met (configs/accuracy/families.yaml) */
	size_t totals;
	const char *held; /* devices with traces of their own, a blank between */
	const char *npu;  /* the nearest silicon's file: "configs/accuracy/tpu-v6e.yaml" */
	struct accuracy silicon;
};
/* 1: read; 0: there is no such file; -1: error. */
int interval_load(struct arena *a, struct interval *out, struct err *e);
int interval_load_from(const struct source *from, struct arena *a, struct interval *out, struct err *e);

/* Shares of a total by class, added op by op. */
#define INTERVAL_CLASSES 64
struct interval_shares {
	size_t n;
	double all;
	struct {
		const char *cls;
		double time;
	} v[INTERVAL_CLASSES];
};
void interval_add(struct interval_shares *s, const char *cls, double time);
double interval_spread(const struct accuracy *acc, const struct interval_shares *s);
/* Of an NPU: no less than the nearest silicon's best class. `strange`: the part of the time in classes that were held which
 * was waited for parts of the machine that were not. */
double interval_spread_npu(const struct interval *s, const struct interval_shares *shares, double strange);
double interval_spread_gpu(const struct interval *s, const struct accuracy *acc, const struct interval_shares *shares,
                           const char *device);

/* --- two machines -------------------------------------------------------------------------------------------------------- */

double interval_class_spread(const struct accuracy *acc, const char *cls);
/* Shares times their classes' spreads; `acc` NULL: as they are. */
void interval_weigh(const struct accuracy *acc, const struct interval_shares *s, struct interval_shares *out);

/* --- families of NPUs ---------------------------------------------------------------------------------------------------- */

enum interval_part { INTERVAL_DECODE, INTERVAL_PREFILL, INTERVAL_ATTENTION, INTERVAL_PARTS };
const char *interval_part_name(enum interval_part p);
/* Rows say it of products, the step they are in of all else. */
enum interval_part interval_part_of(const struct op *o);

/* True time over simulated. */
struct interval_range {
	double low, high;
};
/* A machine by its sheet, nothing fitted: percentiles over its rows, as logarithms. */
struct interval_met {
	const char *machine, *family;
	bool has[INTERVAL_PARTS];
	double low[INTERVAL_PARTS], middle[INTERVAL_PARTS], high[INTERVAL_PARTS];
	ps_t start;     /* of an op; 0: not known */
	double reached; /* of the DRAM pins' rate; 0: not known */
};
#define INTERVAL_MET_LEAST 3 /* machines of a class, of other families */
int interval_met_read(const struct source *from, struct arena *a, struct interval_met **v, size_t *n, struct err *e);
/* Of a machine of `family` that was not met; the ends have two digits at most, which is more than they are worth. */
struct interval_range interval_met_range(const struct interval_met *v, size_t n, const char *family,
                                         enum interval_part p);

/* The worst of the machines of other families; a machine's name NULL: none is known. */
struct interval_corner {
	ps_t start;
	double reached;
	const char *start_of, *reached_of;
};
/* Of the errors of two machines of one family that was not met, what both have; `p`: by the other classes alone (INTERVAL_PARTS: by
 * all). */
double interval_met_shared(const struct interval_met *v, size_t n, double prior, enum interval_part p);
struct interval_corner interval_met_corner(const struct interval_met *v, size_t n, const char *family);

/* What an NPU's interval is made by; kept with runs, so the numbers stay. */
enum interval_from {
	INTERVAL_UNSAID,
	INTERVAL_ROWS,   /* rows of its family's silicon */
	INTERVAL_FITTED, /* what its family's numbers were found on: nothing was held back */
	INTERVAL_OTHERS, /* other families: this one was never met */
	INTERVAL_PARTLY, /* rows of its family's silicon, but of some class none: there others */
	INTERVAL_CALIBRATED, /* rows of the machine itself, which its file tells (calibrated.*); of classes without any others */
	INTERVAL_FROMS
};

/* One of two machines that run a workload. */
struct interval_side {
	const char *group;             /* whose errors go together; "": of nobody else */
	uint64_t hash;                 /* of its configuration: the same machine has the same errors */
	enum interval_from from;       /* of an NPU */
	struct interval_range time;    /* true over simulated */
	struct interval_shares errors; /* what of them is by which class (interval_weigh) */
};
/* Of the first's time over the second's: true over simulated. No wider than both together; a machine against itself has none. */
struct interval_range interval_pair_range(const struct interval_side *a, const struct interval_side *b, double shared);

#define INTERVAL_FEW 3 /* rows of a class: fewer say nothing of it */
struct interval_family {
	enum interval_from from;
	struct accuracy rows;                        /* INTERVAL_ROWS, of the classes */
	bool met[INTERVAL_PARTS];                    /* that they have rows of */
	struct interval_range range[INTERVAL_PARTS]; /* of the others */
	struct interval_corner corner;               /* INTERVAL_OTHERS */
};
int interval_family_of(const struct machine_conf *c, struct arena *a, struct interval_family *out, struct err *e);
/* Of a total with these times in each part. */
struct interval_range interval_range_of(const struct interval_family *f, const double time[INTERVAL_PARTS]);

/* Whole steps, simulated and measured. */
struct interval_total {
	const char *device, *model, *step, *way;
	double measured_us, simulated_us;
	struct interval_shares shares;
	double z; /* |ln(simulated / measured)| in spreads, once it was asked (interval_deviations) */
	double spread;
};
int interval_totals(const char *path, struct arena *a, struct interval_total **v, size_t *n, struct err *e);
void interval_deviations(struct interval_total *v, size_t n, const struct accuracy *acc);
/* Two devices ran the same step in the same way. */
bool interval_is_pair(const struct interval_total *a, const struct interval_total *b);
/* What pairs of them share of their errors; `model`: without its pairs. After interval_deviations. */
double interval_shared(const struct interval_total *v, size_t n, const struct accuracy *acc, const char *model);
/* The quantile of those that are not `left_out` by device or model (NULL: of none). */
double interval_quantile(const struct interval_total *v, size_t n, const char *device, const char *model);

/* How many totals their intervals hold. */
struct interval_cover {
	size_t n, in;
	double half; /* median of the half widths, a fraction of the total */
};
enum interval_without {
	INTERVAL_ALL,
	INTERVAL_DEVICE,
	INTERVAL_MODEL
}; /* whose totals a quantile is found without, one after the other */
struct interval_cover interval_cover(const struct interval_total *v, size_t n, enum interval_without w,
                                     const char *only);

#endif
