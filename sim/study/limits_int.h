/* limits_int.h - what the parts of limits share: the rows to try, and the workers that run them. */
#ifndef NPUSIM_SIM_STUDY_LIMITS_INT_H
#define NPUSIM_SIM_STUDY_LIMITS_INT_H

#include "sim/study/limits.h"

/* --- what to try (limits_moves.c, limits_pairs.c) ---------------------------------------------------------------- */

struct limits_rows {
	struct arena *a;
	struct limits_row *v;
	size_t n, cap;
};
/* One more row, all zero; NULL: out of memory. */
struct limits_row *limits_rows_add(struct limits_rows *to);
/* All single changes of the machine, in the order of its parameters. */
int limits_moves(const struct limits_question *q, const struct machine_conf *c, struct limits_rows *to, struct err *e);
/* Pairs of the `n` rows worth a try, best chance first, no more than q->pairs; they have been run. */
int limits_pairs(const struct limits_question *q, const struct limits_result *r, struct limits_rows *to, struct err *e);

/* --- running (limits_run.c) --------------------------------------------------------------------------------------- */

struct limits_job {
	const struct limits_question *q;
	struct machine_base *machines; /* of q's config and sets: what the rows' machines are made of */
	enum run_fidelity fidelity;
	/* Of the base, in closed form and with events: rows in closed form that are too near it for that run with events, too.
	 * 0: none does. */
	ps_t base_ps, event_ps;
	size_t done, of; /* for progress: before these rows, and with them */
	/* Of each run in this process, with its machine; NULL: nobody asks. */
	void (*seen)(void *arg, const struct machine_conf *c, const struct run_result *x);
	void *arg;
};
/* What one row's run answered. */
struct limits_seen {
	ps_t total_ps, stall_ps[RES_COUNT];
	ps_t event_ps;                            /* of a row too near the base; 0: it is not */
	uint64_t dram_bytes, energy_fj, area_nm2; /* 0: the machine's power, its process is not known */
	uint32_t bound;                           /* enum res: the roofline's */
	char beyond[40];                          /* why nobody builds it, in words; "" */
	uint32_t kind;                            /* enum err_kind of what went wrong */
	char why[640];
};
/* Workers that stay for several rounds, with what they have mapped: at most the job's, for rounds of `most` rows. */
struct limits_crew;
struct limits_crew *limits_crew_new(const struct limits_job *job, size_t most, struct err *e);
void limits_crew_free(struct limits_crew *c);
/* The design itself, here: before the first round, what it was mapped with is every worker's. */
int limits_crew_one(struct limits_crew *c, const struct limits_job *job, struct limits_seen *seen);
/* Runs each row once; seen[i] is row i's. Fails for what is not the machine's fault; kind ERR_CONFIG or ERR_STUCK is a machine
 * that cannot be built or cannot work. */
int limits_crew_run(struct limits_crew *c, const struct limits_job *job, const struct limits_row *const *rows, size_t n,
                    struct limits_seen *seen, struct err *e);
/* The design itself, or with these sets over it. */
int limits_run_one(const struct limits_job *job, const char *const *sets, size_t n_sets, struct run_memo *memo,
                   struct limits_seen *seen);
/* The closed form takes no notice of that one change. */
bool limits_left_out(const char *const *sets, size_t n_sets);
static inline double limits_part_saved(ps_t base, ps_t total)
{
	return base ? ((double)base - (double)total) / (double)base : 0;
}

#endif
