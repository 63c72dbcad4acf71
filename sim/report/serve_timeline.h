/* serve_timeline.h - steps, batch, queue and blocks of each machine that serves, over time, as a file for ui.perfetto.dev. */
#ifndef NPUSIM_SIM_REPORT_SERVE_TIMELINE_H
#define NPUSIM_SIM_REPORT_SERVE_TIMELINE_H

#include "sim/report/chrome.h"
#include "sim/serve/serve.h"

struct serve_timeline {
	bool failed;
	struct outfile file;
	struct chrome c;
	struct err e;
	struct serve_watcher watcher; /* for serve_steps */
	uint32_t second;              /* the first process of the second pool's machines: each is one */
};

/* It must stay where it is until it is closed. */
int serve_timeline_open(struct serve_timeline *w, const char *path, const struct serve_run *r, struct err *e);
/* Whole, or where `rc` is -1 or it could not be written not at all. */
int serve_timeline_close(struct serve_timeline *w, int rc, struct err *e);

#endif
