/* source.h - where data files come from: by their names from the top of the data, "configs/dram/hbm3-6400.yaml".
 *
 * The command line's is path_source (path.h): the data folders. A library's caller may give a folder, or bytes in memory.
 * A file has a full name too, which messages show and read() takes: its path, or in memory the name itself. A source does not
 * change while it is used, and may be used by several threads. */
#ifndef NPUSIM_SIM_BASE_SOURCE_H
#define NPUSIM_SIM_BASE_SOURCE_H

#include <stdbool.h>

#include "sim/base/err.h"
#include "sim/base/yaml.h"

typedef void source_each_fn(void *arg, const char *name);

struct source {
	/* Full name of a data file; ERR_CONFIG where there is none. `out` has `size` bytes. */
	int (*find)(const struct source *s, const char *relative, char *out, unsigned size, struct err *e);
	bool (*has)(const struct source *s, const char *full);
	struct yaml *(*read)(const struct source *s, const char *full, struct err *e);
	/* Files of a data folder, without it, in no order; none where there is no such folder. */
	void (*list)(const struct source *s, const char *folder, source_each_fn *each, void *arg);
	const char *(*temp)(void); /* the folder of what must be unpacked to be read; NULL: "/tmp" */
};

/* Find and read. */
struct yaml *source_yaml(const struct source *s, const char *relative, struct err *e);
/* Whether there is such a data file. */
bool source_find(const struct source *s, const char *relative, char *out, unsigned size);
/* "NAME" -> "DIR/NAME" beside the file `beside`, where it exists. */
bool source_beside(const struct source *s, const char *beside, const char *relative, char *out, unsigned size);
/* Names in a data folder that end so, without the ending, in order; all live in `a`. */
int source_names(const struct source *s, const char *folder, const char *ending, struct arena *a, const char ***names,
                 size_t *n, struct err *e);

/* One folder with all data. */
struct source_root {
	struct source source;
	char root[1024];
};
int source_root_init(struct source_root *s, const char *root, struct err *e);
/* What a source of files does with a path. */
bool source_root_has(const struct source *s, const char *full);
struct yaml *source_root_read(const struct source *s, const char *full, struct err *e);
void source_root_list(const char *folder, source_each_fn *each, void *arg);

#endif
