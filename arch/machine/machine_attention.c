#include "arch/machine/machine_attention.h"

static const char *const masked_names[] = { "skip", "compute", NULL };

const struct cfg_field attention_schema[] = {
	CFG_ENUM(
		struct attention_cfg, masked, "masked", "skip", masked_names,
		"what software does with blocks of scores that a causal mask hides, where the algorithm is not grouped: they "
		"are left out, or computed and thrown away",
		"left out, as FlashAttention does (Dao, arXiv:2307.08691, section 3.1)"),
	CFG_U32(struct attention_cfg, softmax, "softmax", "5", 1, 256, NULL,
	        "vector steps a score of a running softmax: per_head; two less where all scores are there (materialised), "
	        "half of it where they have 16 bits (grouped)",
	        "our count: scale, maximum, subtract, exponential, sum"),
	CFG_U32(struct attention_cfg, rows, "rows", "1", 1, 4096, NULL, "rows of scores come in whole multiples of it",
	        "one by one"),
	CFG_U32(struct attention_cfg, keys, "keys", "1", 1, 4096, NULL, "keys of scores come in whole multiples of it",
	        "one by one"),
	CFG_PS(struct attention_cfg, head, "head", "0 ns", 0, 100 * PS_US, NULL,
	       "per_head: of a query head, whose two products and softmax wait for each other", "none: they overlap"),
	CFG_PS(struct attention_cfg, step, "step", "0 ns", 0, 100 * PS_US, NULL,
	       "per_head, grouped: of a step of the kernel's grid: a KV head, and a block of queries", "none"),
	CFG_U32(struct attention_cfg, queries, "queries", "0", 0, 1 << 20, NULL,
	        "grouped: queries a block, each of which reads the keys anew; 0: all of them, keys streamed once",
	        "keys once"),
	CFG_U32(struct attention_cfg, unpack, "unpack", "0", 0, 256, NULL,
	        "grouped: vector steps a value of K or V takes from its page into the arrays' layout", "none"),
	CFG_PS(struct attention_cfg, move, "move", "0 ns", 0, 100 * PS_US, NULL,
	       "grouped: of a token's query rows of a KV head on their way into the arrays' layout; heads that are no "
	       "power of two move one by one",
	       "none"),
	CFG_PS(struct attention_cfg, start, "start", "0 ns", 0, 1000 * PS_US, NULL,
	       "grouped: lengths and page tables are read before the first block", "none"),
	CFG_END
};
