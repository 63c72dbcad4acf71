/* kineto.c - reads the file, takes the gzip off, feeds the parser, and says what is wrong with a bad file.
 *
 * The bytes are hashed before anything else, so that a file that is in the database already costs no parse. */
#define _POSIX_C_SOURCE 200809L /* fileno, fstat */

#include "traces/read/kineto.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "sim/base/hash.h"
#include "traces/read/kineto_event.h"

#define CHUNK (256u * 1024)

/* --- bytes in -------------------------------------------------------------------------------------------------- */

/* A file, or bytes in memory. */
struct input {
	const char *name;
	FILE *f;
	const unsigned char *mem;
	uint64_t size, at;
};

static int input_open(struct input *in, const char *path, struct err *e)
{
	struct stat st;

	*in = (struct input){ .name = path };
	if (!(in->f = fopen(path, "rb")) || fstat(fileno(in->f), &st) < 0)
		return err_set(e, ERR_IO, "cannot read '%s': %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode)) /* it is read twice */
		return err_set(e, ERR_IO, "'%s' is no regular file", path);
	in->size = (uint64_t)st.st_size;
	return 0;
}

static void input_close(struct input *in)
{
	if (in->f)
		fclose(in->f);
}

/* Bytes read, 0 at the end, -1 error. */
static long input_read(struct input *in, unsigned char *buf, size_t cap, struct err *e)
{
	size_t n;

	if (in->f) {
		n = fread(buf, 1, cap, in->f);
		if (n == 0 && ferror(in->f))
			return err_set(e, ERR_IO, "cannot read '%s': %s", in->name, strerror(errno));
	} else {
		n = in->size - in->at < cap ? (size_t)(in->size - in->at) : cap;
		if (n)
			memcpy(buf, in->mem + in->at, n);
	}
	in->at += n;
	return (long)n;
}

static void input_rewind(struct input *in)
{
	if (in->f)
		rewind(in->f);
	in->at = 0;
}

/* --- JSON ------------------------------------------------------------------------------------------------------ */

struct feed {
	struct kineto_parser p;
	const char *name;
	uint64_t bytes;             /* of JSON so far */
	uint64_t line, line_at;     /* number of the line the next chunk starts in, and the offset of its start */
	uint64_t tokens, tokens_at; /* when the parser last moved on, and where */
};

static int clamp(uint64_t v)
{
	return v > INT_MAX ? INT_MAX : (int)v;
}

/* Sets the place of an error after `used` bytes of the chunk. */
static void feed_place(const struct feed *f, const unsigned char *chunk, size_t used, struct err *e)
{
	uint64_t line = f->line, at = f->line_at;

	for (size_t i = 0; i + 1 < used; i++)
		if (chunk[i] == '\n')
			line++, at = f->bytes + i + 1;
	err_at(e, f->name, clamp(line), clamp(f->bytes + used - at));
}

static bool is_not_a_number(const unsigned char *p, size_t n)
{
	static const char *const words[] = { "nan", "inf", "-nan", "-inf" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t k = strlen(words[i]), same = 0;

		while (same < k && same < n && tolower(p[same]) == words[i][same])
			same++;
		if (same == k)
			return true;
	}
	return false;
}

static int json_error(struct feed *f, const unsigned char *chunk, size_t n, size_t used, struct err *e)
{
	unsigned char *why = yajl_get_error(f->p.yajl, 0, chunk, n);
	const char *reason = why ? (const char *)why : "broken", *hint = "";
	const size_t from = used > 24 ? used - 24 : 0, to = n - used > 16 ? used + 16 : n;
	char near[48];
	size_t len = 0;

	for (size_t i = from; i < to; i++)
		near[len++] = chunk[i] >= 0x20 && chunk[i] < 0x7f ? (char)chunk[i] : ' ';
	near[len] = '\0';
	if (f->p.after_string)
		hint = "; some exporters write quotes in names without the backslash";
	for (size_t i = used > 2 ? used - 2 : 0; i < used + 1 && i < n; i++)
		if (is_not_a_number(chunk + i, n - i))
			hint = "; 'nan' and 'inf' are not JSON";
	err_set(e, ERR_IO, "not valid JSON near '%s': %.*s%s", near, (int)strcspn(reason, ".\n"), reason, hint);
	if (why)
		yajl_free_error(f->p.yajl, why);
	feed_place(f, chunk, used, e);
	return -1;
}

static int feed_chunk(struct feed *f, const unsigned char *chunk, size_t n, struct err *e)
{
	yajl_status rc;

	f->p.chunk_at = f->bytes;
	rc = yajl_parse(f->p.yajl, chunk, n);
	if (rc == yajl_status_client_canceled) {
		feed_place(f, chunk, yajl_get_bytes_consumed(f->p.yajl), e);
		return -1;
	}
	if (rc != yajl_status_ok)
		return json_error(f, chunk, n, yajl_get_bytes_consumed(f->p.yajl), e);
	for (const unsigned char *p = chunk; (p = memchr(p, '\n', n - (size_t)(p - chunk))); p++)
		f->line++, f->line_at = f->bytes + (uint64_t)(p - chunk) + 1;
	f->bytes += n;
	if (f->p.tokens != f->tokens) {
		f->tokens = f->p.tokens;
		f->tokens_at = f->bytes;
	}
	/* An endless text would be gathered in memory, in an event or outside. */
	if (f->bytes - f->tokens_at > KINETO_MAX_EVENT ||
	    (f->p.in_event && f->bytes - f->p.event_at > KINETO_MAX_EVENT + CHUNK)) {
		err_set(e, ERR_IO, "an event or a text is longer than 1 MiB");
		feed_place(f, chunk, 0, e);
		return -1;
	}
	return 0;
}

static int feed_end(struct feed *f, struct err *e)
{
	if (f->bytes == 0)
		return err_set(e, ERR_IO, "'%s' holds nothing", f->name);
	if (yajl_complete_parse(f->p.yajl) != yajl_status_ok) {
		err_set(e, ERR_IO, "the file ends in the middle of its JSON: it was cut short");
		return err_at(e, f->name, clamp(f->line), clamp(f->bytes - f->line_at));
	}
	return 0;
}

/* --- gzip ------------------------------------------------------------------------------------------------------ */

struct gunzip {
	z_stream z;
	unsigned char *out;
	bool open, ended;
};

static int gunzip_new(struct gunzip *g, struct err *e)
{
	memset(g, 0, sizeof *g);
	if (!(g->out = malloc(CHUNK)) || inflateInit2(&g->z, 15 + 16) != Z_OK)
		return err_set(e, ERR_NOMEM, "out of memory");
	g->open = true;
	return 0;
}

static void gunzip_free(struct gunzip *g)
{
	if (g->open)
		inflateEnd(&g->z);
	free(g->out);
}

/* gzip files may be joined end to end, and may be padded with zeros. */
static bool gunzip_next(struct gunzip *g)
{
	while (g->z.avail_in > 0 && *g->z.next_in == 0)
		g->z.next_in++, g->z.avail_in--;
	if (g->z.avail_in == 0)
		return false;
	inflateReset(&g->z);
	g->ended = false;
	return true;
}

static int gunzip_chunk(struct gunzip *g, struct feed *f, unsigned char *in, size_t n, struct err *e)
{
	g->z.next_in = in;
	g->z.avail_in = (uInt)n;
	while (g->z.avail_in > 0 && (!g->ended || gunzip_next(g))) {
		int rc;

		do {
			g->z.next_out = g->out;
			g->z.avail_out = CHUNK;
			rc = inflate(&g->z, Z_NO_FLUSH);
			if (rc == Z_MEM_ERROR)
				return err_set(e, ERR_NOMEM, "out of memory");
			if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
				return err_set(e, ERR_IO, "'%s' is damaged: its gzip stream breaks (%s)", f->name,
				               g->z.msg ? g->z.msg : "no reason given");
			if (g->z.avail_out < CHUNK && feed_chunk(f, g->out, CHUNK - g->z.avail_out, e) < 0)
				return -1;
		} while (rc == Z_OK && g->z.avail_out == 0);
		g->ended = rc == Z_STREAM_END;
	}
	return 0;
}

/* --- the whole file -------------------------------------------------------------------------------------------- */

static int read_all(struct input *in, struct feed *f, kineto_progress *progress, void *arg, struct err *e)
{
	unsigned char *buf = malloc(CHUNK);
	struct gunzip g = { .out = NULL };
	bool zipped = false;
	int rc = -1;
	long n;

	if (!buf) {
		err_set(e, ERR_NOMEM, "out of memory");
		goto out;
	}
	for (bool first = true; (n = input_read(in, buf, CHUNK, e)) > 0; first = false) {
		unsigned char *p = buf;

		if (first && n >= 2 && p[0] == 0x1f && p[1] == 0x8b) {
			zipped = true;
			if (gunzip_new(&g, e) < 0)
				goto out;
		} else if (first && n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) {
			p += 3, n -= 3; /* a byte order mark */
		}
		if ((zipped ? gunzip_chunk(&g, f, p, (size_t)n, e) : feed_chunk(f, p, (size_t)n, e)) < 0)
			goto out;
		if (progress)
			progress(arg, in->at, in->size);
	}
	if (n < 0)
		goto out;
	if (in->at == 0)
		err_set(e, ERR_IO, "'%s' is empty", in->name);
	else if (zipped && !g.ended)
		err_set(e, ERR_IO, "'%s' ends in the middle of its gzip stream", in->name);
	else
		rc = feed_end(f, e);
out:
	gunzip_free(&g);
	free(buf);
	return rc;
}

/* What a JSON file is that was read well and still is no use. */
static int check_content(const struct feed *f, const struct trace_import_stats *st, struct err *e)
{
	const struct kineto_parser *p = &f->p;

	if (!p->saw_events)
		return err_set(e, ERR_IO, "'%s' is not a Kineto trace: it has no \"traceEvents\"", f->name);
	if (st->kernels + st->copies + st->sets > 0)
		return 0;
	if (p->n_profiler)
		return err_set(e, ERR_IO,
		               "no device activity in '%s': CUPTI's range profiler wrote it (%lld ranges),"
		               " with counters and without kernel times",
		               f->name, (long long)p->n_profiler);
	if (p->n_host)
		return err_set(e, ERR_IO,
		               "no device activity in '%s': only the host's (%lld ops and calls); was"
		               " ProfilerActivity.CUDA on?",
		               f->name, (long long)p->n_host);
	return err_set(e, ERR_IO, "no device activity in '%s': none of its %lld events is a kernel, a copy or a set",
	               f->name, (long long)p->n_events);
}

static int digest(struct input *in, char out[48], struct err *e)
{
	unsigned char *buf = malloc(CHUNK);
	uint64_t h = HASH_INIT;
	char hex[17];
	long n;

	if (!buf)
		return err_set(e, ERR_NOMEM, "out of memory");
	while ((n = input_read(in, buf, CHUNK, e)) > 0)
		h = hash_bytes(h, buf, (size_t)n);
	free(buf);
	if (n < 0)
		return -1;
	hash_hex(h, hex);
	snprintf(out, 48, "%s-%llu", hex, (unsigned long long)in->at);
	input_rewind(in);
	return 0;
}

static int import(struct tracedb *db, struct input *in, int64_t wall_ns, kineto_progress *progress, void *arg,
                  struct trace_import_stats *st, struct err *e)
{
	char hash[48];
	struct trace_import src = { in->name, "kineto", hash, 0, wall_ns, true, NULL };
	struct trace_import_stats got = { 0 };
	struct feed *f = NULL;
	int rc;

	if (digest(in, hash, e) < 0 || (rc = tracedb_begin(db, &src, e)) < 0)
		return -1;
	if (rc == 1)
		return 1;
	rc = -1;
	if (!(f = calloc(1, sizeof *f)) || !(f->p.yajl = yajl_alloc(&kineto_callbacks, NULL, &f->p))) {
		err_set(e, ERR_NOMEM, "out of memory");
		goto out;
	}
	/* Names are checked where they are stored, once and not at every event. */
	yajl_config(f->p.yajl, yajl_dont_validate_strings, 1);
	f->name = in->name;
	f->line = 1;
	f->p.db = db;
	f->p.e = e;
	if (read_all(in, f, progress, arg, e) < 0)
		goto out;
	src.base_ns = f->p.base_ns + f->p.unix_ns;
	tracedb_stats(db, &got);
	if (check_content(f, &got, e) < 0 || tracedb_finish(db, &src, &got, e) < 0)
		goto out;
	got.events = f->p.n_events;
	got.json_bytes = f->bytes;
	if (st)
		*st = got;
	rc = 0;
out:
	if (rc < 0)
		tracedb_abort(db);
	if (f)
		kineto_parser_free(&f->p);
	free(f);
	return rc;
}

int kineto_import(struct tracedb *db, const char *path, int64_t wall_ns, kineto_progress *progress, void *arg,
                  struct trace_import_stats *st, struct err *e)
{
	struct input in;
	int rc = input_open(&in, path, e);

	if (rc == 0)
		rc = import(db, &in, wall_ns, progress, arg, st, e);
	input_close(&in);
	return rc;
}

int kineto_import_mem(struct tracedb *db, const void *bytes, size_t n, const char *name, struct trace_import_stats *st,
                      struct err *e)
{
	struct input in = { .name = name, .mem = bytes, .size = n };

	return import(db, &in, -1, NULL, NULL, st, e);
}

/* --- sniffing -------------------------------------------------------------------------------------------------- */

int kineto_sniff(const char *path, struct err *e)
{
	unsigned char head[4096], plain[256];
	const unsigned char *p = head;
	struct input in;
	long n = input_open(&in, path, e) < 0 ? -1 : input_read(&in, head, sizeof head, e);
	z_stream z;

	input_close(&in);
	if (n >= 2 && head[0] == 0x1f && head[1] == 0x8b) {
		memset(&z, 0, sizeof z);
		if (inflateInit2(&z, 15 + 16) != Z_OK)
			return err_set(e, ERR_NOMEM, "out of memory");
		z.next_in = head;
		z.avail_in = (uInt)n;
		z.next_out = plain;
		z.avail_out = sizeof plain;
		inflate(&z, Z_SYNC_FLUSH);
		n = (long)(sizeof plain - z.avail_out);
		inflateEnd(&z);
		p = plain;
	}
	if (n < 0)
		return -1;
	if (n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3, n -= 3;
	while (n > 0 && isspace(*p))
		p++, n--;
	return n > 0 && (*p == '{' || *p == '[');
}
