/* res_int.h - what the files of the results database share: the handle. Only results/res*.c include it. */
#ifndef NPUSIM_RESULTS_RES_INT_H
#define NPUSIM_RESULTS_RES_INT_H

#include "results/res.h"

struct resdb {
	struct db *db;
	char *created;       /* path to remove again while nothing is stored; NULL: the file was there before */
};

#endif
