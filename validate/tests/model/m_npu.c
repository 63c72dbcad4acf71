/* m_npu.c - products on NPUs: what they may depend on, and what they must take by arithmetic that stands here. */
#include "sim/engine/run.h"
#include "validate/tests/synth.h"
#include "validate/tests/test.h"

struct bed {
	struct arena *a;
	struct err e;
};

/* One product on a shipped machine or on one written out, from cold; `set`: up to three assignments, "a=1;b=2". */
static struct run_result product(struct bed *b, const char *machine, const char *set, uint64_t m, uint64_t n,
                                 uint64_t k)
{
	const struct run_opts o = { .start = RUN_COLD, .seed = 1 };
	struct machine_conf *c;
	struct run_result x;
	const char *sets[3];
	char path[4096], text[128] = "";
	int n_sets = 0;

	snprintf(path, sizeof path, "%s/configs/npu/%s.yaml", test_root(), machine);
	snprintf(text, sizeof text, "%s", set ? set : "");
	for (char *s = text; *s && n_sets < 3; s = strchr(s, '\0') + 1) {
		s[strcspn(s, ";")] = '\0';
		sets[n_sets++] = s;
	}
	c = strchr(machine, ':') ? machine_conf_parse(machine, strlen(machine), "m", sets, n_sets, &b->e)
	                         : machine_conf_load(path, sets, n_sets, &b->e);
	CHECK_OK(c ? 0 : -1, b->e);
	CHECK_OK(run_stream(synth_product(b->a, m, n, k), c, &o, b->a, &x, &b->e), b->e);
	machine_conf_free(c);
	return x;
}

static ps_t takes(const char *machine, const char *set, uint64_t m, uint64_t n, uint64_t k)
{
	struct bed b = { .a = arena_new(0), .e = ERR_INIT };
	const ps_t t = product(&b, machine, set, m, n, k).total_ps;

	arena_free(b.a);
	return t;
}

static uint64_t apart_ppm(ps_t a, ps_t b)
{
	return (a > b ? a - b : b - a) * 1000000 / a;
}

TEST(a_unit_that_a_product_does_not_use_changes_nothing)
{
	static const uint64_t rows[] = { 64, 256, 512, 2048, 8192 };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const ps_t with = takes("dsocr", NULL, rows[i], 4096, 1280);

		CHECK(apart_ppm(with, takes("dsocr", "gemv.units=0", rows[i], 4096, 1280)) <= 5000);
		CHECK(apart_ppm(with, takes("dsocr", "gemv.units=16", rows[i], 4096, 1280)) <= 5000);
	}
	CHECK(apart_ppm(takes("dsocr", NULL, 1, 4096, 1280), takes("dsocr", "matrix.units=0", 1, 4096, 1280)) <= 5000);
}

#define ONE_ARRAY \
	"cores: 1\nclock: 1 GHz\ndispatch: {latency: 1 ns, interval: 1 ns, launch: 0 ns}\n" \
	"dma: {engines: 4, width: 256 B, stages: 16, outstanding: 64, setup: 10 ns}\n" \
	"sram: {size: 16 MiB, banks: 64, bank_width: 64 B}\ngemv: {units: 0}\nl2: {size: 0 B}\n" \
	"kv_buffer: {size: 0 B}\nfusion: {enabled: false}\n" \
	"dram: {kind: hbm3-6400, bandwidth: 614.4 GB/s, channels: 16}\n"

TEST(arrays_of_equal_macs_take_about_as_long)
{
	const ps_t square = takes(ONE_ARRAY "matrix: {units: 1, rows: 128, cols: 128}\n", NULL, 512, 4096, 4096);
	static const char *const others[] = { ONE_ARRAY "matrix: {units: 1, rows: 32, cols: 512}\n",
		                              ONE_ARRAY "matrix: {units: 1, rows: 16, cols: 1024}\n",
		                              ONE_ARRAY "matrix: {units: 1, rows: 8, cols: 2048}\n" };

	CHECK(square >= UINT64_C(512) * 4096 * 4096 / (128 * 128) * 1000);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		CHECK(takes(others[i], NULL, 512, 4096, 4096) * 2 <= square * 5);
}

/* 64 cores x a 64 x 64 array x 1.4 GHz: 23.4 us of MACs. */
TEST(a_product_of_many_rows_is_near_its_macs)
{
	const ps_t macs = UINT64_C(512) * 8192 * 2048 * 1000 / (64 * 64 * 64) * 10 / 14;

	CHECK(takes("dsocr", NULL, 512, 8192, 2048) * 10 <= macs * 14);
}

TEST(narrow_weights_are_no_faster_where_activations_are_wide_and_math_is_the_bound)
{
	const ps_t wide = takes("dsocr", "dma.width=256 B;sram.size=1 MiB", 2048, 4096, 4096);

	CHECK(wide * 100 <=
	      takes("dsocr", "dma.width=256 B;sram.size=1 MiB;weights.dtype=int4", 2048, 4096, 4096) * 105);
	CHECK(takes("dsocr", "weights.dtype=int4", 1, 4096, 4096) * 2 < takes("dsocr", NULL, 1, 4096, 4096));
}

/* A vector times a matrix on a systolic array: what is held is taken in a row a cycle, and one row streams past. With two
 * buffers that is k rows for each block of columns, whatever the array's height; then the last fold's r rows, and c more,
 * until the last sum is out. With one buffer a fold takes 2 r + c + 1 - 2 (ISPASS 2020), so a higher array has fewer of
 * the long waits. Memory is ten times as fast as that; a little is waited for at both ends. */
TEST(a_vector_takes_what_the_arrays_shape_says)
{
	static const struct {
		const char *one, *two;
		uint64_t rows;
	} shapes[] = {
#define SHAPE(r) \
	{ ONE_ARRAY "matrix: {rows: " #r ", cols: 128, weight_buffers: 1}\n", \
	  ONE_ARRAY "matrix: {rows: " #r ", cols: 128, weight_buffers: 2}\n", r }
		SHAPE(32),
		SHAPE(128),
		SHAPE(512),
	};
	const uint64_t n = 2048, k = 2048, cols = 128;
	ps_t before = PS_NEVER;

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		const uint64_t r = shapes[i].rows, folds = k / r * (n / cols);
		const ps_t one = takes(shapes[i].one, "dram.bandwidth=6144 GB/s", 1, n, k),
			   two = takes(shapes[i].two, "dram.bandwidth=6144 GB/s", 1, n, k),
			   must_one = folds * (2 * r + cols - 1) * 1000, must_two = (n / cols * k + r + cols) * 1000;

		CHECK(one >= must_one - folds * 1000 &&
		      one <= must_one + must_one / 20); /* tiles may overlap by a cycle */
		CHECK(two >= n / cols * k * 1000 && two <= must_two + must_two / 20);
		CHECK(one > two && one < before);
		before = one;
	}
}

/* What three other simulators of NPUs say of a 128 x 128 array: workloads/ops/peers-gemm.csv; and two products that tile
 * badly, by folds of 128 cycles and the array's fill. */
TEST(products_take_what_other_simulators_say)
{
	static const struct {
		uint64_t m, n, k, ns;
	} peers[] = { { 16, 4096, 4096, 132510 },
		      { 128, 4096, 4096, 134049 },
		      { 512, 4096, 4096, 527265 },
		      { 2048, 4096, 4096, 2100129 },
		      { 16, 896, 1280, 7 * 10 * 128 + 256 },
		      { 128, 1280, 1280, 10 * 10 * 128 + 256 } }; /* the last 5.7 %: its best tiles are pruned */

	for (size_t i = 0; i < sizeof peers / sizeof *peers; i++)
		CHECK(apart_ppm(peers[i].ns * 1000, takes("array-128", NULL, peers[i].m, peers[i].n, peers[i].k)) <=
		      30000);
}

SUITE(m_npu, SLOW(a_unit_that_a_product_does_not_use_changes_nothing), T(arrays_of_equal_macs_take_about_as_long),
      T(a_product_of_many_rows_is_near_its_macs),
      T(narrow_weights_are_no_faster_where_activations_are_wide_and_math_is_the_bound),
      T(a_vector_takes_what_the_arrays_shape_says), T(products_take_what_other_simulators_say));
