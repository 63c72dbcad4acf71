/* fit_plan.c - reading a plan, and the rows of measurements it names. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/accuracy/fit.h"
#include "sim/base/path.h"
#include "sim/base/yaml.h"
#include "traces/text/csv.h"

struct reading {
	const char *path;
	struct fit_plan *p;
	const struct yaml *y;
	struct machine_conf *conf;
	const struct kernels *k;
	struct err *e;
};

static int fit_plan_text(struct reading *g, const struct ynode *map, const char *key, const char **out)
{
	const struct ynode *n = ynode_get(map, key);

	if (!n)
		return yaml_err(g->y, map, g->e, "'%s' is missing", key);
	return yaml_str(g->y, n, out, g->e);
}

static int find_row(struct reading *g, const struct ynode *map, size_t *row)
{
	const char *key;
	struct err why = ERR_INIT;

	if (fit_plan_text(g, map, "key", &key) < 0)
		return -1;
	if (cfg_find(g->conf->raw, key, row, &why) < 0)
		return yaml_err(g->y, ynode_get(map, "key"), g->e, "%s", why.msg);
	return 0;
}

/* --- measurements --------------------------------------------------------------------------------------------------
 */

static size_t column(const struct csv *c, const char *name)
{
	size_t i = 0;

	while (i < csv_count(c) && strcmp(csv_field(c, i), name) != 0)
		i++;
	return i;
}

/* The median of the row of that name and parameters, as text with its unit. */
static int read_csv(const char *path, const char *name, const char *params, char *value, size_t cap, struct err *e)
{
	struct input *in = input_open(path, e);
	struct csv *c = in ? csv_new(in, e) : NULL;
	size_t at_name, at_params, at_median, at_unit;
	int rc = -1, more;

	if (!c || csv_row(c, e) <= 0)
		goto out;
	at_name = column(c, "name"), at_params = column(c, "params");
	at_median = column(c, "median"), at_unit = column(c, "unit");
	while ((more = csv_row(c, e)) > 0) {
		double v;

		if (strcmp(csv_field(c, at_name), name) != 0 || strcmp(csv_field(c, at_params), params) != 0)
			continue;
		v = strtod(csv_field(c, at_median), NULL);
		if (!(v > 0)) {
			err_set(e, ERR_IO, "'%s' of '%s' is no measurement above 0", name, params);
			goto out;
		}
		/* A count has no unit to scale it by, and no exponent. */
		if (*csv_field(c, at_unit))
			snprintf(value, cap, "%.4g %s", v, csv_field(c, at_unit));
		else
			snprintf(value, cap, "%.*f", v < 1000 ? 3 : 0, v);
		rc = 0;
		goto out;
	}
	if (more == 0)
		err_set(e, ERR_IO, "no row '%s' with parameters '%s'", name, params);
out:
	csv_free(c);
	input_free(in);
	return rc;
}

static int read_measured(struct reading *g, const struct ynode *n, struct fit_measured *m)
{
	static const char *const keys[] = { "key", "csv", "name", "params" };
	const char *csv, *name, *params;
	char path[512], value[64];
	struct str source = STR_INIT;
	int rc = -1;

	if (n->kind != YNODE_MAP || yaml_only_keys(g->y, n, keys, 4, g->e) < 0 || find_row(g, n, &m->row) < 0 ||
	    fit_plan_text(g, n, "csv", &csv) < 0 || fit_plan_text(g, n, "name", &name) < 0 ||
	    fit_plan_text(g, n, "params", &params) < 0)
		return g->e->kind ? -1
		                  : yaml_err(g->y, n, g->e,
		                             "a measurement is {key: ..., csv: ..., name: ..., params: ...}");
	/* Beside the plan, as measure.sh leaves both, or with the project's data. */
	if ((path_beside(g->path, csv, path, sizeof path) < 0 && path_data(csv, path, sizeof path, g->e) < 0) ||
	    read_csv(path, name, params, value, sizeof value, g->e) < 0)
		return err_add(g->e, "reading '%s' for '%s'", csv, cfg_at(g->conf->raw, m->row).key);
	str_addf(&source, "measured: %s, %s %s", csv, name, params);
	m->given = cfg_raw(g->conf->raw, m->row);
	rc = cfg_set_row(g->conf->raw, m->row, value, str_c(&source), g->e);
	str_free(&source);
	if (rc < 0)
		return err_add(g->e, "reading '%s'", csv);
	m->csv = arena_strdup(g->p->arena, csv);
	m->name = arena_printf(g->p->arena, "%s %s", name, params);
	m->value = cfg_raw(g->conf->raw, m->row);
	return 0;
}

/* --- what is fitted ------------------------------------------------------------------------------------------------
 */

/* In stored units: of the configuration's row, or a plain count. */
static int raw(struct reading *g, const struct ynode *map, const char *key, const struct fit_param *f, uint64_t *out)
{
	struct err why = ERR_INIT;
	enum cfg_type type = f->of_kernel ? CFG_T_U32 : cfg_at(g->conf->raw, f->row).field->type;
	const char *s;

	if (fit_plan_text(g, map, key, &s) < 0)
		return -1;
	if (cfg_parse_value(type, s, out, &why) < 0)
		return yaml_err(g->y, ynode_get(map, key), g->e, "%s", why.msg);
	return 0;
}

/* {key: SECTION.NAME} of the configuration, or {kernel: TEMPLATE, number: NAME} of the kernel table. */
static int read_subject(struct reading *g, const struct ynode *n, struct fit_param *f)
{
	struct err why = ERR_INIT;
	const char *row, *number;

	f->of_kernel = ynode_get(n, "kernel") != NULL;
	if (!f->of_kernel) {
		if (find_row(g, n, &f->row) < 0)
			return -1;
		f->name = arena_strdup(g->p->arena, cfg_at(g->conf->raw, f->row).key);
		f->given = cfg_raw(g->conf->raw, f->row);
		return 0;
	}
	if (fit_plan_text(g, n, "kernel", &row) < 0 || fit_plan_text(g, n, "number", &number) < 0)
		return -1;
	if (kernels_number(g->k, row, number, &f->number, &why) < 0)
		return yaml_err(g->y, ynode_get(n, strstr(why.msg, "number") ? "number" : "kernel"), g->e, "%s",
		                why.msg);
	f->name = arena_printf(g->p->arena, "%s.%s", row, number);
	f->given = f->number.value;
	return 0;
}

static int read_fit(struct reading *g, const struct ynode *n, struct fit_param *f)
{
	static const char *const keys[] = { "key", "kernel", "number", "from", "to", "start", "reason" };
	const char *reason;

	if (n->kind != YNODE_MAP)
		return yaml_err(g->y, n, g->e,
		                "a fitted parameter is {key: ..., from: ..., to: ..., start: ..., reason: ...}");
	if (yaml_only_keys(g->y, n, keys, 7, g->e) < 0 || read_subject(g, n, f) < 0 ||
	    raw(g, n, "from", f, &f->from) < 0 || raw(g, n, "to", f, &f->to) < 0 ||
	    raw(g, n, "start", f, &f->start) < 0 || fit_plan_text(g, n, "reason", &reason) < 0)
		return -1;
	if (!f->from || f->from >= f->to || f->start < f->from || f->start > f->to)
		return yaml_err(g->y, n, g->e, "the bounds are not 0 < from <= start <= to");
	f->reason = arena_strdup(g->p->arena, reason);
	return 0;
}

static const struct ynode *fit_plan_list(struct reading *g, const char *key, size_t *n)
{
	const struct ynode *l = ynode_get(yaml_root(g->y), key);

	*n = 0;
	if (l && (l->kind != YNODE_SEQ || l->n > FIT_MAX)) {
		yaml_err(g->y, l, g->e, "'%s' is a list of at most %d", key, FIT_MAX);
		return NULL;
	}
	*n = l ? l->n : 0;
	return l;
}

struct fit_plan *fit_plan_load(const char *path, struct machine_conf *conf, const struct kernels *k, struct err *e)
{
	static const char *const keys[] = { "calibrate", "measured", "fit" };
	struct fit_plan *p = calloc(1, sizeof *p);
	struct yaml *y = yaml_load(path, e);
	struct reading g = { path, p, y, conf, k, e };
	const struct ynode *l;
	size_t n;

	if (!y)
		goto fail;
	if (!p || !(p->arena = arena_new(0)) || !(p->measured = arena_array(p->arena, FIT_MAX, sizeof *p->measured)) ||
	    !(p->fit = arena_array(p->arena, FIT_MAX, sizeof *p->fit))) {
		err_set(e, ERR_NOMEM, "out of memory for a plan");
		goto fail;
	}
	p->path = path;
	if (!ynode_get(yaml_root(y), "calibrate")) {
		yaml_err(y, yaml_root(y), e, "a plan begins with 'calibrate: 1'");
		goto fail;
	}
	if (yaml_only_keys(y, yaml_root(y), keys, 3, e) < 0)
		goto fail;
	for (l = fit_plan_list(&g, "measured", &n); p->n_measured < n; p->n_measured++)
		if (read_measured(&g, l->vals[p->n_measured], &p->measured[p->n_measured]) < 0)
			goto fail;
	for (l = fit_plan_list(&g, "fit", &n); p->n_fit < n; p->n_fit++)
		if (read_fit(&g, l->vals[p->n_fit], &p->fit[p->n_fit]) < 0)
			goto fail;
	if (e->kind)
		goto fail;
	yaml_free(y);
	return p;
fail:
	yaml_free(y);
	fit_plan_free(p);
	return NULL;
}

void fit_plan_free(struct fit_plan *p)
{
	if (!p)
		return;
	arena_free(p->arena);
	free(p);
}

void fit_plan_keep(const struct fit_plan *p, struct cfg *c, const char *source)
{
	for (size_t i = 0; i < p->n_fit; i++)
		if (!p->fit[i].of_kernel)
			cfg_set_raw(c, p->fit[i].row, p->fit[i].value, source);
}

/* Values that the configuration and the kernel table did not have before. */
int fit_plan_changed(const struct fit_plan *p, struct err *e)
{
	size_t n = 0;
	const char *first = NULL;

	for (size_t i = 0; i < p->n_measured; i++)
		n += p->measured[i].value != p->measured[i].given;
	for (size_t i = 0; i < p->n_fit; i++)
		if (p->fit[i].value != p->fit[i].given) {
			n++;
			first = first ? first : p->fit[i].name;
		}
	return n ? err_set(e, ERR_BOUND, "%zu values differ from those given%s%s", n, first ? ", the first is " : "",
	                   first ? first : "")
	         : 0;
}
