#include "arch/npu/fusion.h"

const struct cfg_field fusion_schema[] = {
	CFG_BOOL(struct fusion_cfg, enabled, "enabled", "true", "join ops that match a pattern into one command",
	         "profile report, recommendation 5 (operator fusion hardware)"),
	CFG_U32(struct fusion_cfg, max_ops, "max_ops", "16", 1, 256, NULL, "longest chain", "our choice"),
	CFG_BYTES(
		struct fusion_cfg, buffer, "buffer", "1 MiB", 0, UINT64_C(1) << 34, NULL,
		"intermediates the engine holds, whole chip; 0: it has no memory of its own, they pass through SRAM tile by tile",
		"our choice"),
	CFG_PS(struct fusion_cfg, setup, "setup", "10 ns", 0, PS_US, NULL, "of a chain, before its first op",
	       "our choice: about 15 cycles"),
	CFG_STR(struct fusion_cfg, patterns, "patterns", "default", "names a file in configs/fusion", "our choice"),
	CFG_END
};
