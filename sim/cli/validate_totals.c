/* validate_totals.c - npusim validate --totals: whole steps simulated and measured, and how many of them the intervals of
 * npusim run hold, also where those are found without a step's device or model. */
#include "sim/cli/validate.h"

#include <math.h>
#include <string.h>

#include "sim/accuracy/sure.h"
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
	struct sure_total *npu;
	size_t n_npu;
	double npu_quantile;
	struct sure_total *v;
	size_t n;
};

static void cover_row(struct out_table *t, const char *what, const struct totals *x, enum sure_without w,
                      const char *only)
{
	const struct sure_cover c = sure_cover(x->v, x->n, w, only);

	out_text(t, what);
	out_int(t, (int64_t)c.n);
	out_int(t, (int64_t)c.in);
	out_real(t, cmd_pct((double)c.in, (double)c.n));
	out_real(t, 100 * c.half);
}

static void cover(const struct totals *x, enum out_format f, struct str *out)
{
	static const struct out_col cols[] = { { "intervals found on", OUT_TEXT, 0 },
		                               { "totals", OUT_INT, 0 },
		                               { "held", OUT_INT, 0 },
		                               { "held_pct", OUT_REAL, 1 },
		                               { "median_half_width_pct", OUT_REAL, 2 } };
	struct out_table *t =
		out_table_new(cols, sizeof cols / sizeof *cols, "how many totals their 80 % intervals hold");

	cover_row(t, "all", x, SURE_ALL, NULL);
	cover_row(t, "all but the total's device", x, SURE_DEVICE, NULL);
	cover_row(t, "all but the total's model", x, SURE_MODEL, NULL);
	if (x->n_npu) {
		const struct totals npu = { .v = x->npu, .n = x->n_npu };

		cover_row(t, "an NPU's", &npu, SURE_ALL, NULL);
		cover_row(t, "an NPU's but the total itself", &npu, SURE_MODEL, NULL);
	}
	out_table_write(t, f, out);
	out_table_free(t);
}

static void list(const struct totals *x, struct str *out)
{
	static const struct out_col cols[] = {
		{ "device", OUT_TEXT, 0 },         { "step", OUT_TEXT, 0 },         { "way", OUT_TEXT, 0 },
		{ "measured_us", OUT_REAL, 1 },    { "simulated_us", OUT_REAL, 1 }, { "error_pct", OUT_REAL, 1 },
		{ "half_width_pct", OUT_REAL, 1 }, { "held", OUT_TEXT, 0 },
	};
	const double q = sure_quantile(x->v, x->n, NULL, NULL);
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, "the totals");

	for (size_t i = 0; i < x->n; i++) {
		const struct sure_total *s = &x->v[i];

		out_text(t, s->device);
		out_text(t, s->step);
		out_text(t, s->way);
		out_real(t, s->measured_us);
		out_real(t, s->simulated_us);
		out_real(t, 100 * (s->simulated_us / s->measured_us - 1));
		out_real(t, 100 * (exp(q * s->spread) - 1));
		out_text(t, s->z <= q ? "yes" : "no");
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

static bool first_of_device(const struct totals *x, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(x->v[k].device, x->v[i].device) == 0)
			return false;
	return true;
}

static int store(const struct totals *x, const char *path, struct err *e)
{
	struct str s = STR_INIT;
	bool any = false;
	int rc;

	str_addf(
		&s,
		"# Written by npusim validate --totals: how wide the intervals of npusim run are (sim/accuracy/sure.h).\n"
		"build: %s\nquantile: %.4f\nnpu_quantile: %.4f\ntotals: %zu\nelsewhere: %d\nnpu: %s\nheld: \"",
		npusim_build_id(), sure_quantile(x->v, x->n, NULL, NULL), x->npu_quantile, x->n, ELSEWHERE, NPU_FILE);
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
	struct sure now;
	char file[512];

	if (!path) {
		x->npu_quantile = sure_load(x->a, &now, e) > 0 ? now.npu_quantile : SURE_NORMAL;
		return e->kind ? -1 : 0;
	}
	if (path_data(NPU_FILE, file, sizeof file, e) < 0 || accuracy_load(file, x->a, &x->silicon, e) < 0 ||
	    sure_totals(path, x->a, &x->npu, &x->n_npu, e) < 0)
		return -1;
	sure_judge(x->npu, x->n_npu, &x->silicon);
	x->npu_quantile = sure_quantile(x->npu, x->n_npu, NULL, NULL);
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
	if (sure_totals(path, x->a, &x->v, &x->n, e) < 0)
		return -1;
	sure_judge(x->v, x->n, &x->acc);
	return read_npu(x, npu, e);
}

int validate_totals(const char *path, const char *npu, const char *output, enum out_format f, struct str *out,
                    struct err *e)
{
	struct totals x = { .n = 0 };
	int rc = read(&x, path, npu, e);

	if (rc == 0) {
		cover(&x, f, out);
		if (f == OUT_TABLE) {
			str_addf(out,
			         "\n%.3f spreads on either side; the mean error of a class's sample is %.2f %%\n\n",
			         sure_quantile(x.v, x.n, NULL, NULL), x.acc.all.mape);
			list(&x, out);
		}
	}
	if (rc == 0 && output)
		rc = store(&x, output, e);
	arena_free(x.a);
	return rc;
}
