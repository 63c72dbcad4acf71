#include "sim/accuracy/interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/path.h"
#include "sim/base/yaml.h"

#define FILE_NAME "configs/accuracy/intervals.yaml"
#define FEW       5 /* samples: fewer say less of a class than all of them together */

/* --- the file ------------------------------------------------------------------------------------------------------------ */

static int interval_number(const struct yaml *y, const char *key, double *out, struct err *e)
{
	const struct ynode *n = ynode_get(yaml_root(y), key);
	const char *s;
	char *end;

	if (!n)
		return yaml_err(y, yaml_root(y), e, "'%s' is missing", key);
	if (yaml_str(y, n, &s, e) < 0)
		return -1;
	*out = strtod(s, &end);
	return *end || end == s || !(*out > 0 && *out < 1e6) ? yaml_err(y, n, e, "'%s' is no positive number", s) : 0;
}

static int interval_read_file(const struct yaml *y, struct arena *a, struct interval *out, struct err *e)
{
	double totals;

	if (interval_number(y, "quantile", &out->quantile, e) < 0 ||
	    interval_number(y, "elsewhere", &out->elsewhere, e) < 0 ||
	    interval_number(y, "shared", &out->shared, e) < 0 ||
	    interval_number(y, "npu_quantile", &out->npu_quantile, e) < 0 ||
	    interval_number(y, "totals", &totals, e) < 0 || yaml_root_text(y, "held", a, &out->held, e) < 0 ||
	    yaml_root_text(y, "npu", a, &out->npu, e) < 0)
		return -1;
	out->totals = (size_t)totals;
	return 0;
}

int interval_load(struct arena *a, struct interval *out, struct err *e)
{
	return interval_load_from(&path_source, a, out, e);
}

int interval_load_from(const struct source *from, struct arena *a, struct interval *out, struct err *e)
{
	char path[512];
	struct interval_met *met;
	struct yaml *y;
	size_t n;
	int rc;

	memset(out, 0, sizeof *out);
	if (!source_find(from, FILE_NAME, path, sizeof path))
		return 0;
	if (!(y = from->read(from, path, e)))
		return -1;
	rc = interval_read_file(y, a, out, e);
	yaml_free(y);
	if (rc < 0 || from->find(from, out->npu, path, sizeof path, e) < 0)
		return -1;
	if (accuracy_load_from(from, path, a, &out->silicon, e) < 0 || interval_met_read(from, a, &met, &n, e) < 0)
		return -1;
	out->shared_family = interval_met_shared(met, n, out->shared, INTERVAL_PARTS);
	return 1;
}

/* --- spreads ------------------------------------------------------------------------------------------------------------- */

void interval_add(struct interval_shares *s, const char *cls, double time)
{
	size_t i = 0;

	while (i < s->n && strcmp(s->v[i].cls, cls) != 0)
		i++;
	if (i == INTERVAL_CLASSES)
		i--; /* the last takes what does not fit */
	if (i == s->n) {
		s->v[s->n].cls = cls;
		s->v[s->n++].time = 0;
	}
	s->v[i].time += time;
	s->all += time;
}

double interval_class_spread(const struct accuracy *acc, const char *cls)
{
	const struct score *s = accuracy_of(acc, cls);
	double mean;

	if (!s)
		return INTERVAL_UNHELD;
	mean = s->n < FEW && s->mape < acc->all.mape ? acc->all.mape : s->mape;
	return INTERVAL_SPREAD_OF_MEAN * mean / 100;
}

double interval_spread(const struct accuracy *acc, const struct interval_shares *s)
{
	double sum = 0;

	for (size_t i = 0; i < s->n && s->all > 0; i++) {
		const double x = s->v[i].time / s->all * interval_class_spread(acc, s->v[i].cls);

		sum += x * x;
	}
	return sqrt(sum);
}

double interval_spread_npu(const struct interval *s, const struct interval_shares *shares, double strange)
{
	const double x = hypot(interval_spread(&s->silicon, shares), INTERVAL_UNHELD * strange);
	double least = INTERVAL_UNHELD;

	for (size_t i = 0; i < s->silicon.n; i++)
		least = fmin(least, interval_class_spread(&s->silicon, s->silicon.classes[i].cls));
	return fmax(x, least);
}

static bool held(const struct interval *s, const char *device)
{
	const size_t n = strlen(device);

	for (const char *p = s->held; *p; p += strcspn(p, " "), p += *p == ' ')
		if (strncmp(p, device, n) == 0 && (p[n] == ' ' || !p[n]))
			return true;
	return false;
}

double interval_spread_gpu(const struct interval *s, const struct accuracy *acc, const struct interval_shares *shares,
                           const char *device)
{
	return interval_spread(acc, shares) * (held(s, device) ? 1 : s->elsewhere);
}
