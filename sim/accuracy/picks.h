/* picks.h - which experts the tokens of a published table of experts pick, as its benchmark draws them
 * (github.com/ai-dynamo/aiconfigurator collector/helper.py, collector/vllm/collect_moe.py).
 *
 * Even picks: token i takes every (experts/top)-th expert from the ith on. Others: each expert draws a load, x^-alpha between one row
 * and 0.8 of the tokens, or between 0.01 and 2 rows where there are no more picks than experts; loads are scaled to all picks and
 * rounded, no expert has more rows than there are tokens, and what is then too much or missing goes round the chips. Tokens pick the
 * fullest experts first. Experts lie on chips in order; the chip with the most rows is the one that is measured. The benchmark
 * takes the mean of five draws of its own; here it is the mean of ten: of the fullest expert, of the next, and so on.
 * Where the router first keeps some groups of experts (DeepSeek-V3: 4 of 8, by the two best of each), the picks of the other groups
 * go to the first experts of those that are kept: all scores but the picks' are alike. */
#ifndef NPUSIM_SIM_ACCURACY_PICKS_H
#define NPUSIM_SIM_ACCURACY_PICKS_H

#include <stdbool.h>
#include <stdint.h>

#define PICKS_EXPERTS 1024 /* at most */

struct picks_asked {
	uint64_t tokens;
	uint32_t top, experts, chips; /* top <= experts, chips <= experts */
	uint32_t groups, kept;        /* of experts; 0: the router has none */
	double alpha;                 /* 0: even */
};
/* Rows of each expert that has any, the fullest first: of the chip that is measured, and of all others. */
struct picks {
	uint64_t own[PICKS_EXPERTS], others[PICKS_EXPERTS];
	uint32_t n_own, n_others;
};

/* false: no memory. Of no picks the chip has one row of one expert. */
bool picks_draw(const struct picks_asked *q, struct picks *out);

#endif
