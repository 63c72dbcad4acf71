/* trace_args.h - the arguments of a framework op as one line of text and back.
 *
 * The text is JSON, one array an argument, so that SQLite's json_each reads it too (view op_arg):
 *   [[pos,list,"dtype",[dims],[strides],"scalar"],...]   dims null: no tensor; strides null: none recorded */
#ifndef NPUSIM_TRACES_DB_TRACE_ARGS_H
#define NPUSIM_TRACES_DB_TRACE_ARGS_H

#include "sim/base/arena.h"
#include "sim/base/str.h"
#include "traces/trace.h"

/* Replaces `out`'s text; a failed allocation is noted in it, as str does. */
void trace_args_encode(const struct trace_arg *args, uint32_t n, struct str *out);
/* 0 done; -1 not such a text, or it holds more than TRACE_MAX_ARGS or _DIMS; -2 the arena refused. */
int trace_args_decode(const char *text, struct arena *a, const struct trace_arg **args, uint32_t *n);
/* Appends `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD. */
void trace_utf8(const char *text, size_t n, struct str *out);
bool trace_utf8_ok(const char *text, size_t n);

#endif
