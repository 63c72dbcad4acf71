/* program_int.h - the fields of a program's lines; for sim/program only. */
#ifndef NPUSIM_SIM_PROGRAM_PROGRAM_INT_H
#define NPUSIM_SIM_PROGRAM_PROGRAM_INT_H

#include "sim/program/program.h"

#define NONE UINT32_MAX

/* An op, and what the mapper says its part of a fused command is. */
struct program_op {
	struct op op;
	uint64_t share;
};

enum program_type {
	PROGRAM_U32,
	PROGRAM_I32, /* "none" is -1 */
	PROGRAM_U64,
	PROGRAM_FLAG,
	PROGRAM_NAME8, /* of a list of names: in a byte, in an enum */
	PROGRAM_NAME,
	PROGRAM_TEXT,
	PROGRAM_LOOPS, /* a bit a loop: "13" is the first and the third */
	PROGRAM_TIMES, /* three u32 with x between */
	PROGRAM_SHAPE  /* three u64 with x between */
};
enum program_unit { PROGRAM_PLAIN, PROGRAM_BYTES, PROGRAM_PS };

struct program_names {
	unsigned n;
	const char *(*name)(unsigned);
	const char *what; /* one of them is */
};

struct program_field {
	const char *key; /* NULL ends a table */
	enum program_type type;
	size_t at;
	const struct program_names *names;
	enum program_unit unit;
};

extern const struct program_names program_codes, program_units, program_kinds;
extern const struct program_field program_route_fields[], program_tensor_fields[], program_op_fields[],
	program_operand_fields[], program_command_fields[], program_insn_fields[], program_remainder_fields[];

/* A word of a line. */
struct program_word {
	const char *key;  /* of key=value; NULL: a bare one */
	const char *text; /* the value, unquoted */
	int col;
	bool quoted;
};

#define PROGRAM_WORDS 128

struct program_words {
	struct program_word w[PROGRAM_WORDS];
	int n;
	const char *why; /* it could not be taken apart, and where */
	int col;
};

/* program_words.c: in place. */
int program_split(struct program_words *r, char *line);

/* -1: no such key in the table; else the field's index. */
int program_field_of(const struct program_field *table, const char *key);
const char *program_field_near(const struct program_field *table, const char *key);
/* Sets the field from text; NULL, or what is wrong with it. */
const char *program_field_set(const struct program_field *f, void *obj, const char *text);
void program_field_copy(const struct program_field *f, void *to, const void *from);
/* Writes what of `obj` is not as in `base`. */
void program_fields_write(const struct program_field *table, const void *obj, const void *base, struct str *out);
void program_text_write(const char *text, struct str *out);
/* Of a list, or -1. */
int program_name_find(const struct program_names *l, const char *text);
const char *program_name_near(const struct program_names *l, const char *text);

/* --- defaults: what stands where a field is not given --------------------------------------------------------------- */

struct op_tensor program_tensor_base(void);
struct program_op program_op_base(const struct program_op *x);
struct op_operand program_operand_base(const struct op_operand *x, const struct op_tensor *t);
struct isa_cmd program_command_base(const struct isa_cmd *before);
/* Of a command whose first op is `first`; `o` is the one it works for, `t` the tensor of a move. */
struct isa_insn program_insn_base(const struct isa_insn *x, const struct isa_cmd *c, uint32_t first, const struct op *o,
                                  const struct op_tensor *t);

/* A growing table in the arena. */
struct program_table {
	void *v;
	size_t n, cap;
};

/* A program while it is read. */
struct program_reader {
	const char *file;
	struct arena *a;
	struct err *e;
	int line;
	bool begun;
	struct program_table routes, tensors, ops, operands, op_deps, cmds, insns, edges, deps, members;
	struct program_table edges_given; /* of each table of edges, a bit each */
	struct program_table placed;      /* by tensor, a bool: its address is given */
	struct program_table tensor_line, op_line, cmd_line, insn_line;
	uint32_t *names; /* tensors by name: open addressing, index + 1 */
	size_t n_names;
	bool implied; /* a command's op is its own */
	struct program_words words;
};

static inline struct op_tensor *program_tensors(const struct program_reader *r)
{
	return r->tensors.v;
}

/* program_read.c */
int program_fault(struct program_reader *r, int col, const char *fmt, ...) ERR_FMT(3, 4);
/* The words from `from` on, but for `after` and `ops`, which are left in *after and *ops where the line may have them. */
int program_read_fields(struct program_reader *r, int from, const struct program_field *table, void *obj,
                        uint64_t *given, const struct program_word **after, const struct program_word **ops);
/* program_remainder.c: tiles of a nest that are smaller. */
int program_read_edge(struct program_reader *r);
void program_write_edges(const struct isa_prog *p, const struct isa_insn *i, struct str *out);
/* NULL, or what of them cannot be: for a text that has room for a number and the names of loops. */
const char *program_remainders_fault(const struct isa_prog *p, const struct isa_cmd *c, const struct isa_insn *i,
                                     uint32_t given, char *text, size_t n);
struct isa_remainder program_remainder_most(const struct isa_prog *p,
                                            const struct isa_insn *i); /* of math, in any tile */

/* program_make.c */
int program_no_memory(struct program_reader *r);
void *program_push(struct program_reader *r, struct program_table *t, size_t size); /* zeroed; NULL: no memory */
int program_make(struct program_reader *r, const struct machine_cfg *c, const char *text, size_t n,
                 struct program *out);

/* program_check.c: where each thing was read, so that a fault has a line. */
struct program_lines {
	const char *file;
	uint32_t *tensor, *op, *cmd, *insn;
	uint32_t *edges_given; /* no line */
};
int program_check(const struct op_stream *s, const struct isa_prog *p, const struct machine_cfg *c,
                  const struct program_lines *l, struct arena *a, struct err *e);

/* program_least.c: of what was checked and is a program now, whether it does what its ops ask for, and no sooner than units
 * can. */
struct program_whole {
	const struct op_stream *s;
	const struct map_result *map;
	const struct machine_cfg *c;
	const struct program_lines *l;
	bool implied; /* it has no ops of its own */
};
int program_least(const struct program_whole *w, struct arena *a, struct err *e);

#endif
