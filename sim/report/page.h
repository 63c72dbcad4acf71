/* page.h - stored results as one HTML page that needs nothing else: what npusim report writes.
 *
 * The page is results/report/page.html with its style, its script and the chart library; the build makes one text of
 * it and puts that into the program (results/report/bundle.sh, embed.S). The C side says what is so and the page how it
 * looks: whatever a reader could take for a fact - a knee, a front, a share - is worked out here, once for all commands.
 *
 * Names in a database come from strangers' traces. They reach the page as JSON only, in which '<', '>' and '&' are
 * written as escapes, so that no name can end the element it stands in; the page sets text, never markup, and its
 * policy forbids it to ask for anything. Ops and points are arrays in the order that "columns" names beside them: a page
 * may have some ten thousand. */
#ifndef NPUSIM_SIM_REPORT_PAGE_H
#define NPUSIM_SIM_REPORT_PAGE_H

#include "results/db/res.h"
#include "sim/base/err.h"
#include "sim/base/out_json.h"
#include "sim/base/str.h"
#include "sim/ui/opt.h"

struct page_template {
	const char *text, *end;
	const char *
		live; /* what simulates on it (sim/live/live_page.h), with which the data are packed; NULL: nothing does */
};

struct page_ask {
	const struct opt_list *files, *runs, *sweeps; /* no runs and sweeps: all of each file */
	const char *title;                            /* NULL: the names of the files */
};
/* A page of what `put` adds to the object that all pages' data are. */
typedef int page_put(struct out_json *j, void *arg, struct err *e);
int page_compose(const struct page_template *t, const char *title, page_put *put, void *arg, struct str *html,
                 struct err *e);
/* For a page without stored runs and sweeps: the browser's side reads both. */
void page_none_stored(struct out_json *j);
/* What a page says of an open sweep, one more object of the open array of "sweeps". */
struct study;
int page_study(struct out_json *j, const char *from, struct study *t, struct err *e);

int page_make(const struct page_template *t, const struct page_ask *o, struct str *html, struct err *e);

#endif
