/* classify.c - one pass over the launches, two tables keyed by name, and a sort. */
#include "sim/profile/classify.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"

/* Rows keyed by a text, optionally within an outer row: open addressing, grown by half-full. */
struct key {
	const char *text;
	size_t outer;
};
struct table {
	struct key *keys;
	size_t *rows, n, cap;
}; /* rows[i] is 1 + the row's number; 0: free */

#define NO_OUTER ((size_t)-1)

/* What of a name's time went to one family. */
struct part {
	struct classify_family sum;
	const struct rule *rule;
	size_t kernel;
};

struct build {
	struct arena *a;
	struct classify *out;
	struct table names, parts, families;
	struct part *part;
	size_t part_cap;
	size_t kernel_cap, family_cap;
};

static size_t classify_probe(const struct table *t, struct key k)
{
	size_t i = (size_t)hash_mix(hash_u64(hash_str(HASH_INIT, k.text), k.outer)) & (t->cap - 1);

	while (t->rows[i] && (t->keys[i].outer != k.outer || strcmp(t->keys[i].text, k.text) != 0))
		i = (i + 1) & (t->cap - 1);
	return i;
}

static void table_free(struct table *t)
{
	free(t->keys);
	free(t->rows);
}

static int widen(struct table *t, struct err *e)
{
	struct table w = { .n = t->n, .cap = t->cap ? 2 * t->cap : 256 };

	w.keys = calloc(w.cap, sizeof *w.keys);
	w.rows = calloc(w.cap, sizeof *w.rows);
	if (!w.keys || !w.rows) {
		table_free(&w);
		return err_nomem(e, "for the table of kernels");
	}
	for (size_t i = 0; i < t->cap; i++)
		if (t->rows[i]) {
			size_t at = classify_probe(&w, t->keys[i]);

			w.keys[at] = t->keys[i];
			w.rows[at] = t->rows[i];
		}
	table_free(t);
	*t = w;
	return 0;
}

/* The row of a key: *fresh when it is new, and then the next number. */
static int classify_row_of(struct table *t, struct key k, size_t *row, bool *fresh, struct err *e)
{
	size_t i;

	if (2 * (t->n + 1) > t->cap && widen(t, e) < 0)
		return -1;
	i = classify_probe(t, k);
	*fresh = t->rows[i] == 0;
	if (*fresh) {
		t->keys[i] = k;
		t->rows[i] = ++t->n;
	}
	*row = t->rows[i] - 1;
	return 0;
}

/* Room for one more of n elements; grown in the arena, so doubling wastes at most as much again. */
static int classify_room(struct arena *a, void *array, size_t n, size_t *cap, size_t size, struct err *e)
{
	void **p = array, *v;
	size_t more = *cap ? 2 * *cap : 64;

	if (n < *cap)
		return 0;
	if (!(v = arena_array(a, more, size)))
		return err_nomem(e, "for the table of kernels");
	if (n)
		memcpy(v, *p, n * size);
	*p = v;
	*cap = more;
	return 0;
}

/* --- names ------------------------------------------------------------------------------------------------- */

/* Length of a bracketed part that starts at s, brackets included; 0 when it never closes. */
static size_t bracketed(const char *s, char open, char close)
{
	size_t depth = 0;

	for (size_t i = 0; s[i]; i++) {
		depth += s[i] == open;
		depth -= s[i] == close;
		if (depth == 0)
			return i + 1;
	}
	return 0;
}

const char *classify_short_name(const char *kernel, struct arena *a)
{
	const char *s = strncmp(kernel, "void ", 5) == 0 ? kernel + 5 : kernel, *from = s, *end;

	for (end = s; *end && *end != '<'; end++) {
		size_t n = *end == '(' ? bracketed(end, '(', ')') : 0;

		if (*end == '(' && strncmp(end + n, "::", 2) != 0)
			break;
		if (n)
			end += n - 1; /* "(anonymous namespace)" is part of the path */
		else if (end[0] == ':' && end[1] == ':')
			from = end + 2;
	}
	if (end == from) {
		from = kernel;
		end = kernel + strlen(kernel);
	}
	return arena_strndup(a, from, (size_t)(end - from));
}

/* --- the pass ---------------------------------------------------------------------------------------------- */

static const char *family_of(const struct rule *r)
{
	return r && r->family && *r->family ? r->family : "unknown";
}

/* `count` launches of one name that took `ns` together. */
static int add_kernel(struct build *b, const char *kernel, uint64_t count, uint64_t ns, uint64_t longest,
                      const struct rule *r, struct err *e)
{
	struct classify *c = b->out;
	const char *family = family_of(r);
	size_t name, part, fam;
	bool fresh;

	if (classify_row_of(&b->names, (struct key){ kernel, NO_OUTER }, &name, &fresh, e) < 0)
		return -1;
	if (fresh) {
		if (classify_room(b->a, &c->kernels, name, &b->kernel_cap, sizeof *c->kernels, e) < 0)
			return -1;
		c->kernels[c->n_kernels++] = (struct classify_kernel){ .name = kernel };
	}
	c->kernels[name].count += count;
	c->kernels[name].total_ns += ns;
	c->kernels[name].longest_ns = longest > c->kernels[name].longest_ns ? longest : c->kernels[name].longest_ns;

	if (classify_row_of(&b->parts, (struct key){ family, name }, &part, &fresh, e) < 0)
		return -1;
	if (fresh) {
		if (classify_room(b->a, &b->part, part, &b->part_cap, sizeof *b->part, e) < 0)
			return -1;
		b->part[part] = (struct part){ { family, 0, 0 }, r, name };
	}
	b->part[part].sum.count += count;
	b->part[part].sum.total_ns += ns;

	if (classify_row_of(&b->families, (struct key){ family, NO_OUTER }, &fam, &fresh, e) < 0)
		return -1;
	if (fresh) {
		if (classify_room(b->a, &c->families, fam, &b->family_cap, sizeof *c->families, e) < 0)
			return -1;
		c->families[c->n_families++] = (struct classify_family){ family, 0, 0 };
	}
	c->families[fam].count += count;
	c->families[fam].total_ns += ns;
	c->kernel_count += count;
	c->kernel_ns += ns;
	return 0;
}

static void add_copy(struct classify *c, const struct trace_launch *l, uint64_t count, uint64_t ns, uint64_t bytes)
{
	static const char *const names[] = {
		[TRACE_COPY_NONE] = "copy", [TRACE_COPY_HTOD] = "HtoD", [TRACE_COPY_DTOH] = "DtoH",
		[TRACE_COPY_DTOD] = "DtoD", [TRACE_COPY_HTOH] = "HtoH", [TRACE_COPY_PTOP] = "PtoP",
	};
	const char *name = l->kind == TRACE_MEMSET ? "set" : names[l->dir];
	struct classify_copy *k = c->copies;

	while (k < c->copies + c->n_copies && strcmp(k->name, name) != 0)
		k++;
	if (k == c->copies + c->n_copies) {
		k->name = name;
		c->n_copies++;
	}
	k->count += count;
	k->total_ns += ns;
	k->bytes += bytes;
	c->copy_count += count;
	c->copy_ns += ns;
	c->copy_bytes += bytes;
}

/* Launches that are as `l` is: so many, of so much time and so many bytes together. */
static int classify_add(struct build *b, struct rules *r, const struct trace_launch *l, uint64_t count, uint64_t ns,
                        uint64_t longest, uint64_t bytes, struct err *e)
{
	if (l->kind == TRACE_KERNEL)
		return add_kernel(b, l->name, count, ns, longest, rules_match(r, l), e);
	add_copy(b->out, l, count, ns, bytes);
	return 0;
}

/* A name's family is its largest part; of equal ones the first by name. */
static int describe(struct build *b, struct err *e)
{
	struct classify *c = b->out;
	size_t *best = c->n_kernels ? arena_array(b->a, c->n_kernels, sizeof *best) : NULL; /* 1 + part */

	if (c->n_kernels && !best)
		return err_nomem(e, "for the table of kernels");
	for (size_t i = 0; i < b->parts.n; i++) {
		const struct part *p = &b->part[i], *was = best[p->kernel] ? &b->part[best[p->kernel] - 1] : NULL;

		if (!was || p->sum.total_ns > was->sum.total_ns ||
		    (p->sum.total_ns == was->sum.total_ns && strcmp(p->sum.name, was->sum.name) < 0))
			best[p->kernel] = i + 1;
	}
	for (size_t i = 0; i < c->n_kernels; i++) {
		struct classify_kernel *k = &c->kernels[i];
		const struct rule *r = b->part[best[i] - 1].rule;

		k->family = family_of(r);
		k->library = r && r->library && *r->library ? r->library : "unknown";
		k->friendly = r && r->friendly && *r->friendly ? r->friendly : classify_short_name(k->name, b->a);
		if (!k->friendly)
			return err_nomem(e, "for the table of kernels");
	}
	return 0;
}

static int order(uint64_t a_ns, uint64_t b_ns, const char *a, const char *b)
{
	return a_ns != b_ns ? (a_ns > b_ns ? -1 : 1) : strcmp(a, b);
}

static int by_kernel(const void *x, const void *y)
{
	const struct classify_kernel *a = x, *b = y;

	return order(a->total_ns, b->total_ns, a->name, b->name);
}

static int by_family(const void *x, const void *y)
{
	const struct classify_family *a = x, *b = y;

	return order(a->total_ns, b->total_ns, a->name, b->name);
}

static int by_copy(const void *x, const void *y)
{
	const struct classify_copy *a = x, *b = y;

	return order(a->total_ns, b->total_ns, a->name, b->name);
}

static int classify_build(struct build *b, const struct trace *t, struct rules *r, struct err *e)
{
	struct classify *c = b->out;

	if (!(c->copies = arena_array(b->a, TRACE_COPY_PTOP + 2, sizeof *c->copies)))
		return err_nomem(e, "for the table of kernels");
	for (size_t i = 0; i < t->n_launches; i++) {
		const struct trace_launch *l = &t->launches[i];

		if (classify_add(b, r, l, 1, (uint64_t)l->dur_ns, (uint64_t)l->dur_ns,
		                 l->bytes > 0 ? (uint64_t)l->bytes : 0, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < t->n_groups; i++) {
		const struct trace_group *g = &t->groups[i];

		if (classify_add(b, r, &g->first, g->count, g->total_ns, g->longest_ns, g->bytes, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < t->n_stats; i++) {
		const struct trace_stat *k = &t->stats[i];
		const struct trace_launch l = { .name = k->name }; /* all that is known of it */

		if (add_kernel(b, k->name, (uint64_t)k->instances, (uint64_t)k->total_ns,
		               k->max_ns > 0 ? (uint64_t)k->max_ns : 0, rules_match(r, &l), e) < 0)
			return -1;
		c->stat_count += (uint64_t)k->instances;
	}
	if (describe(b, e) < 0)
		return -1;
	if (c->n_kernels) {
		qsort(c->kernels, c->n_kernels, sizeof *c->kernels, by_kernel);
		qsort(c->families, c->n_families, sizeof *c->families, by_family);
	}
	qsort(c->copies, c->n_copies, sizeof *c->copies, by_copy);
	return 0;
}

int classify_trace(const struct trace *t, struct rules *r, struct arena *a, struct classify *out, struct err *e)
{
	struct build b = { .a = a, .out = out };
	int rc;

	memset(out, 0, sizeof *out);
	rc = classify_build(&b, t, r, e);
	table_free(&b.names);
	table_free(&b.parts);
	table_free(&b.families);
	return rc;
}
