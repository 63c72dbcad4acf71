/* t_rules_names.c - names of kernels that were unknown once, or taken for another's: the family, kind and library of each. A
 * name is as a profiler prints it, shortened at the end. */
#include "validate/tests/mktrace.h"
#include "validate/tests/tracebed.h"
#include "workloads/rules.h"

static const struct row {
	const char *kernel, *family;
	enum op_kind kind;
	const char *library; /* NULL: any */
} rows[] = {
	/* DeepEP csrc/kernels (intranode.cu, internode.cu, internode_ll.cu, layout.cu), as nsys and as ncu spell them, which leaves
		 * namespaces out; AMD Primus-Turbo has them in its own */
	{ "void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*, int*, long*)", "collective", OP_COLLECTIVE,
	  "DeepEP" },
	{ "void dispatch<8, 768, 8192>(int4 *, float *, int *)", "collective", OP_COLLECTIVE, "DeepEP" },
	{ "dispatch", "collective", OP_COLLECTIVE, "DeepEP" },
	{ "combine", "collective", OP_COLLECTIVE, "DeepEP" },
	{ "void combine<__nv_bfloat16, 8, 768, 4096>(__nv_bfloat16 *, float *)", "collective", OP_COLLECTIVE,
	  "DeepEP" },
	{ "void notify_dispatch<8>(const int *, int *, const int *)", "collective", OP_COLLECTIVE, "DeepEP" },
	{ "void cached_notify_combine<4>(void **, int *)", "collective", OP_COLLECTIVE, "DeepEP" },
	{ "notify_dispatch", "collective", OP_COLLECTIVE, "DeepEP" },
	{ "void deep_ep::internode_ll::combine<true, 7168, 9>(void*)", "collective", OP_COLLECTIVE, "DeepEP" },
	{ "_ZN7deep_ep12internode_ll8dispatchILb1ELb0ELi7168EEEvPvS1_", "collective", OP_COLLECTIVE, "DeepEP" },
	{ "void primus_turbo::deep_ep::intranode::cached_notify_dispatch<8>(int const*, int*)", "collective",
	  OP_COLLECTIVE, "DeepEP" },
	{ "void get_dispatch_layout<256, 32, 8>(const long *, int *)", "moe_routing", OP_OPAQUE, NULL },
	{ "void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*)", "moe_routing", OP_OPAQUE, NULL },
	/* experts as serving engines run them: vLLM csrc/moe and model_executor/layers/fused_moe, sgl-kernel csrc/moe and
	 * sglang/srt/layers/moe, triton_kernels, TensorRT-LLM cutlass_kernels/moe_gemm and trtllmGenKernels, DeepGEMM */
	{ "void vllm::moe::topkGating<8, 128, 4, 16, 32, int, __nv_bfloat16>(__nv_bfloat16 const*)", "topk", OP_TOPK,
	  "vLLM" },
	{ "void vllm::moe::moeTopK<256, int>(float const*, bool const*, float*)", "topk", OP_TOPK, "vLLM" },
	{ "void vllm::moe::grouped_topk_fused_kernel<float, float, int, 0>(float*)", "topk", OP_TOPK, "vLLM" },
	{ "void topkGatingSigmoid<__nv_bfloat16, 8, 128, 4, 16>(__nv_bfloat16 const*)", "topk", OP_TOPK, "vLLM" },
	{ "void tensorrt_llm::kernels::renormMoeRoutingKernel<float, __nv_bfloat16, int, 128, 8, false>(float*)",
	  "topk", OP_TOPK, "vLLM" },
	{ "void moe_align_block_size_small_batch_expert_kernel<int, 256>(int const*, int*, int*)", "moe_routing",
	  OP_SORT, NULL },
	{ "void count_and_sort_expert_tokens_kernel<int>(int const*, int*, int*, unsigned long)", "moe_routing",
	  OP_SORT, NULL },
	{ "compute_src2dst_triton_kernel", "moe_routing", OP_SORT, NULL },
	{ "_combined_routing_compute", "moe_routing", OP_SORT, NULL },
	{ "void moe::dev::routing::routingRenormalize::routingIndicesClusterKernel<x>(x)", "moe_routing", OP_SORT,
	  NULL },
	{ "void compute_problem_sizes<false>(int const*, int*, int*)", "moe_routing", OP_SCAN, NULL },
	{ "compute_seg_indptr_triton_kernel", "moe_routing", OP_SCAN, NULL },
	{ "_fwd_kernel_ep_scatter_1", "moe_routing", OP_SCAN, NULL },
	{ "_fwd_kernel_ep_scatter_2", "moe_routing", OP_GATHER, NULL },
	{ "void vllm::shuffleInputRowsKernel<x>(x)", "moe_routing", OP_GATHER, NULL },
	{ "void tensorrt_llm::kernels::cutlass_kernels::expandInputRowsKernel<__nv_bfloat16, __nv_bfloat16>(x)",
	  "moe_routing", OP_GATHER, NULL },
	{ "pre_reorder_triton_kernel", "moe_routing", OP_GATHER, NULL },
	{ "post_reorder_triton_kernel", "moe_routing", OP_REDUCE, NULL },
	{ "_fwd_kernel_ep_gather", "moe_routing", OP_REDUCE, NULL },
	{ "void vllm::moe::moe_sum_kernel<c10::BFloat16, 4>(c10::BFloat16*, c10::BFloat16 const*, int)", "moe_routing",
	  OP_REDUCE, NULL },
	{ "void moe_sum_reduce_warp_per_token_vec_kernel<8>(c10::BFloat16 const*, c10::BFloat16*)", "moe_routing",
	  OP_REDUCE, NULL },
	{ "_moe_sum_reduce_kernel", "moe_routing", OP_REDUCE, NULL },
	{ "void moe::dev::finalize::finalizeKernel<moe::dev::finalize::KernelParams<cutlass::bfloat16_t, false> >(x)",
	  "moe_routing", OP_REDUCE, NULL },
	{ "fused_moe_kernel_gptq_awq", "moe_gemm", OP_GEMM, "Triton" },
	{ "batched_triton_kernel", "moe_gemm", OP_GEMM, "Triton" },
	{ "_p_matmul_ogs_NNT_bf16xbf16xmxfp4_128x256x128x1_swiglu", "moe_gemm", OP_GEMM, "Triton" },
	{ "grouped_gemm_triton_kernel", "moe_gemm", OP_GEMM, "Triton" },
	{ "void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 4096u, 7168u, 1u, 128u, 128u, 128u, (deep_gemm::GemmType)1>(x)",
	  "moe_gemm", OP_GEMM, "DeepGEMM" },
	{ "void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 4096u, 7168u, 1u, 128u, 128u, 128u, (deep_gemm::GemmType)0>(x)",
	  "gemm", OP_GEMM, NULL },
	{ "void deep_gemm::fp8_gemm_kernel<4096u, 7168u, 128u, 128u, 128u, 32u, (deep_gemm::GemmType)2>(x)", "moe_gemm",
	  OP_GEMM, "DeepGEMM" },
	/* cuDNN 7 to 9 and CUTLASS, forward, data and weight gradients, in profiles of V100 to H100 */
	{ "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_stage4_warpsize2x2x1_g1_tensor16x8x16_kernel",
	  "conv", OP_GEMM, NULL },
	{ "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x64x32_stage5_warpsize2x2x1_g1_tensor16x8x8_kernel_cudnn",
	  "conv", OP_GEMM, NULL },
	{ "sm80_xmma_wgrad_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize256x128x32_stage3_kernel_cudnn",
	  "conv", OP_GEMM, NULL },
	{ "sm80_xmma_dgrad_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_nhwc_tilesize64x32x8_stage3_warpsize1x2x1_g1_ffma_aligna4_alignc4_execute_kernel__5x_cudnn",
	  "conv", OP_GEMM, NULL },
	{ "xmma_new::gemm::kernel<xmma_new::implicit_gemm::fprop_indexed::Implicit_gemm_traits<x> >", "conv", OP_GEMM,
	  NULL },
	{ "void xmma_cudnn::implicit_gemm::strided_dgrad_indexed::kernel<x>(x)", "conv", OP_GEMM, NULL },
	{ "cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1", "conv", OP_GEMM, NULL },
	{ "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", "conv", OP_GEMM, NULL },
	{ "ampere_scudnn_128x64_relu_medium_nn_v1", "conv", OP_GEMM, NULL },
	{ "maxwell_scudnn_128x128_stridedB_splitK_interior_nn", "conv", OP_GEMM, NULL },
	{ "turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_small_nhwc_tn_v1", "conv", OP_GEMM, NULL },
	{ "volta_fp16_s884cudnn_fp16_256x128_ldg8_dgrad_f2f_exp_interior_nhwc2nchw_tt_v1", "conv", OP_GEMM, NULL },
	{ "ampere_fp16_s16816cudnn_fp16_128x128_ldg8_wgrad_idx_exp_interior_nhwc_nt_v1", "conv", OP_GEMM, NULL },
	{ "void cutlass::Kernel<cutlass::conv::kernel::ImplicitGemmConvolution<cutlass::conv::threadblock::ImplicitGemmMultistage<cutlass::gemm::GemmShape<128, 128, 32>, cutlass::tfloat32_t> > >",
	  "conv", OP_GEMM, NULL },
	{ "void Kernel<ImplicitGemmConvolution<ImplicitGemmMultistage<GemmShape<128, 64, 32>>>>(Params)", "conv",
	  OP_GEMM, NULL },
	{ "void cutlass__5x_cudnn::Kernel<cutlass_tensorop_f16_s16816fprop_optimized_f16_128x128_32x5_nhwc_align8>(cutlass_tensorop_f16_s16816fprop_optimized_f16_128x128_32x5_nhwc_align8::Params)",
	  "conv", OP_GEMM, NULL },
	{ "void cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688wgrad_analytic_tf32_128x128_16x4_nhwc_align4>(x)",
	  "conv", OP_GEMM, NULL },
	{ "void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1, true, false, true>(int, int, int, float const*)",
	  "conv", OP_GEMM, NULL },
	{ "void cudnn::cnn::conv2d_grouped_direct_kernel<false, true, false, false, 0, 0, int, __half, float>", "conv",
	  OP_GEMM, NULL },
	{ "void cudnn::detail::implicit_convolve_sgemm<__half, __half, 128, 6, 7, 3, 3, 5>", "conv", OP_GEMM, NULL },
	{ "void cudnn::cnn::dgrad2d_grouped_direct_kernel<false, float, float, float>", "conv", OP_GEMM, NULL },
	{ "void cudnn::cnn::wgrad2d_grouped_direct_kernel<float, float>", "conv", OP_GEMM, NULL },
	{ "void cudnn::detail::dgrad_engine<float, 128, 6, 7, 3, 3, 5, true>", "conv", OP_GEMM, NULL },
	{ "void cudnn::cnn::wgrad_alg0_engine<float, 512, 6, 5, 3, 3, 3, true, 512>", "conv", OP_GEMM, NULL },
	{ "void wgrad_alg1_engine_NHWC<__half, 128, 5, 5>", "conv", OP_GEMM, NULL },
	{ "void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(x)", "conv", OP_GEMM, NULL },
	{ "void winogradForwardFilter4x4<float, float>(float const*)", "conv", OP_GEMM, NULL },
	{ "void convolve_common_engine_float_NHWC<__half, __half, 128, 5, 5, 3, 3, 3, false>", "conv", OP_GEMM, NULL },
	{ "void cudnn::cnn::im2col4d_kernel<float, long>", "conv", OP_GEMM, NULL },
	{ "void conv_depthwise2d_forward_kernel<3, float, int>(x)", "conv", OP_GEMM, NULL },
	{ "void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3, c10::Half, int>", "conv", OP_GEMM,
	  NULL },
	{ "sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_warpgroupsize1x1x1_g1_execute_segment_k_off_kernel__5x_cudnn",
	  "conv", OP_GEMM, NULL },
	{ "cudnn_infer_ampere_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", "conv", OP_GEMM, NULL },
	{ "void cudnn::cnn::fft2d_r2c_32x32<float, false, 1u, false>", "conv", OP_GEMM, NULL },
	{ "void fft2d_c2r_16x16<float, false>", "conv", OP_GEMM, NULL },
	/* what looks like a convolution and is none */
	{ "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_kernel", "gemm",
	  OP_GEMM, NULL },
	{ "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_kernel0_0", "attention",
	  OP_ATTENTION, NULL },
	/* pytorch/FBGEMM fbgemm_gpu: codegen/embedding_*_template.cu, src/quantize_ops, src/sparse_ops */
	{ "void split_embedding_codegen_forward_unweighted_kernel<float, float, float, long, true, 128>(x)",
	  "embedding", OP_EMBED, "FBGEMM" },
	{ "void fbgemm_gpu::split_embedding_codegen_forward_weighted_v2_kernel<c10::Half, float>", "embedding",
	  OP_EMBED, "FBGEMM" },
	{ "void (anonymous namespace)::split_embedding_codegen_forward_unweighted_kernel_small<float, float, float, long, 4>",
	  "embedding", OP_EMBED, "FBGEMM" },
	{ "void int_nbit_split_embedding_codegen_forward_unweighted_kernel_small_L<int, c10::Half, 2, 4>", "embedding",
	  OP_EMBED, "FBGEMM" },
	{ "void dense_embedding_codegen_forward_unweighted_kernel<float>", "embedding", OP_EMBED, "FBGEMM" },
	{ "void split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel_warp_per_row_1<float, float, 128>",
	  "embedding_backward", OP_OPAQUE, "FBGEMM" },
	{ "void split_embedding_codegen_grad_indice_weights_kernel<float>", "embedding_backward", OP_OPAQUE, "FBGEMM" },
	{ "void bounds_check_indices_kernel<long, false>", "embedding", OP_OPAQUE, "FBGEMM" },
	{ "void linearize_index_kernel<long>(x)", "embedding", OP_OPAQUE, "FBGEMM" },
	{ "void lxu_cache_lookup_kernel<long>", "embedding", OP_OPAQUE, "FBGEMM" },
	{ "void fbgemm_gpu::permute_2D_sparse_data_kernel<false, long, long, float>", "embedding", OP_OPAQUE,
	  "FBGEMM" },
	{ "void fbgemm_gpu::_float_to_fused8bitrowwise_cuda_kernel<float>", "convert", OP_CONVERT, "FBGEMM" },
	{ "_float_to_fused8bitrowwise_cuda_kernel(float const*, int, int, unsigned char*)", "convert", OP_CONVERT,
	  "FBGEMM" },
	{ "void fbgemm_gpu::_fused8bitrowwise_to_float_cuda_kernel<c10::Half>", "convert", OP_CONVERT, "FBGEMM" },
	{ "void fbgemm_gpu::_float_to_fusednbitrowwise_cuda_kernel<float>", "convert", OP_CONVERT, "FBGEMM" },
	{ "void _compute_8bit_quantize_cuda_kernel<float>", "convert", OP_CONVERT, "FBGEMM" },
	{ "void _get_8bit_qparam_cuda_kernel<float>", "convert", OP_CONVERT, "FBGEMM" },
	{ "_float_to_bfloat16_cuda_kernel(float const*)", "convert", OP_CONVERT, "FBGEMM" },
	{ "void fbgemm_gpu::_float_to_FP8rowwise_cuda_kernel<float>", "convert", OP_CONVERT, "FBGEMM" },
	{ "_kernel_quantize_fp8_row", "convert", OP_CONVERT, "FBGEMM" },
	{ "void fbgemm_gpu::dynamicQuantizeMatrixRowwise<__nv_bfloat16>", "convert", OP_CONVERT, "FBGEMM" },
	/* norms of ATen, cuDNN, MIOpen, TensorRT and apex */
	{ "void cudnn::bn_fw_inf_1C11_kernel_NCHW<float, float, true, 1>(float, float)", "norm", OP_NORM, NULL },
	{ "void cudnn::bn_fw_tr_1C11_singleread_fp16<512, true, 1, 2, 0>", "norm", OP_NORM, NULL },
	{ "void cudnn::batchnorm_fwtr_nhwc_semiPersist<__half, float, float, float, 512, 1, 2, 2>", "norm", OP_NORM,
	  NULL },
	{ "void cudnn::batchnorm_bwtr_nhwc_semiPersist<__half, float, float, float, 512>", "norm_backward", OP_OPAQUE,
	  NULL },
	{ "void cudnn::bn_bw_1C11_singleread_fp16<512, true>", "norm_backward", OP_OPAQUE, NULL },
	{ "void at::native::batch_norm_collect_statistics_kernel<at::native::InvStd, float, float, float, int>", "norm",
	  OP_NORM, NULL },
	{ "void at::native::batch_norm_transform_input_kernel<float, float, float, true, int>", "norm", OP_NORM, NULL },
	{ "void at::native::batch_norm_backward_reduce_kernel<float>", "norm_backward", OP_OPAQUE, NULL },
	{ "MIOpenBatchNormFwdTrainSpatial", "norm", OP_NORM, NULL },
	{ "void nhwc_batch_norm_fwd<__half, 512>", "norm", OP_NORM, NULL },
	{ "void at::native::(anonymous namespace)::ComputeFusedParamsCUDAKernel<float>", "norm", OP_NORM, NULL },
	{ "void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<float>", "norm", OP_NORM, NULL },
	{ "void at::native::(anonymous namespace)::ComputeInternalGradientsCUDAKernel<float>", "norm_backward",
	  OP_OPAQUE, NULL },
	{ "void groupNormNHWCSumKernel<160>(GroupNormNHWCParams)", "norm", OP_NORM, NULL },
	{ "group_norm_nhwc_fwd_one_pass_kernel", "norm", OP_NORM, NULL },
	{ "void welford_kernel<float, float, float>", "norm", OP_NORM, NULL },
	/* pooling, resampling and transforms of ATen, cuDNN and cuFFT */
	{ "void at::native::(anonymous namespace)::max_pool_forward_nchw<float, int>", "pool", OP_OPAQUE, NULL },
	{ "void at::native::(anonymous namespace)::max_pool_forward_nhwc<c10::Half, int>", "pool", OP_OPAQUE, NULL },
	{ "void at::native::(anonymous namespace)::max_pool_backward_nchw<float, float>", "pool", OP_OPAQUE, NULL },
	{ "void at::native::(anonymous namespace)::avg_pool2d_out_cuda_frame<float, float, int>", "pool", OP_OPAQUE,
	  NULL },
	{ "void at::native::(anonymous namespace)::avg_pool2d_backward_out_cuda_frame<float>", "pool", OP_OPAQUE,
	  NULL },
	{ "void at::native::(anonymous namespace)::adaptive_average_pool<float>", "pool", OP_OPAQUE, NULL },
	{ "void at::native::(anonymous namespace)::adaptive_average_pool_nhwc<int, float>", "pool", OP_OPAQUE, NULL },
	{ "void at::native::(anonymous namespace)::atomic_adaptive_average_gradinput<float>", "pool", OP_OPAQUE, NULL },
	{ "void cudnn::ops::pooling_fw_4d_kernel<float, float, cudnn::averpooling_func<float>, (cudnnPoolingMode_t)1, false>",
	  "pool", OP_OPAQUE, NULL },
	{ "void cudnn::ops::pooling_bw_kernel_max_nchw_fully_packed_small<float, float>", "pool", OP_OPAQUE, NULL },
	{ "void pooling_fw_4d_kernel<float, float>", "pool", OP_OPAQUE, NULL },
	{ "void at::native::(anonymous namespace)::upsample_nearest2d_out_frame<float, &at::native::nearest_neighbor_compute_source_index>",
	  "upsample", OP_OPAQUE, NULL },
	{ "void at::native::(anonymous namespace)::upsample_bilinear2d_out_frame<float, float>", "upsample", OP_OPAQUE,
	  NULL },
	{ "void at::native::(anonymous namespace)::upsample_nearest2d_nhwc_out_frame<c10::Half>", "upsample", OP_OPAQUE,
	  NULL },
	{ "void at::native::(anonymous namespace)::upsample_gen2d_aa_out_frame<float>", "upsample", OP_OPAQUE, NULL },
	{ "void at::native::(anonymous namespace)::upsample_bilinear2d_backward_out_frame<float, float>", "upsample",
	  OP_OPAQUE, NULL },
	{ "void at::native::(anonymous namespace)::grid_sampler_2d_kernel<float, int>", "upsample", OP_OPAQUE, NULL },
	{ "void regular_fft<256u, EPT<16>, 4u, 64u, (padding_t)1, (twiddle_t)0>", "fft", OP_OPAQUE, NULL },
	{ "void vector_fft<1024u, EPT<4u>, 4u>", "fft", OP_OPAQUE, NULL },
	{ "void multi_bluestein_fft<3u, EPT<8u>>", "fft", OP_OPAQUE, NULL },
	{ "void regular_fft_c2r<512u>", "fft", OP_OPAQUE, NULL },
	{ "spRadix0064B::kernel1Mem<unsigned int, float, (fftDirection_t)-1>", "fft", OP_OPAQUE, NULL },
	{ "void spVector0128C::kernelMem<unsigned int, float>", "fft", OP_OPAQUE, NULL },
	/* aten/src/ATen/native/cuda: ForeachFunctors.cuh, ForeachReduceOp.cu, fused_adam_impl.cuh; apex csrc/multi_tensor_*.cu */
	{ "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<1>, at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>, float>",
	  "foreach", OP_OPAQUE, NULL },
	{ "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<2>, UnaryOpFunctor<float, 2, 1, 1>, Sqrt<float> >",
	  "foreach", OP_OPAQUE, NULL },
	{ "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<1>, LpNormFunctor<float, (at::native::NormType)1>, float*, int>",
	  "foreach", OP_OPAQUE, NULL },
	{ "void at::native::lpnorm_cleanup<float, (at::native::NormType)1, float>", "foreach", OP_OPAQUE, NULL },
	{ "void multi_tensor_apply_kernel<TensorListMetadata<4>, PointwiseOpScalarFunctor<float, 4, 3, 0>, divides<float>, float>(T1, T2)",
	  "foreach", OP_OPAQUE, NULL },
	{ "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>, float const*, double>",
	  "optimizer", OP_OPAQUE, NULL },
	{ "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float, float, int>, float, float>",
	  "optimizer", OP_OPAQUE, NULL },
	{ "void multi_tensor_apply_kernel<TensorListMetadata<3>, LAMBStage1Functor<float>>", "optimizer", OP_OPAQUE,
	  NULL },
	/* ROCm/aiter (hsa/ and csrc/) and composable_kernel, mangled and not */
	{ "_ZN5aiter32fmha_fwd_hd192_hd128_bf16_causalE", "attention", OP_ATTENTION, "AMD AITER/CK" },
	{ "_ZN5aiter42pa_bf16_pertokenFp8_gqa10_1tg_4w_mtp3_msk1E", "attention", OP_ATTENTION, "AMD AITER/CK" },
	{ "void aiter::paged_attention_ragged_kernel<x>", "attention", OP_ATTENTION, "AMD AITER/CK" },
	{ "_ZN5aiter37mla_dec_stage1_bf16_a16w16_subQ16_mqa16E", "attention", OP_ATTENTION, "AMD AITER/CK" },
	{ "void ck_tile::kentry<1, ck_tile::FmhaFwdKernel<ck_tile::BlockFmhaPipelineQRKSVSAsync<x> > >", "attention",
	  OP_ATTENTION, "AMD AITER/CK" },
	{ "void ck_tile::kentry<256, 1, ck_tile::FmhaBwdDQDKDVKernel<x> >", "attention_backward", OP_OPAQUE,
	  "AMD AITER/CK" },
	{ "void ck_tile::kentry<1, ck_tile::UnifiedAttentionKernel<x> >", "attention", OP_ATTENTION, "AMD AITER/CK" },
	{ "void ck_tile::kentry<1, ck_tile::FmhaBatchPrefillWithPagedKVCacheKernel<x> >", "attention", OP_ATTENTION,
	  "AMD AITER/CK" },
	{ "void ck_tile::kentry<1, ck_tile::FmhaFwdSplitKVCombineKernel<x> >", "attention_combine", OP_ATTENTION,
	  "AMD AITER/CK" },
	{ "_ZN5aiter59fmoe_stage1_bf16_pertokenFp8_blockscale_g1u1_32x128_3tg_pf3E", "moe_gemm", OP_GEMM,
	  "AMD AITER/CK" },
	{ "void ck_tile::kentry<1, ck_tile::GroupedGemmKernel<ck_tile::GemmSpatiallyLocalTilePartitioner<x> > >",
	  "moe_gemm", OP_GEMM, "AMD AITER/CK" },
	{ "void ck_tile::kentry<1, ck_tile::MoeFlatmmKernel<x> >", "moe_gemm", OP_GEMM, "AMD AITER/CK" },
	{ "void ck::kernel_moe_gemm<ck::GridwiseMoeGemm<x> >", "moe_gemm", OP_GEMM, "AMD AITER/CK" },
	{ "void ck_tile::kentry<1, ck_tile::FlatmmKernel<x> >", "gemm", OP_GEMM, "AMD AITER/CK" },
	{ "void ck::kernel_gemm_xdl_cshuffle_v3_multi_d_b_preshuffle<ck::GridwiseGemmMultiD_xdl_cshuffle_v3<x> >",
	  "gemm", OP_GEMM, "AMD AITER/CK" },
	{ "_ZN5aiter42fp8gemm_bf16_blockscale_BpreShuffle_32x128E", "gemm", OP_GEMM, "AMD AITER/CK" },
	{ "_ZN5aiter33f4gemm_bf16_per1x32Fp4_tn_256x256E", "gemm", OP_GEMM, "AMD AITER/CK" },
	{ "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1ELb0ELb1ELi1EEEvPT0_", "norm", OP_NORM,
	  "AMD AITER/CK" },
	{ "void ck_tile::kentry<1, ck_tile::Rmsnorm2dFwd<ck_tile::Rmsnorm2dFwdPipelineOnePass<x> > >", "norm", OP_NORM,
	  "AMD AITER/CK" },
	{ "void ck_tile::kentry<1, ck_tile::Layernorm2dFwd<x> >", "norm", OP_NORM, "AMD AITER/CK" },
	{ "void aiter::layernorm2d_fwd_kernel<x>", "norm", OP_NORM, "AMD AITER/CK" },
	{ "void aiter::allreduce_fusion_kernel_1stage<__hip_bfloat16, 8>", "collective", OP_COLLECTIVE,
	  "AMD AITER/CK" },
	{ "void aiter::cross_device_reduce_2stage<__hip_bfloat16, 8>", "collective", OP_COLLECTIVE, "AMD AITER/CK" },
	{ "void ck_tile::kentry<1, ck_tile::MoeSortingKernel<x> >", "moe_routing", OP_OPAQUE, "AMD AITER/CK" },
	{ "void aiter::topk_softmax_kernel<x>", "topk", OP_TOPK, "AMD AITER/CK" },
	{ "void aiter::grouped_topk_opt_sort_kernel<x>", "topk", OP_TOPK, "AMD AITER/CK" },
	{ "void aiter::dynamic_per_token_scaled_quant_kernel<x>", "convert", OP_CONVERT, "AMD AITER/CK" },
	{ "void aiter::scaled_quant_vgpr_kernel<x>", "convert", OP_CONVERT, "AMD AITER/CK" },
	{ "void aiter::kn_entry_2c_sbhd_cached_indirect_inplace<aiter::OpCachedFwd, x>", "rope", OP_ROPE,
	  "AMD AITER/CK" },
	{ "void aiter::act_and_mul_kernel<x>", "elementwise", OP_ELEMENTWISE, "AMD AITER/CK" },
	{ "void aiter::reshape_and_cache_with_per_token_quant_kernel<x>", "kv_write", OP_SCATTER, "AMD AITER/CK" },
	/* thu-ml/SageAttention csrc/qattn, csrc/fused and its Triton kernels */
	{ "void qk_int_sv_f8_attn_kernel<128u, 64u, 32u, 64u, 128u, (DataType)1, (QuantGranularity)3>", "attention",
	  OP_ATTENTION, "SageAttention" },
	{ "void qk_int8_sv_f8_attn_kernel<64u, 128u, 128u, 128u, (QuantGranularity)2>", "attention", OP_ATTENTION,
	  "SageAttention" },
	{ "void qk_int_sv_f16_attn_kernel<128u, 64u, 32u>", "attention", OP_ATTENTION, "SageAttention" },
	{ "void QuantInt8Kernel<128u, 32u, 1u, false, false, __nv_bfloat16>", "convert", OP_CONVERT, "SageAttention" },
	{ "quant_query_per_thread_int8_kernel", "convert", OP_CONVERT, "SageAttention" },
	{ "quant_per_block_int8_kernel", "convert", OP_CONVERT, "SageAttention" },
	{ "void MeanScaleKernel<64u, false, __nv_bfloat16>", "convert", OP_CONVERT, "SageAttention" },
	{ "void TransposePadPermuteKernel<128u, 64u, true, __nv_bfloat16>", "convert", OP_CONVERT, "SageAttention" },
	/* casts of DeepSeek TileKernels and of SGLang */
	{ "per_token_cast_to_fp8_kernel", "convert", OP_CONVERT, NULL },
	{ "per_channel_cast_kernel_kernel", "convert", OP_CONVERT, NULL },
	{ "per_channel_cast_fused_kernel", "convert", OP_CONVERT, NULL },
	{ "void per_block_cast_kernel<128>", "convert", OP_CONVERT, NULL },
	{ "_per_channel_quant_fp8_kernel", "convert", OP_CONVERT, NULL },
	{ "void sglang::per_token_quant_fp8_warp_kernel<x>", "convert", OP_CONVERT, NULL },
	/* cuBLAS as ncu spells it, without namespaces */
	{ "enable_if<!T7, void>::type kernel<int, int, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float, 0, 1, 1, 0, 7, 0, cublasGemvParamsEx<int, cublasGemvTensorStridedBatched<const __nv_bfloat16>, x, float>>(T13)",
	  "gemv", OP_GEMM, "cuBLAS" },
	{ "void gemv2T_kernel_val<int, int, __half, __half, __half, float, 128, 16, 4, 4, false, false, cublasGemvParamsEx<int, x> >(x)",
	  "gemv", OP_GEMM, "cuBLAS" },
	{ "void dot_kernel<float, 128, 0, cublasDotParams<cublasGemvTensor<float const>, cublasGemvTensorStridedBatched<float> > >(x)",
	  "router_dot", OP_GEMM, "cuBLAS" },
	{ "void kernel<int, int, float, float, float, float, 0, 1, 1, 0, 7, 0, cublasGemvParams<x>>(T13)", "gemv",
	  OP_GEMM, "cuBLAS" },
};

TEST(kernels_that_were_unknown_find_their_family)
{
	struct err e = ERR_INIT;
	char path[4096];
	struct rules *r;
	struct mk m;

	snprintf(path, sizeof path, "%s/configs/rules/pytorch-cuda.yaml", test_root());
	r = rules_load(path, &e);
	CHECK_OK(r ? 0 : -1, e);
	mk_open(&m);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct row *w = &rows[i];
		const struct rule *u = rules_match(r, mk_kernel(&m, w->kernel, NULL, ""));

		if (!u || strcmp(u->family, w->family) != 0 || u->kind != w->kind ||
		    (w->library && strcmp(u->library, w->library) != 0))
			test_fail(__FILE__, __LINE__, "'%s' is of '%s' (%s) by '%s', not of '%s'", w->kernel,
			          u ? u->family : "-", u ? u->library : "-", u ? u->name : "-", w->family);
	}
	mk_close(&m);
	rules_free(r);
}

/* An op that the framework names says enough where its kernels have no name that is known. */
TEST(operators_over_lists_and_transforms_are_known_by_name)
{
	struct err e = ERR_INIT;
	char path[4096];
	struct rules *r;
	struct mk m;

	snprintf(path, sizeof path, "%s/configs/rules/pytorch-cuda.yaml", test_root());
	r = rules_load(path, &e);
	CHECK_OK(r ? 0 : -1, e);
	mk_open(&m);
	CHECK_STR(rules_match(r, mk_kernel(&m, "unknown", "aten::_foreach_add_", ""))->family, "foreach");
	CHECK_STR(rules_match(r, mk_kernel(&m, "unknown", "aten::_fused_adamw_", ""))->family, "optimizer");
	CHECK_STR(rules_match(r, mk_kernel(&m, "unknown", "aten::_fft_r2c", ""))->family, "fft");
	CHECK_STR(rules_match(r, mk_kernel(&m, "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32",
	                                   "aten::cudnn_convolution", ""))
	                  ->family,
	          "conv");
	mk_close(&m);
	rules_free(r);
}

SUITE(t_rules_names, T(kernels_that_were_unknown_find_their_family),
      T(operators_over_lists_and_transforms_are_known_by_name));
