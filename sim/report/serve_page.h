/* serve_page.h - requests that were served, or a curve of loops, as a page for any browser (page.h): `npusim serve -o FILE.html`. */
#ifndef NPUSIM_SIM_REPORT_SERVE_PAGE_H
#define NPUSIM_SIM_REPORT_SERVE_PAGE_H

#include "sim/report/capacity_doc.h"
#include "sim/report/page.h"
#include "sim/report/serve_range.h"
#include "sim/serve/serve.h"

/* `found`: the largest rate, NULL where none was looked for; `sure`: NULL: nobody knows; `answer`: the document in JSON; `curve`: it is one of loops, of which no
 * request is drawn. */
int serve_page(const struct page_template *t, const struct serve_run *r, const struct capacity_doc *found,
               const struct serve_range *sure, const char *answer, bool curve, struct str *html, struct err *e);

#endif
