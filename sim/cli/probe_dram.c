/* probe_dram.c - npusim probe dram: streams of bursts, and of tiles, on one simulated DRAM. */
#include "sim/cli/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/report/probe_dram_doc.h"

#define QUEUE 32 /* entries of the measured controllers (validate/data/dram/README.md) */
#define DRAWS 16 /* of arrivals, for a row at capacity */

/* --- one stream -------------------------------------------------------------------------------------------- */

struct ask {
	const char *config, *pattern, *map, *path, *format, *reference, *load_text;
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

static int one_stream(const struct ask *a, struct doc *d, struct err *e)
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
	probe_dram_doc(d, &(struct probe_dram_doc){ a->config, a->pattern, a->path, a->load != 0, &r });
	return 0;
}

static int reference(const struct ask *a, struct doc *d, struct err *e)
{
	struct probe_class_sum sums[PROBE_CLASSES];
	struct probe_ref f = { NULL, 0 };
	int rc = probe_ref_load(&f, a->reference, e), beyond;

	for (size_t i = 0; rc == 0 && i < f.n; i++)
		rc = probe_ref_run(&f.row[i], a->bursts, e);
	if (rc == 0)
		rc = probe_ref_doc(d, &f, DRAWS, e);
	if (rc == 0 && (beyond = probe_ref_sum(&f, sums)))
		rc = err_set(e, ERR_BOUND, "%d counted rows differ from the reference by more than their class's bound",
		             beyond);
	probe_ref_free(&f);
	return rc;
}

static int tile_streams(const struct ask *a, struct doc *d, struct err *e)
{
	const struct probe_tiles *known;
	struct dram_cfg c;
	int rc = load_config(a, &c, e);

	if (rc < 0)
		return -1;
	doc_table_open(d, NULL, NULL);
	for (size_t i = 0; rc == 0 && (known = probe_tiles_known(i)); i++)
		for (uint64_t kib = 64; rc == 0 && kib >= 4; kib /= 4) {
			struct probe_tiles_doc x = { known->name, kib, { 0, 0 } };

			if ((rc = probe_tiles_of(&c, known, kib, a->bursts, &x.r, e)) == 0)
				doc_row(d, probe_tiles_doc, &x, 0);
		}
	doc_table_close(d, probe_tiles_doc, NULL);
	if (rc < 0)
		doc_drop(d);
	return rc;
}

/* --- command ----------------------------------------------------------------------------------------------- */

static int check_options(struct ask *a, struct err *e)
{
	const char *load = a->load_text;
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
	return 0;
}

static int dram(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct ask *a = options;

	(void)args;
	if (check_options(a, e) < 0)
		return -1;
	return a->reference ? reference(a, d, e) : a->tiles ? tile_streams(a, d, e) : one_stream(a, d, e);
}

int cmd_probe_dram(int argc, char **argv, struct str *out, struct err *e)
{
	struct ask a = { .pattern = "seq", .path = "command" };
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &a.config, "CONFIG", "the memory: a file of configs/dram" },
		{ 'p', "pattern", OPT_TEXT, &a.pattern, "PATTERN",
		  "seq (default), write, random, random=BYTES, stride=BYTES,"
		  " mix=R:W, random-mix=R:W, copy, copy=BYTES, chase, chase-seq" },
		{ 0, "load", OPT_TEXT, &a.load_text, "PERCENT",
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
		{ 0, "format", OPT_TEXT, &a.format, CMD_FORMATS, CMD_FORMAT_HELP },
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

	return cmd_do(&cmd, &a.format, dram, &a, argc, argv, out, e);
}
