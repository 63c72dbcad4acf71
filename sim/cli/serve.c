/* serve.c - npusim serve: requests that arrive over time, on one machine. */
#include "sim/cli/serve.h"

static int serve(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct serve_line *l = options;
	struct serve_opts *o = l->o;
	struct serve_run r = { .o = NULL };
	int rc = -1;

	(void)args;
	o->ask.sets = l->sets.v;
	o->ask.n_sets = l->sets.n;
	if (l->output && !str_suffix(l->output, ".html"))
		return err_set(e, ERR_USAGE, "'%s' is no page: option '--output' writes FILE.html", l->output);
	if (!o->ask.config && !o->ask.prefill && !o->ask.decode)
		return opt_machine_missing(e);
	if (opt_jobs(&o->ask.jobs, STEPS_JOBS, e) == 0 && serve_options(o, e) == 0 && serve_load(&r, &o->ask, e) == 0)
		rc = serve_answer(&r, l, d, e);
	serve_free(&r);
	cfg_free(o->engine_rows);
	return rc;
}

int cmd_serve(int argc, char **argv, struct str *out, struct err *e)
{
	struct serve_opts o = SERVE_OPTS_INIT;
	struct serve_line l = { .o = &o };
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &o.ask.config, "CONFIG[:N]",
		  "the machine, in YAML; of several alike ('dsocr:4') each serves requests of its own" },
		{ 0, "prefill", OPT_TEXT, &o.ask.prefill, "CONFIG[:N]",
		  "in place of -c, with '--decode': machines that compute prompts, up to the first token" },
		{ 0, "decode", OPT_TEXT, &o.ask.decode, "CONFIG[:N]",
		  "machines that make all tokens after it, once a prompt's cache has moved there" },
		{ 0, "router", OPT_TEXT, &o.router, "least|robin",
		  "which of several machines a request goes to: the one with the fewest (default), or each in turn" },
		{ 0, "kv-rate", OPT_TEXT, &o.kv_rate, "RATE",
		  "at which a cache moves between two machines, '50 GB/s'; by default a send over the slower of their links" },
		{ 0, "kv-latency", OPT_PS, &o.ask.kv_latency, "TIME",
		  "with '--kv-rate': of each move; 0 ns by default" },
		{ 0, "kv-copy", OPT_TEXT, &o.kv_copy, "beside|stop",
		  "whether steps go on while a cache moves: beside, by copy engines or an adapter; stop, by a kernel of the library. By"
		  " default as the engine does, and without one an NPU's go on and a GPU's stop" },
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o.ask.workload, WORKLOAD_SERVE) },
		{ 'r', "requests", OPT_READ, &o.ask.requests, "REQUESTS.csv",
		  "the list: columns arrival_s (or arrival_ms; without either all come at once), prompt and output, in tokens; Azure's,"
		  " BurstGPT's and Mooncake's as they are ('npusim help requests')" },
		{ 0, "rate", OPT_TEXT, &o.ask.rate, "RATE", "draw requests: so many arrive, 4/s or 30/min" },
		{ 0, "number", OPT_COUNT, &o.ask.n, "N", "of requests that are drawn; 1000 by default" },
		{ 0, "prompt", OPT_TEXT, &o.ask.prompt, "LENGTH",
		  "of requests that are drawn, in tokens: 512 (default), uniform:128:1024, exp:512, lognormal:512:0.8" },
		{ 0, "output", OPT_TEXT, &o.ask.output, "LENGTH", "the same of what is produced; 128 by default" },
		{ 0, "arrivals", OPT_TEXT, &o.ask.arrivals, "poisson|constant|at-once",
		  "how they arrive: at random (default), evenly, or all before the first step" },
		{ 0, "write-requests", OPT_WRITE, &l.write, "FILE.csv",
		  "write the list there, drawn or read, as -r reads it" },
		{ 0, "max-batch", OPT_COUNT, &o.batch, "N", "sequences at a time; 64 by default" },
		{ 0, "max-tokens", OPT_COUNT, &o.tokens, "N",
		  "tokens of a step, of sequences that decode and of prompts; 2048 by default, or as many as the batch and a chunk"
		  " need" },
		{ 0, "chunk", OPT_U64, &o.chunk, "N",
		  "tokens of prompts in a step beside whatever decodes; 512 by default. 0: prompts are computed whole, in steps of their"
		  " own, and nobody decodes meanwhile" },
		{ 0, "block", OPT_COUNT, &o.block, "TOKENS",
		  "of a block of the paged KV cache, a power of two; 16 by default" },
		{ 0, "memory", OPT_PPM, &o.ask.share_ppm, "SHARE",
		  "of 'dram.capacity' to be used; what weights and activations leave of it is the cache's. 90 % by default" },
		{ 0, "kv-memory", OPT_TEXT, &o.ask.kv_memory, "SIZE", "of the cache, in place of that: '8 GiB'" },
		{ 0, "reserve", OPT_TEXT, &o.reserve, "prompt|all",
		  "blocks that must be free before a request is let in: its prompt's (default), or those of all its output, too: then"
		  " nobody ever gives up blocks" },
		{ 0, "preempt", OPT_TEXT, &o.preempt, "recompute|swap",
		  "what becomes of who gives up blocks: its tokens are computed again (default), or its blocks go to the host and"
		  " back" },
		{ 0, "swap-rate", OPT_TEXT, &o.swap_rate, "RATE",
		  "to the host and back; '32 GB/s' by default, as PCIe 4.0 with 16 lanes" },
		{ 0, "draft", OPT_COUNT, &o.draft, "K",
		  "speculate: each step checks K drafted tokens of each sequence; none by default" },
		{ 0, "accept", OPT_PPM, &o.accept_ppm, "P",
		  "the chance that a drafted token is right where those before it are" },
		{ 0, "draft-model", OPT_READ, &o.ask.draft_model, "MODEL",
		  "who drafts, on the same machine: a step of its own for each token" },
		{ 0, "draft-share", OPT_PPM, &o.ask.draft_ppm, "SHARE",
		  "what a drafted token costs of a step without speculation, in place of a model: 0 (default) where drafts are looked up"
		  " in the prompt, some 5 % for heads on the model itself" },
		{ 0, "concurrency", OPT_COUNT, &o.concurrency, "N",
		  "a closed loop: N requests come at once, and one more whenever one leaves; the times of a list do not count then" },
		{ 0, "curve", OPT_FLAG, &o.curve, NULL,
		  "closed loops of 1, 2, 4, ... requests up to the batch: tokens a second of a user beside those of the machine" },
		{ 0, "engine", OPT_TEXT, &o.engine, "NAME",
		  "vllm, trtllm, sglang, none or a file, the engine that serves: what its host adds to each step and request, and its batching where no option says otherwise"
		  " (configs/engine). None by default: no host" },
		{ 0, "prefix-cache", OPT_FLAG, &o.prefix, NULL,
		  "whoever gave up its blocks finds those again that nobody took meanwhile, and of a list with hash_ids what others computed of"
		  " its prompt ('npusim help requests')" },
		{ 0, "overhead", OPT_PS, &o.overhead, "TIME",
		  "of the host between two steps, in place of the engine's; 0 ns by default" },
		{ 0, "slo-ttft", OPT_PS, &o.ask.slo_ttft, "TIME",
		  "a bound for the time to the first token: exit code 1 where more than 1 % of the requests take longer" },
		{ 0, "slo-tpot", OPT_PS, &o.ask.slo_tpot, "TIME",
		  "the same for the time of each token after the first" },
		{ 0, "find-rate", OPT_FLAG, &o.find, NULL,
		  "find the largest rate of requests at which both bounds are met, and which of them holds it; of a list (-r) its times are"
		  " stretched. What is told then is that rate's" },
		{ 0, "share", OPT_PPM, &o.ask.slo_ppm, "P%",
		  "of the requests are to meet the bounds, for --find-rate; 99 % by default" },
		{ 0, "limits", OPT_FLAG, &o.limits, NULL,
		  "with --find-rate: double each big resource of the machine, of two pools of either (decode:dram.channels) and the way"
		  " between, and each limit of the policy, one at a time, and find the rate again: what raises it most" },
		{ 's', "set", OPT_SETS, &l.sets, "KEY=VALUE",
		  "change a parameter of the machine first; may be repeated" },
		{ 0, "fidelity", OPT_TEXT, &o.fidelity, "event|analytic",
		  "how steps are simulated: in closed form (default), or with events, which takes several times as long" },
		{ 0, "start", OPT_TEXT, &o.start, "steady|cold",
		  "what is on chip when a step begins, as for 'npusim run'. By default what a step like it leaves (steady); on a GPU nothing"
		  " (cold), which takes half as long to simulate and is within 0.1 % of it, as weights are many times its L2" },
		{ 0, "steps", OPT_TEXT, &o.steps, "grid|exact",
		  "simulate steps on a grid of batch, context and chunk and read the others off lines between them (default), or every step that"
		  " differs in anything" },
		{ 0, "check", OPT_U64, &o.ask.check, "N",
		  "simulate up to N of the steps that only decode, and of those with prompts, as they are, and say how far the grid was"
		  " off; 4 by default" },
		{ 'j', "jobs", OPT_COUNT, &o.ask.jobs, "N",
		  "workers; as many as there are processors by default. The answer does not depend on it" },
		{ 0, "seed", OPT_U64, &o.ask.seed, "N", "of everything drawn at random; 1 by default" },
		{ 0, "timeline", OPT_WRITE, &o.timeline, "OUT.json",
		  "write steps, batch, queue and blocks over time there, for ui.perfetto.dev" },
		{ 'o', "output", OPT_WRITE, &l.output, "PAGE.html",
		  "write a page of it there, for any browser: waits of each request, and of a list that was measured both; with --curve the curve" },
		{ 0, "format", OPT_TEXT, &l.format, CMD_FORMATS, CMD_FORMAT_HELP "; csv has the requests" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim serve (-c CONFIG | --prefill CONFIG --decode CONFIG) -m MODEL (-r REQUESTS.csv | --rate RATE | --find-rate) [--number N] [--prompt LENGTH] [--output LENGTH] [options]",
		"Serves requests that arrive over time, as an inference engine does, on one machine, on several alike, or on some that"
		" compute prompts and others that decode: continuous batching, prompts in chunks"
		" beside what decodes, a paged KV cache, speculation. It says how long people wait for the first token (TTFT) and for each"
		" one after it (TPOT), how many tokens and requests a second that is, how full the memory gets, and what it takes in"
		" joules where the machine's power is modelled. Each distinct step is simulated once, so a thousand requests take seconds."
		" Nothing is stored in a database: --format json and csv are what to keep.",
		"npusim serve -c configs/npu/dsocr.yaml -m llama-3.1-8b --rate 2/s --prompt 512 --output 128\n"
		"npusim serve -c configs/npu/dsocr.yaml -m llama-3.1-8b -r workloads/requests/chat.csv\n"
		"npusim serve -c configs/gpu/h200.yaml -m llama-3.1-8b --rate 20/s --slo-ttft '500 ms' --slo-tpot '30 ms'\n"
		"npusim serve -c configs/npu/dsocr.yaml -m llama-3.2-1b --find-rate --slo-ttft '200 ms' --slo-tpot '30 ms' --limits\n"
		"npusim serve --prefill hgx-h200 --decode dsocr-8:4 -m llama-3.1-8b --rate 20/s --prompt 2048 --output 128\n"
		"npusim serve --prefill dsocr:2 --decode dsocr:2 --kv-rate '50 GB/s' -m llama-3.2-1b --find-rate --slo-ttft '200 ms' --slo-tpot '30 ms'\n"
		"npusim serve -c configs/npu/dsocr.yaml -m llama-3.1-8b --arrivals at-once --max-batch 32 --chunk 0\n"
		"npusim serve -c configs/npu/dsocr.yaml -m llama-3.2-1b --curve --number 200 -o /tmp/curve.html\n"
		"npusim serve -c configs/npu/dsocr.yaml -m llama-3.1-8b --rate 2/s --draft 4 --accept 0.7 --draft-model llama-3.2-1b\n"
		"npusim serve -c configs/npu/dsocr.yaml -m llama-3.1-8b --rate 2/s --kv-memory '2 GiB' --preempt swap --timeline /tmp/serve.json\n",
		opts,
		0,
		0
	};

	return cmd_do(&cmd, &l.format, serve, &l, argc, argv, out, e);
}
