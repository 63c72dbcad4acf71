/* oldbed.h - a database as an earlier release wrote it: made of the SQL in validate/tests/data/db, and watched for changes. */
#ifndef NPUSIM_TESTS_OLDBED_H
#define NPUSIM_TESTS_OLDBED_H

#include <sqlite3.h>

#include "validate/tests/test.h"

struct oldbed {
	char path[400];
	unsigned char bytes[1 << 18];
	size_t n;
};

static inline size_t oldbed_slurp(const char *path, unsigned char *out, size_t cap)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	CHECK(f);
	n = fread(out, 1, cap, f);
	fclose(f);
	CHECK(n < cap);
	return n;
}

/* Runs a file of statements; the first makes the database. */
static inline void oldbed_run(struct oldbed *b, const char *sql_name)
{
	static char sql[1 << 14];
	char path[1024];
	sqlite3 *h = NULL;

	snprintf(path, sizeof path, "%s/validate/tests/data/db/%s", test_root(), sql_name);
	sql[oldbed_slurp(path, (unsigned char *)sql, sizeof sql - 1)] = '\0';
	if (!*b->path)
		test_path(b->path, sizeof b->path, "%s.db", sql_name);
	CHECK(sqlite3_open(b->path, &h) == SQLITE_OK);
	if (sqlite3_exec(h, sql, NULL, NULL, NULL) != SQLITE_OK)
		test_fail(__FILE__, __LINE__, "%s: %s", sql_name, sqlite3_errmsg(h));
	sqlite3_close(h);
	b->n = oldbed_slurp(b->path, b->bytes, sizeof b->bytes);
}

static inline bool oldbed_same(const struct oldbed *b)
{
	static unsigned char now[sizeof b->bytes];

	return oldbed_slurp(b->path, now, sizeof now) == b->n && memcmp(now, b->bytes, b->n) == 0;
}

#endif
