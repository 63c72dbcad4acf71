/* config_explain.c - npusim config explain: what a parameter means, its unit, range, and where its number is from. */
#include "sim/cli/config.h"

#include <string.h>
#include <strings.h>

/* --- by key ------------------------------------------------------------------------------------------------ */

/* What is asked about: NULL path: of no machine, so of its defaults. */
struct explain {
	const char *path, *format;
	const struct opt_list *keys;
	const struct cfg *c;
};

/* All rows, one key, or every key of one section. */
static bool wanted(const struct cfg_row *r, const void *list)
{
	const struct opt_list *keys = list;

	if (keys->n == 0)
		return true;
	for (int i = 0; i < keys->n; i++)
		if (strcmp(r->key, keys->v[i]) == 0 || (*r->section && strcmp(r->section, keys->v[i]) == 0))
			return true;
	return false;
}

static int check_keys(const struct cfg *c, const struct opt_list *keys, struct err *e)
{
	for (int i = 0; i < keys->n; i++) {
		bool section = false;
		size_t at;

		for (size_t k = 0; k < cfg_count(c); k++) {
			struct cfg_row r = cfg_at(c, k);

			section |= *r.section && strcmp(r.section, keys->v[i]) == 0;
		}
		if (!section && cfg_find(c, keys->v[i], &at, e) < 0)
			return -1;
	}
	return 0;
}

/* The rows of the first kind of machine that has all keys; of the first of all where none has. */
static struct cfg *schema_of(const struct opt_list *keys, struct machine_cfg *defaults, struct err *e)
{
	for (int k = 0; k < MACHINE_KINDS; k++) {
		struct cfg *c = machine_schema(defaults, (enum machine_kind)k, e);
		struct err unknown = ERR_INIT;

		if (!c || check_keys(c, keys, &unknown) == 0)
			return c;
		cfg_free(c);
	}
	return machine_schema(defaults, 0, e);
}

/* --- by word ----------------------------------------------------------------------------------------------- */

static bool has_word(const char *text, const char *word)
{
	const size_t n = strlen(word);

	for (; *text; text++)
		if (strncasecmp(text, word, n) == 0)
			return true;
	return false;
}

static bool about(const struct cfg_row *r, const char *word)
{
	return has_word(r->key, word) || has_word(r->field->help, word);
}

/* Has its name or help each of the words? */
static bool has_words(const struct cfg_row *r, const void *list)
{
	const struct opt_list *words = list;

	for (int k = 0; k < words->n; k++)
		if (!about(r, words->v[k]))
			return false;
	return true;
}

/* False: no parameter is about the words. */
static bool explain_schema(const struct explain *x, struct doc *d)
{
	for (size_t i = 0; i < cfg_count(x->c); i++) {
		const struct cfg_row r = cfg_at(x->c, i);

		if (!has_words(&r, x->keys))
			continue;
		cfg_doc_found(d, &(struct cfg_doc){ x->c, false, has_words, x->keys });
		return true;
	}
	return false;
}

/* Where a word is no key: the keys that it is about, of the machine, or of the first kind that has some. False: there are
 * none. */
static bool explain_words(const struct explain *x, struct doc *d)
{
	bool any = false;

	for (int k = 0; k < x->keys->n; k++)
		if (strchr(x->keys->v[k], '.'))
			return false; /* a key, mistyped */
	if (x->path)
		return explain_schema(x, d);
	for (int k = 0; k < MACHINE_KINDS && !any; k++) {
		struct machine_cfg defaults;
		struct err none = ERR_INIT;
		struct cfg *schema = machine_schema(&defaults, (enum machine_kind)k, &none);
		const struct explain of = { .keys = x->keys, .c = schema };

		any = schema && explain_schema(&of, d);
		cfg_free(schema);
	}
	return any;
}

static void explain_keys(const struct explain *x, struct doc *d)
{
	const struct cfg_doc of = { x->c, x->path, wanted, x->keys };

	if (d->format != OUT_TABLE || !x->keys->n)
		cfg_doc(d, &of);
	else
		cfg_doc_whole(d, &of);
}

static int do_config_explain(void *options, const struct opt_list *keys, struct doc *d, struct err *e)
{
	struct explain *x = options;
	struct machine_cfg defaults;
	struct machine_conf *conf = x->path ? machine_conf_load(x->path, NULL, 0, e) : NULL;
	struct cfg *own = x->path ? NULL : schema_of(keys, &defaults, e);
	int rc = -1;

	x->keys = keys;
	x->c = conf ? conf->raw : own;
	if (x->c)
		rc = check_keys(x->c, keys, e);
	if (rc == 0 && conf)
		rc = machine_conf_explain(conf, e);
	if (rc == 0) {
		explain_keys(x, d);
	} else if (x->c && explain_words(x, d)) {
		err_clear(e);
		rc = 0;
	}
	cfg_free(own);
	machine_conf_free(conf);
	return rc;
}

int cmd_config_explain(int argc, char **argv, struct str *out, struct err *e)
{
	struct explain x = { .path = NULL };
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &x.path, "CONFIG",
		  "show the values of this machine, and where they are from" },
		{ 0, "format", OPT_TEXT, &x.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END, .arg = OPT_ARGS_WORDS },
	};
	const struct opt_cmd cmd = {
		"npusim config explain [KEY | SECTION | WORD]... [-c FILE]",
		"What parameters there are: without a name all of them, one line each; with a key or a section all that is"
		" known of it, including where the number comes from; with another word those whose name or help has it. Keys are"
		" what --set takes.",
		"npusim config explain\n"
		"npusim config explain l2.size gemv\n"
		"npusim config explain gpu sm\n"
		"npusim config explain bandwidth\n"
		"npusim config explain dram -c configs/npu/dsocr.yaml\n",
		opts,
		0,
		-1
	};

	return cmd_do(&cmd, &x.format, do_config_explain, &x, argc, argv, out, e);
}
