/* experiment_agree.c - claims of several studies that say the same, held against each other. */
#include <ctype.h>
#include <string.h>

#include "sim/study/experiment.h"

/* The next letter or digit in small, and what is behind it; 0: the end. */
static int next(const char **s)
{
	while (**s && !isalnum((unsigned char)**s))
		++*s;
	return **s ? tolower((unsigned char)*(*s)++) : 0;
}

/* The same words, whatever stands between them. */
static bool same_words(const char *a, const char *b)
{
	int x, y;

	do {
		x = next(&a);
		y = next(&b);
	} while (x && x == y);
	return x == y;
}

static bool same_name(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static bool judged(const struct experiment_claim *c)
{
	return c->verdict <= EXPERIMENT_WRONG;
}

static bool contradict(const struct experiment_claim *a, const struct experiment_claim *b)
{
	if (!judged(a) || !judged(b))
		return false;
	if (same_words(a->says, b->says) || same_name(a->asserts, b->asserts) || same_name(a->denies, b->denies))
		return a->verdict != b->verdict;
	return (same_name(a->asserts, b->denies) || same_name(a->denies, b->asserts)) &&
	       (int)a->verdict != EXPERIMENT_WRONG - (int)b->verdict;
}

static int against(struct experiment *const *v, size_t at, size_t claim, struct err *e)
{
	const struct experiment_claim *c = &v[at]->claims[claim];

	for (size_t i = 0; i <= at; i++)
		for (size_t k = 0; k < (i == at ? claim : v[i]->n_claims); k++) {
			const struct experiment_claim *o = &v[i]->claims[k];

			if (contradict(c, o))
				return yaml_err(v[at]->y, c->place, e,
				                "\"%s\" is %s here, which contradicts %s:%d: \"%s\" is %s there",
				                c->says, experiment_verdict_name(c->verdict), v[i]->path,
				                o->place->line, o->says, experiment_verdict_name(o->verdict));
		}
	return 0;
}

int experiment_agree(struct experiment *const *v, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < v[i]->n_claims; k++)
			if (against(v, i, k, e) < 0)
				return -1;
	return 0;
}
