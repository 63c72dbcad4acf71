/* measure.h - numbers and units as profilers print them for people: "4,963,609,951.19" "Mbyte/block" to base units.
 *
 * Scaling is by powers of ten and done on the text, so no value is rounded twice. Base units: ns, byte, hz and what
 * else is counted, each also per something ("byte/s", "byte/block"). */
#ifndef NPUSIM_TRACES_TEXT_MEASURE_H
#define NPUSIM_TRACES_TEXT_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEASURE_MAX 80 /* of a number's text, cleaned */

/* Which mark is the decimal one. A file has one convention; most of its numbers do not tell which. */
enum measure_mark { MEASURE_UNKNOWN, MEASURE_POINT, MEASURE_COMMA };

enum measure_mark measure_guess(const char *text);
/* Without the marks between thousands and with a decimal point; false when it is no number ("n/a"). */
bool measure_clean(const char *text, enum measure_mark mark, char out[MEASURE_MAX]);
/* The base unit, cut to `cap`, and the power of ten that leads to it. */
void measure_unit(const char *unit, char *base, size_t cap, int *exp10);
/* A cleaned number times ten to the exp10; an int64_t as decimal_scaled, which see. */
double measure_value(const char *clean, int exp10);
int measure_whole(const char *clean, int exp10, int64_t *out);

#endif
