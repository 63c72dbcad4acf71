/* study_commands.h - the commands of the table as functions that a study runs (sim/study/answer.h). */
#ifndef NPUSIM_SIM_CLI_STUDY_COMMANDS_H
#define NPUSIM_SIM_CLI_STUDY_COMMANDS_H

#include "sim/cli/cmd.h"
#include "sim/study/answer.h"

/* `all` ends with a NULL name, and outlives the runner. */
struct answer_runner study_commands(const struct cmd *all);

#endif
