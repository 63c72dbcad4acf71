#include "sim/study/sweep_view.h"

#include "sim/engine/real.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int sweep_view_choose(struct sweep_view *v, struct resdb *db, int64_t id, struct err *e)
{
	struct res_sweep *all;
	size_t n;

	if (res_list_sweeps(db, v->a, &all, &n, e) < 0)
		return -1;
	if (n == 0)
		return err_set(e, ERR_IO,
		               "there is no sweep in this database: 'npusim sweep FILE.yaml -o R.db' stores one");
	for (size_t i = 0; i < n; i++)
		if (id == 0 || all[i].id == id)
			v->head = all[i];
	if (id && v->head.id != id)
		return err_set(e, ERR_USAGE,
		               "there is no sweep %" PRId64 " in this database: it holds %zu, numbered %" PRId64
		               " to %" PRId64,
		               id, n, all[0].id, all[n - 1].id);
	return 0;
}

int sweep_view_open(struct sweep_view *v, struct resdb *db, int64_t id, struct err *e)
{
	memset(v, 0, sizeof *v);
	if (!(v->a = arena_new(0)))
		return err_nomem(e, "for the stored points");
	if (sweep_view_choose(v, db, id, e) < 0 ||
	    res_get_workload(db, v->head.workload_id, v->a, &v->workload, e) < 0 ||
	    res_get_points(db, &v->head, v->a, &v->points, &v->n, e) < 0 ||
	    !(v->s = sweep_parse(v->head.text, v->head.name, v->head.base_text, e)) ||
	    sweep_know_stats(v->s, v->points, v->n, e) < 0 || sweep_read_expressions(v->s, e) < 0)
		return -1;
	if (v->s->n_axes != v->head.n_axes)
		return err_set(e, ERR_IO, "the stored sweep %" PRId64 " is damaged: its text and its points do not fit",
		               v->head.id);
	return 0;
}

void sweep_view_free(struct sweep_view *v)
{
	sweep_free(v->s);
	arena_free(v->a);
	memset(v, 0, sizeof *v);
}

void sweep_stem(const char *path, char name[SWEEP_NAME_MAX])
{
	const char *slash = strrchr(path, '/'), *from = slash ? slash + 1 : path, *dot = strrchr(from, '.');

	snprintf(name, SWEEP_NAME_MAX, "%.*s", (int)(dot && dot > from ? (size_t)(dot - from) : strlen(from)), from);
}

struct machine_conf *sweep_view_conf(struct sweep_view *v, const struct res_point *p, struct err *e)
{
	const char **sets = arena_array(v->a, v->s->n_axes, sizeof *sets);

	for (size_t i = 0; sets && i < v->s->n_axes; i++)
		if (!(sets[i] = arena_printf(v->a, "%s=%s", v->s->axes[i].key, p->values[i].text)))
			sets = NULL;
	if (!sets) {
		err_nomem(e, "for the stored points");
		return NULL;
	}
	return sweep_conf(v->s, sets, e);
}

const char *sweep_view_beyond(struct sweep_view *v, const struct res_point *p, const char **words)
{
	struct err none = ERR_INIT;
	struct machine_conf *c = sweep_view_conf(v, p, &none);
	struct real_beyond beyond[REAL_MOST];
	const char *text = NULL;

	*words = NULL;
	if (c && real_machine(&c->cfg, 1, beyond)) {
		text = arena_strdup(v->a, beyond[0].text);
		*words = beyond[0].words;
	}
	machine_conf_free(c);
	return text;
}

static int value_of(struct sweep_view *v, const struct res_point *p, struct expr *x, bool needs_conf,
                    struct expr_value *out, struct err *e)
{
	struct sweep_row row = { v->s, NULL, p, p->values, &v->workload };
	struct err why = ERR_INIT;
	struct machine_conf *c = NULL;
	int rc;

	if (needs_conf && !(c = sweep_view_conf(v, p, &why)) && why.kind != ERR_CONFIG) {
		*e = why;
		return -1;
	}
	row.conf = c;
	rc = sweep_value(&row, x, out, e);
	machine_conf_free(c);
	return rc;
}

int sweep_view_values(struct sweep_view *v, struct expr *x, struct expr_value **out, struct err *e)
{
	const bool needs_conf = sweep_needs_conf(v->s, x);
	struct expr_value *all = arena_array(v->a, v->n ? v->n : 1, sizeof *all);

	if (!all)
		return err_nomem(e, "for the stored points");
	for (size_t i = 0; i < v->n; i++)
		if (value_of(v, &v->points[i], x, needs_conf, &all[i], e) < 0)
			return -1;
	*out = all;
	return 0;
}

/* Leaves in `ok` the points for which the condition holds. */
static int sweep_view_keep(struct sweep_view *v, struct expr *condition, bool *ok, struct err *e)
{
	struct expr_value *values;

	if (sweep_view_values(v, condition, &values, e) < 0)
		return -1;
	for (size_t i = 0; i < v->n; i++)
		ok[i] &= values[i].type == EXPR_NUMBER && values[i].number != 0;
	return 0;
}

int sweep_view_feasible(struct sweep_view *v, bool **out, struct err *e)
{
	bool *ok = arena_array(v->a, v->n ? v->n : 1, sizeof *ok);

	if (!ok)
		return err_nomem(e, "for the stored points");
	for (size_t i = 0; i < v->n; i++)
		ok[i] = !v->points[i].failed;
	for (size_t k = 0; k < v->s->n_constraints; k++)
		if (sweep_view_keep(v, v->s->constraints[k], ok, e) < 0)
			return -1;
	*out = ok;
	return 0;
}

int sweep_view_where(struct sweep_view *v, const char *const *where, int n, bool **out, struct err *e)
{
	bool *ok = arena_array(v->a, v->n ? v->n : 1, sizeof *ok);

	if (!ok)
		return err_nomem(e, "for the stored points");
	for (size_t i = 0; i < v->n; i++)
		ok[i] = true;
	for (int k = 0; k < n; k++) {
		struct expr *x = expr_new(v->s->exprs, where[k], sweep_find, v->s, e);

		if (!x && e->kind == ERR_CONFIG)
			e->kind = ERR_USAGE;
		if (!x || sweep_view_keep(v, x, ok, e) < 0)
			return err_add(e, "reading option '--where'");
	}
	*out = ok;
	return 0;
}
