/* rocprof_csv.c - three headers, and a row each. */
#include "traces/read/rocprof_csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/str.h"
#include "traces/read/columns.h"
#include "traces/text/decimal.h"

enum column {
	NAME,
	BEGIN,
	END,
	DEVICE,
	QUEUE,
	LDS,
	GRID,
	GRID_Y,
	GRID_Z,
	BLOCK,
	BLOCK_Y,
	BLOCK_Z,
	CALLS,
	TOTAL,
	LEAST,
	LONGEST,
	DEVIATION,
	N_COLUMNS
};

/* As rocprofv3 has them, and as rocprof and rocprofv2 do. */
static const char *const spelt[N_COLUMNS][3] = {
	[NAME] = { "Kernel_Name", "KernelName", "Name" },
	[BEGIN] = { "Start_Timestamp", "BeginNs" },
	[END] = { "End_Timestamp", "EndNs" },
	[DEVICE] = { "Agent_Id", "gpu-id" },
	[QUEUE] = { "Queue_Id", "queue-id" },
	[LDS] = { "LDS_Block_Size", "lds", "Group_Segment_Size" },
	[GRID] = { "Grid_Size_X", "grd" },
	[GRID_Y] = { "Grid_Size_Y" },
	[GRID_Z] = { "Grid_Size_Z" },
	[BLOCK] = { "Workgroup_Size_X", "wgr" },
	[BLOCK_Y] = { "Workgroup_Size_Y" },
	[BLOCK_Z] = { "Workgroup_Size_Z" },
	[CALLS] = { "Calls" },
	[TOTAL] = { "TotalDurationNs" },
	[LEAST] = { "MinNs" },
	[LONGEST] = { "MaxNs" },
	[DEVIATION] = { "StdDev" },
};

struct reader {
	size_t at[N_COLUMNS];
	int64_t base_ns, instances, total;
	bool any;
	struct str name;
};

/* --- the header --------------------------------------------------------------------------------------------------- */

bool rocprof_csv_is_header(const char *line, size_t n)
{
	static const char *const newer[] = { "Kernel_Name", "Start_Timestamp", "End_Timestamp", NULL };
	static const char *const older[] = { "KernelName", "BeginNs", "EndNs", NULL };
	static const char *const stats[] = { "Name", "Calls", "TotalDurationNs", NULL };

	return columns_has(line, n, newer) || columns_has(line, n, older) || columns_has(line, n, stats);
}

static bool is_header(void *arg, const char *line, size_t n)
{
	(void)arg;
	return rocprof_csv_is_header(line, n);
}

static int read_header(void *arg, const struct columns *c, struct err *e)
{
	struct reader *r = arg;

	for (int k = 0; k < N_COLUMNS; k++) {
		r->at[k] = COLUMNS_NONE;
		for (int i = 0; i < 3 && spelt[k][i] && r->at[k] == COLUMNS_NONE; i++)
			r->at[k] = columns_find(c, spelt[k][i]);
	}
	if (r->at[NAME] != COLUMNS_NONE && ((r->at[BEGIN] != COLUMNS_NONE && r->at[END] != COLUMNS_NONE) ||
	                                    (r->at[CALLS] != COLUMNS_NONE && r->at[TOTAL] != COLUMNS_NONE)))
		return 0;
	err_set(e, ERR_IO, "the table has no names with begin and end, nor with calls and total time");
	return columns_fault(c, COLUMNS_NONE, e);
}

/* --- a dispatch --------------------------------------------------------------------------------------------------- */

static const char *clean_name(struct reader *r, const char *text)
{
	static const char *const ends[] = { " [clone .kd]", ".kd" };
	size_t n = strlen(text);

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		const size_t k = strlen(ends[i]);

		if (n > k && memcmp(text + n - k, ends[i], k) == 0)
			n -= k;
	}
	str_clear(&r->name);
	str_addn(&r->name, text, n);
	return str_c(&r->name);
}

/* A size that may be missing: then `otherwise`. */
static int size(const struct reader *r, const struct columns *c, enum column k, int64_t otherwise, int64_t *v,
                struct err *e)
{
	*v = otherwise;
	if (!*columns_text(c, r->at[k]))
		return 0;
	if (columns_number(c, r->at[k], spelt[k][0], 0, 0, v, e) < 0)
		return -1;
	if (*v <= UINT32_MAX)
		return 0;
	err_set(e, ERR_IO, "'%s' is out of range", spelt[k][0]);
	return columns_fault(c, r->at[k], e);
}

/* "Agent 2", "GPU 3", "4" */
static int64_t device_of(const char *text)
{
	return strtol(text + strcspn(text, "0123456789"), NULL, 10) & INT32_MAX;
}

static int read_dispatch(struct reader *r, const struct columns *c, struct err *e)
{
	struct trace_launch l = { .kind = TRACE_KERNEL, .bytes = -1, .host_start_ns = -1, .host_dur_ns = -1 };
	int64_t end, lds, threads, block;

	if (columns_number(c, r->at[BEGIN], spelt[BEGIN][0], 0, 0, &l.start_ns, e) < 0 ||
	    columns_number(c, r->at[END], spelt[END][0], 0, 0, &end, e) < 0 || size(r, c, LDS, 0, &lds, e) < 0)
		return -1;
	if (end < l.start_ns) {
		err_set(e, ERR_IO, "a kernel that ends before it begins");
		return columns_fault(c, r->at[END], e);
	}
	for (int i = 0; i < 3; i++) {
		if (size(r, c, (enum column)(GRID + i), i > 0, &threads, e) < 0 ||
		    size(r, c, (enum column)(BLOCK + i), i > 0, &block, e) < 0)
			return -1;
		l.block[i] = (uint32_t)block;
		l.grid[i] = block ? (uint32_t)((threads + block - 1) / block) : 0;
	}
	if (!r->any)
		r->base_ns = l.start_ns;
	r->any = true;
	l.name = clean_name(r, columns_text(c, r->at[NAME]));
	l.dur_ns = end - l.start_ns;
	l.start_ns -= r->base_ns;
	l.device = device_of(columns_text(c, r->at[DEVICE]));
	l.stream = (int64_t)(strtoull(columns_text(c, r->at[QUEUE]), NULL, 10) & INT64_MAX);
	l.smem_dynamic = (uint64_t)lds;
	return r->name.failed ? err_nomem(e, NULL) : tracedb_put_launch(c->db, &l, 0, e);
}

/* --- statistics --------------------------------------------------------------------------------------------------- */

static int statistic(const struct reader *r, const struct columns *c, enum column k, int64_t *v, struct err *e)
{
	*v = -1;
	return *columns_text(c, r->at[k]) ? columns_number(c, r->at[k], spelt[k][0], 0, 0, v, e) : 0;
}

static int read_statistics(struct reader *r, const struct columns *c, struct err *e)
{
	struct trace_stat s = { .median_ns = -1 };

	s.name = clean_name(r, columns_text(c, r->at[NAME]));
	if (columns_number(c, r->at[CALLS], "Calls", 0, 1, &s.instances, e) < 0 ||
	    columns_number(c, r->at[TOTAL], "TotalDurationNs", 0, 0, &s.total_ns, e) < 0 ||
	    statistic(r, c, LEAST, &s.min_ns, e) < 0 || statistic(r, c, LONGEST, &s.max_ns, e) < 0 ||
	    statistic(r, c, DEVIATION, &s.deviation_ns, e) < 0)
		return -1;
	if (s.instances > (INT64_C(1) << 62) - r->instances || s.total_ns > (INT64_C(1) << 62) - r->total) {
		err_set(e, ERR_IO, "the sums of calls or times are out of range");
		return columns_fault(c, r->at[TOTAL], e);
	}
	r->instances += s.instances;
	r->total += s.total_ns;
	return r->name.failed ? err_nomem(e, NULL) : tracedb_put_stat(c->db, &s, e);
}

static int read_row(void *arg, const struct columns *c, struct err *e)
{
	struct reader *r = arg;

	return r->at[BEGIN] != COLUMNS_NONE ? read_dispatch(r, c, e) : read_statistics(r, c, e);
}

int rocprof_csv_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                       struct trace_import_stats *st, struct err *e)
{
	static const struct columns_table table = {
		"rocprof",
		"table of rocprof (a header with Kernel_Name and Start_Timestamp, or KernelName and BeginNs)",
		is_header,
		read_header,
		read_row,
		NULL
	};
	struct reader r = { .name = STR_INIT };
	const int rc = columns_import(&table, &r, db, in, progress, arg, st, e);

	str_free(&r.name);
	return rc;
}
