/* replay.h - a published table of kernels made a trace again: one step, in the order and with the data flow of a step
 * of the same model that was traced elsewhere, with the table's times.
 *
 * The YAML file (traces/rtx5090/dsocr.yaml is one, and explains itself) names both, and what each row of the table is:
 *   replay: 1
 *   device: {name: TEXT, compute: 12.0, sms: N}
 *   table: {file: CSV, steps: N}        as 'nsys stats' writes it; N steps are summed in it
 *   order: {file: PROFILE, range: NAME} the traced step
 *   wall: "11.05 ms"                    of a step, without a profiler; may be missing
 *   context: {tokens: N, order: M}      tokens attended over; dims of M and M + 1 in the traced step become N and N + 1
 *   rows:    [{row: 1, is: RE, from: [MATCH...], launches: N, by: elements, why: TEXT}]
 *   added:   [{before|after: MATCH, every: N, kernels: [{row: 3, op: aten::copy_, args: [...]}], why: TEXT}]
 *   dropped: [{MATCH, why: TEXT}]
 * MATCH is {kernel: RE, op: RE, dims: RE} on a traced launch, its framework op, and that op's tensors ("1x1280
 * 1280x1792"); all that are given must hold, the first MATCH in the file counts. In `from` it may have `as: {op, args}`,
 * the op it is in the replay, and `other: yes` where the table's is another kernel. `every: N` takes the first of each N that match. An argument is "float[1,64]",
 * "bf16[8,4]@[1,8]" with its strides, or a scalar's text; a list of them is a tensor list.
 *
 * Every kernel of the traced step is one of a row's or dropped, every row of the table has an entry, and a row has as
 * many launches as the table counts a step: else it is an error that says which. `launches` is for rows whose count is
 * no multiple of the steps.
 * Times: a row's total over the steps is shared among its launches in proportion to their times in the traced step
 * (added ones: its shortest) or, with `by`, to the elements of their ops, which suits products that memory bounds; none
 * is outside the row's minimum and maximum. The step adds up to the table's total to the nanosecond. Copies and sets,
 * which such tables leave out, stay where the traced step has them, with no time. Launch geometry is the traced step's for
 * the same kernels (PyTorch's grids follow from shapes) and not known for others. Host time is only an order. */
#ifndef NPUSIM_TRACES_READ_REPLAY_H
#define NPUSIM_TRACES_READ_REPLAY_H

#include "traces/db/tracedb.h"

#define REPLAY_CONTEXT_MAX 10000000

/* A text whose first line that is neither empty nor a comment is "replay: ...". */
bool replay_is_text(const char *p, size_t n);
/* Imports the profile of `order` into an empty database, whatever its format: 0 done, REPLAY_NO_PROFILE where it is another
 * replay, -1 error. */
#define REPLAY_NO_PROFILE 2
typedef int replay_order_fn(struct tracedb *db, const char *path, struct err *e);
/* `context` 0: what the file assumes. 0 imported, 1 in the database already, -1 error (nothing of it remains). */
int replay_import(struct tracedb *db, const char *path, int64_t context, replay_order_fn *order,
                  struct trace_import_stats *st, struct err *e);

#endif
