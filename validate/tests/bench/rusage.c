/* rusage.c - runs a command and writes what it cost to a file: "user_us sys_us wall_us peak_kib" on one line.
 *
 * A small parent, so that the child's peak is the command's own and not that of a shell. Exits as the command did. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long micros(struct timeval t)
{
	return (long long)t.tv_sec * 1000000 + t.tv_usec;
}

int main(int argc, char **argv)
{
	struct timespec start, end;
	struct rusage used;
	int status;
	pid_t pid;
	FILE *f;

	if (argc < 3) {
		fprintf(stderr, "usage: rusage FILE COMMAND...\n");
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	if ((pid = fork()) < 0) {
		fprintf(stderr, "rusage: fork: %s\n", strerror(errno));
		return 2;
	}
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		fprintf(stderr, "rusage: '%s': %s\n", argv[2], strerror(errno));
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 2;
	clock_gettime(CLOCK_MONOTONIC, &end);
	getrusage(RUSAGE_CHILDREN, &used);

	if (!(f = fopen(argv[1], "w"))) {
		fprintf(stderr, "rusage: '%s': %s\n", argv[1], strerror(errno));
		return 2;
	}
	fprintf(f, "%lld %lld %lld %ld\n", micros(used.ru_utime), micros(used.ru_stime),
	        (long long)(end.tv_sec - start.tv_sec) * 1000000 + (end.tv_nsec - start.tv_nsec) / 1000,
	        used.ru_maxrss);
	if (fclose(f) != 0)
		return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
