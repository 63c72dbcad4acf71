/* workload_int.h - what the files of the workload share. */
#ifndef NPUSIM_SIM_WORKLOAD_WORKLOAD_INT_H
#define NPUSIM_SIM_WORKLOAD_WORKLOAD_INT_H

#include "sim/workload/workload.h"

/* workload_model.c. Names and numbers in texts, against what there is. */
int workload_check_texts(const struct workload_spec *s, struct err *e);
uint32_t workload_skew(const struct workload_spec *s); /* in thousandths, of a spec that was checked */
/* What is asked of the model; `style` where none is given. */
int workload_how(const struct model *m, const struct workload_spec *s, enum build_style style, struct build_how *how,
                 struct err *e);

/* workload_doubt.c. Marks launches whose measured time contradicts their sizes; how many operations, or -1. */
int workload_doubt(struct workload *w, const struct source *from, struct err *e);

/* workload_lay.c. The launches of w->in get their operators; then, of what was lowered, its own name. */
int workload_lay(struct workload *w, const struct workload_reader *by, struct err *e);
int workload_lay_name(struct workload *w, struct err *e);

#endif
