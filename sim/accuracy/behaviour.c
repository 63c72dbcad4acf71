#include <string.h>

#include "arch/gpu/gpu_power.h"
#include "arch/machine/machine_conf.h"
#include "arch/machine/machine_gpu.h"
#include "sim/accuracy/behaviour_int.h"
#include "sim/base/hash.h"
#include "sim/base/path.h"

#define MOST_GROUPS 2048
#define MOST_SETS   4
#define BASE        "configs/gpu/h200.yaml"

/* An H200, and its parameters with the kernels of another generation: what decides between rules is set, nothing else. */
static const struct {
	const char *name, *sets[MOST_SETS];
} devices[] = {
	{ "sm_90", { NULL } },
	/* a small L2 is cheap to fill: what rotates through it is in it no more */
	{ "sm_90, small L2", { "l2.size=6 MiB", "gpu.dram_read=3000 GB/s" } },
	{ "sm_80", { "sm.capability=80", "sm.smem=164 KiB" } },
	{ "sm_89", { "sm.capability=89", "sm.smem=100 KiB" } },
	{ "sm_100", { "sm.capability=100", "gpu.flop_fp4=16384" } },
	{ "sm_120", { "sm.capability=120", "sm.smem=100 KiB", "gpu.flop_fp4=16384" } },
};

/* --- groups ------------------------------------------------------------------------------------------------------- */

/* NULL: there is no room. */
static struct behaviour_group *group_of(struct behaviour_maker *x, const char *family)
{
	struct behaviour *b = x->out;

	for (size_t i = b->n; i-- > 0 && b->v[i].device == x->device;)
		if (strcmp(b->v[i].family, family) == 0)
			return &b->v[i];
	if (b->n == MOST_GROUPS)
		return NULL;
	b->v[b->n] = (struct behaviour_group){ .device = x->device,
		                               .family = arena_strdup(x->a, family),
		                               .hash = HASH_INIT };
	return b->v[b->n].family ? &b->v[b->n++] : NULL;
}

int behaviour_add_time(struct behaviour_maker *x, const char *family, ps_t t, uint64_t fj, struct err *e)
{
	struct behaviour_group *g = group_of(x, family);

	if (!g)
		return err_nomem(e, "for the table of launches");
	g->launches++;
	g->total += t;
	g->energy_fj = energy_add(g->energy_fj, fj);
	g->hash = hash_u64(hash_u64(g->hash, t), fj);
	return 0;
}

int behaviour_add(struct behaviour_maker *x, const char *family, const struct gpu_launch *l, struct err *e)
{
	const ps_t t = gpu_time(&x->g, l).total;
	struct gpu_energy energy = { { 0 } };

	if (gpu_power_known(&x->g)) {
		const struct gpu_activity work = gpu_activity(&x->g, l, true);

		gpu_energy_of(&x->g, &work, t, &energy);
	}
	return behaviour_add_time(x, family, t, gpu_energy_sum(&energy), e);
}

/* A product that runs over and over: at the clock that the board's cap leaves it, and at that which its current does. */
static int add_capped(struct behaviour_maker *x, const struct gpu_launch *l, struct err *e)
{
	const struct gpu_activity work = gpu_activity(&x->g, l, true);
	const ps_t full = gpu_time(&x->g, l).total;
	const struct gpu capped = gpu_at_clock(&x->g, gpu_power_clock_of(&x->g, &(struct gpu_running){ l, &work, 1 }));
	const struct gpu droops = gpu_at_clock(&x->g, gpu_power_droop(&x->g, &work, clock_cycles(full, x->g.clock)));

	return behaviour_add_time(x, "products under a cap", gpu_time(&capped, l).total + gpu_time(&droops, l).total, 0,
	                          e);
}

/* --- one op ------------------------------------------------------------------------------------------------------- */

/* Bytes that an op reads, reads besides, and writes. */
static void bytes_of(const struct op *o, uint64_t bytes[3])
{
	const struct op_shape *s = &o->shape;
	const uint64_t batch = s->batch ? s->batch : 1;

	switch (op_traits[o->kind].dims) {
	case OP_DIMS_PRODUCT:
		bytes[0] = dtype_bytes(o->dtype, batch * s->m * s->k);
		bytes[1] = dtype_bytes(o->dtype, batch * s->n * s->k);
		bytes[2] = 2 * batch * s->m * s->n;
		break;
	case OP_DIMS_ATTENTION:
		bytes[0] = bytes[2] = 2 * batch * s->q_len * s->heads * s->head_dim;
		bytes[1] = 2 * dtype_bytes(o->dtype, batch * s->kv_heads * s->kv_len * s->head_dim);
		break;
	case OP_DIMS_ROWS:
		bytes[0] = dtype_bytes(o->dtype, s->rows * s->cols);
		bytes[1] = dtype_bytes(o->dtype, s->cols);
		bytes[2] = o->kind == OP_REDUCE ? dtype_bytes(o->dtype, s->rows) : bytes[0];
		break;
	case OP_DIMS_ELEMS:
		bytes[0] = bytes[1] = dtype_bytes(o->dtype, s->elems);
		bytes[2] = dtype_bytes(o->out_dtype, s->elems);
		break;
	}
}

void behaviour_bed(struct behaviour_bed *b, enum op_kind kind, enum dtype d, const struct op_shape *shape)
{
	static const enum op_role roles[] = { OP_ACTIVATION, OP_WEIGHT, OP_ACTIVATION };
	uint64_t bytes[3] = { 0 };

	*b = (struct behaviour_bed){ .op = { .kind = kind,
		                             .name = "",
		                             .family = op_kind_name(kind),
		                             .rule = "table",
		                             .fn = "",
		                             .layer = -1,
		                             .shape = *shape,
		                             .dtype = d,
		                             .out_dtype = kind == OP_GEMM ? DT_BF16 : d,
		                             .acc_dtype = DT_FP32,
		                             .cost = OP_COST_ALU,
		                             .routed_by = -1,
		                             .n_operands = 3 } };
	bytes_of(&b->op, bytes);
	for (uint32_t i = 0; i < 3; i++) {
		b->tensors[i] = (struct op_tensor){
			.name = "", .role = roles[i], .dtype = d, .bytes = bytes[i], .instances = 1
		};
		b->operands[i] =
			(struct op_operand){ .tensor = i, .write = i == 2, .bytes = bytes[i], .touched = bytes[i] };
	}
	b->stream.n_ops = 1;
	b->stream.n_tensors = b->stream.n_operands = 3;
}

/* What the last launches left: nothing; all of it; a third, just written. */
enum state { COLD, WARM, FRESH, STATES };

static void find(const struct behaviour_bed *b, enum state state, struct gpu_launch *l)
{
	const bool reads = l->kernel.moves == KERNEL_MOVES_ALL || l->kernel.moves == KERNEL_MOVES_READS;
	const bool writes = l->kernel.moves == KERNEL_MOVES_ALL || l->kernel.moves == KERNEL_MOVES_WRITES;
	const uint64_t read = b->operands[0].bytes + b->operands[1].bytes, write = b->operands[2].bytes;

	l->others = state == COLD ? UINT32_MAX : state == WARM ? 0 : 5;
	l->fresh = state == FRESH ? b->operands[0].bytes : 0;
	l->mem = (struct gpu_mem){ 0 };
	if (reads)
		l->mem.read = read, l->mem.read_hit = state == COLD ? 0 : state == WARM ? read : read / 3;
	if (writes)
		l->mem.write = write, l->mem.write_back = state == COLD ? write : state == WARM ? 0 : write / 2;
}

int behaviour_add_op(struct behaviour_maker *x, const char *family, const struct behaviour_bed *b,
                     const struct geometry *g, struct err *e)
{
	struct gpu_launch l[GEOMETRY_LAUNCHES];
	struct op_stream s = b->stream;
	struct op op = b->op;

	op.n_launches = g->n;
	s.ops = &op;
	s.tensors = (struct op_tensor *)b->tensors;
	s.operands = (struct op_operand *)b->operands;
	s.launches = (struct op_launch *)g->at;
	s.n_launches = g->n;
	for (int state = 0; state < STATES; state++)
		for (uint32_t i = 0; i < g->n; i++) {
			l[i] = (struct gpu_launch){ .stream = &s,
				                    .op = &op,
				                    .at = &g->at[i],
				                    .kernel = g->kernel[i],
				                    .nth = i,
				                    .count = g->n };
			find(b, (enum state)state, &l[i]);
			if (behaviour_add(x, family, &l[i], e) < 0 || (state == WARM && i == 0 && op.kind == OP_GEMM &&
			                                               op.shape.m > 64 && add_capped(x, &l[i], e) < 0))
				return -1;
		}
	return 0;
}

/* --- devices ------------------------------------------------------------------------------------------------------ */

static int on_device(struct behaviour_maker *x, const char *config, const char *const *sets, int n_sets, struct err *e)
{
	struct machine_conf *c = machine_conf_load(config, sets, n_sets, e);
	int rc = c ? 0 : -1;

	if (c && machine_runs(&c->cfg) != MACHINE_LAUNCHES)
		rc = err_set(e, ERR_CONFIG, "'%s' is no GPU: the table has launches of GPUs", config);
	if (rc == 0) {
		x->m = &c->cfg;
		x->g = machine_gpu(&c->cfg);
		if (!x->device && !(x->device = arena_strdup(x->a, c->cfg.name)))
			rc = err_nomem(e, "for the table of launches");
		if (rc == 0 && (behaviour_templates(x, e) < 0 || behaviour_ops(x, e) < 0 || behaviour_traces(x, e) < 0))
			rc = -1;
	}
	machine_conf_free(c);
	return rc;
}

static int on_all(struct behaviour_maker *x, struct err *e)
{
	char path[512];

	if (path_data(BASE, path, sizeof path, e) < 0)
		return -1;
	for (size_t i = 0; i < BEHAVIOUR_COUNT(devices); i++) {
		int n = 0;

		while (n < MOST_SETS && devices[i].sets[n])
			n++;
		x->device = devices[i].name;
		if (on_device(x, path, devices[i].sets, n, e) < 0)
			return err_add(e, "timing launches on '%s'", x->device);
	}
	return 0;
}

int behaviour_make(const char *config, const char *const *sets, int n_sets, struct arena *a, struct behaviour *out,
                   struct err *e)
{
	struct kernels *k = kernels_load(NULL, e);
	struct rules *rules = k ? rules_load_from(&path_source, NULL, e) : NULL;
	struct behaviour_maker x = { .k = k, .rules = rules, .a = a, .out = out };
	int rc = -1;

	*out = (struct behaviour){ .v = arena_array(a, MOST_GROUPS, sizeof *out->v) };
	if (!out->v)
		err_nomem(e, "for the table of launches");
	else if (rules)
		rc = config ? on_device(&x, config, sets, n_sets, e) : on_all(&x, e);
	rules_free(rules);
	kernels_free(k);
	return rc;
}

void behaviour_hash(const struct behaviour *b, char out[17])
{
	uint64_t h = HASH_INIT;

	for (size_t i = 0; i < b->n; i++)
		h = hash_u64(hash_str(hash_str(h, b->v[i].device), b->v[i].family), b->v[i].hash);
	hash_hex(hash_mix(h), out);
}
