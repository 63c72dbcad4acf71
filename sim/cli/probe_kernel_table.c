/* probe_kernel_table.c - npusim probe kernel and occupancy: the kernels that are asked for, each on its device, a row each. */
#include "sim/cli/probe_kernel.h"

#include "arch/machine/machine_gpu.h"
#include "arch/tiled/tiled_shipped.h"
#include "sim/report/kernel_doc.h"

/* One kernel on one device. */
struct asked {
	struct tiled *t;
	struct machine_conf *conf;
	struct gpu gpu;
};

static void asked_free(struct asked *a)
{
	tiled_free(a->t);
	machine_conf_free(a->conf);
	*a = (struct asked){ .t = NULL };
}

static int gpu_load(const char *config, const struct opt_list *sets, struct machine_conf **conf, struct err *e)
{
	if (!(*conf = machine_conf_load(config, sets->v, sets->n, e)))
		return -1;
	if (machine_runs(&(*conf)->cfg) == MACHINE_LAUNCHES)
		return 0;
	return err_set(e, ERR_CONFIG, "'%s' describes no GPU ('kind: gpu'): kernels are of one, such as h100 or l4",
	               config);
}

/* On the machine that is given, or the one it was published for. */
static int asked_load(struct asked *a, const char *path, const struct probe_kernel_opts *o, struct err *e)
{
	const char *device = o->config;

	*a = (struct asked){ .t = tiled_load_as(path, o->edits.v, (size_t)o->edits.n, e) };
	if (!a->t)
		return -1;
	if (!device)
		device = a->t->k.device;
	if (!device[0])
		return err_set(e, ERR_USAGE, "'%s' names no device it was published for: -c GPU, such as -c h100",
		               path);
	if (gpu_load(device, &o->sets, &a->conf, e) < 0)
		return -1;
	a->gpu = machine_gpu(&a->conf->cfg);
	return tiled_check(a->t, &a->gpu, a->conf->cfg.name, e);
}

/* --- both -------------------------------------------------------------------------------------------------------- */

static struct occupancy_doc held_of(const struct asked *a)
{
	const struct tiled_kernel *k = &a->t->k;

	return (struct occupancy_doc){ .kernel = k->name,
		                       .device = a->conf->cfg.name,
		                       .threads = tiled_threads(k),
		                       .registers = k->registers,
		                       .shared = tiled_shared(k),
		                       .sm = &a->gpu.cfg->sm,
		                       .sms = a->gpu.sms };
}

/* A block by its numbers, no file. */
static int occupancy_by_numbers(const struct probe_kernel_opts *o, struct doc *d, struct err *e)
{
	struct machine_conf *conf = NULL;
	struct occupancy_doc h = { .kernel = "", .threads = o->threads, .registers = o->registers };
	int rc = -1;

	if (!o->config)
		return err_set(e, ERR_USAGE, "the GPU is missing: -c GPU, such as -c h100");
	if (o->shared && cfg_parse_value(CFG_T_BYTES, o->shared, &h.shared, e) < 0) {
		e->kind = ERR_USAGE;
		return err_add(e, "reading option '--shared'");
	}
	if (o->threads > 1024 || o->registers > 255 || h.shared > 1 << 20)
		return err_set(
			e, ERR_USAGE,
			"a block has up to 1024 threads of up to 255 registers, and up to 1 MiB of shared memory");
	if (gpu_load(o->config, &o->sets, &conf, e) == 0) {
		h.device = conf->cfg.name;
		h.sm = &conf->cfg.gpu.sm;
		h.sms = conf->cfg.cores;
		doc_row(d, occupancy_doc, &h, 0);
		rc = 0;
	}
	machine_conf_free(conf);
	return rc;
}

/* A tile's parts and pipes take lines of their own. */
static void put(struct doc *d, const struct kernel_doc *k)
{
	if (d->format == OUT_JSON)
		doc_record(d, NULL, kernel_doc, k);
	else
		doc_row(d, kernel_doc, k, 0);
}

static int one(const char *path, const struct probe_kernel_opts *o, struct doc *d, struct err *e)
{
	struct asked a;
	int rc = asked_load(&a, path, o, e);

	if (rc == 0 && !o->occupancy) {
		put(d, &(struct kernel_doc){ &a.t->k, a.conf->cfg.name, &a.gpu });
	} else if (rc == 0 && !a.t->k.calls.launches) {
		const struct occupancy_doc h = held_of(&a);

		doc_row(d, occupancy_doc, &h, 0);
	}
	asked_free(&a);
	return rc;
}

static int all(const struct probe_kernel_opts *o, struct doc *d, struct err *e)
{
	struct tiled_names n;
	int rc = tiled_list(&n, e);

	for (size_t i = 0; rc == 0 && i < n.n; i++)
		rc = one(n.path[i], o, d, e);
	tiled_list_free(&n);
	return rc;
}

static int named(const struct opt_list *args, const struct probe_kernel_opts *o, struct doc *d, struct err *e)
{
	char path[1024];
	int rc = 0;

	if (!args->n)
		return all(o, d, e);
	for (int i = 0; rc == 0 && i < args->n; i++)
		if ((rc = tiled_find(args->v[i], path, sizeof path, e)) == 0)
			rc = one(path, o, d, e);
	return rc;
}

static int rows(struct doc *d, const struct probe_kernel_opts *o, const struct opt_list *args, struct err *e)
{
	return o->threads ? occupancy_by_numbers(o, d, e) : named(args, o, d, e);
}

int probe_kernel_table(struct doc *d, const struct probe_kernel_opts *o, const struct opt_list *args, struct err *e)
{
	int rc;

	if (d->format == OUT_JSON && !o->occupancy) {
		doc_open(d, NULL, '[');
		rc = rows(d, o, args, e);
		doc_close(d, ']');
	} else {
		doc_table_open(d, NULL, NULL);
		rc = rows(d, o, args, e);
		if (o->occupancy)
			doc_table_close(d, occupancy_doc, &(struct occupancy_doc){ NULL });
		else
			doc_table_close(d, kernel_doc, &(struct kernel_doc){ NULL });
	}
	if (rc < 0)
		doc_drop(d);
	return rc;
}
