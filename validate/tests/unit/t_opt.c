/* t_opt.c - every spelling of an option, every fault, and the help text. */
#define _POSIX_C_SOURCE 200809L /* setenv, mkdir */
#include "sim/ui/opt.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "sim/base/clock.h"
#include "validate/tests/test.h"

static struct {
	bool exact, quiet;
	const char *config;
	struct opt_list set;
	uint64_t jobs;
	uint32_t bound;
	ps_t wall;
} o;

static const struct opt rows[] = {
	{ 'c', "config", OPT_TEXT, &o.config, "FILE", "the machine" },
	{ 's', "set", OPT_LIST, &o.set, "KEY=VALUE",
	  "a value that replaces the file's; may be given again and "
	  "again, and the help for it is so long that it has to be broken into several lines" },
	{ 'j', "jobs", OPT_COUNT, &o.jobs, "N", "workers" },
	{ 0, "bound", OPT_PPM, &o.bound, "P", "largest error" },
	{ 0, "wall", OPT_PS, &o.wall, "TIME", "measured time" },
	{ 'x', "exact", OPT_FLAG, &o.exact, NULL, "the long way" },
	{ 'q', NULL, OPT_FLAG, &o.quiet, NULL, "say less" },
	{ .type = OPT_END }
};
static const struct opt_cmd cmd = { "npusim run -c CONFIG [options] TRACE",
	                            "Simulates a trace.",
	                            "npusim run -c a.yaml t.db\nnpusim run -c a.yaml -s l2.size='64 MiB' t.db",
	                            rows,
	                            0,
	                            2 };

/* Runs the words, split at blanks; "_" stands for an empty word. */
static int run(const char *line, struct opt_list *args, struct err *e)
{
	static char text[512];
	char *argv[32] = { "run" };
	int argc = 1;

	memset(&o, 0, sizeof o);
	snprintf(text, sizeof text, "%s", line);
	for (char *p = strtok(text, " "); p; p = strtok(NULL, " "))
		argv[argc++] = strcmp(p, "_") == 0 ? "" : p;
	return opt_parse(&cmd, argc, argv, args, e);
}

TEST(every_spelling_reaches_its_destination)
{
	static const char *const lines[] = { "-c a.yaml -j 8 -x -q t.db",
		                             "-ca.yaml -j8 -xq t.db",
		                             "--config a.yaml --jobs 8 --exact -q t.db",
		                             "--config=a.yaml --jobs=8 -qx t.db",
		                             "t.db -c=a.yaml -xqj8",
		                             "-xqca.yaml t.db -j 8" };

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct opt_list args = { NULL, 0 };
		struct err e = ERR_INIT;

		CHECK_OK(run(lines[i], &args, &e), e);
		CHECK_STR(o.config, "a.yaml");
		CHECK_U64(o.jobs, 8);
		CHECK(o.exact && o.quiet);
		CHECK_U64(args.n, 1);
		CHECK_STR(args.v[0], "t.db");
		opt_list_free(&args);
	}
}

TEST(nothing_given_leaves_the_defaults)
{
	struct opt_list args = { NULL, 0 };
	struct err e = ERR_INIT;

	CHECK_OK(run("", &args, &e), e);
	CHECK(!o.config && !o.exact && o.jobs == 0 && o.set.n == 0 && args.n == 0);
	opt_list_free(&args);
	opt_list_free(NULL);
}

TEST(a_list_grows_in_order)
{
	struct opt_list args = { NULL, 0 };
	struct err e = ERR_INIT;

	CHECK_OK(run("-s a=1 --set b=2 --set=c=3 -sd=4", &args, &e), e);
	CHECK_U64(o.set.n, 4);
	CHECK_STR(o.set.v[0], "a=1");
	CHECK_STR(o.set.v[2], "c=3");
	CHECK_STR(o.set.v[3], "d=4");
	opt_list_free(&o.set);
	CHECK(!o.set.v && !o.set.n);
	opt_list_free(&args);
}

TEST(quantities_are_read_with_their_units)
{
	struct opt_list args = { NULL, 0 };
	struct err e = ERR_INIT;

	CHECK_OK(run("--bound 4% --wall 3.5us", &args, &e), e);
	CHECK_U64(o.bound, 40000);
	CHECK_U64(o.wall, 3500000);
	opt_list_free(&args);
}

TEST(two_dashes_end_the_options_and_one_is_an_argument)
{
	struct opt_list args = { NULL, 0 };
	struct err e = ERR_INIT;

	CHECK_OK(run("-x -- -c", &args, &e), e);
	CHECK_U64(args.n, 1);
	CHECK_STR(args.v[0], "-c");
	opt_list_free(&args);
	CHECK_OK(run("- -x -- --", &args, &e), e);
	CHECK_U64(args.n, 2);
	CHECK_STR(args.v[0], "-");
	CHECK_STR(args.v[1], "--");
	opt_list_free(&args);
}

TEST(help_is_asked_for_in_two_ways_and_wins_over_missing_arguments)
{
	struct opt_list args = { NULL, 0 };
	struct err e = ERR_INIT;

	CHECK(run("-h", &args, &e) == 1);
	CHECK(run("--help", &args, &e) == 1);
	CHECK(run("-xh", &args, &e) == 1);
	CHECK(run("a b c d -h", &args, &e) == 1);
	CHECK(e.kind == ERR_NONE);
	opt_list_free(&args);
	CHECK_OK(run("-- -h", &args, &e), e);
	opt_list_free(&args);
}

TEST(faults_are_usage_errors_in_plain_words)
{
	static const struct {
		const char *line, *msg;
	} faults[] = {
		{ "--confg a", "unknown option '--confg'; did you mean '--config'?" },
		{ "--hlep", "unknown option '--hlep'; did you mean '--help'?" },
		{ "--confg=a", "unknown option '--confg'; did you mean '--config'?" },
		{ "--entirely-other", "unknown option '--entirely-other': --help lists them" },
		{ "-z", "unknown option '-z': --help lists them" },
		{ "-xz", "unknown option '-z' in '-xz': --help lists them" },
		{ "-c", "option '-c' needs a value: -c FILE" },
		{ "--config", "option '--config' needs a value: --config FILE" },
		{ "--exact=1", "option '--exact' takes no value" },
		{ "-j many", "'many' is not a number: write one, for option '-j'" },
		{ "-j -1", "'-1' is negative, for option '-j'" },
		{ "--wall 5", "'5' needs a unit: write '5 ms', for option '--wall'" },
		{ "--jobs=", "option '--jobs' has an empty value" },
		{ "-c _", "option '-c' has an empty value" },
		{ "--config=", "option '--config' has an empty value" },
		{ "-j 0", "0 is too few: it is 1 at least, for option '-j'" },
		{ "-c a.yaml --config b.yaml", "option '--config' is given twice" },
		{ "-j8 t.db -j8", "option '-j' is given twice" },
		{ "a _", "argument 2 is empty, and names no file: npusim run -c CONFIG [options] TRACE" },
		{ "a b c", "argument 'c' is one too many: npusim run -c CONFIG [options] TRACE" },
	};

	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		struct opt_list args = { NULL, 0 };
		struct err e = ERR_INIT;

		CHECK(run(faults[i].line, &args, &e) == -1);
		CHECK(e.kind == ERR_USAGE);
		CHECK_STR(e.msg, faults[i].msg);
		opt_list_free(&args);
	}
}

TEST(flags_may_be_given_again)
{
	struct opt_list args = { NULL, 0 };
	struct err e = ERR_INIT;

	CHECK_OK(run("-x -xq --exact", &args, &e), e);
	CHECK(o.exact && o.quiet);
	opt_list_free(&args);
}

TEST(too_few_arguments_show_the_usage)
{
	static const struct opt none[] = { { .type = OPT_END } };
	static const struct opt_cmd two = { "npusim trace diff A B", NULL, NULL, none, 2, 2 };
	char *argv[] = { "diff", "a" };
	struct opt_list args = { NULL, 0 };
	struct err e = ERR_INIT;

	CHECK(opt_parse(&two, 2, argv, &args, &e) == -1);
	CHECK_STR(e.msg, "arguments are missing: npusim trace diff A B");
	opt_list_free(&args);
}

TEST(help_is_aligned_and_wrapped)
{
	struct str s = STR_INIT;

	opt_help(&cmd, &s);
	CHECK_STR(str_c(&s), "usage: npusim run -c CONFIG [options] TRACE\n"
	                     "\n"
	                     "Simulates a trace.\n"
	                     "\n"
	                     "options:\n"
	                     "  -c, --config FILE       the machine\n"
	                     "  -s, --set KEY=VALUE...  a value that replaces the file's; may be given again\n"
	                     "                          and again, and the help for it is so long that it has\n"
	                     "                          to be broken into several lines\n"
	                     "  -j, --jobs N            workers\n"
	                     "      --bound P           largest error\n"
	                     "      --wall TIME         measured time\n"
	                     "  -x, --exact             the long way\n"
	                     "  -q                      say less\n"
	                     "  -h, --help              print this text\n"
	                     "\n"
	                     "examples:\n"
	                     "  npusim run -c a.yaml t.db\n"
	                     "  npusim run -c a.yaml -s l2.size='64 MiB' t.db\n");
	for (const char *p = str_c(&s); *p; p += strcspn(p, "\n") + 1)
		CHECK(strcspn(p, "\n") <= 80);
	str_free(&s);
}

/* What a shell makes of lines that end in a backslash: one. */
TEST(a_long_example_goes_on_behind_a_backslash_and_its_quotes_stay_whole)
{
	static const char *const example = "npusim run -c configs/npu/dsocr.yaml -t /tmp/t.db --set 'l2.size=64 MiB and"
					   " some more' --range decode_step_1 --output /tmp/r.db  # two blanks";
	static const struct opt none[] = { { .type = OPT_END } };
	const struct opt_cmd one = {
		"npusim run [--some A|B] (--and-this-one [--too N] | --or-that-one) [--range NAME]"
		" [--a-word|of-choices|that-no-line|holds-as-it-is|with-many-more-of-them|to-come]",
		NULL,
		example,
		none,
		0,
		0
	};
	struct str s = STR_INIT, joined = STR_INIT;
	const char *p;

	opt_help(&one, &s);
	CHECK(strstr(str_c(&s), "|\n       ") && strstr(str_c(&s), "'l2.size=64 MiB and some more'"));
	for (p = str_c(&s); *p; p += strcspn(p, "\n") + 1)
		CHECK(strcspn(p, "\n") <= 80);
	p = strstr(str_c(&s), "examples:\n  ") + strlen("examples:\n  ");
	while (*p && *p != '\n') {
		if (strncmp(p, " \\\n    ", 7) == 0) {
			str_addc(&joined, ' ');
			p += 7;
		} else {
			str_addc(&joined, *p++);
		}
	}
	CHECK_STR(str_c(&joined), example);
	str_free(&joined);
	str_free(&s);
}

TEST(a_very_long_option_gets_a_line_of_its_own)
{
	static bool b;
	static const struct opt opts[] = { { 0, "a-name-that-is-much-longer-than-the-column", OPT_FLAG, &b, NULL,
		                             "what it does" },
		                           { .type = OPT_END } };
	static const struct opt_cmd one = { "x", NULL, NULL, opts, 0, 0 };
	struct str s = STR_INIT;

	opt_help(&one, &s);
	CHECK_STR(str_c(&s), "usage: x\n\noptions:\n      --a-name-that-is-much-longer-than-the-column\n"
	                     "              what it does\n  -h, --help  print this text\n");
	str_free(&s);
}

/* What completes the last of some words, split at blanks; "_" is an empty one. */
static void completes(const struct opt_cmd *c, const char *line, const char *want)
{
	char text[128], *words[16];
	struct str s = STR_INIT;
	int n = 0;

	snprintf(text, sizeof text, "%s", line);
	for (char *p = strtok(text, " "); p; p = strtok(NULL, " "))
		words[n++] = strcmp(p, "_") == 0 ? p + 1 : p;
	opt_complete(c, n, words, &s);
	if (strcmp(str_c(&s), want) != 0)
		test_fail(__FILE__, __LINE__, "'%s' completes to \"%s\", not to \"%s\"", line, str_c(&s), want);
	str_free(&s);
}

TEST(completion_follows_the_table)
{
	static const char *text;
	static bool flag;
	static const struct opt opts[] = { { 'f', "format", OPT_TEXT, &text, "table|csv|tsv", "how" },
		                           { 'x', "exact", OPT_FLAG, &flag, NULL, "slow" },
		                           { 't', "trace", OPT_TEXT, &text, "T.db", "what" },
		                           { 'q', NULL, OPT_FLAG, &flag, NULL, "say less" },
		                           { .type = OPT_END } };
	static const struct opt_cmd two = {
		"npusim x A.yaml [-t T.db] [--exact] B.csv... [options]", "", NULL, opts, 1, 2
	};
	static const struct opt_cmd one = {
		"npusim y [-f FORMAT | -t T.db] [KEY | SECTION]... -- COMMAND", "", NULL, opts, 0, 1
	};
	static const struct opt_cmd few = { "npusim z (bash|zsh)", "", NULL, opts, 1, 1 };

	completes(&two, "--", "--format\thow\n--exact\tslow\n--trace\twhat\n--help\tprint what the command does\n");
	completes(&two, "-q", "-q\tsay less\n");
	completes(&two, "--ex", "--exact\tslow\n");
	completes(&two, "--format _", "table\thow\ncsv\thow\ntsv\thow\n");
	completes(&two, "-f t", "table\thow\ntsv\thow\n");
	completes(&two, "--format=c", "--format=csv\thow\n");
	completes(&two, "--trace=x", "@T.db\t--trace=\n");
	completes(&two, "-t _", "@T.db\t\n");
	completes(&two, "-x _", "@A.yaml\t\n");
	completes(&two, "_", "@A.yaml\t\n");
	completes(&two, "-t t.db a --format csv _", "@B.csv\t\n");
	completes(&two, "a b _", ""); /* no more than two */
	completes(&two, "-- -", "@A.yaml\t\n");
	completes(&one, "_", "@KEY\t\n");
	completes(&few, "z", "zsh\t\n");
}

TEST(a_manual_page_escapes_what_roff_takes_for_its_own)
{
	static bool flag;
	static const struct opt opts[] = { { 'x', "ex-act", OPT_FLAG, &flag, NULL, ".5 is a\\b. It's so" },
		                           { .type = OPT_END } };
	static const struct opt_cmd one = { "npusim x [-x]", "Does it. 'Tis all.", "npusim x\n.x 'y'\n", opts, 0, 0 };
	struct str s = STR_INIT;

	opt_man(&one, &s);
	CHECK_STR(str_c(&s),
	          ".SS \"npusim x [\\-x]\"\nDoes it. \\(aqTis all.\n.TP\n\\fB\\-x\\fR, \\fB\\-\\-ex\\-act\\fR\n"
	          "\\&.5 is a\\eb.\nIt\\(aqs so\n.PP\n.EX\nnpusim x\n\\&.x \\(aqy\\(aq\n.EE\n");
	str_free(&s);
}

static int files(const char *end, const char *line, struct err *e)
{
	static const char *in, *out, *more;
	struct opt_list many = { NULL, 0 }, sets = { NULL, 0 }, args = { NULL, 0 };
	const struct opt table[] = { { 's', "set", OPT_SETS, &sets, "KEY=VALUE", "may name one" },
		                     { 'i', "in", OPT_READ, &in, "FILE", "read" },
		                     { 'm', "many", OPT_READS, &many, "FILE", "read" },
		                     { 'n', "name", OPT_TEXT, &more, "NAME", "no file" },
		                     { 'o', "out", OPT_WRITE, &out, "FILE", "written" },
		                     { .type = OPT_END, .arg = end } };
	const struct opt_cmd c = { "npusim x", NULL, NULL, table, 0, -1 };
	char text[512], *argv[32] = { "x" };
	int argc = 1, rc;

	in = out = more = NULL;
	*e = (struct err)ERR_INIT;
	snprintf(text, sizeof text, "%s", line);
	for (char *p = strtok(text, " "); p; p = strtok(NULL, " "))
		argv[argc++] = p;
	rc = opt_parse(&c, argc, argv, &args, e);
	opt_list_free(&many);
	opt_list_free(&sets);
	opt_list_free(&args);
	return rc;
}

/* '@' is the path. */
static void fill(char *line, size_t size, const char *with, const char *path)
{
	size_t n = 0;

	for (; *with && n + 1 < size; with++)
		n += (size_t)snprintf(line + n, size - n, *with == '@' ? "%s" : "%.1s", *with == '@' ? path : with);
}

TEST(no_file_is_both_read_and_written)
{
	static const char *const bad[] = { "-i @ -o @", "-m other -m @ -o @", "-o @ @", "-o @ other @" };
	char path[400], line[900];
	struct err e;
	FILE *f = fopen(test_path(path, sizeof path, "a"), "w");

	CHECK(f && fclose(f) == 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		fill(line, sizeof line, bad[i], path);
		CHECK(files(OPT_ARGS_READ, line, &e) == -1 && e.kind == ERR_USAGE);
		CHECK_HAS(e.msg, "would be written over");
	}
	snprintf(line, sizeof line, "-n %s -i other -o %s", path, path);
	CHECK_OK(files(OPT_ARGS_READ, line, &e), e);
	snprintf(line, sizeof line, "-o %s %s", path, path);
	CHECK_OK(files(OPT_ARGS_WORDS, line, &e), e);
	CHECK(files(OPT_ARGS_FIRST, line, &e) == -1);
	CHECK(files(OPT_ARGS_INTO, line, &e) == -1);
	CHECK_HAS(e.msg, "would be written twice");
	snprintf(line, sizeof line, "-o %s other %s", path, path);
	CHECK_OK(files(OPT_ARGS_FIRST, line, &e), e);
	snprintf(line, sizeof line, "%s other %s", path, path);
	CHECK(files(OPT_ARGS_INTO, line, &e) == -1);
	snprintf(line, sizeof line, "%s other", path);
	CHECK_OK(files(OPT_ARGS_INTO, line, &e), e);
}

static void write_file(const char *name, const char *text, char path[400])
{
	FILE *f = fopen(test_path(path, 400, name), "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* "-o LAST -i FIRST", of files that name each other: refused or not. */
static void names(const char *first, const char *last, const char *by)
{
	char a[400], b[400], line[900];
	struct err e;

	snprintf(line, sizeof line, "-o %s -i %s", test_path(b, sizeof b, last), test_path(a, sizeof a, first));
	if (!by) {
		CHECK_OK(files(OPT_ARGS_READ, line, &e), e);
		return;
	}
	CHECK(files(OPT_ARGS_READ, line, &e) == -1 && e.kind == ERR_USAGE);
	CHECK_HAS(e.msg, "would be written over, and '");
	CHECK_HAS(e.msg, by);
}

TEST(what_an_input_names_is_not_written_over)
{
	static const char *const texts[][2] = {
		{ "sweep.yaml", "sweep: 1\nbase: machine.yaml\ntrace: t.db\ncolumns: {base: 1}\n" },
		{ "machine.yaml", "name: other\ndram:\n  kind: {value: hbm3, source: base}\n" },
		{ "replay.yaml", "replay: 1\ntable: {file: table.csv}\norder: {file: p.json}\n" },
		{ "plan.yaml", "calibrate: 1\nmeasured:\n- {key: a, csv: m.csv}\nfit: []\n" },
		{ "rules.yaml", "base: first\nrules: []\n" },
		{ "first.yaml", "rules: []\n" },
		{ "over.yaml", "sweep: 1\nbase: sweep.yaml\n" },
		{ "of.yaml", "sweep: 1\nworkload:\n  name: m.yaml\n" },
		{ "changes.yaml", "ablation: 1\nworkloads:\n- {name: x, model: m.yaml}\n" },
		{ "m.yaml", "name: other\n" },
		{ "self.yaml", "l:\n- {base: self.yaml, file: self.yaml}\n- {base: self.yaml, csv: self.yaml}\n" },
		{ "t.db", "" },
		{ "table.csv", "" },
		{ "p.json", "{\"base\": \"other\"}" },
		{ "m.csv", "" },
		{ "other", "" },
		{ "1", "" },
	};
	char path[400];

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		write_file(texts[i][0], texts[i][1], path);
	names("sweep.yaml", "machine.yaml", "sweep.yaml:2'");
	names("sweep.yaml", "t.db", "sweep.yaml:3'");
	names("replay.yaml", "table.csv", "replay.yaml:2'");
	names("replay.yaml", "p.json", "replay.yaml:3'");
	names("plan.yaml", "m.csv", "plan.yaml:3'");
	names("rules.yaml", "first.yaml", "rules.yaml:1'");
	names("over.yaml", "machine.yaml", "sweep.yaml:2'");
	names("p.json", "other", "p.json:1'");
	names("of.yaml", "m.yaml", "of.yaml:3'");
	names("changes.yaml", "m.yaml", "changes.yaml:3'");
	names("m.yaml", "other", NULL);
	names("machine.yaml", "other", NULL); /* a name, and no file's */
	names("self.yaml", "other", NULL);
	names("sweep.yaml", "new", NULL);
	names("absent.yaml", "other", NULL);
}

/* A data folder with a machine, a model, a kernel and a kind of DRAM, each named by its name alone. */
TEST(what_goes_by_its_name_is_not_written_over)
{
	static const struct {
		const char *file, *line;
	} named[] = {
		{ "configs/npu/own.yaml", "-i own" },         { "workloads/models/own-1b.yaml", "other -m own-1b" },
		{ "workloads/kernels/gemm.yaml", "gemm" },    { "configs/dram/own3.yaml", "-s dram.kind=own3" },
		{ "configs/tech/n3.yaml", "-s die.node=n3" },
	};
	static const char *const folders[] = { "configs",   "configs/npu",      "configs/dram",     "configs/tech",
		                               "workloads", "workloads/models", "workloads/kernels" };
	char path[400], line[900];
	struct err e;

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		CHECK(mkdir(test_path(path, sizeof path, folders[i]), 0700) == 0);
	CHECK(setenv("NPUSIM_DATA", test_tmp(), 1) == 0);
	for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
		write_file(named[i].file, "", path);
		snprintf(line, sizeof line, "-o %s %s", path, named[i].line);
		CHECK(files(OPT_ARGS_READ, line, &e) == -1 && e.kind == ERR_USAGE);
		CHECK_HAS(e.msg, "would be written over");
		snprintf(line, sizeof line, "-o %s.new %s", path, named[i].line);
		CHECK_OK(files(OPT_ARGS_READ, line, &e), e);
	}
	CHECK(unsetenv("NPUSIM_DATA") == 0);
}

SUITE(t_opt, T(every_spelling_reaches_its_destination), T(nothing_given_leaves_the_defaults), T(a_list_grows_in_order),
      T(quantities_are_read_with_their_units), T(two_dashes_end_the_options_and_one_is_an_argument),
      T(help_is_asked_for_in_two_ways_and_wins_over_missing_arguments), T(faults_are_usage_errors_in_plain_words),
      T(flags_may_be_given_again), T(too_few_arguments_show_the_usage), T(help_is_aligned_and_wrapped),
      T(a_very_long_option_gets_a_line_of_its_own),
      T(a_long_example_goes_on_behind_a_backslash_and_its_quotes_stay_whole), T(completion_follows_the_table),
      T(a_manual_page_escapes_what_roff_takes_for_its_own), T(no_file_is_both_read_and_written),
      T(what_an_input_names_is_not_written_over), T(what_goes_by_its_name_is_not_written_over));
