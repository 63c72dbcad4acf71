/* align.c - the alignment as a whole: what can be tried, in which order, and whether it is enough. */
#include "sim/align/align.h"

#include <inttypes.h>
#include <string.h>

#include "sim/align/align_int.h"
#include "workloads/shape.h"

static uint32_t thousandths(uint64_t part, uint64_t all)
{
	return all ? (uint32_t)(part * 1000 / all) : 0;
}

uint32_t align_share(const struct align_report *r)
{
	const uint32_t count = thousandths(r->aligned, r->launches), time = thousandths(r->aligned_ns, r->ns),
		       places = thousandths(r->products, r->products + r->empty_places);
	const uint32_t least = count < time ? count : time;

	return least < places ? least : places;
}

bool align_enough(const struct align_report *r)
{
	return align_share(r) >= 10 * ALIGN_LEAST_PCT && r->tiles >= 10 * ALIGN_TILES_PCT &&
	       (r->logits_agree || !r->logits_differ);
}

static int describable(const struct model *m, struct err *e)
{
	const char *what = NULL;

	for (uint32_t i = 0; i < m->layers && !what; i++)
		what = !model_has_keys(m, i) ? "layers without attention" : NULL;
	if (m->moe.experts && (m->moe.shared_inter || m->arch->both))
		what = "a block beside its picked experts";
	if (m->mla.kv_rank)
		what = "latent attention";
	if (m->block == MODEL_BEHIND || m->block == MODEL_PARALLEL || m->block == MODEL_PARALLEL_TWO ||
	    m->arch->layer_norm)
		what = "no RMS norm before each block";
	if (m->no_rope)
		what = "no rotary positions";
	if (m->arch->plain_mlp)
		what = "MLPs without a gate";
	if (what)
		return err_set(e, ERR_USAGE, "kernels cannot be laid over '%s', which has %s", m->name, what);
	if (!m->layers || !m->hidden || !m->heads || !m->head_dim || !m->vocab ||
	    (m->moe.experts ? !m->moe.top || !m->moe.inter : !m->inter))
		return err_set(e, ERR_CONFIG, "model '%s' does not say all its sizes", m->name);
	return 0;
}

/* No tensor of the step may have more elements than an operator's shape may say. */
static int sizes_hold(const struct align *al)
{
	const struct model *m = al->m;
	uint64_t n = al->batch, widest = m->vocab;

	for (uint32_t i = 0; i < m->layers; i++) {
		const struct model_heads h = model_heads_of(m, i);
		const uint64_t row = (uint64_t)h.heads * (h.dim > h.v_dim ? h.dim : h.v_dim);

		widest = row > widest ? row : widest;
	}
	widest = 2 * (uint64_t)m->inter > widest ? 2 * (uint64_t)m->inter : widest;
	if (m->moe.experts) {
		const uint64_t picks = (uint64_t)m->moe.top * (2 * (uint64_t)m->moe.inter + m->hidden);

		widest = picks > widest ? picks : widest;
	}
	if (al->batch > ALIGN_MOST_BATCH || al->keys > ALIGN_MOST_KEYS || __builtin_mul_overflow(n, al->keys + 1, &n) ||
	    __builtin_mul_overflow(n, widest, &n) || n > SHAPE_MAX_ELEMS)
		return err_set(al->e, ERR_USAGE,
		               "%" PRIu64 " sequences of %" PRIu64 " keys are more than a step may have (%d, %d)",
		               al->batch, al->keys, ALIGN_MOST_BATCH, ALIGN_MOST_KEYS);
	return 0;
}

static const char *form_text(struct form f, struct arena *a)
{
	return arena_printf(a, "%s, %s, %s", f.joined_qkv ? "q, k and v one product" : "q, k and v apart",
	                    f.written_out ? "attention written out" : "attention one kernel",
	                    f.joined_gate ? "gate and up one product" : "gate and up apart");
}

static void align_count(struct align *al)
{
	struct align_report *r = al->rep;
	uint64_t heads = 0, downs = 0;

	for (size_t i = 0; i < al->t->n_launches; i++) {
		if (al->at[i] == NO_PLACE)
			continue;
		r->products++;
		heads += al->places[al->at[i]].role == AT_HEAD;
		downs += al->places[al->at[i]].role == AT_DOWN || al->places[al->at[i]].role == AT_EXPERTS_DOWN;
	}
	r->steps = heads ? heads : downs / al->m->layers;
	r->batch = al->batch;
	r->keys = al->keys;
	if (!(r->form = form_text(al->form, al->a)))
		r->form = "";
}

int align_trace(struct trace *t, const struct model *m, const struct align_how *h, struct rules *r, struct arena *a,
                struct align_report *out, struct err *e)
{
	struct align al = {
		.t = t, .m = m, .rules = r, .a = a, .e = e, .rep = out, .batch = h->batch, .keys = h->context
	};
	uint32_t cost;

	*out = (struct align_report){ .model = m->name, .batch_known = h->batch ? ALIGN_TOLD : ALIGN_BY_GRID };
	if (describable(m, e) < 0)
		return -1;
	if (h->batch > ALIGN_MOST_BATCH || h->context > ALIGN_MOST_KEYS)
		return err_set(e, ERR_USAGE, "a step has %d sequences and %d keys at the most", ALIGN_MOST_BATCH,
		               ALIGN_MOST_KEYS);
	if (align_names(&al) < 0)
		return -1;
	align_batch(&al);
	if (!al.batch)
		return err_set(
			e, ERR_USAGE,
			"no number of sequences of '%s' agrees with the grids of its kernels: if it is this model,"
			" say how many, by '--batch'",
			m->name);
	if (align_lay(&al, &cost) < 0)
		return -1;
	align_keys(&al);
	if (!al.keys) {
		out->keys_open = true;
		return err_set(e, ERR_USAGE, "no kernel's grid tells how long the cache was: say it, by '--context'");
	}
	if (h->timed && out->keys_known == ALIGN_TOLD)
		out->keys_known = ALIGN_BY_TIME;
	if (sizes_hold(&al) < 0 || align_walk(&al) < 0)
		return -1;
	align_count(&al);
	return 0;
}
