/* lower_part.c - of a recording in which PyTorch's ops were recorded for a part alone, that part. What is around it (weights
 * made, steps to warm up) has no op, so nothing can be said of it. */
#include <string.h>

#include "sim/lower/lower_int.h"

#define SHARE_PCT 5 /* of the kernel time without an op: less may stay */
#define MOST      1024

static int64_t moment(const struct trace_launch *l)
{
	return l->host_start_ns >= 0 ? l->host_start_ns : l->start_ns;
}

static bool inside(const struct trace_range *r, int64_t at)
{
	/* Unsigned: an annotation of a foreign file may begin further back than a time can say. */
	return at >= r->start_ns && r->dur_ns > 0 && (uint64_t)at - (uint64_t)r->start_ns < (uint64_t)r->dur_ns;
}

/* Annotations `name` and a number: `n` characters before it. */
static bool is_step(const struct trace_range *r, const char *name, size_t n)
{
	return strncmp(r->name, name, n) == 0 && lower_base_len(r->name) == n && r->name[n] != '\0';
}

static uint64_t op_ns_of(const struct trace *t, const char *name, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->n_ranges; i++)
		for (size_t k = 0; k < t->n_launches && is_step(&t->ranges[i], name, n); k++)
			if (t->launches[k].op && t->launches[k].dur_ns > 0 &&
			    inside(&t->ranges[i], moment(&t->launches[k])))
				sum += (uint64_t)t->launches[k].dur_ns;
	return sum;
}

/* The numbered annotations with most time in ops; NULL: none has any. */
static const char *steps_with_ops(const struct trace *t, size_t *base)
{
	const char *name = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < t->n_ranges && t->n_ranges <= MOST; i++) {
		const char *text = t->ranges[i].name;
		const size_t n = lower_base_len(text);
		bool again = false;
		uint64_t ns;

		for (size_t k = 0; k < i && !again; k++)
			again = text[n] && is_step(&t->ranges[k], text, n);
		if (!text[n] || again || (ns = op_ns_of(t, text, n)) <= most)
			continue;
		most = ns;
		name = text;
		*base = n;
	}
	return name;
}

static bool kept(const struct trace *t, const struct trace_launch *l, const char *name, size_t base, int64_t first,
                 int64_t last)
{
	const int64_t at = moment(l);

	if (!name)
		return at >= first && at <= last;
	for (size_t i = 0; i < t->n_ranges; i++)
		if (is_step(&t->ranges[i], name, base) && inside(&t->ranges[i], at))
			return true;
	return false;
}

void lower_part(struct trace *t, struct lower_left *left)
{
	int64_t first = INT64_MAX, last = INT64_MIN, steps = 0;
	uint64_t all = 0, without = 0, out = 0;
	const char *name;
	size_t base = 0, n = 0;

	*left = (struct lower_left){ .steps = NULL };
	for (size_t i = 0; i < t->n_launches; i++) {
		const struct trace_launch *l = &t->launches[i];
		const uint64_t ns = l->kind == TRACE_KERNEL && l->dur_ns > 0 ? (uint64_t)l->dur_ns : 0;

		all += ns;
		without += l->op ? 0 : ns;
		if (l->op && moment(l) < first)
			first = moment(l);
		if (l->op && moment(l) > last)
			last = moment(l);
	}
	if (first > last || without * 100 <= all * SHARE_PCT)
		return;
	name = steps_with_ops(t, &base);
	for (size_t i = 0; i < t->n_launches; i++)
		if (!t->launches[i].op && t->launches[i].kind == TRACE_KERNEL && t->launches[i].dur_ns > 0 &&
		    !kept(t, &t->launches[i], name, base, first, last))
			out += (uint64_t)t->launches[i].dur_ns;
	if (out * 2 <= without)
		return; /* it is not around the ops that the others are */
	left->launches = t->n_launches;
	for (size_t i = 0; i < t->n_launches; i++)
		if (kept(t, &t->launches[i], name, base, first, last))
			t->launches[n++] = t->launches[i];
	t->n_launches = n;
	left->launches -= n;
	for (size_t i = 0; name && i < t->n_ranges; i++)
		steps += is_step(&t->ranges[i], name, base);
	t->steps = name ? steps : t->steps;
	left->steps = name;
	left->base = base;
}
