/* probe_link.h - what probes and pictures of links are asked, and what comes of it. */
#ifndef NPUSIM_SIM_CLI_PROBE_LINK_H
#define NPUSIM_SIM_CLI_PROBE_LINK_H

#include "sim/accuracy/probe_link.h"
#include "sim/cli/cmd.h"

struct probe_link_options {
	const char *config, *collective, *bytes, *beside;
	struct opt_list sets;
	uint64_t chips;
	bool engine;
};

/* clang-format off */
#define PROBE_LINK_OPTS(o) \
	{ 'c', "config", OPT_READ, &(o)->config, "CONFIG", \
	  "the system: a machine with 'links', as those in configs/system" }, \
	{ 0, "collective", OPT_TEXT, &(o)->collective, "NAME", \
	  "all-reduce (default), all-gather, reduce-scatter, all-to-all, broadcast or send; of a table a probe takes all it has" }, \
	{ 0, "chips", OPT_COUNT, &(o)->chips, "N", "chips that take part; by default all of the system" }, \
	{ 0, "engine", OPT_FLAG, &(o)->engine, NULL, \
	  "as an inference engine calls it: with its own all-reduce where the system says one (links.direct)" }, \
	{ 0, "beside", OPT_READ, &(o)->beside, "TABLE", \
	  "hold it against measured times: CSV with the columns op, gpus, bytes and us" }, \
	{ 's', "set", OPT_SETS, &(o)->sets, "KEY=VALUE", "change a parameter of the system; may be repeated" }
/* clang-format on */

/* The name of the system, and its rows; all live in `a`. `all`: of a table those of each collective where none is named. */
int probe_link_ask(const struct probe_link_options *o, bool all, struct arena *a, const char **name,
                   struct probe_link *x, struct err *e);

#endif
