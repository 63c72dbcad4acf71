/* config_list.c - npusim config list: the machines that come with npusim, by what one chooses them. */
#include <stdio.h>
#include <string.h>

#include "arch/machine/machine_shipped.h"
#include "arch/mem/dram.h"
#include "sim/base/path.h"
#include "sim/cli/config.h"

struct row {
	const char *name, *file;
	const struct machine_cfg *c;
};

/* A terminal has room for what one chooses by; 'config show' and 'config peaks' have the rest. */
static void config_list_row(struct doc *d, const void *of, size_t i)
{
	const struct row *r = of;
	const struct machine_cfg *c = r->c;

	(void)i;
	doc_text(d, "machine", r->name);
	doc_text(d, "kind", machine_kind_name((enum machine_kind)c->kind));
	doc_count(d, "chips", c->links.chips ? c->links.chips : 1);
	doc_count(d, "cores", c->cores);
	doc_real(d, "ghz", 2, (double)c->clock / 1e6);
	doc_real_if(d, "l2_mib", 1, c->mem.l2.size, (double)c->mem.l2.size / (1 << 20));
	doc_real_if(d, "dram_gib", 0, c->mem.dram.capacity, (double)c->mem.dram.capacity / (1 << 30));
	doc_real(d, "dram_gb_s", 0, (double)dram_peak(&c->mem.dram) / 1e9);
	doc_text(d, "family", strcmp(c->family, MACHINE_NO_FAMILY) ? c->family : NULL);
	if (d->format != OUT_TABLE)
		doc_text(d, "file", r->file);
}

static int of_folder(const char *folder, struct arena *a, struct doc *d, struct err *e)
{
	const char **names;
	char file[CFG_STR_MAX + 32];
	size_t n;

	if (source_names(&path_source, folder, ".yaml", a, &names, &n, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct machine_conf *c;

		snprintf(file, sizeof file, "%s/%s.yaml", folder, names[i]);
		if (!(c = machine_conf_load(file, NULL, 0, e)))
			return -1;
		doc_row(d, config_list_row, &(struct row){ names[i], file, &c->cfg }, 0);
		machine_conf_free(c);
	}
	return 0;
}

static int config_list(void *asked, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct arena *a = arena_new(0);
	int rc = a ? 0 : err_nomem(e, "for the machines");

	(void)asked;
	(void)args;
	doc_table_open(d, NULL, NULL);
	for (size_t i = 0; rc == 0 && machine_shipped_folders[i]; i++)
		rc = of_folder(machine_shipped_folders[i], a, d, e);
	doc_table_close(d, NULL, NULL);
	if (rc < 0)
		doc_drop(d);
	arena_free(a);
	return rc;
}

int cmd_config_list(int argc, char **argv, struct str *out, struct err *e)
{
	const char *format = NULL;
	const struct opt opts[] = {
		{ 0, "format", OPT_TEXT, &format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim config list",
		"The machines that come with npusim: any command takes their names alone, -c dsocr. family: whose measured rows say how"
		" sure an answer is; of one without, families of NPUs do that were new once. Files and more: --format csv, 'npusim"
		" config show MACHINE', 'npusim config peaks MACHINE'.",
		"npusim config list\n"
		"npusim config list --format csv\n",
		opts,
		0,
		0
	};

	return cmd_do(&cmd, &format, config_list, NULL, argc, argv, out, e);
}
