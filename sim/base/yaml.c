/* yaml.c - builds the tree from libyaml's events, or of what is JSON from yajl's, without recursion.
 *
 * Nodes whose parent is still open wait on one stack; a collection's end moves its children from the stack into the
 * arena. `count` is the number of nodes with every alias expanded: an alias adds the size of what it names, which
 * is known by then because a node cannot be named from inside itself. */
#include "sim/base/yaml.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "sim/base/arena.h"
#include "sim/base/hash.h"
#include "sim/base/inputs.h"
#include "sim/base/str.h"
#include "sim/base/yaml_json.h"

#define ARENA_LIMIT ((size_t)128 << 20)
#define BOM         "\xef\xbb\xbf"
#define MAX_ANCHORS 1000 /* an alias looks through all of them */
#define QUADRATIC   16   /* maps up to this size are searched for duplicate keys pair by pair */

struct yaml {
	struct arena *arena;
	const char *name, *text;
	size_t len;
	const struct ynode *root;
};

struct anchor {
	const char *name;
	struct ynode *node;
	size_t size;
	int height;
	bool open;
};

struct frame {
	struct ynode *node;
	size_t first, count_before;
	ptrdiff_t anchor;
	int height;
};

struct builder {
	struct yaml *y;
	struct err *e;
	yaml_parser_t parser;
	struct ynode **stack; /* finished nodes whose parent is open */
	size_t n_stack, cap_stack;
	struct anchor *anchors;
	size_t n_anchors, cap_anchors;
	struct frame frames[YAML_MAX_DEPTH];
	int depth;
	size_t count;
	struct ynode *root;
};

/* --- errors with a place ----------------------------------------------------------------------------------- */

static int fail_nomem(struct err *e, const char *name)
{
	return err_set(e, ERR_NOMEM, "no memory to read '%s'", name);
}

/* Adds file, line, column and the text of that line to an error just set. */
static int set_place(const struct yaml *y, struct err *e, int line, int col)
{
	const char *p = y->text, *end = y->text + y->len, *eol;
	size_t n;

	if (!e || e->file[0])
		return -1;
	err_at(e, y->name, line, col);
	for (int at = 1; at < line && p < end; at++) {
		eol = memchr(p, '\n', (size_t)(end - p));
		p = eol ? eol + 1 : end;
	}
	eol = memchr(p, '\n', (size_t)(end - p));
	n = (size_t)((eol ? eol : end) - p);
	if (n && p[n - 1] == '\r')
		n--;
	if (n >= sizeof e->src)
		n = sizeof e->src - 1;
	memcpy(e->src, p, n);
	e->src[n] = '\0';
	return -1;
}

int yaml_err(const struct yaml *y, const struct ynode *at, struct err *e, const char *fmt, ...)
{
	char msg[sizeof e->msg];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	err_set(e, ERR_CONFIG, "%s", msg);
	return at ? set_place(y, e, at->line, at->col) : err_at(e, y->name, 0, 0);
}

ERR_FMT(3, 4) static int fail_mark(struct builder *b, const yaml_mark_t *m, const char *fmt, ...)
{
	char msg[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	err_set(b->e, ERR_CONFIG, "%s", msg);
	return set_place(b->y, b->e, (int)m->line + 1, (int)m->column + 1);
}

/* Line and column, in code points, of a byte. */
static int fail_offset(const struct yaml *y, struct err *e, size_t offset, const char *msg)
{
	int line = 1, col = 1;

	for (size_t i = 0; i < offset && i < y->len; i++) {
		if (y->text[i] == '\n') {
			line++;
			col = 1;
		} else if (((unsigned char)y->text[i] & 0xc0) != 0x80) {
			col++;
		}
	}
	err_set(e, ERR_CONFIG, "%s", msg);
	return set_place(y, e, line, col);
}

/* How many bytes are valid UTF-8; libyaml points somewhere into the broken sequence. */
static size_t valid_utf8(const struct yaml *y)
{
	size_t at = 0, len;
	uint32_t cp;

	while (at < y->len && (len = str_utf8(y->text + at, y->len - at, &cp)) > 0)
		at += len;
	return at;
}

static int fail_parser(struct builder *b)
{
	const yaml_parser_t *p = &b->parser;
	const yaml_mark_t *m = &p->problem_mark;
	const char *what = p->problem ? p->problem : "unknown fault";

	switch (p->error) {
	case YAML_MEMORY_ERROR:
		return fail_nomem(b->e, b->y->name);
	case YAML_READER_ERROR:
		if (strstr(what, "control"))
			return fail_offset(b->y, b->e, p->problem_offset, "a control character is not allowed here");
		return fail_offset(b->y, b->e, valid_utf8(b->y), "this is not valid UTF-8");
	default:
		break;
	}
	if (m->index < b->y->len && b->y->text[m->index] == '\t' && strstr(what, "cannot start"))
		return fail_mark(b, m, "a tab cannot indent: use spaces");
	if (p->context)
		return fail_mark(b, m, "not valid YAML: %s %s (from line %zu)", what, p->context,
		                 p->context_mark.line + 1);
	return fail_mark(b, m, "not valid YAML: %s", what);
}

/* --- building ---------------------------------------------------------------------------------------------- */

static int yaml_grow(void **v, size_t *cap, size_t elem)
{
	size_t n = *cap ? 2 * *cap : 64;
	void *p = realloc(*v, n * elem);

	if (!p)
		return -1;
	*v = p;
	*cap = n;
	return 0;
}

static int push(struct builder *b, struct ynode *n, int height)
{
	if (b->depth == 0) {
		b->root = n;
		return 0;
	}
	if (b->frames[b->depth - 1].height < height + 1)
		b->frames[b->depth - 1].height = height + 1;
	if (b->n_stack == b->cap_stack && yaml_grow((void **)&b->stack, &b->cap_stack, sizeof(struct ynode *)) < 0)
		return fail_nomem(b->e, b->y->name);
	b->stack[b->n_stack++] = n;
	return 0;
}

static int add_count(struct builder *b, const yaml_mark_t *m, size_t n)
{
	if (n <= YAML_MAX_NODES - b->count) {
		b->count += n;
		return 0;
	}
	return fail_mark(b, m, "more than %d values once aliases are followed", YAML_MAX_NODES);
}

/* The index of the new anchor; -1 none asked for; -2 error. */
static ptrdiff_t new_anchor(struct builder *b, const yaml_char_t *name, struct ynode *node)
{
	const char *copy;

	if (!name)
		return -1;
	if (b->n_anchors == MAX_ANCHORS) {
		fail_mark(b, &(yaml_mark_t){ 0, (size_t)node->line - 1, (size_t)node->col - 1 }, "too many anchors");
		return -2;
	}
	if ((b->n_anchors == b->cap_anchors &&
	     yaml_grow((void **)&b->anchors, &b->cap_anchors, sizeof *b->anchors) < 0) ||
	    !(copy = arena_strdup(b->y->arena, (const char *)name))) {
		fail_nomem(b->e, b->y->name);
		return -2;
	}
	b->anchors[b->n_anchors] = (struct anchor){ copy, node, 1, 0, true };
	return (ptrdiff_t)b->n_anchors++;
}

static struct ynode *new_node(struct builder *b, enum ynode_kind kind, const yaml_event_t *ev, const yaml_char_t *tag)
{
	struct ynode *n;

	if (tag) {
		fail_mark(b, &ev->start_mark, "tags ('!...') are not supported");
		return NULL;
	}
	if (add_count(b, &ev->start_mark, 1) < 0)
		return NULL;
	if (!(n = arena_alloc(b->y->arena, sizeof *n))) {
		fail_nomem(b->e, b->y->name);
		return NULL;
	}
	n->kind = kind;
	n->line = (int)ev->start_mark.line + 1;
	n->col = (int)ev->start_mark.column + 1;
	return n;
}

static int on_scalar(struct builder *b, const yaml_event_t *ev)
{
	const char *text = (const char *)ev->data.scalar.value;
	size_t len = ev->data.scalar.length;
	struct ynode *n = new_node(b, YNODE_SCALAR, ev, ev->data.scalar.tag);
	ptrdiff_t a;

	if (!n)
		return -1;
	if (memchr(text, '\0', len))
		return fail_mark(b, &ev->start_mark, "a NUL character is not allowed in a value");
	if (!(n->text = arena_strndup(b->y->arena, text, len)))
		return fail_nomem(b->e, b->y->name);
	n->quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	if ((a = new_anchor(b, ev->data.scalar.anchor, n)) < -1)
		return -1;
	if (a >= 0)
		b->anchors[a].open = false;
	return push(b, n, 0);
}

static int on_start(struct builder *b, const yaml_event_t *ev, enum ynode_kind kind, const yaml_char_t *anchor,
                    const yaml_char_t *tag)
{
	size_t before = b->count;
	struct ynode *n;
	ptrdiff_t a;

	if (b->depth == YAML_MAX_DEPTH)
		return fail_mark(b, &ev->start_mark, "nested deeper than %d levels", YAML_MAX_DEPTH);
	if (!(n = new_node(b, kind, ev, tag)) || (a = new_anchor(b, anchor, n)) < -1)
		return -1;
	b->frames[b->depth++] = (struct frame){ n, b->n_stack, before, a, 0 };
	return 0;
}

/* The second of two equal keys, or NULL. */
static const struct ynode *duplicate(const struct ynode *map, const struct ynode **first, bool *nomem)
{
	const struct ynode *dup = NULL;
	size_t slots = 64;
	uint32_t *table;

	if (map->n <= QUADRATIC) {
		for (size_t i = 1; i < map->n; i++)
			for (size_t j = 0; j < i; j++)
				if (strcmp(map->keys[i]->text, map->keys[j]->text) == 0)
					return *first = map->keys[j], map->keys[i];
		return NULL;
	}
	while (slots < 2 * map->n)
		slots *= 2;
	if (!(table = calloc(slots, sizeof *table)))
		return *nomem = true, NULL;
	for (size_t i = 0; i < map->n && !dup; i++) {
		size_t s = (size_t)hash_mix(hash_str(HASH_INIT, map->keys[i]->text)) & (slots - 1);

		for (; table[s]; s = (s + 1) & (slots - 1))
			if (strcmp(map->keys[table[s] - 1]->text, map->keys[i]->text) == 0) {
				*first = map->keys[table[s] - 1];
				dup = map->keys[i];
				break;
			}
		table[s] = (uint32_t)i + 1;
	}
	free(table);
	return dup;
}

static int check_keys(struct builder *b, const struct ynode *map)
{
	const struct ynode *dup, *first = NULL;
	bool nomem = false;

	for (size_t i = 0; i < map->n; i++) {
		const struct ynode *k = map->keys[i];

		if (k->kind != YNODE_SCALAR)
			return yaml_err(b->y, k, b->e, "a key must be a plain name");
		if (!k->quoted && strcmp(k->text, "<<") == 0)
			return yaml_err(b->y, k, b->e, "merge keys ('<<') are not supported");
	}
	dup = duplicate(map, &first, &nomem);
	if (nomem)
		return fail_nomem(b->e, b->y->name);
	if (dup)
		return yaml_err(b->y, dup, b->e, "key '%s' is given twice, first in line %d", dup->text, first->line);
	return 0;
}

static int on_end(struct builder *b)
{
	struct frame *f = &b->frames[b->depth - 1];
	struct ynode *n = f->node;
	size_t items = b->n_stack - f->first;
	struct ynode **from = items ? b->stack + f->first : NULL;

	n->n = n->kind == YNODE_MAP ? items / 2 : items;
	if (!(n->vals = arena_array(b->y->arena, n->n, sizeof *n->vals)))
		return fail_nomem(b->e, b->y->name);
	if (n->kind == YNODE_MAP) {
		if (!(n->keys = arena_array(b->y->arena, n->n, sizeof *n->keys)))
			return fail_nomem(b->e, b->y->name);
		for (size_t i = 0; i < n->n; i++) {
			n->keys[i] = from[2 * i];
			n->vals[i] = from[2 * i + 1];
		}
		if (check_keys(b, n) < 0)
			return -1;
	} else if (items) {
		memcpy(n->vals, from, items * sizeof *from);
	}
	b->n_stack = f->first;
	if (f->anchor >= 0) {
		struct anchor *a = &b->anchors[f->anchor];

		a->size = b->count - f->count_before;
		a->height = f->height;
		a->open = false;
	}
	b->depth--;
	return push(b, n, f->height);
}

static int on_alias(struct builder *b, const yaml_event_t *ev)
{
	const char *name = (const char *)ev->data.alias.anchor;
	const struct anchor *a = NULL;

	for (size_t i = b->n_anchors; i-- > 0 && !a;) /* the latest of that name counts */
		if (strcmp(b->anchors[i].name, name) == 0)
			a = &b->anchors[i];
	if (!a)
		return fail_mark(b, &ev->start_mark, "alias '*%.100s' names no anchor above it", name);
	if (a->open)
		return fail_mark(b, &ev->start_mark, "alias '*%.100s' stands inside what it names", name);
	if (b->depth + a->height > YAML_MAX_DEPTH)
		return fail_mark(b, &ev->start_mark, "nested deeper than %d levels once aliases are followed",
		                 YAML_MAX_DEPTH);
	if (add_count(b, &ev->start_mark, a->size) < 0)
		return -1;
	return push(b, a->node, a->height);
}

/* 0 go on, 1 end of input, -1 error. */
static int on_event(struct builder *b, const yaml_event_t *ev)
{
	switch (ev->type) {
	case YAML_STREAM_END_EVENT:
		return 1;
	case YAML_DOCUMENT_START_EVENT:
		if (b->root)
			return fail_mark(b, &ev->start_mark, "a second document starts here: one file, one document");
		return 0;
	case YAML_SCALAR_EVENT:
		return on_scalar(b, ev);
	case YAML_ALIAS_EVENT:
		return on_alias(b, ev);
	case YAML_SEQUENCE_START_EVENT:
		return on_start(b, ev, YNODE_SEQ, ev->data.sequence_start.anchor, ev->data.sequence_start.tag);
	case YAML_MAPPING_START_EVENT:
		return on_start(b, ev, YNODE_MAP, ev->data.mapping_start.anchor, ev->data.mapping_start.tag);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return on_end(b);
	default:
		return 0;
	}
}

static int on_json(void *b, const yaml_event_t *ev)
{
	return on_event(b, ev);
}

static int build_json(struct builder *b)
{
	bool nomem;
	const int rc = yaml_json_events(b->y->text, b->y->len, on_json, b, &nomem);

	return nomem ? fail_nomem(b->e, b->y->name) : rc;
}

static int yaml_build(struct builder *b)
{
	int rc = 0;

	while (rc == 0) {
		yaml_event_t ev;

		if (!yaml_parser_parse(&b->parser, &ev))
			return fail_parser(b);
		rc = on_event(b, &ev);
		yaml_event_delete(&ev);
	}
	return rc < 0 ? -1 : 0;
}

/* --- entry points ------------------------------------------------------------------------------------------ */

static int parse_into(struct yaml *y, struct err *e)
{
	struct builder b = { .y = y, .e = e };
	const char *nul = memchr(y->text, '\0', y->len);
	int rc = -1;

	if (nul)
		return fail_offset(y, e, (size_t)(nul - y->text), "a NUL byte: this is not a text file");
	if (!yaml_parser_initialize(&b.parser))
		return fail_nomem(e, y->name);
	yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&b.parser, (const unsigned char *)y->text, y->len);
	if ((yaml_json_is(y->text, y->len) ? build_json(&b) : yaml_build(&b)) < 0)
		goto out;
	/* nothing at all, or nothing but comments: a map without keys */
	if (!b.root || (b.root->kind == YNODE_SCALAR && !b.root->quoted && !b.root->text[0])) {
		if (!(b.root = arena_alloc(y->arena, sizeof *b.root))) {
			fail_nomem(e, y->name);
			goto out;
		}
		*b.root = (struct ynode){ .kind = YNODE_MAP, .line = 1, .col = 1 };
	}
	y->root = b.root;
	rc = 0;
out:
	yaml_parser_delete(&b.parser);
	free(b.stack);
	free(b.anchors);
	return rc;
}

struct yaml *yaml_parse(const char *text, size_t n, const char *name, struct err *e)
{
	struct yaml *y;
	char *copy;

	if (n > YAML_MAX_BYTES) {
		err_set(e, ERR_CONFIG, "longer than %u MiB: this is no configuration", YAML_MAX_BYTES >> 20);
		err_at(e, name, 0, 0);
		return NULL;
	}
	y = calloc(1, sizeof *y);
	if (!y || !(y->arena = arena_new(ARENA_LIMIT)) || !(y->name = arena_strdup(y->arena, name)) ||
	    !(copy = arena_alloc(y->arena, n + 1))) {
		fail_nomem(e, name);
		yaml_free(y);
		return NULL;
	}
	if (n)
		memcpy(copy, text, n);
	y->text = copy;
	y->len = n;
	if (str_prefix(copy, BOM)) {
		y->text += strlen(BOM);
		y->len -= strlen(BOM);
	}
	if (parse_into(y, e) < 0) {
		yaml_free(y);
		return NULL;
	}
	return y;
}

struct yaml *yaml_load(const char *path, struct err *e)
{
	struct yaml *y = NULL;
	char *buf = NULL;
	FILE *f = fopen(path, "rb");
	size_t n;

	if (!f) {
		err_sys(e, ERR_IO, errno, "cannot read '%s'", path);
		return NULL;
	}
	inputs_add(f);
	if (!(buf = malloc(YAML_MAX_BYTES + 1))) {
		fail_nomem(e, path);
		goto out;
	}
	errno = 0;
	n = fread(buf, 1, YAML_MAX_BYTES + 1, f);
	if (ferror(f)) {
		err_sys(e, ERR_IO, errno ? errno : EIO, "cannot read '%s'", path);
		goto out;
	}
	y = yaml_parse(buf, n, path, e);
out:
	free(buf);
	fclose(f);
	return y;
}

void yaml_free(struct yaml *y)
{
	if (!y)
		return;
	arena_free(y->arena);
	free(y);
}

const struct ynode *yaml_root(const struct yaml *y)
{
	return y->root;
}

const char *yaml_name(const struct yaml *y)
{
	return y->name;
}

/* --- access ------------------------------------------------------------------------------------------------ */

const struct ynode *ynode_get(const struct ynode *map, const char *key)
{
	if (!map || map->kind != YNODE_MAP)
		return NULL;
	for (size_t i = 0; i < map->n; i++)
		if (strcmp(map->keys[i]->text, key) == 0)
			return map->vals[i];
	return NULL;
}

static const char *kind_name(const struct ynode *n)
{
	return n->kind == YNODE_MAP ? "a mapping" : "a list";
}

int yaml_str(const struct yaml *y, const struct ynode *n, const char **out, struct err *e)
{
	if (n->kind != YNODE_SCALAR) {
		yaml_err(y, n, e, "%s where one value is due", kind_name(n));
		return -1;
	}
	*out = n->text;
	return 0;
}

int yaml_root_text(const struct yaml *y, const char *key, struct arena *a, const char **out, struct err *e)
{
	const struct ynode *n = ynode_get(yaml_root(y), key);
	const char *s;

	if (!n)
		return yaml_err(y, yaml_root(y), e, "'%s' is missing", key);
	if (yaml_str(y, n, &s, e) < 0)
		return -1;
	return (*out = arena_strdup(a, s)) ? 0 : err_nomem(e, NULL);
}

int yaml_u64(const struct yaml *y, const struct ynode *n, uint64_t min, uint64_t max, uint64_t *out, struct err *e)
{
	const char *s;
	uint64_t v = 0;
	bool fits = true;

	if (yaml_str(y, n, &s, e) < 0)
		return -1;
	if (!*s)
		fits = false;
	for (; *s && fits; s++) {
		unsigned d = (unsigned)(unsigned char)*s - '0';

		fits = d <= 9 && v <= (UINT64_MAX - d) / 10;
		v = v * 10 + d;
	}
	if (!fits || v < min || v > max)
		return yaml_err(y, n, e, "'%s' is not a whole number from %llu to %llu", n->text,
		                (unsigned long long)min, (unsigned long long)max);
	*out = v;
	return 0;
}

int yaml_real(const struct yaml *y, const struct ynode *n, double *out, struct err *e)
{
	const char *s;
	char *end;

	if (yaml_str(y, n, &s, e) < 0)
		return -1;
	*out = strtod(s, &end);
	return end != s && !*end && isfinite(*out) ? 0 : yaml_err(y, n, e, "'%s' is no number", s);
}

int yaml_bool(const struct yaml *y, const struct ynode *n, bool *out, struct err *e)
{
	static const char *const words[] = { "false", "true", "no", "yes", "off", "on" };
	const char *s;

	if (yaml_str(y, n, &s, e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(s, words[i]) == 0)
			return *out = i & 1, 0;
	return yaml_err(y, n, e, "'%s' is neither 'true' nor 'false'", s);
}

int yaml_only_keys(const struct yaml *y, const struct ynode *map, const char *const *keys, size_t n, struct err *e)
{
	if (map->kind != YNODE_MAP)
		return yaml_err(y, map, e, "%s where a mapping is due",
		                map->kind == YNODE_SEQ ? "a list" : "one value");
	for (size_t i = 0; i < map->n; i++) {
		const char *key = map->keys[i]->text, *near;
		bool known = false;

		for (size_t j = 0; j < n && !known; j++)
			known = strcmp(key, keys[j]) == 0;
		if (known)
			continue;
		near = str_nearest(key, keys, n);
		if (near)
			return yaml_err(y, map->keys[i], e, "unknown key '%s'; did you mean '%s'?", key, near);
		return yaml_err(y, map->keys[i], e, "unknown key '%s'", key);
	}
	return 0;
}
