/* json.h - a JSON document of ours as a tree, and its values by path.
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
	const char *text; /* of a text, and of a number as it is written */
	double number;    /* of a boolean 0 and 1 */
	size_t n;         /* of a list or an object */
	struct json **v;
};

#define JSON_DEPTH 64

/* All of it lives in `a`. NULL: no JSON, deeper than JSON_DEPTH, or no memory. */
const struct json *json_parse(const char *text, size_t n, struct arena *a, struct err *e);
/* ERR_USAGE names how far the path leads, and what is near. */
const struct json *json_find(const struct json *root, const char *path, struct err *e);

#endif
