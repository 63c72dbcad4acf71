/* experiment_read.c - the file of a study, with every fault at its place. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/experiment.h"

#define COUNT(v) (sizeof(v) / sizeof *(v))

struct reader {
	struct experiment *x;
	const struct experiment_runner *by;
	struct err *e;
};

/* --- texts --------------------------------------------------------------------------------------------------------- */

static int text_in(struct reader *r, const struct ynode *map, const char *key, const char **out)
{
	const struct ynode *n = ynode_get(map, key);

	if (!n)
		return 0;
	if (yaml_str(r->x->y, n, out, r->e) < 0)
		return -1;
	return **out ? 0 : yaml_err(r->x->y, n, r->e, "'%s' is empty", key);
}

static int need(struct reader *r, const struct ynode *map, const char *key, const char *what, const char **out)
{
	if (text_in(r, map, key, out) < 0)
		return -1;
	return *out ? 0 : yaml_err(r->x->y, map, r->e, "%s has no '%s'", what, key);
}

static bool is_name(const char *s)
{
	if (!isalpha((unsigned char)*s))
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_')
			return false;
	return true;
}

static int number_in(struct reader *r, const struct ynode *map, const char *key, double *out)
{
	const struct ynode *n = ynode_get(map, key);

	return n ? yaml_real(r->x->y, n, out, r->e) : 0;
}

/* A list under a key, if there is one. */
static int list(struct reader *r, const struct ynode *map, const char *key, size_t most, const struct ynode **out)
{
	const struct ynode *n = *out = ynode_get(map, key);

	if (!n || (n->kind == YNODE_SEQ && n->n && n->n <= most))
		return 0;
	return yaml_err(r->x->y, n, r->e, "'%s' is a list of 1 to %zu", key, most);
}

/* --- figures ------------------------------------------------------------------------------------------------------- */

static int read_digits(struct reader *r, const struct ynode *n, struct experiment_figure *f)
{
	double digits = -1;

	f->times = 1;
	if (number_in(r, n, "digits", &digits) < 0 || number_in(r, n, "times", &f->times) < 0)
		return -1;
	if (!(digits >= -1 && digits <= 9))
		return yaml_err(r->x->y, ynode_get(n, "digits"), r->e, "decimals are 0 to 9");
	f->digits = (int)digits;
	return 0;
}

static int read_figure(struct reader *r, const struct ynode *n, bool taken, struct experiment_figure *f)
{
	static const char *const taken_keys[] = { "at", "as", "digits", "times", "bar" };
	static const char *const made_keys[] = { "is", "as", "digits", "bar" };
	const struct ynode *bar = ynode_get(n, "bar");

	if (n->kind == YNODE_SCALAR) {
		*f = (struct experiment_figure){ .name = f->name, .place = n, .times = 1, .digits = -1 };
		return yaml_str(r->x->y, n, taken ? &f->path : &f->is, r->e);
	}
	f->place = n;
	if (yaml_only_keys(r->x->y, n, taken ? taken_keys : made_keys, taken ? 5 : 4, r->e) < 0 ||
	    need(r, n, taken ? "at" : "is", "a figure", taken ? &f->path : &f->is) < 0 ||
	    text_in(r, n, "as", &f->as) < 0 || read_digits(r, n, f) < 0)
		return -1;
	return bar ? yaml_bool(r->x->y, bar, &f->bar, r->e) : 0;
}

static int read_figures(struct reader *r, const struct ynode *map, const char *key, struct experiment_group *g)
{
	const struct ynode *n = ynode_get(map, key);
	const bool taken = strcmp(key, "take") == 0;

	if (!n)
		return taken ? yaml_err(r->x->y, map, r->e, "'%s' takes no figure: 'take: {us: total_us}'", g->name)
		             : 0;
	if (n->kind != YNODE_MAP || !n->n)
		return yaml_err(r->x->y, n, r->e, "'%s' is a mapping of figures", key);
	for (size_t i = 0; i < n->n; i++) {
		struct experiment_figure *f = &g->figures[g->n_figures];

		if (g->n_figures == EXPERIMENT_FIGURES)
			return yaml_err(r->x->y, n->keys[i], r->e, "more than %d figures", EXPERIMENT_FIGURES);
		if (yaml_str(r->x->y, n->keys[i], &f->name, r->e) < 0)
			return -1;
		if (!is_name(f->name))
			return yaml_err(r->x->y, n->keys[i], r->e, "'%s' is no name: letters, digits and _", f->name);
		for (size_t k = 0; k < g->n_figures; k++)
			if (strcmp(g->figures[k].name, f->name) == 0)
				return yaml_err(r->x->y, n->keys[i], r->e, "two figures are called '%s'", f->name);
		if (read_figure(r, n->vals[i], taken, f) < 0)
			return -1;
		g->n_figures++;
	}
	return 0;
}

/* --- combinations -------------------------------------------------------------------------------------------------- */

static const char *label_of(struct reader *r, const char *key, const char *value)
{
	char *s = arena_printf(r->x->a, "%s%s", isdigit((unsigned char)*value) ? key : "", value);

	for (char *c = s; c && *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	return s;
}

/* A value of a list, or a pair of a mapping. */
static int read_value(struct reader *r, const struct ynode *n, struct experiment_loop *l, size_t i)
{
	const bool named = n->kind == YNODE_MAP;
	const char *name;

	if (yaml_str(r->x->y, n->vals[i], &l->values[i], r->e) < 0 ||
	    (named && yaml_str(r->x->y, n->keys[i], &name, r->e) < 0))
		return -1;
	l->shown[i] = named ? name : l->values[i];
	if (!(l->labels[i] = label_of(r, l->key, l->shown[i])))
		return err_nomem(r->e, NULL);
	for (size_t k = 0; k < i; k++)
		if (strcmp(l->labels[k], l->labels[i]) == 0)
			return yaml_err(r->x->y, n->vals[i], r->e, "two values are called '%s'", l->labels[k]);
	return 0;
}

static int read_loop(struct reader *r, const struct ynode *key, const struct ynode *n, struct experiment_loop *l)
{
	if (yaml_str(r->x->y, key, &l->key, r->e) < 0)
		return -1;
	if (!is_name(l->key) || n->kind == YNODE_SCALAR || !n->n)
		return yaml_err(r->x->y, key, r->e, "'for' is a mapping of names to lists: {batch: [1, 16]}");
	if (!(l->values = arena_array(r->x->a, n->n, sizeof *l->values)) ||
	    !(l->labels = arena_array(r->x->a, n->n, sizeof *l->labels)) ||
	    !(l->shown = arena_array(r->x->a, n->n, sizeof *l->shown)))
		return err_nomem(r->e, NULL);
	for (; l->n < n->n; l->n++)
		if (read_value(r, n, l, l->n) < 0)
			return -1;
	return 0;
}

static int read_loops(struct reader *r, const struct ynode *n, struct experiment_group *g)
{
	if (!n)
		return 0;
	if (n->kind != YNODE_MAP || !n->n || n->n > EXPERIMENT_KEYS)
		return yaml_err(r->x->y, n, r->e, "'for' is a mapping of one to %d names to lists: {batch: [1, 16]}",
		                EXPERIMENT_KEYS);
	for (size_t i = 0; i < n->n; i++) {
		if (read_loop(r, n->keys[i], n->vals[i], &g->loops[i]) < 0)
			return -1;
		g->n_loops++;
	}
	return 0;
}

/* A text with the values in it: a command, a path. */
static const char *substitute(struct reader *r, const struct ynode *at, const struct experiment_run *u,
                              const char *text)
{
	const struct experiment_group *g = u->group;
	struct str s = STR_INIT;
	const char *copy = NULL;

	while (*text) {
		const char *end = *text == '{' ? strchr(text, '}') : NULL;
		const size_t n = end ? (size_t)(end - text - 1) : 0;
		size_t k = 0;

		if (!end) {
			str_addc(&s, *text++);
			continue;
		}
		while (k < g->n_loops && (strlen(g->loops[k].key) != n || strncmp(g->loops[k].key, text + 1, n) != 0))
			k++;
		if (k == g->n_loops) {
			yaml_err(r->x->y, at, r->e, "'%.*s' is no key of 'for'", (int)n, text + 1);
			goto out;
		}
		str_add(&s, u->values[k]);
		text = end + 1;
	}
	if (s.failed || !(copy = arena_strdup(r->x->a, str_c(&s))))
		err_nomem(r->e, NULL);
out:
	str_free(&s);
	return copy;
}

static int fill_paths(struct reader *r, struct experiment_run *u)
{
	const struct experiment_group *g = u->group;

	if (!(u->paths = arena_array(r->x->a, g->n_figures + 1, sizeof *u->paths)))
		return err_nomem(r->e, NULL);
	for (size_t i = 0; i < g->n_figures; i++)
		if (g->figures[i].path && !(u->paths[i] = substitute(r, g->figures[i].place, u, g->figures[i].path)))
			return -1;
	return 0;
}

static int check_command(struct reader *r, struct experiment_run *u)
{
	struct err why = ERR_INIT;
	struct str files = STR_INIT;
	const char **words;
	char *copy = NULL;
	size_t n;

	if ((words = experiment_words(r->x->a, u->command, &n, &why)) &&
	    r->by->check(r->by->arg, words, n, &files, &why) == 0) {
		if (files.failed || !(copy = arena_alloc(r->x->a, files.len + 1)))
			err_nomem(&why, NULL);
		else
			memcpy(copy, str_c(&files), files.len);
		u->files = copy;
		u->n_files = files.len;
	}
	str_free(&files);
	return why.kind ? yaml_err(r->x->y, u->place, r->e, "%s", why.msg) : 0;
}

static int add_run(struct reader *r, const struct ynode *at, struct experiment_group *g, const size_t *which)
{
	struct experiment_run *u = &r->x->runs[r->x->n_runs];
	struct str label = STR_INIT;

	*u = (struct experiment_run){ .group = g, .place = at, .same = r->x->n_runs };
	u->first = r->x->n_runs - (g->n_loops ? which[g->n_loops - 1] : 0);
	str_add(&label, g->name);
	for (size_t k = 0; k < g->n_loops; k++) {
		u->values[k] = g->loops[k].values[which[k]];
		u->shown[k] = g->loops[k].shown[which[k]];
		str_addf(&label, ".%s", g->loops[k].labels[which[k]]);
	}
	u->label = label.failed ? NULL : arena_strdup(r->x->a, str_c(&label));
	str_free(&label);
	if (!u->label || !(u->figures = arena_array(r->x->a, g->n_figures + 1, sizeof *u->figures)))
		return err_nomem(r->e, NULL);
	if (!(u->command = substitute(r, at, u, g->command)) || check_command(r, u) < 0 || fill_paths(r, u) < 0)
		return -1;
	for (size_t i = r->x->n_runs; i-- > 0;)
		if (strcmp(r->x->runs[i].command, u->command) == 0)
			u->same = i;
	r->x->n_runs++;
	g->n++;
	return 0;
}

/* Every combination, the last key's values fastest. */
static int add_runs(struct reader *r, const struct ynode *at, struct experiment_group *g)
{
	size_t which[EXPERIMENT_KEYS] = { 0 }, k;

	g->first = r->x->n_runs;
	for (;;) {
		if (r->x->n_runs == EXPERIMENT_RUNS)
			return yaml_err(r->x->y, at, r->e, "more than %d commands", EXPERIMENT_RUNS);
		if (add_run(r, at, g, which) < 0)
			return -1;
		for (k = g->n_loops; k > 0 && ++which[k - 1] == g->loops[k - 1].n; k--)
			which[k - 1] = 0;
		if (k == 0)
			return 0;
	}
}

static bool has_column(const struct experiment_group *g)
{
	bool any = g->n_loops > 0;

	for (size_t i = 0; i < g->n_figures; i++)
		any |= g->figures[i].as != NULL;
	return any;
}

static int read_group(struct reader *r, const struct ynode *n, struct experiment_group *g)
{
	static const char *const keys[] = { "name", "command", "for", "may_fail", "table", "take", "make" };
	const struct ynode *may_fail = ynode_get(n, "may_fail");

	if (n->kind != YNODE_MAP)
		return yaml_err(r->x->y, n, r->e, "a run is a mapping: {name: NAME, command: TEXT, take: {...}}");
	if (yaml_only_keys(r->x->y, n, keys, COUNT(keys), r->e) < 0 || need(r, n, "name", "a run", &g->name) < 0 ||
	    need(r, n, "command", "a run", &g->command) < 0 || text_in(r, n, "table", &g->table) < 0 ||
	    (may_fail && yaml_bool(r->x->y, may_fail, &g->may_fail, r->e) < 0))
		return -1;
	if (!is_name(g->name) || strcmp(g->name, "first") == 0)
		return yaml_err(r->x->y, ynode_get(n, "name"), r->e, "'%s' is no name: letters, digits and _", g->name);
	for (const struct experiment_group *o = r->x->groups; o < g; o++)
		if (strcmp(o->name, g->name) == 0)
			return yaml_err(r->x->y, ynode_get(n, "name"), r->e, "two runs are called '%s'", g->name);
	if (!(g->figures = arena_array(r->x->a, EXPERIMENT_FIGURES, sizeof *g->figures)))
		return err_nomem(r->e, NULL);
	if (read_figures(r, n, "take", g) < 0 || read_figures(r, n, "make", g) < 0 ||
	    read_loops(r, ynode_get(n, "for"), g) < 0)
		return -1;
	if (g->table && !has_column(g))
		return yaml_err(r->x->y, ynode_get(n, "table"), r->e,
		                "this table has no column: a figure's 'as' heads one, {us: {at: total_us, as: us}}");
	return add_runs(r, ynode_get(n, "command"), g);
}

/* --- claims -------------------------------------------------------------------------------------------------------- */

static int read_claim(struct reader *r, const struct ynode *n, struct experiment_claim *c)
{
	static const char *const keys[] = { "says", "at", "right", "in_part", "cannot", "why", "asserts", "denies" };

	c->place = n;
	if (yaml_only_keys(r->x->y, n, keys, COUNT(keys), r->e) < 0 || need(r, n, "says", "a claim", &c->says) < 0 ||
	    text_in(r, n, "at", &c->at) < 0 || text_in(r, n, "right", &c->right) < 0 ||
	    text_in(r, n, "in_part", &c->in_part) < 0 || text_in(r, n, "cannot", &c->cannot) < 0 ||
	    text_in(r, n, "why", &c->why) < 0 || text_in(r, n, "asserts", &c->asserts) < 0 ||
	    text_in(r, n, "denies", &c->denies) < 0)
		return -1;
	if (!c->right == !c->cannot)
		return yaml_err(r->x->y, n, r->e, "a claim has 'right', an expression, or 'cannot', a reason");
	if (c->cannot && (c->in_part || c->why))
		return yaml_err(r->x->y, n, r->e, "a claim that cannot be asked has its reason alone");
	return c->right && !c->why ? yaml_err(r->x->y, n, r->e, "this claim has no 'why'") : 0;
}

/* NULL: there is none, which `e` says. */
static struct experiment_group *group_named(struct reader *r, const struct ynode *at, const char *name)
{
	for (size_t i = 0; i < r->x->n_groups; i++)
		if (strcmp(r->x->groups[i].name, name) == 0)
			return &r->x->groups[i];
	yaml_err(r->x->y, at, r->e, "no run is called '%s'", name);
	return NULL;
}

static bool has_figure(const struct experiment_group *g, const char *name)
{
	for (size_t i = 0; i < g->n_figures; i++)
		if (strcmp(g->figures[i].name, name) == 0)
			return true;
	return false;
}

/* A claim of every run of a name. */
static int read_from(struct reader *r, const struct ynode *n)
{
	static const char *const keys[] = { "from", "at" }, *const figures[] = { "says", "verdict", "why" };
	const struct experiment_group *g;
	const char *name, *at = NULL;

	if (yaml_only_keys(r->x->y, n, keys, COUNT(keys), r->e) < 0 || need(r, n, "from", "a claim", &name) < 0 ||
	    text_in(r, n, "at", &at) < 0)
		return -1;
	if (!(g = group_named(r, ynode_get(n, "from"), name)))
		return -1;
	for (size_t i = 0; i < COUNT(figures); i++)
		if (!has_figure(g, figures[i]))
			return yaml_err(r->x->y, n, r->e, "'%s' takes no '%s', which its claims are of", name,
			                figures[i]);
	if (r->x->n_claims + g->n > EXPERIMENT_CLAIMS)
		return yaml_err(r->x->y, n, r->e, "more than %d claims", EXPERIMENT_CLAIMS);
	for (size_t i = g->first; i < g->first + g->n; i++) {
		const char *shown = g->n_loops ? r->x->runs[i].shown[0] : g->name;
		struct experiment_claim *c = &r->x->claims[r->x->n_claims++];

		*c = (struct experiment_claim){ .says = shown, .from = g, .run = i, .place = n };
		if (!(c->at = at ? arena_printf(r->x->a, "%s (%s)", at, shown) : shown))
			return err_nomem(r->e, NULL);
	}
	return 0;
}

static int read_claims(struct reader *r, const struct ynode *claims)
{
	for (size_t i = 0; i < claims->n; i++) {
		const struct ynode *n = claims->vals[i];

		if (n->kind != YNODE_MAP)
			return yaml_err(r->x->y, n, r->e, "a claim is a mapping: {says: TEXT, right: EXPR, why: TEXT}");
		if (ynode_get(n, "from")) {
			if (read_from(r, n) < 0)
				return -1;
			continue;
		}
		if (r->x->n_claims == EXPERIMENT_CLAIMS)
			return yaml_err(r->x->y, n, r->e, "more than %d claims", EXPERIMENT_CLAIMS);
		if (read_claim(r, n, &r->x->claims[r->x->n_claims]) < 0)
			return -1;
		r->x->n_claims++;
	}
	return 0;
}

/* --- questions ----------------------------------------------------------------------------------------------------- */

static int read_shown(struct reader *r, const struct ynode *n, struct experiment_ask *q)
{
	const char *name;

	for (; n && q->n_shows < n->n; q->n_shows++) {
		const struct ynode *at = n->vals[q->n_shows];
		struct experiment_group *g = NULL;

		if (yaml_str(r->x->y, at, &name, r->e) < 0 || !(g = group_named(r, at, name)))
			return -1;
		if (!g->table)
			return yaml_err(r->x->y, at, r->e, "'%s' has no 'table' to show", name);
		g->asked = true;
		q->shows[q->n_shows] = g;
	}
	return 0;
}

/* A number of an answer is a figure. A word that begins with a digit was typed; one that has a letter before it is a name. */
static int check_typed(struct reader *r, const struct ynode *at, const char *text)
{
	bool name = false;

	for (const char *s = text; *s; s++) {
		const char *end = *s == '{' ? strchr(s, '}') : NULL;

		if (!name && isdigit((unsigned char)*s))
			return yaml_err(r->x->y, at, r->e,
			                "'%.*s' was typed: numbers of an answer are figures, {RUN.FIGURE}",
			                (int)strcspn(s, " \n"), s);
		name = !end && (isalpha((unsigned char)*s) || (name && !isspace((unsigned char)*s)));
		s = end ? end : s;
	}
	return 0;
}

static int read_ask(struct reader *r, const struct ynode *n, struct experiment_ask *q)
{
	static const char *const keys[] = { "ask", "answer", "holds", "shows" };
	const struct ynode *shows;

	q->place = n;
	if (n->kind != YNODE_MAP)
		return yaml_err(r->x->y, n, r->e, "a question is a mapping: {ask: TEXT, answer: TEXT, holds: EXPR}");
	if (yaml_only_keys(r->x->y, n, keys, COUNT(keys), r->e) < 0 || need(r, n, "ask", "a question", &q->ask) < 0 ||
	    need(r, n, "answer", "a question", &q->answer) < 0 || need(r, n, "holds", "a question", &q->holds) < 0 ||
	    check_typed(r, ynode_get(n, "answer"), q->answer) < 0 || list(r, n, "shows", r->x->n_groups, &shows) < 0)
		return -1;
	if (!(q->shows = arena_array(r->x->a, r->x->n_groups, sizeof *q->shows)))
		return err_nomem(r->e, NULL);
	return read_shown(r, shows, q);
}

static int read_asks(struct reader *r, const struct ynode *asks)
{
	for (; r->x->n_asks < asks->n; r->x->n_asks++)
		if (read_ask(r, asks->vals[r->x->n_asks], &r->x->asks[r->x->n_asks]) < 0)
			return -1;
	return 0;
}

/* What is run, and what of it is claimed or asked. */
static int read_lists(struct reader *r, const struct ynode *root)
{
	const struct ynode *runs, *claims, *asks;

	if (list(r, root, "runs", EXPERIMENT_RUNS, &runs) < 0 ||
	    list(r, root, "claims", EXPERIMENT_CLAIMS, &claims) < 0 ||
	    list(r, root, "asks", EXPERIMENT_ASKS, &asks) < 0)
		return -1;
	if (!runs)
		return yaml_err(r->x->y, root, r->e, "a study has 'runs', a list");
	if (!claims && !asks)
		return yaml_err(r->x->y, root, r->e, "a study has 'claims' or 'asks', a list");
	r->x->groups = arena_array(r->x->a, runs->n, sizeof *r->x->groups);
	r->x->runs = arena_array(r->x->a, EXPERIMENT_RUNS, sizeof *r->x->runs);
	r->x->claims = arena_array(r->x->a, EXPERIMENT_CLAIMS, sizeof *r->x->claims);
	r->x->asks = arena_array(r->x->a, EXPERIMENT_ASKS, sizeof *r->x->asks);
	if (!r->x->groups || !r->x->runs || !r->x->claims || !r->x->asks)
		return err_nomem(r->e, NULL);
	for (; r->x->n_groups < runs->n; r->x->n_groups++)
		if (read_group(r, runs->vals[r->x->n_groups], &r->x->groups[r->x->n_groups]) < 0)
			return -1;
	if ((claims && read_claims(r, claims) < 0) || (asks && read_asks(r, asks) < 0))
		return -1;
	return asks && r->x->answer ? check_typed(r, ynode_get(root, "answer"), r->x->answer) : 0;
}

static int read_root(struct reader *r)
{
	static const char *const keys[] = { "study", "title", "question", "answer", "asks", "runs", "claims" };
	const struct ynode *root = yaml_root(r->x->y), *n = ynode_get(root, "study");
	uint64_t version;

	if (!n)
		return yaml_err(r->x->y, root, r->e, "this is no study: it has no 'study: 1'");
	if (yaml_only_keys(r->x->y, root, keys, COUNT(keys), r->e) < 0 ||
	    yaml_u64(r->x->y, n, 0, UINT64_MAX, &version, r->e) < 0)
		return -1;
	if (version != 1)
		return yaml_err(r->x->y, n, r->e, "this build reads studies of version 1, not %llu",
		                (unsigned long long)version);
	if (need(r, root, "title", "a study", &r->x->title) < 0 || text_in(r, root, "question", &r->x->question) < 0 ||
	    text_in(r, root, "answer", &r->x->answer) < 0)
		return -1;
	return read_lists(r, root);
}

/* `y` is the answer's from here on; NULL: it could not be read, as `e` says. */
static struct experiment *read_answer(struct yaml *y, const char *path, const struct experiment_runner *by,
                                      struct err *e)
{
	struct experiment *x = y ? calloc(1, sizeof *x) : NULL;
	struct reader r = { x, by, e };

	if (!x) {
		yaml_free(y);
		if (y)
			err_nomem(e, NULL);
		return NULL;
	}
	x->y = y;
	if (!(x->a = arena_new(0)) || !(x->path = arena_strdup(x->a, path)))
		err_nomem(e, NULL);
	else if ((x->exprs = exprs_new(e)) && read_root(&r) == 0)
		return x;
	experiment_free(x);
	return NULL;
}

struct experiment *experiment_load(const char *path, const struct experiment_runner *by, struct err *e)
{
	return read_answer(yaml_load(path, e), path, by, e);
}

struct experiment *experiment_parse(const char *text, size_t n, const char *name, const struct experiment_runner *by,
                                    struct err *e)
{
	return read_answer(yaml_parse(text, n, name, e), name, by, e);
}

void experiment_free(struct experiment *x)
{
	if (!x)
		return;
	exprs_free(x->exprs);
	yaml_free(x->y);
	arena_free(x->a);
	free(x);
}
