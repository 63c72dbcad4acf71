/* opt_files.c - a command that writes over what it reads loses it: which files a command line names, and as what. */
#include <stdio.h>
#include <string.h>

#include "sim/base/newfile.h"
#include "sim/ui/opt.h"

/* A file of the command line; `shown` is the option that names it, or NULL for an argument. */
struct named {
	const char *path, *shown;
	bool written;
};

/* Calls back with each file until that returns other than 0. */
typedef int each_fn(void *arg, const struct named *f, struct err *e);

struct line {
	const struct opt_cmd *cmd;
	const char *const *args;
	int n;
};

static int each_of_option(const struct opt *o, each_fn *fn, void *arg, struct err *e)
{
	struct named f = { NULL, o->name, o->type == OPT_WRITE };
	int rc = 0;

	if (o->type == OPT_READS) {
		const struct opt_list *l = o->to;

		for (int i = 0; rc == 0 && i < l->n; i++) {
			f.path = l->v[i];
			rc = fn(arg, &f, e);
		}
	} else if (o->type == OPT_READ || o->type == OPT_WRITE) {
		f.path = *(const char **)o->to;
		rc = f.path ? fn(arg, &f, e) : 0;
	}
	return rc;
}

static int each(const struct line *l, each_fn *fn, void *arg, struct err *e)
{
	const struct opt *o = l->cmd->opts;
	int rc = 0;

	for (; rc == 0 && o->type != OPT_END; o++)
		rc = each_of_option(o, fn, arg, e);
	if (rc || (o->arg && strcmp(o->arg, OPT_ARGS_WORDS) == 0))
		return rc;
	for (int i = 0; rc == 0 && i < l->n; i++) {
		const struct named f = { l->args[i], NULL, o->arg && i == 0 };

		rc = fn(arg, &f, e);
	}
	return rc;
}

struct output {
	const struct line *line;
	struct named is;
	bool met; /* itself; before that, other outputs have looked at it */
};

static int against(void *arg, const struct named *f, struct err *e)
{
	struct output *o = arg;
	char by[64] = "";

	if (f->path == o->is.path) {
		o->met = true;
		return 0;
	}
	if ((f->written && !o->met) || !newfile_same(o->is.path, f->path))
		return 0;
	if (f->shown)
		snprintf(by, sizeof by, ", by '--%s'", f->shown);
	if (f->written)
		return err_set(e, ERR_USAGE,
		               "'%s' would be written twice, once as '%s'%s: give each output a name of its own",
		               o->is.path, f->path, by);
	return err_set(e, ERR_USAGE, "'%s' would be written over '%s', which is read%s: give the output another name",
	               o->is.path, f->path, by);
}

static int check(void *arg, const struct named *f, struct err *e)
{
	struct output o = { arg, *f, false };

	return f->written ? each(o.line, against, &o, e) : 0;
}

int opt_check_files(const struct opt_cmd *cmd, const char *const *args, int n, struct err *e)
{
	struct line l = { cmd, args, n };

	return each(&l, check, &l, e);
}
