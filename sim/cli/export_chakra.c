#include "sim/cli/export_chakra.h"

#include <stdio.h>

#include "arch/machine/machine_conf.h"
#include "sim/engine/run.h"
#include "sim/report/chakra.h"
#include "sim/study/split.h"
#include "sim/ui/outfile.h"

/* Each kind of stage as it runs alone, in closed form. */
static int run_kinds(const struct op_stream *s, const struct machine_conf *c, struct arena *a, struct chakra *x,
                     struct err *e)
{
	const uint32_t n = s->stages ? s->n_stages : 1;
	struct run_opts how = run_opts_default();
	struct run_result *of = arena_array(a, n, sizeof *of), whole;

	how.fidelity = RUN_ANALYTIC;
	if (!of)
		return err_nomem(e, "for a run");
	/* All of it first: whether so many chips are there, and what each holds. */
	if (run_stream(s, c, &how, a, &whole, e) < 0)
		return -1;
	for (uint32_t k = 0; k < n; k++)
		if (run_stream(s->stages ? s->stages[k].stream : s, c, &how, a, &of[k], e) < 0)
			return -1;
	x->of = of;
	return 0;
}

static int write_files(const struct export_chakra *o, const struct chakra *x, struct arena *a, struct err *e)
{
	struct str text = STR_INIT;
	const char *path = arena_printf(a, "%s.groups.json", o->prefix);
	int rc;

	chakra_groups(x, &text);
	rc = path ? outfile_write(path, &text, e) : err_nomem(e, "for a file's name");
	for (uint32_t i = 0; rc == 0 && i < chakra_chips(x); i++) {
		str_clear(&text);
		chakra_chip(x, i, &text);
		path = arena_printf(a, "%s.%u.et", o->prefix, i);
		rc = path ? outfile_write(path, &text, e) : err_nomem(e, "for a file's name");
	}
	str_free(&text);
	return rc;
}

static int check(const struct export_chakra *o, struct err *e)
{
	if (!o->config)
		return err_set(e, ERR_USAGE, "the system is missing: -c hgx-h200, say");
	if (!o->workload.model)
		return err_set(e, ERR_USAGE, "the model is missing: -m MODEL; 'npusim workload list' has some");
	return workload_check(&o->workload, WORKLOAD_LIMITS, e);
}

int export_chakra(const struct export_chakra *o, struct str *out, struct err *e)
{
	struct workload_spec spec = o->workload;
	struct machine_conf *c = NULL;
	struct workload w = { .model = NULL };
	struct run_opts how = run_opts_default();
	struct arena *a = arena_new(0);
	struct chakra x;
	uint32_t tried;
	int rc = a ? check(o, e) : err_nomem(e, "for a run");

	if (rc == 0 && !(c = machine_conf_load(o->config, o->sets.v, o->sets.n, e)))
		rc = -1;
	if (rc == 0)
		rc = split_settle(&spec, c, &how, a, &tried, e);
	if (rc == 0)
		rc = cmd_workload_read(&spec, &c->cfg, &w, e);
	if (rc == 0) {
		x = (struct chakra){ .s = &w.stream, .split = build_split_of(&w.how) };
		rc = run_kinds(&w.stream, c, a, &x, e);
	}
	if (rc == 0 && (rc = write_files(o, &x, a, e)) == 0)
		str_addf(out, "%u chips: '%s.0.et' to '%s.%u.et', groups in '%s.groups.json'\n", chakra_chips(&x),
		         o->prefix, o->prefix, chakra_chips(&x) - 1, o->prefix);
	workload_free(&w);
	machine_conf_free(c);
	arena_free(a);
	return rc;
}
