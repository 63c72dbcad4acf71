/* rules_int.h - a rule as it is kept; for workloads/rules*.c only. */
#ifndef NPUSIM_WORKLOADS_RULES_INT_H
#define NPUSIM_WORKLOADS_RULES_INT_H

#include <regex.h>

#include "sim/base/arena.h"
#include "sim/base/yaml.h"
#include "workloads/rules.h"

#define RULES_LITERALS 12

/* A regular expression and words one of which must stand in a text that it matches: looking for those first is
 * a hundred times faster than trying the expression. No words: always try. */
struct rules_re {
	bool set;
	regex_t re;
	uint32_t n_words;
	char words[RULES_LITERALS][32];
};

/* Conditions beside the names; -1 or DT_NONE: any. */
struct rules_when {
	int activity, dir, blocking, converts;
	enum dtype dtype;
	bool any;
};

struct rules_row {
	struct rule rule, m1; /* m1: the same with the family of a product of one row */
	struct rules_re kernel, op;
	regex_t cluster;
	bool has_cluster;
	int depth; /* of the table it stands in: 0 the one asked for, 1 its base, ... */
	struct rules_when when;
};

struct rules_answer;

struct rules {
	const struct source *source;
	struct arena *arena; /* rows, and what their texts point to */
	struct rules_row **rows;
	size_t n, cap;
	uint64_t hash;
	struct rule *listed;         /* one for each of listed_meanings() */
	struct rules_answer **cache; /* open addressing; size a power of two */
	size_t cache_n, cache_cap;
};

/* rules_load.c */
int rules_read(struct rules *r, const struct yaml *y, int depth, struct err *e);

#endif
