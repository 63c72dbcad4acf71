#include "arch/gpu/gpu_traffic.h"

#include <stdlib.h>

#define REQUEST (UINT64_C(256) << 10) /* bytes; larger ranges go in parts */
#define WINDOW  16                    /* parts under way */

struct part {
	struct mem_req rq; /* first member: a reply's request is its part */
	struct mem_run run;
	struct part *next_free;
};

struct gpu_traffic {
	struct comp comp;
	struct memory_alone memory;
	struct part parts[WINDOW], *free;
	struct gpu_mem *into;
	uint64_t under_way;
	bool blocked;
};

static void gpu_traffic_reply(struct comp *c, struct mem_req *r)
{
	struct gpu_traffic *t = (struct gpu_traffic *)c;
	struct part *p = (struct part *)r;

	if (!r->write) /* the cache counts whole lines */
		t->into->read_hit += r->hit_bytes < r->bytes ? r->hit_bytes : r->bytes;
	p->next_free = t->free;
	t->free = p;
	t->under_way--;
}

static void gpu_traffic_retry(struct comp *c, struct comp *below)
{
	(void)below;
	((struct gpu_traffic *)c)->blocked = false;
}

static void gpu_traffic_explain(const struct comp *c, struct str *out)
{
	str_addf(out, "gpu traffic: %llu requests under way",
	         (unsigned long long)((const struct gpu_traffic *)c)->under_way);
}

static const struct comp_ops traffic_ops = {
	.kind = "gpu_traffic", .reply = gpu_traffic_reply, .retry = gpu_traffic_retry, .explain = gpu_traffic_explain
};

static void free_all(struct gpu_traffic *t)
{
	t->free = NULL;
	for (int i = 0; i < WINDOW; i++) {
		t->parts[i].next_free = t->free;
		t->free = &t->parts[i];
	}
	t->under_way = 0;
	t->blocked = false;
}

struct gpu_traffic *gpu_traffic_new(const struct memory_cfg *c, uint64_t clock_khz, struct err *e)
{
	struct gpu_traffic *t = calloc(1, sizeof *t);

	if (!t) {
		err_set(e, ERR_NOMEM, "out of memory for a GPU's memory");
		return NULL;
	}
	if (memory_alone_up(&t->memory, c, clock_khz, e) < 0) {
		gpu_traffic_free(t);
		return NULL;
	}
	t->comp = (struct comp){ &traffic_ops, t->memory.env };
	free_all(t);
	return t;
}

void gpu_traffic_free(struct gpu_traffic *t)
{
	if (!t)
		return;
	memory_alone_down(&t->memory);
	free(t);
}

void gpu_traffic_forget(struct gpu_traffic *t)
{
	memory_forget(t->memory.mem);
}

static int stuck(const struct gpu_traffic *t, struct err *e)
{
	return err_set(e, ERR_STUCK, "the memory is stuck with %llu requests under way",
	               (unsigned long long)t->under_way);
}

int gpu_traffic_move(struct gpu_traffic *t, uint64_t addr, uint64_t bytes, bool write, struct gpu_mem *m, struct err *e)
{
	struct evq *q = t->memory.env.q;
	uint64_t before = stat_get(t->memory.env.stats, "dram.write_bytes");

	t->into = m;
	*(write ? &m->write : &m->read) += bytes;
	while (bytes) {
		uint64_t n = REQUEST - addr % REQUEST;
		struct part *p = t->free;

		if (!p || t->blocked) {
			if (!evq_step(q))
				return stuck(t, e);
			continue;
		}
		n = n < bytes ? n : bytes;
		p->run = (struct mem_run){ addr, n };
		p->rq = (struct mem_req){ .runs = &p->run,
			                  .n_runs = 1,
			                  .bytes = n,
			                  .write = write,
			                  .cls = MEM_ACTIVATION,
			                  .not_before = evq_now(q),
			                  .from = &t->comp };
		t->free = p->next_free;
		t->under_way++;
		if (!comp_send(t->comp.env.below, &p->rq)) {
			t->blocked = true;
			t->under_way--;
			t->free = p;
			continue;
		}
		addr += n;
		bytes -= n;
	}
	while (evq_step(q))
		continue;
	if (evq_failed(q))
		return err_nomem(e, "for the event queue");
	if (t->under_way)
		return stuck(t, e);
	m->write_back += stat_get(t->memory.env.stats, "dram.write_bytes") - before;
	return stat_check(t->memory.env.stats, e);
}
