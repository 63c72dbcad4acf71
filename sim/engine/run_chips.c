#include "sim/engine/run_chips.h"

#include <string.h>

static const struct energy_row link_row = { .block = "links", .name = "bits", .help = "sent over links, both ends" };

int run_chips_check(const struct machine_cfg *c, const struct op_stream *s, struct err *e)
{
	size_t i = 0;

	while (i < s->n_ops && s->ops[i].kind != OP_COLLECTIVE)
		i++;
	if (i == s->n_ops && !c->links.bandwidth) /* replicas that know nothing of each other */
		return 0;
	return link_check(&c->links, s->chips, e);
}

/* The ops' share goes by what each sends. */
static uint64_t add_links(const struct machine_cfg *c, struct run_result *r)
{
	uint64_t all = 0;

	for (size_t i = 0; i < r->stream->n_ops; i++) {
		const struct op *o = &r->stream->ops[i];
		uint64_t fj;

		if (o->kind != OP_COLLECTIVE || r->ops[i].carried)
			continue;
		fj = link_energy(&c->links, map_collective_time(&c->links, o).sent);
		r->ops[i].energy_fj = energy_add(r->ops[i].energy_fj, fj);
		all = energy_add(all, fj);
	}
	return all;
}

static uint64_t times(uint64_t n, uint64_t chips)
{
	uint64_t x;

	return __builtin_mul_overflow(n, chips, &x) ? UINT64_MAX : x;
}

static void of_all(struct run_result *r, uint64_t chips)
{
	for (size_t i = 0; i < r->n_energy; i++)
		r->energy[i].fj = times(r->energy[i].fj, chips);
	for (size_t i = 0; i < r->stream->n_ops; i++)
		r->ops[i].energy_fj = times(r->ops[i].energy_fj, chips);
	r->energy_fj = times(r->energy_fj, chips);
	r->energy_eager_fj = times(r->energy_eager_fj, chips);
	r->energy_period_fj = times(r->energy_period_fj, chips);
	r->area_nm2 = times(r->area_nm2, chips);
	r->cost_uusd = times(r->cost_uusd, chips);
}

int run_chips(const struct machine_cfg *c, struct arena *a, struct run_result *r, struct err *e)
{
	struct run_energy *rows;
	uint64_t fj;

	if (!r->stream->chips)
		return 0;
	r->chips = r->stream->chips;
	if (r->energy) {
		if (!(rows = arena_array(a, r->n_energy + 1, sizeof *rows)))
			return err_nomem(e, "for results");
		memcpy(rows, r->energy, r->n_energy * sizeof *rows);
		fj = add_links(c, r);
		rows[r->n_energy] = (struct run_energy){ &link_row, fj };
		r->energy = rows;
		r->n_energy++;
		r->energy_fj = energy_add(r->energy_fj, fj);
		if (r->energy_eager_fj)
			r->energy_eager_fj = energy_add(r->energy_eager_fj, fj);
		if (r->energy_period_fj)
			r->energy_period_fj = energy_add(r->energy_period_fj, fj);
	}
	of_all(r, r->chips);
	return 0;
}
