/* report.h - what the files of npusim report share: results as JSON, for the page that draws them.
 *
 * The page is results/report/page.html with its style, its script and the chart library; the build makes one text of
 * it and puts that into the program (results/report/bundle.sh, embed.S). The C side says what is so and the page how it
 * looks: whatever a reader could take for a fact - a knee, a front, a share - is worked out here, once for all commands.
 *
 * Ops and points are arrays in the order that "columns" names beside them: a page may have some ten thousand. */
#ifndef NPUSIM_SIM_CLI_REPORT_H
#define NPUSIM_SIM_CLI_REPORT_H

#include "results/db/res_sweep.h"
#include "sim/cli/cmd.h"

#define REPORT_POINTS 3000 /* drawn of a sweep; a chart of more is neither quick nor readable */

/* A stored run, or sweep, as one more object of the open array. */
/* `called`: its name among all that are shown, `within` among those of its workload. */
int report_run(struct out_json *j, const char *from, const char *called, const char *within, const struct res_stored *r,
               struct err *e);
int report_sweep(struct out_json *j, const char *from, struct resdb *db, int64_t id, struct err *e);

#endif
