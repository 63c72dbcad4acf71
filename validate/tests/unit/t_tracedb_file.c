/* t_tracedb_file.c - the trace database as a file: a failed import leaves nothing, a damaged file is an error; and the
 * text that op arguments are stored as. */
#include <stdlib.h>
#include <unistd.h>

#include "sim/base/rng.h"
#include "traces/db/intern.h"
#include "traces/db/trace_args.h"
#include "traces/read/format.h"
#include "validate/tests/tracebed.h"

#define H200  "traces/h200/kineto_dsocr_b1_c1024.json.gz"
#define SMALL "validate/tests/data/kineto/small.json"
#define BAD   "validate/tests/data/kineto/unescaped_quotes.json"

static int import(struct bed *b, const char *relative)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/%s", test_root(), relative);
	return format_import(b->db, FORMAT_KINETO, path, NULL, NULL, &b->st, &b->e);
}

static void no_files(const char *db)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };
	char path[1100];

	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		snprintf(path, sizeof path, "%s%s", db, suffixes[i]);
		if (access(path, F_OK) == 0)
			test_fail(__FILE__, __LINE__, "'%s' is left", path);
	}
}

TEST(a_failed_import_leaves_no_new_file)
{
	const struct trace_import src = { "f", "test", "d", 0, -1, true, NULL };
	const struct trace_launch l = { .kind = TRACE_KERNEL, .name = "k", .dur_ns = 1 };
	char path[1024];
	struct bed b;

	test_path(path, sizeof path, "t.db");
	bed_open(&b, path, DB_WRITE);
	CHECK(import(&b, BAD) == -1);
	bed_close(&b);
	no_files(path);
	bed_open(&b, path, DB_WRITE); /* an import that never ends, too */
	CHECK_OK(tracedb_begin(b.db, &src, &b.e), b.e);
	CHECK_OK(tracedb_put_launch(b.db, &l, 0, &b.e), b.e);
	bed_close(&b);
	no_files(path);
	bed_open(&b, path, DB_WRITE); /* nor is one left without any import */
	bed_close(&b);
	no_files(path);
}

TEST(after_one_good_import_a_failed_one_takes_nothing_away)
{
	char path[1024];
	struct bed b;

	test_path(path, sizeof path, "t.db");
	bed_open(&b, path, DB_WRITE);
	CHECK_OK(import(&b, SMALL), b.e);
	CHECK(import(&b, BAD) == -1);
	bed_close(&b);
	bed_open(&b, path, DB_WRITE);
	CHECK_U64(bed_ask(&b, "select count(*) from source"), 1);
	CHECK_U64(bed_ask(&b, "select count(*) from launch"), 5);
	bed_load(&b, "step_0");
	CHECK_U64(b.t.n_launches, 2);
	bed_close(&b);
}

static size_t slurp(const char *path, unsigned char *out, size_t cap)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	CHECK(f);
	n = fread(out, 1, cap, f);
	fclose(f);
	CHECK(n < cap);
	return n;
}

TEST(a_failed_import_leaves_an_existing_file_byte_for_byte)
{
	static unsigned char before[1 << 20], after[1 << 20];
	char path[1024];
	size_t n;
	struct bed b;

	test_path(path, sizeof path, "t.db");
	bed_open(&b, path, DB_WRITE);
	CHECK_OK(import(&b, SMALL), b.e);
	bed_close(&b);
	n = slurp(path, before, sizeof before);
	bed_open(&b, path, DB_WRITE);
	CHECK(import(&b, BAD) == -1);
	err_clear(&b.e);
	CHECK(import(&b, SMALL) == 1);
	bed_close(&b);
	CHECK_U64(slurp(path, after, sizeof after), n);
	CHECK(memcmp(before, after, n) == 0);
}

TEST(a_full_disk_is_one_error_and_nothing_remains)
{
	static unsigned char before[1 << 20], after[1 << 20];
	char path[1024];
	size_t n;
	struct bed b;

	test_path(path, sizeof path, "t.db");
	for (int pages = 40; pages < 300; pages += 37) {
		char sql[64];

		snprintf(sql, sizeof sql, "pragma max_page_count = %d", pages);
		bed_open(&b, path, DB_WRITE);
		bed_run(&b, sql);
		CHECK(import(&b, H200) == -1);
		CHECK_HAS(b.e.msg, "no space left on device");
		bed_close(&b);
		no_files(path);
	}
	bed_open(&b, path, DB_WRITE);
	CHECK_OK(import(&b, SMALL), b.e);
	bed_close(&b);
	n = slurp(path, before, sizeof before);
	bed_open(&b, path, DB_WRITE);
	bed_run(&b, "pragma max_page_count = 100");
	CHECK(import(&b, H200) == -1);
	CHECK_HAS(b.e.msg, "no space left on device");
	bed_close(&b);
	CHECK_U64(slurp(path, after, sizeof after), n);
	CHECK(memcmp(before, after, n) == 0);
}

TEST(an_imported_file_is_sound_and_in_wal_mode)
{
	char path[1024];
	struct bed b;

	test_path(path, sizeof path, "t.db");
	bed_open(&b, path, DB_WRITE);
	CHECK_OK(import(&b, H200), b.e);
	CHECK_U64(bed_ask(&b, "pragma foreign_keys"), 1);
	CHECK_U64(bed_ask(&b, "pragma synchronous"), 1);
	CHECK_U64(bed_ask(&b, "select count(*) from pragma_foreign_key_check"), 0);
	CHECK_U64(bed_ask(&b, "select count(*) from pragma_integrity_check where integrity_check = 'ok'"), 1);
	CHECK_U64(bed_ask(&b, "select count(*) from pragma_journal_mode where journal_mode = 'wal'"), 1);
	CHECK_U64(bed_ask(&b, "select count(*) from kernel"), 3165);
	CHECK_U64(bed_ask(&b, "select sum(dur_ns) from kernel"), 8569116);
	CHECK_U64(bed_ask(&b, "select count(*) from memcpy where blocking"), 33);
	CHECK_U64(bed_ask(&b, "select count(*) from memset"), 3);
	CHECK_U64(bed_ask(&b, "select count(*) from sync"), 35);
	bed_run(&b, "pragma trusted_schema = on"); /* SQLite takes its JSON functions for unsafe in views */
	CHECK_U64(bed_ask(&b, "select count(*) from op o join op_arg a on a.args = o.args where a.pos = 0"
	                      " and a.dims = '[1,64]' and o.name = (select id from name where text = 'aten::topk')"),
	          33);
	bed_close(&b);
	CHECK(access(path, F_OK) == 0);
	bed_open(&b, path, DB_READ);
	bed_load(&b, "decode_step_2");
	CHECK_U64(b.t.n_launches, 1100);
	bed_close(&b);
}

TEST(an_empty_database_and_a_foreign_file_are_refused)
{
	char path[1024];
	struct bed b;
	FILE *f;

	bed_open(&b, ":memory:", DB_WRITE);
	bed_load_fails(&b, NULL, "holds no trace");
	bed_close(&b);
	test_path(path, sizeof path, "x.db");
	CHECK((f = fopen(path, "w")) && fputs("hello, this is not a database at all", f) >= 0 && fclose(f) == 0);
	CHECK(!tracedb_open(path, DB_WRITE, &b.e));
	CHECK_HAS(b.e.msg, "not a database");
	CHECK(access(path, F_OK) == 0);
	err_clear(&b.e);
	CHECK(!tracedb_open("/nowhere/at/all.db", DB_WRITE, &b.e));
	CHECK_HAS(b.e.msg, "/nowhere/at/all.db");
	tracedb_free(NULL);
}

/* --- loading under stress -------------------------------------------------------------------------------------- */

TEST(a_load_that_runs_out_of_memory_says_so_and_leaks_nothing)
{
	struct bed b;
	struct trace t;
	size_t limit = 16, failures = 0;

	bed_open(&b, ":memory:", DB_WRITE);
	CHECK_OK(import(&b, SMALL), b.e);
	for (int rc = -1; rc < 0; limit += 64) {
		struct arena *a = arena_new(limit);

		CHECK(a);
		if ((rc = tracedb_load(b.db, NULL, a, &t, &b.e)) < 0) {
			CHECK_U64(b.e.kind, ERR_NOMEM);
			err_clear(&b.e);
			failures++;
		}
		arena_free(a);
		CHECK(limit < 1 << 20);
	}
	CHECK(failures > 20);
	bed_close(&b);
}

TEST(a_damaged_database_is_an_error_and_not_a_crash)
{
	static const char *const damage[] = {
		"update op set parent = (select max(c.id) from op c where c.parent = op.id) where parent is null",
		"update op set parent = id",
		"update op set parent = 999",
		"update args set text = '[[0,0,\"'",
		"update args set text = ''",
		"delete from args",
		"update args set text = '[[0,-1,\"f\",[1,2,3,4,5,6,7,8,9],null,\"\"]]'",
		"delete from name where text = 'aten::mm'",
		"delete from name where text = 'gemm_kernel<float>'",
		"update launch set kind = 9",
		"update launch set dir = -1",
		"update launch set op = 77",
		"update range set source = 4",
	};
	struct bed b;

	for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
		bed_open(&b, ":memory:", DB_WRITE);
		CHECK_OK(import(&b, SMALL), b.e);
		bed_run(&b, "pragma foreign_keys = off");
		bed_run(&b, damage[i]);
		bed_load_fails(&b, NULL, "is damaged");
		bed_close(&b);
	}
}

/* --- arguments as text ----------------------------------------------------------------------------------------- */

TEST(arguments_survive_being_written_and_read)
{
	static const char *const texts[] = { "", "c10::BFloat16", "a\"b\\c\n\x01", "\xc3\xa9", "Scalar", "[1, 2]" };
	struct arena *a = arena_new(0);
	struct str s = STR_INIT;
	struct rng r;

	rng_seed(&r, test_seed(), "args");
	for (int round = 0; round < 2000; round++) {
		struct trace_arg in[TRACE_MAX_ARGS];
		const struct trace_arg *out;
		uint32_t n = (uint32_t)rng_below(&r, TRACE_MAX_ARGS + 1), m;

		memset(in, 0, sizeof in);
		for (uint32_t i = 0; i < n; i++) {
			in[i].dtype = texts[rng_below(&r, 6)];
			in[i].scalar = texts[rng_below(&r, 6)];
			in[i].ndims = (int32_t)rng_below(&r, TRACE_MAX_DIMS + 2) - 1;
			in[i].pos = (int32_t)rng_below(&r, 99);
			in[i].list = (int32_t)rng_below(&r, 5) - 1;
			for (int32_t k = 0; k < in[i].ndims; k++) {
				in[i].dims[k] = (int64_t)(rng_u64(&r) >> rng_below(&r, 64));
				in[i].strides[k] = rng_below(&r, 2) ? (int64_t)rng_u64(&r) : 0;
			}
		}
		trace_args_encode(in, n, &s);
		CHECK(!s.failed && strlen(str_c(&s)) == s.len);
		CHECK(trace_args_decode(str_c(&s), a, &out, &m) == 0 && m == n);
		for (uint32_t i = 0; i < n; i++) {
			CHECK_STR(out[i].dtype, in[i].dtype);
			CHECK_STR(out[i].scalar, in[i].scalar);
			CHECK(out[i].ndims == in[i].ndims && out[i].pos == in[i].pos && out[i].list == in[i].list);
			CHECK(memcmp(out[i].dims, in[i].dims, sizeof in[i].dims) == 0);
			CHECK(memcmp(out[i].strides, in[i].strides, sizeof in[i].strides) == 0);
		}
		arena_reset(a);
	}
	str_free(&s);
	arena_free(a);
}

TEST(arguments_cut_or_garbled_are_not_read)
{
	static const char text[] = "[[0,-1,\"a\\u0001\",[1,-2],[1,1],\"x\"],[1,0,\"\",null,null,\"\"]]";
	struct arena *a = arena_new(0);
	const struct trace_arg *out;
	char cut[sizeof text];
	uint32_t n;

	CHECK(trace_args_decode(text, a, &out, &n) == 0 && n == 2 && out[0].dims[1] == -2);
	for (size_t k = 0; k + 1 < sizeof text; k++) {
		memcpy(cut, text, k);
		cut[k] = '\0';
		CHECK(trace_args_decode(cut, a, &out, &n) == -1);
	}
	CHECK(trace_args_decode("[[0,-1,\"\",[1],[1,1],\"\"]]", a, &out, &n) == -1);
	CHECK(trace_args_decode("[[0,-1,\"\",[9223372036854775808],null,\"\"]]", a, &out, &n) == -1);
	CHECK(trace_args_decode("[[4294967296,-1,\"\",null,null,\"\"]]", a, &out, &n) == -1);
	CHECK(trace_args_decode("[] ", a, &out, &n) == -1);
	arena_free(a);
}

TEST(the_memory_of_texts_forgets_when_full_and_is_never_wrong)
{
	struct intern *in = intern_new(8, 40);
	char text[32];

	CHECK(in);
	for (int64_t i = 1; i < 1000; i++) {
		size_t n = (size_t)snprintf(text, sizeof text, "t%lld", (long long)(i % 13));
		int64_t id = intern_find(in, text, n, (uint64_t)(i % 3)); /* hashes that clash */

		CHECK(id == 0 || id % 13 == i % 13);
		if (id == 0)
			intern_put(in, text, n, (uint64_t)(i % 3), i);
		CHECK(intern_find(in, text, n, (uint64_t)(i % 3)) % 13 == i % 13);
	}
	intern_put(in, "a text that is longer than the forty bytes it has", 49, 1, 5);
	CHECK(intern_find(in, "a text that is longer than the forty bytes it has", 49, 1) == 0);
	intern_free(in);
}

TEST(an_empty_text_may_be_the_first)
{
	struct intern *in = intern_new(8, 40);

	CHECK(in);
	intern_put(in, "", 0, 7, 3);
	CHECK(intern_find(in, "", 0, 7) == 3);
	intern_put(in, "a", 1, 7, 4);
	CHECK(intern_find(in, "a", 1, 7) == 4 && intern_find(in, "", 0, 7) == 3);
	intern_free(in);
}

SUITE(t_tracedb_file, T(a_failed_import_leaves_no_new_file), T(after_one_good_import_a_failed_one_takes_nothing_away),
      T(a_failed_import_leaves_an_existing_file_byte_for_byte), SLOW(a_full_disk_is_one_error_and_nothing_remains),
      T(an_imported_file_is_sound_and_in_wal_mode), T(an_empty_database_and_a_foreign_file_are_refused),
      T(a_load_that_runs_out_of_memory_says_so_and_leaks_nothing), T(a_damaged_database_is_an_error_and_not_a_crash),
      T(arguments_survive_being_written_and_read), T(arguments_cut_or_garbled_are_not_read),
      T(the_memory_of_texts_forgets_when_full_and_is_never_wrong), T(an_empty_text_may_be_the_first));
