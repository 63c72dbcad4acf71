/* t_model.c - models described: parameters against what their publishers count, closed forms, schemes, and bad files. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "sim/base/arena.h"
#include "sim/base/source.h"
#include "validate/tests/test.h"
#include "workloads/model/count.h"

static struct model *load(const char *name)
{
	struct err e = ERR_INIT;
	struct model *m = model_load(name, &e);

	CHECK_OK(m ? 0 : -1, e);
	return m;
}

static struct model_params params(const char *name)
{
	struct model *m = load(name);
	struct model_params p;

	model_params_of(m, &p);
	model_free(m);
	return p;
}

static const struct scheme *scheme(const char *name)
{
	struct err e = ERR_INIT;
	const struct scheme *q = scheme_find(name, &e);

	CHECK_OK(q ? 0 : -1, e);
	return q;
}

/* --- parameters --------------------------------------------------------------------------------------------------- */

TEST(shipped_models_have_the_parameters_that_were_published)
{
	struct err e = ERR_INIT;
	size_t n, published = 0;
	char **names;

	CHECK_OK(model_list(&names, &n, &e), e);
	CHECK(n >= 58);
	for (size_t i = 0; i < n; i++) {
		struct model *m = load(names[i]);
		struct model_params p;
		double off;

		model_params_of(m, &p);
		off = m->published ? (double)p.total / (double)m->published - 1 : 0;
		published += m->published > 0;
		if (off > 0.005 || off < -0.005)
			test_fail(__FILE__, __LINE__, "%s: %llu parameters, published are %llu", names[i],
			          (unsigned long long)p.total, (unsigned long long)m->published);
		CHECK(m->source && *m->source);
		CHECK(!m->published || m->published_by);
		model_free(m);
	}
	CHECK(published >= 53);
	model_list_free(names, n);
}

/* Configurations as their publishers have them, of architectures that no shipped model has; most totals are told in whole
 * thousands of millions. Llama 4's has its encoder, too. */
TEST(published_configurations_have_the_parameters_that_were_published)
{
	struct source_root root;
	struct err e = ERR_INIT;
	struct arena *a = arena_new(0);
	const char **names;
	char path[1200];
	size_t n;

	CHECK_OK(source_root_init(&root, test_root(), &e), e);
	CHECK_OK(source_names(&root.source, "validate/tests/data/models", ".json", a, &names, &n, &e), e);
	CHECK(n >= 30);
	for (size_t i = 0; i < n; i++) {
		struct model_params p;
		struct model *m;
		double off;

		snprintf(path, sizeof path, "%s/validate/tests/data/models/%s.json", test_root(), names[i]);
		m = load(path);
		model_params_of(m, &p);
		CHECK(m->published > 0);
		off = (double)p.total / (double)m->published - 1;
		if (off > 0.01 || off < -0.01)
			test_fail(__FILE__, __LINE__, "%s: %llu parameters, published are %llu", names[i],
			          (unsigned long long)p.total, (unsigned long long)m->published);
		model_free(m);
	}
	arena_free(a);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static struct model *fixture(const char *name)
{
	char path[1200];

	snprintf(path, sizeof path, "%s/validate/tests/data/models/%s.json", test_root(), name);
	return load(path);
}

static uint32_t with_experts(const struct model *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->layers; i++)
		n += model_has_experts(m, i);
	return n;
}

TEST(experts_stand_where_the_configuration_puts_them)
{
	struct model *maverick = fixture("llama-4-maverick"), *glm = fixture("glm-4.5"),
		     *ernie = fixture("ernie-4.5-300b-a47b"), *small = fixture("ernie-4.5-21b-a3b");

	CHECK(!model_has_experts(maverick, 0) && model_has_experts(maverick, 1));
	CHECK_U64(with_experts(maverick), 24);
	CHECK_U64(maverick->moe.inter, 8192);
	CHECK_U64(maverick->inter, 16384);
	CHECK(!model_has_experts(glm, 2) && model_has_experts(glm, 3));
	CHECK_U64(with_experts(ernie), 51);
	CHECK_U64(with_experts(small), 27); /* its last one is -1 */
	model_free(maverick);
	model_free(glm);
	model_free(ernie);
	model_free(small);
}

TEST(what_a_configuration_leaves_unsaid_is_the_architectures)
{
	struct model *qwen = fixture("qwen3-next-80b-a3b"), *scout = fixture("llama-4-scout"),
		     *granite = fixture("granite-3.1-8b"), *seed = fixture("seed-oss-36b"), *glm = fixture("glm-4.5");

	CHECK(qwen->out_gate && qwen->layer[2] == MODEL_LINEAR && qwen->layer[3] == MODEL_FULL);
	CHECK_U64(qwen->rotary, 64);
	CHECK(scout->layer[2] == MODEL_CHUNKED && scout->layer[3] == MODEL_FULL);
	CHECK(scout->arch->no_rope_full && scout->head_norms);
	CHECK(granite->scale_embed && granite->scale_block && granite->scale_logits);
	CHECK(seed->qkv_bias && !seed->out_bias);
	CHECK(glm->qkv_bias && !glm->out_bias && glm->head_norms);
	model_free(qwen);
	model_free(scout);
	model_free(granite);
	model_free(seed);
	model_free(glm);
}

/* The keys of every query summed one by one. */
TEST(a_chunk_is_seen_from_its_beginning)
{
	static const uint64_t steps[][2] = { { 0, 100 },   { 8191, 1 },    { 8192, 1 },    { 8200, 1 },
		                             { 20000, 1 }, { 8192, 100 },  { 8000, 8192 }, { 0, 8192 },
		                             { 0, 28000 }, { 100, 40000 }, { 16383, 2 } };
	struct model *scout = fixture("llama-4-scout");

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		const uint64_t old = steps[i][0], fresh = steps[i][1];
		const struct model_seen s = model_seen(scout, 0, old, fresh);
		uint64_t pairs = 0, most = 0;

		for (uint64_t p = old; p < old + fresh; p++) {
			pairs += p % 8192 + 1;
			most = p % 8192 + 1 > most ? p % 8192 + 1 : most;
		}
		/* Causal: as many keys as the last query sees; else as many as the mean, rounded up. */
		CHECK_U64(s.keys, s.causal ? most : (pairs + fresh - 1) / fresh);
		CHECK(s.causal == (old / 8192 == (old + fresh - 1) / 8192));
		CHECK_U64(model_seen(scout, 3, old, fresh).keys, old + fresh);
	}
	model_free(scout);
}

/* Llama 4's norms of heads have no weights: not here. */
TEST(encoders_are_counted_as_their_checkpoints_have_them)
{
	static const char *const names[] = { "gemma-3-4b-it", "qwen3-vl-2b", "qwen2.5-vl-7b", "mistral-small-3.1-24b" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct model *m = fixture(names[i]);
		struct model_params p;

		model_params_of(m, &p);
		CHECK_U64(m->n_towers, 1);
		CHECK_U64(p.total, m->published);
		CHECK(p.active < p.total - p.vision);
		model_free(m);
	}
}

TEST(what_is_in_no_step_is_named)
{
	static const struct {
		const char *more, *text;
	} all[] = {
		{ "\"vision_config\": {\"model_type\": \"somevit\", \"hidden_size\": 8}",
		  "vision tower (its parameters are not counted)" },
		{ "\"audio_config\": {\"d_model\": 8}, \"vision_config\": null", "audio tower (its parameters" },
		/* 8 x 16 of a product, norms of 8 three times, a layer of 64 x 4 of attention, 3 x 8 x 16, two norms */
		{ "\"num_nextn_predict_layers\": 1", "1 layer that predicts further tokens (0.0 M" },
		{ "\"mtp_num_hidden_layers\": 2", "2 layers that predict further tokens" },
		{ "\"vision_config\": {}", "" },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct str s = STR_INIT;
		struct err e = ERR_INIT;
		char text[1024];
		struct model *m;

		snprintf(text, sizeof text,
		         "{\"model_type\": \"llama\", \"hidden_size\": 8, \"num_hidden_layers\": 2,"
		         " \"num_attention_heads\": 4, \"intermediate_size\": 16, \"vocab_size\": 10, %s}",
		         all[i].more);
		CHECK((m = model_parse(text, strlen(text), "config.json", &e)));
		model_left_out_text(m, &s);
		CHECK_HAS(str_c(&s), all[i].text);
		CHECK(*all[i].text || !s.len);
		CHECK_U64(model_mtp_params(m), m->mtp_layers * (128 + 24 + 256 + 384 + 16));
		str_free(&s);
		model_free(m);
	}
}

TEST(counts_are_exact_where_the_checkpoints_are_known)
{
	CHECK_U64(params("llama-3.1-8b").total, 8030261248);
	CHECK_U64(params("deepseek-ocr").total, 3336106240); /* with both encoders */
	CHECK_U64(params("mixtral-8x7b").total, 46702792704);
	CHECK_U64(params("qwen2-0.5b").total, 494032768); /* tied: the head is the embedding */
	CHECK_U64(params("qwen3-30b-a3b").total, 30532122624);
	CHECK_U64(params("deepseek-v2-lite").total, 15706484224); /* latent attention */
}

/* What a token passes, by their model card (arXiv 2508.10925, table 1): 5.13 and 3.61 thousand million. */
TEST(active_parameters_are_those_of_the_picked_experts)
{
	CHECK_U64((params("gpt-oss-120b").active + 5000000) / 10000000, 513);
	CHECK_U64((params("gpt-oss-20b").active + 5000000) / 10000000, 361);
}

/* --- closed forms ---------------------------------------------------------------------------------------------------- */

TEST(a_token_costs_two_operations_a_parameter_and_four_a_key)
{
	struct model *m = load("llama-3.1-8b");
	struct model_token t, far;

	model_token_of(m, scheme("bf16"), DT_BF16, 0, &t);
	CHECK_U64(t.flops - t.attention_flops, 2 * (UINT64_C(8030261248) - UINT64_C(128256) * 4096 - 65 * 4096));
	CHECK_U64(t.weight_bytes, t.flops - t.attention_flops); /* two bytes, two operations */
	CHECK_U64(t.kv_row_bytes, 131072);
	model_token_of(m, scheme("bf16"), DT_BF16, 1000, &far);
	CHECK_U64(far.attention_flops - t.attention_flops, UINT64_C(1000) * 32 * 32 * 128 * 4);
	CHECK_U64(far.kv_bytes - t.kv_bytes, 1000 * 131072);
	model_free(m);
}

TEST(a_latent_cache_has_one_row_for_all_heads)
{
	struct model *m = load("deepseek-v3");
	struct model_token t;

	CHECK_U64(model_kv_bytes(m, DT_BF16), 61 * (512 + 64) * 2);
	model_token_of(m, scheme("fp8_block"), DT_BF16, 4095, &t);
	CHECK_U64(t.kv_bytes, UINT64_C(4096) * 61 * 576 * 2);
	CHECK_U64(t.attention_flops, UINT64_C(2) * 4096 * 61 * 128 * (576 + 512)); /* absorbed */
	model_free(m);
}

/* Of 65,536 keys 2,048 are read; 64 heads of 128 score them all, of keys of 128 bytes and a float. */
TEST(an_indexer_bounds_what_attention_reads)
{
	struct model *m = load("deepseek-v3.2"), *dense = load("deepseek-v3");
	struct model_token t;
	struct model_params p, q;

	model_params_of(m, &p);
	model_params_of(dense, &q);
	CHECK_U64(p.total - q.total, UINT64_C(61) * ((1536 * 64 + 7168) * 128 + 7168 * 64 + 2 * 128));
	model_token_of(m, scheme("fp8_block"), DT_BF16, 65535, &t);
	CHECK_U64(t.attention_flops, UINT64_C(2) * 61 * (2048 * 128 * (576 + 512) + 65536 * 64 * 128));
	CHECK_U64(t.kv_bytes, UINT64_C(61) * (2048 * 576 * 2 + 65536 * 132));
	CHECK_U64(model_kv_bytes(m, DT_BF16), 61 * (576 * 2 + 132));
	model_token_of(m, scheme("fp8_block"), DT_BF16, 1023, &t);
	CHECK_U64(t.attention_flops, UINT64_C(2) * 61 * 1024 * (128 * (576 + 512) + 64 * 128));
	model_free(m);
	model_free(dense);
}

TEST(a_window_bounds_what_its_layers_look_at)
{
	struct model *m = load("gemma-3-1b");
	struct model_token near, far;

	model_token_of(m, scheme("bf16"), DT_BF16, 511, &near);
	model_token_of(m, scheme("bf16"), DT_BF16, 1023, &far);
	/* 22 of 26 layers have a window of 512 */
	CHECK_U64(near.kv_bytes, UINT64_C(26) * 512 * 2 * 256 * 2);
	CHECK_U64(far.kv_bytes, (UINT64_C(22) * 512 + UINT64_C(4) * 1024) * 2 * 256 * 2);
	model_free(m);
}

TEST(linear_attention_keeps_a_state_whatever_the_context)
{
	struct model *m = load("qwen3.5-4b");

	/* 24 layers of 32 heads of 128 x 128 in fp32, and three of four columns of the convolution; 8 layers have a cache */
	CHECK_U64(model_state_bytes(m), UINT64_C(24) * (32 * 128 * 128 * 4 + 8192 * 3 * 2));
	CHECK_U64(model_kv_bytes(m, DT_BF16), UINT64_C(8) * 2 * 4 * 256 * 2);
	model_free(m);
}

/* --- schemes ---------------------------------------------------------------------------------------------------------- */

TEST(a_state_space_keeps_a_state_and_no_keys)
{
	struct model *mamba = fixture("falcon-mamba-7b"), *hybrid = fixture("nemotron-3-nano-30b-a3b"),
		     *jamba = fixture("jamba-v0.1");
	uint32_t kinds[MODEL_NOTHING + 1] = { 0 };

	CHECK_U64(model_kv_bytes(mamba, DT_BF16), 0);
	CHECK_U64(model_state_bytes(mamba), UINT64_C(64) * 8192 * (16 + 4) * 2);
	for (uint32_t i = 0; i < hybrid->layers; i++) {
		kinds[hybrid->layer[i]]++;
		CHECK(model_has_experts(hybrid, i) == (hybrid->layer[i] == MODEL_NOTHING));
		CHECK(!model_has_mlp(hybrid, i));
	}
	CHECK(kinds[MODEL_MAMBA] == 23 && kinds[MODEL_FULL] == 6 && kinds[MODEL_NOTHING] == 23);
	CHECK_U64(model_kv_bytes(hybrid, DT_BF16), 6 * 2 * 2 * 128 * 2);
	CHECK_U64(model_state_bytes(hybrid), UINT64_C(23) * (64 * 64 * 128 + (4096 + 2 * 8 * 128) * 4) * 2);
	CHECK(jamba->layer[4] == MODEL_FULL && jamba->layer[5] == MODEL_MAMBA && jamba->layer[12] == MODEL_FULL);
	CHECK(!model_has_experts(jamba, 0) && model_has_experts(jamba, 1) && model_has_mlp(jamba, 0));
	model_free(mamba);
	model_free(hybrid);
	model_free(jamba);
}

static uint64_t bytes_of(const char *name, uint64_t n, uint64_t k)
{
	return scheme_bytes(scheme_format_of(scheme(name), SCHEME_MLP, 0, 32), DT_BF16, n, k);
}

TEST(scales_are_bytes)
{
	CHECK_U64(bytes_of("bf16", 256, 1024), 256 * 1024 * 2);
	CHECK_U64(bytes_of("nvfp4", 256, 1024), 256 * 1024 * 9 / 16);        /* 4.5 bits */
	CHECK_U64(bytes_of("mxfp4", 256, 1024), 256 * 1024 * 17 / 32);       /* 4.25 */
	CHECK_U64(bytes_of("w4a16_g128", 256, 1024), 256 * 1024 * 66 / 128); /* 4.125 */
	CHECK_U64(bytes_of("fp8_block", 256, 1024), 256 * 1024 + 2 * 8 * 4);
	CHECK_U64(bytes_of("q4_k_m", 256, 1024), 256 * 1024 * 144 / 256);          /* 4.5 */
	CHECK_U64(bytes_of("bfp8_b", 256, 1024), 256 * 1024 * 17 / 16);            /* 8.5 */
	CHECK_U64(bytes_of("bfp4_b_mlp", 256, 1024), 256 * 1024 * 9 / 16);         /* 4.5 */
	CHECK_U64(bytes_of("nvfp4", 1, 17), 18);                                   /* whole blocks */
	CHECK_U64(bytes_of("rkllm_w4a16_g128", 256, 1024), 256 * 1024 * 72 / 128); /* 4.5 */
}

TEST(what_a_scheme_leaves_alone_stays_as_the_model_has_it)
{
	const struct scheme *q = scheme("nvfp4_moe");

	CHECK(scheme_math(q, SCHEME_EXPERT, 0, DT_BF16) == DT_FP4);
	CHECK(scheme_math(q, SCHEME_ATTENTION, 0, DT_BF16) == DT_BF16);
	CHECK(scheme_math(scheme("w4a16_g128"), SCHEME_MLP, 0, DT_BF16) == DT_BF16); /* dequantised first */
	CHECK(scheme_math(scheme("w8a8"), SCHEME_HEAD, -1, DT_FP16) == DT_FP16);
	CHECK_STR(scheme_format_of(q, SCHEME_HEAD, -1, 61)->name, "own");
}

/* Files as llama.cpp writes them: Llama-3.1-8B, of which bartowski's repository on huggingface.co has Q4_K_M with
 * 4,920,734,272 bytes and Q8_0 with 8,540,770,880, their tokenizers' megabytes included. */
TEST(k_quants_have_the_sizes_of_their_files)
{
	struct model *m = load("llama-3.1-8b");

	CHECK_U64((model_weight_bytes(m, scheme("q4_k_m")) + 8000000) / 10000000, 492);
	CHECK_U64((model_weight_bytes(m, scheme("q8_0")) + 8000000) / 10000000, 854);
	model_free(m);
}

/* --- files ------------------------------------------------------------------------------------------------------------ */

#define GOOD \
	"model: 1\nname: tiny\nmodel_type: llama\nhidden_size: 64\nnum_hidden_layers: 2\nnum_attention_heads: 4\n" \
	"num_key_value_heads: 2\nintermediate_size: 128\nvocab_size: 100\nmax_position_embeddings: 256\n"

static void refused(const char *text, const char *why)
{
	struct err e = ERR_INIT;
	struct model *m = model_parse(text, strlen(text), "tiny.yaml", &e);

	if (m)
		test_fail(__FILE__, __LINE__, "taken, though \"%s\"", why);
	CHECK_HAS(e.msg, why);
	CHECK_STR(e.file, "tiny.yaml");
	CHECK(e.line > 0);
	CHECK_U64(err_exit_code(&e), 3);
	model_free(m);
}

TEST(a_bad_description_is_one_line_that_says_where_and_why)
{
	refused(GOOD "num_key_value_heads: 3\n", "num_key_value_heads");
	refused("model: 1\nmodel_type: llama\nhidden_size: 64\nnum_hidden_layers: 2\nnum_attention_heads: 4\n"
	        "num_key_value_heads: 3\nintermediate_size: 128\nvocab_size: 100\n",
	        "3 key-value heads do not divide 4 attention heads");
	refused(GOOD "n_routed_experts: 4\nnum_experts_per_tok: 5\nmoe_intermediate_size: 32\n",
	        "a token picks 5 of 4 experts");
	refused(GOOD "hiden_size: 3\n", "hidden_size"); /* the nearest right one */
	refused(GOOD "quantization: nvfp5\n", "did you mean 'nvfp4'?");
	refused(GOOD "kv_cache: int3\n", "int3");
	refused(GOOD "hidden_act: relu6\n", "activation 'relu6' is not described");
	refused(GOOD "kv_lora_rank: 8\n", "'qk_nope_head_dim' is not there");
	refused(GOOD "layer_types: [full_attention]\n", "lists 1 layers");
	refused(GOOD "layer_types: [full_attention, mamba]\n", "'mamba' are not described");
	refused(GOOD "full_attention_interval: 2\n", "linear_num_key_heads");
	refused(GOOD "layer_types: [chunked_attention, full_attention]\n", "'attention_chunk_size' is not there");
	refused("{\"model_type\": \"nemotron_h\", \"hidden_size\": 64, \"num_hidden_layers\": 2, \"vocab_size\": 9,"
	        " \"num_attention_heads\": 4, \"hybrid_override_pattern\": \"MX\"}",
	        "layers of kind 'X' are not described");
	refused("{\"model_type\": \"nemotron_h\", \"hidden_size\": 64, \"num_hidden_layers\": 2, \"vocab_size\": 9,"
	        " \"num_attention_heads\": 4, \"hybrid_override_pattern\": \"M\"}",
	        "the pattern has 1 layers");
	refused("{\"model_type\": \"mamba2\", \"hidden_size\": 64, \"num_hidden_layers\": 2, \"vocab_size\": 9,"
	        " \"conv_kernel\": 4}",
	        "'mamba_num_heads' is not there");
	refused("{\"model_type\": \"deepseek_v32\", \"hidden_size\": 64, \"num_hidden_layers\": 2, \"vocab_size\": 9,"
	        " \"num_attention_heads\": 4, \"kv_lora_rank\": 8, \"q_lora_rank\": 8}",
	        "'index_n_heads' is not there");
	refused(GOOD "residual_multiplier: half\n", "'half' is no number to multiply by");
	refused(GOOD "num_experts: [4, 8]\n", "not all alike");
	refused(GOOD "num_experts: 4\nnum_experts_per_tok: 2\nmlp_only_layers: [2]\n", "2");
	refused(GOOD "num_experts: 4\nnum_experts_per_tok: 2\nmlp_only_layers: 1\n", "list of layers");
	refused(GOOD "sliding_window_pattern: 2\n", "'sliding_window' is not there");
	refused("model: 2\n", "1");
	refused("", "its keys are missing");
	refused("[1, 2]", "describes no model");
	refused("model: 1\nmodel_type: lama\n", "did you mean 'llama'?");
	refused("{\"hidden_size\": 64}", "'model_type' is missing");
	refused("model: 1\nmodel_type: llama\nhidden_size: 64\n", "'num_hidden_layers' is not there");
	refused("model: 1\nmodel_type: llama\nhidden_size: 99999999999\n", "99999999999");
	refused("model: 1\nmodel_type: llama\nhidden_size: 65\nnum_hidden_layers: 1\nnum_attention_heads: 4\nvocab_size: 9\n",
	        "4 attention heads do not divide hidden_size 65");
}

TEST(a_config_json_is_taken_as_it_is)
{
	static const char text[] =
		"{\"architectures\": [\"Gemma3ForConditionalGeneration\"], \"model_type\": \"gemma3\", \"vision_config\": {},\n"
		"\t\"text_config\": {\"hidden_size\": 2560, \"num_hidden_layers\": 34, \"num_attention_heads\": 8,\n"
		" \"num_key_value_heads\": 4, \"head_dim\": 256, \"intermediate_size\": 10240, \"vocab_size\": 262208,\n"
		" \"max_position_embeddings\": 131072, \"sliding_window\": 1024, \"sliding_window_pattern\": 6,\n"
		" \"rms_norm_eps\": 1e-06, \"rope_scaling\": null, \"torch_dtype\": \"bfloat16\"}}";
	struct err e = ERR_INIT;
	struct model *m = model_parse(text, sizeof text - 1, "config.json", &e), *shipped = load("gemma-3-4b");
	struct model_params a, b;

	CHECK_OK(m ? 0 : -1, e);
	model_params_of(m, &a);
	model_params_of(shipped, &b);
	CHECK_U64(a.total, b.total);
	CHECK(m->layer[4] == MODEL_SLIDING && m->layer[5] == MODEL_FULL);
	CHECK(m->act == MODEL_GELU && m->tied);
	CHECK_STR(m->name, "gemma3_text");
	model_free(m);
	model_free(shipped);
}

/* A model of Qwen3-8B's sizes with this in its config.json: 6,945.77 million weights in products of layers (1,509.95 of
 * attention), 622.33 in the head. */
static struct model *stored_as(const char *quant)
{
	struct err e = ERR_INIT;
	char text[4096];
	struct model *m;

	snprintf(
		text, sizeof text,
		"{\"model_type\": \"qwen3\", \"hidden_size\": 4096, \"num_hidden_layers\": 36, \"num_attention_heads\": 32,"
		" \"num_key_value_heads\": 8, \"head_dim\": 128, \"intermediate_size\": 12288, \"vocab_size\": 151936,"
		" \"max_position_embeddings\": 40960, %s}",
		quant);
	m = model_parse(text, strlen(text), "config.json", &e);
	CHECK_OK(m ? 0 : -1, e);
	return m;
}

/* Thousands of weight bytes a token reads. */
static uint64_t read_kb(const struct model *m)
{
	struct model_token t;

	model_token_of(m, m->scheme, DT_BF16, 0, &t);
	return t.weight_bytes / 1000;
}

#define QC       "\"quantization_config\": "
#define GROUP(w) "{\"group_0\": {\"targets\": [\"Linear\"], \"weights\": " w "}}"
#define W4_G128 \
	"{\"num_bits\": 4, \"type\": \"int\", \"strategy\": \"group\", \"group_size\": 128, \"symmetric\": true}"
#define NO_HEAD   "\"ignore\": [\"lm_head\"]"
#define BY_GROUPS "\"quant_method\": \"compressed-tensors\", "

TEST(a_checkpoint_is_stored_as_its_own_tool_says)
{
	/* Each figure is of 6,945,767,424 weights in layers, 622,329,856 in the head and 32 or 64 rows' scales, by hand. */
	static const struct {
		const char *quant, *name;
		uint64_t kb;
		const char *kv;
	} all[] = {
		{ "\"a\": 0", NULL, 15136194, NULL },
		{ QC "{\"quant_method\": \"fp8\"}", "fp8", 8190427, NULL },
		{ QC "{\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128]}", "fp8_block", 8192122, NULL },
		{ QC "{\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 128, \"zero_point\": true}",
		  "awq int4_g128", 4853202, NULL },
		{ QC "{\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 128, \"zero_point\": false}",
		  "w4a16_g128", 4826071, NULL },
		{ QC "{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128, \"sym\": true}", "w4a16_g128",
		  4826071, NULL },
		{ QC "{\"quant_method\": \"gptq\", \"bits\": 3, \"group_size\": 128, \"sym\": true}", "gptq int3_g128",
		  3957850, NULL },
		{ QC "{\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true}", "bitsandbytes int4_g64", 5151653,
		  NULL },
		{ QC "{\"quant_method\": \"hqq\", \"quant_config\": {\"weight_quant_params\": {\"nbits\": 4,"
		     " \"group_size\": 64}}, \"skip_modules\": [\"lm_head\"]}",
		  "hqq int4_g64", 5151653, NULL },
		{ QC "{\"quant_method\": \"torchao\", \"quant_type\": \"int4_weight_only\", \"quant_type_kwargs\":"
		     " {\"group_size\": 128}}",
		  "torchao int4_g128", 4934598, NULL },
		{ QC "{\"quant_method\": \"quark\", \"global_quant_config\": {\"weight\": {\"dtype\": \"fp8_e4m3\","
		     " \"qscheme\": \"per_tensor\"}, \"input_tensors\": {\"dtype\": \"fp8_e4m3\"}}, \"exclude\":"
		     " [\"lm_head\"], \"kv_cache_quant_config\": {\"*k_proj\": {\"output_tensors\": {\"dtype\":"
		     " \"fp8_e4m3\"}}}}",
		  "fp8", 8190427, "fp8" },
		{ "\"quantization\": {\"group_size\": 64, \"bits\": 4}", "mlx int4_g64", 4257054, NULL },
		{ "\"quantization\": {\"group_size\": 64, \"bits\": 4, \"model.layers.0.mlp.down_proj\": {\"bits\": 8}}",
		  "mlx int4_g64", 4282220, NULL },
		{ QC "{" BY_GROUPS "\"config_groups\": " GROUP(W4_G128) ", " NO_HEAD "}", "w4a16_g128", 4826071, NULL },
		{ QC "{" BY_GROUPS "\"config_groups\": " GROUP(W4_G128) "}", "compressed-tensors int4_g128", 3902300,
		  NULL },
		{ QC "{" BY_GROUPS
		     "\"config_groups\": " GROUP(W4_G128) ", \"ignore\": [\"lm_head\", \"re:.*self_attn.*\"]}",
		  "compressed-tensors int4_g128", 7067402, NULL },
		{ QC "{" BY_GROUPS "\"config_groups\": " GROUP(W4_G128) ", \"ignore\": [\"lm_head\","
		                                                        " \"model.layers.0.mlp.down_proj\"]}",
		  "compressed-tensors int4_g128", 4900782, NULL },
		{ QC "{\"quant_algo\": \"NVFP4\", \"exclude_modules\": [\"lm_head\", \"model.layers.*.self_attn*\"],"
		     " \"kv_cache_quant_algo\": \"FP8\"}",
		  "modelopt fp4_g16", 7322206, "fp8" },
		{ QC "{\"quant_algo\": \"MIXED_PRECISION\", \"quantized_layers\": {\"model.layers.0.mlp.gate_proj\":"
		     " {\"quant_algo\": \"FP8\"}, \"model.layers.0.mlp.down_proj\": {\"quant_algo\": \"NVFP4\","
		     " \"group_size\": 16}}}",
		  "modelopt mixed", 14963179, NULL },
		{ QC "{\"quant_algo\": null, \"kv_cache_quant_algo\": \"FP8\"}", NULL, 15136194, "fp8" },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct model *m = stored_as(all[i].quant);
		const bool right = m->quant ? all[i].name && strcmp(m->quant, all[i].name) == 0 : !all[i].name;

		if (!right || m->quant_words || read_kb(m) != all[i].kb)
			test_fail(__FILE__, __LINE__, "%s: %s (%s), %llu kB, and %s, %llu are right", all[i].quant,
			          m->quant ? m->quant : "as the model", m->quant_words ? m->quant_words : "understood",
			          (unsigned long long)read_kb(m), all[i].name ? all[i].name : "as the model",
			          (unsigned long long)all[i].kb);
		CHECK(all[i].kv ? m->kv && strcmp(m->kv, all[i].kv) == 0 : !m->kv);
		model_free(m);
	}
}

/* As Kimi K2 Thinking has it: the picked experts alone. And a list of every expert, as mixed checkpoints have. */
TEST(patterns_part_picked_experts_from_the_rest)
{
	static const char model[] =
		"{\"model_type\": \"deepseek_v3\", \"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4,"
		" \"intermediate_size\": 128, \"vocab_size\": 100, \"kv_lora_rank\": 16, \"qk_nope_head_dim\": 16,"
		" \"qk_rope_head_dim\": 16, \"v_head_dim\": 16, \"n_routed_experts\": 4, \"num_experts_per_tok\": 2,"
		" \"moe_intermediate_size\": 32, \"n_shared_experts\": 1, \"first_k_dense_replace\": 1, "
		"\"quantization_config\": {%s}}";
	static const char *const quants[] = {
		BY_GROUPS "\"config_groups\": " GROUP(
			W4_G128) ", \"ignore\": [\"lm_head\", \"re:.*self_attn.*\","
				 " \"re:.*shared_experts.*\", \"re:.*mlp\\\\.(gate|up|gate_up|down)_proj.*\"]",
		"\"quant_algo\": \"MIXED_PRECISION\", \"quantized_layers\": {\"model.layers.1.mlp.experts.0.up_proj\":"
		" {\"quant_algo\": \"W4A16_AWQ\"}, \"model.layers.1.mlp.experts.0.down_proj\": {\"quant_algo\":"
		" \"W4A16_AWQ\"}, \"model.layers.1.mlp.experts.1.up_proj\": {\"quant_algo\": \"W4A16_AWQ\"}}",
	};
	char text[2048];

	for (size_t i = 0; i < sizeof quants / sizeof *quants; i++) {
		struct err e = ERR_INIT;
		struct model *m;

		snprintf(text, sizeof text, model, quants[i]);
		CHECK((m = model_parse(text, strlen(text), "config.json", &e)));
		for (int c = 0; c < SCHEME_CLASSES; c++) {
			const bool picked = c == SCHEME_EXPERT || c == SCHEME_EXPERT_DOWN;

			if (picked)
				CHECK(scheme_format_of(m->scheme, (enum scheme_class)c, 1, 2)->dtype == DT_INT4);
			else
				CHECK(!scheme_format_of(m->scheme, (enum scheme_class)c, 1, 2)->dtype);
		}
		CHECK(!scheme_format_of(m->scheme, SCHEME_DOWN, 0, 2)->dtype);
		model_free(m);
	}
}

TEST(a_checkpoint_that_is_not_understood_is_named_never_taken_as_it_is)
{
	static const struct {
		const char *quant, *words;
	} all[] = {
		{ QC "{\"quant_method\": \"exl2\", \"bits\": 4.25}", "method 'exl2'" },
		{ QC "{\"bits_per_weight\": 4}", "no 'quant_method'" },
		{ QC "{\"quant_method\": \"awq\", \"bits\": 4.5}", "awq of" },
		{ QC "{\"quant_method\": \"gptq\", \"bits\": 77}", "77 bits" },
		{ QC "{\"quant_method\": \"modelopt\", \"quant_algo\": \"W3A5\"}", "'W3A5'" },
		{ QC "{\"quant_method\": \"modelopt\"}", "no 'quant_algo'" },
		{ QC "{\"quant_method\": \"fp8\", \"weight_block_size\": [64, 64]}", "'weight_block_size'" },
		{ QC "{" BY_GROUPS "\"config_groups\": " GROUP(W4_G128) ", \"ignore\": [\"re:(?!lm_head).*\"]}",
		  "the pattern '(?!lm_head).*'" },
		{ QC
		  "{\"quant_algo\": \"MIXED_PRECISION\", \"quantized_layers\": {\"model.layers.0.mlp.experts.0.up_proj\":"
		  " {\"quant_algo\": \"NVFP4\"}}}",
		  "none of its names is a weight of this model" },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct model *m = stored_as(all[i].quant);

		CHECK_HAS(m->quant_words ? m->quant_words : "(understood)", all[i].words);
		model_free(m);
	}
}

TEST(a_folder_is_its_config_with_the_file_beside_it)
{
	static const char config[] =
		"{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2, \"num_attention_heads\": 4,"
		" \"intermediate_size\": 128, \"vocab_size\": 100, \"_name_or_path\": \"/home/somebody/secret\"}",
			  beside[] =
				  "{\"producer\": {\"name\": \"modelopt\"}, \"quantization\": {\"quant_algo\": \"FP8\","
				  " \"kv_cache_quant_algo\": \"FP8\", \"exclude_modules\": [\"lm_head\"]}}";
	char folder[512], path[600];
	struct err e = ERR_INIT;
	struct model *m;

	test_path(folder, sizeof folder, "Some-1B");
	CHECK(mkdir(folder, 0700) == 0);
	CHECK(!model_load(folder, &e)); /* there is nothing in it */
	CHECK_HAS(e.msg, "is a directory");
	err_clear(&e);
	write_file(test_path(path, sizeof path, "Some-1B/config.json"), config);
	m = load(folder);
	CHECK_STR(m->name, "Some-1B");
	CHECK(!m->quant);
	model_free(m);
	write_file(test_path(path, sizeof path, "Some-1B/hf_quant_config.json"), beside);
	m = load(folder);
	CHECK_STR(m->quant, "fp8");
	CHECK_STR(m->kv, "fp8");
	model_free(m);
	m = load(test_path(path, sizeof path, "Some-1B/"));
	CHECK_STR(m->name, "Some-1B");
	model_free(m);
}

TEST(a_window_that_no_context_fills_is_none)
{
	struct model *phi = load("phi-3.5-mini"), *qwen = load("qwen2-7b"), *oss = load("gpt-oss-20b");

	CHECK(phi->layer[0] == MODEL_FULL);
	CHECK(qwen->layer[0] == MODEL_FULL); /* its configuration has one that it does not use */
	CHECK(oss->layer[0] == MODEL_SLIDING && oss->layer[1] == MODEL_FULL);
	model_free(phi);
	model_free(qwen);
	model_free(oss);
}

TEST(an_unknown_name_names_the_nearest)
{
	struct err e = ERR_INIT;

	CHECK(!model_load("llama-3.1-8", &e));
	CHECK_HAS(e.msg, "did you mean 'llama-3.1-8b'?");
	CHECK_U64(err_exit_code(&e), 4);
	err_clear(&e);
	CHECK(!model_load("/nowhere/config.json", &e));
	CHECK_U64(err_exit_code(&e), 4);
}

SUITE(t_model, T(shipped_models_have_the_parameters_that_were_published),
      T(published_configurations_have_the_parameters_that_were_published),
      T(experts_stand_where_the_configuration_puts_them), T(what_a_configuration_leaves_unsaid_is_the_architectures),
      T(a_chunk_is_seen_from_its_beginning), T(encoders_are_counted_as_their_checkpoints_have_them),
      T(what_is_in_no_step_is_named), T(counts_are_exact_where_the_checkpoints_are_known),
      T(active_parameters_are_those_of_the_picked_experts), T(a_token_costs_two_operations_a_parameter_and_four_a_key),
      T(a_latent_cache_has_one_row_for_all_heads), T(an_indexer_bounds_what_attention_reads),
      T(a_window_bounds_what_its_layers_look_at), T(linear_attention_keeps_a_state_whatever_the_context),
      T(a_state_space_keeps_a_state_and_no_keys), T(scales_are_bytes),
      T(what_a_scheme_leaves_alone_stays_as_the_model_has_it), T(k_quants_have_the_sizes_of_their_files),
      T(a_bad_description_is_one_line_that_says_where_and_why), T(a_config_json_is_taken_as_it_is),
      T(a_checkpoint_is_stored_as_its_own_tool_says), T(patterns_part_picked_experts_from_the_rest),
      T(a_checkpoint_that_is_not_understood_is_named_never_taken_as_it_is),
      T(a_folder_is_its_config_with_the_file_beside_it), T(a_window_that_no_context_fills_is_none),
      T(an_unknown_name_names_the_nearest));
