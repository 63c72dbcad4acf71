/* hopper.cuh - barriers in shared memory, tiles by tensor map, warpgroup products: what our sm_90a kernels share
 *
 * Tiles have rows of 128 bytes in the 128-byte swizzle, so that a warpgroup's instruction reads them as they lie. */
#pragma once
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <stdint.h>

#define ROW_BYTES 128

static __device__ __forceinline__ uint32_t shared_at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
static __device__ __forceinline__ void bar_init(uint32_t bar, int count)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(bar), "r"(count) : "memory");
}

static __device__ __forceinline__ void bar_ready(void)
{
	asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ __forceinline__ void bar_expect(uint32_t bar, uint32_t bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(bar), "r"(bytes) : "memory");
}

static __device__ __forceinline__ void bar_arrive(uint32_t bar)
{
	asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(bar) : "memory");
}

static __device__ __forceinline__ void bar_wait(uint32_t bar, uint32_t parity)
{
	uint32_t done = 0;
	while (!done)
		asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
		             : "=r"(done) : "r"(bar), "r"(parity) : "memory");
}

static __device__ __forceinline__ void tile_load(uint32_t to, const CUtensorMap *map, int x, int y, int z, uint32_t bar)
{
	asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
	             :: "r"(to), "l"(map), "r"(x), "r"(y), "r"(z), "r"(bar) : "memory");
}

/* Address, bytes from one 128-byte column of the tile to the next (operands that go down their rows), 1024 between groups
 * of eight rows, 128-byte swizzle. */
static __device__ __forceinline__ uint64_t wg_desc(uint32_t at, uint32_t column = 16)
{
	return (uint64_t)(at >> 4 & 0x3fff) | (uint64_t)(column >> 4) << 16 | (uint64_t)(1024 >> 4) << 32 | 1ull << 62;
}

static __device__ __forceinline__ void wg_fence(void) { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
static __device__ __forceinline__ void wg_commit(void) { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> static __device__ __forceinline__ void wg_wait(void) { asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(N) : "memory"); }

/* Registers of a product that runs are the hardware's: nothing is moved across this. */
template <int N> static __device__ __forceinline__ void wg_hold(float (&d)[N])
{
#pragma unroll
	for (int i = 0; i < N; i++)
		asm volatile("" : "+f"(d[i]) :: "memory");
}

template <int N> static __device__ __forceinline__ void wg_hold(uint32_t (&d)[N])
{
#pragma unroll
	for (int i = 0; i < N; i++)
		asm volatile("" : "+r"(d[i]) :: "memory");
}

#define L32  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, " \
             "%26, %27, %28, %29, %30, %31"
#define L64  L32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, " \
             "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define L128 L64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, " \
             "%86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, " \
             "%108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define R4(i)   "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define R16(i)  R4(i), R4(i + 4), R4(i + 8), R4(i + 12)
#define R32     R16(0), R16(16)
#define R64     R32, R16(32), R16(48)
#define R128    R64, R16(64), R16(80), R16(96), R16(112)

/* d (+)= A W', both in shared memory; `more`: add to what d has. */
#define WG_SS(NAME, SHAPE, COUNT, LIST, REGS, A, W, P, TAIL) \
	static __device__ __forceinline__ void NAME(float (&d)[COUNT], uint64_t a, uint64_t w, int more) \
	{ \
		asm volatile("{.reg .pred p; setp.ne.b32 p, %" P ", 0; wgmma.mma_async.sync.aligned." SHAPE " {" LIST "}, %" A ", %" W ", p, 1, 1" \
		             TAIL ";}" : REGS : "l"(a), "l"(w), "r"(more)); \
	}
WG_SS(wg_bf16, "m64n128k16.f32.bf16.bf16", 64, L64, R64, "64", "65", "66", ", 0, 0")
WG_SS(wg_bf16, "m64n256k16.f32.bf16.bf16", 128, L128, R128, "128", "129", "130", ", 0, 0")
WG_SS(wg_e4m3, "m64n128k32.f32.e4m3.e4m3", 64, L64, R64, "64", "65", "66", "")
WG_SS(wg_e4m3, "m64n256k32.f32.e4m3.e4m3", 128, L128, R128, "128", "129", "130", "")

/* d += A W, A in registers, W's rows go along k. */
#define WG_RS(NAME, SHAPE, COUNT, LIST, REGS, A, B, C, D, W) \
	static __device__ __forceinline__ void NAME(float (&d)[COUNT], const uint32_t *a, uint64_t w) \
	{ \
		asm volatile("wgmma.mma_async.sync.aligned." SHAPE " {" LIST "}, {%" A ", %" B ", %" C ", %" D "}, %" W ", 1, 1, 1, 1;" \
		             : REGS : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(w)); \
	}
WG_RS(wg_down, "m64n64k16.f32.bf16.bf16", 32, L32, R32, "32", "33", "34", "35", "36")
WG_RS(wg_down, "m64n128k16.f32.bf16.bf16", 64, L64, R64, "64", "65", "66", "67", "68")
#endif

/* --- the host's side ------------------------------------------------------------------------------------------------- */

/* [z][rows][columns], tiles of `box` rows of 128 bytes. */
template <class T> static CUtensorMap tile_map(const T *base, uint64_t columns, uint64_t rows, uint64_t z, uint32_t box)
{
	static PFN_cuTensorMapEncodeTiled_v12000 encode;
	cudaDriverEntryPointQueryResult found;
	CUtensorMap map;
	if (!encode)
		CK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found));
	const cuuint64_t dims[3] = { columns, rows, z }, strides[2] = { columns * sizeof(T), rows * columns * sizeof(T) };
	const cuuint32_t boxes[3] = { ROW_BYTES / sizeof(T), box, 1 }, each[3] = { 1, 1, 1 };
	CUresult r = encode(&map, sizeof(T) == 1 ? CU_TENSOR_MAP_DATA_TYPE_UINT8 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, (void *)base, dims,
	                    strides, boxes, each, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
	                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
	if (r != CUDA_SUCCESS)
		fprintf(stderr, "cuTensorMapEncodeTiled: %d\n", (int)r), exit(4);
	return map;
}
