/* sweep_expr.c - the sweep file's expressions: conditions over configurations, then columns, objectives and constraints
 * over results, whose names are known once the points are. */
#include <string.h>

#include "sim/study/sweep_int.h"

static int read_expr(struct sweep *s, const struct ynode *n, expr_find_fn *find, struct expr **out, struct err *e)
{
	struct err why = ERR_INIT;
	const char *text;

	if (yaml_str(s->y, n, &text, e) < 0)
		return -1;
	if ((*out = expr_new(s->exprs, text, find, s, &why)))
		return 0;
	if (why.kind != ERR_CONFIG) {
		*e = why;
		return -1;
	}
	return yaml_err(s->y, n, e, "%s", why.msg);
}

/* One expression or a list of them. */
static int read_list(struct sweep *s, const char *key, expr_find_fn *find, struct expr ***out, size_t *n_out,
                     struct err *e)
{
	const struct ynode *n = ynode_get(yaml_root(s->y), key);
	size_t n_all = n && n->kind == YNODE_SEQ ? n->n : 1;

	*n_out = 0;
	if (!n)
		return 0;
	if (!(*out = arena_array(s->a, n_all ? n_all : 1, sizeof **out)))
		return sweep_no_memory(e);
	for (size_t i = 0; i < n_all; i++)
		if (read_expr(s, n->kind == YNODE_SEQ ? n->vals[i] : n, find, &(*out)[(*n_out)++], e) < 0)
			return -1;
	return 0;
}

static bool is_name(const char *t)
{
	if (!((*t >= 'a' && *t <= 'z') || (*t >= 'A' && *t <= 'Z') || *t == '_'))
		return false;
	return t[strspn(t, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0';
}

/* A figure that no table of a sweep has: a file's own column may be called so, and stands for it then. */
static bool is_free(const char *name)
{
	const struct figure *f = figure_named(name);

	return f && f->make && !f->place;
}

static int add_column(struct sweep *s, const struct ynode *at, const char *name, const struct ynode *x,
                      enum sweep_goal goal, struct err *e)
{
	struct sweep_column *c = &s->columns[s->n_columns];
	struct err ignored = ERR_INIT;

	if (name && !is_name(name))
		return yaml_err(s->y, at, e, "'%s' is no name: letters, digits and '_', a letter first", name);
	for (size_t i = 0; name && i < s->n_columns; i++)
		if (strcmp(s->columns[i].name, name) == 0)
			return yaml_err(s->y, at, e, "there are two columns '%s'", name);
	if (name && !is_free(name) && sweep_find(s, name, &ignored) >= 0)
		return yaml_err(s->y, at, e, "'%s' has a meaning already: choose another name", name);
	if (read_expr(s, x, sweep_find, &c->x, e) < 0)
		return -1;
	c->name = name ? arena_strdup(s->a, name) : expr_text(c->x);
	c->goal = goal;
	if (!c->name)
		return sweep_no_memory(e);
	s->n_columns++;
	return 0;
}

static int read_objective(struct sweep *s, const struct ynode *n, struct err *e)
{
	static const char *const keys[] = { "name", "minimize", "maximize" };
	const struct ynode *less, *more, *name;
	const char *text = NULL;

	if (n->kind != YNODE_MAP)
		return add_column(s, n, NULL, n, SWEEP_MINIMIZE, e);
	if (yaml_only_keys(s->y, n, keys, sizeof keys / sizeof *keys, e) < 0)
		return -1;
	less = ynode_get(n, "minimize");
	more = ynode_get(n, "maximize");
	name = ynode_get(n, "name");
	if (!less == !more)
		return yaml_err(s->y, n, e, "an objective has one of 'minimize' and 'maximize'");
	if (name && yaml_str(s->y, name, &text, e) < 0)
		return -1;
	return add_column(s, name ? name : n, text, less ? less : more, less ? SWEEP_MINIMIZE : SWEEP_MAXIMIZE, e);
}

int sweep_read_where(struct sweep *s, struct err *e)
{
	return read_list(s, "where", sweep_find_config, &s->where, &s->n_where, e);
}

int sweep_read_expressions(struct sweep *s, struct err *e)
{
	const struct ynode *columns = ynode_get(yaml_root(s->y), "columns"),
			   *goals = ynode_get(yaml_root(s->y), "objectives");
	size_t max = (columns ? columns->n : 0) + (goals && goals->kind == YNODE_SEQ ? goals->n : 1);

	if (columns && columns->kind != YNODE_MAP)
		return yaml_err(s->y, columns, e,
		                "'columns' names expressions: {hit_pct: 100 * l2.hit_bytes / l2.read_bytes}");
	if (!(s->columns = arena_array(s->a, max, sizeof *s->columns)))
		return sweep_no_memory(e);
	s->n_columns = 0;
	for (size_t i = 0; columns && i < columns->n; i++)
		if (add_column(s, columns->keys[i], columns->keys[i]->text, columns->vals[i], SWEEP_COLUMN, e) < 0)
			return -1;
	for (size_t i = 0; goals && goals->kind == YNODE_SEQ && i < goals->n; i++)
		if (read_objective(s, goals->vals[i], e) < 0)
			return -1;
	if (goals && goals->kind != YNODE_SEQ && read_objective(s, goals, e) < 0)
		return -1;
	return read_list(s, "constraints", sweep_find, &s->constraints, &s->n_constraints, e);
}
