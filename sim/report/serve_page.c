#include "sim/report/serve_page.h"

#include <stdio.h>
#include <string.h>

#include "sim/report/page_int.h"
#include "sim/report/serve_doc.h"

#define DRAWN 1500 /* requests: a chart of more is neither quick nor readable */

struct served {
	const struct serve_run *r;
	const struct capacity_doc *found;
	const struct serve_range *sure;
	const char *answer;
	bool curve;
};

static void put_wait(struct out_json *j, const char *before, enum latency_of l, ps_t t)
{
	char key[24];

	snprintf(key, sizeof key, "%s%s", before, latency_name(l));
	if (t != PS_NEVER)
		out_json_real(j, key, (double)t / 1e9);
}

static void put_request(struct out_json *j, const struct serve_run *r, size_t i)
{
	const struct arrival *a = &r->arrivals.v[i];

	out_json_open(j, NULL, '{');
	out_json_real(j, "at", (double)r->result.v[i].at / 1e12);
	out_json_u64(j, "prompt", a->prompt);
	out_json_u64(j, "output", a->output);
	for (int l = 0; l < LATENCY_QUEUE; l++) {
		put_wait(j, "", (enum latency_of)l, latency_one((enum latency_of)l, a, &r->result.v[i]));
		if (r->arrivals.measured)
			put_wait(j, "was_", (enum latency_of)l, latency_measured((enum latency_of)l, a));
	}
	out_json_close(j, '}');
}

/* Of many each so-manieth, so that all of the time is there. */
static void put_requests(struct out_json *j, const struct serve_run *r)
{
	const size_t step = (r->arrivals.n + DRAWN - 1) / DRAWN;
	size_t drawn = 0;

	out_json_open(j, "requests", '[');
	for (size_t i = 0; i < r->arrivals.n; i += step, drawn++)
		put_request(j, r, i);
	out_json_close(j, ']');
	out_json_u64(j, "left_out", r->arrivals.n - drawn);
}

/* The lines that are no blanks. */
static void put_lines(struct out_json *j, const char *key, const char *text)
{
	char line[512];

	out_json_open(j, key, '[');
	for (size_t n; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		snprintf(line, sizeof line, "%.*s", (int)n, text);
		if (n)
			out_json_text(j, NULL, line);
	}
	out_json_close(j, ']');
}

/* As the command says it: the largest rate first where one was looked for, with what would raise it. */
static int put_verdict(struct out_json *j, const struct served *x, struct err *e)
{
	struct str said = STR_INIT, next = STR_INIT;
	bool failed;

	if (x->found)
		capacity_doc_verdict(x->found, &said);
	if (x->found && x->found->knobs)
		capacity_doc_next(x->found, &next);
	serve_doc_verdict(x->r, x->sure, &said);
	put_lines(j, "verdict", str_c(&said));
	put_lines(j, "next", str_c(&next));
	failed = said.failed || next.failed;
	str_free(&said);
	str_free(&next);
	return failed ? err_nomem(e, "for a page") : 0;
}

static int put_serve(struct out_json *j, void *arg, struct err *e)
{
	const struct served *x = arg;
	int rc = 0;

	page_none_stored(j);
	out_json_open(j, "serves", '[');
	out_json_open(j, NULL, '{');
	out_json_text(j, "machine", x->r->conf->cfg.name);
	out_json_text(j, "model", x->r->own.w.model->name);
	out_json_document(j, "answer", x->answer);
	if (!x->curve) {
		rc = put_verdict(j, x, e);
		put_requests(j, x->r);
	}
	out_json_close(j, '}');
	out_json_close(j, ']');
	return rc;
}

int serve_page(const struct page_template *t, const struct serve_run *r, const struct capacity_doc *found,
               const struct serve_range *sure, const char *answer, bool curve, struct str *html, struct err *e)
{
	struct served x = { r, found, sure, answer, curve };
	struct str title = STR_INIT;
	int rc;

	str_addf(&title, "npusim serve: %s on %s", r->own.w.model->name, r->conf->cfg.name);
	rc = page_compose(t, str_c(&title), put_serve, &x, html, e);
	str_free(&title);
	return rc;
}
