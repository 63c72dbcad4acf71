#define _POSIX_C_SOURCE 200809L /* access */
#include "sim/base/source.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

bool source_root_has(const struct source *s, const char *full)
{
	(void)s;
	return access(full, R_OK) == 0;
}

struct yaml *source_root_read(const struct source *s, const char *full, struct err *e)
{
	(void)s;
	return yaml_load(full, e);
}

void source_root_list(const char *folder, source_each_fn *each, void *arg)
{
	DIR *d = opendir(folder);

	for (struct dirent *x; d && (x = readdir(d));)
		each(arg, x->d_name);
	if (d)
		closedir(d);
}

static int source_root_find(const struct source *s, const char *relative, char *out, unsigned size, struct err *e)
{
	const struct source_root *r = (const struct source_root *)s;
	const int n = snprintf(out, size, "%s/%s", r->root, relative);

	if (n > 0 && (unsigned)n < size && access(out, R_OK) == 0)
		return 0;
	if (size)
		*out = '\0';
	return err_set(e, ERR_CONFIG, "there is no '%s' in '%s'", relative, r->root);
}

static void source_root_own_list(const struct source *s, const char *folder, source_each_fn *each, void *arg)
{
	char path[1200];
	struct err none = ERR_INIT;

	if (source_root_find(s, folder, path, sizeof path, &none) == 0)
		source_root_list(path, each, arg);
}

int source_root_init(struct source_root *s, const char *root, struct err *e)
{
	s->source = (struct source){ source_root_find, source_root_has, source_root_read, source_root_own_list, NULL };
	if ((size_t)snprintf(s->root, sizeof s->root, "%s", root) >= sizeof s->root)
		return err_set(e, ERR_USAGE, "the data folder's path is longer than %zu", sizeof s->root - 1);
	return access(root, R_OK | X_OK) == 0 ? 0
	                                      : err_set(e, ERR_IO, "there is no folder '%s' that can be read", root);
}
