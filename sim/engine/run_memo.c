#include "sim/engine/run_memo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/path.h"
#include "sim/engine/evaluator.h"
#include "sim/map/map_memo.h"

struct patterns_file {
	struct fuse_patterns *v;
	char name[CFG_STR_MAX];
	struct patterns_file *next;
};

struct run_memo {
	const struct source *source;
	struct kernels *kernels;
	struct patterns_file *patterns; /* all that were asked for: programs point into them */
	struct run_program *last;
	struct map_memo *found; /* of this stream, whatever the machine */
};

struct run_program {
	unsigned holders; /* the memo is one */
	struct arena *a;
	const struct op_stream *stream; /* NULL: nothing is mapped */
	enum map_start start;
	struct machine_cfg cfg;
	struct map_result map;
};

static struct run_program *program_new(struct err *e)
{
	struct run_program *p = calloc(1, sizeof *p);

	if (p && (p->a = arena_new(0))) {
		p->holders = 1;
		return p;
	}
	free(p);
	err_set(e, ERR_NOMEM, "out of memory for a run");
	return NULL;
}

void run_program_free(struct run_program *p)
{
	if (!p || --p->holders)
		return;
	arena_free(p->a);
	free(p);
}

struct run_memo *run_memo_new(struct err *e)
{
	return run_memo_new_from(&path_source, e);
}

struct run_memo *run_memo_new_from(const struct source *from, struct err *e)
{
	struct run_memo *m = calloc(1, sizeof *m);

	if (m && (m->found = map_memo_new(e))) {
		m->source = from;
		return m;
	}
	run_memo_free(m);
	err_set(e, ERR_NOMEM, "out of memory for a run");
	return NULL;
}

void run_memo_free(struct run_memo *m)
{
	if (!m)
		return;
	kernels_free(m->kernels);
	while (m->patterns) {
		struct patterns_file *next = m->patterns->next;

		fuse_patterns_free(m->patterns->v);
		free(m->patterns);
		m->patterns = next;
	}
	map_memo_free(m->found);
	run_program_free(m->last);
	free(m);
}

const struct kernels *run_memo_kernels(struct run_memo *m, struct err *e)
{
	if (!m->kernels)
		m->kernels = kernels_load_from(m->source, NULL, e);
	return m->kernels;
}

static struct patterns_file *patterns_new(struct run_memo *m, const char *name, struct err *e)
{
	struct patterns_file *f = calloc(1, sizeof *f);
	char relative[CFG_STR_MAX + 32], path[512];

	if (!f) {
		err_set(e, ERR_NOMEM, "out of memory for a run");
		return NULL;
	}
	snprintf(f->name, sizeof f->name, "%s", name);
	snprintf(relative, sizeof relative, "configs/fusion/%s.yaml", name);
	if (m->source->find(m->source, relative, path, sizeof path, e) < 0 ||
	    !(f->v = fuse_patterns_load_from(m->source, path, e))) {
		err_add(e, "reading 'fusion.patterns'");
		free(f);
		return NULL;
	}
	f->next = m->patterns;
	return m->patterns = f;
}

int run_memo_patterns(struct run_memo *m, const struct fusion_cfg *c, const struct fuse_patterns **out, struct err *e)
{
	struct patterns_file *f = m->patterns;

	*out = NULL;
	if (!c->enabled)
		return 0;
	while (f && strcmp(f->name, c->patterns) != 0)
		f = f->next;
	if (!f && !(f = patterns_new(m, c->patterns, e)))
		return -1;
	*out = f->v;
	return 0;
}

/* Where the next program goes: in the memory of the last, unless somebody holds that. */
static struct run_program *program_next(struct run_memo *m, struct err *e)
{
	if (m->last && m->last->holders > 1) {
		run_program_free(m->last);
		m->last = NULL;
	}
	if (!m->last)
		m->last = program_new(e);
	else
		arena_reset(m->last->a);
	if (m->last)
		m->last->stream = NULL;
	return m->last;
}

int run_memo_map(struct run_memo *m, const struct op_stream *s, const struct machine_cfg *c, enum map_start start,
                 struct map_result *out, struct err *e)
{
	struct map_opts o = { .start = start, .memo = m->found };
	struct run_program *p = m->last;

	if (!p || p->stream != s || p->start != start || !map_same(&p->cfg, c)) {
		if (!(p = program_next(m, e)) || run_memo_patterns(m, &c->fusion, &o.patterns, e) < 0 ||
		    evaluator_map(s, c, &o, p->a, &p->map, e) < 0)
			return -1;
		p->stream = s;
		p->start = start;
		p->cfg = *c;
	}
	*out = p->map;
	return 0;
}

struct run_program *run_memo_hold(struct run_memo *m)
{
	if (m->last)
		m->last->holders++;
	return m->last;
}

void run_memo_hold_mappings(struct run_memo *m, uint64_t number)
{
	map_memo_hold(m->found, number);
	run_memo_forget(m);
}

void run_memo_forget(struct run_memo *m)
{
	if (m->last)
		m->last->stream = NULL;
}

int run_memo_tell(struct run_memo *m, const struct op_stream *s, const struct machine_cfg *c, enum map_start start,
                  struct map_log *tell, struct arena *a, struct err *e)
{
	struct map_opts o = { .log = tell, .start = start };
	struct map_result unused;

	tell->n = 0;
	if (run_memo_patterns(m, &c->fusion, &o.patterns, e) < 0)
		return -1;
	return evaluator_map(s, c, &o, a, &unused, e);
}
