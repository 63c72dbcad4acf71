#include "sim/cli/gpu_energy.h"

#include <stdlib.h>
#include <string.h>

#include "arch/machine/machine_gpu.h"

static int read_one(struct gpu_energies *x, const char *path, const struct machine_conf *conf, const struct kernels *k,
                    struct err *e)
{
	const struct gpu g = machine_gpu(&conf->cfg);
	struct input *f = input_open(path, e);
	struct energy_cases *c = &x->v[x->n];
	int rc = -1;

	if (!f)
		return -1;
	if (!(x->arenas[x->n] = arena_new(MEASURED_MEMORY)))
		err_set(e, ERR_NOMEM, "no memory for '%s'", path);
	else
		rc = energy_read(f, &conf->cfg, k, x->arenas[x->n], c, e);
	x->n++;
	for (size_t i = 0; rc == 0 && i < c->n; i++)
		energy_ask(&c->v[i], &g);
	if (rc == 0 && !c->n)
		rc = err_set(e, ERR_IO, "%s: no case that is modelled", path);
	c->path = path;
	input_free(f);
	return rc;
}

int gpu_energies_read(struct gpu_energies *x, const struct opt_list *paths, const struct machine_conf *conf,
                      const struct kernels *k, struct err *e)
{
	memset(x, 0, sizeof *x);
	x->v = calloc((size_t)paths->n + 1, sizeof *x->v);
	x->arenas = calloc((size_t)paths->n + 1, sizeof *x->arenas);
	if (!x->v || !x->arenas)
		return err_set(e, ERR_NOMEM, "out of memory for %d tables", paths->n);
	for (int i = 0; i < paths->n; i++)
		if (read_one(x, paths->v[i], conf, k, e) < 0)
			return -1;
	return 0;
}

void gpu_energies_free(struct gpu_energies *x)
{
	for (size_t i = 0; x->arenas && i < x->n; i++)
		arena_free(x->arenas[i]);
	free(x->arenas);
	free(x->v);
}
