#include "validate/tests/systolic.h"

#include <stdlib.h>

#include "validate/tests/test.h"

#define FOLDS 256 /* at once on their way: more than rows, columns and what waits */
#define SKEW  256 /* cycles that an input is remembered: more than rows or columns */
#define NONE  UINT32_MAX

struct fold {
	struct systolic_job *job;
	uint32_t row, rows, col, cols; /* of what is held */
	uint32_t stream;               /* vectors that pass */
	uint64_t outs_left;
	uint64_t began;
};

/* What enters the array in a cycle, before its skew. */
struct input {
	uint32_t fold, index; /* NONE: nothing */
};

struct moving {
	struct input id;
	int32_t value;
};

struct element {
	struct moving left;  /* on its way to the right */
	struct moving above; /* on its way down: a weight for row id.index; os: the other operand */
	int32_t held[2];     /* what it works with, what it will */
	int64_t sum;         /* ws, is: on its way down; os: stays */
	uint32_t out_fold;   /* os: a finished sum on its way down; NONE: none */
	uint32_t out_row;
	int64_t out;
};

struct systolic {
	struct systolic_cfg cfg;
	struct element *pe;
	struct fold fold[FOLDS];
	uint32_t begun, ended; /* folds cut off, folds all out */
	uint32_t streaming, at;
	uint32_t loading, loaded_rows, armed;
	uint32_t *released; /* by column: the last fold whose sums may leave */
	struct input side[SKEW], top[SKEW];
	struct systolic_job *first, *last; /* not all folds cut off */
	uint64_t now;
};

struct systolic *systolic_new(const struct systolic_cfg *c)
{
	struct systolic *s = calloc(1, sizeof *s);

	if (!s || c->rows + c->cols >= SKEW)
		goto fail;
	s->cfg = *c;
	s->pe = calloc((size_t)c->rows * c->cols, sizeof *s->pe);
	s->released = calloc(c->cols, sizeof *s->released);
	if (!s->pe || !s->released)
		goto fail;
	s->streaming = s->loading = s->armed = NONE;
	for (uint32_t i = 0; i < c->rows * c->cols; i++)
		s->pe[i].left.id.fold = s->pe[i].above.id.fold = s->pe[i].out_fold = NONE;
	for (uint32_t i = 0; i < SKEW; i++)
		s->side[i].fold = s->top[i].fold = NONE;
	return s;
fail:
	systolic_free(s);
	return NULL;
}

void systolic_free(struct systolic *s)
{
	if (!s)
		return;
	free(s->pe);
	free(s->released);
	free(s);
}

/* --- a product in folds --------------------------------------------------------------------------------------- */

static uint32_t along_rows(const struct systolic *s, const struct systolic_job *j)
{
	return s->cfg.flow == SYSTOLIC_OS ? j->m : j->k;
}

static uint32_t along_cols(const struct systolic *s, const struct systolic_job *j)
{
	return s->cfg.flow == SYSTOLIC_IS ? j->m : j->n;
}

static uint32_t part(uint32_t all, uint32_t most)
{
	const uint32_t parts = (all + most - 1) / most;

	return (all + parts - 1) / parts;
}

static uint32_t rest(uint32_t all, uint32_t from, uint32_t most)
{
	const uint32_t n = part(all, most);

	return all - from < n ? all - from : n;
}

/* With one buffer the array is always taken whole. */
static uint32_t taken(const struct systolic *s, uint32_t used, uint32_t all)
{
	return s->cfg.buffers == 1 ? all : used;
}

void systolic_push(struct systolic *s, struct systolic_job *j)
{
	CHECK(j->m && j->n && j->k);
	j->next_row = j->next_col = 0;
	j->next = NULL;
	j->outs_left = 1; /* its last fold takes it away */
	if (s->first)
		s->last->next = j;
	else
		s->first = j;
	s->last = j;
}

/* Cuts the next fold off the first product; NONE: there is none. */
static uint32_t cut_fold(struct systolic *s)
{
	struct systolic_job *j = s->first;
	struct fold *f = &s->fold[s->begun % FOLDS];

	if (!j)
		return NONE;
	CHECK(s->begun - s->ended < FOLDS);
	*f = (struct fold){ .job = j, .row = j->next_row, .col = j->next_col };
	f->rows = rest(along_rows(s, j), f->row, s->cfg.rows);
	f->cols = rest(along_cols(s, j), f->col, s->cfg.cols);
	f->stream = s->cfg.flow == SYSTOLIC_OS ? j->k : s->cfg.flow == SYSTOLIC_IS ? j->n : j->m;
	f->outs_left = (uint64_t)taken(s, f->cols, s->cfg.cols) *
	               (s->cfg.flow == SYSTOLIC_OS ? taken(s, f->rows, s->cfg.rows) : f->stream);
	j->outs_left++;
	j->next_row += f->rows;
	if (j->next_row == along_rows(s, j)) {
		j->next_row = 0;
		j->next_col += f->cols;
	}
	if (j->next_col == along_cols(s, j)) {
		j->outs_left--;
		s->first = j->next;
	}
	return s->begun++;
}

/* Value r of vector t, as it enters at the left. */
static int32_t from_left(const struct systolic *s, const struct fold *f, uint32_t t, uint32_t r)
{
	const struct systolic_job *j = f->job;

	if (r >= f->rows)
		return 0;
	switch (s->cfg.flow) {
	case SYSTOLIC_OS:
		return j->a[(size_t)(f->row + r) * j->a_stride + t];
	case SYSTOLIC_IS:
		return j->b[(size_t)t * j->b_stride + f->row + r];
	case SYSTOLIC_WS:
		break;
	}
	return j->a[(size_t)t * j->a_stride + f->row + r];
}

/* Of column c: os: term t of the sums; else what row t holds. */
static int32_t from_above(const struct systolic *s, const struct fold *f, uint32_t t, uint32_t c)
{
	const struct systolic_job *j = f->job;

	if (c >= f->cols || (s->cfg.flow != SYSTOLIC_OS && t >= f->rows))
		return 0;
	switch (s->cfg.flow) {
	case SYSTOLIC_OS:
		return j->b[(size_t)(f->col + c) * j->b_stride + t];
	case SYSTOLIC_IS:
		return j->a[(size_t)(f->col + c) * j->a_stride + f->row + t];
	case SYSTOLIC_WS:
		break;
	}
	return j->b[(size_t)(f->col + c) * j->b_stride + f->row + t];
}

/* A sum leaves the array: of vector t and column c; os: of row t. */
static void leave(struct systolic *s, uint32_t fold, uint32_t t, uint32_t c, int64_t sum)
{
	struct fold *f = &s->fold[fold % FOLDS];
	struct systolic_job *j = f->job;

	if (c >= taken(s, f->cols, s->cfg.cols))
		return;
	if (c < f->cols && (s->cfg.flow != SYSTOLIC_OS || t < f->rows)) {
		const uint32_t i = s->cfg.flow == SYSTOLIC_OS   ? f->row + t
		                   : s->cfg.flow == SYSTOLIC_IS ? f->col + c
		                                                : t,
			       k = s->cfg.flow == SYSTOLIC_IS ? t : f->col + c;

		j->c[(size_t)i * j->c_stride + k] += sum;
	}
	if (--f->outs_left == 0)
		j->outs_left--;
	while (s->ended != s->begun && s->fold[s->ended % FOLDS].outs_left == 0)
		s->ended++; /* a narrow one may be out before a wide one that came first */
}

/* --- what enters ---------------------------------------------------------------------------------------------- */

static struct input nothing(void)
{
	return (struct input){ NONE, 0 };
}

/* The next vector, or nothing. ws, is: a fold's first may follow the last of the fold before once what it holds is on its
 * way; os: its sums must not be finished before those of the fold before have left their places. */
static struct input next_vector(struct systolic *s)
{
	const struct fold *f;

	if (s->streaming != NONE && s->at < s->fold[s->streaming % FOLDS].stream)
		return (struct input){ s->streaming, s->at++ };
	if (s->armed == NONE)
		return nothing();
	f = &s->fold[s->armed % FOLDS];
	if (s->cfg.flow == SYSTOLIC_OS && s->armed != s->ended) {
		const struct fold *before = &s->fold[(s->armed - 1) % FOLDS];

		if (s->cfg.buffers == 1 || s->now + f->stream < before->began + before->rows + before->stream)
			return nothing();
	}
	s->streaming = s->armed;
	s->armed = NONE;
	s->fold[s->streaming % FOLDS].began = s->now;
	s->at = 1;
	return (struct input){ s->streaming, 0 };
}

/* The next row to be held, the last first, or nothing. */
static struct input next_row(struct systolic *s)
{
	const struct fold *f;
	struct input in;

	if (s->loading == NONE) {
		if (s->armed != NONE || (s->cfg.buffers == 1 && s->begun != s->ended))
			return nothing();
		s->loading = cut_fold(s);
		s->loaded_rows = 0;
		if (s->loading == NONE)
			return nothing();
	}
	f = &s->fold[s->loading % FOLDS];
	in = (struct input){ s->loading, taken(s, f->rows, s->cfg.rows) - 1 - s->loaded_rows++ };
	if (in.index == 0) {
		s->armed = s->loading;
		s->loading = NONE;
	}
	return in;
}

static void enter(struct systolic *s)
{
	struct input *side = &s->side[s->now % SKEW], *top = &s->top[s->now % SKEW];

	if (s->cfg.flow != SYSTOLIC_OS) {
		*side = next_vector(s);
		*top = next_row(s);
		return;
	}
	if (s->armed == NONE)
		s->armed = cut_fold(s);
	*side = *top = next_vector(s);
}

/* --- one element ---------------------------------------------------------------------------------------------- */

static struct element *at(struct systolic *s, uint32_t i, uint32_t j)
{
	return &s->pe[(size_t)i * s->cfg.cols + j];
}

static struct moving left_of(struct systolic *s, uint32_t i, uint32_t j)
{
	struct moving x = { nothing(), 0 };

	if (j > 0)
		return at(s, i, j - 1)->left;
	if (s->now >= i)
		x.id = s->side[(s->now - i) % SKEW];
	if (x.id.fold != NONE)
		x.value = from_left(s, &s->fold[x.id.fold % FOLDS], x.id.index, i);
	return x;
}

static struct moving above_of(struct systolic *s, uint32_t i, uint32_t j)
{
	struct moving x = { nothing(), 0 };

	if (i > 0)
		return at(s, i - 1, j)->above;
	if (s->now >= j)
		x.id = s->top[(s->now - j) % SKEW];
	if (x.id.fold != NONE)
		x.value = from_above(s, &s->fold[x.id.fold % FOLDS], x.id.index, j);
	return x;
}

/* Changes over with the first vector, then keeps what comes for its row. */
static void step_held(struct systolic *s, uint32_t i, uint32_t j)
{
	struct element *e = at(s, i, j);
	const bool two = s->cfg.buffers == 2;

	e->left = left_of(s, i, j);
	if (two && e->left.id.fold != NONE && e->left.id.index == 0)
		e->held[0] = e->held[1];
	e->above = above_of(s, i, j);
	if (e->above.id.fold != NONE && e->above.id.index == i)
		e->held[two] = e->above.value;
	e->sum = i > 0 ? at(s, i - 1, j)->sum : 0;
	if (e->left.id.fold == NONE)
		return;
	e->sum += (int64_t)e->held[0] * e->left.value;
	if (i == s->cfg.rows - 1)
		leave(s, e->left.id.fold, e->left.id.index, j, e->sum);
}

/* A finished sum goes down one place; those of a fold go together, once the lowest is finished. */
static void move_out(struct systolic *s, uint32_t i, uint32_t j)
{
	struct element *e = at(s, i, j), *below;

	if (e->out_fold == NONE || e->out_fold >= s->released[j])
		return;
	if (i == s->cfg.rows - 1) {
		leave(s, e->out_fold, e->out_row, j, e->out);
	} else {
		below = at(s, i + 1, j);
		CHECK(below->out_fold == NONE);
		below->out_fold = e->out_fold;
		below->out_row = e->out_row;
		below->out = e->out;
	}
	e->out_fold = NONE;
}

static void step_sum(struct systolic *s, uint32_t i, uint32_t j)
{
	struct element *e = at(s, i, j);
	const struct fold *f;

	e->left = left_of(s, i, j);
	e->above = above_of(s, i, j);
	if (e->left.id.fold == NONE)
		return;
	CHECK(e->left.id.fold == e->above.id.fold && e->left.id.index == e->above.id.index);
	f = &s->fold[e->left.id.fold % FOLDS];
	e->sum = (e->left.id.index ? e->sum : 0) + (int64_t)e->left.value * e->above.value;
	if (e->left.id.index + 1 < f->stream || i >= taken(s, f->rows, s->cfg.rows))
		return;
	CHECK(e->out_fold == NONE); /* the sum before has left */
	e->out_fold = e->left.id.fold;
	e->out_row = i;
	e->out = e->sum;
	if (i + 1 == taken(s, f->rows, s->cfg.rows))
		s->released[j] = e->out_fold + 1;
}

bool systolic_idle(const struct systolic *s)
{
	return !s->first && s->begun == s->ended;
}

/* From the far corner, so that every element sees its neighbours as they were. */
void systolic_step(struct systolic *s)
{
	const bool os = s->cfg.flow == SYSTOLIC_OS;

	enter(s);
	for (uint32_t i = s->cfg.rows; os && i-- > 0;)
		for (uint32_t j = 0; j < s->cfg.cols; j++)
			move_out(s, i, j);
	for (uint32_t i = s->cfg.rows; i-- > 0;)
		for (uint32_t j = s->cfg.cols; j-- > 0;)
			if (os)
				step_sum(s, i, j);
			else
				step_held(s, i, j);
	s->now++;
}
