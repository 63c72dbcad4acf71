/* live.c - the library for a page: compiled to WebAssembly, called by results/report/live.html.
 *
 * Data files come from memory, as what live_yaml.c reads. A question is lines, the first character says what one is: '@' the
 * machine's name, '=' an assignment, '+' of the workload, '-' an option. An answer is the document of npusim.h, or its figures and
 * stalls alone, which are there before anything is said of them; or an error's message.
 * One thread, one handle: a module is an instance's own, and so are these. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/api/api.h"
#include "sim/base/version.h"

#define EXPORT(name) __attribute__((export_name(name), used))
#define MOST         64

struct file {
	char *name, *bytes;
	size_t n;
};

struct live {
	struct file *files;
	size_t n_files;
	npusim *n;
	npusim_machine *base;
	npusim_work *work;
	char *base_name, *work_text; /* what these two are of */
	char *out;
	size_t out_n;
};

struct said {
	const char *name, *sets[MOST], *spec[MOST], *options[MOST];
	size_t n_sets, n_spec, n_options;
};

static const char *live_read_file(void *arg, const char *name, size_t *bytes)
{
	const struct live *l = arg;

	for (size_t i = 0; i < l->n_files; i++)
		if (strcmp(l->files[i].name, name) == 0) {
			*bytes = l->files[i].n;
			return l->files[i].bytes;
		}
	return NULL;
}

static const char *name_of(void *arg, size_t i)
{
	const struct live *l = arg;

	return i < l->n_files ? l->files[i].name : NULL;
}

EXPORT("live_alloc") void *live_alloc(size_t n)
{
	return malloc(n ? n : 1);
}

EXPORT("live_new") struct live *live_new(void)
{
	return calloc(1, sizeof(struct live));
}

/* Takes both, of live_alloc. */
EXPORT("live_file") int live_file(struct live *l, char *name, char *bytes, size_t n)
{
	struct file *v = realloc(l->files, (l->n_files + 1) * sizeof *v);

	if (!v)
		return -1;
	l->files = v;
	l->files[l->n_files++] = (struct file){ name, bytes, n };
	return 0;
}

static void live_own_add(const char **v, size_t *n, const char *line)
{
	if (*n < MOST)
		v[(*n)++] = line;
}

static void read_lines(char *text, struct said *x)
{
	for (char *line = text, *next; line && *line; line = next) {
		if ((next = strchr(line, '\n')))
			*next++ = '\0';
		switch (*line) {
		case '@':
			x->name = line + 1;
			break;
		case '=':
			live_own_add(x->sets, &x->n_sets, line + 1);
			break;
		case '+':
			live_own_add(x->spec, &x->n_spec, line + 1);
			break;
		case '-':
			live_own_add(x->options, &x->n_options, line + 1);
			break;
		default:
			break;
		}
	}
}

static int live_own_answer(struct live *l, const char *text, size_t n)
{
	char *to = realloc(l->out, n + 1);

	if (!to)
		return -1;
	memcpy(to, text, n);
	to[n] = '\0';
	l->out = to;
	l->out_n = n;
	return 0;
}

/* Of the spec as one text: a question that asks for the same workload takes the one that is there. */
static char *joined(const struct said *x)
{
	size_t n = 1;
	char *s;

	for (size_t i = 0; i < x->n_spec; i++)
		n += strlen(x->spec[i]) + 1;
	if (!(s = calloc(n, 1)))
		return NULL;
	for (size_t i = 0; i < x->n_spec; i++) {
		strcat(s, x->spec[i]);
		strcat(s, "\n");
	}
	return s;
}

static int ready(struct live *l, const struct said *x, struct npusim_error *e)
{
	struct npusim_source from = NPUSIM_SOURCE_INIT;
	char *text = joined(x);

	from.read = live_read_file;
	from.name = name_of;
	from.arg = l;
	if (!l->n)
		l->n = npusim_open(&from, e);
	if (l->n && (!l->base || strcmp(l->base_name, x->name) != 0)) {
		npusim_machine_free(l->base);
		free(l->base_name);
		l->base_name = strdup(x->name);
		l->base = npusim_machine_named(l->n, x->name, NULL, 0, e);
	}
	if (l->base && text && (!l->work || strcmp(l->work_text, text) != 0)) {
		npusim_work_free(l->work);
		free(l->work_text);
		l->work_text = strdup(text);
		l->work = npusim_work_new(l->n, x->spec, x->n_spec, e);
	}
	free(text);
	return l->base && l->work ? 0 : -1;
}

static int document(struct live *l, npusim_result *r, struct npusim_error *e)
{
	const size_t n = npusim_json(r, NULL, 0, e);
	char *to = n ? realloc(l->out, n + 1) : NULL;

	if (!to)
		return -1;
	l->out = to;
	l->out_n = n;
	npusim_json(r, to, n + 1, NULL);
	return 0;
}

/* In the names and digits of the document. */
static int figures(struct live *l, npusim_result *r)
{
	const struct figure_measured none = { .wall_ns = -1 };
	struct str s = STR_INIT;
	const char *comma = "";
	int rc;

	str_add(&s, "{");
	for (const struct figure *f = figure_table; f->help; f++) {
		const struct figure_value v = figure_value(f, &r->eval.result.figures, &none);

		if (f->json && f->part == FIGURE_HEAD && v.known) {
			str_addf(&s, "%s\"%s\": %.9g", comma, f->json, v.whole ? (double)v.n : v.x);
			comma = ", ";
		}
	}
	str_addf(&s, "%s\"stall_us\": {", comma);
	comma = "";
	for (int k = 0; k < RES_COUNT; k++)
		if (r->eval.result.stall_ps[k]) {
			str_addf(&s, "%s\"%s\": %.9g", comma, res_name((enum res)k),
			         (double)r->eval.result.stall_ps[k] / 1e6);
			comma = ", ";
		}
	str_add(&s, "}}");
	rc = s.failed ? -1 : live_own_answer(l, str_c(&s), s.len);
	str_free(&s);
	return rc;
}

static int live_run(struct live *l, const struct said *x, int whole, struct npusim_error *e)
{
	npusim_machine *m = npusim_machine_with(l->base, x->sets, x->n_sets, e);
	npusim_result *r = m ? npusim_eval(m, l->work, x->options, x->n_options, e) : NULL;
	const int rc = !r ? -1 : whole ? document(l, r, e) : figures(l, r);

	npusim_result_free(r);
	npusim_machine_free(m);
	return rc;
}

/* `text` of live_alloc, changed and let go; `whole`: the document, else its figures. 0: it is there; -1: why not. */
EXPORT("live_ask") int live_ask(struct live *l, char *text, int whole)
{
	struct npusim_error e = NPUSIM_ERROR_INIT;
	struct said x = { .name = "" };
	int rc;

	read_lines(text, &x);
	rc = ready(l, &x, &e) == 0 ? live_run(l, &x, whole, &e) : -1;
	if (rc < 0)
		live_own_answer(l, e.message, strlen(e.message));
	free(text);
	return rc;
}

/* Of the machine that was asked of last: can it be so? An assignment of live_alloc, let go. */
EXPORT("live_check") int live_check(struct live *l, char *set)
{
	const char *const sets[] = { set };
	npusim_machine *m = l->base ? npusim_machine_with(l->base, sets, 1, NULL) : NULL;

	npusim_machine_free(m);
	free(set);
	return m ? 0 : -1;
}

static void add_row(void *arg, const struct npusim_parameter *x)
{
	str_addf(arg, "%s\t%s\t%s\t%s\n", x->key, x->value, x->range, x->help);
}

/* Of the machine that was asked of last: a line each, key, value, range, help. */
EXPORT("live_parameters") int live_parameters(struct live *l)
{
	struct str s = STR_INIT;
	int rc = l->base && npusim_parameters(l->base, NULL, add_row, &s, NULL) == 0 && !s.failed ? 0 : -1;

	if (rc == 0)
		rc = live_own_answer(l, str_c(&s), s.len);
	str_free(&s);
	return rc;
}

/* live_page.c looks for it in the module's bytes. */
EXPORT("live_build") const char *live_build(void)
{
	return npusim_build_id();
}

EXPORT("live_answer") const char *live_answer(const struct live *l)
{
	return l->out;
}

EXPORT("live_bytes") size_t live_bytes(const struct live *l)
{
	return l->out_n;
}
