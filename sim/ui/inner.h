/* inner.h - files that are read because another file names them: a sweep's machine, trace and rules, a replay's two tables,
 * the measurements of a plan, the table that rules build on, a machine's kind of DRAM, its node and its patterns of fusion, a
 * workload's model. And those that go by a name alone.
 *
 * It knows the keys that name files, and looks where their readers look: beside the file, where the command is run, among
 * the data files. Whether the command at hand would read it does not matter: whoever names a file wants to keep it. */
#ifndef NPUSIM_SIM_UI_INNER_H
#define NPUSIM_SIM_UI_INNER_H

#include <stdbool.h>

#include "sim/base/str.h"

/* Is called with each plain file that is named, and with where that is: "s.yaml:2". */
typedef int inner_fn(void *arg, const char *path, const char *by);

/* The files that `file` names, where it is YAML, but not those that they name; until a call returns other than 0. What cannot be
 * read is its reader's to refuse. */
int inner_files(const char *file, inner_fn *fn, void *arg);
/* The same of a machine's KEY=VALUE. */
int inner_of_set(const char *set, inner_fn *fn, void *arg);
/* The file of a machine, a model or a kernel that comes with npusim, by its name. */
bool inner_shipped(const char *name, char *path, unsigned size);

#endif
