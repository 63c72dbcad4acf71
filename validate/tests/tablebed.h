/* tablebed.h - what the product's own tables have, for tests that run all of it: nothing here is counted by hand. */
#ifndef NPUSIM_TESTS_TABLEBED_H
#define NPUSIM_TESTS_TABLEBED_H

#include "arch/mem/l2.h"
#include "arch/mem/noc.h"
#include "sim/base/path.h"
#include "validate/tests/test.h"

struct words {
	const char *const *v;
	size_t n;
};

/* The words that an enum of a section knows. */
static inline struct words words_of(const struct cfg_field *rows, const char *key)
{
	struct words w = { NULL, 0 };

	while (rows->key && strcmp(rows->key, key) != 0)
		rows++;
	if (!rows->key || !rows->names)
		test_fail(__FILE__, __LINE__, "no parameter '%s' has words", key);
	for (w.v = rows->names; w.v[w.n];)
		w.n++;
	CHECK(w.n > 1);
	return w;
}

static inline struct words l2_policies(void)
{
	return words_of(l2_schema, "policy");
}

static inline struct words networks(void)
{
	return words_of(noc_schema, "kind");
}

/* Of configs/dram, in `a`. */
static inline struct words memories(struct arena *a)
{
	struct err e = ERR_INIT;
	const char **names;
	size_t n;

	CHECK_OK(source_names(&path_source, "configs/dram", ".yaml", a, &names, &n, &e), e);
	CHECK(n > 1);
	return (struct words){ names, n };
}

#endif
