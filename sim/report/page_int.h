/* page_int.h - what the parts of the page share; page.h is for others.
 *
 * Each is one more object of the open array. */
#ifndef NPUSIM_SIM_REPORT_PAGE_INT_H
#define NPUSIM_SIM_REPORT_PAGE_INT_H

#include "results/db/res_sweep.h"
#include "sim/base/out_json.h"
#include "sim/report/page.h"
#include "sim/study/study.h"

#define PAGE_POINTS 3000 /* drawn of a sweep; a chart of more is neither quick nor readable */

/* `called`: its name among all that are shown, `within` among those of its workload. */
int page_run(struct out_json *j, const char *from, const char *called, const char *within, const struct res_stored *r,
             struct err *e);
/* Roofs and rows of the run's machine; true: it runs launches. One that another build wrote may not be readable: the run is
 * shown without then. */
bool page_machine(struct out_json *j, const struct res_run *r);

int page_sweep(struct out_json *j, const char *from, struct resdb *db, int64_t id, struct err *e);

/* Of a page's data what its first part says, as HTML: a reader has the answer before any script has run. */
int page_said(const struct str *json, struct str *html, struct err *e);

/* An axis with the values that occur among the points that count: numbers in order, others as they come. */
struct page_axis {
	const struct res_value **values;
	size_t n;
	bool follows; /* moves with an axis before it ('link') */
};

struct page_points {
	struct study *t; /* all points that count */
	size_t n_axes;
	struct page_axis *axes;
	uint32_t *value; /* of every point of the view that counts, by axis: which of its values */
};

int page_curves(struct out_json *j, const struct page_points *r, struct err *e);

#endif
