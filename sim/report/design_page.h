/* design_page.h - a design as a page: what to build, why, and what lies around it (results/report/design.js draws it).
 *
 * Its data are the design's JSON document and, beside it, what only a page has: the sentences, all designs that were run as points
 * with those that no other beats, the machine's file. */
#ifndef NPUSIM_SIM_REPORT_DESIGN_PAGE_H
#define NPUSIM_SIM_REPORT_DESIGN_PAGE_H

#include "sim/report/design_doc.h"
#include "sim/report/page.h"

int design_page(const struct page_template *t, const struct design_doc *x, struct str *html, struct err *e);

#endif
