/* analytic_sample.h - the real tags of some of an L2's sets: what stays in it, in closed form, under any policy.
 *
 * Models: of the sets a half, a quarter, ... evenly spaced (all, where they are few), with the ways, the policy, the parts for KV and
 * for pinned weights, the hash, the victim cache and the history of arch/mem/cache, by the same code. Of a range that is
 * asked for only the chunks that lie in those sets are looked up and come in; the part of them that is found is the part
 * of the range (set sampling: Laha, Patel and Iyer, IEEE Transactions on Computers 37(11), 1988). A set here stands for
 * several, so what leaders of a duel miss counts as often, and the victim cache is as much smaller.
 * A range that lies in none of those sets, a few chunks of it, is where the chunk of its neighbourhood is that does, or
 * comes in there for it: small neighbours share an entry.
 * Copies in other partitions take a share of the capacity: as many sets are missing.
 * Leaves out: sectors of a chunk (one byte of it here is all of it here), but where all sets are here; write blocks.
 * Units: bytes. Invariant: I1 what is dirty is what was written and has not left. */
#ifndef NPUSIM_SIM_ENGINE_ANALYTIC_SAMPLE_H
#define NPUSIM_SIM_ENGINE_ANALYTIC_SAMPLE_H

#include "arch/mem/l2.h"
#include "sim/engine/analytic_residency.h"

struct sample;

bool sample_needed(const struct l2_cfg *c); /* reuse distance (analytic_residency.h) does not tell what stays */
struct sample *sample_new(const struct l2_cfg *c, struct err *e);
void sample_free(struct sample *s);
void sample_clear(struct sample *s);
/* cls: enum mem_class */
struct residency_found sample_touch(struct sample *s, uint8_t cls, uint64_t addr, uint64_t bytes,
                                    enum residency_use use);
uint64_t sample_here(const struct sample *s, uint64_t addr, uint64_t bytes); /* bytes; changes nothing */
uint64_t sample_dirty(const struct sample *s);
uint64_t sample_bytes(const struct sample *s);

#endif
