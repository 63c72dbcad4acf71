/* out_json.h - nested JSON documents, written as they come into a string; or made as a tree, for who wants a figure and no text.
 * A tree has what a reader of the text would get: reals of nine digits, U+FFFD for what is not UTF-8. */
#ifndef NPUSIM_SIM_BASE_OUT_JSON_H
#define NPUSIM_SIM_BASE_OUT_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/json.h"
#include "sim/base/str.h"

struct out_json {
	struct str *to;
	struct json_tree *tree; /* NULL: text */
	int depth;
	bool first[16], pretty;
};
void out_json_init(struct out_json *j, struct str *to);
/* As a tree; `to` is where callers say that memory failed them, and stays empty. */
void out_json_init_tree(struct out_json *j, struct json_tree *tree, struct str *to);
void out_json_open(struct out_json *j, const char *key, char bracket);  /* key NULL inside arrays; '{' or '[' */
void out_json_close(struct out_json *j, char bracket);                  /* '}' or ']' */
void out_json_text(struct out_json *j, const char *key, const char *v); /* NULL is null */
void out_json_int(struct out_json *j, const char *key, int64_t v);
void out_json_u64(struct out_json *j, const char *key, uint64_t v);
void out_json_real(struct out_json *j, const char *key, double v); /* %.9g; not finite is null */
void out_json_bool(struct out_json *j, const char *key, bool v);
void out_json_document(struct out_json *j, const char *key,
                       const char *json); /* a whole one, as it is; not of a tree */
void out_json_null(struct out_json *j, const char *key);
void out_json_lines(struct out_json *j, const char *key, const char *text); /* an array of its lines */

#endif
