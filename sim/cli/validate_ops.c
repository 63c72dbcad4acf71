/* validate_ops.c - npusim validate on tables of ops: each row alone on a machine of whichever kind, against its measured
 * time, with a plain roofline's error beside it. */
#include "sim/cli/validate.h"

#include "sim/accuracy/silicon.h"
#include "sim/base/hash.h"
#include "sim/base/version.h"
#include "sim/cli/ops_rows.h"
#include "sim/report/rows_doc.h"
#include "sim/ui/outfile.h"

/* What `npusim run` then tells of answers of NPUs (silicon.h). */
static int validate_ops_store(const struct ops_rows *t, const struct gpu_options *g, const struct validate_ops *o,
                              struct err *e)
{
	struct accuracy acc = { .device = t->conf->cfg.name,
		                .config = g->config,
		                .split = sample_split_name(o->split),
		                .build = npusim_build_id() };
	struct str text = STR_INIT;
	char model[17], digest[17];
	uint64_t h = HASH_INIT;
	int rc;

	for (size_t i = 0; i < t->rows.sim.all.n; i++)
		h = hash_u64(hash_u64(h, t->rows.sim.all.v[i].hash), t->rows.sim.all.v[i].measured_ns);
	hash_hex(h, digest);
	silicon_model(t->conf, model);
	acc.model = model, acc.digest = digest;
	if (silicon_classes(&t->rows, t->arena, &acc, e) < 0)
		return -1;
	accuracy_write(&acc, &text);
	rc = outfile_write(o->output, &text, e);
	str_free(&text);
	return rc;
}

int validate_ops(const struct gpu_options *g, const struct validate_ops *o, struct doc *d, struct err *e)
{
	struct ops_rows t = { .conf = NULL };
	const struct ops_rows_how how = { o->start, o->fidelity, o->split, o->twin };
	int rc = ops_rows_run(&t, g, &how, e);
	struct rows_doc_table *tables = rc == 0 ? arena_array(t.arena, t.n + 1, sizeof *tables) : NULL;

	if (rc == 0 && !tables)
		rc = err_nomem(e, "for tables");
	for (size_t i = 0; rc == 0 && i < t.n; i++)
		tables[i] = (struct rows_doc_table){ g->traces.v[i], t.ends[i] };
	if (rc == 0 && o->taken && t.n_blocks)
		rc = err_set(e, ERR_USAGE, "'--taken' is of tables of ops, and there is one of blocks");
	if (rc == 0)
		rc = rows_doc(d,
		              &(struct rows_doc){ t.conf, &t.rows, t.n_blocks, o->start, o->fidelity, o->split,
		                                  o->worst, t.arena, o->taken, tables, t.n },
		              e);
	if (rc == 0 && o->output)
		rc = validate_ops_store(&t, g, o, e);
	if (rc == 0)
		rc = score_check(&t.rows.sim.all, 1, SAMPLE_ALL, o->most, e);
	ops_rows_free(&t);
	return rc;
}
