/* study_chart.h - the front of a stored sweep and its knee, and what matters in it, drawn: study_doc.h has the same as tables. */
#ifndef NPUSIM_SIM_REPORT_STUDY_CHART_H
#define NPUSIM_SIM_REPORT_STUDY_CHART_H

#include "results/plot/plot.h"
#include "sim/study/study.h"

/* `title` NULL: the sweep's name. */
struct plot *study_front_chart(struct study *t, const char *title, struct err *e);
struct plot *study_tornado_chart(struct study *t, const char *of, const char *title, struct err *e);

#endif
