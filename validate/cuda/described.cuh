/* described.cuh - rows of kernels that a file of workloads/kernels describes
 *
 * A row's name is the description's; its params are that description's keys with the row's values, which
 * `npusim probe kernel --beside` puts in their place: sizes of the problem, and what the compiler and the launch made of
 * the kernel; `spill` and `state` are no keys. Warps are those that compute; bytes are of operands, each once. */
#pragma once
#include "bench.cuh"

template <class... A> static std::string described(const std::string &problem, void (*kernel)(A...), dim3 grid, int warps, size_t dynamic, size_t read,
                                                   size_t write)
{
	cudaFuncAttributes a;
	CK(cudaFuncGetAttributes(&a, kernel));
	return problem + bench_fmt(";grid=%ux%ux%u;warps=%d;registers=%d;shared=%zu B;spill=%zu;bytes.read=%zu B;bytes.write=%zu B", grid.x, grid.y, grid.z,
	                           warps, a.numRegs, a.sharedSizeBytes + dynamic, a.localSizeBytes, read, write);
}

/* Every sample of `n` that the last launch should have written: a value nobody wrote is a NaN, since buffers are filled with
 * ones before a check. Checks `rows` x `cols` of what `want(row, col)` gives, rows and columns spread evenly. */
template <class F> static void described_check(struct bench *b, const char *name, const std::string &p, const std::vector<float> &got,
                                               size_t rows, size_t cols, size_t some_rows, size_t some_cols, double tol, F want)
{
	std::vector<float> have;
	std::vector<double> ref;
	double all = 0;
	for (float f : got)
		all += f;
	some_rows = std::min(rows, some_rows), some_cols = std::min(cols, some_cols);
	for (size_t i = 0; i < some_rows; i++)
		for (size_t j = 0; j < some_cols; j++) {
			size_t r = some_rows > 1 ? i * (rows - 1) / (some_rows - 1) : 0, c = some_cols > 1 ? j * (cols - 1) / (some_cols - 1) : 0;
			ref.push_back(want(r, c)), have.push_back(got[r * cols + c]);
		}
	if (std::isnan(all))
		have[0] = NAN;
	bench_check(b, name, p, have, ref, tol);
}
