/* inner.c - the keys that name files, and where such names lead. */
#define _POSIX_C_SOURCE 200809L /* stat, S_ISREG */
#include "sim/ui/inner.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "arch/machine/machine_shipped.h"
#include "arch/tiled/tiled_shipped.h"
#include "sim/base/path.h"
#include "sim/base/yaml.h"
#include "workloads/model/model.h"

#define PATH_SIZE 4096

/* A value of `key`, in the mapping under the key `within` or anywhere, names a file with this before and behind, or one that
 * comes with npusim. */
typedef bool shipped_fn(const char *name, char *path, unsigned size);
static const struct run_label {
	const char *within, *key, *before, *behind;
	shipped_fn *shipped;
} names[] = {
	{ NULL, "base", "", "", machine_shipped }, /* a sweep's machine */
	{ NULL, "config", "", "", machine_shipped },
	{ NULL, "trace", "", "", NULL },
	{ NULL, "rules", "", "", NULL },
	{ NULL, "model", "", "", model_shipped }, /* of an ablation */
	{ "workload", "name", "", "", model_shipped },
	{ NULL, "file", "", "", NULL }, /* a replay's table, and what it takes its order from */
	{ NULL, "csv", "", "", NULL },  /* what a plan has measured */
	{ NULL, "node", "", "", NULL },
	{ NULL, "from", "", "", NULL },
	{ NULL, "base", "", ".yaml", NULL },
	{ NULL, "base", "configs/rules/", ".yaml", NULL },
	{ NULL, "kind", "configs/dram/", ".yaml", NULL },
	{ NULL, "node", "configs/tech/", ".yaml", NULL },
	{ NULL, "from", "configs/tech/", ".yaml", NULL }, /* a node's constants are scaled from those */
	{ NULL, "patterns", "configs/fusion/", ".yaml", NULL },
};

struct search {
	const char *file; /* what names it; NULL: the command line */
	inner_fn *fn;
	void *arg;
};

static bool is_plain(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The places where readers look, in their order. */
static bool found(const struct search *s, const struct run_label *n, int place, const char *name, char out[PATH_SIZE])
{
	struct err none = ERR_INIT;

	if (place == 0)
		return s->file && path_beside(s->file, name, out, PATH_SIZE) == 0;
	if (place == 1)
		return (size_t)snprintf(out, PATH_SIZE, "%s", name) < PATH_SIZE;
	if (place == 2)
		return name[0] != '/' && path_data(name, out, PATH_SIZE, &none) == 0;
	return n->shipped && n->shipped(name, out, PATH_SIZE);
}

static bool is_of(const struct run_label *n, const char *within, const char *key)
{
	return strcmp(n->key, key) == 0 && (!n->within || (within && strcmp(n->within, within) == 0));
}

static int in_value(const struct search *s, const char *within, const char *key, const char *value, const char *by)
{
	char path[PATH_SIZE];
	struct str name = STR_INIT;
	int rc = 0;

	for (const struct run_label *n = names; n < names + sizeof names / sizeof *names; n++) {
		if (!is_of(n, within, key))
			continue;
		str_clear(&name);
		str_addf(&name, "%s%s%s", n->before, value, n->behind);
		for (int place = 0; place < 4 && rc == 0 && !name.failed; place++)
			if (found(s, n, place, str_c(&name), path) && is_plain(path))
				rc = s->fn(s->arg, path, by);
	}
	str_free(&name);
	return rc;
}

static int in_node(const struct search *s, const char *within, const struct ynode *n)
{
	struct str by = STR_INIT;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n->n; i++) {
		const struct ynode *v = n->vals[i], *given = ynode_get(v, "value");

		given = given ? given : v; /* of {value: X, source: ...} */
		if (n->keys && given->kind == YNODE_SCALAR) {
			str_clear(&by);
			str_addf(&by, "%s:%d", s->file, given->line);
			rc = in_value(s, within, n->keys[i]->text, given->text, str_c(&by));
		}
		if (rc == 0)
			rc = in_node(s, n->keys ? n->keys[i]->text : within, v);
	}
	str_free(&by);
	return rc;
}

int inner_files(const char *file, inner_fn *fn, void *arg)
{
	const struct search s = { file, fn, arg };
	struct err none = ERR_INIT;
	struct yaml *y = is_plain(file) ? yaml_load(file, &none) : NULL;
	int rc = y ? in_node(&s, NULL, yaml_root(y)) : 0;

	yaml_free(y);
	return rc;
}

int inner_of_set(const char *set, inner_fn *fn, void *arg)
{
	const struct search s = { NULL, fn, arg };
	const char *eq = strchr(set, '=');
	struct str key = STR_INIT;
	const char *last;
	int rc = 0;

	if (eq) {
		str_addn(&key, set, (size_t)(eq - set));
		last = strrchr(str_c(&key), '.');
		rc = in_value(&s, NULL, last ? last + 1 : str_c(&key), eq + 1, set);
	}
	str_free(&key);
	return rc;
}

bool inner_shipped(const char *name, char *path, unsigned size)
{
	struct err none = ERR_INIT;

	return machine_shipped(name, path, size) || model_shipped(name, path, size) ||
	       (tiled_find(name, path, size, &none) == 0 && strcmp(path, name) != 0);
}
