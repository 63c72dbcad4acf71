/* rates_map.c - a table of published rates, and what its words mean. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "sim/accuracy/rates.h"
#include "sim/base/hash.h"
#include "sim/base/path.h"
#include "sim/base/re.h"
#include "sim/base/str.h"
#include "traces/text/csv.h"
#include "workloads/model/model.h"

#define COUNT(a)    (sizeof(a) / sizeof *(a))
#define ENTRIES_MAX 256
#define JOINED_MAX  4

enum { GPU, MODEL, FORMAT, ENGINE, CONTEXT, LISTS };

static const struct {
	const char *list, *column, *needs;
} lists[LISTS] = {
	{ "gpus", "gpu", "config" },     { "models", "model", "model" },  { "formats", "format", "quant" },
	{ "engines", "engine", "name" }, { "contexts", "context", NULL },
};

struct entry {
	regex_t re;
	const struct ynode *at;
};

/* Columns of the table that make one of ours. */
struct column {
	size_t at[JOINED_MAX], n;
};

struct reading {
	struct rates *r;
	struct err *e;
	struct entry v[LISTS][ENTRIES_MAX];
	size_t n[LISTS];
	struct column column[LISTS + 1]; /* the rate's is last */
	size_t where[64], n_where;
	const struct ynode *conditions;
	struct csv *csv;
	const char *path;
};

const char *rates_text(const struct ynode *entry, const char *key)
{
	const struct ynode *n = ynode_get(entry, key);

	return n && n->kind == YNODE_SCALAR ? n->text : NULL;
}

/* --- the map --------------------------------------------------------------------------------------------------------- */

static int check_entry(struct reading *x, int list, const struct ynode *n)
{
	static const char *const keys[] = { "is",    "why",      "config", "set",    "model", "quant", "name",
		                            "style", "launches", "tokens", "prompt", "gap",   "source" };
	const struct yaml *y = x->r->map;

	if (n->kind != YNODE_MAP)
		return yaml_err(y, n, x->e, "an entry of '%s' is a map", lists[list].list);
	if (yaml_only_keys(y, n, keys, COUNT(keys), x->e) < 0)
		return -1;
	if (!rates_text(n, "is"))
		return yaml_err(y, n, x->e, "'is' is not there: which cells the entry means");
	if (lists[list].needs && !rates_text(n, "why") && !rates_text(n, lists[list].needs))
		return yaml_err(y, n, x->e, "neither '%s' nor 'why' is there", lists[list].needs);
	if (ynode_get(n, "gap") && (!rates_text(n, "gap") || strcmp(rates_text(n, "gap"), "none") != 0))
		return yaml_err(y, ynode_get(n, "gap"), x->e, "a gap is 'none', or found where nothing is said");
	return 0;
}

static int read_list(struct reading *x, int list)
{
	const struct ynode *all = ynode_get(yaml_root(x->r->map), lists[list].list);
	char why[128];

	if (!all || all->kind != YNODE_SEQ || all->n > ENTRIES_MAX)
		return yaml_err(x->r->map, all ? all : yaml_root(x->r->map), x->e,
		                "'%s' is a list of at most %d entries", lists[list].list, ENTRIES_MAX);
	for (size_t i = 0; i < all->n; i++) {
		struct entry *t = &x->v[list][x->n[list]];

		if (check_entry(x, list, all->vals[i]) < 0)
			return -1;
		if (re_compile(&t->re, rates_text(all->vals[i], "is"), 0, why, sizeof why) < 0)
			return yaml_err(x->r->map, ynode_get(all->vals[i], "is"), x->e, "no regular expression: %s",
			                why);
		t->at = all->vals[i];
		x->n[list]++;
	}
	return 0;
}

static int read_map(struct reading *x, const char *path)
{
	static const char *const keys[] = { "rates",  "columns", "where",   "gpus",
		                            "models", "formats", "engines", "contexts" };
	const struct ynode *root;
	uint64_t version;

	if (!(x->r->map = yaml_load(path, x->e)))
		return -1;
	root = yaml_root(x->r->map);
	if (!ynode_get(root, "rates"))
		return yaml_err(x->r->map, root, x->e, "this is no map of rates: its first key is 'rates: 1'");
	if (yaml_u64(x->r->map, ynode_get(root, "rates"), 1, 1, &version, x->e) < 0 ||
	    yaml_only_keys(x->r->map, root, keys, COUNT(keys), x->e) < 0)
		return -1;
	for (int i = 0; i < LISTS; i++)
		if (read_list(x, i) < 0)
			return -1;
	x->conditions = ynode_get(root, "where");
	return 0;
}

/* --- the table ------------------------------------------------------------------------------------------------------ */

static int find_column(struct reading *x, const char *name, const struct ynode *at, size_t *out)
{
	const char *names[256];
	size_t n = csv_count(x->csv) < COUNT(names) ? csv_count(x->csv) : COUNT(names);
	const char *near;

	for (size_t i = 0; i < n; i++) {
		names[i] = csv_field(x->csv, i);
		if (strcmp(names[i], name) == 0) {
			*out = i;
			return 0;
		}
	}
	near = str_nearest(name, names, n);
	return yaml_err(x->r->map, at, x->e, "the table has no column '%s'%s%s%s", name, near ? "; did you mean '" : "",
	                near ? near : "", near ? "'?" : "");
}

/* One name, or a list of them; where the map is silent the table uses our word. */
static int find_columns(struct reading *x, const char *what, struct column *out)
{
	const struct ynode *root = yaml_root(x->r->map), *named = ynode_get(root, "columns"), *n;
	const char *name;

	out->n = 1;
	n = named ? ynode_get(named, what) : NULL;
	if (!n)
		return find_column(x, what, named ? named : root, &out->at[0]);
	if (n->kind != YNODE_SEQ)
		return yaml_str(x->r->map, n, &name, x->e) < 0 ? -1 : find_column(x, name, n, &out->at[0]);
	if (n->n < 1 || n->n > JOINED_MAX)
		return yaml_err(x->r->map, n, x->e, "a list of 1 to %d columns", JOINED_MAX);
	for (out->n = 0; out->n < n->n; out->n++)
		if (yaml_str(x->r->map, n->vals[out->n], &name, x->e) < 0 ||
		    find_column(x, name, n->vals[out->n], &out->at[out->n]) < 0)
			return -1;
	return 0;
}

static int header(struct reading *x)
{
	for (int i = 0; i <= LISTS; i++)
		if (find_columns(x,
		                 i < LISTS       ? lists[i].column
		                 : x->r->prefill ? "prompt_ms"
		                                 : "rate",
		                 &x->column[i]) < 0)
			return -1;
	for (size_t i = 0; x->conditions && i < x->conditions->n && i < COUNT(x->where); i++)
		if (find_column(x, x->conditions->keys[i]->text, x->conditions->keys[i], &x->where[x->n_where++]) < 0)
			return -1;
	return 0;
}

static bool rates_map_counts(const struct reading *x)
{
	for (size_t i = 0; i < x->n_where; i++)
		if (!x->conditions->vals[i]->text ||
		    strcmp(csv_field(x->csv, x->where[i]), x->conditions->vals[i]->text) != 0)
			return false;
	return true;
}

static struct rates_row *more(struct reading *x)
{
	struct rates *r = x->r;
	struct rates_row *v;

	if (r->n == r->cap) {
		if (!(v = realloc(r->rows, (2 * r->cap + 256) * sizeof *v))) {
			err_nomem(x->e, "for the table");
			return NULL;
		}
		r->rows = v;
		r->cap = 2 * r->cap + 256;
	}
	memset(&r->rows[r->n], 0, sizeof *r->rows);
	return &r->rows[r->n++];
}

static const struct ynode *fits(struct reading *x, int list, const char *cell, regmatch_t m[2])
{
	for (size_t i = 0; i < x->n[list]; i++)
		if (regexec(&x->v[list][i].re, cell, 2, m, 0) == 0)
			return x->v[list][i].at;
	return NULL;
}

static int context_of(struct reading *x, struct rates_row *row, const regmatch_t m[2])
{
	const struct ynode *n = ynode_get(row->at, "tokens"), *prompt = ynode_get(row->at, "prompt");

	if (x->r->prefill && prompt)
		n = prompt;
	if (n)
		return yaml_u64(x->r->map, n, 0, 1u << 24, &row->tokens, x->e);
	if (m[1].rm_so < 0)
		return yaml_err(x->r->map, row->at, x->e, "neither 'tokens' nor a group of 'is' says how many");
	row->tokens = strtoull(row->context + m[1].rm_so, NULL, 10);
	return 0;
}

/* A shipped model that the cell names: "Qwen/Qwen3-0.6B", "Llama 3.2 3B Instruct". NULL: there is none. */
static const char *shipped(struct reading *x, const char *cell)
{
	static const char *const tuned[] = { "-instruct", "-chat", "-it", "-hf", "-base" };
	const char *from = strrchr(cell, '/');
	char *s = arena_strdup(x->r->a, from ? from + 1 : cell);
	char path[1024];

	for (char *p = s; p && *p; p++)
		*p = *p == ' ' || *p == '_' ? '-' : (char)tolower((unsigned char)*p);
	for (size_t i = 0; s && i < COUNT(tuned); i++) {
		const size_t n = strlen(s), end = strlen(tuned[i]);

		if (n > end && strcmp(s + n - end, tuned[i]) == 0)
			s[n - end] = 0;
	}
	return s && model_shipped(s, path, sizeof path) ? s : NULL;
}

/* What the row's words mean, or which of them means nothing here. */
static int explain(struct reading *x, struct rates_row *row)
{
	const char *const cells[LISTS] = { row->gpu, row->model, row->format, row->engine, row->context };
	const struct ynode **to[LISTS] = { &row->on, &row->of, &row->in, &row->by, &row->at };
	regmatch_t m[2] = { { -1, -1 }, { -1, -1 } };

	for (int i = 0; i < LISTS; i++) {
		*to[i] = fits(x, i, cells[i], m);
		if (i == MODEL)
			row->described = *to[i] ? rates_text(*to[i], "model") : shipped(x, cells[i]);
		if (!*to[i] && i == MODEL && row->described)
			continue;
		if (!*to[i])
			row->why = arena_printf(x->r->a, "no entry of '%s' fits '%s'", lists[i].list, cells[i]);
		else
			row->why = rates_text(*to[i], "why");
		if (row->why)
			return 0;
	}
	return context_of(x, row, m);
}

/* Lives as long as the rates. */
static const char *cell_of(struct reading *x, const struct column *c)
{
	const char *text = arena_strdup(x->r->a, csv_field(x->csv, c->at[0]));

	for (size_t i = 1; text && i < c->n; i++)
		text = arena_printf(x->r->a, "%s %s", text, csv_field(x->csv, c->at[i]));
	return text;
}

static int table_row(struct reading *x)
{
	struct rates_row *row;
	const char **to[LISTS];
	uint64_t h = HASH_INIT;
	const char *rate = csv_field(x->csv, x->column[LISTS].at[0]);
	char *end;
	double v = strtod(rate, &end);

	if (end == rate || *end || !(v > 0 && v < 1e9)) {
		err_set(x->e, ERR_IO, "'%s' is no %s", rate,
		        x->r->prefill ? "time in milliseconds" : "rate of tokens a second");
		return err_at(x->e, x->path, (int)csv_line(x->csv), 0);
	}
	if (!(row = more(x)))
		return -1;
	to[GPU] = &row->gpu, to[MODEL] = &row->model, to[FORMAT] = &row->format, to[ENGINE] = &row->engine,
	to[CONTEXT] = &row->context;
	for (int i = 0; i < LISTS; i++) {
		if (!(*to[i] = cell_of(x, &x->column[i])))
			return err_nomem(x->e, "for the table");
		h = hash_str(h, *to[i]);
	}
	row->line = csv_line(x->csv);
	row->measured_us = x->r->prefill ? 1e3 * v : 1e6 / v;
	if (explain(x, row) < 0)
		return -1;
	row->fitted = hash_mix(h) % 2 == 0;
	x->r->unsupported += row->why != NULL;
	return 0;
}

static int read_table(struct reading *x, const char *path)
{
	struct input *in = input_open(x->path = path, x->e);
	int rc = -1, got = 0;

	if (!in || !(x->csv = csv_new(in, x->e)) || (got = csv_row(x->csv, x->e)) < 0)
		goto out;
	if (got == 0) {
		err_set(x->e, ERR_IO, "'%s' is empty: a table of rates has a header", path);
		goto out;
	}
	rc = header(x);
	while (rc == 0 && (got = csv_row(x->csv, x->e)) > 0)
		if (csv_count(x->csv) == 1 && !*csv_field(x->csv, 0))
			continue;
		else if (rates_map_counts(x))
			rc = table_row(x);
		else
			x->r->skipped++;
	rc = got < 0 ? -1 : rc;
out:
	csv_free(x->csv);
	input_free(in);
	return rc;
}

int rates_read(struct rates *r, const char *table, const char *map, bool prefill, struct err *e)
{
	struct reading *x = calloc(1, sizeof *x);
	char path[1024];
	int rc = -1;

	memset(r, 0, sizeof *r);
	if (!x || !(r->a = arena_new(0))) {
		free(x);
		return err_nomem(e, "for the table");
	}
	r->prefill = prefill;
	x->r = r;
	x->e = e;
	if (map || path_data("configs/cases/rates.yaml", path, sizeof path, e) == 0)
		rc = read_map(x, map ? map : path);
	if (rc == 0)
		rc = read_table(x, table);
	for (int i = 0; i < LISTS; i++)
		for (size_t k = 0; k < x->n[i]; k++)
			regfree(&x->v[i][k].re);
	free(x);
	return rc;
}

void rates_free(struct rates *r)
{
	free(r->rows);
	yaml_free(r->map);
	arena_free(r->a);
	memset(r, 0, sizeof *r);
}
