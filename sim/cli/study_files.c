/* study_files.c - the files that studies name by their commands, held against those that are written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/path.h"
#include "sim/cli/study_commands.h"

/* A study's page in a folder; NULL: out of memory. */
char *study_page_in(const char *folder, const struct experiment *x)
{
	size_t n;
	const char *stem = experiment_stem(x, &n);

	return arena_printf(x->a, "%s/%.*s.html", folder, (int)n, stem);
}

struct files {
	struct opt_file *v;
	size_t n, cap;
};

static int add_file(struct files *f, const struct opt_file *x, struct err *e)
{
	struct opt_file *more;

	for (size_t i = 0; i < f->n; i++) /* many commands, few files */
		if (x->type != OPT_WRITE && f->v[i].type == x->type && strcmp(f->v[i].text, x->text) == 0)
			return 0;
	if (f->n == f->cap) {
		if (!(more = realloc(f->v, (2 * f->cap + 64) * sizeof *more)))
			return err_nomem(e, "for the names of files");
		f->v = more;
		f->cap = 2 * f->cap + 64;
	}
	f->v[f->n++] = *x;
	return 0;
}

static int add_files(struct files *f, const struct experiment *x, const char *folder, struct err *e)
{
	struct opt_file page = { OPT_WRITE, folder ? study_page_in(folder, x) : NULL, "pages", NULL };

	for (const struct experiment_run *u = x->runs; u < x->runs + x->n_runs; u++) {
		const char *by = u->n_files ? arena_printf(x->a, "%s:%d", x->path, u->place->line) : "";

		if (!by)
			return err_nomem(e, NULL);
		for (const char *p = u->files; p < u->files + u->n_files; p += strlen(p) + 1) {
			const struct opt_file file = { *p == 's' ? OPT_SETS : OPT_READ, p + 1, NULL, by };

			if (add_file(f, &file, e) < 0)
				return -1;
		}
	}
	if (!folder)
		return 0;
	return page.text ? add_file(f, &page, e) : err_nomem(e, NULL);
}

int study_check_files(const struct opt_cmd *cmd, const struct opt_list *args, const struct experiments *s,
                      const char *pages, struct err *e)
{
	struct files f = { NULL, 0, 0 };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < s->n; i++)
		rc = add_files(&f, s->v[i], pages, e);
	if (rc == 0)
		rc = opt_check_files(cmd, args->v, args->n, f.v, f.n, e);
	free(f.v);
	return rc;
}

struct experiment *study_load(const char *name, const struct experiment_runner *by, struct err *e)
{
	char relative[128], path[512];
	struct err none = ERR_INIT;

	if (!strpbrk(name, "/.") && strlen(name) < 64 && access(name, R_OK) != 0) {
		snprintf(relative, sizeof relative, "configs/studies/%s.yaml", name);
		if (path_data(relative, path, sizeof path, &none) == 0) {
			struct experiment *x = experiment_load(path, by, e);

			if (x && !(x->path = arena_strdup(x->a, relative))) {
				err_nomem(e, NULL);
				experiment_free(x);
				return NULL;
			}
			return x;
		}
	}
	return experiment_load(name, by, e);
}
