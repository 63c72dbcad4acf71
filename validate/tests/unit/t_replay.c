/* t_replay.c - a published table replayed: the committed one of the RTX 5090 to the nanosecond, and files that are wrong. */
#include <stdlib.h>

#include "traces/read/replay.h"
#include "validate/tests/tracebed.h"

#define STEPS 64

static char *root_path(char buf[1024], const char *name)
{
	CHECK(snprintf(buf, 1024, "%s/%s", test_root(), name) < 1024);
	return buf;
}

static int import_with(struct bed *b, const char *path, int64_t context)
{
	return format_import_with(b->db, FORMAT_AUTO, path, &(struct format_options){ .context = context }, &b->st,
	                          &b->e);
}

static void up(struct bed *b, int64_t context)
{
	char path[1024];

	bed_open(b, ":memory:", DB_WRITE);
	CHECK_OK(import_with(b, root_path(path, "traces/rtx5090/dsocr.yaml"), context), b->e);
	bed_load(b, NULL);
}

/* The table as its own reader has it. */
static void table(struct bed *b)
{
	CHECK_OK(bed_import(b, "traces/rtx5090/dsocr_decode.csv"), b->e);
	CHECK_OK(tracedb_load_any(b->db, NULL, b->a, &b->t, &b->e), b->e);
}

TEST(a_step_has_the_tables_kernels_and_its_time_to_the_nanosecond)
{
	struct bed b, t;

	up(&b, 0);
	table(&t);
	CHECK_U64(t.t.n_stats, 46);
	CHECK_U64(b.st.kernels, 78016 / STEPS);
	CHECK_U64(bed_ask(&b, "select sum(dur_ns) from launch where kind = 0"), (179072697 + STEPS / 2) / STEPS);
	CHECK_U64(bed_ask(&b, "select sum(dur_ns) from launch where kind > 0"), 0);
	CHECK_U64(b.t.wall_ns, 11050000);
	CHECK_U64(b.st.context, 945);
	CHECK_U64(bed_ask(&b, "select count(*) from launch where op is null"), 0);
	for (size_t i = 0; i < t.t.n_stats; i++) {
		const struct trace_stat *s = &t.t.stats[i];
		int64_t n = 0, ns = 0;

		for (size_t k = 0; k < b.t.n_launches; k++) {
			const struct trace_launch *l = &b.t.launches[k];

			if (strcmp(l->name, s->name) != 0)
				continue;
			n++;
			ns += l->dur_ns;
			/* The one row whose mean in other steps is another has room for it too. */
			CHECK(l->dur_ns >= s->min_ns && l->dur_ns <= s->max_ns);
		}
		CHECK(n * STEPS - s->instances < STEPS && s->instances - n * STEPS < STEPS);
		CHECK(ns * STEPS - s->total_ns <= STEPS && s->total_ns - ns * STEPS <= STEPS);
	}
	bed_close(&t);
	bed_close(&b);
}

TEST(the_vocabulary_takes_its_rows_maximum_and_products_share_by_weights)
{
	struct bed b;

	up(&b, 0);
	CHECK_U64(bed_ask(&b, "select l.dur_ns from launch l join op o on o.id = l.op join args a on a.id = o.args"
	                      " where a.text like '%[1280,129280]%'"),
	          208004);
	/* 17.5 MB, 3.8 times a shared expert's 4.6: 6,848 columns to 1,792. */
	CHECK_U64(bed_ask(&b,
	                  "select max(l.dur_ns) * 1000 / 6848 - min(l.dur_ns) * 1000 / 1792 < 3 from launch l join op o"
	                  " on o.id = l.op join args a on a.id = o.args where a.text like '%[1280,6848]%'"
	                  " or a.text like '%[1280,1792]%'"),
	          1);
	bed_close(&b);
}

TEST(context_changes_attention_and_what_is_joined_to_the_cache)
{
	struct bed b;

	up(&b, 472);
	CHECK_U64(b.st.context, 472);
	CHECK_U64(bed_ask(&b, "select count(*) from launch l join op o on o.id = l.op join args a on a.id = o.args"
	                      " where a.text like '%[1,10,472,128],[604160,60416,128,1]%'"),
	          24);
	CHECK_U64(bed_ask(&b, "select count(*) from launch l join op o on o.id = l.op join args a on a.id = o.args"
	                      " where a.text like '%[1,10,473,128]%' and a.text like '%\"473\"%'"),
	          24);
	CHECK_U64(bed_ask(&b, "select count(*) from args where text like '%1024%' or text like '%1025%'"), 0);
	CHECK_U64(bed_ask(&b, "select sum(dur_ns) from launch"), 2798011);
	bed_close(&b);
}

TEST(two_contexts_are_two_traces_and_one_twice_is_noticed)
{
	struct bed b;
	char path[1024];

	up(&b, 0);
	root_path(path, "traces/rtx5090/dsocr.yaml");
	CHECK_U64(import_with(&b, path, 945), 1);
	CHECK_OK(import_with(&b, path, 946), b.e);
	CHECK_U64(bed_ask(&b, "select count(*) from source"), 2);
	bed_close(&b);
}

/* --- what is refused ------------------------------------------------------------------------------------------- */

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *text = calloc(1, 1 << 20);
	size_t n;

	CHECK(f && text);
	n = fread(text, 1, (1 << 20) - 1, f);
	CHECK(n > 0 && feof(f));
	fclose(f);
	return text;
}

/* The committed file with one text in place of another is refused for that reason, and nothing is left of it. */
static void refused(const char *was, const char *is, const char *because)
{
	char path[1024], copy[1024], *text = slurp(root_path(path, "traces/rtx5090/dsocr.yaml")),
				     *at = strstr(text, was);
	struct bed b;
	FILE *f;

	CHECK(at);
	test_path(copy, sizeof copy, "replay.yaml");
	CHECK(f = fopen(copy, "wb"));
	/* The copy lies elsewhere, so the files beside it are named in full. */
	fprintf(f, "%.*s%s%s", (int)(at - text), text, is, at + strlen(was));
	CHECK(fclose(f) == 0);
	free(text);
	text = slurp(copy);
	CHECK(f = fopen(copy, "wb"));
	for (const char *p = text; *p; p++) {
		if (strncmp(p, "file: dsocr_decode.csv", 22) == 0) {
			fprintf(f, "file: %s/traces/rtx5090/", test_root());
			p += 5;
		} else if (strncmp(p, "file: ../h200", 13) == 0) {
			fprintf(f, "file: %s/traces/h200", test_root());
			p += 12;
		} else {
			fputc(*p, f);
		}
	}
	CHECK(fclose(f) == 0);
	free(text);
	bed_open(&b, ":memory:", DB_WRITE);
	bed_refused(&b, format_import(b.db, FORMAT_REPLAY, copy, NULL, NULL, &b.st, &b.e), because);
}

TEST(what_does_not_fit_the_table_or_the_step_is_refused_with_the_row)
{
	refused("from: [{kernel: 'silu_kernel'}]", "from: []", "maps no row to kernel");
	refused("from: [{kernel: 'silu_kernel'}]", "from: [{kernel: 'gelu_kernel'}]", "maps no row to kernel");
	refused("- row: 46\n  is: 'DeviceScanInitKernel'\n  why: added; belongs to row 40\n", "",
	        "has no entry for row 46");
	refused("- row: 46\n", "- row: 47\n", "has 46 rows");
	refused("- row: 46\n", "- row: 45\n", "row 45 has an entry");
	refused("is: 'silu_kernel'", "is: 'gelu_kernel'", "row 5 of");
	refused("  every: 4\n", "  every: 2\n", "row 3 runs 94 times a step, and 118 launches");
	refused("  launches: 24\n", "", "'launches' says how often in one");
	refused("  launches: 24\n", "  launches: 22\n", "are not 22 in one");
	refused("- {row: 46, op", "- {row: 47, op", "names row 47");
	refused("steps: 64", "steps: 63", "row 1 ran 16448 times in 63 steps");
	refused("- {kernel: 'reduce_1Block_kernel'", "- {kernel: 'reduce_2Block_kernel'", "maps no row to kernel");
	refused("- after: {kernel: 'sbtopk::gatherTopK'}", "- after: {kernel: 'sbtopk::other'}",
	        "no launch of 'decode_step_1'");
}

TEST(what_is_wrong_in_the_file_itself_is_refused_with_its_place)
{
	refused("is: 'silu_kernel'", "is: '(silu'", "is not a regular expression");
	refused("'bf16[64,1280]'", "'bf16[64,x]'", "is no tensor");
	refused("'bf16[1280,64]@[1,1280]'", "'bf16[1280,64]@[1]'", "not as many strides as dims");
	refused("why: the same kernel, 78 times", "whi: the same kernel, 78 times", "did you mean 'why'");
	refused("  by: elements\n", "  by: bytes\n", "shared by 'elements'");
	refused("range: decode_step_1", "range: decode_step_9", "decode_step_9");
	refused("../h200/kineto_dsocr_b1_c1024.json.gz", "nowhere.json", "there is no file");
	refused("wall: 11.05 ms", "wall: 11.05", "11.05");
	refused("tokens: 945", "tokens: 0", "0");
	refused("compute: '12.0'", "compute: twelve", "compute capability");
	refused("replay: 1\n", "replay: 2\n", "2");
}

TEST(a_replay_of_a_replay_and_contexts_of_nothing_are_refused)
{
	char path[1024];
	struct bed b;

	refused("../h200/kineto_dsocr_b1_c1024.json.gz", "../h200/../rtx5090/dsocr.yaml", "from another replay");
	bed_open(&b, ":memory:", DB_WRITE);
	CHECK(import_with(&b, root_path(path, "traces/rtx5090/dsocr.yaml"), REPLAY_CONTEXT_MAX + 1) == -1);
	CHECK_HAS(b.e.msg, "between 1 and");
	err_clear(&b.e);
	CHECK(import_with(&b, root_path(path, "traces/rtx5090/dsocr_decode.csv"), 945) == -1);
	CHECK_HAS(b.e.msg, "a context is for a replay");
	bed_close(&b);
}

SUITE(t_replay, T(a_step_has_the_tables_kernels_and_its_time_to_the_nanosecond),
      T(the_vocabulary_takes_its_rows_maximum_and_products_share_by_weights),
      T(context_changes_attention_and_what_is_joined_to_the_cache),
      SLOW(two_contexts_are_two_traces_and_one_twice_is_noticed),
      SLOW(what_does_not_fit_the_table_or_the_step_is_refused_with_the_row),
      T(what_is_wrong_in_the_file_itself_is_refused_with_its_place),
      T(a_replay_of_a_replay_and_contexts_of_nothing_are_refused));
