/* probe_link.h - collectives over a system's links: a sweep over message sizes, and tables of measured ones to hold it against.
 *
 * A table is CSV whose header has `op` (or `collective`), `gpus` (or `chips`), `bytes` and `us`; further columns are the user's.
 * Rows of what is no collective of ours, on one chip or of no bytes (a step of a model, say) are counted and left out. */
#ifndef NPUSIM_SIM_ACCURACY_PROBE_LINK_H
#define NPUSIM_SIM_ACCURACY_PROBE_LINK_H

#include "arch/link/link.h"
#include "sim/base/arena.h"
#include "traces/text/input.h"

#define PROBE_LINK_MOST_BYTES (UINT64_C(1) << 46)
#define PROBE_LINK_ROWS       100000

struct probe_link_row {
	struct link_ask ask;
	double us; /* measured; 0: nobody did */
	struct link_time time;
};

struct probe_link {
	struct probe_link_row *row;
	size_t n, left_out;
};

/* Of a table's rows those of one collective (LINK_COLLECTIVE_COUNT: of all) and on so many chips (0: any); all live in `a`. */
int probe_link_table(const char *path, enum link_collective what, uint32_t chips, struct arena *a,
                     struct probe_link *out, struct err *e);
/* The same of what is open; `name` stands in errors. */
int probe_link_read(struct input *in, const char *name, enum link_collective what, uint32_t chips, struct arena *a,
                    struct probe_link *out, struct err *e);
/* Message sizes from 1 KiB to 512 MiB, or one. */
int probe_link_sizes(enum link_collective what, uint32_t chips, uint64_t bytes, struct arena *a, struct probe_link *out,
                     struct err *e);
/* Fills the times. ERR_CONFIG where some row's chips cannot take part. */
int probe_link_run(const struct link_cfg *c, struct probe_link *x, struct err *e);

/* Of the rows of one collective on so many chips that were measured. */
struct probe_link_error {
	enum link_collective what;
	uint32_t chips;
	size_t n;
	double mean, most; /* of measured time */
};
/* The group behind that in `g`, of n 0 the first: each collective on each number of chips that there are rows of, in order;
 * false: there is none. */
bool probe_link_error_next(const struct probe_link *x, struct probe_link_error *g);
double probe_link_error_pct(const struct probe_link_row *r); /* signed */
/* Bytes a second as tables of such benchmarks tell them: the message's, and those that a ring would have to send. */
double probe_link_gbps(const struct probe_link_row *r);
double probe_link_bus_gbps(const struct probe_link_row *r);

#endif
