#include "sim/report/fit_doc.h"

#include <string.h>

/* A value of a parameter; counts as they are written. */
static void value(struct doc *d, const char *key, enum cfg_type t, uint64_t v)
{
	struct str s = STR_INIT;

	if (t == CFG_T_U32 || t == CFG_T_U64)
		str_addf(&s, "%llu", (unsigned long long)v);
	else
		cfg_format_value(t, v, &s);
	doc_text(d, key, str_c(&s));
	str_free(&s);
}

struct found {
	const struct fit_plan *p;
	const struct cfg *c;
};

static void measured(struct doc *d, const void *of, size_t i)
{
	const struct found *x = of;
	const struct fit_measured *m = &x->p->measured[i];
	const struct cfg_row r = cfg_at(x->c, m->row);

	doc_text(d, "parameter", r.key);
	value(d, "value", r.field->type, m->value);
	value(d, "before", r.field->type, m->given);
	doc_text(d, "how", "measured");
	doc_text(d, "folds_low", NULL);
	doc_text(d, "folds_high", NULL);
	doc_count_if(d, "samples", false, 0);
	doc_real_if(d, "sensitivity", 2, false, 0);
	doc_text(d, "from", m->name);
}

static void fitted(struct doc *d, const void *of, size_t i)
{
	const struct found *x = of;
	const struct fit_param *f = d->heads ? NULL : &x->p->fit[i];
	const enum cfg_type type = !f || f->of_kernel ? CFG_T_U32 : cfg_at(x->c, f->row).field->type;

	doc_text(d, "parameter", f->name);
	value(d, "value", type, f ? f->value : 0);
	value(d, "before", type, f ? f->given : 0);
	doc_text(d, "how", f->of_kernel ? "fitted, template" : "fitted");
	value(d, "folds_low", type, f ? f->low : 0);
	value(d, "folds_high", type, f ? f->high : 0);
	doc_count(d, "samples", f->samples);
	doc_real(d, "sensitivity", 2, f->sensitivity);
	doc_text(d, "from", f->reason);
}

void fit_doc(struct doc *d, const struct fit_plan *p, const struct cfg *c)
{
	const struct found x = { p, c };

	doc_table_open(d, NULL,
	               "parameters (sensitivity: points of mean error of the samples it is searched"
	               " with, when it is 10 % off)");
	for (size_t i = 0; i < p->n_measured; i++)
		doc_row(d, measured, &x, i);
	for (size_t i = 0; i < p->n_fit; i++)
		doc_row(d, fitted, &x, i);
	doc_table_close(d, fitted, &x);
}

/* Values that the configuration and the kernel table did not have before. */
int fit_changed(const struct fit_plan *p, struct err *e)
{
	size_t n = 0;
	const char *first = NULL;

	for (size_t i = 0; i < p->n_measured; i++)
		n += p->measured[i].value != p->measured[i].given;
	for (size_t i = 0; i < p->n_fit; i++)
		if (p->fit[i].value != p->fit[i].given) {
			n++;
			first = first ? first : p->fit[i].name;
		}
	return n ? err_set(e, ERR_BOUND, "%zu values differ from those given%s%s", n, first ? ", the first is " : "",
	                   first ? first : "")
	         : 0;
}

/* --- the file -------------------------------------------------------------------------------------------------------- */

static void quoted(struct str *out, const char *s)
{
	str_add(out, "\"");
	for (; *s; s++)
		str_addf(out, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
	str_add(out, "\"");
}

/* Every value the configuration gives, with its source; a section a block. */
void fit_config_text(const struct cfg *c, struct str *out)
{
	const char *section = "";
	struct str v = STR_INIT;

	str_addf(
		out,
		"# Written by npusim calibrate: what it measured or fitted, and what the file it started from gave.\n");
	for (size_t i = 0; i < cfg_count(c); i++) {
		struct cfg_row r = cfg_at(c, i);

		if (!r.given)
			continue;
		if (strcmp(section, r.section) != 0)
			str_addf(out, "\n%s:\n", r.section);
		section = r.section;
		str_clear(&v);
		cfg_value(c, i, &v);
		str_addf(out, "%s%s: {value: %s, source: ", *section ? "  " : "", r.field->key, str_c(&v));
		quoted(out, r.source);
		str_add(out, "}\n");
	}
	str_free(&v);
}
