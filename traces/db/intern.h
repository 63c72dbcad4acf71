/* intern.h - a bounded memory of texts already stored and the row each is in, so that an import asks the database
 * once and not at every event. When it is full it forgets everything: the caller then asks again. */
#ifndef NPUSIM_TRACES_DB_INTERN_H
#define NPUSIM_TRACES_DB_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct intern;

struct intern *intern_new(size_t max_texts, size_t max_bytes); /* NULL: out of memory */
void intern_free(struct intern *in);
void intern_forget(struct intern *in);
int64_t intern_find(const struct intern *in, const char *text, size_t n, uint64_t hash); /* 0: not known */
/* A text longer than all of its memory is not kept. */
void intern_put(struct intern *in, const char *text, size_t n, uint64_t hash, int64_t id);

#endif
