/* path.c - the three data folders, and that of libraries. NPUSIM_ROOT, NPUSIM_SHARE and NPUSIM_LIB come from the Makefile. */
#define _POSIX_C_SOURCE 200809L /* access */
#include "sim/base/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef NPUSIM_ROOT
#define NPUSIM_ROOT "."
#endif
#ifndef NPUSIM_SHARE
#define NPUSIM_SHARE "/usr/local/share/npusim"
#endif
#ifndef NPUSIM_LIB
#define NPUSIM_LIB "/usr/local/lib/npusim"
#endif

static int path_join(const char *dir, size_t dir_len, const char *relative, char *out, unsigned size)
{
	int n = snprintf(out, size, "%.*s/%s", (int)dir_len, dir, relative);

	return n > 0 && (unsigned)n < size && access(out, R_OK) == 0 ? 0 : -1;
}

/* Where this program is; "" when nobody says. */
static void self_path(char *out, size_t size)
{
	const ssize_t n = readlink("/proc/self/exe", out, size - 1);

	out[n > 0 ? n : 0] = '\0';
}

/* BIN/../share/npusim: an installation may have been moved since it was made. */
static void own_share(char *out, size_t size)
{
	char self[1024];
	char *slash;

	self_path(self, sizeof self);
	for (int i = 0; i < 2; i++) {
		if (!(slash = strrchr(self, '/'))) {
			*out = '\0';
			return;
		}
		*slash = '\0';
	}
	if ((size_t)snprintf(out, size, "%s/share/npusim", self) >= size || access(out, X_OK) != 0)
		*out = '\0';
}

int path_data(const char *relative, char *out, unsigned size, struct err *e)
{
	char own[1100];
	const char *const dirs[] = { getenv("NPUSIM_DATA"), own, NPUSIM_ROOT, NPUSIM_SHARE };
	char tried[800] = "";

	own_share(own, sizeof own);
	for (int i = 0; i < 4; i++) {
		size_t n = strlen(tried);

		if (!dirs[i] || !*dirs[i])
			continue;
		if (path_join(dirs[i], strlen(dirs[i]), relative, out, size) == 0)
			return 0;
		snprintf(tried + n, sizeof tried - n, "%s'%.180s'", n ? ", " : "", dirs[i]);
	}
	if (size)
		*out = '\0';
	return err_set(e, ERR_CONFIG, "there is no '%s' in %s", relative, tried);
}

static int path_find(const struct source *s, const char *relative, char *out, unsigned size, struct err *e)
{
	(void)s;
	return path_data(relative, out, size, e);
}

static void path_list(const struct source *s, const char *folder, source_each_fn *each, void *arg)
{
	char path[1200];

	(void)s;
	if (source_find(&path_source, folder, path, sizeof path))
		source_root_list(path, each, arg);
}

static const char *temp(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

const struct source path_source = { path_find, source_root_has, source_root_read, path_list, temp };

int path_library(const char *name, char *out, unsigned size, struct err *e)
{
	char self[1024];

	self_path(self, sizeof self);
	if ((*self && path_beside(self, name, out, size) == 0) ||
	    path_join(NPUSIM_LIB, strlen(NPUSIM_LIB), name, out, size) == 0)
		return 0;
	if (strrchr(self, '/'))
		*strrchr(self, '/') = '\0';
	return err_set(e, ERR_IO, "there is no '%s' in '%s' nor in '%s'", name, self, NPUSIM_LIB);
}

int path_beside(const char *beside, const char *relative, char *out, unsigned size)
{
	const char *slash = strrchr(beside, '/');

	if (*relative == '/')
		return path_join("", 0, relative + 1, out, size);
	if (!slash)
		return path_join(".", 1, relative, out, size);
	return path_join(beside, (size_t)(slash - beside), relative, out, size);
}
