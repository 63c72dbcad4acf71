/* model_quant.h - how a checkpoint stores its weights, as its own files say it; for workloads/model only.
 *
 * model_quant.c reads each tool's words into formats (`struct stored`) and rules: which modules have which format, by the
 * patterns in the file. model_place.c applies the rules to the model's own weights, layer by layer, and makes a scheme.
 * Whatever is not understood is kept as words: nobody then takes the weights for unquantised ones. */
#ifndef NPUSIM_WORKLOADS_MODEL_MODEL_QUANT_H
#define NPUSIM_WORKLOADS_MODEL_MODEL_QUANT_H

#include "workloads/model/model_int.h"
#include "workloads/model/scheme.h"

enum { STORED_TENSOR = 0, STORED_ROW = UINT16_MAX - 1, STORED_TILE }; /* one scale for all, a row, 128 x 128 weights */

/* bits 0: as the model has it. */
struct stored {
	bool real; /* a float, not an integer */
	uint32_t bits;
	uint32_t group; /* weights a scale, or one of the above */
	uint32_t scale_bits, zero_bits;
	enum dtype math; /* that products multiply; DT_NONE: the model's own */
};

/* What a name in the file is matched as. */
enum rule_match { MATCH_NAME, MATCH_REGEX };

struct quant_rule {
	const char *pattern;
	enum rule_match match;
	struct stored stored;
};

#define QUANT_FORMATS 24
#define QUANT_WORDS   160

struct model_quant {
	struct scheme scheme; /* at NULL: none was made */
	struct scheme_at at[MODEL_MAX_LAYERS + 1][SCHEME_CLASSES];
	struct scheme_format formats[QUANT_FORMATS];
	size_t n_formats;
	char name[48], words[QUANT_WORDS]; /* words: what is not understood */
};

/* How far the format goes that no rule is about: each covers those before it, too. A router has one only by a rule. */
enum quant_cover { COVER_NONE, COVER_EXPERTS, COVER_LAYERS, COVER_HEAD, COVER_EMBED, COVER_ROUTER };

struct quant_rules {
	struct stored all;
	enum quant_cover cover;
	const struct quant_rule *rules; /* the last that matches counts */
	size_t n;
};

/* Makes the scheme; -1 with words in `q` where that cannot be. */
int model_place_quant(const struct model *m, const struct quant_rules *r, struct model_quant *q);
/* Keeps the first such words. Always -1. */
int model_quant_words(struct model_quant *q, const char *fmt, ...) ERR_FMT(2, 3);

#endif
