/* rules_load.c - reading a rule table: every key is checked, a fault names file, line and the nearest right word. */
#define _POSIX_C_SOURCE 200809L

#include <string.h>

#include "sim/base/hash.h"
#include "sim/base/path.h"
#include "sim/base/re.h"
#include "sim/base/str.h"
#include "workloads/rules_int.h"
#include "workloads/shape.h"

#define MAX_DEPTH 4 /* tables built on tables */
#define MAX_RULES 4096
#define MAX_REGEX 1024

struct loading {
	struct rules *r;
	const struct yaml *y;
	int depth;
	struct err *e;
};

/* --- words a match cannot do without -------------------------------------------------------------------------- */

/* Behind the bracket expression that starts at s. */
static const char *skip_bracket(const char *s)
{
	s += s[1] == '^' ? 2 : 1;
	s += *s == ']';
	while (*s && *s != ']')
		s++;
	return s + (*s != 0);
}

static const char *skip_group(const char *s)
{
	int depth = 0;

	do {
		if (*s == '[') {
			s = skip_bracket(s);
			continue;
		}
		depth += (*s == '(') - (*s == ')');
		s += *s == '\\' && s[1] ? 2 : 1;
	} while (*s && depth);
	return s;
}

/* One character of an expression outside brackets, groups and counts: a literal, or something else (0). Advances *p. */
static char literal(const char **p)
{
	const char *s = *p;

	if (*s == '\\' && s[1]) {
		*p = s + 2;
		return strchr("\\.[]{}()*+?^$|", s[1]) ? s[1] : 0;
	}
	if (*s == '[' || *s == '(') {
		*p = *s == '[' ? skip_bracket(s) : skip_group(s);
		return 0;
	}
	if (*s == '{')
		s += strcspn(s, "}") - (strchr(s, '}') == NULL);
	*p = s + 1;
	return strchr(".^$*+?{}", *s) ? 0 : *s;
}

/* The longest run of plain characters of each alternative; none when one of them has no run of 3. */
static void find_words(struct rules_re *x, const char *pattern)
{
	char run[64], best[32];
	size_t n = 0, longest = 0;

	x->n_words = 0;
	best[0] = '\0';
	for (const char *p = pattern;;) {
		bool end = *p == '\0' || *p == '|', optional;
		char c = end ? 0 : literal(&p);

		optional = !end && c && (*p == '*' || *p == '?' || *p == '{');
		if (c && !optional && n + 1 < sizeof run)
			run[n++] = c;
		if (c && !optional && *p != '+' && n + 1 < sizeof run)
			continue;
		if (n > longest) {
			longest = n < sizeof best - 1 ? n : sizeof best - 1;
			memcpy(best, run, longest);
			best[longest] = '\0';
		}
		n = 0;
		if (!end)
			continue;
		if (longest < 3 || x->n_words == RULES_LITERALS) {
			x->n_words = 0;
			return;
		}
		memcpy(x->words[x->n_words++], best, sizeof best);
		longest = 0;
		if (*p++ == '\0')
			return;
	}
}

/* --- fields ----------------------------------------------------------------------------------------------------- */

static int regex(struct loading *g, const struct ynode *n, regex_t *re, int flags, const char **text)
{
	char why[128];

	if (yaml_str(g->y, n, text, g->e) < 0)
		return -1;
	if (strlen(*text) > MAX_REGEX)
		return yaml_err(g->y, n, g->e, "a regular expression of more than %d characters", MAX_REGEX);
	if (re_compile(re, *text, flags, why, sizeof why) == 0)
		return 0;
	return yaml_err(g->y, n, g->e, "'%s' is not a regular expression: %s", *text, why);
}

static int read_re(struct loading *g, const struct ynode *map, const char *key, struct rules_re *x)
{
	const struct ynode *n = ynode_get(map, key);
	const char *text;

	if (!n)
		return 0;
	if (regex(g, n, &x->re, REG_NOSUB, &text) < 0)
		return -1;
	x->set = true;
	find_words(x, text);
	return 0;
}

static int read_text(struct loading *g, const struct ynode *map, const char *key, const char **out)
{
	const struct ynode *n = ynode_get(map, key);
	const char *s;

	if (!n)
		return 0;
	if (yaml_str(g->y, n, &s, g->e) < 0)
		return -1;
	if (!*s)
		return yaml_err(g->y, n, g->e, "'%s' is empty", key);
	return (*out = arena_strdup(g->r->arena, s)) ? 0 : err_nomem(g->e, NULL);
}

static int read_flag(struct loading *g, const struct ynode *map, const char *key, bool *out)
{
	const struct ynode *n = ynode_get(map, key);

	return n ? yaml_bool(g->y, n, out, g->e) : 0;
}

static int read_tri(struct loading *g, const struct ynode *map, const char *key, int *out)
{
	const struct ynode *n = ynode_get(map, key);
	bool v;

	if (!n)
		return 0;
	if (yaml_bool(g->y, n, &v, g->e) < 0)
		return -1;
	*out = v;
	return 0;
}

static int read_word(struct loading *g, const struct ynode *map, const char *key, const char *const *names, size_t n,
                     int *out)
{
	const struct ynode *at = ynode_get(map, key);
	const char *s, *near;

	if (!at)
		return 0;
	if (yaml_str(g->y, at, &s, g->e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], s) == 0) {
			*out = (int)i;
			return 0;
		}
	near = str_nearest(s, names, n);
	if (near)
		return yaml_err(g->y, at, g->e, "'%s' is not a %s; the nearest is '%s'", s, key, near);
	return yaml_err(g->y, at, g->e, "'%s' is not a %s; the first are '%s' and '%s'", s, key, names[0], names[1]);
}

static int read_dtype(struct loading *g, const struct ynode *map, enum dtype *out)
{
	const char *names[DTYPES];
	int v = 0;

	for (int d = 0; d < DTYPES; d++)
		names[d] = dtype_name((enum dtype)d);
	if (read_word(g, map, "dtype", names + 1, DTYPES - 1, &v) < 0)
		return -1;
	if (ynode_get(map, "dtype"))
		*out = (enum dtype)(v + 1);
	return 0;
}

static int read_when(struct loading *g, const struct ynode *map, struct rules_when *w)
{
	static const char *const keys[] = { "activity", "dir", "blocking", "converts", "dtype" };
	static const char *const activities[] = { "kernel", "memcpy", "memset" };
	static const char *const dirs[] = { "none", "htod", "dtoh", "dtod", "htoh", "ptop" };
	const struct ynode *n = ynode_get(map, "when");

	*w = (struct rules_when){ -1, -1, -1, -1, DT_NONE, n != NULL };
	if (!n)
		return 0;
	if (n->kind != YNODE_MAP)
		return yaml_err(g->y, n, g->e, "'when' holds conditions: {blocking: yes}");
	if (yaml_only_keys(g->y, n, keys, sizeof keys / sizeof *keys, g->e) < 0 ||
	    read_word(g, n, "activity", activities, 3, &w->activity) < 0 ||
	    read_word(g, n, "dir", dirs, 6, &w->dir) < 0 || read_tri(g, n, "blocking", &w->blocking) < 0 ||
	    read_tri(g, n, "converts", &w->converts) < 0)
		return -1;
	return read_dtype(g, n, &w->dtype);
}

static int read_enums(struct loading *g, const struct ynode *n, struct rule *u)
{
	const char *kinds[OP_KINDS], *costs[OP_COSTS], *reds[OP_REDUCES], *attns[OP_ATTNS];
	const char *const *shapes;
	int kind = OP_OPAQUE, cost = OP_COST_MOVE, red = OP_RED_SUM, attn = OP_ATTN_FLASH, shape = -1;
	size_t n_shapes;

	for (int i = 0; i < OP_KINDS; i++)
		kinds[i] = op_kind_name((enum op_kind)i);
	for (int i = 0; i < OP_COSTS; i++)
		costs[i] = op_cost_name((enum op_cost)i);
	for (int i = 0; i < OP_REDUCES; i++)
		reds[i] = op_reduce_name((enum op_reduce)i);
	for (int i = 0; i < OP_ATTNS; i++)
		attns[i] = op_attn_name((enum op_attn)i);
	shapes = shape_names(&n_shapes);
	if (read_word(g, n, "kind", kinds, OP_KINDS, &kind) < 0 ||
	    read_word(g, n, "cost", costs, OP_COSTS, &cost) < 0 ||
	    read_word(g, n, "reduce", reds, OP_REDUCES, &red) < 0 ||
	    read_word(g, n, "algorithm", attns, OP_ATTNS, &attn) < 0 ||
	    read_word(g, n, "shape", shapes, n_shapes, &shape) < 0 || read_dtype(g, n, &u->math) < 0)
		return -1;
	u->kind = (enum op_kind)kind;
	u->cost = (enum op_cost)cost;
	u->reduce = (enum op_reduce)red;
	u->algorithm = (enum op_attn)attn;
	u->reader = shape;
	u->shape = shape >= 0 ? shapes[shape] : NULL;
	return 0;
}

/* --- rows ------------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const char *const rule_keys[] = {
	"name", "kernel", "op", "when", "kind", "cost", "fn", "reduce", "algorithm", "dtype", "shape", "family",
	"m1_family", "friendly", "library", "part", "joins_previous", "temporary", "routes", "syncs", "opens_routed",
	"closes_routed", "cluster_from_name",
};
/* clang-format on */

static int rules_load_add(struct rules *r, struct rules_row *row)
{
	if (r->n == r->cap) {
		size_t cap = r->cap ? 2 * r->cap : 128;
		struct rules_row **rows = arena_array(r->arena, cap, sizeof *rows);

		if (!rows)
			return -1;
		if (r->n)
			memcpy(rows, r->rows, r->n * sizeof *rows);
		r->rows = rows;
		r->cap = cap;
	}
	r->rows[r->n++] = row;
	return 0;
}

static int read_rule(struct loading *g, const struct ynode *n)
{
	struct rules_row *row;
	struct rule *u;
	const struct ynode *cluster = n->kind == YNODE_MAP ? ynode_get(n, "cluster_from_name") : NULL;
	const char *text;

	if (n->kind != YNODE_MAP)
		return yaml_err(g->y, n, g->e,
		                "a rule is a mapping: {name: mine, kernel: '^my_kernel', kind: opaque, family: mine}");
	if (g->r->n >= MAX_RULES)
		return yaml_err(g->y, n, g->e, "more than %d rules", MAX_RULES);
	if (yaml_only_keys(g->y, n, rule_keys, sizeof rule_keys / sizeof *rule_keys, g->e) < 0)
		return -1;
	if (!(row = arena_alloc(g->r->arena, sizeof *row)) || rules_load_add(g->r, row) < 0)
		return err_nomem(g->e, NULL);
	row->depth = g->depth;
	u = &row->rule;
	u->fn = "";
	if (read_text(g, n, "name", &u->name) < 0 || read_text(g, n, "family", &u->family) < 0 ||
	    read_text(g, n, "m1_family", &u->m1_family) < 0 || read_text(g, n, "friendly", &u->friendly) < 0 ||
	    read_text(g, n, "library", &u->library) < 0 || read_text(g, n, "fn", &u->fn) < 0)
		return -1;
	for (int i = 0; i < 3; i++) {
		static const char *const must[] = { "name", "kind", "family" };

		if (!ynode_get(n, must[i]))
			return yaml_err(g->y, n, g->e, "a rule without '%s'", must[i]);
	}
	if (!ynode_get(n, "kernel") && !ynode_get(n, "op"))
		return yaml_err(g->y, n, g->e, "rule '%s' has neither 'kernel' nor 'op'", u->name);
	for (size_t i = 0; i + 1 < g->r->n; i++)
		if (strcmp(g->r->rows[i]->rule.name, u->name) == 0 && g->r->rows[i]->depth == g->depth)
			return yaml_err(g->y, ynode_get(n, "name"), g->e, "rule '%s' is there twice", u->name);
	if (read_enums(g, n, u) < 0 || read_when(g, n, &row->when) < 0 || read_re(g, n, "kernel", &row->kernel) < 0 ||
	    read_re(g, n, "op", &row->op) < 0)
		return -1;
	if (cluster) {
		if (regex(g, cluster, &row->cluster, 0, &text) < 0)
			return -1;
		row->has_cluster = true;
		if (row->cluster.re_nsub != 2)
			return yaml_err(g->y, cluster, g->e,
			                "'cluster_from_name' needs two groups, one for each extent");
	}
	if (read_flag(g, n, "part", &u->part) < 0 || read_flag(g, n, "joins_previous", &u->joins_previous) < 0 ||
	    read_flag(g, n, "temporary", &u->temporary) < 0 || read_flag(g, n, "routes", &u->routes) < 0 ||
	    read_flag(g, n, "syncs", &u->syncs) < 0 || read_flag(g, n, "opens_routed", &u->opens_routed) < 0 ||
	    read_flag(g, n, "closes_routed", &u->closes_routed) < 0)
		return -1;
	if (!u->friendly)
		u->friendly = u->name;
	if (!u->library)
		u->library = "other";
	row->m1 = *u;
	if (u->m1_family)
		row->m1.family = u->m1_family;
	return 0;
}

static uint64_t hash_node(uint64_t h, const struct ynode *n)
{
	h = hash_u64(h, n->kind);
	if (n->kind == YNODE_SCALAR)
		return hash_str(h, n->text);
	for (size_t i = 0; i < n->n; i++) {
		if (n->kind == YNODE_MAP)
			h = hash_str(h, n->keys[i]->text);
		h = hash_node(h, n->vals[i]);
	}
	return h;
}

static int read_base(struct loading *g, const struct ynode *n)
{
	const struct source *from = g->r->source;
	char beside[4096], relative[512];
	struct yaml *y;
	const char *name;
	int rc;

	if (yaml_str(g->y, n, &name, g->e) < 0)
		return -1;
	if (g->depth + 1 >= MAX_DEPTH)
		return yaml_err(g->y, n, g->e, "tables built on tables more than %d deep", MAX_DEPTH);
	if (strlen(name) > 128)
		return yaml_err(g->y, n, g->e, "the name of the base table is too long");
	memcpy(relative, "configs/rules/", 14);
	memcpy(relative + 14, name, strlen(name) + 1);
	strcat(relative, ".yaml");
	if (source_beside(from, yaml_name(g->y), relative + 14, beside, sizeof beside))
		y = from->read(from, beside, g->e);
	else
		y = source_yaml(from, relative, g->e);
	if (!y)
		return err_add(g->e, "reading 'base: %s'", name);
	rc = rules_read(g->r, y, g->depth + 1, g->e);
	yaml_free(y);
	return rc;
}

int rules_read(struct rules *r, const struct yaml *y, int depth, struct err *e)
{
	static const char *const keys[] = { "rules", "base" };
	struct loading g = { r, y, depth, e };
	const struct ynode *root = yaml_root(y), *list = ynode_get(root, "rules"), *base = ynode_get(root, "base");

	if (root->kind != YNODE_MAP)
		return yaml_err(y, root, e, "a rule table is a mapping with 'rules'");
	if (yaml_only_keys(y, root, keys, 2, e) < 0)
		return -1;
	if ((!list && !base) || (list && list->kind != YNODE_SEQ))
		return yaml_err(y, list ? list : root, e, "'rules' must be a list");
	for (size_t i = 0; list && i < list->n; i++) {
		if (read_rule(&g, list->vals[i]) < 0)
			return -1;
		r->hash = hash_node(r->hash, list->vals[i]);
	}
	return base ? read_base(&g, base) : 0;
}
