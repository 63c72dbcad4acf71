/* limits_moves.c - every single change of a machine that is worth a try: amounts, switches, parts that are there or not. */
#include <stdio.h>
#include <string.h>

#include "sim/study/limits_int.h"

#define PPM 1000000u

/* What an amount or a switch may relieve: it makes what is waited for there shorter. */
#define R(x)                        (1u << RES_##x)
#define UNIT_BIT(id, name, c, i, a) | R(id)
#define ANY_UNIT                    (0 UNITS(UNIT_BIT))
#define ON_CHIP                     (R(L2) | R(L1) | R(SRAM) | R(NOC) | R(DMA) | R(FUSION) | ANY_UNIT)
#define FEWER_BYTES                 (R(DRAM) | R(LATENCY))
#define CONTROL                     (R(DISPATCH) | R(DEPENDENCY) | R(LATENCY))
_Static_assert(RES_COUNT <= 32, "a bit each");

/* Which way is better: more of it, or less (latencies). */
struct amount {
	const char *key;
	bool less;
	uint32_t serves;
};
static const struct amount before_units[] = {
	{ "clock", false, ON_CHIP },
	{ "cores", false, R(SRAM) | R(DMA) | R(LATENCY) | ANY_UNIT },
	{ "core.depth", false, R(VECTOR) | CONTROL },
	{ "core.thread_group", false, R(VECTOR) },
	{ "core.control", true, R(VECTOR) },
	{ "core.unit_latency", true, R(VECTOR) },
	{ "dispatch.latency", true, CONTROL },
	{ "dispatch.interval", true, R(DISPATCH) },
	{ "dispatch.queue", false, CONTROL },
	{ "dispatch.batch", false, CONTROL },
	{ "dispatch.branch", true, CONTROL },
	{ "dispatch.host", true, R(HOST) },
	{ "dispatch.launch", true, R(HOST) | R(DISPATCH) },
	{ "dma.width", false, R(DMA) },
	{ "dma.engines", false, R(DMA) },
	{ "dma.tile", false, R(LATENCY) },
	{ "dma.stages", false, R(LATENCY) },
	{ "dma.outstanding", false, R(LATENCY) },
	{ "dma.setup", true, R(DMA) | R(LATENCY) },
	{ "dma.sync", true, R(DMA) | R(LATENCY) },
	{ "sram.size", false, R(LATENCY) | R(SRAM) },
	{ "sram.banks", false, R(SRAM) },
	{ "sram.bank_width", false, R(SRAM) },
	{ "sram.ports", false, R(SRAM) },
	{ "sram.pin", false, FEWER_BYTES },
};
static const struct amount after_units[] = {
	{ "fusion.buffer", false, R(FUSION) | R(L2) | FEWER_BYTES },
	{ "fusion.max_ops", false, R(FUSION) | CONTROL },
	{ "l1.size", false, R(L1) | R(L2) | R(NOC) },
	{ "l1.victim", false, R(L1) | R(L2) | R(NOC) },
	{ "noc.latency", true, R(NOC) | R(LATENCY) },
	{ "kv_buffer.size", false, FEWER_BYTES | R(L2) },
	{ "kv_buffer.bandwidth", false, R(KV) },
	{ "kv_buffer.latency", true, R(KV) | R(LATENCY) },
	{ "l2.size", false, FEWER_BYTES },
	{ "l2.banks", false, R(L2) },
	{ "l2.bank_width", false, R(L2) },
	{ "l2.mshrs", false, R(L2) | R(LATENCY) },
	{ "l2.latency", true, R(L2) | R(LATENCY) },
	{ "l2.miss_latency", true, R(LATENCY) },
	{ "dram.channels", false, R(DRAM) },
	{ "dram.bandwidth", false, R(DRAM) },
	{ "dram.latency_scale", true, R(LATENCY) },
	{ "dram.fixed_bandwidth", false, R(DRAM) },
	{ "dram.fixed_latency", true, R(LATENCY) },
	{ "links.bandwidth", false, R(LINK) },
	{ "links.latency", true, R(LINK) },
	{ "links.overhead", true, R(LINK) },
};

/* Choices: their other values, or those of `values` alone. */
struct choice {
	const char *key;
	const char *values; /* with blanks between; NULL: all there are */
	uint32_t serves;
};
static const struct choice choices[] = {
	{ "dispatch.dynamic", NULL, R(HOST) | CONTROL },
	{ "dispatch.join", NULL, CONTROL | FEWER_BYTES | R(L2) },
	{ "fusion.enabled", NULL, R(FUSION) | R(L2) | CONTROL | FEWER_BYTES },
	{ "kv_buffer.spill", NULL, R(KV) | FEWER_BYTES },
	{ "l2.policy", NULL, FEWER_BYTES },
	{ "l2.hash", NULL, FEWER_BYTES },
	{ "l2.write_back", NULL, FEWER_BYTES },
	{ "weights.sparsity", "none 2:4", FEWER_BYTES | R(L2) | R(DMA) | R(SRAM) | ANY_UNIT },
	/* One of eight bits and one of four: others of a size differ in their scales alone. */
	{ "weights.dtype", "as_traced fp8_e4m3 int4", FEWER_BYTES | R(L2) | R(DMA) | R(SRAM) | ANY_UNIT },
	{ "activations.dtype", "as_traced fp8_e4m3", FEWER_BYTES | R(L2) | R(DMA) | R(SRAM) | ANY_UNIT },
	{ "kv.dtype", "as_traced fp8_e4m3 int4", FEWER_BYTES | R(KV) | R(L2) | ANY_UNIT },
};

/* Parts by the amount that is 0 where there is none; what else stands in the section means nothing then. */
static const char *const parts[] = { "l1.size", "kv_buffer.size", "l2.size" };

struct maker {
	const struct limits_question *q;
	const struct machine_conf *c;
	struct limits_rows *to;
	struct err *e;
};

/* --- rows -------------------------------------------------------------------------------------------------------------- */

struct limits_row *limits_rows_add(struct limits_rows *to)
{
	if (to->n == to->cap) {
		const size_t cap = to->cap ? 2 * to->cap : 64;
		struct limits_row *v = arena_array(to->a, cap, sizeof *v);

		if (!v)
			return NULL;
		if (to->n)
			memcpy(v, to->v, to->n * sizeof *v);
		to->v = v;
		to->cap = cap;
	}
	memset(&to->v[to->n], 0, sizeof *to->v);
	return &to->v[to->n++];
}

static char *text_of(const struct cfg_field *f, uint64_t v, struct arena *a)
{
	struct str s = STR_INIT;
	char *t;

	if (f->type == CFG_T_ENUM)
		str_add(&s, f->names[v]);
	else
		cfg_format_value(f->type, v, &s);
	t = s.failed ? NULL : arena_strdup(a, str_c(&s));
	str_free(&s);
	return t;
}

/* A row that sets a parameter to `then`, and to `also` (KEY=VALUE; may be NULL) another. */
static int limits_moves_add_row(struct maker *m, struct limits_row row, const struct cfg_row *r, uint64_t then,
                                const char *also)
{
	struct limits_row *to = limits_rows_add(m->to);
	const char **sets = arena_array(m->to->a, 2, sizeof *sets);
	size_t i;

	if (!to || !sets || cfg_find(m->c->raw, r->key, &i, m->e) < 0)
		return err_nomem(m->e, NULL);
	*to = row;
	to->key = arena_strdup(m->to->a, r->key);
	to->now = text_of(r->field, cfg_raw(m->c->raw, i), m->to->a);
	to->then = text_of(r->field, then, m->to->a);
	if (!to->key || !to->now || !to->then || !(sets[0] = arena_printf(m->to->a, "%s=%s", to->key, to->then)))
		return err_nomem(m->e, NULL);
	sets[1] = also;
	to->sets = sets;
	to->n_sets = also ? 2 : 1;
	return 0;
}

static int limits_moves_find(struct maker *m, const char *key, struct cfg_row *r, uint64_t *now)
{
	size_t i;

	if (cfg_find(m->c->raw, key, &i, m->e) < 0)
		return -1;
	*r = cfg_at(m->c->raw, i);
	*now = cfg_raw(m->c->raw, i);
	return 0;
}

static bool in_section(const char *key, const char *section, size_t n)
{
	return strncmp(key, section, n) == 0 && key[n] == '.';
}

/* A part's own amount is never idle; the rest of its section is, where there is none. */
static bool is_zero(const struct machine_conf *c, const char *key)
{
	struct err ignored = ERR_INIT;
	size_t i;

	return cfg_find(c->raw, key, &i, &ignored) == 0 && cfg_raw(c->raw, i) == 0;
}

/* Of a fixed DRAM its own two count, and of the rate the name that was given; of all others none of these. */
static bool idle_dram(const struct machine_conf *c, const char *key)
{
	const bool by_name = cfg_given(c->raw, "dram.bandwidth"), rate = strcmp(key, "dram.bandwidth") == 0;

	if (!in_section(key, "dram", 4))
		return false;
	if (!dram_is_fixed(&c->cfg.mem.dram))
		return strncmp(key, "dram.fixed_", 11) == 0;
	if (rate || strcmp(key, "dram.fixed_bandwidth") == 0)
		return rate != by_name;
	return strcmp(key, "dram.fixed_latency") != 0;
}

/* Whether a unit would leave out what sparse weights leave out. */
static bool takes_sparse(const struct machine_conf *c)
{
	struct machine_cfg as = c->cfg;

	as.weights.sparsity = 1;
	return machine_sparsity(&as).of;
}

static bool idle_sparse(const struct machine_conf *c, const char *key)
{
	const char *dot = strchr(key, '.');

	return dot && strcmp(dot, ".sparse") == 0 && !c->cfg.weights.sparsity;
}

static bool idle(const struct maker *m, const char *key)
{
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (in_section(key, parts[i], strcspn(parts[i], ".")) && strcmp(key, parts[i]) != 0 &&
		    is_zero(m->c, parts[i]))
			return true;
	for (int u = 0; u < UNIT_COUNT; u++)
		if (in_section(key, unit_table[u]->name, strlen(unit_table[u]->name)) && !m->c->cfg.unit[u].units)
			return true;
	if (idle_sparse(m->c, key) || (in_section(key, "links", 5) && m->q->stream->chips < 2))
		return true;
	if (strcmp(key, "weights.sparsity") == 0)
		return !takes_sparse(m->c);
	if (strcmp(key, "dispatch.join") == 0)
		return m->c->cfg.dispatch.batch == 1;
	return (in_section(key, "fusion", 6) && !m->c->cfg.fusion.enabled && strcmp(key, "fusion.enabled") != 0) ||
	       (strcmp(key, "dispatch.branch") == 0 && !m->c->cfg.dispatch.dynamic) ||
	       (strcmp(key, "dispatch.host") == 0 && m->c->cfg.dispatch.dynamic) || idle_dram(m->c, key);
}

/* --- amounts ----------------------------------------------------------------------------------------------------------- */

/* The nearest value that is larger (or smaller) by at least `ppm` and that the field's rule allows, and its end where that
 * is nearer; the same value when there is none. Down is by the factor that undoes up. */
static uint64_t moved(const struct cfg_field *f, uint64_t now, bool up, uint32_t ppm)
{
	/* Stored values stay far below 2^44 here, so a product with a million fits. */
	const uint64_t more = now / PPM * ppm + now % PPM * ppm / PPM;
	uint64_t by = up ? more : now - now / (PPM + ppm) * PPM - now % (PPM + ppm) * PPM / (PPM + ppm);
	uint64_t grain = now & -now;

	if (now == 0)
		return now; /* an absent block has no tenth more */
	if (f->rule == cfg_pow2 || f->rule == cfg_pow2_or_0)
		return up ? (now * 2 > f->max ? now : now * 2) : now / 2 < f->min || now == 1 ? now : now / 2;
	/* Sizes come in whole sets, chunks, banks: a step is as round as the value itself, as far as that is possible. */
	while (f->type == CFG_T_BYTES && by % grain && 4 * grain > by && grain > 1)
		grain /= 2;
	for (grain = f->type == CFG_T_BYTES ? grain : 1; f->type != CFG_T_BYTES && by / grain >= 100000;)
		grain *= 10; /* five digits are enough for a reader */
	by = by ? round_up(by, grain) : 1;
	if (up)
		return f->max - now < by ? f->max : now + by;
	return now <= by || now - by < f->min ? (f->min && now > f->min ? f->min : now) : now - by;
}

static int add_amount(struct maker *m, const struct amount *x)
{
	struct cfg_row r;
	uint64_t now;

	if (limits_moves_find(m, x->key, &r, &now) < 0)
		return -1;
	for (int worse = 0; worse < 2 && !idle(m, x->key); worse++) {
		const bool up = x->less == (worse == 1);
		const uint64_t then = moved(r.field, now, up, m->q->step_ppm);
		const double of = up ? (double)then / (double)now : (double)now / (double)then;

		if (then != now && limits_moves_add_row(m,
		                                        (struct limits_row){ .move = worse ? LIMITS_LESS : LIMITS_MORE,
		                                                             .step = of - 1,
		                                                             .serves = x->serves },
		                                        &r, then, NULL) < 0)
			return -1;
	}
	return 0;
}

static int add_amounts(struct maker *m, const struct amount *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (add_amount(m, &v[i]) < 0)
			return -1;
	return 0;
}

static int add_units(struct maker *m)
{
	char key[64];

	for (int u = 0; u < UNIT_COUNT; u++)
		for (const char *const *k = unit_table[u]->knobs; *k; k++) {
			snprintf(key, sizeof key, "%s.%s", unit_table[u]->name, *k);
			if (add_amount(m, &(struct amount){ key, false, 1u << unit_table[u]->res }) < 0)
				return -1;
		}
	return 0;
}

static bool own_key(const struct maker *m, const struct amount *v, size_t n, enum res r, char key[64])
{
	for (size_t i = 0; i < n; i++)
		if (v[i].serves == 1u << r && !idle(m, v[i].key)) {
			snprintf(key, 64, "%s", v[i].key);
			return true;
		}
	return false;
}

bool limits_own_key(const struct machine_conf *c, enum res r, char key[64])
{
	const struct maker m = { .c = c };

	if (own_key(&m, before_units, sizeof before_units / sizeof *before_units, r, key))
		return true;
	for (int u = 0; u < UNIT_COUNT; u++)
		if (unit_table[u]->res == r && unit_table[u]->knobs[0]) {
			snprintf(key, 64, "%s.%s", unit_table[u]->name, unit_table[u]->knobs[0]);
			return true;
		}
	return own_key(&m, after_units, sizeof after_units / sizeof *after_units, r, key);
}

/* --- switches ---------------------------------------------------------------------------------------------------------- */

static bool listed(const char *values, const char *name)
{
	const size_t n = strlen(name);

	for (const char *p = values; p && *p; p += strcspn(p, " "), p += *p == ' ')
		if (strncmp(p, name, n) == 0 && (p[n] == ' ' || !p[n]))
			return true;
	return !values;
}

static int add_choice(struct maker *m, const struct choice *x)
{
	struct cfg_row r;
	uint64_t now, n = 2;

	if (limits_moves_find(m, x->key, &r, &now) < 0)
		return -1;
	if (r.field->type == CFG_T_ENUM)
		for (n = 0; r.field->names[n]; n++)
			continue;
	for (uint64_t v = 0; v < n && !idle(m, x->key); v++)
		if (v != now && (r.field->type == CFG_T_BOOL || listed(x->values, r.field->names[v])) &&
		    limits_moves_add_row(m, (struct limits_row){ .move = LIMITS_SWITCH, .serves = x->serves }, &r, v,
		                         NULL) < 0)
			return -1;
	return 0;
}

/* What a unit can be told: all that is no amount in its section. */
static int add_unit_choices(struct maker *m)
{
	for (size_t i = 0; i < cfg_count(m->c->raw); i++) {
		const struct cfg_row r = cfg_at(m->c->raw, i);
		bool units = false;

		for (int u = 0; u < UNIT_COUNT; u++)
			units |= strcmp(r.section, unit_table[u]->name) == 0;
		if (units && (r.field->type == CFG_T_BOOL || r.field->type == CFG_T_ENUM) &&
		    add_choice(m, &(struct choice){ r.key, NULL, ANY_UNIT }) < 0)
			return -1;
	}
	return 0;
}

/* As a file that says nothing of it has it. */
static int usual(const struct cfg_field *f, uint64_t *out)
{
	struct err ignored = ERR_INIT;

	if (f->type != CFG_T_ENUM)
		return cfg_parse_value(f->type, f->def, out, &ignored);
	for (*out = 0; f->names[*out]; ++*out)
		if (strcmp(f->names[*out], f->def) == 0)
			return 0;
	return -1;
}

/* A mapping of one's own, given back to the mapper. */
static int add_mappings(struct maker *m)
{
	for (size_t i = 0; i < cfg_count(m->c->raw); i++) {
		const struct cfg_row r = cfg_at(m->c->raw, i);
		uint64_t own;

		if (strcmp(r.section, "mapping") == 0 && usual(r.field, &own) == 0 && own != cfg_raw(m->c->raw, i) &&
		    limits_moves_add_row(m,
		                         (struct limits_row){ .move = LIMITS_SWITCH, .serves = FEWER_BYTES | ANY_UNIT },
		                         &r, own, NULL) < 0)
			return -1;
	}
	return 0;
}

/* --- parts ------------------------------------------------------------------------------------------------------------- */

static uint64_t pow2_above(uint64_t n)
{
	uint64_t p = 1 << 20;

	while (p < n && p < UINT64_C(1) << 39)
		p *= 2;
	return p;
}

/* All of the workload's KV cache. */
static uint64_t kv_bytes(const struct op_stream *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_tensors; i++)
		if (s->tensors[i].role == OP_KV)
			n += s->tensors[i].bytes * s->tensors[i].instances;
	return n;
}

/* A KV buffer is as fast as the L2 that it stands beside, and where there is none four times DRAM. */
static int add_kv(struct maker *m)
{
	const uint64_t bytes = kv_bytes(m->q->stream);
	uint64_t peak[RES_COUNT], now;
	struct str s = STR_INIT;
	const char *also = NULL;
	struct cfg_row r;

	if (limits_moves_find(m, "kv_buffer.size", &r, &now) < 0)
		return -1;
	if (now || !bytes)
		return 0;
	machine_peaks(&m->c->cfg, peak);
	if (!cfg_given(m->c->raw, "kv_buffer.bandwidth")) {
		str_add(&s, "kv_buffer.bandwidth=");
		cfg_format_value(CFG_T_RATE, peak[RES_L2] ? peak[RES_L2] : 4 * peak[RES_DRAM], &s);
		also = s.failed ? NULL : arena_strdup(m->to->a, str_c(&s));
		str_free(&s);
		if (!also)
			return err_nomem(m->e, NULL);
	}
	return limits_moves_add_row(m, (struct limits_row){ .move = LIMITS_ADD, .serves = FEWER_BYTES | R(L2) }, &r,
	                            pow2_above(bytes), also);
}

static int add_part(struct maker *m, const char *key, uint64_t size, uint32_t serves)
{
	struct cfg_row r;
	uint64_t now;

	if (limits_moves_find(m, key, &r, &now) < 0)
		return -1;
	if (now && r.field->min == 0)
		return limits_moves_add_row(m, (struct limits_row){ .move = LIMITS_REMOVE, .serves = serves }, &r, 0,
		                            NULL);
	return now || !size ? 0
	                    : limits_moves_add_row(m, (struct limits_row){ .move = LIMITS_ADD, .serves = serves }, &r,
	                                           size, NULL);
}

/* Units that are not there come in the number of the schema, those that are there go. */
static int add_unit_parts(struct maker *m)
{
	char key[64];

	for (int u = 0; u < UNIT_COUNT; u++) {
		struct cfg_row r;
		uint64_t now, n = 0;

		snprintf(key, sizeof key, "%s.units", unit_table[u]->name);
		if (limits_moves_find(m, key, &r, &now) < 0)
			return -1;
		if (usual(r.field, &n) < 0 || !n)
			n = 1;
		if (add_part(m, key, n, 1u << unit_table[u]->res) < 0)
			return -1;
	}
	return 0;
}

static int add_parts(struct maker *m)
{
	const struct machine_cfg *c = &m->c->cfg;
	const uint64_t spads = (uint64_t)c->cores * c->sram.size;

	return add_unit_parts(m) < 0 || add_kv(m) < 0 || add_part(m, "kv_buffer.size", 0, FEWER_BYTES | R(L2)) < 0 ||
	                       add_part(m, "l1.size", c->sram.size, R(L1) | R(L2) | R(NOC)) < 0 ||
	                       add_part(m, "l2.size", pow2_above(spads), FEWER_BYTES) < 0 ||
	                       add_part(m, "sram.pin", c->sram.size / 2, FEWER_BYTES) < 0
	               ? -1
	               : 0;
}

int limits_moves(const struct limits_question *q, const struct machine_conf *c, struct limits_rows *to, struct err *e)
{
	struct maker m = { q, c, to, e };

	if (add_amounts(&m, before_units, sizeof before_units / sizeof *before_units) < 0 || add_units(&m) < 0 ||
	    add_amounts(&m, after_units, sizeof after_units / sizeof *after_units) < 0)
		return -1;
	for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
		if (add_choice(&m, &choices[i]) < 0)
			return -1;
	return add_unit_choices(&m) < 0 || add_mappings(&m) < 0 || add_parts(&m) < 0 ? -1 : 0;
}
