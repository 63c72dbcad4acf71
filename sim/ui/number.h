/* number.h - numbers in a sentence: no exponents, thousands apart. */
#ifndef NPUSIM_SIM_UI_NUMBER_H
#define NPUSIM_SIM_UI_NUMBER_H

#include "sim/base/str.h"

/* 1,641; below a hundred with two digits behind the point, or as many as it takes. */
void number_add(struct str *s, double x);
/* How many of something: 72; 96,768; "414 million". */
void number_count(struct str *s, double n);

#endif
