#include "sim/accuracy/rows.h"

#include <stdlib.h>
#include <string.h>

#include "arch/gpu/gpu_geometry.h"
#include "arch/machine/machine_gpu.h"
#include "sim/accuracy/blocks.h"
#include "sim/base/clock.h"
#include "sim/base/hash.h"
#include "sim/engine/run.h"
#include "sim/engine/run_memo.h"

/* --- one row alone ------------------------------------------------------------------------------------------------ */

/* Where lowering puts the tensors of a table of this row alone: weights, keys and values, what else is there, results. */
static uint64_t rows_place(struct op_tensor *t, uint32_t n)
{
	uint64_t end = 256;

	for (int pass = 0; pass < 4; pass++)
		for (uint32_t i = 0; i < n; i++) {
			const int mine = !t[i].external ? 3 : t[i].role == OP_WEIGHT ? 0 : t[i].role == OP_KV ? 1 : 2;

			if (mine != pass)
				continue;
			t[i].addr = round_up(end, mine ? 256 : 512);
			end = t[i].addr + (t[i].bytes ? t[i].bytes : 1);
		}
	return end;
}

/* Its operands, tensors and launches, renumbered and placed anew: what stands before it in the table is nothing to it. */
static struct op_stream *alone(const struct op_stream *s, const struct op *was, struct arena *a)
{
	struct op_stream *x = arena_alloc(a, sizeof *x);
	struct op *o = arena_alloc(a, sizeof *o);
	struct op_tensor *t = arena_array(a, was->n_operands + 1, sizeof *t);
	struct op_operand *p = arena_array(a, was->n_operands + 1, sizeof *p);
	struct op_launch *l = arena_array(a, was->n_launches + 1, sizeof *l);
	bool lies = false;

	if (!x || !o || !t || !p || !l)
		return NULL;
	*o = *was;
	o->id = o->first_operand = o->first_dep = o->n_deps = o->first_launch = 0;
	for (uint32_t i = 0; i < was->n_operands; i++) {
		p[i] = s->operands[was->first_operand + i];
		t[i] = s->tensors[p[i].tensor];
		p[i].tensor = i;
		lies |= t[i].resident;
	}
	for (uint32_t i = 0; i < was->n_launches; i++) {
		l[i] = s->launches[was->first_launch + i];
		l[i].waits_for = -1;
	}
	*x = (struct op_stream){ .source = s->source,
		                 .digest = s->digest,
		                 .ops = o,
		                 .n_ops = 1,
		                 .tensors = t,
		                 .n_tensors = was->n_operands,
		                 .operands = p,
		                 .n_operands = was->n_operands,
		                 .launches = l,
		                 .n_launches = was->n_launches,
		                 .addr_end = rows_place(t, was->n_operands),
		                 .measured_ns = was->measured_ns,
		                 .kernel_ns = was->measured_ns,
		                 .wall_ns = -1,
		                 .lies = lies };
	return x;
}

/* Of a profile's ops: work that runs, whose weights no router picks. */
static bool runs_alone(const struct op_stream *s, const struct op *o)
{
	bool routed = o->routed_by >= 0;

	for (uint32_t i = 0; i < o->n_operands; i++)
		routed |= s->tensors[s->operands[o->first_operand + i].tensor].route >= 0;
	return !routed && op_traits[o->kind].runs == OP_RUNS_HERE;
}

/* Products by rows, as far apart as they behave: one, a batch of decode, some, those that any array is full of. */
static const char *group_of(uint64_t rows)
{
	return rows == 1 ? "1" : rows <= 64 ? "2-64" : rows <= 512 ? "65-512" : "more";
}

static const char *rows_rows_of(const struct op *o)
{
	return o->kind == OP_GEMM ? group_of(o->shape.m) : "";
}

static uint64_t hash_of(const struct op_stream *s, const struct op *o)
{
	const struct op_shape *p = &o->shape;
	const uint64_t v[] = { o->kind,  o->dtype, o->algorithm, o->cost,  o->reduce,   p->batch,    p->m,
		               p->n,     p->k,     p->heads,     p->q_len, p->kv_len,   p->head_dim, p->causal,
		               p->elems, p->rows,  p->cols,      p->top,   p->kv_heads, p->arity,    o->out_dtype };
	uint64_t h = hash_str(HASH_INIT, o->fn);

	for (size_t i = 0; i < sizeof v / sizeof *v; i++)
		h = hash_u64(h, v[i]);
	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_tensor *t = &s->tensors[s->operands[o->first_operand + i].tensor];

		h = hash_u64(h, t->quant + (t->resident ? QUANT_COUNT : 0));
	}
	return p->passes ? hash_u64(h, p->passes) : h;
}

static struct sample sample_of(const struct op_stream *s, const struct op *o)
{
	const uint64_t h = hash_of(s, o);

	return (struct sample){ .name = o->name,
		                .cls = op_kind_name(o->kind),
		                .group = rows_rows_of(o),
		                .measured_ns = o->measured_ns,
		                .low_ns = o->measured_ns,
		                .high_ns = o->measured_ns,
		                .reps = 1,
		                .n_ops = 1,
		                .launch = UINT32_MAX,
		                .split = cases_split(h),
		                .hash = h };
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

static bool rows_room(struct cases *c, size_t most, struct arena *a)
{
	*c = (struct cases){ .arena = a };
	return (c->v = arena_array(a, most + 1, sizeof *c->v)) != NULL;
}

int rows_new(struct rows *r, size_t most, struct arena *a, struct err *e)
{
	r->unmeasured = 0;
	r->energy = (struct energy_cases){ .path = "the table", .v = arena_array(a, most + 1, sizeof *r->energy.v) };
	r->one = arena_array(a, most + 1, sizeof *r->one);
	if (!r->energy.v || !r->one)
		return err_nomem(e, "for samples");
	if (!rows_room(&r->sim.all, most, a) || !rows_room(&r->sim.products, most, a) ||
	    !rows_room(&r->roof.all, most, a) || !rows_room(&r->roof.products, most, a))
		return err_nomem(e, "for samples");
	return 0;
}

static void rows_put(struct rows_set *s, const struct sample *x, ps_t took, enum res bound)
{
	struct sample *y = &s->all.v[s->all.n++];

	*y = *x;
	y->time.total = took;
	y->time.bound = bound;
	if (*x->group)
		s->products.v[s->products.n++] = *y;
}

/* What its bytes are in the L2: of a row alone, what its launches' operands together are. Energy is measured over a second
 * of the same: of a row that fills half the L2, results do not stay there. */
static struct gpu_mem moved(const struct gpu_work *w, uint64_t l2)
{
	struct gpu_mem m = { 0 };

	for (size_t i = 0; i < w->n; i++) {
		m.read += w->launches[i].mem.read;
		m.read_hit += w->launches[i].mem.read_hit;
		m.write += w->launches[i].mem.write;
		m.write_back += w->launches[i].mem.write_back;
	}
	if (m.read + m.write > l2 / 2)
		m.write_back = m.write;
	return m;
}

/* A GPU's power of a row, at its measured time and clock. */
static int add_energy(struct rows *r, const struct op_stream *one, const struct sample *x,
                      const struct machine_conf *conf, const struct run_opts *how, struct arena *keep, struct err *e)
{
	const struct gpu g = machine_gpu(&conf->cfg);
	const struct kernels *k = run_memo_kernels(how->memo, e);
	struct gpu_traffic *t = k ? gpu_traffic_new(&conf->cfg.mem, conf->cfg.clock, e) : NULL;
	struct energy_case *c = &r->energy.v[r->energy.n];
	struct arena *a = arena_new(0);
	struct op_stream laid;
	struct gpu_work w;
	struct gpu_mem mem;
	int rc = -1;

	if (!a || !t || gpu_geometry_work(&g, k, one, a, &laid, &w, e) < 0 ||
	    gpu_work_run(&w, how->start != RUN_COLD, t, e) < 0)
		goto out;
	mem = moved(&w, g.l2);
	*c = (struct energy_case){ .name = arena_strdup(keep, x->name),
		                   .cls = x->cls,
		                   .watts = (double)one->ops[0].measured_fj / ((double)x->measured_ns * 1e6),
		                   .us = (double)x->measured_ns / 1e3,
		                   .time = x->measured_ns * PS_NS,
		                   .clock = one->ops[0].measured_khz,
		                   .measured = one->ops[0].measured_fj,
		                   .split = x->split,
		                   .hash = x->hash };
	if (!c->name) {
		err_nomem(e, "for samples");
		goto out;
	}
	if (energy_of_op(&g, k, one, &one->ops[0], &mem, c)) {
		energy_ask(c, &g);
		r->energy.n++;
	}
	rc = 0;
out:
	gpu_traffic_free(t);
	arena_free(a);
	return rc;
}

/* What a row says lies on chip does so whatever the others start with. */
static struct run_opts starts(const struct op_stream *one, const struct run_opts *how)
{
	struct run_opts o = *how;

	o.start = one->lies ? RUN_RESIDENT : o.start;
	return o;
}

static int rows_add_row(struct rows *r, const struct op_stream *one, const struct sample *x,
                        const struct machine_conf *conf, const struct run_opts *how, struct err *e)
{
	const struct run_opts mine = starts(one, how);
	struct arena *a = arena_new(0);
	struct run_result result;
	int rc = a ? run_stream(one, conf, &mine, a, &result, e) : err_nomem(e, "for a run");

	if (rc == 0) {
		r->one[r->sim.all.n] = one;
		rows_put(&r->sim, x, result.total_ps, result.ops[0].bound);
		rows_put(&r->roof, x, result.roofline_ps, result.roofline_bound);
	} else {
		err_add(e, "running '%s' alone", x->name);
	}
	arena_free(a);
	return rc;
}

int rows_again(struct rows *r, size_t i, const struct machine_conf *conf, const struct run_opts *how, struct err *e)
{
	const struct run_opts mine = starts(r->one[i], how);
	struct arena *a = arena_new(0);
	struct run_result result;
	const int rc = a ? run_stream(r->one[i], conf, &mine, a, &result, e) : err_nomem(e, "for a run");

	if (rc == 0)
		r->sim.all.v[i].time.total = result.total_ps;
	arena_free(a);
	return rc;
}

int rows_add(struct rows *r, const struct op_stream *s, const struct machine_conf *conf, const struct run_opts *how,
             enum sample_split split, struct arena *a, struct err *e)
{
	struct run_opts mine = *how;
	int rc = 0;

	if (!(mine.memo = run_memo_new_from(conf->source, e)))
		return -1;
	for (size_t i = 0; i < s->n_ops && rc == 0; i++) {
		const struct sample x = sample_of(s, &s->ops[i]);
		const struct op_stream *one = NULL;

		if (!x.measured_ns)
			r->unmeasured++;
		else if (!sample_split_has(split, x.split) || !runs_alone(s, &s->ops[i]))
			continue;
		else if (!(one = alone(s, &s->ops[i], a))) /* a memo tells streams by where they lie: each stays */
			rc = err_nomem(e, "for an op");
		else
			rc = rows_add_row(r, one, &x, conf, &mine, e);
		if (rc == 0 && x.measured_ns && s->ops[i].measured_fj && sample_split_has(split, x.split) &&
		    machine_runs(&conf->cfg) == MACHINE_LAUNCHES && conf->cfg.gpu.power.idle)
			rc = add_energy(r, one, &x, conf, &mine, a, e);
	}
	run_memo_free(mine.memo);
	return rc;
}

/* --- blocks ------------------------------------------------------------------------------------------------------- */

static struct sample sample_of_block(const struct block_row *b)
{
	const uint64_t h = hash_u64(hash_u64(hash_u64(hash_str(HASH_INIT, b->kind), b->rows), b->hidden), b->inter);

	return (struct sample){ .name = b->name,
		                .cls = b->kind,
		                .group = group_of(b->rows),
		                .measured_ns = b->measured_ns,
		                .low_ns = b->measured_ns,
		                .high_ns = b->measured_ns,
		                .reps = 1,
		                .n_ops = (uint32_t)b->stream.n_ops,
		                .launch = UINT32_MAX,
		                .split = cases_split(h),
		                .hash = h };
}

int rows_add_blocks(struct rows *r, const struct block_row *b, size_t n, const struct machine_conf *conf,
                    const struct run_opts *how, enum sample_split split, struct err *e)
{
	struct run_opts mine = *how;
	int rc = 0;

	if (!(mine.memo = run_memo_new_from(conf->source, e)))
		return -1;
	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct sample x = sample_of_block(&b[i]);

		if (!x.measured_ns)
			r->unmeasured++;
		else if (sample_split_has(split, x.split))
			rc = rows_add_row(r, &b[i].stream, &x, conf, &mine, e);
	}
	run_memo_free(mine.memo);
	return rc;
}

/* --- a GPU's kernels ---------------------------------------------------------------------------------------------- */

/* Weights narrower than the activations are widened on their way into the tensor cores, and cost their bytes. Other
 * operands of another format than the op's are unpacked in a kernel of its own kind, which no template is of. */
static const struct op_tensor *other_format(const struct op_stream *s, const struct op *o)
{
	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *x = &s->operands[o->first_operand + i];
		const struct op_tensor *t = &s->tensors[x->tensor];

		if (o->kind == OP_GEMM && dtype_bits(t->dtype) < dtype_bits(o->dtype) && dtype_bits(o->dtype) == 16)
			continue;
		if (!x->write && (t->role == OP_WEIGHT || t->role == OP_KV) && t->dtype != o->dtype)
			return t;
	}
	return NULL;
}

int rows_have_kernels(const struct op_stream *s, const struct machine_conf *conf, struct err *e)
{
	const struct gpu g = machine_gpu(&conf->cfg);
	struct run_memo *memo = run_memo_new_from(conf->source, e);
	const struct kernels *k = memo ? run_memo_kernels(memo, e) : NULL;
	int rc = k ? 0 : -1;

	for (size_t i = 0; i < s->n_ops && rc == 0; i++) {
		const struct op *o = &s->ops[i];
		const struct op_tensor *t = other_format(s, o);
		struct geometry x;

		if (o->kind == OP_OPAQUE)
			continue;
		if (t)
			rc = err_set(
				e, ERR_IO,
				"row %zu of '%s', '%s': no kernel of a GPU's libraries is modelled for a %s of %s with %s"
				" operands",
				i + 1, s->source, o->name, op_kind_name(o->kind), dtype_name(o->dtype),
				dtype_name(t->dtype));
		else if (!gpu_geometry_of(&g, k, s, o, &x))
			rc = err_set(e, ERR_IO,
			             "row %zu of '%s', '%s': no kernel of a GPU's libraries is modelled for a %s of %s",
			             i + 1, s->source, o->name, op_kind_name(o->kind), dtype_name(o->dtype));
	}
	run_memo_free(memo);
	return rc;
}

/* --- some of them ------------------------------------------------------------------------------------------------- */

struct rows_place {
	uint64_t measured_ns;
	size_t at;
};

static int rows_by_time(const void *a, const void *b)
{
	const struct rows_place *x = a, *y = b;

	if (x->measured_ns != y->measured_ns)
		return x->measured_ns < y->measured_ns ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

int rows_evenly(const uint64_t *measured_ns, size_t n, size_t want, size_t *taken, struct err *e)
{
	struct rows_place *v = malloc((n + 1) * sizeof *v);

	if (!v)
		return err_nomem(e, "for samples");
	for (size_t i = 0; i < n; i++)
		v[i] = (struct rows_place){ measured_ns[i], i };
	qsort(v, n, sizeof *v, rows_by_time);
	for (size_t i = 0; i < want; i++)
		taken[i] = v[(2 * i + 1) * n / (2 * want)].at;
	free(v);
	return 0;
}
