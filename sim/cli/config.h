/* config.h - what the commands of npusim config share. */
#ifndef NPUSIM_SIM_CLI_CONFIG_H
#define NPUSIM_SIM_CLI_CONFIG_H

#include "arch/machine/machine_conf.h"
#include "sim/cli/cmd.h"
#include "sim/report/cfg_doc.h"

cmd_fn cmd_config_list, cmd_config_check, cmd_config_show, cmd_config_explain, cmd_config_diff, cmd_config_tech;

#endif
