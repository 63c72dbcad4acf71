/* t_tracedb.c - the trace database by itself: linking, ranges, steps, and that a failed import leaves nothing. */
#include <stdlib.h>
#include <unistd.h>

#include "sim/rng.h"
#include "traces/intern.h"
#include "traces/kineto.h"
#include "traces/trace_args.h"
#include "traces/tracedb.h"
#include "validate/tests/test.h"

struct bed { struct tracedb *db; struct arena *a; struct trace t; struct trace_import_stats st; struct err e; };

static void open_bed(struct bed *b, const char *path)
{
	memset(b, 0, sizeof *b);
	b->db = tracedb_open(path, DB_WRITE, &b->e);
	CHECK_OK(b->db ? 0 : -1, b->e);
	b->a = arena_new(0);
}

static void begin(struct bed *b, const char *digest, int64_t base_ns)
{
	const struct trace_import src = { .file = "f", .tool = "test", .digest = digest, .base_ns = base_ns, .wall_ns = -1 };

	CHECK_OK(tracedb_begin(b->db, &src, &b->e), b->e);
}

static void bed_up(struct bed *b)
{
	open_bed(b, ":memory:");
	begin(b, "d", 0);
}

static void finish(struct bed *b, const char *digest, int64_t base_ns, int64_t wall_ns)
{
	const struct trace_import src = { .digest = digest, .base_ns = base_ns, .wall_ns = wall_ns };

	CHECK_OK(tracedb_finish(b->db, &src, &b->st, &b->e), b->e);
}

static void load(struct bed *b, const char *range)
{
	CHECK_OK(tracedb_load(b->db, range, b->a, &b->t, &b->e), b->e);
}

static void bed_down(struct bed *b)
{
	tracedb_free(b->db);
	arena_free(b->a);
}

/* --- putting, briefly -------------------------------------------------------------------------------------------- */

static void kernel(struct bed *b, const char *name, int64_t start, int64_t correlation, int64_t external)
{
	const struct trace_launch l = { .kind = TRACE_KERNEL, .name = name, .start_ns = start, .dur_ns = 10, .bytes = -1,
	                                .correlation = correlation };

	CHECK_OK(tracedb_put_launch(b->db, &l, external, &b->e), b->e);
}

static void copy(struct bed *b, enum trace_copy_dir dir, int64_t start, int64_t correlation)
{
	const struct trace_launch l = { .kind = TRACE_MEMCPY, .name = "copy", .start_ns = start, .dur_ns = 1, .bytes = 4,
	                                .dir = dir, .correlation = correlation };

	CHECK_OK(tracedb_put_launch(b->db, &l, 0, &b->e), b->e);
}

static void op(struct bed *b, const char *name, int64_t thread, int64_t start, int64_t dur, int64_t external)
{
	const struct trace_op o = { .name = name, .thread = thread, .start_ns = start, .dur_ns = dur, .sequence = -1 };

	CHECK_OK(tracedb_put_op(b->db, &o, external, &b->e), b->e);
}

static void call(struct bed *b, const char *name, int64_t thread, int64_t start, int64_t correlation)
{
	CHECK_OK(tracedb_put_call(b->db, name, start, 1, thread, correlation, tracedb_is_sync(name), &b->e), b->e);
}

static void range(struct bed *b, const char *name, int64_t start, int64_t dur)
{
	const struct trace_range r = { name, start, dur, 1, 0 };

	CHECK_OK(tracedb_put_range(b->db, &r, false, &b->e), b->e);
}

static int64_t ask(struct bed *b, const char *sql)
{
	struct sqlite3_stmt *s = db_stmt(tracedb_db(b->db), sql, &b->e);
	int64_t v;

	CHECK_OK(s && db_step(tracedb_db(b->db), s, &b->e) == 1 ? 0 : -1, b->e);
	v = db_col_i64(s, 0);
	CHECK_OK(db_run(tracedb_db(b->db), s, &b->e), b->e);
	return v;
}

static void run(struct bed *b, const char *sql)
{
	CHECK_OK(db_exec(tracedb_db(b->db), sql, &b->e), b->e);
}

/* --- ops ------------------------------------------------------------------------------------------------------------ */

TEST(a_parent_is_the_innermost_op_that_contains_all_of_its_child)
{
	struct bed b;
	const struct trace_op *o;

	bed_up(&b);
	op(&b, "outer", 1, 0, 100, 1);
	op(&b, "ends_early", 1, 10, 20, 2);
	op(&b, "crosses", 1, 20, 30, 3);     /* ends after ends_early */
	op(&b, "inside_both", 1, 22, 5, 4);
	op(&b, "other_thread", 2, 23, 1, 5);
	op(&b, "at_its_end", 1, 100, 5, 6);
	op(&b, "same_span", 1, 100, 5, 7);
	op(&b, "no_time", 1, 104, 0, 8);
	for (int i = 1; i <= 8; i++)
		kernel(&b, "k", 200 + i, 0, i);
	finish(&b, "d", 0, -1);
	load(&b, NULL);
	CHECK_STR(b.t.launches[1].op->up->name, "outer");
	CHECK_STR(b.t.launches[2].op->up->name, "outer");
	CHECK_STR(b.t.launches[3].op->up->name, "crosses");
	CHECK(!b.t.launches[4].op->up && !b.t.launches[5].op->up);
	CHECK_STR(b.t.launches[6].op->up->name, "at_its_end");
	o = b.t.launches[7].op;
	CHECK_STR(o->up->name, "same_span");
	CHECK(o->up->up->up == NULL && o->parent == o->up->id);
	bed_down(&b);
}

/* Ops named by their start; the parents as one text. */
static void parents_of(struct bed *b, char *out, size_t size)
{
	struct sqlite3_stmt *s = db_stmt(tracedb_db(b->db), "select coalesce(p.start_ns, -1) from op o left join op p"
	                                                    " on p.id = o.parent order by o.start_ns, o.dur_ns desc", &b->e);
	size_t n = 0;

	CHECK(s);
	while (db_step(tracedb_db(b->db), s, &b->e) == 1)
		n += (size_t)snprintf(out + n, size - n, "%lld ", (long long)db_col_i64(s, 0));
	CHECK(n < size);
}

TEST(parents_do_not_depend_on_the_order_of_the_file)
{
	int64_t start[200], dur[200];
	static char sorted[8192], shuffled[8192];
	struct rng r;
	struct bed b;

	rng_seed(&r, test_seed(), "parents");
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 200; i++) {
			start[i] = i * 7;
			dur[i] = (int64_t)rng_below(&r, 300);
		}
		bed_up(&b);
		for (int i = 0; i < 200; i++)
			op(&b, "o", i % 3 == 0, start[i], dur[i], 0);
		kernel(&b, "k", 0, 0, 0);
		finish(&b, "d", 0, -1);
		parents_of(&b, sorted, sizeof sorted);
		bed_down(&b);
		for (int i = 199; i > 0; i--) {
			size_t k = (size_t)rng_below(&r, (uint64_t)i + 1);
			int64_t s = start[i], d = dur[i];

			start[i] = start[k], dur[i] = dur[k];
			start[k] = s, dur[k] = d;
		}
		bed_up(&b);
		for (int i = 0; i < 200; i++)
			op(&b, "o", start[i] / 7 % 3 == 0, start[i], dur[i], 0);
		kernel(&b, "k", 0, 0, 0);
		finish(&b, "d", 0, -1);
		parents_of(&b, shuffled, sizeof shuffled);
		bed_down(&b);
		CHECK_STR(shuffled, sorted);
	}
}

TEST(more_threads_than_are_watched_still_get_their_parents)
{
	struct bed b;

	bed_up(&b);
	for (int64_t thread = 0; thread < 200; thread++) {
		op(&b, "outer", thread, thread, 50, 0);
		op(&b, "inner", thread, thread + 1, 5, 0);
	}
	kernel(&b, "k", 0, 0, 0);
	finish(&b, "d", 0, -1);
	CHECK_U64(ask(&b, "select count(*) from op o join op p on p.id = o.parent where o.thread = p.thread"), 200);
	CHECK_U64(ask(&b, "select count(*) from op where parent is null"), 200);
	bed_down(&b);
}

TEST(nesting_far_beyond_any_stack_neither_fails_nor_loops)
{
	struct bed b;

	bed_up(&b);
	for (int64_t i = 0; i < 3000; i++)
		op(&b, "o", 1, i, 100000 - i, i + 1);
	kernel(&b, "k", 50000, 0, 3000);
	finish(&b, "d", 0, -1);
	load(&b, NULL);
	CHECK_U64(b.t.launches[0].op->id, 3000);
	CHECK_U64(b.t.launches[0].op->parent, 1024);
	bed_down(&b);
}

/* --- waits ---------------------------------------------------------------------------------------------------------- */

TEST(a_copy_blocks_when_a_synchronise_is_the_next_thing_its_thread_asks)
{
	struct bed b;
	static const bool want[] = { true, false, false, true, false, true, false, true };

	bed_up(&b);
	call(&b, "cudaMemcpyAsync", 1, 100, 1); /* 0: waits, whatever harmless lies between */
	call(&b, "cudaGetLastError", 1, 101, 0);
	call(&b, "cudaStreamSynchronize", 1, 102, 0);
	call(&b, "cudaMemcpyAsync", 1, 110, 2); /* 1: a launch comes first */
	call(&b, "cudaLaunchKernel", 1, 111, 0);
	call(&b, "cudaStreamSynchronize", 1, 112, 0);
	call(&b, "cudaMemcpyAsync", 1, 120, 3); /* 2: another thread synchronises */
	call(&b, "cudaStreamSynchronize", 2, 121, 0);
	call(&b, "cudaLaunchKernel", 1, 122, 0);
	call(&b, "cudaMemcpy", 1, 130, 4);      /* 3: waits by itself */
	call(&b, "cudaMemcpyAsync", 1, 140, 5); /* 4: from device to device */
	call(&b, "cudaStreamSynchronize", 1, 141, 0);
	call(&b, "hipMemcpyAsync", 1, 150, 6);  /* 5 */
	call(&b, "hipEventSynchronize", 1, 151, 0);
	call(&b, "cudaMemcpyAsync", 1, 160, 7); /* 6: nothing follows */
	call(&b, "cudaMemcpyAsync_v3020", 3, 170, 8); /* 7: as nsys spells it */
	call(&b, "cudaDeviceSynchronize_v3020", 3, 171, 0);
	for (int i = 0; i < 8; i++)
		copy(&b, i == 4 ? TRACE_COPY_DTOD : i & 1 ? TRACE_COPY_HTOD : TRACE_COPY_DTOH, 200 + i, i + 1);
	finish(&b, "d", 0, -1);
	load(&b, NULL);
	for (int i = 0; i < 8; i++)
		if (b.t.launches[i].blocking != want[i])
			test_fail(__FILE__, __LINE__, "copy %d", i);
	CHECK_U64(b.t.n_syncs, 6);
	for (int i = 1; i < 6; i++)
		CHECK(b.t.sync_ns[i - 1] <= b.t.sync_ns[i]);
	bed_down(&b);
}

TEST(synchronising_calls_are_known_by_name)
{
	CHECK(tracedb_is_sync("cudaStreamSynchronize") && tracedb_is_sync("cuCtxSynchronize"));
	CHECK(tracedb_is_sync("hipDeviceSynchronize") && tracedb_is_sync("cudaEventSynchronize_ptsz"));
	CHECK(!tracedb_is_sync("cudaStreamWaitEvent") && !tracedb_is_sync("cudaLaunchKernel") && !tracedb_is_sync("Synchronize"));
}

/* --- ranges --------------------------------------------------------------------------------------------------------- */

TEST(a_range_takes_what_was_called_in_it_and_by_time_only_what_has_no_call)
{
	struct bed b;

	bed_up(&b);
	range(&b, "r", 100, 100);
	call(&b, "cudaLaunchKernel", 1, 99, 1);
	call(&b, "cudaLaunchKernel", 1, 100, 2);
	call(&b, "cudaLaunchKernel", 2, 199, 3); /* another thread, as in backward passes */
	call(&b, "cudaLaunchKernel", 1, 200, 4);
	kernel(&b, "called_before", 150, 1, 0);
	kernel(&b, "at_start", 5000, 2, 0);
	kernel(&b, "backward", 6000, 3, 0);
	kernel(&b, "called_at_end", 160, 4, 0);
	kernel(&b, "no_call_inside", 199, 0, 0);
	kernel(&b, "no_call_outside", 200, 0, 0);
	finish(&b, "d", 0, -1);
	load(&b, "r");
	CHECK_U64(b.t.n_launches, 3);
	CHECK_STR(b.t.launches[0].name, "no_call_inside");
	CHECK_STR(b.t.launches[1].name, "at_start");
	CHECK_STR(b.t.launches[2].name, "backward");
	CHECK_U64(b.t.ranges[0].launches, 3);
	CHECK_U64(b.t.span_ns, 6010 - 199);
	bed_down(&b);
}

TEST(annotations_of_one_name_are_one_range_even_nested)
{
	struct bed b;

	bed_up(&b);
	range(&b, "r", 100, 100);
	range(&b, "r", 110, 20);
	range(&b, "r", 150, 80);
	range(&b, "r", 300, 10);
	range(&b, "s", 240, 10);
	for (int64_t t = 95; t < 320; t += 10)
		kernel(&b, "k", t, 0, 0);
	finish(&b, "d", 0, -1);
	load(&b, "r");
	CHECK_U64(b.t.n_launches, 13 + 1); /* 105 to 225, and 305 */
	CHECK_U64(b.t.n_ranges, 5);
	load(&b, "s");
	CHECK_U64(b.t.n_launches, 1);
	bed_down(&b);
}

TEST(a_range_known_on_the_device_only_selects_by_device_time)
{
	const struct trace_range r = { "gpu", 500, 100, 7, 0 };
	struct bed b;

	bed_up(&b);
	CHECK_OK(tracedb_put_range(b.db, &r, true, &b.e), b.e);
	call(&b, "cudaLaunchKernel", 1, 510, 1);
	kernel(&b, "early", 499, 0, 0);
	kernel(&b, "in", 500, 0, 0);
	kernel(&b, "called_in_run_later", 700, 1, 0);
	finish(&b, "d", 0, -1);
	CHECK_U64(b.st.ranges, 0);
	load(&b, "gpu");
	CHECK_U64(b.t.n_launches, 1);
	CHECK_STR(b.t.launches[0].name, "in");
	CHECK_U64(b.t.n_ranges, 0);
	bed_down(&b);
}

static void load_fails(struct bed *b, const char *range, const char *because)
{
	CHECK(tracedb_load(b->db, range, b->a, &b->t, &b->e) == -1);
	CHECK_HAS(b->e.msg, because);
	err_clear(&b->e);
}

TEST(ranges_that_are_unknown_or_empty_are_errors)
{
	struct bed b;

	bed_up(&b);
	kernel(&b, "k", 5, 0, 0);
	finish(&b, "d", 0, -1);
	load_fails(&b, "x", "no range 'x' in ':memory:': it has no annotations");
	begin(&b, "e", 0);
	range(&b, "decode_step_0", 100, 10);
	kernel(&b, "k", 5, 0, 0);
	finish(&b, "e", 0, -1);
	load_fails(&b, "decode_step_1", "did you mean 'decode_step_0'");
	load_fails(&b, "entirely else", "the first of its ranges is 'decode_step_0'");
	load_fails(&b, "decode_step_0", "no device activity in range 'decode_step_0'");
	bed_down(&b);
}

TEST(steps_are_the_outermost_annotations_with_the_commonest_name_and_a_number)
{
	static const struct { const char *names; int64_t steps; } all[] = {
		{ "", 1 }, { "forward backward", 1 }, { "step_0 step_1 step_2", 3 }, { "ProfilerStep#4", 1 },
		{ "warm_0 step_9 step_10 step_11 other", 3 }, { "7 8", 2 }, { "a1 b1 c1", 1 },
	};
	struct bed b;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		char text[64], *save = NULL;
		int64_t at = 0;

		snprintf(text, sizeof text, "%s", all[i].names);
		bed_up(&b);
		for (char *name = strtok_r(text, " ", &save); name; name = strtok_r(NULL, " ", &save), at += 100) {
			range(&b, name, at, 100);
			range(&b, "layer_0", at, 10); /* inside the step, and before the next one begins */
			range(&b, "layer_1", at + 10, 10);
			range(&b, "layer_2", at + 20, 10);
		}
		kernel(&b, "k", 5, 0, 0);
		finish(&b, "d", 0, -1);
		load(&b, NULL);
		if (strpbrk(all[i].names, "0123456789"))
			CHECK_U64(b.t.steps, strstr(all[i].names, "other") ? 3 : all[i].steps);
		bed_down(&b);
	}
}

TEST(without_numbered_annotations_there_is_one_step_and_without_launches_none)
{
	int64_t steps;
	struct bed b;

	bed_up(&b);
	range(&b, "forward", 0, 10);
	range(&b, "forward", 20, 10);
	kernel(&b, "k", 5, 0, 0);
	finish(&b, "d", 0, -1);
	CHECK_OK(tracedb_steps(b.db, &steps, &b.e), b.e);
	CHECK_U64(steps, 1);
	run(&b, "delete from launch");
	CHECK_OK(tracedb_steps(b.db, &steps, &b.e), b.e);
	CHECK_U64(steps, 0);
	load_fails(&b, NULL, "no device activity in ':memory:'");
	bed_down(&b);
}

TEST(the_wall_of_a_range_is_the_sum_over_its_annotations)
{
	struct bed b;

	bed_up(&b);
	range(&b, "step_0", 0, 10);
	range(&b, "step_0", 20, 10);
	range(&b, "step_1", 40, 10);
	kernel(&b, "k", 5, 0, 0);
	kernel(&b, "k", 25, 0, 0);
	kernel(&b, "k", 45, 0, 0);
	finish(&b, "d", 0, 700);
	CHECK_OK(tracedb_set_wall(b.db, "step_0", 100, &b.e), b.e);
	load(&b, "step_0");
	CHECK_U64(b.t.wall_ns, 200);
	load(&b, "step_1");
	CHECK(b.t.wall_ns == -1);
	load(&b, NULL);
	CHECK_U64(b.t.wall_ns, 700);
	CHECK(tracedb_set_wall(b.db, "step_2", 100, &b.e) == -1);
	CHECK_HAS(b.e.msg, "no range 'step_2'");
	bed_down(&b);
}

/* --- several files, and the file itself -------------------------------------------------------------------------- */

TEST(two_files_are_loaded_on_one_time_axis)
{
	struct bed b;

	open_bed(&b, ":memory:");
	begin(&b, "late", 0);
	op(&b, "late_op", 1, -40, 10, 1);
	call(&b, "cudaLaunchKernel", 1, -40, 1);
	kernel(&b, "late", 50, 1, 1);
	range(&b, "step_0", -50, 50);
	finish(&b, "late", 1000, 7);
	begin(&b, "early", 0);
	op(&b, "early_op", 1, 0, 10, 1);
	call(&b, "cudaLaunchKernel", 1, 5, 1);
	kernel(&b, "early", 60, 1, 1);
	range(&b, "step_0", 0, 10);
	finish(&b, "early", 100, 8);
	load(&b, NULL);
	CHECK_U64(b.t.base_ns, 100);
	CHECK_STR(b.t.launches[0].name, "early");
	CHECK(b.t.launches[0].start_ns == 60 && b.t.launches[0].host_start_ns == 5 && b.t.launches[0].id == 2);
	CHECK(b.t.launches[1].start_ns == 950 && b.t.launches[1].host_start_ns == 860 && b.t.launches[1].id == 1);
	CHECK_STR(b.t.launches[1].op->name, "late_op");
	CHECK_U64(b.t.launches[1].op->start_ns, 860);
	CHECK_U64(b.t.wall_ns, 15);
	CHECK_STR(b.t.path, ":memory:");
	CHECK(b.t.ranges[0].start_ns == 0 && b.t.ranges[1].start_ns == 850);
	load(&b, "step_0");
	CHECK_U64(b.t.n_launches, 2);
	bed_down(&b);
}

TEST(the_same_digest_is_noticed_and_changes_nothing)
{
	const struct trace_import again = { .file = "g", .tool = "test", .digest = "d", .wall_ns = -1 };
	struct bed b;

	bed_up(&b);
	kernel(&b, "k", 5, 0, 0);
	finish(&b, "d", 0, -1);
	CHECK(tracedb_begin(b.db, &again, &b.e) == 1);
	CHECK_U64(b.e.kind, ERR_NONE);
	CHECK_U64(ask(&b, "select count(*) from source"), 1);
	CHECK_U64(ask(&b, "pragma foreign_keys"), 1);
	begin(&b, "e", 0); /* and the next import is not in its way */
	kernel(&b, "k", 5, 0, 0);
	finish(&b, "e", 0, -1);
	CHECK_U64(ask(&b, "select count(*) from launch"), 2);
	CHECK_U64(ask(&b, "select count(*) from name where text = 'k'"), 1);
	bed_down(&b);
}

#define H200 "traces/h200/kineto_dsocr_b1_c1024.json.gz"
#define SMALL "validate/tests/data/kineto/small.json"
#define BAD "validate/tests/data/kineto/unescaped_quotes.json"

static int import(struct bed *b, const char *relative)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/%s", test_root(), relative);
	return kineto_import(b->db, path, -1, NULL, NULL, &b->st, &b->e);
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
	char path[1024];
	struct bed b;

	test_path(path, sizeof path, "t.db");
	open_bed(&b, path);
	CHECK(import(&b, BAD) == -1);
	bed_down(&b);
	no_files(path);
	open_bed(&b, path); /* an import that never ends, too */
	begin(&b, "d", 0);
	kernel(&b, "k", 5, 0, 0);
	bed_down(&b);
	no_files(path);
	open_bed(&b, path); /* nor is one left without any import */
	bed_down(&b);
	no_files(path);
}

TEST(after_one_good_import_a_failed_one_takes_nothing_away)
{
	char path[1024];
	struct bed b;

	test_path(path, sizeof path, "t.db");
	open_bed(&b, path);
	CHECK_OK(import(&b, SMALL), b.e);
	CHECK(import(&b, BAD) == -1);
	bed_down(&b);
	open_bed(&b, path);
	CHECK_U64(ask(&b, "select count(*) from source"), 1);
	CHECK_U64(ask(&b, "select count(*) from launch"), 5);
	load(&b, "step_0");
	CHECK_U64(b.t.n_launches, 2);
	bed_down(&b);
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
	open_bed(&b, path);
	CHECK_OK(import(&b, SMALL), b.e);
	bed_down(&b);
	n = slurp(path, before, sizeof before);
	open_bed(&b, path);
	CHECK(import(&b, BAD) == -1);
	err_clear(&b.e);
	CHECK(import(&b, SMALL) == 1);
	bed_down(&b);
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
		open_bed(&b, path);
		run(&b, sql);
		CHECK(import(&b, H200) == -1);
		CHECK_HAS(b.e.msg, "the disk is full");
		bed_down(&b);
		no_files(path);
	}
	open_bed(&b, path);
	CHECK_OK(import(&b, SMALL), b.e);
	bed_down(&b);
	n = slurp(path, before, sizeof before);
	open_bed(&b, path);
	run(&b, "pragma max_page_count = 100");
	CHECK(import(&b, H200) == -1);
	CHECK_HAS(b.e.msg, "the disk is full");
	bed_down(&b);
	CHECK_U64(slurp(path, after, sizeof after), n);
	CHECK(memcmp(before, after, n) == 0);
}

TEST(an_imported_file_is_sound_and_in_wal_mode)
{
	char path[1024];
	struct bed b;

	test_path(path, sizeof path, "t.db");
	open_bed(&b, path);
	CHECK_OK(import(&b, H200), b.e);
	CHECK_U64(ask(&b, "pragma foreign_keys"), 1);
	CHECK_U64(ask(&b, "pragma synchronous"), 1);
	CHECK_U64(ask(&b, "select count(*) from pragma_foreign_key_check"), 0);
	CHECK_U64(ask(&b, "select count(*) from pragma_integrity_check where integrity_check = 'ok'"), 1);
	CHECK_U64(ask(&b, "select count(*) from pragma_journal_mode where journal_mode = 'wal'"), 1);
	CHECK_U64(ask(&b, "select count(*) from kernel"), 3165);
	CHECK_U64(ask(&b, "select sum(dur_ns) from kernel"), 8569116);
	CHECK_U64(ask(&b, "select count(*) from memcpy where blocking"), 33);
	CHECK_U64(ask(&b, "select count(*) from memset"), 3);
	CHECK_U64(ask(&b, "select count(*) from sync"), 35);
	run(&b, "pragma trusted_schema = on"); /* SQLite takes its JSON functions for unsafe in views */
	CHECK_U64(ask(&b, "select count(*) from op o join op_arg a on a.args = o.args where a.pos = 0"
	                  " and a.dims = '[1,64]' and o.name = (select id from name where text = 'aten::topk')"), 33);
	bed_down(&b);
	CHECK(access(path, F_OK) == 0);
	b.db = tracedb_open(path, DB_READ, &b.e);
	CHECK_OK(b.db ? 0 : -1, b.e);
	b.a = arena_new(0);
	load(&b, "decode_step_2");
	CHECK_U64(b.t.n_launches, 1100);
	bed_down(&b);
}

TEST(an_empty_database_and_a_foreign_file_are_refused)
{
	char path[1024];
	struct bed b;
	FILE *f;

	open_bed(&b, ":memory:");
	load_fails(&b, NULL, "holds no trace");
	bed_down(&b);
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

/* --- loading under stress ----------------------------------------------------------------------------------------- */

TEST(a_load_that_runs_out_of_memory_says_so_and_leaks_nothing)
{
	struct bed b;
	struct trace t;
	size_t limit = 16, failures = 0;

	open_bed(&b, ":memory:");
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
	bed_down(&b);
}

TEST(a_damaged_database_is_an_error_and_not_a_crash)
{
	static const char *const damage[] = {
		"update op set parent = (select max(c.id) from op c where c.parent = op.id) where parent is null",
		"update op set parent = id", "update op set parent = 999",
		"update args set text = '[[0,0,\"'", "update args set text = ''", "delete from args",
		"update args set text = '[[0,-1,\"f\",[1,2,3,4,5,6,7,8,9],null,\"\"]]'",
		"delete from name where text = 'aten::mm'", "delete from name where text = 'gemm_kernel<float>'",
		"update launch set kind = 9", "update launch set dir = -1", "update launch set op = 77",
		"update range set source = 4",
	};
	struct bed b;

	for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
		open_bed(&b, ":memory:");
		CHECK_OK(import(&b, SMALL), b.e);
		run(&b, "pragma foreign_keys = off");
		run(&b, damage[i]);
		load_fails(&b, NULL, "is damaged");
		bed_down(&b);
	}
}

/* --- arguments as text -------------------------------------------------------------------------------------------- */

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

SUITE(t_tracedb,
	T(a_parent_is_the_innermost_op_that_contains_all_of_its_child)
	T(parents_do_not_depend_on_the_order_of_the_file)
	T(more_threads_than_are_watched_still_get_their_parents)
	T(nesting_far_beyond_any_stack_neither_fails_nor_loops)
	T(a_copy_blocks_when_a_synchronise_is_the_next_thing_its_thread_asks)
	T(synchronising_calls_are_known_by_name)
	T(a_range_takes_what_was_called_in_it_and_by_time_only_what_has_no_call)
	T(annotations_of_one_name_are_one_range_even_nested)
	T(a_range_known_on_the_device_only_selects_by_device_time)
	T(ranges_that_are_unknown_or_empty_are_errors)
	T(steps_are_the_outermost_annotations_with_the_commonest_name_and_a_number)
	T(without_numbered_annotations_there_is_one_step_and_without_launches_none)
	T(the_wall_of_a_range_is_the_sum_over_its_annotations)
	T(two_files_are_loaded_on_one_time_axis)
	T(the_same_digest_is_noticed_and_changes_nothing)
	T(a_failed_import_leaves_no_new_file)
	T(after_one_good_import_a_failed_one_takes_nothing_away)
	T(a_failed_import_leaves_an_existing_file_byte_for_byte)
	T(a_full_disk_is_one_error_and_nothing_remains)
	T(an_imported_file_is_sound_and_in_wal_mode)
	T(an_empty_database_and_a_foreign_file_are_refused)
	T(a_load_that_runs_out_of_memory_says_so_and_leaks_nothing)
	T(a_damaged_database_is_an_error_and_not_a_crash)
	T(arguments_survive_being_written_and_read)
	T(arguments_cut_or_garbled_are_not_read)
	T(the_memory_of_texts_forgets_when_full_and_is_never_wrong)
);
