#define _POSIX_C_SOURCE 200809L
#include "sim/base/record.h"

#include <errno.h>
#include <unistd.h>

bool record_send(int fd, const void *record, size_t bytes)
{
	ssize_t k;

	while ((k = write(fd, record, bytes)) < 0 && errno == EINTR)
		continue;
	return k == (ssize_t)bytes;
}

bool record_receive(int fd, void *record, size_t bytes)
{
	size_t got = 0;

	while (got < bytes) {
		const ssize_t k = read(fd, (char *)record + got, bytes - got);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		got += (size_t)k;
	}
	return true;
}
