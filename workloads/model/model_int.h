/* model_int.h - a description while it is read; for workloads/model only. */
#ifndef NPUSIM_WORKLOADS_MODEL_MODEL_INT_H
#define NPUSIM_WORKLOADS_MODEL_MODEL_INT_H

#include "sim/base/yaml.h"
#include "workloads/model/model.h"

struct reader {
	const struct yaml *y;
	const struct yaml *beside; /* its hf_quant_config.json; NULL: none */
	struct model *m;
	struct err *e;
};

/* Takes `y`; NULL: its reader said why. */
struct model *model_of_yaml(struct yaml *y, const struct yaml *beside, struct err *e);
/* Absent, null or empty. */
bool model_is_null(const struct ynode *n);
int model_number(struct reader *r, const struct ynode *n, uint64_t least, uint64_t most, uint32_t *out);
/* What every decoder needs is there; what follows from the rest is filled in. */
int model_need(struct reader *r, const struct ynode *map);
int model_check(struct reader *r, const struct ynode *map);
int model_read_quant(struct reader *r, const struct ynode *map);
/* model_quant.c: of the map that says how a checkpoint is stored. -1: no memory. */
int model_read_checkpoint(struct model *m, const struct ynode *x, struct err *e);
int model_read_vision(struct reader *r, const struct ynode *root);
/* model_ssm.c: sizes and layers of state spaces; then which layers have experts, where a pattern says it. */
int model_read_ssm(struct reader *r, const struct ynode *map);
int model_place_ssm_experts(struct reader *r, const struct ynode *map);
int model_check_ssm(struct reader *r, const struct ynode *map);
void model_read_towers(struct reader *r, const struct ynode *root);

#endif
