/* t_interval.c - intervals: what they are made of, and that the committed whole steps lie in four of five of them, whoever is left
 * out. */
#include "sim/accuracy/interval.h"
#include "sim/base/path.h"
#include "validate/tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-6;
}

/* Two classes: 10 % of 100 samples, 5 % of 100; and one of which two samples say too little. */
static struct accuracy made(struct score *v)
{
	v[0] = (struct score){ .cls = "a", .n = 100, .mape = 10 };
	v[1] = (struct score){ .cls = "b", .n = 100, .mape = 5 };
	v[2] = (struct score){ .cls = "few", .n = 2, .mape = 0.1 };
	return (struct accuracy){ .classes = v, .n = 3, .all = { .n = 202, .mape = 8 } };
}

TEST(errors_go_together_within_a_class_and_apart_between_classes)
{
	struct score v[3];
	const struct accuracy acc = made(v);
	struct interval_shares one = { .n = 0 }, split = { .n = 0 }, both = { .n = 0 };

	interval_add(&one, "a", 10);
	for (int i = 0; i < 100; i++)
		interval_add(&split, "a", 0.1);
	CHECK(near(interval_spread(&acc, &one), 0.12533141));
	CHECK(near(interval_spread(&acc, &split), 0.12533141)); /* however many ops it is made of */
	interval_add(&both, "a", 3);
	interval_add(&both, "b", 1);
	CHECK(near(interval_spread(&acc, &both), hypot(0.75 * 0.12533141, 0.25 * 0.062665707)));
}

TEST(what_was_never_held_may_be_off_by_half_and_few_samples_say_little)
{
	struct score v[3];
	const struct accuracy acc = made(v);
	struct interval_shares strange = { .n = 0 }, few = { .n = 0 };

	interval_add(&strange, "nobody measured it", 1);
	CHECK(near(interval_spread(&acc, &strange), INTERVAL_UNHELD));
	interval_add(&few, "few", 1);
	CHECK(near(interval_spread(&acc, &few), 0.08 * 1.2533141)); /* as all of them together */
}

TEST(more_classes_than_there_is_room_for_lose_no_time)
{
	static char names[100][16];
	struct interval_shares s = { .n = 0 };

	for (int i = 0; i < 100; i++) {
		snprintf(names[i], sizeof names[i], "c%d", i);
		interval_add(&s, names[i], 1);
	}
	CHECK_U64(s.n, INTERVAL_CLASSES);
	CHECK(near(s.all, 100));
}

TEST(a_described_npu_is_no_surer_than_its_nearest_silicon)
{
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;
	struct interval_shares s = { .n = 0 };
	struct interval interval;
	double least = 1;

	CHECK(interval_load(a, &interval, &e) == 1);
	for (size_t i = 0; i < interval.silicon.n; i++)
		least = fmin(least, interval.silicon.classes[i].mape / 100);
	interval_add(&s, "gemm", 1);
	interval_add(&s, "attention", 0.1);
	CHECK(interval_spread_npu(&interval, &s, 0) >= least);
	CHECK(interval_spread_npu(&interval, &s, 0.5) >= 0.25); /* half of the time waited for what was never held */
	interval_add(&s, "softmax", 1);                         /* nor was that */
	CHECK(interval_spread_npu(&interval, &s, 0) > 0.2);
	arena_free(a);
}

TEST(a_gpu_that_was_not_held_against_its_own_traces_is_less_sure)
{
	struct score v[3];
	const struct accuracy acc = made(v);
	const struct interval interval = { .elsewhere = 3, .held = "h200 h100" };
	struct interval_shares s = { .n = 0 };

	interval_add(&s, "a", 1);
	CHECK(near(interval_spread_gpu(&interval, &acc, &s, "h100"), 0.12533141));
	CHECK(near(interval_spread_gpu(&interval, &acc, &s, "h20"), 3 * 0.12533141));
	CHECK(near(interval_spread_gpu(&interval, &acc, &s, "a100"), 3 * 0.12533141));
}

/* --- families ------------------------------------------------------------------------------------------------------------ */

static struct interval_family family_of(const char *text, struct arena *a)
{
	struct err e = ERR_INIT;
	struct machine_conf *c = machine_conf_parse(text, strlen(text), "m", NULL, 0, &e);
	struct interval_family f = { .from = INTERVAL_UNSAID };

	CHECK_OK(c ? 0 : -1, e);
	CHECK_OK(interval_family_of(c, a, &f, &e), e);
	machine_conf_free(c);
	return f;
}

TEST(an_interval_rests_on_silicon_of_the_machines_own_family_alone)
{
	struct arena *a = arena_new(0);
	struct interval_family tpu = family_of("family: tpu\n", a), rk = family_of("family: rockchip\n", a);

	CHECK_U64(tpu.from, INTERVAL_ROWS);
	CHECK_STR(tpu.rows.device, "tpu-v6e");
	CHECK_U64(rk.from, INTERVAL_FITTED);
	CHECK(rk.range[INTERVAL_DECODE].high < 2);
	/* A TPU's rows say nothing of these, whatever they are like. */
	CHECK_U64(family_of("family: hailo\n", a).from, INTERVAL_OTHERS);
	CHECK_U64(family_of("family: tpus\n", a).from, INTERVAL_OTHERS);
	CHECK_U64(family_of("name: mine\n", a).from, INTERVAL_OTHERS);
	CHECK_U64(family_of("name: tpu-v6e\n", a).from, INTERVAL_OTHERS);
	arena_free(a);
}

TEST(classes_of_another_familys_interval_are_weighted_by_time)
{
	struct arena *a = arena_new(0);
	const struct interval_family f = family_of("name: mine\n", a);
	const double decode[INTERVAL_PARTS] = { 3, 0, 0 }, mixed[INTERVAL_PARTS] = { 0, 3, 1 };
	struct interval_range r = interval_range_of(&f, decode);

	CHECK(near(r.low, 0.9) && near(r.high, 5.6));
	r = interval_range_of(&f, mixed);
	CHECK(near(r.low, 0.75 * 0.7 + 0.25 * 0.5) && near(r.high, 0.75 * 2.1 + 0.25 * 19));
	arena_free(a);
}

TEST(rows_say_what_a_product_is_and_its_step_all_else)
{
	const struct op one = { .kind = OP_GEMM, .phase = OP_PREFILL, .shape.m = 1 },
			batch = { .kind = OP_GEMM, .phase = OP_DECODE, .shape.m = 64 },
			many = { .kind = OP_GEMM, .phase = OP_DECODE, .shape.m = 65 },
			step = { .kind = OP_ATTENTION, .phase = OP_DECODE, .shape.q_len = 1 },
			prompt = { .kind = OP_ATTENTION, .phase = OP_PREFILL, .shape.q_len = 512 },
			norm = { .kind = OP_NORM, .phase = OP_PREFILL }, add = { .kind = OP_ELEMENTWISE };

	CHECK_U64(interval_part_of(&one), INTERVAL_DECODE);
	CHECK_U64(interval_part_of(&batch), INTERVAL_DECODE);
	CHECK_U64(interval_part_of(&many), INTERVAL_PREFILL);
	CHECK_U64(interval_part_of(&step), INTERVAL_DECODE);
	CHECK_U64(interval_part_of(&prompt), INTERVAL_ATTENTION);
	CHECK_U64(interval_part_of(&norm), INTERVAL_PREFILL);
	CHECK_U64(interval_part_of(&add), INTERVAL_DECODE);
}

/* In a data folder of the test's own, which has no rows of any silicon. */
static void families_say(const char *text, const char *part)
{
	char sub[600], keep[512];
	const char *was = getenv("NPUSIM_DATA");
	struct machine_conf *c;
	struct err e = ERR_INIT;
	struct arena *a = arena_new(0);
	struct interval_family out;
	FILE *f;

	snprintf(keep, sizeof keep, "%s", was ? was : "");
	snprintf(sub, sizeof sub, "%s/configs", test_tmp());
	mkdir(sub, 0777);
	snprintf(sub, sizeof sub, "%s/configs/accuracy", test_tmp());
	mkdir(sub, 0777);
	snprintf(sub, sizeof sub, "%s/configs/accuracy/families.yaml", test_tmp());
	f = fopen(sub, "w");
	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
	CHECK((c = machine_conf_parse("kind: npu\n", 10, "m", NULL, 0, &e)) != NULL);
	CHECK(setenv("NPUSIM_DATA", test_tmp(), 1) == 0);
	CHECK(interval_family_of(c, a, &out, &e) < 0);
	CHECK((was ? setenv("NPUSIM_DATA", keep, 1) : unsetenv("NPUSIM_DATA")) == 0);
	CHECK_HAS(e.msg, part);
	machine_conf_free(c);
	arena_free(a);
}

TEST(a_file_of_families_that_is_none_says_why)
{
#define P3          ": {low: 1, middle: 1, high: 2}"
#define ALL         ", decode" P3 ", prefill" P3 ", attention" P3 "}\n"
#define MET(f, all) "- {machine: m" f ", family: " f all
#define FOUR        "met:\n" MET("a", ALL) MET("b", ALL) MET("c", ALL) MET("d", ALL)
	families_say("families: {}\n", "'met' lists machines");
	families_say("met: []\n", "at least 4");
	families_say("met: {a: b}\n", "'met' lists machines");
	families_say("met:\n" MET("a", ALL) MET("b", ALL) MET("c", ALL) "- {machine: m" ALL, "'family' is missing");
	families_say("met:\n" MET("a", ALL) MET("b", ALL) MET("c", ALL) "- {family: m" ALL, "'machine' is missing");
	families_say("met:\n" MET("a", ALL) MET("a", ALL) MET("a", ALL) MET("b", ALL),
	             "1 machines have rows of 'decode' without family 'a'");
	families_say("met:\n" MET("a", ALL) MET("b", ALL) MET("c", ALL) MET("d", ", decode" P3 ", prefill" P3 "}\n"),
	             "2 machines have rows of 'attention' without family 'a'");
	families_say("met:\n" MET("a", ", decode: {low: 3, middle: 2, high: 4}}\n") MET("b", ALL) MET("c", ALL)
	                     MET("d", ALL),
	             "are not low <= middle <= high");
	families_say("met:\n" MET("a", ", decode: {low: 3, high: 4}}\n") MET("b", ALL) MET("c", ALL) MET("d", ALL),
	             "'middle' is missing");
	families_say("met:\n" MET("a", ", decode: {low: 0, middle: 1, high: 4}}\n") MET("b", ALL) MET("c", ALL)
	                     MET("d", ALL),
	             "'0' is no positive number");
	families_say("met:\n" MET("a", ", decod: 1}\n") MET("b", ALL) MET("c", ALL) MET("d", ALL), "decod");
	families_say(FOUR "familys: {}\n", "familys");
	families_say(FOUR "- {machine: m, family: e, start_us: x}\n", "'x' is no positive number");
	families_say(FOUR "- {machine: m, family: e, reached: 1.1}\n", "no more than 1 of the pins");
	/* What a machine's own numbers were fitted to. */
	families_say(FOUR "families:\n  none:\n    prefill: {low: 0.7, high: 2.1}\n", "'decode' is missing");
	families_say(FOUR "families:\n  none:\n    decode: {low: 0.9}\n", "'high' is missing");
	families_say(FOUR "families:\n  none:\n    decode: {low: 1.9, high: 5.6}\n", "is not in the interval");
#undef FOUR
#undef MET
#undef ALL
#undef P3
}

/* --- families left out --------------------------------------------------------------------------------------------------- */

struct met {
	struct arena *a;
	struct interval_met *v;
	size_t n;
};

static struct met met_up(void)
{
	struct met m = { .a = arena_new(0) };
	struct err e = ERR_INIT;

	CHECK_OK(interval_met_read(&path_source, m.a, &m.v, &m.n, &e), e);
	return m;
}

TEST(the_interval_of_a_new_family_is_students_t_of_the_others)
{
	struct met m = met_up();
	struct interval_range r = interval_met_range(m.v, m.n, "none", INTERVAL_DECODE);

	CHECK(near(r.low, 0.9) && near(r.high, 5.6));
	r = interval_met_range(m.v, m.n, "none", INTERVAL_PREFILL);
	CHECK(near(r.low, 0.7) && near(r.high, 2.1));
	/* By hand: logarithms of middles 0, 0.5, 1 and spreads inside of 0.1 spreads each: t of two degrees is 1.886. */
	for (size_t i = 0; i < m.n; i++)
		m.v[i].has[INTERVAL_DECODE] = i < 3;
	for (int i = 0; i < 3; i++) {
		m.v[i].middle[INTERVAL_DECODE] = 0.5 * i;
		m.v[i].low[INTERVAL_DECODE] = 0.5 * i - 0.1 * INTERVAL_NORMAL;
		m.v[i].high[INTERVAL_DECODE] = 0.5 * i + 0.1 * INTERVAL_NORMAL;
	}
	r = interval_met_range(m.v, m.n, "none", INTERVAL_DECODE);
	CHECK(near(r.low, 0.9));  /* cut: the first one's low */
	CHECK(near(r.high, 5.0)); /* exp(0.5 + 1.886 sqrt(0.25 x 4 / 3 + 0.01)) = 4.98 */
	arena_free(m.a);
}

TEST(a_machines_own_family_does_not_say_how_sure_it_is)
{
	struct met m = met_up();
	const struct interval_range before = interval_met_range(m.v, m.n, "xdna", INTERVAL_DECODE),
				    all = interval_met_range(m.v, m.n, "none", INTERVAL_DECODE);

	for (size_t i = 0; i < m.n; i++)
		if (strcmp(m.v[i].family, "xdna") == 0)
			m.v[i].middle[INTERVAL_DECODE] *= 10;
	CHECK(near(before.high, interval_met_range(m.v, m.n, "xdna", INTERVAL_DECODE).high));
	CHECK(all.high < interval_met_range(m.v, m.n, "none", INTERVAL_DECODE).high);
	arena_free(m.a);
}

/* A machine that was calibrated is as sure as its rows are many and near, whatever its family is; classes without rows are as
 * others. */
TEST(rows_that_calibrated_a_machine_narrow_its_interval_by_class)
{
	struct arena *a = arena_new(0);
	const struct interval_family
		none = family_of("family: xdna\n", a),
		ten = family_of("family: xdna\ncalibrated: {decode_rows: 10, decode_error: 9 %}\n", a),
		more = family_of("family: xdna\ncalibrated: {decode_rows: 40, decode_error: 9 %}\n", a),
		worse = family_of("family: xdna\ncalibrated: {decode_rows: 10, decode_error: 18 %}\n", a),
		two = family_of("family: xdna\ncalibrated: {decode_rows: 2, decode_error: 1 %}\n", a);
	const enum interval_part d = INTERVAL_DECODE, p = INTERVAL_PREFILL;

	CHECK_U64(ten.from, INTERVAL_CALIBRATED);
	/* t of nine degrees, 1.383, times the root of 1.1, times 0.09 x 1.2533 */
	CHECK(fabs(ten.range[d].high - exp(1.383 * sqrt(1.1) * 0.09 * 1.2533)) < 1e-3);
	CHECK(near(ten.range[d].low, 1 / ten.range[d].high));
	CHECK(more.range[d].high < ten.range[d].high && ten.range[d].high < worse.range[d].high);
	CHECK(worse.range[d].high < none.range[d].high);
	CHECK(near(ten.range[p].low, none.range[p].low) && near(ten.range[p].high, none.range[p].high));
	/* Two rows say nothing, however near. */
	CHECK_U64(two.from, INTERVAL_OTHERS);
	CHECK(near(two.range[d].high, none.range[d].high));
	/* Nor does it matter that its family has rows of its own. */
	CHECK_U64(family_of("family: tpu\ncalibrated: {prefill_rows: 5, prefill_error: 5 %}\n", a).from,
	          INTERVAL_CALIBRATED);
	arena_free(a);
}

TEST(the_slow_corner_is_the_worst_of_other_families)
{
	struct met m = met_up();
	const struct interval_corner none = interval_met_corner(m.v, m.n, "none"),
				     xdna = interval_met_corner(m.v, m.n, "xdna");

	CHECK_STR(none.start_of, "XDNA2");
	CHECK_U64(none.start, 85 * PS_US);
	CHECK(none.reached == 0.28 && xdna.reached > none.reached);
	CHECK(xdna.start_of && strcmp(xdna.start_of, "XDNA2") != 0);
	CHECK(xdna.start > 0 && xdna.start < none.start);
	CHECK(interval_met_corner(m.v, 0, "none").start_of == NULL);
	arena_free(m.a);
}

/* Wormhole and Blackhole: by what is shared found without the class, how they differ lies within, and more narrowly than two machines
 * of any families would have it. */
TEST(two_machines_of_a_family_that_was_not_met_differ_less_than_two_of_any)
{
	struct met m = met_up();
	struct err e = ERR_INIT;
	struct interval interval;
	size_t pairs = 0;

	CHECK(interval_load(m.a, &interval, &e) == 1);
	CHECK(interval.shared_family > interval.shared && interval.shared_family < 1);
	for (size_t i = 0; i < m.n; i++)
		for (size_t k = i + 1; k < m.n; k++)
			for (int p = 0; p < INTERVAL_PARTS && strcmp(m.v[i].family, m.v[k].family) == 0; p++) {
				const struct interval_range t =
					interval_met_range(m.v, m.n, m.v[i].family, (enum interval_part)p);
				struct interval_side a = { .group = "f", .hash = 1, .time = t }, b = a;
				struct interval_range r, apart;
				double ratio;

				if (!m.v[i].has[p] || !m.v[k].has[p])
					continue;
				b.hash = 2;
				interval_add(&a.errors, "gemm", 1);
				interval_add(&b.errors, "gemm", 1);
				r = interval_pair_range(
					&a, &b, interval_met_shared(m.v, m.n, interval.shared, (enum interval_part)p));
				apart = interval_pair_range(&a, &b, 0);
				ratio = exp(m.v[i].middle[p] - m.v[k].middle[p]);
				CHECK(ratio >= r.low && ratio <= r.high);
				CHECK(log(r.high / r.low) < 0.8 * log(apart.high / apart.low));
				pairs++;
			}
	CHECK(pairs >= 2);
	/* Machines that differ as any do share what is taken for granted, and no more. */
	for (size_t i = 0; i < m.n; i++)
		if (strcmp(m.v[i].machine, "Blackhole") == 0)
			m.v[i].middle[INTERVAL_DECODE] += 10, m.v[i].middle[INTERVAL_PREFILL] += 10;
	CHECK(interval_met_shared(m.v, m.n, interval.shared, INTERVAL_PARTS) < interval.shared);
	arena_free(m.a);
}

/* Rows at hand of a family and class, and how many of them the interval of the other families holds. */
struct cell {
	char family[32];
	enum interval_part p;
	size_t n, held;
};

static size_t cells_of(const struct met *m, struct cell *v, size_t most)
{
	char path[512], line[256], machine[64], family[32], part[16];
	double x;
	size_t n = 0, k;
	FILE *f;

	snprintf(path, sizeof path, "%s/validate/tests/data/families/rows.csv", test_root());
	CHECK((f = fopen(path, "r")) != NULL && fgets(line, sizeof line, f));
	while (fgets(line, sizeof line, f)) {
		enum interval_part p = INTERVAL_DECODE;
		struct interval_range r;

		CHECK(sscanf(line, "%63[^,],%31[^,],%15[^,],%lf", machine, family, part, &x) == 4);
		while (p < INTERVAL_PARTS && strcmp(part, interval_part_name(p)) != 0)
			p++;
		CHECK(p < INTERVAL_PARTS);
		for (k = 0; k < n && (v[k].p != p || strcmp(v[k].family, family) != 0); k++)
			;
		CHECK(k < most);
		if (k == n) {
			v[n] = (struct cell){ .p = p };
			snprintf(v[n++].family, sizeof v->family, "%s", family);
		}
		r = interval_met_range(m->v, m->n, family, p);
		v[k].n++;
		v[k].held += x >= r.low && x <= r.high;
	}
	fclose(f);
	return n;
}

/* A family and class counts once, however many rows it has: what is asked is how the next family fares. One class of few
 * families is no evidence of a level, all of them together are. */
TEST(intervals_of_other_families_hold_four_of_five_rows_of_a_family_left_out)
{
	struct met m = met_up();
	struct cell v[64];
	double sum = 0, of[INTERVAL_PARTS] = { 0 }, all[INTERVAL_PARTS] = { 0 };
	const size_t n = cells_of(&m, v, 64);

	CHECK(n >= 12);
	for (size_t i = 0; i < n; i++) {
		sum += (double)v[i].held / (double)v[i].n;
		of[v[i].p] += (double)v[i].held / (double)v[i].n;
		all[v[i].p]++;
	}
	CHECK(sum >= 0.7 * (double)n && sum <= 0.9 * (double)n);
	for (int p = 0; p < INTERVAL_PARTS; p++)
		CHECK(all[p] >= 4 && of[p] >= 0.6 * all[p]);
	arena_free(m.a);
}

/* --- the committed steps ------------------------------------------------------------------------------------------------- */

struct steps {
	struct arena *a;
	struct accuracy acc;
	struct interval_total *v;
	size_t n;
};

static void steps_up(struct steps *x)
{
	struct err e = ERR_INIT;
	char path[512];

	x->a = arena_new(0);
	snprintf(path, sizeof path, "%s/configs/accuracy/totals.csv", test_root());
	CHECK(accuracy_load(NULL, x->a, &x->acc, &e) == 1);
	CHECK_OK(interval_totals(path, x->a, &x->v, &x->n, &e), e);
	interval_deviations(x->v, x->n, &x->acc);
}

TEST(intervals_hold_four_of_five_committed_totals_whoever_is_left_out)
{
	struct steps x;

	steps_up(&x);
	CHECK(x.n >= 30);
	for (enum interval_without w = INTERVAL_ALL; w <= INTERVAL_MODEL; w++) {
		const struct interval_cover c = interval_cover(x.v, x.n, w, NULL);

		CHECK_U64(c.n, x.n);
		CHECK(10 * c.in >= 7 * c.n && 10 * c.in <= 9 * c.n);
		CHECK(c.half <= 1.5 * x.acc.all.mape / 100);
	}
	arena_free(x.a);
}

TEST(the_committed_intervals_are_those_of_the_committed_totals)
{
	struct err e = ERR_INIT;
	struct steps x;
	struct interval interval;

	steps_up(&x);
	CHECK(interval_load(x.a, &interval, &e) == 1);
	CHECK(fabs(interval.quantile - interval_quantile(x.v, x.n, NULL, NULL)) < 1e-3);
	CHECK_U64(interval.totals, x.n);
	CHECK(interval.npu_quantile > 0.5 && interval.npu_quantile < 5);
	arena_free(x.a);
}

/* --- two machines --- */

static struct interval_side side(const char *group, uint64_t hash, double low, double high, double a, double b)
{
	struct interval_side s = { .group = group, .hash = hash, .time = { low, high } };

	interval_add(&s.errors, "a", a);
	interval_add(&s.errors, "b", b);
	return s;
}

static double width(struct interval_range r)
{
	return log(r.high) - log(r.low);
}

TEST(a_machine_against_itself_has_no_interval_and_no_two_a_wider_one_than_both)
{
	static const double ends[] = { 1, 1.04, 1.3, 5.6 }, parts[] = { 0, 0.2, 1 };

	for (int i = 0; i < 4 * 4 * 3 * 3 * 2; i++) {
		const struct interval_side x = side("gpu", 1, 1 / ends[i % 4], ends[i / 4 % 4], parts[i / 16 % 3], 0.3),
					   y = side(i / 144 ? "gpu" : "", 2, 1 / ends[i / 4 % 4], ends[(i + 1) % 4],
		                                    parts[i / 48 % 3], 0.5);
		const struct interval_range same = interval_pair_range(&x, &x, 0.4),
					    r = interval_pair_range(&x, &y, 0.4),
					    apart = interval_pair_range(&x, &y, 0),
					    back = interval_pair_range(&y, &x, 0.4);

		CHECK(near(same.low, 1) && near(same.high, 1));
		CHECK(width(r) <= width(x.time) + width(y.time) + 1e-9);
		CHECK(width(r) <= width(apart) + 1e-9);
		CHECK(r.low <= 1 && r.high >= 1);
		CHECK(near(r.low * back.high, 1) && near(r.high * back.low, 1));
	}
}

TEST(only_what_is_of_one_group_and_class_cancels)
{
	const struct interval_side x = side("gpu", 1, 0.9, 1.1, 1, 0), y = side("gpu", 2, 0.9, 1.1, 1, 0),
				   z = side("gpu", 3, 0.9, 1.1, 0, 1), other = side("tpu", 4, 0.9, 1.1, 1, 0),
				   none = side("", 5, 0.9, 1.1, 1, 0), nobody = side("", 6, 0.9, 1.1, 1, 0);
	const double apart = width(interval_pair_range(&x, &other, 0.4));

	CHECK(width(interval_pair_range(&x, &y, 0.4)) < 0.8 * apart);
	CHECK(near(width(interval_pair_range(&x, &z, 0.4)), apart));
	CHECK(near(width(interval_pair_range(&none, &nobody, 0.4)), apart));
	CHECK(width(interval_pair_range(&x, &y, 0)) > width(interval_pair_range(&x, &y, 0.2)));
}

/* Steps that an H100 and an H200 ran: also by what is shared where the step's model is left out. */
TEST(the_measured_ratio_of_two_gpus_lies_in_four_of_five_intervals)
{
	size_t pairs = 0, in = 0, narrower = 0;
	struct err e = ERR_INIT;
	struct interval interval;
	struct steps x;

	steps_up(&x);
	CHECK(interval_load(x.a, &interval, &e) == 1);
	CHECK(fabs(interval.shared - interval_shared(x.v, x.n, &x.acc, NULL)) < 1e-3);
	for (size_t i = 0; i < x.n; i++)
		for (size_t k = 0; k < x.n; k++) {
			const struct interval_total *t[] = { &x.v[i], &x.v[k] };
			struct interval_side s[2];
			struct interval_range r, apart;
			double ratio;

			if (strcmp(t[0]->device, "h100") != 0 || !interval_is_pair(t[0], t[1]))
				continue;
			for (int m = 0; m < 2; m++) {
				const double half = interval_quantile(x.v, x.n, NULL, t[m]->model) * t[m]->spread;

				s[m] = (struct interval_side){ .group = "gpu",
					                       .hash = (uint64_t)m,
					                       .time = { exp(-half), exp(half) } };
				interval_weigh(&x.acc, &t[m]->shares, &s[m].errors);
			}
			r = interval_pair_range(&s[0], &s[1], interval_shared(x.v, x.n, &x.acc, t[0]->model));
			apart = interval_pair_range(&s[0], &s[1], 0);
			ratio = t[0]->measured_us / t[1]->measured_us / (t[0]->simulated_us / t[1]->simulated_us);
			pairs++;
			in += ratio >= r.low && ratio <= r.high;
			narrower += width(r) < 0.9 * width(apart);
		}
	CHECK(pairs >= 6);
	CHECK(10 * in >= 8 * pairs);
	CHECK_U64(narrower, pairs);
	arena_free(x.a);
}

/* A quantile that is found without a device does not move when that device's totals do. */
TEST(what_is_left_out_is_not_looked_at)
{
	struct steps x;
	double before, after;

	steps_up(&x);
	before = interval_quantile(x.v, x.n, "h200", NULL);
	for (size_t i = 0; i < x.n; i++)
		if (strcmp(x.v[i].device, "h200") == 0)
			x.v[i].z *= 100;
	after = interval_quantile(x.v, x.n, "h200", NULL);
	CHECK(near(before, after));
	CHECK(interval_quantile(x.v, x.n, NULL, NULL) > 10 * before);
	arena_free(x.a);
}

/* --- bad tables ---------------------------------------------------------------------------------------------------------- */

static void refused(const char *text, const char *part)
{
	struct arena *a = arena_new(0);
	struct interval_total *v;
	struct err e = ERR_INIT;
	char path[512];
	FILE *f = fopen(test_path(path, sizeof path, "t.csv"), "w");
	size_t n;

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
	CHECK(interval_totals(path, a, &v, &n, &e) < 0);
	CHECK_HAS(e.msg, part);
	arena_free(a);
}

TEST(a_table_of_totals_that_is_none_has_its_line)
{
#define HEAD "device,model,step,way,measured_us,simulated_us,classes\n"
	refused("", "is empty");
	refused("device,model\n", "column 3 is ''");
	refused(HEAD, "has no totals");
	refused(HEAD "h200,m,s,kernels,1,2\n", "has 7 fields");
	refused(HEAD "h200,m,s,kernels,nan,2,a:1\n", "'nan' is no time");
	refused(HEAD "h200,m,s,kernels,0,2,a:1\n", "'0' is no time");
	refused(HEAD "h200,m,s,kernels,1,-2,a:1\n", "'-2' is no time");
	refused(HEAD "h200,m,s,kernels,1,2,a\n", "is no class and share");
	refused(HEAD "h200,m,s,kernels,1,2,a:2\n", "is no class and share");
	refused(HEAD "h200,m,s,kernels,1,2,a:0.5;b:0.5\n", "is no class and share");
#undef HEAD
}

SUITE(t_interval, T(errors_go_together_within_a_class_and_apart_between_classes),
      T(what_was_never_held_may_be_off_by_half_and_few_samples_say_little),
      T(more_classes_than_there_is_room_for_lose_no_time), T(a_described_npu_is_no_surer_than_its_nearest_silicon),
      T(a_gpu_that_was_not_held_against_its_own_traces_is_less_sure),
      T(an_interval_rests_on_silicon_of_the_machines_own_family_alone),
      T(classes_of_another_familys_interval_are_weighted_by_time), T(rows_say_what_a_product_is_and_its_step_all_else),
      T(a_file_of_families_that_is_none_says_why), T(the_interval_of_a_new_family_is_students_t_of_the_others),
      T(a_machines_own_family_does_not_say_how_sure_it_is),
      T(rows_that_calibrated_a_machine_narrow_its_interval_by_class), T(the_slow_corner_is_the_worst_of_other_families),
      T(two_machines_of_a_family_that_was_not_met_differ_less_than_two_of_any),
      T(intervals_of_other_families_hold_four_of_five_rows_of_a_family_left_out),
      T(intervals_hold_four_of_five_committed_totals_whoever_is_left_out),
      T(a_machine_against_itself_has_no_interval_and_no_two_a_wider_one_than_both),
      T(only_what_is_of_one_group_and_class_cancels), T(the_measured_ratio_of_two_gpus_lies_in_four_of_five_intervals),
      T(the_committed_intervals_are_those_of_the_committed_totals), T(what_is_left_out_is_not_looked_at),
      T(a_table_of_totals_that_is_none_has_its_line));
