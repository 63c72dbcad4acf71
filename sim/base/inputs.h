/* inputs.h - the files that a command has read, whoever named them: nothing of ours is written over one of them.
 *
 * The command line and the files it names are held against the outputs before anything runs (sim/ui/opt.h). What is read where
 * nobody names it, such as tables that come with npusim, is known only to who reads it; so every reader says so here, and an output
 * asks when it takes its place (newfile.h). The record is shared with processes that are forked after inputs_start. */
#ifndef NPUSIM_SIM_BASE_INPUTS_H
#define NPUSIM_SIM_BASE_INPUTS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

/* Begins the record; without it nothing is one. */
void inputs_start(void);
/* A file that was opened to be read; by its path where a library has it open. */
void inputs_add(FILE *f);
void inputs_add_path(const char *path);
/* Whether it was read; also where more were read than are remembered. */
bool inputs_has(const struct stat *st);

#endif
