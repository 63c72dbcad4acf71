/* config_cost.c - npusim config cost: what a machine's dies and DRAM cost to make. */
#include "arch/machine/machine_cost.h"
#include "sim/cli/config_rows.h"

struct row {
	const char *machine;
	const struct machine_cfg *c;
	const struct machine_cost *x;
};

static void config_cost_row(struct doc *d, const void *of, size_t i)
{
	const struct row *r = of;
	const struct machine_cost *x = r->x;
	const uint64_t all = machine_cost_all(x);

	(void)i;
	doc_text(d, "machine", r->machine);
	doc_text(d, "node", r->c->die.node);
	doc_real_if(d, "wafer_usd", 0, x->wafer, x->wafer);
	doc_real_if(d, "defects_cm2", 3, x->defects, (double)x->defects / 1e6);
	doc_count(d, "dies", x->dies);
	doc_real(d, "die_mm2", 1, (double)x->die_nm2 / 1e12);
	doc_count(d, "on_a_wafer", x->on_wafer);
	doc_real_if(d, "yield_pct", 1, x->yield, (double)x->yield / 1e4);
	doc_real_if(d, "dies_usd", 0, x->silicon, (double)x->silicon / 1e6);
	doc_real_if(d, "dram_gb", 1, r->c->mem.dram.capacity,
	            (double)r->c->mem.dram.capacity * r->c->die.machines / 1e9);
	doc_real_if(d, "gb_usd", 2, x->dram_gb, (double)x->dram_gb / 1e6);
	doc_real_if(d, "dram_usd", 0, x->dram, (double)x->dram / 1e6);
	doc_real_if(d, "cost_usd", 0, all, (double)all / 1e6);
}

static int config_cost_put(const char *path, const struct machine_conf *c, struct doc *d, struct err *e)
{
	struct machine_cost x;
	struct tech *tech;

	if (!die_known(&c->cfg.die))
		return err_set(e, ERR_CONFIG, "%s: 'die.node' is none: say the process, n5 for one", path);
	if (!(tech = tech_load(c->cfg.die.node, e)))
		return -1;
	machine_cost(&c->cfg, tech, &x);
	doc_row(d, config_cost_row, &(struct row){ c->cfg.name, &c->cfg, &x }, 0);
	tech_free(tech);
	return 0;
}

int cmd_config_cost(int argc, char **argv, struct str *out, struct err *e)
{
	static const struct config_rows rows = {
		"npusim config cost CONFIG...",
		"What a machine's dies and DRAM cost to make, in US dollars: a wafer's price in the process that die.node names over"
		" the good dies on it, and DRAM by the gigabyte of dram.capacity. Left out: package and interposer, test, board,"
		" cooling, masks, design and margins; dies sold with parts switched off. So it is for choosing between designs, and"
		" no price. 'npusim config tech NODE' prints each constant with its source; a machine's own are cost.wafer,"
		" cost.defects and cost.dram. cost_usd is known of every point of a sweep, design and front.",
		"npusim config cost dsocr h100 tpu-v5e\n"
		"npusim config cost dsocr --set cost.dram=14 --set cost.defects=0.07\n"
		"npusim design -c dsocr -m llama-3.2-1b --reach 'tokens_per_s >= 1400' --minimize cost_usd\n",
		config_cost_put
	};

	return config_rows(&rows, argc, argv, out, e);
}
