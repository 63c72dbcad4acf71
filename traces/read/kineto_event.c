/* kineto_event.c - assembles one event at a time and puts it into the database.
 *
 *   {"traceEvents":[ {"ph":"X","cat":"kernel","ts":1.5,"dur":2,"args":{"grid":[1,1,1],"Input Dims":[[4,8],[]]}}, ... ]}
 *   depth 1         2 3 = event_depth                        4 in_args  5 array=1             5        6 array=2
 *
 * A file may also be the bare array of events; event_depth is then 2. Keys may come in any order, so that an event
 * is judged when its map closes. Older files spell some names differently ("Kernel", "Operator", "External Id",
 * "Input dims"). */
#define _POSIX_C_SOURCE 200809L /* strncasecmp */

#include "traces/read/kineto_event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sim/base/hash.h"
#include "traces/text/decimal.h"

#define TIME_LIMIT (INT64_C(1) << 61) /* so that sums and differences of two stay in 64 bits */

enum field { F_NONE, F_PH, F_CAT, F_NAME, F_TS, F_DUR, F_PID, F_TID, F_ARGS };
/* clang-format off */
enum arg {
	A_NONE, A_EXTERNAL, A_CORRELATION, A_DEVICE, A_CONTEXT, A_STREAM, A_REGISTERS, A_SMEM, A_GRID, A_BLOCK,
	A_CLUSTER, A_BYTES, A_KIND, A_GRAPH, A_GRAPH_NODE, A_SEQUENCE, A_COLLECTIVE, A_NELEMS, A_GROUP, A_DTYPE,
	A_DIMS, A_STRIDES, A_TYPES, A_SCALARS /* columns of arguments, last */
};
enum top { TOP_NONE, TOP_EVENTS, TOP_DEVICES, TOP_UNIX_NS };
enum device_key { D_NONE, D_ID, D_NAME, D_MAJOR, D_MINOR, D_SMS, D_MEM, D_SMEM, D_REGS };

struct word { const char *text; uint8_t len; uint8_t id; };
#define W(text, id) { text, sizeof text - 1, id }

static const struct word fields[] = {
	W("ph", F_PH), W("cat", F_CAT), W("name", F_NAME), W("ts", F_TS), W("dur", F_DUR), W("pid", F_PID),
	W("tid", F_TID), W("args", F_ARGS), { NULL, 0, 0 }
};
static const struct word args[] = {
	W("External id", A_EXTERNAL), W("correlation", A_CORRELATION), W("device", A_DEVICE), W("context", A_CONTEXT),
	W("stream", A_STREAM), W("registers per thread", A_REGISTERS), W("shared memory", A_SMEM), W("grid", A_GRID),
	W("block", A_BLOCK), W("cluster", A_CLUSTER), W("bytes", A_BYTES), W("kind", A_KIND), W("graph id", A_GRAPH),
	W("graph node id", A_GRAPH_NODE), W("Sequence number", A_SEQUENCE), W("Collective name", A_COLLECTIVE),
	W("In msg nelems", A_NELEMS), W("Out msg nelems", A_NELEMS), W("Group size", A_GROUP), W("dtype", A_DTYPE),
	W("Input Dims", A_DIMS),
	W("Input Strides", A_STRIDES), W("Input type", A_TYPES), W("Concrete Inputs", A_SCALARS), { NULL, 0, 0 }
};
static const struct word tops[] = {
	W("traceEvents", TOP_EVENTS), W("deviceProperties", TOP_DEVICES), W("baseTimeNanoseconds", TOP_UNIX_NS),
	{ NULL, 0, 0 }
};
static const struct word device_keys[] = {
	W("id", D_ID), W("name", D_NAME), W("computeMajor", D_MAJOR), W("computeMinor", D_MINOR), W("numSms", D_SMS),
	W("totalGlobalMem", D_MEM), W("sharedMemPerMultiprocessor", D_SMEM), W("regsPerMultiprocessor", D_REGS),
	W("maxSharedMemoryPerMultiProcessor", D_SMEM), { NULL, 0, 0 }
};
static const struct word cats[] = {
	W("kernel", KINETO_KERNEL), W("gpu_memcpy", KINETO_MEMCPY), W("gpu_memset", KINETO_MEMSET),
	W("cpu_op", KINETO_OP), W("user_annotation", KINETO_RANGE), W("gpu_user_annotation", KINETO_GPU_RANGE),
	W("cuda_profiler_range", KINETO_PROFILER_RANGE), W("memcpy", KINETO_MEMCPY), W("memset", KINETO_MEMSET),
	W("operator", KINETO_OP), W("runtime", KINETO_CALL), { NULL, 0, 0 }
};
/* clang-format on */

static int lookup(const struct word *w, const char *text, size_t n)
{
	for (; w->text; w++)
		if (w->len == n && ((w->text[0] ^ text[0]) & ~0x20) == 0 && strncasecmp(w->text, text, n) == 0)
			return w->id;
	return 0;
}

static bool ends_with(const char *text, size_t n, const char *suffix)
{
	size_t k = strlen(suffix);

	return n > k && memcmp(text + n - k, suffix, k) == 0;
}

static enum kineto_cat cat_of(const char *text, size_t n)
{
	int id = lookup(cats, text, n);

	if (id)
		return (enum kineto_cat)id;
	return ends_with(text, n, "_runtime") || ends_with(text, n, "_driver") ? KINETO_CALL : KINETO_OTHER;
}

static bool contains(const char *text, size_t n, const char *part)
{
	size_t k = strlen(part);

	for (size_t i = 0; i + k <= n; i++)
		if (text[i] == part[0] && memcmp(text + i, part, k) == 0)
			return true;
	return false;
}

/* "Memcpy DtoH (Device -> Pageable)", "DtoH", "CopyDeviceToHost" */
static enum trace_copy_dir direction(const char *text, size_t n)
{
	static const struct {
		const char *brief, *full;
		enum trace_copy_dir dir;
	} all[] = {
		{ "HtoD", "HostToDevice", TRACE_COPY_HTOD },   { "DtoH", "DeviceToHost", TRACE_COPY_DTOH },
		{ "DtoD", "DeviceToDevice", TRACE_COPY_DTOD }, { "HtoH", "HostToHost", TRACE_COPY_HTOH },
		{ "PtoP", "PeerToPeer", TRACE_COPY_PTOP },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (contains(text, n, all[i].brief) || contains(text, n, all[i].full))
			return all[i].dir;
	return TRACE_COPY_NONE;
}

/* Adds with NUL bytes, which "\u0000" makes, replaced: the database's texts are C strings. */
static void add_clean(struct str *s, const char *text, size_t n)
{
	const char *nul;

	while ((nul = memchr(text, '\0', n))) {
		str_addn(s, text, (size_t)(nul - text));
		str_addn(s, "\xef\xbf\xbd", 3);
		n -= (size_t)(nul - text) + 1;
		text = nul + 1;
	}
	str_addn(s, text, n);
}

/* --- an event's end -------------------------------------------------------------------------------------------- */

static const char *cat_word(enum kineto_cat cat)
{
	switch (cat) {
	case KINETO_KERNEL:
		return "kernel";
	case KINETO_MEMCPY:
		return "copy";
	case KINETO_MEMSET:
		return "set";
	case KINETO_OP:
		return "framework op";
	case KINETO_CALL:
		return "runtime call";
	case KINETO_RANGE:
	case KINETO_GPU_RANGE:
		return "annotation";
	default:
		return "event";
	}
}

static int kineto_event_check(struct kineto_parser *p)
{
	const struct kineto_event *ev = &p->ev;
	const char *lacks = !ev->has_name ? "name" : !ev->has_ts ? "ts" : !ev->has_dur ? "dur" : NULL;
	const char *what = cat_word(ev->cat);

	if (p->name.failed || p->args.text.failed)
		return err_nomem(p->e, NULL);
	if (lacks)
		return err_set(p->e, ERR_IO, "the %s '%.100s' has no \"%s\"", what, str_c(&p->name), lacks);
	if (ev->dur_ns < 0)
		return err_set(p->e, ERR_IO, "the %s '%.100s' has a negative duration", what, str_c(&p->name));
	if (ev->ts_ns > TIME_LIMIT || ev->ts_ns < -TIME_LIMIT || ev->dur_ns > TIME_LIMIT)
		return err_set(p->e, ERR_IO, "the %s '%.100s' has a time out of range", what, str_c(&p->name));
	return 0;
}

static bool to_u32(const int64_t v[3], uint32_t out[3])
{
	for (int i = 0; i < 3; i++) {
		if (v[i] < 0 || v[i] > UINT32_MAX)
			return false;
		out[i] = (uint32_t)v[i];
	}
	return true;
}

static int put_launch(struct kineto_parser *p)
{
	const struct kineto_event *ev = &p->ev;
	const int64_t per_thread[3] = { ev->registers, 0, 0 };
	uint32_t registers[3];
	const bool is_kernel = ev->cat == KINETO_KERNEL;
	struct trace_launch l = {
		.kind = is_kernel                  ? TRACE_KERNEL
		        : ev->cat == KINETO_MEMCPY ? TRACE_MEMCPY
		                                   : TRACE_MEMSET,
		.name = str_c(&p->name),
		.start_ns = ev->ts_ns - p->base_ns,
		.dur_ns = ev->dur_ns,
		.correlation = ev->correlation,
		.context = ev->context,
		.device = ev->has_device ? ev->device : ev->pid,
		.stream = ev->has_stream ? ev->stream : ev->tid,
		.smem_dynamic = ev->smem > 0 ? (uint64_t)ev->smem : 0,
		.bytes = is_kernel ? -1 : ev->bytes,
		.host_start_ns = -1,
		.host_dur_ns = -1,
		.graph = ev->graph,
		.graph_node = ev->graph_node,
	};

	if (!to_u32(ev->grid, l.grid) || !to_u32(ev->block, l.block) || !to_u32(ev->cluster, l.cluster) ||
	    !to_u32(per_thread, registers))
		return err_set(p->e, ERR_IO, "the kernel '%.100s' has a grid, block or registers out of range", l.name);
	l.registers = registers[0];
	if (ev->cat == KINETO_MEMCPY && (l.dir = ev->dir) == TRACE_COPY_NONE)
		l.dir = direction(l.name, p->name.len);
	return tracedb_put_launch(p->db, &l, ev->external, p->e);
}

/* A collective names formats as c10::ScalarType does, where arguments have the C type. */
static const char *collective_type(const char *name)
{
	static const char *const types[][2] = {
		{ "Float", "float" },
		{ "Double", "double" },
		{ "BFloat16", "c10::BFloat16" },
		{ "Half", "c10::Half" },
		{ "Long", "long" },
		{ "Int", "int" },
		{ "Short", "short" },
		{ "Char", "signed char" },
		{ "Bool", "bool" },
		{ "Byte", "unsigned char" },
		{ "Float8_e4m3fn", "c10::Float8_e4m3fn" },
		{ "Float8_e5m2", "c10::Float8_e5m2" },
	};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(types[i][0], name) == 0)
			return types[i][1];
	return name;
}

/* What a collective says of itself, in place of the call's arguments: all elements that it gives or takes, and its chips. */
static uint32_t collective_args(const struct kineto_event *ev, char group[24], struct trace_arg *out)
{
	snprintf(group, 24, "%" PRId64, ev->group);
	out[0] = (struct trace_arg){ .dtype = collective_type(ev->dtype),
		                     .scalar = "",
		                     .ndims = 1,
		                     .list = -1,
		                     .pos = 0,
		                     .dims = { ev->nelems } };
	out[0].strides[0] = 1;
	out[1] = (struct trace_arg){ .dtype = "Int", .scalar = group, .ndims = -1, .list = -1, .pos = 1 };
	return 2;
}

static int put_op(struct kineto_parser *p)
{
	struct kineto_event *ev = &p->ev;
	struct trace_arg list[TRACE_MAX_ARGS];
	char group[24];
	uint32_t dropped = 0, n = ev->is_collective && ev->nelems > 0 && ev->dtype[0]
	                                  ? collective_args(ev, group, list)
	                                  : kargs_build(&p->args, list, &dropped);
	struct trace_op o = {
		.name = str_c(&p->name),
		.start_ns = ev->ts_ns - p->base_ns,
		.dur_ns = ev->dur_ns,
		.thread = ev->tid,
		.sequence = ev->sequence,
		.n_args = n,
		.args = list,
	};

	while (dropped-- > 0)
		tracedb_drop_arg(p->db);
	return tracedb_put_op(p->db, &o, ev->external, p->e);
}

static int kineto_event_put(struct kineto_parser *p)
{
	const struct kineto_event *ev = &p->ev;
	const struct trace_range r = { str_c(&p->name), ev->ts_ns - p->base_ns, ev->dur_ns, ev->tid, 0 };

	switch (ev->cat) {
	case KINETO_KERNEL:
	case KINETO_MEMCPY:
	case KINETO_MEMSET:
		return put_launch(p);
	case KINETO_OP:
		p->n_host++;
		return put_op(p);
	case KINETO_CALL:
		p->n_host++;
		return tracedb_put_call(
			p->db, &(struct trace_call){ r.name, r.start_ns, r.dur_ns, r.thread, ev->correlation }, p->e);
	default:
		return tracedb_put_range(p->db, &r, ev->cat == KINETO_GPU_RANGE, p->e);
	}
}

static void event_begin(struct kineto_parser *p)
{
	p->ev = (struct kineto_event){ .bytes = -1, .sequence = -1 };
	str_clear(&p->name);
	kargs_clear(&p->args);
	p->in_event = true;
	p->field = F_NONE;
	p->event_at = p->chunk_at + yajl_get_bytes_consumed(p->yajl) - 1;
}

static int event_end(struct kineto_parser *p)
{
	const struct kineto_event *ev = &p->ev;

	p->in_event = false;
	p->n_events++;
	if (p->chunk_at + yajl_get_bytes_consumed(p->yajl) - p->event_at > KINETO_MAX_EVENT)
		return err_set(p->e, ERR_IO, "an event is longer than 1 MiB");
	if (ev->cat == KINETO_PROFILER_RANGE)
		p->n_profiler++;
	if (ev->skip || !ev->is_complete || ev->cat == KINETO_OTHER || ev->cat == KINETO_PROFILER_RANGE)
		return 0;
	if (kineto_event_check(p) < 0)
		return -1;
	if (!p->has_base)
		p->base_ns = ev->ts_ns;
	p->has_base = true;
	return kineto_event_put(p);
}

/* --- values ---------------------------------------------------------------------------------------------------- */

static int number_error(struct kineto_parser *p, int rc, const char *text, size_t n)
{
	return err_set(p->e, ERR_IO, rc == -2 ? "the number '%.*s' is out of range" : "'%.*s' is no number",
	               n > 40 ? 40 : (int)n, text);
}

static int get_number(struct kineto_parser *p, const char *text, size_t n, int shift, int64_t *out)
{
	int rc = decimal_scaled(text, n, shift, out);

	return rc < 0 ? number_error(p, rc, text, n) : 0;
}

static int event_number(struct kineto_parser *p, const char *text, size_t n)
{
	struct kineto_event *ev = &p->ev;

	switch (p->field) {
	case F_TS:
		ev->has_ts = true;
		return get_number(p, text, n, DECIMAL_US_TO_NS, &ev->ts_ns);
	case F_DUR:
		ev->has_dur = true;
		return get_number(p, text, n, DECIMAL_US_TO_NS, &ev->dur_ns);
	case F_PID:
		return get_number(p, text, n, 0, &ev->pid);
	case F_TID:
		return get_number(p, text, n, 0, &ev->tid);
	default:
		return 0;
	}
}

static int arg_number(struct kineto_parser *p, const char *text, size_t n)
{
	struct kineto_event *ev = &p->ev;
	int64_t elems;

	switch (p->arg) {
	case A_EXTERNAL:
		return get_number(p, text, n, 0, &ev->external);
	case A_CORRELATION:
		return get_number(p, text, n, 0, &ev->correlation);
	case A_DEVICE:
		return ev->has_device = true, get_number(p, text, n, 0, &ev->device);
	case A_CONTEXT:
		return get_number(p, text, n, 0, &ev->context);
	case A_STREAM:
		return ev->has_stream = true, get_number(p, text, n, 0, &ev->stream);
	case A_REGISTERS:
		return get_number(p, text, n, 0, &ev->registers);
	case A_SMEM:
		return get_number(p, text, n, 0, &ev->smem);
	case A_BYTES:
		return get_number(p, text, n, 0, &ev->bytes);
	case A_GRAPH:
		return get_number(p, text, n, 0, &ev->graph);
	case A_GRAPH_NODE:
		return get_number(p, text, n, 0, &ev->graph_node);
	case A_SEQUENCE:
		return get_number(p, text, n, 0, &ev->sequence);
	case A_GROUP:
		return get_number(p, text, n, 0, &ev->group);
	case A_NELEMS:
		if (get_number(p, text, n, 0, &elems) < 0)
			return -1;
		ev->nelems = elems > ev->nelems ? elems : ev->nelems;
		return 0;
	default:
		return 0;
	}
}

static int array_number(struct kineto_parser *p, const char *text, size_t n)
{
	int64_t *v = p->arg == A_GRID ? p->ev.grid : p->arg == A_BLOCK ? p->ev.block : p->ev.cluster;

	if (p->arg >= A_DIMS) {
		kargs_number(&p->args, text, n);
		return 0;
	}
	return p->array == 1 && p->dim < 3 ? get_number(p, text, n, 0, &v[p->dim++]) : 0;
}

static int device_number(struct kineto_parser *p, const char *text, size_t n)
{
	struct trace_device *d = &p->dev;
	int32_t *small = &d->sms;
	int64_t v;

	if (p->device_key == D_NONE)
		return 0;
	if (get_number(p, text, n, 0, &v) < 0)
		return -1;
	switch (p->device_key) {
	case D_ID:
		d->id = v;
		break;
	case D_MEM:
		d->mem_bytes = v;
		break;
	case D_SMEM:
		d->smem_per_sm = v;
		break;
	case D_REGS:
		d->regs_per_sm = v;
		break;
	default:
		if (v < 0 || v > INT32_MAX)
			return number_error(p, -2, text, n);
		if (p->device_key != D_SMS)
			small = p->device_key == D_MAJOR ? &d->sm_major : &d->sm_minor;
		*small = (int32_t)v;
	}
	return 0;
}

static int on_number(void *arg, const char *text, size_t n)
{
	struct kineto_parser *p = arg;
	int rc = 0;

	p->tokens++;
	p->after_string = false;
	if (p->in_event) {
		if (p->ev.skip)
			rc = 0;
		else if (p->array > 0)
			rc = p->opaque ? 0 : array_number(p, text, n);
		else if (p->in_args && p->depth == p->event_depth + 1)
			rc = arg_number(p, text, n);
		else if (p->depth == p->event_depth)
			rc = event_number(p, text, n);
	} else if (p->in_devices && p->depth == 3) {
		rc = device_number(p, text, n);
	} else if (p->depth == 1 && p->top_key == TOP_UNIX_NS) {
		rc = get_number(p, text, n, 0, &p->unix_ns);
		if (rc == 0 && (p->unix_ns < 0 || p->unix_ns > TIME_LIMIT))
			rc = number_error(p, -2, text, n);
	}
	return rc == 0; /* I1 */
}

/* Threads of the profiler itself have names in place of numbers; a hash keeps them apart. */
static int64_t id_of_text(const char *text, size_t n)
{
	int64_t v;

	return decimal_scaled(text, n, 0, &v) == 0 ? v : (int64_t)(hash_bytes(HASH_INIT, text, n) >> 2);
}

static void event_string(struct kineto_parser *p, const char *text, size_t n)
{
	struct kineto_event *ev = &p->ev;

	switch (p->field) {
	case F_PH:
		ev->is_complete = n == 1 && *text == 'X';
		ev->skip |= !ev->is_complete;
		break;
	case F_CAT:
		ev->cat = cat_of(text, n);
		ev->skip |= ev->cat == KINETO_OTHER;
		break;
	case F_NAME:
		str_clear(&p->name);
		add_clean(&p->name, text, n);
		ev->has_name = true;
		break;
	case F_TS:
		ev->has_ts = decimal_scaled(text, n, DECIMAL_US_TO_NS, &ev->ts_ns) == 0;
		break;
	case F_DUR:
		ev->has_dur = decimal_scaled(text, n, DECIMAL_US_TO_NS, &ev->dur_ns) == 0;
		break;
	case F_PID:
		ev->pid = id_of_text(text, n);
		break;
	case F_TID:
		ev->tid = id_of_text(text, n);
		break;
	}
}

static int arg_string(struct kineto_parser *p, const char *text, size_t n)
{
	int64_t unused;

	if (p->arg == A_KIND)
		p->ev.dir = direction(text, n);
	else if (p->arg == A_COLLECTIVE)
		p->ev.is_collective = true;
	else if (p->arg == A_DTYPE && n < sizeof p->ev.dtype)
		memcpy(p->ev.dtype, text, n), p->ev.dtype[n] = '\0';
	else if (decimal_scaled(text, n, 0, &unused) == 0) /* some exporters quote their numbers */
		return arg_number(p, text, n);
	return 0;
}

static int on_string(void *arg, const unsigned char *bytes, size_t n)
{
	struct kineto_parser *p = arg;
	const char *text = (const char *)bytes;
	int rc = 0;

	p->tokens++;
	p->after_string = true;
	if (p->in_event) {
		if (p->ev.skip)
			rc = 0;
		else if (p->array > 0 && !p->opaque && p->arg >= A_DIMS)
			kargs_string(&p->args, text, n);
		else if (p->array == 0 && p->in_args && p->depth == p->event_depth + 1)
			rc = arg_string(p, text, n);
		else if (p->depth == p->event_depth)
			event_string(p, text, n);
	} else if (p->in_devices && p->depth == 3 && p->device_key == D_NAME) {
		str_clear(&p->dev_name);
		add_clean(&p->dev_name, text, n);
	}
	return rc == 0;
}

static int on_null(void *arg)
{
	struct kineto_parser *p = arg;

	p->tokens++;
	p->after_string = false;
	if (p->in_event && p->array > 0 && !p->opaque && p->arg >= A_DIMS)
		kargs_other(&p->args);
	return 1;
}

static int on_boolean(void *arg, int value)
{
	(void)value;
	return on_null(arg);
}

/* --- structure ------------------------------------------------------------------------------------------------- */

static int deeper(struct kineto_parser *p)
{
	p->tokens++;
	p->after_string = false;
	if (++p->depth > KINETO_MAX_DEPTH) {
		err_set(p->e, ERR_IO, "the JSON nests deeper than %d", KINETO_MAX_DEPTH);
		return 0;
	}
	return 1;
}

static int on_start_map(void *arg)
{
	struct kineto_parser *p = arg;

	if (!deeper(p))
		return 0;
	if (!p->in_event && p->event_depth && p->depth == p->event_depth) {
		event_begin(p);
	} else if (p->in_event && p->array > 0) {
		if (p->opaque++ == 0 && p->arg >= A_DIMS && !p->ev.skip)
			kargs_other(&p->args);
	} else if (p->in_event && p->depth == p->event_depth + 1) {
		p->in_args = p->field == F_ARGS;
		p->arg = A_NONE;
	} else if (p->in_devices && p->depth == 3) {
		p->dev = (struct trace_device){ 0 };
		str_clear(&p->dev_name);
		p->device_key = D_NONE;
	}
	return 1;
}

static int on_key(void *arg, const unsigned char *bytes, size_t n)
{
	struct kineto_parser *p = arg;
	const char *text = (const char *)bytes;

	p->tokens++;
	p->after_string = false;
	if (p->in_event) {
		if (p->depth == p->event_depth)
			p->field = lookup(fields, text, n);
		else if (p->in_args && p->depth == p->event_depth + 1)
			p->arg = p->ev.skip ? A_NONE : lookup(args, text, n);
	} else if (p->in_devices && p->depth == 3) {
		p->device_key = lookup(device_keys, text, n);
	} else if (p->depth == 1) {
		p->top_key = lookup(tops, text, n);
	}
	return 1;
}

static int on_end_map(void *arg)
{
	struct kineto_parser *p = arg;
	int rc = 0;

	p->tokens++;
	p->after_string = false;
	if (p->in_event && p->depth == p->event_depth) {
		rc = event_end(p);
	} else if (p->opaque > 0) {
		p->opaque--;
	} else if (p->in_args && p->depth == p->event_depth + 1) {
		p->in_args = false;
	} else if (p->in_devices && p->depth == 3) {
		p->dev.name = str_c(&p->dev_name);
		rc = p->dev_name.failed ? err_nomem(p->e, NULL) : tracedb_put_device(p->db, &p->dev, p->e);
	}
	p->depth--;
	return rc == 0;
}

static const enum kargs_col cols[] = {
	[A_DIMS - A_DIMS] = KARGS_DIMS,
	[A_STRIDES - A_DIMS] = KARGS_STRIDES,
	[A_TYPES - A_DIMS] = KARGS_TYPES,
	[A_SCALARS - A_DIMS] = KARGS_SCALARS,
};

static int on_start_array(void *arg)
{
	struct kineto_parser *p = arg;

	if (!deeper(p))
		return 0;
	if (p->in_event) {
		if (p->opaque || p->ev.skip || !p->in_args)
			return 1;
		if (p->array > 0) {
			p->array++;
			if (p->arg >= A_DIMS)
				kargs_open(&p->args);
		} else if (p->depth == p->event_depth + 2 && p->arg >= A_DIMS) {
			p->array = 1;
			kargs_begin(&p->args, cols[p->arg - A_DIMS]);
			kargs_open(&p->args);
		} else if (p->depth == p->event_depth + 2 &&
		           (p->arg == A_GRID || p->arg == A_BLOCK || p->arg == A_CLUSTER)) {
			p->array = 1;
			p->dim = 0;
		}
	} else if (p->depth == 1 || (p->depth == 2 && p->top_key == TOP_EVENTS && !p->root_is_array)) {
		p->root_is_array = p->depth == 1;
		p->event_depth = p->depth + 1;
		p->saw_events = true;
	} else if (p->depth == 2 && p->top_key == TOP_DEVICES && !p->root_is_array) {
		p->in_devices = true;
	}
	return 1;
}

static int on_end_array(void *arg)
{
	struct kineto_parser *p = arg;

	p->tokens++;
	p->after_string = false;
	if (p->array > 0 && !p->opaque) {
		p->array--;
		if (p->arg >= A_DIMS)
			kargs_close(&p->args);
	} else if (!p->in_event && p->event_depth && p->depth == p->event_depth - 1) {
		p->event_depth = 0;
	} else if (p->in_devices && p->depth == 2) {
		p->in_devices = false;
	}
	p->depth--;
	return 1;
}

const yajl_callbacks kineto_callbacks = { on_null,      on_boolean, NULL,       NULL,           on_number,   on_string,
	                                  on_start_map, on_key,     on_end_map, on_start_array, on_end_array };

void kineto_parser_free(struct kineto_parser *p)
{
	if (p->yajl)
		yajl_free(p->yajl);
	str_free(&p->name);
	kargs_free(&p->args);
	str_free(&p->dev_name);
}
