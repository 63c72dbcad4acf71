#include "sim/accuracy/silicon.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/base/path.h"

#define FOLDER "configs/accuracy"
#define SUFFIX "-calibrated.yaml"
#define MOST   64 /* devices looked at */

/* --- classes ------------------------------------------------------------------------------------------------------ */

static const struct {
	const char *group, *name;
} products[] = { { "1", "products of 1 row" },
	         { "2-64", "products of 2 to 64 rows" },
	         { "65-512", "products of 65 to 512 rows" },
	         { "more", "products of more rows" } };
#define GROUPS (sizeof products / sizeof *products)

const char *silicon_products(uint64_t rows)
{
	return !rows ? op_kind_name(OP_GEMM) : products[rows == 1 ? 0 : rows <= 64 ? 1 : rows <= 512 ? 2 : 3].name;
}

const char *silicon_attention(bool listed, enum op_attn algorithm)
{
	return !listed                             ? "attention as flash"
	       : algorithm == OP_ATTN_PER_HEAD     ? "attention as per_head"
	       : algorithm == OP_ATTN_GROUPED      ? "attention as grouped"
	       : algorithm == OP_ATTN_MATERIALISED ? "attention as materialised"
	                                           : "attention as flash";
}

/* The narrower class of a sample; NULL: it has none. */
static const char *silicon_part_of(const struct sample *x, const struct op_stream *s)
{
	if (strcmp(x->cls, op_kind_name(OP_ATTENTION)) == 0)
		return silicon_attention(s->ops[0].listed, s->ops[0].algorithm);
	for (size_t i = 0; i < GROUPS && s->n_ops == 1; i++)
		if (strcmp(x->group, products[i].group) == 0)
			return products[i].name;
	return NULL;
}

/* All samples once by their kind, then once by the part of it. */
int silicon_classes(const struct rows *r, struct arena *a, struct accuracy *out, struct err *e)
{
	const size_t n = r->sim.all.n;
	struct cases twice = { .v = arena_array(a, 2 * n + 1, sizeof *twice.v) };
	struct score *all;
	int classes;

	if (!twice.v)
		return err_nomem(e, "for samples");
	for (int part = 0; part < 2; part++)
		for (size_t i = 0; i < n; i++) {
			struct sample *x = &twice.v[twice.n];

			*x = r->sim.all.v[i];
			x->cls = part ? silicon_part_of(x, r->one[i]) : x->cls;
			twice.n += x->cls != NULL;
		}
	if (score_samples(&r->sim.all, 1, SAMPLE_ALL, SCORE_ALL, a, &all, e) < 0 ||
	    (classes = score_samples(&twice, 1, SAMPLE_ALL, SCORE_CLASS, a, &out->classes, e)) < 0)
		return -1;
	out->all = all[0];
	out->n = (size_t)classes;
	return 0;
}

/* Energies change no time, nor does what a machine is called kin to; what chooses the clock does. */
static bool changes_time(const char *key)
{
	if (strcmp(key, "family") == 0 || str_prefix(key, "calibrated."))
		return false;
	return (!str_prefix(key, "power.") && !str_prefix(key, "die.")) || strcmp(key, "power.cap") == 0 ||
	       strcmp(key, "power.mode") == 0 || strcmp(key, "power.latency_target") == 0;
}

/* What the file says; a parameter that it does not know, with its default, is none of it. */
void silicon_model(const struct machine_conf *conf, char out[17])
{
	uint64_t h = HASH_INIT;

	for (size_t i = 0; i < cfg_count(conf->raw); i++) {
		const struct cfg_row r = cfg_at(conf->raw, i);

		h = r.given && changes_time(r.key) ? hash_u64(hash_str(h, r.key), cfg_raw(conf->raw, i)) : h;
	}
	hash_hex(h, out);
}

/* --- the nearest -------------------------------------------------------------------------------------------------- */

static double peak_macs(const struct machine_cfg *c)
{
	double most = 0;

	for (int i = 0; i < UNIT_COUNT; i++) {
		const struct unit_env u = machine_unit(c, (enum unit)i);

		if (u.cfg->units && unit_table[i]->peak)
			most += (double)unit_table[i]->peak(&u, DT_BF16, DT_BF16) * (double)c->clock;
	}
	return most;
}

static double apart(const struct machine_cfg *a, const struct machine_cfg *b)
{
	const double macs = log((peak_macs(a) + 1) / (peak_macs(b) + 1)),
		     dram = log(((double)dram_peak(&a->mem.dram) + 1) / ((double)dram_peak(&b->mem.dram) + 1));

	return fabs(macs) + fabs(dram);
}

static struct machine_conf *conf_of(const struct source *from, const char *config)
{
	struct err none = ERR_INIT;
	char path[512];
	const bool found = source_find(from, config, path, sizeof path);

	return machine_conf_load_from(from, found ? path : config, NULL, 0, &none);
}

static bool as_it_is(const struct accuracy *acc, const struct machine_conf *c)
{
	char model[17];

	if (!c)
		return false;
	silicon_model(c, model);
	return strcmp(model, acc->model) == 0;
}

/* `name` without the suffix; the pair of files. */
static int silicon_load(const struct source *from, const char *name, struct arena *a, struct silicon *s, struct err *e)
{
	struct machine_conf *sheet;
	char relative[256], path[1024];

	snprintf(relative, sizeof relative, FOLDER "/%s" SUFFIX, name);
	if (from->find(from, relative, path, sizeof path, e) < 0 ||
	    accuracy_load_from(from, path, a, &s->calibrated, e) < 0)
		return -1;
	snprintf(relative, sizeof relative, FOLDER "/%s.yaml", name);
	if (from->find(from, relative, path, sizeof path, e) < 0 || accuracy_load_from(from, path, a, &s->sheet, e) < 0)
		return -1;
	s->conf = conf_of(from, s->calibrated.config);
	sheet = conf_of(from, s->sheet.config);
	s->same = as_it_is(&s->calibrated, s->conf) && as_it_is(&s->sheet, sheet);
	machine_conf_free(sheet);
	return 0;
}

void silicon_free(struct silicon *s)
{
	machine_conf_free(s->conf);
	s->conf = NULL;
}

/* `family` NULL: of any. */
static int nearest(const struct source *from, const struct machine_conf *mine, const char *family, struct arena *a,
                   struct silicon *out, struct err *e)
{
	double least = INFINITY;
	const char **names;
	size_t n;
	int found = 0;

	memset(out, 0, sizeof *out);
	if (source_names(from, FOLDER, SUFFIX, a, &names, &n, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct silicon s = { .conf = NULL };
		double far;

		if (silicon_load(from, names[i], a, &s, e) < 0) {
			silicon_free(out);
			return -1;
		}
		far = mine && s.conf ? apart(&mine->cfg, &s.conf->cfg) : (double)i;
		if (family && (!s.conf || strcmp(s.conf->cfg.family, family) != 0)) {
			silicon_free(&s);
		} else if (far < least || !found) {
			silicon_free(out);
			*out = s;
			least = far;
			found = 1;
		} else {
			silicon_free(&s);
		}
	}
	return found;
}

int silicon_nearest(const struct source *from, const struct machine_conf *mine, struct arena *a, struct silicon *out,
                    struct err *e)
{
	return nearest(from, mine, NULL, a, out, e);
}

int silicon_of_family(const struct machine_conf *mine, struct arena *a, struct silicon *out, struct err *e)
{
	memset(out, 0, sizeof *out);
	return strcmp(mine->cfg.family, MACHINE_NO_FAMILY) == 0
	               ? 0
	               : nearest(mine->source, mine, mine->cfg.family, a, out, e);
}
