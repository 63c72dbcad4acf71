#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include "sim/base/pages.h"

#include <stdlib.h>
#include <string.h>
/* Where there is no such mapping, all tables are small. */
#ifdef __wasm__
#define SMALL SIZE_MAX
#else
#include <sys/mman.h>
#define SMALL ((size_t)16 << 20)
#endif

/* 0: more than the host can address. */
static size_t pages_size_of(uint64_t n, size_t bytes)
{
	if (n > SIZE_MAX / 2 / bytes)
		return 0;
	return ((size_t)n * bytes + PAGES_ALIGN - 1) / PAGES_ALIGN * PAGES_ALIGN;
}

#ifdef __wasm__
static void *map(void *at, size_t size)
{
	(void)at;
	(void)size;
	return NULL;
}

static void munmap(void *p, size_t size)
{
	(void)p;
	(void)size;
}
#else
static void *map(void *at, size_t size)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0);
	void *p = mmap(at, size, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
#ifdef MADV_NOHUGEPAGE
	madvise(p, size, MADV_NOHUGEPAGE); /* a few bytes here and there are not to cost 2 MiB each */
#endif
	return p;
}
#endif

void *pages_new(uint64_t n, size_t bytes)
{
	size_t size = pages_size_of(n ? n : 1, bytes);
	void *p;

	if (!size)
		return NULL;
	if (size > SMALL)
		return map(NULL, size);
	if ((p = aligned_alloc(PAGES_ALIGN, size)))
		memset(p, 0, size);
	return p;
}

void pages_free(void *p, uint64_t n, size_t bytes)
{
	size_t size = pages_size_of(n ? n : 1, bytes);

	if (p && size > SMALL)
		munmap(p, size);
	else
		free(p);
}

void pages_zero(void *p, uint64_t n, size_t bytes)
{
	size_t size = pages_size_of(n ? n : 1, bytes);

	/* New pages in the place of the old; where the host will not have that, they are cleared. */
	if (size <= SMALL || !map(p, size))
		memset(p, 0, size);
}
