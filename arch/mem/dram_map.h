/* dram_map.h - address maps as a string of fields, most significant first: which bits of a burst's number choose
 * channel (Ch), pseudo-channel (Pc), rank or stack id (Ra), bank group (Bg), bank (Ba), row (Ro) and column (Co).
 *
 * "RoBaRaCoBgPcCh" interleaves channels burst by burst, then pseudo-channels, then bank groups. A field may be split
 * by giving the number of bits of all its pieces but one: "RoCoBaBgRaPcCo2Ch" keeps four bursts of a row together.
 * A last "^" turns Pc, Ra, Bg and Ba by the column's bits, as MOP4CLXOR does. A number of channels that is no power of
 * two is taken out by division, so Ch must then stand last. Leaves out: hashes of row bits. */
#ifndef NPUSIM_ARCH_MEM_DRAM_MAP_H
#define NPUSIM_ARCH_MEM_DRAM_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

enum dram_field { DRAM_F_CH, DRAM_F_PC, DRAM_F_RA, DRAM_F_BG, DRAM_F_BA, DRAM_F_RO, DRAM_F_CO, DRAM_FIELDS };
#define DRAM_MAP_PARTS 16

struct dram_map_size {
	uint64_t n[DRAM_FIELDS], burst_bytes;
}; /* how many of each; columns in bursts */
struct dram_place {
	uint32_t channel, bank, row, column;
}; /* bank: of the channel, Pc Ra Bg Ba */

/* Made by dram_map_parse, then only read. */
struct dram_fieldmap {
	/* Bits of the burst's number, from `from`, that go to a word of struct dram_place, from `at`. */
	struct {
		uint32_t mask;
		uint8_t from, word, at;
	} part[DRAM_MAP_PARTS];
	unsigned parts, burst_shift;
	uint32_t divide; /* channels taken out by division first; 1: none */
	uint8_t bits[DRAM_FIELDS];
	bool turned;
};

/* `text`: RoBaRaCoCh, BGI, MOP4CLXOR or a list of fields. ERR_CONFIG where it does not cover all fields, names one
 * twice, or a size is no power of two. */
int dram_map_parse(struct dram_fieldmap *m, const char *text, const struct dram_map_size *size, struct err *e);
struct dram_place dram_map_place(const struct dram_fieldmap *m, uint64_t addr);

#endif
