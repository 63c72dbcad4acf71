/* arena.c - a list of blocks, filled front to back. Blocks double from 16 KiB to 1 MiB; a larger request gets a
 * block of its own. After a reset the same blocks are filled again in the same order. */
#include "sim/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN     16u
#define BLOCK_MIN ((size_t)16 << 10)
#define BLOCK_MAX ((size_t)1 << 20)

struct block {
	struct block *next;
	size_t cap, used;
	_Alignas(ALIGN) unsigned char data[];
};

struct arena {
	struct block *head, *cur;
	size_t limit, used, next_cap;
};

struct arena *arena_new(size_t limit_bytes)
{
	struct arena *a = calloc(1, sizeof *a);

	if (!a)
		return NULL;
	a->limit = limit_bytes;
	a->next_cap = BLOCK_MIN;
	return a;
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	for (struct block *b = a->head, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	free(a);
}

void arena_reset(struct arena *a)
{
	a->cur = a->head;
	if (a->cur)
		a->cur->used = 0;
	a->used = 0;
}

/* Makes a block with room for `bytes` the current one. */
static int next_block(struct arena *a, size_t bytes)
{
	struct block *b = a->cur ? a->cur->next : NULL;
	size_t cap = a->next_cap > bytes ? a->next_cap : bytes;

	if (b && b->cap >= bytes) { /* kept by a reset */
		b->used = 0;
		a->cur = b;
		return 0;
	}
	if (cap > SIZE_MAX - sizeof *b || !(b = malloc(sizeof *b + cap)))
		return -1;
	b->cap = cap;
	b->used = 0;
	b->next = a->cur ? a->cur->next : NULL;
	if (a->cur)
		a->cur->next = b;
	else
		a->head = b;
	a->cur = b;
	if (a->next_cap < BLOCK_MAX)
		a->next_cap *= 2;
	return 0;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
	void *p;

	if (bytes > SIZE_MAX - (ALIGN - 1))
		return NULL;
	bytes = bytes ? (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1) : ALIGN;
	if (a->limit && (bytes > a->limit || a->used > a->limit - bytes))
		return NULL;
	if ((!a->cur || a->cur->cap - a->cur->used < bytes) && next_block(a, bytes) < 0)
		return NULL;
	p = a->cur->data + a->cur->used;
	a->cur->used += bytes;
	a->used += bytes;
	return memset(p, 0, bytes);
}

void *arena_array(struct arena *a, size_t n, size_t elem_bytes)
{
	if (elem_bytes && n > SIZE_MAX / elem_bytes)
		return NULL;
	return arena_alloc(a, n * elem_bytes);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	const char *end = memchr(s, '\0', n);
	size_t len = end ? (size_t)(end - s) : n;
	char *p = len < SIZE_MAX ? arena_alloc(a, len + 1) : NULL;

	return p ? memcpy(p, s, len) : NULL;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap, again;
	char *p = NULL;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n >= 0 && (p = arena_alloc(a, (size_t)n + 1)))
		vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	va_end(ap);
	return p;
}

size_t arena_used(const struct arena *a)
{
	return a->used;
}
