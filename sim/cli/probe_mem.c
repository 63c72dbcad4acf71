/* probe_mem.c - npusim probe l2, latency and stream: microbenchmarks on the memory of a simulated machine. */
#include "sim/cli/cmd.h"
#include "sim/report/probe_mem_doc.h"

typedef int probe_fn(const struct machine_cfg *c, const struct probe_mem_opts *o, struct probe_mem_opts *resolved,
                     struct probe_mem_point *points, struct err *e);

/* One of the three commands, and how it presents itself. */
struct probe_cmd {
	const char *name;
	probe_fn *probe;
	probe_mem_beside_fn *beside; /* NULL: nothing measured to hold it against */
	const char *usage, *about, *examples;
};

struct options {
	const struct probe_cmd *probe;
	const char *config, *tile, *largest, *beside, *format;
	struct opt_list sets;
	uint64_t window, samples, seed;
};

static int run_beside(probe_mem_beside_fn *beside, const struct options *o, const struct probe_mem_opts *want,
                      struct doc *d, struct err *e)
{
	struct machine_conf *c = machine_conf_load(o->config, o->sets.v, o->sets.n, e);
	int rc = c ? beside(d, &c->cfg, want, o->beside, e) : -1;

	machine_conf_free(c);
	return rc;
}

static int probe_mem_run(const struct probe_cmd *p, const struct options *o, const struct probe_mem_opts *want,
                         struct doc *d, struct err *e)
{
	struct machine_conf *c = machine_conf_load(o->config, o->sets.v, o->sets.n, e);
	struct probe_mem_point points[PROBE_MEM_POINTS];
	struct probe_mem_opts r;
	int n = c ? p->probe(&c->cfg, want, &r, points, e) : -1;

	if (n > 0)
		probe_mem_doc(d, &(struct probe_mem_doc){ p->name, &c->cfg, &r, points, (size_t)n });
	machine_conf_free(c);
	return n > 0 ? 0 : -1;
}

static int probe_mem_check_options(const struct options *o, struct probe_mem_opts *p, struct err *e)
{
	if (!o->config)
		return opt_machine_missing(e);
	if (o->window > 4096)
		return err_set(e, ERR_USAGE, "at most 4096 tiles can be under way, for option '--window'");
	if (o->samples > 100000000)
		return err_set(e, ERR_USAGE, "at most 100000000 accesses, for option '--samples'");
	p->window = (uint32_t)o->window;
	p->samples = (uint32_t)o->samples;
	p->seed = o->seed;
	if ((o->tile && cfg_parse_value(CFG_T_BYTES, o->tile, &p->tile, e) < 0) ||
	    (o->largest && cfg_parse_value(CFG_T_BYTES, o->largest, &p->largest, e) < 0)) {
		e->kind = ERR_USAGE;
		return err_add(e, "reading an option");
	}
	if (p->largest > UINT64_C(1) << 40)
		return err_set(e, ERR_USAGE, "working sets of at most 1 TiB, for option '--largest'");
	return 0;
}

static int probe(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct probe_mem_opts want = { 0 };

	(void)args;
	if (probe_mem_check_options(o, &want, e) < 0)
		return -1;
	return o->beside ? run_beside(o->probe->beside, o, &want, d, e) : probe_mem_run(o->probe, o, &want, d, e);
}

static int probe_mem_command(const struct probe_cmd *p, int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .probe = p, .seed = 1 };
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &o.config, "CONFIG", "the machine, in YAML" },
		{ 's', "set", OPT_SETS, &o.sets, "KEY=VALUE",
		  "change a parameter of the machine first; may be repeated" },
		{ 0, "largest", OPT_TEXT, &o.largest, "BYTES",
		  "the last working set; by default eight times the caches" },
		{ 0, "tile", OPT_TEXT, &o.tile, "BYTES", "bytes of a tile; by default 'dma.tile', 64 KiB at most" },
		{ 0, "window", OPT_COUNT, &o.window, "N", "tiles under way; by default twice 'dma.outstanding'" },
		{ 0, "samples", OPT_COUNT, &o.samples, "N", "accesses of a pointer chase; 4000 by default" },
		{ 0, "seed", OPT_U64, &o.seed, "N", "of everything drawn at random; 1 by default" },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ 0, "beside", p->beside ? OPT_READ : OPT_END, &o.beside, "FILE",
		  "measured values, for each of which the probe is run: validate/data" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = { p->usage, p->about, p->examples, opts, 0, 0 };

	return cmd_do(&cmd, &o.format, probe, &o, argc, argv, out, e);
}

int cmd_probe_l2(int argc, char **argv, struct str *out, struct err *e)
{
	static const struct probe_cmd probe = {
		"l2",
		probe_mem_l2,
		NULL,
		"npusim probe l2 -c CONFIG [--set KEY=VALUE]... [options]",
		"Reads growing working sets again and again, in tiles, and says at what rate and how much of them"
		" hits on chip. The rate falls from the L2's to DRAM's where the set no longer fits; what a policy"
		" or a victim cache keeps of it shows in the hits. 'efficiency' is of the L2's peak.",
		"npusim probe l2 -c configs/npu/dsocr.yaml\n"
		"npusim probe l2 -c configs/npu/edge.yaml --set l2.policy=drrip --set 'l2.victim=1 MiB' --format csv\n",
	};

	return probe_mem_command(&probe, argc, argv, out, e);
}

int cmd_probe_latency(int argc, char **argv, struct str *out, struct err *e)
{
	static const struct probe_cmd probe = {
		"latency",
		probe_mem_latency,
		probe_latency_doc,
		"npusim probe latency -c CONFIG [--set KEY=VALUE]... [--beside FILE] [options]",
		"A pointer chase round and round through growing working sets, one line at a time, through network, L2"
		" and DRAM: the curve whose plateaus are the latencies of L2 ('hit_ns') and DRAM ('miss_ns'). With"
		" --beside it runs over the footprints of a measured curve and says how far apart they are.",
		"npusim probe latency -c configs/npu/dsocr.yaml\n"
		"npusim probe latency -c configs/gpu/h200.yaml --beside traces/h200/micro/latency.csv\n"
		"npusim probe latency -c configs/gpu/rtx5090.yaml --beside validate/data/latency/rtx5090.csv\n",
	};

	return probe_mem_command(&probe, argc, argv, out, e);
}

int cmd_probe_stream(int argc, char **argv, struct str *out, struct err *e)
{
	static const struct probe_cmd probe = {
		"stream",
		probe_mem_stream,
		probe_stream_doc,
		"npusim probe stream -c CONFIG [--set KEY=VALUE]... [--beside FILE] [options]",
		"Reads, writes, adds (triad: two read, one written) and copies arrays far larger than the caches, in"
		" tiles, as the machine's DMA would: bytes per second and their share of DRAM's peak. A copy's bytes"
		" count twice and a triad's three times, as STREAM's do. With --beside they stand beside the rows of a"
		" table of measurements that name the machine.",
		"npusim probe stream -c configs/npu/dsocr.yaml\n"
		"npusim probe stream -c configs/npu/edge.yaml --window 8 --format json\n"
		"npusim probe stream -c configs/gpu/h200.yaml --beside validate/data/stream.csv\n",
	};

	return probe_mem_command(&probe, argc, argv, out, e);
}
