#include "sim/profile/diff.h"

#include <stdlib.h>
#include <string.h>

double diff_ns(const struct diff_pair *p)
{
	return (double)p->ns[1] - (double)p->ns[0];
}

static int by_name(const void *x, const void *y)
{
	const struct diff_pair *a = x, *b = y;

	return strcmp(a->name, b->name);
}

/* What got slower by most first, what got faster by most last. */
static int slower_first(const void *x, const void *y)
{
	const struct diff_pair *a = x, *b = y;
	const double d = diff_ns(b) - diff_ns(a);

	return d < 0 ? -1 : d > 0 ? 1 : strcmp(a->name, b->name);
}

/* Rows of A, then of B, become one a name. */
static void join(struct diff_pairs *p)
{
	size_t n = 0;

	if (p->n)
		qsort(p->v, p->n, sizeof *p->v, by_name);
	for (size_t i = 0; i < p->n; i++) {
		if (n && strcmp(p->v[n - 1].name, p->v[i].name) == 0) {
			for (int k = 0; k < 2; k++) {
				p->v[n - 1].count[k] += p->v[i].count[k];
				p->v[n - 1].ns[k] += p->v[i].ns[k];
			}
			continue;
		}
		p->v[n++] = p->v[i];
	}
	p->n = n;
	if (n)
		qsort(p->v, n, sizeof *p->v, slower_first);
}

int diff_of(const struct classify *a, const struct classify *b, struct diff *out, struct err *e)
{
	const struct classify *both[2] = { a, b };
	struct diff_pairs *kernels = &out->kernels, *families = &out->families;

	*kernels = (struct diff_pairs){ calloc(a->n_kernels + b->n_kernels + 1, sizeof(struct diff_pair)), 0 };
	*families = (struct diff_pairs){ calloc(a->n_families + b->n_families + 1, sizeof(struct diff_pair)), 0 };
	if (!kernels->v || !families->v)
		return err_nomem(e, "for the tables");
	for (int k = 0; k < 2; k++) {
		const struct classify *c = both[k];

		for (size_t i = 0; i < c->n_kernels; i++) {
			struct diff_pair *p = &kernels->v[kernels->n++];

			p->name = c->kernels[i].name;
			p->friendly = c->kernels[i].friendly;
			p->count[k] = c->kernels[i].count;
			p->ns[k] = c->kernels[i].total_ns;
		}
		for (size_t i = 0; i < c->n_families; i++) {
			struct diff_pair *p = &families->v[families->n++];

			p->name = c->families[i].name;
			p->count[k] = c->families[i].count;
			p->ns[k] = c->families[i].total_ns;
		}
	}
	join(kernels);
	join(families);
	return 0;
}

void diff_free(struct diff *x)
{
	free(x->kernels.v);
	free(x->families.v);
}
