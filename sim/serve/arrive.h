/* arrive.h - what is asked of a server: requests by the time they arrive, read from a table or drawn.
 *
 * A table is CSV with a header, columns in any order: `arrival_s` or `arrival_ms` (decimal, from any zero; left out, all are
 * there at once), `prompt` and `output` (tokens, 1 on), `id` (for people: any text, and it goes where its request goes). The names of published traces of Azure's
 * services are taken too: TIMESTAMP (a date and time), ContextTokens, GeneratedTokens; and of BurstGPT Timestamp (s), Request tokens, Response
 * tokens, its other columns skipped. priority (0 on; less is served first) and gives_up_ms (the client leaves so long after it came; empty: it
 * stays) are a scheduler's. measured_ttft_ms and measured_total_ms are what a
 * server took for it, to be held against (serve_doc). Anything else in the header, a cell
 * that is no such number or under no column, and a table without rows are refused with file, line and column; the file may be hostile.
 * Drawn lists are the same on every host: no function of the C library's mathematics is used.
 * Units: ps from the first arrival's zero; tokens. After reading or drawing the list is in order of arrival, those of one moment in the
 * table's order.
 * Prefixes that requests share: `hash_ids`, a number for each ARRIVE_PAGE tokens of a prompt, the last of which may be fewer, of what they
 * are and of all before them, with a blank between. A list may also be JSON, an object a line, as Mooncake's traces are: timestamp (ms),
 * input_length, output_length and hash_ids, other members skipped.
 * Leaves out: whether an answer is in the prompt of a later turn, which no list tells. */
#ifndef NPUSIM_SIM_SERVE_ARRIVE_H
#define NPUSIM_SIM_SERVE_ARRIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/base/str.h"
#include "traces/text/input.h"

#define ARRIVE_MOST   1000000 /* requests */
#define ARRIVE_TOKENS (1u << 24)
#define ARRIVE_PAGE   512 /* tokens of a prompt that a hash stands for */
#define ARRIVE_LATEST (UINT64_C(30) * 86400 * 1000 * PS_MS)

struct arrival {
	ps_t at;
	uint32_t prompt, output;
	uint32_t line;        /* of the table; of a drawn list its number from 1 */
	ps_t ttft, total;     /* measured; 0: not told */
	uint32_t priority;    /* less is served first */
	ps_t gives_up;        /* so long after it came its client leaves; 0: never */
	uint32_t id;          /* where its text begins among the list's; 0: it has none */
	uint32_t page, pages; /* of the list's: where its prompt's begin, and how many */
};

struct arrivals {
	struct arrival *v;
	size_t n;
	struct str ids;  /* each ends with a zero; the first is empty. Without a column of them there is none */
	uint32_t *pages; /* which of `page_kinds` each is: the same tokens behind the same; NULL: nobody tells */
	size_t n_pages;
	uint32_t page_kinds;
	bool pages_lent; /* another list's */
	bool measured, priorities, give_up;
	size_t prompts_cut, outputs_cut; /* drawn ones, that were longer than a model takes */
};
#define ARRIVALS_INIT \
	{ \
		NULL, 0, STR_INIT, NULL, 0, 0, false, false, false, false, 0, 0 \
	}

/* How long prompts and outputs are. */
enum arrive_shape { ARRIVE_FIXED, ARRIVE_UNIFORM, ARRIVE_EXP, ARRIVE_LOGNORMAL };
struct arrive_length {
	enum arrive_shape shape;
	uint32_t a, b; /* fixed: a; uniform: from a to b; exp: mean a; lognormal: median a, sigma b thousandths */
};
/* "512", "uniform:128:1024", "exp:512", "lognormal:512:0.8"; `option` for the error, which is ERR_USAGE. */
int arrive_length_parse(const char *text, const char *option, struct arrive_length *out, struct err *e);
/* "4/s", "0.5/s", "30/min" to the mean time between arrivals. */
int arrive_rate_parse(const char *text, ps_t *gap, struct err *e);

enum arrive_when { ARRIVE_POISSON, ARRIVE_CONSTANT, ARRIVE_AT_ONCE };
struct arrive_plan {
	size_t n;
	enum arrive_when when;
	ps_t gap; /* in the mean */
	struct arrive_length prompt, output;
	/* What a model takes; 0: any. A length that is always too long is refused, and of others what is drawn longer is cut: prompts
	 * to fit with an output of one, outputs to fit with their prompt. */
	uint32_t context;
	uint64_t seed;
};

int arrive_read(struct input *in, struct arrivals *out, struct err *e);
int arrive_make(const struct arrive_plan *p, struct arrivals *out, struct err *e);
/* Pages by the numbers that a list has for them: which of so many kinds each is; `ids` are overwritten. */
int arrive_pages(struct arrivals *a, uint64_t *ids, size_t n, struct err *e);
void arrive_write(const struct arrivals *a, struct str *out); /* a table that reads back alike */
const char *arrive_id(const struct arrivals *a, size_t i);    /* "" where it has none */
void arrive_free(struct arrivals *a);

#endif
