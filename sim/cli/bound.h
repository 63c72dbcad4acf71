/* bound.h - what the commands that look at a trace under a roofline share: options, and reading all they need. */
#ifndef NPUSIM_SIM_CLI_BOUND_H
#define NPUSIM_SIM_CLI_BOUND_H

#include "sim/cli/cmd.h"
#include "sim/profile/bound.h"

struct bound_options {
	const char *range, *rules, *config, *peak, *margin, *low;
};

/* clang-format off */
/* Rows for an option table over a struct bound_options *O. */
#define BOUND_OPTS(O) \
	{ 'c', "config", OPT_READ, &(O)->config, "CONFIG", "the device whose peaks count; by default the one in" \
	  " configs/gpu that describes the trace's device" }, \
	{ 0, "peak", OPT_TEXT, &(O)->peak, "PEAKS", "the peaks themselves, of a device that no file describes: bandwidth," \
	  " then TFLOP/s of fp32, tf32, bf16 (any 16 bits) and fp8 as far as they are known: '5.3 TB/s, fp32 163, bf16 1307'" }, \
	{ 0, "range", OPT_TEXT, &(O)->range, "NAME", CMD_RANGE_HELP }, \
	{ 0, "margin", OPT_TEXT, &(O)->margin, "X", "one use is meaningfully higher than the other from this factor" \
	  " on; 1.5 by default" }, \
	{ 0, "low", OPT_TEXT, &(O)->low, "PERCENT", "use of memory and math both below: latency-bound; 10 by" \
	  " default" }, \
	{ 0, "rules", OPT_READ, &(O)->rules, "FILE", CMD_RULES_HELP }
/* clang-format on */

struct bound_input {
	struct measured t;
	struct rules *rules;
	struct bound b;
};

int bound_input_read(struct bound_input *in, const char *path, const struct bound_options *o, struct err *e);
/* The trace as a whole, and of `b` the roof and the rule alone. */
int bound_input_whole(struct bound_input *in, const char *path, const struct bound_options *o, struct err *e);
void bound_input_free(struct bound_input *in);
/* The rule, the peaks and the ridges: members, and lines for people. */
void bound_rule(struct doc *d, const struct bound *b);

#endif
