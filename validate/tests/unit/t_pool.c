/* t_pool.c - jobs by workers: the same results however many there are, workers that die, and nothing that is left of them. */
#define _POSIX_C_SOURCE 200809L /* fork, kill */
#include "sim/base/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "validate/tests/test.h"

#define FRAME 4096

/* What a job asks of who does it. */
enum deed { SQUARE, SLOW, DIE, DIE_ONCE, END, LARGE, HANG, WHO, PROCESS };
struct job {
	uint64_t number;
	enum deed deed;
};

struct bed {
	struct pool *pool;
	struct job jobs[200];
	size_t n, came, told, order[200]; /* order: of results */
	uint64_t got[200];
	char lost[200][64];
	bool died[200];
	int fail_at, stop_at; /* results; 0: never */
	int asks_left;        /* until it is stopped; 0: it is not */
	char once[512];       /* a file that the first of two workers removes */
	struct err e;
};

static void *start(void *arg)
{
	(void)arg;
	return calloc(1, sizeof(uint64_t)); /* jobs done */
}

static void end(void *arg, void *state)
{
	(void)arg;
	free(state);
}

static void nap(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static void work(void *arg, void *state, const char *bytes, size_t n, struct str *result)
{
	const struct bed *b = arg;
	uint64_t *did = state, answer;
	struct job j;

	CHECK_U64(n, sizeof j);
	memcpy(&j, bytes, sizeof j);
	++*did;
	answer = j.number * j.number;
	if (j.deed == SLOW)
		nap(100);
	else if (j.deed == DIE || (j.deed == DIE_ONCE && unlink(b->once) == 0))
		raise(SIGKILL);
	else if (j.deed == END)
		_exit(0);
	else if (j.deed == WHO)
		answer = *did;
	else if (j.deed == PROCESS)
		answer = (uint64_t)getpid();
	while (j.deed == HANG)
		pause();
	for (int i = 0; j.deed == LARGE && i < FRAME; i++)
		str_addc(result, 'x');
	str_addn(result, (const char *)&answer, sizeof answer);
}

static void job(void *arg, size_t i, struct str *to)
{
	const struct bed *b = arg;

	str_addn(to, (const char *)&b->jobs[i], sizeof b->jobs[i]);
}

static int result(void *arg, size_t i, const struct pool_result *r, struct err *e)
{
	struct bed *b = arg;

	b->order[b->came++] = i;
	b->died[i] = r->died;
	b->lost[i][0] = '\0';
	if (r->lost) {
		snprintf(b->lost[i], sizeof b->lost[i], "%.63s", r->lost);
	} else {
		CHECK_U64(r->n, sizeof b->got[i]);
		memcpy(&b->got[i], r->bytes, sizeof b->got[i]);
	}
	return b->fail_at && b->came == (size_t)b->fail_at ? err_set(e, ERR_CONFIG, "no more of this") : 0;
}

static int progress(void *arg, size_t done, struct err *e)
{
	struct bed *b = arg;

	(void)e;
	CHECK(done > b->told && done <= b->n);
	b->told = done;
	return 0;
}

static bool stop(void *arg)
{
	struct bed *b = arg;

	return (b->stop_at && b->came >= (size_t)b->stop_at - 1) || (b->asks_left && --b->asks_left == 0);
}

static void up(struct bed *b, unsigned workers, unsigned each, size_t n)
{
	const struct pool_how how = { workers, each, FRAME, start, end, work, b, &pool_processes };

	memset(b, 0, sizeof *b);
	b->n = n;
	for (size_t i = 0; i < n; i++)
		b->jobs[i].number = i + 3;
	b->pool = pool_new(&how, &b->e);
	CHECK(b->pool);
}

static int run(struct bed *b, bool ordered)
{
	const struct pool_batch batch = { b->n, ordered, job, result, progress, stop, b };

	b->came = b->told = 0;
	return pool_run(b->pool, &batch, &b->e);
}

/* All results but so many that are lost, each once. */
static void must_be_all(const struct bed *b, size_t may_be_lost)
{
	size_t lost = 0;

	CHECK_U64(b->came, b->n);
	CHECK_U64(b->told, b->n);
	for (size_t i = 0; i < b->n; i++) {
		if (b->lost[i][0])
			lost++;
		else
			CHECK_U64(b->got[i], (i + 3) * (i + 3));
	}
	CHECK_U64(lost, may_be_lost);
}

static int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Neither a child that runs is left nor one that was not waited for. */
static void down(struct bed *b)
{
	pool_free(b->pool);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

TEST(results_are_the_same_by_any_number_of_workers_and_by_none)
{
	static const unsigned workers[] = { 0, 1, 2, 7, 64 };
	const int had = descriptors();

	for (size_t i = 0; i < sizeof workers / sizeof *workers; i++)
		for (int ordered = 0; ordered < 2; ordered++) {
			struct bed b;

			up(&b, workers[i], 0, 200);
			for (int batch = 0; batch < 2; batch++) {
				CHECK_OK(run(&b, ordered), b.e);
				must_be_all(&b, 0);
			}
			CHECK_U64(pool_hired(b.pool), workers[i] > 0);
			down(&b);
			CHECK_U64(descriptors(), had);
		}
}

TEST(results_come_in_order_only_where_asked_for)
{
	struct bed b;

	for (int ordered = 0; ordered < 2; ordered++) {
		up(&b, 2, 0, 6);
		b.jobs[0].deed = SLOW;
		CHECK_OK(run(&b, ordered), b.e);
		must_be_all(&b, 0);
		for (size_t i = 0; ordered && i < b.n; i++)
			CHECK_U64(b.order[i], i);
		if (!ordered)
			CHECK(b.order[0] != 0);
		down(&b);
	}
}

TEST(workers_stay_for_the_next_batch_or_do_so_many_jobs)
{
	struct bed b;

	for (unsigned each = 0; each < 3; each++) {
		up(&b, 1, each, 6);
		for (size_t i = 0; i < b.n; i++)
			b.jobs[i].deed = WHO;
		CHECK_OK(run(&b, false), b.e);
		CHECK_OK(run(&b, false), b.e);
		for (size_t i = 0; i < b.n; i++)
			CHECK_U64(b.got[i], each ? 1 + i % each : 7 + i);
		down(&b);
	}
}

TEST(a_job_whose_worker_dies_is_given_once_more)
{
	static const unsigned workers[] = { 1, 3 };

	for (int i = 0; i < 2; i++)
		for (int ordered = 0; ordered < 2; ordered++) {
			struct bed b;
			FILE *f;

			up(&b, workers[i], 0, 20);
			b.jobs[4].deed = DIE_ONCE;
			CHECK((f = fopen(test_path(b.once, sizeof b.once, "once"), "w")) && fclose(f) == 0);
			CHECK_OK(run(&b, ordered), b.e);
			must_be_all(&b, 0);
			CHECK_STR(b.lost[4], "");
			CHECK(access(b.once, F_OK) < 0); /* it did die */
			down(&b);
		}
}

TEST(a_job_that_two_workers_die_over_is_lost_and_no_other)
{
	const int had = descriptors();
	struct bed b;

	for (int ordered = 0; ordered < 2; ordered++) {
		up(&b, 3, 0, 30);
		b.jobs[0].deed = b.jobs[7].deed = DIE;
		b.jobs[8].deed = END;
		CHECK_OK(run(&b, ordered), b.e);
		must_be_all(&b, 3);
		CHECK_STR(b.lost[0], strsignal(SIGKILL));
		CHECK_STR(b.lost[7], strsignal(SIGKILL));
		CHECK_STR(b.lost[8], "it ended early");
		for (size_t i = 0; i < b.n; i++)
			CHECK(b.died[i] == (i == 0 || i == 7 || i == 8) && !b.lost[i][0] == !b.died[i]);
		down(&b);
	}
	CHECK_U64(descriptors(), had);
}

/* Each job is answered by its worker's process. */
TEST(workers_that_die_between_batches_are_replaced)
{
	struct bed b;

	up(&b, 2, 0, 10);
	for (size_t i = 0; i < b.n; i++)
		b.jobs[i].deed = PROCESS;
	CHECK_OK(run(&b, false), b.e);
	for (size_t i = 0; i < b.n; i++)
		if (kill((pid_t)b.got[i], 0) == 0)
			CHECK(kill((pid_t)b.got[i], SIGKILL) == 0);
	for (size_t i = 0; i < b.n; i++)
		b.jobs[i].deed = SQUARE;
	CHECK_OK(run(&b, false), b.e);
	must_be_all(&b, 0);
	down(&b);
}

TEST(a_frame_that_is_too_large_is_said)
{
	struct bed b;

	for (unsigned workers = 0; workers < 3; workers++) {
		struct pool_how how = { workers, 0, sizeof(struct job) - 1, start, end, work, &b, &pool_processes };

		up(&b, workers, 0, 8);
		b.jobs[5].deed = LARGE;
		CHECK_OK(run(&b, false), b.e);
		must_be_all(&b, 1);
		CHECK_STR(b.lost[5], "a result of more than 4096 bytes");
		CHECK(!b.died[5]);
		pool_free(b.pool);
		b.pool = pool_new(&how, &b.e);
		CHECK(b.pool && run(&b, false) < 0);
		CHECK_HAS(b.e.msg, "a job of 16 bytes for a worker, of 15 at the most");
		down(&b);
	}
}

/* Workers that are at work then are not waited for, and the pool goes on. */
TEST(an_error_or_a_stop_ends_a_batch_and_not_the_pool)
{
	for (unsigned workers = 0; workers < 4; workers++) {
		struct bed b;

		up(&b, workers, 0, 12);
		b.jobs[6].deed = workers > 1 ? HANG : SQUARE;
		b.fail_at = 4;
		CHECK(run(&b, false) == -1);
		CHECK_STR(b.e.msg, "no more of this");
		err_clear(&b.e);
		b.fail_at = 0;
		b.stop_at = 9;
		CHECK_U64(run(&b, false), 1);
		CHECK(b.came >= 8 && b.came < b.n);
		/* Also where nothing comes any more: all that is left hangs by then. */
		b.stop_at = 0;
		b.asks_left = workers > 1 ? 15 : 1;
		CHECK_U64(run(&b, false), 1);
		b.asks_left = 0;
		b.jobs[6].deed = SQUARE;
		b.stop_at = 0;
		CHECK_OK(run(&b, true), b.e);
		must_be_all(&b, 0);
		down(&b);
	}
}

/* A worker of the second pool holds the sockets of the first one's. */
TEST(two_pools_at_a_time_end_in_any_order)
{
	for (int first = 0; first < 2; first++) {
		struct bed b[2];

		for (int i = 0; i < 2; i++) {
			up(&b[i], 2, 0, 10);
			CHECK_OK(run(&b[i], false), b[i].e);
		}
		CHECK_OK(run(&b[0], false), b[0].e);
		pool_free(b[first].pool);
		down(&b[1 - first]);
	}
}

/* Ends when nobody holds its other end any more. */
static bool ends(int fd, int ms)
{
	struct pollfd p = { fd, POLLIN, 0 };
	char c;

	return poll(&p, 1, ms) == 1 && read(fd, &c, 1) == 0;
}

TEST(workers_go_with_who_has_them_also_those_that_hang)
{
	int life[2], ready[2];
	pid_t pid;
	char c;

	CHECK(pipe(life) == 0 && pipe(ready) == 0);
	CHECK((pid = fork()) >= 0);
	if (pid == 0) {
		struct bed b;

		close(life[0]);
		up(&b, 3, 0, 6);
		b.jobs[4].deed = b.jobs[5].deed = HANG;
		if (write(ready[1], "x", 1) == 1)
			run(&b, false);
		_exit(0);
	}
	close(life[1]);
	CHECK(read(ready[0], &c, 1) == 1);
	CHECK(!ends(life[0], 200)); /* they hang */
	CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
#ifdef __linux__
	CHECK(ends(life[0], 20000));
#endif
	close(life[0]);
	close(ready[0]);
	close(ready[1]);
}

SUITE(t_pool, T(results_are_the_same_by_any_number_of_workers_and_by_none),
      T(results_come_in_order_only_where_asked_for), T(workers_stay_for_the_next_batch_or_do_so_many_jobs),
      T(a_job_whose_worker_dies_is_given_once_more), T(a_job_that_two_workers_die_over_is_lost_and_no_other),
      T(workers_that_die_between_batches_are_replaced), T(a_frame_that_is_too_large_is_said),
      T(an_error_or_a_stop_ends_a_batch_and_not_the_pool), T(two_pools_at_a_time_end_in_any_order),
      T(workers_go_with_who_has_them_also_those_that_hang));
