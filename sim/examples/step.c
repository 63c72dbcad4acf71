/* step.c - one decode step on one machine: the figures of `npusim run -c dsocr -m llama-3.2-1b --format json`.
 *
 *   cc step.c $(pkg-config --cflags --libs npusim) -o step && ./step dsocr model=llama-3.2-1b batch=4 */
#include <npusim.h>
#include <stdio.h>

/* The folder of data files; NULL: where they were installed. */
#ifndef DATA
#define DATA NULL
#endif

static int failed(const struct npusim_error *e)
{
	fprintf(stderr, "%s%s%s\n", e->file, e->file[0] ? ": " : "", e->message);
	return 1;
}

static void step_show(npusim_result *r)
{
	static const char *const paths[] = { "total_us",      "roofline_us",   "mfu",
		                             "bandwidth_use", "energy_uj",     "dram_bytes",
		                             "interval.low",  "interval.high", "ops[0].us" };
	const char *text;
	size_t lines = 0;
	double x;

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		if (npusim_get(r, paths[i], &x, NULL) == 0)
			printf(x < 1e15 && x == (double)(long long)x ? "%-14s %.0f\n" : "%-14s %.9g\n", paths[i], x);
	npusim_count(r, "verdict", &lines, NULL);
	for (size_t i = 0; i < lines; i++) {
		char path[32];

		snprintf(path, sizeof path, "verdict[%zu]", i);
		if (npusim_text(r, path, &text, NULL) == 0)
			printf("%s\n", text);
	}
}

int main(int argc, char **argv)
{
	const char *const usual[] = { "model=llama-3.2-1b" };
	const char *const *spec = argc > 2 ? (const char *const *)argv + 2 : usual;
	struct npusim_source from = { sizeof from, DATA, NULL, NULL, NULL };
	struct npusim_error e = NPUSIM_ERROR_INIT;
	npusim *n = npusim_open(&from, &e);
	npusim_machine *m = n ? npusim_machine_named(n, argc > 1 ? argv[1] : "dsocr", NULL, 0, &e) : NULL;
	npusim_work *w = m ? npusim_work_new(n, spec, argc > 2 ? (size_t)argc - 2 : 1, &e) : NULL;
	npusim_result *r = w ? npusim_eval(m, w, NULL, 0, &e) : NULL;

	if (r)
		step_show(r);
	npusim_result_free(r);
	npusim_work_free(w);
	npusim_machine_free(m);
	npusim_close(n);
	return r ? 0 : failed(&e);
}
