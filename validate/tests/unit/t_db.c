/* t_db.c - files that are ours, files that are not, and what happens to each. */
#define _POSIX_C_SOURCE 200809L /* fork, nanosleep */
#include "sim/base/db.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "validate/tests/test.h"

#define ID_A 0x4e505541u /* "NPUA" */
#define ID_B 0x4e505542u

static const char *const migrations[] = {
	"CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE, x REAL);",
	"ALTER TABLE t ADD COLUMN extra INTEGER; INSERT INTO t (name, x) VALUES ('from v2', 0.5);",
};

/* For writing: with a first transaction, which is what makes a schema. */
static struct db *open_ok(const char *path, enum db_mode mode, int n)
{
	struct err e = ERR_INIT;
	struct db *d = db_open(path, mode, ID_A, migrations, n, &e);

	if (!d || (mode == DB_WRITE && (db_begin(d, &e) < 0 || db_commit(d, &e) < 0)))
		test_fail(__FILE__, __LINE__, "%s", e.msg);
	return d;
}

static void open_fails(const char *path, enum db_mode mode, const char *part)
{
	struct err e = ERR_INIT;
	struct db *d = db_open(path, mode, ID_A, migrations, 2, &e);

	if (d)
		test_fail(__FILE__, __LINE__, "'%s' was opened", path);
	CHECK(e.kind == ERR_IO);
	CHECK_HAS(e.msg, part);
	CHECK_HAS(e.msg, path);
	CHECK(!strchr(e.msg, '\n'));
}

static int64_t query(struct db *d, const char *sql)
{
	struct err e = ERR_INIT;
	struct sqlite3_stmt *s = db_stmt(d, sql, &e);
	int64_t v;

	if (!s || db_step(d, s, &e) != 1)
		test_fail(__FILE__, __LINE__, "%s: %s", sql, e.msg);
	v = db_col_i64(s, 0);
	CHECK(db_step(d, s, &e) == 0);
	return v;
}

static void write_file(const char *path, const void *data, size_t n)
{
	FILE *f = fopen(path, "wb");

	CHECK(f && fwrite(data, 1, n, f) == n && fclose(f) == 0);
}

static size_t read_file(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	CHECK(f);
	n = fread(buf, 1, size, f);
	fclose(f);
	return n;
}

TEST(an_absent_file_is_made_and_migrated)
{
	char path[400];
	struct db *d = open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 2);

	CHECK_U64(query(d, "PRAGMA user_version"), 2);
	CHECK_U64(query(d, "PRAGMA application_id"), ID_A);
	CHECK_U64(query(d, "PRAGMA foreign_keys"), 1);
	CHECK_U64(query(d, "SELECT count(*) FROM t"), 1);
	CHECK_STR(db_path(d), path);
	db_free(d);
}

static bool is_there(const char *path, const char *suffix)
{
	char name[420];
	struct stat st;

	snprintf(name, sizeof name, "%s%s", path, suffix);
	return stat(name, &st) == 0;
}

TEST(reading_leaves_nothing_beside_the_file)
{
	char path[400];
	struct db *d;

	db_free(open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 2));
	d = open_ok(path, DB_READ, 2);
	CHECK_U64(query(d, "SELECT count(*) FROM t"), 1);
	CHECK(!is_there(path, "-shm") && !is_there(path, "-wal"));
	db_free(d);
	CHECK(!is_there(path, "-shm") && !is_there(path, "-wal"));
}

/* What cp makes of it, without what lies beside it. */
static void copy_of(const char *path, char copy[400])
{
	static char all[1 << 20];
	size_t n = read_file(path, all, sizeof all);

	CHECK(n < sizeof all);
	write_file(test_path(copy, 400, "copy.db"), all, n);
}

/* Rows of t in the file by itself. */
static int64_t rows_in_copy(const char *path)
{
	char copy[400];
	struct db *d;
	int64_t n;

	copy_of(path, copy);
	d = open_ok(copy, DB_READ, 2);
	n = query(d, "SELECT count(*) FROM t");
	db_free(d);
	return n;
}

/* A writer that was killed leaves a WAL and shared memory. Who reads it and may write brings it in. */
TEST(what_waits_in_the_wal_of_a_killed_writer_is_read_and_brought_in)
{
	char path[400], name[420];
	struct err e = ERR_INIT;
	pid_t child;
	struct db *d;

	db_free(open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 2));
	for (int lost = 0; lost < 2; lost++) { /* also when the shared memory was not kept */
		if ((child = fork()) == 0) {
			d = open_ok(path, DB_WRITE, 2);
			CHECK_OK(db_exec(d, "INSERT INTO t (name) VALUES (NULL)", &e), e);
			_exit(0);
		}
		CHECK(waitpid(child, NULL, 0) == child);
		CHECK(is_there(path, "-wal") && is_there(path, "-shm"));
		CHECK_U64(rows_in_copy(path), 1 + lost);
		snprintf(name, sizeof name, "%s-shm", path);
		CHECK(!lost || unlink(name) == 0);
		d = open_ok(path, DB_READ, 2);
		CHECK_U64(query(d, "SELECT count(*) FROM t"), 2 + lost);
		CHECK(db_exec(d, "DELETE FROM t", &e) == -1);
		err_clear(&e);
		db_free(d);
		CHECK(!is_there(path, "-wal") && !is_there(path, "-shm"));
		CHECK_U64(rows_in_copy(path), 2 + lost);
	}
}

/* The writer is not the last to close: it has to see to its rows itself. */
TEST(what_a_writer_stored_is_in_the_file_itself_whoever_reads_it_meanwhile)
{
	char path[400];
	struct err e = ERR_INIT;
	struct db *d, *w;

	w = open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 2);
	CHECK_OK(db_exec(w, "INSERT INTO t (name) VALUES ('late')", &e), e);
	d = open_ok(path, DB_READ, 2);
	CHECK_U64(query(d, "SELECT count(*) FROM t"), 2);
	CHECK_OK(db_checkpoint(w, &e), e);
	db_free(w);
	CHECK_U64(rows_in_copy(path), 2);
	db_free(d);
	CHECK_U64(rows_in_copy(path), 2);
	CHECK(!is_there(path, "-wal") && !is_there(path, "-shm")); /* the last to close cleans up */
}

TEST(a_writer_whose_rows_a_reader_keeps_out_of_the_file_says_so)
{
	char path[400];
	struct err e = ERR_INIT;
	struct db *d, *w;

	w = open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 2);
	CHECK_OK(db_exec(w, "INSERT INTO t (name) VALUES ('one')", &e), e);
	d = open_ok(path, DB_READ, 2);
	CHECK_OK(db_exec(d, "BEGIN", &e), e);
	CHECK_U64(query(d, "SELECT count(*) FROM t"), 2);
	CHECK_OK(db_exec(w, "INSERT INTO t (name) VALUES ('two')", &e), e);
	sqlite3_busy_timeout(sqlite3_db_handle(db_stmt(w, "SELECT 1", &e)), 20);
	CHECK(db_checkpoint(w, &e) == -1 && e.kind == ERR_IO);
	CHECK_HAS(e.msg, "another process has been reading an older state");
	CHECK_HAS(e.msg, path);
	err_clear(&e);
	db_rollback(d);
	CHECK_OK(db_checkpoint(w, &e), e);
	CHECK_U64(rows_in_copy(path), 3);
	db_free(w);
	db_free(d);
}

TEST(a_file_that_is_written_while_it_is_read_is_no_result)
{
	char path[400];
	struct err e = ERR_INIT;
	struct db *d, *w;

	db_free(open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 2));
	d = open_ok(path, DB_READ, 2);
	CHECK_U64(query(d, "SELECT count(*) FROM t"), 1);
	w = open_ok(path, DB_WRITE, 2);
	CHECK_OK(db_exec(w, "INSERT INTO t (name) VALUES ('late')", &e), e);
	CHECK_U64(query(d, "SELECT count(*) FROM t"), 1); /* it waits in the WAL */
	db_free(w);
	CHECK(db_run(d, db_stmt(d, "SELECT x FROM t", &e), &e) < 0);
	CHECK_HAS(e.msg, "was written to while it was read");
	db_free(d);
}

/* Schema and first rows come in one step, so that a reader finds all tables or none. */
TEST(a_new_file_has_nothing_until_its_first_transaction_is_committed)
{
	char path[400];
	struct err e = ERR_INIT;
	struct db *d = db_open(test_path(path, sizeof path, "a.db"), DB_WRITE, ID_A, migrations, 2, &e);

	CHECK_OK(d ? 0 : -1, e);
	for (int i = 0; i < 2; i++) {
		CHECK(db_is_blank(d));
		open_fails(path, DB_READ, "the database is empty");
		CHECK_OK(db_begin(d, &e), e);
		CHECK_U64(query(d, "SELECT count(*) FROM t"), 1);
		open_fails(path, DB_READ, "the database is empty");
		if (i == 0)
			db_rollback(d);
	}
	CHECK_OK(db_commit(d, &e), e);
	CHECK(!db_is_blank(d));
	CHECK_U64(rows_in_copy(path), 1);
	db_free(d);
}

TEST(what_cannot_be_written_is_found_when_it_is_opened)
{
	struct rlimit was, small;
	char path[400];

	open_fails("/dev/null", DB_WRITE, "a database is a plain file, and this is none");
	signal(SIGXFSZ, SIG_IGN);
	CHECK(getrlimit(RLIMIT_FSIZE, &was) == 0);
	small = was;
	small.rlim_cur = 8192; /* less than the schema: a disk that is full */
	CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
	open_fails(test_path(path, sizeof path, "a.db"), DB_WRITE, "reading or writing the file failed");
	CHECK(setrlimit(RLIMIT_FSIZE, &was) == 0);
}

TEST(an_empty_file_is_made_a_database_for_writing_only)
{
	char path[400];

	write_file(test_path(path, sizeof path, "a.db"), "", 0);
	open_fails(path, DB_READ, "the database is empty");
	db_free(open_ok(path, DB_WRITE, 2));
	db_free(open_ok(path, DB_READ, 2));
}

TEST(an_older_file_is_read_as_if_it_were_new_and_stays_as_it_is)
{
	static char before[65536], after[65536];
	char path[400];
	struct err e = ERR_INIT;
	struct db *d = open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 1);
	size_t n;

	CHECK_OK(db_exec(d, "INSERT INTO t (name) VALUES ('old')", &e), e);
	db_free(d);
	n = read_file(path, before, sizeof before);
	d = open_ok(path, DB_READ, 2);
	CHECK_U64(query(d, "SELECT count(*) FROM t WHERE extra IS NULL"), 2);
	CHECK(db_exec(d, "DELETE FROM t", &e) == -1);
	CHECK_HAS(e.msg, "read-only");
	CHECK(!is_there(path, "-shm") && !is_there(path, "-wal"));
	db_free(d);
	CHECK_U64(read_file(path, after, sizeof after), n);
	CHECK(memcmp(before, after, n) == 0);
}

TEST(an_older_file_is_brought_up_to_date_once_by_the_first_write_that_succeeds)
{
	static char before[65536], after[65536];
	char path[400];
	struct err e = ERR_INIT;
	struct db *d;
	size_t n;

	db_free(open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 1));
	n = read_file(path, before, sizeof before);
	for (int written = 0; written < 2; written++) {
		d = db_open(path, DB_WRITE, ID_A, migrations, 2, &e);
		CHECK_OK(d ? 0 : -1, e);
		if (written) {
			CHECK_OK(db_begin(d, &e), e);
			CHECK_OK(db_exec(d, "INSERT INTO t (extra) VALUES (7)", &e), e);
			CHECK_U64(query(d, "SELECT count(*) FROM t"), 2);
		}
		db_free(d); /* which rolls back */
		CHECK_U64(read_file(path, after, sizeof after), n);
		CHECK(memcmp(before, after, n) == 0);
	}
	for (int i = 0; i < 2; i++) {
		d = open_ok(path, DB_WRITE, 2);
		CHECK_U64(query(d, "PRAGMA user_version"), 2);
		CHECK_U64(query(d, "SELECT count(*) FROM t"), 1);
		db_free(d);
	}
}

/* Between opening a file and the first write to it a newer program may have had it. */
TEST(what_became_newer_since_it_was_opened_is_not_written_to)
{
	char path[400];
	struct err e = ERR_INIT;
	struct db *old, *d;

	db_free(open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 1));
	old = db_open(path, DB_WRITE, ID_A, migrations, 2, &e);
	CHECK_OK(old ? 0 : -1, e);
	d = open_ok(path, DB_WRITE, 2);
	CHECK_OK(db_exec(d, "PRAGMA user_version = 3", &e), e);
	db_free(d);
	CHECK(db_begin(old, &e) == -1);
	CHECK_HAS(e.msg, "was written by a newer npusim (schema 3, this build knows 2)");
	db_free(old);
}

TEST(a_file_of_ours_without_a_version_is_damaged_for_readers_and_writers)
{
	char path[400];
	struct err e = ERR_INIT;
	struct db *d = open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 2);

	CHECK_OK(db_exec(d, "PRAGMA user_version = 0", &e), e);
	db_free(d);
	open_fails(path, DB_READ, "is damaged: its schema is of version 0 and it has 2 tables");
	open_fails(path, DB_WRITE, "is damaged: its schema is of version 0 and it has 2 tables");
}

/* As an interrupted tool may leave it: it is as good as empty. */
TEST(a_file_that_has_nothing_but_our_id_is_empty)
{
	char path[400];
	struct err e = ERR_INIT;
	struct db *d = db_open(test_path(path, sizeof path, "a.db"), DB_WRITE, ID_A, migrations, 0, &e);
	char sql[64];

	CHECK_OK(d ? 0 : -1, e);
	snprintf(sql, sizeof sql, "PRAGMA application_id = %d", (int)ID_A);
	CHECK_OK(db_exec(d, sql, &e), e);
	db_free(d);
	open_fails(path, DB_READ, "the database is empty");
	db_free(open_ok(path, DB_WRITE, 2));
	db_free(open_ok(path, DB_READ, 2));
}

TEST(a_newer_file_is_refused_and_not_touched)
{
	static char before[65536], after[65536];
	char path[400];
	struct err e = ERR_INIT;
	struct db *d = open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 2);
	size_t n;

	CHECK_OK(db_exec(d, "PRAGMA user_version = 3", &e), e);
	CHECK_OK(db_checkpoint(d, &e), e);
	db_free(d);
	n = read_file(path, before, sizeof before);
	open_fails(path, DB_WRITE, "was written by a newer npusim (schema 3, this build knows 2)");
	open_fails(path, DB_READ, "was written by a newer npusim");
	CHECK_U64(read_file(path, after, sizeof after), n);
	CHECK(memcmp(before, after, n) == 0);
}

TEST(another_kind_of_database_is_refused_and_not_touched)
{
	static char before[65536], after[65536];
	char path[400];
	struct err e = ERR_INIT;
	struct db *d = db_open(test_path(path, sizeof path, "a.db"), DB_WRITE, ID_B, migrations, 1, &e);
	sqlite3 *h = NULL;
	size_t n;

	CHECK_OK(d && db_begin(d, &e) == 0 ? db_commit(d, &e) : -1, e);
	db_free(d);
	n = read_file(path, before, sizeof before);
	open_fails(path, DB_WRITE, "is another kind of database (its id is 'NPUB', not 'NPUA')");
	CHECK_U64(read_file(path, after, sizeof after), n);
	CHECK(memcmp(before, after, n) == 0);
	test_path(path, sizeof path, "foreign.db");
	CHECK(sqlite3_open(path, &h) == SQLITE_OK);
	CHECK(sqlite3_exec(h, "CREATE TABLE x (y)", NULL, NULL, NULL) == SQLITE_OK);
	sqlite3_close(h);
	open_fails(path, DB_WRITE, "another kind of database (its id is '0x00000000'");
	open_fails(path, DB_READ, "another kind of database");
}

TEST(what_is_no_database_is_refused_and_not_touched)
{
	static const char text[] = "l2:\n  size: 4 MiB\n# a configuration, longer than "
				   "a header of SQLite, which has 100 bytes in all\n";
	char path[400], now[400];

	write_file(test_path(path, sizeof path, "a.yaml"), text, sizeof text - 1);
	open_fails(path, DB_READ, "it is not a database");
	open_fails(path, DB_WRITE, "it is not a database");
	CHECK_U64(read_file(path, now, sizeof now), sizeof text - 1);
	CHECK(memcmp(text, now, sizeof text - 1) == 0);
	write_file(path, "short", 5);
	open_fails(path, DB_WRITE, "it is not a database");
}

TEST(a_damaged_or_cut_file_is_refused)
{
	static char buf[65536];
	char path[400], cut[400];
	struct err e = ERR_INIT;
	struct db *d = open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 2);
	struct sqlite3_stmt *s;
	size_t n;
	int rc = 0;

	CHECK_OK(db_checkpoint(d, &e), e);
	db_free(d);
	n = read_file(path, buf, sizeof buf);
	CHECK(n >= 8192);
	write_file(test_path(cut, sizeof cut, "header.db"), buf, 50);
	open_fails(cut, DB_READ, "the database is damaged");
	memset(buf + 100, 0xee, 3900); /* the header stands, its first page is noise */
	write_file(test_path(cut, sizeof cut, "noise.db"), buf, n);
	d = db_open(cut, DB_READ, ID_A, migrations, 2, &e);
	if (d) {
		if (!(s = db_stmt(d, "SELECT * FROM t", &e)) || (rc = db_run(d, s, &e)) < 0)
			rc = -1;
		CHECK(rc == -1);
		db_free(d);
	}
	CHECK(e.kind == ERR_IO);
	CHECK_HAS(e.msg, "damaged");
}

TEST(absent_files_and_folders_are_named_plainly)
{
	char path[400];

	open_fails(test_path(path, sizeof path, "absent.db"), DB_READ, "no such file or directory");
	CHECK(access(path, F_OK) != 0);
	open_fails(test_path(path, sizeof path, "no/such/folder.db"), DB_WRITE, "cannot open");
	open_fails(test_tmp(), DB_WRITE, "is a directory");
	open_fails(test_tmp(), DB_READ, "is a directory");
	/* A device keeps no database: SQLite left a journal beside it. */
	open_fails("/dev/null", DB_WRITE, "a database is a plain file");
	CHECK(mkfifo(test_path(path, sizeof path, "pipe"), 0600) == 0);
	open_fails(path, DB_WRITE, "a database is a plain file");
	CHECK(access(test_path(path, sizeof path, "pipe-journal"), F_OK) != 0);
}

TEST(reading_never_writes)
{
	char path[400];
	struct err e = ERR_INIT;
	struct db *d;

	db_free(open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 2));
	d = open_ok(path, DB_READ, 2);
	CHECK(db_exec(d, "INSERT INTO t (name) VALUES ('x')", &e) == -1);
	CHECK(e.kind == ERR_IO);
	CHECK_HAS(e.msg, "read-only");
	CHECK_U64(query(d, "SELECT count(*) FROM t"), 1);
	db_free(d);
}

TEST(a_file_without_write_permission_is_refused_for_writing)
{
	char path[400];
	struct err e = ERR_INIT;
	int status = 0;
	pid_t pid;

	db_free(open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 2));
	CHECK(chmod(path, 0444) == 0 && chmod(test_tmp(), 0755) == 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) { /* root may write anything: become nobody */
		if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
			_exit(77);
		if (access(path, R_OK) != 0)
			_exit(77);
		_exit(!db_open(path, DB_WRITE, ID_A, migrations, 2, &e) && strstr(e.msg, "read-only") ? 0 : 1);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		test_skip("not run: no way to be another user here");
	CHECK_U64(WEXITSTATUS(status), 0);
}

TEST(a_finished_file_in_a_read_only_folder_can_be_read)
{
	char path[400];
	struct err e = ERR_INIT;
	int status = 0;
	pid_t pid;

	CHECK(chmod(test_tmp(), 0755) == 0);
	db_free(open_ok(test_path(path, sizeof path, "%s", "50%25 a?b#c.db"), DB_WRITE, 2));
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		struct db *d;

		if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
			_exit(77);
		if (geteuid() != 65534 || access(path, R_OK) != 0)
			_exit(77);
		d = db_open(path, DB_READ, ID_A, migrations, 2, &e);
		status = d && query(d, "SELECT count(*) FROM t") == 1 ? 0 : 1;
		db_free(d);
		_exit(status);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		test_skip("not run: no way to be another user here");
	CHECK_U64(WEXITSTATUS(status), 0);
}

TEST(a_full_disk_is_one_error_and_the_rest_stays)
{
	char path[400];
	struct err e = ERR_INIT;
	struct db *d = open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 2);
	int rc = 0;

	CHECK_OK(db_exec(d, "PRAGMA max_page_count = 8", &e), e); /* what a full disk looks like to SQLite */
	CHECK_OK(db_begin(d, &e), e);
	for (int i = 0; i < 100 && rc == 0; i++)
		rc = db_exec(d, "INSERT INTO t (name) VALUES (hex(randomblob(2000)))", &e);
	CHECK(rc == -1 && e.kind == ERR_IO);
	CHECK_HAS(e.msg, "no space left on device");
	db_rollback(d);
	CHECK_U64(query(d, "SELECT count(*) FROM t"), 1);
	db_free(d);
}

TEST(a_lock_held_by_another_is_waited_for)
{
	const struct timespec pause = { 0, 300000000 };
	char path[400];
	struct err e = ERR_INIT;
	struct db *d;
	int status = 0, ready[2];
	char go;
	pid_t pid;

	db_free(open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 2));
	CHECK(pipe(ready) == 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		d = open_ok(path, DB_WRITE, 2);
		if (db_begin(d, &e) < 0 || db_exec(d, "INSERT INTO t (name) VALUES ('child')", &e) < 0 ||
		    write(ready[1], "x", 1) != 1)
			_exit(1);
		nanosleep(&pause, NULL);
		status = db_commit(d, &e) == 0 ? 0 : 1;
		db_free(d);
		_exit(status);
	}
	d = open_ok(path, DB_WRITE, 2);
	CHECK(read(ready[0], &go, 1) == 1);
	CHECK_OK(db_begin(d, &e), e); /* after the child's commit */
	CHECK_U64(query(d, "SELECT count(*) FROM t WHERE name = 'child'"), 1);
	CHECK_OK(db_commit(d, &e), e);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	db_free(d);
}

TEST(a_lock_that_stays_is_an_error)
{
	char path[400];
	struct err e = ERR_INIT;
	struct db *a = open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 2), *b = open_ok(path, DB_WRITE, 2);

	CHECK_OK(db_begin(a, &e), e);
	sqlite3_busy_timeout(sqlite3_db_handle(db_stmt(b, "SELECT 1", &e)), 20);
	CHECK(db_begin(b, &e) == -1);
	CHECK(e.kind == ERR_IO);
	CHECK_HAS(e.msg, "another process holds its lock");
	db_free(b);
	db_free(a);
}

TEST(eight_processes_may_create_the_same_file_at_once)
{
	char path[400];
	struct err e = ERR_INIT;
	struct db *d;
	int good = 0;

	test_path(path, sizeof path, "a.db");
	for (int i = 0; i < 8; i++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (pid == 0) {
			int rc = -1;

			d = db_open(path, DB_WRITE, ID_A, migrations, 2, &e);
			if (d && (rc = db_begin(d, &e)) == 0)
				rc = db_commit(d, &e);
			if (rc < 0)
				fprintf(stderr, "%s\n", e.msg);
			db_free(d);
			_exit(rc == 0 ? 0 : 1);
		}
	}
	for (int i = 0; i < 8; i++) {
		int status = 1;

		CHECK(wait(&status) > 0);
		good += status == 0;
	}
	CHECK_U64(good, 8);
	d = open_ok(path, DB_WRITE, 2);
	CHECK_U64(query(d, "SELECT count(*) FROM t"), 1); /* the second migration ran once */
	db_free(d);
}

TEST(a_failing_migration_leaves_the_file_as_it_was)
{
	static const char *const broken[] = { "CREATE TABLE t (id INTEGER)",
		                              "CREATE TABLE u (a); INSERT INTO absent VALUES (1)" };
	static char before[65536], after[65536];
	char path[400];
	struct err e = ERR_INIT;
	struct db *d;
	size_t n;

	db_free(open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 1));
	n = read_file(path, before, sizeof before);
	CHECK(!db_open(path, DB_READ, ID_A, broken, 2, &e));
	CHECK_HAS(e.msg, "cannot read");
	CHECK_HAS(e.msg, "no such table: absent, while bringing its schema to version 2");
	err_clear(&e);
	d = db_open(path, DB_WRITE, ID_A, broken, 2, &e);
	CHECK_OK(d ? 0 : -1, e);
	for (int i = 0; i < 2; i++) {
		CHECK(db_begin(d, &e) == -1);
		CHECK_HAS(e.msg, "no such table: absent, while bringing its schema to version 2");
		err_clear(&e);
	}
	db_free(d);
	CHECK_U64(read_file(path, after, sizeof after), n);
	CHECK(memcmp(before, after, n) == 0);
}

TEST(an_open_transaction_is_rolled_back_by_free)
{
	char path[400];
	struct err e = ERR_INIT;
	struct db *d = open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 2);

	CHECK_OK(db_begin(d, &e), e);
	CHECK_OK(db_exec(d, "DELETE FROM t", &e), e);
	db_free(d);
	d = open_ok(path, DB_READ, 2);
	CHECK_U64(query(d, "SELECT count(*) FROM t"), 1);
	db_free(d);
	db_free(NULL);
}

TEST(values_come_back_as_they_were_bound)
{
	struct db *d = open_ok(":memory:", DB_WRITE, 2);
	struct err e = ERR_INIT;
	struct sqlite3_stmt *in = db_stmt(d, "INSERT INTO t (id, name, x, extra) VALUES (?, ?, ?, ?)", &e), *out;
	char text[] = "h\xc3\xa4lt 'x'";

	CHECK(in);
	db_bind_i64(in, 1, INT64_MIN);
	db_bind_text(in, 2, text);
	text[0] = 'X'; /* it was copied */
	db_bind_f64(in, 3, 0.1);
	db_bind_null(in, 4);
	CHECK_OK(db_run(d, in, &e), e);
	CHECK(db_last_id(d) == INT64_MIN);
	out = db_stmt(d, "SELECT id, name, x, extra FROM t WHERE id < 0", &e);
	CHECK(out && db_step(d, out, &e) == 1);
	CHECK(db_col_i64(out, 0) == INT64_MIN);
	CHECK_STR(db_col_text(out, 1), "h\xc3\xa4lt 'x'");
	CHECK(db_col_f64(out, 2) == 0.1);
	CHECK(db_col_null(out, 3) && !db_col_null(out, 0));
	CHECK_STR(db_col_text(out, 3), "");
	CHECK(db_step(d, out, &e) == 0);
	db_free(d);
}

TEST(a_statement_is_prepared_once_and_comes_reset_and_unbound)
{
	struct db *d = open_ok(":memory:", DB_WRITE, 2);
	struct err e = ERR_INIT;
	struct sqlite3_stmt *s = db_stmt(d, "SELECT ?", &e), *t;
	char same[16];

	db_bind_i64(s, 1, 5);
	CHECK(db_step(d, s, &e) == 1 && db_col_i64(s, 0) == 5);
	snprintf(same, sizeof same, "SELECT %c", '?');
	t = db_stmt(d, same, &e);
	CHECK(s == t);
	CHECK(db_step(d, t, &e) == 1 && db_col_null(t, 0));
	snprintf(same, sizeof same, "SELECT 7");
	t = db_stmt(d, same, &e);
	CHECK(s != t);
	CHECK(db_step(d, t, &e) == 1 && db_col_i64(t, 0) == 7);
	db_free(d);
}

TEST(faults_in_sql_and_constraints_are_reported_with_the_path)
{
	char path[400];
	struct db *d = open_ok(test_path(path, sizeof path, "a.db"), DB_WRITE, 2);
	struct err e = ERR_INIT;
	struct sqlite3_stmt *s;

	CHECK(!db_stmt(d, "SELECT nonsense FROM t", &e));
	CHECK_HAS(e.msg, "no such column: nonsense");
	CHECK_HAS(e.msg, path);
	err_clear(&e);
	s = db_stmt(d, "INSERT INTO t (name) VALUES (?)", &e);
	db_bind_text(s, 1, "from v2");
	CHECK(db_run(d, s, &e) == -1);
	CHECK_HAS(e.msg, "UNIQUE constraint failed: t.name");
	err_clear(&e);
	s = db_stmt(d, "INSERT INTO t (name) VALUES (?)", &e); /* usable again */
	db_bind_text(s, 1, "other");
	CHECK_OK(db_run(d, s, &e), e);
	db_free(d);
}

TEST(a_value_that_cannot_be_bound_stops_the_database)
{
	struct db *d = open_ok(":memory:", DB_WRITE, 2);
	struct err e = ERR_INIT;
	struct sqlite3_stmt *s = db_stmt(d, "INSERT INTO t (name) VALUES (?)", &e);
	char text[200];

	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	sqlite3_limit(sqlite3_db_handle(s), SQLITE_LIMIT_LENGTH, 100);
	db_bind_text(s, 1, text);
	CHECK(db_run(d, s, &e) == -1);
	CHECK_HAS(e.msg, "interrupted");
	db_free(d);
}

SUITE(t_db, T(an_absent_file_is_made_and_migrated), T(reading_leaves_nothing_beside_the_file),
      T(what_waits_in_the_wal_of_a_killed_writer_is_read_and_brought_in),
      T(what_a_writer_stored_is_in_the_file_itself_whoever_reads_it_meanwhile),
      T(a_writer_whose_rows_a_reader_keeps_out_of_the_file_says_so),
      T(a_new_file_has_nothing_until_its_first_transaction_is_committed),
      T(what_cannot_be_written_is_found_when_it_is_opened), T(a_file_that_is_written_while_it_is_read_is_no_result),
      T(an_empty_file_is_made_a_database_for_writing_only),
      T(an_older_file_is_read_as_if_it_were_new_and_stays_as_it_is),
      T(an_older_file_is_brought_up_to_date_once_by_the_first_write_that_succeeds),
      T(what_became_newer_since_it_was_opened_is_not_written_to),
      T(a_file_of_ours_without_a_version_is_damaged_for_readers_and_writers),
      T(a_file_that_has_nothing_but_our_id_is_empty), T(a_newer_file_is_refused_and_not_touched),
      T(another_kind_of_database_is_refused_and_not_touched), T(what_is_no_database_is_refused_and_not_touched),
      T(a_damaged_or_cut_file_is_refused), T(absent_files_and_folders_are_named_plainly), T(reading_never_writes),
      T(a_file_without_write_permission_is_refused_for_writing), T(a_finished_file_in_a_read_only_folder_can_be_read),
      T(a_full_disk_is_one_error_and_the_rest_stays), T(a_lock_held_by_another_is_waited_for),
      T(a_lock_that_stays_is_an_error), T(eight_processes_may_create_the_same_file_at_once),
      T(a_failing_migration_leaves_the_file_as_it_was), T(an_open_transaction_is_rolled_back_by_free),
      T(values_come_back_as_they_were_bound), T(a_statement_is_prepared_once_and_comes_reset_and_unbound),
      T(faults_in_sql_and_constraints_are_reported_with_the_path), T(a_value_that_cannot_be_bound_stops_the_database));
