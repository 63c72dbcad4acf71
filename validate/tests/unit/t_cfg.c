/* t_cfg.c - numbers with units to the last digit, what is refused and in which words, and dump -> load. */
#include "sim/base/cfg.h"

#include <stdlib.h>

#include "sim/base/rng.h"
#include "validate/tests/test.h"

enum policy { LRU, SRRIP, KV_AWARE };
static const char *const policies[] = { "lru", "srrip", "kv-aware", NULL };

struct l2 {
	uint64_t size, bandwidth, hits;
	ps_t latency;
	uint32_t ways, fill, policy;
	bool victim;
	char note[CFG_STR_MAX];
};
struct dram_part {
	uint64_t bandwidth;
	uint32_t channels;
};
struct machine {
	uint64_t clock;
	uint32_t cores;
	struct l2 l2;
	struct dram_part dram;
};

static const struct cfg_field top_rows[] = {
	CFG_FREQ(struct machine, clock, "clock", "1.4 GHz", 100000, 4000000, NULL, "core clock", "our choice"),
	CFG_U32(struct machine, cores, "cores", "132", 1, 1024, NULL, "cores", "our choice"), CFG_END
};
static const struct cfg_field l2_rows[] = {
	CFG_BYTES(struct l2, size, "size", "50 MiB", 65536, UINT64_C(4) << 30, NULL, "capacity", "H200 whitepaper"),
	CFG_RATE(struct l2, bandwidth, "bandwidth", "5.5 TB/s", 1, UINT64_MAX, NULL, "all banks", "measured"),
	CFG_U64(struct l2, hits, "hits", "0", 0, UINT64_MAX, NULL, "a count", "our choice"),
	CFG_PS(struct l2, latency, "latency", "200 ns", 0, 1000000000, NULL, "load to use", "measured"),
	CFG_U32(struct l2, ways, "ways", "16", 1, 64, cfg_pow2, "ways", "our choice"),
	CFG_PPM(struct l2, fill, "fill", "0.85", 0, 1000000, "share", "our choice"),
	CFG_ENUM(struct l2, policy, "policy", "lru", policies, "replacement", "our choice"),
	CFG_BOOL(struct l2, victim, "victim", "false", "keep victims", "our choice"),
	CFG_STR(struct l2, note, "note", "", "free text", "our choice"),
	CFG_END
};
static const struct cfg_field dram_rows[] = {
	CFG_RATE(struct dram_part, bandwidth, "bandwidth", "4.8 TB/s", 1, UINT64_MAX, NULL, "pins", "sheet"),
	CFG_U32(struct dram_part, channels, "channels", "64", 1, 1024, cfg_pow2_or_0, "channels", "sheet"), CFG_END
};
static const struct cfg_section sections[] = { { "", top_rows, 0 },
	                                       { "l2", l2_rows, offsetof(struct machine, l2) },
	                                       { "dram", dram_rows, offsetof(struct machine, dram) },
	                                       { NULL, NULL, 0 } };

static struct cfg *up(struct machine *m)
{
	struct err e = ERR_INIT;
	struct cfg *c;

	memset(m, 0x5a, sizeof *m);
	c = cfg_new(sections, m, &e);
	if (!c)
		test_fail(__FILE__, __LINE__, "%s", e.msg);
	return c;
}

/* --- numbers ----------------------------------------------------------------------------------------------- */

TEST(numbers_with_units_are_read_exactly)
{
	static const struct {
		enum cfg_type t;
		const char *text;
		uint64_t want;
	} rows[] = {
		{ CFG_T_BYTES, "192 MiB", UINT64_C(192) << 20 },
		{ CFG_T_BYTES, "192MiB", UINT64_C(192) << 20 },
		{ CFG_T_BYTES, "  1.5   KiB  ", 1536 },
		{ CFG_T_BYTES, "0.5 TB", UINT64_C(500000000000) },
		{ CFG_T_BYTES, "80 GB", UINT64_C(80000000000) },
		{ CFG_T_BYTES, "1 kB", 1000 },
		{ CFG_T_BYTES, "0", 0 },
		{ CFG_T_BYTES, "0 B", 0 },
		{ CFG_T_BYTES, "0.0", 0 },
		{ CFG_T_BYTES, "0.0009765625 MiB", 1024 },
		{ CFG_T_BYTES, "16777215.999023437500 TiB", UINT64_MAX - ((UINT64_C(1) << 30) - 1) },
		{ CFG_T_BYTES, "18446744073709551615 B", UINT64_MAX },
		{ CFG_T_BYTES, "1.000000000000000000000000 MiB", 1 << 20 },
		{ CFG_T_RATE, "2.4 TB/s", UINT64_C(2400000000000) },
		{ CFG_T_RATE, "2.4576 TB/s", UINT64_C(2457600000000) },
		{ CFG_T_RATE, "1 GiB/s", UINT64_C(1) << 30 },
		{ CFG_T_RATE, "0.000000000001 TB/s", 1 },
		{ CFG_T_FREQ, "1.98 GHz", 1980000 },
		{ CFG_T_FREQ, "1980 MHz", 1980000 },
		{ CFG_T_FREQ, "1000 Hz", 1 },
		{ CFG_T_FREQ, "5 kHz", 5 },
		{ CFG_T_FREQ, "2617.5 MHz", 2617500 },
		{ CFG_T_PS, "14.5 ns", 14500 },
		{ CFG_T_PS, "350 ns", 350000 },
		{ CFG_T_PS, "3.9 us", 3900000 },
		{ CFG_T_PS, "1 ms", 1000000000 },
		{ CFG_T_PS, "7 ps", 7 },
		{ CFG_T_PS, "2 s", UINT64_C(2000000000000) },
		{ CFG_T_PS, "0", 0 },
		{ CFG_T_ENERGY, "1.3 pJ", 1300 },
		{ CFG_T_ENERGY, "70 fJ", 70 },
		{ CFG_T_ENERGY, "2 nJ", 2000000 },
		{ CFG_T_ENERGY, "3 uJ", UINT64_C(3000000000) },
		{ CFG_T_POWER, "700 W", 700000000 },
		{ CFG_T_POWER, "6777 mW", 6777000 },
		{ CFG_T_POWER, "2 kW", UINT64_C(2000000000) },
		{ CFG_T_POWER, "9 uW", 9 },
		{ CFG_T_AREA, "0.021 um2", 21000 },
		{ CFG_T_AREA, "4 nm2", 4 },
		{ CFG_T_AREA, "814 mm2", UINT64_C(814000000000000) },
		{ CFG_T_PPM, "0.85", 850000 },
		{ CFG_T_PPM, "85 %", 850000 },
		{ CFG_T_PPM, "6.25 %", 62500 },
		{ CFG_T_PPM, "0.0625", 62500 },
		{ CFG_T_PPM, "1", 1000000 },
		{ CFG_T_PPM, "0.0001 %", 1 },
		{ CFG_T_PPM, "2.5", 2500000 },
		{ CFG_T_PPM, "100%", 1000000 },
		{ CFG_T_U32, "132", 132 },
		{ CFG_T_U32, "4294967295", UINT32_MAX },
		{ CFG_T_U32, "7.0", 7 },
		{ CFG_T_U64, "18446744073709551615", UINT64_MAX },
		{ CFG_T_U64, "007", 7 },
		{ CFG_T_PPM, ".7", 700000 },
		{ CFG_T_BYTES, ".5 MiB", 524288 },
		{ CFG_T_BOOL, "true", 1 },
		{ CFG_T_BOOL, "off", 0 },
		{ CFG_T_BOOL, "yes", 1 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err e = ERR_INIT;
		uint64_t v = 0;

		if (cfg_parse_value(rows[i].t, rows[i].text, &v, &e) < 0)
			test_fail(__FILE__, __LINE__, "\"%s\": %s", rows[i].text, e.msg);
		if (v != rows[i].want)
			test_fail(__FILE__, __LINE__, "\"%s\" is %llu", rows[i].text, (unsigned long long)v);
	}
}

TEST(what_is_no_number_is_refused_in_plain_words)
{
	static const struct {
		enum cfg_type t;
		const char *text, *msg;
	} rows[] = {
		{ CFG_T_BYTES, "192", "'192' needs a unit: write '192 MiB'" },
		{ CFG_T_RATE, "2.4", "'2.4' needs a unit: write '2.4 TB/s'" },
		{ CFG_T_PS, "350", "'350' needs a unit: write '350 ns'" },
		{ CFG_T_ENERGY, "0.5 fJ", "is not a whole number of fJ" },
		{ CFG_T_POWER, "5 J", "write one of kW, W, mW or uW" },
		{ CFG_T_FREQ, "1.4", "'1.4' needs a unit: write '1.4 GHz'" },
		{ CFG_T_BYTES, "192 MHz",
		  "'192 MHz' has the unit 'MHz': write one of TiB, TB, GiB, GB, MiB, MB, KiB, kB or B" },
		{ CFG_T_BYTES, "192 mib", "has the unit 'mib'" },
		{ CFG_T_BYTES, "192 MB/s", "has the unit 'MB/s'" },
		{ CFG_T_BYTES, "192 Mi B", "has the unit 'Mi B'" },
		{ CFG_T_BYTES, "1_000 B", "has the unit '_000 B'" },
		{ CFG_T_BYTES, "1,5 MiB", "has the unit ',5 MiB'" },
		{ CFG_T_BYTES, "1e3 B", "'1e3 B' has an exponent: write the number out" },
		{ CFG_T_FREQ, "1e400 GHz", "has an exponent" },
		{ CFG_T_U32, "2E+5", "has an exponent" },
		{ CFG_T_BYTES, "5 e", "has the unit 'e'" },
		{ CFG_T_BYTES, "0x10 B", "has the unit 'x10 B'" },
		{ CFG_T_BYTES, "1.5.2 B", "has the unit '.2 B'" },
		{ CFG_T_RATE, "5 GB", "write one of TB/s, TiB/s, GB/s" },
		{ CFG_T_PS, "3 h", "write one of ms, us, ns, ps or s" },
		{ CFG_T_FREQ, "3 THz", "write one of GHz, MHz, kHz or Hz" },
		{ CFG_T_PPM, "3 ppm", "'3 ppm' has the unit 'ppm': write a fraction such as '0.85', or '85 %'" },
		{ CFG_T_U32, "3 MiB", "'3 MiB' is a plain count: write '3', without 'MiB'" },
		{ CFG_T_U32, "1.5", "'1.5' is not a whole number" },
		{ CFG_T_PS, "14.0005 ns", "'14.0005 ns' is not a whole number of ps" },
		{ CFG_T_BYTES, "0.1 B", "is not a whole number of bytes" },
		{ CFG_T_BYTES, "0.1 KiB", "is not a whole number of bytes" },
		{ CFG_T_FREQ, "1 Hz", "is not a whole number of kHz" },
		{ CFG_T_PPM, "0.0000001", "is not a whole number of millionths" },
		{ CFG_T_BYTES, "", "'' has no value" },
		{ CFG_T_BYTES, "   ", "has no value" },
		{ CFG_T_BYTES, "-3 MiB", "'-3 MiB' is negative" },
		{ CFG_T_PPM, "-.5", "'-.5' is negative" },
		{ CFG_T_BYTES, "+3 MiB", "'+3 MiB' is not a number: write one with its unit" },
		{ CFG_T_BYTES, "many", "is not a number" },
		{ CFG_T_BYTES, ". MiB", "is not a number" },
		{ CFG_T_BYTES, "5. MiB", "is not a number" },
		{ CFG_T_BYTES, "MiB", "is not a number" },
		{ CFG_T_U32, "", "has no value" },
		{ CFG_T_U32, "nan", "'nan' is not a number: write one" },
		{ CFG_T_BYTES, "18446744073709551616 B", "is too large" },
		{ CFG_T_BYTES, "18446744073709551615 kB", "is too large" },
		{ CFG_T_BYTES, "16777216 TiB", "is too large" },
		{ CFG_T_BYTES, "99999999999999999999999999 B", "is too large" },
		{ CFG_T_BYTES, "0.12345678901234567 TB", "has too many digits" },
		{ CFG_T_U32, "4294967296", "'4294967296' is too large" },
		{ CFG_T_PPM, "4295", "'4295' is too large" },
		{ CFG_T_BOOL, "maybe", "'maybe' is neither 'true' nor 'false'" },
		{ CFG_T_BOOL, "", "neither" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err e = ERR_INIT;
		uint64_t v = 77;

		if (cfg_parse_value(rows[i].t, rows[i].text, &v, &e) == 0)
			test_fail(__FILE__, __LINE__, "\"%s\" was taken", rows[i].text);
		CHECK(e.kind == ERR_CONFIG);
		CHECK_HAS(e.msg, rows[i].msg);
		CHECK_U64(v, 77);
	}
}

TEST(numbers_are_written_in_the_shortest_exact_way)
{
	static const struct {
		enum cfg_type t;
		uint64_t v;
		const char *want;
	} rows[] = {
		{ CFG_T_BYTES, UINT64_C(192) << 20, "192 MiB" },
		{ CFG_T_BYTES, UINT64_C(80000000000), "80 GB" },
		{ CFG_T_BYTES, 1536, "1.5 KiB" },
		{ CFG_T_BYTES, 1000, "1 kB" },
		{ CFG_T_BYTES, 128, "128 B" },
		{ CFG_T_BYTES, 0, "0 B" },
		{ CFG_T_BYTES, 1234567, "1234567 B" },
		{ CFG_T_BYTES, 65536, "64 KiB" },
		{ CFG_T_BYTES, UINT64_MAX, "18446744073709551615 B" },
		{ CFG_T_BYTES, 1, "1 B" },
		{ CFG_T_BYTES, UINT64_C(1) << 63, "8388608 TiB" },
		{ CFG_T_BYTES, UINT64_C(141) << 30, "141 GiB" },
		{ CFG_T_RATE, UINT64_C(2457600000000), "2.4576 TB/s" },
		{ CFG_T_RATE, UINT64_C(4800000000000), "4.8 TB/s" },
		{ CFG_T_RATE, UINT64_C(900000000000), "900 GB/s" },
		{ CFG_T_RATE, 1, "1 B/s" },
		{ CFG_T_FREQ, 1400000, "1.4 GHz" },
		{ CFG_T_FREQ, 1980000, "1.98 GHz" },
		{ CFG_T_FREQ, 990000, "990 MHz" },
		{ CFG_T_FREQ, 1, "1 kHz" },
		{ CFG_T_PS, 350000, "350 ns" },
		{ CFG_T_PS, 14500, "14.5 ns" },
		{ CFG_T_PS, 3900000, "3.9 us" },
		{ CFG_T_PS, 0, "0 ps" },
		{ CFG_T_PS, 7, "7 ps" },
		{ CFG_T_PPM, 850000, "0.85" },
		{ CFG_T_PPM, 62500, "0.0625" },
		{ CFG_T_PPM, 1000000, "1" },
		{ CFG_T_PPM, 0, "0" },
		{ CFG_T_PPM, 1, "0.000001" },
		{ CFG_T_PPM, 2500000, "2.5" },
		{ CFG_T_U64, UINT64_MAX, "18446744073709551615" },
		{ CFG_T_BOOL, 1, "true" },
		{ CFG_T_BOOL, 0, "false" },
	};
	struct str s = STR_INIT;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		str_clear(&s);
		cfg_format_value(rows[i].t, rows[i].v, &s);
		CHECK_STR(str_c(&s), rows[i].want);
	}
	str_free(&s);
}

TEST(every_written_number_reads_back)
{
	static const enum cfg_type types[] = { CFG_T_BYTES, CFG_T_RATE, CFG_T_FREQ, CFG_T_PS, CFG_T_U64, CFG_T_PPM };
	static const uint64_t round[] = {
		1, 1000, 1024, 1000000, 1 << 20, 1000000000, UINT64_C(1) << 30, UINT64_C(1) << 40
	};
	struct str s = STR_INIT;
	struct rng r;

	rng_seed(&r, test_seed(), "format");
	for (int i = 0; i < 200000; i++) {
		enum cfg_type t = types[rng_below(&r, 6)];
		uint64_t v = rng_u64(&r) >> rng_below(&r, 64), back = 0;
		struct err e = ERR_INIT;

		if (i % 2)
			v = v / (UINT64_C(1) << 40) * round[rng_below(&r, 8)];
		if (t == CFG_T_PPM)
			v &= UINT32_MAX;
		str_clear(&s);
		cfg_format_value(t, v, &s);
		if (cfg_parse_value(t, str_c(&s), &back, &e) < 0 || back != v)
			test_fail(__FILE__, __LINE__, "%llu -> \"%s\" -> %llu %s", (unsigned long long)v, str_c(&s),
			          (unsigned long long)back, e.msg);
	}
	str_free(&s);
}

TEST(rules_say_what_they_want)
{
	CHECK(!cfg_pow2(1) && !cfg_pow2(UINT64_C(1) << 63) && cfg_pow2(0) && cfg_pow2(3));
	CHECK(!cfg_pow2_or_0(0) && !cfg_pow2_or_0(64) && cfg_pow2_or_0(6));
	CHECK_STR(cfg_unit(CFG_T_BYTES), "bytes");
	CHECK_STR(cfg_unit(CFG_T_FREQ), "kHz");
	CHECK_STR(cfg_unit(CFG_T_U32), "");
}

/* --- one configuration ------------------------------------------------------------------------------------- */

TEST(defaults_are_applied_and_not_given)
{
	struct machine m;
	struct cfg *c = up(&m);

	CHECK_U64(m.clock, 1400000);
	CHECK_U64(m.cores, 132);
	CHECK_U64(m.l2.size, UINT64_C(50) << 20);
	CHECK_U64(m.l2.bandwidth, UINT64_C(5500000000000));
	CHECK_U64(m.l2.latency, 200000);
	CHECK_U64(m.l2.fill, 850000);
	CHECK(m.l2.policy == LRU && !m.l2.victim);
	CHECK_STR(m.l2.note, "");
	CHECK_U64(m.dram.channels, 64);
	for (size_t i = 0; i < cfg_count(c); i++)
		CHECK(!cfg_at(c, i).given);
	CHECK_U64(cfg_count(c), 13);
	cfg_free(c);
	cfg_free(NULL);
}

static void set_fails(struct cfg *c, const char *assignment, const char *msg)
{
	struct err e = ERR_INIT;

	if (cfg_set(c, assignment, &e) == 0)
		test_fail(__FILE__, __LINE__, "\"%s\" was taken", assignment);
	CHECK(e.kind == ERR_CONFIG);
	CHECK_STR(e.msg, msg);
}

TEST(a_refused_value_is_told_by_key_and_changes_nothing)
{
	static const struct {
		const char *set, *msg;
	} rows[] = {
		{ "l2.size=192", "'l2.size' needs a unit: write '192 MiB'" },
		{ "l2.size=201326592", "'l2.size' needs a unit: write '192 MiB'" },
		{ "l2.bandwidth=5.5", "'l2.bandwidth' needs a unit: write '5.5 TB/s'" },
		{ "clock=1980", "'clock' needs a unit: write '1980 MHz'" },
		{ "clock=1.98", "'clock' needs a unit: write '1.98 GHz'" },
		{ "l2.latency=350", "'l2.latency' needs a unit: write '350 ns'" },
		{ "l2.size=8 GiB", "'l2.size' is 8 GiB; the range is 64 KiB to 4 GiB" },
		{ "l2.size=65535 B", "'l2.size' is 65535 B; the range is 64 KiB to 4 GiB" },
		{ "l2.size=4 GHz",
		  "'l2.size' has the unit 'GHz': write one of TiB, TB, GiB, GB, MiB, MB, KiB, kB or B" },
		{ "l2.size=lots", "'l2.size' is not a number ('lots'): write one with its unit, such as '50 MiB'" },
		{ "l2.size=", "'l2.size' has no value" },
		{ "l2.size=-1 MiB", "'l2.size' is negative ('-1 MiB')" },
		{ "l2.ways=12", "'l2.ways' is 12, which is not a power of two" },
		{ "l2.ways=128", "'l2.ways' is 128; the range is 1 to 64, a power of two" },
		{ "cores=0", "'cores' is 0; the range is 1 to 1024" },
		{ "cores=1.5", "'cores' is not a whole number ('1.5')" },
		{ "l2.fill=1.5", "'l2.fill' is 1.5; the range is 0 to 1" },
		{ "l2.policy=lur",
		  "'l2.policy' cannot be 'lur'; did you mean 'lru'? it is one of lru, srrip or kv-aware" },
		{ "l2.policy=random", "'l2.policy' cannot be 'random': it is one of lru, srrip or kv-aware" },
		{ "l2.policy=", "'l2.policy' cannot be '': it is one of lru, srrip or kv-aware" },
		{ "l2.victim=maybe", "'l2.victim' is neither 'true' nor 'false' ('maybe')" },
		{ "l2.sise=4 MiB", "unknown key 'l2.sise'; did you mean 'l2.size'?" },
		{ "channels=4", "unknown key 'channels'; did you mean 'dram.channels'?" },
		{ "l2=4", "'l2' is a section: name one of its keys, such as 'l2.size'" },
		{ "entirely.other=4", "unknown key 'entirely.other'" },
		{ "l2.size", "'l2.size' is no assignment: write KEY=VALUE" },
		{ "=4", "unknown key ''" },
		{ "l2.note=\x01", "'l2.note' has characters that are not printable UTF-8" },
		{ "l2.note=a\xe2\x80\xa8", "'l2.note' has characters that are not printable UTF-8" },
		{ "l2.note=\xff", "'l2.note' has characters that are not printable UTF-8" },
		{ "l2.note=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		  "'l2.note' is longer than 63 bytes" },
	};
	struct machine m, before;
	struct cfg *c = up(&m);

	memcpy(&before, &m, sizeof m);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		set_fails(c, rows[i].set, rows[i].msg);
	CHECK(memcmp(&before, &m, sizeof m) == 0);
	for (size_t i = 0; i < cfg_count(c); i++)
		CHECK(!cfg_at(c, i).given);
	cfg_free(c);
}

TEST(a_set_value_is_stored_given_and_sourced)
{
	struct machine m;
	struct cfg *c = up(&m);
	struct err e = ERR_INIT;
	size_t i = 0;

	CHECK_OK(cfg_set(c, "l2.size=64 MiB", &e), e);
	CHECK_OK(cfg_set(c, "l2.policy = kv-aware", &e), e);
	CHECK_OK(cfg_set(c, "l2.note=a = b", &e), e);
	CHECK_OK(cfg_set_key(c, "l2.victim", "true", &e), e);
	CHECK_U64(m.l2.size, UINT64_C(64) << 20);
	CHECK(m.l2.policy == KV_AWARE && m.l2.victim);
	CHECK_STR(m.l2.note, "a = b");
	CHECK(cfg_given(c, "l2.size") && !cfg_given(c, "l2.ways"));
	CHECK_OK(cfg_find(c, "l2.size", &i, &e), e);
	CHECK_STR(cfg_at(c, i).source, "--set");
	cfg_forget(c, "l2.size");
	CHECK(!cfg_given(c, "l2.size"));
	CHECK_U64(m.l2.size, UINT64_C(64) << 20);
	cfg_free(c);
}

TEST(rows_are_walked_in_order_with_value_range_and_raw)
{
	struct machine m;
	struct cfg *c = up(&m);
	struct str s = STR_INIT;
	static const struct {
		const char *key, *value, *range;
	} want[] = {
		{ "clock", "1.4 GHz", "100 MHz to 4 GHz" },
		{ "cores", "132", "1 to 1024" },
		{ "l2.size", "50 MiB", "64 KiB to 4 GiB" },
		{ "l2.bandwidth", "5.5 TB/s", "at least 1 B/s" },
		{ "l2.hits", "0", "any" },
		{ "l2.latency", "200 ns", "0 ps to 1 ms" },
		{ "l2.ways", "16", "1 to 64, a power of two" },
		{ "l2.fill", "0.85", "0 to 1" },
		{ "l2.policy", "lru", "lru, srrip or kv-aware" },
		{ "l2.victim", "false", "true or false" },
		{ "l2.note", "", "text of at most 63 bytes" },
		{ "dram.bandwidth", "4.8 TB/s", "at least 1 B/s" },
		{ "dram.channels", "64", "1 to 1024, 0 or a power of two" },
	};

	for (size_t i = 0; i < cfg_count(c); i++) {
		CHECK_STR(cfg_at(c, i).key, want[i].key);
		str_clear(&s);
		cfg_value(c, i, &s);
		CHECK_STR(str_c(&s), want[i].value);
		str_clear(&s);
		cfg_range(c, i, &s);
		CHECK_STR(str_c(&s), want[i].range);
	}
	CHECK_STR(cfg_at(c, 2).section, "l2");
	CHECK_STR(cfg_at(c, 2).source, "H200 whitepaper");
	CHECK_U64(cfg_raw(c, 2), UINT64_C(50) << 20);
	CHECK_U64(cfg_raw(c, 7), 850000);
	str_free(&s);
	cfg_free(c);
}

TEST(a_schema_with_a_fault_is_refused_whole)
{
	static const struct cfg_field bad_rows[] = { CFG_U32(struct dram_part, channels, "channels", "96", 1, 1024,
		                                             cfg_pow2_or_0, "channels", "sheet"),
		                                     CFG_END };
	static const struct cfg_section bad[] = { { "dram", bad_rows, 0 }, { NULL, NULL, 0 } };
	static const struct cfg_section twice[] = { { "l2", l2_rows, 0 }, { "l2", l2_rows, 0 }, { NULL, NULL, 0 } };
	struct machine m;
	struct err e = ERR_INIT;

	CHECK(!cfg_new(bad, &m, &e));
	CHECK_STR(e.msg, "'dram.channels' is 96, which is not 0 or a power of two, "
	                 "while taking the default of 'dram.channels'");
	err_clear(&e);
	CHECK(!cfg_new(twice, &m, &e));
	CHECK_STR(e.msg, "section 'l2' is bound twice");
}

/* --- yaml -------------------------------------------------------------------------------------------------- */

static int read_text(struct cfg *c, const char *text, struct err *e)
{
	static const char *const skip[] = { "name", NULL };
	struct yaml *y = yaml_parse(text, strlen(text), "m.yaml", e);
	int rc = y ? cfg_read(c, y, yaml_root(y), skip, e) : -1;

	yaml_free(y);
	return rc;
}

TEST(a_file_sets_values_and_their_sources)
{
	struct machine m;
	struct cfg *c = up(&m);
	struct err e = ERR_INIT;
	size_t i = 0;

	CHECK_OK(read_text(c,
	                   "name: {anything: [1, 2]}\nclock: 1.98 GHz\n"
	                   "l2:\n  size: {value: 192 MiB, source: \"a paper\"}\n"
	                   "  policy: srrip\n  victim: on\n  note: 'x: \"y\"'\ndram:\n",
	                   &e),
	         e);
	CHECK_U64(m.clock, 1980000);
	CHECK_U64(m.l2.size, UINT64_C(192) << 20);
	CHECK(m.l2.policy == SRRIP && m.l2.victim);
	CHECK_STR(m.l2.note, "x: \"y\"");
	CHECK(cfg_given(c, "clock") && cfg_given(c, "l2.size") && !cfg_given(c, "dram.bandwidth"));
	CHECK_OK(cfg_find(c, "l2.size", &i, &e), e);
	CHECK_STR(cfg_at(c, i).source, "a paper");
	CHECK_OK(cfg_find(c, "clock", &i, &e), e);
	CHECK_STR(cfg_at(c, i).source, "m.yaml:2");
	CHECK_OK(cfg_set(c, "l2.size=1 MiB", &e), e);
	CHECK_OK(cfg_find(c, "l2.size", &i, &e), e);
	CHECK_STR(cfg_at(c, i).source, "--set");
	cfg_free(c);
}

TEST(faults_in_a_file_are_placed_and_shown)
{
	static const struct {
		const char *text;
		int line, col;
		const char *msg;
	} rows[] = {
		{ "l2:\n  size: 192\n", 2, 9, "'l2.size' needs a unit: write '192 MiB'" },
		{ "l2:\n  sise: 192 MiB\n", 2, 3, "unknown key 'sise' in 'l2'; did you mean 'size'?" },
		{ "dram:\n  zzzzzzz: 1\n", 2, 3, "unknown key 'zzzzzzz' in 'dram', which has bandwidth, channels" },
		{ "l3:\n  size: 1 MiB\n", 1, 1, "unknown key 'l3'; did you mean 'l2'?" },
		{ "clok: 1 GHz\n", 1, 1, "unknown key 'clok'; did you mean 'clock'?" },
		{ "nane: x\n", 1, 1, "unknown key 'nane'; did you mean 'name'?" },
		{ "l2.size: 1 MiB\n", 1, 1, "'l2.size' is nested in a file: write 'size' below 'l2:'" },
		{ "l2: 3\n", 1, 5, "section 'l2' takes keys with values, not a single value" },
		{ "l2: [a]\n", 1, 5, "section 'l2' takes keys with values, not a list" },
		{ "l2:\n  size: [1 MiB]\n", 2, 9, "'l2.size' takes one value, not a list" },
		{ "l2:\n  size:\n", 2, 8, "'l2.size' has no value" },
		{ "l2:\n  size: {source: x}\n", 2, 9, "'l2.size' has no 'value'" },
		{ "l2:\n  size: {value: 1 MiB, sorce: x}\n", 2, 24, "unknown key 'sorce'; did you mean 'source'?" },
		{ "l2:\n  size: {value: {value: 1 MiB}}\n", 2, 17, "'l2.size' takes one value, not a mapping" },
		{ "l2:\n  size: {value: 1 MiB, source: [x]}\n", 2, 32, "the source of 'l2.size' is not text" },
		{ "clock: {a: 1}\n", 1, 9, "unknown key 'a'" },
		{ "- a\n", 1, 1, "a configuration is made of sections, not a list" },
		{ "hello\n", 1, 1, "a configuration is made of sections, not a single value" },
		{ "\"\": 1\n", 1, 1, "unknown key ''" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct machine m;
		struct cfg *c = up(&m);
		struct err e = ERR_INIT;

		if (read_text(c, rows[i].text, &e) == 0)
			test_fail(__FILE__, __LINE__, "\"%s\" was taken", rows[i].text);
		CHECK(e.kind == ERR_CONFIG);
		CHECK_STR(e.msg, rows[i].msg);
		CHECK_STR(e.file, "m.yaml");
		if (e.line != rows[i].line || e.col != rows[i].col)
			test_fail(__FILE__, __LINE__, "\"%s\" is placed at %d:%d", e.msg, e.line, e.col);
		CHECK(e.src[0]);
		cfg_free(c);
	}
}

static int read_weak(struct cfg *c, const char *section, const char *text, struct err *e)
{
	struct yaml *y = yaml_parse(text, strlen(text), "part.yaml", e);
	int rc = y ? cfg_read_section(c, section, y, yaml_root(y), true, e) : -1;

	yaml_free(y);
	return rc;
}

TEST(a_weak_section_yields_to_what_was_given)
{
	struct machine m;
	struct cfg *c = up(&m);
	struct err e = ERR_INIT;

	CHECK_OK(read_text(c, "dram: {channels: 32}\n", &e), e);
	CHECK_OK(read_weak(c, "dram", "channels: 16\nbandwidth: 2 TB/s\n", &e), e);
	CHECK_U64(m.dram.channels, 32);
	CHECK_U64(m.dram.bandwidth, UINT64_C(2000000000000));
	CHECK(cfg_given(c, "dram.bandwidth"));
	CHECK_OK(read_weak(c, "dram", "bandwidth: 3 TB/s\n", &e), e);
	CHECK_U64(m.dram.bandwidth, UINT64_C(2000000000000));
	cfg_forget(c, "dram.bandwidth");
	CHECK_OK(read_weak(c, "dram", "bandwidth: 3 TB/s\n", &e), e);
	CHECK_U64(m.dram.bandwidth, UINT64_C(3000000000000));
	CHECK(read_weak(c, "dram", "channels: 3\n", &e) == -1); /* checked even where it yields */
	CHECK_STR(e.msg, "'dram.channels' is 3, which is not 0 or a power of two");
	err_clear(&e);
	CHECK(read_weak(c, "absent", "channels: 3\n", &e) == -1);
	CHECK_STR(e.msg, "there is no section 'absent'");
	cfg_free(c);
}

/* --- dump -------------------------------------------------------------------------------------------------- */

TEST(a_dump_is_grouped_by_section)
{
	struct machine m;
	struct cfg *c = up(&m);
	struct str s = STR_INIT;

	cfg_dump(c, &s);
	CHECK_STR(str_c(&s),
	          "clock: 1.4 GHz\ncores: 132\n"
	          "l2:\n  size: 50 MiB\n  bandwidth: 5.5 TB/s\n  hits: 0\n  latency: 200 ns\n  ways: 16\n  fill: 0.85\n"
	          "  policy: lru\n  victim: false\n  note: \"\"\n"
	          "dram:\n  bandwidth: 4.8 TB/s\n  channels: 64\n");
	str_free(&s);
	cfg_free(c);
}

static void random_text(struct rng *r, char out[CFG_STR_MAX])
{
	static const char *const pieces[] = {
		"a",    "Z",   "0",   " ", "'", "\"", "\\", "#", ": ",       "- ",           "{",
		"]",    ",",   "&",   "*", "!", "%",  "|",  "~", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
		"null", "...", "---", "@", "`", "?"
	};
	uint64_t n = rng_below(r, 14);

	out[0] = '\0';
	for (uint64_t i = 0; i < n; i++)
		strcat(out, pieces[rng_below(r, sizeof pieces / sizeof *pieces)]);
}

TEST(dump_and_load_is_identity_over_random_configurations)
{
	struct rng r;

	rng_seed(&r, test_seed(), "dump");
	for (int i = 0; i < 3000; i++) {
		struct machine a, b;
		struct cfg *ca = up(&a), *cb = up(&b);
		struct str one = STR_INIT, two = STR_INIT;
		struct err e = ERR_INIT;

		a.clock = 100000 + rng_below(&r, 3900001);
		a.cores = (uint32_t)(1 + rng_below(&r, 1024));
		a.l2.size = 65536 + rng_below(&r, (UINT64_C(4) << 30) - 65535);
		a.l2.bandwidth = 1 + (rng_u64(&r) >> rng_below(&r, 63)) % UINT64_MAX;
		a.l2.hits = rng_u64(&r) >> rng_below(&r, 64);
		a.l2.latency = rng_below(&r, 1000000001);
		a.l2.ways = UINT32_C(1) << rng_below(&r, 7);
		a.l2.fill = (uint32_t)rng_below(&r, 1000001);
		a.l2.policy = (uint32_t)rng_below(&r, 3);
		a.l2.victim = rng_below(&r, 2);
		random_text(&r, a.l2.note);
		cfg_dump(ca, &one);
		if (read_text(cb, str_c(&one), &e) < 0)
			test_fail(__FILE__, __LINE__, "%s in\n%s", e.msg, str_c(&one));
		cfg_dump(cb, &two);
		CHECK_STR(str_c(&two), str_c(&one));
		CHECK_U64(cfg_hash(ca), cfg_hash(cb));
		CHECK(a.clock == b.clock && a.cores == b.cores && a.l2.size == b.l2.size);
		CHECK(a.l2.bandwidth == b.l2.bandwidth && a.l2.hits == b.l2.hits && a.l2.latency == b.l2.latency);
		CHECK(a.l2.ways == b.l2.ways && a.l2.fill == b.l2.fill);
		CHECK(a.l2.policy == b.l2.policy && a.l2.victim == b.l2.victim);
		CHECK_STR(b.l2.note, a.l2.note);
		str_free(&one);
		str_free(&two);
		cfg_free(ca);
		cfg_free(cb);
	}
}

TEST(the_hash_follows_the_values_and_not_where_they_came_from)
{
	struct machine a, b;
	struct cfg *ca = up(&a), *cb = up(&b);
	struct err e = ERR_INIT;
	uint64_t h = cfg_hash(ca);

	CHECK_OK(cfg_set(cb, "l2.size=52428800 B", &e), e);
	CHECK_U64(cfg_hash(cb), h);
	CHECK_OK(cfg_set(cb, "l2.size=51 MiB", &e), e);
	CHECK(cfg_hash(cb) != h);
	CHECK_OK(cfg_set(cb, "l2.size=50 MiB", &e), e);
	CHECK_OK(cfg_set(cb, "l2.note=x", &e), e);
	CHECK(cfg_hash(cb) != h);
	cfg_free(ca);
	cfg_free(cb);
}

SUITE(t_cfg, T(numbers_with_units_are_read_exactly), T(what_is_no_number_is_refused_in_plain_words),
      T(numbers_are_written_in_the_shortest_exact_way), T(every_written_number_reads_back), T(rules_say_what_they_want),
      T(defaults_are_applied_and_not_given), T(a_refused_value_is_told_by_key_and_changes_nothing),
      T(a_set_value_is_stored_given_and_sourced), T(rows_are_walked_in_order_with_value_range_and_raw),
      T(a_schema_with_a_fault_is_refused_whole), T(a_file_sets_values_and_their_sources),
      T(faults_in_a_file_are_placed_and_shown), T(a_weak_section_yields_to_what_was_given),
      T(a_dump_is_grouped_by_section), T(dump_and_load_is_identity_over_random_configurations),
      T(the_hash_follows_the_values_and_not_where_they_came_from));
