/* t_rewrite.c - streams rewritten: exact bytes of a measured step, small streams by hand, and what must stay as it is. */
#include "sim/rewrite/rewrite.h"

#include <stdlib.h>

#include "sim/build/build.h"
#include "sim/lower/lower.h"
#include "traces/read/format.h"
#include "validate/tests/stepbed.h"
#include "validate/tests/synth.h"
#include "workloads/place.h"
#include "workloads/work.h"

/* --- the measured step ------------------------------------------------------------------------------------------- */

static void rewrite(const struct op_stream *s, const char *names, struct arena *a, struct op_stream *out,
                    struct rewrite_done done[REWRITES_MAX])
{
	struct rewrite_list l;
	struct err e = ERR_INIT;

	CHECK_OK(rewrite_parse(names, &l, &e), e);
	CHECK_OK(rewrite_stream(s, &l, a, out, done, &e), e);
	CHECK_OK(lower_check(out, &e), e);
	CHECK_U64(out->measured_ns, s->measured_ns);
	CHECK_U64(out->kernel_ns, s->kernel_ns);
	CHECK_U64(out->n_launches, s->n_launches);
}

static uint64_t flops(const struct op_stream *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_ops; i++)
		n += work_of(s, &s->ops[i]).flops;
	return n;
}

TEST(a_measured_step_appends_rows_instead_of_copying_63_mb)
{
	struct rewrite_done done[REWRITES_MAX];
	struct op_stream out;
	struct step x;
	size_t appends = 0;

	take(&x, "h200/kineto_dsocr_b1_c1024.json.gz", "decode_step_1");
	rewrite(&x.s, "kv-append", x.b.a, &out, done);
	/* 12 layers, keys and values: 10 heads of 128 in bf16, 1,024 rows that were there and one that is new. */
	CHECK_U64(done[0].changed, 24);
	CHECK_U64(done[0].removed, 0);
	CHECK_U64(done[0].read_before - done[0].read_after, 24 * 1024 * 10 * 128 * 2);
	CHECK_U64(done[0].write_before - done[0].write_after, 24 * 1024 * 10 * 128 * 2);
	CHECK_U64(out.n_ops, x.s.n_ops);
	CHECK_U64(flops(&out), flops(&x.s));
	for (size_t i = 0; i < out.n_ops; i++) {
		const struct op *o = &out.ops[i];
		const struct op_operand *w = &out.operands[o->first_operand + o->n_operands - 1];

		if (strcmp(o->rule, "kv-append") != 0)
			continue;
		appends++;
		CHECK(o->kind == OP_SCATTER && o->n_operands == 2 && w->write && out.tensors[w->tensor].external);
		CHECK_U64(w->offset, 1024 * 10 * 128 * 2);
		CHECK_U64(w->touched, 10 * 128 * 2);
		CHECK_U64(out.tensors[w->tensor].bytes, 1025 * 10 * 128 * 2);
		CHECK_U64(o->measured_ns, x.s.ops[i].measured_ns);
		CHECK_STR(o->name, "append kv 1280");
	}
	CHECK_U64(appends, 24);
	drop(&x);
}

/* Counted another way: a cast between the two is gone, and of every other op half of each fp32 value that the step makes.
 * All fp32 values of this step come from casts. */
static void without_detours(const struct op_stream *s, uint64_t *read, uint64_t *written, size_t *casts)
{
	*read = *written = *casts = 0;
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *o = &s->ops[i];

		if (o->kind == OP_CONVERT && ((o->dtype == DT_BF16 && o->out_dtype == DT_FP32) ||
		                              (o->dtype == DT_FP32 && o->out_dtype == DT_BF16))) {
			++*casts;
			continue;
		}
		for (uint32_t k = 0; k < o->n_operands; k++) {
			const struct op_operand *x = &s->operands[o->first_operand + k];
			const struct op_tensor *t = &s->tensors[x->tensor];

			*(x->write ? written : read) += x->touched / (t->dtype == DT_FP32 && !t->external ? 2 : 1);
		}
	}
}

TEST(a_measured_step_without_detours_has_no_fp32_left_that_it_makes)
{
	struct rewrite_done done[REWRITES_MAX];
	struct op_stream out;
	struct step x;
	uint64_t read, written, hosts = 0;
	size_t casts;

	take(&x, "h200/kineto_dsocr_b1_c1024.json.gz", "decode_step_1");
	without_detours(&x.s, &read, &written, &casts);
	rewrite(&x.s, "native-bf16", x.b.a, &out, done);
	CHECK_U64(done[0].removed, casts);
	CHECK_U64(done[0].kept, 0);
	CHECK_U64(done[0].read_after, read);
	CHECK_U64(done[0].write_after, written);
	CHECK_U64(out.n_ops, x.s.n_ops - casts);
	CHECK_U64(flops(&out), flops(&x.s));
	for (size_t i = 0; i < out.n_tensors; i++)
		CHECK(out.tensors[i].dtype != DT_FP32 || out.tensors[i].external);
	for (size_t i = 0; i < out.n_routes; i++)
		CHECK(out.ops[out.routes[i].topk_op].kind == OP_TOPK &&
		      out.ops[out.routes[i].sync_op].kind == OP_HOST_SYNC);
	for (size_t i = 0; i < out.n_ops; i++) {
		CHECK(out.ops[i].acc_dtype == DT_FP32 || out.ops[i].kind != OP_GEMM);
		hosts += out.ops[i].kind == OP_HOST_SYNC;
	}
	CHECK_U64(hosts, out.n_routes);
	drop(&x);
}

TEST(both_take_what_each_takes_alone)
{
	struct rewrite_done one[REWRITES_MAX], other[REWRITES_MAX], both[REWRITES_MAX], turned[REWRITES_MAX];
	struct op_stream a, b, c, d;
	struct step x;

	take(&x, "h200/kineto_dsocr_b1_c1024.json.gz", "decode_step_1");
	rewrite(&x.s, "kv-append", x.b.a, &a, one);
	rewrite(&x.s, "native-bf16", x.b.a, &b, other);
	rewrite(&x.s, "kv-append,native-bf16", x.b.a, &c, both);
	rewrite(&x.s, "native-bf16,kv-append", x.b.a, &d, turned);
	CHECK_U64(both[1].read_before - both[1].read_after, other[0].read_before - other[0].read_after);
	CHECK_U64(both[1].read_after, turned[1].read_after);
	CHECK_U64(both[1].write_after, turned[1].write_after);
	CHECK_U64(both[1].write_before - both[1].write_after, other[0].write_before - other[0].write_after);
	CHECK(strcmp(c.digest, a.digest) != 0 && strcmp(a.digest, x.s.digest) != 0 && strcmp(a.digest, b.digest) != 0);
	drop(&x);
}

/* --- streams by hand --------------------------------------------------------------------------------------------- */

#define MOST 32

struct made {
	struct arena *a;
	struct op_stream s;
	struct op ops[MOST];
	struct op_tensor tensors[MOST];
	struct op_operand operands[4 * MOST];
};

static void open_made(struct made *m)
{
	memset(m, 0, sizeof *m);
	m->a = arena_new(0);
	m->s = (struct op_stream){ .source = "by hand", .digest = "0", .wall_ns = -1 };
	m->s.ops = m->ops;
	m->s.tensors = m->tensors;
	m->s.operands = m->operands;
}

static uint32_t value(struct made *m, enum op_role role, enum dtype d, uint64_t elems, bool external)
{
	m->tensors[m->s.n_tensors] = (struct op_tensor){ .name = arena_printf(m->a, "t%zu", m->s.n_tensors),
		                                         .role = role,
		                                         .dtype = d,
		                                         .bytes = dtype_bytes(d, elems),
		                                         .instances = 1,
		                                         .layer = -1,
		                                         .route = -1,
		                                         .external = external };
	return (uint32_t)m->s.n_tensors++;
}

static struct op *add_op(struct made *m, enum op_kind kind, uint64_t elems)
{
	struct op *o = &m->ops[m->s.n_ops];

	*o = (struct op){ .id = (uint32_t)m->s.n_ops++,
		          .kind = kind,
		          .name = "op",
		          .family = "hand",
		          .rule = "hand",
		          .layer = -1,
		          .dtype = DT_FP32,
		          .out_dtype = DT_FP32,
		          .acc_dtype = DT_FP32,
		          .fn = "",
		          .shape = { .elems = elems, .arity = 1 },
		          .first_operand = (uint32_t)m->s.n_operands,
		          .routed_by = -1,
		          .measured_ns = 1000 };
	m->s.measured_ns += 1000;
	m->s.kernel_ns += 1000;
	return o;
}

static void uses(struct made *m, struct op *o, uint32_t t, bool write)
{
	m->operands[m->s.n_operands++] = (struct op_operand){
		.tensor = t, .write = write, .bytes = m->tensors[t].bytes, .touched = m->tensors[t].bytes
	};
	o->n_operands++;
}

/* An op of one value, cast where the formats differ; a new tensor of format d. */
static uint32_t one(struct made *m, uint32_t x, enum dtype d)
{
	const uint64_t elems = m->tensors[x].bytes * 8 / dtype_bits(m->tensors[x].dtype);
	struct op *o = add_op(m, d == m->tensors[x].dtype ? OP_ELEMENTWISE : OP_CONVERT, elems);
	const uint32_t y = value(m, OP_ACTIVATION, d, elems, false);

	o->dtype = m->tensors[x].dtype;
	o->out_dtype = d;
	o->cost = o->kind == OP_CONVERT ? OP_COST_MOVE : OP_COST_ALU;
	uses(m, o, x, false);
	uses(m, o, y, true);
	return y;
}

/* What an op does to a value in place. */
static void in_place(struct made *m, uint32_t x)
{
	struct op *o = add_op(m, OP_ELEMENTWISE, 64);

	o->dtype = o->out_dtype = m->tensors[x].dtype;
	o->cost = OP_COST_ALU;
	uses(m, o, x, false);
	uses(m, o, x, true);
}

static void rewrite_made(struct made *m, const char *names, struct op_stream *out, struct rewrite_done *done)
{
	struct err e = ERR_INIT;

	CHECK_OK(place_stream(&m->s, ERR_CONFIG, m->a, &e), e);
	CHECK_OK(lower_check(&m->s, &e), e);
	rewrite(&m->s, names, m->a, out, done);
}

static void close_made(struct made *m)
{
	arena_free(m->a);
}

TEST(a_detour_by_hand)
{
	struct rewrite_done d[REWRITES_MAX];
	struct op_stream out;
	struct made m;

	open_made(&m);
	/* 64 values in bf16: up (128 B in, 256 out), an op (256, 256), down (256, 128), an op (128, 128). */
	one(&m, one(&m, one(&m, one(&m, value(&m, OP_ACTIVATION, DT_BF16, 64, true), DT_FP32), DT_FP32), DT_BF16),
	    DT_BF16);
	rewrite_made(&m, "native-bf16", &out, d);
	CHECK_U64(d[0].read_before, 128 + 256 + 256 + 128);
	CHECK_U64(d[0].write_before, 256 + 256 + 128 + 128);
	CHECK_U64(d[0].read_after, 128 + 128);
	CHECK_U64(d[0].write_after, 128 + 128);
	CHECK_U64(out.n_ops, 2);
	CHECK_U64(out.n_tensors, 3);
	CHECK(out.ops[0].dtype == DT_BF16 && out.ops[0].out_dtype == DT_BF16);
	CHECK_U64(out.ops[0].measured_ns, 2000); /* with the cast's before it */
	CHECK_U64(out.ops[1].measured_ns, 2000);
	CHECK_U64(out.ops[1].n_deps, 1);
	close_made(&m);
}

TEST(fp32_that_no_cast_made_stays)
{
	struct rewrite_done d[REWRITES_MAX];
	struct op_stream out;
	struct made m;
	struct op *o;
	uint32_t x, gain;

	open_made(&m);
	one(&m, one(&m, value(&m, OP_CONSTANT, DT_FP32, 64, true), DT_FP32), DT_BF16); /* a table, then cast down */
	x = one(&m, value(&m, OP_ACTIVATION, DT_BF16, 64, true), DT_FP32);
	gain = value(&m, OP_WEIGHT, DT_FP32, 64, true);
	o = add_op(&m, OP_ELEMENTWISE, 64);
	uses(&m, o, x, false);
	uses(&m, o, gain, false);
	uses(&m, o, value(&m, OP_ACTIVATION, DT_FP32, 64, false), true);
	rewrite_made(&m, "native-bf16", &out, d);
	CHECK_U64(d[0].removed, 1);
	CHECK_U64(out.n_ops, 3);
	CHECK(out.ops[0].dtype == DT_FP32 && out.ops[1].kind == OP_CONVERT && out.ops[1].dtype == DT_FP32);
	/* The op with the fp32 gain computes in fp32, from what is read as bf16 now. */
	CHECK(out.ops[2].dtype == DT_FP32 && out.ops[2].out_dtype == DT_BF16);
	CHECK_U64(work_of(&out, &out.ops[2]).read_bytes, 128 + 256);
	CHECK_U64(work_of(&out, &out.ops[2]).write_bytes, 128);
	close_made(&m);
}

TEST(a_cast_whose_values_would_change_copies)
{
	struct rewrite_done d[REWRITES_MAX];
	struct op_stream out;
	struct made m;
	uint32_t x, up;

	open_made(&m); /* the result is changed, and what it was cast from is still wanted */
	x = one(&m, value(&m, OP_ACTIVATION, DT_BF16, 64, true), DT_BF16);
	up = one(&m, x, DT_FP32);
	in_place(&m, up);
	one(&m, x, DT_BF16);
	one(&m, up, DT_BF16);
	rewrite_made(&m, "native-bf16", &out, d);
	CHECK_U64(d[0].kept, 1);
	CHECK_U64(d[0].removed, 1);
	CHECK(out.ops[1].kind == OP_COPY && out.ops[1].dtype == DT_BF16);
	CHECK_U64(work_of(&out, &out.ops[1]).write_bytes, 128);
	close_made(&m);

	open_made(&m); /* what it was cast from is changed before the result is read */
	x = one(&m, value(&m, OP_ACTIVATION, DT_BF16, 64, true), DT_BF16);
	up = one(&m, x, DT_FP32);
	in_place(&m, x);
	one(&m, up, DT_FP32);
	rewrite_made(&m, "native-bf16", &out, d);
	CHECK_U64(d[0].kept, 1);
	CHECK_U64(d[0].removed, 0);
	close_made(&m);

	open_made(&m); /* nobody wants it any more: the change may be done to it */
	x = one(&m, value(&m, OP_ACTIVATION, DT_BF16, 64, true), DT_BF16);
	up = one(&m, x, DT_FP32);
	in_place(&m, up);
	one(&m, up, DT_FP32);
	rewrite_made(&m, "native-bf16", &out, d);
	CHECK_U64(d[0].kept, 0);
	CHECK_U64(out.n_ops, 3);
	close_made(&m);

	open_made(&m); /* two casts of one value, and one of the results is changed */
	x = one(&m, value(&m, OP_ACTIVATION, DT_BF16, 64, true), DT_BF16);
	up = one(&m, x, DT_FP32);
	in_place(&m, one(&m, x, DT_FP32));
	one(&m, up, DT_FP32);
	rewrite_made(&m, "native-bf16", &out, d);
	CHECK_U64(d[0].removed, 1);
	CHECK_U64(d[0].kept, 1);
	close_made(&m);
}

TEST(a_cast_of_a_part_or_of_spread_values_copies)
{
	struct rewrite_done d[REWRITES_MAX];
	struct op_stream out;
	struct made m;
	uint32_t up;

	open_made(&m);
	up = one(&m, value(&m, OP_ACTIVATION, DT_BF16, 64, true), DT_FP32);
	m.operands[0].touched = 2; /* one value for all */
	one(&m, up, DT_BF16);
	rewrite_made(&m, "native-bf16", &out, d);
	CHECK_U64(d[0].kept, 1);
	CHECK_U64(d[0].removed, 1);
	CHECK_U64(d[0].read_before - d[0].read_after, 256);
	CHECK_U64(work_of(&out, &out.ops[0]).read_bytes, 2);
	close_made(&m);

	open_made(&m); /* a piece in one is found where it lies */
	up = value(&m, OP_ACTIVATION, DT_BF16, 128, true);
	m.tensors[up].bytes = 128;
	up = one(&m, up, DT_FP32);
	m.tensors[0].bytes = 256;
	m.operands[0].offset = 96;
	one(&m, up, DT_FP32);
	rewrite_made(&m, "native-bf16", &out, d);
	CHECK_U64(out.n_ops, 1);
	CHECK_U64(out.operands[0].tensor, 0);
	CHECK_U64(out.operands[0].offset, 96);
	close_made(&m);
}

TEST(a_stream_of_casts_alone_keeps_an_op)
{
	struct rewrite_done d[REWRITES_MAX];
	struct op_stream out;
	struct made m;

	open_made(&m);
	one(&m, one(&m, value(&m, OP_ACTIVATION, DT_BF16, 64, true), DT_FP32), DT_BF16);
	rewrite_made(&m, "native-bf16", &out, d);
	CHECK_U64(out.n_ops, 1);
	CHECK_U64(out.ops[0].measured_ns, 2000);
	close_made(&m);
}

TEST(half_precision_has_a_rewrite_of_its_own)
{
	struct rewrite_done d[REWRITES_MAX];
	struct op_stream out;
	struct made m;

	open_made(&m);
	one(&m, one(&m, one(&m, value(&m, OP_ACTIVATION, DT_FP16, 64, true), DT_FP32), DT_FP32), DT_FP16);
	rewrite_made(&m, "native-bf16,native-fp16", &out, d);
	CHECK_U64(d[0].changed + d[0].removed + d[0].kept, 0);
	CHECK_U64(d[1].removed, 2);
	CHECK_U64(out.n_ops, 1);
	close_made(&m);
}

static uint32_t join(struct made *m, uint32_t past, uint64_t rows)
{
	struct op *o = add_op(m, OP_CONCAT, 0);
	const uint32_t fresh = value(m, OP_ACTIVATION, DT_BF16, rows, true),
		       out = value(m, OP_KV, DT_BF16, m->tensors[past].bytes / 2 + rows, false);

	uses(m, o, past, false);
	uses(m, o, fresh, false);
	uses(m, o, out, true);
	return out;
}

static uint32_t look(struct made *m, uint32_t cache)
{
	return one(m, cache, DT_BF16);
}

TEST(steps_that_share_an_old_cache_and_one_that_grows_further)
{
	struct rewrite_done d[REWRITES_MAX];
	struct op_stream out;
	struct made m;
	uint32_t old;

	open_made(&m); /* two steps of a trace begin with the same old cache; the third goes on from the second */
	old = value(&m, OP_KV, DT_BF16, 1000, true);
	look(&m, join(&m, old, 8));
	{
		const uint32_t grown = join(&m, old, 8);

		look(&m, grown);
		look(&m, join(&m, grown, 8));
	}
	rewrite_made(&m, "kv-append", &out, d);
	CHECK_U64(d[0].changed, 3);
	CHECK_U64(d[0].read_before - d[0].read_after, 2000 + 2000 + 2016);
	CHECK_U64(d[0].write_before - d[0].write_after, 2000 + 2000 + 2016);
	CHECK_U64(out.tensors[0].bytes, 2032);
	CHECK_U64(out.operands[out.ops[4].first_operand + 1].offset, 2016);
	/* The second step's row goes where the first one's was: behind whoever read that. */
	CHECK_U64(out.ops[2].n_deps, 1);
	CHECK_U64(out.deps[out.ops[2].first_dep], 1);
	close_made(&m);
}

TEST(a_grown_cache_that_is_still_read_is_not_written_over)
{
	struct rewrite_done d[REWRITES_MAX];
	struct op_stream out;
	struct made m;
	uint32_t old, first;

	open_made(&m);
	old = value(&m, OP_KV, DT_BF16, 1000, true);
	first = join(&m, old, 8);
	look(&m, join(&m, old, 8));
	look(&m, first);
	rewrite_made(&m, "kv-append", &out, d);
	CHECK_U64(d[0].changed, 1);
	CHECK(out.ops[1].kind == OP_CONCAT);
	close_made(&m);
}

TEST(other_joins_stay)
{
	struct rewrite_done d[REWRITES_MAX];
	struct op_stream out;
	struct made m;
	uint32_t x;

	open_made(&m);
	x = value(&m, OP_ACTIVATION, DT_BF16, 64, true);
	m.tensors[join(&m, x, 8)].role = OP_ACTIVATION;   /* of no cache */
	join(&m, value(&m, OP_KV, DT_BF16, 64, true), 8); /* read in part */
	m.operands[m.s.n_operands - 3].touched -= 2;
	join(&m, value(&m, OP_KV, DT_FP16, 64, true), 8); /* of another format */
	rewrite_made(&m, "kv-append", &out, d);
	CHECK_U64(d[0].changed, 0);
	CHECK(out.ops == m.s.ops && out.digest == m.s.digest);
	CHECK_STR(rewrite_text(&(struct rewrite_list){ { d[0].how }, 1 }, d, m.a), "kv-append (nothing)");
	close_made(&m);
}

/* --- models and made-up steps ---------------------------------------------------------------------------------------- */

TEST(a_model_as_a_framework_runs_it_is_rewritten_too)
{
	struct build_how how = { .style = BUILD_EAGER, .batch = 2, .context = 100, .tokens = 3 };
	struct rewrite_done d[REWRITES_MAX];
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;
	struct model *m = model_load("llama-3.2-1b", &e);
	struct op_stream s, out;

	CHECK_OK(m ? 0 : -1, e);
	how.kv = m->dtype;
	how.quant = scheme_find("bf16", &e);
	CHECK_OK(build_stream(m, &how, a, &s, &e), e);
	rewrite(&s, "kv-append,native-bf16", a, &out, d);
	/* 16 layers, keys and values, 3 tokens: 8 heads of 64 for 2 sequences, behind 100, 101 and 102 rows. */
	CHECK_U64(d[0].changed, 16 * 2 * 3);
	CHECK_U64(d[0].write_before - d[0].write_after, UINT64_C(16) * 2 * (100 + 101 + 102) * 8 * 64 * 2 * 2);
	CHECK(d[1].removed > 90);
	model_free(m);
	arena_free(a);
}

TEST(random_steps_stay_sound)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct arena *a = arena_new(0);
		struct rewrite_done d[REWRITES_MAX];
		struct op_stream *s, out;
		struct err e = ERR_INIT;
		struct rng r;

		rng_seed(&r, seed, "rewrite");
		s = synth_step(&r, a, 1 + (int)(seed % 4), seed & 1);
		/* Formats at random: casts wherever they may be. */
		for (size_t i = 0; i < s->n_tensors; i++)
			if (s->tensors[i].dtype == DT_BF16 && rng_below(&r, 2)) {
				s->tensors[i].dtype = DT_FP32;
				s->tensors[i].bytes *= 2;
			}
		for (size_t i = 0; i < s->n_operands; i++) {
			struct op_operand *x = &s->operands[i];

			if (s->tensors[x->tensor].dtype == DT_FP32)
				x->offset *= 2, x->bytes *= 2, x->touched *= 2;
		}
		s->measured_ns = 0;
		for (size_t i = 0; i < s->n_ops; i++) {
			s->measured_ns += s->ops[i].measured_ns;
			if (s->ops[i].kind == OP_ELEMENTWISE && rng_below(&r, 2))
				s->ops[i].kind = OP_CONVERT;
		}
		CHECK_OK(place_stream(s, ERR_CONFIG, a, &e), e);
		rewrite(s, seed & 2 ? "kv-append,native-bf16" : "native-bf16,native-fp16,kv-append", a, &out, d);
		CHECK(d[0].read_after <= d[0].read_before && d[0].write_after <= d[0].write_before);
		arena_free(a);
	}
}

TEST(memory_that_runs_out_is_an_error_wherever_it_does)
{
	struct rewrite_done d[REWRITES_MAX];
	struct rewrite_list l;
	struct err e = ERR_INIT;
	struct made m;
	size_t failures = 0, limit = 0;
	int rc;

	open_made(&m);
	look(&m, join(&m, value(&m, OP_KV, DT_BF16, 1000, true), 8));
	one(&m, one(&m, value(&m, OP_ACTIVATION, DT_BF16, 64, true), DT_FP32), DT_FP32);
	CHECK_OK(place_stream(&m.s, ERR_CONFIG, m.a, &e), e);
	CHECK_OK(rewrite_parse("kv-append,native-bf16", &l, &e), e);
	do {
		struct arena *a = arena_new(limit += 64);
		struct op_stream out;

		err_clear(&e);
		if ((rc = rewrite_stream(&m.s, &l, a, &out, d, &e)) < 0)
			CHECK(e.kind == ERR_NOMEM);
		failures += rc < 0;
		arena_free(a);
	} while (rc < 0 && limit < 1000000);
	CHECK(rc == 0 && failures > 20);
	close_made(&m);
}

/* --- names ------------------------------------------------------------------------------------------------------- */

static void refused(const char *names, const char *because)
{
	struct rewrite_list l;
	struct err e = ERR_INIT;

	CHECK(rewrite_parse(names, &l, &e) == -1 && e.kind == ERR_USAGE);
	CHECK_HAS(e.msg, because);
}

TEST(names_are_held_against_the_table)
{
	refused("kv-apend", "did you mean 'kv-append'");
	refused("native-bf16,native_fp16", "did you mean 'native-fp16'");
	refused("quantise", "there are kv-append, native-bf16, native-fp16");
	refused("kv-append,kv-append", "given twice");
	refused("", "unknown rewrite ''");
	refused("kv-append,", "unknown rewrite ''");
	refused(",kv-append", "unknown rewrite ''");
	refused("kv-append-kv-append-kv-append-kv-append-kv-append-kv-append-kv-append-kv-append", "unknown rewrite");
}

SUITE(t_rewrite, T(a_measured_step_appends_rows_instead_of_copying_63_mb),
      T(a_measured_step_without_detours_has_no_fp32_left_that_it_makes), T(both_take_what_each_takes_alone),
      T(a_detour_by_hand), T(fp32_that_no_cast_made_stays), T(a_cast_whose_values_would_change_copies),
      T(a_cast_of_a_part_or_of_spread_values_copies), T(a_stream_of_casts_alone_keeps_an_op),
      T(half_precision_has_a_rewrite_of_its_own), T(steps_that_share_an_old_cache_and_one_that_grows_further),
      T(a_grown_cache_that_is_still_read_is_not_written_over), T(other_joins_stay),
      T(a_model_as_a_framework_runs_it_is_rewritten_too), T(random_steps_stay_sound),
      T(memory_that_runs_out_is_an_error_wherever_it_does), T(names_are_held_against_the_table));
