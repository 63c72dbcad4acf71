/* ablate_changes.c - the changes of an ablation: what each sets, what it is measured from, what it is a part of. */
#include <string.h>

#include "sim/base/str.h"
#include "sim/study/ablate_int.h"

#define COUNT(v) (sizeof(v) / sizeof *(v))

static const char *const change_keys[] = { "name",    "says",  "set",  "not_modelled", "parts",  "of",  "mechanism",
	                                   "expects", "apart", "pays", "suites",       "versus", "over" };

/* --- one by one ---------------------------------------------------------------------------------------------------- */

static int read_pays(struct ablate_reader *r, const struct ynode *n, struct ablate_change *c)
{
	const char *names[ABLATE_WORKLOADS], *s;

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
	return c->pays < 0 ? ablate_unknown(r, n, s, "workload", names, r->x->n_workloads) : 0;
}

static int read_expects(struct ablate_reader *r, const struct ynode *n, struct ablate_change *c)
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

/* All suites that some workload of is not for named changes alone; or those that are named. */
static int read_suites(struct ablate_reader *r, const struct ynode *n, struct ablate_change *c)
{
	for (size_t i = 0; !n && i < r->x->n_workloads; i++)
		if (!r->x->workloads[i].only && r->x->workloads[i].suite >= 0)
			c->suites |= UINT32_C(1) << r->x->workloads[i].suite;
	if (!n)
		return 0;
	if (n->kind != YNODE_SEQ || !n->n)
		return yaml_err(r->y, n, r->e, "'suites' is a list of names that workloads have as their 'suite'");
	for (size_t i = 0; i < n->n; i++) {
		const char *s;
		size_t k = 0;

		if (yaml_str(r->y, n->vals[i], &s, r->e) < 0)
			return -1;
		while (k < r->x->n_suites && strcmp(r->x->suites[k], s) != 0)
			k++;
		if (k == r->x->n_suites)
			return ablate_unknown(r, n->vals[i], s, "suite", r->x->suites, r->x->n_suites);
		c->suites |= UINT32_C(1) << k;
	}
	return 0;
}

static int read_flag(struct ablate_reader *r, const struct ynode *map, const char *key, bool *out)
{
	const struct ynode *n = ynode_get(map, key);

	return n ? yaml_bool(r->y, n, out, r->e) : 0;
}

static int read_change(struct ablate_reader *r, const struct ynode *n, struct ablate_change *c)
{
	const struct ynode *set = ynode_get(n, "set");

	if (n->kind != YNODE_MAP)
		return yaml_err(r->y, n, r->e, "a change is a mapping: {name: NAME, set: {l2.size: 64 MiB}}");
	c->ref = -1;
	if (yaml_only_keys(r->y, n, change_keys, COUNT(change_keys), r->e) < 0 ||
	    ablate_need(r, n, "name", "a change", &c->name) < 0 || ablate_text(r, n, "says", &c->says) < 0 ||
	    ablate_text(r, n, "not_modelled", &c->not_modelled) < 0 ||
	    ablate_text(r, n, "mechanism", &c->mechanism) < 0 || ablate_text(r, n, "of", &c->of) < 0 ||
	    read_expects(r, ynode_get(n, "expects"), c) < 0 || read_pays(r, ynode_get(n, "pays"), c) < 0 ||
	    read_suites(r, ynode_get(n, "suites"), c) < 0 || read_flag(r, n, "apart", &c->apart) < 0 ||
	    read_flag(r, n, "parts", &c->parts) < 0)
		return -1;
	for (const struct ablate_change *o = r->x->changes; o < c; o++)
		if (strcmp(o->name, c->name) == 0)
			return yaml_err(r->y, n, r->e, "two changes are called '%s'", c->name);
	c->apart |= c->parts;
	if (!!set + !!c->not_modelled + c->parts != 1)
		return yaml_err(r->y, n, r->e,
		                "change '%s' has %s: it has one of 'set', 'not_modelled' and 'parts: true'", c->name,
		                set || c->not_modelled ? "several of them" : "none of them");
	r->x->n_run += !c->not_modelled;
	return set ? ablate_sets(r, set, &c->sets, &c->n_sets) : 0;
}

/* --- beside each other --------------------------------------------------------------------------------------------- */

/* The change of that name, as a number; -1: none, as is said. */
static int named(struct ablate_reader *r, const struct ynode *n, const char *name)
{
	const char *names[ABLATE_CHANGES];

	for (size_t i = 0; i < r->x->n_changes; i++) {
		names[i] = r->x->changes[i].name;
		if (strcmp(names[i], name) == 0)
			return (int)i;
	}
	return ablate_unknown(r, n, name, "change", names, r->x->n_changes);
}

static int link_ref(struct ablate_reader *r, const struct ynode *n, struct ablate_change *c)
{
	const struct ynode *over = ynode_get(n, "over"), *versus = ynode_get(n, "versus"), *at = over ? over : versus;
	const struct ablate_change *ref;
	const char *name;

	if (!at)
		return 0;
	if (over && versus)
		return yaml_err(r->y, n, r->e,
		                "change '%s' has both 'over' and 'versus': it is measured from one machine", c->name);
	if (yaml_str(r->y, at, &name, r->e) < 0 || (c->ref = named(r, at, name)) < 0)
		return -1;
	c->over = over;
	ref = &r->x->changes[c->ref];
	if (ref->not_modelled || ref->parts || ref->ref >= 0 || ref == c)
		return yaml_err(r->y, at, r->e, "'%s' is no change by a 'set' of its own to the base", name);
	return c->suites & ~ref->suites
	               ? yaml_err(r->y, at, r->e, "'%s' is of suites that '%s' is not run on", c->name, name)
	               : 0;
}

/* All of its parts' sets, in their order. */
static int link_parts(struct ablate_reader *r, const struct ynode *n, struct ablate_change *c)
{
	const struct ablate_change *all = r->x->changes;
	const char **sets;
	size_t k = 0;

	for (size_t i = 0; i < r->x->n_changes; i++)
		c->n_sets += all[i].of && strcmp(all[i].of, c->name) == 0 ? all[i].n_sets : 0;
	if (!c->n_sets)
		return yaml_err(r->y, n, r->e, "'%s' has no parts: no change with a 'set' says 'of: %s'", c->name,
		                c->name);
	if (!(c->sets = sets = arena_array(r->a, c->n_sets, sizeof *sets)))
		return err_nomem(r->e, NULL);
	for (size_t i = 0; i < r->x->n_changes; i++)
		for (size_t s = 0; all[i].of && strcmp(all[i].of, c->name) == 0 && s < all[i].n_sets; s++)
			sets[k++] = all[i].sets[s];
	return 0;
}

const char *const *ablate_change_sets(const struct ablation *x, const struct ablate_change *c, struct arena *a,
                                      size_t *n)
{
	const struct ablate_change *ref = c->over ? &x->changes[c->ref] : NULL;
	const char **sets = arena_array(a, c->n_sets + (ref ? ref->n_sets : 0) + 1, sizeof *sets);

	*n = 0;
	for (size_t i = 0; sets && ref && i < ref->n_sets; i++)
		sets[(*n)++] = ref->sets[i];
	for (size_t i = 0; sets && i < c->n_sets; i++)
		sets[(*n)++] = c->sets[i];
	return sets;
}

/* The hash of the machine with these; 0: it cannot be. */
static uint64_t hash_of(struct ablate_reader *r, const char *const *sets, size_t n, struct err *e)
{
	struct machine_conf *m = machine_base_conf(r->x->machines, sets, (int)n, e);
	const uint64_t hash = m ? cfg_hash(m->raw) : 0;

	machine_conf_free(m);
	return hash;
}

/* That it changes what it is made to, and that the machine can be. */
static int check_change(struct ablate_reader *r, const struct ynode *at, const struct ablate_change *c)
{
	const struct ablate_change *ref = c->over ? &r->x->changes[c->ref] : NULL;
	struct err why = ERR_INIT;
	size_t n;
	const char *const *sets = ablate_change_sets(r->x, c, r->a, &n);
	const uint64_t hash = sets ? hash_of(r, sets, n, &why) : 0;
	const uint64_t from = ref ? hash_of(r, ref->sets, ref->n_sets, &why) : r->base_hash;

	if (!sets)
		return err_nomem(r->e, NULL);
	if (why.kind)
		return yaml_err(r->y, at, r->e, "'%s' makes a machine that cannot be: %s", c->name, why.msg);
	return hash == from ? yaml_err(r->y, at, r->e, "'%s' changes nothing: %s has %s already", c->name,
	                               ref ? ref->name : "the base", c->sets[0])
	                    : 0;
}

static int link_change(struct ablate_reader *r, const struct ynode *n, struct ablate_change *c)
{
	const struct ynode *set = ynode_get(n, "set"), *of = ynode_get(n, "of");
	const int whole = of ? named(r, of, c->of) : -1;

	if (of && (whole < 0 || !r->x->changes[whole].parts))
		return r->e->kind ? -1 : yaml_err(r->y, of, r->e, "'%s' has no 'parts: true'", c->of);
	if (c->not_modelled)
		return 0;
	if ((c->parts && link_parts(r, n, c) < 0) || link_ref(r, n, c) < 0)
		return -1;
	return check_change(r, set ? set : n, c);
}

int ablate_changes(struct ablate_reader *r, const struct ynode *root)
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
	for (size_t i = 0; i < n->n; i++)
		if (link_change(r, n->vals[i], &r->x->changes[i]) < 0)
			return -1;
	return r->x->n_run ? 0 : yaml_err(r->y, n, r->e, "no change of the list has a 'set': there is nothing to run");
}
