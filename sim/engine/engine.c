#include "sim/engine/engine.h"

#include <assert.h>
#include <string.h>

static const struct engine_ops *const engines[] = { &engine_event, &engine_analytic, &engine_gpu, &engine_gpu_form,
	                                            NULL };

const struct engine_ops *const *engine_table(void)
{
	return engines;
}

const struct engine_ops *engine_of(const struct machine_cfg *c, enum run_fidelity f)
{
	size_t i = 0;

	while (engines[i] && !engines[i]->can(c, f))
		i++;
	assert(engines[i]);
	return engines[i];
}

bool engine_form_covers(const char *set)
{
	/* Queues that refuse and in which order they are served, which policy keeps what, what leaves with what: analytic.h. */
	static const char *const left_out[] = {
		"l1.mshrs",       "l2.mshrs",         "l2.policy",        "l2.write_block",
		"dram.queue",     "dram.read_queue",  "dram.write_queue", "dram.drain_high",
		"dram.drain_low", "dram.write_batch", "dram.scheduler",   "dram.page",
	};
	const size_t n = strcspn(set, "=");

	for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
		if (strlen(left_out[i]) == n && strncmp(left_out[i], set, n) == 0)
			return false;
	return true;
}
