/* model_find.c - from a name to a description: those that come with npusim, or a file. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/path.h"
#include "sim/base/str.h"
#include "workloads/model/model_int.h"

#define FOLDER "workloads/models"
#define SUFFIX ".yaml"

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *name_of(const char *file)
{
	const size_t n = strlen(file), s = strlen(SUFFIX);

	return n > s && *file != '.' && strcmp(file + n - s, SUFFIX) == 0 ? strndup(file, n - s) : NULL;
}

void model_list_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

struct names {
	char **v;
	size_t n, cap;
};

static int add(struct names *x, const char *file)
{
	char *name = name_of(file), **more;

	if (!name)
		return 0;
	if (x->n == x->cap) {
		if (!(more = realloc(x->v, (2 * x->cap + 64) * sizeof *more))) {
			free(name);
			return -1;
		}
		x->v = more;
		x->cap = 2 * x->cap + 64;
	}
	x->v[x->n++] = name;
	return 0;
}

int model_list(char ***out, size_t *n, struct err *e)
{
	struct names x = { NULL, 0, 0 };
	char folder[1024];
	struct dirent *d;
	int rc = 0;
	DIR *dir;

	*out = NULL;
	*n = 0;
	if (path_data(FOLDER, folder, sizeof folder, e) < 0)
		return -1;
	if (!(dir = opendir(folder)))
		return err_set(e, ERR_IO, "cannot read the folder '%s'", folder);
	while (rc == 0 && (d = readdir(dir)))
		rc = add(&x, d->d_name);
	closedir(dir);
	if (rc < 0) {
		model_list_free(x.v, x.n);
		return err_nomem(e, "for the list of models");
	}
	if (x.n)
		qsort(x.v, x.n, sizeof *x.v, by_name);
	*out = x.v;
	*n = x.n;
	return 0;
}

/* A plain word: no folder, no suffix of a file. */
static bool is_name(const char *s)
{
	const char *dot = strrchr(s, '.');

	return !strchr(s, '/') &&
	       !(dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0));
}

static int unknown(const char *name, struct err *e)
{
	const char *near = NULL;
	char **names = NULL;
	size_t n = 0;

	if (model_list(&names, &n, e) < 0)
		return -1;
	near = n ? str_nearest(name, (const char *const *)names, n) : NULL;
	err_set(e, ERR_IO,
	        "there is no model '%s'%s%s%s 'npusim workload list' has those that come with npusim, and a file's name ends"
	        " in .yaml or .json",
	        name, near ? ": did you mean '" : ";", near ? near : "", near ? "'?" : "");
	model_list_free(names, n);
	return -1;
}

static bool find(const char *name, char *path, unsigned size)
{
	char relative[512];
	struct err none = ERR_INIT;

	return snprintf(relative, sizeof relative, FOLDER "/%s" SUFFIX, name) < (int)sizeof relative &&
	       path_data(relative, path, size, &none) == 0;
}

bool model_shipped(const char *name, char *path, unsigned size)
{
	return *name && is_name(name) && access(name, R_OK) != 0 && find(name, path, size);
}

struct model *model_load(const char *name, struct err *e)
{
	char path[1024];

	if (!is_name(name) || access(name, R_OK) == 0)
		return model_read_file(name, e);
	if (!find(name, path, sizeof path)) {
		unknown(name, e);
		return NULL;
	}
	return model_read_file(path, e);
}
