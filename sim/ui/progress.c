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

uint64_t progress_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

bool progress_shown(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

struct progress *progress_new(const char *label, const char *unit, uint64_t total)
{
	struct progress *p;

	if (!progress_shown())
		return NULL;
	if (!(p = calloc(1, sizeof *p)))
		return NULL; /* nothing is shown; the work is not the worse for it */
	snprintf(p->label, sizeof p->label, "%s", label);
	snprintf(p->unit, sizeof p->unit, "%s", unit);
	p->total = total;
	p->start_ns = p->shown_ns = progress_now_ns();
	return p;
}

/* "12/s", "3.1 s each": whichever is no fraction. */
static void print_rate(double per_s)
{
	if (per_s >= 1)
		fprintf(stderr, ", %.0f/s", per_s);
	else
		fprintf(stderr, ", %.1f s each", 1 / per_s);
}

static void print_left(double seconds)
{
	const unsigned long long s = seconds < 1e9 ? (unsigned long long)seconds : 1000000000;

	fprintf(stderr, ", %llu:%02llu left", s / 60, s % 60);
}

void progress_set(struct progress *p, uint64_t done)
{
	const uint64_t now = p ? progress_now_ns() : 0;
	double per_s;

	if (!p || (done && now - p->shown_ns < INTERVAL_NS))
		return;
	p->shown_ns = now;
	per_s = now > p->start_ns ? (double)done * 1e9 / (double)(now - p->start_ns) : 0;
	fprintf(stderr, WIPE "%s: %llu", p->label, (unsigned long long)done);
	if (p->total && done <= p->total)
		fprintf(stderr, " of %llu", (unsigned long long)p->total);
	fprintf(stderr, " %s", p->unit);
	if (per_s > 0)
		print_rate(per_s);
	if (per_s > 0 && p->total && done <= p->total)
		print_left((double)(p->total - done) / per_s);
	fflush(stderr);
}

void progress_of(struct progress *p, uint64_t total)
{
	if (p)
		p->total = total;
}

void progress_free(struct progress *p)
{
	if (!p)
		return;
	fputs(WIPE, stderr);
	fflush(stderr);
	free(p);
}
