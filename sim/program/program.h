/* program.h - a tile program as text: written by `npusim run --program`, read by `npusim run --program-in`.
 *
 * A line is a word that says what it is, what it is about, and fields `key=value` and flags, in any order after that. A
 * field that is left out has its default. `#` begins a comment. Numbers are whole; bytes may end in KiB, MiB, GiB, times
 * (picoseconds) in ns, us, ms. Texts with other characters than letters, digits and ._:+- stand between double quotes.
 *
 *   program 1                                 the format's version; the first line
 *   route experts=64 top=6                    a router, numbered from 0: picks `top` of `experts` each step
 *   tensor NAME role=weight bytes=3276800 external        what is moved; without `addr` behind the one before
 *   op KIND NAME dtype=bf16 m=1 n=1280 k=1280             what is computed, for reports and rooflines, numbered from 0
 *       reads NAME, writes NAME                           its operands, all of the tensor or a part
 *   command ops=0-2 tiles=8 slot=61440 held=2560 after=0,1    what is dispatched (arch/isa.h), numbered from 0
 *       pre | tile | post load | store NAME bytes=...         its instructions: moves,
 *       pre | tile | post CODE UNIT span=... work=...         and math on a unit
 *           edge 13 by=...                                    where the first and third loop of a nest end
 *
 * workloads/programs/README.md has every field. A name or number has to be given before it is used. A program without ops has one for each command, made of what that
 * moves and computes. All that is known of a field stands in one row of program_fields.c, which both ways walk.
 * What is read is held against what the machine has and against itself: references, sizes, ranges, units, SRAM, order; and
 * against what cannot be: units faster than their peak, ops of which less is done or moved than they ask for.
 * The same program on the same machine takes the same time, to the picosecond.
 * Leaves out: launches and what was measured, so nothing is compared; spans are the mapper's for the machine that it mapped
 * for, and stay what they are on another, which refuses them where it is slower. */
#ifndef NPUSIM_SIM_PROGRAM_PROGRAM_H
#define NPUSIM_SIM_PROGRAM_PROGRAM_H

#include "arch/machine/machine_cfg.h"
#include "sim/base/str.h"
#include "sim/map/map.h"

#define PROGRAM_VERSION 1

struct input;

void program_write(const struct op_stream *s, const struct map_result *m, struct str *out);

struct program {
	struct op_stream stream; /* its source is the file's name, its digest of the text */
	struct map_result map;
};

/* All of it lives in `a`. ERR_IO with file, line and column of what is wrong in the text; ERR_CONFIG: the machine cannot
 * run it. */
int program_read(struct input *in, const struct machine_cfg *c, struct arena *a, struct program *out, struct err *e);

#endif
