#include "arch/npu/unit_issue.h"

struct issue_time issue_time(const struct unit_env *u, uint64_t groups, const struct issue_work *w)
{
	const uint64_t chain = (uint64_t)w->steps * u->unit_latency, own = w->exec + (uint64_t)w->turns * u->control,
		       hidden = div_up(chain, u->depth), busy = groups * (own > hidden ? own : hidden);

	return (struct issue_time){ busy, chain > busy ? chain - busy : 0 };
}
