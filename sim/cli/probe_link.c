/* probe_link.c - npusim probe link: collectives over a system's links by size, or beside what was measured. */
#include <string.h>

#include "arch/machine/machine_conf.h"
#include "sim/cli/cmd.h"
#include "sim/report/probe_link_doc.h"

struct options {
	const char *config, *collective, *bytes, *beside, *format;
	struct opt_list sets;
	uint64_t chips;
	bool engine;
};

/* --- what is asked ----------------------------------------------------------------------------------------------- */

static int find_collective(const struct options *o, struct probe_link_doc *p, struct err *e)
{
	const char *near = NULL;

	p->what = o->beside ? LINK_COLLECTIVE_COUNT : LINK_ALL_REDUCE;
	if (!o->collective || link_collective_find(o->collective, &p->what, &near))
		return 0;
	return err_set(e, ERR_USAGE,
	               "unknown collective '%s'%s%s%s: all-reduce, all-gather, reduce-scatter, all-to-all, broadcast or"
	               " send",
	               o->collective, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int find_bytes(const struct options *o, uint64_t *bytes, struct err *e)
{
	*bytes = 0;
	if (!o->bytes)
		return 0;
	if (cfg_parse_value(CFG_T_BYTES, o->bytes, bytes, e) < 0) {
		e->kind = ERR_USAGE;
		return err_add(e, "reading option '--bytes'");
	}
	if (*bytes && *bytes <= PROBE_LINK_MOST_BYTES)
		return 0;
	return err_set(e, ERR_USAGE, "a message has 1 B to 64 TiB, for option '--bytes'");
}

static int probe_links(const struct options *o, const struct link_cfg *of, struct arena *a, struct probe_link_doc *p,
                       struct err *e)
{
	struct link_cfg links = *of;
	uint64_t bytes;

	/* A library's own collectives, unless an engine is meant: what is measured by benchmarks, too. */
	if (links.direct == LINK_DIRECT_ALL_REDUCE && !o->engine)
		links.direct = LINK_DIRECT_NONE;
	if (!links.bandwidth)
		return err_set(e, ERR_CONFIG,
		               "'%s' has no links: --set 'links.bandwidth=450 GB/s', or a system of configs/system",
		               o->config);
	p->chips = o->chips ? (uint32_t)o->chips : links.chips;
	if (find_collective(o, p, e) < 0 || find_bytes(o, &bytes, e) < 0)
		return -1;
	if (o->beside)
		return probe_link_table(o->beside, p->what, (uint32_t)o->chips, a, &p->x, e) < 0
		               ? -1
		               : probe_link_run(&links, &p->x, e);
	if (p->chips < 2)
		return err_set(e, ERR_USAGE, "on how many chips? --chips 4, or --set links.chips=4");
	return probe_link_sizes(p->what, p->chips, bytes, a, &p->x, e) < 0 ? -1 : probe_link_run(&links, &p->x, e);
}

static int check_options(const struct options *o, struct err *e)
{
	if (!o->config)
		return err_set(e, ERR_USAGE, "the system is missing: -c hgx-h200, say");
	if (o->chips == 1 || o->chips > LINK_MAX_CHIPS)
		return err_set(e, ERR_USAGE, "a collective has 2 to %d chips, for option '--chips'", LINK_MAX_CHIPS);
	if (o->beside && o->bytes)
		return err_set(e, ERR_USAGE, "option '--bytes' is of a probe alone: a table has its own sizes");
	return 0;
}

static int probe_link(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct machine_conf *c;
	struct arena *a;
	int rc = -1;

	(void)args;
	if (check_options(o, e) < 0 || !(c = machine_conf_load(o->config, o->sets.v, o->sets.n, e)))
		return -1;
	if (!(a = arena_new(0))) {
		err_nomem(e, "for a probe");
	} else {
		struct probe_link_doc p = { .machine = c->cfg.name, .beside = o->beside };

		if ((rc = probe_links(o, &c->cfg.links, a, &p, e)) == 0)
			probe_link_doc(d, &p);
	}
	arena_free(a);
	machine_conf_free(c);
	return rc;
}

int cmd_probe_link(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .config = NULL };
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &o.config, "CONFIG",
		  "the system: a machine with 'links', as those in configs/system" },
		{ 0, "collective", OPT_TEXT, &o.collective, "NAME",
		  "all-reduce (default), all-gather, reduce-scatter, all-to-all, broadcast or send; beside a table all it has" },
		{ 0, "chips", OPT_COUNT, &o.chips, "N", "chips that take part; by default all of the system" },
		{ 0, "bytes", OPT_TEXT, &o.bytes, "SIZE",
		  "of the message ('64 KiB'); of all-gather and reduce-scatter gathered, of all-to-all what a chip holds. By default"
		  " 1 KiB to 512 MiB" },
		{ 0, "engine", OPT_FLAG, &o.engine, NULL,
		  "as an inference engine calls it: with its own all-reduce where the system says one (links.direct)" },
		{ 0, "beside", OPT_READ, &o.beside, "TABLE",
		  "hold it against measured times: CSV with the columns op, gpus, bytes and us" },
		{ 's', "set", OPT_SETS, &o.sets, "KEY=VALUE", "change a parameter of the system; may be repeated" },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim probe link -c SYSTEM [--collective NAME] [--chips N] [--bytes SIZE | --beside TABLE] [options]",
		"What a collective takes over the links of a system, by size of the message: the algorithm and protocol that are"
		" fastest, its steps, and the bytes that a chip sends. 'npusim config explain links' has the parameters.",
		"npusim probe link -c hgx-h200 --collective all-reduce\n"
		"npusim probe link -c hgx-h200 --chips 4 --bytes '256 KiB' --engine --format json\n"
		"npusim probe link -c hgx-h200 --beside validate/data/links/nccl_h200.csv\n"
		"npusim probe link -c tpu-v6e-8 --collective all-to-all\n"
		"npusim probe link -c dsocr --chips 4 --set 'links.bandwidth=450 GB/s' --set links.topology=ring\n",
		opts,
		0,
		0
	};

	return cmd_do(&cmd, &o.format, probe_link, &o, argc, argv, out, e);
}
