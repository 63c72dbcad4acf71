/* f_replay.c - any bytes as a replay's YAML, beside a small table and a small trace, and what it stored. YAML and what it
 * names are read from files, so each input goes through one in a folder of this process. */
#define _POSIX_C_SOURCE 200809L

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traces/read/format.h"
#include "validate/tests/fuzz/targets.h"

static const char table[] = "Time (%),Total Time (ns),Instances,Med (ns),Min (ns),Max (ns),Name\n"
			    "60.0,6001,4,1500,1000,3000,first\n40.0,4000,2,2000,1500,2500,second<int>\n";
static const char order[] =
	"{\"schemaVersion\":1,\"traceEvents\":["
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"step\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":100},"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":20,\"args\":{\"External id\":1,"
	"\"Input Dims\":[[1,8],[8,4]],\"Input type\":[\"float\",\"float\"]}},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":1,"
	"\"args\":{\"correlation\":1,\"External id\":1}},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":4,\"dur\":1,"
	"\"args\":{\"correlation\":2,\"External id\":1}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"one\",\"pid\":0,\"tid\":7,\"ts\":10,\"dur\":2,"
	"\"args\":{\"correlation\":1,\"External id\":1,\"device\":0,\"stream\":7,\"grid\":[1,1,1],\"block\":[32,1,1]}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"two\",\"pid\":0,\"tid\":7,\"ts\":13,\"dur\":3,"
	"\"args\":{\"correlation\":2,\"External id\":1,\"device\":0,\"stream\":7,\"grid\":[1,1,1],\"block\":[32,1,1]}}]}\n";

static void put(const char *folder, const char *name, const void *bytes, size_t n)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	if (!(f = fopen(path, "wb")) || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
		abort();
}

/* Made once, and emptied when the process ends. */
static char folder[] = "/tmp/npusim-fuzz-XXXXXX";

static void clean(void)
{
	static const char *const names[] = { "replay.yaml", "table.csv", "order.json" };
	char path[128];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
}

static void check_trace(const struct trace *t)
{
	int64_t sum = 0;

	assert(t->n_launches > 0 && t->path && t->digest && t->command);
	for (size_t i = 0; i < t->n_launches; i++) {
		const struct trace_launch *l = &t->launches[i];

		assert(l->name && l->start_ns == sum && l->dur_ns >= 0 && l->op);
		sum += l->dur_ns;
	}
	assert(sum <= 10001);
}

int fuzz_replay(const uint8_t *bytes, size_t n)
{
	static int made;
	struct err e = ERR_INIT;
	struct tracedb *db = tracedb_open(":memory:", DB_WRITE, &e);
	struct arena *a = arena_new(64 << 20);
	struct trace_import_stats st;
	struct trace t;
	char path[128];

	if (!db || !a || (!made && !mkdtemp(folder)))
		abort();
	if (!made) {
		atexit(clean);
		put(folder, "table.csv", table, sizeof table - 1);
		put(folder, "order.json", order, sizeof order - 1);
		made = 1;
	}
	put(folder, "replay.yaml", bytes, n);
	snprintf(path, sizeof path, "%s/replay.yaml", folder);
	if (format_import_with(db, FORMAT_REPLAY, path, &(struct format_options){ .context = (int64_t)(n % 7) }, &st,
	                       &e) < 0)
		assert(e.kind != ERR_NONE && e.kind != ERR_CONFIG && e.msg[0]);
	else if (tracedb_load(db, NULL, a, &t, &e) == 0)
		check_trace(&t);
	else
		assert(e.kind == ERR_NOMEM);
	arena_free(a);
	tracedb_free(db);
	return 0;
}
