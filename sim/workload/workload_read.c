/* workload_read.c - a spec's op stream: read, built, brought to another batch or context, rewritten. */
#include <string.h>

#include "sim/base/hash.h"
#include "sim/build/scale.h"
#include "sim/workload/workload_int.h"
#include "workloads/known.h"

static enum build_style style_of(const struct workload_reader *by)
{
	return by->machine && machine_runs(by->machine) == MACHINE_LAUNCHES ? BUILD_FUSED : BUILD_NPU;
}

/* --- a trace ----------------------------------------------------------------------------------------------- */

static bool is_scaled(const struct workload *w, const struct workload_spec *s)
{
	return w->source == WORKLOAD_TRACE && (s->batch || (s->context && !w->replay));
}

/* At another batch or context, with the words for what it is called in *said where those are asked for. */
static int workload_read_scaled(const struct workload *w, const struct workload_spec *s, struct arena *a,
                                struct op_stream *out, uint64_t *sequences, const char **said, struct err *e)
{
	const struct scale_step to = { s->batch, w->replay ? 0 : s->context, workload_skew(s) };
	const char *range = w->spec.range;
	struct scale_step was;

	if (scale_stream(&w->own, to, a, out, &was, e) < 0)
		return err_add(e, "asking '%s' at another batch or context", s->trace);
	*sequences = to.batch ? to.batch : was.batch;
	if (!said)
		return 0;
	*said = arena_printf(a, "%s%sat batch %llu, %llu tokens in the cache%s%s (measured at %llu, %llu)",
	                     range ? range : "", range ? " " : "", (unsigned long long)*sequences,
	                     (unsigned long long)(to.context ? to.context : was.context),
	                     to.skew ? ", picks skewed by " : "", to.skew ? s->skew : "", (unsigned long long)was.batch,
	                     (unsigned long long)was.context);
	return *said ? 0 : err_nomem(e, "for a trace");
}

static int trace_read(struct workload *w, const struct workload_reader *by, struct err *e)
{
	const struct workload_spec *s = &w->spec;
	struct measured_from from = { .source = by->source,
		                      .path = s->trace,
		                      .range = s->range,
		                      .rules = s->rules ? s->rules : "",
		                      .part = w->source == WORKLOAD_TRACE,
		                      .progress = by->progress,
		                      .arg = by->arg };
	int doubted = 0;

	/* A replay has its context from its file; any other trace is brought to it. */
	w->replay = w->source == WORKLOAD_TRACE && s->context && measured_is_replay(s->trace);
	from.context = w->replay ? s->context : 0;
	if (measured_load(&from, &w->in, e) < 0)
		return -1;
	w->in.trace.dtype = s->dtype;
	if ((w->source == WORKLOAD_LAID && workload_lay(w, by, e) < 0) ||
	    lower_trace(&w->in.trace, w->in.rules, w->in.arena, &w->own, &w->lowered, e) < 0 ||
	    (doubted = workload_doubt(w, by->source, e)) < 0 ||
	    (doubted && lower_trace(&w->in.trace, w->in.rules, w->in.arena, &w->own, &w->lowered, e) < 0) ||
	    (w->in.counters && counters_ops(w->in.counters, &w->in.trace, &w->own, w->in.arena, &w->counted, e) < 0) ||
	    (w->source == WORKLOAD_LAID && workload_lay_name(w, e) < 0))
		return -1;
	w->stream = w->own;
	if (!is_scaled(w, s))
		return 0;
	w->scaled = true;
	w->in.trace.wall_ns = -1;
	if (workload_read_scaled(w, s, w->in.arena, &w->stream, &w->sequences, &w->in.trace.range, e) < 0)
		return -1;
	w->in.trace.digest = w->stream.digest;
	return 0;
}

/* --- a model, a program ------------------------------------------------------------------------------------ */

int workload_describe(const struct workload_spec *s, const struct workload_reader *by, struct workload *w,
                      struct err *e)
{
	struct str text = STR_INIT;

	*w = (struct workload){ .spec = *s, .source = WORKLOAD_MODEL };
	if (!(w->in.arena = arena_new(MEASURED_MEMORY)))
		return err_nomem(e, "for a workload");
	if (!(w->model = model_load_from(by->source, s->model, e)) ||
	    workload_how(w->model, s, style_of(by), &w->how, e) < 0)
		return -1;
	workload_how_text(&w->how, &text);
	w->in.trace = (struct trace){ .path = w->model->name,
		                      .range = text.failed ? NULL : arena_strdup(w->in.arena, str_c(&text)),
		                      .tool = "model",
		                      .command = "",
		                      .wall_ns = -1 };
	str_free(&text);
	return w->in.trace.range ? 0 : err_nomem(e, "for a workload");
}

static int model_read(struct workload *w, const struct workload_reader *by, struct err *e)
{
	const struct workload_spec s = w->spec;

	if (workload_describe(&s, by, w, e) < 0 || build_stream(w->model, &w->how, w->in.arena, &w->stream, e) < 0)
		return -1;
	w->in.trace.digest = w->stream.digest;
	w->lowered.ops = w->stream.n_ops;
	return 0;
}

static int given_read(struct workload *w, const struct workload_reader *by, struct err *e)
{
	struct input *f;
	int rc = -1;

	if (!by->machine)
		return err_set(e, ERR_USAGE, "'%s' is a program, and there is no machine that it is for",
		               w->spec.program);
	f = input_open(w->spec.program, e);

	if (!f)
		return -1;
	if (!(w->in.arena = arena_new(MEASURED_MEMORY)))
		err_nomem(e, "for a program");
	else
		rc = program_read(f, by->machine, w->in.arena, &w->program, e);
	input_free(f);
	w->stream = w->program.stream;
	w->in.trace = (struct trace){
		.path = w->spec.program, .tool = "program", .command = "", .digest = w->stream.digest, .wall_ns = -1
	};
	w->lowered.ops = w->stream.n_ops;
	return rc;
}

/* --- rewritten --------------------------------------------------------------------------------------------- */

static bool found_nothing(const struct rewrite_done *d)
{
	return !d->changed && !d->removed && !d->kept;
}

/* Stored under a name of its own, it is another workload; unless nothing was to be rewritten. */
static int rewritten(struct workload *w, struct err *e)
{
	struct workload_rewritten *x = &w->rewritten;
	struct trace *t = &w->in.trace;
	struct op_stream out;
	const char *text;
	bool same = true;

	if (!w->spec.rewrite)
		return 0;
	if (w->stream.stages)
		return err_set(e, ERR_USAGE, "a pipeline's stages are not rewritten, for option '--rewrite'");
	if (rewrite_parse(w->spec.rewrite, &x->list, e) < 0 ||
	    rewrite_stream(&w->stream, &x->list, w->in.arena, &out, x->done, e) < 0)
		return -1;
	for (size_t i = 0; i < x->list.n; i++)
		same &= found_nothing(&x->done[i]);
	if (same)
		return 0;
	w->stream = out;
	text = rewrite_text(&x->list, x->done, w->in.arena);
	t->range = !text ? NULL
	                 : arena_printf(w->in.arena, "%s%srewritten: %s", t->range ? t->range : "", t->range ? " " : "",
	                                text);
	t->digest = out.digest;
	return t->range ? 0 : err_nomem(e, "for a rewritten stream");
}

/* --- tokens ----------------------------------------------------------------------------------------------- */

uint64_t workload_tokens(const struct workload *w)
{
	return w->model ? build_tokens(&w->how) : w->sequences;
}

uint64_t workload_stream_tokens(const struct op_stream *s, uint64_t steps)
{
	uint64_t tokens = 0;

	if (ops_listed_all(s))
		return 0;
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op_shape *x = &s->ops[i].shape;
		const uint64_t n = x->batch * x->q_len;

		if (s->ops[i].kind != OP_ATTENTION)
			continue;
		if (!n || (tokens && n != tokens))
			return 0;
		tokens = n;
	}
	return tokens * steps;
}

/* Of the workload's stream, or of another that was made of it, whose sequences are known where it was scaled. A part of a model
 * makes none. */
static uint64_t tokens_of(const struct workload *w, const struct op_stream *s, uint64_t sequences)
{
	const struct workload_part part = workload_part(w);
	const bool one = w->in.trace.range || sequences || w->in.trace.steps < 1;

	if (w->model || w->source == WORKLOAD_PROGRAM)
		return w->model && !workload_is_part(&part) ? build_tokens(&w->how) : 0;
	return sequences ? sequences : workload_stream_tokens(s, one ? 1 : (uint64_t)w->in.trace.steps);
}

/* --- the whole --------------------------------------------------------------------------------------------- */

int workload_read(const struct workload_spec *s, const struct workload_reader *by, struct workload *w, struct err *e)
{
	int (*const read[WORKLOAD_SOURCES])(struct workload *, const struct workload_reader *,
	                                    struct err *) = { [WORKLOAD_TRACE] = trace_read,
		                                              [WORKLOAD_LAID] = trace_read,
		                                              [WORKLOAD_MODEL] = model_read,
		                                              [WORKLOAD_PROGRAM] = given_read };

	*w = (struct workload){ .spec = *s, .source = workload_source(s) };
	if (s->rewrite && style_of(by) == BUILD_FUSED)
		return err_set(e, ERR_USAGE,
		               "a GPU runs the trace's launches, which a rewritten op no longer has, for '%s'",
		               workload_rows[WORKLOAD_KEY_REWRITE].name);
	if (read[w->source](w, by, e) < 0 || (!w->in.rules && !(w->in.rules = rules_load_from(by->source, NULL, e))))
		return -1;
	w->rules_hash = rules_hash(w->in.rules);
	if (w->spec.dtype) /* stored, its ops are others */
		w->rules_hash = hash_str(w->rules_hash, w->spec.dtype);
	if (rewritten(w, e) < 0)
		return -1;
	w->stream.tokens = tokens_of(w, &w->stream, w->sequences);
	return 0;
}

int workload_again(const struct workload *w, const struct workload_spec *s, const struct workload_reader *by,
                   struct arena *a, struct op_stream *out, struct err *e)
{
	struct rewrite_done done[REWRITES_MAX];
	struct rewrite_list list;
	struct op_stream x = w->own;
	struct workload as = *w; /* what it is asked as this time */
	uint64_t sequences = 0, tokens = 0;
	int rc = 0;

	if (w->source == WORKLOAD_MODEL) {
		as.model = model_load_from(by->source, s->model, e);
		rc = !as.model || workload_how(as.model, s, style_of(by), &as.how, e) < 0
		             ? -1
		             : build_stream(as.model, &as.how, a, &x, e);
		/* Its texts are the model's, which goes. */
		x.source = rc == 0 ? arena_strdup(a, x.source) : NULL;
		tokens = rc == 0 ? tokens_of(&as, &x, 0) : 0;
		model_free(as.model);
	} else if (s->context != w->spec.context && measured_is_replay(w->spec.trace)) {
		return err_set(e, ERR_CONFIG, "'%s' is a replay, which is read at one context: give it to all points",
		               w->spec.trace);
	} else if (is_scaled(w, s)) {
		rc = workload_read_scaled(w, s, a, &x, &sequences, NULL, e);
	}
	if (rc < 0)
		return -1;
	if (w->source != WORKLOAD_MODEL)
		tokens = tokens_of(w, &x, sequences);
	if (s->rewrite && x.stages)
		return err_set(e, ERR_USAGE, "a pipeline's stages are not rewritten, for '%s'", s->rewrite);
	if (s->rewrite && (rewrite_parse(s->rewrite, &list, e) < 0 || rewrite_stream(&x, &list, a, out, done, e) < 0))
		return -1;
	if (!s->rewrite)
		*out = x;
	out->tokens = tokens;
	return 0;
}

void workload_free(struct workload *w)
{
	model_free(w->model);
	measured_free(&w->in);
	*w = (struct workload){ .model = NULL };
}

int workload_opaque(const struct op_stream *s, unsigned most_pct, struct err *e)
{
	if (ops_some_known(s, e) < 0)
		return -1;
	if (s->opaque_ns * 100 <= s->measured_ns * most_pct)
		return 0;
	return err_set(e, ERR_BOUND,
	               "%.1f %% of the measured time is in ops that no rule knows, more than %u %%; 'npusim"
	               " trace ops --all' lists them, and --allow-opaque accepts them",
	               s->measured_ns ? 100 * (double)s->opaque_ns / (double)s->measured_ns : 0, most_pct);
}
