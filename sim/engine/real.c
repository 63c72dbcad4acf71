#include "sim/engine/real.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arch/power/area.h"

#define STACK_PINS 1024 /* JEDEC JESD235 and JESD238; twice that of HBM4, JESD270-4 */
#define GDDR_PINS  32   /* two devices' channels, as PHYs of configs/tech/link.yaml are counted */

/* What the edges have room for, and what is asked of them; 0: no edges are needed, or the kind is not known. */
static double edges(const struct machine_cfg *c, double mm2, unsigned dies, double *asked, const char **what)
{
	const struct dram_cfg *d = &c->mem.dram;
	const struct tech_limit *l = &c->die.limit;
	const double pins = c->die.memory_bits ? c->die.memory_bits
	                                       : (double)d->channels * d->pseudo_channels * d->width_bits;
	const double aspect = (double)l->aspect / 1e6, most = (double)l->reticle / AREA_MM2;
	const double each = fmin(mm2 / dies * (double)l->low / 1e6, most); /* with what the sum may leave out */
	const double side = sqrt(each * aspect), around = 2 * (side + side / aspect);

	if (strncmp(d->kind, "hbm", 3) == 0 && l->stack) {
		*what = "stacks of HBM";
		*asked = pins / (strncmp(d->kind, "hbm4", 4) == 0 ? 2 * STACK_PINS : STACK_PINS);
		return dies * floor(2 * side * 1e3 / l->stack);
	}
	if (strncmp(d->kind, "gddr", 4) == 0 && l->gddr) {
		*what = "times 32 pins of GDDR";
		*asked = pins / GDDR_PINS;
		return dies * floor(around * 1e3 / l->gddr);
	}
	return 0;
}

size_t real_machine(const struct machine_cfg *c, unsigned dies, struct real_beyond out[REAL_MOST])
{
	const struct tech_limit *l = &c->die.limit;
	const double mm2 = (double)c->die.area / AREA_MM2, most = dies * (double)l->reticle / AREA_MM2;
	const char *what = "";
	double asked = 0, room;
	size_t n = 0;

	if (!c->die.area)
		return 0;
	if (l->reticle && mm2 > most) {
		struct real_beyond *x = &out[n++];

		*x = (struct real_beyond){ .what = "reticle", .value = mm2, .limit = most };
		snprintf(x->text, sizeof x->text,
		         "a die of %.0f mm2 is more than a reticle's %.0f: smaller, or cut into %.0f dies", mm2, most / dies,
		         ceil(mm2 / (most / dies)));
	}
	room = edges(c, mm2, dies, &asked, &what);
	if (room > 0 && ceil(asked) > room) {
		struct real_beyond *x = &out[n++];

		*x = (struct real_beyond){ .what = "edges", .value = ceil(asked), .limit = room };
		snprintf(x->text, sizeof x->text, "%.0f %s at a die of %.0f mm2, whose edges have room for %.0f",
		         ceil(asked), what, mm2, room);
	}
	return n;
}

size_t real_power(const struct machine_cfg *c, unsigned dies, double watts, struct real_beyond *out)
{
	const double most = dies * (double)c->die.limit.module / 1e6;

	if (!c->die.limit.module || watts <= most)
		return 0;
	*out = (struct real_beyond){ .what = "power", .value = watts, .limit = most };
	snprintf(out->text, sizeof out->text, "%.0f W in the mean, and no module is fed more than %.0f", watts, most);
	return 1;
}

bool real_die(const struct machine_cfg *c, double mm2)
{
	return c->die.limit.reticle && mm2 > (double)c->die.limit.reticle / AREA_MM2;
}
