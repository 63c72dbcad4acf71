#include "sim/report/model_doc.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *kind_of(const struct model *m)
{
	bool keys = false, ssm = false, conv = false, linear = false, windows = false, chunks = false;

	for (uint32_t i = 0; i < m->layers; i++) {
		linear |= m->layer[i] == MODEL_LINEAR;
		keys |= model_has_keys(m, i);
		ssm |= m->layer[i] == MODEL_MAMBA;
		conv |= m->layer[i] == MODEL_CONV;
		windows |= m->layer[i] == MODEL_SLIDING;
		chunks |= m->layer[i] == MODEL_CHUNKED;
	}
	if (ssm || conv)
		return !keys ? "no" : ssm ? "state-space and full" : "convolution and full";
	return m->mla.kv_rank && linear ? "linear and latent"
	       : m->mla.kv_rank         ? "latent"
	       : linear                 ? "linear and full"
	       : windows                ? "windows"
	       : chunks                 ? "chunks"
	                                : "full";
}

/* A terminal has room for what one chooses by; the rest is for programs, and of one model in 'workload show'. */
void model_doc(struct doc *d, const void *of, size_t i)
{
	const struct model_doc *x = of;
	const struct model *m = x->m;
	struct model_params p = { .total = 0 };

	(void)i;
	if (!d->heads)
		model_params_of(m, &p);
	doc_text(d, "model", x->name);
	if (d->format != OUT_TABLE)
		doc_text(d, "architecture", m->arch->type);
	doc_real(d, "params_b", 2, (double)p.total / 1e9);
	doc_real_if(d, "active_b", 2, !m->moe.experts || m->moe.top, (double)p.active / 1e9);
	if (d->format != OUT_TABLE) {
		doc_count(d, "layers", m->layers);
		doc_count(d, "hidden", m->hidden);
	}
	doc_text(d, "attention", kind_of(m));
	doc_count_if(d, "experts", m->moe.experts, m->moe.experts);
	if (d->format != OUT_TABLE)
		doc_count_if(d, "max_context", m->context, m->context);
	doc_text(d, "weights",
	         m->quant                                   ? m->quant
	         : m->quant_words && d->format == OUT_TABLE ? "not read"
	         : m->quant_words                           ? m->quant_words
	                                                    : dtype_name(m->dtype));
}

/* --- all of one ----------------------------------------------------------------------------------------------------- */

struct line {
	const char *what, *unit, *note;
	double value; /* not a number: not known */
};

static void line(struct doc *d, const void *of, size_t i)
{
	const struct line *x = of;

	(void)i;
	doc_text(d, "what", x->what);
	doc_real(d, "value", 3, x->value);
	doc_text(d, "unit", x->unit);
	doc_text(d, "note", x->note);
}

static void put(struct doc *d, const char *what, double value, const char *unit, const char *note)
{
	doc_row(d, line, &(struct line){ what, unit, note, value }, 0);
}

static void part(struct doc *d, const char *what, uint64_t n, uint64_t of)
{
	char note[48];

	if (!n)
		return;
	snprintf(note, sizeof note, "%.1f %%", 100 * (double)n / (double)of);
	put(d, what, (double)n / 1e6, "million", note);
}

/* What no step here runs. */
static void left_out(struct doc *d, const struct model *m)
{
	for (uint32_t i = 0; i < m->n_towers; i++)
		if (!m->towers[i].params)
			put(d, m->towers[i].what, NAN, "", "its parameters are not counted; in no step");
	if (m->mtp_layers)
		put(d, "layers of further tokens", (double)model_mtp_params(m) / 1e6, "million",
		    "left out: in no step, nor among the parameters");
}

static void params(struct doc *d, const struct model *m)
{
	struct model_params p;
	struct str note = STR_INIT;

	model_params_of(m, &p);
	if (m->published)
		str_addf(&note, "%+.2f %% of the published %.2f; %s",
		         100 * ((double)p.total / (double)m->published - 1), (double)m->published / 1e6,
		         m->published_by ? m->published_by : "no source");
	put(d, "parameters", (double)p.total / 1e6, "million", str_c(&note));
	part(d, "  embedding", p.embed, p.total);
	part(d, "  head", p.head, p.total);
	part(d, "  attention", p.attention, p.total);
	part(d, "  MLPs", p.mlp, p.total);
	part(d, "  experts", p.experts, p.total);
	part(d, "  shared experts", p.shared, p.total);
	part(d, "  routers", p.router, p.total);
	part(d, "  norms", p.norms, p.total);
	part(d, "  encoders", p.vision, p.total);
	left_out(d, m);
	if (!m->moe.experts || m->moe.top)
		put(d, "parameters a token passes", (double)p.active / 1e6, "million",
		    "picked experts only, without the embedding");
	str_free(&note);
}

static void token(struct doc *d, const struct model *m, const struct build_how *how)
{
	struct model_token k;
	char note[96];

	if (m->moe.experts && !m->moe.top) {
		put(d, "operations a token", NAN, "", "not known: how many experts it picks is not in the source");
		return;
	}
	model_token_of(m, how->quant, how->kv, how->context, &k);
	snprintf(note, sizeof note, "batch 1, %" PRIu64 " tokens in the cache; %.1f %% of it attention", how->context,
	         100 * (double)k.attention_flops / (double)k.flops);
	put(d, "operations a token", (double)k.flops / 1e6, "million", note);
	put(d, "bytes of weights a token", (double)k.weight_bytes / 1e6, "MB", how->quant->name);
	put(d, "bytes of KV cache a token", (double)k.kv_bytes / 1e6, "MB", dtype_name(how->kv));
	put(d, "operations a byte", (double)k.flops / (double)(k.weight_bytes + k.kv_bytes), "", "");
}

static void bytes(struct doc *d, const struct model *m, const struct build_how *how)
{
	size_t n;
	const struct scheme *q = scheme_table(&n);

	put(d, "KV cache of a token", (double)model_kv_bytes(m, how->kv) / 1e3, "kB", dtype_name(how->kv));
	if (model_state_bytes(m))
		put(d, "state of a sequence", (double)model_state_bytes(m) / 1e6, "MB",
		    "in place of keys, whatever its length");
	if (m->scheme->at)
		put(d, "weights as they come", (double)model_weight_bytes(m, m->scheme) / 1e9, "GB", m->quant);
	for (size_t i = 0; i < n; i++) {
		char what[48];

		snprintf(what, sizeof what, "weights in %s", q[i].name);
		put(d, what, (double)model_weight_bytes(m, &q[i]) / 1e9, "GB",
		    m->quant && strcmp(m->quant, q[i].name) == 0 ? "as it comes" : "");
	}
}

void model_show_doc(struct doc *d, const struct model *m, const struct build_how *how, bool unknown)
{
	struct str note = STR_INIT;

	doc_say(d, "%s (%s): %u layers of %u, %s attention\nsource: %s\n\n", m->name, m->arch->type, m->layers,
	        m->hidden, kind_of(m), m->source ? m->source : m->path);
	doc_table_open(d, NULL, NULL);
	params(d, m);
	if (unknown) {
		str_addf(&note, "how they are stored is not understood (%s): give --quant", m->quant_words);
		put(d, "bytes of weights a token", NAN, "", str_c(&note));
	} else {
		token(d, m, how);
	}
	bytes(d, m, how);
	doc_table_close(d, line, NULL);
	str_free(&note);
}
