#include "sim/report/probe_link_doc.h"

static void json_row(struct doc *d, const void *of, size_t i)
{
	const struct probe_link_row *r = (const struct probe_link_row *)of + i;

	doc_text(d, "collective", link_collective_name(r->ask.what));
	doc_count(d, "chips", r->ask.chips);
	doc_count(d, "bytes", r->ask.bytes);
	doc_real(d, "mean_ns", 1, (double)r->time.total / 1e3);
	doc_real(d, "gbps", 1, probe_link_gbps(r));
	doc_real(d, "bus_gbps", 1, probe_link_bus_gbps(r));
	doc_text(d, "algorithm", link_algorithm_name(r->time.by));
	doc_text(d, "protocol", link_protocol_name(r->time.as));
	doc_count(d, "steps", r->time.n_steps);
	doc_count(d, "sent_bytes", r->time.sent);
	if (r->us > 0) {
		doc_real(d, "measured_ns", 1, r->us * 1e3);
		doc_real(d, "error_pct", 1, probe_link_error_pct(r));
	}
}

static void size_row(struct doc *d, const void *of, size_t i)
{
	const struct probe_link_row *r = (const struct probe_link_row *)of + i;

	doc_bytes(d, "bytes", r->ask.bytes);
	doc_ps(d, "us", 2, r->time.total);
	doc_real(d, "gbps", 1, probe_link_gbps(r));
	doc_real(d, "bus_gbps", 1, probe_link_bus_gbps(r));
	doc_text(d, "algorithm", link_algorithm_name(r->time.by));
	doc_text(d, "as", link_protocol_name(r->time.as));
	doc_count(d, "steps", r->time.n_steps);
	doc_count(d, "sent_bytes", r->time.sent);
	doc_ps(d, "call_us", 2, r->time.start);
	doc_ps(d, "steps_us", 2, r->time.steps);
	doc_ps(d, "links_us", 2, r->time.wire);
	doc_ps(d, "own_us", 2, r->time.own);
}

static void beside_row(struct doc *d, const void *of, size_t i)
{
	const struct probe_link_row *r = (const struct probe_link_row *)of + i;

	doc_text(d, "collective", link_collective_name(r->ask.what));
	doc_count(d, "chips", r->ask.chips);
	doc_bytes(d, "bytes", r->ask.bytes);
	doc_real(d, "measured_us", 2, r->us);
	doc_ps(d, "simulated_us", 2, r->time.total);
	doc_real(d, "error_pct", 1, probe_link_error_pct(r));
	doc_text(d, "algorithm", link_algorithm_name(r->time.by));
	doc_text(d, "as", link_protocol_name(r->time.as));
}

static void error_row(struct doc *d, const void *of, size_t i)
{
	const struct probe_link_error *x = of;
	const bool json = d->format == OUT_JSON;

	(void)i;
	doc_text(d, "collective", link_collective_name(x->what));
	doc_count(d, "chips", x->chips);
	doc_count(d, json ? "n" : "rows", x->n);
	doc_real(d, json ? "mape" : "mean_pct", 1, 100 * x->mean);
	doc_real(d, json ? "max_ape" : "most_pct", 1, 100 * x->most);
}

static void errors(struct doc *d, const struct probe_link *x)
{
	struct probe_link_error g = { .n = 0 };

	doc_table_open(d, "errors", NULL);
	while (probe_link_error_next(x, &g))
		doc_row(d, error_row, &g, 0);
	doc_table_close(d, error_row, &g);
}

/* The last point's members stand on top, too: the largest message. */
static void json(struct doc *d, const struct probe_link_doc *v)
{
	doc_open(d, NULL, '{');
	doc_text(d, "probe", "link");
	doc_text(d, "machine", v->machine);
	doc_text(d, "beside", v->beside);
	json_row(d, v->x->row, v->x->n - 1);
	if (v->beside)
		errors(d, v->x);
	doc_table(d, "points", NULL, v->x->n, json_row, v->x->row);
	doc_close(d, '}');
}

void probe_link_doc(struct doc *d, const struct probe_link_doc *v)
{
	const struct link_ask *first = &v->x->row[0].ask;

	if (d->format == OUT_JSON) {
		json(d, v);
		return;
	}
	if (!v->beside)
		doc_say(d, "%s: %s on %u chips\n\n", v->machine, link_collective_name(first->what), first->chips);
	doc_table(d, NULL, NULL, v->x->n, v->beside ? beside_row : size_row, v->x->row);
	if (v->beside) {
		doc_say(d, "\n");
		errors(d, v->x);
		if (v->x->left_out)
			doc_say(d, "%zu rows of '%s' are no collectives\n", v->x->left_out, v->beside);
	}
}
