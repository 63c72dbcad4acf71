#include "sim/report/fit_doc.h"

#include <string.h>

#include "sim/ui/outfile.h"

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

/* --- rows of an NPU ------------------------------------------------------------------------------------------------ */

#define UNTOLD 0.1 /* points of mean error for a tenth of a value */

struct rows {
	const struct fit_rows_ask *q;
	const struct fit_rows *r;
};

/* A table's rows that were taken, then those that were not. */
static void table_row(struct doc *d, const void *of, size_t i)
{
	const struct rows *x = of;
	const struct fit_rows_table *t = &x->q->tables[i / 2];
	const struct fit_rows_error *now = &x->r->now[i];

	if (!d->heads && !now->n)
		return;
	doc_text(d, "table", t->path);
	doc_text(d, "start", run_start_name(t->start));
	doc_text(d, "fitted", i % 2 ? "no" : "yes");
	doc_count(d, "rows", now->n);
	doc_real(d, "before", 2, x->r->was[i].mape);
	doc_real(d, "mape", 2, now->mape);
	doc_real(d, "bias", 2, now->bias);
}

static void odd_row(struct doc *d, const void *of, size_t i)
{
	const struct fit_rows_odd *x = (const struct fit_rows_odd *)of + i;

	doc_name(d, "op", 40, x->op);
	doc_ns(d, "measured_us", 1, x->measured_ns);
	doc_ps(d, "simulated_us", 1, x->simulated);
	doc_real(d, "error_pct", 1, x->error);
}

/* Values that could as well be others. */
static void say_untold(struct doc *d, const struct fit_plan *p)
{
	bool any = false;

	for (size_t i = 0; i < p->n_fit; i++)
		if (p->fit[i].sensitivity < UNTOLD) {
			doc_say(d, "%s%s", any ? ", " : "these rows hardly tell: ", p->fit[i].name);
			any = true;
		}
	doc_say(d, "%s", any ? "\n" : "");
}

void fit_rows_doc(struct doc *d, const struct fit_rows_ask *q, const struct fit_rows *r, const struct fit_plan *p,
                  const struct cfg *c)
{
	const struct rows x = { q, r };

	fit_doc(d, p, c);
	if (d->format != OUT_TABLE)
		return;
	doc_say(d, "\n");
	doc_table(d, NULL, "error by table, percent", 2 * q->n, table_row, &x);
	if (r->n_odd) {
		doc_say(d, "\n");
		doc_table(d, NULL, "rows that no value explains", r->n_odd, odd_row, r->odd);
	}
	doc_say(d,
	        "\n%zu rows, %zu fitted parameters, %u evaluations\n"
	        "mean absolute error on them %.2f %%, cross-validated in %u folds %.2f %%\n",
	        r->fit.samples, p->n_fit, r->fit.evaluations + r->by_table.evaluations, r->fit.mape, (unsigned)q->folds,
	        r->fit.cv_mape);
	if (r->rest.n)
		doc_say(d, "on the %zu rows that were not taken %.2f %%\n", r->rest.n, r->rest.mape);
	say_untold(d, p);
	if (q->n > 1 && q->folds && !q->rows)
		doc_say(d, "each table by a fit to the others: %.2f %%\n", r->by_table.cv_mape);
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
static void config_text(const struct cfg *c, struct str *out)
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

int fit_write(const struct cfg *c, const char *path, struct err *e)
{
	struct str out = STR_INIT;
	int rc;

	config_text(c, &out);
	rc = outfile_write(path, &out, e);
	str_free(&out);
	return rc;
}
