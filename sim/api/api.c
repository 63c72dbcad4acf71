/* api.c - errors, data and the handle of npusim.h. */
#include "sim/api/api.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/version.h"

#ifndef NPUSIM_SHARE
#define NPUSIM_SHARE "/usr/local/share/npusim"
#endif

/* --- errors ------------------------------------------------------------------------------------------------ */

static int code_of(enum err_kind k)
{
	switch (k) {
	case ERR_NONE:
		return NPUSIM_OK;
	case ERR_CONFIG:
		return NPUSIM_CONFIG;
	case ERR_IO:
		return NPUSIM_INPUT;
	case ERR_STUCK:
		return NPUSIM_STUCK;
	case ERR_NOMEM:
		return NPUSIM_NOMEM;
	case ERR_BOUND:
	case ERR_USAGE:
		break;
	}
	return NPUSIM_USAGE;
}

/* As much of it as the caller's has. */
static void api_give(struct npusim_error *to, const struct npusim_error *from)
{
	const size_t size = to->size < sizeof *to ? to->size : sizeof *to;

	if (size > sizeof to->size)
		memcpy((char *)to + sizeof to->size, (const char *)from + sizeof to->size, size - sizeof to->size);
}

void api_clear(struct npusim_error *e)
{
	const struct npusim_error none = NPUSIM_ERROR_INIT;

	if (e)
		api_give(e, &none);
}

int api_fail(const struct err *from, struct npusim_error *e)
{
	struct npusim_error x = NPUSIM_ERROR_INIT;

	if (!e)
		return -1;
	x.code = code_of(from->kind);
	x.line = from->line;
	x.column = from->col;
	snprintf(x.file, sizeof x.file, "%s", from->file);
	snprintf(x.message, sizeof x.message, "%s", from->msg);
	api_give(e, &x);
	return -1;
}

int api_texts(const char *const *v, size_t n, const char *what, struct err *e)
{
	if (n && !v)
		return err_set(e, ERR_USAGE, "%s: NULL in place of %zu texts", what, n);
	for (size_t i = 0; i < n; i++)
		if (!v[i])
			return err_set(e, ERR_USAGE, "%s: text %zu is NULL", what, i);
	return 0;
}

/* --- data in memory ---------------------------------------------------------------------------------------- */

static const struct npusim_source *data_of(const struct source *s)
{
	return &((const struct api_source *)s)->data;
}

static bool api_has(const struct source *s, const char *full)
{
	size_t n;

	if (data_of(s)->read(data_of(s)->arg, full, &n))
		return true;
	errno = ENOENT;
	return false;
}

static int api_find(const struct source *s, const char *relative, char *out, unsigned size, struct err *e)
{
	if (strlen(relative) < size && api_has(s, relative)) {
		snprintf(out, size, "%s", relative);
		return 0;
	}
	if (size)
		*out = '\0';
	return err_set(e, ERR_CONFIG, "there is no '%s' in the data given", relative);
}

static struct yaml *read(const struct source *s, const char *full, struct err *e)
{
	size_t n = 0;
	const char *bytes = data_of(s)->read(data_of(s)->arg, full, &n);

	if (bytes)
		return yaml_parse(bytes, n, full, e);
	err_set(e, ERR_IO, "cannot read '%s': it is not in the data given", full);
	return NULL;
}

static void api_list(const struct source *s, const char *folder, source_each_fn *each, void *arg)
{
	const size_t n = strlen(folder);
	const char *name;

	for (size_t i = 0; (name = data_of(s)->name(data_of(s)->arg, i)); i++)
		if (strncmp(name, folder, n) == 0 && name[n] == '/' && !strchr(name + n + 1, '/'))
			each(arg, name + n + 1);
}

/* --- the handle -------------------------------------------------------------------------------------------- */

const char *npusim_release(void)
{
	return NPUSIM_VERSION;
}

static int open_data(struct npusim *n, const struct npusim_source *from, struct err *e)
{
	struct npusim_source x = NPUSIM_SOURCE_INIT;

	if (from)
		memcpy((char *)&x + sizeof x.size, (const char *)from + sizeof x.size,
		       (from->size < sizeof x ? from->size : sizeof x) - sizeof x.size);
	if (!x.read && !x.name) {
		n->source = &n->data.root.source;
		return source_root_init(&n->data.root, x.root ? x.root : NPUSIM_SHARE, e);
	}
	if (!x.read || !x.name || x.root)
		return err_set(e, ERR_USAGE, "data come from a folder ('root'), or from 'read' and 'name'");
	n->data.memory = (struct api_source){ { api_find, api_has, read, api_list, NULL }, x };
	n->source = &n->data.memory.source;
	return 0;
}

npusim *npusim_open(const struct npusim_source *from, struct npusim_error *e)
{
	struct npusim *n = calloc(1, sizeof *n);
	struct err err = ERR_INIT;

	api_clear(e);
	if (!n)
		err_nomem(&err, NULL);
	else if (from && from->size <= sizeof from->size)
		err_set(&err, ERR_USAGE, "a source begins with its size: NPUSIM_SOURCE_INIT");
	else if (!(n->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0)))
		err_nomem(&err, NULL);
	else if (open_data(n, from, &err) == 0) {
		n->holders = 1;
		return n;
	}
	if (n && n->plain)
		freelocale(n->plain);
	free(n);
	api_fail(&err, e);
	return NULL;
}

void api_hold(struct npusim *n)
{
	n->holders++;
}

void npusim_close(npusim *n)
{
	if (!n || --n->holders)
		return;
	run_memo_free(n->memo);
	freelocale(n->plain);
	free(n);
}

locale_t api_enter(const struct npusim *n)
{
	return n ? uselocale(n->plain) : (locale_t)0;
}

void api_leave(locale_t was)
{
	if (was)
		uselocale(was);
}

struct run_memo *api_memo(struct npusim *n, struct err *e)
{
	if (!n->memo)
		n->memo = run_memo_new_from(n->source, e);
	return n->memo;
}
