/* chakra.h - a run as Chakra execution traces, a file a chip: the operators with their simulated times and the collectives, which
 * ASTRA-sim and others take for a larger network than this knows.
 *
 * The format is protobuf (mlcommons/chakra, schema/protobuf/et_def.proto): messages behind their length, first GlobalMetadata, then
 * a Node each, which waits for the one before it.
 *   op           COMP_NODE: duration_micros, num_ops, tensor_size (bytes of DRAM)
 *   collective   COMM_COLL_NODE: comm_type, comm_size (of all-gather and reduce-scatter a chip's part), pg_name
 *   send         COMM_SEND_NODE and, at the other stage, COMM_RECV_NODE: comm_size, comm_src, comm_dst, comm_tag
 * Microseconds are whole there: of ops' ends, so that what is rounded does not add up. Chips are numbered by shares of a layer, then
 * replicas, then stages; process groups are in a file of their own, as ASTRA-sim's comm-group-configuration has them. A pipeline's
 * stages run all their micro-batches.
 * Leaves out: memory nodes, dependences between ops that a chip runs one behind the other. */
#ifndef NPUSIM_SIM_REPORT_CHAKRA_H
#define NPUSIM_SIM_REPORT_CHAKRA_H

#include "sim/build/build.h"
#include "sim/engine/run_result.h"

struct chakra {
	const struct op_stream *s;
	struct build_split split;
	const struct run_result *of; /* of each kind of stage; of a stream without stages one */
};

uint32_t chakra_chips(const struct chakra *x);
/* One chip's file. */
void chakra_chip(const struct chakra *x, uint32_t chip, struct str *out);
/* The process groups, JSON. */
void chakra_groups(const struct chakra *x, struct str *out);

#endif
