/* db.c - opening, migrating and using one SQLite file.
 *
 * Opening changes nothing. The schema comes with the first transaction, and with its rows or not at all: nobody sees a new
 * file without tables that it should have, and what fails leaves an old file old. Who reads an old file reads a copy of it
 * that is brought up to date. */
#define _POSIX_C_SOURCE 200809L /* stat */
#include "sim/base/db.h"

#include <assert.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/inputs.h"
#include "sim/base/str.h"

#define BUSY_MS 10000

static const char *const beside_it[] = { "", "-wal", "-shm",
	                                 "-journal" }; /* the file, and what SQLite keeps beside it */

struct db {
	sqlite3 *h;
	char *path;
	bool read_only;
	bool still; /* it is read as a file that does not change, from `was` on */
	struct stat was;
	/* What the schema is made of, for a file whose own is older, or that has none yet. */
	uint32_t app_id;
	const char *const *migrations;
	int n_migrations;
	bool behind;   /* no statement of the caller's fits the file yet */
	bool migrated; /* inside the transaction that is open: a rollback takes it back */
	bool settled;  /* its journal is as we want it, or cannot be */
	struct cached {
		const char *sql;
		sqlite3_stmt *stmt;
	} * stmts;
	int n_stmts, cap_stmts;
};

/* --- errors ------------------------------------------------------------------------------------------------ */

/* SQLite's reason in plain words; NULL where its own text is the best there is. */
static const char *plain_reason(int code)
{
	switch (code & 0xff) {
	case SQLITE_NOTADB:
		return "it is not a database";
	case SQLITE_CORRUPT:
		return "the database is damaged";
	case SQLITE_READONLY:
		return "the file or its folder is read-only";
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return "another process holds its lock";
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return "permission denied";
	case SQLITE_NOLFS:
		return "the file system does not take files this large";
	case SQLITE_TOOBIG:
		return "a value is too large";
	case SQLITE_CANTOPEN:
		return "the file, or a journal beside it, cannot be opened";
	case SQLITE_IOERR:
		return "reading or writing the file failed";
	default:
		return NULL;
	}
}

/* What the system says of it, in the words that any file that cannot be written has; 0: it says nothing. */
static int system_reason(const struct db *d, int code)
{
	return (code & 0xff) == SQLITE_FULL ? ENOSPC : (code & 0xff) == SQLITE_IOERR ? sqlite3_system_errno(d->h) : 0;
}

/* What another user's reading left beside it, with a build that did. */
static bool is_locked_out(const struct db *d, struct str *by)
{
	static const char *const suffixes[] = { "-shm", "-wal" };

	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		str_clear(by);
		str_addf(by, "%s%s", d->path, suffixes[i]);
		if (!by->failed && access(d->path, W_OK) == 0 && access(str_c(by), F_OK) == 0 &&
		    access(str_c(by), W_OK) != 0)
			return true;
	}
	return false;
}

static int fail_locked_out(const struct db *d, const char *doing, struct err *e)
{
	struct str by = STR_INIT;
	int rc = 0;

	if (is_locked_out(d, &by))
		rc = err_set(
			e, ERR_IO,
			"cannot %s '%s': '%s' is of another user, left from reading; it may be removed while nobody"
			" has the database open",
			doing, d->path, str_c(&by));
	str_free(&by);
	return rc;
}

static bool is_changed(const struct db *d)
{
	struct stat st;

	return d->still && (stat(d->path, &st) != 0 || st.st_ino != d->was.st_ino || st.st_size != d->was.st_size ||
	                    st.st_mtim.tv_sec != d->was.st_mtim.tv_sec || st.st_mtim.tv_nsec != d->was.st_mtim.tv_nsec);
}

static int db_fail(struct db *d, int code, const char *doing, struct err *e)
{
	const char *why = plain_reason(code);

	if (is_changed(d)) /* the failure may be of a file half written */
		return err_set(e, ERR_IO, "'%s' was written to while it was read: try again", d->path);
	if (!d->read_only && ((code & 0xff) == SQLITE_READONLY || (code & 0xff) == SQLITE_CANTOPEN) &&
	    fail_locked_out(d, doing, e) < 0)
		return -1;
	if ((code & 0xff) == SQLITE_NOMEM)
		return err_set(e, ERR_NOMEM, "no memory for database '%s'", d->path);
	if (system_reason(d, code))
		return err_sys(e, ERR_IO, system_reason(d, code), "cannot %s '%s'", doing, d->path);
	return err_set(e, ERR_IO, "cannot %s '%s': %s", doing, d->path, why ? why : sqlite3_errmsg(d->h));
}

static int code_of(const struct db *d)
{
	return sqlite3_extended_errcode(d->h);
}

static const char *doing_stmt(sqlite3_stmt *s)
{
	return sqlite3_stmt_readonly(s) ? "read" : "write";
}

/* --- open -------------------------------------------------------------------------------------------------- */

static int pragma_int(struct db *d, const char *sql, int64_t *out)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(d->h, sql, -1, &s, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW) {
		*out = sqlite3_column_int64(s, 0);
		rc = SQLITE_OK;
	}
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? SQLITE_ERROR : rc;
}

/* A file that is given to us may come from anywhere: its schema must not run functions of its choice. */
static int configure(struct db *d)
{
	sqlite3_busy_timeout(d->h, BUSY_MS);
	sqlite3_extended_result_codes(d->h, 1);
	sqlite3_db_config(d->h, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
	sqlite3_db_config(d->h, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
	return sqlite3_exec(d->h, "PRAGMA foreign_keys = ON", NULL, NULL, NULL);
}

static int open_handle(struct db *d, const char *name, int flags)
{
	/* A handle is for one thread at a time: without SQLite's own locks a scan takes a fifth less. */
	int rc = sqlite3_open_v2(name, &d->h, flags | SQLITE_OPEN_NOMUTEX, NULL);
	int64_t unused;

	if (rc == SQLITE_OK)
		rc = configure(d);
	if (rc == SQLITE_OK)
		rc = pragma_int(d, "PRAGMA schema_version", &unused); /* the first read of the file itself */
	if (rc == SQLITE_OK)
		inputs_add_path(d->path);
	return rc;
}

/* Bytes of a file beside it; -1: there is none. */
static int64_t beside(const struct db *d, const char *suffix)
{
	struct str s = STR_INIT;
	struct stat st;
	int64_t size = -1;

	str_addf(&s, "%s%s", d->path, suffix);
	if (!s.failed && stat(str_c(&s), &st) == 0)
		size = st.st_size;
	str_free(&s);
	return size;
}

/* Whether its header says that changes go to a WAL; also of a file that cannot be read, which then says why. */
static bool is_wal(const struct db *d)
{
	unsigned char head[20];
	FILE *f = fopen(d->path, "rb");
	const bool wal = f && fread(head, 1, sizeof head, f) == sizeof head && head[18] == 2;

	if (f)
		fclose(f);
	return wal;
}

static int open_as(struct db *d, const char *how)
{
	struct str uri = STR_INIT;
	int rc = SQLITE_NOMEM;

	str_add(&uri, "file:");
	for (const char *p = d->path; *p; p++) {
		if (strchr("%?#", *p))
			str_addf(&uri, "%%%02x", (unsigned)*p);
		else
			str_addc(&uri, *p);
	}
	str_add(&uri, how);
	if (!uri.failed) {
		sqlite3_close(d->h);
		d->h = NULL;
		rc = open_handle(d, str_c(&uri), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
	}
	str_free(&uri);
	return rc;
}

/* SQLite makes a WAL and shared memory beside such a database for whoever reads it, and they stay behind, of a user whose
 * files the owner may not write. While nothing waits in a WAL and nobody writes, it can be read as a file that does not
 * change; it is looked at again after each statement. */
static int open_still(struct db *d)
{
	d->still = stat(d->path, &d->was) == 0;
	return open_as(d, "?immutable=1");
}

/* Whether its WAL or journal may be brought into it: it, all that is beside it and its folder can be written. */
static bool may_write(const struct db *d)
{
	const char *slash = strrchr(d->path, '/');
	const size_t folder = slash ? (size_t)(slash - d->path) + 1 : 0;
	struct str s = STR_INIT;
	bool may = true;

	for (size_t i = 0; may && i < sizeof beside_it / sizeof *beside_it; i++) {
		str_clear(&s);
		str_addf(&s, "%s%s", d->path, beside_it[i]);
		may = !s.failed && (access(str_c(&s), W_OK) == 0 || (*beside_it[i] && errno == ENOENT));
	}
	str_clear(&s);
	str_addf(&s, "%.*s", (int)folder, d->path);
	may = may && !s.failed && access(folder ? str_c(&s) : ".", W_OK) == 0;
	str_free(&s);
	return may;
}

/* Reading makes no file and changes none, but for what waits beside the file: left by a writer that was killed, or that ended
 * while others were reading. Whoever may brings it in, and the last to close cleans up. */
static int open_reading(struct db *d)
{
	const int64_t wal = beside(d, "-wal"), shm = beside(d, "-shm");
	int rc;

	if ((wal >= 0 || beside(d, "-journal") > 0) && may_write(d)) {
		rc = open_handle(d, d->path, SQLITE_OPEN_READWRITE);
		return rc == SQLITE_OK ? sqlite3_exec(d->h, "PRAGMA query_only = ON", NULL, NULL, NULL) : rc;
	}
	if (!is_wal(d))
		return open_handle(d, d->path, SQLITE_OPEN_READONLY);
	if (wal < 0 || (wal == 0 && shm < 0))
		return open_still(d);
	rc = open_as(d, "?readonly_shm=1");
	if (((rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY) && wal == 0)
		rc = open_still(d);
	return rc;
}

static int open_file(struct db *d, struct err *e)
{
	struct stat st;
	int rc;

	if (stat(d->path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return err_sys(e, ERR_IO, EISDIR, "cannot open '%s'", d->path);
		if (!S_ISREG(st.st_mode)) /* SQLite would keep a journal beside it */
			return err_set(e, ERR_IO, "cannot open '%s': a database is a plain file, and this is none",
			               d->path);
	} else if (strcmp(d->path, ":memory:") != 0 && (d->read_only || errno != ENOENT)) {
		return err_sys(e, ERR_IO, errno, "cannot open '%s'", d->path);
	}
	rc = d->read_only ? open_reading(d) : open_handle(d, d->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
	if (rc != SQLITE_OK)
		return db_fail(d, rc, "open", e);
	if (!d->read_only && sqlite3_db_readonly(d->h, "main") == 1) /* SQLite falls back to this silently */
		return err_set(e, ERR_IO, "cannot write '%s': the file is read-only", d->path);
	return 0;
}

/* --- schema ------------------------------------------------------------------------------------------------ */

static void id_text(uint32_t id, char out[16])
{
	for (int i = 0; i < 4; i++) {
		unsigned char c = (unsigned char)(id >> (24 - 8 * i));

		if (c <= 0x20 || c >= 0x7f) {
			snprintf(out, 16, "0x%08x", (unsigned)id);
			return;
		}
		out[i] = (char)c;
	}
	out[4] = '\0';
}

/* In one read transaction: another process may be creating the file meanwhile. */
static int read_schema(struct db *d, int64_t *id, int64_t *version, int64_t *tables)
{
	int rc = sqlite3_exec(d->h, "BEGIN", NULL, NULL, NULL);

	if (rc == SQLITE_OK)
		rc = pragma_int(d, "PRAGMA application_id", id);
	if (rc == SQLITE_OK)
		rc = pragma_int(d, "PRAGMA user_version", version);
	if (rc == SQLITE_OK)
		rc = pragma_int(d, "SELECT count(*) FROM sqlite_master", tables);
	db_rollback(d);
	return rc;
}

static int newer(const struct db *d, int64_t version, struct err *e)
{
	return err_set(e, ERR_IO, "'%s' was written by a newer npusim (schema %lld, this build knows %d)", d->path,
	               (long long)version, d->n_migrations);
}

/* Whether the file is ours, and how old; changes nothing. */
static int check_schema(struct db *d, int64_t *version, struct err *e)
{
	int64_t id = 0, tables = 0;
	int rc = read_schema(d, &id, version, &tables);
	char is[16], due[16];

	if (rc != SQLITE_OK)
		return db_fail(d, rc, "read", e);
	if ((id == 0 || (uint32_t)id == d->app_id) && *version == 0 && tables == 0) {
		if (d->read_only)
			return err_set(e, ERR_IO, "cannot read '%s': the database is empty", d->path);
		return 0;
	}
	if ((uint32_t)id != d->app_id) {
		id_text((uint32_t)id, is);
		id_text(d->app_id, due);
		return err_set(e, ERR_IO, "'%s' is another kind of database (its id is '%s', not '%s')", d->path, is,
		               due);
	}
	/* Tables, id and version come in one transaction: no command of ours left it so, and none can update it. */
	if (*version < 1 || tables == 0)
		return err_set(e, ERR_IO, "'%s' is damaged: its schema is of version %lld and it has %lld tables",
		               d->path, (long long)*version, (long long)tables);
	return *version > d->n_migrations ? newer(d, *version, e) : 0;
}

/* The steps that are missing, inside the caller's transaction; another process may have taken them meanwhile. */
static int migrate(struct db *d, struct err *e)
{
	char pragmas[96];
	int64_t version = 0, to;
	int rc = pragma_int(d, "PRAGMA user_version", &version);

	if (rc == SQLITE_OK && version > d->n_migrations)
		return newer(d, version, e);
	for (to = version; rc == SQLITE_OK && to < d->n_migrations; to++)
		rc = sqlite3_exec(d->h, d->migrations[to], NULL, NULL, NULL);
	if (rc != SQLITE_OK) {
		db_fail(d, rc, d->read_only ? "read" : "write", e);
		return err_add(e, "bringing its schema to version %lld", (long long)to);
	}
	snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %ld; PRAGMA user_version = %d",
	         (long)(int32_t)d->app_id, d->n_migrations);
	if (version < d->n_migrations && (rc = sqlite3_exec(d->h, pragmas, NULL, NULL, NULL)) != SQLITE_OK)
		return db_fail(d, rc, "write", e);
	return 0;
}

/* All pages of the file as they are now, into a database of ours alone; what does not fit SQLite's cache waits in a file
 * without a name. */
static int copy_out(struct db *d)
{
	sqlite3 *file = d->h;
	sqlite3_backup *b;
	int rc;

	d->h = NULL;
	rc = open_handle(d, "", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
	if (rc == SQLITE_OK) {
		b = sqlite3_backup_init(d->h, "main", file, "main");
		rc = b ? sqlite3_backup_step(b, -1) : code_of(d);
		sqlite3_backup_finish(b);
	}
	sqlite3_close(file);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* An old file is read as what it will be when it is next written to. */
static int read_old(struct db *d, struct err *e)
{
	int rc = copy_out(d);

	if (rc != SQLITE_OK || is_changed(d))
		return db_fail(d, rc, "read", e);
	d->still = false;
	if ((rc = sqlite3_exec(d->h, "BEGIN", NULL, NULL, NULL)) != SQLITE_OK)
		return db_fail(d, rc, "read", e);
	if (migrate(d, e) < 0)
		return -1;
	rc = sqlite3_exec(d->h, "COMMIT; PRAGMA query_only = ON", NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : db_fail(d, rc, "read", e);
}

/* A file that cannot be written, or a disk without room for the schema alone, is found before hours of work and not after:
 * all is written as it will be, and taken back. */
static int try_writing(struct db *d, struct err *e)
{
	int rc;

	if (db_begin(d, e) < 0)
		return -1;
	if ((rc = sqlite3_db_cacheflush(d->h)) != SQLITE_OK)
		db_fail(d, rc, "write", e);
	db_rollback(d);
	return rc == SQLITE_OK ? 0 : -1;
}

struct db *db_open(const char *path, enum db_mode mode, uint32_t app_id, const char *const *migrations,
                   int n_migrations, struct err *e)
{
	struct db *d = calloc(1, sizeof *d);
	int64_t version = 0;

	if (!d || !(d->path = malloc(strlen(path) + 1))) {
		err_set(e, ERR_NOMEM, "no memory for database '%s'", path);
		goto fail;
	}
	strcpy(d->path, path);
	d->read_only = mode == DB_READ;
	d->app_id = app_id;
	d->migrations = migrations;
	d->n_migrations = n_migrations;
	if (open_file(d, e) < 0 || check_schema(d, &version, e) < 0)
		goto fail;
	if (d->read_only) {
		if (version < n_migrations && read_old(d, e) < 0)
			goto fail;
		return d;
	}
	sqlite3_exec(d->h, "PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
	d->behind = version < n_migrations;
	if (d->behind && strcmp(path, ":memory:") == 0) {
		/* It is nobody else's, and may be read before anything is written to it. */
		if (db_begin(d, e) < 0 || db_commit(d, e) < 0)
			goto fail;
	} else if (d->behind && version == 0 && try_writing(d, e) < 0) {
		goto fail;
	}
	return d;
fail:
	db_free(d);
	return NULL;
}

void db_free(struct db *d)
{
	if (!d)
		return;
	for (int i = 0; i < d->n_stmts; i++)
		sqlite3_finalize(d->stmts[i].stmt);
	free(d->stmts);
	if (d->h)
		db_rollback(d);
	sqlite3_close(d->h);
	free(d->path);
	free(d);
}

bool db_absent(const char *path)
{
	struct stat st;

	return strcmp(path, ":memory:") != 0 && stat(path, &st) < 0 && errno == ENOENT;
}

void db_remove(const char *path)
{
	struct str s = STR_INIT;

	for (size_t i = 0; i < sizeof beside_it / sizeof *beside_it; i++) {
		str_clear(&s);
		str_add(&s, path);
		str_add(&s, beside_it[i]);
		if (!s.failed)
			unlink(str_c(&s));
	}
	str_free(&s);
}

const char *db_path(const struct db *d)
{
	return d->path;
}

/* --- transactions ------------------------------------------------------------------------------------------ */

int db_exec(struct db *d, const char *sql, struct err *e)
{
	int rc = sqlite3_exec(d->h, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : db_fail(d, rc, d->read_only ? "read" : "write", e);
}

int db_begin(struct db *d, struct err *e)
{
	assert(sqlite3_get_autocommit(d->h)); /* transactions do not nest */
	if (db_exec(d, "BEGIN IMMEDIATE", e) < 0)
		return -1;
	if (d->behind) {
		if (migrate(d, e) < 0) {
			db_rollback(d);
			return -1;
		}
		d->migrated = true;
		d->behind = false;
	}
	return 0;
}

/* After the first transaction, which so changes nothing but in one step. Where the file system has no shared memory the
 * journal stays as it is: slower, and still correct. */
static void db_settle(struct db *d)
{
	if (!d->settled)
		sqlite3_exec(d->h, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
	d->settled = true;
}

int db_commit(struct db *d, struct err *e)
{
	assert(!sqlite3_get_autocommit(d->h));
	if (db_exec(d, "COMMIT", e) < 0)
		return -1;
	d->migrated = false;
	db_settle(d);
	return 0;
}

void db_rollback(struct db *d)
{
	if (!sqlite3_get_autocommit(d->h)) /* some errors have rolled back already */
		sqlite3_exec(d->h, "ROLLBACK", NULL, NULL, NULL);
	d->behind = d->behind || d->migrated;
	d->migrated = false;
}

bool db_is_blank(struct db *d)
{
	int64_t version = 0;

	return pragma_int(d, "PRAGMA user_version", &version) == SQLITE_OK && version == 0;
}

int64_t db_last_id(struct db *d)
{
	return sqlite3_last_insert_rowid(d->h);
}

int db_checkpoint(struct db *d, struct err *e)
{
	const int rc = sqlite3_wal_checkpoint_v2(d->h, NULL, SQLITE_CHECKPOINT_FULL, NULL, NULL);

	if ((rc & 0xff) == SQLITE_BUSY)
		return err_set(
			e, ERR_IO,
			"cannot bring what is stored into '%s': another process has been reading an older state of"
			" it for %d s; it is in '%s-wal', and the next command on '%s' brings it in",
			d->path, BUSY_MS / 1000, d->path, d->path);
	return rc == SQLITE_OK ? 0 : db_fail(d, rc, "write", e);
}

/* --- statements -------------------------------------------------------------------------------------------- */

static struct cached *cached(struct db *d, const char *sql)
{
	for (int i = 0; i < d->n_stmts; i++) /* the same literal, nearly always */
		if (d->stmts[i].sql == sql && strcmp(sqlite3_sql(d->stmts[i].stmt), sql) == 0)
			return &d->stmts[i];
	for (int i = 0; i < d->n_stmts; i++)
		if (strcmp(sqlite3_sql(d->stmts[i].stmt), sql) == 0)
			return &d->stmts[i];
	return NULL;
}

sqlite3_stmt *db_stmt(struct db *d, const char *sql, struct err *e)
{
	struct cached *c = cached(d, sql);
	sqlite3_stmt *s = NULL;
	const char *tail;
	int rc;

	assert(!d->behind); /* a writer's first statement is inside a transaction */
	if (c) {
		sqlite3_reset(c->stmt);
		sqlite3_clear_bindings(c->stmt);
		return c->stmt;
	}
	if (d->n_stmts == d->cap_stmts) {
		int cap = d->cap_stmts ? 2 * d->cap_stmts : 16;
		struct cached *v = realloc(d->stmts, (size_t)cap * sizeof *v);

		if (!v) {
			err_set(e, ERR_NOMEM, "no memory for database '%s'", d->path);
			return NULL;
		}
		d->stmts = v;
		d->cap_stmts = cap;
	}
	rc = sqlite3_prepare_v3(d->h, sql, -1, SQLITE_PREPARE_PERSISTENT, &s, &tail);
	if (rc != SQLITE_OK) {
		db_fail(d, code_of(d), "use", e);
		return NULL;
	}
	assert(s && !*tail); /* one statement, which is then the cache's key */
	d->stmts[d->n_stmts++] = (struct cached){ sql, s };
	return s;
}

static int db_refuse(void *arg)
{
	(void)arg;
	return 1;
}

/* A bind fails for an index that is not in the statement, and without memory. Going on would store NULL, so the database does
 * nothing any more: every statement is interrupted. */
static void bound(sqlite3_stmt *s, int i, int rc)
{
	(void)i;
	if (rc != SQLITE_OK)
		sqlite3_progress_handler(sqlite3_db_handle(s), 1, db_refuse, NULL);
}

void db_bind_i64(sqlite3_stmt *s, int i, int64_t v)
{
	bound(s, i, sqlite3_bind_int64(s, i, v));
}

void db_bind_f64(sqlite3_stmt *s, int i, double v)
{
	bound(s, i, sqlite3_bind_double(s, i, v));
}

void db_bind_text(sqlite3_stmt *s, int i, const char *v)
{
	bound(s, i, v ? sqlite3_bind_text(s, i, v, -1, SQLITE_TRANSIENT) : sqlite3_bind_null(s, i));
}

void db_bind_null(sqlite3_stmt *s, int i)
{
	bound(s, i, sqlite3_bind_null(s, i));
}

int db_step(struct db *d, sqlite3_stmt *s, struct err *e)
{
	int rc = sqlite3_step(s);

	if (rc == SQLITE_ROW)
		return 1;
	if (rc != SQLITE_DONE || is_changed(d)) { /* then the rows may be of a file half written, too */
		db_fail(d, code_of(d), doing_stmt(s), e);
		rc = SQLITE_ERROR;
	}
	sqlite3_reset(s);
	return rc == SQLITE_DONE ? 0 : -1;
}

int db_run(struct db *d, sqlite3_stmt *s, struct err *e)
{
	int rc;

	while ((rc = db_step(d, s, e)) == 1)
		continue;
	return rc;
}

int db_number(struct db *d, sqlite3_stmt *s, int64_t *n, struct err *e)
{
	const int rc = s ? db_step(d, s, e) : -1;

	*n = rc == 1 ? db_col_i64(s, 0) : 0;
	return rc == 1 ? db_run(d, s, e) : rc;
}

int64_t db_col_i64(sqlite3_stmt *s, int i)
{
	return sqlite3_column_int64(s, i);
}

double db_col_f64(sqlite3_stmt *s, int i)
{
	return sqlite3_column_double(s, i);
}

const char *db_col_text(sqlite3_stmt *s, int i)
{
	const char *t = (const char *)sqlite3_column_text(s, i);

	return t ? t : "";
}

bool db_col_null(sqlite3_stmt *s, int i)
{
	return sqlite3_column_type(s, i) == SQLITE_NULL;
}

int db_cols(sqlite3_stmt *s)
{
	return sqlite3_column_count(s);
}

const char *db_col_name(sqlite3_stmt *s, int i)
{
	const char *t = sqlite3_column_name(s, i);

	return t ? t : "";
}

enum db_kind db_col_kind(sqlite3_stmt *s, int i)
{
	switch (sqlite3_column_type(s, i)) {
	case SQLITE_INTEGER:
		return DB_INT;
	case SQLITE_FLOAT:
		return DB_REAL;
	case SQLITE_NULL:
		return DB_NULL;
	default:
		return DB_TEXT;
	}
}

sqlite3_stmt *db_stmt_once(struct db *d, const char *sql, struct err *e)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(d->h, sql, -1, &s, NULL);

	if (rc != SQLITE_OK)
		db_fail(d, code_of(d), "use", e);
	return s;
}

void db_stmt_free(sqlite3_stmt *s)
{
	sqlite3_finalize(s);
}
