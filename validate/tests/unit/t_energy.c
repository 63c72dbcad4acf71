/* Measured board energy: rows, what is counted of them, refusals; and a fit that finds the costs a table was made with. */
#include <stdio.h>

#include "arch/machine/machine_conf.h"
#include "arch/machine/machine_gpu.h"
#include "sim/accuracy/energy.h"
#include "sim/accuracy/fit_energy.h"
#include "validate/tests/test.h"

#define HEADER "kind,shape,watts,us,sm_mhz,work_ops,work_bytes\n"

struct bed {
	struct arena *a;
	struct machine_conf *conf;
	struct kernels *k;
	struct energy_cases set;
	struct err e;
};

static void bed_up(struct bed *b)
{
	char path[512];

	memset(b, 0, sizeof *b);
	snprintf(path, sizeof path, "%s/configs/gpu/h200.yaml", test_root());
	b->a = arena_new(0);
	b->conf = machine_conf_load(path, NULL, 0, &b->e);
	b->k = kernels_load(NULL, &b->e);
	CHECK_OK(b->conf && b->k ? 0 : -1, b->e);
}

static void bed_down(struct bed *b)
{
	kernels_free(b->k);
	machine_conf_free(b->conf);
	arena_free(b->a);
}

static int read_text(struct bed *b, const char *text)
{
	struct input *in = input_mem(text, strlen(text), "e.csv", &b->e);
	int rc = in ? energy_read(in, &b->conf->cfg, b->k, b->a, &b->set, &b->e) : -1;

	input_free(in);
	return rc;
}

TEST(a_row_is_counted_by_what_its_kind_does)
{
	const struct energy_case *c;
	struct bed b;

	bed_up(&b);
	CHECK_OK(read_text(&b, HEADER "idle,,120,,1980,,\n"
	                              "gemm_bf16,\"M=64,N=4096,K=4096\",500,20,1980,,\n"
	                              "gemm_bf16_zeros,\"M=64,N=4096,K=4096\",400,20,1980,,\n"
	                              "gemm_bf16_hot,\"M=64,N=4096,K=4096\",400,20,1500,,\n"
	                              "ew_fill_fp32,n=1048576,250,2,1980,,\n"
	                              "ffma,warps=8,280,100,1980,1000000,\n"
	                              "step_graph,\"model=x,batch=1,context=1\",300,100,1980,,\n"
	                              "collective,n=5,300,100,1980,,\n"),
	         b.e);
	CHECK_U64(b.set.n, 6);
	CHECK_U64(b.set.left_out, 2);
	c = &b.set.v[1];
	CHECK_U64(c->measured, UINT64_C(10000000000000)); /* 500 W, 20 us: 10 mJ */
	CHECK(c->work.n[GPU_EVENT_dram_read] >= 4096 * 4096 * 2);
	CHECK_U64(c->work.n[GPU_EVENT_mac_bf16], UINT64_C(64) * 4096 * 4096);
	CHECK(c->work.n[GPU_EVENT_mac] >= c->work.n[GPU_EVENT_mac_bf16]);
	/* Zeros move the same and toggle nothing. */
	CHECK_U64(b.set.v[2].work.n[GPU_EVENT_dram_read], c->work.n[GPU_EVENT_dram_read]);
	CHECK_U64(b.set.v[2].work.n[GPU_EVENT_mac_bf16] + b.set.v[2].work.n[GPU_EVENT_dram_live], 0);
	/* The same weights again come from the L2, all but what its sets have no room for. */
	CHECK(b.set.v[3].work.n[GPU_EVENT_dram_read] < 4096 * 4096 * 2 / 10);
	CHECK_U64(b.set.v[3].clock, 1500000);
	CHECK_U64(b.set.v[4].work.n[GPU_EVENT_dram_read], 0);
	CHECK_U64(b.set.v[4].work.n[GPU_EVENT_dram_write], 4 << 20);
	CHECK_U64(b.set.v[5].work.n[GPU_EVENT_instruction], 1000000);
	bed_down(&b);
}

TEST(a_step_waits_for_all_of_its_measured_time)
{
	struct energy_case *c;
	uint64_t first;
	struct gpu g;
	struct bed b;

	bed_up(&b);
	CHECK_OK(read_text(&b, HEADER "step_graph,\"model=qwen05b,batch=1,context=16\",180,2200,1980,,\n"), b.e);
	CHECK_U64(b.set.n, 1);
	c = &b.set.v[0];
	g = machine_gpu(&b.conf->cfg);
	CHECK(c->kernels > 300 && c->launches != NULL);
	energy_ask(c, &g);
	first = c->simulated;
	CHECK_U64(c->parts.part[GPU_WAIT_idle], gpu_energy_idle(&g, 2200 * PS_US));
	c->time *= 2; /* the host is late: nothing more is done */
	energy_ask(c, &g);
	CHECK_U64(c->simulated - first, gpu_energy_idle(&g, 4400 * PS_US) - gpu_energy_idle(&g, 2200 * PS_US));
	bed_down(&b);
}

static void refused(const char *text, const char *part)
{
	struct bed b;

	bed_up(&b);
	CHECK(read_text(&b, text) < 0);
	CHECK_HAS(b.e.msg, part);
	bed_down(&b);
}

TEST(mistakes_are_placed)
{
	refused("", "is empty");
	refused("kind,watts,us\n", "e.csv:1: no column 'shape'");
	refused("kind,shape,watts\n", "no column 'us'");
	refused(HEADER "gemm_bf16,\"M=1,N=2,K=3\",-5,1,,,\n", "e.csv:2: 'watts' is '-5', not a number from 0");
	refused(HEADER "gemm_bf16,\"M=1,N=2,K=3\",0,1,,,\n", "'watts' is no power");
	refused(HEADER "gemm_bf16,\"M=1,N=2,K=3\",5,,,,\n", "'us' is no time");
	refused(HEADER "gemm_bf16,\"M=1,N=2\",5,1,,,\n", "no 'K=' in the shape 'M=1,N=2'");
	refused(HEADER "gemm_bf16,\"M=1,N=2,K=x\",5,1,,,\n", "no whole number, or too large, in 'M=1,N=2,K=x'");
	refused(HEADER "gemm_bf16,\"M=1,N=2,K=99999999999\",5,1,,,\n", "or too large");
	refused(HEADER "gemm_int3,\"M=1,N=2,K=3\",5,1,,,\n", "no type that is known in the kind 'gemm_int3'");
	refused(HEADER "step_graph,model=llama1b,300,100,1980,,\n", "no 'batch=' or no 'context='");
	refused(HEADER "step_graph,\"model=llama8b,batch=4096,context=1000000\",300,100,1980,,\n",
	        "a step of 'llama8b'");
	refused(HEADER "ew_frob_bf16,n=5,5,1,,,\n", "no operator that is known");
}

/* --- the fit --------------------------------------------------------------------------------------------------------- */

static const char *const shapes[] = {
	"idle,",
	"ffma,warps=8",
	"gemm_bf16,\"M=1,N=8192,K=8192\"",
	"gemm_bf16,\"M=64,N=8192,K=4096\"",
	"gemm_bf16,\"M=512,N=8192,K=4096\"",
	"gemm_bf16,\"M=4096,N=4096,K=4096\"",
	"gemm_bf16_zeros,\"M=4096,N=4096,K=4096\"",
	"gemm_bf16_hot,\"M=64,N=2048,K=2048\"",
	"gemm_bf16_zeros,\"M=1,N=8192,K=8192\"",
	"gemm_fp8,\"M=512,N=4096,K=4096\"",
	"gemm_fp16,\"M=512,N=4096,K=4096\"",
	"gemm_fp32,\"M=512,N=1024,K=1024\"",
	"ew_fill_fp32,n=100000000",
	"ew_fill_fp32_hot,n=1000000",
	"ew_silu_bf16,n=1000000",
	"ew_exp_fp32,n=100000000",
	"ew_add_bf16_hot,n=1000000",
	"read,mib=16",
	"read,mib=4096",
	"row_sum,\"rows=4096,cols=4096\"",
	"spin_one_warp_an_sm,",
	"smem,warps=8",
	"sfu,warps=8",
	"attention,\"b=4,h=8,hk=8,lq=2048,lk=2048,d=128\"",
	"gemm_bf16_zeros,\"M=64,N=8192,K=4096\"",
	"ew_copy_fp32,n=3000000",
};
#define SHAPES (sizeof shapes / sizeof *shapes)

/* Each case of the table in two lengths, at the power that the model gives it. */
static void made_table(struct bed *b, struct str *out)
{
	const struct gpu g = machine_gpu(&b->conf->cfg);
	struct str text = STR_INIT;

	str_add(&text, HEADER);
	for (size_t i = 0; i < 2 * SHAPES; i++)
		str_addf(&text, "%s,100,%d,1980,%s,%s\n", shapes[i / 2], i % 2 ? 300 : 100,
		         strncmp(shapes[i / 2], "ffma", 4) == 0 || strncmp(shapes[i / 2], "sfu", 3) == 0 ? "500000000"
		                                                                                         : "",
		         strncmp(shapes[i / 2], "smem", 4) == 0   ? "2000000000"
		         : strncmp(shapes[i / 2], "read", 4) == 0 ? "400000000"
		                                                  : "");
	CHECK_OK(read_text(b, str_c(&text)), b->e);
	str_add(out, HEADER);
	for (size_t i = 0; i < b->set.n; i++) {
		struct energy_case *c = &b->set.v[i];
		const bool idle = !strncmp(c->name, "idle", 4);

		energy_ask(c, &g);
		str_addf(out, "%s,%.6f,%s,1980,%s,%s\n", shapes[i / 2], (double)c->simulated / (double)c->time / 1e3,
		         idle    ? ""
		         : i % 2 ? "300"
		                 : "100",
		         strncmp(shapes[i / 2], "ffma", 4) == 0 || strncmp(shapes[i / 2], "sfu", 3) == 0 ? "500000000"
		                                                                                         : "",
		         strncmp(shapes[i / 2], "smem", 4) == 0   ? "2000000000"
		         : strncmp(shapes[i / 2], "read", 4) == 0 ? "400000000"
		                                                  : "");
	}
	str_free(&text);
}

TEST(a_fit_finds_the_costs_a_table_was_made_with)
{
	struct gpu_power_cfg truth;
	struct fit_energy f;
	struct str text = STR_INIT;
	struct bed b;

	bed_up(&b);
	truth = b.conf->cfg.gpu.power;
	made_table(&b, &text);
	CHECK_OK(read_text(&b, str_c(&text)), b.e);
	CHECK_OK(fit_energy_run(b.conf, &b.set, 1, 0, b.a, &f, &b.e), b.e);
	CHECK_U64(f.idle.value, truth.idle);
	for (int i = 0; i < GPU_EVENTS; i++) {
		const double want = (double)truth.cost[i], got = (double)f.cost[GPU_WAITS - 1 + i].value;

		if (got < 0.98 * want || got > 1.02 * want)
			test_fail(__FILE__, __LINE__, "%s: %g, not %g", gpu_energy_rows[GPU_WAITS + i].name, got, want);
	}
	for (size_t i = 0; i < b.set.n; i++) {
		const double off =
			((double)b.set.v[i].simulated - (double)b.set.v[i].measured) / (double)b.set.v[i].measured;

		CHECK(off < 0.001 && off > -0.001);
	}
	str_free(&text);
	bed_down(&b);
}

TEST(without_an_idle_row_or_a_given_idle_there_is_no_fit)
{
	struct fit_energy f;
	struct bed b;

	bed_up(&b);
	b.conf->cfg.gpu.power.idle = b.conf->cfg.gpu.power.idle_low = 0;
	CHECK_OK(read_text(&b, HEADER "gemm_bf16,\"M=1,N=2048,K=2048\",200,5,1980,,\n"), b.e);
	CHECK(fit_energy_run(b.conf, &b.set, 1, 0, b.a, &f, &b.e) < 0);
	CHECK_HAS(b.e.msg, "no row 'idle'");
	bed_down(&b);
}

SUITE(t_energy, T(a_row_is_counted_by_what_its_kind_does), T(a_step_waits_for_all_of_its_measured_time),
      T(mistakes_are_placed), SLOW(a_fit_finds_the_costs_a_table_was_made_with),
      T(without_an_idle_row_or_a_given_idle_there_is_no_fit));
