/* t_capture.c - spools of the capture library: what is read, what a kill leaves, and what is refused. */
#include <stdlib.h>

#include "traces/read/capture_import.h"
#include "traces/read/capture_spool.h"
#include "traces/read/format.h"
#include "validate/tests/tracebed.h"

#define T0    UINT64_C(1700000000000000000)
#define SMALL "validate/tests/data/capture/small.spool"
#define H200  "traces/h200/capture/"

/* --- spools by hand -------------------------------------------------------------------------------------------- */

struct made {
	uint8_t b[16384];
	size_t n;
};

static void begin(struct made *m)
{
	m->n = spool_header(m->b);
}

static void text(struct made *m, enum spool_kind kind, uint64_t v, const char *s)
{
	const uint64_t all[SPOOL_FIELDS] = { v };

	m->n += spool_record(m->b + m->n, kind, all, s, strlen(s));
}

#define PUT(m, kind, ...) \
	do { \
		const uint64_t v_[SPOOL_FIELDS] = { __VA_ARGS__ }; \
		(m)->n += spool_record((m)->b + (m)->n, (kind), v_, "", 0); \
	} while (0)
#define KERNEL(m, start, end) PUT(m, SPOOL_KERNEL, T0 + (start), T0 + (end), 1, 9, 0, 1, 7, 0, 0, 1, 1, 1, 32, 1, 1)

static void one_kernel(struct made *m)
{
	begin(m);
	text(m, SPOOL_PROCESS, T0, "./x");
	text(m, SPOOL_NAME, 1, "k");
	KERNEL(m, 100, 300);
}

static int import(struct bed *b, const void *bytes, size_t n)
{
	struct input *in;
	int rc;

	bed_open(b, ":memory:", DB_WRITE);
	in = input_mem(bytes, n, "x.spool", &b->e);
	CHECK(in);
	rc = capture_import(b->db, in, NULL, NULL, &b->st, &b->e);
	input_free(in);
	return rc;
}

static void imports(struct bed *b, const struct made *m)
{
	CHECK_OK(import(b, m->b, m->n), b->e);
}

static void refused(const struct made *m, const char *because)
{
	struct bed b;

	CHECK(import(&b, m->b, m->n) == -1);
	CHECK_HAS(b.e.msg, because);
	CHECK_U64(err_exit_code(&b.e), 4);
	CHECK_U64(bed_ask(&b, "select count(*) from source"), 0);
	CHECK_U64(bed_ask(&b, "select count(*) from launch"), 0);
	bed_close(&b);
}

/* --- what is read ---------------------------------------------------------------------------------------------- */

TEST(the_command_line_is_stored_or_left_out)
{
	char path[1024];
	struct bed b;

	snprintf(path, sizeof path, "%s/" SMALL, test_root());
	for (int redact = 0; redact < 2; redact++) {
		bed_open(&b, ":memory:", DB_WRITE);
		if (redact)
			tracedb_redact(b.db);
		CHECK_OK(format_import(b.db, FORMAT_AUTO, path, NULL, NULL, &b.st, &b.e), b.e);
		CHECK(b.st.command && !b.st.texts);
		CHECK_U64(bed_ask(&b, "select count(*) from source where command is null"), redact);
		bed_close(&b);
	}
}

TEST(all_facts_of_a_launch_are_kept)
{
	const struct trace_launch *l;
	char path[1024];
	struct bed b;

	snprintf(path, sizeof path, "%s/" SMALL, test_root());
	bed_open(&b, ":memory:", DB_WRITE);
	CHECK_OK(format_import(b.db, FORMAT_AUTO, path, NULL, NULL, &b.st, &b.e), b.e);
	CHECK(b.st.kernels == 3 && b.st.copies == 1 && b.st.sets == 1 && b.st.calls == 5 && b.st.syncs == 1);
	CHECK(b.st.ranges == 2 && b.st.ops == 1 && b.st.linked == 1);
	CHECK(b.st.cut == 0 && b.st.lost == 0 && b.st.killed == 0);
	CHECK_U64(bed_ask(&b, "select count(*) from source where tool = 'npusim' and command = './decode --steps 1'"),
	          1);
	bed_load(&b, NULL);
	l = b.t.launches;
	CHECK_STR(l[0].name, "void gemv<__nv_bfloat16>(const __nv_bfloat16*, float*)");
	CHECK_U64(b.t.base_ns + l[0].start_ns, T0 + 8000);
	CHECK(l[0].dur_ns == 4000 && l[0].correlation == 101 && l[0].context == 1 && l[0].stream == 7);
	CHECK(l[0].grid[0] == 16 && l[0].block[0] == 128 && l[0].cluster[0] == 0 && l[0].registers == 40);
	CHECK(l[0].smem_static == 1024 && l[0].smem_dynamic == 2048 && l[0].local == 16 && l[0].graph == 0);
	CHECK(l[0].host_start_ns + b.t.base_ns == (int64_t)T0 + 2000 && l[0].host_dur_ns == 3000);
	CHECK(l[1].graph == 5 && l[1].graph_node == 0x500000001 && l[1].grid[1] == 2 && l[1].cluster[0] == 2);
	CHECK(l[2].graph == 5 && l[2].graph_node == 0x500000002 && l[2].correlation == l[1].correlation);
	CHECK_STR(l[3].name, "Memcpy DtoH (Device -> Pinned)");
	CHECK(l[3].dir == TRACE_COPY_DTOH && l[3].bytes == 4096 && l[3].blocking);
	CHECK_STR(l[4].name, "Memset (Device)");
	CHECK_U64(l[4].bytes, 65536);
	CHECK(b.t.n_devices == 1 && b.t.devices[0].sms == 132 && b.t.devices[0].sm_major == 9);
	CHECK(b.t.devices[0].mem_bytes == 150754820096 && b.t.devices[0].smem_per_sm == 233472);
	CHECK_STR(b.t.devices[0].name, "NVIDIA H200");
	bed_close(&b);
}

TEST(ranges_select_and_ops_of_emit_nvtx_have_shapes)
{
	const struct trace_op *op;
	char path[1024];
	struct bed b;

	snprintf(path, sizeof path, "%s/" SMALL, test_root());
	bed_open(&b, ":memory:", DB_WRITE);
	CHECK_OK(format_import(b.db, FORMAT_CAPTURE, path, NULL, NULL, &b.st, &b.e), b.e);
	bed_load(&b, "step_0");
	CHECK_U64(b.t.n_launches, 4);
	CHECK((op = b.t.launches[0].op));
	CHECK_STR(op->name, "aten::mm");
	CHECK(op->sequence == 1 && op->n_args == 2 && op->args[0].dims[1] == 8 && op->args[1].dims[1] == 16);
	CHECK(!b.t.launches[1].op);
	CHECK_U64(
		bed_ask(&b, "select count(*) from range r join name n on n.id = r.name where n.text = 'NCCL:barrier'"),
		1);
	bed_load_fails(&b, "step_1", "step_0");
	bed_close(&b);
}

TEST(an_end_that_comes_before_its_begin_is_a_range_and_one_alone_is_none)
{
	struct made m;
	struct bed b;

	one_kernel(&m);
	PUT(&m, SPOOL_MARK, T0 + 50, 1, EDGE_END, 3);
	PUT(&m, SPOOL_MARK, T0 + 20, 1, EDGE_BEGIN, 3, 1);
	PUT(&m, SPOOL_MARK, T0 + 50, 2, EDGE_END, 3);
	PUT(&m, SPOOL_MARK, T0 + 50, 3, EDGE_BEGIN, 3, 1);
	imports(&b, &m);
	CHECK_U64(b.st.ranges, 1);
	CHECK_U64(bed_ask(&b, "select start_ns * 1000 + dur_ns from range"), 20030);
	bed_close(&b);
}

TEST(what_the_driver_lost_or_did_not_time_is_counted)
{
	struct made m;
	struct bed b;

	one_kernel(&m);
	PUT(&m, SPOOL_LOST, 41);
	PUT(&m, SPOOL_KERNEL, 0, 0, 1);
	PUT(&m, SPOOL_END, T0 + 900);
	imports(&b, &m);
	CHECK(b.st.kernels == 1 && b.st.lost == 42 && b.st.killed == 0);
	bed_close(&b);
}

/* --- what the library recorded on a GPU -------------------------------------------------------------------------- */

static void recorded(struct bed *b, const char *file)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/" H200 "%s", test_root(), file);
	bed_open(b, ":memory:", DB_WRITE);
	CHECK_OK(format_import(b->db, FORMAT_AUTO, path, NULL, NULL, &b->st, &b->e), b->e);
	CHECK(b->st.cut == 0 && b->st.lost == 0 && b->st.killed == 0);
}

/* The program's own loop says how many there are: 3 steps of 100 launches, 50 graph nodes, a set and a copy. */
TEST(a_program_of_known_launches_is_recorded_whole)
{
	struct bed b;

	recorded(&b, "graph.spool.gz");
	CHECK(b.st.kernels == 3 * 150 && b.st.copies == 3 && b.st.sets == 3 && b.st.ranges == 3 && b.st.syncs == 3);
	CHECK_U64(bed_ask(&b, "select sum(dur_ns) from kernel"), 2779636);
	CHECK_U64(bed_ask(&b, "select count(*) from kernel where graph <> 0"), 3 * 50);
	CHECK_U64(bed_ask(&b, "select count(distinct graph_node) from kernel where graph <> 0"), 50);
	CHECK_U64(bed_ask(&b, "select count(*) from kernel where grid_x = 64 and block_x = 128 and graph = 0"),
	          3 * 100);
	CHECK_U64(bed_ask(&b, "select count(*) from launch where call is null"), 0);
	CHECK_U64(bed_ask(&b, "select count(*) from kernel where name = 'scale(float*, int, float)'"), 450);
	CHECK_U64(bed_ask(&b, "select sum(bytes) from memcpy where dir = 2 and blocking"), 3 * 4 << 20);
	bed_load(&b, "step_1");
	CHECK(b.t.n_launches == 152 && b.t.steps == 3 && b.t.devices[0].sms == 132);
	bed_close(&b);
}

/* 8 layers of 14 kernels, an embedding, a head, an argmax; all have their operation. */
TEST(a_decode_step_of_pytorch_is_recorded_with_its_ops)
{
	struct bed b;

	recorded(&b, "decode.spool.gz");
	CHECK(b.st.kernels == 757 && b.st.ops == 1779 && b.st.ranges == 6);
	CHECK_U64(bed_ask(&b, "select sum(dur_ns) from kernel"), 2504240);
	bed_load(&b, "decode_step_1");
	CHECK_U64(b.t.n_launches, 8 * 14 + 3 + 1);
	for (size_t i = 0; i < b.t.n_launches; i++)
		CHECK(b.t.launches[i].op && b.t.launches[i].host_start_ns >= 0);
	bed_close(&b);
}

/* --- what a kill leaves ---------------------------------------------------------------------------------------- */

/* Kernels whose records are whole in the first n bytes, counted from the lengths alone. */
static int64_t whole_kernels(const uint8_t *p, size_t n, uint64_t *over)
{
	int64_t kernels = 0;
	size_t at = SPOOL_HEADER;

	while (at + 8 <= n && at + 8 + (p[at + 4] | (size_t)p[at + 5] << 8) <= n) {
		kernels += p[at] == SPOOL_KERNEL;
		at += 8 + (p[at + 4] | (size_t)p[at + 5] << 8);
	}
	*over = n < SPOOL_HEADER ? 0 : n - at;
	return kernels;
}

TEST(cut_at_every_byte_it_gives_what_was_whole)
{
	struct made m;
	struct bed b;
	uint64_t over;
	int64_t want = 0;
	int rc;

	one_kernel(&m);
	KERNEL(&m, 400, 500);
	PUT(&m, SPOOL_END, T0 + 900);
	for (size_t n = 8; n <= m.n; n++) {
		want = whole_kernels(m.b, n, &over);
		rc = import(&b, m.b, n);
		CHECK(rc == (want ? 0 : 2) && b.e.kind == ERR_NONE);
		CHECK_U64(bed_ask(&b, "select count(*) from launch"), want);
		if (want)
			CHECK(b.st.kernels == want && (uint64_t)b.st.cut == over && b.st.killed == (n < m.n));
		bed_close(&b);
	}
	CHECK_U64(want, 2);
}

/* --- what is refused ------------------------------------------------------------------------------------------- */

TEST(other_files_and_versions_are_refused)
{
	struct made m;

	one_kernel(&m);
	m.b[0] = 'n';
	refused(&m, "'x.spool' is no spool of npusim's capture library");
	m.n = 7;
	refused(&m, "is no spool");
	m.n = 0;
	refused(&m, "is no spool");
	for (uint32_t version = 0; version <= 256; version += 3) { /* 0, 3, 6 */
		one_kernel(&m);
		spool_put(m.b + 8, version, 4);
		refused(&m, "and this build reads versions 1 to 2");
	}
}

TEST(damage_names_its_byte)
{
	struct made m;

	one_kernel(&m);
	spool_put(m.b + SPOOL_HEADER, SPOOL_KINDS, 4);
	refused(&m, "a record of kind 13, which there is not, while reading the record at byte 16 of 'x.spool'");
	spool_put(m.b + SPOOL_HEADER, 0, 4);
	refused(&m, "a record of kind 0");
	one_kernel(&m);
	spool_put(m.b + SPOOL_HEADER + 4, 11, 4);
	refused(&m, "11 bytes cannot be right for a record of kind 1");
	spool_put(m.b + SPOOL_HEADER + 4, 12 + SPOOL_TEXT + 1, 4);
	refused(&m, "1048589 bytes cannot be right");
	spool_put(m.b + SPOOL_HEADER + 4, UINT32_MAX, 4);
	refused(&m, "4294967295 bytes cannot be right");
}

TEST(names_and_processes_come_once_and_in_order)
{
	struct made m;

	begin(&m);
	text(&m, SPOOL_NAME, 1, "k");
	refused(&m, "the first record is of no process");
	one_kernel(&m);
	text(&m, SPOOL_PROCESS, T0, "./y");
	refused(&m, "a second process");
	one_kernel(&m);
	text(&m, SPOOL_NAME, 3, "l");
	refused(&m, "a name's number is not the next");
	begin(&m);
	text(&m, SPOOL_PROCESS, T0, "./x");
	KERNEL(&m, 100, 300);
	refused(&m, "a name is used before it is given");
}

TEST(times_and_sizes_out_of_range_are_refused)
{
	struct made m;

	one_kernel(&m);
	KERNEL(&m, 300, 200);
	refused(&m, "a time runs backwards");
	one_kernel(&m);
	PUT(&m, SPOOL_KERNEL, T0, UINT64_MAX, 1);
	refused(&m, "a time is out of range");
	one_kernel(&m);
	PUT(&m, SPOOL_MARK, T0 + 9, 1, EDGE_BEGIN, 3, 1);
	PUT(&m, SPOOL_MARK, T0 + 8, 1, EDGE_END, 3);
	refused(&m, "range 'k' in 'x.spool' runs backwards");
	one_kernel(&m);
	PUT(&m, SPOOL_COPY, T0, T0 + 1, 0, 1, 0, 1, 7, 0, 0, UINT64_MAX, 1, 1, 3);
	refused(&m, "a number of bytes is out of range");
	one_kernel(&m);
	PUT(&m, SPOOL_KERNEL, T0, T0 + 1, 1, 9, 0, 1, 7, 1, UINT64_MAX);
	refused(&m, "a graph's node is out of range");
}

TEST(a_spool_without_launches_leaves_nothing)
{
	struct made m;
	struct bed b;

	begin(&m);
	text(&m, SPOOL_PROCESS, T0, "./x");
	PUT(&m, SPOOL_END, T0 + 900);
	CHECK(import(&b, m.b, m.n) == 2 && b.e.kind == ERR_NONE);
	CHECK_U64(bed_ask(&b, "select count(*) from source"), 0);
	bed_close(&b);
}

SUITE(t_capture, T(all_facts_of_a_launch_are_kept), T(ranges_select_and_ops_of_emit_nvtx_have_shapes),
      T(an_end_that_comes_before_its_begin_is_a_range_and_one_alone_is_none),
      T(what_the_driver_lost_or_did_not_time_is_counted), T(a_program_of_known_launches_is_recorded_whole),
      T(a_decode_step_of_pytorch_is_recorded_with_its_ops), SLOW(cut_at_every_byte_it_gives_what_was_whole),
      T(other_files_and_versions_are_refused), T(damage_names_its_byte), T(names_and_processes_come_once_and_in_order),
      T(times_and_sizes_out_of_range_are_refused), T(a_spool_without_launches_leaves_nothing),
      T(the_command_line_is_stored_or_left_out));
