/* config_tech.c - npusim config tech: energy and area of a process, of DRAM and of links, with their sources. */
#include "arch/power/tech.h"
#include "sim/cli/config.h"

struct section {
	const struct cfg *c;
	const char *prefix; /* of a file of its own under that name */
};

/* What is not known is left out. */
static void constant(struct doc *d, const void *of, size_t i)
{
	const struct section *x = of;
	const struct cfg_row r = cfg_at(x->c, i);
	struct str key = STR_INIT;

	if (r.field->type != CFG_T_STR && !cfg_raw(x->c, i))
		return;
	str_addf(&key, "%s%s", x->prefix, r.key);
	doc_text(d, "constant", str_c(&key));
	cfg_doc_text(d, "value", x->c, i, cfg_value);
	doc_text(d, "of", r.field->help);
	doc_text(d, "source", r.source);
	str_free(&key);
}

static void config_tech_point(struct doc *d, const void *of, size_t i)
{
	const struct tech *x = of;
	struct str v = STR_INIT;

	cfg_format_value(CFG_T_PPM, x->points[i].voltage, &v);
	str_add(&v, " at ");
	cfg_format_value(CFG_T_FREQ, x->points[i].clock, &v);
	doc_text(d, "constant", "points");
	doc_text(d, "value", str_c(&v));
	doc_text(d, "of", "of the nominal voltage");
	doc_text(d, "source", "the file");
	str_free(&v);
}

static void config_tech_rows(struct doc *d, const struct cfg *c, const char *prefix)
{
	const struct section x = { c, prefix };

	for (size_t i = 0; i < cfg_count(c); i++)
		doc_row(d, constant, &x, i);
}

static int tech(void *o, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct tech *x = tech_load(args->v[0], e);

	(void)o;
	if (!x)
		return -1;
	doc_table_open(d, NULL, NULL);
	config_tech_rows(d, x->node, "");
	for (size_t i = 0; i < x->n_points; i++)
		doc_row(d, config_tech_point, x, i);
	config_tech_rows(d, x->drams, "dram.");
	config_tech_rows(d, x->links, "link.");
	config_tech_rows(d, x->dies, "die.");
	doc_table_close(d, NULL, NULL);
	tech_free(x);
	return 0;
}

int cmd_config_tech(int argc, char **argv, struct str *out, struct err *e)
{
	const char *format = NULL;
	const struct opt opts[] = { { 0, "format", OPT_TEXT, &format, CMD_FORMATS, CMD_FORMAT_HELP },
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

	return cmd_do(&cmd, &format, tech, NULL, argc, argv, out, e);
}
