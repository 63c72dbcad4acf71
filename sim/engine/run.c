#include "sim/engine/run.h"

#include <string.h>

#include "sim/engine/engine.h"
#include "sim/engine/run_chips.h"
#include "sim/engine/run_stages.h"

/* On a machine without links what a trace's collectives took stands for what nobody can say. */
static int as_measured(const struct op_stream **s, const struct machine_conf *conf, struct arena *a, struct err *e)
{
	struct op_stream *x;
	struct op *ops;

	if (conf->cfg.links.bandwidth || !(*s)->chips || !(*s)->measured_ns)
		return 0;
	if (!(x = arena_alloc(a, sizeof *x)) || !(ops = arena_array(a, (*s)->n_ops + 1, sizeof *ops)))
		return err_nomem(e, "for a trace");
	memcpy(ops, (*s)->ops, (*s)->n_ops * sizeof *ops);
	for (size_t i = 0; i < (*s)->n_ops; i++)
		ops[i].shape.peers = 0;
	*x = **s;
	x->ops = ops;
	x->chips = 0;
	*s = x;
	return 0;
}

void run_early(const struct machine_cfg *c, struct figures *out)
{
	out->area_nm2 = c->die.area;
	out->cost_uusd = c->cost.all;
}

int run_stream(const struct op_stream *s, const struct machine_conf *conf, const struct run_opts *o, struct arena *a,
               struct run_result *out, struct err *e)
{
	memset(out, 0, sizeof *out);
	if (as_measured(&s, conf, a, e) < 0)
		return -1;
	out->stream = s;
	out->engine = engine_of(&conf->cfg, o->fidelity);
	out->config_hash = cfg_hash(conf->raw);
	if (!(out->ops = arena_array(a, s->n_ops ? s->n_ops : 1, sizeof *out->ops)))
		return err_set(e, ERR_NOMEM, "out of memory for results");
	if (run_chips_check(&conf->cfg, s, e) < 0)
		return -1;
	out->tokens = s->tokens;
	if (s->stages)
		return run_stages(s, conf, o, run_stream, a, out, e);
	if (out->engine->run(conf, o, a, out, e) < 0)
		return -1;
	run_early(&conf->cfg, &out->figures);
	return run_chips(&conf->cfg, a, out, e);
}
