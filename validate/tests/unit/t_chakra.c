/* Chakra execution traces: what is written is read again, and says what ran. */
#include "sim/report/chakra.h"

#include <stdlib.h>

#include "arch/machine/machine_conf.h"
#include "sim/base/path.h"
#include "sim/engine/run.h"
#include "sim/workload/workload.h"
#include "validate/tests/test.h"

/* A message's bytes, read from the front. */
struct reader {
	const unsigned char *p;
	size_t n;
};

static uint64_t varint(struct reader *r)
{
	uint64_t v = 0;

	for (int shift = 0; r->n; shift += 7) {
		const unsigned char c = *r->p++;

		r->n--;
		v |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80)
			return v;
	}
	test_fail(__FILE__, __LINE__, "a number without end");
	return 0;
}

static struct reader message(struct reader *r)
{
	struct reader m = { r->p, (size_t)varint(r) };

	CHECK(m.n <= r->n);
	m.p = r->p;
	r->p += m.n;
	r->n -= m.n;
	return m;
}

/* The next field: its number; its value, or its bytes. */
static uint64_t next(struct reader *r, uint64_t *value, struct reader *in)
{
	const uint64_t key = varint(r);

	CHECK((key & 7) == 0 || (key & 7) == 2);
	if ((key & 7) == 0)
		*value = varint(r);
	else
		*in = message(r);
	return key >> 3;
}

struct node {
	uint64_t id, type, duration, dep, size, type_of, src, dst, tag;
	bool waits;
};

static bool is(struct reader name, const char *text)
{
	return name.n == strlen(text) && memcmp(name.p, text, name.n) == 0;
}

static void read_attr(struct reader r, struct node *n)
{
	struct reader name = { NULL, 0 }, text;
	uint64_t v = 0;

	while (r.n) {
		struct reader in = { NULL, 0 };

		if (next(&r, &v, &in) == 1)
			name = in;
		text = in;
	}
	(void)text;
	*(is(name, "comm_size")   ? &n->size
	  : is(name, "comm_type") ? &n->type_of
	  : is(name, "comm_src")  ? &n->src
	  : is(name, "comm_dst")  ? &n->dst
	  : is(name, "comm_tag")  ? &n->tag
	                          : &(uint64_t){ 0 }) = v;
}

static struct node read_node(struct reader r)
{
	struct node n = { .id = 0 };

	while (r.n) {
		struct reader in = { NULL, 0 };
		uint64_t v = 0, field = next(&r, &v, &in);

		if (field == 10)
			read_attr(in, &n);
		n.waits |= field == 5;
		*(field == 1   ? &n.id
		  : field == 3 ? &n.type
		  : field == 5 ? &n.dep
		  : field == 7 ? &n.duration
		               : &(uint64_t){ 0 }) = v;
	}
	return n;
}

enum { MOST = 20000 };
struct file {
	struct node *v;
	size_t n;
};

static struct file read_chip(const struct chakra *x, uint32_t chip)
{
	struct file f = { calloc(MOST, sizeof *f.v), 0 };
	struct str text = STR_INIT;
	struct reader r, meta;

	chakra_chip(x, chip, &text);
	CHECK(f.v && !text.failed);
	r = (struct reader){ (const unsigned char *)str_c(&text), text.len };
	meta = message(&r);
	CHECK(meta.n > 2 && meta.p[0] == (1 << 3 | 2));
	while (r.n && f.n < MOST)
		f.v[f.n++] = read_node(message(&r));
	CHECK(!r.n);
	str_free(&text);
	return f;
}

/* Each op's node, in order, each behind the one before; times add up to the run's, collectives are its collectives. */
TEST(a_chips_file_has_the_run)
{
	const struct workload_reader by = { .source = &path_source };
	const struct workload_spec spec = { .model = "llama-3.2-1b", .tp = "4", .layers = 3 };
	struct machine_conf *c;
	struct run_opts how = run_opts_default();
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;
	struct workload w;
	struct run_result r;
	struct chakra x;
	struct file f;
	ps_t computes = 0;
	uint64_t us = 0;

	CHECK((c = machine_conf_load("dsocr-8", NULL, 0, &e)) != NULL);
	CHECK_OK(workload_read(&spec, &by, &w, &e), e);
	how.fidelity = RUN_ANALYTIC;
	CHECK_OK(run_stream(&w.stream, c, &how, a, &r, &e), e);
	x = (struct chakra){ &w.stream, build_split_of(&w.how), &r };
	CHECK_U64(chakra_chips(&x), 4);
	f = read_chip(&x, 3);
	CHECK_U64(f.n, w.stream.n_ops);
	for (size_t i = 0; i < f.n; i++) {
		const struct op *o = &w.stream.ops[i];

		CHECK_U64(f.v[i].id, i);
		CHECK(f.v[i].waits == (i > 0) && (!i || f.v[i].dep == i - 1));
		CHECK_U64(f.v[i].type, o->kind == OP_COLLECTIVE ? 7 : 4);
		us += f.v[i].duration;
		if (o->kind != OP_COLLECTIVE) {
			computes += r.ops[i].span_ps;
			continue;
		}
		CHECK_U64(f.v[i].type_of, strcmp(o->fn, "all_reduce") == 0 ? 0 : 2);
		CHECK_U64(f.v[i].size, dtype_bytes(o->dtype, o->shape.elems) / (f.v[i].type_of ? 4 : 1));
	}
	CHECK_U64(us, (computes + PS_US / 2) / PS_US);
	free(f.v);
	machine_conf_free(c);
	workload_free(&w);
	arena_free(a);
}

/* Whatever one chip sends, that chip gets. */
TEST(each_send_has_its_receive)
{
	const struct workload_reader by = { .source = &path_source };
	const struct workload_spec spec = {
		.model = "llama-3.2-1b", .tp = "2", .pp = "3", .layers = 7, .batch = 4, .micro = 2
	};
	struct machine_conf *c;
	struct run_opts how = run_opts_default();
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;
	struct workload w;
	struct run_result of[3];
	struct chakra x;
	struct file f[6];
	size_t sends = 0, receives = 0;

	CHECK((c = machine_conf_load("dsocr-8", NULL, 0, &e)) != NULL);
	CHECK_OK(workload_read(&spec, &by, &w, &e), e);
	how.fidelity = RUN_ANALYTIC;
	CHECK_U64(w.stream.n_stages, 3);
	for (uint32_t k = 0; k < 3; k++)
		CHECK_OK(run_stream(w.stream.stages[k].stream, c, &how, a, &of[k], &e), e);
	x = (struct chakra){ &w.stream, build_split_of(&w.how), of };
	CHECK_U64(chakra_chips(&x), 6);
	for (uint32_t i = 0; i < 6; i++)
		f[i] = read_chip(&x, i);
	for (uint32_t i = 0; i < 6; i++)
		for (size_t k = 0; k < f[i].n; k++) {
			const struct node *s = &f[i].v[k];
			size_t found = 0;

			receives += s->type == 6;
			if (s->type != 5)
				continue;
			sends++;
			CHECK(s->src == i && s->dst < 6 && s->size);
			for (size_t q = 0; q < f[s->dst].n; q++) {
				const struct node *r = &f[s->dst].v[q];

				found += r->type == 6 && r->src == i && r->dst == s->dst && r->tag == s->tag &&
				         r->size == s->size;
			}
			CHECK_U64(found, 1);
		}
	CHECK_U64(sends, 6 * 2);
	CHECK_U64(receives, sends);
	for (uint32_t i = 0; i < 6; i++)
		free(f[i].v);
	machine_conf_free(c);
	workload_free(&w);
	arena_free(a);
}

SUITE(t_chakra, T(a_chips_file_has_the_run), T(each_send_has_its_receive));
