/* npu_event.h - what costs an NPU energy, rows of plain data (L2): what is counted, and what each is a parameter of.
 *
 * A cost is power.NAME of a configuration, in femtojoules at the node's nominal voltage; an event is a row of every result,
 * with its block and its cost. Multiply-adds are a row for each unit of arch/units.h and each format below, at the cost of
 * the format. Bytes are counted where they move: at each level's array, and in the network times the hops they go.
 * A new event is a row here, a line in sim/engine/pass_count.c and its cost in arch/machine/machine_power.c. */
#ifndef NPUSIM_ARCH_NPU_NPU_EVENT_H
#define NPUSIM_ARCH_NPU_NPU_EVENT_H

#include "arch/units.h"

/* clang-format off */
/* X(name, what it is): formats of multiply-adds, by the wider operand. */
#define NPU_FORMAT_ROWS(X) \
	X(fp32, "fp32 and wider, tf32") \
	X(bf16, "bf16") \
	X(fp16, "fp16") \
	X(fp8, "fp8 and narrower floats") \
	X(int8, "int8 and int16") \
	X(int4, "int4")

/* X(name, unit, 1 where it goes with the core's voltage, what it is) */
#define NPU_COST_ROWS(X) \
	X(alu, step, 1, "of a vector lane's arithmetic") \
	X(sfu, step, 1, "of a special function") \
	X(convert, step, 1, "from one format to another, dequantising too") \
	X(compare, step, 1, "of a sort network: a comparison and an exchange") \
	X(sram, byte, 1, "of the scratchpad, read or written") \
	X(l1, byte, 1, "of the L1") \
	X(kv_buffer, byte, 1, "of the KV buffer") \
	X(l2, byte, 1, "of the L2") \
	X(noc, byte, 1, "over a hop of the network") \
	X(dram_read, byte, 0, "read from DRAM, its controller and PHY included") \
	X(dram_write, byte, 0, "written to DRAM") \
	X(activate, row, 0, "of DRAM opened") \
	X(refresh, byte, 0, "of DRAM refreshed") \
	X(command, command, 1, "dispatched") \
	X(transfer, transfer, 1, "of a DMA engine: its descriptor")

/* X(name, block, cost, what it is) */
#define NPU_EVENT_ROWS(X) \
	X(alu, vector, alu, "steps of the lanes") \
	X(sfu, vector, sfu, "special functions") \
	X(convert, vector, convert, "conversions") \
	X(compare, vector, compare, "steps of sort and top-k") \
	X(sram_fill, sram, sram, "brought in") \
	X(sram_drain, sram, sram, "sent out") \
	X(sram_operand, sram, sram, "operands and partial sums of products, by how often a unit asks for each") \
	X(sram_value, sram, sram, "operands and results of all other ops") \
	X(noc_up, noc, noc, "from the shared levels to cores") \
	X(noc_down, noc, noc, "from cores to the shared levels") \
	X(noc_copy, noc, noc, "to further cores that want the same") \
	X(noc_core, noc, noc, "between cores") \
	X(l1_hit, l1, l1, "found there") \
	X(l1_fill, l1, l1, "fetched") \
	X(kv_hit, kv_buffer, kv_buffer, "read or written there") \
	X(kv_fill, kv_buffer, kv_buffer, "fetched") \
	X(l2_hit, l2, l2, "found there, reads and writes") \
	X(l2_fill, l2, l2, "fetched") \
	X(l2_write, l2, l2, "written that were not there") \
	X(l2_writeback, l2, l2, "read to be written to DRAM") \
	X(dram_read, dram, dram_read, "read") \
	X(dram_write, dram, dram_write, "written") \
	X(activate, dram, activate, "rows opened") \
	X(refresh, dram, refresh, "refreshed, whether anything runs or not") \
	X(command, dispatch, command, "commands") \
	X(transfer, dispatch, transfer, "DMA transfers")

/* X(name, block, what it is): no events, but time. */
#define NPU_WAIT_ROWS(X) \
	X(leakage, chip, "of units and memory") \
	X(clock_tree, chip, "the clock's trunk") \
	X(ungated, chip, "clocks of units that wait, where nothing gates them") \
	X(standby, dram, "DRAM that waits")

enum npu_format {
#define X(name, help) NPU_##name,
	NPU_FORMAT_ROWS(X)
#undef X
	NPU_FORMATS
};

enum npu_cost {
	NPU_COST_MACS = NPU_FORMATS - 1, /* below: a format's */
#define X(name, unit, scaled, help) NPU_COST_##name,
	NPU_COST_ROWS(X)
#undef X
	NPU_COSTS
};

enum npu_event {
#define X(id, unit, code, insn, area) NPU_MACS_##unit, NPU_MACS_##unit##_last = NPU_MACS_##unit + NPU_FORMATS - 1,
	UNITS(X)
#undef X
#define X(name, block, cost, help) NPU_EVENT_##name,
	NPU_EVENT_ROWS(X)
#undef X
	NPU_EVENTS
};

enum npu_wait {
#define X(name, block, help) NPU_WAIT_##name,
	NPU_WAIT_ROWS(X)
#undef X
	NPU_WAITS
};
/* clang-format on */

#define NPU_ENERGIES (NPU_WAITS + NPU_EVENTS)
/* Multiply-adds of a unit (enum unit) in a format. */
#define NPU_MACS(unit, format) ((unit)*NPU_FORMATS + (format))

#endif
