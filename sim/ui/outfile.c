#define _POSIX_C_SOURCE 200809L /* fchmod, mkstemp */
#include "sim/ui/outfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK (1 << 20)

int outfile_open(struct outfile *o, const char *path, struct err *e)
{
	const mode_t mask = umask(0);
	int fd;

	umask(mask);
	*o = (struct outfile){ .path = path, .made = STR_INIT, .text = STR_INIT };
	str_addf(&o->made, "%s.XXXXXX", path);
	if (o->made.failed)
		return err_nomem(e, "for a file's name");
	if ((fd = mkstemp(o->made.p)) >= 0 && fchmod(fd, 0666 & ~mask) == 0 && (o->f = fdopen(fd, "w")))
		return 0;
	err_sys(e, ERR_IO, errno, "cannot write '%s'", path);
	if (fd >= 0) {
		close(fd);
		unlink(o->made.p);
	}
	str_free(&o->made);
	return -1;
}

static int write_out(struct outfile *o, struct err *e)
{
	if (o->text.failed)
		return err_set(e, ERR_NOMEM, "no memory for '%s'", o->path);
	if (fwrite(str_c(&o->text), 1, o->text.len, o->f) != o->text.len)
		return err_sys(e, ERR_IO, errno, "cannot write '%s'", o->path);
	str_clear(&o->text);
	return 0;
}

int outfile_flush(struct outfile *o, struct err *e)
{
	return o->text.len < CHUNK && !o->text.failed ? 0 : write_out(o, e);
}

int outfile_close(struct outfile *o, int rc, struct err *e)
{
	if (!o->f)
		return rc;
	if (rc == 0)
		rc = write_out(o, e);
	if (fclose(o->f) != 0 && rc == 0)
		rc = err_sys(e, ERR_IO, errno, "cannot write '%s'", o->path);
	if (rc == 0 && rename(str_c(&o->made), o->path) != 0)
		rc = err_sys(e, ERR_IO, errno, "cannot write '%s'", o->path);
	if (rc < 0)
		unlink(str_c(&o->made));
	o->f = NULL;
	str_free(&o->made);
	str_free(&o->text);
	return rc;
}
