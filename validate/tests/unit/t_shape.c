/* t_shape.c - every shape reader on hand-made arguments, and what hostile dims get. */
#include "workloads/shape.h"

#include "validate/tests/mktrace.h"

struct rd {
	struct mk m;
	struct shape s;
	const char *why;
};

static bool reads_kernel(struct rd *r, const char *reader, const char *kernel, const char *op, const char *args)
{
	mk_open(&r->m);
	r->why = "";
	return shape_read(shape_find(reader), mk_kernel(&r->m, kernel, op, args), &r->s, &r->why) == 0;
}

static void read_kernel(struct rd *r, const char *reader, const char *kernel, const char *op, const char *args)
{
	if (!reads_kernel(r, reader, kernel, op, args))
		test_fail(__FILE__, __LINE__, "%s(%s): %s", op, args, r->why);
}

static void read_ok(struct rd *r, const char *reader, const char *op, const char *args)
{
	read_kernel(r, reader, "k", op, args);
}

static void refused(const char *reader, const char *op, const char *args, const char *part)
{
	struct rd r;

	if (reads_kernel(&r, reader, "CatArrayBatchedCopy<float, 1>", op, args))
		test_fail(__FILE__, __LINE__, "%s(%s) was taken", op, args);
	CHECK_HAS(r.why, part);
	CHECK_U64(r.s.n_in + r.s.n_out, 0);
	mk_close(&r.m);
}

static void out_is(const struct rd *r, uint32_t i, enum dtype d, uint64_t elems)
{
	CHECK(i < r->s.n_out);
	CHECK_STR(dtype_name(r->s.out[i].dtype), dtype_name(d));
	CHECK_U64(r->s.out[i].elems, elems);
}

TEST(every_reader_has_a_name_and_is_found_by_it)
{
	size_t n;
	const char *const *names = shape_names(&n);

	CHECK(n > 20 && !names[n]);
	for (size_t i = 0; i < n; i++)
		CHECK_U64(shape_find(names[i]), i);
	CHECK(shape_find("nothing") == -1);
}

TEST(a_product_is_m_k_n)
{
	struct rd r;

	read_ok(&r, "product", "aten::mm", "bf16[1,1280] bf16[1280,896|1,1280]");
	CHECK(r.s.s.batch == 1 && r.s.s.m == 1 && r.s.s.k == 1280 && r.s.s.n == 896);
	CHECK(r.s.acc_dtype == DT_FP32 && r.s.in[0].use == SHAPE_LEFT && r.s.in[1].use == SHAPE_RIGHT);
	CHECK(!r.s.in[1].dense && r.s.in[1].extent == 1280 * 896);
	out_is(&r, 0, DT_BF16, 896);
	CHECK_U64(shape_product_rows(&r.m.t.launches[0]), 1);
	mk_close(&r.m);
	read_ok(&r, "product", "aten::addmm", "f16[512] f16[141,512] f16[512,2048] =1 =1");
	CHECK(r.s.s.m == 141 && r.s.s.k == 512 && r.s.s.n == 2048 && r.s.n_in == 3 && r.s.in[2].use == SHAPE_PARAM);
	mk_close(&r.m);
	read_ok(&r, "product", "aten::linear", "f32[2,3,64] f32[10,64] -");
	CHECK(r.s.s.batch == 1 && r.s.s.m == 6 && r.s.s.k == 64 && r.s.s.n == 10);
	out_is(&r, 0, DT_FP32, 60);
	mk_close(&r.m);
	read_ok(&r, "product", "aten::bmm", "bf16[8,1,1280] bf16[8,1280,1792]");
	CHECK(r.s.s.batch == 8 && r.s.s.m == 1 && r.s.s.n == 1792);
	mk_close(&r.m);
	read_ok(&r, "product", "aten::mv", "f32[100,40] f32[40]");
	CHECK(r.s.s.m == 1 && r.s.s.n == 100 && r.s.s.k == 40);
	mk_close(&r.m);
	read_ok(&r, "product", "aten::_scaled_mm", "f8[16,4096] f8[4096,14336|1,4096] f32[] f32[] - - =15 =False");
	CHECK(r.s.dtype == DT_FP8 && r.s.acc_dtype == DT_FP32);
	out_is(&r, 0, DT_BF16, 16 * 14336);
	mk_close(&r.m);
	/* Four-bit values come two an element. */
	read_ok(&r, "product", "aten::_scaled_mm",
	        "f4x2[16,2048] f4x2[2048,14336|1,2048] f8[8192] f8[8192] - - =15 =False");
	CHECK(r.s.dtype == DT_FP4 && r.s.s.m == 16 && r.s.s.n == 14336 && r.s.s.k == 4096);
	CHECK(r.s.in[0].elems == 16 * 4096 && r.s.in[1].elems == 4096 * 14336);
	CHECK(r.s.in[1].strides[0] == 1 && r.s.in[1].strides[1] == 4096);
	out_is(&r, 0, DT_BF16, 16 * 14336);
	mk_close(&r.m);
	read_ok(&r, "product", "aten::_int_mm", "i8[32,64] i8[64,16]");
	out_is(&r, 0, DT_INT32, 512);
	mk_close(&r.m);
	read_ok(&r, "product", "custom::gemm", "bf16[4,64] bf16[32,64] =x"); /* the second is [n, k] */
	CHECK(r.s.s.m == 4 && r.s.s.n == 32 && r.s.s.k == 64);
	mk_close(&r.m);
}

TEST(products_that_do_not_agree_are_refused)
{
	refused("product", "aten::mm", "bf16[1,1280] bf16[1281,896]", "inner dims differ");
	refused("product", "aten::mm", "bf16[1,1280]", "missing");
	refused("product", "aten::mm", "", "missing");
	refused("product", "aten::mm", "bf16[0,8] bf16[8,8]", "empty");
	refused("product", "custom::gemm", "bf16[4,64] bf16[32,63]", "agree");
}

TEST(a_grouped_product_tells_its_groups_and_leaves_open_whose_its_rows_are)
{
	struct rd r;

	/* Eight tokens pick eight of 64 experts: [n, k] an expert, seen transposed. */
	read_ok(&r, "grouped", "aten::_grouped_mm", "bf16[64,2048] bf16[64,2048,1024|2097152,1,2048] i32[64] - -");
	CHECK(r.s.open_groups && r.s.s.batch == 64 && r.s.s.m == 64 && r.s.s.k == 2048 && r.s.s.n == 1024);
	CHECK(r.s.n_in == 2 && r.s.in[1].ndims == 2 && r.s.in[1].dims[0] == 2048 && r.s.in[1].extent == 2048 * 1024);
	CHECK(r.s.in[1].use == SHAPE_RIGHT && r.s.in[1].strides[1] == 2048);
	out_is(&r, 0, DT_BF16, 64 * 1024);
	shape_close_groups(&r.s.s, 42);
	CHECK(r.s.s.batch == 42 && r.s.s.m == 2);
	mk_close(&r.m);
	/* Scales stand between the matrices and the offsets. */
	read_ok(&r, "grouped", "aten::_scaled_grouped_mm",
	        "f8[16,512] f8[4,512,256|131072,1,512] f32[16] f32[4,256] i32[4] - - =15 =False");
	CHECK(r.s.open_groups && r.s.s.batch == 4 && r.s.s.m == 16 && r.s.s.n == 256 && r.s.dtype == DT_FP8);
	out_is(&r, 0, DT_BF16, 16 * 256);
	mk_close(&r.m);
	/* Stretches of k, as a backward pass has them, and a batch: nothing is open. */
	read_ok(&r, "grouped", "aten::_grouped_mm", "bf16[128,4096] bf16[4096,256] i32[8] - -");
	CHECK(!r.s.open_groups && r.s.s.batch == 8 && r.s.s.m == 128 && r.s.s.n == 256 && r.s.s.k == 512);
	out_is(&r, 0, DT_BF16, 8 * 128 * 256);
	mk_close(&r.m);
	read_ok(&r, "grouped", "aten::_grouped_mm", "bf16[4,16,64] bf16[4,64,32]");
	CHECK(!r.s.open_groups && r.s.s.batch == 4 && r.s.s.m == 16 && r.s.s.n == 32);
	mk_close(&r.m);
	refused("grouped", "aten::_grouped_mm", "bf16[16,64] bf16[4,63,32] i32[4]", "inner dims differ");
	refused("grouped", "aten::_grouped_mm", "bf16[16,64] bf16[64,32]", "groups");
	refused("grouped", "aten::_grouped_mm", "bf16[16,64] bf16[5000,64,32] i32[5000]", "4096 groups");
	refused("grouped", "aten::_grouped_mm", "bf16[3,16,64] bf16[4,64,32]", "differ in groups");
	refused("grouped", "aten::_grouped_mm", "bf16[0,64] bf16[4,64,32] i32[4]", "empty");
	refused("grouped", "vllm::moe", "bf16[16,64] bf16[4,64,32] i32[4]", "does not give its groups");
}

TEST(hostile_dims_are_refused_and_nothing_overflows)
{
	refused("product", "aten::mm", "bf16[4611686018427387904,4] bf16[4,4]", "2^48");
	refused("product", "aten::mm", "bf16[268435456,4194304] bf16[4194304,4]", "2^48");
	refused("product", "aten::mm", "bf16[16777216,16777216] bf16[16777216,16777216]", "2^62");
	refused("product", "aten::mm", "bf16[-1,4] bf16[4,4]", "negative");
	refused("elementwise", "aten::mul", "bf16[16777216,1] bf16[1,67108864]", "2^48");
	refused("elementwise", "aten::mul", "bf16[4,4|9223372036854775807,1]", "2^48");
	refused("attention", "aten::_cudnn_attention_forward",
	        "bf16[1,65536,65536,65536] bf16[1,65536,65536,65536] bf16[1,65536,65536,65536]", "2^62");
	refused("concat", "aten::cat", "{bf16[1,281474976710656] bf16[1,281474976710656]} =1", "2^48");
	refused("arange", "aten::arange", "=0 =1e30 =1 i64[0]", "too long");
	refused("gather", "aten::embedding", "bf16[1073741824,524288] i64[4]", "2^48");
	refused("topk", "aten::topk", "f32[1,64] =65 =-1 =True =True", "more than there are");
	refused("softmax", "aten::_softmax", "f32[4] =7 =False", "out of range");
	refused("softmax", "aten::_softmax", "f32[0,4] =-1 =False", "empty");
	refused("elementwise", "aten::add", "bf16[3] bf16[4] =1", "broadcast");
	refused("concat", "aten::cat", "{bf16[2,3] bf16[2,4]} =0", "fit");
	refused("concat", "aten::cat", "{} =0", "without members");
	refused("convolution", "aten::cudnn_convolution", "f32[1,3,4,4] f32[8,3,9,9] =[0,0] =[1,1] =[1,1] =1",
	        "larger");
	refused("elementwise", "aten::mul", "", "no tensor");
}

TEST(a_reader_without_a_framework_op_refuses)
{
	struct mk m;
	struct shape s;
	const char *why = "";

	mk_open(&m);
	CHECK(shape_read(shape_find("product"), mk_launch(&m, "nvjet_x", NULL), &s, &why) == -1);
	CHECK_HAS(why, "no framework op");
	CHECK(shape_read(-1, mk_launch(&m, "k", NULL), &s, &why) == -1);
	CHECK_HAS(why, "no shape reader");
	CHECK_U64(shape_product_rows(mk_launch(&m, "k", NULL)), 0);
	mk_close(&m);
}

TEST(attention_reads_both_layouts)
{
	struct rd r;

	read_ok(&r, "attention", "aten::_cudnn_attention_forward",
	        "bf16[1,32,1,64] bf16[1,8,257,64] bf16[1,8,257,64] - - - =1 =257 =False =0. =False =False -");
	CHECK(r.s.s.batch == 1 && r.s.s.heads == 32 && r.s.s.kv_heads == 8 && r.s.s.q_len == 1 && r.s.s.kv_len == 257);
	CHECK(r.s.s.head_dim == 64 && r.s.s.v_dim == 64 && !r.s.s.causal);
	out_is(&r, 0, DT_BF16, 2048);
	mk_close(&r.m);
	read_ok(&r, "attention", "aten::_flash_attention_forward",
	        "bf16[2,141,8,64] bf16[2,141,8,64] bf16[2,141,8,64] - - =141 =141 =0. =True");
	CHECK(r.s.s.batch == 2 && r.s.s.heads == 8 && r.s.s.q_len == 141 && r.s.s.kv_len == 141 && r.s.s.causal);
	mk_close(&r.m);
	refused("attention", "vllm::unified_attention", "bf16[1,8,64] bf16[1,8,64] bf16[1,8,64]", "keys' length");
	refused("attention", "aten::_cudnn_attention_forward", "bf16[1,9,1,64] bf16[1,8,2,64] bf16[1,8,2,64]", "agree");
}

TEST(elementwise_broadcasts_promotes_and_knows_wrapped_numbers)
{
	struct rd r;

	read_ok(&r, "elementwise", "aten::mul", "bf16[1,10,1,128|1280,128,1280,1] bf16[1,1,1,128]");
	CHECK(r.s.s.elems == 1280 && r.s.s.arity == 2 && !r.s.s.strided && r.s.in[1].use == SHAPE_TABLE);
	CHECK_U64(r.s.out[0].strides[2], 1280); /* the layout of the operand it follows */
	mk_close(&r.m);
	read_ok(&r, "elementwise", "aten::add", "f32[1,1] f64[] =1");
	CHECK(r.s.s.elems == 1 && r.s.s.arity == 1 && r.s.dtype == DT_FP32);
	mk_close(&r.m);
	read_ok(&r, "elementwise", "aten::mul", "bf16[1280] bf16[1,1280]");
	CHECK(r.s.in[0].use == SHAPE_PARAM && r.s.in[1].use == SHAPE_DATA);
	mk_close(&r.m);
	read_ok(&r, "elementwise", "aten::add", "bf16[4] f32[4] =1");
	out_is(&r, 0, DT_FP32, 4);
	mk_close(&r.m);
	read_ok(&r, "elementwise", "aten::add", "bf16[4] f16[4] =1");
	out_is(&r, 0, DT_FP32, 4);
	mk_close(&r.m);
	read_ok(&r, "elementwise", "aten::eq", "i64[4] i64[]");
	out_is(&r, 0, DT_BOOL, 4);
	mk_close(&r.m);
	read_ok(&r, "elementwise", "aten::mul_", "f32[1,6,1280] f32[1,6,1]");
	CHECK(r.s.out[0].alias == 0 && r.s.in[0].use == SHAPE_DATA && r.s.in[1].use == SHAPE_TABLE);
	mk_close(&r.m);
	read_ok(&r, "elementwise", "aten::neg", "bf16[1,10,1,64|1280,128,1280,1]");
	CHECK(r.s.s.strided && r.s.in[0].elems == 640 && r.s.in[0].extent == 1280);
	CHECK_U64(r.s.out[0].strides[1], 64); /* of a slice the result is packed */
	mk_close(&r.m);
	read_ok(&r, "elementwise", "aten::where", "bool[4] f32[4] f32[4]");
	out_is(&r, 0, DT_FP32, 4);
	mk_close(&r.m);
	read_ok(&r, "elementwise", "aten::exp", "i64[4]");
	out_is(&r, 0, DT_FP32, 4);
	mk_close(&r.m);
}

TEST(rows_and_columns_of_reductions_softmax_and_norms)
{
	struct rd r;

	read_ok(&r, "reduce", "aten::mean", "f32[7,1280] =[-1] =True -");
	CHECK(r.s.s.rows == 7 && r.s.s.cols == 1280 && !r.s.s.strided && r.s.out[0].ndims == 2);
	mk_close(&r.m);
	read_ok(&r, "reduce", "aten::sum", "f32[1,6,1280] =[1] =False -");
	CHECK(r.s.s.rows == 1280 && r.s.s.cols == 6 && r.s.s.strided && r.s.out[0].ndims == 2);
	mk_close(&r.m);
	read_ok(&r, "reduce", "aten::sum", "i32[8] =[] =False =4");
	CHECK(r.s.s.rows == 1 && r.s.s.cols == 8 && r.s.out[0].ndims == 0);
	out_is(&r, 0, DT_INT64, 1);
	mk_close(&r.m);
	read_ok(&r, "reduce", "aten::argmax", "f32[1,129280] =-1 =False");
	CHECK(r.s.s.rows == 1 && r.s.s.cols == 129280);
	out_is(&r, 0, DT_INT64, 1);
	mk_close(&r.m);
	read_ok(&r, "reduce", "aten::max", "f32[4,8] =1 =False");
	CHECK_U64(r.s.n_out, 2);
	mk_close(&r.m);
	read_ok(&r, "reduce", "aten::all", "bool[1,141]");
	out_is(&r, 0, DT_BOOL, 1);
	mk_close(&r.m);
	read_ok(&r, "softmax", "aten::_softmax", "bf16[3,64] =-1 =True");
	CHECK(r.s.s.rows == 3 && r.s.s.cols == 64);
	out_is(&r, 0, DT_FP32, 192);
	mk_close(&r.m);
	read_ok(&r, "norm", "aten::native_layer_norm", "bf16[1,141,512] =[512] bf16[512] bf16[512] =1e-05");
	CHECK(r.s.s.rows == 141 && r.s.s.cols == 512 && r.s.n_in == 3 && r.s.in[2].use == SHAPE_PARAM);
	mk_close(&r.m);
	read_ok(&r, "norm_out", "_C::rms_norm", "bf16[4,512] bf16[4,512] bf16[512] =1e-6");
	CHECK(r.s.s.rows == 4 && r.s.n_in == 2 && r.s.n_out == 1);
	mk_close(&r.m);
	read_ok(&r, "add_norm", "_C::fused_add_rms_norm", "bf16[4,512] bf16[4,512] bf16[512] =1e-6");
	CHECK(r.s.n_in == 3 && r.s.n_out == 2 && r.s.out[0].alias == 1 && r.s.out[1].alias == 0);
	mk_close(&r.m);
	read_ok(&r, "norm", "aten::batch_norm", "f32[2,64,8,8] f32[64] f32[64] f32[64] f32[64] =True");
	CHECK(r.s.s.rows == 64 && r.s.s.cols == 128);
	mk_close(&r.m);
}

TEST(a_concat_joins_along_its_dim_and_its_size_comes_from_the_kernel)
{
	struct rd r;

	read_kernel(&r, "concat", "CatArrayBatchedCopy<at::native::OpaqueType<2u>, unsigned int, 4>", "aten::cat",
	            "{bf16[1,10,1024,128] bf16[1,10,1,128]} =2");
	CHECK(r.s.out[0].dims[2] == 1025 && r.s.s.arity == 2 && r.s.in[0].use == SHAPE_GROWS);
	CHECK(r.s.in[0].dtype == DT_BF16 && r.s.in[0].dtype_guess);
	mk_close(&r.m);
	read_kernel(&r, "concat", "CatArrayBatchedCopy<float, unsigned int, 1>", "aten::cat",
	            "{f32[4] f32[0] f32[3]} =0");
	CHECK(r.s.out[0].elems == 7 && r.s.n_in == 2 && r.s.in[0].dtype == DT_FP32 && !r.s.in[0].dtype_guess);
	mk_close(&r.m);
	read_kernel(&r, "concat", "CatArrayBatchedCopy<at::native::OpaqueType<(unsigned int)4>, 1>", "aten::stack",
	            "{f32[2,3] f32[2,3]} =0");
	CHECK(r.s.out[0].ndims == 3 && r.s.out[0].dims[0] == 2 && r.s.out[0].elems == 12 && r.s.in[0].dtype == DT_FP32);
	mk_close(&r.m);
	/* Of a cache and a new row in another order, and of two halves of heads in another order. */
	read_kernel(&r, "concat", "CatArrayBatchedCopy<float, unsigned int, 4>", "aten::cat",
	            "{f32[8,32,521,96] f32[8,32,1,96|9216,96,3072,1]} =-2");
	CHECK(!r.s.s.strided && !r.s.in[1].dense);
	mk_close(&r.m);
	read_kernel(&r, "concat", "CatArrayBatchedCopy<float, unsigned int, 4>", "aten::cat",
	            "{f32[1,16,64,32|32768,32,512,1] f32[1,16,64,32|65536,64,1024,1]} =-1");
	CHECK(r.s.s.strided);
	mk_close(&r.m);
	CHECK(!reads_kernel(&r, "concat", "some_copy", "aten::cat", "{f32[4] f32[3]} =0"));
	CHECK_HAS(r.why, "type");
	mk_close(&r.m);
	refused("concat", "aten::cat",
	        "{i8[1] i8[1] i8[1] i8[1] i8[1] i8[1] i8[1] i8[1] i8[1] i8[1] i8[1] i8[1] i8[1] i8[1] "
	        "i8[1] i8[1]}",
	        "more members");
}

TEST(copies_and_fills)
{
	struct rd r;

	read_ok(&r, "copy", "aten::copy_", "f32[64,1280] bf16[64,1280] =False");
	CHECK(r.s.s.elems == 81920 && r.s.dtype == DT_BF16 && r.s.out_dtype == DT_FP32 && r.s.out[0].alias == -1);
	CHECK(shape_converts(&r.m.t.launches[0]));
	mk_close(&r.m);
	read_ok(&r, "copy", "aten::copy_", "bf16[4,64|4096,1] bf16[4,64] =False"); /* into columns of something wider */
	CHECK(r.s.out[0].alias == 1 && r.s.in[1].use == SHAPE_TARGET && r.s.out[0].elems == 256 &&
	      r.s.in[1].elems == 0);
	CHECK(!shape_converts(&r.m.t.launches[0]));
	mk_close(&r.m);
	read_ok(&r, "fill", "aten::fill_", "i64[1,64] =0");
	CHECK(r.s.n_in == 0 && r.s.out[0].elems == 64);
	mk_close(&r.m);
	read_ok(&r, "arange", "aten::arange", "=0 =6 =1 i64[0]");
	out_is(&r, 0, DT_INT64, 6);
	mk_close(&r.m);
	read_ok(&r, "arange", "aten::arange", "=0 =1 =0.3 f32[0]");
	out_is(&r, 0, DT_FP32, 4);
	mk_close(&r.m);
}

TEST(a_transposed_copy_tells_the_sectors_of_a_warp)
{
	static const struct {
		const char *args;
		uint32_t sectors;
	} row[] = {
		{ "bf16[64,10,64|640,64,1] bf16[64,10,64|640,64,1] =False", 0 }, /* neighbours stay neighbours */
		{ "f32[128,64|64,1] f32[128,64|1,128] =False", 32 },             /* each in a row of its own */
		{ "bf16[256,128,1,8|1024,8,8,1] bf16[256,128,1,8|1024,1,128,128] =False",
		  8 },                                     /* four of each of 8 heads */
		{ "bf16[4096|1] bf16[4096|2] =False", 4 }, /* every other one: twice the bytes */
	};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct rd r;

		read_ok(&r, "copy", "aten::copy_", row[i].args);
		CHECK_U64(r.s.s.apart, row[i].sectors);
		mk_close(&r.m);
	}
}

TEST(device_copies_use_the_ops_tensors_where_the_bytes_agree)
{
	struct shape s;
	const char *why;
	struct mk m;
	int rd = shape_find("memcpy");

	mk_open(&m);
	CHECK(shape_read(rd, mk_copy(&m, TRACE_COPY_DTOD, 48, false, mk_op(&m, "aten::copy_", "i64[6] i64[6] =False")),
	                 &s, &why) == 0);
	CHECK(s.n_in == 1 && s.n_out == 1 && s.in[0].dtype == DT_INT64 && s.out[0].elems == 6);
	CHECK(shape_read(rd, mk_copy(&m, TRACE_COPY_DTOD, 40, false, mk_op(&m, "aten::copy_", "i64[6] i64[6] =False")),
	                 &s, &why) == 0);
	CHECK(s.in[0].dtype == DT_INT8 && s.in[0].elems == 40 && s.out[0].elems == 40);
	CHECK(shape_read(rd, mk_copy(&m, TRACE_COPY_HTOD, 8, false, NULL), &s, &why) == 0);
	CHECK(s.n_in == 0 && s.n_out == 1);
	CHECK(shape_read(rd,
	                 mk_copy(&m, TRACE_COPY_DTOH, 512, true, mk_op(&m, "aten::copy_", "i64[64] i64[64] =False")),
	                 &s, &why) == 0);
	CHECK(s.n_in == 1 && s.n_out == 0 && s.in[0].elems == 64);
	CHECK(shape_read(rd, mk_copy(&m, TRACE_COPY_DTOH, 1, true, mk_op(&m, "aten::_local_scalar_dense", "bool[]")),
	                 &s, &why) == 0);
	CHECK(s.in[0].dtype == DT_BOOL);
	CHECK(shape_read(rd, mk_copy(&m, TRACE_COPY_DTOD, -1, false, NULL), &s, &why) == -1);
	CHECK(shape_read(rd, mk_copy(&m, TRACE_COPY_DTOD, INT64_MAX, false, NULL), &s, &why) == -1);
	CHECK(shape_read(shape_find("memset"), mk_set(&m, 512, mk_op(&m, "aten::zero_", "i64[64]")), &s, &why) == 0);
	CHECK(s.out[0].dtype == DT_INT64 && s.n_in == 0);
	CHECK(shape_read(shape_find("memset"), mk_set(&m, 4, NULL), &s, &why) == 0);
	CHECK(s.out[0].dtype == DT_INT8 && s.out[0].elems == 4);
	mk_close(&m);
}

TEST(indexed_reads_and_writes)
{
	struct rd r;

	read_ok(&r, "gather", "aten::index_select", "bf16[129280,1280] =0 i64[1]");
	CHECK(r.s.in[0].use == SHAPE_ROWS && r.s.in[0].elems == 1280 && r.s.in[0].extent == UINT64_C(129280) * 1280);
	out_is(&r, 0, DT_BF16, 1280);
	mk_close(&r.m);
	read_ok(&r, "gather", "aten::embedding", "bf16[100,8] i64[2,3] =-1");
	CHECK(r.s.out[0].ndims == 3 && r.s.out[0].elems == 48);
	mk_close(&r.m);
	read_ok(&r, "gather", "aten::gather", "bf16[100,8] =0 i64[4,8|1,0] =False");
	CHECK(r.s.out[0].elems == 32 && r.s.in[1].elems == 4);
	mk_close(&r.m);
	read_kernel(&r, "index", "void vectorized_gather_kernel<16, long>", "aten::index", "bf16[1,1280] -");
	CHECK(r.s.open_index && r.s.open_estimate && r.s.n_out == 0);
	CHECK(shape_close_index(&r.s, 6) == 0);
	CHECK(!r.s.open_index && r.s.out[0].dims[0] == 6 && r.s.out[0].elems == 7680 && r.s.in[1].elems == 6);
	CHECK(shape_close_index(&r.s, UINT64_C(1) << 47) == -1);
	mk_close(&r.m);
	read_ok(&r, "scatter", "aten::scatter_", "i64[1,64] =1 i64[1,6] =1");
	CHECK(r.s.in[0].use == SHAPE_TARGET && r.s.in[0].elems == 0 && r.s.in[1].use == SHAPE_INDEX &&
	      r.s.out[0].elems == 6);
	mk_close(&r.m);
	read_ok(&r, "scatter", "aten::index_add_", "f32[8,64] =0 i64[3] f32[3,64] =1");
	CHECK(r.s.in[0].elems == 192 && r.s.in[1].use == SHAPE_INDEX && r.s.in[2].elems == 192);
	mk_close(&r.m);
	read_ok(&r, "scatter", "aten::_index_put_impl_", "bf16[6,1280] - bf16[6,1280] =False =False");
	CHECK(r.s.n_in == 3 && r.s.in[0].elems == 0 && r.s.in[2].ndims == -1 && r.s.in[2].elems == 6 &&
	      r.s.out[0].elems == 7680);
	mk_close(&r.m);
	read_ok(&r, "cache_write", "_C_cache_ops::reshape_and_cache",
	        "bf16[4,8,64] bf16[4,8,64] bf16[100,8,16,64] bf16[100,8,16,64] i64[4]");
	CHECK(r.s.n_in == 5 && r.s.n_out == 2 && r.s.out[1].alias == 3 && r.s.out[0].elems == 2048);
	mk_close(&r.m);
}

TEST(what_orders)
{
	struct rd r;

	read_ok(&r, "topk", "aten::topk", "f32[1,64] =6 =-1 =True =False");
	CHECK(r.s.s.rows == 1 && r.s.s.cols == 64 && r.s.s.top == 6);
	out_is(&r, 0, DT_FP32, 6);
	out_is(&r, 1, DT_INT64, 6);
	mk_close(&r.m);
	read_ok(&r, "sort", "aten::sort", "f32[4,100] =False =-1 =False");
	CHECK(r.s.s.rows == 4 && r.s.s.cols == 100 && r.s.n_in == 1 && r.s.n_out == 2);
	mk_close(&r.m);
	read_kernel(&r, "sort", "void bitonicSortKVInPlace<2>", "aten::sort", "f32[6] =False =-1 =False");
	CHECK(r.s.n_in == 2 && r.s.in[1].dtype == DT_INT64 && r.s.out[1].alias == 1);
	mk_close(&r.m);
	read_ok(&r, "scan", "aten::cumsum", "f32[8,100] =0 -");
	CHECK(r.s.s.rows == 100 && r.s.s.cols == 8);
	mk_close(&r.m);
	read_ok(&r, "nonzero", "aten::nonzero", "bool[4,8]");
	CHECK(r.s.s.cols == 32 && r.s.out[0].elems == 64);
	mk_close(&r.m);
}

/* Serving engines' own operators around a mixture's experts: what they make comes first. */
TEST(engines_picks_are_sorted_and_summed_up)
{
	struct rd r;

	read_ok(&r, "topk", "_moe_C::topk_softmax", "f32[8,6] i32[8,6] i32[8,6] bf16[8,64]");
	CHECK(r.s.s.rows == 8 && r.s.s.cols == 64 && r.s.s.top == 6 && r.s.n_in == 1);
	out_is(&r, 0, DT_FP32, 48);
	out_is(&r, 1, DT_INT32, 48);
	mk_close(&r.m);
	read_ok(&r, "topk", "sgl_kernel::topk_softmax", "f32[8,6] i32[8,6] bf16[8,64] =True");
	CHECK(r.s.s.cols == 64 && r.s.s.top == 6);
	mk_close(&r.m);
	refused("topk", "_moe_C::topk_softmax", "f32[8,65] i32[8,65] bf16[8,64]", "more than there are");
	refused("topk", "_moe_C::topk_softmax", "f32[8,6]", "not in the trace");
	refused("topk", "_moe_C::topk_softmax", "f32[8,-6] bf16[8,64]", "more than there are");
	read_ok(&r, "sort", "_moe_C::moe_align_block_size", "i32[8,6] =64 =16 i32[1008] i32[63] i32[1]");
	CHECK(r.s.s.rows == 1 && r.s.s.cols == 48 && r.s.n_in == 1);
	out_is(&r, 0, DT_INT32, 48);
	mk_close(&r.m);
	read_ok(&r, "reduce", "_moe_C::moe_sum", "bf16[8,6,2048] bf16[8,2048]");
	CHECK(r.s.s.rows == 8 * 2048 && r.s.s.cols == 6 && r.s.n_in == 1);
	out_is(&r, 0, DT_BF16, 8 * 2048);
	mk_close(&r.m);
}

TEST(the_rest_of_the_readers)
{
	struct rd r;

	read_ok(&r, "convolution", "aten::cudnn_convolution", "f32[2,3,224,224] f32[64,3,7,7] =[3,3] =[2,2] =[1,1] =1");
	CHECK(r.s.s.batch == 1 && r.s.s.m == 2 * 112 * 112 && r.s.s.n == 64 && r.s.s.k == 147);
	out_is(&r, 0, DT_FP32, 2 * 64 * 112 * 112);
	mk_close(&r.m);
	read_ok(&r, "convolution", "aten::convolution", "f32[1,32,10] f32[32,1,3] - =[1] =[1] =[1] =False =[0] =32");
	CHECK(r.s.s.batch == 32 && r.s.s.m == 10 && r.s.s.n == 1 && r.s.s.k == 3);
	mk_close(&r.m);
	read_ok(&r, "out_first", "_C::silu_and_mul", "bf16[4,100] bf16[4,200]");
	CHECK(r.s.s.elems == 400 && r.s.s.arity == 2 && r.s.n_in == 1);
	mk_close(&r.m);
	read_ok(&r, "fused", "triton_poi_fused_add_0", "bf16[4,100] bf16[100] bf16[4,100] =400");
	CHECK(r.s.s.elems == 400 && r.s.n_in == 3 && r.s.in[2].use == SHAPE_TARGET && r.s.out[0].alias == 2);
	mk_close(&r.m);
	/* Of a rotary table no more than there are results. */
	read_kernel(&r, "fused", "triton_poi_fused_add_mul_2", "triton_poi_fused_add_mul_2",
	            "bf16[1,2048] bf16[4352,64] bf16[1,32,1,64] =2048");
	CHECK(r.s.n_in == 3 && r.s.in[1].elems == 2048 && r.s.in[1].extent == 4352 * 64 && r.s.s.elems == 2048);
	mk_close(&r.m);
	read_ok(&r, "fused", "triton_poi_fused_relu_0", "bf16[4,100] =400");
	CHECK(r.s.n_in == 1 && r.s.out[0].alias == 0);
	mk_close(&r.m);
	read_ok(&r, "rope", "_C::rotary_embedding", "i64[4] bf16[4,1024] bf16[4,256] =64 bf16[4096,64] =True");
	CHECK(r.s.s.elems == 4 * 1280 && r.s.n_in == 4 && r.s.in[3].elems == 256 && r.s.out[0].alias == 1);
	mk_close(&r.m);
	/* Complex numbers are two values each. */
	read_ok(&r, "elementwise", "aten::mul", "c64[1,512,16,32] c64[1,512,1,32]");
	CHECK(r.s.s.elems == 512 * 16 * 64 && r.s.dtype == DT_FP32 && r.s.in[1].elems == 512 * 64);
	mk_close(&r.m);
	read_ok(&r, "elementwise", "aten::mul", "c64[1,16,512,32|512,32,512,1] c64[1,1,512,32|16384,512,1,512]");
	CHECK(r.s.s.elems == 512 * 16 * 64 && r.s.in[1].ndims == 5 && r.s.in[1].strides[4] == 1);
	mk_close(&r.m);
	read_ok(&r, "elementwise", "aten::polar", "f32[1,512,32] f32[1,512,32] c64[0]");
	out_is(&r, 0, DT_FP32, 512 * 64);
	mk_close(&r.m);
	read_ok(&r, "histogram", "aten::histc", "i32[8192] =64 =0 =63");
	CHECK(r.s.s.elems == 8192 && r.s.n_in == 1);
	out_is(&r, 0, DT_INT32, 64);
	mk_close(&r.m);
	read_ok(&r, "histogram", "aten::bincount", "i64[40] - =16");
	out_is(&r, 0, DT_INT64, 16);
	mk_close(&r.m);
	refused("histogram", "aten::histc", "i32[8] =-3 =0 =63", "bins");
	read_ok(&r, "collective", "c10d::allreduce_", "bf16[4,1024]");
	CHECK(r.s.s.elems == 4096 && r.s.out[0].alias == 0);
	mk_close(&r.m);
}

SUITE(t_shape, T(every_reader_has_a_name_and_is_found_by_it), T(a_product_is_m_k_n),
      T(products_that_do_not_agree_are_refused),
      T(a_grouped_product_tells_its_groups_and_leaves_open_whose_its_rows_are),
      T(hostile_dims_are_refused_and_nothing_overflows), T(a_reader_without_a_framework_op_refuses),
      T(attention_reads_both_layouts), T(elementwise_broadcasts_promotes_and_knows_wrapped_numbers),
      T(rows_and_columns_of_reductions_softmax_and_norms),
      T(a_concat_joins_along_its_dim_and_its_size_comes_from_the_kernel), T(copies_and_fills),
      T(a_transposed_copy_tells_the_sectors_of_a_warp), T(device_copies_use_the_ops_tensors_where_the_bytes_agree),
      T(indexed_reads_and_writes), T(what_orders), T(engines_picks_are_sorted_and_summed_up),
      T(the_rest_of_the_readers));
