/* cache_drrip.c - dynamic re-reference interval prediction (Jaleel et al., ISCA 2010): the static rule, or the bimodal
 * one under which nearly everything comes in as "distant", so that a part of a working set larger than the cache
 * stays.
 *
 * Which of them is better is found by set dueling (Qureshi et al., ISCA 2007): one set in 32 always follows the one
 * rule, one in 32 the other, and all other sets follow the one under which more is found. A cache of one set is a leader
 * of the static rule.
 *
 * The papers count misses, in a counter of 10 bits. There a leader set is one of lines that a hash has dealt out, and all
 * leaders are asked for about as much; here it is one of chunks, 32 lines at once, and one may be asked for half as much again as
 * another. Where nothing is found under either rule, as in a first pass over more than the cache holds, such a
 * counter says which leaders were asked for more, and by what followers then kept one size of L2 took longer than a
 * smaller one (traced step on dsocr: 672 MiB 17.9 % longer than 640). So the leaders' hits are held against what they
 * were asked for, over about as many uses as fill them four times, and followers change their rule for a difference that is more than
 * chance. It is the static one to begin with, as that of a cache whose leaders find the same. The counters are integers
 * and a set's part depends on its number alone, so runs repeat to the bit.
 */
#include "arch/mem/cache_rrip.h"

#define PERIOD 32
#define WINDOW \
	4096 /* uses of leaders, or fewer that fill them FILLS times: there counts are halved. Nothing is said before half of it */
#define FILLS 4
#define CLEAR 16 /* one use in so many: what leaders of one rule find differs by less */

enum part { STATIC, BIMODAL, FOLLOWS };

/* Leaders lie on a diagonal: tiles that start every 32 sets must not meet the same kind of leader each time. */
static enum part cache_drrip_part_of(uint64_t set)
{
	uint64_t n = (set + set / PERIOD) % PERIOD;

	return n == 0 ? STATIC : n == 1 ? BIMODAL : FOLLOWS;
}

/* A set is asked for a chunk. */
static void judge(struct cache_use *u, enum part part, uint32_t ways, bool found)
{
	const uint64_t fill = u->sets * (uint64_t)u->weight * ways * 2 * FILLS / PERIOD,
		       window = fill < WINDOW ? fill : WINDOW;
	uint64_t all, of_static, of_bimodal, clear;

	if (part == FOLLOWS)
		return;
	u->asked[part] += (uint32_t)u->weight;
	u->found[part] += found ? (uint32_t)u->weight : 0;
	all = (uint64_t)u->asked[STATIC] + u->asked[BIMODAL];
	if (all < window / 2)
		return;
	of_static = (uint64_t)u->found[STATIC] * u->asked[BIMODAL];
	of_bimodal = (uint64_t)u->found[BIMODAL] * u->asked[STATIC];
	clear = (uint64_t)u->asked[STATIC] * u->asked[BIMODAL] / CLEAR;
	if (of_bimodal > of_static + clear)
		u->bimodal = true;
	else if (of_static > of_bimodal + clear)
		u->bimodal = false;
	if (all < window)
		return;
	for (int i = STATIC; i <= BIMODAL; i++) {
		u->asked[i] /= 2;
		u->found[i] /= 2;
	}
}

static void hit(uint8_t *state, uint32_t ways, uint32_t way, struct cache_use *u)
{
	cache_rrip_hit(state, ways, way, u);
	if (u->reused)
		judge(u, cache_drrip_part_of(u->set), ways, true);
}

static uint32_t replace(uint8_t *state, uint32_t ways, struct cache_use *u)
{
	uint32_t way = cache_rrip_victim(state, ways);
	enum part part = cache_drrip_part_of(u->set);

	judge(u, part, ways, false);
	if (part == FOLLOWS)
		part = u->bimodal ? BIMODAL : STATIC;
	state[way] = part == BIMODAL ? cache_rrip_rarely_long(u) : RRIP_LONG;
	return way;
}

const struct cache_policy_ops cache_drrip = { "drrip", cache_rrip_state_bytes, cache_rrip_init, hit,
	                                      replace, cache_rrip_drop };
