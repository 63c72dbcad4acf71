/* t_path.c - data folders in their order. */
#define _POSIX_C_SOURCE 200809L /* setenv, mkdir */
#include "sim/base/path.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "validate/tests/test.h"

static void touch(const char *path)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fclose(f) == 0);
}

TEST(the_environment_comes_first)
{
	struct err e = ERR_INIT;
	char dir[400], file[420], got[512];

	CHECK(mkdir(test_path(dir, sizeof dir, "data"), 0700) == 0);
	snprintf(file, sizeof file, "%s/here.yaml", dir);
	touch(file);
	CHECK(setenv("NPUSIM_DATA", dir, 1) == 0);
	CHECK_OK(path_data("here.yaml", got, sizeof got, &e), e);
	CHECK_STR(got, file);
	CHECK(unsetenv("NPUSIM_DATA") == 0);
}

TEST(a_file_that_is_nowhere_names_all_that_were_tried)
{
	struct err e = ERR_INIT;
	char got[512];

	CHECK(setenv("NPUSIM_DATA", "/absent/data", 1) == 0);
	CHECK(path_data("configs/no-such.yaml", got, sizeof got, &e) == -1);
	CHECK(e.kind == ERR_CONFIG);
	CHECK_HAS(e.msg, "there is no 'configs/no-such.yaml' in '/absent/data', '");
	CHECK_HAS(e.msg, "npusim'");
	CHECK_STR(got, "");
	CHECK(unsetenv("NPUSIM_DATA") == 0);
}

TEST(a_buffer_too_small_finds_nothing_and_cuts_nothing)
{
	struct err e = ERR_INIT;
	char dir[400], file[420], got[8];

	CHECK(mkdir(test_path(dir, sizeof dir, "data"), 0700) == 0);
	snprintf(file, sizeof file, "%s/here.yaml", dir);
	touch(file);
	CHECK(setenv("NPUSIM_DATA", dir, 1) == 0);
	CHECK(path_data("here.yaml", got, sizeof got, &e) == -1);
	CHECK_STR(got, "");
	CHECK(path_beside(file, "here.yaml", got, sizeof got) == -1);
	CHECK(unsetenv("NPUSIM_DATA") == 0);
}

TEST(a_neighbour_is_found_beside_its_file)
{
	char a[400], b[400], got[512];

	touch(test_path(a, sizeof a, "a.yaml"));
	touch(test_path(b, sizeof b, "b.yaml"));
	CHECK(path_beside(a, "b.yaml", got, sizeof got) == 0);
	CHECK_STR(got, b);
	CHECK(path_beside(a, "c.yaml", got, sizeof got) == -1);
	CHECK(path_beside("plain.yaml", "no-such-neighbour.yaml", got, sizeof got) == -1);
	CHECK(path_beside("anything", b, got, sizeof got) == 0); /* an absolute name is itself */
	CHECK_STR(got, b);
}

SUITE(t_path, T(the_environment_comes_first), T(a_file_that_is_nowhere_names_all_that_were_tried),
      T(a_buffer_too_small_finds_nothing_and_cuts_nothing), T(a_neighbour_is_found_beside_its_file));
