#define _POSIX_C_SOURCE 200809L
#include "sim/accuracy/cases.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/base/path.h"
#include "sim/base/re.h"
#include "sim/base/str.h"
#include "sim/base/yaml.h"

#define PREFIX      "case|"
#define DEFAULT     "configs/cases/operators.yaml"
#define MAX_ROTATES 8
#define HELD_OUT    40 /* of 100 */

/* --- how a benchmark rotates --------------------------------------------------------------------------------- */

struct case_rule {
	regex_t kind;
	bool all;
	uint32_t n, place[MAX_ROTATES];
	uint64_t copies, budget, times, calls, fresh;
};

struct cases_rules {
	struct case_rule *v;
	size_t n;
};

static int read_rotates(const struct yaml *y, const struct ynode *n, struct case_rule *r, struct err *e)
{
	const char *word;
	uint64_t v;

	if (n->kind == YNODE_SCALAR) {
		if (yaml_str(y, n, &word, e) < 0)
			return -1;
		r->all = strcmp(word, "all") == 0;
		return r->all || strcmp(word, "none") == 0
		               ? 0
		               : yaml_err(y, n, e, "'rotates' is none, all or a list of places, not '%s'", word);
	}
	if (n->kind != YNODE_SEQ || n->n > MAX_ROTATES)
		return yaml_err(y, n, e, "'rotates' is none, all or a list of at most %d places", MAX_ROTATES);
	for (size_t i = 0; i < n->n; i++) {
		if (yaml_u64(y, n->vals[i], 0, 100, &v, e) < 0)
			return -1;
		r->place[r->n++] = (uint32_t)v;
	}
	return 0;
}

static int read_case(const struct yaml *y, const struct ynode *n, struct cases_rules *out, struct err *e)
{
	static const char *const keys[] = { "kind", "rotates", "copies", "budget", "times", "calls", "fresh" };
	struct case_rule *r = &out->v[out->n];
	const struct ynode *at;
	const char *text;
	char why[128];

	if (n->kind != YNODE_MAP || !ynode_get(n, "kind") || !ynode_get(n, "rotates"))
		return yaml_err(y, n, e,
		                "a row is a mapping: {kind: '^mine_', rotates: all, copies: 64, budget: 300 MB}");
	if (yaml_only_keys(y, n, keys, sizeof keys / sizeof *keys, e) < 0 ||
	    yaml_str(y, ynode_get(n, "kind"), &text, e) < 0)
		return -1;
	if (re_compile(&r->kind, text, REG_NOSUB, why, sizeof why) < 0)
		return yaml_err(y, ynode_get(n, "kind"), e, "'%s' is not a regular expression: %s", text, why);
	out->n++;
	r->copies = r->times = 1;
	if (read_rotates(y, ynode_get(n, "rotates"), r, e) < 0 ||
	    ((at = ynode_get(n, "copies")) && yaml_u64(y, at, 1, 1000000, &r->copies, e) < 0) ||
	    ((at = ynode_get(n, "times")) && yaml_u64(y, at, 1, 100, &r->times, e) < 0) ||
	    ((at = ynode_get(n, "calls")) && yaml_u64(y, at, 1, 1000000, &r->calls, e) < 0) ||
	    ((at = ynode_get(n, "fresh")) && yaml_u64(y, at, 0, 1, &r->fresh, e) < 0))
		return -1;
	if (!(at = ynode_get(n, "budget")))
		return 0;
	if (yaml_str(y, at, &text, e) < 0)
		return -1;
	return cfg_parse_value(CFG_T_BYTES, text, &r->budget, e) < 0 ? err_add(e, "reading 'budget'") : 0;
}

struct cases_rules *cases_rules_load(const char *path, struct err *e)
{
	char found[512];
	struct cases_rules *r = NULL;
	struct yaml *y = NULL;
	const struct ynode *list;

	if (!path && path_data(DEFAULT, found, sizeof found, e) < 0)
		return NULL;
	if (!(y = yaml_load(path ? path : found, e)))
		return NULL;
	list = ynode_get(yaml_root(y), "cases");
	if (!list || list->kind != YNODE_SEQ) {
		yaml_err(y, yaml_root(y), e, "a table of cases is a mapping with 'cases', a list");
		goto fail;
	}
	if (!(r = calloc(1, sizeof *r)) || !(r->v = calloc(list->n + 1, sizeof *r->v))) {
		err_set(e, ERR_NOMEM, "out of memory for the table of cases");
		goto fail;
	}
	for (size_t i = 0; i < list->n; i++)
		if (read_case(y, list->vals[i], r, e) < 0)
			goto fail;
	yaml_free(y);
	return r;
fail:
	yaml_free(y);
	cases_rules_free(r);
	return NULL;
}

void cases_rules_free(struct cases_rules *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		regfree(&r->v[i].kind);
	free(r->v);
	free(r);
}

static const struct case_rule *rule_of(const struct cases_rules *r, const char *kind)
{
	for (size_t i = 0; i < r->n; i++)
		if (regexec(&r->v[i].kind, kind, 0, NULL, 0) == 0)
			return &r->v[i];
	return NULL;
}

/* --- samples ------------------------------------------------------------------------------------------------- */

static int64_t host_time(const struct op_launch *l)
{
	return (int64_t)(l->host_start_ns ? l->host_start_ns : l->start_ns);
}

/* The annotation a launch was made in: a case if there is one, else the innermost; NULL outside all. Ranges are in
 * order of start, and so are launches nearly: *from is where the search may begin. */
static const struct trace_range *range_of(const struct trace *t, int64_t at)
{
	const struct trace_range *best = NULL;
	size_t lo = 0, hi = t->n_ranges;

	while (lo < hi) { /* the first that starts behind */
		size_t mid = (lo + hi) / 2;

		if (t->ranges[mid].start_ns <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t i = lo; i-- > 0 && lo - i < 64;) {
		const struct trace_range *r = &t->ranges[i];

		if (at - r->start_ns >= r->dur_ns)
			continue;
		if (str_prefix(r->name, PREFIX))
			return r;
		best = best ? best : r;
	}
	return best;
}

/* "case|KIND|SHAPE|REP" without what follows SHAPE, as "KIND SHAPE"; the KIND alone in *kind. */
static const char *case_name(struct arena *a, const char *range, const char **kind)
{
	const char *p = range + strlen(PREFIX), *bar = strchr(p, '|'), *end = strrchr(p, '|');

	if (!bar || end == bar)
		end = p + strlen(p);
	*kind = arena_strndup(a, p, bar ? (size_t)(bar - p) : strlen(p));
	return bar ? arena_printf(a, "%.*s %.*s", (int)(bar - p), p, (int)(end - bar - 1), bar + 1) : *kind;
}

static uint64_t cases_measured(const struct op_stream *s, uint32_t first, uint32_t n)
{
	uint64_t ns = 0;

	for (uint32_t i = first; i < first + n; i++)
		ns += s->ops[i].measured_ns;
	return ns;
}

static const char *longest_family(const struct op_stream *s, uint32_t first, uint32_t n)
{
	const struct op *best = &s->ops[first];

	for (uint32_t i = first; i < first + n; i++)
		if (s->ops[i].measured_ns > best->measured_ns)
			best = &s->ops[i];
	return best->family;
}

static const char *const splits[] = { "fitted", "held-out", "all" };

const char *sample_split_name(enum sample_split s)
{
	return splits[s];
}

int sample_split_parse(const char *text, enum sample_split *out, struct err *e)
{
	for (int i = 0; i <= SAMPLE_ALL; i++)
		if (strcmp(text, splits[i]) == 0) {
			*out = (enum sample_split)i;
			return 0;
		}
	return err_set(e, ERR_USAGE, "unknown split '%s': it is all, fitted or held-out", text);
}

enum sample_split cases_split(uint64_t hash)
{
	return hash_mix(hash) % 100 < HELD_OUT ? SAMPLE_HELD_OUT : SAMPLE_FITTED;
}

static int cases_by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Repetitions of one case follow each other: ops [first, last) of one KIND and SHAPE, cut where the annotation changes.
 */
struct rep {
	uint32_t first, n;
	const struct trace_range *range;
};

static int add_case(struct cases *c, const struct rep *reps, size_t n, const char *name, const char *kind, uint64_t *ns,
                    struct err *e)
{
	struct sample *x = &c->v[c->n++];

	for (size_t i = 0; i < n; i++)
		ns[i] = cases_measured(&c->stream, reps[i].first, reps[i].n);
	qsort(ns, n, sizeof *ns, cases_by_value);
	x->name = name;
	x->group = kind;
	x->cls = longest_family(&c->stream, reps[0].first, reps[0].n);
	x->measured_ns = n % 2 ? ns[n / 2] : (ns[n / 2 - 1] + ns[n / 2]) / 2;
	x->low_ns = ns[0];
	x->high_ns = ns[n - 1];
	x->reps = (uint32_t)n;
	x->first_op = reps[0].first;
	x->n_ops = reps[0].n;
	x->launch = UINT32_MAX;
	x->hash = hash_str(HASH_INIT, name);
	x->split = cases_split(x->hash);
	return gpu_work_repeat(&c->work, x->first_op, x->n_ops, e);
}

static bool any_opaque(const struct op_stream *s, uint32_t first, uint32_t n)
{
	for (uint32_t i = first; i < first + n; i++)
		if (s->ops[i].kind == OP_OPAQUE)
			return true;
	return false;
}

static int make_cases(struct cases *c, struct err *e)
{
	const struct op_stream *s = &c->stream;
	struct rep *reps = arena_array(c->arena, s->n_ops + 1, sizeof *reps);
	uint64_t *ns = arena_array(c->arena, s->n_ops + 1, sizeof *ns);
	const char *now = NULL, *kind = NULL;
	size_t n = 0;

	if (!reps || !ns)
		return err_set(e, ERR_NOMEM, "out of memory for %zu cases", s->n_ops);
	for (uint32_t i = 0; i < s->n_ops; i++) {
		const struct trace_range *r =
			s->ops[i].n_launches ? range_of(c->trace, host_time(&s->launches[s->ops[i].first_launch]))
					     : NULL;
		const char *name, *k;

		if (!r || !str_prefix(r->name, PREFIX))
			continue;
		if (!(name = case_name(c->arena, r->name, &k)) || !k)
			return err_set(e, ERR_NOMEM, "out of memory for a case's name");
		if (now && strcmp(name, now) != 0) {
			if (!any_opaque(s, reps[0].first, reps[0].n) && add_case(c, reps, n, now, kind, ns, e) < 0)
				return -1;
			n = 0;
		}
		if (!n || reps[n - 1].range != r)
			reps[n++] = (struct rep){ i, 0, r };
		reps[n - 1].n = i + 1 - reps[n - 1].first;
		now = name;
		kind = k;
	}
	if (n && !any_opaque(s, reps[0].first, reps[0].n))
		return add_case(c, reps, n, now, kind, ns, e);
	return 0;
}

static void make_launches(struct cases *c)
{
	const struct op_stream *s = &c->stream;

	for (uint32_t i = 0; i < s->n_ops; i++)
		for (uint32_t k = s->ops[i].first_launch; k < s->ops[i].first_launch + s->ops[i].n_launches; k++) {
			const struct trace_range *r = range_of(c->trace, host_time(&s->launches[k]));
			struct sample *x;

			if (s->ops[i].kind == OP_OPAQUE || s->launches[k].kind != TRACE_KERNEL)
				continue;
			x = &c->v[c->n++];
			x->name = s->ops[i].name;
			x->cls = s->ops[i].family;
			x->group = r ? r->name : "";
			x->measured_ns = x->low_ns = x->high_ns = s->launches[k].measured_ns;
			x->reps = 1;
			x->first_op = i;
			x->n_ops = 1;
			x->launch = k;
			x->hash = hash_str(hash_str(HASH_INIT, c->path), x->group);
			x->split = cases_split(x->hash);
		}
}

int cases_make(const struct trace *t, struct rules *rules, const struct kernels *k, struct arena *a, struct cases *out,
               struct err *e)
{
	struct lower_stats st;

	memset(out, 0, sizeof *out);
	out->arena = a;
	out->trace = t;
	out->path = t->path;
	if (lower_trace(t, rules, a, &out->stream, &st, e) < 0 || gpu_work_make(&out->stream, k, a, &out->work, e) < 0)
		return -1;
	if (!(out->v = arena_array(a, out->stream.n_launches + 1, sizeof *out->v)))
		return err_set(e, ERR_NOMEM, "out of memory for samples");
	for (size_t i = 0; i < t->n_ranges && !out->of_cases; i++)
		out->of_cases = str_prefix(t->ranges[i].name, PREFIX);
	out->opaque_ns = out->stream.opaque_ns;
	if (out->of_cases)
		return make_cases(out, e);
	make_launches(out);
	return 0;
}

/* --- what the caches make of it ------------------------------------------------------------------------------ */

#define MOST_EXTERNAL 64

/* Tensors a case finds when it starts, in the order in which its ops first read them. */
static uint32_t externals(const struct op_stream *s, const struct sample *x, uint32_t *tensor)
{
	uint32_t n = 0;

	for (uint32_t i = x->first_op; i < x->first_op + x->n_ops; i++)
		for (uint32_t k = 0; k < s->ops[i].n_operands; k++) {
			const struct op_operand *o = &s->operands[s->ops[i].first_operand + k];
			bool known = o->write || !s->tensors[o->tensor].external;

			for (uint32_t j = 0; j < n; j++)
				known |= tensor[j] == o->tensor;
			if (!known && n < MOST_EXTERNAL)
				tensor[n++] = o->tensor;
		}
	return n;
}

static bool rotates(const struct case_rule *r, uint32_t place)
{
	bool in = r->all;

	for (uint32_t i = 0; i < r->n; i++)
		in |= r->place[i] == place;
	return in;
}

static int call(struct cases *c, const struct sample *x, struct gpu_traffic *t, struct err *e)
{
	for (uint32_t i = x->first_op; i < x->first_op + x->n_ops; i++)
		if (gpu_work_move(&c->work, i, 1, t, e) < 0)
			return -1;
	return 0;
}

/* What rotates was written once and read by no launch before the case's own: its first readers are the first since. */
static void mark_fresh(struct cases *c, const struct sample *x, const struct case_rule *r, const uint32_t *tensor,
                       uint32_t n)
{
	const struct op_stream *s = &c->stream;
	bool read[MOST_EXTERNAL] = { false };

	for (uint32_t i = x->first_op; i < x->first_op + x->n_ops; i++)
		for (uint32_t k = 0; k < s->ops[i].n_operands; k++) {
			const struct op_operand *o = &s->operands[s->ops[i].first_operand + k];

			for (uint32_t j = 0; j < n; j++)
				if (!o->write && o->tensor == tensor[j] && rotates(r, j) && !read[j]) {
					gpu_work_fresh(&c->work, &s->ops[i], o->touched);
					read[j] = true;
				}
		}
}

/* The calls on other copies lie between a copy's last call and this one. More bytes than three times the L2 in between
 * are as good as any number. Where there are no more calls than copies, this one is its copy's first: what rotates is
 * in no cache, what does not rotate is there from the calls before. */
static int move_case(struct cases *c, const struct sample *x, const struct case_rule *r, uint64_t enough,
                     struct gpu_traffic *t, struct err *e)
{
	struct op_stream *s = &c->stream;
	uint32_t tensor[MOST_EXTERNAL], n = externals(s, x, tensor);
	uint64_t home[MOST_EXTERNAL], bytes = 0, stride, copies = 1, moved = 0;
	bool once;
	int rc = 0;

	for (uint32_t i = 0; i < n; i++) {
		home[i] = s->tensors[tensor[i]].addr;
		bytes += r && rotates(r, i) ? s->tensors[tensor[i]].bytes : 0;
	}
	stride = round_up(bytes, 4096);
	if (bytes && r->budget)
		copies = div_up(r->budget, bytes * r->times);
	copies = r && copies > r->copies ? r->copies : copies;
	once = r && bytes && r->calls && copies >= r->calls;
	copies = once ? r->calls : copies;
	gpu_traffic_forget(t);
	if (r && r->fresh)
		mark_fresh(c, x, r, tensor, n);
	if (!once && (rc = call(c, x, t, e)) < 0)
		return rc;
	for (uint64_t j = 1; rc == 0 && j < copies && moved < enough; j++, moved += bytes) {
		uint64_t at = round_up(s->addr_end, 4096) + j * stride;

		for (uint32_t i = 0; i < n; i++)
			if (rotates(r, i)) {
				s->tensors[tensor[i]].addr = at;
				at += s->tensors[tensor[i]].bytes;
			}
		rc = call(c, x, t, e);
	}
	for (uint32_t i = 0; i < n; i++)
		s->tensors[tensor[i]].addr = home[i];
	return rc < 0 ? rc : call(c, x, t, e);
}

int cases_move(struct cases *c, const struct cases_rules *r, const struct machine_cfg *m, struct err *e)
{
	struct gpu_traffic *t = gpu_traffic_new(&m->mem, m->clock, e);
	int rc = t ? 0 : -1;

	if (t && !c->of_cases)
		rc = gpu_work_run(&c->work, true, t, e);
	for (size_t i = 0; rc == 0 && c->of_cases && i < c->n; i++) {
		const struct case_rule *rule = rule_of(r, c->v[i].group);

		c->v[i].before = (rule && rule->calls > c->v[i].reps ? rule->calls : c->v[i].reps) - 1;
		rc = move_case(c, &c->v[i], rule, 3 * m->mem.l2.size, t, e);
	}
	gpu_traffic_free(t);
	return rc;
}

/* --- time ---------------------------------------------------------------------------------------------------- */

static void cases_add(struct gpu_time *sum, const struct gpu_time *t)
{
	if (t->total > sum->body)
		sum->bound = t->bound;
	sum->total += t->total;
	sum->launch += t->launch;
	sum->start += t->start;
	sum->body += t->body;
	sum->finish += t->finish;
	sum->chain += t->chain;
	sum->memory += t->memory;
	sum->pipe += t->pipe;
}

void cases_time_one(struct cases *c, size_t i, const struct gpu *g)
{
	struct sample *x = &c->v[i];
	const struct op *first = &c->stream.ops[x->first_op], *last = first + x->n_ops - 1;
	uint32_t from = x->launch == UINT32_MAX ? first->first_launch : x->launch;
	uint32_t to = x->launch == UINT32_MAX ? last->first_launch + last->n_launches : x->launch + 1;

	memset(&x->time, 0, sizeof x->time);
	for (uint32_t k = from; k < to; k++) {
		struct gpu_time t = gpu_time(g, &c->work.launches[k]);

		cases_add(&x->time, &t);
	}
	x->time.total += x->around;
	x->time.launch += x->around;
}

void cases_time(struct cases *c, const struct gpu *g)
{
	for (size_t i = 0; i < c->n; i++)
		cases_time_one(c, i, g);
}

void cases_put(struct cases *c, const struct kernel_number *n, uint32_t value)
{
	for (size_t i = 0; i < c->work.n; i++)
		if (c->work.launches[i].kernel.name == n->row) /* the table's own text */
			kernel_put(&c->work.launches[i].kernel, n->offset, value);
}
