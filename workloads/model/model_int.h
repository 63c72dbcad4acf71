/* model_int.h - a description while it is read; for workloads/model only. */
#ifndef NPUSIM_WORKLOADS_MODEL_MODEL_INT_H
#define NPUSIM_WORKLOADS_MODEL_MODEL_INT_H

#include "sim/base/yaml.h"
#include "workloads/model/model.h"

struct reader {
	const struct yaml *y;
	struct model *m;
	struct err *e;
};

struct model *model_of_yaml(struct yaml *y, struct err *e); /* takes `y`; NULL: its reader said why */
/* Absent, null or empty. */
bool model_is_null(const struct ynode *n);
int model_number(struct reader *r, const struct ynode *n, uint64_t least, uint64_t most, uint32_t *out);
/* What every decoder needs is there; what follows from the rest is filled in. */
int model_need(struct reader *r, const struct ynode *map);
int model_check(struct reader *r, const struct ynode *map);
int model_read_quant(struct reader *r, const struct ynode *map);
int model_read_vision(struct reader *r, const struct ynode *root);

#endif
