/* run_memo.h - what runs after each other need not do twice: the files of tables, the mapping of the last machine, and what
 * the mapper found out for all of them (map_memo.h).
 *
 * Nothing in a result depends on it: a table is read as it is, and a program is taken again only for the same stream and
 * a machine whose parameters the mapper cannot tell apart (map_same). What the mapper found out stands by keys that hold all
 * that it hangs on, whatever the stream, so run_memo_forget() leaves it. One memo is for one process and for runs one after another; what it hands out lives until the next call of the
 * same function, or with it. */
#ifndef NPUSIM_SIM_ENGINE_RUN_MEMO_H
#define NPUSIM_SIM_ENGINE_RUN_MEMO_H

#include "arch/gpu/kernels.h"
#include "sim/base/source.h"
#include "sim/map/fuse.h"
#include "sim/map/map.h"

struct run_memo;

struct run_memo *run_memo_new(struct err *e);
struct run_memo *run_memo_new_from(const struct source *from, struct err *e); /* which must outlive it */
void run_memo_free(struct run_memo *m);
const struct kernels *run_memo_kernels(struct run_memo *m, struct err *e);
/* Those that the machine names; NULL in *out where it does not fuse. */
int run_memo_patterns(struct run_memo *m, const struct fusion_cfg *c, const struct fuse_patterns **out, struct err *e);
/* The stream as this machine's program, with the patterns it names; `start`: as map_opts has it. */
int run_memo_map(struct run_memo *m, const struct op_stream *s, const struct machine_cfg *c, enum map_start start,
                 struct map_result *out, struct err *e);
/* The program that run_memo_map gave last, for whoever needs it longer; NULL: there is none. */
struct run_program *run_memo_hold(struct run_memo *m);
void run_program_free(struct run_program *p);
/* Mappings that are found under a number are taken again whatever the machine; 0: as they are for each (map_memo.h). */
void run_memo_hold_mappings(struct run_memo *m, uint64_t number);
/* Before another stream may lie where the last one lay. */
void run_memo_forget(struct run_memo *m);
/* How the command of an op is chosen: tell->op; `resident` as above. */
int run_memo_tell(struct run_memo *m, const struct op_stream *s, const struct machine_cfg *c, enum map_start start,
                  struct map_log *tell, struct arena *a, struct err *e);

#endif
