/* trace_review.c - npusim trace review: a published report's tables worked out again, and its claims judged. */
#include "sim/cli/cmd.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "sim/profile/review.h"
#include "workloads/rules.h"

#define WIDTH      110
#define NAME_SHOWN 48

struct options {
	const char *rules, *format;
	bool all;
};

static const char *verdict_name(enum review_verdict v)
{
	static const char *const names[] = { "holds", "differs", "contradicted", "text" };

	return names[v];
}

static const char *class_name(enum roof_class c)
{
	return c == ROOF_MEMORY ? "memory" : c == ROOF_COMPUTE ? "compute" : "balanced";
}

/* --- tables ------------------------------------------------------------------------------------------------ */

static void write_top(const struct review *s, struct str *out)
{
	static const struct out_col cols[] = {
		{ "rank", OUT_INT, 0 },       { "friendly", OUT_TEXT, 0 }, { "library", OUT_TEXT, 0 },
		{ "family", OUT_TEXT, 0 },    { "count", OUT_INT, 0 },     { "mean_us", OUT_REAL, 3 },
		{ "share_pct", OUT_REAL, 2 }, { "printed", OUT_REAL, 1 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols,
	                                    "kernels by time, and the shares that the report prints");

	for (size_t i = 0; i < s->n_top; i++) {
		const struct classify_kernel *k = &s->families.kernels[i];

		out_int(t, (int64_t)i + 1);
		out_text(t, k->friendly);
		out_text(t, k->library);
		out_text(t, k->family);
		out_int(t, (int64_t)k->count);
		out_real(t, cmd_us((int64_t)k->total_ns) / (double)k->count);
		out_real(t, cmd_pct((double)k->total_ns, (double)s->families.kernel_ns));
		out_real(t, s->top[i]);
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

static void write_means(const struct review *s, struct str *out)
{
	static const struct out_col cols[] = {
		{ "metric", OUT_TEXT, 0 },  { "compute", OUT_REAL, 2 }, { "printed", OUT_REAL, 2 },
		{ "memory", OUT_REAL, 2 },  { "printed", OUT_REAL, 2 }, { "balanced", OUT_REAL, 2 },
		{ "printed", OUT_REAL, 2 }, { "all", OUT_REAL, 2 },     { "printed", OUT_REAL, 2 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols,
	                                    "means over the kernels of a class, as the report classes them");

	for (size_t i = 0; i < s->n_means; i++) {
		static const enum roof_class order[] = { ROOF_COMPUTE, ROOF_MEMORY, ROOF_BALANCED };
		const struct review_mean *m = &s->means[i];

		out_text(t, counter_name(m->metric));
		for (int c = 0; c < 3; c++) {
			out_real_or_null(t, m->got[order[c]]);
			out_real(t, m->printed[order[c]]);
		}
		out_real_or_null(t, m->all_got);
		out_real(t, m->all_printed);
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

static void write_longest(const struct review *s, struct str *out)
{
	static const struct out_col cols[] = {
		{ "kernel", OUT_INT, 0 },      { "duration_us", OUT_REAL, 2 },   { "printed", OUT_REAL, 2 },
		{ "class", OUT_TEXT, 0 },      { "printed", OUT_TEXT, 0 },       { "by its rule", OUT_TEXT, 0 },
		{ "memory_pct", OUT_REAL, 2 }, { "sm_pct", OUT_REAL, 2 },        { "intensity", OUT_REAL, 1 },
		{ "profile row", OUT_INT, 0 }, { "longest there", OUT_REAL, 2 }, { "name", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(
		cols, sizeof cols / sizeof *cols,
		"profiled kernels by time; class: in its means, in its list of the longest, and by the rule it states");
	struct str name = STR_INIT;

	for (size_t i = 0; i < s->n_kernels; i++) {
		const struct review_kernel *k = &s->kernels[s->longest[i]];

		str_clear(&name);
		str_addf(&name, "%.*s%s", NAME_SHOWN, k->name, strlen(k->name) > NAME_SHOWN ? "..." : "");
		out_int(t, (int64_t)k->number);
		out_real(t, k->v[COUNTER_DURATION_US]);
		out_real_or_null(t, i < s->n_longest ? s->longest_printed[i].us : NAN);
		out_text(t, class_name(k->said));
		out_text(t, i < s->n_longest ? class_name(s->longest_printed[i].class) : "-");
		out_text(t, class_name(k->rule));
		out_real(t, k->v[COUNTER_MEM_PCT]);
		out_real(t, k->v[COUNTER_SM_PCT]);
		out_real_or_null(t, k->intensity);
		if (k->row)
			out_int(t, (int64_t)k->row);
		else
			out_null(t);
		out_real_or_null(t, k->row ? cmd_us(s->trace.stats[k->row - 1].max_ns) : NAN);
		out_text(t, str_c(&name));
	}
	out_table_write(t, OUT_TABLE, out);
	out->failed |= name.failed;
	str_free(&name);
	out_table_free(t);
}

/* --- claims ------------------------------------------------------------------------------------------------ */

/* Lines of WIDTH; the first begins at column `at`, the others at `indent`. */
static void wrap(const char *text, int at, int indent, struct str *out)
{
	bool begun = false;

	while (*text) {
		const int n = (int)strcspn(text, " ");

		if (begun && at + 1 + n > WIDTH) {
			str_addf(out, "\n%*s", indent, "");
			at = indent;
			begun = false;
		}
		str_addf(out, "%s%.*s", begun ? " " : "", n, text);
		at += n + begun;
		begun = true;
		text += n;
		text += strspn(text, " ");
	}
	str_addc(out, '\n');
}

static void write_claim(const struct review_claim *c, size_t number, struct str *out)
{
	struct str line = STR_INIT;

	str_addf(&line, "%s: %s", c->at, c->says);
	str_addf(out, "%2zu  %-12s  ", number, verdict_name(c->verdict));
	wrap(str_c(&line), 18, 18, out);
	str_clear(&line);
	if (c->verdict == REVIEW_DIFFERS)
		str_addf(&line, "printed %s, the tables give %.6g (%s). ", c->printed, c->got, c->is);
	str_add(&line, c->why);
	if (c->verdict != REVIEW_HOLDS) {
		str_add(out, "                    ");
		wrap(str_c(&line), 20, 20, out);
	}
	out->failed |= line.failed;
	str_free(&line);
}

static void write_claims(const struct review *s, bool all, struct str *out)
{
	size_t n[4] = { 0 };

	for (size_t i = 0; i < s->n_claims; i++)
		n[s->claims[i].verdict]++;
	str_addf(
		out,
		"claims: %zu of %zu hold; %zu differ from the tables, %zu are contradicted by them, %zu by their own text%s\n",
		n[REVIEW_HOLDS], s->n_claims, n[REVIEW_DIFFERS], n[REVIEW_CONTRADICTED], n[REVIEW_TEXT],
		all ? "" : " (--all lists those that hold too)");
	for (size_t i = 0; i < s->n_claims; i++)
		if (all || s->claims[i].verdict != REVIEW_HOLDS)
			write_claim(&s->claims[i], i + 1, out);
}

static void write_text(const struct review *s, bool all, struct str *out)
{
	size_t moved = 0, printed = 0;
	double covered = 0;

	for (size_t i = 0; i < s->n_kernels; i++)
		moved += s->kernels[i].rule != s->kernels[i].said;
	for (size_t i = 0; i < s->n_top; i++) {
		covered += review_share(s, i);
		printed += fabs(review_share(s, i) - s->top[i]) <= 0.05;
	}
	str_addf(out,
	         "%s\n\n%" PRIu64 " kernels of %zu names in %.3f us, %" PRIu64
	         " steps of %.3f us; the %zu names below are %.2f"
	         " %% of the time, and %zu of their shares are as printed\n\n",
	         s->title, s->families.kernel_count, s->families.n_kernels, cmd_us((int64_t)s->families.kernel_ns),
	         s->steps, cmd_us((int64_t)s->families.kernel_ns) / (double)s->steps, s->n_top, covered, printed);
	write_top(s, out);
	str_addc(out, '\n');
	write_means(s, out);
	str_addc(out, '\n');
	write_longest(s, out);
	str_addf(out,
	         "(ridge of %s for bf16: %.1f FLOP/byte; the rule puts %zu of %zu elsewhere than the report does)\n\n",
	         s->roof.name, roof_ridge(&s->roof, ROOF_BF16), moved, s->n_kernels);
	write_claims(s, all, out);
}

static void write_csv(const struct review *s, struct str *out)
{
	static const struct out_col cols[] = {
		{ "claim", OUT_INT, 0 },    { "verdict", OUT_TEXT, 0 }, { "at", OUT_TEXT, 0 }, { "says", OUT_TEXT, 0 },
		{ "printed", OUT_TEXT, 0 }, { "is", OUT_REAL, 6 },      { "by", OUT_TEXT, 0 }, { "why", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (size_t i = 0; i < s->n_claims; i++) {
		const struct review_claim *c = &s->claims[i];

		out_int(t, (int64_t)i + 1);
		out_text(t, verdict_name(c->verdict));
		out_text(t, c->at);
		out_text(t, c->says);
		out_text(t, c->printed);
		out_real_or_null(t, c->got);
		out_text(t, c->is);
		out_text(t, c->why);
	}
	out_table_write(t, OUT_CSV, out);
	out_table_free(t);
}

/* --- json -------------------------------------------------------------------------------------------------- */

static void json_kernels(const struct review *s, struct out_json *j)
{
	out_json_open(j, "top", '[');
	for (size_t i = 0; i < s->n_top; i++) {
		const struct classify_kernel *k = &s->families.kernels[i];

		out_json_open(j, NULL, '{');
		out_json_int(j, "rank", (int64_t)i + 1);
		out_json_text(j, "name", k->name);
		out_json_text(j, "friendly", k->friendly);
		out_json_text(j, "family", k->family);
		out_json_u64(j, "count", k->count);
		out_json_real(j, "share_pct", review_share(s, i));
		out_json_real(j, "printed", s->top[i]);
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
	out_json_open(j, "kernels", '[');
	for (size_t i = 0; i < s->n_kernels; i++) {
		const struct review_kernel *k = &s->kernels[s->longest[i]];

		out_json_open(j, NULL, '{');
		out_json_u64(j, "kernel", k->number);
		out_json_real(j, "duration_us", k->v[COUNTER_DURATION_US]);
		out_json_text(j, "class", class_name(k->said));
		out_json_text(j, "class_by_rule", class_name(k->rule));
		out_json_real(j, "intensity", k->intensity);
		out_json_u64(j, "profile_row", k->row);
		out_json_text(j, "name", k->name);
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
}

static void json_means(const struct review *s, struct out_json *j)
{
	out_json_open(j, "means", '[');
	for (size_t i = 0; i < s->n_means; i++) {
		const struct review_mean *m = &s->means[i];

		out_json_open(j, NULL, '{');
		out_json_text(j, "metric", counter_name(m->metric));
		for (int c = 0; c < 3; c++)
			out_json_real(j, class_name((enum roof_class)c), m->got[c]);
		out_json_real(j, "all", m->all_got);
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
}

static void write_json(const struct review *s, struct str *out)
{
	struct out_json j;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_text(&j, "title", s->title);
	out_json_real(&j, "total_us", cmd_us((int64_t)s->families.kernel_ns));
	out_json_u64(&j, "kernel_count", s->families.kernel_count);
	out_json_u64(&j, "step_count", s->steps);
	json_kernels(s, &j);
	json_means(s, &j);
	out_json_open(&j, "claims", '[');
	for (size_t i = 0; i < s->n_claims; i++) {
		const struct review_claim *c = &s->claims[i];

		out_json_open(&j, NULL, '{');
		out_json_text(&j, "at", c->at);
		out_json_text(&j, "says", c->says);
		out_json_text(&j, "verdict", verdict_name(c->verdict));
		out_json_text(&j, "printed", *c->printed ? c->printed : NULL);
		out_json_real(&j, "is", c->got);
		out_json_text(&j, "by", *c->is ? c->is : NULL);
		out_json_text(&j, "why", c->why);
		out_json_close(&j, '}');
	}
	out_json_close(&j, ']');
	out_json_close(&j, '}');
}

/* --- the command ------------------------------------------------------------------------------------------- */

static int review(const char *path, const struct options *o, struct str *out, struct err *e)
{
	struct arena *a = arena_new(MEASURED_MEMORY);
	struct rules *rules = NULL;
	enum out_format f;
	struct review s;
	int rc = -1;

	if (!a)
		err_nomem(e, "for the review");
	else if (cmd_format(o->format, &f, e) == 0 && (rules = rules_load(o->rules, e)))
		rc = review_load(path, rules, a, &s, e);
	if (rc == 0 && f == OUT_JSON)
		write_json(&s, out);
	else if (rc == 0 && f == OUT_CSV)
		write_csv(&s, out);
	else if (rc == 0)
		write_text(&s, o->all, out);
	rules_free(rules);
	arena_free(a);
	return rc;
}

int cmd_trace_review(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .rules = NULL };
	const struct opt opts[] = {
		{ 'a', "all", OPT_FLAG, &o.all, NULL, "the claims that hold, too" },
		{ 0, "rules", OPT_READ, &o.rules, "FILE", CMD_FAMILIES_HELP },
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP "; csv has the claims alone" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace review REVIEW.yaml [--all]",
		"Holds a published profile report against the tables that it was made from: its top kernels with their shares, its"
		" means by class, its longest kernels and their classes by the rule that it states, each beside what is printed;"
		" then what it claims, and where the tables or the report itself say otherwise. sim/profile/review.h describes the file;"
		" the one that comes with npusim is of a DeepSeek-OCR decode on an RTX 5090.",
		"npusim trace review traces/rtx5090/review.yaml\n"
		"npusim trace review traces/rtx5090/review.yaml --all --format csv\n",
		opts,
		1,
		1
	};
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0)
		rc = review(args.v[0], &o, out, e);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
