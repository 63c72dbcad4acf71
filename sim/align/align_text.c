/* align_text.c - what is said of an alignment: how many sequences and keys it is of, what did not fit. */
#include <inttypes.h>
#include <string.h>

#include "sim/align/align.h"

#define NAME_SHOWN 60

void align_number_text(const struct align_report *r, struct str *s)
{
	str_addf(s, "%" PRIu64 " sequence%s%s, %" PRIu64 " keys%s", r->batch, r->batch == 1 ? "" : "s",
	         r->batch_known == ALIGN_TOLD ? "" : " by their grids", r->keys,
	         r->keys_known == ALIGN_TOLD      ? " as told"
	         : r->keys_known == ALIGN_BY_TIME ? " by attention's time"
	                                          : " by their grids");
	if (r->keys_low < r->keys_high)
		str_addf(s, " (%" PRIu64 " to %" PRIu64 ")", r->keys_low, r->keys_high);
}

void align_misses_text(const struct align_report *r, uint32_t most, const char *between, struct str *s)
{
	bool said[ALIGN_MISSES] = { false };

	for (uint32_t n = 0; n < r->n_miss && n < most; n++) {
		uint32_t at = 0;

		while (said[at])
			at++;
		for (uint32_t i = at; i < r->n_miss; i++)
			if (!said[i] && r->miss[i].ns > r->miss[at].ns)
				at = i;
		said[at] = true;
		str_addf(s, "%s%" PRIu64 " x '%.*s%s' (%.1f us: %s)", n ? between : "", r->miss[at].count, NAME_SHOWN,
		         r->miss[at].name, strlen(r->miss[at].name) > NAME_SHOWN ? "..." : "",
		         (double)r->miss[at].ns / 1e3, r->miss[at].why);
	}
}
