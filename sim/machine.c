#include "sim/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/path.h"

static const char *const kind_names[] = { "npu", "gpu", NULL };
static const char *const dtype_names[] = { "as_traced", "bf16", "fp8", "int8", "int4", "fp4", NULL };

static const struct cfg_field top_schema[] = {
	CFG_STR(struct machine_cfg, name, "name", "npu", "what reports call this machine", "our choice"),
	CFG_ENUM(struct machine_cfg, kind, "kind", "npu", kind_names, "which kind of machine this is", "our choice"),
	CFG_FREQ(struct machine_cfg, clock, "clock", "1.4 GHz", 1000, 10000000, NULL, "clock of cores, NoC and L2",
	         "our choice: between mobile NPUs (about 1 GHz) and GPUs (1.98 GHz, H200 boost)"),
	CFG_U32(struct machine_cfg, cores, "cores", "64", 1, 4096, NULL,
	        "cores; every core has the units and the scratchpad of the sections below",
	        "profile report, recommendation 7: 60 to 80 instead of an H100's 132 SMs"),
	CFG_END
};

static const struct cfg_field weights_schema[] = {
	CFG_ENUM(struct precision_cfg, dtype, "dtype", "as_traced", dtype_names,
	         "format the weights of products are stored in, where that is narrower than the trace's",
	         "profile report, recommendation 6"),
	CFG_END
};

static const struct cfg_field kv_precision_schema[] = {
	CFG_ENUM(struct precision_cfg, dtype, "dtype", "as_traced", dtype_names,
	         "format the KV cache is stored in, where that is narrower than the trace's",
	         "profile report, recommendations for optimisation 3 (KV-cache quantisation)"),
	CFG_END
};

#define SECTION(name, rows)                                                                                            \
	{                                                                                                              \
#name, rows, offsetof(struct machine_cfg, name)                                                        \
	}

static const struct cfg_section sections[] = { { "", top_schema, 0 },
	                                       SECTION(core, core_schema),
	                                       SECTION(dispatch, dispatch_schema),
	                                       SECTION(dma, dma_schema),
	                                       SECTION(sram, sram_schema),
	                                       SECTION(gemv, gemv_schema),
	                                       SECTION(matrix, matrix_schema),
	                                       SECTION(vector, vector_schema),
	                                       SECTION(fusion, fusion_schema),
	                                       SECTION(l1, l1_schema),
	                                       SECTION(noc, noc_schema),
	                                       SECTION(kv_buffer, kv_schema),
	                                       SECTION(l2, l2_schema),
	                                       SECTION(dram, dram_schema),
	                                       SECTION(weights, weights_schema),
	                                       SECTION(kv, kv_precision_schema),
	                                       { NULL, NULL, 0 } };

static const struct cfg_section gpu_sections[] = { { "", top_schema, 0 },
	                                           SECTION(sm, sm_schema),
	                                           SECTION(gpu, gpu_schema),
	                                           SECTION(product, gpu_product_schema),
	                                           SECTION(mma, gpu_mma_schema),
	                                           SECTION(attention, gpu_attention_schema),
	                                           SECTION(flash, gpu_flash_schema),
	                                           SECTION(stream, gpu_stream_schema),
	                                           SECTION(rows, gpu_rows_schema),
	                                           SECTION(host, host_schema),
	                                           SECTION(dma, dma_schema),
	                                           SECTION(noc, noc_schema),
	                                           SECTION(l2, l2_schema),
	                                           SECTION(dram, dram_schema),
	                                           { NULL, NULL, 0 } };

struct cfg *machine_schema(struct machine_cfg *target, enum machine_kind kind, struct err *e)
{
	struct cfg *npu = cfg_new(sections, target, e);

	if (kind == MACHINE_NPU || !npu)
		return npu;
	cfg_free(npu); /* its defaults stay: blocks a GPU's file does not describe are built like an NPU's */
	return cfg_new(gpu_sections, target, e);
}

enum machine_kind machine_kind_of(const struct yaml *y)
{
	const struct ynode *n = ynode_get(yaml_root(y), "kind");

	if (n && n->kind == YNODE_MAP)
		n = ynode_get(n, "value");
	return n && n->text && strcmp(n->text, kind_names[MACHINE_GPU]) == 0 ? MACHINE_GPU : MACHINE_NPU;
}

static struct yaml *load_dram_kind(const char *kind, struct err *e)
{
	char relative[CFG_STR_MAX + 32], path[512];

	if (strchr(kind, '/') || strlen(kind) == 0) {
		err_set(e, ERR_CONFIG, "'dram.kind' names a file in configs/dram without folder and ending: '%s'",
		        kind);
		return NULL;
	}
	snprintf(relative, sizeof relative, "configs/dram/%s.yaml", kind);
	if (path_data(relative, path, sizeof path, e) < 0) {
		err_add(e, "looking for 'dram.kind: %s'", kind);
		return NULL;
	}
	return yaml_load(path, e);
}

/* A DRAM kind's file as it was read. */
struct kind_file {
	char kind[CFG_STR_MAX];
	struct yaml *y;
	struct kind_file *next;
};

static struct yaml *find_dram_kind(struct kind_file **kept, const char *kind, struct err *e)
{
	struct kind_file *f;

	for (f = *kept; f; f = f->next)
		if (strcmp(f->kind, kind) == 0)
			return f->y;
	if (!(f = calloc(1, sizeof *f))) {
		err_set(e, ERR_NOMEM, "out of memory for a configuration");
		return NULL;
	}
	if (!(f->y = load_dram_kind(kind, e))) {
		free(f);
		return NULL;
	}
	snprintf(f->kind, sizeof f->kind, "%s", kind);
	f->next = *kept;
	return (*kept = f)->y;
}

static void free_kinds(struct kind_file *f)
{
	while (f) {
		struct kind_file *next = f->next;

		yaml_free(f->y);
		free(f);
		f = next;
	}
}

/* The memory's own file fills in what the machine's file left open. */
static int read_dram_kind(struct machine_conf *c, struct kind_file **kept, struct err *e)
{
	struct yaml *y;

	if (strcmp(c->cfg.dram.kind, "fixed") == 0)
		return 0;
	if (!(y = find_dram_kind(kept, c->cfg.dram.kind, e)))
		return -1;
	return dram_cfg_preset(c->raw, y, yaml_root(y), e);
}

static int check(struct machine_conf *c, struct err *e)
{
	struct machine_cfg *m = &c->cfg;

	if (l1_cfg_check(&m->l1, m->cores, e) < 0)
		goto fail;
	m->sram.from_l1 = l1_shared(&m->l1);
	if (sram_cfg_check(&m->sram, e) < 0 || l2_cfg_check(&m->l2, e) < 0 || kv_cfg_check(&m->kv_buffer, e) < 0 ||
	    dram_cfg_resolve(&m->dram, c->raw, e) < 0)
		goto fail;
	return 0;
fail:
	if (!e->file[0])
		err_at(e, c->path, 0, 0);
	return -1;
}

/* What stands in the file, before assignments. */
static struct machine_conf *conf_read_file(const struct yaml *y, const char *name, struct err *e)
{
	struct machine_conf *c = calloc(1, sizeof *c);

	if (!c) {
		err_set(e, ERR_NOMEM, "out of memory for a configuration");
		return NULL;
	}
	snprintf(c->path, sizeof c->path, "%s", name);
	if ((c->raw = machine_schema(&c->cfg, machine_kind_of(y), e)) &&
	    cfg_read(c->raw, y, yaml_root(y), NULL, e) == 0)
		return c;
	machine_conf_free(c);
	return NULL;
}

/* `kept` NULL: the kind of DRAM is filled in already. */
static int conf_finish(struct machine_conf *c, const char *const *sets, int n_sets, struct kind_file **kept,
                       struct err *e)
{
	const uint32_t kind = c->cfg.kind;

	for (int i = 0; i < n_sets; i++)
		if (cfg_set(c->raw, sets[i], e) < 0)
			return -1;
	if (c->cfg.kind != kind)
		return err_set(e, ERR_CONFIG,
		               "'kind' decides which parameters there are: only the file itself can say it");
	return kept && read_dram_kind(c, kept, e) < 0 ? -1 : check(c, e);
}

static struct machine_conf *conf_read(struct yaml *y, const char *name, const char *const *sets, int n_sets,
                                      struct err *e)
{
	struct machine_conf *c = conf_read_file(y, name, e);
	struct kind_file *kept = NULL;

	if (c && conf_finish(c, sets, n_sets, &kept, e) < 0) {
		machine_conf_free(c);
		c = NULL;
	}
	free_kinds(kept);
	yaml_free(y);
	return c;
}

/* --- a base ------------------------------------------------------------------------------------------------ */

struct machine_base {
	struct machine_conf *c;    /* before assignments */
	struct machine_conf *dram; /* the same with its kind of DRAM filled in; NULL: not made yet, or it cannot be */
	struct kind_file *kinds;
};

struct machine_base *machine_base_new(const char *text, size_t n, const char *name, struct err *e)
{
	struct machine_base *b = calloc(1, sizeof *b);
	struct yaml *y = b ? yaml_parse(text, n, name, e) : NULL;

	if (!b)
		err_set(e, ERR_NOMEM, "out of memory for a configuration");
	if (y)
		b->c = conf_read_file(y, name, e);
	yaml_free(y);
	if (b && b->c)
		return b;
	machine_base_free(b);
	return NULL;
}

void machine_base_free(struct machine_base *b)
{
	if (!b)
		return;
	machine_conf_free(b->dram);
	machine_conf_free(b->c);
	free_kinds(b->kinds);
	free(b);
}

static struct machine_conf *conf_copy(const struct machine_conf *from, struct err *e)
{
	struct machine_conf *c = malloc(sizeof *c);

	if (!c) {
		err_set(e, ERR_NOMEM, "out of memory for a configuration");
		return NULL;
	}
	*c = *from;
	if ((c->raw = cfg_copy(from->raw, &from->cfg, &c->cfg, e)))
		return c;
	machine_conf_free(c);
	return NULL;
}

/* A kind of DRAM fills in what nobody gave, so it may come before assignments as well as after them, unless one of them
 * names another kind. Whatever is wrong with it is said in its usual place. */
static const struct machine_conf *with_dram(struct machine_base *b, const char *const *sets, int n_sets)
{
	struct err ignored = ERR_INIT;

	for (int i = 0; i < n_sets; i++)
		if (strncmp(sets[i], "dram.kind", 9) == 0)
			return NULL;
	if (!b->dram && (b->dram = conf_copy(b->c, &ignored)) && read_dram_kind(b->dram, &b->kinds, &ignored) < 0) {
		machine_conf_free(b->dram);
		b->dram = NULL;
	}
	return b->dram;
}

struct machine_conf *machine_base_conf(struct machine_base *b, const char *const *sets, int n_sets, struct err *e)
{
	const struct machine_conf *filled = with_dram(b, sets, n_sets);
	struct machine_conf *c = conf_copy(filled ? filled : b->c, e);

	if (!c || conf_finish(c, sets, n_sets, filled ? NULL : &b->kinds, e) == 0)
		return c;
	machine_conf_free(c);
	return NULL;
}

/* --- from files -------------------------------------------------------------------------------------------- */

struct machine_conf *machine_conf_load(const char *path, const char *const *sets, int n_sets, struct err *e)
{
	struct yaml *y = yaml_load(path, e);

	return y ? conf_read(y, path, sets, n_sets, e) : NULL;
}

struct machine_conf *machine_conf_parse(const char *text, size_t n, const char *name, const char *const *sets,
                                        int n_sets, struct err *e)
{
	struct yaml *y = yaml_parse(text, n, name, e);

	return y ? conf_read(y, name, sets, n_sets, e) : NULL;
}

void machine_conf_free(struct machine_conf *c)
{
	if (!c)
		return;
	cfg_free(c->raw);
	free(c);
}

struct machine {
	struct machine_cfg cfg;
	struct evq *q;
	struct stat_reg *stats;
	struct comp *dram, *l2, *kv, *noc, *l1, *door; /* door: what the cores' DMA asks */
	struct cp *cp;
};

struct machine *machine_new(const struct machine_cfg *cfg, struct err *e)
{
	struct machine *m = calloc(1, sizeof *m);
	struct comp_env env;
	const struct comp_ops *dram = strcmp(cfg->dram.kind, "fixed") == 0 ? &dram_fixed_ops : &dram_ops;
	const struct comp_ops *l2 = cfg->l2.size ? &l2_ops : &l2_none_ops;

	if (!m || !(m->q = evq_new()) || !(m->stats = stat_new())) {
		err_set(e, ERR_NOMEM, "out of memory for a machine");
		goto fail;
	}
	m->cfg = *cfg;
	env = (struct comp_env){ m->q, m->stats, cfg->clock, NULL, NULL };
	if (!(m->dram = dram->make(&env, &m->cfg.dram, e)))
		goto fail;
	env.below = m->dram;
	if (!(m->l2 = l2->make(&env, &m->cfg.l2, e)))
		goto fail;
	env.below = m->l2;
	if (cfg->kv_buffer.size && !(m->kv = kv_ops.make(&env, &m->cfg.kv_buffer, e)))
		goto fail;
	env.below = NULL;
	if (!(m->noc = noc_ideal_new(&env, &m->cfg.noc, m->l2, m->kv, e)))
		goto fail;
	env.below = m->door = m->noc;
	if (l1_cache(&cfg->l1) && !(m->l1 = m->door = l1_ops.make(&env, &m->cfg.l1, e)))
		goto fail;
	env.below = m->door;
	if (!(m->cp = cp_new(&env, &m->cfg.dispatch, &m->cfg.dma, &m->cfg.sram, cfg->cores, cfg->core.depth, e)))
		goto fail;
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
	comp_free(m->l1);
	comp_free(m->noc);
	comp_free(m->kv);
	comp_free(m->l2);
	comp_free(m->dram);
	stat_free(m->stats);
	evq_free(m->q);
	free(m);
}

int machine_step(struct machine *m, const struct isa_prog *p, const uint32_t *const *picks, struct cp_result *results,
                 struct err *e)
{
	return cp_run(m->cp, p, picks, results, e);
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
	uint64_t n;

	if (m->l1) /* counts what is in several levels once */
		return m->l1->ops->resident(m->l1, addr, bytes);
	n = kv && m->kv ? m->kv->ops->resident(m->kv, addr, bytes) : 0;
	/* A KV chunk is in the buffer or, spilled, in the L2: never in both. */
	if (m->l2->ops->resident)
		n += m->l2->ops->resident(m->l2, addr, bytes);
	return n < bytes ? n : bytes;
}

void machine_watch(struct machine *m, const struct watch *w)
{
	struct comp *const levels[] = { m->l1, m->noc, m->kv, m->l2, m->dram };

	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		if (levels[i])
			levels[i]->env.watch = w;
	cp_watch(m->cp, w);
}

void machine_forget(struct machine *m)
{
	struct comp *const levels[] = { m->l1, m->noc, m->kv, m->l2, m->dram };

	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		if (levels[i] && levels[i]->ops->reset)
			levels[i]->ops->reset(levels[i]);
}

bool machine_pinned(const struct machine *m, uint32_t tensor)
{
	return core_pinned(cp_core(m->cp), tensor);
}

struct comp *machine_memory(struct machine *m)
{
	return m->door;
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

struct gpu machine_gpu(const struct machine_cfg *c)
{
	return (struct gpu){ .clock = c->clock,
		             .sms = c->cores,
		             .l2 = c->l2.size,
		             .sm = &c->sm,
		             .c = &c->gpu,
		             .product = &c->product,
		             .mma = &c->mma,
		             .attention = &c->attention,
		             .flash = &c->flash,
		             .stream = &c->stream,
		             .rows = &c->rows };
}
