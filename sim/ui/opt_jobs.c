/* opt_jobs.c - how many workers: as many as there are processors, where nobody says. */
#define _POSIX_C_SOURCE 200809L /* sysconf */
#include <unistd.h>

#include "sim/ui/opt.h"

int opt_jobs(uint64_t *jobs, unsigned most, struct err *e)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (*jobs == 0)
		*jobs = cpus < 1 ? 1 : (unsigned long)cpus < most ? (uint64_t)cpus : most;
	return *jobs > most ? err_set(e, ERR_USAGE, "more than %u workers, for option '--jobs'", most) : 0;
}
