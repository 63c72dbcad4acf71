/* Questions whose answers physics knows, asked of the shipped machines about random products, attentions and steps of shipped
 * models, in both fidelities: more of a resource is never slower, more work never takes less, the closed form is near events,
 * no run is under its roofline or moves more bytes than its pins pass, a causal mask leaves out half, operands on chip never
 * cost more than in DRAM, an ideal network is never slower. The machines are those of configs/npu as they stand.
 * NPUSIM_PAIRS says how many workloads each question is asked about; a suite asks about a sample. What stands against physics
 * is printed as the commands that show it. */
#include "arch/machine/machine_shipped.h"
#include "sim/accuracy/probe_forced.h"
#include "sim/engine/run_memo.h"
#include "validate/tests/runbed.h"
#include "validate/tests/synth.h"
#include "validate/tests/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define TOLERANCE_PPM 10000  /* of more and less, by which runs differ in what refreshes and queues happen to meet */
#define COPIED_PPM    100000 /* mapping.policy copy_first: a compiler's blocks of powers of two, taken as they are */
#define APART_PPM     150000 /* closed form from events */
#define SHORT         (10 * PS_US) /* below it, a queue's last transfer is more than that */
#define CAUSAL_PPM    700000       /* half, and what is not of the pairs: its operands and the blocks on the diagonal */
#define FORCED_MEDIAN 1            /* percent, of forced mappings */
#define FORCED_P90    6
#define FORCED_P99    15
#define MACHINES_MOST 64
#define FILE_NAME     "/tmp/doubt.csv"
#define PICK(r, v)    ((v)[rng_below(r, sizeof(v) / sizeof *(v))])

/* --- machines and workloads ------------------------------------------------------------------------------------------- */

struct machines {
	struct arena *a;
	const char **path;
	size_t n;
	struct machine_base *base[MACHINES_MOST];
	struct machine_conf *conf[MACHINES_MOST];
};

static void machines_up(struct machines *m)
{
	struct err e = ERR_INIT;

	m->a = arena_new(0);
	CHECK_OK(machine_shipped_npus(m->a, &m->path, &m->n, &e), e);
	CHECK(m->n > 8 && m->n <= MACHINES_MOST);
	for (size_t i = 0; i < m->n; i++) {
		m->base[i] = machine_base_load(m->path[i], NULL, 0, &e);
		CHECK_OK(m->base[i] ? 0 : -1, e);
		m->conf[i] = machine_base_conf(m->base[i], NULL, 0, &e);
		CHECK_OK(m->conf[i] ? 0 : -1, e);
	}
}

static void machines_down(struct machines *m)
{
	for (size_t i = 0; i < m->n; i++) {
		machine_conf_free(m->conf[i]);
		machine_base_free(m->base[i]);
	}
	arena_free(m->a);
}

/* A workload, and how a person asks for it. */
struct work {
	struct runbed b;
	char table[256]; /* text of a table of ops; empty: it is a model */
	char args[160];
};

static void listed(struct work *w)
{
	runbed_table(&w->b, w->table);
	snprintf(w->args, sizeof w->args, "-t " FILE_NAME);
}

static void product(struct work *w, uint64_t m, uint64_t n, uint64_t k, const char *formats)
{
	snprintf(w->table, sizeof w->table,
	         "op,m,n,k,dtype,weight_dtype\ngemm,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s\n", m, n, k, formats);
	listed(w);
}

struct attention {
	unsigned batch, heads, kv_heads, dim;
};

static void attention(struct work *w, const struct attention *a, uint64_t queries, uint64_t keys, bool causal)
{
	snprintf(w->table, sizeof w->table,
	         "op,batch,heads,kv_heads,q_len,kv_len,head_dim,causal\nattention,%u,%u,%u,%" PRIu64 ",%" PRIu64
	         ",%u,%d\n",
	         a->batch, a->heads, a->kv_heads, queries, keys, a->dim, causal);
	listed(w);
}

static void decode(struct work *w, const char *model, uint32_t batch, uint64_t context)
{
	const struct build_how how = { .style = BUILD_NPU, .batch = batch, .context = context, .tokens = 1 };

	runbed_model(&w->b, model, &how);
	w->table[0] = '\0';
	snprintf(w->args, sizeof w->args, "-m %s --batch %u --context %" PRIu64, model, batch, context);
}

/* Two layers and the head: the others are alike. */
static void prompt(struct work *w, const char *model, uint64_t tokens)
{
	const struct build_how how = {
		.phase = BUILD_PREFILL, .style = BUILD_NPU, .batch = 1, .tokens = tokens, .layers = 2
	};

	runbed_model(&w->b, model, &how);
	w->table[0] = '\0';
	snprintf(w->args, sizeof w->args, "-m %s --layers 2 --phase prefill --tokens %" PRIu64, model, tokens);
}

/* A random workload, and the same with more to do. */
static void some_product(struct rng *r, struct work *less, struct work *more)
{
	static const char *const formats[] = { "bf16,", "bf16,", "bf16,int8", "bf16,int4", "int8," };
	static const unsigned parts[] = { 2, 4, 8, 16 };
	const uint64_t m = synth_size(r, 1, 12), n = synth_size(r, 32, 8), k = synth_size(r, 32, 8);
	const char *format = PICK(r, formats);
	const uint64_t further = ps_max(1, m / PICK(r, parts));

	product(less, m, n, k, format);
	if (more)
		product(more, m + further, n, k, format);
}

static void some_attention(struct rng *r, struct work *less, struct work *more)
{
	static const unsigned heads[] = { 8, 16, 32 }, groups[] = { 1, 4, 8 }, batches[] = { 1, 1, 4, 16 };
	const uint64_t keys = synth_size(r, 64, 7);
	struct attention a;

	a.heads = PICK(r, heads);
	a.kv_heads = a.heads / PICK(r, groups);
	a.dim = rng_below(r, 2) ? 128 : 64;
	a.batch = PICK(r, batches);
	attention(less, &a, 1, keys, false);
	if (more)
		attention(more, &a, 1, keys + keys / 4 + 1, false);
}

static const struct known_model {
	const char *name;
	int doublings; /* of 64 tokens, so that twice as many are no more than it takes */
} models[] = {
	{ "qwen2-0.5b", 7 }, { "llama-3.2-1b", 7 }, { "deepseek-ocr", 6 }, { "qwen3-0.6b", 7 }, { "tinyllama-1.1b", 4 }
};

static void some_decode(struct rng *r, struct work *less, struct work *more)
{
	static const uint32_t batches[] = { 1, 2, 8, 32 };
	const struct known_model *m = &PICK(r, models);
	const uint64_t context = synth_size(r, 64, m->doublings);
	const uint32_t batch = PICK(r, batches);

	decode(less, m->name, batch, context);
	if (more)
		decode(more, m->name, batch, 2 * context);
}

static void some_prompt(struct rng *r, struct work *less, struct work *more)
{
	const struct known_model *m = &PICK(r, models);
	const uint64_t tokens = synth_size(r, 32, m->doublings);
	const uint64_t further = tokens / (rng_below(r, 2) ? 2 : 8) + 1;

	prompt(less, m->name, tokens);
	if (more)
		prompt(more, m->name, tokens + further);
}

/* --- asking ------------------------------------------------------------------------------------------------------------- */

struct doubt {
	struct rng r;
	struct machines m;
	struct run_memo *memo;
	size_t machine;
	enum run_fidelity fidelity;
	unsigned asked, against;
};

struct ask {
	const struct work *w;
	enum run_fidelity fidelity;
	enum run_start start;
	const char *set; /* NULL: the machine as it is */
};

static void type_it(const struct doubt *d, const struct ask *a)
{
	const char *file = strrchr(d->m.path[d->machine], '/') + 1;

	if (a->w->table[0]) {
		printf("    printf '");
		for (const char *p = a->w->table; *p; p++)
			*p == '\n' ? (void)fputs("\\n", stdout) : (void)putchar(*p);
		printf("' >" FILE_NAME "\n");
	}
	printf("    npusim run -c configs/npu/%s %s --start %s --fidelity %s", file, a->w->args,
	       run_start_name(a->start), a->fidelity == RUN_EVENT ? "event" : "analytic");
	printf(a->set ? " --set '%s'\n" : "\n", a->set);
}

static void stands_against(struct doubt *d, const char *what, double percent, const struct ask *x, const struct ask *y)
{
	d->against++;
	printf("%s: %.2f %%\n", what, percent);
	type_it(d, x);
	if (y)
		type_it(d, y);
}

static double over(ps_t x, ps_t y)
{
	return 100 * ((double)x / (double)y - 1);
}

/* Its time; 0: there is no such machine, or it cannot do this. */
static ps_t ask(struct doubt *d, const struct ask *a)
{
	const struct run_opts o = { .start = a->start, .seed = 1, .fidelity = a->fidelity, .memo = d->memo };
	struct err e = ERR_INIT;
	struct machine_conf *c =
		a->set ? machine_base_conf(d->m.base[d->machine], &a->set, 1, &e) : d->m.conf[d->machine];
	struct arena *own = arena_new(0);
	struct run_result x;
	const bool ran = c && run_stream(a->w->b.s, c, &o, own, &x, &e) == 0;

	if (!ran && e.kind != ERR_CONFIG) {
		type_it(d, a);
		test_fail(__FILE__, __LINE__, "%s", e.msg);
	}
	if (ran && x.total_ps < x.roofline_ps)
		stands_against(d, "under its roofline by", over(x.roofline_ps, x.total_ps), a, NULL);
	if (ran && x.total_ps < x.pins_ps)
		stands_against(d, "more bytes than the pins pass by", over(x.pins_ps, x.total_ps), a, NULL);
	if (a->set)
		machine_conf_free(c);
	arena_free(own);
	return ran ? x.total_ps : 0;
}

static const struct machine_cfg *machine(const struct doubt *d)
{
	return &d->m.conf[d->machine]->cfg;
}

static bool beyond(ps_t now, ps_t before, ps_t ppm)
{
	return now > before + before * ppm / 1000000; /* of minutes, still in 64 bits */
}

/* Where blocks are what they are, and not the best of many. */
static ps_t of_blocks(const struct doubt *d)
{
	return machine(d)->mapping.policy == MAPPING_COPY_FIRST ? COPIED_PPM : TOLERANCE_PPM;
}

/* `now` should take no longer than `before`. */
static void no_slower(struct doubt *d, const char *what, ps_t ppm, const struct ask *now, const struct ask *before)
{
	const ps_t y = ask(d, before), x = y ? ask(d, now) : 0;

	d->asked += x > 0;
	if (beyond(x, y, ppm))
		stands_against(d, what, over(x, y), before, now);
}

/* A question about a workload and a machine, drawn anew each time. */
typedef void question(struct doubt *d, const struct work *less, const struct work *more);

static void draw(struct doubt *d, question *q, bool more_too, bool listed_only)
{
	struct work less, more;
	const uint64_t sort = rng_below(&d->r, listed_only ? 16 : 20);
	struct work *than = more_too ? &more : NULL;

	d->machine = rng_below(&d->r, d->m.n);
	d->fidelity = rng_below(&d->r, 3) ? RUN_ANALYTIC : RUN_EVENT;
	run_memo_forget(d->memo); /* the streams of before are gone */
	if (sort < 12)
		some_product(&d->r, &less, than);
	else if (sort < 16)
		some_attention(&d->r, &less, than);
	else if (sort < 19)
		some_decode(&d->r, &less, than);
	else
		some_prompt(&d->r, &less, than);
	q(d, &less, than);
	runbed_down(&less.b);
	if (than)
		runbed_down(&more.b);
}

/* `known`: of a hundred, those that stand against physics today; each sample says why. */
struct sample {
	const char *name;
	int rounds;
	bool more_too, listed_only;
	unsigned known;
};

static void doubted(const struct sample *s, question *q)
{
	const char *wanted = getenv("NPUSIM_PAIRS");
	const int rounds =
		wanted ? atoi(wanted) : test_rounds((s->rounds + 9) / 10, (s->rounds + 1) / 2, 4 * s->rounds);
	struct err e = ERR_INIT;
	struct doubt d = { .memo = run_memo_new(&e) };

	CHECK_OK(d.memo ? 0 : -1, e);
	rng_seed(&d.r, test_seed(), s->name);
	machines_up(&d.m);
	for (int i = 0; i < rounds; i++)
		draw(&d, q, s->more_too, s->listed_only);
	printf("%s: asked %u times, %u stand against it\n", s->name, d.asked, d.against);
	machines_down(&d.m);
	run_memo_free(d.memo);
	CHECK(d.asked >= (unsigned)rounds / 2);
	CHECK(test_share(d.against, d.asked, 10 * s->known));
}

/* --- the questions -------------------------------------------------------------------------------------------------------- */

/* Of a count only whole ones; twice where a machine may have no other. */
struct amount {
	const char *key;
	bool twice;
};
static const struct amount amounts[] = {
	{ "clock", false },       { "cores", false },           { "matrix.units", true },  { "gemv.units", true },
	{ "vector.units", true }, { "vector.lanes", false },    { "sram.size", false },    { "sram.banks", true },
	{ "l2.size", false },     { "l2.banks", true },         { "dram.channels", true }, { "dma.width", false },
	{ "dma.stages", false },  { "dma.outstanding", false }, { "dma.engines", true },   { "kv_buffer.size", false },
};

/* "clock=2.8 GHz" for a clock of 1.4 GHz; false: there is none of it, or no such part of one. */
static bool more_of(struct doubt *d, const struct amount *a, char *set, size_t size)
{
	static const unsigned quarters[] = { 8, 8, 5, 6 };
	const struct cfg *raw = d->m.conf[d->machine]->raw;
	const unsigned of = a->twice ? 8 : PICK(&d->r, quarters);
	struct str text = STR_INIT;
	struct err e = ERR_INIT;
	uint64_t now;
	size_t i;

	CHECK_OK(cfg_find(raw, a->key, &i, &e), e);
	now = cfg_raw(raw, i);
	if (!now || now * of % 4)
		return false;
	cfg_format_value(cfg_at(raw, i).field->type, now * of / 4, &text);
	snprintf(set, size, "%s=%s", a->key, str_c(&text));
	str_free(&text);
	return true;
}

static void more_is_no_slower(struct doubt *d, const struct work *w, const struct work *more)
{
	const struct ask as_it_is = { w, d->fidelity, RUN_STEADY, NULL };
	const enum noc_kind noc = machine(d)->mem.noc.kind;

	(void)more;
	for (int i = 0; i < 3; i++) {
		const struct amount *a = &PICK(&d->r, amounts);
		char set[96];
		const struct ask with = { w, d->fidelity, RUN_STEADY, set };

		/* More cores are further apart on these, by hops that nobody can save. */
		if (strcmp(a->key, "cores") == 0 && (noc == NOC_RING || noc == NOC_MESH))
			continue;
		if (more_of(d, a, set, sizeof set))
			no_slower(d, "more of it is slower", of_blocks(d), &with, &as_it_is);
	}
}

/* Known: in events more banks or channels change what rows meet; the judge does not see that. */
TEST(more_of_a_resource_is_never_slower)
{
	doubted(&(struct sample){ "doubt: more of a resource", 30, false, false, 2 }, more_is_no_slower);
}

static void less_work_is_no_slower(struct doubt *d, const struct work *less, const struct work *more)
{
	const struct ask x = { less, d->fidelity, RUN_STEADY, NULL }, y = { more, d->fidelity, RUN_STEADY, NULL };

	no_slower(d, "less work takes more", of_blocks(d), &x, &y);
}

/* Known: results of uneven sizes that share rows and sets of the L2 otherwise, to 8 %. */
TEST(more_work_never_takes_less)
{
	doubted(&(struct sample){ "doubt: more work", 30, true, false, 3 }, less_work_is_no_slower);
}

static void form_is_near(struct doubt *d, const struct work *w, const struct work *more)
{
	/* A model's step cannot lie on chip before it begins. */
	const enum run_start start = (enum run_start)rng_below(&d->r, w->table[0] ? RUN_STARTS : RUN_RESIDENT);
	const struct ask f = { w, RUN_ANALYTIC, start, NULL }, ev = { w, RUN_EVENT, start, NULL };
	const ps_t form = ask(d, &f), event = form ? ask(d, &ev) : 0;

	(void)more;
	d->asked += event > 0;
	if (event > SHORT && (beyond(form, event, APART_PPM) || form < event - event * APART_PPM / 1000000))
		stands_against(d, "the closed form is off events by", over(form, event), &f, &ev);
}

/* Known: written-back bytes of an L2 that a product just fills. */
TEST(the_closed_form_is_near_events)
{
	doubted(&(struct sample){ "doubt: closed form", 75, false, false, 1 }, form_is_near);
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Nor only where it had the choice (probe_forced.h): `npusim plot fidelity --seed N --table FILE` lists them. */
TEST(the_closed_form_is_near_events_at_mappings_that_are_forced)
{
	const char *wanted = getenv("NPUSIM_PAIRS");
	const size_t n = wanted ? (size_t)atoi(wanted) : (size_t)test_rounds(100, 200, 400);
	struct arena *a = arena_new(0);
	struct probe_forced *x = arena_array(a, n, sizeof *x);
	double *off = arena_array(a, n, sizeof *off);
	struct err e = ERR_INIT;
	size_t lasting = 0;

	CHECK_OK(probe_forced(test_seed(), n, a, x, NULL, NULL, &e), e);
	for (size_t i = 0; i < n; i++)
		if (x[i].event >= SHORT)
			off[lasting++] = fabs(over(x[i].form, x[i].event));
	CHECK(lasting >= n / 3);
	qsort(off, lasting, sizeof *off, by_size);
	printf("%zu of %zu forced mappings take %d us and more: median %.2f %%, p90 %.2f, p99 %.2f, worst %.2f\n",
	       lasting, n, (int)(SHORT / PS_US), off[lasting / 2], off[lasting * 9 / 10], off[lasting * 99 / 100],
	       off[lasting - 1]);
	CHECK(off[lasting / 2] <= FORCED_MEDIAN && off[lasting * 9 / 10] <= FORCED_P90 &&
	      off[lasting * 99 / 100] <= FORCED_P99);
	arena_free(a);
}

static void on_chip_is_no_slower(struct doubt *d, const struct work *w, const struct work *more)
{
	const struct ask x = { w, d->fidelity, RUN_RESIDENT, NULL }, y = { w, d->fidelity, RUN_COLD, NULL };

	(void)more;
	no_slower(d, "operands on chip cost more", TOLERANCE_PPM, &x, &y);
}

/* Known: 3 % on wormhole, whose SRAM operands on chip nearly fill. */
TEST(operands_on_chip_never_cost_more_than_in_dram)
{
	doubted(&(struct sample){ "doubt: on chip", 40, false, true, 3 }, on_chip_is_no_slower);
}

static void ideal_is_no_slower(struct doubt *d, const struct work *w, const struct work *more)
{
	const struct ask x = { w, d->fidelity, RUN_STEADY, "noc.kind=ideal" }, y = { w, d->fidelity, RUN_STEADY, NULL };

	(void)more;
	for (d->machine = 0; d->machine < d->m.n; d->machine++)
		if (test_turn(d->machine, 3) && machine(d)->mem.noc.kind != NOC_IDEAL)
			no_slower(d, "an ideal network is slower", TOLERANCE_PPM, &x, &y);
}

/* Known: 1 to 2 % on trainium1, inferentia2 and h100-stranger, where a search takes another tile among those that it ranks alike. */
TEST(an_ideal_network_is_never_slower)
{
	doubted(&(struct sample){ "doubt: ideal network", 20, false, false, 2 }, ideal_is_no_slower);
}

/* Where the machine's software leaves out what is masked (attention.masked). Of shorter ones the operands' way in, which no
 * mask makes shorter, is much of the time. */
static void causal_is_half(struct doubt *d, const struct work *w, const struct work *more)
{
	static const unsigned heads[] = { 16, 32 };
	struct attention a = { .batch = 1, .dim = 128 };
	const uint64_t queries = UINT64_C(2048) << rng_below(&d->r, 3);
	struct work all, half;
	const struct ask x = { &all, d->fidelity, RUN_COLD, NULL }, y = { &half, d->fidelity, RUN_COLD, NULL };

	(void)w;
	(void)more;
	a.heads = PICK(&d->r, heads);
	a.kv_heads = a.heads / 2;
	attention(&all, &a, queries, queries, false);
	attention(&half, &a, queries, queries, true);
	for (d->machine = 0; d->machine < d->m.n; d->machine++) {
		const bool skips = test_turn(d->machine, 2) && machine(d)->attention.masked == ATTENTION_SKIP;
		const ps_t whole = skips ? ask(d, &x) : 0, part = whole ? ask(d, &y) : 0;

		d->asked += part > 0;
		if (part && part > whole * CAUSAL_PPM / 1000000)
			stands_against(d, "a causal mask leaves, of the time", 100 * (double)part / (double)whole, &x,
			               &y);
	}
	runbed_down(&all.b);
	runbed_down(&half.b);
}

/* Known: 0.74 on h200-twin, whose queries take nearly all of SRAM. */
TEST(a_causal_mask_leaves_out_about_half)
{
	doubted(&(struct sample){ "doubt: causal", 6, false, true, 4 }, causal_is_half);
}

SUITE(p_doubt, SLOW(more_of_a_resource_is_never_slower), SLOW(more_work_never_takes_less),
      SLOW(the_closed_form_is_near_events), SLOW(the_closed_form_is_near_events_at_mappings_that_are_forced),
      SLOW(operands_on_chip_never_cost_more_than_in_dram), SLOW(an_ideal_network_is_never_slower),
      SLOW(a_causal_mask_leaves_out_about_half));
