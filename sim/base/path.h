/* path.h - where the data files are: NPUSIM_DATA, then share/npusim beside the folder the program is in, then the tree
 * it was built in, then the share of the prefix it was built for. */
#ifndef NPUSIM_SIM_BASE_PATH_H
#define NPUSIM_SIM_BASE_PATH_H

#include "sim/base/source.h"

/* Full path of "configs/dram/NAME.yaml" in the first data folder that has it; ERR_CONFIG names all that were tried.
 * `out` has `size` bytes. */
int path_data(const char *relative, char *out, unsigned size, struct err *e);
/* The data folders as a source. */
extern const struct source path_source;
/* Full path of a library of ours: beside the program, else where `make install` puts it. ERR_IO names both. */
int path_library(const char *name, char *out, unsigned size, struct err *e);
/* "NAME" -> "DIR/NAME" beside the file `beside`, when it exists. 0 found, -1 not (no error is set). */
int path_beside(const char *beside, const char *relative, char *out, unsigned size);

#endif
