/* serve_memory.c - the machine's memory less what a model always takes is the cache's. */
#include <inttypes.h>
#include <stdio.h>

#include "sim/base/ratio.h"
#include "sim/serve/serve_int.h"

/* What the cache does not get. */
static uint64_t taken(const struct serve_run *r)
{
	const struct steps_memory *m = &r->own.memory, *d = &r->draft.memory;

	return m->weights + m->rest + d->weights + d->rest + r->policy.max_batch * (m->sequence + d->sequence);
}

static int does_not_fit(const struct serve_run *r, uint64_t usable, struct err *e)
{
	const uint64_t of[] = { r->own.memory.weights + r->draft.memory.weights, taken(r), usable };
	struct str text[3] = { STR_INIT, STR_INIT, STR_INIT };

	for (int i = 0; i < 3; i++)
		str_add_bytes(&text[i], of[i]);
	err_set(e, ERR_CONFIG,
	        "model '%s' does not fit: its weights are %s, with activations and fixed state %s, and of 'dram.capacity' %s are"
	        " to be used (%g %%): nothing is left for the KV cache",
	        r->own.w.model->name, str_c(&text[0]), str_c(&text[1]), str_c(&text[2]), r->o->share_ppm / 1e4);
	for (int i = 0; i < 3; i++)
		str_free(&text[i]);
	return -1;
}

static int from_machine(struct serve_run *r, struct err *e)
{
	const uint64_t all = r->conf->cfg.mem.dram.capacity;
	const uint64_t usable = ratio_of(all, r->o->share_ppm, 1000000);

	if (!all)
		return err_set(e, ERR_CONFIG,
		               "'%s' does not say its memory's size: 'dram.capacity' in the file or by --set, or"
		               " '--kv-memory SIZE'",
		               r->o->config ? r->o->config : r->conf->cfg.name);
	r->capacity = all;
	if (usable <= taken(r))
		return does_not_fit(r, usable, e);
	r->kv_bytes = usable - taken(r);
	return 0;
}

static int given(struct serve_run *r, struct err *e)
{
	struct err inner = ERR_INIT;

	if (cfg_parse_value(CFG_T_BYTES, r->o->kv_memory, &r->kv_bytes, &inner) < 0)
		return err_set(e, ERR_USAGE, "%s, for option '--kv-memory'", inner.msg);
	return 0;
}

int serve_memory(struct serve_run *r, struct err *e)
{
	const uint32_t prompt = r->policy.chunk ? r->policy.chunk : r->policy.max_tokens, rows = 1 + r->policy.draft;
	uint64_t token;

	if (steps_memory(r->own.steps, r->policy.max_batch, rows, prompt, &r->own.memory, e) < 0 ||
	    (r->draft.w.model && steps_memory(r->draft.steps, r->policy.max_batch, 1, prompt, &r->draft.memory, e) < 0))
		return err_add(e, "asking what the model takes of the memory");
	token = r->own.memory.token + r->draft.memory.token;
	r->policy.block_bytes = token * r->policy.block;
	if ((r->o->kv_memory ? given(r, e) : from_machine(r, e)) < 0)
		return -1;
	/* Layers of linear attention alone keep nothing a token. */
	r->policy.blocks = r->policy.block_bytes ? r->kv_bytes / r->policy.block_bytes : UINT32_MAX;
	if (!r->policy.blocks)
		return err_set(e, ERR_CONFIG,
		               "%" PRIu64 " B are left for the KV cache, and one block of %u tokens takes %" PRIu64,
		               r->kv_bytes, r->policy.block, r->policy.block_bytes);
	return 0;
}
