#include "sim/cli/ops_rows.h"

#include <stdlib.h>

#include "sim/accuracy/blocks.h"
#include "sim/cli/ops_table.h"

static int ops_rows_read_table(struct ops_rows *t, const char *path, bool twin, struct err *e)
{
	struct workload *w = &t->read[t->n++];
	const struct op_stream *s = &w->stream;

	if (cmd_workload_read(&(struct workload_spec){ .trace = path, .rules = t->rules }, &t->conf->cfg, w, e) < 0)
		return -1;
	if (twin && machine_runs(&t->conf->cfg) == MACHINE_LAUNCHES)
		return err_set(e, ERR_USAGE, "'--twin' is of an NPU with a GPU's resources, and '%s' is a GPU",
		               t->conf->path);
	if (twin)
		return 0;
	if (!ops_listed_all(s))
		return err_set(e, ERR_IO, "'%s' is no table of ops (CSV whose header begins with 'op,'): %s", path,
		               machine_runs(&t->conf->cfg) == MACHINE_COMMANDS
		                       ? "an NPU is held against those, each row alone"
		                       : "validate it apart from such tables");
	ops_listed_note(s, machine_runs(&t->conf->cfg));
	return machine_runs(&t->conf->cfg) == MACHINE_LAUNCHES ? rows_have_kernels(s, t->conf, e) : 0;
}

/* Of blocks: a GPU's kernels for them are not modelled. */
static int read_blocks(struct ops_rows *t, const char *path, struct err *e)
{
	struct ops_blocks *b = &t->blocks[t->n_blocks];

	if (machine_runs(&t->conf->cfg) == MACHINE_LAUNCHES)
		return err_set(e, ERR_IO, "'%s' is a table of blocks, which only an NPU is held against", path);
	if (blocks_read(path, t->arena, &b->v, &b->n, e) < 0)
		return -1;
	t->n_blocks++;
	return 0;
}

static int read_one(struct ops_rows *t, const char *path, bool twin, size_t *most, struct err *e)
{
	const int block = measured_is_database(path) ? 0 : blocks_file(path, e);

	if (block < 0 || (block ? read_blocks(t, path, e) : ops_rows_read_table(t, path, twin, e)) < 0)
		return -1;
	*most += block ? t->blocks[t->n_blocks - 1].n : t->read[t->n - 1].stream.n_ops;
	return 0;
}

static int ops_rows_read_all(struct ops_rows *t, const struct gpu_options *g, bool twin, struct err *e)
{
	size_t most = 0;

	if (!(t->conf = machine_conf_load(g->config, g->sets.v, g->sets.n, e)))
		return -1;
	t->rules = g->rules;
	t->read = calloc((size_t)g->traces.n + 1, sizeof *t->read);
	t->blocks = calloc((size_t)g->traces.n + 1, sizeof *t->blocks);
	t->ends = calloc((size_t)g->traces.n + 1, sizeof *t->ends);
	if (!t->read || !t->blocks || !t->ends || !(t->arena = arena_new(MEASURED_MEMORY)))
		return err_nomem(e, "for tables");
	for (int i = 0; i < g->traces.n; i++)
		if (read_one(t, g->traces.v[i], twin, &most, e) < 0)
			return -1;
	return rows_new(&t->rows, most, t->arena, e);
}

int ops_rows_run(struct ops_rows *t, const struct gpu_options *g, const struct ops_rows_how *o, struct err *e)
{
	const struct run_opts how = { .start = o->start, .fidelity = o->fidelity, .seed = RUN_SEED };

	if (ops_rows_read_all(t, g, o->twin, e) < 0)
		return -1;
	for (size_t i = 0; i < t->n; i++) {
		if (rows_add(&t->rows, &t->read[i].stream, t->conf, &how, o->split, t->arena, e) < 0)
			return -1;
		t->ends[i] = t->rows.sim.all.n;
	}
	for (size_t i = 0; i < t->n_blocks; i++)
		if (rows_add_blocks(&t->rows, t->blocks[i].v, t->blocks[i].n, t->conf, &how, o->split, e) < 0)
			return -1;
	return t->rows.sim.all.n ? 0 : err_set(e, ERR_BOUND, "no row with a measured time ('measured_us') to validate");
}

void ops_rows_free(struct ops_rows *t)
{
	for (size_t i = 0; i < t->n; i++)
		workload_free(&t->read[i]);
	free(t->read);
	free(t->blocks);
	free(t->ends);
	arena_free(t->arena);
	machine_conf_free(t->conf);
}

int ops_rows_asked(const struct gpu_options *g, struct err *e)
{
	struct machine_conf *c;
	int rc;

	if (!g->traces.n)
		return 0;
	if (!measured_is_database(g->traces.v[0]) && (rc = blocks_file(g->traces.v[0], e)) != 0)
		return rc;
	if ((rc = ops_listed_file(g->traces.v[0], e)) != 0)
		return rc;
	if (!(c = machine_conf_load(g->config, g->sets.v, g->sets.n, e)))
		return -1;
	rc = machine_runs(&c->cfg) == MACHINE_COMMANDS;
	machine_conf_free(c);
	return rc;
}
