/* t_figure.c - a figure is one row: whatever the table has is in the JSON, in a results file, in a sweep's columns and
 * in expressions, each time with the same value. No figure is named here but where a rule needs one. */
#include "results/figure.h"

#include <math.h>
#include <stdlib.h>

#include "results/db/res_export.h"
#include "results/db/res_sweep.h"
#include "sim/base/str.h"
#include "sim/report/figure_doc.h"
#include "sim/study/sweep_int.h"
#include "validate/tests/test.h"

static const struct figure_measured measured = { 5000, 7000, 4000, 11000 };
static const struct res_workload workload = {
	.source = "synth", .digest = "5", .kernel_ns = 5000, .measured_ns = 7000, .wall_ns = 11000
};

/* Every number is another one. */
static struct figures numbers(void)
{
	struct figures x = { 0 };
	uint64_t n = 1000;

	for (const struct figure *f = figure_table; f->help; f++)
		if (f->member)
			figure_set(f, &x, n += 7);
	return x;
}

static bool is_kept(const struct figure *f)
{
	return f->kept == FIGURE_COLUMN || f->kept == FIGURE_ROW;
}

static void check_kept(const struct figures *got, const struct figures *want)
{
	for (const struct figure *f = figure_table; f->help; f++)
		if (f->member && figure_number(f, got) != (is_kept(f) ? figure_number(f, want) : 0))
			test_fail(__FILE__, __LINE__, "%s reads back as %llu", f->member,
			          (unsigned long long)figure_number(f, got));
}

/* --- the table --------------------------------------------------------------------------------------------- */

static void check_apart(const char *a, const char *b)
{
	if (a && b && strcmp(a, b) == 0)
		test_fail(__FILE__, __LINE__, "'%s' is there twice", a);
}

TEST(no_two_figures_share_a_name_or_a_place)
{
	for (const struct figure *f = figure_table; f->help; f++)
		for (const struct figure *g = f + 1; g->help; g++) {
			check_apart(f->json, g->json);
			check_apart(f->name, g->name);
			check_apart(f->also, g->name);
			check_apart(f->name, g->also);
			check_apart(f->member, g->member);
			CHECK(!f->place || f->place != g->place);
		}
}

TEST(a_row_is_whole)
{
	size_t n = 0;

	for (const struct figure *f = figure_table; f->help; f++, n++) {
		CHECK(f->json || f->name);
		CHECK(!f->json == (f->part == FIGURE_NOWHERE));
		CHECK(f->unit && (!f->member || (f->raw && f->per >= 1)));
		CHECK(f->member || f->make || f->missing);
		CHECK(!f->member == (f->kept == FIGURE_MADE));
		/* What a file keeps, expressions and sweeps know, and they know nothing that it cannot give. */
		CHECK(!is_kept(f) || (f->name && f->place));
		CHECK(!f->place || f->name);
		CHECK(f->kept != FIGURE_DROPPED || !f->name);
	}
	CHECK_U64(n, FIGURE_ROWS);
}

/* --- JSON -------------------------------------------------------------------------------------------------- */

static void json_of(const struct figures *x, const struct figure_measured *m, struct str *out)
{
	struct doc d;

	doc_init(&d, OUT_JSON, 0, out);
	doc_open(&d, NULL, '{');
	for (int part = FIGURE_HEAD; part <= FIGURE_REST; part++)
		figure_doc_part(&d, (enum figure_part)part, x, m);
	doc_close(&d, '}');
}

TEST(every_figure_with_a_name_in_the_json_is_there_with_its_value)
{
	const struct figures x = numbers();
	struct str got = STR_INIT, want = STR_INIT;

	json_of(&x, &measured, &got);
	for (const struct figure *f = figure_table; f->help; f++) {
		const struct figure_value v = figure_value(f, &x, &measured);

		if (!f->json)
			continue;
		CHECK(v.known);
		str_clear(&want);
		if (v.whole)
			str_addf(&want, "\"%s\": %llu", f->json, (unsigned long long)v.n);
		else
			str_addf(&want, "\"%s\": %.9g", f->json, v.x);
		CHECK_HAS(str_c(&got), str_c(&want));
	}
	str_free(&got);
	str_free(&want);
}

TEST(what_is_not_known_is_null_and_what_does_not_apply_is_not_there)
{
	const struct figures x = { 0 };
	const struct figure_measured none = { .wall_ns = -1 };
	struct str got = STR_INIT;

	json_of(&x, &none, &got);
	CHECK_HAS(str_c(&got), "\"total_us\": null"); /* of no op, or where most was carried */
	CHECK_HAS(str_c(&got), "\"energy_uj\": null");
	CHECK_HAS(str_c(&got), "\"measured_wall_us\": null");
	CHECK_HAS(str_c(&got), "\"speedup_kernels\": null");
	CHECK(!strstr(str_c(&got), "wall_graph_us"));
	str_free(&got);
}

/* --- a results file ---------------------------------------------------------------------------------------- */

static struct resdb *open_db(const char *path, enum db_mode mode)
{
	struct err e = ERR_INIT;
	struct resdb *r = res_open(path, mode, &e);

	CHECK_STR(e.msg, "");
	return r;
}

static int take_text(void *ctx, struct str *text, struct err *e)
{
	(void)e;
	str_add(ctx, str_c(text));
	str_clear(text);
	return 0;
}

static void export(struct resdb *db, const char *what, struct str *out)
{
	const struct res_export x = { .what = what, .take = take_text, .ctx = out };
	struct err e = ERR_INIT;
	size_t rows;

	str_clear(out);
	CHECK_OK(res_export_csv(db, &x, &rows, &e), e);
}

/* Field `column` of a line, as a number. */
static double field(const char *line, int column)
{
	for (; column; column--) {
		line = strchr(line, ',');
		CHECK(line != NULL);
		line++;
	}
	return strtod(line, NULL);
}

/* The value of a column in the first row. */
static double cell(const struct str *csv, const char *name)
{
	const char *at = str_c(csv), *row = strchr(at, '\n') + 1;
	const size_t n = strlen(name);

	for (int column = 0; at < row; column++, at += strcspn(at, ",\n") + 1)
		if (strncmp(at, name, n) == 0 && strchr(",\n", at[n]))
			return field(row, column);
	test_fail(__FILE__, __LINE__, "no column '%s' in %s", name, str_c(csv));
}

/* The value of a statistic: a line KEYS,NAME,VALUE,... */
static double statistic(const struct str *csv, const char *name)
{
	char want[80];
	const char *at;

	snprintf(want, sizeof want, ",%s,", name);
	if (!(at = strstr(str_c(csv), want)))
		test_fail(__FILE__, __LINE__, "no statistic '%s' in %s", name, str_c(csv));
	return field(at, 2);
}

/* `rows` has a column a figure, `stats` a row a statistic. */
static void check_stored(const struct str *rows, const struct str *stats, const struct figures *x)
{
	for (const struct figure *f = figure_table; f->help; f++) {
		const double v = figure_value(f, x, &measured).x;

		if (f->kept == FIGURE_COLUMN && cell(rows, f->name) != v)
			test_fail(__FILE__, __LINE__, "%s is %.15g, not %.15g", f->name, cell(rows, f->name), v);
		if (f->kept == FIGURE_ROW)
			CHECK(statistic(stats, f->member) == (double)figure_number(f, x));
	}
}

static const struct res_stat stats[] = { { "l2.hits", "", 3, false }, { "l2.misses", "", 4, false } };

static struct res_run run(void)
{
	return (struct res_run){ .config_name = "small",
		                 .config_path = "small.yaml",
		                 .config_text = "name: small\n",
		                 .build = "abc",
		                 .start = "steady",
		                 .fidelity = "event",
		                 .roofline_bound = "dram",
		                 .figures = numbers(),
		                 .stats = stats,
		                 .n_stats = 2 };
}

static struct res_stored get_run(struct resdb *db, int64_t id, struct arena *a)
{
	struct err e = ERR_INIT;
	struct res_stored s;

	CHECK_OK(res_get(db, id, a, &s, &e), e);
	return s;
}

TEST(a_stored_run_has_its_figures_in_columns_and_among_its_statistics)
{
	const struct res_run r = run();
	struct str rows = STR_INIT, sums = STR_INIT;
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;
	struct res_stored s;
	char path[256];
	struct resdb *db = open_db(test_path(path, sizeof path, "r.db"), DB_WRITE);
	int64_t id;
	bool again;

	CHECK_OK(res_put_run(db, &workload, &r, &id, &again, &e), e);
	s = get_run(db, id, a);
	check_kept(&s.run.figures, &r.figures);
	CHECK_U64(s.run.n_stats, 2);
	export(db, "runs", &rows);
	export(db, "run-stats", &sums);
	check_stored(&rows, &sums, &r.figures);
	res_free(db);
	arena_free(a);
	str_free(&rows);
	str_free(&sums);
}

TEST(a_run_that_differs_in_one_figure_is_another_and_all_go_into_a_merged_file)
{
	struct res_run r = run();
	struct arena *a = arena_new(0);
	struct res_merged m = { 0 };
	struct res_stored got;
	struct err e = ERR_INIT;
	char path[256], to[256];
	struct resdb *db = open_db(test_path(path, sizeof path, "r.db"), DB_WRITE),
		     *into = open_db(test_path(to, sizeof to, "m.db"), DB_WRITE);
	int64_t id, n = 0;
	bool again;

	for (const struct figure *f = figure_table; f->help; f++) {
		if (!is_kept(f))
			continue;
		r.figures = numbers();
		figure_set(f, &r.figures, 1);
		CHECK_OK(res_put_run(db, &workload, &r, &id, &again, &e), e);
		CHECK(!again && id == ++n);
	}
	CHECK_OK(res_merge(into, db, false, &m, &e), e);
	CHECK_U64(m.runs_new, n);
	got = get_run(into, n, a);
	check_kept(&got.run.figures, &r.figures);
	res_free(db);
	res_free(into);
	arena_free(a);
}

/* --- a sweep ----------------------------------------------------------------------------------------------- */

static struct sweep *a_sweep(void)
{
	static const char base[] = "clock: 1 GHz\nl2: {size: 64 MiB}\n";
	struct err e = ERR_INIT;
	struct sweep *s = sweep_parse("sweep: 1\nbase: none.yaml\naxes: {cores: [4]}\n", "s.yaml", base, &e);

	if (!s || sweep_expand(s, 10, NULL, NULL, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s", e.msg);
	return s;
}

/* One point of it, stored; in *out as it reads back. */
static struct resdb *store_point(const struct sweep *s, const struct res_point *p, struct arena *a,
                                 struct res_point *out)
{
	const struct res_axis axis = { "cores", "" };
	const struct res_sweep head = { .name = s->path,
		                        .text = s->text,
		                        .base_path = s->base,
		                        .base_text = s->base_text,
		                        .start = "steady",
		                        .fidelity = "event",
		                        .n_points = 1,
		                        .n_axes = 1,
		                        .axes = &axis };
	struct err e = ERR_INIT;
	struct res_sweep *all;
	struct res_point *points;
	char path[256];
	struct resdb *db = open_db(test_path(path, sizeof path, "s.db"), DB_WRITE);
	int64_t id;
	size_t n;

	CHECK_OK(res_put_sweep(db, &workload, &head, p->build, false, &id, &e), e);
	CHECK_OK(res_put_points(db, id, p, 1, 1, &e), e);
	CHECK_OK(res_list_sweeps(db, a, &all, &n, &e), e);
	CHECK_OK(res_get_points(db, all, a, &points, &n, &e), e);
	CHECK_U64(n, 1);
	*out = *points;
	return db;
}

static const struct res_value four = { "4", true, 4 };

static struct res_point point(void)
{
	return (struct res_point){ .build = "abc",
		                   .config_hash = 5,
		                   .values = &four,
		                   .roofline_bound = "dram",
		                   .figures = numbers(),
		                   .stats = stats,
		                   .n_stats = 2 };
}

TEST(a_stored_point_has_its_figures_in_columns_and_among_its_statistics)
{
	const struct res_point p = point();
	struct str rows = STR_INIT, sums = STR_INIT;
	struct arena *a = arena_new(0);
	struct sweep *s = a_sweep();
	struct res_point got;
	struct resdb *db = store_point(s, &p, a, &got);

	check_kept(&got.figures, &p.figures);
	CHECK_U64(got.n_stats, 2);
	export(db, "points", &rows);
	export(db, "stats", &sums);
	check_stored(&rows, &sums, &p.figures);
	res_free(db);
	sweep_free(s);
	arena_free(a);
	str_free(&rows);
	str_free(&sums);
}

TEST(a_worker_sends_every_figure)
{
	const struct res_point p = point();
	struct arena *a = arena_new(0);
	struct str bytes = STR_INIT;
	struct res_point got;

	sweep_pack(&p, &bytes);
	CHECK(sweep_unpack(bytes.p, bytes.len, a, &got) == 0);
	CHECK(memcmp(&got.figures, &p.figures, sizeof p.figures) == 0);
	CHECK(sweep_unpack(bytes.p, bytes.len - 1, a, &got) < 0);
	str_free(&bytes);
	arena_free(a);
}

/* Whoever copies a name from the JSON into a sweep is understood; measured_us alone is two figures (results/figure.h). */
TEST(what_the_json_calls_a_figure_is_its_name_too)
{
	for (const struct figure *f = figure_table; f->help; f++) {
		const struct figure *of = f->json ? figure_named(f->json) : f;

		if (of != f && strcmp(f->json, "measured_us") != 0)
			test_fail(__FILE__, __LINE__, "'%s' of the JSON is %s", f->json, of ? of->help : "no name");
	}
	CHECK(figure_named("total_us") == figure_named("latency_us"));
}

TEST(every_named_figure_is_a_name_in_expressions_with_its_value)
{
	const struct res_point p = point();
	struct sweep *s = a_sweep();
	const struct sweep_row row = { s, NULL, &p, p.values, &workload };

	for (const struct figure *f = figure_table; f->help; f++) {
		struct expr_value v;
		struct err e = ERR_INIT;
		struct expr *x;

		s->traffic = f->of != FIGURE_OF_TRAFFIC; /* and it is none of the other kind's */
		x = f->name && f->of != FIGURE_OF_BOTH ? expr_new(s->exprs, f->name, sweep_find, s, &e) : NULL;
		CHECK(!x);
		err_clear(&e);
		s->traffic = !s->traffic;
		x = f->name ? expr_new(s->exprs, f->name, sweep_find, s, &e) : NULL;

		if (!f->name || f->missing) {
			CHECK(!x);
			CHECK_HAS(e.msg, f->missing ? f->missing : "");
			continue;
		}
		if (!x)
			test_fail(__FILE__, __LINE__, "%s", e.msg);
		CHECK_OK(sweep_value(&row, x, &v, &e), e);
		if (figure_value(f, &p.figures, &measured).known)
			CHECK(v.type == EXPR_NUMBER && v.number == figure_value(f, &p.figures, &measured).x);
		else
			CHECK(v.type == EXPR_NULL);
		CHECK(figure_named(f->name) == f && (!f->also || figure_named(f->also) == f));
	}
	sweep_free(s);
}

TEST(what_no_rule_knows_is_in_every_rate_and_ratio_as_it_was_measured)
{
	const struct figures x = {
		.total_ps = 3000000, .carried_ps = 1000000, .tokens = 8, .fused_ps = 2000000, .energy_fj = 4000000000
	};
	const struct figure_measured m = {
		.kernel_ns = 8000, .measured_ns = 9000, .modelled_ns = 7000, .wall_ns = 12000
	};

	CHECK(fabs(figure_value(figure_named("tokens_per_s"), &x, &m).x - 8 / 4e-6) < 1e-3);
	CHECK(fabs(figure_ratio_kernels(&x, &m) - 8.0 / 4) < 1e-9);
	CHECK(fabs(figure_ratio_wall(&x, &m) - 12.0 / 4) < 1e-9);
	CHECK(fabs(figure_ratio_fused(&x) - 3.0 / 4) < 1e-9);
	CHECK(!figure_value(figure_named("uj_per_token"), &x, &m).known);
}

struct of_row {
	struct figures x;
	bool traffic;
};

static void row_of_figures(struct doc *d, const void *of, size_t i)
{
	const struct of_row *r = of;

	(void)i;
	for (const struct figure *f = figure_after(NULL, r->traffic); f; f = figure_after(f, r->traffic))
		figure_doc(d, f, true, &r->x);
}

static void columns_of(bool traffic)
{
	const struct of_row r = { numbers(), traffic };
	const struct figure *shown[FIGURE_ROWS];
	struct str got = STR_INIT;
	struct doc d;
	int n = 0, want = 0;

	for (const struct figure *f = figure_table; f->help; f++)
		want += f->place && !f->missing && figure_is_of(f, traffic);
	for (const struct figure *f = figure_after(NULL, traffic); f; f = figure_after(f, traffic)) {
		CHECK(n == 0 || shown[n - 1]->place < f->place);
		shown[n++] = f;
	}
	CHECK(n == want && n > 3);
	doc_init(&d, OUT_CSV, 0, &got);
	doc_record(&d, NULL, row_of_figures, &r);
	for (int k = 0; k < n; k++)
		CHECK(cell(&got, shown[k]->name) == figure_value(shown[k], &r.x, NULL).x);
	str_free(&got);
}

TEST(every_figure_with_a_place_is_a_column_in_the_order_of_places)
{
	columns_of(false);
	columns_of(true);
}

SUITE(t_figure, T(no_two_figures_share_a_name_or_a_place), T(a_row_is_whole),
      T(every_figure_with_a_name_in_the_json_is_there_with_its_value),
      T(what_is_not_known_is_null_and_what_does_not_apply_is_not_there),
      T(a_stored_run_has_its_figures_in_columns_and_among_its_statistics),
      T(a_run_that_differs_in_one_figure_is_another_and_all_go_into_a_merged_file),
      T(a_stored_point_has_its_figures_in_columns_and_among_its_statistics), T(a_worker_sends_every_figure),
      T(every_named_figure_is_a_name_in_expressions_with_its_value),
      T(what_no_rule_knows_is_in_every_rate_and_ratio_as_it_was_measured),
      T(what_no_rule_knows_is_in_every_rate_and_ratio_as_it_was_measured),
      T(what_the_json_calls_a_figure_is_its_name_too), T(every_figure_with_a_place_is_a_column_in_the_order_of_places));
