/* xplane_json.c - one event at a time is gathered and judged when its map closes.
 *
 * Invariants: I1 a callback returns 0 only with *e set; I2 of events nothing is kept but the names of lines. */
#include "traces/read/xplane_json.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "sim/base/str.h"
#include "traces/read/hlo_text.h"
#include "traces/text/decimal.h"

#define DEPTH_MAX  64
#define EVENT_MAX  (1u << 20)
#define LINES_MAX  4096
#define TIME_LIMIT (INT64_C(1) << 61)

enum line_kind { LINE_NONE, LINE_OPS, LINE_STREAM, LINE_STEPS };
enum device_kind { DEVICE_NONE, DEVICE_TPU, DEVICE_GPU };

struct line {
	int64_t pid, tid;
	enum line_kind kind;
};
struct device {
	int64_t pid;
	enum device_kind kind;
};

enum key { K_NONE, K_PH, K_NAME, K_PID, K_TID, K_TS, K_DUR, K_ARGS };
enum text { T_PH, T_NAME, T_ARG_NAME, T_LONG, T_CATEGORY, T_TS, T_DUR, T_PS, T_FLOPS, T_BYTES, TEXTS };

struct parser {
	struct tracedb *db;
	struct err *e;
	yajl_handle yajl;
	struct device devices[LINES_MAX];
	struct line lines[LINES_MAX];
	size_t n_devices, n_lines;
	int depth, events_at; /* events_at: depth of the array of events, 0 outside */
	enum key key;
	int arg; /* of enum text, -1: none that is read */
	bool is_events_key, in_event, saw_events;
	int64_t pid, tid, base_ns, ids;
	bool has_base;
	struct str text[TEXTS];
	size_t event_bytes;
};

/* --- lines -------------------------------------------------------------------------------------------------------- */

static enum device_kind device_of(const struct parser *p, int64_t pid)
{
	for (size_t i = 0; i < p->n_devices; i++)
		if (p->devices[i].pid == pid)
			return p->devices[i].kind;
	return DEVICE_NONE;
}

static enum line_kind line_of(const struct parser *p, int64_t pid, int64_t tid)
{
	for (size_t i = 0; i < p->n_lines; i++)
		if (p->lines[i].pid == pid && p->lines[i].tid == tid)
			return p->lines[i].kind;
	return LINE_NONE;
}

static int too_many(struct parser *p)
{
	return err_set(p->e, ERR_IO, "more than %d devices or lines of devices", LINES_MAX);
}

/* "/device:TPU:0", "/device:TPU:0 (pid 3)" */
static int name_process(struct parser *p)
{
	const char *name = str_c(&p->text[T_ARG_NAME]);
	const enum device_kind kind = strstr(name, "/device:TPU:")   ? DEVICE_TPU
	                              : strstr(name, "/device:GPU:") ? DEVICE_GPU
	                                                             : DEVICE_NONE;

	if (kind == DEVICE_NONE)
		return 0;
	if (p->n_devices == LINES_MAX)
		return too_many(p);
	p->devices[p->n_devices++] = (struct device){ p->pid, kind };
	return 0;
}

static int name_thread(struct parser *p)
{
	const char *name = str_c(&p->text[T_ARG_NAME]);
	const enum device_kind device = device_of(p, p->pid);
	const enum line_kind kind = device == DEVICE_NONE                                       ? LINE_NONE
	                            : strcmp(name, "Steps") == 0                                ? LINE_STEPS
	                            : device == DEVICE_TPU && strcmp(name, "XLA Ops") == 0      ? LINE_OPS
	                            : device == DEVICE_GPU && strncmp(name, "Stream #", 8) == 0 ? LINE_STREAM
	                                                                                        : LINE_NONE;

	if (kind == LINE_NONE)
		return 0;
	if (p->n_lines == LINES_MAX)
		return too_many(p);
	p->lines[p->n_lines++] = (struct line){ p->pid, p->tid, kind };
	return 0;
}

/* --- an event ----------------------------------------------------------------------------------------------------- */

/* Times that are there must be numbers. */
static int time_of(struct parser *p, enum text t, const char *what, int shift, int64_t *v)
{
	const int rc = decimal_scaled(str_c(&p->text[t]), p->text[t].len, shift, v);

	if (rc == 0 && *v > -TIME_LIMIT && *v < TIME_LIMIT)
		return 0;
	return err_set(p->e, ERR_IO, "the event '%.100s' has %s \"%s\"", str_c(&p->text[T_NAME]),
	               !p->text[t].len ? "no"
	               : rc == -1      ? "no number for"
	                               : "an out of range",
	               what);
}

static uint64_t count_of(const struct parser *p, enum text t)
{
	int64_t v;

	return decimal_scaled(str_c(&p->text[t]), p->text[t].len, 0, &v) == 0 && v > 0 ? (uint64_t)v : 0;
}

static int put_kernel(struct parser *p, enum line_kind line, int64_t start, int64_t dur)
{
	const struct hlo_said said = { str_c(&p->text[T_CATEGORY]), count_of(p, T_FLOPS), count_of(p, T_BYTES) };
	struct trace_launch l = { .kind = TRACE_KERNEL,
		                  .name = str_c(&p->text[T_NAME]),
		                  .start_ns = start,
		                  .dur_ns = dur,
		                  .device = p->pid,
		                  .stream = p->tid,
		                  .bytes = -1,
		                  .host_start_ns = -1,
		                  .host_dur_ns = -1 };
	struct hlo_op o = { .opcode = "" };

	if (line == LINE_OPS)
		hlo_read(str_c(&p->text[T_LONG]), &said, &o);
	if (hlo_encloses(&o))
		return 0;
	return shaped_put(p->db, &o.s, &l, ++p->ids, p->e) < 0 ? -1 : 0;
}

static int put_step(struct parser *p, int64_t start, int64_t dur)
{
	char name[80];
	const struct trace_range r = { name, start, dur, p->tid, 0 };

	snprintf(name, sizeof name, "step_%.60s", str_c(&p->text[T_NAME]));
	return tracedb_put_range(p->db, &r, false, p->e);
}

static int put_event(struct parser *p)
{
	const char *ph = str_c(&p->text[T_PH]), *name = str_c(&p->text[T_NAME]);
	enum line_kind line;
	int64_t start, dur;

	for (int i = 0; i < TEXTS; i++)
		if (p->text[i].failed)
			return err_nomem(p->e, NULL);
	if (strcmp(ph, "M") == 0)
		return strcmp(name, "process_name") == 0  ? name_process(p)
		       : strcmp(name, "thread_name") == 0 ? name_thread(p)
		                                          : 0;
	if (strcmp(ph, "X") != 0 || (line = line_of(p, p->pid, p->tid)) == LINE_NONE)
		return 0;
	if (time_of(p, T_TS, "ts", DECIMAL_US_TO_NS, &start) < 0 ||
	    (p->text[T_PS].len ? time_of(p, T_PS, "device_duration_ps", -3, &dur)
	                       : time_of(p, T_DUR, "dur", DECIMAL_US_TO_NS, &dur)) < 0)
		return -1;
	if (dur < 0)
		return err_set(p->e, ERR_IO, "the event '%.100s' has a negative duration", name);
	if (!p->has_base)
		p->base_ns = start;
	p->has_base = true;
	start -= p->base_ns;
	return line == LINE_STEPS ? put_step(p, start, dur) : put_kernel(p, line, start, dur);
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static int event_depth(const struct parser *p)
{
	return p->events_at + 1;
}

static int deeper(struct parser *p)
{
	if (++p->depth > DEPTH_MAX) {
		err_set(p->e, ERR_IO, "nested deeper than %d", DEPTH_MAX);
		return 0;
	}
	return 1;
}

static int on_map(void *arg)
{
	struct parser *p = arg;

	if (!deeper(p))
		return 0;
	if (p->events_at && p->depth == event_depth(p)) {
		for (int i = 0; i < TEXTS; i++)
			str_clear(&p->text[i]);
		p->in_event = true;
		p->event_bytes = 0;
		p->pid = p->tid = 0;
		p->key = K_NONE;
		p->arg = -1;
	}
	return 1;
}

static int on_map_end(void *arg)
{
	struct parser *p = arg;

	if (p->in_event && p->depth == event_depth(p)) {
		p->in_event = false;
		if (put_event(p) < 0)
			return 0;
	}
	p->depth--;
	return 1;
}

static int on_array(void *arg)
{
	struct parser *p = arg;

	if (!deeper(p))
		return 0;
	if (p->is_events_key && p->depth == 2) {
		p->events_at = p->depth;
		p->saw_events = true;
	}
	return 1;
}

static int on_array_end(void *arg)
{
	struct parser *p = arg;

	if (p->depth == p->events_at)
		p->events_at = 0;
	p->depth--;
	return 1;
}

static bool is(const unsigned char *text, size_t n, const char *word)
{
	return n == strlen(word) && memcmp(text, word, n) == 0;
}

static const struct {
	const char *name;
	enum text t;
} args[] = {
	{ "name", T_ARG_NAME },
	{ "long_name", T_LONG },
	{ "hlo_category", T_CATEGORY },
	{ "device_duration_ps", T_PS },
	{ "model_flops", T_FLOPS },
	{ "flops", T_FLOPS },
	{ "raw_bytes_accessed", T_BYTES },
	{ "bytes_accessed", T_BYTES },
};
static const struct {
	const char *name;
	enum key k;
} keys[] = {
	{ "ph", K_PH }, { "name", K_NAME }, { "pid", K_PID },   { "tid", K_TID },
	{ "ts", K_TS }, { "dur", K_DUR },   { "args", K_ARGS },
};

static int on_key(void *arg, const unsigned char *text, size_t n)
{
	struct parser *p = arg;

	if (p->depth == 1)
		p->is_events_key = is(text, n, "traceEvents");
	if (!p->in_event)
		return 1;
	if (p->depth == event_depth(p)) {
		p->key = K_NONE;
		for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
			if (is(text, n, keys[i].name))
				p->key = keys[i].k;
	}
	p->arg = -1;
	for (size_t i = 0; p->key == K_ARGS && p->depth == event_depth(p) + 1 && i < sizeof args / sizeof *args; i++)
		if (is(text, n, args[i].name))
			p->arg = (int)args[i].t;
	return 1;
}

/* Of an argument that has two names the first to come stands. */
static int keep(struct parser *p, enum text t, const unsigned char *text, size_t n)
{
	p->event_bytes += n;
	if (p->event_bytes > EVENT_MAX) {
		err_set(p->e, ERR_IO, "an event is longer than 1 MiB");
		return 0;
	}
	if (p->text[t].len == 0 && !memchr(text, '\0', n))
		str_addn(&p->text[t], (const char *)text, n);
	return 1;
}

static int on_value(struct parser *p, const unsigned char *text, size_t n)
{
	static const int of[] = { [K_PH] = T_PH, [K_NAME] = T_NAME, [K_TS] = T_TS, [K_DUR] = T_DUR };
	int64_t v;

	if (!p->in_event)
		return 1;
	if (p->depth == event_depth(p) + 1)
		return p->arg >= 0 ? keep(p, (enum text)p->arg, text, n) : 1;
	if (p->depth != event_depth(p))
		return 1;
	if (p->key == K_PID || p->key == K_TID) {
		if (decimal_scaled((const char *)text, n, 0, &v) == 0)
			*(p->key == K_PID ? &p->pid : &p->tid) = v;
		return 1;
	}
	return p->key == K_PH || p->key == K_NAME || p->key == K_TS || p->key == K_DUR
	               ? keep(p, (enum text)of[p->key], text, n)
	               : 1;
}

static int on_string(void *arg, const unsigned char *text, size_t n)
{
	return on_value(arg, text, n);
}

static int on_number(void *arg, const char *text, size_t n)
{
	return on_value(arg, (const unsigned char *)text, n);
}

static const yajl_callbacks callbacks = {
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_map,
	.yajl_map_key = on_key,
	.yajl_end_map = on_map_end,
	.yajl_start_array = on_array,
	.yajl_end_array = on_array_end,
};

/* --- the file ----------------------------------------------------------------------------------------------------- */

static int at_line(const struct input *in, uint64_t line, struct err *e)
{
	return err_at(e, input_name(in), line > INT_MAX ? INT_MAX : (int)line, 0);
}

static uint64_t lines_in(const unsigned char *p, size_t n)
{
	uint64_t lines = 0;

	for (size_t i = 0; i < n; i++)
		lines += p[i] == '\n';
	return lines;
}

static int feed(struct parser *p, struct input *in, input_progress *progress, void *arg)
{
	unsigned char *buf = malloc(INPUT_CHUNK);
	uint64_t line = 1;
	long n = -1;

	if (!buf)
		return err_nomem(p->e, NULL);
	while ((n = input_read(in, buf, INPUT_CHUNK, p->e)) > 0) {
		const yajl_status rc = yajl_parse(p->yajl, buf, (size_t)n);

		if (rc != yajl_status_ok) {
			const size_t used = yajl_get_bytes_consumed(p->yajl);

			if (rc == yajl_status_error)
				err_set(p->e, ERR_IO, "not valid JSON");
			at_line(in, line + lines_in(buf, used < (size_t)n ? used : (size_t)n), p->e);
			n = -1;
			break;
		}
		line += lines_in(buf, (size_t)n);
		if (progress)
			progress(arg, input_done(in), input_size(in));
	}
	free(buf);
	if (n == 0 && yajl_complete_parse(p->yajl) != yajl_status_ok) {
		err_set(p->e, ERR_IO, "the file ends in the middle of its JSON: it was cut short");
		return at_line(in, line, p->e);
	}
	return n < 0 ? -1 : 0;
}

static int check_content(const struct parser *p, const struct input *in)
{
	struct trace_import_stats st = { 0 };

	tracedb_stats(p->db, &st);
	if (st.kernels)
		return 0;
	if (!p->saw_events)
		return err_set(p->e, ERR_IO, "'%s' has no \"traceEvents\"", input_name(in));
	return err_set(p->e, ERR_IO, "no device activity in '%s': %s", input_name(in),
	               p->n_devices ? "its devices have no line \"XLA Ops\" or \"Stream #...\" with events"
	                            : "no process is named '/device:TPU:...' or '/device:GPU:...'");
}

bool xplane_json_is_text(const char *p, size_t n)
{
	static const char *const marks[] = { "\"highres-ticks\"", "\"/device:TPU:" };

	if (n == 0 || *p != '{')
		return false;
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		const size_t k = strlen(marks[i]);

		for (size_t at = 0; at + k <= n; at++)
			if (p[at] == '"' && memcmp(p + at, marks[i], k) == 0)
				return true;
	}
	return false;
}

int xplane_json_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                       struct trace_import_stats *st, struct err *e)
{
	char hash[INPUT_DIGEST];
	struct trace_import src = { input_name(in), "xplane", hash, 0, -1, true, NULL };
	struct parser *p = NULL;
	int rc;

	if (input_digest(in, hash, e) < 0 || (rc = tracedb_begin(db, &src, e)) < 0)
		return -1;
	if (rc == 1)
		return 1;
	rc = -1;
	if ((p = calloc(1, sizeof *p)) && (p->yajl = yajl_alloc(&callbacks, NULL, p))) {
		p->db = db;
		p->e = e;
		yajl_config(p->yajl, yajl_dont_validate_strings, 1); /* names are checked where they are stored */
		if (feed(p, in, progress, arg) == 0 && check_content(p, in) == 0) {
			src.base_ns = p->base_ns;
			rc = tracedb_finish(db, &src, st, e);
		}
	} else {
		err_nomem(e, NULL);
	}
	if (rc < 0)
		tracedb_abort(db);
	for (int i = 0; p && i < TEXTS; i++)
		str_free(&p->text[i]);
	if (p && p->yajl)
		yajl_free(p->yajl);
	free(p);
	return rc < 0 ? -1 : 0;
}
