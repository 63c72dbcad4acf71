/* arrive_lines.c - a list of requests as JSON, an object a line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/json.h"
#include "sim/serve/arrive_int.h"

#define LINE_MAX_BYTES (4u << 20)

struct lines {
	struct input *in;
	char *buf;
	size_t n, at; /* of what was read */
	struct str line;
	uint32_t number;
	struct arrive_list list;
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

static int lines_pages(struct lines *x, const struct json *o, struct err *e)
{
	const struct json *v = of(o, "hash_ids");
	int rc = v && v->kind != JSON_LIST ? err_set(e, ERR_IO, "hash_ids are whole numbers in a list") : 0;

	for (size_t i = 0; v && rc == 0 && i < v->n; i++) {
		const struct json *id = v->v[i];

		if (id->kind != JSON_NUMBER || !(id->number >= 0 && id->number <= 1e15) ||
		    id->number > floor(id->number))
			rc = err_set(e, ERR_IO, "hash_ids are whole numbers");
		else
			rc = arrive_list_page(&x->list, (uint64_t)id->number, e);
	}
	if (rc == 0)
		rc = arrive_list_paged(&x->list, e);
	return rc < 0 ? line_fail(x, e) : 0;
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
	if (!(a = arrive_list_add(&x->list, e)))
		return line_fail(x, e);
	a->at = (ps_t)(at * (double)PS_MS + 0.5);
	a->prompt = (uint32_t)prompt;
	a->output = (uint32_t)output;
	a->line = x->number;
	return lines_pages(x, o, e);
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

int arrive_read_lines(struct input *in, struct arrivals *out, struct err *e)
{
	struct lines x = { .in = in, .buf = malloc(INPUT_CHUNK), .line = STR_INIT, .list = { .out = out } };
	int rc = x.buf ? each_line(&x, e) : err_nomem(e, "for a list of requests");

	if (rc == 0 && x.list.n_ids)
		rc = arrive_pages(out, x.list.ids, x.list.n_ids, e);
	if (rc == 0)
		arrive_list_sort(&x.list);
	free(x.list.ids);
	free(x.buf);
	str_free(&x.line);
	if (rc < 0)
		arrive_free(out);
	return rc;
}
