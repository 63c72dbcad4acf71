/* model_place.c - a checkpoint's formats at the model's own weights: which of a file's patterns is about which of them.
 *
 * Every class of weights in a layer has names in the checkpoints of the tools there are; a pattern is about the class where it
 * matches one of these. Patterns are of three kinds: a regular expression ("re:..."), a name with '*', and parts of a name
 * ("lm_head", "model.layers.3.mlp"), which match at dots. All experts of a layer are taken to be alike: the first speaks. */
#define _POSIX_C_SOURCE 200809L
#include <fnmatch.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/str.h"
#include "workloads/model/model_quant.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Where a name stands: outside layers; in layers of attention or of a state, with a dense MLP or with experts. */
enum { OUTSIDE = 1, ATTENTION = 2, LINEAR = 4, DENSE = 8, EXPERTS = 16 };

static const struct {
	enum scheme_class class;
	unsigned where;
	const char *name;
} modules[] = {
	{ SCHEME_EMBED, OUTSIDE, "embed_tokens" },
	{ SCHEME_HEAD, OUTSIDE, "lm_head" },
	{ SCHEME_ATTENTION, ATTENTION, "self_attn.q_proj" },
	{ SCHEME_ATTENTION, ATTENTION, "self_attn.qkv_proj" },
	{ SCHEME_ATTENTION, ATTENTION, "self_attn.q_b_proj" },
	{ SCHEME_ATTENTION, ATTENTION, "attention.wq" },
	{ SCHEME_ATTENTION, ATTENTION, "mixer.q_proj" },
	{ SCHEME_LATENT, ATTENTION, "self_attn.kv_a_proj_with_mqa" },
	{ SCHEME_LATENT, ATTENTION, "self_attn.fused_qkv_a_proj" },
	{ SCHEME_KV_B, ATTENTION, "self_attn.kv_b_proj" },
	{ SCHEME_VALUE, ATTENTION, "self_attn.v_proj" },
	{ SCHEME_VALUE, ATTENTION, "self_attn.qkv_proj" },
	{ SCHEME_VALUE, ATTENTION, "attention.wv" },
	{ SCHEME_VALUE, ATTENTION, "mixer.v_proj" },
	{ SCHEME_OUT, ATTENTION, "self_attn.o_proj" },
	{ SCHEME_OUT, ATTENTION, "attention.wo" },
	{ SCHEME_OUT, ATTENTION, "mixer.o_proj" },
	{ SCHEME_ATTENTION, LINEAR, "linear_attn.in_proj_qkvz" },
	{ SCHEME_ATTENTION, LINEAR, "linear_attn.in_proj_qkv" },
	{ SCHEME_ATTENTION, LINEAR, "mixer.in_proj" },
	{ SCHEME_ATTENTION, LINEAR, "mamba.in_proj" },
	{ SCHEME_OUT, LINEAR, "linear_attn.out_proj" },
	{ SCHEME_OUT, LINEAR, "mixer.out_proj" },
	{ SCHEME_OUT, LINEAR, "mamba.out_proj" },
	{ SCHEME_MLP, DENSE, "mlp.gate_proj" },
	{ SCHEME_MLP, DENSE, "mlp.up_proj" },
	{ SCHEME_MLP, DENSE, "mlp.gate_up_proj" },
	{ SCHEME_MLP, DENSE, "feed_forward.w1" },
	{ SCHEME_MLP, DENSE, "mixer.up_proj" },
	{ SCHEME_DOWN, DENSE, "mlp.down_proj" },
	{ SCHEME_DOWN, DENSE, "feed_forward.w2" },
	{ SCHEME_DOWN, DENSE, "mixer.down_proj" },
	{ SCHEME_MLP, EXPERTS, "mlp.shared_experts.up_proj" },
	{ SCHEME_MLP, EXPERTS, "mlp.shared_expert.up_proj" },
	{ SCHEME_MLP, EXPERTS, "mlp.shared_experts.gate_up_proj" },
	{ SCHEME_MLP, EXPERTS, "mixer.shared_experts.up_proj" },
	{ SCHEME_DOWN, EXPERTS, "mlp.shared_experts.down_proj" },
	{ SCHEME_DOWN, EXPERTS, "mlp.shared_expert.down_proj" },
	{ SCHEME_DOWN, EXPERTS, "mixer.shared_experts.down_proj" },
	{ SCHEME_EXPERT, EXPERTS, "mlp.experts.0.up_proj" },
	{ SCHEME_EXPERT, EXPERTS, "mlp.experts.0.gate_proj" },
	{ SCHEME_EXPERT, EXPERTS, "mlp.experts.gate_up_proj" },
	{ SCHEME_EXPERT, EXPERTS, "block_sparse_moe.experts.0.w1" },
	{ SCHEME_EXPERT, EXPERTS, "feed_forward.experts.gate_up_proj" },
	{ SCHEME_EXPERT, EXPERTS, "feed_forward.experts.0.up_proj" },
	{ SCHEME_EXPERT, EXPERTS, "mixer.experts.0.up_proj" },
	{ SCHEME_EXPERT, EXPERTS, "mlp.switch_mlp.up_proj" },
	{ SCHEME_EXPERT_DOWN, EXPERTS, "mlp.experts.0.down_proj" },
	{ SCHEME_EXPERT_DOWN, EXPERTS, "mlp.experts.down_proj" },
	{ SCHEME_EXPERT_DOWN, EXPERTS, "block_sparse_moe.experts.0.w2" },
	{ SCHEME_EXPERT_DOWN, EXPERTS, "feed_forward.experts.down_proj" },
	{ SCHEME_EXPERT_DOWN, EXPERTS, "feed_forward.experts.0.down_proj" },
	{ SCHEME_EXPERT_DOWN, EXPERTS, "mixer.experts.0.down_proj" },
	{ SCHEME_EXPERT_DOWN, EXPERTS, "mlp.switch_mlp.down_proj" },
	{ SCHEME_ROUTER, EXPERTS, "mlp.gate" },
	{ SCHEME_ROUTER, EXPERTS, "mlp.router" },
	{ SCHEME_ROUTER, EXPERTS, "block_sparse_moe.gate" },
};

/* What stands before "layers" and "lm_head". */
static const char *const prefixes[] = { "model.", "", "model.language_model.", "language_model.model.", "backbone." };

int model_quant_words(struct model_quant *q, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (!*q->words)
		vsnprintf(q->words, sizeof q->words, fmt, args);
	va_end(args);
	return -1;
}

/* --- formats ------------------------------------------------------------------------------------------------------ */

static enum dtype dtype_of(const struct stored *s)
{
	if (s->real)
		return s->bits <= 4 ? DT_FP4 : DT_FP8;
	return s->bits <= 4 ? DT_INT4 : DT_INT8;
}

/* As streams say it, where they have the very layout. */
static enum quant stream_quant(const struct scheme_format *f)
{
	if (!f->block)
		return f->dtype == DT_FP8 ? QUANT_FP8 : f->dtype == DT_INT8 ? QUANT_INT8 : QUANT_AS_TRACED;
	for (int i = QUANT_AS_TRACED + 1; i < QUANT_COUNT; i++)
		if (f->block == quant_group((enum quant)i) && f->dtype == quant_dtype((enum quant)i) &&
		    f->block_bits == 8 * quant_bytes((enum quant)i, f->block, f->block))
			return (enum quant)i;
	return QUANT_AS_TRACED;
}

static struct scheme_format format_of(const struct stored *s)
{
	struct scheme_format f = { .name = "own", .dtype = s->bits ? dtype_of(s) : DT_NONE };
	const uint32_t more = s->scale_bits + s->zero_bits;

	if (!s->bits)
		return f;
	if (s->group == STORED_TILE)
		f.tile_bytes = more / 8;
	else if (s->group == STORED_ROW)
		f.row_bytes = more / 8;
	if (s->group && s->group < STORED_ROW) {
		f.block = s->group;
		f.block_bits = s->group * s->bits + more;
	} else if (s->bits != dtype_bits(f.dtype)) {
		f.block = 32;
		f.block_bits = 32 * s->bits;
	}
	f.stored = stream_quant(&f);
	return f;
}

static bool same_format(const struct scheme_format *a, const struct scheme_format *b)
{
	return a->dtype == b->dtype && a->block == b->block && a->block_bits == b->block_bits &&
	       a->row_bytes == b->row_bytes && a->tile_bytes == b->tile_bytes;
}

static const struct scheme_format *kept_format(struct model_quant *q, const struct stored *s)
{
	const struct scheme_format f = format_of(s);

	for (size_t i = 0; i < q->n_formats; i++)
		if (same_format(&q->formats[i], &f))
			return &q->formats[i];
	if (q->n_formats == QUANT_FORMATS) {
		model_quant_words(q, "more than %d formats", QUANT_FORMATS);
		return &q->formats[0];
	}
	q->formats[q->n_formats] = f;
	return &q->formats[q->n_formats++];
}

/* --- patterns ------------------------------------------------------------------------------------------------------ */

/* Parts of a name that match at dots: "lm_head" of "model.lm_head", "self_attn" of "self_attn.q_proj". */
static bool is_part(const char *name, const char *part, size_t n)
{
	for (const char *at = name; (at = strstr(at, part)); at++)
		if ((at == name || at[-1] == '.') && (!at[n] || at[n] == '.'))
			return true;
	return false;
}

/* POSIX has no \d, no lazy repetition, no group that is not kept; the expression starts where the name does. */
static int compile(const char *pattern, regex_t *to)
{
	struct str s = STR_INIT;
	int rc;

	str_add(&s, "^(");
	for (const char *p = pattern; *p; p++) {
		if (str_prefix(p, "\\d"))
			str_add(&s, "[0-9]");
		else if (str_prefix(p, "\\w"))
			str_add(&s, "[A-Za-z0-9_]");
		else if (str_prefix(p, "(?:"))
			str_add(&s, "(");
		else if ((*p == '*' || *p == '+') && p[1] == '?')
			str_addf(&s, "%c", *p);
		else
			str_addf(&s, "%c", *p);
		p += str_prefix(p, "\\d") || str_prefix(p, "\\w") || ((*p == '*' || *p == '+') && p[1] == '?') ? 1 : 0;
		p += str_prefix(p, "(?:") ? 2 : 0;
	}
	str_add(&s, ")");
	rc = s.failed ? -1 : regcomp(to, str_c(&s), REG_EXTENDED | REG_NOSUB);
	str_free(&s);
	return rc;
}

struct matcher {
	const struct quant_rule *rule;
	const regex_t *regex; /* NULL: none */
	char part[256];       /* of a name: without what stands before "layers", its layer's number, its ending */
	bool wild;
	long layer; /* -1: of any */
};

static bool matches_full(const struct matcher *x, const char *name)
{
	return x->regex ? regexec(x->regex, name, 0, NULL, 0) == 0 : fnmatch(x->rule->pattern, name, 0) == 0;
}

/* `name` stands in a layer; -1: in none. */
static bool matches(const struct matcher *x, const char *name, int32_t layer)
{
	char full[320];

	/* MLX's own name of experts, which no other tool's pattern is about. */
	if ((x->regex || x->wild) && strstr(name, "switch_mlp"))
		return false;
	if (!x->regex && !x->wild)
		return x->layer < 0 ? *x->part && is_part(name, x->part, strlen(x->part))
		                    : x->layer == layer && (!*x->part || is_part(name, x->part, strlen(x->part)));
	for (size_t i = 0; i < COUNT(prefixes); i++) {
		if (layer < 0)
			snprintf(full, sizeof full, "%s%s", prefixes[i], name);
		else
			snprintf(full, sizeof full, "%slayers.%d.%s", prefixes[i], (int)layer, name);
		if (matches_full(x, full))
			return true;
	}
	return false;
}

/* Whether a name before its "layers" is of an encoder or of what predicts further tokens. */
static bool is_elsewhere(const char *pattern, const char *layers)
{
	static const char *const others[] = { "vis", "audio", "encoder", "tower", "mtp" };

	for (size_t i = 0; i < COUNT(others); i++) {
		const char *at = strstr(pattern, others[i]);

		if (at && at < layers)
			return true;
	}
	return false;
}

/* "model.layers.3.mlp.experts.0.up_proj.weight" -> layer 3, "mlp.experts.0.up_proj". */
static void split_name(struct matcher *x, const char *pattern)
{
	static const char layers[] = "layers.";
	const char *at = strstr(pattern, layers);
	char *end;
	size_t n;

	if (at && is_elsewhere(pattern, at)) {
		x->layer = MODEL_MAX_LAYERS;
		return;
	}

	x->layer = -1;
	if (at && at[sizeof layers - 1] >= '0' && at[sizeof layers - 1] <= '9') {
		x->layer = strtol(at + sizeof layers - 1, &end, 10);
		pattern = *end == '.' ? end + 1 : end;
	} else {
		for (size_t i = 0; i < COUNT(prefixes); i++)
			if (*prefixes[i] && str_prefix(pattern, prefixes[i])) {
				pattern += strlen(prefixes[i]);
				break;
			}
	}
	snprintf(x->part, sizeof x->part, "%s", pattern);
	n = strlen(x->part);
	if (n > 7 && strcmp(x->part + n - 7, ".weight") == 0)
		x->part[n - 7] = '\0';
	else if (n && x->part[n - 1] == '.')
		x->part[n - 1] = '\0';
}

/* --- a table -------------------------------------------------------------------------------------------------------- */

static unsigned where_of(const struct model *m, uint32_t layer)
{
	const bool experts = model_has_experts(m, layer);

	return (m->layer[layer] == MODEL_LINEAR ? LINEAR : ATTENTION) | (experts ? EXPERTS : DENSE) |
	       (experts && m->arch->both ? DENSE : 0);
}

static void put_layer(const struct model *m, const struct matcher *x, struct scheme_at at, int32_t layer,
                      struct model_quant *q)
{
	const unsigned where = layer < 0 ? OUTSIDE : where_of(m, (uint32_t)layer);

	for (size_t i = 0; i < COUNT(modules); i++)
		if ((modules[i].where & where) && matches(x, modules[i].name, layer))
			q->at[layer + 1][modules[i].class] = at;
}

static int put_rule(const struct model *m, const struct quant_rule *rule, struct model_quant *q)
{
	struct matcher x = { .rule = rule, .wild = strchr(rule->pattern, '*') != NULL };
	const struct scheme_at at = { kept_format(q, &rule->stored), rule->stored.math };
	regex_t regex;

	if (rule->match == MATCH_REGEX) {
		if (compile(rule->pattern, &regex) != 0)
			return model_quant_words(q, "the pattern '%.100s'", rule->pattern);
		x.regex = &regex;
	} else if (!x.wild) {
		split_name(&x, rule->pattern);
	}
	if (!x.regex && !x.wild && x.layer >= 0) {
		if (x.layer < (long)m->layers)
			put_layer(m, &x, at, (int32_t)x.layer, q);
	} else {
		for (int32_t i = -1; i < (int32_t)m->layers; i++)
			put_layer(m, &x, at, i, q);
	}
	if (x.regex)
		regfree(&regex);
	return *q->words ? -1 : 0;
}

static void put_all(const struct model *m, const struct quant_rules *r, struct model_quant *q)
{
	static const enum quant_cover from[SCHEME_CLASSES] = {
		[SCHEME_EMBED] = COVER_EMBED,      [SCHEME_HEAD] = COVER_HEAD,
		[SCHEME_EXPERT] = COVER_EXPERTS,   [SCHEME_EXPERT_DOWN] = COVER_EXPERTS,
		[SCHEME_ATTENTION] = COVER_LAYERS, [SCHEME_LATENT] = COVER_LAYERS,
		[SCHEME_KV_B] = COVER_LAYERS,      [SCHEME_VALUE] = COVER_LAYERS,
		[SCHEME_OUT] = COVER_LAYERS,       [SCHEME_MLP] = COVER_LAYERS,
		[SCHEME_DOWN] = COVER_LAYERS,      [SCHEME_ROUTER] = COVER_ROUTER,
	};
	const struct stored own = { .bits = 0 };
	const struct scheme_format *plain = kept_format(q, &own), *all = kept_format(q, &r->all);

	for (uint32_t i = 0; i <= m->layers; i++)
		for (int c = 0; c < SCHEME_CLASSES; c++)
			q->at[i][c] = r->cover >= from[c] && (i > 0) == (from[c] < COVER_HEAD)
			                      ? (struct scheme_at){ all, r->all.math }
			                      : (struct scheme_at){ plain, DT_NONE };
}

/* --- its name -------------------------------------------------------------------------------------------------------- */

/* One of the named schemes, where each layer is stored as that says. */
static const struct scheme *named(const struct model *m, const struct model_quant *q)
{
	size_t n;
	const struct scheme *all = scheme_table(&n);

	for (size_t i = 0; i < n; i++) {
		bool same = true;

		for (int32_t l = -1; same && l < (int32_t)m->layers; l++)
			for (int c = 0; same && c < SCHEME_CLASSES; c++) {
				const struct scheme_at *x = &q->at[l + 1][c];
				const enum scheme_class k = (enum scheme_class)c;
				const enum dtype own = m->dtype;

				if (l < 0 && c != SCHEME_EMBED && c != SCHEME_HEAD)
					continue;
				same = same_format(x->format, scheme_format_of(&all[i], k, l, m->layers)) &&
				       (x->math ? x->math : own) == scheme_math(&all[i], k, l, own);
			}
		if (same)
			return &all[i];
	}
	return NULL;
}

static bool is_plain(const struct model *m, const struct model_quant *q)
{
	for (uint32_t i = 0; i <= m->layers; i++)
		for (int c = 0; c < SCHEME_CLASSES; c++)
			if (q->at[i][c].format->dtype != DT_NONE)
				return false;
	return true;
}

int model_place_quant(const struct model *m, const struct quant_rules *r, struct model_quant *q)
{
	const struct scheme *known;

	put_all(m, r, q);
	for (size_t i = 0; i < r->n; i++)
		if (put_rule(m, &r->rules[i], q) < 0)
			return -1;
	if (*q->words)
		return -1;
	if (is_plain(m, q))
		return model_quant_words(q, "none of its names is a weight of this model");
	if ((known = named(m, q))) {
		q->scheme = *known;
		return 0;
	}
	q->scheme = (struct scheme){ .name = q->name, .help = "as the checkpoint comes", .at = q->at[0] };
	return 0;
}
