/* yaml.h - a YAML file as a tree of nodes that know their place, over libyaml; of a file that is JSON, over yajl.
 *
 * Leaves out: tags, multiple documents, merge keys. Anchors and aliases work, but the expanded tree is bounded
 * (YAML_MAX_NODES), so an alias bomb is an error; so are duplicate keys, files over YAML_MAX_BYTES, NUL bytes and
 * nesting deeper than YAML_MAX_DEPTH (aliases followed). An alias is the very node it names, so a tree may share
 * nodes. The whole tree lives in one arena and goes with yaml_free. */
#ifndef NPUSIM_SIM_BASE_YAML_H
#define NPUSIM_SIM_BASE_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"

#define YAML_MAX_NODES 500000 /* a mixed checkpoint's config.json lists 40,000 weights: 240,000 */
#define YAML_MAX_BYTES (8u << 20)
#define YAML_MAX_DEPTH 64

enum ynode_kind { YNODE_SCALAR, YNODE_SEQ, YNODE_MAP };

struct ynode {
	enum ynode_kind kind;
	int line, col;    /* 1-based */
	const char *text; /* scalar: its text; map and seq: NULL */
	bool quoted;
	size_t n;                    /* seq: items; map: pairs */
	struct ynode **keys, **vals; /* map: keys are scalars; seq: keys is NULL */
};

struct yaml;

/* libyaml.so exports, and calls, a yaml_free of its own: ours must not take its place at link time. */
#define yaml_free npusim_yaml_free

struct yaml *yaml_load(const char *path, struct err *e); /* ERR_IO when it cannot be read */
struct yaml *yaml_parse(const char *text, size_t n, const char *name, struct err *e);
void yaml_free(struct yaml *y);
const struct ynode *yaml_root(const struct yaml *y); /* an empty file is an empty map */
const char *yaml_name(const struct yaml *y);         /* the path it came from */

const struct ynode *ynode_get(const struct ynode *map, const char *key); /* NULL when absent or not a map */
/* Sets `e` (kind ERR_CONFIG) with file, line, column and source line of the node. Always -1. */
int yaml_err(const struct yaml *y, const struct ynode *at, struct err *e, const char *fmt, ...) ERR_FMT(4, 5);
/* Typed access; a wrong kind or text is a placed error. */
int yaml_str(const struct yaml *y, const struct ynode *n, const char **out, struct err *e);
/* What stands under a key of the whole file, copied into `a`; an error where it is missing. */
int yaml_root_text(const struct yaml *y, const char *key, struct arena *a, const char **out, struct err *e);
int yaml_u64(const struct yaml *y, const struct ynode *n, uint64_t min, uint64_t max, uint64_t *out, struct err *e);
/* A finite number, as strtod reads it. */
int yaml_real(const struct yaml *y, const struct ynode *n, double *out, struct err *e);
int yaml_bool(const struct yaml *y, const struct ynode *n, bool *out, struct err *e);
/* Refuses keys outside the list, naming the nearest right one. */
int yaml_only_keys(const struct yaml *y, const struct ynode *map, const char *const *keys, size_t n, struct err *e);

#endif
