/* known.c - of what ops of a stream is anything known, and what of those that someone listed. */
#include "workloads/known.h"

#include <stdlib.h>
#include <string.h>

#include "traces/trace.h"

bool ops_listed_all(const struct op_stream *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_ops; i++) {
		if (!s->ops[i].listed && s->ops[i].kind != OP_OPAQUE)
			return false;
		n += s->ops[i].listed;
	}
	return n > 0;
}

bool ops_listed_unmeasured(const struct op *o)
{
	return o->listed && !o->measured_ns;
}

size_t ops_listed_without_time(const struct op_stream *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_ops; i++)
		n += ops_listed_unmeasured(&s->ops[i]);
	return n;
}

static size_t kernels_of(const struct op_stream *s, const struct op *o)
{
	size_t n = 0;

	for (uint32_t i = 0; i < o->n_launches; i++)
		n += s->launches[o->first_launch + i].kind == TRACE_KERNEL;
	return n;
}

bool ops_none_known(const struct op_stream *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_ops; i++) {
		const size_t kernels = kernels_of(s, &s->ops[i]);

		if (s->ops[i].kind != OP_OPAQUE && (kernels || !s->ops[i].n_launches))
			return false;
		n += kernels;
	}
	return n > 0;
}

struct named_time {
	const char *name;
	uint64_t ns;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named_time *)a)->name, ((const struct named_time *)b)->name);
}

size_t ops_unknown_names(const struct op_stream *s, const char **longest)
{
	struct named_time *v = calloc(s->n_ops ? s->n_ops : 1, sizeof *v);
	size_t n = 0, names = 0;
	uint64_t most = 0, sum = 0;

	*longest = "";
	for (size_t i = 0; v && i < s->n_ops; i++)
		if (s->ops[i].kind == OP_OPAQUE)
			v[n++] = (struct named_time){ s->ops[i].name, s->ops[i].measured_ns };
	if (n)
		qsort(v, n, sizeof *v, by_name);
	for (size_t i = 0; i < n; i++) {
		const bool first = i == 0 || strcmp(v[i].name, v[i - 1].name) != 0;

		names += first;
		sum = first ? v[i].ns : sum + v[i].ns;
		if (sum > most || !(*longest)[0]) {
			most = sum;
			*longest = v[i].name;
		}
	}
	free(v);
	return names;
}

int ops_some_known(const struct op_stream *s, struct err *e)
{
	return ops_none_known(s)
	               ? err_set(e, ERR_BOUND, "no rule knows any of the kernels; 'npusim trace ops --all' lists them")
	               : 0;
}
