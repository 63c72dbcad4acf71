#include "validate/tests/membed.h"

#include <stdlib.h>

#include "validate/tests/test.h"

/* --- the requester ----------------------------------------------------------------------------------------- */

static void pump(struct bed_from *f)
{
	while (!f->blocked && f->next < f->n_todo && f->under_way < f->window) {
		struct bed_ask *a = &f->todo[f->next];

		a->rq.not_before = evq_now(f->bed->q);
		if (!comp_send(f->to, &a->rq)) {
			f->blocked = true;
			f->refused++;
			return;
		}
		a->sent = evq_now(f->bed->q);
		f->next++;
		f->under_way++;
	}
}

static void from_reply(struct comp *c, struct mem_req *r)
{
	struct bed_from *f = (struct bed_from *)c;
	struct bed_ask *a = (struct bed_ask *)r; /* rq is its first member */

	CHECK(a->replies == 0);
	a->replies++;
	a->back = evq_now(f->bed->q);
	f->replies++;
	f->last = a->back;
	f->under_way--;
	pump(f);
}

static void from_retry(struct comp *c, struct comp *below)
{
	struct bed_from *f = (struct bed_from *)c;

	CHECK(below == f->to);
	CHECK(f->blocked); /* a retry nobody is owed */
	f->retries++;
	f->blocked = false;
	pump(f);
}

static void from_explain(const struct comp *c, struct str *out)
{
	(void)c;
	str_add(out, "test requester");
}

static const struct comp_ops from_ops = {
	.kind = "test_from",
	.reply = from_reply,
	.retry = from_retry,
	.explain = from_explain,
};

/* --- the memory below -------------------------------------------------------------------------------------- */

static void below_done(void *owner, struct ev *ev)
{
	struct bed_below *m = owner;
	struct below_ev *x = (struct below_ev *)ev; /* ev is its first member */
	struct mem_req *r = x->rq;

	x->used = false;
	m->held--;
	if (m->waiting) {
		struct comp *who = m->waiting;

		m->waiting = NULL;
		m->owed++;
		who->ops->retry(who, &m->comp);
	}
	r->from->ops->reply(r->from, r);
}

static bool below_send(struct comp *c, struct mem_req *r)
{
	struct bed_below *m = (struct bed_below *)c;
	struct below_ev *x = m->evs;

	CHECK(!m->waiting || m->waiting != r->from); /* sent again before the retry */
	CHECK(r->not_before >= evq_now(c->env.q));
	if (m->held >= m->room) {
		CHECK(!m->waiting); /* one sender in these tests */
		m->waiting = r->from;
		m->refused++;
		return false;
	}
	for (uint32_t i = 0; i < r->n_runs && m->n_log < sizeof m->log / sizeof *m->log; i++) {
		m->log[m->n_log] = r->runs[i];
		m->log_write[m->n_log++] = r->write;
	}
	if (r->write) {
		m->writes++;
		m->write_bytes += r->bytes;
	} else {
		m->reads++;
		m->read_bytes += r->bytes;
	}
	if (r->posted) {
		m->posted++;
		return true;
	}
	while (x->used)
		x++;
	x->used = true;
	x->rq = r;
	m->held++;
	r->t_dram = r->not_before;
	r->t_dram_done = r->not_before + m->latency;
	r->t_first = m->at_once ? r->t_dram_done : r->not_before;
	r->dram_bytes = r->write ? 0 : r->bytes;
	evq_push(c->env.q, &x->ev, r->t_dram_done);
	return true;
}

static void below_explain(const struct comp *c, struct str *out)
{
	(void)c;
	str_add(out, "test memory");
}

static bool below_idle(const struct comp *c)
{
	return ((const struct bed_below *)c)->idle;
}

static const struct comp_ops below_ops = {
	.kind = "test_below",
	.send = below_send,
	.explain = below_explain,
	.idle = below_idle,
};

/* --- the bed ----------------------------------------------------------------------------------------------- */

void bed_from_init(struct bed *b, struct bed_from *f)
{
	memset(f, 0, sizeof *f);
	f->comp = (struct comp){ &from_ops, b->env };
	f->bed = b;
}

void bed_up(struct bed *b)
{
	memset(b, 0, sizeof *b);
	b->q = evq_new();
	b->stats = stat_new();
	CHECK(b->q && b->stats);
	b->env = (struct comp_env){ b->q, b->stats, 1000000, NULL, NULL };
	bed_from_init(b, &b->from);
	b->below.comp = (struct comp){ &below_ops, b->env };
	b->below.latency = 100 * PS_NS;
	b->below.room = 256;
	for (size_t i = 0; i < sizeof b->below.evs / sizeof *b->below.evs; i++)
		ev_init(&b->below.evs[i].ev, EV_REPLY, below_done, &b->below);
}

void bed_down(struct bed *b)
{
	stat_free(b->stats);
	evq_free(b->q);
}

static void load(const struct cfg_field *rows, void *target, const char *file, const char *yaml,
                 struct dram_cfg *resolve)
{
	const struct cfg_section sections[] = { { "dram", rows, 0 }, { NULL, NULL, 0 } };
	struct err e = ERR_INIT;
	struct cfg *raw = cfg_new(sections, target, &e);
	struct yaml *y = yaml_parse(yaml, strlen(yaml), "test", &e), *kind = NULL;
	char path[512];

	if (!raw || !y || cfg_read_section(raw, "dram", y, yaml_root(y), false, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s", e.msg);
	if (file) {
		snprintf(path, sizeof path, "%s/configs/dram/%s.yaml", test_root(), file);
		if (!(kind = yaml_load(path, &e)) || dram_cfg_preset(raw, kind, yaml_root(kind), &e) < 0)
			test_fail(__FILE__, __LINE__, "%s: %s", path, e.msg);
	}
	if (resolve && dram_cfg_resolve(resolve, raw, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s", e.msg);
	yaml_free(kind);
	yaml_free(y);
	cfg_free(raw);
}

void bed_cfg(const struct cfg_field *rows, void *target, const char *yaml)
{
	load(rows, target, NULL, yaml, NULL);
}

void bed_dram_cfg(struct dram_cfg *c, const char *yaml)
{
	load(dram_schema, c, NULL, yaml, c);
}

void bed_dram_kind(struct dram_cfg *c, const char *kind, const char *yaml)
{
	load(dram_schema, c, kind, yaml, c);
}

struct comp *bed_make(struct bed *b, const struct comp_ops *ops, const void *cfg, struct comp *below)
{
	struct comp_env env = b->env;
	struct err e = ERR_INIT;
	struct comp *c;

	env.below = below ? below : &b->below.comp;
	if (!(c = ops->make(&env, cfg, &e)))
		test_fail(__FILE__, __LINE__, "%s", e.msg);
	return c;
}

void bed_ask1(struct bed *b, struct bed_ask *a, uint64_t addr, uint64_t bytes, bool write)
{
	memset(a, 0, sizeof *a);
	a->runs[0] = (struct mem_run){ addr, bytes };
	a->rq = (struct mem_req){
		.runs = a->runs, .n_runs = 1, .bytes = bytes, .write = write, .cls = MEM_KV, .from = &b->from.comp
	};
}

void bed_run(struct bed *b)
{
	while (evq_step(b->q))
		continue;
}

void bed_start(struct bed_from *f, struct comp *to, struct bed_ask *asks, size_t n, size_t window)
{
	for (size_t i = 0; i < n; i++)
		asks[i].rq.from = &f->comp;
	f->to = to;
	f->todo = asks;
	f->n_todo = n;
	f->next = f->under_way = 0;
	f->window = window;
	f->blocked = false;
	f->replies = f->refused = f->retries = 0;
	pump(f);
}

ps_t bed_stream(struct bed *b, struct comp *to, struct bed_ask *asks, size_t n, size_t window)
{
	bed_start(&b->from, to, asks, n, window);
	bed_run(b);
	CHECK_U64(b->from.replies, n);
	CHECK_U64(b->from.refused, b->from.retries);
	return b->from.last;
}

static ps_t one(struct bed *b, struct comp *to, uint64_t addr, uint64_t bytes, bool write)
{
	struct bed_ask a;
	ps_t from = evq_now(b->q);

	bed_ask1(b, &a, addr, bytes, write);
	return bed_stream(b, to, &a, 1, 1) - from;
}

ps_t bed_read(struct bed *b, struct comp *to, uint64_t addr, uint64_t bytes)
{
	return one(b, to, addr, bytes, false);
}

ps_t bed_write(struct bed *b, struct comp *to, uint64_t addr, uint64_t bytes)
{
	return one(b, to, addr, bytes, true);
}

void bed_urgent_first(struct bed *b, struct comp *level, uint64_t chunk)
{
	static const uint8_t urgency[] = { MEM_AHEAD, MEM_AHEAD, MEM_BLOCKING, MEM_WANTED };
	static const ps_t back[] = { 64 + 4 + 20, 128 + 4 + 20, 2 + 20, 2 + 2 + 20 };
	struct bed_ask a[4];

	for (uint64_t i = 0; i < 2; i++)
		bed_read(b, level, i * chunk, chunk);
	for (uint64_t i = 0; i < 4; i++) {
		bed_ask1(b, &a[i], (i % 2) * chunk, i < 2 ? chunk : 128, false);
		a[i].rq.urgency = &urgency[i];
	}
	bed_stream(b, level, a, 4, 4);
	for (size_t i = 0; i < 4; i++)
		CHECK_U64(a[i].back - a[i].sent, back[i] * PS_NS);
	CHECK(a[0].rq.t_level >= a[0].sent && a[1].rq.t_level >= a[1].sent + 64 * PS_NS);
}
