/* rules.c - finding the rule of a launch: words, then regular expressions, then a memory of the answers. */
#define _POSIX_C_SOURCE 200809L

#include "workloads/rules.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/base/path.h"
#include "workloads/listed.h"
#include "workloads/rules_int.h"
#include "workloads/shape.h"

#define DEFAULT_TABLE "configs/rules/pytorch-cuda.yaml"
#define CACHE_MAX     65536 /* more names than any framework has; a hostile trace then goes uncached */

/* What rows from `from` on answer to a kernel and framework op: the first whose expressions match, -1 none. */
struct rules_answer {
	uint64_t hash;
	const char *kernel, *op; /* op NULL: none */
	uint32_t from;
	int32_t row;
	bool has_cluster;
	uint32_t cluster[3];
};

/* --- loading ---------------------------------------------------------------------------------------------------- */

/* Rows of a table of ops say themselves what they are. */
static bool add_listed(struct rules *r)
{
	const size_t n = listed_meanings();

	if (!(r->listed = arena_array(r->arena, n, sizeof *r->listed)))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct listed_meaning *m = listed_meaning(i);

		r->listed[i] = (struct rule){ .name = "listed",
			                      .family = m->family,
			                      .friendly = m->family,
			                      .library = "",
			                      .kind = m->kind,
			                      .cost = m->cost,
			                      .fn = m->fn,
			                      .reduce = m->reduce,
			                      .algorithm = OP_ATTN_ANY,
			                      .reader = -1,
			                      .listed = true };
	}
	return true;
}

static struct rules *rules_new(const struct source *from, struct err *e)
{
	struct rules *r = calloc(1, sizeof *r);

	if (r && (r->arena = arena_new(0)) && add_listed(r)) {
		r->hash = HASH_INIT;
		r->source = from;
		return r;
	}
	rules_free(r);
	err_nomem(e, NULL);
	return NULL;
}

static struct rules *rules_finish(struct rules *r, struct yaml *y, struct err *e)
{
	if (!r || !y || rules_read(r, y, 0, e) < 0) {
		rules_free(r);
		r = NULL;
	}
	yaml_free(y);
	return r;
}

struct rules *rules_load_from(const struct source *from, const char *path, struct err *e)
{
	struct rules *r = rules_new(from, e);

	if (!r)
		return NULL;
	return rules_finish(r, path ? from->read(from, path, e) : source_yaml(from, DEFAULT_TABLE, e), e);
}

struct rules *rules_load(const char *path, struct err *e)
{
	return rules_load_from(&path_source, path, e);
}

struct rules *rules_parse(const char *text, size_t n, const char *name, struct err *e)
{
	struct rules *r = rules_new(&path_source, e);

	return rules_finish(r, r ? yaml_parse(text, n, name, e) : NULL, e);
}

void rules_free(struct rules *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++) {
		if (r->rows[i]->kernel.set)
			regfree(&r->rows[i]->kernel.re);
		if (r->rows[i]->op.set)
			regfree(&r->rows[i]->op.re);
		if (r->rows[i]->has_cluster)
			regfree(&r->rows[i]->cluster);
	}
	arena_free(r->arena);
	free(r->cache);
	free(r);
}

size_t rules_count(const struct rules *r)
{
	return r->n;
}

const struct rule *rules_at(const struct rules *r, size_t i)
{
	return &r->rows[i]->rule;
}

uint64_t rules_hash(const struct rules *r)
{
	return r->hash;
}

/* --- matching --------------------------------------------------------------------------------------------------- */

static bool re_matches(const struct rules_re *x, const char *text)
{
	bool hit = x->n_words == 0;

	if (!x->set)
		return true;
	if (!text)
		return false;
	for (uint32_t i = 0; i < x->n_words && !hit; i++)
		hit = strstr(text, x->words[i]) != NULL;
	return hit && regexec(&x->re, text, 0, NULL, 0) == 0;
}

static int32_t scan(const struct rules *r, const char *kernel, const char *op, size_t from)
{
	for (size_t i = from; i < r->n; i++)
		if (re_matches(&r->rows[i]->op, op) && re_matches(&r->rows[i]->kernel, kernel))
			return (int32_t)i;
	return -1;
}

static bool read_cluster(const struct rules_row *row, const char *kernel, uint32_t cluster[3])
{
	regmatch_t m[3];

	if (!row->has_cluster || regexec(&row->cluster, kernel, 3, m, 0) != 0 || m[1].rm_so < 0 || m[2].rm_so < 0)
		return false;
	for (int i = 0; i < 2; i++) {
		unsigned long v = strtoul(kernel + m[i + 1].rm_so, NULL, 10);

		if (v < 1 || v > 64)
			return false;
		cluster[i] = (uint32_t)v;
	}
	cluster[2] = 1;
	return true;
}

/* Names are long (a kilobyte) and alike: their length and a few words from both ends and the middle tell most apart,
 * and a full comparison decides. */
static uint64_t name_hash(const char *s)
{
	size_t n = s ? strlen(s) : 0, at[6] = { 0, n / 5, 2 * (n / 5), 3 * (n / 5), 4 * (n / 5), n > 8 ? n - 8 : 0 };
	uint64_t h = n;

	if (n < 40)
		return hash_bytes(HASH_INIT, s ? s : "", n);
	for (int i = 0; i < 6; i++) {
		uint64_t word;

		memcpy(&word, s + at[i], sizeof word);
		h = hash_mix(h ^ word);
	}
	return h;
}

static bool rules_same(const struct rules_answer *a, uint64_t hash, const char *kernel, const char *op, size_t from)
{
	return a->hash == hash && a->from == from && strcmp(a->kernel, kernel) == 0 && !a->op == !op &&
	       (!op || strcmp(a->op, op) == 0);
}

static int rules_grow(struct rules *r)
{
	size_t cap = r->cache_cap ? 2 * r->cache_cap : 256;
	struct rules_answer **c = calloc(cap, sizeof *c);

	if (!c)
		return -1;
	for (size_t i = 0; i < r->cache_cap; i++) {
		size_t at;

		if (!r->cache[i])
			continue;
		for (at = r->cache[i]->hash & (cap - 1); c[at]; at = (at + 1) & (cap - 1))
			;
		c[at] = r->cache[i];
	}
	free(r->cache);
	r->cache = c;
	r->cache_cap = cap;
	return 0;
}

static struct rules_answer *rules_keep(struct rules *r, const struct rules_answer *a)
{
	struct rules_answer *k;
	size_t at;

	if (r->cache_n >= CACHE_MAX || (2 * r->cache_n >= r->cache_cap && rules_grow(r) < 0))
		return NULL;
	if (!(k = arena_alloc(r->arena, sizeof *k)))
		return NULL;
	*k = *a;
	if (!(k->kernel = arena_strdup(r->arena, a->kernel)) || (a->op && !(k->op = arena_strdup(r->arena, a->op))))
		return NULL;
	for (at = a->hash & (r->cache_cap - 1); r->cache[at]; at = (at + 1) & (r->cache_cap - 1))
		;
	r->cache[at] = k;
	r->cache_n++;
	return k;
}

static struct rules_answer rules_ask(struct rules *r, const char *kernel, const char *op, uint64_t names, size_t from)
{
	uint64_t hash = hash_mix(names + from);
	struct rules_answer a = { .hash = hash, .kernel = kernel, .op = op, .from = (uint32_t)from };

	if (r->cache_cap)
		for (size_t at = hash & (r->cache_cap - 1); r->cache[at]; at = (at + 1) & (r->cache_cap - 1))
			if (rules_same(r->cache[at], hash, kernel, op, from))
				return *r->cache[at];
	a.row = scan(r, kernel, op, from);
	if (a.row >= 0)
		a.has_cluster = read_cluster(r->rows[a.row], kernel, a.cluster);
	rules_keep(r, &a);
	return a;
}

static bool rules_holds(const struct rules_when *w, const struct trace_launch *l)
{
	enum dtype first = DT_NONE;

	if (!w->any)
		return true;
	if ((w->activity >= 0 && w->activity != (int)l->kind) || (w->dir >= 0 && w->dir != (int)l->dir) ||
	    (w->blocking >= 0 && w->blocking != l->blocking) || (w->converts >= 0 && w->converts != shape_converts(l)))
		return false;
	for (uint32_t i = 0; w->dtype != DT_NONE && l->op && i < l->op->n_args && first == DT_NONE; i++)
		first = l->op->args[i].ndims >= 0 ? dtype_from_framework(l->op->args[i].dtype) : DT_NONE;
	return first == w->dtype;
}

static const struct rules_row *rules_find(struct rules *r, const struct trace_launch *l, struct rules_answer *a)
{
	const char *op = l->op ? l->op->name : NULL, *kernel = l->name ? l->name : "";
	uint64_t names = name_hash(kernel) * 31 + name_hash(op) + (op ? 1 : 0);

	for (size_t from = 0;; from = (size_t)a->row + 1) {
		*a = rules_ask(r, kernel, op, names, from);
		if (a->row < 0)
			return NULL;
		if (rules_holds(&r->rows[a->row]->when, l))
			return r->rows[a->row];
	}
}

const struct rule *rules_match(struct rules *r, const struct trace_launch *l)
{
	const int listed = listed_meaning_of(l);
	struct rules_answer a;
	const struct rules_row *row;

	if (listed >= 0)
		return &r->listed[listed];
	if (!(row = rules_find(r, l, &a)))
		return NULL;
	return row->rule.m1_family && shape_product_rows(l) == 1 ? &row->m1 : &row->rule;
}

bool rules_cluster(struct rules *r, const struct trace_launch *l, uint32_t cluster[3])
{
	struct rules_answer a;

	if (!rules_find(r, l, &a) || !a.has_cluster)
		return false;
	memcpy(cluster, a.cluster, sizeof a.cluster);
	return true;
}
