/* ops_table.h - what commands say of a stream that is a table of ops (workloads/listed.h), beside what they say of any. */
#ifndef NPUSIM_SIM_CMD_OPS_TABLE_H
#define NPUSIM_SIM_CMD_OPS_TABLE_H

#include "arch/machine/machine_cfg.h"
#include "sim/cmd/cmd.h"
#include "workloads/op.h"

/* Is all of it rows of tables, but for kernels that nothing models (read/shaped.h has such)? Is this op a row without a measured time? How many of those are there? */
bool ops_listed_all(const struct op_stream *s);
bool ops_listed_unmeasured(const struct op *o);
size_t ops_listed_without_time(const struct op_stream *s);
/* Does no rule know any of its kernels? Where there are none: no. */
bool ops_none_known(const struct op_stream *s);
/* How many names the kernels have that no rule knows; *longest: the one that took most time, "": there is none. */
size_t ops_unknown_names(const struct op_stream *s, const char **longest);
/* ERR_BOUND if so, whatever time they took: copies may be most of it, and spans may be 0. */
int ops_some_known(const struct op_stream *s, struct err *e);
/* A profile or a trace database: does it hold tables of ops alone? -1: it cannot be read. */
int ops_listed_file(const char *path, struct err *e);
/* One line on stderr where an algorithm that a row names is not modelled: on a GPU, whose kernels are a library's. */
void ops_listed_note(const struct op_stream *s, enum machine_runs runs);

/* `trace ops` of a table: each row's formats, work and bytes, how many operations a byte, and what was measured. */
void ops_listed_write(const struct op_stream *s, const struct trace *t, enum out_format f, struct str *out);
/* The same as members of a row's JSON object; `l` is the row's launch. */
void ops_listed_json(struct out_json *j, const struct op_stream *s, const struct op *o, const struct trace_launch *l);

#endif
