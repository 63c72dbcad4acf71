/* hash.h - the 64-bit hash used for names, configs and content. Stable across hosts; not for adversaries. */
#ifndef NPUSIM_SIM_BASE_HASH_H
#define NPUSIM_SIM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_INIT UINT64_C(0xcbf29ce484222325)

uint64_t hash_bytes(uint64_t h, const void *p, size_t n); /* chainable: start from HASH_INIT */
uint64_t hash_str(uint64_t h, const char *s);
uint64_t hash_u64(uint64_t h, uint64_t v);
uint64_t hash_mix(uint64_t v); /* finaliser: spreads every input bit */
void hash_hex(uint64_t h, char out[17]);

#endif
