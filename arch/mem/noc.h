/* noc.h - the on-chip network between the cores' DMA and the shared levels, and between cores.
 *
 * Models: routing by class (KV requests to the KV buffer when there is one, the rest to L2), and by kind:
 *     ideal     `latency` each way, and any number of bytes
 *     crossbar  a port of `port` bytes a cycle each way at every core and at every stop of the shared levels
 *     ring      both ways round, stops evenly between cores, the shorter way taken: all that goes shares its links
 *     mesh      rows x columns of cores, stops along its left and right edge, X before Y
 * A request is a tile's bytes for many cores at once (mem_req.copies, share). It takes the longer of what the fullest core's
 * port needs and what the links between need: that is the class of links its bytes share, and it queues there, the urgent
 * first (bw_server.h). Addresses are interleaved, so all stops serve a request alike. What several cores want leaves the
 * stop once where there is `multicast`, else once for each. A tile is there when the farthest core has it.
 * Cores that exchange partial sums (comp_ops.exchange) take their ports, and the links, from all else meanwhile; of an ideal
 * network, whose ports are of any width, only the engines that send them (npu/dma.h) are taken.
 * What the level behind refuses, it refuses, and retries the sender when that level does.
 * Leaves out: which link of a class is the fullest for one request, adaptive routes, flits and virtual channels.
 * Closed forms of capacity (cut arguments): Dally and Towles, Principles and Practices of Interconnection Networks, 2004,
 * chapter 3. noc_shape holds them, and the closed form of the machine uses the same.
 * Invariants: I1 one reply for each request taken; I2 no direction carries more than its capacity; I3 a wider port is
 * never slower. */
#ifndef NPUSIM_ARCH_MEM_NOC_H
#define NPUSIM_ARCH_MEM_NOC_H

#include "arch/comp.h"

/* X(ID, name): `noc.kind: name` is NOC_ID, and the function `name` of noc_shape.c says what it comes to. */
/* clang-format off */
#define NOC_KIND_ROWS(X) \
	X(IDEAL,    ideal) \
	X(CROSSBAR, crossbar) \
	X(RING,     ring) \
	X(MESH,     mesh)
/* clang-format on */

#define NOC_KIND_ID(id, name) NOC_##id,
enum noc_kind { NOC_KIND_ROWS(NOC_KIND_ID) NOC_KINDS };
#undef NOC_KIND_ID

struct noc_cfg {
	uint32_t kind; /* enum noc_kind */
	ps_t latency;  /* one way, beside its hops */
	ps_t hop;      /* ring, mesh: a router and the link behind it */
	uint64_t port; /* bytes a cycle of a port or link, each way */
	uint32_t stops;
	uint32_t columns;
	bool multicast, reduce;
	uint32_t cores; /* not a row: the machine's, set by noc_cfg_check */
};

extern const struct cfg_field noc_schema[];

int noc_cfg_check(struct noc_cfg *c, uint32_t cores, struct err *e);

/* What a kind comes to. Rates in bytes/s; 0: any number. */
struct noc_shape {
	ps_t latency;      /* one way between the shared levels and the farthest core */
	ps_t between;      /* between the cores farthest from each other */
	ps_t neighbour;    /* from a core to the next */
	uint64_t port;     /* of a core, each way */
	uint64_t up, down; /* all links, from the shared levels and to them */
	uint64_t cores;    /* all links, between cores */
	bool routed;       /* neighbours are nearer than others */
	bool one_way;      /* both directions share the links */
	uint32_t tree;     /* a multicast takes at most so many times the links of one byte */
	bool multicast;
};

const char *noc_kind_name(enum noc_kind k);
/* Hundredths of a hop that a byte goes in the mean, at least 100: what it costs in energy. */
uint64_t noc_way(const struct noc_cfg *c);
struct noc_shape noc_shape(const struct noc_cfg *c, uint64_t clock_khz);
/* Time of a request on the links, and what that is in bytes at their peak. */
ps_t noc_span(const struct noc_shape *s, uint32_t cores, const struct mem_req *r, uint64_t *load);

/* `kv` may be NULL. The replies come back through the network to req->from. */
struct comp *noc_new(const struct comp_env *env, const struct noc_cfg *cfg, struct comp *l2, struct comp *kv,
                     struct err *e);

#endif
