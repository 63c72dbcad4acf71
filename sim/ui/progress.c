/* progress.c - one line, rewritten in place. Where stderr is no terminal there is no object at all. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, isatty */
#include "sim/ui/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL_NS UINT64_C(100000000)
#define WIPE        "\r\033[K"

struct progress {
	char label[40], unit[16];
	uint64_t total, start_ns, shown_ns;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

struct progress *progress_new(const char *label, const char *unit, uint64_t total)
{
	const char *term = getenv("TERM");
	struct progress *p;

	if (!isatty(STDERR_FILENO) || !term || strcmp(term, "dumb") == 0)
		return NULL;
	if (!(p = calloc(1, sizeof *p)))
		return NULL; /* nothing is shown; the work is not the worse for it */
	snprintf(p->label, sizeof p->label, "%s", label);
	snprintf(p->unit, sizeof p->unit, "%s", unit);
	p->total = total;
	p->start_ns = p->shown_ns = now_ns();
	return p;
}

void progress_set(struct progress *p, uint64_t done)
{
	uint64_t now, left_s;
	double per_s;

	if (!p || (now = now_ns()) - p->shown_ns < INTERVAL_NS)
		return;
	p->shown_ns = now;
	per_s = (double)done * 1e9 / (double)(now - p->start_ns);
	if (!p->total || done > p->total) {
		fprintf(stderr, WIPE "%s: %llu %s, %.0f/s", p->label, (unsigned long long)done, p->unit, per_s);
	} else {
		left_s = per_s > 0 ? (uint64_t)((double)(p->total - done) / per_s) : 0;
		fprintf(stderr, WIPE "%s: %llu of %llu %s, %.0f/s, %llu:%02llu left", p->label,
		        (unsigned long long)done, (unsigned long long)p->total, p->unit, per_s,
		        (unsigned long long)(left_s / 60), (unsigned long long)(left_s % 60));
	}
	fflush(stderr);
}

void progress_free(struct progress *p)
{
	if (!p)
		return;
	fputs(WIPE, stderr);
	fflush(stderr);
	free(p);
}
