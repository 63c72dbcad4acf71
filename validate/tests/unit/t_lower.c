/* t_lower.c - from traces to op streams: exact figures of two real decode steps, and small traces made to trip it. */
#include "sim/lower/lower.h"

#include "traces/read/format.h"
#include "validate/tests/mktrace.h"
#include "validate/tests/tracebed.h"
#include "workloads/work.h"

#define DSOCR "traces/h200/kineto_dsocr_b1_c1024.json.gz"
#define LLAMA "traces/h200/kineto_llama1b_b1_c256.json.gz"

struct low {
	struct bed b;
	struct rules *r;
	struct op_stream s;
	struct lower_stats st;
};

static struct rules *default_table(void)
{
	struct err e = ERR_INIT;
	char path[4096];
	struct rules *r;

	snprintf(path, sizeof path, "%s/configs/rules/pytorch-cuda.yaml", test_root());
	r = rules_load(path, &e);
	CHECK_OK(r ? 0 : -1, e);
	return r;
}

static void low_open(struct low *l, const char *file, const char *range)
{
	char path[4096], db[600];

	bed_open(&l->b, test_path(db, sizeof db, "%s.db", range ? range : "all"), DB_WRITE);
	snprintf(path, sizeof path, "%s/%s", test_root(), file);
	CHECK_OK(format_import(l->b.db, FORMAT_KINETO, path, NULL, NULL, &l->b.st, &l->b.e), l->b.e);
	bed_load(&l->b, range);
	l->r = default_table();
	CHECK_OK(lower_trace(&l->b.t, l->r, l->b.a, &l->s, &l->st, &l->b.e), l->b.e);
	CHECK_OK(lower_check(&l->s, &l->b.e), l->b.e);
}

static void low_close(struct low *l)
{
	rules_free(l->r);
	bed_close(&l->b);
}

/* --- asking a stream -------------------------------------------------------------------------------------------- */

static uint64_t of_kind(const struct op_stream *s, enum op_kind k)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_ops; i++)
		n += s->ops[i].kind == k;
	return n;
}

static const struct op_operand *reads(const struct op_stream *s, uint32_t op, uint32_t nth)
{
	const struct op *o = &s->ops[op];

	for (uint32_t i = 0; i < o->n_operands; i++)
		if (!s->operands[o->first_operand + i].write && nth-- == 0)
			return &s->operands[o->first_operand + i];
	test_fail(__FILE__, __LINE__, "op %u reads too little", op);
}

/* Op that wrote what `op` reads as its nth input, UINT32_MAX: external. */
static uint32_t made_by(const struct op_stream *s, uint32_t op, uint32_t nth)
{
	uint32_t t = reads(s, op, nth)->tensor;

	for (uint32_t i = op; i-- > 0;)
		for (uint32_t j = 0; j < s->ops[i].n_operands; j++) {
			const struct op_operand *x = &s->operands[s->ops[i].first_operand + j];

			if (x->write && x->tensor == t)
				return i;
		}
	return UINT32_MAX;
}

static const struct op_tensor *tensor_named(const struct op_stream *s, const char *name)
{
	for (size_t i = 0; i < s->n_tensors; i++)
		if (strcmp(s->tensors[i].name, name) == 0)
			return &s->tensors[i];
	test_fail(__FILE__, __LINE__, "no tensor '%s'", name);
}

static void deps_are(const struct op_stream *s, uint32_t op, uint32_t n, const uint32_t *want)
{
	const struct op *o = &s->ops[op];

	if (o->n_deps != n || memcmp(s->deps + o->first_dep, want, n * sizeof *want) != 0)
		test_fail(__FILE__, __LINE__, "op %u ('%s') has %u dependences, not the %u expected", op, o->name,
		          o->n_deps, n);
}

/* Whoever waits for just its dependences never sees a half-written range: each pair of ops that touch the same bytes,
 * one of them writing, is ordered. */
static void check_order(const struct op_stream *s)
{
	size_t n = s->n_ops, words = (n + 63) / 64;
	uint64_t *before = calloc(n * words, sizeof *before);

	CHECK(before);
	for (size_t i = 0; i < n; i++) {
		const struct op *o = &s->ops[i];

		for (uint32_t d = 0; d < o->n_deps; d++) {
			uint32_t on = s->deps[o->first_dep + d];

			for (size_t k = 0; k < words; k++)
				before[i * words + k] |= before[on * words + k];
			before[i * words + on / 64] |= UINT64_C(1) << on % 64;
		}
		for (size_t j = 0; j < i; j++)
			for (uint32_t x = 0; x < o->n_operands && !(before[i * words + j / 64] >> j % 64 & 1); x++)
				for (uint32_t y = 0; y < s->ops[j].n_operands; y++) {
					const struct op_operand *a = &s->operands[o->first_operand + x];
					const struct op_operand *b = &s->operands[s->ops[j].first_operand + y];
					uint64_t p = s->tensors[a->tensor].addr + a->offset,
						 q = s->tensors[b->tensor].addr + b->offset;

					if ((a->write || b->write) && p < q + b->bytes && q < p + a->bytes)
						test_fail(__FILE__, __LINE__, "op %zu does not wait for op %zu", i, j);
				}
	}
	free(before);
}

/* --- a decode step of a mixture of experts ------------------------------------------------------------------------ */

TEST(every_activity_of_a_decode_step_is_in_one_modelled_op)
{
	static const struct {
		enum op_kind kind;
		uint64_t n;
	} kinds[] = {
		{ OP_GEMM, 294 },  { OP_ATTENTION, 12 }, { OP_ELEMENTWISE, 456 }, { OP_CONVERT, 95 },
		{ OP_REDUCE, 48 }, { OP_SOFTMAX, 11 },   { OP_COPY, 33 },         { OP_CONCAT, 59 },
		{ OP_GATHER, 11 }, { OP_SCATTER, 22 },   { OP_TOPK, 11 },         { OP_SORT, 11 },
		{ OP_EMBED, 1 },   { OP_HOST_SYNC, 11 }, { OP_OPAQUE, 0 },
	};
	uint64_t total = 0, twice = 0, ns = 0;
	struct low l;

	low_open(&l, DSOCR, "decode_step_1");
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (of_kind(&l.s, kinds[i].kind) != kinds[i].n)
			test_fail(__FILE__, __LINE__, "%llu ops of kind '%s'",
			          (unsigned long long)of_kind(&l.s, kinds[i].kind), op_kind_name(kinds[i].kind));
		total += kinds[i].n;
	}
	CHECK_U64(l.s.n_ops, total);
	CHECK_U64(l.s.n_launches, 1100);
	for (size_t i = 0; i < l.s.n_ops; i++) {
		twice += l.s.ops[i].n_launches == 2;
		CHECK(l.s.ops[i].n_launches == 1 || l.s.ops[i].n_launches == 2);
		CHECK(l.s.ops[i].phase == OP_DECODE && *l.s.ops[i].name);
	}
	CHECK_U64(twice, 25); /* 12 attentions, 11 routers, a split-K product,
		a set before the last */
	for (size_t i = 0; i < l.b.t.n_launches; i++)
		ns += (uint64_t)l.b.t.launches[i].dur_ns;
	CHECK_U64(l.s.measured_ns, ns);
	CHECK_U64(l.s.kernel_ns, 2850418);
	CHECK_U64(l.st.lowered_kernel_ns, l.st.kernel_ns);
	CHECK_U64(l.s.opaque_ns + l.st.opaque_ns, 0);
	CHECK_U64(l.st.kernels, 1055);
	CHECK_U64(l.st.ops, 1075);
	CHECK_U64(l.s.wall_ns, (uint64_t)-1);
	low_close(&l);
}

TEST(a_step_reads_each_weight_once_and_the_picked_experts)
{
	uint64_t products = 0, role[OP_CONSTANT + 1] = { 0 }, gains = 0, old_kv = 0, new_kv = 0, tables = 0;
	struct low l;

	low_open(&l, DSOCR, "decode_step_1");
	for (size_t i = 0; i < l.s.n_ops; i++) {
		struct work w = work_of(&l.s, &l.s.ops[i]);
		bool projects = l.s.ops[i].kind == OP_GEMM || l.s.ops[i].kind == OP_CONVERT;

		products += projects ? w.role_read_bytes[OP_WEIGHT] : 0;
		gains += l.s.ops[i].kind == OP_ELEMENTWISE ? w.role_read_bytes[OP_WEIGHT] : 0;
		for (int r = 0; r <= OP_CONSTANT; r++)
			role[r] += w.role_read_bytes[r];
	}
	CHECK_U64(products, 1148190720); /* attention, the dense layer, 6 of 64 and 2 shared experts, routers,
		head */
	CHECK_U64(gains, 25 * 2560);
	CHECK_U64(role[OP_WEIGHT], products + gains + 2560); /* and one row of the embedding */
	for (size_t i = 0; i < l.s.n_tensors; i++) {
		const struct op_tensor *t = &l.s.tensors[i];

		old_kv += t->role == OP_KV && t->external ? t->bytes : 0;
		new_kv += t->role == OP_KV && !t->external ? t->bytes : 0;
		tables += t->role == OP_CONSTANT;
		CHECK(t->inferred && t->name);
		if (t->role == OP_WEIGHT)
			CHECK(t->external && t->addr % 512 == 0);
		CHECK(t->addr % 256 == 0 && t->addr > 0);
	}
	CHECK_U64(old_kv, 62914560);
	CHECK_U64(new_kv, 24 * 2624000);
	CHECK_U64(tables, 2); /* cosines and sines, one each for all layers */
	CHECK_U64(role[OP_KV], old_kv + new_kv);
	CHECK_U64(role[OP_CONSTANT], 48 * 256);
	low_close(&l);
}

TEST(the_graph_of_a_layer_is_the_models)
{
	struct low l;

	low_open(&l, DSOCR, "decode_step_1");
	CHECK_STR(l.s.ops[9].name, "gemv 1280x1280");
	for (uint32_t i = 9; i < 12; i++) /* q, k and v read the norm's result and nothing else */
		deps_are(&l.s, i, 1, (uint32_t[]){ 8 });
	deps_are(&l.s, 6, 2, (uint32_t[]){ 1, 5 }); /* x times the root: of x, not of its square */
	deps_are(&l.s, 12, 1, (uint32_t[]){ 9 });   /* q rotates ... */
	deps_are(&l.s, 13, 1, (uint32_t[]){ 9 });
	deps_are(&l.s, 14, 2, (uint32_t[]){ 9, 13 });
	deps_are(&l.s, 16, 2, (uint32_t[]){ 12, 15 });
	deps_are(&l.s, 17, 1, (uint32_t[]){ 10 }); /* ... and k apart from it */
	deps_are(&l.s, 21, 2, (uint32_t[]){ 17, 20 });
	deps_are(&l.s, 22, 1, (uint32_t[]){ 21 }); /* the caches grow by k and by v */
	deps_are(&l.s, 23, 1, (uint32_t[]){ 11 });
	CHECK_STR(l.s.ops[24].name, "attention 10x128 kv 1025");
	deps_are(&l.s, 24, 3, (uint32_t[]){ 16, 22, 23 });
	deps_are(&l.s, 26, 2, (uint32_t[]){ 0, 25 }); /* the residual is the embedding */
	deps_are(&l.s, 37, 1, (uint32_t[]){ 34 });    /* up reads what gate read */
	deps_are(&l.s, 38, 2, (uint32_t[]){ 36, 37 });
	CHECK(made_by(&l.s, 40, 0) == 26 && made_by(&l.s, 40, 1) == 39);
	CHECK_STR(l.s.tensors[reads(&l.s, 24, 1)->tensor].name, "layer0.k");
	CHECK_STR(l.s.tensors[reads(&l.s, 24, 2)->tensor].name, "layer0.v");
	CHECK_STR(l.s.tensors[reads(&l.s, 22, 0)->tensor].name, "layer0.k_old");
	CHECK(reads(&l.s, 12, 1)->tensor == reads(&l.s, 17, 1)->tensor);
	CHECK(reads(&l.s, 12, 1)->tensor != reads(&l.s, 15, 1)->tensor);
	CHECK(reads(&l.s, 13, 0)->touched == 1280 && reads(&l.s, 13, 0)->bytes == 2432); /* half of each head */
	CHECK(reads(&l.s, 0, 0)->touched == 2560 && reads(&l.s, 0, 0)->offset % 2560 == 0);
	low_close(&l);
}

TEST(experts_are_routed_and_their_results_meet_again)
{
	struct low l;
	uint32_t routed = 0;

	low_open(&l, DSOCR, "decode_step_1");
	CHECK_U64(l.s.n_routes, 11);
	for (uint32_t i = 0; i < 11; i++) {
		const struct op_route *r = &l.s.routes[i];

		CHECK(r->experts == 64 && r->top == 6 && r->layer == (int32_t)i + 1);
		CHECK(l.s.ops[r->topk_op].kind == OP_TOPK && l.s.ops[r->sync_op].kind == OP_HOST_SYNC);
	}
	for (uint32_t i = 0; i < l.s.n_ops; i++) {
		const struct op *o = &l.s.ops[i];
		const struct op_operand *w;

		if (o->routed_by < 0)
			continue;
		w = reads(&l.s, i, 1);
		CHECK(o->kind == OP_GEMM && l.s.tensors[w->tensor].route == o->routed_by);
		CHECK(l.s.tensors[w->tensor].instances == 64 &&
		      l.s.tensors[w->tensor].stride >= l.s.tensors[w->tensor].bytes);
		CHECK_U64(w->slot, routed % 18 / 3);
		routed++;
	}
	CHECK_U64(routed, 11 * 18);
	CHECK(tensor_named(&l.s, "layer5.expert.w2")->bytes == 896 * 1280 * 2);
	/* the first routed layer: op 79 top-k, 89 gather, 90 host read, 91 to 120 six experts, 121 concat */
	CHECK_U64(l.s.routes[0].topk_op, 79);
	CHECK_U64(l.s.routes[0].sync_op, 90);
	CHECK(made_by(&l.s, 90, 0) == 82 && made_by(&l.s, 89, 0) == 74 && made_by(&l.s, 89, 1) == 88);
	CHECK(made_by(&l.s, 87, 0) == 83 && made_by(&l.s, 83, 0) == 79); /* the sort is of the picks */
	for (uint32_t e = 0; e < 6; e++) {
		uint32_t gate = 91 + 5 * e;

		CHECK(made_by(&l.s, gate, 0) == 89 && made_by(&l.s, gate + 2, 0) == 89);
		CHECK(reads(&l.s, gate, 0)->offset == e * 2560 && reads(&l.s, gate, 0)->bytes == 2560);
		CHECK(made_by(&l.s, gate + 3, 0) == gate + 1 && made_by(&l.s, gate + 3, 1) == gate + 2);
		CHECK(made_by(&l.s, gate + 4, 0) == gate + 3);
		CHECK(made_by(&l.s, 121, e) == gate + 4);
	}
	CHECK(made_by(&l.s, 124, 1) == 79);                                /* weighted by the top-k's values */
	CHECK(made_by(&l.s, 127, 0) == 74 && made_by(&l.s, 129, 0) == 74); /* shared experts read the router's input */
	CHECK(made_by(&l.s, 132, 0) == 126 && made_by(&l.s, 132, 1) == 131);
	CHECK(made_by(&l.s, 133, 0) == 66 && made_by(&l.s, 133, 1) == 132);
	/* the router's weight is bf16, converted every step; what its product reads is the conversion */
	CHECK_STR(l.s.tensors[reads(&l.s, 76, 0)->tensor].name, "layer1.w4");
	CHECK(l.s.tensors[reads(&l.s, 76, 0)->tensor].role == OP_WEIGHT && made_by(&l.s, 77, 1) == 76);
	CHECK(l.s.tensors[reads(&l.s, 77, 1)->tensor].role == OP_ACTIVATION);
	low_close(&l);
}

/* All routed layers are one program: same ops, same producers relative to the layer's start. */
TEST(layers_repeat_and_are_numbered)
{
	uint32_t first[13] = { 0 }, n[13] = { 0 };
	struct low l;

	low_open(&l, DSOCR, "decode_step_1");
	for (uint32_t i = 0; i < l.s.n_ops; i++) {
		int32_t layer = l.s.ops[i].layer;

		CHECK(layer >= -1 && layer < 12);
		if (layer >= 0 && !n[layer]++)
			first[layer] = i;
	}
	CHECK(first[0] == 1 && n[0] == 40);
	CHECK_U64(l.s.ops[0].layer, (uint64_t)-1);
	for (uint32_t k = 1; k < 12; k++) {
		CHECK(n[k] == 93 && first[k] == 41 + 93 * (k - 1));
		for (uint32_t i = 0; i < 93; i++) {
			const struct op *a = &l.s.ops[first[1] + i], *b = &l.s.ops[first[k] + i];
			uint32_t inputs = 0;

			CHECK(a->kind == b->kind && a->n_operands == b->n_operands);
			CHECK_STR(a->name, b->name);
			for (uint32_t j = 0; j < a->n_operands; j++)
				inputs += !l.s.operands[a->first_operand + j].write;
			for (uint32_t j = 0; j < inputs; j++) {
				uint32_t x = made_by(&l.s, a->id, j), y = made_by(&l.s, b->id, j);

				if (x == UINT32_MAX ? y != x : y - first[k] != x - first[1])
					test_fail(__FILE__, __LINE__,
					          "op %u ('%s'), input %u: made by %u, in layer 1 by %u", b->id,
					          b->name, j, y, x);
			}
		}
	}
	CHECK_U64(l.s.ops[1064].layer, (uint64_t)-1); /* the last norm, the head and the arg-max */
	CHECK_STR(l.s.ops[1072].name, "gemv 1280x129280");
	low_close(&l);
}

TEST(launches_keep_their_geometry_and_what_they_wait_for)
{
	struct low l;
	const struct op_launch *x;

	low_open(&l, DSOCR, "decode_step_1");
	x = &l.s.launches[l.s.ops[9].first_launch];
	CHECK(x->grid[0] == 4 && x->grid[1] == 20 && x->block[0] == 384 && x->cluster[0] == 4 && x->cluster[1] == 1 &&
	      x->cluster[2] == 1);
	CHECK(x->wait_kind == OP_WAIT_STREAM && x->waits_for == (int32_t)l.s.ops[8].first_launch &&
	      x->host_start_ns > 0);
	CHECK_U64(l.s.launches[0].waits_for, (uint64_t)-1);
	x = &l.s.launches[l.s.ops[39].first_launch];
	CHECK_HAS(x[0].name, "splitK_TNT");
	CHECK_HAS(x[1].name, "splitKreduce");
	CHECK_U64(l.s.ops[39].measured_ns, x[0].measured_ns + x[1].measured_ns);
	x = &l.s.launches[l.s.ops[1072].first_launch];
	CHECK(x[0].kind == TRACE_MEMSET && x[1].kind == TRACE_KERNEL && x[1].cluster[0] == 2);
	CHECK_STR(l.s.ops[1072].family, "gemv");
	CHECK(l.s.ops[24].algorithm == OP_ATTN_SPLIT_KV && l.s.ops[24].n_launches == 2);
	CHECK_STR(l.s.ops[24].family, "attention");
	low_close(&l);
}

TEST(dependences_order_every_conflict_on_memory)
{
	struct low l;

	low_open(&l, DSOCR, "decode_step_1");
	check_order(&l.s);
	low_close(&l);
}

TEST(steps_of_one_trace_share_their_weights_and_old_caches)
{
	uint64_t weights[2] = { 0 }, kv[2] = { 0 };
	struct low one, all;
	uint32_t embeds = 0;

	low_open(&all, DSOCR, NULL);
	low_open(&one, DSOCR, "decode_step_2");
	CHECK_U64(all.s.n_ops, 3 * 1075);
	CHECK_U64(all.s.n_routes, 33);
	for (int k = 0; k < 2; k++) {
		const struct op_stream *s = k ? &all.s : &one.s;

		for (size_t i = 0; i < s->n_tensors; i++)
			if (s->tensors[i].external && s->tensors[i].role == OP_WEIGHT)
				weights[k] += s->tensors[i].bytes * s->tensors[i].instances;
			else if (s->tensors[i].role == OP_KV && s->tensors[i].external)
				kv[k] += s->tensors[i].bytes;
	}
	CHECK(weights[0] == weights[1] && kv[0] == kv[1] && kv[0] == 62914560);
	for (uint32_t i = 0; i < all.s.n_ops; i++)
		if (all.s.ops[i].kind == OP_EMBED && embeds++)
			CHECK(all.s.ops[made_by(&all.s, i, 1)].reduce ==
			      OP_RED_ARGMAX); /* the next token is the last one's */
	CHECK_U64(embeds, 3);
	CHECK(all.s.ops[1075 + 5].layer == 0 && all.s.ops[2 * 1075 + 1074].layer == -1);
	low_close(&one);
	low_close(&all);
}

TEST(a_dense_model_routes_nothing_and_groups_its_heads)
{
	struct low l;
	uint64_t products = 0;

	low_open(&l, LLAMA, "decode_step_1");
	CHECK_U64(l.s.n_routes, 0);
	CHECK_U64(l.s.n_ops, 652);
	CHECK_U64(of_kind(&l.s, OP_GEMM), 113);
	CHECK_U64(of_kind(&l.s, OP_HOST_SYNC) + of_kind(&l.s, OP_OPAQUE), 0);
	for (size_t i = 0; i < l.s.n_ops; i++) {
		const struct op *o = &l.s.ops[i];

		CHECK(o->layer < 16 && o->routed_by == -1);
		if (o->kind == OP_GEMM)
			products += work_of(&l.s, o).role_read_bytes[OP_WEIGHT];
		if (o->kind == OP_ATTENTION)
			CHECK(o->shape.heads == 32 && o->shape.kv_heads == 8 && o->shape.kv_len == 257 &&
			      o->algorithm == OP_ATTN_FLASH);
	}
	/* 16 layers of q, o (2048 x 2048), k, v (2048 x 512), three of 2048 x 8192, and the head */
	CHECK_U64(products,
	          2 * (16 * (2 * 2048 * 2048 + 2 * 2048 * 512 + UINT64_C(3) * 2048 * 8192) + UINT64_C(2048) * 128256));
	check_order(&l.s);
	low_close(&l);
}

/* --- by hand ------------------------------------------------------------------------------------------------------ */

struct hand {
	struct mk m;
	struct rules *r;
	struct op_stream s;
	struct lower_stats st;
	struct err e;
};

static void hand_open(struct hand *h)
{
	memset(h, 0, sizeof *h);
	mk_open(&h->m);
	h->r = default_table();
}

static void hand_lower(struct hand *h)
{
	CHECK_OK(lower_trace(&h->m.t, h->r, h->m.a, &h->s, &h->st, &h->e), h->e);
	CHECK_OK(lower_check(&h->s, &h->e), h->e);
	check_order(&h->s);
}

static void hand_close(struct hand *h)
{
	rules_free(h->r);
	mk_close(&h->m);
}

static void product(struct hand *h, const char *args)
{
	mk_kernel(&h->m, "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", "aten::mm", args);
}

static void simple(struct hand *h, const char *kernel, const char *op, const char *args)
{
	char *name =
		arena_printf(h->m.a, "void at::native::vectorized_elementwise_kernel<8, at::native::%s, 3ul>", kernel);

	mk_kernel(&h->m, name, op, args);
}

TEST(a_trace_of_nothing_is_a_stream_of_nothing)
{
	struct hand h;

	hand_open(&h);
	hand_lower(&h);
	CHECK_U64(h.s.n_ops + h.s.n_tensors + h.s.n_launches + h.s.n_deps + h.s.measured_ns, 0);
	hand_close(&h);
}

TEST(what_nobody_knows_is_opaque_and_carries_its_time)
{
	struct hand h;

	hand_open(&h);
	mk_launch(&h.m, "secret_kernel", NULL)->dur_ns = 700;
	mk_kernel(&h.m, "secret_kernel", "mine::op", "bf16[4]");
	mk_launch(&h.m, "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", NULL); /* known, but no shapes */
	product(&h, "bf16[1,8] bf16[9,8]");                              /* shapes that do not agree */
	product(&h, "bf16[1,4611686018427387904] bf16[4611686018427387904,4]");
	product(&h, "");
	mk_launch(&h.m, "secret_kernel", NULL)->dur_ns = -5; /* time that runs backwards is none */
	hand_lower(&h);
	CHECK_U64(h.s.n_ops, 7);
	for (size_t i = 0; i < 7; i++)
		CHECK(h.s.ops[i].kind == OP_OPAQUE && h.s.ops[i].n_operands == 0 && h.s.ops[i].n_deps == 0 &&
		      *h.s.ops[i].name);
	CHECK_U64(h.s.opaque_ns, 5700);
	CHECK_U64(h.s.measured_ns, 5700);
	CHECK_U64(h.st.lowered_kernel_ns, 0);
	CHECK_STR(h.s.ops[0].family, "other");
	CHECK_STR(h.s.ops[0].name, "secret_kernel");
	CHECK_STR(h.s.ops[2].family, "gemm");
	hand_close(&h);
}

TEST(what_joins_the_previous_launch_needs_one)
{
	struct hand h;
	struct trace_op *mm;

	hand_open(&h);
	mk_launch(&h.m, "void cublasLt::splitKreduce_kernel<32>", NULL); /* op 0: first of all */
	mm = mk_op(&h.m, "aten::mm", "bf16[1,64] bf16[64,8]");
	mk_launch(&h.m, "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT", mm); /* op 1, with the next two */
	mk_launch(&h.m, "void cublasLt::splitKreduce_kernel<32>", mm);
	mk_launch(&h.m, "void cublasLt::splitKreduce_kernel<32>", NULL);
	simple(&h, "silu_kernel(x)", "aten::silu", "bf16[1,8]");                   /* op 2 */
	mk_launch(&h.m, "void cublasLt::splitKreduce_kernel<32>", NULL);           /* op 3: behind no product */
	mk_launch(&h.m, "void cublasLt::splitKreduce_kernel<32>", mm)->stream = 9; /* op 4: on another stream */
	hand_lower(&h);
	CHECK_U64(h.s.n_ops, 5);
	CHECK(h.s.ops[0].kind == OP_OPAQUE && h.s.ops[1].kind == OP_GEMM && h.s.ops[1].n_launches == 3);
	CHECK(h.s.ops[3].kind == OP_OPAQUE && h.s.ops[4].n_launches == 1);
	CHECK_U64(h.s.ops[1].measured_ns, 3000);
	CHECK_STR(h.s.ops[1].family, "gemv");
	CHECK_STR(h.s.ops[0].family, "splitk_reduce");
	hand_close(&h);
}

TEST(a_set_belongs_to_the_product_it_clears_for_and_else_to_itself)
{
	struct hand h;
	struct trace_op *mm;

	hand_open(&h);
	mk_set(&h.m, 512, mk_op(&h.m, "aten::zero_", "i64[64]"));
	mm = mk_op(&h.m, "aten::mm", "bf16[1,64] bf16[64,8]");
	mk_set(&h.m, 4, mm);
	mk_launch(&h.m, "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", mm);
	mk_set(&h.m, 4, NULL);
	mk_copy(&h.m, TRACE_COPY_HTOD, 8, false, NULL);
	hand_lower(&h);
	CHECK_U64(h.s.n_ops, 4);
	CHECK(h.s.ops[0].kind == OP_COPY && h.s.ops[1].kind == OP_GEMM && h.s.ops[1].n_launches == 2 &&
	      h.s.ops[2].kind == OP_COPY);
	CHECK_STR(h.s.ops[0].name, "fill 64");
	CHECK(h.s.ops[3].kind == OP_COPY && h.s.ops[3].n_operands == 1);
	CHECK_U64(h.s.kernel_ns, 1000);
	hand_close(&h);
}

TEST(streams_that_interleave_keep_their_launches_together)
{
	struct hand h;
	struct trace_op *mm;

	hand_open(&h);
	mm = mk_op(&h.m, "aten::mm", "bf16[1,64] bf16[64,8]");
	mk_launch(&h.m, "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT", mm);
	mk_kernel(&h.m, "secret_kernel", NULL, "")->stream = 20;
	mk_launch(&h.m, "void cublasLt::splitKreduce_kernel<32>", mm);
	mk_kernel(&h.m, "secret_kernel", NULL, "")->stream = 20;
	hand_lower(&h);
	CHECK_U64(h.s.n_ops, 3);
	CHECK(h.s.ops[0].n_launches == 2 && h.s.launches[0].trace_id == 0 && h.s.launches[1].trace_id == 2);
	CHECK(h.s.launches[1].waits_for == 0 && h.s.launches[2].waits_for == -1 && h.s.launches[3].waits_for == 2);
	hand_close(&h);
}

TEST(what_the_host_waits_for_is_an_op_of_its_own)
{
	struct hand h;
	struct trace_op *nz;

	hand_open(&h);
	nz = mk_op(&h.m, "aten::nonzero", "bool[64]");
	mk_launch(&h.m, "void at_cuda_detail::cub::DeviceReduceKernel<x>", nz);
	mk_copy(&h.m, TRACE_COPY_DTOH, 8, true, nz);
	mk_launch(&h.m, "void at_cuda_detail::cub::DeviceSelectSweepKernel<x>", nz);
	hand_lower(&h);
	CHECK_U64(h.s.n_ops, 3);
	CHECK(h.s.ops[0].kind == OP_SCAN && h.s.ops[1].kind == OP_HOST_SYNC && h.s.ops[2].kind == OP_SCAN);
	hand_close(&h);
}

/* Two experts of eight, each gate, up and down, between a host read and a concat; `shared`: one more behind it. */
static void routed_layer(struct hand *h, bool sync)
{
	simple(h, "CUDAFunctor_add<c10::BFloat16>", "aten::add", "bf16[1,32] bf16[1,32] =1");
	mk_kernel(&h->m, "void at::native::sbtopk::gatherTopK<float>", "aten::topk", "f32[1,8] =2 =-1 =True =True");
	mk_kernel(&h->m, "void at::native::vectorized_gather_kernel<16, long>", "aten::index", "bf16[1,32] -")
		->grid[0] = 2;
	mk_copy(&h->m, TRACE_COPY_DTOH, 16, sync, mk_op(&h->m, "aten::copy_", "i64[1,2] i64[1,2] =False"));
	for (int e = 0; e < 2; e++) {
		product(h, "bf16[1,32] bf16[32,16]");
		simple(h, "silu_kernel(x)", "aten::silu", "bf16[1,16]");
		product(h, "bf16[1,32] bf16[32,16]");
		simple(h, "MulFunctor<float>", "aten::mul", "bf16[1,16] bf16[1,16]");
		product(h, "bf16[1,16] bf16[16,32]");
	}
	mk_kernel(&h->m, "CatArrayBatchedCopy<at::native::OpaqueType<2u>, 1>", "aten::cat",
	          "{bf16[1,32] bf16[1,32]} =0");
	product(h, "bf16[1,32] bf16[32,16]");
}

TEST(a_router_needs_a_host_that_reads_its_picks)
{
	struct hand h;

	hand_open(&h);
	routed_layer(&h, true);
	hand_lower(&h);
	CHECK_U64(h.s.n_routes, 1);
	CHECK(h.s.routes[0].experts == 8 && h.s.routes[0].top == 2 && h.s.routes[0].topk_op == 1 &&
	      h.s.routes[0].sync_op == 3);
	for (uint32_t i = 4; i < 14; i++)
		if (h.s.ops[i].kind == OP_GEMM)
			CHECK(h.s.ops[i].routed_by == 0 && reads(&h.s, i, 1)->slot == (i - 4) / 5);
	CHECK(made_by(&h.s, 9, 0) == 2 && reads(&h.s, 9, 0)->offset == 64);
	CHECK_U64(h.s.ops[15].routed_by, (uint64_t)-1);
	CHECK_U64(made_by(&h.s, 15, 0), 0); /* behind the concat: what the router's gather read */
	hand_close(&h);
	hand_open(&h);
	routed_layer(&h, false);
	hand_lower(&h);
	CHECK_U64(h.s.n_routes, 0);
	CHECK(h.s.ops[3].kind == OP_COPY && h.s.ops[4].routed_by == -1);
	hand_close(&h);
}

static void grouped(struct hand *h, const char *args)
{
	mk_kernel(&h->m, "void at::cuda::detail::prepare_grouped_gemm_data<cutlass::bfloat16_t>", "aten::_grouped_mm",
	          args);
	mk_launch(&h->m,
	          "_ZN7cutlass13device_kernelIN2at4cuda6detail25enable_3x_kernel_for_sm9xINS_4gemm6kernel13"
	          "GemmUniversalINS5_17GroupProblemShapeIN4cute5tupleIJiiiEEEEE",
	          h->m.t.launches[h->m.t.n_launches - 1].op);
}

/* Eight tokens pick 4 of 32 experts, whose rows are in order when the products read them. */
TEST(a_grouped_product_has_the_experts_that_even_picks_hit)
{
	struct hand h;
	uint64_t weights = 0;

	hand_open(&h);
	mk_kernel(&h.m, "void at::native::sbtopk::gatherTopK<float>", "aten::topk", "f32[8,32] =4 =-1 =True =True");
	mk_kernel(&h.m, "void at::native::vectorized_gather_kernel<16, long>", "aten::index", "bf16[8,64] -")->grid[0] =
		32;
	mk_kernel(&h.m, "void at::cuda::kernelHistogram1D<int, int, long, 1, 2>", "aten::histc", "i32[32] =32 =0 =31");
	grouped(&h, "bf16[32,64] bf16[32,64,96|6144,1,64] i32[32] - -");
	simple(&h, "silu_kernel(x)", "aten::silu", "bf16[32,96]");
	grouped(&h, "bf16[32,96] bf16[32,96,64|6144,1,96] i32[32] - -");
	hand_lower(&h);
	CHECK_U64(h.st.opaque_ns, 0);
	CHECK_U64(h.s.n_ops, 6); /* pointers and sizes are prepared in the product's op */
	CHECK_U64(h.s.n_routes, 1);
	/* 32 x (1 - (7/8)^8) = 21.004 */
	CHECK(h.s.routes[0].experts == 32 && h.s.routes[0].top == 21 && h.s.routes[0].topk_op == 0);
	CHECK_U64(h.s.routes[0].sync_op, UINT32_MAX);
	for (uint32_t i = 3; i < 6; i += 2) {
		const struct op *o = &h.s.ops[i];
		const struct op_tensor *w = &h.s.tensors[reads(&h.s, i, 1)->tensor];

		CHECK(o->kind == OP_GEMM && o->routed_by == 0 && o->n_launches == 2);
		CHECK(o->shape.batch == 21 && o->shape.m == 2 && o->n_operands == 1 + 21 + 1);
		CHECK(w->instances == 32 && w->route == 0 && w->bytes == 64 * 96 * 2 && w->inferred);
		for (uint32_t k = 0; k < 21; k++)
			CHECK_U64(reads(&h.s, i, 1 + k)->slot, k);
		for (uint32_t k = 0; k < o->n_operands; k++)
			weights += h.s.operands[o->first_operand + k].touched;
	}
	CHECK_U64(weights, 2 * 21 * 64 * 96 * 2 + 2 * (32 * 64 + 32 * 96) * 2);
	CHECK(made_by(&h.s, 3, 0) == 1 && made_by(&h.s, 5, 0) == 4);
	hand_close(&h);
	/* Without a router each row is a pick: 8 x (1 - (7/8)^4) = 3.3. */
	hand_open(&h);
	grouped(&h, "bf16[4,64] bf16[8,64,96] i32[8] - -");
	hand_lower(&h);
	CHECK(h.s.n_routes == 1 && h.s.routes[0].top == 3 && h.s.routes[0].topk_op == UINT32_MAX);
	CHECK(h.s.ops[0].shape.batch == 3 && h.s.ops[0].shape.m == 2);
	hand_close(&h);
}

TEST(a_samplers_top_k_is_no_router)
{
	struct hand h;

	hand_open(&h);
	mk_kernel(&h.m, "void at::native::sbtopk::gatherTopK<float>", "aten::topk", "f32[1,50000] =50 =-1 =True =True");
	mk_copy(&h.m, TRACE_COPY_DTOH, 400, true, mk_op(&h.m, "aten::copy_", "i64[1,50] i64[1,50] =False"));
	product(&h, "bf16[1,32] bf16[32,16]");
	product(&h, "bf16[1,16] bf16[16,32]");
	/* five labels of a thousand, and then the next picture: one visit is no routing either */
	mk_kernel(&h.m, "void at::native::sbtopk::gatherTopK<float>", "aten::topk", "f32[1,1000] =5 =-1 =True =True");
	mk_copy(&h.m, TRACE_COPY_DTOH, 40, true, mk_op(&h.m, "aten::copy_", "i64[1,5] i64[1,5] =False"));
	product(&h, "bf16[1,32] bf16[32,16]");
	product(&h, "bf16[1,16] bf16[16,8]");
	product(&h, "bf16[1,8] bf16[8,1000]");
	hand_lower(&h);
	CHECK_U64(h.s.n_routes, 0);
	hand_close(&h);
}

TEST(in_place_ops_write_what_they_read)
{
	struct hand h;

	hand_open(&h);
	simple(&h, "silu_kernel(x)", "aten::silu", "f32[4,8]");             /* 0 */
	simple(&h, "MulFunctor<float>", "aten::mul_", "f32[4,8] f32[4,1]"); /* 1 */
	simple(&h, "exp_kernel_cuda(x)", "aten::exp", "f32[4,8]");          /* 2 */
	mk_kernel(&h.m, "void at::native::vectorized_elementwise_kernel<2, at::native::FillFunctor<long> >",
	          "aten::fill_", "i64[1,64] =0"); /* 3 */
	mk_kernel(&h.m, "void at::native::_scatter_gather_elementwise_kernel<8>", "aten::scatter_",
	          "i64[1,64] =1 i64[1,6] =1"); /* 4 */
	hand_lower(&h);
	deps_are(&h.s, 1, 1, (uint32_t[]){ 0 });
	deps_are(&h.s, 2, 1, (uint32_t[]){ 1 });
	CHECK(reads(&h.s, 1, 0)->tensor == reads(&h.s, 2, 0)->tensor);
	deps_are(&h.s, 4, 1, (uint32_t[]){ 3 });
	hand_close(&h);
}

TEST(many_tokens_at_once_are_prefill)
{
	struct hand h;

	hand_open(&h);
	product(&h, "bf16[64,32] bf16[32,16]");
	hand_lower(&h);
	CHECK(h.s.ops[0].phase == OP_DECODE);
	CHECK_STR(h.s.ops[0].name, "gemm 64x32x16");
	product(&h, "bf16[65,32] bf16[32,16]");
	hand_lower(&h);
	CHECK(h.s.ops[0].phase == OP_PREFILL && h.s.ops[1].phase == OP_PREFILL);
	hand_close(&h);
}

TEST(q_k_and_v_of_one_shape_go_where_they_are_meant)
{
	struct hand h;

	hand_open(&h);
	mk_kernel(&h.m, "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<x>",
	          "aten::native_layer_norm", "bf16[5,64] =[64] bf16[64] bf16[64] =1e-05");
	for (int i = 0; i < 3; i++)
		product(&h, "bf16[5,64] bf16[64,64]");
	mk_kernel(&h.m, "void pytorch_flash::flash_fwd_kernel<x>", "aten::_flash_attention_forward",
	          "bf16[1,5,4,16] bf16[1,5,4,16] bf16[1,5,4,16] - - =5 =5 =0. =True");
	product(&h, "bf16[5,64] bf16[64,64]");
	simple(&h, "CUDAFunctor_add<c10::BFloat16>", "aten::add", "bf16[5,64] bf16[5,64] =1");
	hand_lower(&h);
	for (uint32_t i = 1; i <= 3; i++)
		CHECK_U64(made_by(&h.s, i, 0), 0);
	for (uint32_t i = 0; i < 3; i++)
		CHECK_U64(made_by(&h.s, 4, i), i + 1);
	CHECK(made_by(&h.s, 5, 0) == 4 && made_by(&h.s, 6, 1) == 5);
	CHECK(made_by(&h.s, 6, 0) == UINT32_MAX &&
	      reads(&h.s, 6, 0)->tensor == reads(&h.s, 0, 0)->tensor); /* the residual */
	CHECK(h.s.ops[4].shape.causal && h.s.ops[4].phase == OP_PREFILL);
	CHECK(h.s.ops[0].layer == 0 && h.s.ops[6].layer == 0);
	hand_close(&h);
}

TEST(cases_of_a_benchmark_have_nothing_in_common)
{
	static struct trace_range ranges[3] = { { "case|mm|4x8x8|0", 0, 1400, 1, 1 },
		                                { "case|mm|4x8x8|1", 1500, 1400, 1, 1 },
		                                { "case|silu|4x8|0", 3000, 1400, 1, 1 } };
	struct hand h;

	hand_open(&h);
	product(&h, "bf16[4,8] bf16[8,8]");
	product(&h, "bf16[4,8] bf16[8,8]");
	simple(&h, "silu_kernel(x)", "aten::silu", "bf16[4,8]");
	h.m.t.ranges = ranges;
	h.m.t.n_ranges = 3;
	hand_lower(&h);
	for (uint32_t i = 0; i < 3; i++)
		CHECK(made_by(&h.s, i, 0) == UINT32_MAX && h.s.ops[i].n_deps == 0);
	CHECK(reads(&h.s, 0, 0)->tensor != reads(&h.s, 1, 0)->tensor &&
	      reads(&h.s, 0, 1)->tensor != reads(&h.s, 1, 1)->tensor);
	h.m.t.n_ranges = 0;
	hand_lower(&h);
	CHECK_U64(made_by(&h.s, 2, 0), 0); /* in one run it is the first of two products of one input */
	CHECK(reads(&h.s, 0, 0)->tensor == reads(&h.s, 1, 0)->tensor);
	hand_close(&h);
}

TEST(an_annotation_that_began_before_all_time_holds_nothing)
{
	static struct trace_range ranges[3] = { { "case|old|0", INT64_MIN, 10, 1, 1 },
		                                { "case|mm|4x8x8|0", 0, 1400, 1, 1 },
		                                { "case|mm|4x8x8|1", 1500, 1400, 1, 1 } };
	struct hand h;

	hand_open(&h);
	product(&h, "bf16[4,8] bf16[8,8]");
	product(&h, "bf16[4,8] bf16[8,8]");
	h.m.t.ranges = ranges;
	h.m.t.n_ranges = 3;
	hand_lower(&h);
	CHECK(reads(&h.s, 0, 0)->tensor != reads(&h.s, 1, 0)->tensor); /* in one case they would share it */
	hand_close(&h);
}

TEST(blocks_are_used_again_and_large_ones_at_once)
{
	struct hand h;
	uint64_t small, large;

	hand_open(&h);
	for (int i = 0; i < 200; i++)
		simple(&h, "exp_kernel_cuda(x)", "aten::exp", "f32[1000]");
	hand_lower(&h);
	small = h.s.addr_end;
	CHECK(small < 50 * 4096);
	h.m.t.n_launches = 0;
	for (int i = 0; i < 200; i++)
		simple(&h, "exp_kernel_cuda(x)", "aten::exp", "f32[1000000]");
	hand_lower(&h);
	large = h.s.addr_end;
	CHECK(large < 4 * UINT64_C(4000256) + 512);
	hand_close(&h);
}

TEST(tensors_beyond_every_address_are_an_error)
{
	struct hand h;

	hand_open(&h);
	for (int i = 0; i < 4000; i++)
		mk_kernel(&h.m, "CatArrayBatchedCopy<double, 1>", "aten::cat", "{f64[281474976710655] f64[1]} =0");
	CHECK(lower_trace(&h.m.t, h.r, h.m.a, &h.s, &h.st, &h.e) == -1);
	CHECK_HAS(h.e.msg, "2^62");
	hand_close(&h);
}

TEST(memory_that_runs_out_is_an_error_wherever_it_does)
{
	struct hand h;
	size_t limit = 0, failures = 0;
	int rc;

	hand_open(&h);
	routed_layer(&h, true);
	do {
		struct arena *a = arena_new(limit += 256);

		err_clear(&h.e);
		rc = lower_trace(&h.m.t, h.r, a, &h.s, &h.st, &h.e);
		if (rc < 0)
			CHECK(h.e.kind == ERR_NOMEM);
		failures += rc < 0;
		arena_free(a);
	} while (rc < 0 && limit < 10000000);
	CHECK(rc == 0 && failures > 100);
	hand_close(&h);
}

/* --- the checker itself ------------------------------------------------------------------------------------------- */

static void check_refuses(struct hand *h, const char *part)
{
	err_clear(&h->e);
	if (lower_check(&h->s, &h->e) == 0)
		test_fail(__FILE__, __LINE__, "a stream where \"%s\" was taken", part);
	CHECK_HAS(h->e.msg, part);
}

TEST(a_broken_stream_is_noticed)
{
	struct hand h;
	struct op_stream good;
	uint64_t addr;
	uint32_t keep;

	hand_open(&h);
	simple(&h, "silu_kernel(x)", "aten::silu", "f32[4,8]");
	simple(&h, "exp_kernel_cuda(x)", "aten::exp", "f32[4,8]");
	simple(&h, "MulFunctor<float>", "aten::mul", "f32[4,8] f32[4,1]");
	hand_lower(&h);
	good = h.s;
	h.s.ops[1].id = 7, check_refuses(&h, "has the id"), h.s.ops[1].id = 1;
	keep = h.s.operands[0].tensor;
	h.s.operands[0].tensor = 99, check_refuses(&h, "not there"), h.s.operands[0].tensor = keep;
	h.s.operands[0].bytes += 1000, check_refuses(&h, "reaches outside"), h.s.operands[0].bytes -= 1000;
	h.s.deps[0] = 1, check_refuses(&h, "not before it"), h.s.deps[0] = 0;
	h.s.ops[2].n_launches = 0, check_refuses(&h, "no op uses"), h.s.ops[2].n_launches = 1;
	h.s.ops[2].first_launch = 1, check_refuses(&h, "two ops"), h.s.ops[2].first_launch = 2;
	h.s.ops[2].n_operands = 9, check_refuses(&h, "outside the stream's tables"), h.s.ops[2].n_operands = 3;
	h.s.measured_ns++, check_refuses(&h, "measured"), h.s.measured_ns--;
	keep = h.s.operands[1].tensor;
	addr = h.s.tensors[keep].addr;
	h.s.tensors[keep].addr = h.s.tensors[h.s.operands[0].tensor].addr, check_refuses(&h, "overlap");
	h.s.tensors[keep].addr = UINT64_C(1) << 60, check_refuses(&h, "outside the stream's addresses");
	h.s.tensors[keep].addr = addr;
	h.s.operands[1].write = false, check_refuses(&h, "before anything wrote it"), h.s.operands[1].write = true;
	h.s = good;
	CHECK_OK(lower_check(&h.s, &h.e), h.e);
	hand_close(&h);
}

SUITE(t_lower, T(every_activity_of_a_decode_step_is_in_one_modelled_op),
      T(a_step_reads_each_weight_once_and_the_picked_experts), T(the_graph_of_a_layer_is_the_models),
      T(experts_are_routed_and_their_results_meet_again), T(layers_repeat_and_are_numbered),
      T(launches_keep_their_geometry_and_what_they_wait_for), T(dependences_order_every_conflict_on_memory),
      T(steps_of_one_trace_share_their_weights_and_old_caches), T(a_dense_model_routes_nothing_and_groups_its_heads),
      T(a_trace_of_nothing_is_a_stream_of_nothing), T(what_nobody_knows_is_opaque_and_carries_its_time),
      T(what_joins_the_previous_launch_needs_one), T(a_set_belongs_to_the_product_it_clears_for_and_else_to_itself),
      T(streams_that_interleave_keep_their_launches_together), T(what_the_host_waits_for_is_an_op_of_its_own),
      T(a_router_needs_a_host_that_reads_its_picks), T(a_grouped_product_has_the_experts_that_even_picks_hit),
      T(a_samplers_top_k_is_no_router), T(in_place_ops_write_what_they_read), T(many_tokens_at_once_are_prefill),
      T(q_k_and_v_of_one_shape_go_where_they_are_meant), T(cases_of_a_benchmark_have_nothing_in_common),
      T(an_annotation_that_began_before_all_time_holds_nothing), T(blocks_are_used_again_and_large_ones_at_once),
      T(tensors_beyond_every_address_are_an_error), T(memory_that_runs_out_is_an_error_wherever_it_does),
      T(a_broken_stream_is_noticed));
