/* Constants of processes, DRAM and links: scaled as the files say, with their sources; faults with their places. */
#include <stdio.h>
#include <unistd.h>

#include "arch/power/tech.h"
#include "validate/tests/test.h"

static struct tech *load(const char *node)
{
	struct err e = ERR_INIT;
	struct tech *t = tech_load(node, &e);

	CHECK_OK(t ? 0 : -1, e);
	return t;
}

TEST(a_node_has_what_it_gives_and_the_rest_by_the_published_factors)
{
	struct tech *n7 = load("n7"), *n5 = load("n5"), *n16 = load("n16");

	CHECK_U64(n7->arithmetic.fp32_multiply, 1310);
	CHECK_U64(n5->arithmetic.fp32_multiply, 917); /* 0.7 times */
	CHECK_U64(n5->sram.cell, 21000);              /* its own, not 27000 / 1.2857 */
	CHECK_U64(n5->logic.transistor, n7->logic.transistor * 1000000 / 1518000);
	CHECK(n16->arithmetic.fp32_multiply > 2 * n7->arithmetic.fp32_multiply);
	CHECK(n16->logic.transistor > 2 * n7->logic.transistor);
	tech_free(n7);
	tech_free(n5);
	tech_free(n16);
}

TEST(every_constant_that_is_known_says_where_it_is_from)
{
	static const char *const nodes[] = { "n16", "n8", "n7", "n5", "n4" };

	for (size_t k = 0; k < 5; k++) {
		struct tech *t = load(nodes[k]);
		const struct cfg *all[] = { t->node, t->drams, t->links, t->dies };

		for (size_t c = 0; c < 4; c++)
			for (size_t i = 0; i < cfg_count(all[c]); i++) {
				const struct cfg_row r = cfg_at(all[c], i);

				if (r.field->type == CFG_T_STR || !cfg_raw(all[c], i))
					continue;
				CHECK(r.source && strlen(r.source) > 5 && !strstr(r.source, "yaml:") &&
				      !strstr(r.source, "MEMORY"));
			}
		tech_free(t);
	}
}

TEST(a_multiply_add_is_its_two_operations_and_unknown_where_one_is)
{
	struct tech *t = load("n7");

	CHECK_U64(tech_mac(t, DT_BF16, DT_BF16), 590);
	CHECK_U64(tech_mac(t, DT_INT8, DT_INT8), 100);
	CHECK_U64(tech_mac(t, DT_BF16, DT_INT8), 590); /* the narrower is widened */
	CHECK_U64(tech_mac(t, DT_FP64, DT_FP64), 0);
	t->arithmetic.fp32_add = 0;
	CHECK_U64(tech_mac(t, DT_BF16, DT_BF16), 0);
	tech_free(t);
}

TEST(a_byte_of_sram_costs_more_the_larger_the_macro)
{
	struct tech *t = load("n7");
	uint64_t last = 0;

	CHECK_U64(tech_sram_byte(t, 8 << 10), 937);
	CHECK_U64(tech_sram_byte(t, 1 << 20), 1750);
	for (uint64_t size = 1 << 10; size <= 64 << 20; size *= 2) {
		CHECK(tech_sram_byte(t, size) >= last);
		last = tech_sram_byte(t, size);
	}
	tech_free(t);
}

TEST(voltage_goes_with_the_clock_between_points)
{
	struct tech *t = load("n4"), *n7 = load("n7");

	CHECK_U64(tech_voltage(t, 1980000), 1000000);
	CHECK_U64(tech_voltage(t, 3000000), 1000000);
	CHECK_U64(tech_voltage(t, 1), 628400);
	CHECK_U64(tech_voltage(t, 1162500), 814200); /* half way */
	CHECK_U64(tech_voltage(n7, 1162500), 814200);
	tech_free(t);
	tech_free(n7);
}

static void path_of(char *path, size_t n)
{
	snprintf(path, n, "/tmp/npusim-tech-%ld.yaml", (long)getpid());
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void refused(const char *text, const char *part)
{
	struct err e = ERR_INIT;
	char path[64];

	path_of(path, sizeof path);
	put(path, text);
	CHECK(!tech_load(path, &e));
	CHECK_HAS(e.msg, part);
	CHECK(e.kind == ERR_CONFIG);
	unlink(path);
}

TEST(mistakes_are_placed)
{
	struct err e = ERR_INIT;

	CHECK(!tech_load("n6", &e));
	CHECK_HAS(e.msg, "looking for the node 'n6' (there are n16, n8, n7, n5 and n4)");
	refused("tech: x\npoints:\n- {clock: 1 GHz}\n", "'1 GHz' without a voltage");
	refused("tech: x\npoints:\n- {voltage: 0.8}\n", "a point has a clock");
	refused("tech: x\npoints: 5\n", "'points' is a list");
	refused("tech: x\npoints:\n- {clock: 2 GHz, voltage: 1}\n- {clock: 1 GHz, voltage: 0.8}\n",
	        "points go up with the clock");
	refused("tech: x\npoints:\n- {clock: 2 GHz, voltage: 3}\n", "a voltage of 3");
	refused("tech: x\narithmetic: {fp32_add: 5}\n", "needs a unit: write '5 ");
	refused("tech: x\narithmetic: {fp33_add: 5 pJ}\n", "fp32_add");
	refused("tech: x\nfrom: n6\n", "looking for the node 'n6'");
}

TEST(a_node_that_is_scaled_from_itself_is_told)
{
	char path[64], text[128];
	struct err e = ERR_INIT;

	path_of(path, sizeof path);
	snprintf(text, sizeof text, "tech: x\nfrom: %s\n", path);
	put(path, text);
	CHECK(!tech_load(path, &e));
	CHECK_HAS(e.msg, "'from' goes on and on");
	unlink(path);
}

SUITE(t_tech, T(a_node_has_what_it_gives_and_the_rest_by_the_published_factors),
      T(every_constant_that_is_known_says_where_it_is_from),
      T(a_multiply_add_is_its_two_operations_and_unknown_where_one_is),
      T(a_byte_of_sram_costs_more_the_larger_the_macro), T(voltage_goes_with_the_clock_between_points),
      T(mistakes_are_placed), T(a_node_that_is_scaled_from_itself_is_told));
