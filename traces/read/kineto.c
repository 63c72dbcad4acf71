/* kineto.c - feeds the file's bytes to the parser, and says what is wrong with a bad file.
 *
 * The bytes are hashed before anything else, so that a file that is in the database already costs no parse. */
#include "traces/read/kineto.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "traces/read/kineto_event.h"

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
	    (f->p.in_event && f->bytes - f->p.event_at > KINETO_MAX_EVENT + INPUT_CHUNK)) {
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

/* --- the whole file -------------------------------------------------------------------------------------------- */

static bool is_marked(const void *p, size_t n) /* by a byte order mark */
{
	return n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0;
}

static int kineto_read_all(struct input *in, struct feed *f, input_progress *progress, void *arg, struct err *e)
{
	unsigned char *buf = malloc(INPUT_CHUNK);
	uint64_t done = 0;
	long n = -1;

	if (!buf)
		return err_nomem(e, NULL);
	for (bool first = true; (n = input_read(in, buf, INPUT_CHUNK, e)) > 0; first = false) {
		const size_t skip = first && !input_zipped(in) && is_marked(buf, (size_t)n) ? 3 : 0;

		if (feed_chunk(f, buf + skip, (size_t)n - skip, e) < 0) {
			n = -1;
			break;
		}
		if (progress && input_done(in) > done)
			progress(arg, done = input_done(in), input_size(in));
	}
	free(buf);
	if (n < 0)
		return -1;
	return input_done(in) == 0 ? err_set(e, ERR_IO, "'%s' is empty", f->name) : feed_end(f, e);
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

int kineto_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                  struct trace_import_stats *st, struct err *e)
{
	char hash[INPUT_DIGEST];
	struct trace_import src = { input_name(in), "kineto", hash, 0, -1, true, NULL };
	struct trace_import_stats got = { 0 };
	struct feed *f = NULL;
	int rc;

	if (input_digest(in, hash, e) < 0 || (rc = tracedb_begin(db, &src, e)) < 0)
		return -1;
	if (rc == 1)
		return 1;
	rc = -1;
	if (!(f = calloc(1, sizeof *f)) || !(f->p.yajl = yajl_alloc(&kineto_callbacks, NULL, &f->p))) {
		err_nomem(e, NULL);
		goto out;
	}
	/* Names are checked where they are stored, once and not at every event. */
	yajl_config(f->p.yajl, yajl_dont_validate_strings, 1);
	f->name = src.file;
	f->line = 1;
	f->p.db = db;
	f->p.e = e;
	if (kineto_read_all(in, f, progress, arg, e) < 0)
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

bool kineto_is_text(const char *p, size_t n)
{
	return n > 0 && (*p == '{' || (*p == '[' && (n < 2 || !isalnum((unsigned char)p[1]))));
}
