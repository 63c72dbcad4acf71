/* rules.h - the rule table: from a kernel's name, its framework op, shapes and types to a family and an op.
 *
 * Rules are YAML rows (configs/rules/NAME.yaml), tried in order, first match wins; a user adds a kernel family
 * without a compiler. Regular expressions are POSIX extended. The head of configs/rules/pytorch-cuda.yaml documents
 * every key. Copies and sets are matched too, by the names the profiler gives them ("Memcpy DtoH (...)").
 *
 * A table remembers what it answered by kernel name and framework op (I1: an answer depends on nothing else but a
 * rule's own `when` and a product's rows, which are looked at every time), so it is not for two threads at once. */
#ifndef NPUSIM_WORKLOADS_RULES_H
#define NPUSIM_WORKLOADS_RULES_H

#include "sim/base/source.h"
#include "traces/trace.h"
#include "workloads/op.h"

struct rules;

struct rule {
	const char *name, *family, *friendly, *library;
	const char *m1_family; /* of a product with one row; NULL: `family` for all */
	enum op_kind kind;
	enum op_cost cost;
	const char *fn; /* "" when the op has none; "op": the framework op's own name */
	enum op_reduce reduce;
	enum op_attn algorithm;
	enum dtype math;                  /* of the arithmetic where it is not the operands' (tf32); DT_NONE */
	const char *shape;                /* name of a shape reader in workloads/shape.c; NULL: none */
	int reader;                       /* the same for shape_read; -1 */
	bool part;                        /* never what names its op: a set before the kernel itself */
	bool joins_previous;              /* split-K reduce, combine: one op with the launch before it */
	bool temporary;                   /* its result is read once: squares on the way into a mean */
	bool routes;                      /* a top-k that may pick experts */
	bool syncs;                       /* the host reads the result: a blocking copy to the host */
	bool opens_routed, closes_routed; /* products between them are routed, after a top-k that routes */
	bool listed; /* of no table: the framework op is a row of a table of ops (workloads/listed.h) */
};

struct rules *rules_load(const char *path, struct err *e); /* NULL path: the default table */
struct rules *rules_load_from(const struct source *from, const char *path, struct err *e);
struct rules *rules_parse(const char *text, size_t n, const char *name, struct err *e); /* of a table in memory */
void rules_free(struct rules *r);
/* What only moves has no operations, also where no shape says how much it moves. False of NULL. */
static inline bool rule_only_moves(const struct rule *r)
{
	return r && (r->kind == OP_COPY || r->kind == OP_CONCAT || r->kind == OP_GATHER || r->kind == OP_EMBED);
}
/* NULL: no rule. `family` of the answer is by shape already: a product of one row has its m1_family. */
const struct rule *rules_match(struct rules *r, const struct trace_launch *l);
/* Cluster from the kernel's name, for profilers that do not record it; false when its rule reads none. */
bool rules_cluster(struct rules *r, const struct trace_launch *l, uint32_t cluster[3]);
size_t rules_count(const struct rules *r);
const struct rule *rules_at(const struct rules *r, size_t i);
uint64_t rules_hash(const struct rules *r); /* of every row's text, in order */

#endif
