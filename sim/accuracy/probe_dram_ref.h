/* probe_dram_ref.h - our command path beside the rows of validate/data/dram/reference.csv: the same timings, map, queue
 * and stream. A row counts when it is Ramulator's, with FR-FCFS and with refresh of all banks or none, and when the
 * memory can serve its load, where it has one. Every other row is kept, with the reason why it does not count.
 * A load is *saturated* when the table says so: less than 98.5 % of it was served. It is *at capacity* when it is more
 * than what the reference itself serves of that stream unpaced; with arrivals at random times, from 99 % of that on.
 * Then the mean latency is a backlog too: the queue's utilisation is near 1 or above, and the mean depends on the run's
 * length and on the draw of arrivals (probe_ref_draws). */
#ifndef NPUSIM_SIM_ACCURACY_PROBE_DRAM_REF_H
#define NPUSIM_SIM_ACCURACY_PROBE_DRAM_REF_H

#include "sim/accuracy/probe_dram.h"

enum probe_class {
	PROBE_C_SEQ,
	PROBE_C_RANDOM,
	PROBE_C_STRIDED,
	PROBE_C_MIX,
	PROBE_C_COPY,
	PROBE_C_CHASE,
	PROBE_C_LOAD,
	PROBE_CLASSES
};

struct probe_row {
	char simulator[16], type[24], pattern[32], parameter[64], map[32], controller[48];
	uint64_t requests;
	double efficiency, mean_ns, p99_ns; /* theirs; mean and p99 below 0: none */
	bool saturated;
	double capacity; /* of a load row: the reference's efficiency, not paced; 0: no such row */
	/* Filled by probe_ref_run. */
	enum probe_class cls;
	const char *why_not; /* NULL: it counts */
	bool ran;
	struct probe_result ours;
	double error; /* relative; a chase's in ns */
};
struct probe_ref {
	struct probe_row *row;
	size_t n;
};

int probe_ref_load(struct probe_ref *f, const char *path, struct err *e);
void probe_ref_free(struct probe_ref *f);
/* Runs the row where it can be run: at most `most` bursts (0: as many as the reference). */
int probe_ref_run(struct probe_row *r, uint64_t most, struct err *e);
/* The share of what the memory can serve that a load row asks; 0: no load row, or its capacity is not known. */
double probe_ref_utilisation(const struct probe_row *r);
bool probe_ref_at_capacity(const struct probe_row *r);
/* The mean latency over n draws of arrivals: least and most. */
int probe_ref_draws(const struct probe_row *r, int n, double *least, double *most, struct err *e);
/* Of a class: rows that count, the mean and the largest of their errors' sizes, and how many are beyond its bound. */
struct probe_class_sum {
	int n, beyond;
	double mean, most;
};
int probe_ref_sum(const struct probe_ref *f, struct probe_class_sum out[PROBE_CLASSES]); /* beyond, of all classes */
const char *probe_class_name(enum probe_class c);
double probe_class_bound(enum probe_class c); /* what the class is held to, in the unit of `error` */

/* A file of configs/dram with changes ("channels=1"), resolved. */
int probe_dram_load(struct dram_cfg *c, const char *path, const char *const *sets, int n, struct err *e);

#endif
