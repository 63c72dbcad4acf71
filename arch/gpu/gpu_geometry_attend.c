/* gpu_geometry_attend.c - which kernels serving engines and PyTorch launch for attention, and how they lay it out. */
#include "arch/gpu/gpu_geometry_int.h"

/* Two CTAs an SM are asked for. The fewest parts that fill waves nearly (85 %) as well as the best do; a number that
 * gives no part fewer tiles than the one before is passed over. */
uint32_t gpu_geometry_kv_splits(uint64_t ctas, uint32_t sms, uint64_t blocks)
{
	uint64_t room = 2 * (uint64_t)sms, most = blocks < 128 ? blocks : 128, best = 0;

	if (ctas * 10 >= room * 8)
		return 1;
	most = most < room ? most : room;
	for (int pass = 0; pass < 2; pass++)
		for (uint64_t n = 1; n <= most; n++) {
			uint64_t ppm = ctas * n * 1000000 / room, full = div_up(ctas * n, room);

			if (n > 1 && div_up(blocks, n) == div_up(blocks, n - 1))
				continue;
			ppm /= full;
			if (pass == 0 && ppm > best)
				best = ppm;
			else if (pass == 1 && ppm * 100 >= best * 85)
				return (uint32_t)n;
		}
	return 1;
}

/* FlashAttention 2's kernel that joins the parts of split keys, FlashMLA's, too. */
static void flash_combine(const struct kernels *k, const struct op *o, const char *name, uint64_t ctas,
                          struct geometry *out)
{
	gpu_geometry_put(out, k, o, name, (struct grid){ ctas, 1, 1, 128 });
	out->at[1].registers = 64;
	out->kernel[1].form = KERNEL_COMBINE;
	out->kernel[1].steps = 1;
	out->kernel[1].cycles = 3680;
	out->kernel[1].loop_cycles = 36;
	out->kernel[1].moves = KERNEL_MOVES_WRITES;
}

/* FlashInfer's decode over paged keys by its tensor-core kernel (fa2), as vLLM plans it for a graph: rows are the queries
 * of heads that share keys, 16 or 64 of them a tile; chunks of at least 128 keys, as long as keeps two CTAs an SM; what
 * joins them runs in any case. Four warps share a tile of 16 rows along the keys, and join what they have of it in shared
 * memory, which has room for that; of 64 rows each has its own 16 and all keys, and turns all of a tile of 8-bit keys and
 * values to 16 bits for itself. Before the first keys: the plan's mask, its request, lengths, the page, queries. Chosen on
 * one of four rows of the published tables (8-bit keys): 7 cycles an element on Ada, which its SM's CTAs take in turn, 4 from
 * Blackwell on; what each of the compiled kernels takes once; 2500 cycles more to join where there is something to join.
 * Source: flashinfer-ai/flashinfer include/flashinfer/attention/scheduler.cuh, prefill.cuh. */
static void flashinfer(const struct gpu *g, const struct kernels *k, const struct op *o, struct geometry *out)
{
	const struct op_shape *s = &o->shape;
	uint64_t kv = s->kv_heads ? s->kv_heads : s->heads, batch = s->batch ? s->batch : 1;
	uint64_t shared = s->heads > kv ? s->heads / kv : 1, rows = shared > 16 ? 64 : 16;
	uint64_t tiles = batch * div_up(shared, rows), pages = div_up(s->kv_len ? s->kv_len : 1, 64);
	uint64_t room = 2 * (uint64_t)g->sms / kv, each = room / tiles ? room / tiles : 1, chunk = div_up(pages, each);
	/* What half of an SM's shared memory holds, 16 a step and warp, eight steps at the most. */
	uint32_t keys = rows == 64 ? (s->head_dim <= 128 ? 128 : 32) : 16384 / (uint32_t)s->head_dim;
	uint64_t elements = (uint64_t)keys * 2 * s->head_dim / (rows == 16 ? 128 : 32), parts;
	const uint32_t widen = g->cfg->sm.capability >= 100 ? 4 : 7;
	const uint32_t once[2][3] = { { 3900, 7400, 5300 }, { 600, 9500, 9500 } };

	chunk = chunk < 2 ? 2 : chunk;
	parts = div_up(pages, chunk);
	out->n = 0;
	gpu_geometry_put(out, k, o, "flashinfer::BatchPrefillWithPagedKVCacheKernel",
	                 (struct grid){ parts, tiles, kv, 128 });
	out->at[0].registers = 255;
	out->at[0].smem_dynamic = (rows * 2 + 2 * keys) * s->head_dim;
	if (rows == 16 && out->at[0].smem_dynamic < 4 * rows * s->head_dim * 4)
		out->at[0].smem_dynamic = 4 * rows * s->head_dim * 4;
	out->kernel[0].form = KERNEL_ATTENTION;
	out->kernel[0].moves = KERNEL_MOVES_READS;
	out->kernel[0].tile_m = out->kernel[0].tile_n = (uint32_t)rows;
	out->kernel[0].tile_k = keys;
	out->kernel[0].asynchronous = 1;
	out->kernel[0].start = 6;
	out->kernel[0].steps = 2;
	out->kernel[0].cycles = 3100;
	if (dtype_bits(o->dtype) == 8)
		out->kernel[0].once_cycles = once[rows == 64][s->head_dim <= 64 ? 0 : s->head_dim <= 128 ? 1 : 2];
	out->kernel[0].loop_cycles = dtype_bits(o->dtype) == 8 ? (uint32_t)elements * widen : 0;
	gpu_geometry_put(out, k, o, "flashinfer::PersistentVariableLengthMergeStatesKernel",
	                 (struct grid){ div_up(batch * s->heads, 4), 1, 1, 128 });
	out->at[1].registers = 64;
	out->kernel[1].form = KERNEL_COMBINE;
	out->kernel[1].moves = KERNEL_MOVES_WRITES;
	out->kernel[1].steps = 1;
	out->kernel[1].unroll = (uint32_t)(1024 / s->head_dim); /* 128 threads of 8 elements */
	out->kernel[1].cycles = 3680 + (parts > 1 ? 2500 : 0);  /* as FlashAttention's, and more */
}

/* How many pages of 64 keys a CTA of prompts takes: the least from two on that leaves no more CTAs than two an SM; a window
 * is as long as its queries see (scheduler.cuh, PrefillBinarySearchKVChunkSize). */
static uint64_t flashinfer_chunk(const struct op_shape *s, uint64_t tiles, uint64_t rows, uint64_t room,
                                 uint64_t *pages)
{
	const uint64_t seen = s->window ? s->window + rows : s->kv_len;
	uint64_t low = 2;

	*pages = div_up(seen < s->kv_len ? seen : s->kv_len, 64);
	while (low < *pages && tiles * div_up(*pages, low) > room)
		low++;
	return low < *pages ? low : *pages;
}

/* The same kernel over prompts: 128 rows a tile where there are as many, 64 from heads of 256 on; keys by the registers, with
 * half of an SM's shared memory. Bytes are widened once for both groups of rows, beside the products. Where CTAs leave room,
 * keys are split as in decode; what joins them takes a row of a head a turn of a CTA, 1,100 cycles of an SM each (four
 * warps, most of whose lanes have no part; 750 where its threads are half as many rows), chosen on the rows in sight. */
static void flashinfer_prompt(const struct gpu *g, const struct kernels *k, const struct op *o, struct geometry *out)
{
	const struct op_shape *s = &o->shape;
	const uint64_t kv = s->kv_heads ? s->kv_heads : s->heads, batch = s->batch ? s->batch : 1;
	const uint64_t queries = s->q_len * (s->heads / kv), room = 2 * (uint64_t)g->sms / kv;
	const uint32_t rows = queries > 64 && s->head_dim < 256 ? 128 : queries > 16 ? 64 : 16;
	const uint32_t keys = rows == 128 ? (s->head_dim < 128 ? 64 : 32) : s->head_dim <= 128 ? 128 : 32;
	uint64_t pages, chunk = flashinfer_chunk(s, batch * div_up(queries, rows), rows, room, &pages), parts;

	parts = pages ? div_up(pages, chunk) : 1;
	out->n = 0;
	gpu_geometry_put(out, k, o, "flashinfer::BatchPrefillWithPagedKVCacheKernel",
	                 (struct grid){ div_up(queries, rows) * parts, kv, batch, 128 });
	out->at[0].registers = 255;
	out->at[0].smem_dynamic = (rows * 2 + 2 * keys) * s->head_dim;
	out->kernel[0].form = KERNEL_FLASH;
	out->kernel[0].moves = parts > 1 ? KERNEL_MOVES_READS : KERNEL_MOVES_ALL;
	out->kernel[0].tile_n = rows;
	out->kernel[0].tile_k = keys;
	out->kernel[0].stages = 2;
	out->kernel[0].asynchronous = out->kernel[0].shares = 1;
	if (dtype_bits(o->dtype) == 8) /* 1.6 instructions an element of a warp's */
		out->kernel[0].loop_cycles = keys * 2 * (uint32_t)s->head_dim / 20;
	out->kernel[0].start = 6;
	if (parts == 1)
		return;
	gpu_geometry_put(out, k, o, "flashinfer::PersistentVariableLengthMergeStatesKernel",
	                 (struct grid){ g->sms, 1, 1, 128 });
	out->at[1].registers = 64;
	out->kernel[1].form = KERNEL_COMBINE;
	out->kernel[1].moves = KERNEL_MOVES_WRITES;
	out->kernel[1].turns = (uint32_t)div_up(batch * s->q_len * s->heads, g->sms);
	out->kernel[1].steps = 1;
	out->kernel[1].loop_cycles = s->head_dim <= 64 ? 1100 : 750;
	out->kernel[1].cycles = 3680; /* as FlashAttention's */
}

/* vLLM's Triton kernel, which it takes for 8-bit keys where FlashInfer has no such heads: tiles of 32 keys, of which the
 * page comes first, 16 segments of the keys where there are no more than 128 sequences times heads, joined by another
 * kernel; its stages leave room for two CTAs an SM. 1500 cycles a tile beside three round trips, and 2500 of a segment
 * without keys, were chosen on one of four rows of the published tables. Source: vllm-project/vllm
 * v1/attention/ops/triton_unified_attention.py. */
static void triton(const struct gpu *g, const struct kernels *k, const struct op *o, struct geometry *out)
{
	const struct op_shape *s = &o->shape;
	uint64_t kv = s->kv_heads ? s->kv_heads : s->heads, batch = s->batch ? s->batch : 1;
	uint64_t rows = s->heads / kv > 16 ? s->heads / kv : 16, parts;
	uint64_t tiles = div_up(s->kv_len ? s->kv_len : 1, 32);
	const bool segments = batch * kv <= 128;

	/* Segments behind the last key are left as soon as that is known; what a window sees of a longer sequence lies in one. */
	parts = segments && !s->window ? div_up(tiles, div_up(tiles, 16)) : 1;
	out->n = 0;
	gpu_geometry_put(out, k, o, "kernel_unified_attention", (struct grid){ parts, batch, kv, 128 });
	out->at[0].registers = 255;
	out->at[0].smem_dynamic = 40 << 10;
	out->kernel[0].form = KERNEL_ATTENTION;
	out->kernel[0].moves = segments ? KERNEL_MOVES_READS : KERNEL_MOVES_ALL;
	out->kernel[0].tile_m = out->kernel[0].tile_n = (uint32_t)rows;
	out->kernel[0].tile_k = 32;
	out->kernel[0].asynchronous = 1;
	out->kernel[0].start = 5;
	out->kernel[0].steps = 3;
	out->kernel[0].cycles = 3100; /* as FlashAttention's */
	out->kernel[0].once_cycles = segments ? (uint32_t)((16 - parts) * batch * kv * 2500 / (2 * g->sms)) : 0;
	out->kernel[0].loop_cycles = 1500;
	if (!segments)
		return;
	gpu_geometry_put(out, k, o, "reduce_segments", (struct grid){ batch * s->heads, 1, 1, 128 });
	out->at[1].registers = 64;
	out->kernel[1].form = KERNEL_COMBINE;
	out->kernel[1].moves = KERNEL_MOVES_WRITES;
}

/* The same over prompts: as few rows a tile as 16 or the heads that share keys, so that a query or some of them with all those
 * heads are a CTA, two an SM; nothing is split. 1,100 cycles a tile beside its products, chosen on the rows in sight. */
static void triton_prompt(const struct kernels *k, const struct op *o, struct geometry *out)
{
	const struct op_shape *s = &o->shape;
	const uint64_t kv = s->kv_heads ? s->kv_heads : s->heads, batch = s->batch ? s->batch : 1;
	const uint64_t shared = s->heads / kv > 1 ? s->heads / kv : 1;
	const uint32_t rows = shared > 16 ? UINT32_C(1) << log2_up(shared) : 16;

	out->n = 0;
	gpu_geometry_put(out, k, o, "kernel_unified_attention",
	                 (struct grid){ div_up(s->q_len, rows / shared), kv, batch, 128 });
	out->at[0].registers = 255;
	out->at[0].smem_dynamic = 40 << 10;
	out->kernel[0].form = KERNEL_FLASH;
	out->kernel[0].moves = KERNEL_MOVES_ALL;
	out->kernel[0].tile_n = rows;
	out->kernel[0].tile_k = 32;
	out->kernel[0].stages = 2;
	out->kernel[0].asynchronous = out->kernel[0].shares = 1;
	out->kernel[0].start = 5;
	out->kernel[0].loop_cycles = 1100;
}

/* Many queries where a library has no wgmma: FlashAttention 2's kernel, or with a bias on the scores (a fourth operand)
 * PyTorch's memory-efficient one, which profiles of an RTX 5090 show (traces/rtx5090/dsocr_counters.csv, kernel 9: 128
 * registers, four CTAs an SM). Tiles: Dao-AILab/flash-attention csrc/flash_attn/src/flash_fwd_launch_template.h; PyTorch
 * aten/src/ATen/native/transformers/cuda/mem_eff_attention. */
static void many_by_warps(const struct gpu *g, const struct kernels *k, const struct op_stream *s, const struct op *o,
                          struct geometry *out)
{
	const struct op_shape *x = &o->shape;
	const uint32_t narrow = g->cfg->sm.capability == 80 ? 64 : 32;
	uint32_t reads = 0, rows = 64, keys = 64;
	bool biased;

	for (uint32_t i = 0; i < o->n_operands; i++)
		reads += !s->operands[o->first_operand + i].write;
	biased = reads > 3;
	if (x->paged)
		keys = x->head_dim <= 64 ? 256 : x->head_dim <= 128 ? 128 : 64;
	else if (!biased && x->head_dim <= 64)
		rows = keys = 128;
	else if (!biased && x->head_dim <= 128 && (!x->causal || narrow == 64))
		rows = 128, keys = narrow;
	out->n = 0;
	gpu_geometry_put(out, k, o,
	                 biased ? "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel)"
	                        : "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits>",
	                 (struct grid){ div_up(x->q_len, rows), x->heads, x->batch ? x->batch : 1, 128 });
	out->at[0].registers = biased ? 128 : 255;
	out->at[0].smem_dynamic = (rows + 2 * keys) * x->head_dim * 2;
	out->kernel[0].form = KERNEL_FLASH;
	out->kernel[0].moves = KERNEL_MOVES_ALL;
	out->kernel[0].tile_n = rows;
	out->kernel[0].tile_k = keys;
	out->kernel[0].stages = biased ? 1 : 2;
	out->kernel[0].asynchronous = 1;
}

/* Over a latent from Hopper on: 64 or 128 heads (of a prompt, of one query after the other) a tile, 64 keys, and as many parts
 * as fill the SMs, which another kernel joins. Source: deepseek-ai/FlashMLA csrc (block sizes, its scheduler of tiles); CUTLASS's sm100 MLA example is
 * laid out alike. */
static void latent(const struct gpu *g, const struct kernels *k, const struct op *o, struct geometry *out)
{
	const struct op_shape *s = &o->shape;
	const uint64_t queries = s->heads * s->q_len, batch = s->batch ? s->batch : 1;
	const uint32_t rows = queries > 64 ? 128 : 64, keys = 64;
	const uint64_t ctas = batch * div_up(queries, rows), tiles = div_up(s->kv_len ? s->kv_len : 1, keys),
		       room = g->sms / ctas ? g->sms / ctas : 1, parts = div_up(tiles, div_up(tiles, room));

	out->n = 0;
	gpu_geometry_put(out, k, o, "flash_fwd_splitkv_mla_kernel", (struct grid){ parts, ctas / batch, batch, 384 });
	out->at[0].registers = 168;
	out->at[0].smem_dynamic = (rows + 2 * keys) * s->head_dim * dtype_bits(o->dtype) / 8;
	out->kernel[0].form = KERNEL_ATTENTION;
	out->kernel[0].moves = parts > 1 ? KERNEL_MOVES_READS : KERNEL_MOVES_ALL;
	out->kernel[0].tile_m = out->kernel[0].tile_n = rows;
	out->kernel[0].tile_k = keys;
	out->kernel[0].asynchronous = out->kernel[0].tensor = 1;
	out->kernel[0].start = 5;     /* the plan, lengths, page, queries, the latent */
	out->kernel[0].cycles = 3100; /* as FlashAttention's */
	if (parts == 1)
		return;
	flash_combine(k, o, "flash_fwd_mla_combine_kernel", div_up(batch * queries, 4), out);
}

/* FlashAttention 3, Hopper's, over paged keys: 128 rows (heads of 64: 192) of queries that share keys, or one warpgroup's 64
 * where there are no more and no window; keys by what is left of shared memory where they come row by row. Each sequence's
 * keys are split: as many tiles a CTA as there are for an SM and a tenth more, at most 32 parts (vLLM's bound under a
 * graph), as a kernel that runs once a step plans it. What joins them is launched in any case, and leaves at once where
 * there is one. Up to four tiles of a window are not split. Chosen on the H100's rows: round trips before the first keys,
 * six more of one warpgroup alone, what transposing takes of 8-bit values, 14 cycles an element of a thread of the
 * warpgroup that loads with heads of 128, and 20 round trips that the masks of a window cost one query. Heads beyond 256
 * have FlashAttention 4's kernel: whatever the keys, a head of keys of a sequence takes 3,800 cycles, one after the other
 * (six rows in sight, chosen on them; why is not known). Source: vllm-project/flash-attention hopper (tile_size.h,
 * heuristics.h, flash_prepare_scheduler.cu, flash_fwd_combine_kernel.h), vLLM v1/attention/backends/flash_attn.py. */
static void flash3(const struct gpu *g, const struct kernels *k, const struct op *o, struct geometry *out)
{
	static const struct {
		uint64_t dim;
		uint32_t rows, keys, keys8, keys_local;
	} tiles[] = { { 64, 192, 128, 160, 128 },
		      { 96, 192, 128, 128, 128 },
		      { 128, 128, 128, 160, 128 },
		      { 192, 128, 96, 128, 96 },
		      { 0, 128, 80, 128, 64 } };
	const struct op_shape *s = &o->shape;
	const bool byte = dtype_bits(o->dtype) == 8;
	const uint64_t kv = s->kv_heads ? s->kv_heads : s->heads, batch = s->batch ? s->batch : 1;
	uint64_t blocks, queries, each, seen, parts = 1;
	uint32_t keys, rows;
	bool alone;
	size_t i = 0;

	while (tiles[i].dim && s->head_dim > tiles[i].dim)
		i++;
	keys = byte && !(s->window && s->head_dim > 192) ? tiles[i].keys8
	       : s->window                               ? tiles[i].keys_local
	                                                 : tiles[i].keys;
	alone = s->heads / kv * s->q_len <= 64 && !s->window && (s->head_dim == 64 || s->head_dim == 128);
	rows = alone ? 64 : tiles[i].rows;
	queries = div_up(s->heads / kv * s->q_len, rows);
	seen = s->window && s->window + rows < s->kv_len ? s->window + rows : s->kv_len;
	blocks = div_up(seen ? seen : 1, keys);
	each = div_up(batch * kv * queries * blocks * 11, 10 * (uint64_t)g->sms);
	if (!s->window || blocks > 4)
		parts = div_up(blocks, each) < 32 ? div_up(blocks, each) : 32;
	out->n = 0;
	gpu_geometry_put(out, k, o, "cutlass::device_kernel<flash::FlashAttnFwdSm90>",
	                 (struct grid){ parts, kv * queries, batch, 384 });
	out->at[0].registers = 168;
	out->at[0].smem_dynamic = 160 << 10; /* one an SM */
	out->kernel[0].form = KERNEL_ATTENTION;
	out->kernel[0].moves = parts > 1 ? KERNEL_MOVES_READS : KERNEL_MOVES_ALL;
	out->kernel[0].tile_m = out->kernel[0].tile_n = rows;
	out->kernel[0].tile_k = keys;
	out->kernel[0].asynchronous = out->kernel[0].tensor = 1;
	out->kernel[0].start =
		(byte ? 18 : 12) +
		(alone ? 6 : 0); /* the plan, lengths, page, queries, keys; of bytes the scales; its pipelines */
	out->kernel[0].loop_cycles = byte ? (uint32_t)(keys * s->head_dim / 128 * s->head_dim / 128 * 14) : 0;
	/* as cuDNN's on an H200 (attention.setup, setup_dim) */
	out->kernel[0].cycles = 1100 + 20 * (uint32_t)(s->head_dim < 256 ? s->head_dim : 256);
	if (s->head_dim > 256 && s->q_len == 1)
		out->kernel[0].in_turn = 3800;
	out->kernel[0].finish = s->window && s->q_len == 1 ? 20 : 0;
	gpu_geometry_put(out, k, o, "flash::FlashAttnFwdCombine",
	                 (struct grid){ div_up(batch * s->heads, 8), 1, 1, 256 });
	out->at[1].registers = 64;
	out->kernel[1].form = parts > 1 ? KERNEL_COMBINE : KERNEL_CHAIN;
	out->kernel[1].moves = parts > 1 ? KERNEL_MOVES_WRITES : KERNEL_MOVES_NONE;
	out->kernel[1].start = 1;
}

/* TensorRT-LLM's generation kernel, which FlashInfer has for data-centre Blackwell: rows by what heads share, two tiles of
 * 128 keys a turn; CTAs share a sequence's keys as long as an SM is free, and the last that is done joins the parts. 8-bit
 * keys and values go into the tensor cores as they are. Chosen on the B200's rows: what its pipelines take to begin and end
 * beside other kernels of that kind, 20 round trips, and ten more where CTAs wait for each other. Its kernel for Hopper
 * (XQA) is laid out alike here: it widens nothing either, and shares keys out the same way. Source:
 * flashinfer-ai/flashinfer include/flashinfer/trtllm/fmha/fmhaKernels.cuh, NVIDIA/TensorRT-LLM cpp/kernels/xqa/mha_sm90.cu. */
static void trtllm(const struct gpu *g, const struct kernels *k, const struct op *o, struct geometry *out)
{
	const struct op_shape *s = &o->shape;
	const uint64_t kv = s->kv_heads ? s->kv_heads : s->heads, batch = s->batch ? s->batch : 1;
	const uint64_t shared = s->heads / kv * s->q_len;
	const uint32_t rows = shared <= 8 ? 8 : shared <= 16 ? 16 : shared <= 32 ? 32 : shared <= 64 ? 64 : 128;
	const uint64_t queries = div_up(shared, rows), ctas = kv * queries * batch;
	const uint64_t turns = div_up(s->kv_len ? s->kv_len : 1, 256), room = g->sms / ctas ? g->sms / ctas : 1;
	const uint64_t parts = div_up(turns, div_up(turns, room));

	out->n = 0;
	gpu_geometry_put(out, k, o, "fmhaSm100fKernel_PagedKvCausal_StaticTokenSparse_SwapsMmaAbForGeneration",
	                 (struct grid){ parts, kv * queries, batch, 512 });
	out->at[0].registers = 128;
	out->at[0].smem_dynamic = 200 << 10;
	out->kernel[0].form = KERNEL_ATTENTION;
	out->kernel[0].moves = KERNEL_MOVES_ALL;
	out->kernel[0].tile_m = out->kernel[0].tile_n = rows;
	out->kernel[0].tile_k = 256;
	out->kernel[0].asynchronous = out->kernel[0].tensor = 1;
	out->kernel[0].start = 5;
	out->kernel[0].steps = 1;
	out->kernel[0].cycles = 3100;
	out->kernel[0].finish = parts > 1 ? 30 : 20;
}

/* Over paged keys: whose kernel, as vLLM chooses where nobody said; then keys that one asks not to split stay whole, and a
 * latent has kernels of its own. Elsewhere ANY. */
static enum op_library paged_by(const struct gpu *g, const struct op *o)
{
	const uint32_t c = g->cfg->sm.capability;

	if (!o->shape.paged || o->algorithm == OP_ATTN_MLA)
		return OP_LIBRARY_ANY;
	/* TensorRT-LLM's of several queries on Hopper are warpgroups' too; of older and of smaller cards none is described. */
	if (o->library == OP_LIBRARY_TRTLLM && (c < 90 || c >= 110))
		return OP_LIBRARY_ANY;
	if (o->library == OP_LIBRARY_TRTLLM && c < 100 && o->shape.q_len > 1)
		return OP_LIBRARY_FLASH3;
	if (o->library != OP_LIBRARY_ANY)
		return o->library;
	if (o->algorithm == OP_ATTN_FLASH && o->shape.q_len == 1)
		return OP_LIBRARY_ANY;
	return c >= 90 && c < 100 ? OP_LIBRARY_FLASH3 : c >= 100 && c < 110 ? OP_LIBRARY_TRTLLM : OP_LIBRARY_ANY;
}

/* In one call with prompts FlashAttention 2 has a head a CTA: a tile of 64 rows for one query, keys whole; queries of heads that share
 * keys become rows only where no sequence has more than one. Source: vllm-project/flash-attention csrc/flash_attn/flash_api.cpp,
 * mha_varlen_fwd (seqlenq_ngroups_swapped, set_params_splitkv), flash_fwd_launch_template.h. */
static bool beside_prompts(const struct gpu *g, const struct op *o)
{
	return o->mixed && o->shape.q_len == 1 && gpu_geometry_by_warps(g) && o->algorithm != OP_ATTN_MLA &&
	       (o->library == OP_LIBRARY_ANY || o->library == OP_LIBRARY_FLASH2);
}

/* FlashAttention 2's decode kernel: 64 rows, which the queries of heads that share keys fill; keys by 256, 128 or 64.
 * Over paged keys of several lengths (OP_ATTN_FLASH here) it splits them only where heads share. Parts are joined one
 * after the other. Cycles: of its kernels as PyTorch has them, 214 splits on an H200 (traces/h200/micro/fa2_cupti.csv):
 * a joining kernel takes 2.4 us and 181 ns a part, a part of one tile 4.6 to 5.8 us warm, a tile more 1.9 to 3.2. Once a
 * launch its start takes 2400 cycles more where heads that share are rows of a tile, and 1500 on Ada and GB20x, which one
 * of four rows of the published tables show (A100, L40S, RTX PRO 6000); why is not known. */
bool gpu_geometry_attention(const struct gpu *g, const struct kernels *k, const struct op_stream *stream,
                            const struct op *o, struct geometry *out)
{
	const struct op_shape *s = &o->shape;
	uint64_t kv = s->kv_heads ? s->kv_heads : s->heads, batch = s->batch ? s->batch : 1;
	uint32_t keys = s->head_dim <= 64 ? 256 : s->head_dim <= 128 ? 128 : 64;
	const bool alone = beside_prompts(g, o);
	bool varlen = alone || (o->algorithm == OP_ATTN_FLASH && s->paged);
	bool joined = s->heads > kv && s->q_len == 1 && !alone;
	uint64_t ctas = batch * (joined ? kv : s->heads) * div_up(s->q_len * (joined ? s->heads / kv : 1), 64);
	uint32_t splits = joined || !varlen ? gpu_geometry_kv_splits(ctas, g->sms, div_up(s->kv_len, keys)) : 1;

	if (paged_by(g, o) == OP_LIBRARY_FLASH3) {
		flash3(g, k, o, out);
		return true;
	}
	if (s->q_len > 1 && paged_by(g, o) == OP_LIBRARY_TRITON) {
		triton_prompt(k, o, out);
		return true;
	}
	if (o->algorithm == OP_ATTN_MLA && s->v_dim && gpu_geometry_generation(g->cfg->sm.capability) == WGMMA) {
		latent(g, k, o, out);
		return true;
	}
	if (s->q_len > 64 && !gpu_geometry_by_warps(g))
		return false;
	if (s->q_len > 1 && paged_by(g, o) == OP_LIBRARY_FLASHINFER) {
		flashinfer_prompt(g, k, o, out);
		return true;
	}
	if (s->q_len > 64) {
		many_by_warps(g, k, stream, o, out);
		return true;
	}
	if (s->q_len == 1 && paged_by(g, o) == OP_LIBRARY_TRTLLM) {
		trtllm(g, k, o, out);
		return true;
	}
	if (o->algorithm == OP_ATTN_SPLIT_KV && s->paged && s->q_len == 1 && !alone) {
		if (s->head_dim == 64 || s->head_dim == 128 || s->head_dim == 256)
			flashinfer(g, k, o, out);
		else
			triton(g, k, o, out);
		return true;
	}
	out->n = 0;
	gpu_geometry_put(out, k, o, "void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits>",
	                 (struct grid){ splits, ctas / batch, batch, 128 });
	out->at[0].registers = 255;
	out->at[0].smem_dynamic = (64 + 2 * keys) * s->head_dim * 2;
	out->kernel[0].form = KERNEL_ATTENTION;
	out->kernel[0].moves = splits > 1 ? KERNEL_MOVES_READS : KERNEL_MOVES_ALL;
	out->kernel[0].tile_m = out->kernel[0].tile_n = 64;
	out->kernel[0].tile_k = keys;
	out->kernel[0].asynchronous = 1;
	out->kernel[0].start = s->paged ? 5 : 3; /* lengths, page, queries, keys, values */
	out->kernel[0].cycles = 3100;
	out->kernel[0].once_cycles =
		(varlen && joined ? 2400 : 0) + (varlen && s->q_len == 1 && gpu_geometry_consumer(g) ? 1500 : 0);
	out->kernel[0].steps = s->paged ? 1 : 0; /* the page of the keys; that of the values is known by then */
	if (splits == 1)
		return true;
	flash_combine(k, o, "void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits>",
	              div_up(batch * s->heads * s->q_len, s->head_dim % 128 == 0 ? 4 : 8), out);
	return true;
}
