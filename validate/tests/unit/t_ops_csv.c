/* t_ops_csv.c - tables of ops: what is read, what stands in the database of them, and each way in which one is wrong. */
#include "traces/read/ops_csv.h"

#include <stdlib.h>

#include "traces/read/format.h"
#include "validate/tests/tracebed.h"
#include "workloads/listed.h"

static int import_text(struct bed *b, const char *text)
{
	return bed_import_text(b, FORMAT_OPS, ops_csv_import, "ops.csv", text);
}

static void up(struct bed *b, const char *text)
{
	CHECK_OK(import_text(b, text), b->e);
	bed_load(b, NULL);
}

static struct listed row(const struct bed *b, size_t i)
{
	struct listed x;

	CHECK(i < b->t.n_launches && listed_is(&b->t.launches[i]));
	CHECK(listed_of_op(b->t.launches[i].op, &x) == 0);
	return x;
}

/* --- what is read ------------------------------------------------------------------------------------------------- */

TEST(a_row_becomes_a_kernel_with_its_time_and_a_framework_op_with_its_cells)
{
	struct listed x;
	struct bed b;

	up(&b, "op,name,m,n,k,dtype,weight_dtype,measured_us,measured_uj,measured_mhz\n"
	       "gemm,up,128,4096,1024,bf16,int4,12.3456,7.5,1700\n"
	       "gemv,,,32,64\n");
	CHECK_U64(b.t.n_launches, 2);
	CHECK_STR(b.t.tool, "ops");
	CHECK_STR(b.t.launches[0].name, "up");
	CHECK_U64(b.t.launches[0].dur_ns, 12346);
	CHECK_STR(b.t.launches[0].op->name, "listed::gemm");
	x = row(&b, 0);
	CHECK(x.v[LISTED_M] == 128 && x.v[LISTED_N] == 4096 && x.v[LISTED_K] == 1024 && x.v[LISTED_BATCH] == 1);
	CHECK_STR(x.text[LISTED_MEASURED_UJ], "7.5");
	CHECK_STR(x.text[LISTED_MEASURED_MHZ], "1700");
	CHECK_STR(b.t.launches[1].name, "gemv");
	CHECK(b.t.launches[1].dur_ns == 0 && b.t.launches[1].start_ns == 12346);
	CHECK(row(&b, 1).v[LISTED_M] == 1);
	bed_close(&b);
}

TEST(marks_comments_quotes_blanks_and_short_rows_are_read)
{
	struct bed b;

	up(&b, "\xef\xbb\xbf# where it is from, with a \"quote\r\n\r\n"
	       "op, k ,n,m,name,dtype\r\n"
	       "gemm, 8,\"4\",2,\"a, \"\"b\"\"\"\r\n"
	       "  # between\r\n"
	       "gemm,8,4,2,\r\n"
	       "\r\n"
	       "gemm,8,4,3,,fp8_e5m2");
	CHECK_U64(b.t.n_launches, 3);
	CHECK_STR(b.t.launches[0].name, "a, \"b\"");
	CHECK(row(&b, 0).v[LISTED_K] == 8 && row(&b, 0).v[LISTED_N] == 4 && row(&b, 0).v[LISTED_M] == 2);
	CHECK_STR(b.t.launches[1].name, "gemm");
	CHECK(row(&b, 2).v[LISTED_M] == 3);
	bed_close(&b);
}

TEST(redacting_leaves_a_row_whole)
{
	static const char text[] = "op,heads,q_len,kv_len,head_dim,algorithm,dtype,measured_uj\n"
				   "attention,8,1,64,128,per_head,fp16,0.25\n";
	struct listed x;
	struct input *in;
	struct bed b;

	bed_open(&b, ":memory:", DB_WRITE);
	tracedb_redact(b.db);
	in = input_mem(text, sizeof text - 1, "ops.csv", &b.e);
	CHECK_OK(ops_csv_import(b.db, in, NULL, NULL, &b.st, &b.e), b.e);
	bed_load(&b, NULL);
	x = row(&b, 0);
	CHECK(x.algorithm == OP_ATTN_PER_HEAD && x.v[LISTED_KV_LEN] == 64 && !b.st.texts);
	CHECK_STR(x.text[LISTED_MEASURED_UJ], "0.25");
	input_free(in);
	bed_close(&b);
}

TEST(the_same_table_twice_is_noticed)
{
	static const char text[] = "op,elements\ncopy,64\n";
	struct input *in;
	struct bed b;

	up(&b, text);
	in = input_mem(text, sizeof text - 1, "again.csv", &b.e);
	CHECK(ops_csv_import(b.db, in, NULL, NULL, &b.st, &b.e) == 1);
	CHECK_U64(bed_ask(&b, "select count(*) from launch"), 1);
	input_free(in);
	bed_close(&b);
}

TEST(other_texts_are_no_tables_of_ops)
{
	static const char *const others[] = { "operator,m\n", "m,op,n\n",       "# op,m\nx,op,\n",
		                              "opt\n",        "{\"op,\": 1}\n", "# only\n\n" };

	CHECK(ops_csv_is_text("op,m", 4) && ops_csv_is_text("\n#x\n\"op\",m\n", 12));
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		CHECK(!ops_csv_is_text(others[i], strlen(others[i])));
}

/* --- what is refused ---------------------------------------------------------------------------------------------- */

/* At that line and byte, for that reason; nothing of the table remains. */
static void refused(const char *text, int line, int col, const char *because)
{
	struct bed b;
	const int rc = import_text(&b, text);

	CHECK_STR(b.e.file, "ops.csv");
	CHECK_U64(b.e.line, line);
	CHECK_U64(b.e.col, col);
	bed_refused(&b, rc, because);
}

TEST(a_bad_header_is_refused_where_it_is_bad)
{
	refused("op,m,head_dims\n", 1, 6, "unknown column 'head_dims': the nearest is 'head_dim'");
	refused("# x\nop,m,zzzzzz\n", 2, 6, "unknown column 'zzzzzz'");
	refused("op,m,\"n\",m\n", 1, 10, "column 'm' is there twice");
	refused("op,m,,n\n", 1, 6, "a column without a name");
}

TEST(a_bad_cell_is_refused_where_it_stands)
{
	refused("op,m,n,k\ngemm,1,-2,3\n", 2, 8, "'n' is negative: -2");
	refused("op,m,n,k\ngemm,0,2,3\n", 2, 6, "'m' is 0: sizes begin at 1");
	refused("op,m,n,k\ngemm,1,2,3\ngemm,\"1\",2.5,3\n", 3, 10, "'n' is a whole number, not '2.5'");
	refused("op,m,n,k\ngemm,1,2,1099511627777\n", 2, 10, "more than 2^40");
	refused("op,m,n,k\ngemm,1,2,99999999999999999999999\n", 2, 10, "more than 2^40");
	refused("op,m,n,k\ngemm,1,2,3,4\n", 2, 12, "a row of 5 cells under a header of 4");
	refused("op,m,n,k\ngem,1,2,3\n", 2, 1, "unknown op 'gem': the nearest is 'gem");
	refused("op,elements\nelementwise:sillu,3\n", 2, 1, "the nearest is 'elementwise:silu'");
	refused("op,elements\nqqqq,3\n", 2, 1, "unknown op 'qqqq': it is one of gemm, gemv, attention");
	refused("op,elements\nsilu,3\n", 2, 1, "unknown op 'silu': here it is 'elementwise:silu'");
	refused("op,elements\nmatmul,3\n", 2, 1, "unknown op 'matmul': here it is 'gemm'");
	refused("op,elements\nrmsnorm,3\n", 2, 1, "unknown op 'rmsnorm': here it is 'norm:rms_norm'");
	refused("op,elements\nconvert,3\n", 2, 1, "'convert' says to which format: 'convert:fp8'");
	refused("op,elements\nconvert:fp9,3\n", 2, 1, "unknown format 'fp9': the nearest is 'fp");
	refused("op,elements\ncollective:all_reduce,3\n", 2, 1, "a row says nothing of other chips");
	refused("op,elements\nopaque,3\n", 2, 1, "a row says what is computed");
	refused("op,elements,dtype\ncopy,3,bf61\n", 2, 8, "unknown format 'bf61': the nearest is 'bf16'");
	refused("op,heads,q_len,kv_len,head_dim,algorithm\nattention,1,1,1,1,flsh\n", 2, 19, "the nearest is 'flash'");
	refused("op,heads,q_len,kv_len,head_dim,causal\nattention,1,1,1,1,2\n", 2, 19, "'causal' is 0 or 1, not '2'");
	refused("op,elements,measured_us\ncopy,3,0\n", 2, 8, "'measured_us' is a time above 0, not '0'");
	refused("op,elements,measured_us\ncopy,3,fast\n", 2, 8, "'measured_us' is a time above 0, not 'fast'");
	refused("op,elements,measured_us\ncopy,3,-1.5\n", 2, 8, "'measured_us' is a time above 0, not '-1.5'");
	refused("op,elements,measured_us\ncopy,3,1e15\n", 2, 8, "more than a year");
	refused("op,elements,measured_uj\ncopy,3,0.00\n", 2, 8, "'measured_uj' is a number above 0, not '0.00'");
	refused("op,elements,measured_mhz\ncopy,3,1 GHz\n", 2, 8, "'measured_mhz' is a number above 0, not '1 GHz'");
}

TEST(a_row_that_cannot_be_is_refused)
{
	refused("op,m,n,k\ngemm,1,2\n", 2, 1, "'gemm' needs 'k'");
	refused("op,m,n,k\n,1,2,3\n", 2, 1, "the row names no op");
	refused("op,m,n,k,heads\ngemm,1,2,3,8\n", 2, 12, "'heads' does not belong to 'gemm', which has m, n, k, batch");
	refused("op,m,n,k\ngemv,2,2,2\n", 2, 6, "a 'gemv' has one row, not 2");
	refused("op,heads,kv_heads,q_len,kv_len,head_dim\nattention,32,5,1,1,1\n", 2, 14,
	        "'heads' (32) is no multiple of 'kv_heads' (5)");
	refused("op,rows,cols,k\ntopk,2,8,9\n", 2, 10, "'k' (9) is more than 'cols' (8)");
	refused("op,rows,cols,elements\ncopy,2,8,15\n", 2, 10, "'elements' (15) is not 'rows' times 'cols' (2 x 8)");
	refused("op,rows,cols,elements\ncopy\n", 2, 1, "'copy' needs 'elements', or 'rows' and 'cols'");
	refused("op,m,n,k\ngemm,16777217,1,16777217\n", 2, 1, "more than 2^48 values");
	refused("op,m,n,k\ngemm,4194304,4194304,4194304\n", 2, 1, "2^62 multiply-adds");
}

TEST(a_table_without_rows_is_refused)
{
	struct bed b;

	CHECK_U64(import_text(&b, "op,m,n,k\n# none\n"), -1);
	CHECK_HAS(b.e.msg, "no ops in 'ops.csv'");
	CHECK_U64(bed_ask(&b, "select count(*) from source"), 0);
	bed_close(&b);
}

TEST(what_the_csv_reader_refuses_has_a_line)
{
	static const char zero[] = "op,m,n,k\ngemm,1,2,3\ngemm,1,\0,3\n";
	struct input *in;
	struct bed b;

	refused("op,m,n,k\ngemm,1,\"2,3\n", 2, 0, "never closed");
	refused("op,m,n,k\ngemm,1,\"2\"2,3\n", 2, 0, "behind a closing quote");
	bed_open(&b, ":memory:", DB_WRITE);
	in = input_mem(zero, sizeof zero - 1, "ops.csv", &b.e);
	CHECK(ops_csv_import(b.db, in, NULL, NULL, &b.st, &b.e) == -1);
	CHECK_HAS(b.e.msg, "a zero byte");
	CHECK_U64(b.e.line, 3);
	input_free(in);
	bed_close(&b);
}

SUITE(t_ops_csv, T(a_row_becomes_a_kernel_with_its_time_and_a_framework_op_with_its_cells),
      T(marks_comments_quotes_blanks_and_short_rows_are_read), T(redacting_leaves_a_row_whole),
      T(the_same_table_twice_is_noticed), T(other_texts_are_no_tables_of_ops),
      T(a_bad_header_is_refused_where_it_is_bad), T(a_bad_cell_is_refused_where_it_stands),
      T(a_row_that_cannot_be_is_refused), T(a_table_without_rows_is_refused),
      T(what_the_csv_reader_refuses_has_a_line));
