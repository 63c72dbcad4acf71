/* t_pages.c - tables that cost what is touched, and what is made of them. */
#include "sim/base/pages.h"

#include "arch/machine/machine_conf.h"
#include "sim/engine/machine.h"
#include "validate/tests/test.h"

#define LARGE (UINT64_C(1) << 40)

/* Memory this process holds; 0 where the host does not say. */
static uint64_t held(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long long all = 0, here = 0;

	if (f) {
		if (fscanf(f, "%llu %llu", &all, &here) != 2)
			here = 0;
		fclose(f);
	}
	return here * 4096;
}

TEST(a_table_is_zero_at_first_and_after_it_was_cleared)
{
	static const uint64_t sizes[] = { 0, 1, 100, 1 << 20, 40 << 20 };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		const uint64_t n = sizes[i];
		unsigned char *p = pages_new(n, 3);

		CHECK(p && (uintptr_t)p % PAGES_ALIGN == 0);
		for (int round = 0; round < 2 && n; round++) {
			for (uint64_t k = 0; k < 3 * n; k += 97)
				CHECK(p[k] == 0);
			CHECK(p[3 * n - 1] == 0);
			memset(p, 7, 3 * n);
			pages_zero(p, n, 3);
		}
		pages_free(p, n, 3);
	}
	pages_free(NULL, 5, 3);
}

TEST(what_no_host_can_address_is_refused)
{
	CHECK(!pages_new(UINT64_MAX, 2));
	CHECK(!pages_new(UINT64_MAX / 2, 1));
}

TEST(a_large_table_costs_what_is_touched_of_it)
{
	unsigned char *p = pages_new(LARGE, 1);
	uint64_t before = held();

	if (!p || !before)
		test_skip("not run: no terabyte of addresses here, or nobody says what is held");
	for (uint64_t k = 0; k < LARGE; k += LARGE / 64)
		p[k] = 1;
	CHECK(held() < before + (4 << 20));
	pages_zero(p, LARGE, 1);
	CHECK(p[0] == 0 && p[LARGE / 64] == 0);
	pages_free(p, LARGE, 1);
}

TEST(a_machine_of_terabytes_costs_the_host_megabytes)
{
	static const char *const sets[][3] = {
		{ "l2.size=1 TiB", "l2.victim=1 TiB", "l2.policy=stream_bypass" },
		{ "kv_buffer.size=1 TiB", "l2.write_back=lazy", "l2.policy=drrip" },
		{ "cores=4096", "l1.size=64 MiB", "l1.victim=64 MiB" },
	};
	const uint64_t before = held();

	if (!before)
		test_skip("not run: nobody says what is held");
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		struct err e = ERR_INIT;
		struct machine_conf *c = machine_conf_parse("name: m\n", 8, "m", sets[i], 3, &e);
		struct machine *m = c ? machine_new(&c->cfg, NULL, &e) : NULL;

		if (!m && e.kind == ERR_NOMEM)
			test_skip("not run: addresses are limited here");
		CHECK_OK(m ? 0 : -1, e);
		CHECK(held() < before + (64 << 20));
		machine_free(m);
		machine_conf_free(c);
	}
}

SUITE(t_pages, T(a_table_is_zero_at_first_and_after_it_was_cleared), T(what_no_host_can_address_is_refused),
      T(a_large_table_costs_what_is_touched_of_it), T(a_machine_of_terabytes_costs_the_host_megabytes));
