/* build_split.c - a model over several chips: what each has of it, and the collectives between.
 *
 * Tensor parallel (M. Shoeybi et al., Megatron-LM, arXiv 1909.08053): a chip has its part of the heads, of the MLP's and every
 * expert's width, and of the vocabulary; the residual stream, norms and router are on each. What attention and MLP give is a part of
 * a sum, which an all-reduce makes whole; so is a row of the embedding. Logits are gathered. Heads of keys and values are replicated
 * where there are fewer than chips; a latent is, too.
 * Leaves out: biases behind a sum, which each chip adds here; norms of a part of the rows (sequence parallel). */
#include "sim/build/build_int.h"

static uint32_t part(uint32_t n, uint32_t chips)
{
	return n ? n < chips ? 1 : n / chips : 0;
}

const struct model *b_share(struct builder *b, const struct model *m)
{
	const uint32_t chips = b->h->tp;
	struct model *x;

	if (!split(b))
		return m;
	if (!(x = arena_alloc(b->a, sizeof *x)))
		return NULL;
	*x = *m;
	x->heads = part(m->heads, chips);
	x->kv_heads = part(m->kv_heads, chips);
	x->full_kv_heads = part(m->full_kv_heads, chips);
	x->inter = part(m->inter, chips);
	x->vocab = (m->vocab + chips - 1) / chips;
	x->moe.inter = part(m->moe.inter, chips);
	x->moe.shared_inter = part(m->moe.shared_inter, chips);
	x->linear.k_heads = part(m->linear.k_heads, chips);
	x->linear.v_heads = part(m->linear.v_heads, chips);
	return x;
}

/* Whole, or one on several chips. */
static bool parts(uint32_t n, uint32_t chips, bool replicates)
{
	return n % chips == 0 || (replicates && n && chips % n == 0);
}

int b_split_check(const struct model *m, const struct build_how *h, struct err *e)
{
	const struct {
		const char *what;
		uint32_t n;
		bool replicates;
	} all[] = {
		{ "heads", m->heads, false },
		{ "heads of keys and values", m->kv_heads, true },
		{ "heads of keys and values in full layers", m->full_kv_heads, true },
		{ "columns of its MLP", m->inter, false },
		{ "columns of an expert", m->moe.inter, false },
		{ "columns of its shared experts", m->moe.shared_inter, false },
		{ "heads of keys in linear layers", m->linear.k_heads, false },
		{ "heads of values in linear layers", m->linear.v_heads, false },
	};

	if (h->tp < 2)
		return 0;
	if (h->phase == BUILD_VISION || build_is_ggml(h->style))
		return err_set(e, ERR_USAGE, "%s %s is not split over chips, for option '--tp'",
		               h->phase == BUILD_VISION ? "phase" : "style",
		               h->phase == BUILD_VISION ? "vision" : build_style_name(h->style));
	if (m->arch->wide_norms)
		return err_set(
			e, ERR_USAGE,
			"model '%s' norms all heads together, which chips that share them cannot, for option '--tp'",
			m->name);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!parts(all[i].n, h->tp, all[i].replicates))
			return err_set(e, ERR_USAGE,
			               "model '%s' has %u %s, which %u chips cannot share, for option '--tp'", m->name,
			               all[i].n, all[i].what, h->tp);
	return 0;
}

/* `elems`: of the message, or gathered. */
static uint32_t collective(struct builder *b, enum bop what, uint32_t x, uint64_t elems)
{
	const enum dtype d = b_tensor(b, x)->dtype;
	struct op *o = b_op(b, what, d, d);
	uint32_t y;

	o->shape = (struct op_shape){ .elems = elems, .peers = b->h->tp };
	y = b_make(b, d, elems);
	b_read(b, all_of(x));
	b_write(b, all_of(y));
	return y;
}

uint32_t b_summed(struct builder *b, uint32_t x, uint64_t elems)
{
	return split(b) ? collective(b, B_ALL_REDUCE, x, elems) : x;
}

uint32_t b_gathered(struct builder *b, uint32_t x, uint64_t elems)
{
	return split(b) ? collective(b, B_ALL_GATHER, x, elems) : x;
}
