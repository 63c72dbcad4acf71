/* workload_attend.c - npusim workload attend: what each algorithm of attention does and moves, a layer of a model. */
#include "sim/base/path.h"
#include "sim/cli/cmd.h"

/* Of a layer that attends to all tokens; the latent's products have weights as the scheme stores them. */
static struct attend_shape workload_attend_shape_of(const struct model *m, const struct build_how *how, uint32_t layer)
{
	const struct model_heads h = model_heads_of(m, layer);
	const struct model_mla *l = &m->mla;
	const bool decode = how->phase == BUILD_DECODE;
	struct attend_shape s = { .batch = how->batch,
		                  .heads = h.heads,
		                  .kv_heads = h.kv_heads,
		                  .q_len = decode ? 1 : how->tokens,
		                  .dim = h.dim,
		                  .v_dim = h.v_dim,
		                  .causal = !decode,
		                  .bits = dtype_bits(m->dtype),
		                  .kv_bits = dtype_bits(how->kv) };

	s.kv_len = how->context + s.q_len;
	if (!l->kv_rank)
		return s;
	s.kv_heads = m->heads;
	s.dim = l->nope + l->rope, s.v_dim = l->v;
	s.rank = l->kv_rank, s.rope = l->rope, s.nope = l->nope;
	s.weight_bits = 8 *
	                scheme_bytes(scheme_format_of(how->quant, SCHEME_KV_B, (int32_t)layer, m->layers), m->dtype,
	                             1024, 1024) /
	                (1024 * 1024);
	return s;
}

/* The first layer with attention over all tokens; the model's first where it has none. */
static uint32_t full_layer(const struct model *m)
{
	for (uint32_t i = 0; i < m->layers; i++)
		if (m->layer[i] == MODEL_FULL)
			return i;
	return 0;
}

struct view {
	const struct model *m;
	struct attend_shape s;
};

static void brief(struct doc *d, const struct attend_count *c)
{
	doc_real(d, "gflop", 3, 2 * (double)c->macs / 1e9);
	doc_real(d, "read_mb", 3, (double)c->read / 1e6);
	doc_real(d, "written_mb", 3, (double)c->write / 1e6);
	doc_real(d, "flop_a_byte", 2, 2 * (double)c->macs / (double)(c->read + c->write));
	doc_real(d, "buffer_mb", 3, (double)c->buffer / 1e6);
	doc_real(d, "on_chip_kb", 1, (double)c->on_chip / 1e3);
}

static void workload_attend_whole(struct doc *d, const struct attend_count *c)
{
	doc_count(d, "flop", 2 * c->macs);
	doc_bytes(d, "read_bytes", c->read);
	doc_bytes(d, "written_bytes", c->write);
	doc_real(d, "flop_a_byte", 2, 2 * (double)c->macs / (double)(c->read + c->write));
	doc_bytes(d, "buffer_bytes", c->buffer);
	doc_bytes(d, "on_chip_bytes", c->on_chip);
}

static void algorithm(struct doc *d, const void *of, size_t i)
{
	const struct view *v = of;
	const enum attend_way w = (enum attend_way)(ATTEND_OWN + 1 + i);
	const struct attend_count c = attend_count(w, &v->s);

	if (w == ATTEND_MLA && !v->m->mla.kv_rank)
		return;
	doc_text(d, "algorithm", attend_name(w));
	doc_count(d, "ops", c.ops);
	(d->format == OUT_TABLE ? brief : workload_attend_whole)(d, &c);
	doc_text(d, "what", attend_what(w));
}

static void workload_attend_print(struct doc *d, const struct model *m, const struct build_how *how)
{
	const uint32_t layer = full_layer(m);
	const struct view v = { m, workload_attend_shape_of(m, how, layer) };

	if (d->format == OUT_TABLE) {
		doc_say(d, "%s, layer %u: ", m->name, layer);
		workload_how_text(how, d->to);
		doc_say(d, "\n%llu heads, %llu of keys and values, %llu queries past %llu keys\n\n",
		        (unsigned long long)v.s.heads, (unsigned long long)v.s.kv_heads, (unsigned long long)v.s.q_len,
		        (unsigned long long)v.s.kv_len);
	}
	doc_table(d, NULL, NULL, ATTENDS - ATTEND_OWN - 1, algorithm, &v);
}

struct options {
	struct workload_spec asked;
	const char *format;
};

static int workload_attend_attention(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct options *o = options;
	struct workload w;
	int rc;

	o->asked.model = args->v[0];
	if (workload_check(&o->asked, WORKLOAD_ATTEND, e) < 0)
		return -1;
	rc = workload_describe(&o->asked, &(struct workload_reader){ .source = &path_source }, &w, e);
	if (rc == 0 && w.how.phase == BUILD_VISION)
		rc = err_set(e, ERR_USAGE, "the algorithms are of the decoder: '--phase decode' or 'prefill'");
	if (rc == 0 && (rc = build_check(w.model, &w.how, e)) == 0)
		workload_attend_print(d, w.model, &w.how);
	workload_free(&w);
	return rc;
}

int cmd_workload_attend(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .format = NULL };
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o.asked, WORKLOAD_ATTEND) },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim workload attend MODEL [--phase PHASE] [--batch B] [--context N] [--tokens T]",
		"What each algorithm of attention does in one layer of a model, by count: ops, operations, bytes, bytes that lie in memory"
		" between its ops, and what a block holds on chip; over a latent, all but mla of the keys and values it is expanded to."
		" 'npusim run -m MODEL --attention NAME' simulates one.",
		"npusim workload attend llama-3.1-8b --context 8192\n"
		"npusim workload attend deepseek-v3 --batch 16 --context 4096 --format json\n"
		"npusim run -c h100 -m llama-3.1-8b --phase prefill --tokens 2048 --attention materialised\n",
		opts,
		1,
		1
	};

	return cmd_do(&cmd, &o.format, workload_attend_attention, &o, argc, argv, out, e);
}
