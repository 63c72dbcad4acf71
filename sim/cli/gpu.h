/* gpu.h - what the commands that hold a GPU's model against measurements read: validate and calibrate. */
#ifndef NPUSIM_SIM_CLI_GPU_H
#define NPUSIM_SIM_CLI_GPU_H

#include "arch/machine/machine_conf.h"
#include "sim/accuracy/cases.h"
#include "sim/accuracy/tables.h"
#include "sim/cli/cmd.h"

struct gpu_options {
	const char *config, *kernels, *rules, *cases;
	struct opt_list sets, traces, tables;
	struct tables_opts table;
};

/* Rows of an option table. */
#define GPU_OPTIONS(o) \
	{ 'c', "config", OPT_READ, &(o).config, "CONFIG", "the GPU, in YAML" }, \
		{ 't', \
		  "trace", \
		  OPT_READS, \
		  &(o).traces, \
		  "T.db", \
		  "what was measured on it: trace databases that 'npusim trace" \
		  " import' made; may be repeated" }, \
		{ 's', "set", OPT_SETS, &(o).sets, "KEY=VALUE", "change a parameter of the GPU; may be repeated" }, \
		{ 0, "rules", OPT_READ, &(o).rules, "FILE", "the table that makes ops of kernels" }, \
		{ 0, "kernels", OPT_READ, &(o).kernels, "FILE", "the table of kernel templates" }, \
	{ \
		0, "cases", OPT_READ, &(o).cases, "FILE", "how a benchmark rotates its operands" \
	}

int gpu_options_check(const struct gpu_options *o, struct err *e);
void gpu_options_free(struct gpu_options *o);

struct gpu_inputs {
	struct machine_conf *conf;
	struct rules *rules;
	struct kernels *kernels;
	struct cases_rules *case_rules;
	struct measured *traces;
	struct cases *sets;    /* of the traces, then of the tables */
	struct arena **arenas; /* of the tables */
	struct tables_stats *table_stats;
	size_t n, n_traces, n_tables;
};

/* Reads all, and runs every sample's bytes through the memory and its launches through the closed forms. */
int gpu_inputs_read(struct gpu_inputs *in, const struct gpu_options *o, struct err *e);
void gpu_inputs_free(struct gpu_inputs *in);

#endif
