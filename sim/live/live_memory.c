/* live_memory.c - the four functions of memory that a page's module calls all the time: those of the C library for WebAssembly go
 * byte by byte. Compiled with instructions for whole blocks (-mbulk-memory), which are worth their start from BLOCK bytes on; below
 * words of eight bytes, at any address. */
#include <stddef.h>
#include <stdint.h>

#define BLOCK 256

typedef uint64_t __attribute__((aligned(1), may_alias)) word;

void *memset(void *to, int c, size_t n)
{
	const word all = 0x0101010101010101u * (unsigned char)c;
	unsigned char *p = to;

	if (n >= BLOCK)
		return __builtin_memset(to, c, n);
	for (; n >= 8; n -= 8, p += 8)
		*(word *)p = all;
	while (n--)
		*p++ = (unsigned char)c;
	return to;
}

/* What lies behind `to` may be what is copied from. */
static void forwards(unsigned char *p, const unsigned char *q, size_t n)
{
	for (; n >= 8; n -= 8, p += 8, q += 8)
		*(word *)p = *(const word *)q;
	while (n--)
		*p++ = *q++;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	if (n >= BLOCK)
		return __builtin_memcpy(to, from, n);
	forwards(to, from, n);
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	const unsigned char *q = from;
	unsigned char *p = to;

	if (n >= BLOCK)
		return __builtin_memmove(to, from, n);
	if (p <= q) {
		forwards(p, q, n);
		return to;
	}
	while (n % 8)
		n--, p[n] = q[n];
	for (; n; n -= 8)
		*(word *)(p + n - 8) = *(const word *)(q + n - 8);
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *p = a, *q = b;

	for (; n >= 8 && *(const word *)p == *(const word *)q; n -= 8)
		p += 8, q += 8;
	for (; n; n--, p++, q++)
		if (*p != *q)
			return *p - *q;
	return 0;
}
