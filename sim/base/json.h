/* json.h - a JSON document of ours as a tree, and its values by path.
 *
 * A tree is read from text, or made value by value where there is no text: out_json.h does so for whatever states a document.
 *
 * A path is keys and positions: "ops[3].stalls.dram". A key may have dots of its own ("stats.l2.hit_bytes"): the longest that
 * leads somewhere is taken. Leaves out: escapes in a path, so a key with a bracket is not found. */
#ifndef NPUSIM_SIM_BASE_JSON_H
#define NPUSIM_SIM_BASE_JSON_H

#include <stddef.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT };

const char *json_kind_name(enum json_kind k); /* "a list" */

struct json {
	enum json_kind kind;
	const char *key;  /* in its object; NULL: it is in none */
	const char *text; /* of a text */
	double number;    /* of a boolean 0 and 1 */
	size_t n;         /* of a list or an object */
	struct json **v;
};

#define JSON_DEPTH 64

/* All of it lives in `a`. NULL: no JSON, deeper than JSON_DEPTH, or no memory. */
const struct json *json_parse(const char *text, size_t n, struct arena *a, struct err *e);

/* A tree that is made: values in their order, a list's or an object's between open and close. */
struct json_tree;

struct json_tree *json_tree_new(struct arena *a); /* in `a`; NULL: no memory */
/* `key` NULL: in a list, and of the document. Texts are copied. */
void json_tree_value(struct json_tree *t, const char *key, enum json_kind kind, double number, const char *text);
void json_tree_open(struct json_tree *t, const char *key, enum json_kind kind);
void json_tree_close(struct json_tree *t);
/* NULL: it is not one value, deeper than JSON_DEPTH, or there was no memory. */
const struct json *json_tree_root(const struct json_tree *t, struct err *e);

/* ERR_USAGE names how far the path leads, and what is near. */
const struct json *json_find(const struct json *root, const char *path, struct err *e);

#endif
