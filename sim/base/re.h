/* re.h - regular expressions (POSIX, extended) of files that may come from anywhere: they take neither memory nor time without bound.
 *
 * The C library writes repeats out: ((x{255}){255}){255} would be gigabytes. So an expression is refused that is longer than
 * RE_MOST characters once its repeats are written out, nests deeper than RE_DEEP, or looks back at a group (\1), which is tried in
 * every way there is. */
#ifndef NPUSIM_SIM_BASE_RE_H
#define NPUSIM_SIM_BASE_RE_H

#include <regex.h>
#include <stddef.h>

#define RE_MOST 10000
#define RE_DEEP 64

/* As regcomp with REG_EXTENDED and `flags`. 0, or -1 with the reason in `why`; then there is nothing to free. */
int re_compile(regex_t *re, const char *text, int flags, char *why, size_t n);

#endif
