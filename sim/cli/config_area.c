/* config_area.c - npusim config area: what a machine's blocks take of its die. */
#include "arch/machine/machine_area.h"
#include "sim/cli/config_rows.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Nothing is in what is no block, and PHYs are for others to count. */
static double leaks(const struct tech *tech, const struct area_part *x)
{
	return ((double)x->logic * (double)tech->leakage.logic + (double)x->sram * (double)tech->leakage.sram) /
	       AREA_MM2 / 1e6;
}

static void put_row(struct out_table *t, const char *machine, const char *block, const struct area_part *x,
                    uint64_t die, double leak, const char *what)
{
	const uint64_t all = area_of(x);

	out_text(t, machine);
	out_text(t, block);
	out_real(t, (double)all / AREA_MM2);
	out_real(t, die ? 100.0 * (double)all / (double)die : 0);
	out_real(t, (double)x->logic / AREA_MM2);
	out_real(t, (double)x->sram / AREA_MM2);
	out_real(t, (double)x->phy / AREA_MM2);
	out_real(t, leak);
	out_text(t, what);
}

/* Blocks that the machine has, and the die. */
static void put_machine(struct out_table *t, const struct machine_cfg *c, const struct tech *tech, const struct area *a)
{
	const uint64_t die = area_die(a);
	struct area_part sum = { 0, 0, 0 };
	double all = 0;

	for (int b = 0; b < AREA_COUNT; b++) {
		const double leak = b == AREA_blank ? 0 : leaks(tech, &a->block[b]);

		area_add(&sum, &a->block[b]);
		all += leak;
		if (area_of(&a->block[b]))
			put_row(t, c->name, area_name((enum area_block)b), &a->block[b], die, leak,
			        area_help((enum area_block)b));
	}
	put_row(t, c->name, "die", &sum, die, all, c->die.node);
}

static int put(const char *path, const struct machine_conf *c, struct out_table *t, struct err *e)
{
	struct tech *tech;
	struct area a;

	if (!die_known(&c->cfg.die))
		return err_set(e, ERR_CONFIG, "%s: 'die.node' is none: say the process, n5 for one", path);
	if (!(tech = tech_load(c->cfg.die.node, e)))
		return -1;
	machine_area(&c->cfg, tech, &a);
	put_machine(t, &c->cfg, tech, &a);
	tech_free(tech);
	return 0;
}

int cmd_config_area(int argc, char **argv, struct str *out, struct err *e)
{
	static const struct out_col cols[] = {
		{ "machine", OUT_TEXT, 0 },   { "block", OUT_TEXT, 0 },     { "mm2", OUT_REAL, 2 },
		{ "share_pct", OUT_REAL, 1 }, { "logic_mm2", OUT_REAL, 2 }, { "sram_mm2", OUT_REAL, 2 },
		{ "phy_mm2", OUT_REAL, 2 },   { "leak_w", OUT_REAL, 2 },    { "what", OUT_TEXT, 0 },
	};
	static const struct config_rows rows = {
		"npusim config area CONFIG...",
		"What a machine's blocks take of its die in the process that die.node names, and the die: the sum and the share"
		" that is no block, and what they leak at the nominal voltage (leak_w). Logic by transistors, SRAM by bytes and"
		" ports, PHYs by pin; 'npusim config tech NODE' prints each constant with its source, and 'npusim config explain"
		" die' what a file may say of a die: cores and cache that are built and switched off, links, the host. No run is"
		" needed, so area_mm2 is known of every point of a sweep.",
		"npusim config area configs/npu/dsocr.yaml\n"
		"npusim config area dsocr --set die.node=n7 --set 'l2.size=64 MiB'\n"
		"npusim config area configs/gpu/h200.yaml configs/npu/tpu-v4.yaml --format csv\n",
		cols,
		COUNT(cols),
		put
	};

	return config_rows(&rows, argc, argv, out, e);
}
