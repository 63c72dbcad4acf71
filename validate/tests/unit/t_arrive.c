/* t_arrive.c - lists of requests: as they are read, what is refused with which place, and what is drawn. */
#include "sim/serve/latency.h"

#include <string.h>

#include "validate/tests/test.h"

static int read_text(const char *text, struct arrivals *a, struct err *e)
{
	struct input *in = input_mem(text, strlen(text), "r.csv", e);
	const int rc = arrive_read(in, a, e);

	input_free(in);
	return rc;
}

TEST(columns_come_in_any_order_and_rows_by_time)
{
	struct err e = ERR_INIT;
	struct arrivals a;

	CHECK_OK(read_text("output,id,arrival_s,prompt\n7,a,1.5,100\n8,b,0.000000000001,200\n\n9,c,1.5,300\n", &a, &e),
	         e);
	CHECK_U64(a.n, 3);
	CHECK_U64(a.v[0].at, 1);
	CHECK_U64(a.v[0].output, 8);
	CHECK_U64(a.v[1].at, UINT64_C(1500000000000));
	CHECK_U64(a.v[1].prompt, 100);
	CHECK_U64(a.v[2].prompt, 300);
	CHECK_U64(a.v[2].line, 5);
	arrive_free(&a);
	CHECK_OK(read_text("prompt,output\n1,2\n3,4\n", &a, &e), e);
	CHECK_U64(a.v[1].at, 0);
	arrive_free(&a);
	CHECK_OK(read_text("arrival_ms,prompt,output\n2.5,1,2\n", &a, &e), e);
	CHECK_U64(a.v[0].at, UINT64_C(2500000000));
	arrive_free(&a);
}

/* Columns of a scheduler's, and a list of BurstGPT's as it is; both are written as they were read. */
TEST(priorities_and_patience_are_read_and_written)
{
	struct err e = ERR_INIT;
	struct str text = STR_INIT;
	struct arrivals a, b;

	CHECK_OK(read_text("arrival_s,prompt,output,priority,gives_up_ms,id\n0,1,2,7,,a\n1,3,4,0,2.5,b\n", &a, &e), e);
	CHECK(a.priorities && a.give_up && a.v[0].priority == 7 && !a.v[0].gives_up);
	CHECK_U64(a.v[1].gives_up, UINT64_C(2500000000));
	arrive_write(&a, &text);
	CHECK_OK(read_text(str_c(&text), &b, &e), e);
	for (int i = 0; i < 2; i++)
		CHECK(b.v[i].priority == a.v[i].priority && b.v[i].gives_up == a.v[i].gives_up);
	CHECK_STR(arrive_id(&b, 1), "b");
	arrive_free(&a);
	arrive_free(&b);
	str_free(&text);

	CHECK(read_text("prompt,output,priority\n1,2,-1\n", &a, &e) < 0);
	CHECK_HAS(e.msg, "a priority of '-1'");
	err_clear(&e);
	CHECK(read_text("prompt,output,gives_up_ms\n1,2,0\n", &a, &e) < 0);
	CHECK_HAS(e.msg, "a client's patience of '0' ms");
	err_clear(&e);
	CHECK_OK(read_text("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,"
	                   "Conversation log\n45,ChatGPT,1087,230,1317,Conversation log\n",
	                   &a, &e),
	         e);
	CHECK(a.n == 2 && a.v[1].prompt == 1087 && a.v[1].output == 230 && !a.priorities);
	CHECK_U64(a.v[1].at - a.v[0].at, UINT64_C(40000000000000));
	arrive_free(&a);
}

/* The head of a published trace, and a night between two rows of it. */
TEST(a_trace_of_azure_s_is_read_as_it_is)
{
	struct err e = ERR_INIT;
	struct arrivals a;

	CHECK_OK(read_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 23:59:59.5000000,374,44\n"
	                   "2023-11-17 00:00:01.2500000,396,109\n2024-03-01T00:00:00Z,1,1\n",
	                   &a, &e) < 0
	                 ? 0
	                 : -1,
	         e);
	CHECK_HAS(e.msg, "more than 30 days");
	err_clear(&e);
	CHECK_OK(read_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2024-02-28 23:59:59.5000000,374,44\n"
	                   "2024-03-01 00:00:01.2500000,396,109\n",
	                   &a, &e),
	         e);
	CHECK_U64(a.v[0].at, 0);
	CHECK_U64(a.v[1].at, UINT64_C(86401750000000000)); /* 2024 has a 29th of February */
	CHECK_U64(a.v[1].prompt, 396);
	arrive_free(&a);
}

/* What is said, and where. */
static void refused(const char *text, int line, int col, const char *why)
{
	struct err e = ERR_INIT;
	struct arrivals a;

	CHECK(read_text(text, &a, &e) < 0);
	CHECK_HAS(e.msg, why);
	CHECK_U64(e.line, line);
	CHECK_U64(e.col, col);
	CHECK_STR(e.file, "r.csv");
	CHECK(e.kind == ERR_IO && a.v == NULL);
}

TEST(what_is_no_list_of_requests_is_refused_where_it_is_not)
{
	refused("arrival_s,prompt,output\n0,5,5\n1,-5,5\n", 3, 3, "a prompt of '-5' tokens");
	refused("arrival_s,prompt,output\n0,5,0\n", 2, 5, "an output of '0' tokens");
	refused("arrival_s,prompt,output\n0,5.5,1\n", 2, 3, "whole number from 1");
	refused("arrival_s,prompt,output\n0,1e3,1\n", 2, 3, "whole number from 1");
	refused("arrival_s,prompt,output\n0,99999999999999999999,1\n", 2, 3, "whole number from 1");
	refused("arrival_s,prompt,output\n-0.5,5,5\n", 2, 1, "from 0 to 30 days");
	refused("arrival_s,prompt,output\nnan,5,5\n", 2, 1, "from 0 to 30 days");
	refused("arrival_s,prompt,output\n3e6,5,5\n", 2, 1, "from 0 to 30 days");
	refused("arrival_s,prompt,outptu\n", 1, 18, "for 'output' perhaps");
	refused("arrival_s,prompt,prompt\n", 1, 18, "there twice");
	refused("arrival_s,prompt\n0,1\n", 1, 1, "'output' is missing");
	refused("arrival_s,arrival_ms,prompt,output\n", 1, 1, "two columns");
	refused("arrival_s,prompt,output\n", 1, 1, "no rows");
	refused("", 1, 1, "empty");
	refused("arrival_s,prompt,output\n0,5\n", 2, 4, "an output of '' tokens");
	refused("arrival_s,prompt,output\n0,5,5\n1,5,5,zzz,y\n", 3, 7, "a row of 5 cells under 3 columns");
	refused("TIMESTAMP,prompt,output\nyesterday,5,5\n", 2, 1, "no date and time");
	refused("TIMESTAMP,prompt,output\n2023-11-16 10:00:00,5,5\n2023-11-15 10:00:00,5,5\n", 3, 1,
	        "before the first one");
}

TEST(a_list_that_is_written_reads_back_alike)
{
	const struct arrive_plan p = { .n = 300,
		                       .when = ARRIVE_POISSON,
		                       .gap = 123456789012,
		                       .prompt = { ARRIVE_LOGNORMAL, 300, 900 },
		                       .output = { ARRIVE_EXP, 80, 0 },
		                       .context = 1000,
		                       .seed = 7 };
	struct err e = ERR_INIT;
	struct arrivals a, b;
	struct str text = STR_INIT;

	CHECK_OK(arrive_make(&p, &a, &e), e);
	arrive_write(&a, &text);
	CHECK_OK(read_text(str_c(&text), &b, &e), e);
	CHECK_U64(a.n, b.n);
	for (size_t i = 0; i < a.n; i++) {
		CHECK(a.v[i].at == b.v[i].at && a.v[i].prompt == b.v[i].prompt && a.v[i].output == b.v[i].output);
		CHECK(a.v[i].prompt >= 1 && a.v[i].output >= 1 && a.v[i].prompt + a.v[i].output <= 1000);
	}
	str_free(&text);
	arrive_free(&a);
	arrive_free(&b);
}

/* What a server took is read with each request, goes with it, and is held against what is simulated. */
TEST(measured_times_go_with_their_requests)
{
	struct err e = ERR_INIT;
	struct arrivals a, b;
	struct str text = STR_INIT;
	struct sched_request v[2];
	const struct sched_result r = { .v = v, .n = 2 };
	struct latency_off off;

	CHECK_OK(
		read_text(
			"arrival_s,prompt,output,measured_ttft_ms,measured_total_ms\n1,5,11,100,300\n0,5,1,50.5,50.5\n",
			&a, &e),
		e);
	CHECK(a.measured);
	CHECK_U64(a.v[0].ttft, 50500 * PS_US);
	CHECK_U64(a.v[1].total, 300 * PS_MS);
	CHECK_U64(latency_measured(LATENCY_TPOT, &a.v[1]), 20 * PS_MS);
	CHECK(latency_measured(LATENCY_TPOT, &a.v[0]) == PS_NEVER);
	arrive_write(&a, &text);
	CHECK_OK(read_text(str_c(&text), &b, &e), e);
	CHECK(b.measured && a.v[0].ttft == b.v[0].ttft && a.v[1].total == b.v[1].total);
	v[0] = (struct sched_request){ .at = a.v[0].at, .first = 101 * PS_MS, .last = 101 * PS_MS };
	v[1] = (struct sched_request){ .at = a.v[1].at,
		                       .first = a.v[1].at + 50 * PS_MS,
		                       .last = a.v[1].at + 300 * PS_MS };
	CHECK_OK(latency_beside(LATENCY_TTFT, &a, &r, &off, &e), e);
	CHECK(off.n == 2 && off.mean > 74.9 && off.mean < 75.1 && off.bias > 24.9 && off.bias < 25.1);
	CHECK_OK(latency_beside(LATENCY_TPOT, &a, &r, &off, &e), e);
	CHECK(off.n == 1 && off.bias > 24.9 && off.bias < 25.1);
	str_free(&text);
	arrive_free(&a);
	arrive_free(&b);
	refused("prompt,output,measured_ttft_ms\n5,5,1\n", 1, 1, "go together");
	refused("prompt,output,measured_ttft_ms,measured_total_ms\n5,5,0,1\n", 2, 5, "above 0");
	refused("prompt,output,measured_ttft_ms,measured_total_ms\n5,5,2,1\n", 2, 7, "came before the first");
}

TEST(ids_go_with_their_requests)
{
	struct err e = ERR_INIT;
	struct arrivals a, b;
	struct str text = STR_INIT;

	CHECK_OK(read_text("id,arrival_s,prompt,output\nlate,2,10,5\n\"a \"\"b\"\",c\",1,7,8\n,3,5,5\n", &a, &e), e);
	arrive_write(&a, &text);
	CHECK_OK(read_text(str_c(&text), &b, &e), e);
	CHECK_STR(arrive_id(&b, 0), "a \"b\",c");
	CHECK_STR(arrive_id(&b, 1), "late");
	CHECK_STR(arrive_id(&b, 2), "");
	str_free(&text);
	arrive_free(&a);
	arrive_free(&b);
	CHECK_OK(read_text("prompt,output\n1,2\n", &a, &e), e);
	CHECK_STR(arrive_id(&a, 0), "");
	arrive_free(&a);
}

/* A length that is always too long is refused; tails of others are cut, and counted. */
TEST(what_a_model_does_not_take_is_said)
{
	struct arrive_plan p = { .n = 100,
		                 .prompt = { ARRIVE_FIXED, 64, 0 },
		                 .output = { ARRIVE_FIXED, 937, 0 },
		                 .context = 1000,
		                 .seed = 1 };
	struct err e = ERR_INIT;
	struct arrivals a;

	CHECK(arrive_make(&p, &a, &e) == -1 && e.kind == ERR_USAGE);
	CHECK_HAS(e.msg, "a prompt of 64 and an output of 937 tokens are more than the 1000");
	arrive_free(&a);
	e = (struct err)ERR_INIT;
	p.output.a = 936;
	CHECK_OK(arrive_make(&p, &a, &e), e);
	CHECK(a.prompts_cut == 0 && a.outputs_cut == 0);
	arrive_free(&a);
	p.prompt = (struct arrive_length){ ARRIVE_UNIFORM, 64, 1063 };
	CHECK_OK(arrive_make(&p, &a, &e), e);
	CHECK(a.prompts_cut > 0 && a.prompts_cut < 30 && a.outputs_cut > 80);
	arrive_free(&a);
}

static double mean(const struct arrivals *a, bool prompts)
{
	double sum = 0;

	for (size_t i = 0; i < a->n; i++)
		sum += prompts ? a->v[i].prompt : a->v[i].output;
	return sum / (double)a->n;
}

/* Means and spreads of what is drawn: 20,000 draws are within 2 %. */
TEST(draws_have_the_means_that_were_asked_for)
{
	struct arrive_plan p = { .n = 20000,
		                 .when = ARRIVE_POISSON,
		                 .gap = PS_MS,
		                 .prompt = { ARRIVE_EXP, 500, 0 },
		                 .output = { ARRIVE_UNIFORM, 100, 200 },
		                 .seed = 1 };
	struct err e = ERR_INIT;
	struct arrivals a;
	size_t above = 0, early = 0;

	CHECK_OK(arrive_make(&p, &a, &e), e);
	CHECK(mean(&a, true) > 490 && mean(&a, true) < 510);
	CHECK(mean(&a, false) > 149 && mean(&a, false) < 151);
	CHECK(a.v[a.n - 1].at > 19600 * PS_MS && a.v[a.n - 1].at < 20400 * PS_MS);
	for (size_t i = 1; i < a.n; i++) /* of Poisson arrivals 1 - 1/e of the gaps are below their mean */
		early += a.v[i].at - a.v[i - 1].at < PS_MS;
	CHECK(early > 12400 && early < 12900);
	arrive_free(&a);
	p.prompt = (struct arrive_length){ ARRIVE_LOGNORMAL, 512, 800 };
	p.when = ARRIVE_CONSTANT;
	CHECK_OK(arrive_make(&p, &a, &e), e);
	for (size_t i = 0; i < a.n; i++) /* of normal draws 15.87 % lie above one deviation: 512 e^0.8 = 1,139.5 */
		above += a.v[i].prompt > 1139;
	CHECK(above > 3000 && above < 3350);
	CHECK_U64(a.v[10].at, 10 * PS_MS);
	arrive_free(&a);
}

TEST(lengths_and_rates_are_words)
{
	static const char *const bad[] = { "0",           "-1",   "5.5",           "uniform:5",
		                           "uniform:9:5", "exp:", "lognormal:5:5", "norm:5:5",
		                           "1:2",         "" };
	struct err e = ERR_INIT;
	struct arrive_length l;
	ps_t gap;

	CHECK_OK(arrive_length_parse("lognormal:512:0.8", "prompt", &l, &e), e);
	CHECK(l.shape == ARRIVE_LOGNORMAL && l.a == 512 && l.b == 800);
	CHECK_OK(arrive_length_parse("512", "prompt", &l, &e), e);
	CHECK(l.shape == ARRIVE_FIXED && l.a == 512);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		CHECK(arrive_length_parse(bad[i], "prompt", &l, &e) < 0);
		CHECK_HAS(e.msg, "option '--prompt'");
		err_clear(&e);
	}
	CHECK_OK(arrive_rate_parse("4/s", &gap, &e), e);
	CHECK_U64(gap, UINT64_C(250000000000));
	CHECK_OK(arrive_rate_parse("30/min", &gap, &e), e);
	CHECK_U64(gap, UINT64_C(2000000000000));
	CHECK(arrive_rate_parse("4", &gap, &e) < 0);
	CHECK_HAS(e.msg, "4/s");
	err_clear(&e);
	CHECK(arrive_rate_parse("0.000001/min", &gap, &e) < 0);
}

/* Of Mooncake's, an object a line: times in ms, members in any order, others skipped; pages that are alike are of a kind. It is written as a
 * table that reads back alike. */
TEST(a_trace_of_mooncake_s_is_read_as_it_is)
{
	struct err e = ERR_INIT;
	struct str text = STR_INIT;
	struct arrivals a, b;

	CHECK_OK(
		read_text(
			"\n{\"timestamp\": 27482, \"input_length\": 1200, \"output_length\": 52, \"hash_ids\": [46, 47, 2353]}\n"
			"{\"hash_ids\": [46, 9], \"x\": {\"y\": []}, \"output_length\": 7, \"input_length\": 513, \"timestamp\": 0.5}\r\n"
			"{\"timestamp\": 27482, \"input_length\": 3, \"output_length\": 1}",
			&a, &e),
		e);
	CHECK_U64(a.n, 3);
	CHECK_U64(a.v[0].at, PS_MS / 2);
	CHECK_U64(a.v[1].prompt, 1200);
	CHECK_U64(a.v[1].line, 2);
	CHECK_U64(a.v[2].pages, 0);
	CHECK_U64(a.page_kinds, 4);
	CHECK(a.v[0].pages == 2 && a.v[1].pages == 3 && a.pages[a.v[0].page] == a.pages[a.v[1].page] &&
	      a.pages[a.v[0].page + 1] != a.pages[a.v[1].page + 1]);
	arrive_write(&a, &text);
	CHECK_OK(read_text(str_c(&text), &b, &e), e);
	for (size_t i = 0; i < a.n; i++) {
		CHECK(a.v[i].at == b.v[i].at && a.v[i].pages == b.v[i].pages && a.v[i].output == b.v[i].output);
		for (uint32_t k = 0; k < a.v[i].pages; k++)
			CHECK_U64(b.pages[b.v[i].page + k], a.pages[a.v[i].page + k]);
	}
	arrive_free(&a);
	arrive_free(&b);
	str_free(&text);
}

TEST(what_is_no_page_is_refused_where_it_is)
{
	static const struct {
		const char *text, *says;
		int line;
	} of[] = {
		{ "prompt,output,hash_ids\n512,1,1 2\n", "2 hash_ids of 512 tokens each for a prompt of 512", 2 },
		{ "prompt,output,hash_ids\n512,1,x\n", "no whole number", 2 },
		{ "{\"timestamp\": 0, \"input_length\": 512, \"output_length\": 1, \"hash_ids\": [1, 2]}\n",
		  "2 hash_ids", 1 },
		{ "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 1, \"hash_ids\": [-1]}\n",
		  "whole numbers", 1 },
		{ "{\"timestamp\": 0, \"input_length\": 5.5, \"output_length\": 1}\n", "'input_length' is none", 1 },
		{ "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 1}\n{\"timestamp\": 0}\n",
		  "'input_length' is missing", 2 },
		{ "{\"timestamp\": 0,\n", "", 1 },
	};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
		struct err e = ERR_INIT;
		struct arrivals a;

		CHECK(read_text(of[i].text, &a, &e) < 0);
		CHECK_HAS(e.msg, of[i].says);
		CHECK_U64(e.line, of[i].line);
		CHECK(!a.v && !a.pages);
	}
}

SUITE(t_arrive, T(a_trace_of_mooncake_s_is_read_as_it_is), T(what_is_no_page_is_refused_where_it_is),
      T(priorities_and_patience_are_read_and_written), T(columns_come_in_any_order_and_rows_by_time),
      T(a_trace_of_azure_s_is_read_as_it_is), T(what_is_no_list_of_requests_is_refused_where_it_is_not),
      T(a_list_that_is_written_reads_back_alike), T(measured_times_go_with_their_requests),
      T(ids_go_with_their_requests), T(what_a_model_does_not_take_is_said), T(draws_have_the_means_that_were_asked_for),
      T(lengths_and_rates_are_words));
