/* mutant.c - see mutant.h. This text is appended to a file that every program links. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned char mutant_nowhere[MUTANT_COUNT];
unsigned char *mutant_seen = mutant_nowhere;
int mutant_on = -1, mutant_records;

/* A shared mapping: what was reached is in the file however the process ends, and its children write to the same. */
__attribute__((constructor)) static void mutant_start(void)
{
	const char *on = getenv("NPUSIM_MUTANT"), *file = getenv("NPUSIM_MUTANT_SEEN");
	const int fd = file ? open(file, O_RDWR | O_CLOEXEC) : -1;
	void *map;

	if (on)
		mutant_on = atoi(on);
	if (fd < 0)
		return;
	map = mmap(NULL, MUTANT_COUNT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return;
	mutant_seen = map;
	mutant_records = 1;
}
