/* nvtx_op.c - name, numbers, sizes and what else there is out of a range's text. */
#include "traces/read/nvtx_op.h"

#include <stdlib.h>
#include <string.h>

/* The number behind `word` in text; `none` without. */
static int64_t number_behind(const char *text, const char *word, int64_t none)
{
	const char *p = strstr(text, word);
	int64_t v = 0;

	if (!p || p[strlen(word)] < '0' || p[strlen(word)] > '9')
		return none;
	for (p += strlen(word); *p >= '0' && *p <= '9'; p++)
		v = v < INT64_MAX / 16 ? v * 10 + (*p - '0') : v;
	return v;
}

/* A text up to its other quote; where that is, or the text's end. */
static const char *read_text(struct kargs *k, const char *p)
{
	const size_t n = strcspn(p + 1, "\"");

	kargs_string(k, p + 1, n);
	return p + 1 + n;
}

/* "[[4, 8], [], [8, 16]]", "["float", ["int", ""]]": a column at `p`; what is behind it. */
static const char *read_column(struct kargs *k, enum kargs_col col, const char *p)
{
	int depth = 0;

	kargs_begin(k, col);
	do {
		const size_t n = strspn(p, "-0123456789");

		if (n > 0) {
			kargs_number(k, p, n);
			p += n - 1;
		} else if (*p == '"') {
			if (!*(p = read_text(k, p)))
				return p;
		} else if (*p == '[') {
			kargs_open(k);
			depth++;
		} else if (*p == ']') {
			kargs_close(k);
			depth--;
		} else if (*p != ' ' && *p != ',') {
			return p; /* cut, or of another form: what was read stands */
		}
		p++;
	} while (depth > 0 && depth < 16);
	return p;
}

/* The columns behind each other from `p` on; false: sizes alone. */
static bool read_columns(struct kargs *k, const char *p)
{
	static const struct {
		const char *head;
		enum kargs_col col;
	} more[] = { { ", types = ", KARGS_TYPES },
		     { ", strides = ", KARGS_STRIDES },
		     { ", values = ", KARGS_SCALARS } };
	bool any = false;

	p = read_column(k, KARGS_DIMS, p);
	for (size_t i = 0; i < sizeof more / sizeof *more; i++)
		if (str_prefix(p, more[i].head) && p[strlen(more[i].head)] == '[') {
			p = read_column(k, more[i].col, p + strlen(more[i].head));
			any = true;
		}
	return any;
}

/* --- views --------------------------------------------------------------------------------------------------------- */

static const struct nvtx_view *view_of(const struct nvtx_op *n, int64_t op)
{
	const struct nvtx_view *v = n->views && op > 0 ? &n->views[(uint64_t)op % NVTX_VIEWS] : NULL;

	return v && v->op == op ? v : NULL;
}

/* "(344,0), (0,-1)]": the op that made each argument, 0 nobody. */
static void tell_strides(const struct nvtx_op *n, const char *p, struct trace_arg *args, uint32_t n_args)
{
	for (uint32_t i = 0; i < n_args && (p = strchr(p, '(')); i++) {
		if (args[i].ndims > 0)
			nvtx_view_strides(view_of(n, number_behind(p, "(", 0)), &args[i]);
		p++;
	}
}

static int keep_view(struct nvtx_op *n, int64_t op, const struct trace_op *o, struct err *e)
{
	const enum nvtx_view_kind kind = nvtx_view_kind(o->name);
	struct nvtx_view *v;

	if (kind == NVTX_NO_VIEW || op <= 0 || !o->n_args || o->args[0].ndims < 0)
		return 0;
	if (!n->views && !(n->views = calloc(NVTX_VIEWS, sizeof *n->views)))
		return err_nomem(e, NULL);
	v = &n->views[(uint64_t)op % NVTX_VIEWS];
	*v = (struct nvtx_view){ .op = op, .kind = kind, .ndims = o->args[0].ndims };
	memcpy(v->dims, o->args[0].dims, sizeof v->dims);
	memcpy(v->strides, o->args[0].strides, sizeof v->strides);
	return 0;
}

/* --- ops ----------------------------------------------------------------------------------------------------------- */

bool nvtx_is_op(const char *text)
{
	const char *id = strstr(text, ", op_id = ");

	return id && id != text && *text != ',';
}

int nvtx_put_op(struct nvtx_op *n, struct tracedb *db, const struct trace_range *r, struct err *e)
{
	struct trace_arg args[TRACE_MAX_ARGS];
	const char *text = r->name, *sizes = strstr(text, ", sizes = ["), *made = strstr(text, ", input_op_ids = [");
	struct trace_op o = { .start_ns = r->start_ns,
		              .dur_ns = r->dur_ns,
		              .thread = r->thread,
		              .sequence = number_behind(text, ", seq = ", -1),
		              .args = args };
	uint32_t dropped = 0;
	bool all = false; /* more than sizes */

	str_clear(&n->name);
	str_addn(&n->name, text, (size_t)(strstr(text, ", ") - text));
	kargs_clear(&n->args);
	if (sizes)
		all = read_columns(&n->args, sizes + strlen(", sizes = "));
	o.n_args = kargs_build(&n->args, args, &dropped);
	if (made && !all)
		tell_strides(n, made, args, o.n_args);
	if (n->name.failed || n->args.text.failed)
		return err_nomem(e, NULL);
	while (dropped-- > 0)
		tracedb_drop_arg(db);
	o.name = str_c(&n->name);
	if (keep_view(n, number_behind(text, ", op_id = ", 0), &o, e) < 0)
		return -1;
	return tracedb_put_op(db, &o, 0, e);
}

void nvtx_op_free(struct nvtx_op *n)
{
	str_free(&n->name);
	kargs_free(&n->args);
	free(n->views);
}
