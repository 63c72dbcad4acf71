/* fingerprint.c - the one object that a changed answer of the GPU model rebuilds: the Makefile passes the fingerprint to it. */
#include "sim/base/version.h"

#ifndef NPUSIM_GPU_MODEL
#define NPUSIM_GPU_MODEL "unknown"
#endif

const char *npusim_gpu_model(void)
{
	return NPUSIM_GPU_MODEL;
}
