/* interval_family.c - what is known of a family of NPUs: rows of its silicon, what its numbers were fitted to, or nothing but how far
 * off other families were. */
#include <stdlib.h>
#include <string.h>

#include "sim/accuracy/interval.h"
#include "sim/accuracy/silicon.h"
#include "sim/base/path.h"
#include "sim/base/yaml.h"

#define FILE_NAME "configs/accuracy/families.yaml"
#define FEW_ROWS  64 /* of a product: as many as decoding has sequences */

static const char *const part_names[INTERVAL_PARTS] = { "decode", "prefill", "attention" };
static const char *const from_names[INTERVAL_FROMS] = { [INTERVAL_UNSAID] = "",
	                                                [INTERVAL_ROWS] = "rows",
	                                                [INTERVAL_FITTED] = "fitted",
	                                                [INTERVAL_OTHERS] = "other families" };

const char *interval_part_name(enum interval_part p)
{
	return part_names[p];
}

enum interval_part interval_part_of(const struct op *o)
{
	if (o->kind == OP_ATTENTION)
		return o->shape.q_len > FEW_ROWS ? INTERVAL_ATTENTION : INTERVAL_DECODE;
	if (o->kind == OP_GEMM)
		return o->shape.m > FEW_ROWS ? INTERVAL_PREFILL : INTERVAL_DECODE;
	return o->phase == OP_PREFILL ? INTERVAL_PREFILL : INTERVAL_DECODE;
}

/* --- the file ------------------------------------------------------------------------------------------------------------ */

static int bound_of(const struct yaml *y, const struct ynode *at, const char *key, double *out, struct err *e)
{
	const struct ynode *n = ynode_get(at, key);
	const char *s;
	char *end;

	if (!n)
		return yaml_err(y, at, e, "'%s' is missing", key);
	if (yaml_str(y, n, &s, e) < 0)
		return -1;
	*out = strtod(s, &end);
	return *end || end == s || !(*out > 0 && *out < 1e6) ? yaml_err(y, n, e, "'%s' is no positive number", s) : 0;
}

static int range_of(const struct yaml *y, const struct ynode *at, const char *part, struct interval_range *out,
                    struct err *e)
{
	static const char *const keys[] = { "low", "high" };
	const struct ynode *n = ynode_get(at, part);

	if (!n)
		return yaml_err(y, at, e, "'%s' is missing", part);
	if (yaml_only_keys(y, n, keys, sizeof keys / sizeof *keys, e) < 0 || bound_of(y, n, "low", &out->low, e) < 0 ||
	    bound_of(y, n, "high", &out->high, e) < 0)
		return -1;
	return out->low <= 1 && out->high >= 1 ? 0 : yaml_err(y, n, e, "1, what is simulated, is not in the interval");
}

static int from_of(const struct yaml *y, const struct ynode *at, enum interval_from *out, struct err *e)
{
	const struct ynode *n = ynode_get(at, "from");
	const char *s;

	if (!n)
		return yaml_err(y, at, e, "'from' is missing");
	if (yaml_str(y, n, &s, e) < 0)
		return -1;
	for (int i = INTERVAL_FITTED; i < INTERVAL_FROMS; i++)
		if (strcmp(s, from_names[i]) == 0) {
			*out = (enum interval_from)i;
			return 0;
		}
	return yaml_err(y, n, e, "'%s': an interval is from '%s' or '%s'", s, from_names[INTERVAL_FITTED],
	                from_names[INTERVAL_OTHERS]);
}

static int read_family(const struct yaml *y, const char *family, struct interval_family *out, struct err *e)
{
	static const char *const keys[] = { "from", "decode", "prefill", "attention" };
	const struct ynode *root = yaml_root(y), *own = ynode_get(ynode_get(root, "families"), family),
			   *n = own ? own : ynode_get(root, "others");

	if (!n)
		return yaml_err(y, root, e, "'others' is missing: the interval of a family that is not here");
	if (yaml_only_keys(y, n, keys, sizeof keys / sizeof *keys, e) < 0 || from_of(y, n, &out->from, e) < 0)
		return -1;
	for (int p = 0; p < INTERVAL_PARTS; p++)
		if (range_of(y, n, part_names[p], &out->range[p], e) < 0)
			return -1;
	return 0;
}

/* --- a machine's --------------------------------------------------------------------------------------------------------- */

int interval_family_of(const struct machine_conf *c, struct arena *a, struct interval_family *out, struct err *e)
{
	struct silicon s;
	struct yaml *y;
	int rc = silicon_of_family(c, a, &s, e);

	memset(out, 0, sizeof *out);
	if (rc < 0)
		return -1;
	if (rc > 0) {
		out->from = INTERVAL_ROWS;
		out->rows = s.sheet;
		silicon_free(&s);
		return 0;
	}
	if (!(y = source_yaml(c->source, FILE_NAME, e)))
		return -1;
	rc = read_family(y, c->cfg.family, out, e);
	yaml_free(y);
	return rc;
}

struct interval_range interval_range_of(const struct interval_family *f, const double time[INTERVAL_PARTS])
{
	struct interval_range sum = { 0, 0 };
	double all = 0;

	for (int p = 0; p < INTERVAL_PARTS; p++) {
		all += time[p];
		sum.low += time[p] * f->range[p].low;
		sum.high += time[p] * f->range[p].high;
	}
	return all > 0 ? (struct interval_range){ sum.low / all, sum.high / all } : f->range[INTERVAL_DECODE];
}
