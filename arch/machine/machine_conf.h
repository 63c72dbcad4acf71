/* machine_conf.h - a machine's configuration as it is read: the file, the assignments over it, the kind of DRAM it names. */
#ifndef NPUSIM_ARCH_MACHINE_MACHINE_CONF_H
#define NPUSIM_ARCH_MACHINE_MACHINE_CONF_H

#include "arch/machine/machine_cfg.h"
#include "sim/base/source.h"

/* A configuration being read: rows and struct together, so that it can be shown, explained, compared and hashed. */
struct machine_conf {
	struct machine_cfg cfg;
	struct cfg *raw;
	char path[256];
	const struct source *source; /* of the data files it names */
};

/* Reads FILE, then the assignments in order, then the named DRAM kind, and checks the whole. A name without folder and
 * ending that is no file here is a machine that comes with npusim: "dsocr", "h200"; a mistyped one names the nearest. */
struct machine_conf *machine_conf_load(const char *path, const char *const *sets, int n_sets, struct err *e);
/* How its file is named to people: as it was typed, but by its name alone where that is an absolute path of a machine that
 * comes with npusim, and not at all ("") where its name is the machine's. So no page depends on where the files are. */
void machine_conf_file(const struct machine_conf *c, char *out, size_t size);
/* The same over text in memory; `name` stands in errors. */
struct machine_conf *machine_conf_parse(const char *text, size_t n, const char *name, const char *const *sets,
                                        int n_sets, struct err *e);
/* The same with data from another source, which must outlive it. */
struct machine_conf *machine_conf_load_from(const struct source *from, const char *path, const char *const *sets,
                                            int n_sets, struct err *e);
/* Rows that follow from others and from tables get the values they come to, with their sources: for people to see. */
int machine_conf_explain(struct machine_conf *c, struct err *e);
void machine_conf_free(struct machine_conf *c);
/* One text that many machines are made of: it, and each DRAM kind, is read once. Its machines must not outlive it. */
struct machine_base;
struct machine_base *machine_base_new(const char *text, size_t n, const char *name, struct err *e);
struct machine_base *machine_base_new_from(const struct source *from, const char *text, size_t n, const char *name,
                                           struct err *e);
void machine_base_free(struct machine_base *b);
/* The same of a file, found as machine_conf_load finds it; `sets` are in force before those of each machine. */
struct machine_base *machine_base_load(const char *path, const char *const *sets, int n_sets, struct err *e);
struct machine_base *machine_base_load_from(const struct source *from, const char *path, const char *const *sets,
                                            int n_sets, struct err *e);
/* Another of the same text and assignments, which shares what was read; `from` must live as long. */
struct machine_base *machine_base_copy(const struct machine_base *from, struct err *e);
/* Assignments that are in force before those of each machine, as well as those it has. */
int machine_base_assign(struct machine_base *b, const char *const *sets, int n_sets, struct err *e);
const struct source *machine_base_source(const struct machine_base *b);
/* What machine_conf_parse makes of the text and these assignments. */
struct machine_conf *machine_base_conf(struct machine_base *b, const char *const *sets, int n_sets, struct err *e);

#endif
