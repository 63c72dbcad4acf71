/* ops_table.h - what commands say of a stream that is a table of ops (workloads/listed.h), beside what they say of any. */
#ifndef NPUSIM_SIM_CLI_OPS_TABLE_H
#define NPUSIM_SIM_CLI_OPS_TABLE_H

#include "arch/machine/machine_cfg.h"
#include "sim/cli/cmd.h"
#include "workloads/known.h"

/* A profile or a trace database: does it hold tables of ops alone? -1: it cannot be read. */
int ops_listed_file(const char *path, struct err *e);
/* One line on stderr where an algorithm that a row names is not modelled: on a GPU, whose kernels are a library's. */
void ops_listed_note(const struct op_stream *s, enum machine_runs runs);

/* `trace ops` of a table: each row's formats, work and bytes, how many operations a byte, and what was measured. */
void ops_listed_table(struct doc *d, const struct op_stream *s, const struct trace *t);
/* The same as members of a row's JSON object; `l` is the row's launch. */
void ops_listed_members(struct doc *d, const struct op_stream *s, const struct op *o, const struct trace_launch *l);

#endif
