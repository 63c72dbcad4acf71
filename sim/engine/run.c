#include "sim/engine/run.h"

#include <string.h>

#include "sim/engine/engine.h"
#include "sim/engine/run_chips.h"

void run_early(const struct machine_cfg *c, struct figures *out)
{
	out->area_nm2 = c->die.area;
	out->cost_uusd = c->cost.all;
}

int run_stream(const struct op_stream *s, const struct machine_conf *conf, const struct run_opts *o, struct arena *a,
               struct run_result *out, struct err *e)
{
	memset(out, 0, sizeof *out);
	out->stream = s;
	out->engine = engine_of(&conf->cfg, o->fidelity);
	out->config_hash = cfg_hash(conf->raw);
	if (!(out->ops = arena_array(a, s->n_ops ? s->n_ops : 1, sizeof *out->ops)))
		return err_set(e, ERR_NOMEM, "out of memory for results");
	if (run_chips_check(&conf->cfg, s, e) < 0 || out->engine->run(conf, o, a, out, e) < 0)
		return -1;
	run_early(&conf->cfg, &out->figures);
	out->tokens = s->tokens;
	return run_chips(&conf->cfg, a, out, e);
}
