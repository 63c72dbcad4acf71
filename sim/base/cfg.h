/* cfg.h - configuration: one row a parameter, and everything that walks the rows.
 *
 * A row says key, C type (checked at compile time), unit, default, range, extra rule, help and where the number
 * comes from. Loading, checking, `--set`, dumping, explaining, diffing, hashing and sweep axes all walk the same
 * rows. Values in files carry units ("192 MiB", "2.4 TB/s", "1.4 GHz", "350 ns"); a bare number where a unit is
 * due is an error that shows the right spelling. In YAML a value is a scalar, or {value: X, source: "where it is
 * from"}; the source replaces the row's own in `config explain`.
 *
 * Stored types are integers only (no doubles in the timing path):
 *   CFG_U32 uint32_t plain count        CFG_U64 uint64_t plain count      CFG_BOOL bool
 *   CFG_BYTES uint64_t bytes            CFG_RATE uint64_t bytes/s         CFG_FREQ uint64_t kHz
 *   CFG_PS ps_t picoseconds             CFG_PPM uint32_t: a fraction, given as 0.85 or 85 %, stored in millionths
 *   CFG_ENUM uint32_t index into names  CFG_STR char[CFG_STR_MAX]
 *   CFG_ENERGY uint64_t femtojoules     CFG_POWER uint64_t microwatts     CFG_AREA uint64_t square nanometres
 * Bytes accept B KiB MiB GiB TiB and kB MB GB TB; rates those with "/s"; frequencies Hz kHz MHz GHz; times ps ns
 * us ms; energies fJ pJ nJ uJ; powers uW mW W kW; areas nm2 um2 mm2. One decimal point is allowed where the result is a whole number of base units; a unit-ful zero may be
 * written "0". */
#ifndef NPUSIM_SIM_BASE_CFG_H
#define NPUSIM_SIM_BASE_CFG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/base/str.h"
#include "sim/base/yaml.h"

#define CFG_STR_MAX 64

/* clang-format off */
enum cfg_type {
	CFG_T_END, CFG_T_U32, CFG_T_U64, CFG_T_BOOL, CFG_T_BYTES, CFG_T_RATE, CFG_T_FREQ, CFG_T_PS, CFG_T_PPM,
	CFG_T_ENUM, CFG_T_STR, CFG_T_ENERGY, CFG_T_POWER, CFG_T_AREA
};
/* clang-format on */

/* An extra rule on one value: NULL when it holds, else what is wrong ("is not a power of two"). */
typedef const char *cfg_rule(uint64_t value);
cfg_rule cfg_pow2, cfg_pow2_or_0;

struct cfg_field {
	const char *key; /* within the section: "size" */
	enum cfg_type type;
	size_t offset;            /* within the section's struct */
	const char *def;          /* as a user would write it: "128 MiB" */
	uint64_t min, max;        /* in stored units */
	cfg_rule *rule;           /* or NULL */
	const char *const *names; /* CFG_T_ENUM: NULL-terminated */
	const char *help;
	const char *source; /* of the default: a document, a measurement, or "our choice: why" */
};

/* offsetof plus a compile-time check that the member has the type the row says. */
#define CFG_AT(S, m, T) (offsetof(S, m) + 0 * sizeof(&((S *)0)->m == (T *)0))
typedef char cfg_text[CFG_STR_MAX];
#define CFG_NUM(t, T, S, m, key, def, min, max, rule, help, src) \
	{ \
		key, t, CFG_AT(S, m, T), def, min, max, rule, NULL, help, src \
	}
#define CFG_U32(S, m, key, def, min, max, rule, help, src) \
	CFG_NUM(CFG_T_U32, uint32_t, S, m, key, def, min, max, rule, help, src)
#define CFG_U64(S, m, key, def, min, max, rule, help, src) \
	CFG_NUM(CFG_T_U64, uint64_t, S, m, key, def, min, max, rule, help, src)
#define CFG_BYTES(S, m, key, def, min, max, rule, help, src) \
	CFG_NUM(CFG_T_BYTES, uint64_t, S, m, key, def, min, max, rule, help, src)
#define CFG_RATE(S, m, key, def, min, max, rule, help, src) \
	CFG_NUM(CFG_T_RATE, uint64_t, S, m, key, def, min, max, rule, help, src)
#define CFG_FREQ(S, m, key, def, min, max, rule, help, src) \
	CFG_NUM(CFG_T_FREQ, uint64_t, S, m, key, def, min, max, rule, help, src)
#define CFG_PS(S, m, key, def, min, max, rule, help, src) \
	CFG_NUM(CFG_T_PS, ps_t, S, m, key, def, min, max, rule, help, src)
#define CFG_ENERGY(S, m, key, def, min, max, rule, help, src) \
	CFG_NUM(CFG_T_ENERGY, uint64_t, S, m, key, def, min, max, rule, help, src)
#define CFG_POWER(S, m, key, def, min, max, rule, help, src) \
	CFG_NUM(CFG_T_POWER, uint64_t, S, m, key, def, min, max, rule, help, src)
#define CFG_AREA(S, m, key, def, min, max, rule, help, src) \
	CFG_NUM(CFG_T_AREA, uint64_t, S, m, key, def, min, max, rule, help, src)
#define CFG_PPM(S, m, key, def, min, max, help, src) \
	CFG_NUM(CFG_T_PPM, uint32_t, S, m, key, def, min, max, NULL, help, src)
#define CFG_BOOL(S, m, key, def, help, src) CFG_NUM(CFG_T_BOOL, bool, S, m, key, def, 0, 1, NULL, help, src)
#define CFG_ENUM(S, m, key, def, names, help, src) \
	{ \
		key, CFG_T_ENUM, CFG_AT(S, m, uint32_t), def, 0, UINT32_MAX, NULL, names, help, src \
	}
#define CFG_STR(S, m, key, def, help, src) \
	{ \
		key, CFG_T_STR, CFG_AT(S, m, cfg_text), def, 0, 0, NULL, NULL, help, src \
	}
#define CFG_END \
	{ \
		NULL, CFG_T_END, 0, NULL, 0, 0, NULL, NULL, NULL, NULL \
	}

/* A section binds rows to one struct inside the machine's config struct. `name` "" is the top level. */
struct cfg_section {
	const char *name;
	const struct cfg_field *rows;
	size_t base;
};

struct cfg;

/* `sections` ends with {NULL, NULL, 0}; `target` is the struct all bases are offsets into. Defaults are applied. */
struct cfg *cfg_new(const struct cfg_section *sections, void *target, struct err *e);
void cfg_free(struct cfg *c);
/* The same rows over `target`, a copy of the struct that `from` is over (`was`); `from` must live as long. */
struct cfg *cfg_copy(const struct cfg *from, const void *was, void *target, struct err *e);

/* Reads a mapping of section -> {key: value}. Unknown keys and sections are errors naming the nearest right one.
 * `skip` lists top-level keys that somebody else reads (NULL-terminated; may be NULL). */
int cfg_read(struct cfg *c, const struct yaml *y, const struct ynode *root, const char *const *skip, struct err *e);
/* Reads one section's keys from a mapping (a configs/dram file, say); only keys not yet given are written when
 * `weak`, so that a machine's own values win over the named part's. */
int cfg_read_section(struct cfg *c, const char *section, const struct yaml *y, const struct ynode *map, bool weak,
                     struct err *e);
int cfg_set(struct cfg *c, const char *assignment, struct err *e); /* "l2.size=64 MiB" */
int cfg_set_key(struct cfg *c, const char *key, const char *value, struct err *e);
/* By row: `source` is copied, and stands where a file's would. set_raw takes a stored integer without its checks. */
int cfg_set_row(struct cfg *c, size_t i, const char *value, const char *source, struct err *e);
void cfg_set_raw(struct cfg *c, size_t i, uint64_t raw, const char *source); /* `source`: must live as long as `c` */
/* Both: the key must be one of the rows'. */
bool cfg_given(const struct cfg *c, const char *key); /* by a file or --set, not a default */
void cfg_forget(struct cfg *c, const char *key);      /* no longer given; the value stays */

/* Walking: row i of all sections in order. `source` is the YAML's own where it gave one, "FILE:LINE" or "--set" for
 * other given values, and the row's for a default. */
struct cfg_row {
	const char *section;
	const struct cfg_field *field;
	char key[64];
	bool given;
	const char *source;
};
size_t cfg_count(const struct cfg *c);
struct cfg_row cfg_at(const struct cfg *c, size_t i);
int cfg_find(const struct cfg *c, const char *key, size_t *i, struct err *e); /* error names the nearest key */
void cfg_value(const struct cfg *c, size_t i, struct str *out);               /* appends text that reads back alike */
uint64_t cfg_raw(const struct cfg *c, size_t i);                              /* stored integer; a hash for strings */
void cfg_range(const struct cfg *c, size_t i, struct str *out);               /* "64 KiB to 4 GiB, a power of two" */
const char *cfg_unit(enum cfg_type t);                                        /* stored: "bytes", "kHz"; "" for none */

void cfg_dump(const struct cfg *c, struct str *out); /* YAML that loads to the same config */
/* The same of what was given alone: what follows from that can be moved by it. */
void cfg_dump_given(const struct cfg *c, struct str *out);
uint64_t cfg_hash(const struct cfg *c); /* of the dump's resolved values */
/* What the section describes is not there, or it is: of what is not, rows are in no hash, as nothing reads them. */
void cfg_absent(struct cfg *c, const char *section, bool absent);

/* The number formats above, for other readers (command-line options, rule tables); any type but enum and str.
 * A fault is ERR_CONFIG and names the text. */
int cfg_parse_value(enum cfg_type type, const char *text, uint64_t *out, struct err *e);
/* The same; `like` is a usual value, "200 ms", whose unit a number without one is taken to mean where it is refused. */
int cfg_parse_like(enum cfg_type type, const char *text, const char *like, uint64_t *out, struct err *e);
void cfg_format_value(enum cfg_type type, uint64_t v, struct str *out);

#endif
