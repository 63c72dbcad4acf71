/* link_cfg.c - the rows of `links`, and what must hold between them. */
#include <inttypes.h>
#include <string.h>

#include "arch/link/link.h"
#include "sim/base/str.h"

#define NAME(id, name) #name,
static const char *const collective_names[] = { LINK_COLLECTIVES(NAME) NULL };
static const char *const algorithm_names[] = { "auto", LINK_ALGORITHMS(NAME) NULL };
static const char *const topology_names[] = { LINK_TOPOLOGIES(NAME) NULL };
#undef NAME
#define NAME(id, name, prefix) #name,
static const char *const direct_names[] = { "none", "all_reduce", "all", NULL };
static const char *const protocol_names[] = { LINK_PROTOCOLS(NAME) NULL };
#undef NAME

#define P(id) protocol[LINK_AS_##id]
#define PROTOCOL(id, prefix, overhead_, latency_, share_, what, src) \
	CFG_PS(struct link_cfg, P(id).overhead, prefix "overhead", overhead_, 0, 100000 * PS_US, NULL, \
	       what ": time of a call beside its steps and bytes", src), \
		CFG_PS(struct link_cfg, P(id).latency, prefix "latency", latency_, 0, 100000 * PS_US, NULL, \
	               what ": a step, from a chip to the next and seen there", src), \
		CFG_PPM(struct link_cfg, P(id).share, prefix "share", share_, 0, 1000000, \
	                what ": of the bandwidth, what is data; 0: there is no such protocol", src)
#define PPM    1000000
#define ABSENT "none: the bytes go as they are"

const struct cfg_field link_schema[] = {
	CFG_U32(struct link_cfg, chips, "chips", "0", 0, LINK_MAX_CHIPS, NULL,
	        "chips of the system; 0: as many as a workload is split over", "our choice"),
	CFG_ENUM(struct link_cfg, topology, "topology", "switch", topology_names,
	         "how chips are joined: any two at the full rate, a link to each other, a ring, two dimensions",
	         "our choice: as NVSwitch"),
	CFG_U32(struct link_cfg, columns, "columns", "0", 0, LINK_MAX_CHIPS, NULL,
	        "torus, mesh: chips of a row; 0: as square as it gets", "square: the shortest ways"),
	CFG_RATE(struct link_cfg, bandwidth, "bandwidth", "0", 0, UINT64_C(1) << 50, NULL,
	         "of all links of a chip together, one way; 0: there are none", "none: a machine is one chip"),
	CFG_RATE(struct link_cfg, local, "local", "0", 0, UINT64_C(1) << 50, NULL,
	         "at which a chip adds and copies its own part of a collective; 0: that is hidden",
	         "our choice: units add what the DMA brings"),
	CFG_PS(struct link_cfg, local_latency, "local_latency", "0", 0, 100000 * PS_US, NULL,
	       "before a chip adds and copies its own part", "our choice: as local"),
	CFG_PS(struct link_cfg, call, "call", "0", 0, 100000 * PS_US, NULL,
	       "what the caller of a library's collective adds to each; an engine calls its own one_shot itself",
	       "our choice: its dispatch is the machine's"),
	CFG_ENUM(struct link_cfg, collective, "collective", "auto", algorithm_names,
	         "algorithm of collectives that have it; auto: the fastest", "the fastest"),
	CFG_ENUM(struct link_cfg, direct, "direct", "all", direct_names,
	         "switch, full: what may be done with each other's memory at once (one_shot, two_shot): all, or as an"
	         " engine's own all-reduce does beside a library that has none",
	         "our choice: DMA engines reach all chips"),
	CFG_BYTES(struct link_cfg, direct_most, "direct_most", "0", 0, UINT64_C(1) << 50, NULL,
	          "larger messages are not done so; 0: all may be", "our choice"),
	CFG_BOOL(struct link_cfg, reduce, "reduce", "false", "the switch adds up what comes in (NVLS)",
	         "off: few switches do"),
	CFG_ENERGY(struct link_cfg, energy, "energy", "5600 fJ", 0, UINT64_C(1) << 30, NULL,
	           "of a bit over a link, both ends",
	           "112 Gb/s PAM4 with DSP in 5 nm: configs/tech/link.yaml, serdes_112g"),
	CFG_U32(struct link_cfg, group, "group", "0", 0, LINK_MAX_CHIPS, NULL,
	        "chips of a group (a host, a socket) within which the links are; 0: all", "our choice: one host"),
	CFG_RATE(struct link_cfg, between, "between", "0", 0, UINT64_C(1) << 50, NULL,
	         "from a group to others, one way, shared by its chips", "none: one group"),
	CFG_PS(struct link_cfg, between_latency, "between_latency", "0", 0, 100000 * PS_US, NULL,
	       "what a step between groups adds", "none: one group"),
	PROTOCOL(PLAIN, "", "1 us", "500 ns", "100 %", "bytes as they are",
	         "our choice: a descriptor and a flag written and seen, and some 200 ns of wire and switch each way"),
	PROTOCOL(LL, "ll_", "0", "0", "0", "a flag in every word", ABSENT),
	CFG_BYTES(struct link_cfg, ll_most, "ll_most", "0", 0, UINT64_C(1) << 50, NULL,
	          "a chip that sends more does not do it by ll, even where that were faster; 0: it may", "the fastest"),
	CFG_RATE(struct link_cfg, ll_local, "ll_local", "0", 0, UINT64_C(1) << 50, NULL,
	         "local of ll and ll_few, whose flags are added and taken off; 0: that is hidden",
	         "our choice: as local"),
	PROTOCOL(LL_FEW, "ll_few_", "0", "0", "0", "a flag in every word, by few channels, which start sooner", ABSENT),
	PROTOCOL(LL128, "ll128_", "0", "0", "0", "a flag in 128 bytes", ABSENT),
	PROTOCOL(DIRECT, "direct_", "0", "0", "0", "one_shot and two_shot", "none of their own: as bytes as they are"),
	PROTOCOL(SEND, "send_", "0", "0", "0", "send and all_to_all", "none of their own: as bytes as they are"),
	PROTOCOL(SEND_LL, "send_ll_", "0", "0", "0", "send and all_to_all, a flag in every word", ABSENT),
	PROTOCOL(SEND_LARGE, "send_large_", "0", "0", "0", "send and all_to_all, by more channels", ABSENT),
	PROTOCOL(ONE_WAY, "one_way_", "0", "0", "0", "send and broadcast: no bytes come back", ABSENT),
	PROTOCOL(IN_SWITCH, "switch_", "0", "0", "0", "in_switch", "none of its own: as bytes as they are"),
	CFG_END
};

const char *link_collective_name(enum link_collective c)
{
	return collective_names[c];
}

const char *link_algorithm_name(enum link_algorithm a)
{
	return algorithm_names[a];
}

const char *link_protocol_name(enum link_protocol p)
{
	return protocol_names[p];
}

/* Letters alone: libraries write the same name in several ways. */
static bool same(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (*a == '-' || *a == '_')
			a++;
		while (*b == '-' || *b == '_')
			b++;
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

bool link_collective_find(const char *text, enum link_collective *out, const char **near)
{
	for (int i = 0; i < LINK_COLLECTIVE_COUNT; i++)
		if (same(text, collective_names[i])) {
			*out = (enum link_collective)i;
			return true;
		}
	if (near)
		*near = str_nearest(text, collective_names, LINK_COLLECTIVE_COUNT);
	return false;
}

/* A chip that adds more slowly than its links bring bytes would make fewer chips slower than more. */
int link_cfg_check(const struct link_cfg *c, struct err *e)
{
	const uint32_t ll = c->P(LL).share, few = c->P(LL_FEW).share, packed = ll > few ? ll : few;

	if (c->bandwidth && !c->P(PLAIN).share)
		return err_set(e, ERR_CONFIG, "'links.share' is 0: nothing would go over the links");
	if (c->local && c->local < c->bandwidth)
		return err_set(e, ERR_CONFIG,
		               "'links.local' is below 'links.bandwidth': a chip could not add or copy what comes in");
	if (c->ll_local && c->ll_local / PPM * PPM < c->bandwidth / PPM * packed)
		return err_set(
			e, ERR_CONFIG,
			"'links.ll_local' is below 'links.ll_share' or 'links.ll_few_share' of 'links.bandwidth': a chip could not take"
			" what comes in");
	if (c->group && c->chips && c->chips % c->group)
		return err_set(e, ERR_CONFIG, "'links.chips' is %u, and with 'links.group' %u it must be a multiple",
		               c->chips, c->group);
	if (c->group && c->bandwidth && !c->between)
		return err_set(e, ERR_CONFIG,
		               "'links.group' makes groups, and 'links.between' is 0: no way joins them");
	if (c->columns && c->chips && c->chips % c->columns)
		return err_set(e, ERR_CONFIG, "'links.chips' is %u, and with 'links.columns' %u it must be a multiple",
		               c->chips, c->columns);
	return 0;
}

int link_check(const struct link_cfg *c, uint32_t chips, struct err *e)
{
	if (chips < 2)
		return 0;
	if (!c->bandwidth)
		return err_set(
			e, ERR_CONFIG,
			"this machine has no links to %u chips: --set 'links.bandwidth=450 GB/s' gives it some, or a"
			" system of configs/system has them",
			chips);
	if (chips > (c->chips ? c->chips : LINK_MAX_CHIPS))
		return err_set(e, ERR_CONFIG, "'links.chips' is %u, and %u chips are asked for",
		               c->chips ? c->chips : LINK_MAX_CHIPS, chips);
	if (c->group && chips > c->group && chips % c->group)
		return err_set(e, ERR_CONFIG, "%u chips do not fill groups of 'links.group' %u", chips, c->group);
	if (link_columns(c, chips) < chips && chips % link_columns(c, chips))
		return err_set(e, ERR_CONFIG, "%u chips do not fill rows of %u ('links.columns')", chips,
		               link_columns(c, chips));
	return 0;
}
