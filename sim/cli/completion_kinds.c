/* completion_kinds.c - words that may stand where an option table says only of what kind they are. */
#define _POSIX_C_SOURCE 200809L /* scandir */
#include "sim/cli/completion.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "arch/machine/machine_cfg.h"
#include "arch/machine/machine_shipped.h"
#include "sim/base/path.h"
#include "traces/db/tracedb_sum.h"

void completion_candidate(const char *before, const char *word, const char *tail, const char *typed, const char *help,
                          struct str *out)
{
	if (str_prefix(word, typed))
		str_addf(out, "%s%s%s\t%s\n", before, word, tail, help);
}

static bool ends(const char *text, size_t n, const char *with)
{
	const size_t m = strlen(with);

	return n >= m && memcmp(text + n - m, with, m) == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Names of the YAML files of a folder of the data: what goes by its name alone. */
static void named(const char *folder, const char *before, const char *typed, struct str *out)
{
	struct err none = ERR_INIT;
	struct dirent **files;
	char dir[512];
	int n;

	if (path_data(folder, dir, sizeof dir, &none) < 0 || (n = scandir(dir, &files, NULL, by_name)) < 0)
		return;
	for (int i = 0; i < n; i++) {
		const size_t len = strlen(files[i]->d_name);

		if (ends(files[i]->d_name, len, ".yaml")) {
			files[i]->d_name[len - strlen(".yaml")] = '\0';
			completion_candidate(before, files[i]->d_name, "", typed, folder, out);
		}
		free(files[i]);
	}
	free(files);
}

/* Machines; of several the one behind the last comma. */
static void machines(struct str *before, const char *typed, struct str *out)
{
	const char *comma = strrchr(typed, ',');

	str_addn(before, typed, comma ? (size_t)(comma + 1 - typed) : 0);
	for (const char *const *f = machine_shipped_folders; *f && !before->failed; f++)
		named(*f, str_c(before), comma ? comma + 1 : typed, out);
	out->failed |= before->failed;
}

/* "l2.size=": what may follow, where that is one of a few. */
static void key_values(const struct cfg *c, size_t i, const char *before, const char *typed, struct str *out)
{
	const struct cfg_row r = cfg_at(c, i);
	struct str whole = STR_INIT;

	str_addf(&whole, "%s%s=", before, r.key);
	if (!whole.failed && r.field->type == CFG_T_ENUM)
		for (const char *const *n = r.field->names; *n; n++)
			completion_candidate(str_c(&whole), *n, "", typed, r.field->help, out);
	else if (!whole.failed && r.field->type == CFG_T_BOOL)
		for (int k = 0; k < 2; k++)
			completion_candidate(str_c(&whole), k ? "true" : "false", "", typed, r.field->help, out);
	else if (!whole.failed && strcmp(r.key, "dram.kind") == 0) {
		completion_candidate(str_c(&whole), "fixed", "", typed, "a rate and a latency, nothing else", out);
		named("configs/dram", str_c(&whole), typed, out);
	}
	out->failed |= whole.failed;
	str_free(&whole);
}

/* Has one of the first `n` kinds of machine this key? */
static bool had(struct cfg *const *kinds, int n, const char *key)
{
	for (int k = 0; k < n; k++) {
		struct err none = ERR_INIT;
		size_t there;

		if (cfg_find(kinds[k], key, &there, &none) == 0)
			return true;
	}
	return false;
}

/* Keys of all kinds of machine; those that several have once. */
static int keys(const char *before, const char *typed, bool values, struct str *out, struct err *e)
{
	const char *eq = strchr(typed, '=');
	struct machine_cfg target[MACHINE_KINDS];
	struct cfg *kinds[MACHINE_KINDS] = { NULL };
	int made = 0;

	while (made < MACHINE_KINDS && (kinds[made] = machine_schema(&target[made], (enum machine_kind)made, e)))
		made++;
	for (int k = 0; made == MACHINE_KINDS && k < made; k++) {
		for (size_t i = 0; i < cfg_count(kinds[k]); i++) {
			const struct cfg_row r = cfg_at(kinds[k], i);

			if (had(kinds, k, r.key))
				continue;
			if (!eq)
				completion_candidate(before, r.key, values ? "=" : "", typed, r.field->help, out);
			else if (values && strlen(r.key) == (size_t)(eq - typed) && str_prefix(typed, r.key))
				key_values(kinds[k], i, before, eq + 1, out);
		}
	}
	for (int k = 0; k < made; k++)
		cfg_free(kinds[k]);
	return made == MACHINE_KINDS ? 0 : -1;
}

struct typed {
	const char *before, *text;
	struct str *out;
};

static int range_name(void *arg, const char *name, struct err *e)
{
	const struct typed *t = arg;

	(void)e;
	completion_candidate(t->before, name, "", t->text, "annotation", t->out);
	return 0;
}

/* Ranges of the first trace database among the words; none where it cannot be read. */
static void ranges(const struct completion_words *w, const char *before, const char *typed, struct str *out)
{
	struct typed x = { before, typed, out };
	struct err none = ERR_INIT;
	struct tracedb *t = NULL;

	for (int i = 0; i < w->n && !t; i++) {
		err_clear(&none);
		if (ends(w->v[i], strlen(w->v[i]), ".db"))
			t = tracedb_open(w->v[i], DB_READ, &none);
	}
	if (t)
		tracedb_range_names(t, typed, 500, range_name, &x, &none);
	tracedb_free(t);
}

static void files(const char *kind, size_t n, struct str *out)
{
	if (ends(kind, n, ".db"))
		str_add(out, ":files db\n");
	else if (ends(kind, n, ".yaml") || ends(kind, n, "CONFIG"))
		str_add(out, ":files yaml yml\n");
	else if (ends(kind, n, ".json"))
		str_add(out, ":files json\n");
	else if (ends(kind, n, ".csv"))
		str_add(out, ":files csv\n");
	else if (ends(kind, n, "FILE") || ends(kind, n, "COMMAND"))
		str_add(out, ":files\n");
}

/* "@KIND<tab>BEFORE" of opt_complete. */
int completion_of_kind(const struct completion_words *w, const char *line, struct str *out, struct err *e)
{
	const char *kind = line + 1, *tab = strchr(kind, '\t'), *typed = w->v[w->n - 1];
	const size_t n = tab ? (size_t)(tab - kind) : strlen(kind);
	struct str before = STR_INIT;
	int rc = 0;

	if (tab)
		str_addn(&before, tab + 1, strcspn(tab + 1, "\n"));
	if (before.failed)
		rc = err_nomem(e, "for the words");
	else if (str_prefix(kind, "KEY"))
		rc = keys(str_c(&before), typed + before.len, str_prefix(kind, "KEY=VALUE"), out, e);
	else if (n == 4 && str_prefix(kind, "NAME"))
		ranges(w, str_c(&before), typed + before.len, out);
	else if (n == 6 && str_prefix(kind, "CONFIG") && !strchr(typed, '/')) {
		machines(&before, typed + before.len, out);
		files(kind, n, out);
	} else if (n == 5 && str_prefix(kind, "MODEL") && !strchr(typed, '/'))
		named("workloads/models", str_c(&before), typed + before.len, out);
	else
		files(kind, n, out);
	str_free(&before);
	return rc;
}
