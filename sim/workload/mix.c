#include "sim/workload/mix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/path.h"
#include "sim/workload/request.h"

/* --- parts -------------------------------------------------------------------------------------------------- */

/* The part's own name, or one of what it is. */
static int name_it(struct mix_part *x, struct arena *a, struct err *e)
{
	const struct workload_spec *s = &x->spec;
	const char *of = s->model ? s->model : s->range ? s->range : s->trace;

	if (!x->name)
		x->name = arena_printf(a, "%s%s%s", of, s->phase || s->model ? " " : "",
		                       s->phase   ? s->phase
		                       : s->model ? "decode"
		                                  : "");
	return x->name ? 0 : err_nomem(e, "for a mix");
}

static const struct mix_part *same_name(const struct mix *m, const struct mix_part *x)
{
	for (const struct mix_part *o = m->v; o < x; o++)
		if (strcmp(o->name, x->name) == 0)
			return o;
	return NULL;
}

static void normalise(struct mix *m)
{
	double sum = 0;

	for (size_t i = 0; i < m->n; i++)
		sum += m->v[i].weight;
	for (size_t i = 0; i < m->n; i++)
		m->v[i].weight /= sum;
}

/* --- a file's list ------------------------------------------------------------------------------------------ */

static int read_weight(const struct yaml *y, const struct ynode *n, double *out, struct err *e)
{
	*out = 1;
	if (!n)
		return 0;
	if (yaml_real(y, n, out, e) < 0)
		return -1;
	return *out > 0 && *out <= 1e9 ? 0 : yaml_err(y, n, e, "a weight is a number above 0");
}

static int read_part(const struct yaml *y, const struct ynode *n, struct arena *a, struct mix_part *x, struct err *e)
{
	static const char *const ours[] = { "name", "weight", NULL };
	const struct ynode *name = ynode_get(n, "name");
	const char *text;

	if (n->kind != YNODE_MAP)
		return yaml_err(y, n, e, "a workload is a mapping: {model: MODEL, weight: 0.5}");
	if (workload_yaml(y, n, WORKLOAD_MIX, ours, a, &x->spec, e) < 0 ||
	    read_weight(y, ynode_get(n, "weight"), &x->weight, e) < 0 || (name && yaml_str(y, name, &text, e) < 0))
		return -1;
	if (name && !*text)
		return yaml_err(y, name, e, "'name' is empty");
	if (name && !(x->name = arena_strdup(a, text)))
		return err_nomem(e, "for a mix");
	return name_it(x, a, e);
}

int mix_read(const struct yaml *y, const struct ynode *list, struct arena *a, struct mix *out, struct err *e)
{
	memset(out, 0, sizeof *out);
	if (list->kind != YNODE_SEQ || !list->n)
		return yaml_err(y, list, e, "'workloads' is a list: [{model: MODEL, weight: 0.5}, ...]");
	if (list->n > MIX_PARTS)
		return yaml_err(y, list, e, "more than %d workloads", MIX_PARTS);
	for (; out->n < list->n; out->n++) {
		struct mix_part *x = &out->v[out->n];

		if (read_part(y, list->vals[out->n], a, x, e) < 0)
			return -1;
		if (same_name(out, x))
			return yaml_err(y, list->vals[out->n], e,
			                "two workloads are called '%s': give one another 'name'", x->name);
	}
	normalise(out);
	return 0;
}

static const char *beside(const char *file, const char *name, struct arena *a)
{
	struct err none = ERR_INIT;
	char path[1024];

	if (*name != '/' && path_beside(file, name, path, sizeof path) == 0)
		return arena_strdup(a, path);
	if (access(name, R_OK) != 0 && *name != '/' && path_data(name, path, sizeof path, &none) == 0)
		return arena_strdup(a, path);
	return name;
}

int mix_load(const char *path, struct arena *a, struct mix *out, struct err *e)
{
	static const char *const keys[] = { "workloads" };
	struct yaml *y = yaml_load(path, e);
	const struct ynode *list;
	int rc = -1;

	if (!y)
		return -1;
	if (yaml_only_keys(y, yaml_root(y), keys, 1, e) == 0) {
		if ((list = ynode_get(yaml_root(y), "workloads")))
			rc = mix_read(y, list, a, out, e);
		else
			yaml_err(y, yaml_root(y), e, "a mix has 'workloads': [{model: MODEL, weight: 0.5}, ...]");
	}
	for (size_t i = 0; rc == 0 && i < out->n; i++)
		if (out->v[i].spec.trace && !(out->v[i].spec.trace = beside(path, out->v[i].spec.trace, a)))
			rc = err_nomem(e, "for a mix");
	yaml_free(y);
	return rc;
}

/* --- a command line's ----------------------------------------------------------------------------------------- */

/* Of a word between colons: a weight, or a phase. */
static int give_word(struct mix_part *x, const char *word, struct err *e)
{
	char *end;
	const double v = strtod(word, &end);

	if (end != word && !*end) {
		if (!(v > 0 && v <= 1e9))
			return err_set(e, ERR_USAGE, "'%s' is no weight: it is above 0, for option '--mix'", word);
		x->weight = v;
		return 0;
	}
	if (x->spec.phase)
		return err_set(e, ERR_USAGE, "'%s' is neither a weight nor a second phase, for option '--mix'", word);
	x->spec.phase = word;
	return 0;
}

/* MODEL[:PHASE][:WEIGHT], then keys. */
static int parse_part(char *head, const char *keys, struct arena *a, struct mix_part *x, struct err *e)
{
	char *rest = NULL, *word = strtok_r(head, ":", &rest);

	*x = (struct mix_part){ .weight = 1 };
	if (!word)
		return err_set(e, ERR_USAGE, "a part of a mix is MODEL[:PHASE][:WEIGHT], for option '--mix'");
	x->spec.model = word;
	while ((word = strtok_r(NULL, ":", &rest)))
		if (give_word(x, word, e) < 0)
			return -1;
	if (request_keys(keys, "a part of a mix", a, &x->spec, e) < 0 || workload_check(&x->spec, WORKLOAD_MIX, e) < 0)
		return err_add(e, "reading '%s' of option '--mix'", x->spec.model);
	return name_it(x, a, e);
}

/* Where the part that begins at `p` ends, and where its keys begin: at the first comma before a word with '='. */
static char *part_end(char *p, char **keys)
{
	char *at = p + strcspn(p, ",;");

	*keys = NULL;
	while (*at == ',' && at[1 + strcspn(at + 1, "=,;")] == '=') {
		if (!*keys)
			*keys = at;
		at += 1 + strcspn(at + 1, ",;");
	}
	return at;
}

int mix_parse(const char *text, struct arena *a, struct mix *out, struct err *e)
{
	char *p, *end, *keys;
	bool more = true;

	memset(out, 0, sizeof *out);
	if (str_suffix(text, ".yaml") || str_suffix(text, ".yml"))
		return mix_load(text, a, out, e);
	if (!(p = arena_strdup(a, text)))
		return err_nomem(e, "for a mix");
	for (; more; p = end + 1, out->n++) {
		p += strspn(p, " ");
		end = part_end(p, &keys);
		more = *end != 0;
		*end = 0;
		if (keys)
			*keys++ = 0;
		if (out->n == MIX_PARTS)
			return err_set(e, ERR_USAGE, "more than %d workloads, for option '--mix'", MIX_PARTS);
		p[strcspn(p, " ")] = 0;
		if (parse_part(p, keys ? keys : "", a, &out->v[out->n], e) < 0)
			return -1;
		if (same_name(out, &out->v[out->n]))
			return err_set(e, ERR_USAGE,
			               "two parts of the mix are '%s': a file gives them names, for option '--mix'",
			               out->v[out->n].name);
	}
	normalise(out);
	return 0;
}

void mix_text(const struct mix *m, struct str *to)
{
	for (size_t i = 0; i < m->n; i++)
		str_addf(to, "%s%.4g x %s", i ? " + " : "", m->v[i].weight, m->v[i].name);
}
