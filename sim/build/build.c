/* build.c - a step: embedding, layers, head; and whether it can be built at all. */
#include "sim/build/build.h"

#include <inttypes.h>

#include "sim/base/hash.h"
#include "sim/build/build_int.h"
#include "workloads/place.h"

const char *build_phase_name(enum build_phase p)
{
	static const char *const names[] = { "decode", "prefill", "vision", "step" };

	return names[p];
}

const char *build_style_name(enum build_style s)
{
	static const char *const names[] = { "eager", "fused", "npu", "llamacpp", "rkllm", "llamacpp_fa" };

	return names[s];
}

uint64_t build_tokens(const struct build_how *h)
{
	uint64_t n = 0;

	if (h->phase != BUILD_STEP)
		return h->phase == BUILD_VISION ? 0 : h->batch * h->tokens;
	for (uint32_t i = 0; i < h->n_groups; i++)
		n += h->groups[i].batch * h->groups[i].tokens;
	return n;
}

/* --- can it be built ------------------------------------------------------------------------------------------------ */

/* Every convolution of the neck halves a side. */
static int check_image(const struct model *m, uint32_t image, struct err *e)
{
	const uint32_t whole = m->sam.patch << m->sam.n_down;

	if (image % whole == 0)
		return 0;
	return err_set(e, ERR_USAGE,
	               "a side of %u pixels is no multiple of %u, which model '%s' makes one token of, for option"
	               " '--image': the nearest is %u",
	               image, whole, m->name,
	               (image + whole / 2) / whole ? (image + whole / 2) / whole * whole : whole);
}

static int check_vision(const struct model *m, const struct build_how *h, struct err *e)
{
	if (!m->sam.width)
		return err_set(e, ERR_CONFIG, "model '%s' describes no encoder: there is no vision phase", m->name);
	if (build_is_ggml(h->style))
		return err_set(e, ERR_USAGE, "style %s has no vision phase", build_style_name(h->style));
	if (h->layers || h->experts)
		return err_set(e, ERR_USAGE,
		               "options '--layers' and '--experts' are of the decoder, not of its encoders");
	return check_image(m, h->image, e);
}

static int check_length(const struct model *m, uint64_t context, uint64_t tokens, struct err *e)
{
	if (!m->context || context + tokens <= m->context)
		return 0;
	return err_set(e, ERR_USAGE,
	               "%" PRIu64 " tokens of context and %" PRIu64
	               " new ones are more than the %u that model '%s' takes",
	               context, tokens, m->context, m->name);
}

static int check_groups(const struct model *m, const struct build_how *h, struct err *e)
{
	if (h->style != BUILD_FUSED && h->style != BUILD_NPU)
		return err_set(e, ERR_USAGE,
		               "style %s has no steps of several requests: those have styles fused and npu",
		               build_style_name(h->style));
	for (uint32_t i = 0; i < h->n_groups; i++) {
		const struct build_group *g = &h->groups[i];

		if (!g->batch || !g->tokens || g->batch > BUILD_MAX_BATCH || g->tokens > BUILD_MAX_TOKENS ||
		    g->context > BUILD_MAX_TOKENS)
			return err_set(e, ERR_USAGE,
			               "a group of %u sequences of %" PRIu64 " new tokens is no part of a step",
			               g->batch, g->tokens);
		if (check_length(m, g->context, g->tokens, e) < 0)
			return -1;
	}
	return h->n_groups ? 0 : err_set(e, ERR_USAGE, "a step without a sequence");
}

static int check_bounds(const struct model *m, const struct build_how *h, struct err *e)
{
	if (h->image)
		return err_set(e, ERR_USAGE, "option '--image' is of the encoders: '--phase vision'");
	if (h->phase == BUILD_STEP ? check_groups(m, h, e) < 0 : check_length(m, h->context, h->tokens, e) < 0)
		return -1;
	if (h->layers > m->layers)
		return err_set(e, ERR_USAGE, "'--layers %u' is more than the %u layers of model '%s'", h->layers,
		               m->layers, m->name);
	if (h->experts && !m->moe.experts)
		return err_set(e, ERR_USAGE, "model '%s' has no experts, for option '--experts'", m->name);
	if (h->skew && !m->moe.experts)
		return err_set(e, ERR_USAGE, "model '%s' has no experts, for option '--skew'", m->name);
	if (h->experts > m->moe.experts)
		return err_set(e, ERR_USAGE, "'--experts %u' is more than the %u experts of model '%s'", h->experts,
		               m->moe.experts, m->name);
	return 0;
}

static int check_attend(const struct model *m, const struct build_how *h, struct err *e)
{
	if (h->attend == ATTEND_OWN)
		return 0;
	if (build_is_ggml(h->style))
		return err_set(e, ERR_USAGE, "style %s does attention its own way, for option '--attention'",
		               build_style_name(h->style));
	if (h->phase == BUILD_VISION)
		return err_set(e, ERR_USAGE, "option '--attention' is of the decoder, not of its encoders");
	if (h->attend == ATTEND_MLA && !m->mla.kv_rank)
		return err_set(
			e, ERR_USAGE,
			"attention 'mla' is over a latent, and model '%s' caches keys and values: flash, split_kv or"
			" materialised",
			m->name);
	if (m->index.top && h->attend != ATTEND_MLA)
		return err_set(
			e, ERR_USAGE,
			"attention '%s' reads all keys, and that of model '%s' reads those that its indexer picks:"
			" mla",
			attend_name(h->attend), m->name);
	return 0;
}

int build_check(const struct model *m, const struct build_how *h, struct err *e)
{
	const struct build_split x = build_split_of(h);

	if (check_attend(m, h, e) < 0)
		return -1;
	if (m->index.top && (h->style == BUILD_EAGER || build_is_ggml(h->style)))
		return err_set(e, ERR_USAGE, "style %s has no sparse attention, which model '%s' has: fused or npu",
		               build_style_name(h->style), m->name);
	if (m->arch->not_described)
		return err_set(e, ERR_CONFIG, "the layers of model '%s' are not described: %s", m->name,
		               m->arch->not_described);
	if (h->phase == BUILD_VISION)
		return build_split_chips(&x) > 1 || h->micro > 1 ? b_split_check(m, h, e) : check_vision(m, h, e);
	if (m->moe.experts && !m->moe.top)
		return err_set(e, ERR_CONFIG,
		               "model '%s' does not say how many experts a token picks (num_experts_per_tok)", m->name);
	if (build_is_ggml(h->style) && b_ggml_check(m, h, e) < 0)
		return -1;
	return check_bounds(m, h, e) < 0 ? -1 : b_split_check(m, h, e);
}

/* --- a layer ---------------------------------------------------------------------------------------------------------- */

/* The residual stream: what is summed, and what is still to be added. */
struct stream {
	uint32_t sum, add; /* add NO_TENSOR: nothing */
};

static uint32_t summed(struct builder *b, struct stream *x)
{
	if (x->add != NO_TENSOR)
		x->sum = b_each(b, B_ADD, b->own_rows * b->m->hidden, false, all_of(x->sum), all_of(x->add));
	x->add = NO_TENSOR;
	return x->sum;
}

static uint32_t block_norm(struct builder *b, uint32_t x, const char *name)
{
	const struct model *m = b->m;

	return m->arch->layer_norm ? b_layer_norm(b, x, b->own_rows, m->hidden, m->arch->norm_bias, name)
	                           : b_norm(b, all_of(x), b->own_rows, m->hidden, name);
}

/* Adds what is due, and norms. An engine does both in one kernel. */
static uint32_t normed(struct builder *b, struct stream *x, const char *name)
{
	const uint64_t rows = b->own_rows, n = rows * b->m->hidden;
	const enum dtype d = b->m->dtype;
	uint32_t y, gain, sum;

	if (x->add == NO_TENSOR || b->h->style != BUILD_FUSED || b->m->arch->layer_norm)
		return b_whole(b, block_norm(b, summed(b, x), name));
	gain = b_vector(b, b->m->hidden, name);
	b_op(b, B_ADD_RMS, d, d)->shape = (struct op_shape){ .rows = rows, .cols = b->m->hidden };
	y = b_make(b, d, n);
	sum = b_make(b, d, n);
	b_read(b, all_of(x->sum));
	b_read(b, all_of(x->add));
	b_read(b, all_of(gain));
	b_write(b, all_of(y));
	b_write(b, all_of(sum));
	k_rows(b, b_rows[B_ADD_RMS].kernel, rows, b->m->hidden);
	*x = (struct stream){ sum, NO_TENSOR };
	return b_whole(b, y);
}

static uint32_t attention_block(struct builder *b, uint32_t x, uint32_t i)
{
	const struct model *m = b->m;
	uint32_t y;

	if (m->layer[i] == MODEL_MAMBA)
		y = b_mamba(b, x);
	else if (m->layer[i] == MODEL_CONV)
		y = b_short_conv(b, x);
	else if (m->layer[i] == MODEL_LINEAR)
		y = b_linear(b, x, i);
	else
		y = m->mla.kv_rank ? b_latent(b, x, i) : b_attention(b, x, i);
	if (m->arch->beside_ssm)
		y = b_each(b, B_ADD, b->rows * m->hidden, false, all_of(y), all_of(b_mamba(b, x)));
	return b_summed(b, y);
}

static uint32_t mlp_block(struct builder *b, uint32_t x, uint32_t i)
{
	return model_has_experts(b->m, i) ? b_experts(b, x) : b_summed(b, b_mlp(b, x, b->m->inter, ""));
}

/* What a block reads: the sum so far, normed where norms stand before blocks. */
static uint32_t before(struct builder *b, struct stream *x, const char *name)
{
	return b->m->block == MODEL_BEHIND ? b_whole(b, summed(b, x)) : normed(b, x, name);
}

/* What a block adds to the sum. */
static uint32_t behind(struct builder *b, uint32_t y, const char *name)
{
	const enum model_block block = b->m->block;

	if (block == MODEL_AROUND || block == MODEL_BEHIND)
		y = block_norm(b, y, name);
	return b->m->scale_block ? b_each1(b, B_SCALE, b->own_rows * b->m->hidden, false, all_of(y)) : y;
}

static void layer(struct builder *b, struct stream *x, uint32_t i)
{
	const enum model_block block = b->m->block;
	uint32_t in, y;

	if (b->m->layer[i] == MODEL_NOTHING) {
		x->add = mlp_block(b, before(b, x, "mlp.norm"), i);
		return;
	}
	in = before(b, x, "attention.norm");
	y = attention_block(b, in, i);
	if (block == MODEL_PARALLEL || block == MODEL_PARALLEL_TWO) {
		if (block == MODEL_PARALLEL_TWO)
			in = b_whole(b, block_norm(b, x->sum, "mlp.norm"));
		x->add = b_each(b, B_ADD, b->own_rows * b->m->hidden, false, all_of(y), all_of(mlp_block(b, in, i)));
		return;
	}
	x->add = behind(b, y, "attention.post_norm");
	if (b->m->bare[i])
		return;
	in = before(b, x, "mlp.norm");
	x->add = behind(b, mlp_block(b, in, i), "mlp.post_norm");
}

/* --- a step ------------------------------------------------------------------------------------------------------------ */

/* Cosine and sine of this step's positions: made once, as Llama's code makes them, or there as a table. */
static void rope_tables(struct builder *b)
{
	const uint64_t n = b->phase == OP_DECODE || b->h->phase == BUILD_STEP ? b->rows : b->q_len,
		       rotary = b->m->rotary, all = n * rotary;
	const enum dtype d = b->m->dtype;
	uint32_t f, inverse;
	struct part twice[2];

	if (b->m->no_rope)
		return;
	if (!eager(b)) {
		b->cos = b->sin = b_there(b, OP_CONSTANT, d, b_bytes(d, all), 1, "rope");
		return;
	}
	f = b_to(b, all_of(b->positions), DT_FP32, n);
	inverse = b_there(b, OP_CONSTANT, DT_FP32, b_bytes(DT_FP32, rotary / 2), 1, "rope.inverse");
	b_op(b, B_MUL, DT_FP32, DT_FP32)->shape = (struct op_shape){ .elems = all / 2, .arity = 2 };
	b_read(b, all_of(f));
	b_read(b, all_of(inverse));
	f = b_make(b, DT_FP32, all / 2);
	b_write(b, all_of(f));
	k_each(b, B_MUL, all / 2, DT_FP32, DT_FP32, true);
	twice[0] = twice[1] = all_of(f);
	f = b_concat(b, DT_FP32, all, false, twice, 2, NO_TENSOR);
	b->cos = b_to(b, all_of(b_each1(b, B_COS, all, false, all_of(f))), d, all);
	b->sin = b_to(b, all_of(b_each1(b, B_SIN, all, false, all_of(f))), d, all);
}

static uint64_t blocks(const struct build_how *h, uint64_t tokens)
{
	return (tokens + h->block - 1) / h->block;
}

/* One for all layers and groups: where each block of each sequence is. */
static void block_table(struct builder *b)
{
	uint64_t n = 0;

	for (uint32_t i = 0; b->h->block && i < b->n_groups; i++)
		n += b->groups[i].batch * blocks(b->h, b->groups[i].context + b->done + b->groups[i].tokens);
	if (n)
		b->table = b_there(b, OP_INDEX, DT_INT8, n * b->h->entry, 1, "blocks");
}

void b_read_table(struct builder *b)
{
	struct part p = { .tensor = b->table };

	if (!b->h->block)
		return;
	for (uint32_t i = 0; i < b->group; i++)
		p.offset += b->groups[i].batch * blocks(b->h, b->groups[i].context + b->done + b->groups[i].tokens);
	p.offset *= b->h->entry;
	p.bytes = b->batch * blocks(b->h, b->kv_len) * b->h->entry;
	b_read(b, p);
}

static uint32_t embedded(struct builder *b)
{
	const struct model *m = b->m;
	const uint64_t n = b->rows * m->hidden, small[3] = { (m->hidden + 127) / 128, 1, 1 },
		       large[3] = { b->rows, 1, 1 };
	const struct scheme_format *f = scheme_format_of(b->h->quant, SCHEME_EMBED, -1, m->layers);
	const uint32_t table = b_weight(b, SCHEME_EMBED, m->vocab, m->hidden, "embedding");
	const uint64_t touched = scheme_bytes(f, m->dtype, 1, m->hidden) * b->rows;
	struct part rows = all_of(table);
	uint32_t y;

	b->positions = b_there(b, OP_INDEX, DT_INT64, 8 * b->rows, 1, "tokens");
	rows.touched = touched < b_tensor(b, table)->bytes ? touched : b_tensor(b, table)->bytes;
	b_op(b, B_EMBED, m->dtype, m->dtype)->shape = (struct op_shape){ .elems = n };
	y = b_make(b, m->dtype, n);
	b_read(b, rows);
	b_read(b, all_of(b->positions));
	b_write(b, all_of(y));
	if (for_npu(b))
		return b_summed(b, y);
	if (b->rows <= 16)
		b_launch(b, "void at::native::indexSelectSmallIndex<c10::BFloat16, long, unsigned int, 2, 2, -2>",
		         small, 128, 1, 32);
	else
		b_launch(b, "void at::native::vectorized_gather_kernel<16, long>", large, 256, 1, 32);
	return b_summed(b, y);
}

/* With the rows of learned positions added, and normed where it is. */
static uint32_t placed(struct builder *b, uint32_t x)
{
	const struct model *m = b->m;
	const uint64_t n = b->own_rows * m->hidden;
	struct part rows;

	if (m->positions) {
		rows = all_of(b_there(b, OP_WEIGHT, m->dtype, b_bytes(m->dtype, (uint64_t)m->positions * m->hidden), 1,
		                      "positions"));
		rows.touched = b_bytes(m->dtype, n);
		rows.touched =
			rows.touched < b_tensor(b, rows.tensor)->bytes ? rows.touched : b_tensor(b, rows.tensor)->bytes;
		x = b_each(b, B_ADD, n, false, all_of(x), rows);
	}
	return m->arch->embed_norm ? block_norm(b, x, "embedding.norm") : x;
}

/* A step's are taken to be its last rows, wherever they are: as many bytes. */
static uint64_t logits(const struct builder *b)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < b->n_groups; i++)
		n += b->groups[i].batch * (b->groups[i].prompt ? 1 : b->groups[i].tokens);
	return n;
}

/* What the next stage goes on with: of the last one which tokens they are. */
static void build_next(struct builder *b, struct stream *x, uint32_t tokens)
{
	const uint64_t n = b->own_rows * b->m->hidden;

	if (tokens != NO_TENSOR && b->split.pp > 1 && b->h->phase == BUILD_DECODE)
		b_send(b, tokens, b->rows, b->split.pp - 1);
	if (tokens != NO_TENSOR)
		return;
	b_send(b, summed(b, x), n, 1);
}

static uint32_t build_head(struct builder *b, struct stream *x)
{
	const struct model *m = b->m;
	const uint64_t rows = logits(b), n = rows * m->vocab, vocab = b->whole_model->vocab;
	uint32_t y = normed(b, x, "norm");
	struct part last = b_lines(b, y, m->hidden, b->rows - rows, rows);

	y = b_product(b, last,
	              (struct gemm){ SCHEME_HEAD, rows, m->vocab, m->hidden,
	                             m->arch->head_bias ? b_vector(b, m->vocab, "head.bias") : NO_TENSOR, "head", 0 });
	if (m->scale_logits)
		y = b_each1(b, B_SCALE, n, false, all_of(y));
	if (m->final_softcap) {
		y = b_each1(b, B_SCALE, n, false, all_of(y));
		y = b_each1(b, B_TANH, n, false, all_of(y));
		y = b_each1(b, B_SCALE, n, false, all_of(y));
	}
	y = b_gathered(b, y, rows * vocab);
	if (!for_npu(b))
		y = b_to(b, all_of(y), DT_FP32, rows * vocab);
	return b_reduce(b, B_ARGMAX, rows, vocab, y, DT_INT64);
}

/* The residual stream as the stage before sent it. */
static uint32_t received(struct builder *b)
{
	const enum dtype d = b->m->dtype;

	b->positions = b_there(b, OP_INDEX, DT_INT64, 8 * b->rows, 1, "tokens");
	return b_there(b, OP_ACTIVATION, d, b_bytes(d, b->own_rows * b->m->hidden), 1, "received");
}

static void build_step(struct builder *b)
{
	struct stream x = { NO_TENSOR, NO_TENSOR };
	uint32_t tokens = NO_TENSOR;

	b->layer = -1;
	x.sum = b->from ? received(b) : embedded(b);
	rope_tables(b);
	block_table(b);
	if (!b->from)
		x.sum = placed(b, x.sum);
	if (b->m->scale_embed && !b->from)
		x.sum = b_each1(b, B_SCALE, b->own_rows * b->m->hidden, false, all_of(x.sum));
	for (uint32_t i = b->from; i < b->to && !b->failed; i++) {
		b->layer = (int32_t)i;
		if (build_is_ggml(b->h->style))
			x.sum = b_ggml_layer(b, x.sum, i);
		else
			layer(b, &x, i);
	}
	b->layer = -1;
	if (build_is_ggml(b->h->style)) {
		b_ggml_head(b, x.sum);
		return;
	}
	if (b->to == b->layers)
		tokens = build_head(b, &x);
	build_next(b, &x, tokens);
}

void b_use_group(struct builder *b, uint32_t group)
{
	const struct build_group *g = &b->groups[group];

	b->group = group;
	b->first_row = 0;
	for (uint32_t i = 0; i < group; i++)
		b->first_row += b->groups[i].batch * b->groups[i].tokens;
	b->batch = g->batch;
	b->q_len = g->tokens;
	b->group_rows = b->batch * b->q_len;
	b->old_len = g->context + b->done;
	b->kv_len = b->old_len + b->q_len;
	b->room = b->h->phase == BUILD_STEP ? b->kv_len : b->h->context + b->h->tokens;
	b->phase = g->prompt ? OP_PREFILL : OP_DECODE;
}

const char *b_group_name(struct builder *b, const char *name)
{
	const char *own = b->n_groups > 1 ? arena_printf(b->a, "%s.group%u", name, b->group) : name;

	b->failed |= !own;
	return own ? own : name;
}

struct part b_of_group(struct builder *b, struct part p)
{
	const uint64_t all = b_tensor(b, p.tensor)->bytes, row = all / b->rows;
	uint64_t of_row;

	if (b->n_groups == 1)
		return p;
	of_row = (p.touched ? p.touched : p.bytes ? p.bytes : all - p.offset) / b->rows;
	p.offset += row * b->first_row;
	p.bytes = row * (b->group_rows - 1) + of_row;
	p.touched = of_row * b->group_rows;
	return p;
}

static void groups_of(struct builder *b)
{
	const struct build_how *h = b->h;

	b->whole = (struct build_group){ .batch = b->split.batch,
		                         .tokens = h->phase == BUILD_DECODE ? 1 : h->tokens,
		                         .context = h->context,
		                         .prompt = h->phase != BUILD_DECODE };
	b->groups = h->phase == BUILD_STEP ? h->groups : &b->whole;
	b->n_groups = h->phase == BUILD_STEP ? h->n_groups : 1;
	for (uint32_t i = 0; i < b->n_groups; i++)
		b->rows += b->groups[i].batch * b->groups[i].tokens;
	b->own_rows = h->part_norms ? div_up(b->rows, b->split.tp) : b->rows;
}

static int build_text(struct builder *b)
{
	const bool decode = b->h->phase == BUILD_DECODE;
	const uint64_t steps = decode ? b->h->tokens : 1;

	groups_of(b);
	for (uint64_t i = 0; i < steps && !b->failed; i++) {
		b->done = i;
		b_use_group(b, 0);
		b->next_outside = b->next_grown = 0;
		build_step(b);
		b->again = true;
		/* No later step has fewer than the first: what will be too many is not built first. */
		if (b->s->n_ops > BUILD_MAX_OPS || (!i && b->s->n_ops > BUILD_MAX_OPS / steps))
			return err_set(b->e, ERR_USAGE, "%" PRIu64 " steps are more than %d ops: ask for fewer tokens",
			               steps, BUILD_MAX_OPS);
	}
	return 0;
}

/* Of all that a run could tell two streams apart by. */
static uint64_t content(const struct op_stream *s)
{
	uint64_t h = HASH_INIT;

	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *o = &s->ops[i];

		h = hash_str(hash_u64(h, (uint64_t)o->kind * DTYPES + o->dtype), o->name);
	}
	for (size_t i = 0; i < s->n_tensors; i++)
		h = hash_u64(hash_u64(h, s->tensors[i].bytes), s->tensors[i].dtype);
	for (size_t i = 0; i < s->n_operands; i++)
		h = hash_u64(hash_u64(h, s->operands[i].tensor), s->operands[i].touched);
	return h;
}

/* What runs on one chip, or on several alike. */
static int build_one(struct builder *b)
{
	if (b->h->phase == BUILD_VISION)
		b_vision(b);
	else if (build_text(b) < 0)
		return -1;
	if (b->failed)
		return err_nomem(b->e, "for the ops of a model");
	return b_names(b) < 0 ? -1 : place_stream(b->s, ERR_CONFIG, b->a, b->e);
}

int build_stream(const struct model *m, const struct build_how *h, struct arena *a, struct op_stream *out,
                 struct err *e)
{
	struct builder b = { .m = m, .h = h, .a = a, .e = e, .s = out, .layer = -1 };
	uint64_t chips, hash;
	char hex[17];

	if (build_check(m, h, e) < 0)
		return -1;
	b.split = build_split_of(h);
	chips = build_split_chips(&b.split);
	*out = (struct op_stream){ .source = m->name, .wall_ns = -1, .chips = chips > 1 ? (uint32_t)chips : 0 };
	b.layers = b.to = h->layers ? h->layers : m->layers;
	b.whole_model = m;
	if (!(b.m = b_share(&b, m)))
		return err_nomem(e, "for a model's share");
	if ((b.split.pp > 1 ? b_stages(&b, build_one, out) : build_one(&b)) < 0)
		return -1;
	hash = content(out);
	if (chips > b.split.tp)
		hash = hash_u64(hash_u64(hash, chips), b.split.micro);
	hash_hex(hash, hex);
	out->digest = arena_printf(a, "model:%s", hex);
	return out->digest ? 0 : err_nomem(e, "for the ops of a model");
}
