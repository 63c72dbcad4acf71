/* experiment_run.c - the commands of a study run, each once, and the figures that are taken of what each says. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/path.h"
#include "sim/base/pool.h"
#include "sim/study/experiment.h"

const char **experiment_words(struct arena *a, const char *command, size_t *n, struct err *e)
{
	const char **words = arena_array(a, EXPERIMENT_WORDS + 1, sizeof *words);
	char *s = arena_strdup(a, command), *to;

	*n = 0;
	if (!words || !s) {
		err_nomem(e, NULL);
		return NULL;
	}
	for (;;) {
		char quote = 0;

		s += strspn(s, " \n\t");
		if (!*s)
			return words;
		if (*n == EXPERIMENT_WORDS) {
			err_set(e, ERR_CONFIG, "a command of more than %d words", EXPERIMENT_WORDS);
			return NULL;
		}
		words[(*n)++] = to = s;
		for (; *s && (quote || !strchr(" \n\t", *s)); s++) {
			if (quote ? *s == quote : *s == '\'' || *s == '"')
				quote = quote ? 0 : *s;
			else
				*to++ = *s;
		}
		if (quote) {
			err_set(e, ERR_CONFIG, "a quote is not closed: %s", command);
			return NULL;
		}
		s += *s != '\0';
		*to = '\0';
	}
}

/* --- a command ----------------------------------------------------------------------------------------------------- */

struct batch {
	struct experiment *x;
	const struct experiment_runner *by;
	const size_t *runs; /* one of each command */
	size_t n;
	experiment_progress_fn *progress;
	void *arg;
};

/* What a result begins with. */
enum said { SAID_FIGURES, SAID_FAULT, SAID_FAILED }; /* figures; an error in taking them; why the command failed */

/* All paths that are asked of the run's command, by itself and by those of the same command. */
static const char **paths_of(const struct experiment *x, size_t run, struct arena *a, size_t *n)
{
	const char **paths = arena_array(a, x->n_runs * EXPERIMENT_FIGURES, sizeof *paths);

	*n = 0;
	for (size_t i = run; paths && i < x->n_runs; i++)
		for (size_t k = 0; x->runs[i].same == run && k < x->runs[i].group->n_figures; k++)
			if (x->runs[i].paths[k])
				paths[(*n)++] = x->runs[i].paths[k];
	return paths;
}

/* A word that names a file beside the study's means that one, as names in any other file do. */
static int words_beside(const char *study, const char **words, size_t n, struct arena *a, struct err *e)
{
	char path[1024];

	for (size_t i = 1; i < n; i++) {
		if (*words[i] == '-' || !strpbrk(words[i], "/.") || path_beside(study, words[i], path, sizeof path) < 0)
			continue;
		if (!(words[i] = arena_strdup(a, path)))
			return err_nomem(e, NULL);
	}
	return 0;
}

static int document_of(const struct batch *b, size_t run, struct arena *a, const struct json **document, struct err *e)
{
	size_t n_words, n_paths;
	const char **words = experiment_words(a, b->x->runs[run].command, &n_words, e);
	const char **paths = words ? paths_of(b->x, run, a, &n_paths) : NULL;

	if (!words || words_beside(b->x->path, words, n_words, a, e) < 0)
		return -1;
	return paths ? b->by->run(b->by->arg, words, n_words, paths, n_paths, a, document, e) : err_nomem(e, NULL);
}

static void put_figures(const struct experiment_run *u, struct str *to)
{
	for (size_t k = 0; k < u->group->n_figures; k++) {
		const struct expr_value *v = &u->figures[k];

		if (!u->paths[k])
			continue;
		str_addc(to, (char)v->type);
		str_addn(to, (const char *)&v->number, sizeof v->number);
		if (v->type == EXPR_TEXT)
			str_addn(to, v->text, strlen(v->text) + 1);
	}
}

static void take_figures(struct experiment *x, size_t run, const struct json *document, struct str *to)
{
	struct err e = ERR_INIT;

	str_addc(to, SAID_FIGURES);
	for (size_t i = run; i < x->n_runs; i++) {
		if (x->runs[i].same != run)
			continue;
		if (experiment_take(x, i, document, &e) < 0) {
			err_add(&e, "taking figures of 'npusim %s'", x->runs[i].command);
			str_clear(to);
			str_addc(to, SAID_FAULT);
			str_addn(to, (const char *)&e, sizeof e);
			return;
		}
		put_figures(&x->runs[i], to);
	}
}

static void job(void *arg, size_t i, struct str *to)
{
	const struct batch *b = arg;

	str_addn(to, (const char *)&b->runs[i], sizeof b->runs[i]);
}

/* The document goes with the command; its figures are what is left. */
static void work(void *arg, void *state, const char *which, size_t n, struct str *result)
{
	const struct batch *b = arg;
	const struct json *document = NULL;
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;
	size_t run;

	(void)state, (void)n;
	memcpy(&run, which, sizeof run);
	if (!a)
		err_nomem(&e, NULL);
	if (a && document_of(b, run, a, &document, &e) == 0) {
		take_figures(b->x, run, document, result);
	} else {
		str_addc(result, SAID_FAILED);
		str_add(result, e.msg);
	}
	arena_free(a);
}

/* --- all of them --------------------------------------------------------------------------------------------------- */

/* The figures of a run, out of a result. */
static const char *get_figures(struct experiment *x, struct experiment_run *u, const char *p, struct err *e)
{
	for (size_t k = 0; k < u->group->n_figures; k++) {
		struct expr_value *v = &u->figures[k];

		if (!u->paths[k])
			continue;
		*v = (struct expr_value){ .type = (enum expr_type) * p++ };
		memcpy(&v->number, p, sizeof v->number);
		p += sizeof v->number;
		if (v->type != EXPR_TEXT)
			continue;
		if (!(v->text = arena_strdup(x->a, p))) {
			err_nomem(e, NULL);
			return NULL;
		}
		p += strlen(p) + 1;
	}
	return p;
}

/* For every run of that command. */
static int got(struct experiment *x, size_t run, const char *p, struct err *e)
{
	for (size_t i = run; p && i < x->n_runs; i++)
		if (x->runs[i].same == run)
			p = get_figures(x, &x->runs[i], p, e);
	return p ? 0 : -1;
}

static int failed(struct experiment *x, size_t run, const char *why, struct err *e)
{
	for (size_t i = run; i < x->n_runs; i++) {
		struct experiment_run *u = &x->runs[i];

		if (u->same != run)
			continue;
		if (!(u->failed = arena_strdup(x->a, *why ? why : "it died")))
			return err_nomem(e, NULL);
		if (!u->group->may_fail)
			return err_set(e, ERR_CONFIG, "npusim %s: %s", u->command, u->failed);
	}
	return 0;
}

static int result(void *arg, size_t i, const struct pool_result *r, struct err *e)
{
	const struct batch *b = arg;

	if (r->lost)
		return failed(b->x, b->runs[i], r->died ? "" : r->lost, e);
	if (r->bytes[0] == SAID_FAILED)
		return failed(b->x, b->runs[i], r->bytes + 1, e);
	if (r->bytes[0] == SAID_FIGURES)
		return got(b->x, b->runs[i], r->bytes + 1, e);
	memcpy(e, r->bytes + 1, sizeof *e);
	return -1;
}

static int tell(void *arg, size_t done, struct err *e)
{
	const struct batch *b = arg;

	(void)e;
	b->progress(b->arg, done, b->n);
	return 0;
}

/* Taken in their order, so that of several that fail it is the first that says why. */
int experiment_run(struct experiment *x, const struct experiment_runner *by, unsigned jobs,
                   experiment_progress_fn *progress, void *arg, struct err *e)
{
	size_t *runs = calloc(x->n_runs + 1, sizeof *runs), n = 0;
	struct batch b = { x, by, runs, 0, progress, arg };
	struct pool_how how = { .frame_max = EXPERIMENT_BYTES, .work = work, .arg = &b };
	struct pool_batch batch = { .ordered = true, .job = job, .result = result, .arg = &b };
	struct pool *pool = NULL;
	int rc;

	if (!runs)
		return err_nomem(e, NULL);
	for (size_t i = 0; i < x->n_runs; i++)
		if (x->runs[i].same == i)
			runs[n++] = i;
	b.n = batch.n = n;
	batch.progress = progress ? tell : NULL;
	if (jobs > 1 && n > 1) {
		how.backend = &pool_processes;
		how.workers = jobs < EXPERIMENT_JOBS ? jobs : EXPERIMENT_JOBS;
	}
	rc = (pool = pool_new(&how, e)) ? pool_run(pool, &batch, e) : -1;
	pool_free(pool);
	free(runs);
	return rc;
}
