/* t_tracedb.c - what the trace database works out: parents, waits, ranges, steps, and several files as one trace. */
#include "sim/base/rng.h"
#include "validate/tests/tracebed.h"

static void begin(struct bed *b, const char *digest, int64_t base_ns)
{
	const struct trace_import src = { "f", "test", digest, base_ns, -1, true, NULL };

	CHECK_OK(tracedb_begin(b->db, &src, &b->e), b->e);
}

static void bed_up(struct bed *b)
{
	bed_open(b, ":memory:", DB_WRITE);
	begin(b, "d", 0);
}

static void finish(struct bed *b, const char *digest, int64_t base_ns, int64_t wall_ns)
{
	const struct trace_import src = { .digest = digest, .base_ns = base_ns, .wall_ns = wall_ns };

	CHECK_OK(tracedb_finish(b->db, &src, &b->st, &b->e), b->e);
}

/* --- putting, briefly ------------------------------------------------------------------------------------------ */

static void kernel(struct bed *b, const char *name, int64_t start, int64_t correlation, int64_t external)
{
	const struct trace_launch l = { .kind = TRACE_KERNEL,
		                        .name = name,
		                        .start_ns = start,
		                        .dur_ns = 10,
		                        .bytes = -1,
		                        .correlation = correlation };

	CHECK_OK(tracedb_put_launch(b->db, &l, external, &b->e), b->e);
}

static void copy(struct bed *b, enum trace_copy_dir dir, int64_t start, int64_t correlation)
{
	const struct trace_launch l = { .kind = TRACE_MEMCPY,
		                        .name = "copy",
		                        .start_ns = start,
		                        .dur_ns = 1,
		                        .bytes = 4,
		                        .dir = dir,
		                        .correlation = correlation };

	CHECK_OK(tracedb_put_launch(b->db, &l, 0, &b->e), b->e);
}

static void op(struct bed *b, const char *name, int64_t thread, int64_t start, int64_t dur, int64_t external)
{
	const struct trace_op o = { .name = name, .thread = thread, .start_ns = start, .dur_ns = dur, .sequence = -1 };

	CHECK_OK(tracedb_put_op(b->db, &o, external, &b->e), b->e);
}

static void call(struct bed *b, const char *name, int64_t thread, int64_t start, int64_t correlation)
{
	const struct trace_call c = { name, start, 1, thread, correlation };

	CHECK_OK(tracedb_put_call(b->db, &c, &b->e), b->e);
}

static void range(struct bed *b, const char *name, int64_t start, int64_t dur)
{
	const struct trace_range r = { name, start, dur, 1, 0 };

	CHECK_OK(tracedb_put_range(b->db, &r, false, &b->e), b->e);
}

/* --- ops ------------------------------------------------------------------------------------------------------- */

TEST(a_parent_is_the_innermost_op_that_contains_all_of_its_child)
{
	struct bed b;
	const struct trace_op *o;

	bed_up(&b);
	op(&b, "outer", 1, 0, 100, 1);
	op(&b, "ends_early", 1, 10, 20, 2);
	op(&b, "crosses", 1, 20, 30, 3); /* ends after ends_early */
	op(&b, "inside_both", 1, 22, 5, 4);
	op(&b, "other_thread", 2, 23, 1, 5);
	op(&b, "at_its_end", 1, 100, 5, 6);
	op(&b, "same_span", 1, 100, 5, 7);
	op(&b, "no_time", 1, 104, 0, 8);
	for (int i = 1; i <= 8; i++)
		kernel(&b, "k", 200 + i, 0, i);
	finish(&b, "d", 0, -1);
	bed_load(&b, NULL);
	CHECK_STR(b.t.launches[1].op->up->name, "outer");
	CHECK_STR(b.t.launches[2].op->up->name, "outer");
	CHECK_STR(b.t.launches[3].op->up->name, "crosses");
	CHECK(!b.t.launches[4].op->up && !b.t.launches[5].op->up);
	CHECK_STR(b.t.launches[6].op->up->name, "at_its_end");
	o = b.t.launches[7].op;
	CHECK_STR(o->up->name, "same_span");
	CHECK(o->up->up->up == NULL && o->parent == o->up->id);
	bed_close(&b);
}

/* Ops named by their start; the parents as one text. */
static void parents_of(struct bed *b, char *out, size_t size)
{
	struct sqlite3_stmt *s = db_stmt(b->db->db,
	                                 "select coalesce(p.start_ns, -1) from op o left join op p"
	                                 " on p.id = o.parent"
	                                 " order by o.start_ns, o.dur_ns desc",
	                                 &b->e);
	size_t n = 0;

	CHECK(s);
	while (db_step(b->db->db, s, &b->e) == 1)
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
		bed_close(&b);
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
		bed_close(&b);
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
	CHECK_U64(bed_ask(&b, "select count(*) from op o join op p on p.id = o.parent where o.thread = p.thread"), 200);
	CHECK_U64(bed_ask(&b, "select count(*) from op where parent is null"), 200);
	bed_close(&b);
}

TEST(nesting_far_beyond_any_stack_neither_fails_nor_loops)
{
	struct bed b;

	bed_up(&b);
	for (int64_t i = 0; i < 3000; i++)
		op(&b, "o", 1, i, 100000 - i, i + 1);
	kernel(&b, "k", 50000, 0, 3000);
	finish(&b, "d", 0, -1);
	bed_load(&b, NULL);
	CHECK_U64(b.t.launches[0].op->id, 3000);
	CHECK_U64(b.t.launches[0].op->parent, 1024);
	bed_close(&b);
}

/* --- waits ----------------------------------------------------------------------------------------------------- */

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
	call(&b, "hipMemcpyAsync", 1, 150, 6); /* 5 */
	call(&b, "hipEventSynchronize", 1, 151, 0);
	call(&b, "cudaMemcpyAsync", 1, 160, 7);       /* 6: nothing follows */
	call(&b, "cudaMemcpyAsync_v3020", 3, 170, 8); /* 7: as nsys spells it */
	call(&b, "cudaDeviceSynchronize_v3020", 3, 171, 0);
	for (int i = 0; i < 8; i++)
		copy(&b, i == 4 ? TRACE_COPY_DTOD : i & 1 ? TRACE_COPY_HTOD : TRACE_COPY_DTOH, 200 + i, i + 1);
	finish(&b, "d", 0, -1);
	bed_load(&b, NULL);
	for (int i = 0; i < 8; i++)
		if (b.t.launches[i].blocking != want[i])
			test_fail(__FILE__, __LINE__, "copy %d", i);
	CHECK_U64(b.t.n_syncs, 6);
	for (int i = 1; i < 6; i++)
		CHECK(b.t.sync_ns[i - 1] <= b.t.sync_ns[i]);
	bed_close(&b);
}

TEST(synchronising_calls_are_known_by_name)
{
	CHECK(tracedb_is_sync("cudaStreamSynchronize") && tracedb_is_sync("cuCtxSynchronize"));
	CHECK(tracedb_is_sync("hipDeviceSynchronize") && tracedb_is_sync("cudaEventSynchronize_ptsz"));
	CHECK(!tracedb_is_sync("cudaStreamWaitEvent") && !tracedb_is_sync("cudaLaunchKernel"));
	CHECK(!tracedb_is_sync("Synchronize"));
}

/* --- ranges ---------------------------------------------------------------------------------------------------- */

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
	bed_load(&b, "r");
	CHECK_U64(b.t.n_launches, 3);
	CHECK_STR(b.t.launches[0].name, "no_call_inside");
	CHECK_STR(b.t.launches[1].name, "at_start");
	CHECK_STR(b.t.launches[2].name, "backward");
	CHECK_U64(b.t.ranges[0].launches, 3);
	CHECK_U64(b.t.span_ns, 6010 - 199);
	bed_close(&b);
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
	bed_load(&b, "r");
	CHECK_U64(b.t.n_launches, 13 + 1); /* 105 to 225, and 305 */
	CHECK_U64(b.t.n_ranges, 5);
	bed_load(&b, "s");
	CHECK_U64(b.t.n_launches, 1);
	bed_close(&b);
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
	bed_load(&b, "gpu");
	CHECK_U64(b.t.n_launches, 1);
	CHECK_STR(b.t.launches[0].name, "in");
	CHECK_U64(b.t.n_ranges, 0);
	bed_close(&b);
}

TEST(ranges_that_are_unknown_or_empty_are_errors)
{
	struct bed b;

	bed_up(&b);
	kernel(&b, "k", 5, 0, 0);
	finish(&b, "d", 0, -1);
	bed_load_fails(&b, "x", "no range 'x' in 'f': it has no annotations");
	begin(&b, "e", 0);
	range(&b, "decode_step_0", 100, 10);
	kernel(&b, "k", 5, 0, 0);
	finish(&b, "e", 0, -1);
	bed_load_fails(&b, "decode_step_1", "did you mean 'decode_step_0'");
	bed_load_fails(&b, "entirely else", "the first of its ranges is 'decode_step_0'");
	bed_load_fails(&b, "decode_step_0", "no device activity in range 'decode_step_0'");
	bed_close(&b);
}

TEST(steps_are_the_outermost_annotations_with_the_commonest_name_and_a_number)
{
	static const struct {
		const char *names;
		int64_t steps;
	} all[] = {
		{ "", 1 },
		{ "forward backward", 1 },
		{ "step_0 step_1 step_2", 3 },
		{ "ProfilerStep#4", 1 },
		{ "7 8", 2 },
		{ "warm_0 step_9 step_10 step_11 other", 3 },
		{ "a1 b1 c1", 1 },
	};
	struct bed b;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		char text[64], *save = NULL;
		int64_t at = 0;

		snprintf(text, sizeof text, "%s", all[i].names);
		bed_up(&b);
		for (char *name = strtok_r(text, " ", &save); name; name = strtok_r(NULL, " ", &save), at += 100) {
			range(&b, name, at, 100);
			if (!strpbrk(name, "0123456789"))
				continue;
			for (int layer = 0; layer < 4; layer++) /* more of them than steps, and inside one */
				range(&b, layer % 2 ? "layer_1" : "layer_0", at + 10 * layer, 10);
		}
		kernel(&b, "k", 5, 0, 0);
		finish(&b, "d", 0, -1);
		bed_load(&b, NULL);
		CHECK_U64(b.t.steps, all[i].steps);
		bed_close(&b);
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
	bed_run(&b, "delete from launch");
	CHECK_OK(tracedb_steps(b.db, &steps, &b.e), b.e);
	CHECK_U64(steps, 0);
	bed_load_fails(&b, NULL, "no device activity in 'f'");
	bed_close(&b);
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
	CHECK_OK(tracedb_set_wall(b.db, "f", true, "step_0", 100, &b.e), b.e);
	bed_load(&b, "step_0");
	CHECK_U64(b.t.wall_ns, 200);
	bed_load(&b, "step_1");
	CHECK(b.t.wall_ns == -1);
	bed_load(&b, NULL);
	CHECK_U64(b.t.wall_ns, 700);
	CHECK(tracedb_set_wall(b.db, "f", true, "step_2", 100, &b.e) == -1);
	CHECK_HAS(b.e.msg, "no range 'step_2' in 'f': did you mean 'step_");
	bed_close(&b);
}

TEST(the_wall_of_a_range_is_one_files_and_the_file_that_lacks_it_is_named)
{
	struct bed b;

	bed_up(&b);
	range(&b, "step", 0, 10);
	kernel(&b, "k", 5, 0, 0);
	finish(&b, "d", 0, -1);
	begin(&b, "e", 0);
	range(&b, "stop", 0, 10);
	kernel(&b, "k", 5, 0, 0);
	finish(&b, "e", 0, -1);
	CHECK(tracedb_set_wall(b.db, "second.json", true, "step", 100, &b.e) == -1);
	CHECK_HAS(b.e.msg, "no range 'step' in 'second.json': did you mean 'stop'");
	err_clear(&b.e);
	CHECK(tracedb_set_wall(b.db, "second.json", true, "all else", 100, &b.e) == -1);
	CHECK_HAS(b.e.msg, "the first of its ranges is 'stop'");
	err_clear(&b.e);
	CHECK_U64(bed_ask(&b, "select count(*) from range where wall_ns is not null"), 0);
	CHECK_OK(tracedb_set_wall(b.db, "of unknown name", false, "step", 100, &b.e), b.e);
	CHECK_U64(bed_ask(&b, "select count(*) from range where wall_ns = 100 and source = 1"), 1);
	begin(&b, "g", 0);
	kernel(&b, "k", 5, 0, 0);
	finish(&b, "g", 0, -1);
	CHECK(tracedb_set_wall(b.db, "third.csv", true, "step", 100, &b.e) == -1);
	CHECK_HAS(b.e.msg, "no range 'step' in 'third.csv': it has no annotations");
	bed_close(&b);
}

/* --- several files ------------------------------------------------------------------------ */

TEST(two_files_are_loaded_on_one_time_axis)
{
	struct bed b;

	bed_open(&b, ":memory:", DB_WRITE);
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
	bed_load(&b, NULL);
	CHECK_U64(b.t.base_ns, 100);
	CHECK_STR(b.t.launches[0].name, "early");
	CHECK(b.t.launches[0].start_ns == 60 && b.t.launches[0].host_start_ns == 5 && b.t.launches[0].id == 2);
	CHECK(b.t.launches[1].start_ns == 950 && b.t.launches[1].host_start_ns == 860 && b.t.launches[1].id == 1);
	CHECK_STR(b.t.launches[1].op->name, "late_op");
	CHECK_U64(b.t.launches[1].op->start_ns, 860);
	CHECK_U64(b.t.wall_ns, 15);
	CHECK_STR(b.t.path, ":memory:");
	CHECK(b.t.ranges[0].start_ns == 0 && b.t.ranges[1].start_ns == 850);
	bed_load(&b, "step_0");
	CHECK_U64(b.t.n_launches, 2);
	bed_close(&b);
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
	CHECK_U64(bed_ask(&b, "select count(*) from source"), 1);
	CHECK_U64(bed_ask(&b, "pragma foreign_keys"), 1);
	begin(&b, "e", 0); /* and the next import is not in its way */
	kernel(&b, "k", 5, 0, 0);
	finish(&b, "e", 0, -1);
	CHECK_U64(bed_ask(&b, "select count(*) from launch"), 2);
	CHECK_U64(bed_ask(&b, "select count(*) from name where text = 'k'"), 1);
	bed_close(&b);
}

/* --- some at a time ------------------------------------------------------------------------------------------------ */

#define PIECES_OPS 40

struct seen {
	const struct trace *all;
	size_t n, pieces, largest;
	bool was[400];         /* by place in the whole */
	int64_t op_piece[400]; /* 1 + the piece that has the op's launches */
};

static int look(void *arg, const struct trace *piece, struct err *e)
{
	struct seen *s = arg;

	(void)e;
	CHECK(piece->n_launches > 0 && piece->n_stats == 0 && piece->n_ranges == s->all->n_ranges);
	for (size_t i = 0; i < piece->n_launches; i++) {
		const struct trace_launch *l = &piece->launches[i], *w = s->all->launches;

		CHECK(i == 0 || l[-1].start_ns <= l->start_ns);
		while (w < s->all->launches + s->all->n_launches && w->id != l->id)
			w++;
		CHECK(w < s->all->launches + s->all->n_launches && !s->was[w - s->all->launches]);
		s->was[w - s->all->launches] = true;
		CHECK_STR(l->name, w->name);
		CHECK(l->start_ns == w->start_ns && l->host_start_ns == w->host_start_ns && !l->op == !w->op);
		if (!l->op)
			continue;
		CHECK_STR(l->op->up->name, "outer");
		CHECK(l->op->id == w->op->id &&
		      (!s->op_piece[l->op->id] || s->op_piece[l->op->id] == (int64_t)s->pieces + 1));
		s->op_piece[l->op->id] = (int64_t)s->pieces + 1;
	}
	s->pieces++;
	s->n += piece->n_launches;
	s->largest = piece->n_launches > s->largest ? piece->n_launches : s->largest;
	return 0;
}

static void load_pieces(struct bed *b, const char *range, size_t n, struct seen *s)
{
	struct arena *a = arena_new(0);
	struct trace head;

	memset(s, 0, sizeof *s);
	s->all = &b->t;
	CHECK_OK(tracedb_load_pieces(b->db, range, &(struct tracedb_pieces){ n, look, s }, a, &head, &b->e), b->e);
	CHECK(head.n_launches == 0 && head.n_devices == b->t.n_devices && head.steps == b->t.steps);
	CHECK_U64(s->n, b->t.n_launches);
	arena_free(a);
}

/* Ops of one to four kernels, a graph of seven that are of one moment of the host, kernels without a call; two files. */
TEST(pieces_of_any_size_are_the_whole_and_split_no_op)
{
	struct rng r;
	struct bed b;
	struct seen s;
	int64_t at = 0;

	bed_open(&b, ":memory:", DB_WRITE);
	rng_seed(&r, test_seed(), "pieces");
	for (int file = 0; file < 2; file++, at = 0) {
		begin(&b, file ? "e" : "d", file * 500);
		op(&b, "outer", 1, 0, 100000, 0);
		for (int i = 1; i <= PIECES_OPS; i++, at += 100) {
			const int n = 1 + (int)rng_below(&r, 4);

			op(&b, "op", 1, at + 10, 80, i);
			for (int k = 0; k < n; k++) {
				call(&b, "cudaLaunchKernel", 1, at + 20 + k, 10 * i + k);
				kernel(&b, "k", at + 50 + (int64_t)rng_below(&r, 300), 10 * i + k, i);
			}
		}
		call(&b, "cudaGraphLaunch", 2, at, 9000);
		for (int k = 0; k < 7; k++)
			kernel(&b, "graph", at + 5 + k, 9000, 0);
		for (int k = 0; k < 5; k++)
			kernel(&b, "late", at + 50 + 20 * k, 0, 0);
		range(&b, "part", 1000, 2000);
		finish(&b, file ? "e" : "d", file * 500, -1);
	}
	for (int ranged = 0; ranged < 2; ranged++) {
		const char *name = ranged ? "part" : NULL;

		bed_load(&b, name);
		for (size_t n = 4; n < b.t.n_launches; n++) {
			load_pieces(&b, name, n, &s);
			CHECK(s.pieces > 1 && s.largest <= (n > 7 ? n : 7));
		}
		load_pieces(&b, name, b.t.n_launches, &s);
		CHECK_U64(s.pieces, 1);
	}
	bed_close(&b);
}

TEST(an_empty_selection_has_no_pieces_and_is_an_error)
{
	struct arena *a = arena_new(0);
	struct trace head;
	struct seen s = { 0 };
	struct bed b;

	bed_up(&b);
	kernel(&b, "k", 5, 0, 0);
	range(&b, "empty", 100, 5);
	finish(&b, "d", 0, -1);
	CHECK(tracedb_load_pieces(b.db, "empty", &(struct tracedb_pieces){ 3, look, &s }, a, &head, &b.e) == -1);
	CHECK_HAS(b.e.msg, "no device activity in range 'empty'");
	CHECK_U64(s.pieces, 0);
	arena_free(a);
	bed_close(&b);
}

/* --- what an importer keeps until its end ------------------------------------------------------------------------ */

static int write_mark(void *arg, const struct tracedb_mark *m, struct err *e)
{
	struct str *out = arg;

	(void)e;
	str_addf(out, "%lld.%lld %lld-%lld; ", (long long)m->thread, (long long)m->name, (long long)m->start_ns,
	         (long long)m->end_ns);
	return 0;
}

static void mark(struct bed *b, int64_t id, int64_t thread, int64_t start, int64_t end)
{
	const struct tracedb_mark m = { .thread = thread, .start_ns = start, .name = id };

	if (end >= 0)
		CHECK_OK(tracedb_put_end(b->db, id, end, &b->e), b->e);
	if (start >= 0)
		CHECK_OK(tracedb_put_begin(b->db, id, &m, &b->e), b->e);
}

TEST(ranges_whose_ends_come_apart_come_back_by_thread_and_time)
{
	struct str out = STR_INIT;
	struct bed b;

	bed_up(&b);
	mark(&b, 4, 2, 10, 30);
	mark(&b, 3, 1, 20, 25);
	mark(&b, 2, 1, 5, 9);
	mark(&b, 1, 1, 5, 50);
	mark(&b, 5, 1, 7, -1); /* never ended, never begun */
	mark(&b, 6, 1, -1, 8);
	CHECK_OK(tracedb_each_mark(b.db, write_mark, &out, &b.e), b.e);
	CHECK_STR(str_c(&out), "1.1 5-50; 1.2 5-9; 1.3 20-25; 2.4 10-30; ");
	kernel(&b, "k", 5, 0, 0);
	finish(&b, "d", 0, -1);
	begin(&b, "e", 0);
	str_clear(&out);
	CHECK_OK(tracedb_each_mark(b.db, write_mark, &out, &b.e), b.e);
	CHECK_STR(str_c(&out), "");
	str_free(&out);
	bed_close(&b);
}

TEST(the_wall_of_a_step_is_kept_with_the_steps_of_one_file)
{
	struct bed b;

	bed_up(&b);
	for (int file = 0; file < 2; file++) {
		if (file)
			begin(&b, "e", 1000);
		kernel(&b, "k", 5, 0, 0);
		range(&b, "step_1", 0, 10);
		range(&b, "step_2", 20, 10);
		range(&b, "layer_7", 22, 2); /* inside a step */
		range(&b, "warm", 40, 5);
		finish(&b, file ? "e" : "d", file * 1000, -1);
	}
	CHECK_U64(tracedb_set_step_walls(b.db, "another", false, 700, &b.e), 1);
	CHECK_U64(bed_ask(&b, "select count(*) from range where wall_ns is not null"), 0);
	CHECK_OK(tracedb_set_step_walls(b.db, "another", true, 700, &b.e), b.e);
	CHECK_U64(bed_ask(&b, "select count(*) from range where wall_ns = 700 and source = 2"), 2);
	CHECK_U64(bed_ask(&b, "select count(*) from range where wall_ns is not null"), 2);
	CHECK_U64(bed_ask(&b, "select wall_ns from source where id = 2"), 1400);
	CHECK_U64(bed_ask(&b, "select count(*) from source where wall_ns is not null"), 1);
	bed_close(&b);
}

SUITE(t_tracedb, T(a_parent_is_the_innermost_op_that_contains_all_of_its_child),
      T(parents_do_not_depend_on_the_order_of_the_file), T(more_threads_than_are_watched_still_get_their_parents),
      T(nesting_far_beyond_any_stack_neither_fails_nor_loops),
      T(a_copy_blocks_when_a_synchronise_is_the_next_thing_its_thread_asks), T(synchronising_calls_are_known_by_name),
      T(a_range_takes_what_was_called_in_it_and_by_time_only_what_has_no_call),
      T(annotations_of_one_name_are_one_range_even_nested), T(a_range_known_on_the_device_only_selects_by_device_time),
      T(ranges_that_are_unknown_or_empty_are_errors),
      T(steps_are_the_outermost_annotations_with_the_commonest_name_and_a_number),
      T(without_numbered_annotations_there_is_one_step_and_without_launches_none),
      T(the_wall_of_a_range_is_the_sum_over_its_annotations),
      T(the_wall_of_a_range_is_one_files_and_the_file_that_lacks_it_is_named), T(two_files_are_loaded_on_one_time_axis),
      T(the_same_digest_is_noticed_and_changes_nothing), T(pieces_of_any_size_are_the_whole_and_split_no_op),
      T(an_empty_selection_has_no_pieces_and_is_an_error), T(ranges_whose_ends_come_apart_come_back_by_thread_and_time),
      T(the_wall_of_a_step_is_kept_with_the_steps_of_one_file));
