/* probe_link.c - npusim probe link: collectives over a system's links by size, or beside what was measured. */
#include "sim/cli/probe_link.h"

#include "arch/machine/machine_conf.h"
#include "sim/report/probe_link_doc.h"

struct options {
	struct probe_link_options probe;
	const char *format;
};

/* LINK_COLLECTIVE_COUNT: all of a table. */
static int find_collective(const struct probe_link_options *o, bool all, enum link_collective *what, struct err *e)
{
	const char *near = NULL;

	*what = all && o->beside ? LINK_COLLECTIVE_COUNT : LINK_ALL_REDUCE;
	if (!o->collective || link_collective_find(o->collective, what, &near))
		return 0;
	return err_set(e, ERR_USAGE,
	               "unknown collective '%s'%s%s%s: all-reduce, all-gather, reduce-scatter, all-to-all, broadcast or"
	               " send",
	               o->collective, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int find_bytes(const struct probe_link_options *o, uint64_t *bytes, struct err *e)
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

static int probe_links(const struct probe_link_options *o, bool all, const struct link_cfg *of, struct arena *a,
                       struct probe_link *x, struct err *e)
{
	const uint32_t chips = o->chips ? (uint32_t)o->chips : of->chips;
	struct link_cfg links = *of;
	enum link_collective what;
	uint64_t bytes;

	/* A library's own collectives, unless an engine is meant: what is measured by benchmarks, too. */
	if (links.direct == LINK_DIRECT_ALL_REDUCE && !o->engine)
		links.direct = LINK_DIRECT_NONE;
	if (!links.bandwidth)
		return err_set(e, ERR_CONFIG,
		               "'%s' has no links: --set 'links.bandwidth=450 GB/s', or a system of configs/system",
		               o->config);
	if (find_collective(o, all, &what, e) < 0 || find_bytes(o, &bytes, e) < 0)
		return -1;
	if (!o->beside && chips < 2)
		return err_set(e, ERR_USAGE, "on how many chips? --chips 4, or --set links.chips=4");
	if ((o->beside ? probe_link_table(o->beside, what, (uint32_t)o->chips, a, x, e)
	               : probe_link_sizes(what, chips, bytes, a, x, e)) < 0)
		return -1;
	return probe_link_run(&links, x, e);
}

static int check_options(const struct probe_link_options *o, struct err *e)
{
	if (!o->config)
		return err_set(e, ERR_USAGE, "the system is missing: -c hgx-h200, say");
	if (o->chips == 1 || o->chips > LINK_MAX_CHIPS)
		return err_set(e, ERR_USAGE, "a collective has 2 to %d chips, for option '--chips'", LINK_MAX_CHIPS);
	if (o->beside && o->bytes)
		return err_set(e, ERR_USAGE, "option '--bytes' is of a probe alone: a table has its own sizes");
	return 0;
}

int probe_link_ask(const struct probe_link_options *o, bool all, struct arena *a, const char **name,
                   struct probe_link *x, struct err *e)
{
	struct machine_conf *c = NULL;
	int rc = check_options(o, e);

	if (rc == 0 && !(c = machine_conf_load(o->config, o->sets.v, o->sets.n, e)))
		rc = -1;
	if (rc == 0 && !(*name = arena_strdup(a, c->cfg.name)))
		rc = err_nomem(e, "for a probe");
	if (rc == 0)
		rc = probe_links(o, all, &c->cfg.links, a, x, e);
	machine_conf_free(c);
	return rc;
}

static int probe(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct arena *a = arena_new(0);
	const char *name;
	struct probe_link x;
	int rc = a ? probe_link_ask(&o->probe, true, a, &name, &x, e) : err_nomem(e, "for a probe");

	(void)args;
	if (rc == 0)
		probe_link_doc(d, &(struct probe_link_doc){ name, o->probe.beside, &x });
	arena_free(a);
	return rc;
}

int cmd_probe_link(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .format = NULL };
	const struct opt opts[] = {
		PROBE_LINK_OPTS(&o.probe),
		{ 0, "bytes", OPT_TEXT, &o.probe.bytes, "SIZE",
		  "of the message ('64 KiB'); of all-gather and reduce-scatter gathered, of all-to-all what a chip holds. By default"
		  " 1 KiB to 512 MiB" },
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

	return cmd_do(&cmd, &o.format, probe, &o, argc, argv, out, e);
}
