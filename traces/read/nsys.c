/* nsys.c - the import: what the device did, table by table, after the host's calls. */
#include "traces/read/nsys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/read/cuda_names.h"
#include "traces/read/nsys_int.h"

#define KERNEL      "CUPTI_ACTIVITY_KIND_KERNEL"
#define MEMCPY      "CUPTI_ACTIVITY_KIND_MEMCPY"
#define MEMSET      "CUPTI_ACTIVITY_KIND_MEMSET"
#define GRAPH       "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
#define RUNTIME     "CUPTI_ACTIVITY_KIND_RUNTIME"
#define EPOCH       "TARGET_INFO_SESSION_START_TIME"
#define GPU         "TARGET_INFO_GPU"
#define CUDA_DEVICE "TARGET_INFO_CUDA_DEVICE"

#define U32_MOST   INT64_C(0xffffffff)
#define BYTES_MOST (INT64_C(1) << 60)

/* --- device activities ----------------------------------------------------------------------------------------- */

/* The columns that kernels, copies and sets share come first. */
enum { START, END, DEVICE, CONTEXT, STREAM, CORRELATION, PID, GRAPH_NODE, SHARED };
#define SHARED_COLUMNS \
	[START] = { "start", NSYS_NEEDED }, [END] = { "end", NSYS_NEEDED }, [DEVICE] = { "deviceId", NSYS_NEEDED }, \
	[CONTEXT] = { "contextId", NSYS_PLAIN }, [STREAM] = { "streamId", NSYS_NEEDED }, \
	[CORRELATION] = { "correlationId", NSYS_PLAIN }, [PID] = { "globalPid", NSYS_PLAIN }, \
	[GRAPH_NODE] = { "graphNodeId", NSYS_PLAIN }

static int read_shared(struct nsys *n, const struct nsys_rows *r, struct trace_launch *l, struct err *e)
{
	*l = (struct trace_launch){ .bytes = -1 };
	if (nsys_span(r, &l->start_ns, &l->dur_ns, e) < 0 ||
	    nsys_get(r, DEVICE, "deviceId", U32_MOST, &l->device, e) < 0)
		return -1;
	l->context = nsys_any(r, CONTEXT);
	l->stream = nsys_any(r, STREAM);
	/* Without a process a correlation id says nothing where there are several. */
	if (!(n->by_process && nsys_null(r, PID)) &&
	    nsys_correlation(n, NSYS_PROCESS(nsys_any(r, PID)), nsys_any(r, CORRELATION), &l->correlation, e) < 0)
		return -1;
	if (!nsys_null(r, GRAPH_NODE)) {
		l->graph_node = nsys_any(r, GRAPH_NODE);
		l->graph = l->correlation ? l->correlation : 1;
	}
	return 0;
}

static int small(const struct nsys_rows *r, int i, const char *name, uint32_t *out, struct err *e)
{
	int64_t v;

	if (nsys_get(r, i, name, U32_MOST, &v, e) < 0)
		return -1;
	*out = (uint32_t)v;
	return 0;
}

static int size(const struct nsys_rows *r, int i, const char *name, uint64_t *out, struct err *e)
{
	int64_t v;

	if (nsys_get(r, i, name, BYTES_MOST, &v, e) < 0)
		return -1;
	*out = (uint64_t)v;
	return 0;
}

enum {
	K_NAME = SHARED,
	K_REGISTERS,
	K_GRID,
	K_BLOCK = K_GRID + 3,
	K_CLUSTER = K_BLOCK + 3,
	K_STATIC = K_CLUSTER + 3,
	K_DYNAMIC,
	K_LOCAL,
	K_GRAPH,
	K_COLUMNS
};
/* clang-format off */
static const struct nsys_col kernel_cols[K_COLUMNS] = {
	SHARED_COLUMNS,
	[K_NAME] = { "name", NSYS_NAME }, [K_REGISTERS] = { "registersPerThread", NSYS_PLAIN },
	[K_GRID] = { "gridX", NSYS_PLAIN }, { "gridY", NSYS_PLAIN }, { "gridZ", NSYS_PLAIN },
	[K_BLOCK] = { "blockX", NSYS_PLAIN }, { "blockY", NSYS_PLAIN }, { "blockZ", NSYS_PLAIN },
	[K_CLUSTER] = { "clusterX", NSYS_PLAIN }, { "clusterY", NSYS_PLAIN }, { "clusterZ", NSYS_PLAIN },
	[K_STATIC] = { "staticSharedMemory", NSYS_PLAIN }, [K_DYNAMIC] = { "dynamicSharedMemory", NSYS_PLAIN },
	[K_LOCAL] = { "localMemoryPerThread", NSYS_PLAIN }, [K_GRAPH] = { "graphId", NSYS_PLAIN },
};
/* clang-format on */

static int put_kernel(struct nsys *n, const struct nsys_rows *r, struct err *e)
{
	struct trace_launch l;
	const char *name;

	if (read_shared(n, r, &l, e) < 0 || small(r, K_REGISTERS, "registersPerThread", &l.registers, e) < 0 ||
	    size(r, K_STATIC, "staticSharedMemory", &l.smem_static, e) < 0 ||
	    size(r, K_DYNAMIC, "dynamicSharedMemory", &l.smem_dynamic, e) < 0 ||
	    size(r, K_LOCAL, "localMemoryPerThread", &l.local, e) < 0)
		return -1;
	for (int k = 0; k < 3; k++)
		if (small(r, K_GRID + k, kernel_cols[K_GRID + k].name, &l.grid[k], e) < 0 ||
		    small(r, K_BLOCK + k, kernel_cols[K_BLOCK + k].name, &l.block[k], e) < 0 ||
		    small(r, K_CLUSTER + k, kernel_cols[K_CLUSTER + k].name, &l.cluster[k], e) < 0)
			return -1;
	if (!nsys_null(r, GRAPH_NODE) && nsys_any(r, K_GRAPH) != 0)
		l.graph = nsys_any(r, K_GRAPH);
	if (!(name = nsys_text(r, K_NAME, e)))
		return -1;
	l.kind = TRACE_KERNEL;
	l.name = *name ? name : "(unnamed)";
	return tracedb_put_launch(n->db, &l, 0, e);
}

static int64_t memory(const struct nsys_rows *r, int i)
{
	return nsys_null(r, i) ? -1 : nsys_any(r, i);
}

enum { C_BYTES = SHARED, C_KIND, C_FROM, C_TO, C_COLUMNS };
static const struct nsys_col copy_cols[C_COLUMNS] = {
	SHARED_COLUMNS,
	[C_BYTES] = { "bytes", NSYS_PLAIN },
	[C_KIND] = { "copyKind", NSYS_PLAIN },
	[C_FROM] = { "srcKind", NSYS_PLAIN },
	[C_TO] = { "dstKind", NSYS_PLAIN },
};

static int put_copy(struct nsys *n, const struct nsys_rows *r, struct err *e)
{
	struct trace_launch l;
	char name[80];

	if (read_shared(n, r, &l, e) < 0 || nsys_get(r, C_BYTES, "bytes", BYTES_MOST, &l.bytes, e) < 0)
		return -1;
	l.dir = cuda_copy(nsys_any(r, C_KIND), memory(r, C_FROM), memory(r, C_TO), name, sizeof name);
	l.kind = TRACE_MEMCPY;
	l.name = name;
	return tracedb_put_launch(n->db, &l, 0, e);
}

enum { S_BYTES = SHARED, S_MEMORY, S_COLUMNS };
static const struct nsys_col set_cols[S_COLUMNS] = {
	SHARED_COLUMNS,
	[S_BYTES] = { "bytes", NSYS_PLAIN },
	[S_MEMORY] = { "memKind", NSYS_PLAIN },
};

static int put_set(struct nsys *n, const struct nsys_rows *r, struct err *e)
{
	struct trace_launch l;
	char name[40];

	if (read_shared(n, r, &l, e) < 0 || nsys_get(r, S_BYTES, "bytes", BYTES_MOST, &l.bytes, e) < 0)
		return -1;
	snprintf(name, sizeof name, "Memset (%s)", cuda_memory(memory(r, S_MEMORY)));
	l.kind = TRACE_MEMSET;
	l.name = name;
	return tracedb_put_launch(n->db, &l, 0, e);
}

typedef int put_fn(struct nsys *n, const struct nsys_rows *r, struct err *e);

static int nsys_read_table(struct nsys *n, const struct nsys_query *q, put_fn *put, struct err *e)
{
	const int has = nsys_has_table(n, q->table, e);
	struct nsys_rows r;
	int rc;

	if (has <= 0)
		return has;
	if (nsys_rows(n, &r, q, e) < 0)
		return -1;
	while ((rc = nsys_next(&r, e)) == 1)
		if (put(n, &r, e) < 0) {
			rc = -1;
			break;
		}
	nsys_rows_end(&r);
	return rc;
}

/* --- devices --------------------------------------------------------------------------------------------------- */

enum { D_ID, D_NAME, D_MAJOR, D_MINOR, D_SMS, D_MEM, D_SMEM, D_REGS, D_COLUMNS };

static int put_device(struct nsys *n, const struct nsys_rows *r, struct err *e)
{
	struct trace_device d = { .name = nsys_text(r, D_NAME, e) };
	int64_t major, minor, sms;

	if (!d.name || nsys_get(r, D_ID, "id", U32_MOST, &d.id, e) < 0 ||
	    nsys_get(r, D_MAJOR, "computeMajor", 1000, &major, e) < 0 ||
	    nsys_get(r, D_MINOR, "computeMinor", 1000, &minor, e) < 0 ||
	    nsys_get(r, D_SMS, "smCount", 1000000, &sms, e) < 0 ||
	    nsys_get(r, D_MEM, "totalMemory", BYTES_MOST, &d.mem_bytes, e) < 0 ||
	    nsys_get(r, D_SMEM, "maxShmemPerSm", BYTES_MOST, &d.smem_per_sm, e) < 0 ||
	    nsys_get(r, D_REGS, "maxRegistersPerSm", BYTES_MOST, &d.regs_per_sm, e) < 0)
		return -1;
	d.sm_major = (int32_t)major;
	d.sm_minor = (int32_t)minor;
	d.sms = (int32_t)sms;
	return tracedb_put_device(n->db, &d, e);
}

/* Kernels name a device by CUDA's number, the table of GPUs by its own. */
static int read_devices(struct nsys *n, struct err *e)
{
	static const struct nsys_col cols[D_COLUMNS] = {
		[D_ID] = { "id", NSYS_NEEDED },
		[D_NAME] = { "name", NSYS_PLAIN },
		[D_MAJOR] = { "computeMajor", NSYS_PLAIN },
		[D_MINOR] = { "computeMinor", NSYS_PLAIN },
		[D_SMS] = { "smCount", NSYS_PLAIN },
		[D_MEM] = { "totalMemory", NSYS_PLAIN },
		[D_SMEM] = { "maxShmemPerSm", NSYS_PLAIN },
		[D_REGS] = { "maxRegistersPerSm", NSYS_PLAIN },
	};
	struct nsys_col mapped[D_COLUMNS];
	const int has = nsys_has_table(n, CUDA_DEVICE, e);
	const int gpu = has > 0 ? nsys_has_column(n, CUDA_DEVICE, "gpuId", e) : has;
	const int cuda = gpu > 0 ? nsys_has_column(n, CUDA_DEVICE, "cudaId", e) : gpu;

	if (cuda < 0)
		return -1;
	memcpy(mapped, cols, sizeof cols);
	if (cuda)
		mapped[D_ID] = (struct nsys_col){ "id", NSYS_CUDA_ID };
	return nsys_read_table(n, &(struct nsys_query){ GPU, "a GPU", mapped, D_COLUMNS, NULL }, put_device, e);
}

/* --- the whole ------------------------------------------------------------------------------------------------- */

/* Calls without what they launched: CUDA was traced, and the GPU was not. */
static int no_activity(struct nsys *n, const char *what, struct err *e)
{
	int64_t calls = 0;
	int rc = nsys_has_table(n, RUNTIME, e);
	bool got;

	if (rc < 0 || (rc && nsys_number(n, "select count(*) from " RUNTIME, &calls, &got, e) < 0))
		return -1;
	if (calls > 0)
		return err_set(
			e, ERR_IO,
			"no GPU activity in '%s': %s. It has %lld CUDA calls, so CUDA was traced: the capture ended"
			" before the GPU began, or another profiler held the GPU",
			n->file, what, (long long)calls);
	return err_set(e, ERR_IO, "no GPU activity in '%s': %s; was it captured with '--trace=cuda'?", n->file, what);
}

/* What a database is that has no kernels in it. */
static int check_tables(struct nsys *n, struct err *e)
{
	static const char *const any[] = { KERNEL, MEMCPY, MEMSET, GRAPH };
	int64_t app = 0;
	bool got;
	int rc;

	for (size_t i = 0; i < sizeof any / sizeof *any; i++)
		if ((rc = nsys_has_table(n, any[i], e)) != 0) {
			if (rc < 0 || (rc = nsys_has_table(n, "StringIds", e)) != 0)
				return rc < 0 ? -1 : 0;
			return err_set(e, ERR_IO, "no table StringIds in '%s', which holds the names of its kernels",
			               n->file);
		}
	if (nsys_number(n, "pragma application_id", &app, &got, e) < 0)
		return -1;
	if (app == TRACEDB_APP_ID)
		return err_set(e, ERR_IO,
		               "'%s' is a trace database of npusim itself: the other commands read it as it is",
		               n->file);
	if ((rc = nsys_has_table(n, "StringIds", e)) < 0)
		return -1;
	return rc ? no_activity(n, "it has no table " KERNEL, e)
	          : err_set(e, ERR_IO,
	                    "'%s' is a SQLite database and no export of Nsight Systems: it has no table " KERNEL,
	                    n->file);
}

static int check_content(struct nsys *n, struct err *e)
{
	struct trace_import_stats st;
	int64_t graphs = 0;
	bool got = false;
	int rc;

	tracedb_stats(n->db, &st);
	if (st.kernels + st.copies + st.sets > 0)
		return 0;
	if ((rc = nsys_has_table(n, GRAPH, e)) < 0 ||
	    (rc && nsys_number(n, "select count(*) from " GRAPH, &graphs, &got, e) < 0))
		return -1;
	if (graphs > 0)
		return err_set(e, ERR_IO,
		               "no kernels in '%s': its %lld graph launches were recorded as wholes; capture with"
		               " '--cuda-graph-trace=node'",
		               n->file, (long long)graphs);
	return no_activity(n, "its tables of kernels, copies and sets are empty", e);
}

/* Times count from the session's start; its date makes several files one time axis. */
static int read_epoch(struct nsys *n, int64_t *base, struct err *e)
{
	int rc = nsys_has_table(n, EPOCH, e);
	bool got;

	if (rc > 0)
		rc = nsys_has_column(n, EPOCH, "utcEpochNs", e);
	if (rc <= 0)
		return rc;
	if (nsys_number(n, "select utcEpochNs from " EPOCH, base, &got, e) < 0)
		return -1;
	if (!got || *base < 0 || *base > INT64_C(1) << 61)
		*base = 0;
	return 0;
}

static int has_processes(struct nsys *n, struct err *e)
{
	int rc = nsys_has_column(n, KERNEL, "globalPid", e);

	if (rc > 0)
		rc = nsys_has_column(n, RUNTIME, "globalTid", e);
	n->by_process = rc > 0;
	return rc < 0 ? -1 : 0;
}

static int nsys_read_all(struct nsys *n, struct input *in, int64_t *base, input_progress *progress, void *arg,
                         struct err *e)
{
	static const struct nsys_query kernels = { KERNEL, "a kernel", kernel_cols, K_COLUMNS, NULL };
	static const struct nsys_query copies = { MEMCPY, "a copy", copy_cols, C_COLUMNS, NULL };
	static const struct nsys_query sets = { MEMSET, "a set", set_cols, S_COLUMNS, NULL };
	const uint64_t total = input_size(in);

	if (nsys_open(n, in, e) < 0 || check_tables(n, e) < 0 || read_epoch(n, base, e) < 0 ||
	    has_processes(n, e) < 0 || nsys_index(n, e) < 0 || read_devices(n, e) < 0 || nsys_host(n, e) < 0)
		return -1;
	if (progress && total)
		progress(arg, total / 2, total);
	if (nsys_read_table(n, &kernels, put_kernel, e) < 0 || nsys_read_table(n, &copies, put_copy, e) < 0 ||
	    nsys_read_table(n, &sets, put_set, e) < 0)
		return -1;
	if (progress && total)
		progress(arg, total, total);
	return check_content(n, e);
}

int nsys_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                struct trace_import_stats *st, struct err *e)
{
	struct nsys n = { .file = input_name(in), .db = db };
	char hash[INPUT_DIGEST];
	struct trace_import src = { n.file, "nsys", hash, 0, -1, true, NULL };
	int rc;

	if (input_digest(in, hash, e) < 0 || (rc = tracedb_begin(db, &src, e)) < 0)
		return -1;
	if (rc == 1)
		return 1;
	rc = nsys_read_all(&n, in, &src.base_ns, progress, arg, e);
	if (rc == 0)
		rc = tracedb_finish(db, &src, st, e);
	if (rc < 0)
		tracedb_abort(db);
	nsys_close(&n);
	return rc;
}
