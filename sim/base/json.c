#include "sim/base/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "sim/base/str.h"

/* --- reading ----------------------------------------------------------------------------------------------- */

/* A list or an object that is not closed yet: its last value is `first` of a ring through `next`. */
struct item {
	struct json value;
	struct item *next;
};

struct level {
	struct json *of;
	struct item *first, *last;
};

struct reader {
	struct arena *a;
	struct level level[JSON_DEPTH + 1];
	int depth; /* level[0] holds the root */
	const char *key;
	const char *why;
};

static int no_memory(struct reader *r)
{
	r->why = "no memory for it";
	return 0;
}

static struct json *json_put(struct reader *r, enum json_kind kind)
{
	struct level *l = &r->level[r->depth];
	struct item *x = arena_alloc(r->a, sizeof *x);

	if (!x) {
		no_memory(r);
		return NULL;
	}
	x->value.kind = kind;
	x->value.key = r->key;
	r->key = NULL;
	if (l->last)
		l->last->next = x;
	else
		l->first = x;
	l->last = x;
	l->of->n++;
	return &x->value;
}

static int on_null(void *r)
{
	return json_put(r, JSON_NULL) != NULL;
}

static int on_boolean(void *r, int v)
{
	struct json *x = json_put(r, JSON_BOOL);

	if (x)
		x->number = v ? 1 : 0;
	return x != NULL;
}

static int on_number(void *arg, const char *text, size_t n)
{
	struct reader *r = arg;
	struct json *x = json_put(r, JSON_NUMBER);

	if (!x)
		return 0;
	if (!(x->text = arena_strndup(r->a, text, n)))
		return no_memory(r);
	x->number = strtod(x->text, NULL);
	return 1;
}

static int on_text(void *arg, const unsigned char *text, size_t n)
{
	struct reader *r = arg;
	struct json *x = json_put(r, JSON_TEXT);

	if (!x)
		return 0;
	return (x->text = arena_strndup(r->a, (const char *)text, n)) ? 1 : no_memory(r);
}

static int on_key(void *arg, const unsigned char *text, size_t n)
{
	struct reader *r = arg;

	return (r->key = arena_strndup(r->a, (const char *)text, n)) ? 1 : no_memory(r);
}

static int open_(struct reader *r, enum json_kind kind)
{
	struct json *x = json_put(r, kind);

	if (!x)
		return 0;
	if (r->depth == JSON_DEPTH) {
		r->why = "it is too deep";
		return 0;
	}
	r->level[++r->depth] = (struct level){ .of = x };
	return 1;
}

static int close_(void *arg)
{
	struct reader *r = arg;
	struct level *l = &r->level[r->depth--];
	size_t i = 0;

	if (!(l->of->v = arena_array(r->a, l->of->n + 1, sizeof *l->of->v)))
		return no_memory(r);
	for (struct item *x = l->first; x; x = x->next)
		l->of->v[i++] = &x->value;
	return 1;
}

static int on_object(void *r)
{
	return open_(r, JSON_OBJECT);
}

static int on_list(void *r)
{
	return open_(r, JSON_LIST);
}

const struct json *json_parse(const char *text, size_t n, struct arena *a, struct err *e)
{
	static const yajl_callbacks all = { on_null,   on_boolean, NULL,   NULL,    on_number, on_text,
		                            on_object, on_key,     close_, on_list, close_ };
	struct json top = { .kind = JSON_LIST };
	struct reader r = { .a = a };
	yajl_handle h;
	bool ok;

	r.level[0].of = &top;
	if (!(h = yajl_alloc(&all, NULL, &r))) {
		err_nomem(e, "for a document");
		return NULL;
	}
	ok = yajl_parse(h, (const unsigned char *)text, n) == yajl_status_ok &&
	     yajl_complete_parse(h) == yajl_status_ok && top.n == 1;
	yajl_free(h);
	if (ok)
		return &r.level[0].first->value;
	err_set(e, r.why && r.why[0] == 'n' ? ERR_NOMEM : ERR_IO, "this is no JSON document: %s",
	        r.why ? r.why : "a fault");
	return NULL;
}

const char *json_kind_name(enum json_kind k)
{
	static const char *const names[] = { "null", "a boolean", "a number", "a text", "a list", "an object" };

	return names[k];
}

/* --- by path ----------------------------------------------------------------------------------------------- */

/* What is left of the path behind a key, or NULL: it does not begin with it. */
static const char *json_behind(const char *path, const char *key)
{
	const size_t n = strlen(key);

	if (!n || strncmp(path, key, n) != 0)
		return NULL;
	return path[n] == '\0' || path[n] == '[' ? path + n : path[n] == '.' && path[n + 1] ? path + n + 1 : NULL;
}

static const struct json *json_own_find(const struct json *x, const char *path, const struct json **last,
                                        const char **left);

static const struct json *in_list(const struct json *x, const char *path, const struct json **last, const char **left)
{
	size_t i = 0;
	const char *p = path + 1;

	if (*path != '[' || *p < '0' || *p > '9')
		return NULL;
	for (; *p >= '0' && *p <= '9' && i <= x->n; p++)
		i = 10 * i + (size_t)(*p - '0');
	if (*p != ']' || i >= x->n || (p[1] && p[1] != '.' && p[1] != '[') || (p[1] == '.' && !p[2]))
		return NULL;
	return json_own_find(x->v[i], p[1] == '.' ? p + 2 : p + 1, last, left);
}

/* `last`, `left`: how far it led at most, and what was left there. */
static const struct json *json_own_find(const struct json *x, const char *path, const struct json **last,
                                        const char **left)
{
	const struct json *found = NULL;
	size_t longest = SIZE_MAX;

	if (!*path)
		return x;
	if (!*left || strlen(path) < strlen(*left)) {
		*last = x;
		*left = path;
	}
	if (x->kind == JSON_LIST)
		return in_list(x, path, last, left);
	while (!found && x->kind == JSON_OBJECT) {
		const struct json *best = NULL;
		size_t most = 0;

		for (size_t i = 0; i < x->n; i++) {
			const size_t n = strlen(x->v[i]->key);

			if (n < longest && n > most && json_behind(path, x->v[i]->key)) {
				best = x->v[i];
				most = n;
			}
		}
		if (!best)
			break;
		longest = most;
		found = json_own_find(best, json_behind(path, best->key), last, left);
	}
	return found;
}

static int missing(const struct json *at, const char *path, const char *left, struct err *e)
{
	const int done = (int)(left - path);
	const char *near = NULL, **keys = at->kind == JSON_OBJECT ? calloc(at->n + 1, sizeof *keys) : NULL;
	char word[64];

	for (size_t i = 0; keys && i < at->n; i++)
		keys[i] = at->v[i]->key;
	strncpy(word, left, sizeof word - 1);
	word[sizeof word - 1] = '\0';
	word[strcspn(word, ".[")] = '\0';
	near = keys ? str_nearest(word, keys, at->n) : NULL;
	if (at->kind == JSON_LIST)
		err_set(e, ERR_USAGE, "there is no '%.100s': '%.*s' is a list of %zu", path, done, path, at->n);
	else
		err_set(e, ERR_USAGE, "there is no '%.100s'%s%.*s%s%s%s", path, near ? "; did you mean '" : "",
		        near ? done : 0, path, near ? near : "", near ? "'" : "", near ? "?" : "");
	free(keys);
	return -1;
}

const struct json *json_find(const struct json *root, const char *path, struct err *e)
{
	const struct json *last = root, *x;
	const char *left = NULL;

	if ((x = json_own_find(root, path, &last, &left)))
		return x;
	missing(last, path, left, e);
	return NULL;
}
