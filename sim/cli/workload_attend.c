/* workload_attend.c - npusim workload attend: what each algorithm of attention does and moves, a layer of a model. */
#include <stdio.h>
#include <string.h>

#include "sim/base/path.h"
#include "sim/cli/cmd.h"

#define COLS(a) ((int)(sizeof(a) / sizeof *(a)))

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
	                scheme_bytes(scheme_format_of(how->quant, SCHEME_ATTENTION, (int32_t)layer, m->layers),
	                             m->dtype, 1024, 1024) /
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

static void workload_attend_row(struct out_table *t, enum attend_way w, const struct attend_shape *s, bool table)
{
	const struct attend_count c = attend_count(w, s);

	out_text(t, attend_name(w));
	out_int(t, (int64_t)c.ops);
	if (table) {
		out_real(t, 2 * (double)c.macs / 1e9);
		out_real(t, (double)c.read / 1e6);
		out_real(t, (double)c.write / 1e6);
	} else {
		out_int(t, (int64_t)(2 * c.macs));
		out_int(t, (int64_t)c.read);
		out_int(t, (int64_t)c.write);
	}
	out_real(t, 2 * (double)c.macs / (double)(c.read + c.write));
	if (table) {
		out_real(t, (double)c.buffer / 1e6);
		out_real(t, (double)c.on_chip / 1e3);
	} else {
		out_int(t, (int64_t)c.buffer);
		out_int(t, (int64_t)c.on_chip);
	}
	out_text(t, attend_what(w));
}

static void workload_attend_print(const struct model *m, const struct build_how *how, enum out_format f,
                                  struct str *out)
{
	static const struct out_col people[] = { { "algorithm", OUT_TEXT, 0 },  { "ops", OUT_INT, 0 },
		                                 { "gflop", OUT_REAL, 3 },      { "read_mb", OUT_REAL, 3 },
		                                 { "written_mb", OUT_REAL, 3 }, { "flop_a_byte", OUT_REAL, 2 },
		                                 { "buffer_mb", OUT_REAL, 3 },  { "on_chip_kb", OUT_REAL, 1 },
		                                 { "what", OUT_TEXT, 0 } };
	static const struct out_col plain[] = { { "algorithm", OUT_TEXT, 0 },
		                                { "ops", OUT_INT, 0 },
		                                { "flop", OUT_INT, 0 },
		                                { "read_bytes", OUT_BYTES, 0 },
		                                { "written_bytes", OUT_BYTES, 0 },
		                                { "flop_a_byte", OUT_REAL, 2 },
		                                { "buffer_bytes", OUT_BYTES, 0 },
		                                { "on_chip_bytes", OUT_BYTES, 0 },
		                                { "what", OUT_TEXT, 0 } };
	const bool table = f == OUT_TABLE;
	const uint32_t layer = full_layer(m);
	const struct attend_shape s = workload_attend_shape_of(m, how, layer);
	struct out_table *t = out_table_new(table ? people : plain, COLS(people), NULL);

	if (table) {
		str_addf(out, "%s, layer %u: ", m->name, layer);
		workload_how_text(how, out);
		str_addf(out, "\n%llu heads, %llu of keys and values, %llu queries past %llu keys\n\n",
		         (unsigned long long)s.heads, (unsigned long long)s.kv_heads, (unsigned long long)s.q_len,
		         (unsigned long long)s.kv_len);
	}
	for (int w = ATTEND_OWN + 1; w < ATTENDS; w++)
		if (w != ATTEND_MLA || m->mla.kv_rank)
			workload_attend_row(t, (enum attend_way)w, &s, table);
	out_table_write(t, f, out);
	out_table_free(t);
}

static int workload_attend_attention(const struct workload_spec *o, enum out_format f, struct str *out, struct err *e)
{
	struct workload w;
	int rc = workload_describe(o, &(struct workload_reader){ .source = &path_source }, &w, e);

	if (rc == 0 && w.how.phase == BUILD_VISION)
		rc = err_set(e, ERR_USAGE, "the algorithms are of the decoder: '--phase decode' or 'prefill'");
	if (rc == 0 && (rc = build_check(w.model, &w.how, e)) == 0)
		workload_attend_print(w.model, &w.how, f, out);
	workload_free(&w);
	return rc;
}

int cmd_workload_attend(int argc, char **argv, struct str *out, struct err *e)
{
	struct workload_spec o = { .trace = NULL };
	const char *format = NULL;
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o, WORKLOAD_ATTEND) },
		{ 0, "format", OPT_TEXT, &format, "table|csv|json", CMD_FORMAT_HELP },
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
	struct opt_list args = { NULL, 0 };
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = cmd_format(format, &f, e)) == 0) {
		o.model = args.v[0];
		rc = workload_check(&o, WORKLOAD_ATTEND, e) < 0 ? -1 : workload_attend_attention(&o, f, out, e);
	}
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
