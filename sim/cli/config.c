/* config.c - npusim config: the table of its commands, show and diff. All walk the rows of sim/base/cfg.h. */
#include "sim/cli/config.h"

#include <string.h>

const struct cmd cmd_config_table[] = {
	{ "list", cmd_config_list, NULL, "the machines that come with npusim" },
	{ "check", cmd_config_check, NULL, "read machine files and say what is wrong with them" },
	{ "show", cmd_config_show, NULL, "a machine with every parameter resolved" },
	{ "explain", cmd_config_explain, NULL,
	  "what a parameter means, its unit, range, and where its number is from" },
	{ "diff", cmd_config_diff, NULL, "the parameters in which two machines differ" },
	{ "peaks", cmd_config_peaks, NULL,
	  "what a machine multiplies at most by format, and the ridges of its roofline" },
	{ "area", cmd_config_area, NULL, "what a machine's blocks take of its die" },
	{ "cost", cmd_config_cost, NULL, "what a machine's dies and DRAM cost to make" },
	{ "tech", cmd_config_tech, NULL, "energy and area of a process, of DRAM and of links, with their sources" },
	{ NULL, NULL, NULL, NULL }
};

/* --- show -------------------------------------------------------------------------------------------------- */

/* The unit of a value as it is written: what follows its number. */
static const char *config_unit_of(const char *value)
{
	const char *space = strchr(value, ' ');

	return space ? space + 1 : "";
}

static bool has_unit(enum cfg_type t)
{
	return t == CFG_T_BYTES || t == CFG_T_RATE || t == CFG_T_FREQ || t == CFG_T_PS || t == CFG_T_ENERGY ||
	       t == CFG_T_POWER || t == CFG_T_AREA;
}

static void shown(struct doc *d, const void *of, size_t i)
{
	const struct cfg *c = of;
	const struct cfg_row r = cfg_at(c, i);
	struct str value = STR_INIT;

	cfg_value(c, i, &value);
	doc_text(d, "key", r.key);
	doc_text(d, "value", str_c(&value));
	doc_text(d, "unit", has_unit(r.field->type) ? config_unit_of(str_c(&value)) : "");
	doc_text(d, "given", r.given ? "yes" : "no");
	doc_text(d, "source", r.source);
	doc_free(d, &value);
}

struct show {
	struct opt_list sets;
	const char *format;
};

/* YAML is of this command alone. */
static int config_show(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct show *o = options;
	const bool yaml = !o->format || strcmp(o->format, "yaml") == 0;
	enum out_format f;
	struct machine_conf *c;

	if (cmd_format(yaml ? NULL : o->format, &f, e) < 0 ||
	    !(c = machine_conf_load(args->v[0], o->sets.v, o->sets.n, e)))
		return -1;
	if (!yaml)
		doc_again(d, f);
	if (f == OUT_TABLE)
		cfg_dump(c->raw, d->to);
	else
		doc_table(d, NULL, NULL, cfg_count(c->raw), shown, c->raw);
	machine_conf_free(c);
	return 0;
}

int cmd_config_show(int argc, char **argv, struct str *out, struct err *e)
{
	struct show o = { .format = NULL };
	const struct opt opts[] = {
		{ 's', "set", OPT_SETS, &o.sets, "KEY=VALUE", "change a parameter first; may be repeated" },
		{ 0, "format", OPT_TEXT, &o.format, "yaml|csv|json|html|sql",
		  "yaml, the default, reads back to the same machine; the"
		  " others have a row a parameter and say which were given, and by whom" },
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

	return cmd_do(&cmd, NULL, config_show, &o, argc, argv, out, e);
}

/* --- diff -------------------------------------------------------------------------------------------------- */

struct diff {
	const char *const *paths;
	const struct cfg *a, *b;
};

static bool differs(const struct diff *x, size_t i)
{
	return cfg_raw(x->a, i) != cfg_raw(x->b, i);
}

static void differing(struct doc *d, const void *of, size_t i)
{
	const struct diff *x = of;
	const bool people = d->format == OUT_TABLE;

	if (!d->heads && !differs(x, i))
		return;
	doc_text(d, "key", cfg_at(x->a, i).key);
	cfg_doc_text(d, people ? x->paths[0] : "a", x->a, i, cfg_value);
	cfg_doc_text(d, people ? x->paths[1] : "b", x->b, i, cfg_value);
}

static int diff(void *exit_code, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct machine_conf *a = machine_conf_load(args->v[0], NULL, 0, e),
			    *b = a ? machine_conf_load(args->v[1], NULL, 0, e) : NULL;
	int rc = b ? 0 : -1;

	if (b) {
		const struct diff x = { args->v, a->raw, b->raw };
		size_t n = 0;

		for (size_t i = 0; i < cfg_count(a->raw); i++)
			n += differs(&x, i);
		if (n || d->format != OUT_TABLE)
			doc_table(d, NULL, NULL, cfg_count(a->raw), differing, &x);
		else
			doc_say(d, "no parameter differs\n");
		if (n && *(bool *)exit_code)
			rc = err_set(e, ERR_BOUND, "'%s' and '%s' differ in %zu parameter%s", args->v[0], args->v[1], n,
			             n == 1 ? "" : "s");
	}
	machine_conf_free(a);
	machine_conf_free(b);
	return rc;
}

int cmd_config_diff(int argc, char **argv, struct str *out, struct err *e)
{
	const char *format = NULL;
	bool exit_code = false;
	const struct opt opts[] = {
		{ 0, "exit-code", OPT_FLAG, &exit_code, NULL, "exit with 1 when the machines differ" },
		{ 0, "format", OPT_TEXT, &format, CMD_FORMATS, CMD_FORMAT_HELP },
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

	return cmd_do(&cmd, &format, diff, &exit_code, argc, argv, out, e);
}
