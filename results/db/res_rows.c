/* res_rows.c - reading rows: all that a query finds, each made by its own function. */
#include "results/db/res_int.h"

int res_no_room(struct res_reader *r)
{
	return err_set(r->e, ERR_NOMEM, "no memory for the stored %s", r->what);
}

const char *res_text(struct res_reader *r, struct sqlite3_stmt *s, int i)
{
	const char *copy;

	if (db_col_null(s, i))
		return NULL;
	copy = arena_strdup(r->a, db_col_text(s, i));
	r->failed |= !copy;
	return copy;
}

uint64_t res_u64(struct sqlite3_stmt *s, int i)
{
	return (uint64_t)db_col_i64(s, i);
}

struct sqlite3_stmt *res_query(struct res_reader *r, const char *sql, int64_t id)
{
	struct sqlite3_stmt *s = db_stmt(r->db, sql, r->e);

	if (s)
		db_bind_i64(s, 1, id);
	return s;
}

static int res_rows_count(struct res_reader *r, const char *sql, int64_t id, size_t *n)
{
	struct sqlite3_stmt *s = res_query(r, sql, id);

	if (!s || db_step(r->db, s, r->e) < 0)
		return -1;
	*n = (size_t)db_col_i64(s, 0);
	return db_run(r->db, s, r->e);
}

int res_read_rows(struct res_reader *r, const struct res_rows *of, int64_t id, void *ctx, struct res_found *out)
{
	struct sqlite3_stmt *s;
	size_t max;
	int rc;

	*out = (struct res_found){ NULL, 0 };
	if (res_rows_count(r, of->count, id, &max) < 0 || !(s = res_query(r, of->rows, id)))
		return -1;
	if (!(out->v = arena_array(r->a, max ? max : 1, of->bytes)))
		return res_no_room(r);
	while ((rc = db_step(r->db, s, r->e)) == 1 && out->n < max)
		if (of->take(r, s, (char *)out->v + out->n++ * of->bytes, ctx) < 0)
			return -1;
	if (rc < 0)
		return -1;
	return r->failed ? res_no_room(r) : db_run(r->db, s, r->e);
}
