/* opt_files.c - a command that writes over what it reads loses it: which files a command line names, and as what. */
#define _POSIX_C_SOURCE 200809L /* stat, S_ISREG */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/base/arena.h"
#include "sim/base/newfile.h"
#include "sim/ui/inner.h"
#include "sim/ui/opt.h"

/* --- of the line ------------------------------------------------------------------------------------------- */

static int each_of_option(const struct opt *o, opt_file_fn *fn, void *arg, struct err *e)
{
	struct opt_file f = { o->type, NULL, o->name, NULL };
	int rc = 0;

	if (o->type == OPT_READS || o->type == OPT_SETS) {
		const struct opt_list *l = o->to;

		f.type = o->type == OPT_SETS ? OPT_SETS : OPT_READ;
		for (int i = 0; rc == 0 && i < l->n; i++) {
			f.text = l->v[i];
			rc = fn(arg, &f, e);
		}
	} else if (o->type == OPT_READ || o->type == OPT_WRITE) {
		f.text = *(const char **)o->to;
		rc = f.text ? fn(arg, &f, e) : 0;
	}
	return rc;
}

static bool last_says(const struct opt *last, const char *what)
{
	return last->arg && strcmp(last->arg, what) == 0;
}

int opt_each_file(const struct opt_cmd *cmd, const char *const *args, int n, opt_file_fn *fn, void *arg, struct err *e)
{
	const struct opt *o = cmd->opts;
	int rc = 0, files;

	for (; rc == 0 && o->type != OPT_END; o++)
		rc = each_of_option(o, fn, arg, e);
	if (rc)
		return rc;
	files = !o->arg || last_says(o, OPT_ARGS_INTO) ? n : last_says(o, OPT_ARGS_FIRST) && n > 0;
	for (int i = 0; rc == 0 && i < files; i++) {
		const bool into = i == 0 && last_says(o, OPT_ARGS_INTO);
		const struct opt_file f = { into ? OPT_WRITE : OPT_READ, args[i], NULL, NULL };

		if (!*f.text)
			return err_set(e, ERR_USAGE, "argument %d is empty, and names no file: %s", i + 1, cmd->usage);
		rc = fn(arg, &f, e);
	}
	return rc;
}

/* --- all that is read and written -------------------------------------------------------------------------- */

struct file {
	struct opt_file named;
	const char *path; /* where the name leads */
	bool there;       /* as a plain file */
	dev_t dev;
	ino_t ino;
};

struct files {
	struct arena *a;
	struct file *v;
	size_t n, cap;
};

static int opt_files_add(struct files *s, const struct opt_file *f, const char *path)
{
	struct file *more, *x;
	struct stat st;

	if (s->n == s->cap) {
		if (!(more = arena_array(s->a, 2 * s->cap + 16, sizeof *more)))
			return -1;
		if (s->n)
			memcpy(more, s->v, s->n * sizeof *more);
		s->v = more;
		s->cap = 2 * s->cap + 16;
	}
	x = &s->v[s->n];
	*x = (struct file){ .named = *f, .path = path };
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
		x->there = true;
		x->dev = st.st_dev;
		x->ino = st.st_ino;
	}
	for (size_t i = 0; f->by && x->there && i < s->n; i++) /* named again, and of no news */
		if (s->v[i].there && s->v[i].named.type == OPT_READ && s->v[i].dev == x->dev && s->v[i].ino == x->ino)
			return 0;
	s->n++;
	return 0;
}

static int add_named(void *arg, const char *path, const char *by)
{
	struct files *s = arg;
	struct opt_file f = { OPT_READ, NULL, NULL, arena_strdup(s->a, by) };

	f.text = arena_strdup(s->a, path);
	return f.by && f.text ? opt_files_add(s, &f, f.text) : -1;
}

static int add_given(void *arg, const struct opt_file *f, struct err *e)
{
	struct files *s = arg;
	char path[4096];
	const char *to = f->text;

	if (f->type == OPT_SETS)
		return inner_of_set(f->text, add_named, s) < 0 ? err_nomem(e, "for the names of files") : 0;
	if (f->type == OPT_READ && inner_shipped(f->text, path, sizeof path))
		to = arena_strdup(s->a, path);
	return to && opt_files_add(s, f, to) == 0 ? 0 : err_nomem(e, "for the names of files");
}

/* Files within files: the list grows while it is gone through. */
static int add_inner(struct files *s, struct err *e)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].named.type == OPT_READ && inner_files(s->v[i].path, add_named, s) < 0)
			return err_nomem(e, "for the names of files");
	return 0;
}

/* --- against each other ------------------------------------------------------------------------------------ */

static bool opt_files_same(const struct file *a, const struct file *b)
{
	if (a->there || b->there)
		return a->there && b->there && a->dev == b->dev && a->ino == b->ino;
	return newfile_same(a->path, b->path);
}

static int collide(const struct file *out, const struct file *f, struct err *e)
{
	const char *own = out->named.text;
	char by[64] = "";

	if (f->named.option)
		snprintf(by, sizeof by, ", by '--%s'", f->named.option);
	if (f->named.type == OPT_WRITE)
		return err_set(e, ERR_USAGE,
		               "'%s' would be written twice, once as '%s'%s: give each output a name of its own", own,
		               f->named.text, by);
	if (f->named.by)
		return err_set(e, ERR_USAGE,
		               "'%s' would be written over, and '%s' names it: give the output another name", own,
		               f->named.by);
	return err_set(e, ERR_USAGE, "'%s' would be written over '%s', which is read%s: give the output another name",
	               own, f->named.text, by);
}

/* Two outputs are looked at once, the first against the second. */
static int against_all(const struct files *s, struct err *e)
{
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; s->v[i].named.type == OPT_WRITE && k < s->n; k++)
			if (k != i && (k > i || s->v[k].named.type != OPT_WRITE) && opt_files_same(&s->v[i], &s->v[k]))
				return collide(&s->v[i], &s->v[k], e);
	return 0;
}

static bool would_replace(const struct files *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].named.type == OPT_WRITE && s->v[i].there)
			return true;
	return false;
}

static int any_output(void *arg, const struct opt_file *f, struct err *e)
{
	(void)e;
	*(bool *)arg |= f->type == OPT_WRITE;
	return 0;
}

int opt_check_files(const struct opt_cmd *cmd, const char *const *args, int n, const struct opt_file *more,
                    size_t n_more, struct err *e)
{
	struct files s = { .a = NULL };
	bool writes = false;
	int rc;

	if (opt_each_file(cmd, args, n, any_output, &writes, e) < 0)
		return -1;
	for (size_t i = 0; i < n_more; i++)
		writes |= more[i].type == OPT_WRITE;
	if (!writes)
		return 0;
	if (!(s.a = arena_new(0)))
		return err_nomem(e, "for the names of files");
	rc = opt_each_file(cmd, args, n, add_given, &s, e);
	for (size_t i = 0; rc == 0 && i < n_more; i++)
		rc = add_given(&s, &more[i], e);
	if (rc == 0)
		rc = against_all(&s, e);
	if (rc == 0 && would_replace(&s) && (rc = add_inner(&s, e)) == 0)
		rc = against_all(&s, e);
	arena_free(s.a);
	return rc;
}
