/* opt_files.c - a command that writes over what it reads loses it: which files a command line names, and as what. */
#include <stdio.h>
#include <string.h>

#include "sim/base/newfile.h"
#include "sim/ui/inner.h"
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

/* How many arguments are files. */
static int arguments(const struct line *l, const struct opt *last)
{
	if (!last->arg || strcmp(last->arg, OPT_ARGS_INTO) == 0)
		return l->n;
	return strcmp(last->arg, OPT_ARGS_FIRST) == 0 && l->n > 0;
}

static int each(const struct line *l, each_fn *fn, void *arg, struct err *e)
{
	const struct opt *o = l->cmd->opts;
	int rc = 0;

	for (; rc == 0 && o->type != OPT_END; o++)
		rc = each_of_option(o, fn, arg, e);
	for (int i = 0; rc == 0 && i < arguments(l, o); i++) {
		const struct named f = { l->args[i], NULL, o->arg && i == 0 && strcmp(o->arg, OPT_ARGS_INTO) == 0 };

		if (!*f.path)
			return err_set(e, ERR_USAGE, "argument %d is empty, and names no file: %s", i + 1,
			               l->cmd->usage);
		rc = fn(arg, &f, e);
	}
	return rc;
}

struct output {
	const struct line *line;
	struct named is;
	bool met; /* itself; before that, other outputs have looked at it */
};

/* What is read may name what else is read. */
static int against_inner(const struct output *o, const struct named *f, struct err *e)
{
	struct str by = STR_INIT;
	int rc = 0;

	if (!f->written && inner_names(f->path, o->is.path, &by))
		rc = err_set(e, ERR_USAGE,
		             "'%s' would be written over, and '%s' names it: give the output another name", o->is.path,
		             str_c(&by));
	str_free(&by);
	return rc;
}

static int against(void *arg, const struct named *f, struct err *e)
{
	struct output *o = arg;
	char by[64] = "";

	if (f->path == o->is.path) {
		o->met = true;
		return 0;
	}
	if (f->written && !o->met)
		return 0;
	if (!newfile_same(o->is.path, f->path))
		return against_inner(o, f, e);
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

	if (!f->written)
		return 0;
	if (inner_default(f->path))
		return err_set(
			e, ERR_USAGE,
			"'%s' would be written over, which is read where no other is named: give the output another name",
			f->path);
	return each(o.line, against, &o, e);
}

int opt_check_files(const struct opt_cmd *cmd, const char *const *args, int n, struct err *e)
{
	struct line l = { cmd, args, n };

	return each(&l, check, &l, e);
}
