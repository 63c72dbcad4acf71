/* validate_counters.c - npusim validate --counters: the GPU's model against Nsight Compute's counters, kernel by kernel. */
#include "sim/cli/validate.h"

#include "arch/machine/machine_gpu.h"
#include "sim/report/counters_doc.h"

int validate_counters(const struct gpu_options *o, uint64_t most, struct doc *d, struct err *e)
{
	struct arena *a = arena_new(0);
	struct gpu_inputs in;
	struct simulated s;
	struct roof roof = { .sms = 0 };
	struct gpu g;
	int rc = gpu_inputs_read(&in, o, e);

	if (rc == 0 && !a)
		rc = err_nomem(e, "for the counters");
	if (rc == 0 && (in.n_traces != 1 || in.n_tables))
		rc = err_set(e, ERR_USAGE, "--counters goes with one trace (-t) that has them");
	if (rc == 0) {
		g = machine_gpu(&in.conf->cfg);
		roof_of(&in.conf->cfg, &roof);
		rc = simulated_of(&in.traces[0].trace, in.traces[0].counters, &in.sets[0].work, &g, &roof, in.rules, a,
		                  &s, e);
	}
	if (rc == 0)
		counters_doc(d, &s, cmd_first(most, s.n));
	gpu_inputs_free(&in);
	arena_free(a);
	return rc;
}
