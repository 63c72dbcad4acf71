#include "sim/cli/config_rows.h"

static int all(const struct config_rows *r, const struct opt_list *files, const struct opt_list *sets,
               enum out_format f, struct str *out, struct err *e)
{
	struct out_table *t = out_table_new(r->cols, r->n_cols, NULL);
	int rc = 0;

	for (int i = 0; i < files->n && rc == 0; i++) {
		struct machine_conf *c = machine_conf_load(files->v[i], sets->v, sets->n, e);

		rc = c ? r->put(files->v[i], c, t, e) : -1;
		machine_conf_free(c);
	}
	if (rc == 0)
		out_table_write(t, f, out);
	out_table_free(t);
	return rc;
}

int config_rows(const struct config_rows *r, int argc, char **argv, struct str *out, struct err *e)
{
	struct opt_list files = { NULL, 0 }, sets = { NULL, 0 };
	const char *format = NULL;
	const struct opt opts[] = {
		{ 's', "set", OPT_SETS, &sets, "KEY=VALUE", "change a parameter of the machines; may be repeated" },
		{ 0, "format", OPT_TEXT, &format, "table|csv|json", CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = { r->synopsis, r->about, r->examples, opts, 1, -1 };
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &files, out, e);

	if (rc == 0 && (rc = cmd_format(format, &f, e)) == 0)
		rc = all(r, &files, &sets, f, out, e);
	opt_list_free(&files);
	opt_list_free(&sets);
	return rc < 0 ? -1 : 0;
}
