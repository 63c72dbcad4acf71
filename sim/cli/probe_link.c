/* probe_link.c - npusim probe link: collectives over a system's links by size, or beside what was measured. */
#include <string.h>

#include "arch/machine/machine_conf.h"
#include "sim/accuracy/probe_link.h"
#include "sim/cli/cmd.h"

#define COLS(a) ((int)(sizeof(a) / sizeof *(a)))

struct options {
	const char *config, *collective, *bytes, *beside, *format;
	struct opt_list sets;
	uint64_t chips;
	bool engine;
};

/* What is asked, resolved. */
struct probe {
	const char *machine, *beside;
	enum link_collective what; /* LINK_COLLECTIVE_COUNT: all of a table */
	uint32_t chips;
	struct probe_link x;
};

static double us(ps_t t)
{
	return (double)t / 1e6;
}

static double percent(const struct probe_link_row *r)
{
	return 100 * (us(r->time.total) / r->us - 1);
}

/* --- what is printed --------------------------------------------------------------------------------------------- */

/* A message, or a measured one. */
static void link_row(struct doc *d, const void *of, size_t i)
{
	const struct probe *p = of;
	const struct probe_link_row *r = &p->x.row[i];

	if (p->beside) {
		doc_text(d, "collective", link_collective_name(r->ask.what));
		doc_count(d, "chips", r->ask.chips);
	}
	doc_bytes(d, "bytes", r->ask.bytes);
	if (p->beside) {
		doc_real(d, "measured_us", 2, r->us);
		doc_real(d, "simulated_us", 2, us(r->time.total));
		doc_real(d, "error_pct", 1, percent(r));
	} else {
		doc_real(d, "us", 2, us(r->time.total));
		doc_real(d, "gbps", 1, probe_link_gbps(r));
		doc_real(d, "bus_gbps", 1, probe_link_bus_gbps(r));
	}
	doc_text(d, "algorithm", link_algorithm_name(r->time.by));
	doc_text(d, "as", link_protocol_name(r->time.as));
	if (p->beside)
		return;
	doc_count(d, "steps", r->time.n_steps);
	doc_count(d, "sent_bytes", r->time.sent);
	doc_real(d, "call_us", 2, us(r->time.start));
	doc_real(d, "steps_us", 2, us(r->time.steps));
	doc_real(d, "links_us", 2, us(r->time.wire));
	doc_real(d, "own_us", 2, us(r->time.own));
}

/* Each collective on each number of chips that there are rows of, in order; false: there is none behind. */
static bool next_group(const struct probe *p, int *what, uint32_t *chips)
{
	for (; *what < LINK_COLLECTIVE_COUNT; ++*what, *chips = 0) {
		uint32_t next = UINT32_MAX;

		for (size_t i = 0; i < p->x.n; i++)
			if ((int)p->x.row[i].ask.what == *what && p->x.row[i].ask.chips > *chips &&
			    p->x.row[i].ask.chips < next)
				next = p->x.row[i].ask.chips;
		if (next != UINT32_MAX) {
			*chips = next;
			return true;
		}
	}
	return false;
}

struct errors {
	uint32_t chips;
	struct probe_link_error x;
};

static void error_row(struct doc *d, const void *of, size_t what)
{
	const struct errors *r = of;
	const bool json = d->format == OUT_JSON;

	doc_text(d, "collective", link_collective_name((enum link_collective)what));
	doc_count(d, "chips", r->chips);
	doc_count(d, json ? "n" : "rows", r->x.n);
	doc_real(d, json ? "mape" : "mean_pct", 1, 100 * r->x.mean);
	doc_real(d, json ? "max_ape" : "most_pct", 1, 100 * r->x.most);
}

static void errors(struct doc *d, const struct probe *p)
{
	struct errors r = { .chips = 0 };

	doc_say(d, "\n");
	doc_table_open(d, "errors", NULL);
	for (int what = 0; next_group(p, &what, &r.chips);) {
		r.x = probe_link_judge(&p->x, (enum link_collective)what, r.chips);
		doc_row(d, error_row, &r, (size_t)what);
	}
	doc_table_close(d, error_row, &r);
	if (p->x.left_out)
		doc_say(d, "%zu rows of '%s' are no collectives\n", p->x.left_out, p->beside);
}

static void point_row(struct doc *d, const void *of, size_t i)
{
	const struct probe_link_row *r = (const struct probe_link_row *)of + i;

	doc_text(d, "collective", link_collective_name(r->ask.what));
	doc_count(d, "chips", r->ask.chips);
	doc_count(d, "bytes", r->ask.bytes);
	doc_real(d, "mean_ns", 0, (double)r->time.total / 1e3);
	doc_real(d, "gbps", 0, probe_link_gbps(r));
	doc_real(d, "bus_gbps", 0, probe_link_bus_gbps(r));
	doc_text(d, "algorithm", link_algorithm_name(r->time.by));
	doc_text(d, "protocol", link_protocol_name(r->time.as));
	doc_count(d, "steps", r->time.n_steps);
	doc_count(d, "sent_bytes", r->time.sent);
	if (r->us > 0) {
		doc_real(d, "measured_ns", 0, r->us * 1e3);
		doc_real(d, "error_pct", 0, percent(r));
	}
}

/* In JSON the last point's fields stand on top, too: the largest message. */
static void put(struct doc *d, const struct probe *p)
{
	if (d->format == OUT_JSON) {
		doc_open(d, NULL, '{');
		doc_text(d, "probe", "link");
		doc_text(d, "machine", p->machine);
		doc_text(d, "beside", p->beside);
		point_row(d, p->x.row, p->x.n - 1);
		if (p->beside)
			errors(d, p);
		doc_table(d, "points", NULL, p->x.n, point_row, p->x.row);
		doc_close(d, '}');
		return;
	}
	if (!p->beside)
		doc_say(d, "%s: %s on %u chips\n\n", p->machine, link_collective_name(p->what), p->chips);
	doc_table(d, NULL, NULL, p->x.n, link_row, p);
	if (p->beside)
		errors(d, p);
}

/* --- what is asked ----------------------------------------------------------------------------------------------- */

static int find_collective(const struct options *o, struct probe *p, struct err *e)
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

static int probe_links(const struct options *o, const struct link_cfg *of, struct arena *a, struct probe *p,
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
		struct probe p = { .machine = c->cfg.name, .beside = o->beside };

		if ((rc = probe_links(o, &c->cfg.links, a, &p, e)) == 0)
			put(d, &p);
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
