#include "sim/engine/real.h"

#include <math.h>
#include <stdio.h>

#include "arch/machine/machine_area.h"
#include "arch/power/area.h"

#define GIB 1073741824.0

size_t real_machine(const struct machine_cfg *c, unsigned dies, struct real_beyond out[REAL_MOST])
{
	const struct tech_limit *l = &c->die.limit;
	const double mm2 = (double)c->die.area / AREA_MM2, most = dies * (double)l->reticle / AREA_MM2;
	const char *what;
	const uint32_t asked = machine_area_asked(c, &what), each = (asked + dies - 1) / dies;
	const uint64_t holds = c->die.limit_holds;
	const double bytes = (double)c->mem.dram.capacity * c->die.machines;
	size_t n = 0;

	if (!c->die.area)
		return 0;
	if (l->reticle && mm2 > most) {
		struct real_beyond *x = &out[n++];

		*x = (struct real_beyond){ .what = "reticle", .words = "over a reticle", .value = mm2, .limit = most };
		snprintf(x->text, sizeof x->text,
		         "a die of %.0f mm2 is more than a reticle's %.0f: smaller, or cut into %.0f dies", mm2,
		         most / dies, ceil(mm2 / (most / dies)));
	}
	if (l->reticle && each && machine_area_edges(c, l, each) > l->reticle) {
		struct real_beyond *x = &out[n++];
		uint32_t room = each;

		while (room && machine_area_edges(c, l, room) > l->reticle)
			room--;
		*x = (struct real_beyond){ .what = "edges",
			                   .words = "too much DRAM for its edges",
			                   .value = asked,
			                   .limit = (double)room * dies };
		snprintf(x->text, sizeof x->text, "%u %s: the edges of a reticle's die have room for %u", asked, what,
		         room);
	}
	if (asked && holds && bytes > (double)asked * (double)holds) {
		struct real_beyond *x = &out[n++];

		*x = (struct real_beyond){ .what = "capacity",
			                   .words = "more DRAM than its stacks hold",
			                   .value = bytes / GIB,
			                   .limit = (double)asked * (double)holds / GIB };
		snprintf(
			x->text, sizeof x->text,
			"a dram.capacity of %.0f GiB, and its %s (%u) hold %.0f at the most: more dram.channels, or less of it",
			x->value, what, asked, x->limit);
	}
	return n;
}

size_t real_power(const struct machine_cfg *c, unsigned dies, double watts, struct real_beyond *out)
{
	const double most = dies * (double)c->die.limit.module / 1e6;

	if (!c->die.limit.module || watts <= most)
		return 0;
	*out = (struct real_beyond){ .what = "power", .words = "over a module's power", .value = watts, .limit = most };
	snprintf(out->text, sizeof out->text, "%.0f W in the mean, and no module is fed more than %.0f", watts, most);
	return 1;
}
