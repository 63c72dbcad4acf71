/* out_json.c - nested JSON documents, written as they come. Bytes that are not UTF-8 become U+FFFD, so that any
 * reader takes the result. */
#include "sim/base/out_json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX ((int)(sizeof((struct out_json *)0)->first))

void out_json_init(struct out_json *j, struct str *to)
{
	*j = (struct out_json){ .to = to, .pretty = true };
	j->first[0] = true;
}

void out_json_init_tree(struct out_json *j, struct json_tree *tree, struct str *to)
{
	*j = (struct out_json){ .to = to, .tree = tree };
}

/* A value of a tree; false: of text, for the caller to write. */
static bool value(const struct out_json *j, const char *key, enum json_kind kind, double number, const char *text)
{
	if (j->tree)
		json_tree_value(j->tree, key, kind, number, text);
	return j->tree != NULL;
}

static void quote(struct str *to, const char *text)
{
	size_t n = strlen(text);

	str_addc(to, '"');
	while (n) {
		uint32_t cp = 0;
		size_t len = str_utf8(text, n, &cp);

		if (!len)
			str_add(to, "\\ufffd");
		else if (cp == '"' || cp == '\\')
			str_addf(to, "\\%c", (char)cp);
		else if (cp == '\n')
			str_add(to, "\\n");
		else if (cp == '\t')
			str_add(to, "\\t");
		else if (cp < 0x20 || cp == 0x7f)
			str_addf(to, "\\u%04x", (unsigned)cp);
		else
			str_addn(to, text, len);
		len = len ? len : 1;
		text += len;
		n -= len;
	}
	str_addc(to, '"');
}

static void new_line(struct out_json *j)
{
	str_addc(j->to, '\n');
	for (int i = 0; i < j->depth; i++)
		str_add(j->to, "  ");
}

/* What stands before a value: comma, line break, key. */
static void lead(struct out_json *j, const char *key)
{
	if (!j->first[j->depth])
		str_add(j->to, j->pretty ? "," : ", ");
	j->first[j->depth] = false;
	if (j->pretty && j->depth > 0)
		new_line(j);
	if (key) {
		quote(j->to, key);
		str_add(j->to, ": ");
	}
}

void out_json_open(struct out_json *j, const char *key, char bracket)
{
	assert(bracket == '{' || bracket == '[');
	assert(j->depth + 1 < DEPTH_MAX);
	if (j->tree) {
		json_tree_open(j->tree, key, bracket == '{' ? JSON_OBJECT : JSON_LIST);
		return;
	}
	lead(j, key);
	str_addc(j->to, bracket);
	j->first[++j->depth] = true;
}

void out_json_close(struct out_json *j, char bracket)
{
	bool empty = j->first[j->depth];

	if (j->tree) {
		json_tree_close(j->tree);
		return;
	}
	assert(j->depth > 0 && (bracket == '}' || bracket == ']'));
	j->depth--;
	if (j->pretty && !empty)
		new_line(j);
	str_addc(j->to, bracket);
	if (j->pretty && j->depth == 0)
		str_addc(j->to, '\n');
}

/* A tree's text, with what text of JSON has for bytes that are not UTF-8. */
static void tree_text(struct out_json *j, const char *key, const char *v)
{
	struct str clean = STR_INIT;
	size_t n = strlen(v), good = 0;
	uint32_t cp;

	for (size_t len; good < n && (len = str_utf8(v + good, n - good, &cp)); good += len)
		;
	if (good == n) {
		json_tree_value(j->tree, key, JSON_TEXT, 0, v);
		return;
	}
	for (size_t i = 0, len; i < n; i += len ? len : 1) {
		if ((len = str_utf8(v + i, n - i, &cp)))
			str_addn(&clean, v + i, len);
		else
			str_add(&clean, "\xef\xbf\xbd");
	}
	json_tree_value(j->tree, key, JSON_TEXT, 0, str_c(&clean));
	j->to->failed |= clean.failed;
	str_free(&clean);
}

void out_json_text(struct out_json *j, const char *key, const char *v)
{
	if (!v) {
		out_json_null(j, key);
	} else if (j->tree) {
		tree_text(j, key, v);
	} else {
		lead(j, key);
		quote(j->to, v);
	}
}

void out_json_int(struct out_json *j, const char *key, int64_t v)
{
	if (value(j, key, JSON_NUMBER, (double)v, NULL))
		return;
	lead(j, key);
	str_addf(j->to, "%" PRId64, v);
}

void out_json_u64(struct out_json *j, const char *key, uint64_t v)
{
	if (value(j, key, JSON_NUMBER, (double)v, NULL))
		return;
	lead(j, key);
	str_addf(j->to, "%" PRIu64, v);
}

void out_json_real(struct out_json *j, const char *key, double v)
{
	char digits[32];

	if (!isfinite(v)) {
		out_json_null(j, key);
		return;
	}
	snprintf(digits, sizeof digits, "%.9g", v == 0 ? 0.0 : v);
	if (j->tree) {
		json_tree_value(j->tree, key, JSON_NUMBER, strtod(digits, NULL), NULL);
		return;
	}
	lead(j, key);
	str_add(j->to, digits);
}

void out_json_bool(struct out_json *j, const char *key, bool v)
{
	if (value(j, key, JSON_BOOL, v, NULL))
		return;
	lead(j, key);
	str_add(j->to, v ? "true" : "false");
}

void out_json_document(struct out_json *j, const char *key, const char *json)
{
	assert(!j->tree);
	lead(j, key);
	str_add(j->to, json);
}

void out_json_null(struct out_json *j, const char *key)
{
	if (value(j, key, JSON_NULL, 0, NULL))
		return;
	lead(j, key);
	str_add(j->to, "null");
}

void out_json_lines(struct out_json *j, const char *key, const char *text)
{
	out_json_open(j, key, '[');
	while (*text) {
		const size_t n = strcspn(text, "\n");
		struct str line = STR_INIT;

		str_addn(&line, text, n);
		out_json_text(j, NULL, str_c(&line));
		str_free(&line);
		text += n + (text[n] == '\n');
	}
	out_json_close(j, ']');
}
