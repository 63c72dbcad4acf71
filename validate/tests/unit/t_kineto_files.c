/* t_kineto_files.c - the Kineto reader on files: the committed H200 trace, one small file for each trap that real
 * traces showed, and, where it lies beside the project, the collection of real traces itself. */
#include <stdlib.h>
#include <unistd.h>

#include "traces/read/format.h"
#include "validate/tests/tracebed.h"

#define H200 "traces/h200/kineto_dsocr_b1_c1024.json.gz"

static int import_file(struct bed *b, const char *path)
{
	bed_open(b, ":memory:", DB_WRITE);
	return format_import(b->db, FORMAT_KINETO, path, NULL, NULL, &b->st, &b->e);
}

static void root_path(char *out, size_t n, const char *relative)
{
	CHECK(snprintf(out, n, "%s/%s", test_root(), relative) < (int)n);
}

static void bed_up(struct bed *b, const char *relative, const char *range)
{
	char path[1024];

	root_path(path, sizeof path, relative);
	CHECK_OK(import_file(b, path), b->e);
	bed_load(b, range);
}

static void refused(const char *relative, const char *because)
{
	char path[1024];
	struct bed b;

	root_path(path, sizeof path, relative);
	CHECK(import_file(&b, path) == -1);
	CHECK_HAS(b.e.msg, because);
	bed_close(&b);
}

/* --- the H200 trace -------------------------------------------------------------------------------------------- */

static int64_t kernel_ns(const struct trace *t, size_t *kernels, size_t *blocking)
{
	int64_t sum = 0;

	*kernels = *blocking = 0;
	for (size_t i = 0; i < t->n_launches; i++) {
		*blocking += t->launches[i].blocking;
		if (t->launches[i].kind == TRACE_KERNEL) {
			sum += t->launches[i].dur_ns;
			++*kernels;
		}
	}
	return sum;
}

TEST(h200_trace_has_3165_kernels_of_8569116_ns_all_with_their_ops)
{
	struct bed b;
	size_t kernels, blocking;

	bed_up(&b, H200, NULL);
	CHECK_U64(b.st.kernels, 3165);
	CHECK_U64(b.st.copies, 132);
	CHECK_U64(b.st.sets, 3);
	CHECK_U64(b.st.ops, 12426);
	CHECK_U64(b.st.ranges, 3);
	CHECK_U64(b.st.calls, 4049);
	CHECK_U64(b.st.syncs, 35);
	CHECK_U64(b.st.linked, 3300);
	CHECK_U64(b.st.dropped_args, 0);
	CHECK_U64(b.st.events, 27192);
	CHECK_U64(b.st.json_bytes, 9303247);
	CHECK_U64(kernel_ns(&b.t, &kernels, &blocking), 8569116);
	CHECK_U64(kernels, 3165);
	CHECK_U64(blocking, 33);
	CHECK_U64(b.t.steps, 3);
	CHECK_U64(b.t.n_devices, 1);
	CHECK_STR(b.t.devices[0].name, "NVIDIA H200");
	CHECK_U64(b.t.devices[0].sms, 132);
	CHECK_STR(b.t.tool, "kineto");
	for (size_t i = 0; i < b.t.n_launches; i++) {
		const struct trace_launch *l = &b.t.launches[i];

		CHECK(l->op && l->host_start_ns >= 0 && l->id == (int64_t)i + 1);
		CHECK(i == 0 || l[-1].start_ns <= l->start_ns);
		for (const struct trace_op *o = l->op; o->up; o = o->up)
			CHECK(o->parent == o->up->id && o->up->start_ns <= o->start_ns &&
			      o->up->start_ns + o->up->dur_ns >= o->start_ns + o->dur_ns);
	}
	bed_close(&b);
}

TEST(h200_steps_are_ranges_of_1055_kernels_45_copies_and_sets_and_11_waits)
{
	static const char *const names[] = { "decode_step_0", "decode_step_1", "decode_step_2" };
	struct bed b;
	size_t kernels, blocking, dtoh;

	for (int i = 0; i < 3; i++) {
		bed_up(&b, H200, names[i]);
		kernel_ns(&b.t, &kernels, &blocking);
		CHECK_U64(kernels, 1055);
		CHECK_U64(b.t.n_launches, 1100);
		CHECK_U64(blocking, 11);
		CHECK_U64(b.t.n_syncs, 11);
		CHECK_STR(b.t.range, names[i]);
		CHECK_STR(b.t.ranges[i].name, names[i]);
		CHECK_U64(b.t.ranges[i].launches, 1100);
		dtoh = 0;
		for (size_t k = 0; k < b.t.n_launches; k++) {
			const struct trace_launch *l = &b.t.launches[k];

			CHECK(l->blocking == (strcmp(l->name, "Memcpy DtoH (Device -> Pageable)") == 0));
			dtoh += l->dir == TRACE_COPY_DTOH;
		}
		CHECK_U64(dtoh, 11);
		bed_close(&b);
	}
}

TEST(h200_attention_reads_a_cache_of_1025_rows)
{
	struct bed b;
	size_t n = 0;

	bed_up(&b, H200, "decode_step_1");
	for (size_t i = 0; i < b.t.n_launches; i++) {
		const struct trace_op *o = b.t.launches[i].op;

		if (strcmp(o->name, "aten::_cudnn_attention_forward") != 0)
			continue;
		n++;
		CHECK_STR(o->up->up->name, "aten::scaled_dot_product_attention");
		CHECK_STR(o->args[1].dtype, "c10::BFloat16");
		CHECK(o->args[1].ndims == 4 && o->args[1].dims[1] == 10 && o->args[1].dims[2] == 1025);
		CHECK(o->args[1].strides[1] == 131200);
	}
	CHECK_U64(n, 24); /* two kernels a layer */
	bed_close(&b);
}

/* --- small files, one trap each -------------------------------------------------------------------------------- */

#define SMALL "validate/tests/data/kineto/"

TEST(small_cuda_trace_gives_ops_waits_and_ranges)
{
	struct bed b;
	const struct trace_launch *l;

	bed_up(&b, SMALL "small.json", NULL);
	CHECK_U64(b.t.n_launches, 5);
	CHECK_U64(b.t.base_ns, 1700000000001000000);
	l = b.t.launches;
	CHECK(l[0].start_ns == 10010 && l[0].dur_ns == 2500 && l[0].host_start_ns == 3003 && l[0].host_dur_ns == 5000);
	CHECK(l[0].grid[0] == 4 && l[0].grid[2] == 3 && l[0].stream == 7 && l[0].registers == 80);
	CHECK_STR(l[0].op->name, "aten::mm");
	CHECK_STR(l[0].op->up->name, "aten::linear");
	CHECK(!l[0].op->up->up && l[0].op->up->parent == -1 && l[0].op->sequence == 41 && l[0].op->up->sequence == -1);
	CHECK(l[1].kind == TRACE_MEMCPY && l[1].blocking && l[1].bytes == 64 && l[1].dir == TRACE_COPY_DTOH);
	CHECK(l[2].kind == TRACE_MEMSET && !l[2].blocking && l[2].bytes == 4);
	CHECK_STR(l[3].name, "no_call_kernel");
	CHECK(!l[3].op && l[3].host_start_ns == -1);
	CHECK_U64(l[4].op->n_args, 3);
	CHECK(b.t.n_syncs == 1 && b.t.sync_ns[0] == 36000);
	CHECK_U64(b.t.steps, 2); /* three layers are inside a step */
	CHECK(b.t.devices[0].sm_major == 9 && b.t.devices[0].sm_minor == 1 && b.t.devices[0].smem_per_sm == 233472);
	CHECK(b.t.devices[0].mem_bytes == 8589934592 && b.t.devices[0].regs_per_sm == 65536);
	bed_close(&b);
	bed_up(&b, SMALL "small.json", "step_1");
	CHECK_U64(b.t.n_launches, 3);
	CHECK_STR(b.t.launches[2].name, "cat_kernel");     /* it runs after the annotation that launched it */
	CHECK_STR(b.t.launches[1].name, "no_call_kernel"); /* by time */
	bed_close(&b);
}

TEST(an_amd_trace_with_a_graph_and_without_geometry_is_read)
{
	struct bed b;

	bed_up(&b, SMALL "amd_graph.json", NULL);
	CHECK_U64(b.t.n_launches, 4);
	CHECK(b.t.launches[0].dir == TRACE_COPY_HTOD && b.t.launches[0].blocking); /* hipMemcpyWithStream waits */
	CHECK_U64(b.t.launches[0].graph, 0);
	for (int i = 1; i < 4; i++) {
		const struct trace_launch *l = &b.t.launches[i];

		CHECK(l->graph == 2 && l->graph_node == i && !l->op && l->grid[0] == 0 && l->device == 1);
		CHECK_U64(l->host_start_ns, 21000);
	}
	CHECK_U64(b.t.base_ns, 1759300074000099000);
	CHECK(b.t.n_devices == 2 && b.t.devices[1].smem_per_sm == 65536);
	CHECK_U64(b.t.steps, 1);
	bed_close(&b);
}

TEST(the_spelling_of_2021_and_a_bare_array_are_read)
{
	struct bed b;

	bed_up(&b, SMALL "old_spelling.json", NULL);
	CHECK(b.st.kernels == 1 && b.st.copies == 1 && b.st.sets == 1 && b.st.ops == 1 && b.st.calls == 1);
	CHECK_STR(b.t.launches[0].op->name, "aten::addmm");
	CHECK(b.t.launches[0].op->args[1].dims[1] == 4);
	CHECK_U64(b.t.launches[0].start_ns, 30000);
	CHECK_U64(b.t.launches[0].stream, 7);
	bed_close(&b);
}

TEST(an_external_id_and_a_correlation_that_come_twice_mean_the_last_before_the_launch)
{
	struct bed b;

	bed_up(&b, SMALL "duplicate_ids.json", NULL);
	CHECK_STR(b.t.launches[0].op->name, "first");
	CHECK_STR(b.t.launches[1].op->name, "second");
	CHECK_U64(b.t.launches[0].host_start_ns, 1000);
	CHECK_U64(b.t.launches[1].host_start_ns, 11000);
	bed_close(&b);
}

/* As Kineto wrote it for years: the id of a kernel and of its call is its correlation, which may be any op's id. */
TEST(ids_that_are_correlations_link_nothing_and_nesting_does)
{
	static const struct {
		const char *op;
		int64_t start_ns;
		enum trace_link link;
	} want[] = {
		{ "aten::mm", 5000, TRACE_LINK_NESTING },         /* its id is that of aten::relu, later */
		{ "aten::clamp_min", 52000, TRACE_LINK_NESTING }, /* of no op */
		{ NULL, 0, TRACE_LINK_NONE }, /* its call is not in the file, and ids are not to be trusted */
		{ NULL, 0, TRACE_LINK_NONE }, /* its id is that of an op that is over; there is none around it */
		{ "aten::mm", 210000, TRACE_LINK_NESTING }, /* its id is that of an op of another thread */
	};
	struct bed b;

	bed_up(&b, SMALL "old_ids.json", NULL);
	CHECK_U64(b.t.n_launches, 5);
	for (size_t i = 0; i < 5; i++) {
		const struct trace_launch *l = &b.t.launches[i];

		CHECK_STR(l->op ? l->op->name : "none", want[i].op ? want[i].op : "none");
		CHECK_U64(l->op ? l->op->start_ns : 0, want[i].start_ns);
		CHECK_U64(l->link, want[i].link);
	}
	CHECK(b.st.linked == 3 && b.st.nested == 3 && b.st.refuted == 3);
	bed_close(&b);
}

TEST(traces_without_device_activity_say_what_they_hold)
{
	refused(SMALL "host_only.json", "only the host's (2 ops and calls)");
	refused(SMALL "range_profiler.json", "CUPTI's range profiler");
}

TEST(quotes_without_a_backslash_are_found_and_explained)
{
	char path[1024], text[2048];
	struct bed b;

	root_path(path, sizeof path, SMALL "unescaped_quotes.json");
	CHECK(import_file(&b, path) == -1);
	CHECK_U64(b.e.line, 3);
	CHECK(b.e.col > 45 && b.e.col < 52);
	CHECK_HAS(b.e.msg, "triton_\"fused\"_add");
	CHECK_HAS(b.e.msg, "some exporters write quotes in names without the backslash");
	err_format(&b.e, text, sizeof text);
	CHECK_HAS(text, "unescaped_quotes.json:3:");
	bed_close(&b);
}

/* --- files as such --------------------------------------------------------------------------------------------- */

TEST(unreadable_paths_are_named)
{
	char path[1024];
	struct bed b;

	CHECK(import_file(&b, "/nowhere/x.json") == -1);
	CHECK_HAS(b.e.msg, "cannot read '/nowhere/x.json': No such file");
	bed_close(&b);
	CHECK(import_file(&b, test_tmp()) == -1);
	CHECK_HAS(b.e.msg, "is no regular file");
	bed_close(&b);
	test_path(path, sizeof path, "empty.json");
	fclose(fopen(path, "w"));
	CHECK(import_file(&b, path) == -1);
	CHECK_HAS(b.e.msg, "empty.json' is empty");
	bed_close(&b);
}

static void put_file(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	CHECK(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
}

TEST(a_download_that_broke_off_is_refused_by_name)
{
	unsigned char head[100000];
	char path[1024];
	struct bed b;
	FILE *f;

	root_path(path, sizeof path, H200);
	CHECK((f = fopen(path, "rb")) && fread(head, 1, sizeof head, f) == sizeof head);
	fclose(f);
	test_path(path, sizeof path, "half.json.gz");
	put_file(path, head, sizeof head);
	CHECK(import_file(&b, path) == -1);
	CHECK_HAS(b.e.msg, "half.json.gz' ends in the middle of its gzip stream");
	bed_close(&b);
}

static void note_progress(void *arg, uint64_t done, uint64_t total)
{
	uint64_t *seen = arg;

	CHECK(done > seen[0] && done <= total);
	seen[0] = done;
	seen[1] = total;
}

TEST(progress_runs_to_the_size_of_the_file)
{
	uint64_t seen[2] = { 0, 0 };
	char path[1024];
	struct bed b;

	root_path(path, sizeof path, H200);
	bed_open(&b, ":memory:", DB_WRITE);
	CHECK_OK(format_import(b.db, FORMAT_KINETO, path, note_progress, seen, &b.st, &b.e), b.e);
	CHECK(seen[0] == 592536 && seen[1] == 592536);
	bed_close(&b);
}

/* --- real traces of others, not committed ---------------------------------------------------------------------- */

static size_t kernels_linked(const struct trace *t, enum trace_link how)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_launches; i++)
		n += t->launches[i].kind == TRACE_KERNEL && t->launches[i].link == how;
	return n;
}

TEST(real_traces_are_imported_rightly_or_refused_with_the_reason)
{
	static const struct {
		const char *name, *refused;
		int64_t kernels, copies, sets, ops, linked, steps, blocking, kernel_ns;
		int64_t links[TRACE_LINKS],
			refuted; /* of kernels: none, by id, by nesting; ids that name an op elsewhere */
	} all[] = {
		{ "hta_cupti_profiler_trace.json.gz", "CUPTI's range profiler", 0, 0, 0, 0, 0, 0, 0, 0, { 0 }, 0 },
		{ "hta_ns_resolution_rank-0.pt.trace.json.gz",
		  NULL,
		  4350,
		  1600,
		  145,
		  23910,
		  6095,
		  5,
		  0,
		  468153602,
		  { 0, 4350, 0 },
		  0 },
		{ "tracelens_h100_bert-small.json.gz", NULL, 60, 1, 0, 479, 61, 1, 1, 307197, { 0, 60, 0 }, 0 },
		{ "tracelens_mi210_gpu_only_trace.json.gz", NULL, 562, 0, 0, 0, 0, 1, 0, 5343422, { 562, 0, 0 }, 0 },
		{ "tracelens_vllm_decode_full_graph_execution.json.gz",
		  NULL,
		  425,
		  9,
		  0,
		  100,
		  13,
		  1,
		  0,
		  10674517,
		  { 421, 4, 0 },
		  0 },
	};

	const size_t n = sizeof all / sizeof *all;
	size_t absent = 0, kernels, blocking;
	char path[1024];
	struct bed b;

	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s/../shared/samples/kineto_json/%s", test_root(), all[i].name);
		if (access(path, R_OK) != 0) {
			absent++;
			continue;
		}
		if (all[i].refused) {
			CHECK(import_file(&b, path) == -1);
			CHECK_HAS(b.e.msg, all[i].refused);
		} else {
			CHECK_OK(import_file(&b, path), b.e);
			bed_load(&b, NULL);
			CHECK_U64(b.st.kernels, all[i].kernels);
			CHECK_U64(b.st.copies, all[i].copies);
			CHECK_U64(b.st.sets, all[i].sets);
			CHECK_U64(b.st.ops, all[i].ops);
			CHECK_U64(b.st.linked, all[i].linked);
			CHECK_U64(b.t.steps, all[i].steps);
			CHECK_U64(kernel_ns(&b.t, &kernels, &blocking), all[i].kernel_ns);
			CHECK_U64(blocking, all[i].blocking);
			for (int k = 0; k < TRACE_LINKS; k++)
				CHECK_U64(kernels_linked(&b.t, (enum trace_link)k), all[i].links[k]);
			CHECK_U64(b.st.refuted, all[i].refuted);
		}
		bed_close(&b);
	}
	if (absent)
		test_skip("not run: %zu files absent", absent);
}

SUITE(t_kineto_files, T(h200_trace_has_3165_kernels_of_8569116_ns_all_with_their_ops),
      SLOW(h200_steps_are_ranges_of_1055_kernels_45_copies_and_sets_and_11_waits),
      T(h200_attention_reads_a_cache_of_1025_rows), T(small_cuda_trace_gives_ops_waits_and_ranges),
      T(an_amd_trace_with_a_graph_and_without_geometry_is_read), T(the_spelling_of_2021_and_a_bare_array_are_read),
      T(an_external_id_and_a_correlation_that_come_twice_mean_the_last_before_the_launch),
      T(ids_that_are_correlations_link_nothing_and_nesting_does), T(traces_without_device_activity_say_what_they_hold),
      T(quotes_without_a_backslash_are_found_and_explained), T(unreadable_paths_are_named),
      T(a_download_that_broke_off_is_refused_by_name), T(progress_runs_to_the_size_of_the_file),
      T(real_traces_are_imported_rightly_or_refused_with_the_reason));
