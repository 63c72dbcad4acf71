/* t_gaps.c - idle time by cause: each ns of a gap once, by the host's calls. */
#include "sim/profile/gaps.h"
#include "validate/tests/mktrace.h"

/* A kernel from `start` for `ns`, called for at `call` (-1: not known) by a call of 2 us. */
static struct trace_launch *kernel(struct mk *m, int64_t call, int64_t start, int64_t ns)
{
	struct trace_launch *l = mk_launch(m, "k", NULL);

	l->start_ns = start;
	l->dur_ns = ns;
	l->host_start_ns = call;
	l->host_dur_ns = call < 0 ? -1 : 2000;
	return l;
}

static struct gaps look(struct mk *m)
{
	struct err e = { 0 };
	struct gaps g;
	int64_t sum = 0;

	m->t.n_files = 1;
	CHECK_OK(gaps_of(&m->t, m->a, &g, &e), e);
	CHECK_U64(g.span_ns, g.kernel_ns + g.other_ns + g.idle_ns);
	for (int c = 0; c < GAP_CAUSES; c++)
		sum += g.cause[c].ns;
	CHECK_U64(sum, g.idle_ns);
	return g;
}

TEST(a_late_call_is_the_hosts_and_what_follows_it_the_launch)
{
	struct mk m;
	struct gaps g;

	mk_open(&m);
	kernel(&m, 0, 5000, 1000);
	kernel(&m, 16000, 20000, 3000);
	g = look(&m);
	CHECK_U64(g.n, 1);
	CHECK_U64(g.span_ns, 18000);
	CHECK_U64(g.kernel_ns, 4000);
	CHECK_U64(g.cause[GAP_HOST].ns, 10000);
	CHECK_U64(g.cause[GAP_LAUNCH].ns, 4000);
	CHECK(g.v[0].cause == GAP_HOST);
	CHECK_U64(g.lead_ns, 4000);
	CHECK_U64(g.call_ns, 4000);
	mk_close(&m);
}

TEST(a_wait_counts_as_long_as_it_was_and_no_longer)
{
	int64_t syncs[] = { 9000 };
	struct mk m;
	struct gaps g;

	mk_open(&m);
	kernel(&m, 0, 5000, 7000); /* to 12000: the host waits 3000 for it */
	kernel(&m, 22000, 24000, 1000);
	m.t.sync_ns = syncs;
	m.t.n_syncs = 1;
	g = look(&m);
	CHECK_U64(g.cause[GAP_SYNC].ns, 3000);
	CHECK_U64(g.cause[GAP_HOST].ns, 7000);
	CHECK_U64(g.cause[GAP_LAUNCH].ns, 2000);
	syncs[0] = 13000; /* when the device had done all: nothing to wait for */
	g = look(&m);
	CHECK_U64(g.cause[GAP_SYNC].ns, 0);
	CHECK_U64(g.cause[GAP_HOST].ns, 10000);
	syncs[0] = 23000; /* behind the call */
	g = look(&m);
	CHECK_U64(g.cause[GAP_SYNC].ns, 0);
	mk_close(&m);
}

TEST(a_wait_for_a_copy_is_the_copys)
{
	int64_t syncs[] = { 4000 };
	struct trace_launch *l;
	struct mk m;
	struct gaps g;

	mk_open(&m);
	kernel(&m, 0, 1000, 1000);
	l = mk_copy(&m, TRACE_COPY_DTOH, 8, true, NULL);
	l->host_start_ns = 2000;
	l->host_dur_ns = 1000;
	l->start_ns = 2000;
	l->dur_ns = 8000;
	kernel(&m, 14000, 15000, 1000);
	g = look(&m); /* no synchronise is known: the copy itself waits, from 2000 on */
	CHECK_U64(g.other_ns, 8000);
	CHECK_U64(g.cause[GAP_COPY].ns, 4000);
	CHECK_U64(g.cause[GAP_HOST].ns, 0);
	m.t.sync_ns = syncs;
	m.t.n_syncs = 1;
	g = look(&m);
	CHECK_U64(g.cause[GAP_COPY].ns, 4000);
	syncs[0] = 7000;
	g = look(&m);
	CHECK_U64(g.cause[GAP_COPY].ns, 3000);
	CHECK_U64(g.cause[GAP_HOST].ns, 1000);
	CHECK_U64(g.cause[GAP_SYNC].ns, 0);
	mk_close(&m);
}

TEST(a_queued_launch_waits_for_its_stream_or_another_or_its_graph)
{
	struct mk m;
	struct gaps g;

	mk_open(&m);
	kernel(&m, 0, 10000, 1000);
	kernel(&m, 3000, 12000, 1000);             /* behind its own stream */
	kernel(&m, 5000, 14000, 1000)->stream = 9; /* behind another */
	kernel(&m, 7000, 16000, 1000)->graph = 4;  /* behind another, first of a graph */
	kernel(&m, 7000, 18000, 1000)->graph = 4;  /* between nodes */
	kernel(&m, 12000, 22000, 1000);            /* called for while a node ran */
	g = look(&m);
	CHECK_U64(g.cause[GAP_STREAM].ns, 1000 + 3000);
	CHECK_U64(g.cause[GAP_OTHER_STREAM].ns, 1000 + 1000);
	CHECK_U64(g.cause[GAP_GRAPH].ns, 1000);
	CHECK_U64(g.n_streams, 2);
	CHECK_U64(g.streams[0].busy_ns, 5000);
	CHECK_U64(g.call_ns, 5 * 2000); /* a graph's call once */
	mk_close(&m);
}

TEST(streams_that_overlap_are_busy_once_and_alone_apart)
{
	struct mk m;
	struct gaps g;

	mk_open(&m);
	kernel(&m, -1, 0, 10000);
	kernel(&m, -1, 4000, 10000)->stream = 9;
	kernel(&m, -1, 20000, 1000);
	g = look(&m);
	CHECK_U64(g.kernel_ns, 15000);
	CHECK_U64(g.overlap_ns, 6000);
	CHECK_U64(g.cause[GAP_UNKNOWN].ns, 6000);
	CHECK_U64(g.streams[0].busy_ns, 11000);
	CHECK_U64(g.streams[0].alone_ns, 5000);
	CHECK_U64(g.streams[1].alone_ns, 4000);
	mk_close(&m);
}

TEST(devices_have_gaps_of_their_own)
{
	struct mk m;
	struct gaps g;

	mk_open(&m);
	kernel(&m, -1, 0, 1000);
	kernel(&m, -1, 2000, 1000);
	kernel(&m, -1, 500, 1000)->device = 1;
	kernel(&m, -1, 5000, 1000)->device = 1;
	g = look(&m);
	CHECK_U64(g.devices, 2);
	CHECK_U64(g.span_ns, 3000 + 5500);
	CHECK_U64(g.idle_ns, 1000 + 3500);
	mk_close(&m);
}

TEST(between_two_occurrences_of_a_range_is_no_gap)
{
	struct trace_range r[] = { { .name = "step", .start_ns = 0, .dur_ns = 5000 },
		                   { .name = "step", .start_ns = 100000, .dur_ns = 5000 } };
	struct mk m;
	struct gaps g;

	mk_open(&m);
	kernel(&m, 0, 1000, 1000);
	kernel(&m, 3000, 4000, 1000);
	kernel(&m, 100000, 101000, 1000);
	m.t.range = "step";
	m.t.ranges = r;
	m.t.n_ranges = 2;
	g = look(&m);
	CHECK_U64(g.n, 1);
	CHECK_U64(g.between_ns, 96000);
	CHECK_U64(g.span_ns, 5000);
	mk_close(&m);
}

TEST(what_has_no_timeline_is_refused)
{
	struct err e = { 0 };
	struct gaps g;
	struct mk m;

	mk_open(&m);
	m.t.n_files = 1;
	CHECK(gaps_of(&m.t, m.a, &g, &e) == -1);
	CHECK_HAS(e.msg, "no gaps to see");
	err_clear(&e);
	kernel(&m, -1, 0, 1000);
	kernel(&m, -1, 1000, 1000);
	CHECK(gaps_of(&m.t, m.a, &g, &e) == -1);
	CHECK_HAS(e.msg, "only for how long");
	err_clear(&e);
	kernel(&m, -1, INT64_MAX - 5, 1000);
	CHECK(gaps_of(&m.t, m.a, &g, &e) == -1);
	CHECK_HAS(e.msg, "at a time that no trace has");
	err_clear(&e);
	m.t.n_launches = 2;
	m.t.n_files = 2;
	CHECK(gaps_of(&m.t, m.a, &g, &e) == -1);
	CHECK_HAS(e.msg, "gaps are of one run");
	mk_close(&m);
}

SUITE(t_gaps, T(a_late_call_is_the_hosts_and_what_follows_it_the_launch),
      T(a_wait_counts_as_long_as_it_was_and_no_longer), T(a_wait_for_a_copy_is_the_copys),
      T(a_queued_launch_waits_for_its_stream_or_another_or_its_graph),
      T(streams_that_overlap_are_busy_once_and_alone_apart), T(devices_have_gaps_of_their_own),
      T(between_two_occurrences_of_a_range_is_no_gap), T(what_has_no_timeline_is_refused));
