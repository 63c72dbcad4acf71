/* config_area.c - npusim config area: what a machine's blocks take of its die. */
#include "arch/machine/machine_area.h"
#include "sim/cli/config_rows.h"

/* Nothing is in what is no block, and PHYs are for others to count. */
static double leaks(const struct tech *tech, const struct area_part *x)
{
	return ((double)x->logic * (double)tech->leakage.logic + (double)x->sram * (double)tech->leakage.sram) /
	       AREA_MM2 / 1e6;
}

struct row {
	const char *machine, *block, *what;
	const struct area_part *x;
	uint64_t die;
	double leak;
};

static void row(struct doc *d, const void *of, size_t i)
{
	const struct row *r = of;
	const uint64_t all = area_of(r->x);

	(void)i;
	doc_text(d, "machine", r->machine);
	doc_text(d, "block", r->block);
	doc_real(d, "mm2", 2, (double)all / AREA_MM2);
	doc_real(d, "share_pct", 1, r->die ? 100.0 * (double)all / (double)r->die : 0);
	doc_real(d, "logic_mm2", 2, (double)r->x->logic / AREA_MM2);
	doc_real(d, "sram_mm2", 2, (double)r->x->sram / AREA_MM2);
	doc_real(d, "phy_mm2", 2, (double)r->x->phy / AREA_MM2);
	doc_real(d, "leak_w", 2, r->leak);
	doc_text(d, "what", r->what);
}

/* Blocks that the machine has, and the die. */
static void put_machine(struct doc *d, const struct machine_cfg *c, const struct tech *tech, const struct area *a)
{
	struct area_part sum = { 0, 0, 0 };
	struct row r = { .machine = c->name, .die = area_die(a) };
	double all = 0;

	for (int b = 0; b < AREA_COUNT; b++) {
		r.block = area_name((enum area_block)b);
		r.what = area_help((enum area_block)b);
		r.x = &a->block[b];
		r.leak = b == AREA_blank ? 0 : leaks(tech, r.x);
		area_add(&sum, r.x);
		all += r.leak;
		if (area_of(r.x))
			doc_row(d, row, &r, 0);
	}
	r.block = "die";
	r.what = c->die.node;
	r.x = &sum;
	r.leak = all;
	doc_row(d, row, &r, 0);
}

static int put(const char *path, const struct machine_conf *c, struct doc *d, struct err *e)
{
	struct tech *tech;
	struct area a;

	if (!die_known(&c->cfg.die))
		return err_set(e, ERR_CONFIG, "%s: 'die.node' is none: say the process, n5 for one", path);
	if (!(tech = tech_load(c->cfg.die.node, e)))
		return -1;
	machine_area(&c->cfg, tech, &a);
	put_machine(d, &c->cfg, tech, &a);
	tech_free(tech);
	return 0;
}

int cmd_config_area(int argc, char **argv, struct str *out, struct err *e)
{
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
		put
	};

	return config_rows(&rows, argc, argv, out, e);
}
