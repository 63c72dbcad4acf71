/* run_rewrite.c - npusim run --rewrite: the stream as another program would have computed it, and what is said of that. */
#include "sim/report/run.h"

#include <inttypes.h>

static bool found_nothing(const struct rewrite_done *d)
{
	return !d->changed && !d->removed && !d->kept;
}

static void run_rewrite_one(const struct rewrite_done *d, struct str *out)
{
	str_addf(out, "%s: ", d->how->name);
	if (found_nothing(d)) {
		str_addf(out, "nothing to rewrite: %s\n", d->how->none);
		return;
	}
	str_addf(out, "%s\n           %zu ops changed, %zu gone", d->how->what, d->changed, d->removed);
	if (d->kept)
		str_addf(out, ", %zu copy where they cast", d->kept);
	str_addf(out, "; reads %" PRIu64 " B of %" PRIu64 " less, writes %" PRIu64 " B of %" PRIu64 " less\n",
	         d->read_before - d->read_after, d->read_before, d->write_before - d->write_after, d->write_before);
}

void run_rewrite_table(const struct run_report *r, struct str *out)
{
	for (size_t i = 0; r->rewritten && i < r->rewritten->list.n; i++) {
		str_add(out, i ? "           " : "rewritten  ");
		run_rewrite_one(&r->rewritten->done[i], out);
	}
}

void run_rewrite_json(struct out_json *j, const struct run_report *r)
{
	if (!r->rewritten || !r->rewritten->list.n)
		return;
	out_json_open(j, "rewrites", '[');
	for (size_t i = 0; i < r->rewritten->list.n; i++) {
		const struct rewrite_done *d = &r->rewritten->done[i];

		out_json_open(j, NULL, '{');
		out_json_text(j, "name", d->how->name);
		out_json_text(j, "what", d->how->what);
		out_json_u64(j, "ops_changed", d->changed);
		out_json_u64(j, "ops_removed", d->removed);
		out_json_u64(j, "casts_kept", d->kept);
		out_json_u64(j, "read_bytes_before", d->read_before);
		out_json_u64(j, "read_bytes", d->read_after);
		out_json_u64(j, "write_bytes_before", d->write_before);
		out_json_u64(j, "write_bytes", d->write_after);
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
}
