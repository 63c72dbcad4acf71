/* config.h - what the commands of npusim config share. */
#ifndef NPUSIM_SIM_CLI_CONFIG_H
#define NPUSIM_SIM_CLI_CONFIG_H

#include "arch/machine/machine_conf.h"
#include "sim/cli/cmd.h"

cmd_fn cmd_config_check, cmd_config_show, cmd_config_explain, cmd_config_diff, cmd_config_tech;

/* What cfg_value or cfg_range says of row i. */
typedef void config_text_fn(const struct cfg *c, size_t i, struct str *to);
void config_text(struct doc *d, const char *key, const struct cfg *c, size_t i, config_text_fn *text);

#endif
