/* nvtx_op.c - name, numbers and sizes out of a range's text. */
#include "traces/read/nvtx_op.h"

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

/* "[[4, 8], [], [8, 16]]" */
static void read_sizes(struct kargs *k, const char *p)
{
	int depth = 0;

	kargs_begin(k, KARGS_DIMS);
	do {
		size_t n = strspn(p, "-0123456789");

		if (n > 0) {
			kargs_number(k, p, n);
			p += n - 1;
		} else if (*p == '[') {
			kargs_open(k);
			depth++;
		} else if (*p == ']') {
			kargs_close(k);
			depth--;
		} else if (*p != ' ' && *p != ',') {
			return; /* cut, or of another form: what was read stands */
		}
		p++;
	} while (depth > 0 && depth < 16);
}

bool nvtx_is_op(const char *text)
{
	const char *id = strstr(text, ", op_id = ");

	return id && id != text && *text != ',';
}

int nvtx_put_op(struct nvtx_op *n, struct tracedb *db, const struct trace_range *r, struct err *e)
{
	struct trace_arg args[TRACE_MAX_ARGS];
	const char *text = r->name, *sizes = strstr(text, ", sizes = [");
	struct trace_op o = { .start_ns = r->start_ns,
		              .dur_ns = r->dur_ns,
		              .thread = r->thread,
		              .sequence = number_behind(text, ", seq = ", -1),
		              .args = args };
	uint32_t dropped = 0;

	str_clear(&n->name);
	str_addn(&n->name, text, (size_t)(strstr(text, ", ") - text));
	kargs_clear(&n->args);
	if (sizes)
		read_sizes(&n->args, sizes + 10);
	o.n_args = kargs_build(&n->args, args, &dropped);
	if (n->name.failed || n->args.text.failed)
		return err_nomem(e, NULL);
	while (dropped-- > 0)
		tracedb_drop_arg(db);
	o.name = str_c(&n->name);
	return tracedb_put_op(db, &o, 0, e);
}

void nvtx_op_free(struct nvtx_op *n)
{
	str_free(&n->name);
	kargs_free(&n->args);
}
