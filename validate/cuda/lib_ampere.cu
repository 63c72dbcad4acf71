/* lib_ampere.cu - the library's bf16 products by warp-wide matrix instructions, which it has for Ampere and keeps
 *
 * y[16][N] = x[16][K] W[N][K]^T. On a device with wgmma no heuristic offers these kernels; they run when asked for by id.
 * Each algorithm, tile and number of stages that makes another kernel of 8-element alignment: over K, with many CTAs and
 * with few, warm and cold. How long such a kernel sets up, takes for a step of its k, and waits for a tile is read off
 * here for devices that have no others. Split-K is left at none. */
#include <cublasLt.h>

#include <set>

#include "bench.cuh"
#include "lib.cuh"

static const int tokens = 16;

struct bufs { char *w; size_t pool; __nv_bfloat16 *x, *y; void *space; size_t space_bytes; cublasLtHandle_t h; };
/* Ids of cublasLt.h. */
struct pick { int id; uint32_t tile, stages; };

struct problem { cublasLtMatmulDesc_t op; cublasLtMatrixLayout_t w, x, y; int n, k; };

static void open_problem(struct problem *p, int n, int k)
{
	cublasOperation_t t = CUBLAS_OP_T;
	p->n = n, p->k = k;
	CKB(cublasLtMatmulDescCreate(&p->op, CUBLAS_COMPUTE_32F, CUDA_R_32F));
	CKB(cublasLtMatmulDescSetAttribute(p->op, CUBLASLT_MATMUL_DESC_TRANSA, &t, sizeof t));
	CKB(cublasLtMatrixLayoutCreate(&p->w, CUDA_R_16BF, k, n, k));
	CKB(cublasLtMatrixLayoutCreate(&p->x, CUDA_R_16BF, k, tokens, k));
	CKB(cublasLtMatrixLayoutCreate(&p->y, CUDA_R_16BF, n, tokens, n));
}

static void close_problem(struct problem *p)
{
	cublasLtMatrixLayoutDestroy(p->w), cublasLtMatrixLayoutDestroy(p->x), cublasLtMatrixLayoutDestroy(p->y);
	cublasLtMatmulDescDestroy(p->op);
}

static bool init_algo(const struct bufs *m, int id, cublasLtMatmulAlgo_t *a)
{
	return cublasLtMatmulAlgoInit(m->h, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, id, a) ==
	       CUBLAS_STATUS_SUCCESS;
}

static bool make_algo(const struct bufs *m, const struct problem *p, const struct pick *k, cublasLtMatmulAlgo_t *a)
{
	cublasLtMatmulHeuristicResult_t r;
	return init_algo(m, k->id, a) &&
	       !cublasLtMatmulAlgoConfigSetAttribute(a, CUBLASLT_ALGO_CONFIG_TILE_ID, &k->tile, sizeof k->tile) &&
	       !cublasLtMatmulAlgoConfigSetAttribute(a, CUBLASLT_ALGO_CONFIG_STAGES_ID, &k->stages, sizeof k->stages) &&
	       !cublasLtMatmulAlgoCheck(m->h, p->op, p->w, p->x, p->y, p->y, a, &r) && r.workspaceSize <= m->space_bytes;
}

static cublasStatus_t launch(struct bench *b, const struct bufs *m, const struct problem *p, const cublasLtMatmulAlgo_t *a, size_t at)
{
	const float one = 1, zero = 0;
	return cublasLtMatmul(m->h, p->op, &one, m->w + at, p->w, m->x, p->x, &zero, m->y, p->y, m->y, p->y, a, m->space, m->space_bytes, b->s);
}

static void check(struct bench *b, const struct bufs *m, const struct problem *p, const std::string &at)
{
	std::vector<float> x = bench_floats(bench_read(m->x, (size_t)tokens * p->k)), got;
	std::vector<float> y = bench_floats(bench_read(m->y, (size_t)tokens * p->n));
	std::vector<double> ref;
	for (int i = 0; i < 16; i++) {
		int c = (int)((size_t)i * (p->n - 1) / 15), r = i % tokens;
		std::vector<float> w = bench_floats(bench_read((__nv_bfloat16 *)m->w + (size_t)c * p->k, p->k));
		double s = 0;
		for (int j = 0; j < p->k; j++)
			s += (double)w[j] * x[(size_t)r * p->k + j];
		ref.push_back(s), got.push_back(y[(size_t)r * p->n + c]);
	}
	bench_check(b, "lib_ampere", at, got, ref, 1e-2);
}

/* False: not one of these kernels, or one that was timed. `seen` is NULL where the kernel is known to be wanted. */
static bool time_pick(struct bench *b, const struct bufs *m, int n, int k, const struct pick *pick, std::set<std::string> *seen)
{
	struct problem p;
	cublasLtMatmulAlgo_t a;
	size_t bytes = (size_t)n * k * 2;
	open_problem(&p, n, k);
	bool ran = make_algo(m, &p, pick, &a) && launch(b, m, &p, &a, 0) == CUBLAS_STATUS_SUCCESS;
	if (ran) {
		CK(cudaStreamSynchronize(b->s));
		std::string name = bench_choice(b, [&] { CKB(launch(b, m, &p, &a, 0)); });
		std::string at = bench_fmt("m=%d;n=%d;k=%d;bytes=%zu;algo=%d;launch=%s", tokens, n, k, bytes, pick->id, name.c_str());
		ran = name.find("_align8") != name.npos && (!seen || seen->insert(name).second);
		if (ran) {
			check(b, m, &p, at);
			bench_time(b, "lib_ampere", at, BENCH_WARM, [&](int) { CKB(launch(b, m, &p, &a, 0)); });
			bench_time(b, "lib_ampere", at, BENCH_COLD, [&](int i) { CKB(launch(b, m, &p, &a, bench_slot(i, bytes, m->pool))); });
		}
	}
	close_problem(&p);
	return ran;
}

/* By name is how these kernels are told apart: only activity records have names. */
int main(int argc, char **argv)
{
	struct bench b;
	struct bufs m;
	int ids[512], n_ids = 0;
	std::set<std::string> seen;

	bench_open(&b, argc, argv);
	if (!b.cupti)
		return bench_close(&b);
	CKB(cublasLtCreate(&m.h));
	m.space_bytes = 64 << 20, m.space = bench_alloc(m.space_bytes);
	m.pool = (size_t)(b.quick ? 256 : 1024) << 20;
	m.w = (char *)bench_alloc(m.pool);
	m.x = (__nv_bfloat16 *)bench_alloc((size_t)tokens * 8192 * 2), m.y = (__nv_bfloat16 *)bench_alloc((size_t)tokens * 1024 * 2);
	bench_fill_bf16(&b, (__nv_bfloat16 *)m.w, m.pool / 2, 1);
	bench_fill_bf16(&b, m.x, (size_t)tokens * 8192, 2);
	CKB(cublasLtMatmulAlgoGetIds(m.h, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, 512, ids, &n_ids));
	for (int i = 0; i < n_ids; i++) {
		cublasLtMatmulAlgo_t a;
		uint32_t tiles[1024], stages[128];
		size_t tile_bytes = 0, stage_bytes = 0;
		if (!init_algo(&m, ids[i], &a))
			continue;
		cublasLtMatmulAlgoCapGetAttribute(&a, CUBLASLT_ALGO_CAP_TILE_IDS, tiles, sizeof tiles, &tile_bytes);
		cublasLtMatmulAlgoCapGetAttribute(&a, CUBLASLT_ALGO_CAP_STAGES_IDS, stages, sizeof stages, &stage_bytes);
		for (size_t t = 0; t < tile_bytes / sizeof *tiles; t++)
			for (size_t s = 0; s < stage_bytes / sizeof *stages; s++) {
				struct pick pick = { ids[i], tiles[t], stages[s] };
				if (!time_pick(&b, &m, 1024, 2048, &pick, &seen))
					continue;
				time_pick(&b, &m, 64, 2048, &pick, NULL);
				for (int k : { 256, 1024, 4096, 8192 })
					for (int n : { 1024, 64 })
						if (!b.quick)
							time_pick(&b, &m, n, k, &pick, NULL);
			}
	}
	CKB(cublasLtDestroy(m.h));
	return bench_close(&b);
}
