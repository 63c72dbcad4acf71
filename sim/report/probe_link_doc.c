#include "sim/report/probe_link_doc.h"

static double percent(const struct probe_link_row *r)
{
	return 100 * (doc_us(r->time.total) / r->us - 1);
}

/* A message, or a measured one. */
static void link_row(struct doc *d, const void *of, size_t i)
{
	const struct probe_link_doc *p = of;
	const struct probe_link_row *r = &p->x.row[i];

	if (p->beside) {
		doc_text(d, "collective", link_collective_name(r->ask.what));
		doc_count(d, "chips", r->ask.chips);
	}
	doc_bytes(d, "bytes", r->ask.bytes);
	if (p->beside) {
		doc_real(d, "measured_us", 2, r->us);
		doc_ps(d, "simulated_us", 2, r->time.total);
		doc_real(d, "error_pct", 1, percent(r));
	} else {
		doc_ps(d, "us", 2, r->time.total);
		doc_real(d, "gbps", 1, probe_link_gbps(r));
		doc_real(d, "bus_gbps", 1, probe_link_bus_gbps(r));
	}
	doc_text(d, "algorithm", link_algorithm_name(r->time.by));
	doc_text(d, "as", link_protocol_name(r->time.as));
	if (p->beside)
		return;
	doc_count(d, "steps", r->time.n_steps);
	doc_count(d, "sent_bytes", r->time.sent);
	doc_ps(d, "call_us", 2, r->time.start);
	doc_ps(d, "steps_us", 2, r->time.steps);
	doc_ps(d, "links_us", 2, r->time.wire);
	doc_ps(d, "own_us", 2, r->time.own);
}

/* Each collective on each number of chips that there are rows of, in order; false: there is none behind. */
static bool next_group(const struct probe_link_doc *p, int *what, uint32_t *chips)
{
	for (; *what < LINK_COLLECTIVE_COUNT; ++*what, *chips = 0) {
		uint32_t next = UINT32_MAX;

		for (size_t i = 0; i < p->x.n; i++)
			if ((int)p->x.row[i].ask.what == *what && p->x.row[i].ask.chips > *chips &&
			    p->x.row[i].ask.chips < next)
				next = p->x.row[i].ask.chips;
		if (next != UINT32_MAX) {
			*chips = next;
			return true;
		}
	}
	return false;
}

struct errors {
	uint32_t chips;
	struct probe_link_error x;
};

static void error_row(struct doc *d, const void *of, size_t what)
{
	const struct errors *r = of;
	const bool json = d->format == OUT_JSON;

	doc_text(d, "collective", link_collective_name((enum link_collective)what));
	doc_count(d, "chips", r->chips);
	doc_count(d, json ? "n" : "rows", r->x.n);
	doc_real(d, json ? "mape" : "mean_pct", 1, 100 * r->x.mean);
	doc_real(d, json ? "max_ape" : "most_pct", 1, 100 * r->x.most);
}

static void errors(struct doc *d, const struct probe_link_doc *p)
{
	struct errors r = { .chips = 0 };

	doc_say(d, "\n");
	doc_table_open(d, "errors", NULL);
	for (int what = 0; next_group(p, &what, &r.chips);) {
		r.x = probe_link_judge(&p->x, (enum link_collective)what, r.chips);
		doc_row(d, error_row, &r, (size_t)what);
	}
	doc_table_close(d, error_row, &r);
	if (p->x.left_out)
		doc_say(d, "%zu rows of '%s' are no collectives\n", p->x.left_out, p->beside);
}

static void point_row(struct doc *d, const void *of, size_t i)
{
	const struct probe_link_row *r = (const struct probe_link_row *)of + i;

	doc_text(d, "collective", link_collective_name(r->ask.what));
	doc_count(d, "chips", r->ask.chips);
	doc_count(d, "bytes", r->ask.bytes);
	doc_real(d, "mean_ns", 0, (double)r->time.total / 1e3);
	doc_real(d, "gbps", 0, probe_link_gbps(r));
	doc_real(d, "bus_gbps", 0, probe_link_bus_gbps(r));
	doc_text(d, "algorithm", link_algorithm_name(r->time.by));
	doc_text(d, "protocol", link_protocol_name(r->time.as));
	doc_count(d, "steps", r->time.n_steps);
	doc_count(d, "sent_bytes", r->time.sent);
	if (r->us > 0) {
		doc_real(d, "measured_ns", 0, r->us * 1e3);
		doc_real(d, "error_pct", 0, percent(r));
	}
}

/* In JSON the last point's fields stand on top, too: the largest message. */
void probe_link_doc(struct doc *d, const struct probe_link_doc *p)
{
	if (d->format == OUT_JSON) {
		doc_open(d, NULL, '{');
		doc_text(d, "probe", "link");
		doc_text(d, "machine", p->machine);
		doc_text(d, "beside", p->beside);
		point_row(d, p->x.row, p->x.n - 1);
		if (p->beside)
			errors(d, p);
		doc_table(d, "points", NULL, p->x.n, point_row, p->x.row);
		doc_close(d, '}');
		return;
	}
	if (!p->beside)
		doc_say(d, "%s: %s on %u chips\n\n", p->machine, link_collective_name(p->what), p->chips);
	doc_table(d, NULL, NULL, p->x.n, link_row, p);
	if (p->beside)
		errors(d, p);
}
