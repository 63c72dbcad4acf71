/* out_html.h - pages without scripts: they read at the width of a phone, in light and dark, and on paper. */
#ifndef NPUSIM_SIM_UI_OUT_HTML_H
#define NPUSIM_SIM_UI_OUT_HTML_H

#include "sim/base/str.h"

/* From the doctype to the title; the body follows, and "</html>". */
void out_html_head(const char *title, struct str *to);
/* As text of HTML, and of an attribute: control characters and what is not UTF-8 are question marks. */
void out_html_text(const char *text, struct str *to);
/* class "": none. */
void out_html_element(const char *tag, const char *class, const char *text, struct str *to);

#endif
