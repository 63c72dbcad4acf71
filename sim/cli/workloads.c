/* workloads.c - npusim workload list and show: the models that can be run without a trace, and what they are by count. */
#include "sim/cli/cmd.h"

#include "sim/base/path.h"
#include "sim/report/model_doc.h"

static cmd_fn list_cmd, show_cmd;

const struct cmd cmd_workload_table[] = {
	{ "list", list_cmd, NULL, "the models that come with npusim" },
	{ "show", show_cmd, NULL, "parameters, bytes and operations of a model, by count" },
	{ "rates", cmd_workload_rates, NULL, "published tokens a second against simulated ones" },
	{ "build", cmd_workload_build, NULL, "the ops of a model's step, as a table" },
	{ "options", cmd_workload_options, NULL, "what may be asked of a workload, and by which command" },
	{ "attend", cmd_workload_attend, NULL, "what each algorithm of attention does and moves, by count" },
	{ NULL, NULL, NULL, NULL }
};

/* --- list -------------------------------------------------------------------------------------------------- */

static int models(struct doc *d, struct err *e)
{
	char **names;
	size_t n;
	int rc = 0;

	if (model_list(&names, &n, e) < 0)
		return -1;
	doc_table_open(d, NULL, NULL);
	for (size_t i = 0; i < n && rc == 0; i++) {
		struct model *m = model_load(names[i], e);

		if (m)
			doc_row(d, model_doc, &(struct model_doc){ names[i], m }, 0);
		else
			rc = -1;
		model_free(m);
	}
	doc_table_close(d, model_doc, &(struct model_doc){ NULL });
	doc_say(d, "\nlayers, sizes and contexts: --format csv, or 'npusim workload show MODEL'\n");
	if (rc < 0)
		doc_drop(d);
	model_list_free(names, n);
	return rc;
}

static void architecture(struct doc *d, const void *of, size_t i)
{
	const struct model_arch *a = (const struct model_arch *)of + i;

	doc_text(d, "model_type", a->type);
	doc_text(d, "not described", a->not_described);
}

static void scheme(struct doc *d, const void *of, size_t i)
{
	const struct scheme *q = (const struct scheme *)of + i;

	doc_text(d, "quant", q->name);
	doc_text(d, "what", q->help);
}

struct lists {
	bool architectures, schemes;
	const char *format;
};

static int list(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct lists *o = options;
	size_t n;

	(void)args;
	if (o->architectures && o->schemes)
		return err_set(e, ERR_USAGE, "options '--architectures' and '--quant' ask for two lists");
	if (o->architectures) {
		const struct model_arch *a = model_arch_table(&n);

		doc_table(d, NULL, NULL, n, architecture, a);
	} else if (o->schemes) {
		const struct scheme *q = scheme_table(&n);

		doc_table(d, NULL, NULL, n, scheme, q);
	} else {
		return models(d, e);
	}
	return 0;
}

static int list_cmd(int argc, char **argv, struct str *out, struct err *e)
{
	struct lists o = { .format = NULL };
	const struct opt opts[] = {
		{ 0, "architectures", OPT_FLAG, &o.architectures, NULL,
		  "what a config.json may say as its model_type, instead" },
		{ 0, "quant", OPT_FLAG, &o.schemes, NULL, "the quantisation schemes that '--quant' takes, instead" },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim workload list [--architectures | --quant]",
		"The models that 'run -m', 'workload show' and 'workload build' know by name. Parameters are counted from their"
		" dimensions, in thousands of millions; active are those that a token of text passes. Any other model is given"
		" as a file: YAML as in workloads/models, or a Hugging Face config.json as it is, or the folder it is in.",
		"npusim workload list\nnpusim workload list --quant\n",
		opts,
		0,
		0
	};

	return cmd_do(&cmd, &o.format, list, &o, argc, argv, out, e);
}

/* --- show -------------------------------------------------------------------------------------------------- */

struct shown {
	struct workload_spec asked;
	const char *format;
};

static int workloads_show(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct shown *o = options;
	struct workload w = { .model = NULL };
	struct workload_spec known;
	struct model *own;
	bool unknown; /* its own mix of formats */
	int rc = -1;

	o->asked.model = args->v[0];
	if (workload_check(&o->asked, WORKLOAD_SHOW, e) < 0 || !(own = model_load(o->asked.model, e)))
		return -1;
	unknown = own->quant_words && !o->asked.quant;
	model_free(own);
	known = o->asked;
	known.quant = unknown ? "bf16" : known.quant;
	rc = workload_describe(&known, &(struct workload_reader){ .source = &path_source }, &w, e);
	if (rc == 0)
		model_show_doc(d, w.model, &w.how, unknown);
	workload_free(&w);
	return rc;
}

static int show_cmd(int argc, char **argv, struct str *out, struct err *e)
{
	struct shown o = { .asked = { .context = 1024 } };
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o.asked, WORKLOAD_SHOW) },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim workload show MODEL [--context N] [--quant SCHEME] [--kv FORMAT]",
		"What a model is by count, before any machine: parameters beside the published number, operations and bytes of a"
		" decoded token, the KV cache, and what the weights take in each scheme.",
		"npusim workload show llama-3.1-8b\nnpusim workload show deepseek-r1 --context 8192 --quant nvfp4\n",
		opts,
		1,
		1
	};

	return cmd_do(&cmd, &o.format, workloads_show, &o, argc, argv, out, e);
}
