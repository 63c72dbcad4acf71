/* f_program.c - any bytes as a tile program: what is taken is written and read again as the same, and a small one runs, with
 * events and in closed form, to an end. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/run.h"
#include "sim/program/program.h"
#include "traces/text/input.h"
#include "validate/tests/fuzz/targets.h"

#define MOST_TILES 2000
#define MOST_BYTES (UINT64_C(1) << 20)

static const char yaml[] =
	"clock: 1 GHz\ncores: 2\nl2: {size: 1 MiB}\nkv_buffer: {size: 128 KiB}\nsram: {size: 1 MiB, pin: 1 KiB}\n";

static bool small(const struct isa_prog *p)
{
	uint64_t tiles = 0, moved = 0;

	for (size_t k = 0; k < p->n_cmds; k++) {
		const struct isa_cmd *c = &p->cmds[k];

		tiles += 1 + c->tiles;
		for (uint32_t i = 0; i < c->n_insns; i++) {
			const struct isa_insn *x = &p->insns[c->first_insn + i];

			moved += x->bytes > MOST_BYTES || x->tile_bytes > MOST_BYTES
			                 ? MOST_BYTES
			                 : x->bytes + (x->when == ISA_TILE ? c->tiles * x->tile_bytes : 0);
		}
	}
	return tiles < MOST_TILES && moved < MOST_BYTES;
}

static void run(const struct program *p, const struct machine_conf *c, struct arena *a)
{
	for (int i = 0; i < 4; i++) {
		struct run_opts o = { .seed = 1,
			              .program = &p->map,
			              .fidelity = i & 1 ? RUN_ANALYTIC : RUN_EVENT,
			              .start = i & 2 ? RUN_RESIDENT : RUN_STEADY };
		struct run_result x;
		struct err e = ERR_INIT;
		ps_t sum = 0;

		if (run_stream(&p->stream, c, &o, a, &x, &e) < 0) {
			assert(e.kind == ERR_NOMEM || e.kind == ERR_CONFIG || e.kind == ERR_IO);
			continue;
		}
		for (int r = 0; r < RES_COUNT; r++)
			sum += x.stall_ps[r];
		assert(sum == x.total_ps);
	}
}

static void again(const struct program *p, const struct machine_conf *c, struct arena *a)
{
	struct str text = STR_INIT, other = STR_INIT;
	struct err e = ERR_INIT;
	struct program q;
	struct input *in;

	program_write(&p->stream, &p->map, &text);
	in = input_mem(str_c(&text), text.len, "again", &e);
	if (!in || text.failed)
		abort();
	if (program_read(in, &c->cfg, a, &q, &e) < 0) {
		assert(e.kind == ERR_NOMEM);
	} else {
		program_write(&q.stream, &q.map, &other);
		assert(strcmp(str_c(&text), str_c(&other)) == 0);
	}
	input_free(in);
	str_free(&text);
	str_free(&other);
}

int fuzz_program(const uint8_t *bytes, size_t n)
{
	static struct machine_conf *c; /* the same for all inputs */
	struct err e = ERR_INIT;
	struct arena *a = arena_new(256 << 20);
	struct input *in = input_mem(bytes, n, "fuzz", &e);
	struct program p;

	if (!c)
		c = machine_conf_parse(yaml, sizeof yaml - 1, "fuzz.yaml", NULL, 0, &e);
	if (!a || !in || !c)
		abort();
	if (program_read(in, &c->cfg, a, &p, &e) < 0) {
		assert(e.kind != ERR_NONE && e.msg[0]);
	} else {
		again(&p, c, a);
		if (small(&p.map.prog))
			run(&p, c, a);
	}
	input_free(in);
	arena_free(a);
	return 0;
}
