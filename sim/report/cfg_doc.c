#include "sim/report/cfg_doc.h"

void cfg_doc_text(struct doc *d, const char *key, const struct cfg *c, size_t i, cfg_doc_text_fn *text)
{
	struct str s = STR_INIT;

	if (!d->heads)
		text(c, i, &s);
	doc_text(d, key, str_c(&s));
	doc_free(d, &s);
}

static const char *type_name(enum cfg_type t)
{
	switch (t) {
	case CFG_T_U32:
	case CFG_T_U64:
		return "count";
	case CFG_T_BOOL:
		return "switch";
	case CFG_T_BYTES:
		return "bytes";
	case CFG_T_RATE:
		return "bytes a second";
	case CFG_T_FREQ:
		return "frequency";
	case CFG_T_PS:
		return "time";
	case CFG_T_ENERGY:
		return "energy";
	case CFG_T_POWER:
		return "power";
	case CFG_T_AREA:
		return "area";
	case CFG_T_PPM:
		return "fraction";
	case CFG_T_ENUM:
		return "choice";
	case CFG_T_STR:
		return "text";
	case CFG_T_END:
		break;
	}
	return "?";
}

static const char *unit_help(enum cfg_type t)
{
	switch (t) {
	case CFG_T_BYTES:
		return "B, KiB, MiB, GiB, TiB, kB, MB, GB, TB";
	case CFG_T_RATE:
		return "B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s";
	case CFG_T_FREQ:
		return "Hz, kHz, MHz, GHz";
	case CFG_T_PS:
		return "ps, ns, us, ms";
	case CFG_T_ENERGY:
		return "fJ, pJ, nJ, uJ";
	case CFG_T_POWER:
		return "uW, mW, W, kW";
	case CFG_T_AREA:
		return "nm2, um2, mm2";
	case CFG_T_PPM:
		return "none, or %";
	default:
		return "none";
	}
}

static const char *source_of(const struct cfg_doc *x, const struct cfg_row *r)
{
	return x->values && r->given ? r->source : r->field->source;
}

/* All of it, for people. */
static void explain_one(const struct cfg_doc *x, size_t i, struct str *out)
{
	const struct cfg_row r = cfg_at(x->c, i);

	str_addf(out, "%s\n  %s\n", r.key, r.field->help);
	if (x->values) {
		str_add(out, "  value    ");
		cfg_value(x->c, i, out);
		str_addc(out, '\n');
	}
	str_addf(out, "  default  %s\n  range    ", *r.field->def ? r.field->def : "(empty)");
	cfg_range(x->c, i, out);
	str_addf(out, "\n  type     %s\n  units    %s\n  source   %s\n", type_name(r.field->type),
	         unit_help(r.field->type), source_of(x, &r));
}

static void explained(struct doc *d, const void *of, size_t i)
{
	const struct cfg_doc *x = of;
	const struct cfg_row r = cfg_at(x->c, i);

	if (!x->shown(&r, x->arg))
		return;
	doc_text(d, "key", r.key);
	if (x->values)
		cfg_doc_text(d, "value", x->c, i, cfg_value);
	else
		doc_text(d, "default", r.field->def);
	cfg_doc_text(d, "range", x->c, i, cfg_range);
	doc_text(d, "help", r.field->help);
	if (d->format == OUT_TABLE)
		return;
	doc_text(d, "type", type_name(r.field->type));
	doc_text(d, "unit", cfg_unit(r.field->type));
	doc_text(d, "source", source_of(x, &r));
	if (!x->values)
		return;
	doc_text(d, "default", r.field->def);
	doc_text(d, "given", r.given ? "yes" : "no");
}

void cfg_doc(struct doc *d, const struct cfg_doc *x)
{
	doc_table(d, NULL, NULL, cfg_count(x->c), explained, x);
}

void cfg_doc_whole(struct doc *d, const struct cfg_doc *x)
{
	bool first = true;

	for (size_t i = 0; i < cfg_count(x->c); i++) {
		const struct cfg_row r = cfg_at(x->c, i);

		if (!x->shown(&r, x->arg))
			continue;
		doc_say(d, first ? "" : "\n");
		explain_one(x, i, d->to);
		first = false;
	}
}

static void found(struct doc *d, const void *of, size_t i)
{
	const struct cfg_doc *x = of;
	const struct cfg_row r = cfg_at(x->c, i);

	if (!x->shown(&r, x->arg))
		return;
	doc_text(d, "key", r.key);
	doc_text(d, "default", r.field->def);
	doc_text(d, "help", r.field->help);
}

void cfg_doc_found(struct doc *d, const struct cfg_doc *x)
{
	doc_table(d, NULL, "parameters about that; 'npusim config explain KEY' has all of one", cfg_count(x->c), found,
	          x);
}
