/* t_foreign.c - profiles of other devices: which ops with which sizes stand in the database of them, and how each can be bad. */
#include <stdio.h>
#include <string.h>

#include "sim/base/path.h"
#include "sim/base/str.h"
#include "traces/read/format.h"
#include "traces/read/hlo_text.h"
#include "traces/read/shaped.h"
#include "validate/tests/tracebed.h"
#include "workloads/listed.h"

#define DATA "validate/tests/data/foreign/"

static void up(struct bed *b, const char *file)
{
	char path[1200];

	bed_open(b, ":memory:", DB_WRITE);
	CHECK_OK(path_data(file, path, sizeof path, &b->e), b->e);
	CHECK_OK(format_import(b->db, FORMAT_AUTO, path, NULL, NULL, &b->st, &b->e), b->e);
	CHECK_OK(tracedb_load_any(b->db, NULL, b->a, &b->t, &b->e), b->e);
}

static int import_text(struct bed *b, const char *text)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof path, "%s/foreign", test_tmp());
	f = fopen(path, "w");
	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
	bed_open(b, ":memory:", DB_WRITE);
	return format_import(b->db, FORMAT_AUTO, path, NULL, NULL, &b->st, &b->e);
}

static void refused(const char *text, int line, const char *because)
{
	struct bed b;
	const int rc = import_text(&b, text);

	if (line)
		CHECK_U64(b.e.line, line);
	bed_refused(&b, rc, because);
}

static struct listed row(const struct bed *b, size_t i)
{
	struct listed x;

	CHECK(i < b->t.n_launches && listed_is(&b->t.launches[i]));
	CHECK(listed_of_op(b->t.launches[i].op, &x) == 0);
	return x;
}

static void is_product(const struct bed *b, size_t i, uint64_t batch, uint64_t m, uint64_t n, uint64_t k)
{
	const struct listed x = row(b, i);

	CHECK_STR(listed_op_name(&x), "gemm");
	CHECK_U64(x.v[LISTED_BATCH], batch);
	CHECK_U64(x.v[LISTED_M], m);
	CHECK_U64(x.v[LISTED_N], n);
	CHECK_U64(x.v[LISTED_K], k);
}

static void is_attention(const struct bed *b, size_t i, const uint64_t want[6])
{
	static const enum listed_column columns[] = { LISTED_BATCH, LISTED_HEADS,  LISTED_KV_HEADS,
		                                      LISTED_Q_LEN, LISTED_KV_LEN, LISTED_HEAD_DIM };
	const struct listed x = row(b, i);

	CHECK_STR(listed_op_name(&x), "attention");
	for (int k = 0; k < 6; k++)
		CHECK_U64(x.v[columns[k]], want[k]);
}

static void is_op(const struct bed *b, size_t i, const char *op, enum listed_column c, uint64_t v)
{
	const struct listed x = row(b, i);

	CHECK_STR(b->t.launches[i].op->name + strlen(LISTED_SPACE), op);
	CHECK_U64(x.v[c], v);
}

/* --- tt-metal ----------------------------------------------------------------------------------------------------- */

TEST(tt_metals_ops_have_logical_sizes_formats_and_the_devices_times)
{
	struct bed b;

	up(&b, DATA "ops_perf_results.csv");
	CHECK_STR(b.t.tool, "tt-metal");
	CHECK_U64(b.t.n_launches, 13);
	CHECK_U64(b.st.unlisted, 2);
	is_product(&b, 2, 1, 32, 3072, 2048);
	CHECK_STR(b.t.launches[2].op->args[4].dtype, "bf16");
	CHECK_STR(b.t.launches[2].op->args[5].dtype, "bfp8_b");
	CHECK_U64(b.t.launches[2].dur_ns, 41233);
	is_product(&b, 9, 32, 128, 100, 64); /* padded to 128 */
	is_attention(&b, 8, (const uint64_t[]){ 1, 32, 8, 128, 128, 64 });
	CHECK_U64(row(&b, 8).v[LISTED_CAUSAL], 1);
	is_op(&b, 0, "embed", LISTED_COLS, 2048);
	is_op(&b, 1, "norm:rms_norm", LISTED_ROWS, 32);
	is_op(&b, 3, "copy", LISTED_ELEMENTS, 32 * 3072);
	is_op(&b, 6, "elementwise:add", LISTED_ELEMENTS, 32 * 2048);
	is_op(&b, 7, "elementwise:silu_and_mul", LISTED_ELEMENTS, 32 * 8192);
	is_op(&b, 10, "softmax", LISTED_COLS, 100);
	is_op(&b, 11, "convert:bfp8_b", LISTED_ELEMENTS, 128 * 2048);
	CHECK(!b.t.launches[4].op && !b.t.launches[12].op); /* a cache of unknown fill, a halo */
	bed_close(&b);
}

TEST(a_signpost_begins_a_range_and_gaps_between_ops_are_kept)
{
	struct bed b;

	up(&b, DATA "ops_perf_results.csv");
	CHECK_U64(b.t.n_ranges, 2);
	CHECK_STR(b.t.ranges[0].name, "decode step 0");
	CHECK_U64(b.t.launches[1].start_ns - b.t.launches[0].start_ns - b.t.launches[0].dur_ns, 812);
	arena_free(b.a);
	b.a = arena_new(0);
	bed_load(&b, "prefill");
	CHECK_U64(b.t.n_launches, 5);
	bed_close(&b);
}

#define TT  "OP CODE,OP TYPE,DEVICE KERNEL DURATION [ns]"
#define TT0 ",INPUT_0_W,INPUT_0_Z,INPUT_0_Y,INPUT_0_X,INPUT_0_DATATYPE"

TEST(older_reports_of_tt_metal_have_plain_sizes)
{
	struct bed b;

	CHECK(import_text(&b, TT TT0 "\nTilize,tt_dnn_device,120,1,1,64,96,BFLOAT16\n") == 0);
	bed_load(&b, NULL);
	is_op(&b, 0, "copy", LISTED_ELEMENTS, 64 * 96);
	bed_close(&b);
}

TEST(what_lies_in_l1_is_resident)
{
	struct bed b;

	CHECK(import_text(&b, TT TT0
	                  ",INPUT_0_MEMORY,INPUT_1_W,INPUT_1_Z,INPUT_1_Y,INPUT_1_X,INPUT_1_DATATYPE,INPUT_1_MEMORY,"
	                  "OUTPUT_0_W,OUTPUT_0_Z,OUTPUT_0_Y,OUTPUT_0_X,OUTPUT_0_DATATYPE,OUTPUT_0_MEMORY\n"
	                  "Matmul,tt_dnn_device,120,1,1,64,96,BFLOAT16,DEV_0_L1_BLOCK_SHARDED,1,1,96,32,BFLOAT8_B,"
	                  "DEV_0_DRAM_INTERLEAVED,1,1,64,32,BFLOAT16,DEV_0_L1_INTERLEAVED\n") == 0);
	bed_load(&b, NULL);
	is_product(&b, 0, 1, 64, 32, 96);
	CHECK_U64(row(&b, 0).resident, 1u << LISTED_IN | 1u << LISTED_OUT);
	bed_close(&b);
}

TEST(bad_reports_of_tt_metal_are_refused)
{
	refused(TT "\nTilize,tt_dnn_device,120\n", 1, "the report has no shapes");
	refused("OP CODE,OP TYPE,DEVICE ID" TT0 "\n", 1, "no column 'DEVICE KERNEL DURATION [ns]'");
	refused(TT TT0 "\nTilize,tt_dnn_device,12a,1,1,64,96,BFLOAT16\n", 2, "'12a' is no number");
	refused(TT TT0 "\nTilize,tt_dnn_device,12,1,1,6x,96,BFLOAT16\n", 2, "'6x' is no size of a tensor");
	refused(TT TT0 "\nTilize,tt_dnn_device,12\n", 2, "a row of 3 fields under a header of 8");
	refused(TT TT0 "\nprint,python_fallback,,,,,,\n", 0, "no rows of a device");
	refused(TT TT0 "\nTilize,tt_dnn_device,99999999999999999,1,1,64,96,BFLOAT16\n", 2, "more than a year");
}

/* --- Ascend ------------------------------------------------------------------------------------------------------- */

TEST(ascends_tasks_have_their_shapes_whatever_the_layout)
{
	struct bed b;

	up(&b, DATA "kernel_details.csv");
	CHECK_STR(b.t.tool, "ascend");
	CHECK_U64(b.t.n_launches, 22);
	CHECK_U64(b.st.unlisted, 2);
	is_op(&b, 0, "norm:rms_norm", LISTED_COLS, 4096);
	is_product(&b, 1, 1, 64, 6144, 4096);                                 /* weights transposed */
	is_attention(&b, 2, (const uint64_t[]){ 1, 32, 8, 2048, 2048, 128 }); /* BSH, heads in its first result */
	CHECK_U64(row(&b, 2).v[LISTED_CAUSAL], 1);
	is_product(&b, 3, 1, 64, 4096, 4096); /* FRACTAL_NZ */
	is_product(&b, 4, 32, 64, 512, 128);
	is_product(&b, 5, 1, 128, 4096, 4096);
	CHECK_STR(b.t.launches[5].op->args[4].dtype, "int8");
	is_op(&b, 6, "elementwise:silu_and_mul", LISTED_ELEMENTS, 64 * 14336);
	is_op(&b, 7, "elementwise", LISTED_ELEMENTS, 64 * 4096); /* by one value */
	is_op(&b, 8, "convert:fp32", LISTED_ELEMENTS, 64 * 4096);
	is_op(&b, 9, "embed", LISTED_ROWS, 64);
	CHECK(!b.t.launches[10].op);
	CHECK_U64(b.t.n_ranges, 2);
	CHECK_STR(b.t.ranges[1].name, "step_8");
	CHECK_U64(b.t.launches[1].start_ns - b.t.launches[0].start_ns, 4120 + 1240);
	bed_close(&b);
}

#define ASCEND \
	"Name,Type,Accelerator Core,Start Time(us),Duration(us),Input Shapes,Input Data Types,Output Shapes,Output Data Types"

TEST(bad_tables_of_ascend_are_refused)
{
	refused("Name,Type,Accelerator Core,Start Time(us),Duration(us)\na,Add,AI_CORE,1,2\n", 1,
	        "times alone cannot be replayed; profile with record_shapes=True");
	refused(ASCEND "\na,Add,AI_CORE,x,2,1,BF16,1,BF16\n", 2, "'x' is no number for 'Start Time(us)'");
	refused(ASCEND "\na,Add,AI_CORE,1,-2,1,BF16,1,BF16\n", 2, "out of range for 'Duration(us)'");
	refused(ASCEND "\na,Add,AI_CORE,1,2,\"3,q\",BF16,1,BF16\n", 2, "are no sizes of a tensor");
	refused(ASCEND "\n", 0, "no kernels");
}

/* --- XLA ---------------------------------------------------------------------------------------------------------- */

TEST(xlas_instructions_become_ops_and_what_encloses_others_is_left_out)
{
	struct bed b;

	up(&b, DATA "trace.json");
	CHECK_STR(b.t.tool, "xplane");
	CHECK_U64(b.t.n_launches, 18); /* neither the loop, nor the host, nor asynchronous copies */
	CHECK_U64(b.st.unlisted, 2);
	is_product(&b, 0, 1, 256, 8192, 2048); /* a fusion with a bias */
	CHECK_U64(b.t.launches[0].dur_ns, 21731);
	is_product(&b, 1, 1, 256, 2048, 8192); /* a convolution without a window */
	is_product(&b, 2, 32, 256, 256, 64);   /* a dot with batch */
	is_product(&b, 3, 32, 256, 64, 256);   /* a fusion, its batch told by its FLOPs */
	is_op(&b, 4, "elementwise:add", LISTED_ELEMENTS, 256 * 2048);
	is_op(&b, 5, "reduce:sum", LISTED_COLS, 2048);
	is_op(&b, 6, "copy", LISTED_ELEMENTS, 2048 * 256);
	is_op(&b, 7, "copy", LISTED_ELEMENTS, 256 * 2048); /* of a stack of 24 */
	CHECK(!b.t.launches[8].op);
	CHECK_U64(b.t.n_ranges, 2);
	CHECK_STR(b.t.ranges[0].name, "step_14");
	bed_close(&b);
}

static struct hlo_op hlo(const char *text, uint64_t flops)
{
	const struct hlo_said said = { strstr(text, "kOutput") ? "convolution fusion" : "loop fusion", flops, 0 };
	struct hlo_op o;

	hlo_read(text, &said, &o);
	return o;
}

TEST(an_instruction_that_does_not_say_enough_is_no_op)
{
	static const char *const texts[] = {
		"",
		"fusion.3",
		"%f = ",
		"%f = bf16[8",
		"%f = bf16[8]{0} fusion",
		"%f = bf16[8]{0} (",
		"%f = bf16[8,8]{1,0} fusion(%a, %b), kind=kOutput",                                   /* no shapes */
		"%f = bf16[8,8]{1,0} fusion(bf16[8,8] %a, bf16[8,8] %b, bf16[8,8] %c), kind=kOutput", /* three pairs fit */
		"%f = bf16[8,8]{1,0} convolution(bf16[8,8] %a, bf16[8,8] %b), window={size=3x3}, dim_labels=bf_io->bf",
		"%f = bf16[8,8]{1,0} dot(bf16[8,8] %a, bf16[8,8] %b), lhs_contracting_dims={7}",
		"%f = bf16[8,8]{1,0} all-reduce(bf16[8,8] %a)",
		"%f = bf16[8,8]{1,0} fusion(bf16[64,8,8] %a), kind=kLoop",
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		const struct hlo_op o = hlo(texts[i], 0);

		CHECK(!o.s.op || strcmp(o.opcode, "all-reduce") == 0);
		CHECK(!(strcmp(o.opcode, "all-reduce") == 0 && o.s.op));
	}
	CHECK_U64(hlo("%f = bf16[8,32]{1,0} fusion(bf16[8,16] %a, bf16[32,16] %b), kind=kOutput", 0).s.size[LISTED_K],
	          16);
	CHECK(!hlo("%f = bf16[8,32]{1,0} fusion(bf16[8,16] %a, bf16[32,16] %b), kind=kOutput", 512).s.op);
}

TEST(bad_traces_of_xla_are_refused)
{
#define HEAD "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},\n\"traceEvents\":[\n"
#define LINE \
	"{\"ph\":\"M\",\"pid\":3,\"name\":\"process_name\",\"args\":{\"name\":\"/device:TPU:0\"}},\n" \
	"{\"ph\":\"M\",\"pid\":3,\"tid\":3,\"name\":\"thread_name\",\"args\":{\"name\":\"XLA Ops\"}},\n"
	refused(HEAD "{}]}", 0, "no process is named '/device:TPU:...'");
	refused(HEAD LINE "{}]}", 0, "its devices have no line");
	refused(HEAD LINE "{\"ph\":\"X\",\"pid\":3,\"tid\":3,\"name\":\"a\",\"dur\":1}]}", 5,
	        "the event 'a' has no \"ts\"");
	refused(HEAD LINE "{\"ph\":\"X\",\"pid\":3,\"tid\":3,\"name\":\"a\",\"ts\":1,\"dur\":-1}]}", 5,
	        "negative duration");
	refused(HEAD LINE "{\"ph\":\"X\",", 5, "cut short");
	refused(HEAD LINE "{\"ph\":]}", 5, "not valid JSON");
}

/* --- rocprof ------------------------------------------------------------------------------------------------------ */

TEST(rocprofs_kernels_have_names_times_and_blocks_of_either_version)
{
	struct bed b;

	up(&b, DATA "kernel_trace.csv");
	CHECK_U64(b.t.n_launches, 4);
	CHECK(str_prefix(b.t.launches[0].name, "Cijk_") && !b.t.launches[0].op);
	CHECK_U64(b.t.launches[0].dur_ns, 181234);
	CHECK(b.t.launches[0].grid[0] == 77824 / 256 && b.t.launches[0].block[0] == 256 &&
	      b.t.launches[0].grid[1] == 1);
	CHECK_U64(b.t.launches[0].smem_dynamic, 65536);
	CHECK_U64(b.t.launches[0].device, 4);
	bed_close(&b);
	up(&b, DATA "results.csv");
	CHECK_U64(b.t.n_launches, 3);
	CHECK_U64(b.t.launches[1].start_ns, 900000);
	CHECK(!strstr(b.t.launches[0].name, "clone"));
	bed_close(&b);
	up(&b, DATA "kernel_stats.csv");
	CHECK_U64(b.t.n_stats, 2);
	CHECK_U64(b.t.stats[0].instances, 1000);
	CHECK_U64(b.t.stats[0].deviation_ns, 8821);
	bed_close(&b);
}

TEST(bad_tables_of_rocprof_are_refused)
{
#define ROC "\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\"\n"
	refused(ROC "\"k\",20,10\n", 2, "ends before it begins");
	refused(ROC "\"k\",a,10\n", 2, "'a' is no number");
	refused(ROC "\"k\",1\n\"k\n", 0, "");
	refused("\"Name\",\"Calls\",\"TotalDurationNs\"\n\"k\",0,5\n", 2, "'0' is out of range for 'Calls'");
}

/* --- what they share ---------------------------------------------------------------------------------------------- */

TEST(formats_are_known_in_any_case)
{
	CHECK_STR(shaped_type("BFLOAT16", 8), "bf16");
	CHECK_STR(shaped_type("DT_BF16;", 7), "bf16");
	CHECK_STR(shaped_type("f8e4m3fn", 8), "fp8_e4m3");
	CHECK(!shaped_type("", 0) && !shaped_type("bf1", 3) && !shaped_type("complex64", 9));
}

TEST(shapes_that_do_not_go_together_make_no_op)
{
	struct bed b;
	char text[600];
	static const char *const shapes[][2] = { { "8,16;48,64", "8,64" },
		                                 { "8,16;16,64", "9,64" },
		                                 { "0,16;16,64", "0,64" },
		                                 { "8,16", "8,64" },
		                                 { "281474976710656,16;16,64", "8,64" } };

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		snprintf(text, sizeof text, ASCEND "\na,MatMulV2,AI_CORE,1,2,\"%s\",BF16;BF16,\"%s\",BF16\n",
		         shapes[i][0], shapes[i][1]);
		CHECK(import_text(&b, text) == 0);
		bed_load(&b, NULL);
		CHECK(!b.t.launches[0].op);
		CHECK_U64(b.st.unlisted, 1);
		bed_close(&b);
	}
}

SUITE(t_foreign, T(tt_metals_ops_have_logical_sizes_formats_and_the_devices_times),
      T(a_signpost_begins_a_range_and_gaps_between_ops_are_kept), T(older_reports_of_tt_metal_have_plain_sizes),
      T(what_lies_in_l1_is_resident), T(bad_reports_of_tt_metal_are_refused),
      T(ascends_tasks_have_their_shapes_whatever_the_layout), T(bad_tables_of_ascend_are_refused),
      T(xlas_instructions_become_ops_and_what_encloses_others_is_left_out),
      T(an_instruction_that_does_not_say_enough_is_no_op), T(bad_traces_of_xla_are_refused),
      T(rocprofs_kernels_have_names_times_and_blocks_of_either_version), T(bad_tables_of_rocprof_are_refused),
      T(formats_are_known_in_any_case), T(shapes_that_do_not_go_together_make_no_op));
