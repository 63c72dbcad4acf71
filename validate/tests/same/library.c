/* library.c - asks the shared library what same.py asks: a question is lines, '@' the machine's name, '+' of the workload, '=' an
 * assignment, '-' an option, and an empty one. Of each it prints 0 or 1 (refused), the bytes, and the document or the reason. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/npusim.h"

#define MOST 32

struct lines {
	char text[MOST][256];
	const char *v[MOST];
	size_t n;
};

static void add(struct lines *l, const char *text)
{
	if (l->n == MOST || strlen(text) >= sizeof l->text[0])
		exit(3);
	strcpy(l->text[l->n], text);
	l->v[l->n] = l->text[l->n];
	l->n++;
}

static void say(int refused, const char *text, size_t n)
{
	printf("%d %zu\n", refused, n);
	fwrite(text, 1, n, stdout);
	fflush(stdout);
}

static void answer(npusim *n, const struct lines part[4])
{
	struct npusim_error e = NPUSIM_ERROR_INIT;
	npusim_machine *m = npusim_machine_named(n, part[0].v[0], part[1].v, part[1].n, &e);
	npusim_work *w = m ? npusim_work_new(n, part[2].v, part[2].n, &e) : NULL;
	npusim_result *r = w ? npusim_eval(m, w, part[3].v, part[3].n, &e) : NULL;
	const size_t bytes = r ? npusim_json(r, NULL, 0, &e) : 0;
	char *text = bytes ? malloc(bytes + 1) : NULL;

	if (text && npusim_json(r, text, bytes + 1, &e) == bytes)
		say(0, text, bytes);
	else
		say(1, e.message, strlen(e.message));
	free(text);
	npusim_result_free(r);
	npusim_work_free(w);
	npusim_machine_free(m);
}

/* The data folder, by default this one. */
int main(int argc, char **argv)
{
	struct npusim_source from = { sizeof from, argc > 1 ? argv[1] : ".", NULL, NULL, NULL };
	struct npusim_error e = NPUSIM_ERROR_INIT;
	npusim *n = npusim_open(&from, &e);
	struct lines part[4];
	char line[512];

	memset(part, 0, sizeof part);
	if (!n)
		return 3;
	while (fgets(line, sizeof line, stdin)) {
		const char *at = strchr("@=+-", line[0]);

		line[strcspn(line, "\n")] = '\0';
		if (*line && at) {
			add(&part[at - "@=+-"], line + 1);
		} else {
			answer(n, part);
			memset(part, 0, sizeof part);
		}
	}
	npusim_close(n);
	return 0;
}
