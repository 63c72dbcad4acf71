/* config.c - npusim config: check, show, explain and diff. All walk the rows of sim/base/cfg.h. */
#include "sim/cli/cmd.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "arch/power/tech.h"
#include "sim/base/hash.h"
#include "sim/engine/engine.h"
#include "sim/engine/says.h"

static cmd_fn check_cmd, show_cmd, explain_cmd, diff_cmd, tech_cmd;

const struct cmd cmd_config_table[] = {
	{ "check", check_cmd, NULL, "read machine files and say what is wrong with them" },
	{ "show", show_cmd, NULL, "a machine with every parameter resolved" },
	{ "explain", explain_cmd, NULL, "what a parameter means, its unit, range, and where its number is from" },
	{ "diff", diff_cmd, NULL, "the parameters in which two machines differ" },
	{ "peaks", cmd_config_peaks, NULL,
	  "what a machine multiplies at most by format, and the ridges of its roofline" },
	{ "area", cmd_config_area, NULL, "what a machine's blocks take of its die" },
	{ "tech", tech_cmd, NULL, "energy and area of a process, of DRAM and of links, with their sources" },
	{ NULL, NULL, NULL, NULL }
};

static struct machine_conf *load(const char *path, const struct opt_list *sets, struct err *e)
{
	return machine_conf_load(path, sets ? sets->v : NULL, sets ? sets->n : 0, e);
}

/* --- check ------------------------------------------------------------------------------------------------- */

/* Warnings are lines of their own for people, and a column for programs. */
struct checked {
	struct out_table *rows;
	bool table;
	struct str below;
};

static void put_warnings(struct checked *to, const char *path, const struct machine_cfg *c)
{
	struct says_list says = { .n = 0 };
	struct str text = STR_INIT;

	says_machine(c, &says);
	for (size_t i = 0; i < says.n; i++)
		if (to->table)
			str_addf(&to->below, "%s: warning: %s\n", path, says.v[i].text);
		else
			str_addf(&text, "%s%s", i ? "; " : "", says.v[i].text);
	if (!to->table)
		out_text(to->rows, str_c(&text));
	str_free(&text);
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

static int check_one(const char *path, const struct opt_list *sets, bool sources, struct checked *to, struct err *e)
{
	struct machine_conf *c = load(path, sets, e);
	char hash[17];
	int rc = c ? engine_of(&c->cfg, RUN_EVENT)->stats(&c->cfg, NULL, NULL, e) : -1;

	if (rc == 0 && sources)
		rc = check_sources(c, path, e);

	if (rc == 0) {
		hash_hex(cfg_hash(c->raw), hash);
		out_text(to->rows, path);
		out_text(to->rows, "ok");
		out_text(to->rows, c->cfg.name);
		put_warnings(to, path, &c->cfg);
		out_text(to->rows, hash);
	}
	machine_conf_free(c);
	return rc;
}

/* Files are checked one by one: what is wrong with an early one must not hide what is wrong with a later one. */
static int check_all(const struct opt_list *files, const struct opt_list *sets, bool sources, enum out_format f,
                     struct str *out, struct err *e)
{
	static const struct out_col table[] = {
		{ "file", OUT_TEXT, 0 },
		{ "state", OUT_TEXT, 0 },
		{ "name", OUT_TEXT, 0 },
		{ "hash", OUT_TEXT, 0 },
	}, data[] = {
		{ "file", OUT_TEXT, 0 },     { "state", OUT_TEXT, 0 }, { "name", OUT_TEXT, 0 },
		{ "warnings", OUT_TEXT, 0 }, { "hash", OUT_TEXT, 0 },
	};
	struct checked to = { .table = f == OUT_TABLE, .below = STR_INIT };
	int failed = 0;

	to.rows = to.table ? out_table_new(table, sizeof table / sizeof *table, NULL)
	                   : out_table_new(data, sizeof data / sizeof *data, NULL);
	for (int i = 0; i < files->n; i++) {
		struct err one = ERR_INIT;

		if (check_one(files->v[i], sets, sources, &to, &one) == 0)
			continue;
		if (failed++)
			cmd_complain(e);
		*e = one;
	}
	if (failed < files->n)
		out_table_write(to.rows, f, out);
	if (to.below.len) {
		str_addc(out, '\n');
		str_addn(out, to.below.p, to.below.len);
	}
	out->failed |= to.below.failed;
	str_free(&to.below);
	out_table_free(to.rows);
	return failed ? -1 : 0;
}

static int check_cmd(int argc, char **argv, struct str *out, struct err *e)
{
	struct opt_list files = { NULL, 0 }, sets = { NULL, 0 };
	const char *format = NULL;
	bool sources = false;
	const struct opt opts[] = {
		{ 's', "set", OPT_SETS, &sets, "KEY=VALUE",
		  "change a parameter, as if the file said so; may be repeated" },
		{ 0, "sources", OPT_FLAG, &sources, NULL,
		  "of a file that describes a real device: every number says where it is from" },
		{ 0, "format", OPT_TEXT, &format, "table|csv|json", CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim config check FILE... [--set KEY=VALUE]...",
		"Reads machine configurations and builds each machine, without running anything. A fault is placed by"
		" file, line and column: an unknown key (with the nearest right one), a missing unit, a value out of its"
		" range, parameters that cannot go together. Nothing is repaired silently. Exit code 3 when a file is"
		" wrong. A machine that is sound but cannot work as its numbers promise gets a warning a line, with the"
		" numbers and what to change: a DMA or L2 that carries less than DRAM gives, too few bytes in flight for"
		" DRAM's bandwidth and latency, pins faster than their kind's standard; 'npusim run' says the same, and"
		" which units no op fills.",
		"npusim config check configs/npu/dsocr.yaml\n"
		"npusim config check configs/npu/*.yaml --set 'l2.size=64 MiB'\n",
		opts,
		1,
		-1
	};
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &files, out, e);

	if (rc == 0 && (rc = cmd_format(format, &f, e)) == 0)
		rc = check_all(&files, &sets, sources, f, out, e);
	opt_list_free(&files);
	opt_list_free(&sets);
	return rc < 0 ? -1 : 0;
}

/* --- show -------------------------------------------------------------------------------------------------- */

/* The unit of a value as it is written: what follows its number. */
static const char *unit_of(const char *value)
{
	const char *space = strchr(value, ' ');

	return space ? space + 1 : "";
}

static bool has_unit(enum cfg_type t)
{
	return t == CFG_T_BYTES || t == CFG_T_RATE || t == CFG_T_FREQ || t == CFG_T_PS || t == CFG_T_ENERGY ||
	       t == CFG_T_POWER || t == CFG_T_AREA;
}

static void show_rows(const struct cfg *c, enum out_format f, struct str *out)
{
	static const struct out_col cols[] = {
		{ "key", OUT_TEXT, 0 },   { "value", OUT_TEXT, 0 },  { "unit", OUT_TEXT, 0 },
		{ "given", OUT_TEXT, 0 }, { "source", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);
	struct str value = STR_INIT;

	for (size_t i = 0; i < cfg_count(c); i++) {
		struct cfg_row r = cfg_at(c, i);
		bool unit = has_unit(r.field->type);

		str_clear(&value);
		cfg_value(c, i, &value);
		out_text(t, r.key);
		out_text(t, str_c(&value));
		out_text(t, unit ? unit_of(str_c(&value)) : "");
		out_text(t, r.given ? "yes" : "no");
		out_text(t, r.source);
	}
	out_table_write(t, f, out);
	out->failed |= value.failed;
	str_free(&value);
	out_table_free(t);
}

static int show(const char *path, const struct opt_list *sets, enum out_format f, struct str *out, struct err *e)
{
	struct machine_conf *c = load(path, sets, e);

	if (!c)
		return -1;
	if (f == OUT_TABLE)
		cfg_dump(c->raw, out);
	else
		show_rows(c->raw, f, out);
	machine_conf_free(c);
	return 0;
}

static int show_cmd(int argc, char **argv, struct str *out, struct err *e)
{
	struct opt_list args = { NULL, 0 }, sets = { NULL, 0 };
	const char *format = NULL;
	const struct opt opts[] = {
		{ 's', "set", OPT_SETS, &sets, "KEY=VALUE", "change a parameter first; may be repeated" },
		{ 0, "format", OPT_TEXT, &format, "yaml|csv|json",
		  "yaml, the default, reads back to the same machine; csv and"
		  " json have a row a parameter and say which were given, and by whom" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim config show FILE [--set KEY=VALUE]...",
		"A machine with nothing left open: what the file gives, what the named memory (dram.kind) fills in, what --set"
		" changes, and the defaults of all the rest.",
		"npusim config show configs/npu/dsocr.yaml\n"
		"npusim config show configs/npu/edge.yaml --set 'dram.bandwidth=400 GB/s' --format csv\n",
		opts,
		1,
		1
	};
	enum out_format f = OUT_TABLE;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && format && strcmp(format, "yaml") != 0)
		rc = cmd_format(format, &f, e);
	if (rc == 0)
		rc = show(args.v[0], &sets, f, out, e);
	opt_list_free(&args);
	opt_list_free(&sets);
	return rc < 0 ? -1 : 0;
}

/* --- explain ----------------------------------------------------------------------------------------------- */

static const char *type_name(enum cfg_type t)
{
	switch (t) {
	case CFG_T_U32:
	case CFG_T_U64:
		return "count";
	case CFG_T_BOOL:
		return "switch";
	case CFG_T_BYTES:
		return "bytes";
	case CFG_T_RATE:
		return "bytes a second";
	case CFG_T_FREQ:
		return "frequency";
	case CFG_T_PS:
		return "time";
	case CFG_T_ENERGY:
		return "energy";
	case CFG_T_POWER:
		return "power";
	case CFG_T_AREA:
		return "area";
	case CFG_T_PPM:
		return "fraction";
	case CFG_T_ENUM:
		return "choice";
	case CFG_T_STR:
		return "text";
	case CFG_T_END:
		break;
	}
	return "?";
}

static const char *unit_help(enum cfg_type t)
{
	switch (t) {
	case CFG_T_BYTES:
		return "B, KiB, MiB, GiB, TiB, kB, MB, GB, TB";
	case CFG_T_RATE:
		return "B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s";
	case CFG_T_FREQ:
		return "Hz, kHz, MHz, GHz";
	case CFG_T_PS:
		return "ps, ns, us, ms";
	case CFG_T_ENERGY:
		return "fJ, pJ, nJ, uJ";
	case CFG_T_POWER:
		return "uW, mW, W, kW";
	case CFG_T_AREA:
		return "nm2, um2, mm2";
	case CFG_T_PPM:
		return "none, or %";
	default:
		return "none";
	}
}

/* All rows, one key, or every key of one section. */
static bool wanted(const struct cfg_row *r, const struct opt_list *keys)
{
	if (keys->n == 0)
		return true;
	for (int i = 0; i < keys->n; i++)
		if (strcmp(r->key, keys->v[i]) == 0 || (*r->section && strcmp(r->section, keys->v[i]) == 0))
			return true;
	return false;
}

static int check_keys(const struct cfg *c, const struct opt_list *keys, struct err *e)
{
	for (int i = 0; i < keys->n; i++) {
		bool section = false;
		size_t at;

		for (size_t k = 0; k < cfg_count(c); k++) {
			struct cfg_row r = cfg_at(c, k);

			section |= *r.section && strcmp(r.section, keys->v[i]) == 0;
		}
		if (!section && cfg_find(c, keys->v[i], &at, e) < 0)
			return -1;
	}
	return 0;
}

static void explain_one(const struct cfg *c, size_t i, bool value, struct str *out)
{
	struct cfg_row r = cfg_at(c, i);

	str_addf(out, "%s\n  %s\n", r.key, r.field->help);
	if (value) {
		str_add(out, "  value    ");
		cfg_value(c, i, out);
		str_addc(out, '\n');
	}
	str_addf(out, "  default  %s\n  range    ", *r.field->def ? r.field->def : "(empty)");
	cfg_range(c, i, out);
	str_addf(out, "\n  type     %s\n  units    %s\n  source   %s\n", type_name(r.field->type),
	         unit_help(r.field->type), value && r.given ? r.source : r.field->source);
}

static void explain_rows(const struct cfg *c, const struct opt_list *keys, bool value, enum out_format f,
                         struct str *out)
{
	const struct out_col cols[] = {
		{ "key", OUT_TEXT, 0 },    { value ? "value" : "default", OUT_TEXT, 0 },
		{ "range", OUT_TEXT, 0 },  { "help", OUT_TEXT, 0 },
		{ "type", OUT_TEXT, 0 },   { "unit", OUT_TEXT, 0 },
		{ "source", OUT_TEXT, 0 }, { "default", OUT_TEXT, 0 },
		{ "given", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, f == OUT_TABLE ? 4 : value ? 9 : 7, NULL);
	struct str text = STR_INIT;

	for (size_t i = 0; i < cfg_count(c); i++) {
		struct cfg_row r = cfg_at(c, i);

		if (!wanted(&r, keys))
			continue;
		out_text(t, r.key);
		str_clear(&text);
		cfg_value(c, i, &text);
		out_text(t, value ? str_c(&text) : r.field->def);
		str_clear(&text);
		cfg_range(c, i, &text);
		out_text(t, str_c(&text));
		out_text(t, r.field->help);
		if (f == OUT_TABLE)
			continue;
		out_text(t, type_name(r.field->type));
		out_text(t, cfg_unit(r.field->type));
		out_text(t, value && r.given ? r.source : r.field->source);
		if (!value)
			continue;
		out_text(t, r.field->def);
		out_text(t, r.given ? "yes" : "no");
	}
	out_table_write(t, f, out);
	out->failed |= text.failed;
	str_free(&text);
	out_table_free(t);
}

/* The rows of the first kind of machine that has all keys; of the first of all where none has. */
static struct cfg *schema_of(const struct opt_list *keys, struct machine_cfg *defaults, struct err *e)
{
	for (int k = 0; k < MACHINE_KINDS; k++) {
		struct cfg *c = machine_schema(defaults, (enum machine_kind)k, e);
		struct err unknown = ERR_INIT;

		if (!c || check_keys(c, keys, &unknown) == 0)
			return c;
		cfg_free(c);
	}
	return machine_schema(defaults, 0, e);
}

/* --- by word ----------------------------------------------------------------------------------------------- */

static bool has_word(const char *text, const char *word)
{
	const size_t n = strlen(word);

	for (; *text; text++)
		if (strncasecmp(text, word, n) == 0)
			return true;
	return false;
}

static bool about(const struct cfg_row *r, const char *word)
{
	return has_word(r->key, word) || has_word(r->field->help, word);
}

/* All parameters of `c` whose name or help has each of the words; how many. `t` NULL: they are only counted. */
static size_t words_in(const struct cfg *c, const struct opt_list *words, struct out_table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < cfg_count(c); i++) {
		const struct cfg_row r = cfg_at(c, i);
		bool all = true;

		for (int k = 0; k < words->n; k++)
			all &= about(&r, words->v[k]);
		if (!all)
			continue;
		n++;
		if (!t)
			continue;
		out_text(t, r.key);
		out_text(t, r.field->def);
		out_text(t, r.field->help);
	}
	return n;
}

/* Where a word is no key: the keys that it is about, of the first kind of machine that has some. False: there are none. */
static bool explain_words(const struct cfg *own, const struct opt_list *words, enum out_format f, struct str *out)
{
	static const struct out_col cols[] = { { "key", OUT_TEXT, 0 },
		                               { "default", OUT_TEXT, 0 },
		                               { "help", OUT_TEXT, 0 } };
	bool found = false;

	for (int k = 0; k < words->n; k++)
		if (strchr(words->v[k], '.'))
			return false; /* a key, mistyped */
	for (int k = own ? -1 : 0; k < (own ? 0 : MACHINE_KINDS) && !found; k++) {
		struct machine_cfg defaults;
		struct err none = ERR_INIT;
		struct cfg *schema = own ? NULL : machine_schema(&defaults, (enum machine_kind)k, &none);
		const struct cfg *c = own ? own : schema;
		struct out_table *t;

		if (c && words_in(c, words, NULL)) {
			found = true;
			t = out_table_new(cols, 3, "parameters about that; 'npusim config explain KEY' has all of one");
			words_in(c, words, t);
			out_table_write(t, f, out);
			out_table_free(t);
		}
		cfg_free(schema);
	}
	return found;
}

static int explain(const char *path, const struct opt_list *keys, enum out_format f, struct str *out, struct err *e)
{
	struct machine_cfg defaults;
	struct machine_conf *conf = path ? load(path, NULL, e) : NULL;
	struct cfg *own = path ? NULL : schema_of(keys, &defaults, e);
	const struct cfg *c = path ? (conf ? conf->raw : NULL) : own;
	int rc = c ? check_keys(c, keys, e) : -1;

	if (rc == 0 && conf)
		rc = machine_conf_explain(conf, e);
	if (rc < 0 && c && explain_words(path ? c : NULL, keys, f, out)) {
		err_clear(e);
		rc = 0;
	} else if (rc == 0 && f == OUT_TABLE && keys->n) {
		bool first = true;

		for (size_t i = 0; i < cfg_count(c); i++) {
			struct cfg_row r = cfg_at(c, i);

			if (!wanted(&r, keys))
				continue;
			str_add(out, first ? "" : "\n");
			explain_one(c, i, path != NULL, out);
			first = false;
		}
	} else if (rc == 0) {
		explain_rows(c, keys, path != NULL, f, out);
	}
	cfg_free(own);
	machine_conf_free(conf);
	return rc;
}

static int explain_cmd(int argc, char **argv, struct str *out, struct err *e)
{
	struct opt_list keys = { NULL, 0 };
	const char *path = NULL, *format = NULL;
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &path, "CONFIG",
		  "show the values of this machine, and where they are from" },
		{ 0, "format", OPT_TEXT, &format, "table|csv|json", CMD_FORMAT_HELP },
		{ .type = OPT_END, .arg = OPT_ARGS_WORDS },
	};
	const struct opt_cmd cmd = {
		"npusim config explain [KEY | SECTION | WORD]... [-c FILE]",
		"What parameters there are: without a name all of them, one line each; with a key or a section all that is"
		" known of it, including where the number comes from; with another word those whose name or help has it. Keys are"
		" what --set takes.",
		"npusim config explain\n"
		"npusim config explain l2.size gemv\n"
		"npusim config explain gpu sm\n"
		"npusim config explain bandwidth\n"
		"npusim config explain dram -c configs/npu/dsocr.yaml\n",
		opts,
		0,
		-1
	};
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &keys, out, e);

	if (rc == 0 && (rc = cmd_format(format, &f, e)) == 0)
		rc = explain(path, &keys, f, out, e);
	opt_list_free(&keys);
	return rc < 0 ? -1 : 0;
}

/* --- diff -------------------------------------------------------------------------------------------------- */

static size_t diff_rows(const struct cfg *a, const struct cfg *b, struct out_table *t)
{
	struct str va = STR_INIT, vb = STR_INIT;
	size_t n = 0;

	for (size_t i = 0; i < cfg_count(a); i++) {
		if (cfg_raw(a, i) == cfg_raw(b, i))
			continue;
		str_clear(&va);
		str_clear(&vb);
		cfg_value(a, i, &va);
		cfg_value(b, i, &vb);
		out_text(t, cfg_at(a, i).key);
		out_text(t, str_c(&va));
		out_text(t, str_c(&vb));
		n++;
	}
	str_free(&va);
	str_free(&vb);
	return n;
}

static int diff(const char *path_a, const char *path_b, enum out_format f, bool exit_code, struct str *out,
                struct err *e)
{
	const struct out_col cols[] = {
		{ "key", OUT_TEXT, 0 },
		{ f == OUT_TABLE ? path_a : "a", OUT_TEXT, 0 },
		{ f == OUT_TABLE ? path_b : "b", OUT_TEXT, 0 },
	};
	struct machine_conf *a = load(path_a, NULL, e), *b = a ? load(path_b, NULL, e) : NULL;
	struct out_table *t = b ? out_table_new(cols, 3, NULL) : NULL;
	size_t n = 0;
	int rc = b ? 0 : -1;

	if (rc == 0) {
		n = diff_rows(a->raw, b->raw, t);
		if (n || f != OUT_TABLE)
			out_table_write(t, f, out);
		else
			str_add(out, "no parameter differs\n");
		if (n && exit_code)
			rc = err_set(e, ERR_BOUND, "'%s' and '%s' differ in %zu parameter%s", path_a, path_b, n,
			             n == 1 ? "" : "s");
	}
	out_table_free(t);
	machine_conf_free(a);
	machine_conf_free(b);
	return rc;
}

static int diff_cmd(int argc, char **argv, struct str *out, struct err *e)
{
	struct opt_list args = { NULL, 0 };
	const char *format = NULL;
	bool exit_code = false;
	const struct opt opts[] = {
		{ 0, "exit-code", OPT_FLAG, &exit_code, NULL, "exit with 1 when the machines differ" },
		{ 0, "format", OPT_TEXT, &format, "table|csv|json", CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim config diff A.yaml B.yaml",
		"The parameters in which two machines differ, after both are resolved: a value that one file gives and the"
		" other has by default is no difference.",
		"npusim config diff configs/npu/dsocr.yaml configs/npu/edge.yaml\n",
		opts,
		2,
		2
	};
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = cmd_format(format, &f, e)) == 0)
		rc = diff(args.v[0], args.v[1], f, exit_code, out, e);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}

/* --- tech ------------------------------------------------------------------------------------------------- */

/* What is not known is left out, sections of their own file under its name. */
static void tech_rows(const struct cfg *c, const char *prefix, struct out_table *t)
{
	struct str v = STR_INIT, key = STR_INIT;

	for (size_t i = 0; i < cfg_count(c); i++) {
		const struct cfg_row r = cfg_at(c, i);

		if (r.field->type != CFG_T_STR && !cfg_raw(c, i))
			continue;
		str_clear(&v);
		str_clear(&key);
		str_addf(&key, "%s%s", prefix, r.key);
		cfg_value(c, i, &v);
		out_text(t, str_c(&key));
		out_text(t, str_c(&v));
		out_text(t, r.field->help);
		out_text(t, r.source);
	}
	str_free(&v);
	str_free(&key);
}

static void tech_points(const struct tech *x, struct out_table *t)
{
	struct str v = STR_INIT;

	for (size_t i = 0; i < x->n_points; i++) {
		str_clear(&v);
		cfg_format_value(CFG_T_PPM, x->points[i].voltage, &v);
		str_add(&v, " at ");
		cfg_format_value(CFG_T_FREQ, x->points[i].clock, &v);
		out_text(t, "points");
		out_text(t, str_c(&v));
		out_text(t, "of the nominal voltage");
		out_text(t, "the file");
	}
	str_free(&v);
}

static int tech_print(const char *node, enum out_format f, struct str *out, struct err *e)
{
	static const struct out_col cols[] = {
		{ "constant", OUT_TEXT, 0 }, { "value", OUT_TEXT, 0 }, { "of", OUT_TEXT, 0 }, { "source", OUT_TEXT, 0 }
	};
	struct tech *x = tech_load(node, e);
	struct out_table *t;

	if (!x)
		return -1;
	t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);
	tech_rows(x->node, "", t);
	tech_points(x, t);
	tech_rows(x->drams, "dram.", t);
	tech_rows(x->links, "link.", t);
	tech_rows(x->dies, "die.", t);
	out_table_write(t, f, out);
	out_table_free(t);
	tech_free(x);
	return 0;
}

static int tech_cmd(int argc, char **argv, struct str *out, struct err *e)
{
	const char *format = NULL;
	const struct opt opts[] = { { 0, "format", OPT_TEXT, &format, "table|csv|json", CMD_FORMAT_HELP },
		                    { .type = OPT_END } };
	const struct opt_cmd cmd = {
		"npusim config tech NODE",
		"Prints what a process costs: energies of operations and SRAM accesses, areas, and those of DRAM"
		" and links, each with the source of its number. A node is a file of configs/tech or a path;"
		" what it does not give is another node's, scaled by published factors.",
		"npusim config tech n7\nnpusim config tech n4 --format csv\n",
		opts,
		1,
		1
	};
	struct opt_list args = { NULL, 0 };
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = cmd_format(format, &f, e)) == 0)
		rc = tech_print(args.v[0], f, out, e);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
