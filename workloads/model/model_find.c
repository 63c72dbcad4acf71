/* model_find.c - from a name to a description: those that come with npusim, or a file. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/path.h"
#include "sim/base/str.h"
#include "workloads/model/model_int.h"

#define FOLDER "workloads/models"
#define SUFFIX ".yaml"

static int names_of(const struct source *from, struct arena *a, const char ***names, size_t *n, struct err *e)
{
	return source_names(from, FOLDER, SUFFIX, a, names, n, e);
}

void model_list_free(char **names, size_t n)
{
	for (size_t i = 0; names && i < n; i++)
		free(names[i]);
	free(names);
}

int model_list_from(const struct source *from, char ***out, size_t *n, struct err *e)
{
	struct arena *a = arena_new(0);
	const char **names;
	int rc = -1;

	*out = NULL;
	*n = 0;
	if (!a) {
		err_nomem(e, "for the list of models");
	} else if (names_of(from, a, &names, n, e) == 0) {
		*out = calloc(*n + 1, sizeof **out);
		for (size_t i = 0; *out && i < *n && rc < 0; i++)
			rc = ((*out)[i] = strdup(names[i])) ? -1 : 0;
		rc = *out && rc < 0 ? 0 : err_nomem(e, "for the list of models");
	}
	if (rc < 0) {
		model_list_free(*out, *n);
		*out = NULL;
	}
	arena_free(a);
	return rc;
}

int model_list(char ***out, size_t *n, struct err *e)
{
	char folder[1024];

	*out = NULL;
	*n = 0;
	return path_data(FOLDER, folder, sizeof folder, e) < 0 ? -1 : model_list_from(&path_source, out, n, e);
}

/* A plain word: no folder, no suffix of a file. */
static bool is_name(const char *s)
{
	const char *dot = strrchr(s, '.');

	return !strchr(s, '/') &&
	       !(dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0));
}

static int model_find_unknown(const struct source *from, const char *name, struct err *e)
{
	struct arena *a = arena_new(0);
	const char *near = NULL, **names;
	size_t n;

	if (!a || names_of(from, a, &names, &n, e) < 0) {
		arena_free(a);
		return a ? -1 : err_nomem(e, "for the list of models");
	}
	near = n ? str_nearest(name, names, n) : NULL;
	err_set(e, ERR_IO,
	        "there is no model '%s'%s%s%s 'npusim workload list' has those that come with npusim, and a file's name ends"
	        " in .yaml or .json",
	        name, near ? ": did you mean '" : ";", near ? near : "", near ? "'?" : "");
	arena_free(a);
	return -1;
}

static bool do_model_find(const struct source *from, const char *name, char *path, unsigned size)
{
	char relative[512];

	return snprintf(relative, sizeof relative, FOLDER "/%s" SUFFIX, name) < (int)sizeof relative &&
	       source_find(from, relative, path, size);
}

bool model_shipped(const char *name, char *path, unsigned size)
{
	return *name && is_name(name) && access(name, R_OK) != 0 && do_model_find(&path_source, name, path, size);
}

static bool in_folder(const struct source *from, const char *folder, const char *file, char *out, unsigned size)
{
	size_t len = strlen(folder);
	int n;

	while (len > 1 && folder[len - 1] == '/')
		len--;
	n = snprintf(out, size, "%.*s/%s", (int)len, folder, file);

	return n > 0 && (unsigned)n < size && from->has(from, out);
}

/* ModelOpt says how the weights are stored in a file beside an older config.json. */
static struct model *model_of_file(const struct source *from, const char *path, struct err *e)
{
	struct yaml *y = from->read(from, path, e), *beside = NULL;
	struct model *m = NULL;
	char other[1024];

	if (y && source_beside(from, path, "hf_quant_config.json", other, sizeof other) &&
	    !(beside = from->read(from, other, e))) {
		yaml_free(y);
		return NULL;
	}
	m = model_of_yaml(y, beside, e);
	yaml_free(beside);
	return m;
}

struct model *model_load_from(const struct source *from, const char *name, struct err *e)
{
	char path[1024];

	if (in_folder(from, name, "config.json", path, sizeof path))
		return model_of_file(from, path, e);
	if (!is_name(name) || from->has(from, name))
		return model_of_file(from, name, e);
	if (!do_model_find(from, name, path, sizeof path)) {
		model_find_unknown(from, name, e);
		return NULL;
	}
	return model_of_file(from, path, e);
}

struct model *model_load(const char *name, struct err *e)
{
	return model_load_from(&path_source, name, e);
}
