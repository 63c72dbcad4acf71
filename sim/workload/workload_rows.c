/* workload_rows.c - the options of a workload, who takes which, and what is refused. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/workload/workload_int.h"

#define AT(m)  offsetof(struct workload_spec, m)
#define BIT(k) (UINT32_C(1) << (k))
#define TRACE  (1u << WORKLOAD_TRACE)
#define MODEL  (1u << WORKLOAD_MODEL)
#define LAID   (1u << WORKLOAD_LAID)
#define KEY(k) BIT(WORKLOAD_KEY_##k)

/* clang-format off */
const struct workload_row workload_rows[WORKLOAD_KEYS] = {
	[WORKLOAD_KEY_TRACE] = { .name = "trace", .letter = 't', .type = WORKLOAD_FILE, .at = AT(trace), .of = TRACE | LAID,
		.arg = "T.db", .help =
		"the workload: a trace database that 'npusim trace import' made, or a profile, replay or table of ops that it reads" },
	[WORKLOAD_KEY_RANGE] = { .name = "range", .type = WORKLOAD_TEXT, .at = AT(range), .of = TRACE | LAID,
		.arg = "NAME", .instead = WORKLOAD_KEY_PHASE, .help =
		"only what was launched inside this annotation, one decode step say; 'npusim trace show' lists them" },
	[WORKLOAD_KEY_MODEL] = { .name = "model", .letter = 'm', .type = WORKLOAD_FILE, .at = AT(model), .of = MODEL | LAID,
		.arg = "MODEL", .axis = "name", .axis_base = "", .help =
		"the workload: a model by its description; beside a trace whose kernels have no operators (a CUDA graph, a served model) the"
		" model that ran, over which they are laid. A name of 'npusim workload list', a file like those in"
		" workloads/models, or a Hugging Face config.json or its folder" },
	[WORKLOAD_KEY_PROGRAM] = { .name = "program-in", .type = WORKLOAD_FILE, .at = AT(program), .of = 1u << WORKLOAD_PROGRAM,
		.arg = "FILE", .help =
		"the workload: a tile program, which '--program' wrote or somebody by hand (workloads/programs has one with"
		" comments); nothing is mapped" },
	[WORKLOAD_KEY_PHASE] = { .name = "phase", .type = WORKLOAD_TEXT, .at = AT(phase), .of = MODEL,
		.arg = "decode|prefill|vision", .axis = "phase", .axis_base = "decode", .help =
		"decode (default): one more token for each sequence; prefill: a prompt; vision: the encoders of a picture" },
	[WORKLOAD_KEY_BATCH] = { .name = "batch", .type = WORKLOAD_COUNT, .at = AT(batch), .of = TRACE | MODEL | LAID, .most = BUILD_MAX_BATCH,
		.arg = "B", .axis = "batch", .axis_base = "1", .help =
		"sequences side by side; of a model 1 by default, of a measured decode step in place of what it had" },
	[WORKLOAD_KEY_CONTEXT] = { .name = "context", .type = WORKLOAD_COUNT, .at = AT(context), .of = TRACE | MODEL | LAID, .most = BUILD_MAX_TOKENS,
		.arg = "TOKENS", .axis = "context", .axis_base = "0", .help =
		"the tokens in the cache before; of a model 1024 by default, of a prompt none; of a replay or a measured decode step in"
		" place of what it had" },
	[WORKLOAD_KEY_TOKENS] = { .name = "tokens", .type = WORKLOAD_COUNT, .at = AT(tokens), .of = MODEL, .most = BUILD_MAX_TOKENS,
		.arg = "T", .axis = "tokens", .axis_base = "0", .help =
		"prefill: new tokens of each sequence, 512 by default; decode: tokens one after the other while the cache grows, 1 by"
		" default" },
	[WORKLOAD_KEY_QUANT] = { .name = "quant", .type = WORKLOAD_TEXT, .at = AT(quant), .of = MODEL,
		.arg = "SCHEME", .axis = "quant", .axis_base = "", .help =
		"how the weights are stored and products computed: bf16, fp8, w8a8, w4a16_g128, nvfp4, q4_k_m, ...;"
		" 'npusim workload list --quant' has them all. By default as the model comes" },
	[WORKLOAD_KEY_KV] = { .name = "kv", .type = WORKLOAD_TEXT, .at = AT(kv), .of = MODEL,
		.arg = "bf16|fp16|fp8|int8|int4", .axis = "kv", .axis_base = "", .help =
		"format of the KV cache; by default as the model's activations" },
	[WORKLOAD_KEY_STYLE] = { .name = "style", .type = WORKLOAD_TEXT, .at = AT(style), .of = MODEL,
		.arg = "eager|fused|npu|llamacpp|llamacpp_fa|rkllm", .axis = "style", .axis_base = "", .help =
		"which ops: eager, the kernels a framework launches; fused, those of an inference engine; npu, what the mapper takes best;"
		" llamacpp, those of llama.cpp of May 2024, llamacpp_fa of 2025 with -fa (one sequence, decode); rkllm, those of Rockchip's"
		" runtime, where all rides with products. npu by default, and fused on a GPU's configuration" },
	[WORKLOAD_KEY_ATTENTION] = { .name = "attention", .type = WORKLOAD_TEXT, .at = AT(attention), .of = MODEL,
		.arg = "flash|split_kv|materialised|mla", .axis = "attention", .axis_base = "", .help =
		"the algorithm of attention: flash, tiles of keys past blocks of queries; split_kv, keys in parts that a combine joins;"
		" materialised, scores in memory; mla, over the cached latent of a model that has one. By default as the style has it;"
		" 'npusim workload attend' has operations, bytes and buffers of each" },
	[WORKLOAD_KEY_LAYERS] = { .name = "layers", .type = WORKLOAD_COUNT, .at = AT(layers), .of = MODEL, .most = MODEL_MAX_LAYERS,
		.arg = "N", .axis = "layers", .axis_base = "0", .help = "so many of the model's layers are on this chip; all by default" },
	[WORKLOAD_KEY_EXPERTS] = { .name = "experts", .type = WORKLOAD_COUNT, .at = AT(experts), .of = MODEL, .most = 65536,
		.arg = "N", .axis = "experts", .axis_base = "0", .help = "so many of each layer's experts are on this chip; all by default" },
	[WORKLOAD_KEY_TP] = { .name = "tp", .type = WORKLOAD_TEXT, .at = AT(tp), .of = MODEL,
		.arg = "N|auto", .axis = "tp", .axis_base = "", .help =
		"chips that share each layer (tensor parallel), joined by the machine's links: a part of the heads, of the MLP's width"
		" and of the vocabulary on each; 1 by default. auto, here and of pp, ep and dp: what is fastest in closed form of the system's"
		" chips (links.chips)" },
	[WORKLOAD_KEY_PP] = { .name = "pp", .type = WORKLOAD_TEXT, .at = AT(pp), .of = MODEL,
		.arg = "N|auto", .axis = "pp", .axis_base = "", .help =
		"stages, each with a part of the layers on chips of its own (pipeline parallel), through which micro-batches go; 1 by"
		" default. Chips in all: tp x pp x dp" },
	[WORKLOAD_KEY_EP] = { .name = "ep", .type = WORKLOAD_TEXT, .at = AT(ep), .of = MODEL,
		.arg = "N|auto", .axis = "ep", .axis_base = "", .help =
		"chips that share out the experts of a layer, each whole on one (expert parallel): all chips of a stage, to which replicas"
		" send their tokens, or a part of a replica's; 1 by default: each expert is cut like an MLP" },
	[WORKLOAD_KEY_DP] = { .name = "dp", .type = WORKLOAD_TEXT, .at = AT(dp), .of = MODEL,
		.arg = "N|auto", .axis = "dp", .axis_base = "", .help =
		"replicas that share out the batch (data parallel); by default 1, or as many as the chips of '--ep' are more than those of"
		" '--tp'" },
	[WORKLOAD_KEY_MICRO] = { .name = "micro", .type = WORKLOAD_COUNT, .at = AT(micro), .of = MODEL, .most = BUILD_MAX_BATCH,
		.arg = "N", .axis = "micro", .axis_base = "0", .help =
		"parts of a replica's batch that go through the stages of '--pp' one behind the other; by default one for each stage, or the"
		" next fewer that are alike" },
	[WORKLOAD_KEY_NORMS] = { .name = "norms", .type = WORKLOAD_TEXT, .at = AT(norms), .of = MODEL,
		.arg = "whole|part", .axis = "norms", .axis_base = "", .help =
		"with '--tp': whole (default), each chip norms all rows behind an all-reduce; part, its own behind a reduce-scatter, and they"
		" are gathered after it (sequence parallel)" },
	[WORKLOAD_KEY_IMAGE] = { .name = "image", .type = WORKLOAD_COUNT, .at = AT(image), .of = MODEL, .most = BUILD_MAX_IMAGE,
		.arg = "PIXELS", .axis = "image", .axis_base = "0", .help =
		"vision: pixels of a picture's side, as many pictures as '--batch' says; by default what the model's encoder is made"
		" for. DeepSeek-OCR takes 512 (tiny), 640 (small, and the crops of a large page), 1024 (base) and 1280 (large)" },
	[WORKLOAD_KEY_SKEW] = { .name = "skew", .type = WORKLOAD_TEXT, .at = AT(skew), .of = TRACE | MODEL,
		.arg = "S", .axis = "skew", .axis_base = "", .help =
		"how unevenly tokens pick experts: the i-th likeliest with a chance as i^-S, 0 to 4; 0 by default: evenly. Of a trace with"
		" '--batch'" },
	[WORKLOAD_KEY_REWRITE] = { .name = "rewrite", .type = WORKLOAD_TEXT, .at = AT(rewrite), .of = TRACE | MODEL | LAID,
		.arg = "NAMES", .axis = "rewrite", .axis_base = "", .help =
		"run it as another program would have computed the same, one or several with commas between. kv-append: new"
		" rows go behind the KV cache in place, instead of copying all of it; native-bf16: what is cast to fp32 and"
		" back is computed in bf16 (native-fp16: in fp16). What was rewritten is told, to the byte" },
	[WORKLOAD_KEY_RULES] = { .name = "rules", .type = WORKLOAD_FILE, .at = AT(rules), .of = TRACE | LAID,
		.arg = "FILE", .help = "the table that makes ops of kernels, instead of the one that comes with npusim" },
	[WORKLOAD_KEY_DTYPE] = { .name = "dtype", .type = WORKLOAD_TEXT, .at = AT(dtype), .of = TRACE,
		.arg = "FORMAT", .instead = WORKLOAD_KEY_QUANT, .help =
		"number format of tensors whose type neither the recording nor a kernel's name nor an op beside them tells: bf16,"
		" fp16, fp32, ...; by default their ops are opaque" },
};

#define ALL      (BIT(WORKLOAD_KEYS) - 1)
#define MACHINES (ALL & ~KEY(PROGRAM))
#define MEASURED (KEY(TRACE) | KEY(RANGE) | KEY(RULES))
#define TOKEN    (KEY(MODEL) | KEY(CONTEXT) | KEY(QUANT) | KEY(KV))

static const char one_machine[] = "a program is mapped for one machine, and this asks of others";

const struct workload_by workload_askers[WORKLOAD_ASKERS] = {
	[WORKLOAD_RUN] = { "npusim run", ALL, NULL, false, false },
	[WORKLOAD_LIMITS] = { "npusim limits", MACHINES, one_machine, false, false },
	[WORKLOAD_SWEEP] = { "npusim sweep", MEASURED, "what is stored of a sweep is its file: its 'workload' has the rest", false, false },
	[WORKLOAD_SWEEP_FILE] = { "a sweep", MACHINES, one_machine, true, false },
	[WORKLOAD_ABLATE] = { "npusim ablate", KEY(RULES), "its file has the workloads", false, false },
	[WORKLOAD_ABLATE_FILE] = { "an ablation", MACHINES, one_machine, true, false },
	[WORKLOAD_SERVE] = { "npusim serve",
		KEY(MODEL) | KEY(QUANT) | KEY(KV) | KEY(STYLE) | KEY(ATTENTION) | KEY(LAYERS) | KEY(EXPERTS) | KEY(SKEW) |
			KEY(TP) | KEY(EP) | KEY(NORMS),
		"its steps are built of a model for what the requests are", false, false },
	[WORKLOAD_COMPARE] = { "npusim compare", MEASURED, "a run is compared as it is stored, and with what was measured", false, false },
	[WORKLOAD_VALIDATE] = { "npusim validate", MEASURED, "a machine is held against what was measured, as it was", false, false },
	[WORKLOAD_STUDY] = { "npusim study", 0, "each command of its file has its own", false, false },
	[WORKLOAD_BUILD] = { "npusim workload build", MACHINES & ~MEASURED, "it builds a model's step", false, true },
	[WORKLOAD_ATTEND] = { "npusim workload attend", TOKEN | KEY(PHASE) | KEY(BATCH) | KEY(TOKENS), "it counts one layer's attention",
		false, true },
	[WORKLOAD_SHOW] = { "npusim workload show", TOKEN, "it counts a token of one sequence", false, true },
	[WORKLOAD_MIX] = { "a mix", MACHINES, one_machine, true, false },
	[WORKLOAD_DESIGN] = { "npusim design", MACHINES, one_machine, false, false },
	[WORKLOAD_LIBRARY] = { "npusim_work_new", ALL, NULL, true, false },
};
/* clang-format on */

/* --- values ------------------------------------------------------------------------------------------------ */

void *workload_place(struct workload_spec *s, enum workload_key k)
{
	return (char *)s + workload_rows[k].at;
}

static uint64_t count_of(const struct workload_spec *s, enum workload_key k)
{
	return *(const uint64_t *)((const char *)s + workload_rows[k].at);
}

void workload_row_text(const struct workload_spec *s, enum workload_key k, struct str *out)
{
	const void *at = workload_place((struct workload_spec *)s, k);

	if (!workload_given(s, k))
		return;
	str_addf(out, "%s=", workload_rows[k].name);
	if (workload_rows[k].type == WORKLOAD_COUNT)
		str_addf(out, "%" PRIu64, *(const uint64_t *)at);
	else
		str_add(out, *(const char *const *)at);
}

bool workload_given(const struct workload_spec *s, enum workload_key k)
{
	if (workload_rows[k].type == WORKLOAD_COUNT)
		return count_of(s, k) != 0;
	return *(const char *const *)((const char *)s + workload_rows[k].at) != NULL;
}

enum workload_source workload_source(const struct workload_spec *s)
{
	return s->program             ? WORKLOAD_PROGRAM
	       : s->trace && s->model ? WORKLOAD_LAID
	       : s->trace             ? WORKLOAD_TRACE
	       : s->model             ? WORKLOAD_MODEL
	                              : WORKLOAD_NONE;
}

/* --- what makes no sense ----------------------------------------------------------------------------------- */

/* "option '--range'", "option '-t'"; of a file "'range'". */
static const char *named(enum workload_key k, bool file, char buf[40])
{
	const struct workload_row *r = &workload_rows[k];

	if (file)
		snprintf(buf, 40, "'%s'", r->name);
	else if (r->letter)
		snprintf(buf, 40, "option '-%c'", r->letter);
	else
		snprintf(buf, 40, "option '--%s'", r->name);
	return buf;
}

static const char *sources(unsigned of, bool file)
{
	if (of == LAID)
		return "a trace laid over a model";
	of &= ~LAID;
	return of == (TRACE | MODEL) ? "a trace or a model"
	       : of == TRACE         ? "a trace"
	       : of != MODEL         ? "a program"
	       : file                ? "a model"
	                             : "a model (-m MODEL)";
}

const char *workload_refused(enum workload_key k, enum workload_source of, enum workload_asker by, char *buf,
                             size_t size)
{
	const struct workload_row *r = &workload_rows[k];
	const struct workload_by *b = &workload_askers[by];
	char name[40], instead[80] = "", other[40];

	named(k, b->file, name);
	if (!(b->takes & BIT(k))) {
		snprintf(buf, size, "%s makes no sense for %s: %s", name, b->name, b->why);
		return buf;
	}
	if (of == WORKLOAD_NONE || r->of & 1u << of)
		return NULL;
	if (r->instead && of == WORKLOAD_MODEL)
		snprintf(instead, sizeof instead, ": '%s%s' says what of it", b->file ? "" : "--",
		         workload_rows[r->instead].name);
	snprintf(other, sizeof other, "%s", sources(1u << of, true));
	snprintf(buf, size, "%s is of %s, and the workload here is %s%s", name, sources(r->of, b->file), other,
	         instead);
	return buf;
}

/* Of the three one, and of those that are taken. */
static int check_source(const struct workload_spec *s, enum workload_asker by, struct err *e)
{
	static const enum workload_key keys[] = { WORKLOAD_KEY_TRACE, WORKLOAD_KEY_MODEL, WORKLOAD_KEY_PROGRAM };
	const struct workload_by *b = &workload_askers[by];
	int given = -1;

	for (int i = 0; i < 3; i++) {
		char one[40], two[40];

		if (!workload_given(s, keys[i]))
			continue;
		/* A model beside a trace is what its kernels are laid over; a file's axes would ask for it anew. */
		if (workload_source(s) == WORKLOAD_LAID && !b->file)
			continue;
		if (given >= 0 && b->file)
			return err_set(e, ERR_USAGE, "%s and %s are two workloads: give one",
			               named(keys[given], true, one), named(keys[i], true, two));
		if (given >= 0)
			return err_set(e, ERR_USAGE, "options %s and %s are two workloads: give one",
			               named(keys[given], false, one) + strlen("option "),
			               named(keys[i], false, two) + strlen("option "));
		given = i;
	}
	if (given >= 0 || workload_source(s) == WORKLOAD_LAID || !(b->takes & KEY(MODEL)))
		return 0;
	if (b->file)
		return err_set(e, ERR_USAGE, "the workload is missing: 'trace: FILE' or 'model: MODEL'");
	if (!(b->takes & KEY(TRACE)))
		return err_set(e, ERR_USAGE, "the model is missing: -m MODEL; 'npusim workload list' has some");
	return err_set(
		e, ERR_USAGE,
		"the workload is missing: -t T.db, which 'npusim trace import' makes, or -m MODEL, of which 'npusim"
		" workload list' has some%s",
		b->takes & KEY(PROGRAM) ? ", or --program-in FILE" : "");
}

int workload_values(const struct workload_spec *s, enum workload_asker by, struct err *e)
{
	for (int k = 0; k < WORKLOAD_KEYS; k++) {
		const struct workload_row *r = &workload_rows[k];
		char name[40];

		if (r->type == WORKLOAD_COUNT && count_of(s, (enum workload_key)k) > r->most)
			return err_set(e, ERR_USAGE, "%" PRIu64 " is more than %" PRIu64 ", for %s",
			               count_of(s, (enum workload_key)k), r->most,
			               named((enum workload_key)k, workload_askers[by].file, name));
	}
	return workload_check_texts(s, e);
}

int workload_check(const struct workload_spec *s, enum workload_asker by, struct err *e)
{
	const enum workload_source of = workload_source(s);
	char why[256];

	/* Who takes one source alone says so first. */
	for (int k = 0; k < WORKLOAD_KEYS; k++)
		if (workload_given(s, (enum workload_key)k) &&
		    workload_refused((enum workload_key)k, WORKLOAD_NONE, by, why, sizeof why))
			return err_set(e, ERR_USAGE, "%s", why);
	if (check_source(s, by, e) < 0)
		return -1;
	for (int k = 0; k < WORKLOAD_KEYS; k++)
		if (workload_given(s, (enum workload_key)k) &&
		    workload_refused((enum workload_key)k, of, by, why, sizeof why))
			return err_set(e, ERR_USAGE, "%s", why);
	/* Picks are drawn anew where another batch is. */
	if (s->trace && s->skew && !s->batch)
		return err_set(e, ERR_USAGE, "%s is of a model%s, and the workload here is a trace",
		               named(WORKLOAD_KEY_SKEW, workload_askers[by].file, why),
		               workload_askers[by].file ? "" : " (-m MODEL)");
	return workload_values(s, by, e);
}

/* --- YAML -------------------------------------------------------------------------------------------------- */

static int yaml_row(const struct yaml *y, const struct ynode *n, enum workload_key k, struct arena *a,
                    struct workload_spec *s, struct err *e)
{
	const struct workload_row *r = &workload_rows[k];
	const char *text;

	if (r->type == WORKLOAD_COUNT)
		return yaml_u64(y, n, 1, r->most, workload_place(s, k), e);
	if (yaml_str(y, n, &text, e) < 0)
		return -1;
	if (!*text)
		return yaml_err(y, n, e, "'%s' is empty", r->name);
	return (*(const char **)workload_place(s, k) = arena_strdup(a, text)) ? 0 : err_nomem(e, "for a workload");
}

/* The first key that makes no sense, at its place. */
static int refused_keys(const struct yaml *y, const struct ynode *map, enum workload_source of, enum workload_asker by,
                        struct err *e)
{
	char text[256];

	for (int k = 0; k < WORKLOAD_KEYS; k++) {
		const struct ynode *at = ynode_get(map, workload_rows[k].name);

		if (at && workload_refused((enum workload_key)k, of, by, text, sizeof text))
			return yaml_err(y, at, e, "%s", text);
	}
	return 0;
}

int workload_yaml(const struct yaml *y, const struct ynode *map, enum workload_asker by, const char *const *also,
                  struct arena *a, struct workload_spec *s, struct err *e)
{
	const char *keys[WORKLOAD_KEYS + 16];
	struct err why = ERR_INIT;
	size_t n = 0;

	for (int k = 0; k < WORKLOAD_KEYS; k++)
		keys[n++] = workload_rows[k].name;
	for (; *also && n < sizeof keys / sizeof *keys; also++)
		keys[n++] = *also;
	if (yaml_only_keys(y, map, keys, n, e) < 0)
		return -1;
	for (int k = 0; k < WORKLOAD_KEYS; k++) {
		const struct ynode *at = ynode_get(map, workload_rows[k].name);

		if (at && yaml_row(y, at, (enum workload_key)k, a, s, e) < 0)
			return -1;
	}
	if (refused_keys(y, map, WORKLOAD_NONE, by, e) < 0)
		return -1;
	if (check_source(s, by, &why) < 0)
		return yaml_err(y, map, e, "%s", why.msg);
	if (refused_keys(y, map, workload_source(s), by, e) < 0)
		return -1;
	return workload_check(s, by, &why) < 0 ? yaml_err(y, map, e, "%s", why.msg) : 0;
}

/* --- an assignment ------------------------------------------------------------------------------------------ */

static int unknown_row(const char *assignment, size_t n, struct err *e)
{
	const char *names[WORKLOAD_KEYS], *near;
	char word[64];

	for (int k = 0; k < WORKLOAD_KEYS; k++)
		names[k] = workload_rows[k].name;
	snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), assignment);
	near = str_nearest(word, names, WORKLOAD_KEYS);
	return err_set(e, ERR_USAGE, "a workload has no '%s'%s%s%s", word, near ? "; did you mean '" : "",
	               near ? near : "", near ? "'?" : "");
}

static int count_row(const char *text, const struct workload_row *r, uint64_t *out, struct err *e)
{
	uint64_t v = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '9' && v <= r->most; p++)
		v = 10 * v + (uint64_t)(*p - '0');
	if (p == text || *p || !v || v > r->most)
		return err_set(e, ERR_USAGE, "'%s' is no whole number from 1 to %" PRIu64 ", for '%s'", text, r->most,
		               r->name);
	*out = v;
	return 0;
}

int workload_assign(struct workload_spec *s, const char *assignment, struct arena *a, struct err *e)
{
	const char *equals = strchr(assignment, '=');
	const size_t n = equals ? (size_t)(equals - assignment) : strlen(assignment);
	int k = 0;
	char *text;

	while (k < WORKLOAD_KEYS &&
	       (strlen(workload_rows[k].name) != n || strncmp(workload_rows[k].name, assignment, n) != 0))
		k++;
	if (k == WORKLOAD_KEYS)
		return unknown_row(assignment, n, e);
	if (!equals || !equals[1])
		return err_set(e, ERR_USAGE, "'%s' has no value: a workload is made of KEY=VALUE", assignment);
	if (workload_given(s, (enum workload_key)k))
		return err_set(e, ERR_USAGE, "'%s' is given twice", workload_rows[k].name);
	if (workload_rows[k].type == WORKLOAD_COUNT)
		return count_row(equals + 1, &workload_rows[k], workload_place(s, (enum workload_key)k), e);
	if (!(text = arena_strdup(a, equals + 1)))
		return err_nomem(e, "for a workload");
	*(const char **)workload_place(s, (enum workload_key)k) = text;
	return 0;
}
