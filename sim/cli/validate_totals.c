/* validate_totals.c - npusim validate --totals: whole steps simulated and measured, and how many of them the intervals of
 * npusim run hold, also where those are found without a step's device or model. */
#include "sim/cli/validate.h"

#include <math.h>
#include <string.h>

#include "sim/accuracy/interval.h"
#include "sim/base/path.h"
#include "sim/base/version.h"
#include "sim/ui/outfile.h"

/* On GPUs that were described from sheets and microbenchmarks, errors of published tables are 9 to 19 % (validate/ACCURACY.md),
 * about three times the H200's. */
#define ELSEWHERE 3
#define NPU_FILE  "configs/accuracy/tpu-v6e.yaml"

struct totals {
	struct arena *a;
	struct accuracy acc, silicon;
	struct interval_total *npu;
	size_t n_npu;
	double npu_quantile;
	struct interval_total *v;
	size_t n;
};

struct cover {
	const char *what;
	const struct totals *x;
	enum interval_without w;
};

static void cover_row(struct doc *d, const void *of, size_t i)
{
	const struct cover *r = (const struct cover *)of + i;
	const struct interval_cover c = interval_cover(r->x->v, r->x->n, r->w, NULL);

	doc_text(d, "intervals found on", r->what);
	doc_count(d, "totals", c.n);
	doc_count(d, "held", c.in);
	doc_real(d, "held_pct", 1, unit_pct((double)c.in, (double)c.n));
	doc_real(d, "median_half_width_pct", 2, 100 * c.half);
}

static void cover(struct doc *d, const struct totals *x)
{
	const struct totals npu = { .v = x->npu, .n = x->n_npu };
	const struct cover rows[] = {
		{ "all", x, INTERVAL_ALL },
		{ "all but the total's device", x, INTERVAL_DEVICE },
		{ "all but the total's model", x, INTERVAL_MODEL },
		{ "an NPU's", &npu, INTERVAL_ALL },
		{ "an NPU's but the total itself", &npu, INTERVAL_MODEL },
	};

	doc_table(d, NULL, "how many totals their 80 % intervals hold", x->n_npu ? 5 : 3, cover_row, rows);
}

static void total(struct doc *d, const void *of, size_t i)
{
	const struct totals *x = of;
	const struct interval_total *s = &x->v[i];
	const double q = d->heads ? 0 : interval_quantile(x->v, x->n, NULL, NULL);

	doc_text(d, "device", s->device);
	doc_text(d, "step", s->step);
	doc_text(d, "way", s->way);
	doc_real(d, "measured_us", 1, s->measured_us);
	doc_real(d, "simulated_us", 1, s->simulated_us);
	doc_real(d, "error_pct", 1, 100 * (s->simulated_us / s->measured_us - 1));
	doc_real(d, "half_width_pct", 1, 100 * (exp(q * s->spread) - 1));
	doc_text(d, "held", s->z <= q ? "yes" : "no");
}

static bool first_of_device(const struct totals *x, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(x->v[k].device, x->v[i].device) == 0)
			return false;
	return true;
}

static int validate_totals_store(const struct totals *x, const char *path, struct err *e)
{
	struct str s = STR_INIT;
	bool any = false;
	int rc;

	str_addf(
		&s,
		"# Written by npusim validate --totals: how wide the intervals of npusim run are (sim/accuracy/interval.h).\n"
		"build: %s\nquantile: %.4f\nnpu_quantile: %.4f\nshared: %.4f\ntotals: %zu\nelsewhere: %d\nnpu: %s\nheld: \"",
		npusim_build_id(), interval_quantile(x->v, x->n, NULL, NULL), x->npu_quantile,
		interval_shared(x->v, x->n, &x->acc, NULL), x->n, ELSEWHERE, NPU_FILE);
	for (size_t i = 0; i < x->n; i++)
		if (first_of_device(x, i)) {
			str_addf(&s, "%s%s", any ? " " : "", x->v[i].device);
			any = true;
		}
	str_add(&s, "\"\n");
	rc = outfile_write(path, &s, e);
	str_free(&s);
	return rc;
}

/* Of an NPU: from its totals, else what stands in the file. */
static int read_npu(struct totals *x, const char *path, struct err *e)
{
	struct interval now;
	char file[512];

	if (!path) {
		x->npu_quantile = interval_load(x->a, &now, e) > 0 ? now.npu_quantile : INTERVAL_NORMAL;
		return e->kind ? -1 : 0;
	}
	if (path_data(NPU_FILE, file, sizeof file, e) < 0 || accuracy_load(file, x->a, &x->silicon, e) < 0 ||
	    interval_totals(path, x->a, &x->npu, &x->n_npu, e) < 0)
		return -1;
	interval_deviations(x->npu, x->n_npu, &x->silicon);
	x->npu_quantile = interval_quantile(x->npu, x->n_npu, NULL, NULL);
	return 0;
}

static int read(struct totals *x, const char *path, const char *npu, struct err *e)
{
	int rc;

	if (!(x->a = arena_new(MEASURED_MEMORY)))
		return err_nomem(e, "for totals");
	if ((rc = accuracy_load(NULL, x->a, &x->acc, e)) <= 0)
		return rc < 0 ? -1
		              : err_set(e, ERR_IO, "there is no configs/accuracy/h200.yaml: 'make accuracy' writes it");
	if (interval_totals(path, x->a, &x->v, &x->n, e) < 0)
		return -1;
	interval_deviations(x->v, x->n, &x->acc);
	return read_npu(x, npu, e);
}

int validate_totals(const char *path, const char *npu, const char *output, struct doc *d, struct err *e)
{
	struct totals x = { .n = 0 };
	int rc = read(&x, path, npu, e);

	if (rc == 0) {
		cover(d, &x);
		doc_say(d, "\n%.3f spreads on either side; the mean error of a class's sample is %.2f %%\n\n",
		        interval_quantile(x.v, x.n, NULL, NULL), x.acc.all.mape);
		if (d->format == OUT_TABLE)
			doc_table(d, NULL, "the totals", x.n, total, &x);
	}
	if (rc == 0 && output)
		rc = validate_totals_store(&x, output, e);
	arena_free(x.a);
	return rc;
}
