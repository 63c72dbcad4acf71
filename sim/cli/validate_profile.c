/* validate_profile.c - npusim validate --profile: a step's kernels on a device of which only sums were published.
 */
#include "sim/cli/validate.h"

#include <stdlib.h>
#include <string.h>

#include "arch/gpu/gpu_geometry.h"
#include "arch/machine/machine_gpu.h"
#include "sim/profile/classify.h"
#include "traces/read/nsys_csv.h"

struct family {
	const char *name;
	double measured_n, measured_us, simulated_us;
	uint64_t simulated_n;
};

struct sums {
	struct family *v;
	size_t n, cap;
	struct family all;
};

static struct family *family(struct sums *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i].name, name) == 0)
			return &s->v[i];
	if (s->n == s->cap)
		return NULL;
	s->v[s->n] = (struct family){ .name = name };
	return &s->v[s->n++];
}

/* A kernel's family by its name alone: all that a profile of sums says. */
static const char *family_of(struct rules *r, const char *kernel)
{
	const struct trace_launch l = { .name = kernel };
	const struct rule *rule = rules_match(r, &l);

	return rule ? rule->family : "unknown";
}

static int read_profile(const char *path, struct arena *a, struct trace *t, struct err *e)
{
	struct tracedb *db = tracedb_open(":memory:", DB_WRITE, e);
	struct input *in = db ? input_open(path, e) : NULL;
	struct trace_import_stats st;
	int rc = -1;

	if (in && nsys_csv_import(db, in, NULL, NULL, &st, e) >= 0)
		rc = tracedb_load_any(db, NULL, a, t, e);
	input_free(in);
	tracedb_free(db);
	return rc;
}

static int measured(const struct validate_profile *p, struct rules *r, struct arena *a, struct sums *s, struct err *e)
{
	struct trace t;

	if (read_profile(p->path, a, &t, e) < 0)
		return -1;
	for (size_t i = 0; i < t.n_stats; i++) {
		struct family *f = family(s, family_of(r, t.stats[i].name));
		double us = (double)t.stats[i].total_ns / 1e3 / (double)p->steps;

		if (!f)
			return err_set(e, ERR_IO, "'%s' has more families of kernels than are counted", p->path);
		f->measured_n += (double)t.stats[i].instances / (double)p->steps;
		f->measured_us += us;
		s->all.measured_n += (double)t.stats[i].instances / (double)p->steps;
		s->all.measured_us += us;
	}
	return 0;
}

static int simulated(const struct gpu_options *o, const struct validate_profile *p, struct rules *r, struct arena *a,
                     struct sums *s, struct err *e)
{
	struct machine_conf *conf = machine_conf_load(o->config, o->sets.v, o->sets.n, e);
	struct kernels *k = conf ? kernels_load(o->kernels, e) : NULL;
	struct gpu_traffic *traffic = k ? gpu_traffic_new(&conf->cfg.mem, conf->cfg.clock, e) : NULL;
	struct workload t = { .model = NULL };
	struct op_stream here;
	struct gpu_work w;
	struct gpu g;
	int rc = -1;

	if (!traffic ||
	    cmd_workload_read(&(struct workload_spec){ o->traces.v[0], .range = p->range, .rules = o->rules },
	                      &conf->cfg, &t, e) < 0)
		goto out;
	g = machine_gpu(&conf->cfg);
	if (gpu_geometry_work(&g, k, &t.stream, a, &here, &w, e) < 0 || gpu_work_run(&w, true, traffic, e) < 0)
		goto out;
	for (size_t i = 0; i < w.n; i++) {
		double us = (double)gpu_time(&g, &w.launches[i]).total / 1e6;
		struct family *f;

		if (w.launches[i].at->kind != TRACE_KERNEL)
			continue;
		if (!(f = family(s, arena_strdup(a, family_of(r, w.launches[i].at->name))))) {
			err_set(e, ERR_IO, "'%s' has more families of kernels than are counted", o->traces.v[0]);
			goto out;
		}
		f->simulated_n++;
		f->simulated_us += us;
		s->all.simulated_n++;
		s->all.simulated_us += us;
	}
	rc = 0;
out:
	workload_free(&t);
	gpu_traffic_free(traffic);
	kernels_free(k);
	machine_conf_free(conf);
	return rc;
}

static int by_time(const void *a, const void *b)
{
	const struct family *x = a, *y = b;
	double v = x->measured_us > 0 || y->measured_us > 0 ? y->measured_us - x->measured_us
	                                                    : y->simulated_us - x->simulated_us;

	return v > 0 ? 1 : v < 0 ? -1 : strcmp(x->name, y->name);
}

static void row(struct doc *d, const void *of, size_t i)
{
	const struct sums *s = of;
	const struct family *f = i < s->n ? &s->v[i] : &s->all, *all = &s->all;

	doc_text(d, "family", i < s->n ? f->name : "all");
	doc_real(d, "measured_n", 1, f->measured_n);
	doc_count(d, "simulated_n", f->simulated_n);
	doc_real(d, "measured_us", 1, f->measured_us);
	doc_real(d, "simulated_us", 1, f->simulated_us);
	doc_real_if(d, "error_pct", 1, f->measured_us > 0, 100 * (f->simulated_us - f->measured_us) / f->measured_us);
	doc_real(d, "measured_share", 1, cmd_pct(f->measured_us, all->measured_us));
	doc_real(d, "simulated_share", 1, cmd_pct(f->simulated_us, all->simulated_us));
}

int validate_profile(const struct gpu_options *o, const struct validate_profile *p, struct doc *d, struct err *e)
{
	struct arena *a = arena_new(MEASURED_MEMORY);
	struct rules *r = rules_load(o->rules, e);
	struct sums s = { .cap = 64 };
	double off;
	int rc = -1;

	if (!r || !a || !(s.v = arena_array(a, s.cap, sizeof *s.v))) {
		if (!e->kind)
			err_set(e, ERR_NOMEM, "out of memory for families of kernels");
		goto out;
	}
	if (measured(p, r, a, &s, e) < 0 || simulated(o, p, r, a, &s, e) < 0)
		goto out;
	qsort(s.v, s.n, sizeof *s.v, by_time);
	doc_table(d, NULL, "kernels of a step, by family", s.n + 1, row, &s);
	off = 100 * (s.all.simulated_us - s.all.measured_us) / s.all.measured_us;
	rc = 0;
	if (p->most >= 0 && (off > p->most || -off > p->most))
		rc = err_set(e, ERR_BOUND, "the step's kernels are %.2f %% off, more than --max-mape allows (%.2f %%)",
		             off, p->most);
out:
	rules_free(r);
	arena_free(a);
	return rc;
}
