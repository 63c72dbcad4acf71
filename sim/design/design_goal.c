/* design_goal.c - what is wanted, and how far a design has it. */
#include <math.h>
#include <string.h>

#include "sim/design/design_int.h"

#define OTHER_NAME "tokens/s" /* as tables have it; an expression would divide */
#define NAME       "tokens_per_s"
#define NOTHING    1e-9 /* less of a figure than this is none */

/* --- comparisons ------------------------------------------------------------------------------------------------ */

/* Of a text without quotes and parentheses around it: the comparison's place and length; 0: there is none. */
static size_t comparison(const char *text, size_t from, size_t *length)
{
	int depth = 0;

	for (size_t i = from; text[i]; i++) {
		if (text[i] == '\'')
			while (text[i + 1] && text[++i] != '\'')
				continue;
		depth += (text[i] == '(') - (text[i] == ')');
		if (depth == 0 && strchr("<>=!", text[i])) {
			*length = 1 + (text[i + 1] == '=');
			return i;
		}
	}
	*length = 0;
	return strlen(text);
}

static const char *spelled(const char *text, size_t n, struct arena *a)
{
	const char *at;
	char *copy;

	while (n && (*text == ' ' || *text == '\t')) {
		text++;
		n--;
	}
	while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		n--;
	if (!(copy = arena_strndup(a, text, n)))
		return NULL;
	if ((at = strstr(copy, OTHER_NAME)))
		return arena_printf(a, "%.*s" NAME "%s", (int)(at - copy), copy, at + strlen(OTHER_NAME));
	return copy;
}

static struct expr *read_side(struct sweep *s, const char *text, const char *whole, bool *early, struct err *e)
{
	struct err ignored = ERR_INIT;
	struct expr *x;

	*early = expr_new(s->exprs, text, sweep_find_config, s, &ignored) != NULL;
	if (!(x = expr_new(s->exprs, text, sweep_find, s, e)))
		err_add(e, "reading '%s'", whole);
	return x;
}

/* An interval is of the whole time: nobody knows how sure its parts are. */
static int check_sure(const char *text, struct err *e)
{
	static const char *const parts[] = { "mix.", "stall.", "needs.", "kind." };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strstr(text, parts[i]))
			return err_set(
				e, ERR_USAGE,
				"'%s' is of a part of the time, and an interval of all of it: no '%s*' with option '--sure'",
				text, parts[i]);
	return 0;
}

static int read_bound(struct sweep *s, const char *text, struct design_bound *b, struct err *e)
{
	size_t length, more, at = comparison(text, 0, &length);
	bool left, right;
	const char *side;

	b->text = text;
	if (!length)
		return err_set(e, ERR_USAGE, "'%s' is no goal: write a comparison, 'tokens_per_s >= 1500'", text);
	if (text[at] == '=' || text[at] == '!')
		return err_set(e, ERR_USAGE, "'%s' is no goal that a search can come near: write >= or <=", text);
	comparison(text, at + length, &more);
	if (more)
		return err_set(e, ERR_USAGE, "'%s' compares twice: give each comparison by itself", text);
	b->above = text[at] == '>';
	if (!(b->left_text = spelled(text, at, s->a)) ||
	    !(side = spelled(text + at + length, strlen(text + at + length), s->a)))
		return design_no_memory(e);
	if (!(b->left = read_side(s, b->left_text, text, &left, e)) ||
	    !(b->right = read_side(s, side, text, &right, e)))
		return -1;
	b->early = left && right;
	return 0;
}

/* --- how sure ----------------------------------------------------------------------------------------------------- */

/* Deviations of a normal distribution between which the share lies, over those of four in five. */
static double deviations(double share)
{
	double low = 0, high = 6;

	for (int i = 0; i < 60; i++) {
		const double mid = (low + high) / 2;

		*(erf(mid / sqrt(2)) < share ? &low : &high) = mid;
	}
	return low / 1.2815515655446004;
}

/* The row, as slow or as fast as its interval has it. */
static struct res_point at_end(const struct res_point *p, double spread)
{
	struct res_point x = *p;

	x.total_ps = (uint64_t)((double)p->total_ps * exp(spread));
	return x;
}

/* --- the goal ------------------------------------------------------------------------------------------------------ */

int design_goal_read(const struct design_question *q, struct sweep *s, struct design_goal *g, struct err *e)
{
	memset(g, 0, sizeof *g);
	if (q->n_bounds > DESIGN_BOUNDS)
		return err_set(e, ERR_USAGE, "more than %d goals", DESIGN_BOUNDS);
	for (; g->n_bounds < q->n_bounds; g->n_bounds++)
		if ((q->sure > 0 && check_sure(q->bounds[g->n_bounds], e) < 0) ||
		    read_bound(s, q->bounds[g->n_bounds], &g->bounds[g->n_bounds], e) < 0)
			return -1;
	g->text = spelled(q->objective, strlen(q->objective), s->a);
	g->maximise = q->maximise;
	g->sure = q->sure > 0 ? deviations(q->sure) : 0;
	if (!g->text)
		return design_no_memory(e);
	return (g->objective = read_side(s, g->text, g->text, &g->early, e)) ? 0 : -1;
}

/* Figures are told apart by their ratio. One of 0 (a machine that keeps no rate) is less than any other, and yet finite for the
 * models; what is negative lies below it. */
static double scale(double x)
{
	return x < 0 ? log(NOTHING) + x : log(fmax(x, NOTHING));
}

/* How far a holds over b: above 0 it does. */
static double over(double a, double b)
{
	if (a >= 0 && b >= 0)
		return scale(a) - scale(b);
	return (a - b) / fmax(fabs(a), fabs(b));
}

static double share_of(double a, double b)
{
	return b > 0 || b < 0 ? (a - b) / fabs(b) : a;
}

/* Of one row; keeps the worse of what is there. */
static int bound_of(const struct design_bound *b, const struct sweep_row *row, size_t i, struct design_score *out,
                    struct err *e)
{
	struct expr_value l, r;
	double far;

	if (sweep_value(row, b->left, &l, e) < 0 || sweep_value(row, b->right, &r, e) < 0)
		return -1;
	if (l.type != EXPR_NUMBER || r.type != EXPR_NUMBER) {
		out->fails = true;
		return 0;
	}
	far = b->above ? over(l.number, r.number) : over(r.number, l.number);
	if (far >= out->figure[i])
		return 0;
	out->figure[i] = far;
	out->share[i] = b->above ? share_of(l.number, r.number) : -share_of(l.number, r.number);
	return 0;
}

static int shown_of(struct expr *x, const struct sweep_row *row, double *out, struct err *e)
{
	struct expr_value v;

	if (sweep_value(row, x, &v, e) < 0)
		return -1;
	*out = v.type == EXPR_NUMBER ? v.number : NAN;
	return 0;
}

static int score_row(const struct design_goal *g, const struct sweep_row *row, struct design_score *out, struct err *e)
{
	for (size_t i = 0; i < g->n_bounds; i++)
		if ((row->point || g->bounds[i].early) && bound_of(&g->bounds[i], row, i, out, e) < 0)
			return -1;
	return 0;
}

/* The values of axes, by the machine. */
static struct res_value *values_of(const struct sweep *s, const struct machine_conf *c, struct res_value *v)
{
	struct err none = ERR_INIT;

	for (size_t i = 0; i < s->n_axes; i++) {
		const struct sweep_axis *x = &s->axes[i];
		size_t row;

		v[i] = x->values[0];
		if (cfg_find(c->raw, x->key, &row, &none) < 0)
			continue;
		v[i].number = sweep_number(x->field->type, cfg_raw(c->raw, row));
		if (x->field->type == CFG_T_ENUM)
			v[i].text = x->field->names[cfg_raw(c->raw, row)];
	}
	return v;
}

int design_goal_score(const struct design_goal *g, const struct sweep *s, const struct machine_conf *c,
                      const struct res_point *point, const struct res_workload *w, struct design_score *out,
                      struct err *e)
{
	struct res_value values[DESIGN_AXES];
	struct sweep_row row = { s, c, point, values_of(s, c, values), w };
	double price;

	*out = (struct design_score){ .known = true, .fails = point && point->failed };
	for (size_t i = 0; i < DESIGN_FIGURES; i++)
		out->figure[i] = HUGE_VAL, out->shown[i] = NAN;
	if (out->fails)
		return 0;
	if (score_row(g, &row, out, e) < 0)
		return -1;
	for (size_t i = 0; i < g->n_bounds; i++)
		if ((point || g->bounds[i].early) && shown_of(g->bounds[i].left, &row, &out->shown[i], e) < 0)
			return -1;
	if (g->sure > 0 && point) {
		const uint64_t up = point->spread_ppm, down = point->spread_down_ppm ? point->spread_down_ppm : up;
		const struct res_point slow = at_end(point, g->sure * (double)up / 1e6),
				       fast = at_end(point, -g->sure * (double)down / 1e6);

		row.point = &slow;
		if (score_row(g, &row, out, e) < 0)
			return -1;
		row.point = &fast;
		if (score_row(g, &row, out, e) < 0)
			return -1;
		row.point = point;
	}
	if (!point && !g->early)
		return 0;
	if (shown_of(g->objective, &row, &out->shown[g->n_bounds], e) < 0)
		return -1;
	out->fails |= isnan(out->shown[g->n_bounds]);
	price = scale(out->shown[g->n_bounds]);
	out->figure[g->n_bounds] = g->maximise ? -price : price;
	return 0;
}

bool design_meets(const struct design_goal *g, const struct design_score *s)
{
	return s->known && !s->fails && !(design_misses(g, s) > 0);
}

double design_misses(const struct design_goal *g, const struct design_score *s)
{
	double sum = 0;

	for (size_t i = 0; i < g->n_bounds; i++)
		sum += s->figure[i] < 0 ? -s->figure[i] : 0;
	return sum;
}

bool design_better(const struct design_goal *g, const struct design_score *a, const struct design_score *b)
{
	double x, y;

	if (!a->known || a->fails || !b->known || b->fails)
		return a->known && !a->fails;
	x = design_misses(g, a);
	y = design_misses(g, b);
	return x > 0 || y > 0 ? x < y : a->figure[g->n_bounds] < b->figure[g->n_bounds];
}

int design_goals(const struct design_goals *g, const char **bounds, struct design_question *q, struct err *e)
{
	if (!g->n_reach && !g->n_within && !g->minimise && !g->maximise)
		return err_set(
			e, ERR_USAGE,
			"the goal is missing: --reach 'tokens_per_s >= 1500', or --maximize tokens_per_s --within"
			" 'power_w <= 150'");
	if (g->minimise && g->maximise)
		return err_set(e, ERR_USAGE, "options '--minimize' and '--maximize' are two objectives: give one");
	if (g->n_reach + g->n_within > DESIGN_BOUNDS)
		return err_set(e, ERR_USAGE, "more than %d goals, for options '--reach' and '--within'", DESIGN_BOUNDS);
	for (int i = 0; i < g->n_reach; i++)
		bounds[q->n_bounds++] = g->reach[i];
	for (int i = 0; i < g->n_within; i++)
		bounds[q->n_bounds++] = g->within[i];
	q->bounds = bounds;
	q->maximise = g->maximise || (!g->minimise && !g->n_reach);
	q->objective = g->minimise ? g->minimise : g->maximise ? g->maximise : g->n_reach ? "area_mm2" : "tokens_per_s";
	return 0;
}
