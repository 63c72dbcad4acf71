/* ablate.c - a file of named changes, read and held against what the machine has. */
#include "sim/study/ablate.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/path.h"
#include "sim/base/str.h"
#include "sim/study/ablate_int.h"

#define COUNT(v) (sizeof(v) / sizeof *(v))

/* --- texts and numbers --------------------------------------------------------------------------------------------- */

int ablate_text(struct ablate_reader *r, const struct ynode *map, const char *key, const char **out)
{
	const struct ynode *n = ynode_get(map, key);
	const char *s;

	if (!n)
		return 0;
	if (yaml_str(r->y, n, &s, r->e) < 0)
		return -1;
	if (!*s)
		return yaml_err(r->y, n, r->e, "'%s' is empty", key);
	return (*out = arena_strdup(r->a, s)) ? 0 : err_nomem(r->e, NULL);
}

int ablate_need(struct ablate_reader *r, const struct ynode *map, const char *key, const char *what, const char **out)
{
	if (ablate_text(r, map, key, out) < 0)
		return -1;
	return *out ? 0 : yaml_err(r->y, map, r->e, "%s has no '%s'", what, key);
}

/* --- assignments --------------------------------------------------------------------------------------------------- */

int ablate_sets(struct ablate_reader *r, const struct ynode *n, const char *const **out, size_t *n_out)
{
	const char **sets;
	size_t at;

	if (n->kind != YNODE_MAP || !n->n)
		return yaml_err(r->y, n, r->e, "'set' is a mapping of parameters: {l2.size: 64 MiB}");
	if (!(sets = arena_array(r->a, n->n + 1, sizeof *sets)))
		return err_nomem(r->e, NULL);
	for (size_t i = 0; i < n->n; i++) {
		struct machine_conf *base = machine_base_conf(r->x->machines, NULL, 0, r->e);
		struct err why = ERR_INIT;
		const char *key, *value;

		if (!base)
			return -1;
		if (yaml_str(r->y, n->keys[i], &key, &why) < 0 || yaml_str(r->y, n->vals[i], &value, &why) < 0 ||
		    !(sets[i] = arena_printf(r->a, "%s=%s", key, value)) || cfg_find(base->raw, key, &at, &why) < 0 ||
		    cfg_set(base->raw, sets[i], &why) < 0) {
			machine_conf_free(base);
			return yaml_err(r->y, n->keys[i], r->e, "%s", why.kind ? why.msg : "out of memory");
		}
		machine_conf_free(base);
	}
	*out = sets;
	*n_out = n->n;
	return 0;
}

int ablate_unknown(struct ablate_reader *r, const struct ynode *n, const char *name, const char *what,
                   const char *const *names, size_t n_names)
{
	const char *near = str_nearest(name, names, n_names);

	return yaml_err(r->y, n, r->e, "'%s' is no %s of this file%s%s%s", name, what, near ? "; did you mean '" : "",
	                near ? near : "", near ? "'?" : "");
}

/* --- workloads ----------------------------------------------------------------------------------------------------- */

/* The suite's number; one that is new is one more. */
static int read_suite(struct ablate_reader *r, const struct ynode *n, int *out)
{
	const char *name;
	size_t i = 0;

	*out = -1;
	if (!n)
		return 0;
	if (yaml_str(r->y, n, &name, r->e) < 0)
		return -1;
	while (i < r->x->n_suites && strcmp(r->x->suites[i], name) != 0)
		i++;
	if (i == ABLATE_SUITES)
		return yaml_err(r->y, n, r->e, "more than %d suites", ABLATE_SUITES);
	if (i == r->x->n_suites && !(r->x->suites[r->x->n_suites++] = arena_strdup(r->a, name)))
		return err_nomem(r->e, NULL);
	*out = (int)i;
	return 0;
}

static int read_workload(struct ablate_reader *r, const struct ynode *n, struct ablate_workload *w)
{
	static const char *const ours[] = { "name", "only", "alone", "suite", "weight", NULL };
	const struct ynode *only = ynode_get(n, "only"), *alone = ynode_get(n, "alone"),
			   *weight = ynode_get(n, "weight");

	if (n->kind != YNODE_MAP)
		return yaml_err(r->y, n, r->e, "a workload is a mapping: {name: NAME, model: MODEL}");
	if (ablate_need(r, n, "name", "a workload", &w->name) < 0 ||
	    workload_yaml(r->y, n, WORKLOAD_ABLATE_FILE, ours, r->a, &w->spec, r->e) < 0 ||
	    (only && yaml_bool(r->y, only, &w->only, r->e) < 0) ||
	    (alone && yaml_bool(r->y, alone, &w->alone, r->e) < 0) ||
	    (weight && yaml_real(r->y, weight, &w->weight, r->e) < 0) ||
	    read_suite(r, ynode_get(n, "suite"), &w->suite) < 0)
		return -1;
	if (weight && !(w->weight > 0 && w->weight <= 1e9))
		return yaml_err(r->y, weight, r->e, "a weight is a number above 0");
	if (weight && w->only)
		return yaml_err(r->y, weight, r->e, "'%s' is for some changes alone, and a mix is of all: no 'weight'",
		                w->name);
	for (const struct ablate_workload *o = r->x->workloads; o < w; o++)
		if (strcmp(o->name, w->name) == 0)
			return yaml_err(r->y, n, r->e, "two workloads are called '%s'", w->name);
	return 0;
}

static int read_workloads(struct ablate_reader *r, const struct ynode *root)
{
	const struct ynode *n = ynode_get(root, "workloads");
	bool any = false;

	if (!n || n->kind != YNODE_SEQ || !n->n)
		return yaml_err(r->y, n ? n : root, r->e,
		                "an ablation has 'workloads', a list: [{name: decode, model: llama-3.2-1b}]");
	if (n->n > ABLATE_WORKLOADS)
		return yaml_err(r->y, n, r->e, "more than %d workloads", ABLATE_WORKLOADS);
	if (!(r->x->workloads = arena_array(r->a, n->n, sizeof *r->x->workloads)))
		return err_nomem(r->e, NULL);
	for (size_t i = 0; i < n->n; i++) {
		if (read_workload(r, n->vals[i], &r->x->workloads[i]) < 0)
			return -1;
		r->x->n_workloads++;
		any |= !r->x->workloads[i].only;
	}
	return any ? 0 : yaml_err(r->y, n, r->e, "each workload is for some changes alone: one has no 'only'");
}

/* --- the whole ----------------------------------------------------------------------------------------------------- */

/* A file the ablation names: beside it, as it is, or where the data are. */
static const char *ablate_find(struct ablate_reader *r, const char *name)
{
	struct err none = ERR_INIT;
	char path[512];

	if (path_beside(r->x->path, name, path, sizeof path) == 0)
		return arena_strdup(r->a, path);
	if (access(name, R_OK) != 0 && *name != '/' && path_data(name, path, sizeof path, &none) == 0)
		return arena_strdup(r->a, path);
	return name;
}

/* The machine with `set`, if there is one: read alone first, so that what is wrong with the file has its own line. */
static int read_machines(struct ablate_reader *r, const struct ynode *root)
{
	const struct ynode *set = ynode_get(root, "set");
	const char *const *sets;
	struct err why = ERR_INIT;
	size_t n;

	if (!(r->x->machines = machine_base_load(r->config, NULL, 0, &why)))
		return yaml_err(r->y, ynode_get(root, "base"), r->e, "%s", why.msg);
	if (!set)
		return 0;
	if (ablate_sets(r, set, &sets, &n) < 0)
		return -1;
	machine_base_free(r->x->machines);
	r->x->sets = sets;
	r->x->n_sets = n;
	if ((r->x->machines = machine_base_load(r->config, sets, (int)n, &why)))
		return 0;
	return yaml_err(r->y, set, r->e, "%s", why.msg);
}

static int read_base(struct ablate_reader *r, const struct ynode *root)
{
	const struct ynode *set = ynode_get(root, "set");
	struct machine_conf *m;
	struct err why = ERR_INIT;

	if (ablate_need(r, root, "base", "an ablation", &r->x->base) < 0)
		return -1;
	r->config = r->x->base = ablate_find(r, r->x->base);
	if (read_machines(r, root) < 0)
		return -1;
	if (!(m = machine_base_conf(r->x->machines, NULL, 0, &why)))
		return yaml_err(r->y, set ? set : ynode_get(root, "base"), r->e, "%s", why.msg);
	r->base_hash = cfg_hash(m->raw);
	if (machine_runs(&m->cfg) != MACHINE_COMMANDS)
		yaml_err(r->y, ynode_get(root, "base"), r->e, "'%s' is a machine of kind %s: an NPU is ablated",
		         r->config, machine_kind_name((enum machine_kind)m->cfg.kind));
	machine_conf_free(m);
	return r->e->kind ? -1 : 0;
}

static int read_exchange(struct ablate_reader *r, const struct ynode *root)
{
	const struct ynode *n = ynode_get(root, "exchange");
	struct machine_conf *m, *base;
	struct err why = ERR_INIT;
	bool smaller;

	if (!n)
		return 0;
	if (ablate_sets(r, n, &r->x->exchange, &r->x->n_exchange) < 0)
		return -1;
	base = machine_base_conf(r->x->machines, NULL, 0, &why);
	m = base ? machine_base_conf(r->x->machines, r->x->exchange, (int)r->x->n_exchange, &why) : NULL;
	smaller = m && m->cfg.die.area < base->cfg.die.area;
	machine_conf_free(base);
	machine_conf_free(m);
	if (why.kind)
		return yaml_err(r->y, n, r->e, "'exchange' makes a machine that cannot be: %s", why.msg);
	return smaller ? 0
	               : yaml_err(r->y, n, r->e,
	                          "'exchange' gives area back: this takes none, or the base has no die.node");
}

static int ablate_read_root(struct ablate_reader *r)
{
	static const char *const keys[] = { "ablation", "base", "set", "exchange", "start", "workloads", "changes" };
	const struct ynode *root = yaml_root(r->y), *n = ynode_get(root, "ablation");
	const char *start = NULL;
	uint64_t version;

	if (!n)
		return yaml_err(r->y, root, r->e, "this is no ablation: it has no 'ablation: 1'");
	if (yaml_only_keys(r->y, root, keys, COUNT(keys), r->e) < 0 ||
	    yaml_u64(r->y, n, 0, UINT64_MAX, &version, r->e) < 0)
		return -1;
	if (version != 1)
		return yaml_err(r->y, n, r->e, "this build reads ablations of version 1, not %llu",
		                (unsigned long long)version);
	if (ablate_text(r, root, "start", &start) < 0)
		return -1;
	if (start && (run_start_parse(start, &r->x->start, r->e) < 0)) {
		err_clear(r->e);
		return yaml_err(r->y, ynode_get(root, "start"), r->e,
		                "unknown start '%s': it is steady, cold or resident", start);
	}
	return read_base(r, root) < 0 || read_exchange(r, root) < 0 || read_workloads(r, root) < 0
	               ? -1
	               : ablate_changes(r, root);
}

struct ablation *ablate_load(const char *path, struct err *e)
{
	struct ablation *x = calloc(1, sizeof *x);
	struct yaml *y = NULL;
	struct ablate_reader r = { .x = x, .e = e };
	int rc = -1;

	if (!x || !(x->a = r.a = arena_new(0)) || !(x->path = arena_strdup(x->a, path)))
		err_nomem(e, NULL);
	else if ((r.y = y = yaml_load(path, e)))
		rc = ablate_read_root(&r);
	for (size_t i = 0; rc == 0 && i < x->n_workloads; i++)
		if (x->workloads[i].spec.trace &&
		    !(x->workloads[i].spec.trace = ablate_find(&r, x->workloads[i].spec.trace)))
			rc = err_nomem(e, NULL);
	yaml_free(y);
	if (rc == 0)
		return x;
	ablate_free(x);
	return NULL;
}

void ablate_free(struct ablation *x)
{
	if (!x)
		return;
	machine_base_free(x->machines);
	arena_free(x->a);
	free(x);
}

int ablate_choose(struct ablation *x, const char *const *names, int n_names, struct err *e)
{
	const char *known[ABLATE_WORKLOADS], *near;
	size_t kept = 0;
	int to[ABLATE_WORKLOADS];

	for (size_t i = 0; i < x->n_workloads; i++)
		known[i] = x->workloads[i].name;
	for (int k = 0; k < n_names; k++) {
		size_t i = 0;

		while (i < x->n_workloads && strcmp(known[i], names[k]) != 0)
			i++;
		if (i < x->n_workloads)
			continue;
		near = str_nearest(names[k], known, x->n_workloads);
		return err_set(e, ERR_USAGE, "'%s' has no workload '%s'%s%s%s", x->path, names[k],
		               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
	for (size_t i = 0; i < x->n_workloads; i++) {
		bool wanted = n_names == 0;

		for (int k = 0; k < n_names; k++)
			wanted |= strcmp(known[i], names[k]) == 0;
		to[i] = wanted ? (int)kept : -1;
		if (wanted)
			x->workloads[kept++] = x->workloads[i];
	}
	x->n_workloads = kept;
	for (size_t i = 0; i < x->n_changes; i++)
		if (x->changes[i].pays >= 0)
			x->changes[i].pays = to[x->changes[i].pays];
	return 0;
}
