/* probe_kernel_beside.c - npusim probe kernel --beside: measured kernels, and what their descriptions give. */
#include "sim/cli/probe_kernel.h"

#include <string.h>

#include "arch/machine/machine_gpu.h"
#include "sim/base/path.h"
#include "sim/cli/gpu.h"
#include "sim/report/kernel_doc.h"

static int shipped(const char *relative, char *path, unsigned size, const char **to, struct err *e)
{
	*to = path;
	return path_data(relative, path, size, e);
}

static int traced(const char *config, const struct opt_list *sets, const char *file, struct probe_tiled *r,
                  struct err *e)
{
	struct gpu_options o = { .config = config, .sets = *sets };
	struct gpu_inputs in = { .n = 0 };
	char rules[1024], cases[1024];
	const char *one = file;
	int rc = -1;

	o.traces = (struct opt_list){ &one, 1 };
	if (shipped("configs/rules/reference-cuda.yaml", rules, sizeof rules, &o.rules, e) == 0 &&
	    shipped("configs/cases/reference.yaml", cases, sizeof cases, &o.cases, e) == 0 &&
	    gpu_inputs_read(&in, &o, e) == 0) {
		const struct gpu g = machine_gpu(&in.conf->cfg);

		rc = probe_tiled_pairs(&in.sets[0], &g, strcmp(in.conf->cfg.name, "h200") == 0, r, e);
	}
	gpu_inputs_free(&in);
	return rc;
}

int probe_kernel_beside(struct doc *d, const char *config, const struct opt_list *sets, const char *file, struct err *e)
{
	struct machine_conf *c = machine_conf_load(config, sets->v, sets->n, e);
	struct input *in = c ? input_open(file, e) : NULL;
	struct probe_tiled r = PROBE_TILED_INIT;
	bool pairs = false;
	int rc = -1;

	if (in && machine_runs(&c->cfg) != MACHINE_LAUNCHES) {
		err_set(e, ERR_CONFIG, "'%s' describes no GPU ('kind: gpu'): the kernels are of one", config);
	} else if (in && probe_tiled_is_table(in)) {
		const struct gpu g = machine_gpu(&c->cfg);

		rc = probe_tiled_table(in, &g, &r, e);
	} else if (in) {
		pairs = true;
		rc = traced(config, sets, file, &r, e);
	}
	if (rc == 0)
		kernel_beside_doc(d, &(struct kernel_beside_doc){ &r, c->cfg.name, file, pairs });
	probe_tiled_free(&r);
	input_free(in);
	machine_conf_free(c);
	return rc;
}
