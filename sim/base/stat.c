/* stat.c - the registry: an array in order of registration and an open-addressed index over the names. */
#include "sim/base/stat.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"

struct entry {
	const char *name, *unit, *help;
	const uint64_t *counter;
	uint64_t base; /* the counter at the last snapshot */
	enum stat_kind kind;
};

struct stat_reg {
	struct entry *v;
	size_t n, cap;
	uint32_t *index; /* n + 1, or 0 for none; `slots` is a power of two and more than twice n */
	size_t slots;
	bool frozen;
	const char *missing; /* that was asked for; NULL: none */
};

struct stat_reg *stat_new(void)
{
	return calloc(1, sizeof(struct stat_reg));
}

void stat_free(struct stat_reg *r)
{
	if (!r)
		return;
	free(r->v);
	free(r->index);
	free(r);
}

/* The slot that holds `name`, or the empty one where it belongs. */
static size_t stat_probe(const struct stat_reg *r, const char *name)
{
	size_t s = (size_t)hash_mix(hash_str(HASH_INIT, name)) & (r->slots - 1);

	while (r->index[s] && strcmp(r->v[r->index[s] - 1].name, name) != 0)
		s = (s + 1) & (r->slots - 1);
	return s;
}

static int stat_grow(struct stat_reg *r)
{
	size_t cap = r->cap ? 2 * r->cap : 64, slots = 4 * cap;
	struct entry *v = realloc(r->v, cap * sizeof *v);
	uint32_t *index;

	if (!v)
		return -1;
	r->v = v;
	if (!(index = calloc(slots, sizeof *index)))
		return -1;
	free(r->index);
	r->index = index;
	r->slots = slots;
	r->cap = cap;
	for (size_t i = 0; i < r->n; i++)
		r->index[stat_probe(r, r->v[i].name)] = (uint32_t)i + 1;
	return 0;
}

int stat_add(struct stat_reg *r, const char *name, const char *unit, const char *help, enum stat_kind kind,
             const uint64_t *counter, struct err *e)
{
	size_t s;

	assert(!r->frozen);
	assert(name && unit && help && counter);
	if (r->n == r->cap && stat_grow(r) < 0)
		return err_set(e, ERR_NOMEM, "no memory for statistic '%s'", name);
	s = stat_probe(r, name);
	if (r->index[s])
		return err_set(e, ERR_CONFIG, "statistic '%s' is registered twice", name);
	r->v[r->n] = (struct entry){ name, unit, help, counter, 0, kind };
	r->index[s] = (uint32_t)++r->n;
	return 0;
}

int stat_add_all(struct stat_reg *r, const struct stat_row *rows, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		if (stat_add(r, rows[i].name, rows[i].unit, rows[i].help, rows[i].kind, rows[i].counter, e) < 0)
			return -1;
	return 0;
}

void stat_snapshot(struct stat_reg *r)
{
	r->frozen = true;
	for (size_t i = 0; i < r->n; i++)
		r->v[i].base = *r->v[i].counter;
}

size_t stat_count(const struct stat_reg *r)
{
	return r->n;
}

static uint64_t value_of(const struct entry *s)
{
	return s->kind == STAT_COUNT ? *s->counter - s->base : *s->counter;
}

struct stat_view stat_at(const struct stat_reg *r, size_t i)
{
	const struct entry *s = &r->v[i];

	assert(i < r->n);
	return (struct stat_view){ s->name, s->unit, s->help, s->kind, value_of(s) };
}

/* NULL: nobody registered it. */
static const struct entry *stat_find(const struct stat_reg *r, const char *name)
{
	const uint32_t i = r->n ? r->index[stat_probe(r, name)] : 0;

	return i ? &r->v[i - 1] : NULL;
}

uint64_t stat_get(struct stat_reg *r, const char *name)
{
	const struct entry *s = stat_find(r, name);

	if (!s)
		r->missing = name;
	return s ? value_of(s) : 0;
}

int stat_check(const struct stat_reg *r, struct err *e)
{
	return r->missing ? err_set(e, ERR_STUCK, "there is no statistic '%s'", r->missing) : 0;
}

uint64_t stat_get_or(const struct stat_reg *r, const char *name, uint64_t absent)
{
	const struct entry *s = stat_find(r, name);

	return s ? value_of(s) : absent;
}

const uint64_t *stat_counter(const struct stat_reg *r, const char *name)
{
	const struct entry *s = stat_find(r, name);

	return s ? s->counter : NULL;
}
