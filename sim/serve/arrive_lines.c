/* arrive_lines.c - a list of requests as JSON, an object a line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/json.h"
#include "sim/serve/arrive.h"

#define LINE_MAX_BYTES (4u << 20)

struct lines {
	struct input *in;
	char *buf;
	size_t n, at; /* of what was read */
	struct str line;
	uint32_t number;
	struct arrivals *out;
	size_t cap;
	uint64_t *ids;
	size_t n_ids, ids_cap;
};

static int line_fail(const struct lines *x, struct err *e)
{
	return err_at(e, input_name(x->in), (int)x->number, 1);
}

/* 1: a line without its end; 0: there is none; -1. */
static int next_line(struct lines *x, struct err *e)
{
	bool any = false;

	str_clear(&x->line);
	for (;; any = true) {
		const char *end;
		size_t n;

		if (x->at == x->n) {
			const long got = input_read(x->in, x->buf, INPUT_CHUNK, e);

			if (got <= 0) {
				x->number += any;
				return got < 0 ? -1 : any;
			}
			x->n = (size_t)got;
			x->at = 0;
		}
		end = memchr(x->buf + x->at, '\n', x->n - x->at);
		n = end ? (size_t)(end - x->buf) - x->at : x->n - x->at;
		str_addn(&x->line, x->buf + x->at, n);
		x->at += n + (end != NULL);
		if (x->line.len > LINE_MAX_BYTES) {
			x->number++;
			err_set(e, ERR_IO, "a line of more than %u MiB", LINE_MAX_BYTES >> 20);
			return line_fail(x, e);
		}
		if (x->line.failed)
			return err_nomem(e, "for a list of requests");
		if (end) {
			x->number++;
			return 1;
		}
	}
}

static const struct json *of(const struct json *o, const char *key)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->v[i]->key && strcmp(o->v[i]->key, key) == 0)
			return o->v[i];
	return NULL;
}

/* A number from `least` to `most`, whole unless `fine`. */
static int value(const struct lines *x, const struct json *o, const char *key, double least, double most, bool fine,
                 double *out, struct err *e)
{
	const struct json *v = of(o, key);

	if (!v || v->kind != JSON_NUMBER || !(v->number >= least && v->number <= most) ||
	    (!fine && v->number > floor(v->number))) {
		err_set(e, ERR_IO, "'%s' %s: it is a%s number from %.15g to %.15g", key, v ? "is none" : "is missing",
		        fine ? "" : " whole", least, most);
		return line_fail(x, e);
	}
	*out = v->number;
	return 0;
}

static int lines_pages(struct lines *x, const struct json *o, struct arrival *a, struct err *e)
{
	const struct json *v = of(o, "hash_ids");

	a->page = (uint32_t)x->n_ids;
	a->pages = 0;
	if (!v)
		return 0;
	if (v->kind != JSON_LIST || (uint64_t)v->n * ARRIVE_PAGE >= (uint64_t)a->prompt + ARRIVE_PAGE) {
		err_set(e, ERR_IO, "%zu hash_ids of %d tokens each for a prompt of %u", v->n, ARRIVE_PAGE, a->prompt);
		return line_fail(x, e);
	}
	if (x->n_ids + v->n > x->ids_cap) {
		const size_t want = 2 * (x->n_ids + v->n) + 1024;
		uint64_t *more = realloc(x->ids, want * sizeof *more);

		if (!more)
			return err_nomem(e, "for a list of requests");
		x->ids = more;
		x->ids_cap = want;
	}
	for (size_t i = 0; i < v->n; i++) {
		const struct json *id = v->v[i];

		if (id->kind != JSON_NUMBER || !(id->number >= 0 && id->number <= 1e15)) {
			err_set(e, ERR_IO, "hash_ids are whole numbers");
			return line_fail(x, e);
		}
		x->ids[x->n_ids++] = (uint64_t)id->number;
	}
	a->pages = (uint32_t)v->n;
	return x->n_ids <= UINT32_MAX / 2 ? 0 : err_set(e, ERR_IO, "more hash_ids than a list may have");
}

static int lines_request(struct lines *x, const struct json *o, struct err *e)
{
	const double most_ms = (double)(ARRIVE_LATEST / PS_MS);
	double at, prompt, output;
	struct arrival *a;

	if (o->kind != JSON_OBJECT) {
		err_set(e, ERR_IO, "%s, where a request is an object", json_kind_name(o->kind));
		return line_fail(x, e);
	}
	if (value(x, o, "timestamp", 0, most_ms, true, &at, e) < 0 ||
	    value(x, o, "input_length", 1, ARRIVE_TOKENS, false, &prompt, e) < 0 ||
	    value(x, o, "output_length", 1, ARRIVE_TOKENS, false, &output, e) < 0)
		return -1;
	if (x->out->n == x->cap) {
		const size_t want = x->cap ? 2 * x->cap : 256;
		struct arrival *more = x->cap < ARRIVE_MOST ? realloc(x->out->v, want * sizeof *more) : NULL;

		if (!more)
			return x->cap < ARRIVE_MOST ? err_nomem(e, "for a list of requests")
			                            : err_set(e, ERR_IO, "more than %d requests", ARRIVE_MOST);
		x->out->v = more;
		x->cap = want;
	}
	a = &x->out->v[x->out->n++];
	*a = (struct arrival){ .at = (ps_t)(at * (double)PS_MS + 0.5),
		               .prompt = (uint32_t)prompt,
		               .output = (uint32_t)output,
		               .line = x->number };
	return lines_pages(x, o, a, e);
}

static int each_line(struct lines *x, struct err *e)
{
	struct arena *a = arena_new(0);
	int more = a ? 0 : err_nomem(e, "for a list of requests");

	while (more >= 0 && (more = next_line(x, e)) > 0) {
		const struct json *o;

		if (strspn(str_c(&x->line), " \t\r") == x->line.len)
			continue;
		arena_reset(a);
		if (!(o = json_parse(str_c(&x->line), x->line.len, a, e)))
			more = line_fail(x, e);
		else if (lines_request(x, o, e) < 0)
			more = -1;
	}
	arena_free(a);
	return more;
}

static int lines_by_time(const void *p, const void *q)
{
	const struct arrival *a = p, *b = q;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

int arrive_read_lines(struct input *in, struct arrivals *out, struct err *e)
{
	struct lines x = { .in = in, .buf = malloc(INPUT_CHUNK), .line = STR_INIT, .out = out };
	int rc = x.buf ? each_line(&x, e) : err_nomem(e, "for a list of requests");

	if (rc == 0 && x.n_ids)
		rc = arrive_pages(out, x.ids, x.n_ids, e);
	if (rc == 0)
		qsort(out->v, out->n, sizeof *out->v, lines_by_time);
	free(x.ids);
	free(x.buf);
	str_free(&x.line);
	if (rc < 0)
		arrive_free(out);
	return rc;
}
