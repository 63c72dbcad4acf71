#include "sim/engine/engine.h"

#include <assert.h>
#include <string.h>

static const struct engine_ops *const engines[] = { &engine_event, &engine_analytic, &engine_gpu, NULL };

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

bool engine_form_covers(const char *key)
{
	static const char *const left_out[] = { "l1.mshrs", "l2.mshrs", "l2.write_block", "l2.policy", NULL };

	for (int i = 0; left_out[i]; i++)
		if (strcmp(left_out[i], key) == 0)
			return false;
	return true;
}
