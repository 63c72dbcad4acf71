/* rng.c - xoroshiro128++ (Blackman and Vigna, public domain), seeded through splitmix64. */
#include "sim/base/rng.h"

#include <assert.h>

#include "sim/base/hash.h"

static uint64_t rotl(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

static uint64_t splitmix(uint64_t *x)
{
	uint64_t z = *x += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void rng_seed(struct rng *r, uint64_t seed, const char *name)
{
	uint64_t x = hash_mix(seed) ^ hash_mix(hash_str(HASH_INIT, name));

	/* two outputs of a bijection over different inputs: never both zero, which would be a fixed point */
	r->s[0] = splitmix(&x);
	r->s[1] = splitmix(&x);
}

uint64_t rng_u64(struct rng *r)
{
	uint64_t s0 = r->s[0], s1 = r->s[1], out = rotl(s0 + s1, 17) + s0;

	s1 ^= s0;
	r->s[0] = rotl(s0, 49) ^ s1 ^ s1 << 21;
	r->s[1] = rotl(s1, 28);
	return out;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
	uint64_t x, reject;

	assert(n > 0);
	reject = (0 - n) % n; /* 2^64 mod n: the draws that would favour small results */
	do {
		x = rng_u64(r);
	} while (x < reject);
	return x % n;
}
