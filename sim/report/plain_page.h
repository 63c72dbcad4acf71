/* plain_page.h - what pages without scripts share: they read at the width of a phone, in light and dark, and on paper. */
#ifndef NPUSIM_SIM_REPORT_PLAIN_PAGE_H
#define NPUSIM_SIM_REPORT_PLAIN_PAGE_H

#include <stdbool.h>

#include "sim/base/str.h"

/* From the doctype to the title; the body follows, and "</html>". */
void plain_page_head(const char *title, struct str *out);
/* As text of HTML, and of an attribute. */
void plain_page_text(struct str *out, const char *text);
/* class "": none. */
void plain_page_element(struct str *out, const char *tag, const char *class, const char *text);
/* A cell of a table that becomes a list on a phone, where the key stands before it. */
void plain_page_open_cell(struct str *out, const char *key, const char *class);
void plain_page_close_cell(struct str *out);
/* A bar of so many pixels below a number. */
void plain_page_bar(struct str *out, double pixels, bool loss);

#endif
