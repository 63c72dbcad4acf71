/* t_stock.c - a layer each of stock framework code, cut out of traces of an H200: nothing is opaque, and the GPU's model
 * takes about as long as was measured. */
#include "arch/gpu/gpu_work.h"
#include "arch/machine/machine_conf.h"
#include "arch/machine/machine_gpu.h"
#include "sim/lower/lower.h"
#include "traces/read/format.h"
#include "validate/tests/tracebed.h"

struct layer {
	struct bed b;
	struct rules *rules;
	struct op_stream s;
	struct lower_stats st;
};

static void open_layer(struct layer *l, const char *name)
{
	char path[512];

	memset(l, 0, sizeof *l);
	snprintf(path, sizeof path, "%s/validate/tests/data/kineto/%s.json.gz", test_root(), name);
	bed_open(&l->b, ":memory:", DB_WRITE);
	CHECK_OK(format_import(l->b.db, FORMAT_KINETO, path, NULL, NULL, &l->b.st, &l->b.e), l->b.e);
	bed_load(&l->b, "step_1");
	CHECK((l->rules = rules_load(NULL, &l->b.e)) != NULL);
	CHECK_OK(lower_trace(&l->b.t, l->rules, l->b.a, &l->s, &l->st, &l->b.e), l->b.e);
	CHECK_OK(lower_check(&l->s, &l->b.e), l->b.e);
}

static void close_layer(struct layer *l)
{
	rules_free(l->rules);
	bed_close(&l->b);
}

/* Of all launches on an H200, in steady state. */
static double simulated_us(struct layer *l)
{
	struct kernels *k = kernels_load(NULL, &l->b.e);
	struct machine_conf *conf;
	struct gpu_traffic *door;
	struct gpu_work w;
	struct gpu g;
	char path[512];
	ps_t sum = 0;

	CHECK(k != NULL);
	snprintf(path, sizeof path, "%s/configs/gpu/h200.yaml", test_root());
	CHECK((conf = machine_conf_load(path, NULL, 0, &l->b.e)) != NULL);
	CHECK_OK(gpu_work_make(&l->s, k, l->b.a, &w, &l->b.e), l->b.e);
	CHECK((door = gpu_traffic_new(&conf->cfg.mem, conf->cfg.clock, &l->b.e)) != NULL);
	CHECK_OK(gpu_work_run(&w, true, door, &l->b.e), l->b.e);
	g = machine_gpu(&conf->cfg);
	for (size_t i = 0; i < w.n; i++)
		sum += gpu_time(&g, &w.launches[i]).total;
	gpu_traffic_free(door);
	machine_conf_free(conf);
	kernels_free(k);
	return (double)sum / 1e6;
}

static void replays(const char *name, uint32_t grouped)
{
	struct layer l;
	uint32_t n = 0;
	double us, measured;

	open_layer(&l, name);
	CHECK_U64(l.st.opaque_ns, 0);
	for (size_t i = 0; i < l.s.n_ops; i++)
		n += strcmp(l.s.ops[i].family, "moe_gemm") == 0;
	CHECK_U64(n, grouped);
	us = simulated_us(&l);
	measured = (double)l.s.measured_ns / 1e3;
	if (us < measured * 0.94 || us > measured * 1.06)
		test_fail(__FILE__, __LINE__, "%s: %.1f us, measured %.1f", name, us, measured);
	close_layer(&l);
}

/* OLMoE: 64 experts, each of eight tokens picks eight. gpt-oss: 32, four; a sink beside the scores. */
TEST(a_layer_of_a_mixture_replays)
{
	replays("stock_olmoe_layer", 2);
	replays("stock_gpt_oss_layer", 2);
}

/* Phi-3.5: heads of 96, keys in the order of the fused projection. DeepSeek-V2: rotary products of complex numbers. */
TEST(a_layer_with_caches_that_grow_and_one_with_complex_products_replay)
{
	replays("stock_phi_layer", 0);
	replays("stock_deepseek_layer", 0);
}

SUITE(t_stock, T(a_layer_of_a_mixture_replays), T(a_layer_with_caches_that_grow_and_one_with_complex_products_replay));
