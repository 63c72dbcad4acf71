/* workload.h - what is run, as one spec: a trace, a model or a tile program, and what of it; and the op stream of that.
 *
 *   trace      a trace database, a profile, a replay or a table of ops (traces/read/format.h): lowered, then brought to
 *              another batch or context (sim/build/scale.h), then rewritten (sim/rewrite/rewrite.h)
 *   laid       a trace whose kernels have no operators beside the model that ran: they are laid over it (sim/align/align.h),
 *              and a batch or a context says what was measured
 *   model      a model by its description: its stream is built (sim/build/build.h), then rewritten
 *   program    commands and tiles as text (sim/program/program.h): nothing is mapped
 *
 * Each option of a spec is a row of workload_rows: name, type, help, of which sources it makes sense. Option tables, YAML of
 * sweeps and ablations, axes of sweeps and the library walk the rows. Who asks (workload_askers) may take some rows and not
 * others, and says why not: workload_check refuses what makes no sense, of its source or for who asks.
 *
 * Leaves out: several workloads at once; requests over time (sim/serve). */
#ifndef NPUSIM_SIM_WORKLOAD_WORKLOAD_H
#define NPUSIM_SIM_WORKLOAD_WORKLOAD_H

#include "arch/machine/machine_cfg.h"
#include "sim/align/align.h"
#include "sim/base/yaml.h"
#include "sim/build/build.h"
#include "sim/lower/lower.h"
#include "sim/program/program.h"
#include "sim/rewrite/rewrite.h"
#include "sim/workload/measured.h"

/* --- the spec ---------------------------------------------------------------------------------------------- */

/* NULL and 0: not given, the default. Texts must outlive it. */
#define WORKLOAD_CONTEXT 1024 /* of a model's decode step, where none is given */
#define WORKLOAD_PROMPT  512  /* tokens of its prompt */
#define WORKLOAD_AUTO    "auto"

struct workload_spec {
	const char *trace, *range, *model, *program;
	const char *phase, *quant, *kv, *style, *attention, *skew, *rewrite, *rules, *dtype;
	const char *tp, *pp, *ep, *dp, *norms; /* a number, or WORKLOAD_AUTO (sim/study/split.h) */
	uint64_t batch, context, tokens, layers, experts, image, micro;
};

enum workload_source {
	WORKLOAD_NONE,
	WORKLOAD_TRACE,
	WORKLOAD_LAID,
	WORKLOAD_MODEL,
	WORKLOAD_PROGRAM,
	WORKLOAD_SOURCES
};

/* clang-format off */
enum workload_key {
	WORKLOAD_KEY_TRACE, WORKLOAD_KEY_RANGE, WORKLOAD_KEY_MODEL, WORKLOAD_KEY_PROGRAM, WORKLOAD_KEY_PHASE,
	WORKLOAD_KEY_BATCH, WORKLOAD_KEY_CONTEXT, WORKLOAD_KEY_TOKENS, WORKLOAD_KEY_QUANT, WORKLOAD_KEY_KV,
	WORKLOAD_KEY_STYLE, WORKLOAD_KEY_ATTENTION, WORKLOAD_KEY_LAYERS, WORKLOAD_KEY_EXPERTS, WORKLOAD_KEY_TP, WORKLOAD_KEY_PP,
	WORKLOAD_KEY_EP, WORKLOAD_KEY_DP, WORKLOAD_KEY_MICRO, WORKLOAD_KEY_NORMS, WORKLOAD_KEY_IMAGE,
	WORKLOAD_KEY_SKEW, WORKLOAD_KEY_REWRITE, WORKLOAD_KEY_RULES, WORKLOAD_KEY_DTYPE, WORKLOAD_KEYS
};
/* Who asks for workloads: commands, and the files that some of them read. */
enum workload_asker {
	WORKLOAD_RUN, WORKLOAD_LIMITS, WORKLOAD_SWEEP, WORKLOAD_SWEEP_FILE, WORKLOAD_ABLATE, WORKLOAD_ABLATE_FILE,
	WORKLOAD_SERVE, WORKLOAD_COMPARE, WORKLOAD_VALIDATE, WORKLOAD_STUDY, WORKLOAD_BUILD, WORKLOAD_ATTEND,
	WORKLOAD_SHOW, WORKLOAD_LIBRARY, WORKLOAD_MIX, WORKLOAD_DESIGN, WORKLOAD_ASKERS
};
/* clang-format on */

enum workload_type { WORKLOAD_TEXT, WORKLOAD_COUNT, WORKLOAD_FILE };

struct workload_row {
	const char *name;        /* of its option, and in YAML */
	char letter;             /* of its option; 0: none */
	enum workload_type type; /* TEXT and FILE: const char *; COUNT: uint64_t from 1 on */
	size_t at;               /* in struct workload_spec */
	unsigned of;             /* bits of sources that it makes sense of */
	const char *arg, *help;
	enum workload_key instead;    /* what says it of a model; TRACE: nothing does */
	const char *axis, *axis_base; /* its key and its default among a sweep's axes; NULL: it is none */
	uint64_t most;                /* COUNT */
};
extern const struct workload_row workload_rows[WORKLOAD_KEYS];

struct workload_by {
	const char *name; /* "npusim limits", "a sweep's file" */
	uint32_t takes;   /* bits of keys */
	const char *why;  /* it takes no others; NULL: it takes all */
	bool file;        /* its rows are keys in YAML */
	bool argument;    /* the model is an argument, and no option */
};
extern const struct workload_by workload_askers[WORKLOAD_ASKERS];

bool workload_given(const struct workload_spec *s, enum workload_key k);
void *workload_place(struct workload_spec *s, enum workload_key k); /* a const char * or a uint64_t, by its type */
/* "batch=4", whose value is copied into `a`. */
int workload_assign(struct workload_spec *s, const char *assignment, struct arena *a, struct err *e);
/* The same back; nothing where it is not given. */
void workload_row_text(const struct workload_spec *s, enum workload_key k, struct str *out);

enum workload_source workload_source(const struct workload_spec *s); /* of two the first; NONE: none is given */
/* One source, no option that makes no sense of it or for who asks, and values that can be: ERR_USAGE in the words of an
 * option ("option '--range' is of a trace ..."), of a file's key where `by` is a file. Not against the model. */
int workload_check(const struct workload_spec *s, enum workload_asker by, struct err *e);
int workload_values(const struct workload_spec *s, enum workload_asker by,
                    struct err *e); /* of that the values alone */
/* Why a row is refused by one who asks, of a source; NULL: it is taken. In the words of workload_check. */
const char *workload_refused(enum workload_key k, enum workload_source of, enum workload_asker by, char *buf,
                             size_t size);
/* The rows that `by` takes as keys of a mapping; `also`, ends with NULL, are keys that others read. Texts live in `a`. */
int workload_yaml(const struct yaml *y, const struct ynode *map, enum workload_asker by, const char *const *also,
                  struct arena *a, struct workload_spec *s, struct err *e);

/* --- what comes of it -------------------------------------------------------------------------------------- */

/* Layers and experts that run, and of how many; 0 where all do. A part of a model makes no tokens: there is no rate of it. */
struct workload_part {
	uint64_t layers, of_layers, experts, of_experts;
};

/* What a spec's rewrites did. */
struct workload_rewritten {
	struct rewrite_list list; /* n 0: nothing is asked for */
	struct rewrite_done done[REWRITES_MAX];
};

struct workload_laid {
	bool done;
	struct align_report report;
};

struct workload {
	struct workload_spec spec;
	enum workload_source source;
	struct measured
		in; /* memory of all of it, the trace and its rules; of a model or a program what it is called */
	struct op_stream stream; /* to run */
	struct op_stream own;    /* of a trace as it was measured */
	struct lower_stats lowered;
	struct counted_ops counted; /* by op of `own`; only where in.counters */
	struct model *model;        /* NULL: not a model */
	struct build_how how;       /* of a model */
	struct program program;     /* of a program */
	bool replay, scaled;        /* scaled: a trace at another batch or context than it was measured at */
	uint64_t sequences;         /* of a scaled trace */
	struct workload_laid laid;
	struct workload_rewritten rewritten;
	const char *doubted; /* of a trace: which operations' sizes its own times contradict; NULL: none */
	uint64_t rules_hash;
};

/* Of kernels laid over a model, where no grid tells the cache's length: what their time says, 0: nothing; and its bounds. */
typedef uint64_t workload_context_by_time(const struct source *from, const struct trace *t, const struct model *m,
                                          const struct align_how *how, struct rules *rules, uint64_t *low,
                                          uint64_t *high);

struct workload_reader {
	const struct source *source;       /* of models and rules */
	const struct machine_cfg *machine; /* NULL: an NPU; a program needs one */
	input_progress *progress;          /* while a profile is read; may be NULL */
	void *arg;
	workload_context_by_time *by_time; /* may be NULL */
};

/* A checked spec's op stream. workload_free also after a failure. */
int workload_read(const struct workload_spec *s, const struct workload_reader *by, struct workload *w, struct err *e);
/* The model and what is asked of it, without a stream: what asks builds its own. */
int workload_describe(const struct workload_spec *s, const struct workload_reader *by, struct workload *w,
                      struct err *e);
/* Another stream of what was read, into `a`: of a trace at another batch, context or rewritten otherwise, of any model. */
int workload_again(const struct workload *w, const struct workload_spec *s, const struct workload_reader *by,
                   struct arena *a, struct op_stream *out, struct err *e);
void workload_free(struct workload *w);

/* What of the model is on this chip; a trace is whole. */
struct workload_part workload_part(const struct workload *w);
bool workload_is_part(const struct workload_part *p);
/* "8 of 32 layers, 16 of 64 experts"; nothing where all is. */
void workload_part_text(const struct workload_part *p, struct str *out);
/* "decode, batch 1, 1024 tokens in the cache, bf16, fused" */
void workload_how_text(const struct build_how *how, struct str *out);
/* What of a model's ops was never held against a measured figure, on any machine or, of a GPU, on this kind; NULL: all were. */
const char *workload_unknown(const struct model *m, const struct build_how *how, bool gpu);
/* New tokens of all sequences; 0: not known of a trace as it was measured. */
uint64_t workload_tokens(const struct workload *w);
/* The same of a stream's steps, as its attention says; 0: it does not. */
uint64_t workload_stream_tokens(const struct op_stream *s, uint64_t steps);
/* ERR_BOUND where no rule knows any kernel, or kernels that take more than `most_pct` of the measured time. */
int workload_opaque(const struct op_stream *s, unsigned most_pct, struct err *e);
/* What to do with a trace whose products have no operators, to an error's end; nothing where they have. */
void workload_lay_hint(const struct source *from, const struct workload *w, struct str *s);

#endif
