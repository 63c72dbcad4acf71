/* t_plot.c - a chart's script, byte for byte, and what is refused. gnuplot itself runs in golden/plot.sh. */
#include "results/plot/plot.h"

#include <math.h>

#include "validate/tests/test.h"

static struct plot *curve(void)
{
	struct plot *p = plot_new("A chase", NULL);
	int s;

	plot_axis(p, PLOT_X, PLOT_BYTES, "working set");
	plot_axis(p, PLOT_Y, PLOT_LINEAR, "latency (ns)");
	plot_mark(p, PLOT_X, 3145728, "L2");
	s = plot_series(p, PLOT_LINE, PLOT_BLUE, "simulated");
	plot_xy(p, s, 1048576, 142);
	plot_xy(p, s, 4194304, 344.25);
	plot_xy(p, s, 0, 1);
	return p;
}

static struct plot *bars(void)
{
	struct plot *p = plot_new(NULL, NULL);
	int m, s;

	plot_axis(p, PLOT_X, PLOT_LINEAR, "time (us)");
	m = plot_series(p, PLOT_BARS, PLOT_GREY, "measured");
	s = plot_series(p, PLOT_BARS, PLOT_AUTO, "simulated");
	plot_bar(p, m, plot_category(p, "it's 5 %\n"), 10, "10");
	plot_bar(p, s, 0, 4, NULL);
	return p;
}

static void script_is(struct plot *p, enum plot_format f, const char *want)
{
	struct str s = STR_INIT;
	struct err e = ERR_INIT;

	CHECK_OK(plot_script(p, f, &s, &e), e);
	CHECK_STR(str_c(&s), want);
	str_free(&s);
	plot_free(p);
}

static const char curve_text[] =
	"set encoding utf8\n"
	"set terminal svg size 800,450 noenhanced font 'sans-serif,13' background '#ffffff'\n"
	"set border 3 linecolor rgb '#808080'\n"
	"set tics nomirror out scale 0.5 textcolor rgb '#505050'\n"
	"set mxtics 1\n"
	"set mytics 1\n"
	"set grid linetype 1 linecolor rgb '#e6e6e6' linewidth 0.7\n"
	"set xlabel 'working set' textcolor rgb '#505050'\n"
	"set logscale x 2\n"
	"set xrange [1048576:4194304]\n"
	"set xtics ('1 MiB' 1048576, '2 MiB' 2097152, '4 MiB' 4194304)\n"
	"set ylabel 'latency (ns)' textcolor rgb '#505050'\n"
	"set yrange [0:350]\n"
	"set ytics 0, 50\n"
	"set tmargin 2.30\n"
	"set label 'A chase' at graph 0, graph 1 left offset character 0.0, 0.90 font ',15'\n"
	"set rmargin 12\n"
	"unset key\n"
	"set arrow from first 3145728, graph 0 to first 3145728, graph 1 nohead back dashtype 2 linecolor rgb '#808080'\n"
	"set label 'L2' at first 3145728, graph 0.03 left rotate by 90 offset character 0.8, 0 textcolor rgb '#505050'\n"
	"set label 'simulated' at graph 1.012, graph 0.984 left textcolor rgb '#0072b2'\n"
	"$s1 << END\n"
	"1048576 142\n"
	"4194304 344.25\n"
	"END\n"
	"plot $s1 using 1:2 with lines linewidth 2 linecolor rgb '#0072b2' notitle\n";

static const char bars_text[] =
	"set encoding utf8\n"
	"set terminal pngcairo size 800,138 noenhanced font 'sans-serif,11' background '#ffffff'\n"
	"set border 3 linecolor rgb '#808080'\n"
	"set tics nomirror out scale 0.5 textcolor rgb '#505050'\n"
	"set mxtics 1\n"
	"set mytics 1\n"
	"set grid linetype 1 linecolor rgb '#e6e6e6' linewidth 0.7\n"
	"set xlabel 'time (us)' textcolor rgb '#505050'\n"
	"set xrange [0:12]\n"
	"set xtics 0, 2\n"
	"set yrange [0.5:-0.5]\n"
	"set ytics scale 0 ('it''s 5 %% ' 0)\n"
	"set grid noytics\n"
	"set tmargin 2.15\n"
	"set key at graph 0, graph 1 left bottom horizontal maxcols 5 Left reverse samplen 1.2 width -1 height 0.3 textcolor rgb '#505050'\n"
	"set label '10' at first 10, first -0.2 left offset character 0.6, 0 textcolor rgb '#505050'\n"
	"$s1 << END\n"
	"10 -0.2 0 10 -0.4 0\n"
	"END\n"
	"$s2 << END\n"
	"4 0.2 0 4 0 0.4\n"
	"END\n"
	"plot $s1 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 border rgb '#ffffff' fillcolor rgb '#4d4d4d' title 'measured', \\\n"
	"     $s2 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 border rgb '#ffffff' fillcolor rgb '#0072b2' title 'simulated'\n";

TEST(a_line_has_its_name_at_its_end_and_ticks_in_bytes)
{
	script_is(curve(), PLOT_SVG, curve_text);
}

TEST(bars_stand_side_by_side_under_names_that_are_quoted)
{
	script_is(bars(), PLOT_PNG, bars_text);
}

/* The script of p; freed by the caller. */
static struct str script(struct plot *p)
{
	struct str s = STR_INIT;
	struct err e = ERR_INIT;

	CHECK_OK(plot_script(p, PLOT_SVG, &s, &e), e);
	plot_free(p);
	return s;
}

TEST(names_of_lines_that_end_together_are_moved_apart)
{
	struct plot *p = plot_new(NULL, NULL);
	struct str s;

	for (int i = 0; i < 3; i++) {
		int k = plot_series(p, PLOT_LINE, PLOT_AUTO, "same");

		plot_xy(p, k, 0, 0);
		plot_xy(p, k, 1, 1);
	}
	s = script(p);
	CHECK_HAS(str_c(&s), "at graph 1.012, graph 0.890 left textcolor rgb '#0072b2'");
	CHECK_HAS(str_c(&s), "at graph 1.012, graph 0.945 left textcolor rgb '#d55e00'");
	CHECK_HAS(str_c(&s), "at graph 1.012, graph 1.000 left textcolor rgb '#009e73'");
	str_free(&s);
}

TEST(they_stay_about_where_they_belong)
{
	static const double ends[] = { 50, 51.5, 80 };
	struct plot *p = plot_new(NULL, NULL);
	struct str s;

	plot_range(p, PLOT_Y, 0, 100);
	for (int i = 0; i < 3; i++) {
		int k = plot_series(p, PLOT_LINE, PLOT_AUTO, "x");

		plot_xy(p, k, 0, 0);
		plot_xy(p, k, 1, ends[i]);
	}
	s = script(p);
	CHECK_HAS(str_c(&s), "graph 0.480 left textcolor rgb '#0072b2'");
	CHECK_HAS(str_c(&s), "graph 0.535 left textcolor rgb '#d55e00'");
	CHECK_HAS(str_c(&s), "graph 0.800 left textcolor rgb '#009e73'");
	str_free(&s);
}

TEST(stacked_bars_go_on_where_the_one_before_ends)
{
	struct plot *p = plot_new(NULL, NULL);
	int a = plot_series(p, PLOT_STACK, PLOT_AUTO, "a"), b = plot_series(p, PLOT_STACK, PLOT_AUTO, "b");
	struct str s;

	plot_category(p, "one");
	plot_bar(p, a, 0, 3, NULL);
	plot_bar(p, b, 0, 4, "7");
	s = script(p);
	CHECK_HAS(str_c(&s), "$s1 << END\n3 0 0 3 -0.4 0.4\nEND\n$s2 << END\n7 0 3 7 -0.4 0.4\nEND\n");
	CHECK_HAS(str_c(&s), "set label '7' at first 7, first 0 left");
	str_free(&s);
}

TEST(logarithmic_axes_end_at_1_2_or_5_and_leave_out_what_is_not_above_0)
{
	struct plot *p = plot_new(NULL, NULL);
	int k = plot_series(p, PLOT_POINTS, PLOT_AUTO, NULL);
	struct str s;

	plot_axis(p, PLOT_X, PLOT_LOG, NULL);
	plot_axis(p, PLOT_Y, PLOT_LOG, NULL);
	plot_xy(p, k, 0.21, 20);
	plot_xy(p, k, 40, 480);
	plot_xy(p, k, 0, 30);
	plot_xy(p, k, 1, -30);
	plot_xy(p, k, NAN, 30);
	plot_xy(p, k, 1, INFINITY);
	s = script(p);
	CHECK_HAS(str_c(&s), "set xrange [0.2:50]\n"
	                     "set xtics ('0.2' 0.2, '0.5' 0.5, '1' 1, '2' 2, '5' 5, '10' 10, '20' 20, '50' 50)\n");
	CHECK_HAS(str_c(&s), "set yrange [20:500]\nset ytics ('20' 20, '50' 50, '100' 100, '200' 200, '500' 500)\n");
	CHECK_HAS(str_c(&s), "$s1 << END\n0.21 20\n40 480\nEND\n");
	str_free(&s);
}

TEST(a_diagonal_makes_both_axes_alike)
{
	struct plot *p = plot_new(NULL, NULL);
	int k = plot_series(p, PLOT_POINTS, PLOT_AUTO, "gemm");
	struct str s;

	plot_diagonal(p, 10);
	plot_xy(p, k, 1, 9);
	plot_xy(p, k, 20, 18);
	s = script(p);
	CHECK_HAS(str_c(&s), "set xrange [0:20]");
	CHECK_HAS(str_c(&s), "set yrange [0:20]");
	CHECK_HAS(str_c(&s), "10 9 11\n");
	CHECK_HAS(str_c(&s), "title '\xc2\xb1"
	                     "10 %'");
	str_free(&s);
}

TEST(steps_and_bands_are_what_they_say)
{
	struct plot *p = plot_new(NULL, NULL);
	int b = plot_series(p, PLOT_BAND, PLOT_GREY, "range"), t = plot_series(p, PLOT_STEPS, PLOT_BLUE, NULL);
	struct str s;

	plot_band(p, b, 0, 1, 2);
	plot_band(p, b, 4, 2, 3);
	plot_box(p, t, 1, 2, 5);
	s = script(p);
	CHECK_HAS(str_c(&s), "$s1 << END\n0 1 2\n4 2 3\nEND\n$s2 << END\n2 5 1 2 0 5\nEND\n");
	str_free(&s);
}

TEST(texts_are_data_whatever_they_hold)
{
	static const char evil[] = "'; system 'rm x' #`id`\n\xff\x1b$a@b";
	struct plot *p = plot_new(evil, NULL);
	int k = plot_series(p, PLOT_LINE, PLOT_AUTO, NULL);
	struct str s;

	plot_xy(p, k, 0, 0);
	plot_xy(p, k, 1, 1);
	s = script(p);
	CHECK_HAS(str_c(&s), "set label '''; system ''rm x'' #`id` ? $a@b' at");
	str_free(&s);
}

static void refused(struct plot *p, const char *why)
{
	struct str s = STR_INIT;
	struct err e = ERR_INIT;

	CHECK(plot_script(p, PLOT_SVG, &s, &e) == -1);
	CHECK(e.kind == ERR_IO);
	CHECK_HAS(e.msg, why);
	str_free(&s);
	plot_free(p);
}

TEST(an_empty_chart_is_refused)
{
	struct plot *p = plot_new("t", NULL);

	plot_xy(p, plot_series(p, PLOT_LINE, PLOT_AUTO, NULL), NAN, 1);
	refused(p, "nothing to draw");
}

TEST(more_than_a_chart_holds_is_refused_when_it_is_drawn)
{
	struct plot *p = plot_new("t", NULL);

	for (int i = 0; i < 17; i++)
		plot_xy(p, plot_series(p, PLOT_LINE, PLOT_AUTO, "x"), i, i);
	refused(p, "more series than a chart can tell apart");
}

TEST(a_chart_without_memory_is_an_error_not_a_crash)
{
	struct str s = STR_INIT;
	struct err e = ERR_INIT;

	plot_xy(NULL, plot_series(NULL, PLOT_LINE, PLOT_AUTO, NULL), 0, 0);
	plot_mark(NULL, PLOT_X, 1, NULL);
	CHECK(plot_script(NULL, PLOT_SVG, &s, &e) == -1);
	CHECK(e.kind == ERR_NOMEM);
	plot_free(NULL);
}

TEST(the_ending_says_the_format)
{
	struct err e = ERR_INIT;
	enum plot_format f;

	CHECK_OK(plot_format_of("a/b.SVG", &f, &e), e);
	CHECK(f == PLOT_SVG);
	CHECK_OK(plot_format_of("b.png", &f, &e), e);
	CHECK(f == PLOT_PNG);
	CHECK_OK(plot_format_of("b.pdf", &f, &e), e);
	CHECK(f == PLOT_PDF);
	CHECK(plot_format_of(".svg", &f, &e) == -1);
	CHECK(e.kind == ERR_USAGE);
}

SUITE(t_plot, T(a_line_has_its_name_at_its_end_and_ticks_in_bytes),
      T(bars_stand_side_by_side_under_names_that_are_quoted), T(names_of_lines_that_end_together_are_moved_apart),
      T(they_stay_about_where_they_belong), T(stacked_bars_go_on_where_the_one_before_ends),
      T(logarithmic_axes_end_at_1_2_or_5_and_leave_out_what_is_not_above_0), T(a_diagonal_makes_both_axes_alike),
      T(steps_and_bands_are_what_they_say), T(texts_are_data_whatever_they_hold), T(an_empty_chart_is_refused),
      T(more_than_a_chart_holds_is_refused_when_it_is_drawn), T(a_chart_without_memory_is_an_error_not_a_crash),
      T(the_ending_says_the_format));
