/* design_doc.h - a design that was searched for: what it is, the way to it, what lies beside it. */
#ifndef NPUSIM_SIM_REPORT_DESIGN_DOC_H
#define NPUSIM_SIM_REPORT_DESIGN_DOC_H

#include "sim/design/design.h"
#include "sim/report/explain.h"

struct design_doc {
	const struct design_result *r;
	const char *machine;   /* as people call it */
	const char *objective; /* what was least, or most */
	bool maximise;
	const char *const *bounds;
	size_t n_bounds;
	const char *written;  /* the file that the design went to; NULL: none */
	const char *workload; /* what it is for; of a mix each part: */
	const struct sweep_part *parts;
	size_t n_parts;
	const struct explain_line *lines; /* what explains it (design_explain.h) */
	size_t n_lines;
};
void design_doc(struct doc *d, const struct design_doc *x);
/* The axes in which a design is not as another, the first `most` of them: "l2.size 64 MiB, cores 8"; returns how many there are. */
size_t design_doc_changes(const struct sweep *s, const struct design_one *one, const struct design_one *from,
                          size_t most, struct str *to);
/* The machine's file with the changes in it, each with what it was. */
int design_doc_yaml(const struct design_doc *x, struct str *to, struct err *e);
/* The machine's file with the changes in it, each with what it was, to `written`. */
int design_doc_write(const struct design_doc *x, struct err *e);

#endif
