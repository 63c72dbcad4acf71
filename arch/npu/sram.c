#include "arch/npu/sram.h"

#include <assert.h>

const struct cfg_field sram_schema[] = {
	CFG_BYTES(struct sram_cfg, size, "size", "256 KiB", 4096, UINT64_C(1) << 32, NULL, "scratchpad of one core",
	          "shared memory of one H100/H200 SM is 228 KiB (CUDA device properties)"),
	CFG_U32(struct sram_cfg, banks, "banks", "32", 1, 1024, cfg_pow2, "banks of one core's scratchpad",
	        "32 banks of 4 B: CUDA C Programming Guide, shared memory"),
	CFG_U32(struct sram_cfg, ports, "ports", "2", 1, 8, NULL,
	        "of a bank; with one, filling a tile and reading it take turns",
	        "our choice: one to read and one to write, as compiled two-port SRAMs have; a GPU's shared memory has "
	        "one"),
	CFG_BYTES(struct sram_cfg, bank_width, "bank_width", "16 B", 1, 256, cfg_pow2, "bytes a cycle and port",
	          "our choice: 512 B a cycle feeds the default GEMV lanes at 16 bits"),
	CFG_BYTES(struct sram_cfg, pin, "pin", "0", 0, UINT64_C(1) << 32, NULL,
	          "part of one core's scratchpad set aside for weights that stay across decode steps",
	          "off by default: a choice of the design under study"),
	CFG_BOOL(
		struct sram_cfg, pad, "pad", "true",
		"rows of weights that a unit reads by columns (gemv.rows_over_lanes) lie padded where they would meet few "
		"banks and that is slower",
		"what programmers of banked scratchpads do: CUDA C Programming Guide, shared memory"),
	CFG_BOOL(struct sram_cfg, forward, "forward", "true",
	         "what an op makes stays in scratchpads for who reads it next, where there is room",
	         "our choice: as compilers for scratchpads do; off: all of it goes by way of the L2"),
	CFG_END
};

int sram_cfg_check(const struct sram_cfg *c, struct err *e)
{
	if (c->pin >= sram_size(c))
		return err_set(e, ERR_CONFIG,
		               "'sram.pin' leaves no room for tiles: it must be smaller than 'sram.size'");
	return 0;
}

uint64_t sram_size(const struct sram_cfg *c)
{
	return c->size + c->from_l1;
}

uint64_t sram_rate(const struct sram_cfg *c, uint32_t cores)
{
	uint64_t crossings = (uint64_t)c->banks * c->ports * c->bank_width * cores;

	return crossings > 2 ? crossings / 2 : 1;
}

uint32_t sram_banks_met(const struct sram_cfg *c, uint64_t stride)
{
	const uint64_t all = c->banks * c->bank_width, step = stride & (0 - stride); /* both powers of two */

	return step <= c->bank_width ? c->banks : step >= all ? 1 : (uint32_t)(all / step);
}

/* Where columns meet few banks a row has an even number of words, and one more makes it odd. */
uint64_t sram_pad(const struct sram_cfg *c, uint64_t stride)
{
	return sram_banks_met(c, stride) == c->banks ? 0 : c->bank_width;
}

uint64_t sram_column_cycles(const struct sram_cfg *c, uint32_t cores, uint64_t bytes, uint64_t stride)
{
	const uint64_t met = sram_banks_met(c, stride), rate = 2 * sram_rate(c, cores) * met; /* of one crossing */

	return bytes * (met + c->banks) / rate + (bytes * (met + c->banks) % rate != 0);
}

void sram_init(struct sram *s, const struct sram_cfg *c, uint32_t cores)
{
	s->size = (sram_size(c) - c->pin) * cores;
	s->used = s->peak = s->pinned = 0;
}

bool sram_take(struct sram *s, uint64_t bytes)
{
	if (bytes > s->size - s->used)
		return false;
	s->used += bytes;
	if (s->used > s->peak)
		s->peak = s->used;
	return true;
}

void sram_give(struct sram *s, uint64_t bytes)
{
	assert(bytes <= s->used); /* I1 */
	s->used -= bytes;
}
