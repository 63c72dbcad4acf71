/* input.c - reading a file that may be gzipped. */
#define _POSIX_C_SOURCE 200809L /* fileno, fstat */
#include "traces/text/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "sim/base/hash.h"
#include "sim/base/inputs.h"

struct input {
	char *name;
	FILE *f;
	const unsigned char *mem;
	uint64_t size, at;
	unsigned char *raw; /* zipped bytes on their way */
	z_stream z;
	bool begun, zipped, open, ended;
	const char *temp;
};

static struct input *new_input(const char *name, struct err *e)
{
	struct input *in = calloc(1, sizeof *in);

	if (in && (in->name = malloc(strlen(name) + 1)) && (in->raw = malloc(INPUT_CHUNK))) {
		strcpy(in->name, name);
		in->temp = "/tmp";
		return in;
	}
	input_free(in);
	err_nomem(e, NULL);
	return NULL;
}

struct input *input_open(const char *path, struct err *e)
{
	struct input *in = new_input(path, e);
	struct stat st;

	if (!in)
		return NULL;
	if (!(in->f = fopen(path, "rb")) || fstat(fileno(in->f), &st) < 0) {
		err_set(e, ERR_IO, "cannot read '%s': %s", path, strerror(errno));
		goto fail;
	}
	if (!S_ISREG(st.st_mode)) { /* it is read more than once */
		err_set(e, ERR_IO, "'%s' is no regular file", path);
		goto fail;
	}
	in->size = (uint64_t)st.st_size;
	inputs_add(in->f);
	return in;
fail:
	input_free(in);
	return NULL;
}

struct input *input_mem(const void *bytes, size_t n, const char *name, struct err *e)
{
	struct input *in = new_input(name, e);

	if (in) {
		in->mem = bytes;
		in->size = n;
	}
	return in;
}

static void end_zip(struct input *in)
{
	if (in->open)
		inflateEnd(&in->z);
	in->open = false;
}

void input_free(struct input *in)
{
	if (!in)
		return;
	end_zip(in);
	if (in->f)
		fclose(in->f);
	free(in->raw);
	free(in->name);
	free(in);
}

void input_rewind(struct input *in)
{
	end_zip(in);
	if (in->f)
		rewind(in->f);
	in->at = 0;
	in->begun = in->zipped = in->ended = false;
}

/* The file's own bytes. */
static long read_raw(struct input *in, void *buf, size_t cap, struct err *e)
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

/* More zipped bytes: 1, or 0 at the file's end. */
static int refill(struct input *in, struct err *e)
{
	long n = read_raw(in, in->raw, INPUT_CHUNK, e);

	if (n <= 0)
		return (int)n;
	in->z.next_in = in->raw;
	in->z.avail_in = (uInt)n;
	return 1;
}

/* After a member: another one begins (1), nothing but padding follows (0). */
static int next_member(struct input *in, struct err *e)
{
	int rc;

	for (;;) {
		while (in->z.avail_in > 0 && *in->z.next_in == 0)
			in->z.next_in++, in->z.avail_in--;
		if (in->z.avail_in > 0)
			break;
		if ((rc = refill(in, e)) <= 0)
			return rc;
	}
	inflateReset(&in->z);
	in->ended = false;
	return 1;
}

static long read_zipped(struct input *in, void *buf, size_t cap, struct err *e)
{
	int rc;

	in->z.next_out = buf;
	in->z.avail_out = (uInt)(cap < INPUT_CHUNK ? cap : INPUT_CHUNK);
	cap = in->z.avail_out;
	while (in->z.avail_out == cap) {
		if (in->ended && (rc = next_member(in, e)) <= 0)
			return rc;
		if (in->z.avail_in == 0 && (rc = refill(in, e)) <= 0)
			return rc < 0 ? -1 : err_set(e, ERR_IO, "'%s' ends in the middle of its gzip stream", in->name);
		rc = inflate(&in->z, Z_NO_FLUSH);
		if (rc == Z_MEM_ERROR)
			return err_nomem(e, NULL);
		if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
			return err_set(e, ERR_IO, "'%s' is damaged: its gzip stream breaks (%s)", in->name,
			               in->z.msg ? in->z.msg : "no reason given");
		in->ended = rc == Z_STREAM_END;
	}
	return (long)(cap - in->z.avail_out);
}

long input_read(struct input *in, void *buf, size_t cap, struct err *e)
{
	long n;

	if (in->zipped)
		return read_zipped(in, buf, cap, e);
	if (in->begun)
		return read_raw(in, buf, cap, e);
	in->begun = true;
	n = read_raw(in, in->raw, cap < INPUT_CHUNK ? cap : INPUT_CHUNK, e);
	if (n < 2 || in->raw[0] != 0x1f || in->raw[1] != 0x8b) {
		if (n > 0)
			memcpy(buf, in->raw, (size_t)n);
		return n;
	}
	memset(&in->z, 0, sizeof in->z);
	if (inflateInit2(&in->z, 15 + 16) != Z_OK)
		return err_nomem(e, NULL);
	in->open = in->zipped = true;
	in->z.next_in = in->raw;
	in->z.avail_in = (uInt)n;
	return read_zipped(in, buf, cap, e);
}

int input_digest(struct input *in, char out[INPUT_DIGEST], struct err *e)
{
	uint64_t h = HASH_INIT;
	char hex[17];
	long n;

	input_rewind(in);
	while ((n = read_raw(in, in->raw, INPUT_CHUNK, e)) > 0)
		h = hash_bytes(h, in->raw, (size_t)n);
	if (n < 0)
		return -1;
	hash_hex(h, hex);
	snprintf(out, INPUT_DIGEST, "%s-%llu", hex, (unsigned long long)in->at);
	input_rewind(in);
	return 0;
}

const char *input_name(const struct input *in)
{
	return in->name;
}

bool input_is_file(const struct input *in)
{
	return in->f != NULL;
}

bool input_zipped(const struct input *in)
{
	return in->zipped;
}

uint64_t input_done(const struct input *in)
{
	return in->at;
}

uint64_t input_size(const struct input *in)
{
	return in->size;
}

const char *input_temp(const struct input *in)
{
	return in->temp;
}

void input_set_temp(struct input *in, const char *folder)
{
	in->temp = folder;
}
