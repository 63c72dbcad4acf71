/* arrive_list.c - requests and their pages, one more at a time; pages by what they are. */
#include <stdlib.h>
#include <string.h>

#include "sim/serve/arrive_int.h"

struct arrival *arrive_list_add(struct arrive_list *l, struct err *e)
{
	const size_t want = l->cap ? 2 * l->cap : 256;
	struct arrivals *out = l->out;

	if (out->n >= ARRIVE_MOST) {
		err_set(e, ERR_IO, "more than %d requests", ARRIVE_MOST);
		return NULL;
	}
	if (out->n == l->cap) {
		struct arrival *more = realloc(out->v, want * sizeof *more);

		if (!more) {
			err_nomem(e, "for a list of requests");
			return NULL;
		}
		out->v = more;
		l->cap = want;
	}
	out->v[out->n] = (struct arrival){ .page = (uint32_t)l->n_ids };
	return &out->v[out->n++];
}

int arrive_list_page(struct arrive_list *l, uint64_t id, struct err *e)
{
	const size_t want = l->ids_cap ? 2 * l->ids_cap : 1024;

	if (l->n_ids > UINT32_MAX / 2)
		return err_set(e, ERR_IO, "more hash_ids than a list may have");
	if (l->n_ids == l->ids_cap) {
		uint64_t *more = realloc(l->ids, want * sizeof *more);

		if (!more)
			return err_nomem(e, "for a list of requests");
		l->ids = more;
		l->ids_cap = want;
	}
	l->ids[l->n_ids++] = id;
	l->out->v[l->out->n - 1].pages++;
	return 0;
}

int arrive_list_paged(const struct arrive_list *l, struct err *e)
{
	const struct arrival *a = &l->out->v[l->out->n - 1];

	if ((uint64_t)a->pages * ARRIVE_PAGE < (uint64_t)a->prompt + ARRIVE_PAGE)
		return 0;
	return err_set(e, ERR_IO, "%u hash_ids of %d tokens each for a prompt of %u", a->pages, ARRIVE_PAGE, a->prompt);
}

/* Lines are those of a file, so they tell requests of one moment apart. */
static int arrive_by_time(const void *x, const void *y)
{
	const struct arrival *a = x, *b = y;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

void arrive_list_sort(struct arrive_list *l)
{
	qsort(l->out->v, l->out->n, sizeof *l->out->v, arrive_by_time);
}

/* --- pages --------------------------------------------------------------------------------------------------------------- */

static int page_by_number(const void *x, const void *y)
{
	const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return (a > b) - (a < b);
}

static uint32_t kind_of(const uint64_t *kinds, uint32_t n, uint64_t id)
{
	const uint64_t *at = bsearch(&id, kinds, n, sizeof *kinds, page_by_number);

	return (uint32_t)(at - kinds);
}

int arrive_pages(struct arrivals *a, uint64_t *ids, size_t n, struct err *e)
{
	uint64_t *kinds = malloc((n ? n : 1) * sizeof *kinds);

	if (!kinds || !(a->pages = malloc((n ? n : 1) * sizeof *a->pages))) {
		free(kinds);
		return err_nomem(e, "for a list of requests");
	}
	memcpy(kinds, ids, n * sizeof *kinds);
	qsort(kinds, n, sizeof *kinds, page_by_number);
	a->page_kinds = 0;
	for (size_t i = 0; i < n; i++)
		if (!i || kinds[i] != kinds[a->page_kinds - 1])
			kinds[a->page_kinds++] = kinds[i];
	for (size_t i = 0; i < n; i++)
		a->pages[i] = kind_of(kinds, a->page_kinds, ids[i]);
	a->n_pages = n;
	free(kinds);
	return 0;
}
