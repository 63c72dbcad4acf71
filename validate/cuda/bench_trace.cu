/* bench_trace.cu - what --trace writes: the activity records of each case as PyTorch's profiler would have put them
 *
 * An annotation `case|KIND|SHAPE|REP` a repetition, with the SM clock read behind the case; in it the framework op our
 * kernel stands for (so that a rule table finds dims), the launch calls, and the kernels, copies and sets they made. Host
 * times are the calls' own; the op and the annotation have the times around the body. Kernels of preparation are not
 * there. At most MOST repetitions a case: enough for a median, and a file that can be kept. */
#include <cxxabi.h>

#include "bench.cuh"

enum { MOST = 5 };

struct note {
	std::string kind, shape, op, type;
	std::vector<std::vector<long>> dims;
	std::vector<std::string> scalars;
	bool set;
};
/* One program, one trace; struct bench is cleared by memset and cannot hold them. */
static struct note note;
static FILE *out;
static uint64_t base_ns;
static unsigned long events, ops;

void bench_as(struct bench *, const char *kind, const std::string &shape, const char *op, const std::vector<std::vector<long>> &dims,
              const char *type, const std::vector<std::string> &scalars)
{
	note = { kind, shape, op, type, dims, scalars, true };
}

static void begin(const struct bench *b)
{
	if (!(out = fopen(b->trace, "w")))
		fprintf(stderr, "cannot write '%s'\n", b->trace), exit(4);
	fprintf(out, "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"%s\", \"totalGlobalMem\": %zu, \"computeMajor\": %d, "
	        "\"computeMinor\": %d, \"maxThreadsPerBlock\": %d, \"maxThreadsPerMultiprocessor\": %d, \"regsPerBlock\": %d, \"warpSize\": %d, "
	        "\"sharedMemPerBlock\": %zu, \"numSms\": %d, \"regsPerMultiprocessor\": %d, \"sharedMemPerBlockOptin\": %zu, "
	        "\"sharedMemPerMultiprocessor\": %zu}], \"record_shapes\": 1, \"displayTimeUnit\": \"ms\", \"traceName\": \"npusim validate/cuda\", "
	        "\"traceEvents\": [", b->prop.name, b->prop.totalGlobalMem, b->prop.major, b->prop.minor, b->prop.maxThreadsPerBlock,
	        b->prop.maxThreadsPerMultiProcessor, b->prop.regsPerBlock, b->prop.warpSize, b->prop.sharedMemPerBlock,
	        b->prop.multiProcessorCount, b->prop.regsPerMultiprocessor, b->prop.sharedMemPerBlockOptin, b->prop.sharedMemPerMultiprocessor);
}

static std::string text(const std::string &s)
{
	std::string t = "\"";
	for (char c : s) {
		if (c == '"' || c == '\\')
			t += '\\';
		t += c;
	}
	return t + "\"";
}

static std::string list(const std::vector<std::string> &v)
{
	std::string s = "[";
	for (const std::string &x : v)
		s += (s.size() > 1 ? ", " : "") + x;
	return s + "]";
}

static void event(const char *cat, const std::string &name, int pid, int tid, uint64_t from, uint64_t to, const std::string &args)
{
	uint64_t at = from - base_ns, dur = to - from;
	fprintf(out, "%s\n{\"ph\": \"X\", \"cat\": \"%s\", \"name\": %s, \"pid\": %d, \"tid\": %d, \"ts\": %llu.%03u, \"dur\": %llu.%03u, \"args\": {%s}}",
	        events++ ? "," : "", cat, text(name).c_str(), pid, tid, (unsigned long long)(at / 1000), (unsigned)(at % 1000),
	        (unsigned long long)(dur / 1000), (unsigned)(dur % 1000), args.c_str());
}

/* The names in a profiler's trace are not mangled, and rule tables look for what they are. */
static std::string plain(const std::string &name)
{
	int status;
	char *c = abi::__cxa_demangle(name.c_str(), NULL, NULL, &status);
	std::string s = c && status == 0 ? c : name;
	free(c);
	return s;
}

static std::string op_args(unsigned long id)
{
	std::vector<std::string> dims, types, strides, values;
	size_t from = 0;
	for (const std::vector<long> &d : note.dims) {
		std::vector<std::string> n(d.size()), st(d.size());
		long step = 1;
		size_t comma = note.type.find(',', from);
		for (size_t i = d.size(); i-- > 0; step *= d[i])
			n[i] = bench_fmt("%ld", d[i]), st[i] = bench_fmt("%ld", step);
		dims.push_back(list(n)), strides.push_back(list(st)), values.push_back("\"\"");
		types.push_back(text(note.type.substr(from, comma == std::string::npos ? comma : comma - from)));
		from = comma == std::string::npos ? from : comma + 1;
	}
	if (note.op == "aten::cat")     /* its tensors are one argument */
		dims = { list(dims) }, strides = { list(strides) }, types = { text("TensorList") }, values = { "\"\"" };
	for (const std::string &s : note.scalars)
		dims.push_back("[]"), strides.push_back("[]"), types.push_back(s.empty() ? "\"\"" : "\"Scalar\""), values.push_back(text(s));
	return bench_fmt("\"External id\": %lu, ", id) + "\"Concrete Inputs\": " + list(values) + ", \"Input type\": " + list(types) +
	       ", \"Input Strides\": " + list(strides) + ", \"Input Dims\": " + list(dims);
}

void bench_trace_case(struct bench *b, const char *name, const std::string &params, enum bench_state state,
                      const std::vector<struct bench_span> &spans)
{
	std::vector<struct bench_launch> launches = bench_launches(b);
	std::vector<struct bench_call> calls = bench_calls(b);
	std::string kind = (note.set ? note.kind : std::string(name)) + (state == BENCH_WARM ? "_warm" : "");
	std::string shape = note.set ? note.shape : params;
	double mhz = bench_clock(b);
	int rep = 0;

	if (!out) {
		begin(b);
		base_ns = spans[0].start_ns - 1000;
	}
	for (char &c : shape)
		c = c == '|' ? '/' : c == ';' ? ',' : c;
	for (const struct bench_span &s : spans) {
		if (rep == MOST)
			break;
		unsigned long id = ++ops;
		std::string link = bench_fmt("\"External id\": %lu, ", id);
		event("user_annotation", bench_fmt("case|%s|%s|%d", kind.c_str(), shape.c_str(), rep++), 1, 1, s.start_ns - 200, s.end_ns + 200,
		      bench_fmt("\"External id\": %lu, \"SM clock MHz behind\": %.0f", ++ops, mhz));
		if (!note.op.empty())
			event("cpu_op", note.op, 1, 1, s.start_ns - 100, s.end_ns + 100, op_args(id));
		else
			link.clear();
		for (const struct bench_call &c : calls) {
			if (c.start_ns < s.start_ns || c.end_ns > s.end_ns)
				continue;
			bool used = false;
			for (const struct bench_launch &l : launches) {
				if (l.correlation != c.correlation)
					continue;
				std::string at = link + bench_fmt("\"device\": 0, \"context\": %u, \"stream\": %u, \"correlation\": %u", l.context, l.stream,
				                                  l.correlation);
				if (!used)
					event("cuda_runtime", "cudaLaunchKernel", 1, 1, c.start_ns, c.end_ns, link + bench_fmt("\"correlation\": %u", c.correlation));
				used = true;
				if (l.threads)
					event("kernel", plain(l.name), 0, l.stream, l.start_ns, l.end_ns,
					      at + bench_fmt(", \"registers per thread\": %d, \"shared memory\": %d, \"grid\": [%d, %d, %d], \"block\": [%d, %d, %d]",
					                     l.regs, l.smem, l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2]));
				else
					event(l.name == "memset" ? "gpu_memset" : "gpu_memcpy", l.name == "memset" ? "Memset (Device)" : "Memcpy DtoD (Device -> Device)",
					      0, l.stream, l.start_ns, l.end_ns, at + bench_fmt(", \"bytes\": %llu", (unsigned long long)l.bytes));
			}
		}
	}
}

void bench_trace_close(struct bench *)
{
	if (!out)
		return;
	fprintf(out, "\n]}\n");
	if (ferror(out) | fclose(out))
		fprintf(stderr, "the trace could not be written\n"), exit(4);
	out = NULL;
}
