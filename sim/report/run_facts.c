/* run_facts.c - what was run on what, as labelled lines: those of the first page, eighty columns wide, and those of --all. */
#include "sim/report/run.h"

#include <inttypes.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/report/run_verdict.h"
#include "sim/report/types_doc.h"
#include "workloads/known.h"
#include "workloads/model/count.h"

#define WIDTH      80
#define WARNS_MOST 3

void run_verdict(const struct run_report *r, struct doc *d)
{
	struct str lines[VERDICT_LINES] = VERDICT_INIT;
	const int n = r->verdict ? run_verdict_text(r->verdict, lines) : 0;

	for (int i = 0; i < n; i++)
		doc_say(d, i == 0 && d->as == OUT_TABLE && d->colour ? "\033[1m%s\033[0m\n" : "%s\n", str_c(&lines[i]));
	if (n)
		doc_say(d, "\n");
	for (int i = 0; i < VERDICT_LINES; i++) {
		d->to->failed |= lines[i].failed;
		str_free(&lines[i]);
	}
}

/* --- each, in lines; nothing where there is nothing to say of it ------------------------------------------------------ */

void run_machine_text(const struct run_report *r, struct str *to)
{
	char hash[17], file[sizeof r->conf->path];

	hash_hex(r->result->config_hash, hash);
	machine_conf_file(r->conf, file, sizeof file);
	str_addf(to, "%s (%s%shash %s)", r->conf->cfg.name, file, *file ? ", " : "", hash);
	if (!r->whole)
		str_addf(to, ", %s", r->result->engine->events ? "simulated with events" : "in closed form");
}

static void of_kernels(const struct run_report *r, struct str *to)
{
	str_addf(to, ": %" PRIu64 " kernels, %" PRIu64 " copies and sets, %zu ops", r->lowered->kernels,
	         r->lowered->launches - r->lowered->kernels, r->stream->n_ops);
}

static void workload(const struct run_report *r, struct str *to)
{
	const char *range = r->trace->range;

	str_add(to, r->trace->path);
	if (!r->whole) {
		if (range)
			str_addf(to, ", %s", range);
		if (run_unmeasured(r))
			str_addf(to, ": %zu ops, nothing measured of them", r->stream->n_ops);
		else
			of_kernels(r, to);
		if (r->start != RUN_STEADY)
			str_addf(to, "; start %s", run_start_name(r->start));
	} else if (r->model) {
		str_addf(to, ": %s: %zu ops by description, nothing measured", range, r->stream->n_ops);
	} else if (r->given) {
		str_addf(to, ", a tile program: %zu commands for %zu ops, nothing mapped or measured",
		         r->result->map->prog.n_cmds, r->stream->n_ops);
	} else if (r->scaled) {
		str_addf(to, ", %s: %zu ops, nothing measured of them", range, r->stream->n_ops);
	} else {
		str_addf(to, ", %s%s",
		         !range                             ? "all of it"
		         : str_prefix(range, "rewritten: ") ? "all of it "
		                                            : "range ",
		         range ? range : "");
		of_kernels(r, to);
	}
}

static void left_out(const struct run_report *r, struct str *to)
{
	if (r->model)
		model_left_out_text(r->model, to);
}

void run_split_text(const struct run_report *r, struct str *to)
{
	static const enum workload_key keys[] = { WORKLOAD_KEY_TP, WORKLOAD_KEY_PP, WORKLOAD_KEY_EP, WORKLOAD_KEY_DP };

	if (!r->splits)
		return;
	str_addf(to, "the fastest of %u in closed form:", r->splits);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		struct workload_spec spec = *r->spec;
		const char *n = *(const char **)workload_place(&spec, keys[i]);

		if (n)
			str_addf(to, " --%s %s", workload_rows[keys[i]].name, n);
	}
}

static void types(const struct run_report *r, struct str *to)
{
	if (r->lowered)
		types_doc_text(r->lowered, to);
}

static void interval(const struct run_report *r, struct str *to)
{
	if (r->verdict)
		run_verdict_classes(r->verdict, to);
}

static void table(const struct run_report *r, struct str *to)
{
	if (!ops_listed_all(r->stream))
		return;
	str_add(to, "of ops: each waits for the row before it and has operands of its own");
	if (r->whole)
		str_addf(to, "; %zu of them say no measured time", ops_listed_without_time(r->stream));
}

static void replay(const struct run_report *r, struct str *to)
{
	if (strcmp(r->trace->tool, "replay") != 0)
		return;
	if (r->whole)
		str_addf(to,
		         "a published table of kernels in the order of another trace: %s (--context), copies without"
		         " time",
		         r->trace->command);
	else
		str_add(to, r->trace->command);
}

static void start(const struct run_report *r, struct str *to)
{
	static const char *const texts[RUN_STARTS] = {
		[RUN_COLD] = "cold: the first time through, with nothing on chip",
		[RUN_RESIDENT] =
			"resident: run once to warm up, then measured with operands in SRAM as far as they fit",
		[RUN_STEADY] = "steady: run once to warm up, then measured",
	};

	str_add(to, texts[r->start]);
}

static void experts(const struct run_report *r, struct str *to)
{
	const bool whole = r->whole;

	if (!r->stream->n_routes)
		return;
	str_addf(to, "%zu routers; an expert is picked again with probability %.4g (%s%s)", r->stream->n_routes,
	         (double)r->result->reuse_ppm / 1e6, r->reuse_given ? "--expert-reuse" : "assumed, top-k over experts",
	         whole && !r->reuse_given ? ": a trace does not say which are picked" : "");
	if (r->lowered && r->lowered->inferred_groups)
		str_add(to, whole ? "; how many rows each has is inferred: even picks" : "; their rows are inferred");
}

static void fidelity(const struct run_report *r, struct str *to)
{
	str_addf(to, "%s: ", r->result->engine->how);
	if (r->result->engine->events)
		str_addf(to, "%" PRIu64 " events, ", r->result->events);
	str_addf(to, "%" PRIu64 " cycles", r->result->cycles);
}

static void unknown(const struct run_report *r, struct str *to)
{
	if (r->not_validated)
		str_addf(to, "not validated, on no machine: %s", r->not_validated);
}

static void warnings(const struct run_report *r, struct str *to)
{
	for (size_t i = 0; i < r->diags->n && (r->whole || i < WARNS_MOST); i++)
		str_addf(to, "%s\n", r->diags->v[i].text);
}

struct fact {
	const char *label;
	void (*text)(const struct run_report *r, struct str *to);
};

void run_facts(const struct run_report *r, struct doc *d)
{
	static const struct fact first_page[] = {
		{ "machine", run_machine_text },
		{ "workload", workload },
		{ "left out", left_out },
		{ "split", run_split_text },
		{ "aligned", run_align_text },
		{ "rewritten", run_rewrite_text },
		{ "types", types },
		{ "interval", interval },
		{ "compared", run_compared },
		{ "table", table },
		{ "replay", replay },
		{ "experts", experts },
		{ "unknown", unknown },
		{ "warning", warnings },
		{ "energy", run_energy_line },
		{ NULL, NULL },
	};
	static const struct fact all[] = {
		{ "machine", run_machine_text },
		{ "workload", workload },
		{ "left out", left_out },
		{ "split", run_split_text },
		{ "types", types },
		{ "aligned", run_align_text },
		{ "rewritten", run_rewrite_text },
		{ "table", table },
		{ "replay", replay },
		{ "start", start },
		{ "experts", experts },
		{ "fidelity", fidelity },
		{ "unknown", unknown },
		{ "interval", interval },
		{ "accuracy", run_trust },
		{ "warning", warnings },
		{ NULL, NULL },
	};
	struct str t = STR_INIT;

	for (const struct fact *f = r->whole ? all : first_page; f->label; f++) {
		str_clear(&t);
		f->text(r, &t);
		doc_say_fact(d, f->label, str_c(&t), r->whole ? 0 : WIDTH);
		d->to->failed |= t.failed;
	}
	doc_say(d, "\n");
	str_free(&t);
}
