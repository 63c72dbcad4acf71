#define _POSIX_C_SOURCE 200809L
#include "arch/gpu/kernels.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/hash.h"
#include "sim/base/path.h"
#include "sim/base/re.h"
#include "sim/base/str.h"
#include "sim/base/yaml.h"

#define MAX_ROWS   1024
#define MAX_GROUPS 12
#define ANSWERS    256
#define DEFAULT    "configs/kernels/cuda.yaml"

static const char *const form_names[] = {
#define X(form, name, time, least, what) [KERNEL_##form] = #name,
	KERNEL_FORM_ROWS(X)
#undef X
};
static const char *const moves_names[] = {
#define X(moves, name) [KERNEL_MOVES_##moves] = #name,
	KERNEL_MOVES_ROWS(X)
#undef X
};
_Static_assert(sizeof form_names / sizeof *form_names == KERNEL_FORMS, "a name a form");
_Static_assert(sizeof moves_names / sizeof *moves_names == KERNEL_MOVES, "a name a way to move");

struct number {
	const char *name;
	size_t offset;
};
static const struct number numbers[] = {
#define X(n, help) { #n, offsetof(struct kernel, n) },
	KERNEL_NUMBERS(X)
#undef X
};
#define NUMBERS (sizeof numbers / sizeof *numbers)

struct row {
	regex_t kernel, op;
	bool has_kernel, has_op;
	uint64_t kinds;  /* of a default: a bit an op kind ... */
	uint64_t tokens; /* ... with at most so many ... */
	bool beside;     /* ... and whether for launches beside the one that does the work */
	struct kernel k;
	uint32_t n_groups;
	size_t group[MAX_GROUPS]; /* offset of the number a group of the expression gives */
};

/* What was answered: a trace launches a few dozen kernels thousands of times, and a row's expressions are slow. */
struct answer {
	const char *kernel, *rule;
	struct kernel k;
	struct answer *next;
};

struct kernels {
	struct arena *arena;
	struct row *rows;
	size_t n, described; /* the rest are defaults */
	uint64_t hash;
	struct answer **answers; /* ANSWERS lists, by hash */
};

/* --- reading ------------------------------------------------------------------------------------------------- */

struct reading {
	struct kernels *k;
	const struct yaml *y;
	struct err *e;
};

static int word(struct reading *g, const struct ynode *at, const char *const *names, size_t n, const char *what,
                int *out)
{
	const char *s, *near;

	if (yaml_str(g->y, at, &s, g->e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], s) == 0)
			return *out = (int)i, 0;
	near = str_nearest(s, names, n);
	return yaml_err(g->y, at, g->e, near ? "'%s' is not a %s; the nearest is '%s'" : "'%s' is not a %s", s, what,
	                near);
}

static int number_named(struct reading *g, const struct ynode *at, const char *name, size_t *offset)
{
	const char *names[NUMBERS], *near;

	for (size_t i = 0; i < NUMBERS; i++) {
		names[i] = numbers[i].name;
		if (strcmp(name, names[i]) == 0)
			return *offset = numbers[i].offset, 0;
	}
	near = str_nearest(name, names, NUMBERS);
	return yaml_err(g->y, at, g->e, near ? "no number '%s'; the nearest is '%s'" : "no number '%s'", name, near);
}

void kernel_put(struct kernel *k, size_t offset, uint32_t v)
{
	*(uint32_t *)((unsigned char *)k + offset) = v;
}

static int regex(struct reading *g, const struct ynode *n, regex_t *re)
{
	const char *text;
	char why[128];

	if (yaml_str(g->y, n, &text, g->e) < 0)
		return -1;
	if (re_compile(re, text, 0, why, sizeof why) == 0)
		return 0;
	return yaml_err(g->y, n, g->e, "'%s' is not a regular expression: %s", text, why);
}

static int read_numbers(struct reading *g, const struct ynode *map, struct kernel *k)
{
	if (map->kind != YNODE_MAP)
		return yaml_err(g->y, map, g->e, "'numbers' holds counts: {start: 2, steps: 1}");
	for (size_t i = 0; i < map->n; i++) {
		size_t offset;
		uint64_t v;

		if (number_named(g, map->keys[i], map->keys[i]->text, &offset) < 0 ||
		    yaml_u64(g->y, map->vals[i], 0, UINT32_MAX, &v, g->e) < 0)
			return -1;
		kernel_put(k, offset, (uint32_t)v);
	}
	return 0;
}

static int read_groups(struct reading *g, const struct ynode *list, struct row *r)
{
	if (list->kind != YNODE_SEQ || list->n > MAX_GROUPS || list->n != r->kernel.re_nsub)
		return yaml_err(g->y, list, g->e,
		                "'from_name' names one number for each of the expression's %zu groups",
		                r->kernel.re_nsub);
	for (size_t i = 0; i < list->n; i++) {
		const char *name;

		if (yaml_str(g->y, list->vals[i], &name, g->e) < 0)
			return -1;
		r->group[i] = SIZE_MAX; /* "_": a group that only groups */
		if (strcmp(name, "_") != 0 && number_named(g, list->vals[i], name, &r->group[i]) < 0)
			return -1;
	}
	r->n_groups = (uint32_t)list->n;
	return 0;
}

/* What is the same in a row of both lists; its name stands first. */
static int read_common(struct reading *g, const struct ynode *n, struct row *r)
{
	const struct ynode *at;
	const char *name;
	int form = KERNEL_PLAIN, moves = KERNEL_MOVES_ALL;

	if (yaml_str(g->y, ynode_get(n, "name"), &name, g->e) < 0 ||
	    word(g, ynode_get(n, "form"), form_names, KERNEL_FORMS, "form", &form) < 0 ||
	    ((at = ynode_get(n, "moves")) && word(g, at, moves_names, KERNEL_MOVES, "way to move", &moves) < 0))
		return -1;
	for (size_t i = 0; i < g->k->n; i++)
		if (strcmp(g->k->rows[i].k.name, name) == 0)
			return yaml_err(g->y, ynode_get(n, "name"), g->e, "kernel '%s' is there twice", name);
	if (!(r->k.name = arena_strdup(g->k->arena, name)))
		return err_set(g->e, ERR_NOMEM, "out of memory for the kernel table");
	r->k.form = (enum kernel_form)form;
	r->k.moves = (enum kernel_moves)moves;
	return (at = ynode_get(n, "numbers")) ? read_numbers(g, at, &r->k) : 0;
}

static int read_kinds(struct reading *g, const struct ynode *list, uint64_t *out)
{
	const char *names[OP_KINDS];

	for (int i = 0; i < OP_KINDS; i++)
		names[i] = op_kind_name((enum op_kind)i);
	if (list->kind != YNODE_SEQ || !list->n)
		return yaml_err(g->y, list, g->e, "'kinds' is a list of op kinds: [softmax, norm]");
	for (size_t i = 0; i < list->n; i++) {
		int kind;

		if (word(g, list->vals[i], names, OP_KINDS, "kind of op", &kind) < 0)
			return -1;
		*out |= UINT64_C(1) << kind;
	}
	return 0;
}

static int read_default(struct reading *g, const struct ynode *n)
{
	static const char *const keys[] = { "name", "kinds", "tokens", "launch", "form", "moves", "numbers", "counts" };
	static const char *const launches[] = { "main", "beside" };
	struct row *r = &g->k->rows[g->k->n];
	const struct ynode *at;
	int beside = 0;

	if (n->kind != YNODE_MAP)
		return yaml_err(g->y, n, g->e,
		                "a default is a mapping: {name: any_softmax, kinds: [softmax], form: rows}");
	if (yaml_only_keys(g->y, n, keys, sizeof keys / sizeof *keys, g->e) < 0)
		return -1;
	for (int i = 0; i < 5; i += i == 1 ? 3 : 1) /* name, kinds, form */
		if (!ynode_get(n, keys[i]))
			return yaml_err(g->y, n, g->e, "a default without '%s'", keys[i]);
	r->tokens = UINT64_MAX;
	if (read_common(g, n, r) < 0 || read_kinds(g, ynode_get(n, "kinds"), &r->kinds) < 0 ||
	    ((at = ynode_get(n, "tokens")) && yaml_u64(g->y, at, 1, UINT64_MAX, &r->tokens, g->e) < 0) ||
	    ((at = ynode_get(n, "launch")) && word(g, at, launches, 2, "place of a launch", &beside) < 0))
		return -1;
	r->beside = beside;
	g->k->n++;
	return 0;
}

static int kernels_read_row(struct reading *g, const struct ynode *n)
{
	static const char *const keys[] = { "name", "kernel", "op", "form", "moves", "numbers", "from_name", "counts" };
	struct row *r = &g->k->rows[g->k->n];
	const struct ynode *at;

	if (n->kind != YNODE_MAP)
		return yaml_err(g->y, n, g->e,
		                "a kernel is a mapping: {name: mine, kernel: '^my_kernel', form: stream}");
	if (yaml_only_keys(g->y, n, keys, sizeof keys / sizeof *keys, g->e) < 0)
		return -1;
	for (int i = 0; i < 4; i += i == 1 ? 2 : 1) /* name, kernel, form */
		if (!ynode_get(n, keys[i]))
			return yaml_err(g->y, n, g->e, "a kernel without '%s'", keys[i]);
	if (read_common(g, n, r) < 0 || regex(g, ynode_get(n, "kernel"), &r->kernel) < 0)
		return -1;
	r->has_kernel = true;
	g->k->n++; /* from here kernels_free knows it */
	if ((at = ynode_get(n, "op"))) {
		if (regex(g, at, &r->op) < 0)
			return -1;
		r->has_op = true;
	}
	return (at = ynode_get(n, "from_name")) ? read_groups(g, at, r) : 0;
}

static uint64_t hash_node(uint64_t h, const struct ynode *n)
{
	if (n->kind == YNODE_SCALAR)
		return hash_str(h, n->text);
	for (size_t i = 0; i < n->n; i++) {
		if (n->kind == YNODE_MAP)
			h = hash_str(h, n->keys[i]->text);
		h = hash_node(h, n->vals[i]);
	}
	return h;
}

static struct kernels *kernels_read_table(struct yaml *y, struct err *e)
{
	static const char *const keys[] = { "kernels", "defaults" };
	struct kernels *k = calloc(1, sizeof *k);
	struct reading g = { k, y, e };
	const struct ynode *root = yaml_root(y), *list = ynode_get(root, "kernels"),
			   *others = ynode_get(root, "defaults");
	size_t rows = (list ? list->n : 0) + (others ? others->n : 0);

	if (!k || !(k->arena = arena_new(0)) || !(k->rows = calloc(rows ? rows : 1, sizeof *k->rows)) ||
	    !(k->answers = arena_array(k->arena, ANSWERS, sizeof *k->answers))) {
		err_set(e, ERR_NOMEM, "out of memory for the kernel table");
		goto fail;
	}
	if (root->kind == YNODE_MAP && yaml_only_keys(y, root, keys, 2, e) < 0)
		goto fail;
	if (!list || list->kind != YNODE_SEQ || rows > MAX_ROWS) {
		yaml_err(y, root, e, "a table of kernels is a mapping with 'kernels', a list of at most %d", MAX_ROWS);
		goto fail;
	}
	if (others && others->kind != YNODE_SEQ) {
		yaml_err(y, others, e, "'defaults' is a list of rows");
		goto fail;
	}
	for (size_t i = 0; i < list->n; i++)
		if (kernels_read_row(&g, list->vals[i]) < 0)
			goto fail;
	k->described = k->n;
	for (size_t i = 0; others && i < others->n; i++)
		if (read_default(&g, others->vals[i]) < 0)
			goto fail;
	k->hash = hash_node(HASH_INIT, list);
	if (others)
		k->hash = hash_node(k->hash, others);
	yaml_free(y);
	return k;
fail:
	yaml_free(y);
	kernels_free(k);
	return NULL;
}

struct kernels *kernels_load_from(const struct source *from, const char *path, struct err *e)
{
	struct yaml *y = path ? from->read(from, path, e) : source_yaml(from, DEFAULT, e);

	return y ? kernels_read_table(y, e) : NULL;
}

struct kernels *kernels_load(const char *path, struct err *e)
{
	return kernels_load_from(&path_source, path, e);
}

struct kernels *kernels_parse(const char *text, size_t n, const char *name, struct err *e)
{
	struct yaml *y = yaml_parse(text, n, name, e);

	return y ? kernels_read_table(y, e) : NULL;
}

void kernels_free(struct kernels *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->n; i++) {
		if (k->rows[i].has_kernel)
			regfree(&k->rows[i].kernel);
		if (k->rows[i].has_op)
			regfree(&k->rows[i].op);
	}
	free(k->rows);
	arena_free(k->arena);
	free(k);
}

/* --- asking -------------------------------------------------------------------------------------------------- */

static struct kernel match(const struct kernels *k, const char *kernel, const char *rule)
{
	regmatch_t at[MAX_GROUPS + 1];
	struct kernel none = { .name = "" };

	for (size_t i = 0; i < k->described; i++) {
		const struct row *r = &k->rows[i];
		struct kernel out = r->k;

		if (regexec(&r->kernel, kernel, MAX_GROUPS + 1, at, 0) != 0 ||
		    (r->has_op && (!rule || regexec(&r->op, rule, 0, NULL, 0) != 0)))
			continue;
		for (uint32_t m = 0; m < r->n_groups; m++) {
			const regmatch_t *x = &at[m + 1];

			/* Digits are a number; any other text found is a 1: a word that stands in the name or not. */
			if (r->group[m] == SIZE_MAX || x->rm_so < 0 || x->rm_so == x->rm_eo)
				continue;
			if (kernel[x->rm_so] >= '0' && kernel[x->rm_so] <= '9')
				kernel_put(&out, r->group[m], (uint32_t)strtoul(kernel + x->rm_so, NULL, 10));
			else
				kernel_put(&out, r->group[m], 1);
		}
		return out;
	}
	return none;
}

struct kernel kernels_match(const struct kernels *k, const char *kernel, const char *rule)
{
	uint64_t h = hash_str(hash_str(HASH_INIT, kernel), rule ? rule : "");
	struct answer **list = &k->answers[hash_mix(h) % ANSWERS], *x;

	for (x = *list; x; x = x->next)
		if (strcmp(x->kernel, kernel) == 0 && !x->rule == !rule && (!rule || strcmp(x->rule, rule) == 0))
			return x->k;
	if (!(x = arena_alloc(k->arena, sizeof *x)) || !(x->kernel = arena_strdup(k->arena, kernel)) ||
	    (rule && !(x->rule = arena_strdup(k->arena, rule))))
		return match(k, kernel, rule); /* no memory to keep it */
	x->k = match(k, kernel, rule);
	x->next = *list;
	return (*list = x)->k;
}

/* Tokens of an op: rows of a product, queries of an attention; of other ops any number. */
static uint64_t tokens(const struct op *o)
{
	const enum op_dims d = op_traits[o->kind].dims;

	return d == OP_DIMS_PRODUCT ? o->shape.m : d == OP_DIMS_ATTENTION ? o->shape.q_len : 0;
}

struct kernel kernels_default(const struct kernels *k, const struct op *o, bool beside)
{
	struct kernel none = { .name = "" };

	for (size_t i = k->described; i < k->n; i++) {
		const struct row *r = &k->rows[i];

		if (r->kinds >> o->kind & 1 && r->beside == beside && tokens(o) <= r->tokens)
			return r->k;
	}
	return none;
}

int kernels_number(const struct kernels *k, const char *row, const char *number, struct kernel_number *out,
                   struct err *e)
{
	const char *names[MAX_ROWS], *near;
	size_t i = 0, n = 0;

	while (i < k->n && strcmp(k->rows[i].k.name, row) != 0)
		names[i] = k->rows[i].k.name, i++;
	if (i == k->n) {
		near = str_nearest(row, names, i);
		return err_set(e, ERR_CONFIG, near ? "no kernel '%s'; the nearest is '%s'" : "no kernel '%s'", row,
		               near);
	}
	while (n < NUMBERS && strcmp(numbers[n].name, number) != 0)
		names[n] = numbers[n].name, n++;
	if (n == NUMBERS) {
		near = str_nearest(number, names, n);
		return err_set(e, ERR_CONFIG, near ? "no number '%s'; the nearest is '%s'" : "no number '%s'", number,
		               near);
	}
	out->row = k->rows[i].k.name;
	out->offset = numbers[n].offset;
	out->value = *(const uint32_t *)((const unsigned char *)&k->rows[i].k + out->offset);
	return 0;
}

size_t kernels_count(const struct kernels *k)
{
	return k->n;
}

struct kernel kernels_at(const struct kernels *k, size_t row)
{
	return k->rows[row].k;
}

uint64_t kernels_hash(const struct kernels *k)
{
	return k->hash;
}
