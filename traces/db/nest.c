/* nest.c - see nest.h. Ops may overlap without nesting, as clocks are read apart: such an op is nobody's parent
 * across its end, and it stays on the stack until those above it are gone. */
#include "traces/db/nest.h"

void nest_start(struct nest *k, int64_t thread)
{
	k->thread = thread;
	k->start_ns = INT64_MIN;
	k->dur_ns = INT64_MAX;
	k->n = 0;
}

bool nest_in_order(const struct nest *k, int64_t start_ns, int64_t dur_ns)
{
	return start_ns > k->start_ns || (start_ns == k->start_ns && dur_ns <= k->dur_ns);
}

int64_t nest_add(struct nest *k, int64_t id, int64_t start_ns, int64_t dur_ns)
{
	const int64_t end = start_ns + dur_ns;
	int64_t parent = 0;

	k->start_ns = start_ns;
	k->dur_ns = dur_ns;
	while (k->n > 0 && k->open[k->n - 1].end <= start_ns)
		k->n--;
	for (uint32_t i = k->n; i-- > 0 && parent == 0;)
		if (k->open[i].end > start_ns && k->open[i].end >= end)
			parent = k->open[i].id;
	if (k->n < NEST_MAX)
		k->open[k->n++] = (struct nest_op){ id, end };
	return parent;
}

int64_t nest_at(struct nest *k, int64_t at_ns)
{
	while (k->n > 0 && k->open[k->n - 1].end <= at_ns)
		k->n--;
	return k->n > 0 ? k->open[k->n - 1].id : 0;
}
