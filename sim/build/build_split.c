/* build_split.c - a model over several chips: what each has of it, and the collectives between.
 *
 * Tensor parallel (M. Shoeybi et al., Megatron-LM, arXiv 1909.08053): a chip has its part of the heads, of the MLP's and every
 * expert's width, and of the vocabulary; the residual stream, norms and router are on each. What attention and MLP give is a part of
 * a sum, which an all-reduce makes whole; so is a row of the embedding. Logits are gathered. Heads of keys and values are replicated
 * where there are fewer than chips; a latent is, too. With norms of a part (V. Korthikanti et al., arXiv 2205.05198) a
 * reduce-scatter leaves each chip its rows, which are gathered behind the norm.
 * Replicas (dp) have sequences of their own and know nothing of each other, but for experts.
 * Experts (ep) are on a chip whole: of one replica on a part of its chips, whose all-reduce sums them up; of several on all chips
 * of all replicas, which send tokens there and back (all-to-all), a row a pick; chips of a replica send a part of its rows each.
 * With skew the stream is that of the fullest chip, for which the others wait: the experts are dealt out in turn.
 * Pipelines (pp): a stage has its part of the layers, the first ones one more; the first has the embedding, the last the head.
 * Leaves out: biases behind a sum, which each chip adds here; even picks that fall unevenly by chance. */
#include <inttypes.h>

#include "sim/build/build_int.h"

static uint32_t part(uint32_t n, uint32_t chips)
{
	return n ? n < chips ? 1 : n / chips : 0;
}

static uint32_t or_one(uint32_t n)
{
	return n ? n : 1;
}

/* As many micro-batches as there are stages keep all of them busy; fewer where they would not be alike. */
static uint32_t micro_of(uint32_t batch, uint32_t stages)
{
	uint32_t n = stages < batch ? stages : or_one(batch);

	while (n > 1 && batch % n)
		n--;
	return n;
}

struct build_split build_split_of(const struct build_how *h)
{
	struct build_split x = { .tp = or_one(h->tp), .pp = or_one(h->pp), .ep = or_one(h->ep), .dp = h->dp };

	if (!x.dp)
		x.dp = x.ep > x.tp ? x.ep / x.tp : 1;
	x.batch = h->batch / x.dp;
	x.micro = h->micro ? h->micro : micro_of(x.batch, x.pp);
	x.batch /= x.micro;
	x.across = x.ep > 1 && x.dp > 1;
	return x;
}

/* Chips that share the width of an expert. */
static uint32_t expert_chips(const struct build_split *x)
{
	return x->across ? 1 : x->tp / x->ep;
}

const struct model *b_share(struct builder *b, const struct model *m)
{
	const uint32_t chips = b->split.tp;
	struct model *x;

	if (chips < 2)
		return m;
	if (!(x = arena_alloc(b->a, sizeof *x)))
		return NULL;
	*x = *m;
	x->heads = part(m->heads, chips);
	x->kv_heads = part(m->kv_heads, chips);
	x->full_kv_heads = part(m->full_kv_heads, chips);
	x->inter = part(m->inter, chips);
	x->vocab = (m->vocab + chips - 1) / chips;
	x->moe.inter = part(m->moe.inter, expert_chips(&b->split));
	x->moe.shared_inter = part(m->moe.shared_inter, chips);
	x->linear.k_heads = part(m->linear.k_heads, chips);
	x->linear.v_heads = part(m->linear.v_heads, chips);
	return x;
}

/* --- can it be split ------------------------------------------------------------------------------------------------ */

/* Whole, or one on several chips. */
static bool parts(uint32_t n, uint32_t chips, bool replicates)
{
	return n % chips == 0 || (replicates && n && chips % n == 0);
}

static int check_width(const struct model *m, const struct build_split *x, struct err *e)
{
	const struct {
		const char *what;
		uint32_t n, chips;
		bool replicates;
	} all[] = {
		{ "heads", m->heads, x->tp, false },
		{ "heads of keys and values", m->kv_heads, x->tp, true },
		{ "heads of keys and values in full layers", m->full_kv_heads, x->tp, true },
		{ "columns of its MLP", m->inter, x->tp, false },
		{ "columns of an expert", m->moe.inter, expert_chips(x), false },
		{ "columns of its shared experts", m->moe.shared_inter, x->tp, false },
		{ "heads of keys in linear layers", m->linear.k_heads, x->tp, false },
		{ "heads of values in linear layers", m->linear.v_heads, x->tp, false },
	};

	if (x->tp > 1 && m->arch->ssm)
		return err_set(
			e, ERR_USAGE,
			"model '%s' has layers with a state, which is not shared by chips here, for option '--tp'",
			m->name);
	if (x->tp > 1 && m->arch->wide_norms)
		return err_set(
			e, ERR_USAGE,
			"model '%s' norms all heads together, which chips that share them cannot, for option '--tp'",
			m->name);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!parts(all[i].n, all[i].chips, all[i].replicates))
			return err_set(e, ERR_USAGE,
			               "model '%s' has %u %s, which %u chips cannot share, for option '--tp'", m->name,
			               all[i].n, all[i].what, all[i].chips);
	return 0;
}

static int check_experts(const struct model *m, const struct build_how *h, const struct build_split *x, struct err *e)
{
	const uint32_t experts = h->experts ? h->experts : m->moe.experts, all = x->tp * x->dp;

	if (x->ep < 2)
		return 0;
	if (!m->moe.experts)
		return err_set(e, ERR_USAGE, "model '%s' has no experts, for option '--ep'", m->name);
	if (x->across ? x->ep != all : x->tp % x->ep)
		return err_set(e, ERR_USAGE,
		               "experts on %u chips, and a stage has %u: several replicas' experts are on all of its"
		               " chips, one's on a part that divides them, for option '--ep'",
		               x->ep, all);
	if (experts % x->ep)
		return err_set(e, ERR_USAGE,
		               "model '%s' has %u experts a layer, which do not come out even on %u chips, for option"
		               " '--ep'",
		               m->name, experts, x->ep);
	if (x->across && h->style != BUILD_FUSED && h->style != BUILD_NPU)
		return err_set(e, ERR_USAGE,
		               "style %s sends no tokens to other chips' experts, for option '--ep': fused and npu do",
		               build_style_name(h->style));
	return 0;
}

static int check_batch(const struct model *m, const struct build_how *h, const struct build_split *x, struct err *e)
{
	const uint32_t layers = h->layers ? h->layers : m->layers, own = h->batch / x->dp;

	if (x->pp > layers)
		return err_set(e, ERR_USAGE, "%u stages for %u layers: one each is the most, for option '--pp'", x->pp,
		               layers);
	if (h->phase == BUILD_STEP && (x->pp > 1 || x->dp > 1))
		return err_set(e, ERR_USAGE,
		               "a server's step has no stages and no replicas: tp alone, and its experts");
	if (h->micro > 1 && x->pp < 2)
		return err_set(e, ERR_USAGE, "micro-batches are of a pipeline (--pp), for option '--micro'");
	if (h->phase != BUILD_STEP && h->batch % x->dp)
		return err_set(e, ERR_USAGE, "%u replicas cannot have a batch of %u alike: --batch %u is the nearest",
		               x->dp, h->batch, (h->batch / x->dp + 1) * x->dp);
	if (h->micro > 1 && own % h->micro)
		return err_set(e, ERR_USAGE, "a batch of %u is not %u like micro-batches, for option '--micro': %u are",
		               own, h->micro, micro_of(own, h->micro));
	return 0;
}

int b_split_check(const struct model *m, const struct build_how *h, struct err *e)
{
	const struct build_split x = build_split_of(h);
	const char *option = x.tp > 1 ? "tp" : x.pp > 1 ? "pp" : x.ep > 1 ? "ep" : x.dp > 1 ? "dp" : NULL;

	if (h->part_norms && x.tp < 2)
		return err_set(e, ERR_USAGE,
		               "norms of a part of the rows are of chips that share layers (--tp), for"
		               " option '--norms'");
	if (!option)
		return check_batch(m, h, &x, e);
	if (h->phase == BUILD_VISION || build_is_ggml(h->style))
		return err_set(e, ERR_USAGE, "%s %s is not split over chips, for option '--%s'",
		               h->phase == BUILD_VISION ? "phase" : "style",
		               h->phase == BUILD_VISION ? "vision" : build_style_name(h->style), option);
	if (build_split_chips(&x) > BUILD_MAX_CHIPS)
		return err_set(e, ERR_USAGE, "%" PRIu64 " chips are more than %d, for option '--%s'",
		               build_split_chips(&x), BUILD_MAX_CHIPS, option);
	return check_experts(m, h, &x, e) < 0 || check_width(m, &x, e) < 0 ? -1 : check_batch(m, h, &x, e);
}

/* --- collectives ---------------------------------------------------------------------------------------------------- */

/* `shape.elems`: of the message, or gathered; `to`: of what comes of it here, 0: nothing does. */
static uint32_t collective(struct builder *b, enum bop what, uint32_t x, struct op_shape shape, uint64_t to)
{
	const enum dtype d = b_tensor(b, x)->dtype;
	uint32_t y = x;

	b_op(b, what, d, d)->shape = shape;
	b_read(b, all_of(x));
	if (to) {
		y = b_make(b, d, to);
		b_write(b, all_of(y));
	}
	return y;
}

uint32_t b_summed(struct builder *b, uint32_t x)
{
	const uint64_t hidden = b->m->hidden;

	if (b->split.tp < 2)
		return x;
	return collective(b, b->h->part_norms ? B_REDUCE_SCATTER : B_ALL_REDUCE, x,
	                  (struct op_shape){ .elems = b->rows * hidden, .peers = b->split.tp }, b->own_rows * hidden);
}

uint32_t b_whole(struct builder *b, uint32_t x)
{
	return b->h->part_norms ? b_gathered(b, x, b->rows * b->m->hidden) : x;
}

uint32_t b_gathered(struct builder *b, uint32_t x, uint64_t elems)
{
	if (b->split.tp < 2)
		return x;
	return collective(b, B_ALL_GATHER, x, (struct op_shape){ .elems = elems, .peers = b->split.tp }, elems);
}

uint32_t b_exchanged(struct builder *b, uint32_t x, uint64_t elems, uint64_t to)
{
	return collective(b, B_ALL_TO_ALL, x, (struct op_shape){ .elems = elems, .peers = b->split.ep }, to);
}

void b_send(struct builder *b, uint32_t x, uint64_t elems, uint32_t stages)
{
	const uint32_t hop = stages * b->split.tp * b->split.dp;

	collective(b, B_SEND, x, (struct op_shape){ .elems = elems, .peers = 2, .hop = hop }, 0);
}
