/* stages.h - a trace by what its work is for: seeing, reading a prompt, writing tokens.
 *
 * The stage of a launch is told by the innermost annotation around its call with a word for one stage ("decode_step_1",
 * "vision"; stage_of_text has the words), else by attention. Attention is
 *   decode    of at most 16 queries a sequence over more than twice as many keys: new tokens over a cache
 *   prefill   causal; or of as many queries as keys, with KV heads that several heads share, or with the heads of an attention
 *             of this trace that is causal or decodes: a mask then hides what is causal
 *   vision    the rest: all see all, an encoder of pictures (or of sound)
 * and what lies between two of them goes to the later from where it begins: where another annotation of the outermost begins,
 * else at an embedding's lookup, else behind the last product whose rows are not the later's tokens. Two of the same stage are
 * two passes where an annotation or a lookup is between them. What has neither is `other`.
 *
 * Each stage's launches are put under the roofline as bound.h does: time, operations, bytes, classes, families. Roof time is
 * what a kernel's bytes at the effective bandwidth or its operations at its pipe's peak take, whichever is longer.
 * Leaves out: attention written as products and a softmax (of no kernel that is attention), where nothing is annotated. */
#ifndef NPUSIM_SIM_PROFILE_STAGES_H
#define NPUSIM_SIM_PROFILE_STAGES_H

#include "sim/profile/bound.h"

enum stage { STAGE_VISION, STAGE_PREFILL, STAGE_DECODE, STAGE_OTHER, STAGES };

struct stage_sum {
	uint64_t kernels, ns, known, known_ns; /* known: launches whose bytes and operations are */
	double time, bytes, flops, roof;       /* of these; s */
	uint64_t class_ns[ROOF_CLASSES];
};
struct stage_family {
	const char *name;
	struct stage_sum sum;
};
struct stage_row {
	uint64_t passes, launches, named;     /* named: of launches by an annotation */
	uint64_t copy_ns, span_ns;            /* span: of its passes, first start to last end, under the profiler */
	uint64_t batch, q_min, q_max, kv_max; /* of its attention; 0: it has none */
	struct stage_sum sum;
	struct stage_family *families; /* longest first */
	size_t n_families;
};
struct stages {
	struct roof roof;
	uint64_t ns, copy_ns; /* of all: kernels, copies and sets */
	struct stage_row row[STAGES];
};

/* All lives in `a`; a trace whose kernels are known as statistics alone is an error. */
int stages_of(const struct trace *t, const struct bound_criteria *by, struct arena *a, struct stages *out,
              struct err *e);
enum stage stage_of_text(const char *annotation); /* STAGE_OTHER: no word for one, or for several */
const char *stage_name(enum stage s);
enum roof_class stage_class(const struct stage_sum *s); /* of most of its time */

#endif
