#include "sim/cli/config_rows.h"

struct asked {
	const struct config_rows *r;
	struct opt_list sets;
	const char *format;
};

static int all(void *asked, const struct opt_list *files, struct doc *d, struct err *e)
{
	const struct asked *o = asked;
	int rc = 0;

	doc_table_open(d, NULL, NULL);
	for (int i = 0; i < files->n && rc == 0; i++) {
		struct machine_conf *c = machine_conf_load(files->v[i], o->sets.v, o->sets.n, e);

		rc = c ? o->r->put(files->v[i], c, d, e) : -1;
		machine_conf_free(c);
	}
	doc_table_close(d, NULL, NULL);
	if (rc < 0)
		doc_drop(d);
	return rc;
}

int config_rows(const struct config_rows *r, int argc, char **argv, struct str *out, struct err *e)
{
	struct asked o = { .r = r };
	const struct opt opts[] = {
		{ 's', "set", OPT_SETS, &o.sets, "KEY=VALUE", "change a parameter of the machines; may be repeated" },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = { r->synopsis, r->about, r->examples, opts, 1, -1 };

	return cmd_do(&cmd, &o.format, all, &o, argc, argv, out, e);
}
