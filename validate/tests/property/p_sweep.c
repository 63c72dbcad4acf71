/* p_sweep.c - a sweep's rows are the same however it is run: workers, shards, kills, others at the same file. */
#define _POSIX_C_SOURCE 200809L
#include "arch/watch.h"
#include "sim/engine/run_memo.h"
#include "sim/program/program.h"
#include "sim/study/sweep.h"
#include "sim/study/sweep_int.h"
#include "validate/tests/runbed.h"
#include "validate/tests/synth.h"
#include "validate/tests/test.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KILLS 10

/* Points enough for ten kills after which some are left; some cannot be built. */
enum { POINTS = 4 * 2 * 6 };
static const char text[] =
	"sweep: 1\nbase: none.yaml\naxes:\n"
	"  l2.size: [0 B, 1 MiB, 2 MiB, 3 MiB]\n  l2.ways: [16, 12]\n  gemv.lanes: [4, 8, 16, 32, 64, 128]\n";
static const char other[] = "sweep: 1\nbase: none.yaml\naxes: {cores: {from: 1, to: 10, steps: 10}}\n";
static const char base_text[] =
	"cores: 8\nl2: {banks: 8}\nsram: {size: 256 KiB}\ndram: {kind: hbm3-6400, channels: 8}\n";

struct bed {
	struct arena *a;
	struct sweep *s;
	struct sweep_job job;
	struct res_workload w;
};

static void up(struct bed *b, const char *file)
{
	struct err e = ERR_INIT;
	struct rng r;

	memset(b, 0, sizeof *b);
	rng_seed(&r, 5, "sweep");
	b->a = arena_new(0);
	b->s = sweep_parse(file, "s.yaml", base_text, &e);
	if (!b->s || sweep_expand(b->s, 1000, NULL, NULL, &e) < 0)
		test_fail(__FILE__, __LINE__, "%d: %s", e.line, e.msg);
	b->w = (struct res_workload){ .source = "synth", .digest = "5", .wall_ns = -1 };
	b->job = (struct sweep_job){ .stream = synth_step(&r, b->a, 2, true),
		                     .workload = &b->w,
		                     .how = { .start = RUN_STEADY, .seed = 1 },
		                     .jobs = 1,
		                     .shard = 1,
		                     .shards = 1 };
}

static void down(struct bed *b)
{
	sweep_free(b->s);
	arena_free(b->a);
}

static int sweep_into(struct bed *b, const char *path, struct sweep_done *d, struct err *e)
{
	struct resdb *db = res_open(path, DB_WRITE, e);
	int rc = !db                            ? -1
	         : b->s->sample == SWEEP_GUIDED ? sweep_search(b->s, &b->job, db, d, e)
	                                        : sweep_run(b->s, &b->job, db, d, e);

	res_free(db);
	return rc;
}

static void must_sweep(struct bed *b, const char *path)
{
	struct sweep_done d;
	struct err e = ERR_INIT;

	CHECK_OK(sweep_into(b, path, &d, &e), e);
	CHECK_U64(d.there + d.ran, d.mine);
}

/* All that is stored of a sweep's points, as bytes. */
static void dump(const char *path, size_t which, struct str *out)
{
	struct err e = ERR_INIT;
	struct arena *a = arena_new(0);
	struct resdb *db = res_open(path, DB_READ, &e);
	struct res_sweep *all;
	struct res_point *p;
	size_t n;

	if (!db)
		test_fail(__FILE__, __LINE__, "%s", e.msg);
	CHECK_OK(res_list_sweeps(db, a, &all, &n, &e), e);
	CHECK(which < n);
	CHECK_OK(res_get_points(db, &all[which], a, &p, &n, &e), e);
	CHECK_U64(n, all[which].n_points);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < all[which].n_axes; k++)
			str_addf(out, "%s %.17g;", p[i].values[k].text, p[i].values[k].number);
		str_add(out, p[i].build);
		sweep_pack(&p[i], out);
	}
	res_free(db);
	arena_free(a);
}

static void must_equal(const char *path, const struct str *want)
{
	struct str got = STR_INIT;

	dump(path, 0, &got);
	CHECK_U64(got.len, want->len);
	CHECK(memcmp(got.p, want->p, got.len) == 0);
	str_free(&got);
}

TEST(rows_do_not_depend_on_workers)
{
	struct str want = STR_INIT;
	char one[512], path[512];
	struct bed b;

	up(&b, text);
	must_sweep(&b, test_path(one, sizeof one, "one.db"));
	dump(one, 0, &want);
	CHECK(want.len > 1000);
	for (unsigned jobs = 2; jobs <= 8; jobs *= 2) {
		if (!test_turn(jobs / 4, 2))
			continue;
		b.job.jobs = jobs;
		must_sweep(&b, test_path(path, sizeof path, "%u.db", jobs));
		must_equal(path, &want);
	}
	str_free(&want);
	down(&b);
}

TEST(four_shards_merged_are_the_whole_and_merging_again_changes_nothing)
{
	struct str want = STR_INIT;
	char one[512], all[512], path[512];
	struct err e = ERR_INIT;
	struct bed b;

	up(&b, text);
	must_sweep(&b, test_path(one, sizeof one, "one.db"));
	dump(one, 0, &want);
	test_path(all, sizeof all, "all.db");
	b.job.shards = 4;
	for (int round = 0; round < 2; round++)
		for (unsigned i = 4; i >= 1; i--) {
			struct res_merged m = { 0, 0, 0, 0, 0 };
			struct resdb *into, *from;

			b.job.shard = i;
			must_sweep(&b, test_path(path, sizeof path, "shard%u.db", i));
			into = res_open(all, DB_WRITE, &e);
			from = res_open(path, DB_READ, &e);
			CHECK(into && from);
			CHECK_OK(res_merge(into, from, false, &m, &e), e);
			CHECK_U64(m.points, POINTS / 4);
			CHECK_U64(m.points_new, round ? 0 : POINTS / 4);
			res_free(from);
			res_free(into);
		}
	must_equal(all, &want);
	str_free(&want);
	down(&b);
}

/* --- kills ------------------------------------------------------------------------------------------------- */

struct killer {
	size_t at;
};

static void on_progress(void *arg, size_t done, size_t of)
{
	const struct killer *k = arg;

	(void)of;
	if (done >= k->at)
		raise(SIGKILL);
}

/* Runs the sweep in a process of its own that is killed when it has run so many points; true: it was. */
static bool killed(struct bed *b, const char *path, size_t at)
{
	struct killer k = { at };
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		struct sweep_done d;
		struct err e = ERR_INIT;

		b->job.progress = on_progress;
		b->job.arg = &k;
		_exit(sweep_into(b, path, &d, &e) == 0 ? 0 : 1);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	if (WIFSIGNALED(status))
		return true;
	CHECK_U64(WEXITSTATUS(status), 0);
	return false;
}

static size_t stored(const char *path)
{
	struct err e = ERR_INIT;
	struct arena *a = arena_new(0);
	struct resdb *db = res_open(path, DB_READ, &e);
	struct res_sweep *all;
	size_t n, points = 0;

	if (db && res_list_sweeps(db, a, &all, &n, &e) == 0 && n)
		points = all[0].done + all[0].failed;
	res_free(db);
	arena_free(a);
	return points;
}

TEST(a_sweep_killed_at_ten_moments_goes_on_and_ends_the_same)
{
	struct str want = STR_INIT;
	char one[512], path[512];
	struct rng r;
	struct bed b;
	size_t had = 0, kills = 0;

	up(&b, text);
	must_sweep(&b, test_path(one, sizeof one, "one.db"));
	dump(one, 0, &want);
	test_path(path, sizeof path, "killed.db");
	rng_seed(&r, test_seed(), "kill");
	b.job.jobs = 2;
	while (kills < KILLS) {
		/* Two workers can bring three points before the kill, at the most: ten kills leave some to do. */
		if (!killed(&b, path, 1 + rng_below(&r, 2)))
			break;
		kills++;
		CHECK(stored(path) > had); /* what was done before the kill is there */
		had = stored(path);
	}
	CHECK_U64(kills, KILLS);
	must_sweep(&b, path);
	must_equal(path, &want);
	str_free(&want);
	down(&b);
}

/* Looks on in a worker and kills it as often as the file has bytes. */
static void die(void *ctx, ps_t at)
{
	FILE *f = fopen(ctx, "r+");
	long left = 0;

	(void)at;
	if (f && fseek(f, 0, SEEK_END) == 0)
		left = ftell(f);
	if (f)
		fclose(f);
	if (left > 0 && truncate(ctx, left - 1) == 0)
		raise(SIGKILL);
}

static void no_busy(void *ctx, enum res r, ps_t from, ps_t to, uint32_t cmd)
{
	(void)ctx, (void)r, (void)from, (void)to, (void)cmd;
}

static void not_moved(void *ctx, enum res r, bool write, ps_t from, ps_t to, uint64_t bytes)
{
	(void)ctx, (void)r, (void)write, (void)from, (void)to, (void)bytes;
}

static void no_level(void *ctx, enum watch_level what, ps_t at, uint64_t value)
{
	(void)ctx, (void)what, (void)at, (void)value;
}

/* Points that are failed because their processes died. */
static size_t dead(const char *path, const char **reason, struct arena *a)
{
	struct err e = ERR_INIT;
	struct resdb *db = res_open(path, DB_READ, &e);
	struct res_sweep *all;
	struct res_point *p;
	size_t n, died = 0;

	CHECK_OK(db && res_list_sweeps(db, a, &all, &n, &e) == 0 && res_get_points(db, &all[0], a, &p, &n, &e) == 0
	                 ? 0
	                 : -1,
	         e);
	for (size_t i = 0; i < n; i++)
		if (res_point_died(&p[i])) {
			died++;
			*reason = p[i].reason;
		}
	res_free(db);
	return died;
}

TEST(a_point_whose_worker_dies_is_tried_once_more_and_again_by_the_next_run)
{
	struct watch w = { NULL, die, no_busy, not_moved, no_level };
	struct str want = STR_INIT;
	const char *reason = NULL;
	char one[512], path[512], left[512];
	struct bed b;
	FILE *f;

	up(&b, other);
	must_sweep(&b, test_path(one, sizeof one, "one.db"));
	dump(one, 0, &want);
	w.ctx = test_path(left, sizeof left, "left");
	b.job.how.watch = &w;
	for (int deaths = 1; deaths <= 3; deaths++) {
		test_path(path, sizeof path, "died%d.db", deaths);
		CHECK((f = fopen(left, "w")) && fwrite("xxx", 1, (size_t)deaths, f) == (size_t)deaths &&
		      fclose(f) == 0);
		must_sweep(&b, path);
		/* One death is mended; a second over the same point is its row; a third is another point's first. */
		CHECK_U64(dead(path, &reason, b.a), deaths > 1);
		if (deaths > 1)
			CHECK_HAS(reason, "its process died twice: Killed");
		must_sweep(&b, path);
		must_equal(path, &want);
	}
	str_free(&want);
	down(&b);
}

/* The same from outside, wherever it may be: in the middle of a write, before the file is made, after the end. */
TEST(a_sweep_killed_from_outside_goes_on_and_ends_the_same)
{
	struct str want = STR_INIT;
	char one[512], path[512];
	struct rng r;
	struct bed b;

	up(&b, text);
	must_sweep(&b, test_path(one, sizeof one, "one.db"));
	dump(one, 0, &want);
	test_path(path, sizeof path, "killed.db");
	rng_seed(&r, test_seed(), "outside");
	b.job.jobs = 2;
	for (int i = 0; i < KILLS; i++) {
		struct timespec t = { 0, (long)rng_below(&r, 20000000) };
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (pid == 0) {
			struct sweep_done d;
			struct err e = ERR_INIT;

			_exit(sweep_into(&b, path, &d, &e) == 0 ? 0 : 1);
		}
		nanosleep(&t, NULL);
		kill(pid, SIGKILL);
		CHECK(waitpid(pid, NULL, 0) == pid);
	}
	must_sweep(&b, path);
	must_equal(path, &want);
	str_free(&want);
	down(&b);
}

/* --- guided search ----------------------------------------------------------------------------------------- */

static const char search[] =
	"sweep: 1\nbase: none.yaml\nfidelity: analytic\naxes:\n"
	"  l2.size: [0 B, 256 KiB, 512 KiB, 1 MiB, 2 MiB, 3 MiB, 4 MiB]\n  l2.ways: [16, 12]\n"
	"  gemv.lanes: [4, 8, 16, 32, 64, 128]\n  l2.policy: [lru, srrip]\n"
	"  dram.channels: {from: 2, to: 32}\n"
	"where: l2.size > 0 or l2.ways == 16\n"
	"objectives: [latency_us, {name: parts, minimize: l2.size / 1 MiB + gemv.lanes / 32 + dram.channels}]\n"
	"constraints: dram.channels + gemv.lanes < 120\n"
	"sample: {kind: guided, n: 60, seed: 3, generation: 8}\n";

/* The first bed's sweep has grown by its points: every run has a bed of its own. */
static void must_search(const char *path, unsigned jobs, struct str *out)
{
	struct bed b;

	up(&b, search);
	b.job.jobs = jobs;
	b.job.how.fidelity = RUN_ANALYTIC;
	must_sweep(&b, path);
	down(&b);
	dump(path, 0, out);
}

TEST(a_search_does_not_depend_on_workers_and_meets_no_point_twice)
{
	struct str want = STR_INIT, got = STR_INIT;
	struct err e = ERR_INIT;
	struct arena *a = arena_new(0);
	struct res_sweep *all;
	struct res_point *p;
	struct resdb *db;
	char path[512];
	size_t n;

	must_search(test_path(path, sizeof path, "one.db"), 1, &want);
	db = res_open(path, DB_READ, &e);
	CHECK_OK(res_list_sweeps(db, a, &all, &n, &e), e);
	CHECK_OK(res_get_points(db, &all[0], a, &p, &n, &e), e);
	CHECK_U64(n, 60);
	for (size_t i = 0; i < n; i++) {
		CHECK(p[i].values[0].number > 0 || p[i].values[1].number == 16);
		for (size_t k = 0; k < i; k++)
			CHECK(p[i].failed || p[k].failed || p[i].config_hash != p[k].config_hash);
	}
	res_free(db);
	arena_free(a);
	for (unsigned jobs = 2; jobs <= 8; jobs *= 4) {
		if (!test_turn(jobs / 8, 2))
			continue;
		str_clear(&got);
		must_search(test_path(path, sizeof path, "%u.db", jobs), jobs, &got);
		CHECK_U64(got.len, want.len);
		CHECK(memcmp(got.p, want.p, got.len) == 0);
	}
	str_free(&got);
	str_free(&want);
}

TEST(a_search_killed_at_ten_moments_goes_on_and_ends_the_same)
{
	struct str want = STR_INIT, got = STR_INIT;
	char one[512], path[512];
	struct rng r;

	must_search(test_path(one, sizeof one, "one.db"), 1, &want);
	test_path(path, sizeof path, "killed.db");
	rng_seed(&r, test_seed(), "kill a search");
	for (int i = 0; i < KILLS; i++) {
		struct bed b;
		size_t had = stored(path);

		up(&b, search);
		b.job.jobs = 2;
		b.job.how.fidelity = RUN_ANALYTIC;
		/* Progress counts all points of the search: a kill comes one to four points on, in many generations. */
		CHECK(killed(&b, path, had + 1 + rng_below(&r, 3)));
		down(&b);
	}
	CHECK(stored(path) >= KILLS && stored(path) <= 4 * KILLS);
	must_search(path, 2, &got);
	CHECK_U64(got.len, want.len);
	CHECK(memcmp(got.p, want.p, got.len) == 0);
	str_free(&got);
	str_free(&want);
}

TEST(a_search_with_points_to_spare_ends_with_all_there_are)
{
	static const char small[] =
		"sweep: 1\nbase: none.yaml\nfidelity: analytic\naxes:\n"
		"  cores: [4, 8, 16]\n  gemv.lanes: [8, 16, 32, 64]\nwhere: cores * gemv.lanes < 1000\n"
		"sample: {kind: guided, n: 50, generation: 8}\n";
	struct sweep_done d;
	struct err e = ERR_INIT;
	char path[512];
	struct bed b;

	up(&b, small);
	b.job.how.fidelity = RUN_ANALYTIC;
	CHECK_OK(sweep_into(&b, test_path(path, sizeof path, "all.db"), &d, &e), e);
	CHECK_U64(b.s->n_points, 11);
	CHECK_U64(d.ran, 11);
	CHECK_U64(stored(path), 11);
	down(&b);
}

/* --- what points share ------------------------------------------------------------------------------------- */

/* All that stands in a program but what it is called by. */
static void print_program(const struct op_stream *s, const struct map_result *m, struct str *out)
{
	program_write(s, m, out);
	for (size_t i = 0; i < m->prog.n_cmds; i++) {
		const struct isa_cmd *c = &m->prog.cmds[i];

		str_addf(out, "%u %u %llu %llu;", c->batch, c->tiles, (unsigned long long)c->slot_bytes,
		         (unsigned long long)c->fixed_bytes);
	}
	for (size_t i = 0; i < m->prog.n_insns; i++)
		str_addf(out, "%llu %llu;", (unsigned long long)m->prog.insns[i].bytes,
		         (unsigned long long)m->prog.insns[i].span);
	for (size_t i = 0; i < s->n_ops; i++)
		str_addf(out, "%u %llu;", m->cmd_of_op[i], (unsigned long long)m->op_work_ps[i]);
}

/* Every parameter moved, one at a time: where the mapper is said not to look at it, the program is the same. */
TEST(a_program_is_taken_again_only_where_nothing_in_it_changes)
{
	static const char *const factors[][2] = { { "2", "1" }, { "1", "2" }, { "5", "4" } };
	struct err e = ERR_INIT;
	struct machine_base *base = machine_base_new(base_text, strlen(base_text), "none.yaml", &e);
	struct machine_conf *was = base ? machine_base_conf(base, NULL, 0, &e) : NULL;
	struct arena *a = arena_new(0);
	struct str want = STR_INIT, got = STR_INIT;
	const struct map_opts alone = { .patterns = NULL };
	struct map_result m;
	struct op_stream *s;
	size_t same = 0, others = 0;
	struct rng r;

	CHECK_OK(was ? 0 : -1, e);
	rng_seed(&r, 5, "map");
	s = synth_step(&r, a, 2, true);
	CHECK_OK(map_stream(s, &was->cfg, &alone, a, &m, &e), e);
	print_program(s, &m, &want);
	for (size_t i = 0; i < cfg_count(was->raw); i++)
		for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
			const struct cfg_row row = cfg_at(was->raw, i);
			struct err refused = ERR_INIT;
			struct str set = STR_INIT;
			struct machine_conf *c;
			const char *text;
			uint64_t v =
				cfg_raw(was->raw, i) * (uint64_t)atoi(factors[f][0]) / (uint64_t)atoi(factors[f][1]);

			if (row.field->type == CFG_T_STR || !test_turn(i, 3))
				continue;
			str_addf(&set, "%s=", row.key);
			if (row.field->type == CFG_T_ENUM || row.field->type == CFG_T_BOOL)
				str_add(&set, row.field->type == CFG_T_BOOL ? cfg_raw(was->raw, i) ? "false" : "true"
				                                            : row.field->names[f % 2]);
			else
				cfg_format_value(row.field->type, v, &set);
			text = str_c(&set);
			if ((c = machine_base_conf(base, &text, 1, &refused)) && map_same(&was->cfg, &c->cfg)) {
				CHECK_OK(map_stream(s, &c->cfg, &alone, a, &m, &e), e);
				str_clear(&got);
				print_program(s, &m, &got);
				if (got.len != want.len || memcmp(got.p, want.p, got.len) != 0)
					test_fail(__FILE__, __LINE__, "%s makes another program", text);
				same++;
			} else if (c) {
				others++;
			}
			machine_conf_free(c);
			str_free(&set);
		}
	CHECK(same > 15 && others > 15);
	str_free(&got);
	str_free(&want);
	machine_conf_free(was);
	machine_base_free(base);
	arena_free(a);
}

/* What the mapper found out for machines before hangs on nothing but what its keys say: each machine's run is the one it has
 * alone. Prompts, whose results stay, whose chains join and whose products are cut. */
TEST(a_machine_gives_what_it_gives_alone_whatever_was_mapped_before)
{
	static const struct {
		const char *model;
		uint32_t layers, tokens, most; /* and up to so many tokens more */
	} prompts[] = { { "deepseek-ocr", 6, 300, 1 },
		        { "deepseek-ocr", 4, 20, 400 },
		        { "tinyllama-1.1b", 3, 20, 400 } };
	static const char *const sizes[][5] = {
		{ "l2.size=4 MiB", "l2.size=16 MiB", "l2.size=64 MiB", "l2.size=192 MiB", "l2.size=768 MiB" },
		{ "kv_buffer.size=0", "kv_buffer.size=8 MiB", "kv_buffer.size=32 MiB", "kv_buffer.size=0",
		  "kv_buffer.size=64 MiB" },
		{ "sram.pin=64 KiB", "sram.pin=64 KiB", "sram.pin=0", "sram.pin=64 KiB", "sram.pin=0" },
	};
	enum { AXES = sizeof sizes / sizeof *sizes };
	const int rounds = test_rounds(2, 2, 6);
	struct rng r;

	rng_seed(&r, test_seed(), "before");
	for (size_t i = 0; i < sizeof prompts / sizeof *prompts; i++) {
		const struct build_how how = { .phase = BUILD_PREFILL,
			                       .style = BUILD_NPU,
			                       .batch = 1,
			                       .layers = prompts[i].layers,
			                       .tokens = prompts[i].tokens + rng_below(&r, prompts[i].most) };
		struct run_opts alone = { .start = RUN_STEADY, .seed = 7, .fidelity = RUN_ANALYTIC }, among = alone;
		struct err e = ERR_INIT;
		struct runbed b;

		if (!test_turn(i, 2))
			continue;
		runbed_model(&b, prompts[i].model, &how);
		among.memo = run_memo_new(&e);
		CHECK_OK(among.memo ? 0 : -1, e);
		for (int k = 0; k < rounds; k++) {
			const char *sets[AXES];
			struct run_result x, y;

			for (int n = 0; n < AXES; n++)
				sets[n] = sizes[n][rng_below(&r, 5)];
			CHECK(runbed_run(&b, "configs/npu/dsocr.yaml", sets, AXES, &among, &x));
			CHECK(runbed_run(&b, "configs/npu/dsocr.yaml", sets, AXES, &alone, &y));
			if (x.total_ps != y.total_ps || x.dram_read_bytes != y.dram_read_bytes)
				test_fail(__FILE__, __LINE__, "%s: %llu ps among others, %llu alone: %s %s %s",
				          prompts[i].model, (unsigned long long)x.total_ps,
				          (unsigned long long)y.total_ps, sets[0], sets[1], sets[2]);
		}
		run_memo_free(among.memo);
		runbed_down(&b);
	}
}

/* A machine made of a base that others were made of before is the one that its text and assignments give. */
TEST(a_base_makes_the_machines_that_the_text_makes)
{
	static const char *const kinds[] = { "hbm3-6400", "hbm2-2000", "fixed", "no-such", "hbm3-6400", NULL, NULL };
	struct err e = ERR_INIT;
	struct machine_base *b = machine_base_new(base_text, strlen(base_text), "none.yaml", &e);

	CHECK_OK(b ? 0 : -1, e);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct err why[2] = { ERR_INIT, ERR_INIT };
		char kind[64], ways[32];
		const char *const sets[] = { kind, ways };
		struct machine_conf *x, *y;

		snprintf(kind, sizeof kind, "%s%s",
		         kinds[i] ? "dram.kind=" : "dram.channels=", kinds[i] ? kinds[i] : "4");
		snprintf(ways, sizeof ways, "l2.ways=%zu", i % 2 ? (size_t)16 : (size_t)8);
		x = machine_base_conf(b, sets, 2, &why[0]);
		y = machine_conf_parse(base_text, strlen(base_text), "none.yaml", sets, 2, &why[1]);
		CHECK(!x == !y);
		CHECK_STR(why[0].msg, why[1].msg);
		if (x) {
			CHECK_U64(cfg_hash(x->raw), cfg_hash(y->raw));
			CHECK(memcmp(&x->cfg, &y->cfg, sizeof x->cfg) == 0);
			for (size_t k = 0; k < cfg_count(x->raw); k++) {
				CHECK_STR(cfg_at(x->raw, k).source, cfg_at(y->raw, k).source);
				CHECK(cfg_at(x->raw, k).given == cfg_at(y->raw, k).given);
			}
		}
		machine_conf_free(x);
		machine_conf_free(y);
	}
	machine_base_free(b);
}

/* The assignments a base is read with come before those of each machine, a kind of DRAM among them. */
TEST(a_base_of_a_file_has_its_own_assignments_first)
{
	static const char *const own[] = { "cores=8", "dram.kind=hbm2-2000", "l2.ways=8" };
	static const char *const all[] = { "cores=8", "dram.kind=hbm2-2000", "l2.ways=8", "l2.ways=16",
		                           "dram.channels=4" };
	static const char *const kind[] = { "kind=gpu" };
	struct err e = ERR_INIT, why = ERR_INIT;
	struct machine_base *b = machine_base_load("dsocr", own, 3, &e);
	struct machine_conf *x, *y;

	CHECK_OK(b ? 0 : -1, e);
	for (int more = 0; more <= 2; more += 2) {
		x = machine_base_conf(b, all + 3, more, &e);
		y = machine_conf_load("dsocr", all, 3 + more, &e);
		CHECK_OK(x && y ? 0 : -1, e);
		CHECK_U64(cfg_hash(x->raw), cfg_hash(y->raw));
		CHECK(memcmp(&x->cfg, &y->cfg, sizeof x->cfg) == 0);
		machine_conf_free(x);
		machine_conf_free(y);
	}
	machine_base_free(b);
	CHECK(!machine_base_load("dsocr", kind, 1, &why));
	CHECK(why.kind == ERR_CONFIG);
}

/* --- failures ---------------------------------------------------------------------------------------------- */

TEST(points_that_cannot_be_built_are_rows_with_their_reason)
{
	struct err e = ERR_INIT;
	struct arena *a = arena_new(0);
	struct res_sweep *all;
	struct res_point *p;
	struct resdb *db;
	char path[512];
	struct bed b;
	size_t n, failed = 0;

	up(&b, text);
	must_sweep(&b, test_path(path, sizeof path, "r.db"));
	db = res_open(path, DB_READ, &e);
	CHECK_OK(res_list_sweeps(db, a, &all, &n, &e), e);
	CHECK_OK(res_get_points(db, &all[0], a, &p, &n, &e), e);
	CHECK_U64(n, POINTS);
	for (size_t i = 0; i < n; i++) {
		failed += p[i].failed;
		CHECK(p[i].failed == (b.s->refused[i] != NULL));
		if (p[i].failed)
			CHECK_HAS(p[i].reason, "whole number of sets");
		else
			CHECK(p[i].total_ps > 0 && p[i].n_stats > 20 && p[i].n_kinds > 3);
	}
	CHECK_U64(failed, b.s->n_refused);
	CHECK(failed > 0);
	res_free(db);
	arena_free(a);
	down(&b);
}

/* Every worker crashes over every point, both times: rows all the same, and the next run tries again. */
TEST(workers_that_die_over_every_point_leave_a_row_each)
{
	const struct op_stream *stream;
	struct str want = STR_INIT;
	struct sweep_done d;
	struct err e = ERR_INIT;
	char one[512], path[512];
	struct bed b;

	up(&b, text);
	must_sweep(&b, test_path(one, sizeof one, "one.db"));
	dump(one, 0, &want);
	stream = b.job.stream;
	b.job.stream = NULL;
	b.job.jobs = 2;
	CHECK_OK(sweep_into(&b, test_path(path, sizeof path, "dead.db"), &d, &e), e);
	CHECK_U64(stored(path), POINTS);
	b.job.stream = stream;
	CHECK_OK(sweep_into(&b, path, &d, &e), e);
	CHECK_U64(d.ran, POINTS - b.s->n_refused);
	CHECK_OK(sweep_into(&b, path, &d, &e), e);
	CHECK_U64(d.ran, 0);
	must_equal(path, &want);
	str_free(&want);
	down(&b);
}

TEST(two_sweeps_into_one_file_wait_for_each_other)
{
	char path[512];
	struct bed b[2];
	pid_t pid[2];
	int status;

	up(&b[0], text);
	up(&b[1], other);
	test_path(path, sizeof path, "both.db");
	for (int i = 0; i < 2; i++) {
		CHECK((pid[i] = fork()) >= 0);
		if (pid[i] == 0) {
			struct sweep_done d;
			struct err e = ERR_INIT;
			int rc = sweep_into(&b[i], path, &d, &e);

			if (rc < 0)
				fprintf(stderr, "%s\n", e.msg);
			_exit(rc == 0 ? 0 : 1);
		}
	}
	for (int i = 0; i < 2; i++) {
		CHECK(waitpid(pid[i], &status, 0) == pid[i]);
		CHECK_U64(status, 0);
	}
	for (size_t i = 0; i < 2; i++) {
		struct str all = STR_INIT;

		dump(path, i, &all); /* which has all points, or fails */
		str_free(&all);
		down(&b[i]);
	}
}

TEST(shards_of_different_builds_mix_only_when_told)
{
	static const char *const builds[] = { "a release", "b release" };
	const struct res_value v = { "8", true, 8 };
	const struct res_axis axis = { "cores", "" };
	struct res_workload w = { .source = "synth", .digest = "5", .wall_ns = -1 };
	struct res_sweep s = { .name = "s",
		               .text = "",
		               .base_path = "",
		               .base_text = "",
		               .start = "cold",
		               .fidelity = "event",
		               .n_points = 2,
		               .n_axes = 1,
		               .axes = &axis };
	struct res_merged m = { 0, 0, 0, 0, 0 };
	struct resdb *db[2], *into;
	struct err e = ERR_INIT;
	char path[512];

	into = res_open(test_path(path, sizeof path, "all.db"), DB_WRITE, &e);
	for (int i = 0; i < 2; i++) {
		struct res_point p = {
			.point = (uint64_t)i, .build = builds[i], .values = &v, .roofline_bound = "dram", .total_ps = 7
		};

		db[i] = res_open(test_path(path, sizeof path, "%d.db", i), DB_WRITE, &e);
		CHECK_OK(res_put_sweep(db[i], &w, &s, builds[i], false, &s.id, &e), e);
		CHECK_OK(res_put_points(db[i], s.id, &p, 1, 1, &e), e);
	}
	CHECK_OK(res_merge(into, db[0], false, &m, &e), e);
	CHECK(res_merge(into, db[1], false, &m, &e) < 0);
	CHECK_HAS(e.msg, "--mixed-builds");
	err_clear(&e);
	CHECK(res_put_sweep(into, &w, &s, builds[1], false, &s.id, &e) < 0);
	CHECK_HAS(e.msg, "from another build (a release; this is b release)");
	err_clear(&e);
	CHECK_OK(res_merge(into, db[1], true, &m, &e), e);
	CHECK_U64(m.points_new, 2);
	/* the same point with another result */
	s.id = 0;
	CHECK_OK(res_put_sweep(db[1], &w, &s, builds[1], false, &s.id, &e), e);
	CHECK_OK(
		res_put_points(
			db[1], s.id,
			&(struct res_point){
				.point = 0, .build = builds[1], .values = &v, .roofline_bound = "dram", .total_ps = 8 },
			1, 1, &e),
		e);
	CHECK(res_merge(into, db[1], true, &m, &e) < 0);
	CHECK_HAS(e.msg, "say different things of point 0");
	for (int i = 0; i < 2; i++)
		res_free(db[i]);
	res_free(into);
}

SUITE(p_sweep, SLOW(rows_do_not_depend_on_workers),
      SLOW(four_shards_merged_are_the_whole_and_merging_again_changes_nothing),
      SLOW(a_sweep_killed_at_ten_moments_goes_on_and_ends_the_same),
      SLOW(a_point_whose_worker_dies_is_tried_once_more_and_again_by_the_next_run),
      SLOW(a_sweep_killed_from_outside_goes_on_and_ends_the_same),
      SLOW(a_search_does_not_depend_on_workers_and_meets_no_point_twice),
      SLOW(a_search_killed_at_ten_moments_goes_on_and_ends_the_same),
      T(a_search_with_points_to_spare_ends_with_all_there_are),
      SLOW(a_program_is_taken_again_only_where_nothing_in_it_changes),
      SLOW(a_machine_gives_what_it_gives_alone_whatever_was_mapped_before),
      T(a_base_makes_the_machines_that_the_text_makes), T(a_base_of_a_file_has_its_own_assignments_first),
      SLOW(points_that_cannot_be_built_are_rows_with_their_reason),
      SLOW(workers_that_die_over_every_point_leave_a_row_each), SLOW(two_sweeps_into_one_file_wait_for_each_other),
      T(shards_of_different_builds_mix_only_when_told));
