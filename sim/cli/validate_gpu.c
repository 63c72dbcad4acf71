/* validate_gpu.c - npusim validate on profiles of a GPU and on published tables: its model against kernels that were
 * measured. */
#include "sim/cli/validate.h"

#include <stdlib.h>
#include <string.h>

#include "sim/accuracy/accuracy.h"
#include "sim/base/hash.h"
#include "sim/base/version.h"
#include "sim/cli/gpu_energy.h"
#include "sim/report/score_doc.h"
#include "sim/ui/outfile.h"

/* --- samples ------------------------------------------------------------------------------------------------------ */

static bool fitted(const struct sample *x)
{
	return x->split == SAMPLE_FITTED;
}

static bool held_out(const struct sample *x)
{
	return x->split == SAMPLE_HELD_OUT;
}

static bool (*keep_of(const char *split))(const struct sample *)
{
	return strcmp(split, "fitted") == 0 ? fitted : strcmp(split, "held-out") == 0 ? held_out : NULL;
}

static int by_error(const void *a, const void *b)
{
	return score_worse_first(sample_error(*(const struct sample *const *)a),
	                         sample_error(*(const struct sample *const *)b));
}

static const struct sample **kept(const struct gpu_inputs *l, const char *split, size_t *n)
{
	bool (*keep)(const struct sample *) = keep_of(split);
	const struct sample **v;
	size_t most = 1;

	*n = 0;
	for (size_t i = 0; i < l->n; i++)
		most += l->sets[i].n;
	if (!(v = malloc(most * sizeof *v)))
		return NULL;
	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k < l->sets[i].n; k++)
			if (!keep || keep(&l->sets[i].v[k]))
				v[(*n)++] = &l->sets[i].v[k];
	return v;
}

static void sample(struct doc *d, const void *of, size_t i)
{
	const struct sample *x = d->heads ? NULL : ((const struct sample *const *)of)[i];

	doc_text(d, "sample", x->name);
	doc_text(d, "class", x->cls);
	doc_text(d, "group", x->group);
	doc_text(d, "split", x->split == SAMPLE_FITTED ? "fitted" : "held-out");
	doc_ns(d, "measured_us", 3, x->measured_ns);
	doc_ns(d, "low_us", 3, x->low_ns);
	doc_ns(d, "high_us", 3, x->high_ns);
	doc_ps(d, "simulated_us", 3, x->time.total);
	doc_real(d, "error_pct", 1, sample_error(x));
	doc_text(d, "bound", res_name(x->time.bound));
	doc_ps(d, "launch_us", 3, x->time.launch);
	doc_ps(d, "start_us", 3, x->time.start);
	doc_ps(d, "chain_us", 3, x->time.chain);
	doc_ps(d, "memory_us", 3, x->time.memory);
	doc_ps(d, "pipe_us", 3, x->time.pipe);
	doc_ps(d, "finish_us", 3, x->time.finish);
}

/* All of them for programs, the worst for people. */
static int samples(struct doc *d, const struct gpu_inputs *l, const struct validate_gpu *o, struct err *e)
{
	const bool people = d->format == OUT_TABLE;
	size_t n;
	const struct sample **v = kept(l, o->split, &n);

	if (!v)
		return err_nomem(e, "for samples");
	if (people)
		qsort(v, n, sizeof *v, by_error);
	if (!people || (o->worst && n)) {
		doc_say(d, "\n");
		doc_table(d, NULL, "the worst", people && n > o->worst ? o->worst : n, sample, v);
	}
	free(v);
	return 0;
}

/* --- errors by one thing that samples differ in ------------------------------------------------------------------- */

struct breakdown {
	enum score_by by;
	const char *title, *first; /* first: the column's name */
	bool total;                /* a last row over all of them */
};

struct scores {
	const struct score *v, *all; /* all: NULL: no such row */
	const char *first;
	size_t n;
};

static void score(struct doc *d, const void *of, size_t i)
{
	const struct scores *x = of;
	const struct score *s = i < x->n ? &x->v[i] : x->all;

	doc_text(d, x->first, i < x->n ? s->cls : "all");
	score_doc_errors(d, "n", s);
	if (d->format != OUT_JSON)
		doc_real_if(d, "spread", 2, s->spread >= 0, s->spread);
	score_doc_sums(d, s);
}

static int score_table(struct doc *d, const struct gpu_inputs *l, const char *split, const struct breakdown *b,
                       struct err *e)
{
	struct arena *a = arena_new(0);
	struct score *v = NULL, *all = NULL;
	const int n = score_samples(l->sets, l->n, keep_of(split), b->by, a, &v, e);
	const int m = n >= 0 && b->total ? score_samples(l->sets, l->n, keep_of(split), SCORE_ALL, a, &all, e) : n;

	if (n >= 0 && m >= 0) {
		const struct scores x = { v, b->total && m > 0 ? all : NULL, b->first, (size_t)n };

		doc_table(d, "classes", b->title, x.n + (x.all != NULL), score, &x);
	}
	arena_free(a);
	return n < 0 || m < 0 ? -1 : 0;
}

/* --- the document ------------------------------------------------------------------------------------------------- */

/* Of published tables: what no sample stands for. */
static void left_out(struct doc *d, const struct gpu_inputs *l)
{
	for (size_t i = 0; i < l->n_tables; i++) {
		const struct tables_stats *s = &l->table_stats[i];

		if (s->host_bound)
			doc_say(d,
			        "\nleft out: %zu rows of block-scaled fp8, run without a graph (times of the host)\n",
			        s->host_bound);
		if (s->no_rule)
			doc_say(d, "\nleft out: %zu rows of a type that no library's rule is known for\n", s->no_rule);
	}
}

static int print_times(struct doc *d, const struct gpu_inputs *l, const struct validate_gpu *o, struct err *e)
{
	static const struct breakdown tables[] = {
		{ SCORE_CLASS, "error by class, percent of the measured time", "class", true },
		{ SCORE_SIZE, "by measured time", "time", false },
		{ SCORE_BOUND, "by what the model says bounds it", "bound", false },
		{ SCORE_GROUP, "by kind of case, or by annotation: a step", "group", false }, /* if asked for */
	};

	for (size_t i = 0; i < sizeof tables / sizeof *tables - !o->groups; i++) {
		doc_say(d, i ? "\n" : "");
		if (score_table(d, l, o->split, &tables[i], e) < 0)
			return -1;
	}
	if (samples(d, l, o, e) < 0)
		return -1;
	left_out(d, l);
	return 0;
}

static int print_json(struct doc *d, const struct gpu_inputs *l, const struct gpu_energies *x,
                      const struct validate_gpu *o, struct err *e)
{
	static const struct breakdown classes = { SCORE_CLASS, NULL, "class", false };
	struct arena *a = arena_new(0);
	struct score *all;
	const int n = score_samples(l->sets, l->n, keep_of(o->split), SCORE_ALL, a, &all, e);
	int rc = n < 0 ? -1 : 0;

	doc_open(d, NULL, '{');
	if (n > 0) {
		score_doc_errors(d, "samples", &all[0]);
		score_doc_sums(d, &all[0]);
	} else {
		doc_count(d, "samples", 0);
	}
	doc_text(d, "split", o->split);
	if (rc == 0)
		rc = score_table(d, l, o->split, &classes, e);
	if (rc == 0 && x->n)
		rc = gpu_energies_doc(d, x, o->split, 0, NULL, e);
	doc_close(d, '}');
	arena_free(a);
	return rc;
}

static int print(struct doc *d, const struct gpu_inputs *l, const struct gpu_energies *x, const struct validate_gpu *o,
                 struct err *e)
{
	if (d->format == OUT_JSON)
		return print_json(d, l, x, o, e);
	if (d->format == OUT_CSV)
		return x->n ? gpu_energies_doc(d, x, o->split, 0, NULL, e) : samples(d, l, o, e);
	if (l->n && print_times(d, l, o, e) < 0)
		return -1;
	if (!x->n)
		return 0;
	doc_say(d, l->n ? "\n" : "");
	return gpu_energies_doc(d, x, o->split, o->worst, GPU_ENERGY_TITLE, e);
}

static int check_mape(const struct gpu_inputs *l, const struct validate_gpu *o, struct err *e)
{
	struct arena *a = arena_new(0);
	struct score *s;
	int n = score_samples(l->sets, l->n, keep_of(o->split), SCORE_ALL, a, &s, e);

	if (n == 0)
		n = err_set(e, ERR_BOUND, "no sample to validate");
	else if (n > 0 && o->most >= 0 && s[0].mape > o->most)
		n = err_set(e, ERR_BOUND, "the mean error is %.2f %%, more than --max-mape allows (%.2f %%)", s[0].mape,
		            o->most);
	arena_free(a);
	return n < 0 ? -1 : 0;
}

/* --- the accuracy file -------------------------------------------------------------------------------------------- */

static int store(const struct gpu_inputs *l, const struct gpu_options *g, const struct validate_gpu *o, struct err *e)
{
	struct accuracy acc = {
		.device = l->conf->cfg.name, .config = g->config, .split = o->split, .build = npusim_build_id()
	};
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
	if ((n = score_samples(l->sets, l->n, keep_of(o->split), SCORE_ALL, a, &all, e)) <= 0 ||
	    (n = score_samples(l->sets, l->n, keep_of(o->split), SCORE_CLASS, a, &acc.classes, e)) < 0) {
		rc = n == 0 ? err_set(e, ERR_BOUND, "no sample to validate") : -1;
		goto out;
	}
	acc.all = all[0];
	acc.n = (size_t)n;
	accuracy_write(&acc, &text);
	rc = outfile_write(o->output, &text, e);
out:
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
		rc = print(d, &l, &x, o, e);
	if (rc == 0 && o->output)
		rc = store(&l, g, o, e);
	if (rc == 0 && l.n)
		rc = check_mape(&l, o, e);
	gpu_energies_free(&x);
	gpu_inputs_free(&l);
	return rc;
}
