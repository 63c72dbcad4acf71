/* replay_file.c - reading a replay's YAML. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>

#include "sim/base/cfg.h"
#include "sim/base/path.h"
#include "sim/base/re.h"
#include "sim/base/str.h"
#include "traces/read/replay.h"
#include "traces/read/replay_int.h"

#define MOST_ROWS 4096

static const struct ynode *replay_file_need(const struct replay *r, const struct ynode *map, const char *key,
                                            struct err *e)
{
	const struct ynode *n = map->kind == YNODE_MAP ? ynode_get(map, key) : NULL;

	if (!n)
		yaml_err(r->y, map, e, "'%s' is missing here", key);
	return n;
}

static const char *replay_file_text(const struct replay *r, const struct ynode *map, const char *key, struct err *e)
{
	const struct ynode *n = replay_file_need(r, map, key, e);
	const char *s;

	return n && yaml_str(r->y, n, &s, e) == 0 ? s : NULL;
}

static int replay_file_number(const struct replay *r, const struct ynode *map, const char *key, uint64_t max,
                              uint64_t *v, struct err *e)
{
	const struct ynode *n = replay_file_need(r, map, key, e);

	return n ? yaml_u64(r->y, n, 1, max, v, e) : -1;
}

static void *replay_file_room(struct replay *r, size_t n, size_t each, struct err *e)
{
	void *p = arena_array(r->a, n ? n : 1, each);

	if (!p)
		err_nomem(e, "for the replay");
	return p;
}

/* An expression that need not be there. */
static int expression(struct replay *r, const struct ynode *map, const char *key, regex_t **out, struct err *e)
{
	const struct ynode *n = ynode_get(map, key);
	const char *s;
	char why[128];

	*out = NULL;
	if (!n)
		return 0;
	if (yaml_str(r->y, n, &s, e) < 0)
		return -1;
	if (r->n_res == sizeof r->res / sizeof *r->res)
		return yaml_err(r->y, n, e, "more than %zu regular expressions", r->n_res);
	if (!(*out = malloc(sizeof **out)))
		return err_nomem(e, "for the replay");
	if (re_compile(*out, s, REG_NOSUB, why, sizeof why) < 0) {
		free(*out);
		*out = NULL;
		return yaml_err(r->y, n, e, "'%s' is not a regular expression: %s", s, why);
	}
	r->res[r->n_res++] = *out;
	return 0;
}

static int match(struct replay *r, const struct ynode *map, struct replay_match *m, struct err *e)
{
	if (expression(r, map, "kernel", &m->kernel, e) < 0 || expression(r, map, "op", &m->op, e) < 0 ||
	    expression(r, map, "dims", &m->dims, e) < 0)
		return -1;
	return m->kernel || m->op || m->dims ? 0 : yaml_err(r->y, map, e, "neither 'kernel' nor 'op' nor 'dims'");
}

/* --- ops ------------------------------------------------------------------------------------------------------- */

/* "[1,64]": how many, -1: no such list. Leaves *p behind it. */
static int32_t numbers(const char **p, int64_t v[TRACE_MAX_DIMS])
{
	const char *s = *p;
	char *end;
	int32_t n = 0;

	if (*s++ != '[')
		return -1;
	while (*s != ']') {
		if (n == TRACE_MAX_DIMS || *s < '0' || *s > '9' || strlen(s) > 4096)
			return -1;
		v[n] = strtoll(s, &end, 10);
		if (v[n] > INT64_C(1) << 40)
			return -1;
		n++;
		s = end;
		if (*s == ',')
			s++;
		else if (*s != ']')
			return -1;
	}
	*p = s + 1;
	return n;
}

/* "float[1,64]@[64,1]", or a scalar. */
static int argument(struct replay *r, const struct ynode *n, struct trace_arg *g, struct err *e)
{
	const char *s, *p, *bracket;
	int64_t stride = 1;

	if (yaml_str(r->y, n, &s, e) < 0)
		return -1;
	bracket = strchr(s, '[');
	g->ndims = -1;
	g->scalar = g->dtype = "";
	if (!bracket || bracket == s) {
		g->dtype = "Scalar";
		g->scalar = arena_strdup(r->a, s);
		return g->scalar ? 0 : err_nomem(e, "for the replay");
	}
	p = bracket;
	if ((g->ndims = numbers(&p, g->dims)) < 0)
		return yaml_err(r->y, n, e, "'%s' is no tensor: 'float[1,64]' would be one", s);
	for (int32_t i = g->ndims; i-- > 0; stride *= g->dims[i])
		g->strides[i] = stride;
	if (*p == '@' && (p++, numbers(&p, g->strides) != g->ndims))
		return yaml_err(r->y, n, e, "not as many strides as dims in '%s'", s);
	if (*p)
		return yaml_err(r->y, n, e, "'%s' goes on behind its dims", s);
	g->dtype = strncmp(s, "bf16[", 5) == 0 ? "c10::BFloat16" : arena_strndup(r->a, s, (size_t)(bracket - s));
	return g->dtype ? 0 : err_nomem(e, "for the replay");
}

static int op(struct replay *r, const struct ynode *map, struct replay_op *o, struct err *e)
{
	const struct ynode *list;
	struct trace_arg *v;
	const char *name;

	if (!(name = replay_file_text(r, map, "op", e)) || !(list = replay_file_need(r, map, "args", e)))
		return -1;
	if (list->kind != YNODE_SEQ)
		return yaml_err(r->y, list, e, "'args' is a list");
	if (!(v = replay_file_room(r, TRACE_MAX_ARGS, sizeof *v, e)))
		return -1;
	o->name = name;
	o->args = v;
	for (size_t i = 0; i < list->n; i++) {
		const struct ynode *n = list->vals[i];
		const size_t parts = n->kind == YNODE_SEQ ? n->n : 1;

		for (size_t k = 0; k < parts; k++) {
			struct trace_arg *g = &v[o->n_args];

			if (o->n_args == TRACE_MAX_ARGS)
				return yaml_err(r->y, n, e, "more than %d arguments", TRACE_MAX_ARGS);
			if (argument(r, n->kind == YNODE_SEQ ? n->vals[k] : n, g, e) < 0)
				return -1;
			g->pos = (int32_t)i;
			g->list = n->kind == YNODE_SEQ ? (int32_t)k : -1;
			o->n_args++;
		}
	}
	return 0;
}

/* --- the lists ------------------------------------------------------------------------------------------------- */

/* A list that need not be there. */
static const struct ynode *list_of(const struct replay *r, const struct ynode *map, const char *key, bool *bad,
                                   struct err *e)
{
	static const struct ynode none = { .kind = YNODE_SEQ };
	const struct ynode *n = ynode_get(map, key);

	if (n && n->kind != YNODE_SEQ) {
		yaml_err(r->y, n, e, "'%s' is a list", key);
		*bad = true;
	}
	return n && n->kind == YNODE_SEQ ? n : &none;
}

static int row_number(struct replay *r, const struct ynode *map, size_t *row, struct err *e)
{
	uint64_t v;

	if (replay_file_number(r, map, "row", MOST_ROWS, &v, e) < 0)
		return -1;
	*row = (size_t)v;
	return 0;
}

static int add_from(struct replay *r, const struct ynode *n, size_t row, struct err *e)
{
	static const char *const keys[] = { "kernel", "op", "dims", "as", "other", "why" };
	static const char *const op_keys[] = { "op", "args" };
	struct replay_from *f = &r->from[r->n_from++];
	const struct ynode *as, *other;

	*f = (struct replay_from){ .row = row, .at = n };
	if (yaml_only_keys(r->y, n, keys, 6, e) < 0 || match(r, n, &f->m, e) < 0)
		return -1;
	if ((other = ynode_get(n, "other")) && yaml_bool(r->y, other, &f->other, e) < 0)
		return -1;
	as = ynode_get(n, "as");
	return !as ? 0 : yaml_only_keys(r->y, as, op_keys, 2, e) < 0 ? -1 : op(r, as, &f->as, e);
}

static int replay_file_read_row(struct replay *r, const struct ynode *n, struct err *e)
{
	static const char *const keys[] = { "row", "is", "from", "launches", "by", "why" };
	const struct ynode *from, *launches;
	const char *by;
	struct replay_row *x;
	uint64_t v = 0;
	bool bad = false;
	size_t row;

	if (yaml_only_keys(r->y, n, keys, 6, e) < 0 || row_number(r, n, &row, e) < 0 ||
	    !replay_file_text(r, n, "why", e))
		return -1;
	x = &r->rows[row];
	if (x->at)
		return yaml_err(r->y, n, e, "row %zu has an entry at line %d already", row, x->at->line);
	x->at = n;
	if (!replay_file_need(r, n, "is", e) || expression(r, n, "is", &x->is, e) < 0)
		return -1;
	if ((launches = ynode_get(n, "launches")) && yaml_u64(r->y, launches, 1, 1000000, &v, e) < 0)
		return -1;
	x->launches = (int64_t)v;
	if (ynode_get(n, "by")) {
		if (!(by = replay_file_text(r, n, "by", e)))
			return -1;
		if (strcmp(by, "elements") != 0)
			return yaml_err(r->y, ynode_get(n, "by"), e,
			                "a row's time is shared by 'elements', or by time without 'by'");
		x->by_elements = true;
	}
	from = list_of(r, n, "from", &bad, e);
	for (size_t i = 0; !bad && i < from->n; i++)
		if (add_from(r, from->vals[i], row, e) < 0)
			return -1;
	return bad ? -1 : 0;
}

static int read_added(struct replay *r, const struct ynode *n, struct err *e)
{
	static const char *const keys[] = { "before", "after", "every", "kernels", "why" };
	static const char *const new_keys[] = { "row", "op", "args" };
	static const char *const match_keys[] = { "kernel", "op", "dims" };
	struct replay_added *x = &r->added[r->n_added++];
	const struct ynode *at, *every, *list;
	bool bad = false;

	*x = (struct replay_added){ .every = 1, .at = n };
	if (yaml_only_keys(r->y, n, keys, 5, e) < 0 || !replay_file_text(r, n, "why", e))
		return -1;
	x->before = (at = ynode_get(n, "before")) != NULL;
	if (x->before == (ynode_get(n, "after") != NULL))
		return yaml_err(r->y, n, e, "either 'before' or 'after'");
	if (!at)
		at = ynode_get(n, "after");
	if (yaml_only_keys(r->y, at, match_keys, 3, e) < 0 || match(r, at, &x->m, e) < 0)
		return -1;
	if ((every = ynode_get(n, "every")) && yaml_u64(r->y, every, 1, 1000000, &x->every, e) < 0)
		return -1;
	list = list_of(r, n, "kernels", &bad, e);
	if (bad || !(x->v = replay_file_room(r, list->n, sizeof *x->v, e)))
		return -1;
	for (; x->n < list->n; x->n++)
		if (yaml_only_keys(r->y, list->vals[x->n], new_keys, 3, e) < 0 ||
		    row_number(r, list->vals[x->n], &x->v[x->n].row, e) < 0 ||
		    op(r, list->vals[x->n], &x->v[x->n].op, e) < 0)
			return -1;
	return 0;
}

static int read_lists(struct replay *r, const struct ynode *root, struct err *e)
{
	bool bad = false;
	const struct ynode *rows = list_of(r, root, "rows", &bad, e), *added = list_of(r, root, "added", &bad, e),
			   *dropped = list_of(r, root, "dropped", &bad, e);
	size_t n = dropped->n;

	for (size_t i = 0; i < rows->n; i++) {
		const struct ynode *from = rows->vals[i]->kind == YNODE_MAP ? ynode_get(rows->vals[i], "from") : NULL;

		n += from && from->kind == YNODE_SEQ ? from->n : 0;
	}
	r->n_rows = MOST_ROWS + 1;
	if (bad || !(r->rows = replay_file_room(r, r->n_rows, sizeof *r->rows, e)) ||
	    !(r->from = replay_file_room(r, n, sizeof *r->from, e)) ||
	    !(r->added = replay_file_room(r, added->n, sizeof *r->added, e)))
		return -1;
	for (size_t i = 0; i < rows->n; i++)
		if (replay_file_read_row(r, rows->vals[i], e) < 0)
			return -1;
	for (size_t i = 0; i < dropped->n; i++)
		if (!replay_file_text(r, dropped->vals[i], "why", e) ||
		    add_from(r, dropped->vals[i], REPLAY_DROPPED, e) < 0)
			return -1;
	for (size_t i = 0; i < added->n; i++)
		if (read_added(r, added->vals[i], e) < 0)
			return -1;
	return 0;
}

/* --- what comes before them ------------------------------------------------------------------------------------ */

static int file_of(struct replay *r, const struct ynode *map, char out[1024], struct err *e)
{
	const char *name = replay_file_text(r, map, "file", e);

	if (!name)
		return -1;
	if (path_beside(yaml_name(r->y), name, out, 1024) < 0)
		return yaml_err(r->y, ynode_get(map, "file"), e, "there is no file '%s' beside '%s'", name,
		                yaml_name(r->y));
	return 0;
}

static int read_device(struct replay *r, const struct ynode *map, struct err *e)
{
	static const char *const keys[] = { "name", "compute", "sms" };
	const char *compute;
	uint64_t sms;
	char *end;

	if (yaml_only_keys(r->y, map, keys, 3, e) < 0 || !(r->device.name = replay_file_text(r, map, "name", e)) ||
	    !(compute = replay_file_text(r, map, "compute", e)) ||
	    replay_file_number(r, map, "sms", 100000, &sms, e) < 0)
		return -1;
	r->device.sm_major = (int32_t)strtol(compute, &end, 10);
	if (*end != '.' || r->device.sm_major < 1 || r->device.sm_major > 999)
		return yaml_err(r->y, ynode_get(map, "compute"), e, "'%s' is no compute capability like 12.0", compute);
	r->device.sm_minor = (int32_t)strtol(end + 1, NULL, 10);
	r->device.sms = (int32_t)sms;
	return 0;
}

static int read_wall(struct replay *r, const struct ynode *n, struct err *e)
{
	const char *s;
	uint64_t ps;

	r->wall_ns = -1;
	if (!n)
		return 0;
	if (yaml_str(r->y, n, &s, e) < 0)
		return -1;
	if (cfg_parse_value(CFG_T_PS, s, &ps, e) < 0)
		return err_at(e, yaml_name(r->y), n->line, n->col);
	r->wall_ns = (int64_t)(ps / 1000);
	return 0;
}

static int replay_file_read_root(struct replay *r, const struct ynode *root, struct err *e)
{
	static const char *const keys[] = { "replay",  "device", "table", "order",  "wall",
		                            "context", "rows",   "added", "dropped" };
	static const char *const table_keys[] = { "file", "steps" }, *const order_keys[] = { "file", "range" };
	static const char *const context_keys[] = { "tokens", "order" };
	const struct ynode *device, *table, *order, *context;
	uint64_t version;

	if (root->kind != YNODE_MAP)
		return yaml_err(r->y, root, e, "no replay");
	if (yaml_only_keys(r->y, root, keys, sizeof keys / sizeof *keys, e) < 0 ||
	    replay_file_number(r, root, "replay", 1, &version, e) < 0 ||
	    !(device = replay_file_need(r, root, "device", e)) || !(table = replay_file_need(r, root, "table", e)) ||
	    !(order = replay_file_need(r, root, "order", e)) || yaml_only_keys(r->y, table, table_keys, 2, e) < 0 ||
	    yaml_only_keys(r->y, order, order_keys, 2, e) < 0 || read_device(r, device, e) < 0 ||
	    file_of(r, table, r->table, e) < 0 || file_of(r, order, r->order, e) < 0 ||
	    replay_file_number(r, table, "steps", 1000000000, &r->steps, e) < 0 ||
	    !(r->range = replay_file_text(r, order, "range", e)) || read_wall(r, ynode_get(root, "wall"), e) < 0)
		return -1;
	if ((context = ynode_get(root, "context")) &&
	    (yaml_only_keys(r->y, context, context_keys, 2, e) < 0 ||
	     replay_file_number(r, context, "tokens", REPLAY_CONTEXT_MAX, &r->context, e) < 0 ||
	     replay_file_number(r, context, "order", REPLAY_CONTEXT_MAX, &r->context_order, e) < 0))
		return -1;
	return read_lists(r, root, e);
}

int replay_read(struct replay *r, const char *path, struct err *e)
{
	memset(r, 0, sizeof *r);
	if (!(r->y = yaml_load(path, e)))
		return -1;
	if (!(r->a = arena_new((size_t)1 << 30)))
		return err_nomem(e, "for the replay");
	return replay_file_read_root(r, yaml_root(r->y), e);
}

void replay_free(struct replay *r)
{
	for (size_t i = 0; i < r->n_res; i++) {
		regfree(r->res[i]);
		free(r->res[i]);
	}
	arena_free(r->a);
	yaml_free(r->y);
}
