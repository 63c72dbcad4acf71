/* analytic_leaves_out.c - parameters that the closed form takes no notice of. */
#include "sim/engine/analytic.h"

#include <string.h>

/* Queues that refuse and in which order they are served, which policy keeps what, what leaves with what: analytic.h. */
static const char *const left_out[] = {
	"l1.mshrs",       "l2.mshrs",         "l2.policy",        "l2.write_block",
	"dram.queue",     "dram.read_queue",  "dram.write_queue", "dram.drain_high",
	"dram.drain_low", "dram.write_batch", "dram.scheduler",   "dram.page",
};

bool analytic_leaves_out(const char *set)
{
	const size_t n = strcspn(set, "=");

	for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
		if (strlen(left_out[i]) == n && strncmp(left_out[i], set, n) == 0)
			return true;
	return false;
}
