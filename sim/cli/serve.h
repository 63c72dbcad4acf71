/* serve.h - what the files of npusim serve share. */
#ifndef NPUSIM_SIM_CLI_SERVE_H
#define NPUSIM_SIM_CLI_SERVE_H

#include "sim/cli/cmd.h"
#include "sim/serve/serve_options.h"

/* What is said on its line. */
struct serve_line {
	struct serve_opts *o;
	struct opt_list sets;
	const char *write, *output, *format;
};

/* Of requests and a machine that are loaded. */
int serve_answer(struct serve_run *r, const struct serve_line *l, struct doc *d, struct err *e);

#endif
