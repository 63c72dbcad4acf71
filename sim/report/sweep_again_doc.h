/* sweep_again_doc.h - the promising points of a wide sweep, once more with events: what changed. */
#ifndef NPUSIM_SIM_REPORT_SWEEP_AGAIN_DOC_H
#define NPUSIM_SIM_REPORT_SWEEP_AGAIN_DOC_H

#include "sim/report/doc.h"
#include "sim/study/sweep_view.h"

/* How far apart they are is appended to `said`, a line; nothing where no point ran again. */
int sweep_again_doc(struct doc *d, struct sweep_view *wide, struct sweep_view *again, uint64_t rows, struct str *said,
                    struct err *e);

#endif
