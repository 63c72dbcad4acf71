/* lower_check.c - does a stream hold what op.h promises? */
#include <stdlib.h>

#include "sim/lower/lower.h"

struct span {
	uint64_t addr, end;
	uint32_t tensor;
};

static int check_ops(const struct op_stream *s, struct err *e)
{
	uint64_t operands = 0, deps = 0, launches = 0, measured = 0;

	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *o = &s->ops[i];

		if (o->id != i)
			return err_set(e, ERR_CONFIG, "op %zu has the id %u", i, o->id);
		if ((unsigned)o->kind >= OP_KINDS)
			return err_set(e, ERR_CONFIG, "op %zu is of no kind", i);
		if ((uint64_t)o->first_operand + o->n_operands > s->n_operands ||
		    (uint64_t)o->first_dep + o->n_deps > s->n_deps ||
		    (uint64_t)o->first_launch + o->n_launches > s->n_launches)
			return err_set(e, ERR_CONFIG, "op %zu points outside the stream's tables", i);
		for (uint32_t j = 0; j < o->n_operands; j++) {
			const struct op_operand *x = &s->operands[o->first_operand + j];
			const struct op_tensor *t = x->tensor < s->n_tensors ? &s->tensors[x->tensor] : NULL;

			if (!t)
				return err_set(e, ERR_CONFIG, "op %zu names a tensor that is not there", i);
			if (x->offset > t->bytes || x->bytes > t->bytes - x->offset || x->touched > x->bytes)
				return err_set(e, ERR_CONFIG, "op %zu reaches outside tensor '%s'", i,
				               t->name ? t->name : "?");
			if (t->route >= 0 && ((size_t)t->route >= s->n_routes || x->slot >= s->routes[t->route].top))
				return err_set(e, ERR_CONFIG, "op %zu uses a pick its router does not make", i);
		}
		for (uint32_t j = 0; j < o->n_deps; j++) {
			const uint32_t *d = &s->deps[o->first_dep + j];

			if (*d >= i)
				return err_set(e, ERR_CONFIG, "op %zu depends on op %u, which is not before it", i, *d);
			if (j && d[-1] >= *d)
				return err_set(e, ERR_CONFIG, "op %zu: dependences are not sorted or not unique", i);
		}
		operands += o->n_operands;
		deps += o->n_deps;
		launches += o->n_launches;
		measured += o->measured_ns;
	}
	if (operands != s->n_operands || deps != s->n_deps || launches != s->n_launches)
		return err_set(e, ERR_CONFIG, "the stream's tables hold what no op uses");
	if (measured != s->measured_ns)
		return err_set(e, ERR_CONFIG, "the ops' measured time is not the stream's");
	return 0;
}

static int check_launches(const struct op_stream *s, struct err *e)
{
	uint8_t *used = calloc(s->n_launches + 1, 1);
	int rc = 0;

	if (!used)
		return err_nomem(e, NULL);
	for (size_t i = 0; i < s->n_ops && rc == 0; i++)
		for (uint32_t j = 0; j < s->ops[i].n_launches && rc == 0; j++)
			if (used[s->ops[i].first_launch + j]++)
				rc = err_set(e, ERR_CONFIG, "launch %u is in two ops", s->ops[i].first_launch + j);
	for (size_t i = 0; i < s->n_launches && rc == 0; i++)
		if (s->launches[i].waits_for >= 0 && (size_t)s->launches[i].waits_for >= s->n_launches)
			rc = err_set(e, ERR_CONFIG, "launch %zu waits for one that is not there", i);
	free(used);
	return rc;
}

/* --- live ranges -------------------------------------------------------------------------------------------------- */

static uint64_t tensor_end(const struct op_tensor *t)
{
	return t->addr + (t->instances > 1 ? (t->instances - 1) * t->stride : 0) + t->bytes;
}

/* Ranges live at once, sorted by address. */
struct live {
	struct span *v;
	size_t n;
};

static size_t live_at(const struct live *l, uint64_t addr)
{
	size_t lo = 0, hi = l->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->v[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int live_add(struct live *l, const struct op_stream *s, uint32_t tensor, struct err *e)
{
	const struct op_tensor *t = &s->tensors[tensor];
	struct span x = { t->addr, tensor_end(t), tensor };
	size_t at = live_at(l, x.addr);
	const struct span *near = NULL;

	if (at < l->n && l->v[at].addr < x.end)
		near = &l->v[at];
	else if (at && l->v[at - 1].end > x.addr)
		near = &l->v[at - 1];
	if (near && x.end > x.addr)
		return err_set(e, ERR_CONFIG, "tensors '%s' and '%s' are live at once and overlap",
		               t->name ? t->name : "?",
		               s->tensors[near->tensor].name ? s->tensors[near->tensor].name : "?");
	for (size_t i = l->n; i > at; i--)
		l->v[i] = l->v[i - 1];
	l->v[at] = x;
	l->n++;
	return 0;
}

static void live_remove(struct live *l, const struct op_stream *s, uint32_t tensor)
{
	size_t at = live_at(l, s->tensors[tensor].addr);

	while (at < l->n && l->v[at].tensor != tensor)
		at++;
	if (at == l->n)
		return;
	l->n--;
	for (; at < l->n; at++)
		l->v[at] = l->v[at + 1];
}

static int check_ranges(const struct op_stream *s, struct err *e)
{
	uint32_t *last = calloc(s->n_tensors + 1, sizeof *last);
	uint8_t *state = calloc(s->n_tensors + 1, 1); /* 1 live, 2 past */
	struct live l = { calloc(s->n_tensors + 1, sizeof *l.v), 0 };
	int rc = last && state && l.v ? 0 : err_nomem(e, NULL);

	for (size_t i = 0; i < s->n_operands && rc == 0; i++)
		if (s->operands[i].tensor >= s->n_tensors)
			rc = err_set(e, ERR_CONFIG, "operand %zu names a tensor that is not there", i);
	for (size_t i = 0; i < s->n_ops && rc == 0; i++)
		for (uint32_t j = 0; j < s->ops[i].n_operands; j++)
			last[s->operands[s->ops[i].first_operand + j].tensor] = (uint32_t)i;
	for (size_t i = 0; i < s->n_tensors && rc == 0; i++) {
		const struct op_tensor *t = &s->tensors[i];

		if (!t->instances || (t->instances > 1 && t->stride < t->bytes) || tensor_end(t) > s->addr_end)
			rc = err_set(e, ERR_CONFIG, "tensor '%s' lies outside the stream's addresses",
			             t->name ? t->name : "?");
		else if (t->external && (state[i] = 1))
			rc = live_add(&l, s, (uint32_t)i, e);
	}
	for (size_t i = 0; i < s->n_ops && rc == 0; i++) {
		const struct op_operand *x = s->operands + s->ops[i].first_operand;

		for (uint32_t j = 0; j < s->ops[i].n_operands && rc == 0; j++)
			if (!state[x[j].tensor]) {
				state[x[j].tensor] = 1;
				if (!x[j].write)
					rc = err_set(e, ERR_CONFIG, "op %zu reads tensor '%s' before anything wrote it",
					             i,
					             s->tensors[x[j].tensor].name ? s->tensors[x[j].tensor].name : "?");
				else
					rc = live_add(&l, s, x[j].tensor, e);
			}
		for (uint32_t j = 0; j < s->ops[i].n_operands && rc == 0; j++) {
			const struct op_tensor *t = &s->tensors[x[j].tensor];

			if (last[x[j].tensor] == i && !t->external && t->role != OP_KV && state[x[j].tensor] == 1) {
				state[x[j].tensor] = 2;
				live_remove(&l, s, x[j].tensor);
			}
		}
	}
	free(last);
	free(state);
	free(l.v);
	return rc;
}

int lower_check(const struct op_stream *s, struct err *e)
{
	if (check_ops(s, e) < 0 || check_launches(s, e) < 0)
		return -1;
	return check_ranges(s, e);
}
