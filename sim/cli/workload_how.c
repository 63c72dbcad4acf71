/* workload_how.c - from options to what is built. */
#include <inttypes.h>
#include <string.h>

#include "sim/cli/workload.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static int choice(const char *given, const char *option, const char *const *names, size_t n, int otherwise, int *out,
                  struct err *e)
{
	const char *near;
	struct str list = STR_INIT;

	*out = otherwise;
	if (!given)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(given, names[i]) == 0) {
			*out = (int)i;
			str_free(&list);
			return 0;
		}
		str_addf(&list, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", names[i]);
	}
	near = str_nearest(given, names, n);
	err_set(e, ERR_USAGE, "unknown %s '%s'%s%s%s: it is %s", option, given, near ? "; did you mean '" : "",
	        near ? near : "", near ? "'?" : "", str_c(&list));
	str_free(&list);
	return -1;
}

static int in_range(uint64_t v, uint64_t most, const char *option, struct err *e)
{
	return v <= most ? 0
	                 : err_set(e, ERR_USAGE, "%" PRIu64 " is more than %" PRIu64 ", for option '--%s'", v, most,
	                           option);
}

int workload_skew(const char *s, uint32_t *out, struct err *e)
{
	uint32_t v = 0, unit = 1000;
	const char *p = s;

	if (!s)
		return 0;
	for (; *p >= '0' && *p <= '9' && v < 10; p++)
		v = v * 10 + (uint32_t)(*p - '0');
	v *= 1000;
	if (p > s && *p == '.')
		for (p++; *p >= '0' && *p <= '9' && unit > 1; p++)
			v += (uint32_t)(*p - '0') * (unit /= 10);
	if (p == s || *p || p[-1] == '.' || v > 4000)
		return err_set(e, ERR_USAGE,
		               "'%s' is no number from 0 to 4 with three decimals at most, for option '--skew'", s);
	*out = v;
	return 0;
}

static int numbers(const struct workload_opts *o, struct build_how *how, struct err *e)
{
	if (in_range(o->batch, BUILD_MAX_BATCH, "batch", e) < 0 ||
	    in_range(o->tokens, BUILD_MAX_TOKENS, "tokens", e) < 0 ||
	    in_range(o->context, BUILD_MAX_TOKENS, "context", e) < 0 ||
	    in_range(o->layers, MODEL_MAX_LAYERS, "layers", e) < 0 || in_range(o->experts, 65536, "experts", e) < 0 ||
	    in_range(o->image, BUILD_MAX_IMAGE, "image", e) < 0)
		return -1;
	how->batch = o->batch ? (uint32_t)o->batch : 1;
	how->context = o->context;
	how->tokens = o->tokens ? o->tokens : how->phase == BUILD_PREFILL ? 512 : 1;
	if (!o->context && how->phase == BUILD_DECODE)
		how->context = 1024;
	how->layers = (uint32_t)o->layers;
	how->experts = (uint32_t)o->experts;
	how->image = (uint32_t)o->image;
	return workload_skew(o->skew, &how->skew, e);
}

/* The model's own scheme, or that of its checkpoint. */
static int scheme(const struct model *m, const struct workload_opts *o, struct build_how *how, struct err *e)
{
	if (!o->quant && m->quant_layers)
		return err_set(
			e, ERR_CONFIG,
			"the weights of model '%s' come in a mix of formats ('%s') that its description does not list:"
			" give --quant",
			m->name, m->quant_layers);
	if (!(how->quant = scheme_find(o->quant ? o->quant : m->quant ? m->quant : "bf16", e)))
		return -1;
	how->kv = m->dtype;
	if (o->kv || m->kv)
		how->kv = scheme_kv(o->kv ? o->kv : m->kv, e);
	return how->kv == DT_NONE ? -1 : 0;
}

int workload_how(const struct model *m, const struct workload_opts *o, enum build_style style, struct build_how *how,
                 struct err *e)
{
	static const char *const phases[] = { "decode", "prefill", "vision" }, *const styles[] = {
		"eager", "fused", "npu", "llamacpp", "rkllm", "llamacpp_fa"
	};
	const char *ways[ATTENDS - 1];
	int phase, as, way;

	for (int i = ATTEND_OWN + 1; i < ATTENDS; i++)
		ways[i - 1] = attend_name((enum attend_way)i);

	if (choice(o->phase, "phase", phases, COUNT(phases), BUILD_DECODE, &phase, e) < 0 ||
	    choice(o->style, "style", styles, COUNT(styles), (int)style, &as, e) < 0 ||
	    choice(o->attention, "attention", ways, COUNT(ways), ATTEND_OWN - 1, &way, e) < 0)
		return -1;
	memset(how, 0, sizeof *how);
	how->phase = (enum build_phase)phase;
	how->style = (enum build_style)as;
	how->attend = (enum attend_way)(way + 1);
	return numbers(o, how, e) < 0 || scheme(m, o, how, e) < 0 ? -1 : 0;
}

int workload_stream(const struct workload_opts *o, enum build_style style, struct arena *a, struct model **m,
                    struct build_how *how, struct op_stream *s, struct err *e)
{
	if (!(*m = model_load(o->model, e)) || workload_how(*m, o, style, how, e) < 0)
		return -1;
	return build_stream(*m, how, a, s, e);
}

const char *workload_stray(const struct workload_opts *o)
{
	return o->phase       ? "--phase"
	       : o->tokens    ? "--tokens"
	       : o->quant     ? "--quant"
	       : o->kv        ? "--kv"
	       : o->style     ? "--style"
	       : o->attention ? "--attention"
	       : o->layers    ? "--layers"
	       : o->experts   ? "--experts"
	       : o->image     ? "--image"
	       : o->skew      ? "--skew"
	       : o->batch     ? "--batch"
	                      : NULL;
}

int workload_check(const struct workload_opts *o, const char *trace, const char *range, bool rebatch, struct err *e)
{
	const char *stray = workload_stray(o);

	if (!trace && !o->model)
		return err_set(
			e, ERR_USAGE,
			"the workload is missing: -t T.db, which 'npusim trace import' makes, or -m MODEL, of which 'npusim"
			" workload list' has some");
	if (trace && o->model)
		return err_set(e, ERR_USAGE, "options '-t' and '-m' are two workloads: give one");
	if (trace && !rebatch && !stray && o->context)
		stray = "--context";
	if (trace && stray &&
	    !(rebatch && (strcmp(stray, "--batch") == 0 || (o->batch && strcmp(stray, "--skew") == 0))))
		return err_set(e, ERR_USAGE, "option '%s' is of a model (-m MODEL), and the workload here is a trace",
		               stray);
	if (o->model && range)
		return err_set(
			e, ERR_USAGE,
			"option '--range' is of a trace, and the workload here is a model: '--phase' says what of"
			" it");
	return 0;
}

static bool has_linear(const struct model *m)
{
	for (uint32_t i = 0; i < m->layers; i++)
		if (m->layer[i] == MODEL_LINEAR)
			return true;
	return false;
}

/* SAM: single kernels of it were counted, no step (workloads/README.md). Linear attention: no step of such a model at hand. */
const char *workload_unknown(const struct model *m, const struct build_how *how, bool gpu)
{
	if (how->phase == BUILD_VISION)
		return "SAM: its windows, relative positions and neck";
	if (has_linear(m))
		return "layers of linear attention: their convolution and their state";
	if (gpu && how->phase == BUILD_PREFILL && m->mla.kv_rank)
		return "attention over an expanded latent";
	return NULL;
}

struct workload_part workload_part(const struct workload *w)
{
	return workload_part_of(w->model, &w->how);
}

void workload_text(const struct build_how *how, struct str *out)
{
	str_addf(out, "%s, batch %u, ", build_phase_name(how->phase), how->batch);
	if (how->image)
		str_addf(out, "%u x %u pixels, ", how->image, how->image);
	if (how->phase == BUILD_PREFILL)
		str_addf(out, "%" PRIu64 " new tokens, ", how->tokens);
	if (how->phase == BUILD_DECODE && how->tokens > 1)
		str_addf(out, "%" PRIu64 " tokens one after the other, ", how->tokens);
	if (how->phase != BUILD_VISION)
		str_addf(out, "%" PRIu64 " tokens in the cache, ", how->context);
	str_addf(out, "%s, cache in %s, %s", how->quant->name, dtype_name(how->kv), build_style_name(how->style));
	if (how->attend)
		str_addf(out, ", attention %s", attend_name(how->attend));
	if (how->layers)
		str_addf(out, ", %u layers on this chip", how->layers);
	if (how->experts)
		str_addf(out, ", %u experts a layer on this chip", how->experts);
	if (how->skew)
		str_addf(out, ", picks skewed by %g", how->skew / 1000.0);
}

int workload_read(const struct workload_opts *o, bool gpu, struct workload *w, struct cmd_trace *t, struct op_stream *s,
                  struct err *e)
{
	if (!(t->arena = arena_new(CMD_TRACE_MEMORY)))
		return err_nomem(e, "for a workload");
	if (workload_stream(o, gpu ? BUILD_FUSED : BUILD_NPU, t->arena, &w->model, &w->how, s, e) < 0)
		return -1;
	workload_text(&w->how, &w->text);
	t->trace = (struct trace){ .path = w->model->name,
		                   .range = str_c(&w->text),
		                   .tool = "model",
		                   .command = "",
		                   .digest = s->digest,
		                   .wall_ns = -1 };
	return w->text.failed ? err_nomem(e, "for a workload") : 0;
}

void workload_free(struct workload *w)
{
	model_free(w->model);
	str_free(&w->text);
	*w = (struct workload){ .model = NULL };
}
