/* t_newfile.c - outputs that are there whole or not at all, and what a maker that dies leaves of them. */
#define _POSIX_C_SOURCE 200809L /* fork, kill, mkfifo */
#include "sim/base/newfile.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/inputs.h"
#include "validate/tests/test.h"

static int files(void)
{
	DIR *d = opendir(test_tmp());
	int n = 0;

	CHECK(d);
	for (const struct dirent *x; (x = readdir(d));)
		n += x->d_name[0] != '.';
	closedir(d);
	return n;
}

static void put(const char *path, const char *text)
{
	struct err e = ERR_INIT;
	struct newfile n;

	CHECK_OK(newfile_open(&n, path, &e), e);
	CHECK(write(n.fd, text, strlen(text)) == (ssize_t)strlen(text));
	CHECK_OK(newfile_close(&n, 0, &e), e);
}

static const char *get(const char *path)
{
	static char text[64];
	FILE *f = fopen(path, "r");

	CHECK(f);
	text[fread(text, 1, sizeof text - 1, f)] = '\0';
	fclose(f);
	return text;
}

TEST(what_was_there_stays_until_all_is_written)
{
	struct err e = ERR_INIT;
	struct newfile n;
	struct stat st;
	char path[400];

	put(test_path(path, sizeof path, "a"), "old");
	CHECK(chmod(path, 0640) == 0);
	CHECK_OK(newfile_open(&n, path, &e), e);
	CHECK(write(n.fd, "half", 4) == 4);
	CHECK_STR(get(path), "old");
	CHECK(newfile_close(&n, -1, &e) == -1);
	CHECK_STR(get(path), "old");
	put(path, "new");
	CHECK_STR(get(path), "new");
	CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0640);
	CHECK_U64(files(), 1);
}

static void die_making(const char *stem, bool named)
{
	struct temp t;
	pid_t child = fork();

	if (child == 0) {
		CHECK(temp_open(&t, stem, named) == 0 && write(t.fd, "half", 4) == 4);
		CHECK(!named || t.name.len);
		kill(getpid(), SIGKILL);
	}
	CHECK(waitpid(child, NULL, 0) == child);
}

TEST(a_killed_maker_leaves_nothing_once_another_makes_a_file)
{
	char path[400], other[400];

	die_making(test_path(path, sizeof path, "a"), true);
	CHECK_U64(files(), 1);
	put(test_path(other, sizeof other, "b"), "whole");
	CHECK_U64(files(), 1);
	CHECK_STR(get(other), "whole");
	die_making(path, false); /* without a name where the file system can */
	put(other, "again");
	CHECK_U64(files(), 1);
}

TEST(what_somebody_is_making_is_left_alone)
{
	char path[400], other[400];
	struct temp t;

	CHECK(temp_open(&t, test_path(path, sizeof path, "a"), true) == 0);
	put(test_path(other, sizeof other, "b"), "whole");
	put(test_path(other, sizeof other, "a.npusim-short"), "not made by us");
	CHECK_U64(files(), 3);
	CHECK(temp_take(&t, path) == 0);
	put(other, "again");
	CHECK_STR(get(path), "");
	CHECK_U64(files(), 3);
}

TEST(a_link_leads_to_the_file_and_a_pipe_stays_one)
{
	char path[400], link[400], pipe[400];
	struct stat st;
	char got[8] = "";
	int in;

	test_path(path, sizeof path, "a");
	CHECK(symlink("a", test_path(link, sizeof link, "link")) == 0);
	CHECK(newfile_same(path, link)); /* both names are still free */
	put(link, "first");
	put(link, "second");
	CHECK(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
	CHECK_STR(get(path), "second");
	CHECK(newfile_same(path, link));
	CHECK(mkfifo(test_path(pipe, sizeof pipe, "pipe"), 0600) == 0);
	CHECK((in = open(pipe, O_RDONLY | O_NONBLOCK)) >= 0);
	put(pipe, "bytes");
	CHECK(read(in, got, 5) == 5);
	CHECK_STR(got, "bytes");
	close(in);
	CHECK(lstat(pipe, &st) == 0 && S_ISFIFO(st.st_mode));
	CHECK(!newfile_same(pipe, pipe));
	CHECK_U64(files(), 3);
}

static void read_in_a_child(const char *path)
{
	pid_t child = fork();
	FILE *f;

	if (child == 0) {
		if ((f = fopen(path, "r")))
			inputs_add(f);
		_exit(!f);
	}
	CHECK(waitpid(child, NULL, 0) == child);
}

/* In a process of its own: the record is for good. */
static int overwrite_what_was_read(void)
{
	struct err e = ERR_INIT;
	struct newfile n;
	char path[400], other[400];
	struct stat st;

	put(test_path(path, sizeof path, "a"), "kept");
	inputs_start();
	put(test_path(other, sizeof other, "b"), "old");
	CHECK_OK(newfile_open(&n, path, &e), e);
	read_in_a_child(path);
	CHECK(newfile_close(&n, 0, &e) == -1 && e.kind == ERR_USAGE);
	CHECK_HAS(e.msg, "a' would be written over, and it was read");
	CHECK_STR(get(path), "kept");
	CHECK_U64(files(), 2);
	put(other, "new");
	inputs_add_path(other);
	CHECK(stat(other, &st) == 0 && inputs_has(&st));
	CHECK(stat(test_tmp(), &st) == 0 && !inputs_has(&st));
	return 0;
}

TEST(what_was_read_is_not_written_over)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(overwrite_what_was_read());
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

SUITE(t_newfile, T(what_was_there_stays_until_all_is_written),
      T(a_killed_maker_leaves_nothing_once_another_makes_a_file), T(what_somebody_is_making_is_left_alone),
      T(a_link_leads_to_the_file_and_a_pipe_stays_one), T(what_was_read_is_not_written_over));
