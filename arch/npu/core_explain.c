/* core_explain.c - what a move's time is put down to; the rule is in core.h. */
#include "arch/npu/core.h"

__extension__ typedef unsigned __int128 u128;

static enum res fullest(const struct core_use *u)
{
	int best = 0;

	for (int r = 1; r < CORE_MOVERS; r++)
		best = u->need[r] > u->need[best] ? r : best;
	return (enum res)best;
}

void core_explain_move(struct core_account *a, const struct core_move *m, const struct core_use *u)
{
	const enum res most = fullest(u);
	ps_t wait;

	if (m->done <= a->mark)
		return;
	core_explain_time(a, m->asked, RES_SRAM);
	wait = m->done - a->mark;
	if (u->need[most] < u->span / 2)
		wait = (ps_t)((u128)wait * u->need[most] / u->span);
	if (u->need[most])
		core_explain_time(a, a->mark + wait, most);
	core_explain_time(a, m->done, RES_LATENCY);
}
