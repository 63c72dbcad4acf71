/* trace_review.c - npusim trace review: a published report's tables worked out again, and its claims judged. */
#include "sim/cli/cmd.h"
#include "sim/report/review_doc.h"
#include "workloads/rules.h"

struct options {
	const char *rules, *format;
	bool all;
};

static int review(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct arena *a = arena_new(MEASURED_MEMORY);
	struct rules *rules = a ? rules_load(o->rules, e) : NULL;
	struct review s;
	int rc = -1;

	if (!a)
		err_nomem(e, "for the review");
	else if (rules && (rc = review_load(args->v[0], rules, a, &s, e)) == 0)
		review_doc(d, &s, o->all);
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
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP "; csv has the claims alone" },
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

	return cmd_do(&cmd, &o.format, review, &o, argc, argv, out, e);
}
