/* t_silicon.c - what NPUs on silicon say of an answer: the classes, the file, the device nearest to a machine. */
#include "sim/accuracy/silicon.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/path.h"
#include "validate/tests/test.h"

static struct op attention = { .kind = OP_ATTENTION, .listed = true, .algorithm = OP_ATTN_GROUPED };
static struct op product = { .kind = OP_GEMM };

static struct sample sample(const char *cls, const char *group, double off)
{
	struct sample x = { .name = "x", .cls = cls, .group = group, .measured_ns = 1000 };

	x.time.total = (ps_t)((1 + off / 100) * 1e6);
	return x;
}

TEST(each_sample_counts_for_its_kind_and_for_its_part)
{
	const struct op_stream s[] = { { .ops = &product, .n_ops = 1 }, { .ops = &attention, .n_ops = 1 } };
	const struct op_stream *one[] = { &s[0], &s[0], &s[1] };
	struct sample v[] = { sample("gemm", "1", 10), sample("gemm", "2-64", -4), sample("attention", "", 3) };
	struct rows r = { .sim.all = { .v = v, .n = 3 }, .one = one };
	struct arena *a = arena_new(0);
	struct accuracy acc = { .n = 0 };
	struct err e = ERR_INIT;

	CHECK_OK(silicon_classes(&r, a, &acc, &e), e);
	CHECK_U64(acc.all.n, 3);
	CHECK_U64(acc.n, 5);
	CHECK(accuracy_of(&acc, "gemm") && accuracy_of(&acc, "gemm")->n == 2);
	CHECK((int)(accuracy_of(&acc, "products of 1 row")->mape * 100 + 0.5) == 1000);
	CHECK((int)(accuracy_of(&acc, "products of 2 to 64 rows")->bias * 100 - 0.5) == -400);
	CHECK(accuracy_of(&acc, "attention as grouped") && accuracy_of(&acc, "attention"));
	arena_free(a);
}

TEST(rows_and_algorithms_have_names)
{
	CHECK_STR(silicon_products(0), "gemm");
	CHECK_STR(silicon_products(1), "products of 1 row");
	CHECK_STR(silicon_products(64), "products of 2 to 64 rows");
	CHECK_STR(silicon_products(65), "products of 65 to 512 rows");
	CHECK_STR(silicon_products(513), "products of more rows");
	CHECK_STR(silicon_attention(false, OP_ATTN_GROUPED), "attention as flash");
	CHECK_STR(silicon_attention(true, OP_ATTN_GROUPED), "attention as grouped");
}

/* --- the nearest of two, in a data folder of the test's own ------------------------------------------------------- */

static void put(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	f = fopen(path, "w");
	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* A device of so many matrix units, with its two files; its family is its name. */
static void device(const char *dir, const char *name, int units)
{
	char text[1024], file[64], config[64];

	snprintf(config, sizeof config, "%s.yaml", name);
	snprintf(text, sizeof text, "family: %s\ncores: 1\nmatrix: {units: %d}\ngemv: {units: 0}\n", name, units);
	put(dir, config, text);
	snprintf(text, sizeof text,
	         "device: %s\nconfig: %s/%s\nsplit: all\nbuild: b\nmodel: m\ndigest: d\n"
	         "all: {n: 1, mape: 1, median_ape: 1, p90_ape: 1, bias: 1, weighted_ape: 1}\nclasses:\n"
	         "- {class: products, n: 1, mape: 1, median_ape: 1, p90_ape: 1, bias: 1, weighted_ape: 1}\n",
	         name, dir, config);
	snprintf(file, sizeof file, "configs/accuracy/%s.yaml", name);
	put(dir, file, text);
	snprintf(file, sizeof file, "configs/accuracy/%s-calibrated.yaml", name);
	put(dir, file, text);
}

static void of_family_is(const char *machine, const char *device_name)
{
	struct err e = ERR_INIT;
	struct machine_conf *c = machine_conf_parse(machine, strlen(machine), "m", NULL, 0, &e);
	struct arena *a = arena_new(0);
	struct silicon s;

	CHECK_OK(c ? 0 : -1, e);
	CHECK(silicon_of_family(c, a, &s, &e) == (device_name != NULL));
	if (device_name)
		CHECK_STR(s.sheet.device, device_name);
	silicon_free(&s);
	machine_conf_free(c);
	arena_free(a);
}

static void nearest_is(const char *machine, const char *device_name)
{
	struct err e = ERR_INIT;
	struct machine_conf *c = machine ? machine_conf_parse(machine, strlen(machine), "m", NULL, 0, &e) : NULL;
	struct arena *a = arena_new(0);
	struct silicon s;

	CHECK_OK(c || !machine ? 0 : -1, e);
	CHECK(silicon_nearest(&path_source, c, a, &s, &e) == 1);
	CHECK_STR(s.sheet.device, device_name);
	CHECK(!s.same && s.conf); /* made with another configuration: its identity differs */
	silicon_free(&s);
	machine_conf_free(c);
	arena_free(a);
}

TEST(the_nearest_device_is_the_one_least_apart)
{
	const char *was = getenv("NPUSIM_DATA");
	char keep[512] = "", dir[256], sub[512];

	snprintf(keep, sizeof keep, "%s", was ? was : "");
	snprintf(dir, sizeof dir, "%s/silicon", test_tmp());
	snprintf(sub, sizeof sub, "%s/configs", dir);
	CHECK(mkdir(dir, 0777) == 0 && mkdir(sub, 0777) == 0);
	snprintf(sub, sizeof sub, "%s/configs/accuracy", dir);
	CHECK(mkdir(sub, 0777) == 0);
	device(dir, "large", 64);
	device(dir, "small", 1);
	CHECK(setenv("NPUSIM_DATA", dir, 1) == 0);
	nearest_is("cores: 1\nmatrix: {units: 2}\ngemv: {units: 0}\n", "small");
	nearest_is("cores: 1\nmatrix: {units: 48}\ngemv: {units: 0}\n", "large");
	nearest_is(NULL, "large");
	/* A family's silicon is its own, however near another's is. */
	of_family_is("family: large\ncores: 1\nmatrix: {units: 1}\ngemv: {units: 0}\n", "large");
	of_family_is("family: small\ncores: 1\nmatrix: {units: 64}\ngemv: {units: 0}\n", "small");
	of_family_is("family: other\ncores: 1\nmatrix: {units: 64}\ngemv: {units: 0}\n", NULL);
	of_family_is("cores: 1\nmatrix: {units: 64}\ngemv: {units: 0}\n", NULL);
	CHECK((was ? setenv("NPUSIM_DATA", keep, 1) : unsetenv("NPUSIM_DATA")) == 0);
}

SUITE(t_silicon, T(each_sample_counts_for_its_kind_and_for_its_part), T(rows_and_algorithms_have_names),
      T(the_nearest_device_is_the_one_least_apart));
