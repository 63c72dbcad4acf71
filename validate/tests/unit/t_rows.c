/* t_rows.c - rows of tables of ops held against an engine: each alone, by the clock of a machine where it can be counted. */
#include "sim/accuracy/rows.h"

#include "sim/accuracy/score.h"
#include "sim/engine/run.h"
#include "sim/lower/lower.h"
#include "traces/read/ops_csv.h"
#include "validate/tests/tracebed.h"

struct table {
	struct bed b;
	struct rules *r;
	struct op_stream s;
	struct machine_conf *conf;
	struct rows rows;
};

static void up(struct table *t, const char *text, const char *config)
{
	struct lower_stats st;
	struct input *in;
	char path[4096];

	bed_open(&t->b, ":memory:", DB_WRITE);
	in = input_mem(text, strlen(text), "ops.csv", &t->b.e);
	CHECK_OK(ops_csv_import(t->b.db, in, NULL, NULL, &t->b.st, &t->b.e), t->b.e);
	input_free(in);
	bed_load(&t->b, NULL);
	snprintf(path, sizeof path, "%s/configs/rules/pytorch-cuda.yaml", test_root());
	t->r = rules_load(path, &t->b.e);
	CHECK_OK(lower_trace(&t->b.t, t->r, t->b.a, &t->s, &st, &t->b.e), t->b.e);
	snprintf(path, sizeof path, "%s/%s", test_root(), config);
	t->conf = machine_conf_load(path, NULL, 0, &t->b.e);
	CHECK_OK(t->conf ? 0 : -1, t->b.e);
	CHECK_OK(rows_new(&t->rows, t->s.n_ops, t->b.a, &t->b.e), t->b.e);
}

static void add(struct table *t, enum run_start start, enum run_fidelity f, enum sample_split split)
{
	const struct run_opts how = { .start = start, .fidelity = f, .seed = 1 };

	CHECK_OK(rows_add(&t->rows, &t->s, t->conf, &how, split, t->b.a, &t->b.e), t->b.e);
}

static void down(struct table *t)
{
	machine_conf_free(t->conf);
	rules_free(t->r);
	bed_close(&t->b);
}

#define DSOCR "configs/npu/dsocr.yaml"
#define H200  "configs/gpu/h200.yaml"

static const char products[] = "op,name,m,n,k,measured_us\n"
			       "gemm,a,1,1024,1024,5\n"
			       "gemm,b,1,4096,4096,9\n"
			       "gemm,unmeasured,1,1024,1024,\n"
			       "gemm,c,64,1024,1024,5\n"
			       "gemm,d,65,1024,1024,5\n"
			       "gemm,e,512,1024,1024,5\n"
			       "gemm,f,513,1024,1024,5\n"
			       "gemm,again,1,1024,1024,6\n";

/* What stands before and behind a row is nothing to it: the same row twice has one time. */
TEST(a_row_is_alone_in_every_engine)
{
	for (int f = 0; f < 2; f++)
		for (int gpu = 0; gpu < 2; gpu++) {
			struct table t;

			up(&t, products, gpu ? H200 : DSOCR);
			add(&t, RUN_COLD, f ? RUN_ANALYTIC : RUN_EVENT, SAMPLE_ALL);
			CHECK(t.rows.sim.all.n == 7 && t.rows.unmeasured == 1);
			CHECK_U64(t.rows.sim.all.v[6].time.total, t.rows.sim.all.v[0].time.total);
			CHECK(t.rows.sim.all.v[1].time.total > t.rows.sim.all.v[0].time.total);
			for (size_t i = 0; i < t.rows.sim.all.n; i++)
				CHECK(t.rows.roof.all.v[i].time.total <= t.rows.sim.all.v[i].time.total);
			down(&t);
		}
}

/* A table of one row is that row's run. */
TEST(a_row_alone_takes_what_a_run_of_it_takes)
{
	const struct run_opts how = { .start = RUN_COLD, .seed = 1 };
	struct run_result x;
	struct table t;

	up(&t, "op,m,n,k,measured_us\ngemm,1,4096,4096,9\n", DSOCR);
	add(&t, RUN_COLD, RUN_EVENT, SAMPLE_ALL);
	CHECK_OK(run_stream(&t.s, t.conf, &how, t.b.a, &x, &t.b.e), t.b.e);
	CHECK_U64(t.rows.sim.all.v[0].time.total, x.total_ps);
	CHECK_U64(t.rows.roof.all.v[0].time.total, x.roofline_ps);
	CHECK(x.total_ps > 0 && x.roofline_ps > 0);
	down(&t);
}

TEST(products_are_told_apart_by_their_rows)
{
	static const char *const names[] = { "1", "1", "2-64", "65-512", "65-512", "more", "1" };
	struct score *s;
	struct table t;
	int n;

	up(&t, products, DSOCR);
	add(&t, RUN_COLD, RUN_ANALYTIC, SAMPLE_ALL);
	for (size_t i = 0; i < 7; i++)
		CHECK_STR(t.rows.sim.products.v[i].group, names[i]);
	n = score_samples(&t.rows.sim.products, 1, SAMPLE_ALL, SCORE_GROUP, t.b.a, &s, &t.b.e);
	CHECK(n == 4 && s[0].n == 3 && s[1].n == 1 && s[2].n == 2 && s[3].n == 1);
	down(&t);
	up(&t, "op,elements,measured_us\ncopy,4096,1\n", DSOCR);
	add(&t, RUN_COLD, RUN_ANALYTIC, SAMPLE_ALL);
	CHECK(t.rows.sim.all.n == 1 && t.rows.sim.products.n == 0);
	CHECK_STR(t.rows.sim.all.v[0].cls, "copy");
	down(&t);
}

TEST(each_row_is_in_one_half_by_what_it_is)
{
	struct table all, half;
	size_t n[2];

	for (int split = 0; split < 2; split++) {
		up(&half, products, DSOCR);
		add(&half, RUN_COLD, RUN_ANALYTIC, (enum sample_split)split);
		n[split] = half.rows.sim.all.n;
		for (size_t i = 0; i < n[split]; i++)
			CHECK_U64(half.rows.sim.all.v[i].split, split);
		down(&half);
	}
	up(&all, products, DSOCR);
	add(&all, RUN_COLD, RUN_ANALYTIC, SAMPLE_ALL);
	CHECK_U64(n[0] + n[1], all.rows.sim.all.n);
	CHECK_U64(all.rows.sim.all.v[0].split, all.rows.sim.all.v[6].split); /* "a" and "again" are one shape */
	down(&all);
}

/* What fits lies in SRAM: nothing of it moves, in either fidelity. What does not is as it was. */
TEST(resident_operands_are_neither_loaded_nor_stored)
{
	static const char small[] = "op,m,n,k,measured_us\ngemm,64,512,512,9\n",
			  large[] = "op,m,n,k,measured_us\ngemm,1,65536,16384,9\n"; /* 2 GiB of weights */

	for (int f = 0; f < 2; f++) {
		struct run_opts how = { .start = RUN_RESIDENT, .seed = 1, .fidelity = f ? RUN_ANALYTIC : RUN_EVENT };
		struct run_result hot, steady;
		struct table t;

		up(&t, small, DSOCR);
		CHECK_OK(run_stream(&t.s, t.conf, &how, t.b.a, &hot, &t.b.e), t.b.e);
		CHECK(hot.dram_read_bytes == 0 && hot.dram_write_bytes == 0 && hot.ops[0].mem_bytes == 0);
		how.start = RUN_STEADY;
		CHECK_OK(run_stream(&t.s, t.conf, &how, t.b.a, &steady, &t.b.e), t.b.e);
		CHECK(hot.total_ps < steady.total_ps && steady.ops[0].mem_bytes > 0);
		down(&t);
		how.start = RUN_RESIDENT;
		up(&t, large, DSOCR);
		CHECK_OK(run_stream(&t.s, t.conf, &how, t.b.a, &hot, &t.b.e), t.b.e);
		CHECK(hot.dram_read_bytes > UINT64_C(1) << 30 && hot.roofline_ps <= hot.total_ps);
		down(&t);
	}
}

/* What lies on chip by the row: between none of it and all, whatever the others of the table start with. */
TEST(a_row_says_itself_what_lies_on_chip)
{
	for (int f = 0; f < 2; f++) {
		const enum run_fidelity how = f ? RUN_ANALYTIC : RUN_EVENT;
		struct table t;
		ps_t cold, in, weights, all;

		up(&t,
		   "op,name,m,n,k,resident,measured_us\n"
		   "gemm,cold,512,2048,2048,,9\ngemm,in,512,2048,2048,in+out,9\n"
		   "gemm,w,512,2048,2048,weights,9\ngemm,all,512,2048,2048,in+weights+out,9\n",
		   DSOCR);
		add(&t, RUN_COLD, how, SAMPLE_ALL);
		cold = t.rows.sim.all.v[0].time.total;
		in = t.rows.sim.all.v[1].time.total;
		weights = t.rows.sim.all.v[2].time.total;
		all = t.rows.sim.all.v[3].time.total;
		CHECK(all < in && all < weights && in < cold && weights < cold);
		CHECK(t.rows.sim.all.v[1].hash != t.rows.sim.all.v[0].hash);
		CHECK(t.rows.roof.all.v[1].time.total <= in);
		down(&t);
		/* As the start has it, where no row says anything. */
		up(&t, "op,name,m,n,k,measured_us\ngemm,all,512,2048,2048,9\n", DSOCR);
		add(&t, RUN_RESIDENT, how, SAMPLE_ALL);
		CHECK_U64(t.rows.sim.all.v[0].time.total, all);
		down(&t);
	}
}

/* The roofline of a row goes by its passes, too: no row is faster. */
TEST(a_row_says_itself_how_often_its_operands_pass)
{
	for (int f = 0; f < 2; f++) {
		struct table t;
		const struct sample *x, *roof;

		up(&t,
		   "op,name,m,n,k,passes,measured_us\n"
		   "gemm,as it is,2048,2048,2048,,9\ngemm,one,2048,2048,2048,1,9\ngemm,four,2048,2048,2048,4,9\n",
		   DSOCR);
		add(&t, RUN_RESIDENT, f ? RUN_ANALYTIC : RUN_EVENT, SAMPLE_ALL);
		x = t.rows.sim.all.v, roof = t.rows.roof.all.v;
		CHECK_U64(x[0].time.total, x[1].time.total);
		CHECK(x[0].hash != x[1].hash && x[1].hash != x[2].hash);
		CHECK(x[2].time.total > 3 * x[1].time.total);
		CHECK(roof[2].time.total > 3 * roof[1].time.total && roof[2].time.total <= x[2].time.total);
		down(&t);
	}
}

static void without_kernel(const char *text, const char *because)
{
	struct table t;

	up(&t, text, H200);
	CHECK(rows_have_kernels(&t.s, t.conf, &t.b.e) == -1);
	CHECK_HAS(t.b.e.msg, because);
	CHECK_U64(err_exit_code(&t.b.e), 4);
	down(&t);
}

TEST(what_no_library_has_a_kernel_for_is_told_with_its_row)
{
	struct table t;

	without_kernel("op,m,n,k,weight_dtype\ngemm,1,64,64\ngemm,1,64,64,fp32\n", "row 2 of 'ops.csv'");
	without_kernel("op,m,n,k,weight_dtype\ngemm,1,64,64,fp32\n", "a gemm of bf16 with fp32 operands");
	without_kernel("op,rows,cols\nscan,1,64\n", "a scan of bf16");
	up(&t, products, H200);
	CHECK_OK(rows_have_kernels(&t.s, t.conf, &t.b.e), t.b.e);
	down(&t);
	/* Narrower weights are widened on their way, and a router's choice is a kernel of engines. */
	up(&t, "op,m,n,k,rows,cols,weight_dtype\ngemm,1,64,64,,,int4\ntopk,,,8,1,256\n", H200);
	CHECK_OK(rows_have_kernels(&t.s, t.conf, &t.b.e), t.b.e);
	down(&t);
}

TEST(rows_are_taken_evenly_by_their_time)
{
	const uint64_t ns[] = { 50, 10, 40, 20, 30, 20, 90, 80, 70, 60 };
	size_t v[10];
	struct err e = ERR_INIT;

	CHECK_OK(rows_evenly(ns, 10, 5, v, &e),
	         e); /* the 2nd, 4th ... of 10 20 20 30 ..., of equal ones in their order */
	CHECK(v[0] == 3 && v[1] == 4 && v[2] == 0 && v[3] == 8 && v[4] == 6);
	CHECK_OK(rows_evenly(ns, 10, 10, v, &e), e);
	CHECK(v[0] == 1 && v[1] == 3 && v[2] == 5 && v[9] == 6);
	CHECK_OK(rows_evenly(ns, 10, 1, v, &e), e);
	CHECK_U64(v[0], 0);
}

SUITE(t_rows, T(rows_are_taken_evenly_by_their_time), T(a_row_is_alone_in_every_engine),
      T(a_row_alone_takes_what_a_run_of_it_takes), T(products_are_told_apart_by_their_rows),
      T(each_row_is_in_one_half_by_what_it_is), T(resident_operands_are_neither_loaded_nor_stored),
      T(a_row_says_itself_what_lies_on_chip), T(a_row_says_itself_how_often_its_operands_pass),
      T(what_no_library_has_a_kernel_for_is_told_with_its_row));
