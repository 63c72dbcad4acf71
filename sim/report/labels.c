#include "sim/report/labels.h"

#include <inttypes.h>
#include <string.h>

#include "arch/machine/machine_conf.h"

static struct machine_conf *machine_of(const struct res_run *r)
{
	struct err none = ERR_INIT;

	return r->config_text
	               ? machine_conf_parse(r->config_text, strlen(r->config_text), r->config_name, NULL, 0, &none)
	               : NULL;
}

static struct machine_conf *file_of(const struct res_run *r)
{
	struct err none = ERR_INIT;

	return r->config_path && *r->config_path ? machine_conf_load(r->config_path, NULL, 0, &none) : NULL;
}

/* --- names ----------------------------------------------------------------------------------------------------------- */

/* " with l2.size 512 MiB, cores 32 and 2 more": what of `c` is other than of `base`. */
static void add_changes(const struct cfg *c, const struct cfg *base, struct str *out)
{
	struct err none = ERR_INIT;
	size_t n = 0, more = 0;

	for (size_t i = 0; i < cfg_count(c); i++) {
		const struct cfg_row row = cfg_at(c, i);
		size_t k;

		if (strcmp(row.key, "name") == 0 || cfg_find(base, row.key, &k, &none) < 0) {
			err_clear(&none);
			continue;
		}
		if (cfg_raw(c, i) == cfg_raw(base, k))
			continue;
		if (n++ >= LABELS_KEYS) {
			more++;
			continue;
		}
		str_addf(out, "%s%s ", n == 1 ? " with " : ", ", row.key);
		cfg_value(c, i, out);
	}
	if (more)
		str_addf(out, " and %zu more", more);
}

static const struct res_run *first_alike(const struct res_stored *const *runs, size_t i)
{
	size_t k = 0;

	while (strcmp(runs[k]->run.config_name, runs[i]->run.config_name) != 0)
		k++;
	return &runs[k]->run;
}

static void add_machine(const struct res_stored *const *runs, size_t i, struct str *out)
{
	const struct res_run *r = &runs[i]->run;
	struct machine_conf *own = machine_of(r), *base = file_of(r);

	str_add(out, r->config_name);
	if (!base)
		base = machine_of(first_alike(runs, i));
	if (own && base)
		add_changes(own->raw, base->raw, out);
	machine_conf_free(own);
	machine_conf_free(base);
}

void labels_workload(const struct res_stored *r, struct str *out)
{
	const char *source = r->workload.source ? r->workload.source : "", *slash = strrchr(source, '/');

	str_add(out, slash ? slash + 1 : source);
	/* A trace's source ends in its range already. */
	if (r->workload.range && !strstr(source, r->workload.range))
		str_addf(out, ", %s", r->workload.range);
}

/* What the runs of a set do not share. */
struct apart {
	bool workload, start, fidelity, seed, reuse;
};

static struct apart apart_of(const struct res_stored *const *runs, size_t n)
{
	struct apart x = { .workload = false };

	for (size_t i = 1; i < n; i++) {
		const struct res_run *a = &runs[0]->run, *b = &runs[i]->run;

		x.workload |= runs[i]->workload_id != runs[0]->workload_id;
		x.start |= strcmp(a->start, b->start) != 0;
		for (size_t k = 0; k < i; k++) /* a GPU has one */
			x.fidelity |= strcmp(runs[k]->run.config_name, b->config_name) == 0 &&
			              strcmp(runs[k]->run.fidelity, b->fidelity) != 0;
		x.seed |= a->seed != b->seed;
		x.reuse |= a->reuse_ppm != b->reuse_ppm;
	}
	return x;
}

static void add_name(const struct res_stored *const *runs, size_t i, const struct apart *x, struct str *out)
{
	const struct res_run *r = &runs[i]->run;

	add_machine(runs, i, out);
	if (x->workload) {
		str_add(out, ", ");
		labels_workload(runs[i], out);
	}
	if (x->start)
		str_addf(out, ", %s", r->start);
	if (x->fidelity)
		str_addf(out, ", %s", strcmp(r->fidelity, "event") == 0 ? "with events" : "in closed form");
	if (x->seed)
		str_addf(out, ", seed %" PRIu64, r->seed);
	if (x->reuse && !x->workload)
		str_addf(out, ", experts kept %g", (double)r->reuse_ppm / 1e6);
}

static bool taken(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

int labels_runs(const struct res_stored *const *runs, size_t n, struct arena *a, const char **names, struct err *e)
{
	const struct apart x = apart_of(runs, n);
	struct str s = STR_INIT;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		str_clear(&s);
		add_name(runs, i, &x, &s);
		if (taken(names, i, str_c(&s)))
			str_addf(&s, " (run %" PRId64 ")", runs[i]->run.id);
		if (s.failed || !(names[i] = arena_strdup(a, str_c(&s))))
			rc = err_nomem(e, "for the names of runs");
	}
	str_free(&s);
	return rc;
}

/* --- keys -------------------------------------------------------------------------------------------------------------- */

static const char *value_of(const struct machine_conf *c, const char *key, struct arena *a)
{
	struct err none = ERR_INIT;
	struct str s = STR_INIT;
	const char *v = NULL;
	size_t i;

	if (c && cfg_find(c->raw, key, &i, &none) == 0) {
		cfg_value(c->raw, i, &s);
		v = s.failed ? NULL : arena_strdup(a, str_c(&s));
	}
	str_free(&s);
	return v;
}

static bool labels_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void labels_collect(struct machine_conf *const *all, size_t n, struct arena *a, struct labels_keys *out)
{
	for (size_t i = 0; i < cfg_count(all[0]->raw); i++) {
		const char *key = cfg_at(all[0]->raw, i).key, **v = &out->values[out->n * n];
		bool differs = false;

		for (size_t k = 0; k < n; k++) {
			v[k] = value_of(all[k], key, a);
			differs |= !labels_same(v[k], v[0]);
		}
		if (differs && strcmp(key, "name") != 0)
			out->keys[out->n++] = arena_strdup(a, key);
	}
}

int labels_differ(const struct res_stored *const *runs, size_t n, struct arena *a, struct labels_keys *out,
                  struct err *e)
{
	struct machine_conf **all = arena_array(a, n + 1, sizeof *all);
	size_t rows;

	*out = (struct labels_keys){ .n = 0 };
	if (!all)
		return err_nomem(e, "for the machines of runs");
	for (size_t i = 0; i < n; i++)
		all[i] = machine_of(&runs[i]->run);
	rows = n && all[0] ? cfg_count(all[0]->raw) : 0;
	out->keys = arena_array(a, rows + 1, sizeof *out->keys);
	out->values = arena_array(a, (rows + 1) * (n + 1), sizeof *out->values);
	if (rows && out->keys && out->values)
		labels_collect(all, n, a, out);
	for (size_t i = 0; i < n; i++)
		machine_conf_free(all[i]);
	return out->keys && out->values ? 0 : err_nomem(e, "for the machines of runs");
}
