/* study_commands.h - the commands of the table as functions that a study runs (sim/study/experiment.h), and the files they name. */
#ifndef NPUSIM_SIM_CLI_STUDY_COMMANDS_H
#define NPUSIM_SIM_CLI_STUDY_COMMANDS_H

#include "sim/cli/cmd.h"
#include "sim/report/experiment_doc.h"

/* `all` ends with a NULL name, and outlives the runner. */
struct experiment_runner study_commands(const struct cmd *all);
/* A file, or the name of a study that comes with npusim, which is told by where it lies there and not on this machine. */
struct experiment *study_load(const char *name, const struct experiment_runner *by, struct err *e);
/* A study's page in a folder; NULL: out of memory. */
char *study_page_in(const char *folder, const struct experiment *x);
/* Pages (in a folder, or NULL) and claims against all that commands read. */
int study_check_files(const struct opt_cmd *cmd, const struct opt_list *args, const struct experiments *s,
                      const char *pages, struct err *e);

#endif
