#include "sim/engine/machine.h"

#include <stdlib.h>

struct machine {
	struct machine_cfg cfg;
	struct evq *q, *own; /* own: NULL where the clock is somebody else's */
	struct stat_reg *stats;
	struct memory *mem;
	struct cp *cp;
};

struct machine *machine_new(const struct machine_cfg *cfg, struct evq *q, struct err *e)
{
	struct machine *m = calloc(1, sizeof *m);
	uint64_t peak[RES_COUNT];
	struct comp_env env;

	if (!m || (!q && !(m->own = evq_new())) || !(m->stats = stat_new())) {
		err_set(e, ERR_NOMEM, "out of memory for a machine");
		goto fail;
	}
	m->q = q ? q : m->own;
	m->cfg = *cfg;
	env = (struct comp_env){ m->q, m->stats, cfg->clock, NULL, NULL };
	if (!(m->mem = memory_new(&env, &m->cfg.mem, e)))
		goto fail;
	env.below = memory_door(m->mem);
	if (!(m->cp = cp_new(&env, &m->cfg.dispatch, &m->cfg.dma, &m->cfg.sram, cfg->cores, cfg->core.depth, e)))
		goto fail;
	core_overlap(cp_core(m->cp), cfg->mapping.overlap);
	core_between(cp_core(m->cp), memory_network(m->mem), machine_core_port(cfg));
	machine_peaks(cfg, peak);
	/* Where no cache is in front of it, the cores see all that is written. */
	core_paced(cp_core(m->cp), peak,
	           peak[RES_L2] || peak[RES_KV] ? stat_counter(m->stats, "dram.write_bytes") : NULL);
	return m;
fail:
	err_add(e, "building the machine '%s'", cfg->name);
	machine_free(m);
	return NULL;
}

void machine_free(struct machine *m)
{
	if (!m)
		return;
	cp_free(m->cp);
	memory_free(m->mem);
	stat_free(m->stats);
	evq_free(m->own);
	free(m);
}

int machine_begin(struct machine *m, const struct isa_prog *p, const uint32_t *const *picks, struct cp_result *results,
                  struct err *e)
{
	return cp_begin(m->cp, p, picks, results, e);
}

bool machine_done(const struct machine *m)
{
	return cp_done(m->cp);
}

int machine_step(struct machine *m, const struct isa_prog *p, const uint32_t *const *picks, struct cp_result *results,
                 struct err *e)
{
	const int rc = cp_run(m->cp, p, picks, results, e);

	memory_pass_over(m->mem);
	return rc;
}

const struct machine_cfg *machine_cfg(const struct machine *m)
{
	return &m->cfg;
}

struct stat_reg *machine_stats(struct machine *m)
{
	return m->stats;
}

uint64_t machine_resident(const struct machine *m, uint64_t addr, uint64_t bytes, bool kv)
{
	return memory_resident(m->mem, addr, bytes, kv);
}

void machine_watch(struct machine *m, const struct watch *w)
{
	memory_watch(m->mem, w);
	cp_watch(m->cp, w);
}

void machine_rest(struct machine *m)
{
	memory_rest(m->mem);
}

void machine_forget(struct machine *m)
{
	memory_forget(m->mem);
}

bool machine_pinned(const struct machine *m, uint32_t tensor)
{
	return core_pinned(cp_core(m->cp), tensor);
}

struct comp *machine_memory(struct machine *m)
{
	return memory_door(m->mem);
}

struct evq *machine_queue(struct machine *m)
{
	return m->q;
}

ps_t machine_now(const struct machine *m)
{
	return evq_now(m->q);
}

uint64_t machine_events(const struct machine *m)
{
	return evq_count(m->q);
}
