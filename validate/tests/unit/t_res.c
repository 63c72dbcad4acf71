/* t_res.c - the results database: what goes in comes out, a run is stored once, and nothing is left half written. */
#define _POSIX_C_SOURCE 200809L
#include "results/db/res.h"
#include "results/db/res_sweep.h"
#include "sim/base/db.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "validate/tests/test.h"

enum { N_OPS = 3 };

static const struct res_work_op work_ops[N_OPS] = {
	{ "gemv 1x8x4", "gemm", "gemv", "nvjet", 0, 2, 17, 5264, 80, 8, 64 },
	{ "silu 4", "elementwise", "elementwise", "silu", 1, 1, 19, 1699, 8, 8, 12 },
	{ "who", "opaque", "unknown", "", -1, 1, -1, 900, 0, 0, 0 },
};
static const struct res_stall stalls[] = { { "dram", 750000 }, { "gemv", 250000 }, { "vector", 1000000 } };
static const struct res_op ops[N_OPS] = {
	{ .known = OP_KNOWN_RUN | OP_KNOWN_USE | OP_KNOWN_POWER,
	  .span_ps = 4000000,
	  .limit_ps = 3500000,
	  .dram_bytes = 80,
	  .mem_bytes = 88,
	  .flops = 64,
	  .macs_ps = 12,
	  .pins_ps = 3400000,
	  .energy_fj = 77000,
	  .bound = "dram",
	  .n_stalls = 2,
	  .stalls = stalls },
	{ .known = OP_KNOWN_RUN,
	  .span_ps = 1000,
	  .start_ps = 4000000,
	  .limit_ps = 900,
	  .mem_bytes = 16,
	  .flops = 12,
	  .bound = "vector",
	  .n_stalls = 1,
	  .stalls = stalls + 2 },
	{ .carried = true },
};
static const struct res_resource resources[] = { { "dram", 3000000, 3600000 }, { "vector", 1001000, 900 } };
static const struct res_warning warnings[] = { { "dma", "the DMA carries 1 GB/s, DRAM 2" },
	                                       { "l2", "and the L2, too" } };
static const struct res_energy energy[] = { { "chip", "leakage", 50000 }, { "dram", "dram_read", 27000 } };
static const struct res_next next[] = {
	{ "amount", "dram.channels", "48", "96", 0.5, -0.25, 0.75, 55, NAN, "a die of 900 mm2" },
	{ "choice", NULL, NULL, NULL, NAN, NAN, NAN, NAN, NAN, NULL },
};
static const struct res_stat stats[] = { { "dram.read_bytes", "bytes", 80, false },
	                                 { "l2.dirty_bytes", "bytes", 8, true } };

static struct res_workload workload(void)
{
	return (struct res_workload){ "trace.json decode_step_1",
		                      "54dd5dc5",
		                      "decode_step_1",
		                      UINT64_C(0xfedcba9876543210),
		                      6963,
		                      7863,
		                      900,
		                      11340000,
		                      N_OPS,
		                      work_ops };
}

static struct res_run run(void)
{
	return (struct res_run){ .config_name = "small",
		                 .config_path = "configs/small.yaml",
		                 .config_text = "name: small\nl2:\n  size: 4 MiB\n",
		                 .build = "abc release",
		                 .start = "steady",
		                 .fidelity = "event",
		                 .config_hash = UINT64_C(0xdeadbeefcafef00d),
		                 .seed = 7,
		                 .reuse_ppm = 93750,
		                 .host_ns = 5000000,
		                 .total_ps = 4001000,
		                 .roofline_ps = 3600000,
		                 .carried_ps = 900000,
		                 .roofline_bound = "dram",
		                 .cycles = 5602,
		                 .flops = 76,
		                 .events = 99,
		                 .dram_read_bytes = 80,
		                 .dram_write_bytes = 8,
		                 .dirty_bytes = 16,
		                 .compulsory_bytes = 72,
		                 .n_ops = N_OPS,
		                 .n_resources = 2,
		                 .n_stats = 2,
		                 .warnings = warnings,
		                 .n_warnings = 2,
		                 .energy = energy,
		                 .n_energy = 2,
		                 .next = next,
		                 .n_next = 2,
		                 .asked = "model=small\nbatch=4\n",
		                 .given = "name: small\n",
		                 .ops = ops,
		                 .resources = resources,
		                 .stats = stats };
}

static struct resdb *open_db(const char *path, enum db_mode mode)
{
	struct err e = ERR_INIT;
	struct resdb *r = res_open(path, mode, &e);

	CHECK_STR(e.msg, "");
	CHECK(r != NULL);
	return r;
}

static int64_t put(struct resdb *db, const struct res_workload *w, const struct res_run *r, bool want_again)
{
	struct err e = ERR_INIT;
	bool again = !want_again;
	int64_t id = 0;

	CHECK_OK(res_put_run(db, w, r, &id, &again, &e), e);
	CHECK(again == want_again);
	return id;
}

static struct res_stored get(struct resdb *db, int64_t id, struct arena *a)
{
	struct err e = ERR_INIT;
	struct res_stored s;

	CHECK_OK(res_get(db, id, a, &s, &e), e);
	return s;
}

static bool exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

TEST(what_is_stored_reads_back)
{
	struct res_workload w = workload();
	struct res_run r = run();
	struct arena *a = arena_new(0);
	struct res_stored s;
	struct resdb *db;
	char path[512];
	int64_t id;

	test_path(path, sizeof path, "r.db");
	db = open_db(path, DB_WRITE);
	id = put(db, &w, &r, false);
	res_free(db);
	db = open_db(path, DB_READ);
	s = get(db, id, a);
	CHECK_STR(s.run.config_text, r.config_text);
	CHECK_STR(s.run.config_name, "small");
	CHECK_STR(s.run.config_path, r.config_path);
	CHECK_STR(s.run.build, "abc release");
	CHECK_STR(s.run.start, "steady");
	CHECK_STR(s.run.fidelity, "event");
	CHECK_STR(s.run.roofline_bound, "dram");
	CHECK_U64(s.run.config_hash, r.config_hash);
	CHECK_U64(s.run.seed, 7);
	CHECK_U64(s.run.reuse_ppm, 93750);
	CHECK_U64(s.run.host_ns, 5000000);
	CHECK_U64(s.run.total_ps, 4001000);
	CHECK_U64(s.run.roofline_ps, 3600000);
	CHECK_U64(s.run.carried_ps, 900000);
	CHECK_U64(s.run.cycles, 5602);
	CHECK_U64(s.run.flops, 76);
	CHECK_U64(s.run.events, 99);
	CHECK_U64(s.run.dram_read_bytes, 80);
	CHECK_U64(s.run.dram_write_bytes, 8);
	CHECK_U64(s.run.dirty_bytes, 16);
	CHECK_U64(s.run.compulsory_bytes, 72);
	CHECK_STR(s.workload.source, w.source);
	CHECK_STR(s.workload.digest, w.digest);
	CHECK_STR(s.workload.range, w.range);
	CHECK_U64(s.workload.rules_hash, w.rules_hash);
	CHECK_U64(s.workload.kernel_ns, 6963);
	CHECK_U64(s.workload.measured_ns, 7863);
	CHECK_U64(s.workload.opaque_ns, 900);
	CHECK_U64(s.workload.wall_ns, 11340000);
	CHECK_U64(s.workload.n_ops, N_OPS);
	CHECK_U64(s.run.n_ops, N_OPS);
	for (int i = 0; i < N_OPS; i++) {
		CHECK_STR(s.workload.ops[i].name, work_ops[i].name);
		CHECK_STR(s.workload.ops[i].kind, work_ops[i].kind);
		CHECK_STR(s.workload.ops[i].family, work_ops[i].family);
		CHECK_STR(s.workload.ops[i].rule, work_ops[i].rule);
		CHECK(s.workload.ops[i].layer == work_ops[i].layer);
		CHECK(s.workload.ops[i].launch == work_ops[i].launch);
		CHECK_U64(s.workload.ops[i].n_launches, work_ops[i].n_launches);
		CHECK_U64(s.workload.ops[i].measured_ns, work_ops[i].measured_ns);
		CHECK_U64(s.workload.ops[i].read_bytes, work_ops[i].read_bytes);
		CHECK_U64(s.workload.ops[i].write_bytes, work_ops[i].write_bytes);
		CHECK_U64(s.workload.ops[i].flops, work_ops[i].flops);
		CHECK(s.run.ops[i].carried == ops[i].carried);
		CHECK_U64(s.run.ops[i].span_ps, ops[i].span_ps);
		CHECK_U64(s.run.ops[i].start_ps, ops[i].start_ps);
		CHECK_U64(s.run.ops[i].limit_ps, ops[i].limit_ps);
		CHECK_U64(s.run.ops[i].dram_bytes, ops[i].dram_bytes);
		CHECK_U64(s.run.ops[i].mem_bytes, ops[i].mem_bytes);
		CHECK_U64(s.run.ops[i].n_stalls, ops[i].n_stalls);
		CHECK_U64(s.run.ops[i].known, ops[i].known);
		CHECK_U64(s.run.ops[i].macs_ps, ops[i].macs_ps);
		CHECK_U64(s.run.ops[i].pins_ps, ops[i].pins_ps);
	}
	CHECK_U64(s.run.n_warnings, 2);
	CHECK_STR(s.run.warnings[0].what, "dma");
	CHECK_STR(s.run.warnings[1].text, "and the L2, too");
	CHECK_U64(s.run.n_next, 2);
	CHECK_STR(s.run.next[0].kind, "amount");
	CHECK_STR(s.run.next[0].then, "96");
	CHECK(s.run.next[0].low == -0.25 && s.run.next[0].mm2 == 55 && isnan(s.run.next[0].watts));
	CHECK_STR(s.run.next[0].beyond, "a die of 900 mm2");
	CHECK(s.run.next[1].key == NULL && isnan(s.run.next[1].saves));
	CHECK_STR(s.run.asked, "model=small\nbatch=4\n");
	CHECK_STR(s.run.given, "name: small\n");
	CHECK_U64(s.run.n_energy, 2);
	CHECK_STR(s.run.energy[1].block, "dram");
	CHECK_STR(s.run.energy[1].name, "dram_read");
	CHECK_U64(s.run.energy[0].fj, 50000);
	CHECK_U64(s.run.ops[0].energy_fj, 77000);
	CHECK_U64(s.run.ops[1].energy_fj, 0);
	CHECK_STR(s.run.ops[0].bound, "dram");
	CHECK(s.run.ops[2].bound == NULL);
	CHECK_STR(s.run.ops[0].stalls[1].resource, "gemv");
	CHECK_U64(s.run.ops[0].stalls[1].ppm, 250000);
	CHECK_STR(s.run.ops[1].stalls[0].resource, "vector");
	CHECK_U64(s.run.n_resources, 2);
	CHECK_STR(s.run.resources[1].name, "vector");
	CHECK_U64(s.run.resources[0].peak_ps, 3600000);
	CHECK_U64(s.run.n_stats, 2);
	CHECK_STR(s.run.stats[1].name, "l2.dirty_bytes");
	CHECK(s.run.stats[1].level);
	res_free(db);
	arena_free(a);
}

TEST(the_same_run_is_stored_once_and_anything_else_anew)
{
	struct res_op changed[N_OPS];
	struct res_workload w = workload();
	struct res_run r = run();
	struct resdb *db;
	char path[512];

	test_path(path, sizeof path, "r.db");
	db = open_db(path, DB_WRITE);
	CHECK_U64(put(db, &w, &r, false), 1);
	r.host_ns = 1; /* how long it took is no part of it */
	CHECK_U64(put(db, &w, &r, true), 1);
	r.seed = 8;
	CHECK_U64(put(db, &w, &r, false), 2);
	r.build = "def release";
	CHECK_U64(put(db, &w, &r, false), 3);
	memcpy(changed, ops, sizeof ops);
	changed[1].dram_bytes++; /* the same question, another answer: a build that does not know its commit */
	r.ops = changed;
	CHECK_U64(put(db, &w, &r, false), 4);
	CHECK_U64(put(db, &w, &r, true), 4);
	res_free(db);
}

TEST(what_to_change_next_is_added_to_a_run_that_is_there_and_never_changed)
{
	struct res_workload w = workload();
	struct res_run r = run();
	struct arena *a = arena_new(0);
	char path[400];
	struct resdb *db = open_db(test_path(path, sizeof path, "late.db"), DB_WRITE);

	r.n_next = 0;
	r.asked = NULL;
	put(db, &w, &r, false);
	CHECK_U64(get(db, 1, a).run.n_next, 0);
	r = run();
	put(db, &w, &r, true);
	CHECK_U64(get(db, 1, a).run.n_next, 2);
	CHECK_STR(get(db, 1, a).run.asked, "model=small\nbatch=4\n");
	r.next = next + 1;
	r.n_next = 1;
	put(db, &w, &r, true);
	CHECK_STR(get(db, 1, a).run.next[0].kind, "amount");
	arena_free(a);
	res_free(db);
}

TEST(runs_over_one_op_stream_share_it)
{
	struct res_work_op changed[N_OPS];
	struct res_workload w = workload();
	struct res_run r = run();
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;
	struct res_stored *all;
	struct resdb *db;
	char path[512];
	size_t n;

	test_path(path, sizeof path, "r.db");
	db = open_db(path, DB_WRITE);
	put(db, &w, &r, false);
	r.seed = 2;
	put(db, &w, &r, false);
	memcpy(changed, work_ops, sizeof changed);
	changed[0].family = "gemm";
	w.ops = changed;
	put(db, &w, &r, false);
	w.range = NULL;
	w.wall_ns = -1;
	put(db, &w, &r, false);
	CHECK_OK(res_list(db, a, &all, &n, &e), e);
	CHECK_U64(n, 4);
	CHECK(all[0].workload_id == all[1].workload_id);
	CHECK(all[1].workload_id != all[2].workload_id);
	CHECK(all[2].workload_id != all[3].workload_id);
	CHECK(all[3].workload.range == NULL);
	CHECK(all[3].workload.wall_ns == -1);
	CHECK_U64(all[1].run.seed, 2);
	CHECK_STR(get(db, 3, a).workload.ops[0].family, "gemm");
	res_free(db);
	arena_free(a);
}

static void check_limits(const struct res_stored *s, const struct res_limits *want)
{
	const struct res_limits *l = &s->run.limits;

	CHECK_U64(l->n, want->n);
	CHECK_U64(l->per_ppm, want->per_ppm);
	for (size_t i = 0; i < want->n; i++) {
		const char *by = l->rows[i].fidelity, *want_by = want->rows[i].fidelity;

		CHECK_STR(l->rows[i].key, want->rows[i].key);
		CHECK_STR(l->rows[i].now, want->rows[i].now);
		CHECK_STR(l->rows[i].then, want->rows[i].then);
		CHECK_STR(l->rows[i].move, want->rows[i].move);
		CHECK(l->rows[i].step == want->rows[i].step);
		CHECK_U64(l->rows[i].total_ps, want->rows[i].total_ps);
		CHECK_U64(l->rows[i].base_ps, want->rows[i].base_ps);
		CHECK(!by == !want_by);
		CHECK_STR(by ? by : "", want_by ? want_by : "");
		CHECK(l->rows[i].within == want->rows[i].within);
		CHECK((l->rows[i].refused != NULL) == (want->rows[i].refused != NULL));
	}
}

TEST(limits_stay_with_their_run_and_go_with_it_into_another_file)
{
	static const struct res_limit rows[] = {
		{ "dram.channels", "48", "53", "more", 0.104, 3900000, 4100000, "analytic", false, NULL },
		{ "clock", "1 GHz", "2 GHz", "more", 1, 3950000, 4000000, "event", true, NULL },
		{ "l2.size", "4 MiB", "5 MiB", "more", 0.25, 0, 4100000, "analytic", false, "no whole number of sets" },
		{ "a + b", "1 + 2", "2 + 4", "pair", 0, 3000000, 0, NULL, false, NULL },
	};
	const struct res_limits first = { 100000, 4, rows }, second = { 500000, 1, rows + 3 }, none = { 0, 0, NULL };
	struct res_merged m = { 0, 0, 0, 0, 0 };
	struct res_workload w = workload();
	struct res_run r = run();
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;
	struct resdb *db, *all;
	struct res_stored s;
	char path[512];

	db = open_db(test_path(path, sizeof path, "r.db"), DB_WRITE);
	put(db, &w, &r, false);
	s = get(db, 1, a);
	check_limits(&s, &none);
	CHECK_OK(res_put_limits(db, 1, &first, &e), e);
	s = get(db, 1, a);
	check_limits(&s, &first);
	put(db, &w, &r, true); /* the same run still */
	all = open_db(test_path(path, sizeof path, "all.db"), DB_WRITE);
	CHECK_OK(res_merge(all, db, false, &m, &e), e);
	s = get(all, 1, a);
	check_limits(&s, &first);
	CHECK_OK(res_put_limits(db, 1, &second, &e), e); /* asked anew: nothing of before stays */
	s = get(db, 1, a);
	check_limits(&s, &second);
	CHECK(res_put_limits(db, 2, &first, &e) == -1); /* there is no such run */
	res_free(all);
	res_free(db);
	arena_free(a);
}

TEST(an_unknown_run_says_which_there_are)
{
	struct res_workload w = workload();
	struct res_run r = run();
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;
	struct res_stored s;
	struct resdb *db;

	db = open_db(":memory:", DB_WRITE);
	CHECK(res_get(db, 1, a, &s, &e) == -1);
	CHECK_HAS(e.msg, "it holds none");
	put(db, &w, &r, false);
	err_clear(&e);
	CHECK(res_get(db, 5, a, &s, &e) == -1);
	CHECK(e.kind == ERR_IO);
	CHECK_HAS(e.msg, "no run 5 in");
	CHECK_HAS(e.msg, "numbered 1 to 1");
	res_free(db);
	arena_free(a);
}

TEST(a_file_made_for_nothing_is_removed_and_one_with_a_run_stays)
{
	struct res_workload w = workload();
	struct res_run r = run();
	struct resdb *db;
	char path[512];

	test_path(path, sizeof path, "r.db");
	db = open_db(path, DB_WRITE);
	CHECK(exists(path));
	res_free(db);
	CHECK(!exists(path));
	db = open_db(path, DB_WRITE);
	put(db, &w, &r, false);
	res_free(db);
	CHECK(exists(path));
	db = open_db(path, DB_WRITE); /* not made by this handle */
	res_free(db);
	CHECK(exists(path));
}

TEST(a_refused_run_leaves_nothing_behind)
{
	struct res_workload w = workload();
	struct res_run r = run();
	struct res_stall twice[2] = { { "dram", 500000 }, { "dram", 500000 } };
	struct res_op bad[N_OPS];
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;
	struct res_stored *all;
	struct resdb *db;
	bool again;
	int64_t id;
	size_t n;

	db = open_db(":memory:", DB_WRITE);
	memcpy(bad, ops, sizeof bad);
	bad[1].stalls = twice;
	bad[1].n_stalls = 2;
	r.ops = bad;
	CHECK(res_put_run(db, &w, &r, &id, &again, &e) == -1); /* a resource twice: the last of many rows fails */
	CHECK(e.kind == ERR_IO);
	err_clear(&e);
	CHECK_OK(res_list(db, a, &all, &n, &e), e);
	CHECK_U64(n, 0);
	r.ops = ops;
	CHECK_U64(put(db, &w, &r, false), 1);
	r.n_ops = 2;
	CHECK(res_put_run(db, &w, &r, &id, &again, &e) == -1);
	CHECK_HAS(e.msg, "2 ops");
	res_free(db);
	arena_free(a);
}

static void refused(const char *path, enum db_mode mode, const char *part)
{
	struct err e = ERR_INIT;

	CHECK(res_open(path, mode, &e) == NULL);
	CHECK(e.kind == ERR_IO);
	CHECK_U64(err_exit_code(&e), 4);
	CHECK_HAS(e.msg, part);
}

TEST(what_is_no_results_database_is_refused_and_left_alone)
{
	char path[512], text[64] = "";
	FILE *f;

	test_path(path, sizeof path, "notes.txt");
	CHECK((f = fopen(path, "w")) != NULL);
	fputs("these are my notes and no database at all, not even a small one\n", f);
	fclose(f);
	refused(path, DB_WRITE, "not a database");
	CHECK((f = fopen(path, "r")) != NULL);
	CHECK(fgets(text, sizeof text, f) != NULL);
	fclose(f);
	CHECK_HAS(text, "these are my notes");
	refused(test_tmp(), DB_WRITE, "is a directory");
	refused(test_path(path, sizeof path, "absent.db"), DB_READ, "no such file");
	refused(test_path(path, sizeof path, "no/such/folder/r.db"), DB_WRITE, "cannot open");
}

TEST(a_trace_database_is_not_taken_for_results)
{
	static const char *const other[] = { "create table t(x)" };
	struct err e = ERR_INIT;
	struct db *d;
	char path[512];

	test_path(path, sizeof path, "t.db");
	CHECK((d = db_open(path, DB_WRITE, 0x6e747263u, other, 1, &e)) != NULL);
	CHECK_OK(db_begin(d, &e), e);
	CHECK_OK(db_commit(d, &e), e);
	db_free(d);
	refused(path, DB_WRITE, "another kind of database");
	refused(path, DB_READ, "another kind of database");
}

TEST(rows_that_do_not_fit_together_are_an_error_and_no_crash)
{
	static const char *const damage[] = {
		"delete from op_result where op = 1",
		"update op_stall set op = 0 where op = 1; update workload set ops = 2",
		"delete from op_stream where op = 2",
		"update workload set ops = 1000000000000",
	};
	struct res_workload w = workload();
	struct res_run r = run();

	for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
		struct arena *a = arena_new(64 << 20);
		struct err e = ERR_INIT;
		struct res_stored s;
		struct resdb *db;
		struct db *d;
		char path[512];

		test_path(path, sizeof path, "r%d.db", (int)i);
		db = open_db(path, DB_WRITE);
		put(db, &w, &r, false);
		res_free(db);
		CHECK((d = db_open(path, DB_WRITE, RES_APP_ID, NULL, RES_SCHEMA, &e)) != NULL);
		CHECK_OK(db_exec(d, "pragma foreign_keys = off", &e), e);
		CHECK_OK(db_exec(d, damage[i], &e), e);
		db_free(d);
		db = open_db(path, DB_READ);
		CHECK(res_get(db, 1, a, &s, &e) == -1);
		CHECK(e.kind == ERR_IO || e.kind == ERR_NOMEM);
		res_free(db);
		arena_free(a);
	}
}

SUITE(t_res, T(what_is_stored_reads_back), T(the_same_run_is_stored_once_and_anything_else_anew),
      T(what_to_change_next_is_added_to_a_run_that_is_there_and_never_changed), T(runs_over_one_op_stream_share_it),
      T(limits_stay_with_their_run_and_go_with_it_into_another_file), T(an_unknown_run_says_which_there_are),
      T(a_file_made_for_nothing_is_removed_and_one_with_a_run_stays), T(a_refused_run_leaves_nothing_behind),
      T(what_is_no_results_database_is_refused_and_left_alone), T(a_trace_database_is_not_taken_for_results),
      T(rows_that_do_not_fit_together_are_an_error_and_no_crash));
