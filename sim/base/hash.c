/* hash.c - FNV-1a over bytes, and the finaliser of MurmurHash3 to spread the result. Integers are hashed low byte
 * first, so the value does not depend on the host. */
#include "sim/base/hash.h"

#include <string.h>

#define PRIME UINT64_C(0x100000001b3)

uint64_t hash_bytes(uint64_t h, const void *p, size_t n)
{
	const unsigned char *b = p;

	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * PRIME;
	return h;
}

uint64_t hash_str(uint64_t h, const char *s)
{
	return hash_bytes(h, s, strlen(s) + 1); /* with the NUL: "ab","c" and "a","bc" differ */
}

uint64_t hash_u64(uint64_t h, uint64_t v)
{
	for (int i = 0; i < 8; i++, v >>= 8)
		h = (h ^ (v & 0xff)) * PRIME;
	return h;
}

uint64_t hash_mix(uint64_t v)
{
	v ^= v >> 33;
	v *= UINT64_C(0xff51afd7ed558ccd);
	v ^= v >> 33;
	v *= UINT64_C(0xc4ceb9fe1a85ec53);
	v ^= v >> 33;
	return v;
}

void hash_hex(uint64_t h, char out[17])
{
	for (int i = 0; i < 16; i++)
		out[i] = "0123456789abcdef"[h >> (60 - 4 * i) & 15];
	out[16] = '\0';
}
