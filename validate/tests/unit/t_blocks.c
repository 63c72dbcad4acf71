/* t_blocks.c - tables of blocks: what is read, each way in which one is wrong, and what a block keeps on chip. */
#include "sim/accuracy/blocks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/accuracy/rows.h"
#include "sim/engine/run.h"
#include "sim/map/map.h"
#include "validate/tests/runbed.h"
#include "validate/tests/test.h"

#define HEADER "block,name,rows,hidden,inter,measured_us\n"
#define MACHINE \
	"cores: 1\nsram: {size: 16 MiB, forward: false}\nl2: {size: 0 B}\nkv_buffer: {size: 0 B}\ngemv: {units: 0}\n" \
	"mapping: {policy: copy_first, stream: 4 MiB}\nfusion: {enabled: false}\n" \
	"dram: {kind: hbm3-6400, capacity: 16 GiB}\n"

struct table {
	char path[256];
	struct arena *a;
	struct block_row *v;
	size_t n;
	struct err e;
};

static int up(struct table *t, const char *text)
{
	FILE *f;

	memset(t, 0, sizeof *t);
	t->a = arena_new(0);
	snprintf(t->path, sizeof t->path, "%s/blocks.csv", test_tmp());
	f = fopen(t->path, "w");
	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
	return blocks_read(t->path, t->a, &t->v, &t->n, &t->e);
}

static void down(struct table *t)
{
	unlink(t->path);
	arena_free(t->a);
}

TEST(rows_are_read_in_any_order_of_columns)
{
	struct table t;

	CHECK_OK(up(&t, "# note\nblock,inter,rows,measured_us,hidden\nffn_gated,512,4,12.3456,128\nffn_erf,64,1,,32\n"),
	         t.e);
	CHECK_U64(t.n, 2);
	CHECK_STR(t.v[0].name, "ffn_gated");
	CHECK(t.v[0].rows == 4 && t.v[0].hidden == 128 && t.v[0].inter == 512 && t.v[0].measured_ns == 12346);
	CHECK(t.v[1].measured_ns == 0 && t.v[1].stream.n_ops == 2 && t.v[0].stream.n_ops == 3);
	CHECK(blocks_file(t.path, &t.e) == 1);
	down(&t);
}

static void refused(const char *text, const char *why)
{
	struct table t;

	CHECK(up(&t, text) < 0);
	CHECK_HAS(t.e.msg, why);
	CHECK_U64(err_exit_code(&t.e), 4);
	down(&t);
}

TEST(a_fault_is_one_line_with_its_place)
{
	struct table t;

	refused("block,rows,hidden,inter\nffn_erf,1,2,3\n", "has no column 'measured_us'");
	refused("block,rows,hiden,inter,measured_us\n", "unknown column 'hiden': the nearest is 'hidden'");
	refused("block,rows,rows,hidden,inter,measured_us\n", "column 'rows' is there twice");
	refused(HEADER, "its table has no rows");
	refused(HEADER "ffn_gate,a,1,2,3,4\n", "unknown block 'ffn_gate': the nearest is ffn_gated");
	refused(HEADER "ffn_erf,a,0,2,3,4\n", "'rows' is a whole number from 1 to 2^24, not '0'");
	refused(HEADER "ffn_erf,a,1,2,99999999999999999999,4\n", "'inter' is a whole number");
	refused(HEADER "ffn_erf,a,1,2,3,-4\n", "'measured_us' is a time above 0, not '-4'");
	refused(HEADER "ffn_erf,a,1,2,3,4,5\n", "a row of 7 cells under a header of 6");
	CHECK(up(&t, HEADER "ffn_erf,a,1,2,3,4\nffn_erf,b,1,x,3,4\n") < 0);
	CHECK(t.e.line == 3 && t.e.col == 13);
	CHECK_STR(t.e.file, t.path);
	down(&t);
}

/* --- on a machine ------------------------------------------------------------------------------------------------- */

struct ran {
	struct table t;
	struct machine_conf *c;
	struct run_result x;
};

static void run(struct ran *r, const char *row, const char *set, enum run_fidelity f)
{
	const struct run_opts how = { .start = RUN_COLD, .fidelity = f, .seed = 1 };
	char text[160];

	snprintf(text, sizeof text, HEADER "%s\n", row);
	CHECK_OK(up(&r->t, text), r->t.e);
	r->c = machine_conf_parse(MACHINE, strlen(MACHINE), "m", &set, set != NULL, &r->t.e);
	CHECK_OK(r->c ? 0 : -1, r->t.e);
	CHECK_OK(run_stream(&r->t.v[0].stream, r->c, &how, r->t.a, &r->x, &r->t.e), r->t.e);
	CHECK(r->x.total_ps >= r->x.roofline_ps);
}

static void ran_down(struct ran *r)
{
	machine_conf_free(r->c);
	down(&r->t);
}

/* 512 x 512 to 1024: weights of 1 MiB each, 1 MiB between the products. */
TEST(what_a_product_makes_for_the_next_stays_on_chip_where_it_fits)
{
	const uint64_t mib = 1 << 20;

	for (int f = 0; f < 2; f++) {
		struct ran r;

		run(&r, "ffn_gated,a,512,512,1024,1", NULL, (enum run_fidelity)f);
		CHECK_U64(runbed_stat(&r.x, "dram.read_bytes"), 3 * mib + 2 * mib / 2);
		CHECK_U64(runbed_stat(&r.x, "dram.write_bytes"), mib / 2);
		ran_down(&r);
		/* a search keeps what a quarter of all scratchpads holds, another way */
		run(&r, "ffn_gated,a,512,512,1024,1", "mapping.policy=search", (enum run_fidelity)f);
		CHECK(runbed_stat(&r.x, "dram.write_bytes") + runbed_stat(&r.x, "sram.kept_bytes") >=
		      2 * mib + mib / 2);
		ran_down(&r);
	}
}

/* Bytes that a command loads of a tensor, in all rounds of its loops. */
static uint64_t loaded(const struct ran *r, size_t cmd, const char *tensor)
{
	const struct isa_prog *p = &r->x.map->prog;
	const struct isa_cmd *c = &p->cmds[cmd];
	uint64_t n = 0;

	for (uint32_t i = c->first_insn; i < c->first_insn + c->n_insns; i++) {
		const struct isa_insn *x = &p->insns[i];
		uint64_t bytes = x->when == ISA_TILE ? x->tile_bytes : x->bytes;

		if (x->code != ISA_LOAD || strcmp(r->t.v[0].stream.tensors[x->tensor].name, tensor) != 0)
			continue;
		for (int l = 0; l < ISA_LOOPS && x->when == ISA_TILE; l++)
			bytes *= x->stays >> l & 1 ? 1 : c->trips[l];
		n += bytes;
	}
	return n;
}

/* 32 MiB between the products: the gate reads what up wrote once, as its results go, down what the gate wrote. */
TEST(what_does_not_fit_is_written_and_read_beside_the_results)
{
	const uint64_t mib = 1 << 20;
	struct ran r;

	run(&r, "ffn_gated,a,16384,512,1024,1", NULL, RUN_EVENT);
	CHECK_U64(runbed_stat(&r.x, "dram.write_bytes"), (32 + 32 + 16) * mib);
	CHECK_U64(loaded(&r, 1, "up.out"), 32 * mib);
	CHECK(loaded(&r, 2, "gate.out") >= 32 * mib);
	ran_down(&r);
}

TEST(a_block_is_one_sample_of_its_kind)
{
	const struct run_opts how = { .start = RUN_COLD, .seed = 1 };
	struct rows rows;
	struct ran r;

	run(&r, "ffn_erf,a,64,512,1024,7.5", NULL, RUN_EVENT);
	CHECK_OK(rows_new(&rows, 1, r.t.a, &r.t.e), r.t.e);
	CHECK_OK(rows_add_blocks(&rows, r.t.v, r.t.n, r.c, &how, SAMPLE_ALL, &r.t.e), r.t.e);
	CHECK_U64(rows.sim.all.n, 1);
	CHECK_STR(rows.sim.all.v[0].cls, "ffn_erf");
	CHECK_STR(rows.sim.all.v[0].group, "2-64");
	CHECK_U64(rows.sim.all.v[0].time.total, r.x.total_ps);
	ran_down(&r);
}

SUITE(t_blocks, T(rows_are_read_in_any_order_of_columns), T(a_fault_is_one_line_with_its_place),
      T(what_a_product_makes_for_the_next_stays_on_chip_where_it_fits),
      T(what_does_not_fit_is_written_and_read_beside_the_results), T(a_block_is_one_sample_of_its_kind));
