/* trace_args.c - writes and reads the one form of JSON that the args table holds. */
#include "traces/db/trace_args.h"

#include <string.h>

/* Text is written through a pointer into room that was made before: an op has some fifty small pieces. */
struct pen {
	char *p;
};

static void put_int(struct pen *w, int64_t v)
{
	char buf[20], *p = buf + sizeof buf;
	uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

	if (v < 0)
		*w->p++ = '-';
	do
		*--p = (char)('0' + u % 10);
	while (u /= 10);
	while (p < buf + sizeof buf)
		*w->p++ = *p++;
}

static void put_word(struct pen *w, const char *word)
{
	while (*word)
		*w->p++ = *word++;
}

/* "[1,2]", or null when there are none (n < 0) */
static void put_ints(struct pen *w, const int64_t *v, int32_t n)
{
	if (n < 0) {
		put_word(w, "null");
		return;
	}
	*w->p++ = '[';
	for (int32_t i = 0; i < n; i++) {
		if (i)
			*w->p++ = ',';
		put_int(w, v[i]);
	}
	*w->p++ = ']';
}

static void put_text(struct pen *w, const char *text)
{
	static const char digits[] = "0123456789abcdef";

	*w->p++ = '"';
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x20) {
			put_word(w, "\\u00");
			*w->p++ = digits[c >> 4];
			c = (unsigned char)digits[c & 15];
		} else if (c == '"' || c == '\\') {
			*w->p++ = '\\';
		}
		*w->p++ = (char)c;
	}
	*w->p++ = '"';
}

static bool has_strides(const struct trace_arg *g)
{
	int64_t any = 0;

	for (int32_t k = 0; k < g->ndims; k++)
		any |= g->strides[k];
	return any != 0;
}

void trace_args_encode(const struct trace_arg *args, uint32_t n, struct str *out)
{
	static const char blank[256];
	size_t room = 2;
	struct pen w;

	/* at most 20 digits and a comma a number, 6 bytes for an escaped one */
	for (uint32_t i = 0; i < n; i++)
		room += 64 + 2 * TRACE_MAX_DIMS * 21 + 6 * (strlen(args[i].dtype) + strlen(args[i].scalar));
	str_clear(out);
	while (out->cap <= room && !out->failed)
		str_addn(out, blank, sizeof blank); /* the only way to make a str longer is to write to it */
	if (out->failed)
		return;
	w.p = out->p;
	*w.p++ = '[';
	for (uint32_t i = 0; i < n; i++) {
		const struct trace_arg *g = &args[i];

		put_word(&w, i ? ",[" : "[");
		put_int(&w, g->pos);
		*w.p++ = ',';
		put_int(&w, g->list);
		*w.p++ = ',';
		put_text(&w, g->dtype);
		*w.p++ = ',';
		put_ints(&w, g->dims, g->ndims < 0 ? -1 : g->ndims);
		*w.p++ = ',';
		put_ints(&w, g->strides, has_strides(g) ? g->ndims : -1);
		*w.p++ = ',';
		put_text(&w, g->scalar);
		*w.p++ = ']';
	}
	*w.p++ = ']';
	*w.p = '\0';
	out->len = (size_t)(w.p - out->p);
}

/* --- reading --------------------------------------------------------------------------------------------------- */

struct scan {
	const char *p;
	struct arena *a;
	bool nomem;
};

static bool eat(struct scan *s, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(s->p, word, n) != 0)
		return false;
	s->p += n;
	return true;
}

static bool get_int(struct scan *s, int64_t *v)
{
	bool neg = eat(s, "-");
	uint64_t u = 0, max = (uint64_t)INT64_MAX + neg;

	if (*s->p < '0' || *s->p > '9')
		return false;
	for (; *s->p >= '0' && *s->p <= '9'; s->p++) {
		unsigned d = (unsigned)(*s->p - '0');

		if (u > (max - d) / 10)
			return false;
		u = u * 10 + d;
	}
	*v = neg ? (int64_t)(0 - u) : (int64_t)u;
	return true;
}

static bool get_i32(struct scan *s, int32_t *v)
{
	int64_t wide;

	if (!get_int(s, &wide) || wide < INT32_MIN || wide > INT32_MAX)
		return false;
	*v = (int32_t)wide;
	return true;
}

/* "[1,2]" or null (n = -1). */
static bool get_ints(struct scan *s, int64_t *v, int32_t *n)
{
	*n = -1;
	if (eat(s, "null"))
		return true;
	if (!eat(s, "["))
		return false;
	for (*n = 0; !eat(s, "]"); ++*n) {
		if (*n == TRACE_MAX_DIMS || (*n > 0 && !eat(s, ",")) || !get_int(s, &v[*n]))
			return false;
	}
	return true;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool get_text(struct scan *s, const char **text)
{
	const char *from, *p;
	char *out, *o;

	if (!eat(s, "\""))
		return false;
	for (from = p = s->p; *p != '"'; p++)
		if (*p == '\0' || (*p == '\\' && *++p == '\0'))
			return false;
	s->p = p + 1;
	if (p == from) {
		*text = "";
		return true;
	}
	if (!(o = out = arena_alloc(s->a, (size_t)(p - from) + 1))) {
		s->nomem = true;
		return false;
	}
	while (from < p) {
		if (*from == '\\' && from[1] == 'u') {
			int high = p - from >= 6 && from[2] == '0' && from[3] == '0' ? hex(from[4]) : -1;
			int low = high >= 0 ? hex(from[5]) : -1;

			if (low < 0)
				return false;
			*o++ = (char)(high << 4 | low);
			from += 6;
		} else {
			from += *from == '\\';
			*o++ = *from++;
		}
	}
	*o = '\0';
	*text = out;
	return true;
}

static bool get_arg(struct scan *s, struct trace_arg *g)
{
	int32_t n_strides;

	return eat(s, "[") && get_i32(s, &g->pos) && eat(s, ",") && get_i32(s, &g->list) && eat(s, ",") &&
	       get_text(s, &g->dtype) && eat(s, ",") && get_ints(s, g->dims, &g->ndims) && eat(s, ",") &&
	       get_ints(s, g->strides, &n_strides) && (n_strides == -1 || n_strides == g->ndims) && eat(s, ",") &&
	       get_text(s, &g->scalar) && eat(s, "]");
}

int trace_args_decode(const char *text, struct arena *a, const struct trace_arg **args, uint32_t *n)
{
	struct scan s = { text, a, false };
	struct trace_arg tmp[TRACE_MAX_ARGS], *out;
	uint32_t k = 0;

	*args = NULL;
	*n = 0;
	memset(tmp, 0, sizeof tmp);
	if (!eat(&s, "["))
		return -1;
	for (; !eat(&s, "]"); k++)
		if (k == TRACE_MAX_ARGS || (k > 0 && !eat(&s, ",")) || !get_arg(&s, &tmp[k]))
			return s.nomem ? -2 : -1;
	if (*s.p != '\0')
		return -1;
	if (k == 0)
		return 0;
	if (!(out = arena_array(a, k, sizeof *out)))
		return -2;
	memcpy(out, tmp, k * sizeof *out);
	*args = out;
	*n = k;
	return 0;
}

/* --- UTF-8 ----------------------------------------------------------------------------------------------------- */

bool trace_utf8_ok(const char *text, size_t n)
{
	uint32_t cp;

	for (size_t i = 0, k; i < n; i += k) {
		k = (unsigned char)text[i] < 0x80 ? 1 : str_utf8(text + i, n - i, &cp);
		if (k == 0)
			return false;
	}
	return true;
}

void trace_utf8(const char *text, size_t n, struct str *out)
{
	uint32_t cp;

	for (size_t i = 0, k; i < n; i += k) {
		k = (unsigned char)text[i] < 0x80 ? 1 : str_utf8(text + i, n - i, &cp);
		if (k == 0) {
			str_addn(out, "\xef\xbf\xbd", 3);
			k = 1;
		} else {
			str_addn(out, text + i, k);
		}
	}
}
