/* validate_gpu.c - npusim validate on profiles of a GPU and on published tables: its model against kernels that were
 * measured. */
#include "sim/cli/validate.h"

#include "sim/accuracy/accuracy.h"
#include "sim/base/hash.h"
#include "sim/base/version.h"
#include "sim/cli/gpu_energy.h"
#include "sim/report/samples_doc.h"
#include "sim/ui/outfile.h"

static int validate_gpu_store(const struct gpu_inputs *l, const struct gpu_options *g, const struct validate_gpu *o,
                              struct err *e)
{
	struct accuracy acc = { .device = l->conf->cfg.name,
		                .config = g->config,
		                .split = sample_split_name(o->split),
		                .build = npusim_build_id() };
	struct arena *a = arena_new(0);
	struct str text = STR_INIT;
	struct score *all;
	char model[17], digest[17];
	uint64_t h = HASH_INIT;
	int n, rc = -1;

	for (size_t i = 0; i < l->n_traces; i++)
		h = hash_str(h, l->traces[i].trace.digest);
	hash_hex(h, digest);
	accuracy_model(cfg_hash(l->conf->raw), kernels_hash(l->kernels), model);
	acc.model = model;
	acc.digest = digest;
	if ((n = score_samples(l->sets, l->n, o->split, SCORE_ALL, a, &all, e)) > 0 &&
	    (n = score_samples(l->sets, l->n, o->split, SCORE_CLASS, a, &acc.classes, e)) > 0) {
		acc.all = all[0];
		acc.n = (size_t)n;
		accuracy_write(&acc, &text);
		rc = outfile_write(o->output, &text, e);
	} else if (n == 0) {
		err_set(e, ERR_BOUND, "no sample to validate");
	}
	str_free(&text);
	arena_free(a);
	return rc;
}

int validate_gpu(const struct gpu_options *g, const struct validate_gpu *o, struct doc *d, struct err *e)
{
	struct gpu_inputs l;
	struct gpu_energies x = { .n = 0 };
	int rc = gpu_inputs_read(&l, g, e);

	if (rc == 0)
		rc = gpu_energies_read(&x, o->energy, l.conf, l.kernels, e);
	if (rc == 0)
		rc = samples_doc(d,
		                 &(struct samples_doc){ l.sets, l.n, l.table_stats, l.n_tables, x.v, x.n, o->split,
		                                        o->worst, o->groups },
		                 e);
	if (rc == 0 && o->output)
		rc = validate_gpu_store(&l, g, o, e);
	if (rc == 0 && l.n)
		rc = score_check(l.sets, l.n, o->split, o->most, e);
	gpu_energies_free(&x);
	gpu_inputs_free(&l);
	return rc;
}
