#include "sim/workload/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const enum build_phase phases[] = { BUILD_VISION, BUILD_PREFILL, BUILD_DECODE };

#define PHASES (sizeof(phases) / sizeof *phases)

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* Of a text of `n` bytes without blanks around it. */
static char *trimmed(const char *p, size_t n, struct arena *a)
{
	while (n && (*p == ' ' || *p == '\t' || *p == '\n')) {
		p++;
		n--;
	}
	while (n && (p[n - 1] == ' ' || p[n - 1] == '\t' || p[n - 1] == '\n'))
		n--;
	return arena_strndup(a, p, n);
}

static int phase_of(const char *word, enum build_phase *out, struct err *e)
{
	const char *names[PHASES], *near;

	for (size_t i = 0; i < PHASES; i++) {
		names[i] = build_phase_name(phases[i]);
		if (strcmp(word, names[i]) == 0) {
			*out = phases[i];
			return 0;
		}
	}
	near = str_nearest(word, names, PHASES);
	return err_set(e, ERR_USAGE, "unknown stage '%s'%s%s%s: it is vision, prefill or decode", word,
	               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* The row whose name begins the text up to '='; WORKLOAD_KEYS: none. */
static enum workload_key key_at(const char *p)
{
	int k;

	while (*p == ' ')
		p++;
	for (k = 0; k < WORKLOAD_KEYS; k++) {
		const size_t n = strlen(workload_rows[k].name);

		if (strncmp(p, workload_rows[k].name, n) == 0 && p[n + strspn(p + n, " ")] == '=')
			break;
	}
	return (enum workload_key)k;
}

static int unknown_key(const char *p, const char *what, struct err *e)
{
	const char *names[WORKLOAD_KEYS], *near;
	char word[64];

	for (int k = 0; k < WORKLOAD_KEYS; k++)
		names[k] = k == WORKLOAD_KEY_PHASE ? NULL : workload_rows[k].name;
	p += strspn(p, " ");
	snprintf(word, sizeof word, "%.*s", (int)strcspn(p, " =,"), p);
	if (strchr(p, '=') == NULL || p + strlen(word) + strspn(p + strlen(word), " ") < strchr(p, '='))
		return err_set(e, ERR_USAGE, "'%s' has no value: %s's keys are KEY=VALUE", word, what);
	near = str_nearest(word, names, WORKLOAD_KEYS);
	return err_set(e, ERR_USAGE, "%s has no '%s'%s%s%s", what, word, near ? "; did you mean '" : "",
	               near ? near : "", near ? "'?" : "");
}

/* How long a value is: to the comma before the next key, or before what should be one. */
static size_t value_length(const char *p)
{
	const char *comma = p;

	while ((comma = strchr(comma, ','))) {
		const char *next = comma + 1 + strcspn(comma + 1, ",=");

		if (*next == '=' || !comma[1 + strspn(comma + 1, " ")])
			return (size_t)(comma - p);
		comma++;
	}
	return strlen(p);
}

static int request_give(struct workload_spec *s, enum workload_key k, const char *text, struct err *e)
{
	const struct workload_row *r = &workload_rows[k];
	struct err why = ERR_INIT;
	uint64_t v;

	if (!*text)
		return err_set(e, ERR_USAGE, "'%s' has no value: a stage's keys are KEY=VALUE", r->name);
	if (r->type != WORKLOAD_COUNT) {
		*(const char **)workload_place(s, k) = text;
		return 0;
	}
	if (cfg_parse_value(CFG_T_U64, text, &v, &why) < 0)
		return err_set(e, ERR_USAGE, "%s, for '%s'", why.msg, r->name);
	if (!v || v > r->most)
		return err_set(e, ERR_USAGE, "%" PRIu64 " is not from 1 to %" PRIu64 ", for '%s'", v, r->most, r->name);
	*(uint64_t *)workload_place(s, k) = v;
	return 0;
}

int request_keys(const char *p, const char *what, struct arena *a, struct workload_spec *s, struct err *e)
{
	uint32_t seen = 0;

	while (*p) {
		const enum workload_key k = key_at(p);
		const char *text;
		size_t n;

		if (k == WORKLOAD_KEYS)
			return unknown_key(p, what, e);
		if (k == WORKLOAD_KEY_PHASE)
			return err_set(e, ERR_USAGE, "'phase' is what the stage's first word says");
		if (seen & UINT32_C(1) << k)
			return err_set(e, ERR_USAGE, "'%s' is given twice", workload_rows[k].name);
		seen |= UINT32_C(1) << k;
		p = strchr(p, '=') + 1;
		n = value_length(p);
		if (!(text = trimmed(p, n, a)))
			return err_nomem(e, "for a request");
		if (request_give(s, k, text, e) < 0)
			return -1;
		p += n + (p[n] == ',');
		p += strspn(p, " ");
	}
	return 0;
}

/* --- what of it is asked ------------------------------------------------------------------------------------------ */

/* `cached`: tokens in the cache behind the stages so far; 0: none, or not known behind a range that was measured. */
static void behind(struct request_stage *s, uint64_t *cached)
{
	struct workload_spec *x = &s->spec;
	const bool model = workload_source(x) == WORKLOAD_MODEL;

	if (s->phase == BUILD_VISION)
		return;
	if (model && !x->context)
		x->context = *cached ? *cached : s->phase == BUILD_DECODE ? WORKLOAD_CONTEXT : 0;
	s->grows = s->steps > 1 && x->context && workload_source(x) != WORKLOAD_LAID;
	if (!model && !s->grows) {
		*cached = 0;
		return;
	}
	*cached = x->context + (s->phase == BUILD_DECODE ? s->steps : x->tokens ? x->tokens : WORKLOAD_PROMPT);
}

static int stage(const char *text, const struct workload_spec *all, struct arena *a, struct request_stage *s,
                 struct err *e)
{
	const size_t word = strcspn(text, ":");
	const char *name = trimmed(text, word, a);

	*s = (struct request_stage){ .name = name, .spec = *all, .steps = 1 };
	if (!name)
		return err_nomem(e, "for a request");
	if (phase_of(name, &s->phase, e) < 0 ||
	    (text[word] && request_keys(text + word + 1, "a stage", a, &s->spec, e) < 0))
		return -1;
	if (s->phase == BUILD_DECODE && s->spec.tokens) {
		s->steps = s->spec.tokens;
		s->spec.tokens = 0;
	}
	if (s->spec.program)
		return err_set(e, ERR_USAGE, "a tile program is one run and has no stages, for option '--program-in'");
	if (workload_source(&s->spec) == WORKLOAD_MODEL)
		s->spec.phase = name;
	return workload_check(&s->spec, WORKLOAD_RUN, e);
}

/* Of several of a phase each has its number. */
static int number(struct request *r, struct arena *a, struct err *e)
{
	for (size_t i = 0; i < r->n; i++) {
		size_t before = 0, all = 0;

		for (size_t k = 0; k < r->n; k++)
			if (r->v[k].phase == r->v[i].phase) {
				all++;
				before += k < i;
			}
		if (all > 1 && !(r->v[i].name = arena_printf(a, "%s %zu", build_phase_name(r->v[i].phase), before + 1)))
			return err_nomem(e, "for a request");
	}
	return 0;
}

int request_parse(const char *list, const struct workload_spec *all, struct arena *a, struct request *out,
                  struct err *e)
{
	uint64_t cached = 0;

	out->n = 0;
	if (all->phase)
		return err_set(e, ERR_USAGE, "each stage has its phase, for option '--phase'");
	for (const char *p = list; *p;) {
		const size_t n = strcspn(p, ";");
		const char *text = trimmed(p, n, a);

		if (!text)
			return err_nomem(e, "for a request");
		p += n + (p[n] == ';');
		if (!*text)
			continue;
		if (out->n == REQUEST_STAGES)
			return err_set(e, ERR_USAGE, "more than %d stages, for option '--stages'", REQUEST_STAGES);
		if (stage(text, all, a, &out->v[out->n], e) < 0)
			return err_add(e, "reading stage '%s'", text);
		behind(&out->v[out->n++], &cached);
	}
	if (!out->n)
		return err_set(e, ERR_USAGE, "there is no stage: vision, prefill or decode, for option '--stages'");
	return number(out, a, e);
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

/* Outer parts have a step in the middle, and the one between keeps the whole's. */
static size_t cut(struct request_block b, unsigned cuts, struct request_block *out)
{
	const uint64_t third = (b.n + 1) / 3, side = third > 1 ? third - !(third & 1) : third, mid = b.n - 2 * side;
	size_t n = 0;

	if (!cuts || b.n < 2) {
		*out = (struct request_block){ b.first, b.n, b.first + (b.n - 1) / 2 };
		return 1;
	}
	if (b.n == 2) {
		out[0] = (struct request_block){ b.first, 1, b.first };
		out[1] = (struct request_block){ b.first + 1, 1, b.first + 1 };
		return 2;
	}
	n += cut((struct request_block){ b.first, side, 0 }, cuts - 1, out);
	n += cut((struct request_block){ b.first + side, mid, 0 }, cuts - 1, out + n);
	return n + cut((struct request_block){ b.first + side + mid, side, 0 }, cuts - 1, out + n);
}

size_t request_blocks(const struct request_stage *s, unsigned cuts, struct request_block out[REQUEST_BLOCKS])
{
	const struct request_block all = { 0, s->steps, 0 };

	/* Steps that are alike are one. */
	return cut(all, !s->grows ? 0 : cuts < REQUEST_CUTS ? cuts : REQUEST_CUTS, out);
}

struct workload_spec request_step(const struct request_stage *s, uint64_t step)
{
	struct workload_spec x = s->spec;

	x.context += s->grows ? step : 0;
	return x;
}

void request_text(const struct request_stage *s, struct str *to)
{
	const struct workload_spec *x = &s->spec;
	const uint64_t batch = x->batch ? x->batch : 1;

	if (workload_source(x) != WORKLOAD_MODEL)
		str_addf(to, "%s%s", x->range ? x->range : x->trace, s->steps > 1 ? ", " : "");
	else if (s->phase == BUILD_VISION)
		str_addf(to, "%" PRIu64 " picture%s", batch, batch == 1 ? "" : "s");
	else if (s->phase == BUILD_PREFILL)
		str_addf(to, "%" PRIu64 " new token%s behind %" PRIu64, x->tokens ? x->tokens : WORKLOAD_PROMPT,
		         x->tokens == 1 ? "" : "s", x->context);
	if (s->phase == BUILD_VISION && x->image)
		str_addf(to, " of %" PRIu64 " x %" PRIu64 " pixels", x->image, x->image);
	if (s->phase != BUILD_DECODE || (s->steps == 1 && workload_source(x) != WORKLOAD_MODEL))
		return;
	str_addf(to, "%" PRIu64 " step%s", s->steps, s->steps == 1 ? "" : "s");
	if (s->grows)
		str_addf(to, " behind %" PRIu64 " to %" PRIu64 " tokens", x->context, x->context + s->steps - 1);
	else if (x->context)
		str_addf(to, " behind %" PRIu64 " token%s", x->context, x->context == 1 ? "" : "s");
	else
		str_add(to, " as it was measured");
	if (batch > 1)
		str_addf(to, ", batch %" PRIu64, batch);
}
