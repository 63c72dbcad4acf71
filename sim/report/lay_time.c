/* lay_time.c - how long a cache was, from how long attention took: for kernels laid over a model where no grid tells.
 *
 * The step is laid over the model with one length after another, powers of two, and attention is simulated each time on the
 * model of the GPU that was traced; the length whose time is nearest, as a ratio, is taken. On the steps of traces/h200 that
 * is the true one where heads are of 128 and fewer; it may be one power off, and of short caches, whose time hardly grows,
 * by more: the bounds say so. */
#include "sim/report/lay_time.h"

#include <string.h>

#include "sim/engine/run.h"
#include "sim/report/baseline.h"

#define FIRST_CONTEXT 128
#define LAST_CONTEXT  131072
#define MOST_LAUNCHES 20000 /* a step or some; of more one is enough to choose */
#define TIMED_MEMORY  ((size_t)4 << 30)
#define FAR_OFF       4

struct timed {
	uint64_t context;
	double ratio; /* simulated over measured */
};

/* Attention's simulated over its measured time; 0: it cannot be told. */
static double attention_at(const struct trace *t, const struct model *m, const struct align_how *how,
                           struct rules *rules, const struct machine_conf *gpu)
{
	const struct run_opts once = { .start = RUN_STEADY, .seed = 1 };
	struct arena *a = arena_new(TIMED_MEMORY);
	struct trace mine = *t;
	struct align_report rep;
	struct lower_stats st;
	struct op_stream s;
	struct run_result r;
	struct err none = ERR_INIT;
	double simulated = 0, measured = 0;

	mine.launches = a ? arena_array(a, t->n_launches, sizeof *mine.launches) : NULL;
	if (!mine.launches)
		goto out;
	memcpy(mine.launches, t->launches, t->n_launches * sizeof *mine.launches);
	memset(&r, 0, sizeof r);
	if (align_trace(&mine, m, how, rules, a, &rep, &none) < 0 || !align_enough(&rep) ||
	    lower_trace(&mine, rules, a, &s, &st, &none) < 0 || run_stream(&s, gpu, &once, a, &r, &none) < 0)
		goto out;
	for (size_t i = 0; i < s.n_ops; i++)
		if (s.ops[i].kind == OP_ATTENTION && !r.ops[i].carried) {
			simulated += (double)r.ops[i].span_ps / 1e3;
			measured += (double)s.ops[i].measured_ns;
		}
out:
	arena_free(a);
	return measured > 0 ? simulated / measured : 0;
}

static double off(double ratio)
{
	return ratio < 1 ? 1 / ratio : ratio;
}

uint64_t lay_time_context(const struct source *from, const struct trace *t, const struct model *m,
                          const struct align_how *how, struct rules *rules, uint64_t *low, uint64_t *high)
{
	struct baseline *b = t->n_launches && t->n_launches <= MOST_LAUNCHES ? baseline_new(from, t) : NULL;
	struct align_how try = *how;
	struct timed best = { 0, 0 };

	for (try.context = FIRST_CONTEXT; b && b->gpu && t->n_devices && try.context <= LAST_CONTEXT;
	     try.context *= 2) {
		const double ratio = attention_at(t, m, &try, rules, b->gpu);

		if (ratio <= 0)
			break;
		if (!best.context || off(ratio) < off(best.ratio))
			best = (struct timed){ try.context, ratio };
		if (ratio > FAR_OFF)
			break;
	}
	baseline_free(b);
	*low = best.context / 2;
	*high = best.context * 2;
	return best.context;
}
