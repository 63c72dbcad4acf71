/* timeline.h - a run over time, for ui.perfetto.dev: who worked when, how many bytes moved, how much waited.
 *
 * One process is the simulated machine: its ops as the run counts them, then a thread a unit with the commands it worked
 * for, caches and memory with the times they were busy, and counters. Another is the GPU that was measured, its kernels
 * by stream, from the start of the range on; an arrow leads from each op to its kernels. With events everything is
 * there; in closed form there are no units to look at, only ops; on a GPU ops, kernels, and DRAM's bytes as the mean over
 * each op. Where power is modelled it is a counter, too: the mean over each op, of which all sum to the run's energy.
 *
 * It looks on (arch/watch.h) during the measured pass alone, from its start at 0. Spans go to the file as they end, those
 * of a thread that follow each other for the same command as one; `busy_ps` has their time to the picosecond, and they
 * sum to the run's statistics. Counters are means over bins (sim/report/series.h): a value times the bin's width is what moved
 * in it. Memory is bounded, the file is the same to the byte on every host. */
#ifndef NPUSIM_SIM_REPORT_TIMELINE_H
#define NPUSIM_SIM_REPORT_TIMELINE_H

#include "arch/watch.h"
#include "sim/engine/run.h"

enum { TIMELINE_SIMULATED = 1, TIMELINE_MEASURED = 2 }; /* processes */
/* Threads, in numbers that no two processes share: Perfetto's importer names the last thread it met of that number,
 * whatever its process. Number 0 is its idle thread's, so nothing has it. */
enum {
	TIMELINE_OPS = 1,
	TIMELINE_LANES = 2 /* of the first resource */,
	TIMELINE_STREAMS = 101 /* the first measured */
};

struct timeline;

/* All must live until it is closed; `r` is what run_stream fills, and may still be empty. */
struct timeline *timeline_open(const char *path, const struct op_stream *s, const struct machine_conf *conf,
                               const char *device, const struct run_result *r, struct err *e);
const struct watch *timeline_watch(struct timeline *t);
/* rc < 0: the run failed, nothing is left. Else what the run came to is written, and the file takes its name. */
int timeline_close(struct timeline *t, int rc, struct err *e);

#endif
