/* decimal.h - exact integers from decimal text: profilers write microseconds with three digits behind the point, and
 * a double has none left to hold them. */
#ifndef NPUSIM_TRACES_TEXT_DECIMAL_H
#define NPUSIM_TRACES_TEXT_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#define DECIMAL_US_TO_NS 3

/* The number in `text` (JSON's grammar, and '.5' is 0.5; n bytes) times ten to the `shift`, rounded half away from zero.
 * 0 done, -1 no number, -2 out of int64_t. */
int decimal_scaled(const char *text, size_t n, int shift, int64_t *out);

#endif
