/* capture_spool.c - a buffer that always has room for the largest record. */
#include "traces/read/capture_spool.h"

#include <stdlib.h>

#define MOST (SPOOL_HEAD + 8 * SPOOL_FIELDS + SPOOL_TEXT)
#define ROOM (2u * MOST)

struct capture_spool {
	struct input *in;
	uint8_t *buf;
	char *text;
	size_t at, len;  /* what is not taken yet */
	uint64_t offset; /* of buf in the file */
	uint64_t last;   /* where the last record is */
	uint64_t cut;
	bool ended; /* the input has no more */
};

bool capture_spool_is(const void *bytes, size_t n)
{
	return n >= 8 && memcmp(bytes, SPOOL_MAGIC, 8) == 0;
}

/* Until `want` bytes are there, or all that are left. */
static int fill(struct capture_spool *s, size_t want, struct err *e)
{
	long n;

	if (s->len - s->at >= want || s->ended)
		return 0;
	memmove(s->buf, s->buf + s->at, s->len - s->at);
	s->offset += s->at;
	s->len -= s->at;
	s->at = 0;
	while (s->len < want) {
		if ((n = input_read(s->in, s->buf + s->len, ROOM - s->len, e)) < 0)
			return -1;
		s->len += (size_t)n;
		s->ended = n == 0;
		if (n == 0)
			break;
	}
	return 0;
}

static int header(struct capture_spool *s, struct err *e)
{
	uint32_t version;

	if (fill(s, SPOOL_HEADER, e) < 0)
		return -1;
	if (!capture_spool_is(s->buf, s->len))
		return err_set(e, ERR_IO, "'%s' is no spool of npusim's capture library", input_name(s->in));
	version = s->len < 12 ? SPOOL_VERSION : (uint32_t)spool_get(s->buf + 8, 4);
	if (version < SPOOL_OLDEST || version > SPOOL_VERSION)
		return err_set(e, ERR_IO, "'%s' is a spool of version %lu, and this build reads versions %u to %u",
		               input_name(s->in), (unsigned long)version, SPOOL_OLDEST, SPOOL_VERSION);
	if (s->len < SPOOL_HEADER)
		s->cut = s->len;
	s->at = s->len < SPOOL_HEADER ? s->len : SPOOL_HEADER;
	return 0;
}

struct capture_spool *capture_spool_new(struct input *in, struct err *e)
{
	struct capture_spool *s = calloc(1, sizeof *s);

	input_rewind(in);
	if (!s || !(s->buf = malloc(ROOM)) || !(s->text = malloc(SPOOL_TEXT + 1))) {
		err_nomem(e, NULL);
		goto fail;
	}
	s->in = in;
	if (header(s, e) == 0)
		return s;
fail:
	capture_spool_free(s);
	return NULL;
}

void capture_spool_free(struct capture_spool *s)
{
	if (!s)
		return;
	free(s->buf);
	free(s->text);
	free(s);
}

int capture_spool_at(const struct capture_spool *s, struct err *e)
{
	return err_add(e, "reading the record at byte %llu of '%s'", (unsigned long long)s->last, input_name(s->in));
}

uint64_t capture_spool_cut(const struct capture_spool *s)
{
	return s->cut;
}

static int end(struct capture_spool *s)
{
	s->cut += s->len - s->at;
	s->at = s->len;
	return 0;
}

int capture_spool_next(struct capture_spool *s, struct capture_record *r, struct err *e)
{
	const uint8_t *p;
	const char *layout;
	uint64_t kind, n;
	size_t fixed, i = 0;

	if (fill(s, SPOOL_HEAD, e) < 0)
		return -1;
	if (s->len - s->at < SPOOL_HEAD)
		return end(s);
	s->last = s->offset + s->at;
	kind = spool_get(s->buf + s->at, 4);
	n = spool_get(s->buf + s->at + 4, 4);
	if (!(layout = spool_layout((uint32_t)kind))) {
		err_set(e, ERR_IO, "a record of kind %llu, which there is not", (unsigned long long)kind);
		return capture_spool_at(s, e);
	}
	fixed = spool_fixed(layout);
	if (n < fixed || n > fixed + SPOOL_TEXT) {
		err_set(e, ERR_IO, "%llu bytes cannot be right for a record of kind %llu", (unsigned long long)n,
		        (unsigned long long)kind);
		return capture_spool_at(s, e);
	}
	if (fill(s, SPOOL_HEAD + (size_t)n, e) < 0)
		return -1;
	if (s->len - s->at < SPOOL_HEAD + n)
		return end(s);
	p = s->buf + s->at + SPOOL_HEAD;
	r->kind = (enum spool_kind)kind;
	for (; *layout; p += spool_width(*layout++))
		r->v[i++] = spool_get(p, spool_width(*layout));
	memcpy(s->text, p, (size_t)n - fixed);
	s->text[n - fixed] = '\0';
	r->text = s->text;
	s->at += SPOOL_HEAD + (size_t)n;
	return 1;
}
