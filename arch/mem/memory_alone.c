#include "arch/mem/memory_alone.h"

#include <string.h>

int memory_alone_up(struct memory_alone *a, const struct memory_cfg *c, uint64_t clock_khz, struct err *e)
{
	memset(a, 0, sizeof *a);
	a->env.clock_khz = clock_khz;
	if (!(a->env.q = evq_new()) || !(a->env.stats = stat_new())) {
		err_set(e, ERR_NOMEM, "out of memory for a memory system");
		goto fail;
	}
	if (!(a->mem = memory_new(&a->env, c, e)))
		goto fail;
	a->env.below = memory_door(a->mem);
	return 0;
fail:
	memory_alone_down(a);
	return -1;
}

void memory_alone_down(struct memory_alone *a)
{
	memory_free(a->mem);
	stat_free(a->env.stats);
	evq_free(a->env.q);
	memset(a, 0, sizeof *a);
}
