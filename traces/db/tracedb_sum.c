#include "traces/db/tracedb_sum.h"

#include "traces/db/tracedb_int.h"

int tracedb_totals(struct tracedb *t, struct tracedb_totals *sum, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "select count(iif(kind = 0, 1, null))"
	                                 " + (select coalesce(sum(instances), 0) from kernel_stat),"
	                                 " count(iif(kind = 1, 1, null)), count(iif(kind = 2, 1, null)),"
	                                 " coalesce(sum(iif(kind = 0, dur_ns, 0)), 0)"
	                                 " + (select coalesce(sum(total_ns), 0) from kernel_stat),"
	                                 " coalesce(sum(iif(kind = 0, 0, dur_ns)), 0),"
	                                 " (select count(*) from call where kind = 2),"
	                                 " (select coalesce(sum(instances), 0) from kernel_stat) from launch",
	                                 e);

	if (!s || db_step(t->db, s, e) < 0)
		return -1;
	*sum = (struct tracedb_totals){ .kernels = db_col_i64(s, 0),
		                        .copies = db_col_i64(s, 1),
		                        .sets = db_col_i64(s, 2),
		                        .kernel_ns = db_col_i64(s, 3),
		                        .other_ns = db_col_i64(s, 4),
		                        .syncs = db_col_i64(s, 5),
		                        .aggregated = db_col_i64(s, 6) };
	return db_run(t->db, s, e) < 0 ? -1 : tracedb_steps(t, &sum->steps, e);
}

static int64_t or_unknown(struct sqlite3_stmt *s, int i)
{
	return db_col_null(s, i) ? -1 : db_col_i64(s, i);
}

int tracedb_each_file(struct tracedb *t, tracedb_file_fn *each, void *arg, struct err *e)
{
	struct sqlite3_stmt *s =
		db_stmt(t->db,
	                "select s.file, s.tool, s.profiled,"
	                " (select count(*) from launch l where l.source = s.id and l.kind = 0)"
	                " + (select coalesce(sum(k.instances), 0) from kernel_stat k where k.source = s.id),"
	                " (select count(*) from launch l where l.source = s.id and l.kind = 1),"
	                " (select count(*) from launch l where l.source = s.id and l.kind = 2),"
	                " (select count(*) from op o where o.source = s.id),"
	                " (select count(*) from call c where c.source = s.id and c.kind = 2),"
	                " s.wall_ns, s.digest from source s order by s.id",
	                e);
	int rc = -1;

	while (s && (rc = db_step(t->db, s, e)) == 1) {
		const struct tracedb_file f = { .file = db_col_text(s, 0),
			                        .tool = db_col_text(s, 1),
			                        .profiled = db_col_i64(s, 2) != 0,
			                        .kernels = db_col_i64(s, 3),
			                        .copies = db_col_i64(s, 4),
			                        .sets = db_col_i64(s, 5),
			                        .ops = db_col_i64(s, 6),
			                        .syncs = db_col_i64(s, 7),
			                        .wall_ns = or_unknown(s, 8),
			                        .digest = db_col_text(s, 9) };

		if (each(arg, &f, e) < 0)
			return -1;
	}
	return rc;
}

int tracedb_each_device(struct tracedb *t, tracedb_device_fn *each, void *arg, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "select id, name, sm_major, sm_minor, sms, mem_bytes, smem_per_sm,"
	                                 " regs_per_sm from device group by id order by id",
	                                 e);
	int rc = -1;

	while (s && (rc = db_step(t->db, s, e)) == 1) {
		const struct trace_device d = { .id = db_col_i64(s, 0),
			                        .name = db_col_text(s, 1),
			                        .sm_major = (int32_t)db_col_i64(s, 2),
			                        .sm_minor = (int32_t)db_col_i64(s, 3),
			                        .sms = (int32_t)db_col_i64(s, 4),
			                        .mem_bytes = db_col_i64(s, 5),
			                        .smem_per_sm = db_col_i64(s, 6),
			                        .regs_per_sm = db_col_i64(s, 7) };

		if (each(arg, &d, e) < 0)
			return -1;
	}
	return rc;
}

/* By the launches' at_ns, as every selection goes (tracedb.h). A range has what was summed up to its end less what was up
 * to its start, each edge before the launches of its moment: ranges may lie in one another by the thousand. total() does
 * not overflow where a file is damaged. */
static const char sum_ranges[] =
	"with edge(range, source, at, sign) as (select id, source, start_ns, -1 from range where on_device = 0"
	"  union all select id, source, start_ns + dur_ns, 1 from range where on_device = 0),"
	" moment(source, at, range, sign, launches, kernels, kernel_ns, other_ns) as"
	" (select source, at, range, sign, 0, 0, 0, 0 from edge"
	"  union all select source, at_ns, 0, 0, 1, kind = 0, iif(kind = 0, dur_ns, 0), iif(kind = 0, 0, dur_ns)"
	"  from launch),"
	" upto as (select range, sign, sum(launches) over w as launches, sum(kernels) over w as kernels,"
	"  total(kernel_ns) over w as kernel_ns, total(other_ns) over w as other_ns from moment"
	"  window w as (partition by source order by at, launches rows unbounded preceding))"
	" select n.text, count(*), sum(k.launches), sum(k.kernels), sum(k.kernel_ns), sum(k.other_ns), sum(r.dur_ns),"
	" iif(count(r.wall_ns) = count(*), sum(r.wall_ns), null) from range r join name n on n.id = r.name join"
	" (select range, sum(sign * launches) as launches, sum(sign * kernels) as kernels,"
	"  sum(sign * kernel_ns) as kernel_ns, sum(sign * other_ns) as other_ns from upto where sign <> 0"
	"  group by range) k on k.range = r.id"
	" where r.on_device = 0 group by r.name order by min(r.start_ns), n.text";

int tracedb_each_range(struct tracedb *t, tracedb_ranges_fn *each, void *arg, struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db, sum_ranges, e);
	int rc = -1;

	while (s && (rc = db_step(t->db, s, e)) == 1) {
		const struct tracedb_ranges r = { .name = db_col_text(s, 0),
			                          .count = db_col_i64(s, 1),
			                          .launches = db_col_i64(s, 2),
			                          .kernels = db_col_i64(s, 3),
			                          .kernel_ns = db_col_i64(s, 4),
			                          .other_ns = db_col_i64(s, 5),
			                          .span_ns = db_col_i64(s, 6),
			                          .wall_ns = or_unknown(s, 7) };

		if (each(arg, &r, e) < 0)
			return -1;
	}
	return rc;
}

int tracedb_range_names(struct tracedb *t, const char *begin, int64_t most, tracedb_name_fn *each, void *arg,
                        struct err *e)
{
	struct sqlite3_stmt *s = db_stmt(t->db,
	                                 "select n.text from range r join name n on n.id = r.name"
	                                 " where r.on_device = 0 and substr(n.text, 1, length(?1)) = ?1"
	                                 " group by n.text order by min(r.start_ns), n.text limit ?2",
	                                 e);
	int rc;

	if (!s)
		return -1;
	db_bind_text(s, 1, begin);
	db_bind_i64(s, 2, most);
	while ((rc = db_step(t->db, s, e)) == 1)
		if (each(arg, db_col_text(s, 0), e) < 0)
			return -1;
	return rc;
}
