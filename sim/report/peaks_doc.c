#include "sim/report/peaks_doc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arch/machine/machine_ceiling.h"
#include "arch/npu/unit.h"
#include "sim/profile/roof.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* A peak, and the parameter that says it; NULL where none does alone. */
struct peak {
	const char *operands, *unit;
	double flops; /* a second; not a number: the machine does not multiply them */
	char key[64];
};

static void source(struct doc *d, const struct machine_conf *c, const char *key)
{
	struct err none = ERR_INIT;
	size_t i = 0;
	const bool there = *key && cfg_find(c->raw, key, &i, &none) == 0;
	const struct cfg_row r = cfg_at(c->raw, i);
	struct str by = STR_INIT;

	str_addf(&by, "%s ", key);
	cfg_value(c->raw, i, &by);
	doc_text(d, "by", there ? str_c(&by) : NULL);
	doc_text(d, "source", !there ? NULL : r.given ? r.source : r.field->source);
	str_free(&by);
}

/* What its rates are a square millimetre and a watt of; not a number: not known. */
struct cost {
	double mm2, watts;
};

static int cost_of(const struct machine_cfg *c, struct cost *out, struct err *e)
{
	struct tech *t;
	struct area a;
	uint64_t uw;

	*out = (struct cost){ NAN, NAN };
	if (!die_known(&c->die))
		return 0;
	if (!(t = tech_load(c->die.node, e)))
		return -1;
	machine_area(c, t, &a);
	uw = machine_ceiling(c, t, &a);
	tech_free(t);
	out->mm2 = (double)area_die(&a) / AREA_MM2;
	if (uw)
		out->watts = (double)uw / 1e6;
	return 0;
}

struct row {
	const struct machine_conf *c;
	const struct peak *p;
	const struct cost *of;
	double read; /* bytes a second of a stream */
};

static void peaks_doc_row(struct doc *d, const void *x, size_t i)
{
	const struct row *r = x;
	const struct machine_cfg *c = &r->c->cfg;
	const double pins = (double)dram_peak(&c->mem.dram), flops = r->p->flops;
	const double n = c->die.machines; /* several share a die */

	(void)i;
	doc_text(d, "machine", c->name);
	doc_text(d, "operands", r->p->operands);
	doc_text(d, "unit", r->p->unit);
	doc_real(d, "tflops", 1, flops / 1e12);
	doc_real(d, "ridge", 1, flops / pins);
	doc_real(d, "ridge_read", 1, flops / r->read);
	doc_real(d, "area_mm2", 0, r->of->mm2);
	doc_real(d, "peak_w", 0, r->of->watts);
	doc_real(d, "tflops_mm2", 3, n * flops / 1e12 / r->of->mm2);
	doc_real(d, "tflops_w", 3, n * flops / 1e12 / r->of->watts);
	doc_real(d, "gbs_mm2", 2, n * pins / 1e9 / r->of->mm2);
	doc_real(d, "gbs_w", 2, n * pins / 1e9 / r->of->watts);
	source(d, r->c, r->p->key);
}

static void of_gpu(const struct machine_conf *c, const struct cost *of, struct doc *d)
{
	static const char *const operands[ROOF_PIPES] = { "fp32", "tf32", "bf16, fp16", "8 bits", "fp4" };
	struct roof r;

	memset(&r, 0, sizeof r);
	roof_of(&c->cfg, &r);
	for (int i = ROOF_PIPES - 1; i >= 0; i--) {
		struct peak p = { operands[i], i == ROOF_FP32 ? "cores" : "tensor cores", r.flops[i], "" };

		snprintf(p.key, sizeof p.key, "gpu.flop_%s", roof_pipe_name((enum roof_pipe)i));
		doc_row(d, peaks_doc_row, &(struct row){ c, &p, of, r.effective }, 0);
	}
}

static uint32_t bits_of(enum dtype weight, enum dtype with)
{
	return dtype_bits(with) > 8 ? dtype_bits(weight) : dtype_bits(with);
}

/* Arrays say how many times faster narrow operands are, lanes how many of them they multiply. */
static void name_rate(const struct machine_conf *c, const char *unit, uint32_t bits, char *key, size_t size)
{
	static const char *const forms[] = { "%s.rate_%ubit", "%s.macs_%ubit" };
	struct err none = ERR_INIT;
	size_t at;

	for (size_t i = 0; i < COUNT(forms) && bits < 16; i++) {
		snprintf(key, size, forms[i], unit, bits);
		if (cfg_find(c->raw, key, &at, &none) == 0)
			return;
		none = (struct err)ERR_INIT;
	}
	snprintf(key, size, "%s.units", unit);
}

/* The fastest unit for weights and activations of these formats. */
static struct peak fastest(const struct machine_conf *conf, enum dtype weight, enum dtype with, const char *operands)
{
	const struct machine_cfg *c = &conf->cfg;
	struct peak best = { operands, "none", NAN, "" };
	uint64_t most = 0;

	for (int i = 0; i < UNIT_COUNT; i++) {
		const struct unit_ops *u = unit_table[i];
		const struct unit_env env = machine_unit(c, (enum unit)i);
		const uint64_t macs = u->peak && c->unit[i].units ? u->peak(&env, weight, with) : 0;

		if (macs <= most)
			continue;
		most = macs;
		best.unit = u->label;
		best.flops = 2.0 * (double)macs * (double)c->clock * 1e3;
		name_rate(conf, u->name, macs > u->peak(&env, DT_BF16, DT_BF16) ? bits_of(weight, with) : 16, best.key,
		          sizeof best.key);
	}
	return best;
}

static void of_npu(const struct machine_conf *c, const struct cost *of, struct doc *d)
{
	static const struct {
		enum dtype weight, with;
		const char *operands;
	} pairs[] = {
		{ DT_FP4, DT_FP4, "fp4" },
		{ DT_INT4, DT_INT8, "4-bit weights, int8" },
		{ DT_INT4, DT_BF16, "4-bit weights, 16 bits" },
		{ DT_FP8, DT_FP8, "8 bits" },
		{ DT_FP8, DT_BF16, "8-bit weights, 16 bits" },
		{ DT_BF16, DT_BF16, "bf16, fp16" },
	};

	for (size_t i = 0; i < COUNT(pairs); i++) {
		const struct peak p = fastest(c, pairs[i].weight, pairs[i].with, pairs[i].operands);

		doc_row(d, peaks_doc_row, &(struct row){ c, &p, of, (double)dram_peak(&c->cfg.mem.dram) }, 0);
	}
}

int peaks_doc(struct doc *d, const struct machine_conf *c, struct err *e)
{
	struct cost of;

	if (cost_of(&c->cfg, &of, e) < 0)
		return -1;
	if (machine_runs(&c->cfg) == MACHINE_LAUNCHES)
		of_gpu(c, &of, d);
	else
		of_npu(c, &of, d);
	return 0;
}
