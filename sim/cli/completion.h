/* completion.h - what the files of npusim completion share. */
#ifndef NPUSIM_SIM_CLI_COMPLETION_H
#define NPUSIM_SIM_CLI_COMPLETION_H

#include "sim/cli/cmd.h"

struct completion_words {
	char **v;
	int n;
};

/* One line of the answer, where `word` begins with what was typed. */
void completion_candidate(const char *before, const char *word, const char *tail, const char *typed, const char *help,
                          struct str *out);
/* Words of a kind that an option table names, "@KIND<tab>BEFORE" of opt_complete: parameters and their values, memories, ranges
 * of a trace, files. */
int completion_of_kind(const struct completion_words *w, const char *line, struct str *out, struct err *e);

#endif
