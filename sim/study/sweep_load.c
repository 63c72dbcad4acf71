/* sweep_load.c - the sweep file: what stands where, with every fault at its place. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/machine/machine_shipped.h"
#include "sim/base/inputs.h"
#include "sim/base/path.h"
#include "sim/study/sweep_int.h"

/* --- files ------------------------------------------------------------------------------------------------- */

/* A whole text file in the arena; NULL with `e` set, or without it when `optional` and not there. */
static const char *read_text(const char *path, bool optional, struct arena *a, struct err *e)
{
	struct str text = STR_INIT;
	char part[4096];
	const char *copy = NULL;
	FILE *f = fopen(path, "r");
	size_t n;

	if (!f) {
		if (!optional || errno != ENOENT)
			err_sys(e, ERR_IO, errno, "cannot read '%s'", path);
		return NULL;
	}
	inputs_add(f);
	while ((n = fread(part, 1, sizeof part, f)) > 0 && text.len <= YAML_MAX_BYTES)
		str_addn(&text, part, n);
	if (ferror(f))
		err_sys(e, ERR_IO, errno, "cannot read '%s'", path);
	else if (text.failed || !(copy = arena_strdup(a, str_c(&text))))
		sweep_no_memory(e);
	fclose(f);
	str_free(&text);
	return copy;
}

/* A file a sweep names lies beside the sweep, or where the command is run, or among the data files. */
static const char *find_file(const struct sweep *s, const char *name, struct err *e)
{
	struct err ignored = ERR_INIT;
	char path[1024];
	FILE *f;

	if (name[0] != '/' && path_beside(s->path, name, path, sizeof path) == 0)
		return arena_strdup(s->a, path);
	if (!(f = fopen(name, "r")) && name[0] != '/' && path_data(name, path, sizeof path, &ignored) == 0)
		return arena_strdup(s->a, path);
	if (f)
		fclose(f);
	else
		err_sys(e, ERR_IO, errno, "cannot read '%s'", name);
	return f ? arena_strdup(s->a, name) : NULL;
}

/* --- simple entries ---------------------------------------------------------------------------------------- */

/* NULL in *out when the entry is not there. */
static int text_at(struct sweep *s, const char *key, const char **out, struct err *e)
{
	const struct ynode *n = ynode_get(yaml_root(s->y), key);
	const char *text;

	*out = NULL;
	if (!n)
		return 0;
	if (yaml_str(s->y, n, &text, e) < 0)
		return -1;
	if (!*text)
		return yaml_err(s->y, n, e, "'%s' has no value", key);
	return (*out = arena_strdup(s->a, text)) ? 0 : sweep_no_memory(e);
}

static int one_of(struct sweep *s, const char *key, const char *value, const char *const *names, struct err *e)
{
	struct str list = STR_INIT;

	for (size_t i = 0; names[i]; i++)
		if (strcmp(value, names[i]) == 0)
			return 0;
	for (size_t i = 0; names[i]; i++)
		str_addf(&list, "%s%s", i ? " or " : "", names[i]);
	yaml_err(s->y, ynode_get(yaml_root(s->y), key), e, "unknown %s '%s': it is %s", key, value, str_c(&list));
	str_free(&list);
	return -1;
}

static int read_how(struct sweep *s, struct err *e)
{
	static const char *const starts[] = { "steady", "cold", "resident", NULL }, *const fidelities[] = { "event",
		                                                                                            "analytic",
		                                                                                            NULL };
	const struct ynode *root = yaml_root(s->y), *n;
	struct err why = ERR_INIT;
	const char *reuse;
	uint64_t ppm;

	s->seed = RUN_SEED;
	if (text_at(s, "start", &s->start, e) < 0 || text_at(s, "fidelity", &s->fidelity, e) < 0 ||
	    text_at(s, "expert_reuse", &reuse, e) < 0)
		return -1;
	if (!s->start)
		s->start = "steady";
	if (!s->fidelity)
		s->fidelity = "event";
	if (one_of(s, "start", s->start, starts, e) < 0 || one_of(s, "fidelity", s->fidelity, fidelities, e) < 0)
		return -1;
	if ((n = ynode_get(root, "seed")) && yaml_u64(s->y, n, 0, INT64_MAX, &s->seed, e) < 0)
		return -1;
	if (!reuse)
		return 0;
	if (cfg_parse_value(CFG_T_PPM, reuse, &ppm, &why) < 0 || ppm > 1000000)
		return yaml_err(s->y, ynode_get(root, "expert_reuse"), e,
		                "'expert_reuse' is a probability, between 0 and 1");
	s->reuse_given = true;
	s->reuse_ppm = (uint32_t)ppm;
	return 0;
}

static int read_sample(struct sweep *s, struct err *e)
{
	static const char *const keys[] = { "kind", "n", "seed", "generation" };
	const struct ynode *n = ynode_get(yaml_root(s->y), "sample"), *kind = n, *count = NULL, *seed = NULL,
			   *each = NULL;
	const char *text;
	uint64_t generation = 0;

	s->sample_seed = 1;
	if (!n)
		return 0;
	if (n->kind == YNODE_MAP) {
		if (yaml_only_keys(s->y, n, keys, sizeof keys / sizeof *keys, e) < 0)
			return -1;
		if (!(kind = ynode_get(n, "kind")))
			return yaml_err(s->y, n, e, "'sample' has no 'kind': grid, random, lhs or guided");
		count = ynode_get(n, "n");
		seed = ynode_get(n, "seed");
		each = ynode_get(n, "generation");
	}
	if (yaml_str(s->y, kind, &text, e) < 0)
		return -1;
	if (strcmp(text, "grid") == 0)
		s->sample = SWEEP_GRID;
	else if (strcmp(text, "random") == 0)
		s->sample = SWEEP_RANDOM;
	else if (strcmp(text, "lhs") == 0)
		s->sample = SWEEP_LHS;
	else if (strcmp(text, "guided") == 0)
		s->sample = SWEEP_GUIDED;
	else
		return yaml_err(s->y, kind, e, "unknown sample '%s': it is grid, random, lhs or guided", text);
	if (each && s->sample != SWEEP_GUIDED)
		return yaml_err(s->y, each, e, "only a guided sample has a 'generation'");
	if (s->sample == SWEEP_GRID)
		return count || seed ? yaml_err(s->y, n, e, "a grid has all its points: no 'n' or 'seed'") : 0;
	if (!count)
		return yaml_err(s->y, kind, e, "'%s' needs a number of points: write {kind: %s, n: 100}", text, text);
	if (yaml_u64(s->y, count, 1, UINT32_MAX, &s->sample_n, e) < 0 ||
	    (each && yaml_u64(s->y, each, SWEEP_GENERATION_LEAST, SWEEP_GENERATION_MOST, &generation, e) < 0))
		return -1;
	s->generation = (size_t)generation;
	return seed ? yaml_u64(s->y, seed, 0, UINT64_MAX, &s->sample_seed, e) : 0;
}

/* --- axes -------------------------------------------------------------------------------------------------- */

static struct sweep_axis *axis_named(struct sweep *s, const char *key)
{
	for (size_t i = 0; i < s->n_axes; i++)
		if (strcmp(s->axes[i].key, key) == 0)
			return &s->axes[i];
	return NULL;
}

static int link_axes(struct sweep *s, const struct ynode *group, struct err *e)
{
	struct sweep_axis *first = NULL;

	if (group->kind != YNODE_SEQ || group->n < 2)
		return yaml_err(s->y, group, e, "'link' takes lists of at least two axes: [[l2.size, l2.banks]]");
	for (size_t i = 0; i < group->n; i++) {
		const char *key;
		struct sweep_axis *x;

		if (yaml_str(s->y, group->vals[i], &key, e) < 0)
			return -1;
		if (!(x = axis_named(s, key))) {
			const char *names[64];
			size_t n = s->n_axes < 64 ? s->n_axes : 64;

			for (size_t k = 0; k < n; k++)
				names[k] = s->axes[k].key;
			key = str_nearest(group->vals[i]->text, names, n);
			return yaml_err(s->y, group->vals[i], e, "'%s' is no axis%s%s%s", group->vals[i]->text,
			                key ? "; did you mean '" : "", key ? key : "", key ? "'?" : "");
		}
		if (!first) {
			first = x;
		} else if (x->dim != (size_t)(x - s->axes)) {
			return yaml_err(s->y, group->vals[i], e, "axis '%s' is linked twice", key);
		} else if (x->continuous != first->continuous || (!x->continuous && x->n != first->n)) {
			return yaml_err(s->y, group->vals[i], e,
			                "linked axes have as many values: '%s' has %zu and '%s' has %zu", first->key,
			                first->n, x->key, x->n);
		} else {
			x->dim = first->dim;
		}
	}
	return 0;
}

static int read_links(struct sweep *s, struct err *e)
{
	const struct ynode *n = ynode_get(yaml_root(s->y), "link");
	size_t dims = 0;

	for (size_t i = 0; i < s->n_axes; i++)
		s->axes[i].dim = i;
	if (n && n->kind != YNODE_SEQ)
		return yaml_err(s->y, n, e, "'link' takes lists of at least two axes: [[l2.size, l2.banks]]");
	/* One list alone may stand without its outer brackets. */
	if (n && n->n && n->vals[0]->kind == YNODE_SCALAR) {
		if (link_axes(s, n, e) < 0)
			return -1;
	} else {
		for (size_t i = 0; n && i < n->n; i++)
			if (link_axes(s, n->vals[i], e) < 0)
				return -1;
	}
	/* Dimensions are numbered without gaps, in the order of their first axis. */
	for (size_t i = 0; i < s->n_axes; i++)
		s->axes[i].dim = s->axes[i].dim == i ? dims++ : s->axes[s->axes[i].dim].dim;
	s->n_dims = dims;
	return 0;
}

static int read_axes(struct sweep *s, struct err *e)
{
	const struct ynode *n = ynode_get(yaml_root(s->y), "axes");

	if (!n)
		return yaml_err(s->y, yaml_root(s->y), e, "a sweep has 'axes': {l2.size: [64 MiB, 128 MiB]}");
	if (n->kind != YNODE_MAP || n->n == 0)
		return yaml_err(s->y, n, e, "'axes' is empty: write {l2.size: [64 MiB, 128 MiB]}");
	if (!(s->axes = arena_array(s->a, n->n, sizeof *s->axes)))
		return sweep_no_memory(e);
	for (size_t i = 0; i < n->n; i++) {
		if (sweep_axis_read(s, n->keys[i], n->vals[i], &s->axes[i], e) < 0)
			return -1;
		s->n_axes++;
	}
	if (read_links(s, e) < 0)
		return -1;
	for (size_t i = 0; i < s->n_axes && s->sample == SWEEP_GRID; i++)
		if (s->axes[i].continuous)
			return yaml_err(s->y, s->axes[i].at, e,
			                "the range of axis '%s' has no 'steps', which a grid needs", s->axes[i].key);
	return 0;
}

/* --- the whole --------------------------------------------------------------------------------------------- */

static int sweep_load_read_root(struct sweep *s, struct err *e)
{
	static const char *const keys[] = { "sweep",    "base",       "trace",       "workload", "range",
		                            "rules",    "workloads",  "start",       "seed",     "expert_reuse",
		                            "fidelity", "axes",       "link",        "where",    "sample",
		                            "columns",  "objectives", "constraints", "rewrite",  "serve" };
	const struct ynode *root = yaml_root(s->y), *n;
	uint64_t version;

	if (!(n = ynode_get(root, "sweep")))
		return yaml_err(s->y, root, e, "this is no sweep file: it has no 'sweep: 1'");
	if (yaml_only_keys(s->y, root, keys, sizeof keys / sizeof *keys, e) < 0)
		return -1;
	if (yaml_u64(s->y, n, 0, UINT64_MAX, &version, e) < 0)
		return -1;
	if (version != 1)
		return yaml_err(s->y, n, e, "this build reads sweep files of version 1, not %llu",
		                (unsigned long long)version);
	if (text_at(s, "base", &s->base, e) < 0 || text_at(s, "trace", &s->workload.trace, e) < 0 ||
	    text_at(s, "range", &s->workload.range, e) < 0 || text_at(s, "rules", &s->workload.rules, e) < 0 ||
	    text_at(s, "rewrite", &s->workload.rewrite, e) < 0 || sweep_workload_read(s, e) < 0)
		return -1;
	return s->base ? 0 : yaml_err(s->y, root, e, "the machine is missing: 'base: CONFIG.yaml'");
}

static int read_rest(struct sweep *s, struct err *e)
{
	return read_how(s, e) < 0 || read_sample(s, e) < 0 || read_axes(s, e) < 0 ||
	                       sweep_workload_check(s, &s->workload, e) < 0 || sweep_read_where(s, e) < 0
	               ? -1
	               : 0;
}

/* The machine's file, or that of one that comes with npusim by its name. */
static const char *find_base(const struct sweep *s, struct err *e)
{
	char found[1024];
	const char *path;

	if (machine_shipped(s->base, found, sizeof found))
		return arena_strdup(s->a, found);
	if (!(path = find_file(s, s->base, e)) && machine_shipped_near(&path_source, s->base, found, sizeof found)) {
		err_clear(e);
		err_set(e, ERR_IO, "there is no machine '%s'; did you mean '%s'?", s->base, found);
	}
	return path;
}

/* The list of its traffic, and what all of that is. */
static int read_traffic(struct sweep *s, struct err *e)
{
	struct serve_ask *ask = &s->serve->ask;

	if (ask->requests && !(ask->requests = find_file(s, ask->requests, e)))
		return -1;
	return serve_options_hash(s->serve, &s->serve_hash, e);
}

/* Files that the sweep names: what is missing is said at its place. */
static int read_files(struct sweep *s, struct err *e)
{
	const struct ynode *root = yaml_root(s->y);
	struct err why = ERR_INIT;
	const char *path;

	if (!s->base_text && (!(path = find_base(s, &why)) || !(s->base_text = read_text(path, false, s->a, &why))))
		return yaml_err(s->y, ynode_get(root, "base"), e, "%s", why.msg);
	if (s->workload.trace && (path = find_file(s, s->workload.trace, &why)))
		s->workload.trace = path;
	if (s->serve && read_traffic(s, &why) < 0)
		return yaml_err(s->y, ynode_get(root, "serve"), e, "%s", why.msg);
	for (size_t i = 0; i < s->mix.n; i++)
		if (s->mix.v[i].spec.trace && (path = find_file(s, s->mix.v[i].spec.trace, &why)))
			s->mix.v[i].spec.trace = path;
	return 0; /* a trace that is not there may be given by the command line */
}

/* The base says which kind of machine it is, and so which keys there are. */
static int read_schema(struct sweep *s, struct err *e)
{
	struct yaml *y = yaml_parse(s->base_text, strlen(s->base_text), s->base, e);
	enum machine_kind kind;

	if (!y)
		return -1;
	kind = machine_kind_of(y);
	s->schema = machine_schema(&s->schema_target, kind, e);
	s->schema_target.kind = kind; /* a schema has its defaults only */
	yaml_free(y);
	return s->schema && (s->machines = machine_base_new(s->base_text, strlen(s->base_text), s->base, e)) ? 0 : -1;
}

static struct sweep *sweep_load_make(const char *text, const char *path, const char *base_text, struct err *e)
{
	struct sweep *s = calloc(1, sizeof *s);

	if (!s || !(s->a = arena_new(0)) || !(s->text = arena_strdup(s->a, text)) ||
	    !(s->path = arena_strdup(s->a, path))) {
		sweep_no_memory(e);
		goto fail;
	}
	s->base_text = base_text ? arena_strdup(s->a, base_text) : NULL;
	if (!(s->y = yaml_parse(s->text, strlen(s->text), s->path, e)) || sweep_load_read_root(s, e) < 0 ||
	    read_files(s, e) < 0 || read_schema(s, e) < 0 || !(s->exprs = exprs_new(e)) || read_rest(s, e) < 0)
		goto fail;
	return s;
fail:
	sweep_free(s);
	return NULL;
}

struct sweep *sweep_load(const char *path, struct err *e)
{
	struct arena *a = arena_new(0);
	struct sweep *s = NULL;
	const char *text;

	if (!a)
		sweep_no_memory(e);
	else if ((text = read_text(path, false, a, e)))
		s = sweep_load_make(text, path, NULL, e);
	arena_free(a);
	return s;
}

struct sweep *sweep_parse(const char *text, const char *name, const char *base_text, struct err *e)
{
	return sweep_load_make(text, name, base_text, e);
}

void sweep_free(struct sweep *s)
{
	if (!s)
		return;
	sweep_maker_free(s->maker);
	exprs_free(s->exprs);
	if (s->serve)
		cfg_free(s->serve->engine_rows);
	yaml_free(s->y);
	cfg_free(s->model);
	cfg_free(s->schema);
	machine_base_free(s->machines);
	arena_free(s->a);
	free(s);
}
