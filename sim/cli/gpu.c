#include "sim/cli/gpu.h"
#include "arch/machine/machine_gpu.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gpu_options_check(const struct gpu_options *o, struct err *e)
{
	if (!o->config)
		return err_set(e, ERR_USAGE, "the device is missing: -c GPU.yaml, configs/gpu/h200.yaml say");
	if (!o->traces.n && !o->tables.n)
		return err_set(e, ERR_USAGE,
		               "what was measured is missing: -t T.db, which 'npusim trace import' makes");
	return 0;
}

void gpu_options_free(struct gpu_options *o)
{
	opt_list_free(&o->sets);
	opt_list_free(&o->traces);
	opt_list_free(&o->tables);
}

/* Letters and digits of a name, small: "NVIDIA H100 80GB" has "h100" in it, "rtx-pro-6000" is "rtxpro6000". */
static void plain_name(const char *name, char *out, size_t n)
{
	size_t k = 0;

	for (; *name && k + 1 < n; name++)
		if (isalnum((unsigned char)*name))
			out[k++] = (char)tolower((unsigned char)*name);
	out[k] = 0;
}

/* Times of another device would be scored as this one's errors. SMs and compute capability decide; where those agree,
 * as an H100's and an H200's do, the names only make a warning. */
static int of_this_device(const struct trace *t, const struct machine_cfg *c, const char *path, struct err *e)
{
	char have[CFG_STR_MAX], want[CFG_STR_MAX];
	uint32_t major = c->gpu.sm.capability / 10, minor = c->gpu.sm.capability % 10;

	plain_name(c->name, want, sizeof want);
	for (size_t i = 0; i < t->n_devices; i++) {
		const struct trace_device *d = &t->devices[i];

		if (d->sms > 0 &&
		    ((uint32_t)d->sms != c->cores || (uint32_t)d->sm_major != major || (uint32_t)d->sm_minor != minor))
			return err_set(e, ERR_IO,
			               "'%s' was measured on '%s' (%d SMs of compute capability %d.%d), '%s' has %u of "
			               "%u.%u: give the device's own configuration",
			               path, d->name, d->sms, d->sm_major, d->sm_minor, c->name, c->cores, major,
			               minor);
		plain_name(d->name, have, sizeof have);
		if (*want && *have && !strstr(have, want))
			fprintf(stderr, "npusim: warning: '%s' was measured on '%s', and is held against '%s'\n", path,
			        d->name, c->name);
	}
	return 0;
}

/* A replay's kernels are another device's by name, with no grids: there is nothing to time one by one. */
static int has_grids(const struct trace *t, const char *path, struct err *e)
{
	for (size_t i = 0; i < t->n_launches; i++)
		if (t->launches[i].kind == TRACE_KERNEL && !t->launches[i].block[0])
			return err_set(
				e, ERR_IO,
				"'%s' does not say the grids of its kernels ('%.60s'): 'npusim run' lays them out, and"
				" '--profile' holds their sums by family",
				path, t->launches[i].name);
	return 0;
}

static int read_one(struct gpu_inputs *in, const char *path, struct err *e)
{
	struct measured *t = &in->traces[in->n];
	struct cases *c = &in->sets[in->n];
	struct gpu g = machine_gpu(&in->conf->cfg);

	if (cmd_measured((struct measured_from){ .path = path, .part = true }, t, e) < 0)
		return -1;
	in->n++;
	in->n_traces++;
	if (of_this_device(&t->trace, &in->conf->cfg, path, e) < 0 || has_grids(&t->trace, path, e) < 0)
		return -1;
	if (cases_make(&t->trace, in->rules, in->kernels, t->arena, c, e) < 0 ||
	    cases_move(c, in->case_rules, &in->conf->cfg, e) < 0)
		return err_add(e, "reading '%s'", path);
	return cases_time_capped(c, &g, e);
}

static int gpu_read_table(struct gpu_inputs *in, const struct gpu_options *o, const char *path, struct err *e)
{
	const struct tables_device device = { &in->conf->cfg, in->kernels };
	struct input *f = input_open(path, e);
	int rc = -1;

	if (!f)
		return -1;
	if (!(in->arenas[in->n_tables] = arena_new(MEASURED_MEMORY)))
		err_set(e, ERR_NOMEM, "no memory for '%s'", path);
	else
		rc = tables_read(f, &device, &o->table, in->arenas[in->n_tables], &in->sets[in->n],
		                 &in->table_stats[in->n_tables], e);
	in->n_tables++;
	in->n++;
	input_free(f);
	return rc;
}

int gpu_inputs_read(struct gpu_inputs *in, const struct gpu_options *o, struct err *e)
{
	memset(in, 0, sizeof *in);
	if (!(in->conf = machine_conf_load(o->config, o->sets.v, o->sets.n, e)))
		return -1;
	if (machine_runs(&in->conf->cfg) != MACHINE_LAUNCHES)
		return err_set(e, ERR_CONFIG,
		               "'%s' describes no GPU ('kind: gpu'): only what was measured can be validated",
		               o->config);
	if (!(in->rules = rules_load(o->rules, e)) || !(in->kernels = kernels_load(o->kernels, e)) ||
	    !(in->case_rules = cases_rules_load(o->cases, e)))
		return -1;
	in->traces = calloc((size_t)o->traces.n + 1, sizeof *in->traces);
	in->sets = calloc((size_t)(o->traces.n + o->tables.n) + 1, sizeof *in->sets);
	in->arenas = calloc((size_t)o->tables.n + 1, sizeof *in->arenas);
	in->table_stats = calloc((size_t)o->tables.n + 1, sizeof *in->table_stats);
	if (!in->traces || !in->sets || !in->arenas || !in->table_stats)
		return err_set(e, ERR_NOMEM, "out of memory for %d traces", o->traces.n + o->tables.n);
	for (int i = 0; i < o->traces.n; i++)
		if (read_one(in, o->traces.v[i], e) < 0)
			return -1;
	for (int i = 0; i < o->tables.n; i++)
		if (gpu_read_table(in, o, o->tables.v[i], e) < 0)
			return -1;
	return 0;
}

void gpu_inputs_free(struct gpu_inputs *in)
{
	for (size_t i = 0; i < in->n_traces; i++)
		measured_free(&in->traces[i]);
	for (size_t i = 0; i < in->n_tables; i++)
		arena_free(in->arenas[i]);
	free(in->traces);
	free(in->arenas);
	free(in->table_stats);
	free(in->sets);
	cases_rules_free(in->case_rules);
	kernels_free(in->kernels);
	rules_free(in->rules);
	machine_conf_free(in->conf);
}
