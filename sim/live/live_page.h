/* live_page.h - one HTML file that simulates, for those who install nothing: the library as WebAssembly, its data files, and
 * results/report/live.html, which draws what comes of them. */
#ifndef NPUSIM_SIM_LIVE_LIVE_PAGE_H
#define NPUSIM_SIM_LIVE_LIVE_PAGE_H

#include <stdbool.h>

#include "sim/workload/workload.h"

struct live_ask {
	const char *config; /* as people call it */
	const char *name;   /* of its file on the page; NULL: as that of `config` */
	bool stored;        /* of a run: of machines its own alone, and those that tell how far to trust it */
	const char *const *sets;
	int n_sets;
	struct workload_spec spec; /* of a model */
	int (*read)(const struct workload_spec *s, const struct machine_cfg *m, struct workload *w, struct err *e);
};

/* What simulates on a page, two elements of it. ERR_IO: this build has no module. */
int live_page_parts(const struct live_ask *ask, struct str *out, struct err *e);
/* A page of that alone. */
int live_page_make(const struct live_ask *ask, struct str *out, struct err *e);

#endif
