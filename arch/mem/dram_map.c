#include "arch/mem/dram_map.h"

#include <ctype.h>
#include <string.h>

static const char *const tokens[DRAM_FIELDS] = { "Ch", "Pc", "Ra", "Bg", "Ba", "Ro", "Co" };

enum { W_CHANNEL, W_BANK, W_ROW, W_COLUMN, WORDS }; /* of struct dram_place */

static const struct {
	const char *name, *fields;
} named[] = {
	{ "RoBaRaCoCh", "RoBaBgRaPcCoCh" },
	{ "BGI", "RoBaRaCoBgPcCh" },
	{ "MOP4CLXOR", "RoCoBaBgRaPcCo2Ch^" },
};

static bool dram_map_same(const char *a, const char *b)
{
	while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
		a++;
		b++;
	}
	return *a == *b;
}

static int field_of(const char *p)
{
	for (int f = 0; f < DRAM_FIELDS; f++)
		if (toupper((unsigned char)p[0]) == tokens[f][0] && tolower((unsigned char)p[1]) == tokens[f][1])
			return f;
	return -1;
}

static int size_bits(struct dram_fieldmap *m, const struct dram_map_size *s, struct err *e)
{
	for (int f = 0; f < DRAM_FIELDS; f++) {
		uint64_t n = s->n[f];

		m->bits[f] = 0;
		if (f == DRAM_F_CH && (n & (n - 1))) {
			m->divide = (uint32_t)n;
			continue;
		}
		if (!n || (n & (n - 1)))
			return err_set(e, ERR_CONFIG, "an address map needs a power of two of '%s', not %llu",
			               tokens[f], (unsigned long long)n);
		while (n >>= 1)
			m->bits[f]++;
	}
	for (m->burst_shift = 0; UINT64_C(1) << m->burst_shift < s->burst_bytes;)
		m->burst_shift++;
	if (UINT64_C(1) << m->burst_shift != s->burst_bytes)
		return err_set(e, ERR_CONFIG, "an address map needs bursts of a power of two of bytes, not %llu",
		               (unsigned long long)s->burst_bytes);
	return 0;
}

struct token {
	int field, bits;
}; /* bits -1: what the other pieces leave */

static int read_tokens(const char *text, struct token *t, unsigned *n, bool *turned, struct err *e)
{
	const char *p = text;

	*n = 0;
	*turned = false;
	while (*p) {
		int f;

		if (*p == '-' || *p == ',' || *p == ' ' || *p == '_') {
			p++;
			continue;
		}
		if (*p == '^' && !p[1]) {
			*turned = true;
			break;
		}
		if ((f = field_of(p)) < 0)
			return err_set(e, ERR_CONFIG,
			               "address map '%s': '%.2s' is no field; they are Ro Ba Bg Ra Pc Co Ch", text, p);
		if (*n == DRAM_MAP_PARTS)
			return err_set(e, ERR_CONFIG, "address map '%s' has more than %d fields", text, DRAM_MAP_PARTS);
		t[*n] = (struct token){ f, -1 };
		for (p += 2; isdigit((unsigned char)*p); p++) {
			t[*n].bits = (t[*n].bits < 0 ? 0 : t[*n].bits * 10) + *p - '0';
			if (t[*n].bits > 40)
				return err_set(e, ERR_CONFIG, "address map '%s': '%s' has too many bits", text,
				               tokens[f]);
		}
		(*n)++;
	}
	return 0;
}

/* Gives the piece without a number the bits its field has left. */
static int share_bits(const char *text, struct dram_fieldmap *m, struct token *t, unsigned n, struct err *e)
{
	for (int f = 0; f < DRAM_FIELDS; f++) {
		int left = m->bits[f], open = -1, pieces = 0;

		for (unsigned i = 0; i < n; i++) {
			if (t[i].field != f)
				continue;
			pieces++;
			if (t[i].bits >= 0)
				left -= t[i].bits;
			else if (open >= 0)
				return err_set(e, ERR_CONFIG,
				               "address map '%s' names '%s' twice: give all its pieces but one"
				               " a number of bits",
				               text, tokens[f]);
			else
				open = (int)i;
		}
		if (left < 0 || (left > 0 && open < 0))
			return err_set(e, ERR_CONFIG, "address map '%s' gives '%s' %d bits of %d", text, tokens[f],
			               m->bits[f] - left, m->bits[f]);
		if (open >= 0)
			t[open].bits = left;
		if (f == DRAM_F_CH && m->divide > 1 && (pieces != 1 || t[n - 1].field != f))
			return err_set(e, ERR_CONFIG,
			               "address map '%s': %u channels are no power of two, so 'Ch' must"
			               " stand last",
			               text, m->divide);
	}
	return 0;
}

/* The fields' places in a bank's number: Pc Ra Bg Ba. */
static unsigned bank_shift(const struct dram_fieldmap *m, int f)
{
	unsigned at = 0;

	for (int i = DRAM_F_BA; i > f; i--)
		at += m->bits[i];
	return at;
}

int dram_map_parse(struct dram_fieldmap *m, const char *text, const struct dram_map_size *size, struct err *e)
{
	struct token t[DRAM_MAP_PARTS];
	uint8_t done[DRAM_FIELDS] = { 0 };
	unsigned n, from = 0;

	memset(m, 0, sizeof *m);
	m->divide = 1;
	for (size_t i = 0; i < sizeof named / sizeof *named; i++)
		if (dram_map_same(text, named[i].name))
			text = named[i].fields;
	if (size_bits(m, size, e) < 0 || read_tokens(text, t, &n, &m->turned, e) < 0 ||
	    share_bits(text, m, t, n, e) < 0)
		return -1;
	for (unsigned i = n; i-- > 0;) {
		unsigned word, at;

		if (t[i].bits == 0)
			continue;
		if (from + (unsigned)t[i].bits > 58)
			return err_set(e, ERR_CONFIG, "address map '%s' covers more than 58 bits", text);
		word = t[i].field == DRAM_F_CH   ? W_CHANNEL
		       : t[i].field == DRAM_F_RO ? W_ROW
		       : t[i].field == DRAM_F_CO ? W_COLUMN
		                                 : W_BANK;
		at = done[t[i].field] + (word == W_BANK ? bank_shift(m, t[i].field) : 0);
		if (at + (unsigned)t[i].bits > 32)
			return err_set(e, ERR_CONFIG, "address map '%s' gives '%s' more than 32 bits", text,
			               tokens[t[i].field]);
		m->part[m->parts].from = (uint8_t)from;
		m->part[m->parts].mask = (uint32_t)((UINT64_C(1) << t[i].bits) - 1);
		m->part[m->parts].word = (uint8_t)word;
		m->part[m->parts++].at = (uint8_t)at;
		done[t[i].field] = (uint8_t)(done[t[i].field] + t[i].bits);
		from += (unsigned)t[i].bits;
	}
	return 0;
}

/* Pc, Ra, Bg, Ba and the row, one after the other, are turned by the column's bits. */
static void turn_fields(const struct dram_fieldmap *m, uint32_t *v)
{
	unsigned at = 0;

	for (int f = DRAM_F_PC; f <= DRAM_F_BA; f++) {
		v[W_BANK] ^= (v[W_COLUMN] >> at & ((1U << m->bits[f]) - 1)) << bank_shift(m, f);
		at += m->bits[f];
	}
	v[W_ROW] ^= v[W_COLUMN] >> at & ((1U << m->bits[DRAM_F_RO]) - 1);
}

struct dram_place dram_map_place(const struct dram_fieldmap *m, uint64_t addr)
{
	uint64_t x = addr >> m->burst_shift;
	uint32_t v[WORDS] = { 0 };

	if (m->divide > 1) {
		v[W_CHANNEL] = (uint32_t)(x % m->divide);
		x /= m->divide;
	}
	for (unsigned i = 0; i < m->parts; i++)
		v[m->part[i].word] |= ((uint32_t)(x >> m->part[i].from) & m->part[i].mask) << m->part[i].at;
	if (m->turned)
		turn_fields(m, v);
	return (struct dram_place){ v[W_CHANNEL], v[W_BANK], v[W_ROW], v[W_COLUMN] };
}
