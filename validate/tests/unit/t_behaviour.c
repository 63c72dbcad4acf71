/* The table of launches that the fingerprint of the GPU model is made of. */
#include "sim/accuracy/behaviour.h"

#include <string.h>

#include "arch/gpu/kernel.h"
#include "sim/base/version.h"
#include "validate/tests/test.h"

static void of_h200(const char *set, struct arena *a, struct behaviour *out)
{
	struct err e = ERR_INIT;

	CHECK_OK(behaviour_make("h200", &set, set ? 1 : 0, a, out, &e), e);
}

static const struct behaviour_group *family(const struct behaviour *b, const char *name)
{
	for (size_t i = 0; i < b->n; i++)
		if (strcmp(b->v[i].family, name) == 0)
			return &b->v[i];
	return NULL;
}

TEST(every_form_of_a_kernel_is_in_the_table)
{
	struct arena *a = arena_new(0);
	struct behaviour b;

	of_h200(NULL, a, &b);
#define X(form, name, time, least, what) CHECK(family(&b, "templates: " #name) != NULL);
	KERNEL_FORM_ROWS(X)
#undef X
	CHECK(family(&b, "host, as a graph") && family(&b, "lowered launches"));
	for (size_t i = 0; i < b.n; i++)
		CHECK(b.v[i].launches && b.v[i].total);
	arena_free(a);
}

/* A picosecond of one launch is enough. */
TEST(a_constant_changes_the_fingerprint_and_nothing_else_does)
{
	struct arena *a = arena_new(0);
	struct behaviour b;
	char usual[17], again[17], other[17];

	of_h200(NULL, a, &b);
	behaviour_hash(&b, usual);
	behaviour_hash(&b, again);
	CHECK_STR(again, usual);
	b.v[b.n / 2].hash++;
	behaviour_hash(&b, other);
	CHECK(strcmp(other, usual) != 0);
	of_h200("product.reduce_part=121.1 ns", a, &b);
	behaviour_hash(&b, other);
	CHECK(strcmp(other, usual) != 0);
	arena_free(a);
}

/* What the build put into the program is what the model answers. */
TEST(the_fingerprint_of_this_build_is_its_own)
{
	struct err e = ERR_INIT;
	struct arena *a = arena_new(0);
	struct behaviour b;
	char now[17];

	CHECK_OK(behaviour_make(NULL, NULL, 0, a, &b, &e), e);
	behaviour_hash(&b, now);
	CHECK_STR(now, npusim_gpu_model());
	arena_free(a);
}

SUITE(t_behaviour, T(every_form_of_a_kernel_is_in_the_table),
      T(a_constant_changes_the_fingerprint_and_nothing_else_does), T(the_fingerprint_of_this_build_is_its_own));
