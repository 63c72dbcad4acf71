/* cfg_value.c - numbers with units, to and from text, in integers only.
 *
 * "2.4576 TB/s" is 24576 / 10^4 * 10^12. The fraction scale / 10^digits is reduced first; then the value is whole
 * exactly when the rest of the denominator divides the digits, and no product leaves 64 bits unnoticed. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/cfg_int.h"
#include "sim/base/ratio.h"

#define DIGITS_MAX 16 /* after the point: 10^16 times the largest denominator of a unit stays below 2^64 */

struct unit {
	const char *name;
	uint64_t num, den;
};

/* Largest first: the formatter takes the first of equally short numbers. */
static const struct unit byte_units[] = { { "TiB", UINT64_C(1) << 40, 1 },
	                                  { "TB", UINT64_C(1000000000000), 1 },
	                                  { "GiB", UINT64_C(1) << 30, 1 },
	                                  { "GB", UINT64_C(1000000000), 1 },
	                                  { "MiB", UINT64_C(1) << 20, 1 },
	                                  { "MB", UINT64_C(1000000), 1 },
	                                  { "KiB", UINT64_C(1) << 10, 1 },
	                                  { "kB", UINT64_C(1000), 1 },
	                                  { "B", 1, 1 },
	                                  { NULL, 0, 0 } };
static const struct unit rate_units[] = { { "TB/s", UINT64_C(1000000000000), 1 },
	                                  { "TiB/s", UINT64_C(1) << 40, 1 },
	                                  { "GB/s", UINT64_C(1000000000), 1 },
	                                  { "GiB/s", UINT64_C(1) << 30, 1 },
	                                  { "MB/s", UINT64_C(1000000), 1 },
	                                  { "MiB/s", UINT64_C(1) << 20, 1 },
	                                  { "kB/s", UINT64_C(1000), 1 },
	                                  { "KiB/s", UINT64_C(1) << 10, 1 },
	                                  { "B/s", 1, 1 },
	                                  { NULL, 0, 0 } };
static const struct unit freq_units[] = {
	{ "GHz", 1000000, 1 }, { "MHz", 1000, 1 }, { "kHz", 1, 1 }, { "Hz", 1, 1000 }, { NULL, 0, 0 }
};
static const struct unit time_units[] = { { "ms", UINT64_C(1000000000), 1 },
	                                  { "us", 1000000, 1 },
	                                  { "ns", 1000, 1 },
	                                  { "ps", 1, 1 },
	                                  { "s", UINT64_C(1000000000000),
	                                    1 }, /* last: read, and not what a value is printed in */
	                                  { NULL, 0, 0 } };
static const struct unit energy_units[] = {
	{ "uJ", 1000000000, 1 }, { "nJ", 1000000, 1 }, { "pJ", 1000, 1 }, { "fJ", 1, 1 }, { NULL, 0, 0 }
};
static const struct unit power_units[] = {
	{ "kW", 1000000000, 1 }, { "W", 1000000, 1 }, { "mW", 1000, 1 }, { "uW", 1, 1 }, { NULL, 0, 0 }
};
static const struct unit area_units[] = {
	{ "mm2", UINT64_C(1000000000000), 1 }, { "um2", 1000000, 1 }, { "nm2", 1, 1 }, { NULL, 0, 0 }
};
static const struct unit ppm_units[] = { { "", 1000000, 1 }, { "%", 10000, 1 }, { NULL, 0, 0 } };
static const struct unit plain_units[] = { { "", 1, 1 }, { NULL, 0, 0 } };

static const struct unit *units_of(enum cfg_type t)
{
	switch (t) {
	case CFG_T_BYTES:
		return byte_units;
	case CFG_T_RATE:
		return rate_units;
	case CFG_T_FREQ:
		return freq_units;
	case CFG_T_PS:
		return time_units;
	case CFG_T_ENERGY:
		return energy_units;
	case CFG_T_POWER:
		return power_units;
	case CFG_T_AREA:
		return area_units;
	case CFG_T_PPM:
		return ppm_units;
	default:
		return plain_units;
	}
}

static bool bare_allowed(enum cfg_type t)
{
	return t == CFG_T_U32 || t == CFG_T_U64 || t == CFG_T_PPM;
}

const char *cfg_unit(enum cfg_type t)
{
	switch (t) {
	case CFG_T_BYTES:
		return "bytes";
	case CFG_T_RATE:
		return "bytes/s";
	case CFG_T_FREQ:
		return "kHz";
	case CFG_T_PS:
		return "ps";
	case CFG_T_ENERGY:
		return "fJ";
	case CFG_T_POWER:
		return "uW";
	case CFG_T_AREA:
		return "nm2";
	case CFG_T_PPM:
		return "millionths";
	default:
		return "";
	}
}

const char *cfg_pow2(uint64_t v)
{
	return v && !(v & (v - 1)) ? NULL : "is not a power of two";
}

const char *cfg_pow2_or_0(uint64_t v)
{
	return v & (v - 1) ? "is not 0 or a power of two" : NULL;
}

/* --- reading ----------------------------------------------------------------------------------------------- */

struct number {
	uint64_t digits;  /* without the point */
	int places;       /* digits after the point, trailing zeros dropped */
	const char *unit; /* what follows, without spaces around it */
	size_t unit_len;
	int len; /* of the number's own text, which starts at `text` */
	const char *text;
};

enum scan { SCAN_OK, SCAN_EMPTY, SCAN_NEGATIVE, SCAN_BAD, SCAN_LARGE, SCAN_LONG, SCAN_EXPONENT };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static bool take_digit(uint64_t *v, char c)
{
	unsigned d = (unsigned)(c - '0');

	if (*v > (UINT64_MAX - d) / 10)
		return false;
	*v = *v * 10 + d;
	return true;
}

/* "7", "0.7" and ".7" are numbers. */
static bool begins(const char *s)
{
	return is_digit(*s) || (*s == '.' && is_digit(s[1]));
}

static enum scan scan(const char *s, struct number *n)
{
	const char *end, *last;

	memset(n, 0, sizeof *n);
	while (is_space(*s))
		s++;
	if (!*s)
		return SCAN_EMPTY;
	if (*s == '-' && begins(s + 1))
		return SCAN_NEGATIVE;
	if (!begins(s))
		return SCAN_BAD;
	n->text = s;
	for (; is_digit(*s); s++)
		if (!take_digit(&n->digits, *s))
			return SCAN_LARGE;
	if (*s == '.') {
		if (!is_digit(*++s))
			return SCAN_BAD;
		for (end = s; is_digit(*end); end++)
			continue;
		n->len = (int)(end - n->text);
		for (last = end; last > s && last[-1] == '0'; last--)
			continue;
		for (; s < last; s++)
			if (++n->places > DIGITS_MAX || !take_digit(&n->digits, *s))
				return SCAN_LONG;
		s = end;
	} else {
		n->len = (int)(s - n->text);
	}
	if ((*s == 'e' || *s == 'E') && is_digit(s[s[1] == '+' || s[1] == '-' ? 2 : 1]))
		return SCAN_EXPONENT;
	while (is_space(*s))
		s++;
	for (end = s + strlen(s); end > s && is_space(end[-1]); end--)
		continue;
	n->unit = s;
	n->unit_len = (size_t)(end - s);
	return SCAN_OK;
}

enum scale { SCALE_OK, SCALE_FRACTION, SCALE_LARGE };

static enum scale scale(const struct number *n, const struct unit *u, uint64_t *out)
{
	uint64_t den = u->den, num = u->num, g;

	for (int i = 0; i < n->places; i++)
		den *= 10;
	g = ratio_common(num, den);
	num /= g;
	den /= g;
	if (n->digits % den)
		return SCALE_FRACTION;
	if (n->digits / den > UINT64_MAX / num)
		return SCALE_LARGE;
	*out = n->digits / den * num;
	return SCALE_OK;
}

static const struct unit *find_unit(enum cfg_type t, const char *name, size_t len)
{
	for (const struct unit *u = units_of(t); u->name; u++)
		if (strlen(u->name) == len && memcmp(u->name, name, len) == 0)
			return u;
	return NULL;
}

/* "B, KiB or MiB" */
static void list_units(enum cfg_type t, struct str *out)
{
	for (const struct unit *u = units_of(t); u->name; u++)
		str_addf(out, "%s%s", u == units_of(t) ? "" : u[1].name ? ", " : " or ", u->name);
}

static bool in_range(const struct cfg_field *f, uint64_t v)
{
	return v >= f->min && v <= f->max && !(f->rule && f->rule(v));
}

/* The spelling a bare number most likely meant: the default's unit, else the first that gives a legal value. */
static void guess(const struct cfg_field *f, const struct number *n, struct str *out)
{
	static const char *const likely[][5] = {
		[CFG_T_BYTES] = { "MiB", "KiB", "GiB", "B", NULL }, [CFG_T_RATE] = { "TB/s", "GB/s", "B/s", NULL },
		[CFG_T_FREQ] = { "GHz", "MHz", "kHz", "Hz", NULL }, [CFG_T_PS] = { "ns", "us", "ps", NULL },
		[CFG_T_ENERGY] = { "pJ", "fJ", "nJ", NULL },        [CFG_T_POWER] = { "W", "mW", NULL },
		[CFG_T_AREA] = { "um2", "mm2", "nm2", NULL }
	};
	const char *const *try = likely[f->type];
	const struct unit *first = NULL, *u = NULL;
	struct number def;
	uint64_t v;

	if (f->def && scan(f->def, &def) == SCAN_OK)
		first = find_unit(f->type, def.unit, def.unit_len);
	u = first;
	for (;;) {
		if (u && scale(n, u, &v) == SCALE_OK && in_range(f, v)) {
			if (u->num == u->den)
				cfg_format_value(f->type, v, out); /* 201326592 bytes are better read as 192 MiB */
			else
				str_addf(out, "%.*s %s", n->len, n->text, u->name);
			return;
		}
		if (!*try)
			break;
		u = find_unit(f->type, *try, strlen(*try));
		try++;
	}
	if (!first)
		first = find_unit(f->type, likely[f->type][0], strlen(likely[f->type][0]));
	str_addf(out, "%.*s %s", n->len, n->text, first->name);
}

static int fail_text(const struct cfg_field *f, const char *name, const char *said, struct err *e)
{
	return err_set(e, ERR_CONFIG, "'%s' is not a number%s: write one%s%s%s%s", name, said,
	               bare_allowed(f->type) ? "" : " with its unit", f->def ? ", such as '" : "", f->def ? f->def : "",
	               f->def ? "'" : "");
}

static int fail_unit(const struct cfg_field *f, const char *name, const struct number *n, struct err *e)
{
	struct str s = STR_INIT;

	if (n->unit_len == 0) {
		guess(f, n, &s);
		err_set(e, ERR_CONFIG, "'%s' needs a unit: write '%s'", name, str_c(&s));
	} else if (f->type == CFG_T_PPM) {
		err_set(e, ERR_CONFIG, "'%s' has the unit '%.*s': write a fraction such as '0.85', or '85 %%'", name,
		        (int)n->unit_len, n->unit);
	} else if (bare_allowed(f->type)) {
		err_set(e, ERR_CONFIG, "'%s' is a plain count: write '%.*s', without '%.*s'", name, n->len, n->text,
		        (int)n->unit_len, n->unit);
	} else {
		list_units(f->type, &s);
		err_set(e, ERR_CONFIG, "'%s' has the unit '%.*s': write one of %s", name, (int)n->unit_len, n->unit,
		        str_c(&s));
	}
	str_free(&s);
	return -1;
}

static int parse_bool(const char *name, const char *said, const char *text, uint64_t *out, struct err *e)
{
	static const char *const words[] = { "false", "true", "no", "yes", "off", "on" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(text, words[i]) == 0)
			return *out = i & 1, 0;
	return err_set(e, ERR_CONFIG, "'%s' is neither 'true' nor 'false'%s", name, said);
}

static int cfg_value_check(const struct cfg_field *f, const char *name, const char *said, uint64_t v, struct err *e)
{
	bool narrow = f->type == CFG_T_U32 || f->type == CFG_T_PPM; /* stored in 32 bits */
	struct str s = STR_INIT;
	uint64_t max = f->max;

	if (narrow && v > UINT32_MAX && max >= UINT32_MAX)
		return err_set(e, ERR_CONFIG, "'%s' is too large%s", name, said);
	if (v >= f->min && v <= max && !(f->rule && f->rule(v)))
		return 0;
	cfg_format_value(f->type, v, &s);
	if (v >= f->min && v <= max) {
		err_set(e, ERR_CONFIG, "'%s' is %s, which %s", name, str_c(&s), f->rule(v));
	} else {
		str_add(&s, "; the range is ");
		cfg_field_range(f, &s);
		err_set(e, ERR_CONFIG, "'%s' is %s", name, str_c(&s));
	}
	str_free(&s);
	return -1;
}

int cfg_number(const struct cfg_field *f, const char *subject, const char *text, uint64_t *out, struct err *e)
{
	const char *name = subject ? subject : text, *base = cfg_unit(f->type);
	const struct unit *u;
	struct number n;
	uint64_t v = 0;
	char said[80] = "";

	assert(f->type != CFG_T_ENUM && f->type != CFG_T_STR && f->type != CFG_T_END);
	if (subject)
		snprintf(said, sizeof said, " ('%.70s')", text);
	if (f->type == CFG_T_BOOL)
		return parse_bool(name, said, text, out, e);
	switch (scan(text, &n)) {
	case SCAN_OK:
		break;
	case SCAN_EMPTY:
		return err_set(e, ERR_CONFIG, "'%s' has no value", name);
	case SCAN_NEGATIVE:
		return err_set(e, ERR_CONFIG, "'%s' is negative%s", name, said);
	case SCAN_BAD:
		return fail_text(f, name, said, e);
	case SCAN_LARGE:
		return err_set(e, ERR_CONFIG, "'%s' is too large%s", name, said);
	case SCAN_LONG:
		return err_set(e, ERR_CONFIG, "'%s' has too many digits%s", name, said);
	case SCAN_EXPONENT:
		return err_set(e, ERR_CONFIG, "'%s' has an exponent%s: write the number out%s%s%s", name, said,
		               f->def ? ", such as '" : "", f->def ? f->def : "", f->def ? "'" : "");
	}
	u = find_unit(f->type, n.unit, n.unit_len);
	if (!u && n.digits == 0 && n.unit_len == 0)
		u = units_of(f->type); /* nothing is nothing in any unit */
	if (!u)
		return fail_unit(f, name, &n, e);
	switch (scale(&n, u, &v)) {
	case SCALE_OK:
		break;
	case SCALE_LARGE:
		return err_set(e, ERR_CONFIG, "'%s' is too large%s", name, said);
	case SCALE_FRACTION:
		return err_set(e, ERR_CONFIG, "'%s' is not a whole number%s%s%s", name, *base ? " of " : "", base,
		               said);
	}
	if (cfg_value_check(f, name, said, v, e) < 0)
		return -1;
	*out = v;
	return 0;
}

int cfg_parse_like(enum cfg_type type, const char *text, const char *like, uint64_t *out, struct err *e)
{
	const struct cfg_field f = { .type = type, .max = UINT64_MAX, .def = like };

	return cfg_number(&f, NULL, text, out, e);
}

int cfg_parse_value(enum cfg_type type, const char *text, uint64_t *out, struct err *e)
{
	return cfg_parse_like(type, text, NULL, out, e);
}

/* --- writing ----------------------------------------------------------------------------------------------- */

/* v in units of u as a decimal, when it is at least 1 (or 0) and ends within the places that are read back. */
static bool decimal(uint64_t v, uint64_t unit, char *buf, size_t size)
{
	int len = snprintf(buf, size, "%llu", (unsigned long long)(v / unit)), places = 0;
	uint64_t rest = v % unit;

	if (rest)
		buf[len++] = '.';
	for (; rest && places < DIGITS_MAX; places++) {
		rest *= 10; /* below 10 * 2^40 */
		buf[len++] = (char)('0' + rest / unit);
		rest %= unit;
	}
	buf[len] = '\0';
	return !rest && strlen(buf) <= 19; /* 19 digits always fit 64 bits when read again */
}

void cfg_format_value(enum cfg_type type, uint64_t v, struct str *out)
{
	char best[48] = "", text[48];
	const struct unit *best_unit = NULL;

	if (type == CFG_T_BOOL) {
		str_add(out, v ? "true" : "false");
		return;
	}
	if (bare_allowed(type) || type == CFG_T_ENUM || type == CFG_T_STR) {
		if (type == CFG_T_PPM)
			decimal(v, 1000000, text, sizeof text);
		else
			snprintf(text, sizeof text, "%llu", (unsigned long long)v);
		str_add(out, text);
		return;
	}
	for (const struct unit *u = units_of(type); u->name; u++) {
		if (u->den != 1 || (v < u->num && u->num != 1))
			continue;
		if (!decimal(v, u->num, text, sizeof text) && u->num != 1)
			continue;
		if (best_unit && strlen(text) >= strlen(best))
			continue;
		strcpy(best, text);
		best_unit = u;
	}
	str_addf(out, "%s %s", best, best_unit->name);
}

/* What the rule asks for, taken from what it says of a value that breaks it. */
static void add_rule(const struct cfg_field *f, struct str *out)
{
	static const uint64_t broken[] = { 3, 7, 0, 1, 5 };

	for (size_t i = 0; f->rule && i < sizeof broken / sizeof *broken; i++) {
		const char *what = f->rule(broken[i]);

		if (what && str_prefix(what, "is not ")) {
			str_addf(out, ", %s", what + strlen("is not "));
			return;
		}
	}
}

void cfg_field_range(const struct cfg_field *f, struct str *out)
{
	bool open = f->max == UINT64_MAX || ((f->type == CFG_T_U32 || f->type == CFG_T_PPM) && f->max >= UINT32_MAX);

	switch (f->type) {
	case CFG_T_BOOL:
		str_add(out, "true or false");
		return;
	case CFG_T_ENUM:
		for (size_t i = 0; f->names[i]; i++)
			str_addf(out, "%s%s", i == 0 ? "" : f->names[i + 1] ? ", " : " or ", f->names[i]);
		return;
	case CFG_T_STR:
		str_addf(out, "text of at most %d bytes", CFG_STR_MAX - 1);
		return;
	default:
		break;
	}
	if (!open || f->min) {
		if (open)
			str_add(out, "at least ");
		cfg_format_value(f->type, f->min, out);
	} else {
		str_add(out, "any");
	}
	if (!open) {
		str_add(out, " to ");
		cfg_format_value(f->type, f->max, out);
	}
	add_rule(f, out);
}
