/* replay_int.h - a replay's file as it was read, for traces/read/replay*.c only. */
#ifndef NPUSIM_TRACES_READ_REPLAY_INT_H
#define NPUSIM_TRACES_READ_REPLAY_INT_H

#include <regex.h>

#include "sim/base/arena.h"
#include "sim/base/yaml.h"
#include "traces/trace.h"

struct replay_match {
	regex_t *kernel, *op, *dims;
}; /* NULL: any */
struct replay_op {
	const char *name;
	const struct trace_arg *args;
	uint32_t n_args;
}; /* name NULL: the traced one's */
struct replay_from {
	struct replay_match m;
	struct replay_op as;
	size_t row;
	bool other; /* not the table's kernel */
	uint64_t used;
	const struct ynode *at;
};
struct replay_row {
	regex_t *is;
	int64_t launches; /* a step; 0: as the table has it */
	bool by_elements;
	const struct ynode *at;
};
struct replay_new {
	size_t row;
	struct replay_op op;
};
struct replay_added {
	struct replay_match m;
	bool before;
	uint64_t every, seen;
	struct replay_new *v;
	size_t n;
	const struct ynode *at;
};

#define REPLAY_DROPPED 0 /* rows count from 1 */

struct replay {
	struct yaml *y;
	struct arena *a;
	struct trace_device device;
	char table[1024], order[1024];
	const char *range;
	uint64_t steps, context, context_order;
	int64_t wall_ns; /* -1: none */
	struct replay_row *rows;
	size_t n_rows; /* by number; [0] is unused */
	struct replay_from *from;
	size_t n_from; /* in the file's order, dropped ones last */
	struct replay_added *added;
	size_t n_added;
	regex_t *res[512];
	size_t n_res;
};

int replay_read(struct replay *r, const char *path, struct err *e);
void replay_free(struct replay *r);

#endif
