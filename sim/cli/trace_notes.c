/* trace_notes.c - what an import lacks, assumes or keeps that may be private: notes on stderr. */
#include "sim/cli/cmd.h"

#include <stdio.h>

void cmd_trace_capture_note(const char *file, const struct trace_import_stats *st)
{
	if (st->killed)
		fprintf(stderr,
		        "npusim: note: the program of '%s' did not end by itself: what it did in its last second may be"
		        " missing%s\n",
		        file, st->cut ? ", and a record was cut off" : "");
	if (st->lost)
		fprintf(stderr, "npusim: note: '%s' lacks %lld records, which the driver could not keep or time\n",
		        file, (long long)st->lost);
}

void cmd_trace_private_note(const char *file, const struct trace_import_stats *st, bool redact)
{
	if (st->command || st->texts)
		fprintf(stderr, "npusim: note: '%s' has %s%s%s: %s\n", file, st->command ? "a command line" : "",
		        st->command && st->texts ? " and " : "",
		        st->texts ? "concrete inputs of operators that are text" : "",
		        redact ? "left out" : "stored as read; '--redact' leaves it out");
}

void cmd_trace_import_note(const char *file, const struct trace_import_stats *st, bool context_given)
{
	if (st->stats)
		fprintf(stderr,
		        "npusim: note: '%s' is aggregated: its kernels are known only as statistics of %lld names;"
		        " they can be ranked and not run\n",
		        file, (long long)st->stats);
	if (st->context)
		fprintf(stderr, "npusim: note: '%s' replays a table of kernels, with a context of %lld tokens%s\n",
		        file, (long long)st->context, context_given ? "" : " that it assumes; '--context' changes it");
	if (st->untimed)
		fprintf(stderr,
		        "npusim: note: %lld of %lld kernels in '%s' have no duration among their metrics: they are"
		        " stored with 0\n",
		        (long long)st->untimed, (long long)st->kernels, file);
	if (st->unlisted)
		fprintf(stderr,
		        "npusim: note: %lld of %lld kernels in '%s' are no ops that are known here, or their shapes do not go"
		        " together: nothing is modelled of those ('npusim trace ops --all' lists them)\n",
		        (long long)st->unlisted, (long long)st->kernels, file);
	if (st->refuted)
		fprintf(stderr,
		        "npusim: note: in '%s' the ids of %lld launches name operators that are not around their calls; they"
		        " do not count, and %lld launches are linked by nesting\n",
		        file, (long long)st->refuted, (long long)st->nested);
}
