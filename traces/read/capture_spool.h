/* capture_spool.h - the records of a spool (traces/capture/spool.h), one by one, from a file that may be anything.
 *
 * A file that ends within a record ends before it: a program that was killed leaves that behind, and what came before is
 * good. All else that is wrong is an error that names the byte: no spool, another version, a kind that is none, a length
 * that does not go with its kind or is over the limit. Memory is two records. */
#ifndef NPUSIM_TRACES_READ_CAPTURE_SPOOL_H
#define NPUSIM_TRACES_READ_CAPTURE_SPOOL_H

#include <stdbool.h>

#include "traces/capture/spool.h"
#include "traces/text/input.h"

struct capture_spool;

struct capture_record {
	enum spool_kind kind;
	uint64_t v[SPOOL_FIELDS];
	const char *text; /* until the next record; what is behind a zero byte is left out */
};

/* True for the first bytes of a spool, of any version. */
bool capture_spool_is(const void *bytes, size_t n);

/* Begins at the input's start; the input must outlive it. */
struct capture_spool *capture_spool_new(struct input *in, struct err *e);
void capture_spool_free(struct capture_spool *s);
/* 1 a record, 0 the end, -1 error. */
int capture_spool_next(struct capture_spool *s, struct capture_record *r, struct err *e);
/* Adds where the last record is to an error about it; always -1. */
int capture_spool_at(const struct capture_spool *s, struct err *e);
/* Bytes of a record that was cut off at the end. */
uint64_t capture_spool_cut(const struct capture_spool *s);

#endif
