/* probe_kernel.c - npusim probe kernel and occupancy: kernels by their description, no trace. */
#include "sim/cli/probe_kernel.h"

static int do_probe_kernel(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct probe_kernel_opts *o = options;

	if (!o->beside)
		return probe_kernel_table(d, o, args, e);
	if (!o->config || args->n)
		return err_set(e, ERR_USAGE, "'--beside FILE' takes the GPU the file is of (-c GPU), and no kernels");
	return probe_kernel_beside(d, o->config, &o->sets, o->beside, e);
}

static int occupancy(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct probe_kernel_opts *o = options;

	if (!o->threads && (o->registers || o->shared))
		return err_set(e, ERR_USAGE, "'%s' is of a block without a file: give '--threads', too",
		               o->registers ? "--registers" : "--shared");
	if (o->threads && args->n)
		return err_set(e, ERR_USAGE, "'--threads' describes a block, and '%s' another: give one", args->v[0]);
	return probe_kernel_table(d, o, args, e);
}

#define ABOUT_FILES \
	"a name of workloads/kernels, or a file like those: tile, stages, warps, registers, shared memory, copy, math, exchange"

int cmd_probe_kernel(int argc, char **argv, struct str *out, struct err *e)
{
	struct probe_kernel_opts o = { .config = NULL };
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &o.config, "CONFIG",
		  "the GPU; by default the one a kernel was published for" },
		{ 's', "set", OPT_SETS, &o.sets, "KEY=VALUE", "change a parameter of the GPU first; may be repeated" },
		{ 'e', "edit", OPT_LIST, &o.edits, "KEY=VALUE",
		  "change the kernel's description first, as 'softmax.lanes=2'; may be repeated" },
		{ 0, "beside", OPT_READ, &o.beside, "FILE",
		  "instead: measured kernels beside their descriptions: traces/h100/micro/tiled.csv, described_cupti.csv there or of"
		  " the H200, or a trace of our attention kernels with asynchronous copy on and off" },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim probe kernel [-c GPU] [KERNEL]... [options]",
		"How long a kernel takes that is described, not traced, and what bounds it. KERNEL is " ABOUT_FILES
		"; without any, all that come with npusim, beside what was published of them. 'bound' is the pipe that is full, or"
		" 'dependency' where blocks wait for their own steps one after the other; 'mostly' says which of a tile's parts that"
		" is. JSON has all"
		" of a tile's parts and pipes.",
		"npusim probe kernel\n"
		"npusim probe kernel -c h100 l4-v6a\n"
		"npusim probe kernel -c h100 h100-phase4x --format json\n"
		"npusim probe kernel l4-v7a --edit problem.q_len=4096\n"
		"npusim probe kernel -c h100 --beside traces/h100/micro/tiled.csv\n"
		"npusim probe kernel -c h200 --beside traces/h200/micro/described_cupti.csv\n",
		opts,
		0,
		-1
	};

	return cmd_do(&cmd, &o.format, do_probe_kernel, &o, argc, argv, out, e);
}

int cmd_probe_occupancy(int argc, char **argv, struct str *out, struct err *e)
{
	struct probe_kernel_opts o = { .occupancy = true };
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &o.config, "CONFIG",
		  "the GPU; by default the one a kernel was published for" },
		{ 's', "set", OPT_SETS, &o.sets, "KEY=VALUE", "change a parameter of the GPU first; may be repeated" },
		{ 'e', "edit", OPT_LIST, &o.edits, "KEY=VALUE",
		  "change the kernel's description first, as 'softmax.lanes=2'; may be repeated" },
		{ 0, "threads", OPT_COUNT, &o.threads, "N", "instead of a file: threads of a block" },
		{ 0, "registers", OPT_COUNT, &o.registers, "N", "with --threads: registers of each" },
		{ 0, "shared", OPT_TEXT, &o.shared, "BYTES", "with --threads: shared memory of a block, as '70 KiB'" },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim probe occupancy [-c GPU] [KERNEL]... [options]",
		"How many blocks of a kernel an SM holds at once, by each of its limits (threads, registers, shared memory, blocks) and"
		" by all, and which of them is the limit. KERNEL is " ABOUT_FILES
		"; without any, all that come with npusim, or the block"
		" that --threads, --registers and --shared describe.",
		"npusim probe occupancy -c h100 h100-phase4x\n"
		"npusim probe occupancy -c l4 --threads 160 --registers 60 --shared '70 KiB'\n"
		"npusim probe occupancy --format json\n",
		opts,
		0,
		-1
	};

	return cmd_do(&cmd, &o.format, occupancy, &o, argc, argv, out, e);
}
