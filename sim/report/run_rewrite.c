/* run_rewrite.c - npusim run --rewrite: the stream as another program would have computed it, and what is said of that. */
#include "sim/report/run.h"

#include <inttypes.h>

static bool found_nothing(const struct rewrite_done *d)
{
	return !d->changed && !d->removed && !d->kept;
}

static void one(const struct rewrite_done *d, bool whole, struct str *to)
{
	str_addf(to, "%s: ", d->how->name);
	if (found_nothing(d)) {
		str_addf(to, "nothing to rewrite: %s\n", d->how->none);
		return;
	}
	if (whole)
		str_addf(to, "%s\n", d->how->what);
	str_addf(to, "%zu ops changed, %zu gone", d->changed, d->removed);
	if (d->kept && whole)
		str_addf(to, ", %zu copy where they cast", d->kept);
	if (whole)
		str_addf(to, "; reads %" PRIu64 " B of %" PRIu64 " less, writes %" PRIu64 " B of %" PRIu64 " less",
		         d->read_before - d->read_after, d->read_before, d->write_before - d->write_after,
		         d->write_before);
	str_addc(to, '\n');
}

void run_rewrite_text(const struct run_report *r, struct str *to)
{
	for (size_t i = 0; r->rewritten && i < r->rewritten->list.n; i++)
		one(&r->rewritten->done[i], r->whole, to);
}

static void rewrite_row(struct doc *d, const void *of, size_t i)
{
	const struct rewrite_done *x = (const struct rewrite_done *)of + i;

	doc_text(d, "name", x->how->name);
	doc_text(d, "what", x->how->what);
	doc_count(d, "ops_changed", x->changed);
	doc_count(d, "ops_removed", x->removed);
	doc_count(d, "casts_kept", x->kept);
	doc_count(d, "read_bytes_before", x->read_before);
	doc_count(d, "read_bytes", x->read_after);
	doc_count(d, "write_bytes_before", x->write_before);
	doc_count(d, "write_bytes", x->write_after);
}

void run_rewrite_doc(struct doc *d, const struct run_report *r)
{
	if (r->rewritten && r->rewritten->list.n)
		doc_table(d, "rewrites", NULL, r->rewritten->list.n, rewrite_row, r->rewritten->done);
}
