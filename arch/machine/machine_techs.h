/* machine_techs.h - processes that machines name, each read once. */
#ifndef NPUSIM_ARCH_MACHINE_MACHINE_TECHS_H
#define NPUSIM_ARCH_MACHINE_MACHINE_TECHS_H

#include "arch/power/tech.h"

struct machine_techs;

/* `*kept` NULL: none yet. The answer lives as long as they. */
const struct tech *machine_tech(struct machine_techs **kept, const struct source *from, const char *node,
                                struct err *e);
void machine_techs_free(struct machine_techs *t);

#endif
