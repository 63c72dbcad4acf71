#include "validate/tests/runbed.h"

#include "sim/lower/lower.h"
#include "traces/read/format.h"
#include "validate/tests/synth.h"
#include "validate/tests/test.h"

void runbed_random(struct runbed *b, struct rng *r)
{
	bool experts;
	int layers;

	*b = (struct runbed){ .a = arena_new(0), .yaml = STR_INIT, .e = ERR_INIT };
	experts = rng_below(r, 2); /* one draw a statement: the order of evaluation is the compiler's */
	layers = 1 + (int)rng_below(r, 4);
	b->s = synth_step(r, b->a, layers, experts);
	synth_machine(r, &b->yaml);
}

static void load(struct runbed *b, enum trace_format f, const char *path, const char *range)
{
	struct trace t;
	struct lower_stats st;
	struct trace_import_stats is;

	*b = (struct runbed){ .a = arena_new(0), .yaml = STR_INIT, .e = ERR_INIT };
	CHECK((b->db = tracedb_open(":memory:", DB_WRITE, &b->e)) != NULL);
	CHECK_OK(format_import(b->db, f, path, NULL, NULL, &is, &b->e), b->e);
	CHECK_OK(tracedb_load(b->db, range, b->a, &t, &b->e), b->e);
	CHECK((b->rules = rules_load(NULL, &b->e)) != NULL);
	CHECK_OK(lower_trace(&t, b->rules, b->a, &b->traced, &st, &b->e), b->e);
	b->s = &b->traced;
}

void runbed_traced(struct runbed *b, const char *trace, const char *range)
{
	char path[512];

	snprintf(path, sizeof path, "%s/traces/h200/%s.json.gz", test_root(), trace);
	load(b, FORMAT_KINETO, path, range);
}

void runbed_ops(struct runbed *b, const char *table)
{
	char path[512];

	snprintf(path, sizeof path, "%s/workloads/ops/pays/%s", test_root(), table);
	load(b, FORMAT_OPS, path, NULL);
}

void runbed_table(struct runbed *b, const char *text)
{
	char path[512];
	FILE *f = fopen(test_path(path, sizeof path, "ops.csv"), "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
	load(b, FORMAT_OPS, path, NULL);
}

void runbed_model(struct runbed *b, const char *model, const struct build_how *how)
{
	struct build_how as = *how;
	struct model *m;

	*b = (struct runbed){ .a = arena_new(0), .yaml = STR_INIT, .e = ERR_INIT };
	CHECK((m = model_load(model, &b->e)) != NULL);
	as.kv = as.kv ? as.kv : m->dtype;
	CHECK(as.quant || (as.quant = scheme_find(m->quant ? m->quant : "bf16", &b->e)) != NULL);
	CHECK_OK(build_stream(m, &as, b->a, &b->traced, &b->e), b->e);
	b->s = &b->traced;
	model_free(m);
}

void runbed_down(struct runbed *b)
{
	rules_free(b->rules);
	tracedb_free(b->db);
	arena_free(b->a);
	str_free(&b->yaml);
}

bool runbed_run(struct runbed *b, const char *config, const char *const *sets, int n, const struct run_opts *o,
                struct run_result *x)
{
	char path[512];
	struct machine_conf *c;
	int rc;

	snprintf(path, sizeof path, "%s/%s", test_root(), config ? config : "");
	c = config ? machine_conf_load(path, sets, n, &b->e)
	           : machine_conf_parse(b->yaml.p, b->yaml.len, "synth.yaml", sets, n, &b->e);
	if (!c)
		test_fail(__FILE__, __LINE__, "%s\n%s", b->e.msg, str_c(&b->yaml));
	rc = run_stream(b->s, c, o, b->a, x, &b->e);
	machine_conf_free(c);
	if (rc < 0 && b->e.kind == ERR_CONFIG) {
		err_clear(&b->e);
		return false;
	}
	if (rc < 0)
		test_fail(__FILE__, __LINE__, "%s\n%s", b->e.msg, str_c(&b->yaml));
	return true;
}

uint64_t runbed_stat(const struct run_result *x, const char *name)
{
	for (size_t i = 0; i < x->n_stats; i++)
		if (strcmp(x->stats[i].name, name) == 0)
			return x->stats[i].value;
	return 0;
}
