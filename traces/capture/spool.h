/* spool.h - what the capture library appends while a program runs and traces/read/capture_spool reads afterwards.
 *
 *   file    "NPUSIMSP", version (4 bytes), 0 (4 bytes), then records
 *   record  kind (4 bytes), bytes behind these 8 (4 bytes), the kind's numbers (spool_layout), text to the end
 *
 * All numbers are little-endian: `i` 4 bytes, `q` 8. Times are CUPTI's, in ns of one clock for host and device. A file
 * is whole up to any record's end, so what a killed program left behind can be read; SPOOL_END says that nothing was
 * killed. Names come once, numbered from 1, before they are used; 0 is no name. A version adds no kind and no number to
 * a kind: what changes has a new version. Version 2 has SPOOL_NODE. */
#ifndef NPUSIM_CAPTURE_SPOOL_H
#define NPUSIM_CAPTURE_SPOOL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SPOOL_MAGIC   "NPUSIMSP"
#define SPOOL_VERSION 2u
#define SPOOL_OLDEST  1u
#define SPOOL_HEADER  16u        /* bytes before the first record */
#define SPOOL_HEAD    8u         /* bytes before a record's numbers */
#define SPOOL_FIELDS  24         /* numbers of a record, at most */
#define SPOOL_TEXT    (1u << 20) /* bytes of text of a record, at most */

/* clang-format off */
enum spool_kind { SPOOL_PROCESS = 1, SPOOL_NAME, SPOOL_DEVICE, SPOOL_KERNEL, SPOOL_COPY, SPOOL_SET, SPOOL_CALL, SPOOL_MARK,
                  SPOOL_CLOCK, SPOOL_LOST, SPOOL_END, SPOOL_NODE, SPOOL_KINDS };

enum { PROCESS_START, PROCESS_PID };                                              /* text: the command */
enum { NAME_ID };                                                                 /* text: the name */
enum { DEVICE_ID, DEVICE_MAJOR, DEVICE_MINOR, DEVICE_SMS, DEVICE_MEMORY, DEVICE_SMEM, DEVICE_REGISTERS, DEVICE_CLOCK_KHZ,
       DEVICE_MEM_KBPS };                                                         /* text: the device's name */
/* What kernels, copies and sets have in common, in this order. */
enum { ACT_START, ACT_END, ACT_NAME, ACT_CORRELATION, ACT_DEVICE, ACT_CONTEXT, ACT_STREAM, ACT_GRAPH, ACT_NODE, ACT_COUNT };
enum { KERNEL_GRID = ACT_COUNT, KERNEL_BLOCK = KERNEL_GRID + 3, KERNEL_CLUSTER = KERNEL_BLOCK + 3,
       KERNEL_REGISTERS = KERNEL_CLUSTER + 3, KERNEL_STATIC, KERNEL_DYNAMIC, KERNEL_LOCAL };
enum { COPY_BYTES = ACT_COUNT, COPY_DIR, COPY_FROM, COPY_TO };                    /* CUPTI's kinds of copy and memory */
enum { SET_BYTES = ACT_COUNT, SET_MEMORY };
enum { CALL_START, CALL_END, CALL_NAME, CALL_THREAD, CALL_CORRELATION };
enum { MARK_TIME, MARK_ID, MARK_EDGE, MARK_THREAD, MARK_NAME, MARK_DOMAIN };      /* a range's begin or end */
enum { EDGE_BEGIN = 1, EDGE_END = 2 };
enum { CLOCK_TIME, CLOCK_DEVICE, CLOCK_SM_MHZ, CLOCK_MEM_MHZ };
enum { LOST_RECORDS };                                                            /* the driver had no room for them */
enum { END_TIME };
enum { NODE_TIME, NODE_ID, NODE_FROM, NODE_THREAD };                              /* a graph's node was made; a copy of node FROM, or 0 */

/* NULL: no such kind. */
static inline const char *spool_layout(uint32_t kind)
{
	static const char *const layouts[SPOOL_KINDS] = {
		[SPOOL_PROCESS] = "qi", [SPOOL_NAME] = "i", [SPOOL_DEVICE] = "iiiiqqqqq", [SPOOL_KERNEL] = "qqiiiiiiq" "iiiiiiiii" "iiii",
		[SPOOL_COPY] = "qqiiiiiiq" "qiii", [SPOOL_SET] = "qqiiiiiiq" "qi", [SPOOL_CALL] = "qqiii", [SPOOL_MARK] = "qiiiii",
		[SPOOL_CLOCK] = "qiii", [SPOOL_LOST] = "q", [SPOOL_END] = "q", [SPOOL_NODE] = "qqqi",
	};

	return kind < SPOOL_KINDS ? layouts[kind] : NULL;
}

static inline uint8_t *spool_put(uint8_t *p, uint64_t v, size_t bytes)
{
	for (; bytes > 0; bytes--, v >>= 8)
		*p++ = (uint8_t)v;
	return p;
}

static inline uint64_t spool_get(const uint8_t *p, size_t bytes)
{
	uint64_t v = 0;

	while (bytes-- > 0)
		v = v << 8 | p[bytes];
	return v;
}

static inline size_t spool_width(char c)
{
	return c == 'q' ? 8 : 4;
}
/* clang-format on */

/* Bytes of a kind's numbers. */
static inline size_t spool_fixed(const char *layout)
{
	size_t n = 0;

	while (*layout)
		n += spool_width(*layout++);
	return n;
}

static inline size_t spool_header(uint8_t *p)
{
	memcpy(p, SPOOL_MAGIC, 8);
	spool_put(spool_put(p + 8, SPOOL_VERSION, 4), 0, 4);
	return SPOOL_HEADER;
}

/* Writes a record to `p`, which has room for SPOOL_HEAD + 8 * SPOOL_FIELDS + n bytes; its length. */
static inline size_t spool_record(uint8_t *p, enum spool_kind kind, const uint64_t *v, const char *text, size_t n)
{
	const char *layout = spool_layout(kind);
	uint8_t *at = spool_put(spool_put(p, kind, 4), spool_fixed(layout) + n, 4);

	for (; *layout; layout++)
		at = spool_put(at, *v++, spool_width(*layout));
	if (n > 0)
		memcpy(at, text, n);
	return (size_t)(at - p) + n;
}

#endif
