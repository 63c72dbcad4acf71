/* csv.h - a streamed reader of comma-separated tables (RFC 4180): quoted fields, doubled quotes, line ends of both
 * sorts, line feeds inside quotes.
 *
 * One row is held at a time. A row may have any number of fields up to CSV_FIELDS: profilers end some rows with a
 * comma and others not, so widths are the caller's affair. What stands before the header (a profiler's chatter, with
 * quotes that never close) is skipped line by line and not read as CSV.
 * Refused with the line: a quote that never closes, text behind a closing quote, a zero byte, a field over 1 MiB, a
 * row over 4 MiB or CSV_FIELDS. */
#ifndef NPUSIM_TRACES_TEXT_CSV_H
#define NPUSIM_TRACES_TEXT_CSV_H

#include "traces/text/input.h"

#define CSV_FIELDS    16384
#define CSV_FIELD_MAX (1u << 20)
#define CSV_ROW_MAX   (4u << 20)
#define CSV_LINE_SEEN 400 /* as much of a line before the header as is shown to csv_skip_to's callers */

struct csv;

/* Is this (the start of) the header's line? It may take notes of the lines that are not. */
typedef bool csv_is_header(void *arg, const char *line, size_t n);

struct csv *csv_new(struct input *in, struct err *e); /* reads from where `in` stands */
void csv_free(struct csv *c);
/* Skips lines until one is the header, which the next csv_row reads: 1, or 0 when none is, -1 error. */
int csv_skip_to(struct csv *c, csv_is_header *is, void *arg, struct err *e);
/* 1 a row, 0 the end, -1 error. An empty line is a row of one empty field. */
int csv_row(struct csv *c, struct err *e);
size_t csv_count(const struct csv *c);
const char *csv_field(const struct csv *c, size_t i); /* "" beyond the row's end; valid until the next row */
uint64_t csv_line(const struct csv *c);               /* on which the row began, from 1 */
int csv_column(const struct csv *c, size_t i); /* byte of the row where that field begins, from 1; beyond: its end */
/* Rows from where `in` stands to its end, empty lines and a header included; `in` is rewound to its beginning. */
int csv_count_rows(struct input *in, size_t *n, struct err *e);

#endif
