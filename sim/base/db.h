/* db.h - SQLite with our errors: open and migrate, cached statements, transactions.
 *
 * WAL where the file system allows it, foreign keys on, a busy timeout of 10 s (two writers wait for each other),
 * the schema's version in user_version. Opened for reading, a file and its folder stay as they are: nothing is made
 * beside it, also for a user who may write there; but what a writer left in its WAL is brought in by whoever may. A file of
 * an older schema is read as if it had been updated, which the first transaction that is committed does: what fails leaves
 * the file as it was, and a new one has its whole schema or nothing. A file that is not a database, is read-only, or was
 * written by a newer build is a clear ERR_IO. Every SQLite error becomes one err line with the path. A handle must not be used by two threads at once, nor on the other side of a fork. Binding to a place that the statement does
 * not have is a bug and aborts. */
#ifndef NPUSIM_SIM_BASE_DB_H
#define NPUSIM_SIM_BASE_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/db_mode.h"
#include "sim/base/err.h"

struct db;
struct sqlite3_stmt;

/* migrations[i] brings user_version i to i + 1, and lives as long as the handle; `app_id` is checked so that a trace is not
 * opened as results. What is opened for writing is first used by db_begin, reading included. */
struct db *db_open(const char *path, enum db_mode mode, uint32_t app_id, const char *const *migrations,
                   int n_migrations, struct err *e);
void db_free(struct db *d);       /* rolls back an open transaction */
bool db_absent(const char *path); /* opening it for writing will make it */
void db_remove(const char *path); /* the file and what SQLite keeps beside it */
const char *db_path(const struct db *d);
int db_exec(struct db *d, const char *sql, struct err *e);
int db_begin(struct db *d, struct err *e); /* BEGIN IMMEDIATE */
int db_commit(struct db *d, struct err *e);
void db_rollback(struct db *d);
int64_t db_last_id(struct db *d);
/* When it returns 0 all that is committed is in the file itself, so that a copy of it has all, whoever reads it meanwhile. */
int db_checkpoint(struct db *d, struct err *e);
bool db_is_blank(struct db *d); /* nobody has committed anything to it yet */

/* A prepared statement, cached by its text for the life of the db (give string literals). It comes reset, unbound. */
struct sqlite3_stmt *db_stmt(struct db *d, const char *sql, struct err *e);
void db_bind_i64(struct sqlite3_stmt *s, int i, int64_t v);
void db_bind_f64(struct sqlite3_stmt *s, int i, double v);
void db_bind_text(struct sqlite3_stmt *s, int i, const char *v); /* copied; NULL binds NULL */
void db_bind_null(struct sqlite3_stmt *s, int i);
/* 1 a row, 0 done (and reset), -1 error. */
int db_step(struct db *d, struct sqlite3_stmt *s, struct err *e);
int db_run(struct db *d, struct sqlite3_stmt *s, struct err *e); /* step to the end, ignore rows, reset */
/* The one number that a statement gives, 0 without a row; a NULL statement is one that could not be made, with `e` set. */
int db_number(struct db *d, struct sqlite3_stmt *s, int64_t *n, struct err *e);
int64_t db_col_i64(struct sqlite3_stmt *s, int i);
double db_col_f64(struct sqlite3_stmt *s, int i);
const char *db_col_text(struct sqlite3_stmt *s, int i); /* "" for NULL; valid until the next step */
bool db_col_null(struct sqlite3_stmt *s, int i);
/* For rows of any query: what is in them. */
enum db_kind { DB_NULL, DB_INT, DB_REAL, DB_TEXT };
int db_cols(struct sqlite3_stmt *s);
const char *db_col_name(struct sqlite3_stmt *s, int i);
enum db_kind db_col_kind(struct sqlite3_stmt *s, int i);
/* A statement whose text is made up: not cached, and the caller's to free before the db. */
struct sqlite3_stmt *db_stmt_once(struct db *d, const char *sql, struct err *e);
void db_stmt_free(struct sqlite3_stmt *s);

#endif
