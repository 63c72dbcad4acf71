/* workload_model.c - from a spec to what is built of a model, and what is said of that. */
#include <inttypes.h>
#include <string.h>

#include "sim/workload/workload_int.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char *const phases[] = { "decode", "prefill", "vision" };
static const char *const norms[] = { "whole", "part" };
static const char *const styles[] = { "eager", "fused", "npu", "llamacpp", "rkllm", "llamacpp_fa" };

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

static int skew(const char *s, uint32_t *out, struct err *e)
{
	uint32_t v = 0, unit = 1000;
	const char *p = s;

	*out = 0;
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

/* A number of chips; 0: none is given, or it is to be found. */
static int chips(const char *s, const char *option, uint32_t *out, struct err *e)
{
	struct err why = ERR_INIT;
	uint64_t v;

	*out = 0;
	if (!s || strcmp(s, WORKLOAD_AUTO) == 0)
		return 0;
	if (cfg_parse_value(CFG_T_U64, s, &v, &why) < 0 || !v || v > BUILD_MAX_CHIPS)
		return err_set(e, ERR_USAGE, "'%s' is no number of chips from 1 to %d, nor '%s', for option '--%s'", s,
		               BUILD_MAX_CHIPS, WORKLOAD_AUTO, option);
	*out = (uint32_t)v;
	return 0;
}

static int splits(const struct workload_spec *s, struct build_how *how, struct err *e)
{
	return chips(s->tp, "tp", &how->tp, e) < 0 || chips(s->pp, "pp", &how->pp, e) < 0 ||
	                       chips(s->ep, "ep", &how->ep, e) < 0 || chips(s->dp, "dp", &how->dp, e) < 0
	               ? -1
	               : 0;
}

/* Whoever knows the machine has found it before anything is built. */
static int found(const struct workload_spec *s, struct err *e)
{
	const char *const all[] = { s->tp, s->pp, s->ep, s->dp };

	for (size_t i = 0; i < COUNT(all); i++)
		if (all[i] && strcmp(all[i], WORKLOAD_AUTO) == 0)
			return err_set(
				e, ERR_USAGE,
				"'%s' is found for one step on one system: where there is none, or several steps share a split, name it, as '--tp 8'",
				WORKLOAD_AUTO);
	return 0;
}

uint32_t workload_skew(const struct workload_spec *s)
{
	struct err none = ERR_INIT;
	uint32_t v;

	return skew(s->skew, &v, &none) < 0 ? 0 : v;
}

/* Those of the texts that are one of a few. */
struct chosen {
	int phase, style, attend, norms;
};

static int choices(const struct workload_spec *s, enum build_style style, struct chosen *x, struct err *e)
{
	const char *ways[ATTENDS - 1];

	for (int i = ATTEND_OWN + 1; i < ATTENDS; i++)
		ways[i - 1] = attend_name((enum attend_way)i);
	if (choice(s->phase, "phase", phases, COUNT(phases), BUILD_DECODE, &x->phase, e) < 0 ||
	    choice(s->style, "style", styles, COUNT(styles), (int)style, &x->style, e) < 0 ||
	    choice(s->attention, "attention", ways, COUNT(ways), ATTEND_OWN - 1, &x->attend, e) < 0 ||
	    choice(s->norms, "norms", norms, COUNT(norms), 0, &x->norms, e) < 0)
		return -1;
	return 0;
}

int workload_check_texts(const struct workload_spec *s, struct err *e)
{
	struct rewrite_list list;
	struct build_how how;
	struct chosen x;
	uint32_t v;

	if (choices(s, BUILD_NPU, &x, e) < 0 || skew(s->skew, &v, e) < 0 || splits(s, &how, e) < 0 ||
	    (s->quant && !scheme_find(s->quant, e)) || (s->kv && scheme_kv(s->kv, e) == DT_NONE))
		return -1;
	if (s->dtype && lower_types_check(s->dtype, e) < 0)
		return -1;
	if (s->rewrite && rewrite_parse(s->rewrite, &list, e) < 0)
		return err_add(e, "reading option '--rewrite'");
	return 0;
}

/* The model's own scheme, or that of its checkpoint. */
static int scheme(const struct model *m, const struct workload_spec *s, struct build_how *how, struct err *e)
{
	if (!s->quant && m->quant_words)
		return err_set(e, ERR_CONFIG,
		               "how the weights of model '%s' are stored is not understood (%s): give --quant", m->name,
		               m->quant_words);
	if (!s->kv && m->kv_words)
		return err_set(e, ERR_CONFIG, "the KV cache of model '%s' is in '%s', which is not known: give --kv",
		               m->name, m->kv_words);
	if (!(how->quant = s->quant ? scheme_find(s->quant, e) : m->scheme))
		return -1;
	how->kv = m->dtype;
	if (s->kv || m->kv)
		how->kv = scheme_kv(s->kv ? s->kv : m->kv, e);
	return how->kv == DT_NONE ? -1 : 0;
}

int workload_how(const struct model *m, const struct workload_spec *s, enum build_style style, struct build_how *how,
                 struct err *e)
{
	struct chosen x;

	if (choices(s, style, &x, e) < 0)
		return -1;
	*how = (struct build_how){ .phase = (enum build_phase)x.phase,
		                   .style = (enum build_style)x.style,
		                   .attend = (enum attend_way)(x.attend + 1),
		                   .batch = s->batch ? (uint32_t)s->batch : 1,
		                   .context = s->context                ? s->context
		                              : x.phase == BUILD_DECODE ? WORKLOAD_CONTEXT
		                                                        : 0,
		                   .tokens = s->tokens                  ? s->tokens
		                             : x.phase == BUILD_PREFILL ? WORKLOAD_PROMPT
		                                                        : 1,
		                   .layers = (uint32_t)s->layers,
		                   .experts = (uint32_t)s->experts,
		                   .micro = (uint32_t)s->micro,
		                   .part_norms = x.norms == 1,
		                   .image = (uint32_t)s->image };
	if (found(s, e) < 0 || splits(s, how, e) < 0 || skew(s->skew, &how->skew, e) < 0)
		return -1;
	return scheme(m, s, how, e);
}

/* --- what is said of it ------------------------------------------------------------------------------------ */

/* SAM: single kernels of it were counted, no step (workloads/README.md). Linear attention: no step of such a model at hand. */
const char *workload_unknown(const struct model *m, const struct build_how *how, bool gpu)
{
	const struct build_split x = build_split_of(how);

	if (how->phase == BUILD_VISION)
		return "SAM: its windows, relative positions and neck";
	if (model_has_states(m))
		return "layers with a state in place of keys: their convolution and their state";
	if (gpu && how->phase == BUILD_PREFILL && m->mla.kv_rank)
		return "attention over an expanded latent";
	if (build_split_chips(&x) > 1)
		return "a step over several chips: collectives alone were, on H200 and A100";
	return NULL;
}

struct workload_part workload_part(const struct workload *w)
{
	struct workload_part p = { .layers = 0 };

	if (w->model && w->how.layers && w->how.layers < w->model->layers) {
		p.layers = w->how.layers;
		p.of_layers = w->model->layers;
	}
	if (w->model && w->how.experts && w->how.experts < w->model->moe.experts) {
		p.experts = w->how.experts;
		p.of_experts = w->model->moe.experts;
	}
	return p;
}

bool workload_is_part(const struct workload_part *p)
{
	return p->layers || p->experts;
}

void workload_part_text(const struct workload_part *p, struct str *out)
{
	if (p->layers)
		str_addf(out, "%" PRIu64 " of %" PRIu64 " layers", p->layers, p->of_layers);
	if (p->experts)
		str_addf(out, "%s%" PRIu64 " of %" PRIu64 " experts", p->layers ? ", " : "", p->experts, p->of_experts);
}

void workload_how_text(const struct build_how *how, struct str *out)
{
	const struct build_split x = build_split_of(how);

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
	if (x.tp > 1)
		str_addf(out, ", a chip of %u that share each layer", x.tp);
	if (how->part_norms)
		str_add(out, ", norms of a part of the rows");
	if (x.ep > 1)
		str_addf(out, ", experts on %u chips", x.ep);
	if (x.dp > 1)
		str_addf(out, ", %u replicas", x.dp);
	if (x.pp > 1)
		str_addf(out, ", %u stages for %u micro-batch%s of %u", x.pp, x.micro, x.micro > 1 ? "es" : "",
		         x.batch);
	if (how->skew)
		str_addf(out, ", picks skewed by %g", how->skew / 1000.0);
}
