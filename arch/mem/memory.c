#include "arch/mem/memory.h"

#include <stdlib.h>
#include <string.h>

struct memory {
	struct memory_cfg cfg;
	struct comp *l1, *noc, *kv, *l2, *dram;
};

static int memory_build(struct memory *m, struct comp_env env, struct err *e)
{
	const struct memory_cfg *c = &m->cfg;
	const struct comp_ops *dram = strcmp(c->dram.kind, "fixed") == 0 ? &dram_fixed_ops : &dram_ops;
	const struct comp_ops *l2 = c->l2.size ? &l2_ops : &l2_none_ops;

	env.below = NULL;
	if (!(m->dram = dram->make(&env, &c->dram, e)))
		return -1;
	env.below = m->dram;
	if (!(m->l2 = l2->make(&env, &c->l2, e)))
		return -1;
	env.below = m->l2;
	if (c->kv_buffer.size && !(m->kv = kv_ops.make(&env, &c->kv_buffer, e)))
		return -1;
	env.below = NULL;
	if (!(m->noc = noc_new(&env, &c->noc, m->l2, m->kv, e)))
		return -1;
	env.below = m->noc;
	if (l1_cache(&c->l1) && !(m->l1 = l1_ops.make(&env, &c->l1, e)))
		return -1;
	return 0;
}

struct memory *memory_new(const struct comp_env *env, const struct memory_cfg *cfg, struct err *e)
{
	struct memory *m = calloc(1, sizeof *m);

	if (!m) {
		err_set(e, ERR_NOMEM, "out of memory for a memory system");
		return NULL;
	}
	m->cfg = *cfg;
	if (memory_build(m, *env, e) == 0)
		return m;
	memory_free(m);
	return NULL;
}

void memory_free(struct memory *m)
{
	if (!m)
		return;
	comp_free(m->l1);
	comp_free(m->noc);
	comp_free(m->kv);
	comp_free(m->l2);
	comp_free(m->dram);
	free(m);
}

struct comp *memory_door(struct memory *m)
{
	return m->l1 ? m->l1 : m->noc;
}

struct comp *memory_network(struct memory *m)
{
	return m->noc;
}

uint64_t memory_resident(const struct memory *m, uint64_t addr, uint64_t bytes, bool kv)
{
	uint64_t n;

	if (m->l1) /* counts what is in several levels once */
		return m->l1->ops->resident(m->l1, addr, bytes);
	n = kv && m->kv ? m->kv->ops->resident(m->kv, addr, bytes) : 0;
	/* A KV chunk is in the buffer or, spilled, in the L2: never in both. */
	if (m->l2->ops->resident)
		n += m->l2->ops->resident(m->l2, addr, bytes);
	return n < bytes ? n : bytes;
}

void memory_watch(struct memory *m, const struct watch *w)
{
	struct comp *const levels[] = { m->l1, m->noc, m->kv, m->l2, m->dram };

	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		if (levels[i])
			levels[i]->env.watch = w;
}

void memory_pass_over(struct memory *m)
{
	m->dram->ops->pass_over(m->dram);
}

void memory_rest(struct memory *m)
{
	m->dram->ops->reset(m->dram);
}

void memory_forget(struct memory *m)
{
	struct comp *const levels[] = { m->l1, m->noc, m->kv, m->l2, m->dram };

	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		if (levels[i] && levels[i]->ops->reset)
			levels[i]->ops->reset(levels[i]);
}
