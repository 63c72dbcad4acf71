/* run_fusion.c - what the fusion engine joined, by pattern, and what it did not join, by reason.
 *
 * A reason is told of each op that could be a part of a chain (a product, or what is done element by element or row by row) and
 * does not ride with the op before it. The first that holds counts, in the order of the table below. */
#include "sim/report/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum reason { TWO_PRODUCTS, NOT_ADJACENT, BUFFER, TOO_LONG, SLOWER, TWO_READERS, NO_PATTERN, REASONS };
static const char *const reason_names[REASONS] = { "two products",   "not adjacent",     "fusion.buffer",
	                                           "fusion.max_ops", "predicted slower", "two readers",
	                                           "no pattern" };
static const char *const reason_texts[REASONS] = {
	"it is a product, and the chain before it has one",
	"nothing of what it reads was written or read by the chain before it",
	"the chain's intermediates with it are larger",
	"the chain would be longer",
	"a pattern has it, and the mapper predicts it to be faster alone",
	"what it reads is read by others behind it as well",
	"no pattern goes on with it",
};

/* --- the stream -------------------------------------------------------------------------------------------- */

/* What a pattern of ours could name. */
static bool may_join(const struct op *o)
{
	return op_is_product(o->kind) || fuse_is_vector(o->kind);
}

struct chain {
	uint32_t first, n;
};

/* By op: the chain that runs as one command, of one op where it is alone. */
static struct chain *chains_of(const struct run_report *r)
{
	const struct map_result *m = r->result->map;
	struct chain *c = calloc(r->stream->n_ops + 1, sizeof *c);

	for (uint32_t i = 0; c && i < r->stream->n_ops; i++)
		c[i] = (struct chain){ i, 1 };
	for (size_t i = 0; c && i < m->n_fusions; i++)
		for (uint32_t k = 0; k < m->fusions[i].n_ops; k++)
			c[m->fusions[i].first_op + k] = (struct chain){ m->fusions[i].first_op, m->fusions[i].n_ops };
	return c;
}

static bool touches(const struct op_stream *s, const struct op *o, uint32_t tensor)
{
	for (uint32_t k = 0; k < o->n_operands; k++)
		if (s->operands[o->first_operand + k].tensor == tensor)
			return true;
	return false;
}

static bool connected(const struct op_stream *s, const struct chain *c, const struct op *o)
{
	for (uint32_t k = 0; k < o->n_operands; k++) {
		const struct op_operand *x = &s->operands[o->first_operand + k];

		for (uint32_t i = c->first; !x->write && i < c->first + c->n; i++)
			if (touches(s, &s->ops[i], x->tensor))
				return true;
	}
	return false;
}

/* Is something that the chain wrote and `o` reads read again behind it? */
static bool read_again(const struct op_stream *s, const struct chain *c, const struct op *o)
{
	for (uint32_t i = c->first; i < c->first + c->n; i++)
		for (uint32_t k = 0; k < s->ops[i].n_operands; k++) {
			const struct op_operand *x = &s->operands[s->ops[i].first_operand + k];

			if (!x->write || !touches(s, o, x->tensor))
				continue;
			for (uint32_t j = o->id + 1; j < s->n_ops && j < o->id + 64; j++)
				if (touches(s, &s->ops[j], x->tensor))
					return true;
		}
	return false;
}

static uint64_t run_fusion_written(const struct op_stream *s, const struct chain *c)
{
	uint64_t n = 0;

	for (uint32_t i = c->first; i < c->first + c->n; i++)
		for (uint32_t k = 0; k < s->ops[i].n_operands; k++) {
			const struct op_operand *x = &s->operands[s->ops[i].first_operand + k];

			n += x->write ? x->touched : 0;
		}
	return n;
}

static bool has_product(const struct op_stream *s, const struct chain *c)
{
	for (uint32_t i = c->first; i < c->first + c->n; i++)
		if (op_is_product(s->ops[i].kind))
			return true;
	return false;
}

/* --- reasons ----------------------------------------------------------------------------------------------- */

/* `group`: by op, the first op of what the patterns would have joined. */
static enum reason reason_of(const struct run_report *r, const struct chain *c, const uint32_t *group, uint32_t op)
{
	const struct op_stream *s = r->stream;
	const struct fusion_cfg *f = &r->conf->cfg.fusion;
	const struct op *o = &s->ops[op];
	const struct chain before = c[op - 1];

	if (group[op] == group[op - 1])
		return SLOWER;
	if (op_is_product(o->kind) && has_product(s, &before))
		return TWO_PRODUCTS;
	if (!connected(s, &before, o))
		return NOT_ADJACENT;
	if (f->buffer && run_fusion_written(s, &before) > f->buffer)
		return BUFFER;
	if (before.n >= f->max_ops)
		return TOO_LONG;
	return read_again(s, &before, o) ? TWO_READERS : NO_PATTERN;
}

struct tally {
	size_t ops;
	ps_t us_ps;
	const char *example;
};

/* What the patterns alone would join; NULL without memory or where nothing is fused. */
static uint32_t *groups_of(const struct run_report *r, struct arena *a)
{
	struct err none = ERR_INIT;
	struct run_memo *memo = run_memo_new_from(r->conf->source, &none);
	uint32_t *first = arena_array(a, r->stream->n_ops + 1, sizeof *first);
	const struct fuse_patterns *p = NULL;
	struct fuse_group *g;
	size_t n;

	if (!memo || !first || run_memo_patterns(memo, &r->conf->cfg.fusion, &p, &none) < 0 ||
	    fuse_stream(r->stream, &r->conf->cfg.fusion, p, a, &g, &n, &none) < 0) {
		run_memo_free(memo);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < g[i].n; k++)
			first[g[i].first + k] = g[i].first;
	run_memo_free(memo);
	return first;
}

static void tally(const struct run_report *r, struct tally t[REASONS])
{
	struct arena *a = arena_new(0);
	uint32_t *group = a ? groups_of(r, a) : NULL;
	struct chain *c = chains_of(r);

	for (uint32_t i = 1; group && c && i < r->stream->n_ops; i++) {
		const struct op *o = &r->stream->ops[i];
		struct tally *x;

		if (c[i].first == c[i - 1].first || !may_join(o) || !may_join(&r->stream->ops[i - 1]))
			continue;
		x = &t[reason_of(r, c, group, i)];
		x->ops++;
		x->us_ps += r->result->ops[i].span_ps;
		x->example = x->example ? x->example : o->name;
	}
	free(c);
	arena_free(a);
}

/* --- by pattern -------------------------------------------------------------------------------------------- */

struct pattern {
	const char *name;
	size_t chains, ops, longest, dispatches;
	uint64_t bytes;
	ps_t fused, apart;
};

#define PATTERNS 64

static size_t patterns_of(const struct map_result *m, struct pattern *p)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_fusions; i++) {
		const struct map_fusion *f = &m->fusions[i];
		size_t k = 0;

		while (k < n && strcmp(p[k].name, f->pattern) != 0)
			k++;
		if (k == PATTERNS)
			continue;
		if (k == n)
			p[n++] = (struct pattern){ .name = f->pattern };
		p[k].chains++;
		p[k].ops += f->n_ops;
		p[k].longest = f->n_ops > p[k].longest ? f->n_ops : p[k].longest;
		p[k].dispatches += f->saved_dispatches;
		p[k].bytes += f->saved_bytes;
		p[k].fused += f->predicted;
		p[k].apart += f->unfused;
	}
	return n;
}

static void pattern_row(struct doc *d, const void *of, size_t i)
{
	const struct pattern *p = (const struct pattern *)of + i;
	const bool json = d->format == OUT_JSON;

	doc_text(d, "pattern", p->name);
	doc_count(d, "chains", p->chains);
	doc_count(d, "ops", p->ops);
	if (json)
		doc_count(d, "saved_bytes", p->bytes);
	else
		doc_count(d, "longest", p->longest);
	if (!json)
		doc_real(d, "saved_MB", 2, (double)p->bytes / 1e6);
	doc_count(d, "saved_dispatches", p->dispatches);
	if (json)
		return;
	doc_ps(d, "predicted_us", 1, p->fused);
	doc_ps(d, "apart_us", 1, p->apart);
}

static void reason_row(struct doc *d, const void *of, size_t i)
{
	const struct tally *x = (const struct tally *)of + i;
	const bool json = d->format == OUT_JSON;

	if (!d->heads && !x->ops)
		return;
	doc_text(d, json ? "reason" : "not joined", reason_names[i]);
	doc_count(d, "ops", x->ops);
	doc_ps(d, "us", 1, x->us_ps);
	if (json)
		doc_text(d, "example", x->example);
	else
		doc_text(d, "because", reason_texts[i]);
}

int run_apart(struct run_report *r, struct machine_base *machines, const struct run_opts *how, struct err *e)
{
	const char *const without = "fusion.enabled=false";
	struct machine_conf *conf = NULL;
	struct arena *a = arena_new(0);
	struct run_result x = { 0 };
	int rc = -1;

	if (!a)
		err_nomem(e, "for a run with nothing joined");
	else if ((conf = machine_base_conf(machines, &without, 1, e)) &&
	         run_stream(r->stream, conf, how, a, &x, e) == 0)
		rc = 0;
	r->apart_ps = x.total_ps;
	machine_conf_free(conf);
	arena_free(a);
	return rc;
}

static void chain_row(struct doc *d, const void *of, size_t i)
{
	const struct run_report *r = of;
	const struct map_fusion *f = d->heads ? NULL : &r->result->map->fusions[i];
	struct str ops = STR_INIT, chain = STR_INIT;
	const bool json = d->format == OUT_JSON;

	if (json) {
		doc_text(d, "pattern", f->pattern);
		doc_int(d, "first_op", f->first_op);
		doc_int(d, "ops", f->n_ops);
	} else {
		for (uint32_t k = 0; f && k < f->n_ops; k++)
			str_addf(&chain, "%s%s", k ? ", " : "", r->stream->ops[f->first_op + k].name);
		if (f)
			str_addf(&ops, "%" PRIu32 "-%" PRIu32, f->first_op, f->first_op + f->n_ops - 1);
		doc_text(d, "ops", str_c(&ops));
		doc_text(d, "fused as", f->pattern);
	}
	doc_count(d, "saved_bytes", f->saved_bytes);
	doc_int(d, "saved_dispatches", f->saved_dispatches);
	doc_ps(d, "predicted_us", 3, f->predicted);
	doc_ps(d, "unfused_us", 3, f->unfused);
	if (!json)
		doc_text(d, "chain", str_c(&chain));
	doc_free(d, &ops);
	doc_free(d, &chain);
}

void run_chains_doc(struct doc *d, const struct run_report *r)
{
	const struct map_result *m = r->result->map;

	doc_table(d, "fusions", "fusions (times: each alone, again and again, which decides)", m ? m->n_fusions : 0,
	          chain_row, r);
	doc_say(d, "\n");
}

void run_fusion_doc(struct doc *d, const struct run_report *r)
{
	const bool on = r->conf->cfg.fusion.enabled;
	struct pattern p[PATTERNS];
	struct tally x[REASONS] = { { 0 } };

	if (!r->result->map)
		return;
	if (!on)
		doc_say(d, "nothing is joined: fusion.enabled is false\n\n");
	if (!on && d->format == OUT_TABLE)
		return;
	doc_table(d, "fusion_patterns", "what is joined, by pattern (times: each chain alone, again and again)",
	          patterns_of(r->result->map, p), pattern_row, p);
	doc_say(d, "\n");
	if (r->apart_ps && d->format == OUT_JSON)
		doc_ps(d, "apart_us", 3, r->apart_ps);
	/* What a chain takes alone may hide behind what others fetch. */
	if (r->apart_ps)
		doc_say(d, "the run takes %.3f us so, and %.3f us with nothing joined (fusion.enabled=false)\n\n",
		        unit_ps_us(r->result->total_ps), unit_ps_us(r->apart_ps));
	if (on)
		tally(r, x);
	doc_table(d, "not_fused", NULL, on ? REASONS : 0, reason_row, x);
	doc_say(d, "\n");
}
