#include "sim/base/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "sim/base/str.h"

/* --- making ------------------------------------------------------------------------------------------------ */

/* A list or an object that is not closed yet: its values hang together by `next`. */
struct item {
	struct json value;
	struct item *next;
};

struct level {
	struct json *of;
	struct item *first, *last;
};

enum fault { FAULT_NONE, FAULT_MEMORY, FAULT_DEPTH };

struct json_tree {
	struct arena *a;
	struct json top;                    /* a list of the root */
	struct level level[JSON_DEPTH + 1]; /* level[0] holds the root */
	int depth;
	enum fault fault; /* the first; nothing is added after it */
};

struct json_tree *json_tree_new(struct arena *a)
{
	struct json_tree *t = arena_alloc(a, sizeof *t);

	if (!t)
		return NULL;
	t->a = a;
	t->top.kind = JSON_LIST;
	t->level[0].of = &t->top;
	return t;
}

/* `key` and `text` live as long as the tree. NULL: there is a fault. */
static struct json *json_add(struct json_tree *t, const char *key, enum json_kind kind, double number, const char *text)
{
	struct level *l = &t->level[t->depth];
	struct item *x = t->fault ? NULL : arena_alloc(t->a, sizeof *x);

	if (!x) {
		t->fault = t->fault ? t->fault : FAULT_MEMORY;
		return NULL;
	}
	x->value = (struct json){ .kind = kind, .key = key, .text = text, .number = number };
	if (l->last)
		l->last->next = x;
	else
		l->first = x;
	l->last = x;
	l->of->n++;
	return &x->value;
}

static void open_(struct json_tree *t, const char *key, enum json_kind kind)
{
	struct json *x = json_add(t, key, kind, 0, NULL);

	if (x && t->depth == JSON_DEPTH)
		t->fault = FAULT_DEPTH;
	else if (x)
		t->level[++t->depth] = (struct level){ .of = x };
}

void json_tree_close(struct json_tree *t)
{
	struct level *l = &t->level[t->depth];
	size_t i = 0;

	if (t->fault || t->depth == 0)
		return;
	t->depth--;
	if (!(l->of->v = arena_array(t->a, l->of->n + 1, sizeof *l->of->v))) {
		t->fault = FAULT_MEMORY;
		return;
	}
	for (struct item *x = l->first; x; x = x->next)
		l->of->v[i++] = &x->value;
}

/* NULL of NULL; else a copy, or a fault. */
static const char *kept(struct json_tree *t, const char *text)
{
	const char *copy = text && !t->fault ? arena_strdup(t->a, text) : NULL;

	if (text && !copy && !t->fault)
		t->fault = FAULT_MEMORY;
	return copy;
}

void json_tree_open(struct json_tree *t, const char *key, enum json_kind kind)
{
	open_(t, kept(t, key), kind);
}

void json_tree_value(struct json_tree *t, const char *key, enum json_kind kind, double number, const char *text)
{
	const char *name = kept(t, key);

	json_add(t, name, kind, number, kept(t, text));
}

const struct json *json_tree_root(const struct json_tree *t, struct err *e)
{
	if (!t->fault && t->depth == 0 && t->top.n == 1)
		return &t->level[0].first->value;
	if (t->fault == FAULT_MEMORY)
		err_nomem(e, "for a document");
	else
		err_set(e, ERR_IO, "this is no JSON document: %s",
		        t->fault == FAULT_DEPTH ? "it is too deep" : "a fault");
	return NULL;
}

/* --- reading ----------------------------------------------------------------------------------------------- */

struct reader {
	struct json_tree *t;
	const char *key;
};

static const char *key_of(struct reader *r)
{
	const char *key = r->key;

	r->key = NULL;
	return key;
}

static int json_put(struct reader *r, enum json_kind kind, double number, const char *text)
{
	return json_add(r->t, key_of(r), kind, number, text) != NULL;
}

static const char *word(struct reader *r, const void *text, size_t n)
{
	const char *s = arena_strndup(r->t->a, text, n);

	if (!s)
		r->t->fault = FAULT_MEMORY;
	return s;
}

static int on_null(void *r)
{
	return json_put(r, JSON_NULL, 0, NULL);
}

static int on_boolean(void *r, int v)
{
	return json_put(r, JSON_BOOL, v ? 1 : 0, NULL);
}

static int on_number(void *r, const char *text, size_t n)
{
	const char *digits = word(r, text, n);

	return digits && json_put(r, JSON_NUMBER, strtod(digits, NULL), NULL);
}

static int on_text(void *r, const unsigned char *text, size_t n)
{
	const char *s = word(r, text, n);

	return s && json_put(r, JSON_TEXT, 0, s);
}

static int on_key(void *arg, const unsigned char *text, size_t n)
{
	struct reader *r = arg;

	return (r->key = word(r, text, n)) != NULL;
}

static int on_open(struct reader *r, enum json_kind kind)
{
	open_(r->t, key_of(r), kind);
	return r->t->fault == FAULT_NONE;
}

static int on_close(void *arg)
{
	struct reader *r = arg;

	json_tree_close(r->t);
	return r->t->fault == FAULT_NONE;
}

static int on_object(void *r)
{
	return on_open(r, JSON_OBJECT);
}

static int on_list(void *r)
{
	return on_open(r, JSON_LIST);
}

const struct json *json_parse(const char *text, size_t n, struct arena *a, struct err *e)
{
	static const yajl_callbacks all = { on_null,   on_boolean, NULL,     NULL,    on_number, on_text,
		                            on_object, on_key,     on_close, on_list, on_close };
	struct reader r = { json_tree_new(a), NULL };
	yajl_handle h;
	bool ok;

	if (!r.t || !(h = yajl_alloc(&all, NULL, &r))) {
		err_nomem(e, "for a document");
		return NULL;
	}
	ok = yajl_parse(h, (const unsigned char *)text, n) == yajl_status_ok &&
	     yajl_complete_parse(h) == yajl_status_ok;
	yajl_free(h);
	if (ok || r.t->fault)
		return json_tree_root(r.t, e);
	err_set(e, ERR_IO, "this is no JSON document: a fault");
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
