/* lib.cuh - for the measurements of the library's products: its errors, and what a call launches */
#pragma once
#include "bench.cuh"

#define CKB(call) do { \
	cublasStatus_t st_ = (call); \
	if (st_ != CUBLAS_STATUS_SUCCESS) { \
		fprintf(stderr, "%s:%d: %s: status %d\n", __FILE__, __LINE__, #call, (int)st_); \
		exit(4); \
	} } while (0)

/* What one call launches, by activity record (else ""); a comma or a semicolon would end the field. Two launches (split K
 * and its reduce) are joined by a plus. */
template <class F> std::string bench_choice(struct bench *b, F call)
{
	std::string s;
	if (!b->cupti)
		return s;
	call();
	bench_seen_reset(b);
	call();
	for (const struct bench_launch &l : bench_launches(b)) {
		s += bench_fmt("%s%s/grid=%dx%dx%d/threads=%d/smem=%d/regs=%d", s.empty() ? "" : "+", l.name.substr(0, 120).c_str(), l.grid[0],
		               l.grid[1], l.grid[2], l.threads, l.smem, l.regs);
		if (l.cluster[0] * l.cluster[1] * l.cluster[2] > 1)
			s += bench_fmt("/cluster=%dx%dx%d", l.cluster[0], l.cluster[1], l.cluster[2]);
	}
	for (char &c : s)
		c = c == ',' || c == ';' ? '|' : c;
	return s;
}
