/* sweep.h - what the files of npusim sweep share. */
#ifndef NPUSIM_SIM_CLI_SWEEP_H
#define NPUSIM_SIM_CLI_SWEEP_H

#include "sim/cli/mixed.h"
#include "sim/study/sweep_view.h"

#define SWEEP_WHERE_HELP "only points for which this holds; of several, for which all hold"
#define SWEEP_NO_AGAIN   UINT32_MAX

struct sweep_opts {
	const char *file, *results, *shard, *format;
	struct workload_spec workload;
	uint64_t jobs, max, rows, guided;
	bool dry, retry, mixed, allow_opaque;
	uint64_t shard_i, shard_n;
	uint32_t again_ppm; /* SWEEP_NO_AGAIN: not asked for */
};

/* sweep_inputs.c: the workload of all points, and how one that differs builds its own. */
struct sweep_inputs {
	const struct machine_cfg *machine; /* of its kind */
	struct workload w;
	struct mixed mix; /* in its place where the file has several */
	struct res_workload workload;
};
void sweep_inputs_free(struct sweep_inputs *in);
/* The file's, or what the command line has in its place; `asked` is what it came to. */
int sweep_inputs_read(struct sweep_inputs *in, const struct sweep_opts *o, const struct sweep *s,
                      struct workload_spec *asked, struct err *e);
int sweep_inputs_build(void *in, const struct workload_spec *w, struct arena *a, struct op_stream *out, struct err *e);

/* sweep_announce.c: what is going to run, and about how long that takes, on stderr. `todo` NULL: points not chosen yet. */
void sweep_announce(const struct sweep *s, const struct sweep_job *job, const size_t *todo, size_t n, bool dry);
/* The same of all points that are this shard's. */
int sweep_announce_all(const struct sweep *s, const struct sweep_job *job, struct err *e);

/* sweep_show.c: what is in the database of one; then, where it is asked for, its promising points again with events. */
int sweep_show(struct resdb *db, int64_t id, const struct sweep_opts *o, struct doc *d, struct err *e);
int sweep_again(struct sweep *s, struct sweep_job *job, struct resdb *db, const struct sweep_opts *o, int64_t id,
                struct doc *d, struct err *e);

/* A progress line of points, from when there is something to say. */
struct sweep_watch {
	struct progress *line;
	bool tried;
	const char *label;
	const struct sweep *s; /* for sweep_before alone */
	const struct sweep_job *job;
};
void sweep_on_points(void *watch, size_t done, size_t of);

#endif
