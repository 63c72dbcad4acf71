/* inputs.c - device and inode of each, in memory that children share. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "sim/base/inputs.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#define MOST (1u << 16)

struct input_id {
	dev_t dev;
	ino_t ino;
};

/* Pages that are never written take no memory. */
static struct inputs {
	atomic_size_t n;
	struct input_id v[MOST];
} * inputs;

void inputs_start(void)
{
	void *p =
		inputs ? inputs : mmap(NULL, sizeof *inputs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	inputs = p == MAP_FAILED ? NULL : p;
}

static bool known(const struct stat *st)
{
	const size_t n = atomic_load(&inputs->n);

	for (size_t i = 0; i < n && i < MOST; i++)
		if (inputs->v[i].dev == st->st_dev && inputs->v[i].ino == st->st_ino)
			return true;
	return false;
}

static void inputs_own_add(const struct stat *st)
{
	size_t i;

	if (!S_ISREG(st->st_mode) || known(st))
		return;
	if ((i = atomic_fetch_add(&inputs->n, 1)) < MOST)
		inputs->v[i] = (struct input_id){ st->st_dev, st->st_ino };
}

void inputs_add(FILE *f)
{
	struct stat st;

	if (inputs && fstat(fileno(f), &st) == 0)
		inputs_own_add(&st);
}

void inputs_add_path(const char *path)
{
	struct stat st;

	if (inputs && stat(path, &st) == 0)
		inputs_own_add(&st);
}

bool inputs_has(const struct stat *st)
{
	return inputs && (atomic_load(&inputs->n) > MOST || known(st));
}
