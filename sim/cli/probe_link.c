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

static void sweep_table(const struct probe *p, enum out_format f, struct str *out)
{
	static const struct out_col cols[] = {
		{ "bytes", OUT_BYTES, 0 },   { "us", OUT_REAL, 2 },        { "gbps", OUT_REAL, 1 },
		{ "bus_gbps", OUT_REAL, 1 }, { "algorithm", OUT_TEXT, 0 }, { "as", OUT_TEXT, 0 },
		{ "steps", OUT_INT, 0 },     { "sent_bytes", OUT_INT, 0 }, { "call_us", OUT_REAL, 2 },
		{ "steps_us", OUT_REAL, 2 }, { "links_us", OUT_REAL, 2 },  { "own_us", OUT_REAL, 2 },
	};
	struct out_table *t = out_table_new(cols, COLS(cols), NULL);

	for (size_t i = 0; i < p->x.n; i++) {
		const struct probe_link_row *r = &p->x.row[i];

		out_int(t, (int64_t)r->ask.bytes);
		out_real(t, us(r->time.total));
		out_real(t, probe_link_gbps(r));
		out_real(t, probe_link_bus_gbps(r));
		out_text(t, link_algorithm_name(r->time.by));
		out_text(t, link_protocol_name(r->time.as));
		out_int(t, r->time.n_steps);
		out_int(t, (int64_t)r->time.sent);
		out_real(t, us(r->time.start));
		out_real(t, us(r->time.steps));
		out_real(t, us(r->time.wire));
		out_real(t, us(r->time.own));
	}
	out_table_write(t, f, out);
	out_table_free(t);
}

static void beside_table(const struct probe *p, enum out_format f, struct str *out)
{
	static const struct out_col cols[] = {
		{ "collective", OUT_TEXT, 0 },  { "chips", OUT_INT, 0 },         { "bytes", OUT_BYTES, 0 },
		{ "measured_us", OUT_REAL, 2 }, { "simulated_us", OUT_REAL, 2 }, { "error_pct", OUT_REAL, 1 },
		{ "algorithm", OUT_TEXT, 0 },   { "as", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, COLS(cols), NULL);

	for (size_t i = 0; i < p->x.n; i++) {
		const struct probe_link_row *r = &p->x.row[i];

		out_text(t, link_collective_name(r->ask.what));
		out_int(t, r->ask.chips);
		out_int(t, (int64_t)r->ask.bytes);
		out_real(t, r->us);
		out_real(t, us(r->time.total));
		out_real(t, percent(r));
		out_text(t, link_algorithm_name(r->time.by));
		out_text(t, link_protocol_name(r->time.as));
	}
	out_table_write(t, f, out);
	out_table_free(t);
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

static void errors_table(const struct probe *p, struct str *out)
{
	static const struct out_col cols[] = {
		{ "collective", OUT_TEXT, 0 }, { "chips", OUT_INT, 0 },     { "rows", OUT_INT, 0 },
		{ "mean_pct", OUT_REAL, 1 },   { "most_pct", OUT_REAL, 1 },
	};
	struct out_table *t = out_table_new(cols, COLS(cols), NULL);
	uint32_t chips = 0;

	for (int what = 0; next_group(p, &what, &chips);) {
		const struct probe_link_error x = probe_link_judge(&p->x, (enum link_collective)what, chips);

		out_text(t, link_collective_name((enum link_collective)what));
		out_int(t, chips);
		out_int(t, (int64_t)x.n);
		out_real(t, 100 * x.mean);
		out_real(t, 100 * x.most);
	}
	str_addc(out, '\n');
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
	if (p->x.left_out)
		str_addf(out, "%zu rows of '%s' are no collectives\n", p->x.left_out, p->beside);
}

static void errors_json(const struct probe *p, struct out_json *j)
{
	uint32_t chips = 0;

	out_json_open(j, "errors", '[');
	for (int what = 0; next_group(p, &what, &chips);) {
		const struct probe_link_error x = probe_link_judge(&p->x, (enum link_collective)what, chips);

		out_json_open(j, NULL, '{');
		out_json_text(j, "collective", link_collective_name((enum link_collective)what));
		out_json_u64(j, "chips", chips);
		out_json_u64(j, "n", x.n);
		out_json_real(j, "mape", 100 * x.mean);
		out_json_real(j, "max_ape", 100 * x.most);
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
}

static void fields(struct out_json *j, const struct probe_link_row *r)
{
	out_json_text(j, "collective", link_collective_name(r->ask.what));
	out_json_u64(j, "chips", r->ask.chips);
	out_json_u64(j, "bytes", r->ask.bytes);
	out_json_real(j, "mean_ns", (double)r->time.total / 1e3);
	out_json_real(j, "gbps", probe_link_gbps(r));
	out_json_real(j, "bus_gbps", probe_link_bus_gbps(r));
	out_json_text(j, "algorithm", link_algorithm_name(r->time.by));
	out_json_text(j, "protocol", link_protocol_name(r->time.as));
	out_json_u64(j, "steps", r->time.n_steps);
	out_json_u64(j, "sent_bytes", r->time.sent);
	if (r->us > 0) {
		out_json_real(j, "measured_ns", r->us * 1e3);
		out_json_real(j, "error_pct", percent(r));
	}
}

/* The last point's fields stand on top, too: the largest message. */
static void print_json(const struct probe *p, struct str *out)
{
	struct out_json j;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_text(&j, "probe", "link");
	out_json_text(&j, "machine", p->machine);
	out_json_text(&j, "beside", p->beside);
	fields(&j, &p->x.row[p->x.n - 1]);
	if (p->beside)
		errors_json(p, &j);
	out_json_open(&j, "points", '[');
	for (size_t i = 0; i < p->x.n; i++) {
		out_json_open(&j, NULL, '{');
		fields(&j, &p->x.row[i]);
		out_json_close(&j, '}');
	}
	out_json_close(&j, ']');
	out_json_close(&j, '}');
}

static void print(const struct probe *p, enum out_format f, struct str *out)
{
	if (f == OUT_JSON) {
		print_json(p, out);
	} else if (p->beside) {
		beside_table(p, f, out);
		if (f == OUT_TABLE)
			errors_table(p, out);
	} else {
		if (f == OUT_TABLE)
			str_addf(out, "%s: %s on %u chips\n\n", p->machine, link_collective_name(p->what), p->chips);
		sweep_table(p, f, out);
	}
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

static int cmd_probe_link_run(const struct options *o, enum out_format f, struct str *out, struct err *e)
{
	struct machine_conf *c = machine_conf_load(o->config, o->sets.v, o->sets.n, e);
	struct arena *a = arena_new(0);
	int rc = -1;

	if (c && !a) {
		err_nomem(e, "for a probe");
	} else if (c) {
		struct probe p = { .machine = c->cfg.name, .beside = o->beside };

		if ((rc = probe_links(o, &c->cfg.links, a, &p, e)) == 0)
			print(&p, f, out);
	}
	arena_free(a);
	machine_conf_free(c);
	return rc;
}

static int check_options(const struct options *o, enum out_format *f, struct err *e)
{
	if (!o->config)
		return err_set(e, ERR_USAGE, "the system is missing: -c hgx-h200, say");
	if (o->chips == 1 || o->chips > LINK_MAX_CHIPS)
		return err_set(e, ERR_USAGE, "a collective has 2 to %d chips, for option '--chips'", LINK_MAX_CHIPS);
	if (o->beside && o->bytes)
		return err_set(e, ERR_USAGE, "option '--bytes' is of a probe alone: a table has its own sizes");
	return cmd_format(o->format, f, e);
}

int cmd_probe_link(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .config = NULL };
	struct opt_list args = { NULL, 0 };
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
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP },
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
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = check_options(&o, &f, e)) == 0)
		rc = cmd_probe_link_run(&o, f, out, e);
	opt_list_free(&args);
	opt_list_free(&o.sets);
	return rc < 0 ? -1 : 0;
}
