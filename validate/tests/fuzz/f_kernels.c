/* f_kernels.c - any bytes as a table of kernel templates: what is taken answers for names of real kernels, each time alike. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "arch/gpu/kernels.h"
#include "validate/tests/fuzz/targets.h"

static void ask(const struct kernels *k)
{
	static const char *const names[] = {
		"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn",
		"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int, float)",
		"flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4>>",
		"k_64x128_coop",
		"",
		"4294967296x99999999999999999999"
	};
	static const char *const rules[] = { NULL, "gemm", "" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
			const struct kernel a = kernels_match(k, names[i], rules[r]),
					    b = kernels_match(k, names[i], rules[r]);

			assert(a.form < KERNEL_FORMS && a.name && strcmp(a.name, b.name) == 0 && a.form == b.form);
		}
	for (int kind = 0; kind < OP_KINDS; kind++)
		for (int beside = 0; beside < 2; beside++) {
			const struct op o = { .kind = (enum op_kind)kind, .shape = { .m = 1 } };

			assert(kernels_default(k, &o, beside).form < KERNEL_FORMS);
		}
}

int fuzz_kernels(const uint8_t *bytes, size_t n)
{
	struct err e = ERR_INIT;
	struct kernels *k = kernels_parse((const char *)bytes, n, "fuzz", &e);

	if (!k) {
		assert(e.kind != ERR_NONE && e.msg[0]);
		return 0;
	}
	assert(kernels_hash(k));
	ask(k);
	kernels_free(k);
	return 0;
}
