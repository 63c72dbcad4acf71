#include "arch/power/area.h"

#include "arch/power/energy.h"

const char *area_name(enum area_block b)
{
#define BLOCK(name, help)                #name,
#define UNIT(id, name, code, insn, help) #name,
	static const char *const names[AREA_COUNT] = { AREA_BLOCKS(BLOCK, UNIT) };
#undef BLOCK
#undef UNIT

	return names[b];
}

const char *area_help(enum area_block b)
{
#define BLOCK(name, help)                help,
#define UNIT(id, name, code, insn, help) help,
	static const char *const texts[AREA_COUNT] = { AREA_BLOCKS(BLOCK, UNIT) };
#undef BLOCK
#undef UNIT

	return texts[b];
}

/* Sums and products that saturate are those of energy.h. */
uint64_t area_logic(const struct tech *t, uint64_t transistors)
{
	return energy_events(transistors, t->logic.transistor, ENERGY_ONE);
}

uint64_t area_sram(const struct tech *t, uint64_t bytes, uint32_t ports)
{
	const uint64_t cells = energy_events(energy_events(bytes, 8, ENERGY_ONE), t->sram.cell, t->die.sram.cells);

	return energy_add(cells,
	                  energy_events(ports ? ports - 1 : 0, energy_scale(cells, t->die.sram.port), ENERGY_ONE));
}

uint64_t area_crossing(const struct tech *t, uint64_t bits)
{
	return energy_events(bits, t->die.sram.crossing, ENERGY_ONE);
}

struct area_part area_phy(const struct tech *t, enum tech_link_kind k, uint64_t width)
{
	const struct tech_link *l = &t->link[k];
	struct area_part out = { 0, 0, 0 };

	if (!l->width)
		return out;
	out.phy = energy_events(width, l->phy, ENERGY_ONE) / l->width;
	out.logic = area_logic(t, energy_events(width, l->controller, ENERGY_ONE) / l->width);
	return out;
}

void area_add(struct area_part *sum, const struct area_part *x)
{
	sum->logic = energy_add(sum->logic, x->logic);
	sum->sram = energy_add(sum->sram, x->sram);
	sum->phy = energy_add(sum->phy, x->phy);
}

uint64_t area_of(const struct area_part *x)
{
	return energy_add(energy_add(x->logic, x->sram), x->phy);
}

uint64_t area_die(const struct area *a)
{
	uint64_t sum = 0;

	for (int b = 0; b < AREA_COUNT; b++)
		sum = energy_add(sum, area_of(&a->block[b]));
	return sum;
}

void area_fill(struct area *a, const struct tech *t)
{
	const uint32_t blank = t->die.share.blank;

	a->block[AREA_blank] = (struct area_part){ 0, 0, 0 };
	if (blank && blank < ENERGY_ONE)
		a->block[AREA_blank].logic = energy_scale(area_die(a), blank * ENERGY_ONE / (ENERGY_ONE - blank));
}
