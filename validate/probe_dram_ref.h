/* probe_dram_ref.h - our command path beside the rows of validate/data/dram/reference.csv: the same timings, map, queue
 * and stream. A row counts when it is Ramulator's with FR-FCFS and all-bank or no refresh; every other row is kept,
 * with the reason why it does not. */
#ifndef NPUSIM_VALIDATE_PROBE_DRAM_REF_H
#define NPUSIM_VALIDATE_PROBE_DRAM_REF_H

#include "validate/probe_dram.h"

enum probe_class { PROBE_C_SEQ, PROBE_C_RANDOM, PROBE_C_STRIDED, PROBE_C_MIX, PROBE_C_COPY, PROBE_C_CHASE, PROBE_C_LOAD,
                   PROBE_CLASSES };

struct probe_row {
	char simulator[16], type[24], pattern[32], parameter[64], map[32], controller[48];
	uint64_t requests;
	double efficiency, mean_ns, p99_ns;  /* theirs; mean and p99 below 0: none */
	bool saturated;
	/* Filled by probe_ref_run. */
	enum probe_class cls;
	const char *why_not;                 /* NULL: it counts */
	bool ran;
	struct probe_result ours;
	double error;                        /* relative; a chase's in ns */
};
struct probe_ref { struct probe_row *row; size_t n; };

int probe_ref_load(struct probe_ref *f, const char *path, struct err *e);
void probe_ref_free(struct probe_ref *f);
/* Runs the row where it can be run: at most `most` bursts (0: as many as the reference). */
int probe_ref_run(struct probe_row *r, uint64_t most, struct err *e);
const char *probe_class_name(enum probe_class c);
double probe_class_bound(enum probe_class c); /* what the class is held to, in the unit of `error` */

/* A file of configs/dram with changes ("channels=1"), resolved. */
int probe_dram_load(struct dram_cfg *c, const char *path, const char *const *sets, int n, struct err *e);

#endif
