/* ablate.c - a file of named changes, read and held against what the machine has. */
#include "sim/study/ablate.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/path.h"
#include "sim/base/str.h"
#include "sim/base/yaml.h"

struct reader {
	const struct yaml *y;
	struct ablation *x;
	struct arena *a;
	const char *config; /* the base's full path */
	uint64_t base_hash;
	struct err *e;
};

#define COUNT(v) (sizeof(v) / sizeof *(v))

/* --- texts and numbers --------------------------------------------------------------------------------------------- */

static int text_in(struct reader *r, const struct ynode *map, const char *key, const char **out)
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

static int ablate_need(struct reader *r, const struct ynode *map, const char *key, const char *what, const char **out)
{
	if (text_in(r, map, key, out) < 0)
		return -1;
	return *out ? 0 : yaml_err(r->y, map, r->e, "%s has no '%s'", what, key);
}

/* --- assignments --------------------------------------------------------------------------------------------------- */

/* A mapping of keys to values as a list of KEY=VALUE; each is tried alone first, so that a fault has its line. */
static int sets_in(struct reader *r, const struct ynode *n, const char *const **out, size_t *n_out)
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

/* --- workloads ----------------------------------------------------------------------------------------------------- */

static int read_workload(struct reader *r, const struct ynode *n, struct ablate_workload *w)
{
	static const char *const ours[] = { "name", "only", "weight", NULL };
	const struct ynode *only = ynode_get(n, "only"), *weight = ynode_get(n, "weight");

	if (n->kind != YNODE_MAP)
		return yaml_err(r->y, n, r->e, "a workload is a mapping: {name: NAME, model: MODEL}");
	if (ablate_need(r, n, "name", "a workload", &w->name) < 0 ||
	    workload_yaml(r->y, n, WORKLOAD_ABLATE_FILE, ours, r->a, &w->spec, r->e) < 0 ||
	    (only && yaml_bool(r->y, only, &w->only, r->e) < 0) ||
	    (weight && yaml_real(r->y, weight, &w->weight, r->e) < 0))
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

static int read_workloads(struct reader *r, const struct ynode *root)
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

/* --- changes ------------------------------------------------------------------------------------------------------- */

static const char *const change_keys[] = { "name",      "says",    "set",   "not_modelled",
	                                   "mechanism", "expects", "apart", "pays" };

/* That it changes the base, and that the machine can be. */
static int check_change(struct reader *r, const struct ynode *at, const struct ablate_change *c)
{
	struct err why = ERR_INIT;
	struct machine_conf *m = machine_base_conf(r->x->machines, c->sets, (int)c->n_sets, &why);
	const bool same = m && cfg_hash(m->raw) == r->base_hash;

	machine_conf_free(m);
	if (!m)
		return yaml_err(r->y, at, r->e, "'%s' makes a machine that cannot be: %s", c->name, why.msg);
	return same ? yaml_err(r->y, at, r->e, "'%s' changes nothing: the base has %s already", c->name, c->sets[0])
	            : 0;
}

static int read_pays(struct reader *r, const struct ynode *n, struct ablate_change *c)
{
	const char *names[ABLATE_WORKLOADS], *near, *s;

	c->pays = -1;
	if (!n)
		return 0;
	if (yaml_str(r->y, n, &s, r->e) < 0)
		return -1;
	for (size_t i = 0; i < r->x->n_workloads; i++) {
		names[i] = r->x->workloads[i].name;
		if (strcmp(names[i], s) == 0)
			c->pays = (int)i;
	}
	if (c->pays >= 0)
		return 0;
	near = str_nearest(s, names, r->x->n_workloads);
	return yaml_err(r->y, n, r->e, "'%s' is no workload of this file%s%s%s", s, near ? "; did you mean '" : "",
	                near ? near : "", near ? "'?" : "");
}

static int read_expects(struct reader *r, const struct ynode *n, struct ablate_change *c)
{
	const char *s;

	if (!n)
		return 0;
	if (yaml_str(r->y, n, &s, r->e) < 0)
		return -1;
	for (int i = ABLATE_FASTER; i <= ABLATE_LESS_ENERGY; i++)
		if (strcmp(s, ablate_expects_name((enum ablate_expects)i)) == 0) {
			c->expects = (enum ablate_expects)i;
			return 0;
		}
	return yaml_err(r->y, n, r->e, "'%s' is not expected of a change: faster, no slower or less energy", s);
}

static int read_change(struct reader *r, const struct ynode *n, struct ablate_change *c)
{
	const struct ynode *set = ynode_get(n, "set"), *apart = ynode_get(n, "apart");

	if (n->kind != YNODE_MAP)
		return yaml_err(r->y, n, r->e, "a change is a mapping: {name: NAME, set: {l2.size: 64 MiB}}");
	if (yaml_only_keys(r->y, n, change_keys, COUNT(change_keys), r->e) < 0 ||
	    ablate_need(r, n, "name", "a change", &c->name) < 0 || text_in(r, n, "says", &c->diags) < 0 ||
	    text_in(r, n, "not_modelled", &c->not_modelled) < 0 || text_in(r, n, "mechanism", &c->mechanism) < 0 ||
	    read_expects(r, ynode_get(n, "expects"), c) < 0 || read_pays(r, ynode_get(n, "pays"), c) < 0 ||
	    (apart && yaml_bool(r->y, apart, &c->apart, r->e) < 0))
		return -1;
	for (const struct ablate_change *o = r->x->changes; o < c; o++)
		if (strcmp(o->name, c->name) == 0)
			return yaml_err(r->y, n, r->e, "two changes are called '%s'", c->name);
	if (!set == !c->not_modelled)
		return yaml_err(r->y, n, r->e, "change '%s' has %s 'not_modelled': it has one of them", c->name,
		                set ? "both 'set' and" : "neither 'set' nor");
	if (!set)
		return 0;
	r->x->n_run++;
	return sets_in(r, set, &c->sets, &c->n_sets) < 0 ? -1 : check_change(r, set, c);
}

static int read_changes(struct reader *r, const struct ynode *root)
{
	const struct ynode *n = ynode_get(root, "changes");

	if (!n)
		return yaml_err(r->y, root, r->e,
		                "an ablation has 'changes', a list: [{name: more L2, set: {l2.size: 64 MiB}}]");
	if (n->kind != YNODE_SEQ || !n->n)
		return yaml_err(r->y, n, r->e, "'changes' is empty: write [{name: more L2, set: {l2.size: 64 MiB}}]");
	if (n->n > ABLATE_CHANGES)
		return yaml_err(r->y, n, r->e, "more than %d changes", ABLATE_CHANGES);
	if (!(r->x->changes = arena_array(r->a, n->n, sizeof *r->x->changes)))
		return err_nomem(r->e, NULL);
	for (size_t i = 0; i < n->n; i++) {
		if (read_change(r, n->vals[i], &r->x->changes[i]) < 0)
			return -1;
		r->x->n_changes++;
	}
	return r->x->n_run ? 0 : yaml_err(r->y, n, r->e, "no change of the list has a 'set': there is nothing to run");
}

/* --- the whole ----------------------------------------------------------------------------------------------------- */

/* A file the ablation names: beside it, as it is, or where the data are. */
static const char *ablate_find(struct reader *r, const char *name)
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
static int read_machines(struct reader *r, const struct ynode *root)
{
	const struct ynode *set = ynode_get(root, "set");
	const char *const *sets;
	struct err why = ERR_INIT;
	size_t n;

	if (!(r->x->machines = machine_base_load(r->config, NULL, 0, &why)))
		return yaml_err(r->y, ynode_get(root, "base"), r->e, "%s", why.msg);
	if (!set)
		return 0;
	if (sets_in(r, set, &sets, &n) < 0)
		return -1;
	machine_base_free(r->x->machines);
	r->x->sets = sets;
	r->x->n_sets = n;
	if ((r->x->machines = machine_base_load(r->config, sets, (int)n, &why)))
		return 0;
	return yaml_err(r->y, set, r->e, "%s", why.msg);
}

static int read_base(struct reader *r, const struct ynode *root)
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

static int ablate_read_root(struct reader *r)
{
	static const char *const keys[] = { "ablation", "base", "set", "start", "workloads", "changes" };
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
	if (text_in(r, root, "start", &start) < 0)
		return -1;
	if (start && (run_start_parse(start, &r->x->start, r->e) < 0 || r->x->start == RUN_RESIDENT)) {
		err_clear(r->e);
		return yaml_err(r->y, ynode_get(root, "start"), r->e, "unknown start '%s': it is steady or cold",
		                start);
	}
	return read_base(r, root) < 0 || read_workloads(r, root) < 0 ? -1 : read_changes(r, root);
}

struct ablation *ablate_load(const char *path, struct err *e)
{
	struct ablation *x = calloc(1, sizeof *x);
	struct yaml *y = NULL;
	struct reader r = { .x = x, .e = e };
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
