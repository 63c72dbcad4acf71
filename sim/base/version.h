/* version.h - which build this is: any number in a report can be traced to the program that made it. */
#ifndef NPUSIM_SIM_BASE_VERSION_H
#define NPUSIM_SIM_BASE_VERSION_H

#include "sim/base/str.h"

#define NPUSIM_VERSION "0.1.0"      /* the one place; the Makefile reads it from here */
#define NPUSIM_DATE    "2026-11-21" /* of that version: the manual page has it */

const char *npusim_version(void);
/* "1a2b3c4d5e6f release", "1a2b3c4d5e6f+dirty debug": commit, whether tracked files differ from it, profile;
 * "unknown release" when the build was not made in a git tree. */
const char *npusim_build_id(void);
/* Which model of a GPU this build has: a hash over what it answers (sim/accuracy/behaviour.h), in fingerprint.c. */
const char *npusim_gpu_model(void);
/* Appends "libyaml 0.2.5, sqlite 3.40.1, yajl 2.1.0, zlib 1.2.13": the libraries in use, not those of the headers. */
void npusim_libraries(struct str *out);

#endif
