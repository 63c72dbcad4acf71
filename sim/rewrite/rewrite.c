#include "sim/rewrite/rewrite.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/base/str.h"
#include "sim/rewrite/rewrite_int.h"
#include "workloads/place.h"
#include "workloads/work.h"

/* clang-format off */
const struct rewrite rewrite_table[] = {
	{ "kv-append", "new rows are written behind the KV cache in place, instead of copying it whole to join them",
	  "no op joins a whole KV cache with new rows", rewrite_kv, DT_NONE },
	{ "native-bf16", "what is cast from bf16 to fp32 and back is computed in bf16, summed in fp32",
	  "nothing is cast from bf16 to fp32", rewrite_cast, DT_BF16 },
	{ "native-fp16", "what is cast from fp16 to fp32 and back is computed in fp16, summed in fp32",
	  "nothing is cast from fp16 to fp32", rewrite_cast, DT_FP16 },
};
/* clang-format on */
const size_t rewrites = sizeof rewrite_table / sizeof *rewrite_table;

/* --- names ------------------------------------------------------------------------------------------------------- */

void rewrite_names(char *buf, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < rewrites && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%s", i ? ", " : "", rewrite_table[i].name);
}

static int rewrite_unknown(const char *name, struct err *e)
{
	const char *names[REWRITES_MAX] = { NULL }, *near;
	char all[256];

	for (size_t i = 0; i < rewrites; i++)
		names[i] = rewrite_table[i].name;
	near = str_nearest(name, names, rewrites);
	rewrite_names(all, sizeof all);
	return near ? err_set(e, ERR_USAGE, "unknown rewrite '%s': did you mean '%s'?", name, near)
	            : err_set(e, ERR_USAGE, "unknown rewrite '%s': there are %s", name, all);
}

static int add_name(const char *name, struct rewrite_list *out, struct err *e)
{
	for (size_t i = 0; i < rewrites; i++) {
		if (strcmp(rewrite_table[i].name, name) != 0)
			continue;
		for (size_t k = 0; k < out->n; k++)
			if (out->v[k] == &rewrite_table[i])
				return err_set(e, ERR_USAGE, "the rewrite '%s' is given twice", name);
		out->v[out->n++] = &rewrite_table[i];
		return 0;
	}
	return rewrite_unknown(name, e);
}

int rewrite_parse(const char *names, struct rewrite_list *out, struct err *e)
{
	_Static_assert(sizeof rewrite_table / sizeof *rewrite_table <= REWRITES_MAX, "room for all of them");
	char name[64];

	out->n = 0;
	for (const char *at = names;; at++) {
		const size_t n = strcspn(at, ",");

		snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), at);
		if (add_name(name, out, e) < 0)
			return -1;
		at += n;
		if (!*at)
			return 0;
	}
}

const char *rewrite_text(const struct rewrite_list *l, const struct rewrite_done *done, struct arena *a)
{
	const char *text = "";

	for (size_t i = 0; i < l->n && text; i++) {
		const size_t ops = done[i].changed + done[i].removed + done[i].kept;

		text = ops ? arena_printf(a, "%s%s%s (%zu ops)", text, i ? ", " : "", l->v[i]->name, ops)
		           : arena_printf(a, "%s%s%s (nothing)", text, i ? ", " : "", l->v[i]->name);
	}
	return text;
}

/* --- one rewrite ------------------------------------------------------------------------------------------------- */

static void count_bytes(const struct op_stream *s, uint64_t *read, uint64_t *written)
{
	*read = *written = 0;
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct work w = work_of(s, &s->ops[i]);

		*read += w.read_bytes;
		*written += w.write_bytes;
	}
}

static void find_uses(struct rewriting *w)
{
	for (size_t i = 0; i < w->s->n_tensors; i++)
		w->use[i] = (struct rewrite_use){ NONE, NONE, NONE, 0 };
	for (uint32_t i = 0; i < w->s->n_ops; i++)
		for (uint32_t k = 0; k < w->s->ops[i].n_operands; k++) {
			const struct op_operand *x = &w->s->operands[w->s->ops[i].first_operand + k];
			struct rewrite_use *u = &w->use[x->tensor];

			if (!x->write) {
				u->last_read = i;
				continue;
			}
			if (u->first_write == NONE)
				u->first_write = i;
			u->last_write = i;
			u->writes++;
		}
}

static int rewrite_begin(struct rewriting *w, const struct op_stream *from, struct op_stream *to)
{
	*to = *from;
	w->s = to;
	to->ops = arena_array(w->a, from->n_ops + 1, sizeof *to->ops);
	to->tensors = arena_array(w->a, from->n_tensors + 1, sizeof *to->tensors);
	to->operands = arena_array(w->a, from->n_operands + 1, sizeof *to->operands);
	to->launches = arena_array(w->a, from->n_launches + 1, sizeof *to->launches);
	to->routes = arena_array(w->a, from->n_routes + 1, sizeof *to->routes);
	w->use = arena_array(w->a, from->n_tensors + 1, sizeof *w->use);
	w->op_gone = arena_array(w->a, from->n_ops + 1, sizeof *w->op_gone);
	w->operand_gone = arena_array(w->a, from->n_operands + 1, sizeof *w->operand_gone);
	if (!to->ops || !to->tensors || !to->operands || !to->launches || !to->routes || !w->use || !w->op_gone ||
	    !w->operand_gone)
		return -1;
	for (size_t i = 0; i < from->n_ops; i++)
		to->ops[i] = from->ops[i];
	for (size_t i = 0; i < from->n_tensors; i++)
		to->tensors[i] = from->tensors[i];
	for (size_t i = 0; i < from->n_operands; i++)
		to->operands[i] = from->operands[i];
	for (size_t i = 0; i < from->n_routes; i++)
		to->routes[i] = from->routes[i];
	find_uses(w);
	return 0;
}

/* --- taking out what is gone ---------------------------------------------------------------------------------------- */

static bool takes(const struct op_stream *s, uint32_t op)
{
	return op < s->n_ops && s->ops[op].kind != OP_OPAQUE;
}

/* Who has the launches of each op: itself; of those that go the op behind them, or the one before. An opaque op only where
 * there is no other: its time is carried. */
static void heirs(const struct rewriting *w, uint32_t *heir)
{
	const struct op_stream *s = w->s;
	uint32_t before = NONE;

	for (uint32_t i = 0; i < s->n_ops;) {
		uint32_t behind = i, who;

		while (behind < s->n_ops && w->op_gone[behind])
			behind++;
		who = takes(s, behind) || !takes(s, before) ? behind : before;
		if (who >= s->n_ops)
			who = before;
		while (i < behind)
			heir[i++] = who;
		if (i < s->n_ops)
			heir[i] = before = i;
		i++;
	}
}

/* In the order of the ops, so that all launches of one are neighbours. */
static int move_launches(const struct rewriting *w, const struct op_stream *from)
{
	struct op_stream *s = w->s;
	uint32_t *heir = arena_array(w->a, from->n_ops + 1, sizeof *heir);
	uint32_t *is = arena_array(w->a, from->n_launches + 1, sizeof *is);

	if (!heir || !is)
		return -1;
	heirs(w, heir);
	for (size_t i = 0; i < s->n_ops; i++)
		s->ops[i].n_launches = 0, s->ops[i].measured_ns = 0;
	s->n_launches = 0;
	for (uint32_t i = 0; i < from->n_ops; i++) {
		const struct op *x = &from->ops[i];
		struct op *o = &s->ops[heir[i]];

		if (!o->n_launches)
			o->first_launch = (uint32_t)s->n_launches;
		for (uint32_t k = 0; k < x->n_launches; k++) {
			is[x->first_launch + k] = (uint32_t)s->n_launches;
			s->launches[s->n_launches++] = from->launches[x->first_launch + k];
		}
		o->n_launches += x->n_launches;
		o->measured_ns += x->measured_ns;
		if (heir[i] != i && o->kind == OP_OPAQUE)
			s->opaque_ns += x->measured_ns;
	}
	for (size_t i = 0; i < s->n_launches; i++)
		if (s->launches[i].waits_for >= 0)
			s->launches[i].waits_for = (int32_t)is[s->launches[i].waits_for];
	return 0;
}

static void drop_operands(const struct rewriting *w, struct op_stream *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_ops; i++) {
		struct op *o = &s->ops[i];
		const uint32_t first = o->first_operand;

		o->first_operand = (uint32_t)n;
		for (uint32_t k = 0; k < o->n_operands && !w->op_gone[i]; k++)
			if (!w->operand_gone[first + k])
				s->operands[n++] = s->operands[first + k];
		o->n_operands = (uint32_t)n - o->first_operand;
	}
	s->n_operands = n;
}

static int drop_ops(const struct rewriting *w, struct op_stream *s)
{
	uint32_t *is = arena_array(w->a, s->n_ops + 1, sizeof *is), n = 0;

	if (!is)
		return -1;
	for (size_t i = 0; i < s->n_ops; i++) {
		is[i] = n; /* of one that goes: the one behind it */
		if (w->op_gone[i])
			continue;
		s->ops[n] = s->ops[i];
		s->ops[n].id = n;
		s->ops[n].first_dep = s->ops[n].n_deps = 0;
		n++;
	}
	for (size_t i = 0; i < s->n_routes; i++) {
		struct op_route *r = &s->routes[i];

		r->topk_op = r->topk_op != NONE ? is[r->topk_op] : NONE;
		r->sync_op = r->sync_op != NONE ? is[r->sync_op] : NONE;
	}
	s->n_ops = n;
	return 0;
}

static int drop_tensors(const struct rewriting *w, struct op_stream *s)
{
	uint32_t *is = arena_array(w->a, s->n_tensors + 1, sizeof *is), n = 0;

	if (!is)
		return -1;
	for (size_t i = 0; i < s->n_operands; i++)
		is[s->operands[i].tensor] = 1;
	for (size_t i = 0; i < s->n_tensors; i++)
		if (is[i]) {
			is[i] = n;
			s->tensors[n++] = s->tensors[i];
		}
	for (size_t i = 0; i < s->n_operands; i++)
		s->operands[i].tensor = is[s->operands[i].tensor];
	s->n_tensors = n;
	return 0;
}

static int end(const struct rewriting *w, const struct op_stream *from, struct err *e)
{
	struct op_stream *s = w->s;
	char hash[17];

	if (move_launches(w, from) < 0)
		return -1;
	drop_operands(w, s);
	if (drop_ops(w, s) < 0 || drop_tensors(w, s) < 0)
		return -1;
	s->deps = NULL;
	s->n_deps = 0;
	hash_hex(hash_str(hash_str(HASH_INIT, from->digest ? from->digest : ""), w->how->name), hash);
	s->digest = arena_printf(w->a, "rewritten:%s", hash);
	return s->digest ? place_stream(s, ERR_IO, w->a, e) : -1;
}

static int rewrite_one(const struct op_stream *from, const struct rewrite *how, struct arena *a, struct op_stream *out,
                       struct rewrite_done *done, struct err *e)
{
	struct rewriting w = { .a = a, .how = how, .done = done };

	*done = (struct rewrite_done){ .how = how };
	count_bytes(from, &done->read_before, &done->write_before);
	if (rewrite_begin(&w, from, out) < 0)
		return err_nomem(e, "for a rewritten stream");
	if (how->apply(&w, e) < 0)
		return -1;
	if (!done->changed && !done->removed && !done->kept)
		*out = *from;
	else if (end(&w, from, e) < 0)
		return e->kind ? -1 : err_nomem(e, "for a rewritten stream");
	count_bytes(out, &done->read_after, &done->write_after);
	return 0;
}

int rewrite_stream(const struct op_stream *from, const struct rewrite_list *l, struct arena *a, struct op_stream *out,
                   struct rewrite_done done[REWRITES_MAX], struct err *e)
{
	struct op_stream s = *from;

	for (size_t i = 0; i < l->n; i++) {
		if (rewrite_one(&s, l->v[i], a, out, &done[i], e) < 0)
			return err_add(e, "rewriting by '%s'", l->v[i]->name);
		s = *out;
	}
	*out = s;
	return 0;
}
