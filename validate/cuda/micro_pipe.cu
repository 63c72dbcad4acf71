/* micro_pipe.cu - issue rates of one SM by instruction, in operations a clock
 *
 * One CTA of 1024 threads (or as given) an SM, each thread with eight independent chains of the instruction; the rate
 * is operations over the CTA's own clocks, so neither launch nor clock frequency is in it. Counts are lanes'
 * operations (a fused multiply-add is one, a packed pair is one instruction = two operations); matrix rows are in
 * FLOP, two a multiply-add. mma.sync is the warp-wide path of every architecture from sm_80; the rate of sm_90's
 * warpgroup instructions is in micro_wgmma.cu. */
#include "bench.cuh"

enum { CHAINS = 8, UNROLL = 16 };       /* the loop's own three instructions are then under 3 % */

#define OP32(NAME, PER, ASM) \
	struct op_##NAME { \
		static constexpr int per = PER; \
		uint32_t r[CHAINS], k; \
		__device__ void init(uint32_t s) { k = 0x3f7fff00u | (s & 15); for (int j = 0; j < CHAINS; j++) r[j] = 0x3f800000u + s * 8 + j; } \
		__device__ void step(void) { _Pragma("unroll") for (int j = 0; j < CHAINS; j++) asm volatile(ASM : "+r"(r[j]) : "r"(k)); } \
		__device__ uint32_t fold(void) { uint32_t x = 0; for (int j = 0; j < CHAINS; j++) x ^= r[j]; return x; } \
	};

OP32(ffma, 1, "{.reg .f32 a,b; mov.b32 a,%0; mov.b32 b,%1; fma.rn.f32 a,a,b,b; mov.b32 %0,a;}")
OP32(fadd, 1, "{.reg .f32 a,b; mov.b32 a,%0; mov.b32 b,%1; add.rn.f32 a,a,b; mov.b32 %0,a;}")
OP32(hfma2_bf16, 2, "fma.rn.bf16x2 %0,%0,%1,%1;")
OP32(hfma2_f16, 2, "fma.rn.f16x2 %0,%0,%1,%1;")
OP32(ex2, 1, "{.reg .f32 a; mov.b32 a,%0; ex2.approx.ftz.f32 a,a; mov.b32 %0,a;}")
OP32(rsqrt, 1, "{.reg .f32 a; mov.b32 a,%0; rsqrt.approx.ftz.f32 a,a; mov.b32 %0,a;}")
/* With an add between, or the reciprocal of a reciprocal is folded away; the add is eight times as fast. */
OP32(rcp, 1, "{.reg .f32 a,b; mov.b32 a,%0; mov.b32 b,%1; rcp.approx.ftz.f32 a,a; add.f32 a,a,b; mov.b32 %0,a;}")
OP32(tanh_approx, 1, "{.reg .f32 a; mov.b32 a,%0; tanh.approx.f32 a,a; mov.b32 %0,a;}")
/* From the neighbour's sum: two adds of one chain would become one three-input add. */
struct op_iadd {
	static constexpr int per = 1;
	uint32_t r[CHAINS];
	__device__ void init(uint32_t s) { for (int j = 0; j < CHAINS; j++) r[j] = s * 8 + j; }
	__device__ void step(void)
	{
#pragma unroll
		for (int j = 0; j < CHAINS; j++)
			asm volatile("add.u32 %0,%0,%1;" : "+r"(r[j]) : "r"(r[(j + 3) % CHAINS]));
	}
	__device__ uint32_t fold(void) { uint32_t x = 0; for (int j = 0; j < CHAINS; j++) x ^= r[j]; return x; }
};
OP32(imad, 1, "mad.lo.u32 %0,%0,%1,%1;")
OP32(lop3, 1, "lop3.b32 %0,%0,%1,%1,0x1e;")
OP32(shift, 1, "shf.l.wrap.b32 %0,%0,%1,7;")
OP32(prmt, 1, "prmt.b32 %0,%0,%1,0x4321;")
OP32(popc, 1, "popc.b32 %0,%0;")
OP32(shfl, 1, "shfl.sync.bfly.b32 %0,%0,1,31,0xffffffff;")
/* Down and up again where a conversion's result is no input of itself: two conversions a step. */
OP32(i2f_f2i, 2, "{.reg .f32 a; cvt.rn.f32.s32 a,%0; cvt.rzi.s32.f32 %0,a;}")
/* The pair conversion drops the other half's word in; its result is a fair float again. */
OP32(f32_to_bf16x2, 2, "{.reg .f32 a,b; mov.b32 a,%0; mov.b32 b,%1; cvt.rn.bf16x2.f32 %0,a,b;}")
OP32(f32_to_bf16, 1, "{.reg .f32 a; .reg .b16 h; mov.b32 a,%0; cvt.rn.bf16.f32 h,a; mov.b32 %0,{h,h};}")
OP32(f16_to_f32, 1, "{.reg .f32 a; .reg .b16 l,h; mov.b32 {l,h},%0; cvt.f32.f16 a,h; mov.b32 %0,a;}")
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
OP32(e4m3x2_to_f16x2, 2, "{.reg .b16 l,h; mov.b32 {l,h},%0; cvt.rn.f16x2.e4m3x2 %0,h;}")
OP32(f32_to_e4m3x2, 2, "{.reg .f32 a,b; .reg .b16 h; mov.b32 a,%0; mov.b32 b,%1; cvt.rn.satfinite.e4m3x2.f32 h,a,b; mov.b32 %0,{h,h};}")
#else
struct op_e4m3x2_to_f16x2 : op_ffma { };      /* never launched there: main asks the device first */
struct op_f32_to_e4m3x2 : op_ffma { };
#endif

/* m16n8k16 and m16n8k32: four chains of accumulators, operands fixed. */
#define MMA(NAME, K, KIND, ACC) \
	struct op_##NAME { \
		static constexpr int per = 2 * 16 * 8 * K * 4 / 32 / CHAINS; /* FLOP a lane and chain slot */ \
		uint32_t a[4], w[2]; ACC d[4][4]; \
		__device__ void init(uint32_t s) { \
			/* Exponents near one, signs and mantissas mixed: random data costs power that equal data does not. */ \
			for (int j = 0; j < 4; j++) a[j] = (s * 2654435761u * (j + 1) & 0x807f807fu) | 0x3f003f00u; \
			for (int j = 0; j < 2; j++) w[j] = (s * 2246822519u * (j + 3) & 0x807f807fu) | 0x3f003f00u; \
			for (int j = 0; j < 16; j++) d[j / 4][j % 4] = 0; \
		} \
		__device__ void step(void) { \
			_Pragma("unroll") for (int j = 0; j < 4; j++) \
				asm volatile("mma.sync.aligned." KIND " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};" \
				             : ACC_CON(ACC, d[j][0]), ACC_CON(ACC, d[j][1]), ACC_CON(ACC, d[j][2]), ACC_CON(ACC, d[j][3]) \
				             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(w[0]), "r"(w[1])); \
		} \
		__device__ uint32_t fold(void) { uint32_t x = 0; for (int j = 0; j < 16; j++) x ^= (uint32_t)d[j / 4][j % 4]; return x; } \
	};
#define ACC_CON(T, x) ACC_CON_##T(x)
#define ACC_CON_float(x) "+f"(x)
#define ACC_CON_int(x) "+r"(x)

MMA(mma_bf16, 16, "m16n8k16.row.col.f32.bf16.bf16.f32", float)
MMA(mma_f16, 16, "m16n8k16.row.col.f32.f16.f16.f32", float)
MMA(mma_tf32, 8, "m16n8k8.row.col.f32.tf32.tf32.f32", float)
MMA(mma_s8, 32, "m16n8k32.row.col.s32.s8.s8.s32", int)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
MMA(mma_e4m3, 32, "m16n8k32.row.col.f32.e4m3.e4m3.f32", float)
#else
struct op_mma_e4m3 : op_mma_bf16 { };
#endif

template <class Op> __global__ void __launch_bounds__(1024) pipe(int iters, unsigned long long *clk, uint32_t *sink)
{
	Op op;
	op.init(threadIdx.x + 1);
	__syncthreads();
	unsigned long long c0 = clock64();
	for (int i = 0; i < iters; i++) {
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
			op.step();
	}
	__syncthreads();
	unsigned long long c1 = clock64();
	if (threadIdx.x == 0)
		clk[blockIdx.x] = c1 - c0;
	uint32_t x = op.fold();
	if (x == 0x9e3779b9)
		*sink = x;
}

template <class Op> static void rate(struct bench *b, const char *op, const char *unit, unsigned long long *clk)
{
	int sms = b->prop.multiProcessorCount;
	for (int threads : { 32, 128, 256, 512, 1024 }) {
		int iters = 512;
		std::vector<double> v;
		for (int r = 0; r < 2; r++)
			pipe<Op><<<sms, threads, 0, b->s>>>(iters, clk, b->sink);
		CK(cudaStreamSynchronize(b->s));
		for (unsigned long long c : bench_read(clk, sms))
			v.push_back((double)Op::per * CHAINS * UNROLL * iters * threads / c);
		bench_row(b, "pipe", bench_fmt("op=%s;threads=%d", op, threads), v, unit, "clock");
	}
}


int main(int argc, char **argv)
{
	struct bench b;
	bench_open(&b, argc, argv);
	unsigned long long *clk = (unsigned long long *)bench_alloc(b.prop.multiProcessorCount * 8);
	bool fp8 = b.prop.major * 10 + b.prop.minor >= 89;

#define RATE(OP) rate<op_##OP>(&b, #OP, "op/clk/SM", clk)
	RATE(ffma), RATE(fadd), RATE(hfma2_bf16), RATE(hfma2_f16), RATE(ex2), RATE(rsqrt), RATE(rcp), RATE(tanh_approx);
	RATE(iadd), RATE(imad), RATE(lop3), RATE(shift), RATE(prmt), RATE(popc), RATE(shfl);
	RATE(i2f_f2i), RATE(f32_to_bf16), RATE(f32_to_bf16x2), RATE(f16_to_f32);
	if (fp8)
		RATE(e4m3x2_to_f16x2), RATE(f32_to_e4m3x2);
#define FLOPS(OP) rate<op_##OP>(&b, #OP, "FLOP/clk/SM", clk)
	FLOPS(mma_bf16), FLOPS(mma_f16), FLOPS(mma_tf32), FLOPS(mma_s8);
	/* On sm_90 this instruction is made of conversions and f16 products, which fixed operands let the compiler fold. */
	if (fp8 && b.prop.major != 9)
		FLOPS(mma_e4m3);

	return bench_close(&b);
}
