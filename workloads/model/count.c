/* count.c - the closed forms. Every weight is one call of `each`, with its class and extents; sums follow. */
#include "workloads/model/count.h"

#include <string.h>

/* One matrix: n rows of outputs by k, `copies` of it there, `used` of them by a token. */
struct matrix {
	enum scheme_class class;
	int32_t layer;
	uint64_t n, k, copies, used;
};
typedef void each_fn(void *arg, const struct matrix *x);

struct walk {
	const struct model *m;
	each_fn *each;
	void *arg;
	int32_t layer;
};

static void count_one(const struct walk *w, enum scheme_class c, uint64_t n, uint64_t k)
{
	if (n && k)
		w->each(w->arg, &(struct matrix){ c, w->layer, n, k, 1, 1 });
}

static void latent(const struct walk *w)
{
	const struct model *m = w->m;
	const struct model_mla *x = &m->mla;
	const uint64_t h = m->heads, qk = x->nope + x->rope;

	count_one(w, SCHEME_LATENT, x->q_rank, m->hidden);
	count_one(w, SCHEME_ATTENTION, h * qk, x->q_rank ? x->q_rank : m->hidden);
	count_one(w, SCHEME_LATENT, x->kv_rank + x->rope, m->hidden);
	count_one(w, SCHEME_KV_B, h * (x->nope + x->v), x->kv_rank);
	count_one(w, SCHEME_OUT, m->hidden, h * x->v);
	if (m->index.top) {
		count_one(w, SCHEME_ATTENTION, (uint64_t)m->index.heads * m->index.dim, x->q_rank);
		count_one(w, SCHEME_ATTENTION, m->index.dim, m->hidden);
		count_one(w, SCHEME_ATTENTION, m->index.heads, m->hidden);
	}
}

static void linear(const struct walk *w)
{
	const struct model_linear *x = &w->m->linear;
	const uint64_t keys = (uint64_t)x->k_heads * x->k_dim, values = (uint64_t)x->v_heads * x->v_dim;

	count_one(w, SCHEME_ATTENTION, 2 * keys + values, w->m->hidden);
	if (w->m->arch->rank_gates) {
		count_one(w, SCHEME_ATTENTION, 2 * (uint64_t)x->k_dim, w->m->hidden);
		count_one(w, SCHEME_ATTENTION, 2 * values, x->k_dim);
		count_one(w, SCHEME_ATTENTION, x->v_heads, w->m->hidden);
		count_one(w, SCHEME_OUT, w->m->hidden, values);
		return;
	}
	count_one(w, SCHEME_ATTENTION, values, w->m->hidden);
	if (!w->m->arch->plain_linear)
		count_one(w, SCHEME_ATTENTION, 2 * x->v_heads, w->m->hidden);
	count_one(w, SCHEME_OUT, w->m->hidden, values);
}

static void state_space(const struct walk *w)
{
	const struct model *m = w->m;
	const struct model_ssm *x = &m->ssm;
	const bool conv = m->arch->ssm == MODEL_SSM_CONV;

	count_one(w, SCHEME_ATTENTION, model_ssm_rows(m), m->hidden);
	if (x->by_channel) {
		count_one(w, SCHEME_ATTENTION, x->rank + 2 * (uint64_t)x->state, x->inner);
		count_one(w, SCHEME_ATTENTION, x->inner, x->rank);
	}
	count_one(w, SCHEME_OUT, m->hidden, conv ? m->hidden : x->inner);
}

/* Taps; decay, a way past the state and offset of the steps, a channel or a head each; the norm before the last product. */
static uint64_t state_space_vectors(const struct model *m)
{
	const struct model_ssm *x = &m->ssm;
	const uint64_t conv = model_ssm_width(m) * (x->conv + x->conv_bias),
		       bias = x->proj_bias ? model_ssm_rows(m) + m->hidden : 0;

	if (m->arch->ssm == MODEL_SSM_CONV)
		return conv + (x->conv_bias ? 4 * (uint64_t)m->hidden : 0);
	if (x->by_channel)
		return conv + bias + (uint64_t)x->inner * (x->state + 2) +
		       (m->arch->scan_norms ? x->rank + 2 * (uint64_t)x->state : 0);
	return conv + bias + 3 * (uint64_t)x->heads + (x->no_norm ? 0 : x->inner);
}

static void count_own_attention(const struct walk *w, uint32_t layer)
{
	const struct model *m = w->m;
	const struct model_heads h = model_heads_of(m, layer);

	if (model_has_ssm(m, layer))
		state_space(w);
	if (m->layer[layer] == MODEL_MAMBA || m->layer[layer] == MODEL_CONV) {
		return;
	} else if (m->layer[layer] == MODEL_NOTHING) {
		return;
	} else if (m->layer[layer] == MODEL_LINEAR) {
		linear(w);
	} else if (m->mla.kv_rank) {
		latent(w);
	} else {
		count_one(w, SCHEME_ATTENTION, (uint64_t)h.heads * h.dim * (m->out_gate ? 2 : 1), m->hidden);
		count_one(w, SCHEME_ATTENTION, (uint64_t)h.kv_heads * h.dim, m->hidden);
		if (!m->k_is_v || m->layer[layer] != MODEL_FULL)
			count_one(w, SCHEME_VALUE, (uint64_t)h.kv_heads * h.v_dim, m->hidden);
		count_one(w, SCHEME_OUT, m->hidden, (uint64_t)h.heads * h.v_dim);
	}
}

/* Rows of what goes into an MLP's activation: with a gate, or without. */
static uint64_t up_rows(const struct model *m, uint64_t inter)
{
	return (m->arch->plain_mlp ? 1 : 2) * inter;
}

static void experts(const struct walk *w)
{
	const struct model *m = w->m;
	const struct model_moe *x = &m->moe;

	count_one(w, SCHEME_ROUTER, x->experts, m->hidden);
	w->each(w->arg,
	        &(struct matrix){ SCHEME_EXPERT, w->layer, up_rows(m, x->inter), m->hidden, x->experts, x->top });
	w->each(w->arg, &(struct matrix){ SCHEME_EXPERT_DOWN, w->layer, m->hidden, x->inter, x->experts, x->top });
	count_one(w, SCHEME_MLP, up_rows(m, x->shared_inter), m->hidden);
	count_one(w, SCHEME_DOWN, m->hidden, x->shared_inter);
}

static void walk_layer(const struct walk *w)
{
	const struct model *m = w->m;
	const uint32_t i = (uint32_t)w->layer;

	count_own_attention(w, i);
	if (model_has_experts(m, i))
		experts(w);
	if (model_has_mlp(m, i)) {
		count_one(w, SCHEME_MLP, up_rows(m, m->inter), m->hidden);
		count_one(w, SCHEME_DOWN, m->hidden, m->inter);
	}
}

/* Every matrix of the decoder. */
static void walk(const struct model *m, each_fn *each, void *arg)
{
	struct walk w = { m, each, arg, -1 };

	for (uint32_t i = 0; i < m->layers; i++) {
		w.layer = (int32_t)i;
		walk_layer(&w);
	}
	w.layer = -1;
	count_one(&w, SCHEME_HEAD, m->vocab, m->hidden);
}

/* --- vectors: norms, biases, what else is no matrix ---------------------------------------------------------------- */

static uint64_t attention_vectors(const struct model *m, uint32_t layer)
{
	const struct model_heads h = model_heads_of(m, layer);
	const struct model_linear *l = &m->linear;
	const uint64_t q = (uint64_t)h.heads * h.dim, kv = (uint64_t)h.kv_heads * h.dim;
	uint64_t n = 0;

	if (model_has_ssm(m, layer))
		n += state_space_vectors(m);
	if (m->layer[layer] == MODEL_MAMBA || m->layer[layer] == MODEL_CONV)
		return n;
	if (m->layer[layer] == MODEL_NOTHING)
		return 0;
	if (m->layer[layer] == MODEL_LINEAR && m->arch->plain_linear)
		return (uint64_t)l->v_heads * l->v_dim;
	if (m->layer[layer] == MODEL_LINEAR) /* convolution, two gates' offsets, the norm of a head */
		return (2 * (uint64_t)l->k_heads * l->k_dim + (uint64_t)l->v_heads * l->v_dim) * l->conv +
		       (m->arch->rank_gates ? l->v_heads + (uint64_t)l->v_heads * l->v_dim : 2 * l->v_heads) + l->v_dim;
	if (m->mla.kv_rank)
		return (uint64_t)m->mla.q_rank + m->mla.kv_rank + (m->index.top ? 2 * m->index.dim : 0);
	n += m->qkv_bias ? q * (m->out_gate ? 2 : 1) + 2 * kv : 0;
	n += m->out_bias ? m->hidden : 0;
	n += m->head_norms ? 2 * (uint64_t)h.dim : 0;
	n += m->arch->wide_norms ? q + kv : 0;
	return n + (m->arch->sinks ? h.heads : 0);
}

static uint64_t router_vectors(const struct model *m)
{
	return (m->arch->score_bias ? m->moe.experts : 0) + (m->arch->expert_bias ? m->moe.experts : 0) +
	       (m->arch->shared_gate ? m->hidden : 0);
}

static uint64_t expert_vectors(const struct model *m)
{
	return m->arch->expert_bias ? 2 * (uint64_t)m->moe.inter + m->hidden : 0;
}

/* --- parameters --------------------------------------------------------------------------------------------------- */

static void add_params(void *arg, const struct matrix *x)
{
	struct model_params *p = arg;
	const uint64_t n = x->n * x->k;
	uint64_t *to[SCHEME_CLASSES] = {
		[SCHEME_ATTENTION] = &p->attention,
		[SCHEME_LATENT] = &p->attention,
		[SCHEME_KV_B] = &p->attention,
		[SCHEME_VALUE] = &p->attention,
		[SCHEME_OUT] = &p->attention,
		[SCHEME_MLP] = &p->mlp,
		[SCHEME_DOWN] = &p->mlp,
		[SCHEME_EXPERT] = &p->experts,
		[SCHEME_EXPERT_DOWN] = &p->experts,
		[SCHEME_ROUTER] = &p->router,
		[SCHEME_HEAD] = &p->head,
	};

	*to[x->class] += n * x->copies;
	p->active += n * x->used;
}

uint64_t model_sam_params(const struct model *m)
{
	const struct model_sam *s = &m->sam;
	const uint64_t w = s->width, grid = s->heads ? s->image / s->patch : 0, dim = s->heads ? w / s->heads : 0;
	uint64_t n = 3 * (uint64_t)s->patch * s->patch * w + w + grid * grid * w, from = s->neck;

	if (!w)
		return 0;
	n += s->layers * (4 * w * w + 4 * w + 2 * w * s->mlp + s->mlp + w + 4 * w);
	n += 2 * dim * ((s->layers - s->n_global) * (2 * (uint64_t)s->window - 1) + s->n_global * (2 * grid - 1));
	n += w * s->neck + 9 * (uint64_t)s->neck * s->neck + 4 * (uint64_t)s->neck;
	for (uint32_t i = 0; i < s->n_down; i++) {
		n += 9 * from * s->down[i];
		from = s->down[i];
	}
	return n;
}

uint64_t model_clip_params(const struct model *m)
{
	const struct model_clip *c = &m->clip;
	const uint64_t w = c->width, grid = c->patch ? c->image / c->patch : 0;

	if (!w)
		return 0;
	return 3 * (uint64_t)c->patch * c->patch * w + w + (grid * grid + 1) * w + 2 * w +
	       c->layers * (4 * w * w + 4 * w + 2 * w * c->mlp + c->mlp + w + 4 * w);
}

/* Marks of a picture's lines and views are two rows of the projector's output. */
static uint64_t vision_params(const struct model *m)
{
	const struct model_projector *p = &m->projector;
	uint64_t n = 0;

	for (uint32_t i = 0; i < m->n_towers; i++)
		n += m->towers[i].params;
	return m->sam.width ? n + model_sam_params(m) + model_clip_params(m) + (uint64_t)p->in * p->out +
	                              3 * (uint64_t)p->out
	                    : n;
}

static uint64_t norm_params(const struct model *m)
{
	return m->arch->bare_norm ? 0 : (m->arch->norm_bias ? 2 : 1) * (uint64_t)m->hidden;
}

/* What a layer has beside its matrices; and shared experts apart from MLPs. */
static void add_vectors(const struct model *m, uint32_t layer, struct model_params *p)
{
	static const uint64_t norms[] = { [MODEL_BEFORE] = 2,
		                          [MODEL_AROUND] = 4,
		                          [MODEL_BEHIND] = 2,
		                          [MODEL_PARALLEL] = 1,
		                          [MODEL_PARALLEL_TWO] = 2 };
	const bool experts = model_has_experts(m, layer);
	const uint64_t shared = experts ? (up_rows(m, m->moe.shared_inter) + m->moe.shared_inter) * m->hidden : 0;

	p->norms += (m->bare[layer] || m->layer[layer] == MODEL_NOTHING ? 1 : norms[m->block]) * norm_params(m);
	p->attention += attention_vectors(m, layer);
	p->shared += shared;
	p->mlp -= shared;
	if (experts) {
		p->experts += m->moe.experts * expert_vectors(m);
		p->router += router_vectors(m);
	}
	if (m->mlp_bias && model_has_mlp(m, layer))
		p->mlp += up_rows(m, m->inter) + m->hidden;
}

void model_params_of(const struct model *m, struct model_params *p)
{
	memset(p, 0, sizeof *p);
	walk(m, add_params, p);
	p->embed = (uint64_t)m->vocab * m->hidden;
	p->embed += (uint64_t)m->positions * m->hidden;
	p->norms = (m->arch->embed_norm ? 2 : 1) * norm_params(m);
	for (uint32_t i = 0; i < m->layers; i++)
		add_vectors(m, i, p);
	if (m->tied)
		p->head = 0;
	p->head += m->arch->head_bias ? m->vocab : 0;
	p->vision = vision_params(m);
	p->total =
		p->embed + p->head + p->attention + p->mlp + p->experts + p->shared + p->router + p->norms + p->vision;
}

/* Each is a layer as the last one, behind a product of the token's row and the row before it, each normed. */
uint64_t model_mtp_params(const struct model *m)
{
	struct model_params p = { 0 };
	const struct walk w = { m, add_params, &p, (int32_t)m->layers - 1 };
	const uint64_t h = m->hidden;

	walk_layer(&w);
	add_vectors(m, m->layers - 1, &p);
	return m->mtp_layers *
	       (p.attention + p.mlp + p.experts + p.shared + p.router + p.norms + 2 * h * h + 3 * norm_params(m));
}

void model_left_out_text(const struct model *m, struct str *to)
{
	for (uint32_t i = 0; i < m->n_towers; i++) {
		const struct model_tower *t = &m->towers[i];

		str_addf(to, "%s%s", i ? ", " : "", t->what);
		if (t->params)
			str_addf(to, " (%.1f M parameters)", (double)t->params / 1e6);
		else
			str_add(to, " (its parameters are not counted)");
	}
	if (m->mtp_layers)
		str_addf(to, "%s%u layer%s that predict%s further tokens (%.1f M parameters)", m->n_towers ? ", " : "",
		         m->mtp_layers, m->mtp_layers > 1 ? "s" : "", m->mtp_layers > 1 ? "" : "s",
		         (double)model_mtp_params(m) / 1e6);
}

uint64_t model_attention_params(const struct model *m, uint32_t layer)
{
	struct model_params p = { 0 };
	const struct walk w = { m, add_params, &p, (int32_t)layer };

	count_own_attention(&w, layer);
	return p.attention + attention_vectors(m, layer);
}

/* --- bytes and operations ------------------------------------------------------------------------------------------ */

struct bytes {
	const struct model *m;
	const struct scheme *q;
	uint64_t all, used, flops;
};

static void add_bytes(void *arg, const struct matrix *x)
{
	struct bytes *b = arg;
	const uint64_t n =
		scheme_bytes(scheme_format_of(b->q, x->class, x->layer, b->m->layers), b->m->dtype, x->n, x->k);

	b->all += n * x->copies;
	b->used += n * x->used;
	b->flops += 2 * x->n * x->k * x->used;
}

/* Norms, biases and encoders stay in the model's own format. A tied head is the embedding, stored as the head is. */
uint64_t model_weight_bytes(const struct model *m, const struct scheme *q)
{
	struct bytes b = { m, q, 0, 0, 0 };
	struct model_params p, matrices = { 0 };
	uint64_t embed = scheme_bytes(scheme_format_of(q, SCHEME_EMBED, -1, m->layers), m->dtype, m->vocab, m->hidden),
		 rest;

	walk(m, add_bytes, &b);
	walk(m, add_params, &matrices);
	model_params_of(m, &p);
	rest = p.total - p.embed - p.head - matrices.attention - matrices.mlp - matrices.experts - matrices.router;
	return b.all + (m->tied ? 0 : embed) + rest * dtype_bits(m->dtype) / 8;
}

uint64_t model_kv_bytes(const struct model *m, enum dtype kv)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < m->layers; i++) {
		const struct model_heads h = model_heads_of(m, i);

		if (!model_has_keys(m, i))
			continue;
		if (m->mla.kv_rank)
			n += m->mla.kv_rank + m->mla.rope;
		else
			n += (uint64_t)h.kv_heads * (h.dim + h.v_dim);
	}
	return n * dtype_bits(kv) / 8 + m->layers * model_index_row(m);
}

uint64_t model_state_bytes(const struct model *m)
{
	const struct model_linear *l = &m->linear;
	const struct model_ssm *x = &m->ssm;
	uint64_t layers = 0, ssm = 0;

	for (uint32_t i = 0; i < m->layers; i++) {
		layers += m->layer[i] == MODEL_LINEAR;
		ssm += model_has_ssm(m, i);
	}
	return ssm *
	               (model_ssm_width(m) * x->conv * dtype_bits(m->dtype) +
	                (uint64_t)x->inner * x->state * (x->wide ? 32 : dtype_bits(m->dtype))) /
	               8 +
	       layers * ((uint64_t)l->v_heads * l->k_dim * l->v_dim * 4 +
	                 (2 * (uint64_t)l->k_heads * l->k_dim + (uint64_t)l->v_heads * l->v_dim) *
	                         (l->conv ? l->conv - 1 : 0) * dtype_bits(m->dtype) / 8);
}

void model_token_of(const struct model *m, const struct scheme *q, enum dtype kv, uint64_t context,
                    struct model_token *t)
{
	struct bytes b = { m, q, 0, 0, 0 };

	memset(t, 0, sizeof *t);
	walk(m, add_bytes, &b);
	t->weight_bytes = b.used;
	t->kv_row_bytes = model_kv_bytes(m, kv);
	for (uint32_t i = 0; i < m->layers; i++) {
		const struct model_heads h = model_heads_of(m, i);
		const uint64_t keys = model_seen(m, i, context, 1).keys, rank = m->mla.kv_rank;

		if (m->layer[i] ==
		    MODEL_LINEAR) { /* keys times values, and queries times the state: three passes over it */
			t->attention_flops += 6 * (uint64_t)m->linear.v_heads * m->linear.k_dim * m->linear.v_dim;
			continue;
		}
		if (model_has_ssm(m, i))
			t->attention_flops += 6 * (uint64_t)m->ssm.inner * m->ssm.state;
		if (!model_has_keys(m, i))
			continue;
		if (rank) {
			const uint64_t read = m->index.top && m->index.top < keys ? m->index.top : keys;

			t->attention_flops += 2 * read * h.heads * (2 * rank + m->mla.rope);
			t->kv_bytes += read * (rank + m->mla.rope) * dtype_bits(kv) / 8;
			if (m->index.top) {
				t->attention_flops += 2 * keys * m->index.heads * m->index.dim;
				t->kv_bytes += keys * model_index_row(m);
			}
			continue;
		}
		t->attention_flops += 2 * keys * h.heads * (h.dim + h.v_dim);
		t->kv_bytes += keys * h.kv_heads * (h.dim + h.v_dim) * dtype_bits(kv) / 8;
	}
	t->flops = b.flops + t->attention_flops;
}
