/* input.h - a profiler's file as plain bytes: from disk or from memory, the gzip taken off, read from the start as
 * often as asked. Memory is two chunks whatever the file's size.
 *
 * Members joined end to end and padding with zeros are taken as gzip itself takes them. Damage and a stream that ends
 * early are errors that name the file. */
#ifndef NPUSIM_TRACES_TEXT_INPUT_H
#define NPUSIM_TRACES_TEXT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"

#define INPUT_CHUNK  (256u * 1024)
#define INPUT_DIGEST 48

/* Called now and then with the bytes done of the file's size; may be NULL. */
typedef void input_progress(void *arg, uint64_t done_bytes, uint64_t total_bytes);

struct input;

struct input *input_open(const char *path, struct err *e);
struct input *input_mem(const void *bytes, size_t n, const char *name, struct err *e); /* the bytes are not copied */
void input_free(struct input *in);
/* Plain bytes: their number, 0 at the end, -1 error. */
long input_read(struct input *in, void *buf, size_t cap, struct err *e);
void input_rewind(struct input *in);
/* Of the file's own bytes, zipped or not; the next read starts at the beginning. */
int input_digest(struct input *in, char out[INPUT_DIGEST], struct err *e);
const char *input_name(const struct input *in);
/* The folder of what must be unpacked to be read: "/tmp", or what was set, which must live as long. */
const char *input_temp(const struct input *in);
void input_set_temp(struct input *in, const char *folder);
bool input_is_file(const struct input *in);  /* and not bytes in memory: its name is its path */
bool input_zipped(const struct input *in);   /* known after the first read */
uint64_t input_done(const struct input *in); /* of the file's own bytes */
uint64_t input_size(const struct input *in);

#endif
