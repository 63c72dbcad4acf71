/* probe.c - npusim probe: microbenchmarks on a simulated memory. */
#include "sim/cli/cmd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/accuracy/probe_dram_ref.h"
#include "sim/accuracy/probe_dram_tiles.h"

#define QUEUE 32 /* entries of the measured controllers (validate/data/dram/README.md) */
#define DRAWS 16 /* of arrivals, for a row at capacity */

static cmd_fn dram_cmd_fn;

const struct cmd cmd_probe_table[] = {
	{ "dram", dram_cmd_fn, NULL, "efficiency and latency of one DRAM under a stream of bursts" },
	{ "l2", cmd_probe_l2, NULL, "hit rate and bandwidth of a machine's L2 over growing working sets" },
	{ "latency", cmd_probe_latency, NULL, "a pointer chase through a machine's L2 and DRAM" },
	{ "stream", cmd_probe_stream, NULL, "read, write and copy bandwidth of a machine" },
	{ "link", cmd_probe_link, NULL, "collectives over the links of a system, by size or beside measured ones" },
	{ "kernel", cmd_probe_kernel, NULL, "time and bound of a GPU kernel that is described, not traced" },
	{ "occupancy", cmd_probe_occupancy, NULL, "blocks of a kernel an SM holds at once, and which limit that is" },
	{ NULL, NULL, NULL, NULL }
};

/* Negative: none. */
static void real_or_null(struct out_table *t, double v)
{
	if (v < 0)
		out_null(t);
	else
		out_real(t, v);
}

/* --- one stream -------------------------------------------------------------------------------------------- */

struct ask {
	const char *config, *pattern, *map, *path, *format, *reference;
	struct opt_list sets;
	uint64_t queue, channels, bursts, tile;
	uint32_t load;
	bool poisson, tiles;
};

static int load_config(const struct ask *a, struct dram_cfg *c, struct err *e)
{
	char text[4][CFG_STR_MAX + 32];
	const char *sets[64];
	int n = 0, k = 0;

	if (a->sets.n > 32)
		return err_set(e, ERR_USAGE, "'--set' is given more than 32 times");
	if (a->map) {
		snprintf(text[k], sizeof text[k], "dram.fields=%s", a->map);
		sets[n++] = text[k++];
	}
	if (a->channels) {
		snprintf(text[k], sizeof text[k], "dram.channels=%llu", (unsigned long long)a->channels);
		sets[n++] = text[k++];
	}
	snprintf(text[k], sizeof text[k], "dram.read_queue=%llu", (unsigned long long)(a->queue ? a->queue : QUEUE));
	sets[n++] = text[k++];
	snprintf(text[k], sizeof text[k], "dram.write_queue=%llu", (unsigned long long)(a->queue ? a->queue : QUEUE));
	sets[n++] = text[k++];
	for (int i = 0; i < a->sets.n; i++)
		sets[n++] = a->sets.v[i];
	return probe_dram_load(c, a->config, sets, n, e);
}

/* Published tables differ so, by rounding; more than a clock may be a slip. */
static void warn_row_cycle(const struct ask *a, const struct dram_cfg *c)
{
	ps_t sum = c->t_ras + c->t_rp, off = c->t_rc > sum ? c->t_rc - sum : sum - c->t_rc;

	if (!dram_is_fixed(c) && off > c->t_ck)
		fprintf(stderr,
		        "npusim: warning: %s: 'dram.t_rc' is %llu ps and 'dram.t_ras' + 'dram.t_rp' %llu ps: more than"
		        " a clock of %llu ps apart\n",
		        a->config, (unsigned long long)c->t_rc, (unsigned long long)sum, (unsigned long long)c->t_ck);
}

static void print_json(const struct ask *a, const struct probe_result *r, struct str *out)
{
	struct out_json j;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_text(&j, "config", a->config);
	out_json_text(&j, "pattern", a->pattern);
	out_json_text(&j, "path", a->path);
	out_json_u64(&j, "bursts", r->requests);
	out_json_real(&j, "efficiency", r->efficiency);
	out_json_real(&j, "gbps", r->gbps);
	out_json_real(&j, "peak_gbps", r->peak_gbps);
	out_json_real(&j, "mean_ns", r->mean_ns < 0 ? NAN : r->mean_ns);
	out_json_real(&j, "p99_ns", r->p99_ns < 0 ? NAN : r->p99_ns);
	if (a->load)
		out_json_bool(&j, "saturated", r->saturated);
	out_json_close(&j, '}');
	str_addc(out, '\n');
}

static void print_row(const struct ask *a, const struct probe_result *r, enum out_format f, struct str *out)
{
	static const struct out_col cols[] = {
		{ "config", OUT_TEXT, 0 },    { "pattern", OUT_TEXT, 0 },    { "path", OUT_TEXT, 0 },
		{ "bursts", OUT_INT, 0 },     { "efficiency", OUT_REAL, 4 }, { "gbps", OUT_REAL, 2 },
		{ "peak_gbps", OUT_REAL, 2 }, { "mean_ns", OUT_REAL, 2 },    { "p99_ns", OUT_REAL, 2 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	out_text(t, a->config);
	out_text(t, a->pattern);
	out_text(t, a->path);
	out_int(t, (int64_t)r->requests);
	out_real(t, r->efficiency);
	out_real(t, r->gbps);
	out_real(t, r->peak_gbps);
	real_or_null(t, r->mean_ns);
	real_or_null(t, r->p99_ns);
	out_table_write(t, f, out);
	out_table_free(t);
	if (f == OUT_TABLE && r->saturated)
		str_add(out,
		        "saturated: less than 98.5 % of the load was served, so the latency is a growing backlog\n");
}

static int one_stream(const struct ask *a, enum out_format f, struct str *out, struct err *e)
{
	struct probe_stream s;
	struct probe_result r;
	struct dram_cfg c;
	bool tile = strcmp(a->path, "tile") == 0;

	if (!tile && strcmp(a->path, "command") != 0)
		return err_set(e, ERR_USAGE, "path '%s' is neither command nor tile", a->path);
	if (probe_dram_pattern(&s, a->pattern, e) < 0)
		return -1;
	if (a->load > 1000000 || (a->load && (tile || s.chase)))
		return err_set(e, ERR_USAGE, "'--load' is up to 100 %%, on the command path, and not of a chase");
	s.load = a->load;
	s.poisson = a->poisson;
	s.requests = a->bursts;
	s.tile = a->tile;
	if (load_config(a, &c, e) < 0)
		return -1;
	warn_row_cycle(a, &c);
	if ((tile ? probe_dram_tile : probe_dram_command)(&c, &s, &r, e) < 0)
		return -1;
	if (f == OUT_JSON)
		print_json(a, &r, out);
	else
		print_row(a, &r, f, out);
	return 0;
}

/* --- the reference ----------------------------------------------------------------------------------------- */

static void ref_row(struct out_table *t, const struct probe_row *r)
{
	out_text(t, r->simulator);
	out_text(t, r->type);
	out_text(t, r->pattern);
	out_text(t, r->parameter);
	out_text(t, r->map);
	out_text(t, r->controller);
	real_or_null(t, r->efficiency);
	real_or_null(t, r->ran ? r->ours.efficiency : -1);
	real_or_null(t, r->mean_ns);
	real_or_null(t, r->ran ? r->ours.mean_ns : -1);
	if (r->ran)
		out_real(t, r->cls == PROBE_C_CHASE ? r->error : 100 * r->error);
	else
		out_null(t);
	out_text(t, !r->ran                   ? ""
	            : r->cls == PROBE_C_CHASE ? "ns"
	            : r->cls == PROBE_C_LOAD  ? "% latency"
	                                      : "% efficiency");
	out_text(t, r->why_not ? r->why_not : "counted");
}

/* Returns how many rows are beyond their class's bound. */
static int ref_summary(const struct probe_ref *f, bool print, struct str *out)
{
	static const struct out_col cols[] = {
		{ "class", OUT_TEXT, 0 }, { "rows", OUT_INT, 0 },  { "mean", OUT_REAL, 3 },  { "max", OUT_REAL, 3 },
		{ "bound", OUT_REAL, 3 }, { "unit", OUT_TEXT, 0 }, { "beyond", OUT_INT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, "counted rows, by class");
	int beyond = 0;

	for (int c = 0; c < PROBE_CLASSES; c++) {
		double sum = 0, max = 0, unit = c == PROBE_C_CHASE ? 1 : 100,
		       bound = probe_class_bound((enum probe_class)c);
		int n = 0, over = 0;

		for (size_t i = 0; i < f->n; i++) {
			double v = fabs(f->row[i].error);

			if (f->row[i].why_not || !f->row[i].ran || f->row[i].cls != (enum probe_class)c)
				continue;
			n++;
			sum += v;
			max = v > max ? v : max;
			over += v > bound;
		}
		out_text(t, probe_class_name((enum probe_class)c));
		out_int(t, n);
		out_real(t, n ? unit * sum / n : 0);
		out_real(t, unit * max);
		out_real(t, unit * bound);
		out_text(t, c == PROBE_C_CHASE ? "ns" : "%");
		out_int(t, over);
		beyond += over;
	}
	if (print)
		out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
	return beyond;
}

/* Loads that the memory just about serves: what another draw of arrivals would have made of them. */
static int at_capacity(const struct probe_ref *f, struct str *out, struct err *e)
{
	static const struct out_col cols[] = {
		{ "type", OUT_TEXT, 0 },
		{ "pattern", OUT_TEXT, 0 },
		{ "parameter", OUT_TEXT, 0 },
		{ "map", OUT_TEXT, 0 },
		{ "load_of_capacity_pct", OUT_REAL, 1 },
		{ "mean_ns", OUT_REAL, 2 },
		{ "ours_ns", OUT_REAL, 2 },
		{ "draws", OUT_INT, 0 },
		{ "least_ns", OUT_REAL, 2 },
		{ "most_ns", OUT_REAL, 2 },
	};
	struct out_table *t =
		out_table_new(cols, sizeof cols / sizeof *cols,
	                      "rows at capacity, not counted: loads above what the reference serves of that"
	                      " stream unpaced, or at random times from 99 % of it on.\nTheir mean is a"
	                      " backlog that grows with the run and changes with the draw of arrivals:"
	                      " ours, and its range over draws");
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < f->n; i++) {
		const struct probe_row *r = &f->row[i];
		int draws = strstr(r->parameter, "poisson") ? DRAWS : 1;
		double least = 0, most = 0;

		if (!r->ran || !r->why_not || strncmp(r->why_not, "at capacity", 11) != 0)
			continue;
		if ((rc = probe_ref_draws(r, draws, &least, &most, e)) < 0)
			break;
		out_text(t, r->type);
		out_text(t, r->pattern);
		out_text(t, r->parameter);
		out_text(t, r->map);
		out_real(t, 100 * probe_ref_utilisation(r));
		out_real(t, r->mean_ns);
		out_real(t, r->ours.mean_ns);
		out_int(t, draws);
		out_real(t, least);
		out_real(t, most);
	}
	if (rc == 0)
		out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
	return rc;
}

static int reference(const struct ask *a, enum out_format fmt, struct str *out, struct err *e)
{
	static const struct out_col cols[] = {
		{ "simulator", OUT_TEXT, 0 },  { "type", OUT_TEXT, 0 },  { "pattern", OUT_TEXT, 0 },
		{ "parameter", OUT_TEXT, 0 },  { "map", OUT_TEXT, 0 },   { "controller", OUT_TEXT, 0 },
		{ "efficiency", OUT_REAL, 4 }, { "ours", OUT_REAL, 4 },  { "mean_ns", OUT_REAL, 2 },
		{ "ours_ns", OUT_REAL, 2 },    { "error", OUT_REAL, 2 }, { "of", OUT_TEXT, 0 },
		{ "counted", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);
	struct probe_ref f = { NULL, 0 };
	int rc = probe_ref_load(&f, a->reference, e), beyond;

	for (size_t i = 0; rc == 0 && i < f.n; i++) {
		rc = probe_ref_run(&f.row[i], a->bursts, e);
		if (rc == 0)
			ref_row(t, &f.row[i]);
	}
	if (rc == 0) {
		out_table_write(t, fmt, out);
		if (fmt == OUT_TABLE) {
			str_addc(out, '\n');
			rc = at_capacity(&f, out, e);
			str_addc(out, '\n');
		}
	}
	if (rc == 0) {
		beyond = ref_summary(&f, fmt == OUT_TABLE, out);
		if (beyond)
			rc = err_set(e, ERR_BOUND,
			             "%d counted rows differ from the reference by more than their class's bound",
			             beyond);
	}
	out_table_free(t);
	probe_ref_free(&f);
	return rc;
}

/* --- the tile path ----------------------------------------------------------------------------------------- */

static int tile_streams(const struct ask *a, enum out_format fmt, struct str *out, struct err *e)
{
	static const struct out_col cols[] = {
		{ "stream", OUT_TEXT, 0 }, { "tile_kib", OUT_INT, 0 },   { "command", OUT_REAL, 4 },
		{ "tiles", OUT_REAL, 4 },  { "error_pct", OUT_REAL, 2 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);
	const struct probe_tiles *known;
	struct dram_cfg c;
	int rc = load_config(a, &c, e);

	for (size_t i = 0; rc == 0 && (known = probe_tiles_known(i)); i++)
		for (uint64_t kib = 64; rc == 0 && kib >= 4; kib /= 4) {
			struct probe_tiles s = *known;
			struct probe_tiles_result r;

			s.tile = kib << 10;
			s.window = PROBE_TILES_WINDOW;
			s.tiles = (a->bursts ? a->bursts * dram_burst_bytes(&c) : (UINT64_C(4) << 20) * c.channels) /
			          s.tile;
			if ((rc = probe_tiles(&c, &s, &r, e)) < 0)
				break;
			out_text(t, s.name);
			out_int(t, (int64_t)kib);
			out_real(t, r.command);
			out_real(t, r.tile);
			out_real(t, 100 * (r.tile / r.command - 1));
		}
	if (rc == 0)
		out_table_write(t, fmt, out);
	out_table_free(t);
	return rc;
}

/* --- command ----------------------------------------------------------------------------------------------- */

static int check_options(struct ask *a, const char *load, enum out_format *f, struct err *e)
{
	char *end;
	double v;

	if (load) {
		v = strtod(load, &end);
		if (end == load || (*end && strcmp(end, "%") != 0) || !(v > 0 && v <= 100))
			return err_set(e, ERR_USAGE, "'--load' is a percentage above 0 and up to 100, not '%s'", load);
		a->load = (uint32_t)(v * 1e4 + 0.5);
	}
	if (!a->config && !a->reference)
		return err_set(e, ERR_USAGE,
		               "'npusim probe dram' needs '-c FILE', a file of configs/dram, or"
		               " '--reference FILE'");
	return cmd_format(a->format, f, e);
}

static int dram_cmd_fn(int argc, char **argv, struct str *out, struct err *e)
{
	struct ask a = { .pattern = "seq", .path = "command" };
	struct opt_list args = { NULL, 0 };
	const char *load = NULL;
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &a.config, "CONFIG", "the memory: a file of configs/dram" },
		{ 'p', "pattern", OPT_TEXT, &a.pattern, "PATTERN",
		  "seq (default), write, random, random=BYTES, stride=BYTES,"
		  " mix=R:W, random-mix=R:W, copy, copy=BYTES, chase, chase-seq" },
		{ 0, "load", OPT_TEXT, &load, "PERCENT",
		  "bursts arrive at this share of the peak; else as many as fit" },
		{ 0, "poisson", OPT_FLAG, &a.poisson, NULL, "with --load: arrivals at random, not evenly" },
		{ 0, "map", OPT_TEXT, &a.map, "MAP", "RoBaRaCoCh, BGI, MOP4CLXOR, or fields as RoBaRaCoBgPcCh" },
		{ 0, "queue", OPT_COUNT, &a.queue, "N",
		  "reads, and writes, a channel's controller holds (default 32)" },
		{ 0, "channels", OPT_COUNT, &a.channels, "N", "as dram.channels" },
		{ 0, "path", OPT_TEXT, &a.path, "command|tile",
		  "command (default), or tile: the closed form machines run with" },
		{ 0, "tile", OPT_COUNT, &a.tile, "BYTES", "of a tile on the tile path (default 65536)" },
		{ 0, "tiles", OPT_FLAG, &a.tiles, NULL,
		  "instead: streams of tiles, the tile path beside the command path" },
		{ 'n', "bursts", OPT_COUNT, &a.bursts, "N", "how many (default: 40 refresh intervals of them)" },
		{ 's', "set", OPT_SETS, &a.sets, "KEY=VALUE", "change a parameter of the memory; may be repeated" },
		{ 0, "reference", OPT_READ, &a.reference, "FILE", "instead: every row of a file of measurements" },
		{ 0, "format", OPT_TEXT, &a.format, "table|csv|json", CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim probe dram -c FILE [-p PATTERN] [options]",
		"Sends one stream of bursts to a simulated memory and reports the share of its peak that it reaches, and the"
		" latency of its reads. On the command path every ACT, PRE, RD, WR and refresh is issued under all times of"
		" the device by a first-ready controller. With --reference all rows of a table of measured streams are run"
		" and compared; exit code 1 when a counted row is beyond its bound.",
		"npusim probe dram -c configs/dram/hbm3-6400.yaml --pattern random\n"
		"npusim probe dram -c configs/dram/lpddr5-6400.yaml --pattern seq --load 50 --format json\n"
		"npusim probe dram -c configs/dram/hbm3-6400.yaml --tiles --queue 128\n"
		"npusim probe dram --reference validate/data/dram/reference.csv\n",
		opts,
		0,
		0
	};
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = check_options(&a, load, &f, e)) == 0)
		rc = a.reference ? reference(&a, f, out, e)
		     : a.tiles   ? tile_streams(&a, f, out, e)
		                 : one_stream(&a, f, out, e);
	opt_list_free(&args);
	opt_list_free(&a.sets);
	return rc < 0 ? -1 : 0;
}
