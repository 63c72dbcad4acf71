/* limits_show.h - what npusim limits prints: the answer first, then what each change does, as table, CSV or JSON. */
#ifndef NPUSIM_SIM_CLI_LIMITS_SHOW_H
#define NPUSIM_SIM_CLI_LIMITS_SHOW_H

#include "sim/study/limits.h"
#include "sim/ui/out.h"

struct limits_view {
	const struct limits_result *r;
	const char *config, *part; /* part: "8 of 32 layers"; NULL: all of a model, or a trace */
	const char *fidelity;      /* of the many runs */
	uint32_t step_ppm;
};
void limits_table(const struct limits_view *v, struct str *out);
void limits_csv(const struct limits_view *v, struct str *out);
void limits_json(const struct limits_view *v, struct str *out);

#endif
