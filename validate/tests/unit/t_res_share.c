/* t_res_share.c - one process stores a sweep while others read the file: they see all of a state or nothing, and when the
 * writer has ended well the file by itself has every point. */
#define _POSIX_C_SOURCE 200809L /* fork, kill */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "results/db/res_sweep.h"
#include "validate/tests/test.h"

enum { READERS = 2, PIECES = 8, PIECE = 16, POINTS = PIECES * PIECE };

/* Stores a sweep piece by piece; its exit code. */
static int write_sweep(const char *path)
{
	static const struct res_work_op op = { .name = "gemv", .kind = "gemm", .family = "gemv", .rule = "r" };
	static const struct res_value value = { "4 MiB", true, 4194304 };
	const struct res_axis axis = { "l2.size", "bytes" };
	const struct res_workload w = { .source = "t.json", .digest = "d", .wall_ns = -1, .n_ops = 1, .ops = &op };
	const struct res_sweep s = { .name = "s.yaml",
		                     .text = "",
		                     .base_path = "b",
		                     .base_text = "",
		                     .start = "steady",
		                     .fidelity = "event",
		                     .n_points = POINTS,
		                     .n_axes = 1,
		                     .axes = &axis };
	const struct timespec pause = { 0, 500000 };
	struct err e = ERR_INIT;
	struct resdb *db = res_open(path, DB_WRITE, &e);
	int64_t id;
	int rc = db ? res_put_sweep(db, &w, &s, "b", false, &id, &e) : -1;

	for (int i = 0; rc == 0 && i < PIECES; i++) {
		struct res_point p[PIECE];

		for (int k = 0; k < PIECE; k++)
			p[k] = (struct res_point){ .point = (uint64_t)(i * PIECE + k),
				                   .build = "b",
				                   .values = &value,
				                   .roofline_bound = "dram",
				                   .total_ps = 1000 };
		rc = res_put_points(db, id, p, PIECE, 1, &e);
		nanosleep(&pause, NULL);
	}
	rc = res_close(db, rc, &e);
	if (rc < 0)
		fprintf(stderr, "writer: %s\n", e.msg);
	return rc < 0;
}

/* How many points there are; -1: the file cannot be read. */
static int64_t points_of(const char *path, struct err *e)
{
	struct arena *a = arena_new(0);
	struct resdb *db = res_open(path, DB_READ, e);
	struct res_sweep *s = NULL;
	struct res_point *p;
	int64_t points = -1;
	size_t n = 0;

	if (db && res_list_sweeps(db, a, &s, &n, e) == 0 && n == 1 && res_get_points(db, s, a, &p, &n, e) == 0)
		points = (int64_t)n;
	res_free(db);
	arena_free(a);
	return points;
}

/* No fault: it has nothing yet, or was read as a file that does not change while the writer came. */
static bool may_be(const struct err *e)
{
	return strstr(e->msg, "no such file") || strstr(e->msg, "the database is empty") ||
	       strstr(e->msg, "was written to while it was read");
}

/* Until it is ended: in pieces of a transaction each, never fewer than before. */
static void read_on(const char *path)
{
	int64_t before = 0;

	for (;;) {
		struct err e = ERR_INIT;
		const int64_t n = points_of(path, &e);

		if (n < 0 ? !may_be(&e) : n < before || n % PIECE) {
			fprintf(stderr, "reader: %lld points after %lld: %s\n", (long long)n, (long long)before, e.msg);
			_exit(1);
		}
		before = n < 0 ? before : n;
	}
}

static void copy(const char *path, const char *to)
{
	char buf[65536];
	FILE *in = fopen(path, "rb"), *out = fopen(to, "wb");
	size_t n;

	CHECK(in && out);
	while ((n = fread(buf, 1, sizeof buf, in)) > 0)
		CHECK(fwrite(buf, 1, n, out) == n);
	CHECK(fclose(in) == 0 && fclose(out) == 0);
}

TEST(a_sweep_that_ended_well_is_whole_in_its_file_while_others_read_it)
{
	for (int i = 0; i < test_rounds(2, 6, 20); i++) {
		char path[400], alone[400];
		struct err e = ERR_INIT;
		pid_t readers[READERS], writer;
		int status;

		test_path(path, sizeof path, "r%d.db", i);
		for (int k = 0; k < READERS; k++)
			if ((readers[k] = fork()) == 0)
				read_on(path);
		if ((writer = fork()) == 0)
			_exit(write_sweep(path));
		CHECK(waitpid(writer, &status, 0) == writer && status == 0);
		copy(path, test_path(alone, sizeof alone, "c%d.db", i));
		CHECK_U64(points_of(alone, &e), POINTS);
		for (int k = 0; k < READERS; k++) {
			kill(readers[k], SIGKILL);
			CHECK(waitpid(readers[k], &status, 0) == readers[k]);
			CHECK(WIFSIGNALED(status)); /* and not by itself before */
		}
		err_clear(&e);
		CHECK_U64(points_of(path, &e), POINTS);
	}
}

SUITE(t_res_share, SLOW(a_sweep_that_ended_well_is_whole_in_its_file_while_others_read_it));
