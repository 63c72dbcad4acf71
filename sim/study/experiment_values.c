/* experiment_values.c - figures by path out of a command's document, expressions over them, and texts that they stand in. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/experiment.h"

/* --- a path -------------------------------------------------------------------------------------------------------- */

struct found {
	double sum;
	size_t n;
	const char *text;
	const char *missing; /* a name that no object has */
	size_t missing_len;
};

static void leaf(const struct json *v, struct found *f)
{
	if (v->kind == JSON_TEXT)
		f->text = v->text;
	else if (v->kind == JSON_NUMBER || v->kind == JSON_BOOL)
		f->sum += v->number;
	else
		return;
	f->n++;
}

static const struct json *member(const struct json *object, const char *name, size_t n)
{
	for (size_t i = 0; object->kind == JSON_OBJECT && i < object->n; i++)
		if (strlen(object->v[i]->key) == n && strncmp(object->v[i]->key, name, n) == 0)
			return object->v[i];
	return NULL;
}

static bool equals(const struct json *v, const char *text, size_t n)
{
	char number[64];

	if (v && v->kind == JSON_TEXT)
		return strlen(v->text) == n && strncmp(v->text, text, n) == 0;
	if (!v || v->kind != JSON_NUMBER || n >= sizeof number)
		return false;
	memcpy(number, text, n);
	number[n] = '\0';
	return v->number == strtod(number, NULL);
}

/* Where a value ends: at the next comma, or behind the quote that closes it. */
static const char *value_end(const char *from, const char *end)
{
	const char *stop = from < end && *from == '\'' ? memchr(from + 1, '\'', (size_t)(end - from - 1)) : NULL;

	if (stop)
		return stop + 1;
	stop = memchr(from, ',', (size_t)(end - from));
	return stop ? stop : end;
}

/* "kind=gemm,layer=0" of an element; a value with a comma stands in quotes. */
static bool chosen(const struct json *v, size_t index, const char *how, const char *end)
{
	if (*how == '*')
		return true;
	if (isdigit((unsigned char)*how))
		return strtoul(how, NULL, 10) == index;
	while (how < end) {
		const char *is = memchr(how, '=', (size_t)(end - how)), *stop;
		size_t quoted;

		if (!is)
			return false;
		stop = value_end(is + 1, end);
		quoted = stop - is > 2 && is[1] == '\'' && stop[-1] == '\'';
		if (!equals(member(v, how, (size_t)(is - how)), is + 1 + quoted, (size_t)(stop - is - 1) - 2 * quoted))
			return false;
		how = stop + (stop < end);
	}
	return true;
}

static void walk(const struct json *v, const char *path, struct found *f)
{
	const char *end;

	path += *path == '.';
	if (!*path) {
		leaf(v, f);
	} else if (*path == '#') {
		f->sum++;
		f->n++;
	} else if (*path == '[') {
		end = strchr(path, ']');
		for (size_t i = 0; end && v->kind == JSON_LIST && i < v->n; i++)
			if (chosen(v->v[i], i, path + 1, end))
				walk(v->v[i], end + 1, f);
	} else {
		const bool quoted = *path == '\'';
		const size_t n = strcspn(path + quoted, quoted ? "'" : ".[");
		const struct json *next = member(v, path + quoted, n);

		if (next) {
			path += quoted + n;
			walk(next, path + (quoted && *path), f);
		} else if (v->kind != JSON_NULL) {
			f->missing = path;
			f->missing_len = n;
		}
	}
}

static int take_path(struct experiment *x, const struct json *root, struct experiment_run *u, size_t figure,
                     struct err *e)
{
	const struct experiment_figure *fig = &u->group->figures[figure];
	struct expr_value *out = &u->figures[figure];
	struct found f = { .n = 0 };

	walk(root, u->paths[figure], &f);
	if (f.missing && !f.n)
		return yaml_err(x->y, fig->place, e, "what the command says has no '%.*s', for '%s'",
		                (int)f.missing_len, f.missing, u->paths[figure]);
	*out = (struct expr_value){ .type = EXPR_NULL };
	if (f.text && f.n == 1) {
		out->type = EXPR_TEXT;
		if (!(out->text = arena_strdup(x->a, f.text)))
			return err_nomem(e, NULL);
	} else if (f.n || strchr(u->paths[figure], '#')) {
		out->type = EXPR_NUMBER;
		out->number = f.sum * fig->times;
	}
	return 0;
}

/* --- names --------------------------------------------------------------------------------------------------------- */

/* Whose short names count; run NO_RUN: none. Ids are a run's times EXPERIMENT_FIGURES and a figure. */
#define NO_RUN SIZE_MAX
struct scope {
	const struct experiment *x;
	size_t run;
	bool check; /* expressions are read, and have no value yet */
	bool ask;   /* each has a figure */
	bool used[EXPERIMENT_RUNS];
};

static int figure_named(const struct experiment_group *g, const char *name)
{
	for (size_t i = 0; i < g->n_figures; i++)
		if (strcmp(g->figures[i].name, name) == 0)
			return (int)i;
	return -1;
}

static int experiment_values_find(void *arg, const char *name, struct err *e)
{
	struct scope *s = arg;
	const char *dot = strrchr(name, '.'), *near;
	const bool first = strncmp(name, "first.", 6) == 0;
	const char *labels[EXPERIMENT_RUNS];
	int f;

	if (s->run != NO_RUN && (!dot || first)) {
		const struct experiment_run *u = &s->x->runs[s->run];

		if ((f = figure_named(u->group, first ? name + 6 : name)) >= 0)
			return (int)(first ? u->first : s->run) * EXPERIMENT_FIGURES + f;
		return err_set(e, ERR_CONFIG, "'%s' is no figure of '%s'", name, u->group->name);
	}
	for (size_t i = 0; dot && i < s->x->n_runs; i++) {
		const struct experiment_run *u = &s->x->runs[i];

		labels[i] = u->label;
		if (strlen(u->label) != (size_t)(dot - name) || strncmp(u->label, name, (size_t)(dot - name)) != 0)
			continue;
		if ((f = figure_named(u->group, dot + 1)) >= 0)
			return (int)i * EXPERIMENT_FIGURES + f;
		return err_set(e, ERR_CONFIG, "'%s' has no figure '%s'", u->label, dot + 1);
	}
	near = dot ? str_nearest(name, labels, s->x->n_runs) : NULL;
	return err_set(e, ERR_CONFIG, "'%s' is no figure: it is RUN.FIGURE%s%s%s", name,
	               near ? ", such as those of '" : "", near ? near : "", near ? "'" : "");
}

static struct expr_value experiment_values_value(void *arg, int id)
{
	struct scope *s = arg;
	const size_t run = (size_t)id / EXPERIMENT_FIGURES;

	s->used[run] = true;
	return s->x->runs[run].figures[(size_t)id % EXPERIMENT_FIGURES];
}

static int evaluate(struct experiment *x, const char *text, struct scope *s, struct expr_value *out, struct err *e)
{
	struct expr *p = expr_new(x->exprs, text, experiment_values_find, s, e);
	const int *ids;

	*out = (struct expr_value){ .type = EXPR_NUMBER };
	if (!p)
		return -1;
	if (s->ask && !expr_ids(p, &ids))
		return err_set(e, ERR_CONFIG, "'%s' has no figure: numbers of an answer are no typed ones", text);
	if (s->check)
		return 0;
	/* A name alone may be a text, which the result of an expression is not. */
	if (expr_ids(p, &ids) == 1 &&
	    strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") == strlen(text)) {
		*out = experiment_values_value(s, ids[0]);
		return 0;
	}
	return expr_eval(p, experiment_values_value, s, out, e);
}

/* --- figures of a run ---------------------------------------------------------------------------------------------- */

int experiment_take(struct experiment *x, size_t run, const struct json *document, struct err *e)
{
	struct experiment_run *u = &x->runs[run];

	for (size_t i = 0; i < u->group->n_figures; i++)
		if (u->paths[i] && take_path(x, document, u, i, e) < 0)
			return -1;
	return 0;
}

/* Those that are made of others, in the order of the runs. */
static int make_figures(struct experiment *x, struct scope *s, struct err *e)
{
	struct err why = ERR_INIT;

	for (size_t i = 0; i < x->n_runs; i++) {
		const struct experiment_run *u = &x->runs[i];

		s->run = i;
		for (size_t k = 0; k < u->group->n_figures; k++) {
			const struct experiment_figure *f = &u->group->figures[k];

			if (!f->is)
				continue;
			if (evaluate(x, f->is, s, &u->figures[k], &why) < 0)
				return yaml_err(x->y, f->place, e, "%s", why.msg);
		}
	}
	s->run = NO_RUN;
	return 0;
}

/* --- numbers and texts --------------------------------------------------------------------------------------------- */

static void grouped(const char *digits, struct str *out)
{
	const size_t sign = *digits == '-', n = strcspn(digits + sign, ".") + sign;

	for (size_t i = 0; digits[i]; i++) {
		if (i > sign && i < n && (n - i) % 3 == 0)
			str_addc(out, ',');
		str_addc(out, digits[i]);
	}
}

void experiment_number(const struct expr_value *v, int digits, struct str *out)
{
	char text[400];

	if (v->type == EXPR_TEXT) {
		str_add(out, v->text);
		return;
	}
	if (v->type != EXPR_NUMBER) {
		str_add(out, "-");
		return;
	}
	if (digits < 0) /* whole, or four in all */
		digits = v->number == floor(v->number) ? 0 : (int)fmax(0, fmin(9, 3 - floor(log10(fabs(v->number)))));
	snprintf(text, sizeof text, "%.*f", digits, v->number);
	grouped(text + (*text == '-' && !strpbrk(text, "123456789")), out); /* -0.0 */
}

/* "{EXPR; N}" of which `n` characters stand between the braces. */
static int figure_in(struct experiment *x, const char *text, size_t n, struct scope *s, struct str *out, struct err *e)
{
	char *expr = arena_strndup(x->a, text, n), *semicolon = expr ? strrchr(expr, ';') : NULL;
	struct expr_value v;
	int digits = -1;

	if (!expr)
		return err_nomem(e, NULL);
	if (semicolon) {
		digits = atoi(semicolon + 1);
		*semicolon = '\0';
	}
	if (evaluate(x, expr, s, &v, e) < 0)
		return -1;
	if (v.type == EXPR_NULL)
		return err_set(e, ERR_CONFIG, "'%s' has no value", expr);
	experiment_number(&v, digits < 0 || digits > 9 ? -1 : digits, out);
	return 0;
}

/* The text with its figures. */
static const char *filled(struct experiment *x, const struct ynode *place, const char *text, struct scope *s,
                          struct err *e)
{
	struct str out = STR_INIT;
	const char *copy = NULL;
	struct err why = ERR_INIT;

	for (; *text; text++) {
		const char *end = *text == '{' ? strchr(text, '}') : NULL;

		if (!end) {
			str_addc(&out, *text);
			continue;
		}
		if (figure_in(x, text + 1, (size_t)(end - text - 1), s, &out, &why) < 0) {
			yaml_err(x->y, place, e, "%s", why.msg);
			str_free(&out);
			return NULL;
		}
		text = end;
	}
	if (out.failed || !(copy = arena_strdup(x->a, str_c(&out))))
		err_nomem(e, NULL);
	str_free(&out);
	return copy;
}

/* --- verdicts ------------------------------------------------------------------------------------------------------ */

static int holds(struct experiment *x, const struct ynode *place, const char *text, struct scope *s, bool *yes,
                 struct err *e)
{
	struct expr_value v;
	struct err why = ERR_INIT;

	if (evaluate(x, text, s, &v, &why) < 0)
		return yaml_err(x->y, place, e, "%s", why.msg);
	if (v.type != EXPR_NUMBER)
		return yaml_err(x->y, place, e, "'%s' has no value", text);
	*yes = v.number != 0;
	return 0;
}

static int list_runs(struct experiment *x, struct experiment_claim *c, const struct scope *s, struct err *e)
{
	if (!(c->runs = arena_array(x->a, x->n_runs + 1, sizeof *c->runs)))
		return err_nomem(e, NULL);
	for (size_t i = 0; i < x->n_runs; i++) {
		bool again = !s->used[i];

		for (size_t k = 0; k < c->n_runs; k++)
			again |= x->runs[c->runs[k]].same == x->runs[i].same;
		if (!again)
			c->runs[c->n_runs++] = i;
	}
	return 0;
}

static bool any_figure(const struct scope *s)
{
	return memchr(s->used, true, sizeof s->used) != NULL;
}

static const char *text_of(const struct experiment *x, const struct experiment_claim *c, const char *figure,
                           struct err *e)
{
	const struct expr_value *v = &x->runs[c->run].figures[figure_named(c->from, figure)];

	if (v->type == EXPR_TEXT)
		return v->text;
	yaml_err(x->y, c->place, e, "'%s.%s' is no text", x->runs[c->run].label, figure);
	return NULL;
}

/* As the command judged it. */
static int judge_from(struct experiment *x, struct experiment_claim *c, struct scope *s, struct err *e)
{
	const char *verdict = text_of(x, c, "verdict", e);
	int v = EXPERIMENT_RIGHT;

	if (!verdict || !(c->says = text_of(x, c, "says", e)) || !(c->why = text_of(x, c, "why", e)))
		return -1;
	while (v <= EXPERIMENT_OPEN && strcmp(verdict, experiment_verdict_name((enum experiment_verdict)v)) != 0)
		v++;
	c->verdict = v <= EXPERIMENT_OPEN ? (enum experiment_verdict)v : EXPERIMENT_CANNOT;
	s->used[c->run] = true;
	return list_runs(x, c, s, e);
}

static int judge(struct experiment *x, struct experiment_claim *c, struct scope *s, struct err *e)
{
	bool yes = false;

	memset(s->used, 0, sizeof s->used);
	c->verdict = EXPERIMENT_CANNOT;
	if (c->from)
		return judge_from(x, c, s, e);
	if (c->cannot)
		return 0;
	if (holds(x, c->place, c->right, s, &yes, e) < 0)
		return -1;
	c->verdict = !yes ? EXPERIMENT_WRONG : any_figure(s) ? EXPERIMENT_RIGHT : EXPERIMENT_ARITHMETIC;
	if (!yes && c->in_part) {
		if (holds(x, c->place, c->in_part, s, &yes, e) < 0)
			return -1;
		c->verdict = yes ? EXPERIMENT_PART : EXPERIMENT_WRONG;
	}
	if (!(c->why = filled(x, c->place, c->why, s, e)))
		return -1;
	return list_runs(x, c, s, e);
}

static struct scope *scope_of(struct experiment *x, bool check, struct err *e)
{
	struct scope *s = arena_alloc(x->a, sizeof *s);

	if (!s) {
		err_nomem(e, NULL);
		return NULL;
	}
	*s = (struct scope){ .x = x, .run = NO_RUN, .check = check };
	return s;
}

/* Of map's key 'answer': with its figures, where they are known. */
static int fill_answer(struct experiment *x, const struct ynode *map, const char **text, struct scope *s, struct err *e)
{
	const char *answer = *text ? filled(x, ynode_get(map, "answer"), *text, s, e) : NULL;

	if (*text && !answer)
		return -1;
	if (!s->check)
		*text = answer;
	return 0;
}

/* The answer of all, and that of each question. */
static int answer(struct experiment *x, struct scope *s, struct err *e)
{
	s->ask = x->n_asks > 0;
	if (fill_answer(x, yaml_root(x->y), &x->answer, s, e) < 0)
		return -1;
	for (size_t i = 0; i < x->n_asks; i++) {
		struct experiment_ask *q = &x->asks[i];
		const struct ynode *place = ynode_get(q->place, "holds");
		bool yes;

		if (fill_answer(x, q->place, &q->answer, s, e) < 0 || holds(x, place, q->holds, s, &yes, e) < 0)
			return -1;
		if (!s->check && !yes)
			return yaml_err(x->y, place, e, "the answer no longer holds: it would say \"%s\"", q->answer);
	}
	return 0;
}

int experiment_check(struct experiment *x, struct err *e)
{
	struct scope *s = scope_of(x, true, e);
	bool ignored;

	if (!s || make_figures(x, s, e) < 0)
		return -1;
	for (size_t i = 0; i < x->n_claims; i++) {
		const struct experiment_claim *c = &x->claims[i];

		if ((c->right && holds(x, c->place, c->right, s, &ignored, e) < 0) ||
		    (c->in_part && holds(x, c->place, c->in_part, s, &ignored, e) < 0) ||
		    (c->why && !filled(x, c->place, c->why, s, e)))
			return -1;
	}
	return answer(x, s, e);
}

int experiment_judge(struct experiment *x, struct err *e)
{
	struct scope *s = scope_of(x, false, e);

	if (!s || make_figures(x, s, e) < 0)
		return -1;
	for (size_t i = 0; i < x->n_claims; i++) {
		if (judge(x, &x->claims[i], s, e) < 0)
			return -1;
		x->counted[x->claims[i].verdict]++;
	}
	return answer(x, s, e);
}

const char *experiment_verdict_name(enum experiment_verdict v)
{
	static const char *const names[] = { "right", "in part", "wrong", "open", "arithmetic", "cannot be asked" };

	return names[v];
}
