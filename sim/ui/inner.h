/* inner.h - files that are read because another file names them: a sweep's machine, trace and rules, a replay's two tables,
 * the measurements of a plan, the table that rules build on, a machine's kind of DRAM and its patterns of fusion. And those
 * that are read where nobody names one.
 *
 * It knows the keys that name files, and looks where their readers look: beside the file, where the command is run, among
 * the data files. Whether the command at hand would read it does not matter: whoever names a file wants to keep it. */
#ifndef NPUSIM_SIM_UI_INNER_H
#define NPUSIM_SIM_UI_INNER_H

#include <stdbool.h>

#include "sim/base/str.h"

/* Whether `file`, where it is YAML, or a file that it names, names the plain file `other`; then `by` gets the name and the
 * line of the one that does: "s.yaml:2". What cannot be read is its reader's to refuse. */
bool inner_names(const char *file, const char *other, struct str *by);
/* Whether it is one of the tables that commands read by default. */
bool inner_default(const char *other);

#endif
