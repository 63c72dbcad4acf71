/* noc_shape.c - the kinds of network in closed form: a row a kind. */
#include "arch/mem/noc.h"

#define KIND_NAME(id, name) #name,
static const char *const kind_names[] = { NOC_KIND_ROWS(KIND_NAME) NULL };
#undef KIND_NAME

const struct cfg_field noc_schema[] = {
	CFG_ENUM(struct noc_cfg, kind, "kind", "ideal", kind_names,
	         "network between cores and shared levels; ideal: a latency and nothing else",
	         "ideal: as long as nobody names one"),
	CFG_PS(struct noc_cfg, latency, "latency", "10 ns", 0, 100 * PS_US, NULL,
	       "one way between a core and L2 or KV buffer, beside the hops of a ring or mesh",
	       "our choice: some 15 cycles of a crossbar"),
	CFG_PS(struct noc_cfg, hop, "hop", "2 ns", 0, PS_US, NULL, "ring, mesh: a router and the link behind it",
	       "our choice: two cycles of a router and one of its link at 1.4 GHz"),
	CFG_BYTES(struct noc_cfg, port, "port", "64 B", 1, 65536, NULL,
	          "crossbar, ring, mesh: bytes a cycle of a port and of a link, each way",
	          "64 B a cycle between L2 and an SM, as dma.width"),
	CFG_U32(struct noc_cfg, stops, "stops", "0", 0, 4096, NULL,
	        "crossbar, ring, mesh: ports of the shared levels; 0: one a core, of a mesh one a row and edge",
	        "as many as the kind has places for"),
	CFG_U32(struct noc_cfg, columns, "columns", "0", 0, 4096, NULL, "mesh: of cores; 0: as square as it gets",
	        "square: the most capacity for its links"),
	CFG_BOOL(struct noc_cfg, multicast, "multicast", "true", "what several cores want leaves a stop once",
	         "our choice: as TMA multicast to a cluster (H100 whitepaper)"),
	CFG_BOOL(struct noc_cfg, reduce, "reduce", "false", "routers add up partial sums on their way",
	         "off: few networks do"),
	CFG_END
};

int noc_cfg_check(struct noc_cfg *c, uint32_t cores, struct err *e)
{
	c->cores = cores;
	if (c->columns > cores)
		return err_set(e, ERR_CONFIG, "'noc.columns' is %u: a mesh of %u core%s has not so many", c->columns,
		               cores, cores > 1 ? "s" : "");
	return 0;
}

static uint32_t square_columns(uint32_t cores)
{
	uint32_t columns = 1;

	while (columns * columns < cores)
		columns++;
	return columns;
}

/* --- a row a kind: capacities in ports or links ----------------------------------------------------------------- */

struct kind {
	uint64_t up, cores; /* links' worth of bytes at a time: from or to stops, and between cores; 0: any number */
	uint32_t hops, between;
	uint64_t way; /* hundredths of a hop that a byte goes in the mean; less than one hop is one */
	uint32_t tree;
	bool routed; /* neighbours are nearer than others */
	bool one_way;
};

static struct kind ideal(const struct noc_cfg *c)
{
	(void)c;
	return (struct kind){ .tree = 1 };
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static struct kind crossbar(const struct noc_cfg *c)
{
	return (struct kind){ .up = least(c->stops ? c->stops : c->cores, c->cores), .cores = c->cores, .tree = 1 };
}

/* A byte goes a quarter of the ring, of two links between neighbours: 2 N / (N / 4) are 8 under way. One that all want goes
 * all round, N links: four times as many. */
static struct kind ring(const struct noc_cfg *c)
{
	return (struct kind){ .up = least(c->stops ? c->stops : c->cores, 8),
		              .cores = 8,
		              .hops = c->cores / 2,
		              .between = c->cores / 2,
		              .way = (uint64_t)c->cores * 25,
		              .tree = 4,
		              .routed = true,
		              .one_way = true };
}

/* From the edges a row's link carries what its stop sends: as many as stops. Half of all crosses the middle row, half of it
 * each way: 4 x columns. Between cores, of the two middles the shorter. */
static struct kind mesh(const struct noc_cfg *c)
{
	const uint32_t columns = c->columns ? c->columns : square_columns(c->cores),
		       rows = (uint32_t)div_up(c->cores, columns);

	return (struct kind){ .up = least(c->stops ? c->stops : 2 * rows, least(2 * rows, 4 * columns)),
		              .cores = 4 * least(rows, columns),
		              .hops = rows - 1 + columns,
		              .between = rows - 1 + columns - 1,
		              .way = ((uint64_t)rows + columns) * 100 / 3,
		              .tree = 1,
		              .routed = true };
}

#define KIND(id, name) name,
static struct kind (*const kinds[NOC_KINDS])(const struct noc_cfg *c) = { NOC_KIND_ROWS(KIND) };
#undef KIND

const char *noc_kind_name(enum noc_kind k)
{
	return kind_names[k];
}

uint64_t noc_way(const struct noc_cfg *c)
{
	const uint64_t way = kinds[c->kind](c).way;

	return way > 100 ? way : 100;
}

struct noc_shape noc_shape(const struct noc_cfg *c, uint64_t clock_khz)
{
	const struct kind k = kinds[c->kind](c);
	const uint64_t port = c->kind == NOC_IDEAL ? 0 : c->port * clock_khz * 1000;

	return (struct noc_shape){ .latency = c->latency + k.hops * c->hop,
		                   .between = c->latency + k.between * c->hop,
		                   .neighbour = k.routed ? c->hop : c->latency,
		                   .port = port,
		                   .up = k.up * port,
		                   .down = k.up * port,
		                   .cores = k.cores * port,
		                   .routed = k.routed,
		                   .one_way = k.one_way,
		                   .tree = k.tree,
		                   .multicast = c->multicast };
}

ps_t noc_span(const struct noc_shape *s, uint32_t cores, const struct mem_req *r, uint64_t *load)
{
	uint64_t rate, links, share;
	ps_t span, port;

	*load = 0;
	if (!s->port)
		return 0;
	rate = r->between ? s->cores : r->write ? s->down : s->up;
	links = r->bytes * (r->copies > 1 ? s->multicast ? least(r->copies, s->tree) : r->copies : 1);
	share = r->share ? r->share : div_up(r->bytes, cores);
	span = clock_transfer(links, rate);
	port = clock_transfer(share, s->port);
	*load = port > span ? share * (rate / s->port) : links;
	return port > span ? port : span;
}
