/* t_review.c - the report on the RTX 5090: what it prints rightly comes out of its tables again, what it does not is
 * found; and reviews that are wrong themselves. */
#include <math.h>
#include <stdlib.h>

#include "sim/profile/review.h"
#include "traces/text/csv.h"
#include "validate/tests/test.h"
#include "workloads/rules.h"

struct bed {
	struct arena *a;
	struct rules *rules;
	struct review r;
	struct err e;
};

static void up(struct bed *b)
{
	char path[1024];

	memset(b, 0, sizeof *b);
	CHECK(snprintf(path, sizeof path, "%s/traces/rtx5090/review.yaml", test_root()) < (int)sizeof path);
	CHECK(b->a = arena_new(0));
	CHECK(b->rules = rules_load(NULL, &b->e));
	CHECK_OK(review_load(path, b->rules, b->a, &b->r, &b->e), b->e);
}

static void down(struct bed *b)
{
	rules_free(b->rules);
	arena_free(b->a);
}

TEST(the_twenty_shares_are_those_that_are_printed)
{
	struct bed b;

	up(&b);
	CHECK_U64(b.r.n_top, 20);
	for (size_t i = 0; i < b.r.n_top; i++) {
		CHECK(fabs(review_share(&b.r, i) - b.r.top[i]) <= 0.05);
		/* The table is in this order by itself. */
		CHECK_STR(b.r.families.kernels[i].name, b.r.trace.stats[i].name);
	}
	CHECK_U64(b.r.families.kernel_count, 78016);
	CHECK_U64(b.r.families.kernel_ns, 179072697);
	down(&b);
}

TEST(the_twenty_eight_class_means_are_those_that_are_printed)
{
	static const size_t count[] = { [ROOF_MEMORY] = 9, [ROOF_COMPUTE] = 4, [ROOF_BALANCED] = 7 };
	struct bed b;
	size_t n[3] = { 0 };

	up(&b);
	CHECK_U64(b.r.n_means, 7);
	for (size_t i = 0; i < b.r.n_means; i++) {
		const struct review_mean *m = &b.r.means[i];

		for (int c = 0; c < 3; c++)
			CHECK(fabs(m->got[c] - m->printed[c]) <= 0.005000001);
		CHECK(fabs(m->all_got - m->all_printed) <= 0.005000001);
	}
	for (size_t i = 0; i < b.r.n_kernels; i++)
		n[b.r.kernels[i].said]++;
	for (int c = 0; c < 3; c++)
		CHECK_U64(n[c], count[c]);
	down(&b);
}

TEST(the_ten_longest_are_those_that_are_printed_and_one_has_two_classes)
{
	size_t other = 0;
	struct bed b;

	up(&b);
	CHECK_U64(b.r.n_longest, 10);
	for (size_t i = 0; i < b.r.n_longest; i++) {
		const struct review_kernel *k = &b.r.kernels[b.r.longest[i]];

		CHECK(k->v[COUNTER_DURATION_US] == b.r.longest_printed[i].us);
		if (k->said != b.r.longest_printed[i].class) {
			CHECK_U64(k->number, 17);
			other++;
		}
	}
	CHECK_U64(other, 1);
	down(&b);
}

static const struct review_claim *claim(const struct review *r, const char *part)
{
	for (size_t i = 0; i < r->n_claims; i++)
		if (strstr(r->claims[i].says, part))
			return &r->claims[i];
	test_fail(__FILE__, __LINE__, "no claim says '%s'", part);
}

TEST(what_the_review_of_the_report_found_is_found_by_the_tables)
{
	static const struct {
		const char *says;
		enum review_verdict verdict;
		double got;
	} known[] = {
		{ "4 compute-bound kernels", REVIEW_DIFFERS, 0 },
		{ "math-heavy", REVIEW_DIFFERS, 3 },                     /* all but the concatenation */
		{ "balanced kernels underuse both", REVIEW_DIFFERS, 6 }, /* all but the addition */
		{ "intensity below 100", REVIEW_HOLDS, 1 },
		{ "ridge lies at 50 to 100", REVIEW_CONTRADICTED, 0 },
		{ "20 kernels are complete coverage", REVIEW_CONTRADICTED, 0 },
		{ "3 of the 4 longest", REVIEW_DIFFERS, 2 },
		{ "34 % of the SMs", REVIEW_DIFFERS, 36.2075 },
		{ "20 images", REVIEW_DIFFERS, 1 },
		{ "49.2 %", REVIEW_HOLDS, 49.158 },
		{ "9 kernels are memory-bound", REVIEW_HOLDS, 9 },
		{ "15.5 times", REVIEW_HOLDS, 15.5455 },
		{ "pct_of_peak_sustained_active", REVIEW_TEXT, 0 },
	};
	struct bed b;

	up(&b);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		const struct review_claim *c = claim(&b.r, known[i].says);

		CHECK_U64(c->verdict, known[i].verdict);
		CHECK(c->verdict == REVIEW_TEXT || fabs(c->got - known[i].got) < 0.001);
	}
	down(&b);
}

/* --- the printed numbers, from the source's own tables, which are not committed --------------------------------- */

TEST(the_printed_numbers_are_copied_rightly)
{
	char path[1024];
	struct input *in;
	struct csv *c;
	struct bed b;
	int rc;

	up(&b);
	snprintf(path, sizeof path, "%s/../shared/data/rtx5090/dsocr_decode_top20.csv", test_root());
	if (!(in = input_open(path, &b.e)))
		test_skip("not run: 1 file absent");
	CHECK(c = csv_new(in, &b.e));
	CHECK(csv_row(c, &b.e) == 1 && strcmp(csv_field(c, 1), "share_pct") == 0);
	for (size_t i = 0; (rc = csv_row(c, &b.e)) == 1; i++) {
		CHECK(i < b.r.n_top && atof(csv_field(c, 1)) == b.r.top[i]);
		CHECK_STR(csv_field(c, 5), b.r.trace.stats[i].name);
	}
	csv_free(c);
	input_free(in);
	snprintf(path, sizeof path, "%s/../shared/data/rtx5090/dsocr_class_means.csv", test_root());
	CHECK((in = input_open(path, &b.e)) && (c = csv_new(in, &b.e)) && csv_row(c, &b.e) == 1);
	for (size_t i = 0; (rc = csv_row(c, &b.e)) == 1; i++) {
		const struct review_mean *m = &b.r.means[i];

		CHECK(i < b.r.n_means && atof(csv_field(c, 1)) == m->printed[ROOF_COMPUTE]);
		CHECK(atof(csv_field(c, 2)) == m->printed[ROOF_MEMORY]);
		CHECK(atof(csv_field(c, 3)) == m->printed[ROOF_BALANCED] && atof(csv_field(c, 4)) == m->all_printed);
	}
	CHECK(rc == 0);
	csv_free(c);
	input_free(in);
	down(&b);
}

/* --- reviews that are wrong ------------------------------------------------------------------------------------- */

static void refused(const char *claim_text, const char *because)
{
	char path[1024];
	struct bed b = { .a = arena_new(0) };
	FILE *f;

	CHECK(b.a && (b.rules = rules_load(NULL, &b.e)));
	CHECK(f = fopen(test_path(path, sizeof path, "review.yaml"), "w"));
	fprintf(f,
	        "review: 1\ntitle: t\nprofile: {file: %s/traces/rtx5090/dsocr_decode.csv, steps: 64}\n"
	        "counters: %s/traces/rtx5090/dsocr_counters.csv\ndevice: %s/configs/gpu/rtx5090.yaml\n"
	        "top: [34.4]\nmeans: {duration_us: [1, 2, 3, 4]}\nlongest: [[1, memory]]\nclaims:\n%s",
	        test_root(), test_root(), test_root(), claim_text);
	CHECK(fclose(f) == 0);
	CHECK(review_load(path, b.rules, b.a, &b.r, &b.e) == -1);
	CHECK_HAS(b.e.msg, because);
	CHECK_U64(err_exit_code(&b.e), 3);
	down(&b);
}

TEST(a_claim_without_sense_is_refused_with_the_name)
{
	refused("- {at: a, says: b, printed: '1', is: top47.share}\n", "top47.share");
	refused("- {at: a, says: b, printed: '1', is: k21.grid}\n", "k21.grid");
	refused("- {at: a, says: b, printed: '1', is: k1.temperature}\n", "k1.temperature");
	refused("- {at: a, says: b, printed: '1', is: nothing.share}\n", "nothing.share");
	refused("- {at: a, says: b, printed: '1', is: some.duration_us}\n", "some.duration_us");
	refused("- {at: a, says: b, printed: '1', is: top1.share +}\n", "no expression");
	refused("- {at: a, says: b, printed: '1', is: k1.intensity}\n", "has no value");
	refused("- {at: a, says: b, printed: one, is: top1.share}\n", "no number");
	refused("- {at: a, says: b, printed: '1'}\n", "'is' is missing");
	refused("- {at: a, says: b, printed: '1', is: top1.share}\n", "'why' is missing");
	refused("- {at: a, says: b, hold: 1 > 0}\n", "did you mean 'holds'");
	refused("- {says: b}\n", "'at' is missing");
	refused("  nothing\n", "list");
}

SUITE(t_review, T(the_twenty_shares_are_those_that_are_printed),
      T(the_twenty_eight_class_means_are_those_that_are_printed),
      T(the_ten_longest_are_those_that_are_printed_and_one_has_two_classes),
      T(what_the_review_of_the_report_found_is_found_by_the_tables), T(the_printed_numbers_are_copied_rightly),
      T(a_claim_without_sense_is_refused_with_the_name));
