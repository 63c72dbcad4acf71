/* probe_model.c - npusim probe model: the table of launches that the fingerprint of the GPU model is made of. */
#include "sim/accuracy/behaviour.h"
#include "sim/base/version.h"
#include "sim/cli/cmd.h"
#include "sim/report/doc.h"

struct options {
	const char *config, *format;
	struct opt_list sets;
};

static void model_row(struct doc *d, const void *of, size_t i)
{
	const struct behaviour_group *g = (const struct behaviour_group *)of + i;

	doc_text(d, "device", g->device);
	doc_text(d, "family", g->family);
	doc_count(d, "launches", g->launches);
	doc_ps(d, "total_us", 3, g->total);
	doc_real(d, "energy_uj", 3, (double)g->energy_fj / 1e9);
}

static int probe_model(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct arena *a = arena_new(0);
	struct behaviour b;
	char hash[17];
	int rc = -1;

	(void)args;
	if (!a)
		err_nomem(e, "for the table of launches");
	else if (!o->config && o->sets.n)
		err_set(e, ERR_USAGE, "'--set' changes a GPU: give it, with '-c'");
	else
		rc = behaviour_make(o->config, o->sets.v, o->sets.n, a, &b, e);
	if (rc == 0) {
		behaviour_hash(&b, hash);
		doc_open(d, NULL, '{');
		doc_text(d, "fingerprint", hash);
		doc_put_table(d, "families", NULL, b.n, model_row, b.v);
		doc_close(d, '}');
		doc_say(d, "\nfingerprint  %s\nthis build   %s\n", hash, npusim_gpu_model());
	}
	arena_free(a);
	return rc;
}

int cmd_probe_model(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .config = NULL };
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &o.config, "CONFIG",
		  "a GPU; by default the devices of the fingerprint, an H200 with the rules of each generation" },
		{ 's', "set", OPT_SETS, &o.sets, "KEY=VALUE", "change a parameter of the GPU first; may be repeated" },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim probe model [-c GPU] [options]",
		"Times a fixed table of launches by the GPU model: every template of kernels, the launches that libraries make"
		" of products, attention and other ops, and committed traces. Prints launches, time and energy by family. The"
		" hash over all of them is the fingerprint of the model. Accuracy that was measured with another fingerprint is"
		" marked so in answers ('found with another build').",
		"npusim probe model\n"
		"npusim probe model -c h100 --format csv\n"
		"npusim probe model -c h200 --set gpu.launch=600ns\n",
		opts,
		0,
		0
	};

	return cmd_do(&cmd, &o.format, probe_model, &o, argc, argv, out, e);
}
