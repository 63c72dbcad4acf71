#include "sim/base/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct yaml *source_yaml(const struct source *s, const char *relative, struct err *e)
{
	char full[1024];

	return s->find(s, relative, full, sizeof full, e) < 0 ? NULL : s->read(s, full, e);
}

bool source_find(const struct source *s, const char *relative, char *out, unsigned size)
{
	struct err none = ERR_INIT;

	return s->find(s, relative, out, size, &none) == 0;
}

bool source_beside(const struct source *s, const char *beside, const char *relative, char *out, unsigned size)
{
	const char *slash = strrchr(beside, '/');
	int n;

	if (*relative == '/')
		n = snprintf(out, size, "%s", relative);
	else
		n = snprintf(out, size, "%.*s/%s", slash ? (int)(slash - beside) : 1, slash ? beside : ".", relative);
	return n > 0 && (unsigned)n < size && s->has(s, out);
}

struct names {
	struct arena *a;
	const char *ending;
	const char **v;
	size_t n, room;
	bool failed;
};

static void source_add(void *arg, const char *name)
{
	struct names *x = arg;
	const size_t len = strlen(name), end = strlen(x->ending);

	if (x->failed || *name == '.' || len <= end || strcmp(name + len - end, x->ending) != 0)
		return;
	if (x->n == x->room) {
		const char **more = arena_array(x->a, x->room ? 2 * x->room : 32, sizeof *more);

		if (more && x->n)
			memcpy(more, x->v, x->n * sizeof *more);
		x->failed = !more;
		x->v = more;
		x->room = x->room ? 2 * x->room : 32;
	}
	x->failed = x->failed || !(x->v[x->n++] = arena_strndup(x->a, name, len - end));
}

static int source_by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int source_names(const struct source *s, const char *folder, const char *ending, struct arena *a, const char ***names,
                 size_t *n, struct err *e)
{
	struct names x = { a, ending, NULL, 0, 0, false };

	s->list(s, folder, source_add, &x);
	if (x.failed)
		return err_nomem(e, "for names of files");
	if (x.n)
		qsort(x.v, x.n, sizeof *x.v, source_by_name);
	*names = x.v;
	*n = x.n;
	return 0;
}
