/* Laws of levels, on the shipped machines: what holds of a time whatever the model's constants are. A batch costs no more than so
 * many of one; the same bytes cost about the same however many results they are reduced to; no operation needs a resource for
 * longer than the whole run is bound by. Each found answers that were wrong by a factor and looked like any other. */
#include "arch/machine/machine_shipped.h"
#include "validate/tests/runbed.h"
#include "validate/tests/test.h"

#include <inttypes.h>
#include <stdlib.h>

#define SPARE_PPM 100000 /* of a batch: the results of one stay on chip at the end, those of many are written back */

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

TEST(the_same_bytes_take_about_as_long_to_however_many_results_they_are_reduced)
{
	static const char *const gpus[] = { "configs/gpu/h200.yaml", "configs/gpu/h100.yaml", "configs/gpu/a100.yaml",
		                            "configs/gpu/rtx5090.yaml", "configs/gpu/l4.yaml" };
	static const uint64_t results[] = { 1, 8, 128, 65536 };
	int against = 0;

	for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
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

SUITE(p_level, T(a_batch_costs_no_more_than_so_many_of_one_on_any_npu),
      T(the_same_bytes_take_about_as_long_to_however_many_results_they_are_reduced));
