/* probe_kernel.c - npusim probe kernel and occupancy: kernels by their description, no trace. */
#include "sim/cli/probe_kernel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arch/machine/machine_gpu.h"
#include "arch/tiled/tiled_shipped.h"

#define COLS(a) ((int)(sizeof(a) / sizeof *(a)))

struct options {
	const char *config, *format, *beside, *shared;
	struct opt_list sets;
	uint64_t threads, registers;
};

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
static int asked_load(struct asked *a, const char *path, const struct options *o, struct err *e)
{
	const char *device = o->config;

	*a = (struct asked){ .t = tiled_load(path, e) };
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

/* --- kernel ------------------------------------------------------------------------------------------------------ */

static const char *math_text(const struct tiled_kernel *k, char *out, size_t n)
{
	static const char *const names[] = { "scalar", "wmma", "mma", "wgmma" };

	if (k->calls.launches)
		return "library";
	if (k->problem.op == TILED_GEMM || k->values == k->math)
		return names[k->math];
	snprintf(out, n, "%s+%s", names[k->math], names[k->values]);
	return out;
}

static bool beside_published(const struct asked *a)
{
	return a->t->k.published && strcmp(a->t->k.device, a->conf->cfg.name) == 0;
}

static double tflops(const struct tiled_kernel *k, ps_t total)
{
	return total ? (double)tiled_flops(k) / (double)total : 0;
}

static const char *limit_of(const struct asked *a, const struct tiled_time *x)
{
	return a->t->k.calls.launches ? "" : x->occupancy.limit;
}

static void kernel_row(struct out_table *t, const struct asked *a)
{
	const struct tiled_kernel *k = &a->t->k;
	const struct tiled_time x = tiled_time(k, &a->gpu, NULL);
	char math[32];

	out_text(t, k->name);
	out_text(t, a->conf->cfg.name);
	out_text(t, math_text(k, math, sizeof math));
	out_int(t, (int64_t)x.blocks);
	if (k->calls.launches)
		out_null(t);
	else
		out_int(t, x.occupancy.ctas);
	out_text(t, limit_of(a, &x));
	out_real(t, unit_ps_us(x.total));
	out_real(t, tflops(k, x.total));
	out_text(t, x.bound);
	out_text(t, x.mostly);
	if (!beside_published(a)) {
		out_null(t);
		out_null(t);
		return;
	}
	out_real(t, unit_ps_us(k->published));
	out_real(t, (double)x.total / (double)k->published);
}

static const struct out_col kernel_cols[] = {
	{ "kernel", OUT_TEXT, 0 }, { "device", OUT_TEXT, 0 },       { "math", OUT_TEXT, 0 },
	{ "blocks", OUT_INT, 0 },  { "per_sm", OUT_INT, 0 },        { "limit", OUT_TEXT, 0 },
	{ "us", OUT_REAL, 1 },     { "tflops", OUT_REAL, 2 },       { "bound", OUT_TEXT, 0 },
	{ "mostly", OUT_TEXT, 0 }, { "published_us", OUT_REAL, 1 }, { "ratio", OUT_REAL, 2 },
};

static void json_us(struct out_json *j, const char *key, ps_t v)
{
	out_json_real(j, key, unit_ps_us(v));
}

static void json_shares(struct out_json *j, const struct tiled_time *x)
{
#define X(id, name) json_us(j, #name, x->part[TILED_AT_##id]);
	out_json_open(j, "alone_us", '{');
	TILED_PARTS(X)
	out_json_close(j, '}');
#undef X
#define X(id, name) json_us(j, #name, x->pipe[TILED_ON_##id]);
	out_json_open(j, "pipes_us", '{');
	TILED_PIPES(X)
	out_json_close(j, '}');
#undef X
}

static void kernel_json(struct out_json *j, const struct asked *a)
{
	const struct tiled_kernel *k = &a->t->k;
	const struct tiled_time x = tiled_time(k, &a->gpu, NULL);
	char math[32];

	out_json_open(j, NULL, '{');
	out_json_text(j, "kernel", k->name);
	out_json_text(j, "about", k->form);
	out_json_text(j, "device", a->conf->cfg.name);
	out_json_text(j, "math", math_text(k, math, sizeof math));
	out_json_u64(j, "flops", tiled_flops(k));
	out_json_u64(j, "blocks", x.blocks);
	out_json_u64(j, "rounds", x.rounds);
	out_json_u64(j, "per_sm", x.occupancy.ctas);
	out_json_u64(j, "at_once", x.mates);
	out_json_text(j, "limit", limit_of(a, &x));
	out_json_u64(j, "shared_bytes", tiled_shared(k));
	out_json_real(j, "bank_conflicts", k->calls.launches ? NAN : tiled_conflicts(k));
	json_us(j, "us", x.total);
	out_json_real(j, "tflops", tflops(k, x.total));
	out_json_text(j, "bound", x.bound);
	out_json_text(j, "mostly", x.mostly);
	json_us(j, "chain_us", x.chain);
	json_us(j, "busy_us", x.busy);
	json_us(j, "memory_us", x.memory);
	json_us(j, "host_us", x.host);
	if (x.parts)
		json_shares(j, &x);
	out_json_real(j, "published_us", beside_published(a) ? unit_ps_us(k->published) : NAN);
	out_json_real(j, "ratio", beside_published(a) ? (double)x.total / (double)k->published : NAN);
	out_json_close(j, '}');
}

/* --- occupancy --------------------------------------------------------------------------------------------------- */

struct held {
	const char *kernel, *device;
	uint64_t threads, registers, shared;
	const struct sm_cfg *sm;
	uint32_t sms;
};

/* How many blocks each limit alone would leave. */
static uint32_t alone(const struct held *h, bool threads, bool registers, bool shared)
{
	struct sm_cfg c = *h->sm;

	if (!threads)
		c.threads = UINT32_MAX / 2;
	if (threads || registers || shared)
		c.ctas = UINT32_MAX / 2;
	return occupancy_of(&c, h->sms, (uint32_t)h->threads, registers ? (uint32_t)h->registers : 0,
	                    shared ? h->shared : 0, 1)
	        .ctas;
}

static void count_or_null(struct out_table *t, bool there, uint32_t n)
{
	if (there)
		out_int(t, n);
	else
		out_null(t);
}

static void occupancy_row(struct out_table *t, const struct held *h)
{
	const struct occupancy o =
		occupancy_of(h->sm, h->sms, (uint32_t)h->threads, (uint32_t)h->registers, h->shared, 1);

	out_text(t, h->kernel);
	out_text(t, h->device);
	out_int(t, (int64_t)h->threads);
	count_or_null(t, h->registers, (uint32_t)h->registers);
	out_int(t, (int64_t)h->shared);
	out_int(t, alone(h, true, false, false));
	count_or_null(t, h->registers, alone(h, false, true, false));
	count_or_null(t, h->shared, alone(h, false, false, true));
	out_int(t, h->sm->ctas);
	out_int(t, o.ctas);
	out_text(t, o.limit);
	out_int(t, (int64_t)o.ctas * o.warps);
	out_real(t, 100.0 * o.ctas * o.warps * 32 / h->sm->threads);
}

static const struct out_col occupancy_cols[] = {
	{ "kernel", OUT_TEXT, 0 },        { "device", OUT_TEXT, 0 },        { "threads", OUT_INT, 0 },
	{ "registers", OUT_INT, 0 },      { "shared_bytes", OUT_BYTES, 0 }, { "by_threads", OUT_INT, 0 },
	{ "by_registers", OUT_INT, 0 },   { "by_shared", OUT_INT, 0 },      { "by_blocks", OUT_INT, 0 },
	{ "per_sm", OUT_INT, 0 },         { "limit", OUT_TEXT, 0 },         { "warps", OUT_INT, 0 },
	{ "occupancy_pct", OUT_REAL, 1 },
};

static struct held held_of(const struct asked *a)
{
	const struct tiled_kernel *k = &a->t->k;

	return (struct held){ .kernel = k->name,
		              .device = a->conf->cfg.name,
		              .threads = tiled_threads(k),
		              .registers = k->registers,
		              .shared = tiled_shared(k),
		              .sm = &a->gpu.cfg->sm,
		              .sms = a->gpu.sms };
}

/* A block by its numbers, no file. */
static int occupancy_by_numbers(const struct options *o, struct out_table *t, struct err *e)
{
	struct machine_conf *conf = NULL;
	struct held h = { .kernel = "", .threads = o->threads, .registers = o->registers };
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
		occupancy_row(t, &h);
		rc = 0;
	}
	machine_conf_free(conf);
	return rc;
}

/* --- both -------------------------------------------------------------------------------------------------------- */

/* Where rows go. */
struct sink {
	struct out_table *table;
	struct out_json *json; /* NULL: the table */
	bool occupancy;
};

static int one(const char *path, const struct options *o, const struct sink *s, struct err *e)
{
	struct asked a;
	int rc = asked_load(&a, path, o, e);

	if (rc == 0 && s->json) {
		kernel_json(s->json, &a);
	} else if (rc == 0 && s->occupancy && !a.t->k.calls.launches) {
		const struct held h = held_of(&a);

		occupancy_row(s->table, &h);
	} else if (rc == 0 && !s->occupancy) {
		kernel_row(s->table, &a);
	}
	asked_free(&a);
	return rc;
}

static int all(const struct options *o, const struct sink *s, struct err *e)
{
	struct tiled_names n;
	int rc = tiled_list(&n, e);

	for (size_t i = 0; rc == 0 && i < n.n; i++)
		rc = one(n.path[i], o, s, e);
	tiled_list_free(&n);
	return rc;
}

static int named(const struct opt_list *args, const struct options *o, const struct sink *s, struct err *e)
{
	char path[1024];
	int rc = 0;

	if (!args->n)
		return all(o, s, e);
	for (int i = 0; rc == 0 && i < args->n; i++)
		if ((rc = tiled_find(args->v[i], path, sizeof path, e)) == 0)
			rc = one(path, o, s, e);
	return rc;
}

static int kernels(const struct opt_list *args, const struct options *o, enum out_format f, struct str *out,
                   struct err *e)
{
	struct str text = STR_INIT;
	struct out_json j;
	struct sink s = { .table = out_table_new(kernel_cols, COLS(kernel_cols), NULL),
		          .json = f == OUT_JSON ? &j : NULL };
	int rc;

	out_json_init(&j, &text);
	out_json_open(&j, NULL, '[');
	rc = named(args, o, &s, e);
	out_json_close(&j, ']');
	if (rc == 0 && f == OUT_JSON)
		str_add(out, str_c(&text));
	else if (rc == 0)
		out_table_write(s.table, f, out);
	out_table_free(s.table);
	str_free(&text);
	return rc;
}

static int cmd_done(struct options *o, struct opt_list *args, int rc)
{
	opt_list_free(args);
	opt_list_free(&o->sets);
	return rc < 0 ? -1 : 0;
}

#define ABOUT_FILES \
	"a name of workloads/kernels, or a file like those: tile, stages, warps, registers, shared memory, copy, math, exchange"

int cmd_probe_kernel(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .config = NULL };
	struct opt_list args = { NULL, 0 };
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &o.config, "CONFIG",
		  "the GPU; by default the one a kernel was published for" },
		{ 's', "set", OPT_SETS, &o.sets, "KEY=VALUE", "change a parameter of the GPU first; may be repeated" },
		{ 0, "beside", OPT_READ, &o.beside, "FILE",
		  "instead: measured kernels beside their descriptions: traces/h100/micro/tiled.csv, or a trace of our attention"
		  " kernels with asynchronous copy on and off" },
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim probe kernel [-c GPU] [KERNEL]... [options]",
		"How long a kernel takes that is described, not traced, and what bounds it. KERNEL is " ABOUT_FILES
		"; without any, all that come with npusim, beside what was published of them. 'bound' is the pipe that is full, or"
		" 'dependency' where blocks wait for their own steps one after the other; 'mostly' says which of a tile's parts that"
		" is. JSON has all"
		" of a tile's parts and pipes.",
		"npusim probe kernel\n"
		"npusim probe kernel -c h100 l4-v6a\n"
		"npusim probe kernel -c h100 h100-phase4x --format json\n"
		"npusim probe kernel -c h100 --beside traces/h100/micro/tiled.csv\n",
		opts,
		0,
		-1
	};
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc != 0 || (rc = cmd_format(o.format, &f, e)) < 0)
		return cmd_done(&o, &args, rc);
	if (!o.beside)
		rc = kernels(&args, &o, f, out, e);
	else if (!o.config || args.n)
		rc = err_set(e, ERR_USAGE, "'--beside FILE' takes the GPU the file is of (-c GPU), and no kernels");
	else
		rc = probe_kernel_beside(o.config, &o.sets, o.beside, f, out, e);
	return cmd_done(&o, &args, rc);
}

int cmd_probe_occupancy(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .config = NULL };
	struct opt_list args = { NULL, 0 };
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &o.config, "CONFIG",
		  "the GPU; by default the one a kernel was published for" },
		{ 's', "set", OPT_SETS, &o.sets, "KEY=VALUE", "change a parameter of the GPU first; may be repeated" },
		{ 0, "threads", OPT_COUNT, &o.threads, "N", "instead of a file: threads of a block" },
		{ 0, "registers", OPT_COUNT, &o.registers, "N", "with --threads: registers of each" },
		{ 0, "shared", OPT_TEXT, &o.shared, "BYTES", "with --threads: shared memory of a block, as '70 KiB'" },
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim probe occupancy [-c GPU] [KERNEL]... [options]",
		"How many blocks of a kernel an SM holds at once, by each of its limits (threads, registers, shared memory, blocks) and"
		" by all, and which of them is the limit. KERNEL is " ABOUT_FILES
		"; without any, all that come with npusim, or the block"
		" that --threads, --registers and --shared describe.",
		"npusim probe occupancy -c h100 h100-phase4x\n"
		"npusim probe occupancy -c l4 --threads 160 --registers 60 --shared '70 KiB'\n"
		"npusim probe occupancy --format json\n",
		opts,
		0,
		-1
	};
	struct out_table *t = NULL;
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc != 0 || (rc = cmd_format(o.format, &f, e)) < 0)
		return cmd_done(&o, &args, rc);
	t = out_table_new(occupancy_cols, COLS(occupancy_cols), NULL);
	if (!o.threads && (o.registers || o.shared))
		rc = err_set(e, ERR_USAGE, "'%s' is of a block without a file: give '--threads', too",
		             o.registers ? "--registers" : "--shared");
	else if (o.threads && args.n)
		rc = err_set(e, ERR_USAGE, "'--threads' describes a block, and '%s' another: give one", args.v[0]);
	else
		rc = o.threads ? occupancy_by_numbers(&o, t, e)
		               : named(&args, &o, &(struct sink){ .table = t, .occupancy = true }, e);
	if (rc == 0)
		out_table_write(t, f, out);
	out_table_free(t);
	return cmd_done(&o, &args, rc);
}
