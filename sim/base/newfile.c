/* newfile.c - what a path leads to, and how it is written. */
#define _XOPEN_SOURCE 700 /* realpath, readlink, fchown */
#include "sim/base/newfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/inputs.h"

#define LINKS_MAX 40
#define PATH_MOST 4096

static int refused(const char *path, int errnum, struct err *e)
{
	return errnum == ENOMEM ? err_nomem(e, "for a file's name")
	                        : err_sys(e, ERR_IO, errnum, "cannot write '%s'", path);
}

/* --- where it leads ---------------------------------------------------------------------------------------- */

static void newfile_put(struct str *s, const char *text)
{
	str_clear(s);
	str_add(s, text);
}

/* `text` is what the link at `at` holds. */
static void follow(struct str *at, const char *text)
{
	const char *slash = strrchr(str_c(at), '/');
	struct str next = STR_INIT;

	if (*text != '/' && slash)
		str_addn(&next, str_c(at), (size_t)(slash - str_c(at)) + 1);
	str_add(&next, text);
	newfile_put(at, str_c(&next));
	at->failed |= next.failed;
	str_free(&next);
}

/* The path without symbolic links in its last part, also where the last of them leads to nothing yet. */
static int resolve(const char *path, struct str *to)
{
	char *full = realpath(path, NULL), text[PATH_MOST];
	ssize_t n;

	newfile_put(to, full ? full : path);
	if (full) {
		free(full);
		return to->failed ? ENOMEM : 0;
	}
	if (errno != ENOENT)
		return errno;
	for (int i = 0; i < LINKS_MAX && !to->failed; i++) {
		if ((n = readlink(str_c(to), text, sizeof text - 1)) < 0)
			return 0;
		text[n] = '\0';
		follow(to, text);
	}
	return to->failed ? ENOMEM : ELOOP;
}

/* --- two of them ------------------------------------------------------------------------------------------- */

struct place {
	bool there;
	struct stat st; /* of the file, else of its folder */
	char name[PATH_MOST];
};

static bool newfile_place_of(const char *path, struct place *p)
{
	struct str to = STR_INIT, folder = STR_INIT;
	const char *slash;
	bool known;

	p->name[0] = '\0';
	p->there = stat(path, &p->st) == 0;
	known = p->there || resolve(path, &to) == 0;
	if (known && !p->there) {
		slash = strrchr(str_c(&to), '/');
		str_addn(&folder, slash ? str_c(&to) : "./", slash ? (size_t)(slash - str_c(&to)) + 1 : 2);
		slash = slash ? slash + 1 : str_c(&to);
		known = *slash && strlen(slash) < sizeof p->name && stat(str_c(&folder), &p->st) == 0;
		if (known)
			strcpy(p->name, slash);
	}
	str_free(&folder);
	str_free(&to);
	return known;
}

bool newfile_same(const char *a, const char *b)
{
	struct place x, y;

	if (!newfile_place_of(a, &x) || !newfile_place_of(b, &y) || x.there != y.there || x.st.st_dev != y.st.st_dev ||
	    x.st.st_ino != y.st.st_ino)
		return false;
	return x.there ? S_ISREG(x.st.st_mode) : strcmp(x.name, y.name) == 0;
}

/* --- writing ----------------------------------------------------------------------------------------------- */

static int of_our_own(const struct stat *st)
{
	struct stat is;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (fstat(fd, &is) == 0 && is.st_dev == st->st_dev && is.st_ino == st->st_ino)
			return fd;
	return -1;
}

/* 0, or an errno. `fd` stays -1 for what is to be replaced. */
static int open_direct(struct newfile *n, const struct stat *st)
{
	const int own = of_our_own(st);

	if (S_ISDIR(st->st_mode))
		return EISDIR;
	if (own >= 0)
		n->fd = dup(own);
	else if (S_ISREG(st->st_mode))
		return access(n->path, W_OK) == 0 ? 0 : errno;
	else
		n->fd = open(n->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	n->direct = n->fd >= 0;
	return n->direct ? 0 : errno;
}

/* As open() would have made it, or as it was. The owner stays where he may be given a file. */
static int set_mode(int fd, const struct stat *old)
{
	const mode_t mask = umask(0);

	umask(mask);
	if (old && old->st_uid != geteuid() && fchown(fd, old->st_uid, old->st_gid) != 0)
		errno = 0;
	return fchmod(fd, old ? old->st_mode & 0777 : 0666 & ~mask) == 0 ? 0 : errno;
}

int newfile_open(struct newfile *n, const char *path, struct err *e)
{
	struct stat st;
	int why = 0;
	const bool old = stat(path, &st) == 0;

	*n = (struct newfile){ .fd = -1, .path = path, .temp = TEMP_INIT, .to = STR_INIT };
	if (old)
		why = open_direct(n, &st);
	if (why == 0 && !n->direct)
		why = resolve(path, &n->to);
	if (why == 0 && !n->direct && (why = -temp_open(&n->temp, str_c(&n->to), false)) == 0) {
		n->fd = n->temp.fd;
		why = set_mode(n->fd, old ? &st : NULL);
	}
	if (why == 0)
		return 0;
	newfile_close(n, -1, e);
	return refused(path, why, e);
}

/* It may have been read since it was opened. */
static bool was_read(const char *to)
{
	struct stat st;

	return stat(to, &st) == 0 && inputs_has(&st);
}

int newfile_close(struct newfile *n, int rc, struct err *e)
{
	int why = 0;

	if (rc == 0 && !n->direct && n->fd >= 0 && was_read(str_c(&n->to)))
		rc = err_set(e, ERR_USAGE, "'%s' would be written over, and it was read: give the output another name",
		             n->path);
	if (n->direct) {
		why = close(n->fd) == 0 ? 0 : errno;
	} else if (n->fd >= 0 && rc == 0) {
		why = -temp_take(&n->temp, str_c(&n->to));
	} else {
		temp_free(&n->temp);
	}
	n->fd = -1;
	n->direct = false;
	if (rc == 0 && why)
		rc = refused(n->path, why, e);
	str_free(&n->to);
	return rc;
}
