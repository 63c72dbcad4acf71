/* tiled_shipped.c - the descriptions that come with npusim: workloads/kernels/NAME.yaml in the data folders. */
#define _POSIX_C_SOURCE 200809L /* glob, access */
#include "arch/tiled/tiled_shipped.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/cfg.h"
#include "sim/base/path.h"
#include "sim/base/str.h"

#define FOLDER "workloads/kernels"
#define ENDING ".yaml"

int tiled_list(struct tiled_names *n, struct err *e)
{
	char pattern[1024];

	*n = (struct tiled_names){ .n = 0 };
	if (path_data(FOLDER, pattern, sizeof pattern - sizeof "/*" ENDING, e) < 0)
		return -1;
	strcat(pattern, "/*" ENDING);
	if (glob(pattern, 0, NULL, &n->found) != 0)
		return err_set(e, ERR_CONFIG, "no kernels are described in '%s'", FOLDER);
	n->n = n->found.gl_pathc;
	n->path = (const char *const *)n->found.gl_pathv;
	return 0;
}

void tiled_list_free(struct tiled_names *n)
{
	if (n->n)
		globfree(&n->found);
	n->n = 0;
}

static void tiled_shipped_name_of(const char *path, char *out, size_t size)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const size_t len = strlen(name), end = strlen(ENDING);

	snprintf(out, size, "%.*s", (int)(len > end ? len - end : len), name);
}

int tiled_find(const char *word, char *path, unsigned size, struct err *e)
{
	char names[256][CFG_STR_MAX];
	const char *list[256], *near;
	struct tiled_names n;
	char relative[CFG_STR_MAX + 32];
	size_t k = 0;
	struct err none = ERR_INIT;

	if (strchr(word, '/') || strchr(word, '.') || strlen(word) >= CFG_STR_MAX || access(word, F_OK) == 0) {
		snprintf(path, size, "%s", word);
		return 0;
	}
	snprintf(relative, sizeof relative, FOLDER "/%s" ENDING, word);
	if (path_data(relative, path, size, &none) == 0)
		return 0;
	if (tiled_list(&n, e) < 0)
		return -1;
	for (; k < n.n && k < 256; k++) {
		tiled_shipped_name_of(n.path[k], names[k], sizeof names[k]);
		list[k] = names[k];
	}
	tiled_list_free(&n);
	near = str_nearest(word, list, k);
	return err_set(e, ERR_CONFIG, "no kernel '%s' comes with npusim, and no file is called that%s%s%s", word,
	               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}
