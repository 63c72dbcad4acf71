/* nsys_file.c - opening a foreign SQLite file so that nothing happens to it, and asking it for what it may not have. */
#define _POSIX_C_SOURCE 200809L /* fstatvfs */
#include "traces/read/nsys_int.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "sim/base/inputs.h"
#include "sim/base/str.h"
#include "sim/base/temp.h"
#include "traces/read/nsys.h"

#define NAME_MAX_BYTES (1 << 20)
#define TIME_MAX       (INT64_C(1) << 61) /* a start, a duration and the clock's origin add up without overflow */
#define MAGIC          "SQLite format 3"  /* with its zero */
#define HEAD           100                /* of an SQLite file, in bytes */
#define ID_BITS        40                 /* of a correlation id; CUPTI's have 32 */
#define PROCESSES_MAX  (1u << 20)
#define SPOOL_KEEP     (UINT64_C(1) << 30) /* of a disk is left to others; a sixteenth of a small one */

static int nsys_file_fail(struct nsys *n, struct err *e)
{
	const int code = sqlite3_errcode(n->h) & 0xff;

	if (code == SQLITE_NOMEM)
		return err_nomem(e, NULL);
	if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
		return err_set(e, ERR_IO, "'%s' is damaged: %s", n->file, sqlite3_errmsg(n->h));
	return err_set(e, ERR_IO, "cannot read '%s': %s", n->file, sqlite3_errmsg(n->h));
}

/* --- opening --------------------------------------------------------------------------------------------------- */

/* As a file that does not change: no lock, no journal and no shared memory beside it. */
static int open_immutable(struct nsys *n, const char *path, struct err *e)
{
	struct str uri = STR_INIT;
	int rc;

	str_add(&uri, "file:");
	for (const char *p = path; *p; p++) {
		if (strchr("%?#", *p))
			str_addf(&uri, "%%%02x", (unsigned)*p);
		else
			str_addc(&uri, *p);
	}
	str_add(&uri, "?immutable=1");
	rc = uri.failed ? SQLITE_NOMEM
	                : sqlite3_open_v2(str_c(&uri), &n->h,
	                                  SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
	str_free(&uri);
	if (!n->h)
		return err_nomem(e, NULL);
	if (rc != SQLITE_OK)
		return nsys_file_fail(n, e);
	inputs_add_path(path);
	/* It may come from anywhere: its schema must not run functions of its choice, nor a value fill the memory. */
	sqlite3_db_config(n->h, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
	sqlite3_db_config(n->h, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
	sqlite3_limit(n->h, SQLITE_LIMIT_LENGTH, 64 << 20);
	if (sqlite3_exec(n->h, "pragma cache_size = -16384", NULL, NULL, NULL) != SQLITE_OK)
		return nsys_file_fail(n, e);
	return 0;
}

bool nsys_room(uint64_t size, uint64_t left)
{
	const uint64_t keep = size / 16 < SPOOL_KEEP ? size / 16 : SPOOL_KEEP;

	return left > keep + INPUT_CHUNK;
}

/* What the header says of the file's size: pages, of so many bytes, where both of its counters agree that it is so. 0: it
 * does not say (https://sqlite.org/fileformat2.html, 1.3). */
static uint64_t size_said(const unsigned char head[HEAD])
{
	const uint64_t page = (uint64_t)head[16] << 8 | head[17];
	uint64_t pages = 0;

	if (memcmp(head + 24, head + 92, 4) != 0)
		return 0;
	for (int i = 28; i < 32; i++)
		pages = pages << 8 | head[i];
	return pages * (page == 1 ? 65536 : page);
}

/* Whether `more` bytes have a place there, and others too. */
static int check_room(struct input *in, int fd, uint64_t size, uint64_t more, struct err *e)
{
	struct statvfs fs;
	uint64_t left;

	if (fstatvfs(fd, &fs) != 0 || fs.f_frsize == 0)
		return 0;
	left = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (left >= more && nsys_room((uint64_t)fs.f_blocks * fs.f_frsize, left - more))
		return 0;
	return err_set(e, ERR_IO,
	               "'%s' unpacks to %llu MB or more, of which SQLite needs a file, and '%s' has only %llu MB left:"
	               " name a folder with room in TMPDIR",
	               input_name(in), (unsigned long long)(size / 1000000), input_temp(in),
	               (unsigned long long)(left / 1000000));
}

/* A file in the making. */
struct spool {
	struct input *in;
	int fd;
	uint64_t said, total; /* bytes by the header, and those that came */
};

/* A few MiB of zeros unpack to GBs: that there is no room is said before there is none for anybody else, and at once where
 * the header says how much it will be. */
static int check_piece(struct spool *s, const unsigned char *piece, long n, struct err *e)
{
	if (s->total == 0 && n >= HEAD)
		s->said = size_said(piece);
	return s->total == 0 ? check_room(s->in, s->fd, s->said, s->said, e) : check_room(s->in, s->fd, s->total, 0, e);
}

/* SQLite does not look at what is behind the end that the header says, so it takes no room. */
static int write_piece(struct spool *s, const unsigned char *piece, long n, struct err *e)
{
	const uint64_t left = s->said > s->total ? s->said - s->total : 0;

	s->total += (uint64_t)n;
	if (s->said && left < (uint64_t)n)
		n = (long)left;
	for (long at = 0; at < n;) {
		const ssize_t k = write(s->fd, piece + at, (size_t)(n - at));

		if (k < 0 && errno != EINTR)
			return err_sys(e, ERR_IO, errno, "cannot unpack '%s' into the folder '%s'", input_name(s->in),
			               input_temp(s->in));
		at += k > 0 ? k : 0;
	}
	return 0;
}

static int spool_all(struct input *in, int fd, struct err *e)
{
	unsigned char *buf = malloc(INPUT_CHUNK);
	struct spool s = { in, fd, 0, 0 };
	long n = -1;

	if (!buf)
		return err_nomem(e, NULL);
	while ((n = input_read(in, buf, INPUT_CHUNK, e)) > 0)
		if (check_piece(&s, buf, n, e) < 0 || write_piece(&s, buf, n, e) < 0) {
			n = -1;
			break;
		}
	free(buf);
	return n < 0 ? -1 : 0;
}

/* SQLite reads from files only, and asks for their names. It has one only while it is opened. */
static int unpack(struct nsys *n, struct input *in, struct err *e)
{
	struct str stem = STR_INIT;
	struct temp t = TEMP_INIT;
	int why, rc = -1;

	str_addf(&stem, "%s/npusim-nsys", input_temp(in));
	why = stem.failed ? -ENOMEM : temp_open(&t, str_c(&stem), false);
	if (why < 0) {
		err_sys(e, ERR_IO, -why, "cannot unpack '%s' into the folder '%s'", n->file, input_temp(in));
	} else {
		input_rewind(in);
		rc = spool_all(in, t.fd, e);
	}
	if (rc == 0 && (why = temp_link(&t)) < 0)
		rc = err_sys(e, ERR_IO, -why, "cannot unpack '%s' into the folder '%s'", n->file, input_temp(in));
	if (rc == 0)
		rc = open_immutable(n, str_c(&t.name), e);
	temp_free(&t); /* SQLite has it open */
	str_free(&stem);
	return rc;
}

bool nsys_is_bytes(const void *p, size_t n)
{
	return n >= sizeof MAGIC && memcmp(p, MAGIC, sizeof MAGIC) == 0;
}

int nsys_open(struct nsys *n, struct input *in, struct err *e)
{
	char head[sizeof MAGIC];
	size_t got = 0;
	long k = 0;

	input_rewind(in);
	while (got < sizeof head && (k = input_read(in, head + got, sizeof head - got, e)) > 0)
		got += (size_t)k;
	if (k < 0)
		return -1;
	if (!nsys_is_bytes(head, got))
		return err_set(e, ERR_IO, "'%s' is no SQLite database, which 'nsys export --type sqlite' writes",
		               n->file);
	if (input_is_file(in) && !input_zipped(in))
		return open_immutable(n, n->file, e);
	return unpack(n, in, e);
}

void nsys_close(struct nsys *n)
{
	sqlite3_close(n->h);
	idmap_free(&n->pids);
}

/* --- asking ---------------------------------------------------------------------------------------------------- */

static sqlite3_stmt *prepare(struct nsys *n, const char *sql, struct err *e)
{
	sqlite3_stmt *s = NULL;

	if (sqlite3_prepare_v2(n->h, sql, -1, &s, NULL) != SQLITE_OK)
		nsys_file_fail(n, e);
	return s;
}

static int nsys_file_finish(struct nsys *n, sqlite3_stmt *s, int rc, struct err *e)
{
	sqlite3_finalize(s);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? rc == SQLITE_ROW : nsys_file_fail(n, e);
}

int nsys_has_table(struct nsys *n, const char *table, struct err *e)
{
	sqlite3_stmt *s = prepare(n, "select 1 from sqlite_master where type = 'table' and name = ?", e);

	if (!s)
		return -1;
	sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
	return nsys_file_finish(n, s, sqlite3_step(s), e);
}

int nsys_has_column(struct nsys *n, const char *table, const char *column, struct err *e)
{
	sqlite3_stmt *s = prepare(n, "select 1 from pragma_table_info(?) where name = ?", e);

	if (!s)
		return -1;
	sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 2, column, -1, SQLITE_STATIC);
	return nsys_file_finish(n, s, sqlite3_step(s), e);
}

int nsys_number(struct nsys *n, const char *sql, int64_t *v, bool *got, struct err *e)
{
	sqlite3_stmt *s = prepare(n, sql, e);
	int rc;

	*got = false;
	if (!s)
		return -1;
	if ((rc = sqlite3_step(s)) == SQLITE_ROW && sqlite3_column_type(s, 0) == SQLITE_INTEGER) {
		*v = sqlite3_column_int64(s, 0);
		*got = true;
	}
	return nsys_file_finish(n, s, rc, e) < 0 ? -1 : 0;
}

/* --- look-ups -------------------------------------------------------------------------------------------------- */

/* A table that names are looked up in, by its key; exporters make the key primary, others forget to. */
static const struct lookup {
	const char *table, *key, *value;
} lookups[] = {
	{ "StringIds", "id", "value" },
	{ "TARGET_INFO_CUDA_DEVICE", "gpuId", "cudaId" },
};

/* 1 when SQLite finds a row of that key without looking at all, or the table lacks one of them; 0, -1. */
static int is_quick(struct nsys *n, const struct lookup *l, struct err *e)
{
	sqlite3_stmt *s = prepare(n,
	                          "select count(*) < 2 or max(pk = 1 and upper(type) = 'INTEGER' and name = ?2)"
	                          " or exists(select 1 from pragma_index_list(?1) i, pragma_index_info(i.name) c"
	                          " where c.seqno = 0 and c.name = ?2)"
	                          " from pragma_table_info(?1) where name in (?2, ?3)",
	                          e);
	int rc;

	if (!s)
		return -1;
	sqlite3_bind_text(s, 1, l->table, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 2, l->key, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 3, l->value, -1, SQLITE_STATIC);
	rc = sqlite3_step(s);
	if (rc == SQLITE_ROW && sqlite3_column_int(s, 0))
		return nsys_file_finish(n, s, rc, e) < 0 ? -1 : 1;
	return nsys_file_finish(n, s, rc, e) < 0 ? -1 : 0;
}

int nsys_index(struct nsys *n, struct err *e)
{
	for (size_t i = 0; i < sizeof lookups / sizeof *lookups; i++) {
		const struct lookup *l = &lookups[i];
		const int quick = is_quick(n, l, e);
		struct str sql = STR_INIT;
		int rc;

		if (quick < 0)
			return -1;
		if (quick)
			continue;
		str_addf(
			&sql,
			"create temp table \"%s\"(\"%s\" integer primary key, \"%s\") without rowid;"
			"insert or ignore into temp.\"%s\" select \"%s\", \"%s\" from main.\"%s\" where \"%s\" is not null",
			l->table, l->key, l->value, l->table, l->key, l->value, l->table, l->key);
		rc = sql.failed ? SQLITE_NOMEM : sqlite3_exec(n->h, str_c(&sql), NULL, NULL, NULL);
		str_free(&sql);
		if (rc != SQLITE_OK)
			return rc == SQLITE_NOMEM ? err_set(e, ERR_NOMEM, "out of memory") : nsys_file_fail(n, e);
	}
	return 0;
}

/* --- rows ------------------------------------------------------------------------------------------------------ */

/* The first name that has a text: one look-up a row, nearly always. */
static int add_name(struct nsys *n, struct str *sql, const char *table, struct err *e)
{
	static const char *const names[] = { "demangledName", "shortName", "mangledName" };
	int has;

	str_add(sql, "coalesce(");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if ((has = nsys_has_column(n, table, names[i], e)) < 0)
			return -1;
		if (has)
			str_addf(sql, "(select nullif(value, '') from StringIds where id = t.\"%s\"), ", names[i]);
	}
	str_add(sql, "null, null)");
	return 0;
}

static int add_column(struct nsys *n, struct str *sql, const char *table, const struct nsys_col *c, struct err *e)
{
	const int has = c->type == NSYS_NAME ? 1 : nsys_has_column(n, table, c->name, e);

	if (has < 0)
		return -1;
	if (!has && c->type == NSYS_NEEDED)
		return err_set(e, ERR_IO, "no column '%s' in table %s of '%s'", c->name, table, n->file);
	if (!has)
		str_add(sql, "null");
	else if (c->type == NSYS_NAME)
		return add_name(n, sql, table, e);
	else if (c->type == NSYS_TEXT)
		str_addf(sql, "(select value from StringIds where id = t.\"%s\")", c->name);
	else if (c->type == NSYS_CUDA_ID)
		str_addf(sql, "coalesce((select cudaId from TARGET_INFO_CUDA_DEVICE where gpuId = t.\"%s\"), t.\"%s\")",
		         c->name, c->name);
	else
		str_addf(sql, "t.\"%s\"", c->name);
	return 0;
}

int nsys_rows(struct nsys *n, struct nsys_rows *r, const struct nsys_query *q, struct err *e)
{
	struct str sql = STR_INIT;
	int rc = 0;

	*r = (struct nsys_rows){ n, NULL, q->what };
	str_add(&sql, "select ");
	for (int i = 0; rc == 0 && i < q->n_cols; i++) {
		str_add(&sql, i ? ", " : "");
		rc = add_column(n, &sql, q->table, &q->cols[i], e);
	}
	str_addf(&sql, " from \"%s\" t %s", q->table, q->tail ? q->tail : "");
	if (rc == 0 && sql.failed)
		rc = err_nomem(e, NULL);
	if (rc == 0 && !(r->s = prepare(n, str_c(&sql), e)))
		rc = -1;
	str_free(&sql);
	return rc;
}

void nsys_rows_end(struct nsys_rows *r)
{
	sqlite3_finalize(r->s);
	r->s = NULL;
}

int nsys_next(struct nsys_rows *r, struct err *e)
{
	const int rc = r->s ? sqlite3_step(r->s) : SQLITE_DONE;

	if (rc == SQLITE_ROW)
		return 1;
	return rc == SQLITE_DONE ? 0 : nsys_file_fail(r->n, e);
}

bool nsys_null(const struct nsys_rows *r, int i)
{
	return sqlite3_column_type(r->s, i) == SQLITE_NULL;
}

int nsys_get(const struct nsys_rows *r, int i, const char *name, int64_t most, int64_t *v, struct err *e)
{
	const int type = sqlite3_column_type(r->s, i);

	*v = type == SQLITE_NULL ? 0 : sqlite3_column_int64(r->s, i);
	if ((type != SQLITE_INTEGER && type != SQLITE_NULL) || *v < 0 || *v > most)
		return err_set(e, ERR_IO, "'%.60s' of %s cannot be '%.60s' in '%s'", name, r->what,
		               (const char *)sqlite3_column_text(r->s, i), r->n->file);
	return 0;
}

int64_t nsys_any(const struct nsys_rows *r, int i)
{
	return sqlite3_column_int64(r->s, i);
}

const char *nsys_text(const struct nsys_rows *r, int i, struct err *e)
{
	const char *text = (const char *)sqlite3_column_text(r->s, i);

	if (!text && sqlite3_errcode(r->n->h) == SQLITE_NOMEM) {
		err_nomem(e, NULL);
		return NULL;
	}
	if (sqlite3_column_bytes(r->s, i) > NAME_MAX_BYTES) {
		err_set(e, ERR_IO, "the name of %s is longer than 1 MiB in '%s'", r->what, r->n->file);
		return NULL;
	}
	return text ? text : "";
}

int nsys_span(const struct nsys_rows *r, int64_t *start, int64_t *dur, struct err *e)
{
	const int64_t from = sqlite3_column_int64(r->s, 0), to = sqlite3_column_int64(r->s, 1);

	if (sqlite3_column_type(r->s, 0) != SQLITE_INTEGER || sqlite3_column_type(r->s, 1) != SQLITE_INTEGER)
		return err_set(e, ERR_IO, "%s has no integer times in '%s'", r->what, r->n->file);
	if (from < -TIME_MAX || from > TIME_MAX || to < -TIME_MAX || to > TIME_MAX)
		return err_set(e, ERR_IO, "the times of %s are out of range in '%s': from %lld to %lld ns", r->what,
		               r->n->file, (long long)from, (long long)to);
	if (to < from)
		return err_set(e, ERR_IO, "%s ends before it starts in '%s': from %lld to %lld ns", r->what, r->n->file,
		               (long long)from, (long long)to);
	*start = from;
	*dur = to - from;
	return 0;
}

/* The number of a process, from 1; 0 error. */
static uint64_t number_process(struct nsys *n, int64_t process, struct err *e)
{
	uintptr_t k;

	if (n->last_pid_number && n->last_pid == process)
		return n->last_pid_number;
	k = (uintptr_t)idmap_get(&n->pids, process);
	if (k == 0 && n->pids.n == PROCESSES_MAX) {
		err_set(e, ERR_IO, "more than %u processes in '%s'", PROCESSES_MAX, n->file);
		return 0;
	}
	if (k == 0) {
		k = n->pids.n + 1;
		if (idmap_put(&n->pids, process, (void *)k, e) < 0)
			return 0;
	}
	n->last_pid = process;
	return n->last_pid_number = k;
}

int nsys_correlation(struct nsys *n, int64_t process, int64_t id, int64_t *out, struct err *e)
{
	uint64_t k;

	*out = 0;
	if (id == 0)
		return 0;
	if (id < 0 || id >= INT64_C(1) << ID_BITS)
		return err_set(e, ERR_IO, "the correlation id %lld is out of range in '%s'", (long long)id, n->file);
	*out = id;
	if (!n->by_process)
		return 0;
	if (!(k = number_process(n, process, e)))
		return -1;
	*out += (int64_t)(k - 1) << ID_BITS;
	return 0;
}
