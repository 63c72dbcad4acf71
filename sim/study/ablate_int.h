/* ablate_int.h - what the parts of the reader of an ablation share. */
#ifndef NPUSIM_SIM_STUDY_ABLATE_INT_H
#define NPUSIM_SIM_STUDY_ABLATE_INT_H

#include "sim/base/yaml.h"
#include "sim/study/ablate.h"

struct ablate_reader {
	const struct yaml *y;
	struct ablation *x;
	struct arena *a;
	const char *config; /* the base's full path */
	uint64_t base_hash;
	struct err *e;
};

/* The text under a key; it may be missing. */
int ablate_text(struct ablate_reader *r, const struct ynode *map, const char *key, const char **out);
int ablate_need(struct ablate_reader *r, const struct ynode *map, const char *key, const char *what, const char **out);
/* A mapping of keys to values as a list of KEY=VALUE; each is tried alone first, so that a fault has its line. */
int ablate_sets(struct ablate_reader *r, const struct ynode *n, const char *const **out, size_t *n_out);
/* 'a' is no WHAT of this file; the nearest of those there are. */
int ablate_unknown(struct ablate_reader *r, const struct ynode *n, const char *name, const char *what,
                   const char *const *names, size_t n_names);
/* `changes:` of the file (ablate_changes.c). */
int ablate_changes(struct ablate_reader *r, const struct ynode *root);

#endif
