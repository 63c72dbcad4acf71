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
	CFG_BOOL(
		struct attention_cfg, compact, "compact", "false",
		"materialised: memory keeps in a register's attention.keys places the dimension that fills them best; where that is "
		"the batch, operands are copied into rows of one head each before the products, and the result back",
		"operands lie as products want them"),
	CFG_PS(struct attention_cfg, head, "head", "0 ns", 0, 100 * PS_US, NULL,
	       "per_head: of a query head, whose two products and softmax wait for each other", "none: they overlap"),
	CFG_PS(struct attention_cfg, step, "step", "0 ns", 0, 100 * PS_US, NULL,
	       "of a step of the kernel's grid: a KV head (per_head, grouped), and a block of queries (grouped, flash in blocks)",
	       "none"),
	CFG_U32(struct attention_cfg, queries, "queries", "0", 0, 1 << 20, NULL,
	        "grouped, flash in blocks: queries a block, each of which reads the keys anew; 0: all of them, keys streamed once",
	        "keys once"),
	CFG_U32(struct attention_cfg, cores, "cores", "0", 0, 65536, NULL,
	        "flash: cores that do a block of attention.queries of a head together; as many blocks as there are cores for go "
	        "side by side, and the last of them may leave cores idle; 0: no blocks, keys stream past all queries",
	        "0: the mapper's own. FlashAttention-2 one a core (Dao, arXiv:2307.08691, section 3.2); mlir-air's kernel for an XDNA2 16 "
	        "of 32 tiles a head (programming_examples/flash_attention)"),
	CFG_PPM(struct attention_cfg, efficiency, "efficiency", "1", 10000, 1000000,
	        "flash in blocks: of what products reach alone (matrix.efficiency) what the kernel's reach: smaller tiles, operands of "
	        "another format",
	        "1: as alone; an XDNA2's 0.47 (rows of workloads/ops/silicon)"),
	CFG_PPM(struct attention_cfg, overlap, "overlap", "1", 0, 1000000,
	        "flash in blocks: of the shorter of a tile's products and softmax what hides behind the other; 0: one after the other",
	        "1: two blocks in turn (FlashAttention-3, arXiv:2407.08608, section 3.1); one thread that issues both 0"),
	CFG_BYTES(
		struct attention_cfg, handover, "handover", "0 B", 0, 1 << 20, NULL,
		"flash in blocks: bytes a cycle and core each way between matrix and vector units that share no memory: scores of "
		"32 bits, weights of 16 back, sums of values of attention.keys; 0: they share one",
		"0: one memory; an Ascend 910B's cube and vector cores pass them through the L2"),
	CFG_U32(struct attention_cfg, unpack, "unpack", "0", 0, 256, NULL,
	        "grouped: vector steps a value of K or V takes from its page into the arrays' layout", "none"),
	CFG_PS(struct attention_cfg, move, "move", "0 ns", 0, 100 * PS_US, NULL,
	       "grouped: of a token's query rows of a KV head on their way into the arrays' layout; heads that are no "
	       "power of two move one by one",
	       "none"),
	CFG_PS(struct attention_cfg, start, "start", "0 ns", 0, 1000 * PS_US, NULL,
	       "grouped, flash in blocks: lengths and page tables are read, the kernel's own program comes, before the first block",
	       "none"),
	CFG_END
};
