#include "arch/machine/machine_conf.h"

#include "arch/gpu/gpu_power.h"
#include "arch/machine/machine_area.h"
#include "arch/machine/machine_cost.h"
#include "arch/machine/machine_power.h"
#include "arch/machine/machine_shipped.h"
#include "arch/machine/machine_techs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/path.h"

static struct yaml *load_dram_kind(const struct source *from, const char *kind, struct err *e)
{
	char relative[CFG_STR_MAX + 32], path[512];

	if (strchr(kind, '/') || strlen(kind) == 0) {
		err_set(e, ERR_CONFIG, "'dram.kind' names a file in configs/dram without folder and ending: '%s'",
		        kind);
		return NULL;
	}
	snprintf(relative, sizeof relative, "configs/dram/%s.yaml", kind);
	if (from->find(from, relative, path, sizeof path, e) < 0) {
		err_add(e, "looking for 'dram.kind: %s'", kind);
		return NULL;
	}
	return from->read(from, path, e);
}

/* A DRAM kind's file as it was read. */
struct kind_file {
	char kind[CFG_STR_MAX];
	struct yaml *y;
	struct kind_file *next;
};

static struct yaml *find_dram_kind(const struct source *from, struct kind_file **kept, const char *kind, struct err *e)
{
	struct kind_file *f;

	for (f = *kept; f; f = f->next)
		if (strcmp(f->kind, kind) == 0)
			return f->y;
	if (!(f = calloc(1, sizeof *f))) {
		err_set(e, ERR_NOMEM, "out of memory for a configuration");
		return NULL;
	}
	if (!(f->y = load_dram_kind(from, kind, e))) {
		free(f);
		return NULL;
	}
	snprintf(f->kind, sizeof f->kind, "%s", kind);
	f->next = *kept;
	return (*kept = f)->y;
}

static void free_kinds(struct kind_file *f)
{
	while (f) {
		struct kind_file *next = f->next;

		yaml_free(f->y);
		free(f);
		f = next;
	}
}

/* The memory's own file fills in what the machine's file left open. */
static int read_dram_kind(struct machine_conf *c, struct kind_file **kept, struct err *e)
{
	struct yaml *y;

	if (strcmp(c->cfg.mem.dram.kind, "fixed") == 0)
		return 0;
	if (!(y = find_dram_kind(c->source, kept, c->cfg.mem.dram.kind, e)))
		return -1;
	return dram_cfg_preset(c->raw, y, yaml_root(y), e);
}

/* Scales belong to neighbours that are thinned out together. */
static int check_sparsity(const struct machine_cfg *m, struct err *e)
{
	const struct sparsity s = machine_sparsity(m);

	if (s.of && m->weights.group % s.of)
		return err_set(e, ERR_CONFIG,
		               "'weights.group' is %u, and with 'weights.sparsity' %s it must be a multiple of %u",
		               m->weights.group, machine_sparsity_name(m), s.of);
	return 0;
}

/* A die's area and cost take no run: they are known as soon as the machine is. */
static int machine_conf_measure(struct machine_cfg *m, const struct source *from, struct machine_techs **techs,
                                struct err *e)
{
	const struct tech *t;
	struct machine_cost cost;
	struct area a;
	int kind;

	if (!die_known(&m->die))
		return 0;
	if (!(t = machine_tech(techs, from, m->die.node, e)))
		return err_add(e, "reading 'die.node'");
	machine_area(m, t, &a);
	m->die.area = area_die(&a);
	m->die.limit = t->die.limit;
	kind = tech_dram_kind(m->mem.dram.kind);
	m->die.limit_holds = kind < 0 ? 0 : t->dram[kind].holds;
	machine_cost(m, t, &cost);
	m->cost.all = machine_cost_all(&cost);
	return 0;
}

static int machine_conf_check(struct machine_conf *c, struct machine_techs **techs, struct err *e)
{
	struct machine_cfg *m = &c->cfg;

	if (l1_cfg_check(&m->mem.l1, m->cores, e) < 0 || noc_cfg_check(&m->mem.noc, m->cores, e) < 0)
		goto fail;
	m->sram.from_l1 = l1_shared(&m->mem.l1);
	if (sram_cfg_check(&m->sram, e) < 0 || l2_cfg_check(&m->mem.l2, e) < 0 ||
	    kv_cfg_check(&m->mem.kv_buffer, e) < 0 || gpu_power_check(&m->gpu.power, e) < 0 ||
	    check_sparsity(m, e) < 0 || link_cfg_check(&m->links, e) < 0 ||
	    dram_cfg_resolve(&m->mem.dram, c->raw, e) < 0 || machine_conf_measure(m, c->source, techs, e) < 0 ||
	    machine_power_fill(m, NULL, c->source, techs, e) < 0)
		goto fail;
	cfg_absent(c->raw, "links", !m->links.bandwidth);
	cfg_absent(c->raw, "cost", !m->cost.wafer && !m->cost.defects && !m->cost.dram);
	return 0;
fail:
	if (!e->file[0])
		err_at(e, c->path, 0, 0);
	return -1;
}

/* Files that are something else, and would read as the default machine or end in an unknown key. */
static int check_root(const struct yaml *y, const char *name, struct err *e)
{
	const struct ynode *root = yaml_root(y), *sweep = ynode_get(root, "sweep");

	if (root->kind == YNODE_MAP && root->n == 0) {
		err_set(e, ERR_CONFIG, "this describes no machine: nothing stands in it");
		return err_at(e, name, 1, 0);
	}
	if (sweep)
		return yaml_err(y, sweep, e, "this is a sweep, not a machine: 'npusim sweep %s' runs it", name);
	return 0;
}

/* The file, or why not; of one that is not there with the machine that may be meant. */
static struct yaml *load_file(const struct source *from, const char *path, struct err *e)
{
	char near[CFG_STR_MAX];

	if (from->has(from, path) || errno != ENOENT)
		return from->read(from, path, e);
	if (machine_shipped_near(from, path, near, sizeof near))
		err_set(e, ERR_IO, "cannot read '%s': no such file or directory; did you mean '%s'?", path, near);
	else if (!strpbrk(path, "/."))
		err_set(e, ERR_IO, "there is no machine '%s': 'npusim config list' has those that come with npusim",
		        path);
	else
		return from->read(from, path, e);
	return NULL;
}

/* --- systems ----------------------------------------------------------------------------------------------- */

/* A file with `machine:` is that machine, with what else it says: links to others like it, say. NULL: it is one by itself, or
 * an error is set. */
static struct yaml *load_origin(const struct source *from, const struct yaml *y, struct err *e)
{
	const struct ynode *n = ynode_get(yaml_root(y), "machine");
	char found[sizeof((struct machine_conf *)0)->path];
	struct yaml *origin;

	if (!n)
		return NULL;
	if (n->kind != YNODE_SCALAR || !*n->text) {
		yaml_err(y, n, e, "'machine' names the machine that this system has several of: 'machine: h200'");
		return NULL;
	}
	origin = machine_shipped_from(from, n->text, found, sizeof found) ? from->read(from, found, e)
	                                                                  : load_file(from, n->text, e);
	if (!origin) {
		err_add(e, "reading 'machine' of '%s'", yaml_name(y));
	} else if (ynode_get(yaml_root(origin), "machine")) {
		yaml_err(y, n, e, "'%s' is a system itself: 'machine' names one chip", n->text);
		yaml_free(origin);
		origin = NULL;
	}
	return origin;
}

static int machine_conf_read_rows(struct machine_conf *c, const struct yaml *y, const struct yaml *origin,
                                  struct err *e)
{
	static const char *const skip[] = { "machine", NULL };
	uint32_t kind;

	if (!(c->raw = machine_schema(&c->cfg, machine_kind_of(origin ? origin : y), e)))
		return -1;
	if (!origin)
		return cfg_read(c->raw, y, yaml_root(y), NULL, e);
	if (check_root(origin, yaml_name(origin), e) < 0 || cfg_read(c->raw, origin, yaml_root(origin), NULL, e) < 0)
		return -1;
	kind = c->cfg.kind;
	if (cfg_read(c->raw, y, yaml_root(y), skip, e) < 0)
		return -1;
	return c->cfg.kind == kind ? 0
	                           : yaml_err(y, ynode_get(yaml_root(y), "kind"), e,
	                                      "'kind' is that of 'machine', and cannot be another");
}

/* What stands in the file, before assignments. */
static struct machine_conf *conf_read_file(const struct source *from, const struct yaml *y, const char *name,
                                           struct err *e)
{
	struct machine_conf *c = calloc(1, sizeof *c);
	struct yaml *origin;
	bool read;

	if (!c) {
		err_set(e, ERR_NOMEM, "out of memory for a configuration");
		return NULL;
	}
	snprintf(c->path, sizeof c->path, "%s", name);
	c->source = from;
	origin = load_origin(from, y, e);
	read = !e->kind && check_root(y, name, e) == 0 && machine_conf_read_rows(c, y, origin, e) == 0;
	yaml_free(origin);
	if (read)
		return c;
	machine_conf_free(c);
	return NULL;
}

static int assign(struct machine_conf *c, const char *const *sets, int n_sets, struct err *e)
{
	const uint32_t kind = c->cfg.kind;

	for (int i = 0; i < n_sets; i++)
		if (cfg_set(c->raw, sets[i], e) < 0)
			return -1;
	if (c->cfg.kind != kind)
		return err_set(e, ERR_CONFIG,
		               "'kind' decides which parameters there are: only the file itself can say it");
	return 0;
}

/* `kept` NULL: the kind of DRAM is filled in already. */
static int conf_finish(struct machine_conf *c, const char *const *sets, int n_sets, struct kind_file **kept,
                       struct machine_techs **techs, struct err *e)
{
	if (assign(c, sets, n_sets, e) < 0)
		return -1;
	return kept && read_dram_kind(c, kept, e) < 0 ? -1 : machine_conf_check(c, techs, e);
}

static struct machine_conf *conf_read(const struct source *from, struct yaml *y, const char *name,
                                      const char *const *sets, int n_sets, struct err *e)
{
	struct machine_conf *c = conf_read_file(from, y, name, e);
	struct kind_file *kept = NULL;
	struct machine_techs *techs = NULL;

	if (c && conf_finish(c, sets, n_sets, &kept, &techs, e) < 0) {
		machine_conf_free(c);
		c = NULL;
	}
	free_kinds(kept);
	machine_techs_free(techs);
	yaml_free(y);
	return c;
}

/* --- a base ------------------------------------------------------------------------------------------------ */

/* What its machines name, read once: also for copies of it. */
struct base_files {
	unsigned holders;
	struct kind_file *kinds;
	struct machine_techs *techs;
};

struct machine_base {
	struct machine_conf *c;    /* before assignments */
	struct machine_conf *dram; /* the same with its kind of DRAM filled in; NULL: not made yet, or it cannot be */
	struct base_files *files;
};

/* Frees `y`. */
static struct machine_base *base_of(const struct source *from, struct yaml *y, const char *name, struct err *e)
{
	struct machine_base *b = calloc(1, sizeof *b);

	if (!b || !(b->files = calloc(1, sizeof *b->files)))
		err_set(e, ERR_NOMEM, "out of memory for a configuration");
	else
		b->c = conf_read_file(from, y, name, e);
	yaml_free(y);
	if (b && b->files)
		b->files->holders = 1;
	if (b && b->c)
		return b;
	machine_base_free(b);
	return NULL;
}

struct machine_base *machine_base_new_from(const struct source *from, const char *text, size_t n, const char *name,
                                           struct err *e)
{
	struct yaml *y = yaml_parse(text, n, name, e);

	return y ? base_of(from, y, name, e) : NULL;
}

struct machine_base *machine_base_new(const char *text, size_t n, const char *name, struct err *e)
{
	return machine_base_new_from(&path_source, text, n, name, e);
}

void machine_base_free(struct machine_base *b)
{
	if (!b)
		return;
	machine_conf_free(b->dram);
	machine_conf_free(b->c);
	if (b->files && !--b->files->holders) {
		free_kinds(b->files->kinds);
		machine_techs_free(b->files->techs);
		free(b->files);
	}
	free(b);
}

static struct machine_conf *conf_copy(const struct machine_conf *from, struct err *e)
{
	struct machine_conf *c = malloc(sizeof *c);

	if (!c) {
		err_set(e, ERR_NOMEM, "out of memory for a configuration");
		return NULL;
	}
	*c = *from;
	if ((c->raw = cfg_copy(from->raw, &from->cfg, &c->cfg, e)))
		return c;
	machine_conf_free(c);
	return NULL;
}

const struct source *machine_base_source(const struct machine_base *b)
{
	return b->c->source;
}

struct machine_base *machine_base_copy(const struct machine_base *from, struct err *e)
{
	struct machine_base *b = calloc(1, sizeof *b);

	if (!b) {
		err_set(e, ERR_NOMEM, "out of memory for a configuration");
		return NULL;
	}
	b->files = from->files;
	b->files->holders++;
	if ((b->c = conf_copy(from->c, e)))
		return b;
	machine_base_free(b);
	return NULL;
}

/* A kind of DRAM fills in what nobody gave, so it may come before assignments as well as after them, unless one of them
 * names another kind. Whatever is wrong with it is said in its usual place. */
static const struct machine_conf *with_dram(struct machine_base *b, const char *const *sets, int n_sets)
{
	struct err ignored = ERR_INIT;

	for (int i = 0; i < n_sets; i++)
		if (strncmp(sets[i], "dram.kind", 9) == 0)
			return NULL;
	if (!b->dram && (b->dram = conf_copy(b->c, &ignored)) &&
	    read_dram_kind(b->dram, &b->files->kinds, &ignored) < 0) {
		machine_conf_free(b->dram);
		b->dram = NULL;
	}
	return b->dram;
}

struct machine_conf *machine_base_conf(struct machine_base *b, const char *const *sets, int n_sets, struct err *e)
{
	const struct machine_conf *filled = with_dram(b, sets, n_sets);
	struct machine_conf *c = conf_copy(filled ? filled : b->c, e);

	if (!c || conf_finish(c, sets, n_sets, filled ? NULL : &b->files->kinds, &b->files->techs, e) == 0)
		return c;
	machine_conf_free(c);
	return NULL;
}

/* --- from files -------------------------------------------------------------------------------------------- */

/* Also of a machine that comes with npusim; `found` is its file then, else the path as it is. */
static struct yaml *load_named(const struct source *from, const char **path, char *found, unsigned size, struct err *e)
{
	if (machine_shipped_from(from, *path, found, size)) {
		*path = found;
		return from->read(from, found, e);
	}
	return load_file(from, *path, e);
}

struct machine_conf *machine_conf_load_from(const struct source *from, const char *path, const char *const *sets,
                                            int n_sets, struct err *e)
{
	char found[sizeof((struct machine_conf *)0)->path];
	struct yaml *y = load_named(from, &path, found, sizeof found, e);

	return y ? conf_read(from, y, path, sets, n_sets, e) : NULL;
}

struct machine_conf *machine_conf_load(const char *path, const char *const *sets, int n_sets, struct err *e)
{
	return machine_conf_load_from(&path_source, path, sets, n_sets, e);
}

int machine_base_assign(struct machine_base *b, const char *const *sets, int n_sets, struct err *e)
{
	machine_conf_free(b->dram);
	b->dram = NULL;
	return assign(b->c, sets, n_sets, e);
}

struct machine_base *machine_base_load_from(const struct source *from, const char *path, const char *const *sets,
                                            int n_sets, struct err *e)
{
	char found[sizeof((struct machine_conf *)0)->path];
	struct yaml *y = load_named(from, &path, found, sizeof found, e);
	struct machine_base *b = y ? base_of(from, y, path, e) : NULL;

	if (!b || assign(b->c, sets, n_sets, e) == 0)
		return b;
	machine_base_free(b);
	return NULL;
}

struct machine_base *machine_base_load(const char *path, const char *const *sets, int n_sets, struct err *e)
{
	return machine_base_load_from(&path_source, path, sets, n_sets, e);
}

struct machine_conf *machine_conf_parse(const char *text, size_t n, const char *name, const char *const *sets,
                                        int n_sets, struct err *e)
{
	struct yaml *y = yaml_parse(text, n, name, e);

	return y ? conf_read(&path_source, y, name, sets, n_sets, e) : NULL;
}

int machine_conf_explain(struct machine_conf *c, struct err *e)
{
	struct machine_techs *techs = NULL;
	const int rc = machine_power_fill(&c->cfg, c->raw, c->source, &techs, e);

	machine_techs_free(techs);
	return rc;
}

void machine_conf_free(struct machine_conf *c)
{
	if (!c)
		return;
	cfg_free(c->raw);
	free(c);
}

/* Whether it is the file that this program finds among its data by that name. */
static bool ships(const struct machine_conf *c)
{
	char found[1200];
	const char *relative = NULL;

	for (const char *at = c->path; (at = strstr(at, "/configs/")); at++)
		relative = at + 1;
	return relative && c->source && source_find(c->source, relative, found, sizeof found) &&
	       strcmp(found, c->path) == 0;
}

void machine_conf_file(const struct machine_conf *c, char *out, size_t size)
{
	const char *base = strrchr(c->path, '/');
	int n;

	snprintf(out, size, "%s", c->path);
	if (*c->path != '/')
		return;
	base++;
	n = (int)strcspn(base, ".");
	if (strcmp(base + n, ".yaml") == 0 && strlen(c->cfg.name) == (size_t)n && strncmp(base, c->cfg.name, n) == 0)
		*out = '\0';
	else if (ships(c))
		snprintf(out, size, "%.*s", n, base);
}
