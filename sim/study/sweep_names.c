/* sweep_names.c - what names in expressions stand for. An id is a range: configuration keys, figures, then resources,
 * kinds, statistics and columns. */
#include <stdlib.h>
#include <string.h>

#include "sim/study/sweep_int.h"
#include "workloads/op.h"

enum {
	AT_MODEL = 9000,
	AT_FIGURE = 10000,
	AT_STALL = 11000,
	AT_NEEDS = 12000,
	AT_KIND = 13000,
	AT_STAT = 20000,
	AT_COLUMN = 90000
};

/* --- from a name to an id ---------------------------------------------------------------------------------- */

static int in_group(const char *name, const char *group, const char *(*nth)(int i), int n)
{
	size_t len = strlen(group);

	if (strncmp(name, group, len) != 0)
		return -1;
	for (int i = 0; i < n; i++)
		if (strcmp(name + len, nth(i)) == 0)
			return i;
	return -1;
}

static const char *nth_resource(int i)
{
	return res_name((enum res)i);
}

static const char *nth_kind(int i)
{
	return op_kind_name((enum op_kind)i);
}

static int find_result(const struct sweep *s, const char *name)
{
	const struct figure *f = figure_named(name);
	int i;

	for (size_t k = 0; k < s->n_columns; k++)
		if (strcmp(s->columns[k].name, name) == 0)
			return AT_COLUMN + (int)k;
	if (f && !f->missing && figure_is_of(f, s->traffic))
		return AT_FIGURE + (int)(f - figure_table);
	if ((i = in_group(name, "stall.", nth_resource, RES_COUNT)) >= 0)
		return AT_STALL + i;
	if ((i = in_group(name, "needs.", nth_resource, RES_COUNT)) >= 0)
		return AT_NEEDS + i;
	if ((i = in_group(name, "kind.", nth_kind, OP_KINDS)) >= 0)
		return AT_KIND + i;
	for (size_t k = 0; k < s->n_stats; k++)
		if (strcmp(s->stats[k], name) == 0)
			return AT_STAT + (int)k;
	return -1;
}

static int find_key(const struct sweep *s, const char *name)
{
	struct err ignored = ERR_INIT;
	size_t i;

	if (sweep_of_model(name))
		return cfg_find(s->model, name, &i, &ignored) == 0 && sweep_workload_known(s, name) ? AT_MODEL + (int)i
		                                                                                    : -1;
	return cfg_find(s->schema, name, &i, &ignored) == 0 ? (int)i : -1;
}

/* Names of figures that have a value; returns how many, of which it writes those that fit. */
static size_t figure_names(bool traffic, const char **names, size_t max)
{
	size_t n = 0;

	for (const struct figure *f = figure_table; f->help; f++) {
		if (!figure_is_of(f, traffic))
			continue;
		if (f->name && !f->missing && n++ < max)
			names[n - 1] = f->name;
		if (f->also && n++ < max)
			names[n - 1] = f->also;
	}
	return n;
}

static int sweep_names_unknown(const struct sweep *s, const char *name, bool config_only, struct err *e)
{
	const size_t n_keys = cfg_count(s->schema), n_figures = figure_names(s->traffic, NULL, 0);
	size_t n = 0, max = n_keys + n_figures + s->n_stats + s->n_columns;
	const char **names = calloc(max, sizeof *names), *near = NULL;
	struct cfg_row *rows = calloc(n_keys, sizeof *rows);
	const struct figure *f = figure_named(name);

	if (f && f->missing) {
		err_set(e, ERR_CONFIG, "'%s' is not known yet: %s", name, f->missing);
		goto out;
	}
	if (f && !figure_is_of(f, s->traffic)) {
		err_set(e, ERR_CONFIG,
		        s->traffic ? "'%s' is of a step, and this is of traffic: tokens_per_s_machine, ttft_p99_ms, ..."
		                   : "'%s' is of traffic: a sweep's 'serve: {rate: 4/s}', or option '--serve rate=4/s'",
		        name);
		goto out;
	}
	if (!names || !rows) {
		sweep_no_memory(e);
		goto out;
	}
	for (size_t i = 0; i < n_keys; i++) {
		rows[i] = cfg_at(s->schema, i);
		names[n++] = rows[i].key;
	}
	if (!config_only)
		n += figure_names(s->traffic, names + n, n_figures);
	for (size_t i = 0; !config_only && i < s->n_stats; i++)
		names[n++] = s->stats[i];
	for (size_t i = 0; !config_only && i < s->n_columns; i++)
		names[n++] = s->columns[i].name;
	near = str_nearest(name, names, n);
	err_set(e, ERR_CONFIG, "unknown name '%s'%s%s%s", name, near ? "; did you mean '" : "", near ? near : "",
	        near ? "'?" : "");
out:
	free(rows);
	free(names);
	return -1;
}

int sweep_find(void *arg, const char *name, struct err *e)
{
	const struct sweep *s = arg;
	int id = find_key(s, name);

	if (id < 0)
		id = find_result(s, name);
	return id < 0 ? sweep_names_unknown(s, name, false, e) : id;
}

/* A figure that a machine has before anything runs. */
static bool is_early(int id)
{
	return id >= AT_FIGURE && id < AT_STALL && figure_table[id - AT_FIGURE].early;
}

int sweep_find_config(void *arg, const char *name, struct err *e)
{
	const struct sweep *s = arg;
	int id = find_key(s, name), result = id < 0 ? find_result(s, name) : -1;

	if (id >= 0 || is_early(result))
		return id >= 0 ? id : result;
	if (result >= 0)
		return err_set(e, ERR_CONFIG,
		               "'%s' is a result, and 'where' is asked before anything runs: put it under"
		               " 'constraints'",
		               name);
	return sweep_names_unknown(s, name, true, e);
}

/* --- from an id to a value --------------------------------------------------------------------------------- */

static struct expr_value sweep_names_number(double v)
{
	return (struct expr_value){ EXPR_NUMBER, v, NULL };
}

static struct expr_value us_of(ps_t ps)
{
	return sweep_names_number((double)ps / 1e6);
}

static struct cfg_row sweep_names_row_of(const struct sweep *s, int id)
{
	return id < AT_MODEL ? cfg_at(s->schema, (size_t)id) : cfg_at(s->model, (size_t)(id - AT_MODEL));
}

static const struct sweep_axis *axis_of(const struct sweep *s, int id)
{
	struct cfg_row r = sweep_names_row_of(s, id);

	for (size_t i = 0; i < s->n_axes; i++)
		if (strcmp(s->axes[i].key, r.key) == 0)
			return &s->axes[i];
	return NULL;
}

static struct expr_value value_of_key(const struct sweep_row *row, int id)
{
	const struct sweep_axis *x = axis_of(row->s, id);
	struct cfg_row r = sweep_names_row_of(row->s, id);
	uint64_t raw;

	if (x) {
		const struct res_value *v = &row->values[x - row->s->axes];

		return v->is_number ? sweep_names_number(v->number) : (struct expr_value){ EXPR_TEXT, 0, v->text };
	}
	if (!row->conf && id < AT_MODEL)
		return (struct expr_value){ EXPR_NULL, 0, NULL };
	if (r.field->type == CFG_T_STR)
		return (struct expr_value){ EXPR_NULL, 0, NULL };
	raw = id < AT_MODEL ? cfg_raw(row->conf->raw, (size_t)id) : cfg_raw(row->s->model, (size_t)(id - AT_MODEL));
	switch (r.field->type) {
	case CFG_T_ENUM:
		return (struct expr_value){ EXPR_TEXT, 0, r.field->names[raw] };
	case CFG_T_STR:
		return (struct expr_value){ EXPR_NULL, 0, NULL };
	default:
		return sweep_names_number(sweep_number(r.field->type, raw));
	}
}

static struct expr_value value_of_figure(const struct sweep_row *row, const struct figure *f)
{
	const struct res_workload *w = row->workload;
	struct figure_measured m = { .wall_ns = -1 };
	struct figure_value v;

	if (w)
		m = (struct figure_measured){ .kernel_ns = w->kernel_ns,
			                      .measured_ns = w->measured_ns,
			                      .wall_ns = w->wall_ns };
	v = figure_value(f, &row->point->figures, &m);
	return v.known ? sweep_names_number(v.x) : (struct expr_value){ EXPR_NULL, 0, NULL };
}

/* What the machine has of a figure before anything runs. */
static struct expr_value early_value(const struct figure *f, const struct machine_conf *c)
{
	const struct figure_measured none = { .wall_ns = -1 };
	struct figures x = { .total_ps = 0 };
	struct figure_value v;

	run_early(&c->cfg, &x);
	v = figure_value(f, &x, &none);
	return v.known ? sweep_names_number(v.x) : (struct expr_value){ EXPR_NULL, 0, NULL };
}

static struct expr_value sweep_names_value(void *arg, int id)
{
	const struct sweep_row *row = arg;
	const struct res_point *p = row->point;
	struct expr_value v = { EXPR_NULL, 0, NULL };

	if (id < AT_FIGURE)
		return value_of_key(row, id);
	if (is_early(id) && row->conf)
		return early_value(&figure_table[id - AT_FIGURE], row->conf);
	if (!p || p->failed)
		return v;
	if (id < AT_STALL)
		return value_of_figure(row, &figure_table[id - AT_FIGURE]);
	if (id < AT_KIND) {
		const char *name = res_name((enum res)(id - (id < AT_NEEDS ? AT_STALL : AT_NEEDS)));

		for (size_t i = 0; i < p->n_resources; i++)
			if (strcmp(p->resources[i].name, name) == 0)
				return us_of(id < AT_NEEDS ? p->resources[i].stall_ps : p->resources[i].peak_ps);
		return sweep_names_number(0);
	}
	if (id < AT_STAT) {
		for (size_t i = 0; i < p->n_kinds; i++)
			if (strcmp(p->kinds[i].kind, op_kind_name((enum op_kind)(id - AT_KIND))) == 0)
				return us_of(p->kinds[i].span_ps);
		return sweep_names_number(0);
	}
	if (id < AT_COLUMN) {
		for (size_t i = 0; i < p->n_stats; i++)
			if (strcmp(p->stats[i].name, row->s->stats[id - AT_STAT]) == 0)
				return sweep_names_number((double)p->stats[i].value);
		return v;
	}
	return v;
}

/* Columns name only columns before them, so this ends. Their values are worked out first: one expression at a time
 * is with SQLite. */
static int column_values(const struct sweep_row *row, const struct expr *x, struct expr_value *known, struct err *e)
{
	const int *ids;
	size_t n = expr_ids(x, &ids);

	for (size_t i = 0; i < n; i++)
		if (ids[i] >= AT_COLUMN && sweep_value(row, row->s->columns[ids[i] - AT_COLUMN].x, &known[i], e) < 0)
			return -1;
	return 0;
}

struct with_columns {
	const struct sweep_row *row;
	const int *ids;
	size_t n;
	const struct expr_value *known;
};

static struct expr_value value_or_column(void *arg, int id)
{
	struct with_columns *w = arg;
	struct sweep_row row = *w->row;

	for (size_t i = 0; id >= AT_COLUMN && i < w->n; i++)
		if (w->ids[i] == id)
			return w->known[i];
	return sweep_names_value(&row, id);
}

int sweep_value(const struct sweep_row *row, struct expr *x, struct expr_value *out, struct err *e)
{
	struct expr_value known[64] = { { EXPR_NULL, 0, NULL } };
	struct with_columns w = { .row = row, .known = known };

	w.n = expr_ids(x, &w.ids);
	return column_values(row, x, known, e) < 0 ? -1 : expr_eval(x, value_or_column, &w, out, e);
}

bool sweep_needs_conf(const struct sweep *s, const struct expr *x)
{
	const int *ids;
	size_t n = expr_ids(x, &ids);

	for (size_t i = 0; i < n; i++) {
		if (is_early(ids[i]) || (ids[i] < AT_FIGURE && !axis_of(s, ids[i])))
			return true;
		if (ids[i] >= AT_COLUMN && sweep_needs_conf(s, s->columns[ids[i] - AT_COLUMN].x))
			return true;
	}
	return false;
}
