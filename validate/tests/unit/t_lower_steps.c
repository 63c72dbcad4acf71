/* t_lower_steps.c - from traces to op streams: exact figures of real decode steps. */
#include "sim/lower/lower.h"

#include "traces/read/format.h"
#include "validate/tests/streambed.h"
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

static void low_open(struct low *l, const char *file, const char *range)
{
	char path[4096], db[600];

	bed_open(&l->b, test_path(db, sizeof db, "%s.db", range ? range : "all"), DB_WRITE);
	snprintf(path, sizeof path, "%s/%s", test_root(), file);
	CHECK_OK(format_import(l->b.db, FORMAT_KINETO, path, NULL, NULL, &l->b.st, &l->b.e), l->b.e);
	bed_load(&l->b, range);
	l->r = stream_rules();
	CHECK_OK(lower_trace(&l->b.t, l->r, l->b.a, &l->s, &l->st, &l->b.e), l->b.e);
	CHECK_OK(lower_check(&l->s, &l->b.e), l->b.e);
}

static void low_close(struct low *l)
{
	rules_free(l->r);
	bed_close(&l->b);
}

static uint64_t of_kind(const struct op_stream *s, enum op_kind k)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_ops; i++)
		n += s->ops[i].kind == k;
	return n;
}

static const struct op_tensor *tensor_named(const struct op_stream *s, const char *name)
{
	for (size_t i = 0; i < s->n_tensors; i++)
		if (strcmp(s->tensors[i].name, name) == 0)
			return &s->tensors[i];
	test_fail(__FILE__, __LINE__, "no tensor '%s'", name);
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
		stream_deps_are(&l.s, i, 1, (uint32_t[]){ 8 });
	stream_deps_are(&l.s, 6, 2, (uint32_t[]){ 1, 5 }); /* x times the root: of x, not of its square */
	stream_deps_are(&l.s, 12, 1, (uint32_t[]){ 9 });   /* q rotates ... */
	stream_deps_are(&l.s, 13, 1, (uint32_t[]){ 9 });
	stream_deps_are(&l.s, 14, 2, (uint32_t[]){ 9, 13 });
	stream_deps_are(&l.s, 16, 2, (uint32_t[]){ 12, 15 });
	stream_deps_are(&l.s, 17, 1, (uint32_t[]){ 10 }); /* ... and k apart from it */
	stream_deps_are(&l.s, 21, 2, (uint32_t[]){ 17, 20 });
	stream_deps_are(&l.s, 22, 1, (uint32_t[]){ 21 }); /* the caches grow by k and by v */
	stream_deps_are(&l.s, 23, 1, (uint32_t[]){ 11 });
	CHECK_STR(l.s.ops[24].name, "attention 10x128 kv 1025");
	stream_deps_are(&l.s, 24, 3, (uint32_t[]){ 16, 22, 23 });
	stream_deps_are(&l.s, 26, 2, (uint32_t[]){ 0, 25 }); /* the residual is the embedding */
	stream_deps_are(&l.s, 37, 1, (uint32_t[]){ 34 });    /* up reads what gate read */
	stream_deps_are(&l.s, 38, 2, (uint32_t[]){ 36, 37 });
	CHECK(stream_made_by(&l.s, 40, 0) == 26 && stream_made_by(&l.s, 40, 1) == 39);
	CHECK_STR(l.s.tensors[stream_reads(&l.s, 24, 1)->tensor].name, "layer0.k");
	CHECK_STR(l.s.tensors[stream_reads(&l.s, 24, 2)->tensor].name, "layer0.v");
	CHECK_STR(l.s.tensors[stream_reads(&l.s, 22, 0)->tensor].name, "layer0.k_old");
	CHECK(stream_reads(&l.s, 12, 1)->tensor == stream_reads(&l.s, 17, 1)->tensor);
	CHECK(stream_reads(&l.s, 12, 1)->tensor != stream_reads(&l.s, 15, 1)->tensor);
	CHECK(stream_reads(&l.s, 13, 0)->touched == 1280 &&
	      stream_reads(&l.s, 13, 0)->bytes == 2432); /* half of each head */
	CHECK(stream_reads(&l.s, 0, 0)->touched == 2560 && stream_reads(&l.s, 0, 0)->offset % 2560 == 0);
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
		w = stream_reads(&l.s, i, 1);
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
	CHECK(stream_made_by(&l.s, 90, 0) == 82 && stream_made_by(&l.s, 89, 0) == 74 &&
	      stream_made_by(&l.s, 89, 1) == 88);
	CHECK(stream_made_by(&l.s, 87, 0) == 83 && stream_made_by(&l.s, 83, 0) == 79); /* the sort is of the picks */
	for (uint32_t e = 0; e < 6; e++) {
		uint32_t gate = 91 + 5 * e;

		CHECK(stream_made_by(&l.s, gate, 0) == 89 && stream_made_by(&l.s, gate + 2, 0) == 89);
		CHECK(stream_reads(&l.s, gate, 0)->offset == e * 2560 && stream_reads(&l.s, gate, 0)->bytes == 2560);
		CHECK(stream_made_by(&l.s, gate + 3, 0) == gate + 1 && stream_made_by(&l.s, gate + 3, 1) == gate + 2);
		CHECK(stream_made_by(&l.s, gate + 4, 0) == gate + 3);
		CHECK(stream_made_by(&l.s, 121, e) == gate + 4);
	}
	CHECK(stream_made_by(&l.s, 124, 1) == 79); /* weighted by the top-k's values */
	CHECK(stream_made_by(&l.s, 127, 0) == 74 &&
	      stream_made_by(&l.s, 129, 0) == 74); /* shared experts read the router's input */
	CHECK(stream_made_by(&l.s, 132, 0) == 126 && stream_made_by(&l.s, 132, 1) == 131);
	CHECK(stream_made_by(&l.s, 133, 0) == 66 && stream_made_by(&l.s, 133, 1) == 132);
	/* the router's weight is bf16, converted every step; what its product reads is the conversion */
	CHECK_STR(l.s.tensors[stream_reads(&l.s, 76, 0)->tensor].name, "layer1.w4");
	CHECK(l.s.tensors[stream_reads(&l.s, 76, 0)->tensor].role == OP_WEIGHT && stream_made_by(&l.s, 77, 1) == 76);
	CHECK(l.s.tensors[stream_reads(&l.s, 77, 1)->tensor].role == OP_ACTIVATION);
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
				uint32_t x = stream_made_by(&l.s, a->id, j), y = stream_made_by(&l.s, b->id, j);

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
	stream_check_order(&l.s);
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
			CHECK(all.s.ops[stream_made_by(&all.s, i, 1)].reduce ==
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
	stream_check_order(&l.s);
	low_close(&l);
}

SUITE(t_lower_steps, T(every_activity_of_a_decode_step_is_in_one_modelled_op),
      T(a_step_reads_each_weight_once_and_the_picked_experts), T(the_graph_of_a_layer_is_the_models),
      T(experts_are_routed_and_their_results_meet_again), T(layers_repeat_and_are_numbered),
      T(launches_keep_their_geometry_and_what_they_wait_for), T(dependences_order_every_conflict_on_memory),
      SLOW(steps_of_one_trace_share_their_weights_and_old_caches),
      T(a_dense_model_routes_nothing_and_groups_its_heads));
