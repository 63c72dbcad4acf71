#include "sim/design/design_model.h"

#include <math.h>
#include <string.h>

#define CONSTANT 1.0
#define LINEAR   1.0
#define NUGGET   1e-5 /* what rounding of values and thresholds of the mapper leave */
#define LEAST    0.125
#define MOST     16.0

struct design_model *design_model_new(size_t dims, const bool *apart, struct arena *a, struct err *e)
{
	const size_t n = DESIGN_MODEL_MOST;
	struct design_model *m = arena_alloc(a, sizeof *m);

	if (!m || !(m->scale = arena_array(a, dims + 1, sizeof *m->scale)) ||
	    !(m->lower = arena_array(a, n * n, sizeof *m->lower)) ||
	    !(m->inverse = arena_array(a, n * n, sizeof *m->inverse)) ||
	    !(m->weight = arena_array(a, n, sizeof *m->weight)) ||
	    !(m->work = arena_array(a, 2 * n, sizeof *m->work))) {
		err_nomem(e, "for a search");
		return NULL;
	}
	m->dims = dims;
	m->apart = apart;
	m->cap = n;
	for (size_t d = 0; d < dims; d++)
		m->scale[d] = 1;
	return m;
}

static double gap(const struct design_model *m, size_t d, double x, double y)
{
	return m->apart[d] ? (x < y || x > y) : x - y;
}

double design_model_alike(const struct design_model *m, const double *x, const double *y)
{
	double r = 0;

	for (size_t d = 0; d < m->dims; d++) {
		const double g = gap(m, d, x[d], y[d]) / m->scale[d];

		r += g * g;
	}
	return 1 / (1 + r / 2);
}

static double kernel(const struct design_model *m, const double *x, const double *y)
{
	double linear = 0;

	for (size_t d = 0; d < m->dims; d++)
		if (!m->apart[d])
			linear += (x[d] - 0.5) * (y[d] - 0.5);
	return CONSTANT + LINEAR * linear + design_model_alike(m, x, y);
}

/* --- Cholesky ------------------------------------------------------------------------------------------------- */

static void factor(struct design_model *m)
{
	const size_t n = m->n;
	double *l = m->lower;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k <= i; k++) {
			double v = kernel(m, m->x[i], m->x[k]) + (i == k ? NUGGET : 0);

			for (size_t j = 0; j < k; j++)
				v -= l[i * n + j] * l[k * n + j];
			l[i * n + k] = i == k ? sqrt(v > 1e-12 ? v : 1e-12) : v / l[k * n + k];
		}
}

static void forward(const struct design_model *m, double *v)
{
	for (size_t i = 0; i < m->n; i++) {
		for (size_t j = 0; j < i; j++)
			v[i] -= m->lower[i * m->n + j] * v[j];
		v[i] /= m->lower[i * m->n + i];
	}
}

static void backward(const struct design_model *m, double *v)
{
	for (size_t i = m->n; i-- > 0;) {
		for (size_t j = i + 1; j < m->n; j++)
			v[i] -= m->lower[j * m->n + i] * v[j];
		v[i] /= m->lower[i * m->n + i];
	}
}

/* --- fitting -------------------------------------------------------------------------------------------------- */

static void solve(struct design_model *m, const double *y)
{
	factor(m);
	for (size_t i = 0; i < m->n; i++)
		m->weight[i] = (y[i] - m->mean) / m->deviation;
	forward(m, m->weight);
	backward(m, m->weight);
}

/* The inverse of the factor, row by row, and so the diagonal of the kernel's. */
static double left_out(struct design_model *m, const double *y)
{
	const size_t n = m->n;
	double *v = m->inverse, sum = 0, apart = 0;

	solve(m, y);
	for (size_t c = 0; c < n; c++) {
		v[c * n + c] = 1 / m->lower[c * n + c];
		for (size_t i = c + 1; i < n; i++) {
			double x = 0;

			for (size_t j = c; j < i; j++)
				x -= m->lower[i * n + j] * v[j * n + c];
			v[i * n + c] = x / m->lower[i * n + i];
		}
	}
	for (size_t c = 0; c < n; c++) {
		double diagonal = 0, miss;

		for (size_t i = c; i < n; i++)
			diagonal += v[i * n + c] * v[i * n + c];
		miss = m->weight[c] / diagonal;
		sum += miss * miss;
		apart += m->weight[c] * m->weight[c] / diagonal;
	}
	m->off = sqrt(apart / (double)n);
	return sum;
}

static void find_scales(struct design_model *m, const double *y)
{
	double best = left_out(m, y);

	for (size_t d = 0; d < m->dims; d++)
		for (int up = 0; up < 2; up++)
			for (bool better = true; better;) {
				const double was = m->scale[d];
				double now;

				m->scale[d] = up ? was * 2 : was / 2;
				if (m->scale[d] < LEAST || m->scale[d] > MOST || (now = left_out(m, y)) >= best) {
					m->scale[d] = was;
					better = false;
				} else {
					best = now;
				}
			}
}

void design_model_fit(struct design_model *m, const double *const *x, const double *y, size_t n, bool search)
{
	double sum = 0, square = 0;

	m->n = n < m->cap ? n : m->cap;
	m->x = x;
	for (size_t i = 0; i < m->n; i++)
		sum += y[i];
	m->mean = m->n ? sum / (double)m->n : 0;
	for (size_t i = 0; i < m->n; i++)
		square += (y[i] - m->mean) * (y[i] - m->mean);
	m->deviation = m->n > 1 && square > 0 ? sqrt(square / (double)(m->n - 1)) : 1;
	if (search && m->n > 4)
		find_scales(m, y);
	left_out(m, y);
}

void design_model_at(struct design_model *m, const double *x, double *mean, double *deviation)
{
	double *k = m->work, variance = kernel(m, x, x) + NUGGET;

	*mean = 0;
	for (size_t i = 0; i < m->n; i++) {
		k[i] = kernel(m, x, m->x[i]);
		*mean += k[i] * m->weight[i];
	}
	forward(m, k);
	for (size_t i = 0; i < m->n; i++)
		variance -= k[i] * k[i];
	*mean = m->mean + m->deviation * *mean;
	*deviation = m->deviation * sqrt(variance > 1e-12 ? variance : 1e-12);
}
