/* silicon.h - how far NPUs were off on real ones: kept beside their configurations, and found again for an answer.
 *
 * configs/accuracy/NAME-calibrated.yaml and NAME.yaml (accuracy.h has their form; `npusim validate -o` writes them): the
 * same tables of ops and blocks, by what was calibrated on them and by the data sheet alone. A class is a
 * kind of op ("gemm"), and a part of it as people call it: "products of 1 row", "attention as per_head". The nearest device is the one whose multiply-adds and
 * DRAM bandwidth are least apart, as ratios. */
#ifndef NPUSIM_SIM_ACCURACY_SILICON_H
#define NPUSIM_SIM_ACCURACY_SILICON_H

#include "arch/machine/machine_conf.h"
#include "sim/accuracy/accuracy.h"
#include "sim/accuracy/rows.h"

/* Errors by class of what ran, for accuracy_write; the names live in `a`. */
int silicon_classes(const struct rows *r, struct arena *a, struct accuracy *out, struct err *e);
/* The class of products of so many rows; 0: of any, which is their kind's. */
const char *silicon_products(uint64_t rows);
/* Of attention as a table names it; in any other stream the mapper streams keys. */
const char *silicon_attention(bool listed, enum op_attn algorithm);
/* What identifies the machine that an accuracy file is of. */
void silicon_model(const struct machine_conf *conf, char out[17]);

struct silicon {
	struct accuracy calibrated, sheet;
	struct machine_conf *conf; /* of the calibrated one; NULL: it cannot be read */
	bool same;                 /* both files are of the configurations as they are now */
};

/* The device nearest to a machine (NULL: any, the first by name). 1: found; 0: none is kept; -1: error. */
int silicon_nearest(const struct source *from, const struct machine_conf *mine, struct arena *a, struct silicon *out,
                    struct err *e);
/* Of those of the machine's own family (its configurations name it); a machine that names none has none. */
int silicon_of_family(const struct machine_conf *mine, struct arena *a, struct silicon *out, struct err *e);
void silicon_free(struct silicon *s);

#endif
