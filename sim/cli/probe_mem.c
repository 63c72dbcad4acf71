/* probe_mem.c - npusim probe l2, latency and stream: microbenchmarks on the memory of a simulated machine. */
#include "sim/cli/probe.h"

struct options {
	const char *config, *tile, *largest, *beside, *format;
	struct opt_list sets;
	uint64_t window, samples, seed;
};

/* A value below 0 has no meaning in that probe. */
static void probe_mem_real(struct out_table *t, double v)
{
	if (v < 0)
		out_null(t);
	else
		out_real(t, v);
}

static void json_real(struct out_json *j, const char *key, double v)
{
	if (v < 0)
		out_json_null(j, key);
	else
		out_json_real(j, key, v);
}

static void table(const struct probe_mem_point *x, int n, enum out_format f, struct str *out)
{
	static const struct out_col cols[] = {
		{ "what", OUT_TEXT, 0 },   { "ws_bytes", OUT_BYTES, 0 },  { "hit", OUT_REAL, 3 },
		{ "gbps", OUT_REAL, 1 },   { "efficiency", OUT_REAL, 3 }, { "mean_ns", OUT_REAL, 1 },
		{ "p99_ns", OUT_REAL, 1 }, { "hit_ns", OUT_REAL, 1 },     { "miss_ns", OUT_REAL, 1 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (int i = 0; i < n; i++) {
		out_text(t, x[i].what);
		out_int(t, (int64_t)x[i].ws_bytes);
		out_real(t, x[i].hit);
		out_real(t, x[i].gbps);
		probe_mem_real(t, x[i].efficiency);
		out_real(t, x[i].mean_ns);
		out_real(t, x[i].p99_ns);
		probe_mem_real(t, x[i].hit_ns);
		probe_mem_real(t, x[i].miss_ns);
	}
	out_table_write(t, f, out);
	out_table_free(t);
}

static void fields(struct out_json *j, const struct probe_mem_point *x)
{
	out_json_text(j, "what", x->what);
	out_json_u64(j, "ws_bytes", x->ws_bytes);
	out_json_real(j, "hit", x->hit);
	out_json_real(j, "gbps", x->gbps);
	json_real(j, "efficiency", x->efficiency);
	out_json_real(j, "mean_ns", x->mean_ns);
	out_json_real(j, "p99_ns", x->p99_ns);
	json_real(j, "hit_ns", x->hit_ns);
	json_real(j, "miss_ns", x->miss_ns);
}

/* The last point's fields stand on top too: the largest working set, or the copy. */
static void json(const char *name, const struct machine_cfg *c, const struct probe_mem_opts *r,
                 const struct probe_mem_point *x, int n, struct str *out)
{
	struct out_json j;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_text(&j, "probe", name);
	out_json_text(&j, "machine", c->name);
	out_json_u64(&j, "l2_bytes", c->mem.l2.size);
	out_json_u64(&j, "victim_bytes", c->mem.l2.victim);
	out_json_u64(&j, "tile_bytes", r->tile);
	out_json_u64(&j, "window", r->window);
	fields(&j, &x[n - 1]);
	out_json_open(&j, "points", '[');
	for (int i = 0; i < n; i++) {
		out_json_open(&j, NULL, '{');
		fields(&j, &x[i]);
		out_json_close(&j, '}');
	}
	out_json_close(&j, ']');
	out_json_close(&j, '}');
}

typedef int probe_fn(const struct machine_cfg *c, const struct probe_mem_opts *o, struct probe_mem_opts *resolved,
                     struct probe_mem_point *points, struct err *e);

/* One of the three commands, and how it presents itself. */
struct probe_cmd {
	const char *name;
	probe_fn *probe;
	probe_beside_fn *beside; /* NULL: nothing measured to hold it against */
	const char *usage, *about, *examples;
};

static int run_beside(probe_beside_fn *beside, const struct options *o, const struct probe_mem_opts *want,
                      enum out_format f, struct str *out, struct err *e)
{
	struct machine_conf *c = machine_conf_load(o->config, o->sets.v, o->sets.n, e);
	int rc = c ? beside(&c->cfg, want, o->beside, f, out, e) : -1;

	machine_conf_free(c);
	return rc;
}

static int probe_mem_run(const struct probe_cmd *p, const struct options *o, const struct probe_mem_opts *want,
                         enum out_format f, struct str *out, struct err *e)
{
	struct machine_conf *c = machine_conf_load(o->config, o->sets.v, o->sets.n, e);
	struct probe_mem_point points[PROBE_MEM_POINTS];
	struct probe_mem_opts r;
	int n = c ? p->probe(&c->cfg, want, &r, points, e) : -1;

	if (n > 0 && f == OUT_JSON) {
		json(p->name, &c->cfg, &r, points, n, out);
	} else if (n > 0) {
		if (f == OUT_TABLE)
			str_addf(out, "%s: L2 %llu B, victim cache %llu B; tiles of %llu B, %u under way\n\n",
			         c->cfg.name, (unsigned long long)c->cfg.mem.l2.size,
			         (unsigned long long)c->cfg.mem.l2.victim, (unsigned long long)r.tile, r.window);
		table(points, n, f, out);
	}
	machine_conf_free(c);
	return n > 0 ? 0 : -1;
}

static int probe_mem_check_options(const struct options *o, struct probe_mem_opts *p, enum out_format *f, struct err *e)
{
	if (!o->config)
		return err_set(e, ERR_USAGE, "the machine is missing: -c CONFIG.yaml");
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
	return cmd_format(o->format, f, e);
}

static int probe_mem_command(const struct probe_cmd *p, int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .seed = 1 };
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
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP },
		{ 0, "beside", p->beside ? OPT_READ : OPT_END, &o.beside, "FILE",
		  "measured values, for each of which the probe is run: validate/data" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = { p->usage, p->about, p->examples, opts, 0, 0 };
	struct probe_mem_opts want = { 0 };
	struct opt_list args = { NULL, 0 };
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = probe_mem_check_options(&o, &want, &f, e)) == 0)
		rc = o.beside ? run_beside(p->beside, &o, &want, f, out, e) : probe_mem_run(p, &o, &want, f, out, e);
	opt_list_free(&args);
	opt_list_free(&o.sets);
	return rc < 0 ? -1 : 0;
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
		probe_beside_latency,
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
		probe_beside_stream,
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
