/* stat.h - statistics: registered once with name, unit, help and address, then bumped as plain uint64_t.
 *
 * Ratios are not stored: the reader divides. The registry freezes at the first snapshot: registering later is a
 * bug (assert). Warm-up and region of interest stay apart: a value read is "now minus the last snapshot". */
#ifndef NPUSIM_SIM_BASE_STAT_H
#define NPUSIM_SIM_BASE_STAT_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"

struct stat_reg;

enum stat_kind {
	STAT_COUNT, /* grows only; region of interest by difference */
	STAT_LEVEL  /* a state (bytes resident, worst so far): read as it is */
};

struct stat_view {
	const char *name, *unit, *help;
	enum stat_kind kind;
	uint64_t value;
};
typedef void stat_each_fn(void *arg, const struct stat_view *v); /* is told of each */

struct stat_reg *stat_new(void);
void stat_free(struct stat_reg *r);
/* `name` is "block.what" and unique; strings and counter must outlive the registry. -1 on a duplicate or no memory. */
int stat_add(struct stat_reg *r, const char *name, const char *unit, const char *help, enum stat_kind kind,
             const uint64_t *counter, struct err *e);
/* The same for a block's list of them. */
struct stat_row {
	const char *name, *unit, *help;
	enum stat_kind kind;
	const uint64_t *counter;
};
int stat_add_all(struct stat_reg *r, const struct stat_row *rows, size_t n, struct err *e);
void stat_snapshot(struct stat_reg *r); /* the region of interest starts here */
size_t stat_count(const struct stat_reg *r);
struct stat_view stat_at(const struct stat_reg *r, size_t i); /* in order of registration */
/* By name. One that nobody registered is the caller's mistake: 0, and from then on stat_check is an error, as a wrong name
 * would read as a machine that did nothing. */
uint64_t stat_get(struct stat_reg *r, const char *name);
int stat_check(const struct stat_reg *r, struct err *e);
uint64_t stat_get_or(const struct stat_reg *r, const char *name, uint64_t absent);
/* Its counter, for a block that follows another's while both run; NULL: nobody registered the name. */
const uint64_t *stat_counter(const struct stat_reg *r, const char *name);

#endif
