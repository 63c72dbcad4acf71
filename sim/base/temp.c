/* temp.c - files without a name, or with one that says whose they are. */
#define _GNU_SOURCE /* O_TMPFILE, flock */
#include "sim/base/temp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/hash.h"

#define MARK   ".npusim-"
#define DIGITS 6
#define TRIES  100

/* --- leftovers --------------------------------------------------------------------------------------------- */

static bool is_ours(const char *name)
{
	const size_t n = strlen(name), tail = sizeof MARK - 1 + DIGITS;

	return n > tail && memcmp(name + n - tail, MARK, sizeof MARK - 1) == 0 &&
	       strspn(name + n - DIGITS, "0123456789abcdefghijklmnopqrstuvwxyz") == DIGITS;
}

/* Whoever makes a file locks it as long as he lives. He who holds the lock may look at the name, and nobody can have
 * put another file there: a maker that was not quick enough finds that his has no name any more, and makes another. */
static void remove_if_dead(int dir, const char *name)
{
	const int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat is, there;

	if (fd < 0)
		return;
	if (fstat(fd, &is) == 0 && S_ISREG(is.st_mode) && is.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	    fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && there.st_dev == is.st_dev &&
	    there.st_ino == is.st_ino)
		unlinkat(dir, name, 0);
	close(fd);
}

static void remove_leftovers(const char *folder)
{
	DIR *d = opendir(folder);
	const struct dirent *x;

	while (d && (x = readdir(d)))
		if (is_ours(x->d_name))
			remove_if_dead(dirfd(d), x->d_name);
	if (d)
		closedir(d);
}

/* --- making one -------------------------------------------------------------------------------------------- */

static void folder_of(const char *path, struct str *out)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		str_addc(out, '.');
	else
		str_addn(out, path, slash == path ? 1 : (size_t)(slash - path));
}

static int make_name(struct temp *t, int round)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	struct timespec now = { 0, 0 };
	uint64_t h;

	clock_gettime(CLOCK_MONOTONIC, &now);
	h = hash_mix((uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec);
	h = hash_mix(h ^ (uint64_t)getpid() << 32 ^ (uint64_t)round);
	str_clear(&t->name);
	str_add(&t->name, str_c(&t->stem));
	str_add(&t->name, MARK);
	for (int i = 0; i < DIGITS; i++, h /= 36)
		str_addc(&t->name, digits[h % 36]);
	return t->name.failed ? -ENOMEM : 0;
}

/* From here it is seen to be in the making. False: it was taken for a leftover just before. */
static bool lock(int fd)
{
	struct stat st;

	while (flock(fd, LOCK_EX) < 0 && errno == EINTR)
		continue;
	return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

static int open_named(struct temp *t)
{
	int rc = 0;

	for (int i = 0; i < TRIES; i++) {
		if ((rc = make_name(t, i)) < 0)
			break;
		if ((t->fd = open(str_c(&t->name), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) >= 0) {
			if (lock(t->fd))
				return 0;
			close(t->fd);
			t->fd = -1;
		} else if ((rc = -errno) != -EEXIST) {
			break;
		}
		rc = -EEXIST;
	}
	str_clear(&t->name);
	return rc;
}

static void path_of_fd(int fd, char out[32])
{
	snprintf(out, 32, "/proc/self/fd/%d", fd);
}

/* Only where it can be given a name later. */
static bool open_nameless(struct temp *t, const char *folder)
{
#ifdef O_TMPFILE
	char self[32];

	if ((t->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) < 0)
		return false;
	path_of_fd(t->fd, self);
	if (access(self, F_OK) == 0 && flock(t->fd, LOCK_EX) == 0)
		return true;
	close(t->fd);
	t->fd = -1;
#else
	(void)t, (void)folder;
#endif
	return false;
}

int temp_open(struct temp *t, const char *stem, bool named)
{
	struct str folder = STR_INIT;
	int rc = 0;

	*t = (struct temp)TEMP_INIT;
	str_add(&t->stem, stem);
	folder_of(stem, &folder);
	if (t->stem.failed || folder.failed) {
		rc = -ENOMEM;
	} else {
		remove_leftovers(str_c(&folder));
		if (named || !open_nameless(t, str_c(&folder)))
			rc = open_named(t);
	}
	str_free(&folder);
	if (rc < 0)
		temp_free(t);
	return rc;
}

int temp_link(struct temp *t)
{
	char self[32];
	int rc = 0;

	if (t->name.len)
		return 0;
	path_of_fd(t->fd, self);
	for (int i = 0; i < TRIES; i++) {
		if ((rc = make_name(t, i)) < 0)
			break;
		if (linkat(AT_FDCWD, self, AT_FDCWD, str_c(&t->name), AT_SYMLINK_FOLLOW) == 0)
			return 0;
		if ((rc = -errno) != -EEXIST)
			break;
	}
	str_clear(&t->name);
	return rc;
}

int temp_take(struct temp *t, const char *path)
{
	int rc = temp_link(t);

	if (rc == 0 && rename(str_c(&t->name), path) != 0)
		rc = -errno;
	if (rc == 0)
		str_clear(&t->name); /* it is no longer ours to remove */
	temp_free(t);
	return rc;
}

void temp_free(struct temp *t)
{
	if (t->name.len)
		unlink(str_c(&t->name));
	if (t->fd >= 0)
		close(t->fd);
	str_free(&t->stem);
	str_free(&t->name);
	*t = (struct temp)TEMP_INIT;
}
