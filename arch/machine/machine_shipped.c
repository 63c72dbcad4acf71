/* machine_shipped.c - the folders of machines in the data folders. */
#define _POSIX_C_SOURCE 200809L /* glob, access */
#include "arch/machine/machine_shipped.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/cfg.h"
#include "sim/base/path.h"
#include "sim/base/str.h"

#define ENDING ".yaml"

const char *const machine_shipped_folders[] = { "configs/npu", "configs/gpu", "configs/system", NULL };

#define FOLDERS (sizeof machine_shipped_folders / sizeof *machine_shipped_folders - 1)

bool machine_shipped_from(const struct source *from, const char *name, char *path, unsigned size)
{
	char relative[CFG_STR_MAX + 32];

	if (!*name || strlen(name) >= CFG_STR_MAX || strchr(name, '/') || strchr(name, '.') || from->has(from, name))
		return false;
	for (size_t i = 0; i < FOLDERS; i++) {
		snprintf(relative, sizeof relative, "%s/%s" ENDING, machine_shipped_folders[i], name);
		if (source_find(from, relative, path, size))
			return true;
	}
	return false;
}

bool machine_shipped(const char *name, char *path, unsigned size)
{
	return machine_shipped_from(&path_source, name, path, size);
}

int machine_shipped_npus(struct arena *a, const char ***paths, size_t *n, struct err *e)
{
	char pattern[1024];
	bool all;
	glob_t g;

	if (path_data(machine_shipped_folders[0], pattern, sizeof pattern - sizeof "/*" ENDING, e) < 0)
		return -1;
	strcat(pattern, "/*" ENDING);
	if (glob(pattern, 0, NULL, &g) != 0)
		return err_set(e, ERR_IO, "no file is like '%s'", pattern);
	*paths = arena_array(a, g.gl_pathc, sizeof **paths);
	*n = 0;
	while (*paths && *n < g.gl_pathc && ((*paths)[*n] = arena_strdup(a, g.gl_pathv[*n])))
		++*n;
	all = *n == g.gl_pathc;
	globfree(&g);
	return all ? 0 : err_nomem(e, "for names of machines");
}

/* --- the nearest ------------------------------------------------------------------------------------------- */

static bool ends(const char *text, size_t n, const char *end)
{
	const size_t k = strlen(end);

	return n >= k && memcmp(text + n - k, end, k) == 0;
}

/* What is between folder and ending, where the folder is one of ours or there is none. */
static bool word_of(const char *missing, char *word, size_t size)
{
	const char *slash = strrchr(missing, '/'), *last = slash ? slash + 1 : missing;
	size_t n = strlen(last);
	bool ours = !slash;

	for (size_t i = 0; slash && i < FOLDERS; i++)
		ours |= ends(missing, (size_t)(slash - missing), machine_shipped_folders[i]);
	if (ends(last, n, ENDING))
		n -= strlen(ENDING);
	if (!ours || !n || n >= size)
		return false;
	memcpy(word, last, n);
	word[n] = '\0';
	return true;
}

/* The nearest of one folder, in the order of names, so that of two as near it is the same one everywhere. */
static bool near_in(const struct source *from, const char *folder, const char *word, char *name, size_t size)
{
	struct arena *a = arena_new(0);
	struct err none = ERR_INIT;
	const char **names, *near = NULL;
	size_t n;

	if (a && source_names(from, folder, ENDING, a, &names, &n, &none) == 0 && n &&
	    (near = str_nearest(word, names, n)))
		snprintf(name, size, "%s", near);
	arena_free(a);
	return near;
}

bool machine_shipped_near(const struct source *from, const char *missing, char *name, unsigned size)
{
	char word[CFG_STR_MAX], found[FOLDERS][CFG_STR_MAX];
	const char *names[FOLDERS], *near;

	if (!word_of(missing, word, sizeof word))
		return false;
	for (size_t i = 0; i < FOLDERS; i++)
		names[i] = near_in(from, machine_shipped_folders[i], word, found[i], sizeof found[i]) ? found[i] : NULL;
	if (!(near = str_nearest(word, names, FOLDERS)))
		return false;
	snprintf(name, size, "%s", near);
	return true;
}
