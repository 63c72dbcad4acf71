/* tracedb_text.c - names and op arguments: a text is one row, however often it comes. */
#include "traces/db/tracedb_int.h"

#include <string.h>

#include "sim/base/hash.h"
#include "traces/db/trace_args.h"

int tracedb_text_prepare(struct tracedb *t, struct err *e)
{
	if (!(t->find_name = db_stmt(t->db, "select id from name where text = ?", e)) ||
	    !(t->ins_name = db_stmt(t->db, "insert into name(text) values(?)", e)) ||
	    !(t->ins_args = db_stmt(t->db, "insert into args(text) values(?)", e)))
		return -1;
	return 0;
}

static int64_t insert_text(struct tracedb *t, struct sqlite3_stmt *ins, const char *text, struct err *e)
{
	db_bind_text(ins, 1, text);
	return db_run(t->db, ins, e) < 0 ? -1 : db_last_id(t->db);
}

static int64_t find_name(struct tracedb *t, const char *text, struct err *e)
{
	int64_t id = 0;
	int rc;

	db_bind_text(t->find_name, 1, text);
	if ((rc = db_step(t->db, t->find_name, e)) < 0)
		return -1;
	if (rc == 1) {
		id = db_col_i64(t->find_name, 0);
		if (db_run(t->db, t->find_name, e) < 0)
			return -1;
	}
	return id;
}

/* By words: kernel names are long, and each is looked up at every launch. In memory only, so order of bytes is free. */
static uint64_t text_hash(const char *text, size_t n)
{
	uint64_t h = n, word;

	for (; n >= sizeof word; text += sizeof word, n -= sizeof word) {
		memcpy(&word, text, sizeof word);
		h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
	}
	word = 0;
	memcpy(&word, text, n);
	return hash_mix(h ^ word);
}

const char *tracedb_utf8(struct tracedb *t, const char *text, size_t n, struct err *e)
{
	if (trace_utf8_ok(text, n))
		return text;
	str_clear(&t->clean);
	trace_utf8(text, n, &t->clean);
	if (!t->clean.failed)
		return str_c(&t->clean);
	err_nomem(e, NULL);
	return NULL;
}

/* Row of a text in name or args. */
static int64_t text_id(struct tracedb *t, bool is_name, const char *text, size_t n, struct err *e)
{
	struct intern *in = is_name ? t->names : t->args;
	const uint64_t hash = text_hash(text, n);
	const char *stored;
	int64_t id = intern_find(in, text, n, hash);

	if (id)
		return id;
	if (!(stored = tracedb_utf8(t, text, n, e)))
		return -1;
	/* Two rows of equal arguments do no harm; a name must be one row, as statistics group by it. */
	if (is_name && (id = find_name(t, stored, e)) < 0)
		return -1;
	if (id == 0 && (id = insert_text(t, is_name ? t->ins_name : t->ins_args, stored, e)) < 0)
		return -1;
	intern_put(in, text, n, hash, id);
	return id;
}

int64_t tracedb_name(struct tracedb *t, const char *name, struct err *e)
{
	return text_id(t, true, name, strlen(name), e);
}

/* --- what may be private --------------------------------------------------------------------------------------- */

static size_t word_at(const char *p)
{
	static const char *const words[] = { "True", "False", "None", "inf", "nan" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strncmp(p, words[i], strlen(words[i])) == 0)
			return strlen(words[i]);
	return 0;
}

/* Whether a concrete input says more than numbers do. */
static bool is_text(const char *p)
{
	for (char before = 0; *p; before = *p++) {
		size_t n;

		if ((*p >= '0' && *p <= '9') || strchr("+-.,[]() ", *p) ||
		    ((*p == 'e' || *p == 'E') && before >= '0' && before <= '9'))
			continue;
		if ((n = word_at(p)) == 0)
			return true;
		p += n - 1;
	}
	return false;
}

void tracedb_redact(struct tracedb *t)
{
	t->redact = true;
}

bool tracedb_redacts(const struct tracedb *t)
{
	return t->redact;
}

int64_t tracedb_args(struct tracedb *t, const struct trace_arg *args, uint32_t n, struct err *e)
{
	struct trace_arg clean[TRACE_MAX_ARGS];
	bool texts = false;

	for (uint32_t i = 0; i < n && !texts; i++)
		texts = is_text(args[i].scalar);
	t->st.texts |= texts;
	if (texts && t->redact) {
		for (uint32_t i = 0; i < n; i++) {
			clean[i] = args[i];
			if (is_text(args[i].scalar))
				clean[i].scalar = "";
		}
		args = clean;
	}
	trace_args_encode(args, n, &t->text);
	if (t->text.failed)
		return err_nomem(e, NULL);
	return text_id(t, false, str_c(&t->text), t->text.len, e);
}
