/* Laws of collectives over random links. */
#include "arch/link/link.h"
#include "sim/base/rng.h"
#include "validate/tests/membed.h"
#include "validate/tests/test.h"

#define ROUNDS test_rounds(200, 1000, 10000)

static ps_t some(struct rng *g, uint64_t most)
{
	return rng_below(g, most * PS_NS + 1);
}

static uint64_t scaled_up(uint64_t rate, uint32_t ppm)
{
	return rate / 1000000 * ppm + ppm;
}

static uint32_t most_packed(const struct link_cfg *c)
{
	const uint32_t ll = c->protocol[LINK_AS_LL].share, few = c->protocol[LINK_AS_LL_FEW].share;

	return ll > few ? ll : few;
}

static struct link_cfg random_links(struct rng *g)
{
	struct link_cfg c;

	bed_cfg(link_schema, &c, "{}");
	c.topology = (uint32_t)rng_below(g, LINK_TOPOLOGY_COUNT);
	c.bandwidth = (1 + rng_below(g, 2000)) * UINT64_C(1000000000);
	c.local = rng_below(g, 2) ? c.bandwidth * (1 + rng_below(g, 8)) : 0;
	c.local_latency = some(g, 3000);
	c.ll_most = rng_below(g, 2) ? UINT64_C(1) << (10 + rng_below(g, 20)) : 0;
	c.call = some(g, 5000);
	c.direct = (uint32_t)rng_below(g, 3);
	c.direct_most = rng_below(g, 2) ? UINT64_C(1) << (10 + rng_below(g, 20)) : 0;
	c.energy = rng_below(g, 10000);
	for (int i = 0; i < LINK_PROTOCOL_COUNT; i++) {
		c.protocol[i] = (struct link_protocol_cfg){ some(g, 30000), some(g, 3000), 0 };
		if (i == LINK_AS_PLAIN || rng_below(g, 2))
			c.protocol[i].share = 1 + (uint32_t)rng_below(g, 1000000);
	}
	if (rng_below(g, 2))
		c.ll_local = scaled_up(c.bandwidth, most_packed(&c)) * (1 + rng_below(g, 4));
	if (rng_below(g, 3) == 0 && c.topology <= LINK_TOPOLOGY_FULL) {
		c.group = 2u << rng_below(g, 3);
		c.between = c.bandwidth / 20 + rng_below(g, c.bandwidth * c.group);
		c.between_latency = some(g, 5000);
	}
	return c;
}

/* A number of chips that fills the links' groups; of a grid a square's. */
static uint32_t some_chips(struct rng *g, const struct link_cfg *c)
{
	const bool grid = c->topology == LINK_TOPOLOGY_TORUS || c->topology == LINK_TOPOLOGY_MESH;
	const uint32_t side = 2 + (uint32_t)rng_below(g, 8);

	if (grid)
		return side * side;
	return c->group ? c->group * (1 + (uint32_t)rng_below(g, 8)) : 2 + (uint32_t)rng_below(g, 63);
}

static struct link_ask random_ask(struct rng *g, const struct link_cfg *c)
{
	return (struct link_ask){ (enum link_collective)rng_below(g, LINK_COLLECTIVE_COUNT), some_chips(g, c),
		                  1 + rng_below(g, UINT64_C(1) << (8 + rng_below(g, 28))), 0 };
}

TEST(more_bytes_never_take_less)
{
	struct rng g;

	rng_seed(&g, test_seed(), "link bytes");
	for (int i = 0; i < ROUNDS; i++) {
		struct link_cfg c = random_links(&g);
		struct link_ask q = random_ask(&g, &c);
		struct link_time was;

		c.direct_most =
			0; /* an engine's own all-reduce ends there, and what is behind it may be slower or faster */
		was = link_time(&c, &q);
		CHECK(was.total > 0 && was.total == was.start + was.steps + was.wire + was.own);
		q.bytes += 1 + rng_below(&g, q.bytes);
		CHECK(link_time(&c, &q).total >= was.total);
	}
}

/* What the chip's own part takes of one byte. */
static ps_t byte_of(const struct link_cfg *c, const struct link_time *t)
{
	const uint64_t rate = c->ll_local && (!c->local || c->ll_local < c->local) ? c->ll_local : c->local;

	return t->own && rate ? clock_transfer(1, rate) + 1 : 0;
}

/* The switch's own sum is left out: each chip's part of the result is smaller there with more chips. */
TEST(more_chips_never_take_less)
{
	struct rng g;

	rng_seed(&g, test_seed(), "link chips");
	for (int i = 0; i < ROUNDS; i++) {
		const struct link_cfg c = random_links(&g);
		struct link_ask q = random_ask(&g, &c);
		struct link_time was = link_time(&c, &q);
		const bool grid = c.topology >= LINK_TOPOLOGY_TORUS;
		uint32_t side = 2;

		while (side * side < q.chips)
			side++;
		if (c.group)
			q.chips += c.group;
		else
			q.chips = grid ? (side + 1) * (side + 1) : q.chips + 1;
		/* Parts are whole bytes: the smaller ones may be rounded up by one less. */
		if (link_time(&c, &q).total + byte_of(&c, &was) < was.total)
			test_fail(__FILE__, __LINE__, "round %d: %s by %s", i, link_collective_name(q.what),
			          link_algorithm_name(was.by));
	}
}

/* Whatever other groups the system has: a group's links are its own. */
TEST(a_group_alone_does_not_see_the_others)
{
	struct rng g;

	rng_seed(&g, test_seed(), "link groups");
	for (int i = 0; i < ROUNDS; i++) {
		struct link_cfg c = random_links(&g);
		struct link_ask q = random_ask(&g, &c);
		ps_t alone;

		if (!c.group)
			continue;
		q.chips = c.chips = c.group;
		alone = link_time(&c, &q).total;
		c.chips = c.group * (2 + (uint32_t)rng_below(&g, 80));
		CHECK_U64(link_time(&c, &q).total, alone);
	}
}

TEST(more_bandwidth_and_shorter_steps_never_take_more)
{
	struct rng g;

	rng_seed(&g, test_seed(), "link rate");
	for (int i = 0; i < ROUNDS; i++) {
		struct link_cfg c = random_links(&g);
		const struct link_ask q = random_ask(&g, &c);
		const ps_t was = link_time(&c, &q).total;

		switch (rng_below(&g, 4)) {
		case 0:
			c.bandwidth += rng_below(&g, c.bandwidth);
			break;
		case 1:
			c.between += rng_below(&g, c.between + 1);
			break;
		case 2:
			c.between_latency /= 2;
			break;
		default:
			for (int p = 0; p < LINK_PROTOCOL_COUNT; p++)
				c.protocol[p].latency /= 2;
		}
		/* Bytes scaled to a slower way are rounded up. */
		CHECK(link_time(&c, &q).total <= was + was / 1000000 + 2);
	}
}

/* An all-reduce sends twice what a half does, so where ll ends for it the halves may not go by ll either. */
TEST(an_all_reduce_is_at_most_its_two_halves)
{
	struct rng g;

	rng_seed(&g, test_seed(), "link halves");
	for (int i = 0; i < ROUNDS; i++) {
		struct link_cfg c = random_links(&g), half = c;
		struct link_ask q = random_ask(&g, &c);
		ps_t halves;

		half.ll_most = c.ll_most / 2;
		c.ll_most = c.ll_most ? c.ll_most + 2 * q.chips : 0; /* parts are whole bytes */
		q.what = LINK_REDUCE_SCATTER;
		halves = link_time(&half, &q).total;
		q.what = LINK_ALL_GATHER;
		halves += link_time(&half, &q).total;
		q.what = LINK_ALL_REDUCE;
		CHECK(link_time(&c, &q).total <= halves + halves / 10);
	}
}

TEST(what_is_sent_does_not_hang_on_times)
{
	struct rng g;

	rng_seed(&g, test_seed(), "link sent");
	for (int i = 0; i < ROUNDS; i++) {
		struct link_cfg c = random_links(&g);
		const struct link_ask q = random_ask(&g, &c);

		for (int by = LINK_BY_RING; by < LINK_ALGORITHM_COUNT; by++) {
			struct link_cfg slow = c;
			struct link_time t, u;

			slow.bandwidth = slow.bandwidth / 3 + 1;
			slow.protocol[LINK_AS_PLAIN].latency += PS_US;
			if (!link_time_by(&c, &q, (enum link_algorithm)by, &t))
				continue;
			CHECK(link_time_by(&slow, &q, (enum link_algorithm)by, &u));
			CHECK_U64(t.sent, u.sent);
			CHECK_U64(link_energy(&c, t.sent), t.sent * 8 * c.energy);
		}
	}
}

static uint64_t part_of(uint64_t times, uint64_t bytes, uint64_t chips)
{
	return (times * bytes * (chips - 1) + chips - 1) / chips;
}

/* The table of LINKS: what a chip sends, by algorithm, of any collective over a switch or links to all. Parts are whole bytes. */
TEST(bytes_are_each_algorithms_closed_form)
{
	struct rng g;

	rng_seed(&g, test_seed(), "link closed");
	for (int i = 0; i < ROUNDS; i++) {
		struct link_cfg c = random_links(&g);
		struct link_ask q;
		struct link_time t;
		uint64_t twice;

		c.topology = LINK_TOPOLOGY_SWITCH;
		c.group = 0;
		c.direct = LINK_DIRECT_ALL;
		c.direct_most = 0;
		q = random_ask(&g, &c);
		twice = q.what == LINK_ALL_REDUCE ? 2 : 1;
		if (q.what != LINK_BROADCAST && q.what != LINK_SEND && q.what != LINK_ALL_TO_ALL) {
			CHECK(link_time_by(&c, &q, LINK_BY_RING, &t));
			CHECK(t.n_steps == twice * (q.chips - 1));
			CHECK(t.sent + 2 * q.chips >= part_of(twice, q.bytes, q.chips) &&
			      t.sent <= part_of(twice, q.bytes, q.chips) + 2 * q.chips);
		}
		q.what = LINK_ALL_REDUCE;
		if (link_time_by(&c, &q, LINK_BY_ONE_SHOT, &t))
			CHECK_U64(t.sent, q.bytes * (q.chips - 1));
		if (link_time_by(&c, &q, LINK_BY_TWO_SHOT, &t))
			CHECK(t.sent + 2 * q.chips >= part_of(2, q.bytes, q.chips) &&
			      t.sent <= part_of(2, q.bytes, q.chips) + 2 * q.chips);
	}
}

TEST(one_chip_takes_nothing)
{
	struct rng g;

	rng_seed(&g, test_seed(), "link one");
	for (int i = 0; i < ROUNDS; i++) {
		const struct link_cfg c = random_links(&g);
		struct link_ask q = random_ask(&g, &c);

		q.chips = 1;
		CHECK_U64(link_time(&c, &q).total, 0);
		CHECK_U64(link_time(&c, &q).sent, 0);
	}
}

SUITE(p_link, T(more_bytes_never_take_less), T(more_chips_never_take_less), T(a_group_alone_does_not_see_the_others),
      T(more_bandwidth_and_shorter_steps_never_take_more), T(an_all_reduce_is_at_most_its_two_halves),
      T(what_is_sent_does_not_hang_on_times), T(bytes_are_each_algorithms_closed_form), T(one_chip_takes_nothing));
