/* api_machine.c - machines of npusim.h: a configuration is read once, and changed as often as one likes. */
#include <stdlib.h>
#include <string.h>

#include "sim/api/api.h"

/* Takes `b`. */
static npusim_machine *machine_of(struct npusim *n, struct machine_base *b, const char *name, struct err *e)
{
	struct npusim_machine *m = b ? calloc(1, sizeof *m) : NULL;

	if (m && (m->conf = machine_base_conf(b, NULL, 0, e)) && (m->name = strdup(name))) {
		m->holders = 1;
		m->machines = b;
		m->n = n;
		api_hold(n);
		return m;
	}
	if (b && !e->kind)
		err_nomem(e, "for a machine");
	if (m)
		machine_conf_free(m->conf);
	free(m);
	machine_base_free(b);
	return NULL;
}

static npusim_machine *done(npusim_machine *m, const struct err *err, locale_t was, struct npusim_error *e)
{
	api_leave(was);
	if (!m)
		api_fail(err, e);
	return m;
}

/* "--set" is the command line's. */
static struct machine_base *assigned(struct machine_base *b, const char *const *sets, size_t n_sets, struct err *e)
{
	if (!b || machine_base_assign(b, sets, (int)n_sets, e) == 0)
		return b;
	machine_base_free(b);
	return NULL;
}

npusim_machine *npusim_machine_new(npusim *n, const char *yaml, size_t bytes, const char *const *sets, size_t n_sets,
                                   struct npusim_error *e)
{
	const locale_t was = api_enter(n);
	struct err err = ERR_INIT;
	npusim_machine *m = NULL;

	api_clear(e);
	if (!n || !yaml)
		err_set(&err, ERR_USAGE, "npusim_machine_new: %s is NULL", n ? "the configuration" : "the npusim");
	else if (api_texts(sets, n_sets, "npusim_machine_new", &err) == 0)
		m = machine_of(
			n, assigned(machine_base_new_from(n->source, yaml, bytes, "machine", &err), sets, n_sets, &err),
			"machine", &err);
	return done(m, &err, was, e);
}

npusim_machine *npusim_machine_named(npusim *n, const char *name, const char *const *sets, size_t n_sets,
                                     struct npusim_error *e)
{
	const locale_t was = api_enter(n);
	struct err err = ERR_INIT;
	npusim_machine *m = NULL;
	char found[1024];

	api_clear(e);
	if (!n || !name)
		err_set(&err, ERR_USAGE, "npusim_machine_named: %s is NULL", n ? "the name" : "the npusim");
	else if (api_texts(sets, n_sets, "npusim_machine_named", &err) == 0)
		m = machine_of(
			n,
			assigned(machine_base_load_from(
					 n->source,
					 strchr(name, '/') && source_find(n->source, name, found, sizeof found) ? found
														: name,
					 NULL, 0, &err),
		                 sets, n_sets, &err),
			name, &err);
	return done(m, &err, was, e);
}

npusim_machine *npusim_machine_with(npusim_machine *from, const char *const *sets, size_t n_sets,
                                    struct npusim_error *e)
{
	const locale_t was = api_enter(from ? from->n : NULL);
	struct err err = ERR_INIT;
	npusim_machine *m = NULL;

	api_clear(e);
	if (!from)
		err_set(&err, ERR_USAGE, "npusim_machine_with: the machine is NULL");
	else if (api_texts(sets, n_sets, "npusim_machine_with", &err) == 0)
		m = machine_of(from->n, assigned(machine_base_copy(from->machines, &err), sets, n_sets, &err),
		               from->name, &err);
	if (m) {
		m->of = from;
		api_machine_hold(from);
	}
	return done(m, &err, was, e);
}

/* --- parameters -------------------------------------------------------------------------------------------- */

static int tell_row(const struct cfg *c, size_t i, npusim_parameter_fn *each, void *arg, struct err *e)
{
	const struct cfg_row row = cfg_at(c, i);
	struct str value = STR_INIT, range = STR_INIT;
	const struct npusim_parameter x = { .size = sizeof x,
		                            .key = row.key,
		                            .value = (cfg_value(c, i, &value), str_c(&value)),
		                            .range = (cfg_range(c, i, &range), str_c(&range)),
		                            .help = row.field->help,
		                            .source = row.source,
		                            .given = row.given };
	const int rc = value.failed || range.failed ? err_nomem(e, "for a parameter") : 0;

	if (rc == 0)
		each(arg, &x);
	str_free(&value);
	str_free(&range);
	return rc;
}

static int tell_rows(npusim_machine *m, const char *key, npusim_parameter_fn *each, void *arg, struct err *e)
{
	struct machine_conf *c = machine_base_conf(m->machines, NULL, 0, e);
	int rc = c ? machine_conf_explain(c, e) : -1;
	size_t i = 0;

	if (rc == 0 && key) {
		if ((rc = cfg_find(c->raw, key, &i, e)) == 0)
			rc = tell_row(c->raw, i, each, arg, e);
	} else {
		for (; rc == 0 && i < cfg_count(c->raw); i++)
			rc = tell_row(c->raw, i, each, arg, e);
	}
	machine_conf_free(c);
	return rc;
}

int npusim_parameters(npusim_machine *m, const char *key, npusim_parameter_fn *each, void *arg, struct npusim_error *e)
{
	const locale_t was = api_enter(m ? m->n : NULL);
	struct err err = ERR_INIT;
	int rc;

	api_clear(e);
	if (!m || !each)
		rc = err_set(&err, ERR_USAGE, "npusim_parameters: the %s is NULL", m ? "function" : "machine");
	else
		rc = tell_rows(m, key, each, arg, &err);
	api_leave(was);
	return rc == 0 ? 0 : api_fail(&err, e);
}

void api_machine_hold(struct npusim_machine *m)
{
	m->holders++;
}

void npusim_machine_free(npusim_machine *m)
{
	if (!m || --m->holders)
		return;
	machine_conf_free(m->conf);
	machine_base_free(m->machines);
	npusim_machine_free(m->of);
	npusim_close(m->n);
	free((char *)m->name);
	free(m);
}
