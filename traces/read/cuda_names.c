/* cuda_names.c - the two lists: ENUM_CUDA_MEMCPY_OPER and ENUM_CUDA_MEM_KIND of Nsight Systems' exports. */
#include "traces/read/cuda_names.h"

#include <stdio.h>

/* clang-format off */
static const struct { const char *name; enum trace_copy_dir dir; } copies[] = {
	{ "Memcpy", TRACE_COPY_NONE }, { "Memcpy HtoD", TRACE_COPY_HTOD }, { "Memcpy DtoH", TRACE_COPY_DTOH },
	{ "Memcpy HtoA", TRACE_COPY_HTOD }, { "Memcpy AtoH", TRACE_COPY_DTOH }, { "Memcpy AtoA", TRACE_COPY_DTOD },
	{ "Memcpy AtoD", TRACE_COPY_DTOD }, { "Memcpy DtoA", TRACE_COPY_DTOD }, { "Memcpy DtoD", TRACE_COPY_DTOD },
	{ "Memcpy HtoH", TRACE_COPY_HTOH }, { "Memcpy PtoP", TRACE_COPY_PTOP }, { "Memcpy unified HtoD", TRACE_COPY_HTOD },
	{ "Memcpy unified DtoH", TRACE_COPY_DTOH }, { "Memcpy unified DtoD", TRACE_COPY_DTOD },
};
/* clang-format on */
static const char *const memories[] = {
	"Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static",
};

const char *cuda_memory(int64_t kind)
{
	return kind < 0 || kind >= (int64_t)(sizeof memories / sizeof *memories) ? "Unknown" : memories[kind];
}

enum trace_copy_dir cuda_copy(int64_t kind, int64_t from, int64_t to, char *name, size_t size)
{
	const size_t known = kind > 0 && kind < (int64_t)(sizeof copies / sizeof *copies) ? (size_t)kind : 0;

	snprintf(name, size, "%s (%s -> %s)", copies[known].name, cuda_memory(from), cuda_memory(to));
	return copies[known].dir;
}
