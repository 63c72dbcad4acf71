/* sums.c - a table by key, and in each row one by family. */
#include "sim/profile/sums.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/base/re.h"
#include "sim/base/str.h"
#include "sim/lower/lower.h"

static const char *const by_names[SUMS_BYS] = { "op", "layer", "stream", "family" };
static const char *const order_names[SUMS_ORDERS] = { "total", "count", "mean", "longest", "name" };

static int one_of(const char *text, const char *const *names, size_t n, const char *option, size_t *at, struct err *e)
{
	const char *near;
	struct str all = STR_INIT;

	for (*at = 0; *at < n; ++*at)
		if (strcmp(text, names[*at]) == 0)
			return 0;
	near = str_nearest(text, names, n);
	for (size_t i = 0; i < n; i++)
		str_addf(&all, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ", names[i]);
	err_set(e, ERR_USAGE, "'%s' is none of %s, for option '--%s'%s%s%s", text, str_c(&all), option,
	        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	str_free(&all);
	return -1;
}

int sums_parse(const char *text, enum sums_by *by, struct err *e)
{
	size_t i;

	if (one_of(text, by_names, SUMS_BYS, "by", &i, e) < 0)
		return -1;
	*by = (enum sums_by)i;
	return 0;
}

int sums_order_parse(const char *text, enum sums_order *o, struct err *e)
{
	size_t i = SUMS_TOTAL;

	if (text && one_of(text, order_names, SUMS_ORDERS, "sort", &i, e) < 0)
		return -1;
	*o = (enum sums_order)i;
	return 0;
}

static int compare(double a, double b)
{
	return a > b ? -1 : a < b;
}

int sums_compare(enum sums_order o, const struct sums_value *a, const struct sums_value *b)
{
	int rc = 0;

	if (o == SUMS_TOTAL)
		rc = compare((double)a->ns, (double)b->ns);
	else if (o == SUMS_COUNT)
		rc = compare((double)a->count, (double)b->count);
	else if (o == SUMS_MEAN)
		rc = compare((double)a->ns / (double)a->count, (double)b->ns / (double)b->count);
	else if (o == SUMS_LONGEST)
		rc = compare((double)a->longest_ns, (double)b->longest_ns);
	return rc ? rc : strcmp(a->name, b->name);
}

/* --- filter ------------------------------------------------------------------------------------------------ */

static bool sums_has(const regex_t *re, const char *text)
{
	return text && regexec(re, text, 0, NULL, 0) == 0;
}

static bool passes(const regex_t *re, const struct trace_launch *l, struct rules *r)
{
	const struct rule *rule = rules_match(r, l);

	return sums_has(re, l->name) || (rule && (sums_has(re, rule->family) || sums_has(re, rule->friendly)));
}

static int compile(regex_t *re, const char *text, struct err *e)
{
	char why[160];

	if (re_compile(re, text, REG_ICASE | REG_NOSUB, why, sizeof why) == 0)
		return 0;
	return err_set(e, ERR_USAGE, "'%s' is no regular expression, for option '--filter': %s", text, why);
}

static int nothing(const struct trace *t, const char *text, struct err *e)
{
	return err_set(e, ERR_IO, "no kernel in '%s' has '%s' in its name or family", t->path, text);
}

int sums_filter(struct trace *t, const char *text, struct rules *r, struct err *e)
{
	size_t launches = 0, groups = 0, stats = 0;
	regex_t re;

	if (compile(&re, text, e) < 0)
		return -1;
	for (size_t i = 0; i < t->n_launches; i++)
		if (passes(&re, &t->launches[i], r))
			t->launches[launches++] = t->launches[i];
	for (size_t i = 0; i < t->n_groups; i++)
		if (passes(&re, &t->groups[i].first, r))
			t->groups[groups++] = t->groups[i];
	for (size_t i = 0; i < t->n_stats; i++) {
		const struct trace_launch l = { .name = t->stats[i].name };

		if (passes(&re, &l, r))
			t->stats[stats++] = t->stats[i];
	}
	regfree(&re);
	t->n_launches = launches;
	t->n_groups = groups;
	t->n_stats = stats;
	return launches + groups + stats ? 0 : nothing(t, text, e);
}

/* --- by key ------------------------------------------------------------------------------------------------ */

struct family {
	const char *name;
	uint64_t ns;
	struct family *next;
};
struct build {
	struct arena *a;
	struct sums *out;
	struct family **families; /* of each row */
	size_t cap, *slots, n_slots;
};

static size_t *sums_probe(const struct build *b, const char *key)
{
	size_t i = (size_t)hash_mix(hash_str(HASH_INIT, key)) & (b->n_slots - 1);

	while (b->slots[i] && strcmp(b->out->v[b->slots[i] - 1].key, key) != 0)
		i = (i + 1) & (b->n_slots - 1);
	return &b->slots[i];
}

static int widen(struct build *b, struct err *e)
{
	const size_t cap = b->cap ? 2 * b->cap : 128;
	struct sums_row *v = arena_array(b->a, cap, sizeof *v);
	struct family **f = arena_array(b->a, cap, sizeof *f);

	b->slots = arena_array(b->a, 2 * cap, sizeof *b->slots);
	if (!v || !f || !b->slots)
		return err_nomem(e, "for the sums");
	for (size_t i = 0; i < b->out->n; i++)
		v[i] = b->out->v[i], f[i] = b->families[i];
	b->out->v = v;
	b->families = f;
	b->cap = cap;
	b->n_slots = 2 * cap;
	for (size_t i = 0; i < b->out->n; i++)
		*sums_probe(b, v[i].key) = i + 1;
	return 0;
}

static int sums_add(struct build *b, const char *key, int64_t order, const struct trace_launch *l, const char *family,
                    struct err *e)
{
	struct sums_row *r;
	struct family *f;
	size_t *slot;

	if (b->out->n == b->cap && widen(b, e) < 0)
		return -1;
	if (!*(slot = sums_probe(b, key))) {
		char *kept = arena_strdup(b->a, key);

		if (!kept)
			return err_nomem(e, "for the sums");
		b->out->v[b->out->n] = (struct sums_row){ .key = kept, .order = order };
		*slot = ++b->out->n;
	}
	r = &b->out->v[*slot - 1];
	for (f = b->families[*slot - 1]; f && strcmp(f->name, family) != 0;)
		f = f->next;
	if (!f) {
		if (!(f = arena_alloc(b->a, sizeof *f)))
			return err_nomem(e, "for the sums");
		*f = (struct family){ family, 0, b->families[*slot - 1] };
		b->families[*slot - 1] = f;
	}
	f->ns += (uint64_t)l->dur_ns;
	r->count++;
	r->ns += (uint64_t)l->dur_ns;
	r->longest_ns = (uint64_t)l->dur_ns > r->longest_ns ? (uint64_t)l->dur_ns : r->longest_ns;
	b->out->count++;
	b->out->ns += (uint64_t)l->dur_ns;
	return 0;
}

static int by_id(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/* Pairs of launch id and layer, by id. */
static int64_t (*layers_of(const struct trace *t, struct rules *r, struct arena *a, size_t *n, struct err *e))[2]
{
	int64_t(*v)[2];
	struct lower_stats st;
	struct op_stream s;

	if (lower_trace(t, r, a, &s, &st, e) < 0)
		return NULL;
	if (!(v = arena_array(a, s.n_launches + 1, sizeof *v))) {
		err_nomem(e, "for the layers");
		return NULL;
	}
	for (size_t i = 0; i < s.n_ops; i++)
		for (uint32_t k = 0; k < s.ops[i].n_launches; k++) {
			v[*n][0] = s.launches[s.ops[i].first_launch + k].trace_id;
			v[(*n)++][1] = s.ops[i].layer;
		}
	qsort(v, *n, sizeof *v, by_id);
	return v;
}

static int sums_by_time(const void *x, const void *y)
{
	const struct sums_row *a = x, *b = y;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return strcmp(a->key, b->key);
}

static void name_families(struct build *b)
{
	for (size_t i = 0; i < b->out->n; i++) {
		uint64_t most = 0;

		for (const struct family *f = b->families[i]; f; f = f->next) {
			struct sums_row *r = &b->out->v[i];

			if (!r->family || f->ns > most || (f->ns == most && strcmp(f->name, r->family) < 0)) {
				r->family = f->name;
				most = f->ns;
			}
		}
	}
}

/* What a launch's time goes to; `text` is room for it. */
static const char *sums_key_of(enum sums_by by, const struct trace_launch *l, const char *family, int64_t order,
                               char text[96])
{
	if (by == SUMS_FAMILY)
		return family;
	if (by == SUMS_OP)
		return l->op ? l->op->name : "";
	if (by == SUMS_LAYER && order < 0)
		return "outside the layers";
	if (by == SUMS_LAYER)
		snprintf(text, 96, "layer %lld", (long long)order);
	else
		snprintf(text, 96, "device %lld stream %lld", (long long)l->device, (long long)l->stream);
	return text;
}

static int64_t order_of(enum sums_by by, const struct trace_launch *l, int64_t (*layers)[2], size_t n)
{
	const int64_t want[2] = { l->id, 0 };
	const int64_t(*at)[2] = by == SUMS_LAYER ? bsearch(want, layers, n, sizeof *layers, by_id) : NULL;

	return by == SUMS_STREAM ? l->stream : by != SUMS_LAYER ? 0 : at ? (*at)[1] : -1;
}

/* Layers are of the trace as a whole: without its attention there are none. */
int sums_of(const struct trace *t, enum sums_by by, const char *filter, struct rules *r, struct arena *a,
            struct sums *out, struct err *e)
{
	struct build b = { .a = a, .out = out };
	int64_t(*layers)[2] = NULL;
	regex_t re;
	size_t n = 0;
	int rc = 0;

	*out = (struct sums){ .v = NULL };
	if ((by == SUMS_LAYER && !(layers = layers_of(t, r, a, &n, e))) || (filter && compile(&re, filter, e) < 0))
		return -1;
	for (size_t i = 0; rc == 0 && i < t->n_launches; i++) {
		const struct trace_launch *l = &t->launches[i];
		const struct rule *rule = rules_match(r, l);
		const char *family = rule && rule->family && *rule->family ? rule->family : "unknown";
		const int64_t order = order_of(by, l, layers, n);
		char text[96];

		if (l->kind == TRACE_KERNEL && (!filter || passes(&re, l, r)))
			rc = sums_add(&b, sums_key_of(by, l, family, order, text), order, l, family, e);
	}
	if (filter)
		regfree(&re);
	name_families(&b);
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, sums_by_time);
	return rc == 0 && filter && out->n == 0 ? nothing(t, filter, e) : rc;
}
