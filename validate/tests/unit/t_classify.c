/* t_classify.c - names, families and copies of a trace: sums, orders, shares of one name between families. */
#include "sim/profile/classify.h"
#include "traces/read/format.h"
#include "validate/tests/test.h"

static const char table[] =
	"rules:\n"
	"- {name: dot, kernel: '^dot', kind: gemm, shape: product, family: gemm, m1_family: gemv, friendly: product,"
	" library: cuBLAS}\n"
	"- {name: mul, kernel: 'MulFunctor', kind: elementwise, shape: elementwise, fn: mul, family: elementwise,"
	" friendly: multiply, library: ATen}\n"
	"- {name: add, kernel: 'AddFunctor', kind: elementwise, shape: elementwise, fn: add, family: elementwise}\n";

struct bed {
	struct arena *a;
	struct rules *rules;
	struct trace t;
	struct trace_launch l[64];
	struct err e;
};

static void up(struct bed *b)
{
	memset(b, 0, sizeof *b);
	CHECK((b->a = arena_new(0)) != NULL);
	b->rules = rules_parse(table, strlen(table), "table", &b->e);
	CHECK_STR(b->e.msg, "");
	b->t.launches = b->l;
}

static void down(struct bed *b)
{
	rules_free(b->rules);
	arena_free(b->a);
}

static struct trace_launch *add(struct bed *b, enum trace_launch_kind kind, const char *name, int64_t ns)
{
	struct trace_launch *l = &b->l[b->t.n_launches++];

	*l = (struct trace_launch){
		.id = (int64_t)b->t.n_launches, .kind = kind, .name = name, .dur_ns = ns, .bytes = -1
	};
	return l;
}

static struct classify classify(struct bed *b)
{
	struct classify c;

	CHECK_OK(classify_trace(&b->t, b->rules, b->a, &c, &b->e), b->e);
	return c;
}

/* A product of m rows: aten::mm of [m, 8] and [8, 4]. */
static const struct trace_op *product(struct trace_op *op, struct trace_arg args[2], int64_t m)
{
	args[0] = (struct trace_arg){ .dtype = "float", .scalar = "", .ndims = 2, .list = -1, .dims = { m, 8 } };
	args[1] = (struct trace_arg){
		.dtype = "float", .scalar = "", .ndims = 2, .list = -1, .pos = 1, .dims = { 8, 4 }
	};
	*op = (struct trace_op){ .id = m, .parent = -1, .name = "aten::mm", .sequence = -1, .n_args = 2, .args = args };
	return op;
}

TEST(names_are_summed_and_come_longest_first_then_by_name)
{
	struct bed b;
	struct classify c;

	up(&b);
	add(&b, TRACE_KERNEL, "k<MulFunctor>", 100);
	add(&b, TRACE_KERNEL, "z<AddFunctor>", 150);
	add(&b, TRACE_KERNEL, "a<AddFunctor>", 150);
	add(&b, TRACE_KERNEL, "k<MulFunctor>", 300);
	c = classify(&b);
	CHECK_U64(c.kernel_count, 4);
	CHECK_U64(c.kernel_ns, 700);
	CHECK_U64(c.n_kernels, 3);
	CHECK_STR(c.kernels[0].name, "k<MulFunctor>");
	CHECK_U64(c.kernels[0].count, 2);
	CHECK_U64(c.kernels[0].total_ns, 400);
	CHECK_STR(c.kernels[1].name, "a<AddFunctor>");
	CHECK_STR(c.kernels[2].name, "z<AddFunctor>");
	CHECK_STR(c.kernels[0].friendly, "multiply");
	CHECK_STR(c.kernels[0].library, "ATen");
	down(&b);
}

TEST(families_sum_over_names)
{
	struct bed b;
	struct classify c;

	up(&b);
	add(&b, TRACE_KERNEL, "k<MulFunctor>", 100);
	add(&b, TRACE_KERNEL, "k<AddFunctor>", 200);
	add(&b, TRACE_KERNEL, "who", 250);
	c = classify(&b);
	CHECK_U64(c.n_families, 2);
	CHECK_STR(c.families[0].name, "elementwise");
	CHECK_U64(c.families[0].count, 2);
	CHECK_U64(c.families[0].total_ns, 300);
	CHECK_STR(c.families[1].name, "unknown");
	CHECK_U64(c.families[1].total_ns, 250);
	down(&b);
}

TEST(a_name_of_two_families_is_split_between_them_and_shows_the_larger)
{
	struct trace_arg one[2], many[2];
	struct trace_op m1, m9;
	struct bed b;
	struct classify c;

	up(&b);
	add(&b, TRACE_KERNEL, "dot", 100)->op = product(&m1, one, 1);
	add(&b, TRACE_KERNEL, "dot", 70)->op = product(&m9, many, 9);
	add(&b, TRACE_KERNEL, "dot", 70)->op = &m9;
	c = classify(&b);
	CHECK_U64(c.n_kernels, 1);
	CHECK_STR(c.kernels[0].family, "gemm");
	CHECK_U64(c.kernels[0].total_ns, 240);
	CHECK_U64(c.n_families, 2);
	CHECK_STR(c.families[0].name, "gemm");
	CHECK_U64(c.families[0].total_ns, 140);
	CHECK_STR(c.families[1].name, "gemv");
	CHECK_U64(c.families[1].total_ns, 100);
	down(&b);
}

TEST(copies_and_sets_stand_apart_from_kernels)
{
	struct trace_launch *l;
	struct bed b;
	struct classify c;

	up(&b);
	add(&b, TRACE_KERNEL, "k<MulFunctor>", 100);
	l = add(&b, TRACE_MEMCPY, "Memcpy DtoH (Device -> Pageable)", 30);
	l->dir = TRACE_COPY_DTOH;
	l->bytes = 512;
	l = add(&b, TRACE_MEMCPY, "Memcpy DtoH (Device -> Pinned)", 30);
	l->dir = TRACE_COPY_DTOH;
	l->bytes = 8;
	add(&b, TRACE_MEMSET, "Memset (Device)", 90); /* bytes unknown */
	c = classify(&b);
	CHECK_U64(c.kernel_ns, 100);
	CHECK_U64(c.copy_count, 3);
	CHECK_U64(c.copy_ns, 150);
	CHECK_U64(c.copy_bytes, 520);
	CHECK_U64(c.n_copies, 2);
	CHECK_STR(c.copies[0].name, "set");
	CHECK_U64(c.copies[0].bytes, 0);
	CHECK_STR(c.copies[1].name, "DtoH");
	CHECK_U64(c.copies[1].count, 2);
	down(&b);
}

TEST(an_empty_selection_gives_empty_tables)
{
	struct bed b;
	struct classify c;

	up(&b);
	c = classify(&b);
	CHECK_U64(c.n_kernels + c.n_families + c.n_copies, 0);
	down(&b);
}

TEST(a_kernel_without_a_rule_has_a_short_name)
{
	static const struct {
		const char *name, *want;
	} cases[] = {
		{ "void at::native::(anonymous namespace)::cat_kernel<float, 4>(int, float*)", "cat_kernel" },
		{ "void cutlass::Kernel2<cutlass_80_wmma>(cutlass::Params)", "Kernel2" },
		{ "nvjet_sm90_tst_8x64", "nvjet_sm90_tst_8x64" },
		{ "ns::plain(float*, int)", "plain" },
		{ "Cijk_Ailk_Bljk", "Cijk_Ailk_Bljk" },
		{ "void ", "void " },
		{ "a::", "a::" },
		{ "(", "(" },
		{ "", "" },
	};
	struct arena *a = arena_new(0);

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		CHECK_STR(classify_short_name(cases[i].name, a), cases[i].want);
	arena_free(a);
}

/* More names than the tables start with. */
TEST(many_names_keep_their_own_sums)
{
	enum { N = 5000 };
	static struct trace_launch l[2 * N];
	static char names[N][16];
	struct bed b;
	struct classify c;

	up(&b);
	for (int i = 0; i < 2 * N; i++) {
		snprintf(names[i % N], sizeof names[0], "kernel%d", i % N);
		l[i] = (struct trace_launch){
			.id = i + 1, .kind = TRACE_KERNEL, .name = names[i % N], .dur_ns = 1 + i % N
		};
	}
	b.t.launches = l;
	b.t.n_launches = 2 * N;
	c = classify(&b);
	CHECK_U64(c.n_kernels, N);
	for (int i = 0; i < N; i++) {
		CHECK_U64(c.kernels[i].total_ns, 2 * (uint64_t)(N - i));
		CHECK_U64(c.kernels[i].count, 2);
	}
	down(&b);
}

/* --- launches together ----------------------------------------------------------------------------------------- */

static void same_as_groups(struct tracedb *db, const char *range)
{
	struct arena *a = arena_new(0);
	struct rules *rules;
	struct classify x, y;
	struct trace t, g;
	struct err e = ERR_INIT;

	CHECK(a);
	CHECK_OK((rules = rules_load(NULL, &e)) ? 0 : -1, e);
	CHECK_OK(tracedb_load_any(db, range, a, &t, &e), e);
	CHECK_OK(tracedb_load_groups(db, range, a, &g, &e), e);
	CHECK(g.n_launches == 0 && g.n_grouped == t.n_launches && g.n_groups < t.n_launches / 4);
	CHECK_OK(classify_trace(&t, rules, a, &x, &e), e);
	CHECK_OK(classify_trace(&g, rules, a, &y, &e), e);
	CHECK(x.kernel_count == y.kernel_count && x.kernel_ns == y.kernel_ns && x.copy_bytes == y.copy_bytes);
	CHECK(x.n_kernels == y.n_kernels && x.n_families == y.n_families && x.n_copies == y.n_copies);
	for (size_t i = 0; i < x.n_kernels; i++) {
		CHECK_STR(y.kernels[i].name, x.kernels[i].name);
		CHECK_STR(y.kernels[i].friendly, x.kernels[i].friendly);
		CHECK_STR(y.kernels[i].family, x.kernels[i].family);
		CHECK(y.kernels[i].count == x.kernels[i].count && y.kernels[i].total_ns == x.kernels[i].total_ns);
	}
	for (size_t i = 0; i < x.n_families; i++) {
		CHECK_STR(y.families[i].name, x.families[i].name);
		CHECK(y.families[i].count == x.families[i].count && y.families[i].total_ns == x.families[i].total_ns);
	}
	for (size_t i = 0; i < x.n_copies; i++) {
		CHECK_STR(y.copies[i].name, x.copies[i].name);
		CHECK(y.copies[i].count == x.copies[i].count && y.copies[i].bytes == x.copies[i].bytes);
	}
	rules_free(rules);
	arena_free(a);
}

TEST(groups_of_launches_are_classified_as_the_launches_are)
{
	struct trace_import_stats st;
	struct tracedb *db;
	struct err e = ERR_INIT;
	char path[1024];

	CHECK(snprintf(path, sizeof path, "%s/traces/h200/kineto_dsocr_b1_c1024.json.gz", test_root()) <
	      (int)sizeof path);
	CHECK_OK((db = tracedb_open(":memory:", DB_WRITE, &e)) ? 0 : -1, e);
	CHECK_OK(format_import(db, FORMAT_KINETO, path, NULL, NULL, &st, &e), e);
	same_as_groups(db, NULL);
	same_as_groups(db, "decode_step_1");
	tracedb_free(db);
}

SUITE(t_classify, T(names_are_summed_and_come_longest_first_then_by_name), T(families_sum_over_names),
      T(a_name_of_two_families_is_split_between_them_and_shows_the_larger), T(copies_and_sets_stand_apart_from_kernels),
      T(an_empty_selection_gives_empty_tables), T(a_kernel_without_a_rule_has_a_short_name),
      T(many_names_keep_their_own_sums), T(groups_of_launches_are_classified_as_the_launches_are));
