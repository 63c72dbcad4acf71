/* cfg_int.h - what the cfg_*.c files share; not for others. */
#ifndef NPUSIM_SIM_BASE_CFG_INT_H
#define NPUSIM_SIM_BASE_CFG_INT_H

#include "sim/base/arena.h"
#include "sim/base/cfg.h"

struct cfg_slot {
	const struct cfg_section *section;
	const struct cfg_field *field;
	void *at;           /* the member in the target */
	const char *source; /* of a given value, else NULL */
	char key[64];       /* "l2.size" */
	bool given, absent; /* absent: its section describes what is not there */
};

struct cfg {
	const struct cfg_section *sections;
	struct cfg_slot *rows;
	size_t n;
	struct arena *arena;    /* sources */
	const uint16_t *places; /* row + 1 by the hash of its key, 0: none; n_places of them, a power of two */
	size_t n_places;
};

/* --- cfg_value.c ------------------------------------------------------------------------------------------- */

/* Text to stored integer by the field's type, range and rule; not for enum and str. Faults name `subject`, or the text
 * itself when it is NULL. The default's unit is the guess where one is missing. */
int cfg_number(const struct cfg_field *f, const char *subject, const char *text, uint64_t *out, struct err *e);
void cfg_field_range(const struct cfg_field *f, struct str *out);

/* --- cfg.c ------------------------------------------------------------------------------------------------- */

/* Checks `text` and, unless `check_only`, stores it and marks the row given. `source` must live as long as the row. */
int cfg_put(struct cfg_slot *r, const char *text, const char *source, bool check_only, struct err *e);

#endif
