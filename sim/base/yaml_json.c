/* yaml_json.c - yajl's callbacks as libyaml's events, each with its place. */
#include "sim/base/yaml_json.h"

#include <string.h>
#include <yajl/yajl_parse.h>

struct json {
	yajl_handle h;
	const char *text;
	size_t n, at;                 /* behind the token before */
	size_t line, column, counted; /* of the byte up to which lines were counted, from 0 */
	int (*fn)(void *ctx, const yaml_event_t *ev);
	void *ctx;
};

/* Where the token begins that was just read: behind the one before, and what stands between two. Columns are code points. */
static yaml_mark_t yaml_json_place(struct json *j)
{
	while (j->at < j->n && strchr(" \t\r\n,:", j->text[j->at]))
		j->at++;
	for (; j->counted < j->at; j->counted++)
		if (j->text[j->counted] == '\n') {
			j->line++;
			j->column = 0;
		} else if (((unsigned char)j->text[j->counted] & 0xc0) != 0x80) {
			j->column++;
		}
	return (yaml_mark_t){ .index = j->at, .line = j->line, .column = j->column };
}

static int tell(struct json *j, yaml_event_t *ev)
{
	ev->start_mark = yaml_json_place(j);
	j->at = yajl_get_bytes_consumed(j->h);
	return j->fn(j->ctx, ev) == 0;
}

static int scalar(struct json *j, const unsigned char *text, size_t n, bool quoted)
{
	yaml_event_t ev = { .type = YAML_SCALAR_EVENT };

	ev.data.scalar.value = (yaml_char_t *)text; /* nobody writes there */
	ev.data.scalar.length = n;
	ev.data.scalar.style = quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE;
	return tell(j, &ev);
}

static int on_null(void *j)
{
	return scalar(j, (const unsigned char *)"null", 4, false);
}

static int on_boolean(void *j, int v)
{
	return scalar(j, (const unsigned char *)(v ? "true" : "false"), v ? 4 : 5, false);
}

static int on_number(void *j, const char *text, size_t n)
{
	return scalar(j, (const unsigned char *)text, n, false);
}

static int on_text(void *j, const unsigned char *text, size_t n)
{
	return scalar(j, text, n, true);
}

static int bare(struct json *j, yaml_event_type_t type)
{
	yaml_event_t ev = { .type = type };

	return tell(j, &ev);
}

static int on_map(void *j)
{
	return bare(j, YAML_MAPPING_START_EVENT);
}

static int on_map_end(void *j)
{
	return bare(j, YAML_MAPPING_END_EVENT);
}

static int on_list(void *j)
{
	return bare(j, YAML_SEQUENCE_START_EVENT);
}

static int on_list_end(void *j)
{
	return bare(j, YAML_SEQUENCE_END_EVENT);
}

static const yajl_callbacks callbacks = { on_null, on_boolean, NULL,       NULL,    on_number,  on_text,
	                                  on_map,  on_text,    on_map_end, on_list, on_list_end };

static yajl_status parse(yajl_handle h, const char *text, size_t n)
{
	const yajl_status rc = yajl_parse(h, (const unsigned char *)text, n);

	return rc == yajl_status_ok ? yajl_complete_parse(h) : rc;
}

bool yaml_json_is(const char *text, size_t n)
{
	const size_t blank = strspn(text, " \t\r\n");
	yajl_handle h;
	bool is;

	if (blank >= n || (text[blank] != '{' && text[blank] != '[') || !(h = yajl_alloc(NULL, NULL, NULL)))
		return false;
	is = parse(h, text, n) == yajl_status_ok;
	yajl_free(h);
	return is;
}

int yaml_json_events(const char *text, size_t n, int (*fn)(void *ctx, const yaml_event_t *ev), void *ctx, bool *nomem)
{
	struct json j = { .text = text, .n = n, .fn = fn, .ctx = ctx };
	yajl_status rc;

	*nomem = !(j.h = yajl_alloc(&callbacks, NULL, &j));
	if (*nomem)
		return -1;
	rc = parse(j.h, text, n);
	yajl_free(j.h);
	return rc == yajl_status_ok ? 0 : -1;
}
