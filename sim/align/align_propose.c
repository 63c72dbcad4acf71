/* align_propose.c - which model it is: all that ship with npusim are tried, and those that fit are told, best first.
 *
 * What a model has that others have not is its number of layers, which products a layer has, and the widths that grids
 * show; two models of one architecture and equal widths fit alike and are both told. Where no grid shows the cache's
 * length some length is assumed, as it decides nothing here. */
#include <string.h>

#include "sim/align/align_int.h"

#define TRY_MEMORY   ((size_t)1 << 30)
#define SOME_CONTEXT 1024

static void align_propose_keep(struct align_fit *fits, uint32_t *n, const struct align_fit *f)
{
	uint32_t at = *n;

	while (at > 0 &&
	       (fits[at - 1].share < f->share || (fits[at - 1].share == f->share && fits[at - 1].tiles < f->tiles)))
		at--;
	if (at >= ALIGN_FITS)
		return;
	if (*n < ALIGN_FITS)
		(*n)++;
	memmove(&fits[at + 1], &fits[at], (*n - 1 - at) * sizeof *fits);
	fits[at] = *f;
}

static void try_model(const struct source *from, const struct trace *t, const char *name, struct rules *r,
                      struct align_fit *fits, uint32_t *n)
{
	struct err none = ERR_INIT;
	struct arena *a = arena_new(TRY_MEMORY);
	struct model *m = a ? model_load_from(from, name, &none) : NULL;
	struct trace mine = *t;
	struct align_report rep;
	const struct align_how how = { .context = SOME_CONTEXT };

	mine.launches = m ? arena_array(a, t->n_launches, sizeof *mine.launches) : NULL;
	if (mine.launches) {
		memcpy(mine.launches, t->launches, t->n_launches * sizeof *mine.launches);
		if (align_trace(&mine, m, &how, r, a, &rep, &none) == 0 && align_enough(&rep)) {
			struct align_fit f = { .share = align_share(&rep),
				               .tiles = rep.tiles,
				               .batch = rep.batch,
				               .keys = rep.keys_known == ALIGN_BY_GRID ? rep.keys : 0 };

			strncpy(f.model, name, sizeof f.model - 1);
			align_propose_keep(fits, n, &f);
		}
	}
	model_free(m);
	arena_free(a);
}

int align_propose(const struct source *from, const struct trace *t, struct rules *r, struct align_fit fits[ALIGN_FITS],
                  uint32_t *n, struct err *e)
{
	char **names;
	size_t models;

	*n = 0;
	if (model_list_from(from, &names, &models, e) < 0)
		return -1;
	for (size_t i = 0; i < models; i++)
		try_model(from, t, names[i], r, fits, n);
	model_list_free(names, models);
	return 0;
}
