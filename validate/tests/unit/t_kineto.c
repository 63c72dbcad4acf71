/* t_kineto.c - the Kineto reader on JSON written here: what it takes from an event, and each way a file can be bad. */
#include <stdlib.h>
#include <zlib.h>

#include "traces/read/kineto.h"
#include "traces/text/decimal.h"
#include "validate/tests/tracebed.h"

#define EVENTS(list) "{\"traceEvents\":[" list "]}"
#define EVENT(cat, name, ts, dur, args) \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" ts ",\"dur\":" dur "," \
	"\"args\":{" args "}}"
#define KERNEL EVENT("kernel", "k", "5", "1", "")
#define OP(args) \
	EVENTS(EVENT("cpu_op", "op", "1", "9", "\"External id\":1," args) "," EVENT("kernel", "k", "5", "1", \
	                                                                            "\"External id\":1"))

static int import_into(struct bed *b, const void *bytes, size_t n)
{
	struct input *in;
	int rc;

	CHECK((in = input_mem(bytes, n, "x.json", &b->e)) != NULL);
	rc = kineto_import(b->db, in, NULL, NULL, &b->st, &b->e);
	input_free(in);
	return rc;
}

static int import_bytes(struct bed *b, const void *bytes, size_t n)
{
	bed_open(b, ":memory:", DB_WRITE);
	return import_into(b, bytes, n);
}

static void bed_up(struct bed *b, const char *json)
{
	CHECK_OK(import_bytes(b, json, strlen(json)), b->e);
	bed_load(b, NULL);
}

static void refused_bytes(const void *bytes, size_t n, const char *because)
{
	struct bed b;

	CHECK(import_bytes(&b, bytes, n) == -1);
	CHECK_HAS(b.e.msg, because);
	bed_close(&b);
}

static void refused(const char *json, const char *because)
{
	refused_bytes(json, strlen(json), because);
}

/* Without the terminating NUL, and with room for a gzip of anything in these tests. */
static size_t zip(const char *text, size_t n, unsigned char *out, size_t cap)
{
	z_stream z;
	size_t len;

	memset(&z, 0, sizeof z);
	CHECK(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	z.next_in = (Bytef *)(uintptr_t)text;
	z.avail_in = (uInt)n;
	z.next_out = out;
	z.avail_out = (uInt)cap;
	CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
	len = cap - z.avail_out;
	deflateEnd(&z);
	return len;
}

/* --- numbers --------------------------------------------------------------------------------------------------- */

static int64_t us(const char *text)
{
	int64_t ns = -1;

	CHECK(decimal_scaled(text, strlen(text), DECIMAL_US_TO_NS, &ns) == 0);
	return ns;
}

TEST(microseconds_become_nanoseconds_without_a_double)
{
	CHECK_U64(us("4309010680846.819"), 4309010680846819);
	CHECK_U64(us("1712195495502094.565"), 1712195495502094565); /* 2^53 is 9007199254740992 */
	CHECK_U64(us("9223372036854775.807"), INT64_MAX);
	CHECK_U64(us("2"), 2000);
	CHECK_U64(us("0.0004"), 0);
	CHECK_U64(us("0.0005"), 1);
	CHECK_U64(us(".7"), 700);
	CHECK_U64(us("1.9999"), 2000);
	CHECK_U64(us("1.5e3"), 1500000);
	CHECK_U64(us("12345E-4"), 1235);
	CHECK_U64(us("0e999"), 0);
	CHECK_U64(us("1e-999"), 0);
	CHECK(us("-1.2345") == -1235); /* 1234.5 ns, away from zero */
}

TEST(a_number_that_does_not_fit_or_is_none_is_told_apart)
{
	static const char *const wide[] = { "1e999", "9223372036854775.808", "99999999999999999999", "-1e30" };
	static const char *const none[] = { "", "-", ".", "-.", ".e1", "1.", "1e", "1e+", "0x10", "nan", "1 " };
	int64_t v;

	for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
		CHECK(decimal_scaled(wide[i], strlen(wide[i]), 3, &v) == -2);
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		CHECK(decimal_scaled(none[i], strlen(none[i]), 0, &v) == -1);
}

/* --- what is read ---------------------------------------------------------------------------------------------- */

/* The concrete inputs of the only op, as they were stored. */
static void concrete(struct bed *b, bool redact, const char *json)
{
	bed_open(b, ":memory:", DB_WRITE);
	if (redact)
		tracedb_redact(b->db);
	CHECK_OK(import_into(b, json, strlen(json)), b->e);
	bed_load(b, NULL);
	CHECK_U64(b->t.launches[0].op->n_args, 5);
}

TEST(concrete_inputs_that_are_text_are_stored_or_left_out)
{
	static const char texts[] =
		OP("\"Input Dims\":[[4,8],[],[],[],[]],\"Input type\":[\"float\",\"Scalar\",\"\",\"\",\"\"],"
	           "\"Concrete Inputs\":[\"\",\"-1.5e-3\",\"[1, 2, None, True]\",\"my prompt\",\"e\"]");
	static const char *const want[2][5] = { { "", "-1.5e-3", "[1, 2, None, True]", "my prompt", "e" },
		                                { "", "-1.5e-3", "[1, 2, None, True]", "", "" } };
	struct bed b;

	for (int redact = 0; redact < 2; redact++) {
		concrete(&b, redact, texts);
		CHECK(b.st.texts && !b.st.command);
		for (int i = 0; i < 5; i++)
			CHECK_STR(b.t.launches[0].op->args[i].scalar, want[redact][i]);
		CHECK(b.t.launches[0].op->args[0].dims[1] == 8);
		CHECK_U64(bed_ask(&b, "select count(*) from args where text like '%prompt%'"), !redact);
		bed_close(&b);
	}
	concrete(
		&b, false,
		OP("\"Concrete Inputs\":[\"\",\"-1\",\"[1, 2]\",\"False\",\"(inf)\"],\"Input Dims\":[[],[],[],[],[]]"));
	CHECK(!b.st.texts);
	bed_close(&b);
}

TEST(times_are_relative_and_the_base_holds_the_rest)
{
	struct bed b;

	bed_up(&b, "{\"traceEvents\":[" EVENT("kernel", "late", "4309010680846.820", "0.001",
	                                      "") "," EVENT("kernel", "early", "4309010680846.819", "1e-3",
	                                                    "") "],"
	                                                        "\"baseTimeNanoseconds\":1790857026000000000}");
	CHECK_U64(b.t.base_ns, 1790857026000000000 + 4309010680846819);
	CHECK_STR(b.t.launches[0].name, "early");
	CHECK_U64(b.t.launches[0].start_ns, 0);
	CHECK_U64(b.t.launches[1].start_ns, 1);
	CHECK_U64(b.t.launches[1].dur_ns, 1);
	CHECK_U64(b.t.span_ns, 2);
	bed_close(&b);
}

TEST(a_kernel_keeps_its_geometry_whatever_the_order_of_keys)
{
	struct bed b;
	const struct trace_launch *l;

	bed_up(&b, EVENTS("{\"args\":{\"block\":[128,2,1],\"deep\":{\"grid\":[9,9,9]},\"grid\":[4,2,3],\"stream\":7,"
	                  "\"device\":3,\"context\":2,\"correlation\":10,\"registers per thread\":80,"
	                  "\"shared memory\":25600,\"graph id\":5,\"graph node id\":6,\"more\":[[1],{\"stream\":1}]},"
	                  "\"dur\":2.5,\"ts\":10,\"name\":\"k\","
	                  "\"cat\":\"kernel\",\"ph\":\"X\"}"));
	l = &b.t.launches[0];
	CHECK(l->grid[0] == 4 && l->grid[1] == 2 && l->grid[2] == 3);
	CHECK(l->block[0] == 128 && l->block[1] == 2 && l->block[2] == 1);
	CHECK(l->stream == 7 && l->device == 3 && l->context == 2 && l->correlation == 10);
	CHECK(l->registers == 80 && l->smem_dynamic == 25600 && l->smem_static == 0);
	CHECK(l->graph == 5 && l->graph_node == 6 && l->bytes == -1 && l->host_start_ns == -1 && !l->op);
	bed_close(&b);
}

TEST(directions_of_copies_come_from_the_kind_or_the_name)
{
	static const enum trace_copy_dir want[] = { TRACE_COPY_HTOD, TRACE_COPY_DTOH, TRACE_COPY_DTOD,
		                                    TRACE_COPY_HTOH, TRACE_COPY_PTOP, TRACE_COPY_NONE };
	struct bed b;

	bed_up(&b,
	       EVENTS(EVENT("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", "1", "1", "\"bytes\":3") "," EVENT(
		       "gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", "2", "1",
		       "") "," EVENT("gpu_memcpy", "Memcpy DtoD (Device -> Device)", "3", "1",
	                             "") "," EVENT("gpu_memcpy", "CopyHostToHost", "4", "1",
	                                           "") "," EVENT("gpu_memcpy", "copy", "5", "1",
	                                                         "\"kind\":\"PtoP\"") "," EVENT("gpu_memcpy", "copy",
	                                                                                        "6", "1", "")));
	for (int i = 0; i < 6; i++)
		CHECK_U64(b.t.launches[i].dir, want[i]);
	CHECK_U64(b.t.launches[0].bytes, 3);
	CHECK(b.t.launches[1].bytes == -1);
	bed_close(&b);
}

TEST(arguments_are_joined_by_position_across_columns)
{
	struct bed b;
	const struct trace_op *o;

	bed_up(&b, OP("\"Concrete Inputs\":[\"\",\"\",\"[1, 2]\",\"\",\"-1\"],\"Sequence number\":9,"
	              "\"Input Dims\":[[2,3],[[4],[5,6]],[],[],[]],\"Input Strides\":[[3,1],[[1],[6,1]],[],[],[]],"
	              "\"Input type\":[\"c10::BFloat16\",\"TensorList\",\"ScalarList\",\"double\",\"Scalar\"]"));
	o = b.t.launches[0].op;
	CHECK_U64(o->n_args, 6);
	CHECK_U64(o->sequence, 9);
	CHECK_STR(o->args[0].dtype, "c10::BFloat16");
	CHECK(o->args[0].ndims == 2 && o->args[0].dims[1] == 3 && o->args[0].strides[0] == 3 && o->args[0].list == -1);
	CHECK(o->args[1].pos == 1 && o->args[1].list == 0 && o->args[1].ndims == 1 && o->args[1].dims[0] == 4);
	CHECK(o->args[2].pos == 1 && o->args[2].list == 1 && o->args[2].ndims == 2 && o->args[2].strides[0] == 6);
	CHECK(o->args[3].pos == 2 && o->args[3].ndims == -1);
	CHECK_STR(o->args[3].scalar, "[1, 2]");
	CHECK(o->args[4].pos == 3 && o->args[4].ndims == 0); /* a tensor without dimensions */
	CHECK(o->args[5].pos == 4 && o->args[5].ndims == -1);
	CHECK_STR(o->args[5].scalar, "-1");
	CHECK_U64(b.st.dropped_args, 0);
	bed_close(&b);
}

TEST(types_without_shapes_and_shapes_without_types_are_arguments_too)
{
	struct bed b;

	bed_up(&b, OP("\"Input type\":[\"float\",\"Scalar\"]"));
	CHECK_U64(b.t.launches[0].op->n_args, 2);
	CHECK(b.t.launches[0].op->args[0].ndims == -1);
	CHECK_STR(b.t.launches[0].op->args[0].dtype, "float");
	bed_close(&b);
	bed_up(&b, OP("\"Input Dims\":[[7],[]]"));
	CHECK_U64(b.t.launches[0].op->n_args, 2);
	CHECK(b.t.launches[0].op->args[0].ndims == 1 && b.t.launches[0].op->args[1].ndims == -1);
	bed_close(&b);
}

TEST(arguments_that_do_not_fit_are_dropped_and_counted)
{
	struct bed b;

	bed_up(&b, OP("\"Input Dims\":[[[1],[2],[3],[4],[5],[6],[7],[8],[9],[10],[11],[12],"
	              "[13],[14],[15],[16],[17],[18]],[19]]"));
	CHECK_U64(b.t.launches[0].op->n_args, TRACE_MAX_ARGS);
	CHECK_U64(b.t.launches[0].op->args[15].dims[0], 16);
	CHECK_U64(b.st.dropped_args, 3);
	bed_close(&b);
	bed_up(&b, OP("\"Input Dims\":[[1,2,3,4,5,6,7,8,9],[1,2,3,4,5,6,7,8]]"));
	CHECK(b.t.launches[0].op->args[0].ndims == -1 && b.t.launches[0].op->args[1].ndims == 8);
	CHECK_U64(b.st.dropped_args, 1);
	bed_close(&b);
}

TEST(shapes_that_make_no_sense_are_no_tensors)
{
	static const char *const dims[] = { "[[1,\"s0\"]]", "[[1,[2]]]",       "[[[1],2]]", "[[[[1]]]]",
		                            "[[null]]",     "[[{\"a\":[1]}]]", "[[1e30]]" };
	char json[1024];
	struct bed b;

	for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
		snprintf(json, sizeof json, OP("\"Input Dims\":%s,\"Input type\":[\"float\"]"), dims[i]);
		bed_up(&b, json);
		CHECK(b.t.launches[0].op->args[0].ndims == -1);
		bed_close(&b);
	}
}

TEST(nul_escapes_and_bytes_that_are_no_utf8_become_replacement_characters)
{
	struct bed b;

	bed_up(&b, EVENTS(EVENT("kernel", "a\\u0000b", "5", "1",
	                        "") "," EVENT("kernel", "c\xff\xc3", "6", "1",
	                                      "") "," EVENT("kernel", "\\ud800x", "7", "1",
	                                                    "") "," EVENT("kernel", "\xc3\xa9\\u00e9", "8", "1", "")));
	CHECK_STR(b.t.launches[0].name, "a\xef\xbf\xbd"
	                                "b");
	CHECK_STR(b.t.launches[1].name, "c\xef\xbf\xbd\xef\xbf\xbd");
	CHECK_STR(b.t.launches[3].name, "\xc3\xa9\xc3\xa9");
	bed_close(&b);
	bed_up(&b, OP("\"Input type\":[\"x\\u0000y\xff\"],\"Concrete Inputs\":[\"a\\\"\\\\\\u0001\\n\"]"));
	CHECK_STR(b.t.launches[0].op->args[0].dtype, "x\xef\xbf\xbdy\xef\xbf\xbd");
	CHECK_STR(b.t.launches[0].op->args[0].scalar, "a\"\\\x01\n");
	bed_close(&b);
}

TEST(what_is_not_read_may_hold_anything)
{
	struct bed b;

	bed_up(&b,
	       "{\"a\":[{\"b\":[[1e999]]}],\"traceName\":null,\"traceEvents\":[1,null,\"x\",[{\"cat\":"
	       "\"kernel\"}],{},"
	       "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"f\",\"args\":{\"Input Dims\":[[1]]}},"
	       "{\"ph\":\"B\",\"cat\":\"kernel\",\"name\":\"f\"},{\"ph\":[\"X\"],\"ts\":{\"a\":1},\"args\":[1]}," EVENT(
		       "kernel", "k", "5", "1",
		       "\"grid\":[1,2,3,4],\"stream\":true,\"x\":1e999,"
		       "\"bytes\":\"N/A\"") "],\"deviceProperties\":"
	                                    "[1,[2],{\"name\":\"G\",\"id\":0,\"clock\":1e999,\"x\":{\"id\":4}}]}");
	CHECK_U64(b.st.kernels, 1);
	CHECK_U64(b.st.events, 5);
	CHECK(b.t.launches[0].grid[2] == 3);
	CHECK_U64(b.t.n_devices, 1);
	CHECK_STR(b.t.devices[0].name, "G");
	bed_close(&b);
}

TEST(a_byte_order_mark_and_joined_gzip_members_are_read)
{
	static const char one[] = "{\"traceEvents\":[", two[] = KERNEL "]}";
	unsigned char gz[2048];
	struct bed b;
	size_t n;

	bed_up(&b, "\xef\xbb\xbf" EVENTS(KERNEL));
	bed_close(&b);
	n = zip(one, strlen(one), gz, sizeof gz);
	n += zip(two, strlen(two), gz + n, sizeof gz - n);
	memset(gz + n, 0, 100); /* padding, as tapes have it */
	CHECK_OK(import_bytes(&b, gz, n + 100), b.e);
	CHECK_U64(b.st.json_bytes, strlen(one) + strlen(two));
	bed_close(&b);
}

/* --- what is refused ------------------------------------------------------------------------------------------- */

TEST(a_file_that_is_no_trace_says_so)
{
	refused("", "'x.json' is empty");
	refused("{}", "not a Kineto trace");
	refused("{\"a\":[" KERNEL "]}", "no \"traceEvents\"");
	refused("{\"traceEvents\":{}}", "no \"traceEvents\"");
	refused("7", "not a Kineto trace");
	refused("kernel,time\nk,3\n", "not valid JSON near");
	refused("SQLite format 3", "not valid JSON near");
	refused("[]", "no device activity");
	refused(EVENTS(""), "none of its 0 events is a kernel, a copy or a set");
}

TEST(broken_json_has_a_line_and_a_column)
{
	static const char json[] = "{\"traceEvents\":[\n" KERNEL ",\n  {\"ph\" \"X\"}]}";
	struct bed b;

	CHECK(import_bytes(&b, json, strlen(json)) == -1);
	CHECK_STR(b.e.file, "x.json");
	CHECK_U64(b.e.line, 3);
	CHECK(b.e.col >= 9 && b.e.col <= 11);
	bed_close(&b);
	refused(EVENTS(KERNEL) "]", "not valid JSON");
	refused("{\"traceEvents\":[],}", "not valid JSON");
	refused(EVENTS(EVENT("kernel", "a\nb", "1", "1", "")), "not valid JSON"); /* a raw line break in a text */
}

TEST(nan_and_infinity_are_named_as_the_fault)
{
	refused(EVENTS(EVENT("kernel", "k", "1", "1", "\"x\":nan")), "'nan' and 'inf' are not JSON");
	refused(EVENTS(EVENT("kernel", "k", "1", "1", "\"x\":-inf")), "'nan' and 'inf' are not JSON");
	refused(EVENTS(EVENT("kernel", "k", "1", "1", "\"x\":Infinity")), "'nan' and 'inf' are not JSON");
}

TEST(a_bad_time_is_an_error_of_its_event)
{
	refused(EVENTS(EVENT("kernel", "k", "1", "-0.5", "")), "the kernel 'k' has a negative duration");
	refused(EVENTS(EVENT("cpu_op", "o", "1", "-1", "")), "the framework op 'o' has a negative duration");
	refused(EVENTS(EVENT("kernel", "k", "1e999", "1", "")), "the number '1e999' is out of range");
	refused(EVENTS(EVENT("kernel", "k", "4611686018427387.904", "1", "")), "time out of range");
	refused(EVENTS(EVENT("kernel", "k", "1", "4611686018427387.904", "")), "time out of range");
	refused(EVENTS("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1}"), "the kernel 'k' has no \"dur\"");
	refused(EVENTS("{\"ph\":\"X\",\"cat\":\"gpu_memset\",\"name\":\"m\",\"dur\":1}"), "the set 'm' has no \"ts\"");
	refused(EVENTS("{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":1}"), "has no \"name\"");
	refused(EVENTS(EVENT("cuda_runtime", "c", "\"soon\"", "1", "")), "the runtime call 'c' has no \"ts\"");
}

TEST(geometry_and_ids_out_of_range_are_errors)
{
	refused(EVENTS(EVENT("kernel", "k", "1", "1", "\"grid\":[-1,1,1]")), "out of range");
	refused(EVENTS(EVENT("kernel", "k", "1", "1", "\"block\":[4294967296,1,1]")), "out of range");
	refused(EVENTS(EVENT("kernel", "k", "1", "1", "\"registers per thread\":-1")), "out of range");
	refused(EVENTS(EVENT("kernel", "k", "1", "1", "\"correlation\":1e40")), "the number '1e40' is out of range");
	refused("{\"baseTimeNanoseconds\":-1,\"traceEvents\":[" KERNEL "]}", "out of range");
	refused("{\"deviceProperties\":[{\"numSms\":-4}],\"traceEvents\":[" KERNEL "]}", "out of range");
}

TEST(nesting_is_limited_to_64)
{
	char json[300];

	memset(json, '[', 64);
	memset(json + 64, ']', 64);
	json[128] = '\0';
	refused(json, "no device activity");
	memset(json, '[', 65);
	memset(json + 65, ']', 65);
	json[130] = '\0';
	refused(json, "nests deeper than 64");
}

/* "{"traceEvents":[ event with a name of n bytes ]}" */
static char *long_name(size_t n, bool close)
{
	static const char head[] = "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":1,\"name\":\"";
	char *json = malloc(n + sizeof head + 8);

	CHECK(json);
	memcpy(json, head, sizeof head - 1);
	memset(json + sizeof head - 1, 'n', n);
	strcpy(json + sizeof head - 1 + n, close ? "\"}]}" : "");
	return json;
}

TEST(an_event_may_have_a_mebibyte_and_no_more)
{
	char *json = long_name(1000000, true);
	struct bed b;

	bed_up(&b, json);
	CHECK_U64(strlen(b.t.launches[0].name), 1000000);
	bed_close(&b);
	free(json);
	json = long_name(1048576, true);
	refused(json, "longer than 1 MiB");
	free(json);
	json = long_name(8 << 20, false); /* and it is not gathered until it ends */
	refused(json, "longer than 1 MiB");
	free(json);
}

TEST(json_cut_anywhere_is_refused)
{
	static const char json[] = "{\"deviceProperties\":[{\"id\":0,\"name\":\"G\"}],\"traceEvents\":[" EVENT(
		"cpu_op", "o\\n", "1.5", "9",
		"\"External id\":1,\"Input Dims\":[[1,2],[]],"
		"\"Input type\":[\"float\",\"\"]") "," EVENT("kernel", "k", "5", "1",
	                                                     "\"External id\":1,\"grid\":[1,2,3]") "]}";
	struct bed b;

	for (size_t n = 0; n < strlen(json); n++) {
		CHECK(import_bytes(&b, json, n) == -1);
		CHECK(b.e.kind == ERR_IO && b.e.msg[0] != '\0');
		if (n > 0)
			CHECK_HAS(b.e.msg, "the file ends in the middle of its JSON");
		bed_close(&b);
	}
	bed_up(&b, json);
	bed_close(&b);
}

TEST(gzip_cut_anywhere_is_refused)
{
	static const char json[] = EVENTS(KERNEL "," KERNEL "," EVENT("kernel", "other", "7", "1", "\"grid\":[1,2,3]"));
	unsigned char gz[1024];
	size_t len = zip(json, strlen(json), gz, sizeof gz);
	struct bed b;

	for (size_t n = 2; n < len; n++)
		refused_bytes(gz, n, "'x.json' ends in the middle of its gzip stream");
	CHECK_OK(import_bytes(&b, gz, len), b.e);
	bed_close(&b);
	gz[len / 2] ^= 0x55;
	CHECK(import_bytes(&b, gz, len) == -1);
	bed_close(&b);
	gz[len / 2] ^= 0x55;
	gz[len - 6] ^= 1; /* its checksum */
	refused_bytes(gz, len, "is damaged: its gzip stream breaks (incorrect data check)");
}

TEST(rubbish_after_a_gzip_stream_is_refused)
{
	static const char json[] = EVENTS(KERNEL);
	unsigned char gz[1024];
	size_t n = zip(json, strlen(json), gz, sizeof gz);

	memcpy(gz + n, "rubbish", 7);
	refused_bytes(gz, n + 7, "is damaged");
}

SUITE(t_kineto, T(microseconds_become_nanoseconds_without_a_double),
      T(a_number_that_does_not_fit_or_is_none_is_told_apart), T(times_are_relative_and_the_base_holds_the_rest),
      T(a_kernel_keeps_its_geometry_whatever_the_order_of_keys), T(directions_of_copies_come_from_the_kind_or_the_name),
      T(arguments_are_joined_by_position_across_columns),
      T(types_without_shapes_and_shapes_without_types_are_arguments_too),
      T(arguments_that_do_not_fit_are_dropped_and_counted), T(shapes_that_make_no_sense_are_no_tensors),
      T(nul_escapes_and_bytes_that_are_no_utf8_become_replacement_characters), T(what_is_not_read_may_hold_anything),
      T(a_byte_order_mark_and_joined_gzip_members_are_read), T(a_file_that_is_no_trace_says_so),
      T(broken_json_has_a_line_and_a_column), T(nan_and_infinity_are_named_as_the_fault),
      T(a_bad_time_is_an_error_of_its_event), T(geometry_and_ids_out_of_range_are_errors), T(nesting_is_limited_to_64),
      T(an_event_may_have_a_mebibyte_and_no_more), SLOW(json_cut_anywhere_is_refused), T(gzip_cut_anywhere_is_refused),
      T(rubbish_after_a_gzip_stream_is_refused), T(concrete_inputs_that_are_text_are_stored_or_left_out));
