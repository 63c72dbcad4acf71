#include "sim/report/chakra.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch/link/link.h"

/* --- protobuf --------------------------------------------------------------------------------------------------------- */

enum wire { WIRE_VARINT, WIRE_BYTES = 2 };
enum { META_VERSION = 1 };
enum { NODE_ID = 1, NODE_NAME, NODE_TYPE, NODE_DATA_DEPS = 5, NODE_DURATION = 7, NODE_ATTR = 10 };
enum { ATTR_NAME = 1, ATTR_INT32 = 7, ATTR_INT64 = 9, ATTR_UINT64 = 13, ATTR_BOOL = 27, ATTR_STRING = 29 };
enum { TYPE_COMP = 4, TYPE_SEND, TYPE_RECV, TYPE_COLL };

static void varint(struct str *s, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		str_addc(s, (char)(0x80 | (v & 0x7f)));
	str_addc(s, (char)v);
}

static void field(struct str *s, int number, uint64_t v)
{
	varint(s, (uint64_t)number << 3 | WIRE_VARINT);
	varint(s, v);
}

static void bytes(struct str *s, int number, const char *text, size_t n)
{
	varint(s, (uint64_t)number << 3 | WIRE_BYTES);
	varint(s, n);
	str_addn(s, text, n);
}

/* A message behind its length. */
static void put(struct str *out, const struct str *message)
{
	varint(out, message->len);
	str_addn(out, str_c(message), message->len);
	out->failed |= message->failed;
}

static void attr(struct str *node, const char *name, int kind, uint64_t v)
{
	struct str a = STR_INIT;

	bytes(&a, ATTR_NAME, name, strlen(name));
	field(&a, kind, v);
	bytes(node, NODE_ATTR, str_c(&a), a.len);
	node->failed |= a.failed;
	str_free(&a);
}

static void attr_text(struct str *node, const char *name, const char *text)
{
	struct str a = STR_INIT;

	bytes(&a, ATTR_NAME, name, strlen(name));
	bytes(&a, ATTR_STRING, text, strlen(text));
	bytes(node, NODE_ATTR, str_c(&a), a.len);
	node->failed |= a.failed;
	str_free(&a);
}

/* --- nodes -------------------------------------------------------------------------------------------------------------- */

struct writer {
	const struct chakra *x;
	struct str *out;
	uint32_t chip, stage;
	uint64_t id; /* of the next node */
	ps_t at;     /* of what was written, its end */
};

static void begin(struct writer *w, struct str *node, const char *name, int type)
{
	field(node, NODE_ID, w->id);
	bytes(node, NODE_NAME, name, strlen(name));
	field(node, NODE_TYPE, (uint64_t)type);
	if (w->id)
		field(node, NODE_DATA_DEPS, w->id - 1);
	attr(node, "is_cpu_op", ATTR_BOOL, 0);
	w->id++;
}

static void end(struct writer *w, struct str *node)
{
	put(w->out, node);
	str_free(node);
}

static uint64_t us(ps_t t)
{
	return (t + PS_US / 2) / PS_US;
}

static void put_compute(struct writer *w, const struct op *o, const struct run_op *r)
{
	struct str node = STR_INIT;
	const ps_t until = w->at + r->span_ps;

	begin(w, &node, o->name, TYPE_COMP);
	field(&node, NODE_DURATION, us(until) - us(w->at));
	attr(&node, "num_ops", ATTR_INT64, r->flops);
	attr(&node, "tensor_size", ATTR_UINT64, r->dram_bytes);
	w->at = until;
	end(w, &node);
}

/* CollectiveCommType by the name of the op's function. */
static uint64_t kind_of(const char *fn, bool *parts)
{
	static const struct {
		const char *fn;
		uint64_t type;
		bool parts;
	} all[] = { { "all_reduce", 0, false },
		    { "all_gather", 2, true },
		    { "broadcast", 5, false },
		    { "all_to_all", 6, false },
		    { "reduce_scatter", 7, true } };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(fn, all[i].fn) == 0) {
			*parts = all[i].parts;
			return all[i].type;
		}
	*parts = false;
	return 6;
}

/* Of chips that share a layer, or of all of a stage. */
static uint32_t group_of(const struct writer *w, uint32_t peers)
{
	const struct build_split *s = &w->x->split;

	return peers == s->tp ? w->chip / s->tp : s->pp * s->dp + w->stage;
}

static void put_collective(struct writer *w, const struct op *o)
{
	struct str node = STR_INIT;
	char group[16];
	bool parts;
	const uint64_t type = kind_of(o->fn, &parts), all = dtype_bytes(o->dtype, o->shape.elems);

	begin(w, &node, o->name, TYPE_COLL);
	attr(&node, "comm_type", ATTR_INT64, type);
	attr(&node, "comm_size", ATTR_INT64, parts ? div_up(all, o->shape.peers) : all);
	snprintf(group, sizeof group, "%u", group_of(w, o->shape.peers));
	attr_text(&node, "pg_name", group);
	end(w, &node);
}

/* `from` and `to` are stages; a message of a micro-batch has a tag of its own. */
static void put_message(struct writer *w, int type, uint64_t size, uint32_t from, uint32_t to, uint32_t micro)
{
	const uint32_t chips = w->x->split.tp * w->x->split.dp, place = w->chip % chips;
	struct str node = STR_INIT;

	begin(w, &node, type == TYPE_SEND ? "send" : "receive", type);
	attr(&node, "comm_size", ATTR_INT64, size);
	attr(&node, "comm_src", ATTR_INT32, from * chips + place);
	attr(&node, "comm_dst", ATTR_INT32, to * chips + place);
	attr(&node, "comm_tag", ATTR_INT32, micro);
	end(w, &node);
}

/* --- files -------------------------------------------------------------------------------------------------------------- */

static const struct op_stream *stream_of(const struct chakra *x, uint32_t stage)
{
	return x->s->stages ? x->s->stages[x->s->kinds[stage]].stream : x->s;
}

/* What a stage sends, 0: nothing. */
static uint64_t sends(const struct op_stream *s)
{
	for (size_t i = 0; i < s->n_ops; i++)
		if (s->ops[i].kind == OP_COLLECTIVE && strcmp(s->ops[i].fn, "send") == 0)
			return dtype_bytes(s->ops[i].dtype, s->ops[i].shape.elems);
	return 0;
}

static void put_pass(struct writer *w, const struct op_stream *s, const struct run_result *r, uint32_t micro)
{
	const uint32_t pp = w->x->split.pp;

	if (w->stage)
		put_message(w, TYPE_RECV, sends(stream_of(w->x, w->stage - 1)), w->stage - 1, w->stage, micro);
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *o = &s->ops[i];

		if (o->kind != OP_COLLECTIVE)
			put_compute(w, o, &r->ops[i]);
		else if (strcmp(o->fn, "send") == 0)
			put_message(w, TYPE_SEND, sends(s), w->stage, (w->stage + 1) % pp, micro);
		else
			put_collective(w, o);
	}
}

uint32_t chakra_chips(const struct chakra *x)
{
	return (uint32_t)build_split_chips(&x->split);
}

void chakra_chip(const struct chakra *x, uint32_t chip, struct str *out)
{
	struct writer w = { .x = x, .out = out, .chip = chip, .stage = chip / (x->split.tp * x->split.dp) };
	const struct op_stream *s = stream_of(x, w.stage);
	const struct run_result *r = &x->of[x->s->stages ? x->s->kinds[w.stage] : 0];
	struct str meta = STR_INIT;

	bytes(&meta, META_VERSION, "0.0.4", 5);
	end(&w, &meta);
	for (uint32_t m = 0; m < x->split.micro; m++)
		put_pass(&w, s, r, m);
	/* Tokens of a decode step come back to the first stage. */
	for (uint32_t m = 0; m < x->split.micro && x->s->turns && !w.stage && x->split.pp > 1; m++)
		put_message(&w, TYPE_RECV, sends(stream_of(x, x->split.pp - 1)), x->split.pp - 1, 0, m);
}

static void group(struct str *out, uint32_t id, uint32_t from, uint32_t n)
{
	str_addf(out, "%s\"%u\": [", id ? ", " : "", id);
	for (uint32_t i = 0; i < n; i++)
		str_addf(out, "%s%u", i ? ", " : "", from + i);
	str_addc(out, ']');
}

void chakra_groups(const struct chakra *x, struct str *out)
{
	const struct build_split *s = &x->split;

	str_addc(out, '{');
	for (uint32_t i = 0; i < s->pp * s->dp; i++)
		group(out, i, i * s->tp, s->tp);
	for (uint32_t i = 0; i < s->pp; i++)
		group(out, s->pp * s->dp + i, i * s->tp * s->dp, s->tp * s->dp);
	str_add(out, "}\n");
}
