/* live_pack.h - a YAML file as live_yaml.c reads it: every value with its place, aliases followed. */
#ifndef NPUSIM_SIM_LIVE_LIVE_PACK_H
#define NPUSIM_SIM_LIVE_LIVE_PACK_H

#include "sim/base/str.h"
#include "sim/base/yaml.h"

void live_pack(const struct ynode *n, struct str *out);

#endif
