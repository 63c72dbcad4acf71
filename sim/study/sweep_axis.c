/* sweep_axis.c - the values of an axis: from a list, or from a range in steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/sweep_int.h"

#define STEPS_MAX 1000000
#define BYTE_BITS 6    /* values of a range in bytes keep so many bits after the first: 1/64 */
#define DIGITS    1000 /* others in logarithmic steps keep three digits */

/* Stored numbers in the units expressions count in: Hz, fractions, pJ and W, where kHz, millionths,
 * fJ and uW are stored. */
double sweep_number(enum cfg_type t, uint64_t raw)
{
	switch (t) {
	case CFG_T_FREQ:
	case CFG_T_ENERGY:
		return t == CFG_T_FREQ ? (double)raw * 1e3 : (double)raw / 1e3;
	case CFG_T_PPM:
	case CFG_T_POWER:
		return (double)raw / 1e6;
	default:
		return (double)raw;
	}
}

static bool is_number(enum cfg_type t)
{
	return t != CFG_T_ENUM && t != CFG_T_STR;
}

/* Of a text that may be a number (model.tp), whether it is. */
static bool is_whole(const char *s)
{
	return s && *s && strlen(s) < 10 && strspn(s, "0123456789") == strlen(s);
}

static bool is_range_type(enum cfg_type t)
{
	return is_number(t) && t != CFG_T_BOOL;
}

/* Sets the value in the schema, which checks it, and keeps its text as the configuration spells it. */
static int add_text(struct sweep *s, struct sweep_axis *x, const char *said, const struct ynode *at,
                    bool twice_is_wrong, uint32_t *index, struct err *e)
{
	struct err why = ERR_INIT;
	struct str text = STR_INIT;
	struct res_value v = { NULL, false, 0 };
	struct cfg *of = sweep_schema(s, x->key);
	size_t row;
	int rc = -1;

	if (cfg_find(of, x->key, &row, e) < 0)
		return -1;
	if (cfg_set_key(of, x->key, said, &why) < 0)
		return yaml_err(s->y, at, e, "%s", why.msg);
	cfg_value(of, row, &text);
	v.text = text.failed ? NULL : arena_strdup(s->a, str_c(&text));
	v.is_number = is_number(x->field->type);
	v.number = v.is_number ? sweep_number(x->field->type, cfg_raw(of, row)) : 0;
	if (x->field->type == CFG_T_STR && is_whole(v.text)) {
		v.is_number = true;
		v.number = strtod(v.text, NULL);
	}
	str_free(&text);
	for (size_t i = 0; v.text && i < x->n; i++)
		if (strcmp(x->values[i].text, v.text) == 0) {
			*index = (uint32_t)i;
			return twice_is_wrong
			               ? yaml_err(s->y, at, e, "axis '%s' has the value '%s' twice", x->key, v.text)
			               : 0;
		}
	if (v.text && x->n == x->cap) {
		size_t cap = x->cap ? 2 * x->cap : 16;
		struct res_value *values = arena_array(s->a, cap, sizeof *values);
		const char **sets = arena_array(s->a, cap, sizeof *sets);

		if (!values || !sets)
			return sweep_no_memory(e);
		if (x->n) {
			memcpy(values, x->values, x->n * sizeof *values);
			memcpy(sets, x->sets, x->n * sizeof *sets);
		}
		x->values = values;
		x->sets = sets;
		x->cap = cap;
	}
	if (v.text && (x->sets[x->n] = arena_printf(s->a, "%s=%s", x->key, v.text))) {
		x->values[x->n] = v;
		*index = (uint32_t)x->n++;
		rc = 0;
	}
	return rc < 0 ? sweep_no_memory(e) : 0;
}

/* --- ranges ------------------------------------------------------------------------------------------------ */

static uint64_t to_multiple(double v, uint64_t of)
{
	return (uint64_t)llround(v / (double)of) * of;
}

static uint64_t to_power_of_two(double v)
{
	return v < 1 ? 0 : UINT64_C(1) << (int)lround(log2(v));
}

static uint64_t grain(const struct sweep_axis *x, double v)
{
	uint64_t g = 1;

	if (x->field->type == CFG_T_BYTES)
		for (uint64_t top = (uint64_t)v >> BYTE_BITS; g * 2 <= top;)
			g *= 2;
	else if (x->log)
		while ((double)g * DIGITS < v)
			g *= 10;
	return g;
}

/* The ends stay as they were written. */
static uint64_t between(const struct sweep_axis *x, double fraction)
{
	double from = (double)x->from, to = (double)x->to, v;

	if (fraction <= 0)
		return x->from;
	if (fraction >= 1)
		return x->to;
	v = x->log ? from * pow(to / from, fraction) : from + (to - from) * fraction;
	if (x->field->rule == cfg_pow2 || x->field->rule == cfg_pow2_or_0)
		return to_power_of_two(v);
	return to_multiple(v, grain(x, v));
}

int sweep_axis_add(struct sweep *s, struct sweep_axis *x, double fraction, uint32_t *index, struct err *e)
{
	struct str text = STR_INIT;
	int rc;

	cfg_format_value(x->field->type, between(x, fraction), &text);
	rc = text.failed ? sweep_no_memory(e) : add_text(s, x, str_c(&text), x->at, false, index, e);
	str_free(&text);
	return rc;
}

static int read_end(struct sweep *s, struct sweep_axis *x, const struct ynode *map, const char *which, uint64_t *out,
                    struct err *e)
{
	const struct ynode *n = ynode_get(map, which);
	struct err why = ERR_INIT;
	const char *text;
	size_t row;

	if (!n)
		return yaml_err(s->y, map, e, "the range of axis '%s' has no '%s'", x->key, which);
	if (yaml_str(s->y, n, &text, e) < 0 || cfg_find(sweep_schema(s, x->key), x->key, &row, e) < 0)
		return -1;
	if (cfg_set_key(sweep_schema(s, x->key), x->key, text, &why) < 0)
		return yaml_err(s->y, n, e, "%s", why.msg);
	*out = cfg_raw(sweep_schema(s, x->key), row);
	return 0;
}

static int read_range(struct sweep *s, const struct ynode *map, struct sweep_axis *x, struct err *e)
{
	static const char *const keys[] = { "from", "to", "steps", "scale" };
	const struct ynode *steps = ynode_get(map, "steps"), *scale = ynode_get(map, "scale");
	const char *text = "linear";
	uint64_t n = 0;

	if (yaml_only_keys(s->y, map, keys, sizeof keys / sizeof *keys, e) < 0)
		return -1;
	if (!is_range_type(x->field->type))
		return yaml_err(s->y, map, e, "'%s' is no number: list its values, [a, b]", x->key);
	if (read_end(s, x, map, "from", &x->from, e) < 0 || read_end(s, x, map, "to", &x->to, e) < 0 ||
	    (steps && yaml_u64(s->y, steps, 1, STEPS_MAX, &n, e) < 0) || (scale && yaml_str(s->y, scale, &text, e) < 0))
		return -1;
	if (strcmp(text, "linear") != 0 && strcmp(text, "log") != 0)
		return yaml_err(s->y, scale, e, "unknown scale '%s': it is linear or log", text);
	x->log = strcmp(text, "log") == 0;
	if (x->from >= x->to)
		return yaml_err(s->y, map, e, "the range of axis '%s' is empty: 'from' is not below 'to'", x->key);
	if (x->log && x->from == 0)
		return yaml_err(s->y, map, e, "the range of axis '%s' cannot be logarithmic from 0", x->key);
	if (n == 1)
		return yaml_err(s->y, steps, e, "a range has at least 2 steps: both its ends");
	x->continuous = !steps;
	for (uint64_t i = 0; i < n; i++) {
		uint32_t index;
		size_t had = x->n;

		if (sweep_axis_add(s, x, (double)i / (double)(n - 1), &index, e) < 0)
			return -1;
		if (x->n == had)
			return yaml_err(s->y, steps, e, "%llu steps are too many for axis '%s': '%s' would come twice",
			                (unsigned long long)n, x->key, x->values[index].text);
	}
	return 0;
}

/* --- an axis ----------------------------------------------------------------------------------------------- */

int sweep_axis_read(struct sweep *s, const struct ynode *key, const struct ynode *value, struct sweep_axis *x,
                    struct err *e)
{
	struct err why = ERR_INIT;
	uint32_t index;
	size_t row;

	*x = (struct sweep_axis){ .at = key };
	if (cfg_find(sweep_schema(s, key->text), key->text, &row, &why) < 0)
		return yaml_err(s->y, key, e, "%s", why.msg);
	x->key = arena_strdup(s->a, key->text);
	x->field = cfg_at(sweep_schema(s, key->text), row).field;
	if (!x->key)
		return sweep_no_memory(e);
	if (value->kind == YNODE_MAP)
		return read_range(s, value, x, e);
	if (value->kind == YNODE_SCALAR && (*value->text || value->quoted))
		return add_text(s, x, value->text, value, true, &index, e);
	if (value->n == 0)
		return yaml_err(s->y, key, e, "axis '%s' is empty: list its values, or give a range", x->key);
	for (size_t i = 0; i < value->n; i++) {
		if (value->vals[i]->kind != YNODE_SCALAR)
			return yaml_err(s->y, value->vals[i], e, "a value of axis '%s' is not a single one", x->key);
		if (add_text(s, x, value->vals[i]->text, value->vals[i], true, &index, e) < 0)
			return -1;
	}
	return 0;
}
