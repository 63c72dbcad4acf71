/* accuracy.h - what validation found, kept beside the configurations (configs/accuracy/DEVICE.yaml) and told with every
 * NPU answer: the error of this engine on a device it was held against, for the classes of op an answer is made of.
 *
 * The file says on which samples: device, split, their number, a digest of the traces, the build, and the identity of
 * the GPU model (closed forms, kernel table, configuration), so that a number from another model is told as such. */
#ifndef NPUSIM_SIM_ACCURACY_ACCURACY_H
#define NPUSIM_SIM_ACCURACY_ACCURACY_H

#include "sim/accuracy/score.h"
#include "sim/base/arena.h"
#include "sim/base/source.h"
#include "sim/base/str.h"

struct accuracy {
	const char *device, *config, *split, *build, *model, *digest;
	struct score all;
	struct score *classes;
	size_t n;
};

/* NULL path: configs/accuracy/h200.yaml. 1: read; 0: there is no such file; -1: error. */
int accuracy_load(const char *path, struct arena *a, struct accuracy *out, struct err *e);
int accuracy_load_from(const struct source *from, const char *path, struct arena *a, struct accuracy *out,
                       struct err *e);
void accuracy_write(const struct accuracy *acc, struct str *out);
/* Identity of the model that a build is, over this configuration and kernel table. */
void accuracy_model(uint64_t config_hash, uint64_t kernels_hash, char out[17]);
const struct score *accuracy_of(const struct accuracy *acc, const char *cls); /* NULL: never held against it */

#endif
