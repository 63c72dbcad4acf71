/* config_check.c - npusim config check: what is wrong with machine files, and what a machine cannot do as it is written. */
#include "sim/cli/config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/design/design.h"
#include "sim/engine/diag.h"
#include "sim/engine/engine.h"

struct check {
	struct opt_list sets;
	const char *format;
	bool sources;
	struct str below; /* warnings, for people lines of their own */
};

static void warnings(struct doc *d, const char *path, const struct machine_cfg *c, struct str *below)
{
	struct diag_list diags = { .n = 0 };
	struct str text = STR_INIT;

	diag_machine(c, &diags);
	for (size_t i = 0; i < diags.n; i++)
		if (d->format == OUT_TABLE)
			str_addf(below, "%s: warning: %s\n", path, diags.v[i].text);
		else
			str_addf(&text, "%s%s", i ? "; " : "", diags.v[i].text);
	if (d->format != OUT_TABLE)
		doc_text(d, "warnings", str_c(&text));
	str_free(&text);
}

/* What the file leaves open of what matters most: an amount that nobody chose decides an answer as well as one that was. */
static void unsaid(struct doc *d, const char *path, const struct machine_conf *c, struct str *below)
{
	struct arena *a = arena_new(0);
	struct str text = STR_INIT;
	struct err none = ERR_INIT;
	const char **v;
	size_t n = 0;

	if (a && design_unsaid(c, a, &v, &n, &none) == 0)
		for (size_t i = 0; i < n; i++)
			str_addf(&text, "%s%s", i ? ", " : "", v[i]);
	if (d->format != OUT_TABLE)
		doc_text(d, "not_said", str_c(&text));
	else if (n)
		str_addf(below, "%s: not said, so by default: %s\n", path, str_c(&text));
	str_free(&text);
	arena_free(a);
}

struct row {
	const char *path;
	const struct machine_conf *c;
	struct str *below;
};

static void config_check_row(struct doc *d, const void *of, size_t i)
{
	const struct row *r = of;
	char hash[17];

	(void)i;
	hash_hex(cfg_hash(r->c->raw), hash);
	doc_text(d, "file", r->path);
	doc_text(d, "state", "ok");
	doc_text(d, "name", r->c->cfg.name);
	warnings(d, r->path, &r->c->cfg, r->below);
	unsaid(d, r->path, r->c, r->below);
	doc_text(d, "hash", hash);
}

/* The line of a value that its file gave without saying where it is from: "FILE:LINE" stands for it. 0: it said so. */
static int line_without_source(const struct cfg_row *r, const char *path)
{
	const size_t n = strlen(path);
	char *end;
	long line;

	if (!r->given || strncmp(r->source, path, n) != 0 || r->source[n] != ':')
		return 0;
	line = strtol(r->source + n + 1, &end, 10);
	return *end || line <= 0 || line > INT_MAX ? 0 : (int)line;
}

/* Of a device's file every number says where it is from. */
static int check_sources(const struct machine_conf *c, const char *path, struct err *e)
{
	struct str value = STR_INIT;

	for (size_t i = 0; i < cfg_count(c->raw); i++) {
		const struct cfg_row r = cfg_at(c->raw, i);
		const enum cfg_type t = r.field->type;
		const int line =
			t == CFG_T_STR || t == CFG_T_ENUM || t == CFG_T_BOOL ? 0 : line_without_source(&r, path);

		if (!line)
			continue;
		cfg_value(c->raw, i, &value);
		err_set(e, ERR_CONFIG, "'%s' does not say where %s is from: write {value: %s, source: \"...\"}", r.key,
		        str_c(&value), str_c(&value));
		str_free(&value);
		return err_at(e, path, line, 0);
	}
	return 0;
}

static int check_one(const char *path, struct check *o, struct doc *d, struct err *e)
{
	struct machine_conf *c = machine_conf_load(path, o->sets.v, o->sets.n, e);
	int rc = c ? engine_of(&c->cfg, RUN_EVENT)->stats(&c->cfg, NULL, NULL, e) : -1;

	if (rc == 0 && o->sources)
		rc = check_sources(c, path, e);
	if (rc == 0)
		doc_row(d, config_check_row, &(struct row){ path, c, &o->below }, 0);
	machine_conf_free(c);
	return rc;
}

/* Files are checked one by one: what is wrong with an early one must not hide what is wrong with a later one. */
static int do_config_check(void *options, const struct opt_list *files, struct doc *d, struct err *e)
{
	struct check *o = options;
	int failed = 0;

	doc_table_open(d, NULL, NULL);
	for (int i = 0; i < files->n; i++) {
		struct err one = ERR_INIT;

		if (check_one(files->v[i], o, d, &one) == 0)
			continue;
		if (failed++)
			cmd_complain(e);
		*e = one;
	}
	doc_table_close(d, NULL, NULL);
	if (failed == files->n)
		doc_drop(d);
	if (o->below.len)
		doc_say(d, "\n%s", str_c(&o->below));
	d->to->failed |= o->below.failed;
	str_free(&o->below);
	return failed ? -1 : 0;
}

int cmd_config_check(int argc, char **argv, struct str *out, struct err *e)
{
	struct check o = { .below = STR_INIT };
	const struct opt opts[] = {
		{ 's', "set", OPT_SETS, &o.sets, "KEY=VALUE",
		  "change a parameter, as if the file said so; may be repeated" },
		{ 0, "sources", OPT_FLAG, &o.sources, NULL,
		  "of a file that describes a real device: every number says where it is from" },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim config check FILE... [--set KEY=VALUE]...",
		"Reads machine configurations and builds each machine, without running anything. A fault is placed by"
		" file, line and column: an unknown key (with the nearest right one), a missing unit, a value out of its"
		" range, parameters that cannot go together. Nothing is repaired silently. Exit code 3 when a file is"
		" wrong. A machine that is sound but cannot work as its numbers promise gets a warning a line, with the"
		" numbers and what to change: a DMA or L2 that carries less than DRAM gives, too few bytes in flight for"
		" DRAM's bandwidth and latency, pins faster than their kind's standard, a die over a reticle, more DRAM than its"
		" edges have room for; 'npusim run' says the same, and which units no op fills. What the file does not say of the"
		" amounts that matter most is named with its default.",
		"npusim config check configs/npu/dsocr.yaml\n"
		"npusim config check configs/npu/*.yaml --set 'l2.size=64 MiB'\n",
		opts,
		1,
		-1
	};

	return cmd_do(&cmd, &o.format, do_config_check, &o, argc, argv, out, e);
}
