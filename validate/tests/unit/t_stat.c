/* t_stat.c - counters by name, and the region of interest by difference. */
#include "sim/base/stat.h"

#include "validate/tests/test.h"

TEST(a_counter_is_read_where_it_lives)
{
	struct stat_reg *r = stat_new();
	struct err e = ERR_INIT;
	uint64_t hits = 3;
	struct stat_view v;

	CHECK_OK(stat_add(r, "l2.hits", "sectors", "reads served", STAT_COUNT, &hits, &e), e);
	CHECK_U64(stat_get(r, "l2.hits"), 3);
	hits += 4;
	v = stat_at(r, 0);
	CHECK_STR(v.name, "l2.hits");
	CHECK_STR(v.unit, "sectors");
	CHECK_STR(v.help, "reads served");
	CHECK(v.kind == STAT_COUNT);
	CHECK_U64(v.value, 7);
	stat_free(r);
}

TEST(a_snapshot_subtracts_from_counts_and_leaves_levels)
{
	struct stat_reg *r = stat_new();
	struct err e = ERR_INIT;
	uint64_t count = 10, level = 5;

	CHECK_OK(stat_add(r, "a.count", "", "", STAT_COUNT, &count, &e), e);
	CHECK_OK(stat_add(r, "a.level", "", "", STAT_LEVEL, &level, &e), e);
	stat_snapshot(r);
	CHECK_U64(stat_get(r, "a.count"), 0);
	CHECK_U64(stat_get(r, "a.level"), 5);
	count = 25;
	level = 2;
	CHECK_U64(stat_get(r, "a.count"), 15);
	CHECK_U64(stat_get(r, "a.level"), 2);
	stat_snapshot(r);
	CHECK_U64(stat_get(r, "a.count"), 0);
	stat_free(r);
}

TEST(a_name_comes_once)
{
	struct stat_reg *r = stat_new();
	struct err e = ERR_INIT;
	uint64_t c = 0;

	CHECK_OK(stat_add(r, "dma.bytes", "", "", STAT_COUNT, &c, &e), e);
	CHECK(stat_add(r, "dma.bytes", "", "", STAT_COUNT, &c, &e) == -1);
	CHECK_STR(e.msg, "statistic 'dma.bytes' is registered twice");
	CHECK_U64(stat_count(r), 1);
	stat_free(r);
}

TEST(a_name_nobody_registered_is_an_error)
{
	struct stat_reg *r = stat_new();
	struct err e = ERR_INIT;
	uint64_t c = 9;

	CHECK_OK(stat_add(r, "a.b", "", "", STAT_COUNT, &c, &e), e);
	CHECK_U64(stat_get(r, "a.b"), 9);
	CHECK_OK(stat_check(r, &e), e);
	stat_get(r, "a.c");
	CHECK_U64(stat_get(r, "a.b"), 9);
	CHECK(stat_check(r, &e) < 0);
	CHECK_HAS(e.msg, "there is no statistic 'a.c'");
	stat_free(r);
}

TEST(a_block_that_need_not_be_built_is_asked_with_what_stands_for_it)
{
	struct stat_reg *r = stat_new();
	struct err e = ERR_INIT;
	uint64_t c = 9;

	CHECK_U64(stat_get_or(r, "x", 4), 4);
	CHECK_OK(stat_add(r, "xy", "", "", STAT_COUNT, &c, &e), e);
	CHECK_U64(stat_get_or(r, "x", 0), 0);
	CHECK_U64(stat_get_or(r, "", 7), 7);
	CHECK_U64(stat_get_or(r, "xy", 7), 9);
	stat_free(r);
	stat_free(NULL);
}

TEST(a_thousand_names_keep_their_order_and_are_all_found)
{
	static char names[1000][32];
	static uint64_t counters[1000];
	struct stat_reg *r = stat_new();
	struct err e = ERR_INIT;

	for (int i = 0; i < 1000; i++) {
		snprintf(names[i], sizeof names[i], "block%d.n%d", i % 7, i);
		counters[i] = (uint64_t)i * 3;
		CHECK_OK(stat_add(r, names[i], "", "", STAT_COUNT, &counters[i], &e), e);
	}
	CHECK_U64(stat_count(r), 1000);
	for (int i = 0; i < 1000; i++) {
		CHECK_STR(stat_at(r, (size_t)i).name, names[i]);
		CHECK_U64(stat_get(r, names[i]), i * 3);
	}
	stat_free(r);
}

SUITE(t_stat, T(a_counter_is_read_where_it_lives), T(a_snapshot_subtracts_from_counts_and_leaves_levels),
      T(a_name_comes_once), T(a_name_nobody_registered_is_an_error),
      T(a_block_that_need_not_be_built_is_asked_with_what_stands_for_it),
      T(a_thousand_names_keep_their_order_and_are_all_found));
