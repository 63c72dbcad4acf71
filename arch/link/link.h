/* link.h - links between chips, and what a collective over them takes, in closed form.
 *
 *   T = call + overhead + steps x latency + sent / (share x bandwidth) + own / local       the least over algorithms and protocols
 *
 * Bytes: all-reduce, broadcast and send the message; all-gather and reduce-scatter the gathered size; all-to-all what one chip
 * holds. Of W chips a ring goes W - 1 steps and sends (W - 1) / W of the bytes (an all-reduce twice, a reduce-scatter and an
 * all-gather); the direct algorithms (one_shot: all read all of it; two_shot: each its part, then all parts) take a step a pass, a
 * tree log2 W steps each way with all bytes, and a switch that reduces takes a chip's bytes once and its part of the result.
 * A protocol is how a library packs bytes: with a flag in every word (ll; ll_few: by few channels, which start sooner), a flag in
 * 128 bytes (ll128), or as they are; where bytes go one way alone (send, broadcast) there may be a faster one. A library that
 * chooses by bytes sent leaves ll behind at `ll_most`, even where it were faster still. `own` is the part of the bytes that a
 * chip adds or copies itself, after `local_latency`.
 * Topologies: `switch` any two chips at the full rate; `full` a link to each other chip; `ring`; `torus` and `mesh` of two
 * dimensions, which rings use both at once. A collective of fewer chips than the system has lies on neighbours.
 * Two levels (`group`): groups of chips (a host, a socket) with a way between them that a group's chips share. Ring along all
 * chips, or in groups, between them, and in groups again. A send over a hop of several chips is one of as many side by side.
 * Models of one host need no pipelines of chunks, ramps or trees: what matters is who calls, steps, protocol, rate, own part, switch.
 * Leaves out: several collectives at once, links that fail, congestion of routes beside the fullest dimension's.
 * Invariants: I1 more bytes, or chips that fill the same shape, never take less; more bandwidth or fewer hops never take more;
 * I2 what is sent does not hang on times; I3 integers only. */
#ifndef NPUSIM_ARCH_LINK_LINK_H
#define NPUSIM_ARCH_LINK_LINK_H

#include "sim/base/cfg.h"

#define LINK_MAX_CHIPS 65536

/* clang-format off */
/* X(ID, name) */
#define LINK_COLLECTIVES(X) \
	X(ALL_REDUCE, all_reduce) X(ALL_GATHER, all_gather) X(REDUCE_SCATTER, reduce_scatter) X(ALL_TO_ALL, all_to_all) \
	X(BROADCAST, broadcast) X(SEND, send)
#define LINK_ALGORITHMS(X) \
	X(RING, ring) X(ONE_SHOT, one_shot) X(TWO_SHOT, two_shot) X(TREE, tree) X(IN_SWITCH, in_switch) X(GROUPS, groups)
#define LINK_TOPOLOGIES(X) X(SWITCH, switch) X(FULL, full) X(RING, ring) X(TORUS, torus) X(MESH, mesh)
/* X(ID, name, prefix of its parameters) */
#define LINK_PROTOCOLS(X) \
	X(PLAIN, plain, "") X(LL, ll, "ll_") X(LL_FEW, ll_few, "ll_few_") X(LL128, ll128, "ll128_") \
	X(DIRECT, direct, "direct_") X(SEND, send, "send_") X(SEND_LL, send_ll, "send_ll_") \
	X(SEND_LARGE, send_large, "send_large_") X(ONE_WAY, one_way, "one_way_") X(IN_SWITCH, switch, "switch_")

#define X(id, name) LINK_##id,
enum link_collective { LINK_COLLECTIVES(X) LINK_COLLECTIVE_COUNT };
#undef X
#define X(id, name) LINK_BY_##id,
enum link_algorithm { LINK_BY_AUTO, LINK_ALGORITHMS(X) LINK_ALGORITHM_COUNT };
#undef X
#define X(id, name) LINK_TOPOLOGY_##id,
enum link_topology { LINK_TOPOLOGIES(X) LINK_TOPOLOGY_COUNT };
#undef X
#define X(id, name, prefix) LINK_AS_##id,
enum link_protocol { LINK_PROTOCOLS(X) LINK_PROTOCOL_COUNT };
#undef X
/* clang-format on */

/* Whose algorithms are one_shot and two_shot: nobody's, an all-reduce of an engine's own, all that a chip may do so. */
enum link_direct { LINK_DIRECT_NONE, LINK_DIRECT_ALL_REDUCE, LINK_DIRECT_ALL };

struct link_protocol_cfg {
	ps_t overhead, latency; /* of a call; of a step */
	uint32_t share;         /* of the bandwidth, millionths; 0: the machine has no such protocol */
};

struct link_cfg {
	uint32_t chips; /* of the system; 0: as many as a workload is split over */
	uint32_t topology, columns;
	uint64_t bandwidth;  /* bytes/s of a chip, one way; 0: there are no links */
	uint64_t local;      /* bytes/s; 0: that part takes no time of its own */
	uint64_t ll_local;   /* the same of ll and ll_few, packing and unpacking too */
	ps_t local_latency;  /* before it */
	uint64_t ll_most;    /* bytes that a chip sends: more do not go by ll; 0: all may */
	ps_t call;           /* not of an algorithm that is direct by a protocol of its own */
	uint32_t collective; /* enum link_algorithm */
	uint32_t direct;     /* enum link_direct */
	bool reduce;         /* in_switch */
	uint64_t direct_most;
	uint64_t energy; /* fJ a bit */
	uint32_t group;
	uint64_t between; /* bytes/s of a group, one way */
	ps_t between_latency;
	struct link_protocol_cfg protocol[LINK_PROTOCOL_COUNT];
};
extern const struct cfg_field link_schema[];

struct link_ask {
	enum link_collective what;
	uint32_t chips; /* that take part */
	uint64_t bytes;
	uint32_t hop; /* send: chips from one to the other, as many of which send at once; 0: neighbours */
};

/* The parts add up to `total`. */
struct link_time {
	ps_t total;
	ps_t start, steps, wire, own; /* calls and overhead; latencies; bytes on links; the chip's own part */
	uint64_t sent;                /* bytes that a chip puts on its links, those it passes on too */
	uint32_t n_steps;
	enum link_algorithm by;
	enum link_protocol as;
};

const char *link_collective_name(enum link_collective c);
const char *link_algorithm_name(enum link_algorithm a);
const char *link_protocol_name(enum link_protocol p);
/* "all_reduce", "all-reduce", "allreduce"; `near` (may be NULL) gets the nearest name where there is none. */
bool link_collective_find(const char *text, enum link_collective *out, const char **near);
/* Rules between parameters. */
int link_cfg_check(const struct link_cfg *c, struct err *e);
/* Whether so many chips can take part: links are there, they are not more than there are, and they fill groups and rows. */
int link_check(const struct link_cfg *c, uint32_t chips, struct err *e);
/* Chips of a row where the topology has two dimensions; else all. */
uint32_t link_columns(const struct link_cfg *c, uint32_t chips);
/* Of a checked number of chips; of one chip nothing. */
struct link_time link_time(const struct link_cfg *c, const struct link_ask *q);
/* By one algorithm; false: the links, or the collective, have no such. */
bool link_time_by(const struct link_cfg *c, const struct link_ask *q, enum link_algorithm by, struct link_time *out);
/* fJ that a chip's bytes take on the links. */
uint64_t link_energy(const struct link_cfg *c, uint64_t sent);

#endif
