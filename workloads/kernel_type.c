/* kernel_type.c - one pass over a name for each of its forms. */
#include "workloads/kernel_type.h"

#include <string.h>

/* --- words ------------------------------------------------------------------------------------------------------- */

struct word {
	const char *text;
	enum dtype d;
};

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The C++ type that begins at `p`; its length, 0 when none does. */
static size_t type_at(const char *p, enum dtype *d)
{
	/* The longer of two that begin alike stands first. */
	static const struct word types[] = {
		{ "c10::BFloat16", DT_BF16 },
		{ "__nv_bfloat16", DT_BF16 },
		{ "nv_bfloat16", DT_BF16 },
		{ "__hip_bfloat16", DT_BF16 },
		{ "bfloat16_t", DT_BF16 },
		{ "BFloat16", DT_BF16 },
		{ "c10::Half", DT_FP16 },
		{ "__half", DT_FP16 },
		{ "half_t", DT_FP16 },
		{ "half", DT_FP16 },
		{ "c10::Float8_e4m3fn", DT_FP8 },
		{ "c10::Float8_e5m2", DT_FP8 },
		{ "__nv_fp8_e4m3", DT_FP8 },
		{ "__nv_fp8_e5m2", DT_FP8 },
		{ "float_e4m3_t", DT_FP8 },
		{ "float_e5m2_t", DT_FP8 },
		{ "float_e2m1_t", DT_FP4 },
		{ "tfloat32_t", DT_TF32 },
		{ "float", DT_FP32 },
		{ "double", DT_FP64 },
		{ "signed char", DT_INT8 },
		{ "unsigned char", DT_INT8 },
		{ "short", DT_INT16 },
		{ "long", DT_INT64 },
		{ "int", DT_INT32 },
		{ "bool", DT_BOOL },
	};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		const size_t n = strlen(types[i].text);

		if (*p == *types[i].text && strncmp(p, types[i].text, n) == 0 && !letter(p[n])) {
			*d = types[i].d;
			return n;
		}
	}
	return 0;
}

/* The types of a list that begins at `p`, up to what is none; at most KERNEL_TYPES. */
static uint32_t types_of(const char *p, enum dtype *d)
{
	uint32_t n = 0;

	while (n < KERNEL_TYPES) {
		size_t len;

		while (*p == ' ')
			p++;
		if (!(len = type_at(p, &d[n])))
			break;
		n++;
		p += len;
		if (*p != ',')
			break;
		p++;
	}
	return n;
}

/* fp32 where it is the only float type of a name, else the first other one: what is multiplied, not what it is summed in. */
static enum dtype narrowest(const char *name)
{
	enum dtype found = DT_NONE, d;

	for (const char *p = name; *p; p++) {
		size_t n = (p == name || !letter(p[-1])) ? type_at(p, &d) : 0;

		if (!n)
			continue;
		if (d == DT_BF16 || d == DT_FP16 || d == DT_FP8 || d == DT_FP4 || d == DT_FP64)
			return d;
		if (d == DT_FP32 || d == DT_TF32)
			found = DT_FP32;
		p += n - 1;
	}
	return found;
}

/* --- forms ------------------------------------------------------------------------------------------------------- */

static struct kernel_type all_of(enum dtype d)
{
	return (struct kernel_type){ .in = { d }, .n_in = d != DT_NONE, .out = d };
}

/* "nvjet_sm90_tst_": operands, accumulator, result; "qqtst": both operands, source, accumulator, result. */
static struct kernel_type letters(const char *p)
{
	static const struct {
		char letter;
		enum dtype d;
	} known[] = { { 'h', DT_FP16 }, { 't', DT_BF16 }, { 's', DT_FP32 }, { 'd', DT_FP64 },
		      { 'q', DT_FP8 },  { 'r', DT_FP8 },  { 'o', DT_FP4 } };
	struct kernel_type k = { .n_in = 0 };
	size_t n;

	p += strspn(p, "abcdefghijklmnopqrstuvwxyz");
	p += *p == '_';
	if (strncmp(p, "sm", 2) == 0 && strchr(p, '_'))
		p = strchr(p, '_') + 1;
	n = strcspn(p, "_");
	if (n < 3)
		return k;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (known[i].letter == p[0])
			k.in[0] = known[i].d, k.n_in = 1;
		if (known[i].letter == p[n - 1])
			k.out = known[i].d;
	}
	return k;
}

/* "ampere_bf16_s16816gemm_bf16_128x64", "sm80_xmma_gemm_f16f16_f16f32": the first word that is a format. */
static struct kernel_type words(const char *name)
{
	static const struct word known[] = {
		{ "bf16", DT_BF16 },      { "bfloat16", DT_BF16 }, { "fp16", DT_FP16 },  { "f16", DT_FP16 },
		{ "h1688", DT_FP16 },     { "h16816", DT_FP16 },   { "e4m3", DT_FP8 },   { "e5m2", DT_FP8 },
		{ "hgemm", DT_FP16 },     { "tf32", DT_FP32 },     { "f64", DT_FP64 },   { "dgemm", DT_FP64 },
		{ "sgemm", DT_FP32 },     { "f32f32", DT_FP32 },   { "i8816", DT_INT8 }, { "i16832", DT_INT8 },
		{ "s1688gemm", DT_FP32 },
	};

	for (const char *p = name; *p; p++) {
		if (p != name && letter(p[-1]) && p[-1] != '_')
			continue;
		for (size_t i = 0; i < sizeof known / sizeof *known; i++)
			if (strncmp(p, known[i].text, strlen(known[i].text)) == 0)
				return all_of(known[i].d);
	}
	return all_of(DT_NONE);
}

/* What the compiler made of a C++ name, where nothing took it apart: "N7cutlass10bfloat16_tE". */
static struct kernel_type mangled(const char *name)
{
	static const struct word known[] = { { "bfloat16", DT_BF16 },    { "6half_t", DT_FP16 },
		                             { "6__half", DT_FP16 },     { "4Half", DT_FP16 },
		                             { "float_e4m3_t", DT_FP8 }, { "float_e5m2_t", DT_FP8 } };

	for (size_t i = 0; strncmp(name, "_Z", 2) == 0 && i < sizeof known / sizeof *known; i++)
		if (strstr(name, known[i].text))
			return all_of(known[i].d);
	return all_of(DT_NONE);
}

/* "bitonicSortKVInPlace<-2, -1, 16, 16, KEY, long, ...>" */
static struct kernel_type sort(const char *name)
{
	const char *p = strchr(name, '<');
	enum dtype d[KERNEL_TYPES];

	if (!p)
		return all_of(DT_NONE);
	p++;
	p += strspn(p, "-0123456789, ");
	return all_of(types_of(p, d) ? d[0] : DT_NONE);
}

/* "OpaqueType<2u>" */
static uint32_t opaque_bytes(const char *name)
{
	const char *p = strstr(name, "OpaqueType<");

	if (!p)
		return 0;
	p += strlen("OpaqueType<");
	return *p >= '1' && *p <= '8' ? (uint32_t)(*p - '0') : 0;
}

/* Arguments of the innermost lambda that has a number's type: "{lambda(float)#1}". */
static uint32_t lambda(const char *name, enum dtype *d)
{
	enum dtype found[KERNEL_TYPES];
	uint32_t n = 0;

	for (const char *p = name; (p = strstr(p, "lambda(")); p++) {
		const uint32_t have = types_of(p + strlen("lambda("), found);

		/* lambda(int) is the loop over elements, which stands around and behind the functor. */
		if (have == 0 || (have == 1 && found[0] == DT_INT32 && n > 0))
			continue;
		memcpy(d, found, sizeof found);
		n = have;
		if (have > 1 || found[0] != DT_INT32)
			break;
	}
	return n;
}

/* PyTorch's functors: "BinaryFunctor<A, B, RESULT, ...>", "FillFunctor<T>", "CompareFunctor<T>". */
static struct kernel_type functor(const char *name)
{
	struct kernel_type k = { .n_in = 0 };
	enum dtype d[KERNEL_TYPES];
	const char *p;

	if ((p = strstr(name, "BinaryFunctor<")) && types_of(strchr(p, '<') + 1, d) >= 3) {
		memcpy(k.in, d, 2 * sizeof *d);
		k.n_in = 2;
		k.out = d[2];
		return k;
	}
	/* of a tensor and a number; the tensor's is either */
	if ((p = strstr(name, "UnaryFunctor<")) && types_of(strchr(p, '<') + 1, d) >= 3) {
		k.in[0] = p > name && p[-1] == 'A' ? d[1] : d[0];
		k.n_in = 1;
		k.out = d[2];
		return k;
	}
	for (p = name; (p = strstr(p, "unctor")); p++) {
		const char *open = p + strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");

		if (*open == '<' && types_of(open + 1, d) >= 1) {
			k = all_of(d[0]);
			if (strstr(name, "Compare"))
				k.out = DT_BOOL;
			return k;
		}
	}
	if ((k.n_in = lambda(name, d))) {
		memcpy(k.in, d, k.n_in * sizeof *d);
		k.out = d[d[0] == DT_BOOL ? k.n_in - 1 : 0]; /* a mask, and what it chooses from */
	} else if ((p = strstr(name, "_kernel<")) && types_of(strchr(p, '<') + 1, d) >= 1) {
		k = all_of(d[0]);
	}
	return k;
}

static struct kernel_type copy(const char *name)
{
	struct kernel_type k = functor(name);

	if (strstr(name, "bfloat16_copy_kernel"))
		k.out = DT_BF16;
	else if (strstr(name, "float16_copy_kernel"))
		k.out = DT_FP16;
	else if (strstr(name, "float8_copy_kernel"))
		k.out = DT_FP8;
	return k;
}

/* "ReduceOp<float, MeanOps<...>, unsigned int, RESULT, 4, 4>": the result stands behind the index's type. */
static struct kernel_type reduce(const char *name)
{
	const char *p = strstr(name, "ReduceOp<") + strlen("ReduceOp<");
	struct kernel_type k = { .n_in = 0 };

	if (types_of(p, k.in) == 0)
		return k;
	k.n_in = 1;
	if (!(p = strstr(p, "unsigned int, ")) || types_of(p + strlen("unsigned int, "), &k.out) == 0)
		k.out = DT_NONE;
	return k;
}

/* "softmax_warp_forward<IN, OUT, SUM, ...>", "cunn_SoftMaxForward<4, IN, SUM, OUT, ...>" */
static struct kernel_type softmax(const char *name)
{
	const char *p = strchr(name, '<'), *cunn = strstr(name, "cunn_");
	struct kernel_type k = { .n_in = 0 };
	enum dtype d[KERNEL_TYPES];

	if (!p)
		return k;
	p += 1 + strspn(p + 1, "0123456789, ");
	if (types_of(p, d) < 3)
		return all_of(narrowest(name));
	k.in[0] = d[0];
	k.n_in = 1;
	k.out = d[cunn ? 2 : 1];
	return k;
}

static bool any(const char *name, const char *const *parts)
{
	for (; *parts; parts++)
		if (strstr(name, *parts))
			return true;
	return false;
}

struct kernel_type kernel_type(const char *name)
{
	static const char *const casting[] = { "LoadWithCast", "gpu_kernel_impl<", NULL };
	struct kernel_type k = { .n_in = 0 };

	if (strncmp(name, "nvjet_", 6) == 0)
		return letters(name);
	if (strstr(name, "cudnn_generated") || strstr(name, "cudnn::fusion"))
		return k;
	if (opaque_bytes(name)) {
		k.bytes = opaque_bytes(name);
		return k;
	}
	if (strstr(name, "copy_kernel_cuda"))
		k = copy(name);
	else if (strstr(name, "ReduceOp<"))
		k = reduce(name);
	else if (strstr(name, "oftmax_warp") || strstr(name, "SoftMaxForward"))
		k = softmax(name);
	else if (strstr(name, "SortKVInPlace"))
		k = sort(name);
	else if (strstr(name, "elementwise_kernel"))
		k = functor(name);
	else
		k = all_of(narrowest(name));
	if (k.n_in == 0)
		k = mangled(name);
	if (k.n_in == 0 && !strstr(name, "elementwise_kernel"))
		k = words(name);
	k.casts = any(name, casting);
	return k;
}
