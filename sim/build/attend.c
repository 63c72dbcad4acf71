#include "sim/build/attend.h"

#define COMBINED 2 /* fp32 beside a part's sums, each row: a maximum and a sum */

const char *attend_name(enum attend_way w)
{
#define X(id, name, what) #name,
	static const char *const names[] = { ATTEND_WAYS(X) };
#undef X

	return names[w];
}

const char *attend_what(enum attend_way w)
{
#define X(id, name, what) what,
	static const char *const texts[] = { ATTEND_WAYS(X) };
#undef X

	return texts[w];
}

uint64_t attend_parts(uint64_t q_len, uint64_t kv_len)
{
	const uint64_t n = (kv_len + ATTEND_PART_KEYS - 1) / ATTEND_PART_KEYS;

	if (q_len > 1)
		return 1;
	return n < 1 ? 1 : n < ATTEND_PARTS ? n : ATTEND_PARTS;
}

uint64_t attend_part_from(uint64_t kv_len, uint64_t parts, uint64_t i)
{
	return kv_len / parts * i + (i < kv_len % parts ? i : kv_len % parts);
}

static uint64_t attend_bytes(uint64_t n, uint64_t bits)
{
	return (n * bits + 7) / 8;
}

/* (query, key) pairs of a head. */
static uint64_t pairs(const struct attend_shape *s)
{
	const uint64_t q = s->q_len, k = s->kv_len;

	if (!s->causal)
		return q * k;
	return k >= q ? q * (k - q) + q * (q + 1) / 2 : k * (k + 1) / 2 + (q - k) * k;
}

static struct attend_count flash(const struct attend_shape *s)
{
	const uint64_t rows = s->batch * s->heads, keys = s->batch * s->kv_heads * s->kv_len;

	return (struct attend_count){
		.ops = 1,
		.macs = rows * pairs(s) * (s->dim + s->v_dim),
		.read = attend_bytes(rows * s->q_len * s->dim, s->bits) + attend_bytes(keys * s->dim, s->kv_bits) +
		        attend_bytes(keys * s->v_dim, s->kv_bits),
		.write = attend_bytes(rows * s->q_len * s->v_dim, s->bits),
		.on_chip = attend_bytes(ATTEND_BLOCK * s->dim, s->bits) +
		           ATTEND_STAGES * attend_bytes(ATTEND_KEYS * (s->dim + s->v_dim), s->kv_bits)
	};
}

static struct attend_count split_kv(const struct attend_shape *s)
{
	const uint64_t parts = attend_parts(s->q_len, s->kv_len), rows = s->batch * s->heads * s->q_len,
		       sums = attend_bytes(rows * (s->v_dim + COMBINED), 32);
	struct attend_count c = flash(s);

	if (parts == 1)
		return c;
	c.ops = parts + 1;
	c.read += (parts - 1) * attend_bytes(rows * s->dim, s->bits) + parts * sums;
	c.write += parts * sums;
	c.buffer = parts * sums;
	return c;
}

static struct attend_count materialised(const struct attend_shape *s)
{
	const uint64_t rows = s->batch * s->heads * s->q_len, scores = attend_bytes(rows * s->kv_len, s->bits);
	struct attend_count c = flash(s);

	c.ops = 3;
	c.macs = rows * s->kv_len * (s->dim + s->v_dim);
	c.read += 2 * scores;
	c.write += 2 * scores;
	c.buffer = 2 * scores;
	c.on_chip = attend_bytes(s->q_len * s->kv_len, s->bits);
	return c;
}

static struct attend_count mla(const struct attend_shape *s)
{
	const uint64_t rows = s->batch * s->heads * s->q_len, in = s->heads * s->rank * s->nope,
		       out = s->heads * s->rank * s->v_dim;
	const struct attend_shape over = { .batch = s->batch,
		                           .heads = s->heads,
		                           .kv_heads = 1,
		                           .q_len = s->q_len,
		                           .kv_len = s->kv_len,
		                           .dim = s->rank + s->rope,
		                           .v_dim = s->rank,
		                           .causal = s->causal,
		                           .bits = s->bits,
		                           .kv_bits = s->kv_bits };
	struct attend_count c = flash(&over);

	c.ops = 3;
	c.macs += s->batch * s->q_len * (in + out);
	/* Values are the keys' first part: read once. */
	c.read += attend_bytes(rows * s->nope, s->bits) + attend_bytes(in, s->weight_bits) +
	          attend_bytes(rows * s->rank, s->bits) + attend_bytes(out, s->weight_bits) -
	          attend_bytes(s->batch * s->kv_len * s->rank, s->kv_bits);
	c.write += attend_bytes(rows * s->rank, s->bits) + attend_bytes(rows * s->v_dim, s->bits);
	c.buffer = 2 * attend_bytes(rows * s->rank, s->bits);
	c.on_chip = attend_bytes(ATTEND_BLOCK * over.dim, s->bits) +
	            ATTEND_STAGES * attend_bytes(ATTEND_KEYS * over.dim, s->kv_bits);
	return c;
}

struct attend_count attend_count(enum attend_way w, const struct attend_shape *s)
{
	return w == ATTEND_SPLIT_KV       ? split_kv(s)
	       : w == ATTEND_MATERIALISED ? materialised(s)
	       : w == ATTEND_MLA          ? mla(s)
	                                  : flash(s);
}
