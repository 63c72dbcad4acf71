/* serve_options_read.c - traffic in a file's section or in the text of an option: one row a word. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/serve/serve_options.h"

#define SECTION "serve"

enum kind { TEXT, COUNT, ANY, SHARE, TIME, FLAG }; /* ANY: a count that may be 0 */

/* clang-format off */
#define ROW(key, kind, member) { key, kind, offsetof(struct serve_opts, member) }
/* clang-format on */
static const struct row {
	const char *key;
	enum kind kind;
	size_t at;
} rows[] = {
	ROW("requests", TEXT, ask.requests),
	ROW("rate", TEXT, ask.rate),
	ROW("number", COUNT, ask.n),
	ROW("prompt", TEXT, ask.prompt),
	ROW("output", TEXT, ask.output),
	ROW("arrivals", TEXT, ask.arrivals),
	ROW("concurrency", COUNT, concurrency),
	ROW("engine", TEXT, engine),
	ROW("max_batch", COUNT, batch),
	ROW("max_tokens", COUNT, tokens),
	ROW("chunk", ANY, chunk),
	ROW("block", COUNT, block),
	ROW("memory", SHARE, ask.share_ppm),
	ROW("kv_memory", TEXT, ask.kv_memory),
	ROW("reserve", TEXT, reserve),
	ROW("preempt", TEXT, preempt),
	ROW("swap_rate", TEXT, swap_rate),
	ROW("prefix_cache", FLAG, prefix),
	ROW("overhead", TIME, overhead),
	ROW("draft", COUNT, draft),
	ROW("accept", SHARE, accept_ppm),
	ROW("draft_model", TEXT, ask.draft_model),
	ROW("draft_share", SHARE, ask.draft_ppm),
	ROW("slo_ttft", TIME, ask.slo_ttft),
	ROW("slo_tpot", TIME, ask.slo_tpot),
	ROW("find_rate", FLAG, find),
	ROW("share", SHARE, ask.slo_ppm),
	ROW("steps", TEXT, steps),
	ROW("seed", ANY, ask.seed),
};
enum { ROWS = sizeof rows / sizeof *rows };

static int yes_no(const char *text, bool *out, struct err *e)
{
	*out = strcmp(text, "true") == 0 || strcmp(text, "yes") == 0;
	return *out || strcmp(text, "false") == 0 || strcmp(text, "no") == 0
	               ? 0
	               : err_set(e, ERR_CONFIG, "'%s' is neither true nor false", text);
}

/* One word's value, as a user writes it. */
static int put(const struct row *r, const char *text, struct arena *a, struct serve_opts *o, struct err *e)
{
	static const enum cfg_type types[] = {
		[COUNT] = CFG_T_U64, [ANY] = CFG_T_U64, [SHARE] = CFG_T_PPM, [TIME] = CFG_T_PS
	};
	void *to = (char *)o + r->at;
	uint64_t v = 0;
	int rc;

	if (r->kind == TEXT)
		return (*(const char **)to = arena_strdup(a, text)) ? 0 : err_nomem(e, "for traffic");
	rc = r->kind == FLAG ? yes_no(text, to, e) : cfg_parse_value(types[r->kind], text, &v, e);
	if (rc == 0 && r->kind == COUNT && !v)
		rc = err_set(e, ERR_CONFIG, "'%s' is none", text);
	if (rc < 0) {
		const struct err why = *e;

		err_clear(e);
		return err_set(e, why.kind, "%s, for '%s'", why.msg, r->key);
	}
	if (r->kind == SHARE)
		*(uint32_t *)to = v < UINT32_MAX ? (uint32_t)v : UINT32_MAX - 1;
	else if (r->kind != FLAG)
		*(uint64_t *)to = v;
	return 0;
}

static const struct row *row_named(const char *key)
{
	for (int i = 0; i < ROWS; i++)
		if (strcmp(rows[i].key, key) == 0)
			return &rows[i];
	return NULL;
}

static const char *const *row_names(const char **names)
{
	for (int i = 0; i < ROWS; i++)
		names[i] = rows[i].key;
	return names;
}

int serve_options_read(const struct yaml *y, const struct ynode *map, struct arena *a, struct serve_opts *o,
                       struct err *e)
{
	const char *names[ROWS], *text;

	if (map->kind != YNODE_MAP || !map->n)
		return yaml_err(y, map, e, "traffic is a mapping: {rate: 4/s, prompt: 512, output: 128}");
	if (yaml_only_keys(y, map, row_names(names), ROWS, e) < 0)
		return -1;
	for (size_t i = 0; i < map->n; i++) {
		struct err why = ERR_INIT;

		if (yaml_str(y, map->vals[i], &text, e) < 0)
			return -1;
		if (put(row_named(map->keys[i]->text), text, a, o, &why) < 0)
			return yaml_err(y, map->vals[i], e, "%s", why.msg);
	}
	return 0;
}

static int from_file(const char *path, struct arena *a, struct serve_opts *o, struct err *e)
{
	static const char *const keys[] = { SECTION };
	struct yaml *y = yaml_load(path, e);
	const struct ynode *map;
	int rc = -1;

	if (!y)
		return -1;
	if (yaml_only_keys(y, yaml_root(y), keys, 1, e) == 0) {
		map = ynode_get(yaml_root(y), SECTION);
		rc = map ? serve_options_read(y, map, a, o, e)
		         : yaml_err(y, yaml_root(y), e, "there is no '" SECTION ":' in this file");
	}
	yaml_free(y);
	return rc;
}

/* "rate=4/s", or a flag alone; a '-' is a '_'. */
static int from_word(char *word, struct arena *a, struct serve_opts *o, struct err *e)
{
	char *value = strchr(word, '=');
	const char *names[ROWS], *near;
	const struct row *r;

	if (value)
		*value++ = 0;
	for (char *p = word; *p; p++)
		*p = *p == '-' ? '_' : *p;
	if (!(r = row_named(word))) {
		near = str_nearest(word, row_names(names), ROWS);
		return err_set(e, ERR_USAGE, "'%s' is nothing that traffic has%s%s%s", word,
		               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
	if (!value && r->kind != FLAG)
		return err_set(e, ERR_USAGE, "'%s' has no value: %s=...", word, word);
	return put(r, value ? value : "true", a, o, e);
}

int serve_options_parse(const char *text, struct arena *a, struct serve_opts *o, struct err *e)
{
	char *copy, *word, *next;

	if (str_suffix(text, ".yaml"))
		return from_file(text, a, o, e);
	if (!(copy = arena_strdup(a, text)))
		return err_nomem(e, "for traffic");
	for (word = copy; word; word = next) {
		if ((next = strchr(word, ',')))
			*next++ = 0;
		word += strspn(word, " ");
		for (size_t k = strlen(word); k && word[k - 1] == ' '; k--)
			word[k - 1] = 0;
		if (from_word(word, a, o, e) < 0) {
			e->kind = ERR_USAGE;
			return -1;
		}
	}
	return 0;
}

static void show(const struct row *r, const void *at, struct str *to)
{
	if (r->kind == TEXT)
		str_add(to, *(const char *const *)at);
	else if (r->kind == FLAG)
		str_add(to, "true");
	else if (r->kind == TIME)
		cfg_format_value(CFG_T_PS, *(const uint64_t *)at, to);
	else if (r->kind == SHARE)
		str_addf(to, "%g", *(const uint32_t *)at / 1e6);
	else
		str_addf(to, "%" PRIu64, *(const uint64_t *)at);
}

void serve_options_text(const struct serve_opts *o, struct str *to)
{
	static const struct serve_opts none = SERVE_OPTS_INIT;
	static const size_t sizes[] = {
		[TEXT] = sizeof(char *),    [COUNT] = sizeof(uint64_t), [ANY] = sizeof(uint64_t),
		[SHARE] = sizeof(uint32_t), [TIME] = sizeof(uint64_t),  [FLAG] = sizeof(bool)
	};
	const char *between = "";

	for (int i = 0; i < ROWS; i++) {
		const void *at = (const char *)o + rows[i].at;

		if (memcmp(at, (const char *)&none + rows[i].at, sizes[rows[i].kind]) == 0)
			continue;
		str_addf(to, "%s%s=", between, rows[i].key);
		show(&rows[i], at, to);
		between = ",";
	}
}

/* What of the list decides how it is served: neither ids nor what was measured. */
static int hash_list(const char *path, uint64_t *h, struct err *e)
{
	struct arrivals a = ARRIVALS_INIT;
	struct input *in = input_open(path, e);
	int rc = in ? arrive_read(in, &a, e) : -1;

	for (size_t i = 0; rc == 0 && i < a.n; i++) {
		const struct arrival *x = &a.v[i];

		*h = hash_u64(hash_u64(hash_u64(*h, x->at), x->prompt), x->output);
		*h = hash_u64(hash_u64(*h, x->priority), x->gives_up);
		for (uint32_t k = 0; k < x->pages; k++)
			*h = hash_u64(*h, a.pages[x->page + k]);
	}
	arrive_free(&a);
	input_free(in);
	return rc;
}

int serve_options_hash(const struct serve_opts *o, uint64_t *out, struct err *e)
{
	struct str text = STR_INIT;
	uint64_t h;

	serve_options_text(o, &text);
	h = hash_str(HASH_INIT, str_c(&text));
	str_free(&text);
	if (o->engine_rows)
		h = hash_u64(h, cfg_hash(o->engine_rows));
	if (o->ask.requests && hash_list(o->ask.requests, &h, e) < 0)
		return -1;
	*out = hash_mix(h);
	return 0;
}
