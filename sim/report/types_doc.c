/* types_doc.c - see types_doc.h. */
#include "sim/report/types_doc.h"

#include <inttypes.h>

static uint64_t all_of(const struct lower_stats *st)
{
	uint64_t n = 0;

	for (int k = 0; k < LOWER_TYPES; k++)
		n += st->types[k];
	return n;
}

void types_doc_text(const struct lower_stats *st, struct str *to)
{
	static const struct {
		enum lower_type how;
		const char *text;
	} parts[] = {
		{ LOWER_TYPE_KERNEL, "by the kernel's name" },
		{ LOWER_TYPE_NEIGHBOUR, "by ops beside them" },
		{ LOWER_TYPE_OP, "by what the op takes" },
		{ LOWER_TYPE_ASSUMED, "by --dtype" },
	};
	const uint64_t all = all_of(st), unknown = st->types[LOWER_TYPE_NONE];
	const uint64_t told = all - unknown - st->types[LOWER_TYPE_RECORDED];
	const char *between = "";

	if (!told && !unknown)
		return;
	str_addf(to, "of %" PRIu64 " of %" PRIu64 " tensors inferred: ", told, all);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (st->types[parts[i].how]) {
			str_addf(to, "%s%" PRIu64 " %s", between, st->types[parts[i].how], parts[i].text);
			between = ", ";
		}
	if (unknown)
		str_addf(to, "%s%" PRIu64 " unknown (--dtype)", told ? "; " : "", unknown);
}

void types_doc(struct doc *d, const struct lower_stats *st)
{
	if (all_of(st) == st->types[LOWER_TYPE_RECORDED])
		return;
	doc_open(d, "types", '{');
	for (int k = 0; k < LOWER_TYPES; k++)
		doc_count(d, lower_type_name((enum lower_type)k), st->types[k]);
	doc_close(d, '}');
}
