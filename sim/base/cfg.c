/* cfg.c - the rows of all sections in one array, and setting one of them. A refused value changes nothing. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/cfg_int.h"
#include "sim/base/hash.h"

static const char set_source[] = "--set";

/* --- one value --------------------------------------------------------------------------------------------- */

static int parse_enum(const struct cfg_field *f, const char *name, const char *text, uint64_t *out, struct err *e)
{
	struct str all = STR_INIT;
	const char *near;
	size_t n = 0;

	for (; f->names[n]; n++)
		if (strcmp(f->names[n], text) == 0)
			return *out = n, 0;
	near = str_nearest(text, f->names, n);
	cfg_field_range(f, &all);
	if (near)
		err_set(e, ERR_CONFIG, "'%s' cannot be '%s'; did you mean '%s'? it is one of %s", name, text, near,
		        str_c(&all));
	else
		err_set(e, ERR_CONFIG, "'%s' cannot be '%s': it is one of %s", name, text, str_c(&all));
	str_free(&all);
	return -1;
}

/* What YAML can carry in a quoted scalar, so that a dump reads back. */
static bool printable(const char *text)
{
	size_t n = strlen(text);

	while (n) {
		uint32_t cp = 0;
		size_t len = str_utf8(text, n, &cp);

		/* Line and paragraph separators are line breaks to YAML, and would come back as spaces. */
		if (!len || cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0x2028 || cp == 0x2029 || cp == 0xfeff ||
		    cp == 0xfffe || cp == 0xffff)
			return false;
		text += len;
		n -= len;
	}
	return true;
}

static int check_text(const char *name, const char *text, struct err *e)
{
	if (strlen(text) >= CFG_STR_MAX)
		return err_set(e, ERR_CONFIG, "'%s' is longer than %d bytes", name, CFG_STR_MAX - 1);
	if (!printable(text))
		return err_set(e, ERR_CONFIG, "'%s' has characters that are not printable UTF-8", name);
	return 0;
}

static void cfg_store(const struct cfg_slot *r, uint64_t v)
{
	switch (r->field->type) {
	case CFG_T_U32:
	case CFG_T_PPM:
	case CFG_T_ENUM:
		*(uint32_t *)r->at = (uint32_t)v;
		break;
	case CFG_T_BOOL:
		*(bool *)r->at = v != 0;
		break;
	default:
		*(uint64_t *)r->at = v;
		break;
	}
}

int cfg_put(struct cfg_slot *r, const char *text, const char *source, bool check_only, struct err *e)
{
	const struct cfg_field *f = r->field;
	uint64_t v = 0;
	int rc;

	if (f->type == CFG_T_STR)
		rc = check_text(r->key, text, e);
	else if (f->type == CFG_T_ENUM)
		rc = parse_enum(f, r->key, text, &v, e);
	else
		rc = cfg_number(f, r->key, text, &v, e);
	if (rc < 0 || check_only)
		return rc;
	if (f->type == CFG_T_STR)
		snprintf(r->at, CFG_STR_MAX, "%s", text);
	else
		cfg_store(r, v);
	r->given = true;
	r->source = source;
	return 0;
}

/* --- life cycle -------------------------------------------------------------------------------------------- */

static struct cfg_slot *look_up(const struct cfg *c, const char *key)
{
	for (uint64_t h = hash_mix(hash_str(HASH_INIT, key));; h++) {
		uint16_t i = c->places[h & (c->n_places - 1)];

		if (i == 0)
			return NULL;
		if (strcmp(c->rows[i - 1].key, key) == 0)
			return &c->rows[i - 1];
	}
}

static void place_row(uint16_t *places, size_t n_places, const struct cfg_slot *rows, size_t i)
{
	uint64_t h = hash_mix(hash_str(HASH_INIT, rows[i].key));

	while (places[h & (n_places - 1)])
		h++;
	places[h & (n_places - 1)] = (uint16_t)(i + 1);
}

static int cfg_add_row(struct cfg *c, uint16_t *places, const struct cfg_section *s, const struct cfg_field *f,
                       void *target, struct err *e)
{
	struct cfg_slot *r = &c->rows[c->n];
	int n = snprintf(r->key, sizeof r->key, "%s%s%s", s->name, *s->name ? "." : "", f->key);

	if (n < 0 || (size_t)n >= sizeof r->key)
		return err_set(e, ERR_CONFIG, "the name of parameter '%s' is too long", r->key);
	if (look_up(c, r->key))
		return err_set(e, ERR_CONFIG, "parameter '%s' has two rows", r->key);
	if (!f->def || !f->help || !f->source || (f->type == CFG_T_ENUM && !f->names))
		return err_set(e, ERR_CONFIG, "the row of parameter '%s' is incomplete", r->key);
	r->section = s;
	r->field = f;
	r->at = (unsigned char *)target + s->base + f->offset;
	if (cfg_put(r, f->def, NULL, false, e) < 0)
		return err_add(e, "taking the default of '%s'", r->key);
	r->given = false;
	place_row(places, c->n_places, c->rows, c->n++);
	return 0;
}

struct cfg *cfg_new(const struct cfg_section *sections, void *target, struct err *e)
{
	struct cfg *c = calloc(1, sizeof *c);
	uint16_t *places;
	size_t n = 0;

	for (const struct cfg_section *s = sections; s->name; s++)
		for (const struct cfg_field *f = s->rows; f->key; f++)
			n++;
	assert(n < UINT16_MAX);
	if (!c || !(c->rows = calloc(n + 1, sizeof *c->rows)) || !(c->arena = arena_new(0))) {
		err_nomem(e, "for the configuration");
		goto fail;
	}
	for (c->n_places = 8; c->n_places < 2 * n; c->n_places *= 2)
		continue;
	if (!(places = arena_array(c->arena, c->n_places, sizeof *places))) {
		err_nomem(e, "for the configuration");
		goto fail;
	}
	c->places = places;
	c->sections = sections;
	for (const struct cfg_section *s = sections; s->name; s++) {
		for (const struct cfg_section *t = sections; t < s; t++)
			if (strcmp(s->name, t->name) == 0) {
				err_set(e, ERR_CONFIG, "section '%s' is bound twice", s->name);
				goto fail;
			}
		for (const struct cfg_field *f = s->rows; f->key; f++)
			if (cfg_add_row(c, places, s, f, target, e) < 0)
				goto fail;
	}
	return c;
fail:
	cfg_free(c);
	return NULL;
}

struct cfg *cfg_copy(const struct cfg *from, const void *was, void *target, struct err *e)
{
	struct cfg *c = calloc(1, sizeof *c);

	if (!c || !(c->rows = malloc((from->n + 1) * sizeof *c->rows)) || !(c->arena = arena_new(0))) {
		err_nomem(e, "for the configuration");
		cfg_free(c);
		return NULL;
	}
	c->sections = from->sections;
	c->n = from->n;
	c->places = from->places;
	c->n_places = from->n_places;
	memcpy(c->rows, from->rows, c->n * sizeof *c->rows);
	for (size_t i = 0; i < c->n; i++)
		c->rows[i].at =
			(unsigned char *)target + ((unsigned char *)from->rows[i].at - (const unsigned char *)was);
	return c;
}

void cfg_free(struct cfg *c)
{
	if (!c)
		return;
	arena_free(c->arena);
	free(c->rows);
	free(c);
}

/* --- by key ------------------------------------------------------------------------------------------------ */

/* The full key a user may have meant: by spelling, or by the last word alone where only one section has it. */
static const char *nearest_key(const struct cfg *c, const char *key)
{
	const char **names = calloc(c->n + 1, sizeof *names), *near = NULL;

	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->rows[i].field->key, key) == 0) {
			if (near) {
				near = NULL;
				break;
			}
			near = c->rows[i].key;
		}
	if (!near && names) {
		for (size_t i = 0; i < c->n; i++)
			names[i] = c->rows[i].key;
		near = str_nearest(key, names, c->n);
	}
	free(names);
	return near;
}

int cfg_find(const struct cfg *c, const char *key, size_t *i, struct err *e)
{
	const struct cfg_slot *r = look_up(c, key);
	const char *near;

	if (r) {
		*i = (size_t)(r - c->rows);
		return 0;
	}
	for (size_t k = 0; k < c->n; k++)
		if (*key && strcmp(c->rows[k].section->name, key) == 0)
			return err_set(e, ERR_CONFIG, "'%s' is a section: name one of its keys, such as '%s'", key,
			               c->rows[k].key);
	near = nearest_key(c, key);
	if (near)
		return err_set(e, ERR_CONFIG, "unknown key '%s'; did you mean '%s'?", key, near);
	return err_set(e, ERR_CONFIG, "unknown key '%s'", key);
}

int cfg_set_key(struct cfg *c, const char *key, const char *value, struct err *e)
{
	size_t i;

	if (cfg_find(c, key, &i, e) < 0)
		return -1;
	return cfg_put(&c->rows[i], value, set_source, false, e);
}

int cfg_set(struct cfg *c, const char *assignment, struct err *e)
{
	const char *eq = strchr(assignment, '='), *value;
	char key[sizeof c->rows->key];
	size_t n;

	if (!eq)
		return err_set(e, ERR_CONFIG, "'%s' is no assignment: write KEY=VALUE", assignment);
	value = eq + 1 + strspn(eq + 1, " ");
	for (n = (size_t)(eq - assignment); n && assignment[n - 1] == ' '; n--)
		continue;
	if (n >= sizeof key)
		return err_set(e, ERR_CONFIG, "unknown key '%.*s'", (int)n, assignment);
	memcpy(key, assignment, n);
	key[n] = '\0';
	return cfg_set_key(c, key, value, e);
}

bool cfg_given(const struct cfg *c, const char *key)
{
	const struct cfg_slot *r = look_up(c, key);

	assert(r); /* callers name their own rows */
	return r && r->given;
}

void cfg_forget(struct cfg *c, const char *key)
{
	struct cfg_slot *r = look_up(c, key);

	assert(r);
	if (r)
		r->given = false;
}

/* --- walking ----------------------------------------------------------------------------------------------- */

size_t cfg_count(const struct cfg *c)
{
	return c->n;
}

struct cfg_row cfg_at(const struct cfg *c, size_t i)
{
	const struct cfg_slot *r = &c->rows[i];
	struct cfg_row row = { .section = r->section->name, .field = r->field, .given = r->given };

	assert(i < c->n);
	row.source = r->source ? r->source : r->field->source;
	memcpy(row.key, r->key, sizeof row.key);
	return row;
}

int cfg_set_row(struct cfg *c, size_t i, const char *value, const char *source, struct err *e)
{
	const char *kept = arena_strdup(c->arena, source);

	assert(i < c->n);
	return kept ? cfg_put(&c->rows[i], value, kept, false, e) : err_set(e, ERR_NOMEM, "out of memory for a source");
}

void cfg_set_raw(struct cfg *c, size_t i, uint64_t raw, const char *source)
{
	struct cfg_slot *r = &c->rows[i];

	assert(i < c->n && r->field->type != CFG_T_STR);
	cfg_store(r, raw);
	r->given = true;
	r->source = source;
}

uint64_t cfg_raw(const struct cfg *c, size_t i)
{
	const struct cfg_slot *r = &c->rows[i];

	assert(i < c->n);
	switch (r->field->type) {
	case CFG_T_U32:
	case CFG_T_PPM:
	case CFG_T_ENUM:
		return *(const uint32_t *)r->at;
	case CFG_T_BOOL:
		return *(const bool *)r->at;
	case CFG_T_STR:
		return hash_mix(hash_str(HASH_INIT, r->at));
	default:
		return *(const uint64_t *)r->at;
	}
}

void cfg_value(const struct cfg *c, size_t i, struct str *out)
{
	const struct cfg_slot *r = &c->rows[i];

	if (r->field->type == CFG_T_STR)
		str_add(out, r->at);
	else if (r->field->type == CFG_T_ENUM)
		str_add(out, r->field->names[cfg_raw(c, i)]);
	else
		cfg_format_value(r->field->type, cfg_raw(c, i), out);
}

void cfg_range(const struct cfg *c, size_t i, struct str *out)
{
	assert(i < c->n);
	cfg_field_range(c->rows[i].field, out);
}

void cfg_absent(struct cfg *c, const char *section, bool absent)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->rows[i].section->name, section) == 0)
			c->rows[i].absent = absent;
}

uint64_t cfg_hash(const struct cfg *c)
{
	uint64_t h = HASH_INIT;

	for (size_t i = 0; i < c->n; i++)
		if (!c->rows[i].absent)
			h = hash_u64(hash_str(h, c->rows[i].key), cfg_raw(c, i));
	return hash_mix(h);
}
