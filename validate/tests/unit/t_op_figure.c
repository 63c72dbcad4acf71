/* t_op_figure.c - a figure of an op is one row: whatever the table has is in the JSON, in CSV, in tables, on the page and
 * in a results file, each time with the same value. No figure is named here. */
#include "results/op_figure.h"

#include <string.h>

#include "results/db/res_int.h"
#include "sim/base/str.h"
#include "sim/report/figure_doc.h"
#include "validate/tests/test.h"

enum { ALL_KNOWN = OP_KNOWN_RUN | OP_KNOWN_USE | OP_KNOWN_POWER, N_OPS = 3 };

/* Every number is another one, and the first the largest: the op's time. */
static struct op_figures numbers(void)
{
	struct op_figures x = { 0 };
	uint64_t n = 1000;

	for (const struct op_figure *f = op_figure_table; f->help; f++)
		if (f->member)
			op_figure_set(f, &x, n -= 7);
	return x;
}

static bool is_column(const struct op_figure *f)
{
	return f->kept == FIGURE_COLUMN;
}

/* --- the table --------------------------------------------------------------------------------------------- */

static void check_apart(const char *a, const char *b)
{
	if (a && b && strcmp(a, b) == 0)
		test_fail(__FILE__, __LINE__, "'%s' is there twice", a);
}

TEST(no_two_figures_of_an_op_share_a_name)
{
	for (const struct op_figure *f = op_figure_table; f->help; f++)
		for (const struct op_figure *g = f + 1; g->help; g++) {
			check_apart(f->name, g->name);
			check_apart(f->on_page ? f->on_page : f->name, g->on_page ? g->on_page : g->name);
			check_apart(f->timeline, g->timeline);
			check_apart(f->title, g->title);
			check_apart(f->member, g->member);
		}
}

TEST(a_row_of_an_op_is_whole)
{
	size_t n = 0;

	for (const struct op_figure *f = op_figure_table; f->help; f++, n++) {
		CHECK(f->unit && (!f->member || (f->raw && f->per >= 1)));
		CHECK(!f->member == (f->make != NULL));
		CHECK(!f->member == (f->kept == FIGURE_MADE));
		CHECK(!f->name == (!f->json && !f->csv && !f->page));
		CHECK(!f->on_page || f->page);
		CHECK(!f->timeline || f->member);
		CHECK(!f->title == (f->table == OP_NOWHERE) &&
		      (f->table == OP_NOWHERE || f->table == OP_TIME || f->table == OP_REST));
	}
	CHECK_U64(n, OP_FIGURE_ROWS);
}

/* --- on their way out -------------------------------------------------------------------------------------- */

/* What an output has of a figure: `key` before its value where it writes one. */
static void want_value(const struct op_figure *f, const char *key, bool known, struct str *want)
{
	const struct op_figures x = numbers();
	const struct figure_value v = op_figure_value(f, &x, ALL_KNOWN);

	str_clear(want);
	str_add(want, key);
	if (!known)
		str_add(want, "null");
	else if (v.whole)
		str_addf(want, "%llu", (unsigned long long)v.n);
	else
		str_addf(want, "%.9g", v.x);
}

struct case_of {
	const struct op_figures *x;
	unsigned known;
};

static void of_op(struct doc *d, const void *of, size_t i)
{
	const struct case_of *c = (const struct case_of *)of + i;

	for (int part = OP_TIME; part <= OP_REST; part++)
		figure_doc_op(d, (enum op_part)part, c->x, c->known);
}

static void check_json(unsigned known)
{
	const struct op_figures x = numbers();
	struct str got = STR_INIT, want = STR_INIT;
	struct doc d;

	doc_init(&d, OUT_JSON, 0, &got);
	doc_open(&d, NULL, '{');
	of_op(&d, &(struct case_of){ &x, known }, 0);
	doc_close(&d, '}');
	for (const struct op_figure *f = op_figure_table; f->help; f++) {
		char key[64];

		if (!f->json)
			continue;
		snprintf(key, sizeof key, "\"%s\": ", f->name);
		want_value(f, key, op_figure_known(f, known), &want);
		CHECK_HAS(str_c(&got), str_c(&want));
	}
	str_free(&got);
	str_free(&want);
}

TEST(the_json_of_an_op_has_every_figure_and_null_where_one_is_not_known)
{
	check_json(ALL_KNOWN);
	check_json(OP_KNOWN_RUN | OP_KNOWN_USE); /* no model of power */
	check_json(0);                           /* carried */
}

TEST(the_csv_of_an_op_has_a_column_a_figure_and_nothing_where_it_is_carried)
{
	const struct op_figures x = numbers();
	const struct case_of ops[] = { { &x, ALL_KNOWN }, { &x, 0 } };
	struct str got = STR_INIT, want = STR_INIT, values = STR_INIT, value = STR_INIT;
	struct doc d;
	int n = 0;

	doc_init(&d, OUT_CSV, 0, &got);
	doc_table(&d, NULL, NULL, 2, of_op, ops);
	for (int part = OP_TIME; part <= OP_REST; part++)
		for (const struct op_figure *f = op_figure_table; f->help; f++) {
			if ((int)f->csv != part)
				continue;
			str_addf(&want, "%s%s", n ? "," : "", f->name);
			want_value(f, n++ ? "," : "\n", true, &value);
			str_add(&values, str_c(&value));
		}
	str_add(&want, str_c(&values));
	str_addc(&want, '\n');
	for (int i = 1; i < n; i++)
		str_addc(&want, ',');
	str_addc(&want, '\n');
	CHECK_STR(str_c(&got), str_c(&want));
	str_free(&got);
	str_free(&want);
	str_free(&values);
	str_free(&value);
}

/* A table for people has a column where the run knows it, and as many cells. */
static void check_table(unsigned known)
{
	const struct op_figures x = numbers();
	const struct case_of op = { &x, known };
	struct str got = STR_INIT;
	const char *at;
	struct doc d;

	doc_init(&d, OUT_TABLE, 0, &got);
	doc_table(&d, NULL, NULL, 1, of_op, &op);
	at = str_c(&got);
	for (int part = OP_TIME; part <= OP_REST; part++)
		for (const struct op_figure *f = op_figure_table; f->help; f++)
			if ((int)f->table == part && op_figure_known(f, known)) {
				CHECK_HAS(at, f->title);
				at = strstr(at, f->title) + strlen(f->title);
			}
	CHECK(*at == '\n'); /* no column more */
	for (int part = OP_TIME; part <= OP_REST; part++)
		for (const struct op_figure *f = op_figure_table; f->help; f++) {
			const struct figure_value v = op_figure_value(f, &x, known);
			char want[64];

			if ((int)f->table != part || !op_figure_known(f, known))
				continue;
			if (v.whole)
				snprintf(want, sizeof want, "%llu", (unsigned long long)v.n);
			else
				snprintf(want, sizeof want, "%.*f", f->digits, f->percent ? v.x * 100 : v.x);
			CHECK_HAS(at, want);
			at = strstr(at, want) + strlen(want);
		}
	CHECK_STR(at, "\n");
	str_free(&got);
}

TEST(a_table_of_ops_has_a_column_where_the_run_knows_the_figure)
{
	check_table(ALL_KNOWN);
	check_table(OP_KNOWN_RUN | OP_KNOWN_USE);
}

static void add_item(struct str *to, const char *text)
{
	str_addf(to, "%s%s", to->len > 1 ? "," : "", text);
}

/* The same without blanks. */
static void add_packed(struct str *to, const char *text)
{
	for (; *text; text++)
		if (!strchr(" \n", *text))
			str_addc(to, *text);
}

static void check_page(const struct op_figures *x, unsigned known)
{
	struct str names = STR_INIT, values = STR_INIT, want_names = STR_INIT, want_values = STR_INIT, value = STR_INIT,
		   packed = STR_INIT;
	struct out_json a, b;

	out_json_init(&a, &names);
	out_json_init(&b, &values);
	out_json_open(&a, NULL, '[');
	out_json_open(&b, NULL, '[');
	str_addc(&want_names, '[');
	str_addc(&want_values, '[');
	for (int part = OP_TIME; part <= OP_REST; part++) {
		figure_doc_page_names(&a, (enum op_part)part);
		figure_doc_page(&b, (enum op_part)part, x, known);
		for (const struct op_figure *f = op_figure_table; f->help; f++) {
			const struct figure_value v = op_figure_value(f, x, known);

			if ((int)f->page != part)
				continue;
			str_clear(&value);
			str_addf(&value, "\"%s\"", f->on_page ? f->on_page : f->name);
			add_item(&want_names, str_c(&value));
			str_clear(&value);
			if (v.whole)
				str_addf(&value, "%llu", (unsigned long long)v.n);
			else
				str_addf(&value, "%.9g", v.x);
			add_item(&want_values, !v.known && f->blank ? "null" : str_c(&value));
		}
	}
	out_json_close(&a, ']');
	out_json_close(&b, ']');
	str_addc(&want_names, ']');
	str_addc(&want_values, ']');
	add_packed(&packed, str_c(&names));
	CHECK_STR(str_c(&packed), str_c(&want_names));
	str_clear(&packed);
	add_packed(&packed, str_c(&values));
	CHECK_STR(str_c(&packed), str_c(&want_values));
	str_free(&packed);
	str_free(&names);
	str_free(&values);
	str_free(&want_names);
	str_free(&want_values);
	str_free(&value);
}

TEST(the_page_has_a_value_for_every_name)
{
	const struct op_figures x = numbers(), none = { 0 };

	check_page(&x, ALL_KNOWN);
	check_page(&none, ALL_KNOWN); /* no time, so no share of it */
	check_page(&none, 0);
}

TEST(a_share_is_known_of_an_op_that_took_time)
{
	const struct op_figures x = numbers(), none = { 0 };

	for (const struct op_figure *f = op_figure_table; f->help; f++) {
		CHECK(op_figure_value(f, &x, ALL_KNOWN).known);
		CHECK(op_figure_value(f, &none, ALL_KNOWN).known == !f->make);
		CHECK(!op_figure_value(f, &x, 0).known);
		CHECK(op_figure_value(f, &x, OP_KNOWN_RUN).known == !f->needs);
	}
}

/* --- a results file ---------------------------------------------------------------------------------------- */

static const struct res_work_op work_ops[N_OPS] = {
	{ "a", "gemm", "gemm", "r", 0, 1, 1, 10, 1, 1, 1 },
	{ "b", "norm", "norm", "r", 0, 1, 2, 10, 1, 1, 1 },
	{ "c", "opaque", "unknown", "", -1, 1, 3, 10, 0, 0, 0 },
};
static const struct res_workload workload = { .source = "synth",
	                                      .digest = "5",
	                                      .kernel_ns = 30,
	                                      .measured_ns = 30,
	                                      .wall_ns = -1,
	                                      .n_ops = N_OPS,
	                                      .ops = work_ops };
static const struct res_stat stats[] = { { "l2.hits", "", 3, false } };

static void make_ops(struct res_op ops[N_OPS])
{
	const struct op_figures none = { 0 };

	for (int i = 0; i < N_OPS; i++)
		ops[i] = (struct res_op){ .known = ALL_KNOWN, .figures = numbers(), .bound = "dram" };
	ops[1].known = OP_KNOWN_RUN;
	for (const struct op_figure *f = op_figure_table; f->help; f++)
		if (f->member && f->needs)
			op_figure_set(f, &ops[1].figures, 0);
	ops[2] = (struct res_op){ .carried = true, .figures = none };
}

static struct res_run run(const struct res_op *ops)
{
	return (struct res_run){ .config_name = "small",
		                 .config_path = "small.yaml",
		                 .config_text = "name: small\n",
		                 .build = "abc",
		                 .start = "steady",
		                 .fidelity = "event",
		                 .roofline_bound = "dram",
		                 .n_ops = N_OPS,
		                 .ops = ops,
		                 .stats = stats,
		                 .n_stats = 1 };
}

static struct resdb *open_db(const char *path, enum db_mode mode)
{
	struct err e = ERR_INIT;
	struct resdb *r = res_open(path, mode, &e);

	CHECK_STR(e.msg, "");
	return r;
}

TEST(an_ops_figures_read_back_with_what_is_known_of_them)
{
	struct res_op ops[N_OPS];
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;
	struct res_stored s;
	struct res_run r;
	char path[256];
	struct resdb *db = open_db(test_path(path, sizeof path, "r.db"), DB_WRITE);
	int64_t id;
	bool again;

	make_ops(ops);
	r = run(ops);
	CHECK_OK(res_put_run(db, &workload, &r, &id, &again, &e), e);
	CHECK_OK(res_get(db, id, a, &s, &e), e);
	CHECK_U64(s.run.n_stats, 1);
	for (int i = 0; i < N_OPS; i++) {
		CHECK(s.run.ops[i].carried == ops[i].carried);
		CHECK_U64(s.run.ops[i].known, ops[i].known);
		for (const struct op_figure *f = op_figure_table; f->help; f++)
			if (f->member && f->kept != FIGURE_DROPPED)
				CHECK_U64(op_figure_number(f, &s.run.ops[i].figures),
				          op_figure_number(f, &ops[i].figures));
	}
	res_free(db);
	arena_free(a);
}

/* Those that came with schema 6 say nothing that bytes and machine do not: they are in no identity. */
static bool tells_runs_apart(const struct op_figure *f)
{
	return f->kept == FIGURE_ROW || (is_column(f) && (!f->needs || f->zero != FIGURE_ZERO));
}

TEST(a_run_that_differs_in_one_figure_of_one_op_is_another)
{
	struct res_op ops[N_OPS];
	struct err e = ERR_INIT;
	char path[256];
	struct resdb *db = open_db(test_path(path, sizeof path, "r.db"), DB_WRITE);
	int64_t id, n = 0;
	bool again;

	for (const struct op_figure *f = op_figure_table; f->help; f++) {
		struct res_run r;

		if (!f->member || !tells_runs_apart(f))
			continue;
		make_ops(ops);
		op_figure_set(f, &ops[0].figures, 1);
		r = run(ops);
		CHECK_OK(res_put_run(db, &workload, &r, &id, &again, &e), e);
		CHECK(!again && id == ++n);
	}
	CHECK(n > 0);
	res_free(db);
}

/* A row of any figure, among the statistics, goes to its op; what only looks like one stays a statistic. */
TEST(a_figure_that_is_kept_as_a_row_goes_to_its_op)
{
	struct op_figure table[2] = { op_figure_table[0], { .help = NULL } };
	struct res_op in = { .known = ALL_KNOWN, .figures = numbers() }, out[2] = { { .known = 0 }, { .known = 0 } };
	char name[RES_OP_ROW_NAME];
	struct res_stat v;

	CHECK(!res_op_row(table, &in, 1, name, &v)); /* a column */
	table->kept = FIGURE_ROW;
	CHECK(res_op_row(table, &in, 1, name, &v));
	CHECK_STR(v.unit, table->raw);
	CHECK(res_take_op_row(table, &v, out, 2));
	CHECK_U64(op_figure_number(table, &out[1].figures), op_figure_number(table, &in.figures));
	CHECK_U64(op_figure_number(table, &out[0].figures), 0);
	CHECK(!res_take_op_row(table, &v, out, 1)); /* no such op */
	CHECK(!res_take_op_row(op_figure_table, &v, out, 2));
	CHECK(!res_take_op_row(table, &(struct res_stat){ .name = "l2.hits" }, out, 2));
	CHECK(!res_take_op_row(table, &(struct res_stat){ .name = "ops[x].y" }, out, 2));
	op_figure_set(table, &in.figures, 0);
	CHECK(!res_op_row(table, &in, 1, name, &v)); /* nothing to keep */
}

SUITE(t_op_figure, T(no_two_figures_of_an_op_share_a_name), T(a_row_of_an_op_is_whole),
      T(the_json_of_an_op_has_every_figure_and_null_where_one_is_not_known),
      T(the_csv_of_an_op_has_a_column_a_figure_and_nothing_where_it_is_carried),
      T(a_table_of_ops_has_a_column_where_the_run_knows_the_figure), T(the_page_has_a_value_for_every_name),
      T(a_share_is_known_of_an_op_that_took_time), T(an_ops_figures_read_back_with_what_is_known_of_them),
      T(a_run_that_differs_in_one_figure_of_one_op_is_another), T(a_figure_that_is_kept_as_a_row_goes_to_its_op));
