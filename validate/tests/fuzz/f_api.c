/* f_api.c - any bytes as what a library's caller may give: a configuration, assignments, a workload, options, paths.
 *
 * The bytes are lines; the first character says what one is: ':' of the configuration, '=' an assignment, '+' of the workload, '-' an
 * option, '?' a path. Beyond not crashing: NULL comes with a code and a message, a result has a total, whatever is asked of a
 * document leaves it as it is, and all is closed in the order of the bytes. Workloads are of two layers, in closed form. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/npusim.h"
#include "validate/tests/fuzz/targets.h"

#define MOST 16

struct said {
	char *yaml;
	const char *sets[MOST], *spec[MOST], *options[MOST], *paths[MOST];
	size_t n_sets, n_spec, n_options, n_paths;
};

static void add(const char **v, size_t *n, const char *line)
{
	if (*n < MOST)
		v[(*n)++] = line;
}

/* Files of the system, and amounts that take minutes, are not what this looks for. */
static int is_heavy(const char *line)
{
	static const char *const no[] = { "trace=",  "program-in=", "rules=", "model=", "batch=",
		                          "tokens=", "layers=",     "phase=", "image=", "context=" };

	for (size_t i = 0; i < sizeof no / sizeof *no; i++)
		if (strncmp(line, no[i], strlen(no[i])) == 0)
			return 1;
	return 0;
}

static void read_lines(char *text, struct said *x)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (*line == ':') {
			strcat(x->yaml, line + 1);
			strcat(x->yaml, "\n");
		} else if (*line == '=') {
			add(x->sets, &x->n_sets, line + 1);
		} else if (*line == '+' && !is_heavy(line + 1)) {
			add(x->spec, &x->n_spec, line + 1);
		} else if (*line == '-' && strcmp(line + 1, "fidelity=event") != 0) {
			add(x->options, &x->n_options, line + 1);
		} else if (*line == '?') {
			add(x->paths, &x->n_paths, line + 1);
		}
	}
}

static void holds(const void *thing, const struct npusim_error *e)
{
	assert(!thing == (e->code != NPUSIM_OK) && (thing || e->message[0]));
}

static void ask(npusim_result *r, const struct said *x)
{
	struct npusim_error e = NPUSIM_ERROR_INIT;
	const size_t bytes = npusim_json(r, NULL, 0, &e);
	const char *text;
	double v;
	size_t k;

	assert(npusim_get(r, "total_us", &v, &e) == 0 && v > 0 && bytes);
	for (size_t i = 0; i < x->n_paths; i++) {
		const int got = npusim_get(r, x->paths[i], &v, &e);

		assert(got == 0 || e.message[0]);
		npusim_text(r, x->paths[i], &text, NULL);
		npusim_count(r, x->paths[i], &k, NULL);
	}
	assert(npusim_json(r, NULL, 0, NULL) == bytes);
}

static void run(npusim *n, const struct said *x, unsigned order)
{
	struct npusim_error e = NPUSIM_ERROR_INIT;
	npusim_machine *m = *x->yaml ? npusim_machine_new(n, x->yaml, strlen(x->yaml), x->sets, x->n_sets, &e)
	                             : npusim_machine_named(n, "edge", x->sets, x->n_sets, &e);
	npusim_work *w;
	npusim_result *r = NULL;

	holds(m, &e);
	w = npusim_work_new(n, x->spec, x->n_spec, &e);
	holds(w, &e);
	if (m && w) {
		r = npusim_eval(m, w, x->options, x->n_options, &e);
		holds(r, &e);
	}
	if (order & 32)
		npusim_machine_free(m);
	if (order & 64)
		npusim_work_free(w);
	if (r && x->n_paths && order % 32 == 0) /* a document takes twenty times as long as the run */
		ask(r, x);
	npusim_result_free(r);
	if (!(order & 64))
		npusim_work_free(w);
	if (!(order & 32))
		npusim_machine_free(m);
}

int fuzz_api(const uint8_t *bytes, size_t n)
{
	static const struct said none;
	struct npusim_source from = NPUSIM_SOURCE_INIT;
	struct npusim_error e = NPUSIM_ERROR_INIT;
	struct said x = none;
	unsigned order = 0;
	char *text = malloc(n + 1);
	npusim *handle;

	x.yaml = calloc(1, 2 * n + 2);
	from.root = ".";
	if (!text || !x.yaml || !(handle = npusim_open(&from, &e)))
		abort();
	memcpy(text, bytes, n);
	text[n] = '\0';
	add(x.spec, &x.n_spec, "model=qwen3-0.6b");
	add(x.spec, &x.n_spec, "layers=1");
	add(x.spec, &x.n_spec, "context=16");
	add(x.options, &x.n_options, "fidelity=analytic");
	read_lines(text, &x);
	for (size_t i = 0; i < n; i++)
		order += bytes[i];
	run(handle, &x, order);
	npusim_close(handle);
	free(x.yaml);
	free(text);
	return 0;
}
