/* mktrace.h - traces written by hand: launches, and framework ops whose arguments are one line of text.
 *
 *   "bf16[1,1280] bf16[1280,64|1,1280] - =6 =[-1] {f32[1,8] f32[1,8]}"
 *
 * Arguments stand in call order: TYPE[dims|strides] a tensor (strides optional), TYPE[] one without dims, - nothing,
 * =TEXT a scalar, {...} a list of tensors at one position, as profilers write it: without a type of their own. */
#ifndef NPUSIM_TESTS_MKTRACE_H
#define NPUSIM_TESTS_MKTRACE_H

#include <stdlib.h>

#include "sim/base/arena.h"
#include "traces/trace.h"
#include "validate/tests/test.h"

struct mk {
	struct arena *a;
	struct trace t;
	size_t cap;
	int64_t now, next_op;
};

static inline void mk_open(struct mk *m)
{
	memset(m, 0, sizeof *m);
	m->a = arena_new(0);
	CHECK(m->a);
	m->t.path = "by hand";
	m->t.digest = "0";
	m->t.tool = "test";
	m->t.wall_ns = -1;
	m->cap = 4096;
	m->t.launches = arena_array(m->a, m->cap, sizeof *m->t.launches);
	CHECK(m->t.launches);
}

static inline void mk_close(struct mk *m)
{
	arena_free(m->a);
}

static inline const char *mk_type(const char *p, size_t n)
{
	static const char *const names[][2] = {
		{ "bf16", "c10::BFloat16" },
		{ "f16", "c10::Half" },
		{ "f32", "float" },
		{ "f64", "double" },
		{ "i64", "long int" },
		{ "i32", "int" },
		{ "i8", "signed char" },
		{ "bool", "bool" },
		{ "f8", "c10::Float8_e4m3fn" },
		{ "f4x2", "c10::Float4_e2m1fn_x2" },
		{ "c64", "c10::complex<float>" },
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strlen(names[i][0]) == n && strncmp(names[i][0], p, n) == 0)
			return names[i][1];
	test_fail(__FILE__, __LINE__, "no type '%.*s'", (int)n, p);
}

static inline const char *mk_dims(const char *p, int64_t *to, int32_t *n)
{
	for (*n = 0; *p && *p != ']' && *p != '|'; (*n)++) {
		char *end;

		CHECK(*n < TRACE_MAX_DIMS);
		to[*n] = strtoll(p, &end, 10);
		CHECK(end != p);
		p = end + (*end == ',');
	}
	return p;
}

static inline struct trace_op *mk_op(struct mk *m, const char *name, const char *args)
{
	struct trace_op *o = arena_alloc(m->a, sizeof *o);
	struct trace_arg *v = arena_array(m->a, TRACE_MAX_ARGS, sizeof *v);
	int32_t pos = 0, list = -1, strides;

	CHECK(o && v);
	o->id = ++m->next_op;
	o->parent = -1;
	o->name = name;
	o->args = v;
	for (const char *p = args; *p;) {
		struct trace_arg *x = &v[o->n_args];
		size_t n = strcspn(p, " [");

		if (*p == ' ') {
			p++;
			continue;
		}
		if (*p == '{' || *p == '}') {
			list = *p++ == '{' ? 0 : -1;
			pos += list < 0;
			continue;
		}
		CHECK(o->n_args < TRACE_MAX_ARGS);
		o->n_args++;
		x->pos = pos;
		x->list = list;
		x->ndims = -1;
		x->dtype = x->scalar = "";
		if (*p == '-' || *p == '=') {
			n = strcspn(p, " ");
			if (*p == '=')
				x->scalar = arena_strndup(m->a, p + 1, n - 1), x->dtype = "Scalar";
			p += n;
		} else {
			x->dtype = list < 0 ? mk_type(p, n) : "TensorList";
			p = mk_dims(p + n + 1, x->dims, &x->ndims);
			if (*p == '|')
				p = mk_dims(p + 1, x->strides, &strides);
			CHECK(*p == ']');
			p++;
		}
		if (list < 0)
			pos++;
		else
			list++;
	}
	return o;
}

/* A kernel of one microsecond behind the last one, on stream 7; `o` may be NULL. */
static inline struct trace_launch *mk_launch(struct mk *m, const char *kernel, const struct trace_op *o)
{
	struct trace_launch *l = &m->t.launches[m->t.n_launches];

	CHECK(m->t.n_launches < m->cap);
	l->id = (int64_t)m->t.n_launches++;
	l->name = kernel;
	l->start_ns = m->now;
	l->dur_ns = 1000;
	l->stream = 7;
	l->bytes = -1;
	l->grid[0] = l->grid[1] = l->grid[2] = 1;
	l->host_start_ns = l->host_dur_ns = -1;
	l->op = o;
	m->now += 1500;
	return l;
}

static inline struct trace_launch *mk_kernel(struct mk *m, const char *kernel, const char *op, const char *args)
{
	return mk_launch(m, kernel, op ? mk_op(m, op, args) : NULL);
}

static inline struct trace_launch *mk_copy(struct mk *m, enum trace_copy_dir dir, int64_t bytes, bool blocking,
                                           const struct trace_op *o)
{
	static const char *const names[] = { "Memcpy",
		                             "Memcpy HtoD (Pageable -> Device)",
		                             "Memcpy DtoH (Device -> Pageable)",
		                             "Memcpy DtoD (Device -> Device)",
		                             "Memcpy HtoH",
		                             "Memcpy PtoP" };
	struct trace_launch *l = mk_launch(m, names[dir], o);

	l->kind = TRACE_MEMCPY;
	l->dir = dir;
	l->bytes = bytes;
	l->blocking = blocking;
	return l;
}

static inline struct trace_launch *mk_set(struct mk *m, int64_t bytes, const struct trace_op *o)
{
	struct trace_launch *l = mk_launch(m, "Memset (Device)", o);

	l->kind = TRACE_MEMSET;
	l->bytes = bytes;
	return l;
}

#endif
