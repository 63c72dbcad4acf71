#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/program/program_int.h"

static const char head[] =
	"program 1\n"
	"# Routers, tensors, ops with what they read and write, and the commands that do them: what is in SRAM (slot, held),\n"
	"# what they wait for (after), and their instructions before, in and behind the loop over tiles. Bytes and picoseconds.\n"
	"# 'npusim run --program-in' reads it; sim/program/program.h says what each line may say.\n";

/* A stream that is written. */
struct writer {
	const struct op_stream *s;
	const struct map_result *m;
	struct str *out;
	bool *again; /* by tensor: one before it is called the same */
};

struct run_label {
	const char *name;
	uint32_t tensor;
};

static int program_write_by_name(const void *a, const void *b)
{
	const struct run_label *x = a, *y = b;
	const int order = strcmp(x->name, y->name);

	return order ? order : (x->tensor > y->tensor) - (x->tensor < y->tensor);
}

/* Names are for people, and two tensors may share one. */
static int find_again(struct writer *w)
{
	const size_t n = w->s->n_tensors;
	struct run_label *v = calloc(n + 1, sizeof *v);

	w->again = calloc(n + 1, sizeof *w->again);
	for (uint32_t i = 0; v && i < n; i++)
		v[i] = (struct run_label){ w->s->tensors[i].name ? w->s->tensors[i].name : "", i };
	if (!v || !w->again) {
		free(v);
		return -1;
	}
	qsort(v, n, sizeof *v, program_write_by_name);
	for (size_t i = 0; i < n; i++)
		w->again[v[i].tensor] = !*v[i].name || (i && strcmp(v[i].name, v[i - 1].name) == 0);
	free(v);
	return 0;
}

static void put_name(const struct writer *w, uint32_t t)
{
	const char *name = w->s->tensors[t].name ? w->s->tensors[t].name : "";
	struct str unique = STR_INIT;

	if (!w->again[t]) {
		program_text_write(name, w->out);
		return;
	}
	str_addf(&unique, "%s@%" PRIu32, name, t);
	program_text_write(str_c(&unique), w->out);
	w->out->failed |= unique.failed;
	str_free(&unique);
}

static void put_list(const char *key, const uint32_t *v, uint32_t n, struct str *out)
{
	for (uint32_t i = 0; i < n; i++)
		str_addf(out, "%s%s%s%" PRIu32, i ? "" : " ", i ? "," : key, i ? "" : "=", v[i]);
}

static void put_routes(const struct writer *w)
{
	const struct op_stream *s = w->s;
	struct str *out = w->out;
	const struct op_route base = { .layer = -1 };

	for (size_t i = 0; i < s->n_routes; i++) {
		str_add(out, "route");
		program_fields_write(program_route_fields, &s->routes[i], &base, out);
		str_addc(out, '\n');
	}
}

/* Where one instance is all there is nothing asks for its stride. */
static void put_tensors(const struct writer *w)
{
	const struct op_stream *s = w->s;
	struct str *out = w->out;
	const struct op_tensor base = program_tensor_base();

	for (uint32_t i = 0; i < s->n_tensors; i++) {
		struct op_tensor t = s->tensors[i];

		t.stride = t.instances > 1 ? t.stride : 0;
		str_add(out, "tensor ");
		put_name(w, i);
		program_fields_write(program_tensor_fields, &t, &base, out);
		str_addc(out, '\n');
	}
}

static void put_operand(const struct writer *w, const struct op_operand *x)
{
	struct str *out = w->out;
	const struct op_operand base = program_operand_base(x, &w->s->tensors[x->tensor]);

	str_add(out, x->write ? "    writes " : "    reads ");
	put_name(w, x->tensor);
	program_fields_write(program_operand_fields, x, &base, out);
	str_addc(out, '\n');
}

static void program_write_put_ops(const struct writer *w)
{
	const struct op_stream *s = w->s;
	struct str *out = w->out;

	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *o = &s->ops[i];
		const struct program_op x = { *o, w->m->op_work_ps[i] };
		const struct program_op base = program_op_base(&x);

		str_addf(out, "# op %zu\nop %s ", i, op_kind_name(o->kind));
		program_text_write(o->name ? o->name : "", out);
		program_fields_write(program_op_fields, &x, &base, out);
		put_list("after", s->deps ? s->deps + o->first_dep : NULL, s->deps ? o->n_deps : 0, out);
		str_addc(out, '\n');
		for (uint32_t k = 0; k < o->n_operands; k++)
			put_operand(w, &s->operands[o->first_operand + k]);
	}
}

static void put_insn(const struct writer *w, const struct isa_cmd *c, const struct isa_insn *i)
{
	const struct op_stream *s = w->s;
	struct str *out = w->out;
	static const char *const when[] = { [ISA_PRE] = "pre", [ISA_TILE] = "tile", [ISA_POST] = "post" };
	const bool move = isa_is_move(i);
	const struct isa_insn base = program_insn_base(i, c, w->m->prog.members[c->first_op], &s->ops[i->op],
	                                               move ? &s->tensors[i->tensor] : NULL);

	str_addf(out, "    %-4s %s ", when[i->when], isa_code_name((enum isa_code)i->code));
	if (move)
		put_name(w, i->tensor);
	else
		str_add(out, res_name((enum res)i->unit));
	program_fields_write(program_insn_fields, i, &base, out);
	str_addc(out, '\n');
	program_write_edges(&w->m->prog, i, out);
}

/* "0-2", or of several that are done side by side "0-1,5-6". */
static void put_ops_of(const uint32_t *ops, uint32_t n, struct str *out)
{
	for (uint32_t i = 0, to; i < n; i = to) {
		for (to = i + 1; to < n && ops[to] == ops[to - 1] + 1; to++)
			;
		str_addf(out, "%s%" PRIu32, i ? "," : "", ops[i]);
		if (to > i + 1)
			str_addf(out, "-%" PRIu32, ops[to - 1]);
	}
}

static void put_command(const struct writer *w, size_t k)
{
	const struct op_stream *s = w->s;
	const struct isa_prog *p = &w->m->prog;
	struct str *out = w->out;
	const struct isa_cmd *c = &p->cmds[k];
	const struct isa_cmd base = program_command_base(k ? &p->cmds[k - 1] : NULL);
	const uint32_t first = p->members[c->first_op];

	str_addf(out, "# command %zu: ", k);
	program_text_write(s->ops[first].name ? s->ops[first].name : "", out);
	str_add(out, "\ncommand ops=");
	put_ops_of(p->members + c->first_op, c->n_ops, out);
	program_fields_write(program_command_fields, c, &base, out);
	put_list("after", p->deps + c->first_dep, c->n_deps, out);
	str_addc(out, '\n');
	for (uint32_t i = 0; i < c->n_insns; i++)
		put_insn(w, c, &p->insns[c->first_insn + i]);
}

void program_write(const struct op_stream *s, const struct map_result *m, struct str *out)
{
	struct writer w = { s, m, out, NULL };

	if (find_again(&w) < 0) {
		out->failed = true;
	} else {
		str_add(out, head);
		put_routes(&w);
		put_tensors(&w);
		program_write_put_ops(&w);
		for (size_t k = 0; k < m->prog.n_cmds; k++)
			put_command(&w, k);
	}
	free(w.again);
}
