/* kineto_args.c - collects cells while the JSON goes by, and joins them by position at the event's end. */
#include "traces/read/kineto_args.h"

#include <string.h>

#include "traces/text/decimal.h"

#define IS_SHAPE(col) ((col) == KARGS_DIMS || (col) == KARGS_STRIDES)

void kargs_clear(struct kargs *k)
{
	memset(k->n, 0, sizeof k->n);
	memset(k->n_seen, 0, sizeof k->n_seen);
	str_clear(&k->text);
	str_addc(&k->text, '\0'); /* offset 0 is the empty text */
}

void kargs_free(struct kargs *k)
{
	str_free(&k->text);
}

void kargs_begin(struct kargs *k, enum kargs_col col)
{
	k->col = col;
	k->n[col] = k->n_seen[col] = 0; /* of a key that comes twice the last stands */
	k->depth = 0;
	k->pos = k->list = -1;
	k->lost = false;
}

static struct kargs_shape *current(struct kargs *k)
{
	return k->lost || k->n[k->col] == 0 ? NULL : &k->shapes[k->col][k->n[k->col] - 1];
}

static void add_shape(struct kargs *k)
{
	struct kargs_shape *s;

	k->n_seen[k->col]++;
	k->lost = k->n[k->col] == KARGS_CELLS;
	if (k->lost)
		return;
	s = &k->shapes[k->col][k->n[k->col]++];
	s->pos = k->pos;
	s->list = k->list;
	s->ndims = 0;
	s->bad = false;
}

/* One element at the current depth begins: count positions and list members. */
static void kineto_args_step(struct kargs *k)
{
	if (k->depth == 1)
		k->pos++, k->list = -1;
	else if (k->depth == 2)
		k->list++;
}

void kargs_open(struct kargs *k)
{
	struct kargs_shape *s;
	bool first;

	if (k->depth > 0 && !(IS_SHAPE(k->col) && k->depth >= 3))
		kineto_args_step(k);
	k->depth++;
	if (!IS_SHAPE(k->col))
		return;
	if (k->depth == 2) {
		add_shape(k);
	} else if (k->depth == 3) {
		/* What began as a shape is a list: its own cell becomes the first member's. */
		first = k->list == 0;
		if (!first)
			add_shape(k);
		else if ((s = current(k)))
			s->list = 0, s->bad |= s->ndims > 0;
	} else if (k->depth > 3 && (s = current(k))) {
		s->bad = true; /* lists of lists */
	}
}

void kargs_close(struct kargs *k)
{
	k->depth--;
}

void kargs_number(struct kargs *k, const char *text, size_t n)
{
	struct kargs_shape *s;
	int64_t v;

	if (!IS_SHAPE(k->col)) {
		kargs_string(k, text, n); /* some exporters write scalars as numbers */
		return;
	}
	if (k->depth < 2) {
		kineto_args_step(k);
		return;
	}
	if (!(s = current(k)))
		return;
	if (s->ndims == TRACE_MAX_DIMS || decimal_scaled(text, n, 0, &v) < 0 || (k->depth == 2 && s->list >= 0))
		s->bad = true;
	else
		s->d[s->ndims++] = v;
}

void kargs_string(struct kargs *k, const char *text, size_t n)
{
	struct kargs_word *w;
	struct kargs_shape *s;

	if (IS_SHAPE(k->col)) { /* a symbolic size */
		if (k->depth >= 2 && (s = current(k)))
			s->bad = true;
		else if (k->depth == 1)
			kineto_args_step(k);
		return;
	}
	kineto_args_step(k);
	k->n_seen[k->col]++;
	if (k->depth > 2 || k->n[k->col] == KARGS_CELLS)
		return;
	w = &k->words[k->col - KARGS_TYPES][k->n[k->col]++];
	w->pos = k->pos;
	w->list = k->list;
	w->at = 0;
	if (n) {
		w->at = k->text.len;
		for (const char *nul; (nul = memchr(text, '\0', n)); text = nul + 1) {
			str_addn(&k->text, text, (size_t)(nul - text));
			str_addn(&k->text, "\xef\xbf\xbd", 3); /* what "\u0000" becomes */
			n -= (size_t)(nul - text) + 1;
		}
		str_addn(&k->text, text, n);
		str_addc(&k->text, '\0');
	}
}

void kargs_other(struct kargs *k)
{
	struct kargs_shape *s;

	if (!IS_SHAPE(k->col))
		kargs_string(k, "", 0);
	else if (k->depth == 1)
		kineto_args_step(k);
	else if ((s = current(k)))
		s->bad = true;
}

/* --- joining --------------------------------------------------------------------------------------------------- */

/* The text at a position; a list's members share one unless each has its own. */
static const char *word_at(const struct kargs *k, enum kargs_col col, int32_t pos, int32_t list)
{
	const struct kargs_word *v = k->words[col - KARGS_TYPES], *shared = NULL;

	for (uint32_t i = 0; i < k->n[col] && v[i].pos <= pos; i++) {
		if (v[i].pos == pos && v[i].list == list)
			return k->text.p + v[i].at;
		if (v[i].pos == pos && v[i].list == -1)
			shared = &v[i];
	}
	return shared ? k->text.p + shared->at : "";
}

static const struct kargs_shape *shape_at(const struct kargs *k, enum kargs_col col, int32_t pos, int32_t list)
{
	for (uint32_t i = 0; i < k->n[col] && k->shapes[col][i].pos <= pos; i++)
		if (k->shapes[col][i].pos == pos && k->shapes[col][i].list == list)
			return &k->shapes[col][i];
	return NULL;
}

/* PyTorch writes [] for the shape of a scalar and of a tensor without dimensions; the type tells them apart: C++
 * names of element types begin with a small letter, what is no tensor ("Scalar", "ScalarList", "TensorList") does
 * not. */
static bool is_dtype(const char *type)
{
	return *type != '\0' && !(*type >= 'A' && *type <= 'Z') && !str_prefix(type, "nullptr");
}

static void kineto_args_build(const struct kargs *k, int32_t pos, const struct kargs_shape *s, struct trace_arg *out)
{
	const struct kargs_shape *strides;

	out->pos = pos;
	out->list = s ? s->list : -1;
	out->dtype = word_at(k, KARGS_TYPES, pos, out->list);
	out->scalar = word_at(k, KARGS_SCALARS, pos, out->list);
	out->ndims = -1;
	memset(out->dims, 0, sizeof out->dims);
	memset(out->strides, 0, sizeof out->strides);
	if (!s || s->bad || (s->ndims == 0 && s->list < 0 && !is_dtype(out->dtype)))
		return;
	out->ndims = s->ndims;
	memcpy(out->dims, s->d, (size_t)s->ndims * sizeof *s->d);
	strides = shape_at(k, KARGS_STRIDES, pos, s->list);
	if (strides && !strides->bad && strides->ndims == s->ndims)
		memcpy(out->strides, strides->d, (size_t)s->ndims * sizeof *s->d);
}

uint32_t kargs_build(struct kargs *k, struct trace_arg *out, uint32_t *dropped)
{
	const struct kargs_shape *dims = k->shapes[KARGS_DIMS];
	uint32_t n = 0, d = 0, w = 0, wanted = k->n_seen[KARGS_DIMS];

	*dropped = 0;
	if (k->n[KARGS_DIMS] == 0 && k->n[KARGS_TYPES] == 0)
		return 0;
	if (wanted < k->n_seen[KARGS_TYPES])
		wanted = k->n_seen[KARGS_TYPES];
	while (n < TRACE_MAX_ARGS) {
		const struct kargs_word *type = w < k->n[KARGS_TYPES] ? &k->words[0][w] : NULL;
		const struct kargs_shape *s = d < k->n[KARGS_DIMS] ? &dims[d] : NULL;

		if (!s && !type)
			break;
		if (s && (!type || s->pos <= type->pos)) {
			*dropped += s->bad;
			if (type && type->pos == s->pos && (d + 1 == k->n[KARGS_DIMS] || dims[d + 1].pos != s->pos))
				while (w < k->n[KARGS_TYPES] && k->words[0][w].pos == s->pos)
					w++;
			kineto_args_build(k, s->pos, s, &out[n++]);
			d++;
		} else {
			kineto_args_build(k, type->pos, NULL, &out[n++]); /* a type without a shape */
			w++;
		}
	}
	if (wanted > n)
		*dropped += wanted - n;
	return n;
}
