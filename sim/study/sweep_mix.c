/* sweep_mix.c - the rows of a mix's parts as one row: means over the steps by the parts' weights, of a state the largest. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "sim/study/sweep_int.h"

const char *sweep_mix_stat(const char *part, struct arena *a)
{
	char *name = arena_printf(a, "mix.%s_ns", part);

	for (char *p = name ? name + 4 : NULL; p && *p; p++)
		*p = isalnum((unsigned char)*p) ? *p : '_';
	return name;
}

double sweep_part_us(const char *part, const struct res_point *row, struct arena *a)
{
	const char *name = sweep_mix_stat(part, a);

	for (size_t i = 0; name && i < row->n_stats; i++)
		if (strcmp(row->stats[i].name, name) == 0)
			return (double)row->stats[i].value / 1e3;
	return NAN;
}

static uint64_t mean(double x)
{
	return x > 0 ? (uint64_t)llround(x) : 0;
}

static void mix_figures(const struct sweep_part *parts, const struct res_point *rows, size_t n, struct figures *out)
{
	for (const struct figure *f = figure_table; f->help; f++) {
		uint64_t most = 0;
		double sum = 0;

		if (!f->member)
			continue;
		for (size_t i = 0; i < n; i++) {
			const uint64_t v = figure_number(f, &rows[i].figures);

			most = v > most ? v : most;
			sum += parts[i].weight * (double)v;
		}
		figure_set(f, out, f->level ? most : mean(sum));
	}
}

/* --- lists, each by name: a name that some parts have not counts as zero in them ------------------------------------- */

static int mix_kinds(const struct sweep_part *parts, const struct res_point *rows, size_t n, struct arena *a,
                     struct res_point *out, struct err *e)
{
	struct res_kind *v = arena_array(a, OP_KINDS, sizeof *v);

	if (!v)
		return sweep_no_memory(e);
	for (int k = 0; k < OP_KINDS; k++) {
		const char *name = op_kind_name((enum op_kind)k);
		double sum[6] = { 0 };

		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < rows[i].n_kinds; j++) {
				const struct res_kind *x = &rows[i].kinds[j];
				const uint64_t of[] = { x->ops,        x->span_ps,   x->limit_ps,
					                x->dram_bytes, x->mem_bytes, x->flops };

				for (size_t f = 0; strcmp(x->kind, name) == 0 && f < 6; f++)
					sum[f] += parts[i].weight * (double)of[f];
			}
		if (sum[0] > 0)
			v[out->n_kinds++] = (struct res_kind){ name,         mean(sum[0]), mean(sum[1]), mean(sum[2]),
				                               mean(sum[3]), mean(sum[4]), mean(sum[5]) };
	}
	out->kinds = v;
	return 0;
}

static int mix_resources(const struct sweep_part *parts, const struct res_point *rows, size_t n, struct arena *a,
                         struct res_point *out, struct err *e)
{
	struct res_resource *v = arena_array(a, RES_COUNT, sizeof *v);

	if (!v)
		return sweep_no_memory(e);
	for (int k = 0; k < RES_COUNT; k++) {
		const char *name = res_name((enum res)k);
		double stall = 0, peak = 0;

		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < rows[i].n_resources; j++)
				if (strcmp(rows[i].resources[j].name, name) == 0) {
					stall += parts[i].weight * (double)rows[i].resources[j].stall_ps;
					peak += parts[i].weight * (double)rows[i].resources[j].peak_ps;
				}
		if (stall > 0 || peak > 0)
			v[out->n_resources++] = (struct res_resource){ name, mean(stall), mean(peak) };
	}
	out->resources = v;
	return 0;
}

/* One machine's parts have the same statistics: those of the first. */
static int mix_stats(const struct sweep_part *parts, const struct res_point *rows, size_t n, struct arena *a,
                     struct res_point *out, struct err *e)
{
	struct res_stat *v = arena_array(a, rows[0].n_stats + n + 1, sizeof *v);
	uint64_t worst = 0;

	if (!v)
		return sweep_no_memory(e);
	for (size_t k = 0; k < rows[0].n_stats; k++) {
		struct res_stat x = rows[0].stats[k];
		double sum = 0;
		uint64_t most = 0;

		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < rows[i].n_stats; j++)
				if (strcmp(rows[i].stats[j].name, x.name) == 0) {
					sum += parts[i].weight * (double)rows[i].stats[j].value;
					most = rows[i].stats[j].value > most ? rows[i].stats[j].value : most;
				}
		x.value = x.level ? most : mean(sum);
		v[out->n_stats++] = x;
	}
	for (size_t i = 0; i < n; i++) {
		const char *name = sweep_mix_stat(parts[i].name, a);

		if (!name)
			return sweep_no_memory(e);
		v[out->n_stats++] = (struct res_stat){ name, "ns", rows[i].total_ps / 1000, false };
		worst = rows[i].total_ps > worst ? rows[i].total_ps : worst;
	}
	v[out->n_stats++] = (struct res_stat){ SWEEP_MIX_WORST, "ns", worst / 1000, false };
	out->stats = v;
	return 0;
}

int sweep_mix(const struct sweep_part *parts, const struct res_point *rows, size_t n, struct arena *a,
              struct res_point *out, struct err *e)
{
	size_t slowest = 0;

	for (size_t i = 1; i < n; i++)
		if (parts[i].weight * (double)rows[i].total_ps > parts[slowest].weight * (double)rows[slowest].total_ps)
			slowest = i;
	mix_figures(parts, rows, n, &out->figures);
	out->roofline_bound = rows[slowest].roofline_bound;
	return mix_kinds(parts, rows, n, a, out, e) < 0 || mix_resources(parts, rows, n, a, out, e) < 0
	               ? -1
	               : mix_stats(parts, rows, n, a, out, e);
}
