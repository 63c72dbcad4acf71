/* t_probe_curve.c - measured curves in their three shapes, what is wrong in one, and errors to the digit. */
#include "sim/accuracy/probe_curve.h"
#include "validate/tests/test.h"

#define MIB (UINT64_C(1) << 20)

static const char *file(char *path, size_t n, const char *text)
{
	FILE *f = fopen(test_path(path, n, "curve"), "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
	return path;
}

static struct probe_curve load(const char *text)
{
	struct err e = ERR_INIT;
	struct probe_curve c;
	char path[256];

	CHECK_OK(probe_curve_load(&c, file(path, sizeof path, text), 2000000, &e), e);
	return c;
}

static bool about(double got, double want)
{
	return got > want * (1 - 1e-12) && got < want * (1 + 1e-12);
}

TEST(clocks_become_nanoseconds_by_the_machines_clock)
{
	struct probe_curve c = load("# a comment, with a comma\nbytes,clk\n1000,300\r\n\n2000,301.5\n");

	CHECK_U64(c.n, 2);
	CHECK_U64(c.bytes[1], 2000);
	CHECK(c.ns[0] == 150 && about(c.ns[1], 150.75) && c.l1);
}

TEST(nanoseconds_stay)
{
	struct probe_curve c = load("bytes,ns\n1000,300\n");

	CHECK(c.n == 1 && c.ns[0] == 300);
}

TEST(a_dat_file_is_four_columns_by_blanks)
{
	struct probe_curve c = load("# N (bytes)  (KiB)  (MiB)  cycles\n256 0 0 44\n  352\t0 0 50.5\n\n");

	CHECK(c.n == 2 && c.bytes[1] == 352 && c.ns[0] == 22 && about(c.ns[1], 25.25));
}

TEST(of_a_benchmarks_rows_the_chase_past_the_l1_counts_on_sm_0_the_first_time)
{
	struct probe_curve c = load("name,params,reps,min,median,max,unit,method\n"
	                            "globaltimer_step,reads=4096,4096,32,32,96,ns,timer\n"
	                            "chase_ns,bytes=16384;path=l1;sm=0,9,20,20.8,20.9,ns,timer\n"
	                            "chase_ns,bytes=16384;path=l2;sm=0,9,151,151.26,152,ns,timer\n"
	                            "chase_clk,bytes=16384;path=l2;sm=0,9,298,299.23,300,clk,clock\n"
	                            "chase_ns,bytes=65536;path=l2;sm=0,9,148,148.5,149,ns,timer\n"
	                            "chase_ns,bytes=65536;path=l2;sm=12,9,148,999,149,ns,timer\n"
	                            "chase_ns,bytes=65536;path=l2;sm=0,9,148,999,149,ns,timer\n");

	CHECK(c.n == 2 && c.ns[0] == 151.26 && c.ns[1] == 148.5 && !c.l1);
	CHECK(probe_curve_counted(&c, 0));
}

static void wrong(const char *text, int line, const char *why)
{
	struct err e = ERR_INIT;
	struct probe_curve c;
	char path[256];

	CHECK(probe_curve_load(&c, file(path, sizeof path, text), 1000000, &e) < 0);
	CHECK(e.kind == ERR_IO);
	CHECK_U64(e.line, line);
	CHECK_HAS(e.msg, why);
}

TEST(what_is_wrong_in_a_curve_is_said_with_its_line)
{
	wrong("bytes,clk\n1000,30x\n", 2, "'30x' is no number above 0");
	wrong("bytes,clk\n1000\n", 2, "'' is no number");
	wrong("bytes,clk\n1000,-3\n", 2, "above 0");
	wrong("bytes,clk\n2000,1\n1000,1\n", 3, "must grow");
	wrong("bytes,clk\n2000000000000,1\n", 2, "1 TiB");
	wrong("size,latency\n", 1, "a curve begins with");
	wrong("bytes,furlongs\n", 1, "a curve begins with");
	wrong("1 2 3\n", 1, "a curve begins with");
	wrong("# nothing\n", 0, "has no footprint");
}

TEST(more_footprints_than_a_probe_has_points_are_refused)
{
	static char text[16384];
	size_t n = (size_t)snprintf(text, sizeof text, "bytes,clk\n");

	for (int i = 0; i < PROBE_MEM_POINTS + 1; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%d,1\n", i + 1);
	wrong(text, PROBE_MEM_POINTS + 2, "more than 80 footprints");
}

TEST(plateaus_and_errors_are_those_of_the_counted_footprints)
{
	struct probe_curve c = { .bytes = { 4096, 512 << 10, MIB, 2 * MIB, 8 * MIB, 16 * MIB },
		                 .ns = { 10, 100, 100, 200, 400, 500 },
		                 .l1 = true,
		                 .n = 6 };
	struct probe_mem_point x[6] = { { .mean_ns = 100 }, { .mean_ns = 101 }, { .mean_ns = 103 },
		                        { .mean_ns = 100 }, { .mean_ns = 400 }, { .mean_ns = 490 } };
	struct probe_curve_sum s = probe_curve_compare(&c, x, 3 * MIB);

	CHECK_U64(s.counted, 5);
	CHECK(s.l2.n == 2 && s.l2.measured == 100 && s.l2.simulated == 102);
	CHECK(s.dram.n == 2 && s.dram.measured == 450 && s.dram.simulated == 445);
	CHECK(s.worst == 0.5 && s.worst_bytes == 2 * MIB);
	CHECK(s.median > 0.02 - 1e-9 && s.median < 0.02 + 1e-9);
	CHECK(s.mean > 0.112 - 1e-9 && s.mean < 0.112 + 1e-9);
	c.l1 = false;
	CHECK_U64(probe_curve_compare(&c, x, 3 * MIB).counted, 6);
}

TEST(of_bandwidths_the_rows_of_the_machine_are_read)
{
	struct probe_rate r[PROBE_RATES];
	struct err e = ERR_INIT;
	char path[256];

	file(path, sizeof path,
	     "# c\ndevice,kernel,peak_gbps,gbps,what,source\na,read,100,90,\"x, y\",s\nb,copy,1,1,z,t\n");
	CHECK_U64(probe_rates_load(r, path, "a", &e), 1);
	CHECK_STR(r[0].kernel, "read");
	CHECK_STR(r[0].what, "x, y");
	CHECK(r[0].peak_gbps == 100 && r[0].gbps == 90);
	CHECK(probe_rates_load(r, path, "c", &e) < 0);
	CHECK_HAS(e.msg, "no row of the device 'c'");
	err_clear(&e);
	file(path, sizeof path, "device,kernel,gbps\n");
	CHECK(probe_rates_load(r, path, "a", &e) < 0);
	CHECK_HAS(e.msg, "has the columns");
	err_clear(&e);
	file(path, sizeof path, "device,kernel,peak_gbps,gbps,what,source\na,read,100\n");
	CHECK(probe_rates_load(r, path, "a", &e) < 0);
	CHECK_U64(e.line, 2);
	CHECK_HAS(e.msg, "3 fields, not 6");
}

SUITE(t_probe_curve, T(clocks_become_nanoseconds_by_the_machines_clock), T(nanoseconds_stay),
      T(a_dat_file_is_four_columns_by_blanks),
      T(of_a_benchmarks_rows_the_chase_past_the_l1_counts_on_sm_0_the_first_time),
      T(what_is_wrong_in_a_curve_is_said_with_its_line), T(more_footprints_than_a_probe_has_points_are_refused),
      T(plateaus_and_errors_are_those_of_the_counted_footprints), T(of_bandwidths_the_rows_of_the_machine_are_read));
