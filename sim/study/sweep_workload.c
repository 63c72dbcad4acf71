/* sweep_workload.c - a sweep's workload: what its file says of it, and its parameters, which are axes as a machine's are. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/study/sweep_int.h"

/* Of each row that may be an axis, a value: a text or a number. */
struct sweep_values {
	union {
		cfg_text text;
		uint64_t count;
	} v[WORKLOAD_KEYS];
};

/* The rows as a configuration's, so that their values are read, checked and written as a machine's are. */
struct cfg *sweep_workload_cfg(struct arena *a, struct err *e)
{
	struct cfg_field *rows = arena_array(a, WORKLOAD_KEYS + 1, sizeof *rows), *f = rows;
	struct cfg_section *sections = arena_array(a, 2, sizeof *sections);
	struct sweep_values *target = arena_alloc(a, sizeof *target);

	if (!rows || !sections || !target) {
		sweep_no_memory(e);
		return NULL;
	}
	for (int k = 0; k < WORKLOAD_KEYS; k++) {
		const struct workload_row *r = &workload_rows[k];
		const bool count = r->type == WORKLOAD_COUNT;

		if (r->axis)
			*f++ = (struct cfg_field){ .key = r->axis,
				                   .type = count ? CFG_T_U64 : CFG_T_STR,
				                   .offset = (size_t)k * sizeof target->v[0],
				                   .def = r->axis_base,
				                   .min = strcmp(r->axis_base, "0") != 0,
				                   .max = r->most,
				                   .help = r->help,
				                   .source = "our choice: what most ask for" };
	}
	*f = (struct cfg_field){ .type = CFG_T_END };
	sections[0] = (struct cfg_section){ SWEEP_MODEL, rows, 0 };
	sections[1] = (struct cfg_section){ NULL, NULL, 0 };
	return cfg_new(sections, target, e);
}

bool sweep_of_model(const char *key)
{
	return strncmp(key, SWEEP_MODEL ".", sizeof SWEEP_MODEL) == 0;
}

/* "model.batch", or "model.batch=16". */
static enum workload_key sweep_workload_key_of(const char *key)
{
	const char *name = key + sizeof SWEEP_MODEL;
	const size_t n = strcspn(name, "=");
	int k = 0;

	while (k < WORKLOAD_KEYS - 1 && !(workload_rows[k].axis && strlen(workload_rows[k].axis) == n &&
	                                  memcmp(workload_rows[k].axis, name, n) == 0))
		k++;
	return (enum workload_key)k;
}

static void sweep_workload_put(struct workload_spec *to, enum workload_key k, const char *value)
{
	if (workload_rows[k].type == WORKLOAD_COUNT)
		*(uint64_t *)workload_place(to, k) = strtoull(value, NULL, 10);
	else
		*(const char **)workload_place(to, k) = *value ? value : NULL;
}

/* What `workload:` gives, before axes change anything. */
static int own_values(struct sweep *s, struct err *e)
{
	for (size_t i = 0; i < cfg_count(s->model); i++) {
		const struct cfg_row r = cfg_at(s->model, i);
		struct str text = STR_INIT;
		const char *copy;

		if (!r.given)
			continue;
		cfg_value(s->model, i, &text);
		copy = text.failed ? NULL : arena_strdup(s->a, str_c(&text));
		str_free(&text);
		if (!copy)
			return sweep_no_memory(e);
		sweep_workload_put(&s->workload, sweep_workload_key_of(r.key), copy);
	}
	return 0;
}

/* What of rewriting stands in the file, beside axes; NULL: nothing. */
static const struct ynode *rewrite_at(const struct sweep *s)
{
	const struct ynode *n = ynode_get(yaml_root(s->y), "rewrite");

	return n ? n : ynode_get(ynode_get(yaml_root(s->y), "workload"), "rewrite");
}

/* Several in place of one. */
static int read_mix(struct sweep *s, struct err *e)
{
	static const char *const alone[] = { "trace", "workload", "range", "rules", "rewrite" };
	const struct ynode *root = yaml_root(s->y), *list = ynode_get(root, "workloads"), *other;

	if (!list)
		return 0;
	for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
		if ((other = ynode_get(root, alone[i])))
			return yaml_err(s->y, other, e,
			                "'%s' is of one workload, and 'workloads' are several: say it in the list",
			                alone[i]);
	return mix_read(s->y, list, s->a, &s->mix, e);
}

/* Traffic in place of a step. */
static int read_serve(struct sweep *s, struct err *e)
{
	const struct ynode *map = ynode_get(yaml_root(s->y), "serve");
	struct str text = STR_INIT;
	struct err why = ERR_INIT;

	if (!map)
		return 0;
	if (s->mix.n || !s->workload.model)
		return yaml_err(s->y, map, e, "requests are served by one model: 'workload: {name: llama-3.2-1b}'");
	s->traffic = true;
	if (s->base_text) /* stored, and read for its expressions: its list may be gone */
		return 0;
	if (!(s->serve = arena_alloc(s->a, sizeof *s->serve)))
		return sweep_no_memory(e);
	*s->serve = (struct serve_opts)SERVE_OPTS_INIT;
	s->serve->ask.workload = s->workload;
	if (serve_options_read(s->y, map, s->a, s->serve, e) < 0)
		return -1;
	serve_options_text(s->serve, &text);
	s->serve_text = arena_strdup(s->a, str_c(&text));
	str_free(&text);
	if (!s->serve_text)
		return sweep_no_memory(e);
	return serve_options(s->serve, &why) < 0 ? yaml_err(s->y, map, e, "%s", why.msg) : 0;
}

static enum workload_asker asker(const struct sweep *s)
{
	return s->traffic ? WORKLOAD_SERVE : WORKLOAD_SWEEP_FILE;
}

int sweep_workload_read(struct sweep *s, struct err *e)
{
	const struct ynode *root = yaml_root(s->y), *map = ynode_get(root, "workload");
	const char *names = s->workload.rewrite;
	struct err why = ERR_INIT;

	if (!(s->model = sweep_workload_cfg(s->a, e)) || read_mix(s, e) < 0)
		return -1;
	if (s->mix.n)
		return read_serve(s, e);
	if (map && map->kind != YNODE_MAP)
		return yaml_err(s->y, map, e, "a workload is a model: {name: llama-3.1-8b, batch: 16, context: 8192}");
	if (map && cfg_read_section(s->model, SWEEP_MODEL, s->y, map, false, e) < 0)
		return -1;
	if (own_values(s, e) < 0)
		return -1;
	if (s->workload.trace && s->workload.model)
		return yaml_err(s->y, map, e, "'trace' and 'workload' are two workloads: give one");
	if (names && s->workload.rewrite != names)
		return yaml_err(s->y, ynode_get(root, "rewrite"), e,
		                "'rewrite' stands twice: here and in the workload");
	for (int k = 0; k < WORKLOAD_KEYS; k++) {
		const struct workload_row *r = &workload_rows[k];
		const struct ynode *n = r->axis && map ? ynode_get(map, r->axis) : NULL;
		char text[256];

		if (!n && !(n = ynode_get(root, r->name)))
			continue;
		if (workload_given(&s->workload, (enum workload_key)k) &&
		    workload_refused((enum workload_key)k, workload_source(&s->workload), WORKLOAD_SWEEP_FILE, text,
		                     sizeof text))
			return yaml_err(s->y, n, e, "%s", text);
	}
	if (workload_values(&s->workload, WORKLOAD_SWEEP_FILE, &why) < 0)
		return yaml_err(s->y, s->workload.rewrite ? rewrite_at(s) : map, e, "%s", why.msg);
	return read_serve(s, e);
}

int sweep_workload_check(const struct sweep *s, const struct workload_spec *w, struct err *e)
{
	const struct ynode *rewrite = w->rewrite ? rewrite_at(s) : NULL;
	char why[256];

	for (size_t i = 0; i < s->n_axes; i++) {
		const struct sweep_axis *x = &s->axes[i];

		if (!sweep_of_model(x->key))
			continue;
		if (s->mix.n)
			return yaml_err(s->y, x->at, e, "axis '%s' is of one workload, and 'workloads' are several",
			                x->key);
		if (workload_refused(sweep_workload_key_of(x->key), workload_source(w), asker(s), why, sizeof why))
			return yaml_err(s->y, x->at, e, "axis '%s': %s", x->key, why);
		if (sweep_workload_key_of(x->key) == WORKLOAD_KEY_REWRITE)
			rewrite = x->at;
	}
	if (rewrite && machine_runs(&s->schema_target) == MACHINE_LAUNCHES)
		return yaml_err(s->y, rewrite, e,
		                "the base runs the trace's launches, which a rewritten op no longer has");
	return 0;
}

bool sweep_workload_known(const struct sweep *s, const char *key)
{
	if (s->workload.model || workload_given(&s->workload, sweep_workload_key_of(key)))
		return true;
	for (size_t i = 0; i < s->n_axes; i++)
		if (strcmp(s->axes[i].key, key) == 0)
			return true;
	return false;
}

void sweep_workload_of(const struct sweep *s, const char *const *sets, struct workload_spec *w)
{
	for (size_t i = 0; i < s->n_axes; i++)
		if (sweep_of_model(sets[i]))
			sweep_workload_put(w, sweep_workload_key_of(sets[i]), strchr(sets[i], '=') + 1);
}

bool sweep_workload_varies(const struct sweep *s)
{
	for (size_t i = 0; i < s->n_axes; i++)
		if (sweep_of_model(s->axes[i].key))
			return true;
	return false;
}

uint64_t sweep_workload_hash(const struct sweep *s, const char *const *sets, uint64_t h)
{
	for (size_t i = 0; i < s->n_axes; i++)
		if (sweep_of_model(sets[i]))
			h = hash_mix(hash_str(h, sets[i]));
	return s->serve ? hash_u64(h, s->serve_hash) : h;
}
