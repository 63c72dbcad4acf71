/* t_timeline.c - a run's timeline against the run: spans that are apart and sum to its statistics, counters that
 * integrate to its bytes, and a run that does not mind being looked at. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include "sim/report/timeline.h"

#include <stdlib.h>
#include <unistd.h>
#include <yajl/yajl_tree.h>

#include "sim/report/chrome.h"
#include "sim/report/series.h"
#include "validate/tests/synth.h"
#include "validate/tests/test.h"

#define MACHINES 12 /* of which a gate takes a third */

struct bed {
	char *dir, *path[2];
	struct arena *a;
	struct machine_conf *c;
	struct run_result r;
	struct err e;
	yajl_val root, events;
	char *text;
};

static void bed_up(struct bed *b)
{
	*b = (struct bed){ .a = arena_new(0), .e = ERR_INIT };
	b->dir = arena_strdup(b->a, "/tmp/npusim-timeline-XXXXXX");
	CHECK(b->dir && mkdtemp(b->dir));
	for (int i = 0; i < 2; i++)
		CHECK((b->path[i] = arena_printf(b->a, "%s/%d.json", b->dir, i)));
}

static void bed_down(struct bed *b)
{
	for (int i = 0; i < 2; i++)
		unlink(b->path[i]);
	CHECK(rmdir(b->dir) == 0); /* nothing else was left there */
	yajl_tree_free(b->root);
	free(b->text);
	machine_conf_free(b->c);
	arena_free(b->a);
}

static char *whole(const char *path, size_t *n)
{
	FILE *f = fopen(path, "r");
	char *text;
	long size;

	CHECK(f);
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	text = malloc((size_t)size + 1);
	CHECK(text && fread(text, 1, (size_t)size, f) == (size_t)size);
	text[size] = '\0';
	fclose(f);
	*n = (size_t)size;
	return text;
}

/* Launches as if each op had been one kernel, 1 us apart and 400 ns long, on two streams. */
static void measure(struct bed *b, struct op_stream *s)
{
	s->launches = arena_array(b->a, s->n_ops, sizeof *s->launches);
	s->n_launches = s->n_ops;
	for (uint32_t i = 0; i < s->n_ops; i++) {
		s->launches[i] = (struct op_launch){ .trace_id = i,
			                             .name = "kernel",
			                             .start_ns = 5000 + 1000 * i,
			                             .measured_ns = 400,
			                             .stream = i % 2 ? 7 : 20 };
		s->ops[i].first_launch = i;
		s->ops[i].n_launches = 1;
	}
}

static void run(struct bed *b, const struct op_stream *s, enum run_fidelity how, int file)
{
	struct run_opts o = { .start = RUN_STEADY, .seed = 3, .fidelity = how };
	struct timeline *t = timeline_open(b->path[file], s, b->c, "GPU", &b->r, &b->e);

	CHECK_OK(t ? 0 : -1, b->e);
	o.watch = timeline_watch(t);
	CHECK_OK(timeline_close(t, run_stream(s, b->c, &o, b->a, &b->r, &b->e), &b->e), b->e);
}

static void parse(struct bed *b)
{
	const char *path[] = { "traceEvents", NULL };
	char why[256];
	size_t n;

	b->text = whole(b->path[0], &n);
	b->root = yajl_tree_parse(b->text, why, sizeof why);
	if (!b->root)
		test_fail(__FILE__, __LINE__, "no JSON: %s", why);
	b->events = yajl_tree_get(b->root, path, yajl_t_array);
	CHECK(b->events);
}

static yajl_val member(yajl_val v, const char *name)
{
	const char *path[] = { name, NULL };

	return yajl_tree_get(v, path, yajl_t_any);
}

static const char *text_of(yajl_val v, const char *name)
{
	const char *t = YAJL_GET_STRING(member(v, name));

	return t ? t : "";
}

static int64_t int_of(yajl_val v, const char *name)
{
	v = member(v, name);
	CHECK(YAJL_IS_INTEGER(v));
	return YAJL_GET_INTEGER(v);
}

/* ns of a time in us with three digits after the point. */
static int64_t ns_in(yajl_val v, const char *name)
{
	v = member(v, name);
	CHECK(YAJL_IS_NUMBER(v));
	return (int64_t)(YAJL_GET_DOUBLE(v) * 1000 + 0.5);
}

struct span {
	int64_t from, to, busy_ps;
};

static int by_start(const void *x, const void *y)
{
	const struct span *a = x, *b = y;

	return a->from != b->from ? (a->from < b->from ? -1 : 1) : a->to < b->to ? -1 : a->to > b->to;
}

/* Spans of one thread, which must be apart; returns their busy time. */
static uint64_t lane(const struct bed *b, int64_t pid, int64_t tid, size_t *n)
{
	const size_t all = b->events->u.array.len;
	struct span *v = malloc((all + 1) * sizeof *v);
	uint64_t busy = 0;

	*n = 0;
	for (size_t i = 0; i < all; i++) {
		yajl_val e = b->events->u.array.values[i], args = member(e, "args");

		if (strcmp(text_of(e, "ph"), "X") != 0 || int_of(e, "pid") != pid || int_of(e, "tid") != tid)
			continue;
		v[*n] = (struct span){ ns_in(e, "ts"), ns_in(e, "ts") + ns_in(e, "dur"),
			               member(args, "busy_ps") ? int_of(args, "busy_ps") : 0 };
		/* To the ns at both ends. */
		if (pid == TIMELINE_SIMULATED && llabs((v[*n].to - v[*n].from) * 1000 - v[*n].busy_ps) > 1000)
			test_fail(__FILE__, __LINE__, "a span of %lld ns is %lld ps of work",
			          (long long)(v[*n].to - v[*n].from), (long long)v[*n].busy_ps);
		busy += (uint64_t)v[(*n)++].busy_ps;
	}
	qsort(v, *n, sizeof *v, by_start);
	for (size_t i = 1; i < *n; i++)
		if (v[i].from < v[i - 1].to)
			test_fail(__FILE__, __LINE__, "thread %lld of %lld: a span from %lld ns begins before %lld ns",
			          (long long)tid, (long long)pid, (long long)v[i].from, (long long)v[i - 1].to);
	free(v);
	return busy;
}

/* A counter's integral over time, in units of 1e9 a second times seconds; *most is its largest value. */
static double integral(const struct bed *b, const char *name, const char *key, double *most)
{
	double sum = 0, value = 0;
	int64_t at = 0;

	*most = 0;
	for (size_t i = 0; i < b->events->u.array.len; i++) {
		yajl_val e = b->events->u.array.values[i];

		if (strcmp(text_of(e, "ph"), "C") != 0 || strcmp(text_of(e, "name"), name) != 0)
			continue;
		CHECK(ns_in(e, "ts") >= at);
		sum += value * (double)(ns_in(e, "ts") - at);
		at = ns_in(e, "ts");
		value = YAJL_GET_DOUBLE(member(member(e, "args"), key));
		*most = value > *most ? value : *most;
	}
	CHECK(value == 0); /* it ends */
	return sum;
}

static uint64_t stat_of(const struct bed *b, const char *name)
{
	for (size_t i = 0; i < b->r.n_stats; i++)
		if (strcmp(b->r.stats[i].name, name) == 0)
			return b->r.stats[i].value;
	return 0;
}

/* A piece of DRAM's is shown as it is handed out, up to so many ns before the pins have passed it: a pass may end between. */
#define HANDED_OUT 300

static void close_to(double got, uint64_t want, double slack, const char *what)
{
	if (got < (double)want * (1 - 1e-6) - 1 - slack || got > (double)want * (1 + 1e-6) + 1 + slack)
		test_fail(__FILE__, __LINE__, "%s: %.3f, not %llu", what, got, (unsigned long long)want);
}

static void check_machine(struct bed *b, const struct op_stream *s)
{
	static const struct {
		enum res r;
		const char *stat;
	} lanes[] = {
		{ RES_GEMV, "gemv.busy_ps" },     { RES_MATRIX, "matrix.busy_ps" }, { RES_VECTOR, "vector.busy_ps" },
		{ RES_FUSION, "fusion.busy_ps" }, { RES_DMA, "dma.busy_ps" },       { RES_L2, "l2.busy_ps" },
		{ RES_L1, "l1.busy_ps" },         { RES_KV, "kv_buffer.busy_ps" },  { RES_DRAM, "dram.busy_ps" },
	};
	static const struct {
		const char *counter, *read, *write;
	} bytes[] = {
		{ "dram bandwidth", "dram.read_bytes", "dram.write_bytes" },
		{ "dma bandwidth", "dma.read_bytes", "dma.write_bytes" },
		{ "l2 bandwidth", "l2.read_bytes", "l2.write_bytes" },
		{ "l1 bandwidth", "l1.read_bytes", "l1.write_bytes" },
		{ "kv bandwidth", "kv_buffer.read_bytes", "kv_buffer.write_bytes" },
	};
	const struct machine_cfg *c = &b->c->cfg;
	const double pins =
		(double)(dram_is_fixed(&c->mem.dram) ? c->mem.dram.fixed_bandwidth : dram_peak(&c->mem.dram)) / 1e9;
	uint64_t host;
	double most;
	size_t n;

	for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
		const uint64_t busy = lane(b, TIMELINE_SIMULATED, TIMELINE_LANES + (int64_t)lanes[i].r, &n);

		if (busy != stat_of(b, lanes[i].stat))
			test_fail(__FILE__, __LINE__, "%s: spans sum to %llu ps, not to %llu", lanes[i].stat,
			          (unsigned long long)busy, (unsigned long long)stat_of(b, lanes[i].stat));
	}
	host = lane(b, TIMELINE_SIMULATED, TIMELINE_LANES + RES_HOST, &n);
	CHECK_U64(host, c->dispatch.launch + stat_of(b, "dispatch.round_trips") * c->dispatch.host);
	CHECK_U64(lane(b, TIMELINE_SIMULATED, TIMELINE_OPS, &n), b->r.total_ps);
	CHECK_U64(n, s->n_ops);
	for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
		close_to(integral(b, bytes[i].counter, "read GB/s", &most), stat_of(b, bytes[i].read), 0,
		         bytes[i].read);
		close_to(integral(b, bytes[i].counter, "write GB/s", &most), stat_of(b, bytes[i].write),
		         i ? 0 : pins * HANDED_OUT, bytes[i].write);
		CHECK(i || most <= pins * (1 + 1e-8));
	}
	/* A watt for a nanosecond is a million femtojoules. */
	if (b->r.energy)
		close_to(1e6 * integral(b, "power, mean of each op", "W", &most), b->r.energy_fj, 0, "energy");
	integral(b, "commands in flight", "commands", &most);
	CHECK(most > 0 && most <= c->dispatch.queue);
	integral(b, "DMA descriptors in flight", "descriptors", &most);
	CHECK(most > 0 && most <= 2 * c->dma.outstanding);
	/* The measured kernels, from the first one on. */
	lane(b, TIMELINE_MEASURED, TIMELINE_STREAMS, &n);
	CHECK_U64(n, (s->n_ops + 1) / 2);
	lane(b, TIMELINE_MEASURED, TIMELINE_STREAMS + 1, &n);
	CHECK_U64(n, s->n_ops / 2);
}

/* What Perfetto's importer of this format wants, by its source: kinds of event that it knows, thread numbers of one
 * process each and none 0, names that are not empty, counters that are numbers, arrows that begin and end at a span. */
static void check_importable(const struct bed *b)
{
	const size_t all = b->events->u.array.len;

	for (size_t i = 0; i < all; i++) {
		yajl_val e = b->events->u.array.values[i], args = member(e, "args");
		const char *ph = text_of(e, "ph");
		const int64_t pid = int_of(e, "pid"), tid = int_of(e, "tid");
		bool at_span = false;

		CHECK(strlen(ph) == 1 && strchr("XCMsf", *ph));
		CHECK(tid > 0 && pid == (tid < TIMELINE_STREAMS ? TIMELINE_SIMULATED : TIMELINE_MEASURED));
		CHECK(*text_of(e, "name"));
		for (size_t k = 0; *ph == 'C' && k < args->u.object.len; k++)
			CHECK(YAJL_IS_NUMBER(args->u.object.values[k]));
		for (size_t k = 0; (*ph == 's' || *ph == 'f') && !at_span && k < all; k++) {
			yajl_val x = b->events->u.array.values[k];

			at_span = *text_of(x, "ph") == 'X' && int_of(x, "pid") == pid && int_of(x, "tid") == tid &&
			          ns_in(x, "ts") <= ns_in(e, "ts") &&
			          ns_in(e, "ts") <= ns_in(x, "ts") + ns_in(x, "dur");
		}
		CHECK(at_span || (*ph != 's' && *ph != 'f'));
	}
}

TEST(spans_are_apart_and_sum_to_the_statistics_and_counters_to_bytes)
{
	for (uint64_t i = 0; i < MACHINES; i++) {
		struct run_opts o = { .start = RUN_STEADY, .seed = 3 };
		struct run_result alone;
		struct str yaml = STR_INIT;
		struct op_stream *s;
		struct rng g;
		struct bed b;
		char *text[2];
		size_t n[2];

		if (!test_turn(i, 3))
			continue;
		bed_up(&b);
		rng_seed(&g, i, "timeline");
		s = synth_step(&g, b.a, 3, i % 3 == 0);
		measure(&b, s);
		do {
			str_clear(&yaml);
			err_clear(&b.e);
			machine_conf_free(b.c);
			synth_machine(&g, &yaml);
			b.c = machine_conf_parse(str_c(&yaml), yaml.len, "m", NULL, 0, &b.e);
		} while (!b.c);
		run(&b, s, RUN_EVENT, 0);
		parse(&b);
		check_machine(&b, s);
		check_importable(&b);
		/* Looked at or not: the same run. */
		CHECK_OK(run_stream(s, b.c, &o, b.a, &alone, &b.e), b.e);
		CHECK_U64(alone.total_ps, b.r.total_ps);
		CHECK_U64(alone.events, b.r.events);
		/* And the same file again. */
		run(&b, s, RUN_EVENT, 1);
		for (int k = 0; k < 2; k++)
			text[k] = whole(b.path[k], &n[k]);
		CHECK(n[0] == n[1] && memcmp(text[0], text[1], n[0]) == 0);
		free(text[0]);
		free(text[1]);
		str_free(&yaml);
		bed_down(&b);
	}
}

TEST(in_closed_form_there_are_ops_and_kernels_alone)
{
	static const char machine[] = "cores: 16\nl2: {size: 16 MiB}\n";
	struct bed b;
	struct op_stream *s;
	struct rng g;
	size_t n;

	bed_up(&b);
	rng_seed(&g, 1, "timeline");
	s = synth_step(&g, b.a, 2, false);
	measure(&b, s);
	b.c = machine_conf_parse(machine, strlen(machine), "m", NULL, 0, &b.e);
	CHECK_OK(b.c ? 0 : -1, b.e);
	run(&b, s, RUN_ANALYTIC, 0);
	parse(&b);
	CHECK_U64(lane(&b, TIMELINE_SIMULATED, TIMELINE_OPS, &n), b.r.total_ps);
	CHECK_U64(n, s->n_ops);
	lane(&b, TIMELINE_SIMULATED, TIMELINE_LANES + RES_DRAM, &n);
	CHECK_U64(n, 0);
	bed_down(&b);
}

TEST(a_run_that_fails_leaves_no_timeline)
{
	static const char machine[] = "cores: 16\n";
	struct bed b;
	struct timeline *t;

	bed_up(&b);
	b.c = machine_conf_parse(machine, strlen(machine), "m", NULL, 0, &b.e);
	CHECK_OK(b.c ? 0 : -1, b.e);
	t = timeline_open(b.path[0], synth_product(b.a, 1, 64, 64), b.c, NULL, &b.r, &b.e);
	CHECK_OK(t ? 0 : -1, b.e);
	err_set(&b.e, ERR_STUCK, "stuck");
	CHECK(timeline_close(t, -1, &b.e) == -1);
	CHECK(b.e.kind == ERR_STUCK);
	CHECK(access(b.path[0], F_OK) != 0);
	err_clear(&b.e);
	CHECK(!timeline_open("/absent/x.json", synth_product(b.a, 1, 64, 64), b.c, NULL, &b.r, &b.e));
	CHECK_HAS(b.e.msg, "cannot write '/absent/x.json'");
	bed_down(&b);
}

static uint64_t total(const struct series *s, size_t k)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->used; i++)
		sum += series_at(s, k, i);
	return sum;
}

TEST(bins_keep_every_unit_however_long_it_gets)
{
	struct series s;
	struct err e = ERR_INIT;

	CHECK_OK(series_init(&s, 2, &e), e);
	series_add(&s, 0, 50 * PS_NS, 250 * PS_NS, 1001); /* a quarter, a half, a quarter */
	CHECK_U64(s.used, 3);
	CHECK_U64(series_at(&s, 0, 0), 250);
	CHECK_U64(series_at(&s, 0, 1), 500);
	CHECK_U64(series_at(&s, 0, 2), 251);
	series_add(&s, 0, 300 * PS_NS, 300 * PS_NS, 7); /* no time at all */
	CHECK_U64(series_at(&s, 0, 3), 7);
	series_add(&s, 0, 200 * PS_NS, 300 * PS_NS, 10); /* ends where a bin does */
	CHECK_U64(series_at(&s, 0, 2), 261);
	CHECK_U64(series_at(&s, 0, 3), 7);
	series_hold(&s, 1, 90 * PS_NS, 110 * PS_NS, 5);
	CHECK_U64(series_at(&s, 1, 0), 50 * PS_NS);
	CHECK_U64(series_at(&s, 1, 1), 50 * PS_NS);
	/* A bin more than there are: they double, and a whole second is in them too. */
	series_add(&s, 0, SERIES_BINS * SERIES_WIDTH, SERIES_BINS * SERIES_WIDTH + 1, 3);
	CHECK_U64(s.width, 2 * SERIES_WIDTH);
	CHECK_U64(s.used, SERIES_BINS / 2 + 1);
	CHECK_U64(series_at(&s, 0, 0), 750);
	series_add(&s, 0, 0, 1000000 * PS_US, UINT64_C(123456789012345));
	CHECK_U64(total(&s, 0), UINT64_C(123456789012345) + 1001 + 7 + 10 + 3);
	CHECK_U64(total(&s, 1), 100 * PS_NS);
	CHECK(s.used <= SERIES_BINS && s.width * s.used >= 1000000 * PS_US);
	series_free(&s);
}

TEST(a_timeline_too_large_for_any_viewer_is_an_error)
{
	struct outfile file;
	struct out_json j;
	struct chrome c;
	struct bed b;
	int rc = 0;

	bed_up(&b);
	CHECK_OK(outfile_open(&file, b.path[0], &b.e), b.e);
	chrome_begin(&c, &file, "take less of it");
	CHECK_U64(c.most, CHROME_MOST);
	c.most = 3 << 20;
	for (int i = 0; i < 100000 && rc == 0; i++) {
		chrome_open_event(&c, &j, "X", "span", 1, 1);
		chrome_span(&j, "dram", i, 1);
		chrome_close_event(&j);
		rc = chrome_flush(&c, &b.e);
	}
	CHECK(rc == -1 && b.e.kind == ERR_IO);
	CHECK_HAS(b.e.msg, "grows beyond 3 MiB, which no viewer shows: take less of it");
	CHECK(outfile_close(&file, rc, &b.e) == -1);
	bed_down(&b); /* nothing is left */
}

SUITE(t_timeline, T(a_timeline_too_large_for_any_viewer_is_an_error),
      SLOW(spans_are_apart_and_sum_to_the_statistics_and_counters_to_bytes),
      T(in_closed_form_there_are_ops_and_kernels_alone), T(a_run_that_fails_leaves_no_timeline),
      T(bins_keep_every_unit_however_long_it_gets));
