/* membed.h - a test bed for memory blocks: an event queue, statistics, a requester that counts what comes back, and a
 * memory below that answers after a fixed time, remembers what it was asked and refuses when told to. */
#ifndef NPUSIM_TESTS_MEMBED_H
#define NPUSIM_TESTS_MEMBED_H

#include "arch/comp.h"
#include "arch/mem/dram.h"
#include "arch/mem/kv.h"
#include "arch/mem/l1.h"
#include "arch/mem/l2.h"
#include "arch/mem/noc.h"

#define BED_RUNS 80

/* A request of the bed's requester. */
struct bed_ask {
	struct mem_req rq;
	struct mem_run runs[BED_RUNS];
	ps_t sent, back;
	unsigned replies;
};

/* The requester. `todo` is sent in order as fast as the block takes it and at most `window` at a time. */
struct bed_from {
	struct comp comp;
	struct bed *bed;
	uint64_t replies, retries, refused;
	ps_t last; /* time of the last reply */
	struct comp *to;
	struct bed_ask *todo;
	size_t n_todo, next, window, under_way;
	bool blocked;
};

/* The memory below. */
struct bed_below {
	struct comp comp;
	ps_t latency;
	uint32_t room; /* requests it holds before it refuses; posted ones are never held */
	bool idle;     /* what it says of itself */
	bool at_once;  /* its bytes come together, at the end; else from the start on */
	uint32_t held, refused, owed;
	uint64_t read_bytes, write_bytes, reads, writes, posted;
	struct comp *waiting;
	struct below_ev {
		struct ev ev;
		struct mem_req *rq;
		bool used;
	} evs[512];
	struct mem_run log[4096]; /* runs asked, reads and writes in order */
	bool log_write[4096];
	size_t n_log;
};

struct bed {
	struct evq *q;
	struct stat_reg *stats;
	struct comp_env env;
	struct bed_from from;
	struct bed_below below;
};

void bed_up(struct bed *b);
void bed_from_init(struct bed *b, struct bed_from *f); /* a further requester */
void bed_down(struct bed *b);
/* A section's struct: its defaults, then `yaml` over them. Fails the test on a bad one. */
void bed_cfg(const struct cfg_field *rows, void *target, const char *yaml);
void bed_dram_cfg(struct dram_cfg *c, const char *yaml);                    /* resolved too */
void bed_dram_kind(struct dram_cfg *c, const char *kind, const char *yaml); /* over configs/dram/KIND.yaml */
/* The block over b->below, or over `below`. */
struct comp *bed_make(struct bed *b, const struct comp_ops *ops, const void *cfg, struct comp *below);

void bed_ask1(struct bed *b, struct bed_ask *a, uint64_t addr, uint64_t bytes, bool write);
void bed_start(struct bed_from *f, struct comp *to, struct bed_ask *asks, size_t n, size_t window);
void bed_run(struct bed *b); /* until nothing is left to happen */
/* One request alone: time from now to its reply. */
ps_t bed_read(struct bed *b, struct comp *to, uint64_t addr, uint64_t bytes);
ps_t bed_write(struct bed *b, struct comp *to, uint64_t addr, uint64_t bytes);
/* All of them through a window; returns when the last reply came. Checks that each got exactly one. */
ps_t bed_stream(struct bed *b, struct comp *to, struct bed_ask *asks, size_t n, size_t window);
/* Of a level of 64 B a ns behind 20 ns, and 4 ns more for a chunk: what is waited for goes before what is fetched ahead, and what
 * gives way is done that much later. */
void bed_urgent_first(struct bed *b, struct comp *level, uint64_t chunk);

#endif
