/* merge.c - npusim merge: the shards of a sweep become one file. */
#include "results/db/res_sweep.h"
#include "sim/cli/cmd.h"

struct options {
	const char *format;
	bool mixed;
};

struct row {
	const char *path;
	struct res_merged m;
};

static void merge_row(struct doc *d, const void *of, size_t i)
{
	const struct row *r = of;

	(void)i;
	doc_text(d, "file", r->path);
	doc_count(d, "sweeps", r->m.sweeps);
	doc_count(d, "points", r->m.points);
	doc_count(d, "new_points", r->m.points_new);
	doc_count(d, "runs", r->m.runs);
	doc_count(d, "new_runs", r->m.runs_new);
}

static int merge_one(struct resdb *into, const char *path, bool mixed, struct doc *d, struct err *e)
{
	struct resdb *from = res_open(path, DB_READ, e);
	struct row r = { .path = path };
	int rc = from ? res_merge(into, from, mixed, &r.m, e) : -1;

	res_free(from);
	if (rc < 0)
		return err_add(e, "merging '%s'", path);
	doc_row(d, merge_row, &r, 0);
	return 0;
}

/* A file that cannot be read is found before anything is written. */
static int readable(const struct opt_list *args, struct err *e)
{
	for (int i = 1; i < args->n; i++) {
		struct resdb *from = res_open(args->v[i], DB_READ, e);

		if (!from)
			return -1;
		res_free(from);
	}
	return 0;
}

static int merge(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct resdb *into = readable(args, e) == 0 ? res_open(args->v[0], DB_WRITE, e) : NULL;
	int rc = into ? 0 : -1;

	doc_table_open(d, NULL, NULL);
	for (int i = 1; rc == 0 && i < args->n; i++)
		rc = merge_one(into, args->v[i], o->mixed, d, e);
	doc_table_close(d, merge_row, NULL);
	if (rc < 0)
		doc_drop(d);
	return res_close(into, rc, e);
}

int cmd_merge(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .mixed = false };
	const struct opt opts[] = {
		{ 0, "mixed-builds", OPT_FLAG, &o.mixed, NULL, "also where different builds made points of one sweep" },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END, .arg = OPT_ARGS_INTO },
	};
	const struct opt_cmd cmd = { "npusim merge OUT.db SHARD.db... [--mixed-builds]",
		                     "Joins results databases: the shards of a sweep that several machines ran become "
		                     "one file, whose rows are the same"
		                     " as if one machine had run them all. Doing it again changes nothing; files that "
		                     "say different things of the same"
		                     " point are an error.",
		                     "npusim sweep configs/studies/l2-size.yaml --shard 1/2 -o /tmp/1.db\n"
		                     "npusim sweep configs/studies/l2-size.yaml --shard 2/2 -o /tmp/2.db\n"
		                     "npusim merge /tmp/all.db /tmp/1.db /tmp/2.db\n",
		                     opts,
		                     2,
		                     -1 };

	return cmd_do(&cmd, &o.format, merge, &o, argc, argv, out, e);
}
