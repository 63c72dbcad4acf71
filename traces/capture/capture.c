/* capture.c - libnpusim-capture.so: what a CUDA program does on the GPU, into a spool (spool.h).
 *
 * The driver loads it where CUDA_INJECTION64_PATH names it and calls InitializeInjection; NVTX does the same through
 * NVTX_INJECTION64_PATH, maybe earlier. `npusim trace record` sets both, and NPUSIM_CAPTURE_DIR, where each process makes
 * a file of its own. CUPTI fills buffers; each buffer that it hands back is one write, so what is written is safe from
 * whatever becomes of the process. A thread asks for them once a second; a program that stops its profiler
 * (cuProfilerStop) or ends by itself, at once.
 * What it costs on an H200, wall time of the median step: a decode step of PyTorch, eager, 115 kernels: 11 % (1.83 to 2.04 ms,
 * medians of three runs of 2000 steps; 1.8 us a launch); up to twice the time in a program's first half second. A step of
 * 150 kernels that keep the device busy, 50 of them from a graph: 2 % (validate/cuda/capture.cu, medians of five runs).
 * Of a graph's nodes it notes when, and by which thread, each was made and which one it is a copy of: NVTX ranges that were
 * open then say what its kernels are for.
 * It never stops a program: what goes wrong is one line on stderr, and the program runs on without us.
 *
 * The callbacks have no argument of ours, so the state is file-scope; all of it behind one lock.
 * NPUSIM_CAPTURE_REDACT, set to anything, leaves the command line out (`npusim trace record --redact`).
 * NPUSIM_CAPTURE_CLOCKS=1 also asks for the clocks, where the driver has them (580 on an H200 has none).
 * Leaves out: calls that neither launch, copy, wait nor allocate; programs that are profiled already (CUPTI serves one). */
#define _GNU_SOURCE /* dlsym, pthread_condattr_setclock */
#include <cupti.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "traces/capture/spool.h"

#define BUFFER  ((size_t)1 << 20) /* some 5000 kernels */
#define CALLS   2048              /* more than there are functions in either interface */
#define DROPPED UINT32_MAX

#define EXPORT __attribute__((visibility("default")))

struct node {
	uint64_t time, id, from;
	uint32_t thread;
};

typedef char *demangler(const char *mangled, char *out, size_t *n, int *status);

struct name {
	char *text;
	uint64_t hash;
	uint32_t id;
};

static struct capture {
	pthread_mutex_t lock;
	int fd; /* -1: not recording */
	pid_t pid;
	uint8_t *out; /* records on their way to the file */
	size_t n, cap;
	struct name *names; /* open addressing; cap is a power of two */
	size_t n_names, names_cap;
	uint32_t calls[2][CALLS]; /* name by interface and number; 0 not asked yet, DROPPED */
	demangler *demangle;      /* NULL: names stay as the compiler made them */
	pthread_t flusher;
	pthread_cond_t wake;
	bool flushing, ending;
	pthread_mutex_t node_lock; /* held for no call of CUPTI, which may wait for `lock` inside its callback */
	struct node *nodes;        /* nodes of graphs that are not in the file yet */
	size_t n_nodes, nodes_cap;
} c = { .lock = PTHREAD_MUTEX_INITIALIZER, .node_lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

static void complain(const char *what, const char *why)
{
	fprintf(stderr, "npusim capture: %s: %s\n", what, why);
}

/* --- the file -------------------------------------------------------------------------------------------------- */

static void give_up(const char *what, const char *why)
{
	complain(what, why);
	if (c.fd >= 0)
		close(c.fd);
	c.fd = -1;
}

static bool room(size_t n)
{
	size_t cap = c.cap ? c.cap : BUFFER;
	uint8_t *more;

	if (c.fd < 0)
		return false;
	if (c.cap - c.n >= n)
		return true;
	while (cap - c.n < n)
		cap *= 2;
	if (!(more = realloc(c.out, cap))) {
		give_up("stopped", "out of memory");
		return false;
	}
	c.out = more;
	c.cap = cap;
	return true;
}

static void put(enum spool_kind kind, const uint64_t *v, const char *text)
{
	size_t n = text ? strlen(text) : 0;

	n = n < SPOOL_TEXT ? n : SPOOL_TEXT;
	if (room(SPOOL_HEAD + 8 * SPOOL_FIELDS + n))
		c.n += spool_record(c.out + c.n, kind, v, text, n);
}

#define PUT(kind, text, ...) put(kind, (const uint64_t[SPOOL_FIELDS]){ __VA_ARGS__ }, text)

static void write_out(void)
{
	size_t done = 0;

	while (c.fd >= 0 && done < c.n) {
		const ssize_t n = write(c.fd, c.out + done, c.n - done);

		if (n < 0 && errno != EINTR)
			give_up("stopped, the file cannot be written", strerror(errno));
		else if (n > 0)
			done += (size_t)n;
	}
	c.n = 0;
}

/* --- names ----------------------------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *s)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (; *s; s++)
		h = (h ^ (uint8_t)*s) * UINT64_C(1099511628211);
	return h;
}

static bool grow(void)
{
	const size_t cap = c.names_cap ? 2 * c.names_cap : 1024;
	struct name *v = calloc(cap, sizeof *v);

	if (!v)
		return false;
	for (size_t i = 0; i < c.names_cap; i++) {
		size_t at = c.names[i].hash & (cap - 1);

		if (!c.names[i].text)
			continue;
		while (v[at].text)
			at = (at + 1) & (cap - 1);
		v[at] = c.names[i];
	}
	free(c.names);
	c.names = v;
	c.names_cap = cap;
	return true;
}

/* A name's number, given when it is new; 0 where there is none, or no memory. */
static uint32_t intern(const char *text, bool mangled)
{
	const uint64_t hash = text ? hash_of(text) : 0;
	char *plain = NULL;
	int status = -1;
	size_t at;

	if (!text || !*text || (2 * c.n_names >= c.names_cap && !grow()))
		return 0;
	for (at = hash & (c.names_cap - 1); c.names[at].text; at = (at + 1) & (c.names_cap - 1))
		if (c.names[at].hash == hash && strcmp(c.names[at].text, text) == 0)
			return c.names[at].id;
	if (!(c.names[at].text = strdup(text)))
		return 0;
	c.names[at].hash = hash;
	c.names[at].id = (uint32_t)++c.n_names;
	if (mangled && c.demangle && strncmp(text, "_Z", 2) == 0)
		plain = c.demangle(text, NULL, NULL, &status);
	PUT(SPOOL_NAME, plain && status == 0 ? plain : text, c.n_names);
	free(plain);
	return c.names[at].id;
}

/* --- calls ----------------------------------------------------------------------------------------------------- */

static bool is_wanted(const char *name, CUpti_CallbackDomain domain)
{
	static const char *const parts[] = { "Launch", "Memcpy",           "Memset",      "Synchronize", "Malloc",
		                             "Free",   "GraphInstantiate", "EventRecord", "WaitEvent",   "Prefetch" };
	/* The runtime's own calls of the driver are not told apart; these are what programs call themselves. */
	const size_t n = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? sizeof parts / sizeof *parts : 4;

	for (size_t i = 0; i < n; i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

/* "cudaLaunchKernel_v7000" is cudaLaunchKernel. */
static uint32_t call_name(CUpti_CallbackDomain domain, uint32_t id)
{
	const char *name = NULL;
	char plain[128];
	char *version;
	uint32_t *known;

	if (id >= CALLS)
		return DROPPED;
	known = &c.calls[domain == CUPTI_CB_DOMAIN_RUNTIME_API][id];
	if (*known)
		return *known;
	if (cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS || !name || !is_wanted(name, domain))
		return *known = DROPPED;
	snprintf(plain, sizeof plain, "%s", name);
	for (version = plain; (version = strstr(version, "_v")); version++)
		if (version[2] && version[2 + strspn(version + 2, "0123456789")] == '\0') {
			*version = '\0';
			break;
		}
	return *known = intern(plain, false);
}

/* Where CUPTI can leave single calls out, those that nobody wants cost nothing. */
static void choose_calls(void)
{
#if CUPTI_API_VERSION >= 130000
	const char *name;

	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME);
	for (uint32_t id = 1; id < CUPTI_RUNTIME_TRACE_CBID_SIZE; id++)
		if (cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, id, &name) == CUPTI_SUCCESS && name &&
		    !is_wanted(name, CUPTI_CB_DOMAIN_RUNTIME_API))
			cuptiActivityEnableRuntimeApi(id, 0);
	for (uint32_t id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE; id++)
		if (cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) == CUPTI_SUCCESS && name &&
		    is_wanted(name, CUPTI_CB_DOMAIN_DRIVER_API))
			cuptiActivityEnableDriverApi(id, 1);
#else
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME);
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER);
#endif
}

/* --- records --------------------------------------------------------------------------------------------------- */

/* Newer versions of these structures only add to their ends. */
static void take_kernel(const CUpti_ActivityKernel9 *k)
{
	PUT(SPOOL_KERNEL, NULL, k->start, k->end, intern(k->name, true), k->correlationId, k->deviceId, k->contextId,
	    k->streamId, k->graphId, k->graphNodeId, (uint32_t)k->gridX, (uint32_t)k->gridY, (uint32_t)k->gridZ,
	    (uint32_t)k->blockX, (uint32_t)k->blockY, (uint32_t)k->blockZ, k->clusterX, k->clusterY, k->clusterZ,
	    k->registersPerThread, (uint32_t)k->staticSharedMemory, (uint32_t)k->dynamicSharedMemory,
	    k->localMemoryPerThread);
}

static void take_copy(const CUpti_ActivityMemcpy5 *m)
{
	PUT(SPOOL_COPY, NULL, m->start, m->end, 0, m->correlationId, m->deviceId, m->contextId, m->streamId, m->graphId,
	    m->graphNodeId, m->bytes, m->copyKind, m->srcKind, m->dstKind);
}

static void take_peer_copy(const CUpti_ActivityMemcpyPtoP4 *m)
{
	PUT(SPOOL_COPY, NULL, m->start, m->end, 0, m->correlationId, m->deviceId, m->contextId, m->streamId, m->graphId,
	    m->graphNodeId, m->bytes, m->copyKind, m->srcKind, m->dstKind);
}

static void take_set(const CUpti_ActivityMemset4 *m)
{
	PUT(SPOOL_SET, NULL, m->start, m->end, 0, m->correlationId, m->deviceId, m->contextId, m->streamId, m->graphId,
	    m->graphNodeId, m->bytes, m->memoryKind);
}

static void take_call(const CUpti_ActivityAPI *a)
{
	const uint32_t name = call_name(a->kind == CUPTI_ACTIVITY_KIND_RUNTIME ? CUPTI_CB_DOMAIN_RUNTIME_API
	                                                                       : CUPTI_CB_DOMAIN_DRIVER_API,
	                                a->cbid);

	if (name != DROPPED)
		PUT(SPOOL_CALL, NULL, a->start, a->end, name, a->threadId, a->correlationId);
}

static void take_mark(const CUpti_ActivityMarker2 *m)
{
	const bool begins = m->flags & CUPTI_ACTIVITY_FLAG_MARKER_START;

	if (begins || (m->flags & CUPTI_ACTIVITY_FLAG_MARKER_END))
		PUT(SPOOL_MARK, NULL, m->timestamp, m->id, begins ? EDGE_BEGIN : EDGE_END,
		    m->objectKind == CUPTI_ACTIVITY_OBJECT_THREAD ? m->objectId.pt.threadId : 0,
		    begins ? intern(m->name, false) : 0, begins ? intern(m->domain, false) : 0);
}

static void take_device(const CUpti_ActivityDevice4 *d)
{
	PUT(SPOOL_DEVICE, d->name, d->id, d->computeCapabilityMajor, d->computeCapabilityMinor, d->numMultiprocessors,
	    d->globalMemorySize, d->maxSharedMemoryPerMultiprocessor, d->maxRegistersPerMultiprocessor,
	    d->coreClockRate, d->globalMemoryBandwidth);
}

static void take_clock(const CUpti_ActivityEnvironment *v)
{
	if (v->environmentKind == CUPTI_ACTIVITY_ENVIRONMENT_SPEED)
		PUT(SPOOL_CLOCK, NULL, v->timestamp, v->deviceId, v->data.speed.smClock, v->data.speed.memoryClock);
}

static void take(const CUpti_Activity *a)
{
	switch (a->kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		take_kernel((const void *)a);
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		take_copy((const void *)a);
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		take_peer_copy((const void *)a);
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		take_set((const void *)a);
		break;
	case CUPTI_ACTIVITY_KIND_RUNTIME:
	case CUPTI_ACTIVITY_KIND_DRIVER:
		take_call((const void *)a);
		break;
	case CUPTI_ACTIVITY_KIND_MARKER:
		take_mark((const void *)a);
		break;
	case CUPTI_ACTIVITY_KIND_DEVICE:
		take_device((const void *)a);
		break;
	case CUPTI_ACTIVITY_KIND_ENVIRONMENT:
		take_clock((const void *)a);
		break;
	default:
		break;
	}
}

/* --- nodes of graphs ------------------------------------------------------------------------------------------- */

/* A graph's kernels run later than the calls that put them into it: where those stood, and which node a node is a copy
 * of, says whose they are. */
static void keep_node(const struct node *n)
{
	pthread_mutex_lock(&c.node_lock);
	if (c.n_nodes == c.nodes_cap) {
		const size_t cap = c.nodes_cap ? 2 * c.nodes_cap : 1024;
		struct node *more = realloc(c.nodes, cap * sizeof *more);

		if (more) {
			c.nodes = more;
			c.nodes_cap = cap;
		}
	}
	if (c.n_nodes < c.nodes_cap)
		c.nodes[c.n_nodes++] = *n;
	pthread_mutex_unlock(&c.node_lock);
}

static void on_graph_node(CUpti_CallbackId id, const CUpti_ResourceData *what)
{
	const CUpti_GraphData *g = what->resourceDescriptor;
	struct node n = { .thread = (uint32_t)syscall(SYS_gettid) };

	if (!g || cuptiGetGraphNodeId(g->node, &n.id) != CUPTI_SUCCESS || cuptiGetTimestamp(&n.time) != CUPTI_SUCCESS)
		return;
	if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED &&
	    cuptiGetGraphNodeId(g->originalNode, &n.from) != CUPTI_SUCCESS)
		return;
	keep_node(&n);
}

static void put_nodes(void)
{
	struct node *nodes;
	size_t n;

	pthread_mutex_lock(&c.node_lock);
	nodes = c.nodes;
	n = c.n_nodes;
	c.nodes = NULL;
	c.n_nodes = c.nodes_cap = 0;
	pthread_mutex_unlock(&c.node_lock);
	for (size_t i = 0; i < n; i++)
		PUT(SPOOL_NODE, NULL, nodes[i].time, nodes[i].id, nodes[i].from, nodes[i].thread);
	free(nodes);
}

/* --- buffers --------------------------------------------------------------------------------------------------- */

static void CUPTIAPI buffer_asked(uint8_t **buf, size_t *size, size_t *most)
{
	*buf = aligned_alloc(8, BUFFER);
	*size = *buf ? BUFFER : 0;
	*most = 0;
}

static void CUPTIAPI buffer_done(CUcontext context, uint32_t stream, uint8_t *buf, size_t size, size_t valid)
{
	CUpti_Activity *a = NULL;
	size_t lost = 0;

	(void)size;
	pthread_mutex_lock(&c.lock);
	while (c.fd >= 0 && valid && cuptiActivityGetNextRecord(buf, valid, &a) == CUPTI_SUCCESS)
		take(a);
	if (cuptiActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS && lost)
		PUT(SPOOL_LOST, NULL, lost);
	put_nodes();
	write_out();
	pthread_mutex_unlock(&c.lock);
	free(buf);
}

/* --- begin and end --------------------------------------------------------------------------------------------- */

static void *flush_each_second(void *arg)
{
	struct timespec when;

	pthread_mutex_lock(&c.lock);
	while (!c.ending) {
		clock_gettime(CLOCK_MONOTONIC, &when);
		when.tv_sec++;
		while (!c.ending && pthread_cond_timedwait(&c.wake, &c.lock, &when) == 0)
			;
		pthread_mutex_unlock(&c.lock);
		cuptiActivityFlushAll(0);
		pthread_mutex_lock(&c.lock);
	}
	pthread_mutex_unlock(&c.lock);
	return arg;
}

static void CUPTIAPI on_call(void *arg, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	(void)arg;
	if (domain == CUPTI_CB_DOMAIN_RESOURCE)
		on_graph_node(id, data);
	else if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop)
		cuptiActivityFlushAll(0);
}

static void at_end(void)
{
	uint64_t now = 0;

	if (getpid() != c.pid) /* a fork: the file is its parent's */
		return;
	pthread_mutex_lock(&c.lock);
	c.ending = true;
	pthread_mutex_unlock(&c.lock);
	if (c.flushing) {
		pthread_cond_signal(&c.wake);
		pthread_join(c.flusher, NULL);
	}
	cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	cuptiGetTimestamp(&now);
	pthread_mutex_lock(&c.lock);
	put_nodes();
	PUT(SPOOL_END, NULL, now);
	write_out();
	if (c.fd >= 0)
		close(c.fd);
	c.fd = -1;
	pthread_mutex_unlock(&c.lock);
}

/* One image after another may run under one process number. */
static int new_file(void)
{
	const char *dir = getenv("NPUSIM_CAPTURE_DIR");
	char path[4096];
	int fd = -1;

	if (!dir || !*dir) {
		complain("not recording", "NPUSIM_CAPTURE_DIR does not say where to");
		return -1;
	}
	for (int i = 0; i < 1000; i++) {
		snprintf(path, sizeof path, "%s/%ld-%d.spool", dir, (long)c.pid, i);
		if ((fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666)) >= 0 || errno != EEXIST)
			break;
	}
	if (fd < 0)
		complain(path, strerror(errno));
	return fd;
}

/* Its words with blanks between; nothing where it is to be left out. */
static void command(char *text, size_t size)
{
	const int fd = getenv("NPUSIM_CAPTURE_REDACT") ? -1 : open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (ssize_t i = 0; i + 1 < n; i++)
		if (text[i] == '\0')
			text[i] = ' ';
}

static bool begin_file(void)
{
	uint64_t now = 0;
	char text[4096];

	if ((c.fd = new_file()) < 0 || !room(SPOOL_HEADER))
		return false;
	c.n = spool_header(c.out);
	command(text, sizeof text);
	cuptiGetTimestamp(&now);
	PUT(SPOOL_PROCESS, text, now, (uint64_t)c.pid);
	write_out();
	return c.fd >= 0;
}

static void find_demangler(void)
{
	static const char *const libraries[] = { "libstdc++.so.6", "libc++abi.so.1" };

	for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !c.demangle; i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
		void *found = library ? dlsym(library, "__cxa_demangle") : NULL;

		memcpy(&c.demangle, &found, sizeof found);
	}
}

static void start_flusher(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c.wake, &attr);
	pthread_condattr_destroy(&attr);
	c.flushing = pthread_create(&c.flusher, NULL, flush_each_second, NULL) == 0;
}

static void start(void)
{
	static const CUpti_ActivityKind kinds[] = {
		CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
		CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MARKER,
	};
	CUpti_SubscriberHandle subscriber;
	CUptiResult rc;
	const char *why = NULL;

	c.pid = getpid();
	if (!begin_file())
		return;
	find_demangler();
	cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	if ((rc = cuptiActivityRegisterCallbacks(buffer_asked, buffer_done)) != CUPTI_SUCCESS) {
		cuptiGetResultString(rc, &why);
		give_up("not recording", why ? why : "CUPTI refuses");
		return;
	}
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if ((rc = cuptiActivityEnable(kinds[i])) != CUPTI_SUCCESS) {
			cuptiGetResultString(rc, &why);
			complain("a kind of record is not available", why ? why : "?");
		}
	choose_calls();
	if (getenv("NPUSIM_CAPTURE_CLOCKS"))
		cuptiActivityEnable(CUPTI_ACTIVITY_KIND_ENVIRONMENT);
	/* Another tool may be subscribed; then the second's flush has to do. */
	if (cuptiSubscribe(&subscriber, on_call, NULL) == CUPTI_SUCCESS) {
		cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
		cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
		cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
	}
	start_flusher();
	atexit(at_end);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

CUptiResult CUPTIAPI cuptiNvtxInitialize2(void *get_export_table);
EXPORT int InitializeInjection(void);
EXPORT int InitializeInjectionNvtx2(void *get_export_table);

EXPORT int InitializeInjection(void)
{
	pthread_once(&once, start);
	return 1;
}

EXPORT int InitializeInjectionNvtx2(void *get_export_table)
{
	pthread_once(&once, start);
	return cuptiNvtxInitialize2(get_export_table) == CUPTI_SUCCESS;
}
