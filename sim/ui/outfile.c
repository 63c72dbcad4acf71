#define _POSIX_C_SOURCE 200809L /* fdopen */
#include "sim/ui/outfile.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CHUNK (1 << 20)

static int cannot(const struct outfile *o, struct err *e)
{
	return err_sys(e, ERR_IO, errno, "cannot write '%s'", o->path);
}

int outfile_open(struct outfile *o, const char *path, struct err *e)
{
	int fd;

	*o = (struct outfile){ .path = path, .text = STR_INIT };
	if (newfile_open(&o->to, path, e) < 0)
		return -1;
	if ((fd = dup(o->to.fd)) >= 0 && (o->f = fdopen(fd, "w")))
		return 0;
	cannot(o, e);
	if (fd >= 0)
		close(fd);
	return newfile_close(&o->to, -1, e);
}

static int write_out(struct outfile *o, struct err *e)
{
	if (o->text.failed)
		return err_set(e, ERR_NOMEM, "no memory for '%s'", o->path);
	if (fwrite(str_c(&o->text), 1, o->text.len, o->f) != o->text.len)
		return cannot(o, e);
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
		rc = cannot(o, e);
	rc = newfile_close(&o->to, rc, e);
	o->f = NULL;
	str_free(&o->text);
	return rc;
}

int outfile_write(const char *path, const struct str *text, struct err *e)
{
	struct outfile o;

	if (outfile_open(&o, path, e) < 0)
		return -1;
	str_addn(&o.text, str_c(text), text->len);
	o.text.failed |= text->failed;
	return outfile_close(&o, 0, e);
}

int outfile_print(const struct str *text, FILE *to, struct err *e)
{
	if (text->failed)
		return err_nomem(e, "for the output");
	errno = 0;
	if (fwrite(str_c(text), 1, text->len, to) != text->len || fflush(to) != 0)
		return err_sys(e, ERR_IO, errno ? errno : EIO, "cannot write the output");
	return 0;
}
