/* attend.h - algorithms of attention by name: operations, bytes and buffers of each in closed form.
 *
 *   flash         blocks of queries past tiles of keys; scores and sums never leave the chip
 *   split_kv      the same with the keys in parts, one op each, which write sums, a maximum and a sum of exponentials a row
 *                 in fp32; a combine joins them. Prompts have blocks of queries enough: there it is flash
 *   materialised  a product, a softmax and a product: scores are written and read twice, whatever the mask
 *   mla           over the latent as it is cached (absorbed): one KV head whose first values are the values; a product a
 *                 head before it (queries into the latent) and one behind it
 *
 * Over a latent, all but mla are of the keys and values it is expanded to; the product that expands it is not among their
 * counts.
 *
 * What build_attend.c makes ops of for an NPU is what is counted here: the parts of split_kv on a GPU are launches of one
 * op, which the device lays out (arch/gpu/gpu_geometry.h), and their sums are not among its bytes.
 * Units: multiply-adds, bytes; each operand once an op. */
#ifndef NPUSIM_SIM_BUILD_ATTEND_H
#define NPUSIM_SIM_BUILD_ATTEND_H

#include <stdbool.h>
#include <stdint.h>

/* X(WAY, name, what it is). OWN: as style and phase have it. */
/* clang-format off */
#define ATTEND_WAYS(X) \
	X(OWN, own, "as the style has it") \
	X(FLASH, flash, "tiles of keys past blocks of queries, scores stay on chip") \
	X(SPLIT_KV, split_kv, "keys in parts, which a combine joins") \
	X(MATERIALISED, materialised, "product, softmax, product: scores are written") \
	X(MLA, mla, "over the cached latent, absorbed")
enum attend_way {
#define X(id, name, what) ATTEND_##id,
	ATTEND_WAYS(X)
#undef X
	ATTENDS
};
/* clang-format on */

const char *attend_name(enum attend_way w);
const char *attend_what(enum attend_way w);

#define ATTEND_PART_KEYS 512 /* of a part at the least; FlashDecoding's parts are of that order */
#define ATTEND_PARTS     16
#define ATTEND_BLOCK     64  /* queries of a block, */
#define ATTEND_KEYS      128 /* keys of a tile, */
#define ATTEND_STAGES    2   /* tiles that lie on chip: what flash holds of a block */

/* How many parts the keys come in. */
uint64_t attend_parts(uint64_t q_len, uint64_t kv_len);
/* Keys before part `i` of `parts`; those of all parts at i = parts. */
uint64_t attend_part_from(uint64_t kv_len, uint64_t parts, uint64_t i);

struct attend_shape {
	uint64_t batch, heads, kv_heads, q_len, kv_len, dim, v_dim;
	bool causal;
	uint32_t bits, kv_bits;    /* of queries, scores and results; of keys and values as they are cached */
	uint64_t rank, rope, nope; /* mla: of the latent, of what rotates beside it, of a head's queries without it */
	uint64_t weight_bits;      /* mla: of the two products' weights */
};

struct attend_count {
	uint64_t ops, macs, read, write;
	uint64_t buffer;  /* bytes in memory between its ops */
	uint64_t on_chip; /* bytes a block of queries holds; of a whole head's scores where they are materialised */
};

/* `w` is not ATTEND_OWN. */
struct attend_count attend_count(enum attend_way w, const struct attend_shape *s);

#endif
