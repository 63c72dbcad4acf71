/* lib_tiles.cu - the library's bf16 product at one token with its tile, stages and cluster forced
 *
 * y[N] = W[N][K] x. A framework takes what the library's heuristic says (lib_gemm); here its candidates, and each of them
 * with every cluster shape the library accepts, run on the same operands: what multicast within a cluster and more or
 * fewer CTAs cost or bring. One shape over all candidates first, then a few candidates over K and N. Rows name ids of
 * cublasLt.h (tile and cluster as their extents); by activity record also the kernel. Split-K is left at none. */
#include <cublasLt.h>

#include <set>
#include <tuple>

#include "bench.cuh"
#include "lib.cuh"

struct bufs { char *w; size_t pool; __nv_bfloat16 *x, *y; void *space; size_t space_bytes; cublasLtHandle_t h; };
/* Ids of cublasLt.h. */
struct pick { int id; uint32_t tile, stages; uint16_t inner, cluster; };
static bool operator<(const struct pick &a, const struct pick &b)
{
	return std::tie(a.id, a.tile, a.stages, a.inner, a.cluster) < std::tie(b.id, b.tile, b.stages, b.inner, b.cluster);
}

struct problem { cublasLtMatmulDesc_t op; cublasLtMatrixLayout_t w, x, y; int m, n, k; };

static const struct { uint16_t id; const char *name; } clusters[] = {
	{ CUBLASLT_CLUSTER_SHAPE_1x1x1, "1x1" }, { CUBLASLT_CLUSTER_SHAPE_2x1x1, "2x1" }, { CUBLASLT_CLUSTER_SHAPE_4x1x1, "4x1" },
	{ CUBLASLT_CLUSTER_SHAPE_8x1x1, "8x1" }, { CUBLASLT_CLUSTER_SHAPE_1x2x1, "1x2" }, { CUBLASLT_CLUSTER_SHAPE_1x4x1, "1x4" },
	{ CUBLASLT_CLUSTER_SHAPE_1x8x1, "1x8" }, { CUBLASLT_CLUSTER_SHAPE_2x2x1, "2x2" }, { CUBLASLT_CLUSTER_SHAPE_4x2x1, "4x2" },
	{ CUBLASLT_CLUSTER_SHAPE_2x4x1, "2x4" }, { CUBLASLT_CLUSTER_SHAPE_4x4x1, "4x4" }, { CUBLASLT_CLUSTER_SHAPE_16x1x1, "16x1" },
	{ CUBLASLT_CLUSTER_SHAPE_3x1x1, "3x1" }, { CUBLASLT_CLUSTER_SHAPE_5x1x1, "5x1" }, { CUBLASLT_CLUSTER_SHAPE_6x1x1, "6x1" },
};

static std::string cluster_name(uint16_t id)
{
	for (auto &c : clusters)
		if (c.id == id)
			return c.name;
	return id == CUBLASLT_CLUSTER_SHAPE_AUTO ? "auto" : bench_fmt("id%d", id);
}

static void open_problem(struct problem *p, int m, int n, int k)
{
	cublasOperation_t t = CUBLAS_OP_T;
	p->m = m, p->n = n, p->k = k;
	CKB(cublasLtMatmulDescCreate(&p->op, CUBLAS_COMPUTE_32F, CUDA_R_32F));
	CKB(cublasLtMatmulDescSetAttribute(p->op, CUBLASLT_MATMUL_DESC_TRANSA, &t, sizeof t));
	CKB(cublasLtMatrixLayoutCreate(&p->w, CUDA_R_16BF, k, n, k));
	CKB(cublasLtMatrixLayoutCreate(&p->x, CUDA_R_16BF, k, m, k));
	CKB(cublasLtMatrixLayoutCreate(&p->y, CUDA_R_16BF, n, m, n));
}

static void close_problem(struct problem *p)
{
	cublasLtMatrixLayoutDestroy(p->w), cublasLtMatrixLayoutDestroy(p->x), cublasLtMatrixLayoutDestroy(p->y);
	cublasLtMatmulDescDestroy(p->op);
}

static bool read_pick(const cublasLtMatmulAlgo_t *a, struct pick *k)
{
	size_t n;
	memset((void *)k, 0, sizeof *k);
	return cublasLtMatmulAlgoConfigGetAttribute(a, CUBLASLT_ALGO_CONFIG_ID, &k->id, sizeof k->id, &n) == 0 &&
	       cublasLtMatmulAlgoConfigGetAttribute(a, CUBLASLT_ALGO_CONFIG_TILE_ID, &k->tile, sizeof k->tile, &n) == 0 &&
	       cublasLtMatmulAlgoConfigGetAttribute(a, CUBLASLT_ALGO_CONFIG_STAGES_ID, &k->stages, sizeof k->stages, &n) == 0 &&
	       cublasLtMatmulAlgoConfigGetAttribute(a, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, &k->inner, sizeof k->inner, &n) == 0 &&
	       cublasLtMatmulAlgoConfigGetAttribute(a, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, &k->cluster, sizeof k->cluster, &n) == 0;
}

/* The algorithm of these ids, if the library accepts it for this problem. */
static bool make_algo(const struct bufs *m, const struct problem *p, const struct pick *k, cublasLtMatmulAlgo_t *a)
{
	cublasLtMatmulHeuristicResult_t r;
	if (cublasLtMatmulAlgoInit(m->h, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, k->id, a) ||
	    cublasLtMatmulAlgoConfigSetAttribute(a, CUBLASLT_ALGO_CONFIG_TILE_ID, &k->tile, sizeof k->tile) ||
	    cublasLtMatmulAlgoConfigSetAttribute(a, CUBLASLT_ALGO_CONFIG_STAGES_ID, &k->stages, sizeof k->stages) ||
	    cublasLtMatmulAlgoConfigSetAttribute(a, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, &k->inner, sizeof k->inner) ||
	    cublasLtMatmulAlgoConfigSetAttribute(a, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, &k->cluster, sizeof k->cluster))
		return false;
	return cublasLtMatmulAlgoCheck(m->h, p->op, p->w, p->x, p->y, p->y, a, &r) == CUBLAS_STATUS_SUCCESS &&
	       r.workspaceSize <= m->space_bytes;
}

static cublasStatus_t launch(struct bench *b, const struct bufs *m, const struct problem *p, const cublasLtMatmulAlgo_t *a, size_t at)
{
	const float one = 1, zero = 0;
	return cublasLtMatmul(m->h, p->op, &one, m->w + at, p->w, m->x, p->x, &zero, m->y, p->y, m->y, p->y, a, m->space, m->space_bytes, b->s);
}

/* Whether it ran. */
static bool time_pick(struct bench *b, const struct bufs *m, const struct problem *p, const struct pick *k, bool cold)
{
	cublasLtMatmulAlgo_t a;
	size_t bytes = (size_t)p->n * p->k * 2;
	if (!make_algo(m, p, k, &a))
		return false;
	CK(cudaMemsetAsync(m->y, 0xff, (size_t)p->m * p->n * 2, b->s));
	if (launch(b, m, p, &a, 0) != CUBLAS_STATUS_SUCCESS)
		return false;
	CK(cudaStreamSynchronize(b->s));
	std::string at = bench_fmt("m=%d;n=%d;k=%d;bytes=%zu;algo=%d;tile=%u;stages=%u;inner=%d;cluster=%s;launch=%s", p->m, p->n, p->k, bytes,
	                           k->id, k->tile, k->stages, k->inner, cluster_name(k->cluster).c_str(),
	                           bench_choice(b, [&] { CKB(launch(b, m, p, &a, 0)); }).c_str());
	if (!b->cupti) {
		std::vector<float> x = bench_floats(bench_read(m->x, (size_t)p->m * p->k)), got, y = bench_floats(bench_read(m->y, (size_t)p->m * p->n));
		std::vector<double> ref;
		for (int i = 0; i < 16; i++) {
			int c = (int)((size_t)i * (p->n - 1) / 15), r = i % p->m;
			std::vector<float> w = bench_floats(bench_read((__nv_bfloat16 *)m->w + (size_t)c * p->k, p->k));
			double s = 0;
			for (int j = 0; j < p->k; j++)
				s += (double)w[j] * x[(size_t)r * p->k + j];
			ref.push_back(s), got.push_back(y[(size_t)r * p->n + c]);
		}
		bench_check(b, "lib_tiles", at, got, ref, 1e-2);
	}
	bench_as(b, bench_fmt("gemm_bf16_forced_c%s", cluster_name(k->cluster).c_str()).c_str(), bench_fmt("K=%d,M=%d,N=%d,tile=%u,stages=%u", p->k, p->m, p->n, k->tile, k->stages),
	         "aten::linear", { { p->m, p->k }, { p->n, p->k } }, "c10::BFloat16", { "" });
	if (bytes < (size_t)b->prop.l2CacheSize / 2)
		bench_time(b, "lib_tiles", at, BENCH_WARM, [&](int) { CKB(launch(b, m, p, &a, 0)); });
	if (cold)
		bench_time(b, "lib_tiles", at, BENCH_COLD, [&](int i) { CKB(launch(b, m, p, &a, bench_slot(i, bytes, m->pool))); });
	return true;
}

/* What the heuristic offers, best first. */
static std::vector<struct pick> offers(struct bench *, const struct bufs *m, const struct problem *p, int most)
{
	std::vector<cublasLtMatmulHeuristicResult_t> r(most);
	std::vector<struct pick> out;
	cublasLtMatmulPreference_t pref;
	int n = 0;

	CKB(cublasLtMatmulPreferenceCreate(&pref));
	CKB(cublasLtMatmulPreferenceSetAttribute(pref, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &m->space_bytes, sizeof m->space_bytes));
	if (cublasLtMatmulAlgoGetHeuristic(m->h, p->op, p->w, p->x, p->y, p->y, pref, most, r.data(), &n) != CUBLAS_STATUS_SUCCESS)
		n = 0;
	for (int i = 0; i < n; i++) {
		struct pick k;
		if (read_pick(&r[i].algo, &k))
			out.push_back(k);
	}
	cublasLtMatmulPreferenceDestroy(pref);
	return out;
}

int main(int argc, char **argv)
{
	struct bench b;
	struct bufs m;
	struct problem p;
	std::vector<struct pick> keep;
	std::set<struct pick> done;
	int counted[4] = { 0, 0, 0, 0 };

	bench_open(&b, argc, argv);
	CKB(cublasLtCreate(&m.h));
	m.space_bytes = 32 << 20, m.space = bench_alloc(m.space_bytes);
	m.pool = (size_t)(b.quick ? 512 : 3072) << 20;
	m.w = (char *)bench_alloc(m.pool);
	m.x = (__nv_bfloat16 *)bench_alloc((size_t)64 * 8192 * 2), m.y = (__nv_bfloat16 *)bench_alloc((size_t)64 * 8192 * 2);
	bench_fill_bf16(&b, (__nv_bfloat16 *)m.w, m.pool / 2, 1);
	bench_fill_bf16(&b, m.x, (size_t)64 * 8192, 2);

	/* One shape: every offer with every cluster; what else the first offer's kernel family has as tiles. */
	open_problem(&p, 1, 1024, 2048);
	std::vector<struct pick> all = offers(&b, &m, &p, b.quick ? 4 : 64);
	counted[0] = (int)all.size();
	if (!all.empty()) {
		cublasLtMatmulAlgo_t a;
		size_t got = 0;
		uint32_t tiles[1024];
		if (!cublasLtMatmulAlgoInit(m.h, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, all[0].id, &a) &&
		    !cublasLtMatmulAlgoCapGetAttribute(&a, CUBLASLT_ALGO_CAP_TILE_IDS, tiles, sizeof tiles, &got))
			for (size_t i = 0; i < got / sizeof *tiles && !b.quick; i++) {
				struct pick k = all[0];
				k.tile = tiles[i];
				all.push_back(k);
			}
		counted[1] = (int)(got / sizeof *tiles);
	}
	for (size_t i = 0; i < all.size(); i++)
		for (auto &c : clusters) {
			struct pick k = all[i];
			k.cluster = c.id;
			/* A cap on the rows, not on the candidates: the offers come first. */
			if (counted[3] >= 400 || !done.insert(k).second)
				continue;
			counted[2]++;
			if (!time_pick(&b, &m, &p, &k, i < 8))
				continue;
			counted[3]++;
			if (i == 0 || (i < 8 && k.tile != all[0].tile && (keep.back().tile == all[0].tile || keep.back().tile == k.tile)))
				keep.push_back(k);
		}
	close_problem(&p);
	fprintf(stderr, "lib_tiles: %d offers, %d tile ids of the first, %d combinations tried, %d ran\n", counted[0], counted[1], counted[2], counted[3]);

	/* The first offer, and the first of another tile, with each of its clusters over K and N. */
	for (int n : { 256, 512, 1024, 2048, 4096 })
		for (int k = 256; k <= (b.quick ? 256 : 8192); k += k < 2048 ? 256 : 1024) {
			open_problem(&p, 1, n, k);
			for (const struct pick &a : keep)
				time_pick(&b, &m, &p, &a, a.tile == keep[0].tile);
			close_problem(&p);
		}
	/* More rows, same weights. */
	if (!b.quick)
		for (int rows : { 4, 16, 64 }) {
			open_problem(&p, rows, 1024, 2048);
			std::vector<struct pick> few = offers(&b, &m, &p, 4);
			for (struct pick k : few)
				for (auto &c : clusters) {
					k.cluster = c.id;
					time_pick(&b, &m, &p, &k, false);
				}
			close_problem(&p);
		}
	CKB(cublasLtDestroy(m.h));
	return bench_close(&b);
}
