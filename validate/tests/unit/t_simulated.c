/* t_simulated.c - counters beside the model's: each profiled launch once, by name; bytes, errors, refusals. */
#include "sim/profile/simulated.h"

#include <math.h>
#include <stdlib.h>

#include "arch/gpu/gpu_geometry.h"
#include "arch/machine/machine_conf.h"
#include "arch/machine/machine_gpu.h"
#include "sim/lower/lower.h"
#include "traces/read/format.h"
#include "validate/tests/tracebed.h"

struct side {
	struct bed b;
	struct machine_conf *conf;
	struct kernels *k;
	struct rules *rules;
	struct counters *c;
	struct gpu_traffic *traffic;
	struct gpu_work w;
	struct gpu g;
	struct roof roof;
	struct simulated s;
};

static void import(struct side *x, const char *name, const char *text)
{
	char path[512];
	FILE *f = fopen(test_path(path, sizeof path, "%s", name), "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
	CHECK_OK(format_import(x->b.db, FORMAT_AUTO, path, NULL, NULL, &x->b.st, &x->b.e), x->b.e);
}

/* A table of ops as the program, a table of counters as its profile, on an H200. */
static int run(struct side *x, const char *ops, const char *counters)
{
	static struct op_stream s, here;
	struct lower_stats st;

	memset(x, 0, sizeof *x);
	bed_open(&x->b, ":memory:", DB_WRITE);
	import(x, "ops.csv", ops);
	if (counters)
		import(x, "counters.csv", counters);
	bed_load(&x->b, NULL);
	CHECK((x->conf = machine_conf_load("h200", NULL, 0, &x->b.e)) && (x->k = kernels_load(NULL, &x->b.e)));
	CHECK((x->rules = rules_load(NULL, &x->b.e)) && (x->c = counters_load(x->b.db, &x->b.e)));
	CHECK((x->traffic = gpu_traffic_new(&x->conf->cfg.mem, x->conf->cfg.clock, &x->b.e)));
	x->g = machine_gpu(&x->conf->cfg);
	roof_of(&x->conf->cfg, &x->roof);
	CHECK_OK(lower_trace(&x->b.t, x->rules, x->b.a, &s, &st, &x->b.e), x->b.e);
	CHECK_OK(gpu_geometry_work(&x->g, x->k, &s, x->b.a, &here, &x->w, &x->b.e), x->b.e);
	for (size_t i = 0; i < s.n_ops; i++) /* kernels that were laid out anew stand for the row's */
		here.launches[here.ops[i].first_launch].trace_id = s.launches[s.ops[i].first_launch].trace_id;
	CHECK_OK(gpu_work_run(&x->w, false, x->traffic, &x->b.e), x->b.e);
	return simulated_of(&x->b.t, counters ? x->c : NULL, &x->w, &x->g, &x->roof, x->rules, x->b.a, &x->s, &x->b.e);
}

static void done(struct side *x)
{
	counters_free(x->c);
	rules_free(x->rules);
	kernels_free(x->k);
	gpu_traffic_free(x->traffic);
	machine_conf_free(x->conf);
	bed_close(&x->b);
}

#define OPS \
	"op,name,m,n,k,dtype,measured_us\ngemm,up,64,8192,8192,bf16,40\ngemm,up,64,8192,8192,bf16,40\ngemm,down,64,8192,8192,bf16,40\n"

/* 8192 x 8192 weights of 2 bytes come from DRAM, and 64 rows of 8192. */
TEST(a_profiled_launch_counts_once_and_bytes_are_the_models)
{
	const double bytes = 2.0 * (8192.0 * 8192 + 64 * 8192);
	const struct simulated_sum *read;
	struct side x;

	CHECK_OK(run(&x, OPS, "kernel,dram_read_bytes,duration_us,l2_hit_rate_pct\nup,100000000,50,10\n"), x.b.e);
	CHECK_U64(x.s.profiled, 1);
	CHECK_U64(x.s.all.count, 1); /* the second 'up' would be given the same counters again */
	CHECK_U64(x.s.n, 1);
	CHECK_STR(x.s.v[0].name, "up");
	read = &x.s.all.m[SIM_READ];
	CHECK(fabs(read->simulated - bytes) < 0.01 * bytes);
	CHECK(fabs(simulated_error(read, SIM_READ) - (read->simulated / 1e6 - 100)) < 1e-9);
	CHECK(fabs(simulated_absolute(read) - fabs(simulated_error(read, SIM_READ))) < 1e-9);
	CHECK(x.s.all.m[SIM_US].n == 1 && x.s.all.m[SIM_US].simulated > 20 && x.s.all.m[SIM_US].simulated < 80);
	CHECK(x.s.all.m[SIM_HIT].simulated < 2);
	CHECK(fabs(simulated_error(&x.s.all.m[SIM_HIT], SIM_HIT) - (x.s.all.m[SIM_HIT].simulated - 10)) < 1e-9);
	CHECK(x.s.all.m[SIM_WRITTEN].n == 0 && isnan(simulated_error(&x.s.all.m[SIM_WRITTEN], SIM_WRITTEN)));
	done(&x);
}

TEST(few_bytes_have_no_error_in_percent)
{
	struct side x;

	CHECK_OK(run(&x, OPS, "kernel,dram_written_bytes\nup,128\n"), x.b.e);
	CHECK(x.s.all.m[SIM_WRITTEN].n == 1 && isnan(simulated_error(&x.s.all.m[SIM_WRITTEN], SIM_WRITTEN)));
	CHECK(isnan(simulated_absolute(&x.s.all.m[SIM_WRITTEN])));
	done(&x);
}

TEST(nothing_counted_or_nothing_joined_is_said)
{
	struct side x;

	CHECK(run(&x, OPS, NULL) == -1);
	CHECK_HAS(x.b.e.msg, "has no counters");
	done(&x);
	CHECK(run(&x, OPS, "kernel,dram_written_bytes\nother,128\n") == -1);
	CHECK_HAS(x.b.e.msg, "none of the kernels");
	done(&x);
}

SUITE(t_simulated, T(a_profiled_launch_counts_once_and_bytes_are_the_models), T(few_bytes_have_no_error_in_percent),
      T(nothing_counted_or_nothing_joined_is_said));
