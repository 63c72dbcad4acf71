/* page_machine.c - the machine of a stored run as the page gets it: its roofs, and rows that say what it is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch/machine/machine_area.h"
#include "arch/machine/machine_conf.h"
#include "sim/profile/roof.h"
#include "sim/report/page_int.h"

/* --- its roofs ------------------------------------------------------------------------------------------- */

static void roof(struct out_json *j, const char *name, const char *kind, double per_second)
{
	if (per_second <= 0)
		return;
	out_json_open(j, NULL, '{');
	out_json_text(j, "name", name);
	out_json_text(j, "kind", kind);
	out_json_real(j, "peak", per_second);
	out_json_close(j, '}');
}

/* Of units that take products by choice, the highest first. */
static void unit_roofs(struct out_json *j, const struct machine_cfg *c, double hz)
{
	uint64_t peak[UNIT_COUNT] = { 0 };
	char name[64];

	for (int i = 0; i < UNIT_COUNT; i++)
		if (unit_table[i]->peak && !unit_table[i]->last_resort && c->unit[i].units) {
			const struct unit_env u = machine_unit(c, (enum unit)i);

			peak[i] = unit_table[i]->peak(&u, DT_BF16, DT_BF16);
		}
	for (;;) {
		int best = 0;

		for (int i = 1; i < UNIT_COUNT; i++)
			best = peak[i] > peak[best] ? i : best;
		if (!peak[best])
			return;
		snprintf(name, sizeof name, "%s units, 16 bits", unit_table[best]->label);
		roof(j, name, "flops", 2 * hz * (double)peak[best]);
		peak[best] = 0;
	}
}

static void npu_roofs(struct out_json *j, const struct machine_cfg *c)
{
	static const struct {
		enum res r;
		const char *name;
	} levels[] = {
		{ RES_DRAM, "DRAM" }, { RES_L2, "L2" }, { RES_KV, "KV buffer" }, { RES_L1, "L1" }, { RES_DMA, "DMA" }
	};
	const double hz = (double)c->clock * 1e3;
	uint64_t peak[RES_COUNT];

	machine_peaks(c, peak);
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		roof(j, levels[i].name, "bytes", (double)peak[levels[i].r]);
	unit_roofs(j, c, hz);
}

static void gpu_roofs(struct out_json *j, const struct machine_cfg *c)
{
	struct roof r = { .name = "" };

	roof_of(c, &r);
	roof(j, "DRAM, as a stream reads it", "bytes", r.effective);
	roof(j, "L2", "bytes", (double)c->gpu.common.l2_rate);
	roof(j, "tensor cores, bf16", "flops", r.flops[ROOF_BF16]);
	roof(j, "fp32", "flops", r.flops[ROOF_FP32]);
}

/* --- it in rows ------------------------------------------------------------------------------------- */

static void machine_row(struct out_json *j, const char *what, struct str *text)
{
	if (text->len) {
		out_json_open(j, NULL, '[');
		out_json_text(j, NULL, what);
		out_json_text(j, NULL, str_c(text));
		out_json_close(j, ']');
	}
	j->to->failed |= text->failed;
	str_clear(text);
}

static void add_rate(struct str *s, uint64_t bytes_per_s)
{
	str_addf(s, bytes_per_s >= UINT64_C(1000000000000) ? "%.4g TB/s" : "%.4g GB/s",
	         (double)bytes_per_s / (bytes_per_s >= UINT64_C(1000000000000) ? 1e12 : 1e9));
}

static void unit_rows(struct out_json *j, const struct machine_cfg *c, struct str *s)
{
	for (int i = 0; i < UNIT_COUNT; i++) {
		const struct unit_env u = machine_unit(c, (enum unit)i);

		if (!c->unit[i].units)
			continue;
		str_addf(s, "%" PRIu32 " a core", c->unit[i].units);
		if (unit_table[i]->peak)
			str_addf(s, ", together %.4g TFLOP/s at 16 bits",
			         2e3 * (double)c->clock * (double)unit_table[i]->peak(&u, DT_BF16, DT_BF16) / 1e12);
		machine_row(j, unit_table[i]->label, s);
	}
}

static void memory_rows(struct out_json *j, const struct machine_cfg *c, struct str *s)
{
	str_add_bytes(s, sram_size(&c->sram));
	str_add(s, " a core");
	machine_row(j, "SRAM", s);
	if (c->mem.kv_buffer.size) {
		str_add_bytes(s, c->mem.kv_buffer.size);
		machine_row(j, "KV buffer", s);
	}
}

#define SMALL 100 /* a block's part of the die, below which it is not named */

/* The die and its larger blocks. A process that is not there any more, or is not known: nothing. */
static void die_rows(struct out_json *j, const struct machine_cfg *c, struct str *s)
{
	struct err ignored = ERR_INIT;
	struct tech *t = die_known(&c->die) ? tech_load(c->die.node, &ignored) : NULL;
	struct area a;
	uint64_t die;

	if (!t)
		return;
	machine_area(c, t, &a);
	die = area_die(&a);
	str_addf(s, "%.0f mm2 in %s", (double)die / AREA_MM2, c->die.node);
	machine_row(j, "die", s);
	for (int b = 0; b < AREA_COUNT; b++) {
		const uint64_t part = area_of(&a.block[b]);

		if (part >= die / SMALL)
			str_addf(s, "%s%s %.0f mm2", s->len ? ", " : "", area_name((enum area_block)b),
			         (double)part / AREA_MM2);
	}
	machine_row(j, "its blocks", s);
	tech_free(t);
}

/* What a person asks first of a machine; put in order, from the outside in. */
static void put_machine(struct out_json *j, const struct machine_conf *m)
{
	const struct machine_cfg *c = m ? &m->cfg : NULL;
	struct str s = STR_INIT;

	out_json_open(j, "machine", '[');
	if (c) {
		str_addf(&s, "%" PRIu32 " at %.4g GHz", c->cores, (double)c->clock / 1e6);
		machine_row(j, "cores", &s);
		if (machine_runs(c) == MACHINE_COMMANDS) {
			unit_rows(j, c, &s);
			memory_rows(j, c, &s);
		}
		if (c->mem.l2.size) {
			str_add_bytes(&s, c->mem.l2.size);
			machine_row(j, "L2", &s);
		}
		str_addf(&s, "%s, ", c->mem.dram.kind);
		add_rate(&s, dram_peak(&c->mem.dram));
		machine_row(j, "DRAM", &s);
		die_rows(j, c, &s);
	}
	out_json_close(j, ']');
	str_free(&s);
}

/* A configuration that another build wrote may not be readable: the run is shown without its roofs then. */
bool page_machine(struct out_json *j, const struct res_run *r)
{
	struct err ignored = ERR_INIT;
	struct machine_conf *c =
		machine_conf_parse(r->config_text, strlen(r->config_text), r->config_path, NULL, 0, &ignored);
	const bool launches = c && machine_runs(&c->cfg) == MACHINE_LAUNCHES;

	out_json_open(j, "roofs", '[');
	if (launches)
		gpu_roofs(j, &c->cfg);
	else if (c)
		npu_roofs(j, &c->cfg);
	out_json_close(j, ']');
	put_machine(j, c);
	machine_conf_free(c);
	return launches;
}
