/* cfg_yaml.c - rows from a YAML mapping and back. Every fault is placed where the file has it. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/cfg_int.h"

static int cfg_yaml_place(const struct yaml *y, const struct ynode *at, const struct err *inner, struct err *e)
{
	return yaml_err(y, at, e, "%s", inner->msg);
}

static bool is_empty(const struct ynode *n)
{
	return n->kind == YNODE_SCALAR && !n->quoted && !*n->text;
}

/* One value: a scalar, or {value: X, source: "where from"}. */
static int read_value(struct cfg *c, struct cfg_slot *r, const struct yaml *y, const struct ynode *n, bool weak,
                      struct err *e)
{
	static const char *const keys[] = { "value", "source" };
	const struct ynode *value = n, *from = NULL;
	struct err inner = ERR_INIT;
	bool check_only = weak && r->given;
	const char *source;

	if (n->kind == YNODE_MAP) {
		if (yaml_only_keys(y, n, keys, 2, e) < 0)
			return -1;
		from = ynode_get(n, "source");
		if (!(value = ynode_get(n, "value")))
			return yaml_err(y, n, e, "'%s' has no 'value'", r->key);
	}
	if (value->kind != YNODE_SCALAR)
		return yaml_err(y, value, e, "'%s' takes one value, not a %s", r->key,
		                value->kind == YNODE_SEQ ? "list" : "mapping");
	if (is_empty(value))
		return yaml_err(y, value, e, "'%s' has no value", r->key);
	if (from && from->kind != YNODE_SCALAR)
		return yaml_err(y, from, e, "the source of '%s' is not text", r->key);
	if (from)
		source = arena_strdup(c->arena, from->text);
	else
		source = arena_printf(c->arena, "%s:%d", yaml_name(y), value->line);
	if (!source)
		return err_nomem(e, "for the configuration");
	if (cfg_put(r, value->text, source, check_only, &inner) < 0)
		return cfg_yaml_place(y, value, &inner, e);
	return 0;
}

static struct cfg_slot *cfg_yaml_row_of(const struct cfg *c, const struct cfg_section *s, const char *key)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->rows[i].section == s && strcmp(c->rows[i].field->key, key) == 0)
			return &c->rows[i];
	return NULL;
}

static int unknown_in(const struct cfg *c, const struct cfg_section *s, const struct yaml *y, const struct ynode *key,
                      struct err *e)
{
	const char **names = calloc(c->n + 1, sizeof *names), *near = NULL;
	struct str all = STR_INIT;
	size_t n = 0;

	for (size_t i = 0; names && i < c->n; i++)
		if (c->rows[i].section == s)
			names[n++] = c->rows[i].field->key;
	if (names)
		near = str_nearest(key->text, names, n);
	if (near) {
		yaml_err(y, key, e, "unknown key '%s' in '%s'; did you mean '%s'?", key->text, s->name, near);
	} else {
		for (size_t i = 0; i < n; i++)
			str_addf(&all, "%s%s", i ? ", " : "", names[i]);
		yaml_err(y, key, e, "unknown key '%s' in '%s', which has %s", key->text, s->name,
		         n ? str_c(&all) : "none");
	}
	str_free(&all);
	free(names);
	return -1;
}

static const struct cfg_section *section_of(const struct cfg *c, const char *name)
{
	for (const struct cfg_section *s = c->sections; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

static int read_map(struct cfg *c, const struct cfg_section *s, const struct yaml *y, const struct ynode *map,
                    bool weak, struct err *e)
{
	if (is_empty(map)) /* "l2:" with every key commented out */
		return 0;
	if (map->kind != YNODE_MAP)
		return yaml_err(y, map, e, "section '%s' takes keys with values, not a %s", s->name,
		                map->kind == YNODE_SEQ ? "list" : "single value");
	for (size_t i = 0; i < map->n; i++) {
		struct cfg_slot *r = cfg_yaml_row_of(c, s, map->keys[i]->text);

		if (!r)
			return unknown_in(c, s, y, map->keys[i], e);
		if (read_value(c, r, y, map->vals[i], weak, e) < 0)
			return -1;
	}
	return 0;
}

int cfg_read_section(struct cfg *c, const char *section, const struct yaml *y, const struct ynode *map, bool weak,
                     struct err *e)
{
	const struct cfg_section *s = section_of(c, section);

	if (!s)
		return yaml_err(y, map, e, "there is no section '%s'", section);
	return read_map(c, s, y, map, weak, e);
}

static int unknown_top(const struct cfg *c, const struct yaml *y, const struct ynode *key, const char *const *skip,
                       struct err *e)
{
	size_t cap = c->n + 1, n = 0, dot = strcspn(key->text, ".");
	const char **names, *near = NULL;

	for (const struct cfg_section *s = c->sections; s->name; s++)
		cap++;
	for (size_t i = 0; skip && skip[i]; i++)
		cap++;
	if ((names = calloc(cap, sizeof *names))) {
		for (const struct cfg_section *s = c->sections; s->name; s++)
			if (*s->name)
				names[n++] = s->name;
		for (size_t i = 0; i < c->n; i++)
			if (!*c->rows[i].section->name)
				names[n++] = c->rows[i].key;
		for (size_t i = 0; skip && skip[i]; i++)
			names[n++] = skip[i];
		near = str_nearest(key->text, names, n);
	}
	for (size_t i = 0; i < c->n && key->text[dot]; i++)
		if (strcmp(c->rows[i].key, key->text) == 0) {
			yaml_err(y, key, e, "'%s' is nested in a file: write '%s' below '%.*s:'", key->text,
			         key->text + dot + 1, (int)dot, key->text);
			goto out;
		}
	if (near)
		yaml_err(y, key, e, "unknown key '%s'; did you mean '%s'?", key->text, near);
	else
		yaml_err(y, key, e, "unknown key '%s'", key->text);
out:
	free(names);
	return -1;
}

int cfg_read(struct cfg *c, const struct yaml *y, const struct ynode *root, const char *const *skip, struct err *e)
{
	const struct cfg_section *top = section_of(c, "");

	if (root->kind != YNODE_MAP)
		return yaml_err(y, root, e, "a configuration is made of sections, not a %s",
		                root->kind == YNODE_SEQ ? "list" : "single value");
	for (size_t i = 0; i < root->n; i++) {
		const struct ynode *key = root->keys[i];
		const struct cfg_section *s = *key->text ? section_of(c, key->text) : NULL;
		struct cfg_slot *r = top ? cfg_yaml_row_of(c, top, key->text) : NULL;
		bool skipped = false;
		int rc;

		for (size_t k = 0; skip && skip[k] && !skipped; k++)
			skipped = strcmp(skip[k], key->text) == 0;
		if (skipped)
			continue;
		if (r)
			rc = read_value(c, r, y, root->vals[i], false, e);
		else if (s)
			rc = read_map(c, s, y, root->vals[i], false, e);
		else
			rc = unknown_top(c, y, key, skip, e);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* --- dump -------------------------------------------------------------------------------------------------- */

/* Letters, digits and a few marks need no quotes; all else gets them. */
static bool plain(const char *s)
{
	bool space = false;

	if (!*s || *s == '-' || *s == '.' || *s == '%' || *s == '/')
		return false;
	for (; *s; s++) {
		space = *s == ' ';
		if (!(*s >= 'a' && *s <= 'z') && !(*s >= 'A' && *s <= 'Z') && !(*s >= '0' && *s <= '9') &&
		    !strchr("_-./% ", *s))
			return false;
	}
	return !space;
}

static void add_scalar(struct str *out, const char *s)
{
	if (plain(s) && *s != ' ') {
		str_add(out, s);
		return;
	}
	str_addc(out, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			str_addc(out, '\\');
		str_addc(out, *s);
	}
	str_addc(out, '"');
}

static void dump(const struct cfg *c, bool all, struct str *out)
{
	struct str value = STR_INIT;
	const struct cfg_section *open = NULL;

	for (int nested = 0; nested < 2; nested++) /* top-level scalars first: YAML has no way back out of a section */
		for (size_t i = 0; i < c->n; i++) {
			const struct cfg_slot *r = &c->rows[i];

			if ((*r->section->name != '\0') != nested || (!all && !cfg_at(c, i).given))
				continue;
			if (nested && r->section != open)
				str_addf(out, "%s:\n", r->section->name);
			open = r->section;
			str_clear(&value);
			cfg_value(c, i, &value);
			str_addf(out, "%s%s: ", nested ? "  " : "", r->field->key);
			add_scalar(out, str_c(&value));
			str_addc(out, '\n');
		}
	out->failed |= value.failed;
	str_free(&value);
}

void cfg_dump(const struct cfg *c, struct str *out)
{
	dump(c, true, out);
}

void cfg_dump_given(const struct cfg *c, struct str *out)
{
	dump(c, false, out);
}
