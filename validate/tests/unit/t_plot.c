/* t_plot.c - what a chart's data are, byte for byte, and what is refused. What draws them runs in golden/plot_draw.sh. */
#include "results/plot/plot.h"

#include <math.h>

#include "results/plot/draw.h"
#include "validate/tests/test.h"

/* The chart as JSON; frees it. */
static struct str put(struct plot *p)
{
	struct str s = STR_INIT;
	struct err e = ERR_INIT;
	struct out_json j;

	out_json_init(&j, &s);
	j.pretty = false;
	out_json_open(&j, NULL, '[');
	CHECK_OK(plot_put(p, &j, &e), e);
	out_json_close(&j, ']');
	plot_free(p);
	return s;
}

TEST(a_line_a_mark_and_an_axis_in_bytes)
{
	struct plot *p = plot_new("A chase", NULL);
	struct str s;
	int k;

	plot_axis(p, PLOT_X, PLOT_BYTES, "working set");
	plot_axis(p, PLOT_Y, PLOT_LINEAR, "latency (ns)");
	plot_mark(p, PLOT_X, 3145728, "L2");
	k = plot_series(p, PLOT_LINE, PLOT_BLUE, "simulated");
	plot_xy(p, k, 1048576, 142);
	plot_xy(p, k, 4194304, 344.25);
	plot_xy(p, k, 0, 1);
	CHECK_STR(plot_title(p), "A chase");
	s = put(p);
	CHECK_STR(
		str_c(&s),
		"[{\"title\": \"A chase\", \"subtitle\": null, \"x\": {\"title\": \"working set\", \"scale\": \"bytes\"}, "
		"\"y\": {\"title\": \"latency (ns)\", \"scale\": \"linear\"}, \"categories\": [], \"series\": [{\"kind\": \"line\", "
		"\"label\": \"simulated\", \"color\": \"blue\", \"points\": [{\"x\": 1048576, \"y\": 142}, {\"x\": 4194304, "
		"\"y\": 344.25}]}], \"marks\": [{\"axis\": \"x\", \"x\": 3145728, \"y\": 0, \"text\": \"L2\"}], \"texts\": []}]");
	str_free(&s);
}

TEST(bars_stand_in_their_category_with_a_note)
{
	struct plot *p = plot_new(NULL, NULL);
	struct str s;
	int m, k;

	m = plot_series(p, PLOT_BARS, PLOT_GREY, "measured");
	k = plot_series(p, PLOT_BARS, PLOT_AUTO, "simulated");
	plot_bar(p, m, plot_category(p, "gemm"), 10, "10");
	plot_bar(p, k, 0, 4, NULL);
	CHECK_STR(plot_title(p), "");
	s = put(p);
	CHECK_HAS(
		str_c(&s),
		"\"categories\": [\"gemm\"], \"series\": [{\"kind\": \"bars\", \"label\": \"measured\", \"color\": \"grey\", "
		"\"points\": [{\"x\": 10, \"y\": 0, \"note\": \"10\"}]}, {\"kind\": \"bars\", \"label\": \"simulated\", "
		"\"color\": null, \"points\": [{\"x\": 4, \"y\": 0}]}]");
	str_free(&s);
}

TEST(steps_ends_of_axes_a_diagonal_and_texts)
{
	struct plot *p = plot_new(NULL, NULL);
	struct str s;

	plot_range(p, PLOT_X, 0, 100);
	plot_diagonal(p, 10);
	plot_box(p, plot_series(p, PLOT_STEPS, PLOT_RED, NULL), 1, 2, 5);
	plot_text(p, 3, 4, "here");
	s = put(p);
	CHECK_HAS(str_c(&s), "\"x\": {\"title\": null, \"scale\": \"linear\", \"from\": 0, \"to\": 100}");
	CHECK_HAS(
		str_c(&s),
		"{\"kind\": \"steps\", \"label\": null, \"color\": \"red\", \"points\": [{\"x\": 1, \"y\": 5, \"to\": 2}]}");
	CHECK_HAS(str_c(&s),
	          "\"texts\": [{\"axis\": \"x\", \"x\": 3, \"y\": 4, \"text\": \"here\"}], \"diagonal\": 10}");
	str_free(&s);
}

TEST(logarithmic_axes_leave_out_what_is_not_above_0)
{
	struct plot *p = plot_new(NULL, NULL);
	int k = plot_series(p, PLOT_POINTS, PLOT_AUTO, NULL);
	struct str s;

	plot_axis(p, PLOT_X, PLOT_LOG, NULL);
	plot_axis(p, PLOT_Y, PLOT_LOG, NULL);
	plot_xy(p, k, 0.21, 20);
	plot_xy(p, k, 0, 30);
	plot_xy(p, k, 1, -30);
	plot_xy(p, k, NAN, 30);
	plot_xy(p, k, 1, INFINITY);
	s = put(p);
	CHECK_HAS(str_c(&s), "\"points\": [{\"x\": 0.21, \"y\": 20}]}");
	str_free(&s);
}

static void refused(struct plot *p, enum err_kind kind, const char *why)
{
	struct str s = STR_INIT;
	struct err e = ERR_INIT;
	struct out_json j;

	out_json_init(&j, &s);
	CHECK(plot_put(p, &j, &e) == -1);
	CHECK(e.kind == kind);
	CHECK_HAS(e.msg, why);
	str_free(&s);
	plot_free(p);
}

TEST(an_empty_chart_is_refused)
{
	struct plot *p = plot_new("t", NULL);

	plot_xy(p, plot_series(p, PLOT_LINE, PLOT_AUTO, NULL), NAN, 1);
	refused(p, ERR_IO, "nothing to draw");
}

TEST(more_than_a_chart_holds_is_refused_when_it_is_drawn)
{
	struct plot *p = plot_new("t", NULL);

	for (int i = 0; i < 17; i++)
		plot_xy(p, plot_series(p, PLOT_LINE, PLOT_AUTO, "x"), i, i);
	refused(p, ERR_IO, "more series than a chart can tell apart");
}

TEST(a_chart_without_memory_is_an_error_not_a_crash)
{
	plot_xy(NULL, plot_series(NULL, PLOT_LINE, PLOT_AUTO, NULL), 0, 0);
	plot_mark(NULL, PLOT_X, 1, NULL);
	CHECK_STR(plot_title(NULL), "");
	refused(NULL, ERR_NOMEM, "out of memory");
}

TEST(the_ending_says_the_format)
{
	struct err e = ERR_INIT;
	enum draw_format f;

	CHECK_OK(draw_format_of("a/b.SVG", &f, &e), e);
	CHECK(f == DRAW_SVG);
	CHECK_OK(draw_format_of("b.png", &f, &e), e);
	CHECK(f == DRAW_PNG);
	CHECK_OK(draw_format_of("b.pdf", &f, &e), e);
	CHECK(f == DRAW_PDF);
	CHECK(draw_format_of(".svg", &f, &e) == -1);
	CHECK(e.kind == ERR_USAGE);
}

SUITE(t_plot, T(a_line_a_mark_and_an_axis_in_bytes), T(bars_stand_in_their_category_with_a_note),
      T(steps_ends_of_axes_a_diagonal_and_texts), T(logarithmic_axes_leave_out_what_is_not_above_0),
      T(an_empty_chart_is_refused), T(more_than_a_chart_holds_is_refused_when_it_is_drawn),
      T(a_chart_without_memory_is_an_error_not_a_crash), T(the_ending_says_the_format));
