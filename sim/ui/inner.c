/* inner.c - the keys that name files, through files within files. */
#define _POSIX_C_SOURCE 200809L /* stat, S_ISREG */
#include "sim/ui/inner.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/base/newfile.h"
#include "sim/base/path.h"
#include "sim/base/yaml.h"

#define FILES_MAX 64 /* looked into: a file may name itself, and often */
#define PATH_SIZE 4096

/* A value of `key` names a file, with this before and behind. */
static const struct named {
	const char *key, *before, *behind;
} names[] = {
	{ "base", "", "" }, /* a sweep's machine */
	{ "trace", "", "" },
	{ "rules", "", "" },
	{ "file", "", "" }, /* a replay's table, and what it takes its order from */
	{ "csv", "", "" },  /* what a plan has measured */
	{ "base", "", ".yaml" },
	{ "base", "configs/rules/", ".yaml" },
	{ "kind", "configs/dram/", ".yaml" },
	{ "patterns", "configs/fusion/", ".yaml" },
};

struct search {
	const char *other;
	struct str *by;
	int *left; /* files that may still be looked into */
	const struct yaml *y;
};

static bool in_file(struct search *s, const char *file);

static bool is_plain(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The places where readers look, in their order. */
static bool found(const struct search *s, int place, const char *name, char out[PATH_SIZE])
{
	struct err none = ERR_INIT;

	if (place == 0)
		return path_beside(yaml_name(s->y), name, out, PATH_SIZE) == 0;
	if (place == 1)
		return (size_t)snprintf(out, PATH_SIZE, "%s", name) < PATH_SIZE && is_plain(out);
	return name[0] != '/' && path_data(name, out, PATH_SIZE, &none) == 0;
}

static bool in_path(struct search *s, const char *path, const struct ynode *value)
{
	if (!newfile_same(path, s->other))
		return in_file(s, path);
	str_clear(s->by);
	str_addf(s->by, "%s:%d", yaml_name(s->y), value->line);
	return true;
}

static bool in_value(struct search *s, const struct named *n, const struct ynode *value)
{
	char path[PATH_SIZE];
	struct str name = STR_INIT;
	bool is = false;

	str_addf(&name, "%s%s%s", n->before, value->text, n->behind);
	for (int place = 0; place < 3 && !is && !name.failed; place++)
		is = found(s, place, str_c(&name), path) && in_path(s, path, value);
	str_free(&name);
	return is;
}

static bool in_node(struct search *s, const struct ynode *n)
{
	for (size_t i = 0; i < n->n; i++) {
		const struct ynode *v = n->vals[i], *given = ynode_get(v, "value");

		given = given ? given : v; /* of {value: X, source: ...} */
		for (size_t k = 0; n->keys && given->kind == YNODE_SCALAR && k < sizeof names / sizeof *names; k++)
			if (strcmp(n->keys[i]->text, names[k].key) == 0 && in_value(s, &names[k], given))
				return true;
		if (in_node(s, v))
			return true;
	}
	return false;
}

static bool in_file(struct search *s, const char *file)
{
	struct err none = ERR_INIT;
	struct search inner = *s;
	struct yaml *y;
	bool is;

	if (*s->left == 0 || !is_plain(file))
		return false;
	--*s->left;
	if (!(y = yaml_load(file, &none)))
		return false;
	inner.y = y;
	is = in_node(&inner, yaml_root(y));
	yaml_free(y);
	return is;
}

bool inner_names(const char *file, const char *other, struct str *by)
{
	int left = FILES_MAX;
	struct search s = { other, by, &left, NULL };

	return is_plain(other) && in_file(&s, file);
}

bool inner_default(const char *other)
{
	static const char *const tables[] = { "configs/rules/pytorch-cuda.yaml", "configs/kernels/cuda.yaml",
		                              "configs/cases/operators.yaml" };
	struct err none = ERR_INIT;
	char path[PATH_SIZE];

	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++, err_clear(&none))
		if (path_data(tables[i], path, sizeof path, &none) == 0 && newfile_same(path, other))
			return true;
	return false;
}
