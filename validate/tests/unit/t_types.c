/* t_types.c - what a recording does not say of its tensors: formats in kernels' names, strides of views, and recordings of
 * an H200 with sizes alone, with types and by Kineto, eager and as a graph, which are one program (traces/h200/capture). */
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/lower/lower.h"
#include "traces/read/capture_spool.h"
#include "traces/read/format.h"
#include "traces/read/nvtx_view.h"
#include "validate/tests/mktrace.h"
#include "validate/tests/tracebed.h"
#include "workloads/kernel_type.h"
#include "workloads/work.h"

#define CAPTURE "traces/h200/capture/"

/* --- names ------------------------------------------------------------------------------------------------------- */

TEST(names_of_kernels_tell_formats)
{
	static const struct {
		const char *name;
		enum dtype in, out;
		bool casts;
	} known[] = {
		{ "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", DT_BF16, DT_BF16, false },
		{ "nvjet_sm90_hsh_64x8_64x16_4x1_v_bz_TNT", DT_FP16, DT_FP16, false },
		{ "nvjet_sm90_qqtst_64x8_128x8_2x1_v_bz_TNT", DT_FP8, DT_BF16, false },
		{ "nvjet_sm90_", DT_NONE, DT_NONE, false },
		{ "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_32x6_tn", DT_BF16, DT_BF16, false },
		{ "ampere_sgemm_32x32_sliced1x4_tn", DT_FP32, DT_FP32, false },
		{ "void gemv2T_kernel_val<int, int, __half, __half, __half, float, 128>(float)", DT_FP16, DT_FP16,
		  false },
		{ "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(x)", DT_FP32, DT_FP32, false },
		{ "_ZN7cutlass13device_kernelINS_4gemmIN7cutlass10bfloat16_tE", DT_BF16, DT_BF16, false },
		{ "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16>, "
		  "std::array<char*, 3ul> >(int)",
		  DT_BF16, DT_BF16, false },
		{ "void at::native::vectorized_elementwise_kernel<8, at::native::bfloat16_copy_kernel_cuda(at::"
		  "TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul> >(int)",
		  DT_FP32, DT_BF16, false },
		{ "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::"
		  "{lambda()#3}::operator()() const::{lambda(float)#1}, at::native::memory::LoadWithCast<1> >(int)",
		  DT_FP32, DT_FP32, true },
		{ "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::BFloat16, at::native::ArgMaxOps<float>, "
		  "unsigned int, long, 4, 4> >(x)",
		  DT_BF16, DT_INT64, false },
		{ "void (anonymous namespace)::softmax_warp_forward<c10::Half, float, float, 10, false, false>(x)",
		  DT_FP16, DT_FP32, false },
		{ "cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_35", DT_NONE, DT_NONE, false },
		{ "", DT_NONE, DT_NONE, false },
		{ "lambda(", DT_NONE, DT_NONE, false },
		{ "elementwise_kernel BinaryFunctor<", DT_NONE, DT_NONE, false },
		{ "ReduceOp<", DT_NONE, DT_NONE, false },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		const struct kernel_type k = kernel_type(known[i].name);

		if (k.in[0] != known[i].in || k.out != known[i].out || k.casts != known[i].casts)
			test_fail(__FILE__, __LINE__, "%s: %s -> %s", known[i].name, dtype_name(k.in[0]),
			          dtype_name(k.out));
	}
	CHECK_U64(kernel_type("CatArrayBatchedCopy<OpaqueType<2u>, unsigned int, 4, 64, 64>").bytes, 2);
	CHECK(kernel_type("elementwise_kernel<where::{lambda(bool, float, float)#1}>").in[1] == DT_FP32);
}

/* --- views ------------------------------------------------------------------------------------------------------- */

#define DIMS(...) \
	(const int64_t[TRACE_MAX_DIMS]) \
	{ \
		__VA_ARGS__ \
	}

static void lies(const char *op, int32_t n_from, const int64_t *dims, const int64_t *strides, int32_t n_to,
                 const int64_t *size, const int64_t *expected)
{
	struct nvtx_view v = { .op = 1, .kind = nvtx_view_kind(op), .ndims = n_from };
	struct trace_arg x = { .ndims = n_to };

	memcpy(v.dims, dims, sizeof v.dims);
	memcpy(v.strides, strides, sizeof v.strides);
	memcpy(x.dims, size, sizeof x.dims);
	nvtx_view_strides(&v, &x);
	for (int32_t d = 0; d < n_to; d++)
		if (x.strides[d] != expected[d])
			test_fail(__FILE__, __LINE__, "%s: stride %d is %lld", op, d, (long long)x.strides[d]);
}

TEST(views_lie_as_pytorch_lays_them)
{
	lies("aten::t", 2, DIMS(3, 8), DIMS(8, 1), 2, DIMS(8, 3), DIMS(1, 8));
	lies("aten::t", 2, DIMS(8, 8), DIMS(8, 1), 2, DIMS(8, 8), DIMS(1, 8));
	lies("aten::transpose", 4, DIMS(1, 5, 4, 2), DIMS(40, 8, 2, 1), 4, DIMS(1, 4, 5, 2), DIMS(40, 2, 8, 1));
	lies("aten::slice", 3, DIMS(2, 4, 8), DIMS(32, 8, 1), 3, DIMS(2, 4, 3), DIMS(32, 8, 1));
	lies("aten::select", 3, DIMS(3, 2, 8), DIMS(16, 8, 1), 2, DIMS(2, 8), DIMS(8, 1));
	lies("aten::expand", 3, DIMS(2, 1, 8), DIMS(8, 8, 1), 3, DIMS(2, 5, 8), DIMS(8, 0, 1));
	lies("aten::expand", 2, DIMS(1, 8), DIMS(8, 1), 3, DIMS(4, 5, 8), DIMS(0, 0, 1));
	lies("aten::view", 2, DIMS(6, 8), DIMS(8, 1), 3, DIMS(2, 3, 8), DIMS(24, 8, 1));
	lies("aten::unsqueeze", 2, DIMS(6, 4), DIMS(8, 1), 3, DIMS(6, 1, 4), DIMS(8, 4, 1));
	lies("aten::view", 2, DIMS(6, 4), DIMS(8, 1), 3, DIMS(2, 3, 4), DIMS(24, 8, 1));
	/* what cannot be a view was copied, and is packed */
	lies("aten::reshape", 2, DIMS(6, 4), DIMS(1, 6), 1, DIMS(24), DIMS(1));
	lies("aten::reshape", 3, DIMS(2, 5, 8), DIMS(8, 0, 1), 2, DIMS(10, 8), DIMS(8, 1));
	lies("aten::select", 3, DIMS(3, 2, 8), DIMS(16, 8, 1), 2, DIMS(7, 8), DIMS(8, 1));
	/* a hostile file: nothing overflows */
	lies("aten::view", 2, DIMS(INT64_MAX, INT64_MAX), DIMS(INT64_MAX, INT64_MAX), 2, DIMS(2, 3), DIMS(3, 1));
	lies("aten::view", 2, DIMS(0, 4), DIMS(4, 1), 2, DIMS(2, 3), DIMS(3, 1));
}

/* --- recordings -------------------------------------------------------------------------------------------------- */

struct low {
	struct bed b;
	struct rules *r;
	struct op_stream s;
	struct lower_stats st;
};

static void read_in(struct low *l, const char *path, const char *range)
{
	char full[4096];

	bed_open(&l->b, ":memory:", DB_WRITE);
	snprintf(full, sizeof full, "%s%s%s", *path == '/' ? "" : test_root(), *path == '/' ? "" : "/", path);
	CHECK_OK(format_import(l->b.db, FORMAT_AUTO, full, NULL, NULL, &l->b.st, &l->b.e), l->b.e);
	bed_load(&l->b, range);
}

static void lower_it(struct low *l)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/configs/rules/pytorch-cuda.yaml", test_root());
	l->r = rules_load(path, &l->b.e);
	CHECK_OK(l->r ? 0 : -1, l->b.e);
	CHECK_OK(lower_trace(&l->b.t, l->r, l->b.a, &l->s, &l->st, &l->b.e), l->b.e);
	CHECK_OK(lower_check(&l->s, &l->b.e), l->b.e);
}

static void low_open(struct low *l, const char *path, const char *range)
{
	read_in(l, path, range);
	lower_it(l);
}

static void low_close(struct low *l)
{
	rules_free(l->r);
	bed_close(&l->b);
}

/* The same ops on the same sizes in the same formats; `strides`: read and written alike, to the byte. */
static void twins(const struct low *a, const struct low *b, bool strides)
{
	uint64_t bytes[2] = { 0, 0 };

	CHECK_U64(a->s.n_ops, b->s.n_ops);
	for (size_t i = 0; i < a->s.n_ops; i++) {
		const struct op *x = &a->s.ops[i], *y = &b->s.ops[i];
		const struct work v = work_of(&a->s, x), w = work_of(&b->s, y);

		/* A number without dims, which the host reads, looks like an argument that is none. */
		if (x->kind != y->kind || (x->dtype != y->dtype && x->kind != OP_HOST_SYNC) || v.flops != w.flops ||
		    (x->out_dtype != y->out_dtype && x->kind != OP_HOST_SYNC) ||
		    (strides && (v.read_bytes != w.read_bytes || v.write_bytes != w.write_bytes)))
			test_fail(__FILE__, __LINE__, "op %zu: %s %s and %s %s", i, x->name, dtype_name(x->dtype),
			          y->name, dtype_name(y->dtype));
		bytes[0] += v.read_bytes + v.write_bytes;
		bytes[1] += w.read_bytes + w.write_bytes;
	}
	CHECK(bytes[0] * 100 >= bytes[1] * 99 && bytes[0] * 99 <= bytes[1] * 100);
}

TEST(sizes_alone_are_enough_for_nearly_all_of_the_time)
{
	struct low l;

	low_open(&l, CAPTURE "decode.spool.gz", "decode_step_0");
	CHECK_U64(l.st.kernels, 115);
	CHECK(l.st.lowered_kernel_ns * 100 >= l.st.kernel_ns * 95);
	CHECK(l.st.types[LOWER_TYPE_RECORDED] == 0 && l.st.types[LOWER_TYPE_NONE] == 0);
	CHECK(l.st.types[LOWER_TYPE_KERNEL] > l.st.types[LOWER_TYPE_NEIGHBOUR]);
	for (size_t i = 0; i < l.s.n_ops; i++)
		CHECK(l.s.ops[i].types || l.s.ops[i].kind == OP_HOST_SYNC);
	low_close(&l);
}

TEST(a_recording_with_types_is_its_kineto_twin)
{
	struct low a, b;

	low_open(&a, CAPTURE "decode_typed.spool.gz", "step_0");
	low_open(&b, CAPTURE "kineto_decode.json.gz", "step_0");
	twins(&a, &b, true);
	CHECK(b.st.types[LOWER_TYPE_RECORDED] == 0 && b.st.types[LOWER_TYPE_KERNEL] == 0); /* nothing to tell */
	low_close(&a);
	low_close(&b);
}

TEST(a_recording_of_sizes_is_its_kineto_twin)
{
	struct low a, b;

	low_open(&a, CAPTURE "llama_eager.spool.gz", "step_1");
	low_open(&b, CAPTURE "kineto_llama_eager.json.gz", "step_1");
	CHECK(a.st.lowered_kernel_ns == a.st.kernel_ns);
	twins(&a, &b, false);
	low_close(&a);
	low_close(&b);
}

/* Kernels of a graph are of the ops that it captured. */
static void graph_of(const char *file)
{
	struct low l;

	low_open(&l, file, "step_1");
	for (size_t i = 0; i < l.s.n_launches; i++)
		if (l.s.launches[i].kind == TRACE_KERNEL)
			CHECK_U64(l.s.launches[i].link, TRACE_LINK_NODE);
	CHECK(l.st.kernels > 100 && l.st.lowered_kernel_ns * 100 >= l.st.kernel_ns * 95);
	low_close(&l);
}

TEST(kernels_of_a_graph_are_of_the_ops_it_captured)
{
	struct low a, b;

	graph_of(CAPTURE "decode_typed_graph.spool.gz");
	graph_of(CAPTURE "llama_graph.spool.gz");
	/* The eager step has one op more, the host's read at its end. */
	low_open(&a, CAPTURE "llama_graph.spool.gz", "step_0");
	low_open(&b, CAPTURE "llama_eager.spool.gz", "step_0");
	CHECK_U64(a.s.n_ops + 1, b.s.n_ops);
	b.s.n_ops--;
	twins(&a, &b, true);
	low_close(&a);
	low_close(&b);
}

/* Op by op alike but for what sizes alone do not tell: how far a range goes, of which its grid is more. */
static void alike(const struct low *a, const struct low *b)
{
	uint64_t sums[2][2] = { { 0, 0 }, { 0, 0 } };

	CHECK_U64(a->s.n_ops, b->s.n_ops);
	for (size_t i = 0; i < a->s.n_ops; i++) {
		const struct op *x = &a->s.ops[i], *y = &b->s.ops[i];
		const struct work v = work_of(&a->s, x), w = work_of(&b->s, y);

		CHECK_U64(x->kind, y->kind);
		CHECK(x->dtype == y->dtype || x->kind == OP_HOST_SYNC);
		if (x->kind == OP_GEMM)
			CHECK(v.flops == w.flops && v.read_bytes == w.read_bytes);
		sums[0][0] += v.read_bytes + v.write_bytes;
		sums[0][1] += w.read_bytes + w.write_bytes;
		sums[1][0] += v.flops;
		sums[1][1] += w.flops;
	}
	for (size_t i = 0; i < 2; i++)
		CHECK(sums[i][0] * 1000 >= sums[i][1] * 999 && sums[i][0] * 999 <= sums[i][1] * 1000);
}

/* Four layers of OLMoE's shape, sizes alone: one recording has two eager steps and a graph's two replays. */
TEST(a_mixtures_recording_is_its_kineto_twin_and_its_graph_too)
{
	struct low a, b, c;

	low_open(&a, CAPTURE "olmoe.spool.gz", "step_1");
	low_open(&b, "validate/tests/data/align/olmoe_4layers_b8_eager.json.gz", "step_1");
	low_open(&c, CAPTURE "olmoe.spool.gz", "replay_1");
	CHECK_U64(a.st.kernels, 384);
	CHECK(a.st.lowered_kernel_ns == a.st.kernel_ns && c.st.lowered_kernel_ns == c.st.kernel_ns);
	CHECK(a.st.types[LOWER_TYPE_RECORDED] == 0 && a.st.types[LOWER_TYPE_NONE] == 0);
	CHECK_U64(a.st.inferred_groups, 8);
	alike(&a, &b);
	a.s.n_ops--; /* the host's read at its end */
	alike(&c, &a);
	low_close(&a);
	low_close(&b);
	low_close(&c);
}

TEST(of_a_recording_the_part_with_ops_is_taken)
{
	struct lower_left left;
	struct low l;

	read_in(&l, CAPTURE "llama_eager.spool.gz", NULL);
	CHECK_U64(l.b.t.n_launches, 2038);
	lower_part(&l.b.t, &left);
	CHECK(left.launches == 1292 && l.b.t.n_launches == 746 && l.b.t.steps == 2);
	CHECK(left.steps && left.base == 5 && strncmp(left.steps, "step_", 5) == 0);
	lower_it(&l);
	CHECK(l.st.lowered_kernel_ns == l.st.kernel_ns);
	low_close(&l);
	/* of all ops recorded, and of none, all stands */
	read_in(&l, "traces/h200/kineto_dsocr_b1_c1024.json.gz", NULL);
	lower_part(&l.b.t, &left);
	CHECK(left.launches == 0 && l.b.t.n_launches == 3300);
	bed_close(&l.b);
	read_in(&l, CAPTURE "graph.spool.gz", NULL);
	lower_part(&l.b.t, &left);
	CHECK_U64(left.launches, 0);
	bed_close(&l.b);
}

/* --- where nothing tells ----------------------------------------------------------------------------------------- */

TEST(an_assumed_type_is_for_what_nothing_tells)
{
	static const char name[] = "cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_35";
	struct trace_arg *args;
	struct low l;
	struct mk m;

	mk_open(&m);
	mk_kernel(&m, name, "aten::_cudnn_attention_forward",
	          "bf16[1,4,1,64] bf16[1,4,9,64] bf16[1,4,9,64] - - - - - - - - -");
	args = (struct trace_arg *)m.t.launches[0].op->args;
	for (int i = 0; i < 3; i++)
		args[i].dtype = "";
	memset(&l, 0, sizeof l);
	l.b.a = m.a;
	l.b.t = m.t;
	lower_it(&l);
	CHECK(l.s.ops[0].kind == OP_OPAQUE && l.st.types[LOWER_TYPE_NONE] == 3);
	rules_free(l.r);
	l.b.t.dtype = "fp16";
	lower_it(&l);
	CHECK(l.s.ops[0].kind == OP_ATTENTION && l.s.ops[0].dtype == DT_FP16 && l.st.types[LOWER_TYPE_ASSUMED] == 3);
	CHECK_STR(l.s.ops[0].types, "assumed");
	rules_free(l.r);
	CHECK(lower_types_check("bf17", &l.b.e) == -1);
	CHECK_HAS(l.b.e.msg, "'bf17' is no number format for option '--dtype': fp64, fp32, bf16, fp16");
	mk_close(&m);
}

/* --- the same run as Nsight Systems exports it -------------------------------------------------------------------- */

static const char nsys_tables[] =
	"create table StringIds(id integer primary key, value text);"
	"create table TARGET_INFO_GPU(id integer, name text, computeMajor integer, computeMinor integer, smCount integer,"
	" totalMemory integer);"
	"create table CUPTI_ACTIVITY_KIND_KERNEL(start integer, end integer, deviceId integer, contextId integer,"
	" streamId integer, correlationId integer, globalPid integer, graphId integer, graphNodeId integer,"
	" demangledName integer, gridX integer, gridY integer, gridZ integer, blockX integer, blockY integer,"
	" blockZ integer, clusterX integer, clusterY integer, clusterZ integer, registersPerThread integer,"
	" staticSharedMemory integer, dynamicSharedMemory integer, localMemoryPerThread integer);"
	"create table CUPTI_ACTIVITY_KIND_MEMCPY(start integer, end integer, deviceId integer, contextId integer,"
	" streamId integer, correlationId integer, globalPid integer, graphNodeId integer, bytes integer,"
	" copyKind integer, srcKind integer, dstKind integer);"
	"create table CUPTI_ACTIVITY_KIND_RUNTIME(start integer, end integer, eventClass integer, globalTid integer,"
	" correlationId integer, nameId integer);"
	"create table CUDA_GRAPH_NODE_EVENTS(start integer, end integer, globalTid integer, graphNodeId integer,"
	" originalGraphNodeId integer);"
	"create table mark(id integer primary key, start integer, end integer, tid integer, name integer);"
	"create table NVTX_EVENTS(start integer, end integer, eventType integer, text text, textId integer,"
	" globalTid integer);";

#define PID UINT64_C(0x1000000)

static void say(sqlite3 *h, const char *sql, size_t n, const uint64_t *v, const char *text)
{
	sqlite3_stmt *s = NULL;

	CHECK(sqlite3_prepare_v2(h, sql, -1, &s, NULL) == SQLITE_OK);
	for (size_t i = 0; i < n; i++)
		CHECK(sqlite3_bind_int64(s, (int)i + 1, (sqlite3_int64)v[i]) == SQLITE_OK);
	if (text)
		CHECK(sqlite3_bind_text(s, (int)n + 1, text, -1, SQLITE_TRANSIENT) == SQLITE_OK);
	CHECK(sqlite3_step(s) == SQLITE_DONE);
	sqlite3_finalize(s);
}

#define SAY(h, sql, text, ...) \
	do { \
		const uint64_t v_[] = { __VA_ARGS__ }; \
		say(h, sql, sizeof v_ / sizeof *v_, v_, text); \
	} while (0)

static void to_nsys(sqlite3 *h, const struct capture_record *r)
{
	const uint64_t *v = r->v;

	switch (r->kind) {
	case SPOOL_NAME:
		SAY(h, "insert into StringIds values(?, ?)", r->text, v[NAME_ID]);
		break;
	case SPOOL_DEVICE:
		SAY(h,
		    "insert into TARGET_INFO_GPU(id, computeMajor, computeMinor, smCount, totalMemory, name)"
		    " values(?, ?, ?, ?, ?, ?)",
		    r->text, v[DEVICE_ID], v[DEVICE_MAJOR], v[DEVICE_MINOR], v[DEVICE_SMS], v[DEVICE_MEMORY]);
		break;
	case SPOOL_KERNEL:
		SAY(h,
		    "insert into CUPTI_ACTIVITY_KIND_KERNEL values(?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?,"
		    " ?, ?, ?, ?, ?, ?, ?)",
		    NULL, v[ACT_START], v[ACT_END], v[ACT_DEVICE], v[ACT_CONTEXT], v[ACT_STREAM], v[ACT_CORRELATION],
		    PID, v[ACT_GRAPH], v[ACT_NODE], v[ACT_NAME], v[KERNEL_GRID], v[KERNEL_GRID + 1], v[KERNEL_GRID + 2],
		    v[KERNEL_BLOCK], v[KERNEL_BLOCK + 1], v[KERNEL_BLOCK + 2], v[KERNEL_CLUSTER], v[KERNEL_CLUSTER + 1],
		    v[KERNEL_CLUSTER + 2], v[KERNEL_REGISTERS], v[KERNEL_STATIC], v[KERNEL_DYNAMIC], v[KERNEL_LOCAL]);
		break;
	case SPOOL_COPY:
		SAY(h, "insert into CUPTI_ACTIVITY_KIND_MEMCPY values(?, ?, ?, ?, ?, ?, ?, nullif(?, 0), ?, ?, ?, ?)",
		    NULL, v[ACT_START], v[ACT_END], v[ACT_DEVICE], v[ACT_CONTEXT], v[ACT_STREAM], v[ACT_CORRELATION],
		    PID, v[ACT_NODE], v[COPY_BYTES], v[COPY_DIR], v[COPY_FROM] - 1, v[COPY_TO] - 1);
		break;
	case SPOOL_CALL:
		SAY(h, "insert into CUPTI_ACTIVITY_KIND_RUNTIME values(?, ?, 1, ?, ?, ?)", NULL, v[CALL_START],
		    v[CALL_END], PID | v[CALL_THREAD], v[CALL_CORRELATION], v[CALL_NAME]);
		break;
	case SPOOL_MARK:
		if (v[MARK_EDGE] == EDGE_BEGIN)
			SAY(h, "insert into mark(id, start, tid, name) values(?, ?, ?, ?)", NULL, v[MARK_ID],
			    v[MARK_TIME], PID | v[MARK_THREAD], v[MARK_NAME]);
		else
			SAY(h, "update mark set end = ?2 where id = ?1", NULL, v[MARK_ID], v[MARK_TIME]);
		break;
	case SPOOL_NODE:
		SAY(h, "insert into CUDA_GRAPH_NODE_EVENTS values(?1, ?1, ?2, ?3, nullif(?4, 0))", NULL, v[NODE_TIME],
		    PID | v[NODE_THREAD], v[NODE_ID], v[NODE_FROM]);
		break;
	default:
		break;
	}
}

/* A spool as the export of the same run would be. */
static void make_nsys(const char *spool, const char *path)
{
	struct capture_record r;
	struct capture_spool *s;
	struct err e = ERR_INIT;
	struct input *in;
	char full[4096];
	sqlite3 *h = NULL;
	int rc;

	unlink(path);
	CHECK(sqlite3_open(path, &h) == SQLITE_OK);
	CHECK(sqlite3_exec(h, nsys_tables, NULL, NULL, NULL) == SQLITE_OK);
	CHECK(sqlite3_exec(h, "begin", NULL, NULL, NULL) == SQLITE_OK);
	snprintf(full, sizeof full, "%s/%s", test_root(), spool);
	in = input_open(full, &e);
	CHECK_OK(in ? 0 : -1, e);
	s = capture_spool_new(in, &e);
	CHECK_OK(s ? 0 : -1, e);
	while ((rc = capture_spool_next(s, &r, &e)) == 1)
		to_nsys(h, &r);
	CHECK_OK(rc, e);
	capture_spool_free(s);
	input_free(in);
	CHECK(sqlite3_exec(h,
	                   "insert into NVTX_EVENTS select start, end, 59, null, name, tid from mark; drop table mark;"
	                   " commit",
	                   NULL, NULL, NULL) == SQLITE_OK);
	sqlite3_close(h);
}

static void nsys_twin(const char *spool, const char *range)
{
	char path[1024];
	struct low a, b;

	make_nsys(spool, test_path(path, sizeof path, "twin.sqlite"));
	low_open(&a, path, range);
	low_open(&b, spool, range);
	CHECK(a.st.lowered_kernel_ns * 100 >= a.st.kernel_ns * 95);
	CHECK_U64(a.st.kernel_ns, b.st.kernel_ns);
	twins(&a, &b, true);
	low_close(&a);
	low_close(&b);
}

TEST(an_nsys_export_of_the_run_tells_the_same)
{
	nsys_twin(CAPTURE "decode.spool.gz", "decode_step_0");
	nsys_twin(CAPTURE "decode_typed_graph.spool.gz", "step_1");
}

SUITE(t_types, T(names_of_kernels_tell_formats), T(views_lie_as_pytorch_lays_them),
      T(sizes_alone_are_enough_for_nearly_all_of_the_time), T(a_recording_with_types_is_its_kineto_twin),
      T(a_recording_of_sizes_is_its_kineto_twin), T(kernels_of_a_graph_are_of_the_ops_it_captured),
      T(a_mixtures_recording_is_its_kineto_twin_and_its_graph_too), T(of_a_recording_the_part_with_ops_is_taken),
      T(an_assumed_type_is_for_what_nothing_tells), T(an_nsys_export_of_the_run_tells_the_same));
