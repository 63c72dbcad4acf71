/* memory.c - all data from memory: no file is opened but by this program, which reads the folder it is given beforehand.
 *
 *   cc memory.c $(pkg-config --cflags --libs npusim) -o memory && ./memory $(pkg-config --variable=datadir npusim) */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <npusim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4096

static struct file {
	char *name, *bytes;
	size_t n;
} files[MOST];
static size_t n_files, root_length;

static int keep(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	const size_t length = strlen(path);
	FILE *f;

	(void)ftw;
	if (type != FTW_F || length < 5 || strcmp(path + length - 5, ".yaml") != 0 || n_files == MOST)
		return 0;
	files[n_files].name = strdup(path + root_length + 1);
	files[n_files].n = (size_t)st->st_size;
	files[n_files].bytes = malloc(files[n_files].n + 1);
	if (!(f = fopen(path, "rb")) || fread(files[n_files].bytes, 1, files[n_files].n, f) != files[n_files].n)
		return 1;
	n_files++;
	return fclose(f);
}

static const char *read_file(void *arg, const char *name, size_t *bytes)
{
	(void)arg;
	for (size_t i = 0; i < n_files; i++)
		if (strcmp(files[i].name, name) == 0) {
			*bytes = files[i].n;
			return files[i].bytes;
		}
	return NULL;
}

static const char *name_of(void *arg, size_t i)
{
	(void)arg;
	return i < n_files ? files[i].name : NULL;
}

int main(int argc, char **argv)
{
	const char *const spec[] = { "model=llama-3.2-1b" };
	struct npusim_source from = NPUSIM_SOURCE_INIT;
	struct npusim_error e = NPUSIM_ERROR_INIT;
	npusim *n = NULL;
	npusim_machine *m;
	npusim_work *w;
	npusim_result *r;
	double us = 0;

	root_length = argc == 2 ? strlen(argv[1]) : 0;
	if (argc != 2 || nftw(argv[1], keep, 16, FTW_PHYS) != 0) {
		fprintf(stderr, "usage: memory DATA_FOLDER\n");
		return 2;
	}
	from.read = read_file;
	from.name = name_of;
	n = npusim_open(&from, &e);
	m = n ? npusim_machine_named(n, "dsocr", NULL, 0, &e) : NULL;
	w = m ? npusim_work_new(n, spec, 1, &e) : NULL;
	r = w ? npusim_eval(m, w, NULL, 0, &e) : NULL;
	if (r && npusim_get(r, "total_us", &us, &e) == 0)
		printf("%.9g us, from %zu files in memory\n", us, n_files);
	if (e.code)
		fprintf(stderr, "%s\n", e.message);
	npusim_result_free(r);
	npusim_work_free(w);
	npusim_machine_free(m);
	npusim_close(n);
	while (n_files) {
		n_files--;
		free(files[n_files].name);
		free(files[n_files].bytes);
	}
	return e.code;
}
