#include "sim/engine/run_memo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/path.h"
#include "sim/engine/judge.h"
#include "sim/map/map_memo.h"

struct run_memo {
	const struct source *source;
	struct kernels *kernels;
	struct fuse_patterns *patterns;
	char patterns_name[CFG_STR_MAX]; /* of `patterns` */
	/* The last mapping, when `stream` is not NULL. */
	struct arena *a;
	const struct op_stream *stream;
	enum map_start start;
	struct machine_cfg cfg;
	struct map_result map;
	struct map_memo *found; /* of this stream, whatever the machine */
};

struct run_memo *run_memo_new(struct err *e)
{
	return run_memo_new_from(&path_source, e);
}

struct run_memo *run_memo_new_from(const struct source *from, struct err *e)
{
	struct run_memo *m = calloc(1, sizeof *m);

	if (m && (m->a = arena_new(0)) && (m->found = map_memo_new(e))) {
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
	fuse_patterns_free(m->patterns);
	map_memo_free(m->found);
	arena_free(m->a);
	free(m);
}

const struct kernels *run_memo_kernels(struct run_memo *m, struct err *e)
{
	if (!m->kernels)
		m->kernels = kernels_load_from(m->source, NULL, e);
	return m->kernels;
}

int run_memo_patterns(struct run_memo *m, const struct fusion_cfg *c, const struct fuse_patterns **out, struct err *e)
{
	char relative[CFG_STR_MAX + 32], path[512];

	*out = NULL;
	if (!c->enabled)
		return 0;
	if (!m->patterns || strcmp(m->patterns_name, c->patterns) != 0) {
		fuse_patterns_free(m->patterns);
		m->patterns = NULL;
		snprintf(relative, sizeof relative, "configs/fusion/%s.yaml", c->patterns);
		if (m->source->find(m->source, relative, path, sizeof path, e) < 0 ||
		    !(m->patterns = fuse_patterns_load_from(m->source, path, e)))
			return err_add(e, "reading 'fusion.patterns'");
		snprintf(m->patterns_name, sizeof m->patterns_name, "%s", c->patterns);
	}
	*out = m->patterns;
	return 0;
}

int run_memo_map(struct run_memo *m, const struct op_stream *s, const struct machine_cfg *c, enum map_start start,
                 struct map_result *out, struct err *e)
{
	struct map_opts o = { .start = start, .memo = m->found };

	if (m->stream != s || m->start != start || !map_same(&m->cfg, c)) {
		m->stream = NULL;
		arena_reset(m->a);
		if (run_memo_patterns(m, &c->fusion, &o.patterns, e) < 0 || judge_map(s, c, &o, m->a, &m->map, e) < 0)
			return -1;
		m->stream = s;
		m->start = start;
		m->cfg = *c;
	}
	*out = m->map;
	return 0;
}

void run_memo_forget(struct run_memo *m)
{
	m->stream = NULL;
}

int run_memo_tell(struct run_memo *m, const struct op_stream *s, const struct machine_cfg *c, enum map_start start,
                  struct map_tell *tell, struct arena *a, struct err *e)
{
	struct map_opts o = { .tell = tell, .start = start };
	struct map_result unused;

	tell->n = 0;
	if (run_memo_patterns(m, &c->fusion, &o.patterns, e) < 0)
		return -1;
	return judge_map(s, c, &o, a, &unused, e);
}
