#include "sim/engine/run.h"

#include <string.h>

#include "sim/engine/engine.h"
#include "sim/engine/run_chips.h"
#include "sim/engine/run_stages.h"

int run_stream(const struct op_stream *s, const struct machine_conf *conf, const struct run_opts *o, struct arena *a,
               struct run_result *out, struct err *e)
{
	memset(out, 0, sizeof *out);
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
	out->area_nm2 = conf->cfg.die.area;
	return run_chips(&conf->cfg, a, out, e);
}
