/* Laws of levels, on the shipped machines: what holds of a time whatever the model's constants are. A batch costs no more than so
 * many of one; the same bytes cost about the same however many results they are reduced to; no operation needs a resource for
 * longer than the whole run is bound by. Each found answers that were wrong by a factor and looked like any other. */
#include "arch/machine/machine_shipped.h"
#include "sim/accuracy/rows.h"
#include "validate/tests/runbed.h"
#include "validate/tests/test.h"
#include "workloads/listed.h"

#include <inttypes.h>
#include <stdlib.h>

/* Of operands on chip: a transfer less changes when DRAM turns between reads and writes, and which of two tiles that are ranked
 * alike is taken. Of some 28,000 comparisons 29 were slower by more than half a percent, the worst by 5.6 %. */
#define ON_CHIP_PPM   5000
#define ON_CHIP_WORST 70000
#define SPARE_PPM     100000 /* of a batch: the results of one stay on chip at the end, those of many are written back */

/* Time of a table of ops on a configuration; 0: the machine cannot do it. */
static ps_t takes(const char *config, const char *table, struct run_result *x, struct runbed *b)
{
	const struct run_opts o = { .start = RUN_COLD, .seed = 1, .fidelity = RUN_ANALYTIC };

	runbed_table(b, table);
	return runbed_run(b, config, NULL, 0, &o, x) ? x->total_ps : 0;
}

static ps_t time_of(const char *config, const char *table)
{
	struct runbed b;
	struct run_result x;
	const ps_t t = takes(config, table, &x, &b);

	runbed_down(&b);
	return t;
}

static const char *const batched[] = {
	"op,batch,m,n,k\ngemm,%u,128,1536,2048\n",
	"op,batch,m,n,k\ngemm,%u,7,640,512\n",
	"op,batch,m,n,k\ngemm,%u,1,2048,2048\n",
	"op,batch,heads,kv_heads,q_len,kv_len,head_dim,causal\nattention,%u,8,8,256,256,64,1\n",
	"op,batch,heads,kv_heads,q_len,kv_len,head_dim,causal\nattention,%u,16,2,1,1024,128,0\n",
};

TEST(a_batch_costs_no_more_than_so_many_of_one_on_any_npu)
{
	const int some = test_rounds(3, 8, 64);
	struct arena *a = arena_new(0);
	const char **path;
	size_t n;
	struct err e = ERR_INIT;
	int against = 0;

	CHECK_OK(machine_shipped_npus(a, &path, &n, &e), e);
	for (size_t i = test_seed() % n, k = 0; k < n && k < (size_t)some; i = (i + 1) % n, k++)
		for (size_t t = 0; t < sizeof batched / sizeof *batched; t++) {
			char text[200];
			ps_t one, all;

			snprintf(text, sizeof text, batched[t], 1U);
			one = time_of(path[i] + strlen(test_root()) + 1, text);
			for (unsigned b = 16; one && b <= 128; b *= 8) {
				snprintf(text, sizeof text, batched[t], b);
				all = time_of(path[i] + strlen(test_root()) + 1, text);
				if (all > b * one + b * one * SPARE_PPM / 1000000 && ++against)
					printf("%s: %ux %.6g us for %.6g of one\n%s", path[i], b, (double)all / 1e6,
					       (double)one / 1e6, text);
			}
		}
	arena_free(a);
	CHECK(!against);
}

static const char *const gpus[] = { "configs/gpu/h200.yaml", "configs/gpu/h100.yaml", "configs/gpu/a100.yaml",
	                            "configs/gpu/rtx5090.yaml", "configs/gpu/l4.yaml" };
#define GPUS (sizeof gpus / sizeof *gpus)

TEST(the_same_bytes_take_about_as_long_to_however_many_results_they_are_reduced)
{
	static const uint64_t results[] = { 1, 8, 128, 65536 };
	int against = 0;

	for (size_t i = 0; i < GPUS; i++)
		for (uint64_t all = UINT64_C(1) << 24; all <= UINT64_C(1) << 28; all <<= 4) {
			ps_t least = UINT64_MAX, most = 0;

			for (size_t k = 0; k < 4; k++) {
				char text[120];
				ps_t t;

				snprintf(text, sizeof text,
				         "op,rows,cols,dtype\nreduce:sum,%" PRIu64 ",%" PRIu64 ",bf16\n", results[k],
				         all / results[k]);
				t = time_of(gpus[i], text);
				CHECK(t);
				least = ps_min(least, t);
				most = ps_max(most, t);
			}
			if (most > 2 * least && ++against)
				printf("%s: %" PRIu64 " values take %.6g to %.6g us\n", gpus[i], all,
				       (double)least / 1e6, (double)most / 1e6);
		}
	CHECK(!against);
}

/* --- a KV buffer that holds a part -------------------------------------------------------------------------------- */

#define KV_CUT_PPM 50000

/* Of an attention on a machine whose buffer is faster than its DRAM: the part that it holds comes first, then the rest. */
TEST(where_a_kv_buffer_holds_a_part_the_closed_form_is_near_events)
{
	static const char *const sizes[] = { "kv_buffer.size=3 MiB", "kv_buffer.size=8 MiB", "kv_buffer.size=16 MiB",
		                             "kv_buffer.size=24 MiB", "kv_buffer.size=32 MiB" };
	static const char *const tables[] = {
		"op,batch,heads,kv_heads,q_len,kv_len,head_dim\nattention,1,32,8,1,8192,128\n",
		"op,batch,heads,kv_heads,q_len,kv_len,head_dim\nattention,4,32,8,1,2048,128\n",
		"op,batch,heads,kv_heads,q_len,kv_len,head_dim\nattention,8,8,1,1,4096,64\n",
	};

	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
			const char *const sets[] = { sizes[i], "kv_buffer.bandwidth=200 GB/s" };
			ps_t took[2];

			for (int f = 0; f < 2; f++) {
				const struct run_opts o = { .seed = 1, .fidelity = f ? RUN_ANALYTIC : RUN_EVENT };
				struct runbed b;
				struct run_result x;

				runbed_table(&b, tables[t]);
				CHECK(runbed_run(&b, "configs/npu/edge.yaml", sets, 2, &o, &x));
				took[f] = x.total_ps;
				runbed_down(&b);
			}
			if (ps_max(took[0], took[1]) - ps_min(took[0], took[1]) > took[0] / 1000000 * KV_CUT_PPM)
				test_fail(__FILE__, __LINE__, "%s: %.6g us by events, %.6g in closed form\n%s",
				          sizes[i], (double)took[0] / 1e6, (double)took[1] / 1e6, tables[t]);
		}
}

/* --- operands on chip --------------------------------------------------------------------------------------------- */

/* Sizes of a random op of a kind: some tens of values to some millions. */
static void on_chip_sizes(struct rng *r, size_t kind, char text[200], size_t n)
{
	const uint32_t a = 1u << rng_below(r, 12), b = 32u << rng_below(r, 8), c = 32u << rng_below(r, 8);

	if (kind == 0)
		snprintf(text, n, "gemm,%u,%u,%u,,,,,,,,", a, b, c);
	else if (kind == 1)
		snprintf(text, n, "attention,,,,8,%u,%u,%u,64,%d,,", rng_below(r, 2) ? 8u : 2u,
		         rng_below(r, 2) ? 1u : b, b, (int)rng_below(r, 2));
	else
		snprintf(text, n, "%s,,,,,,,,,,%u,%u",
		         ((const char *const[]){ "softmax", "norm:rms_norm", "elementwise:add", "elementwise:silu",
		                                 "reduce:sum", "copy", "convert:fp32", "gather", "sort",
		                                 "rope" })[kind - 2],
		         a, b);
}

#define ON_CHIP_KINDS 12
#define ON_CHIP_HEAD  "op,m,n,k,heads,kv_heads,q_len,kv_len,head_dim,causal,rows,cols,resident\n"
static const char *const on_chip[1 << LISTED_PLACES] = { "",    "in",     "weights",     "in+weights",
	                                                 "out", "in+out", "weights+out", "in+weights+out" };

/* What a row of a DRAM costs that another operand would have opened. */
static ps_t on_chip_row(const struct machine_cfg *c)
{
	return dram_is_fixed(&c->mem.dram) ? 0 : dram_timing(&c->mem.dram).t_rc;
}

struct on_chip_tally {
	size_t asked, slower, wrong;
};

/* What lies on chip, a bit a place: never slower than with nothing there; and where all fits, than with less there. */
static void on_chip_orders(const char *config, const struct machine_cfg *c, const char *op, enum run_fidelity f,
                           struct on_chip_tally *sum)
{
	const unsigned all = (1 << LISTED_PLACES) - 1;
	ps_t took[1 << LISTED_PLACES];

	for (unsigned i = 0; i < 1 << LISTED_PLACES; i++) {
		const struct run_opts o = { .start = i ? RUN_RESIDENT : RUN_COLD, .seed = 1, .fidelity = f };
		uint64_t bytes = 0;
		char table[400];
		struct runbed b;
		struct run_result x;

		snprintf(table, sizeof table, ON_CHIP_HEAD "%s,%s\n", op, on_chip[i]);
		runbed_table(&b, table);
		took[i] = runbed_run(&b, config, NULL, 0, &o, &x) ? x.total_ps : 0;
		for (size_t t = 0; t < b.s->n_tensors; t++)
			bytes += b.s->tensors[t].bytes;
		runbed_down(&b);
		for (unsigned bit = 1; bit <= i; bit <<= 1) {
			const unsigned less = bytes * 2 > sram_size(&c->sram) * c->cores ? 0 : i & ~bit;
			const ps_t most = took[less] + took[less] / 1000000 * ON_CHIP_PPM + on_chip_row(c);

			sum->asked += (i & bit) > 0;
			if (!(i & bit) || took[i] <= most)
				continue;
			sum->slower++;
			sum->wrong +=
				took[i] > took[less] + took[less] / 1000000 * ON_CHIP_WORST || (i == all && !less);
			printf("%s, %s: %s takes %.6g us with '%s' on chip, %.6g with '%s'\n", config,
			       f == RUN_EVENT ? "event" : "analytic", op, (double)took[i] / 1e6, on_chip[i],
			       (double)took[less] / 1e6, on_chip[less]);
		}
	}
}

TEST(the_more_operands_are_on_chip_the_less_an_op_takes)
{
	const int some = test_rounds(3, 8, 64);
	struct arena *a = arena_new(0);
	const char **path;
	size_t n;
	struct err e = ERR_INIT;
	struct on_chip_tally sum = { 0 };
	struct rng r;

	rng_seed(&r, test_seed(), "levels on chip");
	CHECK_OK(machine_shipped_npus(a, &path, &n, &e), e);
	for (size_t i = test_seed() % n, k = 0; k < n && k < (size_t)some; i = (i + 1) % n, k++) {
		const char *config = path[i] + strlen(test_root()) + 1;
		struct machine_conf *c = machine_conf_load(path[i], NULL, 0, &e);

		CHECK_OK(c ? 0 : -1, e);
		for (size_t kind = 0; kind < ON_CHIP_KINDS; kind++) {
			const enum run_fidelity f = (kind + test_seed()) % 2 ? RUN_ANALYTIC : RUN_EVENT;
			char op[200];

			on_chip_sizes(&r, kind, op, sizeof op);
			on_chip_orders(config, &c->cfg, op, f, &sum);
		}
		machine_conf_free(c);
	}
	arena_free(a);
	CHECK_U64(sum.wrong, 0);
	CHECK(test_share(sum.slower, sum.asked, 5));
}

/* --- peaks -------------------------------------------------------------------------------------------------------- */

/* How often a product may need its fullest resource for the time that is necessary: tiles read operands again and fill arrays
 * partly, and an attention's scores pass between units. Of some thousand ops on all NPUs 6.2 and 8.4 are the most; a batch that was
 * mapped as the square of itself was 10.8. A softmax on few lanes is in no roofline. */
#define ROUNDING_PS    1000
#define PEAK_GEMM      8
#define PEAK_ATTENTION 10
#define PEAK_SHORT     (2 * PS_US)
#define PEAK_HEAD      "op,dtype,batch,m,n,k,heads,kv_heads,q_len,kv_len,head_dim,causal,rows,cols\n"
static const char *const peak_kinds[] = { "softmax",    "norm:rms_norm", "elementwise:add", "elementwise:silu",
	                                  "reduce:sum", "copy",          "convert:fp32",    "gather",
	                                  "sort",       "rope" };
#define PEAK_KINDS (2 + sizeof peak_kinds / sizeof *peak_kinds)

/* Sizes of a random op of a kind, without those that a table has no kernel of on a GPU. */
static void peak_sizes(struct rng *r, size_t kind, char *text, size_t n)
{
	static const char *const types[] = { "bf16", "fp16", "fp8", "int8", "fp32" };
	const char *dtype = types[rng_below(r, kind ? 2 : 5)];
	const uint32_t a = 1u << rng_below(r, 13), b = 24u << rng_below(r, 9), c = 24u << rng_below(r, 9),
		       batch = rng_below(r, 3) ? 1 : 1u << rng_below(r, 7);

	if (kind == 0)
		snprintf(text, n, "gemm,%s,%u,%u,%u,%u,,,,,,,,", dtype, batch, a, b, c);
	else if (kind == 1)
		snprintf(text, n, "attention,%s,%u,,,,8,%u,%u,%u,%u,%d,,", dtype, batch, rng_below(r, 2) ? 8u : 2u,
		         rng_below(r, 2) ? 1u : b, b, rng_below(r, 2) ? 64 : 128, (int)rng_below(r, 2));
	else
		snprintf(text, n, "%s,%s,,,,,,,,,,,%u,%u", peak_kinds[kind - 2], dtype, a, b);
}

/* No op beats its machine's multipliers, no run its roofline, and no resource works for a product many times as long as is
 * necessary: of a GPU a launch that fills few SMs does. */
static void check_peaks(const char *config, bool gpu, const char *op, const struct run_result *x, size_t *wrong)
{
	for (size_t i = 0; i < x->stream->n_ops; i++) {
		const struct op *o = &x->stream->ops[i];
		const struct run_op *y = &x->ops[i];
		const uint64_t times = o->kind == OP_GEMM ? PEAK_GEMM : PEAK_ATTENTION;
		const bool many = !gpu && op_is_product(o->kind) && y->bound != RES_VECTOR &&
		                  y->limit_ps > times * x->roofline_ps + PEAK_SHORT;

		if (y->carried || (y->macs_ps <= y->span_ps + ROUNDING_PS && y->limit_ps <= y->span_ps && !many))
			continue;
		++*wrong;
		printf("%s, %s: %.6g us, %.6g at the peak of its units, limit %.6g (%s), roofline of the run %.6g\n",
		       config, op ? op : o->name, (double)y->span_ps / 1e6, (double)y->macs_ps / 1e6,
		       (double)y->limit_ps / 1e6, res_name(y->bound), (double)x->roofline_ps / 1e6);
	}
	*wrong += x->roofline_ps > x->total_ps + ROUNDING_PS;
}

static void check_peak(const char *config, bool gpu, const char *op, enum run_fidelity f, size_t *wrong)
{
	const struct run_opts o = { .start = RUN_COLD, .seed = 1, .fidelity = f };
	struct machine_conf *c = NULL;
	struct err e = ERR_INIT;
	char text[512];
	struct runbed b;
	struct run_result x;

	snprintf(text, sizeof text, PEAK_HEAD "%s\n", op);
	runbed_table(&b, text);
	snprintf(text, sizeof text, "%s/%s", test_root(), config);
	CHECK_OK((c = machine_conf_load(text, NULL, 0, &e)) ? 0 : -1, e);
	/* A GPU's libraries have no kernel of some: those are refused. */
	if ((!gpu || rows_have_kernels(b.s, c, &e) == 0) && runbed_run(&b, config, NULL, 0, &o, &x))
		check_peaks(config, gpu, op, &x, wrong);
	err_clear(&e);
	machine_conf_free(c);
	runbed_down(&b);
}

TEST(no_operation_beats_its_machines_peak)
{
	const int some = test_rounds(4, 12, 64);
	struct arena *a = arena_new(0);
	const char **npus;
	size_t n, wrong = 0;
	struct err e = ERR_INIT;
	struct rng r;

	rng_seed(&r, test_seed(), "peaks");
	CHECK_OK(machine_shipped_npus(a, &npus, &n, &e), e);
	for (size_t k = 0; k < GPUS + ps_min(n, (size_t)some); k++) {
		const char *config = k < GPUS ? gpus[k] : npus[(test_seed() + k) % n] + strlen(test_root()) + 1;

		for (size_t kind = 0; kind < PEAK_KINDS; kind++) {
			char op[200];

			peak_sizes(&r, kind, op, sizeof op);
			check_peak(config, k < GPUS, op,
			           k >= GPUS && (kind + test_seed()) % 4 ? RUN_ANALYTIC : RUN_EVENT, &wrong);
		}
	}
	arena_free(a);
	CHECK_U64(wrong, 0);
}

/* Kinds that no table has, such as convolutions, and kernels as they were launched. */
TEST(no_launch_of_a_traced_step_beats_its_cards_peak)
{
	static const char *const traces[] = { "kineto_llama1b_b1_c256", "kineto_unet_convolutions",
		                              "operators/train2_0120",  "operators/own_fp32",
		                              "operators/own_prefill",  "operators/train_0360" };
	const int some = test_rounds(2, 4, 64);
	size_t wrong = 0;

	for (size_t i = 0; i < sizeof traces / sizeof *traces && i < (size_t)some; i++) {
		const struct run_opts o = { .start = RUN_COLD, .seed = 1 };
		struct runbed b;
		struct run_result x;

		runbed_traced(&b, traces[i], NULL);
		CHECK(runbed_run(&b, "configs/gpu/h200.yaml", NULL, 0, &o, &x));
		check_peaks("h200", true, NULL, &x, &wrong);
		runbed_down(&b);
	}
	CHECK_U64(wrong, 0);
}

SUITE(p_level, T(a_batch_costs_no_more_than_so_many_of_one_on_any_npu),
      T(the_same_bytes_take_about_as_long_to_however_many_results_they_are_reduced),
      T(where_a_kv_buffer_holds_a_part_the_closed_form_is_near_events), T(no_operation_beats_its_machines_peak),
      T(no_launch_of_a_traced_step_beats_its_cards_peak), T(the_more_operands_are_on_chip_the_less_an_op_takes));
