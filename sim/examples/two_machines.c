/* two_machines.c - two machines in one process: a step on each, then one of them with more bandwidth.
 *
 *   cc two_machines.c $(pkg-config --cflags --libs npusim) -o two_machines && ./two_machines */
#include <npusim.h>
#include <stdio.h>

/* The folder of data files; NULL: where they were installed. */
#ifndef DATA
#define DATA NULL
#endif

static const char *const form[] = { "fidelity=analytic" };

/* -1: the reason is in `e`. */
static double time_of(npusim_machine *m, npusim_work *w, struct npusim_error *e)
{
	npusim_result *r = m ? npusim_eval(m, w, form, 1, e) : NULL;
	double us = -1;

	if (r && npusim_get(r, "total_us", &us, e) < 0)
		us = -1;
	npusim_result_free(r);
	return us;
}

int main(void)
{
	const char *const spec[] = { "model=qwen3-0.6b", "context=512" };
	const char *const wider[] = { "dram.channels=16" };
	struct npusim_source from = { sizeof from, DATA, NULL, NULL, NULL };
	struct npusim_error e = NPUSIM_ERROR_INIT;
	npusim *n = npusim_open(&from, &e);
	npusim_work *w = n ? npusim_work_new(n, spec, 2, &e) : NULL;
	npusim_machine *a = w ? npusim_machine_named(n, "edge", NULL, 0, &e) : NULL;
	npusim_machine *b = a ? npusim_machine_named(n, "dsocr", NULL, 0, &e) : NULL;
	npusim_machine *c = b ? npusim_machine_with(a, wider, 1, &e) : NULL;

	if (c) {
		printf("edge %.3f us\n", time_of(a, w, &e));
		printf("dsocr %.3f us\n", time_of(b, w, &e));
		printf("edge, %s %.3f us\n", wider[0], time_of(c, w, &e));
	}
	if (e.code)
		fprintf(stderr, "%s\n", e.message);
	npusim_machine_free(c);
	npusim_machine_free(b);
	npusim_machine_free(a);
	npusim_work_free(w);
	npusim_close(n);
	return e.code;
}
