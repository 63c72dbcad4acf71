/* design_space.c - the axes: from a file, the command line or the list for the machine's kind, as a sweep's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/path.h"
#include "sim/design/design_int.h"

#define FOLDER "configs/design/" /* KIND.yaml */
#define STEPS  9                 /* of a range A..B */
#define MUCH   1e6               /* times as much as now */

struct writer {
	const struct design_question *q;
	const struct machine_conf *base;
	struct arena *a;
	struct err *e;
	struct str out;
	int line;
	bool shipped; /* what does not apply to the machine is left out of the list */
	size_t n;     /* axes written */
};

/* --- values -------------------------------------------------------------------------------------------------------- */

/* "x0.5": so many times what the machine has. */
static bool is_multiple(const char *text, double *out)
{
	char *end;

	if (*text != 'x' || text[1] < '0' || text[1] > '9')
		return false;
	*out = strtod(text + 1, &end);
	return !*end && *out > 0 && *out <= MUCH;
}

static uint64_t power_of_two(double v)
{
	uint64_t p = 1;

	while ((double)p * 1.5 <= v)
		p *= 2;
	return p;
}

/* As round as the value it comes from: to 1/64 of the power of two below, to three digits, to whole counts. */
static uint64_t rounded(const struct cfg_field *f, double v)
{
	uint64_t grain = 1, n;

	if (f->rule == cfg_pow2 || f->rule == cfg_pow2_or_0)
		return power_of_two(v);
	if (f->type == CFG_T_BYTES)
		while ((double)grain * 128 <= v)
			grain *= 2;
	else
		while ((double)grain * 1000 < v)
			grain *= 10;
	n = (uint64_t)(v / (double)grain + 0.5) * grain;
	return n ? n : 1;
}

/* The text of a value of an axis; NULL: of this machine it is none. */
static const char *value_text(struct writer *w, size_t row, const char *text)
{
	const struct cfg_field *f = cfg_at(w->base->raw, row).field;
	const uint64_t now = cfg_raw(w->base->raw, row);
	struct str s = STR_INIT;
	const char *copy;
	double times;
	uint64_t v;

	if (!is_multiple(text, &times))
		return text;
	if (f->type == CFG_T_ENUM || f->type == CFG_T_STR || f->type == CFG_T_BOOL || !now)
		return NULL;
	v = times < 1 || times > 1 ? rounded(f, (double)now * times) : now;
	if (v < f->min || v > f->max)
		return NULL;
	cfg_format_value(f->type, v, &s);
	copy = s.failed ? NULL : arena_strdup(w->a, str_c(&s));
	str_free(&s);
	return copy;
}

static void quote(struct str *out, const char *text)
{
	str_addc(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			str_addc(out, '\\');
		str_addc(out, *text);
	}
	str_addc(out, '"');
}

/* --- YAML again ------------------------------------------------------------------------------------------------------- */

/* So that faults are told with the lines of the file they stand in. */
static void to_line(struct writer *w, int line)
{
	str_addc(&w->out, '\n');
	for (w->line++; w->line < line; w->line++)
		str_addc(&w->out, '\n');
}

static void flow(struct writer *w, const struct ynode *n)
{
	if (n->kind == YNODE_SCALAR) {
		quote(&w->out, n->text);
		return;
	}
	str_addc(&w->out, n->kind == YNODE_MAP ? '{' : '[');
	for (size_t i = 0; i < n->n; i++) {
		str_add(&w->out, i ? ", " : "");
		if (n->kind == YNODE_MAP) {
			flow(w, n->keys[i]);
			str_add(&w->out, ": ");
		}
		flow(w, n->vals[i]);
	}
	str_addc(&w->out, n->kind == YNODE_MAP ? '}' : ']');
}

/* A list of values, each once, those that the machine has none of left out. */
static int values(struct writer *w, const char *key, size_t row, const char *const *v, size_t n, int line)
{
	const char **kept = arena_array(w->a, n + 1, sizeof *kept);
	size_t have = 0;

	if (!kept)
		return design_no_memory(w->e);
	for (size_t i = 0; i < n; i++) {
		const char *text = value_text(w, row, v[i]);
		bool there = !text;

		for (size_t k = 0; k < have && !there; k++)
			there = strcmp(kept[k], text) == 0;
		if (!there)
			kept[have++] = text;
	}
	if (w->shipped && have < 2)
		return 0;
	to_line(w, line);
	str_add(&w->out, "  ");
	quote(&w->out, key);
	str_add(&w->out, ": [");
	for (size_t i = 0; i < have; i++) {
		str_add(&w->out, i ? ", " : "");
		quote(&w->out, kept[i]);
	}
	str_addc(&w->out, ']');
	w->n++;
	return 0;
}

/* An axis of a file; what is no list of values is for the sweep's reader to judge. */
static int node_axis(struct writer *w, const struct ynode *key, const struct ynode *value)
{
	const bool list = value->kind == YNODE_SEQ;
	struct err why = ERR_INIT;
	const char **v;
	size_t row;
	bool plain = list;

	for (size_t i = 0; i < w->q->n_axes; i++) {
		const size_t n = strcspn(w->q->axes[i], "=");

		if (strlen(key->text) == n && strncmp(key->text, w->q->axes[i], n) == 0)
			return 0; /* the command line has it otherwise */
	}
	for (size_t i = 0; list && i < value->n; i++)
		plain &= value->vals[i]->kind == YNODE_SCALAR;
	if (!plain || cfg_find(w->base->raw, key->text, &row, &why) < 0) {
		to_line(w, key->line);
		str_add(&w->out, "  ");
		flow(w, key);
		str_add(&w->out, ": ");
		flow(w, value);
		w->n++;
		return 0;
	}
	if (!(v = arena_array(w->a, value->n + 1, sizeof *v)))
		return design_no_memory(w->e);
	for (size_t i = 0; i < value->n; i++)
		if (!(v[i] = arena_strdup(w->a, value->vals[i]->text)))
			return design_no_memory(w->e);
	return values(w, key->text, row, v, value->n, key->line);
}

/* A file's axes, links and conditions. */
static int file_axes(struct writer *w, const char *path)
{
	static const char *const keys[] = { "axes", "link", "where" };
	struct yaml *y = yaml_load(path, w->e);
	const struct ynode *root, *axes, *rest;
	int rc = 0;

	if (!y)
		return -1;
	root = yaml_root(y);
	axes = ynode_get(root, "axes");
	if (yaml_only_keys(y, root, keys, 3, w->e) < 0)
		rc = -1;
	else if (!axes || axes->kind != YNODE_MAP || !axes->n)
		rc = yaml_err(y, axes ? axes : root, w->e, "a file of axes has 'axes': {l2.size: [x0.5, x1, x2]}");
	for (size_t i = 0; rc == 0 && i < axes->n; i++)
		rc = node_axis(w, axes->keys[i], axes->vals[i]);
	for (size_t i = 1; rc == 0 && i < 3; i++)
		if ((rest = ynode_get(root, keys[i]))) {
			to_line(w, rest->line);
			str_addf(&w->out, "%s: ", keys[i]);
			flow(w, rest);
		}
	yaml_free(y);
	return rc;
}

/* --- the command line's ------------------------------------------------------------------------------------------------ */

/* STEPS values from one end to the other, each so many times the one before, as round as they can be; the ends as written. */
static int range_axis(struct writer *w, const char *key, size_t row, const char *from, const char *to)
{
	const struct cfg_field *f = cfg_at(w->base->raw, row).field;
	const char *v[STEPS];
	struct err why = ERR_INIT;
	uint64_t low, high;

	if (!from)
		return design_no_memory(w->e);
	if (f->type == CFG_T_ENUM || f->type == CFG_T_STR || f->type == CFG_T_BOOL)
		return err_set(w->e, ERR_USAGE, "'%s' is no number: list its values, for option '--axis'", key);
	if (cfg_parse_value(f->type, from, &low, &why) < 0 || cfg_parse_value(f->type, to, &high, &why) < 0)
		return err_set(w->e, ERR_USAGE, "%s, for option '--axis'", why.msg);
	if (!low || low >= high)
		return err_set(w->e, ERR_USAGE,
		               "'%s..%s' is no range from a number above 0 to a larger one, for option '--axis'", from,
		               to);
	v[0] = from;
	v[STEPS - 1] = to;
	for (int i = 1; i < STEPS - 1; i++) {
		const uint64_t at = rounded(f, (double)low * pow((double)high / (double)low, (double)i / (STEPS - 1)));
		struct str s = STR_INIT;

		cfg_format_value(f->type, at, &s);
		v[i] = s.failed ? NULL : arena_strdup(w->a, str_c(&s));
		str_free(&s);
		if (!v[i])
			return design_no_memory(w->e);
	}
	return values(w, key, row, v, STEPS, 0);
}

/* KEY=A,B,C or KEY=A..B; in its own line before what a file has. */
static int word_axis(struct writer *w, const char *text)
{
	const char *eq = strchr(text, '='), *dots;
	const char *v[DESIGN_FORMS];
	struct err why = ERR_INIT;
	size_t row, n = 0;
	char *key, *p, *rest = NULL;

	if (!eq || eq == text || !eq[1])
		return err_set(w->e, ERR_USAGE,
		               "'%s' is no axis: write KEY=VALUE,VALUE or KEY=FROM..TO, for option '--axis'", text);
	if (!(key = arena_strndup(w->a, text, (size_t)(eq - text))) || !(p = arena_strdup(w->a, eq + 1)))
		return design_no_memory(w->e);
	if (cfg_find(w->base->raw, key, &row, &why) < 0)
		return err_set(w->e, ERR_USAGE, "%s, for option '--axis'", why.msg);
	if ((dots = strstr(p, "..")))
		return range_axis(w, key, row, arena_strndup(w->a, p, (size_t)(dots - p)), dots + 2);
	for (char *word = strtok_r(p, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		word += strspn(word, " ");
		if (n == DESIGN_FORMS)
			return err_set(w->e, ERR_USAGE, "more than %d values, for option '--axis'", DESIGN_FORMS);
		v[n++] = word;
	}
	return values(w, key, row, v, n, 0);
}

/* --- the whole ---------------------------------------------------------------------------------------------------------- */

/* The list for a kind of machines; NULL: there is none. */
static const char *list_of(const struct machine_conf *c, char *path, unsigned size, struct err *e)
{
	char name[64];

	snprintf(name, sizeof name, FOLDER "%s.yaml", machine_kind_name((enum machine_kind)c->cfg.kind));
	return path_data(name, path, size, e) < 0 ? NULL : path;
}

static int write_axes(struct writer *w)
{
	const struct design_question *q = w->q;
	char path[512];

	str_add(&w->out, "axes:");
	w->line = 1;
	for (size_t i = 0; i < q->n_axes; i++)
		if (word_axis(w, q->axes[i]) < 0)
			return -1;
	if (q->axes_file)
		return file_axes(w, q->axes_file);
	if (q->n_axes)
		return 0;
	w->shipped = true;
	if (!list_of(w->base, path, sizeof path, w->e))
		return err_add(w->e, "looking for the axes of machines of kind %s: name them with --axis",
		               machine_kind_name((enum machine_kind)w->base->cfg.kind));
	return file_axes(w, path);
}

int design_unsaid(const struct machine_conf *c, struct arena *a, const char ***out, size_t *n, struct err *e)
{
	char path[512];
	struct yaml *y;
	const struct ynode *axes;
	struct str value = STR_INIT;
	struct err none = ERR_INIT;
	int rc = 0;

	*n = 0;
	if (!list_of(c, path, sizeof path, &none))
		return 0;
	if (!(y = yaml_load(path, e)))
		return -1;
	axes = ynode_get(yaml_root(y), "axes");
	if (!(*out = arena_array(a, (axes ? axes->n : 0) + 1, sizeof **out)))
		rc = design_no_memory(e);
	for (size_t i = 0; rc == 0 && axes && i < axes->n; i++) {
		size_t row;

		if (cfg_find(c->raw, axes->keys[i]->text, &row, &none) < 0 || cfg_at(c->raw, row).given ||
		    !cfg_raw(c->raw, row))
			continue;
		str_clear(&value);
		cfg_value(c->raw, row, &value);
		if (!((*out)[(*n)++] = arena_printf(a, "%s %s", axes->keys[i]->text, str_c(&value))))
			rc = design_no_memory(e);
	}
	str_free(&value);
	yaml_free(y);
	return rc;
}

/* The rows of the keys of one dimension that can be twice as much. */
static int doubled(struct writer *w, const struct ynode *axes, const struct ynode *keys, struct design_double *out)
{
	struct err none = ERR_INIT;
	size_t row;

	if (!(out->sets = arena_array(w->a, keys->n + 1, sizeof *out->sets)))
		return design_no_memory(w->e);
	for (size_t i = 0; i < (keys->n ? keys->n : 1); i++) {
		const char *key = keys->n ? keys->vals[i]->text : keys->text, *then;
		const struct ynode *list = ynode_get(axes, key);

		if (!list || list->kind != YNODE_SEQ || cfg_find(w->base->raw, key, &row, &none) < 0 ||
		    !(then = value_text(w, row, "x2")))
			continue;
		if (!out->n_sets) {
			struct str now = STR_INIT;

			cfg_value(w->base->raw, row, &now);
			out->key = arena_strdup(w->a, key);
			out->now = arena_strdup(w->a, str_c(&now));
			out->then = then;
			str_free(&now);
		}
		if (!(out->sets[out->n_sets++] = arena_printf(w->a, "%s=%s", key, then)) || !out->key || !out->now)
			return design_no_memory(w->e);
	}
	return 0;
}

/* Does the key move with others, whose first is another? */
static const struct ynode *linked(const struct ynode *links, const char *key)
{
	for (size_t i = 0; links && i < links->n; i++)
		for (size_t k = 0; k < links->vals[i]->n; k++)
			if (strcmp(links->vals[i]->vals[k]->text, key) == 0)
				return links->vals[i];
	return NULL;
}

int design_doubles(const struct machine_conf *c, struct arena *a, struct design_double **out, size_t *n, struct err *e)
{
	struct writer w = { .base = c, .a = a, .e = e };
	const struct ynode *axes, *links;
	char path[512];
	struct yaml *y;
	int rc = 0;

	*n = 0;
	if (!list_of(c, path, sizeof path, e) || !(y = yaml_load(path, e)))
		return -1;
	axes = ynode_get(yaml_root(y), "axes");
	links = ynode_get(yaml_root(y), "link");
	if (!(*out = arena_array(a, axes->n + 1, sizeof **out)))
		rc = design_no_memory(e);
	for (size_t i = 0; rc == 0 && i < axes->n; i++) {
		const struct ynode *group = linked(links, axes->keys[i]->text);

		if (group && strcmp(group->vals[0]->text, axes->keys[i]->text) != 0)
			continue;
		(*out)[*n] = (struct design_double){ .key = NULL };
		rc = doubled(&w, axes, group ? group : axes->keys[i], &(*out)[*n]);
		*n += (*out)[*n].n_sets > 0;
	}
	yaml_free(y);
	return rc;
}

const char *design_axes(const struct design_question *q, struct arena *a, struct err *e)
{
	struct machine_conf *base = machine_conf_load(q->config, q->sets, q->n_sets, e);
	struct writer w = { .q = q, .base = base, .a = a, .e = e, .out = STR_INIT };
	const char *text = NULL;

	if (base && write_axes(&w) == 0) {
		to_line(&w, 0);
		if (w.out.failed || !(text = arena_strdup(a, str_c(&w.out))))
			design_no_memory(e);
		else if (!w.n)
			err_set(e, ERR_USAGE, "no axis applies to '%s': name one, --axis KEY=VALUE,VALUE", q->config);
	}
	str_free(&w.out);
	machine_conf_free(base);
	return e->kind ? NULL : text;
}

/* The machine's file from anywhere: a sweep looks beside its own first. */
static const char *base_path(const struct design_question *q, struct arena *a, struct err *e)
{
	char here[1024];
	const char *path = q->config;

	if (*path != '/' && access(path, R_OK) == 0 && getcwd(here, sizeof here))
		path = arena_printf(a, "%s/%s", here, path);
	if (!path)
		design_no_memory(e);
	return path;
}

struct sweep *design_space(const struct design_question *q, struct arena *a, struct err *e)
{
	const char *axes = design_axes(q, a, e), *text, *base = axes ? base_path(q, a, e) : NULL;
	const char *name = q->axes_file ? q->axes_file : "--axis";
	struct sweep *s;

	if (!base)
		return NULL;
	if (!(text = arena_printf(a, "%ssweep: 1\nbase: \"%s\"\n", axes, base))) {
		design_no_memory(e);
		return NULL;
	}
	if (!(s = sweep_parse(text, name, NULL, e)))
		return NULL;
	if (s->n_axes > DESIGN_AXES)
		err_set(e, ERR_USAGE, "more than %d axes", DESIGN_AXES);
	for (size_t i = 0; !e->kind && i < s->n_axes; i++)
		if (s->axes[i].continuous)
			yaml_err(s->y, s->axes[i].at, e, "the range of axis '%s' has no 'steps', which a design needs",
			         s->axes[i].key);
	if (!e->kind)
		machine_base_assign(s->machines, q->sets, q->n_sets, e);
	s->traffic = q->job.serve != NULL;
	if (!e->kind)
		return s;
	sweep_free(s);
	return NULL;
}
