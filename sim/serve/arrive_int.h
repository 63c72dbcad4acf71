/* arrive_int.h - a list of requests while it is read, whatever it is written as: a part of sim/serve/arrive. */
#ifndef NPUSIM_SIM_SERVE_ARRIVE_INT_H
#define NPUSIM_SIM_SERVE_ARRIVE_INT_H

#include "sim/serve/arrive.h"

struct arrive_list {
	struct arrivals *out;
	size_t cap;
	uint64_t *ids; /* of pages, by request */
	size_t n_ids, ids_cap;
};

/* Errors have no place: the reader knows it. */

/* One request more, all 0; NULL: there is no room. */
struct arrival *arrive_list_add(struct arrive_list *l, struct err *e);
/* One page more, of the request that was added last. */
int arrive_list_page(struct arrive_list *l, uint64_t id, struct err *e);
/* Of that request all pages are there: they are no more than its prompt has. */
int arrive_list_paged(const struct arrive_list *l, struct err *e);
/* In order of arrival, those of one moment by their lines. */
void arrive_list_sort(struct arrive_list *l);

int arrive_read_lines(struct input *in, struct arrivals *out, struct err *e); /* JSON, an object a line */

#endif
