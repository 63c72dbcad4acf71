/* screen.h - the terminal that the product goes to, where it goes to one: its width, whether it takes colour, and a pager.
 *
 * Where stdout is a file or a pipe there is no screen: nothing is cut, coloured or paged, so output is the same on every host. */
#ifndef NPUSIM_SIM_UI_SCREEN_H
#define NPUSIM_SIM_UI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/str.h"

size_t screen_width(void); /* columns; 0: there is no screen, or nobody knows */
/* NO_COLOR (https://no-color.org) and TERM=dumb say no. */
bool screen_colour(void);
/* Shows a text that is higher than the screen in NPUSIM_PAGER, else PAGER, else less, as git does: an empty one or "cat" is
 * none. False: it was not shown, and the caller writes it. */
bool screen_page(const struct str *text);

#endif
