/* err.h - the error value every fallible function takes last.
 *
 * A user's mistake is an err: the callee says what is wrong, callers add what they were doing, and only the
 * command line prints or exits, so a sweep can lose one point and go on. A broken invariant is an assert.
 * Fallible functions return 0 or -1, or a pointer or NULL; err_set and err_add return -1, so failing is one line. */
#ifndef NPUSIM_SIM_BASE_ERR_H
#define NPUSIM_SIM_BASE_ERR_H

#include <stddef.h>

#if defined(__GNUC__)
#define ERR_FMT(fmt_arg, first_arg) __attribute__((format(printf, fmt_arg, first_arg)))
#else
#define ERR_FMT(fmt_arg, first_arg)
#endif

enum err_kind {
	ERR_NONE,
	ERR_BOUND,  /* it ran, but a bound the user gave does not hold */
	ERR_USAGE,  /* the command line */
	ERR_CONFIG, /* a configuration file or --set */
	ERR_IO,     /* an input, a file or a database */
	ERR_STUCK,  /* the machine can make no progress */
	ERR_NOMEM
};

struct err {
	enum err_kind kind;
	int line, col;  /* place in `file`, 1-based; 0 when unknown */
	char file[256]; /* what was read; empty when the fault is not in a file */
	char src[200];  /* the offending source line, for the caret; may be empty */
	char msg[1024];
};

#define ERR_INIT \
	{ \
		ERR_NONE, 0, 0, "", "", "" \
	}

/* Sets the error; `e` must be clear, or NULL where nobody asks for the reason. Always -1. */
int err_set(struct err *e, enum err_kind kind, const char *fmt, ...) ERR_FMT(3, 4);
/* There is no memory: "no memory for the replay" of "for the replay", "out of memory" of NULL. Always -1. */
int err_nomem(struct err *e, const char *what);
/* err_set with ": <what errnum means>" at its end: "cannot read 'a.yaml': no such file or directory". */
int err_sys(struct err *e, enum err_kind kind, int errnum, const char *fmt, ...) ERR_FMT(4, 5);
/* Appends ", while <what>". Always -1. */
int err_add(struct err *e, const char *fmt, ...) ERR_FMT(2, 3);
/* Says where in a file the fault is; a place already set stays. Always -1. */
int err_at(struct err *e, const char *file, int line, int col);
void err_clear(struct err *e);
/* "file:line:col: message", then the source line and a caret when they are known; no trailing newline.
 * Returns the length it needs, as snprintf does. */
int err_format(const struct err *e, char *buf, size_t size);
/* 0 none, 1 bound, 2 usage, 3 config, 4 input, database or memory, 5 stuck machine */
int err_exit_code(const struct err *e);

#endif
