/* cuda_names.h - what copies and sets are called: as the PyTorch profiler says it, whichever profiler numbered them. */
#ifndef NPUSIM_TRACES_READ_CUDA_NAMES_H
#define NPUSIM_TRACES_READ_CUDA_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "traces/trace.h"

/* Kinds of memory from 0: pageable, pinned, device, array, managed, device static, managed static. Others are unknown. */
const char *cuda_memory(int64_t kind);
/* Kinds of copy as CUPTI and Nsight Systems number them. Writes "Memcpy HtoD (Pageable -> Device)"; the direction. */
enum trace_copy_dir cuda_copy(int64_t kind, int64_t from, int64_t to, char *name, size_t size);

#endif
