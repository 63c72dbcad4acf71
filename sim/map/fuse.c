#include "sim/map/fuse.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/path.h"
#include "sim/base/yaml.h"

#define MAX_STEPS    32
#define MAX_PATTERNS 256
#define VECTOR_KINDS "vector"

enum repeat { ONCE, MAYBE, ANY, SOME };

struct step {
	int kind;
	enum repeat repeat;
	const char *fn;
}; /* kind -1: any vector op */
struct pattern {
	const char *name;
	size_t n;
	struct step steps[MAX_STEPS];
};

struct fuse_patterns {
	struct yaml *yaml; /* owns the names */
	struct arena *arena;
	struct pattern *v;
	size_t n;
};

bool fuse_is_vector(enum op_kind k)
{
	return op_traits[k].vector;
}

static int read_step(const struct yaml *y, const struct ynode *n, struct arena *a, struct step *s, struct err *e)
{
	const char *text;
	char *kind, *fn;
	size_t len;

	if (yaml_str(y, n, &text, e) < 0)
		return -1;
	if (!(kind = arena_strdup(a, text)))
		return err_set(e, ERR_NOMEM, "out of memory for fusion patterns");
	len = strlen(kind);
	s->repeat = ONCE;
	if (len && strchr("?*+", kind[len - 1])) {
		s->repeat = kind[len - 1] == '?' ? MAYBE : kind[len - 1] == '*' ? ANY : SOME;
		kind[len - 1] = '\0';
	}
	s->fn = NULL;
	if ((fn = strchr(kind, ':'))) {
		*fn = '\0';
		s->fn = fn + 1;
	}
	s->kind = -1;
	if (strcmp(kind, VECTOR_KINDS) != 0) {
		const char *names[OP_KINDS + 1];
		const char *near;

		for (int k = 0; k < OP_KINDS; k++) {
			names[k] = op_kind_name((enum op_kind)k);
			if (strcmp(kind, names[k]) == 0)
				s->kind = k;
		}
		names[OP_KINDS] = VECTOR_KINDS;
		near = str_nearest(kind, names, OP_KINDS + 1);
		if (s->kind < 0)
			return yaml_err(y, n, e, "'%s' is not a kind of op%s%s%s", kind, near ? "; did you mean '" : "",
			                near ? near : "", near ? "'?" : "");
		if (op_traits[s->kind].runs != OP_RUNS_HERE)
			return yaml_err(y, n, e, "'%s' cannot be fused", kind);
	}
	return 0;
}

static int read_pattern(const struct yaml *y, const struct ynode *n, struct arena *a, struct pattern *p, struct err *e)
{
	static const char *const keys[] = { "name", "ops", "source" };
	const struct ynode *name = ynode_get(n, "name"), *ops = ynode_get(n, "ops");

	if (n->kind != YNODE_MAP)
		return yaml_err(y, n, e, "a pattern is a mapping with 'name' and 'ops'");
	if (yaml_only_keys(y, n, keys, sizeof keys / sizeof *keys, e) < 0)
		return -1;
	if (!name || !ops || ops->kind != YNODE_SEQ)
		return yaml_err(y, n, e, "a pattern needs 'name' and a list 'ops'");
	if (yaml_str(y, name, &p->name, e) < 0)
		return -1;
	if (ops->n < 1 || ops->n > MAX_STEPS)
		return yaml_err(y, ops, e, "a pattern has 1 to %d ops", MAX_STEPS);
	p->n = ops->n;
	for (size_t i = 0; i < ops->n; i++)
		if (read_step(y, ops->vals[i], a, &p->steps[i], e) < 0)
			return -1;
	return 0;
}

static struct fuse_patterns *read_patterns(struct yaml *y, struct err *e)
{
	static const char *const keys[] = { "patterns" };
	struct fuse_patterns *p = calloc(1, sizeof *p);
	const struct ynode *list;

	if (!p) {
		yaml_free(y);
		err_set(e, ERR_NOMEM, "out of memory for fusion patterns");
		return NULL;
	}
	p->yaml = y;
	if (yaml_only_keys(y, yaml_root(y), keys, 1, e) < 0)
		goto fail;
	list = ynode_get(yaml_root(y), "patterns");
	if (!list || list->kind != YNODE_SEQ || list->n > MAX_PATTERNS) {
		yaml_err(y, yaml_root(y), e, "'patterns' is missing, or not a list of at most %d", MAX_PATTERNS);
		goto fail;
	}
	if (!(p->arena = arena_new(0)) || !(p->v = arena_array(p->arena, list->n ? list->n : 1, sizeof *p->v))) {
		err_set(e, ERR_NOMEM, "out of memory for fusion patterns");
		goto fail;
	}
	for (p->n = 0; p->n < list->n; p->n++)
		if (read_pattern(y, list->vals[p->n], p->arena, &p->v[p->n], e) < 0)
			goto fail;
	return p;
fail:
	fuse_patterns_free(p);
	return NULL;
}

struct fuse_patterns *fuse_patterns_load(const char *path, struct err *e)
{
	return fuse_patterns_load_from(&path_source, path, e);
}

struct fuse_patterns *fuse_patterns_load_from(const struct source *from, const char *path, struct err *e)
{
	struct yaml *y = from->read(from, path, e);

	return y ? read_patterns(y, e) : NULL;
}

struct fuse_patterns *fuse_patterns_parse(const char *text, size_t n, const char *name, struct err *e)
{
	struct yaml *y = yaml_parse(text, n, name, e);

	return y ? read_patterns(y, e) : NULL;
}

void fuse_patterns_free(struct fuse_patterns *p)
{
	if (!p)
		return;
	yaml_free(p->yaml);
	arena_free(p->arena);
	free(p);
}

struct finder {
	const struct op_stream *s;
	const struct fusion_cfg *c;
	uint32_t first; /* of the group tried */
};

static bool fits_step(const struct step *st, const struct op *o)
{
	if (st->kind < 0 ? !fuse_is_vector(o->kind) : o->kind != (enum op_kind)st->kind)
		return false;
	if (!st->fn)
		return true;
	if (op_traits[o->kind].variant == OP_VARIANT_REDUCE)
		return strcmp(st->fn, op_reduce_name(o->reduce)) == 0;
	return strcmp(st->fn, o->fn ? o->fn : "") == 0;
}

/* Reads what a member wrote, or shares an input with one. */
static bool connected(const struct finder *f, const struct op *o)
{
	for (uint32_t m = f->first; m < o->id; m++) {
		const struct op *prev = &f->s->ops[m];

		for (uint32_t i = 0; i < o->n_operands; i++) {
			const struct op_operand *mine = &f->s->operands[o->first_operand + i];

			for (uint32_t j = 0; j < prev->n_operands; j++)
				if (!mine->write && f->s->operands[prev->first_operand + j].tensor == mine->tensor)
					return true;
		}
	}
	return false;
}

/* The group [first, end) is legal: one product at most, connected, and its intermediates fit. */
static bool may_join(const struct finder *f, uint32_t end)
{
	const struct op *o = &f->s->ops[end - 1];
	uint32_t products = 0;
	uint64_t held = 0;

	if (end - f->first > f->c->max_ops)
		return false;
	for (uint32_t m = f->first; m < end; m++)
		products += op_is_product(f->s->ops[m].kind);
	if (products > 1)
		return false;
	if (end - 1 == f->first)
		return true;
	if (!connected(f, o))
		return false;
	for (uint32_t m = f->first; m + 1 < end; m++)
		for (uint32_t j = 0; j < f->s->ops[m].n_operands; j++) {
			const struct op_operand *w = &f->s->operands[f->s->ops[m].first_operand + j];

			if (w->write)
				held += w->touched;
		}
	return !f->c->buffer || held <= f->c->buffer;
}

/* Longest match of steps[i..] against ops from `at`, as one past its last op; 0 when there is none. `had`: step i has
 * matched once already. */
static uint32_t longest(const struct finder *f, const struct pattern *p, size_t i, uint32_t at, bool had)
{
	uint32_t best = 0, end;
	const struct step *st;
	bool here, more;

	if (i == p->n)
		return at;
	st = &p->steps[i];
	more = st->repeat == ANY || st->repeat == SOME;
	here = at < f->s->n_ops && fits_step(st, &f->s->ops[at]) && may_join(f, at + 1);
	if (here)
		best = more ? longest(f, p, i, at + 1, true) : longest(f, p, i + 1, at + 1, false);
	if ((had || st->repeat == MAYBE || st->repeat == ANY) && (end = longest(f, p, i + 1, at, false)) > best)
		best = end;
	return best;
}

int fuse_stream(const struct op_stream *s, const struct fusion_cfg *c, const struct fuse_patterns *p, struct arena *a,
                struct fuse_group **groups, size_t *n_groups, struct err *e)
{
	struct fuse_group *g = arena_array(a, s->n_ops ? s->n_ops : 1, sizeof *g);
	const char **names = arena_array(a, p && p->n ? p->n : 1, sizeof *names);
	size_t n = 0;

	/* The groups outlive the pattern file. */
	for (size_t k = 0; names && p && k < p->n; k++)
		if (!(names[k] = arena_strdup(a, p->v[k].name)))
			names = NULL;
	if (!g || !names)
		return err_set(e, ERR_NOMEM, "out of memory for fusion groups");
	for (uint32_t i = 0; i < s->n_ops; n++) {
		struct finder f = { s, c, i };
		uint32_t end = i + 1;

		g[n].first = i;
		for (size_t k = 0; c->enabled && p && k < p->n; k++) {
			uint32_t to = longest(&f, &p->v[k], 0, i, false);

			if (to > end) {
				end = to;
				g[n].pattern = names[k];
			}
		}
		g[n].n = end - i;
		i = end;
	}
	*groups = g;
	*n_groups = n;
	return 0;
}
