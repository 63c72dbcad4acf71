/* sweep_pipe.c - a row as bytes, between two processes of one host: numbers as they lie in memory. */
#include <stdlib.h>
#include <string.h>

#include "sim/study/sweep_int.h"

/* --- writing ----------------------------------------------------------------------------------------------- */

static void sweep_pipe_put(struct str *to, uint64_t v)
{
	str_addn(to, (const char *)&v, sizeof v);
}

/* Length plus one, so that no text is 0. */
static void put_text(struct str *to, const char *text)
{
	sweep_pipe_put(to, text ? strlen(text) + 1 : 0);
	if (text)
		str_add(to, text);
}

/* Values are not sent: the reader has the axes, and knows which point it asked for. */
void sweep_pack(const struct res_point *p, struct str *out)
{
	const uint64_t numbers[] = { p->point, p->config_hash, p->failed, p->n_kinds, p->n_resources, p->n_stats };

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		sweep_pipe_put(out, numbers[i]);
	str_addn(out, (const char *)&p->figures, sizeof p->figures);
	put_text(out, p->reason);
	put_text(out, p->roofline_bound);
	for (size_t i = 0; i < p->n_kinds; i++) {
		const struct res_kind *k = &p->kinds[i];
		const uint64_t v[] = { k->ops, k->span_ps, k->limit_ps, k->dram_bytes, k->mem_bytes, k->flops };

		put_text(out, k->kind);
		str_addn(out, (const char *)v, sizeof v);
	}
	for (size_t i = 0; i < p->n_resources; i++) {
		put_text(out, p->resources[i].name);
		sweep_pipe_put(out, p->resources[i].stall_ps);
		sweep_pipe_put(out, p->resources[i].peak_ps);
	}
	for (size_t i = 0; i < p->n_stats; i++) {
		put_text(out, p->stats[i].name);
		put_text(out, p->stats[i].unit);
		sweep_pipe_put(out, p->stats[i].value);
		sweep_pipe_put(out, p->stats[i].level);
	}
}

/* --- reading ----------------------------------------------------------------------------------------------- */

struct unpacker {
	const char *p, *end;
	struct arena *a;
	bool failed;
};

/* Zeros where there are too few bytes. */
static void get_bytes(struct unpacker *u, void *to, size_t n)
{
	memset(to, 0, n);
	if ((size_t)(u->end - u->p) < n) {
		u->failed = true;
		return;
	}
	memcpy(to, u->p, n);
	u->p += n;
}

static uint64_t get(struct unpacker *u)
{
	uint64_t v;

	get_bytes(u, &v, sizeof v);
	return v;
}

static const char *get_text(struct unpacker *u)
{
	uint64_t n = get(u);
	const char *text;

	if (n == 0)
		return NULL;
	if (u->failed || n - 1 > (uint64_t)(u->end - u->p) || !(text = arena_strndup(u->a, u->p, (size_t)n - 1))) {
		u->failed = true;
		return "";
	}
	u->p += n - 1;
	return text;
}

/* A list can have no more members than bytes are left. */
static void *sweep_pipe_list(struct unpacker *u, size_t n, size_t bytes)
{
	void *v = n <= (size_t)(u->end - u->p) ? arena_array(u->a, n + 1, bytes) : NULL;

	u->failed |= !v;
	return v;
}

int sweep_unpack(const char *bytes, size_t n, struct arena *a, struct res_point *out)
{
	struct unpacker u = { bytes, bytes + n, a, false };
	struct res_kind *kinds;
	struct res_resource *resources;
	struct res_stat *stats;

	memset(out, 0, sizeof *out);
	out->point = get(&u);
	out->config_hash = get(&u);
	out->failed = get(&u) != 0;
	out->n_kinds = (size_t)get(&u);
	out->n_resources = (size_t)get(&u);
	out->n_stats = (size_t)get(&u);
	get_bytes(&u, &out->figures, sizeof out->figures);
	out->reason = get_text(&u);
	out->roofline_bound = get_text(&u);
	kinds = sweep_pipe_list(&u, out->n_kinds, sizeof *kinds);
	resources = sweep_pipe_list(&u, out->n_resources, sizeof *resources);
	stats = sweep_pipe_list(&u, out->n_stats, sizeof *stats);
	for (size_t i = 0; !u.failed && i < out->n_kinds; i++) {
		kinds[i].kind = get_text(&u);
		kinds[i].ops = get(&u);
		kinds[i].span_ps = get(&u);
		kinds[i].limit_ps = get(&u);
		kinds[i].dram_bytes = get(&u);
		kinds[i].mem_bytes = get(&u);
		kinds[i].flops = get(&u);
	}
	for (size_t i = 0; !u.failed && i < out->n_resources; i++) {
		resources[i].name = get_text(&u);
		resources[i].stall_ps = get(&u);
		resources[i].peak_ps = get(&u);
	}
	for (size_t i = 0; !u.failed && i < out->n_stats; i++) {
		stats[i].name = get_text(&u);
		stats[i].unit = get_text(&u);
		stats[i].value = get(&u);
		stats[i].level = get(&u) != 0;
	}
	out->kinds = kinds;
	out->resources = resources;
	out->stats = stats;
	return u.failed ? -1 : 0;
}
